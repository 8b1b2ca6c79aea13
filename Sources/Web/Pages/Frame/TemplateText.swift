/// A template, divided into the texts that a person reads and the source around them, to be
/// translated.
///
/// A text is the content between two tags of block elements. It includes inline elements and
/// values: in `<p>Ends <b>{{when}}</b>.</p>` it is `Ends <b>{{when}}</b>.`. Attributes that are
/// shown or read aloud, such as `aria-label`, are texts too. So are attributes whose names begin
/// with `data-say-`: they contain the sentences of the scripts and of the style.
struct TemplateText {
    private enum Part {
        case words(String)
        /// A tag of HTML; each attribute with a text becomes a piece, and so does the source around
        /// it.
        case tag(name: String, isEnd: Bool, source: String)
        /// A tag of Mustache that begins or ends a section.
        case section(name: String, isEnd: Bool, source: String)
        /// Any other tag of Mustache.
        case value(String)
    }

    /// A piece of the template: source that stays unchanged, or a text to translate.
    private enum Piece {
        case verbatim(String)
        case text(String)
    }

    private let pieces: [Piece]

    /// - Parameter source: A template whose elements and sections are balanced.
    init(_ source: String) { pieces = Self.split(Self.parts(of: source)) }

    /// The texts in their order, as in the template.
    var texts: [String] {
        pieces.compactMap { piece in
            guard case .text(let text) = piece else { return nil }
            return text
        }
    }

    /// Returns the template with the translation of each text.
    ///
    /// - Parameter table: The translations; a text that it does not contain stays unchanged.
    func translated(by table: [String: String]) -> String {
        pieces.map { piece in
            switch piece {
            case .verbatim(let source): source
            case .text(let text): table[text] ?? text
            }
        }.joined()
    }

    // MARK: Parts

    /// Elements that are a part of a sentence.
    private static let inlineElements: Set = [
        "a", "abbr", "b", "bdi", "br", "code", "em", "i", "kbd", "noscript", "q", "small", "span",
        "strong", "time", "var",
    ]

    /// Attributes that a person reads or hears.
    private static let readAttributes = [
        "alt", "aria-label", "data-name", "placeholder", "title",
    ]
    /// The beginning of the names of those attributes whose values scripts and the style show.
    private static let readPrefix = "data-say-"
    /// Elements that contain code, in which there is no text for a person.
    private static let sourceElements: Set = ["script", "style"]

    private static func parts(of source: String) -> [Part] {
        var parts: [Part] = []
        var rest = Substring(source)
        var words = ""
        func endWords() {
            if !words.isEmpty { parts.append(.words(words)) }
            words = ""
        }
        while !rest.isEmpty {
            if rest.hasPrefix("{{") {
                endWords()
                parts.append(mustacheTag(&rest))
            } else if rest.hasPrefix("<") {
                endWords()
                parts.append(elementTag(&rest))
            } else {
                words.append(rest.removeFirst())
            }
        }
        endWords()
        return parts
    }

    /// Removes a tag of Mustache, such as `{{#name}}` or `{{{markup}}}`, from the start of the
    /// source, and returns it.
    private static func mustacheTag(_ rest: inout Substring) -> Part {
        let closing = rest.hasPrefix("{{{") ? "}}}" : "}}"
        let end = rest.firstRange(of: closing)?.upperBound ?? rest.endIndex
        let source = String(rest[..<end])
        rest = rest[end...]
        let content = source.dropFirst(2)
        let name = content.dropFirst().prefix { $0 != "}" }.trimmingPrefix(while: { $0 == " " })
        switch content.first {
        case "#", "^": return .section(name: String(name), isEnd: false, source: source)
        case "/": return .section(name: String(name), isEnd: true, source: source)
        default: return .value(source)
        }
    }

    /// Removes a tag of HTML from the start of the source, and returns it.
    ///
    /// Tags of Mustache in it may contain `>`.
    private static func elementTag(_ rest: inout Substring) -> Part {
        var source = ""
        while let character = rest.first {
            if rest.hasPrefix("{{") {
                let end = rest.firstRange(of: "}}")?.upperBound ?? rest.endIndex
                source += rest[..<end]
                rest = rest[end...]
                continue
            }
            source.append(character)
            rest.removeFirst()
            if character == ">" { break }
        }
        let isEnd = source.hasPrefix("</")
        let name = source.dropFirst(isEnd ? 2 : 1).prefix { $0.isLetter || $0.isNumber }
        return .tag(name: name.lowercased(), isEnd: isEnd, source: source)
    }

    // MARK: Pieces

    private static func split(_ parts: [Part]) -> [Piece] {
        let partners = partners(of: parts)
        let isBoundary = boundaries(of: parts, partners)
        var pieces: [Piece] = []
        var index = 0
        while index < parts.count {
            if case .tag(let name, false, _) = parts[index], sourceElements.contains(name),
                let end = partners[index]
            {
                pieces += parts[index..<end].map { .verbatim(source($0)) }
                index = end
            }
            if isBoundary[index] {
                pieces += piecesOfTag(parts[index])
                index += 1
                continue
            }
            let end = (index..<parts.count).first { isBoundary[$0] } ?? parts.count
            pieces += self.pieces(of: parts, in: index..<end, partners)
            index = end
        }
        return pieces
    }

    /// Returns the index of the matching end tag for the index of each start tag, and the reverse.
    private static func partners(of parts: [Part]) -> [Int: Int] {
        var partners: [Int: Int] = [:]
        var open: [(name: String, index: Int)] = []
        for (index, part) in parts.enumerated() {
            let name: String
            let isEnd: Bool
            switch part {
            case .tag(let element, let ends, _):
                name = "<" + element
                isEnd = ends
            case .section(let section, let ends, _):
                name = "#" + section
                isEnd = ends
            case .words, .value: continue
            }
            guard isEnd else {
                open.append((name, index))
                continue
            }
            // A tag that was opened after this start tag has no end tag, such as `<input>`.
            guard let start = open.lastIndex(where: { $0.name == name }) else { continue }
            partners[open[start].index] = index
            partners[index] = open[start].index
            open.removeSubrange(start...)
        }
        return partners
    }

    /// Returns for each part whether a text ends there.
    ///
    /// That is so at a tag of a block element, and at a tag of a section or inline element that
    /// contains a block element.
    private static func boundaries(of parts: [Part], _ partners: [Int: Int]) -> [Bool] {
        var isBoundary = parts.map { part in
            guard case .tag(let name, _, _) = part else { return false }
            return !inlineElements.contains(name)
        }
        // Inner pairs come first, since each is shorter than what contains it.
        let pairs = partners.filter { $0.key < $0.value }.sorted {
            $0.value - $0.key < $1.value - $1.key
        }
        for (start, end) in pairs where isBoundary[(start + 1)..<end].contains(true) {
            isBoundary[start] = true
            isBoundary[end] = true
        }
        return isBoundary
    }

    /// Returns the pieces of the parts between two boundaries.
    ///
    /// A pair of tags around all of these parts, and white space at their ends, do not belong to
    /// the text.
    private static func pieces(
        of parts: [Part], in range: Range<Int>, _ partners: [Int: Int]
    ) -> [Piece] {
        guard isRead(parts[range], partners, from: range.lowerBound) else {
            return parts[range].flatMap(piecesOfTag)
        }
        let inner = range.dropFirst().dropLast()
        if range.count > 2, partners[range.lowerBound] == range.upperBound - 1 {
            return piecesOfTag(parts[range.lowerBound])
                + pieces(of: parts, in: inner.startIndex..<inner.endIndex, partners)
                + piecesOfTag(parts[range.upperBound - 1])
        }
        if isBlank(parts[range.lowerBound]) {
            return piecesOfTag(parts[range.lowerBound])
                + pieces(of: parts, in: (range.lowerBound + 1)..<range.upperBound, partners)
        }
        if isBlank(parts[range.upperBound - 1]) {
            return pieces(of: parts, in: range.lowerBound..<(range.upperBound - 1), partners)
                + piecesOfTag(parts[range.upperBound - 1])
        }
        return trimmed(parts[range].map(source).joined())
    }

    /// Whether these parts contain, outside of code, a letter or a punctuation mark of a sentence.
    private static func isRead(
        _ parts: ArraySlice<Part>, _ partners: [Int: Int], from start: Int
    ) -> Bool {
        var index = start
        while index < parts.endIndex {
            switch parts[index] {
            case .tag("code", false, _): index = partners[index] ?? index
            case .words(let words) where words.contains(where: isOfSentence): return true
            default: break
            }
            index += 1
        }
        return false
    }

    /// Whether a character has to be translated: an English letter or punctuation mark, such as the
    /// period of `{{text}}.`.
    private static func isOfSentence(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || ".,:;".contains(character))
    }

    private static func isBlank(_ part: Part) -> Bool {
        guard case .words(let words) = part else { return false }
        return words.allSatisfy(\.isWhitespace)
    }

    /// Returns a text as a piece, with the white space around it as pieces of their own.
    private static func trimmed(_ text: String) -> [Piece] {
        let start = text.prefix(while: \.isWhitespace)
        let end = String(text.reversed().prefix(while: \.isWhitespace).reversed())
        let inner = text.dropFirst(start.count).dropLast(end.count)
        return [.verbatim(String(start)), .text(String(inner)), .verbatim(end)]
    }

    /// Returns a part as pieces; the values of attributes that a person reads are texts.
    private static func piecesOfTag(_ part: Part) -> [Piece] {
        guard case .tag(_, false, let source) = part else { return [.verbatim(Self.source(part))] }
        var pieces: [Piece] = []
        var rest = Substring(source)
        while let (value, before) = nextReadAttribute(in: rest) {
            pieces += [.verbatim(String(before)), .text(String(value))]
            rest = rest[value.endIndex...]
        }
        return pieces + [.verbatim(String(rest))]
    }

    /// Returns the first attribute's value that a person reads, and the source before it.
    private static func nextReadAttribute(
        in tag: Substring
    ) -> (value: Substring, before: Substring)? {
        var rest = tag
        while let opening = rest.firstRange(of: "=\"") {
            let name = String(
                rest[..<opening.lowerBound].reversed().prefix { $0 != " " }.reversed())
            let value = rest[opening.upperBound...].prefix { $0 != "\"" }
            let isRead = readAttributes.contains(name) || name.hasPrefix(readPrefix)
            if isRead, hasWords(value) { return (value, tag[..<value.startIndex]) }
            rest = rest[value.endIndex...].dropFirst()
        }
        return nil
    }

    /// Whether an attribute's value has letters outside Mustache's tags.
    private static func hasWords(_ value: Substring) -> Bool {
        var depth = 0
        for character in value {
            switch character {
            case "{": depth += 1
            case "}": depth -= 1
            default: if depth == 0, character.isLetter { return true }
            }
        }
        return false
    }

    private static func source(_ part: Part) -> String {
        switch part {
        case .words(let source), .tag(_, _, let source), .section(_, _, let source),
            .value(let source):
            source
        }
    }
}
