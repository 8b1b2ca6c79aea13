package import Foundation

/// A value as both engines store it.
///
/// Instants are integers: milliseconds since 1970 in UTC.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case boolean(Bool)
}

/// The type of a column, as the migrations declare it.
package enum ColumnType: Sendable {
    /// `BIGINT`.
    case integer
    /// `DOUBLE PRECISION`.
    case real
    /// `TEXT`.
    case text
    /// `BOOLEAN`.
    case boolean
}

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

    /// Whether a column of `type` takes the value as it is, which then needs no check by ``checked()``.
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
