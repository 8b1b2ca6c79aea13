import Foundation
import Posts

/// Classifies posts that come one after the other, and asks the database as seldom as it can.
///
/// Make one for each look at a timeline. The first call asks the database which batch of examples is the last; the
/// stamp of the counts that it found to be current is remembered, and later calls ask the counts alone. What holds:
///
/// - Counts contain every batch that was committed before the session's first call, whoever committed it.
/// - Counts that carry the remembered stamp are what the examples said at that moment. Counts with any other stamp, torn
///   ones and missing ones are not used before the database was asked again, and are rebuilt where they lag behind. So
///   what is learned meanwhile, here or by another process, is seen as soon as the counts contain it, and a flush or a
///   loss is noticed by the next call.
/// - What only the database can tell is noticed by the next session: a batch whose process died before it told the
///   counts, and a database that went back to an older copy while the counts stayed.
///
/// Calls may overlap.
package final class FavoriteSession: @unchecked Sendable {
    // Sendable: every variable is only touched under `lock`.
    private let reader: CountReader
    private let extractor: FeatureExtractor
    private let configuration: FavoriteConfiguration
    private let lock = NSLock()
    private var confirmed: CountStamp?
    /// What the last call found in each post, for whoever learns them next.
    private var found: [PostID: (example: Example, features: FeatureSet)] = [:]

    /// From how many posts on their features take longer to find than a question to the counts.
    private static let many = 20

    init(reader: CountReader, extractor: FeatureExtractor, configuration: FavoriteConfiguration) {
        self.reader = reader
        self.extractor = extractor
        self.configuration = configuration
    }

    /// Tells of posts whether the human would favorite them, and learns nothing.
    ///
    /// - Returns: One classification for each example, in their order.
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable` or `.countsUnstable`, `StorageError` or
    ///   `CancellationError`.
    package func classify(_ posts: [Example]) async throws -> [Classification] {
        guard !posts.isEmpty else { return [] }
        lock.withLock { found = [:] }
        let (features, snapshot) = try await look(at: posts)
        let model = FavoriteModel(snapshot.categories)
        let weighed = zip(snapshot.asked, snapshot.counts).map(model.weigh)
        let waiting = WaitReason(snapshot.categories, needed: configuration.minimumPerCategory)
        let threshold = log(configuration.threshold)
        return zip(posts, features).map { post, places in
            let assessment = model.assess(places, of: weighed)
            return Classification(
                id: post.id, assessment: assessment, isFavorite: waiting == nil && assessment.logRate > threshold,
                waiting: waiting)
        }
    }

    /// The features of each post, as places in the snapshot of their counts.
    private func look(at posts: [Example]) async throws -> ([FeatureIndex.Places], CountSnapshot) {
        var index = FeatureIndex(posts: posts.count)
        guard posts.count >= Self.many else {
            let places = posts.map { self.places(of: $0, &index) }
            return (places, try await counts(of: index.features))
        }
        // While the features of most posts are looked up, those of the others are found, which takes as long.
        let most = posts.count * 2 / 3
        var places = posts[..<most].map { self.places(of: $0, &index) }
        let asked = index.features
        async let found = counts(of: asked)
        places += posts[most...].map { self.places(of: $0, &index) }
        let snapshot = try await found
        let rest = try await counts(of: Array(index.features[asked.count...]))
        if let whole = snapshot.joined(with: rest) { return (places, whole) }
        // A batch was learned between the two.
        return (places, try await counts(of: index.features))
    }

    private func places(of post: Example, _ index: inout FeatureIndex) -> FeatureIndex.Places {
        let example = post.stored
        let features = extractor.features(of: example)
        lock.withLock { found[example.id] = (example, features) }
        return index.places(of: features)
    }

    /// The features of a post that the last call judged; nil for another one.
    func features(of example: Example) -> FeatureSet? {
        lock.withLock { found[example.id] }.flatMap { $0.example == example ? $0.features : nil }
    }

    private func counts(of features: [String]) async throws -> CountSnapshot {
        let known = lock.withLock { confirmed }
        let snapshot =
            if let known {
                try await reader.counts(of: features, confirmed: known)
            } else {
                try await reader.currentCounts(of: features)
            }
        if snapshot.stamp != known { lock.withLock { confirmed = snapshot.stamp } }
        return snapshot
    }
}
