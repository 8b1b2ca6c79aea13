import Blocking
package import Foundation
package import Posts
package import Storage

/// Learns which posts the human favorites, and classifies others.
///
/// The counts are derived from the examples in the database. Every change of examples is one
/// transaction and gets the next number of its mirror, and counts store the number of the last
/// batch that they contain. So after any failure between the transaction and the counts, a crash,
/// an outage, a flushed store or another process, the next call notices that they differ and
/// rebuilds them. Every call may throw `StorageError` or `CancellationError`.
package struct Favorites: Sendable {
    package let configuration: FavoriteConfiguration
    let examples: ExampleTable
    let weights: WeightTable
    private let counts: any CountStore
    private let onStep: @Sendable (LearningStep) -> Void
    private let turnstile = Turnstile()

    /// The number of events that are learned in one transaction, as one batch.
    private static let batchSize = 2_000

    /// - Parameters:
    ///   - onStep: A function that is called at each step of a change of the examples.
    package init(
        storage: any StorageEngine, mirror: String, counts: any CountStore,
        extractor: FeatureExtractor,
        configuration: FavoriteConfiguration,
        onStep: @escaping @Sendable (LearningStep) -> Void = { _ in }
    ) {
        self.examples = ExampleTable(storage: storage, mirror: mirror, extractor: extractor)
        self.weights = WeightTable(storage: storage, mirror: mirror, words: extractor.wordSelection)
        self.counts = counts
        self.configuration = configuration
        self.onStep = onStep
    }

    var storage: any StorageEngine { examples.storage }

    /// Reads counts that contain every batch that was committed before.
    var reader: CountReader {
        CountReader(examples: examples, counts: counts, turnstile: turnstile)
    }

    // MARK: - Learning

    /// Learns from events; learning the same event again changes nothing, and their order does not
    /// matter.
    ///
    /// Afterwards examples that are too old or too many are unlearned. A call that fails has
    /// learned some of the events at most, and may be repeated.
    ///
    /// - Parameters:
    ///   - session: A session that has just judged some of the posts, whose features are reused.
    /// - Returns: The changes, and whether the counts were updated.
    package func learn(
        _ events: [FavoriteEvent], at now: Date, knowing session: FavoriteSession? = nil
    ) async throws -> LearnSummary {
        var summary = LearnSummary()
        var extracted: ExtractedFeatures = [:]
        var isMostlyNew: Bool?
        for start in stride(from: 0, to: events.count, by: Self.batchSize) {
            let end = min(start + Self.batchSize, events.count)
            let batch = Array(events[start..<end])
            // While the database processes one batch, the features of the next are extracted, which
            // is wasted if its posts are known.
            let nextEvents =
                isMostlyNew == false ? [] : events[end..<min(end + Self.batchSize, events.count)]
            async let nextFeatures = features(
                of: nextEvents.compactMap(\.example?.stored), known: [:], session: session)
            let learned = try await turnstile.pass { [extracted, isMostlyNew] in
                try await learnBatch(
                    batch, at: now, extracted: extracted, session: session,
                    isExpectedNew: isMostlyNew == true)
            }
            summary.add(learned)
            isMostlyNew = learned.unchanged < batch.count / 2
            extracted = await nextFeatures
        }
        if summary.learned > 0 { summary.add(try await prune(now: now)) }
        return summary
    }

    /// Unlearns the examples that are older than the configuration allows or too many, the oldest
    /// first.
    package func prune(now: Date) async throws -> LearnSummary {
        let cutoff = now.addingTimeInterval(-86_400 * Double(configuration.maximumAgeDays))
        var summary = LearnSummary()
        while true {
            let pruned = try await turnstile.pass { try await pruneBatch(cutoff: cutoff, at: now) }
            summary.add(pruned)
            if pruned.pruned < Self.batchSize { return summary }
        }
    }

    /// Unlearns every post of an author who does not want to be learned from.
    ///
    /// - Parameters:
    ///   - names: The author's handles in any case, with or without `@`, for posts without the
    ///     author's identity.
    /// - Returns: The number of unlearned posts, and whether the counts were updated.
    package func forget(
        _ author: AccountID, called names: Set<String>, at now: Date
    ) async throws -> LearnSummary {
        let selection = ExampleTable.selection(
            "post_id", by: author, called: names, of: examples.mirror)
        var summary = LearnSummary()
        while true {
            let forgotten = try await turnstile.pass {
                try await change(at: now) { connection in
                    let ids = try connection.query(selection + " LIMIT \(Self.batchSize)").map {
                        PostID(network: author.network, value: try $0.text("post_id"))
                    }
                    return (events: ids.map { .forgotten($0) }, knownFeatures: { _ in nil })
                }
            }
            summary.add(forgotten)
            if forgotten.unlearned < Self.batchSize { return summary }
        }
    }

    /// Whether any post of an author is learned; needs no dictionary.
    ///
    /// - Parameters:
    ///   - names: The author's handles in any case, with or without `@`, for posts without the
    ///     author's identity.
    package static func hasLearned(
        from author: AccountID, called names: Set<String>, of mirror: String,
        in storage: any StorageEngine
    ) async throws -> Bool {
        let selection = ExampleTable.selection("1 AS one", by: author, called: names, of: mirror)
        return try await !storage.query(selection + " LIMIT 1").isEmpty
    }

    /// The names under which an author's posts were learned, from posts with the author's identity;
    /// needs no dictionary.
    package static func names(
        of author: AccountID, of mirror: String, in storage: any StorageEngine
    ) async throws -> Set<String> {
        let rows = try await storage.query(
            """
            SELECT DISTINCT author FROM examples
            WHERE mirror = \(mirror) AND network = \(author.network.rawValue) AND author_id = \(author.value)
                AND author IS NOT NULL
            """)
        return Set(try rows.map { try $0.text("author") })
    }

    /// The handles under which authors' posts were learned, without `@`; needs no dictionary.
    ///
    /// - Returns: The handle of the latest post for each author; no entry if no post has a handle.
    /// - Throws: `StorageError` or `CancellationError`.
    package static func handles(
        of authors: [AccountID], learnedBy mirror: String, in storage: any StorageEngine
    ) async throws -> [AccountID: String] {
        var handles: [AccountID: String] = [:]
        for (network, group) in Dictionary(grouping: Set(authors), by: \.network) {
            for values in group.map(\.value).portions {
                let rows = try await storage.query(
                    """
                    SELECT author_id, author, MAX(decided_ms) AS latest_ms FROM examples
                    WHERE mirror = \(mirror) AND network = \(network.rawValue) AND author_id IN \(list: values)
                        AND author IS NOT NULL
                    GROUP BY author_id, author ORDER BY latest_ms, author
                    """)
                for row in rows {
                    let id = try row.text("author_id")
                    let name = try row.text("author").drop { $0 == "@" }
                    guard !name.isEmpty, name != id else { continue }
                    handles[AccountID(network: network, value: id)] = String(name)
                }
            }
        }
        return handles
    }

    /// The authors of learned posts of a network, as the posts name them; needs no dictionary.
    ///
    /// - Returns: Every pair of an identity, nil for posts with a name alone, and a name.
    /// - Throws: `StorageError` or `CancellationError`.
    package static func authors(
        on network: NetworkName, of mirror: String, in storage: any StorageEngine
    ) async throws -> [(id: AccountID?, name: String?)] {
        try await storage.query(
            """
            SELECT DISTINCT author_id, author FROM examples WHERE mirror = \(mirror) AND network = \(network.rawValue)
            """
        ).map { row in
            let id = try row.optionalText("author_id").flatMap { $0.isEmpty ? nil : $0 }
            return (
                id.map { AccountID(network: network, value: $0) }, try row.optionalText("author")
            )
        }
    }

    /// Returns the posts learned from an author, the oldest first; needs no dictionary.
    ///
    /// - Parameters: See ``hasLearned(from:called:of:in:)``.
    /// - Returns: Each post with its text, its state, and the time at which the state was stored.
    package static func learned(
        from author: AccountID, called names: Set<String>, of mirror: String,
        in storage: any StorageEngine
    ) async throws -> [(id: PostID, text: String, state: String, decided: Date)] {
        let selection = ExampleTable.selection(
            "post_id, text, state, decided_ms", by: author, called: names, of: mirror)
        return try await storage.query(selection + " ORDER BY decided_ms, post_id").map { row in
            (
                PostID(network: author.network, value: try row.text("post_id")),
                try row.text("text"),
                try row.text("state"), try row.date("decided_ms")
            )
        }
    }

    /// The texts of the posts, as far as the posts were learned; needs no dictionary.
    ///
    /// - Parameters:
    ///   - ids: The posts, in any order and any number of times.
    package static func texts(
        of ids: [PostID], learnedBy mirror: String, in storage: any StorageEngine
    ) async throws -> [PostID: String] {
        guard !ids.isEmpty else { return [:] }
        return try await storage.read { try ExampleTable.texts(of: ids, learnedBy: mirror, on: $0) }
    }

    /// An SQL expression on a row of `posts`: the text of the post that it answers, if that was
    /// learned, else null.
    package static let textOfAnswered: SQL = """
        (SELECT learned.text FROM examples AS learned WHERE learned.mirror = posts.mirror
            AND learned.network = posts.network AND learned.post_id = posts.reply_to_post)
        """

    /// Learns events in one transaction.
    ///
    /// If the posts of the previous batch were new (`isExpectedNew`), those of this batch are
    /// looked up only in the transaction.
    private func learnBatch(
        _ events: [FavoriteEvent], at now: Date, extracted: ExtractedFeatures,
        session: FavoriteSession?, isExpectedNew: Bool
    ) async throws -> LearnSummary {
        let storableEvents = events.filter { Self.isStorable($0.id) }
        var summary = LearnSummary()
        summary.ignored = events.count - storableEvents.count
        // Most posts of a feed were learned before. This is checked without a lock.
        let states =
            isExpectedNew
            ? [:]
            : try await storage.read { [examples] in
                try examples.states(of: storableEvents.map(\.id), on: $0)
            }
        guard
            storableEvents.contains(where: {
                ExampleState.after($0, from: states[$0.id]) != states[$0.id]
            })
        else {
            summary.unchanged = storableEvents.count
            return summary
        }
        // Features of new posts are extracted before the transaction, which blocks others.
        let newExamples = storableEvents.compactMap(\.example?.stored).filter {
            states[$0.id] == nil
        }
        let knownFeatures = features(of: newExamples, known: extracted, session: session)
        summary.add(
            try await change(at: now) { _ in
                (
                    events: storableEvents,
                    knownFeatures: { example in
                        knownFeatures[example.id].flatMap {
                            $0.example == example ? $0.features : nil
                        }
                    }
                )
            })
        await storage.analyse(
            ["examples", "feature_counts"], of: examples.mirror, after: summary.learned)
        return summary
    }

    /// Features with the post that has them.
    ///
    /// A post rarely occurs twice; a second one with the same id and another text is extracted
    /// later.
    private typealias ExtractedFeatures = [PostID: (example: Example, features: FeatureSet)]

    private func features(
        of examples: [Example], known: ExtractedFeatures, session: FavoriteSession?
    ) -> ExtractedFeatures {
        var result: ExtractedFeatures = [:]
        for example in examples where result[example.id] == nil {
            if let knownEntry = known[example.id], knownEntry.example == example {
                result[example.id] = knownEntry
            } else {
                let features =
                    session?.features(of: example) ?? self.examples.extractor.features(of: example)
                result[example.id] = (example, features)
            }
        }
        return result
    }

    private func pruneBatch(cutoff: Date, at now: Date) async throws -> LearnSummary {
        let limit = configuration.exampleLimit
        @Sendable func outdated(_ connection: any StorageConnection) throws -> [PostID] {
            try examples.outdated(
                limit: limit, cutoff: cutoff, atMost: Self.batchSize, on: connection)
        }
        guard try await !storage.read({ try outdated($0) }).isEmpty else { return LearnSummary() }
        var summary = try await change(at: now) {
            (events: try outdated($0).map { .forgotten($0) }, knownFeatures: { _ in nil })
        }
        summary.pruned = summary.unlearned
        summary.unlearned = 0
        return summary
    }

    /// Changes the examples in one transaction, then the counts.
    ///
    /// `makeEvents` is called in the transaction. It returns the events, and a function that
    /// returns the features of an example if they are known already.
    private func change(
        at now: Date,
        _ makeEvents:
            @escaping @Sendable (any StorageConnection) throws -> (
                events: [FavoriteEvent], knownFeatures: (Example) -> FeatureSet?
            )
    ) async throws -> LearnSummary {
        let result = try await storage.transaction { [examples, counts] connection in
            let previous = try examples.lockSequence(on: connection)
            let sequence = CountStamp.sequence(after: previous)
            let (events, knownFeatures) = try makeEvents(connection)
            let stored = try examples.rows(of: events.map(\.id), on: connection)
            let lesson = Lesson(events, stored: stored) {
                knownFeatures($0) ?? examples.extractor.features(of: $0)
            }
            guard !lesson.isEmpty else {
                return Change(summary: lesson.summary, isStored: false, pending: nil)
            }
            try examples.write(lesson.written, decidedAt: now, sequence: sequence, on: connection)
            try examples.delete(lesson.deleted, on: connection)
            try examples.updateCounters(
                adding: lesson.written, deleted: lesson.deleted, replacing: stored, on: connection)
            try examples.setSequence(sequence, on: connection)
            let stamp = CountStamp(sequence: sequence, extraction: examples.extractor.fingerprint)
            let batch = CountBatch(stamp: stamp, previous: previous, change: lesson.change)
            let isRecorded = try counts.record(batch, on: connection)
            return Change(
                summary: lesson.summary, isStored: true, pending: isRecorded ? nil : batch)
        }
        var summary = result.summary
        guard result.isStored else { return summary }
        onStep(.examplesStored)
        do {
            if let batch = result.pending, try await !counts.apply(batch) {
                try await counts.rebuild(from: examples)
            }
            onStep(.countsApplied)
        } catch let error as FavoritesError {
            summary.countsError = error
        }
        return summary
    }

    private struct Change: Sendable {
        let summary: LearnSummary
        let isStored: Bool
        /// The batch that the counts do not contain yet.
        let pending: CountBatch?
    }

    /// Whether every database can have the id in a key.
    private static func isStorable(_ id: PostID) -> Bool {
        !id.value.isEmpty && id.value.utf8.count <= 1_024 && !id.value.containsNUL
    }

    // MARK: - Classifying

    /// Classifies posts as favorites or not, and learns nothing.
    ///
    /// The counts contain every batch that was committed before the call.
    ///
    /// - Returns: One classification for each example, in their order.
    /// - Throws: ``FavoritesError`` with code `.countsUnavailable` or `.countsUnstable`,
    ///   `StorageError` or `CancellationError`.
    package func classify(_ posts: [Example]) async throws -> [Classification] {
        try await session().classify(posts)
    }

    /// Begins to classify a sequence of posts.
    package func session() -> FavoriteSession {
        FavoriteSession(
            reader: reader, weights: configuration.weighting == .learned ? weights : nil,
            extractor: examples.extractor, configuration: configuration)
    }

    // MARK: - State and maintenance

    /// The progress of the training; also available when the counts are unreachable.
    ///
    /// - Parameter countsFeatures: Whether to count the stored features, which requires reading all
    ///   of them.
    package func status(countsFeatures: Bool = true) async throws -> TrainingStatus {
        let (learned, stamp, weights) = try await storage.read { [examples, weights] connection in
            (
                try examples.categories(on: connection), try examples.stamp(on: connection),
                try weights.current(on: connection)
            )
        }
        var countsState = TrainingStatus.Counts.outdated
        var size: Int?
        var wordless: Int64?
        do {
            let snapshot = try await counts.counts(of: [])
            if countsFeatures { size = try await counts.size() }
            let isCurrent = snapshot?.stamp == stamp && snapshot?.categories == learned
            if isCurrent || (snapshot == nil && learned == CategoryCounts()) {
                countsState = .current
                wordless = try await counts.wordless()
            }
        } catch let error as FavoritesError {
            countsState = .unavailable(error)
        }
        let waiting = WaitReason(learned, needed: configuration.minimumPerCategory)
        return TrainingStatus(
            examples: learned, wordless: wordless, features: size, counts: countsState,
            waiting: waiting,
            weights: waiting == nil && configuration.weighting == .learned ? weights : nil)
    }

    /// One learned post; nil if it is not stored any more.
    package func example(_ id: PostID) async throws -> Example? {
        try await storage.read { [examples] in try examples.rows(of: [id], on: $0)[id]?.example }
    }

    /// Returns the stamp of the data behind ``tally()``; it changes with everything that is learned
    /// or forgotten.
    package func stamp() async throws -> CountStamp { try await examples.stamp() }

    /// Counts the learned posts and their features anew from the examples; takes about a second for
    /// the largest number of them.
    ///
    /// - Returns: The numbers of learned posts, and for each feature the number of posts of each
    ///   category that have it.
    package func tally() async throws -> (
        categories: CategoryCounts, features: [String: FeatureCount]
    ) {
        let change = try await storage.read { [examples] in try examples.tally(on: $0).change }
        var features: [String: FeatureCount] = [:]
        for (feature, number) in change.features(of: .favorite) {
            features[feature] = FeatureCount(favorite: number)
        }
        for (feature, number) in change.features(of: .normal) {
            features[feature, default: FeatureCount()].normal = number
        }
        let categories = CategoryCounts(
            favorites: change.favorites, normals: change.normals, seen: change.seen,
            seenFavorites: change.seenFavorites)
        return (categories, features)
    }

    /// The weights with which posts are judged now: the learned ones, else plain ones.
    package func weightsInUse() async throws -> EvidenceWeights {
        guard configuration.weighting == .learned else {
            return .plain(of: examples.extractor.wordSelection)
        }
        let learned = try await storage.read { [weights] in try weights.current(on: $0) }
        return learned?.weights ?? .plain(of: examples.extractor.wordSelection)
    }

    /// For each feature, the text of the newest learned favorite that has it, or of the newest
    /// other post.
    ///
    /// Reads the examples as ``tally()`` does.
    ///
    /// - Parameter wanted: Whether a favorite is wanted, by feature.
    /// - Returns: The texts by feature; none for a feature without such a post.
    package func texts(with wanted: [String: Bool]) async throws -> [String: String] {
        guard !wanted.isEmpty else { return [:] }
        return try await storage.read { [examples] in try examples.texts(with: wanted, on: $0) }
    }

    /// Removes everything this mirror has learned, and nothing else.
    ///
    /// The number of the last batch is kept and grows, so that counts that could not be removed are
    /// never mistaken for current ones.
    ///
    /// - Throws: `StorageError`, `CancellationError`, or ``FavoritesError`` with code
    ///   `.countsUnavailable`, in which case the database is cleared already.
    package func clear() async throws {
        try await turnstile.pass {
            let embedded = SQLCountStore(storage: storage, mirror: examples.mirror)
            try await storage.transaction { [examples, weights] connection in
                let sequence = try examples.lockSequence(on: connection)
                try examples.deleteAll(on: connection)
                try weights.delete(on: connection)
                try embedded.deleteAll(on: connection)
                try examples.setSequence(CountStamp.sequence(after: sequence), on: connection)
            }
            try await counts.clear()
        }
    }
}
