import Expectations
import Foundation
import TestSupport
import Testing
import Transport

@Suite struct HTTPClientFailureTests {
    let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))

    @Test func knowsThatARefusedConnectionSentNothing() async throws {
        let server = try LoopbackServer { _, _ in }
        let url = server.url
        server.stop()
        let error = try await failure(HTTPRequest(method: .post, url: url, body: [1]))
        #expect(error.code == .connect)
        #expect(error.requestDidNotLeave)
        #expect(error.host == "127.0.0.1")
        #expect(
            error.description.hasPrefix(
                "could not complete the exchange with 127.0.0.1: Failed to connect"))
    }

    @Test func knowsThatAnUnknownHostReceivedNothing() async throws {
        // Too long for a name: no resolver is asked, whose answer this machine decides.
        let url = "https://\(String(repeating: "x", count: 64)).invalid/"
        let error = try await failure(HTTPRequest(method: .post, url: url, body: [1]))
        #expect(error.code == .resolve)
        #expect(error.requestDidNotLeave)
    }

    /// What is kept back when its first byte is due reaches the connection, and nothing else.
    @Test func aRequestThatMayNotLeaveAnyMoreDoesNotLeave() async throws {
        let server = try LoopbackServer(steps: [.awaitRequest, .close])
        var request = HTTPRequest(method: .post, url: server.url, body: [1])
        request.mayLeave = { false }
        let error = try await failure(request)
        #expect(error.code == .timeout)
        #expect(error.requestDidNotLeave)
        #expect(server.requests.isEmpty)
        // The connection is not used for anything else, and the next request is not held back.
        request.mayLeave = { true }
        let lost = try await failure(request)
        #expect(!lost.requestDidNotLeave)
        #expect(server.requests.count == 1)
    }

    /// Every way to lose a connection once the request may have arrived.
    @Test(arguments: [
        [LoopbackServer.Step.awaitRequest, .reset],
        [.awaitRequest, .close],
        [
            .awaitRequest, .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8)),
            .close,
        ],
        [
            .awaitRequest, .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".utf8)),
            .reset,
        ],
        [
            .awaitRequest,
            .send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe".utf8)),
            .close,
        ],
        [.awaitRequest, .send(Array("HTTP/1.1 200 OK\r\nContent-Le".utf8)), .reset],
    ])
    func doesNotClaimThatALostRequestStayedHome(steps: [LoopbackServer.Step]) async throws {
        let server = try LoopbackServer(steps: steps)
        let error = try await failure(HTTPRequest(method: .post, url: server.url, body: [1, 2, 3]))
        #expect(error.code == .interrupted)
        #expect(!error.requestDidNotLeave)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nplain",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot a number\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n",
    ])
    func refusesWhatIsNotHTTP(text: String) async throws {
        let server = try LoopbackServer(steps: [.awaitRequest, .send(Array(text.utf8)), .close])
        let error = try await failure(HTTPRequest(url: server.url))
        #expect([.malformedResponse, .interrupted].contains(error.code))
        #expect(!error.requestDidNotLeave)
    }

    @Test func neverSendsAPostTwiceWhenTheServerDropsTheConnection() async throws {
        // Answers the first request of a connection, keeps it open, and drops it when the second
        // arrives: what a client meets when it reuses a connection that the server is about to
        // close.
        let server = try LoopbackServer { request, connection in
            if request.target == "/first" {
                try connection.respond(status: 200)
            } else {
                connection.reset()
            }
        }
        _ = try await client.send(HTTPRequest(url: server.url + "/first"))
        for method in [HTTPRequest.Method.post, .put, .patch, .delete] {
            let error = try await failure(
                HTTPRequest(method: method, url: server.url + "/second", body: [1]))
            #expect(error.code == .interrupted)
            #expect(!error.requestDidNotLeave)
        }
        let seconds = server.requests.filter { $0.target == "/second" }
        #expect(seconds.map(\.method) == ["POST", "PUT", "PATCH", "DELETE"])
        expect(seconds) { !$0.contains { $0.connection == 0 } }
    }

    @Test func readsAgainWhenAReusedConnectionIsDead() async throws {
        let server = try LoopbackServer { request, connection in
            if request.target == "/second", connection.number == 0 { return connection.reset() }
            try connection.respond(status: 200)
        }
        _ = try await client.send(HTTPRequest(url: server.url + "/first"))
        try await expect(client.send(HTTPRequest(url: server.url + "/second")).status, equals: 200)
        #expect(server.connectionCount == 2)
    }

    @Test(arguments: [
        ("X-A", "b\r\nX-Injected: 1"), ("X-A", "b\n"), ("X-A", "b\0c"), ("X-A\r\nX-B", "c"),
        ("X A", "b"),
        ("", "b"), ("X-A:", "b"), ("X-Ä", "b"), ("X-A", "\u{7f}"), ("Content-Length", "0"),
        ("Transfer-Encoding", "chunked"), ("host", "evil.example"),
    ])
    func refusesHeadersThatChangeTheRequest(header: (name: String, value: String)) async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let error = try await failure(HTTPRequest(url: server.url, headers: HTTPHeaders([header])))
        #expect(error.code == .invalidHeader)
        #expect(error.requestDidNotLeave)
        #expect(server.connectionCount == 0)
        if header.value.count > 1 { #expect(!error.description.contains(header.value)) }
    }

    @Test(arguments: [
        "", "/path", "example.org", "https://", "https:///", "https://exa mple.org/",
        "https://example.org/\r\nX: y",
        "https://example.org/\0", "https://user@example.org/", "https://user:s3cr3t@example.org/",
        "https://@example.org/", "https://example.org:0x50/", "https://example.org:99999/",
        "https://[::1/",
        "https://example.org\\@evil.example/", "https://bücher.example/",
        "https://" + String(repeating: "a", count: 20_000),
        "http://127.0.0.1@evil.example/", "http://localhost:80@evil.example/",
        "http://127.0.0.1\\@evil.example/",
    ])
    func refusesURLsItCannotTrust(url: String) async throws {
        let error = try await failure(HTTPRequest(url: url))
        #expect(error.code == .invalidURL)
        #expect(error.requestDidNotLeave)
        #expect(!error.description.contains("s3cr3t"))
    }

    @Test(arguments: [
        "http://example.org/", "HTTP://example.org/", "http://localhost.evil.example/",
        "http://127.0.0.1.evil.example/",
        "http://128.0.0.1/", "http://0.0.0.0/", "http://[::2]/", "http://[::ffff:8.8.8.8]/",
        "http://192.168.0.1/",
        "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "javascript://127.0.0.1/",
    ])
    func speaksPlainHTTPToLoopbackOnly(url: String) async throws {
        let error = try await failure(HTTPRequest(url: url))
        #expect([.forbiddenScheme, .invalidURL].contains(error.code))
        #expect(error.requestDidNotLeave)
    }

    @Test(arguments: ["localhost", "LocalHost", "127.0.0.1"])
    func reachesLoopbackHostsWithoutTLS(host: String) async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        try await expect(
            client.send(HTTPRequest(url: "http://\(host):\(server.port)/")).status, equals: 200)
    }

    @Test func keepsSecretsOutOfErrors() async throws {
        let secret = "s3cr3t"
        let server = try LoopbackServer(steps: [
            .awaitRequest, .send(Array("HTTP/9.9 \(secret)\r\n\r\n".utf8)), .close,
        ])
        let request = HTTPRequest(
            method: .post, url: "\(server.url)/\(secret)?token=\(secret)",
            headers: HTTPHeaders([("Authorization", "Bearer \(secret)")]), body: Array(secret.utf8))
        let error = try await failure(request)
        #expect(!String(reflecting: error).contains(secret))
        #expect(!error.description.contains(secret))
    }

    private func failure(_ request: HTTPRequest) async throws -> TransportError {
        try await #require(throws: TransportError.self) { try await client.send(request) }
    }
}
