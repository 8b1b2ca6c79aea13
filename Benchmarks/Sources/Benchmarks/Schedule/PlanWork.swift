import Archive
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import Schedule
import Settings
import Storage
import TestSupport

extension Work {
    /// A day's plan with its texts, stored, from archives of two sizes; then what its times alone
    /// cost.
    static let plan = Work(name: "plan") { bench, report in
        for (name, count, limit) in [
            ("plan", bench.amount(10_000, smoke: 2_000), 20.0),
            ("plan_300000", bench.amount(300_000, smoke: 3_000), 60.0),
        ] {
            await report.measure(name) { [try await planned(bench, name, count, limit: limit)] }
        }
        await report.measure("plan_times") { [try await times(bench)] }
    }

    /// A whole plan, in an embedded database that has prepared its texts: processor time.
    private static func planned(_ bench: Bench, _ name: String, _ count: Int, limit: Double)
        async throws -> Line
    {
        let stage = try await PlanStage(bench, postCount: count)
        var figures: [Double] = []
        for round in 0..<(bench.pairs * 2) {
            figures.append(try await stage.milliseconds(ofDay: round))
        }
        await stage.close()
        return .limited(
            name,
            "plan a day with its texts and store it, \(count) posts in the archive: processor",
            figures,
            limit: limit, unit: "ms")
    }

    /// Everything between a history and a day's times: sorting, the profile, its bursts, the draw.
    private static func times(_ bench: Bench) async throws -> Line {
        let times = PastTimes.make(count: bench.amount(10_000, smoke: 1_000))
        var figures: [Double] = []
        var slots = 0
        for round in 0..<(bench.pairs * 10) {
            let time = await bench.elapsed {
                let planner = DayPlanner(
                    history: PostingHistory(times: times), configuration: ScheduleConfiguration())
                let day = planner.history.asOf.advanced(by: 1)
                slots +=
                    planner.plan(for: day, in: .gmt, mirror: "bench", seed: "\(round)")?.slots.count
                    ?? 0
            }
            figures.append(time.seconds * 1_000)
        }
        guard slots > 0 else { throw BaselineError(description: "no day had a slot") }
        return .limited(
            "plan_times", "the times of such a day alone, from \(times.count) posts in memory",
            figures, limit: 5,
            unit: "ms")
    }
}

/// A mirror whose archive is full, and which has made a plan before.
private struct PlanStage {
    private static let zone = TimeZone(identifier: "Asia/Tokyo") ?? .gmt
    private static let now = Date(timeIntervalSince1970: 1_750_000_000)

    private let storage: any StorageEngine
    private let store: OutboxStore
    private let maker: PlanMaker

    init(_ bench: Bench, postCount: Int) async throws {
        storage = try await Storage.open(
            .sqlite(path: bench.folder.path("plan-\(postCount).sqlite")))
        try await Migrations.apply(to: storage)
        let archive = Archive(storage: storage, mirror: "default")
        let posts = Self.spread(PastPosts.make(count: postCount))
        for start in stride(from: 0, to: postCount, by: SchedulerTrainer.batchSize) {
            _ = try await archive.store(
                Array(posts[start..<min(start + SchedulerTrainer.batchSize, postCount)]),
                timeZone: Self.zone,
                limit: nil)
        }
        let values = try SettingValues.load(environment: [:], folder: bench.folder.path)
        store = OutboxStore(storage: storage, mirror: "default", lease: nil)
        let configuration = try MirrorSettings(values, readsAccounts: false)
        maker = PlanMaker(
            archive: archive, store: store, configuration: configuration,
            judge: TextJudge(configuration, zone: Self.zone, tokenizer: nil), past: { .whole })
        try await archive.prepare(by: maker.judge)
        // The times of the posts are packed once.
        _ = try await milliseconds(ofDay: -1)
    }

    /// The same posts over ten years, with as many days between them as somebody's posts have.
    private static func spread(_ posts: [Post]) -> [Post] {
        guard let newest = posts.first?.createdAt, let oldest = posts.last?.createdAt,
            oldest < newest
        else {
            return posts
        }
        let factor = 3_650 * 86_400 / newest.timeIntervalSince(oldest)
        return posts.map { post in
            var post = post
            post.createdAt = newest - newest.timeIntervalSince(post.createdAt) * factor
            return post
        }
    }

    /// How much of the processor the plan of some day takes, in milliseconds; each day has one
    /// plan.
    func milliseconds(ofDay number: Int) async throws -> Double {
        let start = Self.processorTime
        let day = LocalTime(Self.now, in: Self.zone).day.advanced(by: 1 + number)
        let planned = try await maker.make(day, now: Self.now, watching: false)
        let taken = (Self.processorTime - start) * 1_000
        // Some days of such a life have no post.
        guard let planned, planned.slots.allSatisfy({ $0.payload.wording != nil }) else {
            throw BaselineError(description: "a slot had no text")
        }
        guard try await store.slots(of: day).count == planned.slots.count else {
            throw BaselineError(description: "the plan was not stored")
        }
        return taken
    }

    func close() async { await storage.close() }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// When somebody posted in eight years: some five posts a day, more in the evening, some close to
/// one another, and days without any.
enum PastTimes {
    static func make(count: Int, seed: UInt64 = 11) -> [LocalTime] {
        var generator = SampleGenerator(seed: seed)
        var times: [LocalTime] = []
        var day = LocalDay(ordinal: 17_000)
        while times.count < count {
            day = day.advanced(by: generator.chance(0.2) ? 3 : 1)
            for _ in 0..<(1 + generator.number(below: 9)) {
                // The sum of two even draws is most often in the middle.
                let minute = 360 + generator.number(below: 540) + generator.number(below: 540)
                times += [LocalTime(day: day, minute: MinuteOfDay(hour: 0, minute: minute))]
                if generator.chance(0.3) {
                    let next = min(minute + generator.number(below: 25), MinuteOfDay.count - 1)
                    times.append(LocalTime(day: day, minute: MinuteOfDay(hour: 0, minute: next)))
                }
            }
        }
        return Array(times.prefix(count))
    }
}
