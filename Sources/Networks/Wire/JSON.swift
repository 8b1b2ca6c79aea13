import Cryptography
import Formats
package import Foundation
package import Posts

/// The JSON of requests and answers.
package enum JSONBody {
    /// Decodes a value; nil if the body is not the JSON of such a value.
    package static func decoded<Value: Decodable>(_ type: Value.Type, _ body: [UInt8]) -> Value? {
        try? JSONDecoder().decode(type, from: repaired(body))
    }

    /// Returns the body with each invalid byte replaced by U+FFFD, so that an invalid byte in one
    /// post does not make the others unreadable.
    private static func repaired(_ body: [UInt8]) -> Data {
        let body = withWholeSurrogates(body)
        let isValid = String(validating: body, as: UTF8.self) != nil
        return isValid ? Data(body) : Data(String(decoding: body, as: UTF8.self).utf8)
    }

    /// Returns the body with each lone half of a surrogate pair, as in an emoji that was cut in
    /// two, replaced by `\ufffd`.
    ///
    /// RFC 8259, section 8.2, does not define the meaning of a text with a lone half; it must not
    /// make the text around it unreadable.
    static func withWholeSurrogates(_ body: [UInt8]) -> [UInt8] {
        let backslash = UInt8(ascii: "\\")
        let letter = UInt8(ascii: "u")
        /// The escaped half of a pair at a position; nil if there is none. All of them begin with
        /// the digit d.
        func surrogate(at offset: Int) -> UInt16? {
            guard offset + 6 <= body.count, body[offset] == backslash, body[offset + 1] == letter,
                body[offset + 2] | 0x20 == UInt8(ascii: "d")
            else { return nil }
            return UInt16(String(decoding: body[offset + 2..<offset + 6], as: UTF8.self), radix: 16)
        }
        var repaired = body
        var searchStart = 0
        while let escape = body[searchStart...].firstIndex(of: backslash) {
            guard let first = surrogate(at: escape),
                UTF16.isLeadSurrogate(first) || UTF16.isTrailSurrogate(first)
            else {
                // The escaped character is skipped too, because it may be a backslash.
                searchStart = min(escape + 2, body.count)
                continue
            }
            if UTF16.isLeadSurrogate(first), let second = surrogate(at: escape + 6),
                UTF16.isTrailSurrogate(second)
            {
                searchStart = escape + 12
                continue
            }
            repaired.replaceSubrange(escape + 2..<escape + 6, with: "fffd".utf8)
            searchStart = escape + 6
        }
        return repaired
    }

    /// A decodable value whose reader function is passed as the decoding configuration.
    private struct ReaderResult<Value>: DecodableWithConfiguration {
        let value: Value?

        init(from decoder: any Decoder, configuration reader: (WireObject) throws -> Value?) throws
        {
            value = try reader(try WireObject(from: decoder))
        }
    }

    /// Reads the fields of an object; returns `nil` if the body is no object, or lacks a field that
    /// the reader needs.
    package static func read<Value>(
        _ body: [UInt8], _ reader: @escaping (WireObject) throws -> Value?
    )
        -> Value?
    {
        try? JSONDecoder().decode(
            ReaderResult<Value>.self, from: repaired(body), configuration: reader
        ).value
    }

    /// The JSON of a value, always the same for equal values.
    package static func encoded(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// A value as a text for a ``CredentialStore``.
    package static func sealed(_ value: some Encodable) throws -> Secret {
        Secret(String(decoding: try encoded(value), as: UTF8.self))
    }

    /// The value of a text from ``sealed(_:)``; nil for any other text.
    package static func opened<Value: Decodable>(_ type: Value.Type, _ text: Secret) -> Value? {
        decoded(type, Array(text.reveal().utf8))
    }

    /// A digest for each element of a list, equal for elements with equivalent JSON.
    ///
    /// - Parameters:
    ///   - body: The JSON of the list, or of an object that contains it.
    ///   - key: The key of the list in the object; nil for the list itself.
    /// - Returns: One digest for each element; empty if there is no list.
    package static func digests(of body: [UInt8], under key: String? = nil) -> [String] {
        typealias List = [LenientElement<JSONValue>]
        let elements =
            key.map { decoded([String: LenientElement<List>].self, body)?[$0]?.value }
            ?? decoded(List.self, body)
        return (elements ?? []).enumerated().map { index, element in
            // Nil if a number fits no type of ``JSONValue``; then the element is identified by its
            // index.
            let json = element.value.flatMap { try? encoded($0) } ?? Array("\(index)".utf8) + body
            return digest(json)
        }
    }

    /// Returns the first 32 hexadecimal digits of a digest.
    package static func digest(_ bytes: some Collection<UInt8>) -> String {
        HashFunction.sha256.digest(of: bytes).prefix(16).hexadecimal
    }
}

/// The fields of a JSON object, read tolerantly: a field that is missing, null or of another type
/// is nil.
package struct WireObject: Decodable {
    /// The name of a field in the JSON.
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let fields: KeyedDecodingContainer<Name>

    package init(from decoder: any Decoder) throws {
        fields = try decoder.container(keyedBy: Name.self)
    }

    private init(_ fields: KeyedDecodingContainer<Name>) { self.fields = fields }

    /// The text of a field: a string, or the digits of a whole number.
    package func text(_ name: String) -> String? {
        // Without this check a missing field would throw an error for each type that is tried, and
        // errors are slow.
        guard isPresent(name) else { return nil }
        let key = Name(stringValue: name)
        // Nil for a value of another type.
        if let text = try? fields.decode(String.self, forKey: key) { return text }
        if let number = try? fields.decode(Int64.self, forKey: key) { return String(number) }
        if let number = try? fields.decode(UInt64.self, forKey: key) { return String(number) }
        return nil
    }

    /// An instant as RFC 3339 writes it.
    package func date(_ name: String) -> Date? { text(name).flatMap { Date(rfc3339: $0) } }

    /// A truth value, written as `true`, 1, `"true"` or `"1"`, or as their opposites.
    package func flag(_ name: String) -> Bool? {
        guard isPresent(name) else { return nil }
        // Nil for a value of another type, which may still mean true or false.
        if let flag = try? fields.decode(Bool.self, forKey: Name(stringValue: name)) { return flag }
        switch text(name) {
        case "1", "true": return true
        case "0", "false": return false
        default: return nil
        }
    }

    /// A whole number, or a string of its digits.
    package func integer(_ name: String) -> Int? { text(name).flatMap(Int.init) }

    /// A value of any type.
    package func value<Value: Decodable>(_ type: Value.Type, _ name: String) -> Value? {
        // Nil for a value of another type.
        isPresent(name) ? try? required(type, name) : nil
    }

    /// A value that the object must have.
    ///
    /// - Throws: `DecodingError` if it is missing or of another type.
    package func required<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value {
        try fields.decode(type, forKey: Name(stringValue: name))
    }

    /// The object in a field.
    package func object(_ name: String) -> WireObject? {
        // Nil for a value of another type.
        (try? fields.nestedContainer(keyedBy: Name.self, forKey: Name(stringValue: name))).map {
            WireObject($0)
        }
    }

    /// The readable elements of a list.
    package func list<Value: Decodable>(of type: Value.Type, _ name: String) -> [Value] {
        value([LenientElement<Value>].self, name)?.compactMap(\.value) ?? []
    }

    /// The number of elements of a list, of any type; nil if there is no list.
    package func count(of name: String) -> Int? {
        (try? fields.nestedUnkeyedContainer(forKey: Name(stringValue: name))).map {
            // If the decoder does not know the number, 1 stands for any number above 0.
            $0.count ?? ($0.isAtEnd ? 0 : 1)
        }
    }

    /// Whether the field exists and is not null.
    package func isPresent(_ name: String) -> Bool {
        // `decodeNil` fails only for a missing field.
        contains(name) && (try? fields.decodeNil(forKey: Name(stringValue: name))) == false
    }

    /// Whether the object has such a field, possibly null.
    package func contains(_ name: String) -> Bool { fields.contains(Name(stringValue: name)) }
}

extension WireObject: WireFields {
    package func string(_ name: StaticString) -> String? { value(String.self, name.description) }
    package func text(_ name: StaticString) -> String? { text(name.description) }
    package func truth(_ name: StaticString) -> Bool? { value(Bool.self, name.description) }
    package func child(_ name: StaticString) -> WireObject? { object(name.description) }
    package func children(_ name: StaticString) -> [WireObject] {
        list(of: WireObject.self, name.description)
    }
    package func isPresent(_ name: StaticString) -> Bool { isPresent(name.description) }

    package func texts(_ name: StaticString) -> [String]? {
        value([LenientElement<String>].self, name.description)?.compactMap(\.value)
    }
}

/// An element of a list, which may be unreadable.
package struct LenientElement<Value: Decodable>: Decodable {
    /// Nil if the element has an unexpected shape.
    package let value: Value?
    /// The element's `id`, even if the rest cannot be read.
    package let id: String?

    package init(from decoder: any Decoder) throws {
        // Nil if the element has another shape; it may still contain its id.
        value = try? Value(from: decoder)
        id = (try? WireObject(from: decoder))?.identifier("id")
    }
}

/// The error for a value without a required field.
package struct ShapeError: Error {
    package init() {}
}

/// Any JSON value, unchanged.
///
/// Bluesky's protocol has no fractions, but a server may still send one.
package enum JSONValue: Codable, Equatable, Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case fraction(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // Each `try?` is nil for a value of another type.
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

    package func encode(to encoder: any Encoder) throws {
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

    /// An object of the fields that are not nil, because some servers refuse null.
    package static func object(leavingOutNil fields: [String: JSONValue?]) -> JSONValue {
        .object(fields.compactMapValues(\.self))
    }
}
