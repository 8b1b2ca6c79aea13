import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

@Suite struct XPostTests {
    /// A post as the mentions give it.
    private func observed(
        _ overrides: [String: String], id: String = "9", users: [String] = [XWire.user("7", "ann")]
    ) async throws -> ObservedPost {
        let body = XWire.list([XWire.post(id, overrides)], users: users)
        let loopback = try XLoopback { $0.path == "/2/users/42/mentions" ? .json(body) : nil }
        let page = try await loopback.network.page(.mentions, .newest)
        return try #require(page.items.first)
    }

    @Test func readsAPost() async throws {
        let post = try await observed([:])
        #expect(
            post
                == ObservedPost(
                    post: Post(
                        id: PostID(network: .x, value: "9"),
                        author: AccountID(network: .x, value: "7"),
                        text: "text 9", createdAt: Date(timeIntervalSince1970: 1_795_204_800),
                        visibility: .public,
                        language: "en", address: "9"),
                    author: Account(
                        id: AccountID(network: .x, value: "7"), handle: "ann",
                        displayName: "Name of ann",
                        bio: "bio of ann", address: "7"),
                    address: "9", conversation: "9"))
    }

    @Test func readsAReplyInBothSpellings() async throws {
        for (references, note) in [
            ("referenced_tweets", "note_tweet"), ("referenced_posts", "note_post"),
        ] {
            let post = try await observed([
                references: #"[{"type":"replied_to","id":"5"},{"type":"quoted","id":"6"}]"#,
                "in_reply_to_user_id": #""42""#, "conversation_id": #""3""#,
                "text": #""@mirror cut…""#,
                note: #"{"text":"@mirror @bob the whole &amp; full text"}"#,
                "entities":
                    #"{"mentions":[{"start":0,"end":7,"username":"mirror","id":"42"},{"username":"x"}]}"#,
            ])
            #expect(post.post.text == "the whole & full text")
            #expect(
                post.post.replyTo
                    == ReplyTarget(
                        author: AccountID(network: .x, value: "42"),
                        post: PostID(network: .x, value: "5")))
            #expect(post.replyToAddress == "5")
            #expect(post.conversation == "3")
            #expect(post.post.mentions == [AccountID(network: .x, value: "42")])
        }
    }

    @Test(arguments: [
        ("&amp;lt; &lt;b&gt; &amp;amp; &quot;", "&lt; <b> &amp; &quot;"), ("a\\nb", "a\nb"),
        ("  x  ", "x"),
        // A name at the beginning of what is no reply is part of the text.
        ("@ann hello", "@ann hello"),
    ])
    func unescapesOnce(raw: String, text: String) async throws {
        try await expect(observed(["text": "\"\(raw)\""]).post.text, equals: text)
    }

    @Test(arguments: [
        ("@a @b_1\\n@c hello", "hello"), ("@a", ""), ("@a, hello", "@a, hello"),
        ("@ hello", "@ hello"),
        ("hello @a", "hello @a"), ("@aé b", "@aé b"), ("@a @b", ""),
    ])
    func repliesLoseTheNamesThatTheyBeginWith(raw: String, text: String) async throws {
        let reply = #"[{"type":"replied_to","id":"5"}]"#
        try await expect(
            observed(["text": "\"\(raw)\"", "referenced_tweets": reply]).post.text, equals: text)
    }

    @Test func linksAreExpandedAndMediaLeftOut() async throws {
        let urls = Wire.list([
            #"{"start":4,"end":9,"url":"https://t.co/a1","expanded_url":"https://example.com/?a=1&b=2"}"#,
            #"{"url":"https://t.co/m1","expanded_url":"https://x.com/ann/status/9/photo/1"}"#,
            #"{"url":"https://t.co/m2","expanded_url":"https://twitter.com/ann/status/9/video/1"}"#,
            #"{"url":"https://t.co/m3","expanded_url":"https://example.com/pic","media_key":"3_1"}"#,
            #"{"url":"https://t.co/q1","expanded_url":"https://x.com/bob/status/5?s=20"}"#,
            #"{"url":"https://t.co/s1","expanded_url":"https://x.com/bob/status/77"}"#,
            #"{"url":"https://t.co/j1","expanded_url":"javascript:alert(1)"}"#,
            #"{"url":"https://t.co/n1"}"#, "7",
        ])
        let post = try await observed([
            "text":
                #""see https://t.co/a1 https://t.co/s1 https://t.co/j1 https://t.co/n1 https://t.co/q1 https://t.co/m1 https://t.co/m2 https://t.co/m3""#,
            "entities": #"{"urls":\#(urls)}"#,
            "referenced_tweets": #"[{"type":"quoted","id":"5"}]"#,
        ])
        #expect(
            post.post.text
                == "see https://example.com/?a=1&b=2 https://x.com/bob/status/77 https://t.co/j1 https://t.co/n1"
        )
        #expect(post.post.hasMedia)
        #expect(post.post.replyTo == nil)
        #expect(!post.post.isRepost)
    }

    @Test(arguments: [
        (#"{"media_keys":["3_1"]}"#, true), (#"{"poll_ids":["1"]}"#, true),
        (#"{"media_keys":[]}"#, false),
        ("{}", false), ("7", false),
    ])
    func attachmentsAreMedia(attachments: String, expected: Bool) async throws {
        try await expect(observed(["attachments": attachments]).post.hasMedia, equals: expected)
    }

    /// An edit gives a post another id; the first one is what it is called everywhere.
    @Test(arguments: ["edit_history_tweet_ids", "edit_history_post_ids"])
    func anEditedPostKeepsItsIdentity(field: String) async throws {
        // Made at 20:00:00, edited at 20:20:00.
        let first = UInt64(1_795_204_800_000 - 1_288_834_974_657) << 22
        let last = first + UInt64(1_200_000) << 22
        var overrides = [
            "edit_history_tweet_ids": "", "created_at": "\"2026-11-20T20:20:00.000Z\"",
        ]
        overrides[field] = #"["\#(first)","\#(last)"]"#
        let post = try await observed(overrides, id: String(last))
        #expect(post.post.id.value == String(first))
        #expect(post.address == String(last))
        #expect(post.post.address == String(last))
        #expect(post.post.createdAt == Date(timeIntervalSince1970: 1_795_204_800))
    }

    /// Who hides posts must not find them learned, and what is not known to be open is not.
    @Test(arguments: [
        ("true", true), ("\"true\"", true), ("false", false), ("", true), ("null", true),
        ("\"perhaps\"", true),
    ])
    func hiddenAuthorsAreLeftAlone(flag: String, isHidden: Bool) async throws {
        let post = try await observed([:], users: [XWire.user("7", "ann", ["protected": flag])])
        #expect(post.post.visibility == (isHidden ? .private : .public))
    }

    /// The account's own posts carry no author where X leaves that out; whose they are is known.
    @Test(arguments: [("false", Visibility.public), ("true", .private), ("", .private)])
    func ownPostsFollowTheAccount(flag: String, visibility: Visibility) async throws {
        let loopback = try XLoopback { request in
            request.path == "/2/users/me"
                ? .json(XWire.answer(XWire.user("42", "mirror", ["protected": flag])))
                : .json(XWire.list([XWire.post("9", ["author_id": #""42""#])], users: []))
        }
        let page = try await loopback.network.page(.ownPosts, .newest)
        #expect(page.items.map(\.author.handle) == ["mirror"])
        #expect(page.items.map(\.post.visibility) == [visibility])
    }

    @Test(
        arguments: [
            ("und", nil), ("zxx", nil), ("qme", nil), ("qst", nil), ("ja", "ja"),
            ("zh-TW", "zh-TW"), ("in", "id"),
            ("iw", "he"), ("english", nil), ("", nil),
        ] as [(String, String?)])
    func languagesThatAreNoneAreLeftOut(tag: String, language: String?) async throws {
        try await expect(observed(["lang": "\"\(tag)\""]).post.language, equals: language)
    }

    @Test(arguments: [
        ("everyone", false, false), ("mentionedUsers", false, true),
        ("mentionedUsers", true, false),
        ("following", false, true), ("subscribers", false, true), ("somethingNew", false, true),
    ])
    func replySettingsAreRespected(settings: String, isMentioned: Bool, isRefused: Bool)
        async throws
    {
        let mentions = isMentioned ? #"{"mentions":[{"id":"42","username":"mirror"}]}"# : ""
        let post = try await observed(["reply_settings": "\"\(settings)\"", "entities": mentions])
        #expect(post.replyNeedsApproval == isRefused)
    }

    @Test(arguments: [
        ["created_at": #""2026-11-20T20:00:00Z""#],
        ["created_at": #""2026-11-20T20:00:00.000+00:00""#],
        ["created_at": #""2026-11-21T05:00:00+09:00""#],
    ])
    func datesComeInSeveralForms(overrides: [String: String]) async throws {
        let post = try await observed(overrides)
        #expect(post.post.createdAt == Date(timeIntervalSince1970: 1_795_204_800))
        #expect(post.post.isTimeTrusted)
    }

    @Test func aMissingDateIsInTheID() async throws {
        let id = UInt64(1_795_204_800_000 - 1_288_834_974_657) << 22
        let timed = try await observed(["created_at": ""], id: String(id))
        #expect(timed.post.createdAt == Date(timeIntervalSince1970: 1_795_204_800))
        #expect(timed.post.isTimeTrusted)
        let untimed = try await observed(["created_at": "\"yesterday\""])
        #expect(untimed.post.createdAt == XLoopback.start)
        #expect(!untimed.post.isTimeTrusted)
    }

    /// What is new in the interface, or odd in one field, hides nothing else.
    @Test func unknownThingsAreNoFailure() async throws {
        let post = try await observed([
            "referenced_tweets": #"[{"type":"reviewed","id":"5"},{"type":"quoted"},null]"#,
            "lang": "7",
            "possibly_sensitive": #""true""#, "entities": #"{"urls":{"a":1},"mentions":"none"}"#,
            "edit_history_tweet_ids": "[7]", "brand_new": #"{"deep":[{"er":null}]}"#,
            "conversation_id": "12",
        ])
        #expect(post.post.text == "text 9")
        #expect(post.post.isSensitive)
        #expect(post.post.id.value == "9")
        #expect(post.conversation == "12")
    }

    /// A long text that cannot be read is not replaced by its first part.
    @Test(arguments: [
        ["note_tweet": "{}"], ["note_post": #"{"text":null}"#], ["text": ""], ["id": #""0x9""#],
    ])
    func whatLacksItsTextIsLeftOut(overrides: [String: String]) async throws {
        let body = XWire.list([XWire.post("9", overrides), XWire.post("8")])
        let loopback = try XLoopback { $0.path == "/2/users/42/mentions" ? .json(body) : nil }
        let page = try await loopback.network.page(.mentions, .newest)
        #expect(page.items.map(\.address) == ["8"])
        #expect(page.unreadable.count == 1)
    }

    @Test(arguments: ["retweeted", "reposted"])
    func repostsAreMarked(type: String) async throws {
        let post = try await observed([
            "referenced_tweets": #"[{"type":"\#(type)","id":"5"}]"#, "in_reply_to_user_id": #""8""#,
        ])
        #expect(post.post.isRepost)
        #expect(post.post.replyTo == nil)
    }

    // MARK: One post

    private func lookUp(_ answer: Answer) async throws -> ObservedPost? {
        let loopback = try XLoopback { $0.path == "/2/tweets/9" ? answer : nil }
        return try await loopback.network.lookUp("9")
    }

    @Test func looksUpAPost() async throws {
        let ann = [XWire.user("7", "ann")]
        for body in [
            XWire.answer(XWire.post("9"), users: ann),
            XWire.answer("[\(XWire.post("9"))]", users: ann),
        ] {
            let post = try #require(try await lookUp(.json(body)))
            #expect(post.address == "9")
            #expect(post.author.handle == "ann")
        }
    }

    @Test(arguments: [
        #"{"errors":[\#(XWire.problem("resource-not-found"))]}"#,
        #"{"errors":[\#(XWire.problem("not-authorized-for-resource"))]}"#,
        #"{"errors":[\#(XWire.problem("resource-unavailable"))],"meta":{"result_count":0}}"#,
        #"{"data":[]}"#, #"{"meta":{"result_count":0}}"#,
        #"{"errors":[{"code":144,"message":"No status"}]}"#,
    ])
    func aPostThatIsGoneIsNil(body: String) async throws {
        try await expect(lookUp(.json(body)), equals: nil)
    }

    @Test func aPostThatIsNotFoundIsNil() async throws {
        try await expect(lookUp(XWire.notFound), equals: nil)
    }

    /// A post that is not there for any other reason is not gone: what depends on it must not be
    /// forgotten.
    @Test(arguments: [
        "{}", #"{"data":null}"#, #"{"data":{"id":"9"}}"#, #"{"data":7}"#, "[]",
        #"{"errors":[\#(XWire.problem("internal-error"))]}"#,
        #"{"errors":[\#(XWire.problem("brand-new"))]}"#,
        #"{"errors":["odd"]}"#,
    ])
    func anOddAnswerIsNotTheEndOfAPost(body: String) async throws {
        await #expect(throws: NetworkError.self) { _ = try await lookUp(.json(body)) }
    }

    /// What a proxy does not find may be there behind it.
    @Test(arguments: [404, 410]) func aProxysWordIsNotTheEndOfAPost(status: Int) async throws {
        for body in ["<html>not found</html>", "", "{}"] {
            let answer = Answer(status: status, body: body)
            let error = try await #require(throws: NetworkError.self) {
                _ = try await lookUp(answer)
            }
            #expect(!error.isPermanent)
            let deleting = try await XLoopback.failure(answer, .delete)
            #expect(deleting.code == .malformedResponse)
        }
    }

    @Test func conversationsAreTold() async throws {
        let loopback = try XLoopback { request in
            switch request.path {
            case "/2/tweets/9":
                .json(
                    XWire.answer(
                        XWire.post("9", ["conversation_id": #""3""#]),
                        users: [XWire.user("7", "ann")]))
            case "/2/tweets/8": .json(#"{"errors":[\#(XWire.problem("resource-not-found"))]}"#)
            default: nil
            }
        }
        var post = try await observed([:])
        try await expect(loopback.network.conversation(of: post), equals: "9")
        post.conversation = nil
        try await expect(loopback.network.conversation(of: post), equals: "9")
        #expect(loopback.server.requests.isEmpty)
        post.replyToAddress = "3"
        try await expect(loopback.network.conversation(of: post), equals: "3")
        post.address = "8"
        try await expect(loopback.network.conversation(of: post), equals: nil)
    }

    @Test(arguments: ["", "..", "a b", "9/../8", "-9", "9?x=1"])
    func addressesThatAreNoIDsAreNotAskedFor(address: String) async throws {
        let loopback = try XLoopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.lookUp(address)
        }
        #expect(error.outcome == .notSent)
        #expect(loopback.server.requests.isEmpty)
    }
}
