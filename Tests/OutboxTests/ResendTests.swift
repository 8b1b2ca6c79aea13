import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

/// Further requests with the same key, and what comes of them.
@Suite struct ResendTests {
    private static let now = OutboxFixture.start

    /// A refusal for asking too often is certain: what follows it is a first request again.
    @Test func aLostAnswerAfterARefusalIsSentAgain() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [
            .notSent(reason: "rate-limited", cause: .tooBusy, retryAfter: nil),
            .unknown(reason: "timeout"),
            .delivered(remoteID: "u", remoteAddress: nil),
        ])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let waiting = try await outbox.deliver("a", by: delivery)
        #expect(waiting.state == .planned)
        #expect(waiting.attempts == 1)
        #expect(waiting.sends == 0)
        let lost = try await delivery.deliver(waiting, now: { Self.now + 80 }) { .ready($0) }
        #expect(lost.attempts == 2)
        #expect(lost.sends == 1)
        let again = try await delivery.reconcile(at: Self.now + 80 + 91)
        #expect(again.map(\.sends) == [2])
        #expect(again.map(\.attempts) == [3])
        #expect(again.map(\.state) == [.done])
        await expect(network.sent.count, equals: 3)
    }

    @Test(arguments: [RetryRule.Cause.tooBusy, .unreachable])
    func aResendThatDidNothingCanBeRepeated(cause: RetryRule.Cause) async throws {
        let outbox = try await OutboxFixture()
        let nothing = DeliveryOutcome.notSent(reason: "nothing", cause: cause, retryAfter: nil)
        let network = ScriptedDeliverer(
            outcomes: [
                .unknown(reason: "timeout"), nothing, nothing, nothing,
                .delivered(remoteID: "u", remoteAddress: nil),
            ])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await outbox.deliver("a", by: delivery)
        var time = Self.now + 91
        for attempt in 2...4 {
            let waiting = try #require(try await delivery.reconcile(at: time).first)
            #expect(waiting.state == .sending)
            #expect(waiting.sends == 1)
            #expect(waiting.attempts == attempt)
            let next = try #require(try await outbox.store.nextLookUp())
            #expect(next > time)
            time = next
        }
        let done = try await delivery.reconcile(at: time)
        #expect(done.map(\.state) == [.done])
        #expect(done.map(\.attempts) == [5])
        // The server's window began with the first request.
        expect(Set(await network.sent.map(\.sending)), equals: [Self.now])
    }

    /// Between the look at a person and the request there may be a slow network.
    @Test func nothingLeavesToWhoIsDeniedWhileItIsPrepared() async throws {
        let outbox = try await OutboxFixture()
        let store = OutboxStore(storage: outbox.storage, mirror: "m", lease: outbox.lease) {
            action, connection in
            let person = try #require(action.target?.author)
            let denied: SQL = """
                SELECT 1 AS found FROM people WHERE mirror = 'm' AND account_id = \(person.value) AND stance = 'deny'
                """
            return try !connection.query(denied).isEmpty
        }
        let network = ScriptedDeliverer(outcomes: [.unknown(reason: "timeout")])
        let delivery = Delivery(store: store, deliverer: network)
        let lost = try await outbox.deliver("a", by: delivery)
        #expect(lost.state == .sending)
        let other = try await store.propose(OutboxFixture.reply("b"), now: Self.now).action
        let ended = try await delivery.deliver(other, now: { Self.now }) { action in
            try await outbox.storage.execute(
                """
                INSERT INTO people (mirror, network, account_id, stance)
                VALUES ('m', 'mastodon', 'mika@example.com', 'deny')
                """)
            return .ready(action)
        }
        #expect(ended.state == .skipped)
        #expect(ended.reason == "denied")
        #expect(ended.sends == 0)
        // What may have been sent before is looked for, and not sent again.
        let settled = try await delivery.reconcile(at: Self.now + 91)
        #expect(settled.map(\.reason) == ["unconfirmed"])
        #expect(settled.map(\.sends) == [1])
        await expect(network.sent.map(\.subject), equals: ["a"])
    }

    /// The refusal is about the second request only.
    @Test func aRefusedResendLeavesTheFirstRequestUnconfirmed() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [
                .unknown(reason: "timeout"),
                .refused(reason: "rejected", detail: "the server answered 422"),
            ],
            sightings: [.absent, .found(remoteID: "u", remoteAddress: "7")])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await outbox.deliver("a", by: delivery)
        let failed = try #require(try await delivery.reconcile(at: Self.now + 91).first)
        #expect(failed.state == .failed)
        #expect(failed.reason == .outbox(.unconfirmed))
        expect(failed.explanation?.outcome) { $0?.contains("the server answered 422") == true }
        try await expect(outbox.store.due([.reply], now: Self.now + 7_200)) { $0.isEmpty }
        let sighted = try await delivery.reconcile(at: Self.now + 600)
        #expect(sighted.map(\.state) == [.done])
        #expect(sighted.map(\.reason) == [nil])
        await expect(network.sent.count, equals: 2)
    }

    @Test func aRefusalSaysWhatTheNetworkSaid() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [
            .refused(reason: "rejected", detail: "the server answered \"no\"")
        ])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        var intent = OutboxFixture.reply("a")
        intent.explanation = Explanation("one of 3", pool: 3)
        let action = try await outbox.store.propose(intent, now: Self.now).action
        let failed = try await delivery.deliver(action, now: { Self.now }) { .ready($0) }
        #expect(failed.state == .failed)
        #expect(failed.reason == "rejected")
        #expect(failed.nextAttempt == nil)
        let stored = try await outbox.storage.lenient.query("SELECT explanation FROM actions")
        try expect(
            stored.map { try $0.text("explanation") },
            equals: [#"{"outcome":"the server answered \"no\"","pool":3,"summary":"one of 3"}"#])
        try await expect(delivery.reconcile(at: Self.now + 86_400)) { $0.isEmpty }
        try await expect(outbox.store.nextLookUp(), equals: nil)
    }

    @Test func whoIsNoLongerToBeAnsweredGetsNoSecondRequest() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [.unknown(reason: "timeout")])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await outbox.deliver("a", by: delivery)
        let ended = try await delivery.reconcile(at: Self.now + 91, allows: { $0.subject != "a" })
        #expect(ended.map(\.reason) == [.outbox(.unconfirmed)])
        await expect(network.sent.count, equals: 1)
    }

    @Test func whatExpiresWhileItIsCheckedIsNotSent() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [.delivered(remoteID: nil, remoteAddress: nil)])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let action = try await outbox.store.propose(
            OutboxFixture.reply("a", expires: 60), now: Self.now
        ).action
        let clock = SteppingClock(Self.now + 59)
        let ended = try await delivery.deliver(action, now: { clock.now }) { claimed in
            clock.advance(2)
            return .ready(claimed)
        }
        #expect(ended.state == .expired)
        #expect(ended.reason == .outbox(.tooLate))
        await expect(network.sent) { $0.isEmpty }
    }

    @Test func tellsEachStep() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [
            .unknown(reason: "timeout"), .delivered(remoteID: nil, remoteAddress: nil),
        ])
        let steps = Recorded<DeliveryStep>()
        let delivery = Delivery(store: outbox.store, deliverer: network, onStep: { steps.add($0) })
        _ = try await outbox.deliver("a", by: delivery)
        #expect(steps.values == [.claimed, .prepared, .sendingStored, .answered, .outcomeStored])
        _ = try await delivery.reconcile(at: Self.now + 91)
        #expect(steps.values.dropFirst(5) == [.lookedUp, .resendStored, .answered, .outcomeStored])
        #expect(Set(steps.values) == Set(DeliveryStep.allCases))
    }
}
