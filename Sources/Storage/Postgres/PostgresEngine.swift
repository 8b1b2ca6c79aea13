import Foundation
import Postgres

/// PostgreSQL through libpq: one connection for changes, one for reading, so
/// that a long import does not hold up a status.
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

    var kind: StorageKind { .postgres }

    private init(configuration: PostgresConfiguration, writer: PostgresClient, reader: PostgresClient) {
        self.configuration = configuration
        self.writer = writer
        self.reader = reader
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
            var readOnly = configuration
            readOnly.isReadOnly = true
            let reader = try PostgresClient(configuration: readOnly, name: "pg-read")
            try await writer.connect()
            return PostgresEngine(configuration: configuration, writer: writer, reader: reader)
        }
    }

    func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(.serializable, on: writer, "write to the database", body)
    }

    func exclusiveTransaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(.exclusive(lock: Self.migrationLock), on: writer, "change the tables", body)
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(.readOnly, on: reader, "read from the database", body)
    }

    func query(_ sql: SQL) async throws -> [SQLRow] {
        // A scratch copy has one session, which may change its tables.
        try await run(reader === writer ? .readOnly : .statement, on: reader, "read from the database") {
            try $0.query(sql)
        }
    }

    /// Copies the tables into temporary ones of one session.
    ///
    /// They hide the original from every statement of that session. Unlike an
    /// open transaction they hold no lock that a working mirror would wait for.
    func scratch() async throws -> any StorageEngine {
        try await Self.mappingErrors("copy the database") {
            let client = try PostgresClient(configuration: configuration, name: "pg-scratch", reconnects: false)
            let copy = PostgresEngine(configuration: configuration, writer: client, reader: client)
            try await copy.run(.snapshot, on: client, "copy the database") { connection in
                let tables = try connection.query(
                    """
                    SELECT quote_ident(tablename) AS name, quote_ident(schemaname) AS home FROM pg_tables
                    WHERE schemaname = current_schema()
                    """)
                for table in tables {
                    let (name, home) = (try table.text("name"), try table.text("home"))
                    let original: SQL = "\(unsafe: home).\(unsafe: name)"
                    try connection.execute("CREATE TEMPORARY TABLE \(unsafe: name) (LIKE \(original) INCLUDING ALL)")
                    try connection.execute("INSERT INTO pg_temp.\(unsafe: name) SELECT * FROM \(original)")
                }
            }
            return copy
        }
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
