import Control
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox
import Storage
import TestSupport

/// Everything around a crew of workers: the networks, the stores, the clock, and mirrors that have
/// learned their past.
final class CrewStage: Sendable {
    /// The mirror that learns the past, which is copied for all.
    private static let teacher = "teacher"
    /// Every so manieth line of the sample is learned: two hundred archives share a database.
    private static let thinning = 3
    /// How long a run takes at most, in real seconds for each kill and besides.
    private static let secondsPerKill = 5.0
    private static let secondsBesides = 1_200.0

    let settings: CrewSettings
    let folder: RunFolder
    let servers: CrewServers
    let mirrors: [CrewMirror]
    /// The numbers of the mirrors.
    private let numbers: ClosedRange<Int>
    /// The networks' clock and each worker's.
    let clock: AcceleratedClock
    let timeline: Timeline
    /// Names the process that reaches no network.
    let cut: NetworkCut
    private let watch: StarvationWatch
    /// When the networks' clock began, by the system's.
    let started: Date
    private let environment: [String: String]

    /// Starts the servers and networks, and gives every mirror its past, its settings and its
    /// logins.
    ///
    /// - Throws: ``TestSupportError`` if something cannot be started, with what it said.
    static func set(_ settings: CrewSettings, say: @Sendable (String) -> Void) async throws
        -> CrewStage
    {
        let folder = try RunFolder()
        do {
            let servers = try await prepare(settings, folder, say: say)
            return try await set(settings, folder, servers, numbers: 1...settings.mirrors)
        } catch {
            folder.remove()
            throw error
        }
    }

    /// Starts the servers, and has the first program make the tables and learn the past of one
    /// mirror.
    ///
    /// - Throws: ``TestSupportError`` if something cannot be started, with what it said.
    static func prepare(
        _ settings: CrewSettings, _ folder: RunFolder, say: @Sendable (String) -> Void
    ) async throws -> CrewServers {
        say("starting Postgres with a standby, two poolers and a Redis Cluster …")
        let servers = try await CrewServers.start()
        do {
            say("learning, and giving \(settings.mirrors) mirrors the same past …")
            try await learn(
                settings, folder, basics(folder, settings).merging(servers.variables) { $1 })
            return servers
        } catch {
            await servers.stop()
            throw error
        }
    }

    /// Gives mirrors of these numbers the past that was learned, and their networks, settings and
    /// logins.
    ///
    /// - Parameter servers: As ``prepare(_:_:say:)`` made them.
    /// - Throws: ``TestSupportError`` if something cannot be started, with what it said.
    static func set(
        _ settings: CrewSettings, _ folder: RunFolder, _ servers: CrewServers,
        numbers: ClosedRange<Int>
    ) async throws -> CrewStage {
        let environment = basics(folder, settings).merging(servers.variables) { $1 }
        try await servers.run(copying(numbers))
        let started = Date(milliseconds: Date().milliseconds)
        let clock = AcceleratedClock(
            origin: Stage.origin, started: started, factor: settings.factor)
        let seconds = Double(settings.kills) * secondsPerKill + secondsBesides
        var mirrors: [CrewMirror] = []
        let past = Self.past.posts()
        let cut = try NetworkCut()
        for number in numbers {
            mirrors.append(
                try await CrewMirror.open(
                    number, settings, past: past, days: Int(seconds * settings.factor / 86_400) + 2,
                    cut: cut, isAgreed: number != settings.unagreed(of: numbers), now: { clock.now }
                ))
        }
        let stage = CrewStage(
            settings, folder, servers, mirrors, numbers, cut, clock, started, environment)
        if settings.mode == .all { try await stage.importMirrors() }
        try await servers.noteLeases()
        return stage
    }

    private init(
        _ settings: CrewSettings, _ folder: RunFolder, _ servers: CrewServers,
        _ mirrors: [CrewMirror],
        _ numbers: ClosedRange<Int>, _ cut: NetworkCut, _ clock: AcceleratedClock, _ started: Date,
        _ environment: [String: String]
    ) {
        self.settings = settings
        self.folder = folder
        self.servers = servers
        self.mirrors = mirrors
        self.clock = clock
        self.started = started
        self.environment = environment
        self.numbers = numbers
        self.cut = cut
        timeline = Timeline(clock: clock)
        // Who works when is told by the leases.
        timeline.note(isWorking: true)
        watch = StarvationWatch(timeline: timeline, clock: clock, factor: settings.factor)
    }

    /// What the networks' clock shows at an instant of the system's.
    func instant(at date: Date) -> Date {
        Stage.origin + date.timeIntervalSince(started) * settings.factor
    }

    /// A stretch of the networks' clock by the system's.
    func systemInterval(_ stretch: DateInterval) -> DateInterval {
        DateInterval(
            start: started + stretch.start.timeIntervalSince(Stage.origin) / settings.factor,
            duration: stretch.duration / settings.factor)
    }

    /// What a worker of many mirrors needs for one thing when nothing disturbs it, in seconds of
    /// the networks' clock.
    var patience: TimeInterval { 60 + 4 * settings.factor }

    // MARK: Processes

    /// What a worker is started with that cannot do its share.
    func launch(of disability: CrewDisability) -> CrewLaunch {
        var launch = CrewLaunch(words: ["run", "--all"])
        if disability == .wrongKey {
            launch.variables["SECRET_KEY"] = String(repeating: "6f", count: 32)
        }
        return launch
    }

    /// What a worker is started with: a process, or one for each mirror.
    var launches: [CrewLaunch] {
        switch settings.mode {
        case .all: [CrewLaunch(words: ["run", "--all"])]
        case .single:
            mirrors.map {
                CrewLaunch(mirror: $0.name, words: ["run"], variables: variables(of: $0))
            }
        }
    }

    /// Starts a process of a worker.
    ///
    /// - Parameters:
    ///   - launch: What it is started with.
    ///   - name: Its name in the run.
    ///   - leaseSeconds: How long leases last; nil for as long as in earnest.
    ///   - fault: What it does to itself, as `REHEARSAL_FAULT` says it.
    ///   - program: The executable.
    /// - Throws: ``TestSupportError`` if it cannot be started.
    func start(
        _ launch: CrewLaunch, name: String, leaseSeconds: Double?, fault: String?, program: String
    ) throws -> WorkerProcess {
        var rehearsal = self.rehearsal
        rehearsal.leaseSeconds = leaseSeconds
        rehearsal.fault = fault
        // libpq names the sessions of the process by it, so that the database knows who changed a
        // lease.
        let own = launch.variables.merging(["PGAPPNAME": name]) { $1 }
        return try WorkerProcess(
            name: name, words: [program] + launch.words,
            environment: environment.merging(own) { $1 }.merging(rehearsal.variables) { $1 },
            logPath: folder.log(name))
    }

    /// Starts `mirror-bot migrate` of the program under test.
    ///
    /// - Throws: ``TestSupportError`` if it cannot be started.
    func startMigration(name: String) throws -> WorkerProcess {
        try WorkerProcess(
            name: name, words: [settings.program, "migrate"],
            environment: environment.merging(rehearsal.variables) { $1 }, logPath: folder.log(name))
    }

    /// What `status --json` says about a mirror now.
    ///
    /// - Throws: ``TestSupportError`` with what it said instead.
    func status(of mirror: CrewMirror) async throws -> String {
        let variables = settings.mode == .all ? ["MIRROR": mirror.name] : variables(of: mirror)
        let environment = environment.merging(variables) { $1 }.merging(rehearsal.variables) { $1 }
        let process = try WorkerProcess(
            name: "status", words: [settings.program, "status", "--json"],
            environment: environment.merging(["LOG_LEVEL": "error"]) { $1 },
            logPath: folder.log("status-\(mirror.name)"))
        let state = await process.wait(seconds: 120, until: \.hasEnded)
        guard state == .exited(0) else {
            throw TestSupportError(
                "could not ask for the status of \(mirror.name): \(process.output.suffix(2_000))")
        }
        return process.output
    }

    private var rehearsal: Rehearsal.Settings {
        Rehearsal.Settings(origin: Stage.origin, started: started, factor: settings.factor)
    }

    private func variables(of mirror: CrewMirror) -> [String: String] {
        SandboxRole.allCases.reduce(
            into: Self.mirrorSettings.merging(["MIRROR": mirror.name]) { $1 }
        ) {
            $0.merge(mirror.login(of: $1)) { $1 }
        }
    }

    /// A mirror's data, opened in this process.
    ///
    /// - Throws: The store's error.
    func withMirror<Value>(_ mirror: CrewMirror, _ body: (HumanMirror) async throws -> Value)
        async throws -> Value
    {
        let variables = environment.merging(variables(of: mirror)) { $1 }
        return try await HumanMirror.open(try Stage.configuration(variables), making: .nothing)
            .closing(after: body)
    }

    /// Ends everything but the servers.
    func leave(keepingFolder: Bool) async {
        watch.stop()
        for mirror in mirrors { await mirror.stop() }
        if !keepingFolder { folder.remove() }
    }

    /// Ends everything.
    func strike(keepingFolder: Bool) async {
        watch.stop()
        for mirror in mirrors { await mirror.stop() }
        await servers.stop()
        if !keepingFolder { folder.remove() }
    }

    // MARK: Setting the stage

    /// Set for each mirror.
    private static let mirrorSettings = [
        "TIME_ZONE": Stage.zone.identifier, "POLL_SECONDS": "60", "MAX_PER_DAY": "100",
        "FAVORITES_PER_DAY": "100",
        "REPLIES_PER_PERSON": "\(Stage.repliesAtMost)",
        "REPLIES_PER_THREAD": "\(Stage.repliesAtMost)",
        "FAVORITE_RATE_THRESHOLD": "1",
        // No post of the sandbox's human is for few.
        "TRUST_HUMAN_SERVER": "yes",
        // Its server fails more often than it answers.
        "TRUST_ARCHIVE": "yes", "HUMAN_CONSENT": "agreed",
    ]

    /// How many seconds of the system's clock pass between two looks for mentions.
    var lookPeriod: Double { 60 / settings.factor }

    private static func basics(_ folder: RunFolder, _ settings: CrewSettings) -> [String: String] {
        Stage.surroundings(folder).merging([
            "SECRET_KEY": String(repeating: "5e", count: 32), "LOG_FORMAT": "logfmt",
            "LOG_LEVEL": settings.isVerbose ? "debug" : "info",
        ]) { $1 }
    }

    /// What every mirror has learned.
    private static var past: TorturePast {
        TorturePast(
            network: .mastodon, origin: Stage.origin, people: CrewMirror.people, thinning: thinning)
    }

    /// Makes the tables, and has the program learn the past.
    private static func learn(
        _ settings: CrewSettings, _ folder: RunFolder, _ environment: [String: String]
    ) async throws {
        let past = Self.past
        let posts = try folder.write(past.postLines(), to: "posts.jsonl")
        let examples = try folder.write(past.exampleLines(), to: "examples.jsonl")
        let commands = [
            ["migrate"], ["train", "scheduler", "--from", posts],
            ["train", "classifier", "--from", examples],
        ]
        let rehearsal = Rehearsal.Settings(origin: Stage.origin - 3_600, started: Date(), factor: 1)
        let own = [
            "MIRROR": teacher, "TIME_ZONE": Stage.zone.identifier,
            "NETWORK": NetworkName.mastodon.rawValue,
        ]
        for command in commands {
            try await run(
                command, program: settings.firstProgram, folder,
                environment.merging(own) { $1 }.merging(rehearsal.variables) { $1 })
        }
    }

    /// Lets every mirror be known by its settings and logins.
    private func importMirrors() async throws {
        do {
            try await importMirrors(with: Self.mirrorSettings)
        } catch  where settings.oldProgram != nil {
            // An older program may not know this setting, and then needs none.
            try await importMirrors(with: Self.mirrorSettings.filter { $0.key != "HUMAN_CONSENT" })
        }
    }

    private func importMirrors(with mirrorSettings: [String: String]) async throws {
        let lines = try mirrors.map { try $0.importLine(mirrorSettings) }
        let file = try folder.write(lines.joined(), to: "mirrors.jsonl")
        try await Self.run(
            ["mirrors", "import", file], program: settings.firstProgram, folder,
            environment.merging(rehearsal.variables) { $1 })
    }

    private static func run(
        _ command: [String], program: String, _ folder: RunFolder, _ environment: [String: String]
    ) async throws {
        let process = try WorkerProcess(
            name: command[0], words: [program] + command, environment: environment,
            logPath: folder.log("learning"))
        guard await process.wait(seconds: 300, until: \.hasEnded) == .exited(0) else {
            throw TestSupportError(
                "could not \(command.joined(separator: " ")): \(process.output.suffix(4_000))")
        }
    }

    /// The statements that give mirrors of these numbers all rows of the teacher, with the host of
    /// each, and remove the teacher.
    ///
    /// They know no table: every table with a column `mirror` is copied.
    private static func copying(_ numbers: ClosedRange<Int>) -> String {
        let names = numbers.map { "('\(CrewMirror.name($0))', '\(CrewMirror.host($0))')" }
        return """
            CREATE TEMPORARY TABLE pupils (name TEXT, host TEXT);
            INSERT INTO pupils VALUES \(names.joined(separator: ", "));
            DO $$
            DECLARE tab TEXT; columns TEXT; contents TEXT;
            BEGIN
                FOR tab IN SELECT table_name FROM information_schema.columns
                    JOIN information_schema.tables USING (table_schema, table_name)
                    WHERE table_schema = 'public' AND column_name = 'mirror' AND table_type = 'BASE TABLE' LOOP
                    SELECT string_agg(quote_ident(column_name), ', '),
                        string_agg(CASE
                            WHEN column_name = 'mirror' THEN 'p.name'
                            WHEN data_type = 'text'
                                THEN format('replace(t.%I, ''\(SamplePeople.host)'', p.host)', column_name)
                            ELSE format('t.%I', column_name) END, ', ')
                        INTO columns, contents FROM information_schema.columns
                        WHERE table_schema = 'public' AND table_name = tab;
                    EXECUTE format('INSERT INTO %I (%s) SELECT %s FROM %I t CROSS JOIN pupils p '
                        'WHERE t.mirror = ''\(teacher)''', tab, columns, contents, tab);
                    EXECUTE format('DELETE FROM %I WHERE mirror = ''\(teacher)''', tab);
                END LOOP;
            END $$;
            ANALYZE
            """
    }

    /// Gives the rows of every mirror the host again by which its sandbox calls itself, so that
    /// they can be compared.
    func takeBackHosts() async throws {
        let names = numbers.map { "('\(CrewMirror.name($0))', '\(CrewMirror.host($0))')" }
        try await servers.run(
            """
            CREATE TEMPORARY TABLE pupils (name TEXT, host TEXT);
            INSERT INTO pupils VALUES \(names.joined(separator: ", "));
            DO $$
            DECLARE tab TEXT; changes TEXT;
            BEGIN
                FOR tab IN SELECT table_name FROM information_schema.columns
                    JOIN information_schema.tables USING (table_schema, table_name)
                    WHERE table_schema = 'public' AND column_name = 'mirror' AND table_type = 'BASE TABLE' LOOP
                    SELECT string_agg(format('%1$I = replace(t.%1$I, p.host, ''\(SamplePeople.host)'')', column_name),
                            ', ')
                        INTO changes FROM information_schema.columns
                        WHERE table_schema = 'public' AND table_name = tab AND data_type = 'text'
                            AND column_name <> 'mirror';
                    IF changes IS NOT NULL THEN
                        EXECUTE format('UPDATE %I t SET %s FROM pupils p WHERE t.mirror = p.name', tab, changes);
                    END IF;
                END LOOP;
            END $$
            """)
    }
}

/// What a process of a worker is started with.
struct CrewLaunch: Equatable, Sendable {
    /// The one mirror that it works for; nil for all.
    var mirror: String?
    /// The arguments of the program.
    var words: [String]
    var variables: [String: String] = [:]
}
