import Foundation
import Posts

/// A label of somebody about something.
struct BlueskyLabel: Decodable, Sendable {
    let value: String
    /// The DID of who gave it; nil where a server leaves that out.
    let source: String?
    /// Whether it takes an earlier one back.
    let isNegation: Bool

    private enum CodingKeys: CodingKey {
        case val, src, neg
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let value = container.text(.val) else { throw BlueskyShapeError() }
        self.value = value
        source = container.text(.src)
        isNegation = container.flag(.neg) ?? false
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

    private enum CodingKeys: CodingKey {
        case did, handle, displayName, description, labels, viewer
    }

    private enum ViewerKeys: CodingKey {
        case blockedBy, blocking
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let did = container.text(.did), BlueskyName.isDID(did) else { throw BlueskyShapeError() }
        self.did = did
        // A handle that does not lead back to the account is as good as none.
        let handle = container.text(.handle).flatMap { BlueskyName.handle($0) }
        self.handle = handle == nil || handle == "handle.invalid" ? did : handle ?? did
        displayName = container.text(.displayName) ?? ""
        description = container.text(.description)
        isBioIncluded = container.contains(.description)
        labels = container.list(of: BlueskyLabel.self, .labels)
        let viewer = try? container.nestedContainer(keyedBy: ViewerKeys.self, forKey: .viewer)
        isBlocked = viewer?.flag(.blockedBy) == true || viewer?.isPresent(.blocking) == true
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
        "porn", "sexual", "nudity", "sexual-figurative", "graphic-media", "gore", "self-harm", "intolerant", "!hide",
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

    private enum CodingKeys: CodingKey {
        case uri, cid, author, record, indexedAt, viewer, labels, threadgate
    }

    private enum ViewerKeys: CodingKey {
        case like, replyDisabled
    }

    private struct Threadgate: Decodable {
        /// Nil: everybody may answer.
        let allowed: Int?

        private enum CodingKeys: CodingKey {
            case record
        }

        private enum RecordKeys: CodingKey {
            case allow
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let record = try container.nestedContainer(keyedBy: RecordKeys.self, forKey: .record)
            allowed = (try? record.nestedUnkeyedContainer(forKey: .allow)).map { $0.count ?? ($0.isAtEnd ? 0 : 1) }
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let reference = RecordReference(uri: container.text(.uri), cid: container.text(.cid)),
            let author = container.value(BlueskyProfile.self, .author),
            let record = container.value(BlueskyPostRecord.self, .record),
            // Who says that somebody else wrote a post is not believed.
            reference.address.repository == author.did
        else { throw BlueskyShapeError() }
        self.reference = reference
        self.author = author
        self.record = record
        indexedAt = container.text(.indexedAt).flatMap { Date(rfc3339: $0) }
        let viewer = try? container.nestedContainer(keyedBy: ViewerKeys.self, forKey: .viewer)
        isFavorited = viewer.map { $0.isPresent(.like) }
        let gate = container.value(Threadgate.self, .threadgate)
        isReplyDisabled = viewer?.flag(.replyDisabled) ?? (gate?.allowed == 0)
        isSensitive = container.list(of: BlueskyLabel.self, .labels)
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

    private enum CodingKeys: CodingKey {
        case post, reason
    }

    private enum ReasonKeys: String, CodingKey {
        case by, indexedAt
        case type = "$type"
    }

    private enum ByKeys: CodingKey {
        case did
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        post = try container.decode(BlueskyPostView.self, forKey: .post)
        guard container.isPresent(.reason) else {
            reason = nil
            return
        }
        let wire = try? container.nestedContainer(keyedBy: ReasonKeys.self, forKey: .reason)
        switch wire?.text(.type) {
        case "app.bsky.feed.defs#reasonRepost":
            let by = try? wire?.nestedContainer(keyedBy: ByKeys.self, forKey: .by).text(.did)
            reason = .repost(by: by, at: wire?.text(.indexedAt).flatMap { Date(rfc3339: $0) })
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

    private enum CodingKeys: CodingKey {
        case uri, cid, author, reason, record, indexedAt
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let reference = RecordReference(uri: container.text(.uri), cid: container.text(.cid)),
            let reason = container.text(.reason)
        else { throw BlueskyShapeError() }
        self.reference = reference
        self.reason = reason
        author = container.value(BlueskyProfile.self, .author)
            .flatMap { $0.did == reference.address.repository ? $0 : nil }
        record = container.value(BlueskyPostRecord.self, .record)
        indexedAt = container.text(.indexedAt).flatMap { Date(rfc3339: $0) }
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

        private enum CodingKeys: CodingKey {
            case uri
        }

        init(from decoder: any Decoder) throws {
            uri = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .uri)
            view = try? BlueskyPostView(from: decoder)
        }
    }

    private enum CodingKeys: CodingKey {
        case posts
    }

    init(unreadable: Set<String> = []) {
        self.unreadable = unreadable
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.isPresent(.posts) else { throw BlueskyShapeError() }
        let elements = try container.decode([LenientElement<Element>].self, forKey: .posts)
        hasNameless = elements.contains { $0.value == nil }
        for element in elements.compactMap(\.value) {
            if let view = element.view { readable[element.uri] = view } else { unreadable.insert(element.uri) }
        }
    }

    /// Takes over those of an answer that were asked for.
    mutating func add(_ answer: BlueskyViews, named uris: Set<String>) {
        readable.merge(answer.readable.filter { uris.contains($0.key) }) { _, new in new }
        unreadable.formUnion(answer.unreadable.intersection(uris))
        if answer.hasNameless { unreadable.formUnion(uris.subtracting(answer.readable.keys)) }
    }
}

/// What stands below a post.
struct BlueskyThread: Decodable, Sendable {
    /// The replies that can be seen.
    let replies: [BlueskyPostView]

    private enum CodingKeys: CodingKey {
        case thread
    }

    private enum ThreadKeys: CodingKey {
        case replies
    }

    private struct Reply: Decodable {
        let post: BlueskyPostView
    }

    init(from decoder: any Decoder) throws {
        let thread = try decoder.container(keyedBy: CodingKeys.self)
            .nestedContainer(keyedBy: ThreadKeys.self, forKey: .thread)
        replies = thread.list(of: Reply.self, .replies).map(\.post)
    }
}
