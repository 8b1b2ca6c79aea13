import GRDB

/// A borrowed GRDB connection.
final class SQLiteConnection: StorageConnection {
    /// A batch of so many rows is part of an import, and others will follow it.
    private static let manyRows = 1_000
    /// What an import gains from, for as long as the connection is open.
    ///
    /// The pages that a batch changes stay in memory (16 MB instead of 2) until it is committed, rather than go out and
    /// come back; and the log grows to 32 MB, not 4, before its pages move into the database, so that a page which many
    /// batches change moves once. What is committed is on disk as before. A mirror that only runs never has so many
    /// rows, and keeps SQLite's own settings.
    private static let settingsForManyRows = "PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 8000"

    /// Nil once the closure that borrowed the connection has ended.
    private var borrowed: Database?
    /// The first statement that failed.
    ///
    /// As in Postgres the transaction can then only roll back, so that a body means the same on both engines.
    private var failure: StorageError?

    init(_ database: Database) { borrowed = database }

    /// Ends the loan.
    ///
    /// - Throws: The failure of a statement that the borrower ignored.
    func end() throws(StorageError) {
        borrowed = nil
        if let failure { throw failure }
    }

    private var database: Database {
        get throws(StorageError) {
            if let failure { throw failure }
            guard let borrowed else {
                throw StorageError(.closed, "use the database", because: "the transaction has ended")
            }
            return borrowed
        }
    }

    func query(_ sql: SQL) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try run(sql, cached: true) { rows.append($0) }
        return rows
    }

    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws {
        // A statement of its own: the body may run the same text again.
        try run(sql, cached: false, body)
    }

    func execute(_ sql: SQL) throws -> Int {
        let database = try database
        return try explaining(sql.text) {
            let before = database.totalChangesCount
            try statement(sql, cached: true, in: database).execute()
            return database.totalChangesCount - before
        }
    }

    func insert(_ batch: BulkInsert) throws -> Int {
        let database = try database
        let places = batch.columns.map { _ in "?" }.joined(separator: ", ")
        let text = "\(batch.head) VALUES (\(places))\(batch.tail)"
        let numbers = try batch.numbers()
        return try explaining(text) {
            let before = database.totalChangesCount
            if numbers.count >= Self.manyRows { try database.execute(sql: Self.settingsForManyRows) }
            // One row at a time: SQLite keeps a journal of its own for a statement with more, which takes longer than
            // it saves.
            let rows = SQLiteRows(for: try database.cachedStatement(sql: text), columnCount: batch.columns.count)
            for number in numbers { try rows.insert(try batch.checkedRow(number)) }
            return database.totalChangesCount - before
        }
    }

    private func run(_ sql: SQL, cached: Bool, _ body: (SQLRow) throws -> Void) throws {
        let database = try database
        try explaining(sql.text) {
            let statement = try statement(sql, cached: cached, in: database)
            let columns = SQLRow.Columns(statement.columnNames)
            let cursor = try Row.fetchCursor(statement)
            while let row = try cursor.next() {
                try body(SQLRow(columns: columns, values: row.databaseValues.map(Self.value)))
            }
        }
    }

    private func statement(_ sql: SQL, cached: Bool, in database: Database) throws -> Statement {
        // Plain `?` numbers the values by appearance, which is how `SQL` holds them; SQLite would number `$2 … $1`
        // by appearance too and swap them.
        let text = sql.text { _ in "?" }
        // Lists come in many lengths; each would stay in the cache, which has no limit, as long as the connection lives.
        let statement =
            try cached && !sql.hasList ? database.cachedStatement(sql: text) : database.makeStatement(sql: text)
        try statement.setArguments(StatementArguments(sql.binds.map { try $0.checked().databaseValue }))
        return statement
    }

    private static func value(_ stored: DatabaseValue) throws -> SQLValue {
        switch stored.storage {
        case .null: .null
        case .int64(let number): .integer(number)
        case .double(let number): .real(number)
        case .string(let text): .text(text)
        case .blob: throw StorageError(.decoding, "read a row", because: "a value is binary data")
        }
    }

    private func explaining<Value>(_ text: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError {
            var explained = StorageError(error, "run a statement")
            explained.statement = text
            failure = explained
            throw explained
        }
    }
}

extension SQLValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .boolean(let truth): truth.databaseValue
        }
    }
}
