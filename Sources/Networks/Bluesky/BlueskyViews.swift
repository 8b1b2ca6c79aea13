import Formats
import Foundation
import Posts

/// A label of somebody about something.
struct BlueskyLabel: Decodable, Sendable {
    let value: String
    /// The DID of who gave it; nil where a server leaves that out.
    let source: String?
    /// Whether it takes an earlier one back.
    let isNegation: Bool

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let value = wire.text("val") else { throw ShapeError() }
        self.value = value
        source = wire.text("src")
        isNegation = wire.flag("neg") ?? false
    }
}

/// An account as it comes with its posts, or by itself.
struct BlueskyProfile: Decodable, Sendable {
    let did: String
    let handle: String
    let displayName: String
    /// The bio; nil in the short form that comes with posts.
    let description: String?
    let isBioIncluded: Bool
    /// One of the two accounts keeps the other away.
    let isBlocked: Bool
    private let labels: [BlueskyLabel]

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let did = wire.did else { throw ShapeError() }
        self.did = did
        // A handle that does not lead back to the account is as good as none.
        let handle = wire.text("handle").flatMap { BlueskyName.handle($0) }
        self.handle = handle == nil || handle == "handle.invalid" ? did : handle ?? did
        displayName = wire.text("displayName") ?? ""
        description = wire.text("description")
        isBioIncluded = wire.contains("description")
        labels = wire.list(of: BlueskyLabel.self, "labels")
        let viewer = wire.object("viewer")
        isBlocked = viewer?.flag("blockedBy") == true || viewer?.isPresent("blocking") == true
    }

    /// Whether the account says of itself that it is automated.
    var isBot: Bool { says("bot") }

    /// Whether the account wants to be shown only to people who are logged in.
    var hidesFromStrangers: Bool { says("!no-unauthenticated") }

    private func says(_ value: String) -> Bool {
        labels.contains { $0.value == value && !$0.isNegation && ($0.source ?? did) == did }
    }
}

/// A post as a server shows it to one account.
struct BlueskyPostView: Decodable, Sendable {
    /// Labels by whomever that keep a post from being learned and repeated.
    private static let sensitiveLabels: Set<String> = [
        "porn", "sexual", "nudity", "sexual-figurative", "graphic-media", "gore", "self-harm",
        "intolerant", "!hide",
        "!warn",
    ]

    let reference: RecordReference
    let author: BlueskyProfile
    let record: BlueskyPostRecord
    let indexedAt: Date?
    /// Whether the account that asked has favorited it; nil where nobody is logged in.
    let isFavorited: Bool?
    let isReplyDisabled: Bool
    let isSensitive: Bool

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let reference = RecordReference(wire),
            let author = wire.value(BlueskyProfile.self, "author"),
            let record = wire.value(BlueskyPostRecord.self, "record"),
            // Who says that somebody else wrote a post is not believed.
            reference.address.repository == author.did
        else { throw ShapeError() }
        self.reference = reference
        self.author = author
        self.record = record
        indexedAt = wire.date("indexedAt")
        let viewer = wire.object("viewer")
        isFavorited = viewer.map { $0.isPresent("like") }
        let allowed = wire.object("threadgate")?.object("record")?.count(of: "allow")
        // Without a list everybody may answer, with an empty one nobody.
        isReplyDisabled = viewer?.flag("replyDisabled") ?? (allowed == 0)
        isSensitive = wire.list(of: BlueskyLabel.self, "labels")
            .contains { Self.sensitiveLabels.contains($0.value) && !$0.isNegation }
    }
}

/// A post on a timeline, or somebody's repost of it.
struct BlueskyFeedItem: Decodable, Sendable {
    /// Why the item is here if not for having been written.
    enum Reason: Sendable {
        case repost(by: String?, at: Date?)
        /// Its author keeps it on top.
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
        let why = wire.object("reason")
        switch why?.text("$type") {
        case "app.bsky.feed.defs#reasonRepost":
            reason = .repost(by: why?.object("by")?.text("did"), at: why?.date("indexedAt"))
        case "app.bsky.feed.defs#reasonPin": reason = .pin
        default: reason = .other
        }
    }
}

/// A notification.
struct BlueskyNotification: Decodable, Sendable {
    let reference: RecordReference
    let author: BlueskyProfile?
    let reason: String
    /// Nil for what is not a post.
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

/// Posts that were asked for by their addresses.
struct BlueskyViews: Decodable, Sendable {
    private(set) var readable: [String: BlueskyPostView] = [:]
    /// The addresses of posts that are there, but not as expected.
    private(set) var unreadable: Set<String> = []
    /// Some do not even tell their address: what is missing is not gone for certain.
    private var hasNameless = false

    private struct Element: Decodable {
        let uri: String
        let view: BlueskyPostView?

        init(from decoder: any Decoder) throws {
            uri = try WireObject(from: decoder).required(String.self, "uri")
            // A post of another shape is there, but unreadable.
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

    /// Takes over those of an answer that were asked for.
    mutating func add(_ answer: BlueskyViews, named uris: Set<String>) {
        readable.merge(answer.readable.filter { uris.contains($0.key) }) { _, new in new }
        unreadable.formUnion(answer.unreadable.intersection(uris))
        if answer.hasNameless { unreadable.formUnion(uris.subtracting(answer.readable.keys)) }
    }
}

/// The thread below a post.
struct BlueskyThread: Decodable, Sendable {
    /// The replies that can be seen.
    let replies: [BlueskyPostView]

    private struct Reply: Decodable {
        let post: BlueskyPostView
    }

    init(from decoder: any Decoder) throws {
        let thread = try WireObject(from: decoder).required(WireObject.self, "thread")
        replies = thread.list(of: Reply.self, "replies").map(\.post)
    }
}
