import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Networks

@Suite struct BlueskyFeedTests {
    private typealias Habit = BlueskyPagingServer.Habit

    /// Every identity that a walk gives, and the cursor to keep.
    private func walk(
        _ network: BlueskyNetwork, _ feed: Feed, from position: FeedPosition
    ) async throws -> (identities: [String], walk: FeedWalk) {
        var walk = FeedWalk(of: network, feed, from: position)
        var found: [String] = []
        while let page = try await walk.next() { found += page.items.map(\.post.id.value) }
        return (found, walk)
    }

    @Test(arguments: Feed.allCases, BlueskyPagingServer.Habit.allCases)
    func readsAFeedToItsEnd(feed: Feed, habit: BlueskyPagingServer.Habit) async throws {
        for count in [0, 1, 10, 100, 101, 130] {
            let paging = BlueskyPagingServer(feed, habit, count: count)
            let loopback = try BlueskyLoopback { paging.answer($0) }
            let result = try await walk(loopback.network, feed, from: .newest)
            #expect(result.identities == paging.identities, "\(count)")
            #expect(result.walk.isComplete, "\(count)")
            #expect(result.walk.newer != nil)
        }
    }

    /// What arrived while nobody looked is found once, however much it is and however the server
    /// pages.
    @Test(arguments: Feed.allCases, BlueskyPagingServer.Habit.allCases)
    func missesNothingThatArrived(feed: Feed, habit: BlueskyPagingServer.Habit) async throws {
        for (before, arrived) in [
            (0, 1), (0, 101), (1, 0), (50, 1), (70, 36), (110, 37), (110, 120),
        ] {
            let paging = BlueskyPagingServer(feed, habit, count: before)
            let loopback = try BlueskyLoopback { paging.answer($0) }
            let old = Set(paging.identities)
            var cursor = try #require(try await loopback.network.page(feed, .newest).newer)
            paging.grow(by: arrived)
            let result = try await walk(loopback.network, feed, from: .newer(than: cursor))
            let fresh = Set(paging.identities).subtracting(old)
            #expect(fresh.count == arrived)
            #expect(Set(result.identities) == fresh, "\(before) and \(arrived)")
            #expect(result.identities.count == arrived, "\(before) and \(arrived)")
            #expect(result.walk.isComplete)
            cursor = result.walk.newer ?? cursor
            let again = try await walk(loopback.network, feed, from: .newer(than: cursor))
            #expect(again.identities.isEmpty)
        }
    }

    /// Items that appear below others that were there before.
    @Test(arguments: Feed.allCases, [0, 1, 5, 40])
    func findsWhatIsDatedBack(feed: Feed, minutes: Int) async throws {
        let paging = BlueskyPagingServer(feed, .documented, count: 150)
        let loopback = try BlueskyLoopback { paging.answer($0) }
        var cursor = try #require(try await loopback.network.page(feed, .newest).newer)
        var found: [String] = []
        var expected: [String] = []
        for round in 1...3 {
            let item = BlueskyPagingServer.Item(
                time: BlueskyPagingServer.noon - Double(60 * minutes + round), number: 200 + round)
            paging.add(item)
            expected.append(paging.identity(item))
            for _ in 0..<2 {
                let result = try await walk(loopback.network, feed, from: .newer(than: cursor))
                found += result.identities
                cursor = result.walk.newer ?? cursor
            }
        }
        #expect(found == expected)
    }

    /// A time tells nothing about items that share it.
    @Test(arguments: [Feed.home, .mentions])
    func itemsOfOneInstantAreToldApart(feed: Feed) async throws {
        let paging = BlueskyPagingServer(feed, .documented, count: 0)
        for number in 1...70 { paging.add(.init(time: BlueskyPagingServer.noon, number: number)) }
        let loopback = try BlueskyLoopback { paging.answer($0) }
        var cursor = try #require(try await loopback.network.page(feed, .newest).newer)
        for number in [71, 0] {
            let item = BlueskyPagingServer.Item(time: BlueskyPagingServer.noon, number: number)
            paging.add(item)
            let result = try await walk(loopback.network, feed, from: .newer(than: cursor))
            #expect(result.identities == [item.uri])
            cursor = result.walk.newer ?? cursor
        }
    }

    /// What is older than everything that is remembered was there before, as far as anybody can
    /// tell.
    @Test(arguments: Feed.allCases)
    func whatIsVeryOldIsNotNew(feed: Feed) async throws {
        let paging = BlueskyPagingServer(feed, .documented, count: 150)
        let loopback = try BlueskyLoopback { paging.answer($0) }
        let cursor = try #require(try await loopback.network.page(feed, .newest).newer)
        paging.add(.init(time: BlueskyPagingServer.noon - 100 * 60, number: 201))
        for number in 140...150 { paging.remove(number: number) }
        let result = try await walk(loopback.network, feed, from: .newer(than: cursor))
        #expect(result.identities.isEmpty)
    }

    /// A long absence is caught up with in several calls, each of which leaves a place to go on
    /// from.
    @Test func longAbsencesAreCaughtUpInParts() async throws {
        let paging = BlueskyPagingServer(.home, .shortPages, count: 150)
        let loopback = try BlueskyLoopback { paging.answer($0) }
        let cursor = try #require(try await loopback.network.page(.home, .newest).newer)
        let old = Set(paging.identities)
        paging.grow(by: 250)
        let first = try await loopback.network.page(.home, .newer(than: cursor))
        #expect(first.items.count == 200)
        let next = try #require(first.newer)
        // What arrives during the work is not lost, and not given before its turn.
        paging.grow(by: 30)
        let fresh = Set(paging.identities).subtracting(old)
        let rest = try await walk(loopback.network, .home, from: .newer(than: next))
        let all = first.items.map(\.post.id.value) + rest.identities
        #expect(Set(all) == fresh)
        #expect(all.count == 280)
        #expect(rest.walk.isComplete)
    }

    @Test func aQuietFeedCostsOneRequest() async throws {
        for feed in Feed.allCases {
            let paging = BlueskyPagingServer(feed, .documented, count: 150)
            let loopback = try BlueskyLoopback { paging.answer($0) }
            let cursor = try #require(try await loopback.network.page(feed, .newest).newer)
            let before = loopback.requests.count
            let page = try await loopback.network.page(feed, .newer(than: cursor))
            #expect(loopback.requests.count == before + 1)
            #expect(page.received == 0)
            #expect(page.newer == nil)
            #expect(page.rateLimit == RateLimit(limit: 3_000, remaining: 2_999))
        }
    }

    /// Who follows somebody new gets their old posts on the timeline; these are not news.
    @Test func anEmptyTimelineDoesNotOpenThePast() async throws {
        let paging = BlueskyPagingServer(.home, .documented, count: 0)
        let loopback = try BlueskyLoopback { paging.answer($0) }
        let cursor = try #require(try await loopback.network.page(.home, .newest).newer)
        let old = BlueskyLoopback.start - 26 * 3_600
        for number in 1...5 { paging.add(.init(time: old + Double(number), number: number)) }
        let recent = BlueskyPagingServer.Item(time: BlueskyLoopback.start - 3_600, number: 6)
        paging.add(recent)
        let result = try await walk(loopback.network, .home, from: .newer(than: cursor))
        #expect(result.identities == [recent.uri])
    }

    /// To go on from now would lose what arrived since: who reads walks back to what is known.
    @Test func aCursorThatCannotBeReadIsRefused() async throws {
        let paging = BlueskyPagingServer(.home, .documented, count: 3)
        let loopback = try BlueskyLoopback { paging.answer($0) }
        for text in ["", "nonsense", "{}", #"{"window":1}"#] {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.page(.home, .newer(than: text))
            }
            #expect(error.code == .rejected)
        }
        #expect(loopback.requests.isEmpty)
    }

    @Test func requestsAreAsDocumented() async throws {
        let loopback = try BlueskyLoopback { request in
            let name = request.path.split(separator: ".").last ?? ""
            let lists = [
                "listRecords": "records", "getTimeline": "feed",
                "listNotifications": "notifications",
            ]
            return lists[String(name)].map { .json(BlueskyJSON.page($0, [])) }
        }
        for feed in Feed.allCases {
            _ = try await loopback.network.page(feed, .newest)
            _ = try await loopback.network.page(feed, .older("a b&c"))
        }
        let records =
            "/xrpc/com.atproto.repo.listRecords?repo=did%3Aplc%3Abotbotbotbotbotbotbotbot&collection="
        let starts = [
            records + "app.bsky.feed.post", "/xrpc/app.bsky.feed.getTimeline?",
            records + "app.bsky.feed.like",
            "/xrpc/app.bsky.notification.listNotifications?reasons=mention&reasons=reply",
        ]
        let expected = starts.flatMap { start -> [String] in
            let query = start + (start.hasSuffix("?") ? "" : "&") + "limit=100"
            return [query, query + "&cursor=a%20b%26c"]
        }
        #expect(loopback.requests.map(\.target) == expected)
    }

    @Test(arguments: [
        "", "[]", "{}", "null", #"{"feed":null}"#, #"{"feed":{}}"#, "<html>", #"{"feed":["#,
    ])
    func anAnswerWithoutAListIsAnError(body: String) async throws {
        let loopback = try BlueskyLoopback {
            $0.method("app.bsky.feed.getTimeline") ? .json(body) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newest)
        }
        #expect(error.code == .malformedResponse)
        #expect(!error.isPermanent)
    }

    @Test func oneBrokenItemDoesNotHideTheOthers() async throws {
        let broken = [
            "1", "null", "{}", #"{"post":{}}"#, #"{"post":{"uri":"at://x","cid":"c"}}"#,
            BlueskyJSON.item(BlueskyJSON.view("a", "{\"text\":1.5}")),
            BlueskyJSON.item(BlueskyJSON.view("b", BlueskyJSON.record(), ["author": "null"])),
            BlueskyJSON.item(
                BlueskyJSON.view(
                    "c", BlueskyJSON.record(),
                    ["uri": "\"\(BlueskyJSON.uri("c", by: "did:plc:eve"))\""])),
        ]
        let body = BlueskyJSON.page("feed", broken + [BlueskyJSON.item(BlueskyJSON.view("d"))])
        let loopback = try BlueskyLoopback {
            $0.method("app.bsky.feed.getTimeline") ? .json(body) : nil
        }
        let page = try await loopback.network.page(.home, .newest)
        #expect(page.items.map(\.post.id.value) == [BlueskyJSON.uri("d")])
        #expect(page.unreadable.count == broken.count)
        #expect(page.received == broken.count + 1)
    }

    @Test func repostsAreMarkedAndPinsLeftOut() async throws {
        func repost(by did: String, at time: String) -> String {
            #"{"$type":"app.bsky.feed.defs#reasonRepost","by":{"did":"\#(did)"},"indexedAt":"\#(time)"}"#
        }
        let view = BlueskyJSON.view("a")
        let body = BlueskyJSON.page(
            "feed",
            [
                BlueskyJSON.item(view, reason: #"{"$type":"app.bsky.feed.defs#reasonPin"}"#),
                BlueskyJSON.item(
                    view, reason: repost(by: "did:plc:bob", at: "2026-11-20T20:30:00Z")),
                BlueskyJSON.item(view, reason: #"{"$type":"app.bsky.feed.defs#reasonFuture"}"#),
            ])
        let loopback = try BlueskyLoopback {
            $0.method("app.bsky.feed.getTimeline") ? .json(body) : nil
        }
        let page = try await loopback.network.page(.home, .newest)
        #expect(page.items.map(\.post.isRepost) == [true, false])
        #expect(page.received == 3)
        #expect(page.unreadable.count == 0)
    }

    @Test func mentionsAreWhatNamesOrAnswersTheAccount() async throws {
        let toBot = BlueskyJSON.record(
            "to the bot", ["reply": BlueskyJSON.reply(to: "p", root: "r")])
        let toOther = BlueskyJSON.record(
            "to ann", ["reply": BlueskyJSON.reply(to: "p", root: "r", by: "did:plc:ann")])
        let elements = [
            BlueskyJSON.notification("a", "mention"),
            BlueskyJSON.notification("b", "reply", ["record": toBot]),
            // In a conversation that the bot began, but not said to it.
            BlueskyJSON.notification("c", "reply", ["record": toOther]),
            BlueskyJSON.notification("d", "quote"),
            BlueskyJSON.notification("e", "like"),
            BlueskyJSON.notification("f", "follow", ["record": "{}"]),
            BlueskyJSON.notification("g", "something-new"),
            BlueskyJSON.notification("a", "reply", ["record": toBot]),
            BlueskyJSON.notification("h", "mention", ["record": ""]),
        ]
        let loopback = try BlueskyLoopback { request in
            request.method("app.bsky.notification.listNotifications")
                ? .json(BlueskyJSON.page("notifications", elements)) : nil
        }
        let page = try await loopback.network.page(.mentions, .newest)
        #expect(page.items.map(\.post.id.value) == [BlueskyJSON.uri("a"), BlueskyJSON.uri("b")])
        #expect(
            page.items.last?.replyToAddress
                == "\(BlueskyJSON.uri("p", by: BlueskyLoopback.did)) \(BlueskyJSON.cid)")
        #expect(page.items.last?.conversation == BlueskyJSON.uri("r", by: BlueskyLoopback.did))
        #expect(page.received == elements.count)
        #expect(page.unreadable.count == 1)
    }

    /// A place becomes a part of the next address, so there is a limit to what a server may call
    /// it.
    @Test func aPlaceIsNoLongerThanPlacesAre() async throws {
        let place = String(repeating: "x", count: 4_096)
        for (cursor, older) in [(place, place), (place + "x", nil)] {
            let loopback = try BlueskyLoopback { request in
                request.method("com.atproto.repo.listRecords")
                    ? .json(
                        BlueskyJSON.records([BlueskyJSON.listed("3ke6kg3wk2222")], cursor: cursor))
                    : nil
            }
            let page = try await loopback.network.page(.ownPosts, .newest)
            #expect(page.older == older)
            var stored = BlueskyCursor(itemKeys: [], isWhole: true, at: nil)
            stored.rest = BlueskyCursor.Rest(place: cursor, window: stored.window)
            expect((BlueskyCursor(try stored.text()) == nil), equals: (older == nil))
        }
    }

    @Test func favoritesAreWhatIsStillThere() async throws {
        let likes = [
            BlueskyJSON.like("3ke6kg3wk2225", of: BlueskyJSON.uri("a")),
            BlueskyJSON.like("3ke6kg3wk2224", of: BlueskyJSON.uri("gone")),
            BlueskyJSON.like("3ke6kg3wk2223", of: BlueskyJSON.uri("f", "app.bsky.feed.generator")),
            BlueskyJSON.like("3ke6kg3wk2222", of: BlueskyJSON.uri("b")),
            BlueskyJSON.like("3ke6kg3wj2222", of: BlueskyJSON.uri("broken")),
        ]
        let posts = [
            BlueskyJSON.view("b"), BlueskyJSON.view("a"), BlueskyJSON.view("unasked"),
            BlueskyJSON.view("broken", BlueskyJSON.record(), ["record": "7"]),
        ]
        let loopback = try BlueskyLoopback { request in
            if request.method("com.atproto.repo.listRecords") {
                return .json(BlueskyJSON.records(likes))
            }
            return request.method("app.bsky.feed.getPosts")
                ? .json(BlueskyJSON.page("posts", posts)) : nil
        }
        let page = try await loopback.network.page(.favorites, .newest)
        #expect(page.items.map(\.post.id.value) == [BlueskyJSON.uri("a"), BlueskyJSON.uri("b")])
        #expect(page.items.map(\.isFavorited) == [true, true])
        #expect(page.received == 5)
        #expect(page.unreadable.count == 1)
        let question = try #require(loopback.requests.first { $0.method("app.bsky.feed.getPosts") })
        #expect(
            question.values("uris") == ["a", "gone", "b", "broken"].map { BlueskyJSON.uri($0) })
    }

    @Test func recordsOfOtherAccountsAreNotBelieved() async throws {
        let elements = [BlueskyJSON.listed("a", by: "did:plc:eve"), BlueskyJSON.listed("b")]
        let loopback = try BlueskyLoopback { request in
            request.method("com.atproto.repo.listRecords")
                ? .json(BlueskyJSON.records(elements)) : nil
        }
        let page = try await loopback.network.page(.ownPosts, .newest)
        #expect(page.items.map(\.post.id.value) == [BlueskyJSON.uri("b", by: BlueskyLoopback.did)])
        #expect(page.unreadable.count == 1)
    }
}
