import Expectations
import Outbox
import Testing

@Suite struct LeaseTests {
    @Test func goesToOneOwnerAtATime() async throws {
        let outbox = try await OutboxFixture()
        try await expect(outbox.leases.take(owner: "second", after: nil, now: 1), equals: nil)
        let record = try #require(try await outbox.leases.record())
        #expect(record.owner == "first")
        let second = try #require(try await outbox.leases.take(owner: "second", after: record, now: 1))
        #expect(second.fence > outbox.lease.fence)
        try await expect(outbox.leases.take(owner: "third", after: record, now: 1), equals: nil)
        await #expect(throws: OutboxError.self) { try await outbox.leases.beat(outbox.lease, now: 2) }
        try await outbox.leases.beat(second, now: 2)
    }

    @Test func mayBeTakenOnceReleased() async throws {
        let outbox = try await OutboxFixture()
        var watch = LeaseWatch()
        let held = watch.mayTake(try await outbox.leases.record(), at: .now)
        #expect(!held)
        try await outbox.leases.release(outbox.lease, now: 1)
        let released = watch.mayTake(try await outbox.leases.record(), at: .now)
        #expect(released)
        await #expect(throws: OutboxError.self) { try await outbox.leases.beat(outbox.lease, now: 2) }
    }

    @Test func mayBeTakenAfterHalfAMinuteOfSilence() async throws {
        let outbox = try await OutboxFixture()
        let start = ContinuousClock.now
        var watch = LeaseWatch()
        let record = try #require(try await outbox.leases.record())
        var answers = [0, 29].map { watch.mayTake(record, at: start + .seconds($0)) }
        try await outbox.leases.beat(outbox.lease, now: 1)
        let beaten = try #require(try await outbox.leases.record())
        answers += [31, 60, 61].map { watch.mayTake(beaten, at: start + .seconds($0)) }
        #expect(answers == [false, false, false, false, true])
    }

    @Test func isFreeBeforeAnybodyHeldIt() {
        var watch = LeaseWatch()
        let isFree = watch.mayTake(nil, at: .now)
        #expect(isFree)
    }
}
