import Foundation

/// The table that is printed, and its JSON.
struct Report {
    /// What came of one work: its lines, or why there are none.
    struct Entry {
        let work: String
        let result: Result<[Line], any Error>
    }

    private(set) var entries: [Entry] = []

    mutating func add(_ work: String, _ result: Result<[Line], any Error>) {
        entries.append(Entry(work: work, result: result))
    }

    /// Whether something could not be measured, other than for a tool that is not installed.
    var hasFailed: Bool {
        entries.contains { entry in
            if case .failure(let error) = entry.result { !(error is MissingTool) } else { false }
        }
    }

    private static let header = ["work", "ours", "baseline", "ratio", "half of the ratios", "target", ""]

    /// One row a line, in columns.
    var table: String {
        let rows = [Self.header] + entries.flatMap(rows)
        // A work that could not run has two cells, whose length no column has to follow.
        let widths = Self.header.indices.map { column in
            rows.filter { $0.count == Self.header.count }.map { Self.width($0[column]) }.max() ?? 0
        }
        return rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: max(0, $1 - Self.width($0))) }
                .joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }.joined(separator: "\n")
    }

    /// Names of lines and their ratios; null for a work that could not run.
    var json: String {
        let pairs = entries.flatMap { entry -> [String] in
            switch entry.result {
            case .success(let lines):
                lines.compactMap { line in line.ratio.map { "\"\(line.name)\": \(Self.number($0.median))" } }
            case .failure:
                ["\"\(entry.work)\": null"]
            }
        }
        return "{\(pairs.joined(separator: ", "))}"
    }

    private func rows(_ entry: Entry) -> [[String]] {
        switch entry.result {
        case .failure(let error):
            return [[entry.work, "\(error is MissingTool ? "skipped" : "failed"): \(error)"]]
        case .success(let lines):
            return lines.map { line in
                let verdict = line.target.isReached(by: line.ratio).map { $0 ? "ok" : "missed" } ?? ""
                return [
                    line.title, line.ours, line.baseline, line.ratio.map { Figure.ratio($0.median) } ?? "",
                    line.ratio.map { "\(Figure.ratio($0.quartiles.low))–\(Figure.ratio($0.quartiles.high))" } ?? "",
                    line.target.text, verdict,
                ]
            }
        }
    }

    private static func width(_ text: String) -> Int { text.unicodeScalars.count }

    private static func number(_ value: Double) -> String {
        value.isFinite ? String(format: "%.4f", value) : "null"
    }
}
