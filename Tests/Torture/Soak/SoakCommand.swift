import ArgumentParser
import Control
import Fleet
import Foundation
import Mirroring
import NetworkNames
import Posts

/// `Torture soak`: a month of a worker in a minute or two, and whether it stayed as it was on its
/// first day.
struct SoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract:
            "Let a worker live through a month and see that it holds no more on the last day than on the second.",
        discussion: """
            The worker runs in this process, on a clock that jumps; the network that it sees runs in another one, so \
            that only the worker's memory is measured. Ends with 1 when something is not flat.
            """)

    @Option(help: ArgumentHelp("Days to live through.", valueName: "number"))
    var days = 30

    @Option(help: "mastodon, x or bluesky.", transform: Self.network)
    var network = NetworkName.mastodon

    @Option(help: "sqlite, or postgres with Redis beside it.")
    var store = SoakStore.sqlite

    @Option(help: ArgumentHelp("Another seed makes other days.", valueName: "number"))
    var seed: UInt64 = 2026

    @Flag(help: "End with one JSON object on a line of its own.")
    var json = false

    func validate() throws {
        guard (2...365).contains(days) else {
            throw ValidationError("--days is \(days); expected a number from 2 to 365")
        }
    }

    static func network(_ text: String) throws -> NetworkName {
        guard let network = NetworkName(rawValue: text) else {
            throw ValidationError("\"\(text)\" is no network; expected mastodon, x or bluesky")
        }
        return network
    }

    func run() async throws {
        // As the program does: it is what a worker lives in.
        ProcessSetup.run()
        let plan = SoakPlan(network: network, store: store, days: days, seed: seed)
        let report = try await Soak(plan: plan) { line in
            FileHandle.standardError.write(Data((line + "\n").utf8))
        }.run()
        if json { print(try report.jsonLine()) } else { report.lines.forEach { print($0) } }
        guard report.complaints.isEmpty else { throw ExitCode.failure }
    }
}

/// Where a soaked worker keeps its data.
enum SoakStore: String, CaseIterable, Codable, Sendable, ExpressibleByArgument {
    case sqlite
    case postgres
}

/// What a soak lives through.
struct SoakPlan: Sendable {
    var network = NetworkName.mastodon
    var store = SoakStore.sqlite
    var days = 30
    var seed: UInt64 = 2026

    /// Whether the process is left alone before it is measured: on the first days, on every fifth
    /// and on the last.
    func rests(on day: Int) -> Bool { day <= 3 || day % 5 == 0 || day == days }
}
