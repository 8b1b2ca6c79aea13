import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// The one condition on departures, of a mirror whose human's account is not as it was.
@Suite struct StandingGateTests {
    private static let now = OutboxFixture.start
    private static let delivered = DeliveryOutcome.delivered(remoteID: "u", remoteAddress: "7")

    private func see(_ standing: String?, in outbox: OutboxFixture, goesOn: Bool = false)
        async throws
    {
        try await outbox.storage.execute(
            """
            UPDATE mirrors SET standing = \(standing), standing_ms = 1, standing_goes_on_ms = \(goesOn ? 2 : nil),
                version = version + 1
            WHERE mirror = 'm'
            """)
    }

    @Test(
        arguments: OutboxFixture.Engine.allCases,
        ["memorial", "suspended", "deactivated", "deleted", "of-a-later-time"])
    func nothingIsDueUntilSomebodySaysSo(_ engine: OutboxFixture.Engine, _ standing: String)
        async throws
    {
        let outbox = try await OutboxFixture(engine)
        _ = try await outbox.store.store(OutboxFixture.plan, slots: [OutboxFixture.slot(1)])
        _ = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now)
        try await see(standing, in: outbox)
        try await expect(outbox.store.due(ActionKind.allCases, now: Self.now), equals: [])
        try await expect(
            outbox.store.nextWorkTimes(ActionKind.allCases, lookUpAfter: 90, now: Self.now).post,
            equals: nil)
        try await see(standing, in: outbox, goesOn: true)
        try await expect(outbox.store.due(ActionKind.allCases, now: Self.now).count, equals: 2)
        try await see("moved", in: outbox)
        try await expect(outbox.store.due(ActionKind.allCases, now: Self.now).count, equals: 2)
    }

    /// What was taken up before is put back, whoever took it up.
    @Test(arguments: OutboxFixture.Engine.allCases, [true, false])
    func nothingDeparts(_ engine: OutboxFixture.Engine, _ isClaimed: Bool) async throws {
        let outbox = try await OutboxFixture(engine)
        let network = ScriptedDeliverer(outcomes: [Self.delivered])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let action = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        let version = isClaimed ? nil : try await outbox.store.wishVersion()
        let kept = try await delivery.deliver(action, asOf: version, now: { Self.now }) { taken in
            try await see("memorial", in: outbox)
            return .ready(taken)
        }
        #expect(kept.state == .planned)
        await expect(network.sent) { $0.isEmpty }
        try await see(nil, in: outbox)
        let again = try await delivery.deliver(kept, now: { Self.now }) { .ready($0) }
        #expect(again.state == .done)
    }

    /// A request whose answer was lost is looked for, and not made again; and no copy is changed.
    @Test func nothingIsSentAgainOrChanged() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [Self.delivered, .unknown(reason: "transport")], sightings: [.absent])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let copy = try await outbox.deliver("a", by: delivery)
        _ = try await outbox.deliver("b", by: delivery)
        try await see("deleted", in: outbox)
        let error = try await #require(throws: OutboxError.self) {
            try await outbox.store.beginEdit(of: copy, deadline: .seconds(30), now: Self.now)
        }
        #expect(error.code == .humanAway)
        let settled = try await delivery.reconcile(now: { Self.now + 100 })
        #expect(settled.map(\.reason) == [.outbox(.unconfirmed)])
        await expect(network.sent.count, equals: 2)
    }
}
