package import Favorites
import Foundation
import Posts

/// Measures the classifier on posts whose end is known, with the extractor and the model that a mirror uses.
///
/// Nothing is stored and no server is asked: the counts are kept in memory.
/// Runs on the calling thread, for some ten microseconds a post.
package struct FavoriteEvaluation: Sendable {
    /// How many posts later a favorite becomes known when each post is learned after it was predicted.
    ///
    /// A person favorites some time after a post appeared, and a bot notices even later.
    package static let favoriteDelay = 50

    /// What came of an evaluation.
    package struct Outcome: Equatable, Sendable {
        package let scores: FavoriteScores
        /// One for each tested post, in the order in which they were predicted.
        package let predictions: [Prediction]
    }

    private let extractor: FeatureExtractor
    private let configuration: FavoriteConfiguration
    private let threshold: Double

    /// - Parameters:
    ///   - extractor: Finds the features of a post.
    ///   - configuration: The threshold, and how much must be learned before anything is a favorite.
    package init(extractor: FeatureExtractor, configuration: FavoriteConfiguration) {
        self.extractor = extractor
        self.configuration = configuration
        threshold = log(configuration.threshold)
    }

    /// Learns some posts, then predicts others, from which nothing is learned.
    ///
    /// - Parameters:
    ///   - training: The posts to learn; their order does not matter.
    ///   - testing: The posts to predict, in any order.
    ///   - baseRate: How often the human favorites; nil for the rate among the learned posts that were seen.
    /// - Returns: The measures and the predictions in the order of `testing`.
    package func split(
        training: [LabelledPost], testing: [LabelledPost], baseRate: BaseRate? = nil
    ) -> Outcome {
        let classifier = trained(on: training, baseRate)
        var predictions: [Prediction] = []
        predictions.reserveCapacity(testing.count)
        let started = ThreadTime.now
        for post in testing {
            let features = extractor.features(of: post.example.stored)
            predictions.append(predict(post, features, classifier))
        }
        return outcome(predictions, after: classifier, ThreadTime.now - started)
    }

    /// Predicts each post before it is learned, as a mirror does that runs along.
    ///
    /// A post is predicted, then learned as a normal one; that it was favorited
    /// is learned when ``favoriteDelay`` further posts were predicted. Posts
    /// that were never seen on the timeline are not predicted; they are learned
    /// as favorites where they stand.
    ///
    /// - Parameters:
    ///   - training: Posts that are learned before; may be empty.
    ///   - testing: The posts in the order in which they appeared.
    ///   - baseRate: How often the human favorites, before the first prediction; nil for the rate in `training`.
    /// - Returns: The measures and the predictions in the order of `testing`.
    package func prequential(
        training: [LabelledPost], testing: [LabelledPost], baseRate: BaseRate? = nil
    ) -> Outcome {
        let start = trained(on: training, baseRate)
        var classifier = start
        var predictions: [Prediction] = []
        predictions.reserveCapacity(testing.count)
        var unknown = UnknownFavorites()
        var elapsed = Duration.zero
        for post in testing {
            guard post.state.isSeen else {
                classifier.learn(post.events, extractor.features)
                continue
            }
            let started = ThreadTime.now
            let found = Found(example: post.example.stored, extractor)
            predictions.append(predict(post, found.features, classifier))
            elapsed += ThreadTime.now - started
            classifier.learn([.seen(found.example)], found.features(of:))
            if post.isFavorite { unknown.add(found, due: predictions.count + Self.favoriteDelay) }
            for favorite in unknown.take(at: predictions.count) {
                classifier.learn([.favorited(favorite.example)], favorite.features(of:))
            }
        }
        return outcome(predictions, after: start, elapsed)
    }

    private func trained(on training: [LabelledPost], _ baseRate: BaseRate?) -> MemoryClassifier {
        var classifier = MemoryClassifier()
        classifier.learn(training.flatMap(\.events), extractor.features)
        if let baseRate { classifier.setBaseRate(posts: baseRate.posts, favorites: baseRate.favorites) }
        return classifier
    }

    private func predict(
        _ post: LabelledPost, _ features: FeatureSet, _ classifier: MemoryClassifier
    ) -> Prediction {
        let assessment = classifier.assess(features)
        let waiting = WaitReason(classifier.categories, needed: configuration.minimumPerCategory)
        return Prediction(
            id: post.id, logRate: assessment.logRate, probability: assessment.probability,
            isFired: waiting == nil && assessment.logRate > threshold, isFavorite: post.isFavorite)
    }

    private func outcome(
        _ predictions: [Prediction], after start: MemoryClassifier, _ elapsed: Duration
    ) -> Outcome {
        let learned = start.categories
        let seconds = elapsed / .seconds(1)
        let scores = FavoriteScores(
            predictions: predictions, threshold: configuration.threshold,
            training: .init(
                favorites: Int(learned.favorites), normals: Int(learned.normals),
                baseRate: BaseRate(posts: Int(learned.seen), favorites: Int(learned.seenFavorites)),
                distinctFeatures: start.distinctFeatures,
                waiting: WaitReason(learned, needed: configuration.minimumPerCategory)),
            postsPerSecond: seconds > 0 && !predictions.isEmpty ? Double(predictions.count) / seconds : nil)
        return Outcome(scores: scores, predictions: predictions)
    }
}

/// An example with its features, so that it is not cut into words again when it is learned.
private struct Found {
    let example: Example
    let features: FeatureSet
    private let extractor: FeatureExtractor

    init(example: Example, _ extractor: FeatureExtractor) {
        self.example = example
        self.extractor = extractor
        features = extractor.features(of: example)
    }

    /// The features of this example, or of the one with the same identity that was learned before.
    func features(of other: Example) -> FeatureSet { other == example ? features : extractor.features(of: other) }
}

/// Favorites of which the classifier does not know yet, in the order in which it will.
private struct UnknownFavorites {
    private var waiting: [(due: Int, favorite: Found)] = []

    mutating func add(_ favorite: Found, due: Int) { waiting.append((due, favorite)) }

    /// Removes those that become known after a number of predictions.
    mutating func take(at predicted: Int) -> [Found] {
        let known = waiting.prefix { $0.due <= predicted }.map(\.favorite)
        waiting.removeFirst(known.count)
        return known
    }
}

/// The time for which the calling thread has computed.
///
/// What else the machine does meanwhile does not count, so that a speed
/// measured with it is the same on a busy machine as on an idle one.
enum ThreadTime {
    static var now: Duration {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return .zero }
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
