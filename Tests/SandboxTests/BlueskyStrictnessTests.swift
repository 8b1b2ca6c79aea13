import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct BlueskyStrictnessTests {
    /// The bytes of a facet's part and its feature.
    private static func facet(_ start: Int, _ end: Int, _ feature: String = mention) -> String {
        #"{"index":{"byteStart":\#(start),"byteEnd":\#(end)},"features":[\#(feature)]}"#
    }

    private static let mention =
        #"{"$type":"app.bsky.richtext.facet#mention","did":"did:plc:ewvi7nxzyoun6zhxrhs64oiz"}"#
    private static let link =
        #"{"$type":"app.bsky.richtext.facet#link","uri":"https://en.wikipedia.org/wiki/CBOR"}"#
    private static let marked =
        "✨ example mentioning @atproto.com to share the URL 👨‍❤️‍👨 https://en.wikipedia.org/wiki/CBOR."

    private static func put(_ record: String, number: Int = 0, by bot: BlueskyClient) async throws
        -> Reply
    {
        let key = SandboxIdentity.recordKey(
            microseconds: 1_700_000_000_000_000 + UInt64(number), clock: 0)
        let body =
            #"{"repo":"\#(bot.did)","collection":"app.bsky.feed.post","rkey":"\#(key)","swapRecord":null,"#
            + #""record":\#(record)}"#
        return try await bot.fixture.send(
            "POST", "/xrpc/com.atproto.repo.putRecord", as: .token(bot.access), json: body)
    }

    private static func record(_ text: String, _ more: String = "") -> String {
        #"{"$type":"app.bsky.feed.post","createdAt":"2026-11-20T00:00:00.000Z","text":"\#(text)"\#(more)}"#
    }

    private static let records: [(record: String, reason: String?)] =
        [
            (record(String(repeating: "é", count: 300)), nil),
            (
                record(String(repeating: "é", count: 301)),
                "Record/text must not be longer than 300 graphemes"
            ),
            // A family is one character of 25 bytes.
            (record(String(repeating: "👨‍👩‍👧‍👦", count: 120)), nil),
            (
                record(String(repeating: "👨‍👩‍👧‍👦", count: 121)),
                "Record/text must not be longer than 3000 bytes"
            ),
            (record(""), "Record/text is empty"),
            (
                #"{"text":"a","createdAt":"2026-11-20T00:00:00Z"}"#,
                "must have the property \"$type\""
            ),
            (
                #"{"$type":"app.bsky.feed.like","text":"a","createdAt":"2026-11-20T00:00:00Z"}"#,
                "Record/$type"
            ),
            (#"{"$type":"app.bsky.feed.post","text":"a"}"#, "must have the property \"createdAt\""),
            (
                #"{"$type":"app.bsky.feed.post","text":"a","createdAt":"2026-11-20"}"#,
                "Record/createdAt"
            ),
            (
                #"{"$type":"app.bsky.feed.post","text":"a","createdAt":"2026-11-20T00:00:00"}"#,
                "Record/createdAt"
            ),
            (
                #"{"$type":"app.bsky.feed.post","text":"a","createdAt":"2026-11-20 00:00:00Z"}"#,
                "Record/createdAt"
            ),
            (
                #"{"$type":"app.bsky.feed.post","text":"a","createdAt":"2026-11-20T09:00:00+09:00"}"#,
                nil
            ),
            (
                #"{"$type":"app.bsky.feed.post","text":5,"createdAt":"2026-11-20T00:00:00Z"}"#,
                "Record/text must be"
            ),
            (record("a", #","langs":["ja","en","de"]"#), nil),
            (
                record("a", #","langs":["ja","en","de","fr"]"#),
                "Record/langs must not have more than 3"
            ),
            (record("a", #","langs":["English"]"#), "Record/langs"),
            (record("a", #","visibility":"public""#), "unknown field visibility"),
            (record("a", #","facets":null"#), "Record/facets must be an array"),
            (
                record("a", #","reply":{"parent":{"uri":"at://a.b/c.d.e/f","cid":"x"}}"#),
                "property \"root\""
            ),
            (record("a", #","embed":{"$type":"app.bsky.embed.poll"}"#), "Record/embed"),
            (record("a", #","labels":{"values":[{"val":"bot"}]}"#), "property \"$type\""),
        ] as [(String, String?)]

    @Test func checksWhatARecordSays() async throws {
        try await BlueskyClient.run { (bot) async throws in
            for (number, (record, reason)) in Self.records.enumerated() {
                let reply = try await Self.put(record, number: number, by: bot)
                #expect(reply.status == (reason == nil ? 200 : 400), "\(record) \(reply.text)")
                if let reason {
                    #expect(reply.error == "InvalidRequest")
                    #expect(reply.message.contains(reason), "\(record) \(reply.text)")
                }
            }
            let ledger = await bot.fixture.sandbox.ledger
            #expect(ledger.deliveries.count == Self.records.count { $0.reason == nil })
            #expect(ledger.summary.errors == Self.records.count { $0.reason != nil })
        }
    }

    private static let facets: [(facet: String, reason: String?)] = [
        (facet(23, 35), nil), (facet(74, 108, link), nil), (facet(0, 109, link), nil),
        (facet(1, 35), "cuts a character"), (facet(0, 2), "cuts a character"),
        (facet(74, 110, link), "not within the text"), (facet(35, 35), "not within the text"),
        (facet(35, 23), "not within the text"), (facet(-1, 3), "can not be less than 0"),
        (facet(0, 3, "{}"), "must have the property"),
        (
            facet(0, 3, #"{"$type":"app.bsky.richtext.facet#mention","did":"@aoi"}"#),
            "must be a valid did"
        ),
        (
            facet(0, 3, #"{"$type":"app.bsky.richtext.facet#link","uri":"wikipedia"}"#),
            "must be a uri"
        ),
        (facet(0, 3, #"{"$type":"app.bsky.richtext.facet#bold"}"#), "must be mention, link or tag"),
        (
            #"{"index":{"byteStart":0,"byteEnd":3},"features":[]}"#,
            "must have the property \"features\""
        ),
        (#"{"index":{"byteStart":0.5,"byteEnd":3},"features":[]}"#, "could not read the JSON body"),
    ]

    @Test func checksFacetsByBytes() async throws {
        try await BlueskyClient.run { (bot) async throws in
            for (number, (facet, reason)) in Self.facets.enumerated() {
                let record = Self.record(Self.marked, #","facets":[\#(facet)]"#)
                let reply = try await Self.put(record, number: number, by: bot)
                #expect(reply.status == (reason == nil ? 200 : 400), "\(facet) \(reply.text)")
                #expect(reason.map { reply.message.contains($0) } ?? true, "\(facet) \(reply.text)")
            }
        }
    }

    @Test func demandsTheRealRootOfAConversation() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let first = try await bot.publish("root", key: "3ke6kg3wk2222")
            let answer: [String: Any] = ["root": first, "parent": first]
            let second = try await bot.put(
                bot.record("answer", ["reply": answer]), key: "3ke6kg3wk2223")
            let parent = BlueskyClient.reference(second.object)
            let wrong: [[String: Any]] = [
                ["root": parent, "parent": parent],
                ["root": first, "parent": ["uri": parent["uri"], "cid": first["cid"]]],
                [
                    "root": first,
                    "parent": [
                        "uri": "at://\(bot.did)/app.bsky.feed.post/3ke6kg3wk2227",
                        "cid": first["cid"],
                    ],
                ],
                ["root": first], ["parent": parent],
            ]
            for reply in wrong {
                let refused = try await bot.put(
                    bot.record("deeper", ["reply": reply]), key: "3ke6kg3wk2224")
                #expect(refused.status == 400)
                #expect(refused.error == "InvalidRequest")
            }
            let right = try await bot.put(
                bot.record("deeper", ["reply": ["root": first, "parent": parent]]),
                key: "3ke6kg3wk2224")
            #expect(right.status == 200)
        }
    }

    @Test func forgivesAnAnswerToWhatIsGone() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let post = try await bot.publish("gone soon")
            _ = try await bot.post(
                "com.atproto.repo.deleteRecord",
                ["repo": bot.did, "collection": BlueskyClient.posts, "rkey": "3ke6kg3wk2222"])
            let reply = try await bot.put(
                bot.record("late", ["reply": ["root": post, "parent": post]]), key: "3ke6kg3wk2223")
            #expect(reply.status == 400)
            await expect(bot.fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    private static let questions: [(name: String, query: String)] = [
        ("app.bsky.feed.getTimeline", "limit=0"), ("app.bsky.feed.getTimeline", "limit=101"),
        ("app.bsky.feed.getTimeline", "limit=ten"), ("app.bsky.feed.getTimeline", "since_id=1"),
        ("app.bsky.feed.getTimeline", "cursor=nonsense"), ("app.bsky.feed.getPosts", ""),
        ("app.bsky.feed.getPosts", "uris=https://bsky.app"), ("app.bsky.actor.getProfile", ""),
        ("app.bsky.actor.getProfile", "actor=@aoi"),
        ("app.bsky.actor.getProfile", "actor=nobody.example"),
        ("com.atproto.repo.listRecords", "repo=haruka.sandbox.example"),
        ("com.atproto.repo.listRecords", "repo=nobody.example&collection=app.bsky.feed.post"),
        ("com.atproto.repo.listRecords", "repo=haruka.sandbox.example&collection=posts"),
        (
            "com.atproto.repo.listRecords",
            "repo=haruka.sandbox.example&collection=app.bsky.feed.post&reverse=1"
        ),
        ("app.bsky.notification.listNotifications", "seenAt=2026-11-20T00:00:00Z"),
        ("app.bsky.feed.getAuthorFeed", "actor=haruka.sandbox.example&filter=posts"),
        ("app.bsky.notification.updateSeen", ""), ("nonsense", ""),
    ]

    @Test func refusesFaultyQuestions() async throws {
        try await BlueskyClient.run { (bot) async throws in
            for (name, query) in Self.questions {
                let reply = try await bot.get(name, query)
                #expect(reply.status == 400, "\(name) \(query) \(reply.text)")
                #expect(reply.error == "InvalidRequest")
            }
            await expect(bot.fixture.sandbox.ledger.summary.errors, equals: Self.questions.count)
        }
    }

    @Test func refusesBodiesThatItDoesNotKnow() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let bodies: [(String, String, String, String)] = [
                (
                    "com.atproto.repo.deleteRecord", "application/json", #"{"repo":1}"#,
                    "must be a string"
                ),
                (
                    "com.atproto.repo.deleteRecord", "application/json", #"{"rev":"1"}"#,
                    "unknown field rev"
                ),
                (
                    "com.atproto.repo.deleteRecord", "application/json", #"{"repo""#,
                    "could not read"
                ),
                ("com.atproto.repo.deleteRecord", "text/plain", "{}", "Wrong request encoding"),
                (
                    "com.atproto.repo.deleteRecord", "application/json", "",
                    "expected but none was provided"
                ),
                (
                    "com.atproto.server.refreshSession", "application/json", "{}",
                    "provided when none was expected"
                ),
                ("com.atproto.server.getSession", "application/json", "", "Incorrect HTTP method"),
            ]
            for (name, type, body, reason) in bodies {
                let reply = try await bot.fixture.send(
                    "POST", "/xrpc/" + name, as: .token(bot.access), json: body,
                    headers: ["Content-Type": type])
                #expect(reply.status == 400)
                #expect(reply.message.contains(reason), "\(reply.text)")
            }
            let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
            let nested = try await Self.put(Self.record("a", #","facets":\#(deep)"#), by: bot)
            #expect(nested.status == 400)
            let unknown = try await bot.get("app.bsky.feed.getActorLikes", "actor=\(bot.did)")
            #expect(unknown.status == 501)
            #expect(unknown.error == "MethodNotImplemented")
        }
    }

    @Test func refusesKeysAndCollectionsThatItDoesNotKeep() async throws {
        try await BlueskyClient.run { (bot) async throws in
            try await expect(bot.put(bot.record("a"), key: "my-post").message) {
                $0.contains("expected a tid")
            }
            let profile = try await bot.put(
                ["$type": BlueskyClient.profiles], in: BlueskyClient.profiles)
            #expect(profile.message.contains("expected self"))
            let follow = try await bot.put(
                ["$type": "app.bsky.graph.follow"], in: "app.bsky.graph.follow")
            #expect(follow.status == 400)
        }
    }

    @Test func givesAtMostTwentyFivePosts() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let uri = "at://\(bot.did)/app.bsky.feed.post/3ke6kg3wk2222"
            let most = Array(repeating: "uris=\(uri)", count: 25)
            try await expect(
                bot.get("app.bsky.feed.getPosts", most.joined(separator: "&")).status, equals: 200)
            let tooMany = (most + ["uris=\(uri)"]).joined(separator: "&")
            try await expect(bot.get("app.bsky.feed.getPosts", tooMany).status, equals: 400)
        }
    }
}
