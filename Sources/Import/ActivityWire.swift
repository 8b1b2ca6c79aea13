/// One thing that somebody did, as the outbox of a server of the Mastodon family lists it.
///
/// Nearly every field may be missing; a field of the wrong type counts as missing.
struct WireActivity: Decodable {
    var type: String?
    var actor: String?
    var published: String?
    var audience: WireAudience
    /// What was done it to; nil where only its address is given.
    var note: WireNote?

    private enum Key: String, CodingKey { case type, actor, published, object }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        type = fields.lenientText(.type)
        actor = fields.lenientAddress(.actor)
        published = fields.lenientText(.published)
        audience = try WireAudience(from: decoder)
        // Some servers list the post itself and not that it was made.
        note =
            fields.contains(.object)
            ? fields.lenient(WireNote.self, .object)
            : WireNote.isPost(type) ? try WireNote(from: decoder) : nil
    }
}

/// Whom something was sent to.
struct WireAudience: Decodable {
    var to: [String]
    var cc: [String]

    var isEmpty: Bool { to.isEmpty && cc.isEmpty }

    private enum Key: String, CodingKey { case to, cc }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        to = fields.lenientAddresses(.to)
        cc = fields.lenientAddresses(.cc)
    }
}

/// A post as ActivityPub writes it.
struct WireNote: Decodable {
    var id: String?
    var url: String?
    var type: String?
    var attributedTo: [String]
    var published: String?
    var audience: WireAudience
    var inReplyTo: String?
    /// Whether it answers something, even if that has no address.
    var isReply: Bool
    var content: String?
    var contentMap: [String: String]
    /// The content warning.
    var summary: String?
    var isSensitive: Bool
    var hasAttachments: Bool
    var isPoll: Bool
    var mentions: [WireMention]

    private enum Key: String, CodingKey {
        case id, url, type, attributedTo, published, inReplyTo, content, contentMap, summary, sensitive, attachment
        case tag, oneOf, anyOf
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        id = fields.lenientText(.id)
        url = fields.lenientText(.url)
        type = fields.lenientText(.type)
        attributedTo = fields.lenientAddresses(.attributedTo)
        published = fields.lenientText(.published)
        audience = try WireAudience(from: decoder)
        inReplyTo = fields.lenientAddress(.inReplyTo)
        isReply = (try? fields.decodeNil(forKey: .inReplyTo)) == false
        content = fields.lenientText(.content)
        contentMap = (fields.lenient([String: Lenient<String>].self, .contentMap) ?? [:]).compactMapValues(\.value)
        summary = fields.lenientText(.summary)
        isSensitive = fields.lenient(Bool.self, .sensitive) ?? false
        hasAttachments = !fields.lenientEntries(Present.self, .attachment).isEmpty
        isPoll = type == "Question" || fields.contains(.oneOf) || fields.contains(.anyOf)
        mentions = fields.lenientEntries(WireMention.self, .tag)
    }

    /// Whether a thing of this type is a post.
    static func isPost(_ type: String?) -> Bool {
        ["Note", "Question", "Article", "Page"].contains { $0 == type }
    }
}

/// Somebody named in a post.
struct WireMention: Decodable {
    /// The address of the person's actor.
    var href: String?
    /// `@user@host`, or `@user` for somebody on the author's own server.
    var name: String?

    private enum Key: String, CodingKey { case type, href, name }

    /// - Throws: ``ItemFault`` for a tag of another kind.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        guard fields.lenientText(.type) == "Mention" else { throw ItemFault("no mention") }
        href = fields.lenientText(.href)
        name = fields.lenientText(.name)
    }
}

/// Whose outbox it is.
struct WireActor: Decodable {
    var id: String?
    var preferredUsername: String?
    /// `user@host`, which new servers tell.
    var webfinger: String?
    /// The address of the collection of followers.
    var followers: String?

    private enum Key: String, CodingKey { case id, preferredUsername, webfinger, followers }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        id = fields.lenientText(.id)
        preferredUsername = fields.lenientText(.preferredUsername)
        webfinger = fields.lenientText(.webfinger)
        followers = fields.lenientText(.followers)
    }
}

/// An address, written alone or as the `id` of an object.
struct WireAddress: Decodable {
    var address: String

    private enum Key: String, CodingKey { case id }

    init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            address = text
        } else {
            address = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .id)
        }
    }
}

/// The address of a post that the owner favorited.
struct WireLike: Decodable {
    init(from decoder: any Decoder) throws {
        let text = try? decoder.singleValueContainer().decode(String.self)
        guard let text, ActorAddress.isOneWord(text) else { throw ItemFault("not the address of a post") }
    }
}

/// Anything but null.
private struct Present: Decodable {
    init(from decoder: any Decoder) throws {
        guard try !decoder.singleValueContainer().decodeNil() else { throw ItemFault("null") }
    }
}

extension KeyedDecodingContainer {
    /// The entries of a list, or the one value that stands in place of a list of one.
    fileprivate func lenientEntries<Value: Decodable>(_ type: Value.Type, _ key: Key) -> [Value] {
        let isList = (try? nestedUnkeyedContainer(forKey: key)) != nil
        return isList ? lenientList(type, key) : [lenient(type, key)].compactMap(\.self)
    }

    fileprivate func lenientAddresses(_ key: Key) -> [String] {
        lenientEntries(WireAddress.self, key).map(\.address)
    }

    fileprivate func lenientAddress(_ key: Key) -> String? {
        lenient(WireAddress.self, key).flatMap { $0.address.isEmpty ? nil : $0.address }
    }
}
