/// What came of a call that changes the examples.
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
    /// The number of counts kept, one for each feature and category; nil if they cannot be read.
    package let features: Int?
    package let counts: Counts
    /// Why nothing is a favorite yet; nil once enough was learned.
    package let waiting: WaitReason?

    package var favorites: Int64 { examples.favorites }
    package var normals: Int64 { examples.normals }
    package var seen: Int64 { examples.seen }
    package var seenFavorites: Int64 { examples.seenFavorites }
    package var countsMatch: Bool { counts == .current }
}
