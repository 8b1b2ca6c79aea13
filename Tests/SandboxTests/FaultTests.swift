import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct FaultTests {
    @Test func dropsTheAnswerAfterActing() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.failNext(.dropAnswer, method: "POST", path: "/api/v1/statuses")
            let lost = try await fixture.attempt(
                "POST", "/api/v1/statuses", json: #"{"status":"lost"}"#)
            #expect(lost == nil)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.deliveries.map(\.text) == ["lost"])
            #expect(ledger.summary.errors == 0)
            _ = try await fixture.publish("found")
        }
    }

    @Test func dropsARequestBeforeActing() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.failNext(.dropRequest, count: 2)
            for _ in 0..<2 {
                let lost = try await fixture.attempt(
                    "POST", "/api/v1/statuses", json: #"{"status":"lost"}"#)
                #expect(lost == nil)
            }
            await expect(fixture.sandbox.ledger.deliveries) { $0.isEmpty }
            _ = try await fixture.publish("found")
        }
    }

    @Test func answersWithPlannedErrorsInOrder() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let faults = fixture.sandbox.faults
            faults.failNext(.html(status: 502), path: "/api/v1/timelines")
            faults.failNext(
                .error(status: 429, message: "Too many requests", headers: ["Retry-After": "30"]),
                path: "/api/v1/timelines")
            let other = try await fixture.send("GET", "/api/v2/instance")
            #expect(other.status == 200)
            let page = try await fixture.send("GET", "/api/v1/timelines/home")
            #expect(page.status == 502)
            #expect(page.headers["content-type"] == "text/html")
            let limited = try await fixture.send("GET", "/api/v1/timelines/home")
            #expect(limited.status == 429)
            #expect(limited.headers["retry-after"] == "30")
            let fine = try await fixture.send("GET", "/api/v1/timelines/home")
            #expect(fine.status == 200)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.rejections.count == 2)
            #expect(ledger.summary.errors == 0)
        }
    }

    @Test func mayIgnoreIdempotencyKeys() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.mastodon.keys = .ignored
            let first = try await fixture.publish("hello", key: "k")
            let second = try await fixture.publish("hello", key: "k")
            #expect(first != second)
            await expect(fixture.sandbox.ledger.summary.duplicateSends, equals: 1)
        }
    }

    @Test func mayServeListsBadly() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let faults = fixture.sandbox.faults
            let good = try await fixture.send("GET", "/api/v1/timelines/home?limit=5")
            faults.mastodon.repeatsItems = true
            let repeated = try await fixture.send("GET", "/api/v1/timelines/home?limit=5")
            #expect(repeated.ids == good.ids + good.ids)
            faults.clear()
            faults.mastodon.links = .missing
            let bare = try await fixture.send("GET", "/api/v1/timelines/home?limit=5")
            #expect(bare.headers["link"] == nil)
            faults.clear()
            faults.mastodon.ignoresSinceID = MastodonHabits.everywhere
            faults.mastodon.ignoresMinID = MastodonHabits.everywhere
            for parameter in ["since_id", "min_id"] {
                let old = try await fixture.send(
                    "GET", "/api/v1/timelines/home?limit=5&\(parameter)=\(good.ids[0])")
                #expect(old.ids == good.ids)
            }
        }
    }
}
