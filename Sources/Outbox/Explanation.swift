package import Foundation
import Localization
package import Posts

/// The reasons of a decision, for people: stored with the action as JSON, shown by `explain`,
/// `status` and the demo.
package struct Explanation: Codable, Equatable, Sendable {
    /// One plain sentence.
    package var summary: String
    /// The number of archived texts to choose from.
    package var pool: Int?
    /// Half the width of the time-of-day window in minutes.
    package var windowMinutes: Int?
    /// The human's day that the planned day copies; nil if minutes were drawn one by one.
    package var pattern: Pattern?
    /// The odds of a favorite: P(favorite)/P(normal).
    package var favoriteRate: Double?
    /// The threshold of the favorite rate.
    package var threshold: Double?
    /// The logarithm of the rate of a post without known features; nil if not recorded.
    package var baseLogOdds: Double?
    /// The features with the strongest influence first, and finally the sum of all others.
    package var features: [Feature]?
    /// The learned weights of the kinds of features; nil if there were none.
    package var weights: Weights?
    /// The choice of an old reply; nil for other kinds, or if not recorded.
    package var oldReply: OldReply?
    /// Whether the action confirms a person's request to stop; nil for no.
    package var confirmsStop: Bool?
    /// The planned time of a slot that a person moved without choosing its text; nil for others.
    package var movedFrom: Date?
    /// The network's answer, if it ended the action.
    package var outcome: String?

    /// A day of the human's that a planned day copies.
    package struct Pattern: Codable, Hashable, Sendable {
        package var day: LocalDay
        /// The number of the human's posts on that day.
        package var posts: Int

        package init(day: LocalDay, posts: Int) {
            self.day = day
            self.posts = posts
        }

        /// A phrase such as `like 2019-03-04, when the human posted 3 times`.
        package var inWords: String {
            switch posts {
            case 1: localized("like \(day), when the human posted once")
            case 2: localized("like \(day), when the human posted twice")
            default: localized("like \(day), when the human posted \(posts) times")
            }
        }
    }

    /// The contribution of one feature to a favorite.
    package struct Feature: Codable, Equatable, Sendable {
        /// The word, two neighbouring words with a space between them, the hashtag, or the author
        /// with `@`.
        package var name: String
        /// Its summand in the logarithm of the favorite rate.
        package var logOdds: Double
        /// The number of learned favorites with the feature at that time; nil if not recorded.
        package var favorites: Int64?
        /// The number of other learned posts with the feature at that time; nil if not recorded.
        package var normals: Int64?
        /// The number of features in this sum; nil for a single feature.
        package var sums: Int?
        /// The group of the feature; `nil` if not recorded.
        package var group: Group?

        /// A group of features that are shown together.
        package enum Group: String, Codable, CaseIterable, Sendable {
            /// Words, pairs of words and hashtags.
            case words
            case author
            /// Runs of letters.
            case spelling
            /// The length of the text and its signs besides words.
            case form
        }

        /// The name in the language of the present task; a sum is stored by its name in English.
        package var shownName: String {
            let number = sums.map { " (\($0))" }
            guard let sums, let number, name.hasSuffix(number) else { return name }
            let things = LocalizedText(key: String(name.dropLast(number.count)))
            return localized("\(things) (\(sums))")
        }

        package init(
            name: String, logOdds: Double, favorites: Int64? = nil, normals: Int64? = nil,
            sums: Int? = nil,
            group: Group? = nil
        ) {
            self.name = name
            self.logOdds = logOdds
            self.favorites = favorites
            self.normals = normals
            self.sums = sums
            self.group = group
        }
    }

    /// The choice of an old reply to a person for a mention.
    package struct OldReply: Codable, Equatable, Sendable {
        /// The number of old replies to the person that could be sent.
        package var replies: Int
        /// The number of these old replies that are short, ask nothing and name no other person; if
        /// it is 0, all were compared.
        package var plain: Int
        /// The number of replies with the same score as the chosen one, including it.
        package var nearest: Int
        /// The likeness to the mention: from 0, for no common significant word, to 1.
        package var likeness: Double
        /// Significant words shared with the mention, the most significant first; nil without a
        /// dictionary.
        package var words: [String]?
        /// Whether the words are from the post that the reply once answered, instead of from the
        /// reply.
        package var isByAnswered: Bool
        /// The summands of the score besides the likeness; nil if not recorded.
        package var score: Score?

        /// The reasons why one reply was better than others.
        package struct Score: Codable, Equatable, Sendable {
            /// The logarithm of how many times more likely than usual a reply of this kind is after
            /// a mention of that kind.
            package var kind: Double
            /// The mean likeness to the human's other short replies.
            package var centre: Double
            package var total: Double
            /// The kind of the mention; nil in a language without kinds.
            package var mention: String?
            /// The kind of the reply.
            package var reply: String?
            /// The largest summand: `words`, `kind` or `centre`; nil if none is above 0.
            package var largest: String?

            package init(
                kind: Double, centre: Double, total: Double, mention: String? = nil,
                reply: String? = nil,
                largest: String? = nil
            ) {
                self.kind = kind
                self.centre = centre
                self.total = total
                self.mention = mention
                self.reply = reply
                self.largest = largest
            }
        }

        package init(
            replies: Int, plain: Int, nearest: Int = 1, likeness: Double = 0, words: [String]? = [],
            isByAnswered: Bool = false
        ) {
            self.replies = replies
            self.plain = plain
            self.nearest = nearest
            self.likeness = likeness
            self.words = words
            self.isByAnswered = isByAnswered
        }
    }

    /// The learned weights at the time of a decision.
    package struct Weights: Codable, Equatable, Sendable {
        /// The number of the last batch of examples from which the weights were learned.
        package var sequence: Int64
        /// The weight of words in favor.
        package var wordsFor: Double
        /// The weight of words against.
        package var wordsAgainst: Double
        /// The weight of pairs of neighbouring words in favor; nil if pairs are no features.
        package var pairsFor: Double?
        /// The weight of pairs against.
        package var pairsAgainst: Double?
        /// The weight of runs of letters in favor; nil if they are not used as features.
        package var spellingFor: Double?
        /// The weight of runs of letters against.
        package var spellingAgainst: Double?
        /// The weight of the text's form in favor; nil if it is not used as a feature.
        package var formFor: Double?
        /// The weight of the text's form against.
        package var formAgainst: Double?
        /// The weight of the author.
        package var author: Double
        /// The constant summand in the logarithm of every rate.
        package var base: Double

        package init(
            sequence: Int64, wordsFor: Double, wordsAgainst: Double, pairsFor: Double? = nil,
            pairsAgainst: Double? = nil, spellingFor: Double? = nil, spellingAgainst: Double? = nil,
            formFor: Double? = nil, formAgainst: Double? = nil, author: Double, base: Double
        ) {
            self.sequence = sequence
            self.wordsFor = wordsFor
            self.wordsAgainst = wordsAgainst
            self.pairsFor = pairsFor
            self.pairsAgainst = pairsAgainst
            self.spellingFor = spellingFor
            self.spellingAgainst = spellingAgainst
            self.formFor = formFor
            self.formAgainst = formAgainst
            self.author = author
            self.base = base
        }
    }

    package init(
        _ summary: String, pool: Int? = nil, windowMinutes: Int? = nil, favoriteRate: Double? = nil,
        threshold: Double? = nil, baseLogOdds: Double? = nil, features: [Feature]? = nil,
        weights: Weights? = nil
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

    /// Returns the explanation with the network's answer, which is also the summary if there was
    /// none.
    init(adding outcome: String, to explanation: Explanation?) {
        self = explanation ?? Explanation(outcome)
        self.outcome = outcome
    }

    /// Parses the stored explanation; nil if there is none, or if this type did not write it.
    init?(json: String?) {
        guard let json, let stored = try? JSONDecoder().decode(Self.self, from: Data(json.utf8))
        else { return nil }
        self = stored
    }

    /// The explanation in its stored form; nil if one of its numbers is NaN or infinite.
    var json: String? { StoredJSON.text(of: self) }
}
