/// How often each of some whole numbers was seen.
package struct Frequencies: Equatable, Sendable {
    private let counts: [Int: Int]
    /// How many numbers were seen.
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

    /// The share of `value` among all numbers.
    package func share(of value: Int) -> Double {
        total > 0 ? Double(counts[value, default: 0]) / Double(total) : 0
    }

    /// The total variation ½ Σ |p − q|: 0 if both are the same, 1 if they have nothing in common, nil if one is empty.
    package func totalVariation(to other: Frequencies) -> Double? {
        guard total > 0, other.total > 0 else { return nil }
        return Set(counts.keys).union(other.counts.keys).sorted()
            .reduce(0) { $0 + abs(share(of: $1) - other.share(of: $1)) } / 2
    }

    /// The Kolmogorov–Smirnov distance, the largest difference of the running shares, 0 to 1; nil if one is empty.
    package func kolmogorovSmirnovDistance(to other: Frequencies) -> Double? {
        guard total > 0, other.total > 0 else { return nil }
        var (own, others, largest) = (0, 0, 0.0)
        for value in Set(counts.keys).union(other.counts.keys).sorted() {
            own += counts[value, default: 0]
            others += other.counts[value, default: 0]
            largest = max(largest, abs(Double(own) / Double(total) - Double(others) / Double(other.total)))
        }
        return largest
    }
}
