import Foundation
import Posts
import Schedule
import Testing

/// What many draws look like.
///
/// The seeds are fixed, so the outcome never changes; the bounds are at odds
/// of one in a million, so that a rewritten generator passes too. A lost
/// minute or a wrong comparison does not show here: the exact vectors see those.
@Suite struct SamplingStatisticsTests {
    static let drawCount = 2_000_000

    @Test func drawsHaveTheSharesOfTheDistribution() throws {
        let history = PostingHistory(
            times: try madeUpTimes(postCount: 3_000, dayCount: 700, lastDay: try day("2026-01-29"), seed: 11))
        let distribution = history.distribution(for: try day("2026-01-30"), configuration: ScheduleConfiguration())
        let observed = Self.draw(Self.drawCount, from: distribution)
        let expected = distribution.probabilities.map { $0 * Double(Self.drawCount) }
        #expect(Self.chiSquare(observed, expected, binWidth: 60) < 70.55)
        #expect(Self.chiSquare(observed, expected, binWidth: 15) < 175.44)
        #expect(Self.chiSquare(observed, expected, binWidth: 1) < 1_708.55)
        #expect(Self.kuiper(observed, expected) < 3.006)
    }

    @Test func shiftByAMinuteWouldShow() throws {
        let history = PostingHistory(
            times: try madeUpTimes(postCount: 3_000, dayCount: 700, lastDay: try day("2026-01-29"), seed: 11))
        let distribution = history.distribution(for: try day("2026-01-30"), configuration: ScheduleConfiguration())
        let observed = Self.draw(Self.drawCount, from: distribution)
        let shifted = (distribution.probabilities.suffix(1) + distribution.probabilities.dropLast())
            .map { $0 * Double(Self.drawCount) }
        #expect(Self.chiSquare(observed, shifted, binWidth: 15) > 175.44)
        #expect(Self.kuiper(observed, shifted) > 3.006)
    }

    private static func draw(_ count: Int, from distribution: MinuteDistribution) -> [Double] {
        var generator = SplitMix64(seed: 42)
        var observed = Array(repeating: 0.0, count: 1_440)
        for _ in 0..<count {
            if let minute = distribution.minute(atUniform: generator.nextUniform()) { observed[minute.value] += 1 }
        }
        return observed
    }

    private static func chiSquare(_ observed: [Double], _ expected: [Double], binWidth: Int) -> Double {
        stride(from: 0, to: 1_440, by: binWidth).reduce(0) { sum, start in
            let bin = start..<start + binWidth
            let (o, e) = (observed[bin].reduce(0, +), expected[bin].reduce(0, +))
            return sum + (o - e) * (o - e) / e
        }
    }

    private static func kuiper(_ observed: [Double], _ expected: [Double]) -> Double {
        let total = observed.reduce(0, +)
        var (difference, above, below) = (0.0, 0.0, 0.0)
        for minute in observed.indices {
            difference += (observed[minute] - expected[minute]) / total
            above = max(above, difference)
            below = max(below, -difference)
        }
        return total.squareRoot() * (above + below)
    }
}
