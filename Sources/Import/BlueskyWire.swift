import Posts

/// One record of a repository, as `listRecords` gives it.
///
/// Nearly every field may be missing; a field of the wrong type counts as missing.
struct BlueskyWireRecord: Decodable {
    var uri: String?
    var value: BlueskyWirePost?

    private enum Key: String, CodingKey { case uri, value }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        uri = fields.lenientText(.uri)
        value = fields.lenient(BlueskyWirePost.self, .value)
    }
}

/// The contents of a post.
struct BlueskyWirePost: Decodable {
    var text: String?
    var createdAt: String?
    var languages: [String]
    var facets: [BlueskyWireFacet]
    /// The address of the answered post.
    var parent: String?
    var isReply: Bool
    /// The kind of what is attached.
    var embed: String?
    /// The author's own warnings.
    var labels: [String]

    private enum Key: String, CodingKey { case text, createdAt, langs, facets, reply, embed, labels }
    private enum ReplyKey: String, CodingKey { case parent }
    private enum ParentKey: String, CodingKey { case uri }
    private enum EmbedKey: String, CodingKey { case type = "$type" }
    private enum LabelsKey: String, CodingKey { case values }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        text = fields.lenient(String.self, .text)
        createdAt = fields.lenientText(.createdAt)
        languages = fields.lenientList(String.self, .langs)
        facets = fields.lenientList(BlueskyWireFacet.self, .facets)
        let reply = try? fields.nestedContainer(keyedBy: ReplyKey.self, forKey: .reply)
        isReply = reply != nil
        parent = (try? reply?.nestedContainer(keyedBy: ParentKey.self, forKey: .parent))?.lenientText(.uri)
        embed = (try? fields.nestedContainer(keyedBy: EmbedKey.self, forKey: .embed))?.lenientText(.type)
        labels =
            (try? fields.nestedContainer(keyedBy: LabelsKey.self, forKey: .labels))?
            .lenientList(BlueskyWireLabel.self, .values).compactMap(\.val) ?? []
    }
}

/// A warning.
struct BlueskyWireLabel: Decodable {
    var val: String?
}

/// A part of the text that is more than text.
struct BlueskyWireFacet: Decodable {
    var facet: BlueskyFacet
    /// The people it names.
    var mentions: [String]

    private enum Key: String, CodingKey { case index, features }
    private struct Index: Decodable {
        var byteStart: Int
        var byteEnd: Int
    }
    private struct Feature: Decodable {
        var uri: Lenient<String>?
        var did: Lenient<String>?
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        let index = try fields.decode(Index.self, forKey: .index)
        let features = fields.lenientList(Feature.self, .features)
        facet = BlueskyFacet(
            byteStart: index.byteStart, byteEnd: index.byteEnd, link: features.compactMap { $0.uri?.value }.first)
        mentions = features.compactMap { $0.did?.value }
    }
}

/// The address of a record, `at://did:plc:…/app.bsky.feed.post/3k…`.
struct RecordAddress: Equatable {
    private static let maximumBytes = 2_048

    var repository: String
    var collection: String
    var key: String

    /// Nil for what is no address of a record in a repository that is named by its DID.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, ActorAddress.isOneWord(text), text.hasPrefix("at://") else {
            return nil
        }
        let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }), Self.isDID(parts[0]) else { return nil }
        repository = parts[0]
        collection = parts[1]
        key = parts[2]
    }

    /// Whether `text` has the form of a DID: `did:plc:…`, `did:web:example.org`.
    static func isDID(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0] == "did" && !parts[1].isEmpty && !parts[2].isEmpty
            && ActorAddress.isOneWord(text) && !text.contains("/")
    }
}
