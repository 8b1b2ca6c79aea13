import Foundation
import NetworkNames
import Posts
import Testing

@testable import Outbox
@testable import Sandbox
@testable import Torture

/// What ended unconfirmed and is on the network: whether somebody should have seen it.
@Suite struct AuditSightingTests {
    private static let hour: TimeInterval = 3_600

    /// A post of eight o'clock that the network has, looked for at ten past.
    private func run() -> AuditRun {
        var run = AuditRun(.x)
        run.input.kills = 1
        let slot = run.post(hour: 8)
        run[slot].state = .failed
        run[slot].reason = .outbox(.unconfirmed)
        run[slot].remoteID = nil
        run.input.rules.sightings = [600]
        return run
    }

    @Test func aLookMustTellWhatTheNetworkHas() {
        var run = run()
        #expect(run.report.unexplained == 1)
        run.input.now = AuditRun.start + 8.16 * Self.hour
        #expect(run.report.findings == [])
    }

    @Test(arguments: [(24.0, 1), (9.4, 1), (9.3, 0), (9, 0)])
    func aLookThatToldNothingIsMadeUpForWithinTheHour(end: Double, unexplained: Int) {
        var run = run()
        run.disturb(.noServer, hours: 8.1...8.25)
        run.input.now = AuditRun.start + end * Self.hour
        #expect(run.report.unexplained == unexplained)
    }

    @Test(arguments: [(24.0, 1), (10.7, 1), (10.4, 0)])
    func soIsTheNextThatToldNothing(end: Double, unexplained: Int) {
        var run = run()
        run.disturb(.noServer, hours: 8.1...8.25)
        run.disturb(.noDatabase, hours: 9.2...9.5)
        run.input.now = AuditRun.start + end * Self.hour
        #expect(run.report.unexplained == unexplained)
    }

    @Test func aFailureBetweenTwoLooksExplainsNothing() {
        var run = run()
        run.disturb(.noServer, hours: 8.1...8.25)
        run.disturb(.noServer, hours: 8.5...9)
        #expect(run.report.unexplained == 1)
    }

    /// Nobody is there at the time, and the next worker comes when the network is away.
    @Test func aLookWaitsForAWorker() {
        var run = run()
        run.disturb(hours: 8.1...10)
        run.disturb(.noServer, hours: 9.95...11)
        run.input.now = AuditRun.start + 12 * Self.hour
        #expect(run.report.findings == [])
        run.input.now = AuditRun.start + 13 * Self.hour
        #expect(run.report.unexplained == 1)
    }

    @Test func aPlannedLookTakesThePlaceOfARepetition() {
        var run = run()
        run.input.rules.sightings = [600, 3_600]
        run.disturb(.noServer, hours: 8.1...8.25)
        #expect(run.report.unexplained == 1)
        run.disturb(.noServer, hours: 8.9...23.9)
        #expect(run.report.findings == [])
    }

    @Test func nobodyLooksTwoDaysLater() {
        var run = run()
        run.disturb(.noServer, hours: 8.1...55.9)
        run.input.now = AuditRun.start + 100 * Self.hour
        #expect(run.report.unexplained == 1)
        run.disturb(.noServer, hours: 55.9...57)
        #expect(run.report.unexplained == 0)
    }

    @Test func aWrongClockPlansTheNextLookForAnyTime() {
        var run = run()
        run.input.wrongClocks = [
            WrongClock(
                seconds: 86_400,
                interval: DateInterval(
                    start: AuditRun.start + 8.1 * Self.hour, duration: 0.1 * Self.hour))
        ]
        #expect(run.report.findings == [])
    }

    @Test func whoeverGotNoProcessorLooksLater() {
        var run = run()
        run.disturb(.starvation, hours: 8.1...9)
        #expect(run.report.unexplained == 1)
        run.input.now = AuditRun.start + 9 * Self.hour
        #expect(run.report.findings == [])
    }
}
