import Foundation
package import Posts
import Schedule

/// A measure of how often a stranger who is shown one week of posts guesses correctly whether the
/// week is the human's or the bot's.
///
/// A classifier learns four fifths of the weeks and is tested on the rest, until each week was
/// tested once. It learns all stretches of seven days that share no day with a tested week,
/// beginning on any weekday.
package struct WeekJudge: Equatable, Sendable {
    /// The minimum number of weeks; with fewer weeks the measure depends on chance.
    package static let fewestWeeks = 12
    /// The number of parts into which the weeks are divided; each part is tested by a classifier
    /// that learned the other parts.
    private static let folds = 5
    private static let daysOfWeek = 7
    /// The number of samples of weeks from which the interval is computed.
    private static let sampleCount = 1_000
    /// The share of the samples that the interval excludes at each end.
    private static let tail = 0.025

    /// The number of judged weeks of the human, and of the bot.
    package let weeks: Int
    /// The share of right guesses; 0.5 is a random guess.
    package let right: Double
    /// The 95 % confidence interval of ``right``, by bootstrap: weeks drawn with replacement.
    package let interval: ClosedRange<Double>
    /// The probability that a week of the bot gets a higher score than a week of the human (area
    /// under the curve).
    package let area: Double

    /// Judges the weeks of consecutive days.
    ///
    /// - Parameters:
    ///   - human: The minutes of each of the human's days, ascending.
    ///   - bot: The minutes of each of the bot's days on the same dates, ascending.
    ///   - firstWeekday: The weekday of the first day, 1 for Monday.
    ///   - seed: The seed of the samples for the interval.
    /// - Returns: Nil if there are fewer weeks than ``fewestWeeks``.
    package init?(human: [[MinuteOfDay]], bot: [[MinuteOfDay]], firstWeekday: Int, seed: UInt64) {
        let days = min(human.count, bot.count)
        let weeks = days / Self.daysOfWeek
        guard weeks >= Self.fewestWeeks else { return nil }
        let starts = 0...(days - Self.daysOfWeek)
        func featuresOfStretches(_ minutes: [[MinuteOfDay]]) -> [[Double]] {
            starts.map { start in
                WeekFeatures(
                    minutes[start..<start + Self.daysOfWeek], firstWeekday: firstWeekday + start
                )
                .features
            }
        }
        // The rows of the human's stretches come first, then the rows of the bot's stretches.
        let rows = ClassedRows(featuresOfStretches(human) + featuresOfStretches(bot))
        let labels = starts.map { _ in false } + starts.map { _ in true }
        let scores = Self.scores(of: rows, labels: labels, days: days, weeks: weeks)
        let shares = scores.map { Self.rightShare(human: $0.human, bot: $0.bot) }
        self.weeks = weeks
        right = Self.mean(shares)
        let ranked = scores.flatMap { week in
            [(score: week.human, isPositive: false), (score: week.bot, isPositive: true)]
        }
        area = Ranking(ranked).rocAUC ?? 0.5
        interval = Self.interval(of: shares, seed: seed)
    }

    /// For each week of the human and of the bot, the log odds that it is the bot's.
    private static func scores(
        of rows: ClassedRows, labels: [Bool], days: Int, weeks: Int
    ) -> [(human: Double, bot: Double)] {
        let stretchCount = days - daysOfWeek + 1
        var scores: [(human: Double, bot: Double)] = []
        for fold in 0..<folds {
            // The weeks of one fold are consecutive.
            let testedWeeks = (0..<weeks).filter { $0 * folds / weeks == fold }
            guard let first = testedWeeks.first, let last = testedWeeks.last else { continue }
            let testedDays = first * daysOfWeek..<(last + 1) * daysOfWeek
            let learnedStretches = (0..<stretchCount).filter { start in
                !testedDays.overlaps(start..<start + daysOfWeek)
            }
            let learnedBotStretches = learnedStretches.map { $0 + stretchCount }
            let stumps = BoostedStumps(
                rows, learning: learnedStretches + learnedBotStretches, labels: labels)
            scores += testedWeeks.map { week in
                let start = week * daysOfWeek
                return (
                    stumps.score(of: start, in: rows),
                    stumps.score(of: start + stretchCount, in: rows)
                )
            }
        }
        return scores
    }

    /// The share of right guesses about the two weeks of the same days, 0 to 1; a score of 0 is a
    /// random guess.
    private static func rightShare(human: Double, bot: Double) -> Double {
        // A right guess about one of the two weeks contributes 0.5, and a random one half of that.
        func contribution(_ margin: Double) -> Double {
            if margin == 0 { return 0.25 }
            return margin > 0 ? 0.5 : 0
        }
        return contribution(-human) + contribution(bot)
    }

    private static func mean(_ values: [Double]) -> Double {
        values.reduce(0, +) / Double(max(1, values.count))
    }

    private static func interval(of shares: [Double], seed: UInt64) -> ClosedRange<Double> {
        var generator = SplitMix64(seed: seed)
        let means = (0..<sampleCount).map { _ in
            let sample = shares.indices.map { _ in
                let drawn = Int(generator.nextUniform() * Double(shares.count))
                return shares[min(drawn, shares.count - 1)]
            }
            return mean(sample)
        }.sorted()
        let excludedAtEachEnd = Int(tail * Double(sampleCount))
        return means[excludedAtEachEnd]...means[sampleCount - 1 - excludedAtEachEnd]
    }
}

extension WeekJudge: Encodable {
    private enum CodingKeys: String, CodingKey {
        case weeks, right, interval
        case area = "auc"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(weeks, forKey: .weeks)
        try container.encode(right, forKey: .right)
        try container.encode([interval.lowerBound, interval.upperBound], forKey: .interval)
        try container.encode(area, forKey: .area)
    }
}

/// The features of one week of posts.
private struct WeekFeatures {
    /// The longest gap between posts of one sitting, in minutes.
    private static let longestGapInSitting = 30

    private(set) var features: [Double] = []

    /// - Parameters:
    ///   - days: The minutes of the posts on seven days, ascending on each day.
    ///   - firstWeekday: The weekday of the first day, 1 for Monday; numbers above 7 continue with
    ///     the next week.
    init(_ days: ArraySlice<[MinuteOfDay]>, firstWeekday: Int) {
        let minutes = days.map { $0.map(\.value) }
        let counts = minutes.map(\.count)
        let posts = counts.reduce(0, +)
        let daysWithPosts = minutes.filter { !$0.isEmpty }
        let gaps = minutes.flatMap { day in
            zip(day, day.dropFirst()).map { earlier, later in later - earlier }
        }.sorted()
        let weekendDays = counts.indices.filter { day in
            let daysSinceMonday = (firstWeekday - 1 + day) % 7
            return daysSinceMonday >= 5
        }
        let weekendPosts = weekendDays.reduce(0) { sum, day in sum + counts[day] }
        let hours = Dictionary(minutes.joined().map { ($0 / 60, 1.0) }, uniquingKeysWith: +).values
            .sorted()
        let entropyOfHours = hours.reduce(0.0) { entropy, count in
            let share = count / Double(max(1, posts))
            return entropy - share * log(share)
        }
        let sumOfChanges = zip(counts, counts.dropFirst()).reduce(0) { sum, pair in
            let (today, tomorrow) = pair
            return sum + abs(tomorrow - today)
        }
        features = [
            Double(posts), Double(daysWithPosts.count), Double(counts.max() ?? 0),
            Self.share(weekendPosts, of: posts),
            Self.share(gaps.count { $0 == 0 }, of: gaps.count),
            Self.share(gaps.count { $0 <= Self.longestGapInSitting }, of: gaps.count),
            Double(Self.middle(gaps)),
            Double(hours.count),
            entropyOfHours,
            Self.mean(daysWithPosts.compactMap(\.first)),
            Self.mean(daysWithPosts.compactMap(\.last)),
            Self.spread(daysWithPosts.compactMap(\.first)), Self.spread(counts),
            Double(sumOfChanges),
        ]
    }

    private static func share(_ part: Int, of whole: Int) -> Double {
        whole == 0 ? 0 : Double(part) / Double(whole)
    }

    /// Returns the median; for an even number of values, the upper of the two in the middle.
    private static func middle(_ sorted: [Int]) -> Int {
        sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    private static func mean(_ values: [Int]) -> Double {
        values.isEmpty ? 0 : Double(values.reduce(0, +)) / Double(values.count)
    }

    /// Returns the standard deviation.
    private static func spread(_ values: [Int]) -> Double {
        let mean = mean(values)
        let squares = values.reduce(0.0) { sum, value in
            let deviation = Double(value) - mean
            return sum + deviation * deviation
        }
        return values.isEmpty ? 0 : (squares / Double(values.count)).squareRoot()
    }
}
