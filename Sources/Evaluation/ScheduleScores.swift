package import Posts
import Schedule

/// A measure of a schedule; the raw value is its key in the JSON of a report.
package enum ScheduleMeasure: String, CaseIterable, Sendable {
    /// The number of posts from which the schedule was learned.
    case trainingPosts = "n_train"
    /// The number of posts that were held out.
    case testedPosts = "n_test"
    /// The mean of ln(probability of the minute) over the held-out posts; nearer to 0 is better,
    /// ln(1/1440) is a uniform guess.
    case logLikelihood = "log_likelihood"
    /// The same measure for the histogram with one post added to each minute.
    case histogramLogLikelihood = "log_likelihood_histogram"
    /// The same measure for a plain kernel of 20 minutes.
    case kernelLogLikelihood = "log_likelihood_kernel20"
    /// The same measure for a model that has learned only the human's preceding period: the days
    /// just before the held-out ones.
    case humanLogLikelihood = "human_log_likelihood"
    /// The model's gain over the histogram, in nats per post.
    case histogramGain = "gain_over_histogram"
    /// The model's gain over the plain kernel, in nats per post.
    case kernelGain = "gain_over_kernel20"
    /// The total variation distance of simulated from held-out days, in the number of posts per
    /// day.
    case dailyCounts = "tv_daily_counts"
    /// The same distance of the human's preceding period from the held-out days.
    case humanDailyCounts = "human_tv_daily_counts"
    /// The Kolmogorov–Smirnov distance of simulated from held-out days, in the minutes from a post
    /// to the next on the same day.
    case gaps = "ks_gaps"
    /// The same distance of the human's preceding period from the held-out days.
    case humanGaps = "human_ks_gaps"
    /// The Kolmogorov–Smirnov distance of simulated from held-out days, in the minute of the day's
    /// first post.
    case firstPost = "ks_first_post"
    /// The same distance of the human's preceding period from the held-out days.
    case humanFirstPost = "human_ks_first_post"
    /// The total variation distance of simulated from held-out days, in the posts' hours of the
    /// day.
    case hours = "tv_hours"
    /// The same distance of the human's preceding period from the held-out days.
    case humanHours = "human_tv_hours"
    /// The similarity of neighbouring simulated days: the correlation of a day's number of posts
    /// with the next day's.
    case autocorrelation = "autocorrelation"
    /// The same correlation for the held-out days.
    case humanAutocorrelation = "human_autocorrelation"
    /// The Kolmogorov–Smirnov distance of simulated from held-out days, in the number of posts on
    /// seven days in a row.
    case weekTotals = "ks_week_totals"
    /// The same distance of the human's preceding period from the held-out days.
    case humanWeekTotals = "human_ks_week_totals"
    /// The mean of ln(probability of a day's number of posts), predicted one day ahead, over the
    /// last days; nearer to 0 is better.
    case dayAhead = "day_ahead_nats"
    /// The same measure for a model without quiet and busy spells.
    case plainDayAhead = "day_ahead_nats_plain"
    /// The error of the number of posts predicted one day ahead: the continuous ranked probability
    /// score, in posts.
    case dayAheadError = "day_ahead_crps"
    /// The same measure for a model without quiet and busy spells.
    case plainDayAheadError = "day_ahead_crps_plain"
    /// The probability ``BotOrHuman/auc``, learned from other days of the same person.
    case toldApart = "auc"
    /// The probability ``BotOrHuman/aucOfSeveral``, learned from other days of the same person.
    case severalToldApart = "auc_several"
    /// The probability ``BotOrHuman/aucOfShape``, learned from other days of the same person.
    case shapeToldApart = "auc_shape"
}

/// The measures of one author's schedule, or the medians of several.
package struct ScheduleScores: Equatable, Sendable {
    private var values: [ScheduleMeasure: Double]

    /// - Parameter values: The measures that could be computed.
    package init(_ values: [ScheduleMeasure: Double?]) {
        self.values = values.compactMapValues(\.self)
    }

    /// The value of a measure; nil if there was nothing to measure.
    ///
    /// A likelihood is -infinity if a held-out post had the probability 0.
    package subscript(measure: ScheduleMeasure) -> Double? { values[measure] }

    /// The median of each measure over the scores that have it; for an even number, the mean of the
    /// two middle values.
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
        let low = sorted[(sorted.count - 1) / 2]
        let high = sorted[sorted.count / 2]
        // For two infinite values the mean would not be a number.
        return low == high ? low : (low + high) / 2
    }
}

extension ScheduleScores: Encodable {
    /// Encodes every measure under its key: whole numbers as integers, null for a value that is
    /// missing or infinite.
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

/// The statistics of some days of posts, except for the preferred minutes.
package struct Rhythm: Equatable, Sendable {
    /// The number of posts of each day, days without posts included.
    package let dailyCounts: Frequencies
    /// The minutes between each post and the next of the same day, at least 1.
    ///
    /// Posts in the same minute count as one minute apart, because a plan has one slot in a minute.
    /// `BurstModel` learns its gaps in the same way.
    package let gaps: Frequencies
    /// The minute of the first post of each day that has one.
    package let firstMinutes: Frequencies
    /// The hour of the day of each post.
    package let hours: Frequencies
    /// The number of posts of each stretch of seven days.
    package let weekTotals: Frequencies
    /// The correlation of each day's number of posts with the next day's: 0 if all are equal, nil
    /// for fewer than two days.
    package let autocorrelation: Double?

    /// - Parameter days: The minutes of each day's posts, ascending; an empty list for a day
    ///   without posts.
    package init(days: [[MinuteOfDay]]) {
        dailyCounts = Frequencies(days.lazy.map(\.count))
        gaps = Frequencies(
            days.lazy.flatMap { minutes in
                zip(minutes, minutes.dropFirst()).map { max(1, $1.value - $0.value) }
            })
        firstMinutes = Frequencies(days.lazy.compactMap { $0.first?.value })
        hours = Frequencies(days.lazy.flatMap { minutes in minutes.map { $0.value / 60 } })
        let counts = days.map(\.count)
        weekTotals = Frequencies(
            (0..<max(0, counts.count - 6)).lazy.map { counts[$0..<$0 + 7].reduce(0, +) })
        autocorrelation =
            counts.count < 2
            ? nil : Self.correlation(of: counts.dropLast(), with: counts.dropFirst())
    }

    /// Pearson's correlation of two series of the same length; 0 if one of them is constant.
    private static func correlation(
        of first: some Collection<Int>, with second: some Collection<Int>
    ) -> Double {
        let count = Double(first.count)
        let firstMean = Double(first.reduce(0, +)) / count
        let secondMean = Double(second.reduce(0, +)) / count
        var products = 0.0
        var firstSquares = 0.0
        var secondSquares = 0.0
        for (firstValue, secondValue) in zip(first, second) {
            let firstDeviation = Double(firstValue) - firstMean
            let secondDeviation = Double(secondValue) - secondMean
            products += firstDeviation * secondDeviation
            firstSquares += firstDeviation * firstDeviation
            secondSquares += secondDeviation * secondDeviation
        }
        let scale = (firstSquares * secondSquares).squareRoot()
        return scale > 0 ? products / scale : 0
    }

    /// The mean of the autocorrelations of some rhythms; nil if none has one.
    package static func meanAutocorrelation(of rhythms: [Rhythm]) -> Double? {
        let values = rhythms.compactMap(\.autocorrelation)
        return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }

    /// - Parameters:
    ///   - times: Posting times in any order; times on other days are ignored.
    ///   - days: The days to include, each of them once.
    package init(of times: [LocalTime], on days: some Sequence<LocalDay>) {
        let minutes = Dictionary(grouping: times, by: \.day)
        self.init(days: days.map { day in minutes[day, default: []].map(\.minute).sorted() })
    }

    /// The distance of two rhythms in several respects: each from 0 (equal) to 1; nil if one of the
    /// rhythms has nothing to compare.
    package struct Distance: Equatable, Sendable {
        /// The total variation of the number of posts of a day.
        package var dailyCounts: Double?
        /// The Kolmogorov–Smirnov distance of the gaps.
        package var gaps: Double?
        /// The Kolmogorov–Smirnov distance of the minute of the day's first post.
        package var firstMinutes: Double?
        /// The total variation of the hours of the posts.
        package var hours: Double?
        /// The Kolmogorov–Smirnov distance of the number of posts of seven days in a row.
        package var weekTotals: Double?

        package init(
            dailyCounts: Double? = nil, gaps: Double? = nil, firstMinutes: Double? = nil,
            hours: Double? = nil,
            weekTotals: Double? = nil
        ) {
            self.dailyCounts = dailyCounts
            self.gaps = gaps
            self.firstMinutes = firstMinutes
            self.hours = hours
            self.weekTotals = weekTotals
        }

        /// The mean of some distances, for each part over the distances that have it.
        package static func mean(of distances: [Distance]) -> Distance {
            func mean(_ part: (Distance) -> Double?) -> Double? {
                let values = distances.compactMap(part)
                return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
            }
            return Distance(
                dailyCounts: mean(\.dailyCounts), gaps: mean(\.gaps),
                firstMinutes: mean(\.firstMinutes),
                hours: mean(\.hours), weekTotals: mean(\.weekTotals))
        }
    }

    /// The distance of the two rhythms, the same in both directions.
    package func distance(to other: Rhythm) -> Distance {
        Distance(
            dailyCounts: dailyCounts.totalVariation(to: other.dailyCounts),
            gaps: gaps.kolmogorovSmirnovDistance(to: other.gaps),
            firstMinutes: firstMinutes.kolmogorovSmirnovDistance(to: other.firstMinutes),
            hours: hours.totalVariation(to: other.hours),
            weekTotals: weekTotals.kolmogorovSmirnovDistance(to: other.weekTotals))
    }
}

/// The frequencies of whole numbers in a series.
package struct Frequencies: Equatable, Sendable {
    private let counts: [Int: Int]
    /// The number of counted values.
    package let total: Int

    package init(_ values: some Sequence<Int>) {
        var counts: [Int: Int] = [:]
        var total = 0
        for value in values {
            counts[value, default: 0] += 1
            total += 1
        }
        self.counts = counts
        self.total = total
    }

    /// The share of `value` among all counted values.
    package func share(of value: Int) -> Double {
        total > 0 ? Double(counts[value, default: 0]) / Double(total) : 0
    }

    /// The total variation ½ Σ |p − q|: 0 if both are the same, 1 if they have nothing in common,
    /// nil if one is empty.
    package func totalVariation(to other: Frequencies) -> Double? {
        guard total > 0, other.total > 0 else { return nil }
        return Set(counts.keys).union(other.counts.keys).sorted()
            .reduce(0) { $0 + abs(share(of: $1) - other.share(of: $1)) } / 2
    }

    /// Returns the Kolmogorov–Smirnov distance: the largest difference of the cumulative shares,
    /// from 0 to 1; nil if one is empty.
    package func kolmogorovSmirnovDistance(to other: Frequencies) -> Double? {
        guard total > 0, other.total > 0 else { return nil }
        var ownCumulated = 0
        var othersCumulated = 0
        var largest = 0.0
        for value in Set(counts.keys).union(other.counts.keys).sorted() {
            ownCumulated += counts[value, default: 0]
            othersCumulated += other.counts[value, default: 0]
            let ownShare = Double(ownCumulated) / Double(total)
            let othersShare = Double(othersCumulated) / Double(other.total)
            largest = max(largest, abs(ownShare - othersShare))
        }
        return largest
    }
}
