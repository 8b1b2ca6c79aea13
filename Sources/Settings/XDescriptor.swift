import Localization
import NetworkNames
import Networks
import Posts
package import X

extension NetworkDescriptor {
    /// X, where rules are strict and calls cost money.
    static let x: NetworkDescriptor = {
        var network = NetworkDescriptor(
            .x,
            fields: [
                Field(.consumerKey), Field(.consumerSecret), Field(.accessToken),
                Field(.accessTokenSecret),
            ],
            identity: .accessToken, fingerprint: [.consumerKey, .accessToken],
            pollIntervals: PollIntervals(
                mentions: PollIntervals.Interval(multiple: 1, shortest: .seconds(60)),
                home: PollIntervals.Interval(multiple: 15, shortest: .seconds(15 * 60)),
                ownPosts: PollIntervals.Interval(multiple: 5, shortest: .seconds(5 * 60)),
                favorites: PollIntervals.Interval(multiple: 30, shortest: .seconds(30 * 60))),
            connect: { connection in
                let xSettings = connection.settings.x
                let options = XOptions(
                    apiBaseURL: connection.account.apiBaseURL, mayPublish: xSettings.mayPublish,
                    homePostsPerDay: xSettings.homePostsPerDay,
                    ownsApp: xSettings.appOwner == connection.account.role)
                return try XNetwork(
                    credentials: XCredentials(connection.account.credentials), options: options,
                    book: connection.book,
                    client: connection.client, origin: connection.origin, now: connection.now,
                    uptime: connection.uptime)
            })
        network.login = .x
        network.defaults[.links] = false
        network.defaults[.favoriteMode] = .suggest
        // A poll reads one page of favorites, because every favorite on a further page is billed
        // again.
        network.favoritePages = 1
        network.policy = Policy(
            setting: Setting.acknowledgeXPolicy.name,
            summary: localized(
                "X wants automated accounts labelled, and forbids that several accounts send the same text, also if one of them is the human's: https://help.x.com/en/rules-and-policies/x-automation"
            ),
            isAcknowledged: \.x.mayPublish, wantsOperatorNamed: true)
        network.dataRule = DataRule(
            summary: localized(
                "wants the person's express consent before their account is matched to one elsewhere: https://developer.x.com/en/developer-terms/policy"
            ),
            matchingNeedsConsent: true)
        let priceOfReading = {
            @Sendable (items: Int, feed: Feed, role: AccountRole, settings: MirrorSettings) in
            XPrices.current.price(
                ofReading: items, from: feed, ownsApp: settings.x.appOwner == role)
        }
        network.prices = Prices(
            day: XPrices.current.day, budgetSetting: Setting.xBudget.name,
            monthlyBudget: \.x.monthlyBudget, post: XPrices.current.postCreate,
            reply: XPrices.current.summonedReply, delete: XPrices.current.delete,
            priceOfReading: priceOfReading,
            priceOfOwnPost: { _ in XPrices.current.priceOfLookUp(of: .own) },
            homeShare: \.x.homeShare, assumptions: \.x.assumptions,
            minimumPriceOfPoll: { feed, role, settings in
                priceOfReading(XNetwork.smallestPage(of: feed), feed, role, settings)
            })
        network.reasonHomeIsUnread = { _, settings in
            settings.x.homePostsPerDay == 0
                ? UnreadHome(
                    words: localized("\(Setting.xHomePosts.name) is 0"), isSwitchedOff: true) : nil
        }
        return network
    }()
}

extension NetworkLogin {
    /// A login with a PIN, by the keys of a developer app.
    fileprivate static let x: NetworkLogin = {
        var login = NetworkLogin(
            questions: { request in
                let hasOtherApp = request.otherApp != nil
                var key = Question(.consumerKey, localized("API key of your app"))
                key.form = hasOtherApp ? localized("Enter for the other account's app") : nil
                key.hint = hasOtherApp ? localized("empty for the app of the other account") : nil
                key.privacy = .masked
                key.isOptional = hasOtherApp
                key.refusals = [.secret]
                var secret = Question(.consumerSecret, localized("API key secret"))
                secret.privacy = .secret
                secret.isOptional = hasOtherApp
                secret.follows = .consumerKey
                secret.refusals = [.secret]
                return [key, secret]
            },
            begin: { answers, request, _ in
                var key = answers.text(.consumerKey)
                var secret = answers[.consumerSecret] ?? Secret("")
                if key.isEmpty, let app = request.otherApp {
                    key = app.key
                    secret = app.secret
                }
                guard !key.isEmpty, !secret.isEmpty else {
                    throw ConfigurationError(
                        localized("the app"),
                        localized("needs its API key and the secret of that key"))
                }
                let login = try XLogin(
                    consumerKey: key, consumerSecret: secret, apiBaseURL: request.apiBaseURL,
                    client: request.client, origin: request.origin, now: request.now)
                return .asksForCode(try await pending(login, as: request.role))
            })
        login.sharesApp = true
        return login
    }()

    /// Begins a login that waits for its PIN, which allows only one attempt.
    private static func pending(_ login: XLogin, as role: AccountRole) async throws -> Pending {
        let request = try await login.begin(forReadingOnly: role == .human)
        var pending = Pending(page: request.authorizeURL, codeName: "PIN") { pin in
            var grant = Grant(.x(try await login.finish(request, pin: pin)))
            if role == .bot {
                grant.warnings = [
                    localized(
                        "X wants automated accounts labelled: Settings → Your account → Automation"),
                    localized(
                        "publishing on X stays off until \(Setting.acknowledgeXPolicy.name)=yes; the README says what that means"
                    ),
                ]
            }
            return grant
        }
        pending.beginAgain = { try await Self.pending(login, as: role) }
        return pending
    }
}

extension NetworkLogin.Request {
    /// The developer app of the other account; nil without one.
    fileprivate var otherApp: (key: String, secret: Secret)? {
        otherCredentials.flatMap { credentials in
            credentials[.consumerKey].map { ($0.reveal(), credentials.secret(.consumerSecret)) }
        }
    }
}

extension AccountCredentials {
    package static func x(_ credentials: XCredentials) -> AccountCredentials {
        AccountCredentials(
            network: .x,
            [
                .consumerKey: Secret(credentials.consumerKey),
                .consumerSecret: credentials.consumerSecret,
                .accessToken: credentials.accessToken,
                .accessTokenSecret: credentials.accessTokenSecret,
            ])
    }
}

extension XCredentials {
    package init(_ account: AccountCredentials) {
        self.init(
            consumerKey: account.text(.consumerKey),
            consumerSecret: account.secret(.consumerSecret),
            accessToken: account.secret(.accessToken),
            accessTokenSecret: account.secret(.accessTokenSecret))
    }
}
