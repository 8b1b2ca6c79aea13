package import Foundation

// Declared in the module with libpq's binary formats, and re-exported for users of this one.
@_exported public import enum Postgres.ColumnType
@_exported public import enum Postgres.SQLValue

/// A statement whose interpolated values are passed as binds.
///
/// ```swift
/// let statement: SQL = "SELECT text FROM posts WHERE mirror = \(mirror) AND created_ms > \(since)"
/// ```
///
/// Values never become part of the text. `\(sql)` and `+` nest statements, `\(list: values)` writes
/// `($1, $2, …)`, and raw text needs the label `unsafe`. One text serves both engines: write
/// `CAST(\(value) AS BIGINT)` if a type is needed, `NULLS FIRST` or `NULLS LAST` in every order on
/// a column that may be null, and no function of time.
package struct SQL: ExpressibleByStringInterpolation, Hashable, Sendable {
    /// The raw texts around the binds; always one more than ``binds``.
    private var segments: [String]
    /// The values in the order of their appearance.
    package private(set) var binds: [SQLValue]

    package init(stringLiteral value: String) {
        segments = [value]
        binds = []
    }

    package init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql: SQL = ""

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { sql.append(literal) }

        /// Appends a value, sent as a bind.
        package mutating func appendInterpolation(_ value: some SQLConvertible) {
            sql.append(bind: value.sqlValue)
        }

        /// Appends a value, or null for nil, sent as a bind.
        package mutating func appendInterpolation<Value: SQLConvertible>(_ value: Value?) {
            sql.append(bind: value.sqlValue)
        }

        /// Appends another statement with its own binds.
        package mutating func appendInterpolation(_ other: SQL) { sql += other }

        /// Appends raw text, which must never come from outside the program.
        package mutating func appendInterpolation(unsafe text: String) { sql.append(text) }

        /// Appends values in parentheses, as the operand of `IN`.
        ///
        /// An empty list matches nothing, not even under `NOT IN`.
        package mutating func appendInterpolation(list values: [some SQLConvertible]) {
            sql.append("(")
            for (index, value) in values.enumerated() {
                if index > 0 { sql.append(", ") }
                sql.append(bind: value.sqlValue)
            }
            sql.append(values.isEmpty ? "NULL)" : ")")
        }
    }

    /// The statement with `$1`, `$2`, … for the binds, which shows no values.
    package var text: String {
        var text = segments[0]
        for (index, segment) in segments.dropFirst().enumerated() {
            text += "$\(index + 1)\(segment)"
        }
        return text
    }

    /// Whether the statement begins with `SELECT`.
    var isSelect: Bool { segments[0].hasPrefix("SELECT") }

    /// The statement with `?` for each bind, in the order of ``binds``.
    var textWithQuestionMarks: String { segments.joined(separator: "?") }

    package static func + (left: SQL, right: SQL) -> SQL {
        var sum = left
        sum += right
        return sum
    }

    package static func += (left: inout SQL, right: SQL) {
        left.append(right.segments[0])
        left.segments += right.segments.dropFirst()
        left.binds += right.binds
    }

    /// The condition ` WHERE mirror IN …`; empty for all mirrors.
    package static func condition(on mirrors: [String]?) -> SQL {
        mirrors.map { " WHERE mirror IN \(list: $0)" } ?? ""
    }

    /// A one-column table of texts for a `FROM` clause; its name is `asked`, the column's
    /// `column1`.
    ///
    /// - Parameter texts: One or more: no engine accepts a table without rows.
    package static func asked(_ texts: [String]) -> SQL {
        "(VALUES \(SQL(joined: texts.map { "(CAST(\($0) AS TEXT))" }))) AS asked"
    }

    /// Statements joined by commas, such as the rows of `VALUES`.
    package init(joined parts: [SQL]) {
        self = ""
        for (index, part) in parts.enumerated() { self += index == 0 ? part : ", " + part }
    }

    private mutating func append(_ text: String) { segments[segments.count - 1] += text }

    private mutating func append(bind value: SQLValue) {
        binds.append(value)
        segments.append("")
    }
}

extension SQL: CustomStringConvertible {
    /// The text with placeholders, without the values.
    package var description: String { text }
}

// MARK: - Values

/// A type whose values can be interpolated in a statement.
package protocol SQLConvertible {
    /// The value in the form that is bound.
    var sqlValue: SQLValue { get }
}

extension SQLValue: SQLConvertible {
    package var sqlValue: SQLValue { self }
}

extension Int: SQLConvertible {
    package var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Int64: SQLConvertible {
    package var sqlValue: SQLValue { .integer(self) }
}

extension Double: SQLConvertible {
    package var sqlValue: SQLValue { .real(self) }
}

extension Bool: SQLConvertible {
    package var sqlValue: SQLValue { .boolean(self) }
}

extension String: SQLConvertible {
    package var sqlValue: SQLValue { .text(self) }
}

extension Date: SQLConvertible {
    /// Whole milliseconds since 1970 in UTC; a date further than 292 million years away is clamped.
    package var sqlValue: SQLValue {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        return .integer(Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
    }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    package var sqlValue: SQLValue { self?.sqlValue ?? .null }
}

extension SQLValue {
    /// Checks the value for contents that only one of the engines would refuse or change: a NUL
    /// character in a text, and NaN.
    ///
    /// - Throws: ``StorageError`` with code `.invalidValue`.
    func checked() throws(StorageError) -> SQLValue {
        switch self {
        case .text(let text) where text.containsNUL:
            throw StorageError(.invalidValue, "bind a text", because: "it contains a NUL character")
        case .real(let number) where number.isNaN:
            throw StorageError(.invalidValue, "bind a number", because: "it is not a number")
        default:
            return self
        }
    }

    /// Whether a column of `type` accepts the value unchanged, so that it needs no check by
    /// ``checked()``.
    func fits(_ type: ColumnType) -> Bool {
        switch (self, type) {
        case (.null, _), (.integer, .integer), (.boolean, .boolean): true
        case (.real(let number), .real): !number.isNaN
        case (.text(let text), .text): !text.containsNUL
        default: false
        }
    }
}

extension String {
    /// Whether the text contains U+0000, which no engine stores.
    package var containsNUL: Bool {
        var text = self
        return text.withUTF8 { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
    }
}

extension Array {
    /// The values in portions of at most 500, well below each engine's limit of binds.
    package var portions: [[Element]] { portions(of: 500) }

    /// Returns the values in portions of at most `size`.
    package func portions(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
