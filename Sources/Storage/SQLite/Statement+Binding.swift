import GRDB
import GRDBSQLite

extension Statement {
    /// Puts checked values in the places of the statement, for the next time it is executed.
    ///
    /// As `setUncheckedArguments(_:)` does, which must have been called once with as many values. But that makes a value
    /// of GRDB's of each, and an array of those, which takes longer than SQLite itself needs: for a million rows it
    /// counts.
    ///
    /// - Parameter values: One for each `?`.
    /// - Throws: `DatabaseError`.
    func rebind(_ values: [SQLValue]) throws {
        // A statement that has run takes no values before.
        sqlite3_reset(sqliteStatement)
        for (index, value) in values.enumerated() {
            let outcome = bind(value, at: Int32(clamping: index + 1))
            guard outcome == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: outcome), message: nil, sql: sql)
            }
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(sqliteStatement, index)
        case .integer(let number): return sqlite3_bind_int64(sqliteStatement, index, number)
        case .real(let number): return sqlite3_bind_double(sqliteStatement, index, number)
        case .boolean(let truth): return sqlite3_bind_int64(sqliteStatement, index, truth ? 1 : 0)
        case .text(let text):
            // A terminated copy, unless the text is stored with its end: an empty one has an address, too.
            return text.withCString { characters in
                sqlite3_bind_text64(
                    sqliteStatement, index, characters, UInt64(text.utf8.count), Self.transient, UInt8(SQLITE_UTF8))
            }
        }
    }

    /// SQLITE_TRANSIENT, a cast that Swift does not import: SQLite makes a copy of its own.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
