import Foundation
import Sandbox
import TestSupport

/// A town, the stores, and mirrors that have learned their past: everything around the workers of
/// one measure.
final class FleetStage: @unchecked Sendable {
    // Sendable because `workers` is only touched under `lock`.

    /// How long a worker may take to end after SIGTERM, in seconds.
    static let endSeconds = 10.0
    /// How long a command of the preparation may take, in seconds.
    private static let commandSeconds = 600.0

    let town: Town
    let database: FleetDatabase
    let clock: FleetClock
    let folder: RunFolder
    private let plan: FleetPlan
    private let program: String
    private let launch: FleetPlan.Launch
    private let lock = NSLock()
    private var workers: [WorkerProcess] = []
    private var started = 0

    /// Prepares a measure.
    ///
    /// - Parameters:
    ///   - town: The people.
    ///   - factor: How many times as fast the clocks run; 1 for the system's clock.
    ///   - program: The worker's program; nil for that of the plan.
    ///   - launch: How workers are started; nil as the plan says.
    /// - Throws: ``TestSupportError`` if something cannot be started, with what it said.
    static func set(
        _ plan: FleetPlan, town: TownPlan, factor: Double = 1, program: String? = nil,
        launch: FleetPlan.Launch? = nil
    ) async throws -> FleetStage {
        let clock = FleetClock(origin: town.origin, factor: factor)
        let folder = try RunFolder()
        let database = try await FleetDatabase.start()
        let stage = FleetStage(
            town: try await Town.start(plan: town, now: { clock.now }), database, clock, folder,
            plan,
            program ?? plan.program, launch ?? plan.launch)
        do {
            try await stage.prepare()
            return stage
        } catch {
            await stage.strike()
            throw error
        }
    }

    private init(
        town: Town, _ database: FleetDatabase, _ clock: FleetClock, _ folder: RunFolder,
        _ plan: FleetPlan,
        _ program: String, _ launch: FleetPlan.Launch
    ) {
        self.town = town
        self.database = database
        self.clock = clock
        self.folder = folder
        self.plan = plan
        self.program = program
        self.launch = launch
    }

    /// Ends everything.
    func strike() async {
        await kill()
        await town.stop()
        await database.stop()
        if plan.keepsFolders { return }
        folder.remove()
    }

    // MARK: Preparation

    private func prepare() async throws {
        try await run(["migrate"])
        if launch != .each { try await run(["mirrors", "import", try writeImport()]) }
        let past = try folder.write(town.plan.pastLines(of: 0), to: "past.jsonl")
        try await run(["train", "scheduler", "--from", past], ["MIRROR": FleetPast.mirror(0)])
        try await FleetPast(database: database, plan: town.plan).copy()
    }

    /// A line for each mirror, as `mirror-bot mirrors import` reads them.
    private func writeImport() throws -> String {
        let lines = (0..<town.plan.mirrors).map { household in
            let credentials = [
                "human": login(of: TownPerson(household, .human)),
                "bot": login(of: TownPerson(household, .bot)),
            ]
            return ImportLine(
                name: FleetPast.mirror(household), settings: settings, credentials: credentials)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = try lines.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }
            .joined()
        return try folder.write(text, to: "mirrors.jsonl")
    }

    private struct ImportLine: Encodable {
        var name: String
        var settings: [String: String]
        var credentials: [String: [String: String]]
    }

    private func login(of person: TownPerson) -> [String: String] {
        [
            "network": "mastodon", "server": town.url(of: person.household),
            "access_token": town.plan.token(of: person),
        ]
    }

    /// What is set for every mirror.
    private var settings: [String: String] {
        ["TIME_ZONE": TownPlan.timeZoneIdentifier, "POLL_SECONDS": "\(plan.poll)"]
    }

    /// The logins of a household as variables of one mirror's environment.
    private func accounts(of household: Int) -> [String: String] {
        let url = town.url(of: household)
        func token(_ part: TownPart) -> String { town.plan.token(of: TownPerson(household, part)) }
        return [
            "HUMAN_SERVER": url, "BOT_SERVER": url, "HUMAN_ACCESS_TOKEN": token(.human),
            "BOT_ACCESS_TOKEN": token(.bot),
        ]
    }

    private var basics: [String: String] {
        var variables = [
            "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": folder.path,
            "TMPDIR": NSTemporaryDirectory(),
            "LANG": "C.UTF-8", "MIRROR_BOT_HOME": folder.home, "DATABASE_URL": database.url,
            "REDIS_URL": database.redis.url, "SECRET_KEY": String(repeating: "5a", count: 32),
            "LOG_LEVEL": "info",
            "LOG_FORMAT": "logfmt",
        ]
        for name in ["MECAB_DICTIONARY", "LD_LIBRARY_PATH"] {
            variables[name] = ProcessInfo.processInfo.environment[name]
        }
        return variables
    }

    /// Runs a command to its end.
    ///
    /// - Throws: ``TestSupportError`` with what it said if it failed.
    private func run(_ words: [String], _ variables: [String: String] = [:]) async throws {
        let process = try WorkerProcess(
            name: words[0], words: [program] + words,
            environment: basics.merging(settings) { $1 }.merging(variables) { $1 }.merging(
                clock.earlier
            ) { $1 },
            logPath: folder.log("preparation"))
        let state = await process.wait(seconds: Self.commandSeconds, until: \.hasEnded)
        guard state == .exited(0) else {
            throw TestSupportError(
                "could not \(words.joined(separator: " ")): \(process.output.suffix(2_000))")
        }
    }

    // MARK: Workers

    /// Starts workers, and the clock with the first of them.
    ///
    /// - Parameter count: How many, where each works for all mirrors.
    /// - Throws: ``TestSupportError`` if one cannot be started.
    func start(_ count: Int = 1) throws {
        clock.start()
        switch launch {
        case .all(let words):
            for _ in 0..<count { try start(words, basics) }
        case .each:
            for household in 0..<town.plan.mirrors {
                let own = ["MIRROR": FleetPast.mirror(household)].merging(accounts(of: household)) {
                    $1
                }
                try start(["run"], basics.merging(settings) { $1 }.merging(own) { $1 })
            }
        }
    }

    private func start(_ words: [String], _ variables: [String: String]) throws {
        let number = lock.withLock {
            started += 1
            return started
        }
        let worker = try WorkerProcess(
            name: "worker-\(number)", words: [program] + words,
            environment: variables.merging(clock.variables) { $1 },
            logPath: folder.log("worker-\(number)"))
        lock.withLock { workers.append(worker) }
    }

    private var running: [WorkerProcess] { lock.withLock { workers } }

    /// - Throws: ``TestSupportError`` with what a worker said that has ended.
    func usage() throws -> FleetUsage {
        for worker in running where worker.state.hasEnded {
            throw TestSupportError(
                "\(worker.name) has ended, \(worker.state): \(worker.output.suffix(2_000))")
        }
        return try FleetUsage(of: running.map(\.process))
    }

    /// Waits until the mentions of every bot were read since ``Town/resetFigures()``, and returns
    /// how long that took.
    ///
    /// - Throws: ``TestSupportError`` if a worker ends or the time is over.
    func waitForPolls(seconds: Double) async throws -> Duration {
        let begin = ContinuousClock.now
        while true {
            let polled = town.figures.polled
            let passed = begin.duration(to: .now)
            if polled >= town.plan.mirrors { return passed }
            _ = try usage()
            guard passed < .seconds(seconds) else {
                let output = running.first?.output.suffix(2_000) ?? ""
                throw TestSupportError(
                    "only \(polled) of \(town.plan.mirrors) mirrors were polled after \(Int(seconds)) s: \(output)"
                )
            }
            try await ContinuousClock().sleep(for: .milliseconds(20))
        }
    }

    /// Asks all workers to end and waits.
    ///
    /// - Returns: How long the slowest took.
    /// - Throws: ``TestSupportError`` if one fails or does not end in time.
    @discardableResult
    func stop() async throws -> Duration {
        let begin = ContinuousClock.now
        let ending = running
        for worker in ending { worker.send(SIGTERM) }
        for worker in ending {
            let state = await worker.wait(seconds: 3 * Self.endSeconds, until: \.hasEnded)
            guard state == .exited(0) else {
                throw TestSupportError(
                    "\(worker.name) did not end well, \(state): \(worker.output.suffix(2_000))")
            }
        }
        lock.withLock { workers = [] }
        return begin.duration(to: .now)
    }

    private func kill() async {
        for worker in running {
            worker.send(SIGKILL)
            _ = await worker.wait(seconds: 10, until: \.hasEnded)
        }
        lock.withLock { workers = [] }
    }
}
