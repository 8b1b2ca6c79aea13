import Import

/// How far a training has come, for a progress bar or a line of text.
package struct TrainingProgress: Equatable, Sendable {
    /// What is being read.
    package enum Step: String, Sendable {
        case posts
        case favorites
        case home
        case archive

        /// What people call it.
        var name: String {
            switch self {
            case .posts: "posts"
            case .favorites: "favorites"
            case .home: "home timeline"
            case .archive: "archive"
            }
        }

        /// What is counted.
        var things: String {
            switch self {
            case .posts, .home, .archive: "posts"
            case .favorites: "favorites"
            }
        }
    }

    package var step: Step
    package var done: Int
    /// How many there will be at most; nil while nobody knows.
    package var total: Int?
    /// A sentence to print before the reading begins, such as what it costs.
    package var announcement: String?
}

/// What a training did.
package struct TrainingSummary: Equatable, Sendable {
    /// Posts or examples that were read.
    package var read = 0
    /// New ones among them.
    package var learned = 0
    /// Left out because they were known.
    package var known = 0
    /// Left out on purpose, by reason.
    package var leftOut: [String: Int] = [:]
    /// Items that could not be read, the first of them described.
    package var problems: [String] = []
    package var problemCount = 0
    /// The zone that the archive suggests.
    package var suggestedTimeZone: String?
    /// What could not be read, and how to get it: a sentence each.
    package var missing: [String] = []

    /// Adds what the reader of an archive found besides the items.
    mutating func add(_ imported: ImportSummary?) {
        guard let imported else { return }
        problems += imported.problems.map(\.description)
        problemCount += imported.problemCount
        suggestedTimeZone = imported.timeZone
        let counts = [
            ("deleted", imported.deleted), ("without a text", imported.withoutText),
            ("without a label", imported.unlabelled), ("not public", imported.notOpen),
            ("reposts", imported.reposts), ("neither posts nor favorites", imported.unrelated),
            ("addresses only", imported.likesWithoutPost),
        ]
        for (reason, count) in counts where count > 0 { leftOut[reason, default: 0] += count }
        missing += imported.hints
    }
}
