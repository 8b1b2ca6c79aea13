import Expectations
import Foundation
import Testing

@testable import Posts

@Suite struct RetryRuleTests {
    private static let now = Date(timeIntervalSince1970: 1_790_000_000)

    /// Every rule that waits: its first and longest wait, and how far ahead a server is heard.
    private static let table: [(rule: RetryRule, first: Double, longest: Double, asked: Double)] = [
        (.work, 5, 300, 86_400), (.opening, 2, 4, 86_400), (.databaseLogin, 5, 300, 86_400),
        (.action(.tooBusy), 60, 900, 3_600), (.action(.serverTrouble), 30, 900, 3_600),
        (.action(.unreachable), 15, 300, 3_600), (.action(.limit), 900, 21_600, 86_400),
        (.action(.conflict), 5, 60, 300), (.action(.credentials), 30, 900, 3_600),
        (.action(.other), 30, 900, 3_600),
        (.lookUp(.tooBusy), 60, 900, 3_600), (.undo(.limit), 900, 21_600, 86_400),
        (.item, 120, 21_600, 3_600),
        (.notice, 60, 3_600, 3_600), (.credentials, 30, 240, 3_600),
        (.spareCredentials, 30, 3_600, 3_600),
        (.silence, 15, 300, 3_600), (.pause, 60, 60, 86_400), (.logIn, 60, 900, 86_400),
    ]

    private func wait(
        _ rule: RetryRule, _ failures: Int, asked: TimeInterval? = nil, key: String = "id"
    ) -> TimeInterval {
        rule.next(after: failures, key: key, retryAfter: asked.map { Self.now + $0 }, now: Self.now)
            .timeIntervalSince(Self.now)
    }

    // MARK: The next time

    @Test(arguments: ["", "publisher", "bot-mentions", "a1b2c3d4e5f6"])
    func growsFromTheFirstWaitToTheLongestWhateverItIsGiven(key: String) {
        for (rule, first, longest, _) in Self.table {
            let waits = [.min, 0, 1, 2, 3, 7, 8, 40, 1_000, Int.max].map {
                wait(rule, $0, key: key)
            }
            #expect(waits == waits.sorted())
            // A failure that was never counted waits as after the first.
            #expect(waits[0] == waits[2])
            #expect((first...first * 1.25).contains(waits[2]))
            let second = min(first * rule.factor, longest)
            #expect((second...second * 1.25).contains(waits[3]))
            #expect((longest...longest * 1.25).contains(waits[9]))
        }
    }

    @Test func hearsWhatAServerAsksForWithinReason() {
        for (rule, _, longest, most) in Self.table {
            let ours = wait(rule, 1)
            #expect((most + 1...most * 1.1 + 5).contains(wait(rule, 1, asked: most - 1)))
            #expect((most + 2...most * 1.1 + 5).contains(wait(rule, 1, asked: 31 * 86_400)))
            // No limit lasts for longer than a month.
            for unbelievable in [
                -86_400, -TimeInterval.infinity, TimeInterval.nan, 0, 3e8, TimeInterval.infinity,
            ] {
                #expect(wait(rule, 1, asked: unbelievable) == ours)
            }
            #expect(wait(rule, 1, asked: 1) >= ours)
            #expect(longest >= rule.firstWait)
        }
    }

    @Test func nothingReturnsAtTheSecondAtWhichALimitEnds() {
        let waits = (0..<200).map { wait(.action(.tooBusy), 1, asked: 300, key: "action-\($0)") }
        expect(waits) { $0.allSatisfy { (302...335).contains($0) } }
        #expect(Set(waits.map { Int($0) }).count > 20)
        #expect(wait(.action(.tooBusy), 1, asked: 300, key: "action-7") == waits[7])
        #expect(RetryRule.pause.honoured(nil, key: "", now: Self.now) == nil)
        #expect(RetryRule.pause.honoured(Self.now, key: "", now: Self.now) == nil)
    }

    @Test func spreadsManyAndStaysTheSameForOne() {
        let waits = (0..<200).map { wait(.action(.tooBusy), 1, key: "action-\($0)") }
        #expect(Set(waits).count > 100)
        expect(waits) { $0.allSatisfy { (60...75).contains($0) } }
        #expect(wait(.action(.tooBusy), 1, key: "action-7") == waits[7])
    }

    @Test func asksLessAndLessOftenWhatBecameOfAnAction() {
        func look(_ age: TimeInterval, asked: TimeInterval? = nil) -> TimeInterval {
            RetryRule.lookUp(.serverTrouble)
                .next(
                    afterAge: age, key: "id", retryAfter: asked.map { Self.now + $0 }, now: Self.now
                )
                .timeIntervalSince(Self.now)
        }
        #expect((30...37.5).contains(look(0)))
        #expect((30...37.5).contains(look(-3_600)))
        #expect((300...375).contains(look(600)))
        #expect((900...1_125).contains(look(86_400)))
        #expect((1_002...1_105).contains(look(0, asked: 1_000)))
        #expect((3_602...3_965).contains(look(0, asked: 32 * 86_400)))
        // No limit lasts so long.
        #expect(look(0, asked: 1e12) == look(0))
        // A day without an answer costs about a hundred requests.
        var age = 90.0
        var looks = 0
        while age < 86_400 {
            age += look(age)
            looks += 1
        }
        #expect((80...110).contains(looks))
    }

    // MARK: The end

    @Test(arguments: [
        (RetryRule.opening, 300.0), (.databaseLogin, 900), (.lookUp(.limit), 86_400),
        (.undo(.other), 7 * 86_400),
        (.item, 86_400), (.page, 1_200),
    ])
    func patienceEndsWithTime(rule: RetryRule, patience: TimeInterval) {
        #expect(!rule.isOver(after: .max, since: Self.now, now: Self.now + patience - 0.001))
        #expect(rule.isOver(since: Self.now, now: Self.now + patience))
        #expect(!rule.isOver(since: nil, now: Self.now + 1e9))
        // A clock that was set back has not waited.
        #expect(!rule.isOver(since: Self.now, now: Self.now - 1e9))
    }

    @Test(arguments: [(RetryRule.notice, 8), (.credentials, 6), (.awaitedCredentials, 1)])
    func patienceEndsWithFailures(rule: RetryRule, failures: Int) {
        #expect(!rule.isOver(after: failures - 1, since: Self.now, now: Self.now + 1e9))
        #expect(rule.isOver(after: failures))
    }

    @Test(arguments: [RetryRule.work, .action(.other), .spareCredentials, .silence, .pause, .logIn])
    func someRulesNeverEnd(rule: RetryRule) {
        #expect(!rule.isOver(after: .max, since: Self.now, now: Self.now + 1e9))
    }

    /// A slot waits for a quarter of an hour.
    @Test func credentialsAreGivenUpBeforeASlotExpires() {
        for key in ["bot", "human", "a", "zzzz"] {
            let waits = (1..<6).map { wait(.credentials, $0, key: key) }
            #expect(waits.reduce(0, +) < 900)
        }
    }
}
