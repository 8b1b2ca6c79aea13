import Foundation
import Testing

@testable import Sandbox

@Suite struct XLoginTests {
    private func form(_ reply: Reply) -> [String: String] {
        Dictionary(
            WireRequest.form(reply.text).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    private func begin(
        _ fixture: SandboxFixture, query: String = "", form: String? = nil,
        callback: String? = "oob"
    ) async throws -> Reply {
        try await fixture.x("POST", "/oauth/request_token" + query, form: form) { signer in
            signer.sendsToken = false
            if let callback { signer.extra = [("oauth_callback", callback)] }
        }
    }

    private func pin(_ fixture: SandboxFixture, _ token: String, query: String = "") async throws
        -> String
    {
        let page = try await fixture.send(
            "GET", "/oauth/authorize?oauth_token=\(token)\(query)", as: .nobody)
        let after = try #require(page.text.components(separatedBy: "<code>").last)
        return try #require(after.components(separatedBy: "</code>").first)
    }

    private func finish(
        _ fixture: SandboxFixture, _ request: [String: String], pin: String
    ) async throws -> Reply {
        let token = request["oauth_token"] ?? ""
        let secret = request["oauth_token_secret"] ?? ""
        return try await fixture.x("POST", "/oauth/access_token") { signer in
            signer.keys.accessToken = token
            signer.keys.accessTokenSecret = secret
            signer.extra = [("oauth_verifier", pin)]
        }
    }

    private func signer(_ fixture: SandboxFixture, _ grant: [String: String]) -> XSigner {
        var keys = fixture.sandbox.xKeys(.bot)
        keys.accessToken = grant["oauth_token"] ?? ""
        keys.accessTokenSecret = grant["oauth_token_secret"] ?? ""
        return XSigner(keys, at: fixture.clock.now)
    }

    @Test func givesKeysForAPIN() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let first = form(try await begin(fixture))
            #expect(first["oauth_callback_confirmed"] == "true")
            let pin = try await pin(fixture, first["oauth_token"] ?? "")
            #expect(pin.count == 7)
            #expect(Int(pin) != nil)
            let grant = form(try await finish(fixture, first, pin: pin))
            #expect(grant["screen_name"] == "mirror")
            #expect(grant["user_id"] == fixture.xID(.bot))
            let posted = try await fixture.x(
                "POST", "/2/tweets", signer: signer(fixture, grant), json: #"{"text":"hello"}"#)
            #expect(posted.status == 201)
            let again = try await finish(fixture, first, pin: pin)
            #expect(again.status == 401)
        }
    }

    @Test(arguments: [true, false]) func givesReadOnlyKeysToTheHuman(isInForm: Bool) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let parameter = "x_auth_access_type=read"
            let reply = try await begin(
                fixture, query: isInForm ? "" : "?\(parameter)", form: isInForm ? parameter : nil)
            let request = form(reply)
            let pin = try await pin(
                fixture, request["oauth_token"] ?? "", query: "&screen_name=haruka&force_login=true"
            )
            let grant = form(try await finish(fixture, request, pin: pin))
            #expect(grant["screen_name"] == "haruka")
            let me = try await fixture.x("GET", "/2/users/me", signer: signer(fixture, grant))
            #expect(me.single["id"] as? String == fixture.xID(.human))
            let write = try await fixture.x(
                "POST", "/2/tweets", signer: signer(fixture, grant), json: #"{"text":"hello"}"#)
            #expect(write.problem == "oauth1-permissions")
        }
    }

    @Test func refusesAWrongPINAndACallback() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let request = form(try await begin(fixture))
            let early = try await finish(fixture, request, pin: "1234567")
            #expect(early.status == 401)
            let pin = try await pin(fixture, request["oauth_token"] ?? "")
            let wrong = try await finish(
                fixture, request, pin: pin == "1234567" ? "7654321" : "1234567")
            #expect(wrong.status == 401)
            let callback = try await begin(fixture, callback: "https://elsewhere.example/")
            #expect(callback.status == 403)
            #expect(callback.errors.first?["code"] as? Int == 415)
            let without = try await begin(fixture, callback: nil)
            #expect(without.status == 403)
        }
    }

    @Test func knowsNobodyElsesPassword() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let request = form(try await begin(fixture))
            let token = request["oauth_token"] ?? ""
            let other = try await fixture.send(
                "GET", "/oauth/authorize?oauth_token=\(token)&screen_name=aoi", as: .nobody)
            let unknown = try await fixture.send(
                "GET", "/oauth/authorize?oauth_token=none", as: .nobody)
            #expect([other, unknown].map(\.status) == [403, 403])
        }
    }

    @Test func leavesMastodonsPageAlone() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let mastodon = try await fixture.send(
                "GET", "/oauth/authorize?client_id=1&response_type=code", as: .nobody)
            #expect(!mastodon.text.contains("request token"))
        }
    }

    @Test func revokesAToken() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let revoked = try await fixture.x("POST", "/1.1/oauth/invalidate_token")
            #expect(revoked.status == 200)
            let after = try await fixture.x("GET", "/2/users/me")
            #expect(after.status == 401)
            #expect(after.errors.first?["code"] as? Int == 89)
        }
    }
}
