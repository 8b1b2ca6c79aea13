package import Posts

/// What a day's slots are drawn from: how many there are, and when.
///
/// Only the day's weekday and the minutes it lacks matter, so days that have
/// these in common share a model.
package struct DayModel: Sendable {
    /// How many posts the day gets.
    package let counts: DayCountDistribution
    /// When they are.
    package let sampler: SlotSampler
    /// The most slots of the day.
    package let maximumPerDay: Int

    /// Draws the day's minutes, ascending: first the number of posts, then their places.
    ///
    /// - Parameter generator: Gives the random numbers; a plan's comes from ``PlanSeed``.
    /// - Returns: The minutes; none on a day without posts.
    package func minutes(using generator: inout SplitMix64) -> [MinuteOfDay] {
        let count = min(counts.count(atUniform: generator.nextUniform()) ?? 0, maximumPerDay)
        return sampler.minutes(count: count) { generator.nextUniform() }
    }
}
