import Expectations
import Fixtures
import Foundation
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings
@testable import Storage

/// What a person is told of many mirrors, by the process that holds them.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct FleetNotifierTests {
    private static let key = String(repeating: "5a", count: 32)

    private let clock = VirtualClock(startingAt: BareMirror.now)

    private func pass(_ seconds: TimeInterval) async throws {
        try await clock.sleep(until: clock.now + seconds)
    }

    private static func server() throws -> LoopbackServer {
        try LoopbackServer { _, connection in try connection.respond(status: 204) }
    }

    private func notices(of server: LoopbackServer) throws -> [Notice] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try server.requests.filter { $0.method == "POST" }
            .map { try decoder.decode(Notice.self, from: Data($0.body)) }
    }

    private func beats(of server: LoopbackServer) -> Int {
        server.requests.count { $0.target == "/beat" }
    }

    /// Mirrors that have worked before, with accounts that the environment names for each.
    private func mirrors(
        _ names: [String], _ server: LoopbackServer, on engine: Engine = .sqlite,
        _ variables: [String: String] = [:]
    ) async throws -> [HumanMirror] {
        var all = BareMirror.accounts.merging(variables) { $1 }
        all.merge(["NOTIFY_URL": server.url, "HEARTBEAT_URL": server.url + "/beat"]) { $1 }
        all.merge([
            "TRUST_ARCHIVE": "yes", "HUMAN_CONSENT": "agreed", "FAVORITE_MODE": "off",
            "SECRET_KEY": Self.key,
        ]) { $1 }
        let bare = try await BareMirror(engine, variables: all)
        var mirrors: [HumanMirror] = []
        for name in names {
            let mirror = try await bare.open(["MIRROR": name], clock: clock)
            try await mirror.beginWorking()
            mirrors.append(mirror)
        }
        // A mirror has the accounts of its own process only; here it has stored ones.
        for name in names {
            let network =
                #"{"network":"mastodon","server":"https://bots.example","access_token":"planted-\#(name)"}"#
            let line =
                #"{"name":"\#(name)","settings":{"TIME_ZONE":"Asia/Tokyo"},"credentials":{"bot":\#(network)}}"#
            _ = try await MirrorRegister(mirrors[0].installation).importMirrors(Data(line.utf8))
        }
        return mirrors
    }

    private func working(_ names: [String]) -> Notifier.Watch {
        Notifier.Watch(
            Dictionary(
                uniqueKeysWithValues: names.map { name in
                    let pulse = WorkerPulse()
                    pulse.holdsMirror = true
                    pulse.works(uptime: clock.uptime)
                    return (name, pulse)
                }))
    }

    @Test(arguments: Engine.allCases) func tellsOfItsOwnMirrorsOnceAndWhenItIsOver(_ engine: Engine)
        async throws
    {
        let server = try Self.server()
        let mirrors = try await mirrors(["a", "b", "c"], server, on: engine)
        let installation = mirrors[0].installation
        for mirror in [mirrors[0], mirrors[2]] {
            await FaultLog(of: mirror, pulse: nil).fails(
                WorkFault.end, ConfigurationError("POLL_SECONDS", "is bad"))
        }
        let watch = working(["a", "b"])
        await FaultLog(of: "a", in: installation, clock: clock, pulse: watch.pulses["a"])
            .fails(WorkFault.end, ConfigurationError("POLL_SECONDS", "is bad"))
        let notifier = try #require(Notifier(installation, clock: clock))
        defer { notifier.shutdown() }
        for _ in 0..<3 { await notifier.look(at: watch) }
        let first = try notices(of: server)
        #expect(first.filter { $0.cause == .stopped }.map(\.mirror) == ["a"])
        #expect(!first.contains { $0.mirror == "c" })
        #expect(beats(of: server) == 1)

        await FaultLog(of: "a", in: installation, clock: clock, pulse: nil).works(WorkFault.end)
        // Another process, as after a restart, knows of it from the table.
        let next = try #require(Notifier(installation, clock: clock))
        defer { next.shutdown() }
        for _ in 0..<2 { await next.look(at: working(["a", "b"])) }
        let resolved = try notices(of: server).filter {
            $0.cause == .stopped && $0.state == .resolved
        }
        #expect(resolved.map(\.mirror) == ["a"])
    }

    /// The dead man's switch hears of a process that can work for one of its mirrors, and of no
    /// other.
    @Test func theHeartbeatStopsWhenNoMirrorWorks() async throws {
        let server = try Self.server()
        let mirrors = try await mirrors(["a", "b"], server)
        let notifier = try #require(Notifier(mirrors[0].installation, clock: clock))
        defer { notifier.shutdown() }
        // They are held, and nothing was done for them: the server refuses connections from the
        // start.
        var watch = working(["a", "b"])
        for name in ["a", "b"] {
            watch.pulses[name] = WorkerPulse()
            watch.pulses[name]?.holdsMirror = true
        }
        await notifier.look(at: watch)
        #expect(beats(of: server) == 0)
        watch.pulses["b"]?.works(uptime: clock.uptime)
        await notifier.look(at: watch)
        #expect(beats(of: server) == 1)
        try await pass(300)
        watch.isOnTime = false
        await notifier.look(at: watch)
        #expect(beats(of: server) == 1, "its passes are late")
        watch.isOnTime = true
        await notifier.look(at: watch)
        #expect(beats(of: server) == 2)
        try await pass(601)
        await notifier.look(at: watch)
        #expect(beats(of: server) == 2, "for ten minutes nothing was done")
        // A process whose mirrors all pause does what there is to do.
        var idle = Notifier.Watch([:])
        await notifier.look(at: idle)
        #expect(beats(of: server) == 2)
        idle.mayBeIdle = true
        await notifier.look(at: idle)
        #expect(beats(of: server) == 3)
    }

    /// One mirror with a setting that cannot be used, first by name, is told of, and so is every
    /// other.
    @Test func aBrokenMirrorSilencesNoOther() async throws {
        let server = try Self.server()
        let mirrors = try await mirrors(["a", "b"], server)
        try await mirrors[0].storage.execute(
            "INSERT INTO settings (mirror, name, value, updated_ms) VALUES ('a', 'POLL_SECONDS', 'often', 0)"
        )
        try await mirrors[1].storage.execute(
            """
            INSERT INTO refusals (mirror, role, error, code, since_ms, noted_ms)
            VALUES ('b', 'bot', 'no', 'unauthorized', \((clock.now - 1_000).milliseconds), \(clock.now.milliseconds))
            """)
        let notifier = try #require(Notifier(mirrors[0].installation, clock: clock))
        defer { notifier.shutdown() }
        await notifier.look(at: working(["a", "b"]))
        let told = try notices(of: server)
        #expect(told.map(\.mirror) == ["a", "b"])
        #expect(told.map(\.cause) == [.stopped, .refused])
        #expect(beats(of: server) == 0)
    }

    /// What only the process knows counts: a part that fails at once, and a login that was just
    /// refused.
    @Test func whatOnlyTheProcessKnowsIsTold() async throws {
        let server = try Self.server()
        let mirrors = try await mirrors(["a", "b"], server)
        let installation = mirrors[0].installation
        let watch = working(["a", "b"])
        let faults = FaultLog(of: "b", in: installation, clock: clock, pulse: watch.pulses["b"])
        await faults.fails(
            WorkFault.publisher, StorageError(.full, "insert a row", because: "the disk is full"))
        let notifier = try #require(Notifier(installation, clock: clock))
        defer { notifier.shutdown() }
        await notifier.look(at: watch)
        try await pass(400)
        await notifier.look(at: watch)
        let told = try notices(of: server)
        #expect(told.map(\.mirror) == ["b"])
        #expect(told.map(\.cause) == [.database])
    }

    /// A database that is away is told of once for all mirrors of the process, and ends the signs
    /// of life.
    @Test func aDatabaseThatIsAwayIsToldOfOnce() async throws {
        let postgres = try await PostgresServer.start()
        let url = try await postgres.makeDatabase()
        try await Storage.open(.postgres(url: url)).closing {
            _ = try await Migrations.apply(to: $0)
        }
        let server = try Self.server()
        let mirrors = try await mirrors(["a", "b"], server, ["DATABASE_URL": url])
        let notifier = try #require(Notifier(mirrors[0].installation, clock: clock))
        defer { notifier.shutdown() }
        await notifier.look(at: working(["a", "b"]))
        #expect(beats(of: server) == 1)
        await postgres.stop()
        await notifier.look(at: working(["a", "b"]))
        try await pass(400)
        for _ in 0..<2 { await notifier.look(at: working(["a", "b"])) }
        let told = try notices(of: server)
        #expect(told.map(\.mirror) == ["a"])
        #expect(told.map(\.cause) == [.database])
        #expect(beats(of: server) == 1)
    }
}
