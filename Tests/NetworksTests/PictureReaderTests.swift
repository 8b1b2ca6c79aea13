import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Networks

/// Reading pictures from addresses that somebody else wrote.
@Suite struct PictureReaderTests {
    private static let client = HTTPClient(
        configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))

    private func server(
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer
    ) throws -> LoopbackServer {
        try LoopbackServer { request, connection in
            let answer = answer(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
    }

    @Test func readsFromTheHumansOwnServerWhereverThatIs() async throws {
        let server = try server { $0.path == "/1.jpg" ? Answer(body: "bytes") : .notFound }
        let reader = PictureReader(client: Self.client, trusting: server.url)
        try await expect(
            reader.read(server.url + "/1.jpg", maximumBytes: 100),
            equals: .found(Array("bytes".utf8)))
        try await expect(reader.read(server.url + "/2.jpg", maximumBytes: 100), equals: .gone)
        expect(server.requests) { $0.allSatisfy { $0.header("Authorization") == nil } }
    }

    @Test func nobodyElseLeadsToThisMachine() async throws {
        let server = try server { _ in Answer(body: "bytes") }
        let port = server.url.split(separator: ":").last ?? ""
        let strangers = [
            PictureReader(client: Self.client, trusting: nil),
            PictureReader(client: Self.client, trusting: "https://social.example"),
            // One that only begins like the address.
            PictureReader(client: Self.client, trusting: String(server.url.dropLast())),
        ]
        for reader in strangers {
            for host in [
                "127.0.0.1", "localhost", "[::1]", "0x7f.1", "2130706433", "10.0.0.1", "intranet",
            ] {
                for scheme in ["http", "https"] {
                    let found = try await reader.read(
                        "\(scheme)://\(host):\(port)/1.jpg", maximumBytes: 100)
                    #expect(found == .notRequested, "\(scheme) \(host)")
                }
            }
        }
        #expect(server.requests.isEmpty)
    }

    @Test func aRedirectLeadsElsewhereButNotNearby() async throws {
        let other = try server { _ in Answer(body: "secret") }
        let server = try server { request in
            switch request.path {
            case "/same": Answer(status: 302, headers: [("Location", "/1.jpg")])
            case "/near": Answer(status: 302, headers: [("Location", other.url + "/1.jpg")])
            case "/tls": Answer(status: 302, headers: [("Location", "https://127.0.0.1:1/1.jpg")])
            case "/file": Answer(status: 302, headers: [("Location", "file:///etc/passwd")])
            case "/loop": Answer(status: 302, headers: [("Location", "/loop")])
            default: Answer(body: "bytes")
            }
        }
        let reader = PictureReader(client: Self.client, trusting: server.url)
        try await expect(
            reader.read(server.url + "/same", maximumBytes: 100),
            equals: .found(Array("bytes".utf8)))
        for path in ["/near", "/tls", "/file", "/loop"] {
            try await expect(
                reader.read(server.url + path, maximumBytes: 100), equals: .notRequested, "\(path)")
        }
        #expect(other.requests.isEmpty)
    }

    @Test(arguments: [429, 500, 503]) func aServerInTroubleIsAskedAgain(status: Int) async throws {
        let server = try server { _ in Answer(status: status) }
        let reader = PictureReader(client: Self.client, trusting: server.url)
        try await expect(
            reader.read(server.url + "/1", maximumBytes: 9),
            equals: .unavailable(.unavailable))
    }

    @Test func noMoreThanTheNetworkTakesIsRead() async throws {
        let server = try server { _ in Answer(body: String(repeating: "x", count: 1_000)) }
        let reader = PictureReader(client: Self.client, trusting: server.url)
        try await expect(reader.read(server.url + "/1", maximumBytes: 999), equals: .tooLarge)
        guard case .found(let bytes) = try await reader.read(server.url + "/1", maximumBytes: 1_000)
        else {
            Issue.record("it was not read")
            return
        }
        #expect(bytes.count == 1_000)
    }
}
