import Posts

/// A post as it is written.
struct BlueskyPostDraft: Encodable {
    let text: String
    let createdAt: String
    let langs: [String]?
    let facets: [BlueskyFacets.Facet]?
    let reply: BlueskyPostRecord.Reply?

    private enum CodingKeys: String, CodingKey {
        case text, createdAt, langs, facets, reply
        case type = "$type"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(RecordAddress.postCollection, forKey: .type)
        try container.encode(text, forKey: .text)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encodeIfPresent(langs, forKey: .langs)
        try container.encodeIfPresent(facets, forKey: .facets)
        try container.encodeIfPresent(reply, forKey: .reply)
    }
}

/// A favorite as it is written.
struct BlueskyLikeDraft: Encodable {
    let subject: RecordReference
    let createdAt: String

    private enum CodingKeys: String, CodingKey {
        case subject, createdAt
        case type = "$type"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(RecordAddress.likeCollection, forKey: .type)
        try container.encode(subject, forKey: .subject)
        try container.encode(createdAt, forKey: .createdAt)
    }
}

/// The request that puts a record in its place.
struct BlueskyPut<Record: Encodable>: Encodable {
    let address: RecordAddress
    let record: Record
    /// The digest of the record that is replaced; nil for one that must not exist.
    let replaced: String?

    private enum CodingKeys: String, CodingKey {
        case repo, collection, rkey, record, swapRecord
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(address.repository, forKey: .repo)
        try container.encode(address.collection, forKey: .collection)
        try container.encode(address.key, forKey: .rkey)
        try container.encode(record, forKey: .record)
        // Null says that there must be none yet; left out it would say that it does not matter.
        if let replaced {
            try container.encode(replaced, forKey: .swapRecord)
        } else {
            try container.encodeNil(forKey: .swapRecord)
        }
    }
}
