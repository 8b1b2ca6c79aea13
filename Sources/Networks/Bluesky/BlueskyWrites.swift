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

/// Any JSON, kept as it is.
///
/// The protocol knows no fractions; where a server has one, it stays one.
enum JSONValue: Codable, Equatable, Sendable {
    case null
    case flag(Bool)
    case integer(Int64)
    case fraction(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .fraction(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSONValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .flag(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .fraction(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let list): try container.encode(list)
        case .object(let fields): try container.encode(fields)
        }
    }
}
