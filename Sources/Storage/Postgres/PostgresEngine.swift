import Foundation
import Postgres

/// PostgreSQL through libpq: one connection for changes, one for reading, so
/// that a long import does not hold up a status.
///
/// Nothing is kept in a server's session from one transaction to the next, so that a pooler may stand between.
///
/// Changes are serializable and committed durably; a transaction that another
/// process made impossible is repeated. A lost connection is replaced by the
/// call that notices it or, while the server cannot be reached, by a later one.
final class PostgresEngine: StorageEngine {
    /// The number under which processes take turns at migrating; any fixed one
    /// does, this is "mirrorbt" in ASCII.
    private static let migrationLock: Int64 = 0x6D69_7272_6F72_6274

    private let configuration: PostgresConfiguration
    private let writer: PostgresClient
    private let reader: PostgresClient
    /// Everything happens in one transaction that is never committed.
    private let isScratch: Bool

    var kind: StorageKind { .postgres }

    private init(
        configuration: PostgresConfiguration, writer: PostgresClient, reader: PostgresClient, isScratch: Bool
    ) {
        self.configuration = configuration
        self.writer = writer
        self.reader = reader
        self.isScratch = isScratch
    }

    /// Connects to the server once, to know that the URL is right.
    ///
    /// - Parameters:
    ///   - url: Where the server is.
    ///   - adjust: Changes how patient the client is.
    /// - Returns: The engine.
    /// - Throws: ``StorageError`` or `CancellationError`.
    static func open(
        url: String, adjusting adjust: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresEngine {
        try await mappingErrors("open the database of DATABASE_URL") {
            var configuration = try PostgresConfiguration(url: url)
            adjust(&configuration)
            let writer = try PostgresClient(configuration: configuration, name: "pg-write")
            let reader = try PostgresClient(configuration: configuration, name: "pg-read")
            try await writer.connect()
            return PostgresEngine(configuration: configuration, writer: writer, reader: reader, isScratch: false)
        }
    }

    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(isScratch ? .part : .serializable, on: writer, "write to the database", body)
    }

    func exclusiveTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(isScratch ? .part : .exclusive(lock: Self.migrationLock), on: writer, "change the tables", body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(isScratch ? .part : .readOnly, on: reader, "read from the database", body)
    }

    func query(_ sql: SQL) async throws -> [SQLRow] {
        // On its own only what cannot change anything: nothing but the transaction says that it may not.
        guard !isScratch, sql.text.hasPrefix("SELECT") else { return try await read { try $0.query(sql) } }
        return try await run(.statement, on: reader, "read from the database") { try $0.query(sql) }
    }

    func note(_ sql: SQL) async throws -> Int {
        try await run(isScratch ? .part : .note, on: writer, "write to the database") { try $0.execute(sql) }
    }

    /// Opens a transaction in which temporary tables with the rows of one mirror hide the real ones.
    ///
    /// It is never committed. Unlike changes of the real tables, these hold no lock that a working mirror would wait
    /// for.
    func scratch(of mirror: String) async throws -> any StorageEngine {
        try await Self.mappingErrors("copy the mirror") {
            let client = try PostgresClient(configuration: configuration, name: "pg-scratch", reconnects: false)
            let copy = PostgresEngine(configuration: configuration, writer: client, reader: client, isScratch: true)
            try await copy.run(.open, on: client, "copy the mirror") { connection in
                let tables = try connection.query(
                    """
                    SELECT quote_ident(relname) AS name, quote_ident(nspname) AS home
                    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                        JOIN pg_attribute ON attrelid = pg_class.oid
                    WHERE nspname = current_schema() AND relkind IN ('r', 'p') AND attname = 'mirror'
                        AND NOT attisdropped
                    """)
                for table in tables {
                    let (name, home) = (try table.text("name"), try table.text("home"))
                    let original: SQL = "\(unsafe: home).\(unsafe: name)"
                    try connection.execute("CREATE TEMPORARY TABLE \(unsafe: name) (LIKE \(original) INCLUDING ALL)")
                    try connection.execute(
                        "INSERT INTO pg_temp.\(unsafe: name) SELECT * FROM \(original) WHERE mirror = \(mirror)")
                }
            }
            return copy
        }
    }

    func backup(to path: String) async throws {
        throw StorageError(
            .configuration, "back up the database", because: "it is on a server; use pg_dump with DATABASE_URL")
    }

    func close() async {
        await writer.close()
        await reader.close()
    }

    private func run<Value: Sendable>(
        _ mode: PostgresTransactionMode, on client: PostgresClient, _ operation: String,
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await Self.mappingErrors(operation) {
            try await client.transaction(mode) { connection in
                let lent = PostgresStorageConnection(connection)
                defer { lent.end() }
                return try body(lent)
            }
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
