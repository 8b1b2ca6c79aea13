import Foundation
import NetworkNames
import Networks
import Posts
import Testing

@testable import Outbox
@testable import Sandbox
@testable import Torture

@Suite struct AuditDuplicateTests {
    @Test(arguments: NetworkName.allCases)
    func twoPostsForOneSlotAreADuplicate(network: NetworkName) {
        var run = AuditRun(network)
        run.sendAgain(run.post(hour: 5), after: 200)
        let report = run.report
        #expect(report.duplicates == 1)
        #expect(report.lost == 0)
        #expect(report.delivered == 0)
    }

    @Test(arguments: NetworkName.allCases)
    func twoAnswersToOneMentionAreADuplicate(network: NetworkName) {
        var run = AuditRun(network)
        let answer = run.answer(hour: 5)
        run.sendAgain(answer, after: 200)
        #expect(run.report.duplicates == 1)
    }

    @Test func twoAnswersInOtherWordsAreADuplicateToo() throws {
        var run = AuditRun(.x)
        let answer = run.answer(hour: 5)
        run.sendAgain(answer, after: 200)
        let last = try #require(run.ledger.deliveries.indices.last)
        run.ledger.deliveries[last].text = "something else"
        #expect(run.report.duplicates == 1)
    }

    @Test func twoPostsOfARowThatNeverBeganToSendAreADuplicate() {
        var run = AuditRun(.x)
        let slot = run.post(hour: 5)
        run.sendAgain(slot, after: 200)
        run[slot].state = .planned
        run[slot].sending = nil
        run[slot].remoteID = nil
        let report = run.report
        #expect(report.duplicates == 1)
        #expect(report.unexplained > 0)
    }

    @Test func aSecondRecordOfAFavoriteShowsInTheRequestsAlone() throws {
        var run = AuditRun(.bluesky)
        run.favorite(hour: 5)
        var second = try #require(run.ledger.writes.last)
        second.key = "3aaaaaaaaaaaa"
        second.date += 300
        run.ledger.writes.append(second)
        #expect(run.report.duplicates == 1)
    }

    @Test(arguments: [NetworkName.mastodon, .bluesky])
    func aRequestThatTheNetworkRecognisedIsNoDuplicate(network: NetworkName) throws {
        var run = AuditRun(network)
        let slot = run.post(hour: 5)
        run.request(slot, after: 200, effect: .repeated, status: 200)
        run[slot].sends = 2
        #expect(run.report.findings == [])
    }

    @Test func oneTextTwiceInAWeekIsADuplicate() {
        var run = AuditRun(.mastodon)
        run.post(hour: 5, text: "again")
        run.post(hour: 9, text: "again")
        let report = run.report
        #expect(report.duplicates == 1)
        #expect(report.delivered == 2)
    }

    @Test func aTextMayComeBackAfterAWeek() {
        var run = AuditRun(.mastodon)
        run.post(hour: 5, text: "again")
        run.post(hour: 5 + 8 * 24, text: "again")
        run.input.disturbances = []
        run.input.now = AuditRun.start + 9 * 86_400
        let report = run.report
        #expect(report.duplicates == 0)
        #expect(report.delivered == 2)
    }

    @Test func aTextOfWhichNothingArrivedMayBeTakenAgain() {
        var run = AuditRun(.x)
        run.input.kills = 1
        run.giveUp(run.post(hour: 5, text: "again"))
        run.post(hour: 9, text: "again")
        #expect(run.report.findings == [])
    }

    @Test func oneTextTwiceToOnePersonIsADuplicate() {
        var run = AuditRun(.bluesky)
        run.answer(hour: 5, text: "hello")
        run.answer(hour: 6, text: "hello")
        #expect(run.report.duplicates == 1)
    }

    @Test func oneTextMayGoToTwoPeople() {
        var run = AuditRun(.bluesky)
        run.answer(hour: 5, text: "hello")
        run.answer(hour: 6, by: "other@sandbox.example", text: "hello")
        #expect(run.report.findings == [])
    }

    @Test func twoRowsAboutOneThingAreADuplicate() {
        var run = AuditRun(.x)
        run.input.kills = 1
        let slot = run.post(hour: 5)
        var other = run[slot]
        other.id = "other"
        other.state = .failed
        other.reason = .outbox(.unconfirmed)
        other.remoteID = nil
        other.payload = .post(
            Slot.Name(day: AuditRun.day, number: 1), AuditRun.wording("another text", on: .x))
        run.input.actions.append(other)
        let report = run.report
        #expect(report.duplicates == 1)
        #expect(report.delivered == 1)
    }

    @Test func twoActionsThatNameOnePostAreOneDeliveryAndOneLoss() {
        var run = AuditRun(.x)
        let slots = [run.post(hour: 5), run.post(hour: 6)]
        run.unsend(slots[1])
        run[slots[1]].remoteID = run[slots[0]].remoteID
        let report = run.report
        #expect(report.delivered == 1)
        #expect(report.lost == 1)
        #expect(report.duplicates == 0)
    }
}
