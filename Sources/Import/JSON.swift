import Formats
import Localization
import Posts

/// A value of a JSON text.
///
/// The reader accepts the same texts as Foundation's decoder, but is much faster: the text is
/// scanned once, and strings are made only on demand. A value that is missing or of another type is
/// nil, because nearly every field of an archive may be missing.
struct JSON {
    /// The text, with the nodes of all its values in document order.
    private final class Document {
        let bytes: [UInt8]
        let nodes: [Node]

        init(bytes: [UInt8], nodes: [Node]) {
            self.bytes = bytes
            self.nodes = nodes
        }
    }

    fileprivate struct Node {
        /// The first byte of the value; 0 for a number.
        var sign: UInt8
        /// Whether it is a string with an escape.
        var isEscaped = false
        /// The beginning of the value; for a string, after the quote.
        var start: Int32
        var end: Int32
        /// The index of the node after the value and its contents.
        var next: Int32 = 0

        var range: Range<Int> { Int(start)..<Int(end) }
    }

    private let document: Document
    private let index: Int

    /// - Parameter bytes: The text in UTF-8, less than 2 GiB; it may begin with a byte order mark.
    /// - Throws: ``ItemFault`` if the text is no JSON.
    init(_ bytes: [UInt8]) throws(ItemFault) {
        // Validation fails only if the bytes are not UTF-8.
        guard (try? UTF8Span(validating: bytes.span)) != nil else {
            throw ItemFault(localized("not valid UTF-8"))
        }
        let nodes = bytes.withUnsafeBufferPointer { bytes -> [Node]? in
            var scanner = JSONScanner(bytes)
            // The scanner fails only if the text is no JSON.
            return (try? scanner.scan()) == nil ? nil : scanner.nodes
        }
        guard let nodes else { throw ItemFault(localized("not valid JSON")) }
        document = Document(bytes: bytes, nodes: nodes)
        index = 0
    }

    private init(_ document: Document, _ index: Int) {
        self.document = document
        self.index = index
    }

    private var node: Node { document.nodes[index] }

    var isNull: Bool { node.sign == UInt8(ascii: "n") }
    var isObject: Bool { node.sign == Byte.openBrace }
    var isList: Bool { node.sign == Byte.openBracket }

    /// True or false.
    var truth: Bool? {
        switch node.sign {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// A whole number.
    var integer: Int? {
        guard node.sign == 0 else { return nil }
        let text = String(decoding: document.bytes[node.range], as: UTF8.self)
        return Int(text) ?? Double(text).flatMap(Int.init(exactly:))
    }

    /// A string; nil also if one of its escapes is invalid.
    var text: String? { node.sign == Byte.quote ? string(node) : nil }

    /// A string that is not empty.
    var nonEmptyText: String? { text.flatMap { $0.isEmpty ? nil : $0 } }

    /// The entries of a list; empty for any other value.
    var list: [JSON] {
        guard isList else { return [] }
        var entries: [JSON] = []
        var child = index + 1
        while child < Int(node.next) {
            entries.append(JSON(document, child))
            child = Int(document.nodes[child].next)
        }
        return entries
    }

    /// The keys of an object, including repeated ones, with their values; empty for any other
    /// value.
    var members: [(key: String, value: JSON)] {
        guard isObject else { return [] }
        var members: [(key: String, value: JSON)] = []
        var key = index + 1
        while key < Int(node.next) {
            let name = document.nodes[key]
            let keyBytes = document.bytes[name.range]
            members.append(
                (string(name) ?? String(decoding: keyBytes, as: UTF8.self), JSON(document, key + 1))
            )
            key = Int(document.nodes[key + 1].next)
        }
        return members
    }

    /// The value of a key, or the first value of a repeated key; nil if there is none, or if this
    /// is not an object.
    subscript(name: StaticString) -> JSON? {
        guard isObject else { return nil }
        return document.nodes.withUnsafeBufferPointer { nodes in
            let end = Int(nodes[index].next)
            var key = index + 1
            while key < end {
                if isName(name, nodes[key]) { return JSON(document, key + 1) }
                key = Int(nodes[key + 1].next)
            }
            return nil
        }
    }

    /// The object at the end of a path of keys.
    ///
    /// - Throws: ``ItemFault`` with the key that is missing or of another type.
    func object(_ path: StaticString...) throws(ItemFault) -> JSON {
        guard isObject else { throw ItemFault(localized("not a JSON object")) }
        var value = self
        for (depth, key) in path.enumerated() {
            guard let next = value[key] else { throw ItemFault(localized("\(key) is missing")) }
            guard next.isObject else {
                let name = path[...depth].map(\.description).joined(separator: ".")
                throw ItemFault(localized("\(name) has the wrong type"))
            }
            value = next
        }
        return value
    }

    /// The value of a key, which must have a certain type if it is present and not null.
    ///
    /// - Parameters:
    ///   - path: The keys that lead to this object, for the message.
    ///   - read: Reads a value of that type, such as `\.text`.
    /// - Returns: The value; nil if it is missing or null.
    /// - Throws: ``ItemFault`` for a value of another type.
    func optional<Value>(
        _ key: StaticString, in path: String = "", _ read: (JSON) -> Value?
    ) throws(ItemFault) -> Value? {
        guard let value = self[key], !value.isNull else { return nil }
        if let read = read(value) { return read }
        let name = "\(path)\(key)"
        throw ItemFault(
            localized(value.node.isEscaped ? "not valid JSON" : "\(name) has the wrong type"))
    }

    /// A required string.
    func required(_ key: StaticString) throws(ItemFault) -> String {
        if let text = try optional(key, \.text) { return text }
        throw ItemFault(
            localized(self[key] == nil ? "\(key) is missing" : "\(key) has the wrong type"))
    }

    private func isName(_ name: StaticString, _ key: Node) -> Bool {
        if key.isEscaped { return string(key) == name.description }
        let count = name.utf8CodeUnitCount
        guard Int(key.end - key.start) == count else { return false }
        return document.bytes.withUnsafeBufferPointer { bytes in
            let start = Int(key.start)
            for offset in 0..<count where bytes[start + offset] != name.utf8Start[offset] {
                return false
            }
            return true
        }
    }

    private func string(_ node: Node) -> String? {
        let contents = document.bytes[node.range]
        return node.isEscaped
            ? JSONScanner.unescaped(contents) : String(decoding: contents, as: UTF8.self)
    }
}

extension JSON: WireFields {
    func string(_ name: StaticString) -> String? { self[name]?.text }
    func text(_ name: StaticString) -> String? { self[name].flatMap { $0.text ?? $0.digits } }
    func truth(_ name: StaticString) -> Bool? { self[name]?.truth }
    func child(_ name: StaticString) -> JSON? { self[name].flatMap { $0.isObject ? $0 : nil } }
    func children(_ name: StaticString) -> [JSON] { self[name]?.list.filter(\.isObject) ?? [] }
    func isPresent(_ name: StaticString) -> Bool { self[name]?.isNull == false }

    func texts(_ name: StaticString) -> [String]? {
        self[name].flatMap { $0.isList ? $0.list.compactMap(\.text) : nil }
    }

    /// The digits of a whole number.
    private var digits: String? {
        guard node.sign == 0 else { return nil }
        let text = String(decoding: document.bytes[node.range], as: UTF8.self)
        return Int64(text).map(String.init) ?? UInt64(text).map(String.init)
            ?? integer.map(String.init)
    }
}

/// Scans a JSON text once and finds its values.
///
/// It is as lenient as Foundation's decoder: a comma may follow the last entry, and numbers and
/// escapes are checked only when they are read.
private struct JSONScanner {
    private struct NotJSON: Error {}

    private static let maximumNesting = 512

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0
    private(set) var nodes: [JSON.Node] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        nodes.reserveCapacity(bytes.count / 16 + 1)
    }

    mutating func scan() throws {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        try scanValue()
        guard next() == 0, position == bytes.count else { throw NotJSON() }
    }

    private mutating func scanValue() throws(NotJSON) {
        let sign = next()
        let node = nodes.count
        nodes.append(JSON.Node(sign: sign, start: Int32(position), end: Int32(position)))
        switch sign {
        case Byte.quote: try scanString(node)
        case Byte.openBrace: try scanEntries(until: Byte.closeBrace)
        case Byte.openBracket: try scanEntries(until: Byte.closeBracket)
        case UInt8(ascii: "t"): try scanWord("true")
        case UInt8(ascii: "f"): try scanWord("false")
        case UInt8(ascii: "n"): try scanWord("null")
        case UInt8(ascii: "-"), 0x30...0x39:
            nodes[node].sign = 0
            while position < bytes.count, Self.isNumeric(bytes[position]) { position += 1 }
            nodes[node].end = Int32(position)
        default: throw NotJSON()
        }
        nodes[node].next = Int32(nodes.count)
    }

    private mutating func scanEntries(until end: UInt8) throws(NotJSON) {
        depth += 1
        guard depth <= Self.maximumNesting else { throw NotJSON() }
        position += 1
        while next() != end {
            if end == Byte.closeBrace { try scanKey() }
            try scanValue()
            let sign = next()
            guard sign == Byte.comma || sign == end else { throw NotJSON() }
            if sign == Byte.comma { position += 1 }
        }
        position += 1
        depth -= 1
    }

    private mutating func scanKey() throws(NotJSON) {
        guard next() == Byte.quote else { throw NotJSON() }
        nodes.append(JSON.Node(sign: Byte.quote, start: 0, end: 0))
        try scanString(nodes.count - 1)
        guard next() == Byte.colon else { throw NotJSON() }
        position += 1
    }

    private mutating func scanString(_ node: Int) throws(NotJSON) {
        position += 1
        let start = position
        var isEscaped = false
        while position < bytes.count, bytes[position] != Byte.quote {
            guard bytes[position] >= 0x20 else { throw NotJSON() }
            if bytes[position] == Byte.backslash {
                isEscaped = true
                position += 1
            }
            position += 1
        }
        guard position < bytes.count else { throw NotJSON() }
        nodes[node].isEscaped = isEscaped
        nodes[node].start = Int32(start)
        nodes[node].end = Int32(position)
        position += 1
    }

    private mutating func scanWord(_ word: StaticString) throws(NotJSON) {
        for offset in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count, bytes[position] == word.utf8Start[offset] else {
                throw NotJSON()
            }
            position += 1
        }
    }

    /// The next byte that is not white space; 0 at the end.
    @inline(__always)
    private mutating func next() -> UInt8 {
        while position < bytes.count, Byte.isWhitespace(bytes[position]) { position += 1 }
        return position < bytes.count ? bytes[position] : 0
    }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"),
            UInt8(ascii: "E"):
            true
        default: false
        }
    }

    // MARK: Escapes

    /// The contents of a string with its escapes decoded; nil if one is invalid.
    static func unescaped(_ bytes: ArraySlice<UInt8>) -> String? {
        var result: [UInt8] = []
        var remaining = bytes
        while let byte = remaining.popFirst() {
            guard byte == Byte.backslash else {
                result.append(byte)
                continue
            }
            guard let escape = remaining.popFirst() else { return nil }
            if escape == UInt8(ascii: "u") {
                guard let scalar = scalar(&remaining) else { return nil }
                result.append(contentsOf: Character(scalar).utf8)
            } else {
                guard let decoded = meaning(ofEscape: escape) else { return nil }
                result.append(decoded)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func meaning(ofEscape byte: UInt8) -> UInt8? {
        switch byte {
        case Byte.quote, Byte.backslash, UInt8(ascii: "/"): byte
        case UInt8(ascii: "n"): Byte.lineFeed
        case UInt8(ascii: "t"): Byte.tab
        case UInt8(ascii: "r"): Byte.carriageReturn
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        default: nil
        }
    }

    /// Returns the character of a `\u` escape; a character outside the Basic Multilingual Plane
    /// takes two escapes, a surrogate pair.
    ///
    /// A lone surrogate, as in an emoji that was cut in two, becomes U+FFFD. RFC 8259, section 8.2,
    /// does not define its meaning; the readers of the networks' answers do the same.
    private static func scalar(_ remaining: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = codeUnit(&remaining) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
        var lookahead = remaining
        guard lookahead.popFirst() == Byte.backslash, lookahead.popFirst() == UInt8(ascii: "u"),
            let second = codeUnit(&lookahead),
            UTF16.isTrailSurrogate(second)
        else { return "\u{FFFD}" }
        remaining = lookahead
        return UTF16.decode(UTF16.EncodedScalar([first, second]))
    }

    private static func codeUnit(_ remaining: inout ArraySlice<UInt8>) -> UInt16? {
        let digits = remaining.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
        else { return nil }
        remaining = remaining.dropFirst(4)
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}

/// The bytes of JSON's syntax.
enum Byte {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")
    static let backslash = UInt8(ascii: "\\")
    static let openBracket = UInt8(ascii: "[")
    static let closeBracket = UInt8(ascii: "]")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")

    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == space || byte == tab || byte == lineFeed || byte == carriageReturn
    }
}
