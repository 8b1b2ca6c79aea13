import Expectations
import Posts
import Schedule
import Testing

@Suite struct SlotSamplerTests {
    @Test(arguments: [
        (3, 0.5, [0.10, 0.40, 0.60, 0.40, 0.0], [60, 70, 75]),
        (3, 0.5, [0.80, 0.40, 0.0, 0.55, 0.90, 0.10], [60, 720, 1_439]),
        (3, 0.5, [0.10, 0.90, 0.20, 0.90, 0.60, 0.90, 0.80], [60, 720, 1_439]),
        (2, 0.0, [0.1, 0.2, 0.6], [60, 720]),
    ])
    func randomNumbersAreUsedInTheAgreedOrder(
        count: Int, share: Double, uniforms: [Double], expected: [Int]
    ) {
        let sampler = SlotSampler(
            distribution: rawDistribution([60, 60, 720, 1_439]),
            bursts: BurstModel(share: share, gaps: [5, 10]),
            minimumGapMinutes: 1)
        var rest = uniforms[...]
        let minutes = sampler.minutes(count: count) { rest.popFirst() ?? 0 }
        #expect(minutes.map(\.value) == expected)
        #expect(rest.isEmpty)
    }

    @Test func followingNeverEntersClosedMinutes() throws {
        let closed = Set(try (65..<700).map(minute))
        let distribution = MinuteDistribution(
            shares: masses([60: 0.5, 720: 0.5]), closed: closed, rounding: .down)
        let sampler = SlotSampler(
            distribution: distribution, bursts: BurstModel(share: 0.9, gaps: [5, 10]),
            minimumGapMinutes: 1)
        // 60; following to 65 is closed; drawn afresh: 720; following to 725.
        var uniforms = [0.1, 0.1, 0.0, 0.6, 0.1, 0.0][...]
        #expect(
            sampler.minutes(count: 3) { uniforms.popFirst() ?? 0 }.map(\.value) == [60, 720, 725])
        #expect(uniforms.isEmpty)
    }

    @Test func whatCannotBePlacedIsDropped() {
        let sampler = SlotSampler(
            distribution: rawDistribution([60, 61]), bursts: .none, minimumGapMinutes: 1)
        var generator = SplitMix64(seed: 1)
        var draws = 0
        let minutes = sampler.minutes(count: 5) {
            draws += 1
            return generator.nextUniform()
        }
        #expect(minutes.map(\.value) == [60, 61])
        #expect(draws == 25 * 5 + 50)
    }

    @Test(arguments: [1, 2, 15, 60])
    func slotsKeepTheirDistance(gap: Int) throws {
        let sampler = SlotSampler(
            distribution: MinuteDistribution.kernel(
                weights: masses([600: 50, 1_200: 50]), squares: 100),
            bursts: BurstModel(share: 0.5, gaps: [1, 2, 3, 10, 20, 30]), minimumGapMinutes: gap)
        var generator = SplitMix64(seed: UInt64(gap))
        for count in [0, 1, 7, 24] {
            let values = sampler.minutes(count: count) { generator.nextUniform() }.map(\.value)
            #expect(values.count <= count)
            #expect(gap > 15 || values.count == count)
            expect(zip(values, values.dropFirst())) { $0.allSatisfy { $1 - $0 >= gap } }
        }
    }

    @Test func nothingIsDrawnFromNothing() throws {
        let closed = MinuteDistribution(
            shares: masses([60: 1]), closed: Set(try (0..<1_440).map(minute)), rounding: .down)
        let sampler = SlotSampler(distribution: closed, bursts: .none, minimumGapMinutes: 1)
        #expect(sampler.minutes(count: 3) { 0.5 }.isEmpty)
        #expect(sampler.minutes(count: -1) { 0.5 }.isEmpty)
    }
}
