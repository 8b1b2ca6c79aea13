import Blocking
package import Foundation
import Import
package import Posts
package import Schedule

/// A report of how well schedules learned from the first part of each author's posts fit the later
/// posts.
package struct ScheduleReport: Encodable, Sendable {
    /// One author and the measures of the author's posts.
    package struct Row: Encodable, Sendable {
        package let author: String
        package let scores: ScheduleScores

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(author, forKey: .author)
            try scores.encode(to: encoder)
        }

        private enum CodingKeys: CodingKey { case author }
    }

    /// An author whose posts could not be measured.
    package struct LeftOut: Encodable, Equatable, Sendable {
        package let author: String
        package let posts: Int
        package let reason: String
    }

    package private(set) var schema = "mirror-bot/evaluate-scheduler/1"
    /// The zone in which the times were read; nil if each time had its own offset.
    package private(set) var timeZone: String?
    /// The version of the model by which days are drawn.
    package private(set) var model = DayPlanner.modelVersion
    /// The value of the setting that determines how days are planned.
    package let scheduleModel: String
    /// The number of simulations of the held-out days.
    package private(set) var repetitions = ScheduleEvaluation.usualRepetitions
    package private(set) var authors: [Row] = []
    /// The median of each measure over the authors.
    package private(set) var median = ScheduleScores([:])
    package private(set) var leftOut: [LeftOut] = []
    /// How well a model that has learned the other authors distinguishes days of an author's bot
    /// from days of the author.
    package let botOrHuman: BotOrHuman

    /// Measures the authors on a separate thread; takes some tenths of a second for each author.
    ///
    /// - Parameters:
    ///   - pasts: The authors with their posting times.
    ///   - configuration: The settings by which days are planned.
    ///   - zone: The zone in which the times were read; nil if each time has an offset of its own.
    /// - Throws: `CancellationError`.
    package init(
        on pasts: [Past], configuration: ScheduleConfiguration = ScheduleConfiguration(),
        zone: TimeZone?
    ) async throws {
        let executor = ThreadExecutor(name: "evaluation")
        defer { executor.shutdown() }
        let (rows, leftOut, botOrHuman) = try await executor.run {
            Self.measure(
                pasts, by: ScheduleEvaluation(configuration: configuration, zone: zone))
        }
        scheduleModel = configuration.model.rawValue
        timeZone = zone?.name
        authors = rows
        median = .median(of: rows.map(\.scores))
        self.leftOut = leftOut
        self.botOrHuman = botOrHuman
    }

    private static func measure(
        _ pasts: [Past], by evaluation: ScheduleEvaluation
    ) -> ([Row], [LeftOut], BotOrHuman) {
        var rows: [Row] = []
        var leftOut: [LeftOut] = []
        var days: [BotOrHuman.Days] = []
        for past in pasts {
            do throws(TooFewPosts) {
                let measured = try evaluation.measure(past.times, name: past.author)
                rows.append(Row(author: past.author, scores: measured.scores))
                days.append(measured.days)
            } catch {
                leftOut.append(
                    LeftOut(author: past.author, posts: past.times.count, reason: error.description)
                )
            }
        }
        return (rows, leftOut, BotOrHuman(days))
    }

    private enum CodingKeys: String, CodingKey {
        case schema, model
        case scheduleModel = "schedule_model"
        case timeZone = "time_zone"
        case repetitions, authors, median
        case botOrHuman = "bot_or_human"
        case leftOut = "left_out"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(schema, forKey: .schema)
        try container.encode(timeZone, forKey: .timeZone)
        try container.encode(model, forKey: .model)
        try container.encode(scheduleModel, forKey: .scheduleModel)
        try container.encode(repetitions, forKey: .repetitions)
        try container.encode(authors, forKey: .authors)
        try container.encode(median, forKey: .median)
        try container.encode(botOrHuman, forKey: .botOrHuman)
        try container.encode(leftOut, forKey: .leftOut)
    }
}

/// The posting times of one author, from the oldest to the newest.
package struct Past: Equatable, Sendable {
    /// The author, as the source names them.
    package var author: String
    package var times: [LocalTime]

    package init(author: String, times: [LocalTime]) {
        self.author = author
        self.times = times
    }
}

/// Reads posting times from files, without any database.
///
/// Without a zone, times are taken as they are written. An archive contains instants, which are
/// read in the zone that it names, else in UTC.
package struct PastReader: Sendable {
    /// The maximum number of posts that are read; they are held in memory, 24 bytes each.
    package static let maximumPosts = 10_000_000
    /// The maximum number of authors in one reading.
    package static let maximumAuthors = 10_000

    private let zone: TimeZone?

    /// - Parameter zone: The zone in which times are read; nil for the zone that the files name.
    package init(zone: TimeZone?) { self.zone = zone }

    /// Reads tables of events; an author who is in several tables is one author.
    ///
    /// - Parameter paths: The paths of files, of folders with such files, or `-` for standard
    ///   input.
    /// - Returns: The authors in the order in which they first appear.
    /// - Throws: `ImportError` with the file, the line and the problem.
    package func tables(at paths: [String]) async throws -> [Past] {
        try await onThread { [zone] in
            var gathered = GatheredPosts()
            for path in try paths.flatMap(EventTableReader.tables) {
                try EventTableReader(path: path).read { event in
                    let time = zone.map { LocalTime(event.date, in: $0) }
                    try gathered.add(
                        by: event.author, at: event.date, localTime: time ?? event.time, from: path)
                }
            }
            return gathered.pasts
        }
    }

    /// Reads the human's own posts from a downloaded archive, in one zone.
    ///
    /// Reposts, replies, restricted posts and posts whose time of day was lost are left out.
    ///
    /// - Parameter path: The path of a zip, of an extracted folder or of JSON Lines, or `-` for
    ///   standard input.
    /// - Returns: The posts, and the zone in which they were read.
    /// - Throws: `ImportError`.
    package func archive(at path: String) async throws -> (past: Past, zone: TimeZone) {
        try await onThread { [zone] in
            var dates: [PostID: Date] = [:]
            let summary = try ArchiveReader(path: path, purpose: .texts).read { item in
                guard case .post(let post) = item, !post.isRepost, !post.isReply, post.isOpen,
                    post.isTimeTrusted
                else { return }
                guard dates.count < Self.maximumPosts else { throw GatheredPosts.tooMany(path) }
                dates[post.id] = post.createdAt
            }
            let zone = zone ?? summary.timeZone.flatMap(TimeZone.init(identifier:)) ?? .gmt
            let times = dates.values.sorted().map { LocalTime($0, in: zone) }
            return (
                Past(author: summary.ownerName ?? summary.owner?.value ?? path, times: times), zone
            )
        }
    }

    private func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value)
        async throws -> Value
    {
        let executor = ThreadExecutor(name: "import")
        defer { executor.shutdown() }
        return try await executor.run(work)
    }
}

/// Posts of several authors before they are sorted.
private struct GatheredPosts {
    private struct Entry {
        let milliseconds: Int64
        let time: LocalTime
    }

    /// The index in ``authors`` by the author's name.
    private var indexes: [String: Int] = [:]
    private var authors: [(name: String, entries: [Entry])] = []
    private var count = 0

    mutating func add(
        by author: String, at date: Date, localTime: LocalTime, from path: String
    ) throws {
        guard count < PastReader.maximumPosts else { throw Self.tooMany(path) }
        count += 1
        let index: Int
        if let knownIndex = indexes[author] {
            index = knownIndex
        } else {
            guard authors.count < PastReader.maximumAuthors else {
                throw ImportError(
                    .malformed, path: path,
                    "it has more than \(PastReader.maximumAuthors) authors; give fewer at once")
            }
            index = authors.count
            indexes[author] = index
            authors.append((author, []))
        }
        authors[index].entries.append(Entry(milliseconds: date.milliseconds, time: localTime))
    }

    /// Each author's posts in the order of time; posts of the same instant are in the order of
    /// their local times.
    var pasts: [Past] {
        authors.map { author in
            let ordered = author.entries.sorted {
                ($0.milliseconds, $0.time) < ($1.milliseconds, $1.time)
            }
            return Past(author: author.name, times: ordered.map(\.time))
        }
    }

    static func tooMany(_ path: String) -> ImportError {
        ImportError(
            .malformed, path: path,
            "it has more than \(PastReader.maximumPosts) posts; give fewer at once")
    }
}
