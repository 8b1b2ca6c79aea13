import ArgumentParser
import Configuration
import Control
import Foundation
import Mirroring
import Networks
import Posts
import Sandbox
import Settings
import Storage

/// `Torture soak-sandbox`: the other process of a soak.
///
/// It prepares the mirror's database, says on standard output where the
/// network is, and serves it by the clock in a file until standard input ends.
/// Every line that it is sent is answered with what the network received.
struct SoakSandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak-sandbox", abstract: "The network that a soak sees; started by it.",
        shouldDisplay: false)

    @Option(transform: SoakCommand.network) var network: NetworkName
    @Option var days: Int
    @Option var seed: UInt64
    /// The folder of the mirror.
    @Option var home: String
    /// The file with the instant.
    @Option var clock: String

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let clock = try SharedInstant(path: clock)
        clock.set(SoakPast.origin)
        let past = SoakPast(network: network, home: home, store: SoakMirror.storeVariables())
        try await past.learnPosts()
        let sandbox = try await Sandbox.start(world: world, now: { clock.now })
        let accounts = SoakMirror.accounts(of: sandbox, on: network)
        try await past.learnFavorites(with: accounts)
        let opening = SoakOpening(
            variables: accounts, people: sandbox.world.population.people.count,
            end: sandbox.world.end)
        try say(opening)
        while readLine() != nil { try say(SoakLedger(await sandbox.ledger)) }
        await sandbox.stop()
    }

    private var world: SandboxWorld {
        var configuration = SandboxWorld.Configuration(
            seed: seed, origin: SoakPast.origin, days: days, timeZone: SoakPast.zone)
        configuration.botNetwork = network
        return SandboxWorld(configuration: configuration)
    }

    private func say(_ value: some Encodable) throws {
        FileHandle.standardOutput.write(try JSONEncoder().encode(value) + Data("\n".utf8))
    }
}

/// What the sandbox says once it serves.
struct SoakOpening: Codable, Sendable {
    /// The settings of the two accounts.
    var variables: [String: String]
    /// How many accounts there are.
    var people: Int
    var end: Date
}

/// What the sandbox received.
struct SoakLedger: Codable, Equatable, Sendable {
    var posted: Int
    var replies: Int
    var expectedReplies: Int
    var mentions: Int
    var favorites: Int
    var errors: Int
    var duplicates: Int
    var unsolicited: Int
}

extension SoakLedger {
    init(_ ledger: SandboxLedger) {
        let summary = ledger.summary
        self.init(
            posted: summary.posted, replies: summary.replies,
            expectedReplies: summary.expectedReplies,
            mentions: ledger.mentions.count, favorites: summary.favorites, errors: summary.errors,
            duplicates: summary.duplicateSends, unsolicited: summary.unsolicited)
    }
}
