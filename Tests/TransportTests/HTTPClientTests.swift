import Expectations
import Foundation
import TestSupport
import Testing
import Transport

@Suite struct HTTPClientTests {
    let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))

    @Test(arguments: [200, 201, 204, 301, 304, 400, 401, 404, 429, 500, 503])
    func returnsAnyStatusAsAResponse(status: Int) async throws {
        let server = try LoopbackServer { _, connection in
            try connection.send("HTTP/1.1 \(status) Something\r\nConnection: close\r\n\r\n")
            connection.close()
        }
        try await expect(client.send(HTTPRequest(url: server.url)).status, equals: status)
    }

    @Test func keepsHeadersInOrderAndFindsThemByAnyCase() async throws {
        let server = try LoopbackServer { _, connection in
            let headers = [
                ("Link", "<a>; rel=next"), ("X-One", "1"), ("LINK", "<b>; rel=prev"),
                ("X-Empty", ""),
            ]
            try connection.respond(status: 200, headers: headers)
        }
        let response = try await client.send(HTTPRequest(url: server.url))
        #expect(response.headers.all("link") == ["<a>; rel=next", "<b>; rel=prev"])
        #expect(response.headers["lInK"] == "<a>; rel=next")
        expect(response.headers["x-empty"]) { $0?.isEmpty == true }
        #expect(response.headers["x-two"] == nil)
        #expect(
            response.headers.pairs.map(\.name) == [
                "Link", "X-One", "LINK", "X-Empty", "Content-Length",
            ])
    }

    @Test func reportsOnlyTheFinalBlockOfHeaders() async throws {
        let server = try LoopbackServer { _, connection in
            try connection.send("HTTP/1.1 103 Early Hints\r\nLink: <early>\r\n\r\n")
            try connection.send(
                "HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\nTransfer-Encoding: chunked\r\n\r\n")
            try connection.send("5\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n")
        }
        let response = try await client.send(HTTPRequest(url: server.url))
        #expect(response.status == 200)
        #expect(response.headers["Link"] == nil)
        #expect(response.headers["X-Trailer"] == nil)
        #expect(response.headers["X-Folded"] == "a b")
        #expect(response.body == Array("hello".utf8))
    }

    @Test func receivesEveryByteOfABody() async throws {
        let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let server = try LoopbackServer { _, connection in
            try connection.respond(status: 200, body: body)
        }
        try await expect(client.send(HTTPRequest(url: server.url)).body, equals: body)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch, .delete])
    func sendsEveryByteOfABody(method: HTTPRequest.Method) async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let body: [UInt8] = [0, 1, 0, 255, 13, 10, 0] + [UInt8](repeating: 7, count: 2_000_000)
        let headers = HTTPHeaders([("Content-Type", "application/octet-stream")])
        _ = try await client.send(
            HTTPRequest(method: method, url: server.url + "/a?b=c", headers: headers, body: body))
        let request = try #require(server.requests.first)
        #expect(request.method == method.rawValue)
        #expect(request.target == "/a?b=c")
        #expect(request.body == body)
        #expect(request.header("Content-Type") == "application/octet-stream")
        #expect(request.header("Expect") == nil)
    }

    @Test func sendsNoContentTypeOfItsOwn() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        _ = try await client.send(HTTPRequest(method: .post, url: server.url, body: [1]))
        _ = try await client.send(HTTPRequest(method: .post, url: server.url))
        #expect(server.requests.map { $0.header("Content-Type") } == [nil, nil])
        #expect(server.requests.map { $0.header("Content-Length") } == ["1", "0"])
    }

    @Test func sendsUserAgentAndGivenHeaders() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let headers = HTTPHeaders([
            ("Authorization", "Bearer t"), ("X-Empty", ""), ("X-Text", "a: b; c"),
        ])
        _ = try await client.send(HTTPRequest(url: server.url, headers: headers))
        let request = try #require(server.requests.first)
        #expect(request.header("User-Agent") == "mirror-bot-tests/1")
        #expect(request.header("Authorization") == "Bearer t")
        expect(request.header("X-Empty")) { $0?.isEmpty == true }
        #expect(request.header("X-Text") == "a: b; c")
    }

    /// What cannot be a contact is left out, and no request has that of another.
    @Test func namesTheContactOfEachRequest() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "mirror-bot/2"))
        func send(_ contact: String?) async throws {
            var request = HTTPRequest(url: server.url)
            request.contact = contact
            _ = try await client.send(request)
        }
        let accepted = [
            "https://ops.example/?a=b#c", "mailto:a@b.example", "@bot@host.example:8443",
        ]
        for contact in accepted { try await send(contact) }
        let refused = [
            nil, "", "a b", "a\r\nX-Planted: 1", "a)", "(a", "a\\", "ü",
            String(repeating: "x", count: 201), "a\u{7f}",
        ]
        for contact in refused { try await send(contact) }
        let expected =
            accepted.map { "mirror-bot/2 (+\($0))" } + refused.map { _ in "mirror-bot/2" }
        #expect(server.requests.map { $0.header("User-Agent") } == expected)
    }

    @Test(arguments: ["", "  ", "\r\n"])
    func alwaysHasAUserAgent(text: String) async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: text))
        _ = try await client.send(HTTPRequest(url: server.url))
        #expect(server.requests.first?.header("User-Agent") == "mirror-bot")
    }

    @Test func decodesCompressedBodies() async throws {
        let server = try LoopbackServer { request, connection in
            let accepts = request.header("Accept-Encoding")?.contains("gzip") == true
            // gzip of "hello hello hello hello"
            let body =
                Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJV8hAJwHjUT2NFwAAAA==").map { [UInt8]($0) }
                ?? []
            try connection.respond(
                status: accepts ? 200 : 406, headers: [("Content-Encoding", "gzip")], body: body)
        }
        let response = try await client.send(HTTPRequest(url: server.url))
        #expect(response.status == 200)
        #expect(response.body == Array("hello hello hello hello".utf8))
    }

    @Test func followsNoRedirect() async throws {
        let target = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let server = try LoopbackServer { _, connection in
            try connection.respond(status: 302, headers: [("Location", target.url)])
        }
        let response = try await client.send(HTTPRequest(url: server.url))
        #expect(response.status == 302)
        #expect(response.headers["Location"] == target.url)
        #expect(target.connectionCount == 0)
    }

    @Test func reusesAConnectionForReading() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        for _ in 0..<5 { _ = try await client.send(HTTPRequest(url: server.url)) }
        #expect(server.connectionCount == 1)
        #expect(server.requests.count == 5)
    }

    @Test(.timeLimit(.minutes(30)), arguments: [HTTPRequest.Method.post, .put, .delete])
    func aConnectionForWritingEndsWithItsRequest(method: HTTPRequest.Method) async throws {
        let (closings, closed) = AsyncStream.makeStream(of: Int.self)
        let server = try LoopbackServer { request, connection in
            try connection.respond(status: 200)
            connection.waitForClose()
            closed.yield(request.connection)
        }
        _ = try await client.send(HTTPRequest(method: method, url: server.url))
        await expect(closings.first { _ in true }, equals: 0)
    }

    @Test func carriesManyRequestsAtOnce() async throws {
        let server = try LoopbackServer { request, connection in
            try connection.respond(status: 200, body: Array(request.target.utf8))
        }
        let bodies = try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
            for number in 0..<256 {
                group.addTask {
                    (
                        number,
                        try await client.send(HTTPRequest(url: server.url + "/\(number)")).body
                    )
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(bodies.count == 256)
        expect(bodies) { $0.allSatisfy { $0.value == Array("/\($0.key)".utf8) } }
    }

    @Test func showsNoSecretWhenPrinted() {
        let secret = "s3cr3t"
        let request = HTTPRequest(
            url: "https://example.org/?q=\(secret)",
            headers: HTTPHeaders([("Authorization", secret)]),
            body: Array(secret.utf8))
        var dumped = ""
        dump(request, to: &dumped)
        dump(request.headers, to: &dumped)
        #expect(
            !"\(request) \(request.headers) \(String(reflecting: request)) \(dumped)".contains(
                secret))
    }
}
