package import Foundation
package import Posts

/// A past year of the human, beside the same year as the mirror would have lived it.
package struct RehearsedYear: Encodable, Sendable {
    /// A post of the human or the bot.
    package struct Entry: Equatable, Sendable {
        package let minute: MinuteOfDay
        /// The text; nil for a text of the human that a person has excluded.
        package let text: String?
        package let language: String?
        /// The explanation of the bot's choice; nil for the human's posts.
        package let why: String?
    }

    /// One day of the human and of the bot.
    package struct Day: Equatable, Sendable {
        package let day: LocalDay
        /// The human's posts without replies, in the order of time.
        package let human: [Entry]
        /// The bot's posts, in the order of time, without slots for which no text was found.
        package let bot: [Entry]
        /// The number of the bot's slots for which no text was found.
        package let withoutText: Int
    }

    /// The year's posting counts of the human or the bot.
    package struct Tally: Encodable, Equatable, Sendable {
        package let posts: Int
        package let daysWithPosts: Int

        init(_ days: [[Entry]]) {
            posts = days.reduce(0) { $0 + $1.count }
            daysWithPosts = days.count { !$0.isEmpty }
        }
    }

    /// The similarity of two series of days, in several respects: each from 0 (nothing in common)
    /// to 1 (equal days); nil if there is nothing to compare.
    package struct Likeness: Encodable, Equatable, Sendable {
        package let hours: Double?
        package let postsPerDay: Double?
        package let firstPost: Double?
        package let gaps: Double?
        package let weekTotals: Double?

        init(_ distance: Rhythm.Distance) {
            hours = distance.hours.map { 1 - $0 }
            postsPerDay = distance.dailyCounts.map { 1 - $0 }
            firstPost = distance.firstMinutes.map { 1 - $0 }
            gaps = distance.gaps.map { 1 - $0 }
            weekTotals = distance.weekTotals.map { 1 - $0 }
        }
    }

    package private(set) var schema = "mirror-bot/rehearse/1"
    package let mirror: String
    package let year: Int
    package let timeZone: String
    /// The seed of an alternative simulation; nil for the mirror's own seed.
    package let seed: UInt64?
    /// The number of the human's posts before the year, which the mirror had learned when the year
    /// began.
    package let postsBefore: Int
    package let days: [Day]
    package let human: Tally
    package let bot: Tally
    /// The number of the bot's slots for which no text was found.
    package let withoutText: Int
    /// The similarity of the bot's days to the human's.
    package let likeness: Likeness
    /// The similarity of the human's days to the same number of days just before the year.
    ///
    /// It is less than 1 because of chance, and because people change.
    package let ownLikeness: Likeness
    /// How often a simulated stranger recognizes whose week it is; nil for a year of too few weeks.
    package let judge: WeekJudge?
    package let replies: ScoreReport.Part<RehearsedReplies>
    package let favorites: ScoreReport.Part<RehearsedFavorites>

    init(
        mirror: String, year: Int, timeZone: String, seed: UInt64?, postsBefore: Int, days: [Day],
        ownLikeness: Likeness, replies: ScoreReport.Part<RehearsedReplies>,
        favorites: ScoreReport.Part<RehearsedFavorites>
    ) {
        self.mirror = mirror
        self.year = year
        self.timeZone = timeZone
        self.seed = seed
        self.postsBefore = postsBefore
        self.days = days
        self.ownLikeness = ownLikeness
        self.replies = replies
        self.favorites = favorites
        human = Tally(days.map(\.human))
        bot = Tally(days.map(\.bot))
        withoutText = days.reduce(0) { $0 + $1.withoutText }
        let minutes = (
            human: days.map { $0.human.map(\.minute) }, bot: days.map { $0.bot.map(\.minute) }
        )
        likeness = Likeness(Rhythm(days: minutes.bot).distance(to: Rhythm(days: minutes.human)))
        judge = days.first.flatMap { first in
            WeekJudge(
                human: minutes.human, bot: minutes.bot, firstWeekday: first.day.weekday,
                seed: StableHash.seed(of: [
                    "rehearse/judge", mirror, "\(year)", seed.map(String.init) ?? "",
                ]))
        }
    }
}

extension RehearsedYear.Day: Encodable {
    private enum CodingKeys: CodingKey { case day, human, bot, withoutText }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(day, forKey: .day)
        try container.encode(human, forKey: .human)
        try container.encode(bot, forKey: .bot)
        try container.encode(withoutText, forKey: .withoutText)
    }
}

extension RehearsedYear.Entry: Encodable {
    private enum CodingKeys: CodingKey { case time, text, why }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(minute)", forKey: .time)
        try container.encode(text, forKey: .text)
        try container.encodeIfPresent(why, forKey: .why)
    }
}

/// The mirror's simulated answers to the mentions that the human answered.
package struct RehearsedReplies: Encodable, Equatable, Sendable {
    /// One of the human's replies, and the mirror's simulated reply to the same mention.
    package struct Answer: Encodable, Equatable, Sendable {
        package let time: Date
        package let mention: String
        package let human: String
        /// The mirror's reply; `nil` if it would have sent none.
        package let bot: String?
        /// Whether the bot's reply has the text of the human's.
        package let isSame: Bool
        /// Whether both replies are of the same kind; nil if a kind is unknown, or if the bot would
        /// have sent no reply.
        package let isOfKind: Bool?
        /// Whether the chosen reply had a low score, so that the setting `REPLIES` decides whether
        /// it is sent.
        package let isDoubtful: Bool
    }

    /// The number of the human's replies to others in the year.
    package let answers: Int
    /// The human's replies whose mention is known, each with the simulated reply of the mirror.
    package let simulated: [Answer]

    /// The number of mentions that the mirror would have answered without a person's decision.
    package var answered: Int { simulated.count { $0.bot != nil } }
    /// The number of replies with the human's own text.
    package var same: Int { simulated.count { $0.isSame } }
    /// The number of mentions for which the kinds of both replies are known.
    package var kindKnown: Int { simulated.count { $0.isOfKind != nil } }
    /// The number of replies of the same kind as the human's.
    package var sameKind: Int { simulated.count { $0.isOfKind == true } }
    /// The number of mentions for which the best old reply had a low score.
    package var doubtful: Int { simulated.count { $0.isDoubtful } }

    private enum CodingKeys: String, CodingKey {
        case answers, lookedAt, answered, same, doubtful, all
        case kindKnown = "withKind"
        case sameKind = "ofKind"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(answers, forKey: .answers)
        try container.encode(simulated.count, forKey: .lookedAt)
        try container.encode(answered, forKey: .answered)
        try container.encode(same, forKey: .same)
        try container.encode(kindKnown, forKey: .kindKnown)
        try container.encode(sameKind, forKey: .sameKind)
        try container.encode(doubtful, forKey: .doubtful)
        try container.encode(simulated, forKey: .all)
    }
}

/// The posts of the home timeline that the mirror would have favorited.
package struct RehearsedFavorites: Encodable, Sendable {
    /// A post that the human favorited, or that the bot would have favorited, or both.
    package struct Choice: Encodable, Equatable, Sendable {
        package let author: String?
        package let text: String
        package let isHumans: Bool
        package let isBots: Bool
    }

    /// The number of posts that the mirror had learned when the year began.
    package let learnedBefore: Int
    package let scores: FavoriteScores
    /// All posts that the human or the bot favorited, in the order in which the posts appeared.
    package let choices: [Choice]
}
