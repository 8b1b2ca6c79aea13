import Blocking
import CSQLite
import Foundation

/// SQLite: one connection for changes, and two for reading.
///
/// Readers and the writer do not block each other, and a short read does not wait for a long one.
/// The second reading connection is opened when two reads coincide for the first time.
///
/// WAL journal, `synchronous=FULL`, a busy timeout of ten seconds, foreign keys off, as in the
/// Postgres tables, which declare none.
final class SQLiteEngine: StorageEngine {
    private let writer: SQLiteClient
    /// One or more; reads of the unit `look` always use the first.
    private let readers: [SQLiteClient]
    private let name: String
    /// Nil for a database in memory, which has one connection for everything.
    private let file: SQLiteFile?

    var kind: StorageKind { .sqlite }

    private init(writer: SQLiteClient, readers: [SQLiteClient], name: String, file: SQLiteFile?) {
        self.writer = writer
        self.readers = readers
        self.name = name
        self.file = file
    }

    /// The reading connection with the fewest calls; the first of several with as many.
    private var reader: SQLiteClient { readers.min { $0.calls < $1.calls } ?? writer }

    /// Opens the file; creates it and its folder if they do not exist.
    ///
    /// - Parameters:
    ///   - busyTimeout: The busy timeout in seconds.
    ///   - other: Another database, attached under the name `restored`.
    /// - Throws: ``StorageError`` or `CancellationError`.
    static func open(path: String, busyTimeout: Double = 10, attaching other: String? = nil)
        async throws -> SQLiteEngine
    {
        let name = "the database at \(path)"
        let writer = SQLiteClient(name: "sqlite-write", busyTimeout: busyTimeout) { whileLocked in
            let database = try SQLiteDatabase(path: path, whileLocked: whileLocked)
            guard try database.firstText(of: "PRAGMA journal_mode = WAL") == "wal" else {
                throw SQLiteError(
                    SQLITE_ERROR, because: "its journal cannot be a write-ahead log there")
            }
            try database.execute("PRAGMA synchronous = FULL")
            if let other {
                _ = try database.firstText(of: "ATTACH DATABASE ? AS restored", [.text(other)])
            }
            return database
        }
        let readers = (0..<2).map { _ in
            SQLiteClient(name: "sqlite-read", busyTimeout: busyTimeout) { whileLocked in
                try SQLiteDatabase(path: path, isReading: true, whileLocked: whileLocked)
            }
        }
        return try await mappingErrors("open \(name)") {
            try await writer.onThread { try SQLiteFile.prepare(path) }
            try await writer.open()
            try await readers[0].open()
            return SQLiteEngine(
                writer: writer, readers: readers, name: name, file: SQLiteFile(openedAt: path))
        }
    }

    /// Opens an empty database in memory.
    ///
    /// - Throws: ``StorageError`` or `CancellationError`.
    static func openInMemory() async throws -> SQLiteEngine {
        let client = SQLiteClient.inMemory(name: "sqlite-memory")
        return try await mappingErrors("open a database in memory") {
            try await client.open()
            return SQLiteEngine(
                writer: client, readers: [client], name: "a database in memory", file: nil)
        }
    }

    func run<Value: Sendable>(
        _ unit: UnitOfWork, _ body: @escaping @Sendable (any StorageConnection) throws -> Value
    ) async throws -> Value {
        let (client, operation, begin): (SQLiteClient, String, SQL?) =
            switch unit {
            case .transaction, .exclusive: (writer, "write to \(name)", "BEGIN IMMEDIATE")
            case .repeatableChange: (writer, "write to \(name)", nil)
            case .read: (reader, "read from \(name)", "BEGIN")
            case .query: (reader, "read from \(name)", nil)
            case .sameConnectionQuery: (readers[0], "read from \(name)", nil)
            }
        return try await Self.mappingErrors(operation) { [file] in
            try await client.run(
                begin: begin, isReading: [.read, .query, .sameConnectionQuery].contains(unit), body
            ) {
                try file?.check(operation)
            }
        }
    }

    func scratch(of mirror: String) async throws -> any StorageEngine {
        let copy = SQLiteClient.inMemory(name: "sqlite-copy")
        return try await Self.mappingErrors("copy \(name)") {
            try await copy.open()
            try await readers[0].copy(to: copy)
            return SQLiteEngine(writer: copy, readers: [copy], name: "a copy of \(name)", file: nil)
        }
    }

    func backup(to path: String) async throws {
        let operation = "back up \(name) to \(path)"
        try file?.check(operation)
        try await Self.mappingErrors(operation) {
            let partial = try SQLiteFile.makePartial(of: path, operation)
            let copy = SQLiteClient(name: "sqlite-copy", busyTimeout: 0) {
                try SQLiteDatabase(path: partial, whileLocked: $0)
            }
            defer { SQLiteFile.remove(partial) }
            do {
                try await copy.open()
                try await readers[0].copy(to: copy)
                let number = DatabaseCopy.number(of: file?.path ?? "")
                try await copy.run(begin: nil, isReading: false) { connection in
                    // Makes the copy a single file, without a log, and marks it as a copy.
                    _ = try connection.query("PRAGMA journal_mode = DELETE")
                    _ = try connection.query(
                        "PRAGMA application_id = \(unsafe: "\(DatabaseCopy.application)")")
                    _ = try connection.query("PRAGMA user_version = \(unsafe: "\(number)")")
                    try connection.requireUndamaged(operation)
                }
            } catch let error as SQLiteError where error.primary == SQLITE_FULL {
                // The full disk is that of the copy, not that of the database.
                let fault = FileFault(ENOSPC, at: path)
                throw StorageError(
                    .full, operation, because: "\(fault), or name a file on another disk")
            }
            await copy.close()
            try await writer.onThread { try SQLiteFile.publish(partial, as: path, operation) }
        }
    }

    func close() async {
        for reader in readers { await reader.close() }
        // Without a checkpoint the last commits may stay in the log, and a copy of the file alone
        // would lack them. Does not wait for other processes with the file open: the last to close
        // does this. A file that was replaced is left as it is.
        let isSameFile = file.map { (try? $0.check("close")) != nil } ?? false
        await writer.close(
            with: isSameFile ? "PRAGMA busy_timeout = 500; PRAGMA wal_checkpoint(TRUNCATE)" : nil)
    }

    private static func mappingErrors<Value>(
        _ operation: String, _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch let error as SQLiteError {
            throw StorageError(error, operation)
        }
    }
}

/// One connection on a thread of its own; calls run one after the other.
private final class SQLiteClient: @unchecked Sendable {
    // Unchecked because `cache` is only touched by the executor's one thread, and `state` only
    // while `lock` is held.
    private let executor: ThreadExecutor
    private let interruption = Interruption()
    private let busyTimeout: Double
    private let make: @Sendable (_ whileLocked: @escaping (Int) -> Bool) throws -> SQLiteDatabase
    private let lock = NSLock()
    private var state = (opened: SQLiteDatabase?.none, isClosed: false, calls: 0)
    private let cache = SQLiteStatements()

    /// The interval between attempts to get a lock, in milliseconds.
    ///
    /// SQLite's own pauses grow to 100 ms, so that it misses the gaps of a process that writes all
    /// the time.
    private static let pause = 5

    /// - Parameters:
    ///   - busyTimeout: The busy timeout in seconds.
    ///   - make: Opens the connection.
    init(
        name: String, busyTimeout: Double,
        _ make:
            @escaping @Sendable (_ whileLocked: @escaping (Int) -> Bool) throws -> SQLiteDatabase
    ) {
        executor = ThreadExecutor(name: name)
        self.busyTimeout = busyTimeout
        self.make = make
    }

    /// A connection to an empty database in memory.
    static func inMemory(name: String) -> SQLiteClient {
        SQLiteClient(name: name, busyTimeout: 0) { try SQLiteDatabase(whileLocked: $0) }
    }

    deinit { executor.shutdown() }

    /// The number of running and waiting calls.
    var calls: Int { lock.withLock { state.calls } }

    /// Opens the connection if it is closed.
    func open() async throws {
        try await onThread { [self] in _ = try connection() }
    }

    /// The connection, opened if it was closed; call on the thread.
    ///
    /// A file is locked while another process creates, recovers or closes it. SQLite does not call
    /// the busy handler for some of these locks, so this method retries itself, for `busyTimeout`
    /// seconds.
    private func connection() throws -> SQLiteDatabase {
        let (opened, isClosed) = lock.withLock { (state.opened, state.isClosed) }
        if let opened { return opened }
        if isClosed { throw Self.closed }
        let end = ContinuousClock.now + .seconds(busyTimeout)
        while true {
            do {
                let database = try make(waitsForLock)
                lock.withLock { state.opened = database }
                return database
            } catch let error as SQLiteError where error.primary == SQLITE_BUSY {
                if interruption.isRequested { throw CancellationError() }
                guard ContinuousClock.now < end else { throw error }
                interruption.pause(milliseconds: Self.pause)
            }
        }
    }

    /// The busy handler: waits for ``pause``; returns false after the timeout or an interruption.
    private var waitsForLock: (Int) -> Bool {
        let maximumTries = Int(busyTimeout * 1_000) / Self.pause
        return { [interruption] tries in
            guard tries < maximumTries, !interruption.isRequested else { return false }
            interruption.pause(milliseconds: Self.pause)
            return true
        }
    }

    /// Runs a unit of work.
    ///
    /// - Parameters:
    ///   - begin: The statement that begins its transaction; nil for a single statement.
    /// - Throws: The error of `body`, ``SQLiteError``, ``StorageError`` or `CancellationError`.
    func run<Value: Sendable>(
        begin: SQL?, isReading: Bool,
        _ body: @escaping @Sendable (any StorageConnection) throws -> Value,
        after check: @escaping @Sendable () throws -> Void = {}
    ) async throws -> Value {
        lock.withLock { state.calls += 1 }
        defer { lock.withLock { state.calls -= 1 } }
        return try await onThread { [self] in
            try check()
            let connection = SQLiteConnection(
                try connection(), cache, interruption, isReading: isReading)
            if let begin { try connection.control(begin) }
            do {
                let value = try connection.lend(to: body)
                if begin != nil { try connection.control("COMMIT") }
                return value
            } catch {
                if !connection.rollBack() { discard() }
                throw error
            }
        }
    }

    /// Drops the connection; the next unit of work opens another one.
    ///
    /// Call on the thread.
    private func discard() {
        cache.removeAll()
        lock.withLock { state.opened = nil }
    }

    /// Copies the whole database into another connection's database.
    func copy(to other: SQLiteClient) async throws {
        try await onThread { [self] in
            try connection().copy(to: other.connection())
        }
    }

    /// Closes the connection after the calls in progress, and after final statements if there are
    /// any; idempotent.
    func close(with statements: String? = nil) async {
        await executor.shutdown { [self] in
            let database = lock.withLock {
                state.isClosed = true
                return state.opened.take()
            }
            // A log that cannot be emptied is recovered at the next opening.
            if let statements { try? database?.execute(statements) }
            // Without cached statements, the connection is closed as soon as this last reference is
            // gone.
            cache.removeAll()
        }
    }

    /// Runs blocking work; cancelling the task interrupts the running statement or the wait for a
    /// lock.
    func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws
        -> Value
    {
        do {
            return try await executor.run(interrupting: interruption, work)
        } catch is CancellationError where !Task.isCancelled {
            throw Self.closed
        }
    }

    private static let closed = StorageError(.closed, "use the database", because: "it was closed")
}

extension StorageError {
    /// Translates an error of SQLite, and adds advice.
    init(_ error: SQLiteError, _ operation: String) {
        let code = Self.code(error)
        // SQLite's message belongs to a connection's last call, which may be a later one without an
        // error.
        let hasMessage =
            error.message.map { !["", "not an error", "unknown error"].contains($0) } ?? false
        let message =
            hasMessage ? error.message : Self.causes.first { $0.code == error.primary }?.cause
        let adviceForResult = Self.adviceByResult.first { $0.code == error.code }?.advice
        let advice = adviceForResult ?? Self.advice[code]
        let cause = message ?? "SQLite gave no reason"
        self.init(
            code, operation, because: advice.map { "\(cause); \($0)" } ?? cause,
            nativeCode: String(error.code))
    }

    /// The causes of SQLite's result codes, for errors without a message.
    private static let causes: [(code: Int32, cause: String)] = [
        (SQLITE_FULL, "the disk is full"), (SQLITE_NOMEM, "there is no memory left"),
        (SQLITE_BUSY, "it is locked"),
        (SQLITE_LOCKED, "it is locked"), (SQLITE_READONLY, "it cannot be written"),
        (SQLITE_PERM, "permission denied"),
        (SQLITE_CORRUPT, "the file is damaged"), (SQLITE_NOTADB, "the file is no database"),
        (SQLITE_IOERR, "the disk could not be read or written"),
        (SQLITE_CANTOPEN, "the file cannot be opened"),
        (SQLITE_PROTOCOL, "it is locked by other processes"),
        (SQLITE_INTERRUPT, "it was interrupted"),
    ]

    private static let fileLimit =
        "make room on the disk; check quotas, the limit on file sizes (ulimit -f) and the disk itself"

    /// Advice for failures with a more specific cause.
    private static let adviceByResult: [(code: Int32, advice: String)] = [
        (SQLITE_NOMEM, "give this process more memory"),
        // SQLITE_IOERR_WRITE, _FSYNC, _TRUNCATE and _SHMSIZE.
        (SQLITE_IOERR | 3 << 8, fileLimit), (SQLITE_IOERR | 4 << 8, fileLimit),
        (SQLITE_IOERR | 6 << 8, fileLimit),
        (SQLITE_IOERR | 19 << 8, fileLimit),
    ]

    private static let advice: [Code: String] = [
        .busy: "another process holds it: try again, or end that process",
        .corrupt: "put a backup in its place, or move the file away to start anew",
        .full: "make room",
        .readOnly: "let the user of this program write to it and to its folder",
        .replaced: "restart to use the file that is there now",
        .unavailable: "check the disk, the folder and its permissions",
    ]

    private static func code(_ error: SQLiteError) -> Code {
        switch error.code {
        // SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY and _ROWID.
        case SQLITE_CONSTRAINT | 8 << 8, SQLITE_CONSTRAINT | 6 << 8, SQLITE_CONSTRAINT | 10 << 8:
            return .uniqueViolation
        // SQLITE_READONLY_DBMOVED.
        case SQLITE_READONLY | 4 << 8: return .replaced
        default: break
        }
        return switch error.primary {
        case SQLITE_CONSTRAINT, SQLITE_MISMATCH: .constraint
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
        case SQLITE_FULL, SQLITE_NOMEM: .full
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        case SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_PROTOCOL: .unavailable
        case SQLITE_TOOBIG, SQLITE_RANGE: .invalidValue
        default: .other
        }
    }
}
