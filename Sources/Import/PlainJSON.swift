/// Reads JSON as it nearly always is, many times as fast as a decoder that is ready for anything.
///
/// Whoever uses it says what to do with each value in the order in which they stand there; nothing is built that is not
/// asked for. What is valid but rare is not understood, and neither is anything that is not valid: ``NotPlain`` then
/// says that a decoder must look at it, which knows what to make of it.
struct PlainJSON {
    /// There is something that only a decoder understands, or that nobody does.
    struct NotPlain: Error {}

    /// A key, or the inside of a string without escapes, where it stands.
    struct Name {
        fileprivate let bytes: UnsafeBufferPointer<UInt8>

        static func == (name: Name, text: StaticString) -> Bool {
            name.bytes.count == text.utf8CodeUnitCount
                && (0..<name.bytes.count).allSatisfy { name.bytes[$0] == text.utf8Start[$0] }
        }
    }

    private static let maximumNesting = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0

    /// - Parameter bytes: Valid UTF-8, which must stay where it is while this is used.
    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Makes sure that nothing but white space is left.
    mutating func end() throws(NotPlain) {
        skipWhitespace()
        guard position == bytes.count else { throw NotPlain() }
    }

    // MARK: Values

    /// Reads an object.
    ///
    /// - Parameter body: Gets each key and must read the value behind it.
    /// - Throws: ``NotPlain``, also if the value is no object.
    mutating func object(_ body: (inout PlainJSON, Name) throws(NotPlain) -> Void) throws(NotPlain) {
        try enter(Byte.openBrace)
        var isMore = !skips(Byte.closeBrace)
        while isMore {
            let key = try plainString()
            guard skips(Byte.colon) else { throw NotPlain() }
            try body(&self, key)
            isMore = skips(Byte.comma)
            guard isMore || skips(Byte.closeBrace) else { throw NotPlain() }
        }
        depth -= 1
    }

    /// Reads a list.
    ///
    /// - Parameter body: Must read one value.
    /// - Throws: ``NotPlain``, also if the value is no list.
    mutating func list(_ body: (inout PlainJSON) throws(NotPlain) -> Void) throws(NotPlain) {
        try enter(Byte.openBracket)
        var isMore = !skips(Byte.closeBracket)
        while isMore {
            try body(&self)
            isMore = skips(Byte.comma)
            guard isMore || skips(Byte.closeBracket) else { throw NotPlain() }
        }
        depth -= 1
    }

    /// Reads a value; nil if it is no text.
    mutating func text() throws(NotPlain) -> String? {
        guard next() == Byte.quote else {
            try skip()
            return nil
        }
        return try string()
    }

    /// Reads a value; nil if it is neither true nor false.
    mutating func truth() throws(NotPlain) -> Bool? {
        switch next() {
        case UInt8(ascii: "t"):
            try skip()
            return true
        case UInt8(ascii: "f"):
            try skip()
            return false
        default:
            try skip()
            return nil
        }
    }

    /// Passes over a value of any kind.
    mutating func skip() throws(NotPlain) {
        switch next() {
        case Byte.quote: try skipString()
        case Byte.openBrace: try object { (json, _) throws(NotPlain) in try json.skip() }
        case Byte.openBracket: try list { (json) throws(NotPlain) in try json.skip() }
        case UInt8(ascii: "t"): try skip("true")
        case UInt8(ascii: "f"): try skip("false")
        case UInt8(ascii: "n"): try skip("null")
        default: try skipInteger()
        }
    }

    // MARK: Strings

    /// The string that begins here, without its escapes.
    private mutating func string() throws(NotPlain) -> String {
        let start = position + 1
        position = start
        var unescaped: [UInt8] = []
        var kept = start
        while let byte = try inString() {
            if byte == Byte.backslash {
                guard position + 1 < bytes.count, let meant = Self.meaning(ofEscape: bytes[position + 1]) else {
                    throw NotPlain()
                }
                unescaped.append(contentsOf: bytes[kept..<position])
                unescaped.append(meant)
                position += 2
                kept = position
            } else {
                position += 1
            }
        }
        defer { position += 1 }
        if kept == start { return String(decoding: bytes[start..<position], as: UTF8.self) }
        unescaped.append(contentsOf: bytes[kept..<position])
        return String(decoding: unescaped, as: UTF8.self)
    }

    private mutating func plainString() throws(NotPlain) -> Name {
        guard next() == Byte.quote else { throw NotPlain() }
        let start = position + 1
        position = start
        while let byte = try inString() {
            guard byte != Byte.backslash else { throw NotPlain() }
            position += 1
        }
        defer { position += 1 }
        return Name(bytes: UnsafeBufferPointer(rebasing: bytes[start..<position]))
    }

    private mutating func skipString() throws(NotPlain) {
        position += 1
        while let byte = try inString() {
            if byte == Byte.backslash {
                guard position + 1 < bytes.count, Self.meaning(ofEscape: bytes[position + 1]) != nil else {
                    throw NotPlain()
                }
                position += 1
            }
            position += 1
        }
        position += 1
    }

    /// The byte here; nil if it is the quote that ends the string.
    @inline(__always)
    private func inString() throws(NotPlain) -> UInt8? {
        guard position < bytes.count else { throw NotPlain() }
        let byte = bytes[position]
        if byte == Byte.quote { return nil }
        guard byte >= 0x20 else { throw NotPlain() }
        return byte
    }

    /// The character that an escape of two bytes stands for; nil for `\u`, which is rare where UTF-8 is written.
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

    // MARK: Signs

    private mutating func enter(_ sign: UInt8) throws(NotPlain) {
        depth += 1
        guard depth <= Self.maximumNesting, skips(sign) else { throw NotPlain() }
    }

    /// The next byte that is no white space; 0 at the end.
    private mutating func next() -> UInt8 {
        skipWhitespace()
        return position < bytes.count ? bytes[position] : 0
    }

    private mutating func skips(_ sign: UInt8) -> Bool {
        guard next() == sign else { return false }
        position += 1
        return true
    }

    @inline(__always)
    private mutating func skipWhitespace() {
        while position < bytes.count, bytes[position] <= Byte.space, Byte.isWhitespace(bytes[position]) {
            position += 1
        }
    }

    private mutating func skip(_ word: StaticString) throws(NotPlain) {
        for offset in 0..<word.utf8CodeUnitCount {
            guard position < bytes.count, bytes[position] == word.utf8Start[offset] else { throw NotPlain() }
            position += 1
        }
    }

    /// Passes over a whole number as JSON writes it; other numbers are rare.
    private mutating func skipInteger() throws(NotPlain) {
        if position < bytes.count, bytes[position] == UInt8(ascii: "-") { position += 1 }
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        let isNumber = position > start && (position == start + 1 || bytes[start] != 0x30)
        guard isNumber, position == bytes.count || ![0x2E, 0x45, 0x65].contains(bytes[position]) else {
            throw NotPlain()
        }
    }
}
