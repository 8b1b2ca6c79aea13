import Posts
import Schedule
import Testing

@Suite struct BurstModelTests {
    @Test(arguments: [(2, 0.041913), (5, 0.101511), (10, 0.192717)])
    func chanceAloneGivesTheReferenceShare(postsPerDay: Int, share: Double) {
        let uniform = Array(repeating: 1 / 1_440.0, count: 1_440)
        #expect(
            agree(
                BurstModel.independentShare(profile: uniform, dayCounts: [postsPerDay: 3]), share, within: 1e-5))
    }

    @Test func mixedDaysAreWeightedByTheirGaps() {
        let uniform = Array(repeating: 1 / 1_440.0, count: 1_440)
        let mixed = BurstModel.independentShare(profile: uniform, dayCounts: [2: 9, 10: 1, 1: 50, 0: 5])
        #expect(agree(mixed, (9 * 0.041913 + 9 * 0.192717) / 18, within: 1e-5))
        #expect(BurstModel.independentShare(profile: uniform, dayCounts: [1: 4]) == 0)
    }

    @Test func independentPostsShowNoBursts() throws {
        var generator = SplitMix64(seed: 3)
        var times: [PostingTime] = []
        for index in 0..<800 {
            let minute = try minute(Int(generator.nextUniform() * 1_440))
            times.append(PostingTime(day: LocalDay(ordinal: 20_000 + index / 4), minute: minute))
        }
        #expect(PostingHistory(times: times).bursts().share < 0.05)
    }

    @Test func postsThatFollowEachOtherShowBursts() throws {
        var times: [PostingTime] = []
        for index in 0..<60 {
            for offset in [0, 5, 5, 40] {
                let minute = try minute((index * 97) % 1_300 + offset)
                times.append(PostingTime(day: LocalDay(ordinal: 20_000 + index), minute: minute))
            }
        }
        let bursts = PostingHistory(times: times).bursts()
        #expect(bursts.share > 0.5 && bursts.share <= 0.85)
        #expect(Set(bursts.gaps) == [1, 5])
        #expect(bursts.gaps == bursts.gaps.sorted())
    }

    @Test func tooFewGapsShowNothing() throws {
        let times = try (0..<49).flatMap { index in
            try [100, 101].map { PostingTime(day: LocalDay(ordinal: 20_000 + index), minute: try minute($0)) }
        }
        #expect(PostingHistory(times: times).bursts() == .none)
        let oneMore = try [100, 101].map { PostingTime(day: LocalDay(ordinal: 20_100), minute: try minute($0)) }
        #expect(PostingHistory(times: times + oneMore).bursts().share > 0)
    }

    @Test func crowdedDayIsNoTrouble() throws {
        let times = try (0..<12_000).map { PostingTime(day: LocalDay(ordinal: 20_000), minute: try minute($0 % 1_440)) }
        #expect(PostingHistory(times: times).bursts().share <= 0.85)
    }
}
