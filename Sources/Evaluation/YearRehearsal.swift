import Archive
import Blocking
import Conduct
import Favorites
package import Foundation
package import Mirroring
import Outbox
import Posts
import Schedule
import Settings
import Storage

/// The reason why a year cannot be rehearsed.
package struct YearProblem: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The year has no day before today.
        case future
        /// The human posted nothing in the year.
        case noPosts
        /// The archive holds too few posts from before the year.
        case tooEarly
        /// The archive is empty.
        case noArchive
    }

    package let code: Code
    /// The reason and advice: a clause in lower case without a full stop.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// Simulates a past year of the human as the mirror would have lived it.
///
/// The mirror begins with the human's posts before the year, and learns each later day when that
/// day is over. Plans, texts, replies and favorites are decided by the same code as in a worker,
/// with today's settings, muted words and excluded texts. A person's other decisions about texts
/// are ignored, because they were made later. The year is simulated in a database in memory; the
/// mirror's own database is only read.
package struct YearRehearsal: Sendable {
    /// The minimum number of posts before the year; a mirror cannot plan days from fewer posts.
    package static let fewestPosts = HeldOutSplit.minimumPosts
    /// The number of days after which the habits in the archive are counted again, and all texts
    /// are judged with them.
    ///
    /// Texts that are younger than this are usually not used (`MIN_AGE_DAYS`). If one is used, the
    /// plan judges it by its words alone.
    private static let daysBetweenCounts = 14
    /// The number of posts that are stored at once.
    private static let batchSize = 10_000

    let mirror: HumanMirror
    let zone: TimeZone
    let year: Int
    let seed: UInt64?
    let labels: String?

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's time zone, in which the year begins.
    ///   - year: The number of the year.
    ///   - seed: The seed of an alternative simulation; nil to simulate the year that the mirror
    ///     itself would have lived.
    ///   - labels: The path of a file of JSON Lines with labelled posts and their times; nil for
    ///     the posts that the mirror has learned.
    package init(
        mirror: HumanMirror, zone: TimeZone, year: Int, seed: UInt64? = nil, labels: String? = nil
    ) {
        self.mirror = mirror
        self.zone = zone
        self.year = year
        self.seed = seed
        self.labels = labels
    }

    /// Simulates the year.
    ///
    /// - Parameters:
    ///   - now: The present; only days before today are simulated.
    ///   - onDay: A function that is called after each simulated day, with the number of days
    ///     simulated until then and the number of all days.
    /// - Returns: The year of the human and of the bot.
    /// - Throws: ``YearProblem``; `ImportError` for the file of favorites; the store's error;
    ///   `CancellationError`.
    package func run(
        now: Date, onDay: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> RehearsedYear {
        let span = try span(now: now)
        let zones = try await mirror.archive.zones(home: zone)
        let posts = try await mirror.archive.posts(before: span.end)
        let silence = Silence(
            unwanted: Unwanted(try await mirror.archive.circumstances(home: zone)),
            rules: mirror.textJudge(zone: zone).rules)
        let past = Past(
            posts, zones: zones, from: span.firstDay, to: span.lastDay, silence: silence)
        try check(past)
        let file = try await labelledFile()
        let lived = try await live(span, posts: posts, zones: zones, onDay: onDay)
        let days = zip(span.days, lived).map { day, lived in
            RehearsedYear.Day(
                day: day, human: past.entries[day] ?? [], bot: lived.entries,
                withoutText: lived.withoutText)
        }
        return RehearsedYear(
            mirror: mirror.name, year: year, timeZone: zone.name, seed: seed,
            postsBefore: past.before.count,
            days: days, ownLikeness: Self.ownLikeness(of: past, days: days, span: span),
            replies: try await replies(in: span, file: file, silence: silence),
            favorites: try await favorites(in: span, file: file))
    }

    // MARK: Days

    /// The simulated days, and their instants.
    struct Span: Sendable {
        let firstDay: LocalDay
        let lastDay: LocalDay
        /// The first instant of the first day.
        let start: Date
        /// The first instant after the last day.
        let end: Date

        var days: [LocalDay] { (0...lastDay.days(since: firstDay)).map(firstDay.advanced(by:)) }
    }

    private func span(now: Date) throws -> Span {
        let yesterday = LocalTime(now, in: zone).day.advanced(by: -1)
        guard let first = LocalDay(year: year, month: 1, day: 1),
            let last = LocalDay(year: year, month: 12, day: 31),
            first <= yesterday
        else {
            throw YearProblem(
                .future,
                "\(year) has no day that is over yet; name a year of the past, such as \(yesterday.components.year)"
            )
        }
        let end = min(last, yesterday)
        // A day that the zone skips has no instants, so the next existing day is used.
        guard let start = beginning(of: first), let after = beginning(of: end.advanced(by: 1))
        else {
            throw YearProblem(.future, "\(year) has no days in \(zone.name)")
        }
        return Span(firstDay: first, lastDay: end, start: start, end: after)
    }

    /// The first instant of a day, or of the next day that exists in the zone.
    private func beginning(of day: LocalDay) -> Date? {
        (0..<3).lazy.compactMap { LocalDayMinutes(day.advanced(by: $0), in: zone).start }.first
    }

    /// The human's posts, by the days of their own clock.
    private struct Past {
        /// The times of the posts before the year, from which days are planned.
        private(set) var before: [LocalTime] = []
        /// The human's posts on each day of the year.
        private(set) var entries: [LocalDay: [RehearsedYear.Entry]] = [:]
        /// The number of posts of each year, up to the simulated year.
        private(set) var postsOfYears: [Int: Int] = [:]

        init(
            _ posts: [Post], zones: ZoneHistory, from first: LocalDay, to last: LocalDay,
            silence: Silence
        ) {
            for post in posts where !post.isReply && post.isTimeTrusted {
                let time = zones.time(of: post)
                postsOfYears[time.day.components.year, default: 0] += 1
                if time.day < first { before.append(time) }
                guard (first...last).contains(time.day) else { continue }
                entries[time.day, default: []].append(
                    RehearsedYear.Entry(
                        minute: time.minute, text: silence.covers(post) ? nil : post.text,
                        language: post.language,
                        why: nil))
            }
            for day in entries.keys { entries[day]?.sort { $0.minute < $1.minute } }
        }
    }

    /// The posts whose texts a person has excluded.
    struct Silence: Sendable {
        let unwanted: Unwanted
        let rules: TextRules

        func covers(_ post: Post) -> Bool {
            unwanted.reason(against: post, key: rules.neverKey(of: post)) != nil
        }
    }

    private func check(_ past: Past) throws {
        let learn =
            "mirror-bot train scheduler --from FILE reads more of the past from a downloaded archive"
        guard !past.postsOfYears.isEmpty else {
            throw YearProblem(
                .noArchive, "the archive holds no posts from before the end of \(year); \(learn)")
        }
        let years = past.postsOfYears.filter { $0.value > 0 }.keys.sorted()
        guard past.postsOfYears[year] != nil, !past.entries.isEmpty else {
            let knownYears = years.map(String.init).joined(separator: ", ")
            throw YearProblem(
                .noPosts,
                "the archive holds no posts of \(year); until then it has some of \(knownYears); name another year, or "
                    + learn)
        }
        guard past.before.count >= Self.fewestPosts else {
            let count = past.before.count == 1 ? "1 post" : "\(past.before.count) posts"
            throw YearProblem(
                .tooEarly,
                "the archive holds \(count) from before \(year), and a mirror learns from \(Self.fewestPosts) at least; "
                    + "name a later year, or \(learn)")
        }
    }

    /// The similarity of the human's days in the year to the same number of days just before it.
    private static func ownLikeness(
        of past: Past, days: [RehearsedYear.Day], span: Span
    ) -> RehearsedYear.Likeness {
        let firstKnownDay = past.before.map(\.day).min() ?? span.firstDay
        let length = min(days.count, span.firstDay.days(since: firstKnownDay))
        let before = (0..<length).map { span.firstDay.advanced(by: $0 - length) }
        let rhythm = Rhythm(days: days.map { $0.human.map(\.minute) })
        return RehearsedYear.Likeness(Rhythm(of: past.before, on: before).distance(to: rhythm))
    }

    // MARK: Simulation

    /// The bot's posts on one simulated day.
    private struct LivedDay {
        var entries: [RehearsedYear.Entry] = []
        var withoutText = 0
    }

    /// Simulates one day after another, in a temporary database.
    private func live(
        _ span: Span, posts: [Post], zones: ZoneHistory, onDay: (Int, Int) -> Void
    ) async throws -> [LivedDay] {
        let storage = try await Storage.openInMemory()
        return try await afterwards(storage.close) {
            try await TablesUpdate.migrate(storage)
            let simulation = try await SimulatedMirror(storage, of: self, zones: zones)
            return try await simulation.live(span.days, posts: posts, in: zone, onDay: onDay)
        }
    }

    /// The mirror's simulated archive and outbox.
    private struct SimulatedMirror {
        let archive: Archive
        let outbox: OutboxStore
        let maker: PlanMaker
        let limit: Int

        init(_ storage: any StorageEngine, of rehearsal: YearRehearsal, zones: ZoneHistory)
            async throws
        {
            let mirror = rehearsal.mirror
            let zone = rehearsal.zone
            var configuration = mirror.configuration
            configuration.mirror = rehearsal.livedName
            archive = Archive(storage: storage, mirror: configuration.mirror)
            outbox = OutboxStore(storage: storage, mirror: configuration.mirror, lease: nil)
            maker = PlanMaker(
                archive: archive, store: outbox, configuration: configuration,
                judge: mirror.textJudge(zone: zone),
                past: { .whole })
            limit = configuration.archiveLimit
            for span in zones.spans { _ = try await archive.add(span, now: .distantPast) }
            let circumstances = try await mirror.archive.circumstances(home: zone)
            for note in circumstances.muted {
                _ = try await archive.mute(note.kind, note.value, now: note.noted)
            }
            try await archive.neverUse(keys: circumstances.never, now: .distantPast)
        }

        /// Simulates some days.
        ///
        /// At the beginning of each day, the simulated mirror learns the human's posts before that
        /// day.
        func live(
            _ days: [LocalDay], posts: [Post], in zone: TimeZone, onDay: (Int, Int) -> Void
        ) async throws -> [LivedDay] {
            var lived: [LivedDay] = []
            var learnedCount = 0
            for (number, day) in days.enumerated() {
                try Task.checkCancellation()
                guard let midnight = LocalDayMinutes(day, in: zone).start else {
                    lived.append(LivedDay())
                    continue
                }
                learnedCount += try await learn(posts[learnedCount...], until: midnight, in: zone)
                if number % YearRehearsal.daysBetweenCounts == 0 {
                    try await archive.prepare(by: maker.judge)
                }
                try await outbox.assumePostsSent(before: midnight)
                let planned = try await maker.make(day, now: midnight, watching: true)
                lived.append(Self.livedDay(from: planned?.slots ?? [], in: zone))
                onDay(number + 1, days.count)
            }
            return lived
        }

        /// Stores the first posts, up to those made before an instant, and returns their number.
        private func learn(_ posts: ArraySlice<Post>, until end: Date, in zone: TimeZone)
            async throws -> Int
        {
            let newPosts = posts.prefix { $0.createdAt < end }
            for start in stride(
                from: newPosts.startIndex, to: newPosts.endIndex, by: YearRehearsal.batchSize)
            {
                let batchOfPosts = newPosts[
                    start..<min(start + YearRehearsal.batchSize, newPosts.endIndex)]
                _ = try await archive.keep(Array(batchOfPosts), timeZone: zone, limit: limit)
            }
            return newPosts.count
        }

        private static func livedDay(from slots: [Intent], in zone: TimeZone) -> LivedDay {
            var day = LivedDay()
            for slot in slots {
                guard case .post(_, let wording?) = slot.payload else {
                    day.withoutText += 1
                    continue
                }
                let text = ([wording.text] + wording.rest.map(\.text)).joined(separator: "\n")
                day.entries.append(
                    RehearsedYear.Entry(
                        minute: LocalTime(slot.due, in: zone).minute, text: text,
                        language: wording.language,
                        why: slot.explanation?.summary))
            }
            return day
        }
    }

    /// The mirror's name in the simulation, which is a seed of the random choices of plans, texts
    /// and replies.
    var livedName: String { mirror.name + (seed.map { "/\($0)" } ?? "") }

    // MARK: Favorites

    private func labelledFile() async throws -> LabelledFile? {
        guard let labels else { return nil }
        let executor = ThreadExecutor(name: "import")
        defer { executor.shutdown() }
        return try await executor.run { try LabelledFile(path: labels) }
    }

    private func favorites(
        in span: Span, file: LabelledFile?
    ) async throws -> ScoreReport.Part<RehearsedFavorites> {
        let configuration = mirror.configuration
        let extractor: FeatureExtractor
        do {
            extractor = try mirror.featureExtractor()
        } catch {
            return .missing("\(error)")
        }
        let (before, during) = try await labelled(in: span, file: file, extractor: extractor)
        guard during.count(where: \.state.isSeen) >= ScoreReporter.minimumSeenPosts else {
            return .missing(missingFavorites(during, file: file))
        }
        let executor = ThreadExecutor(name: "evaluation")
        defer { executor.shutdown() }
        return try await executor.run {
            let evaluation = FavoriteEvaluation(
                extractor: extractor, configuration: configuration.favorites)
            let outcome = evaluation.prequential(training: before, testing: during)
            let examples = Dictionary(during.map { ($0.id, $0.example) }) { first, _ in first }
            let choices = outcome.predictions.filter { $0.isFavorite || $0.isFired }.compactMap {
                prediction in
                examples[prediction.id].map { example in
                    RehearsedFavorites.Choice(
                        author: example.author, text: example.text, isHumans: prediction.isFavorite,
                        isBots: prediction.isFired)
                }
            }
            return .measured(
                RehearsedFavorites(
                    learnedBefore: before.count, scores: outcome.scores, choices: choices))
        }
    }

    /// Other people's labelled posts from before the year, and those from the year.
    private func labelled(
        in span: Span, file: LabelledFile?, extractor: FeatureExtractor
    ) async throws -> (before: [LabelledPost], during: [LabelledPost]) {
        let limit = mirror.configuration.favorites.exampleLimit
        if let file {
            let before = file.posts(from: .distantPast, to: span.start).suffix(limit)
            return (Array(before), file.posts(from: span.start, to: span.end))
        }
        let table = ExampleTable(storage: mirror.storage, mirror: mirror.name, extractor: extractor)
        return (
            try await table.labelledPosts(atMost: limit, to: span.start),
            try await table.labelledPosts(atMost: limit, from: span.start, to: span.end)
        )
    }

    private func missingFavorites(_ during: [LabelledPost], file: LabelledFile?) -> String {
        if let file, !file.isTimed {
            return "not every line of \(file.path) has created_at, so no year can be told"
        }
        let posts = during.count { $0.state.isSeen }
        return
            "\(posts) posts of a home timeline are known of \(year); at least \(ScoreReporter.minimumSeenPosts) are "
            + "needed; a mirror keeps them for some months, and --favorites FILE reads others"
    }
}
