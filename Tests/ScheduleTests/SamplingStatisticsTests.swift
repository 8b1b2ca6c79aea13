import Foundation
import Posts
import Schedule
import Testing

/// What many draws look like, and that those of other models would look different.
///
/// The seeds are fixed, so the outcome never changes; the bounds are at odds
/// of one in a million, so that a rewritten generator passes too. A lost
/// minute or a wrong comparison does not show here: the exact vectors see those.
@Suite struct SamplingStatisticsTests {
    @Test func drawsHaveTheSharesOfTheDistribution() throws {
        let sample = try Sample.shared.get()
        let shares = sample.weighting.distribution.probabilities
        #expect(sample.draws.reduce(0, +) == Double(Sample.drawCount))
        #expect(Statistics.chiSquare(sample.draws, shares, binWidth: 60) < 70.55)
        #expect(Statistics.chiSquare(sample.draws, shares, binWidth: 15) < 175.44)
        #expect(Statistics.chiSquare(sample.draws, shares, binWidth: 1) < 1_708.55)
        #expect(Statistics.kuiper(sample.draws, shares) < 3.006)
        // No minute is so rare that its part of the sums would be chance.
        let rarest = try #require(shares.min())
        #expect(rarest * Double(Sample.drawCount) >= 13.8)
    }

    /// The model once more, as the specification writes it and without any haste.
    @Test func theDistributionIsTheSpecifiedFormula() throws {
        let weighting = try Sample.shared.get().weighting
        let smoothing = try #require(weighting.distribution.smoothing)
        #expect(agree(smoothing.effectiveCount, weighting.effectiveCount, within: 1e-9))
        #expect(agree(smoothing.sigma, weighting.sigma, within: 1e-9))
        for (share, expected) in zip(weighting.distribution.probabilities, weighting.profile()) {
            #expect(agree(share, expected, within: 1e-9))
        }
    }

    @Test(arguments: Mutant.all)
    func anotherModelWouldShow(_ mutant: Mutant) throws {
        let sample = try Sample.shared.get()
        let shares = try mutant.shares(sample.weighting)
        #expect(agree(shares.reduce(0, +), 1))
        #expect(Statistics.chiSquare(sample.draws, shares, binWidth: 15) > 175.44)
        if mutant.showsInMinutes {
            #expect(Statistics.chiSquare(sample.draws, shares, binWidth: 1) > 1_708.55)
        }
        if mutant.showsInRunningShares { #expect(Statistics.kuiper(sample.draws, shares) > 3.006) }
    }

    /// Why there are two million draws.
    @Test func aShiftByAMinuteHidesInATwentiethOfThem() throws {
        let sample = try Sample.shared.get()
        let shares = Mutant.shifted(sample.weighting.profile(), by: 1)
        #expect(sample.someDraws.reduce(0, +) == Double(Sample.drawCount / 20))
        #expect(Statistics.chiSquare(sample.someDraws, shares, binWidth: 15) < 175.44)
        #expect(Statistics.kuiper(sample.someDraws, shares) < 3.006)
    }

    @Test func planningAsTheOriginalDidWouldShow() throws {
        let shares = try Sample.shared.get().weighting.distribution.probabilities
        let draws = OriginalPlanner.draws(plans: 5_000, postsPerDay: 20, from: shares)
        #expect(Statistics.chiSquare(draws, shares, binWidth: 15) > 175.44)
        #expect(Statistics.kuiper(draws, shares) > 3.006)
    }
}

/// Two million draws from one profile, made once for all tests.
private struct Sample {
    static let drawCount = 2_000_000
    static let shared = Result { try Sample() }

    let weighting: Weighting
    /// How often each minute was drawn.
    let draws: [Double]
    /// How often each minute was drawn in the first twentieth.
    let someDraws: [Double]

    private init() throws {
        weighting = try Weighting()
        let distribution = weighting.distribution
        var generator = SplitMix64(seed: 42)
        var counts = [Double](repeating: 0, count: MinuteOfDay.count)
        func draw(_ number: Int) {
            for _ in 0..<number {
                if let minute = distribution.minute(atUniform: generator.nextUniform()) {
                    counts[minute.value] += 1
                }
            }
        }
        draw(Self.drawCount / 20)
        someDraws = counts
        draw(Self.drawCount - Self.drawCount / 20)
        draws = counts
    }
}

/// An archive of three thousand posts, weighed for one day.
struct Weighting {
    let distribution: MinuteDistribution
    private let history: PostingHistory
    private let day: LocalDay

    init() throws {
        let last = try ScheduleTests.day("2026-01-29")
        let times = try madeUpTimes(postCount: 3_000, dayCount: 700, lastDay: last, seed: 11)
        day = last.advanced(by: 1)
        history = PostingHistory(times: times, asOf: last)
        distribution = history.distribution(for: day, configuration: ScheduleConfiguration())
    }

    /// The weight of a post: by age, and by likeness of its day.
    private func weight(of post: LocalTime, _ halfLife: Double, _ factors: [Double]) -> Double {
        let recency = 0.02 + 0.98 * pow(2, -Double(history.asOf.days(since: post.day)) / halfLife)
        if post.day.weekday == day.weekday { return recency * factors[0] }
        return recency * ((post.day.weekday > 5) == (day.weekday > 5) ? factors[1] : factors[2])
    }

    /// The sums of weights for each minute, and how many equal posts would tell as much.
    func masses(
        halfLife: Double = 120, factors: [Double] = [2, 1, 0.3]
    ) -> (minutes: [Double], sum: Double, count: Double) {
        var minutes = [Double](repeating: 0, count: 1_440)
        var sum = 0.0
        var squares = 0.0
        for post in history.times {
            let weight = weight(of: post, halfLife, factors)
            minutes[post.minute.value] += weight
            sum += weight
            squares += weight * weight
        }
        return (minutes, sum, sum * sum / squares)
    }

    var effectiveCount: Double { masses().count }
    var sigma: Double { Self.sigma(effectiveCount) }

    private static func sigma(_ count: Double) -> Double {
        min(90, max(15, 20 * pow(1_000 / count, 0.3)))
    }

    /// The profile as specified, except for what is said otherwise.
    func profile(
        halfLife: Double = 120, factors: [Double] = [2, 1, 0.3], sigma: Double? = nil,
        floor: Double = 0.01,
        prior: Double = 30, isCircular: Bool = true
    ) -> [Double] {
        let (minutes, sum, count) = masses(halfLife: halfLife, factors: factors)
        let density = Self.smoothed(minutes, sigma ?? Self.sigma(count), isCircular).map {
            $0 / sum
        }
        let shares = zip(density, PriorProfile.probabilities).map { own, general in
            (1 - floor) * (count * own + prior * general) / (count + prior) + floor / 1_440
        }
        let total = shares.reduce(0, +)
        return shares.map { $0 / total }
    }

    private static func smoothed(_ minutes: [Double], _ sigma: Double, _ isCircular: Bool)
        -> [Double]
    {
        let reach = Int(4 * sigma)
        let taps = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = taps.reduce(0, +)
        var result = [Double](repeating: 0, count: 1_440)
        for (minute, mass) in minutes.enumerated() where mass > 0 {
            for (offset, tap) in taps.enumerated() {
                let target = minute + offset - reach
                if isCircular || (0..<1_440).contains(target) {
                    result[(target + 1_440) % 1_440] += mass * tap / total
                }
            }
        }
        return result
    }
}

/// A model that is almost the specified one.
struct Mutant: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Whether single minutes change by more than chance changes them.
    var showsInMinutes = true
    /// Whether mass is moved far enough for Kuiper's statistic; what changes at midnight alone it
    /// does not see.
    var showsInRunningShares = true
    let shares: @Sendable (Weighting) throws -> [Double]

    static let all: [Mutant] = [
        Mutant(testDescription: "shifted by a minute", showsInMinutes: false) {
            shifted($0.profile(), by: 1)
        },
        Mutant(testDescription: "shifted by an hour") { shifted($0.profile(), by: 60) },
        Mutant(testDescription: "kernel not circular", showsInRunningShares: false) {
            $0.profile(isCircular: false)
        },
        Mutant(testDescription: "no floor") { $0.profile(floor: 0) },
        Mutant(testDescription: "floor of 2 %") { $0.profile(floor: 0.02) },
        Mutant(testDescription: "sigma 30") { $0.profile(sigma: 30) },
        Mutant(testDescription: "raw histogram") { weighting in
            let (minutes, sum, _) = weighting.masses()
            return minutes.map { $0 / sum }
        },
        Mutant(testDescription: "no prior") { $0.profile(prior: 0) },
        Mutant(testDescription: "half-life of 90 days") { $0.profile(halfLife: 90) },
        Mutant(testDescription: "all weekdays alike") { $0.profile(factors: [1, 1, 1]) },
        Mutant(testDescription: "same weekday thrice") { $0.profile(factors: [3, 1, 0.3]) },
    ]

    static func shifted(_ shares: [Double], by minutes: Int) -> [Double] {
        Array(shares.suffix(minutes) + shares.dropLast(minutes))
    }
}

/// Draws as the original of 2014 did: each drawn minute leaves the table of running shares, which
/// moves all later ones.
private enum OriginalPlanner {
    static func draws(plans: Int, postsPerDay: Int, from shares: [Double]) -> [Double] {
        var running = 0.0
        let table = shares.map { share in
            running += share
            return running
        }
        var generator = SplitMix64(seed: 42)
        var counts = [Double](repeating: 0, count: shares.count)
        for _ in 0..<plans {
            var rest = table
            for _ in 0..<postsPerDay {
                let index = firstIndex(above: generator.nextUniform(), in: rest)
                // The original would end here with an error.
                guard index < rest.count else { continue }
                counts[index] += 1
                rest.remove(at: index)
            }
        }
        return counts
    }

    private static func firstIndex(above u: Double, in table: [Double]) -> Int {
        var low = 0
        var high = table.count
        while low < high {
            let middle = (low + high) / 2
            if table[middle] > u { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

private enum Statistics {
    /// Pearson's sum over bins of the day: Σ (observed - expected)² / expected.
    static func chiSquare(_ observed: [Double], _ shares: [Double], binWidth: Int) -> Double {
        let total = observed.reduce(0, +)
        return stride(from: 0, to: observed.count, by: binWidth).reduce(0) { sum, start in
            let bin = start..<start + binWidth
            let seen = observed[bin].reduce(0, +)
            let expected = shares[bin].reduce(0, +) * total
            return sum + (seen == expected ? 0 : (seen - expected) * (seen - expected) / expected)
        }
    }

    /// Kuiper's statistic: the largest lead and the largest lag of the running shares, times the
    /// root of the number.
    static func kuiper(_ observed: [Double], _ shares: [Double]) -> Double {
        let total = observed.reduce(0, +)
        var difference = 0.0
        var above = 0.0
        var below = 0.0
        for (seen, share) in zip(observed, shares) {
            difference += seen / total - share
            above = max(above, difference)
            below = max(below, -difference)
        }
        return total.squareRoot() * (above + below)
    }
}
