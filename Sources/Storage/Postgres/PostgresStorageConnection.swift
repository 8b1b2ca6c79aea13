import Postgres

/// A borrowed Postgres connection.
final class PostgresStorageConnection: StorageConnection {
    /// How many rows travel in one statement: measured, the fastest number.
    private static let batchSize = 1_000
    /// For fewer rows an attempt to copy them does not pay.
    private static let copiedRows = 500

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
        let numbers = try batch.numbers()
        if numbers.count >= Self.copiedRows, !Self.isUpdate(batch.conflict), let copied = try copy(batch, numbers) {
            return copied
        }
        let connection = try connection
        let places = batch.columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        let text = "\(batch.head) SELECT * FROM unnest(\(places))\(batch.tail)"
        return try explaining(text) {
            var rest = numbers[...]
            return try connection.executeSeries(text) {
                let portion = rest.prefix(Self.batchSize)
                rest = rest.dropFirst(portion.count)
                return portion.isEmpty ? nil : try Self.arrays(of: batch, portion)
            }
        }
    }

    private static func isUpdate(_ conflict: BulkInsert.Conflict) -> Bool {
        if case .update = conflict { true } else { false }
    }

    /// Copies rows whose keys are all new; nil if they are not, and then an `INSERT` must say what becomes of them.
    ///
    /// Once a key was known the next ones are likely to be, so that this session makes no other attempt.
    private func copy(_ batch: BulkInsert, _ numbers: [Int]) throws -> Int? {
        let connection = try connection
        guard connection.mayCopy else { return nil }
        let text =
            "COPY \(batch.table) (\(batch.columns.map(\.name).joined(separator: ", "))) FROM STDIN (FORMAT BINARY)"
        return try explaining(text) {
            var rest = numbers[...]
            let copied = try connection.copy(text) {
                let portion = rest.prefix(Self.batchSize)
                rest = rest.dropFirst(portion.count)
                return portion.isEmpty ? nil : try Self.rows(of: batch, portion)
            }
            connection.mayCopy = copied != nil
            return copied
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
        try binds.map { parameter(try $0.checked()) }
    }

    private static func parameter(_ value: SQLValue) -> PostgresParameter {
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let text): .text(text)
        case .boolean(let truth): .boolean(truth)
        }
    }

    /// The columns of some rows, each as one array parameter.
    private static func arrays(of batch: BulkInsert, _ numbers: ArraySlice<Int>) throws -> [PostgresParameter] {
        var arrays = batch.columns.map { column in PostgresArray(of: element(of: column.type)) }
        for number in numbers {
            for (index, value) in try batch.checkedRow(number).enumerated() { arrays[index].append(parameter(value)) }
        }
        return arrays.map(PostgresParameter.array)
    }

    /// Some rows as they are copied.
    private static func rows(of batch: BulkInsert, _ numbers: ArraySlice<Int>) throws -> PostgresRows {
        var rows = PostgresRows()
        for number in numbers { rows.append(try batch.checkedRow(number).map(parameter)) }
        return rows
    }

    private static func element(of type: ColumnType) -> PostgresArray.ElementType {
        switch type {
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .boolean: .boolean
        }
    }
}
