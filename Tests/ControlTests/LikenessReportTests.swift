import Archive
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Storage
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// What the reports of hours, favorites, texts and settings tell that the pages show.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct LikenessReportTests {
    // MARK: Likeness

    private func times(_ hours: [Int], from day: Int = 20_000) -> [LocalTime] {
        hours.enumerated().map { index, hour in
            LocalTime(
                day: LocalDay(ordinal: day + index), minute: MinuteOfDay(hour: hour, minute: 30))
        }
    }

    @Test func theSmallerShareOfEachHourCounts() {
        // Half at 8, half at 20 against a quarter at 8, three quarters at 21.
        let likeness = StatsReport.Likeness(
            human: times([8, 20, 8, 20]), bot: times([8, 21, 21, 21]))
        #expect(likeness.share == 0.25)
        #expect(StatsReport.Likeness(human: times([8, 20]), bot: times([20, 8])).share == 1)
        #expect(StatsReport.Likeness(human: times([8]), bot: times([9])).share == 0)
    }

    @Test func theHalvesAreEveryOtherDay() {
        // The days take turns: nothing in common. Two of each: the same.
        #expect(StatsReport.Likeness(human: times([8, 20, 8, 20]), bot: []).halves == 0)
        #expect(StatsReport.Likeness(human: times([8, 8, 20, 20]), bot: []).halves == 1)
        // Days without a post are no days.
        #expect(
            StatsReport.Likeness(human: times([8]) + times([8], from: 20_010), bot: []).halves == 1)
    }

    @Test func whereThereIsNothingToCompareNothingIsSaid() {
        #expect(
            StatsReport.Likeness(human: [], bot: [])
                == StatsReport.Likeness(share: nil, halves: nil, expected: nil))
        let human = StatsReport.Likeness(human: times([8]), bot: [])
        #expect(human == StatsReport.Likeness(share: nil, halves: nil, expected: nil))
        #expect(StatsReport.Likeness(human: [], bot: times([8])).share == nil)
    }

    /// The mean over all draws, told from each of them.
    private func mean(_ shares: [Double], posts: Int) -> Double {
        var sum = 0.0
        var hours = Array(repeating: 0, count: posts)
        while true {
            let chance = hours.reduce(1) { $0 * shares[$1] }
            let counts = shares.indices.map { hour in
                Double(hours.count { $0 == hour }) / Double(posts)
            }
            sum += chance * zip(shares, counts).reduce(0) { $0 + min($1.0, $1.1) }
            var place = 0
            while place < posts, hours[place] == shares.count - 1 {
                hours[place] = 0
                place += 1
            }
            guard place < posts else { return sum }
            hours[place] += 1
        }
    }

    @Test(arguments: [1, 2, 3, 5])
    func whatChanceLeavesIsTheMeanOverAllDraws(_ posts: Int) throws {
        let human = times([8, 8, 8, 8, 8, 12, 12, 12, 20, 20])
        let likeness = StatsReport.Likeness(
            human: human, bot: times(Array(repeating: 8, count: posts)))
        let expected = mean([0.5, 0.3, 0.2], posts: posts)
        try expect(#require(likeness.expected)) { abs($0 - expected) < 1e-9 }
    }

    @Test func manyPostsAreNearlyAsAlikeAsCanBe() throws {
        let human = times((0..<2_400).map { $0 % 24 })
        let many = try #require(
            StatsReport.Likeness(human: human, bot: times((0..<100_000).map { $0 % 24 })).expected)
        #expect(many > 0.99 && many < 1)
        // One hour alone is always met.
        #expect(StatsReport.Likeness(human: times([8, 8]), bot: times([9])).expected == 1)
    }

    @Test func statsTellWhatTheirPartsTell() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 22)
        let reporter = StatsReporter(mirror: fixture.mirror, zone: Sample.zone)
        let now = Sample.hour(22)
        let stats = try await reporter.report(now: now)
        let times = try await reporter.times(now: now)
        let taste = try await reporter.taste()
        #expect(
            stats.humanPosts == times.human && stats.botPosts == times.bot
                && stats.days == times.days)
        #expect(
            stats.likeness == times.likeness && stats.likeness?.share != nil
                && stats.likeness?.halves != nil)
        #expect(stats.authors == taste.authors && stats.wordsFor == taste.wordsFor)
        #expect(stats.wordsAgainst == taste.wordsAgainst && !stats.wordsFor.isEmpty)
        #expect(stats.humanSince.map { $0 < Sample.day } == true)
        #expect(stats.botSince == Sample.day)
    }

    // MARK: The classifier's measure

    private static let measure = ClassifierMeasure(
        measured: Sample.origin, posts: 96, favorites: 12, threshold: 2, fired: 0, hits: 0,
        precision: nil, recall: 0,
        calibration: [ClassifierMeasure.Bin(predicted: 0.1, observed: 0.125, posts: 96)])

    @Test(arguments: Engine.allCases)
    func theLastMeasureIsKept(_ engine: Engine) async throws {
        let mirror = try await BareMirror(engine, variables: ["TIME_ZONE": "UTC"]).open()
        let reporter = StatsReporter(mirror: mirror, zone: .gmt)
        #expect(try await reporter.report(now: Sample.origin).measure == nil)
        try await mirror.keep(Self.measure)
        var second = Self.measure
        second.measured = Sample.origin + 60
        second.precision = 0.5
        try await mirror.keep(second)
        #expect(try await reporter.report(now: Sample.origin).measure == second)
    }

    @Test func aMeasureOfAnotherVersionIsNone() async throws {
        let mirror = try await BareMirror().open()
        try await mirror.keep(Self.measure)
        try await mirror.storage.execute(
            "UPDATE measures SET classifier = '{}' WHERE mirror = \(mirror.name)")
        #expect(try await mirror.classifierMeasure() == nil)
    }

    // MARK: Texts

    private func texts(
        _ mirror: HumanMirror, _ kind: TextList.Search.Kind, reason: String? = nil
    ) async throws -> [TextList.Text] {
        var search = TextList.Search(limit: 1_000)
        search.kind = kind
        search.reason = reason
        return try await TextList(of: mirror, search).texts
    }

    @Test(
        arguments: ["plain", "strict", "loose", "off"].map { (Engine.sqlite, $0) } + [
            (Engine.postgres, "strict")
        ])
    func theListHasAsManyTextsAsTheStatusCounts(_ engine: Engine, _ mode: String) async throws {
        let mirror = try await BareMirror(
            engine, variables: ["TIME_ZONE": Sample.zone.identifier, "FITNESS": mode]
        ).open()
        try await TrainedDatabase.train(mirror)
        let long = Post(
            id: PostID(network: .mastodon, value: "https://home.example/long"),
            author: AccountID(network: .mastodon, value: "me@home.example"),
            text: String(repeating: "bread and butter ", count: 60),
            createdAt: Sample.origin - 86_400)
        _ = try await mirror.archive.store([long], timeZone: Sample.zone, limit: nil)
        try await mirror.archive.prepare(by: mirror.textJudge(zone: Sample.zone))
        let archive = try await StatusReporter(mirror: mirror).archive(
            zone: Sample.zone, now: Sample.origin)
        let state = try #require(archive.texts)
        #expect(try await texts(mirror, .fit).count == state.fit)
        #expect(try await texts(mirror, .sometimes).count == state.sometimes)
        #expect(try await texts(mirror, .unfit).count == state.unfit)
        #expect(try await texts(mirror, .all).count == archive.posts)
        expect(state.unfit) { $0 > 0 }
        for reason in state.reasons {
            let found = try await texts(mirror, .unfit, reason: reason.reason)
            #expect(found.count == reason.count, "\(reason.reason)")
            #expect(
                found.allSatisfy {
                    $0.unfit == reason.reason && $0.unfitText == reason.text && $0.isFit == false
                })
        }
        expect(state.reasons) { $0.contains { $0.reason == "too-long" } }
        let answers = try await texts(mirror, .answers)
        expect(answers) {
            !$0.isEmpty && $0.allSatisfy { $0.fitness == .answer && $0.isFit == nil }
        }
        let sometimes = try await texts(mirror, .sometimes)
        expect(sometimes) { $0.allSatisfy { $0.sometimes != nil && $0.isFit == true } }
        let kinds = state.fit + state.sometimes + state.unfit + state.unjudged + answers.count
        #expect(kinds == archive.posts)
    }

    @Test func aTextThatIsPlannedSaysItsSlot() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 9.5)
        let waiting = try await fixture.mirror.outbox(lease: nil).waitingPosts()
        let slot = try #require(waiting.first)
        let source = try #require(slot.wording?.source)
        let text = try #require(
            try await texts(fixture.mirror, .all).first { $0.post == source.value })
        #expect(text.planned == TextList.Text.Planned(slot: slot.subject, due: slot.due))
        let named = try await TextList.Text(
            of: fixture.mirror, named: source.value, zone: Sample.zone)
        #expect(named == text)
        let open = try await PlanReporter(mirror: fixture.mirror, zone: Sample.zone)
            .openSlots(of: Sample.day, now: fixture.clock.now)
        #expect(open.map(\.subject) == waiting.filter { $0.state == .planned }.map(\.subject))
        #expect(open.first?.seen == slot.seen)
    }

    @Test func aTextIsNotSentTwiceByPressingTwice() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 9.5)
        let desk = Desk(fixture.mirror, zone: Sample.zone)
        let text = try #require(
            try await texts(fixture.mirror, .fit).first { $0.planned == nil && $0.uses == 0 })
        let forecast = try await PublishForecast(at: desk, post: text.post)
        #expect(forecast.post.post == text.post)
        #expect(forecast.cost == nil)
        let before = try await TableContents(of: fixture.mirror.storage)
        _ = try await PublishForecast(at: desk, post: text.post)
        #expect(try await TableContents(of: fixture.mirror.storage) == before)
        let request = PersonRequest(PublishPost(post: text.post), seen: text.seen)
        let slot = try #require(try await desk.perform(request).slots.first)
        let said = try await fixture.mirror.outbox(lease: nil).waitingPosts().first {
            $0.subject == slot.slot
        }
        #expect(forecast.says == said?.texts)
        let again = try await desk.perform(request)
        #expect(!again.isNew)
        #expect(again.slots.map(\.slot) == [slot.slot])
        let posts = try await fixture.mirror.outbox(lease: nil).waitingPosts()
        #expect(posts.count { $0.texts == forecast.says } == 1)
    }

    // MARK: Forgetting

    @Test(
        arguments: [
            .word("Bread"), .day("12-24"), .day("2019-12-24"),
            .days(from: "2019-03-01", to: "2019-06-30"),
            .days(from: "2019-03-01", to: nil),
        ] as [ForgettingWish])
    func whatTheListShowsCanBeTakenBack(_ wish: ForgettingWish) async throws {
        let mirror = try await BareMirror(variables: ["TIME_ZONE": "UTC"]).open()
        let desk = Desk(mirror, zone: .gmt)
        _ = try await desk.perform(ForgetText(wish))
        let entry = try #require(try await desk.forgetting().list().first)
        let back = try #require(ForgettingWish(entry))
        #expect(
            try await desk.perform(PersonRequest(RememberText(back), seen: entry.seen)).isUndone)
        #expect(try await desk.forgetting().list().isEmpty)
    }

    // MARK: Settings

    @Test func aForecastChangesNothing() async throws {
        let mirror = try await BareMirror(variables: ["TIME_ZONE": "UTC", "MAX_PER_DAY": "7"])
            .open()
        try await mirror.set(["MAX_PER_DAY": "9"], now: Sample.origin)
        let before = try await TableContents(of: mirror.storage)
        let set = try await SettingForecast(
            of: mirror, "MAX_PER_DAY", to: "3", zone: .gmt, now: Sample.origin)
        #expect((set.from, set.to, set.origin) == ("9", "3", .stored))
        #expect(set.postsToCome == 0)
        #expect(
            set.sentences == [
                "MAX_PER_DAY from 9 to 3.",
                "Today stays as planned (0 to come); tomorrow will have at most 3.",
                "Taken up within a minute, for what is planned or decided from then on.",
            ])
        let unset = try await SettingForecast(
            of: mirror, "MAX_PER_DAY", to: nil, zone: .gmt, now: Sample.origin)
        #expect((unset.from, unset.to, unset.origin) == ("9", "7", .environment))
        let none = try await SettingForecast(
            of: mirror, "MAX_PER_DAY", to: "0", zone: .gmt, now: Sample.origin)
        expect(none.sentences) { $0.contains { $0.contains("with 0 none of its posts is sent") } }
        for (name, value) in [
            ("QUIET_HOURS", "25:00-26:00"), ("MAX_PER_DAY", "many"), ("TIME_ZONE", "Mars"),
        ] {
            await #expect(throws: ConfigurationError.self) {
                try await SettingForecast(
                    of: mirror, name, to: value, zone: .gmt, now: Sample.origin)
            }
        }
        for name in ["DATABASE_URL", "NETWORK", "NOTHING"] {
            await #expect(throws: ChangeRefusal.self) {
                try await SettingForecast(of: mirror, name, to: "x", zone: .gmt, now: Sample.origin)
            }
        }
        #expect(try await TableContents(of: mirror.storage) == before)
    }

    @Test func aForecastCountsThePostsOfToday() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        try await fixture.live(until: 12.1)
        let now = fixture.clock.now
        let waiting = try await fixture.mirror.outbox(lease: nil).waitingPosts()
        let forecast = try await SettingForecast(
            of: fixture.mirror, "MAX_PER_DAY", to: "1", zone: Sample.zone, now: now)
        #expect(forecast.postsToCome == waiting.count { $0.due > now })
        let hold = try await SettingForecast(
            of: fixture.mirror, "HOLD_WHILE_ACTIVE", to: "1h", zone: Sample.zone, now: now)
        #expect(hold.postsToCome == nil)
    }

    @Test func theReportSaysWhatFormsNeed() async throws {
        let mirror = try await BareMirror(variables: ["TIME_ZONE": "UTC"]).open()
        let report = ConfigReport(try await mirror.settingValues(), problems: [], environment: [:])
        let lines = report.groups.flatMap(\.settings)
        func line(_ name: String) throws -> ConfigReport.Line {
            try #require(lines.first { $0.name == name })
        }
        #expect(try line("FITNESS").choices == ["plain", "strict", "loose", "off"])
        #expect(try line("MAX_PER_DAY").choices == nil)
        #expect(try (line("MAX_PER_DAY").least, line("MAX_PER_DAY").most) == (0, 1_000))
        // A number or a word.
        #expect(try line("MAX_USES").least == nil)
        #expect(lines.count(where: \.isOften) == AnySetting.oftenChanged.count)
        #expect(lines.allSatisfy { $0.canBeStored || !$0.isOften })
    }

    // MARK: Zones

    @Test(
        arguments: [
            ("2026-05-01", "2026-05-31"), (nil, "2026-05-15"), ("2026-05-15", nil),
            ("2031-01-01", nil),
        ] as [(String?, String?)])
    func aZoneReachesThePostsThatItMoves(_ from: String?, _ to: String?) async throws {
        let mirror = try await BareMirror(variables: ["TIME_ZONE": Sample.zone.identifier]).open()
        try await TrainedDatabase.train(mirror)
        let desk = Desk(mirror, zone: Sample.zone)
        let operation = AddZone(zone: "America/New_York", from: from, to: to)
        let (line, posts) = try await operation.reach(at: desk)
        let outcome = try await desk.perform(operation)
        #expect(posts == outcome.moved)
        #expect(line == outcome.change)
    }
}
