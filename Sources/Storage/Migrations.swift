import Embedded

/// The steps that create the tables, in order.
///
/// Each is one file of `migrations/`, applied once and recorded in
/// `schema_migrations`. Add a step as a new file that `CEmbedded` names; never edit a
/// shipped one.
///
/// The first step has the tables that the steps of earlier programs made. A database with exactly
/// those steps counts as one with the first step; one with only a part of them is refused.
package enum Migrations {
    /// The id of the last step of the earlier programs.
    static let lastEarlierStep = "0056_standing"
    /// The checksum over the ids and checksums of all steps of the earlier programs.
    static let earlierChecksum = "cae1dced612698d6"

    /// All steps of this program.
    static let all = EmbeddedFiles.files(in: "migrations").map { file in
        Migration(id: String(file.name.dropLast(".sql".count)), source: Array(file.bytes))
    }

    /// Applies the missing steps, in one transaction.
    ///
    /// Safe to repeat, and safe if two processes start at once: the second waits for the first and
    /// then has nothing to do.
    ///
    /// - Parameters:
    ///   - finish: Called in the same transaction with the ids of the applied steps, once all
    ///     tables exist, so that no other connection sees the tables without its changes.
    /// - Throws: ``StorageError``; `.outOfDate` if the database was migrated
    ///   by a newer program or a shipped step was changed.
    @discardableResult
    package static func apply(
        to engine: any StorageEngine,
        and finish: (@Sendable (any StorageConnection, [String]) throws -> Void)? = nil
    ) async throws -> [String] {
        try await apply(all, to: engine, and: finish)
    }

    /// Whether a database has none of the tables.
    package static func isEmpty(_ engine: any StorageEngine) async throws -> Bool {
        try await pending(in: engine).count == all.count
    }

    /// The ids of the missing steps.
    package static func pending(in engine: any StorageEngine) async throws -> [String] {
        try await pending(all, in: engine).map(\.id)
    }

    /// Checks that the tables are exactly those of this program.
    ///
    /// - Throws: ``StorageError`` with code `.outOfDate`, with advice.
    package static func check(_ engine: any StorageEngine) async throws {
        let missing = try await pending(in: engine)
        guard missing.isEmpty else {
            throw outOfDate("step \(missing[0]) is not applied; run `mirror-bot migrate`")
        }
    }

    /// Whether a database has only a part of the steps of earlier programs, so that this program
    /// cannot bring it up to date.
    package static func isOfEarlierProgram(_ engine: any StorageEngine) async throws -> Bool {
        let earlierSteps = earlierSteps(in: try await recorded(in: engine), besides: all)
        return !earlierSteps.isEmpty && checksum(of: earlierSteps) != earlierChecksum
    }

    static func apply(
        _ steps: [Migration], to engine: any StorageEngine,
        and finish: (@Sendable (any StorageConnection, [String]) throws -> Void)? = nil
    ) async throws -> [String] {
        let isComplete = try await pending(steps, in: engine).isEmpty
        if isComplete, finish == nil { return [] }
        do {
            return try await engine.run(.exclusive) { connection in
                try connection.execute(
                    "CREATE TABLE IF NOT EXISTS schema_migrations (id TEXT NOT NULL PRIMARY KEY, checksum TEXT NOT NULL)"
                )
                let applied = try checksums(in: connection.query(recordsQuery))
                let missing = try pending(steps, recorded: applied)
                for step in missing {
                    for statement in step.statements {
                        try connection.execute("\(unsafe: statement)")
                    }
                    try connection.execute(
                        "INSERT INTO schema_migrations (id, checksum) VALUES (\(step.id), \(step.checksum))"
                    )
                }
                let newIDs = missing.map(\.id)
                try finish?(connection, newIDs)
                return newIDs
            }
        } catch let error as StorageError
            where error.code == .other && error.cause.contains("already exists")
        {
            throw foreignDatabase("\(error.cause), but not made by mirror-bot")
        }
    }

    private static func pending(_ steps: [Migration], in engine: any StorageEngine) async throws
        -> [Migration]
    {
        try pending(steps, recorded: try await recorded(in: engine))
    }

    /// The checksums of the applied steps, by id.
    private static func recorded(in engine: any StorageEngine) async throws -> [String: String] {
        let existenceQuery: SQL =
            switch engine.kind {
            case .sqlite:
                "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'"
            case .postgres: "SELECT 1 AS found WHERE to_regclass('schema_migrations') IS NOT NULL"
            }
        let rows: [SQLRow]
        do {
            rows = try await engine.query(recordsQuery)
        } catch let error as StorageError where error.code == .other {
            // The error alone would not distinguish a missing table from another failure. The query
            // for the table's existence succeeds in an empty database too.
            let hasTable = try await !engine.query(existenceQuery).isEmpty
            rows = try await hasTable ? readRecords(in: engine) : []
        }
        return try checksums(in: rows)
    }

    /// Reads the table of applied steps, and refuses a table of another program.
    ///
    /// Rails and others use the same name.
    private static func readRecords(in engine: any StorageEngine) async throws -> [SQLRow] {
        do {
            return try await engine.query(recordsQuery)
        } catch let error as StorageError where error.code == .other && error.isMissingColumn {
            throw foreignDatabase("its table schema_migrations is another program's")
        }
    }

    /// The error for a database with another program's tables.
    private static func foreignDatabase(_ cause: String) -> StorageError {
        StorageError(
            .configuration, "use the database",
            because: "\(cause); give mirror-bot a database, or a schema, of its own")
    }

    private static let recordsQuery: SQL = "SELECT id, checksum FROM schema_migrations"

    /// The checksums of the applied steps, by id.
    private static func checksums(in rows: [SQLRow]) throws -> [String: String] {
        Dictionary(try rows.map { (try $0.text("id"), try $0.text("checksum")) }) { first, _ in
            first
        }
    }

    private static func pending(_ steps: [Migration], recorded: [String: String]) throws
        -> [Migration]
    {
        let ids = Set(steps.map(\.id))
        let earlierSteps = earlierSteps(in: recorded, besides: steps)
        var recorded = recorded.filter { earlierSteps[$0.key] == nil }
        if let unknown = recorded.keys.sorted().first(where: { !ids.contains($0) }) {
            throw outOfDate("it has step \(unknown) of a newer mirror-bot; update mirror-bot")
        }
        if let last = earlierSteps.keys.max() {
            guard checksum(of: earlierSteps) == earlierChecksum, let first = steps.first else {
                throw outOfDate(
                    "its tables are those of an earlier mirror-bot, at step \(last); bring them up to date with "
                        + "that program first, as docs/deploy.md says under Upgrade")
            }
            recorded[first.id] = first.checksum
        }
        for step in steps where recorded[step.id, default: step.checksum] != step.checksum {
            throw outOfDate(
                "step \(step.id) was applied with another text; use the release that made this database"
            )
        }
        return steps.filter { recorded[$0.id] == nil }
    }

    /// The applied steps of earlier programs.
    private static func earlierSteps(in recorded: [String: String], besides steps: [Migration])
        -> [String: String]
    {
        let ids = Set(steps.map(\.id))
        return recorded.filter { $0.key <= lastEarlierStep && !ids.contains($0.key) }
    }

    /// Returns the checksum over the ids and checksums of applied steps.
    static func checksum(of recorded: [String: String]) -> String {
        Migration.checksum(of: recorded.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
    }

    private static func outOfDate(_ cause: String) -> StorageError {
        StorageError(.outOfDate, "use the database", because: cause)
    }
}

/// One migration step.
struct Migration: Sendable {
    let id: String
    /// The statements in order, without comments.
    let statements: [String]
    /// The checksum of the statements; it shows whether an applied step was changed.
    let checksum: String

    init(id: String, source: [UInt8]) {
        self.id = id
        statements = Self.split(String(decoding: source, as: UTF8.self))
        checksum = Self.checksum(of: statements)
    }

    /// 64-bit FNV-1a (Fowler, Noll and Vo) in hexadecimal, over the statements with a NUL after
    /// each.
    static func checksum(of statements: [String]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for statement in statements {
            for byte in statement.utf8 + [0] {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
            }
        }
        return String(hash, radix: 16)
    }

    /// Splits a source at semicolons at the end of a line, and drops lines of comment.
    ///
    /// The files of `migrations/` have no semicolon except at the end of a statement.
    private static func split(_ source: String) -> [String] {
        var statements: [String] = []
        var lines: [Substring] = []
        for line in source.split(whereSeparator: \.isNewline) {
            let trimmed = line.drop { $0 == " " }
            guard !trimmed.isEmpty, !trimmed.hasPrefix("--") else { continue }
            guard line.hasSuffix(";") else {
                lines.append(line)
                continue
            }
            statements.append((lines + [line.dropLast()]).joined(separator: "\n"))
            lines = []
        }
        return lines.isEmpty ? statements : statements + [lines.joined(separator: "\n")]
    }
}

extension StorageError {
    /// Whether a statement names a column that its table does not have.
    fileprivate var isMissingColumn: Bool {
        nativeCode == "42703" || cause.hasPrefix("no such column")
    }
}
