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
    let isLocked: Bool
    /// The hosts, with their ports, of the profile's address and of the name by which other servers know the account.
    let hosts: [String]

    /// A row of the profile's table.
    struct Field: Decodable {
        let name: String
        let value: String

        private enum CodingKeys: CodingKey {
            case name, value
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = container.text(.name) ?? ""
            value = container.text(.value) ?? ""
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, acct, username, note, fields, bot, group, locked, url, uri
        case displayName = "display_name"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let id = container.identifier(.id),
            let acct = container.identifier(.acct) ?? container.identifier(.username), Self.isName(acct)
        else { throw MastodonShapeError() }
        self.id = id
        self.acct = acct
        displayName = container.text(.displayName) ?? ""
        note = container.text(.note) ?? ""
        fields = container.list(of: Field.self, .fields)
        // What a group account publishes, it publishes by itself.
        isBot = container.flag(.bot) == true || container.flag(.group) == true
        isLocked = container.flag(.locked) ?? false
        hosts = [.url, .uri].compactMap { container.text($0).flatMap(Self.host) }
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

    private enum CodingKeys: CodingKey {
        case id, acct, url
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let acct = container.identifier(.acct), MastodonAccount.isName(acct) else { throw MastodonShapeError() }
        self.acct = acct
        id = container.identifier(.id)
        url = container.text(.url)
    }
}

/// A post as the wire has it.
struct MastodonStatus: Decodable {
    let id: String
    let uri: String?
    let url: String?
    let createdAt: Date?
    let account: MastodonAccount?
    let content: String
    let spoilerText: String
    let visibility: String
    let language: String?
    let inReplyToID: String?
    let inReplyToAccountID: String?
    /// Given by Pleroma and its descendants.
    let inReplyToAccountName: String?
    let mentions: [MastodonMention]
    let hasMedia: Bool
    let isSensitive: Bool
    let isReblog: Bool
    let isFavourited: Bool
    let interactionPolicy: MastodonInteractionPolicy?

    private enum CodingKeys: String, CodingKey {
        case id, uri, url, account, content, visibility, language, mentions, poll, sensitive, reblog, favourited
        case pleroma
        case createdAt = "created_at"
        case spoilerText = "spoiler_text"
        case inReplyToID = "in_reply_to_id"
        case inReplyToAccountID = "in_reply_to_account_id"
        case mediaAttachments = "media_attachments"
        case interactionPolicy = "interaction_policy"
    }

    private enum PleromaKeys: String, CodingKey {
        case inReplyToAccountName = "in_reply_to_account_acct"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let id = container.identifier(.id) else { throw MastodonShapeError() }
        self.id = id
        uri = container.text(.uri)
        url = container.text(.url)
        createdAt = container.text(.createdAt).flatMap { Date(rfc3339: $0) }
        account = container.value(MastodonAccount.self, .account)
        let content = container.text(.content)
        // Text that is there but cannot be read is not the same as no text.
        guard content != nil || !container.isPresent(.content) else { throw MastodonShapeError() }
        self.content = content ?? ""
        spoilerText = container.text(.spoilerText) ?? ""
        visibility = container.text(.visibility) ?? ""
        language = container.text(.language)
        inReplyToID = container.identifier(.inReplyToID)
        inReplyToAccountID = container.identifier(.inReplyToAccountID)
        inReplyToAccountName = (try? container.nestedContainer(keyedBy: PleromaKeys.self, forKey: .pleroma))?
            .identifier(.inReplyToAccountName)
        mentions = container.list(of: MastodonMention.self, .mentions)
        let media = try? container.nestedUnkeyedContainer(forKey: .mediaAttachments)
        hasMedia = media.map { !$0.isAtEnd } ?? false || container.isPresent(.poll)
        isSensitive = container.flag(.sensitive) ?? false
        isReblog = container.isPresent(.reblog)
        isFavourited = container.flag(.favourited) ?? false
        interactionPolicy = container.value(MastodonInteractionPolicy.self, .interactionPolicy)
    }
}

/// Who may answer or favorite a post without asking; sent by GoToSocial.
struct MastodonInteractionPolicy: Decodable {
    let favourite: [String]?
    let reply: [String]?

    private enum CodingKeys: String, CodingKey {
        case favourite = "can_favourite"
        case reply = "can_reply"
    }

    private enum RuleKeys: String, CodingKey {
        case always
        case automaticApproval = "automatic_approval"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func rule(_ key: CodingKeys) -> [String]? {
            guard let rules = try? container.nestedContainer(keyedBy: RuleKeys.self, forKey: key) else { return nil }
            return rules.value([String].self, .automaticApproval) ?? rules.value([String].self, .always)
        }
        favourite = rule(.favourite)
        reply = rule(.reply)
    }
}

/// A notification as the wire has it.
struct MastodonNotification: Decodable {
    let type: String?
    let createdAt: Date?
    let status: LenientElement<MastodonStatus>?

    private enum CodingKeys: String, CodingKey {
        case type, status
        case createdAt = "created_at"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        type = container.text(.type)
        createdAt = container.text(.createdAt).flatMap { Date(rfc3339: $0) }
        status = container.value(LenientElement<MastodonStatus>.self, .status)
    }
}

/// The posts around a post.
struct MastodonContext: Decodable {
    let ancestors: [MastodonStatus]
    let descendants: [MastodonStatus]

    private enum CodingKeys: CodingKey {
        case ancestors, descendants
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        ancestors = container.list(of: MastodonStatus.self, .ancestors)
        descendants = container.list(of: MastodonStatus.self, .descendants)
    }
}

/// A value lacks what nothing can be done without.
struct MastodonShapeError: Error {}
