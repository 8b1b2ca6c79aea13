import Crypto
import Foundation
import Posts

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

    /// A digest for each element of a list, the same for elements whose JSON means the same.
    ///
    /// - Parameters:
    ///   - body: The JSON of the list, or of an object that holds it.
    ///   - key: Where the object holds it; nil for the list itself.
    /// - Returns: As many as there are elements; none if there is no list.
    static func digests(of body: [UInt8], under key: String? = nil) -> [String] {
        typealias List = [LenientElement<JSONValue>]
        let list =
            key.map { decoded([String: LenientElement<List>].self, body)?[$0]?.value } ?? decoded(List.self, body)
        return (list ?? []).enumerated().map { index, element in
            // A number that no type here holds: what is left is the place.
            let json = element.value.flatMap { try? encoded($0) } ?? Array("\(index)".utf8) + body
            return digest(json)
        }
    }

    /// 32 hexadecimal digits that tell some bytes from others.
    static func digest(_ bytes: some Sequence<UInt8>) -> String {
        SHA256.hash(data: Array(bytes)).prefix(16).hexadecimal
    }
}

/// Any JSON, kept as it is.
///
/// The protocol knows no fractions; where a server has one, it stays one.
enum JSONValue: Codable, Equatable, Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case fraction(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .fraction(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .fraction(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let fields): try container.encode(fields)
        }
    }
}
