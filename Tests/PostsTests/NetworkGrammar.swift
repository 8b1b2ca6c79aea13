import Foundation

/// What each network reads in a text, by expressions written from its sources, apart from the code
/// under test.
enum NetworkGrammar {
    /// Where a match is, in bytes of UTF-8.
    struct Match {
        /// The mention or hashtag from its sign on, or the link from its scheme on.
        let range: Range<Int>
        /// The name without host, or the word of the hashtag; empty for a link.
        let name: Range<Int>
    }

    /// One kind of thing that a network finds.
    struct Pattern: CustomStringConvertible {
        let description: String
        private let expression: NSRegularExpression

        /// - Parameters:
        ///   - description: Whose pattern of what.
        ///   - pattern: Group 1 is what was found, group 2 the name in it.
        /// - Throws: What is wrong with the pattern.
        init(_ description: String, _ pattern: String) throws {
            self.description = description
            expression = try NSRegularExpression(pattern: pattern, options: .caseInsensitive)
        }

        func matches(in text: String) -> [Match] {
            expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap {
                found in
                func bytes(_ group: Int) -> Range<Int>? {
                    let range = found.range(at: group)
                    guard range.location != NSNotFound else { return nil }
                    // A match may end inside what Swift takes for one character.
                    func offset(_ place: Int) -> Int {
                        let index = text.utf16.index(text.startIndex, offsetBy: place)
                        return text.utf8.distance(from: text.startIndex, to: index)
                    }
                    return offset(range.location)..<offset(range.location + range.length)
                }
                guard let range = bytes(1) else { return nil }
                let name = found.numberOfRanges > 2 ? bytes(2) : nil
                return Match(range: range, name: name ?? range.lowerBound..<range.lowerBound)
            }
        }
    }

    /// Ruby's `[[:word:]]`.
    private static let word = #"\p{L}\p{M}\p{Nd}\p{Pc}"#
    /// Letters with accents of twitter-text.
    private static let accents =
        #"\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u1e00-\u1eff"#

    static func mastodonMention() throws -> Pattern {
        let name = #"[a-z0-9_]+(?:[.-]+[a-z0-9_]+)*"#
        return try Pattern(
            "Mastodon's mention", "(?<![=/\(word)])(@(\(name))(?:@[\(word)]+(?:[.-]+[\(word)]+)*)?)"
        )
    }

    static func xMention() throws -> Pattern {
        try Pattern(
            "X's mention",
            #"(?:^|[^a-z0-9_!#$%&*@＠]|(?:^|[^a-z0-9_+~.-])rt:?)([@＠]([a-z0-9_]{1,20}+))(?![@＠"#
                + accents + "]|://)")
    }

    /// A handle as Bluesky's apps find it, where it ends in one of the domains that the texts have.
    static func blueskyMention() throws -> Pattern {
        try Pattern(
            "Bluesky's mention",
            #"(?:^|\s|\()(@((?![.-])[a-z0-9.-]+\.(?:example|test|jp|com))(?![a-z0-9.-]))"#)
    }

    /// A link with its scheme, whose host ends in one of the domains that the texts have.
    static func xLink() throws -> Pattern {
        let path = #"[a-z\p{Cyrillic}0-9!*';:=+,.$/%#\[\]_~&|@\-"# + accents + "]"
        let last = #"[a-z\p{Cyrillic}0-9=_#/+\-"# + accents + "]"
        return try Pattern(
            "X's link",
            #"(?:^|[^a-z0-9@＠$#＃])(https?://(?:[a-z0-9"# + accents
                + #"](?:[a-z0-9_-]*[a-z0-9])?\.)+(?:jp|com)"#
                + #"(?![0-9a-z@+-])(?::[0-9]+)?(?:/(?:"# + path + "*" + last
                + #")?)?(?:\?[a-z0-9!?*'();:&=+$/%#\[\]\-_.,~|@]*"#
                + #"[a-z0-9_&=#/\-])?)"#)
    }

    static func mastodonHashtag() throws -> Pattern {
        let signs = #"_\u00b7\u30fb\u200c"#
        let first =
            "[\(word)][\(word)\(signs)]*[\\p{Alphabetic}\(signs)][\(word)\(signs)]*[\(word)]"
        return try Pattern(
            "Mastodon's hashtag",
            "(?:^|(?<=\\s))([#＃](\(first)|[\(word)]*\\p{Alphabetic}[\(word)]*))")
    }

    static func xHashtag() throws -> Pattern {
        let body = #"\p{L}\p{M}\p{Nd}_\u200c\u200d\u30fb\u00b7"#
        return try Pattern(
            "X's hashtag",
            #"(?:^|\ufe0e|\ufe0f|[^&"# + body + #"])([#＃](?!\ufe0f|\u20e3)(["# + body
                + #"]*[\p{L}\p{M}]["# + body
                + "]*))")
    }
}
