import CSQLite

/// A connection of the SQLite library, for one thread at a time.
final class SQLiteDatabase {
    let handle: OpaquePointer
    private let busyHandler: BusyHandler

    /// The callback that SQLite calls while another process holds a lock.
    private final class BusyHandler {
        let triesAgain: (Int) -> Bool

        init(_ triesAgain: @escaping (Int) -> Bool) { self.triesAgain = triesAgain }
    }

    /// Opens a file; creates it if it does not exist, unless read-only.
    ///
    /// - Parameters:
    ///   - path: The file; without one, an empty database in memory.
    ///   - whileLocked: Called on the thread that waits for the lock of another process, with the
    ///     number of tries so far; waits some time and returns whether to try again.
    /// - Throws: ``SQLiteError``, also for a file that is not a database.
    init(
        path: String? = nil, isReading: Bool = false,
        whileLocked: @escaping (Int) -> Bool = { _ in false }
    ) throws {
        var handle: OpaquePointer?
        let access = isReading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let outcome = sqlite3_open_v2(
            path ?? ":memory:", &handle, access | SQLITE_OPEN_NOMUTEX, nil)
        guard outcome == SQLITE_OK, let handle else {
            // A connection that failed to open still has the error message, and must be closed.
            let error = SQLiteError(outcome, handle)
            sqlite3_close_v2(handle)
            throw error
        }
        self.handle = handle
        self.busyHandler = BusyHandler(whileLocked)
        sqlite3_extended_result_codes(handle, 1)
        sqlite3_busy_handler(
            handle,
            { context, tries in
                guard let context else { return 0 }
                let handler = Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue()
                return handler.triesAgain(Int(tries)) ? 1 : 0
            }, Unmanaged.passUnretained(self.busyHandler).toOpaque())
        try check(mirror_bot_sqlite_refuse_quoted_strings(handle))
        // SQLite opens the file itself only now.
        _ = try firstText(of: "SELECT name FROM sqlite_master LIMIT 1")
    }

    /// Closes the connection when its last open statement is finalized.
    deinit { sqlite3_close_v2(handle) }

    /// Whether a transaction has begun and not ended.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// The number of rows added, changed or removed since the connection was opened.
    var changes: Int { Int(sqlite3_total_changes64(handle)) }

    /// Runs statements without values, and ignores their rows.
    ///
    /// - Throws: ``SQLiteError``.
    func execute(_ statements: String) throws {
        try check(sqlite3_exec(handle, statements, nil, nil, nil))
    }

    /// The first value of the first row, if it is a text.
    ///
    /// - Throws: ``SQLiteError``.
    func firstText(of text: String, _ values: [SQLValue] = []) throws -> String? {
        let statement = try SQLiteStatement(text, in: self)
        try statement.bind(values)
        guard try statement.step(), case .text(let text) = try statement.value(0) else {
            return nil
        }
        return text
    }

    /// Copies the whole database into another one, replacing its content.
    ///
    /// - Throws: ``SQLiteError``.
    func copy(to other: SQLiteDatabase) throws {
        guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw SQLiteError(sqlite3_extended_errcode(other.handle), other.handle)
        }
        let outcome = sqlite3_backup_step(backup, -1)
        let finishOutcome = sqlite3_backup_finish(backup)
        guard outcome == SQLITE_DONE else {
            let failure = finishOutcome == SQLITE_OK ? outcome : finishOutcome
            throw SQLiteError(failure, other.handle)
        }
    }

    private func check(_ outcome: Int32) throws {
        guard outcome == SQLITE_OK else { throw SQLiteError(outcome, handle) }
    }
}

/// An error of SQLite.
struct SQLiteError: Error {
    /// SQLite's extended result code (https://www.sqlite.org/rescode.html).
    let code: Int32
    /// SQLite's message; nil if it has none.
    let message: String?

    /// The primary result code: the lowest eight bits.
    var primary: Int32 { code & 0xFF }

    init(_ code: Int32, because message: String?) {
        self.code = code
        self.message = message
    }

    /// Creates the error of a connection's last call, with the connection's message if there is
    /// one.
    init(_ code: Int32, _ connection: OpaquePointer?) {
        self.init(
            code, because: connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) })
    }
}
