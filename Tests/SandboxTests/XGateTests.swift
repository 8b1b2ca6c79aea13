import Foundation
import Testing

@testable import Sandbox

@Suite struct XGateTests {
    private static let me = "/2/users/me"

    @Test func letsASignedRequestIn() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let bot = try await fixture.x("GET", Self.me)
            #expect(bot.status == 200)
            #expect(bot.single["username"] as? String == "mirror")
            #expect(bot.single["id"] as? String == fixture.xID(.bot))
            let human = try await fixture.x("GET", Self.me, as: .human) { $0.version = nil }
            #expect(human.single["username"] as? String == "haruka")
        }
    }

    private static let spoilings: [@Sendable (inout XSigner) -> Void] = [
        { $0.keys.consumerSecret += "x" }, { $0.keys.accessTokenSecret += "x" },
        { $0.keys.consumerKey += "x" },
        { $0.keys.accessToken += "x" }, { $0.timestamp += 301 }, { $0.timestamp -= 301 },
        { $0.method = "HMAC-SHA256" }, { $0.method = "PLAINTEXT" }, { $0.version = "2.0" },
        { $0.nonce = "" },
        { $0.nonce = "no-good" }, { $0.sendsToken = false },
        { $0.extra = [("oauth_token", $0.keys.accessToken)] },
        { $0.timestamp = Date(timeIntervalSince1970: 0) },
    ]

    @Test func refusesWhatIsWrong() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            for (index, spoil) in Self.spoilings.enumerated() {
                let reply = try await fixture.x("GET", Self.me, change: spoil)
                #expect(reply.status == 401, "case \(index)")
                #expect(reply.headers["content-type"] == "application/problem+json; charset=utf-8")
                #expect(reply.object["title"] as? String == "Unauthorized")
                #expect(reply.object["status"] as? Int == 401)
                #expect(reply.headers["x-rate-limit-limit"] == nil)
            }
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.summary.errors == Self.spoilings.count)
        }
    }

    @Test func acceptsTimestampsOfFiveMinutes() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            for seconds in [-300.0, 300] {
                let reply = try await fixture.x("GET", Self.me) { $0.timestamp += seconds }
                #expect(reply.status == 200)
            }
        }
    }

    @Test func goesByItsOwnClock() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.clockSkew = 900
            let early = try await fixture.x("GET", Self.me)
            #expect(early.status == 401)
            let corrected = try await fixture.x("GET", Self.me) { $0.timestamp += 900 }
            #expect(corrected.status == 200)
            let wrong = try await fixture.x("GET", Self.me) { $0.timestamp += 1_800 }
            #expect(wrong.status == 401)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.rejections.map(\.isExpected) == [true, false])
        }
    }

    @Test func takesANonceOnce() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let first = try await fixture.x("GET", Self.me) { $0.nonce = "abc123" }
            let second = try await fixture.x("GET", Self.me) { $0.nonce = "abc123" }
            fixture.clock.advance(hours: 24)
            let third = try await fixture.x("GET", Self.me) { $0.nonce = "abc123" }
            let other = try await fixture.x("GET", Self.me, as: .human) { $0.nonce = "abc123" }
            #expect([first, second, third, other].map(\.status) == [200, 401, 401, 200])
        }
    }

    /// HTTP clients send a read whose connection was cut once more, as it is.
    @Test func aNonceThatComesAgainAfterACutAnswerIsNobodysFault() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.failNext(.resetAnswer)
            _ = try? await fixture.x("GET", Self.me) { $0.nonce = "cut" }
            let repeated = try await fixture.x("GET", Self.me) { $0.nonce = "cut" }
            let whole = try await fixture.x("GET", Self.me) { $0.nonce = "whole" }
            let again = try await fixture.x("GET", Self.me) { $0.nonce = "whole" }
            #expect([repeated, whole, again].map(\.status) == [401, 200, 401])
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.rejections.map(\.isExpected) == [true, false])
        }
    }

    @Test func refusesOtherSchemesAndNone() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let none = try await fixture.send("GET", Self.me, as: .nobody)
            let bearer = try await fixture.send("GET", Self.me, as: .bot)
            #expect([none, bearer].map(\.status) == [401, 401])
        }
    }

    /// Sends a header that was made for another request.
    private func moved(
        _ fixture: SandboxFixture, from made: (method: String, target: String, form: String?),
        to sent: (method: String, target: String, form: String?)
    ) async throws -> Reply {
        let signer = XSigner(fixture.sandbox.xKeys(.bot), at: fixture.clock.now)
        let header = try signer.header(
            fixture.wireRequest(made.method, made.target, form: made.form))
        return try await fixture.send(
            sent.method, sent.target, as: .nobody, form: sent.form,
            headers: ["Authorization": header])
    }

    @Test func signsMethodPathQueryAndForm() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let posts = "/2/tweets?ids=1"
            let same = try await moved(fixture, from: ("GET", posts, nil), to: ("GET", posts, nil))
            let query = try await moved(
                fixture, from: ("GET", posts, nil), to: ("GET", "/2/tweets?ids=2", nil))
            let path = try await moved(
                fixture, from: ("GET", "/2/tweets/1", nil), to: ("GET", "/2/tweets/2", nil))
            let verb = try await moved(
                fixture, from: ("DELETE", posts, nil), to: ("GET", posts, nil))
            let form = try await moved(
                fixture, from: ("POST", "/2/tweets", "a=1"), to: ("POST", "/2/tweets", "a=2"))
            #expect([same, query, path, verb, form].map(\.status) == [200, 401, 401, 401, 401])
        }
    }

    @Test func refusesAParameterThatIsThereTwice() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.x("GET", "/2/tweets?ids=1&ids=2")
            #expect(reply.status == 401)
        }
    }

    @Test func letsTheHumansKeysOnlyRead() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let write = try await fixture.x(
                "POST", "/2/tweets", as: .human, json: #"{"text":"hello"}"#)
            #expect(write.status == 403)
            #expect(write.problem == "oauth1-permissions")
            let delete = try await fixture.x("DELETE", "/2/tweets/1", as: .human)
            #expect(delete.problem == "oauth1-permissions")
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.deliveries.isEmpty)
            #expect(ledger.summary.errors == 2)
        }
    }

    @Test func knowsNoOtherPathsAndMethods() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let path = try await fixture.x("GET", "/2/nothing")
            let method = try await fixture.x("PUT", "/2/tweets")
            #expect([path, method].map(\.status) == [404, 405])
            // Mastodon's interface stays where it was.
            let mastodon = try await fixture.send("GET", "/api/v1/accounts/verify_credentials")
            #expect(mastodon.status == 200)
        }
    }
}
