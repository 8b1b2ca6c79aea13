import Foundation
package import Posts

/// How likely each of the 1,440 minutes of a day is for a post.
package struct MinuteDistribution: Equatable, Sendable {
    /// What the kernel model derived from the weights.
    package struct Smoothing: Equatable, Sendable {
        /// How many equally weighted posts would tell as much: S² / Σ a².
        package let effectiveCount: Double
        /// The standard deviation of the kernel in minutes.
        package let sigma: Double
    }

    /// The share of each minute; they sum to 1, or are all 0 if no minute is open.
    package let probabilities: [Double]
    /// How the profile was smoothed; nil in the raw model.
    package let smoothing: Smoothing?
    private let table: CumulativeTable
    private let isClosed: [Bool]

    /// The running totals of whole weights, the last of which is the total of all.
    package var cumulative: [UInt64] { table.totals }

    /// - Parameters:
    ///   - shares: The share of each minute before any is closed.
    ///   - closed: Minutes that must never be drawn.
    ///   - rounding: Whether minutes of share 0 can be drawn.
    ///   - smoothing: How `shares` came about.
    package init(
        shares: [Double], closed: Set<MinuteOfDay>, rounding: CumulativeTable.Rounding, smoothing: Smoothing? = nil
    ) {
        let isClosed = Self.flags(closed)
        let open = zip(shares, isClosed).map { share, isClosed in isClosed ? 0 : share }
        let sum = open.reduce(0, +)
        self.probabilities = sum > 0 ? open.map { $0 / sum } : open
        self.table = CumulativeTable(weights: shares, rounding: rounding) { isClosed[$0] }
        self.isClosed = isClosed
        self.smoothing = smoothing
    }

    /// The minute at which the running share first exceeds `u`; nil if no minute is open.
    package func minute(atUniform u: Double) -> MinuteOfDay? { table.index(atUniform: u).flatMap { MinuteOfDay($0) } }

    /// Whether posts may fall on `minute` at all: it is neither missing nor quiet.
    package func isOpen(_ minute: MinuteOfDay) -> Bool { !isClosed[minute.value] }

    /// Smooths weighted minutes to a profile.
    ///
    /// A kernel density on the circle of the day, drawn towards the general
    /// profile where the archive is thin, with a small floor under every
    /// minute.
    ///
    /// - Parameters:
    ///   - weights: The sum of weights of each minute.
    ///   - squares: The sum of squared weights, over all posts.
    ///   - closed: Minutes that must never be drawn.
    /// - Returns: The profile, in which every minute that is not closed can be drawn.
    package static func kernel(
        weights: [Double], squares: Double, closed: Set<MinuteOfDay> = []
    ) -> MinuteDistribution {
        let sum = weights.reduce(0, +)
        let effectiveCount = squares > 0 ? sum * sum / squares : 0
        let sigma = bandwidth(effectiveCount: effectiveCount)
        let density = CircularKernel.gaussian(sigma: sigma).smooth(weights)
        let priorWeight = 30.0
        let shares = zip(density, PriorProfile.probabilities).map { density, prior in
            let own = sum > 0 ? effectiveCount * density / sum : 0
            return withFloor((own + priorWeight * prior) / (effectiveCount + priorWeight))
        }
        return MinuteDistribution(
            shares: shares, closed: closed, rounding: .atLeastOne,
            smoothing: Smoothing(effectiveCount: effectiveCount, sigma: sigma))
    }

    /// Makes the bare histogram a distribution.
    ///
    /// If every post of the archive fell into minutes that the day does not
    /// have, they move forward by the length of that gap.
    ///
    /// - Parameters:
    ///   - counts: The number of posts in each minute.
    ///   - missing: Minutes that the local day does not have.
    ///   - quiet: Other minutes that must never be drawn.
    /// - Returns: The distribution, in which empty minutes stay empty.
    package static func raw(
        counts: [Double], missing: Set<MinuteOfDay> = [], quiet: Set<MinuteOfDay> = []
    ) -> MinuteDistribution {
        let sum = counts.reduce(0, +)
        let shares = counts.map { sum > 0 ? $0 / sum : 0 }
        let isMissing = flags(missing)
        let isAllMissing = zip(shares, isMissing).allSatisfy { share, isMissing in isMissing || share == 0 }
        return MinuteDistribution(
            shares: isAllMissing ? movedForward(shares, past: isMissing) : shares,
            closed: missing.union(quiet), rounding: .down)
    }

    /// The kernel's standard deviation in minutes: 20 for 1,000 posts, wider for fewer.
    package static func bandwidth(effectiveCount: Double) -> Double {
        guard effectiveCount > 0 else { return 90 }
        return min(90, max(15, 20 * pow(1_000 / effectiveCount, 0.3)))
    }

    /// A share with one per cent of all mass spread evenly over the day.
    package static func withFloor(_ share: Double) -> Double { 0.99 * share + 0.01 / Double(MinuteOfDay.count) }

    private static func flags(_ minutes: Set<MinuteOfDay>) -> [Bool] {
        var flags = Array(repeating: false, count: MinuteOfDay.count)
        for minute in minutes { flags[minute.value] = true }
        return flags
    }

    private static func movedForward(_ shares: [Double], past isMissing: [Bool]) -> [Double] {
        var moved = Array(repeating: 0.0, count: shares.count)
        var start = 0
        while start < shares.count {
            guard isMissing[start] else {
                start += 1
                continue
            }
            let end = isMissing[start...].firstIndex(of: false) ?? isMissing.count
            for minute in start..<end where minute + end - start < moved.count {
                moved[minute + end - start] += shares[minute]
            }
            start = end
        }
        return moved
    }
}
