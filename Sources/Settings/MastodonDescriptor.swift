package import Networks
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
            rhythm: Rhythm(
                mentions: Rhythm.Beat(1), home: Rhythm.Beat(2), ownPosts: Rhythm.Beat(5),
                favorites: Rhythm.Beat(15)),
            connect: { made in
                try MastodonNetwork(
                    server: made.account.credentials.text(.server),
                    apiBaseURL: made.account.apiBaseURL,
                    credentials: MastodonCredentials(made.account.credentials),
                    sessions: made.sessions,
                    trustsVisibility: made.account.role == .bot || made.settings.trustsHumanServer,
                    quotes: made.settings.quotes, findings: made.findings, client: made.client,
                    origin: made.origin,
                    now: made.now, uptime: made.uptime)
            })
        network.quotes = [.anyone, .followers, .nobody]
        network.missingScopes = { account, client, origin, now in
            let login = try MastodonLogin(
                server: account.credentials.text(.server), apiBaseURL: account.apiBaseURL,
                client: client,
                origin: origin, now: now)
            return try await login.missingBotScopes(of: account.credentials.secret(.accessToken))
                .map {
                    MissingScope(name: $0.rawValue, consequence: $0.consequence)
                }
        }
        return network
    }()
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
