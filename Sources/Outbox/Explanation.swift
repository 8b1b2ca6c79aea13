import Foundation
package import Posts

/// What led to a decision, for people: stored with the action as JSON, shown by `explain`, `status` and the demo.
package struct Explanation: Codable, Equatable, Sendable {
    /// One plain sentence.
    package var summary: String
    /// How many archived texts were to choose from.
    package var pool: Int?
    /// Half the width of the time-of-day window in minutes.
    package var windowMinutes: Int?
    /// The day of the human's after which the minutes of the post's day were planned; nil where they were drawn one by one.
    package var pattern: Pattern?
    /// P(favorite)/P(normal).
    package var favoriteRate: Double?
    /// What the rate was compared with.
    package var threshold: Double?
    /// What the rate of a post would be, as a logarithm, of which nothing is known; nil where that was not noted.
    package var baseLogOdds: Double?
    /// What spoke most for or against a favorite, the strongest first, and at last the sum of all else.
    package var features: [Feature]?
    /// How far words, pairs of words and the author were believed; nil where nothing was learned of that.
    package var weights: Weights?
    /// How an old reply was chosen; nil for what is no reply, and where that was not noted.
    package var oldReply: OldReply?
    /// What the network said, where that ended the action.
    package var outcome: String?

    /// A day of the human's that a planned day takes after.
    package struct Pattern: Codable, Hashable, Sendable {
        package var day: LocalDay
        /// How many posts the human made on it.
        package var posts: Int

        package init(day: LocalDay, posts: Int) { (self.day, self.posts) = (day, posts) }

        /// As `like 2019-03-04, when the human posted 3 times`.
        package var inWords: String {
            let times = posts == 1 ? "once" : posts == 2 ? "twice" : "\(posts) times"
            return "like \(day), when the human posted \(times)"
        }
    }

    /// One feature's part in a favorite.
    package struct Feature: Codable, Equatable, Sendable {
        /// The word, two neighbouring words with a space between them, the hashtag, or the author with `@`.
        package var name: String
        /// What the feature adds to the logarithm of the favorite rate.
        package var logOdds: Double
        /// How many learned favorites had the feature then; nil where that was not noted.
        package var favorites: Int64?
        /// The same of other learned posts.
        package var normals: Int64?
        /// How many features this is the sum of, which are not told one by one; nil for a feature.
        package var sums: Int?

        package init(
            name: String, logOdds: Double, favorites: Int64? = nil, normals: Int64? = nil, sums: Int? = nil
        ) {
            (self.name, self.logOdds) = (name, logOdds)
            (self.favorites, self.normals, self.sums) = (favorites, normals, sums)
        }
    }

    /// How one of the old replies to a person was chosen for a mention.
    package struct OldReply: Codable, Equatable, Sendable {
        /// How many old replies to the person could be sent.
        package var replies: Int
        /// How many of those are short, ask nothing and name nobody else; where it is none, all were compared.
        package var plain: Int
        /// How many were as near to the mention as the chosen one, itself included.
        package var nearest: Int
        /// The likeness to the mention: from 0 for no common word to 1.
        package var likeness: Double
        /// Words that the mention has too, those first that say most; nil where there was no dictionary to find words.
        package var words: [String]?
        /// Whether these are words of the post that the reply once answered, and not of the reply.
        package var isByAnswered: Bool

        package init(
            replies: Int, plain: Int, nearest: Int = 1, likeness: Double = 0, words: [String]? = [],
            isByAnswered: Bool = false
        ) {
            (self.replies, self.plain, self.nearest) = (replies, plain, nearest)
            (self.likeness, self.words, self.isByAnswered) = (likeness, words, isByAnswered)
        }
    }

    /// Learned weights as they were when a favorite was decided.
    package struct Weights: Codable, Equatable, Sendable {
        /// The last batch of examples that they were fitted on.
        package var sequence: Int64
        /// How often the words that speak for a favorite count.
        package var wordsFor: Double
        /// The same of the words that speak against it.
        package var wordsAgainst: Double
        /// How often the pairs of neighbouring words that speak for a favorite count; nil where pairs are no features.
        package var pairsFor: Double?
        /// The same of the pairs that speak against it.
        package var pairsAgainst: Double?
        /// The same of the author.
        package var author: Double
        /// What they add to the logarithm of every rate.
        package var base: Double

        package init(
            sequence: Int64, wordsFor: Double, wordsAgainst: Double, pairsFor: Double? = nil,
            pairsAgainst: Double? = nil, author: Double, base: Double
        ) {
            (self.sequence, self.wordsFor, self.wordsAgainst) = (sequence, wordsFor, wordsAgainst)
            (self.pairsFor, self.pairsAgainst) = (pairsFor, pairsAgainst)
            (self.author, self.base) = (author, base)
        }
    }

    package init(
        _ summary: String, pool: Int? = nil, windowMinutes: Int? = nil, favoriteRate: Double? = nil,
        threshold: Double? = nil, baseLogOdds: Double? = nil, features: [Feature]? = nil, weights: Weights? = nil
    ) {
        self.summary = summary
        self.pool = pool
        self.windowMinutes = windowMinutes
        self.favoriteRate = favoriteRate
        self.threshold = threshold
        self.baseLogOdds = baseLogOdds
        self.features = features
        self.weights = weights
    }

    /// The explanation, with what the network said; without one before, that is also the summary.
    init(adding outcome: String, to explanation: Explanation?) {
        self = explanation ?? Explanation(outcome)
        self.outcome = outcome
    }

    /// Reads what is stored; nil for nothing, or for what was not stored by this type.
    init?(json: String?) {
        guard let json, let stored = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = stored
    }

    /// The explanation as it is stored; nil if one of its numbers is none.
    var json: String? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) }
    }
}
