import Foundation
import NetworkNames
import Testing

@testable import Sandbox

@Suite struct XRatesTests {
    @Test func countsEachEndpointAndAccount() async throws {
        try await SandboxFixture.run(rateLimits: .mastodon) { (fixture) async throws in
            for used in 1...75 {
                let reply = try await fixture.x("GET", "/2/users/me")
                #expect(reply.status == 200)
                #expect(reply.headers["x-rate-limit-limit"] == "75")
                #expect(reply.headers["x-rate-limit-remaining"] == String(75 - used))
            }
            let refused = try await fixture.x("GET", "/2/users/me")
            #expect(refused.status == 429)
            #expect(refused.object["title"] as? String == "Too Many Requests")
            let reset = try #require(refused.headers["x-rate-limit-reset"].flatMap { Double($0) })
            #expect(reset == 1_795_100_400 + 900)
            let human = try await fixture.x("GET", "/2/users/me", as: .human)
            let post = try await fixture.x("GET", "/2/tweets?ids=12")
            #expect([human, post].map(\.status) == [200, 200])
            #expect(post.headers["x-rate-limit-limit"] == "5000")
            fixture.clock.now = Date(timeIntervalSince1970: reset)
            let later = try await fixture.x("GET", "/2/users/me")
            #expect(later.status == 200)
        }
    }

    @Test func allowsAHundredPostsInAQuarterOfAnHour() async throws {
        try await SandboxFixture.run(rateLimits: .mastodon) { (fixture) async throws in
            for number in 1...100 {
                let reply = try await fixture.xPublish("post \(number)")
                #expect(reply.status == 201)
            }
            let refused = try await fixture.xPublish("one more")
            #expect(refused.status == 429)
        }
    }

    @Test func staysUnlimitedWhereAskedTo() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            for _ in 1...80 {
                let reply = try await fixture.x("GET", "/2/users/me")
                #expect(reply.status == 200)
            }
        }
    }

    @Test func liesWhereItHasTheHabit() async throws {
        try await SandboxFixture.run(rateLimits: .mastodon) { (fixture) async throws in
            fixture.sandbox.faults.x.misstatesLimits = true
            var reply = try await fixture.x("GET", "/2/users/me")
            for _ in 0..<75 { reply = try await fixture.x("GET", "/2/users/me") }
            #expect(reply.status == 429)
            #expect(reply.headers["x-rate-limit-remaining"] == "75")
            #expect(reply.headers["x-rate-limit-reset"] == "1795100399")
        }
    }
}
