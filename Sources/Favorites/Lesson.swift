import Posts

/// The changes that a batch of events makes to the examples.
///
/// Pure: given what is stored and what happened, it tells which rows to write
/// and delete and how the counts change.
struct Lesson {
    private(set) var change = CountChange()
    private(set) var written: [ExampleTable.Row] = []
    private(set) var deleted: [PostID] = []
    private(set) var summary = LearnSummary()

    /// Whether there is anything to store.
    var isEmpty: Bool { written.isEmpty && deleted.isEmpty }

    /// - Parameters:
    ///   - events: What happened, in order.
    ///   - stored: The examples among the events' posts.
    init(
        _ events: [FavoriteEvent], stored: [PostID: ExampleTable.Row],
        features: (Example) -> FeatureSet
    ) {
        // In the order in which they are first touched.
        var posts: [(id: PostID, current: ExampleTable.Row?)] = []
        var places: [PostID: Int] = [:]
        posts.reserveCapacity(events.count)
        places.reserveCapacity(events.count)
        for event in events {
            let new = posts.count
            let place = Self.stored(&places[event.id, default: new])
            if place == new { posts.append((event.id, stored[event.id])) }
            let before = posts[place].current
            let after = ExampleState.after(event, from: before?.state)
            if after == before?.state { summary.unchanged += 1 }
            // The text that was learned first stays, so that what is unlearned later is what was
            // learned.
            posts[place].current = after.flatMap { state in
                guard var example = before?.example ?? event.example?.stored else { return nil }
                // Whose it is may be told later than its text, and is no part of what was learned.
                if state != before?.state {
                    example.authorID = example.authorID ?? event.example?.authorID
                }
                return ExampleTable.Row(example: example, state: state)
            }
        }
        for (id, current) in posts { move(id, from: stored[id], to: current, features) }
    }

    /// A value that is passed for a change is stored with its default, which spares a second look
    /// into the table.
    private static func stored(_ place: inout Int) -> Int { place }

    private mutating func move(
        _ id: PostID, from old: ExampleTable.Row?, to new: ExampleTable.Row?,
        _ features: (Example) -> FeatureSet
    ) {
        guard old?.state != new?.state || old?.example != new?.example else { return }
        if let old { change.move(features(old.example), from: old.state, to: nil) }
        if let new { change.move(features(new.example), from: nil, to: new.state) }
        switch (old, new) {
        case (nil, let new?):
            summary.learned += 1
            written.append(new)
        case (_?, let new?):
            summary.relabelled += 1
            written.append(new)
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
    /// Posts learned for the first time.
    package var learned = 0
    /// Known posts that changed their category or were now also seen.
    package var relabelled = 0
    /// Posts unlearned because they are gone, or their favorite was taken back.
    package var unlearned = 0
    /// Events that changed nothing.
    package var unchanged = 0
    /// Events whose post id no database can hold.
    package var ignored = 0
    /// Posts unlearned because they were too old or too many.
    package var pruned = 0
    /// Why the counts could not be brought up to date.
    ///
    /// The examples are stored nevertheless and nothing needs to be learned
    /// again: the counts catch up with the next call that reaches them.
    package var countsError: FavoritesError?

    package init() {}

    /// How many examples are not what they were.
    package var changed: Int { learned + relabelled + unlearned + pruned }

    /// Adds what another call did.
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

/// How far the training is, and whether the counts can be used.
package struct TrainingStatus: Equatable, Sendable {
    /// Whether the counts are what the examples say.
    package enum Counts: Equatable, Sendable {
        /// They are.
        case current
        /// They are not, and will be rebuilt by the next call that needs them.
        case outdated
        /// They cannot be read; favorites pause.
        case unavailable(FavoritesError)
    }

    /// Learned posts by category, and those seen on the timeline.
    package let examples: CategoryCounts
    /// Learned posts of which the classifier knows no more than the author; nil while the counts
    /// are not current.
    package let wordless: Int64?
    /// The number of counts kept, one for each feature and category; nil if they cannot be read.
    package let features: Int?
    package let counts: Counts
    /// Why nothing is a favorite yet; nil once enough was learned.
    package let waiting: WaitReason?
    /// How far each kind of evidence is believed; nil while all count alike.
    package let weights: LearnedWeights?

    package var favorites: Int64 { examples.favorites }
    package var normals: Int64 { examples.normals }
    package var seen: Int64 { examples.seen }
    package var seenFavorites: Int64 { examples.seenFavorites }
}

/// A point in learning, told to whoever wants to know how far it got.
package enum LearningStep: String, CaseIterable, Sendable {
    /// The examples are committed; the counts know nothing of them.
    case examplesStored = "examples-stored"
    case countsApplied = "counts-applied"
}
