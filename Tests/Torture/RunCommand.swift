import ArgumentParser
import Control
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox

/// `Torture run`.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract:
            "Kill the real program again and again, and compare what everybody says about it.",
        discussion: """
            Runs mirror-bot against a network inside this process, kills it at random instants and at every named \
            fault point, and lets the network and the stores fail meanwhile. In the end the plan, the network's \
            ledger and the table of actions must agree, and of everybody who spoke to the bot somebody must be able \
            to see what became of it. The last line of the output is one JSON object. All choices \
            follow from the seed; which of two processes is faster does not.
            """)

    @Option(help: ArgumentHelp("Kills, 1 to 100000.", valueName: "number"))
    var kills = 200

    @Option(help: ArgumentHelp("Another seed makes other episodes.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        help:
            "sqlite, postgres with Redis beside it, or cluster: a pair of the one and six of the other, which fail over."
    )
    var store = TortureStore.sqlite

    @Option(help: "mastodon, x or bluesky.", transform: Self.network)
    var network = NetworkName.mastodon

    @Option(
        help: ArgumentHelp(
            "The program; the one built beside this one if left out.", valueName: "path"))
    var binary: String?

    @Option(
        help: ArgumentHelp("How many times as fast the clocks run, 1 to 300.", valueName: "number"))
    var factor = 120.0

    @Flag(help: "Let a person interfere meanwhile: skip, move, pin, reroll, never, pause.")
    var person = false

    @Flag(name: .shortAndLong, help: "Tell of every episode.")
    var verbose = false

    @Flag(help: "Keep the folder of the run even if nothing was found.")
    var keep = false

    @Option(help: .hidden, transform: { try Self.names($0, EpisodeKind.init(rawValue:)) })
    var shapes: [EpisodeKind] = []

    @Option(
        help: .hidden,
        transform: { try Self.names($0) { name in FaultPoint.all.first { $0.name == name } } })
    var points: [FaultPoint] = []

    @Option(help: .hidden, transform: { try Self.names($0, NetworkFault.Kind.init(rawValue:)) })
    var networkFaults: [NetworkFault.Kind] = []

    @Option(help: .hidden, transform: { try Self.names($0, Outcry.Kind.init(rawValue:)) })
    var outcries: [Outcry.Kind] = []

    @Flag(help: .hidden)
    var refusals = false

    @Option(help: .hidden)
    var software = MastodonHabits.Software.mastodon

    func validate() throws {
        guard (1...100_000).contains(kills) else {
            throw ValidationError("--kills is \(kills); expected a number from 1 to 100000")
        }
        guard (1...300).contains(factor) else {
            throw ValidationError("--factor is \(factor); expected a number from 1 to 300")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        var settings = TortureSettings(network: network, store: store, kills: kills, seed: seed)
        settings.program = try binary ?? WorkerProgram.path()
        settings.factor = factor
        settings.isVerbose = verbose
        settings.hasPerson = person
        settings.keepsFolder = keep
        settings.software = software
        settings.filter = EpisodeFilter(
            kinds: shapes, points: points, networkFaults: networkFaults, outcries: outcries,
            refusesObjects: refusals)
        let run = TortureRun(settings: settings, say: Self.say)
        let report = try await Interruption.cancelling { try await run.run() }
        for line in report.complaints { Self.say(line) }
        print(try report.jsonLine())
        guard report.isPassed else { throw ExitCode.failure }
    }

    @Sendable private static func say(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    /// The values that a list such as `killed,frozen` names.
    private static func names<Value>(_ list: String, _ value: (String) -> Value?) throws -> [Value]
    {
        try list.split(separator: ",").map { name in
            guard let value = value(String(name)) else {
                throw ValidationError("nothing is called \(name)")
            }
            return value
        }
    }

    private static func network(_ text: String) throws -> NetworkName {
        guard let network = NetworkName(rawValue: text) else {
            throw ValidationError("--network is \"\(text)\"; expected mastodon, x or bluesky")
        }
        return network
    }
}

extension TortureStore: ExpressibleByArgument {}
extension MastodonHabits.Software: ExpressibleByArgument {}
