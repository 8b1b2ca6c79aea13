package import Foundation
package import Posts

/// A past year as the human lived it, and as the mirror would have lived it.
package struct RehearsedYear: Encodable, Sendable {
    /// A post of one of the two.
    package struct Entry: Equatable, Sendable {
        package let minute: MinuteOfDay
        /// Nil for a text of the human's that is never to be said.
        package let text: String?
        package let language: String?
        /// Why the bot would have posted this text; nil for the human's posts.
        package let why: String?
    }

    /// One day of both.
    package struct Day: Equatable, Sendable {
        package let day: LocalDay
        /// The human's posts that answer nobody, in the order of time.
        package let human: [Entry]
        /// The bot's posts, in the order of time; slots without a text are none.
        package let bot: [Entry]
        /// Slots of the bot's for which there was no text.
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

    /// How alike two rows of days are, each part from 0 to 1, the same; nil where there is nothing
    /// to compare.
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
    /// The number from which another life was drawn; nil for the mirror's own.
    package let seed: UInt64?
    /// The human's posts before the year from which the mirror had learned when it began.
    package let postsBefore: Int
    package let days: [Day]
    package let human: Tally
    package let bot: Tally
    /// Slots of the bot's for which there was no text.
    package let withoutText: Int
    /// How alike the bot's days and the human's are.
    package let likeness: Likeness
    /// The same of the human's days just before the year, as many of them: what chance and change
    /// leave.
    package let ownLikeness: Likeness
    /// How often a stranger guesses right; nil for a year of too few weeks.
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
    /// One of the human's answers, and the mirror's simulated answer to the same mention.
    package struct Answer: Encodable, Equatable, Sendable {
        package let time: Date
        package let mention: String
        package let human: String
        /// `nil` for silence.
        package let bot: String?
        /// Whether the bot's text is the human's.
        package let isSame: Bool
        /// Whether it is of the same kind; nil where kinds are not known, and for silence.
        package let isOfKind: Bool?
        /// Whether it hardly fitted, so that `REPLIES` decided about it.
        package let isDoubtful: Bool
    }

    /// The human's answers to others in the year.
    package let answers: Int
    /// Those of them whose mention is known, and that were looked at.
    package let looked: [Answer]

    /// The answers to which the mirror would have said something by itself.
    package var answered: Int { looked.count { $0.bot != nil } }
    /// Those with the human's own text.
    package var same: Int { looked.count { $0.isSame } }
    /// Those in a language whose kinds are known.
    package var withKind: Int { looked.count { $0.isOfKind != nil } }
    /// Those with a reply of the human's kind.
    package var ofKind: Int { looked.count { $0.isOfKind == true } }
    /// The mentions to which the best old reply hardly fitted.
    package var doubtful: Int { looked.count { $0.isDoubtful } }

    private enum CodingKeys: CodingKey {
        case answers, lookedAt, answered, same, withKind, ofKind, doubtful, all
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(answers, forKey: .answers)
        try container.encode(looked.count, forKey: .lookedAt)
        try container.encode(answered, forKey: .answered)
        try container.encode(same, forKey: .same)
        try container.encode(withKind, forKey: .withKind)
        try container.encode(ofKind, forKey: .ofKind)
        try container.encode(doubtful, forKey: .doubtful)
        try container.encode(looked, forKey: .all)
    }
}

/// The posts of the home timeline that the mirror would have favorited.
package struct RehearsedFavorites: Encodable, Sendable {
    /// A post that the bot or the human would have favorited, or both.
    package struct Choice: Encodable, Equatable, Sendable {
        package let author: String?
        package let text: String
        package let isHumans: Bool
        package let isBots: Bool
    }

    /// Posts that the mirror had learned when the year began.
    package let learnedBefore: Int
    package let scores: FavoriteScores
    /// All that one of the two favorited, in the order in which the posts came.
    package let choices: [Choice]
}
