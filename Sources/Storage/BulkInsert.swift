/// Many rows for one table, inserted in as few round trips as the engine can.
package struct BulkInsert: Sendable {
    /// The treatment of a row whose key exists.
    package enum Conflict: Sendable {
        /// The statement fails with `.uniqueViolation`.
        case fail
        /// The existing row stays.
        case ignore
        /// The columns `set` of the existing row are updated; of several rows of a batch with the
        /// same `key` the last one counts.
        case update(key: [String], set: [String])
    }

    let table: String
    let columns: [(name: String, type: ColumnType)]
    let conflict: Conflict
    private let types: [ColumnType]
    private let count: Int
    private let row: @Sendable (Int) -> [SQLValue]
    /// Whether all rows exist from the start and can be checked before the first is inserted.
    private let hasAllRows: Bool

    /// - Parameters:
    ///   - table: The name of a table, from the program's own text.
    ///   - rows: The values, each row as long as `columns`.
    package init(
        into table: String, columns: [(name: String, type: ColumnType)], rows: [[SQLValue]],
        onConflict: Conflict = .fail
    ) {
        self.init(table, columns, rows.count, onConflict, hasAllRows: true) { rows[$0] }
    }

    /// Creates a batch whose rows are made while the database processes the previous rows.
    ///
    /// If a row is invalid, rows before it may be inserted already: then the transaction must not
    /// continue.
    ///
    /// - Parameters:
    ///   - table: The name of a table, from the program's own text.
    ///   - row: Makes the row with a number from 0; must return the same row at each call.
    package init(
        into table: String, columns: [(name: String, type: ColumnType)], count: Int,
        onConflict: Conflict = .fail, row: @escaping @Sendable (Int) -> [SQLValue]
    ) {
        self.init(table, columns, count, onConflict, hasAllRows: false, row)
    }

    private init(
        _ table: String, _ columns: [(name: String, type: ColumnType)], _ count: Int,
        _ conflict: Conflict,
        hasAllRows: Bool, _ row: @escaping @Sendable (Int) -> [SQLValue]
    ) {
        self.table = table
        self.columns = columns
        self.count = count
        self.conflict = conflict
        self.hasAllRows = hasAllRows
        self.row = row
        self.types = columns.map(\.type)
    }

    /// `INSERT INTO table (columns)`.
    package var head: String {
        "INSERT INTO \(table) (\(columns.map(\.name).joined(separator: ", ")))"
    }

    /// The `ON CONFLICT` clause with a leading space, or an empty text.
    var tail: String {
        switch conflict {
        case .fail:
            ""
        case .ignore:
            " ON CONFLICT DO NOTHING"
        case .update(let key, let set) where set.isEmpty:
            " ON CONFLICT (\(key.joined(separator: ", "))) DO NOTHING"
        case .update(let key, let set):
            " ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET "
                + set.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        }
    }

    /// Returns the numbers of the rows to insert, in order.
    ///
    /// Of several rows with the same update key it returns only the last, because Postgres refuses
    /// to update a row twice in one statement.
    ///
    /// - Throws: ``StorageError`` for an invalid row; rows that are made later are not checked.
    func rowNumbers() throws(StorageError) -> [Int] {
        guard case .update(let key, _) = conflict else {
            if hasAllRows { for number in 0..<count { _ = try checkedRow(number) } }
            return Array(0..<count)
        }
        let indexes = key.compactMap { name in columns.firstIndex { $0.name == name } }
        var lastNumbers: [[SQLValue]: Int] = [:]
        for number in 0..<count {
            let row = try checkedRow(number)
            let rowKey = indexes.map { row[$0] }
            lastNumbers[rowKey] = number
        }
        return lastNumbers.count < count ? lastNumbers.values.sorted() : Array(0..<count)
    }

    /// One row, checked for its length and values.
    func checkedRow(_ number: Int) throws(StorageError) -> [SQLValue] {
        let row = row(number)
        guard row.count == columns.count else {
            throw StorageError(
                .invalidValue, "insert into \(table)",
                because: "a row has \(row.count) values for \(columns.count) columns")
        }
        for index in row.indices where !row[index].fits(types[index]) {
            _ = try row[index].checked()
            throw StorageError(
                .invalidValue, "insert into \(table)",
                because:
                    "a value for column \(columns[index].name) is not of type \(columns[index].type)"
            )
        }
        return row
    }
}
