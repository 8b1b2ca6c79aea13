import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Networks

@Suite struct BlueskyPostTests {
    /// The post that a timeline gives for a view.
    private func post(_ view: String, profiles: String = #"{"profiles":[]}"#) async throws
        -> ObservedPost
    {
        let loopback = try BlueskyLoopback { request in
            if request.method("app.bsky.actor.getProfiles") { return .json(profiles) }
            return request.method("app.bsky.feed.getTimeline")
                ? .json(BlueskyJSON.page("feed", [BlueskyJSON.item(view)])) : nil
        }
        return try #require(try await loopback.network.page(.home, .newest).items.first)
    }

    private func post(record: [String: String], _ view: [String: String] = [:]) async throws
        -> ObservedPost
    {
        try await post(BlueskyJSON.view("a", BlueskyJSON.record("hello", record), view))
    }

    @Test func hasEverythingThatTheServerTells() async throws {
        let facets =
            #"[{"index":{"byteStart":4,"byteEnd":8},"features":[{"$type":"app.bsky.richtext.facet#link","uri":"https://a.example/long"}]},{"index":{"byteStart":9,"byteEnd":13},"features":[{"$type":"app.bsky.richtext.facet#mention","did":"did:plc:bob"}]},{"index":{"byteStart":99,"byteEnd":200},"features":[{"$type":"x#new"}]}]"#
        let record = BlueskyJSON.record(
            "see a.ex @bob",
            [
                "facets": facets, "reply": BlueskyJSON.reply(to: "parent", root: "root"),
                "langs": #"["","pt-BR","en"]"#,
            ])
        let observed = try await post(
            BlueskyJSON.view(
                "a", record, ["viewer": #"{"like":"at://x/y/z","replyDisabled":true}"#]))
        let ann = AccountID(network: .bluesky, value: "did:plc:ann")
        let parent = BlueskyJSON.uri("parent", by: BlueskyLoopback.did)
        #expect(
            observed.post
                == Post(
                    id: PostID(network: .bluesky, value: BlueskyJSON.uri("a")), author: ann,
                    text: "see https://a.example/long @bob",
                    createdAt: Date(timeIntervalSince1970: 1_795_204_800),
                    replyTo: ReplyTarget(
                        author: AccountID(network: .bluesky, value: BlueskyLoopback.did),
                        post: PostID(network: .bluesky, value: parent)),
                    visibility: .public, language: "pt-BR",
                    mentions: [AccountID(network: .bluesky, value: "did:plc:bob")],
                    address: "\(BlueskyJSON.uri("a")) \(BlueskyJSON.cid)"))
        #expect(observed.address == observed.post.address)
        #expect(observed.replyToAddress == "\(parent) \(BlueskyJSON.cid)")
        #expect(observed.conversation == BlueskyJSON.uri("root", by: BlueskyLoopback.did))
        #expect(observed.isFavorited)
        #expect(observed.replyNeedsApproval)
        #expect(!observed.favoriteNeedsApproval)
        #expect(observed.author.handle == "ann.example")
        #expect(observed.author.displayName == "Name of ann.example")
        #expect(observed.author.address == "did:plc:ann")
    }

    @Test(arguments: [
        (#""app.bsky.embed.images""#, true), (#""app.bsky.embed.video""#, true),
        (#""app.bsky.embed.external""#, false), (#""app.bsky.embed.record""#, true),
        (#""app.bsky.embed.recordWithMedia""#, true), (#""app.bsky.embed.poll9""#, true),
        ("7", true),
    ])
    func knowsMedia(type: String, hasMedia: Bool) async throws {
        let post = try await post(record: ["embed": #"{"$type":\#(type)}"#]).post
        #expect(post.hasMedia == hasMedia)
        #expect(post.isQuote == type.contains("embed.record"))
    }

    @Test func nothingEmbeddedIsNoMedia() async throws {
        try await expect(post(record: ["embed": "null"]).post) { !$0.hasMedia }
        try await expect(post(record: [:]).post) { !$0.hasMedia }
    }

    @Test func warningsOfAuthorAndServicesCount() async throws {
        func own(_ value: String) -> [String: String] {
            [
                "labels":
                    #"{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"\#(value)"}]}"#
            ]
        }
        try await expect(post(record: own("porn")).post) { $0.isSensitive }
        try await expect(post(record: own("some-new-warning")).post) { $0.isSensitive }
        try await expect(post(record: own("bot")).post) { !$0.isSensitive }
        let service = #"[{"src":"did:plc:labeler","val":"graphic-media"}]"#
        try await expect(post(record: [:], ["labels": service]).post) { $0.isSensitive }
        let negated = #"[{"src":"did:plc:labeler","val":"graphic-media","neg":true}]"#
        try await expect(post(record: [:], ["labels": negated]).post) { !$0.isSensitive }
        try await expect(
            post(record: [:], ["labels": #"[{"src":"did:plc:labeler","val":"verified"}]"#]).post
        ) {
            !$0.isSensitive
        }
    }

    /// Labels of a post that begin with `!` are about who sees it, and those of its author count.
    @Test(arguments: [
        ("!no-unauthenticated", Visibility.private), ("!hide", .direct), ("bot", .public),
    ])
    func aLabelOfThePostNarrowsIt(label: String, expected: Visibility) async throws {
        let labels =
            #"{"$type":"com.atproto.label.defs#selfLabels","values":[{"val":"\#(label)"}]}"#
        let observed = try await post(record: ["labels": labels], [:])
        #expect(observed.post.visibility == expected)
    }

    @Test func onlyTheAuthorsOwnLabelsSayWhoTheAuthorIs() async throws {
        func author(_ labels: String) -> [String: String] {
            ["author": BlueskyJSON.author("did:plc:ann", "ann.example", ["labels": labels])]
        }
        let bot = try await post(record: [:], author(#"[{"src":"did:plc:ann","val":"bot"}]"#))
        #expect(bot.author.isBot)
        let said = try await post(
            record: [:],
            author(
                #"[{"src":"did:plc:eve","val":"bot"},{"src":"did:plc:ann","val":"bot","neg":true}]"#
            ))
        #expect(!said.author.isBot)
        let hidden = try await post(
            record: [:], author(#"[{"src":"did:plc:ann","val":"!no-unauthenticated"}]"#))
        #expect(hidden.post.visibility == .private)
        let foreign = try await post(
            record: [:], author(#"[{"src":"did:plc:eve","val":"!no-unauthenticated"}]"#))
        #expect(foreign.post.visibility == .public)
    }

    @Test func biosAreAskedForOnceADay() async throws {
        let clock = Box(BlueskyLoopback.start)
        let profile = BlueskyJSON.author(
            "did:plc:ann", "ann.example", ["description": #""I like tea\n#nobot""#])
        let loopback = try BlueskyLoopback(now: { clock.value }) { request in
            if request.method("app.bsky.actor.getProfiles") {
                return .json(#"{"profiles":[\#(profile)]}"#)
            }
            return request.method("app.bsky.feed.getTimeline")
                ? .json(BlueskyJSON.page("feed", [BlueskyJSON.item(BlueskyJSON.view("a"))])) : nil
        }
        for _ in 0..<2 {
            let page = try await loopback.network.page(.home, .newest)
            #expect(page.items.first?.author.bio == "I like tea\n#nobot")
        }
        #expect(loopback.count("app.bsky.actor.getProfiles") == 1)
        let question = try #require(
            loopback.requests.first { $0.method("app.bsky.actor.getProfiles") })
        #expect(question.values("actors") == ["did:plc:ann"])
        clock.value += 86_401
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count("app.bsky.actor.getProfiles") == 2)
        // What was kept by a clock that ran ahead is not kept for so long.
        clock.value -= 3 * 86_400
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count("app.bsky.actor.getProfiles") == 3)
    }

    /// Without knowing who opted out, nothing of theirs may be learned; a server that cannot tell
    /// at all is another matter.
    @Test func aPageIsNotGivenWithoutItsBios() async throws {
        for (answer, isGiven) in [
            (Answer.xrpc("MethodNotImplemented", status: 501), true),
            (.xrpc("XRPCNotSupported", status: 404), true),
            (.xrpc("UpstreamFailure", status: 502), false),
            (Answer(status: 404, body: "<html>"), false),
        ] {
            let loopback = try BlueskyLoopback { request in
                if request.method("app.bsky.actor.getProfiles") { return answer }
                return request.method("app.bsky.feed.getTimeline")
                    ? .json(BlueskyJSON.page("feed", [BlueskyJSON.item(BlueskyJSON.view("a"))]))
                    : nil
            }
            let page = try? await loopback.network.page(.home, .newest)
            #expect((page != nil) == isGiven)
        }
    }

    @Test(arguments: [
        // As it is, also when it was written long before the server saw it.
        (#""2026-11-20T19:00:00.123Z""#, "2026-11-20T19:00:00.123Z", true),
        (#""2019-01-01T00:00:00+09:00""#, "2018-12-31T15:00:00.000Z", true),
        // A clock that is a little fast, and a date that is none.
        (#""2026-11-20T20:05:00Z""#, "2026-11-20T20:00:01.000Z", true),
        (#""2099-01-01T00:00:00Z""#, "2026-11-20T20:00:01.000Z", false),
        (#""yesterday""#, "2026-11-20T20:00:01.000Z", false),
        ("null", "2026-11-20T20:00:01.000Z", false),
        ("1700000000", "2026-11-20T20:00:01.000Z", false),
    ])
    func datesAreNotFromTheFuture(written: String, expected: String, isTrusted: Bool) async throws {
        let post = try await post(record: ["createdAt": written]).post
        #expect(post.createdAt.rfc3339 == expected)
        #expect(post.isTimeTrusted == isTrusted)
        #expect(post.utcOffset == (written.contains("+09:00") ? 540 : nil))
    }

    @Test func aRecordWithoutADateIsDatedByItsKey() async throws {
        let element = BlueskyJSON.listed(
            "3ke6kg3wk2222", BlueskyJSON.record("x", ["createdAt": ""]))
        let loopback = try BlueskyLoopback { request in
            request.method("com.atproto.repo.listRecords")
                ? .json(BlueskyJSON.records([element])) : nil
        }
        let post = try #require(try await loopback.network.page(.ownPosts, .newest).items.first)
            .post
        #expect(post.createdAt == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(!post.isTimeTrusted)
    }

    @Test(arguments: [
        "{}", #"{"root":{}}"#,
        #"{"parent":{"uri":"at://ann.example/app.bsky.feed.post/a","cid":"c"}}"#, "7", "[]",
    ])
    func aReplyToNobodyKnownIsAReplyStill(reply: String) async throws {
        let observed = try await post(record: ["reply": reply])
        #expect(observed.post.replyTo == ReplyTarget(author: nil))
        #expect(observed.replyToAddress == nil)
    }

    @Test func aReplyWithoutARootBelongsToItsParent() async throws {
        let observed = try await post(record: [
            "reply": #"{"parent":\#(BlueskyJSON.reference("p"))}"#
        ])
        #expect(observed.conversation == BlueskyJSON.uri("p"))
        #expect(observed.replyToAddress == "\(BlueskyJSON.uri("p")) \(BlueskyJSON.cid)")
    }

    @Test func blockedAuthorsAreNotAnswered() async throws {
        for viewer in [
            #"{"blockedBy":true}"#, #"{"blocking":"at://did:plc:x/app.bsky.graph.block/a"}"#,
        ] {
            let author = BlueskyJSON.author("did:plc:ann", "ann.example", ["viewer": viewer])
            let observed = try await post(record: [:], ["author": author])
            #expect(observed.replyNeedsApproval)
            #expect(observed.favoriteNeedsApproval)
        }
    }

    @Test func aHandleThatIsNoneIsReplacedByTheDID() async throws {
        for handle in ["handle.invalid", "", "no handle"] {
            let observed = try await post(
                record: [:], ["author": BlueskyJSON.author("did:plc:ann", handle)])
            #expect(observed.author.handle == "did:plc:ann")
        }
    }

    @Test func looksUpOthersPostsWhereEverybodysAre() async throws {
        let loopback = try BlueskyLoopback { request in
            guard request.method("app.bsky.feed.getPosts") else { return nil }
            let isThere = request.values("uris") == [BlueskyJSON.uri("a")]
            return .json(BlueskyJSON.page("posts", isThere ? [BlueskyJSON.view("a")] : []))
        }
        let found = try await loopback.network.lookUp("\(BlueskyJSON.uri("a")) \(BlueskyJSON.cid)")
        #expect(found?.post.id.value == BlueskyJSON.uri("a"))
        try await expect(
            loopback.network.lookUp("\(BlueskyJSON.uri("b")) \(BlueskyJSON.cid)"), equals: nil)
        try await expect(
            loopback.network.isFavorited("\(BlueskyJSON.uri("a")) \(BlueskyJSON.cid)"),
            equals: false)
        try await expect(
            loopback.network.isFavorited("\(BlueskyJSON.uri("b")) \(BlueskyJSON.cid)"), equals: nil)
    }

    @Test func looksUpItsOwnPostsWhereTheyAre() async throws {
        let loopback = try BlueskyLoopback { request in
            guard request.method("com.atproto.repo.getRecord") else { return nil }
            return request.query["rkey"] == "a"
                ? .json(BlueskyJSON.listed("a"))
                : .xrpc("RecordNotFound", "Could not locate record")
        }
        let uri = BlueskyJSON.uri("a", by: BlueskyLoopback.did)
        let found = try #require(try await loopback.network.lookUp("\(uri) \(BlueskyJSON.cid)"))
        #expect(found.post.id.value == uri)
        #expect(found.author.handle == BlueskyLoopback.handle)
        try await expect(loopback.network.conversation(of: found), equals: uri)
        let gone = BlueskyJSON.uri("b", by: BlueskyLoopback.did)
        try await expect(loopback.network.lookUp("\(gone) \(BlueskyJSON.cid)"), equals: nil)
        // One of an archive is asked for by its identity, which does not hold a digest.
        func known(_ uri: String) -> PostID { PostID(network: .bluesky, value: uri) }
        try await expect(
            loopback.network.lookUp(identity: known(uri))?.address, equals: found.address)
        try await expect(loopback.network.lookUp(identity: known(gone)), equals: nil)
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.lookUp(identity: known("https://a.example/1"))
        }
        #expect(error.code == .capability)
    }

    /// What a proxy or a broken server says is no proof that a post is gone.
    @Test(arguments: [
        Answer(status: 404, body: "<html>Not Found</html>"), Answer(status: 404),
        Answer(status: 410, body: "gone"),
        .xrpc("InvalidRequest", "Could not find repo: did:plc:x"), .json("{}"),
        .json(#"{"posts":null}"#),
        .json(BlueskyJSON.page("posts", [BlueskyJSON.view("a", "7")])),
        .xrpc("NotFound", status: 404),
    ])
    func onlyAClearAnswerSaysGone(answer: Answer) async throws {
        let loopback = try BlueskyLoopback { request in
            request.path.contains("getPosts") || request.path.contains("getRecord") ? answer : nil
        }
        for did in ["did:plc:ann", BlueskyLoopback.did] {
            let address = "\(BlueskyJSON.uri("a", by: did)) \(BlueskyJSON.cid)"
            await #expect(throws: NetworkError.self) {
                _ = try await loopback.network.lookUp(address)
            }
        }
    }

    @Test(arguments: [
        "", "9", "at://did:plc:ann/app.bsky.feed.post/a", "at://did:plc:ann/app.bsky.feed.post/a ",
        "at://did:plc:ann/app.bsky.feed.post/a cid extra",
        "at://ann.example/app.bsky.feed.post/a cid",
        "at://did:plc:ann/app.bsky.feed.post/.. cid", "at://did:plc:ann/app.bsky.feed.post cid",
        "at://did:plc:ann/app.bsky.feed.like/a cid", "https://bsky.app/profile/x cid",
        "at://did:plc:ann/app.bsky.feed.post/a c\"d",
    ])
    func addressesOfOtherKindsAreNotSent(address: String) async throws {
        let loopback = try BlueskyLoopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.lookUp(address)
        }
        #expect(error.code == .rejected)
        #expect(error.outcome == .notSent)
        #expect(loopback.requests.isEmpty)
    }

    @Test func verifiesWhoseSessionItIs() async throws {
        let profile = BlueskyJSON.author(
            BlueskyLoopback.did, BlueskyLoopback.handle,
            [
                "description": #""run by @ann""#,
                "labels": #"[{"src":"\#(BlueskyLoopback.did)","val":"bot"}]"#,
            ])
        let loopback = try BlueskyLoopback { request in
            request.method("app.bsky.actor.getProfile") ? .json(profile) : nil
        }
        let account = try await loopback.network.verifyAccount()
        #expect(
            account
                == Account(
                    id: AccountID(network: .bluesky, value: BlueskyLoopback.did),
                    handle: BlueskyLoopback.handle,
                    displayName: "Name of \(BlueskyLoopback.handle)", isBot: true,
                    bio: "run by @ann",
                    address: BlueskyLoopback.did))
        try await expect(loopback.network.limits(), equals: .bluesky)
    }

    @Test(arguments: [
        (
            #"{"did":"did:plc:botbotbotbotbotbotbotbot","active":false,"status":"takendown"}"#,
            "account-disabled"
        ),
        (#"{"did":"did:plc:somebodyelse","active":true}"#, "configuration"),
        ("{}", "malformed-response"),
    ])
    func anotherSessionIsNotTaken(body: String, code: String) async throws {
        let loopback = try BlueskyLoopback { request in
            request.method("com.atproto.server.getSession") ? .json(body) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.verifyAccount()
        }
        #expect(error.code.rawValue == code)
    }
}
