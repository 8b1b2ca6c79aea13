import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Networks

/// How a mirror ends: one last post, a line in the profile, silence, and nothing left that could
/// break it.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct RetirementTests {
    private static let last = "Thank you for all these mornings. This mirror ends here."
    private static let onX = ["X_ACKNOWLEDGE_POLICY": "yes", "X_BUDGET_USD_PER_MONTH": "50"]

    private func start(
        _ engine: Engine = .sqlite, on network: NetworkName = .mastodon, from hour: Double = 6,
        opening: (StorageLocation) async throws -> any StorageEngine = OpenMirrors.open
    ) async throws -> MirrorFixture {
        let fixture = try await MirrorFixture.start(
            engine, from: hour, human: network, bot: network,
            variables: network == .x ? Self.onX : [:],
            opening: opening)
        try await fixture.mirror.storage.execute(
            """
            INSERT INTO credentials (mirror, role, sealed, updated_ms)
            VALUES (\(MirrorFixture.mirror), 'human-session', 'sealed', 1)
            """)
        return fixture
    }

    private func desk(_ fixture: MirrorFixture) -> Desk { Desk(fixture.mirror, zone: Sample.zone) }

    /// Lets the worker live until it ends by itself, which it does with what `run` tells.
    private func liveToTheEnd(
        _ fixture: MirrorFixture, until hour: Double = 22,
        events: [(hour: Double, action: @Sendable () async throws -> Void)] = []
    ) async throws {
        let end = try await #require(throws: ConfigurationError.self) {
            try await fixture.live(until: hour, events: events)
        }
        #expect("\(end)".contains("has retired"))
    }

    private func logins(_ fixture: MirrorFixture) async throws -> Int {
        try await fixture.mirror.storage.query("SELECT 1 AS found FROM credentials").count
    }

    // MARK: The whole way

    @Test(arguments: NetworkName.allCases) func theLastPostIsTheLast(_ network: NetworkName)
        async throws
    {
        let fixture = try await start(on: network)
        let desk = desk(fixture)
        try await liveToTheEnd(
            fixture,
            events: [
                (
                    12,
                    {
                        let change = try await desk.perform(RetireMirror(last: Self.last))
                        #expect(change.isRetiring)
                        #expect(change.last == Self.last)
                        #expect(change.wayBack == nil)
                    }
                )
            ])
        let ledger = await fixture.sandbox.ledger
        expect(ledger.deliveries) { $0.contains { $0.date < Sample.hour(12) } }
        let late = ledger.deliveries.filter { $0.date >= Sample.hour(12) }
        #expect(late.map(\.text) == [Self.last])
        // A running worker notices at once, and not with its next slot.
        expect(late.map(\.date)) { $0.allSatisfy { $0 < Sample.hour(12) + 900 } }
        expect(ledger.favorites.map(\.date)) { $0.allSatisfy { $0 < Sample.hour(12) } }
        #expect(ledger.removals.isEmpty)
        #expect(ledger.duplicates.isEmpty)
        let retirement = try #require(try await fixture.mirror.table.record().retirement)
        #expect(retirement.isOver)
        try await expect(logins(fixture), equals: 0)
        if let account = try await fixture.mirror.network(of: .bot) as? any ProfiledNetwork {
            try await expect(account.profile().bio) { $0.hasPrefix(ProfileProposal.retiredStart) }
            #expect(retirement.profileNote == nil)
        } else {
            expect(retirement.profileNote) { $0?.contains("only a person") == true }
        }
        // What waited says why it did not leave.
        let planned = try await fixture.actions(.post).filter {
            $0.due > Sample.hour(12) && $0.text != Self.last
        }
        expect(planned) {
            !$0.isEmpty && $0.allSatisfy { $0.state == .skipped && $0.reason == "retired" }
        }
        let health = try await fixture.mirror.health(now: fixture.clock.now)
        #expect(health.obstacles.map(\.code) == [.retired])
        #expect(health.verdict.isWell)
        #expect(health.verdict.text.contains("has retired"))
        // The next process says so, and asks nobody anything.
        let asked = fixture.requests.values.count
        try await liveToTheEnd(fixture, until: 24)
        #expect(fixture.requests.values.count == asked)
        try await expect(
            MirrorTable.versionsOfLiving(in: fixture.mirror.storage, now: fixture.clock.now),
            equals: [:])
    }

    @Test(arguments: NetworkName.allCases) func everythingElseIsTakenBack(_ network: NetworkName)
        async throws
    {
        let fixture = try await start(on: network)
        let desk = desk(fixture)
        try await liveToTheEnd(
            fixture, until: 40,
            events: [
                (14, { _ = try await desk.perform(RetireMirror(last: Self.last, takesBack: true)) })
            ])
        let ledger = await fixture.sandbox.ledger
        let before = ledger.deliveries.filter { $0.date < Sample.hour(14) }
        let after = ledger.deliveries.filter { $0.date >= Sample.hour(14) }
        #expect(!before.isEmpty)
        #expect(after.map(\.text) == [Self.last])
        let removed = Set(ledger.removals.map(\.postID))
        #expect(Set(before.map(\.id)).isSubset(of: removed))
        expect(after.map(\.id)) { removed.isDisjoint(with: $0) }
        let numbers = try await ReportNumbers(of: fixture.mirror, now: fixture.clock.now)
        #expect(numbers.undo == UndoTally())
        try await expect(logins(fixture), equals: 0)
    }

    /// An archived post of the human's is a last post too; without any the bot falls silent alone.
    @Test(arguments: Engine.allCases, [true, false])
    func anArchivedPostOrNone(_ engine: Engine, _ hasLast: Bool) async throws {
        let fixture = try await start(engine)
        let slot = try await fixture.firstSlot()
        let post = try await fixture.source(of: slot)
        let count = await fixture.sandbox.ledger.deliveries.count
        let wish = RetireMirror(last: hasLast ? post.id.value : nil)
        _ = try await desk(fixture).perform(wish)
        try await liveToTheEnd(fixture)
        let said = await fixture.sandbox.ledger.deliveries.dropFirst(count).map(\.text)
        let text = try #require(slot.text)
        #expect(said == (hasLast ? [text] : []))
    }

    // MARK: A date

    @Test func untilItsDateTheMirrorGoesOnAndCanBeKept() async throws {
        let fixture = try await start()
        let desk = desk(fixture)
        let change = try await desk.perform(RetireMirror(date: "6h", last: Self.last))
        #expect(change.date == Sample.hour(12))
        #expect(change.wayBack?.command == "mirror-bot retire --cancel")
        let health = try await fixture.mirror.health(now: fixture.clock.now)
        let note = try #require(health.obstacles.first { $0.code == .retiring })
        #expect(note.weight == .note)
        #expect(note.reason.contains("mirror-bot retire --cancel"))
        try await fixture.live(until: 10)
        await expect(fixture.sandbox.ledger.deliveries) { !$0.isEmpty }
        let kept = try await desk.perform(CancelRetirement())
        #expect(kept.isNew)
        try await fixture.live(until: 16)
        await expect(fixture.sandbox.ledger.deliveries) {
            $0.contains { $0.date > Sample.hour(12) }
        }
        await expect(fixture.sandbox.ledger.deliveries) { $0.allSatisfy { $0.text != Self.last } }
        // And it ends at the date of another wish, without anybody's doing.
        _ = try await desk.perform(RetireMirror(date: "2h", last: Self.last))
        try await liveToTheEnd(fixture)
        let late = await fixture.sandbox.ledger.deliveries.filter { $0.date >= Sample.hour(18) }
        #expect(late.map(\.text) == [Self.last])
        expect(late.map(\.date)) { $0.allSatisfy { $0 < Sample.hour(18) + 120 } }
    }

    /// From the date on nothing else leaves, even if no worker has noticed it, or a clock is set
    /// back afterwards.
    @Test func whatIsDueAfterTheDateNeverLeaves() async throws {
        let fixture = try await start()
        _ = try await fixture.firstSlot()
        let store = fixture.mirror.outbox(lease: nil)
        _ = try await desk(fixture).perform(RetireMirror(date: "1h", last: Self.last))
        try await expect(store.due(ActionKind.allCases, now: Sample.hour(7) + 1), equals: [])
        try await fixture.mirror.storage.execute(
            "UPDATE mirrors SET retire_begun_ms = \(Sample.hour(7).milliseconds)")
        try await expect(store.due(ActionKind.allCases, now: Sample.hour(6.5)), equals: [])
    }

    @Test func whatHasBegunIsForGood() async throws {
        let fixture = try await start()
        let desk = desk(fixture)
        _ = try await desk.perform(RetireMirror(last: Self.last))
        try await liveToTheEnd(fixture)
        for operation in [0, 1] {
            let refusal = await #expect(throws: ChangeRefusal.self) {
                if operation == 0 { _ = try await desk.perform(CancelRetirement()) }
                if operation == 1 { _ = try await desk.perform(RetireMirror(last: Self.last)) }
            }
            #expect(refusal?.code == .over)
        }
    }

    // MARK: What is asked for

    @Test(arguments: [
        ("--on", RetireMirror(date: "yesterday")), ("passed", RetireMirror(date: "2020-01-01")),
        ("not fit", RetireMirror(last: "!!! ... !!!")),
        ("not fit", RetireMirror(last: String(repeating: "farewell ", count: 80))),
        ("names no archived post", RetireMirror(last: "https://home.example/@haruka/1")),
    ]) func whatCannotBeIsRefused(_ words: String, _ wish: RetireMirror) async throws {
        let fixture = try await start()
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await desk(fixture).perform(wish)
        }
        expect(refusal?.description) { $0?.contains(words) == true }
        try await expect(fixture.mirror.table.record().retirement, equals: nil)
    }

    /// Nobody is notified by it.
    @Test func theLastPostNamesNobody() async throws {
        let fixture = try await start()
        let change = try await desk(fixture).perform(
            RetireMirror(last: "Good bye @aoi and thank you"))
        #expect(change.last == "Good bye aoi and thank you")
    }

    /// The digest of what was shown counts; a second press is no error.
    @Test func whatWasSeenCounts() async throws {
        let fixture = try await start()
        let desk = desk(fixture)
        let seen = try await RetirementSubject(fixture.mirror).seen
        let wish = RetireMirror(date: "30d", last: Self.last)
        _ = try await desk.perform(PersonRequest(wish, seen: seen))
        let again = try await desk.perform(PersonRequest(wish, seen: seen))
        #expect(again.isNew == false)
        let refusal = await #expect(throws: ChangeRefusal.self) {
            try await desk.perform(
                PersonRequest(RetireMirror(date: "30d", takesBack: true), seen: seen))
        }
        #expect(refusal?.code == .changed)
    }

    // MARK: What gets in the way

    /// A worker that is killed after any change is followed by one that goes on, and the last post
    /// is sent once.
    @Test(arguments: NetworkName.allCases, 0..<3)
    func aKilledWorkerIsFollowedByOneThatGoesOn(_ network: NetworkName, _ seed: Int) async throws {
        let engines = Recorder<MortalEngine>()
        let fixture = try await start(on: network) { location in
            let engine = MortalEngine(try await OpenMirrors.open(location))
            engines.add(engine)
            return engine
        }
        let engine = try #require(engines.values.first)
        try await fixture.live(until: 10)
        let before = await fixture.sandbox.ledger.deliveries.count
        _ = try await desk(fixture).perform(RetireMirror(last: Self.last, takesBack: true))
        var generator = SeededGenerator(seed: UInt64(seed))
        var lives = 0
        var record = try await fixture.mirror.table.record()
        while record.retirement?.isOver != true, lives < 600 {
            lives += 1
            // Later ones live longer: a start on X alone makes more changes than the first.
            engine.live(for: Int.random(in: 1...(9 + lives / 3), using: &generator))
            _ = try? await fixture.worker().runOnce()
            engine.live(for: nil)
            try await fixture.mirror.storage.execute("UPDATE leases SET released = \(true)")
            try await fixture.wait(until: fixture.clock.now + 100)
            record = try await fixture.mirror.table.record()
        }
        #expect(
            record.retirement?.isOver == true,
            "after \(lives) lives: \(String(describing: record.retirement))")
        #expect(lives > 3)
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.deliveries.dropFirst(before).map(\.text) == [Self.last])
        #expect(ledger.duplicates.isEmpty)
        #expect(
            Set(ledger.deliveries.prefix(before).map(\.id)).isSubset(
                of: Set(ledger.removals.map(\.postID))))
        try await expect(logins(fixture), equals: 0)
    }

    /// A pause holds the end up as it holds up all else, and a worker that looks once carries it
    /// out too.
    @Test func aPauseHoldsItUp() async throws {
        let fixture = try await start()
        let desk = desk(fixture)
        // No worker has seen the human's login yet: the end does.
        _ = try await desk.perform(PauseMirror())
        _ = try await desk.perform(RetireMirror(last: Self.last))
        try await fixture.live(until: 8, after: "Paused", events: [])
        await expect(fixture.sandbox.ledger.deliveries.isEmpty, equals: true)
        _ = try await desk.perform(ResumeMirror())
        for _ in 0..<5 {
            _ = try await fixture.worker().runOnce()
            try await fixture.wait(until: fixture.clock.now + 100)
        }
        await expect(fixture.sandbox.ledger.deliveries.map(\.text), equals: [Self.last])
        try await expect(fixture.mirror.table.record().retirement?.isOver, equals: true)
    }

    /// Who never agreed says no last post either.
    @Test func withoutConsentThereIsNoLastPost() async throws {
        let fixture = try await start()
        try await fixture.live(until: 8)
        let before = await fixture.sandbox.ledger.deliveries.count
        try await fixture.mirror.table.stop(now: fixture.clock.now)
        _ = try await desk(fixture).perform(RetireMirror(last: Self.last))
        try await liveToTheEnd(fixture)
        await expect(fixture.sandbox.ledger.deliveries.count, equals: before)
    }

    /// An older state of the database brings neither the logins nor the mirror back.
    @Test func noBackupBringsItBack() async throws {
        let fixture = try await start()
        let copies = try TemporaryDirectory()
        try await fixture.mirror.storage.backup(to: copies.path("backup.sqlite"))
        _ = try await desk(fixture).perform(RetireMirror())
        try await liveToTheEnd(fixture)
        try await fixture.mirror.storage.execute("UPDATE leases SET released = \(true)")
        let configuration = try fixture.configuration()
        _ = try await Restoration(configuration, clock: fixture.clock).restore(
            copies.path("backup.sqlite"))
        try await expect(fixture.mirror.table.record().retirement?.isOver, equals: true)
        try await expect(logins(fixture), equals: 0)
    }
}
