import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Mastodon
@testable import Networks
@testable import X

/// Pages that are larger than an answer may be, and items that are so alone.
@Suite struct LargePageTests {
    /// An eighth of what an answer may be here.
    private static let eighth = 10_000

    private func network(_ loopback: Loopback) -> MastodonNetwork {
        var network = loopback.network
        network.maximumPage = 8 * Self.eighth
        return network
    }

    /// A feed of Mastodon whose items have texts of any length; the last one is the newest.
    private struct HeavyFeed: Sendable {
        var lengths: [Int]
        var hasLink = true
        /// Gives the newest page, whatever is asked for above.
        var ignoresMinID = false
        /// Sends everything, whatever is asked for.
        var ignoresLimit = false

        func answer(_ request: LoopbackServer.Request) -> Answer? {
            guard request.path == "/api/v1/notifications" else { return nil }
            let query = request.query
            let limit = ignoresLimit ? 1_000 : Int(query["limit"] ?? "") ?? 40
            let top = (query["max_id"].flatMap(Int.init) ?? lengths.count + 1) - 1
            let floor = ignoresMinID ? 0 : query["min_id"].flatMap(Int.init) ?? 0
            let all = floor < top ? Array((floor + 1)...top) : []
            let isAscending = query["min_id"] != nil && !ignoresMinID
            let numbers = Array((isAscending ? all.prefix(limit) : all.suffix(limit)).reversed())
            var headers: [(String, String)] = []
            if hasLink, let newest = numbers.first, let oldest = numbers.last {
                let next = oldest > 1 ? "<https://h/?max_id=\(oldest)>; rel=\"next\", " : ""
                headers = [("Link", next + "<https://h/?min_id=\(newest)>; rel=\"prev\"")]
            }
            return .json(Wire.list(numbers.map(item)), headers: headers)
        }

        /// The ids come first, as on real servers.
        private func item(_ number: Int) -> String {
            let text = String(repeating: "x", count: lengths[number - 1])
            return #"{"id":"\#(number)","type":"mention","created_at":"2026-11-20T20:30:00.000Z","#
                + #""account":\#(Wire.account("7", acct: "ann")),"status":{"id":"s\#(number)","#
                + #""uri":"https://home.example/\#(number)","account":\#(Wire.account("7", acct: "ann")),"#
                + #""content":"\#(text)"}}"#
        }
    }

    /// What a reader comes by that halves what it asks for whenever an answer is too large.
    private func read(
        _ network: any SocialNetwork, _ feed: Feed, from start: FeedPosition, size: Int? = nil
    ) async throws -> (addresses: [String], unreadable: [UnreadableItem]) {
        var addresses: [String] = []
        var unreadable: [UnreadableItem] = []
        var position = Optional(start)
        var size = size
        var calls = 0
        while let place = position {
            calls += 1
            try #require(calls < 200)
            let page: FeedPage
            do {
                page = try await network.page(feed, place, size: size)
            } catch let error as NetworkError where error.code == .tooLarge && size != 1 {
                size = max(1, (size ?? 40) / 2)
                continue
            }
            addresses += page.items.map(\.address)
            unreadable += page.unreadable
            if case .newer = place {
                position = page.received == 0 ? nil : page.newer.map(FeedPosition.newer)
            } else {
                position = page.older.map(FeedPosition.older)
            }
        }
        return (addresses, unreadable)
    }

    @Test(arguments: [true, false], [true, false])
    func everyMentionIsReadOrNamed(hasLink: Bool, ignoresMinID: Bool) async throws {
        let lengths = [
            10, 3, 3 * Self.eighth, 9 * Self.eighth, 7, 5 * Self.eighth, 4 * Self.eighth, 1,
        ]
        let feed = HeavyFeed(lengths: lengths, hasLink: hasLink, ignoresMinID: ignoresMinID)
        let loopback = try Loopback { feed.answer($0) }
        for start in [FeedPosition.newest, .newer(than: "1")] {
            let (addresses, unreadable) = try await read(network(loopback), .mentions, from: start)
            let first = start == .newest ? ["s1"] : []
            #expect(Set(addresses) == Set(["s8", "s7", "s6", "s5", "s3", "s2"] + first))
            #expect(addresses.count == Set(addresses).count)
            #expect(unreadable.map(\.address) == ["s4"])
            #expect(unreadable.map(\.cause) == ["it is larger than an answer may be"])
            expect(unreadable) { $0.allSatisfy { $0.digest.count == 32 } }
        }
    }

    /// Twelve of a megabyte, as they were once sent to silence a bot.
    @Test func aPageThatIsTooLargeSaysSo() async throws {
        let feed = HeavyFeed(lengths: Array(repeating: Self.eighth, count: 12))
        let loopback = try Loopback { feed.answer($0) }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network(loopback).page(.mentions, .newest)
        }
        #expect(error.code == .tooLarge)
        #expect(!error.stopsActor)
        let page = try await network(loopback).page(.mentions, .newest, size: 5)
        #expect(page.items.map(\.address) == ["s12", "s11", "s10", "s9", "s8"])
    }

    /// Where a server sends more than one item, the first of them is not what is too large.
    @Test(arguments: [true, false]) func nothingIsPassedOverWhereAServerIgnoresTheLimit(
        hasLink: Bool
    ) async throws {
        let lengths = [9 * Self.eighth, 5, 5]
        let feed = HeavyFeed(lengths: lengths, hasLink: hasLink, ignoresLimit: true)
        let loopback = try Loopback { feed.answer($0) }
        for position in [FeedPosition.newest, .newer(than: "0")] {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await network(loopback).page(.mentions, position, size: 1)
            }
            #expect(error.code == .tooLarge)
        }
    }

    /// Nor is what follows it taken for read.
    @Test(arguments: [true, false]) func whatFollowsALargeItemIsReadToo(hasLink: Bool) async throws
    {
        let feed = HeavyFeed(
            lengths: [5, 5, 9 * Self.eighth], hasLink: hasLink, ignoresLimit: true)
        let loopback = try Loopback { feed.answer($0) }
        for start in [FeedPosition.newest, .newer(than: "0")] {
            let (addresses, unreadable) = try await read(
                network(loopback), .mentions, from: start, size: 1)
            #expect(addresses.sorted() == ["s1", "s2"])
            #expect(unreadable.map(\.address) == ["s3"])
        }
    }

    /// The cursors of favorites are no ids, so without the header nothing tells where they go on.
    @Test(arguments: [true, false]) func aLargeFavoriteIsPassedByItsCursor(hasLink: Bool)
        async throws
    {
        let text = String(repeating: "x", count: 9 * Self.eighth)
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/favourites" else { return nil }
            let link = "<https://h/?max_id=f7>; rel=\"next\", <https://h/?min_id=f7>; rel=\"prev\""
            return .json(
                #"[{"id":"99","content":"\#(text)"}]"#, headers: hasLink ? [("Link", link)] : [])
        }
        guard hasLink else {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await network(loopback).page(.favorites, .newest, size: 1)
            }
            #expect(error.code == .tooLarge)
            return
        }
        let page = try await network(loopback).page(.favorites, .newest, size: 1)
        #expect(page.older == "f7")
        #expect(page.newer == "f7")
        #expect(page.unreadable.map(\.address) == ["99"])
        #expect(page.received == 1)
    }

    /// A refusal remains one, however long the page is that it comes with.
    @Test func aLargeRefusalIsARefusal() async throws {
        let body = String(repeating: "<p>x</p>", count: 2 << 20)
        let loopback = try Loopback { request in
            request.path == "/api/v1/timelines/home" ? Answer(status: 503, body: body) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newest, size: 1)
        }
        #expect(error.code == .unavailable)
        #expect(error.status == 503)
    }

    // MARK: Sizes

    @Test(arguments: [1, 7, 40]) func theSizeIsAskedFor(size: Int) async throws {
        let mastodon = try Loopback { request in
            ["/api/v1/notifications", "/api/v1/timelines/home"].contains(request.path)
                ? .json("[]") : nil
        }
        _ = try await mastodon.network.page(.mentions, .newest, size: size)
        _ = try await mastodon.network.page(.home, .older("9"), size: size)
        _ = try await mastodon.network.page(.home, .newer(than: "9"), size: size)
        #expect(
            mastodon.requests.map { $0.query["limit"] } == Array(repeating: "\(size)", count: 3))

        let paging = BlueskyPagingServer(.home, .documented, count: 50)
        let bluesky = try BlueskyLoopback { paging.answer($0) }
        let cursor = try #require(try await bluesky.network.page(.home, .newest, size: size).newer)
        paging.grow(by: 30)
        _ = try await bluesky.network.page(.home, .newer(than: cursor), size: size)
        let limits = bluesky.requests.filter { $0.method("app.bsky.feed.getTimeline") }.map {
            $0.query["limit"]
        }
        #expect(limits.count > 1)
        #expect(Set(limits) == ["\(size)"])

        let x = try XLoopback {
            $0.path.hasPrefix("/2/users/42/") ? .json(XWire.list([XWire.post("9")])) : nil
        }
        _ = try await x.network.page(.mentions, .newest, size: size)
        _ = try await x.network.page(.mentions, .newer(than: "5"), size: size)
        _ = try await x.network.page(.favorites, .newest, size: size)
        let asked = x.requests.compactMap { $0.query["max_results"] }
        #expect(asked == Array(repeating: "\(max(5, size))", count: 3))
    }

    /// Many small pages find what few large ones do, on every way of paging.
    @Test(arguments: PagingServer.Habit.allCases, [1, 3])
    func smallPagesMissNothing(habit: PagingServer.Habit, size: Int) async throws {
        let paging = PagingServer(habit, count: 30)
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? paging.answer($0) : nil
        }
        let newest = try await loopback.network.page(.home, .newest, size: size)
        let cursor = try #require(newest.newer)
        paging.grow(by: 45)
        let found = try await read(loopback.network, .home, from: .newer(than: cursor), size: size)
        #expect(Set(found.addresses) == Set(paging.addresses(31...75)))
        let again = try await loopback.network.page(.home, .newest)
        #expect(again.newer != nil)
    }

    @Test(arguments: Feed.allCases, BlueskyPagingServer.Habit.allCases)
    func smallPagesOfBlueskyMissNothing(feed: Feed, habit: BlueskyPagingServer.Habit) async throws {
        let paging = BlueskyPagingServer(feed, habit, count: 90)
        let loopback = try BlueskyLoopback { paging.answer($0) }
        let old = Set(paging.identities)
        let cursor = try #require(try await loopback.network.page(feed, .newest).newer)
        paging.grow(by: 30)
        var position: String? = cursor
        var found: [String] = []
        while let place = position {
            let page = try await loopback.network.page(feed, .newer(than: place), size: 2)
            found += page.items.map(\.post.id.value)
            position = page.received == 0 ? nil : page.newer
        }
        #expect(Set(found) == Set(paging.identities).subtracting(old))
        #expect(found.count == 30)
    }

    // MARK: Bluesky

    /// The cursor stands before the list on some servers; a record's place is called as the record
    /// is on all.
    @Test func aLargeItemOfBlueskyIsPassedByItsPlace() async throws {
        let text = String(repeating: "x", count: 9 << 20)
        let reference = #""uri":"\#(BlueskyJSON.uri("big"))","cid":"\#(BlueskyJSON.cid)""#
        let loopback = try BlueskyLoopback { request in
            switch request.path {
            case "/xrpc/app.bsky.notification.listNotifications":
                .json(
                    #"{"cursor":"below","notifications":[{\#(reference),"record":{"text":"\#(text)"}}]}"#
                )
            case "/xrpc/com.atproto.repo.listRecords":
                .json(
                    #"{"records":[{"uri":"\#(BlueskyJSON.uri("3ke6kg3wk2222", by: BlueskyLoopback.did))","#
                        + #""cid":"\#(BlueskyJSON.cid)","value":{"text":"\#(text)"}}]}"#)
            case "/xrpc/app.bsky.feed.getTimeline":
                .json(
                    #"{"feed":[{"post":{\#(reference),"record":{"text":"\#(text)"}}}],"cursor":"late"}"#
                )
            default: nil
            }
        }
        let mentions = try await loopback.network.page(.mentions, .newest, size: 1)
        #expect(mentions.older == "below")
        #expect(
            mentions.unreadable.map(\.address) == ["\(BlueskyJSON.uri("big")) \(BlueskyJSON.cid)"])
        #expect(mentions.unreadable.map(\.cause) == ["it is larger than an answer may be"])
        let own = try await loopback.network.page(.ownPosts, .newest, size: 1)
        #expect(own.older == "3ke6kg3wk2222")
        #expect(own.unreadable.count == 1)
        for size in [1, 2] {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.page(.home, .newest, size: size)
            }
            #expect(error.code == .tooLarge)
        }
    }

    // MARK: Beginnings

    @Test(
        arguments: [
            (
                #"[{"id":"7","status":{"id":9,"x":"#,
                [["0", "id"]: "7", ["0", "status", "id"]: "9"], 0
            ),
            (#"[{"id":"7"},{"id":"6"#, [["0", "id"]: "7"], 1),
            (#"{"cursor":"a\"b","list":[{"#, [["cursor"]: "a\"b"], 0),
            (#"[{"id":12"#, [:], 0), ("", [:], 0), ("]]]", [:], 0), ("[\"\\", [:], 0),
            (#"{"a":true,"b":[1,2],"c":3}"#, [["b", "0"]: "1", ["b", "1"]: "2", ["c"]: "3"], 0),
            (#"[{"id":"1","id":"2"}]"#, [["0", "id"]: "1"], 1), (#"[[[[["deep"]]]]]"#, [:], 1),
        ] as [(String, [[String]: String], Int)])
    func readsWhatIsThereOfAText(text: String, values: [[String]: String], whole: Int) {
        let beginning = JSONBeginning(Array(text.utf8))
        #expect(beginning.values == values)
        #expect(beginning.wholeElements == whole)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":[", "\"", "}", ",", "\\", "[1,"])
    func aHostileBeginningTellsNothing(part: String) {
        let beginning = JSONBeginning(
            Array(String(repeating: part, count: 65_536 / part.utf8.count).utf8))
        #expect(beginning.wholeElements == 0)
    }
}
