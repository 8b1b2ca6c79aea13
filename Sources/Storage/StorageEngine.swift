import Blocking
import Foundation

/// The kind of database of an engine.
package enum StorageKind: String, Sendable {
    case sqlite
    case postgres
}

/// The connection inside a transaction.
///
/// A connection is synchronous, belongs to the engine's own thread and must not leave the closure
/// that received it; later calls throw `.closed`.
package protocol StorageConnection: AnyObject {
    /// Runs one statement and returns all its rows.
    func query(_ sql: SQL) throws -> [SQLRow]

    /// Runs one statement and returns the number of changed rows.
    @discardableResult
    func execute(_ sql: SQL) throws -> Int

    /// Inserts many rows and returns the number of inserted or updated rows.
    @discardableResult
    func insert(_ batch: BulkInsert) throws -> Int

    /// Runs one `SELECT` and passes its rows one by one to `body`, without keeping all of them in
    /// memory. The body may run other statements.
    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws
}

/// The isolation and the rights of a unit of work.
package enum UnitOfWork: Sendable {
    /// Changes in one durable transaction, isolated as if no other ran at the same time.
    case transaction
    /// Changes as in `transaction`, by one process at a time, which sees all commits of the
    /// previous one.
    case exclusive
    /// One consistent state, without changes and without a write lock.
    case read
    /// One `SELECT` without a transaction; it sees a consistent state by itself.
    case query
    /// A query as in `query`, always on the same connection if an engine has several.
    case sameConnectionQuery
    /// One changing statement without a transaction; it may run twice, and must be harmless then.
    case repeatableChange
}

/// A database with the tables of `migrations/`.
///
/// To add an engine, conform to this protocol, open it in ``Storage`` and add
/// it to the conformance suite's arguments.
package protocol StorageEngine: Sendable {
    var kind: StorageKind { get }

    /// Runs `body` on a connection as a unit of work of a certain kind.
    ///
    /// Changes are committed when `body` returns and rolled back when it throws. `body` may run
    /// more than once, after a conflict with another process or a connection lost before `COMMIT`
    /// was sent, so it must change nothing outside the database. Cancelling the task interrupts the
    /// running statement and rolls back.
    ///
    /// - Throws: The error of `body`, ``StorageError`` (`.readOnly` if `body` makes a change that
    ///   its kind does not allow), or `CancellationError`.
    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value

    /// An engine over a private copy of a mirror's data, which vanishes on its
    /// ``close()``. For dry runs; the original is neither locked nor changed.
    ///
    /// - Parameter mirror: The mirror whose rows are copied; an engine may include others' too.
    /// - Returns: The engine, for exclusive use.
    /// - Throws: ``StorageError`` or `CancellationError`.
    func scratch(of mirror: String) async throws -> any StorageEngine

    /// Writes a complete copy of the data into a new file, readable by its owner alone, while
    /// others may continue to write.
    ///
    /// - Parameter path: A file that does not exist yet.
    /// - Throws: ``StorageError``: `.configuration` if the file exists or the engine has no file of
    ///   its own, `.full` and others as when the database is opened. Then no file is left.
    func backup(to path: String) async throws

    /// Closes the connections after the calls in progress. Idempotent.
    ///
    /// An engine's file then contains all data without a log, unless another process uses it.
    func close() async
}

extension StorageEngine {
    /// Runs `body` on the engine and then closes it, also after an error.
    package func closing<Value>(after body: (any StorageEngine) async throws -> Value) async throws
        -> Value
    {
        try await afterwards(close) { try await body(self) }
    }

    /// Runs `body` in one durable transaction, isolated as if no other ran at the same time; see
    /// ``run(_:_:)``.
    @discardableResult
    package func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(.transaction, body)
    }

    /// Runs `body` on one consistent state without a write lock; see ``run(_:_:)``.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(.read, body)
    }

    /// Runs one reading statement outside a transaction.
    package func query(_ sql: SQL) async throws -> [SQLRow] {
        // Only a SELECT runs outside a transaction; for any other statement the transaction
        // enforces that nothing changes.
        try await run(sql.isSelect ? .query : .read) { try $0.query(sql) }
    }

    /// Returns an identifier of the committed state of the whole database.
    ///
    /// If two calls return the same value, nothing was committed between them, by any connection of
    /// any process. Different values prove nothing: on Postgres a transaction in another database
    /// of the server changes the value, too.
    ///
    /// Values are comparable only between calls on the same engine. Uncommitted changes do not
    /// count, so the value of a scratch copy does not reflect its own changes.
    ///
    /// - Throws: ``StorageError`` or `CancellationError`.
    package func state() async throws -> String {
        switch kind {
        case .sqlite:
            // `data_version` changes with commits of other connections since the last call of the
            // same connection. It excludes the connection's own changes: all of them for a database
            // in memory, which has one connection.
            return try await run(.sameConnectionQuery) { connection in
                let version = try connection.query("PRAGMA data_version").first?
                    .integer("data_version")
                let changes = try connection.query("SELECT total_changes() AS changes").first?
                    .integer("changes")
                return "\(version ?? 0) \(changes ?? 0)"
            }
        case .postgres:
            // A snapshot names the transactions that it sees. Another server, as after a failover,
            // may use the same numbers again.
            let row = try await query(
                """
                SELECT CAST(txid_current_snapshot() AS TEXT) AS snapshot,
                    CAST(pg_postmaster_start_time() AS TEXT) AS server
                """
            ).first
            return try row.map { "\(try $0.text("snapshot")) \(try $0.text("server"))" } ?? ""
        }
    }

    /// Reads rows batch by batch until enough wanted rows were found, or no rows are left.
    ///
    /// - Parameters:
    ///   - limit: The most elements to return.
    ///   - place: The position after which to begin; nil to begin with the first row.
    ///   - statement: Selects a number of rows after a position, in the order of the positions.
    ///   - placeOf: Returns the position of a row.
    ///   - element: Converts a row; nil for an unwanted one.
    /// - Throws: The error of a closure; ``StorageError`` or `CancellationError`.
    package func search<Element, Place>(
        limit: Int, behind place: Place?, _ statement: (Place?, Int) -> SQL,
        placeOf: (SQLRow) throws -> Place,
        element: (SQLRow) throws -> Element?
    ) async throws -> [Element] {
        let fullBatch = 500
        // Usually every row is wanted; then a first batch of `limit` rows is enough.
        var place: Place? = place
        var elements: [Element] = []
        var batch: Int = min(limit, fullBatch)
        while elements.count < limit {
            let rows = try await query(statement(place, batch))
            elements += try rows.compactMap(element).prefix(limit - elements.count)
            guard rows.count == batch, let last = rows.last else { break }
            place = try placeOf(last)
            batch = fullBatch
        }
        return elements
    }

    /// Runs one changing statement outside a transaction; it may run twice and must be harmless
    /// then.
    ///
    /// - Returns: The number of rows changed by the last run.
    /// - Throws: ``StorageError`` or `CancellationError`.
    @discardableResult
    package func executeRepeatable(_ sql: SQL) async throws -> Int {
        try await run(.repeatableChange) { try $0.execute(sql) }
    }

    /// Runs one changing statement in a transaction of its own and returns the number of changed
    /// rows.
    @discardableResult
    package func execute(_ sql: SQL) async throws -> Int {
        try await run(.transaction) { try $0.execute(sql) }
    }
}
