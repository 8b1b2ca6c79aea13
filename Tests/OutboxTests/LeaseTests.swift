import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

@testable import Outbox

@Suite struct LeaseTests {
    @Test func goesToOneOwnerAtATime() async throws {
        let outbox = try await OutboxFixture()
        try await expect(outbox.leases.take(owner: "second", after: nil, now: 1), equals: nil)
        let record = try #require(try await outbox.leases.record())
        #expect(record.owner == "first")
        let second = try #require(
            try await outbox.leases.take(owner: "second", after: record, now: 1))
        #expect(second.fence > outbox.lease.fence)
        try await expect(outbox.leases.take(owner: "third", after: record, now: 1), equals: nil)
        await #expect(throws: OutboxError.self) {
            try await outbox.leases.beat(outbox.lease, now: 2)
        }
        try await outbox.leases.beat(second, now: 2)
    }

    @Test func showsTheBeatOfItsWorkerUntilItIsReleased() async throws {
        let outbox = try await OutboxFixture()
        let first = try #require(try await outbox.leases.record())
        try await outbox.leases.beat(outbox.lease, now: 7_000)
        let second = try #require(try await outbox.leases.record())
        #expect(second.beat == first.beat + 1)
        #expect(second.updatedMilliseconds == 7_000)
        #expect(second.silence(at: Date(milliseconds: 9_000)) == 2)
        try await outbox.leases.release(outbox.lease, now: 8_000)
        try await outbox.leases.storage.execute("UPDATE workers SET updated_ms = 9000")
        let released = try #require(try await outbox.leases.record())
        #expect(released.beat == 0)
        #expect(released.updatedMilliseconds == 8_000)
        #expect(released.silence(at: Date(milliseconds: 9_000)) == nil)
        await #expect(throws: OutboxError.self) {
            try await outbox.leases.beat(outbox.lease, now: 2)
        }
    }

    // MARK: Silence

    /// What a watch says of a worker at some seconds, whose beat changes at others.
    private func answers(at looks: [Int], beats: [Int] = []) -> [Bool] {
        let start = ContinuousClock.now
        var watch = LeaseWatch(LeaseTiming())
        return looks.map { second in
            watch.begin(at: start + .seconds(second))
            watch.see("w", beat: Int64(beats.count { $0 <= second }))
            return watch.isSilent("w")
        }
    }

    @Test func aWorkerIsSilentAfterHalfAMinute() {
        let looks = Array(stride(from: 0, through: 40, by: 5))
        #expect(answers(at: looks) == looks.map { $0 >= 30 })
        #expect(answers(at: [0, 10, 20, 29, 30]) == [false, false, false, false, true])
    }

    @Test func aBeatBeginsItAnew() {
        let looks = Array(stride(from: 0, through: 80, by: 5))
        #expect(answers(at: looks, beats: [26]) == looks.map { $0 >= 60 })
        #expect(answers(at: looks, beats: [3, 8, 13, 18, 23, 28, 33]) == looks.map { $0 >= 65 })
    }

    /// An observer that was frozen, or could not reach the database, has not seen anybody be
    /// silent.
    @Test func theTimeBetweenTwoLooksCountsAsTenSecondsAtMost() {
        #expect(
            answers(at: [0, 3_600, 3_605, 7_200, 7_205]) == [false, false, false, false, true])
    }

    @Test func aWorkerThatWasNotSeenForALookIsNewAgain() {
        let start = ContinuousClock.now
        var watch = LeaseWatch(LeaseTiming())
        for second in stride(from: 0, through: 25, by: 5) {
            watch.begin(at: start + .seconds(second))
            watch.see("w", beat: 1)
        }
        watch.begin(at: start + .seconds(30))
        watch.begin(at: start + .seconds(35))
        watch.see("w", beat: 1)
        #expect(!watch.isSilent("w"))
        #expect(!watch.isSilent("another"))
    }

    @Test func aRowThatIsGoneIsNoNewBeat() {
        let start = ContinuousClock.now
        var watch = LeaseWatch(LeaseTiming())
        for (second, beat) in [(0, 1), (10, 1), (20, nil), (29, nil)] as [(Int, Int64?)] {
            watch.begin(at: start + .seconds(second))
            watch.see("w", beat: beat)
            #expect(!watch.isSilent("w"))
        }
        watch.begin(at: start + .seconds(30))
        watch.see("w", beat: nil)
        #expect(watch.isSilent("w"))
    }

    @Test func versionsGoByTheirNumbers() {
        let texts = ["", "0.2.0", "0.2.1-dev", "0.10", "0.10.1", "1", "1.0.0.1"]
        #expect(texts.reversed().sorted { WorkerVersion($0) < WorkerVersion($1) } == texts)
        #expect(WorkerVersion("0.2") == WorkerVersion("0.2.0"))
    }
}
