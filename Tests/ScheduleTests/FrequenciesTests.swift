import Evaluation
import Expectations
import Posts
import Schedule
import Testing

@Suite struct FrequenciesTests {
    @Test func sharesAreParts() {
        let frequencies = Frequencies([3, 1, 3, 7])
        #expect(frequencies.total == 4)
        #expect([1, 3, 7, 8].map(frequencies.share) == [0.25, 0.5, 0.25, 0])
        #expect(Frequencies([]).share(of: 1) == 0)
    }

    @Test(arguments: [
        ([0, 0, 1], [0, 0, 1], 0.0), ([0, 1], [2, 3], 1), ([0, 0, 1, 2], [0, 1, 1, 5], 0.5),
        ([0], [0, 0, 0, 1], 0.25),
        ([0, 1, 1, 1], [0, 0, 1, 1], 0.25), ([-5], [.max], 1),
    ])
    func totalVariationIsTheMassThatLiesElsewhere(first: [Int], second: [Int], distance: Double)
        throws
    {
        let one = Frequencies(first)
        let other = Frequencies(second)
        try expect(#require(one.totalVariation(to: other)), equals: distance)
        try expect(#require(other.totalVariation(to: one)), equals: distance)
    }

    @Test(arguments: [
        ([1, 2, 3], [1, 2, 3], 0.0), ([1, 2], [3, 4], 1), ([1, 3], [2, 4], 0.5),
        ([1, 1, 1, 9], [1, 5, 5, 9], 0.5),
        // The running shares are .25 .5 .75 1 and 0 0 .5 1.
        ([10, 20, 30, 40], [30, 40], 0.5), ([-5], [.max], 1),
    ])
    func kolmogorovSmirnovIsTheLargestDifferenceOfRunningShares(
        first: [Int], second: [Int], distance: Double
    ) throws {
        let one = Frequencies(first)
        let other = Frequencies(second)
        try expect(#require(one.kolmogorovSmirnovDistance(to: other)), equals: distance)
        try expect(#require(other.kolmogorovSmirnovDistance(to: one)), equals: distance)
    }

    @Test func nothingHasNoDistance() {
        #expect(Frequencies([]).totalVariation(to: Frequencies([1])) == nil)
        #expect(Frequencies([1]).totalVariation(to: Frequencies([])) == nil)
        #expect(Frequencies([]).kolmogorovSmirnovDistance(to: Frequencies([1])) == nil)
        #expect(Frequencies([1]).kolmogorovSmirnovDistance(to: Frequencies([])) == nil)
    }
}

@Suite struct RhythmTests {
    @Test func daysWithoutPostsCountAndGapsStayWithinTheirDay() throws {
        let times = try [
            posting("2026-01-03", 90), posting("2026-01-01", 1_430), posting("2026-01-01", 5),
            posting("2026-01-03", 60), posting("2026-01-03", 90), posting("2026-01-09", 1),
        ]
        let days = try (0..<4).map { try day("2026-01-01").advanced(by: $0) }
        let rhythm = Rhythm(of: times, on: days)
        #expect(rhythm.dailyCounts == Frequencies([2, 0, 3, 0]))
        #expect(rhythm.gaps == Frequencies([1_425, 30, 1]))
        #expect(rhythm.firstMinutes == Frequencies([5, 60]))
    }

    @Test func everyPartHasItsDistance() throws {
        let one = Rhythm(days: try [[10, 20], [], []].map { try $0.map(minute) })
        let other = Rhythm(days: try [[10, 40], [700], []].map { try $0.map(minute) })
        let distance = one.distance(to: other)
        #expect(distance == other.distance(to: one))
        #expect(agree(try #require(distance.dailyCounts), 1 / 3))
        #expect(distance.gaps == 1)
        #expect(distance.firstMinutes == 0.5)
        #expect(agree(try #require(distance.hours), 1 / 3))
        #expect(
            one.distance(to: one)
                == Rhythm.Distance(dailyCounts: 0, gaps: 0, firstMinutes: 0, hours: 0))
    }

    @Test func whatOneLacksCannotBeCompared() throws {
        let silent = Rhythm(days: [[], []])
        let lonely = Rhythm(days: try [[10], [20]].map { try $0.map(minute) })
        #expect(
            silent.distance(to: lonely)
                == Rhythm.Distance(dailyCounts: 1, gaps: nil, firstMinutes: nil))
    }

    @Test func theMeanIsOverThoseThatHaveAValue() {
        let mean = Rhythm.Distance.mean(of: [
            .init(dailyCounts: 0.2, gaps: nil, firstMinutes: nil),
            .init(dailyCounts: 0.4, gaps: 0.5, firstMinutes: nil),
        ])
        #expect(agree(mean.dailyCounts ?? 0, 0.3))
        #expect(mean.gaps == 0.5)
        #expect(mean.firstMinutes == nil)
    }
}
