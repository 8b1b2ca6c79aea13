import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
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
    private static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"
    /// Where a page waits for the login.
    private static let page = "https://mirror.example/m/mika/setup/return"
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

    // MARK: The way back

    /// The answer of a server that registers an application with these return addresses.
    private static func registered(at redirects: [String]) -> Answer {
        let list = redirects.map { "\"\($0)\"" }.joined(separator: ",")
        return .json(
            "{\"client_id\":\"client/id+1\",\"client_secret\":\"planted-secret\","
                + "\"redirect_uris\":[\(list)]}")
    }

    /// A server of a program that leads back, and registers what it is asked for unless
    /// `registers` answers.
    private static func leading(
        _ request: LoopbackServer.Request, instance: String = #"{"version":"4.4.0"}"#,
        registers: ([String]) -> Answer? = { _ in nil }
    ) -> Answer? {
        switch request.path {
        case "/.well-known/oauth-authorization-server": return .json(metadata)
        case "/api/v2/instance": return .json(instance)
        case "/api/v1/apps":
            let redirects = (form(request)["redirect_uris"] ?? "").components(separatedBy: "\n")
            return registers(redirects) ?? registered(at: redirects)
        default: return usual(request)
        }
    }

    /// The return addresses of each request for an application.
    private static func registrations(_ fixture: Fixture) -> [String?] {
        fixture.server.requests.filter { $0.path == "/api/v1/apps" }.map {
            form($0)["redirect_uris"]
        }
    }

    private static func query(_ request: MastodonLoginRequest) -> [String: String] {
        fields(request.authorizeURL.drop { $0 != "?" }.dropFirst())
    }

    /// The person has nothing to copy.
    @Test func aServerLeadsBackToThePage() async throws {
        let fixture = try Fixture { Self.leading($0) }
        let request = try await fixture.login.register(for: .human, returningTo: Self.page)
        #expect(
            fixture.server.requests.map { "\($0.method) \($0.target)" } == [
                "GET /.well-known/oauth-authorization-server", "GET /api/v2/instance",
                "POST /api/v1/apps",
            ])
        #expect(Self.registrations(fixture) == ["\(Self.page)\n\(Self.outOfBand)"])
        #expect(request.leadsBack)
        var query = Self.query(request)
        let told = query.removeValue(forKey: "state")
        let state = try #require(told)
        #expect(state.utf8.count == 43)
        #expect(query["redirect_uri"] == Self.page)
        #expect(query["code_challenge_method"] == "S256")
        #expect(request.hasState(state))
        for other in ["", state + "x", String(state.dropLast()), state.lowercased() + "-"] {
            #expect(!request.hasState(other), "\(other)")
        }

        _ = try await fixture.login.finish(request, code: "planted-code")
        let exchange = try #require(fixture.server.requests.first { $0.path == "/oauth/token" })
        let form = Self.form(exchange)
        #expect(form["redirect_uri"] == Self.page)
        #expect(form["code_verifier"] != nil)
        #expect(form["state"] == nil)

        // Each login has a state of its own.
        let next = try await fixture.login.register(for: .human, returningTo: Self.page)
        #expect(!next.hasState(state))
        // A login with a code has none.
        let shown = try await fixture.login.register(for: .human)
        #expect(!shown.leadsBack)
        #expect(Self.query(shown)["state"] == nil)
        #expect(!shown.hasState(""))
    }

    /// Before version 4.3 Mastodon told the addresses as one text, and other servers tell none.
    @Test(arguments: [
        #""redirect_uri":"https://mirror.example/m/mika/setup/return\nurn:ietf:wg:oauth:2.0:oob""#,
        #""redirect_uri":null"#, #""redirect_uris":[]"#,
        #""redirect_uri":"urn:ietf:wg:oauth:2.0:oob https://mirror.example/m/mika/setup/return""#,
    ])
    func theAddressesAreReadInEachForm(told: String) async throws {
        let fixture = try Fixture { request in
            Self.leading(request) { _ in
                .json("{\"client_id\":\"a\",\"client_secret\":\"b\",\(told)}")
            }
        }
        let request = try await fixture.login.register(for: .bot, returningTo: Self.page)
        #expect(request.leadsBack)
        #expect(Self.registrations(fixture).count == 1)
    }

    /// A server refuses the address, registers only the other one, or neither.
    @Test(
        arguments: [
            (.json(#"{"error":"Redirect URI is forbidden"}"#, status: 422), 2, 3),
            (.json(#"{"error":"no"}"#, status: 403), 2, 2),
            (registered(at: [outOfBand]), 1, 1),
            (registered(at: ["https://mirror.example/"]), 2, 2),
            (registered(at: ["\(page)/"]), 2, 2),
        ] as [(Answer, Int, Int)])
    func aServerThatTakesNoAddressShowsACode(
        answer: Answer, ofBot: Int, ofHuman: Int
    ) async throws {
        for role in MastodonLogin.Role.allCases {
            let fixture = try Fixture { request in
                Self.leading(request) { $0.contains(Self.page) ? answer : nil }
            }
            let request = try await fixture.login.register(for: role, returningTo: Self.page)
            #expect(!request.leadsBack)
            let query = Self.query(request)
            #expect(query["redirect_uri"] == Self.outOfBand)
            #expect(query["state"] == nil)
            _ = try await fixture.login.finish(request, code: "c")
            let exchange = try #require(
                fixture.server.requests.first { $0.path == "/oauth/token" })
            #expect(Self.form(exchange)["redirect_uri"] == Self.outOfBand)
            let expected = role == .bot ? ofBot : ofHuman
            #expect(Self.registrations(fixture).count == expected, "\(role)")
        }
    }

    /// Other programs register such an application, and refuse the address when the person comes.
    @Test(
        arguments: [
            (#"{"version":"4.0.2"}"#, true), (#"{"version":"4.5.0+glitch"}"#, true),
            (MastodonServers.goToSocial, true), (MastodonServers.pleroma, true),
            (
                #"{"version":"0.18.3+git-1","source_url":"https://codeberg.org/superseriousbusiness/gotosocial"}"#,
                false
            ),
            (MastodonServers.takahe, false), (MastodonServers.snac, false), ("{}", false),
            (#"{"version":"3.0.0 (compatible; Sharkey 2025.4.2)"}"#, false),
            (#"{"version":"2.8.0 (compatible; Friendica 2024.09)"}"#, false),
            (#"{"version":"3.5.3 (compatible; Pixelfed 0.12.4)"}"#, false),
        ] as [(String, Bool)])
    func onlyKnownProgramsAreAskedToLeadBack(instance: String, leadsBack: Bool) async throws {
        let fixture = try Fixture { Self.leading($0, instance: instance) }
        let request = try await fixture.login.register(for: .bot, returningTo: Self.page)
        #expect(request.leadsBack == leadsBack)
        let expected = leadsBack ? "\(Self.page)\n\(Self.outOfBand)" : Self.outOfBand
        #expect(Self.registrations(fixture) == [expected])
    }

    /// An address that a server could not lead to, or that would be several, is not sent.
    @Test(arguments: [
        "", "/setup/return", "mirror.example/return", "ftp://mirror.example/",
        "javascript:alert(1)",
        "https://mirror.example/#part", "https://mirror.example/a b", "https:///return",
        "https://mirror.example/\nhttps://evil.example/", "https://somebody@mirror.example/",
        "https://mirror.example/ä",
        "https://mirror.example/" + String(repeating: "a", count: 1_900),
    ])
    func whatIsNoAddressOfAPageIsNotSent(page: String) async throws {
        let fixture = try Fixture { Self.leading($0) }
        let request = try await fixture.login.register(for: .bot, returningTo: page)
        #expect(!request.leadsBack)
        #expect(Self.registrations(fixture) == [Self.outOfBand])
    }

    /// A server that is out of order is not asked in another way.
    @Test(arguments: [500, 503, 429]) func onlyARefusalLeadsToACode(status: Int) async throws {
        let fixture = try Fixture { request in
            Self.leading(request) { _ in .json("{}", status: status) }
        }
        await #expect(throws: NetworkError.self) {
            _ = try await fixture.login.register(for: .bot, returningTo: Self.page)
        }
        #expect(Self.registrations(fixture).count == 1)
    }

    // MARK: Codes

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
        let leading = try Fixture { Self.leading($0) }
        let back = try await leading.login.register(for: .bot, returningTo: Self.page)
        let state = try #require(back.state).reveal()
        #expect(back.authorizeURL.contains(state))
        var shown = "\(back) \(String(reflecting: back))"
        dump(back, to: &shown)
        #expect(!shown.contains(state))
    }
}
