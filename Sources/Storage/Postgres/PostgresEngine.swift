import Foundation
import Postgres

/// PostgreSQL through libpq, over a bounded pool of connections.
///
/// No state is kept in a server's session from one transaction to the next, so that a pooler may be
/// used.
///
/// Changes are serializable and committed durably; a transaction that conflicted with another one,
/// of this process or another, is repeated. Transactions of one process run concurrently, ordered
/// only by their callers. A lost connection is replaced by the call that notices it or, while the
/// server is unreachable, by a later one.
final class PostgresEngine: StorageEngine {
    /// The number of the advisory lock for migrations; arbitrary, this is "mirrorbt" in ASCII.
    private static let migrationLock: Int64 = 0x6D69_7272_6F72_6274

    /// The connections on which transactions run.
    private enum Source {
        case pool(PostgresPool)
        /// One connection, whose single transaction is never committed; all units of work are
        /// savepoints in it.
        case scratch(PostgresClient)
    }

    private let configuration: PostgresConfiguration
    private let source: Source

    var kind: StorageKind { .postgres }

    private init(configuration: PostgresConfiguration, source: Source) {
        self.configuration = configuration
        self.source = source
    }

    /// Connects to the server once, to check the URL.
    ///
    /// - Parameters:
    ///   - connections: The most connections at once, 2 or more; a scratch copy uses an additional
    ///     one.
    ///   - clock: Measures how long connections are idle.
    /// - Throws: ``StorageError`` or `CancellationError`.
    static func open(
        url: String, connections: Int = PostgresPool.defaultSize,
        clock: PostgresPoolClock = PostgresPoolClock(ContinuousClock()),
        adjusting adjust: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresEngine {
        try await mappingErrors("open the database of DATABASE_URL") {
            var configuration = try PostgresConfiguration(url: url)
            adjust(&configuration)
            let pool = PostgresPool(configuration: configuration, size: connections, clock: clock)
            try await pool.connect()
            return PostgresEngine(configuration: configuration, source: .pool(pool))
        }
    }

    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        let (mode, operation): (PostgresTransactionMode, String) =
            switch unit {
            case .transaction: (.serializable, "write to the database")
            case .exclusive: (.exclusive(lock: Self.migrationLock), "change the tables")
            case .read: (.readOnly, "read from the database")
            case .query, .sameConnectionQuery: (.statement, "read from the database")
            case .repeatableChange: (.repeatableChange, "write to the database")
            }
        return try await Self.mappingErrors(operation) {
            switch source {
            case .pool(let pool): try await pool.transaction(mode, Self.lending(body))
            case .scratch(let client): try await client.transaction(.savepoint, Self.lending(body))
            }
        }
    }

    /// Opens a transaction in which temporary tables with the rows of one mirror hide the real
    /// tables.
    ///
    /// The transaction is never committed. Unlike changes of the real tables, it holds no lock that
    /// would block a working mirror.
    func scratch(of mirror: String) async throws -> any StorageEngine {
        try await Self.mappingErrors("copy the mirror") {
            let client = PostgresClient(
                configuration: configuration, name: "pg-scratch", reconnects: false)
            let copying = Self.lending { connection in
                let tables = try connection.query(
                    """
                    SELECT quote_ident(relname) AS table_name, quote_ident(nspname) AS schema_name
                    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                        JOIN pg_attribute ON attrelid = pg_class.oid
                    WHERE nspname = current_schema() AND relkind IN ('r', 'p') AND attname = 'mirror'
                        AND NOT attisdropped
                    """)
                for table in tables {
                    let name = try table.text("table_name")
                    let schema = try table.text("schema_name")
                    let original: SQL = "\(unsafe: schema).\(unsafe: name)"
                    try connection.execute(
                        "CREATE TEMPORARY TABLE \(unsafe: name) (LIKE \(original) INCLUDING ALL)")
                    try connection.execute(
                        "INSERT INTO pg_temp.\(unsafe: name) SELECT * FROM \(original) WHERE mirror = \(mirror)"
                    )
                }
            }
            try await client.transaction(.neverCommitted, copying)
            return PostgresEngine(configuration: configuration, source: .scratch(client))
        }
    }

    func backup(to path: String) async throws {
        throw StorageError(
            .configuration, "back up the database",
            because: "it is on a server; use pg_dump with DATABASE_URL")
    }

    func close() async {
        switch source {
        case .pool(let pool): await pool.close()
        case .scratch(let client): await client.close()
        }
    }

    /// Lends a connection to `body` for the duration of the call.
    private static func lending<Value>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) -> @Sendable (PostgresConnection) throws -> Value {
        { connection in
            let lent = PostgresStorageConnection(connection)
            defer { lent.end() }
            return try body(lent)
        }
    }

    /// Fails for an invalid URL; contacts no server.
    static func check(url: String) throws {
        do {
            _ = try PostgresConfiguration(url: url)
        } catch {
            throw StorageError(error, "understand DATABASE_URL")
        }
    }

    private static func mappingErrors<Value>(
        _ operation: String, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw StorageError(error, operation)
        }
    }
}

/// A borrowed Postgres connection.
final class PostgresStorageConnection: StorageConnection {
    /// The number of rows from which on `COPY` is faster than `INSERT`.
    private static let rowsWorthCopying = 500

    /// Nil after the closure that borrowed the connection has ended.
    private var borrowed: PostgresConnection?

    init(_ connection: PostgresConnection) { borrowed = connection }

    func end() { borrowed = nil }

    private var connection: PostgresConnection {
        get throws(StorageError) {
            guard let borrowed else {
                throw StorageError(
                    .closed, "use the database", because: "the transaction has ended")
            }
            return borrowed
        }
    }

    func query(_ sql: SQL) throws -> [SQLRow] {
        let result = try run(sql)
        return Self.rows(result)
    }

    func execute(_ sql: SQL) throws -> Int { try run(sql).affectedRows }

    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws {
        let connection = try connection
        let parameters = try Self.checked(sql.binds)
        let text = sql.text
        try explaining(text) {
            try connection.forEachPortion(text, parameters) { portion in
                for row in Self.rows(portion) { try body(row) }
            }
        }
    }

    func insert(_ batch: BulkInsert) throws -> Int {
        let numbers = try batch.rowNumbers()
        if numbers.count >= Self.rowsWorthCopying, !Self.isUpdate(batch.conflict),
            let copied = try copy(batch, numbers)
        {
            return copied
        }
        let connection = try connection
        let placeholders = batch.columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let text = "\(batch.head) SELECT * FROM unnest(\(placeholders))\(batch.tail)"
        return try explaining(text) {
            try connection.insert(text, columns: batch.columns.map(\.type), rows: numbers) {
                try batch.checkedRow($0)
            }
        }
    }

    private static func isUpdate(_ conflict: BulkInsert.Conflict) -> Bool {
        if case .update = conflict { true } else { false }
    }

    /// Copies rows if all their keys are new; else copies none and returns nil, so that an `INSERT`
    /// must resolve the conflicts.
    ///
    /// After one key existed, the next keys are likely to exist too, so this connection makes no
    /// further attempt.
    private func copy(_ batch: BulkInsert, _ numbers: [Int]) throws -> Int? {
        let connection = try connection
        guard connection.mayCopy else { return nil }
        let text =
            "COPY \(batch.table) (\(batch.columns.map(\.name).joined(separator: ", "))) FROM STDIN (FORMAT BINARY)"
        return try explaining(text) {
            let copied = try connection.copy(text, rows: numbers) { try batch.checkedRow($0) }
            connection.mayCopy = copied != nil
            return copied
        }
    }

    private func run(_ sql: SQL) throws -> PostgresResult {
        let connection = try connection
        let parameters = try Self.checked(sql.binds)
        let text = sql.text
        return try explaining(text) { try connection.execute(text, parameters) }
    }

    private func explaining<Value>(_ text: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PostgresError {
            var explained = StorageError(error, "run a statement")
            explained.statement = text
            throw explained
        }
    }
}

// MARK: - Values

extension PostgresStorageConnection {
    private static func rows(_ result: PostgresResult) -> [SQLRow] {
        let columns = SQLRow.Columns(names: result.columnNames)
        return (0..<result.rowCount).map { row in
            SQLRow(
                columns: columns, values: result.columnNames.indices.map { result.value(row, $0) })
        }
    }

    private static func checked(_ binds: [SQLValue]) throws -> [SQLValue] {
        try binds.map { try $0.checked() }
    }
}

extension StorageError {
    /// Translates an error of Postgres, and adds advice.
    init(_ error: PostgresError, _ operation: String) {
        let code = Self.code(error)
        let adviceByWords = code == .unavailable ? Self.adviceByWords : []
        let advice =
            error.sqlState.flatMap { Self.adviceBySQLState[$0] }
            ?? adviceByWords.first(where: { error.message.contains($0.words) })?.advice
            ?? Self.advice[code]
        self.init(
            code, operation, because: advice.map { "\(error.message); \($0)" } ?? error.message,
            nativeCode: error.sqlState)
    }

    private static let advice: [Code: String] = [
        .authentication: "check the user and password of DATABASE_URL and what the user may do",
        .busy: "the server is slow, or another session holds what is needed",
        .corrupt: "restore the database from a backup",
        .full: "make room on the server",
        .outcomeUnknown: "look before doing it again",
        .readOnly:
            "has DATABASE_URL become a standby, or was the database set to read-only, as when a disk is full?",
        .unavailable: "is the server of DATABASE_URL running?",
    ]

    /// Advice for connection failures other than a stopped server, by words in libpq's message.
    private static let adviceByWords: [(words: String, advice: String)] = [
        ("could not translate host name", "check the host in DATABASE_URL"),
        (
            "does not support SSL",
            "write sslmode=prefer in DATABASE_URL, or let the server speak TLS"
        ),
        ("certificate", "check sslmode and sslrootcert in DATABASE_URL"),
        ("SSL error", "check sslmode in DATABASE_URL"),
    ]

    /// Advice for failures with a more specific cause.
    private static let adviceBySQLState = [
        "3F000":
            "let the search_path of the user of DATABASE_URL name a schema in which it may create tables",
        "3D000": "make the database, or correct its name in DATABASE_URL",
        "53200": "give the server more memory",
        "53300": "end other programs that use the server, or let it take more connections",
        "53400": "raise the limit in the server's configuration",
        "57P03": "the server is starting or stopping; wait",
    ]

    private static func code(_ error: PostgresError) -> Code {
        switch error.code {
        case .configuration: .configuration
        case .authentication: .authentication
        case .connect, .connectionLost: .unavailable
        case .commitUnknown: .outcomeUnknown
        case .closed: .closed
        default: error.sqlState.map(code(sqlState:)) ?? .other
        }
    }

    /// Translates a SQLSTATE, according to the manual's appendix "PostgreSQL Error Codes".
    private static func code(sqlState: String) -> Code {
        switch sqlState {
        case "23505": return .uniqueViolation
        case "25006": return .readOnly
        case "3F000": return .configuration
        case "40001", "40P01": return .serialization
        case "42501": return .authentication
        case "53300": return .unavailable
        // Other codes of this class are usually temporary faults of the server.
        case "XX001", "XX002": return .corrupt
        case "55P03", "57014": return .busy
        default: break
        }
        return switch sqlState.prefix(2) {
        case "08", "57", "58": .unavailable
        case "22": .invalidValue
        case "23": .constraint
        case "28": .authentication
        case "53": .full
        case "54": .invalidValue
        default: .other
        }
    }
}
