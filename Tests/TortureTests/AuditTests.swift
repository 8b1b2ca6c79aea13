import Foundation
import NetworkNames
import Networks
import Posts
import TestSupport
import Testing

@testable import Outbox
@testable import Sandbox
@testable import Torture

@Suite struct AuditTests {
    @Test(arguments: NetworkName.allCases)
    func aRunInWhichAllLedgersAgreeIsClean(network: NetworkName) {
        var run = AuditRun(network)
        for hour in [3.0, 9.5, 20] { run.post(hour: hour) }
        run.answer(hour: 10)
        run.answer(hour: 11)
        run.favorite(hour: 12)
        run.mention(hour: -5, kind: .past)
        let report = run.report
        #expect(report.findings == [])
        #expect(report.isClean)
        #expect(report.actions == 6)
        #expect(report.delivered == 6)
        #expect(report.unhindered == 6)
        #expect(report.unconfirmed + report.expired + report.skipped + report.pending == 0)
    }

    @Test func theFiguresAreTheNumbersOfFindings() {
        var run = AuditRun(.mastodon)
        let slots = (1...4).map { run.post(hour: Double($0)) }
        run.sendAgain(slots[0], after: 30)
        run.sendAgain(slots[0], after: 60)
        run.end(slots[1], as: .expired)
        run.end(slots[2], as: .expired)
        run.end(slots[3], as: .failed, reason: "forbidden")
        let report = run.report
        #expect(report.duplicates == 2)
        #expect(report.lost == 2)
        // Two posts came under another key than the action's, which is one objection, and the
        // failure another.
        #expect(report.unexplained == 2)
        #expect(report.findings.count == 6)
        #expect(!report.isClean)
        #expect(report.delivered == 0)
        #expect(report.expired == 2)
    }

    @Test func aFindingNamesTheActionAndNoText() throws {
        var run = AuditRun(.x)
        let slot = run.post(hour: 5, text: "what nobody has to read")
        run.end(slot, as: .expired)
        let finding = try #require(run.report.findings.first)
        #expect(finding.contains(run[slot].id))
        #expect(finding.contains(run[slot].subject))
        #expect(!finding.contains("nobody"))
    }

    @Test(arguments: NetworkName.allCases)
    func whatIsStillToComeIsNotJudged(network: NetworkName) {
        var run = AuditRun(network)
        let slot = run.post(hour: 20)
        run.end(slot, as: .planned)
        run.input.now = AuditRun.start + 12 * 3_600
        let report = run.report
        #expect(report.findings == [])
        #expect(report.pending == 0)
        #expect(report.unhindered == 0)
    }

    @Test func whatWaitsForAPersonIsNotJudged() {
        var run = AuditRun(.x)
        let suggestions = [run.favorite(hour: 3), run.favorite(hour: 4)]
        run.end(suggestions[0], as: .suggested)
        run.end(suggestions[1], as: .expired, reason: .outbox(.undecided))
        #expect(run.report.findings == [])
    }

    @Test func aReportIsOneObjectOfJSON() throws {
        var run = AuditRun(.mastodon)
        run.post(hour: 2)
        let data = try JSONEncoder().encode(run.report)
        let figures = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let names: Set = [
            "actions", "delivered", "unconfirmed", "expired", "skipped", "pending", "unhindered",
            "mentions",
            "unreached", "duplicates", "lost", "unheard", "unexplained", "overwritten", "findings",
        ]
        #expect(Set(figures.keys) == names)
        #expect(figures["delivered"] as? Int == 1)
    }
}
