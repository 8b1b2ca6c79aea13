import Foundation
package import Posts

/// How many posts the human made on each day that is known as a whole, and what the days before it
/// were like.
///
/// People have quiet and busy spells. A past day tells the more about the day that is planned, the
/// more alike the days before both were: the one just before, and the three before on average.
package struct DailyCounts: Sendable {
    /// With fewer past days than these, spells cannot be told from chance, and there are too few
    /// days to copy.
    package static let fewestForSpells = 60

    /// The earliest of the days.
    package let first: LocalDay
    /// The number of posts of each day from ``first`` on, days without any included.
    package let counts: [Int]
    /// ln(1 + posts) of the day before each day; of the earliest it is not known.
    private let yesterdays: DistinctValues
    /// ln(1 + mean) of the three days before each day, or of as many as there are.
    private let means: DistinctValues

    /// - Parameters:
    ///   - counts: The number of posts of each day, oldest first, days without any included.
    ///   - first: The earliest of them.
    package init(_ counts: [Int], from first: LocalDay) {
        self.counts = counts
        self.first = first
        yesterdays = DistinctValues(
            counts.indices.map { $0 == 0 ? 0 : log(1 + Double(counts[$0 - 1])) })
        means = DistinctValues(
            counts.indices.map { index in
                let before = counts[max(0, index - RecentDays.length)..<index]
                return before.isEmpty
                    ? 0 : log(1 + Double(before.reduce(0, +)) / Double(before.count))
            })
    }

    /// The number of posts of a day; nil if it is not one of these.
    package subscript(day: LocalDay) -> Int? {
        let index = day.days(since: first)
        return counts.indices.contains(index) ? counts[index] : nil
    }

    /// How much the days before each day were like those before another one.
    ///
    /// - Parameters:
    ///   - recent: The days before that other one.
    ///   - count: How many days are wanted, the earliest first; nil for all.
    /// - Returns: 0.001 for nothing in common to 1 for the same; 0 for the earliest day, before
    ///   which nothing is known. All are 1 if nothing is known of the recent days.
    package func likeness(to recent: RecentDays, of count: Int? = nil) -> [Double] {
        let count = min(count ?? counts.count, counts.count)
        guard let mean = recent.mean.map({ log(1 + $0) }) else {
            return Array(repeating: 1, count: count)
        }
        let yesterday = recent.yesterday.map { log(1 + Double($0)) }
        let steps = yesterdays.values.map { value in
            yesterday.map { Self.bell(value - $0, width: 0.5) } ?? 1
        }
        let spells = means.values.map { Self.bell($0 - mean, width: 0.3) }
        return (0..<count).map { index in
            index > 0
                ? 0.001 + 0.999 * steps[yesterdays.indices[index]] * spells[means.indices[index]]
                : 0
        }
    }

    private static func bell(_ distance: Double, width: Double) -> Double {
        exp(-(distance / width) * (distance / width) / 2)
    }

    /// Numbers of which many are the same, so that what is computed of each is computed once.
    private struct DistinctValues {
        private(set) var values: [Double] = []
        private(set) var indices: [Int] = []

        init(_ all: [Double]) {
            var known: [Double: Int] = [:]
            for value in all {
                let index = known[value] ?? values.count
                if index == values.count {
                    known[value] = index
                    values.append(value)
                }
                indices.append(index)
            }
        }
    }
}

/// How many posts the days just before one had, as far as that is known.
package struct RecentDays: Hashable, Sendable {
    /// How many days are looked at.
    package static let length = 3
    /// Nothing is known.
    package static let unknown = RecentDays([])

    /// The number of posts of the day before; nil if it is unknown.
    package let yesterday: Int?
    private let total: Int
    private let known: Int

    /// - Parameter counts: The numbers of posts, of the day before first; nil for what is unknown.
    package init(_ counts: [Int?]) {
        let known = counts.prefix(Self.length).compactMap(\.self)
        yesterday = counts.first ?? nil
        total = known.reduce(0, +)
        self.known = known.count
    }

    /// The mean of the days that are known; nil if none is.
    package var mean: Double? { known > 0 ? Double(total) / Double(known) : nil }
}

/// The model from which the number of posts of a day is drawn, whatever the days before it were.
package struct DayCountModel: Sendable {
    private let past: DailyCounts
    /// How much each past day counts by its age and weekday.
    private let weights: [Double]
    private let knowsSpells: Bool

    /// - Parameters:
    ///   - knowsSpells: Whether the days before count too.
    package init(_ past: DailyCounts, weights: [Double], knowsSpells: Bool) {
        self.past = past
        self.weights = weights
        self.knowsSpells = knowsSpells
    }

    /// The distribution for a day.
    package func distribution(after recent: RecentDays) -> DayCountDistribution {
        guard knowsSpells else {
            return DayCountDistribution(counts: past.counts, weights: weights)
        }
        let likeness = past.likeness(to: recent)
        return DayCountDistribution(
            counts: past.counts, weights: zip(weights, likeness).map { $0 * $1 })
    }
}

/// Which past day a day takes after: one drawn by weight.
package struct DayCountDistribution: Equatable, Sendable {
    /// The number of posts of each past day, oldest first, days without any included.
    package let counts: [Int]
    private let table: CumulativeTable

    /// - Parameters:
    ///   - counts: The number of posts of each past day.
    ///   - weights: How much each of these days counts, in any unit; one of weight 0 is never
    ///     drawn.
    package init(counts: [Int], weights: [Double]) {
        let sum = weights.reduce(0, +)
        self.counts = counts
        self.table = CumulativeTable(
            weights: weights.map { sum > 0 ? $0 / sum : 0 }, rounding: .atLeastOne,
            isClosed: { weights[$0] == 0 })
    }

    /// The past day, as an index of ``counts``, at which the running share first exceeds `u`; nil
    /// if there is none.
    package func index(atUniform u: Double) -> Int? {
        table.index(atUniform: u).flatMap { counts.indices.contains($0) ? $0 : nil }
    }

    /// The count of the day at which the running share first exceeds `u`; nil if there is no past
    /// day.
    package func count(atUniform u: Double) -> Int? { index(atUniform: u).map { counts[$0] } }

    /// How likely a day of exactly `count` posts is.
    package func probability(of count: Int) -> Double {
        counts.indices.reduce(0) { counts[$1] == count ? $0 + table.probability(of: $1) : $0 }
    }

    /// The expected number of posts of a day.
    package var mean: Double {
        counts.indices.reduce(0) { $0 + Double(counts[$1]) * table.probability(of: $1) }
    }
}
