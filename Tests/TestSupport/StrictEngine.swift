import Foundation
package import Storage
import Synchronization

/// A storage engine that runs every unit of work twice and refuses statements that are not of one
/// mirror.
///
/// An engine may repeat a unit of work at any time, so a body must do the same in each run. Here
/// each body runs a second time: the first run of a transaction is rolled back, and a note is
/// committed twice. Both must run the same statements.
///
/// A database can be divided by mirror as long as every statement names one: as a condition of each
/// of its tables, or as the first column of the rows that it inserts. ``StatementShape`` lists the
/// exceptions.
///
/// Statements of a test itself that look at all mirrors go to ``StorageEngine/lenient``. Tests that
/// count statements use no such engine.
package final class StrictEngine: StorageEngine {
    /// The engine behind it.
    package let plain: any StorageEngine
    private let requiresMirror: Bool
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - engine: The engine that does the work.
    ///   - requiresMirror: Whether statements that are not of one mirror are refused.
    ///   - report: Gets each message besides the caller, who may ignore errors.
    package init(
        _ engine: any StorageEngine, requiresMirror: Bool = true,
        report: @escaping @Sendable (String) -> Void
    ) {
        plain = engine
        self.requiresMirror = requiresMirror
        self.report = report
    }

    package var kind: StorageKind { plain.kind }

    package func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        do {
            return try await plain.run(unit) { [requiresMirror] connection in
                let isRolledBack = unit == .transaction || unit == .exclusive
                if isRolledBack { try connection.execute("SAVEPOINT strict_engine") }
                let first = StrictConnection(connection, in: unit, requiresMirror: requiresMirror)
                _ = try first.lend(to: body)
                if isRolledBack {
                    try connection.execute("ROLLBACK TO SAVEPOINT strict_engine")
                    try connection.execute("RELEASE SAVEPOINT strict_engine")
                }
                let second = StrictConnection(connection, in: unit, requiresMirror: requiresMirror)
                let value = try second.lend(to: body)
                try second.requireSameStatements(as: first)
                return value
            }
        } catch let error as StrictnessError {
            report("\(error)")
            throw error
        }
    }

    package func scratch(of mirror: String) async throws -> any StorageEngine {
        StrictEngine(
            try await plain.scratch(of: mirror), requiresMirror: requiresMirror, report: report)
    }

    package func backup(to path: String) async throws { try await plain.backup(to: path) }

    package func close() async { await plain.close() }
}

extension StorageEngine {
    /// The engine without the rules of ``StrictEngine``, for the statements of a test itself.
    package var lenient: any StorageEngine { (self as? StrictEngine)?.plain ?? self }
}

/// The violation of a rule of ``StrictEngine``.
package struct StrictnessError: Error, CustomStringConvertible {
    package let description: String
}

/// Watches the statements of one run of a body.
private final class StrictConnection: StorageConnection {
    private let connection: any StorageConnection
    private let unit: UnitOfWork
    private let requiresMirror: Bool
    private var statements: [String] = []
    /// The first statement that was refused; as in an engine, the unit then fails whatever its body
    /// makes of that.
    private var refusal: StrictnessError?

    init(_ connection: any StorageConnection, in unit: UnitOfWork, requiresMirror: Bool) {
        self.connection = connection
        self.unit = unit
        self.requiresMirror = requiresMirror
    }

    func lend<Value>(to body: (any StorageConnection) throws -> Value) throws -> Value {
        let result = Result { try body(self) }
        if let refusal { throw refusal }
        return try result.get()
    }

    func query(_ sql: SQL) throws -> [SQLRow] {
        try check(sql)
        return try connection.query(sql)
    }

    func execute(_ sql: SQL) throws -> Int {
        try check(sql)
        return try connection.execute(sql)
    }

    func insert(_ batch: BulkInsert) throws -> Int {
        try check("\(unsafe: batch.head)")
        return try connection.insert(batch)
    }

    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws {
        try check(sql)
        try connection.forEach(sql, body)
    }

    private func check(_ sql: SQL) throws {
        if let refusal { throw refusal }
        statements.append(sql.text)
        // Steps of a migration change all mirrors, once, on an empty or a single server.
        guard requiresMirror, unit != .exclusive, !StatementShape.isOfOneMirror(sql.text) else {
            return
        }
        let error = StrictnessError(
            description: "a statement without a mirror for each of its tables: \(sql.text)")
        refusal = error
        throw error
    }

    /// Compares the texts, in any order: sets and dictionaries have none, and values may be drawn
    /// anew.
    func requireSameStatements(as first: StrictConnection) throws {
        let before = first.statements.sorted()
        let after = statements.sorted()
        guard before != after else { return }
        let place = zip(before, after).prefix { $0 == $1 }.count
        func shown(_ statements: [String]) -> String {
            place < statements.count ? statements[place] : "nothing"
        }
        throw StrictnessError(
            description:
                "a body that cannot be repeated: it ran \(before.count) statements, then \(after.count); "
                + "the first that differ: \(shown(before)) / \(shown(after))")
    }
}

/// The tables of a statement and its conditions on `mirror`, as far as its words tell.
package struct StatementShape {
    /// Tables whose statements need not name a mirror, by the reason.
    private enum Exception: CaseIterable {
        /// Steps of migrations, the same for all mirrors.
        case migrations
        /// The database's own tables.
        case catalog
        /// Worker processes, and the leases of the many mirrors of each.
        case workers
        /// How a process finds the mirrors of a database, and tells whose a bot is.
        case discovery

        func allows(_ table: String) -> Bool {
            switch self {
            case .migrations: table == "schema_migrations"
            case .catalog:
                table.hasPrefix("pg_") || table.hasPrefix("sqlite_")
                    || table.hasPrefix("information_schema")
            case .workers: ["workers", "leases"].contains(table)
            case .discovery: table == "mirrors"
            }
        }
    }

    /// Statements over other tables that may name no mirror: how they begin, without line breaks,
    /// and the reason.
    private static let exceptions = [
        // The states of all mirrors: each row says whose it is, so that parts of a database can
        // answer side by side.
        "SELECT mirror, name, value FROM settings", "SELECT mirror, role, sealed FROM credentials",
        "SELECT mirror, role, error, code, since_ms, noted_ms FROM refusals",
        "SELECT mirror, feed, read_ms, error,",
        "SELECT mirror, CASE WHEN EXISTS (SELECT 1 FROM posts",
        "SELECT mirror, CAST(SUM(microdollars) AS BIGINT)",
        // Discovery of mirrors, also of those with rows but no record, from before there were
        // records.
        "WITH RECURSIVE archived(mirror) AS (",
    ].map { Self($0).words.joined(separator: " ") }

    /// What was found of each text: workers run few statements, and each often.
    private static let known = Mutex<[String: Bool]>([:])

    private let words: [Substring]

    /// ``isOfOneMirror`` of a statement.
    static func isOfOneMirror(_ text: String) -> Bool {
        if let answer = known.withLock({ $0[text] }) { return answer }
        let answer = StatementShape(text).isOfOneMirror
        known.withLock { $0[text] = answer }
        return answer
    }

    package init(_ text: String) {
        // Without the texts between quotes; a word, a number, a place of a value or a sign each.
        let bare = text.replacing(#/'[^']*'/#, with: "''")
        words = bare.matches(of: #/[A-Za-z_][A-Za-z0-9_]*|\$?[0-9]+|''|[^\s]/#).map(\.output)
    }

    /// Whether the statement names a mirror for each of its tables that need one.
    package var isOfOneMirror: Bool {
        // Tables and triggers are the same for all mirrors.
        if ["CREATE", "DROP", "ALTER"].contains(words.first?.uppercased()) { return true }
        let joined = words.joined(separator: " ")
        if Self.exceptions.contains(where: joined.hasPrefix) { return true }
        return tables.count <= conditions
    }

    /// The tables that need a mirror, as often as they are named.
    private var tables: [String] {
        let named = common
        return places.map { String(words[$0]) }.filter { table in
            !named.contains(table) && !Exception.allCases.contains { $0.allows(table) }
        }
    }

    /// The names of common table expressions.
    private var common: Set<String> {
        var names: Set<String> = []
        for place in words.indices.dropFirst() where words[place].uppercased() == "AS" {
            guard place + 1 < words.count, words[place + 1] == "(" else { continue }
            var name = place - 1
            // The names of its columns.
            if words[name] == ")" { name = (words[..<name].lastIndex(of: "(") ?? 1) - 1 }
            guard name > 0, ["WITH", "RECURSIVE", ","].contains(words[name - 1].uppercased()) else {
                continue
            }
            names.insert(String(words[name]))
        }
        return names
    }

    /// Where the names of tables stand.
    private var places: [Int] {
        var found: [Int] = []
        for place in words.indices.dropLast() {
            let word = words[place].uppercased()
            let before = place > 0 ? words[place - 1].uppercased() : ""
            switch word {
            case "FROM" where before == "DISTINCT", "UPDATE" where ["FOR", "KEY"].contains(before):
                continue
            case "FROM", "JOIN", "UPDATE", "INTO": break
            default: continue
            }
            var next: Int? = place + 1
            while let name = next {
                next = nil
                guard words[name].first?.isLetter == true, words[name].uppercased() != "SET" else {
                    break
                }
                let follower = name + 1 < words.count ? words[name + 1] : ""
                if follower == ".", name + 2 < words.count {
                    // Of a schema, such as the one of a restored backup.
                    found.append(name + 2)
                } else if follower != "(" || word == "INTO" {
                    found.append(name)
                }
                // More tables behind commas, with or without other names.
                let rest = words[(name + 1)...].prefix(3).map { $0.uppercased() }
                for distance in 0..<3
                where word == "FROM" && rest.count > distance && rest[distance] == "," {
                    let others = rest[..<distance].allSatisfy { $0.first?.isLetter == true }
                    if others, name + distance + 2 < words.count { next = name + distance + 2 }
                    break
                }
            }
        }
        return found
    }

    /// How many conditions on `mirror` there are; an insert that begins with it counts as one.
    private var conditions: Int {
        words.indices.dropLast().count { place in
            guard words[place] == "mirror" else { return false }
            let next = words[place + 1].uppercased()
            if next == "=" || next == "IN" { return true }
            guard place >= 2, words[place - 1] == "(" else { return false }
            return words[place - 2].uppercased() == "USING"
                || place >= 3 && words[place - 3].uppercased() == "INTO"
        }
    }
}
