package import Conduct
import Favorites
package import Posts

/// Scores old replies to a person as answers to a mention.
///
/// The score is `words + 0.3 · kind + centre`; see `ReplyScore`. How much a word says is told by
/// all old replies to the person, the kinds and the centre by `ReplyHabits`.
package struct ReplyScorer: Sendable {
    /// How many replies are scored before other tasks may go on.
    private static let portion = 50

    private let habits: ReplyHabits

    package init(habits: ReplyHabits) { self.habits = habits }

    /// A text with its language tag and its words; it has none where there is no dictionary.
    package struct Text: Sendable {
        package let text: String
        package let language: String?
        package let words: WordLikeness.Words

        package init(_ text: String, language: String?, words: WordLikeness.Words) {
            self.text = text
            self.language = language
            self.words = words
        }
    }

    /// One of the human's old replies to the person.
    package struct Reply: Sendable {
        package let id: PostID
        package let reply: Text
        /// The words of the post that it answered; nil if it is not known.
        package let answered: WordLikeness.Words?
        /// Whether it is scored; all others only tell how much a word says.
        package let isScored: Bool

        package init(
            _ id: PostID, _ reply: Text, answered: WordLikeness.Words?, isScored: Bool = true
        ) {
            self.id = id
            self.reply = reply
            self.answered = answered
            self.isScored = isScored
        }
    }

    /// A score and how it came about.
    package struct Scored: Sendable {
        package var score = ReplyScore()
        /// The telling words that met, the most significant first.
        package var common: [String] = []
        /// Whether the words are those of the post that the reply once answered.
        package var isByAnswered = false

        package init() {}
    }

    /// Returns the scores of the replies that are scored.
    ///
    /// - Parameter replies: All old replies to the person.
    package func scores(of replies: [Reply], for mention: Text) async -> [PostID: Scored] {
        let likeness = WordLikeness(replies.map(\.reply.words))
        var telling = TellingWords(habits: habits)
        let asked = likeness.vector(telling.of(mention.words))
        let kind = habits.kind(ofMention: mention.text, language: mention.language)
        var scores: [PostID: Scored] = [:]
        for (index, reply) in replies.enumerated() where reply.isScored {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            let compared = likeness.vector(telling.of(reply.answered ?? reply.reply.words))
            var scored = Scored()
            (scored.score.words, scored.common) = WordLikeness.compare(asked, compared)
            scored.isByAnswered = reply.answered != nil
            scored.score.centre = habits.centre(of: reply.id, reply.reply.words)
            if let found = habits.kinds(
                of: reply.reply.text, language: reply.reply.language, after: kind)
            {
                scored.score.kinds = found.kinds
                scored.score.kind = found.logOdds
            }
            scores[reply.id] = scored
        }
        return scores
    }

    /// Finds the words that say something: no signs, no small words of a language, none that the
    /// human uses all the time.
    ///
    /// Each word is looked up once.
    private struct TellingWords {
        let habits: ReplyHabits
        private var known: [String: Bool] = [:]

        init(habits: ReplyHabits) { self.habits = habits }

        mutating func of(_ words: WordLikeness.Words) -> WordLikeness.Words {
            words.filter { word, _ in
                if let isTelling = known[word] { return isTelling }
                let isTelling = habits.isTelling(word) && !SmallFeatures.contains(word)
                known[word] = isTelling
                return isTelling
            }
        }
    }
}
