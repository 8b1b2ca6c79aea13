import Evaluation
import Favorites
import Testing

@Suite struct RankingTests {
    /// Rates with what the human did, and the measures as worked out on paper.
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let favorites: [Double]
        let others: [Double]
        let rocAUC: Double?
        let averagePrecision: Double?
        let bestF1: Double?
        let bestLogRate: Double?
        var testDescription: String { name }

        var predictions: [Prediction] {
            favorites.map { .ranked($0, true) } + others.map { .ranked($0, false) }
        }
    }

    static let vectors = [
        // 3 of 4 pairs are in order; steps at recall 1/2 (precision 1) and 1 (2/3).
        Vector(
            name: "two of each", favorites: [0.35, 0.8], others: [0.1, 0.4], rocAUC: 3.0 / 4,
            averagePrecision: (1 + 2.0 / 3) / 2, bestF1: 4.0 / 5, bestLogRate: 0.35),
        Vector(
            name: "perfect", favorites: [3, 2], others: [1, 0, -1], rocAUC: 1, averagePrecision: 1,
            bestF1: 1,
            bestLogRate: 2),
        // The favorites come last: precisions 1/4 and 2/5.
        Vector(
            name: "reversed", favorites: [-2, -1], others: [0, 1, 2], rocAUC: 0,
            averagePrecision: (1.0 / 4 + 2.0 / 5) / 2, bestF1: 4.0 / 7, bestLogRate: -2),
        // One threshold parts nothing: every pair counts half, and precision is the share of
        // favorites.
        Vector(
            name: "all tied", favorites: [5], others: [5, 5, 5], rocAUC: 1.0 / 2,
            averagePrecision: 1.0 / 4,
            bestF1: 2.0 / 5, bestLogRate: 5),
        // 3 | 2 2 | 1 with favorites at 3 and 2: pairs (1 + 1) + (½ + 1) of 4.
        Vector(
            name: "a tie in the middle", favorites: [3, 2], others: [2, 1], rocAUC: 3.5 / 4,
            averagePrecision: (1 + 2.0 / 3) / 2, bestF1: 4.0 / 5, bestLogRate: 2),
        // Zero and minus zero are one rate.
        Vector(
            name: "signs of zero", favorites: [0.0], others: [-0.0], rocAUC: 1.0 / 2,
            averagePrecision: 1.0 / 2,
            bestF1: 2.0 / 3, bestLogRate: 0),
        Vector(
            name: "favorites only", favorites: [1, 2], others: [], rocAUC: nil, averagePrecision: 1,
            bestF1: 1,
            bestLogRate: 1),
        Vector(
            name: "no favorites", favorites: [], others: [1, 2], rocAUC: nil, averagePrecision: nil,
            bestF1: nil,
            bestLogRate: nil),
        Vector(
            name: "one favorite", favorites: [-4], others: [], rocAUC: nil, averagePrecision: 1,
            bestF1: 1,
            bestLogRate: -4),
        Vector(
            name: "one other post", favorites: [], others: [4], rocAUC: nil, averagePrecision: nil,
            bestF1: nil,
            bestLogRate: nil),
        Vector(
            name: "nothing", favorites: [], others: [], rocAUC: nil, averagePrecision: nil,
            bestF1: nil,
            bestLogRate: nil),
        Vector(
            name: "far apart", favorites: [700], others: [-700, .leastNonzeroMagnitude], rocAUC: 1,
            averagePrecision: 1, bestF1: 1, bestLogRate: 700),
    ]

    private func expectClose(
        _ value: Double?, _ expected: Double?, _ location: SourceLocation = #_sourceLocation
    ) {
        guard let value, let expected else {
            #expect(value == expected, sourceLocation: location)
            return
        }
        #expect(
            abs(value - expected) < 1e-12, "\(value) is not \(expected)", sourceLocation: location)
    }

    @Test(arguments: vectors) func agreesWithWhatIsWorkedOutByHand(_ vector: Vector) {
        for predictions in [vector.predictions, vector.predictions.reversed()] {
            let ranking = Ranking(predictions)
            expectClose(ranking.rocAUC, vector.rocAUC)
            expectClose(ranking.averagePrecision, vector.averagePrecision)
            expectClose(ranking.bestF1?.f1, vector.bestF1)
            expectClose(ranking.bestF1?.logRate, vector.bestLogRate)
        }
    }

    @Test(arguments: 1...40) func agreesWithTheDefinitions(_ seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        // Few different rates, so that there are many ties.
        let predictions = (0..<Int.random(in: 20...60, using: &numbers)).map { _ in
            Prediction.ranked(
                Double(Int.random(in: -4...4, using: &numbers)),
                Int.random(in: 0..<3, using: &numbers) == 0)
        }
        let favorites = predictions.filter(\.isFavorite).map(\.logRate)
        let others = predictions.filter { !$0.isFavorite }.map(\.logRate)
        let ranking = Ranking(predictions)

        let wins = favorites.flatMap { favorite in
            others.map { other -> Double in
                if favorite > other { 1 } else if favorite == other { 0.5 } else { 0 }
            }
        }
        expectClose(ranking.rocAUC, wins.isEmpty ? nil : wins.reduce(0, +) / Double(wins.count))

        // The precision and recall of every threshold, one after the other.
        var sum = 0.0
        var recall = 0.0
        var best = 0.0
        for threshold in Set(predictions.map(\.logRate)).sorted(by: >) {
            let fired = predictions.filter { $0.logRate >= threshold }
            let hits = Double(fired.count { $0.isFavorite })
            let precision = hits / Double(fired.count)
            let reached = hits / Double(favorites.count)
            sum += (reached - recall) * precision
            recall = reached
            if hits > 0 { best = max(best, 2 * precision * reached / (precision + reached)) }
        }
        expectClose(ranking.averagePrecision, favorites.isEmpty ? nil : sum)
        expectClose(ranking.bestF1?.f1, favorites.isEmpty ? nil : best)
    }

    @Test func onlyTheOrderMatters() {
        var numbers = SeededNumbers(seed: 7)
        let rates = (0..<200).map { _ in Double.random(in: -3...3, using: &numbers) }
        let favorites = rates.map { Double.random(in: -3...3, using: &numbers) < $0 }
        let plain = Ranking(zip(rates, favorites).map { .ranked($0, $1) })
        let shifted = Ranking(zip(rates, favorites).map { .ranked(3 * $0 - 8, $1) })
        #expect(plain.rocAUC == shifted.rocAUC)
        #expect(plain.averagePrecision == shifted.averagePrecision)
        #expect(plain.bestF1?.f1 == shifted.bestF1?.f1)
    }
}
