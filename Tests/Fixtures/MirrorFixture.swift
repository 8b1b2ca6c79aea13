import Archive
import Configuration
import Control
package import Fleet
package import Foundation
import Logging
package import Mirroring
import NetworkNames
package import Outbox
package import Posts
package import Sandbox
package import Settings
package import Storage
import TestSupport
import Testing

/// The databases that a mirror can live in.
package enum Engine: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite = "SQLite"
    case postgres = "PostgreSQL"

    package var testDescription: String { rawValue }
}

extension Rehearsal {
    /// Of workers that meet: whoever waits looks often, and takes a lease that is given back, never
    /// one whose holder is silent, as all are on a machine that stands still.
    package static let meeting = Rehearsal(
        leaseTiming: LeaseTiming(silenceLimit: .seconds(36_000), interval: .milliseconds(20)))
}

/// A mirror in a sandbox, on a clock that jumps from one thing that happens to the next.
package struct MirrorFixture: Sendable {
    /// The name that seeds the plans: under this one the first day has slots from morning to night.
    package static let mirror = "moss"
    package static let started = "Worker started"

    package let sandbox: Sandbox
    package let clock: VirtualClock
    package let mirror: HumanMirror
    /// When the servers looked at their clock: at least once for each request.
    package let requests: Recorder<Date>
    /// What the workers logged.
    package let log = Recorder<String>()
    private let folder: TemporaryDirectory
    private let variables: [String: String]
    private let rehearsal: Rehearsal

    /// Opens a mirror in a world of its own, for the test that is running.
    ///
    /// The suite's trait ``MirrorsTrait`` closes it.
    ///
    /// - Parameters:
    ///   - engine: Where the data is.
    ///   - seed: Decides what happens in the world.
    ///   - days: How many days the world lasts.
    ///   - hour: When the test begins, in hours of the first day.
    ///   - isTrained: Whether the mirror knows the human's past.
    ///   - human: Where the human is.
    ///   - bot: Where the bot is.
    ///   - variables: Settings besides those of the accounts and the database; empty ones count as
    ///     not set.
    ///   - rehearsal: How its processes differ from those in earnest.
    ///   - opening: Opens the database of the mirror.
    /// - Returns: The mirror.
    /// - Throws: What went wrong.
    package static func start(
        _ engine: Engine = .sqlite, seed: UInt64 = 1, days: Int = 1, from hour: Double = 0,
        isTrained: Bool = true,
        human: NetworkName = .mastodon, bot: NetworkName = .mastodon,
        variables: [String: String] = [:],
        rehearsal: Rehearsal = .off,
        opening: (StorageLocation) async throws -> any StorageEngine = OpenMirrors.open
    ) async throws -> MirrorFixture {
        let closing = try #require(OpenMirrors.current)
        let clock = VirtualClock(startingAt: Sample.hour(hour))
        let world = await Sample.world(seed: seed, days: days, bot: bot)
        // Somebody may set the mirror's clock; the servers keep their own.
        let requests = Recorder<Date>()
        let sandbox = try await Sandbox.start(world: world, rateLimits: .unlimited) {
            let now = clock.steadyNow
            requests.add(now)
            return now
        }
        closing.add { await sandbox.stop() }
        let fixture = try await MirrorFixture(
            engine, sandbox: sandbox, requests: requests, clock: clock, isTrained: isTrained,
            networks: (human, bot), variables: variables, rehearsal: rehearsal, opening: opening)
        closing.add { [mirror = fixture.mirror] in await mirror.close() }
        return fixture
    }

    private init(
        _ engine: Engine, sandbox: Sandbox, requests: Recorder<Date>, clock: VirtualClock,
        isTrained: Bool,
        networks: (human: NetworkName, bot: NetworkName), variables: [String: String],
        rehearsal: Rehearsal,
        opening: (StorageLocation) async throws -> any StorageEngine
    ) async throws {
        self.rehearsal = rehearsal
        folder = try TemporaryDirectory()
        self.sandbox = sandbox
        self.requests = requests
        self.clock = clock
        var all = [
            "MIRROR": Self.mirror, "MIRROR_BOT_HOME": folder.path,
            "TIME_ZONE": Sample.zone.identifier,
            // Some posts of the past are from nobody whom a server could be asked about.
            "TRUST_ARCHIVE": "yes",
        ]
        all.merge(sandbox.settings(of: .human, on: networks.human)) { $1 }
        all.merge(sandbox.settings(of: .bot, on: networks.bot)) { $1 }
        if networks.human == .x {
            all.merge(sandbox.settings(of: .bot, on: .x).filter { $0.key.hasPrefix("X_") }) { $1 }
        }
        // What is learned into a store that the test names is in no copy.
        let isCopied =
            isTrained
            && (engine == .sqlite
                || variables["DATABASE_URL"] == nil && variables["REDIS_URL"] == nil)
        if let url = variables["DATABASE_URL"] {
            try await Storage.open(.postgres(url: url)).closing {
                _ = try await Migrations.apply(to: $0)
            }
        } else if engine == .postgres {
            let url =
                try await
                (isCopied
                ? TrainedDatabase.onPostgres(networks.human) : MigratedDatabase.onPostgres())
            OpenMirrors.current?.add { await PostgresServer.drop(url) }
            all["DATABASE_URL"] = url + PostgresServer.patience
        } else if isCopied {
            try await TrainedDatabase.copy(into: folder, on: networks.human)
        } else {
            try await MigratedDatabase.copy(to: folder.path("mirror-bot.sqlite"))
        }
        all.merge(variables) { $1 }
        self.variables = all
        mirror = try await HumanMirror.open(
            try Self.spread(all), clock: clock, rehearsal: rehearsal,
            logger: Self.logger(log), opening: opening)
        if isTrained, !isCopied {
            try await TrainedDatabase.train(mirror, on: networks.human)
        }
    }

    /// The configuration with posts at all hours: of copied days some are silent, and others crowd
    /// into an hour, and a test wants posts in the hours that it lives.
    private static func spread(_ variables: [String: String]) throws -> MirrorConfiguration {
        var configuration = try configuration(variables)
        configuration.mirror.copiesDays = false
        return configuration
    }

    package static func configuration(_ variables: [String: String]) throws -> MirrorConfiguration {
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: variables))
        return try MirrorConfiguration(values, environment: [:])
    }

    /// A worker whose looks are rare enough for a quick test, and frequent enough for every
    /// deadline.
    package func worker(on mirror: HumanMirror? = nil, pulse: WorkerPulse = WorkerPulse()) -> Worker
    {
        var cadence = Cadence(poll: .seconds(600))
        cadence.botHome = .seconds(1_800)
        cadence.humanHome = .seconds(1_800)
        cadence.humanPosts = .seconds(1_800)
        cadence.humanFavorites = .seconds(3_600)
        cadence.publisher = .seconds(600)
        return Worker(mirror: mirror ?? self.mirror, cadence: cadence, pulse: pulse)
    }

    private static func logger(_ lines: Recorder<String>) -> Logger {
        Logger(label: "test") { _ in LogRecorder(lines: lines) }
    }

    /// Lets the worker live until an hour of the first day.
    ///
    /// - Parameters:
    ///   - hour: When to stop.
    ///   - sign: What the worker logs before the first of them is waited for.
    ///   - pulse: Kept by the worker.
    ///   - events: What happens meanwhile, and at which hours, in their order; the clock stands
    ///     still while it does.
    /// - Throws: What the worker or an event throws.
    package func live(
        until hour: Double, after sign: String = MirrorFixture.started,
        pulse: WorkerPulse = WorkerPulse(),
        events: [(hour: Double, action: @Sendable () async throws -> Void)] = []
    ) async throws {
        let worker = worker(pulse: pulse)
        guard !events.isEmpty else { return try await worker.run(until: Sample.hour(hour)) }
        let started = log.values.count { $0.contains(sign) }
        clock.join()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { clock.leave() }
                // Not before the worker takes part, or the clock would jump to the first event at
                // once.
                try await log.wait(forMore: started) { $0.contains(sign) }
                for event in events {
                    try await clock.sleep(until: Sample.hour(event.hour))
                    try await event.action()
                }
            }
            group.addTask { try await worker.run(until: Sample.hour(hour)) }
            try await group.waitForAll()
        }
    }

    /// Lets time pass without a worker.
    package func wait(until date: Date) async throws {
        clock.join()
        defer { clock.leave() }
        try await clock.sleep(until: date)
    }

    /// Opens the same mirror once more, as another process does, with some settings changed.
    package func reopened(changing changes: [String: String] = [:]) async throws -> HumanMirror {
        let other = try await HumanMirror.open(
            try Self.spread(variables.merging(changes) { $1 }), clock: clock,
            rehearsal: rehearsal,
            logger: Self.logger(log), opening: OpenMirrors.open)
        OpenMirrors.current?.add { await other.close() }
        return other
    }

    /// The settings with which the mirror is open.
    package func configuration() throws -> MirrorConfiguration { try Self.spread(variables) }

    /// Where the data is, if on a server.
    package var databaseURL: String? { variables["DATABASE_URL"] }

    package var leases: LeaseTable { LeaseTable(storage: mirror.storage, mirror: Self.mirror) }

    /// Who holds the mirror's lease; nil if it was given back or never taken.
    package func leaseHolder() async throws -> String? {
        guard let record = try await leases.record(), !record.isReleased else { return nil }
        return record.owner
    }

    /// The slots of a day of the world, counted from 0.
    package func slots(ofDay number: Int = 0) async throws -> [Action] {
        try await mirror.outbox(lease: nil).slots(of: Sample.day.advanced(by: number))
    }

    /// The first slot of today, after one pass has made the plan.
    package func firstSlot() async throws -> Action {
        _ = try await worker().runOnce()
        return try #require(try await slots().first { $0.state == .planned })
    }

    /// The archived post whose text an action uses.
    package func source(of action: Action) async throws -> Post {
        let id = try #require(action.wording).source
        return try #require(try await mirror.archive.post(id))
    }

    /// Every action, the oldest first.
    package func actions(_ kind: ActionKind? = nil) async throws -> [Action] {
        try await mirror.outbox(lease: nil).recent(100_000)
            .filter { kind == nil || $0.kind == kind }
            .sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }
}
