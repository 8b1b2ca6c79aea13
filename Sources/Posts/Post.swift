package import Foundation

/// The audience of a post, from the widest to the narrowest.
package enum Visibility: String, CaseIterable, Codable, Comparable, Sendable {
    case `public`
    /// Everybody, but the post is not on public timelines.
    case unlisted
    /// The author's followers only.
    case `private`
    /// People of the author's server only, all of them or some. The bot never publishes with this
    /// visibility.
    case local
    /// The mentioned people only; also used for an unknown audience.
    case direct

    /// Whether everybody may read the post.
    package var isOpen: Bool { self == .public || self == .unlisted }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }

    package static func < (one: Visibility, other: Visibility) -> Bool { one.rank < other.rank }
}

/// The author and the post that a reply answers.
package struct ReplyTarget: Equatable, Sendable {
    /// The answered author; `nil` if the archive or server does not contain it.
    package var author: AccountID?
    /// The answered post; nil if the archive or server does not contain it.
    package var post: PostID?

    package init(author: AccountID?, post: PostID? = nil) {
        self.author = author
        self.post = post
    }
}

/// A post as plain text, with the facts that the bot needs to archive or repeat it.
package struct Post: Equatable, Sendable, Identifiable {
    package var id: PostID
    package var author: AccountID
    /// Plain text: no HTML, entities decoded once, shortened links expanded.
    package var text: String
    package var createdAt: Date
    /// Whether the time of day is known; false if an archive lost it.
    ///
    /// Such a post is not used to learn posting times.
    package var isTimeTrusted: Bool
    package var replyTo: ReplyTarget?
    package var isRepost: Bool
    package var visibility: Visibility
    /// Whether the author has set the post to be deleted at some time.
    package var isTimeLimited = false
    /// A BCP 47 language tag.
    package var language: String?
    /// Whether the post has images, video, audio or a poll.
    package var hasMedia: Bool
    /// The attachments, if all are pictures and not too many to be sent; else empty.
    package var pictures: [Picture]
    /// Whether the post quotes or shares another person's post, without which its text cannot be
    /// understood.
    package var isQuote: Bool
    /// Whether the post is marked as sensitive, or has a content warning.
    package var isSensitive: Bool
    /// The content warning: its words, or Bluesky's labels with spaces between; `nil` if it has no
    /// form that can be repeated.
    package var warning: String?
    /// The people mentioned in the text, as far as the network reports them.
    package var mentions: [AccountID]
    /// The identifier of the post in calls to the server where it was read; `nil` for a post from a
    /// downloaded archive.
    package var address: String?
    /// The author's client program, if a downloaded archive contains it.
    package var client: String?
    /// The minutes by which the author's clock was ahead of UTC; nil if unknown.
    package var utcOffset: Int?
    /// The words of links that are followed by their addresses in parentheses in the text: `words
    /// (https://…)`.
    package var linkWords: [String] = []

    package init(
        id: PostID, author: AccountID, text: String, createdAt: Date, isTimeTrusted: Bool = true,
        replyTo: ReplyTarget? = nil, isRepost: Bool = false, visibility: Visibility = .public,
        language: String? = nil, hasMedia: Bool = false, isSensitive: Bool = false,
        mentions: [AccountID] = [],
        address: String? = nil, warning: String? = nil, client: String? = nil,
        pictures: [Picture] = [],
        utcOffset: Int? = nil, isQuote: Bool = false
    ) {
        self.id = id
        self.author = author
        self.text = text
        self.createdAt = createdAt
        self.isTimeTrusted = isTimeTrusted
        self.replyTo = replyTo
        self.isRepost = isRepost
        self.visibility = visibility
        self.language = language
        self.hasMedia = hasMedia
        self.isSensitive = isSensitive
        self.warning = warning
        self.pictures = pictures
        self.mentions = mentions
        self.address = address
        self.client = client
        self.utcOffset = utcOffset
        self.isQuote = isQuote
    }

    /// Whether everybody may read the post, for as long as it is not deleted.
    ///
    /// Posts that are not open are not archived, learned or repeated.
    package var isOpen: Bool { visibility.isOpen && !isTimeLimited }

    /// Whether the post is a reply, even to its own author.
    package var isReply: Bool { replyTo != nil }

    /// The time in seconds within which two posts of a person are likely to refer to each other.
    ///
    /// Measured: 14 of 69 texts that were written so shortly after another one make no sense
    /// without it, against 18 of 239 other texts.
    package static let closeTogether: TimeInterval = 300
}
