package import Favorites
import Foundation
import Posts

/// Measures the classifier on posts with known labels, with the extractor and the model that a
/// mirror uses.
///
/// It stores nothing and makes no requests: the counts are kept in memory. It runs on the calling
/// thread and takes some ten microseconds for each post.
package struct FavoriteEvaluation: Sendable {
    /// The number of further posts after which the classifier learns that a post is a favorite, if
    /// each post is learned after it was predicted.
    ///
    /// A person favorites a post some time after it appeared, and a bot notices that even later.
    package static let favoriteDelay = 50
    /// The number of newly learned labels after which the weights are fitted again.
    static let labelsBetweenFits = 200

    /// The results of an evaluation.
    package struct Outcome: Equatable, Sendable {
        package let scores: FavoriteScores
        /// The prediction for each tested post, in the order in which the posts were predicted.
        package let predictions: [Prediction]
        /// The quality of the predictions for the same posts with plain and with learned weights.
        package let comparison: WeightComparison
    }

    private let extractor: FeatureExtractor
    private let configuration: FavoriteConfiguration

    /// - Parameters:
    ///   - extractor: The extractor of a post's features.
    ///   - configuration: The threshold, and the number of posts that must be learned before
    ///     anything is a favorite.
    package init(extractor: FeatureExtractor, configuration: FavoriteConfiguration) {
        self.extractor = extractor
        self.configuration = configuration
    }

    /// Learns some posts, then predicts others without learning from them.
    ///
    /// - Parameters:
    ///   - training: The posts to learn; their order does not matter.
    ///   - testing: The posts to predict, in any order.
    ///   - baseRate: The human's rate of favorites; nil for the rate among the learned posts that
    ///     were seen.
    /// - Returns: The measures and the predictions in the order of `testing`.
    package func split(
        training: [LabelledPost], testing: [LabelledPost], baseRate: BaseRate? = nil
    ) -> Outcome {
        let classifier = trained(on: training, baseRate: baseRate)
        var predictions = Predictions(capacity: testing.count)
        let startTime = ThreadTime.now
        for post in testing {
            let features = extractor.features(of: post.example.stored)
            predict(post, features: features, by: classifier, in: &predictions)
        }
        return outcome(
            predictions, from: classifier, to: classifier, elapsed: ThreadTime.now - startTime)
    }

    /// Predicts each post before it is learned, as a running mirror does.
    ///
    /// A post is predicted, then learned as a normal one; its favorite is learned after
    /// ``favoriteDelay`` further predictions. Posts that were never seen on the timeline are not
    /// predicted, but learned as favorites when their turn comes. The weights are fitted again as a
    /// mirror does.
    ///
    /// - Parameters:
    ///   - training: The posts that are learned before the first prediction; may be empty.
    ///   - testing: The posts in the order in which they appeared.
    ///   - baseRate: The human's rate of favorites before the first prediction; nil for the rate in
    ///     `training`.
    /// - Returns: The measures and the predictions in the order of `testing`.
    package func prequential(
        training: [LabelledPost], testing: [LabelledPost], baseRate: BaseRate? = nil
    ) -> Outcome {
        let initialClassifier = trained(on: training, baseRate: baseRate)
        var classifier = initialClassifier
        var predictions = Predictions(capacity: testing.count)
        var unknownFavorites = UnknownFavorites()
        var elapsed = Duration.zero
        for post in testing {
            guard post.state.isSeen else {
                classifier.learn(post.events, extractor.features)
                continue
            }
            let startTime = ThreadTime.now
            let current = ExampleWithFeatures(example: post.example.stored, extractor: extractor)
            predict(post, features: current.features, by: classifier, in: &predictions)
            elapsed += ThreadTime.now - startTime
            classifier.learn([.seen(current.example)], current.features(of:))
            if post.isFavorite {
                unknownFavorites.add(current, due: predictions.count + Self.favoriteDelay)
            }
            for favorite in unknownFavorites.takeDue(after: predictions.count) {
                classifier.learn([.favorited(favorite.example)], favorite.features(of:))
            }
            // The weights are fitted first once enough was learned, and later after every so many
            // labels.
            let labelCount = predictions.count - Self.favoriteDelay
            if labelCount > 0 && labelCount % Self.labelsBetweenFits == 0
                || classifier.weights.isPlain
            {
                fitWeights(of: &classifier)
            }
        }
        return outcome(
            predictions, from: initialClassifier, to: classifier, elapsed: elapsed)
    }

    private func trained(on training: [LabelledPost], baseRate: BaseRate?) -> MemoryClassifier {
        var classifier = MemoryClassifier(extractor.wordSelection)
        classifier.learn(training.flatMap(\.events), extractor.features)
        if let baseRate {
            classifier.setBaseRate(posts: baseRate.posts, favorites: baseRate.favorites)
        }
        fitWeights(of: &classifier)
        return classifier
    }

    /// Fits the weights as a mirror does, once enough favorites and enough normal posts were
    /// learned.
    private func fitWeights(of classifier: inout MemoryClassifier) {
        guard waitReason(of: classifier) == nil else { return }
        classifier.fitWeights(extractor.features)
    }

    /// The reason why the classifier would not make any post a favorite yet; nil if enough was
    /// learned.
    private func waitReason(of classifier: MemoryClassifier) -> WaitReason? {
        WaitReason(classifier.categories, needed: configuration.minimumPerCategory)
    }

    private func predict(
        _ post: LabelledPost, features: FeatureSet, by classifier: MemoryClassifier,
        in predictions: inout Predictions
    ) {
        let assessment = classifier.assess(features)
        let mayFavorite = waitReason(of: classifier) == nil
        func prediction(_ logRate: Double) -> Prediction {
            Prediction(
                id: post.id, logRate: logRate,
                probability: Assessment.probability(ofLogRate: logRate),
                isFired: mayFavorite && configuration.isAbove(logRate: logRate),
                isFavorite: post.isFavorite)
        }
        predictions.add(
            plain: prediction(assessment.plainLogRate), weighted: prediction(assessment.logRate),
            mayFire: mayFavorite)
    }

    private func outcome(
        _ predictions: Predictions, from initialClassifier: MemoryClassifier,
        to finalClassifier: MemoryClassifier, elapsed: Duration
    ) -> Outcome {
        let learned = initialClassifier.categories
        let seconds = elapsed / .seconds(1)
        let usedPredictions =
            configuration.weighting == .plain ? predictions.plain : predictions.weighted
        let weights = finalClassifier.weights.isPlain ? nil : finalClassifier.weights
        let scores = FavoriteScores(
            predictions: usedPredictions, threshold: configuration.threshold,
            weights: configuration.weighting == .plain ? nil : weights,
            training: .init(
                favorites: Int(learned.favorites), normals: Int(learned.normals),
                baseRate: BaseRate(posts: Int(learned.seen), favorites: Int(learned.seenFavorites)),
                distinctFeatures: initialClassifier.distinctFeatures,
                waiting: WaitReason(learned, needed: configuration.minimumPerCategory)),
            postsPerSecond: seconds > 0 && !usedPredictions.isEmpty
                ? Double(usedPredictions.count) / seconds : nil)
        let comparison = WeightComparison(
            plain: predictions.plain, weighted: predictions.weighted, mayFire: predictions.mayFire,
            weights: weights)
        return Outcome(scores: scores, predictions: usedPredictions, comparison: comparison)
    }
}

/// Predictions for the same posts, with plain and with learned weights.
private struct Predictions {
    private(set) var plain: [Prediction] = []
    private(set) var weighted: [Prediction] = []
    /// For each post, whether enough had been learned for it to be favorited.
    private(set) var mayFire: [Bool] = []

    init(capacity: Int) {
        plain.reserveCapacity(capacity)
        weighted.reserveCapacity(capacity)
        mayFire.reserveCapacity(capacity)
    }

    var count: Int { plain.count }

    mutating func add(plain: Prediction, weighted: Prediction, mayFire: Bool) {
        self.plain.append(plain)
        self.weighted.append(weighted)
        self.mayFire.append(mayFire)
    }
}

/// An example with its features, which are computed for the prediction and used again for the
/// learning.
private struct ExampleWithFeatures {
    let example: Example
    let features: FeatureSet
    private let extractor: FeatureExtractor

    init(example: Example, extractor: FeatureExtractor) {
        self.example = example
        self.extractor = extractor
        features = extractor.features(of: example)
    }

    /// The features of `other`, which is this example or an earlier one with the same identity.
    func features(of other: Example) -> FeatureSet {
        other == example ? features : extractor.features(of: other)
    }
}

/// Favorites that the classifier has not learned yet, in the order in which it will learn them.
private struct UnknownFavorites {
    private var queue: [(due: Int, favorite: ExampleWithFeatures)] = []

    mutating func add(_ favorite: ExampleWithFeatures, due: Int) { queue.append((due, favorite)) }

    /// Removes and returns the favorites that are to be learned once a number of posts was
    /// predicted.
    mutating func takeDue(after predictedPosts: Int) -> [ExampleWithFeatures] {
        let dueFavorites = queue.prefix { $0.due <= predictedPosts }.map(\.favorite)
        queue.removeFirst(dueFavorites.count)
        return dueFavorites
    }
}

/// A clock of the processor time of the calling thread.
///
/// Unlike the elapsed time, it does not depend on other threads and processes.
enum ThreadTime {
    static var now: Duration {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return .zero }
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
