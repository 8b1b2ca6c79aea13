/// A reply of a Redis server (protocol version 2).
package enum RedisReply: Equatable, Sendable {
    case null
    case status(String)
    /// An error reply: a code word, then a sentence that may repeat arguments.
    case error(String)
    case integer(Int64)
    case bulk([UInt8])
    case array([RedisReply])

    /// The text of a bulk string in valid UTF-8, or of a status.
    package var string: String? {
        switch self {
        case .bulk(let bytes): String(validating: bytes, as: UTF8.self)
        case .status(let text): text
        case .null, .error, .integer, .array: nil
        }
    }

    /// The number of an integer reply, or of a decimal bulk string.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .bulk(let bytes): Self.decimal(bytes)
        case .null, .status, .error, .array: nil
        }
    }

    /// Parses a decimal number like `Int64`, without making a text for counts, the most frequent
    /// replies.
    private static func decimal(_ bytes: [UInt8]) -> Int64? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        // A number with a sign, or with many digits, is parsed by the standard library.
        guard (1...18).contains(bytes.count), bytes.allSatisfy(digits.contains) else {
            return String(validating: bytes, as: UTF8.self).flatMap { Int64($0) }
        }
        return bytes.reduce(0) { $0 * 10 + Int64($1 - digits.lowerBound) }
    }

    /// The elements of an array.
    package var array: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// Returns the reply, unless it is an error.
    ///
    /// - Throws: ``RedisError`` for an error reply.
    package func orThrow() throws(RedisError) -> RedisReply {
        if case .error(let text) = self { throw RedisError(reply: text) }
        return self
    }
}
