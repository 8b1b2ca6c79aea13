import Formats
import Foundation
import Localization

/// A value of DAG-CBOR, the binary form in which Bluesky keeps records.
///
/// The reader accepts only what the format allows: definite lengths, unique text keys, links (tag
/// 42), finite numbers. So a value never takes more memory than its bytes allow, and is never
/// nested deeper than the limit.
indirect enum DAGCBOR: Equatable {
    case null
    case truth(Bool)
    case integer(Int64)
    case number(Double)
    case bytes([UInt8])
    case text(String)
    case list([DAGCBOR])
    case map([String: DAGCBOR])
    case link(ContentID)

    /// - Parameters:
    ///   - bytes: The bytes of exactly one value.
    ///   - nesting: The deepest nesting of lists and maps.
    /// - Throws: ``ItemFault`` for anything else.
    init(_ bytes: [UInt8], nesting: Int) throws(ItemFault) {
        var reader = ByteReader(bytes[...])
        self = try Self.value(&reader, nesting: nesting)
        guard reader.rest.isEmpty else {
            throw ItemFault(localized("something stands behind its end"))
        }
    }

    subscript(key: String) -> DAGCBOR? {
        if case .map(let members) = self { members[key] } else { nil }
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }
    var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
    var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    var list: [DAGCBOR]? { if case .list(let list) = self { list } else { nil } }
    var link: ContentID? { if case .link(let link) = self { link } else { nil } }

    // MARK: Reading

    private static func value(_ reader: inout ByteReader, nesting: Int) throws(ItemFault)
        -> DAGCBOR
    {
        let head = try reader.byte()
        // The upper three bits are the kind of the value. The lower five are its number or length,
        // or tell how many bytes these take (RFC 8949, section 3).
        let major = head >> 5
        let detail = head & 31
        if major == 7 { return try simple(detail, &reader) }
        let argument = try argument(detail, &reader)
        switch major {
        case 0, 1:
            guard argument <= Int64.max else { throw ItemFault(localized("a number is too large")) }
            return .integer(major == 0 ? Int64(argument) : -1 - Int64(argument))
        case 2: return .bytes(Array(try reader.bytes(argument)))
        case 3: return .text(try text(argument, &reader))
        case 4, 5:
            guard nesting > 0 else { throw ItemFault(localized("it is nested too deeply")) }
            // Each entry takes at least a byte, so the data is cut off if there are fewer bytes.
            guard argument <= UInt64(reader.rest.count) else {
                throw ItemFault(localized("it ends early"))
            }
            return major == 4
                ? .list(try list(count: argument, &reader, nesting: nesting - 1))
                : .map(try map(count: argument, &reader, nesting: nesting - 1))
        default:
            guard argument == 42 else {
                throw ItemFault(localized("it has a tag that means nothing here"))
            }
            return .link(try link(&reader))
        }
    }

    private static func simple(_ detail: UInt8, _ reader: inout ByteReader) throws(ItemFault)
        -> DAGCBOR
    {
        switch detail {
        // The values that the format allows: false, true, null, and a number of 64 bits.
        case 20, 21: return .truth(detail == 21)
        case 22: return .null
        case 27:
            let number = Double(bitPattern: try reader.number(bytes: 8))
            guard number.isFinite else { throw ItemFault(localized("a number is not finite")) }
            return .number(number)
        default: throw ItemFault(localized("it has a value that is not allowed"))
        }
    }

    private static func argument(_ detail: UInt8, _ reader: inout ByteReader) throws(ItemFault)
        -> UInt64
    {
        switch detail {
        // A small number is in the first byte; a larger one takes the next 1, 2, 4 or 8 bytes.
        case 0...23: UInt64(detail)
        case 24: try reader.number(bytes: 1)
        case 25: try reader.number(bytes: 2)
        case 26: try reader.number(bytes: 4)
        case 27: try reader.number(bytes: 8)
        default: throw ItemFault(localized("it has a length that is not definite"))
        }
    }

    private static func text(_ length: UInt64, _ reader: inout ByteReader) throws(ItemFault)
        -> String
    {
        guard let text = String(validating: try reader.bytes(length), as: UTF8.self) else {
            throw ItemFault(localized("not valid UTF-8"))
        }
        return text
    }

    private static func list(
        count: UInt64, _ reader: inout ByteReader, nesting: Int
    ) throws(ItemFault) -> [DAGCBOR] {
        var list: [DAGCBOR] = []
        for _ in 0..<count { list.append(try value(&reader, nesting: nesting)) }
        return list
    }

    private static func map(
        count: UInt64, _ reader: inout ByteReader, nesting: Int
    ) throws(ItemFault) -> [String: DAGCBOR] {
        var members: [String: DAGCBOR] = [:]
        for _ in 0..<count {
            guard case .text(let key) = try value(&reader, nesting: 0) else {
                throw ItemFault(localized("a key is no text"))
            }
            guard members.updateValue(try value(&reader, nesting: nesting), forKey: key) == nil
            else {
                throw ItemFault(localized("a key is there twice"))
            }
        }
        return members
    }

    /// Reads a link: a zero byte, which is the prefix of binary CIDs, and the CID.
    private static func link(_ reader: inout ByteReader) throws(ItemFault) -> ContentID {
        guard case .bytes(let bytes) = try value(&reader, nesting: 0), bytes.first == 0 else {
            throw ItemFault(localized("a link is no CID"))
        }
        var linkReader = ByteReader(bytes.dropFirst())
        let link = try ContentID(&linkReader)
        guard linkReader.rest.isEmpty else { throw ItemFault(localized("a link is no CID")) }
        return link
    }

    // MARK: Writing

    /// The value as JSON, for readers of that format; links and bytes become null.
    var json: [UInt8] {
        var text: [UInt8] = []
        write(to: &text)
        return text
    }

    private func write(to text: inout [UInt8]) {
        switch self {
        case .null, .bytes, .link: text += Array("null".utf8)
        case .truth(let isTrue): text += Array((isTrue ? "true" : "false").utf8)
        case .integer(let number): text += Array("\(number)".utf8)
        case .number(let number): text += Array("\(number)".utf8)
        case .text(let string): Self.write(string, to: &text)
        case .list(let list):
            text.append(Byte.openBracket)
            for (index, value) in list.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                value.write(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .map(let members):
            text.append(Byte.openBrace)
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                Self.write(member.key, to: &text)
                text.append(UInt8(ascii: ":"))
                member.value.write(to: &text)
            }
            text.append(Byte.closeBrace)
        }
    }

    private static func write(_ string: String, to text: inout [UInt8]) {
        text.append(Byte.quote)
        for byte in string.utf8 {
            switch byte {
            case Byte.quote, UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: text += Array(String(format: "\\u%04x", byte).utf8)
            default: text.append(byte)
            }
        }
        text.append(Byte.quote)
    }
}

/// The identifier of a block, made from its contents: a CID of version 1.
struct ContentID: Hashable {
    // The codes of the only kind that Bluesky uses: DAG-CBOR, hashed with SHA-256.
    private static let cbor: UInt64 = 0x71
    private static let sha256: UInt64 = 0x12
    private static let digestBytes: UInt64 = 32

    /// The hash; nil for a kind of CID that Bluesky does not use, because such a block is never
    /// read.
    let digest: [UInt8]?

    /// - Parameter reader: The reader, which is advanced to the end of the CID.
    /// - Throws: ``ItemFault`` if the bytes are no CID.
    init(_ reader: inout ByteReader) throws(ItemFault) {
        // Version 0 has no version number before its hash, and does not occur in repositories.
        guard try reader.variableNumber() == 1 else {
            throw ItemFault(localized("a CID is of an unknown version"))
        }
        let kind = try reader.variableNumber()
        let hash = try reader.variableNumber()
        let length = try reader.variableNumber()
        guard length <= 128 else { throw ItemFault(localized("a CID is too long")) }
        let bytes = try reader.bytes(length)
        digest =
            kind == Self.cbor && hash == Self.sha256 && length == Self.digestBytes
            ? Array(bytes) : nil
    }
}

/// Reads numbers and bytes from the front of a slice.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func byte() throws(ItemFault) -> UInt8 {
        guard let byte = rest.popFirst() else { throw ItemFault(localized("it ends early")) }
        return byte
    }

    mutating func bytes(_ count: UInt64) throws(ItemFault) -> ArraySlice<UInt8> {
        guard count <= UInt64(rest.count) else { throw ItemFault(localized("it ends early")) }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }

    /// Reads a number of `count` bytes, the most significant byte first.
    mutating func number(bytes count: UInt64) throws(ItemFault) -> UInt64 {
        try bytes(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads a number with seven bits in each byte, the least significant first (LEB128).
    mutating func variableNumber() throws(ItemFault) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            let byte = try byte()
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        throw ItemFault(localized("a length is too large"))
    }
}
