import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

@Suite struct MastodonPostTests {
    /// The post that the server sends for `fields`, as the network makes it.
    private func post(_ fields: [String: String]) async throws -> ObservedPost {
        let loopback = try Loopback {
            $0.path == "/api/v1/statuses/5" ? .json(Wire.status("5", fields)) : nil
        }
        _ = try await loopback.network.verifyAccount()
        return try #require(try await loopback.network.lookUp("5"))
    }

    @Test func readsAnOrdinaryPost() async throws {
        let observed = try await post([:])
        let author = Account(
            id: AccountID(network: .mastodon, value: "ann@home.example"),
            handle: "ann@home.example",
            displayName: "Name of ann", bio: "note", address: "7")
        let post = Post(
            id: PostID(network: .mastodon, value: "https://home.example/users/ann/statuses/5"),
            author: author.id,
            text: "text 5", createdAt: Date(timeIntervalSince1970: 1_795_204_800),
            visibility: .public, language: "en",
            address: "5")
        #expect(observed == ObservedPost(post: post, author: author, address: "5"))
    }

    @Test func readsAReplyAsMastodonSendsIt() async throws {
        let observed = try await post([
            "content":
                #""<p><span class=\"h-card\" translate=\"no\"><a href=\"https://far.example/@Bob\" class=\"u-url "#
                + #"mention\">@<span>Bob</span></a></span> <span class=\"h-card\"><a href=\"https://home.example/@bot\" "#
                + #"class=\"u-url mention\">@<span>bot</span></a></span> look: <a href=\"https://e.org/a?b=1&amp;c=2\" "#
                + #"rel=\"nofollow noopener\"><span class=\"invisible\">https://</span><span class=\"\">e.org/a?b=1&amp;c=2"#
                + #"</span><span class=\"invisible\"></span></a> &lt;3</p><p>日本語 &amp;amp;</p>""#,
            "mentions":
                #"[{"id":"8","username":"Bob","url":"https://far.example/@Bob","acct":"Bob@far.example"},"#
                + #"{"id":"1","username":"bot","url":"https://home.example/@bot","acct":"bot"},{"id":"9"},null]"#,
            "in_reply_to_id": "\"4\"", "in_reply_to_account_id": "\"8\"",
            "visibility": "\"unlisted\"",
            "language": "\"ja\"", "favourited": "true",
        ])
        #expect(
            observed.post.text
                == "@Bob@far.example @bot@home.example look: https://e.org/a?b=1&c=2 <3\n\n日本語 &amp;"
        )
        #expect(
            observed.post.replyTo
                == ReplyTarget(author: AccountID(network: .mastodon, value: "bob@far.example")))
        #expect(observed.replyToAddress == "4")
        #expect(observed.post.mentions.map(\.value) == ["bob@far.example", "bot@home.example"])
        #expect(observed.post.visibility == .unlisted)
        #expect(observed.post.language == "ja")
        #expect(observed.isFavorited)
    }

    @Test(arguments: [
        // The identity is the address that all servers know.
        (["uri": "\"https://far.example/o/1\""], "https://far.example/o/1"),
        (["uri": "null"], "https://home.example/@ann/5"),
        (["uri": ""], "https://home.example/@ann/5"),
        (["uri": "\"\""], "https://home.example/@ann/5"),
        (["uri": "\"a b\""], "https://home.example/@ann/5"),
        (["uri": "\"tag:far.example,2026:x=1\""], "tag:far.example,2026:x=1"),
        (["url": "null"], "https://home.example/users/ann/statuses/5"),
    ])
    func identityIsGlobal(fields: [String: String], expected: String) async throws {
        try await expect(post(fields).post.id, equals: PostID(network: .mastodon, value: expected))
    }

    @Test(arguments: [
        ("\"public\"", Visibility.public), ("\"unlisted\"", .unlisted), ("\"private\"", .private),
        ("\"direct\"", .direct), ("\"mutuals_only\"", .direct), ("\"local\"", .local),
        ("\"list\"", .direct),
        ("\"PUBLIC\"", .direct), ("null", .direct), ("", .direct), ("7", .direct), ("[]", .direct),
    ])
    func unknownVisibilityIsNarrow(wire: String, expected: Visibility) async throws {
        try await expect(post(["visibility": wire]).post.visibility, equals: expected)
    }

    @Test(arguments: [
        (["media_attachments": "[{}]"], true, false), (["media_attachments": "null"], false, false),
        (["media_attachments": ""], false, false), (["poll": "{\"id\":\"1\"}"], true, false),
        (["card": "{\"url\":\"https://e.org\"}"], false, false),
        (["sensitive": "true"], false, true),
        (["spoiler_text": "\"cw\""], false, true), (["spoiler_text": "\" \""], false, false),
        (["spoiler_text": "null", "sensitive": "null"], false, false),
    ])
    func noticesMediaAndWarnings(fields: [String: String], media: Bool, sensitive: Bool)
        async throws
    {
        let post = try await post(fields).post
        #expect(post.hasMedia == media)
        #expect(post.isSensitive == sensitive)
    }

    @Test(arguments: [
        (["reblog": Wire.status("4")], true), (["reblog": "{}"], true), (["reblog": ""], false),
        (["reblog": "null"], false),
        (["reblog": Wire.status("4"), "content": "\"\"", "text": "null"], true),
    ])
    func noticesReposts(fields: [String: String], expected: Bool) async throws {
        try await expect(post(fields).post.isRepost, equals: expected)
    }

    @Test(arguments: [
        // To oneself, to who is named, to who is not named, to who is told by Pleroma only, with
        // numbers for ids.
        (["in_reply_to_id": "\"4\"", "in_reply_to_account_id": "\"7\""], "ann@home.example"),
        (["in_reply_to_id": "\"4\"", "in_reply_to_account_id": "\"8\""], "bob@far.example"),
        (["in_reply_to_id": "\"4\"", "in_reply_to_account_id": "\"99\""], nil),
        (["in_reply_to_id": "\"4\"", "in_reply_to_account_id": "null"], nil),
        (["in_reply_to_id": "null", "in_reply_to_account_id": "\"8\""], "bob@far.example"),
        (
            [
                "in_reply_to_id": "\"4\"", "in_reply_to_account_id": "\"99\"",
                "pleroma": #"{"in_reply_to_account_acct":"Cy@c.example"}"#,
            ], "cy@c.example"
        ),
        (["in_reply_to_id": "4", "in_reply_to_account_id": "8"], "bob@far.example"),
    ])
    func tellsWhoIsAnswered(fields: [String: String], author: String?) async throws {
        let mentions =
            #"[{"id":"8","username":"bob","url":"https://far.example/@bob","acct":"Bob@far.example"}]"#
        let post = try await post(fields.merging(["mentions": mentions]) { $1 }).post
        #expect(post.isReply)
        #expect(post.replyTo?.author?.value == author)
    }

    @Test func repliesWithinAPageKnowTheirParent() async throws {
        let page = Wire.list([
            Wire.status("6", ["in_reply_to_id": "\"5\"", "in_reply_to_account_id": "\"7\""]),
            Wire.status("5"),
            Wire.status("3", ["in_reply_to_id": "\"2\"", "in_reply_to_account_id": "\"7\""]),
        ])
        let loopback = try Loopback { $0.path == "/api/v1/timelines/home" ? .json(page) : nil }
        let items = try await loopback.network.page(.home, .newest).items
        // The addresses of an account's posts differ in their numbers alone.
        let earlier = PostID(network: .mastodon, value: items[2].post.id.value.dropLast() + "2")
        #expect(items.map(\.post.replyTo?.post) == [items[1].post.id, nil, earlier])
        #expect(items.map(\.post.isReply) == [true, false, true])
    }

    /// Whether what a new reply of the human's answers can be asked for, and what follows for the
    /// page.
    @Test(
        arguments: [
            (
                Answer.json(
                    Wire.status("4", ["account": Wire.account("8", acct: "bob@far.example")])), true
            ),
            (Answer.notFound, false), (Answer(status: 500), false),
        ])
    func whatANewReplyAnswersIsAskedForOnce(answer: Answer, isKnown: Bool) async throws {
        let own = Wire.account("1", acct: "bot")
        let mentions =
            #"[{"id":"8","username":"bob","url":"https://far.example/@bob","acct":"bob@far.example"}]"#
        let reply = Wire.status(
            "9",
            [
                "account": own, "in_reply_to_id": "\"4\"", "in_reply_to_account_id": "\"8\"",
                "mentions": mentions,
            ])
        let thread = Wire.status(
            "8", ["account": own, "in_reply_to_id": "\"3\"", "in_reply_to_account_id": "\"1\""])
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v1/accounts/1/statuses":
                request.target.contains("min_id=9")
                    ? .json("[]") : .json(Wire.list([reply, thread]))
            case "/api/v1/statuses/4": answer
            default: nil
            }
        }
        let old = try await loopback.network.page(.ownPosts, .newest).items
        let earlier = old.last.map {
            PostID(network: .mastodon, value: $0.post.id.value.dropLast() + "3")
        }
        #expect(old.map(\.post.replyTo?.post) == [nil, earlier])
        expect(loopback.requests.map(\.path)) { !$0.contains("/api/v1/statuses/4") }
        for _ in 0..<2 {
            let new = try await loopback.network.page(.ownPosts, .newer(than: "7")).items
            let parent = new.first?.post.replyTo?.post?.value
            #expect((parent?.hasSuffix("/statuses/4") ?? false) == isKnown)
            #expect(new.first?.post.replyTo?.author?.value == "bob@far.example")
        }
        // The human's own threads are no answers to others.
        expect(loopback.requests.map(\.path)) { !$0.contains("/api/v1/statuses/3") }
        let asked = loopback.requests.count { $0.path == "/api/v1/statuses/4" }
        #expect(asked == (answer.status == 200 || answer.status == 404 ? 1 : 2))
    }

    @Test(
        arguments: [
            ("\"2026-11-20T20:00:00.000Z\"", 1_795_204_800, true),
            ("\"2026-11-20T20:00:00Z\"", 1_795_204_800, true),
            ("\"2026-11-20T21:00:00+01:00\"", 1_795_204_800, true), ("\"\"", 1_795_208_400, false),
            ("null", 1_795_208_400, false), ("", 1_795_208_400, false),
            ("\"tomorrow\"", 1_795_208_400, false),
            ("1795204800", 1_795_208_400, false),
        ] as [(String, TimeInterval, Bool)])
    func readsTimes(wire: String, expected: TimeInterval, isTrusted: Bool) async throws {
        let post = try await post(["created_at": wire]).post
        #expect(post.createdAt == Date(timeIntervalSince1970: expected))
        #expect(post.isTimeTrusted == isTrusted)
    }

    @Test(
        arguments: [
            ("\"en\"", "en"), ("\"zh-TW\"", "zh-TW"), ("\"\"", nil), ("null", nil),
            ("\"english\"", nil),
            ("\"e n\"", nil),
            ("\"en\\u0000\"", nil), ("7", nil),
        ] as [(String, String?)])
    func readsLanguages(wire: String, expected: String?) async throws {
        try await expect(post(["language": wire]).post.language, equals: expected)
    }

    @Test(arguments: [
        // No policy, the two forms of GoToSocial, a policy for followers only, nobody, the
        // mentioned ones.
        ("", "[]", false, false), ("null", "[]", false, false), ("{}", "[]", false, false),
        (
            #"{"can_favourite":{"always":["public","me"],"with_approval":[]},"can_reply":{"always":["followers"]}}"#,
            "[]",
            false, true
        ),
        (
            #"{"can_favourite":{"automatic_approval":[],"manual_approval":["public"]},"can_reply":{}}"#,
            "[]", true,
            false
        ),
        (#"{"can_reply":{"always":["author","me"]}}"#, "[]", false, false),
        (#"{"can_reply":{"always":["author","mentioned"]}}"#, "[]", false, true),
        (
            #"{"can_reply":{"always":["author","mentioned"]}}"#, #"[{"id":"1","acct":"bot"}]"#,
            false, false
        ),
    ])
    func readsWhatNeedsApproval(policy: String, mentions: String, favorite: Bool, reply: Bool)
        async throws
    {
        let post = try await post(["interaction_policy": policy, "mentions": mentions])
        #expect(post.favoriteNeedsApproval == favorite)
        #expect(post.replyNeedsApproval == reply)
    }

    @Test(arguments: [404, 410])
    func aPostThatIsGoneIsNil(status: Int) async throws {
        let loopback = try Loopback { request in
            request.path.hasPrefix("/api/v1/statuses/")
                ? .json(#"{"error":"Record not found"}"#, status: status) : nil
        }
        try await expect(loopback.network.lookUp("5"), equals: nil)
        try await expect(loopback.network.isFavorited("5"), equals: nil)
    }

    @Test(arguments: ["true", "false"])
    func tellsWhetherAPostIsFavorited(wire: String) async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/statuses/5"
                ? .json(Wire.status("5", ["favourited": wire])) : nil
        }
        try await expect(loopback.network.isFavorited("5"), equals: (wire == "true"))
    }

    /// What cannot be read must not be taken for deleted.
    @Test(arguments: ["{}", #"{"id":"5"}"#, "<html>", ""])
    func aPostThatCannotBeReadIsNotGone(body: String) async throws {
        let loopback = try Loopback { $0.path == "/api/v1/statuses/5" ? .json(body) : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.lookUp("5")
        }
        #expect(error.code == .malformedResponse)
    }

    @Test func addressesArePartsOfThePath() async throws {
        let loopback = try Loopback { $0.path.hasPrefix("/api/v1/statuses/") ? .notFound : nil }
        _ = try await loopback.network.lookUp("a/b?c=d#e%é")
        #expect(loopback.requests.map(\.target) == ["/api/v1/statuses/a%2Fb%3Fc%3Dd%23e%25%C3%A9"])
        for address in ["", ".", "..", "a\r\nb", "a b"] {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.lookUp(address)
            }
            #expect(error.code == .rejected)
            #expect(error.outcome == .notSent)
        }
        #expect(loopback.requests.count == 1)
    }

    @Test func aConversationIsItsFirstPost() async throws {
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v1/statuses/5/context":
                .json(
                    #"{"ancestors":[\#(Wire.status("1")),\#(Wire.status("4"))],"descendants":[]}"#)
            case "/api/v1/statuses/9/context":
                .json(
                    #"{"ancestors":[\#(Wire.status("4", ["in_reply_to_id": "\"1\""])),\#(Wire.status("1"))]}"#
                )
            case "/api/v1/statuses/6/context":
                .json(#"{"ancestors":[],"descendants":[\#(Wire.status("7"))]}"#)
            case "/api/v1/statuses/8/context": .notFound
            default: nil
            }
        }
        func conversation(_ id: String, replyTo: String?) async throws -> String? {
            let post = Post(
                id: PostID(network: .mastodon, value: "https://h/\(id)"),
                author: .mastodon("a", localHost: "h"),
                text: "", createdAt: Loopback.start)
            let author = Account(id: post.author, handle: "a@h")
            return try await loopback.network.conversation(
                of: ObservedPost(post: post, author: author, address: id, replyToAddress: replyTo))
        }
        try await expect(conversation("2", replyTo: nil), equals: "https://h/2")
        #expect(loopback.requests.isEmpty)
        try await expect(
            conversation("5", replyTo: "4"), equals: "https://home.example/users/ann/statuses/1")
        try await expect(
            conversation("9", replyTo: "4"), equals: "https://home.example/users/ann/statuses/1")
        try await expect(conversation("6", replyTo: "gone"), equals: "https://h/6")
        try await expect(conversation("8", replyTo: "4"), equals: nil)
    }
}
