import Blocking
import Foundation
import Localization
import Posts

/// Classifies a sequence of posts with as few queries of the database as possible.
///
/// Create one for each reading of a timeline. The first call reads the last batch of examples from
/// the database; the stamp of the counts that it found to be current is remembered, and later calls
/// read the counts alone. Guarantees:
///
/// - Counts contain every batch that was committed before the session's first call, by any process.
/// - Counts with the remembered stamp match the examples at that moment. Counts with any other
///   stamp, inconsistent counts and missing counts are not used before the database was read
///   again, and are rebuilt if they lack a batch. So posts that are learned meanwhile, here or by
///   another process, are included as soon as the counts contain them, and a flush or a loss is
///   noticed by the next call.
/// - All posts of a session are judged with the same weights: those that the first call finds.
/// - The next session notices states that only the database shows: a batch whose process died
///   before it changed the counts, and a database that was restored from an older copy while the
///   counts stayed.
///
/// Calls may overlap.
package final class FavoriteSession: @unchecked Sendable {
    // Sendable: every variable is only touched under `lock`.
    private let reader: CountReader
    /// The table of the weights; nil if all evidence counts alike.
    private let weightTable: WeightTable?
    private let extractor: FeatureExtractor
    private let configuration: FavoriteConfiguration
    private let lock = NSLock()
    /// The stamp of counts that were found to match the examples; nil before the first call.
    private var confirmedStamp: CountStamp?
    /// The weights that were read together with ``confirmedStamp``.
    private var weights: LearnedWeights?
    /// A cache of the last call's examples and their features, for the caller who learns the posts
    /// next.
    private var extractedFeatures: [PostID: (example: Example, features: FeatureSet)] = [:]

    /// The fewest posts whose features take longer to extract than their counts take to read.
    private static let fewestForOverlap = 20

    init(
        reader: CountReader, weights weightTable: WeightTable?, extractor: FeatureExtractor,
        configuration: FavoriteConfiguration
    ) {
        self.reader = reader
        self.weightTable = weightTable
        self.extractor = extractor
        self.configuration = configuration
    }

    /// Classifies posts as favorites or not, and learns nothing.
    ///
    /// - Returns: One classification for each example, in their order.
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable` or `.countsUnstable`,
    ///   `StorageError` or `CancellationError`.
    package func classify(_ posts: [Example]) async throws -> [Classification] {
        guard !posts.isEmpty else { return [] }
        lock.withLock { extractedFeatures = [:] }
        let (features, snapshot) = try await indexed(posts)
        let waiting = WaitReason(snapshot.categories, needed: configuration.minimumPerCategory)
        let weights = waiting == nil ? lock.withLock { self.weights } : nil
        let model = FavoriteModel(
            snapshot.categories, weights: weights?.weights ?? .plain(of: extractor.wordSelection))
        let weighed = zip(snapshot.requestedFeatures, snapshot.counts).map(model.weigh)
        return zip(posts, features).map { post, places in
            let assessment = model.assess(places, of: weighed)
            return Classification(
                id: post.id, assessment: assessment,
                isFavorite: waiting == nil
                    && configuration.isAbove(logRate: assessment.logRate),
                waiting: waiting, learned: snapshot.categories, weights: weights)
        }
    }

    /// The features of each post, as positions in the snapshot of their counts.
    private func indexed(_ posts: [Example]) async throws -> ([FeatureIndex.Places], CountSnapshot)
    {
        var index = FeatureIndex(posts: posts.count)
        guard posts.count >= Self.fewestForOverlap else {
            let places = posts.map { self.places(of: $0, &index) }
            return (places, try await counts(of: index.features))
        }
        // While the counts of most posts' features are read, the features of the others are
        // extracted, which takes as long.
        let firstCount = posts.count * 2 / 3
        var places = posts[..<firstCount].map { self.places(of: $0, &index) }
        let requestedFeatures = index.features
        async let firstCounts = counts(of: requestedFeatures)
        places += posts[firstCount...].map { self.places(of: $0, &index) }
        let snapshot = try await firstCounts
        let remainingCounts = try await counts(
            of: Array(index.features[requestedFeatures.count...]))
        if let allCounts = snapshot.joined(with: remainingCounts) { return (places, allCounts) }
        // A batch was learned between the two readings, so all counts are read again.
        return (places, try await counts(of: index.features))
    }

    private func places(of post: Example, _ index: inout FeatureIndex) -> FeatureIndex.Places {
        let example = post.stored
        let features = extractor.features(of: example)
        lock.withLock { extractedFeatures[example.id] = (example, features) }
        return index.places(of: features)
    }

    /// The features of a post that the last call judged; nil for any other post.
    func features(of example: Example) -> FeatureSet? {
        lock.withLock { extractedFeatures[example.id] }.flatMap {
            $0.example == example ? $0.features : nil
        }
    }

    private func counts(of features: [String]) async throws -> CountSnapshot {
        if let stamp = lock.withLock({ confirmedStamp }) {
            let snapshot = try await reader.counts(of: features, confirmed: stamp)
            if snapshot.stamp != stamp { lock.withLock { confirmedStamp = snapshot.stamp } }
            return snapshot
        }
        let (snapshot, readWeights) = try await reader.currentCounts(
            of: features, with: weightTable)
        lock.withLock {
            if confirmedStamp == nil { weights = readWeights }
            confirmedStamp = snapshot.stamp
        }
        return snapshot
    }
}

/// Reads counts, and ensures that they match the examples.
struct CountReader: Sendable {
    let examples: ExampleTable
    let counts: any CountStore
    /// Permits one repair at a time; shared with the calls that learn.
    let turnstile: Turnstile

    /// Returns counts that contain every batch committed before the call, and the weights, if
    /// requested.
    func currentCounts(
        of features: [String], with weights: WeightTable?
    ) async throws -> (CountSnapshot, LearnedWeights?) {
        // Both servers are queried at once, which saves a round trip. If a batch is committed
        // between the two answers, good counts look outdated, so they are then queried again one
        // after the other.
        async let countsInParallel = counts.counts(of: features)
        let (stamp, learnedWeights) = try await examples.stamp(with: weights)
        if let snapshot = try await snapshotIfCurrent(
            await countsInParallel, at: stamp, of: features)
        {
            return (snapshot, learnedWeights)
        }
        return (try await repairedCounts(of: features), learnedWeights)
    }

    /// Returns the counts if they have the confirmed stamp; otherwise checks or repairs them first.
    func counts(of features: [String], confirmed: CountStamp) async throws -> CountSnapshot {
        let snapshot = try await counts.counts(of: features)
        if let snapshot, snapshot.stamp == confirmed { return snapshot }
        let stamp = try await examples.stamp()
        if let snapshot = try await snapshotIfCurrent(snapshot, at: stamp, of: features) {
            return snapshot
        }
        return try await repairedCounts(of: features)
    }

    private func repairedCounts(of features: [String]) async throws -> CountSnapshot {
        try await turnstile.pass {
            // The missing batch may just have been applied by this process or another.
            if let snapshot = try await countsIfCurrent(of: features) { return snapshot }
            try await counts.rebuild(from: examples)
            if let snapshot = try await countsIfCurrent(of: features) { return snapshot }
            throw FavoritesError(
                .countsUnstable,
                localized(
                    "could not read the counts: other processes keep changing them; try again"))
        }
    }

    private func countsIfCurrent(of features: [String]) async throws -> CountSnapshot? {
        let stamp = try await examples.stamp()
        return try await snapshotIfCurrent(
            try await counts.counts(of: features), at: stamp, of: features)
    }

    /// The counts that were read, if they were current at the time of `stamp` or are newer.
    private func snapshotIfCurrent(
        _ snapshot: CountSnapshot?, at stamp: CountStamp, of features: [String]
    ) async throws -> CountSnapshot? {
        guard let snapshot else {
            guard try await examples.isEmpty() else { return nil }
            return CountSnapshot(
                stamp: stamp, categories: CategoryCounts(), requestedFeatures: features,
                counts: Array(repeating: FeatureCount(), count: features.count))
        }
        guard snapshot.stamp != stamp else { return snapshot }
        // Counts newer than the start of the call are fine; counts newer than the examples are not,
        // because then the examples were restored from a copy.
        guard snapshot.stamp.extraction == stamp.extraction,
            snapshot.stamp.sequence > stamp.sequence
        else {
            return nil
        }
        return snapshot.stamp.sequence <= (try await examples.stamp()).sequence ? snapshot : nil
    }
}
