package import Storage

/// A table as the database itself describes it: the metadata for copying rows generically.
package struct TableShape: Sendable {
    package struct Column: Hashable, Sendable {
        package let name: String
        package let type: ColumnType
    }

    package let name: String
    /// The columns in the order of the table.
    ///
    /// The order may differ between engines, and between older and newer databases.
    package let columns: [Column]
    /// The columns of the primary key, in its order.
    package let key: [Column]
    package let duty: TableDuty

    /// The definition of the table, independent of the order of its columns.
    package var contents: Set<[String]> {
        Set(columns.map { [name, $0.name, "\($0.type)", "\(key.firstIndex(of: $0) ?? -1)"] })
    }

    /// The table with only those of its columns that `names` contains.
    package func with(only names: Set<String>) -> TableShape {
        TableShape(
            name: name, columns: columns.filter { names.contains($0.name) }, key: key, duty: duty)
    }

    /// The table without some of its columns.
    package func without(_ names: Set<String>) -> TableShape {
        TableShape(
            name: name, columns: columns.filter { !names.contains($0.name) }, key: key, duty: duty)
    }

    /// The tables whose rows belong to mirrors, by their names.
    ///
    /// - Parameter storage: A database with the tables of `migrations/`.
    /// - Returns: Every table with a column `mirror`.
    /// - Throws: `StorageError`; `.decoding` for a column of a type that the migrations do not
    ///   use, `.other` for a table that ``TableDuty`` does not list.
    package static func ofMirrors(in storage: any StorageEngine) async throws -> [TableShape] {
        let rows = try await storage.query(description(storage.kind))
        let tables = try Dictionary(grouping: rows) { try $0.text("table_name") }
        return try tables.sorted { $0.key < $1.key }.compactMap { name, rows in
            let columns = try rows.map { try Column(name: $0.text("column_name"), type: type($0)) }
            let positionedColumns = try zip(columns, rows).map { column, row in
                (column: column, position: try row.int("key_position"))
            }
            let key = positionedColumns.filter { $0.position > 0 }
                .sorted { $0.position < $1.position }.map(\.column)
            guard columns.contains(where: { $0.name == "mirror" }) else { return nil }
            guard let duty = TableDuty.all[name] else {
                throw StorageError(
                    .other, "read the tables",
                    because: "the table \(name) has a column mirror and is none of this program's; "
                        + "move it into another schema")
            }
            return TableShape(name: name, columns: columns, key: key, duty: duty)
        }
    }

    private static func type(_ row: SQLRow) throws -> ColumnType {
        switch try row.text("column_type").uppercased() {
        case "TEXT": return .text
        case "BIGINT": return .integer
        case "BOOLEAN": return .boolean
        case "DOUBLE PRECISION": return .real
        case let other:
            throw StorageError(
                .decoding, "read the columns of \(try row.text("table_name"))",
                because: "\(other) is not expected there")
        }
    }

    /// Selects a row for each column: its table, its name and type, and its position in the primary
    /// key, from 1; 0 outside of it.
    private static func description(_ kind: StorageKind) -> SQL {
        switch kind {
        case .sqlite:
            """
            SELECT tables.name AS table_name, columns.name AS column_name, columns.type AS column_type,
                columns.pk AS key_position
            FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' ORDER BY tables.name, columns.cid
            """
        case .postgres:
            """
            SELECT CAST(relname AS TEXT) AS table_name, CAST(attname AS TEXT) AS column_name,
                CAST(format_type(atttypid, NULL) AS TEXT) AS column_type,
                CAST(COALESCE(array_position(CAST(indkey AS SMALLINT[]), attnum) + 1, 0) AS BIGINT) AS key_position
            FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                JOIN pg_attribute ON attrelid = pg_class.oid
                LEFT JOIN pg_index ON indrelid = pg_class.oid AND indisprimary
            WHERE nspname = current_schema() AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
            ORDER BY relname, attnum
            """
        }
    }
}

extension SQLRow {
    /// The value of a column in a form that is the same for every engine.
    ///
    /// - Returns: The value, with a boolean as a boolean.
    /// - Throws: `StorageError` with code `.decoding` for a value of another type.
    package func value(_ column: TableShape.Column) throws -> SQLValue {
        switch column.type {
        case .text: try optionalText(column.name).sqlValue
        case .integer: try optionalInteger(column.name).sqlValue
        case .boolean: try optionalBoolean(column.name).sqlValue
        case .real: try optionalReal(column.name).sqlValue
        }
    }
}
