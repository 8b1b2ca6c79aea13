/// Draws an index in proportion to weights, by inverse transform.
///
/// The running totals are integers, so no rounding error can make a draw exceed the last of them.
package struct CumulativeTable: Equatable, Sendable {
    /// The rounding of weights to whole units of 2^-40.
    package enum Rounding: Sendable {
        /// Each weight is rounded down, then one unit is added, so that every index can be drawn,
        /// however small its weight.
        case atLeastOne
        /// Weights are rounded down, so that an index of weight 0 can never be drawn.
        case down
    }

    /// For each index, the sum of the rounded weights up to and including it, in units of 2^-40.
    package let totals: [UInt64]

    /// - Parameters:
    ///   - weights: Shares that sum to about 1; negative values and NaN count as 0.
    ///   - rounding: The rounding of shares to integer multiples of 2^-40.
    ///   - isClosed: Whether an index must never be drawn.
    package init(weights: [Double], rounding: Rounding, isClosed: (Int) -> Bool = { _ in false }) {
        var total: UInt64 = 0
        totals = weights.enumerated().map { index, weight in
            if !isClosed(index) { total += Self.gridWeight(weight, rounding) }
            return total
        }
    }

    /// The total of all weights.
    package var total: UInt64 { totals.last ?? 0 }

    /// The share of `index` in the total.
    package func probability(of index: Int) -> Double {
        guard totals.indices.contains(index), total > 0 else { return 0 }
        return Double(totals[index] - (index > 0 ? totals[index - 1] : 0)) / Double(total)
    }

    /// The inverse of ``index(atUniform:)``: the share of all indexes before `index`, plus a part
    /// of the share of `index`.
    ///
    /// - Parameters:
    ///   - part: The part of the index's own share to add: from 0, included, to 1, excluded.
    /// - Returns: A number from 0, included, to 1, excluded; nil if nothing has weight or `index`
    ///   is out of range.
    package func uniform(at index: Int, part: Double) -> Double? {
        guard totals.indices.contains(index), total > 0 else { return nil }
        let totalBefore = index > 0 ? totals[index - 1] : 0
        return (Double(totalBefore) + part * Double(totals[index] - totalBefore)) / Double(total)
    }

    /// Draws an index by inverse transform.
    ///
    /// - Parameter u: From 0, included, to 1, excluded; other values are clamped.
    /// - Returns: The smallest index whose running total exceeds `u` times the total; nil if
    ///   nothing has weight.
    package func index(atUniform u: Double) -> Int? {
        guard total > 0 else { return nil }
        let position = max(0, u.isNaN ? 0 : u) * Double(total)
        let drawnTotal = position < Double(total) ? min(UInt64(position), total - 1) : total - 1
        var low = 0
        var high = totals.count - 1
        while low < high {
            let middle = (low + high) / 2
            if totals[middle] > drawnTotal { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Rounds a weight to units of 2^-40; negative values and NaN give the least weight.
    private static func gridWeight(_ weight: Double, _ rounding: Rounding) -> UInt64 {
        let bounded = weight > 0 ? min(weight, 1) : 0
        return UInt64(bounded * 0x1p40) + (rounding == .atLeastOne ? 1 : 0)
    }
}
