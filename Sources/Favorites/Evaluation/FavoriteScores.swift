import Foundation

/// How good the classifier is, in figures.
///
/// A figure that has no value, such as the precision of a bot that favorites
/// nothing, is nil, and null in JSON.
package struct FavoriteScores: Equatable, Sendable {
    /// What was known before the first prediction.
    package struct Training: Equatable, Sendable {
        /// Posts learned as favorites.
        package let favorites: Int
        /// Posts learned as normal ones.
        package let normals: Int
        /// How often the human favorites, as far as was known.
        package let baseRate: BaseRate
        /// The number of words, hashtags and authors that were counted.
        package let distinctFeatures: Int
        /// Why nothing would be a favorite; nil once enough was learned.
        package let waiting: WaitReason?

        package init(
            favorites: Int, normals: Int, baseRate: BaseRate, distinctFeatures: Int, waiting: WaitReason?
        ) {
            self.favorites = favorites
            self.normals = normals
            self.baseRate = baseRate
            self.distinctFeatures = distinctFeatures
            self.waiting = waiting
        }

        package var posts: Int { favorites + normals }
    }

    package let training: Training
    /// The posts that were predicted, and the favorites among them.
    package let testing: BaseRate

    /// ``Ranking/rocAUC``.
    package let rocAUC: Double?
    /// ``Ranking/averagePrecision``.
    package let averagePrecision: Double?
    /// The F1 at the best threshold; nil without a favorite.
    package let bestF1: Double?
    /// The lowest favorite rate that must fire for ``bestF1``; nil without a favorite, or if no `Double` is so large.
    package let bestF1Rate: Double?

    /// The favorite rate that must be exceeded.
    package let threshold: Double
    /// What the bot would have done at the threshold.
    package let decisions: DecisionCounts
    /// The probabilities.
    package let calibration: Calibration
    /// Posts whose features one thread finds and weighs in a second of its own time; nil without posts.
    package let postsPerSecond: Double?

    /// - Parameters:
    ///   - predictions: What was predicted, in any order.
    ///   - threshold: The favorite rate that had to be exceeded.
    ///   - training: What was known before.
    ///   - postsPerSecond: How fast it went.
    package init(predictions: [Prediction], threshold: Double, training: Training, postsPerSecond: Double?) {
        let ranking = Ranking(predictions)
        let best = ranking.bestF1
        self.training = training
        self.threshold = threshold
        self.postsPerSecond = postsPerSecond
        testing = BaseRate(posts: predictions.count, favorites: predictions.count { $0.isFavorite })
        rocAUC = ranking.rocAUC
        averagePrecision = ranking.averagePrecision
        bestF1 = best?.f1
        bestF1Rate = best.map { exp($0.logRate) }.flatMap { $0.isFinite ? $0 : nil }
        decisions = DecisionCounts(predictions)
        calibration = Calibration(predictions)
    }
}

extension FavoriteScores: Encodable {
    private enum Key: String, CodingKey {
        case rocAUC = "roc_auc"
        case averagePrecision = "average_precision"
        case bestF1 = "best_f1"
        case bestF1Rate = "best_f1_rate"
        case threshold, fired, hits, precision, recall, f1, brier, ece
        case postsPerSecond = "posts_per_second"
        case trained = "n_train"
        case trainedFavorites = "n_train_favorites"
        case tested = "n_test"
        case testedFavorites = "n_test_favorites"
        case baseRate = "base_rate"
        case distinctFeatures = "n_features"
        case waiting
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        // Written one by one because a figure without a value must be there as null.
        for (key, value) in figures { try container.encode(value, forKey: key) }
        try container.encode(threshold, forKey: .threshold)
        try container.encode(decisions.fired, forKey: .fired)
        try container.encode(decisions.hits, forKey: .hits)
        try container.encode(training.posts, forKey: .trained)
        try container.encode(training.favorites, forKey: .trainedFavorites)
        try container.encode(testing.posts, forKey: .tested)
        try container.encode(testing.favorites, forKey: .testedFavorites)
        try container.encode(training.baseRate, forKey: .baseRate)
        try container.encode(training.distinctFeatures, forKey: .distinctFeatures)
        try container.encode(training.waiting?.description, forKey: .waiting)
    }

    private var figures: [(Key, Double?)] {
        [
            (.rocAUC, rocAUC), (.averagePrecision, averagePrecision), (.bestF1, bestF1), (.bestF1Rate, bestF1Rate),
            (.precision, decisions.precision), (.recall, decisions.recall), (.f1, decisions.f1),
            (.brier, calibration.brier), (.ece, calibration.expectedError), (.postsPerSecond, postsPerSecond),
        ]
    }
}
