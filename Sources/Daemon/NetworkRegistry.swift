import Foundation
package import Networks
import Posts
import Transport

/// Makes the client of a configured account.
package struct NetworkRegistry: Sendable {
    private let client: HTTPClient
    private let clock: any WallClock

    /// - Parameters:
    ///   - version: Told to servers in the user agent.
    ///   - clock: Tells the time against which limits are counted.
    package init(version: String, clock: any WallClock) {
        client = HTTPClient(
            configuration: HTTPClientConfiguration(
                userAgent: "mirror-bot/\(version) (+https://github.com/naoty/mirror_bot)"))
        self.clock = clock
    }

    /// The network of one account.
    ///
    /// - Parameter account: Where the account lives and what opens it.
    /// - Returns: A client that acts as that account.
    /// - Throws: ``ConfigurationError`` for a network that is not supported; ``NetworkError`` for an unusable server.
    package func network(for account: AccountConfiguration) throws -> any SocialNetwork {
        switch account.network {
        case .mastodon:
            return try MastodonNetwork(
                server: account.server, accessToken: account.accessToken, client: client,
                now: { [clock] in clock.now })
        case .x, .bluesky:
            throw ConfigurationError("NETWORK", "is \(account.network.rawValue), which is not supported yet")
        }
    }

    /// Ends the connections.
    package func shutdown() { client.shutdown() }
}
