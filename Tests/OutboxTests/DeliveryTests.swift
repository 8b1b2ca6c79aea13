import Expectations
import Foundation
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@Suite struct DeliveryTests {
    private static let now = OutboxFixture.start
    private static let afterLookUp = now + 91

    @Test func commitsTheRowBeforeTheRequest() async throws {
        let outbox = try await OutboxFixture()
        let action = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        let steps = Steps()
        let network = WatchingDeliverer { step in
            let rows = try await outbox.storage.lenient.query("SELECT state, attempts FROM actions")
            let flights = try await outbox.store.flights(now: Self.now)
            #expect(flights.map(\.deadline) == (step == "left" ? [.seconds(30)] : []))
            await steps.add(try "\(step) \(rows[0].text("state")) \(rows[0].int("attempts"))")
        }
        let done = try await Delivery(store: outbox.store, deliverer: network)
            .deliver(action, now: { Self.now }) { claimed in
                #expect(claimed.state == .claimed)
                return .ready(claimed)
            }
        await expect(steps.values, equals: ["prepared claimed 0", "left sending 1"])
        #expect(done.state == .done)
        #expect(done.remoteID == "uri")
        #expect(done.remoteAddress == "7")
        #expect(done.sending == Self.now)
        try await expect(outbox.store.flights(now: Self.now).count, equals: 0)
    }

    /// What a deliverer saw, in order.
    private actor Steps {
        private(set) var values: [String] = []

        func add(_ value: String) { values.append(value) }
    }

    /// A network that looks at the table when a request is prepared and when it leaves.
    private struct WatchingDeliverer: Deliverer {
        let look: @Sendable (String) async throws -> Void

        var requestDeadline: Duration { .seconds(30) }
        var resendWindow: Duration? { nil }
        var clockLead: TimeInterval? { nil }

        func prepare(_ action: Action) async -> RequestPreparation {
            await watch("prepared")
            return .ready(
                PreparedRequest { _ in
                    await watch("left")
                    return .delivered(remoteID: "uri", remoteAddress: "7")
                })
        }

        private func watch(_ step: String) async {
            do { try await look(step) } catch { Issue.record(error) }
        }

        func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
            -> LookUpOutcome
        { .absent }
    }

    @Test func leavesOutWhatIsNoLongerAllowed() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [])
        let action = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        let skipped = try await Delivery(store: outbox.store, deliverer: network)
            .deliver(action, now: { Self.now }) { _ in .skip(reason: "denied") }
        #expect(skipped.state == .skipped)
        #expect(skipped.reason == "denied")
        await expect(network.sent) { $0.isEmpty }
    }

    @Test func triesAgainWhatCertainlyDidNothing() async throws {
        let outbox = try await OutboxFixture()
        let retryAt = Self.now + 600
        let network = ScriptedDeliverer(outcomes: [
            .notSent(reason: "rate-limited", retryAfter: retryAt),
            .delivered(remoteID: nil, remoteAddress: nil),
        ])
        let waiting = try await deliver("a", outbox, network)
        #expect(waiting.state == .planned)
        #expect(waiting.reason == "rate-limited")
        try await expect(outbox.store.due([.reply], now: Self.now + 599)) { $0.isEmpty }
        // A little after the time that was named, when the others are through.
        try await expect(outbox.store.due([.reply], now: retryAt + 1)) { $0.isEmpty }
        let later = retryAt + 66
        let again = try #require(try await outbox.store.due([.reply], now: later).first)
        let done = try await Delivery(store: outbox.store, deliverer: network)
            .deliver(again, now: { later }) { .ready($0) }
        #expect(done.state == .done)
        await expect(network.sent.map(\.key), equals: [waiting.key, waiting.key])
    }

    @Test func waitsLongerWithEveryAttempt() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: Array(repeating: .notSent(reason: "unavailable", retryAfter: nil), count: 8))
        var action = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        var waits: [TimeInterval] = []
        for _ in 0..<8 {
            action = try await Delivery(store: outbox.store, deliverer: network)
                .deliver(action, now: { Self.now }) { .ready($0) }
            waits.append(try #require(action.nextAttempt).timeIntervalSince(Self.now))
        }
        #expect(waits == waits.sorted())
        expect(waits) { $0.allSatisfy { (30...1_125).contains($0) } }
        let first = try #require(waits.first)
        let last = try #require(waits.last)
        #expect(last > first * 10)
    }

    @Test func endsWhatTheNetworkRefuses() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [.refused(reason: "rejected")])
        let failed = try await deliver("a", outbox, network)
        #expect(failed.state == .failed)
        #expect(failed.reason == "rejected")
        try await expect(outbox.store.due([.reply], now: Self.now + 60)) { $0.isEmpty }
    }

    @Test func looksBeforeItSendsAgain() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "timeout")],
            sightings: [.found(remoteID: "uri", remoteAddress: "7")])
        let lost = try await deliver("a", outbox, network)
        #expect(lost.state == .sending)
        let delivery = Delivery(store: outbox.store, deliverer: network)
        try await expect(outbox.store.nextLookUp(), equals: Self.now + 90)
        try await expect(delivery.reconcile(at: Self.now + 89)) { $0.isEmpty }
        let settled = try await delivery.reconcile(at: Self.afterLookUp)
        #expect(settled.map(\.state) == [.done])
        #expect(settled.first?.remoteAddress == "7")
        await expect(network.sent.count, equals: 1)
    }

    @Test func sendsAFewTimesMoreWithTheSameKeyWhatIsAbsent() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: Array(repeating: .unknown(reason: "timeout"), count: 9))
        let lost = try await deliver("a", outbox, network)
        let delivery = Delivery(store: outbox.store, deliverer: network)
        var states: [ActionState] = []
        for look in 0..<6 {
            states += try await delivery.reconcile(at: Self.afterLookUp + Double(91 * look)).map(
                \.state)
        }
        #expect(states == [.sending, .sending, .sending, .sending, .failed])
        let ended = try await outbox.store.recent(1).first
        #expect(ended?.reason == "unconfirmed")
        await expect(network.sent.map(\.key), equals: Array(repeating: lost.key, count: 5))
    }

    /// A network where the author dates a post must get the same bytes again, and the server's
    /// window for the key began with the first request.
    @Test func keepsKeyAndTimeOfTheFirstRequestUntilItIsSettled() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [
                .unknown(reason: "timeout"), .notSent(reason: "transport", retryAfter: nil),
                .notSent(reason: "rate-limited", retryAfter: Self.now + 600),
                .delivered(remoteID: "u", remoteAddress: "7"),
            ])
        let lost = try await deliver("a", outbox, network)
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let second = try #require(try await delivery.reconcile(at: Self.afterLookUp).first)
        #expect(second.state == .sending)
        #expect(second.reason == "transport")
        #expect(second.attempts == 2)
        #expect(second.sends == 1)
        #expect(second.sending == lost.sending)
        let third = try #require(try await delivery.reconcile(at: Self.afterLookUp + 80).first)
        #expect(third.state == .sending)
        #expect(third.sending == lost.sending)
        let next = try #require(try await outbox.store.nextLookUp())
        #expect(next > Self.now + 601)
        #expect(next < Self.now + 666)
        let done = try #require(try await delivery.reconcile(at: next).first)
        #expect(done.state == .done)
        #expect(done.attempts == 4)
        #expect(done.sends == 2)
        let sent = await network.sent
        #expect(sent.count == 4)
        #expect(Set(sent.map(\.key)) == [lost.key])
        #expect(Set(sent.map(\.sending)) == [Self.now])
        #expect(Set(sent.map(\.text)) == [lost.text])
    }

    @Test func looksAgainBeforeItRepeatsAResendThatDidNothing() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [
                .unknown(reason: "timeout"), .notSent(reason: "transport", retryAfter: nil),
            ],
            sightings: [.absent, .found(remoteID: "u", remoteAddress: "7")])
        _ = try await deliver("a", outbox, network)
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await delivery.reconcile(at: Self.afterLookUp)
        try await expect(
            delivery.reconcile(at: Self.afterLookUp + 80).map(\.state), equals: [.done])
        await expect(network.sent.count, equals: 2)
    }

    @Test func givesAFirstRequestThatDidNothingANewTime() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [
                .notSent(reason: "transport", retryAfter: nil),
                .delivered(remoteID: nil, remoteAddress: nil),
            ])
        let waiting = try await deliver("a", outbox, network)
        #expect(waiting.sending == nil)
        let due = try #require(try await outbox.store.due([.reply], now: Self.now + 60).first)
        _ = try await Delivery(store: outbox.store, deliverer: network)
            .deliver(due, now: { Self.now + 60 }) { .ready($0) }
        await expect(network.sent.map(\.sending), equals: [Self.now, Self.now + 60])
    }

    @Test(arguments: [nil, Duration.seconds(80)])
    func neverSendsAgainOutsideTheWindowOfTheKey(window: Duration?) async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "timeout")], resendWindow: window)
        _ = try await deliver("a", outbox, network)
        let delivery = Delivery(store: outbox.store, deliverer: network)
        let ended = try await delivery.reconcile(at: Self.afterLookUp)
        #expect(ended.map(\.reason) == ["unconfirmed"])
        await expect(network.sent.count, equals: 1)
    }

    @Test func neverSendsAgainWhatHasExpired() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: [.unknown(reason: "timeout")])
        let action = try await outbox.store.propose(
            OutboxFixture.reply("a", expires: 60), now: Self.now
        ).action
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await delivery.deliver(action, now: { Self.now }) { .ready($0) }
        try await expect(
            delivery.reconcile(at: Self.afterLookUp).map(\.reason), equals: ["unconfirmed"])
        await expect(network.sent.count, equals: 1)
    }

    @Test func takesADuplicateForDeliveredOnlyIfItIsFound() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [.duplicate, .duplicate],
            sightings: [.found(remoteID: "uri", remoteAddress: nil), .absent])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await deliver("a", outbox, network)
        try await expect(delivery.reconcile(at: Self.afterLookUp).map(\.state), equals: [.done])
        _ = try await deliver("b", outbox, network)
        let refused = try await delivery.reconcile(at: Self.afterLookUp)
        #expect(refused.map(\.state) == [.failed])
        #expect(refused.map(\.reason) == [.outbox(.duplicate)])
        await expect(network.sent.count, equals: 2)
    }

    @Test func asksAgainWhileTheNetworkCannotBeAsked() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "timeout")],
            sightings: [
                .unavailable(reason: "unavailable", retryAfter: nil),
                .found(remoteID: "u", remoteAddress: nil),
            ])
        _ = try await deliver("a", outbox, network)
        let delivery = Delivery(store: outbox.store, deliverer: network)
        try await expect(delivery.reconcile(at: Self.afterLookUp).map(\.state), equals: [.sending])
        try await expect(delivery.reconcile(at: Self.afterLookUp + 1)) { $0.isEmpty }
        try await expect(
            delivery.reconcile(at: Self.afterLookUp + 100).map(\.state), equals: [.done])
    }

    @Test func takesOverWhatAnotherWorkerLeftHalfDone() async throws {
        let outbox = try await OutboxFixture()
        let action = try await outbox.store.propose(OutboxFixture.reply("a"), now: Self.now).action
        _ = try await outbox.store.claim(action, now: Self.now)
        let record = try await outbox.leases.record()
        let lease = try #require(
            try await outbox.leases.take(owner: "second", after: record, now: 1))
        let second = OutboxStore(storage: outbox.storage, mirror: "m", lease: lease)
        let network = ScriptedDeliverer(outcomes: [.delivered(remoteID: nil, remoteAddress: nil)])
        let due = try #require(try await second.due([.reply], now: Self.now).first)
        let done = try await Delivery(store: second, deliverer: network).deliver(
            due, now: { Self.now }
        ) { .ready($0) }
        #expect(done.state == .done)
    }

    private func deliver(
        _ subject: String, _ outbox: OutboxFixture, _ network: ScriptedDeliverer
    ) async throws -> Action {
        let action = try await outbox.store.propose(OutboxFixture.reply(subject), now: Self.now)
            .action
        return try await Delivery(store: outbox.store, deliverer: network)
            .deliver(action, now: { Self.now }) { .ready($0) }
    }
}
