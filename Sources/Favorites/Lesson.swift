import Posts

/// The changes that a batch of events makes to the examples.
///
/// Pure: from the stored rows and the events it derives which rows to write and delete and how the
/// counts change.
struct Lesson {
    private(set) var change = CountChange()
    private(set) var written: [ExampleTable.Row] = []
    private(set) var deleted: [PostID] = []
    private(set) var summary = LearnSummary()

    /// Whether there is nothing to store.
    var isEmpty: Bool { written.isEmpty && deleted.isEmpty }

    /// - Parameters:
    ///   - events: The events, in order.
    ///   - stored: The examples among the events' posts.
    init(
        _ events: [FavoriteEvent], stored: [PostID: ExampleTable.Row],
        features: (Example) -> FeatureSet
    ) {
        // The posts of the events, in the order of their first event.
        var posts: [(id: PostID, current: ExampleTable.Row?)] = []
        var indices: [PostID: Int] = [:]
        posts.reserveCapacity(events.count)
        indices.reserveCapacity(events.count)
        for event in events {
            let nextIndex = posts.count
            let index = Self.insertingDefault(&indices[event.id, default: nextIndex])
            if index == nextIndex { posts.append((event.id, stored[event.id])) }
            let previousRow = posts[index].current
            let newState = ExampleState.after(event, from: previousRow?.state)
            if newState == previousRow?.state { summary.unchanged += 1 }
            // The text that was learned first is kept, so that exactly that can be unlearned.
            posts[index].current = newState.flatMap { state in
                guard var example = previousRow?.example ?? event.example?.stored else {
                    return nil
                }
                // The author may become known later than the text, and is not part of the features.
                if state != previousRow?.state {
                    example.authorID = example.authorID ?? event.example?.authorID
                }
                return ExampleTable.Row(example: example, state: state)
            }
        }
        for (id, current) in posts { move(id, from: stored[id], to: current, features) }
    }

    /// Returns the index unchanged.
    ///
    /// A default value of a dictionary that is passed as `inout` is inserted too, which saves a
    /// second look-up.
    private static func insertingDefault(_ index: inout Int) -> Int { index }

    private mutating func move(
        _ id: PostID, from oldRow: ExampleTable.Row?, to newRow: ExampleTable.Row?,
        _ features: (Example) -> FeatureSet
    ) {
        guard oldRow?.state != newRow?.state || oldRow?.example != newRow?.example else { return }
        if let oldRow { change.move(features(oldRow.example), from: oldRow.state, to: nil) }
        if let newRow { change.move(features(newRow.example), from: nil, to: newRow.state) }
        switch (oldRow, newRow) {
        case (nil, let newRow?):
            summary.learned += 1
            written.append(newRow)
        case (_?, let newRow?):
            summary.relabelled += 1
            written.append(newRow)
        case (_?, nil):
            summary.unlearned += 1
            deleted.append(id)
        case (nil, nil):
            break
        }
    }
}

/// The outcome of a call that changes the examples.
package struct LearnSummary: Equatable, Sendable {
    /// The number of posts learned for the first time.
    package var learned = 0
    /// Known posts that changed their category or are now seen too.
    package var relabelled = 0
    /// Posts unlearned because they are gone, or because their favorite was withdrawn.
    package var unlearned = 0
    /// The number of events that changed nothing.
    package var unchanged = 0
    /// Events whose post id no database can store.
    package var ignored = 0
    /// Posts unlearned because they were too old or too many.
    package var pruned = 0
    /// The reason why the counts could not be updated.
    ///
    /// The examples are stored nevertheless and need not be learned again: the next call that
    /// reaches the counts updates them.
    package var countsError: FavoritesError?

    package init() {}

    /// The number of examples that changed.
    package var changed: Int { learned + relabelled + unlearned + pruned }

    /// Adds the numbers of another call.
    package mutating func add(_ other: LearnSummary) {
        learned += other.learned
        relabelled += other.relabelled
        unlearned += other.unlearned
        unchanged += other.unchanged
        ignored += other.ignored
        pruned += other.pruned
        countsError = other.countsError ?? countsError
    }
}

/// The progress of the training, and the state of the counts.
package struct TrainingStatus: Equatable, Sendable {
    /// The state of the counts compared with the examples.
    package enum Counts: Equatable, Sendable {
        /// The counts match the examples.
        case current
        /// The counts differ from the examples, and the next call that needs them will rebuild
        /// them.
        case outdated
        /// The counts cannot be read; favorites pause.
        case unavailable(FavoritesError)
    }

    /// Learned posts by category, and those seen on the timeline.
    package let examples: CategoryCounts
    /// Learned posts with no feature except the author; nil while the counts are not current.
    package let wordless: Int64?
    /// The number of counts kept, one for each feature and category; nil if they cannot be read.
    package let features: Int?
    package let counts: Counts
    /// The reason why nothing is a favorite yet; nil if enough was learned.
    package let waiting: WaitReason?
    /// The weight of each kind of evidence; nil while all count alike.
    package let weights: LearnedWeights?

    package var favorites: Int64 { examples.favorites }
    package var normals: Int64 { examples.normals }
    package var seen: Int64 { examples.seen }
    package var seenFavorites: Int64 { examples.seenFavorites }
}

/// A step of learning, reported to observers.
package enum LearningStep: String, CaseIterable, Sendable {
    /// The examples are committed; the counts do not contain them yet.
    case examplesStored = "examples-stored"
    case countsApplied = "counts-applied"
}
