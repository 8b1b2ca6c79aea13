import Foundation

/// The English words that a person reads on a page in Japanese, other than names, code and the
/// texts of people.
///
/// It knows nothing of the table of translations: it reads the page.
struct EnglishWords {
    /// The words with what is around them.
    let found: [String]

    init(html: String) {
        let read = Self.unread.reduce(html) { text, pattern in
            Self.replacing(pattern, in: text, by: " ")
        }
        let attributes = Self.attribute.map { Self.matches(of: $0, in: read, group: 2) } ?? []
        let texts = Self.replacing(Self.tag, in: read, by: "\n").split(separator: "\n")
        found = (texts.map(String.init) + attributes).flatMap(Self.words)
    }

    /// Names, and keys of a keyboard.
    private static let names: Set = [
        "Mastodon", "Bluesky", "Misskey", "Pleroma", "Akkoma", "Pixelfed", "Sharkey", "Firefish",
        "Postgres", "Redis", "Heroku", "Chromium", "Berlin", "Europe", "Tokyo", "Asia", "ntfy",
        "mika", "Page", "Up", "Down", "Enter", "Escape", "Tab", "Space", "Cookie",
    ]

    /// Values of settings, which a person types; beside another English word they are none.
    private static let values: Set = [
        "plain", "strict", "loose", "off", "none", "posts", "replies", "all", "suggest", "auto",
        "no", "yes", "self", "agreed", "heirs",
    ]

    /// What a person types to the bot, and what somebody wrote in the states of pages.
    private static let writtenTexts = [
        "stop mirroring me", "stop", "could not read it", "refuses the login", "a funeral", "rain",
        "Text",
    ]

    private static func words(of text: String) -> [String] {
        let quotesLeft = replacing(quoted, in: text, by: "")
        let own = writtenTexts.reduce(quotesLeft) { $0.replacingOccurrences(of: $1, with: "") }
        let words = Self.word.map { matches(of: $0, in: own, group: 0) } ?? []
        let valueList = Set(Self.value.map { matches(of: $0, in: own, group: 1) } ?? [])
        return words.filter { word in
            !names.contains(word) && !(values.contains(word) && valueList.contains(word))
        }.map { "\($0) in \(text.prefix(120))" }
    }

    private static let quoted = try? NSRegularExpression(pattern: "「[^」]*」")
    /// A word beside nothing but Japanese letters and signs.
    private static let value = try? NSRegularExpression(
        pattern: #"(?<![A-Za-z] |[A-Za-z])([a-z]+)(?![A-Za-z]| [A-Za-z])"#)

    /// Elements whose content is code, markup, or was written by people.
    private static let unread = [
        try? NSRegularExpression(
            pattern: #"<(code|script|style|bdi|textarea)\b[^>]*>.*?</\1>"#,
            options: .dotMatchesLineSeparators),
        try? NSRegularExpression(
            pattern: #"<(\w+)\b[^>]*\b(?:translate="no"|lang="(?!ja"))[^>]*>.*?</\1>"#,
            options: .dotMatchesLineSeparators),
    ]
    private static let tag = try? NSRegularExpression(pattern: #"<[^>]*>"#)
    private static let attribute = try? NSRegularExpression(
        pattern: #"\b(alt|aria-label|placeholder|title|data-say-\w+)="([^"]*)""#)
    private static let word = try? NSRegularExpression(
        pattern:
            #"(?<![A-Za-z0-9_@.:/#&-])[A-Za-z]?[a-z]{2,}(?![A-Za-z0-9_@.:/;-]*[A-Za-z0-9_@/-])"#)

    private static func replacing(
        _ pattern: NSRegularExpression?, in text: String, by other: String
    ) -> String {
        let whole = NSRange(location: 0, length: (text as NSString).length)
        return pattern?.stringByReplacingMatches(in: text, range: whole, withTemplate: other)
            ?? text
    }

    private static func matches(
        of pattern: NSRegularExpression, in text: String, group: Int
    ) -> [String] {
        let whole = NSRange(location: 0, length: (text as NSString).length)
        return pattern.matches(in: text, range: whole).map {
            (text as NSString).substring(with: $0.range(at: group))
        }
    }
}
