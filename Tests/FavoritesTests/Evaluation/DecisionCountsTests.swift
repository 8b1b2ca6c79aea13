import Evaluation
import Favorites
import Testing

@Suite struct DecisionCountsTests {
    struct Vector: Sendable {
        let hits: Int
        let wrong: Int
        let missed: Int
        let passed: Int
        let precision: Double?
        let recall: Double?
        let f1: Double?
    }

    static let vectors = [
        Vector(
            hits: 2, wrong: 1, missed: 3, passed: 4, precision: 2.0 / 3, recall: 2.0 / 5,
            f1: 4.0 / 8),
        Vector(hits: 5, wrong: 0, missed: 0, passed: 1, precision: 1, recall: 1, f1: 1),
        Vector(hits: 0, wrong: 2, missed: 2, passed: 0, precision: 0, recall: 0, f1: 0),
        // Without a decision precision has no value, without a favorite recall has none.
        Vector(hits: 0, wrong: 0, missed: 3, passed: 4, precision: nil, recall: 0, f1: 0),
        Vector(hits: 0, wrong: 3, missed: 0, passed: 4, precision: 0, recall: nil, f1: 0),
        Vector(hits: 0, wrong: 0, missed: 0, passed: 4, precision: nil, recall: nil, f1: nil),
        Vector(hits: 0, wrong: 0, missed: 0, passed: 0, precision: nil, recall: nil, f1: nil),
        Vector(hits: 1, wrong: 0, missed: 0, passed: 0, precision: 1, recall: 1, f1: 1),
    ]

    @Test(arguments: vectors) func agreeWithWhatIsWorkedOutByHand(_ vector: Vector) {
        func times(_ number: Int, _ prediction: Prediction) -> [Prediction] {
            Array(repeating: prediction, count: number)
        }
        let counts = DecisionCounts(
            times(vector.hits, .decided(true, true)) + times(vector.wrong, .decided(true, false))
                + times(vector.missed, .decided(false, true))
                + times(vector.passed, .decided(false, false)))
        #expect(counts.posts == vector.hits + vector.wrong + vector.missed + vector.passed)
        #expect((counts.fired, counts.hits) == (vector.hits + vector.wrong, vector.hits))
        #expect(counts.favorites == vector.hits + vector.missed)
        #expect(counts.precision == vector.precision)
        #expect(counts.recall == vector.recall)
        #expect(counts.f1 == vector.f1)
    }
}
