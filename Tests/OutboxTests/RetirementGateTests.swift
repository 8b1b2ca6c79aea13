import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// The one condition on departures, of a mirror that retires: nothing but its last post, and then
/// nothing at all.
@Suite struct RetirementGateTests {
    private static let now = OutboxFixture.start
    private static let delivered = DeliveryOutcome.delivered(remoteID: "u", remoteAddress: "7")
    private static let farewell = Action.Wording(
        source: Action.Wording.typedSource(on: .mastodon), text: "this mirror ends here",
        visibility: .unlisted)

    private func retire(_ outbox: OutboxFixture, at date: Date = now) async throws {
        try await outbox.storage.execute(
            "UPDATE mirrors SET retire_ms = \(date.milliseconds) WHERE mirror = 'm'")
    }

    private func begin(_ outbox: OutboxFixture, saying last: Action.Wording? = farewell)
        async throws -> Bool
    {
        try await outbox.store.beginRetirement(
            saying: last, on: OutboxFixture.day, expires: Self.now + 86_400, now: Self.now)
    }

    @Test(arguments: OutboxFixture.Engine.allCases)
    func onlyTheLastPostIsDue(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        let store = outbox.store
        _ = try await store.store(
            OutboxFixture.plan, slots: [OutboxFixture.slot(1), OutboxFixture.slot(2)])
        _ = try await store.propose(OutboxFixture.reply("a"), now: Self.now)
        try await retire(outbox, at: Self.now + 1)
        try await expect(store.due(ActionKind.allCases, now: Self.now).count, equals: 3)
        try await retire(outbox)
        try await expect(store.due(ActionKind.allCases, now: Self.now), equals: [])
        let nextWorkTimes = try await store.nextWorkTimes(
            ActionKind.allCases, lookUpAfter: 90, now: Self.now)
        #expect(nextWorkTimes.retirement == Self.now)
        #expect(nextWorkTimes.post == nil)
        try await expect(begin(outbox), equals: true)
        // The day has two slots.
        let due = try await store.due(ActionKind.allCases, now: Self.now)
        #expect(due.map(\.subject) == ["\(OutboxFixture.day)#3"])
        #expect(due.map(\.text) == [Self.farewell.text])
        #expect(due.map { $0.wording?.isTyped } == [true])
        try await expect(begin(outbox), equals: false)
        let rest = try await store.recent(100).filter { $0.id != due[0].id }
        #expect(rest.count == 3)
        expect(rest) {
            $0.allSatisfy { $0.state == .skipped && $0.reason == .outbox(.retired) }
        }
        let delivery = Delivery(
            store: store, deliverer: ScriptedDeliverer(outcomes: [Self.delivered]))
        let sent = try await delivery.deliver(due[0], now: { Self.now }) { .ready($0) }
        #expect(sent.state == .done)
        try await expect(store.isSending(last: sent.id), equals: false)
    }

    /// It is not begun before its date, and a clock that is set back afterwards changes nothing.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func itBeginsAtItsDateAndForGood(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        try await expect(begin(outbox), equals: false)
        try await retire(outbox, at: Self.now + 1)
        try await expect(begin(outbox), equals: false)
        try await retire(outbox)
        try await expect(begin(outbox, saying: nil), equals: true)
        _ = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now - 3_600)
        try await expect(outbox.store.due(ActionKind.allCases, now: Self.now), equals: [])
        let earlier = try await outbox.store.nextWorkTimes(
            ActionKind.allCases, lookUpAfter: 90, now: Self.now - 7_200)
        #expect(earlier.retirement == Self.now - 7_200)
    }

    /// What was taken up before the date stays, whoever took it up; and after the end not even the
    /// last post leaves.
    @Test(arguments: OutboxFixture.Engine.allCases, [true, false])
    func nothingDepartsAfterIt(_ engine: OutboxFixture.Engine, _ isClaimed: Bool) async throws {
        let outbox = try await OutboxFixture(engine)
        let network = ScriptedDeliverer(outcomes: [Self.delivered])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let action = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        let version = isClaimed ? nil : try await outbox.store.wishVersion()
        let storage = outbox.storage
        let kept = try await delivery.deliver(action, asOf: version, now: { Self.now }) { taken in
            try await storage.execute(
                "UPDATE mirrors SET retire_ms = \(Self.now.milliseconds) WHERE mirror = 'm'")
            return .ready(taken)
        }
        #expect(kept.state == .planned)
        _ = try await begin(outbox)
        let last = try #require(
            try await outbox.store.due(ActionKind.allCases, now: Self.now).first)
        try await storage.execute(
            "UPDATE mirrors SET retired_ms = \(Self.now.milliseconds) WHERE mirror = 'm'")
        let late = try await delivery.deliver(last, now: { Self.now }) { .ready($0) }
        #expect(late.state == .planned)
        await expect(network.sent) { $0.isEmpty }
    }

    /// A request whose answer was lost is looked for, and not made again.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func nothingIsSentAgain(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "transport")], sightings: [.absent])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await outbox.deliver("a", by: delivery)
        try await retire(outbox)
        _ = try await begin(outbox, saying: nil)
        try await expect(outbox.store.isSending(last: nil), equals: true)
        let settled = try await delivery.reconcile(now: { Self.now + 100 })
        #expect(settled.map(\.reason) == [.outbox(.unconfirmed)])
        try await expect(outbox.store.isSending(last: nil), equals: false)
        await expect(network.sent.count, equals: 1)
    }

    /// Nor is a copy changed.
    @Test func noCopyIsChanged() async throws {
        let outbox = try await OutboxFixture()
        let delivery = Delivery(
            store: outbox.store, deliverer: ScriptedDeliverer(outcomes: [Self.delivered]))
        let copy = try await outbox.deliver("a", by: delivery)
        try await retire(outbox)
        let error = try await #require(throws: OutboxError.self) {
            try await outbox.store.beginEdit(of: copy, deadline: .seconds(30), now: Self.now)
        }
        #expect(error.code == .retired)
    }
}
