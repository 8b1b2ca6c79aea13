import Formats
import Foundation
import Import
import NetworkNames
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// One post of the Mastodon family in each of its wire forms.
///
/// The forms are those of `docs.joinmastodon.org/entities/Status`, of the outbox that Mastodon's
/// `BackupService` writes, of a backup of mastodon-archive (`archive.py`: ids that are numbers,
/// times by `isoformat`) and of Pixelfed's `StatusTransformer` (empty strings in place of null).
struct FediverseForms {
    static let me = "https://social.example/users/Haruka"
    static let everybody = "https://www.w3.org/ns/activitystreams#Public"
    /// When the forms are read.
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    var id = "1"
    var html: String
    var visibility = "public"
    var language: String? = "en"
    var warning: String?
    var isSensitive = false
    /// Names as `user@host`, without a host for somebody on the author's server.
    var mentions: [String] = []
    var hashtags: [String] = []
    /// How many pictures are attached.
    var pictures = 0
    var hasPoll = false
    var isEdited = false
    /// The name of the person who is answered.
    var answered: String?
    /// The written time; `nil` for none.
    var created: String? = "2023-05-01T10:00:00.000Z"
    /// Fields that only an activity has, or that stand in place of its own.
    var ofActivity: [String: Any] = [:]
    /// The same for each of the three forms of a status.
    var ofStatus: [String: Any] = [:]

    private var uri: String { "\(Self.me)/statuses/\(id)" }

    private func address(_ name: String) -> String {
        let parts = name.split(separator: "@")
        return "https://\(parts.count > 1 ? parts[1] : "social.example")/"
    }

    private func user(_ name: String) -> Substring { name.split(separator: "@")[0] }

    private func uri(of name: String) -> String {
        address(name) + "users/\(user(name))/statuses/7"
    }

    private static func orNull(_ value: Any?) -> Any { value ?? NSNull() }

    // MARK: Forms

    /// An activity of a downloaded outbox.
    var activity: [String: Any] {
        let followers = Self.me + "/followers"
        let (to, cc): ([String], [String]) =
            switch visibility {
            case "public": ([Self.everybody], [followers])
            case "unlisted": ([followers], [Self.everybody])
            case "private": ([followers], [])
            default: (["https://far.example/users/mei"], [])
            }
        var tags: [[String: Any]] = mentions.map {
            ["type": "Mention", "href": address($0) + "users/" + user($0), "name": "@" + $0]
        }
        tags += hashtags.map {
            ["type": "Hashtag", "href": "https://social.example/tags/\($0)", "name": "#\($0)"]
        }
        let attachments = (0..<pictures).map { number -> [String: Any] in
            [
                "type": "Document", "mediaType": "image/png",
                "url": "https://social.example/\(number).png",
                "name": "picture \(number)", "width": 40, "height": 30,
            ]
        }
        var note: [String: Any] = [
            "id": uri, "type": hasPoll ? "Question" : "Note", "published": Self.orNull(created),
            "attributedTo": Self.me, "to": to, "cc": cc, "content": html, "sensitive": isSensitive,
            "tag": tags, "attachment": attachments, "summary": Self.orNull(warning),
            "inReplyTo": Self.orNull(answered.map { uri(of: $0) }),
        ]
        if let language { note["contentMap"] = [language: html] }
        if hasPoll { note["oneOf"] = [["type": "Note", "name": "a"]] }
        if isEdited { note["updated"] = "2023-05-02T10:00:00Z" }
        return [
            "id": uri + "/activity", "type": "Create", "actor": Self.me, "to": to, "cc": cc,
            "published": Self.orNull(created), "object": note.merging(ofActivity) { $1 },
        ]
    }

    private func account(_ id: String, _ acct: String) -> [String: Any] {
        [
            "id": id, "acct": acct, "username": String(user(acct)),
            "url": address(acct) + "@\(user(acct))",
        ]
    }

    /// A status as the interface gives it.
    var status: [String: Any] {
        let people = mentions.enumerated().map { account("8\($0.offset)", $0.element) }
        let answeredID = answered.map { name in
            name == "Haruka" ? "1" : mentions.firstIndex(of: name).map { "8\($0)" } ?? "99"
        }
        let attachments = (0..<pictures).map { number -> [String: Any] in
            [
                "id": "\(number)", "type": "image", "url": "https://social.example/\(number).png",
                "description": "picture \(number)",
                "meta": ["original": ["width": 40, "height": 30]],
            ]
        }
        let status: [String: Any] = [
            "id": id, "uri": uri, "url": "https://social.example/@Haruka/\(id)",
            "created_at": Self.orNull(created), "account": account("1", "Haruka"), "content": html,
            "visibility": visibility, "language": Self.orNull(language),
            "spoiler_text": warning ?? "", "sensitive": isSensitive,
            "mentions": people, "media_attachments": attachments, "reblog": NSNull(),
            "tags": hashtags.map { ["name": $0, "url": "https://social.example/tags/\($0)"] },
            "poll": Self.orNull(hasPoll ? ["id": "1"] : nil),
            "edited_at": Self.orNull(isEdited ? "2023-05-02T10:00:00.000Z" : nil),
            "in_reply_to_id": Self.orNull(answered.map { _ in "7" }),
            "in_reply_to_account_id": Self.orNull(answeredID),
        ]
        return status.merging(ofStatus) { $1 }
    }

    /// The status as mastodon-archive saved it.
    private var saved: [String: Any] {
        var saved = Self.numbered(status) as? [String: Any] ?? [:]
        if let time = saved["created_at"] as? String {
            saved["created_at"] = time.replacing(".000Z", with: "+00:00")
        }
        return saved
    }

    /// The same value with numbers for ids.
    private static func numbered(_ value: Any) -> Any {
        if let list = value as? [Any] { return list.map(numbered) }
        guard let fields = value as? [String: Any] else { return value }
        let pairs = fields.map { name, value -> (String, Any) in
            let isID = name == "id" || name.hasSuffix("_id")
            return (name, isID ? (value as? String).flatMap { Int($0) } ?? value : numbered(value))
        }
        return Dictionary(pairs) { first, _ in first }
    }

    /// The status as Pixelfed exports it.
    private var exported: [String: Any] {
        var exported = status
        for name in ["in_reply_to_id", "in_reply_to_account_id"] where exported[name] is NSNull {
            exported[name] = ""
        }
        exported["_v"] = 1
        let usual: [String: Any] = [
            "content_text": "a caption before it became HTML", "pf_type": "photo",
        ]
        return exported.merging(usual) { given, _ in given }
    }

    // MARK: Reading

    /// What is read of a post, without what only one form tells.
    struct Read {
        /// From the interface of a server.
        let api: Post?
        /// From the other forms, by their names.
        let others: [(form: String, post: Post?)]

        /// Expects that all forms read the same; `nil` for what not everybody may read, which no
        /// archive is asked for.
        func expectTheSame(_ name: String, _ location: SourceLocation = #_sourceLocation) {
            let open = api.flatMap { $0.isOpen ? $0 : nil }
            for (form, post) in others {
                #expect(post == open, "\(name) from \(form)", sourceLocation: location)
            }
        }
    }

    /// Reads posts from every form and expects that each reads the same.
    ///
    /// - Returns: What the interface tells of each.
    static func same(
        _ samples: [(name: String, forms: FediverseForms)],
        _ location: SourceLocation = #_sourceLocation
    ) throws -> [Post?] {
        var numbered = samples.map(\.forms)
        for index in numbered.indices { numbered[index].id = "\(index + 1)" }
        let read = try read(numbered)
        for (sample, read) in zip(samples, read) { read.expectTheSame(sample.name, location) }
        return read.map(\.api)
    }

    private static func parts(_ json: Any) throws -> Data {
        try JSONSerialization.data(withJSONObject: json)
    }

    private static func imported(_ path: String) throws -> [PostID: Post] {
        var posts: [PostID: Post] = [:]
        _ = try ArchiveReader(
            path: path, purpose: .scheduler, network: .mastodon, localHost: "social.example",
            now: now
        ).read { item in if case .post(let post) = item { posts[post.id] = post } }
        return posts
    }

    static func read(_ samples: [FediverseForms]) throws -> [Read] {
        let directory = try TemporaryDirectory()
        let actor: [String: Any] = [
            "id": me, "preferredUsername": "Haruka", "followers": me + "/followers",
        ]
        // The author of the first post is the owner; a file of which nothing can be read is an
        // error.
        let owner = FediverseForms(id: "0", html: "<p>first</p>")
        let outbox: [String: Any] = ["orderedItems": ([owner] + samples).map(\.activity)]
        let backup: [String: Any] = [
            "statuses": ([owner] + samples).map(\.saved), "favourites": [Any](),
        ]
        try directory.write(try parts(backup), to: "backup.json")
        try directory.write(try parts(([owner] + samples).map(\.exported)), to: "statuses.json")
        let folder = try TemporaryDirectory()
        try folder.write(try parts(actor), to: "actor.json")
        try folder.write(try parts(outbox), to: "outbox.json")
        let forms = [
            ("outbox", try imported(folder.path)),
            ("mastodon-archive", try imported(directory.path("backup.json"))),
            ("Pixelfed", try imported(directory.path("statuses.json"))),
        ]
        let translator = MastodonTranslator(
            domain: "social.example", serverHost: "social.example", ownAccount: nil,
            idsIdentifyPeople: true, now: { now })
        return try samples.map { sample in
            let status = JSONBody.decoded(MastodonStatus.self, Array(try parts(sample.status)))
            let api = status.flatMap { translator.post($0)?.post }
            let id = PostID(network: .mastodon, value: sample.uri)
            return Read(
                api: api?.comparable, others: forms.map { ($0.0, $0.1[id]?.comparable) })
        }
    }
}

extension Post {
    /// The post without what one form tells and another does not.
    fileprivate var comparable: Post {
        var post = self
        post.address = nil
        // The interface tells the number of an answered post, an outbox its name.
        post.replyTo?.post = nil
        return post
    }
}
