import Blocking
import CSQLite
import Foundation

/// A borrowed connection to a SQLite database.
final class SQLiteConnection: StorageConnection {
    /// The number of rows from which on a batch counts as part of an import, so that more batches
    /// are expected.
    private static let manyRows = 1_000
    /// The settings for an import; they last until the connection is closed.
    ///
    /// The pages that a batch changes stay in memory (16 MB instead of 2)
    /// until the commit; and the log grows to 32 MB, not 4, before a checkpoint, so that a page
    /// which many batches change is written to the database once. Commits are as durable as before.
    /// A mirror without an import never has so many rows, and keeps SQLite's own settings.
    private static let settingsForManyRows =
        "PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 8000"

    /// The number of SQLite's virtual machine steps, a millisecond or less, between two checks for
    /// an interruption.
    private static let stepsBetweenChecks: Int32 = 10_000

    private let database: SQLiteDatabase
    private let statements: SQLiteStatements
    private let interruption: Interruption
    private let isReading: Bool
    /// Whether the closure that borrowed the connection has ended.
    private var hasEnded = false
    /// The first statement that failed.
    ///
    /// As in Postgres, only a rollback is possible then, so that a body behaves the same on both
    /// engines.
    private var failure: StorageError?

    /// - Parameters:
    ///   - database: The connection, for exclusive use.
    init(
        _ database: SQLiteDatabase, _ statements: SQLiteStatements, _ interruption: Interruption,
        isReading: Bool
    ) {
        self.database = database
        self.statements = statements
        self.interruption = interruption
        self.isReading = isReading
    }

    /// Lends the connection to `body`, and lets no call use it afterwards.
    ///
    /// - Throws: The error of `body`, the failure of a statement that it ignored, or
    ///   `CancellationError`.
    func lend<Value>(to body: (any StorageConnection) throws -> Value) throws -> Value {
        watchInterruption(isOn: true)
        defer { watchInterruption(isOn: false) }
        let result = Result { try body(self) }
        hasEnded = true
        if let failure { throw failure }
        let value = try result.get()
        if interruption.isRequested { throw CancellationError() }
        return value
    }

    /// Begins or ends a transaction.
    func control(_ sql: SQL) throws {
        try heedingInterruption {
            let statement = try statements.prepared(sql, in: database)
            try run(statement, []) { _ in }
        }
    }

    /// Rolls back uncommitted changes, unless SQLite has done so itself.
    ///
    /// - Returns: Whether the connection is usable; one that is stuck in its transaction would
    ///   refuse every later one.
    func rollBack() -> Bool {
        guard database.isInTransaction else { return true }
        // An error of the rollback is ignored, because the error before it is reported.
        try? control("ROLLBACK")
        return !database.isInTransaction
    }

    func query(_ sql: SQL) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try explaining(sql) {
            let statement = try statements.prepared(sql, in: database)
            try run(statement, sql.binds) { rows.append(try $0.row()) }
        }
        return rows
    }

    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws {
        try explaining(sql) {
            // Not a cached statement, because the body may run the same text again.
            let statement = try SQLiteStatement(sql.textWithQuestionMarks, in: database)
            try run(statement, sql.binds) { try body(try $0.row()) }
        }
    }

    func execute(_ sql: SQL) throws -> Int {
        try explaining(sql) {
            let changesBefore = database.changes
            let statement = try statements.prepared(sql, in: database)
            try run(statement, sql.binds) { _ in }
            return database.changes - changesBefore
        }
    }

    func insert(_ batch: BulkInsert) throws -> Int {
        let placeholders = batch.columns.map { _ in "?" }.joined(separator: ", ")
        let text: SQL =
            "\(unsafe: batch.head) VALUES (\(unsafe: placeholders))\(unsafe: batch.tail)"
        let numbers = try batch.rowNumbers()
        return try explaining(text) {
            let changesBefore = database.changes
            if numbers.count >= Self.manyRows { try database.execute(Self.settingsForManyRows) }
            // One row for each statement: for a statement with several rows, SQLite keeps a
            // separate journal, which costs more time than fewer statements save.
            let statement = try statements.prepared(text, in: database)
            for number in numbers {
                if interruption.isRequested { throw CancellationError() }
                try run(statement, try batch.checkedRow(number), areChecked: true) { _ in }
            }
            return database.changes - changesBefore
        }
    }

    private func run(
        _ statement: SQLiteStatement, _ values: [SQLValue], areChecked: Bool = false,
        _ body: (SQLiteStatement) throws -> Void
    ) throws {
        if isReading, !statement.isReading {
            throw SQLiteError(SQLITE_READONLY, because: "attempt to write a readonly database")
        }
        if !areChecked { for value in values { _ = try value.checked() } }
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() { try body(statement) }
    }

    /// Sets whether running statements check for the interruption.
    ///
    /// `sqlite3_interrupt` would affect only a statement that runs at that moment, not one that is
    /// about to begin.
    private func watchInterruption(isOn: Bool) {
        guard isOn else { return sqlite3_progress_handler(database.handle, 0, nil, nil) }
        sqlite3_progress_handler(
            database.handle, Self.stepsBetweenChecks,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().isRequested
                    ? 1 : 0
            }, Unmanaged.passUnretained(interruption).toOpaque())
    }

    /// Turns the error of an interrupted statement, or of an interrupted preparation, into a
    /// cancellation.
    private func heedingInterruption<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as SQLiteError
            where interruption.isRequested
            && [SQLITE_BUSY, SQLITE_INTERRUPT].contains(error.primary)
        {
            throw CancellationError()
        }
    }

    /// Runs a borrower's request, unless the loan has ended or a statement has failed.
    private func explaining<Value>(_ sql: SQL, _ body: () throws -> Value) throws -> Value {
        if let failure { throw failure }
        if hasEnded {
            throw StorageError(.closed, "use the database", because: "the transaction has ended")
        }
        if interruption.isRequested { throw CancellationError() }
        do {
            return try heedingInterruption(body)
        } catch let error as SQLiteError {
            var explained = StorageError(error, "run a statement")
            explained.statement = sql.text
            failure = explained
            throw explained
        }
    }
}

/// A connection's cache of prepared statements, by their text.
final class SQLiteStatements {
    /// The statements in a generation: enough for all texts that a mirror uses repeatedly.
    ///
    /// The cache is limited, because a list of values gives another text for each length, and a
    /// worker that runs for months would collect all of them.
    private static let generationSize = 100

    private var recent: [String: SQLiteStatement] = [:]
    /// The previous generation; statements that are not used again are dropped with it.
    private var older: [String: SQLiteStatement] = [:]

    /// Returns the prepared statement of a text, for exclusive use until its rows are read.
    func prepared(_ sql: SQL, in database: SQLiteDatabase) throws -> SQLiteStatement {
        let text = sql.textWithQuestionMarks
        if let statement = recent[text] { return statement }
        let statement =
            try older.removeValue(forKey: text)
            ?? SQLiteStatement(text, isPersistent: true, in: database)
        if recent.count >= Self.generationSize {
            older = recent
            recent = [:]
        }
        recent[text] = statement
        return statement
    }

    /// Finalizes all statements; called before the connection is closed.
    func removeAll() {
        recent = [:]
        older = [:]
    }
}

/// A prepared statement; owns SQLite's handle.
final class SQLiteStatement {
    private let handle: OpaquePointer
    /// The buffer of the text values: SQLite reads them there, instead of copying each.
    private var texts = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The result's columns; empty before the first row.
    private var columns: SQLRow.Columns = [:]
    /// SQLite's count of re-preparations when the names were read: a new count means that the
    /// tables have changed.
    private var preparations: Int32 = 0

    /// The size in bytes above which the buffer of texts is freed after a run.
    private static let largestKeptBuffer = 64 << 10

    /// - Parameters:
    ///   - text: One statement, with `?` for its values.
    /// - Throws: ``SQLiteError``.
    init(_ text: String, isPersistent: Bool = false, in database: SQLiteDatabase) throws {
        var handle: OpaquePointer?
        var hasMoreText = false
        let outcome = text.withCString { start in
            var end: UnsafePointer<CChar>?
            let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
            let outcome = sqlite3_prepare_v3(database.handle, start, -1, flags, &handle, &end)
            hasMoreText =
                end.map { String(cString: $0).contains { !$0.isWhitespace && $0 != ";" } } ?? false
            return outcome
        }
        guard outcome == SQLITE_OK, let handle, !hasMoreText else {
            let error =
                outcome == SQLITE_OK
                ? SQLiteError(SQLITE_MISUSE, because: "not exactly one statement")
                : SQLiteError(outcome, database.handle)
            sqlite3_finalize(handle)
            throw error
        }
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
        texts.deallocate()
    }

    /// Whether the statement leaves the file unchanged.
    var isReading: Bool {
        sqlite3_stmt_readonly(handle) != 0 || sqlite3_stmt_isexplain(handle) != 0
    }

    /// Binds values; the statement must have been reset.
    func bind(_ values: [SQLValue]) throws {
        guard sqlite3_bind_parameter_count(handle) == values.count else {
            throw SQLiteError(SQLITE_MISUSE, because: "wrong number of values")
        }
        makeRoom(for: values)
        var end = 0
        for (index, value) in values.enumerated() {
            try check(bind(value, at: Int32(clamping: index + 1), &end))
        }
    }

    /// Advances to the next row; false after the last.
    func step() throws -> Bool {
        let outcome = sqlite3_step(handle)
        if outcome == SQLITE_DONE { return false }
        guard outcome == SQLITE_ROW else { throw failure(outcome) }
        return true
    }

    /// Ends a run, so that another one may begin.
    func reset() {
        sqlite3_reset(handle)
        guard texts.count > Self.largestKeptBuffer else { return }
        sqlite3_clear_bindings(handle)
        texts.deallocate()
        texts = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// The current row.
    func row() throws -> SQLRow {
        let current = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
        if columns.isEmpty || current != preparations {
            preparations = current
            columns = SQLRow.Columns(
                names: (0..<sqlite3_column_count(handle)).map { column in
                    sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
                })
        }
        let count = sqlite3_data_count(handle)
        var values: [SQLValue] = []
        values.reserveCapacity(Int(count))
        for column in 0..<count { values.append(try value(column)) }
        return SQLRow(columns: columns, values: values)
    }

    /// A column of the current row.
    func value(_ column: Int32) throws -> SQLValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            // The length is that of the last requested representation, so the text is requested
            // first.
            let start = sqlite3_column_text(handle, column)
            let bytes = UnsafeBufferPointer(
                start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return .text(String(decoding: bytes, as: UTF8.self))
        default: throw StorageError(.decoding, "read a row", because: "a value is binary data")
        }
    }

    /// Makes `texts` large enough for all texts of a run, before the first is bound.
    private func makeRoom(for values: [SQLValue]) {
        var needed = 0
        // One extra byte for each text, because an empty text needs an address too: a null pointer
        // would mean NULL.
        for case .text(let text) in values { needed += text.utf8.count + 1 }
        guard needed > texts.count else { return }
        texts.deallocate()
        texts = .allocate(byteCount: max(needed, 256), alignment: 1)
    }

    private func bind(_ value: SQLValue, at index: Int32, _ end: inout Int) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let number): return sqlite3_bind_int64(handle, index, number)
        case .real(let number): return sqlite3_bind_double(handle, index, number)
        case .boolean(let truth): return sqlite3_bind_int64(handle, index, truth ? 1 : 0)
        case .text(var text):
            guard let start = texts.baseAddress else { return SQLITE_NOMEM }
            let destination = start + end
            let length = text.withUTF8 { bytes in
                if let first = bytes.baseAddress {
                    destination.copyMemory(from: first, byteCount: bytes.count)
                }
                return bytes.count
            }
            end += length
            // A nil destructor means SQLITE_STATIC: SQLite reads the text in the buffer, without a
            // copy.
            return sqlite3_bind_text64(
                handle, index, destination.assumingMemoryBound(to: CChar.self), UInt64(length), nil,
                UInt8(SQLITE_UTF8))
        }
    }

    private func check(_ outcome: Int32) throws {
        guard outcome == SQLITE_OK else { throw failure(outcome) }
    }

    private func failure(_ outcome: Int32) -> SQLiteError {
        SQLiteError(outcome, sqlite3_db_handle(handle))
    }
}
