import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct MastodonLoginTests {
    private static let redirect = "urn:ietf:wg:oauth:2.0:oob"
    private static let redirectText = "urn%3Aietf%3Awg%3Aoauth%3A2.0%3Aoob"
    /// Where a page waits for a login, with a query of its own.
    private static let page = "http://127.0.0.1:8080/m/mika/setup/return?of=tests"
    private static let verify = "/api/v1/accounts/verify_credentials"
    /// From RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    private struct Client {
        var id: String
        var secret: String
        var credentials: String { "client_id=\(id)&client_secret=\(secret)" }
    }

    private func register(_ fixture: SandboxFixture, scopes: String = "read write") async throws
        -> Client
    {
        let reply = try await fixture.send(
            "POST", "/api/v1/apps", as: .nobody,
            form: "client_name=tests&redirect_uris=\(Self.redirectText)&scopes=\(scopes)")
        #expect(reply.status == 200)
        #expect(reply.object["redirect_uri"] as? String == Self.redirect)
        return Client(
            id: try #require(reply.object["client_id"] as? String),
            secret: try #require(reply.object["client_secret"] as? String))
    }

    /// What a person with a browser does; nil if the page shows no code.
    private func allow(
        _ fixture: SandboxFixture, _ client: Client, scope: String = "read+write",
        _ more: String = ""
    ) async throws -> String? {
        let page = try await fixture.send(
            "GET",
            "/oauth/authorize?response_type=code&client_id=\(client.id)&redirect_uri=\(Self.redirectText)"
                + "&scope=\(scope)&force_login=true\(more)", as: .nobody,
            headers: ["Accept": "text/html", "User-Agent": "Mozilla/5.0"])
        expect(page.headers["content-type"]) { $0?.hasPrefix("text/html") == true }
        return page.text.firstMatch(of: /<code>([0-9a-z]+)<\/code>/).map { String($0.output.1) }
    }

    private func exchange(
        _ fixture: SandboxFixture, _ client: Client, code: String, _ more: String = "",
        redirect: String = redirectText
    ) async throws -> Reply {
        try await fixture.send(
            "POST", "/oauth/token", as: .nobody,
            form:
                "grant_type=authorization_code&code=\(code)&\(client.credentials)&redirect_uri=\(redirect)\(more)"
        )
    }

    private func name(_ fixture: SandboxFixture, _ token: String) async throws -> String? {
        try await fixture.send("GET", Self.verify, as: .token(token)).object["acct"] as? String
    }

    @Test(arguments: [
        ("read+write", "", "mirror"), ("read", "", "haruka"), ("read", "&as=bot", "mirror"),
        ("read+write", "&as=human", "haruka"),
    ])
    func givesATokenForACode(scope: String, hint: String, expected: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await register(fixture)
            let code = try #require(try await allow(fixture, client, scope: scope, hint))
            let reply = try await exchange(fixture, client, code: code)
            #expect(reply.status == 200)
            #expect(reply.object["token_type"] as? String == "Bearer")
            #expect(reply.object["scope"] as? String == scope.replacing("+", with: " "))
            #expect(reply.object["created_at"] as? Int == 1_795_100_400)
            #expect(reply.object["refresh_token"] == nil)
            #expect(reply.object["expires_in"] == nil)
            let token = try #require(reply.object["access_token"] as? String)
            try await expect(name(fixture, token), equals: expected)
            let application = try await fixture.send(
                "GET", "/api/v1/apps/verify_credentials", as: .token(token))
            #expect(application.object["name"] as? String == "tests")
            await expect(fixture.sandbox.ledger.rejections) { $0.isEmpty }
        }
    }

    @Test func aCodeIsGoodOnce() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await register(fixture)
            let code = try #require(try await allow(fixture, client))
            try await expect(exchange(fixture, client, code: code).status, equals: 200)
            let again = try await exchange(fixture, client, code: code)
            #expect(again.status == 400)
            #expect(again.error == "invalid_grant")
            #expect(again.object["error_description"] is String)
        }
    }

    @Test func aCodeIsGoodForItsApplicationAndItsTime() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await register(fixture)
            let other = try await register(fixture)
            let stolen = try #require(try await allow(fixture, client))
            try await expect(exchange(fixture, other, code: stolen).error, equals: "invalid_grant")
            let elsewhere = try #require(try await allow(fixture, client))
            let moved = try await exchange(
                fixture, client, code: elsewhere, redirect: "https%3A%2F%2Fe.org")
            #expect(moved.error == "invalid_grant")
            let old = try #require(try await allow(fixture, client))
            fixture.clock.advance(hours: 0.2)
            try await expect(exchange(fixture, client, code: old).error, equals: "invalid_grant")
            let forged = Client(id: client.id, secret: "wrong")
            let code = try #require(try await allow(fixture, client))
            let refused = try await exchange(fixture, forged, code: code)
            #expect(refused.status == 401)
            #expect(refused.error == "invalid_client")
        }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// Registers an application with two return addresses.
    private func registerWithPage(_ fixture: SandboxFixture) async throws -> Client {
        let addresses = Self.encoded("\(Self.page)\n\(Self.redirect)")
        let reply = try await fixture.send(
            "POST", "/api/v1/apps", as: .nobody,
            form: "client_name=tests&redirect_uris=\(addresses)&scopes=read")
        #expect(reply.status == 200)
        #expect(reply.object["redirect_uri"] as? String == "\(Self.page)\n\(Self.redirect)")
        #expect(reply.object["redirect_uris"] as? [String] == [Self.page, Self.redirect])
        return Client(
            id: try #require(reply.object["client_id"] as? String),
            secret: try #require(reply.object["client_secret"] as? String))
    }

    /// Opens the page on which a person says yes or no.
    private func open(
        _ fixture: SandboxFixture, _ client: Client, redirect: String, _ more: String = ""
    ) async throws -> Reply {
        try await fixture.send(
            "GET",
            "/oauth/authorize?response_type=code&client_id=\(client.id)"
                + "&redirect_uri=\(Self.encoded(redirect))&scope=read\(more)", as: .nobody,
            headers: ["Accept": "text/html", "User-Agent": "Mozilla/5.0"])
    }

    /// The parameters that the server adds to the page's address.
    private static func added(_ reply: Reply) throws -> [String: String] {
        let location = try #require(reply.headers["location"])
        #expect(location.hasPrefix(page + "&"))
        let items = URLComponents(string: location)?.queryItems ?? []
        return Dictionary(
            items.dropFirst().map { ($0.name, $0.value ?? "") },
            uniquingKeysWith: { first, _ in first })
    }

    @Test func leadsBackWithTheCodeAndTheState() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await registerWithPage(fixture)
            let reply = try await open(
                fixture, client, redirect: Self.page, "&state=a%2Bb%26c")
            #expect(reply.status == 302)
            var added = try Self.added(reply)
            let sent = added.removeValue(forKey: "code")
            let code = try #require(sent)
            #expect(added == ["state": "a+b&c"])
            // Nothing comes back that was not sent.
            let bare = try Self.added(try await open(fixture, client, redirect: Self.page))
            #expect(Set(bare.keys) == ["code"])
            // A code is good for the address that it was sent to.
            let other = try #require(bare["code"])
            try await expect(
                exchange(fixture, client, code: other).error, equals: "invalid_grant")
            let token = try await exchange(
                fixture, client, code: code, redirect: Self.encoded(Self.page))
            #expect(token.status == 200)
            // The same application shows codes, too.
            let shown = try await open(fixture, client, redirect: Self.redirect)
            #expect(shown.status == 200)
            #expect(shown.text.contains("<code>"))
            let application = try await fixture.send(
                "GET", "/api/v1/apps/verify_credentials",
                as: .token(try #require(token.object["access_token"] as? String)))
            #expect(application.object["redirect_uris"] as? [String] == [Self.page, Self.redirect])
            await expect(fixture.sandbox.ledger.rejections.count, equals: 1)
        }
    }

    @Test(arguments: [
        "http://127.0.0.1:8080/m/mika/setup/return",
        "http://127.0.0.1:8080/m/mika/setup/return?of=tests&more=1",
        "https://127.0.0.1:8080/m/mika/setup/return?of=tests",
        "http://127.0.0.1:8081/m/mika/setup/return?of=tests",
    ])
    func leadsToNoOtherAddress(address: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await registerWithPage(fixture)
            let reply = try await open(fixture, client, redirect: address, "&state=s")
            #expect(reply.status == 400)
            #expect(reply.headers["location"] == nil)
        }
    }

    @Test func tellsOfAPersonWhoSaysNo() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await registerWithPage(fixture)
            let reply = try await open(
                fixture, client, redirect: Self.page, "&state=s&allow=no")
            #expect(reply.status == 302)
            var added = try Self.added(reply)
            let description = added.removeValue(forKey: "error_description")
            #expect(description?.isEmpty == false)
            #expect(added == ["error": "access_denied", "state": "s"])
            let shown = try await open(fixture, client, redirect: Self.redirect, "&allow=no")
            #expect(shown.headers["location"] == nil)
            #expect(!shown.text.contains("<code>"))
            await expect(fixture.sandbox.ledger.rejections) { $0.isEmpty }
        }
    }

    @Test func mayAskThePersonFirst() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await registerWithPage(fixture)
            let page = try await open(
                fixture, client, redirect: Self.page, "&state=s%26t&allow=ask")
            #expect(page.status == 200)
            func follow(_ verb: String) async throws -> [String: String] {
                let links = page.text.matches(of: /<a href="([^"]+)">([A-Za-z]+)<\/a>/)
                let link = try #require(links.first { $0.output.2 == verb })
                let target = link.output.1.replacing("&amp;", with: "&")
                return try Self.added(
                    try await fixture.send("GET", String(target), as: .nobody))
            }
            let allowed = try await follow("Authorize")
            #expect(Set(allowed.keys) == ["code", "state"])
            #expect(allowed["state"] == "s&t")
            let denied = try await follow("Deny")
            #expect(denied["error"] == "access_denied")
            #expect(denied["code"] == nil)
        }
    }

    @Test(arguments: ["http://127.0.0.1:8080/return", "https://mirror.example/return"])
    func serversMayShowCodesOnly(address: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.mastodon.showsCodesOnly = true
            for addresses in [address, "\(address)\n\(Self.redirect)"] {
                let reply = try await fixture.send(
                    "POST", "/api/v1/apps", as: .nobody,
                    form: "client_name=a&redirect_uris=\(Self.encoded(addresses))")
                #expect(reply.status == 422)
            }
            _ = try await register(fixture)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    @Test func wantsTheProofKeyThatWasAnnounced() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await register(fixture)
            let more = "&code_challenge=\(Self.challenge)&code_challenge_method=S256"
            for proof in ["", "&code_verifier=wrong"] {
                let code = try #require(try await allow(fixture, client, more))
                try await expect(
                    exchange(fixture, client, code: code, proof).error, equals: "invalid_grant")
            }
            let code = try #require(try await allow(fixture, client, more))
            try await expect(
                exchange(fixture, client, code: code, "&code_verifier=\(Self.verifier)").status,
                equals: 200)
            try await expect(
                allow(fixture, client, "&code_challenge=x&code_challenge_method=plain"), equals: nil
            )
        }
    }

    @Test func grantsNoMoreThanWasRegisteredAndAllowed() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await register(fixture, scopes: "read:accounts read:statuses")
            try await expect(allow(fixture, client, scope: "read"), equals: nil)
            try await expect(allow(fixture, client, scope: "write:statuses"), equals: nil)
            let code = try #require(try await allow(fixture, client, scope: "read:accounts"))
            let wide = try await exchange(fixture, client, code: code, "&scope=read:statuses")
            #expect(wide.error == "invalid_scope")
            let next = try #require(try await allow(fixture, client, scope: "read:accounts"))
            let reply = try await exchange(fixture, client, code: next, "&scope=read:accounts")
            let token = try #require(reply.object["access_token"] as? String)
            try await expect(name(fixture, token), equals: "haruka")
            try await expect(
                fixture.send("GET", "/api/v1/timelines/home", as: .token(token)).status, equals: 403
            )
        }
    }

    @Test(arguments: [
        "response_type=token", "client_id=nobody", "redirect_uri=https://e.org", "as=somebody",
        "surprise=1", "allow=perhaps",
    ])
    func showsAPageWithoutACodeForWhatDoesNotFit(change: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let client = try await register(fixture)
            try await expect(allow(fixture, client, "&\(change)"), equals: nil)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 1)
        }
    }

    @Test(arguments: [
        "client_name=&redirect_uris=\(redirectText)", "client_name=a",
        "client_name=a&redirect_uris=nonsense", "client_name=a&redirect_uris=http:///return",
        "client_name=a&redirect_uris=https://e.org/%23part",
        "client_name=a&redirect_uris=ftp://e.org/",
        "client_name=a&redirect_uris=\(redirectText)&scopes=everything",
        "client_name=a&redirect_uris=\(redirectText)&surprise=1",
    ])
    func registersNoNonsense(form: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.send("POST", "/api/v1/apps", as: .nobody, form: form)
            #expect(reply.status == 422)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 1)
        }
    }

    @Test func oldServersDoNotKnowEveryScope() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let form =
                "client_name=a&redirect_uris=\(Self.redirectText)&scopes=profile+read:statuses"
            fixture.sandbox.faults.mastodon.knowsProfileScope = false
            try await expect(
                fixture.send("POST", "/api/v1/apps", as: .nobody, form: form).status, equals: 422)
            fixture.sandbox.faults.mastodon.unknownScopes = .leftOut
            let reply = try await fixture.send("POST", "/api/v1/apps", as: .nobody, form: form)
            #expect(reply.object["scopes"] as? [String] == ["read:statuses"])
            await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    @Test func takesATokenBack() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let login = fixture.sandbox.mastodonLogin(.bot)
            let token = fixture.sandbox.botToken
            #expect(token == login.accessToken)
            let other = try await register(fixture)
            _ = try await fixture.send(
                "POST", "/oauth/revoke", as: .nobody, form: "\(other.credentials)&token=\(token)")
            try await expect(name(fixture, token), equals: "mirror")
            let own = Client(id: login.clientID, secret: login.clientSecret)
            let reply = try await fixture.send(
                "POST", "/oauth/revoke", as: .nobody, form: "\(own.credentials)&token=\(token)")
            #expect(reply.status == 200)
            try await expect(fixture.send("GET", Self.verify).status, equals: 401)
        }
    }

    @Test func tokensMayExpireAndBeRefreshed() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.mastodon.tokenLifetime = 600
            let login = fixture.sandbox.mastodonLogin(.bot)
            let own = Client(id: login.clientID, secret: login.clientSecret)
            func refresh(_ token: String) async throws -> Reply {
                try await fixture.send(
                    "POST", "/oauth/token", as: .nobody,
                    form: "grant_type=refresh_token&refresh_token=\(token)&\(own.credentials)")
            }
            try await expect(name(fixture, login.accessToken), equals: "mirror")
            fixture.clock.advance(hours: 599.0 / 3_600)
            try await expect(name(fixture, login.accessToken), equals: "mirror")
            fixture.clock.advance(hours: 2.0 / 3_600)
            try await expect(fixture.send("GET", Self.verify).status, equals: 401)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
            let fresh = try await refresh(login.refreshToken)
            #expect(fresh.object["expires_in"] as? Int == 600)
            let token = try #require(fresh.object["access_token"] as? String)
            let next = try #require(fresh.object["refresh_token"] as? String)
            try await expect(name(fixture, token), equals: "mirror")
            // The old pair is gone, and so is the token that came with it.
            try await expect(refresh(login.refreshToken).error, equals: "invalid_grant")
            try await expect(fixture.send("GET", Self.verify).status, equals: 401)
            try await expect(refresh(next).status, equals: 200)
            try await expect(
                fixture.send("GET", Self.verify, as: .token(token)).status, equals: 401)
        }
    }

    @Test func tokensWithoutAnEndCannotBeRefreshed() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let login = fixture.sandbox.mastodonLogin(.human)
            let reply = try await fixture.send(
                "POST", "/oauth/token", as: .nobody,
                form: "grant_type=refresh_token&refresh_token=\(login.refreshToken)"
                    + "&client_id=\(login.clientID)&client_secret=\(login.clientSecret)")
            #expect(reply.error == "unsupported_grant_type")
        }
    }

    @Test func tokensMayDoEverything() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.mastodon.ignoresScopes = true
            let reply = try await fixture.send(
                "POST", "/api/v1/statuses", as: .human, json: #"{"status":"oh"}"#)
            #expect(reply.status == 200)
        }
    }

    @Test func tellsWhereToLogInUnlessItDoesNot() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/.well-known/oauth-authorization-server"
            let reply = try await fixture.send("GET", target, as: .nobody)
            #expect(reply.object["code_challenge_methods_supported"] as? [String] == ["S256"])
            #expect(
                reply.object["token_endpoint"] as? String
                    == "http://127.0.0.1:\(fixture.sandbox.port)/oauth/token")
            expect((reply.object["scopes_supported"] as? [String])) {
                $0?.contains("profile") == true
            }
            fixture.sandbox.faults.mastodon = .gotosocial
            try await expect(fixture.send("GET", target, as: .nobody).status, equals: 404)
            try await expect(
                fixture.send("GET", "/api/v1/apps/verify_credentials").status, equals: 404)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }
}
