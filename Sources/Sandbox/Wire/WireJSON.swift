import Foundation

/// A JSON value, encoded here so that no code of the client is involved.
enum WireJSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case string(String)
    /// A text, followed by a number of meaningless letters.
    case padded(String, bytes: Int)
    case array([WireJSON])
    /// The members in the order in which they are written.
    case object([(String, WireJSON)])
    /// JSON that is already UTF-8 text: one value, or elements of a list with commas between them.
    case raw([UInt8])

    /// The value as UTF-8 text.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .string(let value): Self.append(value, to: &bytes)
        case .padded(let value, let count):
            Self.append(value, to: &bytes)
            bytes.removeLast()
            bytes.append(contentsOf: [UInt8](repeating: UInt8(ascii: "a"), count: count))
            bytes.append(UInt8(ascii: "\""))
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, (name, value)) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                value.append(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        case .raw(let encoded): bytes += encoded
        }
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        // Most texts need no escape, and it is much faster to append them whole; `strcspn` checks
        // many bytes at once.
        if strcspn(text, escaped) == text.utf8.count {
            bytes.append(contentsOf: text.utf8)
        } else {
            for byte in text.utf8 { appendEscaped(byte, to: &bytes) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The characters that must be escaped in a text; `strcspn` also stops at a NUL, which needs an
    /// escape too.
    private static let escaped = String(decoding: Array(0x01..<0x20) + [0x22, 0x5C], as: UTF8.self)

    private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case 0x0A: bytes += "\\n".utf8
        case ..<0x10: bytes += "\\u000\(String(byte, radix: 16))".utf8
        case ..<0x20: bytes += "\\u00\(String(byte, radix: 16))".utf8
        default: bytes.append(byte)
        }
    }
}

extension WireJSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(integerLiteral value: Int) { self = .integer(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension WireJSON: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    init(arrayLiteral elements: WireJSON...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, WireJSON)...) { self = .object(elements) }
    init(nilLiteral: ()) { self = .null }

    /// The text, or null.
    static func optional(_ text: String?) -> WireJSON { text.map(WireJSON.string) ?? .null }

    /// The value with more members at its end; a value other than an object stays unchanged.
    func adding(_ newMembers: (String, WireJSON)...) -> WireJSON {
        guard case .object(let members) = self else { return self }
        return .object(members + newMembers)
    }

    /// The value with one member replaced; a value other than an object stays unchanged.
    func replacing(_ name: String, with value: WireJSON) -> WireJSON {
        guard case .object(let members) = self else { return self }
        return .object(members.map { $0.0 == name ? (name, value) : $0 })
    }

    /// Returns the object many times, each time with another name, as the elements of a list.
    ///
    /// - Parameters:
    ///   - name: The object's name, wherever it occurs in it.
    ///   - names: The replacements of the name, one for each element.
    /// - Returns: A part of a list, which is not a list itself.
    func repeated(_ name: String, as names: some Sequence<String>) -> WireJSON {
        let pieces = String(decoding: bytes, as: UTF8.self).components(separatedBy: name).map {
            Array($0.utf8)
        }
        var elements: [UInt8] = []
        for newName in names {
            if !elements.isEmpty { elements.append(UInt8(ascii: ",")) }
            for (index, piece) in pieces.enumerated() {
                if index > 0 { elements += newName.utf8 }
                elements += piece
            }
        }
        return .raw(elements)
    }
}
