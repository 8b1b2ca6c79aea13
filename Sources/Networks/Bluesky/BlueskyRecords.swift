import Foundation
import Posts

/// What Bluesky calls a record everywhere: whose it is, its kind and its key.
struct RecordAddress: Hashable, Sendable {
    static let postCollection = "app.bsky.feed.post"
    static let likeCollection = "app.bsky.feed.like"
    static let profileCollection = "app.bsky.actor.profile"

    let repository: String
    let collection: String
    let key: String

    init(repository: String, collection: String, key: String) {
        self.repository = repository
        self.collection = collection
        self.key = key
    }

    /// - Parameter uri: `at://did:…/collection/key`; nil for every other text, one with a handle included.
    init?(_ uri: String) {
        guard uri.utf8.count <= 4_096, uri.hasPrefix("at://") else { return nil }
        let parts = uri.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, BlueskyName.isDID(parts[0]), Self.isCollection(parts[1]), Self.isKey(parts[2])
        else { return nil }
        self.init(repository: parts[0], collection: parts[1], key: parts[2])
    }

    var uri: String { "at://\(repository)/\(collection)/\(key)" }

    var isPost: Bool { collection == Self.postCollection }

    private static func isCollection(_ text: String) -> Bool {
        text.utf8.count <= 317 && text.contains(".")
            && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == 0x2D || $0 == 0x2E }
    }

    /// Letters, digits and `.-_:~`, as the protocol has it.
    private static func isKey(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { $0.isLetterOrDigit || ".-_:~".utf8.contains($0) }
    }
}

/// One version of a record: its address and the digest of its content.
struct RecordReference: Hashable, Sendable {
    let address: RecordAddress
    let cid: String

    /// Nil if one of the two cannot be that.
    init?(uri: String?, cid: String?) {
        guard let address = uri.flatMap({ RecordAddress($0) }), let cid, (1...256).contains(cid.utf8.count),
            cid.utf8.allSatisfy(\.isLetterOrDigit)
        else { return nil }
        self.address = address
        self.cid = cid
    }

    /// - Parameter text: As ``text`` gives it; nil for every other.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        self.init(uri: parts[0], cid: parts[1])
    }

    /// What stands in ``ObservedPost/address``: both, for a reply and a favorite need both.
    var text: String { "\(address.uri) \(cid)" }
}

extension RecordReference: Decodable {
    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let reference = RecordReference(uri: wire.text("uri"), cid: wire.text("cid")) else { throw ShapeError() }
        self = reference
    }

    /// As the wire wants it.
    var json: JSONValue { .object(["uri": .text(address.uri), "cid": .text(cid)]) }
}

/// A post as its author's records hold it.
struct BlueskyPostRecord: Decodable, Sendable {
    let text: String
    let createdAt: Date?
    /// By how many minutes the author's clock was ahead of UTC; nil where the record does not tell.
    let utcOffset: Int?
    let languages: [String]
    let facets: [Facet]
    let isReply: Bool
    /// What the post answers; nil for a reply that does not tell.
    let reply: Reply?
    let hasMedia: Bool
    /// Whether it quotes somebody's post.
    let isQuote: Bool
    /// What is attached, nil for each that cannot be read; none if that is no pictures.
    let images: [BlueskyImage?]
    /// Whether the author warns of the content.
    let isSensitive: Bool
    /// The labels by which they do, with spaces between; nil without any.
    let warning: String?

    /// Everybody, unless the author's labels say otherwise.
    let audience: PostAudience

    /// What is attached and may be left out: a card for a link, but no quoted post, for the text is about that.
    private static let plainEmbeds: Set<String> = ["app.bsky.embed.external"]
    /// Labels that say who wrote, not that there is something to warn of.
    private static let harmlessLabels: Set<String> = ["", "bot", "!no-unauthenticated"]

    /// What a reply answers.
    struct Reply: Decodable, Hashable, Sendable {
        /// The first post of the conversation.
        let root: RecordReference
        let parent: RecordReference

        init(root: RecordReference, parent: RecordReference) {
            self.root = root
            self.parent = parent
        }

        /// A reply that names only one of the two is a reply still.
        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            let root = wire.value(RecordReference.self, "root")
            let parent = wire.value(RecordReference.self, "parent")
            guard let parent = parent ?? root else { throw ShapeError() }
            self.init(root: root ?? parent, parent: parent)
        }

        /// As the wire wants it.
        var json: JSONValue { .object(["root": root.json, "parent": parent.json]) }
    }

    /// A part of the text that is a link, a mention or a tag.
    struct Facet: Decodable, Sendable {
        let start: Int
        let end: Int
        let links: [String]
        /// The DIDs of the accounts that it names.
        let mentions: [String]

        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            let index = wire.object("index")
            guard let start = index?.integer("byteStart"), let end = index?.integer("byteEnd") else {
                throw ShapeError()
            }
            (self.start, self.end) = (start, end)
            let features = wire.list(of: WireObject.self, "features")
            func targets(_ kind: String, _ name: String) -> [String] {
                features.filter { $0.text("$type") == "app.bsky.richtext.facet#\(kind)" }.compactMap { $0.text(name) }
            }
            links = targets("link", "uri")
            mentions = targets("mention", "did").filter { BlueskyName.isDID($0) }
        }
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        let text = wire.text("text")
        // Text that is there but cannot be read is not the same as no text.
        guard text != nil || !wire.isPresent("text") else { throw ShapeError() }
        self.text = text ?? ""
        createdAt = wire.date("createdAt")
        utcOffset = wire.text("createdAt").flatMap { Date.utcOffset(rfc3339: $0) }
        languages = wire.list(of: String.self, "langs")
        facets = wire.list(of: Facet.self, "facets")
        isReply = wire.isPresent("reply")
        reply = wire.value(Reply.self, "reply")
        // What we do not know is taken for media: the text may make no sense without it.
        let embed = wire.object("embed")?.text("$type")
        images = BlueskyImage.all(in: wire.object("embed"))
        isQuote = embed?.hasPrefix("app.bsky.embed.record") ?? false
        hasMedia = wire.isPresent("embed") && !Self.plainEmbeds.contains(embed ?? "")
        let labels = (wire.object("labels")?.list(of: WireObject.self, "values") ?? [])
            .compactMap { $0.value(String.self, "val") }
        var audience = PostAudience()
        audience.narrow(to: .public)
        audience.narrow(byLabels: labels)
        self.audience = audience
        let warnings = labels.filter { !Self.harmlessLabels.contains($0) }
        isSensitive = !warnings.isEmpty
        warning = warnings.isEmpty ? nil : warnings.joined(separator: " ")
    }
}

/// A file that a record refers to.
struct BlueskyBlob: Sendable, Equatable {
    /// The digest that it is called by.
    let cid: String

    /// - Parameter value: `{"$type":"blob","ref":{"$link":…},"mimeType":…,"size":…}`; nil for every other.
    init?(_ value: JSONValue?) {
        guard case .object(let fields) = value, case .object(let reference) = fields["ref"],
            case .text(let cid) = reference["$link"], (1...256).contains(cid.utf8.count),
            cid.utf8.allSatisfy(\.isLetterOrDigit)
        else { return nil }
        self.cid = cid
    }
}

/// A picture in a record.
struct BlueskyImage: Sendable, Equatable {
    let blob: BlueskyBlob
    let alt: String
    let width: Int?
    let height: Int?

    /// What is attached to a post, by its embed; none unless that is pictures.
    static func all(in embed: WireObject?) -> [BlueskyImage?] {
        guard embed?.text("$type") == "app.bsky.embed.images" else { return [] }
        return (embed?.list(of: WireObject.self, "images") ?? []).map { image in
            guard let blob = BlueskyBlob(image.value(JSONValue.self, "image")) else { return nil }
            let ratio = image.object("aspectRatio")
            return BlueskyImage(
                blob: blob, alt: image.text("alt") ?? "", width: ratio?.integer("width"),
                height: ratio?.integer("height"))
        }
    }
}

/// A favorite as the records of who gave it hold it.
struct BlueskyLikeRecord: Decodable, Sendable {
    let subject: RecordReference
}

/// A record of a list, with its value read as far as it can be.
struct BlueskyListedRecord<Value: Decodable & Sendable>: Decodable, Sendable {
    let reference: RecordReference
    /// Nil if it is not what was expected.
    let value: Value?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let reference = RecordReference(uri: wire.text("uri"), cid: wire.text("cid")) else {
            throw ShapeError()
        }
        self.reference = reference
        value = wire.value(Value.self, "value")
    }
}
