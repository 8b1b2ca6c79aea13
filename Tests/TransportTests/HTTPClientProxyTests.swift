import Expectations
import Foundation
import TestSupport
import Testing
import Transport

/// Proxies come from the environment, so each test runs in a process of its own.
@Suite struct HTTPClientProxyTests {
    @Test func asksTheProxyOfTheEnvironmentForATunnel() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer { request, connection in
                try connection.respond(status: request.method == "CONNECT" ? 407 : 500)
            }
            setenv("https_proxy", "http://user:s3cr3t@127.0.0.1:\(proxy.port)", 1)
            let client = HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
            defer { client.shutdown() }
            let error = try await #require(throws: TransportError.self) {
                try await client.send(
                    HTTPRequest(method: .post, url: "https://mirror.invalid/", body: [1]))
            }
            #expect(proxy.requests.map(\.target) == ["mirror.invalid:443"])
            #expect(error.code == .connect)
            #expect(error.requestDidNotLeave)
            #expect(error.message == "the proxy answered with status 407")
        }
    }

    @Test func reachesLoopbackHostsWithoutAProxy() async {
        await #expect(processExitsWith: .success) {
            for name in ["http_proxy", "https_proxy", "all_proxy"] {
                setenv(name, "http://127.0.0.1:1", 1)
            }
            let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
            let client = HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
            defer { client.shutdown() }
            try await expect(client.send(HTTPRequest(url: server.url)).status, equals: 200)
            let insecure = try LoopbackServer(steps: [.send(Array("this is not TLS".utf8))])
            let error = try await #require(throws: TransportError.self) {
                try await client.send(HTTPRequest(url: "https://127.0.0.1:\(insecure.port)/"))
            }
            #expect(error.code == .tls)
        }
    }

    /// What `no_proxy` leaves out may be on this machine's own network, which others must not name.
    @Test func carriesWhatMustBePublicWhateverNoProxySays() async {
        await #expect(processExitsWith: .success) {
            let proxy = try LoopbackServer { _, connection in try connection.respond(status: 407) }
            let inside = try LoopbackServer { _, connection in try connection.respond(status: 200) }
            setenv("https_proxy", "http://127.0.0.1:\(proxy.port)", 1)
            setenv("no_proxy", "*", 1)
            let client = HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
            defer { client.shutdown() }
            for host in ["[::ffff:127.0.0.1]", "127.0.0.1"] {
                var request = HTTPRequest(url: "https://\(host):\(inside.port)/")
                request.isPublicOnly = true
                _ = try await #require(throws: TransportError.self) {
                    try await client.send(request)
                }
            }
            #expect(inside.requests.isEmpty)
            #expect(inside.connectionCount == 0)
            #expect(proxy.requests.map(\.method) == ["CONNECT"])
        }
    }

    @Test func neverRepeatsTheSecretOfAProxy() async {
        await #expect(processExitsWith: .success) {
            let proxies = [
                "odd://user:s3cr3t@127.0.0.1:1", "http://user:s3cr3t@[",
                "http://user:s3cr3t@proxy.invalid",
            ]
            for proxy in proxies {
                setenv("https_proxy", proxy, 1)
                let client = HTTPClient(
                    configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests/1"))
                defer { client.shutdown() }
                let error = try await #require(throws: TransportError.self) {
                    try await client.send(HTTPRequest(url: "https://mirror.invalid/"))
                }
                #expect(error.requestDidNotLeave)
                #expect(!String(reflecting: error).contains("s3cr3t"))
            }
        }
    }
}
