/// A tag's name and the attributes that matter for text.
struct HTMLTag: Equatable {
    /// In lower case.
    var name: String
    /// Values with their entities decoded; the first of equal names counts.
    var attributes: [String: String] = [:]

    /// Whether the attribute `class` or `rel` lists `word`.
    func has(_ word: String, in attribute: String) -> Bool {
        guard let value = attributes[attribute] else { return false }
        return value.split(whereSeparator: \.isWhitespace).contains { $0.lowercased() == word }
    }
}

/// One piece of an HTML fragment.
enum HTMLToken: Equatable {
    /// Where text stands; its entities are not decoded.
    case text(Range<Int>)
    case open(HTMLTag)
    case close(String)
}

/// Cuts an HTML fragment into tags and text in one pass.
///
/// It accepts everything, as browsers do: text after a tag that never ends is
/// dropped, and a `<` that begins no tag is text. No byte is looked at more
/// than a fixed number of times, so the time is linear in the input.
struct HTMLTokenizer {
    /// What the text and the tags are made of.
    let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next piece; nil at the end.
    mutating func next() -> HTMLToken? {
        while position < bytes.count {
            guard isMarkup(at: position) else { return .text(textRun()) }
            switch bytes[position + 1] {
            case UInt8(ascii: "!"), UInt8(ascii: "?"):
                skipDeclaration()
            case UInt8(ascii: "/"):
                position += 2
                return closeTag()
            default:
                position += 1
                return openTag()
            }
        }
        return nil
    }

    private func isMarkup(at index: Int) -> Bool {
        guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count else { return false }
        let next = bytes[index + 1]
        if next == UInt8(ascii: "/") { return index + 2 < bytes.count && bytes[index + 2].isASCIILetter }
        return next.isASCIILetter || next == UInt8(ascii: "!") || next == UInt8(ascii: "?")
    }

    private mutating func textRun() -> Range<Int> {
        let start = position
        position += 1
        while position < bytes.count, !isMarkup(at: position) { position += 1 }
        return start..<position
    }

    private mutating func skipDeclaration() {
        let isComment = bytes[position...].starts(with: "<!--".utf8)
        position += isComment ? 4 : 2
        while position < bytes.count {
            defer { position += 1 }
            guard bytes[position] == UInt8(ascii: ">") else { continue }
            if !isComment || bytes[..<position].suffix(2).elementsEqual("--".utf8) { return }
        }
    }

    private mutating func closeTag() -> HTMLToken? {
        let name = tagName()
        while position < bytes.count, bytes[position] != UInt8(ascii: ">") { position += 1 }
        guard position < bytes.count else { return nil }
        position += 1
        return .close(name)
    }

    private mutating func openTag() -> HTMLToken? {
        var tag = HTMLTag(name: tagName())
        while let attribute = attribute() {
            if tag.attributes[attribute.name] == nil { tag.attributes[attribute.name] = attribute.value }
        }
        guard position < bytes.count else { return nil }
        position += 1
        if tag.name == "script" || tag.name == "style" { skipRawText(until: tag.name) }
        return .open(tag)
    }

    /// Goes to the end tag of an element whose content is not text.
    private mutating func skipRawText(until name: String) {
        let end = Array("</\(name)".utf8)
        while position < bytes.count {
            if bytes[position] == end[0], bytes[position...].prefix(end.count).map(\.lowercased) == end { return }
            position += 1
        }
    }

    private mutating func tagName() -> String {
        let start = position
        while position < bytes.count, !bytes[position].isHTMLSpace, bytes[position] != UInt8(ascii: ">"),
            bytes[position] != UInt8(ascii: "/")
        {
            position += 1
        }
        return String(decoding: bytes[start..<position].map(\.lowercased), as: UTF8.self)
    }

    /// The next attribute of the tag; nil at the tag's `>`, where `position` then stands, or at the end.
    private mutating func attribute() -> (name: String, value: String)? {
        while position < bytes.count, bytes[position].isHTMLSpace || bytes[position] == UInt8(ascii: "/") {
            position += 1
        }
        guard position < bytes.count, bytes[position] != UInt8(ascii: ">") else { return nil }
        let start = position
        position += 1
        while position < bytes.count, !bytes[position].isHTMLSpace, bytes[position] != UInt8(ascii: "="),
            bytes[position] != UInt8(ascii: ">"), bytes[position] != UInt8(ascii: "/")
        {
            position += 1
        }
        let name = String(decoding: bytes[start..<position].map(\.lowercased), as: UTF8.self)
        skipSpaces()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { return (name, "") }
        position += 1
        skipSpaces()
        return (name, attributeValue())
    }

    private mutating func attributeValue() -> String {
        guard position < bytes.count else { return "" }
        let quote = bytes[position]
        let isQuoted = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        if isQuoted { position += 1 }
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if isQuoted ? byte == quote : byte.isHTMLSpace || byte == UInt8(ascii: ">") { break }
            position += 1
        }
        let value = HTMLEntity.decoded(bytes[start..<position])
        if isQuoted, position < bytes.count { position += 1 }
        return String(decoding: value, as: UTF8.self)
    }

    private mutating func skipSpaces() {
        while position < bytes.count, bytes[position].isHTMLSpace { position += 1 }
    }
}

extension UInt8 {
    /// The white space of HTML: space, tab, line feed, form feed, carriage return.
    var isHTMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0C || self == 0x0D }

    fileprivate var isASCIILetter: Bool { (0x61...0x7A).contains(lowercased) }

    /// The byte with an ASCII capital letter made small.
    fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self + 0x20 : self }
}
