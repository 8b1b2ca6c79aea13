import Foundation
import Posts

/// A post of the sandbox.
struct SandboxPost: Sendable {
    /// The id, with milliseconds since 1970 in the upper bits, so that ids grow with time as on
    /// Mastodon.
    var id: Int64
    /// The index of the author.
    var author: Int
    var createdAt: Date
    /// The time of the last edit.
    var editedAt: Date?
    var text: String
    var html: StatusHTML
    var visibility: Visibility
    var warning: String
    var isSensitive: Bool
    /// A language tag of two or three letters.
    var language: String?
    var attachment: ScriptedPost.Attachment?
    /// The numbers of its uploaded files.
    var media: [Int64] = []
    var replyTo: Int64?
    var replyToAuthor: Int?
    var repostOf: Int64?
    var favorites = 0
    var replies = 0
    /// Whether the human favorites posts like this.
    var isLoved = false
    /// The kind of its mention of the bot, if the script wrote one.
    var mention: SandboxMention?
    /// The number within the script; nil for a post from a client.
    var number: Int?
    /// The people whom the post notifies, if these are not the people named in the text.
    var explicitRecipients: [Int]?
    /// The property that makes the post hard to process.
    var burden: SandboxBurden?
    /// The time at which the people named in the post are notified.
    var notice = SandboxNotice.atOnce

    /// The people whom the post notifies.
    var recipients: [Int] { explicitRecipients ?? html.mentions }

    /// The number of bytes that the post has besides its text.
    var padding: Int {
        if case .padding(let bytes) = burden { bytes } else { 0 }
    }

    /// The number of generated answers to the post, whose authors are no people of the sandbox.
    var crowd: Int {
        if case .crowd(let posts) = burden { posts } else { 0 }
    }

    /// The flaw of its JSON object, if that is its burden.
    var flaw: SandboxFlaw? {
        if case .flaw(let flaw) = burden { flaw } else { nil }
    }

    static func id(at date: Date) -> Int64 { max(0, date.milliseconds) << 16 }
}

/// A post whose deletion was confirmed and is not carried out yet.
struct LeavingPost: Sendable {
    /// The time when the post is deleted.
    var due: Date
    /// The number of requests that can still read the post.
    var remainingReads: Int
}

/// A favorite; its id is the cursor of the pages of favorites.
struct SandboxFavorite: Sendable {
    var id: Int64
    var post: Int64
    var createdAt: Date
}

/// A notification of one person.
struct SandboxNotification: Sendable {
    enum Kind: String, Sendable {
        case mention
        case favorite = "favourite"
        case follow
    }

    var id: Int64
    var kind: Kind
    var createdAt: Date
    /// The index of the person who caused the notification.
    var cause: Int
    var post: Int64?
    /// The time at which the notification appears in the list.
    var visibleFrom: Date
}
