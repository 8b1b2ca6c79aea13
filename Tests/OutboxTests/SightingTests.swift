import Expectations
import Foundation
import Outbox
import Posts
import TestSupport
import Testing

/// What ended unconfirmed and is seen later.
@Suite struct SightingTests {
    private static let now = OutboxFixture.start

    private func unconfirmed(
        _ outbox: OutboxFixture, sightings: [LookUpOutcome]
    ) async throws -> (Delivery, ScriptedDeliverer) {
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "timeout")], sightings: [.absent] + sightings,
            resendWindow: nil)
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await outbox.deliver("a", by: delivery)
        let ended = try await delivery.reconcile(at: Self.now + 91)
        #expect(ended.map(\.isUnconfirmed) == [true])
        return (delivery, network)
    }

    @Test func looksAFewTimesMoreWithinADay() async throws {
        let outbox = try await OutboxFixture()
        let (delivery, network) = try await unconfirmed(outbox, sightings: [])
        var times: [TimeInterval] = []
        while let next = try await outbox.store.nextLookUp() {
            times.append(next.timeIntervalSince(Self.now))
            try await expect(delivery.reconcile(at: next - 1)) { $0.isEmpty }
            await expect(network.lookUps, equals: times.count)
            try await expect(delivery.reconcile(at: next)) { $0.isEmpty }
        }
        #expect(times == [600, 3_600, 21_600, 86_400])
        let left = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(left.isUnconfirmed)
        #expect(left.nextAttempt == nil)
        // Looking changes nothing that people see.
        #expect(left.updated == Self.now + 91)
    }

    @Test func aLookThatAnOutageCostIsMadeUpForAfterIt() async throws {
        let outbox = try await OutboxFixture()
        let down = LookUpOutcome.unavailable(
            reason: "unavailable", cause: .serverTrouble, retryAfter: nil)
        let (delivery, _) = try await unconfirmed(
            outbox, sightings: [down, down, .found(remoteID: "u", remoteAddress: nil)])
        for time in [600.0, 3_600] {
            try await expect(delivery.reconcile(at: Self.now + time)) { $0.isEmpty }
        }
        try await expect(outbox.store.nextLookUp(), equals: Self.now + 7_200)
        try await expect(delivery.reconcile(at: Self.now + 7_200).map(\.state), equals: [.done])
    }

    @Test func becomesDoneWhenItIsSeenByAnotherProcess() async throws {
        let outbox = try await OutboxFixture()
        let (_, _) = try await unconfirmed(outbox, sightings: [])
        let network = ScriptedDeliverer(
            outcomes: [], sightings: [.found(remoteID: "u", remoteAddress: "7")])
        let later = Delivery(store: outbox.store, deliverer: network)
        let seen = try #require(try await later.reconcile(at: Self.now + 40_000).first)
        #expect(seen.state == .done)
        #expect(seen.reason == nil)
        #expect(seen.remoteID == "u")
        #expect(seen.remoteAddress == "7")
        #expect(seen.nextAttempt == nil)
        try await expect(outbox.store.nextLookUp(), equals: nil)
        await expect(network.sent) { $0.isEmpty }
    }

    @Test func aNetworkThatCannotBeAskedIsAskedAgainForAWhile() async throws {
        let outbox = try await OutboxFixture()
        let down = LookUpOutcome.unavailable(
            reason: "unavailable", cause: .serverTrouble, retryAfter: nil)
        let (delivery, network) = try await unconfirmed(
            outbox, sightings: Array(repeating: down, count: 100))
        var times: [TimeInterval] = []
        while let next = try await outbox.store.nextLookUp() {
            times.append(next.timeIntervalSince(Self.now))
            _ = try await delivery.reconcile(at: next)
        }
        // The next look is an hour away at most, so that an outage costs none of the planned ones.
        #expect(times.starts(with: [600, 3_600, 7_200, 10_800, 14_400, 18_000, 21_600, 25_200]))
        #expect(times.last.map { (172_800...176_400).contains($0) } == true)
        await expect(network.lookUps, equals: times.count + 1)
    }

    /// A day in which the network could not be asked at all ends the waiting, not the looking.
    @Test func whatCouldNotBeLookedUpForADayIsLookedForOnceMore() async throws {
        let outbox = try await OutboxFixture()
        let down = LookUpOutcome.unavailable(
            reason: "unavailable", cause: .serverTrouble, retryAfter: nil)
        let network = ScriptedDeliverer(
            outcomes: [.unknown(reason: "timeout")], sightings: Array(repeating: down, count: 1_000)
        )
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await outbox.deliver("a", by: delivery)
        var time = Self.now
        while let next = try await outbox.store.nextLookUp(), next < Self.now + 86_400 + 1 {
            time = next
            let waiting = try #require(try await delivery.reconcile(at: next).first)
            guard waiting.state == .sending else { break }
        }
        let ended = try #require(try await outbox.store.action(.reply, subject: "a"))
        #expect(ended.isUnconfirmed)
        #expect(time == Self.now + 86_400)
        await expect(network.lookUps) { $0 < 120 }
        try await expect(outbox.store.nextLookUp(), equals: Self.now + 86_400 + 3_600)
        await expect(network.sent.count, equals: 1)
    }

    @Test func whatTheNetworkRefusedAsADuplicateIsLookedForToo() async throws {
        let outbox = try await OutboxFixture()
        let network = ScriptedDeliverer(
            outcomes: [.duplicate], sightings: [.absent, .found(remoteID: "u", remoteAddress: nil)])
        let delivery = Delivery(store: outbox.store, deliverer: network)
        _ = try await outbox.deliver("a", by: delivery)
        let ended = try await delivery.reconcile(at: Self.now + 91)
        #expect(ended.map(\.reason) == [.outbox(.duplicate)])
        try await expect(delivery.reconcile(at: Self.now + 600).map(\.state), equals: [.done])
    }
}
