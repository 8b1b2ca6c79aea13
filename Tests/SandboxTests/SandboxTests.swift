import Foundation
import Testing

@testable import Sandbox

@Suite struct SandboxTests {
    private static func start(_ world: SandboxWorld = SandboxFixture.standard) async throws
        -> Sandbox
    {
        try await Sandbox.start(world: world, rateLimits: .unlimited) { SandboxFixture.origin }
    }

    @Test func runsSeveralAtATimeOnPortsOfTheirOwn() async throws {
        let first = try await Self.start()
        let second = try await Self.start()
        #expect(first.port != second.port)
        #expect(first.url == "http://127.0.0.1:\(first.port)")
        #expect(first.humanToken != first.botToken)
        await first.stop()
        await second.stop()
    }

    @Test func closesPortAndIdleConnectionsWhenStopped() async throws {
        let sandbox = try await Self.start()
        let port = sandbox.port
        let request = SandboxFixture.bytes(
            "GET", "/api/v2/instance", port: port, headers: ["User-Agent": "tests/1"], body: nil)
        let idle = try await SandboxFixture.onThread {
            let connection = try LoopbackConnection(port: port)
            try connection.send(request)
            let status = try connection.receive()?.status
            #expect(status == 200)
            return connection
        }
        await sandbox.stop()
        await sandbox.stop()
        try await SandboxFixture.onThread {
            let more = try idle.receive()
            #expect(more == nil)
            #expect(throws: LoopbackConnection.Failure.self) { try LoopbackConnection(port: port) }
        }
    }

    @Test func answersManyRequestsOnOneConnection() async throws {
        let sandbox = try await Self.start()
        let port = sandbox.port
        let request = SandboxFixture.bytes(
            "GET", "/api/v1/accounts/verify_credentials", port: port,
            headers: ["User-Agent": "tests/1", "Authorization": "Bearer \(sandbox.botToken)"],
            body: nil)
        let statuses = try await SandboxFixture.onThread {
            let connection = try LoopbackConnection(port: port)
            return try (0..<500).map { _ in
                try connection.send(request)
                return try connection.receive()?.status
            }
        }
        await sandbox.stop()
        #expect(statuses == Array(repeating: 200, count: 500))
    }

    @Test func endsAConnectionThatSendsNonsense() async throws {
        let sandbox = try await Self.start()
        let port = sandbox.port
        let status = try await SandboxFixture.onThread {
            let connection = try LoopbackConnection(port: port)
            try connection.send(Array("NONSENSE\r\n\r\n".utf8))
            return try connection.receive()?.status
        }
        #expect(status == 400)
        let huge = SandboxFixture.bytes(
            "POST", "/api/v1/statuses", port: port, headers: ["User-Agent": "tests/1"],
            body: String(repeating: "x", count: 3 << 20))
        _ = try await SandboxFixture.onThread {
            let connection = try LoopbackConnection(port: port)
            try? connection.send(huge)
            return try? connection.receive()?.status
        }
        let fixture = SandboxFixture(sandbox: sandbox, clock: TestClock(SandboxFixture.origin))
        _ = try await fixture.publish("still alive")
        await sandbox.stop()
    }
}
