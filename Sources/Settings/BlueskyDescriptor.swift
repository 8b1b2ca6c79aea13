import Bluesky
import Localization
import NetworkNames
import Networks
package import Posts

extension NetworkDescriptor {
    /// Bluesky, by the AT protocol.
    static let bluesky: NetworkDescriptor = {
        var network = NetworkDescriptor(
            .bluesky,
            // The human's password is optional, because posts and favorites are public there.
            fields: [Field(.handle), Field(.appPassword, optionalFor: [.human])],
            // The password is left out, because a weak one could be guessed from its digest.
            identity: .handle, fingerprint: [.handle],
            pollIntervals: PollIntervals(
                mentions: PollIntervals.Interval(multiple: 1, shortest: .seconds(30)),
                home: PollIntervals.Interval(multiple: 2, shortest: .seconds(60)),
                ownPosts: PollIntervals.Interval(multiple: 5, shortest: .seconds(5 * 60)),
                favorites: PollIntervals.Interval(multiple: 10, shortest: .seconds(10 * 60))),
            connect: { connection in
                let settings = connection.settings
                return try BlueskyNetwork(
                    identifier: connection.account.credentials.text(.handle),
                    appPassword: connection.account.credentials[.appPassword],
                    apiBaseURL: connection.account.apiBaseURL,
                    sessions: connection.sessions,
                    gates: BlueskyGates(
                        replies: settings.replies, allowsQuotes: settings.quotes != .nobody),
                    client: connection.client, origin: connection.origin, now: connection.now,
                    uptime: connection.uptime)
            })
        network.login = .bluesky
        network.defaults[.favoriteMode] = .suggest
        network.quoteAudiences = [.anyone, .nobody]
        network.replyAudiences = Set(Audience.allCases)
        network.reasonHomeIsUnread = { account, _ in
            guard account.credentials[.appPassword] == nil else { return nil }
            return UnreadHome(
                words: localized("\(AccountField.appPassword.name(of: account.role)) is not set"),
                isSwitchedOff: false)
        }
        return network
    }()
}

extension NetworkLogin {
    /// The page on which an account's owner creates app passwords.
    private static let passwordPage = "https://bsky.app/settings/app-passwords"

    /// A login with a handle and an app password, which the human does not need.
    fileprivate static let bluesky = NetworkLogin(
        questions: { request in
            let isHuman = request.role == .human
            var handle = Question(.handle, localized("Handle of \(request.whose) account"))
            handle.form = "name.bsky.social"
            handle.hint = localized("such as name.bsky.social")
            // The network does not say whether it refuses the handle or the password.
            handle.refusals = [.serverOrHandle, .secret]
            handle.parse = {
                try BlueskyIdentifier.normalized($0, setting: localized("the handle"))
            }
            var password = Question(.appPassword, localized("App password"))
            password.form = isHuman ? localized("Enter for none, which is enough") : nil
            password.hint =
                isHuman
                ? localized("none is enough: posts and likes are public")
                : localized("not the password of the account")
            password.privacy = .secret
            password.isOptional = isHuman
            password.page = isHuman ? nil : passwordPage
            password.isToken = true
            password.refusals = [.secret]
            return [handle, password]
        },
        begin: { answers, request, _ in
            let password = answers[.appPassword].flatMap { $0.isEmpty ? nil : $0 }
            guard request.role == .human || password != nil else {
                throw ConfigurationError(localized("the app password"), localized("is empty"))
            }
            var grant = Grant(
                .bluesky(identifier: answers.text(.handle), appPassword: password))
            grant.isUntried = true
            if request.role == .human, password != nil {
                grant.warnings = [
                    localized(
                        "an app password can write, for Bluesky has none that only reads; without one the human's posts and likes are read all the same, only the home timeline is not"
                    )
                ]
            }
            return .granted(grant)
        })
}

extension AccountCredentials {
    /// Returns the credentials of an account by its handle or DID; the password is `nil` if public
    /// reading is enough.
    package static func bluesky(identifier: String, appPassword: Secret?) -> AccountCredentials {
        AccountCredentials(
            network: .bluesky, [.handle: Secret(identifier), .appPassword: appPassword])
    }
}
