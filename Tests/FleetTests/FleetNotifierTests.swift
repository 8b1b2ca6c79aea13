import Expectations
import Foundation
import Outbox
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// What a person is told of many mirrors, by the process that holds them.
@Suite(.mirrors, .timeLimit(.minutes(3))) struct FleetNotifierTests {
    private let clock = VirtualClock(startingAt: BareMirror.now)

    private func notices(of server: LoopbackServer) throws -> [Notice] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try server.requests.filter { $0.method == "POST" }
            .map { try decoder.decode(Notice.self, from: Data($0.body)) }
    }

    @Test(arguments: Engine.allCases) func tellsOfItsOwnMirrorsOnceAndWhenItIsOver(_ engine: Engine) async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 204) }
        let bare = try await BareMirror(
            engine,
            variables: BareMirror.accounts.merging(["NOTIFY_URL": server.url, "HEARTBEAT_URL": server.url + "/beat"]) {
                $1
            })
        for name in ["a", "b", "c"] {
            let mirror = try await bare.open(["MIRROR": name], clock: clock)
            try await mirror.beginWorking()
        }
        let a = try await bare.open(["MIRROR": "a"], clock: clock)
        let faults = FaultLog(of: "a", in: a.installation, clock: clock, pulse: nil)
        await faults.fails(WorkFault.end, ConfigurationError("POLL_SECONDS", "is \"often\""))
        let c = try await bare.open(["MIRROR": "c"], clock: clock)
        await FaultLog(of: "c", in: c.installation, clock: clock, pulse: nil)
            .fails(WorkFault.end, ConfigurationError("POLL_SECONDS", "is \"often\""))

        let notifier = try #require(FleetNotifier(a.installation, clock: clock))
        defer { notifier.shutdown() }
        for _ in 0..<3 { await notifier.look(at: ["a", "b"], isLively: true) }
        let first = try notices(of: server)
        #expect(first.filter { $0.cause == .stopped }.map(\.mirror) == ["a"])
        #expect(!first.contains { $0.mirror == "c" })
        #expect(server.requests.count { $0.target == "/beat" } == 1)

        await faults.works(WorkFault.end)
        // Another process, as after a restart, knows of it from the table.
        let next = try #require(FleetNotifier(a.installation, clock: clock))
        defer { next.shutdown() }
        for _ in 0..<2 { await next.look(at: ["a", "b"], isLively: false) }
        let resolved = try notices(of: server).filter { $0.cause == .stopped && $0.state == .resolved }
        #expect(resolved.map(\.mirror) == ["a"])
        #expect(server.requests.count { $0.target == "/beat" } == 1)
    }
}
