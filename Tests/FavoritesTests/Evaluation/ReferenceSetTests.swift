import Evaluation
import Expectations
import Favorites
import Foundation
import MeCab
import Testing

/// A folder that has a folder for each set, with `train.jsonl` and `test.jsonl`.
private let folder = ProcessInfo.processInfo.environment["FAVORITE_SETS"]

/// The figures of the reference on public sets.
///
/// The sets may not be passed on, so they are not in the repository: `FAVORITE_SETS` says where
/// they are, and without it there is nothing to test.
@Suite(.enabled(if: folder != nil, "FAVORITE_SETS names no folder"), .timeLimit(.minutes(30)))
struct ReferenceSetTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let set: String
        let words: FeatureWords
        /// Words for and against, with pairs those for and against, the author, the base.
        let weights: [Double]
        let averagePrecision: Double
        /// ln of the rate of the first tested post.
        let logRate: Double
        /// How far weights and rates may be away: half of the last digit, but for koume, three
        /// posts of which have a letter (Cherokee, Canadian syllabics) that is a word here and a
        /// sign to the reference.
        var accuracy = 5.1e-7
        var testDescription: String { "\(set), \(words)" }
    }

    private static let vectors = [
        Vector(
            set: "sms", words: .content, weights: [1.814488, 1.422023, 0.991022, -2.716419],
            averagePrecision: 0.991722,
            logRate: -6.365920),
        Vector(
            set: "koume", words: .content, weights: [1.355361, 1.035264, 0.906641, -0.117671],
            averagePrecision: 0.434911, logRate: 0.222822, accuracy: 3e-5),
        Vector(
            set: "sms", words: .pairs,
            weights: [1.464221, 1.054366, 0.874152, 0.628955, 0.992073, -2.636988],
            averagePrecision: 0.992934, logRate: -7.409034),
        Vector(
            set: "koume", words: .pairs,
            weights: [0.720686, 0.775921, 1.068566, 0.340355, 0.909288, -0.453663],
            averagePrecision: 0.470401, logRate: 0.016525, accuracy: 3e-5),
    ]

    @Test(arguments: vectors) func weightsAndRatesAreThoseOfTheReference(_ vector: Vector)
        async throws
    {
        let set = try #require(folder) + "/" + vector.set
        let evaluator = ClassifierEvaluator(
            words: vector.words, dictionary: DictionaryProfile.ipadic.name,
            configuration: try FavoriteConfiguration())
        let report = try await evaluator.evaluate(
            training: set + "/train.jsonl", testing: set + "/test.jsonl")
        let weights = try #require(report.comparison.weights)
        let pairs = weights.pairs.map { [$0.speakingFor, $0.speakingAgainst] } ?? []
        let found =
            [weights.wordsFor, weights.wordsAgainst] + pairs + [weights.author, weights.base]
        #expect(found.count == vector.weights.count)
        for (one, other) in zip(found, vector.weights) {
            #expect(abs(one - other) < vector.accuracy, "\(found)")
        }
        let precision = try #require(report.comparison.weighted.averagePrecision)
        #expect(abs(precision - vector.averagePrecision) < 2 * vector.accuracy)
        let rate = try #require(report.predictions.first).logRate
        #expect(abs(rate - vector.logRate) < vector.accuracy)
        #expect((report.wordsAlone == nil) == vector.words.isOfWordsAlone)
    }
}
