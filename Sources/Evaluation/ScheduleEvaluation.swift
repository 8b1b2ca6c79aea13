package import Foundation
package import Posts
package import Schedule

/// Measures how well a schedule learned from the first four fifths of somebody's posts fits the
/// rest.
///
/// The learned model stays as it is from the cut on: neither the profile nor the counts see a
/// held-out post, and age is counted from the last day to learn from. The weekday of each held-out
/// day chooses the profile, as it does for a plan. Only where days of bot and human are told apart
/// does the bot go on learning, as one does whose human is followed.
package struct ScheduleEvaluation: Sendable {
    /// How often the held-out days are simulated unless told otherwise.
    package static let usualRepetitions = 20

    /// A bot that follows its human learns anew after so many days.
    private static let lessonDays = 30
    /// How often it does so at most.
    private static let mostLessons = 40
    /// And how many posts it may learn in all.
    private static let mostPostsLearned = 4_000_000

    private let configuration: ScheduleConfiguration
    private let zone: TimeZone?
    private let repetitions: Int

    /// - Parameters:
    ///   - configuration: How is learned and planned. Its quiet minutes are set aside: they are not
    ///     the human's.
    ///   - zone: The zone whose clocks the times were read on; nil if each was read at an offset of
    ///     its own.
    ///   - repetitions: How often the held-out days are simulated, at least once.
    package init(
        configuration: ScheduleConfiguration = ScheduleConfiguration(), zone: TimeZone? = nil,
        repetitions: Int = usualRepetitions
    ) {
        var configuration = configuration
        configuration.quiet = []
        self.configuration = configuration
        self.zone = zone
        self.repetitions = max(1, repetitions)
    }

    /// Measures the schedule on somebody's posts; the same posts and name give the same numbers.
    ///
    /// - Parameters:
    ///   - times: The posts in the order in which they were made.
    ///   - name: Whose they are; the simulated days are drawn from it.
    /// - Returns: The measures.
    /// - Throws: ``TooFewPosts`` with what is missing.
    package func scores(of times: [LocalTime], name: String) throws(TooFewPosts) -> ScheduleScores {
        try measure(times, name: name).scores
    }

    /// The same, and the days by which bot and human are told apart.
    func measure(
        _ times: [LocalTime], name: String
    ) throws(TooFewPosts) -> (scores: ScheduleScores, days: BotOrHuman.Days) {
        let split = try HeldOutSplit(times)
        let precedingDays = split.precedingDays
        let preceding = split.training.filter { $0.day >= precedingDays[0] }
        let models = models(of: split, learnedFrom: split.training)
        let model = models.logLikelihood(of: split.testing)
        let histogram = Self.logLikelihood(
            of: split.testing, PlainProfile.histogram(of: split.training))
        let kernel = Self.logLikelihood(of: split.testing, PlainProfile.kernel(of: split.training))
        let heldOut = Rhythm(of: split.testing, on: models.days)
        let lives = simulated(models, name: name)
        let bot = Rhythm.Distance.mean(of: lives.map { $0.distance(to: heldOut) })
        let human = Rhythm(of: preceding, on: precedingDays).distance(to: heldOut)
        let ahead = DayAhead(times, configuration)
        let days = followed(times, split, name: name)
        let told = BotOrHuman([days])
        let scores = ScheduleScores([
            .trainingPosts: Double(split.training.count), .testedPosts: Double(split.testing.count),
            .logLikelihood: model, .histogramLogLikelihood: histogram, .kernelLogLikelihood: kernel,
            .humanLogLikelihood: preceding.isEmpty
                ? nil
                : self.models(of: split, learnedFrom: preceding).logLikelihood(of: split.testing),
            .histogramGain: model - histogram, .kernelGain: model - kernel,
            .dailyCounts: bot.dailyCounts, .humanDailyCounts: human.dailyCounts,
            .gaps: bot.gaps, .humanGaps: human.gaps,
            .firstPost: bot.firstMinutes, .humanFirstPost: human.firstMinutes,
            .autocorrelation: Rhythm.meanAutocorrelation(of: lives),
            .humanAutocorrelation: heldOut.autocorrelation,
            .hours: bot.hours, .humanHours: human.hours,
            .weekTotals: bot.weekTotals, .humanWeekTotals: human.weekTotals,
            .dayAhead: ahead?.spells.nats, .plainDayAhead: ahead?.plain.nats,
            .dayAheadError: ahead?.spells.error, .plainDayAheadError: ahead?.plain.error,
            .toldApart: told.all, .severalToldApart: told.several, .shapeToldApart: told.shape,
        ])
        return (scores, days)
    }

    /// The held-out days, and those that a bot lives whose human is followed: each is drawn after
    /// the human's own days.
    ///
    /// So it is the days themselves that tell them apart, and not that people post less over the
    /// years. The bot learns anew every month, or less often where that would take long.
    private func followed(_ times: [LocalTime], _ split: HeldOutSplit, name: String)
        -> BotOrHuman.Days
    {
        let past = PostingHistory(times: times)
        let seed = PlanSeed.plan(mirror: name, day: split.firstDay, seed: "evaluation of days")
        var generator = SplitMix64(seed: seed)
        let lessons = min(Self.mostLessons, max(1, Self.mostPostsLearned / times.count))
        let length = max(Self.lessonDays, (split.dayCount + lessons - 1) / lessons)
        var days = BotOrHuman.Days()
        for start in stride(from: 0, to: split.dayCount, by: length) {
            let history = PostingHistory(times: times, asOf: split.asOf.advanced(by: start))
            var models = DayModels(
                planner: DayPlanner(history: history, configuration: configuration), zone: zone)
            var known = FrozenModels.KnownCounts()
            for offset in start..<min(start + length, split.dayCount) {
                let day = split.firstDay.advanced(by: offset)
                guard let model = models.model(for: day) else { continue }
                let counts = known.counts(
                    of: model, on: day, after: past.recentDays(before: day, planned: [:]))
                days.bot.append(model.draw(from: counts, using: &generator).minutes)
                days.human.append(past.minutes(of: day))
            }
        }
        return days
    }

    private func models(of split: HeldOutSplit, learnedFrom times: [LocalTime]) -> FrozenModels {
        let history = PostingHistory(times: times, asOf: split.asOf)
        return FrozenModels(
            planner: DayPlanner(history: history, configuration: configuration), zone: zone,
            firstDay: split.firstDay, count: split.dayCount)
    }

    private static func logLikelihood(of posts: [LocalTime], _ profile: [Double]) -> Double {
        posts.reduce(0) { $0 + log(profile[$1.minute.value]) } / Double(posts.count)
    }

    /// The days that the bot would have lived, once for each repetition.
    ///
    /// Each repetition is compared on its own, for the human's floor is one
    /// sample too; all of them together would look smoother than any person.
    private func simulated(_ models: FrozenModels, name: String) -> [Rhythm] {
        guard let first = models.days.first else { return [] }
        var known = FrozenModels.KnownCounts()
        return (0..<repetitions).map { repetition in
            models.simulated(
                seed: PlanSeed.plan(mirror: name, day: first, seed: "evaluation \(repetition)"),
                &known)
        }
    }
}

/// Why nothing can be measured on somebody's posts.
package struct TooFewPosts: Error, Equatable, Sendable, CustomStringConvertible {
    /// A clause in lower case, without a full stop.
    package let description: String

    /// - Parameter description: What is missing.
    package init(_ description: String) { self.description = description }
}

/// Somebody's posts in two parts: those to learn from, and the later ones that what was learned
/// must tell.
///
/// The cut is where four fifths of the posts, in the order of time, are
/// over. No day is split: the day of the first post of the last fifth is
/// held out as a whole, so that the last day to learn from is a complete one.
package struct HeldOutSplit: Equatable, Sendable {
    /// With fewer posts every measure is chance.
    package static let minimumPosts = 20
    /// More days than this between two posts are not believed; as many are looked at when posts of
    /// a day are counted.
    package static let maximumDays = 36_524

    /// The posts of the days before ``firstDay``, in the given order.
    package let training: [LocalTime]
    /// All other posts.
    package let testing: [LocalTime]
    /// The first day that is held out.
    package let firstDay: LocalDay
    /// The day of the last post.
    package let lastDay: LocalDay

    /// - Parameter times: The posts in the order in which they were made.
    /// - Throws: ``TooFewPosts`` if one of the two parts would tell nothing.
    package init(_ times: [LocalTime]) throws(TooFewPosts) {
        guard times.count >= Self.minimumPosts, let first = times.map(\.day).min(),
            let last = times.map(\.day).max()
        else {
            let posts = times.count == 1 ? "there is 1 post" : "there are \(times.count) posts"
            throw TooFewPosts("\(posts); at least \(Self.minimumPosts) are needed")
        }
        guard last.days(since: first) <= Self.maximumDays else {
            throw TooFewPosts(
                "\(first) and \(last) are more than a hundred years apart; one of them must be wrong"
            )
        }
        let cut = times[times.count * 4 / 5].day
        training = times.filter { $0.day < cut }
        testing = times.filter { $0.day >= cut }
        firstDay = cut
        lastDay = last
        guard !training.isEmpty else {
            throw TooFewPosts(
                "four fifths of the posts are of the first day, \(first), so there is no day to learn from"
            )
        }
    }

    /// The last day to learn from: what is planned for a held-out day knows nothing of later ones.
    package var asOf: LocalDay { firstDay.advanced(by: -1) }

    /// The number of days that are held out, those without posts included.
    package var dayCount: Int { lastDay.days(since: firstDay) + 1 }

    /// The days of the period before the held-out days: as many of them, or as many as there are.
    package var precedingDays: [LocalDay] {
        let known = training.map(\.day).min().map(firstDay.days(since:)) ?? 0
        return (1...max(1, min(dayCount, known))).reversed().map { firstDay.advanced(by: -$0) }
    }
}

/// The models of days in a row that come after everything that was learned.
struct FrozenModels {
    private let history: PostingHistory
    private let firstDay: LocalDay
    /// Nil for a day that the zone skips.
    private let models: [DayModel?]

    /// - Parameters:
    ///   - planner: With what was learned.
    ///   - zone: The zone whose clocks show the days; nil for days of 1,440 minutes.
    ///   - firstDay: The first of the days.
    ///   - count: The number of days.
    init(planner: DayPlanner, zone: TimeZone?, firstDay: LocalDay, count: Int) {
        var known = DayModels(planner: planner, zone: zone)
        history = planner.history
        self.firstDay = firstDay
        models = (0..<count).map { known.model(for: firstDay.advanced(by: $0)) }
    }

    /// The days that there are, ascending.
    var days: [LocalDay] { models.indices.filter { models[$0] != nil }.map(firstDay.advanced(by:)) }

    /// The mean over the posts of ln p(minute), where each post's day chooses the profile;
    /// -infinity if one has no mass.
    func logLikelihood(of posts: [LocalTime]) -> Double {
        let sum = posts.reduce(0) { sum, post in
            let index = post.day.days(since: firstDay)
            let model = models.indices.contains(index) ? models[index] : nil
            return sum + log(model?.distribution.probabilities[post.minute.value] ?? 0)
        }
        return sum / Double(posts.count)
    }

    /// A cache of the distributions of daily post counts, by weekday and the days before; the same
    /// ones recur.
    struct KnownCounts {
        /// Some dozen megabytes.
        private static let most = 2_000_000
        private var known: [Int: [RecentDays: DayCountDistribution]] = [:]
        private var size = 0

        mutating func counts(
            of model: DayModel, on day: LocalDay, after recent: RecentDays
        ) -> DayCountDistribution {
            if let found = known[day.weekday]?[recent] { return found }
            let counts = model.counts.distribution(after: recent)
            size += counts.counts.count
            if size > Self.most {
                known = [:]
                size = counts.counts.count
            }
            known[day.weekday, default: [:]][recent] = counts
            return counts
        }
    }

    /// The days as a bot lives them: each begins in the state that its own days before it left.
    func simulated(seed: UInt64, _ known: inout KnownCounts) -> Rhythm {
        var generator = SplitMix64(seed: seed)
        var planned: [LocalDay: Int] = [:]
        var days: [[MinuteOfDay]] = []
        for (offset, model) in models.enumerated() {
            guard let model else { continue }
            let day = firstDay.advanced(by: offset)
            let recent = history.recentDays(before: day, planned: planned)
            days.append(
                model.draw(from: known.counts(of: model, on: day, after: recent), using: &generator)
                    .minutes)
            planned[day] = days[days.count - 1].count
        }
        return Rhythm(days: days)
    }
}

/// Profiles that the model is compared with: they know no age, no weekday and no other people's
/// habits.
package enum PlainProfile {
    /// The standard deviation of the plain kernel in minutes.
    package static let sigma = 20.0
    /// The share of the plain kernel's mass that is spread evenly over the day.
    package static let floor = 0.02

    /// The bare histogram of the 1,440 minutes with one post more in each: (c + 1) / (n + 1440).
    package static func histogram(of times: [LocalTime]) -> [Double] {
        let total = Double(times.count + MinuteOfDay.count)
        return PostingHistory(times: times).minuteCounts().map { ($0 + 1) / total }
    }

    /// The histogram smoothed by a bell curve of 20 minutes, with 2 % spread evenly: the
    /// reference's baseline.
    package static func kernel(of times: [LocalTime]) -> [Double] {
        let smooth = CircularKernel.gaussian(sigma: sigma).smooth(
            PostingHistory(times: times).minuteCounts())
        let even = 1 / Double(MinuteOfDay.count)
        return smooth.map {
            times.isEmpty ? even : (1 - floor) * $0 / Double(times.count) + floor * even
        }
    }
}
