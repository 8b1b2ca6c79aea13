package import Foundation

/// A small social network in this process, on the loopback interface.
///
/// Speaks Mastodon's client API on a free port. Its people live by the script
/// of a ``SandboxWorld`` and by the clock it is given; it keeps a ledger of
/// what the bot does. Meant for the demo and for tests.
///
/// ```swift
/// let sandbox = try await Sandbox.start(world: world, now: { clock.now })
/// // … point a worker at sandbox.url with sandbox.humanToken and sandbox.botToken
/// let summary = await sandbox.ledger.summary
/// await sandbox.stop()
/// ```
package final class Sandbox: Sendable {
    package let world: SandboxWorld
    /// Where the API is: `http://127.0.0.1:` and the port.
    package let url: String
    package let port: Int
    /// The human's access token, which can only read.
    package let humanToken: String
    /// The bot's access token.
    package let botToken: String
    /// What goes wrong on purpose.
    package let faults: SandboxFaults

    private let network: SandboxNetwork
    private let server: Task<Void, any Error>

    /// Opens the network on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - world: Its people and what they do.
    ///   - rateLimits: How many requests a token may make.
    ///   - now: The clock; everything up to its instant has happened. It must not go back.
    /// - Returns: The running network; call ``stop()`` when done with it.
    /// - Throws: ``SandboxError`` when no port could be opened.
    package static func start(
        world: SandboxWorld, rateLimits: SandboxRateLimits = .mastodon, now: @escaping @Sendable () -> Date
    ) async throws -> Sandbox {
        var generator = SampleGenerator(seed: world.configuration.seed ^ 0x70_6B_65_6E)
        let tokens = (0..<2).map { _ in
            String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
        }
        let faults = SandboxFaults()
        let network = SandboxNetwork(
            world: world,
            grants: [
                tokens[0]: .init(person: SandboxPopulation.human, scopes: SandboxNetwork.humanScopes),
                tokens[1]: .init(person: SandboxPopulation.bot, scopes: SandboxNetwork.botScopes),
            ], limits: rateLimits, faults: faults, now: now)
        let (port, server) = try await SandboxListener.run(network)
        return Sandbox(
            world: world, port: port, tokens: tokens, faults: faults, network: network, server: server)
    }

    private init(
        world: SandboxWorld, port: Int, tokens: [String], faults: SandboxFaults, network: SandboxNetwork,
        server: Task<Void, any Error>
    ) {
        self.world = world
        self.port = port
        self.url = "http://127.0.0.1:\(port)"
        self.humanToken = tokens[0]
        self.botToken = tokens[1]
        self.faults = faults
        self.network = network
        self.server = server
    }

    deinit { server.cancel() }

    /// What the network received, and what it makes of it, as of now.
    package var ledger: SandboxLedger {
        get async { await network.ledger }
    }

    /// Closes the port and all connections; may be called more than once.
    package func stop() async {
        server.cancel()
        _ = await server.result
    }
}

/// Why a sandbox could not start.
package struct SandboxError: Error, Equatable, CustomStringConvertible, Sendable {
    package let description: String
}
