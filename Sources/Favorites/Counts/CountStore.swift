package import Storage

/// The last batch of examples that counts contain, and the extractor that found its features.
package struct CountStamp: Equatable, Sendable {
    /// The number of the last batch that was applied.
    package var sequence: Int64
    /// ``FeatureExtractor/fingerprint`` of the extractor that found the features.
    package var extraction: Int64

    package init(sequence: Int64, extraction: Int64) {
        self.sequence = sequence
        self.extraction = extraction
    }

    /// Returns the number of the batch after the one with the number `previous`.
    ///
    /// Numbers grow by a random amount. So if a database lost its last batches, restored from a
    /// copy or replaced by a standby, the next batches get other numbers than the lost ones had,
    /// and counts that contain the lost ones are not mistaken for current ones.
    static func sequence(after previous: Int64) -> Int64 {
        // The scripts count in Lua's numbers, which are exact up to 2^53.
        guard previous < 1 << 52 else { return previous &+ 1 }
        return previous + Int64.random(in: 1...1 << 20)
    }
}

/// A change of the counts, applied to counts that contain exactly the batches before it.
package struct CountBatch: Equatable, Sendable {
    /// The stamp of the counts after the change.
    package let stamp: CountStamp
    /// The number of the previous batch, up to which the counts must be complete.
    package let previous: Int64
    package let change: CountChange
}

/// Counts read from a store, all of one moment.
package struct CountSnapshot: Equatable, Sendable {
    package let stamp: CountStamp
    package let categories: CategoryCounts
    /// The features whose counts were read.
    package let requestedFeatures: [String]
    /// The counts of these features, in the same order; zero for a feature without a count.
    package let counts: [FeatureCount]

    /// - Precondition: There are as many counts as features.
    package init(
        stamp: CountStamp, categories: CategoryCounts, requestedFeatures: [String],
        counts: [FeatureCount]
    ) {
        precondition(
            requestedFeatures.count == counts.count, "each feature that was asked for needs a count"
        )
        self.stamp = stamp
        self.categories = categories
        self.requestedFeatures = requestedFeatures
        self.counts = counts
    }

    /// Joins this snapshot and one of other features; nil if they are of different moments.
    func joined(with other: CountSnapshot) -> CountSnapshot? {
        guard stamp == other.stamp, categories == other.categories else { return nil }
        return CountSnapshot(
            stamp: stamp, categories: categories,
            requestedFeatures: requestedFeatures + other.requestedFeatures,
            counts: counts + other.counts)
    }

    /// The features that have a count, of those that were read.
    package var features: [String: FeatureCount] {
        Dictionary(zip(requestedFeatures, counts).filter { $1 != FeatureCount() }) { first, _ in
            first
        }
    }
}

/// The stored examples from which a count store rebuilds its counts.
package protocol CountSource: Sendable {
    var storage: any StorageEngine { get }

    /// Counts all stored examples.
    func tally(on connection: any StorageConnection) throws -> CountBatch
}

/// The namespace of a mirror's counts in a store; namespaces never touch each other's counts.
package enum CountNamespace: String, CaseIterable, Sendable {
    /// The counts of others' posts, which the human favorites or not.
    case favorites
    /// The counts of the human's texts, which a person allows the bot to post or not.
    case texts

    /// The prefix of all names in a store.
    var prefix: String { self == .favorites ? "" : rawValue + ":" }
}

/// Keeps the counts of one mirror, which are derived from the examples.
///
/// A store may lose or damage its counts at any time: it then reports that it has none, and they
/// are rebuilt. To add a store, conform and add it to the arguments of the conformance suite.
package protocol CountStore: Sendable {
    /// Applies a batch inside the transaction that changes the examples.
    ///
    /// - Returns: False if the counts are not in this database, or do not contain exactly the
    ///   previous batches.
    func record(_ batch: CountBatch, on connection: any StorageConnection) throws -> Bool

    /// Applies a batch after the transaction was committed, unless its counts contain it already.
    ///
    /// - Returns: False if the counts are missing, damaged or lack an earlier batch; then they are
    ///   unchanged.
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable`.
    func apply(_ batch: CountBatch) async throws -> Bool

    /// Reads the counts of features.
    ///
    /// - Returns: Nil if the counts are missing or damaged.
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable`.
    func counts(of features: [String]) async throws -> CountSnapshot?

    /// The number of counts kept, one for each feature and category.
    ///
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable`.
    func size() async throws -> Int

    /// The number of learned posts with neither a word nor a hashtag; nil if the store does not
    /// count them.
    ///
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable`.
    func wordless() async throws -> Int64?

    /// Replaces all counts by new counts of the examples; readers see the old or the new counts.
    ///
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable` or `.countsUnstable`.
    func rebuild(from examples: any CountSource) async throws

    /// Removes the counts of this mirror and nothing else.
    ///
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable`.
    func clear() async throws
}

extension CountStore {
    package func wordless() async throws -> Int64? { nil }
}

/// The amounts that one batch of examples adds to the counts; negative where something is
/// unlearned.
package struct CountChange: Equatable, Sendable {
    package private(set) var favorites: Int64 = 0
    package private(set) var normals: Int64 = 0
    package private(set) var seen: Int64 = 0
    package private(set) var seenFavorites: Int64 = 0
    /// The number of posts with neither a word nor a hashtag.
    package private(set) var wordless: Int64 = 0
    private var favoriteFeatures: [FeatureKey: Int64] = [:]
    private var normalFeatures: [FeatureKey: Int64] = [:]

    package init() {}

    /// By category, the amount added to each feature's count; never zero.
    package var features: [Category: [String: Int64]] {
        var features: [Category: [String: Int64]] = [:]
        for category in Category.allCases {
            features[category] = Dictionary(
                uniqueKeysWithValues: self.features(of: category).map { ($0, $1) })
        }
        return features
    }

    /// Returns the amount added to the count of each feature in a category; never zero.
    package func features(of category: Category) -> [(feature: String, amount: Int64)] {
        (category == .favorite ? favoriteFeatures : normalFeatures).map { ($0.feature, $1) }
    }

    /// Whether applying the change would do nothing.
    package var isEmpty: Bool { self == CountChange() }

    /// Moves a post from one state to another; nil means that the post is not learned.
    package mutating func move(
        _ features: FeatureSet, from old: ExampleState?, to new: ExampleState?
    ) {
        if let old { add(features, of: old, times: -1) }
        if let new { add(features, of: new, times: 1) }
    }

    private mutating func add(
        _ set: FeatureSet, of state: ExampleState, times sign: Int64
    ) {
        if state.isSeen { seen += sign }
        if state == .seenFavorite { seenFavorites += sign }
        if set.words.isEmpty { wordless += sign }
        switch state.category {
        case .favorite:
            favorites += sign
            Self.add(set, times: sign, to: &favoriteFeatures)
        case .normal:
            normals += sign
            Self.add(set, times: sign, to: &normalFeatures)
        }
    }

    private static func add(
        _ set: FeatureSet, times sign: Int64, to counts: inout [FeatureKey: Int64]
    ) {
        for word in set.words { add(word, times: sign, to: &counts) }
        for pair in set.pairs { add(pair, times: sign, to: &counts) }
        for run in set.spelling { add(run, times: sign, to: &counts) }
        for mark in set.form { add(mark, times: sign, to: &counts) }
        if let author = set.author { add(author, times: sign, to: &counts) }
    }

    private static func add(
        _ feature: String, times sign: Int64, to counts: inout [FeatureKey: Int64]
    ) {
        let key = FeatureKey(feature: feature)
        if isZero(&counts[key, default: 0], afterAdding: sign) { counts[key] = nil }
    }

    /// Adds a change to a count, and returns whether the count is zero afterwards.
    private static func isZero(_ count: inout Int64, afterAdding change: Int64) -> Bool {
        count += change
        return count == 0
    }
}
