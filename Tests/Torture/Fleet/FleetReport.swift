import Foundation

/// A line of the benchmark's table.
struct FleetRow: Codable, Sendable {
    /// A name for programs, such as `idle_memory`.
    var name: String
    var title: String
    var value: Double
    var unit: String
    /// The most that is allowed; nil where a figure only informs.
    var limit: Double?
    /// Must hold at every size: what the oracle found.
    var isOracle = false

    var isMet: Bool { limit.map { value <= $0 } ?? true }

    /// A figure of a bot's conduct, of which none is allowed.
    static func oracle(_ name: String, _ title: String, _ count: Int) -> FleetRow {
        FleetRow(name: name, title: title, value: Double(count), unit: "", limit: 0, isOracle: true)
    }
}

/// What the benchmark measured.
struct FleetReport: Encodable, Sendable {
    var rows: [FleetRow] = []
    /// What was wrong, in words; the first of each kind.
    var complaints: [String] = []
    /// False where only the oracle counts.
    var judgesGoals: Bool

    var isPassed: Bool { rows.allSatisfy { $0.isMet || !($0.isOracle || judgesGoals) } }

    var lines: [String] {
        let cells = rows.map { row -> [String] in
            let isJudged = row.limit != nil && (row.isOracle || judgesGoals)
            let met = row.isMet ? "yes" : "NO"
            return [
                row.title, Self.text(row.value, row.unit),
                row.limit.map { "≤ " + Self.text($0, row.unit) } ?? "",
                isJudged ? met : "",
            ]
        }
        let table = [["measure", "measured", "goal", "met"]] + cells
        let widths = (0..<4).map { column in table.map { $0[column].count }.max() ?? 0 }
        let lines = table.map { row in
            let cells = zip(row, widths.dropLast()).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }
            return (cells + row.suffix(1)).joined(separator: "  ")
        }
        return lines + complaints
    }

    func jsonLine() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    private static func text(_ value: Double, _ unit: String) -> String {
        let isWhole = value == value.rounded() && abs(value) < 1e9
        let number = isWhole ? String(Int(value)) : String((value * 1_000).rounded() / 1_000)
        return unit.isEmpty ? number : number + " " + unit
    }
}
