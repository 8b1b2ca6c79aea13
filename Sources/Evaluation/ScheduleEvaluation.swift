package import Foundation
package import Posts
package import Schedule

/// Measures how well a schedule learned from the first four fifths of a person's posts fits the
/// rest.
///
/// The learned model is frozen at the split: neither the profile nor the counts see a held-out
/// post, and age is counted from the last training day. The weekday of each held-out day selects
/// the profile, as in a plan. There is one exception: for the comparison of bot and human the bot
/// learns again from time to time, as a running bot does.
package struct ScheduleEvaluation: Sendable {
    /// The default number of simulations of the held-out days.
    package static let usualRepetitions = 20

    /// The number of days after which the bot in the comparison with the human learns again.
    private static let daysBetweenLessons = 30
    /// The maximum number of times that this bot learns.
    private static let maximumLessons = 40
    /// The maximum sum of the posts that this bot learns in all lessons.
    private static let maximumPostsOfLessons = 4_000_000

    private let configuration: ScheduleConfiguration
    private let zone: TimeZone?
    private let repetitions: Int

    /// - Parameters:
    ///   - configuration: The settings by which days are learned and planned. The quiet minutes are
    ///     ignored, because they are the bot's, not the human's.
    ///   - zone: The zone of the times; nil if each time has an offset of its own.
    ///   - repetitions: The number of simulations of the held-out days, at least one.
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

    /// Measures the schedule on a person's posts; the same posts and name give the same numbers.
    ///
    /// - Parameters:
    ///   - times: The times of the posts, in the order in which they were made.
    ///   - name: The author's name, the seed of the simulated days.
    /// - Returns: The measures.
    /// - Throws: ``TooFewPosts`` with the reason.
    package func scores(of times: [LocalTime], name: String) throws(TooFewPosts) -> ScheduleScores {
        try measure(times, name: name).scores
    }

    /// Measures the schedule, and returns the days by which bot and human are compared.
    func measure(
        _ times: [LocalTime], name: String
    ) throws(TooFewPosts) -> (scores: ScheduleScores, days: BotOrHuman.Days) {
        let split = try HeldOutSplit(times)
        let precedingDays = split.precedingDays
        let preceding = split.training.filter { $0.day >= precedingDays[0] }
        let models = models(of: split, learnedFrom: split.training)
        let model = models.logLikelihood(of: split.testing)
        let histogram = Self.logLikelihood(
            of: split.testing, under: PlainProfile.histogram(of: split.training))
        let kernel = Self.logLikelihood(
            of: split.testing, under: PlainProfile.kernel(of: split.training))
        let heldOut = Rhythm(of: split.testing, on: models.days)
        let simulatedLives = simulated(models, name: name)
        let botDistance = Rhythm.Distance.mean(of: simulatedLives.map { $0.distance(to: heldOut) })
        let humanDistance = Rhythm(of: preceding, on: precedingDays).distance(to: heldOut)
        let dayAhead = DayAhead(times, configuration: configuration)
        let days = comparedDays(times, split: split, name: name)
        let botOrHuman = BotOrHuman([days])
        let scores = ScheduleScores([
            .trainingPosts: Double(split.training.count), .testedPosts: Double(split.testing.count),
            .logLikelihood: model, .histogramLogLikelihood: histogram, .kernelLogLikelihood: kernel,
            .humanLogLikelihood: preceding.isEmpty
                ? nil
                : self.models(of: split, learnedFrom: preceding).logLikelihood(of: split.testing),
            .histogramGain: model - histogram, .kernelGain: model - kernel,
            .dailyCounts: botDistance.dailyCounts, .humanDailyCounts: humanDistance.dailyCounts,
            .gaps: botDistance.gaps, .humanGaps: humanDistance.gaps,
            .firstPost: botDistance.firstMinutes, .humanFirstPost: humanDistance.firstMinutes,
            .autocorrelation: Rhythm.meanAutocorrelation(of: simulatedLives),
            .humanAutocorrelation: heldOut.autocorrelation,
            .hours: botDistance.hours, .humanHours: humanDistance.hours,
            .weekTotals: botDistance.weekTotals, .humanWeekTotals: humanDistance.weekTotals,
            .dayAhead: dayAhead?.spells.nats, .plainDayAhead: dayAhead?.plain.nats,
            .dayAheadError: dayAhead?.spells.error, .plainDayAheadError: dayAhead?.plain.error,
            .toldApart: botOrHuman.auc, .severalToldApart: botOrHuman.aucOfSeveral,
            .shapeToldApart: botOrHuman.aucOfShape,
        ])
        return (scores, days)
    }

    /// Returns the human's held-out days, and simulated days of a bot on the same dates.
    ///
    /// Each of the bot's days is drawn from the human's days before it. So the comparison is about
    /// the shapes of the days, and not about the posting rates of different years. The bot learns
    /// again every month, or less often if that would take long.
    private func comparedDays(_ times: [LocalTime], split: HeldOutSplit, name: String)
        -> BotOrHuman.Days
    {
        let past = PostingHistory(times: times)
        let seed = PlanSeed.plan(mirror: name, day: split.firstDay, seed: "evaluation of days")
        var generator = SplitMix64(seed: seed)
        let lessons = min(Self.maximumLessons, max(1, Self.maximumPostsOfLessons / times.count))
        let roundedUpShare = (split.dayCount + lessons - 1) / lessons
        let daysPerLesson = max(Self.daysBetweenLessons, roundedUpShare)
        var days = BotOrHuman.Days()
        for lessonStart in stride(from: 0, to: split.dayCount, by: daysPerLesson) {
            let history = PostingHistory(times: times, asOf: split.asOf.advanced(by: lessonStart))
            var models = DayModels(
                planner: DayPlanner(history: history, configuration: configuration), zone: zone)
            var knownCounts = FrozenModels.KnownCounts()
            for offset in lessonStart..<min(lessonStart + daysPerLesson, split.dayCount) {
                let day = split.firstDay.advanced(by: offset)
                guard let model = models.model(for: day) else { continue }
                let counts = knownCounts.counts(
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

    private static func logLikelihood(of posts: [LocalTime], under profile: [Double]) -> Double {
        posts.reduce(0) { $0 + log(profile[$1.minute.value]) } / Double(posts.count)
    }

    /// Simulates the held-out days of the bot, once for each repetition.
    ///
    /// Each repetition is compared separately, because the human's days are one sample too: all
    /// repetitions together would be more regular than any person.
    private func simulated(_ models: FrozenModels, name: String) -> [Rhythm] {
        guard let first = models.days.first else { return [] }
        var knownCounts = FrozenModels.KnownCounts()
        return (0..<repetitions).map { repetition in
            models.simulated(
                seed: PlanSeed.plan(mirror: name, day: first, seed: "evaluation \(repetition)"),
                knownCounts: &knownCounts)
        }
    }
}

/// The reason why a person's posts cannot be measured.
package struct TooFewPosts: Error, Equatable, Sendable, CustomStringConvertible {
    /// The reason, a clause in lower case without a full stop.
    package let description: String

    /// - Parameter description: The reason, a clause in lower case without a full stop.
    package init(_ description: String) { self.description = description }
}

/// A person's posts in two parts: those to learn from, and the later ones to predict.
///
/// The split is after four fifths of the posts, in the order of time. No day is divided: the day of
/// the first post of the last fifth is held out as a whole, so that the last training day is
/// complete.
package struct HeldOutSplit: Equatable, Sendable {
    /// The minimum number of posts; with fewer posts every measure depends on chance.
    package static let minimumPosts = 20
    /// The largest number of days between two posts, and of days for which posts are counted.
    package static let maximumDays = 36_524

    /// The posts of the days before ``firstDay``, in the given order.
    package let training: [LocalTime]
    /// The posts of ``firstDay`` and later days, in the given order.
    package let testing: [LocalTime]
    /// The first day that is held out.
    package let firstDay: LocalDay
    /// The day of the last post.
    package let lastDay: LocalDay

    /// - Parameter times: The posts in the order in which they were made.
    /// - Throws: ``TooFewPosts`` if one of the two parts is too small.
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
        let firstTestedDay = times[times.count * 4 / 5].day
        training = times.filter { $0.day < firstTestedDay }
        testing = times.filter { $0.day >= firstTestedDay }
        firstDay = firstTestedDay
        lastDay = last
        guard !training.isEmpty else {
            throw TooFewPosts(
                "four fifths of the posts are of the first day, \(first), so there is no day to learn from"
            )
        }
    }

    /// The last day before the held-out ones; plans for held-out days know nothing of later days.
    package var asOf: LocalDay { firstDay.advanced(by: -1) }

    /// The number of days that are held out, those without posts included.
    package var dayCount: Int { lastDay.days(since: firstDay) + 1 }

    /// The days just before the held-out ones, as many as are held out, or as many as are known.
    package var precedingDays: [LocalDay] {
        let knownDays = training.map(\.day).min().map(firstDay.days(since:)) ?? 0
        let count = max(1, min(dayCount, knownDays))
        return (1...count).reversed().map { distance in firstDay.advanced(by: -distance) }
    }
}

/// The models of consecutive days, all of which were learned from the training posts before these
/// days.
struct FrozenModels {
    private let history: PostingHistory
    private let firstDay: LocalDay
    /// For each day its model; nil for a day that the zone skips.
    private let models: [DayModel?]

    /// - Parameters:
    ///   - planner: The planner of days, which has learned the training posts.
    ///   - zone: The zone of the days; nil for days of 1,440 minutes.
    ///   - firstDay: The first of the days.
    ///   - count: The number of days.
    init(planner: DayPlanner, zone: TimeZone?, firstDay: LocalDay, count: Int) {
        var dayModels = DayModels(planner: planner, zone: zone)
        history = planner.history
        self.firstDay = firstDay
        models = (0..<count).map { dayModels.model(for: firstDay.advanced(by: $0)) }
    }

    /// The days that the zone does not skip, ascending.
    var days: [LocalDay] { models.indices.filter { models[$0] != nil }.map(firstDay.advanced(by:)) }

    /// Returns the mean over the posts of ln p(minute), where p is the profile of the post's day.
    ///
    /// It is -infinity if the probability of a post's minute is 0.
    func logLikelihood(of posts: [LocalTime]) -> Double {
        let sum = posts.reduce(0) { sum, post in
            let index = post.day.days(since: firstDay)
            let model = models.indices.contains(index) ? models[index] : nil
            return sum + log(model?.distribution.probabilities[post.minute.value] ?? 0)
        }
        return sum / Double(posts.count)
    }

    /// A cache of the distributions of daily post counts, by weekday and by the counts of the days
    /// before; the same combinations recur often.
    struct KnownCounts {
        /// The maximum number of probabilities that are kept; they take some dozens of megabytes.
        private static let maximumSize = 2_000_000
        private var distributions: [Int: [RecentDays: DayCountDistribution]] = [:]
        /// The number of probabilities that are kept.
        private var size = 0

        mutating func counts(
            of model: DayModel, on day: LocalDay, after recent: RecentDays
        ) -> DayCountDistribution {
            if let known = distributions[day.weekday]?[recent] { return known }
            let counts = model.counts.distribution(after: recent)
            size += counts.counts.count
            if size > Self.maximumSize {
                distributions = [:]
                size = counts.counts.count
            }
            distributions[day.weekday, default: [:]][recent] = counts
            return counts
        }
    }

    /// Simulates the days one after the other, as for a running bot: the number of posts of each
    /// day depends on the simulated days before it.
    func simulated(seed: UInt64, knownCounts: inout KnownCounts) -> Rhythm {
        var generator = SplitMix64(seed: seed)
        var planned: [LocalDay: Int] = [:]
        var days: [[MinuteOfDay]] = []
        for (offset, model) in models.enumerated() {
            guard let model else { continue }
            let day = firstDay.advanced(by: offset)
            let recent = history.recentDays(before: day, planned: planned)
            let counts = knownCounts.counts(of: model, on: day, after: recent)
            let minutes = model.draw(from: counts, using: &generator).minutes
            days.append(minutes)
            planned[day] = minutes.count
        }
        return Rhythm(days: days)
    }
}

/// The simple profiles with which the model is compared.
///
/// They ignore the age of posts, the weekday and the habits of other people.
package enum PlainProfile {
    /// The standard deviation of the plain kernel in minutes.
    package static let sigma = 20.0
    /// The share of the plain kernel's mass that is spread evenly over the day.
    package static let evenShare = 0.02

    /// Returns the histogram of the 1,440 minutes with one post added to each (Laplace smoothing):
    /// (c + 1) / (n + 1440).
    package static func histogram(of times: [LocalTime]) -> [Double] {
        let total = Double(times.count + MinuteOfDay.count)
        return PostingHistory(times: times).minuteCounts().map { ($0 + 1) / total }
    }

    /// Returns the histogram smoothed by a Gaussian kernel with a standard deviation of 20 minutes,
    /// with 2 % spread evenly.
    ///
    /// It is the baseline of the reference implementation.
    package static func kernel(of times: [LocalTime]) -> [Double] {
        let smooth = CircularKernel.gaussian(sigma: sigma).smooth(
            PostingHistory(times: times).minuteCounts())
        let even = 1 / Double(MinuteOfDay.count)
        return smooth.map {
            times.isEmpty ? even : (1 - evenShare) * $0 / Double(times.count) + evenShare * even
        }
    }
}
