import Foundation
import Outbox
import Testing

@testable import Torture

@Suite struct AuditWorkingTimeTests {
    private let origin = Date(timeIntervalSince1970: 1_000_000)

    private func disturbance(_ range: ClosedRange<Double>, _ cause: Disturbance.Cause = .noWorker)
        -> Disturbance
    {
        Disturbance(
            cause: cause,
            interval: DateInterval(start: origin + range.lowerBound, end: origin + range.upperBound)
        )
    }

    private func stretch(_ disturbances: [Disturbance], _ range: ClosedRange<Double>)
        -> TimeInterval
    {
        WorkingTime(disturbances).longestStretch(
            for: .post, from: origin + range.lowerBound, to: origin + range.upperBound)
    }

    @Test func withoutDisturbancesAllTimeCounts() {
        #expect(stretch([], 0...100) == 100)
    }

    @Test func theLongestPieceCounts() {
        #expect(stretch([disturbance(10...20), disturbance(70...80)], 0...100) == 50)
        #expect(stretch([disturbance(40...50)], 0...100) == 50)
        #expect(stretch([disturbance(-10...30), disturbance(60...200)], 0...100) == 30)
    }

    @Test func disturbancesMayOverlapAndComeInAnyOrder() {
        #expect(
            stretch([disturbance(50...90), disturbance(10...60), disturbance(20...30)], 0...100)
                == 10)
    }

    @Test func nothingIsLeftOfATimeThatWasDisturbedThroughout() {
        #expect(stretch([disturbance(-1...101)], 0...100) == 0)
        #expect(stretch([disturbance(0...100)], 0...100) == 0)
    }

    @Test func whatEndsBeforeItBeginsHasNoTime() {
        let start = origin + 10
        #expect(WorkingTime([]).longestStretch(for: .post, from: start, to: origin) == 0)
    }

    @Test func afterAFailureAWorkerWaitsAsLongAsItHasFailed() {
        #expect(stretch([disturbance(0...100, .noServer)], 0...1_000) == 1_000 - 275)
        #expect(stretch([disturbance(0...100, .noWorker)], 0...1_000) == 900)
        #expect(stretch([disturbance(0...9_000, .noServer)], 0...12_000) == 12_000 - 9_000 - 1_125)
    }

    @Test func whatPiledUpWithoutAProcessorTakesAsLongAgain() {
        #expect(stretch([disturbance(0...20, .starvation)], 0...1_000) == 960)
        #expect(stretch([disturbance(0...100, .starvation)], 0...1_000) == 1_000 - 275)
        #expect(stretch([disturbance(0...400, .starvation)], 0...1_000) == 125)
    }

    @Test func onlyWhatLiesBetweenCounts() {
        let many = (0..<100).map { disturbance((10.0 * Double($0))...(10.0 * Double($0) + 5)) }
        #expect(stretch(many, 5...10) == 5)
        #expect(stretch(many, 0...5) == 0)
        #expect(stretch(many, 333...348) == 5)
        #expect(stretch(many, 337...341) == 3)
        #expect(stretch(many, 990...2_000) == 1_005)
        #expect(stretch(many, 3_000...4_000) == 1_000)
    }

    @Test func intervalsThatMeetBecomeOne() {
        var intervals: [DateInterval] = []
        for (start, end) in [(0.0, 1.0), (3, 4), (6, 7), (3.5, 8), (8, 9), (10, 11)] {
            intervals.append(merging: DateInterval(start: origin + start, end: origin + end))
        }
        #expect(intervals.map(\.duration) == [1, 6, 1])
    }

    @Test func countsThatCannotBeReadHinderFavoritesOnly() {
        let time = WorkingTime([disturbance(0...100, .noCounts)])
        #expect(time.longestStretch(for: .reply, from: origin, to: origin + 100) == 100)
        #expect(time.longestStretch(for: .favorite, from: origin, to: origin + 100) == 0)
    }

    @Test func furtherStretchesCanBeTakenOut() {
        let time = WorkingTime([disturbance(50...60)])
        let others = [
            DateInterval(start: origin + 80, end: origin + 100),
            DateInterval(start: origin, end: origin + 20),
        ]
        #expect(
            time.longestStretch(for: .post, from: origin, to: origin + 100, besides: others) == 30)
    }
}
