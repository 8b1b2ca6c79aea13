package import Favorites
package import Foundation
package import Mirroring
package import Posts

/// The measures of the classifier's quality.
///
/// A figure that has no value, such as the precision of a bot that favorites
/// nothing, is nil, and null in JSON.
package struct FavoriteScores: Equatable, Sendable {
    /// The training data known before the first prediction.
    package struct Training: Equatable, Sendable {
        /// The number of posts learned as favorites.
        package let favorites: Int
        /// The number of posts learned as normal ones.
        package let normals: Int
        /// The human's rate of favorites, as far as it was known.
        package let baseRate: BaseRate
        /// The number of words, hashtags and authors that were counted.
        package let distinctFeatures: Int
        /// The reason why the bot would not favorite anything yet; nil if enough was learned.
        package let waiting: WaitReason?

        package init(
            favorites: Int, normals: Int, baseRate: BaseRate, distinctFeatures: Int,
            waiting: WaitReason?
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
    /// The number of posts that were predicted, and of the favorites among them.
    package let testing: BaseRate

    /// The area under the receiver operating characteristic, as ``Ranking/rocAUC``.
    package let rocAUC: Double?
    /// The area under the curve of precision over recall, as ``Ranking/averagePrecision``.
    package let averagePrecision: Double?
    /// The highest F1 at any threshold; nil without a favorite.
    package let bestF1: Double?
    /// The lowest rate of a post that counts as a favorite at the threshold of ``bestF1``; nil
    /// without a favorite, or if the rate is too large for a `Double`.
    package let bestF1Rate: Double?

    /// The rate that a post must exceed to be favorited.
    package let threshold: Double
    /// The decisions that the bot would have made at the threshold.
    package let decisions: DecisionCounts
    /// How well the predicted probabilities agree with the human's favorites.
    package let calibration: Calibration
    /// The weight of each kind of evidence after the last post; nil if all kinds had the same
    /// weight.
    package let weights: EvidenceWeights?
    /// The number of posts whose features one thread finds and weighs in a second of its processor
    /// time; nil without posts.
    package let postsPerSecond: Double?

    /// - Parameters:
    ///   - predictions: The predictions, in any order.
    ///   - threshold: The favorite rate that had to be exceeded.
    ///   - weights: The weight of each kind of evidence after the last post; nil if all kinds had
    ///     the same weight.
    ///   - training: The training data known before the first prediction.
    ///   - postsPerSecond: The number of posts that one thread predicted in a second.
    package init(
        predictions: [Prediction], threshold: Double, weights: EvidenceWeights? = nil,
        training: Training,
        postsPerSecond: Double?
    ) {
        let ranking = Ranking(predictions)
        let best = ranking.bestF1
        self.training = training
        self.threshold = threshold
        self.weights = weights
        self.postsPerSecond = postsPerSecond
        testing = BaseRate(posts: predictions.count, favorites: predictions.count { $0.isFavorite })
        rocAUC = ranking.rocAUC
        averagePrecision = ranking.averagePrecision
        bestF1 = best?.f1
        let bestRate = best.map { exp($0.logRate) }
        bestF1Rate = bestRate?.isFinite == true ? bestRate : nil
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
        case threshold, fired, hits, precision, recall, f1, brier, ece, weights
        case logLoss = "log_loss"
        case postsPerSecond = "posts_per_second"
        case trained = "n_train"
        case trainedFavorites = "n_train_favorites"
        case tested = "n_test"
        case testedFavorites = "n_test_favorites"
        case baseRate = "base_rate"
        case distinctFeatures = "n_features"
        case waiting, calibration
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        // Encoded one by one, because a figure without a value must appear as null.
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
        try container.encode(weights.map { ReportedWeights($0) }, forKey: .weights)
        try container.encode(calibration.binsWithPosts, forKey: .calibration)
    }

    /// The figures that may have no value, with their keys.
    private var figures: [(Key, Double?)] {
        [
            (.rocAUC, rocAUC), (.averagePrecision, averagePrecision), (.bestF1, bestF1),
            (.bestF1Rate, bestF1Rate),
            (.precision, decisions.precision), (.recall, decisions.recall), (.f1, decisions.f1),
            (.brier, calibration.brier), (.logLoss, calibration.logLoss),
            (.ece, calibration.expectedError),
            (.postsPerSecond, postsPerSecond),
        ]
    }
}

extension ClassifierMeasure {
    /// - Parameters:
    ///   - scores: The measured scores.
    ///   - date: The time of the measurement.
    package init(_ scores: FavoriteScores, at date: Date) {
        self.init(
            measured: date, posts: scores.testing.posts, favorites: scores.testing.favorites,
            threshold: scores.threshold, fired: scores.decisions.fired, hits: scores.decisions.hits,
            precision: scores.decisions.precision, recall: scores.decisions.recall,
            calibration: scores.calibration.binsWithPosts)
    }
}

extension Calibration {
    /// The bins that have posts.
    fileprivate var binsWithPosts: [ClassifierMeasure.Bin] {
        bins.compactMap { bin in
            guard let predicted = bin.predicted, let observed = bin.observed else { return nil }
            return ClassifierMeasure.Bin(predicted: predicted, observed: observed, posts: bin.posts)
        }
    }
}

/// The classifier's prediction for a post, made before it learned whether the human favorited it.
package struct Prediction: Equatable, Sendable {
    package let id: PostID
    /// ln(P(favorite) / P(normal)); finite.
    package let logRate: Double
    /// P(favorite), from 0 to 1.
    package let probability: Double
    /// Whether the bot would have favorited the post: its rate is above the threshold, and enough
    /// had been learned.
    package let isFired: Bool
    /// Whether the human favorited the post.
    package let isFavorite: Bool

    package init(id: PostID, logRate: Double, probability: Double, isFired: Bool, isFavorite: Bool)
    {
        self.id = id
        self.logRate = logRate
        self.probability = probability
        self.isFired = isFired
        self.isFavorite = isFavorite
    }
}

/// The numbers of the bot's decisions, and of the correct decisions among them.
package struct DecisionCounts: Equatable, Sendable {
    /// The number of posts that were judged.
    package let posts: Int
    /// The number of posts that the human favorited.
    package let favorites: Int
    /// The number of posts that the bot would have favorited.
    package let fired: Int
    /// The number of posts that both the human and the bot favorited.
    package let hits: Int

    package init(_ predictions: [Prediction]) {
        posts = predictions.count
        favorites = predictions.count { $0.isFavorite }
        fired = predictions.count { $0.isFired }
        hits = predictions.count { $0.isFired && $0.isFavorite }
    }

    /// The share of the bot's favorites that are the human's too; nil if the bot has none.
    package var precision: Double? { Self.ratio(hits, of: fired) }
    /// The share of the human's favorites that are the bot's too; nil if the human has none.
    package var recall: Double? { Self.ratio(hits, of: favorites) }
    /// The harmonic mean of precision and recall, 2 · hits / (fired + favorites); nil if neither
    /// has favorites.
    ///
    /// Because it is computed from counts, it is 0, not undefined, if only one of the two has
    /// favorites.
    package var f1: Double? { Self.ratio(2 * hits, of: fired + favorites) }

    private static func ratio(_ part: Int, of whole: Int) -> Double? {
        whole > 0 ? Double(part) / Double(whole) : nil
    }
}

/// Posts ordered by their favorite rate, and measures of how well that order ranks favorites first.
///
/// The measures depend only on the order, and not on the base rate or the threshold.
package struct Ranking: Sendable {
    /// Posts with the same rate, which no threshold can separate.
    private struct Tie {
        let logRate: Double
        var favorites = 0
        var others = 0
    }

    /// The posts by rate, the highest first.
    private let ties: [Tie]
    private let favorites: Int
    private let others: Int

    package init(_ predictions: [Prediction]) {
        self.init(predictions.map { ($0.logRate, $0.isFavorite) })
    }

    /// Ranks items other than posts by their scores.
    ///
    /// - Parameter scored: The score of each item, and whether it is positive.
    init(_ scored: [(score: Double, isPositive: Bool)]) {
        var ties: [Tie] = []
        for item in scored.sorted(by: { $0.score > $1.score }) {
            if ties.last?.logRate != item.score { ties.append(Tie(logRate: item.score)) }
            if item.isPositive {
                ties[ties.count - 1].favorites += 1
            } else {
                ties[ties.count - 1].others += 1
            }
        }
        self.ties = ties
        favorites = ties.reduce(0) { $0 + $1.favorites }
        others = ties.reduce(0) { $0 + $1.others }
    }

    /// The area under the receiver operating characteristic.
    ///
    /// It is the probability that a favorite ranks above another post, both
    /// drawn at random, where a tie counts half (Hanley and McNeil 1982): 1 for
    /// a perfect order, 0.5 for a random order. Nil without a favorite or
    /// without another post.
    package var rocAUC: Double? {
        guard favorites > 0, others > 0 else { return nil }
        var othersBelow = Double(others)
        var wins = 0.0
        for tie in ties {
            othersBelow -= Double(tie.others)
            wins += Double(tie.favorites) * (othersBelow + Double(tie.others) / 2)
        }
        return wins / (Double(favorites) * Double(others))
    }

    /// The area under the curve of precision over recall, as steps.
    ///
    /// It is Σ (Rᵢ − Rᵢ₋₁) Pᵢ over the rates in falling order, without interpolation:
    /// scikit-learn's `average_precision_score`. For a random order it is the share of favorites.
    /// Nil without a favorite.
    package var averagePrecision: Double? {
        guard favorites > 0 else { return nil }
        var hits = 0
        var fired = 0
        var sum = 0.0
        for tie in ties {
            hits += tie.favorites
            fired += tie.favorites + tie.others
            sum += Double(tie.favorites) * Double(hits) / Double(fired)
        }
        return sum / Double(favorites)
    }

    /// The highest F1 at any threshold, and the logarithm of the lowest rate above that threshold.
    ///
    /// Nil without a favorite. Of several thresholds with the same F1, the highest one is returned.
    package var bestF1: (f1: Double, logRate: Double)? {
        guard favorites > 0 else { return nil }
        var hits = 0
        var fired = 0
        var best: (f1: Double, logRate: Double)?
        for tie in ties {
            hits += tie.favorites
            fired += tie.favorites + tie.others
            let f1 = 2 * Double(hits) / Double(fired + favorites)
            if f1 > best?.f1 ?? 0 { best = (f1, tie.logRate) }
        }
        return best
    }
}

/// The calibration of probabilities: of the posts that get 30 %, three of ten should be favorites.
package struct Calibration: Equatable, Sendable {
    /// Posts whose probabilities are close to each other.
    package struct Bin: Equatable, Sendable {
        /// The number of posts.
        package fileprivate(set) var posts = 0
        /// The number of these posts that the human favorited.
        package fileprivate(set) var favorites = 0
        fileprivate var probabilitySum = 0.0

        /// The mean of the probabilities; nil for an empty bin.
        package var predicted: Double? { posts > 0 ? probabilitySum / Double(posts) : nil }
        /// The share of favorites; nil for an empty bin.
        package var observed: Double? { posts > 0 ? Double(favorites) / Double(posts) : nil }
    }

    /// The number of bins, each a tenth wide; the probability 1 belongs to the last.
    ///
    /// With ten bins of equal width, the errors computed from the predictions of the reference
    /// implementation equal its own figures to the last digit.
    package static let binCount = 10

    /// The bins, from the lowest probabilities to the highest.
    package let bins: [Bin]
    /// The mean squared distance of the probability from the outcome, 1 or 0 (Brier 1950); nil
    /// without posts.
    ///
    /// 0 is perfect; a constant prediction of the share s of favorites gives s · (1 − s).
    package let brier: Double?
    /// The mean of -ln of the probability of the outcome; nil without posts.
    ///
    /// 0 is perfect; a certain but wrong prediction costs much more than with the squared distance.
    package let logLoss: Double?

    package init(_ predictions: [Prediction]) {
        var bins = [Bin](repeating: Bin(), count: Self.binCount)
        var squares = 0.0
        var losses = 0.0
        for prediction in predictions {
            let probability = min(max(0, prediction.probability), 1)
            let index = min(Int(probability * Double(Self.binCount)), Self.binCount - 1)
            bins[index].posts += 1
            bins[index].probabilitySum += probability
            if prediction.isFavorite { bins[index].favorites += 1 }
            let distance = probability - (prediction.isFavorite ? 1 : 0)
            squares += distance * distance
            losses += LogLoss.loss(
                of: prediction.isFavorite ? prediction.logRate : -prediction.logRate)
        }
        self.bins = bins
        logLoss = predictions.isEmpty ? nil : losses / Double(predictions.count)
        brier = predictions.isEmpty ? nil : squares / Double(predictions.count)
    }

    /// The expected calibration error; nil without posts.
    ///
    /// It is the mean distance of a bin's mean probability from its share of favorites, weighted by
    /// the posts in the bin (Naeini, Cooper and Hauskrecht 2015).
    package var expectedError: Double? {
        let posts = bins.reduce(0) { $0 + $1.posts }
        guard posts > 0 else { return nil }
        return bins.reduce(0) { $0 + abs($1.probabilitySum - Double($1.favorites)) } / Double(posts)
    }
}
