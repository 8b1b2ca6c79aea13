import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Networks

/// A person logs in with a browser and a code.
@Suite struct MastodonLoginTests {
    private static let metadata = #"""
        {"issuer":"https://home.example/","authorization_endpoint":"https://evil.example/oauth/authorize",
        "token_endpoint":"https://evil.example/oauth/token","app_registration_endpoint":"https://evil.example/apps",
        "scopes_supported":["read","profile","write","read:accounts","read:statuses"],
        "response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}
        """#
    private static let application = #"""
        {"id":"563","name":"mirror-bot","website":null,"client_id":"client/id+1","client_secret":"planted-secret",
        "redirect_uri":"urn:ietf:wg:oauth:2.0:oob","redirect_uris":["urn:ietf:wg:oauth:2.0:oob"],
        "client_secret_expires_at":0,"vapid_key":"x"}
        """#
    private static let reading = "read:statuses read:favourites"
    private static let writing =
        "read:accounts read:statuses read:notifications write:statuses write:favourites write:accounts write:media"

    /// The parts of a web form or query.
    private static func fields(_ text: some StringProtocol) -> [String: String] {
        let items = URLComponents(string: "/?\(text)")?.queryItems ?? []
        return Dictionary(
            items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
    }

    private static func form(_ request: LoopbackServer.Request) -> [String: String] {
        fields(String(decoding: request.body, as: UTF8.self))
    }

    private struct Fixture {
        let server: LoopbackServer
        let login: MastodonLogin

        init(_ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?) throws {
            server = try LoopbackServer { request, connection in
                let answer = answer(request) ?? .notFound
                try connection.respond(
                    status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
            }
            login = try MastodonLogin(
                server: "https://home.example", apiBaseURL: server.url,
                client: HTTPClient(
                    configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")),
                now: { Loopback.start })
        }
    }

    /// A server that does all that is asked, without a metadata document.
    private static func usual(
        _ request: LoopbackServer.Request, token: String = #"{"access_token":"planted-token"}"#
    )
        -> Answer?
    {
        switch request.path {
        case "/api/v1/apps": .json(application)
        case "/oauth/token": .json(token)
        default: nil
        }
    }

    @Test func goesTheWholeWay() async throws {
        let fixture = try Fixture { request in
            switch request.path {
            case "/.well-known/oauth-authorization-server": .json(Self.metadata)
            case "/api/v2/instance":
                .json(#"{"domain":"home.example","api_versions":{"mastodon":6}}"#)
            default:
                Self.usual(
                    request,
                    token: #"""
                        {"access_token":"planted-token","token_type":"Bearer","scope":"profile read:statuses",
                        "created_at":1795208400}
                        """#)
            }
        }
        let request = try await fixture.login.register(for: .human)
        let grant = try await fixture.login.finish(request, code: " \n planted-code\t\n")

        let calls = fixture.server.requests
        #expect(
            calls.map { "\($0.method) \($0.target)" } == [
                "GET /.well-known/oauth-authorization-server", "POST /api/v1/apps",
                "POST /oauth/token",
                "GET /api/v2/instance",
            ])
        expect(calls.prefix(3)) { $0.allSatisfy { $0.header("Authorization") == nil } }
        #expect(
            Self.form(calls[1]) == [
                "client_name": "mirror-bot", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob",
                "scopes": "profile \(Self.reading)",
            ])

        // The person goes to the server itself, whatever its documents say and wherever calls go.
        let prefix = "https://home.example/oauth/authorize?"
        #expect(request.authorizeURL.hasPrefix(prefix))
        expect(request.authorizeURL.utf8) { $0.allSatisfy { (0x21...0x7E).contains($0) } }
        var query = Self.fields(request.authorizeURL.dropFirst(prefix.count))
        let challenge = query.removeValue(forKey: "code_challenge")
        #expect(
            query == [
                "response_type": "code", "client_id": "client/id+1",
                "redirect_uri": "urn:ietf:wg:oauth:2.0:oob",
                "scope": "profile \(Self.reading)", "force_login": "true",
                "code_challenge_method": "S256",
            ])

        var form = Self.form(calls[2])
        let sent = form.removeValue(forKey: "code_verifier")
        let verifier = try #require(sent)
        #expect(MastodonProofKey.challenge(of: Secret(verifier)) == challenge)
        #expect(!request.authorizeURL.contains(verifier))
        #expect(
            form == [
                "grant_type": "authorization_code", "code": "planted-code",
                "client_id": "client/id+1",
                "client_secret": "planted-secret", "redirect_uri": "urn:ietf:wg:oauth:2.0:oob",
                "scope": "profile \(Self.reading)",
            ])

        #expect(grant.credentials.accessToken.reveal() == "planted-token")
        #expect(grant.credentials.clientID == "client/id+1")
        #expect(grant.credentials.clientSecret?.reveal() == "planted-secret")
        #expect(grant.credentials.refreshToken == nil)
        #expect(grant.credentials.expiresAt == nil)
        #expect(grant.scopes == ["profile", "read:statuses"])
        #expect(!grant.canWrite)
    }

    /// RFC 7636, appendix B.
    @Test func theChallengeIsTheHashOfTheVerifier() {
        let verifier = Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(
            MastodonProofKey.challenge(of: verifier)
                == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        let keys = (0..<50).map { _ in MastodonProofKey.random().reveal() }
        #expect(Set(keys).count == 50)
        for key in keys {
            #expect(key.utf8.count == 43)
            expect(key) {
                $0.allSatisfy {
                    $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")
                }
            }
        }
    }

    @Test(arguments: [
        Answer.notFound, Answer(status: 404, body: "<html>"), Answer(status: 500),
        Answer(body: "<html>"), .json("[]"),
        .json("{}"),
        .json(#"{"code_challenge_methods_supported":["plain"],"scopes_supported":null}"#),
        Answer(status: 401), Answer(status: 301, headers: [("Location", "https://evil.example/")]),
    ])
    func serversWithoutAProofKeyAreAskedWithoutOne(answer: Answer) async throws {
        let fixture = try Fixture { request in
            request.path.hasPrefix("/.well-known") ? answer : Self.usual(request)
        }
        let request = try await fixture.login.register(for: .bot)
        #expect(!request.authorizeURL.contains("challenge"))
        _ = try await fixture.login.finish(request, code: "c")
        let exchange = try #require(fixture.server.requests.first { $0.path == "/oauth/token" })
        #expect(Self.form(exchange)["code_verifier"] == nil)
    }

    @Test func theBotAsksForWhatItNeeds() async throws {
        let fixture = try Fixture { Self.usual($0) }
        let request = try await fixture.login.register(for: .bot)
        let registration = try #require(fixture.server.requests.first { $0.path == "/api/v1/apps" })
        #expect(Self.form(registration)["scopes"] == Self.writing)
        #expect(request.scopes.joined(separator: " ") == Self.writing)
    }

    /// Servers tell that they do not know the newer scope, or tell nothing; some refuse it and one
    /// leaves it out.
    @Test(
        arguments: [
            (nil, nil),
            (
                "{}",
                .json(
                    #"{"error":"Validation failed: Scopes doesn't match configured"}"#, status: 422)
            ),
            ("{}", .json(#"{"error":"invalid_scope"}"#, status: 400)), ("{}", Answer(status: 422)),
            (
                #"{"scopes_supported":["profile"]}"#,
                .json(
                    #"{"client_id":"a","client_secret":"b","scopes":["read:statuses","read:favourites"]}"#
                )
            ),
        ] as [(String?, Answer?)])
    func olderServersAreAskedForTheOlderScope(metadata: String?, refusal: Answer?) async throws {
        let fixture = try Fixture { request in
            if request.path.hasPrefix("/.well-known") { return metadata.map { .json($0) } }
            if let refusal, Self.form(request)["scopes"]?.contains("profile") == true {
                return refusal
            }
            return Self.usual(request)
        }
        let request = try await fixture.login.register(for: .human)
        #expect(request.scopes == ["read:accounts", "read:statuses", "read:favourites"])
        #expect(request.clientID == "client/id+1")
        let registrations = fixture.server.requests.filter { $0.path == "/api/v1/apps" }
        #expect(registrations.count == (refusal == nil ? 1 : 2))
    }

    @Test(arguments: [
        #"{"client_id":"a","client_secret":"b","scopes":["profile","read:statuses","read:favourites"]}"#,
        #"{"client_id":"a","client_secret":"b","scopes":"read"}"#,
        #"{"client_id":"a","client_secret":"b","scopes":[]}"#,
        #"{"client_id":"a","client_secret":"b"}"#,
    ])
    func theNewerScopeIsKeptWhereItIsTaken(application: String) async throws {
        let fixture = try Fixture { request in
            request.path == "/api/v1/apps" ? .json(application) : .json(Self.metadata)
        }
        let request = try await fixture.login.register(for: .human)
        #expect(request.scopes.first == "profile")
    }

    @Test(arguments: [
        (Answer(status: 503), "unavailable", false),
        (.json("{}", status: 429), "rate-limited", false),
        (.json(#"{"error":"no"}"#, status: 422), "rejected", true), (.notFound, "not-found", true),
        (.json("{}"), "malformed-response", false),
        (.json(#"{"client_id":"a"}"#), "malformed-response", false),
        (Answer(body: "<html>planted</html>"), "malformed-response", false),
        (Answer(status: 301), "redirected", false),
    ])
    func aServerThatTakesNoApplicationIsAnError(answer: Answer, code: String, isPermanent: Bool)
        async throws
    {
        let fixture = try Fixture { $0.path == "/api/v1/apps" ? answer : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await fixture.login.register(for: .human)
        }
        #expect(error.code.rawValue == code)
        #expect(error.isPermanent == isPermanent)
        #expect(error.operation == .logIn)
        #expect(error.description.hasPrefix("could not log in on Mastodon (127.0.0.1): "))
        #expect(!error.description.contains("planted"))
    }

    @Test(arguments: [
        Answer.json(
            #"{"error":"invalid_grant","error_description":"The provided grant is invalid"}"#,
            status: 400),
        .json(#"{"error":"invalid_client"}"#, status: 401),
        .json(#"{"error":"access_denied"}"#, status: 401),
        Answer(status: 400), Answer(status: 403),
        .json(#"{"error":"x planted-code"}"#, status: 422),
        .json(#"{"error":"x planted-secret"}"#, status: 400),
    ])
    func aWrongCodeIsToldSo(answer: Answer) async throws {
        let fixture = try Fixture { $0.path == "/oauth/token" ? answer : Self.usual($0) }
        let request = try await fixture.login.register(for: .bot)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await fixture.login.finish(request, code: "planted-code")
        }
        #expect(error.code == .rejected)
        #expect(error.isPermanent)
        #expect(!error.stopsActor)
        #expect(error.description.contains("the code was not accepted"))
        #expect(!error.description.contains("planted"))
    }

    @Test(arguments: ["", " \n", "two words", "é", "a\u{0}", String(repeating: "x", count: 2_049)])
    func whatIsNoCodeIsNotSent(code: String) async throws {
        let fixture = try Fixture { Self.usual($0) }
        let request = try await fixture.login.register(for: .bot)
        let count = fixture.server.requests.count
        let error = try await #require(throws: NetworkError.self) {
            _ = try await fixture.login.finish(request, code: code)
        }
        #expect(error.outcome == .notSent)
        #expect(fixture.server.requests.count == count)
    }

    /// What the token may do, as the token's answer, the application or nobody tells, and what it
    /// means.
    @Test(
        arguments: [
            (
                #""scope":"read:accounts read:statuses""#, nil, ["read:accounts", "read:statuses"],
                false
            ),
            (#""scope":"read""#, nil, ["read"], false),
            (#""scope":"read write:statuses""#, nil, ["read", "write:statuses"], true),
            (#""scope":"write""#, nil, ["write"], true),
            (#""scope":"read follow""#, nil, ["read", "follow"], true),
            (#""scope":["read","push"]"#, nil, ["read", "push"], false),
            (#""scope":"read admin:read""#, nil, ["read", "admin:read"], false),
            (#""scope":"admin""#, nil, ["admin"], true),
            (#""scope":"admin:write:accounts""#, nil, ["admin:write:accounts"], true),
            (#""scope":"writer""#, nil, ["writer"], false),
            // The application tells.
            (#""scope":"""#, #"{"scopes":["read","write"]}"#, ["read", "write"], true),
            (#""scope":null"#, #"{"scopes":["read"]}"#, ["read"], false),
            // Nobody tells: it may be able to do everything.
            (#""scope":null"#, #"{"name":"mirror-bot"}"#, [], true),
            (#""scope":7e400"#, nil, [], true),
        ] as [(String, String?, [String], Bool)])
    func tellsWhatTheTokenMayDo(
        scope: String, application: String?, scopes: [String], canWrite: Bool
    ) async throws {
        let fixture = try Fixture { request in
            switch request.path {
            case "/api/v1/apps/verify_credentials": application.map { .json($0) }
            default: Self.usual(request, token: "{\"access_token\":\"t\",\(scope)}")
            }
        }
        let grant = try await fixture.login.finish(
            try await fixture.login.register(for: .human), code: "c")
        #expect(grant.scopes == scopes)
        #expect(grant.canWrite == canWrite)
    }

    /// A token that looks as if it could only read can write where the server does not care.
    @Test(arguments: [
        (
            #"{"version":"0.18.3+git-1","source_url":"https://codeberg.org/superseriousbusiness/gotosocial"}"#,
            true
        ),
        (
            #"{"version":"0.19.1+git-1","source_url":"https://codeberg.org/superseriousbusiness/gotosocial"}"#,
            false
        ),
        (
            #"{"version":"1.0.0","source_url":"https://codeberg.org/superseriousbusiness/gotosocial"}"#,
            false
        ),
        (#"{"version":"4.0.0 (not true; really snac/2.74)"}"#, true),
        (#"{"version":"4.4.0"}"#, false), ("{}", false),
    ])
    func scopesThatAServerIgnoresAreNoProtection(instance: String, canWrite: Bool) async throws {
        let fixture = try Fixture { request in
            request.path == "/api/v2/instance"
                ? .json(instance)
                : Self.usual(request, token: #"{"access_token":"t","scope":"read"}"#)
        }
        let grant = try await fixture.login.finish(
            try await fixture.login.register(for: .human), code: "c")
        #expect(grant.scopes == ["read"])
        #expect(grant.canWrite == canWrite)
    }

    @Test(
        arguments: [
            (["read", "write"], "4.4.0", []), ([], "4.4.0", []),
            (
                ["profile", "read:statuses", "read:notifications", "write:statuses"], "4.4.0",
                [.writeFavourites, .writeAccounts]
            ),
            (["read", "follow"], "4.4.0", [.writeStatuses, .writeFavourites, .writeAccounts]),
            (["write", "readers"], "4.4.0", [.readAccounts, .readStatuses, .readNotifications]),
            (["read"], "4.0.0 (not true; really snac/2.74)", []),
        ] as [([String], String, [MastodonBotScope])])
    func tellsWhatTheBotLacks(scopes: [String], version: String, missing: [MastodonBotScope])
        async throws
    {
        let fixture = try Fixture { request in
            switch request.path {
            case "/api/v1/apps/verify_credentials":
                .json(
                    "{\"name\":\"x\",\"scopes\":[\(scopes.map { "\"\($0)\"" }.joined(separator: ","))]}"
                )
            case "/api/v2/instance": .json("{\"version\":\"\(version)\"}")
            default: nil
            }
        }
        try await expect(
            fixture.login.missingBotScopes(of: Secret("planted-token")), equals: missing)
        try await expect(
            fixture.login.missingBotScopes(of: Secret("planted-token"), granted: scopes),
            equals: missing)
    }

    @Test func tokensThatEndAreKeptWithWhatRenewsThem() async throws {
        let body =
            #"{"access_token":"a","refresh_token":"r","expires_in":3600,"scope":"read write"}"#
        let fixture = try Fixture { Self.usual($0, token: body) }
        let grant = try await fixture.login.finish(
            try await fixture.login.register(for: .bot), code: "c")
        #expect(grant.credentials.refreshToken?.reveal() == "r")
        #expect(grant.credentials.expiresAt == Loopback.start.addingTimeInterval(3_600))
        #expect(grant.credentials.clientID == "client/id+1")
        #expect(grant.canWrite)
    }

    @Test(
        arguments: [
            (
                .json(#"{"name":"x","scopes":["read:accounts","write"],"vapid_key":"y"}"#),
                ["read:accounts", "write"]
            ),
            (.json(#"{"name":"x"}"#), nil), (.json("[]"), nil), (Answer(body: "<html>"), nil),
            (.notFound, nil),
            (.json(#"{"error":"out_of_scope_for_token"}"#, status: 403), nil),
            (Answer(status: 405), nil),
            (Answer(status: 400), nil),
        ] as [(Answer, [String]?)])
    func tellsTheScopesOfAToken(answer: Answer, expected: [String]?) async throws {
        let fixture = try Fixture { $0.path == "/api/v1/apps/verify_credentials" ? answer : nil }
        try await expect(fixture.login.scopes(of: Secret("planted-token")), equals: expected)
        #expect(fixture.server.requests.first?.header("Authorization") == "Bearer planted-token")
    }

    @Test(arguments: [(401, "unauthorized"), (429, "rate-limited"), (503, "unavailable")])
    func aTokenThatCannotBeAskedAboutIsAnError(status: Int, code: String) async throws {
        let fixture = try Fixture { _ in .json(#"{"error":"planted-token"}"#, status: status) }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await fixture.login.scopes(of: Secret("planted-token"))
        }
        #expect(error.code.rawValue == code)
        #expect(!error.description.contains("planted"))
    }

    @Test func nothingOfALoginIsShown() async throws {
        let fixture = try Fixture { request in
            request.path.hasPrefix("/.well-known")
                ? .json(Self.metadata)
                : Self.usual(
                    request,
                    token: #"{"access_token":"planted-token","refresh_token":"planted-refresh"}"#)
        }
        let request = try await fixture.login.register(for: .bot)
        let grant = try await fixture.login.finish(request, code: "planted-code")
        let verifier = try #require(request.verifier).reveal()
        for value in [request, grant, grant.credentials, fixture.login] as [Any] {
            var shown = "\(value) \(String(reflecting: value))"
            dump(value, to: &shown)
            #expect(!shown.contains("planted"))
            #expect(!shown.contains(verifier))
        }
    }
}
