package import Posts

/// A post of somebody else, and what the human did with it.
package struct LabelledPost: Equatable, Sendable {
    package let example: Example
    /// Whether it was seen on the timeline, favorited, or both.
    package let state: ExampleState

    package init(_ example: Example, state: ExampleState) {
        self.example = example
        self.state = state
    }

    /// A post that the human saw, and favorited or not.
    package init(_ example: Example, isFavorite: Bool) {
        self.init(example, state: isFavorite ? .seenFavorite : .seen)
    }

    package var id: PostID { example.id }
    /// Whether the human favorited it.
    package var isFavorite: Bool { state.category == .favorite }

    /// What happened to the post: it was seen, it was favorited, or one after the other.
    var events: [FavoriteEvent] {
        (state.isSeen ? [.seen(example)] : []) + (isFavorite ? [.favorited(example)] : [])
    }
}

/// How often the human favorites a post of the timeline.
package struct BaseRate: Equatable, Sendable, Encodable {
    /// Posts seen on the timeline.
    package let posts: Int
    /// Those of them that the human favorited.
    package let favorites: Int

    package init(posts: Int, favorites: Int) {
        self.posts = max(0, posts)
        self.favorites = min(max(0, favorites), self.posts)
    }

    /// The rate among those of the posts that were seen.
    package init(of posts: some Collection<LabelledPost>) {
        let seen = posts.lazy.filter(\.state.isSeen)
        self.init(posts: seen.count, favorites: seen.count { $0.isFavorite })
    }

    /// Favorites per post, from 0 to 1; nil without posts.
    package var share: Double? { posts > 0 ? Double(favorites) / Double(posts) : nil }
}
