package import Foundation
package import Posts

/// The purpose for which an archive is read.
package enum ImportPurpose: Sendable {
    /// The human's own posts: every post of an X archive, every line of JSON Lines.
    case scheduler
    /// Posts that are examined and not stored: lines of JSON Lines need no author or time.
    case texts
    /// Posts that the human favorited or did not favorite: the likes of an X archive, the lines of
    /// JSON Lines with `favorite`.
    case classifier
}

/// One thing read from an archive.
package enum ArchiveItem: Equatable, Sendable {
    /// A post by the human, including reposts and restricted posts: the archive of posts decides
    /// which to keep.
    case post(Post)
    /// The file of a picture.
    ///
    /// Its post was passed on before it; `place` is the position among the post's pictures, from 0.
    case picture(PostID, place: Int, [UInt8])
    /// Another person's post that the human favorited.
    case favorite(ImportedExample)
    /// Another person's post that the human saw and did not favorite.
    case normal(ImportedExample)
}

/// Another person's post, labelled as a favorite or not.
package struct ImportedExample: Equatable, Sendable {
    package var id: PostID
    /// The author's name without `@`, in lower case; nil for likes of an X archive, which do not
    /// contain it.
    package var author: String?
    /// Plain text, not empty.
    package var text: String
    /// The time of the post, if the archive contains it.
    package var createdAt: Date?
    /// Whether the human chose the post from a timeline; the favorites of an archive may come from
    /// anywhere.
    package var isSeen: Bool
    /// The author's account, if the archive contains it.
    package var authorID: AccountID?
    /// The author's profile as plain text, in which people opt out of bots; nil if the archive does
    /// not contain it.
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
