package import Foundation

/// One row of a result, read by column name.
package struct SQLRow: Sendable {
    /// The indices of the columns by name, shared by the rows of a result.
    typealias Columns = [String: Int]

    private let columns: Columns
    private let values: [SQLValue]

    init(columns: Columns, values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    /// The value of a column as the engine returned it; SQLite returns
    /// booleans as 0 and 1.
    package func value(_ column: String) throws -> SQLValue {
        guard let index = columns[column], index < values.count else {
            throw StorageError(
                .decoding, "read column \(column)", because: "the answer has no such column")
        }
        return values[index]
    }

    /// The integer in a column that is never null; throws ``StorageError`` for any other value.
    package func integer(_ column: String) throws -> Int64 {
        try nonNull(try optionalInteger(column), column)
    }

    /// The integer in a column; nil for null.
    package func optionalInteger(_ column: String) throws -> Int64? {
        switch try value(column) {
        case .null: nil
        case .integer(let number): number
        default: throw mismatch(column, "an integer")
        }
    }

    /// The integer in a column that is never null, as an `Int`.
    package func int(_ column: String) throws -> Int {
        guard let number = Int(exactly: try integer(column)) else {
            throw mismatch(column, "an integer")
        }
        return number
    }

    /// The number in a column that is never null.
    package func real(_ column: String) throws -> Double {
        try nonNull(try optionalReal(column), column)
    }

    /// The number in a column; nil for null.
    package func optionalReal(_ column: String) throws -> Double? {
        switch try value(column) {
        case .null: nil
        case .real(let number): number
        case .integer(let number): Double(number)
        default: throw mismatch(column, "a number")
        }
    }

    /// The text in a column that is never null.
    package func text(_ column: String) throws -> String {
        try nonNull(try optionalText(column), column)
    }

    /// The text in a column; nil for null.
    package func optionalText(_ column: String) throws -> String? {
        switch try value(column) {
        case .null: nil
        case .text(let text): text
        default: throw mismatch(column, "a text")
        }
    }

    /// The boolean in a column that is never null, in either engine's form.
    package func boolean(_ column: String) throws -> Bool {
        try nonNull(try optionalBoolean(column), column)
    }

    /// The boolean in a column, in either engine's form; nil for null.
    package func optionalBoolean(_ column: String) throws -> Bool? {
        switch try value(column) {
        case .null: nil
        case .boolean(let truth): truth
        case .integer(0): false
        case .integer(1): true
        default: throw mismatch(column, "a boolean")
        }
    }

    /// The instant of a column in milliseconds since 1970.
    package func date(_ column: String) throws -> Date {
        try nonNull(try optionalDate(column), column)
    }

    /// The instant of a column in milliseconds since 1970; nil for null.
    package func optionalDate(_ column: String) throws -> Date? {
        try optionalInteger(column).map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }

    /// Throws ``StorageError`` for null.
    private func nonNull<Value>(_ value: Value?, _ column: String) throws -> Value {
        guard let value else {
            throw StorageError(.decoding, "read column \(column)", because: "it is null")
        }
        return value
    }

    private func mismatch(_ column: String, _ expected: String) -> StorageError {
        StorageError(.decoding, "read column \(column)", because: "it is not \(expected)")
    }
}

extension SQLRow.Columns {
    /// - Parameter names: The names of a result's columns; of duplicates the first counts.
    init(names: [String]) {
        self.init(names.enumerated().map { ($1, $0) }) { first, _ in first }
    }
}
