/// What is known of a post that was learned.
package enum ExampleState: String, Sendable, CaseIterable {
    /// Seen on the timeline, not a favorite: a normal post.
    case seen
    /// Seen on the timeline and favorited.
    case seenFavorite = "seen-favorite"
    /// Favorited, but never seen on the timeline.
    case favorite

    /// The category whose features such a post counts for.
    package var category: Category { self == .seen ? .normal : .favorite }

    /// Whether the post was on the timeline that tells how often the human favorites.
    package var isSeen: Bool { self != .favorite }

    /// The state after an event; nil when the post is not, or no longer, learned.
    ///
    /// Seeing and favoriting may come in any order and any number of times.
    static func after(_ event: FavoriteEvent, from state: ExampleState?) -> ExampleState? {
        switch (event, state) {
        case (.seen, nil): .seen
        case (.seen, .favorite): .seenFavorite
        case (.favorited, nil): .favorite
        case (.favorited, .seen): .seenFavorite
        case (.unfavorited, .seenFavorite): .seen
        case (.unfavorited, .favorite): nil
        case (.forgotten, _): nil
        case (.seen, _), (.favorited, _), (.unfavorited, _): state
        }
    }
}

/// One of the two kinds of posts that the classifier tells apart.
package enum Category: String, Sendable, CaseIterable {
    case favorite
    case normal
}
