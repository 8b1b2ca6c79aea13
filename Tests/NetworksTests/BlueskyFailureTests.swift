import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Bluesky
@testable import Networks

@Suite struct BlueskyFailureTests {
    private static let address = "\(BlueskyJSON.uri("a")) \(BlueskyJSON.cid)"

    private func failure(_ answer: Answer, isWrite: Bool) async throws -> NetworkError {
        let loopback = try BlueskyLoopback { request in
            request.path.contains(".server.") ? nil : answer
        }
        return try await #require(throws: NetworkError.self) {
            if isWrite {
                _ = try await loopback.network.publish(
                    Draft(text: "text", key: "k", createdAt: BlueskyLoopback.start))
            } else {
                _ = try await loopback.network.page(.home, .newest)
            }
        }
    }

    /// The name decides; the status is what some server happened to give.
    @Test(arguments: [
        ("AccountTakedown", [400, 401, 403], "account-disabled"),
        ("AccountDeactivated", [400, 401, 403], "account-disabled"),
        ("RepoTakendown", [400], "account-disabled"), ("BlockedActor", [400], "forbidden"),
        ("BlockedByActor", [400], "forbidden"), ("NotFound", [400, 404], "not-found"),
        ("RecordNotFound", [400, 404], "not-found"), ("InvalidRequest", [400], "rejected"),
        ("InvalidRecord", [400], "rejected"), ("SomethingNew", [400, 413, 422], "rejected"),
        ("XRPCNotSupported", [404, 501], "capability"),
        ("MethodNotImplemented", [404, 501], "capability"),
        ("RateLimitExceeded", [400, 429], "rate-limited"), ("PayloadTooLarge", [413], "rejected"),
    ])
    func theNameDecides(name: String, statuses: [Int], code: String) async throws {
        for status in statuses {
            for isWrite in [true, false] {
                let error = try await failure(
                    .xrpc(name, "words of the server", status: status), isWrite: isWrite)
                #expect(error.code.rawValue == code)
                #expect(error.status == status)
                #expect(error.outcome == .refused)
                #expect(error.operation == (isWrite ? .publish : .readHome))
                #expect(error.serverCode == "\(name): words of the server")
                #expect(error.isPermanent == (code != "rate-limited"))
                #expect(error.stopsActor == (code == "account-disabled"))
            }
        }
    }

    @Test(arguments: [
        ("InternalServerError", 500), ("UpstreamFailure", 502), ("NotEnoughResources", 503),
        ("UpstreamTimeout", 504),
        ("SomethingNew", 500),
    ])
    func whatMayHaveHappenedIsUnknown(name: String, status: Int) async throws {
        for answer in [
            Answer.xrpc(name, status: status), Answer(status: status, body: "<html>"),
            Answer(status: status),
        ] {
            let error = try await failure(answer, isWrite: true)
            #expect(error.code == .unavailable)
            #expect(error.outcome == .unknown)
            #expect(!error.isPermanent)
            #expect(!error.stopsActor)
        }
    }

    @Test(arguments: [
        (400, "rejected", "refused"), (403, "forbidden", "refused"), (301, "redirected", "refused"),
        (404, "malformed-response", "unknown"), (405, "malformed-response", "unknown"),
        (408, "unavailable", "unknown"),
        (429, "rate-limited", "refused"), (600, "malformed-response", "unknown"),
    ])
    func withoutANameTheStatusDecides(status: Int, code: String, outcome: String) async throws {
        for body in [
            "", "<p>planted page</p>", "plain words", "{}", "[]", #"{"error":"not a name"}"#,
        ] {
            let error = try await failure(Answer(status: status, body: body), isWrite: true)
            #expect(error.code.rawValue == code)
            #expect(error.outcome.rawValue == outcome)
            #expect(error.serverCode == nil)
            #expect(!error.description.contains("planted"))
        }
    }

    /// A challenge of something in front of the server says nothing about the account or a post.
    @Test func aProtectionPageIsNotTheServersWord() async throws {
        let page = Answer(status: 403, body: "<!DOCTYPE html><title>Just a moment...</title>")
        for isWrite in [true, false] {
            let error = try await failure(page, isWrite: isWrite)
            #expect(error.code == .unavailable)
            #expect(error.outcome == .refused)
            #expect(error.description.contains("a web page came, not the server's own answer"))
        }
    }

    @Test(arguments: [
        "Invalid app.bsky.feed.post record: Record/text must not be longer than 300 graphemes",
        "Record/text must not be longer than 3000 characters", "text is too long",
    ])
    func aTextThatIsTooLongIsTold(message: String) async throws {
        try await expect(
            failure(.xrpc("InvalidRequest", message), isWrite: true).code, equals: .tooLong)
    }

    /// Some servers say it in plain text.
    @Test func aNameInPlainTextCounts() async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(store: store) { request in
            guard request.method("app.bsky.feed.getTimeline") else { return nil }
            return request.header("Authorization") == "Bearer \(BlueskyLoopback.renewedAccess)"
                ? .json(#"{"feed":[]}"#) : Answer(status: 400, body: "ExpiredToken: please refresh")
        }
        store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count("com.atproto.server.refreshSession") == 1)
    }

    @Test func waitsAsLongAsTheServerSays() async throws {
        let now = BlueskyLoopback.start
        let reset = String(Int(now.timeIntervalSince1970) + 200)
        let body = #"{"error":"RateLimitExceeded","message":"Rate Limit Exceeded"}"#
        func error(_ headers: [(String, String)]) async throws -> NetworkError {
            try await failure(Answer(status: 429, headers: headers, body: body), isWrite: false)
        }
        try await expect(error([("Retry-After", "77")]).retryAfter, equals: now + 77)
        try await expect(
            error([
                ("RateLimit-Limit", "3000"), ("RateLimit-Remaining", "0"),
                ("ratelimit-reset", reset),
            ])
            .retryAfter, equals: now + 200)
        try await expect(
            error([("Retry-After", "77"), ("RateLimit-Reset", reset)]).retryAfter, equals: now + 77)
        try await expect(error([]).retryAfter, equals: now + 60)
    }

    @Test func pagesTellWhatIsLeft() async throws {
        let reset = BlueskyLoopback.start + 200
        let headers = [
            ("RateLimit-Limit", "3000"), ("RateLimit-Remaining", "2990"),
            ("RateLimit-Reset", String(Int(reset.timeIntervalSince1970))),
            ("RateLimit-Policy", "3000;w=300"),
        ]
        let loopback = try BlueskyLoopback { request in
            request.method("app.bsky.feed.getTimeline")
                ? .json(#"{"feed":[]}"#, headers: headers) : nil
        }
        let page = try await loopback.network.page(.home, .newest)
        #expect(page.rateLimit == RateLimit(limit: 3_000, remaining: 2_990, resetsAt: reset))
    }

    @Test func plainHTTPToTheWorldIsRefused() throws {
        let error = try #require(throws: NetworkError.self) {
            try BlueskyNetwork(
                identifier: BlueskyLoopback.handle, appPassword: Secret(BlueskyLoopback.password),
                apiBaseURL: "http://pds.example", sessions: MemoryCredentials(),
                client: HTTPClient(
                    configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")),
                now: { BlueskyLoopback.start })
        }
        #expect(error.code == .configuration)
        #expect(error.outcome == .notSent)
        #expect(error.stopsActor)
    }

    @Test func cancellationEndsACall() async throws {
        let server = try LoopbackServer { request, connection in
            if request.method("com.atproto.repo.putRecord") { return connection.waitForClose() }
            let answer = BlueskyLoopback.usual(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        let network = try BlueskyLoopback.network(of: server)
        let draft = Draft(text: "text", key: "k", createdAt: BlueskyLoopback.start)
        let task = Task { try await network.publish(draft) }
        try await server.waitForRequests(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
}

/// Password and tokens stay where they are used, whatever fails and however it is printed.
@Suite struct BlueskyRedactionTests {
    private func shown(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value) \(String(reflecting: value)) \(dumped)"
    }

    private func leaks(_ value: Any) -> [String] {
        let text = shown(value)
        return BlueskyLoopback.secrets.filter { text.contains($0) }
    }

    @Test func aNetworkDoesNotShowThem() async throws {
        let loopback = try BlueskyLoopback {
            $0.method("app.bsky.feed.getTimeline") ? .json(#"{"feed":[]}"#) : nil
        }
        _ = try await loopback.network.page(.home, .newest)
        #expect(leaks(loopback.network).isEmpty)
        let session = try await #require(loopback.network.sessions).current()
        #expect(leaks(session).isEmpty)
    }

    /// The server repeats all that it was sent, in the place of its own words and everywhere else.
    @Test(arguments: [200, 302, 400, 401, 403, 404, 429, 500, 503])
    func noFailureShowsThem(status: Int) async throws {
        let forms: [@Sendable (String) -> String] = [
            { #"{"error":"InvalidRequest","message":"Bearer \#($0)"}"# },
            { #"{"error":"ExpiredToken","message":"\#($0)"}"# },
            { #"{"error":"AuthMissing","message":"\#($0)"}"# },
            { "<p>\($0)</p>" }, { $0 },
        ]
        for form in forms {
            // Where the session comes from is asked first, and then everything else.
            for isSessionWrong in [true, false] {
                let store = MemoryCredentials()
                let loopback = try BlueskyLoopback(store: store) { request in
                    if request.path.contains(".server."), !isSessionWrong { return nil }
                    let token =
                        request.header("Authorization")?.dropFirst("Bearer ".count) ?? "none"
                    let echo = "\(BlueskyLoopback.password) \(token)"
                    let headers = [
                        ("X-Request-Id", String(token)), ("Location", "/?t=\(token)"),
                        ("Retry-After", String(token)),
                    ]
                    return .json(form(echo), status: status, headers: headers)
                }
                let first = try await failures(of: loopback.network)
                store.replace(BlueskyLoopback.saved(at: loopback.server.url))
                let network = try BlueskyLoopback.network(of: loopback.server, store: store)
                let errors = first + (try await failures(of: network))
                #expect(errors.count >= 8)
                for error in errors { #expect(leaks(error) == []) }
            }
        }
    }

    /// A token that the client never had may be somebody else's.
    @Test func noTokenOfAnybodysIsShown() async throws {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
        let loopback = try BlueskyLoopback { request in
            request.method("app.bsky.feed.getTimeline")
                ? .xrpc("InvalidRequest", "bad: \(token), sorry") : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.page(.home, .newest)
        }
        #expect(error.serverCode == "InvalidRequest: bad: <redacted> sorry")
    }

    /// What every call of `network` throws.
    private func failures(of network: BlueskyNetwork) async throws -> [any Error] {
        let address = "\(BlueskyJSON.uri("a")) \(BlueskyJSON.cid)"
        let own = "\(BlueskyJSON.uri("a", by: BlueskyLoopback.did)) \(BlueskyJSON.cid)"
        let draft = Draft(
            text: "text", replyTo: address, key: "k", createdAt: BlueskyLoopback.start)
        let post = Draft(text: "text", key: "k", createdAt: BlueskyLoopback.start)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await network.verifyAccount() },
            { _ = try await network.page(.home, .newest) },
            { _ = try await network.publish(draft) }, { _ = try await network.publish(post) },
            {
                try await network.favorite(
                    FavoriteDraft(address: address, key: "k", createdAt: BlueskyLoopback.start))
            },
            { try await network.delete(own) }, { try await network.labelAsBot() },
            { _ = try await network.ownPosts(since: BlueskyLoopback.start) },
            { _ = try await network.lookUp(own) },
        ]
        var errors: [any Error] = []
        for call in calls {
            do {
                try await call()
            } catch {
                errors.append(error)
            }
        }
        return errors
    }
}
