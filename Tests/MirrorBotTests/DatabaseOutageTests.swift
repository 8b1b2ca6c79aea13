import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import TestSupport
import Testing

/// `mirror-bot run` whose database is a server that comes late or stops answering.
@Suite(.timeLimit(.minutes(30))) struct DatabaseOutageTests {
    /// A mirror that has learned into a server, which `relay` leads to.
    private func stage(
        on sandbox: Sandbox, server: PostgresServer
    ) async throws -> (stage: Stage, relay: Relay) {
        let relay = try Relay(to: server.port)
        let noon = Noon()
        let database = server.url(try await server.makeDatabase(), through: relay)
        let settings = [
            "TIME_ZONE": noon.zone, "QUIET_HOURS": noon.quietHours, "MIN_AGE_DAYS": "0",
            "DATABASE_URL": database,
        ]
        let stage = try Stage(sandbox.botSettings.merging(settings) { $1 })
        try await expect(stage.run("migrate").status, equals: 0)
        try await stage.train(Fixture.lines(days: 30, perDay: 8))
        return (stage, relay)
    }

    @Test func itWaitsForAServerThatStartsLater() async throws {
        let sandbox = try await Sandbox.live()
        let server = try await PostgresServer.start()
        let (stage, relay) = try await stage(on: sandbox, server: server)
        await server.stop()
        // What has an end of its own does not wait.
        let once = try await stage.run("run", "--once")
        #expect(once.status == 69)
        #expect(once.error.contains("error: could not "))

        let program = try stage.start(["run"])
        try await program.waitForError("Database not reached, trying again")
        try await server.restart()
        try await program.waitForError("Worker started")
        program.send(SIGTERM)
        await expect(program.ending().status, equals: 0)
        withExtendedLifetime(relay) {}
        await server.stop()
        await sandbox.stop()
    }

    // MARK: Stopped while it waits

    /// What `run` needs to begin, with a server that is not one.
    private func stage(on server: LoopbackServer) throws -> Stage {
        try Stage([
            "DATABASE_URL": "postgres://mirror@127.0.0.1:\(server.port)/mirror?sslmode=disable"
        ])
    }

    /// That it ends by itself, and not because it takes too long.
    private func expectEnd(of program: RunningProgram, on stage: Stage) async {
        let ending = await program.ending()
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.isEmpty)
        let lines = ending.error.split(separator: "\n")
        #expect(
            lines.count { $0.contains("Stopped before the database was reached") } == 1,
            "\(ending.error)")
        #expect(!ending.error.contains("Stopped before everything was put away"))
        withExtendedLifetime(stage) {}
    }

    @Test(arguments: [SIGTERM, SIGINT]) func aSignalEndsTheWaitForAServerThatIsNotThere(
        signal: Int32
    ) async throws {
        let server = try LoopbackServer(steps: [])
        server.stop()
        let stage = try stage(on: server)
        let program = try stage.start(["run"])
        try await program.waitForError("Database not reached, trying again")
        program.send(signal)
        await expectEnd(of: program, on: stage)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func aSignalEndsTheWaitForAServerThatSaysNothing(
        signal: Int32
    ) async throws {
        let server = try LoopbackServer(steps: [.hang])
        let stage = try stage(on: server)
        let program = try stage.start(["run"])
        while server.connectionCount == 0 {
            try await ContinuousClock().sleep(for: .milliseconds(10))
        }
        program.send(signal)
        await expectEnd(of: program, on: stage)
    }

    /// A mistake is told even to who has stopped waiting for it.
    @Test func whatIsWrongWithTheSettingsIsNoWait() async throws {
        let server = try LoopbackServer(steps: [.hang])
        let stage = try Stage([
            "DATABASE_URL": "postgres://127.0.0.1:\(server.port)/mirror", "TIME_ZONE": "Nowhere",
        ])
        let ending = try await stage.run("run")
        #expect(ending.status == 78)
        #expect(ending.error.hasPrefix("error: TIME_ZONE"))
        #expect(server.connectionCount == 0)
    }

    // MARK: Stopped while it works

    /// Ten seconds long: that is how long putting things away may take.
    @Test func itEndsInTimeWhateverItsDatabaseDoes() async throws {
        let sandbox = try await Sandbox.live()
        let (stage, relay) = try await stage(on: sandbox, server: .shared())
        let program = try stage.start(["run"])
        try await program.waitForError("Worker started")
        relay.behave(.silent)
        let start = ContinuousClock.now
        program.send(SIGTERM)
        let ending = await program.ending()
        #expect(start.duration(to: .now) < .seconds(30))
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.error.contains("Stopped before everything was put away"))
        // Its lease is still there; the next one waits until it is silent for long enough, and
        // works.
        relay.behave(.pass)
        try await expect(stage.status()) { $0.isRunning }
        let next = try stage.start(["run"])
        try await next.waitForError("Worker started")
        next.send(SIGTERM)
        await expect(next.ending().status, equals: 0)
        await expect(sandbox.ledger.summary.duplicateSends, equals: 0)
        await sandbox.stop()
    }
}
