import Foundation
package import Posts

/// The human's number of posts on each completely known day, with the counts of the days before it.
///
/// People have quiet and busy spells. So a past day gets a larger weight for a planned day if the
/// days before the past day resemble the days before the planned day. Two numbers are compared: the
/// posts of the day just before, and the mean of the three days before.
package struct DailyCounts: Sendable {
    /// The least number of past days for which quiet and busy spells are modelled: with fewer,
    /// spells cannot be distinguished from chance, and there are too few days to copy.
    package static let fewestForSpells = 60

    /// The earliest of the days.
    package let first: LocalDay
    /// The number of posts of each day from ``first`` on, 0 included.
    package let counts: [Int]
    /// For each day, ln(1 + posts) of the day before; unknown for the earliest day.
    private let logOfDayBefore: DistinctValues
    /// For each day, ln(1 + mean) for the posts of the three days before it; for the first days, of
    /// the fewer days before them.
    private let logOfMeanBefore: DistinctValues

    /// - Parameters:
    ///   - counts: The number of posts of each day, oldest first, 0 included.
    ///   - first: The earliest day.
    package init(_ counts: [Int], from first: LocalDay) {
        self.counts = counts
        self.first = first
        logOfDayBefore = DistinctValues(
            counts.indices.map { $0 == 0 ? 0 : log(1 + Double(counts[$0 - 1])) })
        logOfMeanBefore = DistinctValues(
            counts.indices.map { index in
                let countsBefore = counts[max(0, index - RecentDays.length)..<index]
                return countsBefore.isEmpty
                    ? 0 : log(1 + Double(countsBefore.reduce(0, +)) / Double(countsBefore.count))
            })
    }

    /// The number of posts of a day; nil if the day is not a completely known one.
    package subscript(day: LocalDay) -> Int? {
        let index = day.days(since: first)
        return counts.indices.contains(index) ? counts[index] : nil
    }

    /// Returns how similar the days before each day of the history are to the days before another
    /// day.
    ///
    /// The likeness is a product of two Gaussian curves over logarithms of the numbers of posts.
    ///
    /// - Parameters:
    ///   - recent: The days just before the other day.
    ///   - count: The number of days to return, the earliest first; nil for all.
    /// - Returns: A number for each day: 1 if the days before are equal, 0.001 if they have nothing
    ///   in common. The earliest day gets 0 because no day before it is known. All days get 1 if no
    ///   recent day is known.
    package func likeness(to recent: RecentDays, of count: Int? = nil) -> [Double] {
        let count = min(count ?? counts.count, counts.count)
        guard let mean = recent.mean.map({ log(1 + $0) }) else {
            return Array(repeating: 1, count: count)
        }
        let yesterday = recent.yesterday.map { log(1 + Double($0)) }
        let likenessOfYesterday = logOfDayBefore.values.map { value in
            yesterday.map { Self.bell(value - $0, width: 0.5) } ?? 1
        }
        let likenessOfMean = logOfMeanBefore.values.map { Self.bell($0 - mean, width: 0.3) }
        return (0..<count).map { index in
            index > 0
                ? 0.001 + 0.999 * likenessOfYesterday[logOfDayBefore.indices[index]]
                    * likenessOfMean[logOfMeanBefore.indices[index]]
                : 0
        }
    }

    /// A Gaussian curve with the standard deviation `width`; 1 at distance 0.
    private static func bell(_ distance: Double, width: Double) -> Double {
        exp(-(distance / width) * (distance / width) / 2)
    }

    /// Numbers with many duplicates, stored so that a function is computed once for each distinct
    /// value.
    private struct DistinctValues {
        private(set) var values: [Double] = []
        private(set) var indices: [Int] = []

        init(_ numbers: [Double]) {
            var indexByValue: [Double: Int] = [:]
            for value in numbers {
                let index = indexByValue[value] ?? values.count
                if index == values.count {
                    indexByValue[value] = index
                    values.append(value)
                }
                indices.append(index)
            }
        }
    }
}

/// The numbers of posts of the days just before a day, as far as known.
package struct RecentDays: Hashable, Sendable {
    /// The number of days considered.
    package static let length = 3
    /// The value if no day is known.
    package static let unknown = RecentDays([])

    /// The number of posts of the day before; nil if it is unknown.
    package let yesterday: Int?
    private let total: Int
    private let knownCount: Int

    /// - Parameter counts: The numbers of posts, the day before first; nil for unknown.
    package init(_ counts: [Int?]) {
        let knownCounts = counts.prefix(Self.length).compactMap(\.self)
        yesterday = counts.first ?? nil
        total = knownCounts.reduce(0, +)
        knownCount = knownCounts.count
    }

    /// The mean of the known days; nil if there are none.
    package var mean: Double? { knownCount > 0 ? Double(total) / Double(knownCount) : nil }
}

/// The model from which a day's number of posts is drawn, given the numbers of the days before it.
package struct DayCountModel: Sendable {
    private let past: DailyCounts
    /// The weight of each past day by age and weekday.
    private let weights: [Double]
    private let knowsSpells: Bool

    /// - Parameters:
    ///   - knowsSpells: Whether the days before a day affect its number of posts.
    package init(_ past: DailyCounts, weights: [Double], knowsSpells: Bool) {
        self.past = past
        self.weights = weights
        self.knowsSpells = knowsSpells
    }

    /// Returns the distribution of a day's number of posts, given those of the days before it.
    package func distribution(after recent: RecentDays) -> DayCountDistribution {
        guard knowsSpells else {
            return DayCountDistribution(counts: past.counts, weights: weights)
        }
        let likeness = past.likeness(to: recent)
        return DayCountDistribution(
            counts: past.counts, weights: zip(weights, likeness).map { $0 * $1 })
    }
}

/// For each past day, the probability that a planned day is modelled on it.
package struct DayCountDistribution: Equatable, Sendable {
    /// The number of posts of each past day, oldest first, 0 included.
    package let counts: [Int]
    private let table: CumulativeTable

    /// - Parameters:
    ///   - counts: The number of posts of each past day.
    ///   - weights: The weight of each of these days, in any unit; a day with weight 0 is never
    ///     drawn.
    package init(counts: [Int], weights: [Double]) {
        let weightSum = weights.reduce(0, +)
        self.counts = counts
        self.table = CumulativeTable(
            weights: weights.map { weightSum > 0 ? $0 / weightSum : 0 }, rounding: .atLeastOne,
            isClosed: { weights[$0] == 0 })
    }

    /// Returns the index in ``counts`` of the first past day at which the cumulative probability
    /// exceeds `u`; nil if no day can be drawn.
    package func index(atUniform u: Double) -> Int? {
        table.index(atUniform: u).flatMap { counts.indices.contains($0) ? $0 : nil }
    }

    /// Returns the number of posts of the first past day at which the cumulative probability
    /// exceeds `u`; nil if no day can be drawn.
    package func count(atUniform u: Double) -> Int? { index(atUniform: u).map { counts[$0] } }

    /// The probability of a day with exactly `count` posts.
    package func probability(of count: Int) -> Double {
        let days = counts.indices.filter { counts[$0] == count }
        return days.reduce(0) { $0 + table.probability(of: $1) }
    }

    /// The expected number of posts of a day.
    package var mean: Double {
        counts.indices.reduce(0) { $0 + Double(counts[$1]) * table.probability(of: $1) }
    }
}
