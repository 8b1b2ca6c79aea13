/// Many rows for one table, inserted in as few round trips as the engine can.
package struct BulkInsert: Sendable {
    /// What happens to a row whose key exists.
    package enum Conflict: Sendable {
        /// The statement fails with `.uniqueViolation`.
        case fail
        /// The existing row stays.
        case ignore
        /// The columns `set` of the existing row take the new values; with
        /// several rows of the same `key` in one batch the last one counts.
        case update(key: [String], set: [String])
    }

    let table: String
    let columns: [(name: String, type: ColumnType)]
    let rows: [[SQLValue]]
    let conflict: Conflict

    /// - Parameters:
    ///   - table: The name of a table, from the program's own text.
    ///   - columns: The columns that every row gives, in order.
    ///   - rows: The values, each row as long as `columns`.
    ///   - onConflict: What happens to a row whose key exists.
    package init(
        into table: String, columns: [(name: String, type: ColumnType)], rows: [[SQLValue]],
        onConflict: Conflict = .fail
    ) {
        self.table = table
        self.columns = columns
        self.rows = rows
        self.conflict = onConflict
    }

    /// `INSERT INTO table (columns)`.
    var head: String { "INSERT INTO \(table) (\(columns.map(\.name).joined(separator: ", ")))" }

    /// The `ON CONFLICT` clause with a leading space, or nothing.
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

    /// The rows, each checked for its length and values; of rows with the same
    /// key of an update only the last, because Postgres refuses to touch a row
    /// twice in one statement.
    func checkedRows() throws(StorageError) -> [[SQLValue]] {
        for row in rows {
            guard row.count == columns.count else {
                throw StorageError(
                    .invalidValue, "insert into \(table)",
                    because: "a row has \(row.count) values for \(columns.count) columns")
            }
            for (column, value) in zip(columns, row) where try !value.checked().fits(column.type) {
                throw StorageError(
                    .invalidValue, "insert into \(table)",
                    because: "a value for column \(column.name) is not of type \(column.type)")
            }
        }
        guard case .update(let key, _) = conflict else { return rows }
        let indexes = key.compactMap { name in columns.firstIndex { $0.name == name } }
        var last: [[SQLValue]: Int] = [:]
        for (position, row) in rows.enumerated() { last[indexes.map { row[$0] }] = position }
        guard last.count < rows.count else { return rows }
        return last.values.sorted().map { rows[$0] }
    }
}
