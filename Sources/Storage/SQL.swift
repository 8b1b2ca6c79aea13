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
    /// Whether there is a list in it, so that the text depends on how many values there are.
    private(set) var hasList = false

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
        package mutating func appendInterpolation(_ value: some SQLConvertible) { sql.append(bind: value.sqlValue) }

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
            sql.hasList = true
            sql.append("(")
            for (index, value) in values.enumerated() {
                if index > 0 { sql.append(", ") }
                sql.append(bind: value.sqlValue)
            }
            sql.append(values.isEmpty ? "NULL)" : ")")
        }
    }

    /// The statement with `$1`, `$2`, … for the binds, which shows no values.
    package var text: String { text { "$\($0)" } }

    /// The statement with what `placeholder` returns for bind 1, 2, ….
    func text(placeholder: (Int) -> String) -> String {
        var text = segments[0]
        for (index, segment) in segments.dropFirst().enumerated() {
            text += placeholder(index + 1)
            text += segment
        }
        return text
    }

    package static func + (left: SQL, right: SQL) -> SQL {
        var sum = left
        sum += right
        return sum
    }

    package static func += (left: inout SQL, right: SQL) {
        left.append(right.segments[0])
        left.segments += right.segments.dropFirst()
        left.binds += right.binds
        left.hasList = left.hasList || right.hasList
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
