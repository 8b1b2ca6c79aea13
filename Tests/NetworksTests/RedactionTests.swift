import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
@testable import Networks

/// The token stays where it is used, whatever fails and however it is printed.
@Suite struct RedactionTests {
    private func shown(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value) \(String(reflecting: value)) \(dumped)"
    }

    @Test func aNetworkDoesNotShowItsToken() throws {
        let network = try Loopback { _ in nil }.network
        #expect(!shown(network).contains(Loopback.token))
        #expect(!shown(network.client).contains(Loopback.token))
        #expect(!shown(FeedWalk(of: network, .home, from: .newest)).contains(Loopback.token))
    }

    @Test(arguments: [200, 302, 400, 401, 403, 404, 422, 429, 500, 503])
    func noFailureShowsIt(status: Int) async throws {
        let echo = Loopback.token
        let headers = [
            ("X-Request-Id", echo), ("Link", "<https://\(echo)/?max_id=1>; rel=\"next\""),
            ("Location", "/?t=\(echo)"),
            ("Retry-After", echo), ("X-RateLimit-Reset", echo),
        ]
        for body in [#"{"error":"Bearer \#(echo)"}"#, "<p>\(echo)</p>", echo, ""] {
            let loopback = try Loopback { _ in .json(body, status: status, headers: headers) }
            for error in try await failures(of: loopback.network) {
                #expect(!shown(error).contains(echo))
            }
        }
    }

    /// A server that repeats what it was sent, to whomever.
    @Test(arguments: [200, 400, 401, 403, 500])
    func noFailureOfASessionShowsAnyOfIt(status: Int) async throws {
        let server = try LoopbackServer { request, connection in
            let echo =
                (request.header("Authorization") ?? "") + " "
                + String(decoding: request.body, as: UTF8.self)
            let words = echo.split { "=& ".contains($0) }.joined(separator: " ")
            try connection.respond(
                status: status, headers: [("X-Request-Id", Loopback.token)],
                body: Array(#"{"error":"\#(words)"}"#.utf8))
        }
        let credentials = MastodonCredentials(
            accessToken: Secret(Loopback.token), refreshToken: Secret("\(Loopback.token)-refresh"),
            clientID: "client",
            clientSecret: Secret("\(Loopback.token)-secret"), expiresAt: .distantPast)
        let network = try MastodonNetwork(
            server: server.url, credentials: credentials, sessions: nil,
            client: HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")),
            now: { Loopback.start })
        #expect(!shown(network).contains(Loopback.token))
        let errors = try await failures(of: network)
        #expect(!errors.isEmpty)
        for error in errors { #expect(!shown(error).contains(Loopback.token)) }
    }

    @Test func noLostConnectionShowsIt() async throws {
        let server = try LoopbackServer(steps: [
            .awaitRequest, .send(Array(Loopback.token.utf8)), .close,
        ])
        let network = try Loopback.network(of: server)
        for error in try await failures(of: network) {
            #expect(!shown(error).contains(Loopback.token))
        }
    }

    /// What every call of `network` throws.
    private func failures(of network: MastodonNetwork) async throws -> [any Error] {
        let draft = Draft(text: "text", visibility: .unlisted, key: "k", createdAt: Loopback.start)
        let calls: [@Sendable () async throws -> Void] = [
            { _ = try await network.verifyAccount() }, { _ = try await network.limits() },
            { _ = try await network.page(.home, .newest) },
            { _ = try await network.publish(draft) },
            { try await network.favorite(Loopback.favorite("9")) },
            { _ = try await network.ownPosts(since: Loopback.start) },
            { _ = try await network.isFavorited("9") }, { _ = try await network.lookUp("9") },
            { try await network.delete("9") }, { try await network.labelAsBot() },
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
