import Formats
import Foundation
import Networks
import Posts
import Transport

/// A post in an answer, in either spelling of its fields.
struct XPost: Decodable {
    /// A post that this one repeats, quotes or answers.
    struct Reference: Decodable {
        let type: String
        let id: String

        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            guard let type = wire.text("type"), let id = wire.idOfX("id") else {
                throw ShapeError()
            }
            self.type = type
            self.id = id
        }
    }

    /// The full text of a post that is too long for ``XPost/text``.
    struct Note: Decodable {
        let text: String
        let entities: XEntities?

        init(from decoder: any Decoder) throws {
            let wire = try WireObject(from: decoder)
            guard let text = wire.text("text") else { throw ShapeError() }
            self.text = text
            entities = wire.value(XEntities.self, "entities")
        }
    }

    let id: String
    let text: String?
    let authorID: String?
    let createdAt: Date?
    let conversationID: String?
    let replyToAuthorID: String?
    let references: [Reference]
    let entities: XEntities?
    let note: Note?
    let language: String?
    let replySettings: String?
    let isSensitive: Bool
    let hasMedia: Bool
    /// The ids that the post had before and after edits, its own included.
    let editHistory: [String]

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let id = wire.idOfX("id") else { throw ShapeError() }
        self.id = id
        text = wire.text("text")
        authorID = wire.idOfX("author_id")
        createdAt = wire.date("created_at")
        conversationID = wire.idOfX("conversation_id")
        replyToAuthorID = wire.idOfX("in_reply_to_user_id")
        references =
            wire.list(of: Reference.self, "referenced_tweets")
            + wire.list(of: Reference.self, "referenced_posts")
        entities = wire.value(XEntities.self, "entities")
        note = wire.value(Note.self, "note_tweet") ?? wire.value(Note.self, "note_post")
        // An unreadable long text must not be replaced by its beginning.
        let hasNote = wire.isPresent("note_tweet") || wire.isPresent("note_post")
        guard note != nil || !hasNote else { throw ShapeError() }
        language = wire.text("lang")
        replySettings = wire.text("reply_settings")
        isSensitive = wire.flag("possibly_sensitive") ?? false
        let attachments = wire.object("attachments")
        hasMedia = ["media_keys", "poll_ids"].contains {
            attachments?.value([String].self, $0)?.isEmpty == false
        }
        editHistory = wire.editHistory
    }

    /// The id by which other posts refer to this one: its id before all edits.
    var identity: String { XID.oldest(of: editHistory + [id]) ?? id }

    /// The id of the answered post.
    var replyToID: String? { references.first { $0.type == "replied_to" }?.id }

    var isRepost: Bool { references.contains { $0.type == "retweeted" || $0.type == "reposted" } }

    var quotedIDs: Set<String> { Set(references.filter { $0.type == "quoted" }.map(\.id)) }
}

/// An account in an answer.
struct XUser: Decodable {
    let id: String
    let username: String
    let name: String
    let description: String
    let descriptionLinks: [XLinkEntity]
    /// Whether only followers see the account's posts; nil if the server does not tell.
    let isProtected: Bool?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let id = wire.idOfX("id"), let username = wire.text("username"),
            Self.isName(username)
        else { throw ShapeError() }
        self.id = id
        self.username = username
        name = wire.text("name") ?? ""
        description = wire.text("description") ?? ""
        let entities = wire.object("entities")
        descriptionLinks = entities?.value(XEntities.self, "description")?.links ?? []
        isProtected = wire.flag("protected")
    }

    /// Whether a text is a name: letters, digits and `_`; names of old accounts may be shorter or
    /// longer than new ones.
    private static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
    }
}

/// The links and mentions that X found in a text.
struct XEntities: Decodable {
    let links: [XLinkEntity]
    let mentionedIDs: [String]

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        links = wire.children("urls").compactMap { link in
            link.text("url").map {
                XLinkEntity(
                    short: $0, expanded: link.text("expanded_url"),
                    isMedia: link.isPresent("media_key"))
            }
        }
        mentionedIDs = wire.list(of: WireObject.self, "mentions").compactMap { $0.idOfX("id") }
    }
}

/// The body of an answer: the requested objects, the accounts and posts that were included with
/// them, and the problems.
///
/// Every JSON object can be read; parts that are missing or of another shape are empty.
struct XAnswer<Item: Decodable>: Decodable {
    /// The requested objects; one element if a single object was requested.
    let items: [LenientElement<Item>]
    /// Whether there is a field `data`, even if it is an empty list.
    let hasData: Bool
    let users: [LenientElement<XUser>]
    /// The ids of the posts that X included because requested posts refer to them.
    let includedPostIDs: [String]
    let problems: [XProblem]
    let nextToken: String?
    /// The number of items, as stated by the server.
    let resultCount: Int?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        hasData = wire.isPresent("data")
        let list = wire.value([LenientElement<Item>].self, "data")
        items =
            list ?? (hasData ? wire.value(LenientElement<Item>.self, "data").map { [$0] } : nil)
            ?? []
        let includes = wire.object("includes")
        users = includes?.value([LenientElement<XUser>].self, "users") ?? []
        includedPostIDs =
            ["tweets", "posts"].flatMap { includes?.value([LenientElement<XPost>].self, $0) ?? [] }
            .compactMap(\.id)
        problems = wire.list(of: XProblem.self, "errors")
        let meta = wire.object("meta")
        nextToken = meta?.text("next_token").flatMap {
            $0.isEmpty || $0.utf8.count > 4_096 ? nil : $0
        }
        resultCount = meta?.integer("result_count")
    }

    /// Whether the server states that no object matches the request.
    var isEmpty: Bool { items.isEmpty && problems.isEmpty && (hasData || resultCount == 0) }
}

/// The answer to a write: the published, deleted or favorited object.
struct XWritten: Decodable {
    let id: String?
    /// The text as X stored it, with shortened links.
    let text: String?
    let editHistory: [String]
    let isDeleted: Bool?
    let isFavorited: Bool?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        id = wire.idOfX("id")
        text = wire.text("text")
        editHistory = wire.editHistory
        isDeleted = wire.flag("deleted")
        isFavorited = wire.flag("liked")
    }
}

/// A problem that X reports, in one of its shapes.
struct XProblem: Decodable, Equatable {
    /// The last part of the problem's address, such as `client-forbidden`; nil for `about:blank`.
    let kind: String?
    let title: String?
    let detail: String?
    /// The problem's number in version 1.1.
    let code: Int?
    let reason: String?
    /// The kind of the missing object, such as `tweet`, `post` or `user`.
    let resourceType: String?
    /// The id of the missing object.
    let resourceID: String?
    /// The request parameter that the problem is about, such as `referenced_tweets.id`.
    let parameter: String?

    /// The problems in a refusal, first the one that the body as a whole describes; empty if the
    /// body is not the JSON of an error.
    static func all(in response: HTTPResponse) -> [XProblem] {
        guard let body = response.errorBody,
            let mainProblem = JSONBody.decoded(XProblem.self, body)
        else { return [] }
        return [mainProblem] + (JSONBody.decoded(XAnswer<XPost>.self, body)?.problems ?? [])
    }

    /// Whether one post is missing from an answer.
    var isAboutPost: Bool { resourceType == "tweet" || resourceType == "post" }

    /// Whether the missing post is a requested one, rather than one to which a requested post
    /// refers.
    var isAboutItem: Bool { isAboutPost && parameter?.hasPrefix("referenced_") != true }

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        kind = wire.text("type").flatMap(Self.kind)
        title = wire.text("title")
        detail = wire.text("detail") ?? wire.text("message")
        code = wire.integer("code")
        reason = wire.text("reason")
        resourceType = wire.text("resource_type")
        resourceID = wire.idOfX("resource_id") ?? wire.idOfX("value")
        parameter = wire.text("parameter")
    }

    /// Returns the last part of a problem's address; the hosts of these addresses differ.
    private static func kind(_ type: String) -> String? {
        guard type.contains("/problems/"), let last = type.split(separator: "/").last else {
            return nil
        }
        let isPlain = last.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        }
        return isPlain && last.utf8.count <= 64 ? String(last) : nil
    }
}

extension WireObject {
    /// A text that is an id of X; nil for any other.
    func idOfX(_ name: String) -> String? { text(name).flatMap { XID.isUsable($0) ? $0 : nil } }

    /// The ids that a post had before and after edits, its own included, in either spelling.
    var editHistory: [String] {
        ["edit_history_tweet_ids", "edit_history_post_ids"].flatMap {
            value([String].self, $0) ?? []
        }
        .filter(XID.isUsable)
    }
}
