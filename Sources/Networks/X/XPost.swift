import Foundation
import Posts

/// A post as the wire has it, in either spelling of its fields.
struct XPost: Decodable {
    /// A post that this one repeats, quotes or answers.
    struct Reference: Decodable {
        let type: String
        let id: String

        private enum CodingKeys: CodingKey {
            case type, id
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard let type = container.text(.type), let id = container.text(.id), XID.isUsable(id) else {
                throw XShapeError()
            }
            self.type = type
            self.id = id
        }
    }

    /// The whole of a text that is too long for ``XPost/text``.
    struct Note: Decodable {
        let text: String
        let entities: XEntities?

        private enum CodingKeys: CodingKey {
            case text, entities
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            guard let text = container.text(.text) else { throw XShapeError() }
            self.text = text
            entities = container.value(XEntities.self, .entities)
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
    /// The ids that the post had before and after it was edited, its own included.
    let editHistory: [String]

    private enum CodingKeys: String, CodingKey {
        case id, text, entities, lang, attachments
        case authorID = "author_id"
        case createdAt = "created_at"
        case conversationID = "conversation_id"
        case replyToAuthorID = "in_reply_to_user_id"
        case referencedTweets = "referenced_tweets"
        case referencedPosts = "referenced_posts"
        case noteTweet = "note_tweet"
        case notePost = "note_post"
        case replySettings = "reply_settings"
        case possiblySensitive = "possibly_sensitive"
        case editHistoryTweetIDs = "edit_history_tweet_ids"
        case editHistoryPostIDs = "edit_history_post_ids"
    }

    private enum AttachmentKeys: String, CodingKey {
        case mediaKeys = "media_keys"
        case pollIDs = "poll_ids"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func id(_ key: CodingKeys) -> String? { container.text(key).flatMap { XID.isUsable($0) ? $0 : nil } }
        guard let ownID = id(.id) else { throw XShapeError() }
        self.id = ownID
        text = container.text(.text)
        authorID = id(.authorID)
        createdAt = container.text(.createdAt).flatMap { Date(rfc3339: $0) }
        conversationID = id(.conversationID)
        replyToAuthorID = id(.replyToAuthorID)
        references =
            container.list(of: Reference.self, .referencedTweets)
            + container.list(of: Reference.self, .referencedPosts)
        entities = container.value(XEntities.self, .entities)
        note = container.value(Note.self, .noteTweet) ?? container.value(Note.self, .notePost)
        // A long text that is there but cannot be read must not be taken for its first part.
        let hasNote = container.isPresent(.noteTweet) || container.isPresent(.notePost)
        guard note != nil || !hasNote else { throw XShapeError() }
        language = container.text(.lang)
        replySettings = container.text(.replySettings)
        isSensitive = container.flag(.possiblySensitive) ?? false
        let attachments = try? container.nestedContainer(keyedBy: AttachmentKeys.self, forKey: .attachments)
        hasMedia = [.mediaKeys, .pollIDs].contains { attachments?.value([String].self, $0)?.isEmpty == false }
        let history = [.editHistoryTweetIDs, .editHistoryPostIDs].flatMap { key in
            container.value([String].self, key) ?? []
        }
        editHistory = history.filter(XID.isUsable)
    }

    /// What the post is called everywhere: the id that it had before it was ever edited.
    var identity: String { XID.oldest(of: editHistory + [id]) ?? id }

    /// The id of the post that this one answers.
    var replyToID: String? { references.first { $0.type == "replied_to" }?.id }

    var isRepost: Bool { references.contains { $0.type == "retweeted" || $0.type == "reposted" } }

    var quotedIDs: Set<String> { Set(references.filter { $0.type == "quoted" }.map(\.id)) }
}
