import Expectations
import Posts
import Schedule
import Testing

@Suite struct PostingHistoryTests {
    @Test(arguments: [
        (0, 1), (1, 0.994355615), (30, 0.844078487), (120, 0.51), (240, 0.265), (365, 0.139012663),
        (3_650, 0.020000001), (-5, 1),
    ])
    func olderDaysCountLess(age: Int, weight: Double) {
        #expect(agree(HistoryWeight.recency(ageInDays: age), weight, within: 1e-7))
    }

    @Test func weekdaysCountByLikeness() throws {
        let target = try day("2026-01-30")
        let weight = HistoryWeight(asOf: try day("2026-01-29"), target: target)
        expect(weight.weight(of: try day("2026-01-29")), equals: 1)
        #expect(agree(weight.weight(of: try day("2026-01-23")), 1.933235205))
        #expect(agree(weight.weight(of: try day("2026-01-24")), 0.291630391))
        #expect(agree(weight.weight(of: try day("2025-10-01")), 0.51))
        let sum = try Self.small().times.reduce(0) { $0 + weight.weight(of: $1.day) }
        #expect(agree(sum, 3.734865595, within: 1e-9))
        let shifted = HistoryWeight(asOf: try day("2026-01-29"), target: target, weekend: [5, 6])
        #expect(agree(shifted.weight(of: try day("2026-01-24")), 0.291630391 / 0.3))
    }

    @Test func wholeModelHasTheReferenceValues() throws {
        let distribution = try Self.small().distribution(
            for: day("2026-01-30"), configuration: ScheduleConfiguration())
        let smoothing = try #require(distribution.smoothing)
        #expect(agree(smoothing.effectiveCount, 2.744533794))
        #expect(smoothing.sigma == 90)
        #expect(agree(distribution.probabilities[540], 1.013360e-3))
        #expect(agree(distribution.probabilities[1_380], 7.541698e-4))
        #expect(agree(distribution.probabilities[240], 9.508837e-5))
        for (u, expected) in [(0, 0), (0.25, 598), (0.5, 859), (0.75, 1_151), (0.999999, 1_439)] {
            #expect(distribution.minute(atUniform: u)?.value == expected)
        }
    }

    @Test func postsAfterTheLastCompleteDayDoNotEnter() throws {
        let complete = try Self.small()
        let withToday = PostingHistory(
            times: complete.times.reversed() + [try posting("2026-01-30", 3)], asOf: complete.asOf)
        #expect(withToday.times == complete.times)
    }

    @Test func lastPostsDayIsTheDefaultForTheLastCompleteDay() throws {
        let last = try day("2026-01-29")
        expect(PostingHistory(times: try Self.small().times).asOf, equals: last)
        #expect(PostingHistory(times: []).isEmpty)
    }

    @Test(arguments: [(0, 2), (0.25, 0), (0.5, 1), (0.75, 0), (0.999999, 0)])
    func countIsThatOfOnePastDay(u: Double, count: Int) {
        let counts = DayCountDistribution(counts: [2, 0, 1, 0], weights: [1, 1, 1, 1])
        #expect(counts.count(atUniform: u) == count)
        #expect(agree(counts.probability(of: 0), 0.5, within: 1e-9))
        #expect(agree(counts.probability(of: 1), 0.25, within: 1e-9))
        #expect(agree(counts.probability(of: 2), 0.25, within: 1e-9))
        #expect(agree(counts.mean, 0.75, within: 1e-9))
    }

    @Test func daysWithoutPostsCountAndTheFirstDayDoesNot() throws {
        let history = PostingHistory(
            times: [
                try posting("2026-01-01", 10), try posting("2026-01-01", 20),
                try posting("2026-01-01", 30),
                try posting("2026-01-03", 10), try posting("2026-01-03", 11),
            ], asOf: try day("2026-01-05"))
        let counts = history.counts(
            for: try day("2026-01-06"), configuration: ScheduleConfiguration()
        )
        .distribution(after: .unknown)
        #expect(counts.counts == [0, 2, 0, 0])
    }

    @Test func onlyDayOfTheArchiveGivesItsOwnCount() throws {
        let history = PostingHistory(times: [
            try posting("2026-01-01", 10), try posting("2026-01-01", 20),
        ])
        let counts = history.counts(
            for: try day("2026-01-02"), configuration: ScheduleConfiguration()
        )
        .distribution(after: .unknown)
        #expect(counts.counts == [2])
        #expect(counts.count(atUniform: 0.7) == 2)
    }

    @Test func absurdDatesStayCheap() throws {
        let history = PostingHistory(
            times: [
                try posting("0001-01-01", 5), try posting("9999-12-31", 6),
                try posting("1969-12-31", 7),
            ])
        #expect(history.times.map(\.minute.value) == [5, 7, 6])
        #expect(history.times.map(\.day.description) == ["0001-01-01", "1969-12-31", "9999-12-31"])
        let counts = history.counts(for: .latest, configuration: ScheduleConfiguration())
            .distribution(after: .unknown)
        #expect(counts.counts.count == 36_525)
    }

    // MARK: Who left

    /// A human who posted on most days for two years.
    private static func busyYears() -> [LocalTime] {
        var generator = SplitMix64(seed: 7)
        return (0..<730).flatMap { day in
            (0..<Int(generator.next() % 4)).map { _ in
                LocalTime(
                    day: LocalDay(ordinal: 19_000 + day),
                    minute: MinuteOfDay(hour: 0, minute: 480 + Int(generator.next() % 900)))
            }
        }
    }

    private static func post(daysAfterLast days: Int, count: Int = 1) -> [LocalTime] {
        Array(
            repeating: LocalTime(
                day: LocalDay(ordinal: 19_729 + days), minute: MinuteOfDay(hour: 12, minute: 0)),
            count: count)
    }

    /// The posts of the first days of a mirror, each drawn after those before it.
    private static func planned(_ history: PostingHistory, days: Int) throws -> Int {
        let planner = DayPlanner(history: history, configuration: ScheduleConfiguration())
        let zone = try zone("UTC")
        var counts: [LocalDay: Int] = [:]
        for offset in 0..<days {
            let day = LocalDay(ordinal: 20_200 + offset)
            let recent = planner.recentDays(
                before: day, planned: counts, from: day, in: zone, mirror: "m")
            counts[day] = planner.plan(for: day, in: zone, mirror: "m", after: recent)?.slots.count
        }
        return counts.values.reduce(0, +)
    }

    /// Months of silence and one last post are a farewell, and no example of how to live.
    @Test(arguments: [[150], [60, 91], [300, 301, 320], []] as [[Int]])
    func whoLeftIsRememberedAsTheyWere(farewell: [Int]) throws {
        let times = Self.busyYears()
        let history = PostingHistory(
            times: times + farewell.flatMap { Self.post(daysAfterLast: $0) })
        #expect(history.asOf == times.last?.day)
        #expect(history.times.count == times.count)
        // 1.5 posts a day.
        let number = try Self.planned(history, days: 60)
        #expect((50...140).contains(number), "\(number)")
    }

    /// A short silence and a real return are part of a life.
    @Test func whoIsBackIsNotGone() throws {
        let times = Self.busyYears()
        let holidays = PostingHistory(times: times + Self.post(daysAfterLast: 30))
        #expect(holidays.asOf == LocalDay(ordinal: 19_759))
        let back = (0..<15).flatMap { Self.post(daysAfterLast: 150 + $0) }
        #expect(PostingHistory(times: times + back).asOf == LocalDay(ordinal: 19_729 + 164))
    }

    /// Who posts every other month is not gone after half a year.
    @Test func whoPostsRarelyIsNotGoneSoon() throws {
        let times = (0..<25).flatMap { Self.post(daysAfterLast: $0 * 60) }
        let history = PostingHistory(times: times + Self.post(daysAfterLast: 24 * 60 + 200))
        #expect(history.asOf == LocalDay(ordinal: 19_729 + 24 * 60 + 200))
    }

    @Test func rawModelIsTheBareHistogram() throws {
        let configuration = ScheduleConfiguration(model: .raw)
        let distribution = try Self.small().distribution(
            for: day("2026-01-30"), configuration: configuration)
        #expect(distribution.smoothing == nil)
        expect([0, 540, 545, 1_380]) { $0.allSatisfy { distribution.probabilities[$0] == 0.25 } }
    }

    private static func small() throws -> PostingHistory {
        PostingHistory(
            times: [
                try posting("2026-01-24", 1_380), try posting("2026-01-29", 540),
                try posting("2025-10-01", 0),
                try posting("2026-01-23", 545),
            ], asOf: try day("2026-01-29"))
    }
}
