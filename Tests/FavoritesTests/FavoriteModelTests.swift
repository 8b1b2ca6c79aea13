import Favorites
import Foundation
import Testing

@Suite struct FavoriteModelTests {
    /// One row of the reference: counts, a post, and the logarithm of its favorite rate.
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let counts: CategoryCounts
        let features: [String: FeatureCount]
        let words: [String]
        let author: String?
        let logRate: Double
        var testDescription: String { name }
    }

    static let corpus = CategoryCounts(favorites: 3, normals: 4, seen: 7, seenFavorites: 3)
    static let corpusFeatures: [String: FeatureCount] = [
        "猫": .init(favorite: 2, normal: 1), "写真": .init(favorite: 2), "旅行": .init(favorite: 1),
        "会議": .init(normal: 3), "資料": .init(normal: 2), "@alice": .init(favorite: 2),
        "@bob": .init(favorite: 1, normal: 1), "@carol": .init(normal: 2),
        "@dave": .init(normal: 1),
    ]
    static let seed = CategoryCounts(favorites: 800, normals: 750, seen: 800, seenFavorites: 50)
    static let seedFeatures: [String: FeatureCount] = [
        "@alice": .init(favorite: 30, normal: 2), "swift": .init(favorite: 12, normal: 1),
        "猫": .init(favorite: 40, normal: 35), "会議": .init(normal: 20),
    ]

    static func onCorpus(_ name: String, _ words: [String], _ author: String, _ logRate: Double)
        -> Vector
    {
        Vector(
            name: name, counts: corpus, features: corpusFeatures, words: words, author: author,
            logRate: logRate)
    }

    static func onSeed(_ name: String, _ words: [String], _ author: String, _ logRate: Double)
        -> Vector
    {
        Vector(
            name: name, counts: seed, features: seedFeatures, words: words, author: author,
            logRate: logRate)
    }

    static let vectors = [
        Vector(
            name: "V0", counts: .init(), features: [:], words: ["猫"], author: "@alice",
            logRate: -2.197224577336),
        onCorpus("V1", ["猫"], "@alice", 0.590985271875),
        onCorpus("V2", ["会議"], "@carol", -1.948595615590),
        onCorpus("V3", ["未知"], "@erin", -0.887303195001),
        onCorpus("V4", [], "@bob", -0.613810438323),
        onCorpus("V5", ["猫", "写真", "旅行", "未知"], "@bob", 0.386428486322),
        onCorpus("V6", ["猫", "会議"], "@dave", -1.135150322657),
        Vector(
            name: "V8", counts: .init(favorites: 2, normals: 5, seen: 7, seenFavorites: 2),
            features: ["写真": .init(favorite: 1, normal: 1), "@bob": .init(normal: 2)],
            words: ["写真"], author: "@bob", logRate: -1.296270933660),
        Vector(
            name: "V9", counts: .init(favorites: 3, normals: 5, seen: 7, seenFavorites: 2),
            features: ["旅行": .init(favorite: 1, normal: 1), "@frank": .init(favorite: 1)],
            words: ["旅行"], author: "@frank", logRate: -0.465863115361),
        Vector(
            name: "V10", counts: .init(favorites: 3, normals: 5, seen: 8, seenFavorites: 3),
            features: ["旅行": .init(favorite: 1, normal: 1), "@frank": .init(favorite: 1)],
            words: ["旅行"], author: "@frank", logRate: -0.129390878740),
        onSeed("V12a", ["swift"], "@alice", 0.621391670490),
        onSeed("V12b", ["会議", "猫", "swift", "x"], "@zed", -3.086890857226),
        onSeed("V12c", ["猫"], "@zed", -2.634387368063),
        Vector(
            name: "V13",
            counts: .init(
                favorites: 1_000_000, normals: 10_000_000, seen: 11_000_000,
                seenFavorites: 1_000_000),
            features: Dictionary(
                uniqueKeysWithValues: (0..<400).map { ("x\($0)", .init(normal: 10_000_000)) }
            )
            .merging(["@a": .init(favorite: 1_000_000)]) { $1 },
            words: (0..<400).map { "x\($0)" }, author: "@a", logRate: -279.777984263962),
    ]

    private func assess(_ vector: Vector) -> Assessment {
        FavoriteModel(vector.counts).assess(FeatureSet(words: vector.words, author: vector.author))
        {
            vector.features[$0] ?? FeatureCount()
        }
    }

    @Test(arguments: vectors) func givesTheReferenceRate(_ vector: Vector) {
        let assessment = assess(vector)
        #expect(abs(assessment.logRate - vector.logRate) < 1e-11)
        #expect(abs(assessment.rate - exp(vector.logRate)) < 1e-9)
    }

    @Test(
        arguments: zip(
            vectors.prefix(7),
            [
                0.1, 0.643591180867, 0.124706572770, 0.291666666667, 0.351190476190, 0.595422635248,
                0.243211879945,
            ]))
    func givesTheReferenceProbability(_ vector: Vector, _ probability: Double) {
        #expect(abs(assess(vector).probability - probability) < 1e-11)
    }

    @Test(arguments: vectors) func contributionsAddUpToTheRate(_ vector: Vector) {
        let assessment = assess(vector)
        let sum = assessment.contributions.reduce(assessment.baseLogOdds) { $0 + $1.logOdds }
        #expect(abs(sum - assessment.logRate) < 1e-9)
        let strengths = assessment.contributions.map { abs($0.logOdds) }
        #expect(strengths == strengths.sorted(by: >))
        #expect(assessment.contributions.count == vector.words.count + 1)
    }

    @Test func featuresWithoutCountsSayNothing() {
        let model = FavoriteModel(Self.seed)
        #expect(model.evidence(FeatureCount()) == 0)
        let empty = model.assess(FeatureSet(words: [], author: nil)) { _ in FeatureCount() }
        #expect(empty.logRate == model.baseLogOdds)
        #expect(empty.contributions.isEmpty)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, Int64.max]) func everyCountGivesAFiniteRate(
        _ value: Int64
    ) {
        for other in [Int64.min, -1, 0, 1, Int64.max] {
            let counts = CategoryCounts(
                favorites: value, normals: other, seen: other, seenFavorites: value)
            let features = FeatureSet(words: ["a", "b"], author: "@c")
            let assessment = FavoriteModel(counts).assess(features) {
                $0 == "a"
                    ? FeatureCount(favorite: value, normal: other)
                    : FeatureCount(favorite: other, normal: value)
            }
            #expect(assessment.logRate.isFinite)
            #expect((0...1).contains(assessment.probability))
        }
    }
}
