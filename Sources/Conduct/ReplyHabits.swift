import Foundation
package import Posts

/// Statistics of the human's replies to anybody, by which old replies are scored as answers to a
/// mention: frequent words, pairs of kinds, and the mean of short replies.
package struct ReplyHabits: Sendable {
    /// The maximum number of replies that are read, the newest first.
    package static let mostReplies = 2_000
    /// With fewer replies to known mentions in a language, its shipped table is used.
    package static let fewestOwnAnswers = 200
    /// The maximum number of words that are ignored because they are frequent.
    private static let maximumFrequentWords = 100
    /// The largest share of the distinct words that count as frequent.
    ///
    /// Without this limit all words of a human with few replies would be frequent.
    private static let frequentShare = 0.02
    /// A word in fewer replies is not frequent, so that a small archive keeps some significant
    /// words.
    private static let fewestOfFrequentWord = 10

    /// One of the human's replies.
    package struct Reply: Sendable {
        package let id: PostID
        package let text: String
        /// The language tag of the post.
        package let language: String?
        /// The words of the text; empty if there is no dictionary.
        package let words: WordLikeness.Words
        /// The text of the post that it answered; nil if unknown.
        package let answered: String?

        package init(
            id: PostID, text: String, language: String?, words: WordLikeness.Words,
            answered: String?
        ) {
            self.id = id
            self.text = text
            self.language = language
            self.words = words
            self.answered = answered
        }
    }

    private let kinds: ReplyKinds
    /// The pairs of kinds in the human's replies, by the mention's language.
    private let tables: [ReplyKinds.Language: KindTable]
    private let likeness: WordLikeness
    private let sumOfShortReplies: WordLikeness.Sum
    /// The replies that are short enough for the ``ReplyFilter``.
    private let shortReplies: Set<PostID>
    private let frequentWords: Set<String>

    /// - Parameter replies: The human's replies to anybody.
    package init(_ replies: [Reply] = [], kinds: ReplyKinds = .standard) {
        self.kinds = kinds
        let short = replies.filter { Self.isShort($0.text) }
        shortReplies = Set(short.map(\.id))
        likeness = WordLikeness(short.map(\.words))
        var sum = WordLikeness.Sum()
        for reply in short { sum.add(likeness.vector(reply.words)) }
        sumOfShortReplies = sum
        frequentWords = Self.frequentWords(of: replies)
        tables = Self.tables(of: replies, kinds)
    }

    /// Whether a text is at most as long as the longest reply that passes the ``ReplyFilter``.
    private static func isShort(_ text: String) -> Bool {
        TextCleaning.withoutLeadingMentions(TextCleaning.normalized(text)).count
            <= ReplyFilter.longestReply
    }

    private static func frequentWords(of replies: [Reply]) -> Set<String> {
        var counts: [String: Int] = [:]
        for reply in replies {
            for word in reply.words.keys { counts[word, default: 0] += 1 }
        }
        let frequent = counts.filter { $0.value >= fewestOfFrequentWord }
            .sorted { left, right in
                left.value == right.value ? left.key < right.key : left.value > right.value
            }
        let limit = min(maximumFrequentWords, Int(Double(counts.count) * frequentShare))
        return Set(frequent.prefix(limit).map(\.key))
    }

    private static func tables(of replies: [Reply], _ kinds: ReplyKinds) -> [ReplyKinds.Language:
        KindTable]
    {
        var tables: [ReplyKinds.Language: KindTable] = [:]
        for reply in replies {
            // The language tag of the answered post is not stored; people mostly answer in the
            // language of the question.
            guard let answered = reply.answered,
                let mentionLanguage = ReplyKinds.Language(of: answered, tag: reply.language),
                let replyLanguage = ReplyKinds.Language(of: reply.text, tag: reply.language)
            else { continue }
            tables[mentionLanguage, default: KindTable()].add(
                kinds.mention(answered, in: mentionLanguage),
                kinds.reply(reply.text, in: replyLanguage))
        }
        return tables.filter { $0.value.total >= fewestOwnAnswers }
    }

    /// Whether a word is significant: it is not one of the most frequent words.
    package func isSignificant(_ word: String) -> Bool { !frequentWords.contains(word) }

    /// Returns the mean likeness of a reply to the human's other short replies.
    package func centre(of id: PostID, _ words: WordLikeness.Words) -> Double {
        sumOfShortReplies.likeness(
            to: likeness.vector(words), isIncluded: shortReplies.contains(id))
    }

    /// The kind of a mention, and the mention's language.
    package typealias Asked = (kind: ReplyKinds.Mention, language: ReplyKinds.Language)

    /// Returns the kind of a mention and its language; nil for a language without kinds.
    package func kind(ofMention text: String, language tag: String?) -> Asked? {
        ReplyKinds.Language(of: text, tag: tag).map { (kinds.mention(text, in: $0), $0) }
    }

    /// Returns the kinds of a mention and a reply, and the logarithm of how many times more likely
    /// than usual that pair is.
    package func kinds(
        of text: String, language tag: String?, after asked: Asked?
    ) -> (kinds: ReplyScore.Kinds, logOdds: Double)? {
        guard let asked, let language = ReplyKinds.Language(of: text, tag: tag) else { return nil }
        let pair = ReplyScore.Kinds(asked.kind, kinds.reply(text, in: language))
        let table = tables[asked.language] ?? kinds.answers(in: asked.language)
        return (pair, table.logOdds(of: pair.reply, after: pair.mention))
    }
}
