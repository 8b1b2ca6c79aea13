package import Foundation
package import Posts

/// Measures how well a schedule learned from the first four fifths of somebody's posts fits the rest.
///
/// What is learned stays as it is from the cut on: neither the profile nor
/// the counts see a held-out post, and age is counted from the last day to
/// learn from. The weekday of each held-out day chooses the profile, as it
/// does for a plan.
package struct ScheduleEvaluation: Sendable {
    /// How often the held-out days are simulated unless told otherwise.
    package static let usualRepetitions = 20

    private let configuration: ScheduleConfiguration
    private let zone: TimeZone?
    private let repetitions: Int

    /// - Parameters:
    ///   - configuration: How is learned and planned. Its quiet minutes are set aside: they are not the human's.
    ///   - zone: The zone whose clocks the times were read on; nil if each was read at an offset of its own.
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
    package func scores(of times: [PostingTime], name: String) throws(TooFewPosts) -> ScheduleScores {
        let split = try HeldOutSplit(times)
        let precedingDays = split.precedingDays
        let preceding = split.training.filter { $0.day >= precedingDays[0] }
        let models = models(of: split, learnedFrom: split.training)
        let model = models.logLikelihood(of: split.testing)
        let histogram = Self.logLikelihood(of: split.testing, PlainProfile.histogram(of: split.training))
        let kernel = Self.logLikelihood(of: split.testing, PlainProfile.kernel(of: split.training))
        let heldOut = Rhythm(of: split.testing, on: models.days)
        let bot = simulated(models, name: name, heldOut)
        let human = Rhythm(of: preceding, on: precedingDays).distance(to: heldOut)
        return ScheduleScores([
            .trainingPosts: Double(split.training.count), .testedPosts: Double(split.testing.count),
            .logLikelihood: model, .histogramLogLikelihood: histogram, .kernelLogLikelihood: kernel,
            .humanLogLikelihood: preceding.isEmpty
                ? nil : self.models(of: split, learnedFrom: preceding).logLikelihood(of: split.testing),
            .histogramGain: model - histogram, .kernelGain: model - kernel,
            .dailyCounts: bot.dailyCounts, .humanDailyCounts: human.dailyCounts,
            .gaps: bot.gaps, .humanGaps: human.gaps,
            .firstPost: bot.firstMinutes, .humanFirstPost: human.firstMinutes,
        ])
    }

    private func models(of split: HeldOutSplit, learnedFrom times: [PostingTime]) -> FrozenModels {
        let history = PostingHistory(times: times, asOf: split.asOf)
        return FrozenModels(
            planner: DayPlanner(history: history, configuration: configuration), zone: zone,
            firstDay: split.firstDay, count: split.dayCount)
    }

    private static func logLikelihood(of posts: [PostingTime], _ profile: [Double]) -> Double {
        posts.reduce(0) { $0 + log(profile[$1.minute.value]) } / Double(posts.count)
    }

    /// How far the days are that the bot would have lived: the mean over the repetitions.
    ///
    /// Each repetition is compared on its own, for the human's floor is one
    /// sample too; all of them together would look smoother than any person.
    private func simulated(_ models: FrozenModels, name: String, _ heldOut: Rhythm) -> Rhythm.Distance {
        guard let first = models.days.first else { return Rhythm.Distance() }
        return .mean(
            of: (0..<repetitions).map { repetition in
                let seed = PlanSeed.plan(mirror: name, day: first, seed: "evaluation \(repetition)")
                return models.simulated(seed: seed).distance(to: heldOut)
            })
    }
}
