import Foundation

/// A post as the archives of X write it, `{"tweet":{…}}` or the bare object.
///
/// Nearly every field may be missing; a field of the wrong type counts as missing.
struct XWirePost: Decodable, Equatable {
    var id: String?
    var text: String?
    var createdAt: String?
    var replyToPost: String?
    var replyToUser: String?
    var replyToName: String?
    var language: String?
    var isSensitive: Bool
    var links: [XWireLink]
    var media: [XWireLink]
    var mentions: [XWireMention]
    var isRepost: Bool

    private enum Wrapper: String, CodingKey { case tweet }

    private enum Key: String, CodingKey {
        case id, text, entities, lang
        case idText = "id_str"
        case fullText = "full_text"
        case createdAt = "created_at"
        case isSensitive = "possibly_sensitive"
        case extendedEntities = "extended_entities"
        case replyToPost = "in_reply_to_status_id_str"
        case replyToUser = "in_reply_to_user_id_str"
        case replyToName = "in_reply_to_screen_name"
        case repost = "retweeted_status"
    }

    private enum EntityKey: String, CodingKey {
        case urls, media
        case mentions = "user_mentions"
    }

    init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Wrapper.self)
        let fields =
            outer.contains(.tweet)
            ? try outer.nestedContainer(keyedBy: Key.self, forKey: .tweet) : try decoder.container(keyedBy: Key.self)
        id = fields.lenientText(.idText) ?? fields.lenientText(.id)
        text = fields.lenient(String.self, .fullText) ?? fields.lenient(String.self, .text)
        createdAt = fields.lenientText(.createdAt)
        replyToPost = fields.lenientText(.replyToPost)
        replyToUser = fields.lenientText(.replyToUser)
        replyToName = fields.lenientText(.replyToName)
        language = fields.lenientText(.lang)
        isSensitive = fields.lenient(Bool.self, .isSensitive) ?? false
        isRepost = fields.contains(.repost)
        let entities = try? fields.nestedContainer(keyedBy: EntityKey.self, forKey: .entities)
        links = entities?.lenientList(XWireLink.self, .urls) ?? []
        mentions = entities?.lenientList(XWireMention.self, .mentions) ?? []
        let extended =
            fields.contains(.extendedEntities)
            ? try? fields.nestedContainer(keyedBy: EntityKey.self, forKey: .extendedEntities) : nil
        media =
            (entities?.lenientList(XWireLink.self, .media) ?? [])
            + (extended?.lenientList(XWireLink.self, .media) ?? [])
    }
}

/// A shortened address in a text, and what it stands for.
struct XWireLink: Decodable, Equatable {
    var short: String?
    var expanded: String?

    init() {}

    private enum Key: String, CodingKey {
        case url, shortUrl, expandedUrl
        case expandedAddress = "expanded_url"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        short = fields.lenientText(.url) ?? fields.lenientText(.shortUrl)
        expanded = fields.lenientText(.expandedAddress) ?? fields.lenientText(.expandedUrl)
    }
}

/// Somebody named in a text.
struct XWireMention: Decodable, Equatable {
    var id: String?
    /// Where the name begins, which the archive writes as a string.
    var start: String?

    init() {}

    private enum Key: String, CodingKey {
        case id, indices
        case idText = "id_str"
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        id = fields.lenientText(.idText) ?? fields.lenientText(.id)
        start =
            fields.lenient([String].self, .indices)?.first
            ?? fields.lenient([Int].self, .indices)?.first.map { String($0) }
    }
}

/// The full text of a long post, `{"noteTweet":{"createdAt":…,"core":{"text":…}}}`.
struct XWireNote: Decodable {
    var createdAt: String?
    var text: String?
    var links: [XWireLink]

    private enum Wrapper: String, CodingKey { case noteTweet }
    private enum Key: String, CodingKey { case createdAt, core }
    private enum CoreKey: String, CodingKey { case text, urls }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Wrapper.self)
            .nestedContainer(keyedBy: Key.self, forKey: .noteTweet)
        createdAt = fields.lenientText(.createdAt)
        let core = try fields.nestedContainer(keyedBy: CoreKey.self, forKey: .core)
        text = core.lenientText(.text)
        links = core.lenientList(XWireLink.self, .urls)
    }
}

/// A favorite, `{"like":{"tweetId":…,"fullText":…}}`.
struct XWireLike: Decodable {
    struct Like: Decodable {
        var tweetId: String?
        var fullText: Lenient<String>?
    }

    var like: Like
}

/// Who the archive is about, `{"account":{"accountId":…,"username":…}}`; the e-mail address beside them is not read.
struct XWireAccount: Decodable {
    struct Account: Decodable {
        var accountId: String?
        var username: String?
    }

    var account: Account
}

/// The time zone of the settings, `{"accountTimezone":{"timeZone":"Tokyo"}}`.
struct XWireTimeZone: Decodable {
    struct Setting: Decodable {
        var timeZone: String?
    }

    var accountTimezone: Setting
}

/// The list of files, `{"userInfo":{…},"dataTypes":{"tweets":{"files":[{"fileName":…}]}}}`.
struct XWireManifest: Decodable {
    struct User: Decodable {
        var accountId: String?
        var userName: String?
    }

    struct DataType: Decodable {
        struct File: Decodable {
            var fileName: String?
        }

        var files: [Lenient<File>]?
    }

    var userInfo: Lenient<User>?
    var dataTypes: [String: Lenient<DataType>]?

    var fileNames: [String] {
        (dataTypes ?? [:]).values.flatMap { $0.value?.files ?? [] }.compactMap { $0.value?.fileName }.sorted()
    }
}

/// Who an archive from before 2014 is about, `{"id":…,"screen_name":…}`.
struct XWireMonthlyAccount: Decodable {
    var id: String?
    var name: String?

    private enum CodingKeys: String, CodingKey {
        case id
        case name = "screen_name"
    }
}
