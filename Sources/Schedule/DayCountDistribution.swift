/// How many posts a day gets: the count of one past day, drawn by weight.
package struct DayCountDistribution: Equatable, Sendable {
    /// The number of posts of each past day, oldest first, days without any included.
    package let counts: [Int]
    private let table: CumulativeTable

    /// - Parameters:
    ///   - counts: The number of posts of each past day.
    ///   - weights: How much each of these days counts, in any unit.
    package init(counts: [Int], weights: [Double]) {
        let sum = weights.reduce(0, +)
        self.counts = counts
        self.table = CumulativeTable(weights: weights.map { sum > 0 ? $0 / sum : 0 }, rounding: .atLeastOne)
    }

    /// The count of the day at which the running share first exceeds `u`; nil if there is no past day.
    package func count(atUniform u: Double) -> Int? {
        guard let index = table.index(atUniform: u), counts.indices.contains(index) else { return nil }
        return counts[index]
    }

    /// How likely a day of exactly `count` posts is.
    package func probability(of count: Int) -> Double {
        counts.indices.reduce(0) { counts[$1] == count ? $0 + table.probability(of: $1) : $0 }
    }

    /// The expected number of posts of a day.
    package var mean: Double {
        counts.indices.reduce(0) { $0 + Double(counts[$1]) * table.probability(of: $1) }
    }
}
