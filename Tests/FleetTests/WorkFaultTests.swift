import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What a mirror says of itself while its worker cannot do its work, and that it says nothing
/// before and afterwards.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct WorkFaultTests {
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
    }

    /// Whoever looks at a mirror: the notifier of its worker, and other processes.
    private struct Witness: Sendable {
        let fixture: MirrorFixture
        let pulse: WorkerPulse
        let notifier: Notifier
        let server: LoopbackServer
        /// As another process opened it.
        let other: HumanMirror

        /// The causes and states of what was told, in their order.
        var told: [String] {
            get throws {
                try server.requests.filter { $0.target == "/notice" }.map { request in
                    let notice = try Self.decoder.decode(Notice.self, from: Data(request.body))
                    return "\(notice.cause?.rawValue ?? "-") \(notice.state.rawValue)"
                }
            }
        }

        var lastText: String {
            get throws {
                let body = server.requests.last { $0.target == "/notice" }?.body ?? []
                return try Self.decoder.decode(Notice.self, from: Data(body)).text
            }
        }

        var beats: Int { server.requests.count { $0.target == "/beat" } }

        private static let decoder: JSONDecoder = {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return decoder
        }()

        /// Looks as a minute of the notifier does, and says whether it gave a sign of life.
        ///
        /// The worker's own beats take place in real time, and are those of long ago.
        func look() async throws -> Bool {
            try? await fixture.leases.beatOn(at: fixture.clock.now)
            let before = beats
            await notifier.look(at: Notifier.Watch(fixture.mirror.name, pulse))
            return beats > before
        }

        func verdict() async throws -> StatusReport.Verdict {
            try #require(
                try await StatusReporter(mirror: other).report(now: fixture.clock.now).verdict)
        }

        /// What `status --check` ends with; nil for 0.
        func failure() async throws -> Obstacle? {
            let health = try await other.health(now: fixture.clock.now, silence: .infinity)
            return health.failure == nil ? nil : health.leading
        }

        func doctor(_ subject: String) async -> Finding? {
            await Doctor(mirror: other).findings(now: fixture.clock.now).first {
                $0.subject == subject
            }
        }

        func expectHealth(_ location: SourceLocation = #_sourceLocation) async throws {
            #expect(try await look(), "no sign of life", sourceLocation: location)
            let verdict = try await verdict()
            #expect(verdict.state == .healthy, "\(verdict.text)", sourceLocation: location)
            try await expect(failure(), equals: nil, sourceLocation: location)
            for subject in ["worker", "database", "redis"] {
                await expect(
                    doctor(subject)?.verdict, equals: .ok, "\(subject)", sourceLocation: location)
            }
        }
    }

    private func witness(
        _ engine: Engine = .sqlite, from hour: Double, isAnotherProcess: Bool = true,
        variables: [String: String] = [:]
    ) async throws -> Witness {
        let all = ["NOTIFY_URL": server.url + "/notice", "HEARTBEAT_URL": server.url + "/beat"]
        let fixture = try await MirrorFixture.start(
            engine, from: hour, variables: all.merging(variables) { $1 })
        let notifier = try #require(Notifier(fixture.mirror.installation, clock: fixture.clock))
        OpenMirrors.current?.add { notifier.shutdown() }
        return Witness(
            fixture: fixture, pulse: WorkerPulse(), notifier: notifier, server: server,
            other: isAnotherProcess ? try await fixture.reopened() : fixture.mirror)
    }

    @Test func aWorkerThatCannotBeginIsToldOf() async throws {
        let witness = try await witness(from: 9)
        let faults = witness.fixture.sandbox.faults
        faults.failNext(.html(status: 503), count: .max)
        try await witness.fixture.live(
            until: 11, after: "Start failed", pulse: witness.pulse,
            events: [
                (
                    9.08,
                    {
                        _ = try await witness.look()
                        try await expect(witness.failure(), equals: nil, "it may pass by itself")
                        try await expect(witness.verdict().state, equals: .healthy)
                    }
                ),
                (
                    9.5,
                    {
                        #expect(try await !witness.look())
                        let verdict = try await witness.verdict()
                        #expect(verdict.state == .failing)
                        #expect(
                            verdict.text.hasPrefix("not sending: the worker cannot begin since "))
                        #expect(verdict.text.contains("503"))
                        let found = try #require(try await witness.failure())
                        #expect(found.code == .startFails)
                        #expect(found.mender == .unavailable)
                        await expect(witness.doctor("worker")?.verdict, equals: .fail)
                        try expect(witness.told, equals: ["failing began"])
                        try expect(witness.lastText) { $0.contains("the worker cannot begin") }
                        faults.clearPlanned()
                    }
                ),
                (10.5, { try await witness.expectHealth() }),
            ])
        try expect(witness.told, equals: ["failing began", "failing resolved"])
    }

    @Test(arguments: Engine.allCases) func aPublisherThatFailsEachTimeIsToldOf(_ engine: Engine)
        async throws
    {
        let witness = try await witness(engine, from: 6.5)
        let fixture = witness.fixture
        let storage = witness.fixture.mirror.storage
        let due = try await fixture.firstSlot().due.timeIntervalSince(Sample.hour(0)) / 3_600
        let traps: [SQL] =
            engine == .sqlite
            ? ["CREATE TRIGGER trap BEFORE UPDATE ON actions BEGIN SELECT RAISE(ABORT, 'no'); END"]
            : [
                "CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'",
                "CREATE TRIGGER trap BEFORE UPDATE ON actions FOR EACH STATEMENT EXECUTE FUNCTION trap()",
            ]
        try await fixture.live(
            until: due + 2, pulse: witness.pulse,
            events: [
                (
                    due - 0.01,
                    {
                        _ = try await witness.look()
                        for trap in traps { try await storage.execute(trap) }
                    }
                ),
                (
                    due + 0.7,
                    {
                        #expect(try await !witness.look())
                        let verdict = try await witness.verdict()
                        #expect(verdict.state == .failing)
                        #expect(
                            verdict.text.hasPrefix("not sending: publisher fails each time since "))
                        try await expect(witness.failure()?.mender, equals: .unavailable)
                        await expect(witness.doctor("worker")?.text) {
                            $0?.hasPrefix("publisher fails") == true
                        }
                        try expect(witness.told, equals: ["failing began"])
                        try await storage.execute(
                            "DROP TRIGGER trap\(unsafe: engine == .sqlite ? "" : " ON actions")")
                    }
                ),
                (due + 1.5, { try await witness.expectHealth() }),
            ])
        try expect(witness.told, equals: ["failing began", "failing resolved"])
    }

    @Test(arguments: Engine.allCases) func aDatabaseThatTakesNothingIsToldOf(_ engine: Engine)
        async throws
    {
        // The limit of an embedded one is its connection's own.
        let witness = try await witness(engine, from: 8, isAnotherProcess: engine == .postgres)
        let fixture = witness.fixture
        let url = fixture.databaseURL ?? ""
        @Sendable func setReadOnly(_ value: String?) async throws {
            let name = try #require(URLComponents(string: url)?.path.dropFirst())
            let postgres = try await PostgresServer.shared()
            try await postgres.set("default_transaction_read_only", to: value, in: String(name))
            try await postgres.terminateConnections(to: String(name))
        }
        let word = engine == .sqlite ? "make room" : "read-only"
        try await fixture.live(
            until: 14, pulse: witness.pulse,
            events: [
                (12.8, { try await witness.expectHealth() }),
                (
                    12.9,
                    {
                        if engine == .sqlite {
                            try await fixture.fillDisk()
                        } else {
                            try await setReadOnly("on")
                        }
                    }
                ),
                (12.95, { _ = try await witness.look() }),
                // What takes no changes is known once the worker has tried one in vain.
                (13.2, { _ = try await witness.look() }),
                (
                    13.45,
                    {
                        #expect(try await !witness.look())
                        let verdict = try await witness.verdict()
                        #expect(verdict.state == .failing, "\(verdict.text)")
                        #expect(verdict.text.contains(word), "\(verdict.text)")
                        let found = try #require(try await witness.failure())
                        #expect(found.code.subject == "database")
                        #expect(found.cause.contains(word))
                        await expect(witness.doctor("database")?.verdict, equals: .fail)
                        try expect(witness.told, equals: ["database began"])
                        if engine == .sqlite {
                            try await fixture.makeRoom()
                        } else {
                            try await setReadOnly(nil)
                        }
                    }
                ),
                (13.9, { try await witness.expectHealth() }),
            ])
        try expect(witness.told, equals: ["database began", "database resolved"])
    }

    @Test func aDiskWithoutRoomIsSeenByWhoeverLooks() throws {
        let folder = try TemporaryDirectory()
        #expect(StorageLocation.sqlite(path: folder.path).lackOfRoom == nil)
        #expect(StorageLocation.sqlite(path: folder.path("nowhere")).lackOfRoom == nil)
        expect(StorageLocation.sqlite(path: "/proc/self/status").lackOfRoom) {
            $0?.hasSuffix("make room") == true
        }
    }

    @Test(arguments: RedisOutageTests.Trouble.allCases)
    func aRedisThatCannotCountIsToldOf(_ trouble: RedisOutageTests.Trouble) async throws {
        let redis = try await RedisServer.start(arguments: ["--maxmemory-policy", "noeviction"])
        let witness = try await witness(
            from: 8, variables: ["REDIS_URL": redis.url, "FAVORITES_PER_DAY": "1000"])
        try await witness.fixture.live(
            until: 15, pulse: witness.pulse,
            events: [
                (9.9, { try await witness.expectHealth() }),
                (10, { try await trouble.begin(at: redis) }),
                (
                    12.9,
                    {
                        #expect(try await witness.look(), "all but favorites goes on")
                        let verdict = try await witness.verdict()
                        #expect(verdict.state == .hindered, "\(verdict.text)")
                        #expect(verdict.text.contains(trouble.reason), "\(verdict.text)")
                        try await expect(witness.failure(), equals: nil)
                        await expect(witness.doctor("worker")?.verdict, equals: .warn)
                        let found = try #require(await witness.doctor("redis"))
                        #expect(found.verdict == .fail, "\(found)")
                        #expect(found.text.contains(trouble.reason), "\(found)")
                        try expect(witness.told, equals: ["failing began"])
                        try expect(witness.lastText) { $0.contains("bot-home fails each time") }
                    }
                ),
                (13, { try await trouble.end(at: redis) }),
                (14.5, { try await witness.expectHealth() }),
            ])
        try expect(witness.told, equals: ["failing began", "failing resolved"])
        // Nothing stays of what the doctor tried.
        let keys = try await redis.run("KEYS", "mirror-bot:*rebuild*")
        #expect(keys.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty, "\(keys)")
        await redis.stop()
    }

    @Test func aPassingErrorIsToldNowhere() async throws {
        let witness = try await witness(from: 9)
        let fixture = witness.fixture
        try await fixture.live(
            until: 12, pulse: witness.pulse,
            events: [
                (9.9, { try await witness.expectHealth() }),
                (
                    10,
                    { fixture.sandbox.faults.failNext(.html(status: 503), count: 6, method: "GET") }
                ),
                (10.3, { try await witness.expectHealth() }),
                (11.3, { try await witness.expectHealth() }),
            ])
        expect(fixture.log.values) { $0.contains { $0.contains("Pass failed") } }
        try expect(witness.told) { $0.isEmpty }
        try await expect(fixture.mirror.storage.lenient.query("SELECT role FROM refusals")) {
            $0.isEmpty
        }
    }

    // MARK: One pass at a time

    /// One pass as cron makes it; true if it did not fail.
    private func passOnce(_ fixture: MirrorFixture, on mirror: HumanMirror? = nil) async throws
        -> Bool
    {
        let name = fixture.mirror.name
        let pulse = WorkerPulse()
        let herald = try #require(
            Herald((mirror ?? fixture.mirror).installation, clock: fixture.clock))
        // The clock stands still: one is the herald, and the other never sleeps.
        for _ in 0..<2 { fixture.clock.join() }
        defer { for _ in 0..<2 { fixture.clock.leave() } }
        do {
            try await herald.accompany({ Notifier.Watch(name, pulse) }, endsFor: name) {
                let isDone = try await fixture.worker(on: mirror, pulse: pulse).runOnce()
                #expect(isDone)
            }
            return true
        } catch is NetworkError {
            return false
        }
    }

    @Test(arguments: [true, false])
    func onePassThatFailsIsNoEndOfTheWorker(isStart: Bool) async throws {
        let witness = try await witness(from: 9)
        let fixture = witness.fixture
        let faults = witness.fixture.sandbox.faults
        #expect(try await passOnce(fixture))
        #expect(witness.beats == 1)
        // What a start asks for, or what passes ask for after it.
        let path = isStart ? "/api/v1/accounts/verify_credentials" : "/api/v1/notifications"
        faults.failNext(.html(status: 503), count: 1, method: "GET", path: path)
        try await fixture.wait(until: Sample.hour(9.1))
        #expect(try await !passOnce(fixture))
        try expect(witness.told) { $0.isEmpty }
        try await fixture.wait(until: Sample.hour(9.2))
        #expect(try await passOnce(fixture))
        try expect(witness.told) { $0.isEmpty }

        faults.failNext(.html(status: 503), count: .max, method: "GET", path: path)
        for minute in stride(from: 0, to: 95, by: 5) {
            try await fixture.wait(until: Sample.hour(9.3) + Double(minute) * 60)
            #expect(try await !passOnce(fixture))
        }
        let cause = isStart ? "failing" : "unreachable"
        try expect(witness.told, equals: ["\(cause) began"])
        faults.clearPlanned()
        try await fixture.wait(until: Sample.hour(11))
        #expect(try await passOnce(fixture))
        try expect(witness.told, equals: ["\(cause) began", "\(cause) resolved"])
    }

    @Test func aHumanWhoseServerIsAwayStopsNoHeart() async throws {
        let witness = try await witness(from: 9)
        let fixture = witness.fixture
        #expect(try await passOnce(fixture))
        let mirror = try await fixture.reopened(changing: [
            "HUMAN_API_BASE_URL": "http://127.0.0.1:1"
        ])
        for hour in [9.5, 10, 11] {
            try await fixture.wait(until: Sample.hour(hour))
            let before = witness.beats
            #expect(try await !passOnce(fixture, on: mirror))
            #expect(witness.beats == before + 1)
        }
    }
}

/// What is kept of a part that fails, and for how long.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct FaultLogTests {
    private struct Failure: Error {}

    private let clock = VirtualClock(startingAt: BareMirror.now)

    private func pass(_ seconds: TimeInterval) async throws {
        try await clock.sleep(until: clock.now + seconds)
    }

    /// The stored faults of parts that have failed for some minutes.
    private func lasting(_ mirror: HumanMirror) async throws -> [WorkFault] {
        try await mirror.refusals.rows().faults.filter(\.isLasting)
    }

    @Test(arguments: Engine.allCases) func whatFailsForTenMinutesLasts(_ engine: Engine)
        async throws
    {
        let mirror = try await BareMirror(engine).open(clock: clock)
        let pulse = WorkerPulse()
        let log = FaultLog(of: mirror, pulse: pulse)
        let begun = clock.now
        for _ in 0..<4 {
            await log.fails("bot-home", Failure())
            #expect(try await lasting(mirror).isEmpty && !pulse.faults.contains(where: \.isLasting))
            try await pass(180)
        }
        await log.fails("bot-home", Failure())
        let found = try #require(try await lasting(mirror).first)
        #expect(found.part == "bot-home")
        #expect(found.since == begun)
        #expect(found.error == "Failure()")
        #expect(pulse.faults.map(\.since) == [begun])
        try await expect(mirror.refusals.rows().refusals, "no account is refused") { $0.isEmpty }
        await log.works("bot-home")
        #expect(
            try await mirror.storage.lenient.query("SELECT role FROM refusals").isEmpty
                && pulse.faults.isEmpty)
    }

    @Test func aNewProcessGoesOnWithWhatFailedAMomentAgo() async throws {
        let mirror = try await BareMirror().open(clock: clock)
        for (pause, isLasting) in [(0.0, false), (600, true), (7_200, false)] {
            try await pass(pause)
            await FaultLog(of: mirror, pulse: nil).fails("publisher", Failure())
            try await expect(lasting(mirror).isEmpty, equals: !isLasting)
        }
        // What is not done any more cannot fail.
        try await pass(700)
        let log = FaultLog(of: mirror, pulse: nil)
        await log.fails("bot-home", Failure())
        await log.forgetAll(except: ["bot-home"])
        try await expect(
            mirror.storage.lenient.query("SELECT role FROM refusals").map { try $0.text("role") },
            equals: ["bot-home"])
    }

    @Test func aSpentDayIsNoNetworkThatIsAway() async throws {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 200) }
        let variables = [
            "NOTIFY_URL": server.url + "/notice", "HEARTBEAT_URL": server.url + "/beat",
        ]
        let mirror = try await BareMirror(variables: BareMirror.accounts.merging(variables) { $1 })
            .open(clock: clock)
        try await mirror.beginWorking()
        let notifier = try #require(Notifier(mirror.installation, clock: clock))
        defer { notifier.shutdown() }
        let pulse = WorkerPulse()
        pulse.holdsMirror = true
        let error = PaperNetwork(.x).error(.overBudget, .readHome)
        for feed in ["bot-home", "seen-home"] {
            try await mirror.storage.execute(
                """
                INSERT INTO feeds (mirror, feed, error, error_code, error_ms)
                VALUES (\(mirror.name), \(feed), \("\(error)"), \(error.code.rawValue), 0)
                """)
        }
        pulse.works(uptime: clock.uptime)
        await notifier.look(at: Notifier.Watch(mirror.name, pulse))
        #expect(server.requests.map(\.target) == ["/beat"])
        // What keeps the bot from hearing does stop it.
        let log = FaultLog(of: mirror, pulse: pulse)
        await log.fails("bot-mentions", Failure())
        try await pass(700)
        await log.fails("bot-mentions", Failure())
        pulse.works(uptime: clock.uptime)
        await notifier.look(at: Notifier.Watch(mirror.name, pulse))
        #expect(server.requests.map(\.target) == ["/beat"])
    }
}

extension LeaseTable {
    /// Beats for whoever holds the lease.
    fileprivate func beatOn(at now: Date) async throws {
        guard let record = try await record(), let lease = record.lease(of: record.owner) else {
            return
        }
        try await beat(lease, now: now.milliseconds)
    }
}
