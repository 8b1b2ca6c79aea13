import Control
import Foundation
import Mirroring
import Testing

@testable import Torture

@Suite struct TimelineTests {
    private let timeline = Timeline(
        clock: AcceleratedClock(origin: Date(), started: Date(), factor: 300))

    @Test func nobodyWorksBeforeTheFirstWorker() {
        timeline.note(isWorking: true)
        timeline.note(isWorking: true)
        #expect(timeline.disturbances.map(\.cause) == [.noWorker])
    }

    @Test func eachAbsenceIsAStretchOfItsOwn() throws {
        for isWorking in [true, false, false, true, false] { timeline.note(isWorking: isWorking) }
        let stretches = timeline.disturbances
        #expect(stretches.map(\.cause) == [.noWorker, .noWorker, .noWorker])
        #expect(stretches.map(\.interval.start) == stretches.map(\.interval.start).sorted())
        for (one, next) in zip(stretches, stretches.dropFirst()) {
            #expect(one.interval.end <= next.interval.start)
        }
    }

    @Test func whatIsFeltLongerEndsLater() throws {
        let number = timeline.begin(.faults)
        timeline.end(number, lasting: 3_600)
        let stretch = try #require(timeline.disturbances.first { $0.cause == .faults })
        #expect(stretch.interval.duration >= 3_600)
    }

    @Test func anEndCountsOnce() {
        let number = timeline.begin(.noServer)
        timeline.end(number)
        timeline.end(number)
        #expect(timeline.disturbances.count { $0.cause == .noServer } == 1)
    }

    @Test func stretchesWithoutAProcessorBecomeOneWhereTheyTouch() {
        let origin = Date(timeIntervalSince1970: 0)
        for (start, end) in [(0.0, 10.0), (10, 20), (30, 40), (35, 50), (60, 70), (15, 80)] {
            timeline.noteStarvation(DateInterval(start: origin + start, end: origin + end))
        }
        timeline.noteStarvation(DateInterval(start: origin + 90, end: origin + 95))
        let stretches = timeline.disturbances.filter { $0.cause == .starvation }.map(\.interval)
        #expect(stretches.map { $0.start.timeIntervalSince(origin) } == [0, 90])
        #expect(stretches.map { $0.end.timeIntervalSince(origin) } == [80, 95])
    }
}
