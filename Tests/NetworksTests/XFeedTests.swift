import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

@Suite struct XFeedTests {
    private static let fields = [
        "expansions": "author_id",
        "tweet.fields":
            "attachments,author_id,conversation_id,created_at,entities,in_reply_to_user_id,lang,note_tweet,"
            + "possibly_sensitive,referenced_tweets,reply_settings",
        "user.fields": "description,entities,name,protected,username",
    ]
    /// The fields where nobody's profile is read.
    private static let fewFields = [
        "tweet.fields":
            "attachments,author_id,created_at,entities,in_reply_to_user_id,lang,note_tweet,possibly_sensitive,"
            + "referenced_tweets"
    ]

    @Test(arguments: [
        (Feed.ownPosts, "/2/users/42/tweets"), (.mentions, "/2/users/42/mentions"),
        (.home, "/2/users/42/timelines/reverse_chronological"),
    ])
    func asksForAFeed(feed: Feed, path: String) async throws {
        let loopback = try XLoopback { $0.path == path ? .json(XWire.list([])) : nil }
        _ = try await loopback.network.page(feed, .newest)
        _ = try await loopback.network.page(feed, .older("900"))
        _ = try await loopback.network.page(feed, .newer(than: "9"))
        _ = try await loopback.network.page(feed, .newer(than: "9;3;7"))
        let requests = loopback.requests
        #expect(requests.map(\.path) == [path, path, path, path])
        #expect(requests.map(\.method) == ["GET", "GET", "GET", "GET"])
        let expected = [
            ["max_results": "20"], ["max_results": "100", "until_id": "900"],
            ["max_results": "20", "since_id": "9"],
            ["max_results": "100", "since_id": "3", "until_id": "7"],
        ]
        let fields = feed == .ownPosts ? Self.fewFields : Self.fields
        #expect(requests.map(\.query) == expected.map { fields.merging($0) { $1 } })
    }

    @Test func asksForFavorites() async throws {
        let path = "/2/users/42/liked_tweets"
        let loopback = try XLoopback { $0.path == path ? .json(XWire.list([])) : nil }
        _ = try await loopback.network.page(.favorites, .newest)
        _ = try await loopback.network.page(.favorites, .older("abc"))
        _ = try await loopback.network.page(.favorites, .newer(than: "9,8"))
        #expect(loopback.requests.map(\.path) == [path, path, path])
        let expected = [
            ["max_results": "20"], ["max_results": "100", "pagination_token": "abc"],
            ["max_results": "10"],
        ]
        #expect(
            loopback.requests.map(\.query) == expected.map { Self.fewFields.merging($0) { $1 } })
    }

    @Test func theNewerSpellingIsAskedForByOption() async throws {
        let loopback = try XLoopback(options: XOptions(fieldNames: .post)) {
            $0.path == "/2/users/42/mentions" ? .json(XWire.list([])) : nil
        }
        _ = try await loopback.network.page(.mentions, .newest)
        let query = try #require(loopback.requests.first).query
        #expect(
            query == [
                "expansions": "author_id,in_reply_to_user_id,referenced_posts.id",
                "max_results": "20",
                "post.fields":
                    "attachments,conversation_id,created_at,entities,lang,note_post,possibly_sensitive,reply_settings",
                "user.fields": "description,entities,name,protected,username",
            ])
    }

    /// What arrives is what was signed, with the address that is really called.
    @Test func everyRequestIsSignedAsItIsSent() async throws {
        let loopback = try XLoopback { request in
            request.method == "POST"
                ? .json(XWire.answer(#"{"id":"9","text":"x"}"#), status: 201)
                : .json(XWire.list([]))
        }
        let network = loopback.network
        // The account is asked for first, which this server does not know.
        await #expect(throws: NetworkError.self) { _ = try await network.verifyAccount() }
        let other = try XLoopback { $0.path.hasSuffix("me") ? nil : .json(XWire.list([])) }
        _ = try await other.network.page(.mentions, .newer(than: "9;3;7"))
        _ = try await other.network.ownPosts(since: XLoopback.start)
        _ = try await network.publish(
            Draft(text: "日本語 & more", replyTo: "4", key: "k", createdAt: XLoopback.start))
        let secrets = ("planted-consumer-secret-2b", "planted-token-secret-4d")
        for (server, requests) in [
            (loopback.server, loopback.server.requests), (other.server, other.server.requests),
        ] {
            #expect(!requests.isEmpty)
            for request in requests {
                #expect(XSignature.isRight(request, at: server.url, secrets: secrets))
                #expect(!XSignature.isRight(request, at: server.url, secrets: (secrets.0, "other")))
                #expect(!XSignature.isRight(request, at: "https://api.x.com", secrets: secrets))
                expect(request.header("Authorization")) {
                    $0?.contains(#"oauth_timestamp="1795208400""#) == true
                }
                #expect(request.header("User-Agent") == "mirror-bot-tests")
            }
        }
        let nonces = other.server.requests.compactMap { request in
            request.header("Authorization")?.components(separatedBy: ", ").first {
                $0.hasPrefix("oauth_nonce")
            }
        }
        #expect(Set(nonces).count == 3)
    }

    @Test func theHomeTimelineIsReadOnlyWhereItIsAllowed() async throws {
        let loopback = try XLoopback(options: XOptions()) { _ in nil }
        #expect(loopback.network.capabilities.feeds == [.ownPosts, .favorites, .mentions])
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newest)
        }
        #expect(error.code == .capability)
        #expect(error.operation == .readHome)
        #expect(loopback.server.requests.isEmpty)
        let capabilities = try XLoopback { _ in nil }.network.capabilities
        #expect(capabilities.feeds == Set(Feed.allCases))
        #expect(capabilities.depths[.ownPosts] == 3_200)
        #expect(capabilities.depths[.mentions] == 800)
    }

    // MARK: Walks

    @Test(arguments: XPagingServer.Habit.allCases, [0, 1, 99, 100, 101, 330])
    func readsAFeedToItsEnd(habit: XPagingServer.Habit, count: Int) async throws {
        let paging = XPagingServer(habit, count: count)
        let loopback = try XLoopback { $0.path == "/2/users/42/tweets" ? paging.answer($0) : nil }
        var walk = FeedWalk(of: loopback.network, .ownPosts, from: .newest)
        var addresses: [String] = []
        while let page = try await walk.next() { addresses += page.items.map(\.address) }
        #expect(addresses == (1...331).prefix(count).reversed().map(paging.id))
        #expect(walk.isComplete)
        #expect(walk.newer == (count == 0 ? nil : paging.id(count)))
    }

    /// What arrived while nobody looked is found, however much it is and however the server pages.
    @Test(arguments: XPagingServer.Habit.allCases, [0, 1, 19, 20, 21, 250])
    func missesNothingThatArrived(habit: XPagingServer.Habit, arrived: Int) async throws {
        let paging = XPagingServer(habit, count: 50)
        let loopback = try XLoopback { $0.path == "/2/users/42/mentions" ? paging.answer($0) : nil }
        let first = try await loopback.network.page(.mentions, .newest)
        let cursor = try #require(first.newer)
        paging.grow(by: arrived)

        var walk = FeedWalk(of: loopback.network, .mentions, from: .newer(than: cursor))
        var found: [String] = []
        while let page = try await walk.next() { found += page.items.map(\.address) }
        #expect(Set(found) == Set((51..<(51 + arrived)).map(paging.id)))
        #expect(found.count == arrived)
        #expect(walk.isComplete)
        #expect(walk.newer ?? cursor == paging.id(50 + arrived))
    }

    /// The reader may end after any page and go on later from the cursor that it kept; more arrives
    /// meanwhile.
    @Test(arguments: [XPagingServer.Habit.documented, .smallPages, .emptyPages])
    func missesNothingWhenItIsInterrupted(habit: XPagingServer.Habit) async throws {
        let paging = XPagingServer(habit, count: 10)
        let loopback = try XLoopback { $0.path == "/2/users/42/mentions" ? paging.answer($0) : nil }
        var cursor = try #require(try await loopback.network.page(.mentions, .newest).newer)
        paging.grow(by: 250)
        var found: [String] = []
        for round in 0..<200 {
            let page = try await loopback.network.page(.mentions, .newer(than: cursor))
            found += page.items.map(\.address)
            guard let newer = page.newer else { break }
            cursor = newer
            if round == 1 { paging.grow(by: 5) }
        }
        #expect(Set(found) == Set((11...265).map(paging.id)))
        #expect(found.count == 255)
        #expect(cursor == paging.id(265))
    }

    /// Nothing that was read is read again to fill a gap, since everything costs.
    @Test func aGapIsBoughtOnce() async throws {
        let paging = XPagingServer(.documented, count: 1)
        let loopback = try XLoopback { $0.path == "/2/users/42/mentions" ? paging.answer($0) : nil }
        let cursor = try #require(try await loopback.network.page(.mentions, .newest).newer)
        paging.grow(by: 250)
        var walk = FeedWalk(of: loopback.network, .mentions, from: .newer(than: cursor))
        while try await walk.next() != nil {}
        #expect(
            loopback.requests.dropFirst().map { [$0.query["since_id"], $0.query["until_id"]] } == [
                ["1001", nil], ["1001", "1232"], ["1001", "1132"], ["1001", "1032"], ["1251", nil],
            ])
    }

    /// X shows the newest mentions alone: what was still to be read of them may be hidden when the
    /// reader goes on.
    @Test func goesOnAboveAGapThatIsHiddenByNow() async throws {
        let loopback = try XLoopback { request in
            guard request.path == "/2/users/42/mentions" else { return nil }
            return .json(
                XWire.list(
                    request.query["until_id"] == nil
                        ? [XWire.post("1300"), XWire.post("1299")] : []))
        }
        var walk = FeedWalk(of: loopback.network, .mentions, from: .newer(than: "1200;1001;1100"))
        var found: [String] = []
        while let page = try await walk.next() { found += page.items.map(\.address) }
        #expect(found == ["1300", "1299"])
        #expect(walk.isComplete)
        #expect(walk.newer == "1300")
    }

    /// Posts appear out of order for a while, so the youngest part of a feed is looked at twice.
    @Test func whatAppearsLateIsFound() async throws {
        // Two seconds before the present of the test.
        let young = UInt64(1_795_208_398_000 - 1_288_834_974_657) << 22
        let late = young - 5_000 << 22
        let posts = Wire.list([XWire.post(String(young)), XWire.post(String(late))])
        let loopback = try XLoopback { request in
            guard request.path == "/2/users/42/mentions" else { return nil }
            return request.query["since_id"] == nil
                ? .json(XWire.list([XWire.post(String(young))]))
                : .json(#"{"data":\#(posts),"includes":{"users":[\#(XWire.user("7", "ann"))]}}"#)
        }
        let first = try await loopback.network.page(.mentions, .newest)
        #expect(first.newer == String(young))
        let second = try await loopback.network.page(.mentions, .newer(than: String(young)))
        #expect(loopback.requests.last?.query["since_id"] == String(young - UInt64(120_000) << 22))
        #expect(second.items.map(\.address) == [String(young), String(late)])
        #expect(second.newer == nil)
        // An hour later nothing appears there any more.
        let old = young - UInt64(3_600_000) << 22
        _ = try await loopback.network.page(.mentions, .newer(than: String(old)))
        #expect(loopback.requests.last?.query["since_id"] == String(old))
    }

    @Test(arguments: [
        "", "a", "1;2", "1;2;3;4", "1;;3", "-1", "99999999999999999999999", "1,2",
    ])
    func positionsOfOtherNetworksAreRefused(cursor: String) async throws {
        let loopback = try XLoopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.mentions, .newer(than: cursor))
        }
        #expect(error.code == .rejected)
        #expect(loopback.requests.isEmpty)
    }

    // MARK: Answers

    @Test(arguments: [
        #"{"meta":{"result_count":0}}"#, #"{"data":[],"meta":{"result_count":0}}"#, #"{"data":[]}"#,
        #"{"meta":{"result_count":"0"},"errors":[]}"#,
        #"{"data":null,"meta":{"result_count":0,"next_token":null}}"#,
    ])
    func anEmptyPageKeepsTheCursor(body: String) async throws {
        let loopback = try XLoopback { $0.path.hasPrefix("/2/users/42/") ? .json(body) : nil }
        for feed in Feed.allCases {
            for position in [FeedPosition.newest, .newer(than: "9")] {
                let page = try await loopback.network.page(feed, position)
                #expect(page.items.isEmpty)
                #expect(page.received == 0)
                #expect(page.newer == nil)
                #expect(page.older == nil)
            }
        }
    }

    @Test(arguments: ["", "{}", "[]", "null", "<html>", #"{"data":"#, "7", #"{"meta":{}}"#])
    func whatIsNoListIsNoEmptyPage(body: String) async throws {
        let loopback = try XLoopback { $0.path.hasPrefix("/2/users/42/") ? .json(body) : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.mentions, .newest)
        }
        #expect(error.code == .malformedResponse)
        #expect(!error.isPermanent)
    }

    @Test(arguments: [
        ("not-authorized-for-resource", NetworkError.Code.forbidden),
        ("resource-not-found", .notFound),
        ("disallowed-resource", .forbidden), ("internal-error", .unavailable),
        ("usage-capped", .capReached),
        ("field-hydration-failure", .unavailable), ("client-forbidden", .capability),
        ("conflict", .rejected),
        ("something-new", .rejected), ("rate-limit-exceeded", .rateLimited),
        ("oauth1-permissions", .missingScope),
    ])
    func errorsInsteadOfDataAreErrors(kind: String, code: NetworkError.Code) async throws {
        let body = #"{"errors":[\#(XWire.problem(kind))]}"#
        let loopback = try XLoopback { $0.path.hasPrefix("/2/users/42/") ? .json(body) : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.mentions, .newest)
        }
        #expect(error.code == code)
        #expect(error.status == 200)
        #expect(error.serverCode == "\(kind): Detail of \(kind).")
    }

    @Test func errorsBesideDataLeaveTheDataAlone() async throws {
        let errors = Wire.list([
            XWire.problem(
                "resource-not-found", ["resource_type": "\"user\"", "parameter": "\"author_id\""]),
            XWire.problem("not-authorized-for-resource", ["resource_type": "\"tweet\""]),
        ])
        let posts = [
            XWire.post("12"), XWire.post("11", ["author_id": "\"8\""]), #"{"id":"9","text":7}"#,
            "null",
        ]
        let loopback = try XLoopback {
            $0.path == "/2/users/42/mentions"
                ? .json(XWire.list(posts, next: "more", errors: errors)) : nil
        }
        let page = try await loopback.network.page(.mentions, .newest)
        #expect(page.items.map(\.address) == ["12"])
        // The post without its author, the two that cannot be read, and the one that X kept back.
        #expect(page.unreadable.count == 4)
        #expect(page.received == 4)
        #expect(page.older == "9")
        #expect(page.newer == "12")
    }

    /// A page on which X withholds every post is not the end, and no reason to stop.
    @Test(arguments: ["tweet", "post"])
    func aPageOfWithheldPostsIsPassed(type: String) async throws {
        let errors =
            "[\(XWire.problem("not-authorized-for-resource", ["resource_type": "\"\(type)\""]))]"
        let loopback = try XLoopback { request in
            guard request.path == "/2/users/42/liked_tweets" else { return nil }
            return request.query["pagination_token"] == nil
                ? .json(XWire.list([], next: "a", errors: errors))
                : .json(XWire.list([XWire.post("9")]))
        }
        let page = try await loopback.network.page(.favorites, .newest)
        #expect(page.items.map(\.address) == ["9"])
        #expect(page.unreadable.count == 1)
        let last = try XLoopback {
            $0.path == "/2/users/42/tweets" ? .json(#"{"errors":\#(errors)}"#) : nil
        }
        let end = try await last.network.page(.ownPosts, .newest)
        #expect(end.items.isEmpty)
        #expect(end.unreadable.count == 1)
        await #expect(throws: NetworkError.self) {
            _ = try await last.network.ownPosts(since: XLoopback.start)
        }
    }

    /// A server that sends the same posts with ever new tokens cannot keep a reading going.
    @Test func endsWhereAServerGoesRoundInCircles() async throws {
        let counter = Counter()
        let loopback = try XLoopback { request in
            request.path == "/2/users/42/tweets"
                ? .json(XWire.list([XWire.post("9")], next: "t\(counter.next())")) : nil
        }
        let page = try await loopback.network.page(.ownPosts, .older("5"))
        #expect(page.items.isEmpty)
        #expect(page.older == nil)
        #expect(loopback.requests.count == 33)
    }

    @Test func aPageOfRepostsIsRememberedToo() async throws {
        let repost = XWire.post("12", ["referenced_tweets": #"[{"type":"retweeted","id":"5"}]"#])
        let loopback = try XLoopback {
            $0.path == "/2/users/42/tweets" ? .json(XWire.list([repost])) : nil
        }
        let page = try await loopback.network.page(.ownPosts, .newest)
        #expect(page.items.map(\.post.isRepost) == [true])
        #expect(page.newer == "12")
        expect(loopback.requests) { $0.allSatisfy { $0.query["exclude"] == nil } }
    }

    @Test func theServersLimitsComeWithThePage() async throws {
        let headers = [
            ("x-rate-limit-limit", "300"), ("x-rate-limit-remaining", "299"),
            ("x-rate-limit-reset", "1795209000"),
        ]
        let loopback = try XLoopback {
            $0.path == "/2/users/42/mentions" ? .json(XWire.list([]), headers: headers) : nil
        }
        let page = try await loopback.network.page(.mentions, .newest)
        #expect(
            page.rateLimit
                == RateLimit(
                    limit: 300, remaining: 299, resetsAt: Date(timeIntervalSince1970: 1_795_209_000)
                ))
    }
}
