package import Posts
import Storage

/// A post of somebody else, as the classifier sees it.
package struct Example: Hashable, Sendable {
    package var id: PostID
    /// The author's handle in any case, without `@`; nil where an archive does not tell.
    package var author: String?
    /// The author's permanent identity, whatever the handle is; `nil` where it is not known.
    ///
    /// It is no evidence: only the handle is a feature.
    package var authorID: AccountID?
    /// Plain text.
    package var text: String

    /// - Parameters:
    ///   - id: The post, which may tell who wrote it.
    ///   - authorID: The author's permanent identity; `nil` for the one that the post tells.
    package init(id: PostID, author: String?, authorID: AccountID? = nil, text: String) {
        self.id = id
        self.author = author
        self.authorID = authorID ?? id.author
        self.text = text
    }

    /// The part of the example that is kept: what the features depend on, in a form every database
    /// takes.
    ///
    /// Features are the same before and after, so what was learned from a post
    /// can be unlearned from its stored text.
    package var stored: Example {
        var stored = self
        stored.author = author.flatMap(FeatureExtractor.normalizedHandle)
        if text.utf8.count <= TextCleaner.maximumInput, !text.containsNUL { return stored }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(TextCleaner.maximumInput) {
            // PostgreSQL has no zero in a text; features treat it as a space as well.
            kept.append(scalar == "\0" ? " " : scalar)
        }
        stored.text = String(kept)
        return stored
    }
}

/// Something that happened to a post and teaches the classifier.
package enum FavoriteEvent: Equatable, Sendable {
    /// The post appeared on the timeline that counts as seen.
    case seen(Example)
    /// The human favorited it.
    case favorited(Example)
    /// The human took the favorite back.
    case unfavorited(PostID)
    /// The post is gone, or its author must not be learned from.
    case forgotten(PostID)

    /// The post it happened to.
    package var id: PostID {
        switch self {
        case .seen(let example), .favorited(let example): example.id
        case .unfavorited(let id), .forgotten(let id): id
        }
    }

    /// The post itself where the event carries it.
    var example: Example? {
        switch self {
        case .seen(let example), .favorited(let example): example
        case .unfavorited, .forgotten: nil
        }
    }
}

/// The state of a learned post: seen on the timeline, favorited, or both.
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
