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

    /// Draws up to `count` minutes, ascending, none nearer to another than the minimum gap.
    ///
    /// Each slot either follows the one drawn before by one of the observed
    /// gaps or is drawn afresh. A slot that cannot be placed is drawn again;
    /// after 25 tries a slot and 50 more, what is left is dropped. Following
    /// ends where it would leave the day or enter a closed minute.
    ///
    /// - Parameters:
    ///   - count: How many slots the day should have.
    ///   - uniform: Gives the next random number from 0, included, to 1, excluded.
    /// - Returns: The minutes that could be placed.
    package func minutes(count: Int, uniform: () -> Double) -> [MinuteOfDay] {
        var placed: [MinuteOfDay] = []
        var previous: MinuteOfDay?
        for _ in 0..<25 * min(max(0, count), MinuteOfDay.count) + 50 where placed.count < count {
            let minute: MinuteOfDay
            if let last = previous, bursts.share > 0, uniform() < bursts.share {
                guard let following = minuteFollowing(last, uniform()) else {
                    previous = nil
                    continue
                }
                minute = following
            } else {
                guard let drawn = distribution.minute(atUniform: uniform()) else { return [] }
                minute = drawn
            }
            guard placed.allSatisfy({ abs($0.value - minute.value) >= minimumGapMinutes }) else { continue }
            placed.append(minute)
            previous = minute
        }
        return placed.sorted()
    }

    private func minuteFollowing(_ minute: MinuteOfDay, _ u: Double) -> MinuteOfDay? {
        let index = min(Int(u * Double(bursts.gaps.count)), bursts.gaps.count - 1)
        guard bursts.gaps.indices.contains(index), let next = MinuteOfDay(minute.value + bursts.gaps[index]) else {
            return nil
        }
        return distribution.isOpen(next) ? next : nil
    }
}
