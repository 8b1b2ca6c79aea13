import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// Threads as actions: one after the other, each only when the one before is out.
@Suite struct ThreadTests {
    private static let now = OutboxFixture.start
    private static let first = "\(OutboxFixture.day)#1"

    private static func wording(_ number: Int) -> Action.Wording {
        Action.Wording(
            source: PostID(network: .mastodon, value: "source-\(number)"), text: "part \(number)",
            language: "en",
            visibility: .unlisted, pictures: number == 2 ? [Picture(alt: "a hill")] : [])
    }

    private func begin(_ outbox: OutboxFixture) async throws -> Action {
        var wording = Self.wording(1)
        wording.rest = [Action.Part(Self.wording(2)), Action.Part(Self.wording(3))]
        let intent = Intent(
            .post(Slot.Name(day: OutboxFixture.day, number: 1), wording), due: Self.now,
            expires: Self.now + 900)
        return try await outbox.store.propose(intent, now: Self.now).action
    }

    /// Brings an action to an end as a network does.
    private func end(_ action: Action, _ outcome: DeliveryOutcome, _ outbox: OutboxFixture)
        async throws -> Action
    {
        let network = ScriptedDeliverer(outcomes: [outcome])
        var ready = action
        if let wording = action.wording {
            ready.uploads = wording.pictures.indices.map {
                Action.Upload(source: wording.source, place: $0, reference: "m", made: Self.now)
            }
        }
        let given = ready
        return try await Delivery(store: outbox.store, deliverer: network)
            .deliver(action, now: { Self.now }) { _ in .ready(given) }
    }

    private func goOn(_ outbox: OutboxFixture) async throws -> [Action] {
        try await outbox.store.continueThreads(now: Self.now + 60, grace: 900)
    }

    private func delivered(_ number: Int) -> DeliveryOutcome {
        .delivered(remoteID: "uri-\(number)", remoteAddress: "\(number)")
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func eachPartFollowsTheOneBefore(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        let head = try await begin(outbox)
        #expect(head.wording?.rest.map(\.text) == ["part 2", "part 3"])
        try await expect(goOn(outbox)) { $0.isEmpty }
        _ = try await end(head, delivered(1), outbox)
        let second = try #require(try await goOn(outbox).first)
        #expect(second.subject == "\(Self.first)/2")
        #expect(second.text == "part 2")
        #expect(second.state == .planned)
        #expect(second.parent == Action.Parent(post: "uri-1", address: "1"))
        #expect(second.wording?.pictures.map(\.alt) == ["a hill"])
        #expect(second.wording?.rest.map(\.text) == ["part 3"])
        #expect(second.due == Self.now + 60)
        #expect(second.expires == Self.now + 960)
        #expect(second.key != head.key)
        // Once is enough, and nothing follows what is not out.
        try await expect(goOn(outbox)) { $0.isEmpty }
        try await expect(outbox.store.action(.post, subject: second.subject), equals: second)
        _ = try await end(second, delivered(2), outbox)
        let third = try #require(try await goOn(outbox).first)
        #expect(third.subject == "\(Self.first)/3")
        #expect(third.parent?.address == "2")
        #expect(third.wording?.rest == [])
        _ = try await end(third, delivered(3), outbox)
        try await expect(goOn(outbox)) { $0.isEmpty }
        try await expect(
            outbox.store.slots(of: OutboxFixture.day).map(\.state), equals: [.done, .done, .done])
    }

    /// A person who saw it may change it: what its parts are stored as has one order.
    @Test func aThreadThatNobodyChangedIsAsItWasSeen() async throws {
        let outbox = try await OutboxFixture()
        let seen = try await begin(outbox).seen
        for _ in 0..<50 {
            try await expect(outbox.store.action(.post, subject: Self.first)?.seen, equals: seen)
        }
        try await expect(outbox.store.action(.post, subject: Self.first)) { $0 != nil }
    }

    @Test(arguments: [DeliveryOutcome.refused(reason: "rejected"), .unknown(reason: "transport")])
    func nothingFollowsWhatIsNotKnownToBeOut(_ outcome: DeliveryOutcome) async throws {
        let outbox = try await OutboxFixture()
        let head = try await begin(outbox)
        let ended = try await end(head, outcome, outbox)
        let next = try await goOn(outbox)
        guard ended.state == .failed else {
            #expect(ended.state == .sending)
            #expect(next.isEmpty)
            return
        }
        #expect(next.map(\.state) == [.skipped])
        #expect(next.map(\.reason) == [.outbox(.threadEnded)])
        #expect(next.first?.wording?.rest == [])
        #expect(next.first?.parent == nil)
        try await expect(goOn(outbox)) { $0.isEmpty }
    }

    /// Which part is refused, of three.
    @Test(arguments: [2, 3]) func whatCannotBeSaidWholeIsTakenBack(refused number: Int) async throws
    {
        let outbox = try await OutboxFixture()
        var part = try await begin(outbox)
        for said in 1..<number {
            _ = try await end(part, delivered(said), outbox)
            part = try #require(try await goOn(outbox).first)
        }
        _ = try await end(part, .refused(reason: "rejected"), outbox)
        try await expect(goOn(outbox).count, equals: 3 - number)
        let due = try await outbox.store.dueUndos(now: Self.now + 120)
        #expect(
            due.map(\.subject).sorted()
                == Array([Self.first, "\(Self.first)/2"].prefix(number - 1)))
        expect(due) { $0.allSatisfy { $0.undo?.reason == .outbox(.threadCut) } }
        // Said once.
        for action in due { _ = try await outbox.store.undone(action.id, now: Self.now + 120) }
        try await expect(goOn(outbox)) { $0.isEmpty }
        try await expect(outbox.store.dueUndos(now: Self.now + 180)) { $0.isEmpty }
    }

    @Test func aPartThatTurnsOutToHaveArrivedIsTakenBackToo() async throws {
        let outbox = try await OutboxFixture()
        _ = try await end(try await begin(outbox), delivered(1), outbox)
        _ = try await end(
            try #require(try await goOn(outbox).first), .unknown(reason: "transport"), outbox)
        let second = try #require(try await outbox.store.unresolved().first)
        _ = try await outbox.store.end(
            second, as: .failed, reason: .outbox(.unconfirmed), sighting: Self.now + 600,
            now: Self.now + 90)
        try await expect(goOn(outbox).map(\.reason), equals: [.outbox(.threadEnded)])
        try await expect(outbox.store.undoTally(), equals: UndoTally(waiting: 1, remembered: 1))
        _ = try await outbox.store.confirm(
            second, remoteID: "uri-2", remoteAddress: "2", now: Self.now + 600)
        let due = try await outbox.store.dueUndos(now: Self.now + 700)
        #expect(Set(due.map(\.subject)) == [Self.first, "\(Self.first)/2"])
        try await expect(goOn(outbox)) { $0.isEmpty }
    }

    @Test func aPartWhoseTimePassedCutsTheThread() async throws {
        let outbox = try await OutboxFixture()
        let head = try await end(try await begin(outbox), delivered(1), outbox)
        _ = try #require(try await goOn(outbox).first)
        try await expect(
            outbox.store.expire(now: Self.now + 2_000).map(\.state), equals: [.expired])
        _ = try await goOn(outbox)
        try await expect(outbox.store.dueUndos(now: Self.now + 2_000).map(\.id), equals: [head.id])
    }

    @Test func aPartThatAPersonLeavesOutEndsTheRest() async throws {
        let outbox = try await OutboxFixture()
        let head = try await end(try await begin(outbox), delivered(1), outbox)
        let second = try #require(try await goOn(outbox).first)
        #expect(try await outbox.store.skip(second.id, now: Self.now + 61) != nil)
        let third = try #require(try await goOn(outbox).first)
        #expect(third.state == .skipped)
        #expect(third.reason == .outbox(.threadEnded))
        try await expect(goOn(outbox)) { $0.isEmpty }
        try await expect(outbox.store.action(.post, subject: head.subject)?.undo, equals: nil)
    }

    @Test func aThreadThatNeverBeganLeavesNothing() async throws {
        let outbox = try await OutboxFixture()
        let head = try await begin(outbox)
        #expect(try await outbox.store.skip(head.id, now: Self.now) != nil)
        try await expect(goOn(outbox)) { $0.isEmpty }
        try await expect(outbox.store.slots(of: OutboxFixture.day).count, equals: 1)
    }

    @Test func whoTakesAPartBackTakesBackWhatFollowsTheNewestFirst() async throws {
        let outbox = try await OutboxFixture()
        let head = try await end(try await begin(outbox), delivered(1), outbox)
        let second = try await end(try #require(try await goOn(outbox).first), delivered(2), outbox)
        let third = try #require(try await goOn(outbox).first)
        let answers = try await outbox.store.askUndos([second.id], now: Self.now + 70)
        #expect(answers == [second.id: .asked, third.id: .withheld])
        try await expect(goOn(outbox)) { $0.isEmpty }
        _ = try await outbox.store.askUndos([head.id], now: Self.now + 70)
        let due = try await outbox.store.dueUndos(now: Self.now + 80)
        #expect(Set(due.map(\.id)) == [head.id, second.id])
        try await expect(
            outbox.store.action(.post, subject: third.subject)?.state, equals: .skipped)
    }

    /// A wish that comes between two parts is heard before the next is made.
    @Test func nothingFollowsWhatIsToBeTakenBack() async throws {
        let outbox = try await OutboxFixture()
        let head = try await end(try await begin(outbox), delivered(1), outbox)
        _ = try await outbox.store.askUndos([head.id], now: Self.now + 10)
        try await expect(goOn(outbox)) { $0.isEmpty }
        try await expect(outbox.store.slots(of: OutboxFixture.day).count, equals: 1)
    }

    @Test func anotherAccountDoesNotGoOn() async throws {
        let outbox = try await OutboxFixture()
        _ = try await end(try await begin(outbox), delivered(1), outbox)
        let second = try #require(try await goOn(outbox).first)
        try await outbox.storage.transaction { connection in
            try OutboxStore.endActionsOfPreviousAccount(of: "m", on: connection, now: Self.now + 70)
        }
        try await expect(
            outbox.store.action(.post, subject: second.subject)?.reason, equals: "rebound")
    }
}
