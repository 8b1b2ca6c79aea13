import Storage
import TestSupport
import Testing

/// An engine of the conformance suite.
///
/// To add an engine, add a case; every test of the suite then runs on it.
enum EngineUnderTest: CaseIterable, CustomTestStringConvertible {
    case sqlite
    case postgres
    /// The same through a pooler in transaction mode with few sessions.
    case pooler

    var testDescription: String {
        switch self {
        case .sqlite: "SQLite"
        case .postgres: "PostgreSQL"
        case .pooler: "PostgreSQL behind PgBouncer"
        }
    }

    /// An empty database of the test's own.
    func makeDatabase() async throws -> Database {
        switch self {
        case .sqlite:
            let folder = try TemporaryDirectory()
            return Database(location: .sqlite(path: folder.path("test.sqlite")), folder: folder)
        case .postgres:
            return Database(
                location: .postgres(url: try await PostgresServer.shared().makeDatabase()),
                folder: nil)
        case .pooler:
            let database = try await PostgresServer.shared().makeDatabase()
            return Database(
                location: .postgres(url: try await PoolerServer.shared().url(database)), folder: nil
            )
        }
    }

    /// Runs `body` on an engine over a fresh database with the table `things`.
    func withThings(_ body: (any StorageEngine) async throws -> Void) async throws {
        let database = try await makeDatabase()
        defer { withExtendedLifetime(database) {} }
        let engine = try await Storage.open(database.location)
        try await engine.execute(
            """
            CREATE TABLE things (
                key TEXT NOT NULL, number BIGINT, share DOUBLE PRECISION, flag BOOLEAN, words TEXT,
                PRIMARY KEY (key), UNIQUE (number)
            )
            """)
        try await body(engine)
        await engine.close()
    }

    /// Where a test's data is, for as long as the value lives; tests extend
    /// its lifetime, because the compiler may end it at the last use.
    struct Database {
        let location: StorageLocation
        let folder: TemporaryDirectory?
    }
}

/// A thing as a bulk insert takes it.
func thing(_ key: String, _ number: Int64? = nil, words: String? = nil) -> [SQLValue] {
    [.text(key), number.sqlValue, words.sqlValue]
}

func things(_ rows: [[SQLValue]], onConflict: BulkInsert.Conflict = .fail) -> BulkInsert {
    BulkInsert(
        into: "things", columns: [("key", .text), ("number", .integer), ("words", .text)],
        rows: rows,
        onConflict: onConflict)
}

extension StorageEngine {
    func keys() async throws -> [String] {
        try await query("SELECT key FROM things ORDER BY key").map { try $0.text("key") }
    }
}
