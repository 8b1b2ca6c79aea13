import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// What Takahe does otherwise than Mastodon, as its source text has it.
@Suite struct MastodonTakaheTests {
    private func loopback(_ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?) throws
        -> Loopback
    {
        try MastodonServers.loopback(MastodonServers.takahe, answer)
    }

    @Test func limitsAreCountedInFull() async throws {
        let loopback = try loopback { _ in nil }
        let limits = try await loopback.network.limits()
        #expect(
            limits
                == PublishingLimits(
                    maximumCharacters: 800, charactersPerURL: nil, unit: .codePoints))
    }

    /// A token that it does not know is refused with 400 and a bare text, for every call.
    @Test func aRefusedTokenStopsTheActor() async throws {
        let refusal = Answer(
            status: 400, headers: [("Content-Type", "text/html; charset=utf-8")],
            body: "Invalid Bearer token")
        let loopback = try loopback { $0.path.hasSuffix("/instance") ? nil : refusal }
        let network = loopback.network
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await network.verifyAccount() },
            { _ = try await network.page(.home, .newest) },
            { _ = try await network.publish(MastodonServers.draft()) },
            { try await network.favorite(Loopback.favorite("9")) },
            { try await network.delete("9") },
        ]
        for call in calls {
            let error = try await #require(throws: NetworkError.self) { try await call() }
            #expect(error.code == .unauthorized)
            #expect(error.stopsActor)
            #expect(error.status == 400)
            #expect(error.outcome == .refused)
            #expect(!error.description.contains("Bearer"))
        }
    }

    @Test(arguments: [
        (400, "Status is too long", NetworkError.Code.tooLong), (400, "Status is empty", .rejected),
        (403, "out_of_scope_for_token", .missingScope),
        (401, "identity_token_required", .unauthorized),
    ])
    func itsErrorsAreUnderstood(status: Int, message: String, code: NetworkError.Code) async throws
    {
        let loopback = try loopback { request in
            request.path == "/api/v1/statuses"
                ? .json(#"{"error":"\#(message)"}"#, status: status) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(MastodonServers.draft())
        }
        #expect(error.code == code)
    }

    /// Deleting somebody else's post is refused with the status of a bad token, which it does not
    /// mean.
    @Test func aPostOfSomebodyElseIsNotARefusedToken() async throws {
        let loopback = try loopback { request in
            switch request.method {
            case "DELETE": .json(#"{"error":"Not the author of this status"}"#, status: 401)
            default:
                request.path == "/api/v1/statuses/9"
                    ? .json(Wire.status("9", ["account": Wire.account("1", acct: "bot")])) : nil
            }
        }
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.delete("9")
        }
        #expect(error.code == .forbidden)
        #expect(error.operation == .delete)
        #expect(!error.stopsActor)
    }

    /// It has no such field, and answers with the account as it is.
    @Test(arguments: [Answer.json(Wire.account("1", acct: "bot")), .notFound, Answer(status: 404)])
    func aMarkThatIsNotThereIsNotPretended(answer: Answer) async throws {
        let loopback = try loopback { $0.path.hasSuffix("/update_credentials") ? answer : nil }
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.labelAsBot()
        }
        #expect(error.code == .capability)
        #expect(error.operation == .labelAccount)
        #expect(!error.stopsActor)
    }

    /// Favorites are listed by the posts' ids: a favorite that is given to an old post stands far
    /// down.
    ///
    /// So there is no cursor to go on from, and the newest page is read each time.
    @Test func favoritesOfOldPostsAreNotMissed() async throws {
        let old = Flag()
        let loopback = try loopback { request in
            guard request.path == "/api/v1/favourites" else { return nil }
            let ids = old.isSet ? ["30", "20", "15"] : ["30", "20"]
            let link =
                "<https://h/?max_id=\(ids.last ?? "")>; rel=\"next\", <https://h/?min_id=30>; rel=\"prev\""
            return .json(Wire.list(ids.map { Wire.status($0) }), headers: [("Link", link)])
        }
        let page = try await loopback.network.page(.favorites, .newest)
        #expect(page.newer == nil)
        #expect(page.older == "20")
        old.isSet = true
        try await expect(
            loopback.network.page(.favorites, .newest).items.map(\.address),
            equals: ["30", "20", "15"])
    }

    /// Ids are numbers in JSON, by arrival and not by the time in the post.
    @Test func postsThatArriveLateAreNew() async throws {
        let late = Wire.status("30", ["id": "30", "created_at": "\"2026-11-01T00:00:00.000Z\""])
        let loopback = try loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            return .json(request.query["min_id"] == "20" ? Wire.list([late]) : "[]")
        }
        let fresh = try await MastodonServers.walk(
            loopback.network, .home, from: .newer(than: "20"))
        #expect(fresh.addresses == ["30"])
        #expect(fresh.newer == "30")
    }

    /// Where numbers contradict the order of a page, they are not used to leave anything out.
    @Test func numbersThatDoNotSortLeaveNothingOut() async throws {
        let pages = ["": ["50", "20", "40"], "50": ["35", "60"]]
        let loopback = try loopback { request in
            guard request.path == "/api/v1/timelines/home" else { return nil }
            let ids =
                request.query["max_id"] == nil ? pages[request.query["min_id"] ?? ""] ?? [] : []
            return .json(Wire.list(ids.map { Wire.status($0) }))
        }
        let first = try await loopback.network.page(.home, .newest)
        #expect(first.items.map(\.address) == ["50", "20", "40"])
        #expect(first.newer == "50")
        #expect(first.older == "40")
        let fresh = try await loopback.network.page(.home, .newer(than: "50"))
        #expect(fresh.items.map(\.address) == ["35", "60"])
        #expect(fresh.newer == "35")
    }
}
