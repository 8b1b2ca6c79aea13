import Foundation
import NetworkNames
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
@testable import Networks

/// When a process counts as cut off from all servers.
@Suite(.timeLimit(.minutes(30))) struct NetworkReachTests {
    private let reach = NetworkReach()

    private func instant(_ uptime: TimeInterval) -> NetworkReach.Instant {
        NetworkReach.Instant(uptime: uptime, date: Loopback.start + uptime)
    }

    private func fail(at uptime: TimeInterval, server: String = "http://127.0.0.1:1") throws {
        let address = try ServerAddress(server, network: .mastodon)
        reach.failed(reach.begins(at: instant(uptime)), "could not connect", server: address)
    }

    private func answer(at uptime: TimeInterval) {
        reach.answered(reach.begins(at: instant(uptime)), at: instant(uptime))
    }

    @Test func someTimeWithoutAnyAnswerIsAFailure() throws {
        for uptime in [10.0, 12, 14] { try fail(at: uptime) }
        #expect(reach.failure(at: 24.9) == nil)
        #expect(
            reach.failure(at: 25)
                == .init(since: Loopback.start + 10, began: 10, error: "could not connect"))
        answer(at: 26)
        #expect(reach.failure(at: 60) == nil)
    }

    @Test func fewRequestsTellNothing() throws {
        for uptime in [10.0, 12] { try fail(at: uptime) }
        #expect(reach.failure(at: 600) == nil)
    }

    /// Requests that began before an answer to another one count from that answer on.
    @Test func aLaterAnswerCounts() throws {
        let early = (0..<3).map { _ in reach.begins(at: instant(1)) }
        answer(at: 20)
        let server = try ServerAddress("social.example", network: .mastodon)
        for request in early { reach.failed(request, "timed out", server: server) }
        #expect(reach.failure(at: 34) == nil)
        #expect(reach.failure(at: 35)?.began == 20)
    }

    /// A connection that swallows everything fails after half a minute only.
    @Test func requestsWithoutAnEndCountToo() {
        answer(at: 0)
        let requests = (0..<3).map { _ in reach.begins(at: instant(10)) }
        #expect(reach.failure(at: 24) == nil)
        #expect(reach.failure(at: 25)?.error == "no answer within 15 s")
        reach.withdrew(requests[0])
        #expect(reach.failure(at: 25) == nil)
    }

    private func network(at server: String) throws -> (MastodonNetwork, NetworkReach) {
        let gates = HostGates()
        let network = try MastodonNetwork(
            server: server, credentials: MastodonCredentials(accessToken: Secret(Loopback.token)),
            sessions: nil,
            client: Self.client, origin: RequestOrigin(gates: gates, uptime: { 10 }),
            now: { Loopback.start })
        return (network, gates.reach)
    }

    private static let client = HTTPClient(
        configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))

    /// Whatever a server says, it is there.
    @Test func everyRequestIsNotedAndEveryAnswerCounts() async throws {
        let port = try LoopbackPort()
        let (unreached, reach) = try network(at: "http://127.0.0.1:\(port.number)")
        for _ in 0..<3 {
            await #expect(throws: NetworkError.self) { try await unreached.verifyAccount() }
        }
        let failure = try #require(reach.failure(at: 25))
        #expect(failure.since == Loopback.start && failure.error.contains("127.0.0.1"))
        let server = try LoopbackServer { _, connection in
            try connection.respond(status: 503, headers: [], body: [])
        }
        let (broken, other) = try network(at: server.url)
        for _ in 0..<3 {
            await #expect(throws: NetworkError.self) { try await broken.verifyAccount() }
        }
        #expect(other.failure(at: 600) == nil)
    }

    @Test func aProbeAsksTheServersThatDidNotAnswer() async throws {
        let server = try LoopbackServer { _, connection in
            try connection.respond(
                status: 404, headers: [], body: Array(repeating: 65, count: 5_000))
        }
        let port = try LoopbackPort()
        let refused = "http://127.0.0.1:\(port.number)"
        for url in [refused, server.url, refused] { try fail(at: 10, server: url) }
        #expect(reach.failure(at: 400) != nil)
        await reach.probe(with: Self.client, uptime: { 400 }, now: { Loopback.start + 400 })
        #expect(server.requests.map(\.target) == ["/"])
        #expect(server.requests.allSatisfy { $0.header("Authorization") == nil })
        #expect(reach.failure(at: 600) == nil)
    }

    @Test func aProbeWithoutAnAnswerChangesNothing() async throws {
        let port = try LoopbackPort()
        for _ in 0..<3 { try fail(at: 10, server: "http://127.0.0.1:\(port.number)") }
        await reach.probe(with: Self.client, uptime: { 400 }, now: { Loopback.start + 400 })
        #expect(reach.failure(at: 401)?.began == 10)
    }
}
