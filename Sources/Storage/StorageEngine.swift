import Blocking
import Foundation

/// Which database is behind an engine.
package enum StorageKind: String, Sendable {
    case sqlite
    case postgres
}

/// The connection inside a transaction.
///
/// It is synchronous, belongs to the engine's own thread and must not leave
/// the closure that received it; used later it throws `.closed`.
package protocol StorageConnection: AnyObject {
    /// Runs one statement and returns all its rows.
    func query(_ sql: SQL) throws -> [SQLRow]

    /// Runs one statement and returns how many rows it changed.
    @discardableResult
    func execute(_ sql: SQL) throws -> Int

    /// Inserts many rows and returns how many were inserted or updated.
    @discardableResult
    func insert(_ batch: BulkInsert) throws -> Int

    /// Runs one `SELECT` and hands over its rows one by one, without holding
    /// all of them in memory. The body may run other statements.
    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws
}

/// The isolation and the rights of a unit of work.
package enum UnitOfWork: Sendable {
    /// Changes in one durable transaction, as if no other ran meanwhile.
    case transaction
    /// The same, one process at a time, seeing everything that the process before it committed.
    case exclusive
    /// One consistent state, without changes and without a write lock.
    case read
    /// One `SELECT`, which sees one consistent state by itself.
    case query
    /// The same, always on the connection of the other looks where an engine keeps connections of
    /// its own.
    case look
    /// One changing statement, which may happen twice and must do no harm then.
    case note
}

/// A database that holds the tables of `migrations/`.
///
/// To add an engine, conform to this protocol, open it in ``Storage`` and add
/// it to the conformance suite's arguments.
package protocol StorageEngine: Sendable {
    var kind: StorageKind { get }

    /// Runs `body` on a connection, as the unit of work says.
    ///
    /// Changes are committed when `body` returns and rolled back when it throws. `body` may run
    /// more than once, when another process was in the way or the connection was lost before
    /// `COMMIT` was sent, so it must change nothing outside the database. Cancelling the task
    /// interrupts the running statement and rolls back.
    ///
    /// - Throws: What `body` throws, ``StorageError`` (`.readOnly` if `body`
    ///   tries to change what it may not), or `CancellationError`.
    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value

    /// An engine over a private copy of a mirror's data, which vanishes on its
    /// ``close()``. For dry runs; the original is neither locked nor changed.
    ///
    /// - Parameter mirror: Whose rows are there; an engine may hold others' too.
    /// - Returns: The engine, which is used by nobody else.
    /// - Throws: ``StorageError`` or `CancellationError`.
    func scratch(of mirror: String) async throws -> any StorageEngine

    /// Writes a whole copy of the data into a new file, readable by its owner alone, while others
    /// may work on.
    ///
    /// - Parameter path: A file that does not exist yet.
    /// - Throws: ``StorageError``: `.configuration` if there is a file already or the engine has no
    ///   file of its own, `.full` and others as when the database is opened. No file is left then.
    func backup(to path: String) async throws

    /// Ends the connections after the calls in progress. Idempotent.
    ///
    /// The data that an engine keeps in a file is whole in that one file then, unless another
    /// process uses it.
    func close() async
}

extension StorageEngine {
    /// Runs `body` on the engine and closes it, whatever comes of that.
    package func closing<Value>(after body: (any StorageEngine) async throws -> Value) async throws
        -> Value
    {
        try await afterwards(close) { try await body(self) }
    }

    /// Runs `body` in one durable transaction, as if no other ran meanwhile; see ``run(_:_:)``.
    @discardableResult
    package func transaction<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(.transaction, body)
    }

    /// Runs `body` on one consistent state without taking a write lock; see ``run(_:_:)``.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        try await run(.read, body)
    }

    /// Runs one reading statement on its own.
    package func query(_ sql: SQL) async throws -> [SQLRow] {
        // On its own only what cannot change anything: nothing but the transaction says that it may
        // not.
        try await run(sql.isSelect ? .query : .read) { try $0.query(sql) }
    }

    /// Returns an identifier of the committed state of the whole database.
    ///
    /// If two calls return the same value, nothing was committed between them, by any connection of
    /// any process. Other values say nothing: on Postgres a transaction of another database of the
    /// server gives another value, too.
    ///
    /// Values are comparable only between calls on the same engine. What a transaction has not
    /// committed yet does not count, so that the state of a scratch copy says nothing of its own
    /// changes.
    ///
    /// - Throws: ``StorageError`` or `CancellationError`.
    package func state() async throws -> String {
        switch kind {
        case .sqlite:
            // `data_version` tells what has changed since the same connection asked last. It leaves
            // out the connection's own changes: those of a database in memory, which has one alone.
            return try await run(.look) { connection in
                let version = try connection.query("PRAGMA data_version").first?.integer(
                    "data_version")
                let changes = try connection.query("SELECT total_changes() AS changes").first?
                    .integer("changes")
                return "\(version ?? 0) \(changes ?? 0)"
            }
        case .postgres:
            // A snapshot names the transactions that it sees. Another server, as after a failover,
            // may count them anew.
            let row = try await query(
                """
                SELECT CAST(txid_current_snapshot() AS TEXT) AS snapshot,
                    CAST(pg_postmaster_start_time() AS TEXT) AS server
                """
            ).first
            return try row.map { "\(try $0.text("snapshot")) \(try $0.text("server"))" } ?? ""
        }
    }

    /// Reads rows batch by batch until enough of them are wanted, or none are left.
    ///
    /// - Parameters:
    ///   - limit: The most elements to return.
    ///   - place: The place behind which to begin; nil for the first row.
    ///   - statement: Selects so many rows behind a place, in the order of the places.
    ///   - placeOf: The place of a row.
    ///   - element: What a row holds; nil for a row that is not wanted.
    /// - Throws: What the closures throw; ``StorageError`` or `CancellationError`.
    package func search<Element, Place>(
        limit: Int, behind place: Place?, _ statement: (Place?, Int) -> SQL,
        placeOf: (SQLRow) throws -> Place,
        _ element: (SQLRow) throws -> Element?
    ) async throws -> [Element] {
        let most = 500
        // Nearly always everything is wanted, and then no row is read that is not shown.
        var place: Place? = place
        var found: [Element] = []
        var batch: Int = min(limit, most)
        while found.count < limit {
            let rows = try await query(statement(place, batch))
            found += try rows.compactMap(element).prefix(limit - found.count)
            guard rows.count == batch, let last = rows.last else { break }
            place = try placeOf(last)
            batch = most
        }
        return found
    }

    /// Runs one changing statement on its own, which may happen twice and must do no harm then.
    ///
    /// - Returns: How many rows it changed, the last time.
    /// - Throws: ``StorageError`` or `CancellationError`.
    @discardableResult
    package func note(_ sql: SQL) async throws -> Int {
        try await run(.note) { try $0.execute(sql) }
    }

    /// Runs one changing statement in a transaction of its own and returns how
    /// many rows it changed.
    @discardableResult
    package func execute(_ sql: SQL) async throws -> Int {
        try await run(.transaction) { try $0.execute(sql) }
    }
}
