import Archive
import Conduct
import Favorites
package import Foundation
import Localization
import MeCab
package import Mirroring
import Outbox
package import Posts
import Redis
import Schedule
import Settings
import Storage

/// The habits of human and bot in numbers, the left-out items by reason, and the stored data.
package struct StatsReport: Codable, Sendable {
    /// The numbers of posts by hour and weekday.
    package struct Rhythm: Codable, Equatable, Sendable {
        package var posts: Int
        /// The posts of each hour of the day.
        package var hours: [Int]
        /// The posts of each weekday, Monday first.
        package var weekdays: [Int]
        /// The posts of each hour of each weekday.
        package var week: [[Int]]

        package init(_ times: some Sequence<LocalTime>) {
            var week = Array(repeating: Array(repeating: 0, count: 24), count: 7)
            for time in times { week[time.day.weekday - 1][time.minute.value / 60] += 1 }
            self.week = week
            weekdays = week.map { $0.reduce(0, +) }
            hours = (0..<24).map { hour in week.reduce(0) { $0 + $1[hour] } }
            posts = weekdays.reduce(0, +)
        }
    }

    /// The likeness of the hours at which human and bot post, from 0 for nothing in common to 1.
    ///
    /// The likeness is the intersection of two histograms: for each hour of the day the smaller of
    /// both shares, summed up.
    package struct Likeness: Codable, Equatable, Sendable {
        /// The likeness of the bot's posts and the human's; nil if either has none.
        package var share: Double?
        /// The likeness of two halves of the human's own past; nil with fewer than two days.
        ///
        /// The days with a post are assigned to the halves alternately.
        package var halves: Double?
        /// The expected likeness if the hour of each of the bot's posts were drawn at random from
        /// the human's hours; `nil` if either has no posts.
        package var expected: Double?
    }

    /// The times at which human and bot post.
    package struct Times: Equatable, Sendable {
        package var human: Rhythm
        package var bot: Rhythm
        /// The days of the human's first and last post that are archived; nil without posts.
        package var humanSince: LocalDay?
        package var humanUntil: LocalDay?
        /// The day of the bot's first post; nil without posts.
        package var botSince: LocalDay?
        package var likeness: Likeness
        /// The last weeks, oldest day first.
        package var days: [Day]
    }

    /// The features learned from the human's favorites.
    package struct Taste: Equatable, Sendable {
        /// The authors with the most favorites first.
        package var authors: [Author]
        /// The words that speak for a favorite, the strongest first.
        package var wordsFor: [Word]
        package var wordsAgainst: [Word]
        /// The reason why there are no words and authors; nil if there are.
        package var problem: String?
        /// The last measurement of `mirror-bot score`; `nil` if it never measured.
        package var measure: ClassifierMeasure?
    }

    /// The counts of one local day.
    package struct Day: Codable, Equatable, Sendable {
        package var day: LocalDay
        /// The human's own posts, without replies.
        package var humanPosts = 0
        package var posts = 0
        package var replies = 0
        package var favorites = 0
    }

    /// An author whose posts were favorited.
    package struct Author: Codable, Equatable, Sendable {
        /// The author's name on the network, with `@`.
        package var name: String
        /// The author's posts that were learned as favorites of the human.
        package var favorites: Int64
        /// The author's other learned posts.
        package var normals: Int64
        /// The author's posts that the bot favorited.
        package var given: Int
    }

    /// A word or hashtag with weight for or against a favorite.
    package struct Word: Codable, Equatable, Sendable {
        package var word: String
        package var favorites: Int64
        package var normals: Int64
        /// The weighted amount that the word adds to the natural logarithm of the favorite rate of
        /// a post without other words.
        package var logOdds: Double
        /// The newest learned post with the word; nil in reports of earlier versions.
        ///
        /// For a positive weight this is the newest favorite, else the newest other post.
        package var example: String?
    }

    /// The number of items left out for one reason.
    package struct LeftOut: Codable, Equatable, Sendable {
        /// The kind of action, or its source.
        package enum Part: String, CaseIterable, Codable, Sendable {
            /// Archived posts that are not reposted.
            case archive
            case post
            case reply
            case favorite
            /// Items that could not be read or decided.
            case feed
        }

        package var part: Part
        /// The state in which the item ended; `nil` if it never became an action.
        package var state: String?
        package var count: Int
        package var reason: ReportedReason
    }

    /// One kind of stored data.
    package struct Stored: Codable, Equatable, Sendable {
        package var what: String
        package var count: Int
        /// The limits of number and age, in words.
        package var keeps: String
    }

    package var schema = "mirror-bot/stats/1"
    package var mirror: String
    package var human: String?
    package var bot: String?
    package var timeZone: String
    /// The time when the numbers were computed.
    package var made: Date
    package var humanPosts: Rhythm
    package var botPosts: Rhythm
    /// The days of the human's first and last post that are archived; nil without posts.
    package var humanSince: LocalDay?
    package var humanUntil: LocalDay?
    /// The day of the bot's first post; nil without posts.
    package var botSince: LocalDay?
    /// The likeness of the hours of human and bot; nil in reports of earlier versions.
    package var likeness: Likeness?
    /// The last weeks, oldest day first.
    package var days: [Day]
    /// The authors with the most favorites first.
    package var authors: [Author]
    /// The words that speak for a favorite, the strongest first.
    package var wordsFor: [Word]
    package var wordsAgainst: [Word]
    /// The reason why there are no words and authors; nil if there are.
    package var wordsProblem: String?
    /// The quality of the classifier, by the last `mirror-bot score`; nil if it was never measured.
    package var measure: ClassifierMeasure?
    /// The counts of what was left out, in the order of the parts, the most frequent first.
    package var leftOut: [LeftOut]
    package var stored: [Stored]

    /// The names of the weekdays, Monday first.
    package static var weekdays: [String] {
        [
            localized("Mon"), localized("Tue"), localized("Wed"), localized("Thu"),
            localized("Fri"), localized("Sat"), localized("Sun"),
        ]
    }

    /// The part of the report about the times at which human and bot post.
    package var times: Times {
        Times(
            human: humanPosts, bot: botPosts, humanSince: humanSince, humanUntil: humanUntil,
            botSince: botSince, likeness: likeness ?? Likeness(), days: days)
    }
}

/// Counts a mirror's actions, learned posts, left-out items and stored data.
package struct StatsReporter: Sendable {
    private static let daysShown = 28
    private static let authorsShown = 10
    private static let wordsShown = 10
    /// The least number of posts with a word that is shown: a word in fewer is not meaningful, even
    /// if all of them are of one category.
    private static let fewestPosts = 2

    let mirror: HumanMirror
    let zone: TimeZone
    private let kept: KeptReports

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's time zone.
    ///   - kept: The cache of slow counts; by default an empty one.
    package init(mirror: HumanMirror, zone: TimeZone, kept: KeptReports = KeptReports()) {
        self.mirror = mirror
        self.zone = zone
        self.kept = kept
    }

    /// Computes the report.
    ///
    /// An unreachable classifier is reported, not thrown.
    ///
    /// - Throws: The store's error.
    package func report(now: Date) async throws -> StatsReport {
        let record = try await mirror.table.record()
        let times = try await times(now: now)
        let taste = try await taste()
        return StatsReport(
            mirror: mirror.name, human: record.humanHandle, bot: record.botHandle,
            timeZone: mirror.timeZoneName(record) ?? mirror.configuration.name(of: zone), made: now,
            humanPosts: times.human, botPosts: times.bot, humanSince: times.humanSince,
            humanUntil: times.humanUntil, botSince: times.botSince, likeness: times.likeness,
            days: times.days,
            authors: taste.authors, wordsFor: taste.wordsFor,
            wordsAgainst: taste.wordsAgainst, wordsProblem: taste.problem, measure: taste.measure,
            leftOut: try await leftOut(now: now), stored: try await stored())
    }

    /// The hours of human and bot, as in ``report(now:)``.
    ///
    /// - Throws: The store's error.
    package func times(now: Date) async throws -> StatsReport.Times {
        let human = try await mirror.archive.scheduleRows()
        let today = LocalTime(now, in: zone).day
        let timesByKind = try await timesDone(since: today.advanced(by: -Self.daysShown))
        let posted = timesByKind[.post] ?? []
        return StatsReport.Times(
            human: StatsReport.Rhythm(human), bot: StatsReport.Rhythm(posted),
            humanSince: human.map(\.day).min(),
            humanUntil: human.map(\.day).max(), botSince: posted.map(\.day).min(),
            likeness: StatsReport.Likeness(human: human, bot: posted),
            days: days(human, timesByKind, until: today))
    }

    /// The times of the bot's actions: all its posts, and other actions from a day on.
    private func timesDone(since day: LocalDay) async throws -> [ActionKind: [LocalTime]] {
        let outbox = mirror.outbox(lease: nil)
        let zone = zone
        let stamp = "\(try await outbox.changeStamp()) \(day) \(zone.identifier)"
        return try await kept.value("times done", of: mirror.name, stamp: stamp) {
            let start = LocalDayMinutes(day, in: zone).start ?? .distantPast
            return try await outbox.timesDone(since: start).mapValues {
                $0.map { LocalTime($0, in: zone) }
            }
        }
    }

    /// Reads the features learned from the human's favorites, as in ``report(now:)``.
    ///
    /// - Throws: The store's error.
    package func taste() async throws -> StatsReport.Taste {
        let (learned, problem) = try await learned()
        return StatsReport.Taste(
            authors: try await authors(learned), wordsFor: learned?.wordsFor ?? [],
            wordsAgainst: learned?.wordsAgainst ?? [], problem: problem,
            measure: try await mirror.classifierMeasure())
    }

    private func days(
        _ human: [LocalTime], _ done: [ActionKind: [LocalTime]], until last: LocalDay
    ) -> [StatsReport.Day] {
        var days = (0..<Self.daysShown).map {
            StatsReport.Day(day: last.advanced(by: $0 - Self.daysShown + 1))
        }
        func add(_ times: [LocalTime]?, to number: WritableKeyPath<StatsReport.Day, Int>) {
            for time in times ?? [] {
                // The last day has the last index.
                let index = time.day.days(since: last) + Self.daysShown - 1
                if days.indices.contains(index) { days[index][keyPath: number] += 1 }
            }
        }
        add(human, to: \.humanPosts)
        add(done[.post], to: \.posts)
        add(done[.reply], to: \.replies)
        add(done[.favorite], to: \.favorites)
        return days
    }

    // MARK: Favorites

    /// The results that depend on the examples alone.
    private struct Learned: Sendable {
        /// The learned posts of each author, by the name with `@`.
        let authors: [String: FeatureCount]
        /// The names of the authors with the most favorites, as many as are displayed.
        let firstAuthors: [String]
        let wordsFor: [StatsReport.Word]
        let wordsAgainst: [StatsReport.Word]
    }

    private func learned() async throws -> (Learned?, problem: String?) {
        do {
            let favorites = try mirror.favorites()
            let stamp = try await favorites.stamp()
            let weights = try await favorites.weightsInUse()
            let learned = try await kept.value(
                "learned", of: mirror.name,
                stamp: "\(stamp.sequence) \(stamp.extraction) \(weights)"
            ) {
                let (categories, features) = try await favorites.tally()
                let model = FavoriteModel(categories, weights: weights)
                let authors = features.filter { FeatureGroup(of: $0.key) == .author }
                let strongestFor = Self.strongest(features, model, isFor: true)
                let strongestAgainst = Self.strongest(features, model, isFor: false)
                let directions = Dictionary(
                    strongestFor.map { ($0.feature, true) }
                        + strongestAgainst.map { ($0.feature, false) }
                ) { first, _ in first }
                let texts = try await favorites.texts(with: directions)
                func words(_ strongest: [(feature: String, word: StatsReport.Word)]) -> [StatsReport
                    .Word]
                {
                    strongest.map { feature, word in
                        var word = word
                        word.example = texts[feature]
                        return word
                    }
                }
                return Learned(
                    authors: authors, firstAuthors: Self.mostFavorited(authors),
                    wordsFor: words(strongestFor),
                    wordsAgainst: words(strongestAgainst))
            }
            return (learned, nil)
        } catch let error as MeCabError {
            return (nil, error.description)
        } catch let error as RedisError {
            return (nil, "\(error)")
        }
    }

    /// Returns the authors with the most learned favorites, as many as are displayed.
    private static func mostFavorited(_ authors: [String: FeatureCount]) -> [String] {
        let sorted = authors.filter { $0.value.favorite > 0 }.sorted { first, second in
            first.value.favorite == second.value.favorite
                ? first.key < second.key : first.value.favorite > second.value.favorite
        }
        return sorted.prefix(authorsShown).map(\.key)
    }

    /// Returns the authors with the most favorites.
    ///
    /// Candidates are the authors with the most favorites of the human, and all authors with
    /// favorites of the bot. The human's favorites determine the order, then the bot's.
    private func authors(_ learned: Learned?) async throws -> [StatsReport.Author] {
        var authors: [String: StatsReport.Author] = [:]
        func add(_ name: String, given: Int) {
            let count = learned?.authors[name]
            authors[
                name,
                default: StatsReport.Author(
                    name: name, favorites: count?.favorite ?? 0, normals: count?.normal ?? 0,
                    given: 0)
            ].given += given
        }
        for name in learned?.firstAuthors ?? [] { add(name, given: 0) }
        let outbox = mirror.outbox(lease: nil)
        let givenByAuthor = try await kept.value(
            "favorites given", of: mirror.name, stamp: try await outbox.changeStamp()
        ) { try await outbox.favoritesGiven() }
        let names = try await mirror.names(of: Array(givenByAuthor.keys))
        for (id, number) in givenByAuthor {
            add((names[id] ?? id.value).lowercased(), given: number)
        }
        let sorted = authors.values.sorted { first, second in
            if first.favorites != second.favorites { return first.favorites > second.favorites }
            return first.given == second.given
                ? first.name < second.name : first.given > second.given
        }
        return Array(sorted.prefix(Self.authorsShown))
    }

    /// Returns the words and pairs of words with the most weight, without signs, numbers and
    /// function words.
    private static func strongest(
        _ features: [String: FeatureCount], _ model: FavoriteModel, isFor: Bool
    ) -> [(feature: String, word: StatsReport.Word)] {
        let weighted = features.filter { feature, count in
            count.favorite + count.normal >= fewestPosts && FeatureGroup(of: feature) == .words
                && !SmallFeatures.contains(feature) && !SmallFeatures.hasSign(feature)
        }.map { feature, count in
            let word = StatsReport.Word(
                word: WordPair.displayName(of: feature), favorites: count.favorite,
                normals: count.normal,
                logOdds: model.weightedEvidence(ofWord: feature, count))
            return (feature: feature, word: word)
        }.filter { isFor ? $0.word.logOdds > 0 : $0.word.logOdds < 0 }
        let sorted = weighted.sorted { first, second in
            let firstWeight = abs(first.word.logOdds)
            let secondWeight = abs(second.word.logOdds)
            return firstWeight == secondWeight
                ? first.word.word < second.word.word : firstWeight > secondWeight
        }
        return Array(sorted.prefix(wordsShown))
    }

    // MARK: Left-out items

    private func leftOut(now: Date) async throws -> [StatsReport.LeftOut] {
        let lines = try await leftOutOfArchive() + leftOutOfActions() + leftOutOfFeeds(now: now)
        let order = StatsReport.LeftOut.Part.allCases
        func sortKey(_ line: StatsReport.LeftOut) -> (Int, Int, ReasonCode, String) {
            // The count is negated, so that the most frequent comes first.
            (order.firstIndex(of: line.part) ?? 0, -line.count, line.reason.code, line.state ?? "")
        }
        return lines.filter { $0.count > 0 }.sorted {
            sortKey($0) < sortKey($1)
        }
    }

    private func leftOutOfArchive() async throws -> [StatsReport.LeftOut] {
        let unsent = try await mirror.unsentTexts()
        func line(_ count: Int, _ reason: ReportedReason) -> StatsReport.LeftOut {
            StatsReport.LeftOut(part: .archive, count: count, reason: reason)
        }
        let sometimes = unsent.sometimes.map { reason, count in
            line(
                count,
                ReportedReason(
                    reason, text: localized("\(ReportedReason(reason).text), and is used then")))
        }
        return unsent.unfit.map { line($0.value, ReportedReason($0.key)) } + sometimes + [
            line(unsent.replies, ReportedReason(.rule(.isReply))),
            line(unsent.tooLong, ReportedReason(.rule(.tooLong))),
            line(
                unsent.unjudged,
                ReportedReason("not-judged", text: localized("the worker looks at it soon"))),
        ]
    }

    private func leftOutOfActions() async throws -> [StatsReport.LeftOut] {
        let endedStates: [ActionState] = [.skipped, .expired, .failed]
        return try await mirror.outbox(lease: nil).tallies().filter {
            endedStates.contains($0.state)
        }.map { tally in
            let part: StatsReport.LeftOut.Part =
                switch tally.kind {
                case .post: .post
                case .reply: .reply
                case .favorite: .favorite
                }
            let reason =
                tally.reason.map { ReportedReason($0) }
                ?? ReportedReason(tally.state.rawValue, text: localized("no reason was noted"))
            return StatsReport.LeftOut(
                part: part, state: tally.state.rawValue, count: tally.count, reason: reason)
        }
    }

    private func leftOutOfFeeds(now: Date) async throws -> [StatsReport.LeftOut] {
        try await mirror.feeds.health(now: now).flatMap { feed in
            [
                (
                    feed.unreadable, "unreadable",
                    LocalizedText("\(feed.feed): could not be read, until an update of mirror-bot")
                ),
                (feed.waiting, "waiting", LocalizedText("\(feed.feed): waits for a retry")),
                (feed.givenUp, "given-up", LocalizedText("\(feed.feed): could not be decided")),
            ].map { count, code, text in
                StatsReport.LeftOut(
                    part: .feed, count: count,
                    reason: ReportedReason(code, text: text.description))
            }
        }
    }

    // MARK: Stored data

    /// Counts the stored data of each kind, with how much of it is kept.
    ///
    /// - Throws: The store's error.
    package func stored() async throws -> [StatsReport.Stored] {
        let configuration = mirror.configuration
        let name = mirror.name
        let rows = try await mirror.storage.query(
            """
            SELECT (SELECT COUNT(*) FROM examples WHERE mirror = \(name)) AS examples,
                (SELECT COUNT(*) FROM actions WHERE mirror = \(name)) AS actions,
                \(People.number(of: name)) AS people,
                (SELECT COUNT(*) FROM feed_items WHERE mirror = \(name)) AS items,
                (SELECT COUNT(*) FROM credentials WHERE mirror = \(name)) AS logins
            """)
        func number(_ column: String) throws -> Int { try rows.first?.int(column) ?? 0 }
        func row(_ what: String, count: Int, keeps: String) -> StatsReport.Stored {
            StatsReport.Stored(what: what, count: count, keeps: keeps)
        }
        let favorites = configuration.favorites
        return [
            row(
                localized("public posts of the human, replies among them"),
                count: try await mirror.archive.count(),
                keeps: localized("the newest \(configuration.archiveLimit)")),
            row(
                localized("public posts of others that were learned from"),
                count: try number("examples"),
                keeps: localized(
                    "the newest \(favorites.exampleLimit), for \(favorites.maximumAgeDays) days at most"
                )),
            row(
                localized("the bot's actions and decisions, their recipients and reasons"),
                count: try number("actions"),
                keeps: localized(
                    "\(configuration.historyDays) days; what was sent to a person stays")),
            row(
                localized("people who were answered, denied, allowed or linked"),
                count: try number("people"), keeps: localized("until the database is deleted")),
            row(
                localized("items that could not be read or decided"),
                count: try number("items"), keeps: localized("until the database is deleted")),
            row(
                localized("logins, sealed"), count: try number("logins"),
                keeps: localized("until they are logged out")),
        ]
    }
}

extension StatsReport.Likeness {
    /// - Parameters:
    ///   - human: The times of the human's posts.
    ///   - bot: The times of the bot's posts.
    init(human: [LocalTime], bot: [LocalTime]) {
        let shares = Self.shares(human)
        share = Self.sumOfSmaller(shares, Self.shares(bot))
        let days = Set(human.map(\.day)).sorted()
        let oddDays = Set(days.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
        halves = Self.sumOfSmaller(
            Self.shares(human.filter { !oddDays.contains($0.day) }),
            Self.shares(human.filter { oddDays.contains($0.day) }))
        expected = bot.isEmpty ? nil : shares.map { Self.expected($0, posts: bot.count) }
    }

    /// The share of each hour of the day; nil without posts.
    private static func shares(_ times: [LocalTime]) -> [Double]? {
        guard !times.isEmpty else { return nil }
        let hours = StatsReport.Rhythm(times).hours
        return hours.map { Double($0) / Double(times.count) }
    }

    /// The intersection of two histograms: the smaller share of each hour, summed up; nil if either
    /// is missing.
    private static func sumOfSmaller(_ first: [Double]?, _ second: [Double]?) -> Double? {
        guard let first, let second else { return nil }
        return zip(first, second).map { min($0, $1) }.reduce(0, +)
    }

    /// The expected ``share`` of a random draw of this many hours.
    ///
    /// The result is 1 minus half the sum of the mean absolute deviations. De Moivre's formula
    /// gives the deviation of a binomial number: 2 · (m + 1) · C(n, m + 1) · p^(m+1) · (1 −
    /// p)^(n−m), where m is the whole part of n · p.
    private static func expected(_ shares: [Double], posts: Int) -> Double {
        let number = Double(posts)
        let deviations = shares.filter { $0 > 0 && $0 < 1 }.map { share in
            // m + 1 in the formula.
            let successes = (number * share).rounded(.down) + 1
            let combinations =
                lgamma(number + 1) - lgamma(successes + 1) - lgamma(number - successes + 1)
            return 2
                * exp(
                    combinations + log(successes) + successes * log(share)
                        + (number - successes + 1) * log(1 - share))
        }
        return max(0, 1 - deviations.reduce(0, +) / number / 2)
    }
}

/// The full report of a mirror, for its page.
package struct MirrorReport: Codable, Sendable {
    package private(set) var schema = "mirror-bot/report/1"
    package var status: StatusReport
    package var stats: StatsReport
    /// Today and tomorrow, as far as they can be planned.
    package var days: [PlanReport]
}

extension MirrorReport {
    private static let recentShown = 40

    /// Collects the report.
    ///
    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's time zone.
    ///   - now: The present.
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, zone: TimeZone, now: Date) async throws {
        let status = try await StatusReporter(mirror: mirror, recentShown: Self.recentShown).report(
            now: now)
        let stats = try await StatsReporter(mirror: mirror, zone: zone).report(now: now)
        let planner = PlanReporter(mirror: mirror, zone: zone)
        let today = LocalTime(now, in: zone).day
        var days: [PlanReport] = []
        for day in [today, today.advanced(by: 1)] {
            if let plan = try await planner.report(on: day, now: now) { days.append(plan) }
        }
        self.init(status: status, stats: stats, days: days)
    }
}
