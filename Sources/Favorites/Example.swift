package import Posts
import Storage

/// A post of somebody else, as the classifier sees it.
package struct Example: Hashable, Sendable {
    package var id: PostID
    /// The author's handle in any case, without `@`; nil where an archive does not tell.
    package var author: String?
    /// Plain text.
    package var text: String

    package init(id: PostID, author: String?, text: String) {
        self.id = id
        self.author = author
        self.text = text
    }

    /// The part of the example that is kept: what the features depend on, in a form every database takes.
    ///
    /// Features are the same before and after, so what was learned from a post
    /// can be unlearned from its stored text.
    package var stored: Example {
        let author = author.flatMap(FeatureExtractor.normalizedHandle)
        if text.utf8.count <= TextCleaner.maximumInput, !text.containsNUL {
            return Example(id: id, author: author, text: text)
        }
        var kept = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(TextCleaner.maximumInput) {
            // PostgreSQL has no zero in a text; features treat it as a space as well.
            kept.append(scalar == "\0" ? " " : scalar)
        }
        return Example(id: id, author: author, text: String(kept))
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
