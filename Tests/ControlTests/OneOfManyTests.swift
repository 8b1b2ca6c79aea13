import Expectations
import Fixtures
import Foundation
import Posts
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Mirroring

/// A mirror is a list of one: whatever is told of it alone is told of it among others, and a broken
/// one harms no other.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct OneOfManyTests {
    private typealias Town = MirrorsStatusTests.Town

    private static let now = BareMirror.now
    private static let build = MetricsReport.Build(version: "1", commit: "1")

    /// A way in which a mirror can be broken.
    struct Breakage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let statements: @Sendable (String) -> [SQL]

        init(_ name: String, _ statements: @escaping @Sendable (String) -> [SQL]) {
            testDescription = name
            self.statements = statements
        }
    }

    /// What only a look at a single mirror's plan and rows, or of one process, tells; none of it
    /// decides a verdict.
    private static let ofOneAlone: Set<Obstacle.Code> = [
        .silentDay, .rowsSetAside, .dictionaryMissing, .countsUnavailable,
    ]

    private static let hourAgo = (now - 3_600).milliseconds

    static let breakages = [
        Breakage("row") {
            ["UPDATE mirrors SET past = NULL, activated_ms = NULL WHERE mirror = \($0)"]
        },
        Breakage("posts") { ["DELETE FROM posts WHERE mirror = \($0)"] },
        Breakage("setting") {
            ["UPDATE settings SET value = 'many' WHERE mirror = \($0) AND name = 'MAX_PER_DAY'"]
        },
        Breakage("login") {
            ["UPDATE credentials SET sealed = 'broken' WHERE mirror = \($0) AND role = 'bot'"]
        },
        Breakage("server") {
            [
                """
                INSERT INTO feeds (mirror, feed, error, error_code, error_ms)
                VALUES (\($0), 'bot-mentions', 'no answer', 'unavailable', \(hourAgo))
                """,
                """
                INSERT INTO refusals (mirror, role, error, since_ms, noted_ms)
                VALUES (\($0), 'start', 'no answer', \(hourAgo), \(now.milliseconds))
                """,
            ]
        },
        Breakage("refused") {
            [
                """
                INSERT INTO refusals (mirror, role, error, code, since_ms, noted_ms)
                VALUES (\($0), 'bot', 'no', 'unauthorized', \(hourAgo), \(now.milliseconds))
                """
            ]
        },
        Breakage("text") {
            [
                "UPDATE posts SET is_reply = TRUE WHERE mirror = \($0)",
                "UPDATE settings SET value = '5' WHERE mirror = \($0) AND name = 'MAX_PER_DAY'",
            ]
        },
        Breakage("unconfirmed") {
            [
                """
                INSERT INTO actions (mirror, id, kind, subject, state, reason, due_ms, expires_ms, pinned, attempts,
                    created_ms, updated_ms)
                VALUES (\($0), 'a1', 'post', '2026-11-20#1', 'failed', 'unconfirmed', \(hourAgo), \(hourAgo), FALSE, 1,
                    \(hourAgo), \(hourAgo))
                """
            ]
        },
        Breakage("pause") { ["UPDATE mirrors SET paused_ms = \(hourAgo) WHERE mirror = \($0)"] },
        Breakage("move") {
            [
                "UPDATE mirrors SET move_id = '1', move_state = 'left', move_place = 'there' WHERE mirror = \($0)"
            ]
        },
        Breakage("worker") { ["UPDATE leases SET updated_ms = \(hourAgo) WHERE mirror = \($0)"] },
    ]

    private func town(
        _ engine: Engine, _ names: [String], _ variables: [String: String] = [:]
    ) async throws -> Town {
        let town = try await Town(engine, variables)
        try await town.add(names)
        for name in names { try await town.hold(name, by: "w-" + name) }
        return town
    }

    /// Every combination of two breakages, and some of many: the facts of one mirror are those that
    /// it has among all, and every report has the verdict that follows from them.
    @Test(arguments: Engine.allCases) func eachIsReadAloneAsAmongAll(_ engine: Engine) async throws
    {
        var random = SeededGenerator(seed: 53)
        var sets: [[Breakage]] = [[]]
        for (index, first) in Self.breakages.enumerated() {
            sets.append([first])
            for second in Self.breakages.dropFirst(index + 1) { sets.append([first, second]) }
        }
        for _ in 0..<12 { sets.append(Self.breakages.filter { _ in Bool.random(using: &random) }) }
        let names = sets.indices.map { "m\($0)" }
        let town = try await town(engine, names)
        for (name, set) in zip(names, sets) {
            for breakage in set {
                for statement in breakage.statements(name) { try await town.execute(statement) }
            }
        }
        let installation = town.mirror.installation
        let records = try await MirrorTable.records(of: names, in: installation.storage)
        let reader = HealthReader(installation)
        let all = try await reader.readings(of: records, now: Self.now)
        let status = try await MirrorsStatus(of: installation, sized(names.count), now: Self.now)
        let lines = Dictionary(uniqueKeysWithValues: status.mirrors.map { ($0.name, $0) })
        let metrics = try await MetricsReport(
            of: installation, .each, build: Self.build, now: Self.now
        )
        .exposition.text
        for (index, name) in names.enumerated() {
            let words = sets[index].map(\.testDescription).joined(separator: ", ")
            let alone = try await reader.readings(of: [records[index]], now: Self.now)
            #expect(alone.map(\.facts) == [all[index].facts], "\(words)")
            let verdict = Health(all[index].facts).verdict
            #expect(
                lines[name]?.state == verdict.state && lines[name]?.code == verdict.code, "\(words)"
            )
            let well = "mirrorbot_well{mirror=\"\(name)\"} \(verdict.isWell ? 1 : 0)\n"
            #expect(metrics.contains(well), "\(words)")
            // A mirror is only opened if its settings can be used.
            guard all[index].facts.settingProblem == nil else { continue }
            let mirror = try await installation.mirror(named: name)
            let opened = try await reader.reading(of: mirror, now: Self.now)
            #expect(opened.facts == all[index].facts, "\(words)")
            let report = try await StatusReporter(mirror: mirror, countsAll: false).report(
                now: Self.now)
            let told = Set(try #require(report.obstacles).map(\.code))
            let known = Set(all[index].facts.obstacles.map(\.code))
            #expect(known.subtracting(told) == [], "\(words)")
            #expect(told.subtracting(known).isSubset(of: Self.ofOneAlone), "\(words)")
            #expect(report.verdict?.state == verdict.state, "\(words)")
            #expect(report.verdict?.code == verdict.code, "\(words)")
            let health = try await mirror.health(now: Self.now)
            #expect(
                health.verdict.state == verdict.state && health.verdict.code == verdict.code,
                "\(words)")
        }
        let ill = all.count { !Health($0.facts).verdict.isWell }
        #expect(status.check.text.hasPrefix("\(ill) of \(names.count) mirrors do not work"))
    }

    private func sized(_ size: Int) -> MirrorsStatus.Query {
        var query = MirrorsStatus.Query()
        query.size = size
        return query
    }

    /// What the surfaces of a process say of four mirrors, and of the process.
    private struct Surfaces: Equatable {
        var lines: [MirrorsStatus.Line] = []
        var list: [MirrorList.Mirror] = []
        var metrics: [String] = []
        var notices: [String] = []
        var beats = 0
    }

    private func surfaces(
        _ town: Town, without broken: String, _ names: [String], _ server: LoopbackServer
    ) async throws -> Surfaces {
        let installation = town.mirror.installation
        var found = Surfaces()
        let status = try await MirrorsStatus(of: installation, now: Self.now)
        #expect(status.total == names.count)
        found.lines = status.mirrors.filter { $0.name != broken }.sorted { $0.name < $1.name }
        found.list = try await MirrorList(in: installation.storage, now: Self.now).mirrors
            .filter { $0.name != broken }
        found.metrics = try await MetricsReport(
            of: installation, .each, build: Self.build, now: Self.now
        )
        .exposition.text
        .split(separator: "\n").map(String.init)
        .filter { line in names.contains { $0 != broken && line.contains("mirror=\"\($0)\"") } }
        let clock = VirtualClock(startingAt: Self.now)
        let notifier = try #require(Notifier(installation, clock: clock))
        defer { notifier.shutdown() }
        let pulses = names.map { name -> (String, WorkerPulse) in
            let pulse = WorkerPulse()
            pulse.holdsMirror = true
            pulse.works(uptime: clock.uptime)
            return (name, pulse)
        }
        await notifier.look(at: Notifier.Watch(Dictionary(uniqueKeysWithValues: pulses)))
        found.beats = server.requests.count { $0.target == "/beat" }
        found.notices = server.requests.filter { $0.method == "POST" }
            .map { String(decoding: $0.body, as: UTF8.self) }
            .filter { line in !line.contains("\"mirror\":\"\(broken)\"") }
        return found
    }

    /// What breaks one mirror of five, in each way, changes nothing that is said of the other four,
    /// nor the sign of life of the process.
    @Test(arguments: breakages) func aBrokenMirrorHarmsItselfAlone(_ breakage: Breakage)
        async throws
    {
        let server = try LoopbackServer { _, connection in try connection.respond(status: 204) }
        let names = ["a", "b", "c", "d", "e"]
        let town = try await town(
            .sqlite, names, ["NOTIFY_URL": server.url, "HEARTBEAT_URL": server.url + "/beat"])
        let before = try await surfaces(town, without: "a", names, server)
        #expect(before.lines.map(\.state) == Array(repeating: .healthy, count: 4))
        #expect(before.beats == 1 && before.notices.isEmpty)
        for statement in breakage.statements("a") { try await town.execute(statement) }
        var after = try await surfaces(town, without: "a", names, server)
        // The second process of the test gave a sign of life too.
        after.beats -= before.beats
        #expect(after == before)
    }
}
