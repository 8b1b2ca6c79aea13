import Expectations
import Foundation
import TestSupport
import Testing
import Transport

/// Limits of size and time, cancellation, and the end of a client.
@Suite struct HTTPClientLimitTests {
    let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
    static let head = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)

    @Test(arguments: [(1_000, true), (1_001, false)])
    func acceptsBodiesUpToTheLimit(size: Int, isAccepted: Bool) async throws {
        let server = try LoopbackServer { _, connection in
            try connection.respond(status: 200, body: [UInt8](repeating: 65, count: size))
        }
        let request = HTTPRequest(url: server.url, maximumBodyBytes: 1_000)
        if isAccepted {
            try await expect(client.send(request).body.count, equals: size)
        } else {
            try await expect(failure(request).code, equals: .tooLarge)
        }
    }

    /// Status, headers and the first bytes tell what it was that is too large.
    @Test(arguments: [10, 1_000, 200_000]) func handsOverTheBeginning(limit: Int) async throws {
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let server = try LoopbackServer { _, connection in
            try connection.respond(status: 418, headers: [("Link", "<a>")], body: body)
        }
        let error = try await failure(HTTPRequest(url: server.url, maximumBodyBytes: limit))
        let beginning = try #require(error.beginning)
        #expect(beginning.status == 418)
        #expect(beginning.headers["Link"] == "<a>")
        #expect(beginning.body == Array(body.prefix(min(limit, 65_536))))
        #expect(beginning.isCut)
        #expect(!error.description.contains("418"))
    }

    @Test func stopsAnEndlessBody() async throws {
        let chunk = [UInt8](repeating: 65, count: 65_536)
        let server = try LoopbackServer(steps: [.awaitRequest, .send(Self.head), .flood(chunk)])
        let error = try await failure(HTTPRequest(url: server.url, maximumBodyBytes: 1 << 20))
        #expect(error.code == .tooLarge)
        #expect(!error.requestDidNotLeave)
    }

    @Test func stopsAnEndlessHeader() async throws {
        let line = Array("X-More: \(String(repeating: "a", count: 1_000))\r\n".utf8)
        let server = try LoopbackServer(steps: [
            .awaitRequest, .send(Array("HTTP/1.1 200 OK\r\n".utf8)), .flood(line),
        ])
        let error = try await failure(HTTPRequest(url: server.url))
        #expect(error.code == .tooLarge)
        #expect(error.beginning == nil)
    }

    @Test func stopsEndlessInterimResponses() async throws {
        let interim = Array("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n".utf8)
        let server = try LoopbackServer(steps: [.awaitRequest, .flood(interim)])
        try await expect(failure(HTTPRequest(url: server.url)).code, equals: .tooLarge)
    }

    @Test func countsTheBodyAfterDecompression() async throws {
        let server = try LoopbackServer { _, connection in
            try connection.respond(
                status: 200, headers: [("Content-Encoding", "gzip")], body: gzipBomb())
        }
        let error = try await failure(HTTPRequest(url: server.url))
        #expect(error.code == .tooLarge)
        #expect(error.message == "the body is larger than 8388608 bytes")
    }

    @Test func givesUpOnAServerThatNeverAnswers() async throws {
        let server = try LoopbackServer(steps: [.awaitRequest, .hang])
        // A busy machine may not even send a request in that time; what arrived has left.
        var error: TransportError?
        while server.requests.isEmpty {
            error = try await failure(HTTPRequest(url: server.url, timeout: .milliseconds(200)))
            #expect(error?.code == .timeout)
        }
        try expect(#require(error)) { $0.requestDidNotLeave == false }
    }

    @Test func givesUpOnAServerThatDrips() async throws {
        let server = try LoopbackServer(
            steps: [.awaitRequest, .send(Self.head), .drip([65], every: .milliseconds(10))])
        try await expect(
            failure(HTTPRequest(url: server.url, timeout: .milliseconds(200))).code,
            equals: .timeout)
    }

    @Test func givesUpOnATransferThatStalls() async throws {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(
                userAgent: "mirror-bot-tests/1", stallTimeout: .seconds(1)))
        let server = try LoopbackServer(steps: [.awaitRequest, .send(Self.head), .hang])
        let error = try await #require(throws: TransportError.self) {
            try await client.send(HTTPRequest(url: server.url, timeout: .seconds(60)))
        }
        #expect(error.code == .timeout)
    }

    @Test func knowsThatAConnectionNeverAcceptedSentNothing() async throws {
        // TLS to a server that stays silent: the connection stands, the handshake never ends.
        let server = try LoopbackServer(steps: [.hang])
        let request = HTTPRequest(
            method: .post, url: "https://127.0.0.1:\(server.port)/", body: [1],
            timeout: .milliseconds(200))
        let error = try await failure(request)
        #expect(error.code == .timeout)
        #expect(error.requestDidNotLeave)
    }

    @Test func returnsAtOnceWhenCancelled() async throws {
        let server = try LoopbackServer(steps: [.awaitRequest, .hang])
        let task = Task {
            try await client.send(HTTPRequest(url: server.url, timeout: .seconds(600)))
        }
        try await server.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func sendsNothingForATaskAlreadyCancelled() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(HTTPRequest(url: server.url))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.connectionCount == 0)
    }

    @Test func survivesCancellationAtAnyMoment() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        for round in 0..<200 {
            let task = Task { try await client.send(HTTPRequest(url: server.url)) }
            for _ in 0..<(round % 20) { await Task.yield() }
            task.cancel()
            _ = await task.result
        }
        try await expect(client.send(HTTPRequest(url: server.url)).status, equals: 200)
    }

    @Test func failsRequestsUnderWayOnShutdown() async throws {
        let server = try LoopbackServer(steps: [.awaitRequest, .hang])
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
        let task = Task {
            try await client.send(HTTPRequest(url: server.url, timeout: .seconds(600)))
        }
        try await server.waitForRequests(1)
        client.shutdown()
        let underWay = try await #require(throws: TransportError.self) { try await task.value }
        #expect(underWay.code == .shutdown)
        #expect(!underWay.requestDidNotLeave)
        let late = try await #require(throws: TransportError.self) {
            try await client.send(HTTPRequest(url: server.url))
        }
        #expect(late.code == .shutdown)
        #expect(late.requestDidNotLeave)
    }

    @Test(arguments: [Duration.zero, .seconds(-5), .nanoseconds(1), .seconds(Int64.max)])
    func takesAnyTimeout(timeout: Duration) async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        do {
            let request = HTTPRequest(url: server.url, timeout: timeout, maximumBodyBytes: -1)
            try await expect(client.send(request).status, equals: 200)
        } catch let error as TransportError {
            #expect(error.code == .timeout)
        }
    }

    private func failure(_ request: HTTPRequest) async throws -> TransportError {
        try await #require(throws: TransportError.self) { try await client.send(request) }
    }
}

/// A gzip file of 64 MB of zero bytes, about 400 KB long and without its checksum.
///
/// One block of fixed codes (RFC 1951, section 3.2.6): a zero byte, then "258 bytes from one byte
/// back" over and over.
private func gzipBomb() -> [UInt8] {
    let start = "1" + "10" + "00110000"
    let copy = "11000101" + "00000"
    // Eight copies fill thirteen whole bytes, so that beyond the first byte the file repeats
    // itself.
    let bits = Array((start + String(repeating: copy, count: 24)).utf8)
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: bits.count - 7, by: 8) {
        var byte: UInt8 = 0
        for bit in 0..<8 where bits[index + bit] == UInt8(ascii: "1") { byte |= 1 << UInt8(bit) }
        bytes.append(byte)
    }
    var file: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
    file += bytes[..<2]
    for _ in 0..<31_250 { file += bytes[2..<15] }
    return file
}
