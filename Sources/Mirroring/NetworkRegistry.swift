import Foundation
package import Networks
package import Posts
import Transport

/// Makes the clients of accounts, on all networks.
package struct NetworkRegistry: Sendable {
    let client: HTTPClient
    /// Names this program.
    package let version: String
    let clock: any WallClock

    /// - Parameters:
    ///   - version: Told to servers in the user agent.
    ///   - clock: Tells the time against which limits are counted.
    package init(version: String, clock: any WallClock) {
        client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "mirror-bot/\(version)"))
        self.version = version
        self.clock = clock
    }

    /// Tells servers whom to ask about this program; as `HTTPClient.tell(contact:)`.
    @discardableResult
    package func tell(contact: String) -> Bool { client.tell(contact: contact) }

    /// Tells servers how to reach whoever runs the mirror: `OPERATOR_CONTACT`, else the bot's own handle once it is known.
    ///
    /// - Throws: The store's error.
    package func tellContact(of stores: MirrorStores) async throws {
        if let contact = stores.configuration.operatorContact {
            tell(contact: contact)
        } else if let handle = try await stores.table.record().botHandle {
            tell(contact: "@\(handle)")
        }
    }

    /// The network of a role's account; nil if the role has none.
    ///
    /// - Throws: As ``MirrorStores/account(_:)`` and ``network(for:of:sessions:)``.
    package func network(of role: AccountRole, in stores: MirrorStores) async throws -> (any SocialNetwork)? {
        try await stores.account(role).map { try network(for: $0, of: stores) }
    }

    /// The network of a role's account, or an error that says how to get one.
    ///
    /// - Throws: As ``MirrorStores/requiredAccount(_:)`` and ``network(for:of:sessions:)``.
    package func requiredNetwork(of role: AccountRole, in stores: MirrorStores) async throws -> any SocialNetwork {
        try network(for: try await stores.requiredAccount(role), of: stores)
    }

    /// The network of one account.
    ///
    /// - Parameters:
    ///   - account: Where the account lives and what opens it.
    ///   - stores: The mirror, which keeps sessions and pays for calls.
    ///   - sessions: Keeps the session instead of the mirror.
    /// - Returns: A client that acts as that account.
    /// - Throws: `NetworkError` for an unusable server.
    package func network(
        for account: AccountConfiguration, of stores: MirrorStores, sessions: (any CredentialStore)? = nil
    ) throws -> any SocialNetwork {
        let now: @Sendable () -> Date = { [clock] in clock.now }
        let uptime: @Sendable () -> TimeInterval = { [clock] in clock.uptime }
        let sessions = sessions ?? stores.vault.sessions(of: account.role, clock: clock)
        switch account.credentials {
        case .mastodon(let server, let credentials):
            return try MastodonNetwork(
                server: server, apiBaseURL: account.apiBaseURL, credentials: credentials,
                sessions: sessions, client: client, now: now, uptime: uptime)
        case .x(let credentials):
            return try XNetwork(
                credentials: credentials, options: xOptions(account, stores.configuration.x), book: stores.spending,
                client: client, now: now, uptime: uptime)
        case .bluesky(let identifier, let appPassword):
            return try BlueskyNetwork(
                identifier: identifier, appPassword: appPassword, apiBaseURL: account.apiBaseURL,
                sessions: sessions, client: client, now: now, uptime: uptime)
        }
    }

    private func xOptions(_ account: AccountConfiguration, _ x: XConfiguration) -> XOptions {
        XOptions(
            apiBaseURL: account.apiBaseURL, mayPublish: x.mayPublish, homePostsPerDay: x.homePostsPerDay,
            ownsApp: x.appOwner == account.role, fieldNames: x.fieldNames)
    }

    /// Ends the connections.
    package func shutdown() { client.shutdown() }
}

/// Getting credentials in the first place.
extension NetworkRegistry {
    /// Logging in at a Mastodon-compatible server.
    ///
    /// - Parameters:
    ///   - server: The account's server.
    ///   - apiBaseURL: Where calls go instead; nil for the server itself.
    /// - Returns: The steps of the login.
    /// - Throws: `NetworkError` for an address that cannot be used.
    package func mastodonLogin(server: String, apiBaseURL: String?) throws -> MastodonLogin {
        try MastodonLogin(server: server, apiBaseURL: apiBaseURL, client: client, now: { [clock] in clock.now })
    }

    /// Logging in at X with a PIN.
    ///
    /// - Parameters:
    ///   - consumerKey: The developer app's key.
    ///   - consumerSecret: The developer app's secret.
    ///   - apiBaseURL: Where calls go instead of X.
    /// - Returns: The steps of the login.
    /// - Throws: `NetworkError` for an address that cannot be used.
    package func xLogin(consumerKey: String, consumerSecret: Secret, apiBaseURL: String?) throws -> XLogin {
        try XLogin(
            consumerKey: consumerKey, consumerSecret: consumerSecret, apiBaseURL: apiBaseURL, client: client,
            now: { [clock] in clock.now })
    }
}
