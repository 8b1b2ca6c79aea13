import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

/// A reply to a post that is gone is refused by some servers and published as a post of its own by
/// others.
@Suite struct MastodonLostReplyTests {
    private static let others = [
        MastodonServers.pleroma, MastodonServers.takahe, MastodonServers.snac, "{}",
    ]
    private static let refusing = [
        MastodonServers.goToSocial, #"{"api_versions":{"mastodon":6}}"#, #"{"version":"3.5.19"}"#,
    ]

    @Test(arguments: others)
    func theAnsweredPostIsLookedUpWhereNobodyElseDoes(instance: String) async throws {
        let loopback = try MastodonServers.loopback(instance) { request in
            request.method == "POST" ? .json(Wire.status("9")) : nil
        }
        for _ in 0..<2 {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.publish(MastodonServers.draft(replyTo: "4"))
            }
            #expect(error.code == .notFound)
            #expect(error.operation == .publish)
            #expect(error.outcome == .refused)
            #expect(error.description.contains("the answered post is gone"))
            _ = try await loopback.network.limits()
        }
        #expect(
            loopback.requests.map { "\($0.method) \($0.target)" } == [
                "GET /api/v1/statuses/4", "GET /api/v1/statuses/4",
            ])
    }

    @Test(arguments: [503, 429, 408])
    func aLookUpThatFailsLeavesEverythingUnsent(status: Int) async throws {
        let loopback = try MastodonServers.loopback(MastodonServers.takahe) { request in
            if request.method == "POST" { return .json(Wire.status("9")) }
            return request.path == "/api/v1/statuses/4" ? .json("{}", status: status) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(MastodonServers.draft(replyTo: "4"))
        }
        #expect(error.outcome != .unknown)
        #expect(!error.isPermanent)
        #expect(loopback.requests.map(\.method) == ["GET"])
    }

    @Test(arguments: refusing)
    func itIsNotLookedUpWhereTheServerDoes(instance: String) async throws {
        let loopback = try MastodonServers.loopback(instance) { request in
            request.method == "POST"
                ? .json(
                    Wire.status(
                        "9", ["in_reply_to_id": "\"4\"", "account": Wire.account("1", acct: "bot")])
                ) : nil
        }
        _ = try await loopback.network.verifyAccount()
        let published = try await loopback.network.publish(MastodonServers.draft(replyTo: "4"))
        #expect(!published.isMisplaced)
        #expect(loopback.requests.map(\.method) == ["POST"])
    }

    @Test func aPostThatAnswersNothingIsNotLookedUp() async throws {
        let loopback = try MastodonServers.loopback(MastodonServers.takahe) { request in
            request.method == "POST" ? .json(Wire.status("9")) : nil
        }
        let published = try await loopback.network.publish(MastodonServers.draft())
        #expect(!published.isMisplaced)
        #expect(loopback.requests.map(\.method) == ["POST"])
    }

    /// The answered post went between the look-up and the reply: the reply is out, and it is not
    /// sent again.
    @Test(arguments: ["null", "", "\"\""])
    func aReplyThatBecameAPostOfItsOwnIsDeliveredAndToldSo(parent: String) async throws {
        let loopback = try MastodonServers.loopback(MastodonServers.takahe) { request in
            if request.method == "POST" {
                return .json(Wire.status("9", ["in_reply_to_id": parent]))
            }
            return request.path == "/api/v1/statuses/4" ? .json(Wire.status("4")) : nil
        }
        let published = try await loopback.network.publish(MastodonServers.draft(replyTo: "4"))
        #expect(published.isMisplaced)
        #expect(published.address == "9")
    }

    /// What goes before a request is done before it departs.
    @Test func theDeadlineIsThatOfOneRequest() async throws {
        for instance in [MastodonServers.goToSocial, MastodonServers.takahe] {
            let loopback = try MastodonServers.loopback(instance) { request in
                request.path == "/api/v1/statuses/4" ? .json(Wire.status("4")) : nil
            }
            #expect(loopback.network.capabilities.requestDeadline == .seconds(30))
            let departure = try await loopback.network.prepare(MastodonServers.draft(replyTo: "4"))
            let before = loopback.server.requests.count
            _ = try? await departure.send()
            #expect(loopback.server.requests.dropFirst(before).map(\.method) == ["POST"])
        }
    }
}
