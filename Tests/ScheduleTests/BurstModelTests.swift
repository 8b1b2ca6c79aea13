import Posts
import Schedule
import Testing

@Suite struct BurstModelTests {
    @Test(arguments: [(2, 0.041913), (5, 0.101511), (10, 0.192717)])
    func chanceAloneGivesTheReferenceShare(postsPerDay: Int, share: Double) {
        let uniform = Array(repeating: 1 / 1_440.0, count: 1_440)
        #expect(
            agree(
                BurstModel.independentShare(profile: uniform, dayCounts: [postsPerDay: 3]), share,
                within: 1e-5))
    }

    @Test func mixedDaysAreWeightedByTheirGaps() {
        let uniform = Array(repeating: 1 / 1_440.0, count: 1_440)
        let mixed = BurstModel.independentShare(
            profile: uniform, dayCounts: [2: 9, 10: 1, 1: 50, 0: 5])
        #expect(agree(mixed, (9 * 0.041913 + 9 * 0.192717) / 18, within: 1e-5))
        #expect(BurstModel.independentShare(profile: uniform, dayCounts: [1: 4]) == 0)
    }

    @Test func independentPostsShowNoBursts() throws {
        var generator = SplitMix64(seed: 3)
        var times: [LocalTime] = []
        for index in 0..<800 {
            let minute = try minute(Int(generator.nextUniform() * 1_440))
            times.append(LocalTime(day: LocalDay(ordinal: 20_000 + index / 4), minute: minute))
        }
        #expect(PostingHistory(times: times).bursts().share < 0.05)
    }

    @Test func postsThatFollowEachOtherShowBursts() throws {
        var times: [LocalTime] = []
        for index in 0..<60 {
            for offset in [0, 5, 5, 40] {
                let minute = try minute((index * 97) % 1_300 + offset)
                times.append(LocalTime(day: LocalDay(ordinal: 20_000 + index), minute: minute))
            }
        }
        let bursts = PostingHistory(times: times).bursts()
        #expect(bursts.share > 0.5)
        #expect(bursts.share <= 0.85)
        #expect(Set(bursts.gaps) == [1, 5])
        #expect(bursts.gaps == bursts.gaps.sorted())
    }

    @Test func aShareIsAtMostEightyFiveHundredths() throws {
        // Every post but the first of a day follows within a minute.
        let times = try (0..<120).flatMap { index in
            try (0..<5).map { offset in
                LocalTime(
                    day: LocalDay(ordinal: 20_000 + index),
                    minute: try minute((index * 97) % 1_400 + offset))
            }
        }
        let bursts = PostingHistory(times: times).bursts()
        #expect(bursts.share == 0.85)
        #expect(bursts.gaps == Array(repeating: 1, count: 480))
    }

    @Test(arguments: [(29, true), (30, true), (31, false), (400, false)])
    func aGapOfHalfAnHourFollowsAndALongerOneDoesNot(gap: Int, follows: Bool) throws {
        let times = try (0..<60).flatMap { index in
            try [0, gap].map { offset in
                LocalTime(
                    day: LocalDay(ordinal: 20_000 + index),
                    minute: try minute((index * 97) % 1_000 + offset))
            }
        }
        #expect(
            PostingHistory(times: times).bursts().gaps
                == (follows ? Array(repeating: gap, count: 60) : []))
    }

    @Test func theShareIsWhatChanceDoesNotExplain() throws {
        var times: [LocalTime] = []
        for index in 0..<300 {
            let first = (index * 331) % 1_380
            for minute in index % 3 == 0 ? [first, first + 8] : [first, (first + 700) % 1_440] {
                times.append(
                    LocalTime(
                        day: LocalDay(ordinal: 20_000 + index),
                        minute: try ScheduleTests.minute(minute)))
            }
        }
        let history = PostingHistory(times: times)
        var days: [[Int]] = []
        for time in history.times {
            if let last = days.last, last.count == 1 {
                days[days.count - 1] = last + [time.minute.value]
            } else {
                days.append([time.minute.value])
            }
        }
        let observed = Double(days.count { $0[1] - $0[0] <= 30 }) / 300
        let weight = HistoryWeight(asOf: history.asOf, target: nil)
        var weights = [Double](repeating: 0, count: 1_440)
        var squares = 0.0
        for time in history.times {
            weights[time.minute.value] += weight.weight(of: time.day)
            squares += weight.weight(of: time.day) * weight.weight(of: time.day)
        }
        let profile = MinuteDistribution.kernel(weights: weights, squares: squares).probabilities
        let chance = BurstModel.independentShare(profile: profile, dayCounts: [2: 300])
        #expect(agree(history.bursts().share, (observed - chance) / (1 - chance), within: 1e-9))
        #expect(history.bursts().share > 0.2)
    }

    @Test func tooFewGapsShowNothing() throws {
        let times = try (0..<49).flatMap { index in
            try [100, 101].map {
                LocalTime(day: LocalDay(ordinal: 20_000 + index), minute: try minute($0))
            }
        }
        #expect(PostingHistory(times: times).bursts() == .none)
        let oneMore = try [100, 101].map {
            LocalTime(day: LocalDay(ordinal: 20_060), minute: try minute($0))
        }
        #expect(PostingHistory(times: times + oneMore).bursts().share > 0)
    }

    @Test func crowdedDayIsNoTrouble() throws {
        let times = try (0..<12_000).map {
            LocalTime(day: LocalDay(ordinal: 20_000), minute: try minute($0 % 1_440))
        }
        #expect(PostingHistory(times: times).bursts().share <= 0.85)
    }
}
