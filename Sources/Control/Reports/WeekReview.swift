import Archive
package import Foundation
package import Mirroring
import Outbox
package import Posts
import Schedule
import Settings

/// The last seven days of a mirror: its posts, the likeness of its hours to the human's, its most
/// answered reply, and the post that stands out.
package struct WeekReview: Equatable, Sendable {
    /// The number of days, today included.
    package static let length = 7

    /// One day, with the bot's number of posts and the human's usual number.
    package struct Day: Equatable, Sendable {
        package let day: LocalDay
        package let posts: Int
        /// The human's posts on such a weekday, on average; `nil` without any post of theirs.
        package let usual: Double?
    }

    /// A reply with the number of answers to it that the bot has read.
    package struct AnsweredReply: Equatable, Sendable {
        package let reply: ReportedAction
        package let answers: Int
    }

    /// A post that differs from the others.
    package struct OddPost: Equatable, Sendable {
        package enum Reason: Equatable, Sendable {
            /// The text was written at a time of day far from that at which it was posted.
            case written(at: MinuteOfDay)
            /// The human hardly ever posts in this hour.
            case hour(share: Double)
            /// No other post of the week has its language.
            case language(String)
        }

        package let post: ReportedAction
        package let reason: Reason
    }

    /// The days, oldest first.
    package let days: [Day]
    /// The likeness of the hours of the week's posts to the human's.
    package let likeness: StatsReport.Likeness
    /// The posts, oldest first.
    package let posts: [ReportedAction]
    /// The number of replies that were sent.
    package let replies: Int
    /// The number of favorites that were given.
    package let favorites: Int
    /// The reply with the most answers; `nil` if the bot read no answer to a reply of this week.
    package let mostAnswered: AnsweredReply?
    /// The post that stands out; `nil` if none does.
    package let odd: OddPost?
}

extension WeekReview {
    /// The most replies and favorites of the week that are read.
    private static let repliesRead = 500

    /// Reads the last seven days.
    ///
    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's time zone.
    ///   - now: The present.
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, zone: TimeZone, now: Date) async throws {
        let outbox = mirror.outbox(lease: nil)
        let today = LocalTime(now, in: zone).day
        // The last of these days is today.
        let week = (0..<Self.length).map { today.advanced(by: $0 - Self.length + 1) }
        var sent: [Action] = []
        for day in week {
            sent += try await outbox.slots(of: day).filter {
                $0.state == .done && $0.parent == nil
            }
        }
        let network = mirror.configuration.botNetwork
        let originals = try await mirror.archive.posts(sent.compactMap(\.wording?.source))
        let clock = try await mirror.archive.zones(home: zone)
        let sentPosts = sent.map { action in
            SentPost(
                action, network, at: LocalTime(action.sending ?? action.due, in: zone),
                original: action.wording.flatMap { originals[$0.source] }, clock)
        }
        let human = try await mirror.archive.scheduleRows()
        days = week.map { day in
            Day(
                day: day, posts: sentPosts.count { $0.time.day == day },
                usual: Self.usual(on: day, human))
        }
        likeness = StatsReport.Likeness(human: human, bot: sentPosts.map(\.time))
        posts = sentPosts.map(\.action)
        let start = week.first?.period(in: zone)?.lowerBound ?? now - 7 * 86_400
        let toOthers = try await outbox.sentRepliesAndFavorites(
            start..<now, limit: Self.repliesRead
        )
        .filter { $0.state == .done }
        replies = toOthers.count { $0.kind == .reply }
        favorites = toOthers.count { $0.kind == .favorite }
        mostAnswered = try await Self.mostAnswered(
            toOthers.filter { $0.kind == .reply }, since: start, of: mirror)
        odd = SentPost.odd(among: sentPosts, human: human)
    }

    /// The human's average number of posts on such a weekday, over the span of the archive.
    private static func usual(on day: LocalDay, _ human: [LocalTime]) -> Double? {
        let days = human.map(\.day)
        guard let first = days.min(), let last = days.max() else { return nil }
        let weeks = max(1, Double(last.days(since: first) + 1) / 7)
        return Double(days.count { $0.weekday == day.weekday }) / weeks
    }

    private static func mostAnswered(
        _ replies: [Action], since start: Date, of mirror: HumanMirror
    ) async throws -> AnsweredReply? {
        let answers = try await mirror.outbox(lease: nil).answers(toRepliesSince: start)
        // The latest replies come first, and win a tie.
        guard let mostAnswers = replies.compactMap({ answers[$0.id] }).max(),
            let mostAnsweredReply = replies.first(where: { answers[$0.id] == mostAnswers })
        else { return nil }
        let person = try await mirror.persons(of: [mostAnsweredReply])[mostAnsweredReply.id]
        return AnsweredReply(
            reply: ReportedAction(mostAnsweredReply, person, on: mirror.configuration.botNetwork),
            answers: mostAnswers)
    }
}

/// A post of the week, with the times that are compared.
private struct SentPost {
    /// The distance, in minutes around the clock, from which on a post is odd: between the time of
    /// day at which its text was written and the time of day at which it was sent.
    static let farMinutes = 180
    /// The share of the human's posts in an hour below which the hour is odd, if at least
    /// ``fewestHumanPosts`` are known.
    static let rareShare = 0.01
    /// The least number of known posts of the human for judging an hour.
    static let fewestHumanPosts = 100
    /// The least number of posts among which one may be odd: fewer have nothing in common from
    /// which one could differ.
    static let fewest = 3

    let action: ReportedAction
    /// The time when the post was sent, on the human's clock.
    let time: LocalTime
    /// The time when its text was written, on the human's clock of that time; `nil` if unknown.
    let written: LocalTime?

    init(
        _ action: Action, _ network: NetworkName, at time: LocalTime, original: Post?,
        _ clock: ZoneHistory
    ) {
        var reported = ReportedAction(action, nil, on: network)
        reported.written = original?.createdAt
        self.action = reported
        self.time = time
        written = original.flatMap { $0.isTimeTrusted ? clock.time(of: $0) : nil }
    }

    /// Returns the post that differs most from the others: by its text's time of day, then by its
    /// hour, then by its language.
    static func odd(among posts: [SentPost], human: [LocalTime]) -> WeekReview.OddPost? {
        guard posts.count >= fewest else { return nil }
        let farthest = posts.max { $0.distance < $1.distance }
        if let farthest, farthest.distance >= farMinutes, let written = farthest.written {
            return WeekReview.OddPost(post: farthest.action, reason: .written(at: written.minute))
        }
        let shares = MinuteShares(of: human.map(\.minute)).shares
        func share(_ post: SentPost) -> Double { shares[post.time.minute.value / 60] }
        if human.count >= fewestHumanPosts,
            let rarest = posts.min(by: { share($0) < share($1) }), share(rarest) < rareShare
        {
            return WeekReview.OddPost(post: rarest.action, reason: .hour(share: share(rarest)))
        }
        return onlyOneOfItsLanguage(among: posts)
    }

    /// The minutes, around the clock, between the times of day at which the text was written and
    /// the post was sent; 0 if the former is unknown.
    private var distance: Int { written?.minute.circularDistance(to: time.minute) ?? 0 }

    /// Returns the only post in its language, if all others share one language.
    private static func onlyOneOfItsLanguage(among posts: [SentPost]) -> WeekReview.OddPost? {
        let languages = Dictionary(grouping: posts) { $0.action.language ?? "" }
        guard languages.count == 2, languages[""] == nil,
            let (language, postsInLanguage) = languages.first(where: { $0.value.count == 1 })
        else { return nil }
        return WeekReview.OddPost(post: postsInLanguage[0].action, reason: .language(language))
    }
}
