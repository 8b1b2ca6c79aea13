import Foundation

/// JSON as it goes over the wire.
enum JSONBody {
    /// Nil for what is not the JSON of such a value.
    static func decoded<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) -> Value? {
        // One broken byte in somebody's post must not hide everybody else's: it is replaced by U+FFFD.
        let isWhole = String(validating: body, as: UTF8.self) != nil
        return try? JSONDecoder().decode(
            type, from: isWhole ? Data(body) : Data(String(decoding: body, as: UTF8.self).utf8))
    }

    /// The JSON of a value, always the same for the same value.
    static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}
