import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import TestSupport
import Testing

/// `mirror-bot notify`, and what `mirror-bot run` tells by itself.
@Suite(.timeLimit(.minutes(30))) struct NotifyCommandTests {
    private static func server(status: Int = 200) throws -> LoopbackServer {
        try LoopbackServer { _, connection in try connection.respond(status: status) }
    }

    private func causes(_ server: LoopbackServer) throws -> [String] {
        try server.requests.map { request in
            let object =
                try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
            return "\(object?["cause"] as? String ?? "-") \(object?["state"] as? String ?? "-")"
        }
    }

    @Test func aTestArrivesOrSaysWhyNot() async throws {
        let server = try Self.server()
        let stage = try Stage(["NOTIFY_URL": server.url + "/planted-hook"])
        let ending = try await stage.run("notify", "--test")
        #expect(ending.status == 0)
        #expect(ending.output == "sent: NOTIFY_URL (127.0.0.1)\n")
        try expect(causes(server), equals: ["- test"])
        // It makes no database, and needs none.
        #expect(!FileManager.default.fileExists(atPath: stage.home))
        let away = try Self.server(status: 403)
        let refused = try await stage.run(
            "notify", "--test", environment: ["NOTIFY_URL": away.url + "/planted-hook"])
        #expect(refused.status == 69)
        #expect(
            refused.error
                == "error: could not send to NOTIFY_URL (127.0.0.1): the server answers with status 403\n"
        )
        let nobody = try await stage.run("notify", "--test", environment: ["NOTIFY_URL": ""])
        #expect(nobody.status == 78)
        #expect(nobody.error.contains("NOTIFY_URL is not set"))
        let config = try await stage.run("config")
        #expect(config.output.contains("<redacted>"))
        #expect(!config.output.contains("planted-hook"))
    }

    @Test(arguments: StoreUnderTest.allCases) func whatEndsARunIsToldOnceUntilItWorks(
        _ store: StoreUnderTest
    )
        async throws
    {
        let sandbox = try await Sandbox.live()
        let server = try Self.server()
        let switched = try Self.server()
        let stage = try await store.stage(
            sandbox.botSettings.merging([
                "TIME_ZONE": "UTC", "NOTIFY_URL": server.url, "HEARTBEAT_URL": switched.url,
            ]) { $1 })
        try await stage.train(Fixture.lines())
        for _ in 0..<2 {
            let ending = try await stage.run(
                "run", "--once", environment: ["BOT_ACCESS_TOKEN": "wrong"])
            #expect(ending.status == 77)
        }
        try expect(causes(server), equals: ["refused began"])
        #expect(switched.requests.isEmpty)
        let shown = try await stage.run("notify")
        #expect(shown.output.hasPrefix("refused "), "\(shown.output)")
        #expect(shown.output.contains(", sent "), "\(shown.output)")

        let mended = try await stage.run("run", "--once")
        #expect(mended.status == 0, "\(mended.error)")
        try expect(causes(server), equals: ["refused began", "refused resolved"])
        #expect(switched.requests.count == 1)
        try await expect(stage.run("notify", "--json").output) {
            $0.contains("mirror-bot/notices/1")
        }
        // A dry run sends nothing to anybody.
        try await expect(stage.run("run", "--dry-run").status, equals: 0)
        #expect(switched.requests.count == 1)
        #expect(server.requests.count == 2)
        await sandbox.stop()
    }

    @Test func aWorkerTellsWhileItWorksAndEndsInTime() async throws {
        let sandbox = try await Sandbox.live()
        let server = try Self.server()
        let switched = try Self.server()
        // A server that hangs holds up neither the worker nor its end.
        let hanging = try LoopbackServer(steps: [.awaitRequest, .hang])
        let stage = try Stage([
            "TIME_ZONE": "UTC", "NOTIFY_URL": server.url, "HEARTBEAT_URL": switched.url,
        ])
        let worker = try await stage.startMirror(on: sandbox)
        try await switched.waitForRequests(1)
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)
        #expect(server.requests.isEmpty, "who is told to end has nothing to tell")

        let second = try stage.start(["run"], environment: ["HEARTBEAT_URL": hanging.url])
        try await second.waitForError("Worker started")
        try await hanging.waitForRequests(1)
        let start = ContinuousClock.now
        second.send(SIGTERM)
        await expect(second.ending().status, equals: 0)
        #expect(start.duration(to: .now) < .seconds(5))
        await sandbox.stop()
    }
}
