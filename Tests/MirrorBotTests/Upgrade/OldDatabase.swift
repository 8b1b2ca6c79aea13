import Foundation
import Outbox
import TestSupport

@testable import Storage

/// The database of a machine on which mirror-bot 0.1.0 ran, as `database-0.1.0.sql` holds it.
///
/// What the tests expect is told from that file alone.
struct OldDatabase: Sendable {
    typealias Row = [String: SQLValue]

    /// The key that its logins were sealed with.
    static let secretKey = String(repeating: "15", count: 32)
    static let timeZone = "Asia/Tokyo"

    private let statements: [(table: String, text: String)]
    /// Every row, by table.
    let tables: [String: [Row]]

    init() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("database-0.1.0.sql")
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        // Nothing but its head is a comment, and each statement begins and ends a paragraph of its
        // own.
        let body = lines.drop { $0.isEmpty || $0.hasPrefix("--") }.joined(separator: "\n")
        let parsed = try body.components(separatedBy: ";\n\nINSERT INTO ").enumerated().map {
            index, text in
            let whole = index == 0 ? text : "INSERT INTO " + text
            return try OldStatement(whole.trimmingCharacters(in: ["\n", ";"]))
        }
        statements = parsed.map { ($0.table, $0.text) }
        tables = Dictionary(parsed.map { ($0.table, $0.rows) }) { $0 + $1 }
    }

    func rows(_ table: String, of mirror: String? = nil) -> [Row] {
        (tables[table] ?? []).filter { mirror == nil || $0["mirror"] == mirror.map(SQLValue.text) }
    }

    /// When the last thing happened to a mirror, rounded up to a second.
    func end(of mirror: String) -> Date {
        let times = ["actions", "leases"].flatMap { rows($0, of: mirror) }.map {
            $0.number("updated_ms")
        }
        return Date(timeIntervalSince1970: Double(((times.max() ?? 0) + 999) / 1_000))
    }

    /// Makes it anew: the steps that there were then are applied, and the rows are inserted.
    ///
    /// - Throws: `TestSupportError` if those steps are not, letter by letter, what 0.1.0 applied;
    ///   the store's error.
    func restore(at location: StorageLocation) async throws {
        let recorded = rows("schema_migrations")
        let engine = try await Storage.open(location)
        let steps = try Self.steps().filter { step in
            recorded.contains { $0["id"] == .text(step.id) }
        }
        _ = try await Migrations.apply(steps, to: engine)
        guard try await Set(contents(of: "schema_migrations", in: engine)) == Set(recorded) else {
            throw TestSupportError("could not make the tables of 0.1.0: its steps were other ones")
        }
        try await engine.transaction { [statements] connection in
            for statement in statements where statement.table != "schema_migrations" {
                try connection.execute("\(unsafe: statement.text)")
            }
        }
        await engine.close()
    }

    /// Brings it up to date, as the last program did whose steps these are: it applied those that
    /// were missing, and took every mirror from its worker.
    ///
    /// - Throws: The store's error.
    func update(at location: StorageLocation) async throws {
        let steps = try Self.steps()
        try await Storage.open(location).closing { engine in
            _ = try await Migrations.apply(steps, to: engine) { connection, _ in
                try LeaseTable.revokeAll(on: connection)
            }
        }
    }

    private static func steps() throws -> [Migration] {
        try EarlierSteps.read().map { Migration(id: $0.id, source: $0.source) }
    }

    /// What a table holds now.
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - engine: The database.
    ///   - columns: What to read; nil for the columns that it had values in then.
    /// - Returns: Its rows in any order.
    /// - Throws: The store's error.
    func contents(
        of table: String, in engine: any StorageEngine, columns: [String]? = nil
    ) async throws -> [Row] {
        let old = rows(table)
        let columns = columns ?? old.first?.keys.sorted() ?? []
        let truths = Set(
            columns.filter { column in
                old.contains { if case .boolean = $0[column] { true } else { false } }
            })
        let rows = try await engine.query(
            "SELECT \(unsafe: columns.joined(separator: ", ")) FROM \(unsafe: table)")
        return try rows.map { row in
            Row(
                uniqueKeysWithValues: try columns.map { column in
                    // SQLite knows no truth values.
                    (
                        column,
                        truths.contains(column)
                            ? .boolean(try row.boolean(column)) : try row.value(column)
                    )
                })
        }
    }
}

/// One `INSERT` of the file, and what it says.
private struct OldStatement {
    let text: String
    let table: String
    let rows: [OldDatabase.Row]

    /// Reads `INSERT INTO table (column, …) VALUES (value, …), …` with numbers, texts, `TRUE`,
    /// `FALSE` and `NULL`.
    init(_ text: String) throws {
        guard let head = text.prefixMatch(of: /INSERT INTO (\w+) \(([\w, ]+)\) VALUES\n/) else {
            throw TestSupportError(
                "could not read a statement of the old database: \(text.prefix(80))")
        }
        self.text = text
        table = String(head.1)
        let columns = head.2.split(separator: ", ").map(String.init)
        var reader = ValueReader(bytes: Array(text[head.range.upperBound...].utf8))
        var rows: [OldDatabase.Row] = []
        while let values = try reader.row() {
            guard values.count == columns.count else {
                throw TestSupportError(
                    "could not read row \(rows.count) of \(table): it has \(values.count) values")
            }
            rows.append(Dictionary(uniqueKeysWithValues: zip(columns, values)))
        }
        self.rows = rows
    }
}

/// Reads rows of literals.
private struct ValueReader {
    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// The values between two parentheses; nil at the end.
    mutating func row() throws -> [SQLValue]? {
        skip(",\n")
        guard next != nil else { return nil }
        index += 1
        var values: [SQLValue] = []
        while next != UInt8(ascii: ")") {
            skip(", ")
            values.append(try value())
        }
        index += 1
        return values
    }

    private mutating func skip(_ text: String) {
        while let next, text.utf8.contains(next) { index += 1 }
    }

    private mutating func value() throws -> SQLValue {
        if next == UInt8(ascii: "'") { return .text(try quoted()) }
        let start = index
        while let next, next != UInt8(ascii: ","), next != UInt8(ascii: ")") { index += 1 }
        let word = String(decoding: bytes[start..<index], as: UTF8.self)
        switch word {
        case "NULL": return .null
        case "TRUE", "FALSE": return .boolean(word == "TRUE")
        default:
            guard let number = Int64(word) else {
                throw TestSupportError("could not read \(word) as a value")
            }
            return .integer(number)
        }
    }

    /// A text in quotes, in which a quote is two.
    private mutating func quoted() throws -> String {
        let quote = UInt8(ascii: "'")
        var text: [UInt8] = []
        index += 1
        while let byte = next {
            index += 1
            if byte == quote {
                guard next == quote else { return String(decoding: text, as: UTF8.self) }
                index += 1
            }
            text.append(byte)
        }
        throw TestSupportError("could not read a text: it does not end")
    }
}

extension OldDatabase.Row {
    /// The text in a column, or "" for anything else.
    func words(_ column: String) -> String {
        if case .text(let text) = self[column] { text } else { "" }
    }

    /// The number in a column, or 0 for anything else.
    func number(_ column: String) -> Int64 {
        if case .integer(let number) = self[column] { number } else { 0 }
    }

    /// The time of as many milliseconds as a column says.
    func date(_ column: String) -> Date {
        Date(timeIntervalSince1970: Double(number(column)) / 1_000)
    }
}
