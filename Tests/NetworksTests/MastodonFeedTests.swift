import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

@Suite struct MastodonFeedTests {
    private let link = (
        "Link",
        #"<https://evil.example/x?max_id=100&limit=1>; rel="next", <https://evil.example/x?min_id=140>; rel="prev""#
    )

    @Test(arguments: [
        (Feed.ownPosts, "/api/v1/accounts/1/statuses", ["limit": "40"]),
        (.home, "/api/v1/timelines/home", ["limit": "40"]),
        (.favorites, "/api/v1/favourites", ["limit": "40"]),
        (
            .mentions, "/api/v1/notifications",
            ["limit": "40", "types[]": "mention", "include_filtered": "true"]
        ),
    ])
    func asksForAFeed(feed: Feed, path: String, query: [String: String]) async throws {
        let loopback = try Loopback { $0.path == path ? .json("[]", headers: [self.link]) : nil }
        let network = loopback.network
        // Cursors of favorites are any text; others are ids, which tell their place.
        let cursor = feed == .favorites ? "a&b" : "8"
        _ = try await network.page(feed, .newest)
        _ = try await network.page(feed, .older(cursor))
        _ = try await network.page(feed, .newer(than: "9"))
        let requests = loopback.requests
        // What the server is, is known from the first answer on; of two parameters with one name
        // the last is seen here.
        let later = feed == .mentions ? query.merging(["types[]": "update"]) { $1 } : query
        #expect(requests.map(\.path) == [path, path, path])
        #expect(requests.map(\.method) == ["GET", "GET", "GET"])
        #expect(
            requests.map(\.query) == [
                query, later.merging(["max_id": cursor]) { $1 },
                later.merging(["min_id": "9"]) { $1 },
            ])
        for request in loopback.server.requests {
            #expect(request.header("Authorization") == "Bearer \(Loopback.token)")
            #expect(request.header("Accept") == "application/json")
            #expect(request.header("User-Agent") == "mirror-bot-tests")
            #expect(request.header("Content-Type") == nil)
            #expect(request.body.isEmpty)
        }
    }

    /// What others than Mastodon do with a type that they do not know, nobody can tell.
    @Test(arguments: [
        ("4.5.0", ["mention", "update"]), ("0.20.1+git-57cb4fe", ["mention"]),
        ("2.7.2 (compatible; Akkoma 3.10.4)", ["mention"]),
    ])
    func changesAreAskedForWhereTheyAreKnown(version: String, types: [String]) async throws {
        let instance = Answer.json(
            #"{"domain":"home.example","version":"\#(version)","source_url":"https://x.example/gotosocial"}"#
        )
        let loopback = try Loopback { request in
            if request.path == "/api/v2/instance" {
                return version == "4.5.0"
                    ? .json(#"{"domain":"home.example","version":"4.5.0"}"#) : instance
            }
            return request.path == "/api/v1/notifications" ? .json("[]") : nil
        }
        _ = try await loopback.network.limits()
        _ = try await loopback.network.page(.mentions, .newest)
        let request = try #require(loopback.requests.last)
        #expect(
            request.target.components(separatedBy: "types%5B%5D=").dropFirst().map {
                String($0.prefix { $0.isLetter })
            }
                == types)
    }

    /// A change of a post that the account has to do with tells of it; only one that names the
    /// account is for it.
    @Test func aChangeThatNamesTheAccountIsAMention() async throws {
        let named = #"[{"id":"1","username":"ann","acct":"ann","url":"https://home.example/@ann"}]"#
        let edited = #""2026-11-20T20:00:00.000Z""#
        @Sendable func notification(
            _ id: String, _ type: String, _ fields: [String: String], at time: String
        ) -> String {
            Wire.notification(
                id,
                status: Wire.status(
                    id, ["created_at": #""2026-11-10T08:00:00.000Z""#].merging(fields) { $1 }),
                ["type": "\"\(type)\"", "created_at": "\"\(time)\""])
        }
        let loopback = try Loopback { request in
            request.path == "/api/v1/notifications"
                ? .json(
                    Wire.list([
                        notification(
                            "9", "update", ["mentions": named, "edited_at": edited],
                            at: "2026-11-20T20:00:01.000Z"),
                        notification(
                            "8", "update", ["mentions": "[]", "edited_at": edited],
                            at: "2026-11-20T20:00:01.000Z"),
                        notification(
                            "7", "mention", ["mentions": named, "edited_at": edited],
                            at: "2026-11-20T20:00:01.000Z"),
                        // Changed long after the account was told: it was named from the beginning.
                        notification(
                            "6", "mention", ["mentions": named, "edited_at": edited],
                            at: "2026-11-10T08:00:05.000Z"),
                        notification(
                            "5", "mention", ["mentions": named], at: "2026-11-20T20:00:01.000Z"),
                    ])) : nil
        }
        let page = try await loopback.network.page(.mentions, .newest)
        let change = Date(timeIntervalSince1970: 1_795_204_800)
        #expect(page.items.map(\.address) == ["9", "7", "6", "5"])
        #expect(page.items.map(\.mentionAddedAt) == [change, change, nil, nil])
        #expect(page.received == 5)
        #expect(page.unreadable.isEmpty)
    }

    @Test func takesCursorsFromTheLinkHeader() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/favourites"
                ? .json(Wire.list([Wire.status("7"), Wire.status("5")]), headers: [self.link]) : nil
        }
        let page = try await loopback.network.page(.favorites, .newest)
        #expect(page.older == "100")
        #expect(page.newer == "140")
    }

    /// The cursors of favorites are not ids of posts, so there is nothing to put in their place.
    @Test func favoritesHaveNoCursorsWithoutALinkHeader() async throws {
        let loopback = try Loopback {
            $0.path == "/api/v1/favourites" ? .json(Wire.list([Wire.status("7")])) : nil
        }
        let page = try await loopback.network.page(.favorites, .newest)
        #expect(page.items.map(\.address) == ["7"])
        #expect(page.older == nil)
        #expect(page.newer == nil)
    }

    @Test func idsTakeThePlaceOfAMissingLinkHeader() async throws {
        let posts = Wire.list([Wire.status("12"), Wire.status("9"), #"{"id":"8"}"#])
        let loopback = try Loopback { $0.path == "/api/v1/timelines/home" ? .json(posts) : nil }
        let page = try await loopback.network.page(.home, .newest)
        #expect(page.older == "8")
        #expect(page.newer == "12")
        #expect(page.unreadable.count == 1)
    }

    @Test func anEmptyPageKeepsTheCursor() async throws {
        let loopback = try Loopback { $0.path == "/api/v1/favourites" ? .json("[]") : nil }
        let page = try await loopback.network.page(.favorites, .newer(than: "9"))
        #expect(page.items.isEmpty)
        #expect(page.received == 0)
        #expect(page.newer == nil)
        #expect(loopback.requests.count == 1)
    }

    /// The newest favorites come again on a server that does not know `min_id`; the cursor tells
    /// that nothing is new.
    @Test func favoritesThatComeAgainAreNotNew() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/favourites"
                ? .json(Wire.list([Wire.status("7")]), headers: [self.link]) : nil
        }
        let page = try await loopback.network.page(.favorites, .newer(than: "140"))
        #expect(page.items.isEmpty)
        #expect(page.newer == nil)
        #expect(loopback.requests.count == 1)
    }

    /// One server was seen to give the newest favorite for `min_id`, skipping those between.
    @Test func favoritesBetweenTheCursorAndAPageAreNotMissed() async throws {
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/favourites" else { return nil }
            let pages = [nil: ("f9", "7"), "f9": ("f8", "6"), "f8": ("f7", "5")]
            guard let (cursor, post) = pages[request.query["max_id"]] else { return .json("[]") }
            let link =
                "<https://h/?max_id=\(cursor)>; rel=\"next\", <https://h/?min_id=\(cursor)>; rel=\"prev\""
            return .json(Wire.list([Wire.status(post)]), headers: [("Link", link)])
        }
        let page = try await loopback.network.page(.favorites, .newer(than: "f6"))
        #expect(page.items.map(\.address) == ["7", "6", "5"])
        #expect(page.newer == "f9")
        expect(loopback.requests) { $0.allSatisfy { $0.query["min_id"] == "f6" } }
    }

    @Test func onlyMentionsAreTakenFromNotifications() async throws {
        let body = Wire.list([
            Wire.notification("30", status: Wire.status("9")),
            Wire.notification("29", status: Wire.status("8"), ["type": "\"favourite\""]),
            Wire.notification("28", status: "", ["type": "\"admin.sign_up\""]),
            Wire.notification("27", status: "null"),
            Wire.notification("26", status: #"{"id":"5"}"#),
            Wire.notification("25", status: Wire.status("9")),
            Wire.notification("24", status: Wire.status("4", ["created_at": "\"\""])),
        ])
        let loopback = try Loopback { $0.path == "/api/v1/notifications" ? .json(body) : nil }
        let page = try await loopback.network.page(.mentions, .newest)
        #expect(page.items.map(\.address) == ["9", "4"])
        #expect(page.received == 7)
        #expect(page.unreadable.count == 2)
        #expect(page.newer == "30")
        #expect(page.older == "24")
        let last = try #require(page.items.last)
        #expect(last.post.createdAt == Date(rfc3339: "2026-11-20T20:30:00Z"))
        #expect(!last.post.isTimeTrusted)
    }

    /// A page of other notifications is not the end of the mentions.
    @Test func pagesWithoutMentionsAreWalkedThrough() async throws {
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/notifications" else { return nil }
            switch request.query["min_id"] {
            case "10":
                return .json(
                    Wire.list([Wire.notification("11", status: "", ["type": "\"follow\""])]))
            case "11": return .json(Wire.list([Wire.notification("12", status: Wire.status("1"))]))
            default: return .json("[]")
            }
        }
        var walk = FeedWalk(of: loopback.network, .mentions, from: .newer(than: "10"))
        var addresses: [String] = []
        while let page = try await walk.next() { addresses += page.items.map(\.address) }
        #expect(addresses == ["1"])
        #expect(walk.newer == "12")
    }

    @Test(arguments: [
        "null", "1", "\"x\"", Wire.status("5", ["content": "{}"]), "[]",
        "{}", "true", #"{"id":null}"#, #"{"id":{}}"#, #"{"id":""}"#, #"{"id":"5"}"#,
        #"{"id":"5","account":{"id":"7","acct":"ann"}}"#,
        #"{"id":"5","uri":"https://h/5","account":null}"#,
        #"{"id":"5","uri":"https://h/5","account":{"id":"7"}}"#,
        #"{"id":"5","uri":"https://h/5","account":{"id":"7","acct":"a@b@c"}}"#,
        #"{"id":"5","uri":"https://h/a b","account":{"id":"7","acct":"ann"}}"#,
        #"{"id":"5","uri":"\u0000","account":{"id":"7","acct":"ann"}}"#,
        #"{"id":1e400,"uri":"https://h/5"}"#,
    ])
    func oneUnreadableItemIsSkippedAndCounted(item: String) async throws {
        let body = Wire.list([Wire.status("9"), item, Wire.status("4")])
        let loopback = try Loopback { $0.path == "/api/v1/timelines/home" ? .json(body) : nil }
        let page = try await loopback.network.page(.home, .newest)
        #expect(page.items.map(\.address) == ["9", "4"])
        #expect(page.unreadable.count == 1)
        #expect(page.received == 3)
    }

    @Test func repeatedItemsComeOnce() async throws {
        let body = Wire.list(["3", "2", "3", "2"].map { Wire.status($0) })
        let loopback = try Loopback { $0.path == "/api/v1/timelines/home" ? .json(body) : nil }
        try await expect(
            loopback.network.page(.home, .newest).items.map(\.address), equals: ["3", "2"])
    }

    /// Some servers give a repost the identity of the original.
    @Test func aRepostDoesNotHideItsOriginal() async throws {
        let uri = "\"https://far.example/1\""
        let body = Wire.list([
            Wire.status("3", ["uri": uri, "reblog": Wire.status("2")]),
            Wire.status("2", ["uri": uri]),
        ])
        let loopback = try Loopback { $0.path == "/api/v1/timelines/home" ? .json(body) : nil }
        let items = try await loopback.network.page(.home, .newest).items
        #expect(items.map(\.post.isRepost) == [true, false])
    }

    @Test func aTimelineThatIsBeingBuiltIsEmptyForNow() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/timelines/home"
                ? .json(
                    Wire.list([Wire.status("9")]), status: 206,
                    headers: [("X-RateLimit-Remaining", "7")]) : nil
        }
        for position in [FeedPosition.newest, .newer(than: "1")] {
            let page = try await loopback.network.page(.home, position)
            #expect(page.items.isEmpty)
            #expect(page.newer == nil)
            #expect(page.older == nil)
            #expect(page.rateLimit == RateLimit(remaining: 7))
        }
    }

    @Test func aBrokenByteDoesNotHideThePage() async throws {
        let server = try LoopbackServer { request, connection in
            guard request.path == "/api/v1/timelines/home" else {
                let answer = Loopback.usual(request)
                return try connection.respond(status: answer.status, body: Array(answer.body.utf8))
            }
            var body = Array(Wire.list([Wire.status("9", ["content": "\"<p>a?b</p>\""])]).utf8)
            if let index = body.firstIndex(of: UInt8(ascii: "?")) { body[index] = 0xFF }
            try connection.respond(status: 200, body: body)
        }
        let network = try Loopback.network(of: server)
        let page = try await network.page(.home, .newest)
        #expect(page.items.map(\.post.text) == ["a\u{FFFD}b"])
    }

    @Test(arguments: [
        "", "null", "{}", "[", "[1,", "<html>maintenance</html>", #"{"error":"x"}"#,
        String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000),
    ])
    func aPageThatIsNoListIsAnError(body: String) async throws {
        let loopback = try Loopback { $0.path == "/api/v1/timelines/home" ? .json(body) : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newest)
        }
        #expect(error.code == .malformedResponse)
        #expect(error.operation == .readHome)
        #expect(error.status == 200)
        #expect(!error.isPermanent)
        #expect(!error.description.contains("maintenance"))
    }

    @Test(
        arguments: [
            // Mastodon, GoToSocial, others; the server's clock is ten minutes ahead.
            (
                ["X-RateLimit-Reset": "2026-11-20T21:15:00.000000Z"],
                RateLimit(resetsAt: Loopback.start + 300)
            ),
            (
                ["x-ratelimit-reset": "2026-11-20T21:15:00.000Z"],
                RateLimit(resetsAt: Loopback.start + 300)
            ),
            (
                ["X-Ratelimit-Reset": "2026-11-20T22:15:00+01:00"],
                RateLimit(resetsAt: Loopback.start + 300)
            ),
            (["X-RateLimit-Reset": "1795209300"], RateLimit(resetsAt: Loopback.start + 300)),
            (["X-RateLimit-Reset": "300"], RateLimit(resetsAt: Loopback.start + 300)),
            (["X-RateLimit-Reset": "2026-11-20T21:00:00Z"], RateLimit(resetsAt: Loopback.start)),
            (
                [
                    "X-RateLimit-Limit": "300", "X-RateLimit-Remaining": "0",
                    "X-RateLimit-Reset": "soon",
                ],
                RateLimit(limit: 300, remaining: 0)
            ),
            (["X-RateLimit-Limit": "many", "X-RateLimit-Remaining": ""], nil), ([:], nil),
        ] as [([String: String], RateLimit?)])
    func pagesTellWhatIsLeftOfTheRateLimit(headers: [String: String], expected: RateLimit?)
        async throws
    {
        let pairs = headers.map { ($0.key, $0.value) } + [("Date", "Fri, 20 Nov 2026 21:10:00 GMT")]
        let loopback = try Loopback {
            $0.path == "/api/v1/timelines/home" ? .json("[]", headers: pairs) : nil
        }
        for position in [FeedPosition.newest, .older("9"), .newer(than: "9")] {
            try await expect(loopback.network.page(.home, position).rateLimit, equals: expected)
        }
    }

    /// Where one page takes several requests, the last word counts.
    @Test func aPageOfManyRequestsTellsTheLatest() async throws {
        let left = Counter()
        let paging = PagingServer(.minIDAsSinceID, count: 100)
        let loopback = try Loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            var answer = paging.answer(request)
            answer.headers.append(("X-RateLimit-Remaining", String(300 - left.next())))
            return answer
        }
        let page = try await loopback.network.page(.home, .newer(than: "10"))
        #expect(page.items.count == 90)
        #expect(page.rateLimit?.remaining == 300 - loopback.requests.count)
        #expect(loopback.requests.count > 1)
    }

    @Test func ownPostsReachBackToAnInstant() async throws {
        // Post 100 is from 21:00, each other one ten minutes older than the next.
        let paging = PagingServer(.documented, count: 100) { id in
            Loopback.start.addingTimeInterval(Double(id - 100) * 600)
        }
        let loopback = try Loopback {
            $0.path == "/api/v1/accounts/1/statuses" ? paging.answer($0) : nil
        }
        let recent = try await loopback.network.ownPosts(
            since: Loopback.start.addingTimeInterval(-1_200))
        // Ten minutes more, since clocks differ.
        #expect(recent.map(\.address) == ["100", "99", "98", "97"])
        #expect(loopback.requests.count == 1)
        let more = try await loopback.network.ownPosts(
            since: Loopback.start.addingTimeInterval(-600 * 50))
        #expect(more.count == 52)
        let all = try await loopback.network.ownPosts(since: .distantPast)
        #expect(all.count == 100)
    }

    /// A post that is missing in the list counts as never sent, so a list with holes is no answer.
    @Test(arguments: [
        Wire.list([Wire.status("9"), #"{"id":"8"}"#]), Wire.list([Wire.status("9"), "5"]), "{}",
    ])
    func ownPostsAreCompleteOrAnError(body: String) async throws {
        let loopback = try Loopback { $0.path == "/api/v1/accounts/1/statuses" ? .json(body) : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.ownPosts(since: Loopback.start.addingTimeInterval(-60))
        }
        #expect(error.code == .malformedResponse)
        #expect(error.operation == .readOwnPosts)
    }

    @Test func ownPostsThatGoRoundInCirclesAreAnError() async throws {
        let body = Wire.list([Wire.status("9", ["created_at": "\"2026-11-20T21:00:00Z\""])])
        let header = ("Link", "<https://h/?max_id=9>; rel=\"next\"")
        let loopback = try Loopback { request in
            request.path == "/api/v1/accounts/1/statuses" ? .json(body, headers: [header]) : nil
        }
        await #expect(throws: NetworkError.self) {
            _ = try await loopback.network.ownPosts(
                since: Loopback.start.addingTimeInterval(-3_600))
        }
    }
}
