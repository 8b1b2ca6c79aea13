import Foundation
import Posts

/// A post as its author's records hold it.
struct BlueskyPostRecord: Decodable, Sendable {
    let text: String
    let createdAt: Date?
    let languages: [String]
    let facets: [Facet]
    let isReply: Bool
    /// What the post answers; nil for a reply that does not tell.
    let reply: Reply?
    let hasMedia: Bool
    /// Whether the author warns of the content.
    let isSensitive: Bool

    /// What is attached without being a picture or film: a card for a link, a quoted post.
    private static let plainEmbeds: Set<String> = ["app.bsky.embed.external", "app.bsky.embed.record"]
    /// Labels that say who wrote, not that there is something to warn of.
    private static let harmlessLabels: Set<String> = ["", "bot", "!no-unauthenticated"]

    /// What a reply answers.
    struct Reply: Codable, Hashable, Sendable {
        /// The first post of the conversation.
        let root: RecordReference
        let parent: RecordReference

        init(root: RecordReference, parent: RecordReference) {
            self.root = root
            self.parent = parent
        }

        private enum CodingKeys: CodingKey {
            case root, parent
        }

        /// A reply that names only one of the two is a reply still.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let root = container.value(RecordReference.self, .root)
            let parent = container.value(RecordReference.self, .parent)
            guard let parent = parent ?? root else { throw BlueskyShapeError() }
            self.init(root: root ?? parent, parent: parent)
        }
    }

    /// A part of the text that is a link, a mention or a tag.
    struct Facet: Decodable, Sendable {
        let start: Int
        let end: Int
        let links: [String]
        /// The DIDs of the accounts that it names.
        let mentions: [String]

        private enum CodingKeys: CodingKey {
            case index, features
        }

        private enum IndexKeys: CodingKey {
            case byteStart, byteEnd
        }

        private struct Feature: Decodable {
            let link: String?
            let mention: String?

            private enum CodingKeys: String, CodingKey {
                case uri, did
                case type = "$type"
            }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                let type = container.text(.type)
                link = type == "app.bsky.richtext.facet#link" ? container.text(.uri) : nil
                mention = type == "app.bsky.richtext.facet#mention" ? container.text(.did) : nil
            }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let index = try container.nestedContainer(keyedBy: IndexKeys.self, forKey: .index)
            guard let start = index.integer(.byteStart), let end = index.integer(.byteEnd) else {
                throw BlueskyShapeError()
            }
            (self.start, self.end) = (start, end)
            let features = container.list(of: Feature.self, .features)
            links = features.compactMap(\.link)
            mentions = features.compactMap(\.mention).filter { BlueskyName.isDID($0) }
        }
    }

    private enum EmbedKeys: String, CodingKey {
        case type = "$type"
    }

    private enum CodingKeys: CodingKey {
        case text, createdAt, langs, facets, reply, embed, labels
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let text = container.text(.text)
        // Text that is there but cannot be read is not the same as no text.
        guard text != nil || !container.isPresent(.text) else { throw BlueskyShapeError() }
        self.text = text ?? ""
        createdAt = container.text(.createdAt).flatMap { Date(rfc3339: $0) }
        languages = container.list(of: String.self, .langs)
        facets = container.list(of: Facet.self, .facets)
        isReply = container.isPresent(.reply)
        reply = container.value(Reply.self, .reply)
        // What we do not know is taken for media: the text may make no sense without it.
        let embed = (try? container.nestedContainer(keyedBy: EmbedKeys.self, forKey: .embed))?.text(.type)
        hasMedia = container.isPresent(.embed) && !Self.plainEmbeds.contains(embed ?? "")
        let labels = container.value(BlueskySelfLabels.self, .labels)?.values ?? []
        isSensitive = !labels.allSatisfy(Self.harmlessLabels.contains)
    }
}

/// Labels that an author gives to a record of their own.
struct BlueskySelfLabels: Decodable, Sendable {
    let values: [String]

    private struct Value: Decodable {
        let val: String
    }

    private enum CodingKeys: CodingKey {
        case values
    }

    init(from decoder: any Decoder) throws {
        values = try decoder.container(keyedBy: CodingKeys.self).list(of: Value.self, .values).map(\.val)
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

    private enum CodingKeys: CodingKey {
        case uri, cid, value
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let reference = RecordReference(uri: container.text(.uri), cid: container.text(.cid)) else {
            throw BlueskyShapeError()
        }
        self.reference = reference
        value = container.value(Value.self, .value)
    }
}
