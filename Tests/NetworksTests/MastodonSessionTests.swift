import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
@testable import Networks

/// Tokens that end are renewed once, saved, and used.
@Suite struct MastodonSessionTests {
    private typealias Store = MastodonTokenServer.Store

    private func loopback(_ tokens: MastodonTokenServer) throws -> LoopbackServer {
        try LoopbackServer { request, connection in
            let answer = tokens.answer(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
    }

    private func network(
        _ server: LoopbackServer,
        _ credentials: MastodonCredentials = MastodonTokenServer.credentials(),
        _ store: (any CredentialStore)? = nil,
        now: @escaping @Sendable () -> Date = { Loopback.start }
    ) throws -> MastodonNetwork {
        try MastodonNetwork(
            server: server.url, credentials: credentials, sessions: store,
            client: HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")), now: now)
    }

    private func home(_ network: MastodonNetwork) async throws -> FeedPage {
        try await network.page(.home, .newest)
    }

    private let draft = Draft(
        text: "text", visibility: .unlisted, key: "k", createdAt: Loopback.start)

    @Test func aTokenThatEndedIsRenewedBeforeItIsUsed() async throws {
        let tokens = MastodonTokenServer()
        let store = Store(log: tokens.log)
        let server = try loopback(tokens)
        let ended = MastodonTokenServer.credentials(
            expiresAt: Loopback.start.addingTimeInterval(59))
        let network = try network(server, ended, store)
        _ = try await network.publish(draft)
        // Saved before it is used.
        #expect(tokens.log.all == ["refresh", "save", "POST"])
        let request = try #require(server.requests.first)
        #expect(request.header("Content-Type") == "application/x-www-form-urlencoded")
        #expect(request.header("Authorization") == nil)
        #expect(request.target == "/oauth/token")
    }

    @Test func aTokenThatIsGoodForAMinuteIsUsed() async throws {
        let tokens = MastodonTokenServer()
        let server = try loopback(tokens)
        let credentials = MastodonTokenServer.credentials(
            expiresAt: Loopback.start.addingTimeInterval(60))
        let network = try network(server, credentials)
        _ = try await network.publish(draft)
        #expect(tokens.log.all == ["refused POST", "refresh", "POST"])
    }

    /// How servers refuse a token that ended: Mastodon, GoToSocial, Pleroma and Akkoma, Takahe,
    /// snac.
    @Test(arguments: [
        Answer.json(#"{"error":"The access token expired"}"#, status: 401),
        .json(#"{"error":"Unauthorized: token not supplied"}"#, status: 401),
        .json(#"{"error":"Invalid credentials."}"#, status: 403),
        Answer(
            status: 400, headers: [("Content-Type", "text/html; charset=utf-8")],
            body: "Invalid Bearer token"),
        Answer(status: 401), Answer(status: 422),
        .json(#"{"error":"This method requires an authenticated user"}"#, status: 422),
    ])
    func aRefusedTokenIsRenewedAndTheCallMadeOnceMore(refusal: Answer) async throws {
        let tokens = MastodonTokenServer(refusal: refusal)
        let store = Store(log: tokens.log)
        let server = try loopback(tokens)
        let network = try network(server, store: store)
        let published = try await network.publish(draft)
        #expect(published.address == "9")
        let log = tokens.log.all.filter { $0 != "refused GET" }
        #expect(log == ["refused POST", "refresh", "save", "POST"])
    }

    @Test func manyCallsRenewOnce() async throws {
        let tokens = MastodonTokenServer()
        let store = Store(log: tokens.log)
        let server = try loopback(tokens)
        let network = try network(server, store: store)
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let draft = Draft(
                        text: "text", visibility: .unlisted, key: "k-\(number)",
                        createdAt: Loopback.start)
                    return try await network.publish(draft).address
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ids.count == 12)
        #expect(tokens.refreshCount == 1)
        #expect(tokens.log.all.filter { $0 == "POST" }.count == 12)
    }

    @Test func aSecondRefusalIsTheEnd() async throws {
        let server = try LoopbackServer { request, connection in
            let answer =
                request.path == "/oauth/token"
                ? Answer.json(#"{"access_token":"other","token_type":"Bearer"}"#)
                : .json(#"{"error":"The access token is invalid"}"#, status: 401)
            try connection.respond(status: answer.status, body: Array(answer.body.utf8))
        }
        let network = try network(server)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft)
        }
        #expect(error.code == .unauthorized)
        #expect(error.stopsActor)
        #expect(error.operation == .publish)
        #expect(
            server.requests.map(\.path) == ["/api/v1/statuses", "/oauth/token", "/api/v1/statuses"])
    }

    @Test func withoutARefreshTokenARefusalIsTheEnd() async throws {
        let tokens = MastodonTokenServer()
        let server = try loopback(tokens)
        for credentials in [
            MastodonCredentials(accessToken: Secret("t"), expiresAt: Loopback.start),
            MastodonCredentials(accessToken: Secret("t"), refreshToken: Secret("r")),
        ] {
            let network = try network(server, credentials)
            let error = try await #require(throws: NetworkError.self) {
                _ = try await network.publish(draft)
            }
            #expect(error.code == .unauthorized)
            #expect(error.operation == .publish)
        }
        #expect(tokens.log.all == ["refused POST", "refused POST"])
    }

    @Test(arguments: [
        Answer.json(
            #"{"error":"invalid_grant","error_description":"The provided grant is invalid"}"#,
            status: 400),
        .json(#"{"error":"Invalid credentials"}"#, status: 400),
        .json(#"{"error":"invalid_client"}"#, status: 401),
        .json(#"{"error":"unsupported_grant_type"}"#, status: 400),
        Answer(status: 400, body: "<html>"),
        Answer(status: 403), .json(#"{"error":"out of scope"}"#, status: 403), .notFound,
        Answer(status: 422),
    ])
    func aSessionThatCannotBeRenewedStopsTheActor(answer: Answer) async throws {
        let tokens = MastodonTokenServer { _ in answer }
        let store = Store(log: tokens.log)
        let server = try loopback(tokens)
        let network = try network(server, store: store)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft)
        }
        #expect(error.code == .unauthorized)
        #expect(error.stopsActor)
        #expect(error.operation == .refreshSession)
        #expect(error.outcome == .notSent)
        #expect(error.status == answer.status)
        #expect(
            error.description.hasPrefix("could not refresh the session on Mastodon (127.0.0.1): "))
        #expect(error.description.contains("make a new access token"))
        #expect(!error.description.contains("planted"))
        #expect(tokens.log.all == ["refused POST", "refresh"])
    }

    @Test(
        arguments: [
            (Answer.json("{}", status: 503, headers: [("Retry-After", "30")]), "unavailable", 30),
            (.json(#"{"error":"Too many requests"}"#, status: 429), "rate-limited", 60),
            (Answer(status: 502, body: "<html>planted</html>"), "unavailable", nil),
            (Answer(body: "<html>planted</html>"), "malformed-response", nil),
            (.json(#"{"token_type":"Bearer"}"#), "malformed-response", nil),
        ] as [(Answer, String, TimeInterval?)])
    func aServerOutOfOrderIsAskedAgainLater(answer: Answer, code: String, seconds: TimeInterval?)
        async throws
    {
        let tokens = MastodonTokenServer { count in count == 1 ? answer : nil }
        let server = try loopback(tokens)
        let network = try network(server)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft)
        }
        #expect(error.code.rawValue == code)
        #expect(!error.stopsActor)
        #expect(!error.isPermanent)
        #expect(error.outcome == .notSent)
        #expect(error.operation == .refreshSession)
        #expect(error.retryAfter == seconds.map { Loopback.start.addingTimeInterval($0) })
        #expect(!error.description.contains("planted"))
        try await expect(network.publish(draft).address, equals: "9")
    }

    @Test func aTokenThatIsStillGoodIsUsedWhileNoNewOneIsToBeHad() async throws {
        let server = try LoopbackServer { request, connection in
            let answer =
                request.path == "/oauth/token" ? Answer(status: 503) : .json(Wire.status("9"))
            try connection.respond(status: answer.status, body: Array(answer.body.utf8))
        }
        let credentials = MastodonTokenServer.credentials(
            expiresAt: Loopback.start.addingTimeInterval(10))
        let network = try network(server, credentials)
        try await expect(network.publish(draft).address, equals: "9")
        #expect(server.requests.map(\.path) == ["/oauth/token", "/api/v1/statuses"])
    }

    @Test func aPairThatCannotBeSavedIsNotUsedAndNotLost() async throws {
        let tokens = MastodonTokenServer()
        let store = Store(log: tokens.log)
        let server = try loopback(tokens)
        let network = try network(server, store: store)
        store.savesFail.isSet = true
        for _ in 0..<2 {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await network.publish(draft)
            }
            #expect(error.code == .unavailable)
            #expect(error.operation == .refreshSession)
            #expect(error.outcome == .notSent)
            #expect(!error.stopsActor)
        }
        store.savesFail.isSet = false
        try await expect(network.publish(draft).address, equals: "9")
        // The server is asked for tokens once: a second time it would not know the refresh token.
        let refused = "refused POST"
        #expect(tokens.log.all == [refused, "refresh", refused, refused, "save", "POST"])
    }

    @Test func aStoreThatCannotBeReadIsNotPassedOver() async throws {
        let tokens = MastodonTokenServer()
        let store = Store(log: tokens.log)
        store.loadsFail.isSet = true
        let server = try loopback(tokens)
        let network = try network(server, store: store)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft)
        }
        #expect(error.code == .unavailable)
        #expect(error.outcome == .notSent)
        #expect(tokens.log.all.isEmpty)
        store.loadsFail.isSet = false
        try await expect(network.publish(draft).address, equals: "9")
    }

    @Test func aSavedSessionIsUsedAfterARestart() async throws {
        let tokens = MastodonTokenServer()
        let store = Store(log: tokens.log)
        let server = try loopback(tokens)
        _ = try await network(server, store: store).publish(draft)
        _ = try await network(server, store: store).publish(draft)
        #expect(tokens.log.all == ["refused POST", "refresh", "save", "POST", "POST"])
        // Its end is known too: ten minutes later it is renewed before it is used.
        let later = try network(server, MastodonTokenServer.credentials(), store) {
            Loopback.start.addingTimeInterval(541)
        }
        _ = try await later.publish(draft)
        #expect(Array(tokens.log.all.suffix(3)) == ["refresh", "save", "POST"])
    }

    @Test(arguments: [
        "", "nonsense", "{}", #"{"origin":"x","accessToken":""}"#,
        #"{"origin":"x","accessToken":"y"}"#,
    ])
    func whatIsNotTheSessionOfTheseCredentialsIsNotUsed(saved: String) async throws {
        let tokens = MastodonTokenServer()
        let store = Store(log: tokens.log)
        store.text.value = saved
        let server = try loopback(tokens)
        _ = try await network(server, store: store).publish(draft)
        #expect(tokens.log.all == ["refused POST", "refresh", "save", "POST"])
        #expect(server.requests.first?.header("Authorization") == "Bearer planted-access--1")
    }

    @Test func aNewLoginTakesThePlaceOfASavedSession() async throws {
        let tokens = MastodonTokenServer()
        let store = Store(log: tokens.log)
        let server = try loopback(tokens)
        _ = try await network(server, store: store).publish(draft)
        let credentials = MastodonCredentials(
            accessToken: Secret("planted-access-0"), refreshToken: Secret("planted-refresh-new"),
            clientID: "client id", clientSecret: Secret(MastodonTokenServer.clientSecret))
        let text = try #require(store.text.value)
        #expect(!text.contains("planted-refresh-0"))
        store.text.value = text.replacingOccurrences(of: "planted-access-0", with: "planted-old")
        _ = try await network(server, credentials, store).publish(draft)
        #expect(server.requests.last?.header("Authorization") == "Bearer planted-access-0")
    }

    /// A command that runs beside the worker has the same session.
    @Test func whatAnotherProcessRenewedIsUsed() async throws {
        let tokens = MastodonTokenServer()
        let store = Store(log: tokens.log)
        let server = try loopback(tokens)
        let first = try network(server, store: store)
        let second = try network(server, store: store)
        _ = try await first.publish(draft)
        _ = try await second.publish(draft)
        tokens.expire()
        _ = try await first.publish(draft)
        _ = try await second.publish(draft)
        #expect(tokens.refreshCount == 2)
    }

    @Test func anOldRefreshTokenIsKeptWhereThereIsNoNewOne() async throws {
        let server = try LoopbackServer { request, connection in
            let isToken = request.path == "/oauth/token"
            let isGood = request.header("Authorization") == "Bearer second"
            let form = String(decoding: request.body, as: UTF8.self)
            let answer: Answer =
                if isToken {
                    form.contains("refresh_token=planted-refresh-0")
                        ? .json(#"{"access_token":"second"}"#) : .json("{}", status: 400)
                } else {
                    isGood ? .json(Wire.status("9")) : .json("{}", status: 401)
                }
            try connection.respond(status: answer.status, body: Array(answer.body.utf8))
        }
        let network = try network(server)
        _ = try await network.publish(draft)
        _ = try await network.publish(draft)
        #expect(server.requests.filter { $0.path == "/oauth/token" }.count == 1)
    }

    @Test(
        arguments: [
            ("600", 600), (#""600""#, 600), ("0", nil), ("-5", nil), ("null", nil), ("", nil),
            ("[]", nil),
            ("1e300", nil), ("99999999999999999999", nil), ("9223372036854775807", nil),
            (#""soon""#, nil),
        ] as [(String, TimeInterval?)])
    func readsWhenATokenEnds(wire: String, seconds: TimeInterval?) throws {
        let body = Wire.object(["access_token": "\"a\"", "expires_in": wire])
        let tokens = try #require(JSONBody.decoded(MastodonTokens.self, Array(body.utf8)))
        let credentials = tokens.credentials(
            after: MastodonCredentials(accessToken: Secret("b")), now: Loopback.start)
        #expect(credentials.expiresAt == seconds.map { Loopback.start.addingTimeInterval($0) })
    }

    /// Whoever waits may give up; the server has given out the pair, and it must not be lost.
    @Test func aRenewalSurvivesWhoWaitsForIt() async throws {
        let tokens = MastodonTokenServer()
        let gate = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { request, connection in
            if request.path == "/oauth/token" { gate.wait() }
            let answer = tokens.answer(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        let network = try network(server)
        let draft = draft
        let task = Task { try await network.publish(draft) }
        try await server.waitForRequests(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        gate.signal()
        try await expect(network.publish(draft).address, equals: "9")
        #expect(tokens.refreshCount == 1)
    }

    /// A refusal without a word may be about the token or about what was asked; one question tells.
    @Test(arguments: [
        (400, "unauthorized"), (401, "unauthorized"), (200, "rejected"), (503, "rejected"),
    ])
    func aRefusalWithoutAWordIsExplained(verification: Int, code: String) async throws {
        for status in [400, 422] {
            let loopback = try Loopback { request in
                switch request.path {
                case "/api/v1/statuses": Answer(status: status, body: "<html>no</html>")
                case "/api/v1/accounts/verify_credentials":
                    verification == 200 ? nil : Answer(status: verification, body: "no")
                default: nil
                }
            }
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.publish(draft)
            }
            #expect(error.code.rawValue == code)
            #expect(error.operation == .publish)
            #expect(error.status == status)
            #expect(error.outcome == .refused)
        }
    }
}

extension MastodonSessionTests {
    private func network(_ server: LoopbackServer, store: any CredentialStore) throws
        -> MastodonNetwork
    {
        try network(server, MastodonTokenServer.credentials(), store)
    }
}
