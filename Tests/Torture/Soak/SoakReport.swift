import Foundation
import Posts

/// What came of a soak.
struct SoakReport: Sendable {
    let plan: SoakPlan
    let days: [SoakDay]
    let ledger: SoakLedger
    /// How many accounts the network has.
    let people: Int
    /// What the worker warned of, and how often.
    let log: [String: Int]
    let duration: Duration
    /// How long the worker computed, in seconds; the network's process not counted.
    let processorTime: Double

    var complaints: [String] { Flatness(days: days, ledger: ledger, people: people).complaints }

    /// For a person; the days were shown as they passed.
    var lines: [String] {
        let flatness = Flatness(days: days, ledger: ledger, people: people)
        let summary =
            "\(days.count) days in \(duration.components.seconds) s, \(Int(processorTime)) s of processor: "
            + "memory \(Int(flatness.memorySlope)) bytes a day, "
            + "\(ledger.posted) posts, \(ledger.replies) of \(ledger.expectedReplies) replies, "
            + "\(ledger.favorites) favorites"
        let warnings = log.sorted { $0.key < $1.key }.map { "  \($0.value) × \($0.key)" }
        return [summary] + warnings
            + (complaints.isEmpty ? ["flat"] : complaints.map { "not flat: \($0)" })
    }

    /// Everything, as one JSON object on one line.
    func jsonLine() throws -> String {
        struct Figures: Encodable {
            let network: String
            let store: String
            let seed: UInt64
            let seconds: Int64
            let processorSeconds: Double
            let memorySlope: Double
            let days: [SoakDay]
            let ledger: SoakLedger
            let warnings: [String: Int]
            let complaints: [String]
        }
        let flatness = Flatness(days: days, ledger: ledger, people: people)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let figures = Figures(
            network: plan.network.rawValue, store: plan.store.rawValue, seed: plan.seed,
            seconds: duration.components.seconds, processorSeconds: processorTime,
            memorySlope: flatness.memorySlope,
            days: days, ledger: ledger,
            warnings: log, complaints: complaints)
        return String(decoding: try encoder.encode(figures), as: UTF8.self)
    }
}
