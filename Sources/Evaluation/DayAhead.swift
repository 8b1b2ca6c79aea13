import Foundation
import Posts
import Schedule

/// Measures how well the number of posts on each of a person's last days is predicted from all days
/// before it.
///
/// It is deterministic. The last fifth of the days is predicted, 200 of them at most, spread
/// evenly.
struct DayAhead {
    /// The scores of one model.
    struct Scores {
        /// ln(chance of the day's number of posts), the mean over the days.
        var nats = 0.0
        /// The continuous ranked probability score, the mean over the days, in posts.
        var error = 0.0
    }

    /// With fewer days to tell every figure is chance.
    private static let fewestDays = 30
    private static let mostDays = 200
    /// A day with more posts is no person's, and would only cost time.
    private static let mostPosts = 10_000
    /// The least probability of a number of posts, so that one day with an unseen number does not
    /// outweigh all others.
    fileprivate static let leastChance = 1e-9

    /// The model of the plans.
    private(set) var spells = Scores()
    /// The scores of a model that ignores the days just before.
    private(set) var plain = Scores()

    /// Nil if the past is too short for a prediction.
    ///
    /// - Parameters:
    ///   - times: The person's posts.
    ///   - configuration: How days are planned.
    init?(_ times: [LocalTime], _ configuration: ScheduleConfiguration) {
        let history = PostingHistory(times: times)
        let past = history.dailyCounts
        let first = max(DailyCounts.fewestForSpells, past.counts.count * 4 / 5)
        let found = past.counts.count - first
        guard found >= Self.fewestDays, let most = past.counts.max(), most <= Self.mostPosts else {
            return nil
        }
        let days =
            found <= Self.mostDays
            ? Array(first..<past.counts.count)
            : (0..<Self.mostDays).map { first + $0 * (found - 1) / (Self.mostDays - 1) }
        for index in days {
            let day = past.first.advanced(by: index)
            let weight = HistoryWeight(
                asOf: day.advanced(by: -1), target: day, weekend: configuration.weekend)
            let weights = (0..<index).map { weight.weight(of: past.first.advanced(by: $0)) }
            let recent = RecentDays((1...RecentDays.length).map { past.counts[index - $0] })
            let likeness = configuration.model != .raw ? past.likeness(to: recent, of: index) : []
            let share = 1 / Double(days.count)
            plain.add(Self.chances(past.counts, weights, most), of: past.counts[index], share)
            spells.add(
                likeness.isEmpty
                    ? Self.chances(past.counts, weights, most)
                    : Self.chances(past.counts, zip(weights, likeness).map { $0 * $1 }, most),
                of: past.counts[index], share)
        }
    }

    /// The probability of each number of posts from 0 to one more than the highest; one twentieth
    /// is reserved for unseen numbers.
    private static func chances(_ counts: [Int], _ weights: [Double], _ most: Int) -> [Double] {
        let sum = weights.reduce(0, +)
        var chances = Array(repeating: 0.0, count: most + 2)
        var mean = 0.0
        for (count, weight) in zip(counts, weights) {
            chances[count] += weight / sum
            mean += Double(count) * weight / sum
        }
        let ratio = mean / (1 + mean)
        return chances.indices.map {
            0.95 * chances[$0] + 0.05 * (1 - ratio) * pow(ratio, Double($0))
        }
    }
}

extension DayAhead.Scores {
    /// Adds the scores of one day.
    fileprivate mutating func add(_ chances: [Double], of count: Int, _ share: Double) {
        nats += share * log(max(chances[count], DayAhead.leastChance))
        var running = 0.0
        for (number, chance) in chances.enumerated() {
            running += chance
            let distance = running - (number >= count ? 1 : 0)
            error += share * distance * distance
        }
    }
}
