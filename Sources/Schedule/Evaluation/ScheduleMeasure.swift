/// What is measured of a schedule; the raw values are the keys of the answers for programs.
package enum ScheduleMeasure: String, CaseIterable, Sendable {
    /// Posts that were learned from.
    case trainingPosts = "n_train"
    /// Posts that were held out.
    case testedPosts = "n_test"
    /// ln(probability of the minute), the mean over the held-out posts; nearer to 0 is better, ln(1/1440) knows nothing.
    case logLikelihood = "log_likelihood"
    /// The same of the raw histogram with add-one.
    case histogramLogLikelihood = "log_likelihood_histogram"
    /// The same of a plain kernel of 20 minutes.
    case kernelLogLikelihood = "log_likelihood_kernel20"
    /// The same of the model if it knows only the human's preceding period.
    case humanLogLikelihood = "human_log_likelihood"
    /// How much the model is better than the histogram, in nats per post.
    case histogramGain = "gain_over_histogram"
    /// How much the model is better than the plain kernel, in nats per post.
    case kernelGain = "gain_over_kernel20"
    /// The distance of simulated from held-out days: total variation of the number of posts per day.
    case dailyCounts = "tv_daily_counts"
    /// The same distance of the human's preceding period.
    case humanDailyCounts = "human_tv_daily_counts"
    /// The distance of simulated from held-out days: Kolmogorov–Smirnov, the minutes from a post to the day's next.
    case gaps = "ks_gaps"
    /// The same distance of the human's preceding period.
    case humanGaps = "human_ks_gaps"
    /// The distance of simulated from held-out days: Kolmogorov–Smirnov, the minute of the day's first post.
    case firstPost = "ks_first_post"
    /// The same distance of the human's preceding period.
    case humanFirstPost = "human_ks_first_post"
}

/// The measures of one author's schedule, or the medians of several.
package struct ScheduleScores: Equatable, Sendable {
    private var values: [ScheduleMeasure: Double]

    /// - Parameter values: What could be measured.
    package init(_ values: [ScheduleMeasure: Double?]) { self.values = values.compactMapValues(\.self) }

    /// The value of a measure; nil where there was nothing to measure.
    ///
    /// A likelihood is -infinity if a held-out post had no chance at all.
    package subscript(measure: ScheduleMeasure) -> Double? { values[measure] }

    /// The median of each measure over those that have it; of an even number of values the mean of the two in the middle.
    package static func median(of scores: [ScheduleScores]) -> ScheduleScores {
        ScheduleScores(
            Dictionary(
                uniqueKeysWithValues: ScheduleMeasure.allCases.map { measure in
                    (measure, median(of: scores.compactMap { $0[measure] }))
                }))
    }

    private static func median(of values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        let sorted = values.sorted()
        let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
        // The same twice is that, infinite or not.
        return low == high ? low : (low + high) / 2
    }
}

extension ScheduleScores: Encodable {
    /// Encodes every measure under its key: whole numbers as such, null where nothing finite was measured.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for measure in ScheduleMeasure.allCases {
            let value = values[measure].flatMap { $0.isFinite ? $0 : nil }
            try container.encode(value, forKey: Key(stringValue: measure.rawValue))
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
