package import Foundation
package import Posts
package import Schedule

/// Measures how well a schedule learned from the first four fifths of a person's posts fits the
/// rest.
///
/// The learned model is frozen at the split: neither the profile nor the counts see a held-out
/// post, and age is counted from the last training day. The weekday of each held-out day selects
/// the profile, as in a plan. Only for the comparison of bot and human does the bot learn on, as
/// one that follows its human does.
package struct ScheduleEvaluation: Sendable {
    /// The default number of simulations of the held-out days.
    package static let usualRepetitions = 20

    /// The number of days after which a bot that follows its human learns again.
    private static let lessonDays = 30
    /// The most times that it learns again.
    private static let mostLessons = 40
    /// The most posts that it learns in all.
    private static let mostPostsLearned = 4_000_000

    private let configuration: ScheduleConfiguration
    private let zone: TimeZone?
    private let repetitions: Int

    /// - Parameters:
    ///   - configuration: How to learn and plan. Its quiet minutes are ignored, because they are
    ///     the bot's, not the human's.
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
    ///   - times: The posts in the order in which they were made.
    ///   - name: The author's name, the seed of the simulated days.
    /// - Returns: The measures.
    /// - Throws: ``TooFewPosts``, which says what is missing.
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

    /// The held-out days, and the days of a bot that follows its human: each is drawn from the
    /// human's days before it.
    ///
    /// So the days themselves differ, and not the posting rate over the years. The bot learns again
    /// every month, or less often if that would take long.
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
    /// Each repetition is compared by itself, because the human's days are one sample too; all
    /// repetitions together would look smoother than any person.
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

/// The reason why a person's posts cannot be measured.
package struct TooFewPosts: Error, Equatable, Sendable, CustomStringConvertible {
    /// A clause in lower case, without a full stop.
    package let description: String

    /// - Parameter description: The missing part.
    package init(_ description: String) { self.description = description }
}

/// A person's posts in two parts: those to learn from, and the later ones to predict.
///
/// The split is after four fifths of the posts, in the order of time. No day is divided: the day of
/// the first post of the last fifth is held out as a whole, so that the last training day is
/// complete.
package struct HeldOutSplit: Equatable, Sendable {
    /// With fewer posts every measure is chance.
    package static let minimumPosts = 20
    /// The most days between two posts, and the most days for which posts are counted.
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

    /// The last training day; plans for held-out days know nothing of later days.
    package var asOf: LocalDay { firstDay.advanced(by: -1) }

    /// The number of days that are held out, those without posts included.
    package var dayCount: Int { lastDay.days(since: firstDay) + 1 }

    /// The period just before the held-out days, with as many days, or as many as there are.
    package var precedingDays: [LocalDay] {
        let known = training.map(\.day).min().map(firstDay.days(since:)) ?? 0
        return (1...max(1, min(dayCount, known))).reversed().map { firstDay.advanced(by: -$0) }
    }
}

/// The models of consecutive days after everything that was learned.
struct FrozenModels {
    private let history: PostingHistory
    private let firstDay: LocalDay
    /// Nil for a day that the zone skips.
    private let models: [DayModel?]

    /// - Parameters:
    ///   - planner: The planner, which has learned the training posts.
    ///   - zone: The zone of the days; nil for days of 1,440 minutes.
    ///   - firstDay: The first of the days.
    ///   - count: The number of days.
    init(planner: DayPlanner, zone: TimeZone?, firstDay: LocalDay, count: Int) {
        var known = DayModels(planner: planner, zone: zone)
        history = planner.history
        self.firstDay = firstDay
        models = (0..<count).map { known.model(for: firstDay.advanced(by: $0)) }
    }

    /// The existing days, ascending.
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

    /// A cache of the distributions of daily post counts, by weekday and the days before, which
    /// recur.
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

    /// The days as a bot lives them: each begins in the state that the bot's days before it left.
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

/// Profiles with which the model is compared: they ignore age, weekday and other people's habits.
package enum PlainProfile {
    /// The standard deviation of the plain kernel in minutes.
    package static let sigma = 20.0
    /// The share of the plain kernel's mass that is spread evenly over the day.
    package static let floor = 0.02

    /// The histogram of the 1,440 minutes with one post added to each: (c + 1) / (n + 1440).
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
