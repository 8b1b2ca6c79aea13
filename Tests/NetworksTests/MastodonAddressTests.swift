import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
@testable import Networks

/// Calls may go to another host than the one where the account is.
@Suite struct MastodonAddressTests {
    private func network(
        server: String = "https://Home.Example", at loopback: LoopbackServer
    ) throws -> MastodonNetwork {
        try MastodonNetwork(
            server: server, apiBaseURL: loopback.url,
            credentials: MastodonCredentials(accessToken: Secret(Loopback.token)), sessions: nil,
            client: HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")),
            now: { Loopback.start })
    }

    private func proxy(
        webFinger: Answer = .notFound,
        instance: @escaping @Sendable (LoopbackServer.Request) -> String?
    ) throws -> LoopbackServer {
        try LoopbackServer { request, connection in
            var answer = Loopback.usual(request)
            if request.path == "/.well-known/webfinger" { answer = webFinger }
            if request.path == "/api/v2/instance" {
                answer = instance(request).map { .json($0) } ?? .notFound
            }
            if request.path == "/api/v1/timelines/home" {
                answer = .json(
                    Wire.list([
                        Wire.status(
                            "9",
                            [
                                "mentions": #"[{"id":"1","acct":"bot"}]"#,
                                "content": #""<p>hello @bot</p>""#,
                            ])
                    ]))
            }
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
    }

    /// A server takes the host by which it was reached for its own; a proxy's is not.
    @Test func localNamesKeepTheirHost() async throws {
        for instance in [nil, "{}", #"{"domain":"home.example"}"#, "proxy", "proxy address"] {
            let proxy = try proxy { request in
                let host = request.header("Host") ?? ""
                return switch instance {
                case "proxy": #"{"domain":"\#(host)"}"#
                case "proxy address": #"{"uri":"http://\#(host)/"}"#
                default: instance
                }
            }
            let network = try network(at: proxy)
            try await expect(network.verifyAccount().id.value, equals: "bot@home.example")
            let item = try #require(try await network.page(.home, .newest).items.first)
            #expect(item.author.id.value == "ann@home.example")
            #expect(item.post.mentions.map(\.value) == ["bot@home.example"])
            for request in proxy.requests {
                // What is public is asked in nobody's name.
                let token =
                    request.path == "/.well-known/webfinger" ? nil : "Bearer \(Loopback.token)"
                #expect(request.header("Authorization") == token)
            }
        }
    }

    /// The host of the accounts may still be another one than the server's.
    @Test func theServerMayNameAnotherHostForItsAccounts() async throws {
        let proxy = try proxy(webFinger: .json(#"{"subject":"acct:bot@short.example"}"#)) { _ in
            #"{"domain":"home.example","account_domain":"short.example"}"#
        }
        let account = try await network(at: proxy).verifyAccount()
        #expect(account.id.value == "bot@short.example")
        #expect(account.handle == "bot@short.example")
    }

    @Test func errorsNameTheHostThatWasAsked() async throws {
        let proxy = try LoopbackServer { _, connection in try connection.respond(status: 503) }
        let network = try network(at: proxy)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.verifyAccount()
        }
        #expect(error.host == "127.0.0.1")
    }

    @Test(arguments: [
        ("", nil), ("https://user:planted@h.example", nil), ("h.example", "ftp://h.example"),
        ("h.example", ""),
        ("h.example", "https://user:planted@h.example"),
    ])
    func refusesWhatIsNoAddress(server: String, apiBaseURL: String?) throws {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        let makers: [() throws -> Void] = [
            {
                _ = try MastodonNetwork(
                    server: server, apiBaseURL: apiBaseURL,
                    credentials: MastodonCredentials(accessToken: Secret("t")), sessions: nil,
                    client: client,
                    now: { Loopback.start })
            },
            {
                _ = try MastodonLogin(
                    server: server, apiBaseURL: apiBaseURL, client: client, now: { Loopback.start })
            },
        ]
        for make in makers {
            let error = try #require(throws: NetworkError.self) { try make() }
            #expect(error.code == .configuration)
            #expect(!error.description.contains("planted"))
        }
    }
}
