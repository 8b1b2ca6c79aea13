import Configuration
import Control
import Foundation
import Mirroring
import Posts
import Sandbox
import Settings
import TestSupport

/// Everything around the workers of a run: the network, the stores, the clock, and a mirror that
/// has learned its past.
final class Stage: Sendable {
    /// Nine in the morning of a Monday in Tokyo; the same in every run.
    static let origin = Date(timeIntervalSince1970: 1_780_272_000)
    static let zone = TimeZone(identifier: SamplePeople.timeZoneIdentifier) ?? .gmt
    static let mirror = "torture"
    /// As many answers to one person, and in one conversation, as a busy day may have.
    static let repliesAtMost = 100
    private static let mentionsPerDay = 400.0

    let settings: TortureSettings
    let folder: RunFolder
    let servers: TortureServers
    let sandbox: Sandbox
    /// The network's clock and, unless it is wrong, each worker's.
    let clock: AcceleratedClock
    let timeline: Timeline
    let disk = DiskRoom()
    private let watch: StarvationWatch
    private let started: Date
    private let environment: [String: String]

    /// Starts the servers, teaches the mirror its past and opens the network.
    ///
    /// - Throws: ``TestSupportError`` if something cannot be started, with what it said.
    static func set(_ settings: TortureSettings) async throws -> Stage {
        let folder = try RunFolder()
        do {
            let servers = try await TortureServers.start(settings.store, home: folder.home)
            var environment = basics(folder, settings).merging(servers.variables) { $1 }
            try await learn(settings, folder, environment)
            try await servers.prepareTroubles()
            let started = Date(milliseconds: Date().milliseconds)
            let clock = AcceleratedClock(origin: origin, started: started, factor: settings.factor)
            let sandbox = try await Sandbox.start(
                world: world(settings), rateLimits: .unlimited, now: { clock.now })
            // What a stopped or slow worker has signed is many minutes old on these clocks when it
            // arrives. So it is on a clock that was set back by an hour.
            sandbox.faults.x.timestampWindow = 2 * 3_600
            sandbox.faults.mastodon = .habits(of: settings.software)
            // A worker that is killed while it renews a token may need a person; see
            // MastodonSessionTests.
            sandbox.faults.mastodon.tokenLifetime = nil
            if settings.filter.isEmpty || settings.filter.refusesObjects {
                sandbox.faults.refusals = refusals(settings)
            }
            for role in SandboxRole.allCases {
                environment.merge(sandbox.settings(of: role, on: settings.network)) { $1 }
            }
            return Stage(settings, folder, servers, sandbox, clock, started, environment)
        } catch {
            folder.remove()
            throw error
        }
    }

    private init(
        _ settings: TortureSettings, _ folder: RunFolder, _ servers: TortureServers,
        _ sandbox: Sandbox,
        _ clock: AcceleratedClock, _ started: Date, _ environment: [String: String]
    ) {
        self.settings = settings
        self.folder = folder
        self.servers = servers
        self.sandbox = sandbox
        self.clock = clock
        self.started = started
        self.environment = environment
        timeline = Timeline(clock: clock)
        watch = StarvationWatch(timeline: timeline, clock: clock, factor: settings.factor)
    }

    /// Starts a worker.
    ///
    /// - Parameters:
    ///   - name: Its name in the run.
    ///   - skew: By how many seconds its clock is ahead.
    ///   - fault: What it does to itself, as `REHEARSAL_FAULT` says it.
    ///   - clockFile: What says how wrong its clock is besides; nil if nothing will.
    ///   - lacks: What it cannot find.
    /// - Returns: The running worker.
    /// - Throws: ``TestSupportError`` if it cannot be started.
    func worker(
        _ name: String, skew: TimeInterval = 0, fault: String? = nil, clockFile: String? = nil,
        lacks: Lack? = nil
    ) throws -> WorkerProcess {
        let rehearsal = Rehearsal.Settings(
            origin: Self.origin + skew.rounded(), started: started, factor: settings.factor,
            leaseSeconds: settings.leaseSeconds, fault: fault, clockFile: clockFile)
        var variables = environment.merging(rehearsal.variables) { $1 }
        if lacks == .dictionary { variables["MECAB_DICTIONARY"] = folder.path + "/no-dictionary" }
        let worker = try WorkerProcess(
            name: name, words: [settings.program, "run"], environment: variables,
            logPath: folder.log(name))
        disk.admit(worker)
        return worker
    }

    /// What `status --json` says now.
    ///
    /// - Throws: ``TestSupportError`` with what it said instead.
    func status() async throws -> String {
        let (state, output) = try await command(["status", "--json"], log: "status")
        guard state == .exited(0) else {
            throw TestSupportError("could not ask for the status: \(output.suffix(2_000))")
        }
        return output
    }

    /// Runs a command of a person's to its end.
    ///
    /// - Parameters:
    ///   - words: The command with its arguments.
    ///   - fault: What it does to itself, as a rehearsal says it; nil for nothing.
    ///   - log: Where it writes, of which nothing else does.
    /// - Returns: What became of it, and what it said.
    /// - Throws: ``TestSupportError`` if it cannot be started.
    func command(
        _ words: [String], fault: String? = nil, log: String
    ) async throws -> (state: WorkerProcess.State, output: String) {
        var rehearsal = Rehearsal.Settings(
            origin: Self.origin, started: started, factor: settings.factor)
        rehearsal.fault = fault
        let process = try WorkerProcess(
            name: words[0], words: [settings.program] + words,
            environment: environment.merging(rehearsal.variables) { $1 }.merging([
                "LOG_LEVEL": "error"
            ]) { $1 },
            logPath: folder.log(log))
        let state = await process.wait(seconds: 60, until: \.hasEnded)
        return (state, process.output)
    }

    /// The mirror's data, opened in this process.
    ///
    /// - Throws: The store's error.
    func withMirror<Value>(_ body: (HumanMirror) async throws -> Value) async throws -> Value {
        try await HumanMirror.open(try Self.configuration(environment), making: .nothing).closing(
            after: body)
    }

    /// The settings of a mirror that are these variables.
    static func configuration(_ variables: [String: String]) throws -> MirrorConfiguration {
        let values = try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: variables))
        return try MirrorConfiguration(values, environment: [:])
    }

    /// Which objects are refused alone: conversations and people for good or for a while, and
    /// pages.
    ///
    /// A page that begins at a place may be refused for good, as a server does that no longer knows
    /// the place; and no page with 401, which says something about the account. A run that is
    /// confined to this meets more of it.
    private static func refusals(_ settings: TortureSettings) -> SandboxRefusals {
        let alone = SandboxRefusals.Rule(
            share: settings.filter.refusesObjects ? 0.5 : 0.1, lasting: 3_600)
        let page = SandboxRefusals.Rule(
            share: 0.04, forGood: [.badRequest],
            passing: [.failure, .webPage, .forbidden, .notFound, .gone],
            lasting: 60)
        return SandboxRefusals(
            seed: settings.seed,
            rules: [.thread: alone, .person: alone, .mentions: page, .home: page])
    }

    /// Ends everything.
    func strike(keepingFolder: Bool) async {
        watch.stop()
        await sandbox.stop()
        await servers.stop()
        if !keepingFolder { folder.remove() }
    }

    // MARK: Setting the stage

    private static func basics(_ folder: RunFolder, _ settings: TortureSettings) -> [String: String]
    {
        let variables = [
            "MIRROR": mirror, "TIME_ZONE": zone.identifier, "NETWORK": settings.network.rawValue,
            "LOG_FORMAT": "logfmt", "LOG_LEVEL": settings.isVerbose ? "debug" : "info",
            "POLL_SECONDS": "20",
            "MAX_PER_DAY": "300",
            "FAVORITES_PER_DAY": "300", "REPLIES_PER_PERSON": "\(repliesAtMost)",
            "REPLIES_PER_THREAD": "\(repliesAtMost)", "FAVORITE_RATE_THRESHOLD": "1",
            // No post of the sandbox's human is for few.
            "TRUST_HUMAN_SERVER": "yes",
            // Its server fails more often than it answers.
            "TRUST_ARCHIVE": "yes", "HUMAN_CONSENT": "agreed",
        ]
        return surroundings(folder).merging(variables) { $1 }
    }

    /// The variables of every process that says nothing about a mirror.
    static func surroundings(_ folder: RunFolder) -> [String: String] {
        var variables = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path,
            "TMPDIR": NSTemporaryDirectory(),
            "LANG": "C.UTF-8", "MIRROR_BOT_HOME": folder.home,
        ]
        for name in ["MECAB_DICTIONARY", "LD_LIBRARY_PATH"] {
            variables[name] = ProcessInfo.processInfo.environment[name]
        }
        return variables
    }

    /// Makes the tables and has the program learn the past, in peace.
    private static func learn(
        _ settings: TortureSettings, _ folder: RunFolder, _ environment: [String: String]
    ) async throws {
        let past = TorturePast(network: settings.network, origin: origin)
        let posts = try folder.write(past.postLines(), to: "posts.jsonl")
        let examples = try folder.write(past.exampleLines(), to: "examples.jsonl")
        var commands = [
            ["train", "scheduler", "--from", posts], ["train", "classifier", "--from", examples],
        ]
        if settings.store != .sqlite { commands.insert(["migrate"], at: 0) }
        let rehearsal = Rehearsal.Settings(origin: origin - 3_600, started: Date(), factor: 1)
        for command in commands {
            let process = try WorkerProcess(
                name: command[0], words: [settings.program] + command,
                environment: environment.merging(rehearsal.variables) { $1 },
                logPath: folder.log("learning"))
            let state = await process.wait(seconds: 120) { $0.hasEnded }
            guard state == .exited(0) else {
                throw TestSupportError(
                    "could not \(command.joined(separator: " ")): \(process.output)")
            }
        }
    }

    /// A network long enough for the run, in which there is always something to do.
    private static func world(_ settings: TortureSettings) -> SandboxWorld {
        // Four seconds for each kill are more than any run took.
        let seconds = Double(settings.kills * 4 + 240) * settings.factor
        var configuration = SandboxWorld.Configuration.busy(
            seed: settings.seed, origin: origin, days: Int(seconds / 86_400) + 2, timeZone: zone,
            network: settings.network, people: TorturePast.people, mentionsPerDay: mentionsPerDay)
        configuration.repliesPerPersonAndDay = repliesAtMost
        configuration.repliesPerThread = repliesAtMost
        // Before a text is sent the network is asked for its post.
        configuration.olderPosts = TorturePast(network: settings.network, origin: origin).posts()
        return SandboxWorld(configuration: configuration)
    }
}
