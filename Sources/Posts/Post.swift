package import Foundation

/// The audience of a post, from the widest to the narrowest.
package enum Visibility: String, CaseIterable, Codable, Comparable, Sendable {
    case `public`
    /// Public, but kept out of public timelines.
    case unlisted
    /// Followers only.
    case `private`
    /// People of the author's own server only, all of them or some. Nothing that the bot publishes
    /// is like that.
    case local
    /// The mentioned people only. Also stands for an audience that is not known.
    case direct

    /// Whether everybody may read the post.
    package var isOpen: Bool { self == .public || self == .unlisted }

    private var place: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }

    package static func < (one: Visibility, other: Visibility) -> Bool { one.place < other.place }
}

/// The author and the post that a reply answers.
package struct ReplyTarget: Equatable, Sendable {
    /// The answered author; `nil` where the archive or server does not tell.
    package var author: AccountID?
    /// The answered post; nil where the archive or server does not tell.
    package var post: PostID?

    package init(author: AccountID?, post: PostID? = nil) {
        self.author = author
        self.post = post
    }
}

/// One post, as plain text, with what the bot must know to remember or repeat it.
package struct Post: Equatable, Sendable, Identifiable {
    package var id: PostID
    package var author: AccountID
    /// Plain text: no HTML, entities decoded once, shortened links expanded.
    package var text: String
    package var createdAt: Date
    /// False where an archive lost the time of day; such a post teaches words, not times.
    package var isTimeTrusted: Bool
    package var replyTo: ReplyTarget?
    package var isRepost: Bool
    package var visibility: Visibility
    /// Whether the post is to disappear at some time, by its author's will.
    package var isTimeLimited = false
    /// A BCP 47 language tag.
    package var language: String?
    /// Images, video, audio or a poll.
    package var hasMedia: Bool
    /// The attachments, if all are pictures and few enough to be sent; else empty.
    package var pictures: [Picture]
    /// Quotes or shares somebody else's post, without which its text is not to be understood.
    package var isQuote: Bool
    /// Marked sensitive, or behind a content warning.
    package var isSensitive: Bool
    /// The content warning: its words, or Bluesky's labels with spaces between; `nil` where it is
    /// not told in a form that could be repeated.
    package var warning: String?
    /// The people named in the text, as far as the network tells.
    package var mentions: [AccountID]
    /// The identifier of the post in calls to the server where it was read; `nil` for a post from a
    /// downloaded archive.
    package var address: String?
    /// The program that the author wrote it with, as far as a downloaded archive tells.
    package var client: String?
    /// By how many minutes the author's clock was ahead of UTC; nil where nobody tells.
    package var utcOffset: Int?
    /// The words of links whose addresses stand in parentheses behind them in the text: `words
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
    /// Posts that are not open are neither archived nor learned from nor repeated.
    package var isOpen: Bool { visibility.isOpen && !isTimeLimited }

    /// Whether the post answers somebody, its own author included.
    package var isReply: Bool { replyTo != nil }

    /// Posts of a person that are less far apart speak about each other more often than others, in
    /// seconds.
    ///
    /// 14 of 69 such texts were out of place where they stood alone, and 18 of 239 others.
    package static let closeTogether: TimeInterval = 300
}
