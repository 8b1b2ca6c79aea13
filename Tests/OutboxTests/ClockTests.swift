import Expectations
import Foundation
import Outbox
import Posts
import TestSupport
import Testing

/// A wall clock that is set while an answer is lost.
///
/// The network forgets keys after an hour, so nothing may be sent again when fifty minutes may have
/// passed.
@Suite struct ClockTests {
    private let clock = SteppingClock()

    private func delivery(
        _ outbox: OutboxFixture, _ network: ScriptedDeliverer
    ) -> Delivery {
        Delivery(store: outbox.store, deliverer: network, uptime: { [clock] in clock.instant })
    }

    /// A process that stands still between the commit and the request sends nothing once its row's
    /// time is over: whoever replaced it has looked for the request and sent it again.
    @Test(arguments: [(5.0, true), (29, true), (30, false), (300, false)])
    func whatStoodStillForTooLongDoesNotLeave(seconds: TimeInterval, leaves: Bool) async throws {
        let outbox = try await OutboxFixture()
        let action = try await outbox.store.propose(OutboxFixture.reply("a"), now: clock.now).action
        let network = FrozenDeliverer(clock: clock, seconds: seconds)
        let delivery = Delivery(
            store: outbox.store, deliverer: network, uptime: { [clock] in clock.instant })
        let stored = try await delivery.deliver(action, now: { [clock] in clock.now }) {
            .ready($0)
        }
        #expect(stored.state == (leaves ? .done : .planned))
        #expect(stored.sends == (leaves ? 1 : 0))
        #expect(network.sent.values.count == (leaves ? 1 : 0))
    }

    /// A network before whose first byte time passes.
    private struct FrozenDeliverer: Deliverer {
        let clock: SteppingClock
        let seconds: TimeInterval
        let sent = Recorded<String>()

        var requestDeadline: Duration { .seconds(30) }
        var resendWindow: Duration? { nil }
        var clockLead: TimeInterval? { nil }

        func prepare(_ action: Action) async -> RequestPreparation {
            .ready(
                PreparedRequest { mayLeave in
                    clock.advance(seconds)
                    guard mayLeave() else {
                        return .notSent(reason: "transport", cause: .unreachable, retryAfter: nil)
                    }
                    sent.add(action.id)
                    return .delivered(remoteID: "uri", remoteAddress: "7")
                })
        }

        func lookUp(_ action: Action, since departure: Date, among others: [Action]) async
            -> LookUpOutcome
        { .absent }
    }

    private func lose(
        _ outbox: OutboxFixture, by delivery: Delivery, expires: TimeInterval = 86_400
    ) async throws {
        let lost = try await outbox.deliver("a", by: delivery, expires: expires, at: clock.now)
        #expect(lost.state == .sending)
    }

    private func reconcile(_ delivery: Delivery) async throws -> [Action] {
        try await delivery.reconcile(now: { [clock] in clock.now })
    }

    /// Lets minutes pass until the lost action has an end.
    private func settled(by delivery: Delivery) async throws -> [Action] {
        var changed: [Action] = []
        for _ in 0..<10 where changed.last?.state != .done && changed.last?.state != .failed {
            clock.advance(60)
            changed = try await reconcile(delivery)
        }
        return changed
    }

    private static let lost = [
        DeliveryOutcome.unknown(reason: "timeout"), .delivered(remoteID: "u", remoteAddress: nil),
    ]

    @Test(arguments: [-30, -3_600, -86_400])
    func aClockSetBackDoesNotHoldUpTheLookUp(seconds: Double) async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost)
        let delivery = delivery(outbox, network)
        try await lose(outbox, by: delivery)
        clock.advance(10)
        clock.set(by: seconds)
        try await expect(reconcile(delivery).map(\.state), equals: [.sending])
        await expect(network.lookUps, equals: 0)
        // The wait is as long as it was meant to be, from when the change was noticed.
        clock.advance(91)
        try await expect(reconcile(delivery).map(\.state), equals: [.done])
        await expect(network.sent.count, equals: 2)
    }

    /// The worker that sent knows by another clock how long ago that was.
    @Test(arguments: [(2_900.0, 2), (3_100.0, 1)])
    func aClockSetBackDoesNotMakeAKeyYoung(real: Double, requests: Int) async throws {
        let outbox = try await OutboxFixture()
        let down = LookUpOutcome.unavailable(reason: "unavailable", retryAfter: nil)
        let network = ScriptedDeliverer(outcomes: Self.lost, sightings: [down])
        let delivery = delivery(outbox, network)
        try await lose(outbox, by: delivery)
        clock.advance(91)
        _ = try await reconcile(delivery)
        clock.advance(real - 91)
        // The wall clock shows three minutes since the request.
        clock.set(by: 180 - real)
        let settled = try await reconcile(delivery)
        #expect(settled.map(\.state) == [requests == 2 ? .done : .failed])
        await expect(network.sent.count, equals: requests)
    }

    /// Another process cannot know, so it does not send.
    @Test func aClockSetBackAcrossARestartForbidsTheResend() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost)
        try await lose(outbox, by: delivery(outbox, network))
        clock.advance(4_000)
        clock.set(by: -3_950)
        // Something else changed shortly before the clock was set.
        _ = try await outbox.store.propose(OutboxFixture.reply("b"), now: clock.now + 3_940)
        let restarted = Delivery(store: outbox.store, deliverer: network)
        clock.advance(60)
        try await expect(reconcile(restarted).map(\.isUnconfirmed), equals: [true])
        await expect(network.sent.count, equals: 1)
    }

    /// The evidence is in the row itself, and would be overwritten when its look-up is moved.
    @Test func theDoubtOutlivesTheLookUpsThatCouldNotBeMade() async throws {
        let outbox = try await OutboxFixture()
        let down = LookUpOutcome.unavailable(reason: "unavailable", retryAfter: nil)
        let network = ScriptedDeliverer(outcomes: Self.lost, sightings: [down, down])
        let first = delivery(outbox, network)
        try await lose(outbox, by: first)
        clock.advance(3_500)
        _ = try await reconcile(first)
        clock.set(by: -3_300)
        let second = Delivery(store: outbox.store, deliverer: network)
        let moved = try await reconcile(second)
        #expect(moved.map(\.sends) == [5])
        let lookUp = try #require(try await outbox.store.nextLookUp())
        #expect(lookUp > clock.now)
        #expect(lookUp < clock.now + 1_200)
        // Hours later no row is newer than the clock any more.
        let third = Delivery(store: outbox.store, deliverer: network)
        clock.advance(1_200)
        _ = try await reconcile(third)
        clock.advance(1_200)
        _ = try await reconcile(third)
        let ended = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(ended.isUnconfirmed)
        await expect(network.sent.count, equals: 1)
    }

    /// Two machines whose clocks are minutes apart are no reason to give an action up.
    @Test(arguments: [-300.0, -120, 120, 300])
    func minutesBetweenTwoWorkersDoNotMatter(skew: Double) async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost)
        try await lose(outbox, by: delivery(outbox, network))
        clock.advance(40)
        clock.set(by: skew)
        let second = Delivery(store: outbox.store, deliverer: network)
        var settled: [Action] = []
        for _ in 0..<20 where settled.last?.state != .done {
            settled = try await reconcile(second)
            clock.advance(30)
        }
        #expect(settled.map(\.state) == [.done])
        await expect(network.sent.count, equals: 2)
    }

    @Test func aClockSetForwardADayForbidsTheResend() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost)
        let delivery = delivery(outbox, network)
        try await lose(outbox, by: delivery, expires: 3 * 86_400)
        clock.advance(10)
        clock.set(by: 86_400)
        try await expect(reconcile(delivery).map(\.isUnconfirmed), equals: [true])
        await expect(network.sent.count, equals: 1)
    }

    @Test func aClockThatWasWrongForAMomentForbidsNothing() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost)
        let delivery = delivery(outbox, network)
        clock.set(by: 86_400)
        _ = try await reconcile(delivery)
        clock.set(by: -86_400)
        try await lose(outbox, by: delivery)
        clock.advance(91)
        try await expect(reconcile(delivery).map(\.state), equals: [.done])
        await expect(network.sent.count, equals: 2)
    }

    // MARK: A network that tells its time

    /// The row keeps what the network's clock showed, which nobody here can set.
    @Test(arguments: [-3_600, 5_400, 86_400])
    func theNetworksClockTellsTheAgeWhateverWasDoneToOurs(seconds: Double) async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost, clockLead: { [clock] in clock.lead })
        clock.set(by: seconds)
        try await lose(outbox, by: delivery(outbox, network), expires: 3 * 86_400)
        clock.advance(10)
        clock.set(by: -seconds)
        let sending = try #require(
            try await outbox.store.action(.reply, subject: "a")?.serverSending)
        #expect(abs(sending.timeIntervalSince(clock.now) + 10) < 1)
        let restarted = Delivery(store: outbox.store, deliverer: network)
        try await expect(settled(by: restarted).map(\.state), equals: [.done])
        await expect(network.sent.count, equals: 2)
    }

    /// So it does while the clock is wrong, for a worker that came after the request as well.
    @Test(arguments: [-3_600, 86_400]) func aWrongClockDoesNotForbidTheResend(seconds: Double)
        async throws
    {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost, clockLead: { [clock] in clock.lead })
        try await lose(outbox, by: delivery(outbox, network), expires: 3 * 86_400)
        clock.advance(10)
        clock.set(by: seconds)
        let restarted = Delivery(store: outbox.store, deliverer: network)
        try await expect(settled(by: restarted).map(\.state), equals: [.done])
        await expect(network.sent.count, equals: 2)
    }

    /// The request may still act after a look that only a clock set forward made due.
    @Test func aClockSetForwardDoesNotHastenTheResend() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost, clockLead: { [clock] in clock.lead })
        let delivery = delivery(outbox, network)
        try await lose(outbox, by: delivery, expires: 3 * 86_400)
        clock.advance(10)
        clock.set(by: 86_400)
        try await expect(reconcile(delivery).map(\.state), equals: [.sending])
        await expect(network.lookUps, equals: 1)
        clock.advance(79)
        try await expect(reconcile(delivery)) { $0.isEmpty }
        clock.advance(2)
        try await expect(reconcile(delivery).map(\.state), equals: [.done])
        await expect(network.sent.count, equals: 2)
    }

    /// The second request may still act as well, and then there is no third.
    @Test func aClockSetForwardDoesNotHastenTheNextResend() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [Self.lost[0]] + Self.lost,
            sightings: [.absent, .absent, .found(remoteID: "u", remoteAddress: nil)],
            clockLead: { [clock] in clock.lead })
        let delivery = delivery(outbox, network)
        try await lose(outbox, by: delivery, expires: 3 * 86_400)
        clock.advance(91)
        try await expect(reconcile(delivery).map(\.state), equals: [.sending])
        await expect(network.sent.count, equals: 2)
        clock.set(by: 86_400)
        try await expect(reconcile(delivery).map(\.state), equals: [.sending])
        try await expect(settled(by: delivery).map(\.state), equals: [.done])
        await expect((network.sent.count, network.lookUps)) { $0 == (2, 3) }
    }

    /// A network that shows the same time for ever does not keep an action open for ever.
    @Test func aNetworkWhoseClockStandsStillDelaysOnce() async throws {
        let outbox = try await OutboxFixture()
        let start = clock.now
        let network = ScriptedDeliverer(
            outcomes: Self.lost, clockLead: { [clock] in clock.now.timeIntervalSince(start) })
        try await lose(outbox, by: delivery(outbox, network))
        let restarted = Delivery(store: outbox.store, deliverer: network)
        clock.advance(91)
        try await expect(reconcile(restarted).map(\.state), equals: [.sending])
        clock.advance(91)
        try await expect(reconcile(restarted).map(\.state), equals: [.done])
        await expect(network.lookUps, equals: 2)
    }

    /// What the network has known for too long stays forbidden, however young our clock makes it.
    @Test(arguments: [(2_900.0, 2), (3_100.0, 1)])
    func aClockSetBackDoesNotMakeAKeyYoungForTheNextWorker(real: Double, requests: Int) async throws
    {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(outcomes: Self.lost, clockLead: { [clock] in clock.lead })
        try await lose(outbox, by: delivery(outbox, network))
        clock.advance(real)
        clock.set(by: 180 - real)
        let restarted = Delivery(store: outbox.store, deliverer: network)
        let settled = try await reconcile(restarted)
        #expect(settled.map(\.state) == [requests == 2 ? .done : .failed])
        await expect(network.sent.count, equals: requests)
    }

    /// What was written down by a clock that was ahead does not hide what the request made.
    @Test(arguments: [true, false]) func aClockThatWasAheadHidesNothing(isTold: Bool) async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: Self.lost, sightings: [.found(remoteID: "u", remoteAddress: nil)],
            clockLead: { [clock] in isTold ? clock.lead : nil })
        clock.set(by: 86_400)
        try await lose(outbox, by: delivery(outbox, network), expires: 3 * 86_400)
        clock.set(by: -86_400)
        let sent = clock.now
        let restarted = Delivery(store: outbox.store, deliverer: network)
        try await expect(settled(by: restarted).map(\.state), equals: [.done])
        let departure = try #require(await network.departure)
        #expect(departure <= sent)
        #expect(departure >= sent - 3 * 86_400)
        if isTold { #expect(departure == sent) }
    }

    /// A network whose own clock went back tells nothing; a row from the future then forbids the
    /// second request.
    @Test func aNetworkWhoseClockWentBackIsNotBelieved() async throws {
        let outbox = try await OutboxFixture()
        let lead = Recorded<TimeInterval>()
        lead.add(0)
        let network = ScriptedDeliverer(outcomes: Self.lost, clockLead: { lead.values.last })
        clock.set(by: 86_400)
        try await lose(outbox, by: delivery(outbox, network), expires: 3 * 86_400)
        clock.set(by: -86_400)
        let restarted = Delivery(store: outbox.store, deliverer: network)
        try await expect(settled(by: restarted).map(\.isUnconfirmed), equals: [true])
        await expect(network.sent.count, equals: 1)
    }
}
