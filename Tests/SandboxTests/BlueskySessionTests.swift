import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct BlueskySessionTests {
    private static let server = "com.atproto.server"

    @Test func opensASessionByHandleOrDID() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let login = fixture.sandbox.blueskyLogin(.bot)
            let bot = try await BlueskyClient.logIn(.bot, to: fixture)
            #expect(login.handle == "mirror.sandbox.example")
            for identifier in [login.handle.uppercased(), bot.did] {
                let reply = try await fixture.call(
                    "\(Self.server).createSession",
                    ["identifier": identifier, "password": login.appPassword])
                #expect(reply.status == 200)
                #expect(reply.object["did"] as? String == bot.did)
                #expect(reply.object["handle"] as? String == login.handle)
                let document = try #require(reply.object["didDoc"] as? [String: Any])
                let services = try #require(document["service"] as? [[String: Any]])
                #expect(services.map { $0["id"] as? String } == ["#atproto_pds"])
                #expect(services.map { $0["serviceEndpoint"] as? String } == [fixture.sandbox.url])
            }
            let session = try await bot.get("\(Self.server).getSession")
            #expect(session.object["did"] as? String == bot.did)
            #expect(session.object["accessJwt"] == nil)
        }
    }

    @Test func refusesAWrongLogin() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let logins = [
                ("mirror.sandbox.example", "no"), ("nobody.sandbox.example", "no"),
                ("aoi.sandbox.example", ""),
            ]
            for (identifier, password) in logins {
                let reply = try await fixture.call(
                    "\(Self.server).createSession",
                    ["identifier": identifier, "password": password])
                #expect(reply.status == 401)
                #expect(reply.error == "AuthenticationRequired")
            }
            await expect(fixture.sandbox.ledger.summary.errors, equals: logins.count)
        }
    }

    @Test func tellsMissingFromBadTokens() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let missing = try await bot.fixture.ask("app.bsky.feed.getTimeline")
            #expect(missing.status == 401)
            #expect(missing.error == "AuthMissing")
            for token in ["nonsense", bot.refresh] {
                let bad = try await bot.fixture.ask("app.bsky.feed.getTimeline", token: token)
                #expect(bad.status == 400)
                #expect(bad.error == "InvalidToken")
            }
            // A guest would be served, but not with a bad token.
            let guest = try await bot.fixture.ask(
                "app.bsky.actor.getProfile", "actor=\(bot.did)", token: "nonsense")
            #expect(guest.error == "InvalidToken")
            let swapped = try await bot.fixture.call(
                "\(Self.server).refreshSession", nil, token: bot.access)
            #expect(swapped.error == "InvalidToken")
        }
    }

    @Test func endsAnAccessTokenAfterTwoHoursWith400() async throws {
        try await BlueskyClient.run { (bot) async throws in
            bot.fixture.clock.advance(hours: 1.99)
            try await expect(bot.get("\(Self.server).getSession").status, equals: 200)
            bot.fixture.clock.advance(hours: 0.02)
            let expired = try await bot.get("\(Self.server).getSession")
            #expect(expired.status == 400)
            #expect(expired.error == "ExpiredToken")
            // Nobody but the server knows when a token ends.
            await expect(bot.fixture.sandbox.ledger.summary.errors, equals: 0)
            bot.fixture.sandbox.faults.bluesky.accessTokenLifetime = 4 * 3_600
            try await expect(bot.get("\(Self.server).getSession").status, equals: 200)
        }
    }

    @Test func exchangesARefreshTokenForANewPair() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let fixture = bot.fixture
            fixture.clock.advance(hours: 3)
            let first = try await fixture.call(
                "\(Self.server).refreshSession", nil, token: bot.refresh)
            #expect(first.status == 200)
            #expect(first.object["did"] as? String == bot.did)
            let access = try #require(first.object["accessJwt"] as? String)
            let refresh = try #require(first.object["refreshJwt"] as? String)
            #expect(refresh != bot.refresh)
            try await expect(
                fixture.ask("\(Self.server).getSession", token: access).status, equals: 200)
            // The old one still works for two hours and leads to the same successor.
            fixture.clock.advance(hours: 1.9)
            let again = try await fixture.call(
                "\(Self.server).refreshSession", nil, token: bot.refresh)
            #expect(again.object["refreshJwt"] as? String == refresh)
            fixture.clock.advance(hours: 0.2)
            let late = try await fixture.call(
                "\(Self.server).refreshSession", nil, token: bot.refresh)
            #expect(late.status == 400)
            #expect(late.error == "ExpiredToken")
            try await expect(
                fixture.call("\(Self.server).refreshSession", nil, token: refresh).status,
                equals: 200)
        }
    }

    @Test func keepsARefreshTokenForNinetyDays() async throws {
        try await BlueskyClient.run { (bot) async throws in
            bot.fixture.clock.advance(hours: 24 * 90 + 1)
            let late = try await bot.fixture.call(
                "\(Self.server).refreshSession", nil, token: bot.refresh)
            #expect(late.error == "ExpiredToken")
        }
    }

    @Test func mayRevokeTheOldPairAtOnce() async throws {
        try await BlueskyClient.run { (bot) async throws in
            bot.fixture.sandbox.faults.bluesky.revokesOldTokens = true
            let new = try await bot.fixture.call(
                "\(Self.server).refreshSession", nil, token: bot.refresh)
            #expect(new.status == 200)
            let again = try await bot.fixture.call(
                "\(Self.server).refreshSession", nil, token: bot.refresh)
            #expect(again.error == "ExpiredToken")
            try await expect(bot.get("\(Self.server).getSession").error, equals: "ExpiredToken")
        }
    }

    @Test func endsASession() async throws {
        try await BlueskyClient.run { (bot) async throws in
            try await expect(
                bot.fixture.call("\(Self.server).deleteSession", nil, token: bot.refresh).status,
                equals: 200)
            let after = try await bot.fixture.call(
                "\(Self.server).refreshSession", nil, token: bot.refresh)
            #expect(after.error == "ExpiredToken")
        }
    }

    @Test func findsPeopleByTheirNames() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let resolved = try await fixture.ask(
                "com.atproto.identity.resolveHandle", "handle=haruka.sandbox.example")
            #expect(resolved.object["did"] as? String == fixture.humanDID)
            let missing = try await fixture.ask(
                "com.atproto.identity.resolveHandle", "handle=nobody.example")
            #expect(missing.status == 400)
            #expect(missing.error == "InvalidRequest")
            let document = try await fixture.send("GET", "/" + fixture.humanDID, as: .nobody)
            #expect(document.object["id"] as? String == fixture.humanDID)
            #expect(document.object["alsoKnownAs"] as? [String] == ["at://haruka.sandbox.example"])
            expect(document.headers["content-type"]) {
                $0?.hasPrefix("application/did+ld+json") == true
            }
            let nobody = try await fixture.send(
                "GET", "/did:plc:aaaaaaaaaaaaaaaaaaaaaaaa", as: .nobody)
            #expect(nobody.status == 404)
            let server = try await fixture.send("GET", "/.well-known/did.json", as: .nobody)
            #expect(server.object["id"] as? String == "did:web:127.0.0.1%3A\(fixture.sandbox.port)")
            let services = server.object["service"] as? [[String: Any]] ?? []
            #expect(services.first?["serviceEndpoint"] as? String == fixture.sandbox.url)
        }
    }
}
