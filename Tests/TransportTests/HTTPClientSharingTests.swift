import Expectations
import Foundation
import TestSupport
import Testing
import Transport

/// One client that serves many: what requests share, and what they take from each other.
@Suite(.timeLimit(.minutes(30))) struct HTTPClientSharingTests {
    private static func client(perHost: Int = 32, total: Int = 256) -> HTTPClient {
        HTTPClient(
            configuration: HTTPClientConfiguration(
                userAgent: "mirror-bot-tests/1", maximumPerHost: perHost, maximumTotal: total))
    }

    /// A server that answers nothing.
    private static func hanging() throws -> LoopbackServer {
        try LoopbackServer(steps: [.awaitRequest, .hang])
    }

    private static func answering() throws -> LoopbackServer {
        try LoopbackServer { _, connection in try connection.respond(status: 200) }
    }

    /// Starts requests that will not be answered, and waits until so many have arrived.
    private static func occupy(
        _ server: LoopbackServer, with count: Int, arriving: Int, by client: HTTPClient
    ) async throws -> [Task<HTTPResponse, any Error>] {
        let tasks = (0..<count).map { number in
            Task {
                try await client.send(
                    HTTPRequest(url: server.url + "/\(number)", timeout: .seconds(600)))
            }
        }
        try await server.waitForRequests(arriving)
        return tasks
    }

    // MARK: What is shared

    /// Two mirrors on one server share its connection, and neither a cookie nor a token.
    @Test func connectionsAreSharedAndNothingElse() async throws {
        let server = try LoopbackServer { _, connection in
            try connection.respond(
                status: 200, headers: [("Set-Cookie", "session=planted; Path=/")])
        }
        let client = Self.client()
        for (token, contact) in [("one", "@one@host.example"), ("two", "@two@host.example")] {
            var request = HTTPRequest(
                url: server.url, headers: HTTPHeaders([("Authorization", "Bearer \(token)")]))
            request.contact = contact
            _ = try await client.send(request)
        }
        _ = try await client.send(HTTPRequest(url: server.url))
        #expect(server.connectionCount == 1)
        #expect(
            server.requests.map { $0.header("Authorization") } == ["Bearer one", "Bearer two", nil])
        #expect(server.requests.map { $0.header("Cookie") } == [nil, nil, nil])
        #expect(
            server.requests.map { $0.header("User-Agent") } == [
                "mirror-bot-tests/1 (+@one@host.example)",
                "mirror-bot-tests/1 (+@two@host.example)",
                "mirror-bot-tests/1",
            ])
    }

    // MARK: Limits

    @Test func aHostGetsItsNumberOfTransfersAtMost() async throws {
        let crowd = Crowd(until: 3)
        let server = try LoopbackServer { _, connection in
            crowd.enter()
            defer { crowd.leave() }
            try connection.respond(status: 200)
        }
        let client = Self.client(perHost: 3)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<30 {
                group.addTask { _ = try await client.send(HTTPRequest(url: server.url)) }
            }
            try await group.waitForAll()
        }
        #expect(crowd.largest == 3)
        #expect(server.requests.count == 30)
    }

    @Test func aHostThatHangsHoldsBackNobodyElse() async throws {
        let hanging = try Self.hanging()
        let answering = try Self.answering()
        let client = Self.client(perHost: 2, total: 3)
        let tasks = try await Self.occupy(hanging, with: 20, arriving: 2, by: client)
        for _ in 0..<10 {
            try await expect(client.send(HTTPRequest(url: answering.url)).status, equals: 200)
        }
        #expect(hanging.requests.count == 2)
        for task in tasks { task.cancel() }
    }

    /// The slots of all together are taken by hosts that answer nothing: the next host gets one all
    /// the same.
    @Test func manyHostsThatHangHoldBackNobodyElse() async throws {
        let hanging = try (0..<3).map { _ in try Self.hanging() }
        let answering = try Self.answering()
        let client = Self.client(perHost: 2, total: 3)
        var tasks: [Task<HTTPResponse, any Error>] = []
        for server in hanging {
            tasks += try await Self.occupy(server, with: 5, arriving: 1, by: client)
        }
        try await expect(client.send(HTTPRequest(url: answering.url)).status, equals: 200)
        for task in tasks { task.cancel() }
    }

    /// A change leaves at once: it may have been committed as under way.
    @Test(arguments: [HTTPRequest.Method.post, .put, .delete])
    func aChangeWaitsForNoRead(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { request, connection in
            if request.method == "GET" { connection.waitForClose() }
            try connection.respond(status: 200)
        }
        let client = Self.client(perHost: 1, total: 1)
        let tasks = try await Self.occupy(server, with: 3, arriving: 1, by: client)
        try await expect(
            client.send(HTTPRequest(method: method, url: server.url)).status, equals: 200)
        for task in tasks { task.cancel() }
    }

    // MARK: Waiting

    /// The wait counts towards the timeout, and nothing has left when it is over.
    @Test func aRequestThatWaitsTooLongWasNeverSent() async throws {
        let server = try Self.hanging()
        let client = Self.client(perHost: 1)
        let tasks = try await Self.occupy(server, with: 1, arriving: 1, by: client)
        let error = try await #require(throws: TransportError.self) {
            try await client.send(HTTPRequest(url: server.url, timeout: .milliseconds(100)))
        }
        #expect(error.code == .timeout)
        #expect(error.requestDidNotLeave)
        #expect(server.requests.count == 1)
        for task in tasks { task.cancel() }
    }

    @Test func aCancelledRequestGivesItsPlaceToTheNext() async throws {
        let server = try LoopbackServer { request, connection in
            if request.target == "/0" { connection.waitForClose() }
            try connection.respond(status: 200)
        }
        let client = Self.client(perHost: 1)
        let first = try await Self.occupy(server, with: 1, arriving: 1, by: client)
        let second = Task { try await client.send(HTTPRequest(url: server.url + "/second")) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        let third = Task { try await client.send(HTTPRequest(url: server.url + "/third")).status }
        first[0].cancel()
        try await expect(third.value, equals: 200)
        expect(server.requests.map(\.target)) { !$0.contains("/second") }
    }

    @Test func whatWaitsFailsUnsentOnShutdown() async throws {
        let server = try Self.hanging()
        let client = Self.client(perHost: 1)
        let running = try await Self.occupy(server, with: 1, arriving: 1, by: client)
        let waiting = Task {
            try await client.send(HTTPRequest(url: server.url, timeout: .seconds(600)))
        }
        client.shutdown()
        let underWay = try await #require(throws: TransportError.self) {
            try await running[0].value
        }
        #expect(!underWay.requestDidNotLeave)
        let error = try await #require(throws: TransportError.self) { try await waiting.value }
        #expect(error.code == .shutdown)
        #expect(error.requestDidNotLeave)
    }

    @Test func aFullQueueLosesNobody() async throws {
        let servers = try (0..<4).map { _ in try Self.answering() }
        let client = Self.client(perHost: 1, total: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, server) in servers.enumerated() {
                for _ in 0..<(number == 0 ? 200 : 5) {
                    group.addTask { _ = try await client.send(HTTPRequest(url: server.url)) }
                }
            }
            try await group.waitForAll()
        }
        #expect(servers.map(\.requests.count) == [200, 5, 5, 5])
        #expect(servers.map(\.connectionCount) == [1, 1, 1, 1])
    }
}

/// Counts who is inside at the same time; the first ones stay until so many have come.
private final class Crowd: @unchecked Sendable {
    // Sendable because the numbers are only touched under `condition`.
    private let condition = NSCondition()
    private let expected: Int
    private var inside = 0
    private var most = 0

    init(until expected: Int) { self.expected = expected }

    var largest: Int { condition.withLock { most } }

    func enter() {
        condition.withLock {
            inside += 1
            most = max(most, inside)
            condition.broadcast()
            while most < expected { condition.wait() }
        }
    }

    func leave() { condition.withLock { inside -= 1 } }
}
