import Foundation
import NetworkNames
import Posts
import TestSupport
import Testing

@testable import Outbox
@testable import Sandbox
@testable import Torture

/// What a machine without a processor for the workers explains, and what it does not.
@Suite struct AuditStarvationTests {
    @Test(arguments: [(5.0...5.24, 0), (5.0...5.05, 1), (4.0...4.4, 1)])
    func whoGotNoProcessorMayBeLate(hours: ClosedRange<Double>, lost: Int) {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .expired, reason: .outbox(.tooLate))
        run.disturb(.starvation, hours: hours)
        let report = run.report
        #expect(report.lost == lost)
        #expect(report.unhindered == 1)
    }

    @Test func manyShortStretchesAreNoTime() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .expired, reason: .outbox(.tooLate))
        for second in stride(from: 0.0, to: 900, by: 90) {
            run.disturb(.starvation, hours: (5 + second / 3_600)...(5 + (second + 18) / 3_600))
        }
        #expect(run.report.findings == [])
    }

    @Test(arguments: [(4.2...5.0, 0), (4.2...4.5, 1)])
    func aRequestThatTheMachineHeldUpMayArriveLate(hours: ClosedRange<Double>, unexplained: Int) {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run[slot].due = AuditRun.start + 4 * 3_600
        run[slot].expires = AuditRun.start + 4.25 * 3_600
        run.disturb(.starvation, hours: hours)
        #expect(run.report.unexplained == unexplained)
    }

    @Test func nothingElseIsExcused() {
        var run = AuditRun(.bluesky)
        run.disturb(.starvation, hours: 0...24)
        let slots = (1...4).map { run.post(hour: Double($0)) }
        run.sendAgain(slots[0], after: 30)
        run.end(slots[1], as: .failed, reason: "forbidden")
        run.unsend(slots[2])
        run[slots[3]].due += 60
        run.favorite(hour: 6)
        run.input.actions.removeLast()
        let report = run.report
        #expect(report.duplicates == 1)
        #expect(report.lost == 1)
        // Another key, a failure that nothing provoked, a request before its time, a favorite of
        // nobody and its request.
        #expect(report.unexplained >= 4)
    }

    @Test func aReadIsNotMadeAgainForIt() {
        var run = AuditRun(.x)
        run.disturb(.starvation, hours: 5...6)
        run.ledger.rejections.append(
            SandboxLedger.Rejection(
                date: AuditRun.start + 5.5 * 3_600, method: "GET", path: "/2/users/1/mentions",
                status: 401,
                reason: SandboxLedger.Rejection.repeatedNonce, isExpected: false))
        #expect(run.report.unexplained == 1)
    }

    /// Its requests do not fail, so that an action waits for nothing afterwards.
    @Test func noActionWaitsForTheNextAttemptBecauseOfIt() {
        var run = AuditRun(.mastodon)
        let favorite = run.favorite(hour: 5)
        run.end(favorite, as: .expired, reason: .outbox(.tooLate))
        run[favorite].attempts = 9
        run.disturb(.starvation, hours: 5...7.8)
        #expect(run.report.lost == 1)
    }
}
