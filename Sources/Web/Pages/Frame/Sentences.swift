import Localization

/// Joins sentences and the items of lists as the language of the present task does.
enum Sentences {
    /// Returns sentences as one text.
    static func joined(_ sentences: [String]) -> String {
        switch Language.current {
        case .english: sentences.joined(separator: " ")
        case .japanese: sentences.joined()
        }
    }

    /// Returns items with commas between them.
    static func list(_ items: some Sequence<String>) -> String {
        items.joined(separator: localized(", "))
    }

    /// Returns a text without a full stop as a sentence, with a capital first letter.
    static func ended(_ text: String) -> String { localized("\(Words.capitalized(text)).") }
}
