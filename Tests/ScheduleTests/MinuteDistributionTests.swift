import Expectations
import Posts
import Schedule
import Testing

/// The reference vectors for single minutes, raw and smoothed.
@Suite struct MinuteDistributionTests {
    @Test(arguments: [
        (0, 60), (0.25, 60), (0.499999, 60), (0.5, 720), (0.749999, 720), (0.75, 1_439),
        (0.999999, 1_439),
        (1.0.nextDown, 1_439),
    ])
    func rawDrawsAreTheInverseOfTheRunningShare(u: Double, expected: Int) {
        #expect(rawDistribution([60, 60, 720, 1_439]).minute(atUniform: u)?.value == expected)
    }

    @Test func rawSharesAreTheHistogram() throws {
        let distribution = rawDistribution([60, 60, 720, 1_439])
        #expect(distribution.probabilities[60] == 0.5)
        #expect(distribution.probabilities[720] == 0.25)
        #expect(distribution.probabilities[1_439] == 0.25)
        #expect(distribution.probabilities.reduce(0, +) == 1)
        for (minute, share) in [(60, 0), (61, 0.5), (720, 0.5), (721, 0.75), (1_439, 0.75)] {
            try expect(shareBefore(minute, in: distribution), equals: share)
        }
    }

    @Test(arguments: [(0, 0), (0.33, 0), (0.34, 1), (0.66, 1), (0.67, 1_439), (0.999999, 1_439)])
    func smoothingRunsOverMidnight(u: Double, expected: Int) throws {
        let shares = CircularKernel(halfTaps: [1, 1]).smooth(masses([0: 1]))
        #expect(agree(shares[1_439], 1 / 3) && agree(shares[0], 1 / 3) && agree(shares[1], 1 / 3))
        let distribution = MinuteDistribution(shares: shares, closed: [], rounding: .down)
        #expect(distribution.minute(atUniform: u)?.value == expected)
        for (minute, share) in [(1, 1.0 / 3), (2, 2.0 / 3), (1_439, 2.0 / 3)] {
            try expect(shareBefore(minute, in: distribution)) { abs($0 - share) < 1e-9 }
        }
    }

    @Test func bellCurveHasTheReferenceValues() {
        let density = CircularKernel.gaussian(sigma: 20).smooth(masses([0: 1]))
        #expect(agree(density[0], 0.019948249))
        #expect(agree(density[20], 0.012099224) && agree(density[1_420], 0.012099224))
        #expect(agree(density[80], 6.692e-6, within: 1e-4))
        #expect(density[81] == 0)
        #expect(agree(density.reduce(0, +), 1))
    }

    @Test(arguments: [(0.25, 13), (0.5, 51), (0.75, 1_426), (0.999999, 1_439)])
    func bellCurveWithFloorDrawsTheReferenceMinutes(u: Double, expected: Int) {
        let distribution = Self.bellCurveWithFloor
        #expect(distribution.minute(atUniform: u)?.value == expected)
    }

    @Test func bellCurveWithFloorHasTheReferenceShares() throws {
        let distribution = Self.bellCurveWithFloor
        #expect(agree(distribution.probabilities[0], 0.019755711))
        #expect(agree(distribution.probabilities[720], 6.944444e-6))
        for (minute, share) in [21: 0.353909938, 720: 0.509874383, 1_420: 0.665845772] {
            try expect(shareBefore(minute, in: distribution)) { abs($0 - share) < 1e-8 }
        }
    }

    @Test(arguments: [
        (1, 90), (10, 79.6214), (30, 57.2656), (100, 39.9052), (300, 28.7008), (1_000, 20),
        (2_000, 16.2450),
        (2_611, 15), (1e9, 15), (0, 90), (.nan, 90),
    ])
    func kernelNarrowsAsTheArchiveGrows(effectiveCount: Double, sigma: Double) {
        #expect(
            agree(MinuteDistribution.bandwidth(effectiveCount: effectiveCount), sigma, within: 1e-5)
        )
    }

    @Test func priorHasTheReferenceValues() {
        let prior = PriorProfile.probabilities
        #expect(prior.count == 1_440)
        #expect(agree(prior[0], 5.573130e-4))
        #expect(agree(prior[240], 9.438212e-5))
        #expect(agree(prior[1_200], 1.079814e-3))
        #expect(agree(prior[..<720].reduce(0, +), 0.330744, within: 2e-6))
        #expect(agree(prior.reduce(0, +), 1))
    }

    @Test func theSharesAddUpToAllAndEveryMinuteWithMassCanBeDrawn() throws {
        let distribution = Self.bellCurveWithFloor
        var previous = 0.0
        for value in 0..<1_440 {
            let first = try #require(try distribution.uniform(at: minute(value), part: 0))
            let middle = try #require(try distribution.uniform(at: minute(value), part: 0.5))
            #expect(first >= previous && middle > first)
            #expect(distribution.minute(atUniform: middle)?.value == value)
            previous = middle
        }
        try expect(distribution.uniform(at: minute(1_439), part: 1), equals: 1)
    }

    @Test(arguments: [-1, -0.0, 2, .infinity, -.infinity, .nan])
    func oddNumbersStillGiveAMinuteWithMass(u: Double) {
        #expect([60, 720].contains(rawDistribution([60, 720]).minute(atUniform: u)?.value ?? -1))
    }

    @Test func closedMinutesAreNeverDrawn() throws {
        let quiet = Set(try (0..<420).map(minute))
        let distribution = MinuteDistribution.kernel(
            weights: masses([100: 5, 800: 5]), squares: 10, closed: quiet)
        expect(distribution.probabilities[..<420]) { $0.allSatisfy { $0 == 0 } }
        #expect(agree(distribution.probabilities.reduce(0, +), 1))
        #expect(distribution.minute(atUniform: 0)?.value == 420)
        #expect(try !distribution.isOpen(minute(419)))
        #expect(try distribution.isOpen(minute(420)))
        let nothing = MinuteDistribution.kernel(
            weights: masses([100: 5]), squares: 5, closed: Set(try (0..<1_440).map(minute)))
        #expect(nothing.minute(atUniform: 0.5) == nil)
        #expect(nothing.probabilities.reduce(0, +) == 0)
    }

    /// The running share in front of a minute.
    private func shareBefore(_ value: Int, in distribution: MinuteDistribution) throws -> Double {
        try #require(try distribution.uniform(at: minute(value), part: 0))
    }

    private static let bellCurveWithFloor = MinuteDistribution(
        shares: CircularKernel.gaussian(sigma: 20).smooth(masses([0: 1])).map(
            MinuteDistribution.withFloor),
        closed: [], rounding: .atLeastOne)
}
