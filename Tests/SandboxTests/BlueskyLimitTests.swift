import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct BlueskyLimitTests {
    @Test func saysWhatIsLeft() async throws {
        try await SandboxFixture.run(rateLimits: .mastodon) { (fixture) async throws in
            let reply = try await fixture.ask(
                "com.atproto.identity.resolveHandle", "handle=haruka.sandbox.example")
            #expect(reply.headers["ratelimit-limit"] == "3000")
            #expect(reply.headers["ratelimit-remaining"] == "2999")
            #expect(reply.headers["ratelimit-policy"] == "3000;w=300")
            let reset = try #require(reply.headers["ratelimit-reset"].flatMap { Double($0) })
            #expect((1...300).contains(reset - SandboxFixture.origin.timeIntervalSince1970))
            #expect(reply.headers["retry-after"] == nil)
        }
    }

    @Test func refusesTheThirtyFirstLoginInFiveMinutes() async throws {
        try await SandboxFixture.run(rateLimits: .mastodon) { (fixture) async throws in
            let login = ["identifier": "mirror.sandbox.example", "password": "wrong"]
            for _ in 0..<30 {
                try await expect(
                    fixture.call("com.atproto.server.createSession", login).status, equals: 401)
            }
            let limited = try await fixture.call("com.atproto.server.createSession", login)
            #expect(limited.status == 429)
            #expect(limited.error == "RateLimitExceeded")
            #expect(limited.headers["ratelimit-policy"] == "30;w=300")
            #expect(limited.headers["ratelimit-remaining"] == "0")
            let wait = try #require(limited.headers["retry-after"].flatMap { Double($0) })
            fixture.clock.advance(hours: wait / 3_600)
            try await expect(
                fixture.call("com.atproto.server.createSession", login).status, equals: 401)
        }
    }

    @Test func countsWritesInPoints() async throws {
        let limits = SandboxRateLimits(requests: 1_000, period: 300, posts: 2, postPeriod: 3_600)
        try await BlueskyClient.run(rateLimits: limits) { (bot) async throws in
            let put = try await bot.put(bot.record("one"))
            #expect(put.headers["ratelimit-limit"] == "6")
            #expect(put.headers["ratelimit-remaining"] == "4")
            let body: [String: Any] = [
                "repo": bot.did, "collection": BlueskyClient.posts, "record": bot.record("two"),
            ]
            let created = try await bot.post("com.atproto.repo.createRecord", body)
            #expect(created.headers["ratelimit-remaining"] == "1")
            let refused = try await bot.put(bot.record("three"), key: "3ke6kg3wk2223")
            #expect(refused.status == 429)
            // Reading goes on.
            try await expect(bot.get("app.bsky.feed.getTimeline").status, equals: 200)
            bot.fixture.clock.advance(hours: 1)
            try await expect(bot.put(bot.record("three"), key: "3ke6kg3wk2223").status, equals: 200)
        }
    }

    @Test func limitsAllRequestsOfAnAddress() async throws {
        let limits = SandboxRateLimits(requests: 3, period: 300, posts: 100, postPeriod: 3_600)
        try await SandboxFixture.run(rateLimits: limits) { (fixture) async throws in
            let question = "com.atproto.identity.resolveHandle"
            for _ in 0..<3 {
                try await expect(
                    fixture.ask(question, "handle=haruka.sandbox.example").status, equals: 200)
            }
            let limited = try await fixture.ask(question, "handle=haruka.sandbox.example")
            #expect(limited.status == 429)
            #expect(limited.headers["retry-after"] != nil)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 1)
        }
    }

    @Test func staysUnlimitedWhereItIsSaid() {
        var rates = BlueskyRates(.unlimited)
        let now = SandboxFixture.origin
        for _ in 0..<2_000 {
            #expect(!rates.countRequest(at: now).isExceeded)
            expect(rates.countLogin(to: "a", at: now)) { $0?.isExceeded == false }
            expect(rates.countPoints(3, by: "a", at: now)) { $0?.isExceeded == false }
        }
    }
}
