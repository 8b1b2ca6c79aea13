import Control
import Expectations
import Foundation
import Mirroring
import Outbox
import Sandbox
import TestSupport
import Testing

/// `mirror-bot run` against a network on the real clock.
@Suite(.timeLimit(.minutes(30))) struct RunCommandTests {
    private let sandbox: Sandbox
    private let stage: Stage

    init() async throws {
        sandbox = try await Sandbox.live()
        let noon = Noon()
        stage = try Stage(
            sandbox.botSettings.merging([
                "TIME_ZONE": noon.zone, "QUIET_HOURS": noon.quietHours, "MIN_AGE_DAYS": "0",
                "POLL_SECONDS": "10",
            ]) { $1 })
        try await stage.train(Fixture.lines(days: 30, perDay: 8))
        // As if it had run before: the slots before a first start are skipped.
        _ = try await stage.withMirror { mirror in
            try await mirror.storage.agree(to: mirror.name)
            return try await mirror.table.activate(now: Date() - 3_600)
        }
    }

    private func started() async throws -> RunningProgram {
        let program = try stage.start(["run"])
        try await program.waitForError("Worker started")
        return program
    }

    // MARK: Once

    @Test func onceSendsADueSlotAndKnowsItTheNextTime() async throws {
        let first = try await stage.run("run", "--once")
        #expect(first.status == 0, "\(first.error)")
        #expect(first.output.isEmpty)
        let sent = try #require(await sandbox.ledger.deliveries.first)
        #expect(sent.text.hasPrefix("Loaf "))
        #expect(sent.replyTo == nil)
        let report = try await stage.status()
        #expect(report.bot == "mirror@sandbox.example")
        #expect(!report.isRunning)
        #expect(report.slots.filter { $0.state == "done" }.map(\.text) == [sent.text])

        let second = try await stage.run("run", "--once")
        #expect(second.status == 0)
        let ledger = await sandbox.ledger
        #expect(ledger.summary.duplicateSends == 0)
        #expect(ledger.summary.errors == 0)
        try await expect(
            stage.status().slots.count { $0.state == "done" }, equals: ledger.deliveries.count)
        await sandbox.stop()
    }

    /// Also where nothing new came that favorites would ask the counts for.
    @Test func onceWithoutItsRedisSaysSo() async throws {
        let ending = try await stage.run(
            "run", "--once", environment: ["REDIS_URL": "redis://127.0.0.1:1"])
        #expect(ending.status == 69)
        expect(ending.error) { $0.contains("check REDIS_URL and that the server runs") }
        // Posts do not wait for it.
        await expect(sandbox.ledger.deliveries.count, equals: 1)
        await sandbox.stop()
    }

    @Test func aDryRunPrintsAndSendsAndKeepsNothing() async throws {
        let ending = try await stage.run("run", "--dry-run")
        #expect(ending.status == 0, "\(ending.error)")
        let lines = ending.output.split(separator: "\n")
        expect(lines.first) { $0?.hasPrefix("plan of ") == true }
        expect(lines) { $0.contains { $0.hasPrefix("would post: Loaf ") } }
        #expect(lines.last == "dry run: nothing was sent, nothing was kept")
        let ledger = await sandbox.ledger
        #expect(ledger.deliveries.isEmpty)
        #expect(ledger.favorites.isEmpty)
        let report = try await stage.status()
        #expect(report.recent.isEmpty)
        #expect(report.bot == nil)
        try await expect(stage.plan()) { $0.isStored == false }
        await sandbox.stop()
    }

    // MARK: Whether it works

    @Test func aWatchdogIsToldWhetherTheWorkerWorks() async throws {
        let nobody = try await stage.run("status", "--check")
        #expect(nobody.status == 75)
        #expect(nobody.error.hasPrefix("error: mirror default, worker: not s"), "\(nobody.error)")
        #expect(nobody.error.split(separator: "\n").count == 1)
        let program = try await started()
        let works = try await stage.run("status", "--check", "--max-age", "3600")
        #expect(works.status == 0)
        #expect(
            works.output.hasPrefix("mirror default does its work, but no favorites yet: 0 of 20 "))
        program.send(SIGTERM)
        _ = await program.ending()
        let gone = try await stage.run("status", "--check")
        #expect(gone.status == 75)
        #expect(
            gone.error
                == "error: mirror default, worker: not sending: no worker is running; start one with mirror-bot run\n"
        )
        let metrics = try await stage.run("status", "--metrics")
        #expect(metrics.status == 0)
        #expect(metrics.output.contains("mirrorbot_well{mirror=\"default\"} 0\n"))
        #expect(
            metrics.output.contains(
                "mirrorbot_obstacle{mirror=\"default\",code=\"no-worker\",weight=\"stops\"} 1\n"))
        await sandbox.stop()
    }

    @Test(arguments: [
        (["--max-age", "5"], "--max-age needs --check"),
        (["--check", "--json"], "do not go together"),
        (["--check", "--max-age", "0"], "expected seconds from 1 to 86400"),
    ])
    func aWatchdogThatAsksWronglyIsTold(_ words: [String], _ reason: String) async throws {
        let ending = try await stage.run(words: ["status"] + words)
        #expect(ending.status == 64)
        #expect(ending.error.contains(reason))
        await sandbox.stop()
    }

    @Test(arguments: [
        (["BOT_ACCESS_TOKEN": ""], Int32(78), "error: BOT_ACCESS_TOKEN is"),
        (["DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"], 69, "could not open the database"),
    ])
    func aWatchdogLearnsWhoCanMendIt(
        _ settings: [String: String], _ status: Int32, _ reason: String
    ) async throws {
        let ending = try await stage.run("status", "--check", environment: settings)
        #expect(ending.status == status)
        #expect(ending.error.contains(reason), "\(ending.error)")
        #expect(ending.error.split(separator: "\n").count == 1)
        await sandbox.stop()
    }

    // MARK: Until stopped

    @Test(arguments: [
        [SIGTERM], [SIGINT], [SIGHUP], [SIGTERM, SIGTERM], [SIGINT, SIGTERM],
        [SIGHUP, SIGHUP, SIGTERM],
    ])
    func aSignalEndsItInTimeAndFreesTheMirror(_ signals: [Int32]) async throws {
        let program = try await started()
        try await expect(stage.status()) { $0.isRunning }
        for signal in signals { program.send(signal) }
        let ending = await program.ending()
        // What was cut off after its time had not put everything away.
        #expect(!ending.error.contains("Stopped before everything was put away"))
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.isEmpty)
        #expect(ending.error.contains("Worker stopped"))
        let report = try await stage.status()
        #expect(!report.isRunning)
        try await expect(stage.run("run", "--once").status, equals: 0)
        await sandbox.stop()
    }

    @Test func underNohupItOutlivesItsTerminal() async throws {
        let words = ["--ignore-signal=HUP", try Stage.program(), "run"]
        let program = try RunningProgram(
            Launch(
                path: "/usr/bin/env", arguments: words, environment: stage.environment,
                folder: stage.workingFolder))
        try await program.waitForError("Worker started")
        #expect(program.ignores(SIGHUP))
        #expect(!program.ignores(SIGTERM))
        program.send(SIGTERM)
        await expect(program.ending().status, equals: 0)
        await sandbox.stop()
    }

    @Test func oneWorksAndTheOthersWait() async throws {
        let worker = try await started()
        let once = try await stage.run("run", "--once")
        #expect(once.status == 75)
        #expect(once.error.contains("error: could not run: another worker holds mirror default"))
        // The bot belongs to one mirror of the database.
        let other = try await stage.run("run", "--once", "--mirror", "other")
        #expect(other.status == 78)
        #expect(other.error.contains("default"))

        let waiting = try stage.start(["run"])
        try await waiting.waitForError("Another worker holds this mirror, waiting")
        waiting.send(SIGTERM)
        await expect(waiting.ending().status, equals: 0)
        try await expect(stage.status()) { $0.isRunning }
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)
        await sandbox.stop()
    }

    /// systemd hears when it works or waits, that it lives, and that it stops.
    @Test func theServiceManagerHearsHowItIs() async throws {
        let first = try NotificationListener(path: stage.folder.path("1"))
        let second = try NotificationListener(path: stage.folder.path("2"))
        let worker = try stage.start(
            ["run"], environment: ["NOTIFY_SOCKET": first.path, "WATCHDOG_USEC": "4000000"])
        #expect(await first.hears("READY=1"))
        try await expect(stage.status()) { $0.isRunning }
        #expect(await first.hears("WATCHDOG=1"))
        let standby = try stage.start(["run"], environment: ["NOTIFY_SOCKET": second.path])
        // Nobody asked for signs of life.
        await expect(second.next(), equals: "READY=1")
        for (program, listener) in [(standby, second), (worker, first)] {
            program.send(SIGTERM)
            #expect(await listener.hears("STOPPING=1"))
            await expect(program.ending().status, equals: 0)
        }
        await sandbox.stop()
    }

    @Test func aStandbyWithoutSettingsEndsInsteadOfWaiting() async throws {
        let worker = try await started()
        let standby = try stage.start(
            ["run"], environment: ["BOT_SERVER": "", "BOT_ACCESS_TOKEN": ""])
        let ending = await standby.ending()
        #expect(ending.status == 78)
        #expect(ending.error.contains("error: BOT_SERVER and BOT_ACCESS_TOKEN are not set"))
        #expect(!ending.error.contains("waiting"))
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)
        await sandbox.stop()
    }

    /// A silent worker is given half a minute, which is a second here.
    @Test func aWorkerThatWasKilledIsReplaced() async throws {
        #expect(Rehearsal.off.leaseTiming.silenceLimit == .seconds(30))
        let rehearsal = Rehearsal.Settings(
            origin: Date(), started: Date(), factor: 1, leaseSeconds: 1)
        let killed = try stage.start(["run"], environment: rehearsal.variables)
        try await killed.waitForError("Worker started")
        killed.send(SIGKILL)
        await expect(killed.ending().status, equals: 128 + SIGKILL)
        let next = try await stage.run("run", "--once", environment: rehearsal.variables)
        #expect(next.status == 0, "\(next.error)")
        await expect(sandbox.ledger.summary.duplicateSends, equals: 0)
        await sandbox.stop()
    }

    @Test func waitsForAServerThatIsDown() async throws {
        await sandbox.stop()
        let program = try stage.start(["run"])
        try await program.waitForError("Start failed, trying again")
        program.send(SIGTERM)
        await expect(program.ending().status, equals: 0)
        try await expect(stage.status()) { $0.isRunning == false }
    }

    @Test func atATerminalItSaysOnceWhatComesNext() async throws {
        let terminal = try PseudoTerminal()
        let program = try stage.start(
            ["run"], environment: ["COLUMNS": "40", "TERM": "xterm", "NO_COLOR": "1"],
            replacing: [1: terminal.inner])
        try await program.waitForError("Worker started")
        program.send(SIGTERM)
        await expect(program.ending().status, equals: 0)
        let lines = terminal.shown().split(whereSeparator: \.isNewline).map(String.init)
        #expect(lines.first == "Working for mirror default")
        expect(lines.dropFirst().first) {
            $0?.wholeMatch(of: /next   a post .*\(in [0-9]+ (min|h)\)/) != nil
        }
        #expect(
            Array(lines.dropFirst(2)) == [
                "look   in another terminal:", "       mirror-bot status", "       mirror-bot plan",
                "stop   Ctrl-C",
            ])
        await sandbox.stop()
    }

    /// After some minutes of being refused, which pass in seconds here.
    @Test func aTokenThatIsRevokedEndsIt() async throws {
        let hurry = Rehearsal.Settings(origin: Date(), started: Date(), factor: 300)
        let program = try stage.start(["run"], environment: hurry.variables)
        try await program.waitForError("Worker started")
        sandbox.faults.failNext(
            .error(status: 401, message: "The access token was revoked"), count: 1_000)
        let ending = await program.ending()
        #expect(ending.status == 77)
        #expect(ending.error.contains("error: could not "))
        try await expect(stage.status()) { $0.isRunning == false }
        await sandbox.stop()
    }

    @Test func theLogIsOneEventALine() async throws {
        for format in ["json", "logfmt"] {
            let ending = try await stage.run(
                "run", "--once", "--log-format", format, "--log-level", "debug")
            #expect(ending.status == 0)
            let lines = ending.error.split(separator: "\n")
            #expect(!lines.isEmpty)
            for line in lines {
                if format == "json" {
                    let event = try JSONDecoder().decode(
                        [String: String].self, from: Data(line.utf8))
                    #expect(Set(event.keys).isSuperset(of: ["ts", "level", "msg"]))
                } else {
                    #expect(line.wholeMatch(of: /ts=\S+ level=[a-z]+ msg=.*/) != nil, "\(line)")
                }
            }
        }
        try await expect(stage.run("run", "--once", "--log-level", "critical").error) { $0.isEmpty }
        await sandbox.stop()
    }
}
