import Evaluation
import Expectations
import Favorites
import Foundation
import MeCab
import Posts
import Testing

@Suite struct FavoriteEvaluationTests {
    private let extractor: FeatureExtractor

    init() throws { extractor = FeatureExtractor(tokenizer: try Tokenizer(), words: .nouns) }

    private func evaluation(
        threshold: Double = 2, minimum: Int = 0, weighting: Weighting = .plain
    ) throws -> FavoriteEvaluation {
        FavoriteEvaluation(
            extractor: extractor,
            configuration: try FavoriteConfiguration(
                threshold: threshold, minimumPerCategory: minimum, weighting: weighting))
    }

    /// The reference's seven posts, of which the first three were favorited.
    private static let corpus = Corpus.posts.enumerated().map {
        LabelledPost($1, isFavorite: $0 < 3)
    }

    /// The posts of the reference's rows V1 to V6 with their favorite rates.
    private static let vectors: [(LabelledPost, Double)] = [
        (post(11, "猫", "alice", true), 0.590985271875), (post(12, "会議", "carol"), -1.948595615590),
        (post(13, "未知", "erin"), -0.887303195001), (post(14, "", "bob"), -0.613810438323),
        (post(15, "猫 写真 旅行 未知", "bob", true), 0.386428486322),
        (post(16, "猫 会議", "dave"), -1.135150322657),
    ]

    private static func post(
        _ number: Int, _ text: String, _ author: String?, _ isFavorite: Bool = false
    )
        -> LabelledPost
    {
        LabelledPost(Corpus.example(number, text, author), isFavorite: isFavorite)
    }

    // MARK: Learned first

    @Test(arguments: [false, true]) func givesTheReferenceRates(_ isReversed: Bool) throws {
        let training = isReversed ? Self.corpus.reversed() : Self.corpus
        let outcome = try evaluation().split(training: training, testing: Self.vectors.map(\.0))
        #expect(outcome.predictions.map(\.id) == Self.vectors.map(\.0.id))
        for (prediction, (_, logRate)) in zip(outcome.predictions, Self.vectors) {
            #expect(abs(prediction.logRate - logRate) < 1e-11)
            #expect(abs(prediction.probability - 1 / (1 + exp(-logRate))) < 1e-11)
        }
        let training7 = outcome.scores.training
        #expect((training7.posts, training7.favorites, training7.normals) == (7, 3, 4))
        #expect(training7.baseRate == BaseRate(posts: 7, favorites: 3))
        // 猫 写真 旅行 会議 資料 and four authors.
        #expect(training7.distinctFeatures == 9)
        #expect(outcome.scores.testing == BaseRate(posts: 6, favorites: 2))
        // Both favorites have the highest rates.
        #expect(outcome.scores.rocAUC == 1)
        #expect(outcome.scores.averagePrecision == 1)
        try expect(#require(outcome.scores.postsPerSecond)) { $0 > 0 }
    }

    @Test func agreesWithAMirrorThatLearnedTheSame() async throws {
        let training = Corpus.generated(300).enumerated().map { index, event in
            (event, LabelledPost(Self.example(of: event), state: ExampleState.allCases[index % 3]))
        }.map(\.1)
        let events = training.flatMap { post -> [FavoriteEvent] in
            switch post.state {
            case .seen: [.seen(post.example)]
            case .favorite: [.favorited(post.example)]
            case .seenFavorite: [.seen(post.example), .favorited(post.example)]
            }
        }
        let testing = Self.vectors.map(\.0)
        let outcome = try evaluation(threshold: 1).split(training: training, testing: testing)
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites(
                FavoriteConfiguration(threshold: 1, minimumPerCategory: 0))
            _ = try await favorites.learn(events, at: Fixture.now)
            let answers = try await favorites.classify(testing.map(\.example))
            #expect(answers.map(\.logRate) == outcome.predictions.map(\.logRate))
            #expect(answers.map(\.isFavorite) == outcome.predictions.map(\.isFired))
            let status = try await favorites.status()
            #expect(Int(status.favorites) == outcome.scores.training.favorites)
            #expect(Int(status.seen) == outcome.scores.training.baseRate.posts)
            #expect(Int(status.seenFavorites) == outcome.scores.training.baseRate.favorites)
        }
    }

    private static func example(of event: FavoriteEvent) -> Example {
        switch event {
        case .seen(let example), .favorited(let example): example
        case .unfavorited(let id), .forgotten(let id): Example(id: id, author: nil, text: "")
        }
    }

    @Test func theBaseRateMayComeFromElsewhere() throws {
        let plain = try evaluation().split(training: Self.corpus, testing: Self.vectors.map(\.0))
        let rate = BaseRate(posts: 800, favorites: 50)
        let other = try evaluation().split(
            training: Self.corpus, testing: Self.vectors.map(\.0), baseRate: rate)
        #expect(other.scores.training.baseRate == rate)
        // (w a + Sf) / (w (1 − a) + S − Sf), with S and Sf as given and as learned.
        let shift = log((0.5 + 50) / (4.5 + 750)) - log((0.5 + 3) / (4.5 + 4))
        for (one, two) in zip(plain.predictions, other.predictions) {
            #expect(abs(two.logRate - one.logRate - shift) < 1e-12)
        }
        #expect(plain.scores.rocAUC == other.scores.rocAUC)
    }

    @Test func theFirstOfTwoLinesAboutAPostCounts() throws {
        let twice = Self.corpus + [Self.post(4, "猫 写真", "alice")]
        let once = try evaluation().split(training: Self.corpus, testing: Self.vectors.map(\.0))
        let again = try evaluation().split(training: twice, testing: Self.vectors.map(\.0))
        #expect(again.predictions == once.predictions)
        #expect(again.scores.training == once.scores.training)
    }

    @Test func theThresholdMustBeExceeded() throws {
        // An empty classifier gives a post without features exactly ln(0.5 / 4.5).
        let nothing = [Self.post(1, "", nil)]
        let rate = 0.5 / 4.5
        for (threshold, isFired) in [
            (rate, false), (rate * (1 - 1e-12), true), (rate * (1 + 1e-12), false),
        ] {
            let outcome = try evaluation(threshold: threshold).split(training: [], testing: nothing)
            #expect(outcome.predictions.map(\.logRate) == [log(rate)])
            #expect(outcome.predictions.map(\.isFired) == [isFired])
            #expect(outcome.scores.threshold == threshold)
        }
    }

    @Test(arguments: [(3, true), (4, false)]) func nothingFiresBeforeEnoughWasLearned(
        _ minimum: Int, _ fires: Bool
    )
        throws
    {
        let outcome = try evaluation(threshold: 0.5, minimum: minimum)
            .split(training: Self.corpus, testing: Self.vectors.map(\.0))
        #expect(outcome.predictions.contains(where: \.isFired) == fires)
        #expect(outcome.scores.training.waiting?.description == (fires ? nil : "3 of 4 favorites"))
        // The order of the posts is judged nevertheless.
        #expect(outcome.scores.rocAUC == 1)
    }

    // MARK: Predicted, then learned

    @Test func aPostIsLearnedAfterItsPrediction() throws {
        let posts = (1...4).map { Self.post($0, "会議", "carol") }
        let outcome = try evaluation().prequential(training: [], testing: posts)
        let expected = (0..<4).map { learned -> Double in
            let counts = CategoryCounts(normals: Int64(learned), seen: Int64(learned))
            return FavoriteModel(counts).assess(FeatureSet(words: ["会議"], author: "@carol")) { _ in
                FeatureCount(normal: Int64(learned))
            }.logRate
        }
        #expect(outcome.predictions.map(\.logRate) == expected)
        #expect(outcome.scores.training.posts == 0)
        #expect(outcome.scores.training.baseRate == BaseRate(posts: 0, favorites: 0))
    }

    @Test func aFavoriteIsLearnedFiftyPostsLater() throws {
        let delay = FavoriteEvaluation.favoriteDelay
        #expect(delay == 50)
        let posts = (0...delay + 1).map { Self.post($0, "猫", "alice", $0 == 0) }
        let rates = try evaluation().prequential(training: [], testing: posts).predictions.map(
            \.logRate)
        func expected(_ learned: Int, favorites: Int) -> Double {
            let normals = Int64(learned - favorites)
            let favorites = Int64(favorites)
            let counts = CategoryCounts(
                favorites: favorites, normals: normals, seen: Int64(learned),
                seenFavorites: favorites)
            return FavoriteModel(counts).assess(FeatureSet(words: ["猫"], author: "@alice")) { _ in
                FeatureCount(favorite: favorites, normal: normals)
            }.logRate
        }
        for (index, rate) in rates.enumerated() {
            #expect(rate == expected(index, favorites: index > delay ? 1 : 0), "post \(index)")
        }
    }

    @Test func beginsWithWhatWasLearnedBefore() throws {
        let posts = Self.vectors.map(\.0)
        let split = try evaluation().split(training: Self.corpus, testing: posts)
        let along = try evaluation().prequential(training: Self.corpus, testing: posts)
        #expect(along.predictions[0] == split.predictions[0])
        #expect(along.predictions[1].logRate != split.predictions[1].logRate)
        #expect(along.scores.training == split.scores.training)
        let rate = BaseRate(posts: 10, favorites: 9)
        let other = try evaluation().prequential(
            training: Self.corpus, testing: posts, baseRate: rate)
        #expect(other.scores.training.baseRate == rate)
        #expect(other.predictions[0].logRate > along.predictions[0].logRate)
    }

    @Test func whatWasNeverSeenIsLearnedButNotPredicted() throws {
        let liked = LabelledPost(Corpus.example(21, "猫", "alice"), state: .favorite)
        let post = Self.post(22, "猫", "alice")
        let outcome = try evaluation().prequential(training: [], testing: [liked, post])
        #expect(outcome.predictions.map(\.id) == [post.id])
        let model = FavoriteModel(CategoryCounts(favorites: 1))
        let expected = model.assess(FeatureSet(words: ["猫"], author: "@alice")) { _ in
            FeatureCount(favorite: 1)
        }
        #expect(outcome.predictions[0].logRate == expected.logRate)
    }

    @Test func aPostThatIsKnownIsPredictedAndLearnedOnce() throws {
        let again = Self.corpus[3]
        let outcome = try evaluation().prequential(
            training: Self.corpus, testing: [again, again, Self.vectors[0].0])
        #expect(outcome.predictions.count == 3)
        #expect(abs(outcome.predictions[2].logRate - Self.vectors[0].1) < 1e-11)
    }

    // MARK: Weights

    /// The last rows of the reference: what the seven posts make of V5 and V6.
    @Test func learnedWeightsGiveTheReferenceRates() throws {
        let testing = Self.vectors.map(\.0)
        let learned = try evaluation(weighting: .learned).split(
            training: Self.corpus, testing: testing)
        #expect(abs(learned.predictions[4].logRate - 0.284669) < 5e-7)
        #expect(abs(learned.predictions[5].logRate + 1.283594) < 5e-7)
        let plain = try evaluation().split(training: Self.corpus, testing: testing)
        #expect(plain.comparison == learned.comparison)
        #expect(plain.predictions != learned.predictions)
        #expect(learned.scores.weights == learned.comparison.weights)
        #expect(plain.scores.weights == nil)
        for (side, outcome) in [
            (learned.comparison.plain, plain), (learned.comparison.weighted, learned),
        ] {
            #expect(side.averagePrecision == outcome.scores.averagePrecision)
            #expect(side.rocAUC == outcome.scores.rocAUC)
            #expect(side.logLoss == outcome.scores.calibration.logLoss)
            #expect(side.calibrationError == outcome.scores.calibration.expectedError)
            #expect(side.precision == outcome.scores.decisions.precision)
            #expect(side.fired == outcome.scores.decisions.fired)
        }
        let none = try evaluation(minimum: 20, weighting: .learned).split(
            training: Self.corpus, testing: testing)
        #expect(none.comparison.weights == nil)
        #expect(none.predictions.map(\.logRate) == plain.predictions.map(\.logRate))
    }

    @Test func oneThresholdFavoritesAsManyPosts() throws {
        let corpus = Corpus.generated(400).map {
            LabelledPost(Self.example(of: $0), isFavorite: false)
        }
        let training = corpus.enumerated().map { LabelledPost($1.example, isFavorite: $0 % 3 == 0) }
        let split = try evaluation(threshold: 0.6, weighting: .learned)
            .split(training: training, testing: training.suffix(150))
        let threshold = try #require(split.comparison.equalThreshold)
        let fired = split.predictions.count { $0.logRate > log(threshold) }
        #expect(fired == split.comparison.plain.fired)
        #expect(fired > 0)
    }

    @Test func theLogLossIsThatOfWhatHappened() throws {
        let said: [Prediction] = [
            .ranked(log(3), true), .ranked(log(3), false), .ranked(-800, true),
        ]
        let losses: [Double] = [log(4.0 / 3), log(4), 800]
        let mean = losses.reduce(0, +) / 3
        #expect(abs(try #require(Calibration(said).logLoss) - mean) < 1e-9)
        #expect(Calibration([]).logLoss == nil)
    }

    // MARK: Sets without an end

    @Test(arguments: [[], [true], [false], [true, true], [false, false]])
    func figuresWithoutAValueAreNull(_ favorites: [Bool]) throws {
        let posts = favorites.enumerated().map { Self.post($0 + 30, "猫", "alice", $1) }
        for isPrequential in [false, true] {
            let outcome =
                isPrequential
                ? try evaluation().prequential(training: [], testing: posts)
                : try evaluation().split(training: [], testing: posts)
            let scores = outcome.scores
            #expect(scores.rocAUC == nil)
            #expect((scores.averagePrecision == nil) == !favorites.contains(true))
            #expect(scores.decisions.precision == nil)
            #expect((scores.calibration.brier == nil) == favorites.isEmpty)
            #expect((scores.postsPerSecond == nil) == favorites.isEmpty)
            let json =
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(scores))
                as? [String: Any]
            let object = try #require(json)
            for key in Self.keys { #expect(object[key] != nil, "\(key) is missing") }
            #expect(object["roc_auc"] is NSNull)
            #expect(object["precision"] is NSNull)
            #expect(object["n_test"] as? Int == favorites.count)
            #expect(object["n_train"] as? Int == 0)
        }
    }

    private static let keys = [
        "roc_auc", "average_precision", "precision", "recall", "f1", "brier", "ece",
        "posts_per_second", "n_train",
        "n_test", "best_f1", "best_f1_rate", "threshold", "fired", "hits", "base_rate",
    ]

    @Test func learningOnlyOneKindIsPossible() throws {
        for favorites in [true, false] {
            let training = (0..<30).map { Self.post($0, "猫 \($0)", "alice", favorites) }
            let outcome = try evaluation(minimum: 20).split(
                training: training, testing: Self.vectors.map(\.0))
            expect(outcome.predictions) { $0.allSatisfy { $0.logRate.isFinite && !$0.isFired } }
            #expect(outcome.scores.training.waiting != nil)
        }
    }

    @Test(
        arguments: [(-3, -1, 0, 0), (5, 9, 5, 5), (5, -1, 5, 0), (7, 3, 7, 3)]
            as [(Int, Int, Int, Int)])
    func aBaseRateIsNeverAbsurd(
        _ posts: Int, _ favorites: Int, _ keptPosts: Int, _ keptFavorites: Int
    ) {
        let rate = BaseRate(posts: posts, favorites: favorites)
        #expect((rate.posts, rate.favorites) == (keptPosts, keptFavorites))
        #expect(rate.share == (keptPosts > 0 ? Double(keptFavorites) / Double(keptPosts) : nil))
    }

    @Test func theBaseRateIsThatOfThePostsThatWereSeen() {
        let states: [ExampleState] = [.seen, .seen, .seenFavorite, .favorite]
        let posts = states.enumerated().map {
            LabelledPost(Corpus.example($0, "猫", nil), state: $1)
        }
        #expect(BaseRate(of: posts) == BaseRate(posts: 3, favorites: 1))
        #expect(BaseRate(of: posts.suffix(2)) == BaseRate(posts: 1, favorites: 1))
        #expect(posts.map(\.isFavorite) == [false, false, true, true])
    }

    // MARK: The posts of a mirror

    @Test(arguments: [CountStoreKind.sqlite, .postgres])
    func readsWhatAMirrorLearned(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            for (index, post) in Corpus.posts.enumerated() {
                _ = try await favorites.learn([.seen(post)], at: Fixture.now + Double(index))
            }
            _ = try await favorites.learn([.favorited(Corpus.posts[1])], at: Fixture.now + 100)
            _ = try await favorites.learn([.favorited(Corpus.unseen)], at: Fixture.now + 200)
            let table = ExampleTable(
                storage: fixture.storage, mirror: fixture.mirror, extractor: extractor)
            let posts = try await table.labelledPosts(atMost: 100)
            #expect(posts.map(\.id) == [1, 3, 4, 5, 6, 7, 2, 8].map(Corpus.id))
            #expect(
                posts.map(\.state) == Array(repeating: .seen, count: 6) + [
                    .seenFavorite, .favorite,
                ])
            #expect(posts[0].example == Corpus.posts[0])
            try await expect(
                table.labelledPosts(atMost: 2).map(\.id), equals: [2, 8].map(Corpus.id))
            let other = ExampleTable(
                storage: fixture.storage, mirror: "other", extractor: extractor)
            try await expect(other.labelledPosts(atMost: 100)) { $0.isEmpty }
        }
    }
}
