import Expectations
import Formats
import Foundation
import Import
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

/// One post of X in both of its forms.
///
/// The forms are those of `tweets.js` and `note-tweet.js` in real archives (version 1.1 of the
/// interface, numbers as texts) and of the fields that version 2 documents.
private struct XForms {
    struct Link {
        let short: String
        let expanded: String
        /// Whether it leads to a picture of the post itself.
        var isMedia = false
    }

    static let now = Date(timeIntervalSince1970: 1_700_000_000)
    static let own = Account(
        id: AccountID(network: .x, value: "42"), handle: "haruka", address: "42")

    let name: String
    var id = "1626897512345600000"
    var text: String
    var links: [Link] = []
    /// The ids of the people who are named, from left to right.
    var mentions: [String] = []
    var language: Any? = "en"
    var isSensitive = false
    /// The answered post and its author.
    var answered: (post: String, author: String)?
    var quoted: String?
    var isRepost = false
    /// The whole of a text that is cut in both forms.
    var note: String?
    var created = Date(milliseconds: Int64(1_626_897_512_345_600_000 >> 22) + 1_288_834_974_657)

    var archived: [String: Any] {
        func entity(_ link: Link) -> [String: Any] {
            ["url": link.short, "expanded_url": link.expanded, "indices": ["0", "1"]]
        }
        let media = links.filter(\.isMedia).map { link in
            entity(link).merging([
                "type": "photo", "id_str": link.short,
                "media_url_https": "https://pbs.example/a.jpg",
            ]) { $1 }
        }
        var entities: [String: Any] = [
            "urls": links.filter { !$0.isMedia }.map(entity), "hashtags": [Any](),
            "symbols": [Any](),
            "user_mentions": mentions.map { id -> [String: Any] in
                [
                    "name": "N", "screen_name": "name\(id)", "id_str": id, "id": id,
                    "indices": ["0", "9"],
                ]
            },
        ]
        entities["media"] = media.isEmpty ? nil : media
        var post: [String: Any] = [
            "id_str": id, "id": id, "full_text": text, "created_at": Self.written(created),
            "entities": entities, "possibly_sensitive": isSensitive, "retweeted": false,
            "favorited": false, "truncated": false, "display_text_range": ["0", "9"],
        ]
        post["extended_entities"] = media.isEmpty ? nil : ["media": media]
        post["lang"] = language
        if let answered {
            post["in_reply_to_status_id_str"] = answered.post
            post["in_reply_to_user_id_str"] = answered.author
        }
        return ["tweet": post]
    }

    var archivedNote: [String: Any]? {
        note.map { text in
            [
                "noteTweet": [
                    "noteTweetId": "1", "createdAt": created.rfc3339,
                    "core": ["text": text, "mentions": [Any](), "urls": [Any]()] as [String: Any],
                ] as [String: Any]
            ]
        }
    }

    var answer: [String: Any] {
        var references: [[String: Any]] = []
        if let answered { references.append(["type": "replied_to", "id": answered.post]) }
        if let quoted { references.append(["type": "quoted", "id": quoted]) }
        if isRepost { references.append(["type": "retweeted", "id": "5"]) }
        let entities: [String: Any] = [
            "urls": links.map { link -> [String: Any] in
                var entity: [String: Any] = [
                    "start": 0, "end": 1, "url": link.short, "expanded_url": link.expanded,
                ]
                if link.isMedia { entity["media_key"] = "3_1" }
                return entity
            },
            "mentions": mentions.map { id -> [String: Any] in
                ["start": 0, "end": 9, "username": "name\(id)", "id": id]
            },
        ]
        var post: [String: Any] = [
            "id": id, "author_id": "42", "text": text, "created_at": created.rfc3339,
            "conversation_id": id, "edit_history_tweet_ids": [id], "entities": entities,
            "possibly_sensitive": isSensitive, "reply_settings": "everyone",
        ]
        post["lang"] = language
        post["referenced_tweets"] = references.isEmpty ? nil : references
        post["in_reply_to_user_id"] = answered?.author
        post["note_tweet"] = note.map { ["text": Self.escaped($0)] }
        if links.contains(where: \.isMedia) { post["attachments"] = ["media_keys": ["3_1"]] }
        return post
    }

    /// A time as version 1.1 writes it.
    private static func written(_ date: Date) -> String {
        let parts = date.rfc3339.split(separator: "T")
        let day = parts[0].split(separator: "-")
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let month = months[(Int(day[1]) ?? 1) - 1]
        return "Sat \(month) \(day[2]) \(parts[1].prefix(8)) +0000 \(day[0])"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    // MARK: Reading

    private static func script(_ name: String, _ items: [Any]) throws -> Data {
        Data("window.YTD.\(name).part0 = ".utf8)
            + (try JSONSerialization.data(withJSONObject: items))
    }

    /// What is read of a post.
    func read() throws -> (archive: Post?, api: Post?) {
        let folder = try TemporaryDirectory()
        let data = folder.path("data")
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let account: [String: Any] = ["account": ["accountId": "42", "username": "haruka"]]
        try folder.write(try Self.script("account", [account]), to: "data/account.js")
        try folder.write(try Self.script("tweets", [archived]), to: "data/tweets.js")
        if let archivedNote {
            try folder.write(
                try Self.script("note_tweet", [archivedNote]), to: "data/note-tweet.js")
        }
        var archive: Post?
        _ = try ArchiveReader(path: folder.path, purpose: .scheduler, network: .x, now: Self.now)
            .read {
                if case .post(let post) = $0 { archive = post }
            }
        let body = Array(try JSONSerialization.data(withJSONObject: answer))
        let translator = XTranslator(
            own: Self.own, isOwnProtected: false, users: [], now: { Self.now })
        let wire = JSONBody.decoded(XPost.self, body)
        let api = wire.flatMap { translator.post($0, in: .ownPosts, for: .own)?.post }
        // The interface is not asked for pictures, whose reading has a price.
        archive?.pictures = []
        return (archive, api)
    }
}

/// A post of X reads the same from an archive and from the interface.
@Suite struct XFormsTests {
    private static func samples() -> [(forms: XForms, holds: (Post) -> Bool)] {
        var samples: [(forms: XForms, holds: (Post) -> Bool)] = []
        func add(_ forms: XForms, _ holds: @escaping (Post) -> Bool) {
            samples.append((forms, holds))
        }
        add(XForms(name: "a text", text: "a &lt;b&gt; &amp;lt;c &amp;amp;")) {
            $0.text == "a <b> &lt;c &amp;"
        }
        add(
            XForms(
                name: "a name in front", text: "@pal hello", mentions: ["7"], answered: ("5", "7"))
        ) {
            $0.text == "hello" && $0.replyTo?.author?.value == "7" && $0.replyTo?.post?.value == "5"
                && $0.mentions.map(\.value) == ["7"]
        }
        add(
            XForms(
                name: "names in front", text: "@pal @mei hello @yuki", mentions: ["7", "8", "7"],
                answered: ("5", "7"))
        ) {
            $0.text == "hello @yuki" && $0.mentions.map(\.value) == ["7", "8"]
        }
        add(XForms(name: "a thread", text: "and on", answered: ("5", "42"))) {
            $0.replyTo?.author?.value == "42"
        }
        add(
            XForms(
                name: "a link", text: "see https://t.co/a",
                links: [XForms.Link(short: "https://t.co/a", expanded: "https://e.org/1")])
        ) { $0.text == "see https://e.org/1" && !$0.hasMedia }
        add(
            XForms(
                name: "a link that leads to no page", text: "see https://t.co/a",
                links: [XForms.Link(short: "https://t.co/a", expanded: "javascript:alert(1)")])
        ) { $0.text == "see https://t.co/a" }
        add(
            XForms(
                name: "a picture", text: "see https://t.co/p",
                links: [
                    XForms.Link(
                        short: "https://t.co/p", expanded: "https://x.com/haruka/status/9/photo/1",
                        isMedia: true)
                ])
        ) { $0.text == "see" && $0.hasMedia }
        for address in [
            "https://twitter.com/pal/status/5", "https://x.com/pal/status/5?s=20",
        ] {
            add(
                XForms(
                    name: "a quote of \(address)", text: "so true https://t.co/q",
                    links: [XForms.Link(short: "https://t.co/q", expanded: address)], quoted: "5")
            ) { $0.text == "so true" && $0.isQuote }
        }
        add(XForms(name: "a repost", text: "RT @pal: hello", mentions: ["7"], isRepost: true)) {
            $0.isRepost && !$0.isReply
        }
        add(XForms(name: "a mark", text: "x", isSensitive: true)) { $0.isSensitive }
        let languages: [(Any?, String?)] = [
            ("ja", "ja"), ("zh-TW", "zh-TW"), ("in", "id"), ("iw", "he"), ("ji", "yi"),
            ("und", nil), ("zxx", nil),
            ("qme", nil), ("qam", nil), ("", nil), ("english", nil), (nil, nil),
        ]
        for (tag, language) in languages {
            add(XForms(name: "the language \(tag ?? "none")", text: "x", language: tag)) {
                $0.language == language
            }
        }
        add(
            XForms(
                name: "a post without a time in its number", id: "9999999999", text: "old",
                created: Date(timeIntervalSince1970: 1_267_500_001))
        ) { $0.createdAt == Date(timeIntervalSince1970: 1_267_500_001) && $0.isTimeTrusted }
        let long = "Plans: sleep < read & walk, then the long way home past the mill"
        add(
            XForms(
                name: "a long text", text: "Plans: sleep &lt; read &amp; walk, then the…",
                note: long)
        ) { $0.text == long }
        return samples
    }

    @Test func everyFieldReadsTheSame() throws {
        for (forms, holds) in Self.samples() {
            let read = try forms.read()
            var archived = try #require(read.archive, "\(forms.name)")
            // An archive keeps the names before a reply, for the handles; whoever uses a reply
            // takes them off.
            if archived.replyTo?.post != nil {
                archived.text = XText.withoutLeadingMentions(archived.text)
            }
            #expect(archived == read.api, "\(forms.name)")
            let post = try #require(read.api, "\(forms.name)")
            expect(post, "\(forms.name)") { holds($0) }
        }
    }
}
