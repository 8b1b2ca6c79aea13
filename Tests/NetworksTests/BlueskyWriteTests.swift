import Expectations
import Formats
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Bluesky
@testable import Networks

@Suite struct BlueskyWriteTests {
    private static let put = "com.atproto.repo.putRecord"
    private static let address = "\(BlueskyJSON.uri("a")) \(BlueskyJSON.cid)"

    private func draft(
        _ text: String = "text", replyTo: String? = nil, language: String? = nil,
        key: String = "k-1",
        visibility: Visibility = .unlisted
    ) -> Draft {
        Draft(
            text: text, replyTo: replyTo, visibility: visibility, language: language, key: key,
            createdAt: BlueskyLoopback.start)
    }

    private static let favorite = FavoriteDraft(
        address: address, key: "favorite-key", createdAt: BlueskyLoopback.start)

    /// What a server that follows the rules answers to a put.
    @Sendable private static func written(_ request: LoopbackServer.Request) -> Answer? {
        guard request.method(put), let key = request.field("rkey"),
            let collection = request.field("collection")
        else { return nil }
        let uri = BlueskyJSON.uri(key, by: BlueskyLoopback.did, collection)
        return .json(
            #"{"uri":"\#(uri)","cid":"bafynew","commit":{"cid":"c","rev":"r"},"validationStatus":"valid"}"#
        )
    }

    /// A server that has one post, for replies and favorites.
    private static func serving(_ view: String) -> @Sendable (LoopbackServer.Request) -> Answer? {
        { request in
            guard request.method("app.bsky.feed.getPosts") else { return written(request) }
            return .json(BlueskyJSON.page("posts", view.isEmpty ? [] : [view]))
        }
    }

    private func error(of loopback: BlueskyLoopback, _ draft: Draft) async throws -> NetworkError {
        try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(draft)
        }
    }

    @Test func publishesExactlyOnceAndExactlyThis() async throws {
        let loopback = try BlueskyLoopback(answer: Self.written)
        let draft = draft(
            "line 1\n\"quoted\" / 日本語 #tag https://a.example/b", language: "ja", visibility: .public
        )
        let published = try await loopback.network.publish(draft)
        let key = TimestampID(createdAt: BlueskyLoopback.start, key: "k-1").description
        let uri = BlueskyJSON.uri(key, by: BlueskyLoopback.did)
        #expect(
            published
                == PublishedPost(
                    id: PostID(network: .bluesky, value: uri), address: "\(uri) bafynew",
                    createdAt: BlueskyLoopback.start))
        let request = try #require(loopback.requests.first)
        #expect(loopback.requests.count == 1)
        #expect(request.method == "POST")
        #expect(request.target == "/xrpc/com.atproto.repo.putRecord")
        #expect(request.header("Authorization") == "Bearer \(BlueskyLoopback.access)")
        #expect(request.header("Content-Type") == "application/json")
        #expect(request.header("User-Agent") == "mirror-bot-tests")
        let facets =
            #"[{"features":[{"$type":"app.bsky.richtext.facet#tag","tag":"tag"}],"index":{"byteEnd":32,"byteStart":28}},{"features":[{"$type":"app.bsky.richtext.facet#link","uri":"https://a.example/b"}],"index":{"byteEnd":52,"byteStart":33}}]"#
        #expect(
            request.bodyText
                == #"{"collection":"app.bsky.feed.post","record":{"$type":"app.bsky.feed.post","createdAt":"2026-11-20T21:00:00.000Z","facets":\#(facets),"langs":["ja"],"text":"line 1\n\"quoted\" / 日本語 #tag https://a.example/b"},"repo":"did:plc:botbotbotbotbotbotbotbot","rkey":"\#(key)","swapRecord":null}"#
        )
    }

    @Test func theSameDraftIsTheSameBytes() async throws {
        let clock = Box(BlueskyLoopback.start)
        let loopback = try BlueskyLoopback(
            now: { clock.value }, answer: Self.serving(BlueskyJSON.view("a")))
        for _ in 0..<2 {
            _ = try await loopback.network.publish(draft("text", replyTo: Self.address))
            try await loopback.network.favorite(Self.favorite)
            clock.value += 90
        }
        let bodies = loopback.requests.filter { $0.method(Self.put) }.map(\.bodyText)
        #expect(bodies.count == 4)
        #expect(Set(bodies).count == 2)
        _ = try await loopback.network.publish(draft("text", key: "k-2"))
        let other = try #require(loopback.requests.last?.field("rkey"))
        expect(bodies) { !$0.contains { $0.contains(other) } }
    }

    /// The answer to the first attempt was lost; the second finds the record there.
    @Test(arguments: [
        Answer.xrpc("InvalidSwap", "Record was at bafyreia111"),
        .xrpc("InvalidRequest", "Record already exists"), .xrpc("InvalidSwap", status: 409),
        Answer(status: 400, body: "<html>"), Answer(status: 409),
    ])
    func aRecordThatIsOursCounts(refusal: Answer) async throws {
        let loopback = try BlueskyLoopback { request in
            if request.method(Self.put) { return refusal }
            guard request.method("com.atproto.repo.getRecord"), let key = request.query["rkey"]
            else { return nil }
            return .json(
                BlueskyJSON.listed(
                    key, BlueskyJSON.record("text", ["createdAt": #""2026-11-20T21:00:00.000Z""#])))
        }
        let published = try await loopback.network.publish(draft())
        let key = TimestampID(createdAt: BlueskyLoopback.start, key: "k-1").description
        #expect(
            published.address
                == "\(BlueskyJSON.uri(key, by: BlueskyLoopback.did)) \(BlueskyJSON.cid)")
        #expect(loopback.count(Self.put) == 1)
    }

    @Test(arguments: [
        BlueskyJSON.record("another text", ["createdAt": #""2026-11-20T21:00:00.000Z""#]),
        BlueskyJSON.record("text", ["createdAt": #""2026-11-20T21:00:01.000Z""#]),
        BlueskyJSON.record(
            "text",
            [
                "createdAt": #""2026-11-20T21:00:00.000Z""#,
                "reply": BlueskyJSON.reply(to: "p", root: "r"),
            ]),
        "7",
    ])
    func aRecordThatIsNotOursDoesNot(existing: String) async throws {
        let loopback = try BlueskyLoopback { request in
            if request.method(Self.put) { return .xrpc("InvalidSwap") }
            guard request.method("com.atproto.repo.getRecord"), let key = request.query["rkey"]
            else { return nil }
            return .json(BlueskyJSON.listed(key, existing))
        }
        let error = try await error(of: loopback, draft())
        #expect(error.code == .rejected)
        #expect(error.outcome == .refused)
        #expect(error.isPermanent)
    }

    @Test func whatCannotBeReadBackLeavesTheOutcomeOpen() async throws {
        let loopback = try BlueskyLoopback { request in
            if request.method(Self.put) { return .xrpc("InvalidSwap") }
            return request.path.contains("getRecord") ? Answer(status: 503) : nil
        }
        let error = try await error(of: loopback, draft())
        #expect(error.outcome == .unknown)
        #expect(!error.isPermanent)
    }

    @Test func anExpiredTokenDoesNotCostThePost() async throws {
        let loopback = try BlueskyLoopback { request in
            guard request.method(Self.put) else { return nil }
            return request.header("Authorization") == "Bearer \(BlueskyLoopback.renewedAccess)"
                ? Self.written(request) : .xrpc("ExpiredToken", "Token has expired")
        }
        loopback.store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        _ = try await loopback.network.publish(draft())
        let bodies = loopback.requests.filter { $0.method(Self.put) }.map(\.bodyText)
        #expect(bodies.count == 2)
        #expect(Set(bodies).count == 1)
    }

    /// The session could not be renewed: the write was refused, and is known not to have happened.
    @Test func aRenewalThatFailsLeavesNothingOpen() async throws {
        let loopback = try BlueskyLoopback { request in
            if request.method(Self.put) { return .xrpc("ExpiredToken") }
            return request.path.contains("refreshSession")
                ? Answer(status: 502, body: "bad gateway") : nil
        }
        loopback.store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        let error = try await error(of: loopback, draft())
        #expect(error.outcome == .notSent)
        #expect(error.operation == .refreshSession)
    }

    @Test func repliesNameRootAndParent() async throws {
        let reply = BlueskyJSON.record(
            "mention", ["reply": BlueskyJSON.reply(to: "middle", root: "root")])
        for (record, root) in [
            (BlueskyJSON.record("mention"), BlueskyJSON.uri("a")),
            (reply, BlueskyJSON.uri("root", by: BlueskyLoopback.did)),
        ] {
            // The post was edited since it was seen; the answer is to what was seen.
            let view = BlueskyJSON.view("a", record, ["cid": "\"bafyedited\""])
            let loopback = try BlueskyLoopback(answer: Self.serving(view))
            _ = try await loopback.network.publish(draft(replyTo: Self.address))
            let parent = #"{"cid":"bafyreia111","uri":"at://did:plc:ann/app.bsky.feed.post/a"}"#
            let expected =
                #""reply":{"parent":\#(parent),"root":{"cid":"bafyreia111","uri":"\#(root)"}},"text""#
            try expect(#require(loopback.requests.last).bodyText) { $0.contains(expected) }
        }
    }

    @Test(arguments: [
        #"{"replyDisabled":true}"#, #"{"replyDisabled":1}"#,
    ])
    func closedConversationsAreNotAnswered(viewer: String) async throws {
        let loopback = try BlueskyLoopback(
            answer: Self.serving(BlueskyJSON.view("a", BlueskyJSON.record(), ["viewer": viewer])))
        let error = try await error(of: loopback, draft(replyTo: Self.address))
        #expect(error.code == .forbidden)
        #expect(error.outcome == .refused)
        #expect(loopback.count(Self.put) == 0)
    }

    @Test func aGateWithoutADoorIsClosed() async throws {
        for (gate, viewer, isOpen) in [
            (#"{"record":{"allow":[]}}"#, "{}", false),
            (#"{"record":{"allow":[]}}"#, #"{"replyDisabled":false}"#, true),
            (#"{"record":{}}"#, "{}", true),
            (
                #"{"record":{"allow":[{"$type":"app.bsky.feed.threadgate#mentionRule"}]}}"#, "{}",
                true
            ),
            ("{}", "{}", true),
        ] {
            let view = BlueskyJSON.view(
                "a", BlueskyJSON.record(), ["threadgate": gate, "viewer": viewer])
            let loopback = try BlueskyLoopback(answer: Self.serving(view))
            let published = try? await loopback.network.publish(draft(replyTo: Self.address))
            #expect((published != nil) == isOpen)
        }
    }

    @Test func whoBlocksIsNeitherAnsweredNorFavorited() async throws {
        let author = BlueskyJSON.author(
            "did:plc:ann", "ann.example", ["viewer": #"{"blockedBy":true}"#])
        let loopback = try BlueskyLoopback(
            answer: Self.serving(BlueskyJSON.view("a", BlueskyJSON.record(), ["author": author])))
        try await expect(error(of: loopback, draft(replyTo: Self.address)).code, equals: .forbidden)
        let refused = try await #require(throws: NetworkError.self) {
            try await loopback.network.favorite(Self.favorite)
        }
        #expect(refused.code == .forbidden)
        #expect(loopback.count(Self.put) == 0)
    }

    @Test func whatIsGoneIsNeitherAnsweredNorFavorited() async throws {
        let loopback = try BlueskyLoopback(answer: Self.serving(""))
        let error = try await error(of: loopback, draft(replyTo: Self.address))
        #expect(error.code == .notFound)
        #expect(error.outcome == .refused)
        let refused = try await #require(throws: NetworkError.self) {
            try await loopback.network.favorite(Self.favorite)
        }
        #expect(refused.code == .notFound)
        #expect(loopback.count(Self.put) == 0)
    }

    @Test func aParentThatCannotBeReadJustNowIsNothingSent() async throws {
        for answer in [
            Answer(status: 502, body: "<html>"),
            .json(BlueskyJSON.page("posts", [BlueskyJSON.view("a", "7")])),
        ] {
            let loopback = try BlueskyLoopback {
                $0.method("app.bsky.feed.getPosts") ? answer : nil
            }
            let error = try await error(of: loopback, draft(replyTo: Self.address))
            #expect(error.outcome == .notSent)
            #expect(!error.isPermanent)
        }
    }

    @Test(arguments: [
        ("", Visibility.public, "rejected"), (" \n\t", .public, "rejected"),
        ("text", .private, "capability"),
        ("text", .direct, "capability"), (String(repeating: "a", count: 301), .public, "too-long"),
        (String(repeating: "👨‍❤️‍👨", count: 151), .public, "too-long"),
    ])
    func whatMustNotBePublishedIsNotSent(text: String, visibility: Visibility, code: String)
        async throws
    {
        let loopback = try BlueskyLoopback { _ in nil }
        let error = try await error(of: loopback, draft(text, visibility: visibility))
        #expect(error.code.rawValue == code)
        #expect(error.outcome == .notSent)
        #expect(loopback.server.requests.isEmpty)
    }

    @Test func theLongestTextsArePublished() async throws {
        let loopback = try BlueskyLoopback(answer: Self.written)
        _ = try await loopback.network.publish(draft(String(repeating: "é", count: 300)))
        // 150 characters of 20 bytes.
        _ = try await loopback.network.publish(draft(String(repeating: "👨‍❤️‍👨", count: 150)))
        #expect(loopback.count(Self.put) == 2)
    }

    @Test(arguments: [nil, "und", "english", "", "en_US"])
    func languagesThatAreNoneAreLeftOut(language: String?) async throws {
        let loopback = try BlueskyLoopback(answer: Self.written)
        _ = try await loopback.network.publish(draft(language: language))
        try expect(#require(loopback.requests.last).bodyText) { $0.contains("langs") == false }
    }

    @Test func mentionsAreNeverMarked() async throws {
        let loopback = try BlueskyLoopback(answer: Self.written)
        _ = try await loopback.network.publish(draft("hello @ann.example and @bob.bsky.social"))
        try expect(#require(loopback.requests.last).bodyText) { $0.contains("facets") == false }
    }

    @Test(arguments: [
        "", "{}", "[]", "<html>", #"{"uri":"at://x","cid":"c"}"#,
        #"{"uri":"at://did:plc:botbotbotbotbotbotbotbot/app.bsky.feed.post/other","cid":"c"}"#,
    ])
    func anAnswerThatCannotBeReadLeavesTheOutcomeOpen(body: String) async throws {
        let loopback = try BlueskyLoopback { $0.method(Self.put) ? .json(body) : nil }
        let error = try await error(of: loopback, draft())
        #expect(error.code == .malformedResponse)
        #expect(error.outcome == .unknown)
    }

    @Test(arguments: [true, false])
    func aLostAnswerLeavesTheOutcomeOpen(isReset: Bool) async throws {
        let server = try LoopbackServer { request, connection in
            if request.method(Self.put) { return isReset ? connection.reset() : connection.close() }
            let answer = BlueskyLoopback.usual(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        let network = try BlueskyLoopback.network(of: server)
        let draft = draft()
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft)
        }
        #expect(error.outcome == .unknown)
        #expect(error.operation == .publish)
        #expect(server.requests.count { $0.method(Self.put) } == 1)
    }

    @Test func favoritesByARecordOfItsOwn() async throws {
        let loopback = try BlueskyLoopback(answer: Self.serving(BlueskyJSON.view("a")))
        try await loopback.network.favorite(Self.favorite)
        let key = TimestampID(createdAt: BlueskyLoopback.start, key: "favorite-key").description
        #expect(
            loopback.requests.last?.bodyText
                == #"{"collection":"app.bsky.feed.like","record":{"$type":"app.bsky.feed.like","createdAt":"2026-11-20T21:00:00.000Z","subject":{"cid":"bafyreia111","uri":"at://did:plc:ann/app.bsky.feed.post/a"}},"repo":"did:plc:botbotbotbotbotbotbotbot","rkey":"\#(key)","swapRecord":null}"#
        )
    }

    @Test func aPostIsFavoritedOnce() async throws {
        let view = BlueskyJSON.view(
            "a", BlueskyJSON.record(),
            ["viewer": #"{"like":"at://did:plc:x/app.bsky.feed.like/y"}"#])
        let loopback = try BlueskyLoopback(answer: Self.serving(view))
        try await loopback.network.favorite(Self.favorite)
        #expect(loopback.count(Self.put) == 0)
        try await expect(loopback.network.isFavorited(Self.address), equals: true)
    }

    /// The record of the first attempt is there, but the server that gathers favorites does not
    /// know it yet.
    @Test func aFavoriteThatIsThereAlreadyIsNoError() async throws {
        let loopback = try BlueskyLoopback { request in
            if request.method(Self.put) { return .xrpc("InvalidSwap") }
            if request.path.contains("getRecord"), let key = request.query["rkey"] {
                return .json(BlueskyJSON.like(key, of: BlueskyJSON.uri("a")))
            }
            return Self.serving(BlueskyJSON.view("a"))(request)
        }
        try await loopback.network.favorite(Self.favorite)
    }

    // MARK: Gates

    private static let apply = "com.atproto.repo.applyWrites"

    private func gated(
        _ gates: BlueskyGates, answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?
    ) throws -> BlueskyLoopback {
        try BlueskyLoopback(gates: gates, answer: answer)
    }

    /// What a server that follows the rules answers to several writes.
    @Sendable private static func applied(_ request: LoopbackServer.Request) -> Answer? {
        guard request.method(apply),
            let body = try? JSONSerialization.jsonObject(with: Data(request.body))
                as? [String: Any],
            let writes = body["writes"] as? [[String: Any]]
        else { return nil }
        let results = writes.map { write in
            let uri = BlueskyJSON.uri(
                write["rkey"] as? String ?? "", by: BlueskyLoopback.did,
                write["collection"] as? String ?? "")
            return
                #"{"$type":"com.atproto.repo.applyWrites#createResult","uri":"\#(uri)","cid":"bafynew"}"#
        }
        return .json(
            #"{"commit":{"cid":"c","rev":"r"},"results":[\#(results.joined(separator: ","))]}"#)
    }

    @Test func gatesAreWrittenWithThePostInOneCommit() async throws {
        let loopback = try gated(
            BlueskyGates(replies: .followers, allowsQuotes: false), answer: Self.applied)
        let published = try await loopback.network.publish(draft())
        let key = TimestampID(createdAt: BlueskyLoopback.start, key: "k-1").description
        let uri = BlueskyJSON.uri(key, by: BlueskyLoopback.did)
        #expect(published.address == "\(uri) bafynew")
        let request = try #require(loopback.requests.first)
        #expect(loopback.requests.count == 1)
        func write(_ collection: String, _ value: String) -> String {
            #"{"$type":"com.atproto.repo.applyWrites#create","collection":"\#(collection)","rkey":"\#(key)","value":{"$type":"\#(collection)",\#(value)}}"#
        }
        let date = #""createdAt":"2026-11-20T21:00:00.000Z""#
        let writes = [
            write("app.bsky.feed.post", #"\#(date),"text":"text""#),
            write(
                "app.bsky.feed.threadgate",
                #""allow":[{"$type":"app.bsky.feed.threadgate#followerRule"}],\#(date),"post":"\#(uri)""#
            ),
            write(
                "app.bsky.feed.postgate",
                #"\#(date),"embeddingRules":[{"$type":"app.bsky.feed.postgate#disableRule"}],"post":"\#(uri)""#
            ),
        ]
        #expect(
            request.bodyText
                == #"{"repo":"\#(BlueskyLoopback.did)","writes":[\#(writes.joined(separator: ","))]}"#
        )
    }

    @Test(arguments: [
        (Audience.anyone, nil), (.followed, ["followingRule"]), (.mentioned, ["mentionRule"]),
        (.nobody, []),
    ])
    func whoMayAnswerIsSaidInBlueskysWords(audience: Audience, rules: [String]?) throws {
        let address = try #require(
            RecordAddress(BlueskyJSON.uri("3ke6kg3wk2222", by: BlueskyLoopback.did)))
        let gates = BlueskyGates(replies: audience)
        let records = gates.records(for: address, isReply: false, createdAt: BlueskyLoopback.start)
        #expect(
            records.map(\.address.collection) == (rules == nil ? [] : ["app.bsky.feed.threadgate"]))
        let allowed = rules.map { rules in
            JSONValue.list(
                rules.map { .object(["$type": .text("app.bsky.feed.threadgate#\($0)")]) })
        }
        if case .object(let record) = records.first?.1 { #expect(record["allow"] == allowed) }
        // Only the first post of a conversation has one.
        #expect(
            gates.records(for: address, isReply: true, createdAt: BlueskyLoopback.start).isEmpty)
    }

    /// A server fails without a word where the post is there already; its own record tells.
    @Test(arguments: [
        Answer.xrpc("InternalServerError", "Internal Server Error", status: 500),
        .xrpc("InvalidRequest", "Record already exists"),
    ])
    func aGatedPostThatIsThereAlreadyIsOurs(refusal: Answer) async throws {
        let record = Box(BlueskyJSON.record("text", ["createdAt": #""2026-11-20T21:00:00.000Z""#]))
        let key = TimestampID(createdAt: BlueskyLoopback.start, key: "k-1").description
        let loopback = try gated(BlueskyGates(allowsQuotes: false)) { request in
            if request.method(Self.apply) { return refusal }
            return request.method("com.atproto.repo.getRecord")
                ? .json(BlueskyJSON.listed(key, record.value)) : nil
        }
        let published = try await loopback.network.publish(draft())
        #expect(published.address.hasPrefix(BlueskyJSON.uri(key, by: BlueskyLoopback.did)))
        record.value = BlueskyJSON.record("another text")
        try await expect(error(of: loopback, draft()).code, equals: .rejected)
    }

    @Test func aServerThatFailsForAnotherReasonHasPublishedNothingForCertain() async throws {
        let loopback = try gated(BlueskyGates(allowsQuotes: false)) { request in
            if request.method(Self.apply) {
                return .xrpc("InternalServerError", "Internal Server Error", status: 500)
            }
            return request.method("com.atproto.repo.getRecord") ? .xrpc("RecordNotFound") : nil
        }
        let error = try await error(of: loopback, draft())
        #expect(error.code == .unavailable)
        #expect(error.outcome == .unknown)
    }

    @Test func gatesGoWithTheirPost() async throws {
        let loopback = try gated(BlueskyGates(replies: .nobody, allowsQuotes: false)) {
            $0.path.contains("deleteRecord") ? .json(#"{"commit":{"cid":"c","rev":"r"}}"#) : nil
        }
        let uri = BlueskyJSON.uri("3ke6kg3wk2222", by: BlueskyLoopback.did)
        try await expect(loopback.network.delete("\(uri) \(BlueskyJSON.cid)"), equals: .removed)
        #expect(
            loopback.requests.map { $0.field("collection") } == [
                "app.bsky.feed.post", "app.bsky.feed.threadgate", "app.bsky.feed.postgate",
            ])
    }

    // MARK: Deleting

    @Test func deletesItsOwnPosts() async throws {
        let uri = BlueskyJSON.uri("3ke6kg3wk2222", by: BlueskyLoopback.did)
        let answers: [(Answer, Removal)] = [
            (.json("{}"), .gone), (Answer(status: 200), .gone), (.xrpc("RecordNotFound"), .gone),
            (.json(#"{"commit":{"cid":"c","rev":"r"}}"#), .removed),
        ]
        for (answer, removal) in answers {
            let loopback = try BlueskyLoopback { $0.path.contains("deleteRecord") ? answer : nil }
            try await expect(loopback.network.delete("\(uri) \(BlueskyJSON.cid)"), equals: removal)
            #expect(
                loopback.requests.map(\.bodyText) == [
                    #"{"collection":"app.bsky.feed.post","repo":"did:plc:botbotbotbotbotbotbotbot","rkey":"3ke6kg3wk2222"}"#
                ])
        }
        let loopback = try BlueskyLoopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.delete(Self.address)
        }
        #expect(error.code == .rejected)
        #expect(loopback.requests.isEmpty)
    }

    @Test func takesBackTheFavoriteOfTheDraftAndNoOther() async throws {
        let loopback = try BlueskyLoopback {
            $0.path.contains("deleteRecord") ? .json(#"{"commit":{"cid":"c","rev":"r"}}"#) : nil
        }
        try await expect(loopback.network.unfavorite(Self.favorite), equals: .removed)
        let key = TimestampID(createdAt: BlueskyLoopback.start, key: "favorite-key").description
        #expect(
            loopback.requests.map(\.bodyText) == [
                #"{"collection":"app.bsky.feed.like","repo":"did:plc:botbotbotbotbotbotbotbot","rkey":"\#(key)"}"#
            ])
    }

    @Test func readsBackWhatItSent() async throws {
        let start = BlueskyLoopback.start
        func element(_ seconds: Double, _ text: String, created: String? = nil) -> String {
            let key = TimestampID(createdAt: start + seconds, key: text).description
            let date = created ?? (start + seconds).rfc3339
            return BlueskyJSON.listed(key, BlueskyJSON.record(text, ["createdAt": "\"\(date)\""]))
        }
        let pages = [
            BlueskyJSON.records(
                [element(-10, "new"), element(-20, "dated back", created: "2020-01-01T00:00:00Z")],
                cursor: "one"),
            BlueskyJSON.records([], cursor: "two"),
            BlueskyJSON.records(
                [element(-400, "within the margin"), element(-4_000, "old")], cursor: "three"),
        ]
        let loopback = try BlueskyLoopback { request in
            guard request.method("com.atproto.repo.listRecords") else { return nil }
            let page = ["": 0, "one": 1, "two": 2][request.query["cursor"] ?? ""]
            return page.map { .json(pages[$0]) } ?? Answer(status: 500)
        }
        let posts = try await loopback.network.ownPosts(since: start - 60)
        #expect(posts.map(\.post.text) == ["new", "dated back", "within the margin"])
        #expect(loopback.requests.count == 3)
    }

    @Test func readingBackIsCompleteOrFails() async throws {
        let broken = BlueskyJSON.listed("3ke6kg3wk2222", #"{"text":{}}"#)
        let counter = Counter()
        let answers: [@Sendable () -> Answer] = [
            { .json(BlueskyJSON.records([broken])) },
            { .json(BlueskyJSON.records([], cursor: "\(counter.next())")) },
            {
                .json(
                    BlueskyJSON.records(
                        [BlueskyJSON.listed("bzzzzzzzzzzzz")], cursor: "\(counter.next())"))
            },
            // Every page is the first one.
            { .json(BlueskyJSON.records([BlueskyJSON.listed("bzzzzzzzzzzzz")], cursor: "again")) },
            { Answer(status: 500) }, { .json("{}") },
        ]
        for answer in answers {
            let loopback = try BlueskyLoopback {
                $0.method("com.atproto.repo.listRecords") ? answer() : nil
            }
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.ownPosts(since: BlueskyLoopback.start)
            }
            #expect(!error.isPermanent)
        }
    }
}
