package import Conduct
import Favorites
package import Posts

/// Scores old replies to a person as answers to a mention.
///
/// The score is `words + 0.3 · kind + centre`; see `ReplyScore`. All old replies to the person
/// determine the weight of a word; `ReplyHabits` determines the kinds and the centre.
package struct ReplyScorer: Sendable {
    /// Replies that are scored before other tasks may run.
    private static let portion = 50

    private let habits: ReplyHabits

    package init(habits: ReplyHabits) { self.habits = habits }

    /// A text with its language tag and its words; without a dictionary it has no words.
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
        /// The words of the post that it answered; nil if they are not known.
        package let answered: WordLikeness.Words?
        /// Whether it is scored; the others only help to weigh the words.
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

    /// A score with its reasons.
    package struct Scored: Sendable {
        package var score = ReplyScore()
        /// The significant words that both texts have, the most significant first.
        package var common: [String] = []
        /// Whether the words were compared with the post that the reply once answered.
        package var isByAnswered = false

        package init() {}
    }

    /// Returns the scores of those replies that are to be scored.
    ///
    /// - Parameter replies: All old replies to the person.
    package func scores(of replies: [Reply], for mention: Text) async -> [PostID: Scored] {
        let likeness = WordLikeness(replies.map(\.reply.words))
        var telling = TellingWords(habits: habits)
        let mentionVector = likeness.vector(telling.filter(mention.words))
        let kind = habits.kind(ofMention: mention.text, language: mention.language)
        var scores: [PostID: Scored] = [:]
        for (index, reply) in replies.enumerated() where reply.isScored {
            if index % Self.portion == Self.portion - 1 { await Task.yield() }
            let replyVector = likeness.vector(telling.filter(reply.answered ?? reply.reply.words))
            var scored = Scored()
            (scored.score.words, scored.common) = WordLikeness.compare(mentionVector, replyVector)
            scored.isByAnswered = reply.answered != nil
            scored.score.centre = habits.centre(of: reply.id, reply.reply.words)
            if let scoredKinds = habits.kinds(
                of: reply.reply.text, language: reply.reply.language, after: kind)
            {
                scored.score.kinds = scoredKinds.kinds
                scored.score.kind = scoredKinds.logOdds
            }
            scores[reply.id] = scored
        }
        return scores
    }

    /// Finds the significant words: no signs, no function words, and none that the human uses all
    /// the time.
    ///
    /// Each word is looked up once.
    private struct TellingWords {
        let habits: ReplyHabits
        private var isTellingWord: [String: Bool] = [:]

        init(habits: ReplyHabits) { self.habits = habits }

        mutating func filter(_ words: WordLikeness.Words) -> WordLikeness.Words {
            words.filter { word, _ in
                if let isTelling = isTellingWord[word] { return isTelling }
                let isTelling = habits.isSignificant(word) && !SmallFeatures.contains(word)
                isTellingWord[word] = isTelling
                return isTelling
            }
        }
    }
}
