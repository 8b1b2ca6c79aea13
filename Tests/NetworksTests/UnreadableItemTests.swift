import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Mastodon
@testable import Networks
@testable import X

/// Nothing that arrives is passed over without a trace.
@Suite struct UnreadableItemTests {
    /// What a page of mentions says about one notification.
    private func mention(_ notification: String) async throws -> [UnreadableItem] {
        let body = Wire.list([Wire.notification("30", status: Wire.status("9")), notification])
        let loopback = try Loopback { $0.path == "/api/v1/notifications" ? .json(body) : nil }
        let page = try await loopback.network.page(.mentions, .newest)
        #expect(page.items.map(\.address) == ["9"])
        return page.unreadable
    }

    @Test(
        arguments: [
            (Wire.notification("27", status: "null"), nil, "the mention has no post"),
            (Wire.notification("27", status: ""), nil, "the mention has no post"),
            (Wire.notification("27", status: "[]"), nil, "its post is not as posts are"),
            (
                Wire.notification("27", status: Wire.status("5", ["content": "{}"])), "5",
                "its post is not as posts are"
            ),
            (
                Wire.notification("27", status: Wire.status("5", ["account": "null"])), "5",
                "its post has no author or no address"
            ),
            (
                Wire.notification("27", status: #"{"id":"5"}"#), "5",
                "its post has no author or no address"
            ),
            (
                Wire.notification("27", status: Wire.status("5"), ["type": ""]), "5",
                "it is no notification"
            ),
            ("7", nil, "it is no notification"), ("null", nil, "it is no notification"),
        ] as [(String, String?, String)])
    func aMentionThatCannotBeReadIsNamed(notification: String, address: String?, cause: String)
        async throws
    {
        let unreadable = try await mention(notification)
        #expect(unreadable.map(\.address) == [address])
        #expect(unreadable.map(\.cause) == [cause])
        expect(unreadable) { $0.allSatisfy { $0.digest.count == 32 } }
    }

    /// A post that can be read is answered even if the notification lacks its own id.
    @Test func aMentionWithoutAnIDIsAMention() async throws {
        let body = Wire.list([Wire.notification("27", status: Wire.status("5"), ["id": "null"])])
        let loopback = try Loopback { $0.path == "/api/v1/notifications" ? .json(body) : nil }
        let page = try await loopback.network.page(.mentions, .newest)
        #expect(page.items.map(\.address) == ["5"])
        #expect(page.unreadable.isEmpty)
    }

    /// The same item has the same digest, however a server writes it; another one has another.
    @Test func digestsTellItemsApart() async throws {
        let digests = try await [
            #"{"type":"mention","a":{"x":1,"y":[true,null,"/"]}}"#,
            #"{ "a": {"y":[true,null,"\/"],"x":1},"type":"mention"}"#,
            #"{"type":"mention","a":{"x":2,"y":[true,null,"/"]}}"#,
            #"{"type":"mention","a":1e999}"#,
        ].asyncMap { try await mention($0).first?.digest }
        #expect(digests[0] == digests[1])
        #expect(Set(digests).count == 3)
        #expect(!digests.contains(nil))
    }

    /// Items without ids are among what is added from further pages.
    @Test func whatHasNoIDIsNotLostBetweenPages() async throws {
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            switch request.query["max_id"] {
            case nil: return .json(Wire.list([Wire.status("9")]))
            case "9": return .json(Wire.list([#"{"uri":"x"}"#, Wire.status("8")]))
            default: return .json("[]")
            }
        }
        let page = try await loopback.network.page(.home, .newer(than: "5"))
        #expect(page.items.map(\.address) == ["9", "8"])
        #expect(page.unreadable.count == 1)
    }

    /// What a call could not finish is left to the next, and nothing of it is lost.
    @Test func anErrorBetweenPagesKeepsWhatWasRead() async throws {
        let paging = PagingServer(.minIDAsSinceID, count: 100)
        let isBroken = Flag()
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            return isBroken.isSet && request.query["max_id"] == "61"
                ? Answer(status: 503) : paging.answer(request)
        }
        isBroken.isSet = true
        let first = try await loopback.network.page(.home, .newer(than: "10"))
        #expect(first.items.map(\.address) == paging.addresses((61...100).reversed()))
        let cursor = try #require(first.newer)
        await #expect(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newer(than: cursor))
        }
        isBroken.isSet = false
        paging.grow(by: 1)
        let rest = try await MastodonServers.walk(
            loopback.network, .home, from: .newer(than: cursor))
        #expect(rest.addresses == paging.addresses((11...60).reversed()) + ["101"])
    }

    // MARK: Bluesky

    @Test func itemsOfBlueskyAreNamedAndComeOnce() async throws {
        let reference = "\(BlueskyJSON.uri("c")) \(BlueskyJSON.cid)"
        let broken = [
            #"{"reason":"mention"}"#, BlueskyJSON.notification("c", "mention", ["record": "7"]),
            BlueskyJSON.notification("d", "mention", ["author": "null"]),
            BlueskyJSON.notification("e", "mention", ["reason": "null"]),
        ]
        let hasArrived = Flag()
        let loopback = try BlueskyLoopback { request in
            guard request.method("app.bsky.notification.listNotifications") else { return nil }
            let old = [
                BlueskyJSON.notification("a", "mention"), BlueskyJSON.notification("b", "mention"),
            ]
            return .json(BlueskyJSON.page("notifications", hasArrived.isSet ? broken + old : old))
        }
        var cursor = try #require(try await loopback.network.page(.mentions, .newest).newer)
        hasArrived.isSet = true
        let page = try await loopback.network.page(.mentions, .newer(than: cursor))
        #expect(page.items.isEmpty)
        #expect(Set(page.unreadable.map(\.digest)).count == 4)
        expect(page.unreadable) { $0.allSatisfy { $0.digest.count == 32 } }
        #expect(page.unreadable[1].address == reference)
        #expect(page.unreadable[1].cause == "its record is not as posts are")
        #expect(page.unreadable[2].cause == "its author cannot be told")
        cursor = try #require(page.newer)
        try await expect(loopback.network.page(.mentions, .newer(than: cursor)).unreadable) {
            $0.isEmpty
        }
    }

    @Test func itemsOfATimelineAreNamedByTheirPost() async throws {
        let item = BlueskyJSON.item(BlueskyJSON.view("b", BlueskyJSON.record(), ["author": "null"]))
        let loopback = try BlueskyLoopback {
            $0.method("app.bsky.feed.getTimeline")
                ? .json(BlueskyJSON.page("feed", [item, "7"])) : nil
        }
        let page = try await loopback.network.page(.home, .newest)
        #expect(
            page.unreadable.map(\.address) == ["\(BlueskyJSON.uri("b")) \(BlueskyJSON.cid)", nil])
        #expect(Set(page.unreadable.map(\.digest)).count == 2)
    }

    /// Beside a post without an address, a missing one is not gone for certain.
    @Test(arguments: ["7", "{}", #"{"uri":7}"#]) func aPostWithoutAnAddressHidesNothing(
        element: String
    ) async throws {
        let loopback = try BlueskyLoopback { request in
            if request.method("com.atproto.repo.listRecords") {
                return .json(
                    BlueskyJSON.records([
                        BlueskyJSON.like("3ke6kg3wk2225", of: BlueskyJSON.uri("a"))
                    ]))
            }
            return request.method("app.bsky.feed.getPosts")
                ? .json(BlueskyJSON.page("posts", [element])) : nil
        }
        let reference = "\(BlueskyJSON.uri("a")) \(BlueskyJSON.cid)"
        let page = try await loopback.network.page(.favorites, .newest)
        #expect(page.unreadable.map(\.address) == [reference])
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.lookUp(reference)
        }
        #expect(error.code == .malformedResponse)
    }

    // MARK: X

    @Test func postsThatXKeepsBackAreNamed() async throws {
        let errors = Wire.list([
            XWire.problem(
                "not-authorized-for-resource",
                ["resource_type": "\"tweet\"", "resource_id": "\"77\"", "parameter": "\"ids\""]),
            XWire.problem("resource-not-found", ["resource_type": "\"tweet\"", "value": "\"78\""]),
            // What a post answers is no item of the feed.
            XWire.problem(
                "resource-not-found",
                [
                    "resource_type": "\"tweet\"", "value": "\"5\"",
                    "parameter": "\"referenced_tweets.id\"",
                ]),
        ])
        let posts = [
            XWire.post("12"), XWire.post("11", ["author_id": "\"8\""]),
            #"{"id":"9","note_tweet":7}"#,
        ]
        let loopback = try XLoopback {
            $0.path == "/2/users/42/mentions" ? .json(XWire.list(posts, errors: errors)) : nil
        }
        let unreadable = try await loopback.network.page(.mentions, .newest).unreadable
        #expect(unreadable.map(\.address) == ["77", "78", "11", "9"])
        #expect(
            unreadable.map(\.cause)
                == [
                    "X withholds it", "X withholds it", "it has no text or no author",
                    "it is not as posts are",
                ])
        #expect(Set(unreadable.map(\.digest)).count == 4)
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows
        -> [Value]
    {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
