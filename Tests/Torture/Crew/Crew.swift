import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox
import TestSupport

/// The workers of a run, which die, are held, come and go as its events say, and are started again
/// meanwhile.
///
/// Not to be used by two tasks at once, but for what happens to the stores, which goes on beside
/// the workers.
final class Crew {
    private static let glance = 0.05
    /// The fewest and the most workers.
    private static let sizes = 2...5
    /// How long a worker that is asked to end may take; DESIGN promises ten seconds.
    private static let graceful = 10.0
    /// How much longer where the machine let somebody wait.
    private static let graceStarving = 60.0
    /// The shares of processes that die, or stop, at a fault point of their own.
    private static let dying = 0.3
    private static let stopping = 0.08
    /// For how long after an outage of the database a worker may give up, in seconds.
    private static let outageMemory = 90.0

    private let stage: CrewStage
    private var workers: [CrewWorker] = []
    private var lastNumber = 0
    private var starts = 0
    private var generator: SampleGenerator
    private var points: Deck<String>
    private var lanes: [CrewEvent.Lane: Task<Void, Never>] = [:]
    private let outages: Outages
    /// Those beside the crew that cannot do their share.
    let unable: UnableWorkers
    /// For how many seconds leases last now; nil for as long as in earnest.
    private var leaseSeconds: Double?
    /// The executable with which processes are started from now on.
    private var program: String
    /// When a migration began; nil before that.
    private var migrated: Date?

    /// Workers that died by `SIGKILL`.
    private(set) var kills = 0
    /// How often each kind of event happened, by name.
    private(set) var counts: [String: Int] = [:]
    /// What should not have happened, a line each.
    private(set) var findings: [String] = []
    private(set) var lives: [CrewAudit.Life] = []
    /// When workers were killed or began to be held.
    private(set) var losses: [Date] = []
    private(set) var stopped: [StoppedWorker] = []
    private(set) var phases: [CrewAudit.Phase] = []
    /// The mirrors that can say nothing, because their login is refused or nobody agreed, and since
    /// when.
    private(set) var refused: [String: Date]
    private var phaseStart = Date()
    /// What ended last by itself.
    private var lastEnded: WorkerProcess?

    /// The stretches in which the database could not be used.
    private actor Outages {
        private(set) var intervals: [DateInterval] = []
        private(set) var complaints: [String] = []

        func note(_ stretch: DateInterval) { intervals.append(stretch) }

        func complain(_ what: String) { complaints.append(what) }
    }

    init(on stage: CrewStage) {
        self.stage = stage
        outages = Outages()
        unable = UnableWorkers(on: stage)
        refused = Dictionary(
            uniqueKeysWithValues: stage.mirrors.filter { !$0.isAgreed }.map {
                ($0.name, Stage.origin)
            })
        generator = SampleGenerator(seed: stage.settings.seed ^ 0x63_7265_77)
        points = Deck(
            EpisodeSchedule.points(on: .mastodon).map(\.name), seed: stage.settings.seed ^ 6)
        leaseSeconds = stage.settings.leaseSeconds
        program = stage.settings.firstProgram
    }

    /// The stretches in which the database could not be used.
    var databaseOutages: [DateInterval] { get async { await outages.intervals } }

    /// What went wrong with the servers themselves.
    var complaints: [String] { get async { await outages.complaints } }

    /// What a process said that ended by itself, or one that is there.
    var lastWords: String {
        let first = lastEnded ?? workers.first?.processes.first?.process
        return String((first?.output ?? "").suffix(2_000))
    }

    // MARK: Phases

    /// Begins a phase with new workers.
    ///
    /// - Parameters:
    ///   - size: How many.
    ///   - leaseSeconds: How long leases last in it; nil for as long as in earnest.
    func begin(_ size: Int, leaseSeconds: Double?) async throws {
        self.leaseSeconds = leaseSeconds
        phaseStart = Date()
        unable.begin()
        for _ in 0..<size { try await join() }
    }

    /// Ends a phase: all workers are asked to end, and do.
    func end() async throws {
        await unable.end()
        for worker in workers { worker.due = [] }
        for process in workers.flatMap(\.processes) { wake(process) }
        try await leave(workers)
        workers = []
        phases.append(
            CrewAudit.Phase(
                interval: DateInterval(start: phaseStart, end: Date()),
                lease: leaseSeconds ?? CrewSettings.usualLease))
    }

    /// Waits for what still happens to the stores.
    func finishLanes() async {
        for task in lanes.values { await task.value }
        lanes = [:]
    }

    // MARK: Events

    /// Lets some time pass, in which whoever died is started again.
    func pass(seconds: Double) async throws {
        let end = Date() + seconds
        repeat {
            try Task.checkCancellation()
            try lookAfter()
            await Pause.wait(seconds: min(Self.glance, max(0, end.timeIntervalSinceNow)))
        } while Date() < end
    }

    /// Lets an event happen.
    func happen(_ event: CrewEvent) async throws {
        try await pass(seconds: event.after)
        if let lane = event.kind.lane {
            count(event.kind)
            lanes[lane] = Self.task(after: lanes[lane], event, stage, outages)
            return
        }
        let candidates = workers.filter { !$0.isHeld && !$0.processes.isEmpty }
        let worker = candidates.isEmpty ? nil : candidates[event.place % candidates.count]
        let lease = leaseSeconds ?? CrewSettings.usualLease
        switch event.kind {
        case .kill: if let worker { await kill(worker) } else { return }
        case .stopShort:
            guard let worker else { return }
            hold(worker, seconds: lease * (0.1 + 0.5 * event.share))
        case .stopLong:
            guard let worker, candidates.count > 1 else { return }
            hold(worker, seconds: lease * (1.3 + event.share))
        case .join:
            guard workers.count < Self.sizes.upperBound else { return }
            try await join()
        case .leave:
            guard let worker, workers.count > Self.sizes.lowerBound else { return }
            worker.due = []
            try await leave([worker])
            workers.removeAll { $0 === worker }
        case .refuseLogin:
            let mirror = stage.mirrors[event.place % stage.mirrors.count]
            mirror.refuseLogin()
            refused[mirror.name] = stage.clock.now
        case .crashPrimary, .switchOver, .killMaster, .moveSlots, .restartPooler: return
        }
        if event.kind != .kill { count(event.kind) }
    }

    private func count(_ kind: CrewEvent.Kind) { counts[kind.rawValue, default: 0] += 1 }

    /// Lets something happen to the stores once what happens before in its lane is over.
    private static func task(
        after before: Task<Void, Never>?, _ event: CrewEvent, _ stage: CrewStage, _ outages: Outages
    ) -> Task<Void, Never> {
        Task {
            await before?.value
            await befall(event, stage, outages)
        }
    }

    /// Notes when nothing could be written while something happened to the database, whoever let
    /// the writes wait.
    private static func watchingWrites(
        _ stage: CrewStage, _ outages: Outages, during happening: () async throws -> Void
    ) async throws {
        let trial = Task { await stage.servers.stretchesWithoutWrites() }
        let result: Result<Void, any Error>
        do { result = .success(try await happening()) } catch { result = .failure(error) }
        trial.cancel()
        for stretch in await trial.value {
            await outages.note(stretch)
            stage.timeline.note(
                .noDatabase,
                DateInterval(
                    start: stage.instant(at: stretch.start), end: stage.instant(at: stretch.end)))
        }
        try result.get()
    }

    /// What happens to the stores; it ends well, and is not cancelled with the run: what has begun
    /// is done.
    private static func befall(_ event: CrewEvent, _ stage: CrewStage, _ outages: Outages) async {
        let servers = stage.servers
        let start = Date()
        let slots = (0..<5).map { number in
            let mirror = stage.mirrors[(event.place + number) % stage.mirrors.count]
            return StoredCounts(mirror: mirror.name).slot
        }
        do {
            switch event.kind {
            case .crashPrimary:
                try await watchingWrites(stage, outages) {
                    try await servers.formation.crashPrimary()
                    try await servers.formation.restore()
                }
            case .switchOver:
                try await watchingWrites(stage, outages) {
                    try await servers.formation.switchOver()
                }
            case .restartPooler:
                let stretch = stage.timeline.begin(.noDatabase)
                try await servers.poolers[event.place % servers.poolers.count].restart()
                stage.timeline.end(stretch)
                await outages.note(DateInterval(start: start, end: max(start, Date())))
            case .killMaster:
                let stretch = stage.timeline.begin(.noCounts)
                try await servers.killMaster(of: slots[0])
                stage.timeline.end(stretch)
            case .moveSlots:
                // Nobody is hindered by that.
                for slot in Set(slots) { try await servers.cluster.moveAway(slot) }
            case .kill, .stopShort, .stopLong, .join, .leave, .refuseLogin: return
            }
        } catch {
            await outages.complain("\(event.kind.rawValue) failed: \(error)")
        }
    }

    // MARK: Workers

    private func join() async throws {
        lastNumber += 1
        let worker = CrewWorker(lastNumber)
        workers.append(worker)
        for launch in stage.launches { try start(launch, in: worker) }
    }

    private func start(_ launch: CrewLaunch, in worker: CrewWorker) throws {
        starts += 1
        let name = "worker-\(worker.number)-\(starts)" + (launch.mirror.map { "-" + $0 } ?? "")
        let fault = fault()
        worker.processes.append(
            CrewProcess(
                launch,
                try stage.start(
                    launch, name: name, leaseSeconds: leaseSeconds, fault: fault, program: program),
                of: program, hasFault: fault != nil))
    }

    /// What a new process does to itself; nothing in a phase in earnest, where each death has its
    /// time.
    private func fault() -> String? {
        guard leaseSeconds != nil, stage.settings.only.isEmpty else { return nil }
        let draw = generator.uniform()
        let passing = generator.number(below: 8) + 1
        guard draw < Self.dying + Self.stopping, let point = points.draw() else { return nil }
        return "\(draw < Self.dying ? "kill" : "stop")@\(point)#\(passing)"
    }

    private func kill(_ worker: CrewWorker) async {
        losses.append(Date())
        for process in worker.processes { process.process.send(SIGKILL) }
        for process in worker.processes {
            _ = await process.process.wait(seconds: 10, until: \.hasEnded)
            bury(process)
            worker.due.append((process.launch, Date() + 0.2 + 1.5 * generator.uniform()))
        }
        worker.processes = []
        kills += 1
        count(.kill)
    }

    private func hold(_ worker: CrewWorker, seconds: Double) {
        losses.append(Date())
        for process in worker.processes {
            process.process.send(SIGSTOP)
            process.noteStop(until: Date() + seconds)
        }
    }

    private func wake(_ process: CrewProcess) {
        guard process.isHeld, let pause = process.goOn() else { return }
        stopped.append(
            StoppedWorker(
                point: "somewhere", stopped: stage.instant(at: pause.start),
                woken: stage.instant(at: pause.end)))
    }

    /// Asks workers to end, and waits until they have.
    private func leave(_ leaving: [CrewWorker]) async throws {
        let processes = leaving.flatMap(\.processes)
        let asked = stage.clock.now
        for process in processes {
            wake(process)
            process.isAsked = true
            process.process.send(SIGTERM)
        }
        let end = Date() + Self.graceful
        for process in processes {
            _ = await process.process.wait(seconds: max(0.01, end.timeIntervalSinceNow)) {
                $0 != .running
            }
            // It may come to a point at which it stops itself.
            if process.process.state == .stopped { process.process.send(SIGCONT) }
            var state = await process.process.wait(
                seconds: max(0.5, end.timeIntervalSinceNow), until: \.hasEnded)
            if !state.hasEnded,
                stage.timeline.starvation(since: asked) > stage.settings.factor * Self.graceful / 4
            {
                state = await process.process.wait(seconds: Self.graceStarving, until: \.hasEnded)
            }
            if state.hasEnded {
                endings.append(process)
            } else {
                findings.append(
                    "\(process.process.name) did not end within \(Self.graceful) s of SIGTERM")
                process.process.send(SIGKILL)
                _ = await process.process.wait(seconds: 10, until: \.hasEnded)
            }
            bury(process)
        }
        for worker in leaving { worker.processes = [] }
    }

    private func bury(_ process: CrewProcess) {
        process.noteEnd()
        lives.append(process.life)
    }

    /// Starts again what is to be started, wakes what is to go on, and judges what ended by itself.
    private func lookAfter() throws {
        try unable.lookAfter(leaseSeconds: leaseSeconds)
        let now = Date()
        for worker in workers {
            for process in worker.processes {
                let state = process.process.state
                if state.hasEnded {
                    ended(process, in: worker)
                } else if state == .stopped, !process.isHeld {
                    // At a fault point.
                    losses.append(now)
                    let lease = leaseSeconds ?? CrewSettings.usualLease
                    process.noteStop(until: now + lease * (0.3 + 1.5 * generator.uniform()))
                } else if let wakes = process.wakes, wakes <= now {
                    wake(process)
                }
            }
            worker.processes.removeAll { $0.ended != nil }
            let due = worker.due.filter { $0.date <= now }
            worker.due.removeAll { $0.date <= now }
            for entry in due { try start(entry.launch, in: worker) }
        }
    }

    private func ended(_ process: CrewProcess, in worker: CrewWorker) {
        lastEnded = process.process
        losses.append(Date())
        if process.process.state == .killed(signal: SIGKILL), process.hasFault {
            kills += 1
            counts["kill-at-point", default: 0] += 1
        } else {
            endings.append(process)
        }
        bury(process)
        worker.due.append((process.launch, Date() + 0.5))
    }

    /// Processes that ended and are judged when it is known what happened to the stores.
    private var endings: [CrewProcess] = []

    /// Says so if a process ended in a way that nothing explains.
    func judgeEnds() async {
        for process in endings { await judge(process) }
        endings = []
    }

    private func judge(_ process: CrewProcess) async {
        let end = process.ended ?? Date()
        let isAfterOutage = await outages.intervals.contains {
            $0.start <= end && end <= $0.end + Self.outageMemory
        }
        switch process.process.state {
        case .exited(0) where process.isAsked: return
        // It had not begun to listen to signals.
        case .killed(SIGTERM) where process.isAsked && process.process.output.isEmpty: return
        case .killed(SIGKILL) where process.hasFault: return
        case .exited(69) where isAfterOutage, .exited(75) where isAfterOutage:
            counts["gave-up", default: 0] += 1
        case .exited(75) where isOutdated(process, at: end): counts["gave-way", default: 0] += 1
        case .exited(78) where isOutdated(process, at: process.started):
            counts["came-late", default: 0] += 1
        case .exited(let code): findings.append("\(process.process.name) ended with \(code)")
        case .killed(let signal):
            findings.append("\(process.process.name) died by signal \(signal)")
        case .running, .stopped: return
        }
    }

    /// Whether a process is one of the older program, and its database was migrated before some
    /// instant.
    private func isOutdated(_ process: CrewProcess, at date: Date) -> Bool {
        guard let migrated, process.program != stage.settings.program else { return false }
        return migrated <= date
    }

    // MARK: Upgrades

    /// How long a migration may take, in seconds.
    private static let migrationLimit = 120.0

    /// Migrates the database, and replaces all workers by those of the program under test.
    func upgrade(_ upgrade: CrewUpgrade) async throws {
        counts["upgrade-\(upgrade.order.rawValue)", default: 0] += 1
        switch upgrade.order {
        case .together, .rolling:
            try await migrate(upgrade)
            try await pass(seconds: upgrade.linger / 2)
            if upgrade.killsOld, let worker = workers.first { await kill(worker) }
            try await pass(seconds: upgrade.linger / 2)
        case .ended: try await dismiss(workers)
        case .killed:
            let killed = workers
            for worker in killed { await kill(worker) }
            try await dismiss(killed)
        }
        if [.ended, .killed].contains(upgrade.order) { try await migrate(upgrade) }
        let old = workers
        program = stage.settings.program
        if upgrade.order == .together { try await dismiss(old) }
        for _ in 0..<stage.settings.workers { try await join() }
        for worker in old where upgrade.order == .rolling {
            try await pass(seconds: upgrade.pause)
            try await dismiss([worker])
        }
    }

    /// Ends workers that do not come back.
    private func dismiss(_ leaving: [CrewWorker]) async throws {
        for worker in leaving { worker.due = [] }
        try await leave(leaving)
        workers.removeAll { worker in leaving.contains { $0 === worker } }
    }

    /// Runs `migrate`, perhaps several times at once, and perhaps after one that was killed.
    private func migrate(_ upgrade: CrewUpgrade) async throws {
        migrated = migrated ?? Date()
        if let delay = upgrade.killsMigrationAfter {
            let process = try stage.startMigration(name: "migrate-killed")
            _ = await process.wait(seconds: delay, until: \.hasEnded)
            process.send(SIGKILL)
            _ = await process.wait(seconds: 10, until: \.hasEnded)
            counts["kill-migration", default: 0] += 1
        }
        let processes = try (1...upgrade.migrations).map {
            try stage.startMigration(name: "migrate-\($0)")
        }
        for process in processes {
            let end = Date() + Self.migrationLimit
            while !process.state.hasEnded, Date() < end { try await pass(seconds: Self.glance) }
            guard process.state != .exited(0) else { continue }
            findings.append("\(process.name) did not end well: \(process.output.suffix(500))")
        }
    }

    /// Ends everything at once, whatever comes of it.
    func abandon() async {
        for process in workers.flatMap(\.processes) { process.process.send(SIGKILL) }
        unable.abandon()
        await finishLanes()
    }
}
