import Schedule
import Testing

/// The running totals of whole weights, and the draws from them.
@Suite struct CumulativeTableTests {
    private static let whole: UInt64 = 1 << 40
    private static let half = whole / 2
    private static let quarter = whole / 4

    @Test func weightsAreRoundedDownToTheGridAndOneMore() {
        let table = CumulativeTable(weights: [0.5, 0, 0.25, 1e-14, 0.25], rounding: .atLeastOne)
        let expected: [UInt64] = [Self.half + 1, 1, Self.quarter + 1, 1, Self.quarter + 1]
        var sum: UInt64 = 0
        for (total, weight) in zip(table.totals, expected) {
            sum += weight
            #expect(total == sum)
        }
        #expect(table.total == Self.whole + 5)
    }

    @Test func rawWeightsAreOnlyRoundedDown() {
        let table = CumulativeTable(weights: [0.5, 0, 0.25, 1e-14, 0.25], rounding: .down)
        let most = Self.half + Self.quarter
        #expect(table.totals == [Self.half, Self.half, most, most, Self.whole])
    }

    @Test func closedIndexesWeighNothing() {
        let table = CumulativeTable(weights: [0.5, 0.5, 0.5], rounding: .atLeastOne) { $0 == 1 }
        #expect(table.totals == [Self.half + 1, Self.half + 1, Self.whole + 2])
        #expect(table.probability(of: 1) == 0)
        #expect(table.probability(of: 2) == 0.5)
    }

    @Test(arguments: [
        (0.0, 0), (0.5.nextDown, 0), (0.5, 2), (0.75.nextDown, 2), (0.75, 4), (1.0.nextDown, 4),
        (1, 4),
    ])
    func theDrawIsTheFirstWhoseRunningTotalExceedsIt(u: Double, index: Int) {
        let table = CumulativeTable(weights: [0.5, 0, 0.25, 0, 0.25], rounding: .down)
        #expect(table.index(atUniform: u) == index)
    }

    @Test func hostileWeightsDoNoHarm() {
        let table = CumulativeTable(weights: [.nan, -1, .infinity, -.infinity, 7], rounding: .down)
        #expect(table.totals == [0, 0, Self.whole, Self.whole, 2 * Self.whole])
        #expect(CumulativeTable(weights: [], rounding: .atLeastOne).index(atUniform: 0.5) == nil)
        #expect(CumulativeTable(weights: [0, 0], rounding: .down).index(atUniform: 0) == nil)
    }
}
