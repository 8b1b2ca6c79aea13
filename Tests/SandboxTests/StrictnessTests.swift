import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct StrictnessTests {
    @Test func refusesARequestWithoutUserAgent() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.send(
                "GET", "/api/v1/accounts/verify_credentials", headers: ["User-Agent": ""])
            #expect(reply.status == 418)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.summary.errors == 1)
            #expect(ledger.rejections.first?.path == "/api/v1/accounts/verify_credentials")
        }
    }

    @Test(arguments: [
        "/api/v1/accounts/verify_credentials", "/api/v1/timelines/home", "/api/v1/favourites",
        "/api/v1/notifications",
    ])
    func refusesMissingAndUnknownTokens(target: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            try await expect(fixture.send("GET", target, as: .nobody).status, equals: 401)
            let reply = try await fixture.send("GET", target, as: .token("no-such-token"))
            #expect(reply.status == 401)
            #expect(reply.error == "The access token is invalid")
        }
    }

    @Test func refusesABadTokenEvenWhereNoneIsNeeded() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/api/v1/accounts/lookup?acct=mirror"
            try await expect(fixture.send("GET", target, as: .nobody).status, equals: 200)
            try await expect(
                fixture.send("GET", target, as: .token("no-such-token")).status, equals: 401)
            let lower = try await fixture.send(
                "GET", target, as: .nobody,
                headers: ["Authorization": "bearer \(fixture.sandbox.botToken)"])
            #expect(lower.status == 401)
        }
    }

    @Test func letsTheHumansTokenOnlyRead() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let write = try await fixture.send(
                "POST", "/api/v1/statuses", as: .human, json: #"{"status":"hello"}"#)
            #expect(write.status == 403)
            #expect(write.error == "This action is outside the authorized scopes")
            try await expect(
                fixture.send("GET", "/api/v1/notifications", as: .human).status, equals: 403)
            try await expect(
                fixture.send("GET", "/api/v1/favourites", as: .human).status, equals: 200)
        }
    }

    @Test(
        arguments: [
            (#"{"status":"hello","in_reply_to":"1"}"#, 422, "unknown field in_reply_to"),
            (#"{"status":""}"#, 422, "Text can't be blank"),
            (#"{"status":" \n"}"#, 422, "Text can't be blank"),
            (#"{"visibility":"public"}"#, 422, "Text can't be blank"),
            (#"{"status":5}"#, 422, "status must be a text"),
            (#"{"status":"hello","language":null}"#, 422, "language must be a text"),
            (#"{"status":"hello","language":"English"}"#, 422, "Language is not a language code"),
            (
                #"{"status":"hello","visibility":"secret"}"#, 422,
                "Visibility is not included in the list"
            ),
            (#"{"status":"hello","sensitive":"maybe"}"#, 422, "sensitive must be true or false"),
            (#"{"status":"hello","in_reply_to_id":"123"}"#, 404, "Record not found"),
            (#"{"status":"hello""#, 400, "could not read the JSON body"),
            (#"["hello"]"#, 400, "could not read the JSON body"),
        ] as [(String, Int, String)])
    func refusesAFaultyDraft(body: String, status: Int, reason: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.send("POST", "/api/v1/statuses", json: body)
            #expect(reply.status == status)
            expect(reply.error, "\(reply.text)") { $0?.contains(reason) == true }
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.deliveries.isEmpty)
            #expect(ledger.summary.errors == 1)
        }
    }

    @Test(arguments: ["text/plain", "multipart/form-data; boundary=x", "application/xml"])
    func refusesABodyOfAnotherType(type: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.send(
                "POST", "/api/v1/statuses", json: "hello", headers: ["Content-Type": type])
            #expect(reply.status == 406)
        }
    }

    @Test func refusesAClientThatDoesNotWantJSON() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/api/v2/instance"
            try await expect(
                fixture.send("GET", target, headers: ["Accept": "text/html"]).status, equals: 406)
            try await expect(
                fixture.send("GET", target, headers: ["Accept": "text/html, */*;q=0.1"]).status,
                equals: 200)
        }
    }

    @Test func countsCharactersAsMastodonDoes() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let family = String(repeating: "👨‍👩‍👧", count: 500)
            _ = try await fixture.publish(family)
            let link = "https://elsewhere.example/" + String(repeating: "x", count: 300)
            _ = try await fixture.publish(String(repeating: "a", count: 476) + " " + link)
            _ = try await fixture.publish(
                String(repeating: "a", count: 493) + " @ferry@elsewhere.example")
            for text in [
                String(repeating: "a", count: 501), String(repeating: "a", count: 477) + " " + link,
                String(repeating: "a", count: 494) + " @ferry@elsewhere.example",
            ] {
                let reply = try await fixture.send(
                    "POST", "/api/v1/statuses", json: #"{"status":"\#(text)"}"#)
                #expect(reply.status == 422)
                #expect(reply.error == "Validation failed: Text character limit of 500 exceeded")
            }
        }
    }

    @Test func refusesUnknownPathsMethodsAndParameters() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            try await expect(fixture.send("GET", "/api/v1/nothing").status, equals: 404)
            try await expect(fixture.send("PUT", "/api/v1/statuses").status, equals: 405)
            try await expect(fixture.send("GET", "/api/v1/statuses/1").status, equals: 404)
            try await expect(fixture.send("GET", "/api/v1/statuses/one").status, equals: 404)
            try await expect(
                fixture.send("GET", "/api/v1/notifications?types=mention").status, equals: 422)
            try await expect(
                fixture.send("GET", "/api/v1/timelines/home?limit=0").status, equals: 400)
            try await expect(
                fixture.send("GET", "/api/v1/timelines/home?max_id=abc").status, equals: 400)
        }
    }

    @Test func answersEveryRequestWithRateLimitHeaders() async throws {
        let limits = SandboxRateLimits(requests: 3, period: 300, posts: 2, postPeriod: 10_800)
        try await SandboxFixture.run(rateLimits: limits) { (fixture) async throws in
            let target = "/api/v1/accounts/verify_credentials"
            for remaining in [2, 1, 0] {
                let reply = try await fixture.send("GET", target)
                #expect(reply.status == 200)
                #expect(reply.headers["x-ratelimit-limit"] == "3")
                #expect(reply.headers["x-ratelimit-remaining"] == String(remaining))
                #expect(reply.headers["x-ratelimit-reset"] == "2026-11-19T15:05:00.000Z")
                #expect(reply.headers["date"] == "Thu, 19 Nov 2026 15:00:00 GMT")
            }
            let refused = try await fixture.send("GET", target)
            #expect(refused.status == 429)
            #expect(refused.error == "Too many requests")
            try await expect(fixture.send("GET", target, as: .human).status, equals: 200)
            fixture.clock.advance(hours: 0.1)
            try await expect(fixture.send("GET", target).status, equals: 200)
            try await expect(
                fixture.send("GET", target, as: .nobody).headers["x-ratelimit-limit"], equals: "3")
        }
    }

    @Test func limitsNewPostsSeparately() async throws {
        let limits = SandboxRateLimits(requests: 100, period: 300, posts: 2, postPeriod: 10_800)
        try await SandboxFixture.run(rateLimits: limits) { (fixture) async throws in
            _ = try await fixture.publish("one")
            _ = try await fixture.publish("two")
            let refused = try await fixture.send(
                "POST", "/api/v1/statuses", json: #"{"status":"three"}"#)
            #expect(refused.status == 429)
            #expect(refused.headers["x-ratelimit-limit"] == "2")
            try await expect(fixture.send("GET", "/api/v2/instance").status, equals: 200)
        }
    }

    @Test func limitsDeletionsSeparately() async throws {
        let limits = SandboxRateLimits(
            requests: 100, period: 300, posts: 100, postPeriod: 10_800, deletions: 1)
        try await SandboxFixture.run(rateLimits: limits) { (fixture) async throws in
            let ids = [try await fixture.publish("one"), try await fixture.publish("two")]
            try await expect(
                fixture.send("DELETE", "/api/v1/statuses/\(ids[0])").status, equals: 200)
            try await expect(
                fixture.send("DELETE", "/api/v1/statuses/\(ids[1])").status, equals: 429)
            fixture.clock.advance(hours: 0.5)
            try await expect(
                fixture.send("DELETE", "/api/v1/statuses/\(ids[1])").status, equals: 200)
            await expect(fixture.sandbox.ledger.removals.map(\.postID), equals: ids)
        }
    }
}
