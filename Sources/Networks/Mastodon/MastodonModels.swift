import Foundation
import Posts

/// An account as the wire has it.
struct MastodonAccount: Decodable {
    let id: String
    /// `user` for accounts of the server itself, `user@host` for others.
    let acct: String
    let displayName: String
    let note: String
    let fields: [Field]
    let isBot: Bool
    /// The hosts, with their ports, of the profile's address and of the name by which other servers know the account.
    let hosts: [String]
    /// The addresses of the profile and of the actor.
    let addresses: [String]

    /// A row of the profile's table.
    struct Field: Decodable {
        let name: String
        let value: String

        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            name = wire.text("name") ?? ""
            value = wire.text("value") ?? ""
        }
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let id = wire.identifier("id"),
            let acct = wire.identifier("acct") ?? wire.identifier("username"), Self.isName(acct)
        else { throw ShapeError() }
        self.id = id
        self.acct = acct
        displayName = wire.text("display_name") ?? ""
        note = wire.text("note") ?? ""
        fields = wire.list(of: Field.self, "fields")
        // What a group account publishes, it publishes by itself.
        isBot = wire.flag("bot") == true || wire.flag("group") == true
        addresses = ["url", "uri"].compactMap { wire.text($0) }
        hosts = addresses.compactMap(Self.host)
    }

    /// The host and port of an address of the web.
    private static func host(of address: String) -> String? {
        guard let scheme = ["https://", "http://"].first(where: address.hasPrefix) else { return nil }
        return MastodonInstance.hostName(String(address.dropFirst(scheme.count).prefix { !"/?#".contains($0) }))
    }

    /// Whether `acct` is `user` or `user@host`.
    static func isName(_ acct: String) -> Bool {
        let parts = acct.split(separator: "@", omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty }
    }
}

/// A person named in a post.
struct MastodonMention: Decodable {
    let id: String?
    let acct: String
    let url: String?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let acct = wire.identifier("acct"), MastodonAccount.isName(acct) else { throw ShapeError() }
        self.acct = acct
        id = wire.identifier("id")
        url = wire.text("url")
    }
}

/// A post as the wire has it.
struct MastodonStatus: Decodable {
    let id: String
    let uri: String?
    let url: String?
    let createdAt: Date?
    let editedAt: Date?
    let account: MastodonAccount?
    let content: String
    let spoilerText: String
    let audience: PostAudience
    let language: String?
    let inReplyToID: String?
    let inReplyToAccountID: String?
    /// Given by Pleroma and its descendants.
    let inReplyToAccountName: String?
    /// The answered post and its author, given by Friendica.
    let inReplyTo: Answered?
    let mentions: [MastodonMention]
    /// The addresses of its hashtags.
    let hashtags: [String]
    /// What is attached, nil for each that is no still picture.
    let attachments: [Picture?]
    let hasPoll: Bool
    /// Whether it tells of a post that it quotes.
    let isQuote: Bool
    let isSensitive: Bool
    let isReblog: Bool
    let isFavourited: Bool
    let interactionPolicy: MastodonInteractionPolicy?

    /// What a post answers, where a server tells it with the post.
    struct Answered: Decodable {
        let id: String
        let account: MastodonAccount

        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            guard let id = wire.identifier("id"), let account = wire.value(MastodonAccount.self, "account") else {
                throw ShapeError()
            }
            (self.id, self.account) = (id, account)
        }
    }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let id = wire.identifier("id") else { throw ShapeError() }
        self.id = id
        uri = wire.text("uri")
        url = wire.text("url")
        createdAt = wire.date("created_at")
        editedAt = wire.date("edited_at")
        account = wire.value(MastodonAccount.self, "account")
        let content = wire.text("content")
        // Text that is there but cannot be read is not the same as no text.
        guard content != nil || !wire.isPresent("content") else { throw ShapeError() }
        self.content = content ?? ""
        spoilerText = wire.text("spoiler_text") ?? ""
        audience = PostAudience(status: wire)
        language = wire.text("language")
        inReplyToID = wire.identifier("in_reply_to_id")
        inReplyToAccountID = wire.identifier("in_reply_to_account_id")
        inReplyToAccountName = wire.object("pleroma")?.identifier("in_reply_to_account_acct")
        inReplyTo = wire.value(Answered.self, "in_reply_to_status")
        mentions = wire.list(of: MastodonMention.self, "mentions")
        hashtags = wire.list(of: WireObject.self, "tags").compactMap { $0.text("url") }
        // What is no object is nothing that was attached.
        let attached = wire.list(of: WireObject.self, "media_attachments")
        let readable = wire.list(of: MastodonAttachment.self, "media_attachments").map(\.picture)
        attachments = readable + Array(repeating: nil, count: attached.count - readable.count)
        hasPoll = wire.object("poll") != nil
        isQuote = Self.isQuote(wire)
        isSensitive = wire.flag("sensitive") ?? false
        isReblog = wire.object("reblog") != nil
        isFavourited = wire.flag("favourited") ?? false
        interactionPolicy = wire.value(MastodonInteractionPolicy.self, "interaction_policy")
    }

    /// Whether a status tells of a post that it quotes.
    ///
    /// Mastodon, Sharkey and Friendica give the quoted post; Akkoma, Fedibird and Iceshrimp its id too; Pleroma has both
    /// among its own fields. A post that is gone or hidden may be quoted by its id or address alone.
    private static func isQuote(_ wire: WireObject) -> Bool {
        [wire, wire.object("pleroma"), wire.object("akkoma")].compactMap(\.self).contains { fields in
            fields.object("quote") != nil || fields.identifier("quote_id") != nil
                || ["quote_url", "quote_uri"].contains { fields.text($0).map { !$0.isEmpty } ?? false }
        }
    }
}

/// Something attached to a post.
struct MastodonAttachment: Decodable {
    /// Nil for what is no still picture.
    let picture: Picture?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        let size = wire.object("meta")?.object("original")
        let picture = Picture(
            url: wire.text("url"), alt: wire.text("description") ?? "", width: size?.integer("width"),
            height: size?.integer("height")
        ).cleaned
        // Pleroma calls every kind of picture an image, those that move included.
        let format = wire.object("pleroma")?.text("mime_type")
        let isStill = format.map { type in PictureFormat.allCases.contains { $0.mediaType == type } } ?? true
        self.picture = wire.text("type") == "image" && isStill && picture.url != nil ? picture : nil
    }
}

/// A file that was uploaded and is in no post yet.
struct MastodonMedia: Decodable {
    let id: String

    init(from decoder: any Decoder) throws {
        guard let id = try WireObject(from: decoder).identifier("id") else { throw ShapeError() }
        self.id = id
    }
}

/// Who may answer or favorite a post without asking; sent by GoToSocial.
struct MastodonInteractionPolicy: Decodable {
    let favourite: [String]?
    let reply: [String]?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        func rule(_ name: String) -> [String]? {
            guard let rules = wire.object(name) else { return nil }
            return rules.value([String].self, "automatic_approval") ?? rules.value([String].self, "always")
        }
        favourite = rule("can_favourite")
        reply = rule("can_reply")
    }
}

/// A notification as the wire has it.
struct MastodonNotification: Decodable {
    let type: String?
    let createdAt: Date?
    let status: LenientElement<MastodonStatus>?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        type = wire.text("type")
        createdAt = wire.date("created_at")
        status = wire.value(LenientElement<MastodonStatus>.self, "status")
    }
}

/// What a search found.
struct MastodonSearch: Decodable {
    let statuses: [MastodonStatus]

    init(from decoder: any Decoder) throws {
        statuses = try WireObject(from: decoder).list(of: MastodonStatus.self, "statuses")
    }
}

/// The posts around a post.
struct MastodonContext: Decodable {
    let ancestors: [MastodonStatus]
    let descendants: [MastodonStatus]

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        ancestors = wire.list(of: MastodonStatus.self, "ancestors")
        descendants = wire.list(of: MastodonStatus.self, "descendants")
    }
}

extension WireObject {
    /// A text that can be an id.
    func identifier(_ name: String) -> String? {
        text(name).flatMap { MastodonID.isUsable($0) ? $0 : nil }
    }
}
