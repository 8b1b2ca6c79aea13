import Foundation
import GRDB
import GRDBSQLite

/// Executes a statement again and again, each time with the values of another row.
///
/// As `setUncheckedArguments(_:)` and `execute()` do. But that makes a value of GRDB's of each and an array of those, and
/// SQLite then copies each text to memory of its own, which counts for a million rows. Here the texts of a row lie one
/// behind the other in memory that all rows share, and SQLite reads them there.
final class SQLiteRows {
    private let statement: Statement
    private var texts: UnsafeMutableRawPointer
    private var size = 4_096

    /// - Parameters:
    ///   - statement: One that gives no rows back, in nobody else's hands for as long as this lives.
    ///   - columnCount: How many `?` it has.
    init(for statement: Statement, columnCount: Int) {
        self.statement = statement
        texts = .allocate(byteCount: size, alignment: 1)
        // Once, so that GRDB knows of values; which they are it need not know.
        statement.setUncheckedArguments(StatementArguments(repeatElement(DatabaseValue.null, count: columnCount)))
    }

    deinit {
        // GRDB keeps the statement, which must not keep addresses in `texts`.
        sqlite3_reset(statement.sqliteStatement)
        sqlite3_clear_bindings(statement.sqliteStatement)
        texts.deallocate()
    }

    /// Executes the statement.
    ///
    /// - Parameter values: Checked, one for each `?`.
    /// - Throws: `DatabaseError` or `CancellationError`.
    func insert(_ values: [SQLValue]) throws {
        // A statement that has run takes no values before.
        sqlite3_reset(statement.sqliteStatement)
        makeRoom(for: values)
        var end = 0
        for (index, value) in values.enumerated() {
            let outcome = bind(value, at: Int32(clamping: index + 1), &end)
            guard outcome == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: outcome), message: nil, sql: statement.sql)
            }
        }
        try statement.execute()
    }

    /// Makes `texts` large enough for all texts of a row, before SQLite is told of the first.
    private func makeRoom(for values: [SQLValue]) {
        var needed = 0
        for case .text(let text) in values { needed += text.utf8.count }
        guard needed > size else { return }
        texts.deallocate()
        texts = .allocate(byteCount: needed, alignment: 1)
        size = needed
    }

    private func bind(_ value: SQLValue, at index: Int32, _ end: inout Int) -> Int32 {
        let statement = statement.sqliteStatement
        switch value {
        case .null: return sqlite3_bind_null(statement, index)
        case .integer(let number): return sqlite3_bind_int64(statement, index, number)
        case .real(let number): return sqlite3_bind_double(statement, index, number)
        case .boolean(let truth): return sqlite3_bind_int64(statement, index, truth ? 1 : 0)
        case .text(var text):
            let place = texts + end
            let length = text.withUTF8 { bytes in
                if let first = bytes.baseAddress { place.copyMemory(from: first, byteCount: bytes.count) }
                return bytes.count
            }
            end += length
            // No destructor is SQLITE_STATIC: SQLite reads the text here.
            return sqlite3_bind_text64(
                statement, index, place.assumingMemoryBound(to: CChar.self), UInt64(length), nil, UInt8(SQLITE_UTF8))
        }
    }
}
