package import Foundation
import NetworkNames
package import Posts

/// A small social network in this process, on the loopback interface.
///
/// Speaks Mastodon's client API, X's and Bluesky's on one free port. Its people follow the script
/// of a ``SandboxWorld`` and the given clock; a ledger records what the bot does. Meant for the
/// demo and for tests.
///
/// ```swift
/// let sandbox = try await Sandbox.start(world: world, now: { clock.now })
/// // … point a worker at sandbox.url with sandbox.humanToken and sandbox.botToken
/// let summary = await sandbox.ledger.summary
/// await sandbox.stop()
/// ```
package final class Sandbox: Sendable {
    package let world: SandboxWorld
    /// The address of the API: `http://127.0.0.1:` and the port.
    package let url: String
    package let port: Int
    /// The switchboard for deliberate faults.
    package let faults: SandboxFaults

    private let access: SandboxAccess
    private let network: SandboxNetwork
    private let listener: SandboxListener

    /// Opens the network on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - world: The people and their script.
    ///   - rateLimits: The request limits of a token.
    ///   - now: The clock; all events up to its present time have happened. It must not go back.
    /// - Returns: The running network; call ``stop()`` at the end.
    /// - Throws: ``SandboxError`` when no port could be opened.
    package static func start(
        world: SandboxWorld, rateLimits: SandboxRateLimits = .mastodon,
        now: @escaping @Sendable () -> Date
    ) async throws -> Sandbox {
        let faults = SandboxFaults()
        let access = SandboxAccess(world: world)
        let network = SandboxNetwork(
            world: world, access: access, limits: rateLimits, faults: faults, now: now)
        let listener = try SandboxListener(network)
        try await listener.open()
        return Sandbox(
            world: world, access: access, faults: faults, network: network, listener: listener)
    }

    private init(
        world: SandboxWorld, access: SandboxAccess, faults: SandboxFaults, network: SandboxNetwork,
        listener: SandboxListener
    ) {
        self.world = world
        self.port = listener.port
        self.url = "http://127.0.0.1:\(listener.port)"
        self.access = access
        self.faults = faults
        self.network = network
        self.listener = listener
    }

    /// The human's access token on the Mastodon-compatible server, which can only read.
    package var humanToken: String { access.mastodon(.human).accessToken }

    /// The bot's access token on the Mastodon-compatible server.
    package var botToken: String { access.mastodon(.bot).accessToken }

    /// Returns the credentials of an account on the Mastodon-compatible server, including its
    /// access token.
    package func mastodonLogin(_ role: SandboxRole) -> SandboxMastodonLogin {
        access.mastodon(role)
    }

    /// The keys of an account on X; the human's can only read.
    package func xKeys(_ role: SandboxRole) -> SandboxXKeys { access.x(role) }

    /// Returns the credentials of an account on Bluesky.
    package func blueskyLogin(_ role: SandboxRole) -> SandboxBlueskyLogin { access.bluesky(role) }

    /// The record of the requests that the network has received, and its assessment.
    package var ledger: SandboxLedger {
        get async { await network.ledger }
    }

    /// Returns the text of every post so far, by the post's id on a network.
    ///
    /// A post that is not in the script, such as the bot's own records on Bluesky, may have another
    /// id there.
    package func texts(on network: NetworkName) async -> [String: String] {
        await self.network.texts(on: network)
    }

    /// Makes people mention the bot now, in addition to the world's script.
    ///
    /// - Parameter utterances: The mentions, in their order; one by an unknown person is left out.
    /// - Returns: The ledger's entries.
    @discardableResult
    package func say(_ utterances: [SandboxUtterance]) async -> [SandboxLedger.Mention] {
        await network.say(utterances)
    }

    /// Takes the server offline: open connections end and new ones are refused.
    ///
    /// The port stays reserved. The world's clock goes on, and requests that were accepted for
    /// later execution are executed nevertheless.
    package func close() async { await listener.close() }

    /// Brings the server back on the same port; does nothing if it is online.
    ///
    /// - Throws: ``SandboxError`` if the port cannot be opened, or after ``stop()``.
    package func reopen() async throws { try await listener.open() }

    /// Closes the port and all connections for good; may be called more than once.
    package func stop() async { await listener.stop() }
}

/// The error if a sandbox cannot start, or return after ``Sandbox/close()``.
package struct SandboxError: Error, Equatable, CustomStringConvertible, Sendable {
    package let description: String
}

extension Sandbox {
    /// Returns the environment variables with which mirror-bot uses an account of the sandbox.
    ///
    /// - Parameters:
    ///   - role: The owner of the account, and the prefix of every name, except those for X as a
    ///     whole.
    ///   - network: The network whose interface of the sandbox is used.
    /// - Returns: Network, address and credentials; for the bot on X also the settings without
    ///   which it may not write there.
    package func settings(of role: SandboxRole, on network: NetworkName) -> [String: String] {
        var account = account(of: role, on: network)
        account["NETWORK"] = network.rawValue
        let prefix = role.rawValue.uppercased() + "_"
        var settings = Dictionary(uniqueKeysWithValues: account.map { (prefix + $0.key, $0.value) })
        if network == .x, role == .bot {
            settings["X_ACKNOWLEDGE_POLICY"] = "yes"
            // Nothing costs money here, and a usual budget would be used up by the first day's
            // reading.
            settings["X_BUDGET_USD_PER_MONTH"] = "1000"
            settings["X_HOME_POSTS_PER_DAY"] = "2000"
        }
        return settings
    }

    private func account(of role: SandboxRole, on network: NetworkName) -> [String: String] {
        switch network {
        case .mastodon:
            return ["SERVER": url, "ACCESS_TOKEN": role == .human ? humanToken : botToken]
        case .x:
            let keys = xKeys(role)
            return [
                "API_BASE_URL": url, "CONSUMER_KEY": keys.consumerKey,
                "CONSUMER_SECRET": keys.consumerSecret,
                "ACCESS_TOKEN": keys.accessToken, "ACCESS_TOKEN_SECRET": keys.accessTokenSecret,
            ]
        default:
            let login = blueskyLogin(role)
            return ["API_BASE_URL": url, "HANDLE": login.handle, "APP_PASSWORD": login.appPassword]
        }
    }
}
