import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What a person, or the mirror itself, wants taken back, by a worker and beside one.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct TakingBackTests {
    private func done(_ fixture: MirrorFixture) async throws -> [Action] {
        try await fixture.mirror.outbox(lease: nil).undoable(
            ActionKind.allCases, since: nil, limit: 10_000
        )
        .filter { $0.state == .done }
    }

    /// Asks for one action of each kind, and gives their identifiers.
    private func askForOneOfEach(_ fixture: MirrorFixture) async throws -> [String] {
        let all = try await done(fixture)
        let ids = try ActionKind.allCases.map { kind in
            try #require(all.first { $0.kind == kind }).id
        }
        let answers = try await fixture.mirror.outbox(lease: nil).askUndos(
            ids, now: fixture.clock.now)
        expect(answers.values) { $0.allSatisfy { $0 == .asked } }
        return ids
    }

    @Test func theWorkerTakesBackWhatIsUnwantedAndNothingElse() async throws {
        let fixture = try await MirrorFixture.start(.postgres, from: 8)
        let wanted = Recorder<String>()
        try await fixture.live(
            until: 20,
            events: [(16, { for id in try await askForOneOfEach(fixture) { wanted.add(id) } })])
        #expect(wanted.values.count == 3)
        let stored = try await fixture.mirror.outbox(lease: nil).actions(withIDs: wanted.values)
        for action in stored.values {
            #expect(action.state == .undone)
            #expect(action.undo?.outcome == Undo.removed)
            #expect(action.undo?.attempts == 1)
            // Without waiting for the publisher's next look.
            #expect(action.updated < Sample.hour(16) + 700)
        }
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.removals.map(\.kind.rawValue).sorted() == ["favorite", "post", "post"])
        let left = try await done(fixture)
        #expect(left.count == ledger.deliveries.count + ledger.favorites.count - 3)
        #expect(ledger.duplicates.isEmpty)
        expect(fixture.log.values) { $0.contains { $0.contains("Action taken back") } }
        let report = try await ExplainReporter(mirror: fixture.mirror).report(
            on: wanted.values[0], now: fixture.clock.now)
        #expect(report.undo?.done != nil)
        #expect(report.undo?.reason.code == "by-person")
        #expect(report.undo?.attempts == 1)
    }

    @Test(arguments: [NetworkName.bluesky, .x]) func onOtherNetworksToo(_ network: NetworkName)
        async throws
    {
        let fixture = try await MirrorFixture.start(
            from: 8, bot: network,
            variables: ["X_ACKNOWLEDGE_POLICY": "yes", "X_BUDGET_USD_PER_MONTH": "50"])
        try await fixture.live(
            until: 20,
            events: [
                (
                    18,
                    {
                        let ids = try await done(fixture).map(\.id)
                        #expect(!ids.isEmpty)
                        _ = try await fixture.mirror.outbox(lease: nil).askUndos(
                            ids, now: fixture.clock.now)
                    }
                )
            ])
        let ledger = await fixture.sandbox.ledger
        let before = ledger.deliveries.filter { $0.date < Sample.hour(18) }.map(\.id)
        #expect(!before.isEmpty)
        #expect(Set(before).isSubset(of: Set(ledger.removals.map(\.postID))))
        #expect(ledger.duplicates.isEmpty)
        try await expect(fixture.mirror.undoTally(), equals: UndoTally())
    }

    @Test func aPauseDoesNotStopIt() async throws {
        let fixture = try await MirrorFixture.start(from: 8)
        try await fixture.live(
            until: 20,
            events: [
                (
                    15,
                    {
                        try await fixture.mirror.table.pause(
                            until: nil, reason: nil, now: fixture.clock.now)
                    }
                ),
                (16, { _ = try await askForOneOfEach(fixture) }),
            ])
        let removals = await fixture.sandbox.ledger.removals
        #expect(removals.count == 3)
        expect(removals) { $0.allSatisfy { $0.date < Sample.hour(16) + 120 } }
        await expect(fixture.sandbox.ledger.deliveries) {
            $0.allSatisfy { $0.date < Sample.hour(15) + 60 }
        }
    }

    @Test func aDryRunTakesNothingBack() async throws {
        let fixture = try await MirrorFixture.start(from: 8)
        try await fixture.live(until: 16)
        _ = try await askForOneOfEach(fixture)
        _ = try await fixture.worker().dryRun { _ in }
        await expect(fixture.sandbox.ledger.removals) { $0.isEmpty }
        #expect(try await fixture.worker().runOnce())
        await expect(fixture.sandbox.ledger.removals.count, equals: 3)
    }

    // MARK: On paper

    /// A mirror whose bot did so many posts, on a network that does as it is told.
    private func paper(_ count: Int) async throws -> (PaperMirror, OutboxStore, [Action]) {
        let mirror = try await PaperMirror(bot: .mastodon, human: .mastodon)
        let store = mirror.mirror.outbox(lease: nil)
        let now = mirror.clock.now
        var actions: [Action] = []
        for number in 0..<count {
            let wording = Action.Wording(
                source: PostID(network: .mastodon, value: "source-\(number)"),
                text: "text \(number)",
                visibility: .unlisted)
            let name = Slot.Name(day: LocalTime(now, in: .gmt).day, number: number + 1)
            let intent = Intent(.post(name, wording), due: now, expires: now + 900)
            let claimed = try await store.claim(
                try await store.propose(intent, now: now).action, now: now)
            let sending = try await store.beginSending(
                claimed, lookUp: now + 90, deadline: .seconds(30), now: now)
            actions.append(
                try await store.confirm(
                    sending, remoteID: "id-\(number)", remoteAddress: "at-\(number)", now: now))
        }
        return (mirror, store, actions)
    }

    private func takingBack(_ mirror: PaperMirror) -> TakingBack {
        TakingBack(mirror.mirror, network: mirror.bot, lease: nil)
    }

    @Test func theNetworksPaceIsKeptWhateverIsAsked() async throws {
        let (mirror, store, actions) = try await paper(7)
        mirror.bot.with { $0.capabilities.deletionPace = Pace(count: 3, period: 600) }
        _ = try await store.askUndos(actions.map(\.id), now: mirror.clock.now)
        var times: [TimeInterval] = []
        let start = mirror.clock.now
        while let next = try await store.nextUndo(now: mirror.clock.now) {
            try await mirror.wait(max(0, next.timeIntervalSince(mirror.clock.now)))
            let round = try await takingBack(mirror).carryOut()
            times += round.tried.map { _ in mirror.clock.now.timeIntervalSince(start) }
        }
        #expect(times.map { Int($0 / 600) } == [0, 0, 0, 1, 1, 1, 2])
        #expect(mirror.bot.with { $0.deleted.count } == 7)
    }

    @Test func aBusyServerIsLeftAloneAsLongAsItWishes() async throws {
        let (mirror, store, actions) = try await paper(3)
        _ = try await store.askUndos(actions.map(\.id), now: mirror.clock.now)
        let wish = mirror.clock.now + 1_000
        mirror.bot.with { state in
            state.failure = { [bot = mirror.bot] operation, _ in
                operation == .delete
                    ? bot.error(.rateLimited, .delete, retryAfter: wish, outcome: .refused) : nil
            }
        }
        let round = try await takingBack(mirror).carryOut()
        #expect(round.takenBack == 0)
        #expect(round.obstacle?.code == .rateLimited)
        #expect(mirror.bot.with { $0.calls.count { $0 == .delete } } == 1)
        let next = try #require(try await store.nextUndo(now: mirror.clock.now))
        #expect(next >= wish)
        #expect(next < wish + 200)
        mirror.bot.with { $0.failure = { _, _ in nil } }
        try await mirror.wait(next.timeIntervalSince(mirror.clock.now))
        try await expect(takingBack(mirror).carryOut().takenBack, equals: 3)
    }

    /// A definite no is about the one post, and is kept; the others go on.
    @Test func aRefusalIsKeptAndTold() async throws {
        let (mirror, store, actions) = try await paper(2)
        _ = try await store.askUndos(actions.map(\.id), now: mirror.clock.now)
        let isFirst = Recorder<Int>()
        mirror.bot.with { state in
            state.failure = { [bot = mirror.bot] operation, _ in
                guard operation == .delete else { return nil }
                isFirst.add(1)
                return isFirst.values.count == 1
                    ? bot.error(.forbidden, .delete, outcome: .refused) : nil
            }
        }
        let round = try await takingBack(mirror).carryOut()
        #expect(round.takenBack == 1)
        #expect(round.obstacle == nil)
        try await expect(store.nextUndo(now: mirror.clock.now), equals: nil)
        let receipt = try await Undoing(mirror: mirror.mirror).receipt(for: actions)
        #expect(receipt.refused == 1)
        #expect(receipt.takenBack == 1)
        #expect(receipt.isComplete)
        expect(receipt.actions.compactMap(\.cause).first) {
            $0?.hasPrefix("could not delete a post on Mastodon") == true
        }
        try await expect(
            StatusReporter(mirror: mirror.mirror).report(now: mirror.clock.now).undo?.refused,
            equals: 1)
    }

    /// Friendica and WordPress show a deleted post to anybody who has its link.
    @Test(arguments: [true, false]) func theReceiptSaysWhatTheServerStillShows(isShown: Bool)
        async throws
    {
        let (mirror, store, actions) = try await paper(2)
        mirror.bot.with { $0.showsDeleted = isShown }
        _ = try await store.askUndos(actions.map(\.id), now: mirror.clock.now)
        try await expect(takingBack(mirror).carryOut().takenBack, equals: 2)
        let undoing = Undoing(mirror: mirror.mirror)
        let receipt = try await undoing.receipt(for: actions)
        #expect(receipt.stillShown == (isShown ? 2 : 0))
        #expect(receipt.takenBack == (isShown ? 0 : 2))
        #expect(receipt.isComplete)
        let report = try await ExplainReporter(mirror: mirror.mirror).report(
            on: actions[0].id, now: mirror.clock.now)
        #expect(report.undo?.done != nil)
        #expect(report.undo?.isStillShown == (isShown ? true : nil))
    }

    @Test func aServerThatFailsIsTriedForAWeek() async throws {
        let (mirror, store, actions) = try await paper(1)
        _ = try await store.askUndo(actions[0].id, now: mirror.clock.now)
        mirror.bot.with { state in
            state.failure = { [bot = mirror.bot] operation, _ in
                operation == .delete ? bot.error(.unavailable, .delete, outcome: .unknown) : nil
            }
        }
        let start = mirror.clock.now
        while let next = try await store.nextUndo(now: mirror.clock.now) {
            try await mirror.wait(max(0, next.timeIntervalSince(mirror.clock.now)))
            try await expect(takingBack(mirror).carryOut().takenBack, equals: 0)
        }
        let waited = mirror.clock.now.timeIntervalSince(start)
        #expect(waited > 7 * 86_400)
        #expect(waited < 7.1 * 86_400)
        try await expect(mirror.mirror.undoTally(), equals: UndoTally(refused: 1))
    }
}

extension HumanMirror {
    /// How many wishes to take something back stand, as the mirror's status has them.
    fileprivate func undoTally() async throws -> UndoTally {
        try await ReportNumbers(of: self, now: clock.now).undo
    }
}
