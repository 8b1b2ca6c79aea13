import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Wishes to take back what was done, in the table.
@Suite struct UndoTests {
    private static let now = OutboxFixture.start

    private static func found(_ id: String = "u") -> LookUpOutcome {
        .found(remoteID: id, remoteAddress: "at-\(id)")
    }

    private func delivered(_ subject: String, _ outbox: OutboxFixture, at time: Date = now)
        async throws -> Action
    {
        let network = ScriptedDeliverer(outcomes: [
            .delivered(remoteID: "id-\(subject)", remoteAddress: "at-\(subject)")
        ])
        return try await outbox.deliver(
            subject, by: Delivery(store: outbox.store, deliverer: network), at: time)
    }

    private func stored(_ subject: String, _ outbox: OutboxFixture) async throws -> Action {
        try #require(try await outbox.store.action(.reply, subject: subject))
    }

    // MARK: What waits, and what happened

    @Test(arguments: OutboxFixture.Engine.allCases)
    func whatWaitsIsKeptFromHappening(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        var suggested = OutboxFixture.reply("suggested")
        suggested.state = .suggested
        let intents = [OutboxFixture.reply("planned"), OutboxFixture.reply("claimed"), suggested]
        for intent in intents { _ = try await outbox.store.propose(intent, now: Self.now) }
        let claimed = try await outbox.store.claim(
            try await stored("claimed", outbox), now: Self.now)
        for subject in ["planned", "claimed", "suggested"] {
            let id = try await stored(subject, outbox).id
            try await expect(
                outbox.store.askUndo(id, reason: .sourceGone, now: Self.now), equals: .withheld)
            let after = try await stored(subject, outbox)
            #expect(after.state == .skipped)
            #expect(after.reason == "source-gone")
            #expect(after.undo?.next == nil)
            try await expect(outbox.store.askUndo(id, now: Self.now), equals: .nothing)
        }
        // The worker that had taken it finds that it may not.
        await #expect(throws: OutboxError.self) {
            _ = try await outbox.store.beginSending(
                claimed, lookUp: Self.now + 90, deadline: .seconds(30), now: Self.now)
        }
        try await expect(outbox.store.askUndo("000000000000", now: Self.now), equals: .unknown)
        try await expect(outbox.nextWorkTime([.reply]), equals: nil)
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func whatHappenedIsTakenBackAndNeverDecidedAgain(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        let done = try await delivered("a", outbox)
        #expect(done.state == .done)
        #expect(done.undo == nil)
        try await expect(outbox.nextWorkTime([]), equals: nil)
        try await expect(outbox.store.askUndo(done.id, now: Self.now + 5), equals: .asked)
        try await expect(outbox.nextWorkTime([], now: Self.now + 5), equals: Self.now + 5)
        // Asking twice is one wish.
        try await expect(
            outbox.store.askUndo(done.id, reason: .retired, now: Self.now + 9), equals: .asked)
        let due = try #require(try await outbox.store.dueUndos(now: Self.now + 9).first)
        #expect(due.undo == Undo(reason: "by-person", asked: Self.now + 5, next: Self.now + 5))

        let taken = try await outbox.store.beginUndo(due, until: Self.now + 130, now: Self.now + 10)
        #expect(taken?.undo?.attempts == 1)
        // Neither another process nor this one makes the same request meanwhile.
        try await expect(
            outbox.store.beginUndo(due, until: Self.now + 130, now: Self.now + 10), equals: nil)
        try await expect(outbox.store.dueUndos(now: Self.now + 11)) { $0.isEmpty }
        try await expect(outbox.nextWorkTime([], now: Self.now + 11), equals: Self.now + 130)

        let undone = try #require(try await outbox.store.undone(done.id, now: Self.now + 12))
        #expect(undone.state == .undone)
        #expect(undone.reason == "by-person")
        #expect(undone.undo?.outcome == Undo.removed)
        try await expect(
            outbox.store.undone(done.id, outcome: Undo.gone, now: Self.now + 13), equals: nil)
        try await expect(outbox.store.askUndo(done.id, now: Self.now + 14), equals: .already)
        try await expect(outbox.nextWorkTime(ActionKind.allCases, now: Self.now + 14), equals: nil)
        try await expect(outbox.store.undoTally(), equals: UndoTally())
        // It stays: nobody decides it again, and what was said counts as said.
        try await expect(outbox.store.propose(OutboxFixture.reply("a"), now: Self.now + 20)) {
            !$0.isNew
        }
        let mika = [AccountID(network: .mastodon, value: "mika@example.com")]
        try await expect(outbox.store.repliesSince(Self.now, to: mika), equals: 1)
        let uses = try await outbox.store.usesOfReplies(to: mika)
        #expect(uses.values.map(\.isInFlight) == [false])
    }

    @Test func aPostThatWasTakenBackCountsAsUsed() async throws {
        let outbox = try await OutboxFixture()
        try await outbox.archive(["post-1"])
        _ = try await outbox.store.store(OutboxFixture.plan, slots: [OutboxFixture.slot(1)])
        let slot = try #require(try await outbox.store.slots(of: OutboxFixture.day).first)
        let network = ScriptedDeliverer(outcomes: [.delivered(remoteID: "u", remoteAddress: "7")])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await delivery.deliver(slot, now: { Self.now }) { .ready($0) }
        _ = try await outbox.store.askUndo(slot.id, now: Self.now)
        try await outbox.store.undone(slot.id, now: Self.now)
        try await expect(outbox.lastUses(), equals: ["post-1": Self.now])
        // A slot that a person withheld was never used.
        _ = try await outbox.store.add(OutboxFixture.slot(2, from: "post-1"), now: Self.now + 1)
        let second = try #require(try await outbox.store.slots(of: OutboxFixture.day).last)
        _ = try await outbox.store.askUndo(second.id, now: Self.now + 1)
        try await expect(outbox.lastUses(), equals: ["post-1": Self.now])
    }

    @Test func aRefusalIsKeptUntilSomebodyAsksAnew() async throws {
        let outbox = try await OutboxFixture()
        let done = try await delivered("a", outbox)
        _ = try await outbox.store.askUndo(done.id, now: Self.now)
        try await outbox.store.undoFailed(done, "too-busy", next: Self.now + 60, now: Self.now + 1)
        try await expect(outbox.store.dueUndos(now: Self.now + 59)) { $0.isEmpty }
        try await expect(outbox.store.dueUndos(now: Self.now + 60).map(\.id), equals: [done.id])
        try await expect(outbox.store.undoTally(), equals: UndoTally(waiting: 1))
        try await outbox.store.undoFailed(done, "forbidden", next: nil, now: Self.now + 61)
        try await expect(outbox.store.dueUndos(now: .distantFuture)) { $0.isEmpty }
        try await expect(outbox.store.undoTally(), equals: UndoTally(refused: 1))
        try await expect(stored("a", outbox).undo?.outcome, equals: "forbidden")
        try await expect(outbox.store.askUndo(done.id, now: Self.now + 90), equals: .asked)
        try await expect(outbox.store.dueUndos(now: Self.now + 90).map(\.id), equals: [done.id])
    }

    // MARK: What may have happened

    @Test(arguments: OutboxFixture.Engine.allCases)
    func whatIsInFlightIsTakenBackOnceItIsFound(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "timeout")], sightings: [Self.found()])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let sent = try await outbox.deliver("a", by: delivery)
        #expect(sent.state == .sending)
        try await expect(outbox.store.askUndo(sent.id, now: Self.now + 5), equals: .remembered)
        try await expect(stored("a", outbox).updated, equals: sent.updated)
        try await expect(outbox.store.dueUndos(now: Self.now + 90)) { $0.isEmpty }
        try await expect(outbox.store.undoTally(), equals: UndoTally(remembered: 1))
        try await expect(delivery.reconcile(at: Self.now + 91).map(\.state), equals: [.done])
        try await expect(outbox.store.dueUndos(now: Self.now + 91).map(\.id), equals: [sent.id])
        try await expect(outbox.store.wantedUndos().map(\.id), equals: [sent.id])
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func whatIsUnwantedIsNeverSentAgain(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "timeout"), .delivered(remoteID: "u", remoteAddress: "7")],
            sightings: [.absent, Self.found()])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let sent = try await outbox.deliver("a", by: delivery)
        let departed = try #require(try await outbox.store.unresolved().first)
        _ = try await outbox.store.askUndo(sent.id, now: Self.now + 5)
        // Nor by a worker that read the row before the wish.
        await #expect(throws: OutboxError.self) {
            _ = try await outbox.store.resend(
                departed, lookUp: Self.now + 190, deadline: .seconds(30), now: Self.now + 91)
        }
        try await expect(delivery.reconcile(at: Self.now + 91).map(\.isUnconfirmed), equals: [true])
        await expect(network.sent.count, equals: 1)
        try await expect(outbox.store.askUndo(sent.id, now: Self.now + 92), equals: .remembered)
        // A sighting makes it done, and then it goes.
        try await expect(delivery.reconcile(at: Self.now + 700).map(\.state), equals: [.done])
        try await expect(outbox.store.dueUndos(now: Self.now + 700).map(\.id), equals: [sent.id])
    }

    @Test func whatNeverLeftIsSkippedAndWhatWasRefusedIsForgotten() async throws {
        let outbox = try await OutboxFixture()
        var departed: [Departed] = []
        for subject in ["a", "b"] {
            let stored = try await outbox.store.propose(OutboxFixture.reply(subject), now: Self.now)
                .action
            let taken = try await outbox.store.claim(stored, now: Self.now)
            departed.append(
                try await outbox.store.beginSending(
                    taken, lookUp: Self.now + 90, deadline: .seconds(30), now: Self.now)
            )
            try await expect(
                outbox.store.askUndo(stored.id, reason: .sourceGone, now: Self.now),
                equals: .remembered)
        }
        let withheld = try await outbox.store.giveBack(
            departed[0], until: Self.now + 60, reason: "x", now: Self.now)
        #expect(withheld.state == .skipped)
        #expect(withheld.reason == "source-gone")
        #expect(withheld.undo?.next == nil)
        let refused = try await outbox.store.end(
            departed[1], as: .failed, reason: "rejected", now: Self.now)
        #expect(refused.state == .failed)
        #expect(refused.reason == "rejected")
        #expect(refused.undo?.next == nil)
        try await expect(outbox.store.undoTally(), equals: UndoTally())
        try await expect(outbox.nextWorkTime(ActionKind.allCases), equals: nil)
    }

    // MARK: Many

    @Test func theNewestGoesFirstAndTheTableKeepsThePace() async throws {
        let outbox = try await OutboxFixture()
        for number in 0..<5 {
            _ = try await delivered("\(number)", outbox, at: Self.now + Double(number))
        }
        let all = try await outbox.store.undoable([.reply], since: nil, limit: 10)
        #expect(all.map(\.subject) == ["4", "3", "2", "1", "0"])
        try await expect(
            outbox.store.undoable([.reply], since: Self.now + 3, limit: 10).map(\.subject),
            equals: ["4", "3"])
        try await expect(outbox.store.undoable([.post, .favorite], since: nil, limit: 10)) {
            $0.isEmpty
        }
        let answers = try await outbox.store.askUndos(all.map(\.id), now: Self.now + 10)
        #expect(answers.count == 5)
        expect(answers.values) { $0.allSatisfy { $0 == .asked } }
        try await expect(
            outbox.store.dueUndos(now: Self.now + 10, limit: 2).map(\.subject), equals: ["4", "3"])

        let pace = Pace(count: 2, period: 60)
        try await expect(
            outbox.store.nextRoom([.reply], within: pace, now: Self.now + 20), equals: Self.now + 20
        )
        for (number, action) in all.prefix(3).enumerated() {
            try await outbox.store.undone(action.id, now: Self.now + 20 + Double(number))
        }
        try await expect(
            outbox.store.nextRoom([.reply], within: pace, now: Self.now + 30), equals: Self.now + 81
        )
        try await expect(
            outbox.store.nextRoom([.post], within: pace, now: Self.now + 30), equals: Self.now + 30)
        try await expect(
            outbox.store.nextRoom([.reply], within: pace, now: Self.now + 82), equals: Self.now + 82
        )
        // What has no room waits all at once.
        try await outbox.store.putOffUndos([.reply], until: Self.now + 81, now: Self.now + 30)
        try await expect(outbox.store.dueUndos(now: Self.now + 80)) { $0.isEmpty }
        try await expect(outbox.nextWorkTime([], now: Self.now + 30), equals: Self.now + 81)
        try await expect(
            outbox.store.dueUndos(now: Self.now + 81).map(\.subject), equals: ["1", "0"])
    }

    /// However old it is: a network that takes few deletions may need weeks for a long history.
    @Test func aWishIsNotCleanedAway() async throws {
        let outbox = try await OutboxFixture()
        _ = try await outbox.store.store(
            OutboxFixture.plan, slots: [OutboxFixture.slot(1), OutboxFixture.slot(2)])
        for slot in try await outbox.store.slots(of: OutboxFixture.day) {
            let network = ScriptedDeliverer(outcomes: [
                .delivered(remoteID: slot.id, remoteAddress: "7")
            ])
            let delivery = Delivery(store: outbox.store, deliverer: network)
            _ = try await delivery.deliver(slot, now: { Self.now }) { .ready($0) }
        }
        let wanted = try #require(try await outbox.store.slots(of: OutboxFixture.day).first)
        let later = Self.now + 500 * 86_400
        _ = try await outbox.store.askUndo(wanted.id, now: later)
        try await outbox.store.clean(before: Self.now + 100 * 86_400)
        try await expect(outbox.store.recent(10).map(\.id), equals: [wanted.id])
        try await outbox.store.undone(wanted.id, now: later)
        try await outbox.store.clean(before: later + 86_400)
        try await expect(outbox.store.recent(10)) { $0.isEmpty }
    }

    // MARK: Clocks, leases, accounts

    @Test func aWishOfAClockThatWasAheadIsDueAtOnce() async throws {
        let outbox = try await OutboxFixture()
        let done = try await delivered("a", outbox)
        _ = try await outbox.store.askUndo(done.id, now: Self.now + 36_000)
        try await expect(outbox.nextWorkTime([], now: Self.now + 10), equals: Self.now + 10)
        try await expect(outbox.store.dueUndos(now: Self.now + 10).map(\.id), equals: [done.id])
    }

    @Test func aWorkerWithoutTheLeaseTakesNothingBack() async throws {
        let outbox = try await OutboxFixture()
        let done = try await delivered("a", outbox)
        let person = OutboxStore(storage: outbox.storage, mirror: "m", lease: nil)
        try await expect(person.askUndo(done.id, now: Self.now), equals: .asked)
        let due = try #require(try await outbox.store.dueUndos(now: Self.now).first)
        _ = try #require(
            try await outbox.leases.take(owner: "second", after: outbox.leases.record(), now: 1))
        await #expect(throws: OutboxError.self) {
            _ = try await outbox.store.beginUndo(due, until: Self.now + 120, now: Self.now)
        }
        await #expect(throws: OutboxError.self) {
            try await outbox.store.undone(done.id, now: Self.now)
        }
        await #expect(throws: OutboxError.self) {
            _ = try await outbox.store.askUndo(done.id, now: Self.now)
        }
        try await expect(person.undone(done.id, now: Self.now)?.state, equals: .undone)
    }

    @Test func whatAnotherAccountDidIsOutOfReach() async throws {
        let outbox = try await OutboxFixture()
        let wanted = try await delivered("a", outbox)
        let other = try await delivered("b", outbox)
        _ = try await outbox.store.askUndo(wanted.id, now: Self.now)
        try await outbox.storage.transaction {
            try OutboxStore.endActionsOfPreviousAccount(of: "m", on: $0, now: Self.now)
        }
        try await expect(outbox.store.dueUndos(now: .distantFuture)) { $0.isEmpty }
        for action in [wanted, other] {
            try await expect(outbox.store.askUndo(action.id, now: Self.now), equals: .outOfReach)
        }
        try await expect(outbox.store.undoable(ActionKind.allCases, since: nil, limit: 10)) {
            $0.isEmpty
        }
        let own = try await delivered("c", outbox)
        try await expect(outbox.store.askUndo(own.id, now: Self.now), equals: .asked)
    }
}

extension OutboxStore {
    /// What became of the wish to take one action back.
    func askUndo(_ id: String, reason: Action.Reason = .byPerson, now: Date) async throws
        -> UndoAnswer
    {
        try await askUndos([id], reason: reason, now: now)[id] ?? .unknown
    }

    /// How many wishes stand.
    func undoTally() async throws -> UndoTally {
        let rows = try await storage.query("SELECT \(Self.undoNumbers(of: "\(mirror)"))")
        return try rows.first.map(UndoTally.init(row:)) ?? UndoTally()
    }
}
