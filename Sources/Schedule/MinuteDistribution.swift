import Foundation
package import Posts

/// The probability of each of the 1,440 minutes of a day for a post.
package struct MinuteDistribution: Equatable, Sendable {
    /// The parameters that the kernel model derived from the weights.
    package struct Smoothing: Equatable, Sendable {
        /// Kish's effective sample size of the weighted posts: the square of the sum of the
        /// weights, divided by the sum of the squared weights.
        package let effectiveCount: Double
        /// The standard deviation of the kernel in minutes.
        package let sigma: Double
    }

    /// The share of each minute; they sum to 1, or are all 0 if no minute is open.
    package let probabilities: [Double]
    /// The parameters of the smoothing; nil in the raw model.
    package let smoothing: Smoothing?
    private let table: CumulativeTable
    private let isClosed: [Bool]

    /// - Parameters:
    ///   - shares: The share of each minute before any is closed.
    ///   - closed: Minutes that must never be drawn.
    ///   - rounding: Whether minutes of share 0 can be drawn.
    package init(
        shares: [Double], closed: Set<MinuteOfDay>, rounding: CumulativeTable.Rounding,
        smoothing: Smoothing? = nil
    ) {
        let closedFlags = Self.flags(closed)
        let openShares = zip(shares, closedFlags).map { share, isClosed in isClosed ? 0 : share }
        let sum = openShares.reduce(0, +)
        self.probabilities = sum > 0 ? openShares.map { $0 / sum } : openShares
        self.table = CumulativeTable(weights: shares, rounding: rounding) { closedFlags[$0] }
        self.isClosed = closedFlags
        self.smoothing = smoothing
    }

    /// The first minute at which the cumulative share exceeds `u`; nil if no minute is open.
    package func minute(atUniform u: Double) -> MinuteOfDay? {
        table.index(atUniform: u).flatMap { MinuteOfDay($0) }
    }

    /// The inverse of ``minute(atUniform:)``: the cumulative share before `minute`, plus a part of
    /// its own; nil if no minute is open.
    package func uniform(at minute: MinuteOfDay, part: Double) -> Double? {
        table.uniform(at: minute.value, part: part)
    }

    /// Whether posts may fall on `minute`: it is neither missing nor quiet.
    package func isOpen(_ minute: MinuteOfDay) -> Bool { !isClosed[minute.value] }

    /// The distribution without the minutes outside `hours`; nil if no minute is open then.
    package func limited(to hours: UsedMinutes) -> MinuteDistribution? {
        let closedMinutes = (0..<MinuteOfDay.count).compactMap { MinuteOfDay($0) }
            .filter { !isOpen($0) || !hours.contains($0) }
        guard closedMinutes.count < MinuteOfDay.count else { return nil }
        return MinuteDistribution(
            shares: probabilities, closed: Set(closedMinutes), rounding: .atLeastOne,
            smoothing: smoothing)
    }

    /// Smooths weighted minutes to a profile.
    ///
    /// The profile is a kernel density estimate on the 24-hour circle. It is shrunk towards the
    /// general profile (`PriorProfile`), the more so the fewer posts there are. Every minute has a
    /// small minimum share.
    ///
    /// - Parameters:
    ///   - weights: The sum of weights of each minute.
    ///   - squares: The sum of squared weights, over all posts.
    ///   - closed: Minutes that must never be drawn.
    /// - Returns: The profile, in which every open minute can be drawn.
    package static func kernel(
        weights: [Double], squares: Double, closed: Set<MinuteOfDay> = []
    ) -> MinuteDistribution {
        let weightSum = weights.reduce(0, +)
        let effectiveCount = squares > 0 ? weightSum * weightSum / squares : 0
        let sigma = bandwidth(effectiveCount: effectiveCount)
        let density = CircularKernel.gaussian(sigma: sigma).smooth(weights)
        // A Dirichlet prior: the general profile counts as much as this number of posts.
        let priorWeight = 30.0
        let shares = zip(density, PriorProfile.probabilities).map { density, prior in
            let humanPosts = weightSum > 0 ? effectiveCount * density / weightSum : 0
            return withFloor((humanPosts + priorWeight * prior) / (effectiveCount + priorWeight))
        }
        return MinuteDistribution(
            shares: shares, closed: closed, rounding: .atLeastOne,
            smoothing: Smoothing(effectiveCount: effectiveCount, sigma: sigma))
    }

    /// Makes a distribution of the unsmoothed histogram.
    ///
    /// If every post of the archive falls into minutes that the day lacks, the posts are moved
    /// forward by the length of the gap.
    ///
    /// - Parameters:
    ///   - counts: The number of posts in each minute.
    ///   - missing: Minutes that the local day lacks.
    ///   - quiet: The quiet minutes, which must never be drawn either.
    /// - Returns: The distribution, in which empty minutes stay empty.
    package static func raw(
        counts: [Double], missing: Set<MinuteOfDay> = [], quiet: Set<MinuteOfDay> = []
    ) -> MinuteDistribution {
        let postCount = counts.reduce(0, +)
        let shares = counts.map { postCount > 0 ? $0 / postCount : 0 }
        let missingFlags = flags(missing)
        let isAllMissing = zip(shares, missingFlags).allSatisfy { share, isMissing in
            isMissing || share == 0
        }
        return MinuteDistribution(
            shares: isAllMissing ? movedForward(shares, past: missingFlags) : shares,
            closed: missing.union(quiet), rounding: .down)
    }

    /// The kernel's standard deviation in minutes, from 15 to 90: 20 for 1,000 posts, wider for
    /// fewer.
    package static func bandwidth(effectiveCount: Double) -> Double {
        guard effectiveCount > 0 else { return 90 }
        return min(90, max(15, 20 * pow(1_000 / effectiveCount, 0.3)))
    }

    /// Returns a minute's share after one per cent of the distribution was spread evenly over the
    /// day.
    package static func withFloor(_ share: Double) -> Double {
        0.99 * share + 0.01 / Double(MinuteOfDay.count)
    }

    /// For each minute of the day, whether it is one of `minutes`.
    private static func flags(_ minutes: Set<MinuteOfDay>) -> [Bool] {
        var flags = Array(repeating: false, count: MinuteOfDay.count)
        for minute in minutes { flags[minute.value] = true }
        return flags
    }

    /// Moves the share of each missing minute forward by the length of its gap.
    ///
    /// Shares that would pass midnight, and those of minutes that are not missing, are left out.
    private static func movedForward(_ shares: [Double], past isMissing: [Bool]) -> [Double] {
        var movedShares = Array(repeating: 0.0, count: shares.count)
        var gapStart = 0
        while gapStart < shares.count {
            guard isMissing[gapStart] else {
                gapStart += 1
                continue
            }
            let gapEnd = isMissing[gapStart...].firstIndex(of: false) ?? isMissing.count
            for minute in gapStart..<gapEnd where minute + gapEnd - gapStart < movedShares.count {
                movedShares[minute + gapEnd - gapStart] += shares[minute]
            }
            gapStart = gapEnd
        }
        return movedShares
    }
}

/// A symmetric weighting of neighbouring minutes, on the circle of the day.
package struct CircularKernel: Sendable {
    /// The weight at distance 0, 1, 2 … minutes; with both sides counted they sum to 1.
    private let halfTaps: [Double]

    /// - Parameter halfTaps: Relative weights at distance 0, 1, 2 … minutes, at most 720 of them.
    package init(halfTaps: [Double]) {
        let taps = Array(halfTaps.prefix(MinuteOfDay.count / 2))
        let tapSum = taps.dropFirst().reduce(taps.first ?? 0) { $0 + 2 * $1 }
        self.halfTaps = tapSum > 0 ? taps.map { $0 / tapSum } : [1]
    }

    /// Makes a Gaussian curve, cut off at four standard deviations or at half a day.
    ///
    /// - Parameter sigma: The standard deviation in minutes.
    package static func gaussian(sigma: Double) -> CircularKernel {
        let reach = Int(min(719, max(0, 4 * sigma)))
        return CircularKernel(
            halfTaps: (0...reach).map { distance in
                distance == 0 ? 1 : exp(-Double(distance * distance) / (2 * sigma * sigma))
            })
    }

    /// Smooths values; the last minute neighbours the first.
    ///
    /// - Parameter values: One value for each minute of the day.
    /// - Returns: The smoothed values, with the same sum.
    package func smooth(_ values: [Double]) -> [Double] {
        guard values.count == MinuteOfDay.count else { return values }
        let reach = halfTaps.count - 1
        // Each end is padded with values from the other end of the day.
        let padded = Array(values.suffix(reach)) + values + Array(values.prefix(reach))
        let taps = halfTaps.dropFirst().reversed() + halfTaps
        return padded.withUnsafeBufferPointer { padded in
            taps.withUnsafeBufferPointer { taps in
                (0..<MinuteOfDay.count).map { minute in
                    var sum = 0.0
                    for offset in 0..<taps.count { sum += taps[offset] * padded[minute + offset] }
                    return sum
                }
            }
        }
    }
}

/// The general profile of people's posts, used before a person's own is known.
///
/// It is the smoothed mean, by local hour of the day, of the archives of 46 to 49 people. It
/// matters for archives of fewer than about 300 posts.
package enum PriorProfile {
    /// The share of each minute of the day; they sum to 1.
    package static let probabilities: [Double] = {
        // The relative number of posts in each local hour, from midnight on.
        let hours: [Double] = [
            27, 16, 10, 6, 5, 8, 14, 26, 42, 53, 60, 61, 58, 57, 57, 54, 55, 55, 57, 63, 67, 57, 50,
            40,
        ]
        let minutes = hours.flatMap { Array(repeating: $0 / 60, count: 60) }
        let smooth = CircularKernel.gaussian(sigma: 30).smooth(minutes)
        let sum = smooth.reduce(0, +)
        return smooth.map { $0 / sum }
    }()
}
