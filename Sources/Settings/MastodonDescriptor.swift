import Localization
package import Mastodon
import NetworkNames
import Networks
import Posts

extension NetworkDescriptor {
    /// Servers that speak Mastodon's client API.
    static let mastodon: NetworkDescriptor = {
        var network = NetworkDescriptor(
            .mastodon,
            fields: [
                Field(.server), Field(.accessToken), Field(.refreshToken), Field(.clientID),
                Field(.clientSecret),
            ],
            identity: .accessToken, fingerprint: [.server, .accessToken],
            // The bot's operator chooses the interval, and the server's own limits slow down
            // frequent requests.
            pollIntervals: PollIntervals(
                mentions: PollIntervals.Interval(multiple: 1),
                home: PollIntervals.Interval(multiple: 2),
                ownPosts: PollIntervals.Interval(multiple: 5),
                favorites: PollIntervals.Interval(multiple: 15)),
            connect: { connection in
                try MastodonNetwork(
                    server: connection.account.credentials.text(.server),
                    apiBaseURL: connection.account.apiBaseURL,
                    credentials: MastodonCredentials(connection.account.credentials),
                    sessions: connection.sessions,
                    trustsVisibility: connection.account.role == .bot
                        || connection.settings.trustsHumanServer,
                    quotes: connection.settings.quotes, findings: connection.findings,
                    client: connection.client,
                    origin: connection.origin,
                    now: connection.now, uptime: connection.uptime)
            })
        network.login = .mastodon
        network.quoteAudiences = [.anyone, .followers, .nobody]
        network.missingScopes = { account, client, origin, now in
            let login = try MastodonLogin(
                server: account.credentials.text(.server), apiBaseURL: account.apiBaseURL,
                client: client,
                origin: origin, now: now)
            return try await login.missingBotScopes(of: account.credentials.secret(.accessToken))
                .map(MissingScope.init)
        }
        return network
    }()
}

extension NetworkDescriptor.MissingScope {
    fileprivate init(_ scope: MastodonBotScope) {
        self.init(name: scope.rawValue, consequence: scope.consequence)
    }
}

extension NetworkLogin {
    /// A login at the account's server, with a code or with a token that was made there.
    fileprivate static let mastodon = NetworkLogin(
        questions: { request in
            var server = Question(.server, localized("Server of \(request.whose) account"))
            server.form = "https://HOST"
            server.hint = localized("such as mastodon.social")
            server.refusals =
                request.hasToken ? [.serverOrHandle] : [.serverOrHandle, .secret]
            server.parse = { try ServerURL.normalized($0, setting: localized("the server")) }
            guard request.hasToken else { return [server] }
            var token = Question(.accessToken, localized("Access token"))
            token.privacy = .secret
            token.isToken = true
            token.refusals = [.secret]
            return [server, token]
        },
        begin: { answers, request, returnPage in
            let server = answers.text(.server)
            let login = try MastodonLogin(
                server: server, apiBaseURL: request.apiBaseURL, client: request.client,
                origin: request.origin, now: request.now)
            guard request.hasToken else {
                return .asksForCode(
                    try await pending(login, at: server, as: request.role, returningTo: returnPage))
            }
            let token = answers[.accessToken] ?? Secret("")
            var grant = Grant(.mastodon(server: server, MastodonCredentials(accessToken: token)))
            grant.warnings = warnings(
                canWrite: try await login.canWrite(with: token), role: request.role)
            grant.advice =
                localized(
                    "make a token with the scopes read and write in the server's settings under Development, or log in without --token"
                )
            if request.role == .bot {
                grant.missing = try await login.missingBotScopes(of: token).map(
                    NetworkDescriptor.MissingScope.init)
            }
            return .granted(grant)
        })

    /// Registers an application at a server, whose page then shows or returns a code.
    private static func pending(
        _ login: MastodonLogin, at server: String, as role: AccountRole, returningTo page: String?
    ) async throws -> Pending {
        let request = try await login.register(
            for: role == .human ? .human : .bot, returningTo: page)
        var pending = Pending(page: request.authorizeURL, codeName: localized("code")) { code in
            let granted = try await login.finish(request, code: code)
            let token = granted.credentials
            var grant = Grant(.mastodon(server: server, token))
            grant.warnings = warnings(canWrite: granted.canWrite, role: role)
            grant.advice = localized("log in again and allow everything that is listed")
            grant.revoke = { try await login.revoke(token) }
            guard role == .bot else { return grant }
            do {
                grant.missing = try await login.missingBotScopes(
                    of: token.accessToken, granted: granted.scopes
                ).map(NetworkDescriptor.MissingScope.init)
            } catch {
                // A token that cannot be revoked is in the account's settings; the person is told
                // why the login failed.
                try? await login.revoke(token)
                throw error
            }
            return grant
        }
        pending.leadsBack = request.leadsBack
        pending.hasState = request.hasState
        return pending
    }

    private static func warnings(canWrite: Bool, role: AccountRole) -> [String] {
        role == .human && canWrite
            ? [
                localized(
                    "the human's token can write, or the server does not say that it cannot; mirror-bot never needs that, so make one that only reads where the server has such"
                )
            ] : []
    }
}

extension AccountCredentials {
    /// Returns the credentials of an account on `server`, which is `scheme://host[:port]` without a
    /// path.
    package static func mastodon(server: String, _ credentials: MastodonCredentials)
        -> AccountCredentials
    {
        AccountCredentials(
            network: .mastodon,
            [
                .server: Secret(server), .accessToken: credentials.accessToken,
                .refreshToken: credentials.refreshToken,
                .clientID: credentials.clientID.map(Secret.init),
                .clientSecret: credentials.clientSecret,
            ], expiresAt: credentials.expiresAt)
    }
}

extension MastodonCredentials {
    package init(_ account: AccountCredentials) {
        self.init(
            accessToken: account.secret(.accessToken), refreshToken: account[.refreshToken],
            clientID: account[.clientID]?.reveal(), clientSecret: account[.clientSecret],
            expiresAt: account.expiresAt)
    }
}
