import Localization

/// Sentences that a worker stored in English, in the language of the task that shows them.
package enum StoredText {
    /// Returns a sentence in English, whatever the language of the present task, to be stored for
    /// readers of any language.
    static func inEnglish<Text>(_ sentence: () -> Text) -> Text {
        Language.$current.withValue(.english, operation: sentence)
    }

    /// Returns a stored sentence in the language of the present task.
    ///
    /// The English text is compared with the table of translations: as a whole, then with the
    /// sentences that have values, where a value may be such a sentence, too. Of several that fit,
    /// the one with the longest text of its own is taken.
    ///
    /// - Returns: The text as it is stored if it is none of these sentences.
    package static func inWords(_ text: String) -> String {
        Language.current == .english ? text : inWords(text, depth: 0)
    }

    private static func inWords(_ text: String, depth: Int) -> String {
        let translation = LocalizedText(key: text).description
        if translation != text || depth == deepest { return translation }
        func filled(_ patterns: [Pattern]) -> String? {
            for pattern in patterns {
                guard let values = pattern.values(of: text) else { continue }
                let shown = values.map { inWords($0, depth: depth + 1) }
                return LocalizedText(key: pattern.key, values: shown).description
            }
            return nil
        }
        if let whole = filled(patterns.beginning) { return whole }
        let clauses = text.split(separator: "; ").map(String.init)
        if clauses.count > 1 {
            return clauses.map { inWords($0, depth: depth + 1) }.joined(by: .semicolon)
        }
        return filled(patterns.others) ?? text
    }

    /// The most sentences within each other.
    private static let deepest = 8

    /// The fewest letters of a pattern besides its values: shorter ones fit by chance.
    private static let shortest = 5

    /// The sentences with values in the table of translations, the longest first: those that begin
    /// with a text of their own, and the others.
    private static let patterns: (beginning: [Pattern], others: [Pattern]) = {
        let all = Translations.table(of: .japanese).keys.compactMap(Pattern.init)
        let longest = all.filter { $0.length >= shortest }.sorted {
            ($1.length, $0.key) < ($0.length, $1.key)
        }
        return (
            longest.filter { !$0.literals[0].isEmpty }, longest.filter { $0.literals[0].isEmpty }
        )
    }()

    /// A sentence with values.
    struct Pattern {
        /// The sentence with numbered placeholders.
        let key: String
        /// The parts before, between and behind the placeholders.
        fileprivate let literals: [Substring]
        /// The number of letters of these parts.
        fileprivate let length: Int

        /// - Returns: nil for a sentence without placeholders.
        init?(_ key: String) {
            var literals: [Substring] = []
            var rest = Substring(key)
            while let placeholder = rest.firstRange(of: "{\(literals.count)}") {
                literals.append(rest[..<placeholder.lowerBound])
                rest = rest[placeholder.upperBound...]
            }
            guard !literals.isEmpty else { return nil }
            self.key = key
            self.literals = literals + [rest]
            length = self.literals.joined().count { $0.isLetter }
        }

        /// Returns the values that make a text of the pattern, in the order of the placeholders;
        /// nil for another text.
        ///
        /// Each value is as short as possible, and none is empty.
        func values(of text: String) -> [String]? {
            guard text.hasPrefix(literals[0]) else { return nil }
            var rest = text.dropFirst(literals[0].count)
            var values: [String] = []
            for literal in literals.dropFirst().dropLast() {
                guard let end = rest.dropFirst().firstRange(of: literal) else { return nil }
                values.append(String(rest[..<end.lowerBound]))
                rest = rest[end.upperBound...]
            }
            let end = literals[literals.count - 1]
            guard rest.count > end.count, rest.hasSuffix(end) else { return nil }
            return values + [String(rest.dropLast(end.count))]
        }
    }
}

extension StoredText {
    /// The sentences with values that are written in English where they are stored, so that a test
    /// finds their translations.
    static let explanations: [LocalizedText] = {
        let value = ""
        return [
            LocalizedText("used for want of others: \(value)"),
            LocalizedText("sent again: \(value)"),
            LocalizedText("no answer came, and \(value)"),
            LocalizedText(
                "with fewer than \(value) plain ones left, of all that stand for themselves"),
            LocalizedText(
                "with fewer than \(value) that stand for themselves, also of those that name a day"),
            LocalizedText(
                "with fewer than \(value) that stand for themselves, also of those that name a day or speak to somebody"
            ),
            LocalizedText("plain, \(value)"),
            LocalizedText("\(value), younger than wished"),
            LocalizedText("\(value) and \(value) days of the text before"),
            LocalizedText("\(value) within \(value) minutes of \(value)"),
            LocalizedText("\(value) of any time of day"),
            LocalizedText("\(value) whose time of day was lost, for there is no other"),
            LocalizedText("one of \(value) texts"),
            LocalizedText("goes on from \(value)"),
            LocalizedText("the network shows no more than the newest \(value)"),
            LocalizedText(
                "it waits until \(value), for the network takes no more requests before"),
        ]
    }()

    /// The sentences without a value that are written where they are stored, so that a test finds
    /// their translations.
    static let constants = [
        LocalizedText("the only text"),
        LocalizedText("the least recently used text, since all were used lately"),
        LocalizedText("chosen by a person"),
        LocalizedText("moved by a person"),
        LocalizedText("the mirror's last post"),
        LocalizedText("found at the network after a restore"),
        LocalizedText("the human favorites posts like this one"),
        LocalizedText(
            "the human favorites posts like this one; the network does not let software give favorites, so do it by hand"
        ),
        LocalizedText(
            "the human favorites posts like this one; the author has not asked for the bot's attention"
        ),
        LocalizedText("the author asked the bot to stop, and is told once that it was understood"),
        LocalizedText("the answer to the first request was lost"),
        LocalizedText("no answer came, and the network does not show it"),
        LocalizedText("the network could not be asked for a day"),
        LocalizedText("no pictures are sent"),
        LocalizedText("the human's past is not known yet"),
        LocalizedText("other threads took their time"),
        LocalizedText("what is below it cannot be decided yet"),
        LocalizedText("the server repeats its pages"),
        LocalizedText("it is gone"),
        LocalizedText("its name cannot be stored"),
        LocalizedText("X withholds it"),
        LocalizedText("it is not as posts are"),
        LocalizedText("it has no text or no author"),
        LocalizedText("its author cannot be told"),
        LocalizedText("its record is not as posts are"),
        LocalizedText("it is not as the feed's items are"),
        LocalizedText("it is larger than an answer may be"),
        LocalizedText("the favorite does not tell of what"),
        LocalizedText("it is no notification"),
        LocalizedText("the mention has no post"),
    ]
}
