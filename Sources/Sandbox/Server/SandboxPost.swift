import Foundation
import Posts

/// A post as the sandbox keeps it.
struct SandboxPost: Sendable {
    /// Milliseconds since 1970 in the upper bits, so that ids grow with time as Mastodon's do.
    var id: Int64
    /// The index of the author.
    var author: Int
    var createdAt: Date
    /// When its author last changed it.
    var editedAt: Date?
    var text: String
    var html: StatusHTML
    var visibility: Visibility
    var warning: String
    var isSensitive: Bool
    /// A language tag of two or three letters.
    var language: String?
    var attachment: ScriptedPost.Attachment?
    /// The numbers of what was uploaded for it.
    var media: [Int64] = []
    var replyTo: Int64?
    var replyToAuthor: Int?
    var repostOf: Int64?
    var favorites = 0
    var replies = 0
    /// Whether the human favorites posts like this.
    var isLoved = false
    /// How the post calls on the bot, if the script wrote it to.
    var mention: SandboxMention?
    /// The number within the script; nil for what came over the wire.
    var number: Int?
    /// The people whom the post notifies; `nil` for those named in the text.
    var told: [Int]?
    /// The property that makes it hard to process.
    var burden: SandboxBurden?
    /// When those whom it names are told of it.
    var notice = SandboxNotice.atOnce

    /// The people whom the post notifies.
    var recipients: [Int] { told ?? html.mentions }

    /// How many bytes it has besides its text.
    var padding: Int {
        if case .padding(let bytes) = burden { bytes } else { 0 }
    }

    /// How many answers to it there are that nobody wrote.
    var crowd: Int {
        if case .crowd(let posts) = burden { posts } else { 0 }
    }

    /// The flaw of its object, if that is its burden.
    var flaw: SandboxFlaw? {
        if case .flaw(let flaw) = burden { flaw } else { nil }
    }

    static func id(at date: Date) -> Int64 { max(0, date.milliseconds) << 16 }
}

/// A post whose deletion was answered and is not carried out yet.
struct LeavingPost: Sendable {
    /// When it is gone.
    var due: Date
    /// Requests that still see it.
    var looks: Int
}

/// A favorite; its id is what the pages of favorites are cut by.
struct SandboxFavorite: Sendable {
    var id: Int64
    var post: Int64
    var createdAt: Date
}

/// Something one person is told about.
struct SandboxNotification: Sendable {
    enum Kind: String, Sendable {
        case mention
        case favorite = "favourite"
        case follow
    }

    var id: Int64
    var kind: Kind
    var createdAt: Date
    /// The index of the person who caused it.
    var cause: Int
    var post: Int64?
    /// When it comes into the list.
    var visibleFrom: Date
}
