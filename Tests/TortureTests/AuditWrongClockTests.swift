import Foundation
import NetworkNames
import Posts
import TestSupport
import Testing

@testable import Outbox
@testable import Sandbox
@testable import Torture

/// What a clock that was set to a wrong time explains, and what it does not.
@Suite struct AuditWrongClockTests {
    private static let day: TimeInterval = 86_400

    /// A clock that was wrong from one hour to another.
    private func wrong(_ seconds: TimeInterval, hours: ClosedRange<Double>) -> WrongClock {
        WrongClock(
            seconds: seconds,
            interval: DateInterval(
                start: AuditRun.start + hours.lowerBound * 3_600,
                end: AuditRun.start + hours.upperBound * 3_600))
    }

    /// A run in which a clock was a day ahead, or an hour behind, from ten o'clock to ten past.
    private func run(_ network: NetworkName = .mastodon, _ seconds: TimeInterval = day) -> AuditRun
    {
        var run = AuditRun(network)
        run.input.wrongClocks = [wrong(seconds, hours: 10...10 + 1.0 / 6)]
        return run
    }

    @Test(arguments: [-3_600, day]) func aWrongClockAloneIsNothing(_ seconds: TimeInterval) {
        var run = run(.mastodon, seconds)
        run.post(hour: 9)
        run.answer(hour: 12)
        run.favorite(hour: 15)
        #expect(run.report.findings == [])
    }

    @Test func whatAClockThatWasAheadMarkedIsExplained() {
        var run = run()
        let slot = run.post(hour: 15)
        run.end(slot, as: .expired, reason: .outbox(.tooLate))
        run[slot].updated = AuditRun.start + 10 * 3_600 + Self.day + 60
        #expect(run.report.lost == 0)
        // Marked by a clock that was right, at its time or while the other one was wrong.
        for updated in [AuditRun.start + 15.5 * 3_600, AuditRun.start + 10 * 3_600 + 60] {
            run[slot].updated = updated
            #expect(run.report.lost == 1)
        }
    }

    @Test func aClockThatWasBehindLetsNothingExpire() {
        var run = run(.mastodon, -3_600)
        let slot = run.post(hour: 15)
        run.end(slot, as: .expired, reason: .outbox(.tooLate))
        run[slot].updated = AuditRun.start + 9 * 3_600 + 60
        #expect(run.report.lost == 1)
    }

    @Test func slotsOfADayThatWasPlannedAheadAreExplained() {
        var run = run()
        let slot = run.post(hour: 15)
        run.end(slot, as: .skipped, reason: "before-start")
        run[slot].created = AuditRun.start + 10 * 3_600 + Self.day + 60
        #expect(run.report.lost == 0)
        run[slot].created = AuditRun.start + 16 * 3_600
        #expect(run.report.lost == 1)
    }

    @Test func mentionsThatWereTooOldForAWrongClockAreExplained() {
        var run = run()
        let answer = run.answer(hour: 9.9)
        run.end(answer, as: .skipped, reason: "too-old")
        run[answer].created = AuditRun.start + 10 * 3_600 + Self.day + 60
        #expect(run.report.unexplained == 0)
        run[answer].created = AuditRun.start + 10 * 3_600 + 60
        #expect(run.report.unexplained == 1)
    }

    @Test func whatIsSentADayEarlyIsExplainedByThatDayOnly() {
        let cases: [(hour: Double, count: Int)] = [(34.1, 0), (34.5, 1), (15, 1)]
        for (hour, count) in cases {
            var run = run()
            let slot = run.post(hour: 10.1)
            run[slot].due = AuditRun.start + hour * 3_600
            run[slot].expires = run[slot].due + 900
            #expect(run.report.findings.count { $0.contains("before its time") } == count)
        }
    }

    /// What a right clock sends early is not explained by one that was wrong at another time.
    @Test func whatIsSentEarlyAtAnotherTimeIsNotExplained() {
        var run = run()
        let slot = run.post(hour: 12)
        run[slot].due = AuditRun.start + 34.1 * 3_600
        run[slot].expires = run[slot].due + 900
        #expect(run.report.findings.count { $0.contains("before its time") } == 1)
    }

    /// By how much the clock was wrong, when it was sent and given up by what the worker's clock
    /// showed, and the findings.
    private static let requests: [(seconds: Double, sent: Double, updated: Double, lost: Int)] = [
        (day, 34.1, 34.2, 0), (day, 9.9, 34.1, 0), (day, 34.1, 36, 0), (day, 9, 9.2, 1),
        (day, 12, 12.2, 1),
        (day, 9.9, 10.6, 1), (-3_600, 9.05, 10.3, 0), (-3_600, 8.2, 9.1, 0), (-3_600, 12, 12.2, 1),
    ]

    /// Only what a worker with a wrong clock sent or gave up is of unknown age.
    @Test(arguments: requests)
    func aRequestOfUnknownAgeNeedNotBeMadeAgain(
        _ seconds: Double, _ sent: Double, _ updated: Double, _ lost: Int
    ) {
        var run = run(.mastodon, seconds)
        run.input.kills = 1
        run.input.now = AuditRun.start + 2 * Self.day
        run.input.plans.append(
            StoredPlan(
                day: AuditRun.day.advanced(by: 1), timeZone: "GMT", seed: "1", made: AuditRun.start)
        )
        let answer = run.answer(hour: sent)
        run.giveUp(answer)
        run[answer].updated = AuditRun.start + updated * 3_600
        #expect(run.report.lost == lost)
    }

    @Test func anHourThatComesTwiceKeepsTheOrder() {
        var run = run(.mastodon, -3_600)
        run.input.rules.repliesPerPerson = 1
        let first = run.answer(hour: 9.5)
        let second = run.answer(hour: 10)
        run.end(second, as: .skipped, reason: "person-cap")
        run[first].created = AuditRun.start + 9.6 * 3_600
        // Ten o'clock and five minutes, for a clock that showed an hour less.
        run[second].created = AuditRun.start + 9 * 3_600 + 300
        #expect(run.report.findings == [])
        run.input.wrongClocks = []
        #expect(run.report.unexplained == 1)
    }

    @Test func signaturesOfAWrongTimeAreRefusedWhileItIsWrong() {
        for (hour, count) in [(10.1, 0), (12, 1)] {
            var run = run(.x)
            run.ledger.rejections.append(mistimed(hour: hour))
            #expect(run.report.unexplained == count)
        }
    }

    /// The first read of each account tells it that the clock was set right, and later ones know
    /// it.
    @Test func anAccountLearnsOnceThatTheClockIsRight() {
        var run = run(.x)
        run.input.wrongClocks = [wrong(Self.day, hours: 9...10)]
        run.ledger.rejections = [
            mistimed(hour: 10.1, "/2/users/1/tweets"), mistimed(hour: 10.15, "/2/users/2/tweets"),
        ]
        #expect(run.report.unexplained == 0)
        run.ledger.rejections.append(mistimed(hour: 10.2, "/2/users/1/tweets"))
        #expect(run.report.unexplained == 1)
        run.ledger.rejections = [mistimed(hour: 10.3, "/2/users/1/tweets")]
        #expect(run.report.unexplained == 1)
        run.ledger.rejections = [mistimed(hour: 10.1, "/2/tweets", method: "POST")]
        #expect(run.report.unexplained == 1)
    }

    private func mistimed(hour: Double, _ path: String = "/2/users/me", method: String = "GET")
        -> SandboxLedger.Rejection
    {
        SandboxLedger.Rejection(
            date: AuditRun.start + hour * 3_600, method: method, path: path, status: 401,
            reason: SandboxLedger.Rejection.otherTime, isExpected: false)
    }

    @Test func nothingIsExpectedWhileTheClockIsWrong() {
        var run = run()
        run.input.wrongClocks = [wrong(Self.day, hours: 9...11)]
        let slot = run.post(hour: 10)
        run.end(slot, as: .expired, reason: .outbox(.tooLate))
        #expect(run.report.lost == 0)
        run.input.wrongClocks = [wrong(Self.day, hours: 11...12)]
        #expect(run.report.lost == 1)
    }
}
