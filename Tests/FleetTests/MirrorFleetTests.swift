import Expectations
import Fixtures
import Foundation
import Logging
import Outbox
import Sandbox
import ServiceLifecycle
import Storage
import Testing
import Transport

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// Processes that work for many mirrors of a town, on a clock that stands still but for what a test
/// lets pass.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct MirrorFleetTests {
    private static let begin = Date(timeIntervalSince1970: 1_795_000_000)

    private let clock = VirtualClock(startingAt: Self.begin)

    /// A town and a database with its mirrors.
    private struct Stage: Sendable {
        let town: Town
        let bare: BareMirror
        let names: [String]
    }

    /// A process that works for mirrors, and what it logged.
    private struct Running: Sendable {
        let log: Recorder<String>
        let installation: Installation
        let group: ServiceGroup
        let task: Task<Void, any Error>

        /// Tells it to end, and waits until it has.
        func end() async throws {
            await group.triggerGracefulShutdown()
            try await task.value
        }

        func waitForStarts(_ number: Int) async throws {
            try await log.wait(forMore: number - 1) { $0.contains(MirrorFixture.started) }
        }

        var started: Set<String> {
            Set(
                log.values.filter { $0.contains(MirrorFixture.started) }.compactMap { line in
                    line.split(separator: " ").first { $0.hasPrefix("mirror=") }.map {
                        String($0.dropFirst(7))
                    }
                })
        }
    }

    private func stage(_ engine: Engine, mirrors: Int) async throws -> Stage {
        let closing = try #require(OpenMirrors.current)
        let town = try await Town.start(
            plan: TownPlan(seed: 1, mirrors: mirrors, hosts: 2, origin: Self.begin, pace: .still),
            now: { [clock] in clock.steadyNow })
        closing.add { await town.stop() }
        let bare = try await BareMirror(
            engine, variables: ["SECRET_KEY": String(repeating: "5a", count: 32)])
        let names = (0..<mirrors).map { "mirror-\($0)" }
        let lines = names.enumerated().map { number, name in
            func login(_ part: TownPart) -> String {
                let token = town.plan.token(of: TownPerson(number, part))
                return
                    #"{"network":"mastodon","server":"\#(town.url(of: number))","access_token":"\#(token)"}"#
            }
            return
                #"{"name":"\#(name)","settings":{"TIME_ZONE":"Asia/Tokyo"},"#
                + #""credentials":{"human":\#(login(.human)),"bot":\#(login(.bot))}}"#
        }
        let register = MirrorRegister(try await bare.open(clock: clock).installation)
        let report = try await register.importMirrors(Data(lines.joined(separator: "\n").utf8))
        #expect(report.added == names)
        return Stage(town: town, bare: bare, names: names)
    }

    /// Starts a process.
    ///
    /// - Parameter holdsClock: Whether the clock stands still while it runs.
    private func start(
        _ stage: Stage, _ selection: MirrorFleet.Selection = .all,
        changing changes: [String: String] = [:],
        holdsClock: Bool = true
    ) async throws -> Running {
        let closing = try #require(OpenMirrors.current)
        let log = Recorder<String>()
        let installation = try await Installation.open(
            try stage.bare.configuration(changes), logsEveryName: true, clock: clock,
            logger: Logger(label: "test") { _ in LogRecorder(lines: log) })
        closing.add { await installation.close() }
        // Who never sleeps keeps the clock where it is.
        if holdsClock { clock.join() }
        let fleet = MirrorFleet(installation, selection, rehearsal: .meeting)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: fleet, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        let task = Task { try await group.run() }
        closing.add {
            await group.triggerGracefulShutdown()
            _ = try? await task.value
        }
        return Running(log: log, installation: installation, group: group, task: task)
    }

    private func owners(_ stage: Stage) async throws -> [String: String] {
        let storage = try await stage.bare.open(clock: clock).storage
        return try await LeaseTable.records(of: stage.names, in: storage).filter {
            !$0.value.isReleased
        }
        .mapValues(\.owner)
    }

    @Test(arguments: Engine.allCases) func worksForEveryMirrorAndGivesAllOfThemBack(
        _ engine: Engine
    ) async throws {
        let stage = try await stage(engine, mirrors: 3)
        let running = try await start(stage)
        try await running.waitForStarts(3)
        #expect(running.started == Set(stage.names))
        let owners = try await owners(stage)
        #expect(Set(owners.keys) == Set(stage.names))
        #expect(Set(owners.values).count == 1)
        try await running.end()
        try await expect(self.owners(stage)) { $0.isEmpty }
        let storage = try await stage.bare.open(clock: clock).storage
        try await expect(WorkerTable(storage: storage).records()) { $0.isEmpty }
        #expect(stage.town.ledger.incidents.isEmpty)
    }

    @Test func worksForTheNamedMirrorsAlone() async throws {
        let stage = try await stage(.sqlite, mirrors: 3)
        let running = try await start(stage, .named(["mirror-2", "mirror-0", "unknown"]))
        try await running.waitForStarts(2)
        try await expect(owners(stage)) { Set($0.keys) == ["mirror-0", "mirror-2"] }
        try await running.end()
        #expect(running.started == ["mirror-0", "mirror-2"])
    }

    /// A setting that cannot be used, noted beside the program, ends one mirror until somebody
    /// mends it.
    @Test func aMirrorThatOnlyAPersonCanHelpLeavesTheOthersAlone() async throws {
        let stage = try await stage(.sqlite, mirrors: 3)
        let mirror = try await stage.bare.open(["MIRROR": "mirror-1"], clock: clock)
        try await mirror.storage.execute(
            """
            INSERT INTO settings (mirror, name, value, updated_ms) VALUES ('mirror-1', 'POLL_SECONDS', 'often', 0)
            """)
        let running = try await start(stage)
        try await running.waitForStarts(2)
        try await running.log.wait { $0.hasPrefix("error This mirror waits for a person") }
        expect(running.log.values) {
            $0.contains {
                $0.contains("waits for a person") && $0.contains("mirror=mirror-1")
                    && $0.contains("often")
            }
        }
        let faults = try await FaultTable(storage: mirror.storage, mirror: "mirror-1").rows().faults
        #expect(faults.map(\.part) == [WorkFault.end])
        _ = try await SettingTable(storage: mirror.storage, mirror: "mirror-1").remove([
            "POLL_SECONDS"
        ])
        try await running.waitForStarts(3)
        #expect(running.started == Set(stage.names))
        try await running.end()
    }

    /// Within the looks of the process, and without a query for each mirror: the clock stands
    /// still.
    @Test func hearsOfNewMirrorsChangesPausesAndRemovals() async throws {
        let stage = try await stage(.sqlite, mirrors: 2)
        let running = try await start(stage, .all)
        try await running.waitForStarts(2)
        let first = try await stage.bare.open(["MIRROR": "mirror-0"], clock: clock)
        #expect(stage.town.figures.kinds["GET accounts/verify_credentials"] == 4)
        try await first.set(["MAX_PER_DAY": "7"], now: clock.now)
        try await running.log.wait {
            $0.contains("starting anew") && $0.contains("mirror=mirror-0")
        }
        try await running.waitForStarts(3)
        // The accounts are those that they were.
        #expect(stage.town.figures.kinds["GET accounts/verify_credentials"] == 4)
        let second = try await stage.bare.open(["MIRROR": "mirror-1"], clock: clock)
        try await second.table.pause(until: nil, reason: nil, now: clock.now)
        try await running.log.wait {
            $0.contains("Mirror given back") && $0.contains("mirror=mirror-1")
        }
        _ = try await second.table.resume(now: clock.now)
        try await running.waitForStarts(4)
        try await running.end()
    }

    /// A worker whose key opens no login takes nothing, and ends with the error of the setting.
    @Test(arguments: Engine.allCases) func aWorkerWithAnotherKeyTakesNothing(_ engine: Engine)
        async throws
    {
        let stage = try await stage(engine, mirrors: 2)
        let wrong = try await start(
            stage, changing: ["SECRET_KEY": String(repeating: "6b", count: 32)])
        let error = await #expect(throws: ConfigurationError.self) { try await wrong.task.value }
        #expect(error?.setting == "SECRET_KEY")
        try await expect(owners(stage)) { $0.isEmpty }
        let right = try await start(stage)
        try await right.waitForStarts(2)
        try await right.end()
    }

    /// A migration by a newer program ends the workers, and leaves their mirrors free for those of
    /// that program.
    @Test(arguments: Engine.allCases) func workersEndWhenANewerProgramMigrates(_ engine: Engine)
        async throws
    {
        let stage = try await stage(engine, mirrors: 2)
        let old = try await start(stage)
        try await old.waitForStarts(2)
        let storage = try await stage.bare.open(clock: clock).storage
        try await storage.transaction { connection in
            try connection.execute(
                "INSERT INTO schema_migrations (id, checksum) VALUES ('9999_later', 'x')")
            try LeaseTable.revokeAll(on: connection)
        }
        let error = await #expect(throws: OutboxError.self) { try await old.task.value }
        #expect(error?.code == .outdated)
        let leases = try await LeaseTable.records(of: stage.names, in: storage)
        expect(leases.values) { $0.allSatisfy(\.isReleased) }
        for mirror in stage.names {
            try await expect(FaultTable(storage: storage, mirror: mirror).rows().faults) {
                $0.isEmpty
            }
        }
        // As the newer program, which knows the step.
        try await storage.execute("DELETE FROM schema_migrations WHERE id = '9999_later'")
        let new = try await start(stage)
        try await new.waitForStarts(2)
        #expect(new.started == Set(stage.names))
        try await new.end()
    }

    @Test(arguments: Engine.allCases) func processesShareTheMirrorsAndTakeOver(_ engine: Engine)
        async throws
    {
        let stage = try await stage(engine, mirrors: 8)
        let first = try await start(stage)
        try await first.waitForStarts(8)
        let second = try await start(stage)
        try await second.waitForStarts(4)
        let owners = try await owners(stage)
        #expect(
            Dictionary(grouping: owners.values) { $0 }.mapValues(\.count).values.sorted() == [4, 4])
        try await first.end()
        try await second.waitForStarts(8)
        try await expect(self.owners(stage)) {
            Set($0.keys) == Set(stage.names) && Set($0.values).count == 1
        }
        try await second.end()
        #expect(stage.town.ledger.incidents.isEmpty)
    }

    // MARK: Being able

    /// Lets the time between two looks of a worker pass, and then every worker look once at least.
    private func look(_ stage: Stage) async throws {
        try await clock.sleep(until: clock.now + LeaseTiming().sharing.interval.timeInterval)
        let storage = try await stage.bare.open(clock: clock).storage
        let table = WorkerTable(storage: storage)
        let before = try await table.records()
        // The look after the first of these beats began after the time had passed.
        while true {
            let records = try await table.records()
            let isDone = before.allSatisfy { old in
                records.first { $0.worker == old.worker }.map { $0.beat >= old.beat + 2 } ?? true
            }
            if isDone { return }
        }
    }

    /// A worker that reaches no server starves no mirror while another one reaches them, and blames
    /// none.
    @Test(arguments: Engine.allCases) func theMirrorsOfAWorkerThatIsCutOffGoToTheOther(
        _ engine: Engine
    ) async throws {
        let poll = 60.0
        let stage = try await stage(engine, mirrors: 6)
        clock.join()
        let changes = ["POLL_SECONDS": "\(Int(poll))"]
        let able = try await start(stage, changing: changes, holdsClock: false)
        try await able.waitForStarts(6)
        let name = try #require(try await owners(stage).values.first)
        let cut = try await start(stage, changing: changes, holdsClock: false)
        try await cut.waitForStarts(3)
        for _ in 0..<20 { try await look(stage) }
        try await expect(owners(stage)) { Set($0.values).count == 2 }
        stage.town.resetFigures()
        for _ in 0..<20 { try await look(stage) }
        let healthy = try await MirrorsStatus(of: able.installation, now: clock.now)
        #expect(healthy.unableWorkers == [])
        let begin = clock.now
        // From now on every request of this process fails.
        cut.installation.client.shutdown()
        while Set(try await owners(stage).values) != [name], clock.now < begin + 300 {
            try await look(stage)
        }
        #expect(clock.now <= begin + poll + 40)
        for _ in 0..<60 { try await look(stage) }
        try await expect(owners(stage)) { Set($0.values) == [name] && $0.count == 6 }
        // Each mirror was looked at, and none waited longer.
        let figures = stage.town.figures
        #expect(figures.polled == 6)
        #expect(figures.longestPollGap <= poll + 40)
        let status = try await MirrorsStatus(of: able.installation, now: clock.now)
        #expect(status.mirrors.map(\.code) == healthy.mirrors.map(\.code))
        #expect(status.mirrors.map(\.text) == healthy.mirrors.map(\.text))
        let unable = try #require(status.unableWorkers?.first)
        #expect(status.unableWorkers?.count == 1)
        #expect(unable.worker != name && unable.isIdle && unable.mirrors == 0)
        #expect(unable.reason.hasPrefix("none of its requests is answered: "))
        expect(cut.log.values) { lines in
            lines.count { $0.hasPrefix("error This worker cannot do its share") } == 1
        }
        expect(able.log.values) { lines in !lines.contains { $0.contains("cannot do its share") } }
        #expect(stage.town.ledger.incidents.isEmpty)
        // Alone it takes them again, able or not.
        try await able.end()
        while try await owners(stage).count < 6 { try await look(stage) }
        try await cut.end()
    }
}
