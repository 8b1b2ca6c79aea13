import Posts

/// A text taken apart into links, mentions and everything else.
///
/// Recognises more than any one network does: `＠` and `﹫` count as `@`, and
/// every such sign that is directly followed by a letter, digit or underscore
/// begins a mention, unless it stands after an ASCII letter or digit, as in an
/// e-mail address, which no network takes for a mention; `RT` alone is none.
struct PlainTokens {
    enum Token {
        case scalar(Unicode.Scalar)
        /// A link of the given scalars; `isCertain` if every server sees it as one: it stands at the start or
        /// after white space or a bracket, and its host is ASCII with a dot in it.
        case link(ArraySlice<Unicode.Scalar>, isCertain: Bool)
        /// The name without `@` and without host; empty if it is not made of ASCII.
        case mention(name: ArraySlice<Unicode.Scalar>)
    }

    private static let schemes = ["https://", "http://"].map { Array($0.unicodeScalars) }

    private(set) var tokens: [Token] = []

    init(_ text: String) {
        let scalars = Array(text.unicodeScalars)
        tokens.reserveCapacity(scalars.count)
        var position = 0
        while position < scalars.count {
            let (token, end) = Self.token(at: position, in: scalars)
            tokens.append(token)
            position = max(end, position + 1)
        }
    }

    /// Whether any token is a link.
    var hasLink: Bool {
        tokens.contains { if case .link = $0 { true } else { false } }
    }

    private static func token(at position: Int, in scalars: [Unicode.Scalar]) -> (Token, end: Int) {
        let previous = position > 0 ? scalars[position - 1] : nil
        if let end = linkEnd(at: position, in: scalars) {
            let isApart = previous.map { $0.properties.isWhitespace || $0 == "(" } ?? true
            let link = scalars[position..<end]
            return (.link(link, isCertain: isApart && hasOrdinaryHost(link)), end)
        }
        let isApart = !(previous?.isASCIIAlphanumeric ?? false) || followsRepostMark(position, in: scalars)
        if scalars[position].isAtSign, isApart, let mention = mention(at: position, in: scalars) { return mention }
        return (.scalar(scalars[position]), position + 1)
    }

    /// Whether `RT` alone stands before the sign at `position`, behind which X sees a mention too.
    private static func followsRepostMark(_ position: Int, in scalars: [Unicode.Scalar]) -> Bool {
        guard position >= 2, scalars[position - 2].lowercaseASCII == "r", scalars[position - 1].lowercaseASCII == "t"
        else { return false }
        guard position > 2 else { return true }
        let before = scalars[position - 3]
        return !before.isASCIIAlphanumeric && !"_+~.-".unicodeScalars.contains(before)
    }

    /// The end of the link that starts at `position`, without punctuation that closes a sentence.
    ///
    /// Links are ASCII, since other letters are more often the sentence going
    /// on; only their hosts may have them.
    private static func linkEnd(at position: Int, in scalars: [Unicode.Scalar]) -> Int? {
        guard scalars[position] == "h" || scalars[position] == "H" else { return nil }
        let rest = scalars[position...]
        guard let scheme = schemes.first(where: { rest.starts(with: $0) { $0.lowercaseASCII == $1 } }) else {
            return nil
        }
        var end = position + scheme.count
        guard end < scalars.count, scalars[end].isWord else { return nil }
        end = foreignHostEnd(at: end, in: scalars)
        while end < scalars.count, scalars[end].isLinkScalar { end += 1 }
        let brackets = (round: scalars[position..<end].contains("("), square: scalars[position..<end].contains("["))
        // An opening bracket ends nothing, so what was found above is still there.
        while end > position, closes(scalars[end - 1], brackets) { end -= 1 }
        return end
    }

    /// The end of a host that begins with other letters than ASCII's, or ends in a label of those behind others, as
    /// `www.例え.jp` does; `start` if none stands there.
    private static func foreignHostEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int {
        let host = host(at: start, in: scalars)
        guard scalars[start].isASCII else { return host.endIndex }
        guard let last = host.lastIndex(where: { !$0.isASCII }),
            let top = host[(last + 1)...].split(separator: ".").last, top.startIndex > last + 1, top.count > 1,
            top.allSatisfy(\.properties.isAlphabetic)
        else { return start }
        return host.endIndex
    }

    private static func hasOrdinaryHost(_ link: ArraySlice<Unicode.Scalar>) -> Bool {
        let address = link.drop { $0 != "/" }.dropFirst(2)
        let host = address.prefix { $0.isASCIIAlphanumeric || $0 == "." || $0 == "-" }
        let isWhole = address.dropFirst(host.count).first.map { "/?#:".unicodeScalars.contains($0) } ?? true
        return isWhole && host.dropFirst().dropLast().contains(".")
    }

    /// Whether a link with or without opening brackets in it does not end in `last`.
    private static func closes(_ last: Unicode.Scalar, _ brackets: (round: Bool, square: Bool)) -> Bool {
        switch last {
        case ".", ",", ";", ":", "!", "?", "'", "*", "@": true
        case ")": !brackets.round
        case "]": !brackets.square
        default: false
        }
    }

    private static func mention(at position: Int, in scalars: [Unicode.Scalar]) -> (Token, end: Int)? {
        var start = position + 1
        // Servers may drop what cannot be seen, so it does not hide a mention.
        while start < scalars.count, scalars[start].isInvisible { start += 1 }
        guard start < scalars.count, scalars[start].isWord else { return nil }
        let end = nameEnd(at: start, in: scalars)
        guard end > start else { return (.mention(name: []), start) }
        var hostEnd = end
        if end + 1 < scalars.count, scalars[end].isAtSign, scalars[end + 1].isWord {
            hostEnd = portEnd(at: Self.hostEnd(at: end + 1, in: scalars), in: scalars)
        }
        return (.mention(name: scalars[start..<end]), hostEnd)
    }

    /// The end of a run of ASCII letters, digits and underscores with single dots and hyphens between them.
    private static func nameEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int {
        var end = start
        while end < scalars.count {
            if scalars[end].isASCIIAlphanumeric || scalars[end] == "_" {
                end += 1
            } else if end > start, scalars[end] == "." || scalars[end] == "-", end + 1 < scalars.count,
                scalars[end + 1].isASCIIAlphanumeric
            {
                end += 2
            } else {
                break
            }
        }
        return end
    }

    /// The end of the port that stands at `start`; `start` if none does.
    private static func portEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int {
        guard start < scalars.count, scalars[start] == ":" else { return start }
        let end = scalars[(start + 1)...].prefix { ("0"..."9").contains($0) }.endIndex
        return (start + 2...start + 6).contains(end) ? end : start
    }

    private static func hostEnd(at start: Int, in scalars: [Unicode.Scalar]) -> Int {
        let asciiEnd = nameEnd(at: start, in: scalars)
        return asciiEnd == start ? host(at: start, in: scalars).endIndex : asciiEnd
    }

    /// What a host may be written with in any alphabet.
    private static func host(at start: Int, in scalars: [Unicode.Scalar]) -> ArraySlice<Unicode.Scalar> {
        scalars[start...].prefix { $0.isWord || $0 == "." || $0 == "-" }
    }
}

extension Unicode.Scalar {
    /// `@`, or a form of it that servers may read as one.
    var isAtSign: Bool { self == "@" || self == "\u{FF20}" || self == "\u{FE6B}" }

    /// `#`, or a form of it that networks read as one.
    var isHashSign: Bool { self == "#" || self == "\u{FF03}" || self == "\u{FE5F}" }

    /// A letter, digit, combining mark or underscore of any script.
    var isWord: Bool {
        if isASCII { return isASCIIAlphanumeric || self == "_" }
        return switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark, .connectorPunctuation:
            true
        default: false
        }
    }

    /// Whether X sees no hashtag right behind it: letters, marks and digits, but not what chooses an emoji's form.
    var keepsTagFromBeginning: Bool {
        if self == "\u{FE0E}" || self == "\u{FE0F}" { return false }
        if self == "_" { return true }
        return isWord && ![.letterNumber, .otherNumber, .connectorPunctuation].contains(properties.generalCategory)
    }

    /// Stands on the letter before it.
    var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Shows nothing by itself: joiners, direction marks, variation selectors.
    var isInvisible: Bool { !isASCII && properties.isDefaultIgnorableCodePoint }

    /// A control character other than a line break, a byte order mark or no character at all, which no post needs and
    /// some servers refuse.
    var isUnwantedControl: Bool {
        value < 0x20 && self != "\n" && self != "\t" && self != "\r" || (0x7F...0x9F).contains(value)
            || value == 0xFEFF || properties.isNoncharacterCodePoint
    }

    /// May stand in a link as written in ASCII.
    var isLinkScalar: Bool {
        guard isASCII, value > 0x20, value < 0x7F else { return false }
        return switch self {
        case "<", ">", "\"", "\\", "^", "`", "{", "|", "}": false
        default: true
        }
    }

    var uppercaseASCII: Unicode.Scalar {
        ("a"..."z").contains(self) ? Unicode.Scalar(UInt8(truncatingIfNeeded: value) - 32) : self
    }
}
