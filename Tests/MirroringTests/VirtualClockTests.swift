import Expectations
import Fixtures
import Foundation
import Testing

@testable import Mirroring

@Suite struct VirtualClockTests {
    private static let start = Date(timeIntervalSince1970: 1_780_239_600)

    /// A request must not leave after the time that its row grants it, which other workers count by
    /// the same clock.
    @Test func instantsGoAsFastAsTheClock() async throws {
        let virtual = VirtualClock(startingAt: Self.start)
        let instants = virtual.instants
        let begin = instants()
        try await virtual.sleep(until: virtual.now + 90)
        #expect(begin.duration(to: instants()) == .seconds(90))
        let fast = AcceleratedClock(origin: Self.start, started: Date(), factor: 1_000_000).instants
        let first = fast()
        let elapsed = ContinuousClock().measure {
            while first.duration(to: fast()) < .seconds(60) {}
        }
        #expect(first.duration(to: fast()) > elapsed * 1_000)
    }

    @Test func whoJoinedFirstGoesOnFirst() async throws {
        let clock = VirtualClock(startingAt: Date(timeIntervalSince1970: 0))
        let turns = (0..<6).map { _ in clock.join() }
        let woken = Recorder<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Whoever asks first, as a busy machine likes it.
            for turn in turns.reversed() {
                group.addTask {
                    defer { clock.leave() }
                    try await clock.sleep(until: clock.now, turn: turn)
                    woken.add(turn)
                }
            }
            try await group.waitForAll()
        }
        #expect(woken.values == turns)
    }

    @Test func wakesSleepersInTheOrderOfTheirDeadlines() async throws {
        let clock = VirtualClock(startingAt: Self.start)
        let order = Recorder<String>()
        for _ in 0..<3 { clock.join() }
        await withTaskGroup(of: Void.self) { group in
            for (name, seconds) in [("late", 300.0), ("early", 100), ("middle", 200)] {
                group.addTask {
                    defer { clock.leave() }
                    try? await clock.sleep(until: Self.start + seconds)
                    order.add("\(name) \(Int(clock.now.timeIntervalSince(Self.start)))")
                }
            }
        }
        #expect(order.values == ["early 100", "middle 200", "late 300"])
    }

    @Test func standsStillUntilEveryParticipantSleeps() async throws {
        let clock = VirtualClock(startingAt: Self.start)
        clock.join()
        clock.join()
        let sleeper = Task { try await clock.sleep(until: Self.start + 60) }
        // The other participant is awake, so however long this takes, nobody is woken.
        for _ in 0..<50 { await Task.yield() }
        #expect(clock.now == Self.start)
        clock.leave()
        try await sleeper.value
        #expect(clock.now == Self.start + 60)
    }

    @Test func doesNotGoBackForADeadlineThatHasPassed() async throws {
        let clock = VirtualClock(startingAt: Self.start)
        clock.join()
        try await clock.sleep(until: Self.start - 3_600)
        #expect(clock.now == Self.start)
        try await clock.sleep(until: Self.start)
        #expect(clock.now == Self.start)
    }

    @Test func takesTurnsAmongSleepersOfOneInstant() async throws {
        let clock = VirtualClock(startingAt: Self.start)
        clock.join()
        clock.join()
        let turns = Recorder<Int>()
        await withTaskGroup(of: Void.self) { group in
            for name in 0..<2 {
                group.addTask {
                    defer { clock.leave() }
                    for _ in 0..<4 {
                        try? await clock.sleep(until: clock.now)
                        turns.add(name)
                    }
                }
            }
        }
        // Who waits longest at an instant is woken first, so neither goes twice in a row.
        let seen = turns.values
        #expect(seen.count == 8)
        expect(zip(seen, seen.dropFirst())) { $0.allSatisfy { $0 != $1 } }
    }

    @Test func endsTheWaitOfACancelledTask() async throws {
        let clock = VirtualClock(startingAt: Self.start)
        clock.join()
        clock.join()
        let sleeper = Task { try await clock.sleep(until: Self.start + 60) }
        for _ in 0..<20 { await Task.yield() }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.now == Self.start)
    }

    @Test func refusesToWaitForATaskCancelledBefore() async throws {
        let clock = VirtualClock(startingAt: Self.start)
        clock.join()
        let sleeper = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(until: Self.start + 60)
        }
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.now == Self.start)
        // A cancelled sleeper leaves nothing behind that would count for the next one.
        try await clock.sleep(until: Self.start + 5)
        #expect(clock.now == Self.start + 5)
    }
}
