import Expectations
import Foundation
import Outbox
import Posts
import Testing

@testable import Sandbox
@testable import Torture

/// What a person took back, as the audit sees it.
@Suite struct AuditUndoTests {
    private static let networks: [NetworkName] = [.mastodon, .bluesky]

    /// A run with a post and an answer, of which the first was taken back in every ledger.
    private func run(_ network: NetworkName) -> AuditRun {
        var run = AuditRun(network)
        run.post(hour: 9)
        run.answer(hour: 10)
        run.input.actions[0].state = .undone
        run.input.person.unwanted = [run.input.actions[0].id]
        run.remove(0)
        return run
    }

    @Test(arguments: networks) func whatWasTakenBackIsNoLoss(_ network: NetworkName) {
        let report = run(network).report
        #expect(report.findings.isEmpty, "\(report.findings)")
        #expect(report.delivered == 2)
    }

    @Test(arguments: networks) func whatIsStillThereIsFound(_ network: NetworkName) {
        var run = run(network)
        run.ledger.removals = []
        #expect(run.report.overwritten == 1)
        // The mirror's own word is not needed for it.
        run.input.actions[0].state = .done
        expect(run.report.findings.first) {
            $0?.contains("was taken back by a person, and the network still has it") == true
        }
        // Nor is the person's, where the mirror says that it is gone.
        run.input.actions[0].state = .undone
        run.input.person.unwanted = []
        expect(run.report.findings.first) { $0?.contains("counts as taken back") == true }
    }

    @Test(arguments: networks) func whatNobodyTookBackMustStay(_ network: NetworkName) {
        var run = run(network)
        run.remove(1)
        #expect(run.report.overwritten == 1)
        expect(run.report.findings.first) { $0?.contains("nobody took it back") == true }
        // Unless a command ended before it could say what it was about.
        run.input.person.lostWords = 1
        #expect(run.report.findings.isEmpty)
        run.input.person.lostWords = 0
        run.input.person.perhapsUnwanted = [run.input.actions[1].id]
        #expect(run.report.findings.isEmpty)
    }

    @Test(arguments: networks) func whatComesAgainIsADuplicate(_ network: NetworkName) {
        var run = run(network)
        run.sendAgain(0, after: 7_200)
        #expect(run.report.duplicates > 0)
    }
}
