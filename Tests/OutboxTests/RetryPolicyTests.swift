import Expectations
import Foundation
import Outbox
import Posts
import Testing

@Suite struct RetryPolicyTests {
    private static let now = OutboxFixture.start
    private func wait(
        _ cause: RetryPolicy.Cause, _ attempts: Int, asked: TimeInterval? = nil, id: String = "id"
    ) -> TimeInterval {
        RetryPolicy.nextAttempt(
            after: cause, attempts: attempts, asked: asked.map { Self.now + $0 }, id: id, now: Self.now
        ).timeIntervalSince(Self.now)
    }

    @Test(arguments: [
        (RetryPolicy.Cause.tooBusy, 60.0, 900.0), (.serverTrouble, 30, 900), (.unreachable, 15, 300),
        (.limit, 900, 21_600), (.conflict, 5, 60), (.credentials, 30, 900), (.other, 30, 900),
    ])
    func growsFromTheFirstWaitToTheLongest(cause: RetryPolicy.Cause, first: Double, longest: Double) {
        #expect((first...first * 1.25).contains(wait(cause, 1)))
        #expect((first * 2...first * 2.5).contains(wait(cause, 2)))
        let waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, .max].map { wait(cause, $0) }
        #expect(waits == waits.sorted())
        #expect((longest...longest * 1.25).contains(waits[waits.count - 1]))
        // An attempt that was never counted waits as after the first.
        #expect(wait(cause, 0) == waits[0])
        #expect(wait(cause, .min) == waits[0])
    }

    @Test(arguments: RetryPolicy.Cause.allCases)
    func hearsWhatAServerAsksForWithinReason(cause: RetryPolicy.Cause) {
        let rule = RetryPolicy.rule(for: cause)
        let ours = wait(cause, 1)
        let most = rule.longestAsked
        #expect((most + 1...most * 1.1 + 5).contains(wait(cause, 1, asked: most - 1)))
        for farther in [3e8, TimeInterval.infinity] {
            #expect((most + 2...most * 1.1 + 5).contains(wait(cause, 1, asked: farther)))
        }
        #expect(wait(cause, 1, asked: -86_400) == ours)
        #expect(wait(cause, 1, asked: -.infinity) == ours)
        #expect(wait(cause, 1, asked: .nan) == ours)
        #expect(wait(cause, 1, asked: 1) >= ours)
        #expect(most >= rule.backoff.longest)
        #expect(rule.backoff.longest >= rule.backoff.first)
    }

    @Test func nothingResumesAtTheSecondAtWhichARateLimitEnds() {
        let waits = (0..<200).map { wait(.tooBusy, 1, asked: 300, id: "action-\($0)") }
        expect(waits) { $0.allSatisfy { (302...335).contains($0) } }
        #expect(Set(waits.map { Int($0) }).count > 20)
        #expect(wait(.tooBusy, 1, asked: 300, id: "action-7") == waits[7])
    }

    @Test func spreadsActionsAndStaysTheSameForOne() {
        let waits = (0..<200).map { wait(.tooBusy, 1, id: "action-\($0)") }
        #expect(Set(waits).count > 100)
        expect(waits) { $0.allSatisfy { (60...75).contains($0) } }
        #expect(wait(.tooBusy, 1, id: "action-7") == waits[7])
    }

    @Test func asksLessAndLessOftenWhatBecameOfAnAction() {
        func look(_ age: TimeInterval, asked: TimeInterval? = nil) -> TimeInterval {
            RetryPolicy.nextLookUp(
                after: .serverTrouble, age: age, asked: asked.map { Self.now + $0 }, id: "id", now: Self.now
            ).timeIntervalSince(Self.now)
        }
        #expect((30...37.5).contains(look(0)))
        #expect((30...37.5).contains(look(-3_600)))
        #expect((300...375).contains(look(600)))
        #expect((900...1_125).contains(look(86_400)))
        #expect((1_002...1_105).contains(look(0, asked: 1_000)))
        #expect((3_602...3_965).contains(look(0, asked: 1e12)))
        // A day without an answer costs about a hundred requests.
        var (age, looks) = (90.0, 0)
        while age < 86_400 {
            age += look(age)
            looks += 1
        }
        #expect((80...110).contains(looks))
    }
}
