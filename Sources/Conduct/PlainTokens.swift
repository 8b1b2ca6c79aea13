import Posts

/// A text split into links, mentions and everything else, as `TextGrammar` reads it.
struct PlainTokens {
    enum Token {
        case scalar(Unicode.Scalar)
        /// A link of the given scalars; `isCertain` if every server sees it as one: it stands at
        /// the start or after white space or a bracket, and its host is ASCII with a dot in it.
        case link(ArraySlice<Unicode.Scalar>, isCertain: Bool)
        /// The name without `@` and without host; empty if no network allows such letters in names.
        case mention(name: ArraySlice<Unicode.Scalar>)
    }

    private(set) var tokens: [Token] = []
    /// The ranges in `tokens` of the hashtags, including their signs.
    private(set) var hashtags: [Range<Int>] = []

    init(_ text: String) {
        var text = text
        text.withUTF8 { read($0) }
    }

    private mutating func read(_ text: UnsafeBufferPointer<UInt8>) {
        func scalars(_ range: Range<Int>) -> ArraySlice<Unicode.Scalar> {
            Array(String(decoding: text[range], as: UTF8.self).unicodeScalars)[...]
        }
        let grammar = TextGrammar(text)
        tokens.reserveCapacity(text.count)
        var position = 0
        while let (scalar, next) = grammar.decoded(at: position) {
            if let link = grammar.link(at: position) {
                tokens.append(.link(scalars(link.range), isCertain: link.isCertain))
                position = link.range.upperBound
            } else if let mention = grammar.mention(at: position) {
                tokens.append(.mention(name: scalars(mention.name)))
                position = mention.end
            } else {
                if let tag = grammar.hashtag(at: position) {
                    hashtags.append(tokens.count..<tokens.count + scalars(tag.range).count)
                }
                tokens.append(.scalar(scalar))
                position = next
            }
        }
        // A link that begins within a hashtag is one token, so the range may be too long.
        hashtags = hashtags.map { $0.clamped(to: 0..<tokens.count) }
    }

    /// The positions in `tokens` of hash signs that begin a hashtag on some network.
    var hashSigns: Set<Int> { Set(hashtags.map(\.lowerBound)) }

    /// Whether any token is a link.
    var hasLink: Bool {
        tokens.contains { if case .link = $0 { true } else { false } }
    }
}

extension Unicode.Scalar {
    /// Whether it is a control character other than a line break or tab, a byte order mark or a
    /// noncharacter: no post needs these, and some servers refuse them.
    var isUnwantedControl: Bool {
        value < 0x20 && self != "\n" && self != "\t" && self != "\r"
            || (0x7F...0x9F).contains(value)
            || value == 0xFEFF || properties.isNoncharacterCodePoint
    }

    var uppercaseASCII: Unicode.Scalar {
        ("a"..."z").contains(self) ? Unicode.Scalar(UInt8(truncatingIfNeeded: value) - 32) : self
    }
}
