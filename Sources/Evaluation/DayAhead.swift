import Foundation
import Posts
import Schedule

/// Measures how well the number of posts on each of a person's last days is predicted from all days
/// before it.
///
/// The last fifth of the days is predicted, 200 days at most, spread evenly. The result depends
/// only on the posts and the settings.
struct DayAhead {
    /// The scores of one model.
    struct Scores {
        /// The mean over the days of ln(probability of the day's number of posts).
        var nats = 0.0
        /// The mean over the days of the continuous ranked probability score, in posts.
        var error = 0.0
    }

    /// The minimum number of tested days; with fewer days the measure depends on chance.
    private static let fewestDays = 30
    /// The maximum number of days that are predicted.
    private static let maximumDays = 200
    /// The maximum number of posts on one day.
    ///
    /// No person makes more. A past with more is not measured, because that would only cost time.
    private static let maximumPosts = 10_000
    /// The minimum probability of a number of posts, so that one day with a number that never
    /// occurred before does not outweigh all other days.
    fileprivate static let minimumChance = 1e-9

    /// The scores of the model by which days are planned, which knows quiet and busy spells.
    private(set) var spells = Scores()
    /// The scores of a model that ignores the days just before.
    private(set) var plain = Scores()

    /// Measures the predictions of a person's last days; nil if the past is too short.
    ///
    /// - Parameters:
    ///   - times: The person's posts.
    ///   - configuration: The settings by which days are planned.
    init?(_ times: [LocalTime], configuration: ScheduleConfiguration) {
        let history = PostingHistory(times: times)
        let past = history.dailyCounts
        let firstTested = max(DailyCounts.fewestForSpells, past.counts.count * 4 / 5)
        let daysAfterFirst = past.counts.count - firstTested
        guard daysAfterFirst >= Self.fewestDays, let highestCount = past.counts.max(),
            highestCount <= Self.maximumPosts
        else {
            return nil
        }
        // With more days than the maximum, the first and the last one are among the chosen.
        let days =
            daysAfterFirst <= Self.maximumDays
            ? Array(firstTested..<past.counts.count)
            : (0..<Self.maximumDays).map {
                firstTested + $0 * (daysAfterFirst - 1) / (Self.maximumDays - 1)
            }
        for dayIndex in days {
            let day = past.first.advanced(by: dayIndex)
            let historyWeight = HistoryWeight(
                asOf: day.advanced(by: -1), target: day, weekend: configuration.weekend)
            let weights = (0..<dayIndex).map {
                historyWeight.weight(of: past.first.advanced(by: $0))
            }
            let recent = RecentDays((1...RecentDays.length).map { past.counts[dayIndex - $0] })
            let likeness =
                configuration.model != .raw ? past.likeness(to: recent, of: dayIndex) : []
            let weightOfDay = 1 / Double(days.count)
            plain.add(
                Self.chances(of: past.counts, weights: weights, highestCount: highestCount),
                of: past.counts[dayIndex], share: weightOfDay)
            let spellWeights =
                likeness.isEmpty ? weights : zip(weights, likeness).map { $0 * $1 }
            spells.add(
                Self.chances(of: past.counts, weights: spellWeights, highestCount: highestCount),
                of: past.counts[dayIndex], share: weightOfDay)
        }
    }

    /// The share of the probability that is spread over all numbers of posts by a geometric
    /// distribution, so that numbers that never occurred get a part of it.
    private static let unseenShare = 0.05

    /// The probabilities of 0, 1, 2 … posts, up to one more than the highest count.
    private static func chances(
        of counts: [Int], weights: [Double], highestCount: Int
    ) -> [Double] {
        let weightSum = weights.reduce(0, +)
        var chances = Array(repeating: 0.0, count: highestCount + 2)
        var mean = 0.0
        for (count, weight) in zip(counts, weights) {
            chances[count] += weight / weightSum
            mean += Double(count) * weight / weightSum
        }
        // The geometric distribution with this ratio has the same mean as the counts.
        let ratio = mean / (1 + mean)
        return chances.indices.map { count in
            let geometricPart = unseenShare * (1 - ratio) * pow(ratio, Double(count))
            return (1 - unseenShare) * chances[count] + geometricPart
        }
    }
}

extension DayAhead.Scores {
    /// Adds the scores of one day, weighted by its share of all days.
    fileprivate mutating func add(_ chances: [Double], of count: Int, share: Double) {
        nats += share * log(max(chances[count], DayAhead.minimumChance))
        // The continuous ranked probability score is the sum of the squared distances between the
        // predicted and the actual cumulative distribution.
        var cumulatedChance = 0.0
        for (number, chance) in chances.enumerated() {
            cumulatedChance += chance
            let distance = cumulatedChance - (number >= count ? 1 : 0)
            error += share * distance * distance
        }
    }
}
