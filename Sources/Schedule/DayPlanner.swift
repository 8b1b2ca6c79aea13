package import Foundation
package import Posts

/// Makes the plan of a day from the human's history.
///
/// The same history, configuration and seed give the same plan. Numbers may
/// differ in the last bit between machines, so the plan that was stored
/// counts, not one drawn again.
package struct DayPlanner: Sendable {
    package let history: PostingHistory
    package let configuration: ScheduleConfiguration
    /// How closely slots may follow one another; the same for every day.
    package let bursts: BurstModel

    package init(history: PostingHistory, configuration: ScheduleConfiguration) {
        self.history = history
        self.configuration = configuration
        self.bursts = configuration.bursts && !history.isEmpty ? history.bursts() : .none
    }

    /// Draws the plan of `day`.
    ///
    /// - Parameters:
    ///   - day: The local day.
    ///   - zone: The human's time zone.
    ///   - mirror: The mirror's name, from which the draws are seeded.
    ///   - seed: What an operator adds to get other draws.
    ///   - firstNumber: The number of the first slot; more than 1 when a day is planned anew.
    /// - Returns: The plan, possibly without slots; nil if the archive tells nothing or the zone skips that day.
    package func plan(
        for day: LocalDay, in zone: TimeZone, mirror: String, seed: String? = nil, firstNumber: Int = 1
    ) -> DayPlan? {
        let minutes = LocalDayMinutes(day, in: zone)
        guard !history.isEmpty, minutes.count > 0 else { return nil }
        let seedValue = PlanSeed.plan(mirror: mirror, day: day, seed: seed)
        var generator = SplitMix64(seed: seedValue)
        let slots = model(for: day, missing: Set(minutes.missing)).minutes(using: &generator)
            .compactMap { minute in minutes.date(of: minute).map { (minute, $0) } }
            .enumerated()
            .map { offset, time in
                Slot(name: Slot.Name(day: day, number: firstNumber + offset), minute: time.0, due: time.1)
            }
        return DayPlan(day: day, timeZoneIdentifier: zone.identifier, seed: seedValue, slots: slots)
    }

    /// What the slots of `day` are drawn from.
    ///
    /// - Parameters:
    ///   - day: The local day.
    ///   - missing: Minutes that the day does not have because clocks are put forward.
    /// - Returns: The model, the same for every day of the same weekday that lacks the same minutes.
    package func model(for day: LocalDay, missing: Set<MinuteOfDay> = []) -> DayModel {
        DayModel(
            counts: history.countDistribution(for: day, configuration: configuration),
            sampler: SlotSampler(
                distribution: history.distribution(for: day, configuration: configuration, missing: missing),
                bursts: bursts, minimumGapMinutes: configuration.minimumGapMinutes),
            maximumPerDay: configuration.maximumPerDay)
    }
}

/// When the bot posts on one local day.
package struct DayPlan: Equatable, Sendable {
    package let day: LocalDay
    /// The IANA name of the zone whose clocks the minutes are read on.
    package let timeZoneIdentifier: String
    /// The seed from which the plan was drawn.
    package let seed: UInt64
    /// The slots in the order of time, each due when its minute begins; none on a day without posts.
    package let slots: [Slot]
}

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
