import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

@testable import Outbox

/// Posts that nobody could send in their minute do not come in a burst.
@Suite struct LatePostTests {
    private static let start = OutboxFixture.start

    /// What left, and when, in seconds after the start.
    private struct Departures {
        var times: [TimeInterval] = []
        var expired: [Action] = []
    }

    /// Lives from `begin` on as a worker does, from one thing that wants attention to the next.
    private func live(
        _ stores: [OutboxStore], from begin: TimeInterval = 0, until end: TimeInterval = 3_600,
        limit: Int = 20
    ) async throws -> Departures {
        var departures = Departures()
        var now = Self.start + begin
        var turn = 0
        while now < Self.start + end {
            // Every look is another worker's, which knows only what the table says.
            let store = stores[turn % stores.count]
            turn += 1
            let due = try await store.spreadLate(
                try await store.due([.post], now: now, limit: limit), now: now)
            departures.expired += due.expired
            if let action = due.ready.first {
                let claimed = try await store.claim(action, now: now)
                let sending = try await store.beginSending(
                    claimed, lookUp: now + 90, deadline: .seconds(30), now: now)
                _ = try await store.confirm(
                    sending, remoteID: action.subject, remoteAddress: nil, now: now)
                departures.times.append(now.timeIntervalSince(Self.start))
            }
            guard let next = try await store.nextWorkTime([.post], lookUpAfter: 90, now: now)
            else { break }
            now = max(next, now + 1)
        }
        return departures
    }

    private func slots(_ dues: [TimeInterval]) -> [Intent] {
        dues.enumerated().map { OutboxFixture.slot($0 + 1, due: Self.start + $1) }
    }

    @Test(arguments: [1, 2]) func threeLeaveAfterAnOutageAMinuteApart(workers: Int) async throws {
        let outbox = try await OutboxFixture()
        // One worker's lease, held by as many processes as there are stores: none remembers
        // anything.
        let stores = (0..<workers).map { _ in
            OutboxStore(storage: outbox.storage, mirror: "m", lease: outbox.lease)
        }
        let missed = stride(from: -840.0, to: -60, by: 65).map(\.self)
        #expect(
            try await outbox.store.store(OutboxFixture.plan, slots: slots(missed + [400, 402])))
        let departures = try await live(stores)
        #expect(
            departures.times == [0, 60, 120, 400, 402], "what is not late leaves in its minute")
        #expect(departures.expired.count == missed.count - 3)
        expect(departures.expired) {
            $0.allSatisfy { $0.state == .expired && $0.reason == .outbox(.tooManyLate) }
        }
        try await expect(outbox.store.recent(100)) {
            $0.allSatisfy { $0.state == .done || $0.state == .expired }
        }
    }

    @Test func moreThanOneHandfulIsNoMoreThanThree() async throws {
        let outbox = try await OutboxFixture()
        let missed = (0..<50).map { -800 + Double($0) * 10 }
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: slots(missed)))
        let departures = try await live([outbox.store])
        #expect(departures.times == [0, 60, 120])
        #expect(departures.expired.count == 47)
    }

    @Test func aLatePostKeepsItsDistanceFromOneThatWasOnTime() async throws {
        let outbox = try await OutboxFixture()
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: slots([-30, -200, -100])))
        // The one on time waits for nobody, and nobody but the late ones waits for it.
        try await expect(live([outbox.store]).times, equals: [0, 1, 61])
    }

    @Test func anotherOutageHasItsOwnThree() async throws {
        let outbox = try await OutboxFixture()
        let missed = [-500.0, -400, -300, -200]
        #expect(
            try await outbox.store.store(
                OutboxFixture.plan, slots: slots(missed + missed.map { $0 + 3_000 })))
        try await expect(live([outbox.store], until: 600).times, equals: [0, 60, 120])
        try await expect(live([outbox.store], from: 3_000).times, equals: [3_000, 3_060, 3_120])
    }

    @Test func aClockThatWasAheadHoldsNothingUp() async throws {
        let outbox = try await OutboxFixture()
        #expect(try await outbox.store.store(OutboxFixture.plan, slots: slots([-500, -400])))
        let first = try #require(try await outbox.store.due([.post], now: Self.start).first)
        let ahead = Self.start + 86_400
        let claimed = try await outbox.store.claim(first, now: ahead)
        _ = try await outbox.store.beginSending(
            claimed, lookUp: ahead + 90, deadline: .seconds(30), now: ahead)
        try await expect(live([outbox.store]).times, equals: [0])
    }

    @Test func repliesAreNotHeldBack() async throws {
        let outbox = try await OutboxFixture()
        for number in 0..<8 {
            _ = try await outbox.store.propose(OutboxFixture.reply("\(number)"), now: Self.start)
        }
        let late = Self.start + 3_600
        let due = try await outbox.store.due(ActionKind.allCases, now: late)
        try await expect(outbox.store.spreadLate(due, now: late).ready.count, equals: 8)
    }
}
