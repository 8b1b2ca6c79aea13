package import Foundation
package import Posts

/// The purpose for which an archive is read.
package enum ImportPurpose: Sendable {
    /// The human's own posts: every post of an X archive, every line of JSON Lines.
    case scheduler
    /// The same, to be looked at and not kept: a line of JSON Lines need not say who wrote it, or
    /// when.
    case texts
    /// Posts that the human favorited, and posts that the human did not: the likes of an X archive,
    /// the lines of JSON Lines that say `favorite`.
    case classifier
}

/// One thing read from an archive.
package enum ArchiveItem: Equatable, Sendable {
    /// A post by the human, reposts and posts for few included: the archive of posts decides what
    /// to keep.
    case post(Post)
    /// The file of one of the pictures of a post that was handed over before, by its place among
    /// them from 0.
    case picture(PostID, place: Int, [UInt8])
    /// A post of somebody else that the human favorited.
    case favorite(ImportedExample)
    /// A post of somebody else that the human saw and did not favorite.
    case normal(ImportedExample)
}

/// A labelled post of somebody else.
package struct ImportedExample: Equatable, Sendable {
    package var id: PostID
    /// The author's name without `@`, in lower case; nil in the likes of an X archive, which do not
    /// tell.
    package var author: String?
    /// Plain text, not empty.
    package var text: String
    /// When the post was made, where the archive tells.
    package var createdAt: Date?
    /// Whether it was one of the posts that the human chose from; the favorites of an archive may
    /// come from anywhere.
    package var isSeen: Bool
    /// The author's account, where the archive tells.
    package var authorID: AccountID?
    /// The author's profile as plain text, in which people opt out of bots; nil where the archive
    /// does not tell.
    package var authorBio: String?

    package init(
        id: PostID, author: String?, text: String, createdAt: Date?, isSeen: Bool = true,
        authorID: AccountID? = nil, authorBio: String? = nil
    ) {
        self.id = id
        self.author = author
        self.text = text
        self.createdAt = createdAt
        self.isSeen = isSeen
        self.authorID = authorID
        self.authorBio = authorBio
    }
}
