import Expectations
import Formats
import Foundation
import Import
import Posts
import TestSupport
import Testing

@testable import Networks

/// A post reads the same from every form in which a server, an archive or an export has it.
@Suite struct FediverseFormsTests {
    private static let quote = "https://other.example/users/bob/statuses/109"

    /// A post of each program, as it sends it in both forms.
    private static func samples() -> [(name: String, forms: FediverseForms)] {
        let mention =
            #"<span class="h-card"><a href="https://far.example/@mei" class="u-url mention">@<span>mei</span></a>"#
        return [
            (
                "mastodon",
                FediverseForms(
                    html: "<p>\(mention)</span> wrote <a href=\"https://e.org/1\">a page</a> <a "
                        + "href=\"https://social.example/tags/cats\" class=\"mention hashtag\" rel=\"tag\">#<span>cats"
                        + "</span></a></p>", mentions: ["mei@far.example"], hashtags: ["cats"])
            ),
            // Since 4.5 the card of a link is attached in an archive.
            (
                "mastodon's cards",
                FediverseForms(
                    html: #"<p><a href="https://e.org/1">e.org/1</a></p>"#,
                    ofActivity: ["attachment": [["type": "Link", "href": "https://e.org/1"]]],
                    ofStatus: ["card": ["url": "https://e.org/1"]])
            ),
            (
                "pleroma",
                FediverseForms(
                    html:
                        #"<p>so too<span class="quote-inline"><br/><br/>RE: <a href="\#(quote)">\#(quote)</a></span></p>"#,
                    language: nil, ofActivity: ["quoteUrl": quote],
                    ofStatus: [
                        "pleroma": ["quote": NSNull(), "quote_id": NSNull(), "quote_url": quote]
                    ])
            ),
            (
                "friendica",
                FediverseForms(
                    html:
                        #"I agree<br><b><a href="https://f.example/9">♲ bob@o.example</a>:</b><br>"#
                        + #"<blockquote class="shared_content" dir="auto">Cities</blockquote>"#)
            ),
            (
                "gotosocial",
                FediverseForms(
                    html: "<ol start=\"3\"><li>a</li><li>b<sup>2</sup></li></ol>",
                    visibility: "unlisted")
            ),
            (
                "pixelfed",
                FediverseForms(
                    html: ##"<a href="https://p.example/t/lake" class="u-url hashtag">#lake</a>"##,
                    pictures: 2)
            ),
            (
                "wordpress",
                FediverseForms(
                    html: #"<h2>Title</h2><figure><img src="x" alt="a lake"></figure><p>words</p>"#,
                    pictures: 1)
            ),
        ]
    }

    @Test func theSamplesReadTheSame() throws {
        let posts = try FediverseForms.same(Self.samples())
        #expect(!posts.contains(nil))
    }

    private static let pieces = [
        "<p>", "</p>", "<br>", "words ", "日本語", "&amp;", "<ol><li>", "</li></ol>", "<blockquote>",
        "</blockquote>",
        #"<a href="https://e.org/1">a page</a> "#,
        #"<a href="https://e.org/long/path">e.org/long…</a>"#,
        #"<a href="https://far.example/@mei" class="u-url mention">@mei</a> "#,
        #"<a href="https://far.example/users/mei">@mei</a> "#,
        #"<a href="https://social.example/@yuki">@yuki</a>"#,
        ##"<a href="https://social.example/tags/cats">#cats</a> "##,
        #"<img src="x" alt="😀" class="emoji">"#,
        #"<img src="x" alt="a lake">"#, #"<span class="quote-inline">RE: x</span>"#,
        "<table><tr><td>a<td>b</table>",
    ]

    @Test(arguments: 0..<4 as Range<UInt64>)
    func anyPostReadsTheSame(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func oneOf<Value>(_ values: [Value]) -> Value {
            values[Int.random(in: 0..<values.count, using: &generator)]
        }
        let quotes: [([String: Any], [String: Any])] = [
            ([:], [:]), ([:], [:]), (["quote": Self.quote], ["quote": ["state": "accepted"]]),
            (["quoteUri": Self.quote], ["quote_id": "109"]),
            (["quoteUrl": Self.quote], ["pleroma": ["quote_id": "a"]]),
            (["_misskey_quote": Self.quote], ["quote": ["id": "109"], "quote_id": "109"]),
            (
                ["quote": ["type": "Tombstone"]],
                ["quote": ["state": "deleted", "quoted_status": NSNull()]]
            ),
            (["quote": false, "quoteUrl": ""], ["quote": false, "quote_id": NSNull()]),
        ]
        let samples = (0..<150).map { number in
            var forms = FediverseForms(
                id: "\(number + 1)",
                html: (0..<Int.random(in: 0..<9, using: &generator)).map { _ in oneOf(Self.pieces) }
                    .joined(),
                visibility: oneOf(["public", "public", "unlisted", "private", "direct"]),
                language: oneOf(["en", "ja", nil, "und", "zz-"]),
                warning: oneOf([nil, nil, "careful", " ", ""]),
                isSensitive: oneOf([false, false, true]),
                mentions: oneOf([
                    [], ["mei@far.example"], ["mei@far.example", "yuki"],
                    ["Mei@far.example", "mei@far.example"],
                ]),
                hashtags: oneOf([[], ["cats"]]), pictures: oneOf([0, 0, 1, 4, 5]),
                hasPoll: oneOf([false, false, true]),
                isEdited: oneOf([false, true]))
            forms.answered = oneOf(
                [nil, nil, "Haruka"] + forms.mentions.prefix(1).map(Optional.some))
            (forms.ofActivity, forms.ofStatus) = oneOf(quotes)
            return forms
        }
        for (sample, read) in zip(samples, try FediverseForms.read(samples)) {
            #expect(read.api != nil)
            read.expectTheSame("\(sample.activity)")
        }
    }

    // MARK: Fields

    private static let picture = "https://social.example/a.png"

    /// A post with a field that decides something, and what must come out.
    private struct Field {
        let name: String
        let forms: FediverseForms
        let holds: (Post) -> Bool
    }

    private static func fields() -> [Field] {
        var fields: [Field] = []
        func add(_ name: String, _ forms: FediverseForms, _ holds: @escaping (Post) -> Bool) {
            fields.append(Field(name: name, forms: forms, holds: holds))
        }
        add("a text", FediverseForms(html: "<p>a &amp; b<br>c</p>")) { $0.text == "a & b\nc" }
        add(
            "the words of a link",
            FediverseForms(html: #"<p><a href="https://e.org/1">a page</a></p>"#)
        ) { $0.text == "a page (https://e.org/1)" && $0.linkWords == ["a page"] }
        add(
            "a hashtag",
            FediverseForms(
                html: ##"<p><a href="https://social.example/tags/cats">#cats</a></p>"##,
                hashtags: ["cats"])
        ) { $0.text == "#cats" && $0.linkWords.isEmpty }
        add("a picture in the text", FediverseForms(html: #"<p>x <img src="y" alt="z"></p>"#)) {
            $0.hasMedia
        }
        add(
            "a quote in the text",
            FediverseForms(
                html:
                    #"<p class="quote-inline">RE: <a href="https://o.example/1">x</a></p><p>so</p>"#
            )
        ) { $0.isQuote && $0.text == "so" }
        add(
            "a post that Friendica shares",
            FediverseForms(
                html: #"I agree<br>♲ <a href="https://f.example/9">bob@o.example</a>:<br>x"#)
        ) { $0.isQuote }
        add(
            "a quote",
            FediverseForms(
                html: "<p>so</p>", ofActivity: ["quote": quote],
                ofStatus: ["quote": ["state": "accepted"]])
        ) { $0.isQuote && !$0.hasMedia }
        add("no language", FediverseForms(html: "x", language: nil)) { $0.language == nil }
        add("an unknown language", FediverseForms(html: "x", language: "und")) {
            $0.language == nil
        }
        add("a language", FediverseForms(html: "x", language: "pt-BR")) { $0.language == "pt-BR" }
        add("a warning", FediverseForms(html: "x", warning: "food")) {
            $0.warning == "food" && $0.isSensitive
        }
        add("a mark", FediverseForms(html: "x", isSensitive: true)) {
            $0.isSensitive && $0.warning == nil
        }
        add(
            "a mark that is a number",
            FediverseForms(html: "x", ofActivity: ["sensitive": 1], ofStatus: ["sensitive": 1])
        ) { $0.isSensitive }
        add(
            "a mark that is a word",
            FediverseForms(
                html: "x", ofActivity: ["sensitive": "true"], ofStatus: ["sensitive": "true"])
        ) { $0.isSensitive }
        add("the public", FediverseForms(html: "x")) { $0.visibility == .public }
        add("few lists", FediverseForms(html: "x", visibility: "unlisted")) {
            $0.visibility == .unlisted
        }
        add("followers", FediverseForms(html: "x", visibility: "private")) {
            $0.visibility == .private
        }
        add("one person", FediverseForms(html: "x", visibility: "direct")) {
            $0.visibility == .direct
        }
        add("an eye", FediverseForms(html: "<p>at nine 👁️</p>")) { $0.visibility == .local }
        add(
            "an end",
            FediverseForms(
                html: "x", ofActivity: ["expiry": "2026-12-01T00:00:00Z"],
                ofStatus: ["expires_at": "2026-12-01T00:00:00Z"])
        ) { $0.isTimeLimited }
        add("an answer to oneself", FediverseForms(html: "x", answered: "Haruka")) {
            $0.replyTo?.author?.value == "haruka@social.example"
        }
        add(
            "an answer to somebody named",
            FediverseForms(html: "x", mentions: ["mei@far.example"], answered: "mei@far.example")
        ) { $0.replyTo?.author?.value == "mei@far.example" }
        add("a picture", FediverseForms(html: "x", pictures: 1)) {
            $0.pictures.map(\.alt) == ["picture 0"]
        }
        add("five pictures", FediverseForms(html: "x", pictures: 5)) {
            $0.pictures.isEmpty && $0.hasMedia
        }
        add(
            "a film",
            FediverseForms(
                html: "x",
                ofActivity: [
                    "attachment": [
                        [
                            "type": "Document", "mediaType": "video/mp4",
                            "url": "https://e.org/a.mp4",
                        ]
                    ]
                ],
                ofStatus: [
                    "media_attachments": [
                        ["id": "1", "type": "video", "url": "https://e.org/a.mp4"]
                    ]
                ])
        ) { $0.pictures.isEmpty && $0.hasMedia }
        add(
            "a picture without an address",
            FediverseForms(
                html: "x",
                ofActivity: ["attachment": [["type": "Document", "mediaType": "image/png"]]],
                ofStatus: ["media_attachments": [["id": "1", "type": "image", "url": NSNull()]]])
        ) { $0.pictures.isEmpty && $0.hasMedia }
        add(
            "a picture beside what is none",
            FediverseForms(
                html: "x",
                ofActivity: [
                    "attachment": [
                        7, ["type": "Document", "mediaType": "image/png", "url": picture],
                    ]
                ],
                ofStatus: ["media_attachments": [7, ["id": "1", "type": "image", "url": picture]]])
        ) { $0.pictures.map(\.url) == [picture] }
        add("a poll", FediverseForms(html: "x", hasPoll: true)) {
            $0.hasMedia && $0.pictures.isEmpty
        }
        add("a picture and a poll", FediverseForms(html: "x", pictures: 1, hasPoll: true)) {
            $0.hasMedia && $0.pictures.isEmpty
        }
        add(
            "people",
            FediverseForms(html: "x", mentions: ["mei@far.example", "yuki", "Mei@far.example"])
        ) {
            $0.mentions.map(\.value) == ["mei@far.example", "yuki@social.example"]
        }
        add("a time", FediverseForms(html: "x")) {
            $0.createdAt.rfc3339 == "2023-05-01T10:00:00.000Z" && $0.isTimeTrusted
        }
        add("a time without a zone", FediverseForms(html: "x", created: "2023-05-01T10:00:00")) {
            $0.createdAt.rfc3339 == "2023-05-01T10:00:00.000Z" && !$0.isTimeTrusted
        }
        add("a time to come", FediverseForms(html: "x", created: "2033-05-01T10:00:00Z")) {
            $0.createdAt == FediverseForms.now && !$0.isTimeTrusted
        }
        add("no time", FediverseForms(html: "x", created: nil)) {
            $0.createdAt == FediverseForms.now && !$0.isTimeTrusted
        }
        add("the year 1", FediverseForms(html: "x", created: "0001-01-01T00:00:00Z")) {
            !$0.isTimeTrusted
        }
        return fields
    }

    @Test func everyFieldReadsTheSame() throws {
        let fields = Self.fields()
        let posts = try FediverseForms.same(fields.map { ($0.name, $0.forms) })
        for (field, post) in zip(fields, posts) {
            let post = try #require(post, "\(field.name)")
            expect(post, "\(field.name)") { field.holds($0) }
        }
    }

    /// The number at the end of an address holds a time.
    @Test func aTimeThatIsMissingIsThatOfTheNumber() throws {
        let forms = FediverseForms(id: "110000000000000000", html: "x", created: "")
        let read = try #require(try FediverseForms.read([forms]).first)
        read.expectTheSame("a time in the number")
        #expect(read.api?.createdAt == Date(milliseconds: 110_000_000_000_000_000 >> 16))
        #expect(read.api?.isTimeTrusted == false)
    }

    // MARK: Quotes

    @Test func everyNameOfAQuoteCountsInEveryForm() throws {
        let activityJSON = "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\""
        let link: [String: Any] = [
            "type": "Link", "mediaType": activityJSON, "href": Self.quote, "name": "RE: x",
        ]
        let names: [([String: Any], [String: Any])] = [
            (
                ["quote": Self.quote],
                ["quote": ["state": "accepted", "quoted_status": ["id": "1"]]]
            ),
            (
                ["quote": ["id": Self.quote]],
                ["quote": ["state": "pending", "quoted_status": NSNull()]]
            ),
            (["quoteUri": Self.quote], ["quote_id": "109"]),
            (["quoteUrl": Self.quote], ["quote_url": Self.quote]),
            (["_misskey_quote": Self.quote], ["quote": ["id": "109"]]),
            (["tag": [link]], ["pleroma": ["quote_url": Self.quote]]),
            (["tag": link], ["pleroma": ["quote_id": "a", "quote": ["id": "a"]]]),
            (
                [
                    "tag": [
                        "type": "Link", "href": Self.quote,
                        "rel": "https://misskey-hub.net/ns#_misskey_quote",
                    ]
                ],
                ["akkoma": ["quote_url": Self.quote]]
            ),
            (
                [
                    "tag": [
                        "type": ["Link"], "href": Self.quote,
                        "mediaType": "application/activity+json",
                    ]
                ],
                ["pleroma": ["quote": ["id": "a"]]]
            ),
        ]
        let samples: [(name: String, forms: FediverseForms)] = names.map { activity, status in
            (
                "\(activity) \(status)",
                FediverseForms(html: "<p>exactly</p>", ofActivity: activity, ofStatus: status)
            )
        }
        for (sample, post) in zip(samples, try FediverseForms.same(samples)) {
            #expect(post?.isQuote == true && post?.hasMedia == false, "\(sample.name)")
        }
    }

    // MARK: Values of the wrong type

    @Test func aValueOfTheWrongTypeChangesNothing() throws {
        let wrong: [Any] = [false, true, 0, 7, "", NSNull(), [Any]()]
        let ofActivity = [
            "quote", "quoteUri", "quoteUrl", "_misskey_quote", "inReplyTo", "oneOf", "attachment",
            "tag",
        ]
        let ofStatus = [
            "quote", "poll", "reblog", "in_reply_to_status", "media_attachments", "mentions",
            "tags", "pleroma",
            "interaction_policy", "card",
        ]
        var samples: [(name: String, forms: FediverseForms)] = [
            ("plain", FediverseForms(html: "<p>x</p>"))
        ]
        for value in wrong {
            // A poll may have no choices yet, and what is answered no name.
            for name in ofActivity
            where !(name == "oneOf" && value is [Any] || name == "inReplyTo" && value is String) {
                samples.append(
                    (
                        "\(name): \(value)",
                        FediverseForms(html: "<p>x</p>", ofActivity: [name: value])
                    ))
            }
            for name in ofStatus {
                samples.append(
                    ("\(name): \(value)", FediverseForms(html: "<p>x</p>", ofStatus: [name: value]))
                )
            }
        }
        for value in [false, "", NSNull(), [Any](), ["x": 1]] as [Any] {
            for name in [
                "quote_id", "edited_at", "spoiler_text", "in_reply_to_id", "in_reply_to_account_id",
            ] {
                samples.append(
                    ("\(name): \(value)", FediverseForms(html: "<p>x</p>", ofStatus: [name: value]))
                )
            }
            for name in ["summary", "sensitive", "updated"] {
                samples.append(
                    (
                        "\(name): \(value)",
                        FediverseForms(html: "<p>x</p>", ofActivity: [name: value])
                    ))
            }
        }
        for (sample, post) in zip(samples, try FediverseForms.same(samples)) {
            let post = try #require(post)
            expect(post, "\(sample.name)") {
                $0.text == "x" && !$0.isQuote && !$0.hasMedia && !$0.isReply && !$0.isRepost
                    && !$0.isSensitive
            }
        }
    }

    @Test func aTextThatCannotBeReadIsNotAnEmptyOne() throws {
        let forms = FediverseForms(
            html: "<p>x</p>", ofActivity: ["content": ["a"]], ofStatus: ["content": ["a"]])
        #expect(try FediverseForms.same([("an unreadable text", forms)]) == [nil])
    }

    @Test func attachmentsThatAreNoPicturesAreMediaInEveryForm() throws {
        let gif = FediverseForms(
            html: "<p>x</p>",
            ofActivity: [
                "attachment": [
                    ["type": "Image", "mediaType": "image/gif", "url": "https://e.org/a.gif"]
                ]
            ],
            ofStatus: [
                "media_attachments": [
                    [
                        "id": "1", "type": "image", "url": "https://e.org/a.gif",
                        "pleroma": ["mime_type": "image/gif"],
                    ]
                ]
            ])
        let post = try #require(try FediverseForms.same([("a picture that moves", gif)])[0])
        #expect(post.hasMedia && post.pictures.isEmpty)
    }

    // MARK: Statuses alone

    /// Reads statuses from the interface and from the two exports of it.
    private func statuses(_ fields: [[String: Any]]) throws -> [Post?] {
        let samples = fields.map {
            FediverseForms(html: "<p>x</p>", mentions: ["mei@far.example"], ofStatus: $0)
        }
        var numbered = samples
        for index in numbered.indices { numbered[index].id = "\(index + 1)" }
        return try zip(fields, FediverseForms.read(numbered)).map { fields, read in
            for (form, post) in read.others where form != "outbox" {
                #expect(post == read.api, "\(fields) from \(form)")
            }
            return read.api
        }
    }

    @Test func whoIsAnsweredIsToldInSeveralWays() throws {
        let mei: [String: Any] = [
            "id": "80", "acct": "mei@far.example", "url": "https://far.example/@mei",
        ]
        let posts = try statuses([
            ["in_reply_to_id": "7", "in_reply_to_account_id": "80"],
            ["in_reply_to_id": "7", "in_reply_to_account_id": "99"],
            ["in_reply_to_id": "7"], ["in_reply_to_account_id": "80"],
            [
                "in_reply_to_id": "7", "in_reply_to_account_id": "1",
                "in_reply_to_status": ["id": "7", "account": mei],
            ],
            ["in_reply_to_id": "7", "pleroma": ["in_reply_to_account_acct": "mei@far.example"]],
        ])
        let mentioned = AccountID(network: .mastodon, value: "mei@far.example")
        #expect(
            posts.map { $0?.replyTo } == [
                ReplyTarget(author: mentioned), ReplyTarget(author: nil), ReplyTarget(author: nil),
                ReplyTarget(author: mentioned), ReplyTarget(author: mentioned),
                ReplyTarget(author: mentioned),
            ])
    }

    @Test func aCaptionThatNeverBecameHTMLIsAText() throws {
        let caption = "a <b> & @mei #lake"
        let post = try #require(try statuses([["content": caption, "content_text": caption]])[0])
        #expect(post.text == caption)
    }

    @Test func aNumberIsAText() throws {
        let posts = try statuses([["content": 7], ["content": 7, "spoiler_text": 8]])
        #expect(posts.map { $0?.text } == ["7", "7"])
        #expect(posts.map { $0?.warning } == [nil, "8"])
    }

    /// No archive hands over what somebody else wrote.
    @Test(arguments: [["reblog": ["id": "5"]], ["pf_type": "share"]] as [[String: any Sendable]])
    func aRepostIsOneInEveryForm(fields: [String: any Sendable]) throws {
        let repost = FediverseForms(html: "x", ofStatus: fields)
        let read = try #require(try FediverseForms.read([repost]).first)
        #expect(read.api?.isRepost == true)
        #expect(read.others.filter { $0.form != "outbox" }.allSatisfy { $0.post == nil })
    }

    @Test func onlyALaterTimeIsAChange() {
        var wire = FediversePost(
            identities: ["https://e.org/1"], author: AccountID(network: .mastodon, value: "a@e.org")
        )
        wire.written = "1970-01-01T00:01:40Z"
        wire.updated = Date(timeIntervalSince1970: 100)
        #expect(wire.editedAt == nil)
        wire.updated = Date(timeIntervalSince1970: 101)
        #expect(wire.editedAt == wire.updated)
    }
}
