package import Foundation
package import Posts

/// Makes the plan of a day from the human's history.
///
/// The same history, configuration and seed give the same plan. Numbers may
/// differ in the last bit between machines, so the plan that was stored
/// counts, not one drawn again.
package struct DayPlanner: Sendable {
    /// Raised when the same history and seed give another plan: 2 since quiet and busy spells are
    /// known, 3 since whole days are copied, 4 since slots stay in the human's hours, 5 since two
    /// posts may share a minute and a busy day is thinned evenly.
    package static let modelVersion = 5
    /// How many days before a day are previewed to know the state in which it begins.
    package static let longestPreview = 366

    package let history: PostingHistory
    package let configuration: ScheduleConfiguration
    /// How closely slots may follow one another where no day is copied; the same for every day.
    package let bursts: BurstModel

    package init(history: PostingHistory, configuration: ScheduleConfiguration) {
        self.history = history
        self.configuration = configuration
        let needsBursts =
            configuration.bursts && !history.isEmpty && !history.copiesDays(configuration)
        self.bursts = needsBursts ? history.bursts() : .none
    }

    /// Draws the plan of `day`.
    ///
    /// - Parameters:
    ///   - seed: What an operator adds to get other draws.
    ///   - firstNumber: The number of the first slot; more than 1 when a day is planned anew.
    ///   - recent: The days before, see ``recentDays(before:planned:from:in:mirror:)``.
    /// - Returns: The plan, possibly without slots; nil if the archive tells nothing or the zone
    ///   skips that day.
    package func plan(
        for day: LocalDay, in zone: TimeZone, mirror: String, seed: String? = nil,
        firstNumber: Int = 1,
        after recent: RecentDays = .unknown
    ) -> DayPlan? {
        let minutes = LocalDayMinutes(day, in: zone)
        guard !history.isEmpty, minutes.count > 0 else { return nil }
        let seedValue = PlanSeed.plan(mirror: mirror, day: day, seed: seed)
        var generator = SplitMix64(seed: seedValue)
        let drawn = model(for: day, missing: Set(minutes.missing)).draw(
            after: recent, using: &generator)
        let slots = drawn.minutes
            .compactMap { minute in minutes.date(of: minute).map { (minute, $0) } }
            .enumerated()
            .map { offset, time in
                Slot(
                    name: Slot.Name(day: day, number: firstNumber + offset), minute: time.0,
                    due: time.1)
            }
        return DayPlan(day: day, seed: seedValue, pattern: drawn.pattern, slots: slots)
    }

    /// The days just before `day`, as the human or the bot lived them or will.
    ///
    /// - Parameters:
    ///   - planned: With how many slots days after the history were planned.
    ///   - today: The first day that will still get a plan if it has none: such days are previewed,
    ///     the earlier ones first, ``longestPreview`` of them at most.
    /// - Returns: What is known; ``RecentDays/unknown`` where it would not matter.
    package func recentDays(
        before day: LocalDay, planned: [LocalDay: Int], from today: LocalDay, in zone: TimeZone,
        mirror: String
    ) -> RecentDays {
        guard history.knowsSpells(configuration) else { return .unknown }
        var counts = planned
        var models = DayModels(planner: self, zone: zone)
        var next = max(today, history.asOf.advanced(by: 1), day.advanced(by: -Self.longestPreview))
        while next < day {
            if counts[next] == nil, let model = models.model(for: next) {
                var generator = SplitMix64(seed: PlanSeed.plan(mirror: mirror, day: next))
                let recent = history.recentDays(before: next, planned: counts)
                counts[next] = model.minutes(after: recent, using: &generator).count
            }
            next = next.advanced(by: 1)
        }
        return history.recentDays(before: day, planned: counts)
    }

    /// Returns the model from which the slots of `day` are drawn.
    ///
    /// - Parameters:
    ///   - missing: Minutes that the day does not have because clocks are put forward.
    /// - Returns: The model, the same for every day of the same weekday that lacks the same
    ///   minutes.
    package func model(for day: LocalDay, missing: Set<MinuteOfDay> = []) -> DayModel {
        let distribution = history.distribution(
            for: day, configuration: configuration, missing: missing)
        let gap = configuration.minimumGapMinutes
        let copier = DayCopier(
            distribution: distribution, hours: history.usedMinutes(), minimumGapMinutes: gap)
        // In the raw model only used minutes have a share.
        let isLimited =
            configuration.model != .raw && history.times.count >= UsedMinutes.fewestPosts
        let open = isLimited ? copier.ranks : distribution
        return DayModel(
            counts: history.counts(for: day, configuration: configuration),
            distribution: distribution,
            sampler: SlotSampler(distribution: open, bursts: bursts, minimumGapMinutes: gap),
            copier: copier,
            maximumPerDay: configuration.maximumPerDay,
            copied: history.copiesDays(configuration) ? history : nil)
    }
}

/// When the bot posts on one local day.
package struct DayPlan: Equatable, Sendable {
    package let day: LocalDay
    /// The seed from which the plan was drawn.
    package let seed: UInt64
    /// The day of the human's whose posts the slots take after; nil where minutes were drawn one by
    /// one.
    package let pattern: PastDay?
    /// The slots in the order of time, each due when its minute begins; none on a day without
    /// posts.
    package let slots: [Slot]
}

/// The model from which a day's slots are drawn: how many there are, and when.
///
/// Only the day's weekday and the minutes it lacks matter, so days that have
/// these in common share a model; the days before it come in when it is drawn.
package struct DayModel: Sendable {
    /// How many posts the day gets.
    package let counts: DayCountModel
    /// How likely each minute is for a post of the human's.
    package let distribution: MinuteDistribution
    /// Draws the minutes one by one.
    package let sampler: SlotSampler
    /// Copies one of the human's days.
    package let copier: DayCopier
    /// The most slots of the day.
    package let maximumPerDay: Int
    /// The human's days, to copy one of them; nil where minutes are drawn one by one.
    fileprivate let copied: PostingHistory?

    /// Draws the day: first which past day it takes after, then the minutes.
    ///
    /// - Parameters:
    ///   - generator: Gives the random numbers; a plan's comes from ``PlanSeed``.
    /// - Returns: The minutes, none on a day without posts.
    package func draw(after recent: RecentDays = .unknown, using generator: inout SplitMix64)
        -> DayDraw
    {
        draw(from: counts.distribution(after: recent), using: &generator)
    }

    /// The minutes alone.
    package func minutes(after recent: RecentDays = .unknown, using generator: inout SplitMix64)
        -> [MinuteOfDay]
    {
        draw(after: recent, using: &generator).minutes
    }

    /// The same as ``draw(after:using:)`` where it is known what the past day is drawn from.
    package func draw(from counts: DayCountDistribution, using generator: inout SplitMix64)
        -> DayDraw
    {
        guard let index = counts.index(atUniform: generator.nextUniform()) else { return DayDraw() }
        guard let copied else {
            let count = min(counts.counts[index], maximumPerDay)
            return DayDraw(minutes: sampler.minutes(count: count) { generator.nextUniform() })
        }
        let day = copied.dailyCounts.first.advanced(by: index)
        let past = copied.minutes(of: day)
        return DayDraw(
            minutes: copier.minutes(like: Self.thinned(past, to: maximumPerDay)) {
                generator.nextUniform()
            },
            pattern: PastDay(day: day, posts: past.count))
    }

    /// Returns at most `limit` minutes of a day, evenly spread over its posts, so that a busy day
    /// does not end at noon.
    static func thinned(_ minutes: [MinuteOfDay], to limit: Int) -> [MinuteOfDay] {
        guard minutes.count > limit else { return minutes }
        // The middle of each of `limit` equal parts.
        return (0..<limit).map { minutes[(2 * $0 + 1) * minutes.count / (2 * limit)] }
    }
}

/// The minutes of a day as they were drawn.
package struct DayDraw: Equatable, Sendable {
    /// Ascending; none on a day without posts.
    package var minutes: [MinuteOfDay] = []
    /// The day of the human's that they take after; nil where they were drawn one by one.
    package var pattern: PastDay?
}

/// One of the human's days.
package struct PastDay: Hashable, Sendable {
    package let day: LocalDay
    /// How many posts the human made, those that were too many for a day of the bot among them.
    package let posts: Int
}

/// The models of days, each made once for all days that share it: a thousand days cost little more
/// than seven.
package struct DayModels {
    private struct Kind: Hashable {
        let weekday: Int
        let missing: [MinuteOfDay]
    }

    private let planner: DayPlanner
    private let zone: TimeZone?
    private var known: [Kind: DayModel] = [:]

    /// - Parameters:
    ///   - zone: The zone whose clocks show the days; nil for days of 1,440 minutes.
    package init(planner: DayPlanner, zone: TimeZone?) {
        self.planner = planner
        self.zone = zone
    }

    /// The model of a day; nil if the zone skips that day.
    package mutating func model(for day: LocalDay) -> DayModel? {
        let minutes = zone.map { LocalDayMinutes(day, in: $0) }
        if let minutes, minutes.count == 0 { return nil }
        let kind = Kind(weekday: day.weekday, missing: minutes?.missing ?? [])
        let model = known[kind] ?? planner.model(for: day, missing: Set(kind.missing))
        known[kind] = model
        return model
    }
}
