package import Posts
import Storage

/// Another person's post, reduced to the facts that the classifier uses.
package struct Example: Hashable, Sendable {
    package var id: PostID
    /// The author's handle in any case, without `@`; nil if an archive does not contain it.
    package var author: String?
    /// The author's permanent identity, independent of the handle; `nil` if unknown.
    ///
    /// It is not a feature: only the handle is.
    package var authorID: AccountID?
    /// The text of the post, as plain text.
    package var text: String

    /// - Parameters:
    ///   - id: The post's id, which contains the author's identity on some networks.
    ///   - authorID: The author's permanent identity; `nil` for the one in the post's id.
    package init(id: PostID, author: String?, authorID: AccountID? = nil, text: String) {
        self.id = id
        self.author = author
        self.authorID = authorID ?? id.author
        self.text = text
    }

    /// The stored part of the example: everything on which the features depend, in a form that
    /// every database accepts.
    ///
    /// It has the same features as the example, so a learned post can be unlearned from its stored
    /// text.
    package var stored: Example {
        var stored = self
        stored.author = author.flatMap(FeatureExtractor.normalizedHandle)
        if text.utf8.count <= TextCleaner.maximumInput, !text.containsNUL { return stored }
        var cleaned = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(TextCleaner.maximumInput) {
            // PostgreSQL allows no NUL in a text; features treat it as a space anyway.
            cleaned.append(scalar == "\0" ? " " : scalar)
        }
        stored.text = String(cleaned)
        return stored
    }
}

/// An event of a post from which the classifier learns.
package enum FavoriteEvent: Equatable, Sendable {
    /// The post appeared on the timeline whose posts count as seen.
    case seen(Example)
    /// The human favorited the post.
    case favorited(Example)
    /// The human took the favorite back.
    case unfavorited(PostID)
    /// The post is gone, or its author must not be learned from.
    case forgotten(PostID)

    /// The id of the post.
    package var id: PostID {
        switch self {
        case .seen(let example), .favorited(let example): example.id
        case .unfavorited(let id), .forgotten(let id): id
        }
    }

    /// The post, if the event contains it.
    var example: Example? {
        switch self {
        case .seen(let example), .favorited(let example): example
        case .unfavorited, .forgotten: nil
        }
    }
}

/// The state of a learned post: seen on the timeline, favorited, or both.
package enum ExampleState: String, Sendable, CaseIterable {
    /// The post was seen on the timeline and is not a favorite: a normal post.
    case seen
    /// The post was seen on the timeline and favorited.
    case seenFavorite = "seen-favorite"
    /// The post was favorited, but never seen on the timeline.
    case favorite

    /// The category in which the features of such a post are counted.
    package var category: Category { self == .seen ? .normal : .favorite }

    /// Whether the post was on the timeline that determines the base rate.
    package var isSeen: Bool { self != .favorite }

    /// The state after an event; nil if the post is not, or no longer, learned.
    ///
    /// Both events may come in any order and any number of times.
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

/// One of the two categories of the classifier.
package enum Category: String, Sendable, CaseIterable {
    case favorite
    case normal
}
