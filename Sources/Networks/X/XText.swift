import Posts

/// What X does to texts, and undoing it.
enum XText {
    /// The beginning of every address that X puts in place of a link.
    static let shortLink = "https://t.co/"

    /// The text of a reply without the names that it begins with, which X puts there to address it.
    static func withoutLeadingMentions(_ text: String) -> String {
        var rest = text[...]
        while rest.first == "@" {
            let name = rest.dropFirst().prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            let after = rest[name.endIndex...]
            guard !name.isEmpty, after.first?.isWhitespace ?? true else { break }
            rest = after.drop(while: \.isWhitespace)
        }
        return String(rest)
    }
}
