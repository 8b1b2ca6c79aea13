import Foundation
package import Posts

/// Draws the minutes of a day's slots.
///
/// The order in which random numbers are used is part of the contract: the
/// same numbers always give the same minutes.
package struct SlotSampler: Sendable {
    package let distribution: MinuteDistribution
    package let bursts: BurstModel
    package let minimumGapMinutes: Int

    package init(distribution: MinuteDistribution, bursts: BurstModel, minimumGapMinutes: Int) {
        self.distribution = distribution
        self.bursts = bursts
        self.minimumGapMinutes = minimumGapMinutes
    }

    /// Draws up to `count` minutes, ascending, with at least the minimum gap between them.
    ///
    /// Each slot either follows the previous one after one of the observed gaps or is drawn
    /// independently. A slot that is too close to another is drawn again. In all there are 25 tries
    /// for each slot, and 50 more; then the slots without a minute are dropped. If the next slot of
    /// a burst would leave the day or fall on a closed minute, the burst ends.
    ///
    /// - Parameters:
    ///   - count: The number of slots that the day should have.
    ///   - uniform: Returns the next random number from 0, included, to 1, excluded.
    /// - Returns: The minutes that could be placed.
    package func minutes(count: Int, uniform: () -> Double) -> [MinuteOfDay] {
        var placed: [MinuteOfDay] = []
        var previousMinute: MinuteOfDay?
        let maximumAttempts = 25 * min(max(0, count), MinuteOfDay.count) + 50
        for _ in 0..<maximumAttempts where placed.count < count {
            let minute: MinuteOfDay
            if let precedingMinute = previousMinute, bursts.share > 0, uniform() < bursts.share {
                guard let following = minuteFollowing(precedingMinute, uniform()) else {
                    previousMinute = nil
                    continue
                }
                minute = following
            } else {
                guard let drawn = distribution.minute(atUniform: uniform()) else { return [] }
                minute = drawn
            }
            guard placed.allSatisfy({ abs($0.value - minute.value) >= minimumGapMinutes }) else {
                continue
            }
            placed.append(minute)
            previousMinute = minute
        }
        return placed.sorted()
    }

    /// The minute that follows `minute` after a gap drawn from the observed ones.
    ///
    /// - Returns: Nil if that minute is closed or is not in the day.
    private func minuteFollowing(_ minute: MinuteOfDay, _ u: Double) -> MinuteOfDay? {
        let index = min(Int(u * Double(bursts.gaps.count)), bursts.gaps.count - 1)
        guard bursts.gaps.indices.contains(index),
            let next = MinuteOfDay(minute.value + bursts.gaps[index])
        else {
            return nil
        }
        return distribution.isOpen(next) ? next : nil
    }
}

/// How often, and how closely, one post follows another.
package struct BurstModel: Equatable, Sendable {
    /// The longest gap, in minutes, within a burst.
    package static let windowMinutes = 30
    /// The least number of gaps from which bursts are modelled.
    package static let minimumGaps = 50

    /// The share of posts that follow the previous one within `windowMinutes` and not by chance:
    /// from 0 to 0.85.
    package let share: Double
    /// The observed gaps of at most ``windowMinutes``, at least 1 minute each, in ascending order.
    package let gaps: [Int]

    /// The model without bursts.
    package static let none = BurstModel(share: 0, gaps: [])

    package init(share: Double, gaps: [Int]) {
        self.share = gaps.isEmpty ? 0 : share
        self.gaps = gaps
    }

    /// - Parameters:
    ///   - days: The minutes of each past day, ascending within a day.
    ///   - profile: The share of each minute of the day, without regard to weekdays.
    package init(days: [ArraySlice<LocalTime>], profile: [Double]) {
        // The number of gaps of each length, for a counting sort.
        var closeGapCounts = Array(repeating: 0, count: Self.windowMinutes + 1)
        var gapCount = 0
        var dayCounts: [Int: Int] = [:]
        for day in days where day.count > 1 {
            dayCounts[day.count, default: 0] += 1
            gapCount += day.count - 1
            for (earlier, later) in zip(day, day.dropFirst()) {
                let gap = later.minute.value - earlier.minute.value
                if gap <= Self.windowMinutes { closeGapCounts[max(1, gap)] += 1 }
            }
        }
        let expectedShare = Self.independentShare(profile: profile, dayCounts: dayCounts)
        guard gapCount >= Self.minimumGaps, expectedShare < 1 else {
            self = .none
            return
        }
        let observedShare = Double(closeGapCounts.reduce(0, +)) / Double(gapCount)
        // Corrected for chance as in Cohen's kappa.
        let shareBeyondChance = (observedShare - expectedShare) / (1 - expectedShare)
        self.init(
            share: min(0.85, max(0, shareBeyondChance)),
            gaps: closeGapCounts.enumerated().flatMap {
                repeatElement($0.offset, count: $0.element)
            })
    }

    /// Computes the share of close gaps expected by chance.
    ///
    /// - Parameters:
    ///   - profile: The share of each minute of the day.
    ///   - dayCounts: The number of days with each number of posts; days with fewer than two do not
    ///     count.
    /// - Returns: The share of gaps of at most ``windowMinutes`` if all posts chose their minutes
    ///   independently.
    package static func independentShare(profile: [Double], dayCounts: [Int: Int]) -> Double {
        // For a post in each minute, the probability that another post is not within the window
        // after it. Another post in the same minute comes after it with a probability of one half.
        let missProbabilities = profile.indices.map { minute in
            let window = profile[minute...].prefix(windowMinutes + 1).reduce(0, +)
            return max(0, 1 - (window - profile[minute] / 2))
        }
        // For a post in each minute, the probability that none of `exponent` other posts is within
        // the window after it.
        var powers = Array(repeating: 1.0, count: profile.count)
        var exponent = 0
        var expectedGaps = 0.0
        var gapCount = 0.0
        for count in dayCounts.keys.sorted() where count > 1 {
            let exponentStep = count - 1 - exponent
            exponent = count - 1
            var missedShare = 0.0
            for minute in profile.indices {
                powers[minute] *= pow(missProbabilities[minute], Double(exponentStep))
                missedShare += profile[minute] * powers[minute]
            }
            let days = Double(dayCounts[count, default: 0])
            expectedGaps += days * Double(count) * (profile.reduce(0, +) - missedShare)
            gapCount += days * Double(count - 1)
        }
        return gapCount > 0 ? expectedGaps / gapCount : 0
    }
}
