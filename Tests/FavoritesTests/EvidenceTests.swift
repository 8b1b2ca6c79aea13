import Favorites
import Foundation
import Testing

/// The single terms of the reference's rows V1 to V13, as the exact fractions that they are.
@Suite struct EvidenceTests {
    struct Term: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let counts: CategoryCounts
        let count: FeatureCount
        /// The weighted probability of a favorite, given the feature.
        let probability: Double
        /// What the odds are multiplied by.
        let ratio: Double

        init(
            _ name: String, _ counts: CategoryCounts, _ favorite: Int64, _ normal: Int64,
            probability: Double,
            ratio: Double
        ) {
            testDescription = name
            self.counts = counts
            count = FeatureCount(favorite: favorite, normal: normal)
            self.probability = probability
            self.ratio = ratio
        }
    }

    private static let corpus = CategoryCounts(favorites: 3, normals: 4, seen: 7, seenFavorites: 3)
    private static let unfavorited = CategoryCounts(
        favorites: 2, normals: 5, seen: 7, seenFavorites: 2)
    private static let unseen = CategoryCounts(favorites: 3, normals: 5, seen: 7, seenFavorites: 2)

    static let terms = [
        Term("V1 @alice", corpus, 2, 0, probability: 83.0 / 168, ratio: 83.0 / 35),
        Term("V1 猫", corpus, 2, 1, probability: 83.0 / 192, ratio: 1_411.0 / 763),
        Term("V2 @carol", corpus, 0, 2, probability: 5.0 / 24, ratio: 85.0 / 133),
        Term("V2 会議", corpus, 0, 3, probability: 35.0 / 192, ratio: 85.0 / 157),
        Term("V3 未知", corpus, 0, 0, probability: 7.0 / 24, ratio: 1),
        Term("V4 @bob", corpus, 1, 1, probability: 59.0 / 168, ratio: 1_003.0 / 763),
        Term("V5 写真", corpus, 2, 0, probability: 83.0 / 168, ratio: 83.0 / 35),
        Term("V5 旅行", corpus, 1, 0, probability: 59.0 / 144, ratio: 59.0 / 35),
        Term("V6 @dave", corpus, 0, 1, probability: 35.0 / 144, ratio: 85.0 / 109),
        Term("V8 @bob", unfavorited, 0, 2, probability: 25.0 / 168, ratio: 95.0 / 143),
        Term("V8 写真", unfavorited, 1, 1, probability: 7.0 / 24, ratio: 133.0 / 85),
        Term("V9 @frank", unseen, 1, 0, probability: 61.0 / 156, ratio: 61.0 / 35),
        Term("V9 旅行", unseen, 1, 1, probability: 61.0 / 182, ratio: 1_159.0 / 847),
    ]

    @Test(arguments: terms) func isTheFractionOfTheReference(_ term: Term) {
        let model = FavoriteModel(term.counts)
        let evidence = model.evidence(term.count)
        #expect(abs(exp(evidence) - term.ratio) < 1e-12)
        // P(favorite | feature) is what the evidence makes of the share of favorites among all
        // learned posts.
        let learned = Double(term.counts.favorites) + 0.5
        let odds = learned / (Double(term.counts.normals) + 4.5) * exp(evidence)
        #expect(abs(odds / (1 + odds) - term.probability) < 1e-12)
    }

    private static let shares: [(Int64, Int64, Double)] = [
        (0, 0, 1.0 / 10), (7, 3, 7.0 / 24), (7, 2, 5.0 / 24), (8, 3, 7.0 / 26),
        (800, 50, 101.0 / 1_610),
    ]

    @Test(arguments: shares)
    func theBaseIsTheShareOfFavoritesAmongSeenPosts(
        _ seen: Int64, _ favorites: Int64, _ share: Double
    ) {
        let counts = CategoryCounts(favorites: 9, normals: 9, seen: seen, seenFavorites: favorites)
        #expect(abs(FavoriteModel(counts).baseLogOdds - log(share / (1 - share))) < 1e-12)
    }

    /// Words, and the product of their ratios.
    private static let products: [([String: FeatureCount], Double)] = [
        (
            [
                "猫": .init(favorite: 2, normal: 1), "写真": .init(favorite: 2),
                "旅行": .init(favorite: 1),
                "未知": .init(),
            ], 6_909_667.0 / 934_675
        ),
        (["猫": .init(favorite: 2, normal: 1), "会議": .init(normal: 3)], 119_935.0 / 119_791),
    ]

    @Test(arguments: products)
    func wordsCountWithTheRootOfTheirNumber(_ words: [String: FeatureCount], _ product: Double) {
        let model = FavoriteModel(Self.corpus)
        let assessment = model.assess(FeatureSet(words: words.keys.sorted(), author: nil)) {
            words[$0] ?? FeatureCount()
        }
        let expected = model.baseLogOdds + log(product) / Double(words.count).squareRoot()
        #expect(abs(assessment.logRate - expected) < 1e-12)
    }

    /// With only an author, and all posts seen, the rate is a fraction without logarithms.
    @Test(arguments: [[2, 0], [1, 1], [0, 2], [0, 0], [3, 4]] as [[Int64]])
    func anAuthorAloneGivesTheWeightedRatio(_ count: [Int64]) {
        let favorite = count[0]
        let normal = count[1]
        let share = 7.0 / 24
        let assessment = FavoriteModel(Self.corpus).assess(FeatureSet(words: [], author: "@a")) {
            _ in
            FeatureCount(favorite: favorite, normal: normal)
        }
        let expected = (5 * share + Double(favorite)) / (5 * (1 - share) + Double(normal))
        #expect(abs(assessment.rate - expected) < 1e-12)
    }

    @Test func theAuthorCountsInFullHoweverManyWordsThereAre() {
        let model = FavoriteModel(Self.corpus)
        func rate(_ author: String?) -> Double {
            model.assess(FeatureSet(words: (0..<25).map { "w\($0)" }, author: author)) { feature in
                feature == "@alice" ? FeatureCount(favorite: 2) : FeatureCount(normal: 1)
            }.logRate
        }
        #expect(abs(rate("@alice") - rate(nil) - log(83.0 / 35)) < 1e-12)
    }

    @Test(arguments: [
        (CategoryCounts(favorites: -1, normals: -2, seen: -3, seenFavorites: -4), CategoryCounts()),
        (CategoryCounts(seen: 5, seenFavorites: 6), CategoryCounts(seen: 5, seenFavorites: 5)),
        (CategoryCounts(seen: -5, seenFavorites: 6), CategoryCounts()),
    ])
    func absurdCountsAreClamped(_ counts: CategoryCounts, _ expected: CategoryCounts) {
        #expect(counts == expected)
        #expect(FeatureCount(favorite: -1, normal: -9) == FeatureCount())
    }

    /// The classifier of 2014 gave 2.5, 0.15873 and 0.8 here.
    @Test func theRatesAreNotThoseOf2014() {
        let counts: [String: FeatureCount] = [
            "猫": .init(favorite: 2, normal: 1), "@alice": .init(favorite: 2),
            "会議": .init(normal: 3),
            "@carol": .init(normal: 2),
        ]
        let model = FavoriteModel(Self.corpus)
        let posts = [("猫", "@alice", 2.5), ("会議", "@carol", 0.15873), ("未知", "@erin", 0.8)]
        for (word, author, old) in posts {
            let set = FeatureSet(words: [word], author: author)
            #expect(abs(model.assess(set) { counts[$0] ?? FeatureCount() }.rate - old) > 0.01)
        }
    }
}
