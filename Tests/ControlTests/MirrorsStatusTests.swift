import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// The state of all mirrors at once: the same verdicts as of each alone, the worst first, with few
/// statements.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct MirrorsStatusTests {
    private static let now = BareMirror.now

    /// A database with a mirror in every kind of state.
    struct Town {
        let mirror: HumanMirror
        let engine: CountingEngine

        init(_ engine: Engine, _ variables: [String: String] = [:]) async throws {
            let key = ["SECRET_KEY": "planted-key-planted-key-planted-key"]
            let bare = try await BareMirror(engine, variables: key.merging(variables) { $1 })
            let closing = try #require(OpenMirrors.current)
            let opened = Recorder<CountingEngine>()
            let mirror = try await HumanMirror.open(try bare.configuration()) { location in
                let counting = CountingEngine(try await Storage.open(location))
                opened.add(counting)
                return counting
            }
            closing.add {
                await mirror.close()
                withExtendedLifetime(bare) {}
            }
            self.mirror = mirror
            self.engine = try #require(opened.values.first)
        }

        /// Adds mirrors that have all they need but a worker: accounts, a zone and an archive.
        func add(_ names: [String]) async throws {
            let lines = names.map { name in
                #"{"name":"\#(name)","settings":{"TIME_ZONE":"Europe/Berlin","FAVORITE_MODE":"off","MAX_PER_DAY":0,"#
                    + #""TRUST_ARCHIVE":"yes"},"#
                    + #""credentials":{"human":{"network":"bluesky","handle":"\#(name).example"},"bot":{"#
                    + #""network":"mastodon","server":"https://social.example","access_token":"planted-\#(name)"}}}"#
            }
            let report = try await MirrorRegister(mirror.installation).importMirrors(
                Data(lines.joined(separator: "\n").utf8))
            try #require(report.problems.isEmpty)
            let now = MirrorsStatusTests.now.milliseconds
            try await mirror.storage.transaction { connection in
                for name in names {
                    try connection.execute(
                        """
                        UPDATE mirrors SET past = 'whole', activated_ms = \(now), profile_ms = \(now),
                            consent = 'agreed',
                            time_zone = 'Europe/Berlin', human_handle = \(name + "@human.example")
                        WHERE mirror = \(name)
                        """)
                    try connection.execute(
                        """
                        INSERT INTO posts (mirror, network, post_id, text, text_key, created_ms, minute, local_day,
                            is_reply, visibility, has_media, mentions, sensitive, time_trusted)
                        VALUES (\(name), 'mastodon', 'p', 'text', 'text', 1, 1, '2020-01-01', FALSE, 'public', FALSE,
                            '', FALSE, TRUE)
                        """)
                }
            }
        }

        /// Lets a worker hold a mirror, which beat last at some time.
        func hold(_ name: String, by worker: String, at time: Date = MirrorsStatusTests.now)
            async throws
        {
            let table = LeaseTable(storage: mirror.storage, mirror: name)
            let lease = try await table.take(owner: worker, after: nil, now: time.milliseconds)
            try #require(lease != nil)
        }

        func execute(_ sql: SQL) async throws { try await mirror.storage.execute(sql) }

        /// One mirror in each state.
        func addEach() async throws {
            let names = [
                "away", "broke", "deaf", "fine", "late", "paused", "refused", "stopped", "empty",
                "tired", "odd",
                "once",
            ]
            try await add(names)
            let now = MirrorsStatusTests.now.milliseconds
            try await execute(
                "UPDATE mirrors SET move_id = '1', move_state = 'left', move_place = 'there' WHERE mirror = 'away'"
            )
            try await execute("DELETE FROM posts WHERE mirror = 'empty'")
            for name in names where !["late", "stopped", "once"].contains(name) {
                try await hold(name, by: "worker-\(name.suffix(1))")
            }
            try await hold("late", by: "silent", at: MirrorsStatusTests.now - 90)
            let passes = LeaseTable(storage: mirror.storage, mirror: "once")
            for time in [660.0, 60] {
                try await passes.notePass(now: MirrorsStatusTests.now - time)
            }
            try await execute(
                "UPDATE mirrors SET paused_ms = \(now), pause_reason = 'rest' WHERE mirror = 'paused'"
            )
            try await execute(
                """
                INSERT INTO refusals (mirror, role, error, code, since_ms, noted_ms)
                VALUES ('refused', 'bot', 'no', 'unauthorized', \(now - 1), \(now)),
                    ('tired', 'publisher', 'worn out', NULL, \(now - 3_600_000), \(now))
                """)
            try await execute(
                """
                INSERT INTO feeds (mirror, feed, error, error_code, error_ms)
                VALUES ('deaf', 'bot-mentions', 'no answer', 'unavailable', \(now - 3_600_000))
                """)
            try await execute(
                "UPDATE settings SET value = 'many' WHERE mirror = 'odd' AND name = 'MAX_PER_DAY'")
            _ = try await MirrorRegister(mirror.installation).add(MirrorEntry(name: "new"))
        }

        func status(_ query: MirrorsStatus.Query = .init()) async throws -> MirrorsStatus {
            try await MirrorsStatus(of: mirror.installation, query, now: MirrorsStatusTests.now)
        }
    }

    @Test(arguments: Engine.allCases) func eachVerdictIsThatOfTheMirrorAlone(_ engine: Engine)
        async throws
    {
        let town = try await Town(engine)
        try await town.addEach()
        let status = try await town.status()
        #expect(status.total == 13)
        for line in status.mirrors where line.name != "odd" {
            let health = try await town.mirror.other(line.name).health(now: Self.now)
            #expect(line.state == health.verdict.state, "\(line.name)")
            #expect(line.code == health.verdict.code, "\(line.name)")
            #expect(line.text == health.verdict.text, "\(line.name)")
        }
        let states = Dictionary(uniqueKeysWithValues: status.mirrors.map { ($0.name, $0.state) })
        #expect(
            states["fine"] == .healthy && states["once"] == .healthy && states["paused"] == .paused)
        for name in ["away", "deaf", "late", "odd", "refused", "stopped", "tired", "empty"] {
            #expect(states[name] == .failing, "\(name)")
        }
        #expect(states["new"] == .unset)
        let odd = try #require(status.mirrors.first { $0.name == "odd" })
        #expect(odd.text.contains("MAX_PER_DAY") && odd.code == .settingUnusable)
    }

    @Test func theWorstComeFirst() async throws {
        let town = try await Town(.sqlite)
        try await town.addEach()
        let status = try await town.status()
        let order: [Health.Verdict.State] = [.failing, .unset, .hindered, .paused, .healthy]
        let ranks = status.mirrors.compactMap { order.firstIndex(of: $0.state) }
        #expect(ranks == ranks.sorted() && ranks.count == 13)
        #expect(status.mirrors.first?.name == "odd")
        #expect(status.states["failing"] == 8 && status.states["healthy"] == 3)
        #expect(status.check.failure == .configuration)
        #expect(status.check.text.hasPrefix("9 of 13 mirrors do not work: odd, away, "))
    }

    /// A watchdog that looks into the wrong database does not sleep.
    @Test func withoutAMirrorTheCheckFails() async throws {
        let status = try await Town(.sqlite).status()
        #expect(status.check.failure == .configuration)
        #expect(status.check.text.hasPrefix("there is no mirror in the database "))
    }

    @Test func pagesDivideTheListAndASearchFindsSome() async throws {
        let town = try await Town(.sqlite)
        try await town.add((10..<40).map { "m\($0)" })
        for number in 10..<40 { try await town.hold("m\(number)", by: "worker") }
        var query = MirrorsStatus.Query()
        query.size = 7
        var names: [String] = []
        for page in 1...5 {
            query.page = page
            let status = try await town.status(query)
            #expect(status.pages == 5 && status.total == 30)
            names += status.mirrors.map(\.name)
        }
        #expect(names == (10..<40).map { "m\($0)" })
        query.page = 6
        try await expect(town.status(query).mirrors, equals: [])
        let found = try await town.status(.init(words: "M2 Human"))
        #expect(found.mirrors.map(\.name) == (20..<30).map { "m\($0)" })
        #expect(found.check.text == "all 10 mirrors do their work, or pause as they were told")
        let nobody = try await town.status(.init(words: "nobody"))
        #expect(nobody.total == 0 && nobody.check.failure == .configuration)
    }

    /// The number of statements does not grow with the mirrors, but for some of each 500.
    @Test(arguments: Engine.allCases) func aPageTakesFewStatements(_ engine: Engine) async throws {
        let town = try await Town(engine)
        try await town.add(["one"])
        let few = try await town.engine.counting { _ = try await town.status() }.statements
        try await town.add((0..<1_200).map { "m\($0)" })
        let many = try await town.engine.counting { _ = try await town.status() }.statements
        #expect(few <= 14)
        // Two more portions, without what is read once.
        #expect(many <= 3 * few, "\(few), \(many)")
    }

    @Test func tenThousandMirrorsAreListed() async throws {
        let town = try await Town(.sqlite)
        try await town.add((0..<10_000).map { "m\($0)" })
        let begun = ContinuousClock.now
        let status = try await town.status(.init(page: 200))
        // Only to be read in the log: a machine may be busy.
        print("status of 10,000 mirrors: \(ContinuousClock.now - begun)")
        #expect(status.total == 10_000 && status.pages == 200 && status.mirrors.count == 50)
    }

    @Test func ownersAreCounted() async throws {
        let town = try await Town(.sqlite)
        try await town.addEach()
        let all = try await MirrorTable.all(in: town.mirror.storage)
        let ownership = try await MirrorOwnership(of: all, in: town.mirror.storage, now: Self.now)
        // Neither who is late, was released or is looked after by cron, nor anything of a new
        // mirror.
        #expect(ownership.owned.values.reduce(0, +) == 9)
        #expect(ownership.owned["worker-d"] == 4)
        #expect(ownership.unowned == 3)
        let build = MetricsReport.Build(version: "1", commit: "1")
        try await town.execute("DELETE FROM settings WHERE mirror = 'odd'")
        try await town.execute("UPDATE workers SET late_ms = 1500 WHERE worker = 'worker-d'")
        let text = try await MetricsReport(
            of: town.mirror.installation, .together, build: build, now: Self.now
        )
        .exposition.text
        for line in [
            #"mirrorbot_mirrors_owned{worker="worker-d"} 4"#, "mirrorbot_mirrors_unowned 3",
            #"mirrorbot_passes_late_seconds{worker="worker-d"} 1.5"#,
        ] { #expect(text.contains("\n\(line)\n"), "\(line)") }
    }

    /// Names of mirrors that have posts or examples and no row of their own are found without
    /// reading those.
    @Test(arguments: Engine.allCases) func everyNameIsFoundOnce(_ engine: Engine) async throws {
        let town = try await Town(engine)
        try await expect(MirrorTable.names(in: town.mirror.storage), equals: [])
        try await town.add(["b", "d"])
        try await town.execute("DELETE FROM mirrors WHERE mirror = 'b'")
        try await town.execute("DELETE FROM credentials WHERE mirror = 'b'")
        try await town.execute(
            """
            INSERT INTO examples (mirror, network, post_id, text, state, decided_ms, sequence)
            VALUES ('a', 'mastodon', '1', 't', 'seen', 1, 1), ('a', 'mastodon', '2', 't', 'seen', 1, 1),
                ('c', 'mastodon', '1', 't', 'seen', 1, 1)
            """)
        try await expect(MirrorTable.names(in: town.mirror.storage), equals: ["a", "b", "c", "d"])
        try await expect(MirrorTable.names(in: town.mirror.storage, limit: 2), equals: ["a", "b"])
    }

    /// What only a worker lacks is told of it, and of no mirror; what all of them lack is told of
    /// no worker.
    @Test(arguments: Engine.allCases) func unableWorkersAreNamed(_ engine: Engine) async throws {
        let town = try await Town(engine)
        try await town.add(["one"])
        try await town.hold("one", by: "holder")
        func beat(
            _ worker: String, _ extent: WorkerRecord.Disability.Extent?, ago: TimeInterval = 0
        ) async throws {
            let disability = extent.map {
                WorkerRecord.Disability(
                    since: Self.now - 60, extent: $0, reason: "reason of \(worker)")
            }
            let record = WorkerRecord(
                worker: worker, beat: 100, version: "1", isSharing: true, mirrors: 0, lateness: 0,
                updatedMilliseconds: (Self.now - ago).milliseconds, disability: disability)
            try await town.execute(WorkerTable.beat(record))
        }
        try await expect(town.status().unableWorkers, equals: [])
        try await beat("able", nil)
        try await beat("cut", .all)
        try await beat("hindered", .part)
        try await beat("silent", .all, ago: 3_600)
        let status = try await town.status()
        #expect(status.unableWorkers?.map(\.worker) == ["cut", "hindered"])
        #expect(status.unableWorkers?.map(\.isIdle) == [true, false])
        #expect(status.unableWorkers?.map(\.reason) == ["reason of cut", "reason of hindered"])
        #expect(status.mirrors.map(\.state) == [.healthy] && status.check.failure == nil)
        let json = try JSONDecoder().decode(MirrorsStatus.self, from: JSONEncoder().encode(status))
        #expect(json == status)
        try await beat("able", .part)
        try await expect(town.status().unableWorkers?.map(\.worker), equals: ["cut"])
    }
}
