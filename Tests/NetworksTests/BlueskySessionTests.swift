import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Bluesky
@testable import Networks

@Suite struct BlueskySessionTests {
    private static let timeline = "app.bsky.feed.getTimeline"
    private static let createSession = "com.atproto.server.createSession"
    private static let refreshSession = "com.atproto.server.refreshSession"
    private static let empty = Answer.json(#"{"feed":[]}"#)

    /// A timeline that takes only some tokens, and says of others what a server says of them.
    private static func timeline(
        taking tokens: String..., else refusal: Answer = .xrpc("ExpiredToken")
    )
        -> @Sendable (LoopbackServer.Request) -> Answer?
    {
        { request in
            guard request.method(timeline) else { return nil }
            return tokens.contains { request.header("Authorization") == "Bearer \($0)" }
                ? empty : refusal
        }
    }

    private func failure(of network: BlueskyNetwork) async throws -> NetworkError {
        try await #require(throws: NetworkError.self) { _ = try await network.page(.home, .newest) }
    }

    @Test func logsInOnceAndSavesBeforeUsing() async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(store: store) { request in
            guard request.method(Self.timeline) else { return nil }
            return store.saveCount == 1 ? Self.empty : .xrpc("UsedBeforeSaved", status: 500)
        }
        for _ in 0..<3 { _ = try await loopback.network.page(.home, .newest) }
        #expect(loopback.count(Self.createSession) == 1)
        let login = try #require(loopback.server.requests.first)
        #expect(login.method == "POST")
        #expect(
            login.bodyText
                == #"{"identifier":"bot.home.example","password":"planted-pass-word-9a7b"}"#)
        #expect(login.header("Authorization") == nil)
        expect(loopback.requests) {
            $0.allSatisfy { $0.header("Authorization") == "Bearer \(BlueskyLoopback.access)" }
        }
        #expect(store.saved == BlueskyLoopback.saved(at: loopback.server.url))
    }

    @Test func aSavedSessionNeedsNoPassword() async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(
            store: store, answer: Self.timeline(taking: "saved.access"))
        store.replace(BlueskyLoopback.saved(access: "saved.access", at: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.server.requests.map(\.path) == ["/xrpc/\(Self.timeline)"])
    }

    @Test(arguments: [
        "", "nonsense", "{}", #"{"access":1}"#,
        // Another account's, other servers', and one that would go out in the clear.
        BlueskyLoopback.saved(access: "saved.access", at: "BASE", identifier: "other.example")
            .replacingOccurrences(of: BlueskyLoopback.did, with: "did:plc:other"),
        BlueskyLoopback.saved(access: "saved.access", at: "https://bsky.social"),
        BlueskyLoopback.saved(access: "saved.access", at: "BASE")
            .replacingOccurrences(of: #""pds":"BASE""#, with: #""pds":"http://pds.example""#),
    ])
    func whatIsNotThisAccountsSessionIsNotUsed(text: String) async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(
            store: store, answer: Self.timeline(taking: BlueskyLoopback.access))
        store.replace(text.replacingOccurrences(of: "BASE", with: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.createSession) == 1)
        expect(loopback.server.requests) {
            $0.allSatisfy { $0.header("Authorization") != "Bearer saved.access" }
        }
    }

    @Test(arguments: [400, 401, 403])
    func anExpiredTokenIsRenewedAndTheCallRepeated(status: Int) async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(
            store: store,
            answer: Self.timeline(
                taking: BlueskyLoopback.renewedAccess,
                else: .xrpc("ExpiredToken", "Token has expired", status: status))
        )
        store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(
            loopback.server.requests.map(\.path)
                == [Self.timeline, Self.refreshSession, Self.timeline].map { "/xrpc/\($0)" })
        let renewal = try #require(
            loopback.server.requests.first { $0.method(Self.refreshSession) })
        #expect(renewal.header("Authorization") == "Bearer \(BlueskyLoopback.refresh)")
        #expect(renewal.method == "POST")
        #expect(renewal.body.isEmpty)
        #expect(
            store.saved
                == BlueskyLoopback.saved(
                    access: BlueskyLoopback.renewedAccess, refresh: BlueskyLoopback.renewedRefresh,
                    at: loopback.server.url))
    }

    @Test func manyCallsRenewOnce() async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(
            store: store, answer: Self.timeline(taking: BlueskyLoopback.renewedAccess))
        store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        let network = loopback.network
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await network.page(.home, .newest) } }
            try await group.waitForAll()
        }
        #expect(loopback.count(Self.refreshSession) == 1)
        #expect(loopback.count(Self.createSession) == 0)
        #expect(store.saveCount == 1)
    }

    @Test func manyCallsLogInOnce() async throws {
        let loopback = try BlueskyLoopback(answer: Self.timeline(taking: BlueskyLoopback.access))
        let network = loopback.network
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await network.page(.home, .newest) } }
            try await group.waitForAll()
        }
        #expect(loopback.count(Self.createSession) == 1)
    }

    @Test func whatAnotherProcessRenewedIsTaken() async throws {
        let store = MemoryCredentials()
        let isLater = Box(false)
        let loopback = try BlueskyLoopback(store: store) { request in
            let token = isLater.value ? "others.access" : BlueskyLoopback.access
            return Self.timeline(taking: token)(request)
        }
        _ = try await loopback.network.page(.home, .newest)
        isLater.value = true
        store.replace(BlueskyLoopback.saved(access: "others.access", at: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.refreshSession) == 0)
        #expect(loopback.count(Self.createSession) == 1)
    }

    /// Both processes renew at once on a server that takes a token only once: the slower one finds
    /// the faster one's.
    @Test func aLostRaceIsNoReasonToLogIn() async throws {
        let store = MemoryCredentials()
        let base = Box("")
        let loopback = try BlueskyLoopback(store: store) { request in
            if request.method(Self.refreshSession) {
                store.replace(BlueskyLoopback.saved(access: "others.access", at: base.value))
                return .xrpc("ExpiredToken", "Token has been revoked")
            }
            return Self.timeline(taking: "others.access")(request)
        }
        base.value = loopback.server.url
        store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.refreshSession) == 1)
        #expect(loopback.count(Self.createSession) == 0)
    }

    @Test(arguments: [
        Answer.xrpc("ExpiredToken"), .xrpc("InvalidToken"), .xrpc("AuthMissing", status: 401),
        Answer(status: 400, body: "refresh token revoked"), Answer(status: 401, body: "<html>"),
    ])
    func aRefusedRenewalEndsInLoggingIn(refusal: Answer) async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(store: store) { request in
            request.method(Self.refreshSession)
                ? refusal : Self.timeline(taking: BlueskyLoopback.access)(request)
        }
        store.replace(
            BlueskyLoopback.saved(
                access: "old.access", refresh: "old.refresh", at: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.refreshSession) == 1)
        #expect(loopback.count(Self.createSession) == 1)
        #expect(store.saved == BlueskyLoopback.saved(at: loopback.server.url))
    }

    @Test(arguments: ["InvalidToken", "AuthMissing", "AuthenticationRequired"])
    func aTokenThatIsNoneIsReplacedByLoggingIn(name: String) async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(
            store: store,
            answer: Self.timeline(taking: BlueskyLoopback.access, else: .xrpc(name, status: 401)))
        store.replace(
            BlueskyLoopback.saved(
                access: "old.access", refresh: "old.refresh", at: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.refreshSession) == 0)
        #expect(loopback.count(Self.createSession) == 1)
    }

    /// Who does not say why it refuses is asked about the session itself.
    @Test(arguments: [400, 401, 403], ["", "<p>expired</p>", "{}"])
    func aRefusalWithoutANameMayBeTheSession(status: Int, body: String) async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(store: store) { request in
            guard request.method(Self.timeline) || request.path.contains("getSession") else {
                return nil
            }
            guard request.header("Authorization") == "Bearer \(BlueskyLoopback.renewedAccess)"
            else {
                return Answer(status: status, body: body)
            }
            return Self.empty
        }
        store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.refreshSession) == 1)
        #expect(loopback.count(Self.createSession) == 0)
    }

    @Test func aRefusalWithoutANameMayBeTheCall() async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(store: store) {
            $0.method(Self.timeline) ? Answer(status: 400) : nil
        }
        store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        let error = try await failure(of: loopback.network)
        #expect(error.code == .rejected)
        #expect(error.operation == .readHome)
        #expect(loopback.count(Self.refreshSession) == 0)
        #expect(loopback.count(Self.timeline) == 1)
    }

    /// A server that refuses what it has just given is not asked for more of it.
    @Test(arguments: ["ExpiredToken", "InvalidToken", "AuthMissing"])
    func aFreshSessionThatIsRefusedEndsIt(name: String) async throws {
        let loopback = try BlueskyLoopback { $0.method(Self.timeline) ? .xrpc(name) : nil }
        let error = try await failure(of: loopback.network)
        #expect(error.code == .unauthorized)
        #expect(error.stopsActor)
        #expect(loopback.count(Self.createSession) == 1)
        _ = try await failure(of: loopback.network)
        #expect(loopback.count(Self.createSession) == 1)
    }

    /// One that no server could be asked with in all its time is renewed like any other.
    @Test func aSessionThatEndsBeforeItsFirstUseIsRenewed() async throws {
        let clock = Box(BlueskyLoopback.start)
        let isAway = Box(true)
        let loopback = try BlueskyLoopback(now: { clock.value }) { request in
            guard request.method(Self.timeline) else { return nil }
            if isAway.value { return Answer(status: 503) }
            return Self.timeline(
                taking: BlueskyLoopback.renewedAccess, else: .xrpc("ExpiredToken"))(request)
        }
        try await expect(failure(of: loopback.network).code, equals: .unavailable)
        isAway.value = false
        clock.value += 3 * 3_600
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.createSession) == 1)
        #expect(loopback.count(Self.refreshSession) == 1)
    }

    @Test func aSessionThatEndsSoonAfterLoggingInWaits() async throws {
        let clock = Box(BlueskyLoopback.start)
        let isRefusing = Box(false)
        let loopback = try BlueskyLoopback(now: { clock.value }) { request in
            guard request.method(Self.timeline) else { return nil }
            return isRefusing.value ? .xrpc("AuthMissing", status: 401) : Self.empty
        }
        _ = try await loopback.network.page(.home, .newest)
        isRefusing.value = true
        clock.value += 60
        let error = try await failure(of: loopback.network)
        #expect(error.code == .unavailable)
        #expect(!error.stopsActor)
        #expect(error.retryAfter == BlueskyLoopback.start + 300)
        #expect(loopback.count(Self.createSession) == 1)
        clock.value = BlueskyLoopback.start + 300
        let second = try await failure(of: loopback.network)
        #expect(second.code == .unauthorized)
        #expect(loopback.count(Self.createSession) == 2)
    }

    @Test(arguments: [
        ("AuthenticationRequired", "Invalid identifier or password", 401, "unauthorized"),
        ("AuthFactorTokenRequired", "A sign in code was sent", 401, "unauthorized"),
        ("AccountTakedown", "Account has been taken down", 401, "account-disabled"),
        ("AccountDeactivated", "", 403, "account-disabled"),
    ])
    func aFinalNoIsNotAskedForAgainAtOnce(name: String, message: String, status: Int, code: String)
        async throws
    {
        let clock = Box(BlueskyLoopback.start)
        let loopback = try BlueskyLoopback(now: { clock.value }) { request in
            request.method(Self.createSession) ? .xrpc(name, message, status: status) : nil
        }
        for _ in 0..<3 {
            let error = try await failure(of: loopback.network)
            #expect(error.code.rawValue == code)
            #expect(error.operation == .logIn)
            #expect(error.stopsActor)
            #expect(error.outcome == .notSent)
            expect(error.serverCode) { $0?.hasPrefix(name) == true }
        }
        #expect(loopback.server.requests.count == 1)
        // The server may have been mistaken.
        clock.value += 30
        _ = try await failure(of: loopback.network)
        #expect(loopback.server.requests.count == 2)
        // A clock that was set back keeps nobody waiting.
        clock.value -= 3_600
        _ = try await failure(of: loopback.network)
        #expect(loopback.server.requests.count == 3)
    }

    @Test func theHintSaysToUseAnAppPassword() async throws {
        let loopback = try BlueskyLoopback { request in
            request.method(Self.createSession) ? .xrpc("AuthFactorTokenRequired", status: 401) : nil
        }
        let error = try await failure(of: loopback.network)
        #expect(error.description.contains("app password"))
        #expect(error.description.contains("could not log in on Bluesky (127.0.0.1)"))
    }

    @Test func failingToLogInBacksOff() async throws {
        let clock = Box(BlueskyLoopback.start)
        let loopback = try BlueskyLoopback(now: { clock.value }) { request in
            request.method(Self.createSession) ? .xrpc("InternalServerError", status: 500) : nil
        }
        var waits: [TimeInterval] = []
        for _ in 0..<7 {
            let error = try await failure(of: loopback.network)
            let again = try #require(error.retryAfter)
            // Before that, nothing is sent.
            let count = loopback.server.requests.count
            _ = try await failure(of: loopback.network)
            #expect(loopback.server.requests.count == count)
            waits.append(again.timeIntervalSince(clock.value))
            clock.value = again
        }
        #expect(waits.count == 7)
        for (wait, least) in zip(waits, [60.0, 120, 240, 480, 900, 900, 900]) {
            #expect((least...least * 1.25).contains(wait))
        }
        #expect(loopback.count(Self.createSession) == 7)
    }

    @Test func aLimitOnLoggingInIsKept() async throws {
        let clock = Box(BlueskyLoopback.start)
        let loopback = try BlueskyLoopback(now: { clock.value }) { request in
            guard request.method(Self.createSession) else {
                return Self.timeline(taking: BlueskyLoopback.access)(request)
            }
            return clock.value < BlueskyLoopback.start + 290
                ? Answer(
                    status: 429, headers: [("Retry-After", "290")],
                    body: #"{"error":"RateLimitExceeded","message":"Rate Limit Exceeded"}"#)
                : nil
        }
        let error = try await failure(of: loopback.network)
        #expect(error.code == .rateLimited)
        // A little later, for everybody comes back at that second.
        let again = try #require(error.retryAfter)
        expect(again.timeIntervalSince(BlueskyLoopback.start)) { (292...324).contains($0) }
        clock.value = again - 1
        _ = try await failure(of: loopback.network)
        #expect(loopback.server.requests.count == 1)
        clock.value = again
        _ = try await loopback.network.page(.home, .newest)
    }

    @Test func aSessionThatCannotBeSavedIsNotUsedYet() async throws {
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(store: store) { request in
            if request.method(Self.createSession) { store.fail(true) }
            return Self.timeline(taking: BlueskyLoopback.access)(request)
        }
        for _ in 0..<2 {
            let error = try await failure(of: loopback.network)
            #expect(error.code == .unavailable)
            #expect(error.outcome == .notSent)
            #expect(loopback.requests.isEmpty)
        }
        store.fail(false)
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.createSession) == 1)
        #expect(store.saveCount == 1)
    }

    @Test func aStoreThatCannotBeReadIsNoReasonToLogIn() async throws {
        let store = MemoryCredentials()
        store.fail(true)
        let loopback = try BlueskyLoopback(store: store) { _ in nil }
        let error = try await failure(of: loopback.network)
        #expect(error.code == .unavailable)
        #expect(loopback.server.requests.isEmpty)
    }

    @Test(arguments: [
        BlueskyJSON.session("a", "r", did: "did:plc:somebodyelse"),
        BlueskyJSON.session("a", "r").replacingOccurrences(
            of: #""active":true"#, with: #""active":false"#),
    ])
    func anotherAccountsSessionIsRefused(body: String) async throws {
        let loopback = try BlueskyLoopback(identifier: BlueskyLoopback.did) { request in
            request.method(Self.createSession) ? .json(body) : nil
        }
        let error = try await failure(of: loopback.network)
        #expect(error.stopsActor)
        #expect(loopback.requests.isEmpty)
        #expect(loopback.store.saveCount == 0)
    }

    @Test func aRenewalThatGetsNoAnswerIsTriedAgainLater() async throws {
        let isBroken = Box(true)
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(store: store) { request in
            if request.method(Self.refreshSession), isBroken.value {
                return Answer(status: 502, body: "<html>")
            }
            return Self.timeline(taking: BlueskyLoopback.renewedAccess)(request)
        }
        store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        let error = try await failure(of: loopback.network)
        #expect(error.code == .unavailable)
        #expect(error.operation == .refreshSession)
        #expect(error.outcome == .notSent)
        isBroken.value = false
        _ = try await loopback.network.page(.home, .newest)
        #expect(loopback.count(Self.createSession) == 0)
    }

    @Test func whoIsCancelledLeavesAndTheRenewalGoesOn() async throws {
        let gate = DispatchSemaphore(value: 0)
        let store = MemoryCredentials()
        let loopback = try BlueskyLoopback(store: store) { request in
            if request.method(Self.refreshSession) { gate.wait() }
            return Self.timeline(taking: BlueskyLoopback.renewedAccess)(request)
        }
        store.replace(BlueskyLoopback.saved(at: loopback.server.url))
        let network = loopback.network
        let task = Task { try await network.page(.home, .newest) }
        try await loopback.server.waitForRequests(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        gate.signal()
        _ = try await network.page(.home, .newest)
        #expect(loopback.count(Self.refreshSession) == 1)
        #expect(store.saveCount == 1)
    }

    @Test(arguments: [
        "", "not a handle", "bot", "bot@home.example", "did:", "did:plc:", ".", "a..b",
        "-a.example", "a.1",
    ])
    func whatIsNoNameIsRefused(identifier: String) throws {
        let server = try LoopbackServer { _, connection in connection.close() }
        let error = try #require(throws: NetworkError.self) {
            _ = try BlueskyLoopback.network(of: server, identifier: identifier)
        }
        #expect(error.code == .configuration)
    }

    @Test func aHandleMayBeWrittenAsPeopleDo() throws {
        let loopback = try BlueskyLoopback(identifier: " @Bot.Home.Example ") { _ in nil }
        #expect(loopback.network.resolver.identifier == "bot.home.example")
    }
}

/// A value that several threads change.
final class Box<Value: Sendable>: Sendable {
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }
}
