import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// What GoToSocial was seen to do on the wire.
@Suite struct MastodonGoToSocialTests {
    private static func link(_ older: String, _ newer: String) -> (String, String) {
        (
            "Link",
            "<https://h/x?max_id=\(older)>; rel=\"next\", <https://h/x?min_id=\(newer)>; rel=\"prev\""
        )
    }

    private static func ulid(_ number: Int) -> String {
        "01KAE3V6" + String(String(1_000_000 + number).suffix(6)) + "ABCDEFGHJKMN"
    }

    /// It counts code points, and links in full although it advertises 25 for each.
    @Test func limitsAreCountedItsWay() async throws {
        let loopback = try MastodonServers.loopback(MastodonServers.goToSocial) { _ in nil }
        let limits = try await loopback.network.limits()
        #expect(
            limits
                == PublishingLimits(
                    maximumCharacters: 5_000, charactersPerURL: nil, unit: .codePoints))
    }

    /// Its accounts' names have another host than its interface.
    @Test(arguments: ["ann", "ann@example.org", "Ann@127.0.0.1"])
    func oneAccountHasOneIdentity(acct: String) async throws {
        let instance = #"{"domain":"127.0.0.1","account_domain":"example.org"}"#
        let loopback = try MastodonServers.loopback(instance) { request in
            request.path.hasSuffix("/verify_credentials")
                ? .json(Wire.account("01A", acct: acct)) : nil
        }
        try await expect(loopback.network.verifyAccount().id.value, equals: "ann@example.org")
    }

    /// The answered post is not looked up beforehand: the server refuses and publishes nothing.
    @Test func aReplyToAPostThatIsGoneIsRefused() async throws {
        let loopback = try MastodonServers.loopback(MastodonServers.goToSocial) { request in
            request.path == "/api/v1/statuses"
                ? .json(#"{"error":"Not Found: target status not found"}"#, status: 404) : nil
        }
        _ = try await loopback.network.limits()
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(MastodonServers.draft(replyTo: Self.ulid(4)))
        }
        #expect(error.code == .notFound)
        #expect(error.outcome == .refused)
        #expect(error.isPermanent)
        #expect(loopback.requests.map(\.method) == ["POST"])
    }

    /// Fewer new posts than asked for come twice, and so does the end of a walk.
    @Test(arguments: [1, 2, 3, 30, 39, 40, 41, 139])
    func homeItemsThatRepeatComeOnce(count: Int) async throws {
        let loopback = try MastodonServers.loopback(MastodonServers.goToSocial) { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            let bound =
                request.query["max_id"].flatMap { id in (1...200).first { Self.ulid($0) == id } }
                ?? count + 1
            let floor =
                request.query["min_id"].flatMap { id in (1...200).first { Self.ulid($0) == id } }
                ?? 0
            let below = Array(((floor + 1)..<max(bound, floor + 1)).reversed())
            // What is cached, and then the database with the same bounds once more.
            let sent = below.count < 40 ? below + below : Array(below.prefix(40))
            guard let newest = sent.first, let oldest = below.prefix(40).last else {
                return .json("[]")
            }
            return .json(
                Wire.list(sent.map { Wire.status(Self.ulid($0)) }),
                headers: [Self.link(Self.ulid(oldest), Self.ulid(newest))])
        }
        let all = try await MastodonServers.walk(loopback.network, .home)
        #expect(all.addresses == (1...count).reversed().map(Self.ulid))
        #expect(all.isComplete)
        #expect(all.newer == Self.ulid(count))
        let fresh = try await MastodonServers.walk(
            loopback.network, .home, from: .newer(than: Self.ulid(count - 1)))
        #expect(fresh.addresses == [Self.ulid(count)])
    }

    /// A lower bound is ignored for an account's posts, or acts on the newest page; both are
    /// survived.
    @Test func favoritesArePagedByIDsOfTheirOwn() async throws {
        let favorites = (0..<95).map {
            (favorite: "01F\(1_000 - $0)", post: Self.ulid(($0 * 37) % 95))
        }
        let loopback = try MastodonServers.loopback(MastodonServers.goToSocial) { request in
            guard request.path == "/api/v1/favourites" else { return nil }
            let start =
                favorites.firstIndex { $0.favorite == request.query["max_id"] }.map { $0 + 1 } ?? 0
            let end =
                favorites.firstIndex { $0.favorite == request.query["min_id"] } ?? favorites.count
            let page = favorites[min(start, end)..<end].prefix(40)
            guard let first = page.first, let last = page.last else { return .json("[]") }
            return .json(
                Wire.list(page.map { Wire.status($0.post) }),
                headers: [Self.link(last.favorite, first.favorite)])
        }
        let all = try await MastodonServers.walk(loopback.network, .favorites)
        #expect(all.addresses == favorites.map(\.post))
        #expect(all.isComplete)
        #expect(all.newer == "01F1000")
        // 60 newer ones, more than a page: none between the newest page and the cursor is missed.
        let fresh = try await loopback.network.page(.favorites, .newer(than: "01F940"))
        #expect(fresh.items.map(\.address) == favorites.prefix(60).map(\.post))
        #expect(fresh.newer == "01F1000")
    }

    /// Sent although nobody asked for them; who archives looks at the visibility.
    @Test func postsForFewEyesSayWhatTheyAre() async throws {
        let levels = ["public", "unlisted", "private", "direct", "mutuals_only"]
        let posts = levels.enumerated().map {
            Wire.status(Self.ulid(9 - $0), ["visibility": "\"\($1)\""])
        }
        let loopback = try MastodonServers.loopback(MastodonServers.goToSocial) { request in
            guard request.path == "/api/v1/accounts/1/statuses" else { return nil }
            return .json(request.query["max_id"] == nil ? Wire.list(posts) : "[]")
        }
        let page = try await loopback.network.page(.ownPosts, .newest)
        #expect(
            page.items.map(\.post.visibility) == [.public, .unlisted, .private, .direct, .direct])
    }

    @Test(arguments: [
        (400, "Bad Request: status contains no text, media or poll", NetworkError.Code.rejected),
        (400, "Bad Request: text with spoiler exceed max chars (5000)", .tooLong),
        (422, "Unprocessable Entity: processVisibility: invalid visibility", .rejected),
        (401, "Unauthorized: token not supplied", .unauthorized),
        (403, "Forbidden: token has insufficient scope permission", .missingScope),
        (403, "Forbidden: you do not have permission to fave this status", .forbidden),
        (404, "Not Found: target status not found", .notFound),
        (406, "Not Acceptable: no acceptable", .rejected),
        (429, "rate limit reached", .rateLimited), (429, "server capacity exceeded", .rateLimited),
        (503, "server capacity exceeded", .unavailable),
    ])
    func itsErrorsAreUnderstood(status: Int, message: String, code: NetworkError.Code) async throws
    {
        let body = #"{"error":"\#(message)"}"#
        let loopback = try MastodonServers.loopback(MastodonServers.goToSocial) { request in
            request.path.hasPrefix("/api/v1/statuses") ? .json(body, status: status) : nil
        }
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await loopback.network.publish(MastodonServers.draft()) },
            { try await loopback.network.favorite(Loopback.favorite(Self.ulid(1))) },
        ]
        for call in calls {
            let error = try await #require(throws: NetworkError.self) { try await call() }
            #expect(error.code == code)
            #expect(error.status == status)
            #expect(error.serverCode == message)
            #expect(error.description.contains("the server answered \(status) (\"\(message)\")"))
        }
    }

    /// Its limit names the reset and no waiting time; its throttle names a waiting time and no
    /// reset.
    @Test(
        arguments: [
            (
                [
                    ("X-Ratelimit-Reset", "2026-11-20T21:05:14.000Z"),
                    ("X-Ratelimit-Remaining", "0"),
                ], 314
            ),
            ([("Retry-After", "30")], 30),
        ] as [([(String, String)], TimeInterval)])
    func itsTwoKindsOfTooMany(headers: [(String, String)], seconds: TimeInterval) async throws {
        let loopback = try MastodonServers.loopback(MastodonServers.goToSocial) { request in
            request.path == "/api/v1/timelines/home"
                ? .json(#"{"error":"rate limit reached"}"#, status: 429, headers: headers) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newest)
        }
        #expect(error.retryAfter == Loopback.start.addingTimeInterval(seconds))
        #expect(!error.isPermanent)
    }

    @Test func deletingTwiceIsNoError() async throws {
        let counter = Counter()
        let loopback = try MastodonServers.loopback(MastodonServers.goToSocial) { request in
            guard request.path.hasPrefix("/api/v1/statuses/"), request.method == "DELETE" else {
                return nil
            }
            return counter.next() == 1
                ? .json(Wire.status("9")) : .json(#"{"error":"Not Found"}"#, status: 404)
        }
        try await loopback.network.delete("9")
        try await loopback.network.delete("9")
        expect(loopback.requests.map { "\($0.method) \($0.path)" }.prefix(2)) {
            $0.allSatisfy {
                $0 == "DELETE /api/v1/statuses/9"
            }
        }
    }
}
