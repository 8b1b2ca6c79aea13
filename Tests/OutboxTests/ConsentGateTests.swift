import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// The one condition without which no request is recorded as leaving.
@Suite struct ConsentGateTests {
    private static let now = OutboxFixture.start
    private static let delivered = DeliveryOutcome.delivered(remoteID: "u", remoteAddress: "7")

    private func withoutConsent(_ engine: OutboxFixture.Engine) async throws -> OutboxFixture {
        let outbox = try await OutboxFixture(engine)
        try await takeBack(outbox)
        return outbox
    }

    private func takeBack(_ outbox: OutboxFixture) async throws {
        try await outbox.storage.execute("UPDATE mirrors SET consent = NULL")
    }

    /// Whatever is due then is not: nothing is claimed or prepared, and it expires in its time.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func withoutConsentNothingIsDue(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await withoutConsent(engine)
        let store = outbox.store
        _ = try await store.store(OutboxFixture.plan, slots: [OutboxFixture.slot(1)])
        let reply = try await store.propose(OutboxFixture.reply("a"), now: Self.now).action
        try await expect(store.due(ActionKind.allCases, now: Self.now), equals: [])
        // A slot has a quarter of an hour.
        let end = Date(milliseconds: Self.now.milliseconds + 900_001)
        try await expect(outbox.nextWorkTime(ActionKind.allCases), equals: end)
        try await outbox.storage.agree(to: "m")
        try await expect(store.due(ActionKind.allCases, now: Self.now).count, equals: 2)
        try await expect(outbox.nextWorkTime(ActionKind.allCases), equals: Self.now)
        try await takeBack(outbox)
        try await expect(store.expire(now: Self.now + 1_000).map(\.kind), equals: [.post])
        try await expect(store.action(.reply, subject: "a")?.state, equals: reply.state)
    }

    /// What was taken up before the consent ended is put back, whoever took it up.
    @Test(arguments: OutboxFixture.Engine.allCases, [true, false])
    func nothingDepartsWithoutConsent(_ engine: OutboxFixture.Engine, _ isClaimed: Bool)
        async throws
    {
        let outbox = try await withoutConsent(engine)
        let network = ScriptedDeliverer(outcomes: [Self.delivered])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let action = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        let version = isClaimed ? nil : try await outbox.store.wishVersion()
        let kept = try await delivery.deliver(action, asOf: version, now: { Self.now }) {
            .ready($0)
        }
        #expect(kept.state == .planned)
        #expect(kept.attempts == 0)
        await expect(network.sent) { $0.isEmpty }
        try await outbox.storage.agree(to: "m")
        let again = try await delivery.deliver(kept, now: { Self.now }) { .ready($0) }
        #expect(again.state == .done)
    }

    /// A request whose answer was lost is looked for, and not made again.
    @Test(arguments: OutboxFixture.Engine.allCases)
    func nothingIsSentAgainWithoutConsent(_ engine: OutboxFixture.Engine) async throws {
        let outbox = try await OutboxFixture(engine)
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "transport")], sightings: [.absent])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let sent = try await outbox.deliver("a", by: delivery)
        #expect(sent.state == .sending)
        try await takeBack(outbox)
        let settled = try await delivery.reconcile(now: { Self.now + 100 })
        #expect(settled.map(\.state) == [.failed])
        #expect(settled.map(\.reason) == [.outbox(.unconfirmed)])
        await expect(network.sent.count, equals: 1)
    }

    /// A mirror that the table does not know has nobody who agreed.
    @Test func anUnknownMirrorSendsNothing() async throws {
        let outbox = try await OutboxFixture()
        try await outbox.storage.execute("DELETE FROM mirrors")
        let claimed = try await outbox.store.claim(
            try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action,
            now: Self.now)
        let error = try await #require(throws: OutboxError.self) {
            try await outbox.store.beginSending(
                claimed, lookUp: Self.now + 90, deadline: .seconds(30), now: Self.now)
        }
        #expect(error.code == .unagreed)
    }
}
