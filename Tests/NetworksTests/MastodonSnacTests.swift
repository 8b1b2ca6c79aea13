import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// What snac does otherwise than Mastodon, as its source text has it.
@Suite struct MastodonSnacTests {
    private func loopback(_ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?) throws
        -> Loopback
    {
        try MastodonServers.loopback(MastodonServers.snac, version: "v1", answer)
    }

    /// Ten digits and a hash.
    private static func id(_ number: Int) -> String {
        String(1_763_700_000 + number)
            + String(UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1 << 63, radix: 16)
            + String(UInt64(number) &* 0xBF58_476D_1CE4_E5B9 | 1 << 63, radix: 16)
    }

    /// A post as it sends it: few fields, names always with a host, numbers in place of the ids of
    /// who is named.
    private static func status(_ number: Int, _ overrides: [String: String] = [:]) -> String {
        let account =
            #"{"id":"a3c1","username":"ann","acct":"ann@snac.example","display_name":"Ann","note":"","bot":false,"#
            + #""url":"https://snac.example/ann","uri":"https://snac.example/ann","fields":[]}"#
        return Wire.object(
            [
                "id": "\"\(id(number))\"", "uri": "\"https://snac.example/ann/p/\(number)\"",
                "url": "\"https://snac.example/ann/p/\(number)\"", "account": account,
                "created_at": "\"2026-11-20T20:00:00Z\"",
                "content": "\"text \(number)<br>more <a href=\\\"https://f/bob\\\">@bob</a>\"",
                "visibility": "\"public\"", "sensitive": "false", "spoiler_text": "\"\"",
                "media_attachments": "[]",
                "mentions":
                    #"[{"id":"0","username":"bob@far.example","acct":"bob@far.example","url":"https://f/bob"}]"#,
                "in_reply_to_id": "null", "in_reply_to_account_id": "null", "reblog": "null",
                "language": "\"en\"",
                "poll": "null", "text": "\"text\"",
            ], overrides)
    }

    @Test func readsItsPosts() async throws {
        let loopback = try loopback { request in
            request.path == "/api/v1/statuses/\(Self.id(5))" ? .json(Self.status(5)) : nil
        }
        let observed = try #require(try await loopback.network.lookUp(Self.id(5)))
        #expect(observed.author.id.value == "ann@snac.example")
        #expect(observed.post.text == "text 5\nmore @bob@far.example")
        #expect(observed.post.mentions.map(\.value) == ["bob@far.example"])
        #expect(observed.post.visibility == .public)
        try await expect(loopback.network.limits().charactersPerURL, equals: nil)
    }

    /// An account's posts come all at once, whatever is asked for.
    @Test(arguments: [0, 1, 19, 41, 200, 255])
    func aListWithoutPagesIsWhole(count: Int) async throws {
        let list = Wire.list((0..<count).reversed().map { Self.status($0) })
        let loopback = try loopback { $0.path == "/api/v1/accounts/1/statuses" ? .json(list) : nil }
        let all = try await loopback.network.ownPosts(since: .distantPast)
        #expect(all.map(\.address) == (0..<count).reversed().map(Self.id))
        let walked = try await MastodonServers.walk(loopback.network, .ownPosts)
        #expect(walked.isComplete)
        #expect(walked.addresses.count == count)
        // And none of them is new.
        guard count > 0 else { return }
        let fresh = try await MastodonServers.walk(
            loopback.network, .ownPosts, from: .newer(than: Self.id(count - 1)))
        #expect(fresh.addresses.isEmpty)
        #expect(fresh.newer == nil)
    }

    /// The list of an account ends at 256 entries and begins with the newest one, whatever bounds
    /// are asked for.
    @Test func aListWithACapAndWithoutLowerBoundsIsReadOnce() async throws {
        let posts = PostList((1...300).reversed())
        let loopback = try loopback { request in
            if request.path == "/api/v1/timelines/home" { return .json("[]") }
            guard request.path == "/api/v1/accounts/1/statuses" else { return nil }
            var numbers = Array(posts.numbers.prefix(256))
            if let cursor = request.query["max_id"],
                let place = numbers.firstIndex(where: { Self.id($0) == cursor })
            {
                numbers.removeSubrange(...place)
            }
            let size = request.query["limit"].flatMap { Int($0) } ?? 20
            return .json(Wire.list(numbers.prefix(size).map { Self.status($0) }))
        }
        let first = try await loopback.network.page(.ownPosts, .newest)
        #expect(first.depth == 256)
        try await expect(loopback.network.page(.home, .newest).depth, equals: nil)
        let walked = try await MastodonServers.walk(loopback.network, .ownPosts)
        #expect(walked.isComplete)
        #expect(walked.addresses == (45...300).reversed().map(Self.id))
        // More than a page is new: each item once, and none that was known.
        posts.numbers = (1...390).reversed()
        let cursor = try #require(walked.newer)
        let fresh = try await MastodonServers.walk(
            loopback.network, .ownPosts, from: .newer(than: cursor))
        #expect(fresh.addresses == (301...390).reversed().map(Self.id))
        // What was known already comes apart: it may have been changed.
        posts.numbers = (1...391).reversed()
        let next = try #require(fresh.newer)
        let page = try await loopback.network.page(.ownPosts, .newer(than: next))
        #expect(page.items.map(\.address) == [Self.id(391)])
        #expect(page.repeated.map(\.address) == (352...390).reversed().map(Self.id))
    }

    /// A list that may have been cut does not show that something was never published.
    @Test(arguments: [20, 30, 40, 256])
    func aListThatMayBeCutIsNotWhole(count: Int) async throws {
        let list = Wire.list((0..<count).reversed().map { Self.status($0) })
        let loopback = try loopback { $0.path == "/api/v1/accounts/1/statuses" ? .json(list) : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.ownPosts(since: .distantPast)
        }
        #expect(error.code == .malformedResponse)
        // What is old enough needs no more than one page.
        try await expect(loopback.network.ownPosts(since: Loopback.start)) { $0.isEmpty }
    }

    /// A server that finds its place by the post itself sends nothing for ever once that is
    /// deleted.
    @Test func aDeletedCursorIsNotTheEnd() async throws {
        let posts = PostList((1...3).reversed())
        let loopback = try loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            var numbers = posts.numbers
            if let cursor = request.query["min_id"] {
                numbers =
                    numbers.firstIndex { Self.id($0) == cursor }.map { Array(numbers[..<$0]) } ?? []
            }
            guard let newest = numbers.first, let oldest = numbers.last else { return .json("[]") }
            // The way back is called by the other name.
            let link =
                "<https:/h/?max_id=\(Self.id(oldest))>; rel=\"next\", <https:/h/?since_id=\(Self.id(newest))>; rel=\"prev\""
            return .json(Wire.list(numbers.map { Self.status($0) }), headers: [("Link", link)])
        }
        let cursor = try #require(try await loopback.network.page(.home, .newest).newer)
        #expect(cursor == Self.id(3))
        let nothing = try await MastodonServers.walk(
            loopback.network, .home, from: .newer(than: cursor))
        #expect(nothing.addresses.isEmpty)

        posts.numbers = [5, 4, 3, 2, 1]
        let two = try await MastodonServers.walk(
            loopback.network, .home, from: .newer(than: cursor))
        #expect(two.addresses == [Self.id(5), Self.id(4)])

        posts.numbers = [6, 4, 2, 1]
        let rest = try await MastodonServers.walk(
            loopback.network, .home, from: .newer(than: Self.id(5)))
        // Old ones come again; who reads keeps a record of what was handled.
        #expect(rest.addresses == [Self.id(6), Self.id(4), Self.id(2), Self.id(1)])
        #expect(rest.newer == Self.id(6))
    }

    /// Kinds cannot be chosen, and there is no header.
    @Test func mentionsAreFoundAmongOtherNotifications() async throws {
        let kinds = ["mention", "favourite", "mention", "reblog", "follow", "poll"]
        let list = kinds.enumerated().map { index, kind in
            Wire.notification(
                "17637000001234\(60 - index)", status: kind == "follow" ? "" : Self.status(index),
                ["type": "\"\(kind)\""])
        }
        let loopback = try loopback { request in
            guard request.path == "/api/v1/notifications" else { return nil }
            return .json(request.query["min_id"] == nil ? Wire.list(list) : "[]")
        }
        // The server has said what it is once the account is known.
        _ = try await loopback.network.verifyAccount()
        let page = try await loopback.network.page(.mentions, .newest)
        #expect(page.items.map(\.address) == [Self.id(0), Self.id(2)])
        #expect(page.newer == "1763700000123460")
        // The list ends at 64 of all kinds, so that all of them are counted.
        #expect(page.depth == 64)
        #expect(page.received == kinds.count)
        #expect(loopback.requests.allSatisfy { $0.query["types[]"] == nil })
    }

    @Test func itHasNoFavorites() async throws {
        let loopback = try loopback { $0.path == "/api/v1/favourites" ? .json("[]") : nil }
        let all = try await MastodonServers.walk(loopback.network, .favorites)
        #expect(all.addresses.isEmpty)
        #expect(all.isComplete)
    }

    /// It cannot delete by this interface, and what is there is not called gone.
    @Test func aPostThatCannotBeDeletedIsNotGone() async throws {
        let loopback = try loopback { request in
            request.path == "/api/v1/statuses/9" && request.method == "GET"
                ? .json(Self.status(9, ["account": Wire.account("1", acct: "bot@snac.example")]))
                : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.delete("9")
        }
        #expect(error.code == .capability)
        #expect(error.operation == .delete)
        #expect(!error.stopsActor)
    }

    /// A token that it does not know: 422 without a word for one call, 401 for the others.
    @Test(arguments: [401, 422])
    func aRefusedTokenStopsTheActor(status: Int) async throws {
        let loopback = try loopback { request in
            if request.path.hasSuffix("/verify_credentials") { return Answer(status: 422) }
            return request.path == "/api/v1/timelines/home" ? Answer(status: status) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newest)
        }
        #expect(error.code == .unauthorized)
        #expect(error.stopsActor)
    }
}

/// Posts of a server that a test changes.
private final class PostList: Sendable {
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var list: [Int]

    init(_ list: some Sequence<Int>) { self.list = Array(list) }

    var numbers: [Int] {
        get { lock.withLock { list } }
        set { lock.withLock { list = newValue } }
    }
}
