import Foundation

/// The table that is printed, and its JSON.
struct Report {
    private enum Entry {
        case line(Line)
        case failure(name: String, any Error)
    }

    /// Whether a tool that is not installed makes its lines fail instead of being skipped.
    let needsEveryTool: Bool
    private var entries: [Entry] = []

    init(needsEveryTool: Bool) { self.needsEveryTool = needsEveryTool }

    /// Adds the lines that are measured together.
    ///
    /// An error is told, stands in the report under the name, and ends nothing.
    mutating func measure(_ name: String, _ body: () async throws -> [Line]) async {
        do {
            entries += try await body().map(Entry.line)
        } catch {
            add(error, of: name)
        }
    }

    /// Adds a line.
    mutating func add(_ line: Line) { entries.append(.line(line)) }

    /// Adds an error in the place of the lines of this name.
    mutating func add(_ error: any Error, of name: String) {
        Bench.say("\(isSkipped(error) ? "skipping" : "could not measure") \(name): \(error)")
        entries.append(.failure(name: name, error))
    }

    /// Whether something could not be measured.
    var hasFailed: Bool {
        entries.contains {
            if case .failure(_, let error) = $0 { !isSkipped(error) } else { false }
        }
    }

    private func isSkipped(_ error: any Error) -> Bool { error is MissingTool && !needsEveryTool }

    private func verdict(_ error: any Error) -> String { isSkipped(error) ? "skipped" : "failed" }

    private static let header = [
        "work", "ours", "baseline", "ratio", "half of the ratios", "target", "",
    ]

    /// One row a line, in columns.
    var table: String {
        let rows = [Self.header] + entries.map(row)
        // What could not be measured has two cells, whose length no column has to follow.
        let widths = Self.header.indices.map { column in
            rows.filter { $0.count == Self.header.count }.map { Self.width($0[column]) }.max() ?? 0
        }
        return rows.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: max(0, $1 - Self.width($0))) }
                .joined(separator: "  ").trimmingCharacters(in: .whitespaces)
        }.joined(separator: "\n")
    }

    /// One line: names of lines and their ratios; for what could not be measured an object that
    /// says why.
    var json: String {
        let pairs = entries.compactMap { entry -> String? in
            switch entry {
            case .line(let line):
                line.ratio.map { "\(Self.quoted(line.name)): \(Self.number($0.median))" }
            case .failure(let name, let error):
                "\(Self.quoted(name)): {\(Self.quoted(verdict(error))): \(Self.quoted(Self.oneLine(error)))}"
            }
        }
        return "{\(pairs.joined(separator: ", "))}"
    }

    private func row(_ entry: Entry) -> [String] {
        switch entry {
        case .failure(let name, let error):
            return [name, "\(verdict(error)): \(Self.oneLine(error))"]
        case .line(let line):
            let isReached = line.target.isReached(by: line.ratio).map { $0 ? "ok" : "missed" } ?? ""
            return [
                line.title, line.ours, line.baseline,
                line.ratio.map { Figure.ratio($0.median) } ?? "",
                line.ratio.map {
                    "\(Figure.ratio($0.quartiles.low))–\(Figure.ratio($0.quartiles.high))"
                } ?? "",
                line.target.text, isReached,
            ]
        }
    }

    private static func width(_ text: String) -> Int { text.unicodeScalars.count }

    private static func number(_ value: Double) -> String {
        value.isFinite ? String(format: "%.4f", value) : "null"
    }

    /// An error may hold the whole output of a program.
    private static func oneLine(_ error: any Error) -> String {
        "\(error)".split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
