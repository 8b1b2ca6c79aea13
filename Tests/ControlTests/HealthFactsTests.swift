import Archive
import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings
@testable import Storage

/// That the facts of a mirror's health are read as they are, and lead to the same everywhere.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct HealthFactsTests {
    private let clock = VirtualClock(startingAt: BareMirror.now)

    private func pass(_ seconds: TimeInterval) async throws {
        try await clock.sleep(until: clock.now + seconds)
    }

    /// A mirror that works, with a worker that has just beaten.
    private func working(
        _ engine: Engine = .sqlite, _ variables: [String: String] = BareMirror.accounts,
        changing changes: [String: String] = [:]
    ) async throws -> HumanMirror {
        let all = variables.merging(["FAVORITE_MODE": "off"]) { $1 }.merging(changes) { $1 }
        let mirror = try await BareMirror(engine, variables: all).open(clock: clock)
        try await mirror.beginWorking()
        try await mirror.holdByAWorker()
        return mirror
    }

    private func codes(_ mirror: HumanMirror) async throws -> [Obstacle.Code] {
        try await mirror.health(now: clock.now).obstacles.filter { $0.weight != .wanted }.map(
            \.code)
    }

    /// The verdict of `status`, which is that of `status --check`.
    private func verdict(
        _ mirror: HumanMirror, _ location: SourceLocation = #_sourceLocation
    ) async throws -> Health.Verdict {
        let report = try await StatusReporter(mirror: mirror).report(now: clock.now)
        let verdict = try #require(report.verdict)
        let checked = try await mirror.health(now: clock.now)
        #expect(checked.verdict.state == verdict.state, sourceLocation: location)
        #expect(checked.verdict.code == verdict.code, sourceLocation: location)
        #expect((checked.failure == nil) == verdict.isWell, sourceLocation: location)
        return verdict
    }

    @Test(arguments: Engine.allCases) func aMirrorThatLacksNothingIsHealthy(_ engine: Engine)
        async throws
    {
        let mirror = try await working(engine)
        try await expect(codes(mirror)) { $0.isEmpty }
        let verdict = try await verdict(mirror)
        #expect(verdict.state == .healthy)
        #expect(verdict.text.hasPrefix("healthy, next post "), "\(verdict.text)")
    }

    @Test(arguments: Engine.allCases) func onXNothingLeavesWithoutAnAgreementOrMoney(
        _ engine: Engine
    ) async throws {
        let refused = try await working(
            engine, BareMirror.accountsOnX, changing: ["X_ACKNOWLEDGE_POLICY": "no"])
        try await expect(codes(refused), equals: [.policyUnacknowledged])
        var verdict = try await verdict(refused)
        #expect(verdict.state == .failing)
        #expect(
            verdict.text
                == "not sending: X_ACKNOWLEDGE_POLICY is no; the README says what X asks of a mirror"
        )
        try await expect(refused.health(now: clock.now).failure, equals: .configuration)

        let poor = try await working(engine, BareMirror.accountsOnX)
        try await expect(codes(poor)) { $0.isEmpty }
        let spent = try await poor.spending.reserve(
            Money(microdollars: 4_990_000), for: .publish, at: clock.now)
        #expect(spent == nil)
        try await expect(codes(poor), equals: [.budgetSpent])
        verdict = try await self.verdict(poor)
        #expect(verdict.state == .failing)
        #expect(verdict.text.hasPrefix("not sending: X is left alone until "), "\(verdict.text)")
        // A restart or a login would not help: only the money, or the month.
        try await expect(poor.health(now: clock.now).failure, equals: .unavailable)
    }

    @Test(arguments: Engine.allCases) func afterATrainingWasClearedNothingLeaves(_ engine: Engine)
        async throws
    {
        let mirror = try await working(engine)
        try await mirror.forgetTraining()
        try await expect(codes(mirror), equals: [.pastUnknown])
        let report = try await StatusReporter(mirror: mirror).report(now: clock.now)
        #expect(report.verdict?.isWell == false)
        #expect(report.verdict?.text.contains("mirror-bot train scheduler") == true)
        let health = try await mirror.health(now: clock.now)
        #expect(health.failure == .configuration)
    }

    /// What is planned already says so too.
    @Test func anExplanationSaysWhatKeepsAPostFromLeaving() async throws {
        let mirror = try await working(.sqlite, BareMirror.accountsOnX)
        let reporter = ExplainReporter(mirror: mirror)
        try await expect(reporter.report(on: "next", now: clock.now).obstacles, equals: [])
        let poor = try await mirror.spending.reserve(
            Money(microdollars: 4_990_000), for: .publish, at: clock.now)
        #expect(poor == nil)
        let report = try await reporter.report(on: "next", now: clock.now)
        #expect(report.obstacles?.map(\.code) == [.budgetSpent])
    }

    @Test func aPausedMirrorThatWasMovedIsMovedEverywhere() async throws {
        let mirror = try await working()
        try await mirror.table.pause(until: nil, reason: nil, now: clock.now)
        try await expect(verdict(mirror).state, equals: .paused)
        try await mirror.storage.lenient.execute(
            "UPDATE mirrors SET move_id = '1', move_state = 'left', move_place = 'elsewhere', move_ms = 0"
        )
        try await expect(verdict(mirror).state, equals: .failing)
        try await expect(mirror.health(now: clock.now).failure, equals: .configuration)
    }

    @Test func aPauseOfItsOwnWaitsForAPerson() async throws {
        let mirror = try await working()
        try await mirror.table.pause(
            until: nil, reason: "look", code: .firstPostHidden, now: clock.now)
        try await expect(verdict(mirror).state, equals: .failing)
        try await expect(codes(mirror), equals: [.firstPostHidden])
        _ = try await mirror.table.resume(now: clock.now)
        try await mirror.table.pause(until: nil, reason: "look", now: clock.now)
        try await expect(verdict(mirror).state, equals: .paused)
    }

    // MARK: The worker

    @Test(arguments: Engine.allCases) func betweenTwoCallsOfAScheduleTheMirrorIsWell(
        _ engine: Engine
    ) async throws {
        let mirror = try await BareMirror(
            engine, variables: BareMirror.accounts.merging(["FAVORITE_MODE": "off"]) { $1 }
        ).open(clock: clock)
        try await mirror.beginWorking()
        let leases = LeaseTable(storage: mirror.storage, mirror: mirror.name)
        try await expect(codes(mirror), equals: [.noWorker])
        for _ in 0..<3 {
            let lease = try await mirror.holdByAWorker()
            try await leases.notePass(now: clock.now)
            try await leases.release(lease, now: clock.now.milliseconds)
            try await pass(300)
        }
        try await expect(codes(mirror)) { $0.isEmpty }
        try await expect(verdict(mirror).state, equals: .healthy)
        let report = try await StatusReporter(mirror: mirror).report(now: clock.now)
        #expect(report.worker?.state == .passes)
        #expect(report.worker?.lastPass == clock.now - 300)
        try await pass(1_000)
        try await expect(codes(mirror), equals: [.passLate])
        try await expect(mirror.health(now: clock.now).failure, equals: .later)
        // A worker that goes on is none that is called.
        try await mirror.holdByAWorker()
        try await LeaseTable.forgetPasses(of: [mirror.name], in: mirror.storage)
        try await expect(codes(mirror)) { $0.isEmpty }
        try await pass(120)
        try await expect(codes(mirror), equals: [.workerLate])
    }

    /// A worker beats in real time, of which little passes while the mirror's clock is fast.
    @Test func aBeatAgesByRealTime() async throws {
        let clock = VirtualClock(startingAt: BareMirror.now, rate: 1_000)
        let mirror = try await BareMirror(
            variables: BareMirror.accounts.merging(["FAVORITE_MODE": "off"]) { $1 }
        ).open(clock: clock)
        try await mirror.beginWorking()
        try await mirror.holdByAWorker()
        try await clock.sleep(until: BareMirror.now + 59_000)
        try await expect(mirror.health(now: clock.now).obstacles.map(\.code)) {
            !$0.contains(.workerLate)
        }
        try await expect(mirror.isAtWork(now: clock.now), equals: true)
        try await clock.sleep(until: BareMirror.now + 61_000)
        try await expect(mirror.health(now: clock.now).obstacles.map(\.code)) {
            $0.contains(.workerLate)
        }
        try await expect(mirror.isAtWork(now: clock.now), equals: false)
    }

    @Test func onceIsNoted() async throws {
        let fixture = try await MirrorFixture.start(from: 9, variables: ["FAVORITE_MODE": "off"])
        for hour in [9.0, 9.1, 9.2] {
            try await fixture.wait(until: Sample.hour(hour))
            #expect(try await fixture.worker().runOnce())
        }
        let health = try await fixture.mirror.health(now: Sample.hour(9.25))
        #expect(health.verdict.state == .healthy, "\(health.verdict)")
        // The worker that goes on takes the place of the schedule.
        try await fixture.live(until: 9.5)
        let record = try await fixture.leases.record()
        #expect(record?.lastPass == nil)
        try await expect(
            fixture.mirror.health(now: Sample.hour(9.55)).verdict.code, equals: .noWorker)
    }

    @Test func whyAWorkerEndedIsKnownAfterwards() async throws {
        let fixture = try await MirrorFixture.start(from: 9, variables: ["FAVORITE_MODE": "off"])
        try await fixture.live(until: 9.2)
        let other = try await fixture.reopened(changing: ["BOT_ACCESS_TOKEN": "planted-wrong"])
        await #expect(throws: (any Error).self) { try await fixture.worker(on: other).runOnce() }
        let health = try await other.health(now: fixture.clock.now)
        #expect(health.verdict.state == .failing)
        #expect(health.failure == .refused)
        expect(health.obstacles.map(\.code)) {
            $0.contains(.workerEnded) || $0.contains(.botRefused)
        }
    }

    @Test(arguments: Engine.allCases) func theWorkersOwnWritesTellThatTheDatabaseIsFull(
        _ engine: Engine
    ) async throws {
        let mirror = try await working(engine)
        let log = FaultLog(of: mirror, pulse: nil)
        let full = StorageError(.full, "insert a row", because: "the disk is full; make room")
        await log.fails(FeedName.humanPosts, full)
        try await expect(codes(mirror), equals: [.storeFull])
        try await expect(mirror.health(now: clock.now).failure, equals: .unavailable)
        await log.works(FeedName.humanPosts)
        try await expect(codes(mirror)) { $0.isEmpty }
    }

    // MARK: Stored errors

    @Test(arguments: Engine.allCases) func storedErrorsKeepTheirCode(_ engine: Engine) async throws
    {
        let mirror = try await working(engine)
        let paper = PaperNetwork(.mastodon)
        await mirror.refusals.note(paper.error(.accountDisabled, .publish), of: .bot, at: clock.now)
        await mirror.refusals.note(paper.error(.missingScope, .readHome), of: .human, at: clock.now)
        try await expect(codes(mirror), equals: [.botDisabled, .humanLacksScope])
        for role in AccountRole.allCases { await mirror.refusals.clear(role) }
        try await mirror.storage.execute(
            """
            INSERT INTO feeds (mirror, feed, error, error_code, error_ms)
            VALUES (\(mirror.name), 'human-posts', 'no', 'not-found', \((clock.now - 700).milliseconds)),
                (\(mirror.name), 'bot-home', 'words with X_BUDGET_USD_PER_MONTH', 'transport',
                    \((clock.now - 700).milliseconds))
            """)
        try await expect(codes(mirror), equals: [.feedUnread, .humanGone])
        let feeds = try await mirror.feeds.health(now: clock.now)
        #expect(feeds.map(\.errorCode) == ["transport", "not-found"])
    }

    /// A wait that one process was told of is known to the next, and to whoever looks.
    @Test(arguments: Engine.allCases) func aStoredWaitIsKnownToEveryProcess(_ engine: Engine)
        async throws
    {
        let mirror = try await working(engine)
        let wait = AccountWait(
            scope: .everything, code: .capReached, error: "the usage cap is reached",
            since: clock.now,
            noted: clock.now, until: clock.now + 20_000)
        await mirror.refusals.note(wait, wait.scope, of: .bot)
        await mirror.refusals.note(wait, wait.scope, of: .bot)
        try await expect(codes(mirror), equals: [.sendingWaits])
        try await expect(mirror.health(now: clock.now).failure, equals: .later)
        let lines = try await MirrorsStatus(of: mirror.installation, now: clock.now).mirrors
        #expect(lines.map(\.code) == [.sendingWaits])
        await expect(mirror.refusals.waits(of: .bot, at: clock.now), equals: [wait])
        await expect(mirror.refusals.waits(of: .human, at: clock.now), equals: [])
        // What nothing was heard of for a day holds nothing back.
        await expect(mirror.refusals.waits(of: .bot, at: clock.now + 110_000), equals: [])
        await mirror.refusals.note(nil, wait.scope, of: .bot)
        try await expect(codes(mirror)) { $0.isEmpty }
    }

    /// A person's wish that is obeyed is no hindrance, however many ask for it.
    @Test(arguments: Engine.allCases) func whoIsLeftAloneIsNoHindrance(_ engine: Engine)
        async throws
    {
        let mirror = try await working(engine)
        for name in ["a@pal.example", "b@pal.example"] {
            try await mirror.people.set(
                .deny, for: AccountID(network: .mastodon, value: name), at: clock.now)
        }
        _ = try await mirror.people.deny(
            try #require(ServerName(reference: "*@far.example")), at: clock.now)
        try await expect(codes(mirror)) { $0.isEmpty }
        try await expect(verdict(mirror).state, equals: .healthy)
    }

    @Test func quietHoursAndLimitsAreFacts() async throws {
        // 2026-11-18, 20:06 in Tokyo.
        let quiet = try await working(changing: ["QUIET_HOURS": "20:00-07:00"])
        let obstacles = try await quiet.health(now: clock.now).obstacles
        #expect(
            obstacles.filter { $0.code == .quietHours }.map(\.cause) == [
                "QUIET_HOURS last until 07:00"
            ])
        let mute = try await working(changing: [
            "REPLIES_PER_PERSON": "0", "FAVORITE_MODE": "auto", "FAVORITES_PER_DAY": "0",
        ])
        let wanted = try await mute.health(now: clock.now).obstacles.filter { $0.weight == .wanted }
            .map(\.code)
        #expect(wanted == [.noAnswers, .noFavoritesADay])
    }

    // MARK: What status shows

    @Test func aPostOfAnotherDayIsTheNextOne() async throws {
        let mirror = try await working()
        let today = LocalTime(clock.now, in: try #require(mirror.configuration.timeZone)).day
        let plan = StoredPlan(day: today, timeZone: "Asia/Tokyo", seed: "1", made: clock.now)
        #expect(try await mirror.outbox(lease: nil).store(plan, slots: []))
        let report = try await StatusReporter(mirror: mirror).report(now: clock.now)
        #expect(report.slots.isEmpty)
        let next = try #require(report.nextSlot)
        #expect(LocalTime(next, in: .gmt).day >= today)
        let action = try await mirror.action(named: "next", now: clock.now).action
        #expect(abs(action.due.timeIntervalSince(next)) < 1, "the same as explain next")
        expect(report.verdict?.text) { $0?.contains("next post") == true }
    }

    @Test func whatIsPlannedIsNoLastAction() async throws {
        let fixture = try await MirrorFixture.start(from: 6.5, variables: ["FAVORITE_MODE": "off"])
        try await fixture.live(until: 10)
        let report = try await StatusReporter(mirror: fixture.mirror, recentShown: 50).report(
            now: Sample.hour(10))
        #expect(report.slots.contains { $0.state == "planned" })
        #expect(!report.recent.isEmpty)
        expect(report.recent.map(\.state)) { !$0.contains(.planned) && !$0.contains(.suggested) }
    }

    @Test func theLastExaminationIsKept() async throws {
        let mirror = try await working()
        try await expect(
            StatusReporter(mirror: mirror).report(now: clock.now).examination, equals: nil)
        let findings: [Finding] = [
            .ok("database", "there"), .warn("clock", "late", fix: "set it"),
            .fail("bot", "no", cause: .refused),
        ]
        try await mirror.keep(findings, now: clock.now)
        try await mirror.keep(findings, now: clock.now + 60)
        let last = try #require(try await mirror.lastFindings())
        #expect(last.findings == findings)
        #expect(last.at == clock.now + 60)
        let examination = try await StatusReporter(mirror: mirror).report(now: clock.now)
            .examination
        #expect(examination == LastExamination(at: clock.now + 60, failed: 1, warned: 1))
    }

    // MARK: What it costs

    @Test(arguments: Engine.allCases) func aReportAsksLittleAndWritesNothing(_ engine: Engine)
        async throws
    {
        let bare = try await BareMirror(
            engine,
            variables: BareMirror.accountsOnX.merging([
                "FAVORITE_MODE": "suggest"
            ]) { $1 })
        let first = try await bare.open(clock: clock)
        try await first.beginWorking()
        try await first.holdByAWorker()
        let zone = try #require(first.configuration.timeZone)
        let day = LocalTime(clock.now, in: zone).day
        let maker = first.planMaker(
            zone: zone, store: first.outbox(lease: nil), limits: .usual(of: .x))
        // A day that nobody has planned is foreseen, which costs what planning it does.
        for day in [day, day.advanced(by: 1)] {
            _ = try await maker.make(
                day, now: clock.now, activated: clock.now, watching: true, onDrawn: {})
        }

        let counter = CountingEngine(first.storage.lenient)
        let installation = Installation(
            counter, try bare.configuration(), clock: clock, logger: first.logger)
        let mirror = try await HumanMirror(try bare.configuration().mirror, in: installation)
        let status = try await counter.counting {
            _ = try await StatusReporter(mirror: mirror).report(now: clock.now)
        }
        // One of them counts what only the report tells, so that a look at the health alone need
        // not.
        #expect(status.statements <= 30, "\(status)")
        #expect(status.changes == 0)
        let check = try await counter.counting { _ = try await mirror.health(now: clock.now) }
        #expect(check.statements <= 11, "\(check)")
        #expect(check.changes == 0)
        print("statements of status: \(status), of --check: \(check)")
        await installation.close()
    }
}
