import Expectations
import Foundation
import Import
import Posts
import TestSupport
import Testing

@testable import Networks

/// One post in both of its wire forms: an activity of a downloaded outbox, and a status of the client API.
private struct TwoForms {
    private static let me = "https://social.example/users/Haruka"
    private static let everybody = "https://www.w3.org/ns/activitystreams#Public"

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
    var answered: String?
    /// Fields that only one of the forms has, or that stand in place of its own.
    var ofActivity: [String: Any] = [:]
    var ofStatus: [String: Any] = [:]

    private var uri: String { "\(Self.me)/statuses/\(id)" }

    private func address(_ name: String) -> String {
        let parts = name.split(separator: "@")
        return "https://\(parts.count > 1 ? parts[1] : "social.example")/"
    }

    private func user(_ name: String) -> Substring { name.split(separator: "@")[0] }

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
        tags += hashtags.map { ["type": "Hashtag", "href": "https://social.example/tags/\($0)", "name": "#\($0)"] }
        let attachments = (0..<pictures).map { number -> [String: Any] in
            [
                "type": "Document", "mediaType": "image/png", "url": "https://social.example/\(number).png",
                "name": "picture \(number)", "width": 40, "height": 30,
            ]
        }
        var note: [String: Any] = [
            "id": uri, "type": hasPoll ? "Question" : "Note", "published": "2023-05-01T10:00:00Z",
            "attributedTo": Self.me, "to": to, "cc": cc, "content": html, "sensitive": isSensitive, "tag": tags,
            "attachment": attachments, "summary": Self.orNull(warning),
            "inReplyTo": Self.orNull(answered.map { uri(of: $0) }),
        ]
        if let language { note["contentMap"] = [language: html] }
        if hasPoll { note["oneOf"] = [["type": "Note", "name": "a"]] }
        if isEdited { note["updated"] = "2023-05-02T10:00:00Z" }
        return [
            "id": uri + "/activity", "type": "Create", "actor": Self.me, "to": to, "cc": cc,
            "published": "2023-05-01T10:00:00Z", "object": note.merging(ofActivity) { $1 },
        ]
    }

    private func uri(of name: String) -> String { address(name) + "users/\(user(name))/statuses/7" }

    private static func orNull(_ value: Any?) -> Any { value ?? NSNull() }

    private func account(_ id: String, _ acct: String) -> [String: Any] {
        ["id": id, "acct": acct, "username": String(user(acct)), "url": address(acct) + "@\(user(acct))"]
    }

    var status: [String: Any] {
        let people = mentions.enumerated().map { account("8\($0.offset)", $0.element) }
        let answeredID = answered.map { name in
            name == "Haruka" ? "1" : mentions.firstIndex(of: name).map { "8\($0)" } ?? "99"
        }
        let attachments = (0..<pictures).map { number -> [String: Any] in
            [
                "id": "\(number)", "type": "image", "url": "https://social.example/\(number).png",
                "description": "picture \(number)", "meta": ["original": ["width": 40, "height": 30]],
            ]
        }
        let status: [String: Any] = [
            "id": id, "uri": uri, "url": "https://social.example/@Haruka/\(id)",
            "created_at": "2023-05-01T10:00:00.000Z",
            "account": account("1", "Haruka"), "content": html, "visibility": visibility,
            "language": Self.orNull(language), "spoiler_text": warning ?? "", "sensitive": isSensitive,
            "mentions": people, "media_attachments": attachments, "reblog": NSNull(),
            "tags": hashtags.map { ["name": $0, "url": "https://social.example/tags/\($0)"] },
            "poll": Self.orNull(hasPoll ? ["id": "1"] : nil),
            "edited_at": Self.orNull(isEdited ? "2023-05-02T10:00:00.000Z" : nil),
            "in_reply_to_id": Self.orNull(answered.map { _ in "7" }), "in_reply_to_account_id": Self.orNull(answeredID),
        ]
        return status.merging(ofStatus) { $1 }
    }

    /// The post as the reader of archives and the reader of the API have it, without what only one of them tells.
    static func read(_ samples: [TwoForms]) throws -> [(archive: Post?, api: Post?)] {
        let directory = try TemporaryDirectory()
        let actor: [String: Any] = ["id": me, "preferredUsername": "Haruka", "followers": me + "/followers"]
        let outbox: [String: Any] = ["orderedItems": samples.map(\.activity)]
        for (name, json) in ["actor.json": actor, "outbox.json": outbox] {
            try JSONSerialization.data(withJSONObject: json).write(to: URL(filePath: directory.path(name)))
        }
        var archived: [PostID: Post] = [:]
        _ = try ArchiveReader(
            path: directory.path, purpose: .scheduler, network: .mastodon, localHost: "social.example",
            limits: ImportLimits()
        ).read { item in if case .post(let post) = item { archived[post.id] = post } }
        let translator = MastodonTranslator(
            domain: "social.example", serverHost: "social.example", own: nil, tellsPeopleByNumber: true,
            now: { Date(timeIntervalSince1970: 0) })
        return try samples.map { sample in
            let body = Array(try JSONSerialization.data(withJSONObject: sample.status))
            var api = JSONBody.decoded(MastodonStatus.self, body).flatMap { translator.post($0)?.post }
            api?.address = nil
            api?.replyTo?.post = nil
            var archive = archived[PostID(network: .mastodon, value: sample.uri)]
            archive?.replyTo?.post = nil
            return (archive, api)
        }
    }

    /// Both, which are the same.
    func post() throws -> Post {
        let (archive, api) = try #require(try Self.read([self]).first)
        #expect(archive == api)
        return try #require(api)
    }
}

/// What a person reads by downloading and what by asking is the same.
@Suite struct TwoFormsTests {
    private static let quote = "https://other.example/users/bob/statuses/109"

    /// A post of each program, as it sends it in both forms.
    private static func samples() -> [(name: String, forms: TwoForms)] {
        let mention =
            #"<span class="h-card"><a href="https://far.example/@mei" class="u-url mention">@<span>mei</span></a>"#
        return [
            (
                "mastodon",
                TwoForms(
                    html: "<p>\(mention)</span> wrote <a href=\"https://e.org/1\">a page</a> <a "
                        + "href=\"https://social.example/tags/cats\" class=\"mention hashtag\" rel=\"tag\">#<span>cats"
                        + "</span></a></p>", mentions: ["mei@far.example"], hashtags: ["cats"])
            ),
            // Since 4.5 the card of a link is attached in an archive.
            (
                "mastodon's cards",
                TwoForms(
                    html: #"<p><a href="https://e.org/1">e.org/1</a></p>"#,
                    ofActivity: ["attachment": [["type": "Link", "href": "https://e.org/1"]]],
                    ofStatus: ["card": ["url": "https://e.org/1"]])
            ),
            (
                "pleroma",
                TwoForms(
                    html:
                        #"<p>so too<span class="quote-inline"><br/><br/>RE: <a href="\#(quote)">\#(quote)</a></span></p>"#,
                    language: nil, ofActivity: ["quoteUrl": quote],
                    ofStatus: ["pleroma": ["quote": NSNull(), "quote_id": NSNull(), "quote_url": quote]])
            ),
            (
                "friendica",
                TwoForms(
                    html: #"I agree<br><b><a href="https://f.example/9">♲ bob@o.example</a>:</b><br>"#
                        + #"<blockquote class="shared_content" dir="auto">Cities</blockquote>"#)
            ),
            (
                "gotosocial",
                TwoForms(html: "<ol start=\"3\"><li>a</li><li>b<sup>2</sup></li></ol>", visibility: "unlisted")
            ),
            (
                "pixelfed",
                TwoForms(
                    html: ##"<a href="https://p.example/t/lake" class="u-url hashtag">#lake</a>"##, pictures: 2)
            ),
            (
                "wordpress",
                TwoForms(html: #"<h2>Title</h2><figure><img src="x" alt="a lake"></figure><p>words</p>"#, pictures: 1)
            ),
        ]
    }

    @Test func theSamplesReadTheSame() throws {
        var samples = Self.samples()
        for index in samples.indices { samples[index].forms.id = "\(index + 1)" }
        for (sample, post) in zip(samples, try TwoForms.read(samples.map(\.forms))) {
            #expect(post.archive == post.api, "\(sample.name)")
            #expect(post.api != nil, "\(sample.name)")
        }
    }

    private static let pieces = [
        "<p>", "</p>", "<br>", "words ", "日本語", "&amp;", "<ol><li>", "</li></ol>", "<blockquote>", "</blockquote>",
        #"<a href="https://e.org/1">a page</a> "#, #"<a href="https://e.org/long/path">e.org/long…</a>"#,
        #"<a href="https://far.example/@mei" class="u-url mention">@mei</a> "#,
        #"<a href="https://far.example/users/mei">@mei</a> "#, #"<a href="https://social.example/@yuki">@yuki</a>"#,
        ##"<a href="https://social.example/tags/cats">#cats</a> "##, #"<img src="x" alt="😀" class="emoji">"#,
        #"<img src="x" alt="a lake">"#, #"<span class="quote-inline">RE: x</span>"#, "<table><tr><td>a<td>b</table>",
    ]

    @Test(arguments: 0..<4 as Range<UInt64>)
    func anyPostReadsTheSame(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func oneOf<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &generator)] }
        let quotes: [([String: Any], [String: Any])] = [
            ([:], [:]), ([:], [:]), (["quote": Self.quote], ["quote": ["state": "accepted"]]),
            (["quoteUri": Self.quote], ["quote_id": "109"]), (["quoteUrl": Self.quote], ["pleroma": ["quote_id": "a"]]),
            (["_misskey_quote": Self.quote], ["quote": ["id": "109"], "quote_id": "109"]),
            (["quote": ["type": "Tombstone"]], ["quote": ["state": "deleted", "quoted_status": NSNull()]]),
            (["quote": false, "quoteUrl": ""], ["quote": false, "quote_id": NSNull()]),
        ]
        let samples = (0..<150).map { number in
            var forms = TwoForms(
                id: "\(number + 1)",
                html: (0..<Int.random(in: 0..<9, using: &generator)).map { _ in oneOf(Self.pieces) }.joined(),
                visibility: oneOf(["public", "public", "unlisted", "private", "direct"]),
                language: oneOf(["en", "ja", nil, "und", "zz-"]), warning: oneOf([nil, nil, "careful", " ", ""]),
                isSensitive: oneOf([false, false, true]),
                mentions: oneOf([
                    [], ["mei@far.example"], ["mei@far.example", "yuki"], ["Mei@far.example", "mei@far.example"],
                ]),
                hashtags: oneOf([[], ["cats"]]), pictures: oneOf([0, 0, 1, 4, 5]),
                hasPoll: oneOf([false, false, true]),
                isEdited: oneOf([false, true]))
            forms.answered = oneOf([nil, nil, "Haruka"] + forms.mentions.prefix(1).map(Optional.some))
            (forms.ofActivity, forms.ofStatus) = oneOf(quotes)
            return forms
        }
        for (sample, post) in zip(samples, try TwoForms.read(samples)) {
            let api = try #require(post.api)
            // What not everybody may read is not taken from an archive at all.
            guard api.visibility.isOpen else {
                #expect(post.archive == nil)
                continue
            }
            #expect(post.archive == api, "\(sample.activity)")
        }
    }

    // MARK: Quotes

    @Test func everyNameOfAQuoteCountsInBothForms() throws {
        let activityJSON = "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\""
        let link: [String: Any] = ["type": "Link", "mediaType": activityJSON, "href": Self.quote, "name": "RE: x"]
        let names: [([String: Any], [String: Any])] = [
            (["quote": Self.quote], ["quote": ["state": "accepted", "quoted_status": ["id": "1"]]]),
            (["quote": ["id": Self.quote]], ["quote": ["state": "pending", "quoted_status": NSNull()]]),
            (["quoteUri": Self.quote], ["quote_id": "109"]), (["quoteUrl": Self.quote], ["quote_url": Self.quote]),
            (["_misskey_quote": Self.quote], ["quote": ["id": "109"]]),
            (["tag": [link]], ["pleroma": ["quote_url": Self.quote]]),
            (["tag": link], ["pleroma": ["quote_id": "a", "quote": ["id": "a"]]]),
            (
                ["tag": ["type": "Link", "href": Self.quote, "rel": "https://misskey-hub.net/ns#_misskey_quote"]],
                ["akkoma": ["quote_url": Self.quote]]
            ),
            (
                ["tag": ["type": ["Link"], "href": Self.quote, "mediaType": "application/activity+json"]],
                ["pleroma": ["quote": ["id": "a"]]]
            ),
        ]
        for (activity, status) in names {
            let post = try TwoForms(html: "<p>exactly</p>", ofActivity: activity, ofStatus: status).post()
            #expect(post.isQuote && !post.hasMedia, "\(activity) \(status)")
        }
    }

    // MARK: Values of the wrong type

    @Test func aValueOfTheWrongTypeChangesNothing() throws {
        let plain = try TwoForms(html: "<p>x</p>").post()
        #expect(!plain.isQuote && !plain.hasMedia && !plain.isReply && !plain.isRepost)
        let wrong: [Any] = [false, true, 0, 7, "", NSNull(), [Any]()]
        let ofActivity = ["quote", "quoteUri", "quoteUrl", "_misskey_quote", "inReplyTo", "oneOf", "attachment", "tag"]
        let ofStatus = [
            "quote", "poll", "reblog", "in_reply_to_status", "media_attachments", "mentions", "tags", "pleroma",
            "interaction_policy", "card",
        ]
        for value in wrong {
            // A poll may have no choices yet, and what is answered no name.
            for name in ofActivity where !(name == "oneOf" && value is [Any] || name == "inReplyTo" && value is String)
            {
                let post = try TwoForms(html: "<p>x</p>", ofActivity: [name: value]).post()
                #expect(post == plain, "\(name): \(value)")
            }
            for name in ofStatus {
                let post = try TwoForms(html: "<p>x</p>", ofStatus: [name: value]).post()
                #expect(post == plain, "\(name): \(value)")
            }
        }
        for value in [false, "", NSNull(), [Any](), ["x": 1]] as [Any] {
            for name in [
                "in_reply_to_id", "in_reply_to_account_id", "quote_id", "edited_at", "spoiler_text", "language",
            ] {
                let post = try TwoForms(html: "<p>x</p>", language: nil, ofStatus: [name: value]).post()
                #expect(post.replyTo == nil && !post.isQuote && !post.isSensitive, "\(name): \(value)")
            }
            for name in ["summary", "sensitive", "updated", "contentMap"] {
                let post = try TwoForms(html: "<p>x</p>", language: nil, ofActivity: [name: value]).post()
                #expect(!post.isSensitive, "\(name): \(value)")
            }
        }
    }

    @Test func aTextThatCannotBeReadIsNotAnEmptyOne() throws {
        let forms = TwoForms(html: "<p>x</p>", ofActivity: ["content": ["a"]], ofStatus: ["content": ["a"]])
        // An archive of which nothing can be read is an error.
        let read = try TwoForms.read([forms, TwoForms(id: "2", html: "<p>y</p>")])
        #expect(read.map { $0.archive?.text } == [nil, "y"])
        #expect(read.map { $0.api?.text } == [nil, "y"])
    }

    @Test func attachmentsThatAreNoPicturesAreMediaInBothForms() throws {
        let gif = TwoForms(
            html: "<p>x</p>",
            ofActivity: ["attachment": [["type": "Image", "mediaType": "image/gif", "url": "https://e.org/a.gif"]]],
            ofStatus: [
                "media_attachments": [
                    ["id": "1", "type": "image", "url": "https://e.org/a.gif", "pleroma": ["mime_type": "image/gif"]]
                ]
            ])
        let post = try gif.post()
        #expect(post.hasMedia && post.pictures.isEmpty)
    }

    @Test func onlyALaterTimeIsAChange() {
        var wire = FediversePost(
            identities: ["https://e.org/1"], author: AccountID(network: .mastodon, value: "a@e.org"))
        wire.published = Date(timeIntervalSince1970: 100)
        wire.updated = wire.published
        #expect(wire.editedAt == nil)
        wire.updated = Date(timeIntervalSince1970: 101)
        #expect(wire.editedAt == wire.updated)
    }
}
