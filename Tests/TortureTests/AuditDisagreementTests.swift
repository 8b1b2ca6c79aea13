import Expectations
import Foundation
import Networks
import Posts
import TestSupport
import Testing

@testable import Outbox
@testable import Sandbox
@testable import Torture

@Suite struct AuditDisagreementTests {
    // MARK: What nobody accounts for

    @Test(arguments: NetworkName.allCases)
    func aPostThatNoActionIsAboutIsUnexplained(network: NetworkName) {
        var run = AuditRun(network)
        let slots = [run.post(hour: 5), run.post(hour: 6)]
        run.input.actions.remove(at: slots[1])
        run.input.slots[AuditRun.day] = 1
        let report = run.report
        #expect(report.unexplained == 1)
        #expect(report.delivered == 1)
    }

    @Test func anAnswerToAnotherMentionIsUnexplainedAndItsActionLost() throws {
        var run = AuditRun(.mastodon)
        run.answer(hour: 5)
        run.ledger.deliveries[0].replyTo = "4711"
        let report = run.report
        #expect(report.unexplained == 1)
        #expect(report.lost == 1)
    }

    @Test func aFavoriteThatNobodyDecidedAboutIsUnexplained() {
        var run = AuditRun(.mastodon)
        run.input.actions.remove(at: run.favorite(hour: 5))
        #expect(run.report.unexplained == 1)
    }

    @Test func aRequestThatBelongsToNoActionIsUnexplained() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run.ledger.writes.append(
            SandboxLedger.Write(
                arrived: run[slot].due, date: run[slot].due, kind: .post, key: "nobody's",
                text: "nobody's",
                target: nil, postID: nil,
                effect: .refused, isAnswered: true, status: 422, fault: nil))
        #expect(run.report.unexplained == 1)
    }

    @Test func aSlotThatNoPlanAnnouncedIsUnexplained() {
        var run = AuditRun(.mastodon)
        run.post(hour: 5)
        run.input.slots[AuditRun.day] = 0
        #expect(run.report.unexplained == 1)
    }

    // MARK: Rows that the network does not bear out

    @Test func anAnswerIsExcusedIfItsMentionWasSaidToBeGone() throws {
        var run = AuditRun(.mastodon)
        let answers = [5.0, 6].map { run.answer(hour: $0) }
        let address = try #require(run[answers[0]].target?.address)
        for answer in answers { run.end(answer, as: .failed, reason: "not-found") }
        #expect(run.report.unexplained == 2)
        run.input.deniedChecks = ["/api/v1/statuses/\(address)"]
        #expect(run.report.unexplained == 1)
    }

    @Test func aFailureThatNothingProvokedIsUnexplained() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .failed, reason: "forbidden")
        #expect(run.report.unexplained == 1)
    }

    @Test func aFailureThatWasProvokedIsNot() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run.end(slot, as: .failed, reason: "forbidden")
        run.request(slot, after: 1, status: 403, fault: .error(status: 403, message: "no"))
        #expect(run.report.findings == [])
    }

    @Test func aTextThatXKnowsFromElsewhereMayBeRefused() {
        var run = AuditRun(.x)
        run.answer(hour: 4, text: "hello")
        let answer = run.answer(hour: 5, by: "other@sandbox.example", text: "hello")
        run.ledger.deliveries.removeLast()
        run.ledger.writes.removeLast()
        run.request(answer, after: 1, effect: .refused, status: 403)
        run[answer].state = .failed
        run[answer].reason = .outbox(.duplicate)
        run[answer].remoteID = nil
        #expect(run.report.findings == [])
    }

    @Test func anUnconfirmedPostThatIsThereIsUnexplainedOnceAWorkerCouldHaveSeenIt() {
        var run = AuditRun(.x)
        run.input.kills = 1
        let slot = run.post(hour: 5)
        run[slot].state = .failed
        run[slot].reason = .outbox(.unconfirmed)
        run[slot].remoteID = nil
        let seen = run.report
        run.input.now = run[slot].due + 500
        let tooSoon = run.report
        #expect(seen.unexplained == 1)
        #expect(tooSoon.findings == [])
    }

    @Test func aPostThatArrivedAfterTheLastLookMayStayUnconfirmed() {
        var run = AuditRun(.x)
        run.input.kills = 1
        let slot = run.post(hour: 5)
        run[slot].state = .failed
        run[slot].reason = .outbox(.unconfirmed)
        run[slot].remoteID = nil
        run.input.rules.sightings = [600]
        run.ledger.deliveries[0].date += 700
        #expect(run.report.findings == [])
    }

    @Test(arguments: [ActionState.planned, .claimed, .skipped, .expired, .suggested])
    func whatTheNetworkHasWasSent(state: ActionState) {
        var run = AuditRun(.bluesky)
        let slot = run.post(hour: 5)
        run[slot].state = state
        run.input.now = run[slot].due + 60
        #expect(run.report.unexplained == 1)
    }

    @Test func anotherNameThanTheNetworksIsUnexplained() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run[slot].remoteID = "https://sandbox.example/users/bot/statuses/0"
        #expect(run.report.unexplained == 1)
    }

    @Test func moreUnconfirmedThanKillsAndCutAnswersIsUnexplained() {
        var run = AuditRun(.x)
        for hour in [5.0, 6, 7, 8] { run.giveUp(run.post(hour: hour)) }
        run.input.kills = 1
        run.input.cutAnswers = 2
        let tooMany = run.report
        run.request(0, after: 0, isAnswered: false, fault: .dropRequest)
        let explained = run.report
        #expect(tooMany.unexplained == 1)
        #expect(explained.findings == [])
    }

    // MARK: Requests

    @Test(arguments: [NetworkName.mastodon, .bluesky])
    func anotherKeyIsUnexplained(network: NetworkName) {
        var run = AuditRun(network)
        let slot = run.post(hour: 5)
        run.request(slot, after: 200, effect: .repeated, status: 200)
        run.ledger.writes[1].key = "another"
        #expect(run.report.unexplained == 1)
    }

    @Test func aSecondRequestIsUnexplainedWhereEachCounts() {
        var run = AuditRun(.x)
        let slot = run.post(hour: 5)
        run.request(slot, after: 200, isAnswered: false, fault: .dropRequest)
        #expect(run.report.unexplained == 1)
    }

    @Test func aRequestThatCertainlyDidNothingMayBeRepeatedAnywhere() {
        var run = AuditRun(.x)
        let slot = run.post(hour: 5)
        run.request(slot, after: -1, status: 503, fault: .html(status: 503))
        #expect(run.report.findings == [])
    }

    @Test func whatIsSentBeforeItsTimeIsUnexplained() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run[slot].due += 60
        let early = run.report
        run.input.skew = 90
        let skewed = run.report
        #expect(early.unexplained == 1)
        #expect(skewed.findings == [])
    }

    @Test func whatIsSentAfterItsTimeIsUnexplainedUnlessAWorkerWasStopped() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run[slot].due = AuditRun.start + 4 * 3_600
        run[slot].expires = AuditRun.start + 4.25 * 3_600
        let late = run.report
        run.input.stoppedWorkers = [
            StoppedWorker(
                point: "delivery.sending-stored", stopped: run[slot].due,
                woken: AuditRun.start + 5 * 3_600)
        ]
        let woken = run.report
        #expect(late.unexplained == 1)
        #expect(woken.findings == [])
    }

    @Test func aServerMayActAfterTheTimeOfWhatArrivedInTime() {
        var run = AuditRun(.mastodon)
        let slot = run.post(hour: 5)
        run.ledger.writes[0].fault = .actLate(after: 3_600)
        run.ledger.writes[0].date = run[slot].due + 3_600
        run.ledger.deliveries[0].date = run[slot].due + 3_600
        #expect(run.report.findings == [])
    }

    // MARK: What the network objects to

    @Test func aNotificationOfAStrangerIsUnexplained() {
        var run = AuditRun(.mastodon)
        run.ledger.notifications.append(
            SandboxLedger.Notification(
                recipient: "stranger@sandbox.example", kind: .mention, postID: "1",
                date: AuditRun.start + 60,
                objection: "did not mention the bot"))
        #expect(run.report.unexplained == 1)
    }

    @Test(arguments: [(30.0, 0), (3_600, 1)])
    func whoAsksToStopIsLeftAloneOnceAWorkerCouldReadThat(seconds: Double, findings: Int) {
        var run = AuditRun(.mastodon)
        let answer = run.answer(hour: 4)
        var stop = run.mention(hour: 5, kind: .stop)
        stop.identity = run[answer].subject
        run.ledger.mentions = [stop]
        run.ledger.notifications.append(
            SandboxLedger.Notification(
                recipient: AuditRun.friend, kind: .mention, postID: "1", date: stop.date + seconds,
                objection: "account asked the bot to stop"))
        #expect(run.report.unexplained == findings)
    }

    @Test func aFavoriteThatTheNetworkObjectsToIsUnexplained() {
        var run = AuditRun(.mastodon)
        run.favorite(hour: 5)
        run.ledger.favorites[0].objection = "repost"
        #expect(run.report.unexplained == 1)
    }

    @Test func anAnswerThatMoreCanReadIsUnexplained() {
        var run = AuditRun(.mastodon)
        run.ledger.widenedReplies = ["1"]
        #expect(run.report.unexplained == 1)
    }

    @Test(arguments: [true, false])
    func aRejectionIsUnexplainedUnlessItWasExpected(isExpected: Bool) {
        var run = AuditRun(.mastodon)
        run.ledger.rejections.append(
            SandboxLedger.Rejection(
                date: AuditRun.start, method: "POST", path: "/api/v1/statuses", status: 422,
                reason: "no text",
                isExpected: isExpected))
        #expect(run.report.unexplained == (isExpected ? 0 : 1))
    }

    @Test(arguments: [("GET", 10.0, 0), ("GET", 6_000, 1), ("POST", 10, 1)])
    func aReadThatWasMadeAgainIsExplainedByWhatCutIt(
        method: String, seconds: Double, unexplained: Int
    ) {
        var run = AuditRun(.x)
        let date = AuditRun.start + 20_000
        run.ledger.rejections.append(
            SandboxLedger.Rejection(
                date: date, method: method, path: "/2/users/1/mentions", status: 401,
                reason: SandboxLedger.Rejection.repeatedNonce, isExpected: false))
        run.input.disturbances.append(
            Disturbance(
                cause: .noServer, interval: DateInterval(start: date + seconds, duration: 60)))
        #expect(run.report.unexplained == unexplained)
    }

    @Test func moreAnswersThanTheCapsAllowAreUnexplained() {
        var run = AuditRun(.mastodon)
        for hour in [5.0, 6, 7] { run.answer(hour: hour) }
        let enough = run.report
        run.answer(hour: 8)
        let tooMany = run.report
        #expect(enough.findings == [])
        #expect(tooMany.unexplained == 1)
    }

    @Test func anAnswerToWhatWasSaidBeforeTheMirrorStartedIsUnexplained() {
        var run = AuditRun(.mastodon)
        run.answer(hour: -1)
        run.input.plans = []
        run.input.disturbances = []
        run.input.slots = [:]
        expect(run.report.findings) {
            $0.contains { $0.contains("from before the mirror started") }
        }
    }

    // MARK: Skips

    @Test func aReasonThatIsNoRuleIsUnexplained() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .skipped, reason: "bad-mood")
        #expect(run.report.unexplained == 1)
    }

    @Test func wantOfATextIsARule() {
        var run = AuditRun(.mastodon)
        run.end(run.post(hour: 5), as: .skipped, reason: "no-text")
        let report = run.report
        #expect(report.findings == [])
        #expect(report.skipped == 1)
    }

    @Test func aCapMustHaveBeenReached() {
        var run = AuditRun(.mastodon)
        for hour in [5.0, 6] { run.answer(hour: hour) }
        let skipped = run.answer(hour: 7)
        run.end(skipped, as: .skipped, reason: "person-cap")
        let early = run.report
        run.input.rules.repliesPerPerson = 2
        let reached = run.report
        #expect(early.unexplained == 1)
        #expect(reached.findings == [])
    }

    @Test func onlyWhoAskedForItIsDenied() {
        var run = AuditRun(.mastodon)
        run.end(run.answer(hour: 7), as: .skipped, reason: "denied")
        let unasked = run.report
        let stop = run.mention(hour: 6, kind: .stop)
        run.ledger.mentions[0].identity = run[0].subject
        var row = run[0]
        let target = Action.Target(
            post: stop.identity, author: SandboxIdentity.account(AuditRun.friend, on: .mastodon),
            address: stop.id)
        row.id = "stop"
        row.reason = "asked-to-stop"
        row.payload = .reply(Action.Reply(to: target, thread: stop.identity))
        run.input.actions.append(row)
        let asked = run.report
        #expect(unasked.unexplained == 1)
        #expect(asked.findings == [])
    }

    @Test func aFriendIsNotTakenForAStranger() {
        var run = AuditRun(.mastodon)
        run.end(run.answer(hour: 7), as: .skipped, reason: "no-past-reply")
        let never = run.report
        run.answer(hour: 5)
        run[1].created = AuditRun.start
        let used = run.report
        #expect(never.unexplained == 1)
        #expect(used.findings == [])
    }

    @Test func aMentionMayGrowTooOldOnlyWhileNobodyCouldAnswer() {
        var run = AuditRun(.mastodon)
        run.input.now = AuditRun.start + 3 * 86_400
        run.input.plans += [1, 2].map {
            StoredPlan(
                day: AuditRun.day.advanced(by: $0), timeZone: "GMT", seed: "1", made: AuditRun.start
            )
        }
        run.end(run.answer(hour: 7), as: .skipped, reason: "too-old")
        let late = run.report
        run.disturb(hours: 6.9...32)
        let excused = run.report
        #expect(late.unexplained == 1)
        #expect(excused.findings == [])
    }
}
