import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
@testable import Networks

/// The names of a server's own emoji, and who may quote.
@Suite struct MastodonEmojiTests {
    private static let path = "/api/v1/custom_emojis"
    private static let list =
        #"[{"shortcode":"blobcat","url":"u"},{"shortcode":5},null,{"shortcode":"wave"}]"#

    private func asked(_ loopback: Loopback) -> Int {
        loopback.server.requests.count { $0.path == Self.path }
    }

    @Test func areAskedForOnceADay() async throws {
        let clock = Box(Loopback.start)
        let loopback = try Loopback(now: { clock.value }) {
            $0.path == Self.path ? .json(Self.list) : nil
        }
        for _ in 0..<2 { try await expect(loopback.network.emoji(), equals: ["blobcat", "wave"]) }
        #expect(asked(loopback) == 1)
        clock.value += 86_401
        try await expect(loopback.network.emoji(), equals: ["blobcat", "wave"])
        #expect(asked(loopback) == 2)
    }

    /// What decorates a text holds up nothing.
    @Test(arguments: [
        Answer.notFound, .json("{}"), .json("[", status: 200),
        .json(#"{"error":"no"}"#, status: 403),
        Answer(status: 500), Answer(status: 404, body: "<html>"),
    ])
    func aServerThatDoesNotTellHasNone(answer: Answer) async throws {
        let clock = Box(Loopback.start)
        let isTelling = Box(false)
        let loopback = try Loopback(now: { clock.value }) { request in
            guard request.path == Self.path else { return nil }
            return isTelling.value ? .json(Self.list) : answer
        }
        for _ in 0..<2 { try await expect(loopback.network.emoji(), equals: []) }
        #expect(asked(loopback) == 1)
        isTelling.value = true
        clock.value = clock.value + 3_601
        try await expect(loopback.network.emoji(), equals: ["blobcat", "wave"])
        isTelling.value = false
        clock.value = clock.value + 86_401
        try await expect(loopback.network.emoji(), equals: ["blobcat", "wave"])
    }

    @Test func aServerThatWantsNoRequestsIsObeyed() async throws {
        let loopback = try Loopback {
            $0.path == Self.path ? .json("{}", status: 429, headers: [("Retry-After", "9")]) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.emoji()
        }
        #expect(error.code == .rateLimited)
    }

    @Test(arguments: [
        (nil, nil), (Audience.anyone, "public"), (.followers, "followers"), (.nobody, "nobody"),
    ])
    func whoMayQuoteIsSaidInMastodonsWords(audience: Audience?, policy: String?) async throws {
        let loopback = try Loopback {
            $0.path == "/api/v1/statuses" ? .json(Wire.status("9")) : nil
        }
        let network = try MastodonNetwork(
            server: loopback.server.url,
            credentials: MastodonCredentials(accessToken: Secret(Loopback.token)),
            sessions: nil, quotes: audience,
            client: HTTPClient(configuration: HTTPClientConfiguration(userAgent: "tests")),
            now: { Loopback.start })
        _ = try await network.publish(
            Draft(text: "text", visibility: .unlisted, key: "k-1", createdAt: Loopback.start))
        let request = try #require(loopback.server.requests.last)
        let body = String(decoding: request.body, as: UTF8.self)
        let said = policy.map { #""quote_approval_policy":"\#($0)","# } ?? ""
        let rest = #""sensitive":false,"status":"text","visibility":"unlisted""#
        #expect(body == #"{"content_type":"text/plain",\#(said)\#(rest)}"#)
    }
}
