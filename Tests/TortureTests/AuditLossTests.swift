import Expectations
import Foundation
import Networks
import Posts
import TestSupport
import Testing

@testable import Outbox
@testable import Sandbox
@testable import Torture

@Suite struct AuditLossTests {
    // MARK: Plans and mentions

    @Test func anAnnouncedSlotWithoutARowIsLost() {
        var run = AuditRun(.mastodon)
        run.post(hour: 5)
        run.input.slots[AuditRun.day] = 2
        let report = run.report
        #expect(report.lost == 1)
        expect(report.findings.first) {
            $0?.contains("\(AuditRun.day): has 2 slots in its plan and rows of 1") == true
        }
    }

    @Test func aDayWithoutAPlanIsLost() {
        var run = AuditRun(.mastodon)
        run.input.now = AuditRun.start + 2 * 86_400
        #expect(run.report.lost == 1)
    }

    @Test func aDayWithoutAWorkerNeedsNoPlan() {
        var run = AuditRun(.mastodon)
        run.input.now = AuditRun.start + 2 * 86_400
        run.disturb(hours: 24...48)
        #expect(run.report.findings == [])
    }

    // MARK: What has no end

    @Test(arguments: [ActionState.planned, .claimed])
    func anActionThatWasLeftLyingIsLost(state: ActionState) {
        var run = AuditRun(.bluesky)
        run.end(run.post(hour: 5), as: state)
        let report = run.report
        #expect(report.lost == 1)
        #expect(report.pending == 1)
    }

    @Test func anActionThatWaitsForItsNextAttemptIsNotLost() {
        var run = AuditRun(.bluesky)
        let favorite = run.favorite(hour: 20)
        run.end(favorite, as: .planned, reason: "unavailable")
        run.request(favorite, after: 1, status: 503, fault: .html(status: 503))
        run[favorite].nextAttempt = run.input.now + 5
        let report = run.report
        #expect(report.findings == [])
        #expect(report.pending == 0)
    }

    @Test func anActionInFlightIsLostOnceItCouldBeLookedUp() {
        var run = AuditRun(.x)
        let slot = run.post(hour: 20)
        run.end(slot, as: .sending)
        run[slot].sending = run[slot].due
        #expect(run.report.lost == 1)
    }

    @Test func anActionInFlightIsNotLostBeforeThat() {
        var run = AuditRun(.x)
        let slot = run.post(hour: 20)
        run.end(slot, as: .sending)
        run[slot].sending = run[slot].due
        run.input.now = run[slot].due + 60
        let report = run.report
        #expect(report.findings == [])
        #expect(report.pending == 1)
    }

    @Test func whatIsDoneMustBeOnTheNetwork() {
        var run = AuditRun(.mastodon)
        let actions = [run.post(hour: 5), run.answer(hour: 6), run.favorite(hour: 7)]
        for action in actions { run.unsend(action) }
        let report = run.report
        #expect(report.lost == 3)
        #expect(report.delivered == 0)
    }

    // MARK: What expired

    @Test(arguments: NetworkName.allCases)
    func anActionThatExpiredForNothingIsLost(network: NetworkName) {
        var run = AuditRun(network)
        run.end(run.post(hour: 5), as: .expired, reason: .outbox(.tooLate))
        #expect(run.report.lost == 1)
    }

    @Test(arguments: Disturbance.Cause.allCases)
    func anActionThatExpiredWhileNobodyCouldSendItIsNot(cause: Disturbance.Cause) {
        var run = AuditRun(.mastodon)
        run.end(run.favorite(hour: 5), as: .expired, reason: .outbox(.tooLate))
        run.disturb(cause, hours: 4.9...11.1)
        let report = run.report
        #expect(report.findings == [])
        #expect(report.unhindered == (cause == .starvation ? 1 : 0))
    }

    @Test func countsThatCannotBeReadHinderFavoritesOnly() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .expired, reason: .outbox(.tooLate))
        run.disturb(.noCounts, hours: 4.9...11.1)
        #expect(run.report.lost == 1)
    }

    /// After an outage few leave; that there were more is no excuse where there were none.
    @Test func aLatePostMayGiveWayToThreeOthers() {
        for (others, lost) in [(2, 1), (3, 0)] {
            var run = AuditRun(.mastodon)
            let slot = run.post(hour: 5)
            run.end(slot, as: .expired, reason: .outbox(.tooManyLate))
            run[slot].updated = run[slot].due + 600
            for number in 0..<others { run.post(hour: 5 - Double(number + 1) / 60) }
            #expect(run.report.lost == lost)
        }
    }

    @Test func aSlotBeforeTheFirstStartIsNotLost() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run.end(slot, as: .skipped, reason: "before-start")
        #expect(run.report.lost == 1)
        run.input.activated = run[slot].due + 60
        #expect(run.report.lost == 0)
    }

    @Test func aWorkerThatCameBackInTimeHasNoExcuse() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .expired, reason: .outbox(.tooLate))
        run.disturb(hours: 4.9...5.1)
        #expect(run.report.lost == 1)
    }

    @Test func manyShortStretchesAreNoTime() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .expired, reason: .outbox(.tooLate))
        for minute in stride(from: 0.0, to: 17, by: 1.5) {
            run.disturb(hours: (5 + minute / 60)...(5 + (minute + 0.25) / 60))
        }
        #expect(run.report.findings == [])
    }

    @Test func anActionWhoseRequestWasPutOffMayExpire() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run.end(slot, as: .expired, reason: "rate-limited")
        run[slot].attempts = 1
        let fault = SandboxFault.error(
            status: 429, message: "slow down", headers: ["Retry-After": "1200"])
        run.request(slot, after: 5, effect: .notActed, status: 429, fault: fault)
        #expect(run.report.findings == [])
    }

    @Test func aShortWaitDoesNotExcuseAWholeQuarterOfAnHour() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run.end(slot, as: .expired, reason: "rate-limited")
        run[slot].attempts = 1
        run.request(
            slot, after: 5, effect: .notActed, status: 429,
            fault: .error(status: 429, message: "slow down"))
        #expect(run.report.lost == 1)
    }

    @Test func aRowCannotExcuseItself() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run.end(slot, as: .expired, reason: "rate-limited")
        run[slot].attempts = 5
        run[slot].nextAttempt = run[slot].expires
        #expect(run.report.lost == 1)
    }

    @Test func clocksThatDifferLeaveLessTime() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .expired, reason: .outbox(.tooLate))
        run.input.skew = 400
        #expect(run.report.findings == [])
    }

    @Test func aSlotThatWasOverWhenItsPlanWasMadeIsLostUnlessNobodyCouldPlan() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .skipped, reason: "before-start")
        let late = run.report
        run.disturb(hours: 0...6)
        let excused = run.report
        #expect(late.lost == 1)
        #expect(excused.findings == [])
    }

    @Test func aSlotFromBeforeTheFirstStartIsNotLost() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .skipped, reason: "before-start")
        run.input.activated = AuditRun.start + 6 * 3_600
        #expect(run.report.findings == [])
    }

    // MARK: What was given up

    @Test(arguments: [NetworkName.mastodon, .bluesky])
    func whatTheNetworkWouldRecogniseIsNotGivenUpInTime(network: NetworkName) {
        var run = AuditRun(network)
        run.input.kills = 1
        run.giveUp(run.post(hour: 5))
        let report = run.report
        #expect(report.lost == 1)
        #expect(report.unconfirmed == 1)
    }

    @Test(arguments: [NetworkName.mastodon, .bluesky])
    func whatExpiredBeforeItCouldBeLookedUpMayBeGivenUp(network: NetworkName) {
        var run = AuditRun(network)
        run.input.kills = 1
        run.giveUp(run.post(hour: 5))
        run.disturb(hours: 5...5.5)
        let report = run.report
        #expect(report.findings == [])
        #expect(report.unconfirmed == 1)
    }

    @Test func whereEveryRequestCountsAnActionMayBeGivenUp() {
        var run = AuditRun(.x)
        run.input.cutAnswers = 1
        run.giveUp(run.answer(hour: 5))
        let report = run.report
        #expect(report.findings == [])
        #expect(report.unconfirmed == 1)
        #expect(report.delivered == 0)
    }

    @Test func whatIsFromAPostThatWasSaidToBeGoneMayBeGivenUp() throws {
        var run = AuditRun(.mastodon)
        run.input.kills = 1
        let slot = run.post(hour: 5)
        run.giveUp(slot)
        #expect(run.report.lost == 1)
        let source = try #require(run[slot].wording?.source.value)
        run.input.deniedChecks = ["/api/v1/statuses/\(source)"]
        #expect(run.report.findings == [])
    }

    @Test func whatWasRefusedOnPurposeAfterALostAnswerMayBeGivenUp() {
        var run = AuditRun(.mastodon)
        run.input.cutAnswers = 1
        let slot = run.post(hour: 5)
        run.giveUp(slot)
        run.request(slot, after: 200, status: 403, fault: .error(status: 403, message: "no"))
        #expect(run.report.findings == [])
    }

    @Test func afterTheRequestsThatTheNetworkAllowsAnActionMayBeGivenUp() {
        var run = AuditRun(.mastodon)
        run.input.kills = 2
        let slot = run.post(hour: 5)
        run.giveUp(slot)
        run.input.rules.sends = 2
        run[slot].sends = 2
        #expect(run.report.findings == [])
    }
}
