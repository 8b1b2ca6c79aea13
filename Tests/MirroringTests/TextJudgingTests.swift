import Archive
import Conduct
import Expectations
import Fixtures
import Foundation
import Logging
import Networks
import Outbox
import Posts
import Sandbox
import ServiceLifecycle
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Texts are judged in short steps, after the looks and the posts of a worker, and again only when
/// they are chosen.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct TextJudgingTests {
    private static let zone = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    private static let human = AccountID(network: .mastodon, value: "haruka@sandbox.example")
    /// Two years after the last post.
    private static let now = Date(timeIntervalSince1970: 1_780_239_600)

    private static func post(_ number: Int, _ text: String) -> Post {
        Post(
            id: PostID(network: .mastodon, value: "https://sandbox.example/\(number)"),
            author: human, text: text,
            createdAt: now - Double(730 * 86_400) - Double(number * 5_003))
    }

    /// A mirror with so many texts, none of which is judged.
    private func mirror(
        _ texts: Int, on engine: Engine = .sqlite, variables: [String: String] = [:],
        text: (Int) -> String = { "Thought number \($0) about rivers" }
    ) async throws -> HumanMirror {
        let mirror = try await BareMirror(engine, variables: variables).open()
        _ = try await mirror.table.notePast(.whole, now: Self.now)
        _ = try await mirror.archive.store(
            (0..<texts).map { Self.post($0, text($0)) }, timeZone: Self.zone, limit: 100_000)
        return mirror
    }

    private func judged(_ mirror: HumanMirror) async throws -> Int {
        let rows = try await mirror.storage.query(
            "SELECT COUNT(*) AS number FROM posts WHERE is_reply = FALSE AND rules <> ''")
        return try rows[0].int("number")
    }

    private func maker(_ mirror: HumanMirror, limits: PublishingLimits = .mastodon) -> PlanMaker {
        mirror.planMaker(zone: Self.zone, store: mirror.outbox(lease: nil), limits: limits)
    }

    /// A monotonic clock that is read once for each post, and goes on by so much each time.
    private final class Ticks: @unchecked Sendable {
        // Sendable because `time` is only touched under `lock`.
        private let lock = NSLock()
        private let step: TimeInterval
        private var time: TimeInterval = 0

        init(_ step: TimeInterval) { self.step = step }

        @Sendable func read() -> TimeInterval {
            lock.withLock {
                time += step
                return time
            }
        }
    }

    // MARK: Steps

    /// A step takes a fraction of a second however many texts there are, and what it found is
    /// stored.
    @Test(arguments: Engine.allCases) func aStepJudgesForAQuarterOfASecond(_ engine: Engine)
        async throws
    {
        let mirror = try await mirror(40, on: engine)
        let judge = mirror.textJudge(zone: Self.zone)
        let judging = TextJudging(mirror.archive, judge, uptime: Ticks(0.1).read)
        // Habits are counted first.
        #expect(try await judging.step())
        try await expect(judged(mirror), equals: 0)
        #expect(try await judging.step())
        try await expect(judged(mirror), equals: 2)
        #expect(try await judging.step())
        try await expect(judged(mirror), equals: 4)
    }

    /// Many steps have a limit of their own where the clock stands still.
    @Test func aStepJudgesTwoHundredTextsAtMost() async throws {
        let mirror = try await mirror(450)
        let judging = TextJudging(
            mirror.archive, mirror.textJudge(zone: Self.zone), hasLowPriority: true
        ) { 0 }
        var counts: [Int] = []
        while try await judging.step() { counts.append(try await judged(mirror)) }
        #expect(counts == [0, 200, 400])
        try await expect(judged(mirror), equals: 450)
        #expect(try await !judging.step())
    }

    /// Every process is killed after three steps; the next goes on with what is left.
    @Test func whoIsKilledAgainAndAgainFinishes() async throws {
        let mirror = try await mirror(60)
        let judge = mirror.textJudge(zone: Self.zone)
        var counts: [Int] = []
        while try await judged(mirror) < 60, counts.count < 40 {
            let judging = TextJudging(mirror.archive, judge, uptime: Ticks(0.1).read)
            for _ in 0..<3 where try await judging.step() {}
            counts.append(try await judged(mirror))
        }
        #expect(counts == Array(stride(from: 4, through: 60, by: 4)))
        try await expect(
            mirror.archive.preparedBy()?.first, equals: mirror.archive.preparedBy()?.last)
    }

    private struct Told: Service {
        let judging: TextJudging

        func run() async throws {
            try await gracefulShutdown()
            #expect(try await judging.step())
        }
    }

    /// Who is told to end judges no further text, and keeps what was judged.
    @Test func aStepEndsWithTheNextTextWhenTheProcessIsToEnd() async throws {
        let mirror = try await mirror(40)
        let judging = TextJudging(mirror.archive, mirror.textJudge(zone: Self.zone)) { 0 }
        #expect(try await judging.step())
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(
                        service: Told(judging: judging),
                        successTerminationBehavior: .gracefullyShutdownGroup)
                ], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        let told = Task { await group.triggerGracefulShutdown() }
        try await group.run()
        await told.value
        try await expect(judged(mirror), equals: 1)
    }

    @Test func aCancelledStepEndsWithTheNextText() async throws {
        let mirror = try await mirror(40)
        let judging = TextJudging(mirror.archive, mirror.textJudge(zone: Self.zone)) {
            withUnsafeCurrentTask { $0?.cancel() }
            return 0
        }
        let step = Task {
            while try await judging.step() {}
        }
        await #expect(throws: CancellationError.self) { try await step.value }
        try await expect(judged(mirror)) { $0 <= 1 }
    }

    // MARK: What is judged again

    /// Neither another server nor other settings have the words of a text judged again.
    @Test func aServerThatCountsOtherwiseHasNothingJudgedAgain() async throws {
        let mirror = try await mirror(30) {
            $0 == 7 ? "See https://example.org/rivers" : "Thought \($0) about rivers"
        }
        let judge = mirror.textJudge(zone: Self.zone)
        try await mirror.archive.prepare(by: judge)
        let rules = try #require(try await mirror.archive.preparedBy())
        let planted = PostID(network: .mastodon, value: "https://sandbox.example/3")
        try await mirror.storage.lenient.execute(
            "UPDATE posts SET grade = 2 WHERE post_id = \(planted.value)")
        let limits = PublishingLimits(
            maximumCharacters: 5_000, charactersPerURL: nil, unit: .codePoints)
        let other = mirror.textJudge(zone: Self.zone, limits: limits)
        #expect(try await !TextJudging(mirror.archive, other) { 0 }.step())
        try await mirror.archive.prepare(by: other)
        try await expect(mirror.archive.preparedBy()?.last, equals: rules.last)
        // Where links are left out, one text may not be sent; the words of all others stay judged.
        var strict = other
        strict.rules.links = .leftOut
        try await mirror.archive.prepare(by: strict)
        try await expect(
            mirror.archive.unsent(Archive.TextFilter(longest: 500)).unfit["has-link"], equals: 1)
        try await expect(mirror.archive.fitness(of: planted)?.grade, equals: 2)
    }

    /// A link of 200 characters counts 23 on Mastodon, and 200 elsewhere.
    @Test func aTextThatTheServerFindsTooLongIsNotChosen() async throws {
        let link = "https://example.org/" + String(repeating: "r", count: 180)
        let mirror = try await mirror(60, variables: ["FITNESS": "off"]) { number in
            number % 2 == 0
                ? "Thought number \(number) about \(link)" : "Thought number \(number) about rivers"
        }
        try await mirror.archive.prepare(by: mirror.textJudge(zone: Self.zone))
        func texts(_ limits: PublishingLimits) async throws -> [String] {
            var texts: [String] = []
            for number in 0..<12 {
                let day = LocalTime(Self.now, in: Self.zone).day.advanced(by: number)
                let planned = try await maker(mirror, limits: limits).preview(
                    day, now: Self.now, watching: false)
                texts += try #require(planned).slots.map { try #require($0.payload.wording?.text) }
            }
            return texts
        }
        try await expect(texts(.mastodon)) { $0.contains { $0.contains(link) } }
        let short = PublishingLimits(
            maximumCharacters: 100, charactersPerURL: nil, unit: .codePoints)
        try await expect(texts(short)) { !$0.isEmpty && !$0.contains { $0.contains(link) } }
    }

    /// What rules of an earlier version called plain is looked at again when it is chosen, and when
    /// it leaves.
    @Test func whatEarlierRulesJudgedIsJudgedAgainWhenItIsChosen() async throws {
        let mirror = try await mirror(90) { number in
            number % 3 > 0
                ? "Today I counted \(number) boats" : "Thought number \(number) about boats"
        }
        let judge = mirror.textJudge(zone: Self.zone)
        try await mirror.archive.prepare(by: judge)
        try await mirror.storage.lenient.execute(
            """
            UPDATE posts SET grade = -1, fit_when = '', fit_reason = NULL,
                rules = REPLACE(rules, \(" fit\(Fitness.version)"), ' fit1')
            """)
        let maker = maker(mirror)
        var slots: [Intent] = []
        for number in 0..<20 {
            let day = LocalTime(Self.now, in: Self.zone).day.advanced(by: number)
            slots += try #require(try await maker.preview(day, now: Self.now, watching: false))
                .slots
        }
        expect(slots) {
            $0.count > 5 && $0.allSatisfy { $0.payload.wording?.text.hasPrefix("Thought") == true }
        }
        let unwanted = try await mirror.archive.unwanted(in: Self.zone)
        func unfitness(_ number: Int) async throws -> ReasonCode? {
            let id = PostID(network: .mastodon, value: "https://sandbox.example/\(number)")
            return try await maker.unfitness(
                of: try #require(try await mirror.archive.original(id)), unwanted, at: Self.now)
        }
        try await expect(unfitness(0), equals: nil)
        // A person sets that links are left out, and nothing has been judged since.
        var strict = maker
        strict.judge.rules.links = .leftOut
        _ = try await mirror.archive.store(
            [Self.post(200, "https://example.org/ tells of boats")], timeZone: Self.zone, limit: nil
        )
        let linked = try #require(
            try await mirror.archive.original(
                PostID(network: .mastodon, value: "https://sandbox.example/200")))
        try await expect(strict.unfitness(of: linked, unwanted, at: Self.now), equals: "has-link")
        // Nothing was judged but what was chosen.
        try await expect(mirror.archive.preparedBy()?.last) { $0?.contains(" fit1") == true }
    }

    /// A habit takes the whole archive to find, so that it holds until that was counted again.
    @Test func whatOnlyTheArchiveTellsHoldsUntilItIsCounted() async throws {
        let mirror = try await mirror(40) { number in
            number == 5 ? "Boat \(number) at #harborfest" : "Thought number \(number) about boats"
        }
        try await mirror.archive.prepare(by: mirror.textJudge(zone: Self.zone))
        try await mirror.storage.lenient.execute(
            "UPDATE posts SET rules = REPLACE(rules, \(" fit\(Fitness.version)"), ' fit1')")
        let id = PostID(network: .mastodon, value: "https://sandbox.example/5")
        let original = try #require(try await mirror.archive.original(id))
        #expect(original.judged.fitness.reason == "rare-tag")
        let unwanted = try await mirror.archive.unwanted(in: Self.zone)
        try await expect(
            maker(mirror).unfitness(of: original, unwanted, at: Self.now), equals: "rare-tag")
    }

    // MARK: Plans

    /// A plan does not wait for the archive, and has texts nevertheless.
    @Test func aPlanJudgesAFewTextsOnly() async throws {
        let mirror = try await mirror(1_500)
        let day = LocalTime(Self.now, in: Self.zone).day
        var slots: [Intent] = []
        for number in 0..<8 {
            slots += try #require(
                try await maker(mirror).preview(
                    day.advanced(by: number), now: Self.now, watching: false)
            ).slots
        }
        #expect(!slots.isEmpty)
        expect(slots) { $0.allSatisfy { $0.payload.wording != nil } }
        // Twice 50 before the first plan, 50 before each other.
        try await expect(judged(mirror), equals: 450)
        // The worker judges them once more when it has counted habits.
        try await mirror.archive.prepare(by: mirror.textJudge(zone: Self.zone))
        try await expect(mirror.archive.preparedBy()?.last) {
            $0?.hasSuffix(Habits.unknown) == false
        }
        try await expect(
            mirror.archive.preparedBy()?.first, equals: mirror.archive.preparedBy()?.last)
    }

    /// A command that names a slot of another day makes no plan wait for the archive, and writes
    /// nothing.
    @Test(arguments: ["2026-07-01#1", "2027-03-01#2", "12:00", "0123456789ab"])
    func namingASlotJudgesNothingAgain(_ name: String) async throws {
        let bare = try await BareMirror(variables: ["TIME_ZONE": Self.zone.identifier])
        var counter: CountingEngine?
        let mirror = try await HumanMirror.open(try bare.configuration(), making: .mirror) {
            place in
            let engine = CountingEngine(try await Storage.open(place))
            counter = engine
            return engine
        }
        try await mirror.closing { mirror in
            _ = try await mirror.table.notePast(.whole, now: Self.now)
            _ = try await mirror.archive.store(
                (0..<80).map { Self.post($0, "Thought number \($0) about rivers") },
                timeZone: Self.zone, limit: nil)
            // As a worker does that knows the bot's server.
            let limits = PublishingLimits(
                maximumCharacters: 5_000, charactersPerURL: nil, unit: .codePoints)
            try await mirror.archive.prepare(by: mirror.textJudge(zone: Self.zone, limits: limits))
            _ = try await mirror.archive.scheduleRows()
            let numbers = try await #require(counter).counting {
                // Whether there is such a slot does not matter here.
                _ = try? await mirror.action(named: name, in: Self.zone, now: Self.now)
            }
            #expect(numbers.changes == 0)
            #expect(numbers.statements > 0)
        }
    }

    // MARK: Workers

    /// A life before whose first look no text of 1,200 more is judged.
    private func unjudged() async throws -> MirrorFixture {
        let fixture = try await MirrorFixture.start(days: 1, from: 8)
        let mirror = fixture.mirror
        _ = try await mirror.archive.store(
            (0..<1_200).map { Self.post($0, "Thought number \($0) about rivers") },
            timeZone: Sample.zone,
            limit: 100_000)
        try await mirror.storage.lenient.execute(
            "UPDATE posts SET rules = '', text_key = NULL, unfit = NULL")
        return fixture
    }

    /// A worker whose archive is not judged hears, and plans, before it is.
    @Test func whatIsSaidAndWhatIsDueComesBeforeTheArchive() async throws {
        let fixture = try await unjudged()
        let mirror = fixture.mirror
        try await fixture.live(until: 8 + 9.0 / 3_600)
        let read = try await mirror.feeds.health(now: fixture.clock.now)
        expect(read) { $0.contains { $0.feed == FeedName.botMentions && $0.lastSuccess != nil } }
        let slots = try await fixture.slots()
        #expect(!slots.isEmpty)
        try await expect(judged(mirror)) { (1...500).contains($0) }
        try await fixture.live(until: 8.1)
        try await expect(
            mirror.archive.preparedBy()?.first, equals: mirror.archive.preparedBy()?.last)
        try await expect(judged(mirror)) { $0 > 1_200 }
    }

    /// A worker that looks only once judges last, so not at all where its looks fail.
    @Test func whoLooksOnceJudgesLast() async throws {
        let fixture = try await unjudged()
        let mirror = fixture.mirror
        fixture.sandbox.faults.failNext(
            .error(status: 503, message: "later"), count: 50, method: "GET",
            path: "/api/v1/notifications")
        await #expect(throws: NetworkError.self) { try await fixture.worker().runOnce() }
        try await expect(judged(mirror)) { $0 <= 500 }
        fixture.sandbox.faults.clearPlanned()
        try await expect(fixture.worker().runOnce(), equals: true)
        try await expect(
            mirror.archive.preparedBy()?.first, equals: mirror.archive.preparedBy()?.last)
        try await expect(judged(mirror)) { $0 > 1_200 }
    }

    // MARK: Neighbours

    /// What comes within five minutes after another post that answers nobody is no plain text.
    @Test(arguments: Engine.allCases) func whatFollowsCloselyIsNotPlain(_ engine: Engine)
        async throws
    {
        let mirror = try await BareMirror(engine).open()
        let seconds: [Double] = [0, 299, 300, 700, 1_100, 1_200]
        var posts = seconds.enumerated().map { number, second in
            var post = Self.post(number, "Thought number \(number) about rivers")
            post.createdAt = Self.now + second
            return post
        }
        // After an answer, and where the time was lost.
        posts[3].replyTo = ReplyTarget(
            author: AccountID(network: .mastodon, value: "ben@b.example"))
        posts[4].createdAt = Self.now + 750
        posts[5].isTimeTrusted = false
        _ = try await mirror.archive.store(posts, timeZone: Self.zone, limit: 100_000)
        try await mirror.archive.prepare(by: mirror.textJudge(zone: Self.zone))
        let rows = try await mirror.storage.query(
            "SELECT fit_reason, grade FROM posts WHERE is_reply = FALSE ORDER BY created_ms")
        try expect(
            rows.map { try $0.optionalText("fit_reason") },
            equals: [nil, "follows-closely", "follows-closely", nil, nil])
        try expect(rows.map { try $0.int("grade") }, equals: [-1, 0, 0, -1, -1])
    }

    // MARK: Too few

    /// A rule that silences a mirror is named; one that leaves enough is not.
    @Test(arguments: [(4, true), (6, false)]) func aRuleThatLeavesHardlyATextIsNamed(
        usable: Int, isTold: Bool
    )
        async throws
    {
        let mirror = try await mirror(60, variables: ["TIME_ZONE": "Europe/Berlin"]) { number in
            number < usable
                ? "Thought number \(number) about rivers" : "Read https://short.example/\(number)"
        }
        try await mirror.archive.prepare(by: mirror.textJudge(zone: Self.zone))
        let told = await Doctor(mirror: mirror).findings(now: Self.now).filter {
            $0.subject == "texts"
        }
        #expect(told.count == (isTold ? 1 : 0), "\(told)")
        expect(told) {
            $0.allSatisfy {
                $0.verdict == .warn && $0.text.hasPrefix("4 of 60 texts may be posted")
            }
        }
        expect(told) {
            $0.allSatisfy { $0.text.contains("the rule link-only leaves out 56, since ") }
        }
    }
}
