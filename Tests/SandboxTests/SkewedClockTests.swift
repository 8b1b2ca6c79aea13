import Foundation
import NetworkNames
import Posts
import Testing

@testable import Sandbox

/// Several clients at once whose clocks are not the server's.
@Suite struct SkewedClockTests {
    @Test(arguments: [(-360.0, 401), (-240, 201), (0, 201), (240, 201), (360, 401)])
    func xTakesTimestampsOfTheseMinutesOnly(skew: TimeInterval, status: Int) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.x("POST", "/2/tweets", json: #"{"text":"hello"}"#) {
                signer in
                signer.timestamp += skew
            }
            #expect(reply.status == status)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.writes.map(\.effect) == [status == 201 ? .created : .refused])
        }
    }

    @Test func xCanBeAskedToBeMorePatient() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.x.timestampWindow = 900
            let early = try await fixture.x("GET", "/2/users/me") { $0.timestamp -= 890 }
            let tooEarly = try await fixture.x("GET", "/2/users/me") { $0.timestamp -= 910 }
            #expect(early.status == 200)
            #expect(tooEarly.status == 401)
        }
    }

    @Test func xKnowsANonceForAsLongAsItsTimestampIsGood() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            var signer = XSigner(fixture.sandbox.xKeys(.bot), at: fixture.clock.now + 290)
            signer.nonce = "once"
            let first = try await fixture.x("GET", "/2/users/me", signer: signer)
            #expect(first.status == 200)
            for _ in 0..<29 {
                fixture.clock.now += 20
                _ = try await fixture.x("GET", "/2/users/me")
                let again = try await fixture.x("GET", "/2/users/me", signer: signer)
                #expect(again.status == 401)
            }
        }
    }

    @Test func blueskyTakesRecordsOfClientsThatAreMinutesOff() async throws {
        try await BotRequests.run(.bluesky) { bot in
            let client = try await BlueskyClient.logIn(.bot, to: bot.fixture)
            let offsets = [240.0, -240, 0]
            for (number, offset) in offsets.enumerated() {
                let created = (bot.fixture.clock.now + offset).rfc3339
                let reply = try await client.put(
                    client.record("number \(number)", ["createdAt": created]),
                    key: bot.key(number) ?? "")
                #expect(reply.status == 200)
                bot.fixture.clock.now += 1
            }
            // A feed believes nobody who claims to be of the future.
            let feed = try await client.get("app.bsky.feed.getAuthorFeed", "actor=\(client.did)")
            let texts = feed.items("feed").compactMap { $0.post.record["text"] as? String }
            #expect(texts == ["number 2", "number 0", "number 1"])
        }
    }

    @Test func servesClientsWithDifferentClocksAtOnce() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let skews = (0..<24).map { Double($0 % 5 - 2) * 120 }
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for (number, skew) in skews.enumerated() {
                    group.addTask {
                        let json = #"{"text":"number \#(number)"}"#
                        return try await fixture.x("POST", "/2/tweets", json: json) {
                            $0.timestamp += skew
                        }.status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 201, count: 24))
            let ledger = await fixture.sandbox.ledger
            #expect(Set(ledger.deliveries.map(\.text)).count == 24)
        }
    }
}
