package import Foundation

// Declared beside libpq's form of them; whoever uses this module knows them by it.
@_exported public import enum Postgres.ColumnType
@_exported public import enum Postgres.SQLValue

/// A statement whose interpolated values travel as binds.
///
/// ```swift
/// let statement: SQL = "SELECT text FROM posts WHERE mirror = \(mirror) AND created_ms > \(since)"
/// ```
///
/// Values never become part of the text. `\(sql)` and `+` nest statements,
/// `\(list: values)` writes `($1, $2, …)`, and raw text needs the label
/// `unsafe`. One text serves both engines: write `CAST(\(value) AS BIGINT)`
/// where a type must be given, `NULLS FIRST` or `NULLS LAST` in every order on
/// a column that may be null, and no function of time.
package struct SQL: ExpressibleByStringInterpolation, Hashable, Sendable {
    /// The raw text around the binds; always one longer than ``binds``.
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

        /// A value, sent as a bind.
        package mutating func appendInterpolation(_ value: some SQLConvertible) {
            sql.append(bind: value.sqlValue)
        }

        /// A value, or null for nil, sent as a bind.
        package mutating func appendInterpolation<Value: SQLConvertible>(_ value: Value?) {
            sql.append(bind: value.sqlValue)
        }

        /// Another statement with its own binds.
        package mutating func appendInterpolation(_ other: SQL) { sql += other }

        /// Raw text, never from outside the program.
        package mutating func appendInterpolation(unsafe text: String) { sql.append(text) }

        /// Values in parentheses, as `IN` takes them.
        ///
        /// An empty list matches nothing, and under `NOT IN` it matches nothing either.
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

    /// Whether it only looks, whatever else it says.
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

    /// A table of texts, one a row in the column `column1`, for a `FROM` clause; its name is
    /// `asked`.
    ///
    /// - Parameter texts: One or more: neither engine takes a table without a row.
    package static func asked(_ texts: [String]) -> SQL {
        "(VALUES \(SQL(joined: texts.map { "(CAST(\($0) AS TEXT))" }))) AS asked"
    }

    /// Statements with commas between them, such as the rows of `VALUES`.
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

/// A type whose values can stand in a statement.
package protocol SQLConvertible {
    /// The value as the database gets it.
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
    /// Whole milliseconds since 1970 in UTC; a date further than 292 million
    /// years away becomes the nearest one that fits.
    package var sqlValue: SQLValue {
        let milliseconds = (timeIntervalSince1970 * 1_000).rounded()
        return .integer(Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))
    }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    package var sqlValue: SQLValue { self?.sqlValue ?? .null }
}

extension SQLValue {
    /// The value, checked for what only one of the engines would refuse or
    /// change: a NUL character in a text, and a real that is not a number.
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

    /// Whether a column of `type` takes the value as it is, which then needs no check by
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
    /// Whether the text holds U+0000, which no database takes.
    package var containsNUL: Bool {
        var text = self
        return text.withUTF8 { bytes in
            bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
        }
    }
}

extension Array {
    /// The values, at most 500 at a time, well under what either engine binds to one statement.
    package var portions: [[Element]] { portions(of: 500) }

    /// The values, at most `size` at a time.
    package func portions(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
