package import Foundation
package import Posts

/// Makes the plan of a day from the human's history.
///
/// The same history, configuration and seed give the same plan. Floating-point results may differ
/// in the last bit between machines, so the stored plan is authoritative.
package struct DayPlanner: Sendable {
    /// The version of the model.
    ///
    /// It is increased when the same history and seed give another plan than before. Version 2
    /// models quiet and busy spells, 3 copies whole days, 4 keeps slots in the human's hours, and 5
    /// lets two posts share a minute and thins a busy day evenly.
    package static let modelVersion = 5
    /// The maximum number of days whose plans are previewed to find the numbers of slots before a
    /// planned day.
    package static let longestPreview = 366

    package let history: PostingHistory
    package let configuration: ScheduleConfiguration
    /// How closely slots may follow one another if no day is copied; the same for every day.
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
    ///   - seed: An operator's extra seed, to get other draws.
    ///   - firstNumber: The number of the first slot; more than 1 when a day is planned anew.
    ///   - recent: The days before, see ``recentDays(before:planned:from:in:mirror:)``.
    /// - Returns: The plan, possibly without slots; nil if the archive has no usable times or the
    ///   zone skips that day.
    package func plan(
        for day: LocalDay, in zone: TimeZone, mirror: String, seed: String? = nil,
        firstNumber: Int = 1,
        after recent: RecentDays = .unknown
    ) -> DayPlan? {
        let minutes = LocalDayMinutes(day, in: zone)
        guard !history.isEmpty, minutes.count > 0 else { return nil }
        let seedValue = PlanSeed.plan(mirror: mirror, day: day, seed: seed)
        var generator = SplitMix64(seed: seedValue)
        let drawnDay = model(for: day, missing: Set(minutes.missing)).draw(
            after: recent, using: &generator)
        let slots = drawnDay.minutes
            .compactMap { minute in minutes.date(of: minute).map { (minute: minute, due: $0) } }
            .enumerated()
            .map { offset, slotTime in
                Slot(
                    name: Slot.Name(day: day, number: firstNumber + offset),
                    minute: slotTime.minute, due: slotTime.due)
            }
        return DayPlan(day: day, seed: seedValue, pattern: drawnDay.pattern, slots: slots)
    }

    /// The number of posts of each of the days just before `day`.
    ///
    /// On a day of the history the human's posts are counted. On a later day the bot's slots are
    /// counted; they are planned or previewed.
    ///
    /// - Parameters:
    ///   - planned: The numbers of slots that were planned for days after the history.
    ///   - today: The first day that can still get a plan. From it on, days without a plan are
    ///     previewed in order, at most ``longestPreview`` days before `day`.
    /// - Returns: The known numbers; ``RecentDays/unknown`` if the model does not use them.
    package func recentDays(
        before day: LocalDay, planned: [LocalDay: Int], from today: LocalDay, in zone: TimeZone,
        mirror: String
    ) -> RecentDays {
        guard history.knowsSpells(configuration) else { return .unknown }
        var counts = planned
        var models = DayModels(planner: self, zone: zone)
        var previewedDay = max(
            today, history.asOf.advanced(by: 1), day.advanced(by: -Self.longestPreview))
        while previewedDay < day {
            if counts[previewedDay] == nil, let model = models.model(for: previewedDay) {
                var generator = SplitMix64(seed: PlanSeed.plan(mirror: mirror, day: previewedDay))
                let recent = history.recentDays(before: previewedDay, planned: counts)
                counts[previewedDay] = model.minutes(after: recent, using: &generator).count
            }
            previewedDay = previewedDay.advanced(by: 1)
        }
        return history.recentDays(before: day, planned: counts)
    }

    /// Returns the model from which the slots of `day` are drawn.
    ///
    /// - Parameters:
    ///   - missing: Minutes that the day lacks because clocks are put forward.
    /// - Returns: The model, which is the same for every day of the same weekday that lacks the
    ///   same minutes.
    package func model(for day: LocalDay, missing: Set<MinuteOfDay> = []) -> DayModel {
        let distribution = history.distribution(
            for: day, configuration: configuration, missing: missing)
        let gap = configuration.minimumGapMinutes
        let copier = DayCopier(
            distribution: distribution, hours: history.usedMinutes(), minimumGapMinutes: gap)
        // The raw model needs no limit: in it only minutes with posts have a share.
        let isLimited =
            configuration.model != .raw && history.times.count >= UsedMinutes.fewestPosts
        let drawnDistribution = isLimited ? copier.rankDistribution : distribution
        return DayModel(
            counts: history.counts(for: day, configuration: configuration),
            distribution: distribution,
            sampler: SlotSampler(
                distribution: drawnDistribution, bursts: bursts, minimumGapMinutes: gap),
            copier: copier,
            maximumPerDay: configuration.maximumPerDay,
            copiedHistory: history.copiesDays(configuration) ? history : nil)
    }
}

/// The plan of one local day.
package struct DayPlan: Equatable, Sendable {
    package let day: LocalDay
    /// The seed from which the plan was drawn.
    package let seed: UInt64
    /// The human's day that the slots are modelled on; nil if minutes were drawn one by one.
    package let pattern: PastDay?
    /// The slots in the order of time, each due when its minute begins; none on a day without
    /// posts.
    package let slots: [Slot]
}

/// The model from which the number and the minutes of a day's slots are drawn.
///
/// The model depends only on the day's weekday and missing minutes, so days that have these in
/// common share a model. The numbers of posts of the days before are passed to
/// ``draw(after:using:)``.
package struct DayModel: Sendable {
    /// The distribution of the number of posts.
    package let counts: DayCountModel
    /// The distribution of the minutes of the human's posts.
    package let distribution: MinuteDistribution
    /// Draws the minutes one by one.
    package let sampler: SlotSampler
    /// Copies one of the human's days.
    package let copier: DayCopier
    /// The most slots of the day.
    package let maximumPerDay: Int
    /// The human's days to copy from; nil if minutes are drawn one by one.
    fileprivate let copiedHistory: PostingHistory?

    /// Draws the day: first the past day it is modelled on, then the minutes.
    ///
    /// - Parameters:
    ///   - generator: The random numbers; a plan's seed comes from ``PlanSeed``.
    /// - Returns: The minutes, none on a day without posts.
    package func draw(after recent: RecentDays = .unknown, using generator: inout SplitMix64)
        -> DayDraw
    {
        draw(from: counts.distribution(after: recent), using: &generator)
    }

    /// Draws the minutes alone.
    package func minutes(after recent: RecentDays = .unknown, using generator: inout SplitMix64)
        -> [MinuteOfDay]
    {
        draw(after: recent, using: &generator).minutes
    }

    /// Draws a day like ``draw(after:using:)``, from a distribution that was computed before.
    package func draw(from dayCounts: DayCountDistribution, using generator: inout SplitMix64)
        -> DayDraw
    {
        guard let index = dayCounts.index(atUniform: generator.nextUniform()) else {
            return DayDraw()
        }
        guard let copiedHistory else {
            let count = min(dayCounts.counts[index], maximumPerDay)
            return DayDraw(minutes: sampler.minutes(count: count) { generator.nextUniform() })
        }
        let day = copiedHistory.dailyCounts.first.advanced(by: index)
        let past = copiedHistory.minutes(of: day)
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
        // The post in the middle of each of `limit` equal parts of the day is kept.
        return (0..<limit).map { minutes[(2 * $0 + 1) * minutes.count / (2 * limit)] }
    }
}

/// The minutes of a day, as drawn.
package struct DayDraw: Equatable, Sendable {
    /// The minutes, ascending; none on a day without posts.
    package var minutes: [MinuteOfDay] = []
    /// The human's day on which the minutes are modelled; nil if they were drawn one by one.
    package var pattern: PastDay?
}

/// One of the human's days.
package struct PastDay: Hashable, Sendable {
    package let day: LocalDay
    /// The human's number of posts, including those that exceed the bot's limit.
    package let posts: Int
}

/// A cache of the models of days.
///
/// Days of the same weekday that lack the same minutes share a model, so a thousand days cost
/// little more than seven.
package struct DayModels {
    /// The facts that days with the same model have in common.
    private struct DayKind: Hashable {
        let weekday: Int
        /// The minutes that clocks skip on such a day.
        let skippedMinutes: [MinuteOfDay]
    }

    private let planner: DayPlanner
    private let zone: TimeZone?
    private var models: [DayKind: DayModel] = [:]

    /// - Parameters:
    ///   - zone: The zone of the days; nil for days of 1,440 minutes.
    package init(planner: DayPlanner, zone: TimeZone?) {
        self.planner = planner
        self.zone = zone
    }

    /// The model of a day; nil if the zone skips that day.
    package mutating func model(for day: LocalDay) -> DayModel? {
        let minutes = zone.map { LocalDayMinutes(day, in: $0) }
        if let minutes, minutes.count == 0 { return nil }
        let kind = DayKind(weekday: day.weekday, skippedMinutes: minutes?.missing ?? [])
        let model = models[kind] ?? planner.model(for: day, missing: Set(kind.skippedMinutes))
        models[kind] = model
        return model
    }
}
