import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// What Pleroma and Akkoma do otherwise than Mastodon.
///
/// Expiring tokens are in ``MastodonSessionTests``.
@Suite struct MastodonPleromaTests {
    private func loopback(_ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?) throws
        -> Loopback
    {
        try MastodonServers.loopback(MastodonServers.pleroma, version: "v1", answer)
    }

    @Test func limitsHaveTheirOwnName() async throws {
        let loopback = try loopback { _ in nil }
        let limits = try await loopback.network.limits()
        #expect(
            limits
                == PublishingLimits(
                    maximumCharacters: 5_000, charactersPerURL: nil, unit: .codePoints))
    }

    /// The same request is under way: it may have happened, and in a few seconds there is an
    /// answer.
    @Test func aRequestUnderWayIsLookedUp() async throws {
        let loopback = try loopback { request in
            request.path == "/api/v1/statuses"
                ? .json(#"{"error":"Request is being processed"}"#, status: 409) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(MastodonServers.draft())
        }
        #expect(error.code == .conflict)
        #expect(error.outcome == .unknown)
        #expect(error.retryAfter == Loopback.start.addingTimeInterval(5))
        #expect(error.description.contains("before another attempt it is looked up"))
    }

    @Test func nothingIsSentThatHasNoValue() async throws {
        let loopback = try loopback {
            $0.path == "/api/v1/statuses" ? .json(Wire.status("9")) : nil
        }
        _ = try await loopback.network.publish(MastodonServers.draft())
        let body = String(decoding: try #require(loopback.requests.last).body, as: UTF8.self)
        #expect(
            body
                == #"{"content_type":"text/plain","sensitive":false,"status":"text","visibility":"unlisted"}"#
        )
    }

    /// Its mark has another name.
    @Test func theBotIsLabelledUnderBothNames() async throws {
        let loopback = try loopback { request in
            request.path.hasSuffix("/update_credentials")
                ? .json(Wire.account("1", acct: "bot", ["bot": "true"])) : nil
        }
        try await loopback.network.labelAsBot()
        let request = try #require(loopback.requests.last)
        #expect(request.method == "PATCH")
        #expect(request.target == "/api/v1/accounts/update_credentials")
        #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
        #expect(String(decoding: request.body, as: UTF8.self) == "bot=true&actor_type=Service")
    }

    /// It sends fewer items than asked for, and says nothing about it.
    @Test func aShorterPageIsNotTheEnd() async throws {
        let paging = PagingServer(.smallPages, count: 11)
        let loopback = try loopback {
            $0.path == "/api/v1/accounts/1/statuses" ? paging.answer($0) : nil
        }
        let all = try await loopback.network.ownPosts(since: .distantPast)
        #expect(all.map(\.address) == descending(1...11))
    }

    @Test func refusedTokensAndScopesStopTheActor() async throws {
        for (message, code) in [
            ("Invalid credentials.", NetworkError.Code.unauthorized),
            ("Insufficient permissions: write:statuses.", .missingScope), ("Forbidden", .forbidden),
        ] {
            let loopback = try loopback { request in
                request.path == "/api/v1/statuses"
                    ? .json(#"{"error":"\#(message)"}"#, status: 403) : nil
            }
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.publish(MastodonServers.draft())
            }
            #expect(error.code == code)
            #expect(error.stopsActor == (code != .forbidden))
        }
    }
}
