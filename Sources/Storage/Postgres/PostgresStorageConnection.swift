import Postgres

/// A borrowed Postgres connection.
final class PostgresStorageConnection: StorageConnection {
    /// How many rows travel in one statement: measured, the fastest number.
    private static let batchSize = 1_000

    /// Nil once the closure that borrowed the connection has ended.
    private var borrowed: PostgresConnection?

    init(_ connection: PostgresConnection) { borrowed = connection }

    func end() { borrowed = nil }

    private var connection: PostgresConnection {
        get throws(StorageError) {
            guard let borrowed else {
                throw StorageError(.closed, "use the database", because: "the transaction has ended")
            }
            return borrowed
        }
    }

    func query(_ sql: SQL) throws -> [SQLRow] {
        let result = try run(sql)
        return Self.rows(result)
    }

    func execute(_ sql: SQL) throws -> Int { try run(sql).affectedRows }

    func forEach(_ sql: SQL, _ body: (SQLRow) throws -> Void) throws {
        let connection = try connection
        let parameters = try Self.parameters(sql.binds)
        let text = sql.text
        try explaining(text) {
            try connection.forEachPortion(text, parameters) { portion in
                for row in Self.rows(portion) { try body(row) }
            }
        }
    }

    func insert(_ batch: BulkInsert) throws -> Int {
        let connection = try connection
        let places = batch.columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let text = "\(batch.head) SELECT * FROM unnest(\(places))\(batch.tail)"
        let rows = try batch.checkedRows()
        return try explaining(text) {
            var inserted = 0
            for start in stride(from: 0, to: rows.count, by: Self.batchSize) {
                let slice = rows[start..<min(start + Self.batchSize, rows.count)]
                let columns = batch.columns.enumerated().map { index, column in
                    Self.array(of: column.type, slice.map { $0[index] })
                }
                inserted += try connection.execute(text, columns).affectedRows
            }
            return inserted
        }
    }

    private func run(_ sql: SQL) throws -> PostgresResult {
        let connection = try connection
        let parameters = try Self.parameters(sql.binds)
        let text = sql.text
        return try explaining(text) { try connection.execute(text, parameters) }
    }

    private func explaining<Value>(_ text: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PostgresError {
            var explained = StorageError(error, "run a statement")
            explained.statement = text
            throw explained
        }
    }
}

// MARK: - Values

extension PostgresStorageConnection {
    private static func rows(_ result: PostgresResult) -> [SQLRow] {
        let columns = SQLRow.Columns(result.columnNames)
        return (0..<result.rowCount).map { row in
            SQLRow(columns: columns, values: columns.names.indices.map { value(result.cell(row, $0)) })
        }
    }

    private static func value(_ cell: PostgresCell) -> SQLValue {
        switch cell {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .boolean(let truth): .boolean(truth)
        }
    }

    private static func parameters(_ binds: [SQLValue]) throws -> [PostgresParameter] {
        try binds.map { bind in
            switch try bind.checked() {
            case .null: .null
            case .integer(let number): .integer(number)
            case .real(let number): .real(number)
            case .text(let text): .text(text)
            case .boolean(let truth): .boolean(truth)
            }
        }
    }

    /// The checked values of one column as one array parameter.
    private static func array(of type: ColumnType, _ values: [SQLValue]) -> PostgresParameter {
        switch type {
        case .integer: .integers(values.map { if case .integer(let number) = $0 { number } else { nil } })
        case .real: .reals(values.map { if case .real(let number) = $0 { number } else { nil } })
        case .text: .texts(values.map { if case .text(let text) = $0 { text } else { nil } })
        case .boolean: .booleans(values.map { if case .boolean(let truth) = $0 { truth } else { nil } })
        }
    }
}
