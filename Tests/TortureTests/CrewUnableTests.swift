import Expectations
import Foundation
import Testing

@testable import Torture

/// What a crew's audit says of workers that cannot do their share, and of the looks that they cost,
/// with leases and looks written by hand.
@Suite struct CrewUnableTests {
    private typealias Run = CrewAuditTests.Run
    private typealias UnableLife = CrewAudit.UnableLife
    private static let start = CrewAuditTests.start

    /// An able worker that holds the mirror from 1 to 600, and looks at it every second.
    private func healthy() -> Run {
        var run = Run()
        run.beat("good", 0...600, process: "worker-1")
        run.take(by: "good", fence: 1, at: 1, from: nil, process: "worker-1")
        run.lives = [.init(interval: Run.stretch(0, 600), process: "worker-1")]
        return run
    }

    /// The same, but that a worker without network takes the mirror at 100, when its worker has
    /// released it.
    private func cutOff(until second: Double, refusals: Int = 9) -> Run {
        var run = healthy()
        run.release(by: "good", fence: 1, at: 100)
        run.beat("cut", 95...200, process: "no-network-1")
        run.take(
            by: "cut", fence: 2, at: 100.5, from: "good", isReleased: true, process: "no-network-1")
        run.release(by: "cut", fence: 2, at: second)
        run.take(
            by: "good", fence: 3, at: second + 1, from: "cut", isReleased: true, process: "worker-1"
        )
        run.unableLives = [
            UnableLife(
                disability: .noNetwork, process: "no-network-1", interval: Run.stretch(95, 200),
                isAsked: true, ending: .exited(0), refusals: refusals)
        ]
        run.looks["m"] = run.looks["m"]?.filter { !Run.stretch(100, second + 2).contains($0) }
        return run
    }

    private func wrongKey(
        _ ending: UnableLife.Ending, isAsked: Bool = false, from start: Double = 100
    ) -> UnableLife {
        UnableLife(
            disability: .wrongKey, process: "wrong-key-1",
            interval: Run.stretch(start, start + 4), isAsked: isAsked, ending: ending)
    }

    // MARK: Another key

    @Test func aWorkerWithAnotherKeyThatEndsIsNoFinding() {
        var run = healthy()
        run.unableLives = [wrongKey(.exited(78))]
        #expect(run.audit.findings == [])
        #expect(run.audit.unableFigures == .init(lives: [.wrongKey: 1]))
    }

    @Test func aWorkerWithAnotherKeyThatHoldsAMirrorIsFound() {
        var run = healthy()
        run.unableLives = [wrongKey(.exited(78))]
        run.take("n", by: "stranger", fence: 1, at: 101, from: nil, process: "wrong-key-1")
        let found = "n was held by wrong-key-1, whose key opens none of the logins"
        #expect(run.audit.findings == [found])
    }

    @Test func aWorkerWithAnotherKeyThatCountsForTheSharesIsFound() {
        var run = healthy()
        run.unableLives = [wrongKey(.exited(78))]
        run.beat("stranger", 101...101, process: "wrong-key-1")
        let found =
            "wrong-key-1 was a worker among the others, and its key opens none of the logins"
        #expect(run.audit.findings == [found])
    }

    @Test func aWorkerWithAnotherKeyMustEndWithItsCode() {
        var run = healthy()
        for code: Int32 in [0, 1, 69, 75] {
            run.unableLives = [wrongKey(.exited(code))]
            #expect(run.audit.findings == ["wrong-key-1 ended with \(code) instead of 78"])
        }
        run.unableLives = [wrongKey(.killed)]
        #expect(run.audit.findings == ["wrong-key-1 did not end by itself with 78"])
        // At the end of the run.
        run.unableLives = [wrongKey(.exited(0), isAsked: true)]
        #expect(run.audit.findings == [])
    }

    @Test func withoutADatabaseItMayGiveUp() {
        var run = healthy()
        run.outages = [Run.stretch(90, 102)]
        for code: Int32 in [69, 75] {
            run.unableLives = [wrongKey(.exited(code))]
            #expect(run.audit.findings == [])
        }
        run.unableLives = [wrongKey(.exited(0))]
        #expect(run.audit.findings == ["wrong-key-1 ended with 0 instead of 78"])
        run.unableLives = [wrongKey(.exited(69), from: 300)]
        #expect(run.audit.findings == ["wrong-key-1 ended with 69 instead of 78"])
    }

    // MARK: No network

    @Test func aWorkerWithoutNetworkThatHandsBackIsNoFinding() {
        let audit = cutOff(until: 115).audit
        #expect(audit.findings == [])
        #expect(audit.unableFigures == .init(lives: [.noNetwork: 1], holds: 1, longestHold: 14.5))
        #expect(audit.longestUnseen == [30: 19])
    }

    @Test func aWorkerWithoutNetworkThatKeepsAMirrorIsFound() {
        let findings = cutOff(until: 125).audit.findings
        let found =
            "m was kept for 24.5 s by no-network-1, which reaches no network, and 21.0 s is the most"
        #expect(findings == [found])
    }

    @Test func whileNobodyIsAblerItMayKeepIt() {
        var run = cutOff(until: 125)
        run.lives = [
            .init(interval: Run.stretch(0, 100), process: "worker-1"),
            .init(interval: Run.stretch(110, 600), process: "worker-2"),
        ]
        #expect(run.audit.findings == [])
        run = cutOff(until: 125)
        run.outages = [Run.stretch(101, 106)]
        #expect(run.audit.findings == [])
    }

    /// It would move a mirror to and fro as long as it lives.
    @Test func aWorkerThatKnowsItselfUnableMayNotTakeAgain() {
        var run = cutOff(until: 110)
        run.take("n", by: "cut", fence: 1, at: 150, from: nil, process: "no-network-1")
        run.release("n", by: "cut", fence: 1, at: 152)
        let found = "n was taken by no-network-1, which had found that it reaches no network"
        #expect(run.audit.findings == [found])
        // One that has only just begun knows nothing yet.
        run = cutOff(until: 110)
        run.take("n", by: "cut", fence: 1, at: 108, from: nil, process: "no-network-1")
        run.release("n", by: "cut", fence: 1, at: 110)
        #expect(run.audit.findings == [])
    }

    @Test func aWorkerThatWasRefusedNothingShowsNothing() {
        let findings = cutOff(until: 115, refusals: 0).audit.findings
        #expect(findings == ["no-network-1 held mirrors, and none of its connections was refused"])
    }

    @Test func aWorkerWithoutNetworkEndsWhenItIsAsked() {
        var run = cutOff(until: 115)
        run.unableLives[0].ending = .killed
        #expect(run.audit.findings == ["no-network-1 did not end by itself with 0"])
        run.unableLives[0].ending = .exited(69)
        #expect(run.audit.findings == ["no-network-1 ended with 69 instead of 0"])
        run.unableLives[0].ending = .exited(0)
        run.unableLives[0].isAsked = false
        #expect(run.audit.findings == ["no-network-1 ended with 0 instead of 0"])
    }

    // MARK: Looks

    /// Two able workers; the first is lost at 100 and the second takes the mirror.
    private func lost(takenAt second: Double, seenAt look: Double) -> Run {
        var run = Run()
        run.beat("one", 0...100, process: "worker-1")
        run.beat("two", 0...600, process: "worker-2")
        run.take(by: "one", fence: 1, at: 1, from: nil, process: "worker-1")
        run.take(by: "two", fence: 2, at: second, from: "one", process: "worker-2")
        run.losses = [Self.start + 100]
        run.lives = [
            .init(interval: Run.stretch(0, 100), process: "worker-1"),
            .init(interval: Run.stretch(0, 600), process: "worker-2"),
        ]
        run.looks["m"] = run.looks["m"]?.filter { date in
            date <= Self.start + 100 || date >= Self.start + look
        }
        return run
    }

    @Test func aMirrorThatIsLookedAtInTimeIsNoFinding() {
        let audit = lost(takenAt: 134, seenAt: 141).audit
        #expect(audit.findings == [])
        #expect(audit.longestUnseen == [30: 41])
    }

    @Test func aMirrorAtWhichNobodyLooksIsFound() {
        let findings = lost(takenAt: 134, seenAt: 143).audit.findings
        #expect(findings.count == 1)
        expect(findings, "unseen") { lines in
            lines.first?.hasPrefix("m was not looked at for 43.0 s from ") == true
                && lines.first?.hasSuffix("an able worker was there, and 41.0 s is the most")
                    == true
        }
    }

    @Test func whereNoAbleWorkerWasThereNobodyIsToBlame() {
        var run = lost(takenAt: 134, seenAt: 150)
        run.lives[1].pauses = [Run.stretch(110, 130)]
        #expect(run.audit.findings == [])
        run = lost(takenAt: 134, seenAt: 150)
        run.outages = [Run.stretch(105, 112)]
        #expect(run.audit.findings == [])
        run = lost(takenAt: 134, seenAt: 143)
        // A machine that let somebody wait for two seconds.
        var audit = run.audit
        audit.starvation = [Run.stretch(120, 122)]
        #expect(audit.findings == [])
    }

    /// Between two looks one loss is allowed for; with a second one the wait begins anew.
    @Test func aSecondLossBeginsTheWaitAnew() {
        func run(firstLook second: Double) -> Run {
            var run = lost(takenAt: 130, seenAt: second)
            run.entries.removeAll { $0.after?.holder == "two" && $0.date > Self.start + 137 }
            run.beat("three", 0...600, process: "worker-3")
            run.take(by: "three", fence: 3, at: 169, from: "two", process: "worker-3")
            run.losses.append(Self.start + 137)
            run.lives[1].interval = Run.stretch(0, 137)
            run.lives.append(.init(interval: Run.stretch(0, 600), process: "worker-3"))
            return run
        }
        #expect(run(firstLook: 176).audit.findings == [])
        expect(run(firstLook: 180).audit.findings, "after the second") { lines in
            lines.count == 1 && lines[0].hasPrefix("m was not looked at for 43.0 s from ")
        }
    }

    /// The limit follows the length of leases, and what a look takes under the load of the run.
    @Test func theLimitFollowsTheRun() {
        var audit = lost(takenAt: 108, seenAt: 118).audit
        audit.phases[0].lease = 5
        expect(audit.unseen) { $0.count == 1 }
        audit.lookPeriod = 4
        #expect(audit.unseen == [])
    }

    /// What begins with longer leases has the limit of these, though the last look was before.
    @Test func theLimitIsThatOfThePhaseInWhichAWorkerIsThere() {
        func audit(seenAt second: Double) -> CrewAudit {
            var run = lost(takenAt: 134, seenAt: second)
            run.lives[1].interval = Run.stretch(105, 600)
            var audit = run.audit
            audit.phases = [
                .init(interval: Run.stretch(0, 105), lease: 5),
                .init(interval: Run.stretch(105, 600), lease: 30),
            ]
            return audit
        }
        #expect(audit(seenAt: 140).unseen == [])
        expect(audit(seenAt: 155).unseen) { $0.count == 1 }
    }

    // MARK: Settings

    @Test func unableWorkersBelongToProcessesOfManyMirrors() {
        var settings = CrewSettings()
        #expect(settings.disabilities == CrewDisability.allCases)
        settings.hasUnableWorkers = false
        #expect(settings.disabilities == [])
        settings = CrewSettings()
        settings.mode = .single
        #expect(settings.disabilities == [])
        settings = CrewSettings()
        settings.oldProgram = "/old"
        #expect(settings.disabilities == [])
        settings = CrewSettings()
        settings.only = [.refuseLogin]
        #expect(settings.disabilities == [])
    }

    @Test func aRunWithoutUnableWorkersSaysSo() throws {
        var report = CrewReport(CrewSettings())
        report.kills = 300
        report.complainOfEmptiness()
        expect(report.complaints) { lines in
            lines.contains("there were 0 workers with no-network: that shows too little")
                && lines.contains("no worker without network took a mirror: that shows nothing")
        }
        report = CrewReport(CrewSettings())
        report.kills = 300
        report.unable = .init(
            lives: [.wrongKey: 12, .noNetwork: 9], holds: 31, longestHold: 4.25)
        report.longestUnseen = [5: 14, 30: 38.5]
        report.complainOfEmptiness()
        expect(report.complaints) { lines in !lines.contains { $0.contains("network") } }
        let line = try report.jsonLine()
        for figure in [
            "\"wrong_keys\":12", "\"no_networks\":9", "\"unable_holds\":31",
            "\"longest_unable_hold\":4.25", "\"longest_unseen\":14",
            "\"longest_unseen_in_earnest\":38.5",
        ] {
            expect(line) { $0.contains(figure) }
        }
    }
}
