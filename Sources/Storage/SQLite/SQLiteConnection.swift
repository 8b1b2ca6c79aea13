import Blocking
import CSQLite
import Foundation

/// A borrowed connection to a SQLite database.
final class SQLiteConnection: StorageConnection {
    /// A batch of so many rows is part of an import, and others will follow it.
    private static let manyRows = 1_000
    /// The settings for an import, for as long as the connection is open.
    ///
    /// The pages that a batch changes stay in memory (16 MB instead of 2) until it is committed,
    /// rather than go out and come back; and the log grows to 32 MB, not 4, before its pages move
    /// into the database, so that a page which many batches change moves once. What is committed is
    /// on disk as before. A mirror that only runs never has so many rows, and keeps SQLite's own
    /// settings.
    private static let settingsForManyRows =
        "PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 8000"

    /// How many steps of SQLite's machine a statement takes, a millisecond or less, between two
    /// looks at the interruption.
    private static let stepsBetweenLooks: Int32 = 10_000

    private let database: SQLiteDatabase
    private let statements: SQLiteStatements
    private let interruption: Interruption
    private let isReading: Bool
    /// Whether the closure that borrowed the connection has ended.
    private var isOver = false
    /// The first statement that failed.
    ///
    /// As in Postgres the transaction can then only roll back, so that a body means the same on
    /// both engines.
    private var failure: StorageError?

    /// - Parameters:
    ///   - database: The connection, in use by nobody else.
    init(
        _ database: SQLiteDatabase, _ statements: SQLiteStatements, _ interruption: Interruption,
        isReading: Bool
    ) {
        self.database = database
        self.statements = statements
        self.interruption = interruption
        self.isReading = isReading
    }

    /// Lends the connection.
    ///
    /// - Throws: What `body` throws, the failure of a statement that it ignored, or
    ///   `CancellationError`.
    func lend<Value>(to body: (any StorageConnection) throws -> Value) throws -> Value {
        watchInterruption(true)
        defer { watchInterruption(false) }
        let result = Result { try body(self) }
        isOver = true
        if let failure { throw failure }
        let value = try result.get()
        if interruption.isRequested { throw CancellationError() }
        return value
    }

    /// Begins or ends a transaction.
    func control(_ sql: SQL) throws {
        try heedingInterruption {
            let statement = try statements.ready(sql, in: database)
            try run(statement, []) { _ in }
        }
    }

    /// Undoes what was not committed, unless SQLite has done that itself.
    ///
    /// - Returns: Whether the connection can be used further; one that stays in its transaction
    ///   would refuse every later one.
    func rollBack() -> Bool {
        guard database.isInTransaction else { return true }
        // The error that led here says more than one of the rollback.
        try? control("ROLLBACK")
        return !database.isInTransaction
    }

    func query(_ sql: SQL) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try explaining(sql) {
            let statement = try statements.ready(sql, in: database)
            try run(statement, sql.binds) { rows.append(try $0.row()) }
        }
        return rows
    }

    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws {
        try explaining(sql) {
            // A statement of its own: the body may run the same text again.
            let statement = try SQLiteStatement(sql.textWithQuestionMarks, in: database)
            try run(statement, sql.binds) { try body(try $0.row()) }
        }
    }

    func execute(_ sql: SQL) throws -> Int {
        try explaining(sql) {
            let before = database.changes
            let statement = try statements.ready(sql, in: database)
            try run(statement, sql.binds) { _ in }
            return database.changes - before
        }
    }

    func insert(_ batch: BulkInsert) throws -> Int {
        let places = batch.columns.map { _ in "?" }.joined(separator: ", ")
        let text: SQL = "\(unsafe: batch.head) VALUES (\(unsafe: places))\(unsafe: batch.tail)"
        let numbers = try batch.numbers()
        return try explaining(text) {
            let before = database.changes
            if numbers.count >= Self.manyRows { try database.execute(Self.settingsForManyRows) }
            // One row at a time: SQLite keeps a journal of its own for a statement with more, which
            // takes longer than it saves.
            let statement = try statements.ready(text, in: database)
            for number in numbers {
                if interruption.isRequested { throw CancellationError() }
                try run(statement, try batch.checkedRow(number), areChecked: true) { _ in }
            }
            return database.changes - before
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

    /// Whether running statements look for the interruption by themselves.
    ///
    /// `sqlite3_interrupt` would only reach a statement that runs at that moment, not one that is
    /// about to begin.
    private func watchInterruption(_ isWatched: Bool) {
        guard isWatched else { return sqlite3_progress_handler(database.handle, 0, nil, nil) }
        sqlite3_progress_handler(
            database.handle, Self.stepsBetweenLooks,
            { context in
                guard let context else { return 0 }
                return Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().isRequested
                    ? 1 : 0
            }, Unmanaged.passUnretained(interruption).toOpaque())
    }

    /// Tells the end of a statement that was asked to end from every other failure; preparing one
    /// may be ended too.
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

    /// Does what a borrower asks for, unless it may ask for nothing more.
    private func explaining<Value>(_ sql: SQL, _ body: () throws -> Value) throws -> Value {
        if let failure { throw failure }
        if isOver {
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

/// The statements that a connection has ready to run again, each under its text.
final class SQLiteStatements {
    /// How many texts a generation has: enough for all that a mirror asks again and again.
    ///
    /// Lists come in many lengths, and a worker that lives for months would collect a text for
    /// each.
    private static let generation = 100

    private var recent: [String: SQLiteStatement] = [:]
    /// Those that were recent before; the ones that are not asked for go when there are new ones.
    private var older: [String: SQLiteStatement] = [:]

    /// The statement of a text, which nobody else uses as long as its answer is read.
    func ready(_ sql: SQL, in database: SQLiteDatabase) throws -> SQLiteStatement {
        let text = sql.textWithQuestionMarks
        if let statement = recent[text] { return statement }
        let statement =
            try older.removeValue(forKey: text)
            ?? SQLiteStatement(text, isPersistent: true, in: database)
        if recent.count >= Self.generation {
            older = recent
            recent = [:]
        }
        recent[text] = statement
        return statement
    }

    /// Before the connection is closed.
    func removeAll() {
        recent = [:]
        older = [:]
    }
}

/// A prepared statement; owns SQLite's handle.
final class SQLiteStatement {
    private let handle: OpaquePointer
    /// Where the texts of the values lie one behind the other: SQLite reads them there, rather than
    /// copy each.
    private var texts = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The answer's columns; none before the first row.
    private var columns: SQLRow.Columns = [:]
    /// How often SQLite had prepared it anew when the names were read: then the tables have
    /// changed.
    private var preparations: Int32 = 0

    /// More memory than that is not kept from one run to the next.
    private static let keptBytes = 64 << 10

    /// - Parameters:
    ///   - text: One statement, with `?` for its values.
    /// - Throws: ``SQLiteError``.
    init(_ text: String, isPersistent: Bool = false, in database: SQLiteDatabase) throws {
        var handle: OpaquePointer?
        var isMore = false
        let outcome = text.withCString { start in
            var end: UnsafePointer<CChar>?
            let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
            let outcome = sqlite3_prepare_v3(database.handle, start, -1, flags, &handle, &end)
            isMore =
                end.map { String(cString: $0).contains { !$0.isWhitespace && $0 != ";" } } ?? false
            return outcome
        }
        guard outcome == SQLITE_OK, let handle, !isMore else {
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

    /// Whether it changes nothing in the file.
    var isReading: Bool {
        sqlite3_stmt_readonly(handle) != 0 || sqlite3_stmt_isexplain(handle) != 0
    }

    /// Gives it its values; it must have been reset.
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

    /// Goes on to the next row; false after the last.
    func step() throws -> Bool {
        let outcome = sqlite3_step(handle)
        if outcome == SQLITE_DONE { return false }
        guard outcome == SQLITE_ROW else { throw failure(outcome) }
        return true
    }

    /// Ends a run, so that another may begin.
    func reset() {
        sqlite3_reset(handle)
        guard texts.count > Self.keptBytes else { return }
        sqlite3_clear_bindings(handle)
        texts.deallocate()
        texts = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }

    /// The row that it stands at.
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

    /// A column of the row that it stands at.
    func value(_ column: Int32) throws -> SQLValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            // The length is that of the form asked for last.
            let start = sqlite3_column_text(handle, column)
            let bytes = UnsafeBufferPointer(
                start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return .text(String(decoding: bytes, as: UTF8.self))
        default: throw StorageError(.decoding, "read a row", because: "a value is binary data")
        }
    }

    /// Makes `texts` large enough for all texts of a run, before SQLite is told of the first.
    private func makeRoom(for values: [SQLValue]) {
        var needed = 0
        // One byte more for each: an empty text needs an address, too, since no address means null.
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
            let place = start + end
            let length = text.withUTF8 { bytes in
                if let first = bytes.baseAddress {
                    place.copyMemory(from: first, byteCount: bytes.count)
                }
                return bytes.count
            }
            end += length
            // No destructor is SQLITE_STATIC: SQLite reads the text here.
            return sqlite3_bind_text64(
                handle, index, place.assumingMemoryBound(to: CChar.self), UInt64(length), nil,
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
