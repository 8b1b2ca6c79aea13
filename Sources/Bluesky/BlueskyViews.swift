import Formats
import Foundation
import Networks
import Posts

/// A label about an account or post.
struct BlueskyLabel: Decodable, Sendable {
    let value: String
    /// The DID of the label's author; nil if the server omits it.
    let source: String?
    /// Whether this label revokes an earlier one.
    let isNegation: Bool

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let value = wire.text("val") else { throw ShapeError() }
        self.value = value
        source = wire.text("src")
        isNegation = wire.flag("neg") ?? false
    }
}

/// An account in an answer, by itself or with its posts.
struct BlueskyProfile: Decodable, Sendable {
    let did: String
    let handle: String
    let displayName: String
    /// The bio; nil in the short form that comes with posts.
    let description: String?
    let isBioIncluded: Bool
    /// Whether one of the two accounts blocks the other.
    let isBlocked: Bool
    private let labels: [BlueskyLabel]

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let did = wire.did else { throw ShapeError() }
        self.did = did
        // A server states `handle.invalid` for a handle that does not lead back to the account;
        // then the DID serves as the handle.
        let handle = wire.text("handle").flatMap { BlueskyName.handle($0) }
        self.handle = handle == nil || handle == "handle.invalid" ? did : handle ?? did
        displayName = wire.text("displayName") ?? ""
        description = wire.text("description")
        isBioIncluded = wire.contains("description")
        labels = wire.list(of: BlueskyLabel.self, "labels")
        let viewer = wire.object("viewer")
        isBlocked = viewer?.flag("blockedBy") == true || viewer?.isPresent("blocking") == true
    }

    /// Whether the account labels itself as automated.
    var isBot: Bool { labelsItself("bot") }

    /// Whether the account wants to be shown only to logged-in readers.
    var hidesFromStrangers: Bool { labelsItself("!no-unauthenticated") }

    private func labelsItself(_ value: String) -> Bool {
        labels.contains { $0.value == value && !$0.isNegation && ($0.source ?? did) == did }
    }
}

/// A post as a server shows it to one account.
struct BlueskyPostView: Decodable, Sendable {
    /// Labels, by any author, that exclude a post from being learned and repeated.
    private static let sensitiveLabels: Set<String> = [
        "porn", "sexual", "nudity", "sexual-figurative", "graphic-media", "gore", "self-harm",
        "intolerant", "!hide",
        "!warn",
    ]

    let reference: RecordReference
    let author: BlueskyProfile
    let record: BlueskyPostRecord
    let indexedAt: Date?
    /// Whether the requesting account has favorited the post; nil without a login.
    let isFavorited: Bool?
    let isReplyDisabled: Bool
    let isSensitive: Bool

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let reference = RecordReference(wire),
            let author = wire.value(BlueskyProfile.self, "author"),
            let record = wire.value(BlueskyPostRecord.self, "record"),
            // The record must be in the repository of the stated author.
            reference.address.repository == author.did
        else { throw ShapeError() }
        self.reference = reference
        self.author = author
        self.record = record
        indexedAt = wire.date("indexedAt")
        let viewer = wire.object("viewer")
        isFavorited = viewer.map { $0.isPresent("like") }
        let ruleCount = wire.object("threadgate")?.object("record")?.count(of: "allow")
        // Without a list of rules everybody may answer, with an empty list nobody.
        isReplyDisabled = viewer?.flag("replyDisabled") ?? (ruleCount == 0)
        isSensitive = wire.list(of: BlueskyLabel.self, "labels")
            .contains { Self.sensitiveLabels.contains($0.value) && !$0.isNegation }
    }
}

/// A post on a timeline, or a repost of it.
struct BlueskyFeedItem: Decodable, Sendable {
    /// The reason why the item is on the timeline, if it is not there because its author wrote it.
    enum Reason: Sendable {
        case repost(by: String?, at: Date?)
        /// A post that its author pinned.
        case pin
        case other
    }

    let post: BlueskyPostView
    let reason: Reason?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        post = try wire.required(BlueskyPostView.self, "post")
        guard wire.isPresent("reason") else {
            reason = nil
            return
        }
        let wireReason = wire.object("reason")
        switch wireReason?.text("$type") {
        case "app.bsky.feed.defs#reasonRepost":
            reason = .repost(
                by: wireReason?.object("by")?.text("did"), at: wireReason?.date("indexedAt"))
        case "app.bsky.feed.defs#reasonPin": reason = .pin
        default: reason = .other
        }
    }
}

/// A notification for the account.
struct BlueskyNotification: Decodable, Sendable {
    let reference: RecordReference
    let author: BlueskyProfile?
    let reason: String
    /// Nil if the record is not a post.
    let record: BlueskyPostRecord?
    let indexedAt: Date?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let reference = RecordReference(wire),
            let reason = wire.text("reason")
        else { throw ShapeError() }
        self.reference = reference
        self.reason = reason
        author = wire.value(BlueskyProfile.self, "author")
            .flatMap { $0.did == reference.address.repository ? $0 : nil }
        record = wire.value(BlueskyPostRecord.self, "record")
        indexedAt = wire.date("indexedAt")
    }
}

/// Posts that were requested by their addresses.
struct BlueskyViews: Decodable, Sendable {
    private(set) var readable: [String: BlueskyPostView] = [:]
    /// The addresses of posts that exist but are unreadable.
    private(set) var unreadable: Set<String> = []
    /// Whether some unreadable posts have no address, so that a missing post may be one of them.
    private var hasNameless = false

    private struct Element: Decodable {
        let uri: String
        let view: BlueskyPostView?

        init(from decoder: any Decoder) throws {
            uri = try WireObject(from: decoder).required(String.self, "uri")
            // Nil if the post has an unexpected shape; then it exists but is unreadable.
            view = try? BlueskyPostView(from: decoder)
        }
    }

    init(unreadable: Set<String> = []) {
        self.unreadable = unreadable
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard wire.isPresent("posts") else { throw ShapeError() }
        let elements = try wire.required([LenientElement<Element>].self, "posts")
        hasNameless = elements.contains { $0.value == nil }
        for element in elements.compactMap(\.value) {
            if let view = element.view {
                readable[element.uri] = view
            } else {
                unreadable.insert(element.uri)
            }
        }
    }

    /// Adds those posts of an answer that were requested.
    mutating func add(_ answer: BlueskyViews, named uris: Set<String>) {
        readable.merge(answer.readable.filter { uris.contains($0.key) }) { _, new in new }
        unreadable.formUnion(answer.unreadable.intersection(uris))
        if answer.hasNameless { unreadable.formUnion(uris.subtracting(answer.readable.keys)) }
    }
}

/// The thread below a post.
struct BlueskyThread: Decodable, Sendable {
    /// The replies that the account can see.
    let replies: [BlueskyPostView]

    private struct Reply: Decodable {
        let post: BlueskyPostView
    }

    init(from decoder: any Decoder) throws {
        let thread = try WireObject(from: decoder).required(WireObject.self, "thread")
        replies = thread.list(of: Reply.self, "replies").map(\.post)
    }
}
