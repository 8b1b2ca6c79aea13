import Evaluation
import Expectations
import Posts
import Schedule
import Testing

@Suite struct HeldOutSplitTests {
    /// One post at noon on each of `count` days from `first` on.
    private static func daily(_ count: Int, from first: String = "2026-01-01") throws -> [LocalTime]
    {
        let first = try day(first)
        let noon = try minute(720)
        return (0..<count).map { LocalTime(day: first.advanced(by: $0), minute: noon) }
    }

    @Test(arguments: [(20, 16), (24, 19), (25, 20), (100, 80), (101, 80), (1_037, 829)])
    func fourFifthsOfThePostsAreLearned(count: Int, learned: Int) throws {
        let split = try HeldOutSplit(try Self.daily(count))
        #expect(split.training.count == learned)
        #expect(split.testing.count == count - learned)
        #expect(split.training.last?.day == split.asOf)
        #expect(split.asOf.advanced(by: 1) == split.firstDay)
        #expect(split.testing.first?.day == split.firstDay)
        #expect(split.testing.last?.day == split.lastDay)
        #expect(split.dayCount == count - learned)
    }

    @Test func theDayOfTheCutIsHeldOutAsAWhole() throws {
        // Posts 0-13 on days of their own, 14-19 on the day of the cut: 16 of 20 would be learned.
        let before = try Self.daily(14)
        let times = try before + (0..<6).map { try posting("2026-02-01", 60 * $0) }
        let split = try HeldOutSplit(times)
        #expect(split.training == before)
        #expect(split.testing.count == 6)
        expect(split.asOf, equals: (try day("2026-01-31")))
    }

    @Test func clocksThatWereMovedDoNotSplitADayEither() throws {
        // Ordered by instant; the last learned post is dated a day later, for it was made far in
        // the east.
        var times = try Self.daily(20)
        times[15].day = times[16].day
        let split = try HeldOutSplit(times)
        #expect(split.training.count == 15)
        expect(split.testing) { $0.allSatisfy { $0.day >= split.firstDay } }
    }

    @Test func tooFewPostsAreRefused() throws {
        #expect(throws: TooFewPosts("there are 19 posts; at least 20 are needed")) {
            _ = try HeldOutSplit(try Self.daily(19))
        }
        #expect(throws: TooFewPosts("there is 1 post; at least 20 are needed")) {
            _ = try HeldOutSplit(try Self.daily(1))
        }
        #expect(throws: TooFewPosts("there are 0 posts; at least 20 are needed")) {
            _ = try HeldOutSplit([])
        }
    }

    @Test func aSingleCrowdedDayIsRefused() throws {
        let crowd = try (0..<90).map { try posting("2026-01-01", $0) }
        let error = #expect(throws: TooFewPosts.self) {
            _ = try HeldOutSplit(crowd + (try Self.daily(10)))
        }
        expect(error?.description) { $0?.contains("2026-01-01") == true }
    }

    @Test func datesACenturyApartAreNotBelieved() throws {
        var times = try Self.daily(30)
        times.append(LocalTime(day: .latest, minute: try minute(1)))
        let error = #expect(throws: TooFewPosts.self) { _ = try HeldOutSplit(times) }
        expect(error?.description) { $0?.contains("2026-01-01 and 9999-12-31") == true }
        times[30].day = times[0].day.advanced(by: 36_524)
        try expect(HeldOutSplit(times).dayCount, equals: 36_524 - 24 + 1)
    }

    @Test func theHumansOwnPeriodIsAsLong() throws {
        let split = try HeldOutSplit(try Self.daily(100))
        expect(
            split.precedingDays, equals: (60..<80).map { try? day("2026-01-01").advanced(by: $0) })
    }

    @Test func theHumansOwnPeriodIsShorterWhereThereIsNoMore() throws {
        var times = try Self.daily(100)
        times[99].day = times[0].day.advanced(by: 1_000)
        let split = try HeldOutSplit(times)
        #expect(split.dayCount == 921)
        #expect(split.precedingDays.count == 80)
        #expect(split.precedingDays.first == split.training.first?.day)
        #expect(split.precedingDays.last == split.asOf)
    }
}
