import Expectations
import Foundation
import Posts
import Testing

@testable import Torture

/// What the leases of a crew are judged by, with leases written by hand.
@Suite struct CrewAuditTests {
    static let start = Date(milliseconds: 1_795_564_800_000)

    /// Two workers for one mirror, with leases of 30 seconds and a beat every five.
    struct Run {
        var entries: [LeaseEntry] = []
        var lives = [CrewAudit.Life(interval: Self.stretch(0, 600))]
        var unableLives: [CrewAudit.UnableLife] = []
        var losses: [Date] = []
        var outages: [DateInterval] = []
        var looks: [String: [Date]] = ["m": (0..<600).map { CrewAuditTests.start + Double($0) }]

        static func stretch(_ start: Double, _ end: Double) -> DateInterval {
            DateInterval(start: CrewAuditTests.start + start, end: CrewAuditTests.start + end)
        }

        mutating func beat(_ worker: String, _ seconds: ClosedRange<Double>, process: String? = nil)
        {
            for (number, second) in stride(
                from: seconds.lowerBound, through: seconds.upperBound, by: 5
            ).enumerated() {
                entries.append(
                    LeaseEntry(
                        date: CrewAuditTests.start + second,
                        before: number == 0
                            ? nil : LeaseEntry.Row(holder: worker, beat: Int64(number)),
                        after: LeaseEntry.Row(holder: worker, beat: Int64(number + 1)),
                        process: process))
            }
        }

        mutating func take(
            _ mirror: String = "m", by worker: String, fence: Int64, at second: Double,
            from other: String?,
            isReleased: Bool = false, process: String? = nil
        ) {
            entries.append(
                LeaseEntry(
                    date: CrewAuditTests.start + second,
                    before: other.map {
                        LeaseEntry.Row(
                            mirror: mirror, holder: $0, fence: fence - 1, isReleased: isReleased)
                    },
                    after: LeaseEntry.Row(mirror: mirror, holder: worker, fence: fence),
                    process: process))
        }

        mutating func release(
            _ mirror: String = "m", by worker: String, fence: Int64, at second: Double
        ) {
            entries.append(
                LeaseEntry(
                    date: CrewAuditTests.start + second,
                    before: LeaseEntry.Row(mirror: mirror, holder: worker, fence: fence),
                    after: LeaseEntry.Row(
                        mirror: mirror, holder: worker, fence: fence, isReleased: true)))
        }

        var audit: CrewAudit {
            CrewAudit(
                history: LeaseHistory(entries.sorted { $0.date < $1.date }),
                phases: [.init(interval: Self.stretch(0, 600), lease: 30)], lives: lives,
                unableLives: unableLives, losses: losses, outages: outages, looks: looks,
                lookPeriod: 1)
        }
    }

    /// The first worker is lost at 102, and the second takes its mirror.
    private func lost(takenAt second: Double) -> Run {
        var run = Run()
        run.beat("one", 0...100)
        run.beat("two", 0...600)
        run.take(by: "one", fence: 1, at: 1, from: nil)
        run.take(by: "two", fence: 2, at: second, from: "one")
        run.losses = [CrewAuditTests.start + 102]
        return run
    }

    @Test func aMirrorThatIsTakenInTimeIsNoFinding() {
        let audit = lost(takenAt: 134).audit
        #expect(audit.findings == [])
        #expect(audit.takeovers == 1)
        #expect(audit.longestOrphanage[30].map { ($0 * 10).rounded() / 10 } == 32)
    }

    @Test func aMirrorThatNobodyTakesIsFound() {
        let findings = lost(takenAt: 140).audit.findings
        #expect(findings.count == 1)
        expect(findings, "late") { $0.first?.contains("had no worker for 38.0 s from ") ?? false }
    }

    @Test func anOutageExcusesIt() {
        var run = lost(takenAt: 160)
        run.outages = [Run.stretch(125, 140)]
        #expect(run.audit.findings == [])
    }

    @Test func whereNobodyWasThereNobodyIsToBlame() {
        var run = lost(takenAt: 160)
        run.lives = [.init(interval: Run.stretch(0, 110)), .init(interval: Run.stretch(130, 600))]
        #expect(run.audit.findings == [])
        run.lives = [.init(interval: Run.stretch(0, 600), pauses: [Run.stretch(110, 150)])]
        #expect(run.audit.findings == [])
        run.lives = [.init(mirror: "other", interval: Run.stretch(0, 600))]
        #expect(run.audit.findings == [])
    }

    @Test func aMirrorThatIsTakenFromWhoLivesIsFound() {
        let findings = lost(takenAt: 115).audit.findings
        #expect(findings.count == 1)
        expect(findings, "stolen") {
            $0.first?.contains("taken from a worker that had beaten 15.0 s before") ?? false
        }
    }

    @Test func aReleasedMirrorMayBeTakenAtOnce() {
        var run = Run()
        run.beat("one", 0...100)
        run.beat("two", 0...600)
        run.take(by: "one", fence: 1, at: 1, from: nil)
        run.release(by: "one", fence: 1, at: 101)
        run.take(by: "two", fence: 2, at: 102, from: "one", isReleased: true)
        #expect(run.audit.findings == [])
        #expect(run.audit.takeovers == 0)
    }

    @Test func aMirrorThatIsLookedAfterLessThanOthersIsFound() {
        var run = Run()
        run.beat("one", 0...600)
        for (number, mirror) in ["m", "n", "o"].enumerated() {
            run.take(mirror, by: "one", fence: 1, at: 1, from: nil)
            run.looks[mirror] = stride(from: 0.0, to: 600, by: number == 2 ? 3 : 1).map {
                CrewAuditTests.start + $0
            }
        }
        let findings = run.audit.findings
        #expect(findings == ["o was looked after 33 % as often as most while it had a worker"])
        #expect(run.audit.shares.map { $0.least < 0.4 && $0.most >= 1 } ?? false)
    }

    @Test func aMirrorThatNobodyLooksAfterForLongIsFound() {
        var run = Run()
        run.beat("one", 0...600)
        run.take(by: "one", fence: 1, at: 1, from: nil)
        run.looks["m"] = run.looks["m"]?.filter { !Run.stretch(200, 230).contains($0) }
        #expect(run.audit.findings == ["nobody looked after m for 32.0 s while it had a worker"])
    }

    @Test func leasesThatLastLongerThanTheRunSaysAreFound() {
        var run = Run()
        run.beat("one", 0...600)
        run.take(by: "one", fence: 1, at: 1, from: nil)
        var audit = run.audit
        #expect(audit.findings == [])
        audit.phases[0].lease = 5
        #expect(
            audit.findings.first == "workers beat every 5.0 s, as they do not with leases of 5.0 s")
    }

    @Test func aMirrorThatIsLookedAfterWithoutAPauseIsFound() {
        var run = Run()
        run.beat("one", 0...600)
        run.take(by: "one", fence: 1, at: 1, from: nil)
        run.looks["m"] = (0..<2_400).map { Self.start + Double($0) / 4 }
        let findings = run.audit.findings
        #expect(findings.count == 1)
        expect(findings, "driven") { $0.first?.hasPrefix("m was looked after every 0.2") ?? false }
    }

    @Test func whatATriggerNotesIsReadInEitherForm() throws {
        let decoder = JSONDecoder()
        func row(_ text: String) throws -> LeaseEntry.Row {
            try decoder.decode(LeaseEntry.Row.self, from: Data(text.utf8))
        }
        let old = try row(
            #"{"mirror": "m", "owner": "w", "beat": 4, "fence": 2, "released": false, "pass_ms": null}"#
        )
        #expect(old == .init(mirror: "m", holder: "w", fence: 2, beat: 4))
        let lease = try row(
            #"{"mirror": "m", "worker": "w", "fence": 2, "released": true, "version": "1"}"#)
        #expect(lease == .init(mirror: "m", holder: "w", fence: 2, isReleased: true))
        let worker = try row(
            #"{"worker": "w", "beat": 7, "version": "1", "shares": true, "mirrors": 3}"#)
        #expect(worker == .init(holder: "w", beat: 7))
    }
}
