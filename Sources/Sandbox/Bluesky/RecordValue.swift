import Cryptography
import Foundation

/// A value of the protocol's data model, in which null differs from a missing member.
enum RecordValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case text(String)
    case list([RecordValue])
    case map([String: RecordValue])

    subscript(name: String) -> RecordValue? {
        guard case .map(let members) = self else { return nil }
        return members[name]
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    var list: [RecordValue]? {
        guard case .list(let items) = self else { return nil }
        return items
    }

    /// The value as in an answer, with its members sorted by name.
    var json: WireJSON {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(Int(value))
        case .text(let value): .string(value)
        case .list(let items): .array(items.map(\.json))
        case .map(let members):
            .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
        }
    }
}

extension RecordValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
    init(arrayLiteral elements: RecordValue...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, RecordValue)...) {
        self = .map(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension RecordValue: Decodable {
    private static let maximumDepth = 32

    /// Decodes a value; numbers with a fraction are not part of the data model.
    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "nested too deeply"))
        }
        let container = try decoder.singleValueContainer()
        // `try?` returns nil for a value of another type.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if var items = try? decoder.unkeyedContainer() {
            var values: [RecordValue] = []
            while !items.isAtEnd { values.append(try items.decode(RecordValue.self)) }
            self = .list(values)
        } else {
            self = .map(try container.decode([String: RecordValue].self))
        }
    }

    /// - Returns: The members of a JSON object; nil for any other text.
    static func members(ofJSON bytes: [UInt8]) -> [String: RecordValue]? {
        try? JSONDecoder().decode([String: RecordValue].self, from: Data(bytes))
    }
}

/// The content identifier of a record: a CIDv1 of its DAG-CBOR form with SHA-256.
struct ContentID: Equatable, Sendable {
    /// The prefix of identifiers: version 1, DAG-CBOR, SHA-256, 32 bytes.
    private static let prefix: [UInt8] = [0x01, 0x71, 0x12, 0x20]

    /// The prefix for a file: version 1, raw bytes, SHA-256, 32 bytes.
    private static let filePrefix: [UInt8] = [0x01, 0x55, 0x12, 0x20]
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The identifier in base 32, whose prefix is `b`.
    let text: String

    /// The identifier of a file, whose bytes are hashed unchanged.
    init(ofFile bytes: [UInt8]) {
        text = "b" + Self.base32(Self.filePrefix + HashFunction.sha256.digest(of: bytes))
    }

    init(of record: RecordValue) {
        var encoded: [UInt8] = []
        record.appendCBOR(to: &encoded)
        text = "b" + Self.base32(Self.prefix + HashFunction.sha256.digest(of: encoded))
    }

    /// The bytes of any CIDv1 in base 32; nil if the text is not one.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.first == UInt8(ascii: "b"), text.utf8.count == 59 else { return nil }
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var bits: Int = 0
        for character in text.utf8.dropFirst() {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            buffer = buffer << 5 & 0xFFFF | UInt32(value)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return bytes.starts(with: [0x01]) && bytes.count == 36 ? bytes : nil
    }

    private static func base32(_ bytes: [UInt8]) -> String {
        var letters: [UInt8] = []
        var buffer: UInt32 = 0
        var bits: Int = 0
        for byte in bytes {
            buffer = buffer << 8 & 0xFFFF | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                letters.append(alphabet[Int(buffer >> UInt32(bits) & 31)])
            }
        }
        if bits > 0 { letters.append(alphabet[Int(buffer << UInt32(5 - bits) & 31)]) }
        return String(decoding: letters, as: UTF8.self)
    }
}

extension RecordValue {
    /// The only valid binary form of the value: shortest lengths, members sorted by the length of
    /// their names, then by bytes.
    func appendCBOR(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(0xF6)
        case .bool(let value): bytes.append(value ? 0xF5 : 0xF4)
        case .integer(let value):
            // CBOR writes a negative number n as -1 - n, with the kind of negative numbers.
            let isNegative = value < 0
            Self.append(
                majorType: isNegative ? 1 : 0,
                argument: UInt64(bitPattern: isNegative ? ~value : value), to: &bytes)
        case .text(let text):
            Self.append(majorType: 3, argument: UInt64(text.utf8.count), to: &bytes)
            bytes += text.utf8
        case .list(let items):
            Self.append(majorType: 4, argument: UInt64(items.count), to: &bytes)
            for item in items { item.appendCBOR(to: &bytes) }
        case .map(let members):
            if members.count == 1, let link = members["$link"]?.text,
                let linked = ContentID.bytes(of: link)
            {
                // A link is tag 42 around the identifier after a zero byte.
                bytes += [0xD8, 0x2A]
                Self.append(majorType: 2, argument: UInt64(linked.count + 1), to: &bytes)
                bytes += [0] + linked
                return
            }
            Self.append(majorType: 5, argument: UInt64(members.count), to: &bytes)
            for (name, value) in members.sorted(by: { Self.isBefore($0.key, $1.key) }) {
                RecordValue.text(name).appendCBOR(to: &bytes)
                value.appendCBOR(to: &bytes)
            }
        }
    }

    private static func isBefore(_ first: String, _ second: String) -> Bool {
        let firstBytes = first.utf8
        let secondBytes = second.utf8
        guard firstBytes.count == secondBytes.count else {
            return firstBytes.count < secondBytes.count
        }
        return firstBytes.lexicographicallyPrecedes(secondBytes)
    }

    /// Appends the head of a value.
    ///
    /// - Parameters:
    ///   - majorType: 0 for a number, 1 for a negative one, 2 for bytes, 3 for a text, 4 for a
    ///     list, 5 for a map.
    ///   - argument: The number, the length or the count.
    private static func append(majorType: UInt8, argument: UInt64, to bytes: inout [UInt8]) {
        let width: Int
        switch argument {
        case ..<24:
            bytes.append(majorType << 5 | UInt8(argument))
            return
        case ...0xFF: width = 0
        case ...0xFFFF: width = 1
        case ...0xFFFF_FFFF: width = 2
        default: width = 3
        }
        bytes.append(majorType << 5 | UInt8(24 + width))
        for shift in (0..<(1 << width)).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: argument >> UInt64(8 * shift)))
        }
    }
}
