import Control
package import Foundation
import Logging
package import Mirroring
import Outbox
import ServiceLifecycle
import Settings
import Storage
import Synchronization

/// All mirrors of a process: one with `run`, several with `run --all` and `run --mirrors`.
///
/// Any number of processes can run in parallel without a coordinator. Each has one heartbeat
/// (`Claims`), claims free mirrors up to its fair share, and releases all of them at a shutdown.
/// The passes of its mirrors run in one ``Rounds``.
///
/// The mirror of `run` is a fleet of one, with one difference: an error that needs a person ends
/// the process, while the mirrors of other fleets wait for that person.
package final class MirrorFleet: Service {
    /// Which mirrors a process may work for.
    package enum Selection: Equatable, Sendable {
        /// All mirrors of the database, shared fairly with other such processes.
        case all
        /// These mirrors.
        case named([String])

        /// Whether the selection includes a mirror.
        package func has(_ mirror: String) -> Bool {
            switch self {
            case .all: true
            case .named(let names): names.contains(mirror)
            }
        }
    }

    /// Seconds between two cleanups of the process: its counts of requests are stored, and unused
    /// memory is returned.
    private static let tidyingInterval: TimeInterval = 600
    /// Seconds between two writes of the times at which feeds were read.
    private static let readTimesInterval: TimeInterval = 60
    /// The largest delay of passes, in seconds, at which a process still counts as working.
    private static let latenessAllowed: TimeInterval = 60

    /// Seconds between two checks for changes on a clock that jumps, for which heartbeats in real
    /// time are too rare.
    private static let changesInterval: TimeInterval = 50

    private let installation: Installation
    private let selection: Selection
    /// The worker of the only mirror, whose end ends the process; nil for a fleet of any number of
    /// mirrors.
    private let onlyWorker: Worker?
    private let manager: ServiceManager?
    private let clock: any WallClock
    /// The time at which the work ends, checked from the first held mirror on; nil for no limit.
    private let deadline: Deadline?
    private let rehearsal: Rehearsal
    private let timing: LeaseTiming
    private let rounds: Rounds
    private let claims: Claims
    private let ability: WorkerAbility
    private let crew = Crew()
    /// The process's own passes, which run while it holds mirrors.
    private let upkeep = Mutex<PassGroup?>(nil)
    /// The mirrors of which the log says that another worker holds them.
    private let mirrorsHeldElsewhere = Mutex<Set<String>>([])
    /// Whether the settings that ``onlyWorker`` was made from were read just now; false once it has
    /// begun, or waited for another worker.
    private let hasFreshSettings = Mutex(true)
    /// When ``keepOnce()`` last succeeded, in real time.
    private let lastSuccess = Mutex<ContinuousClock.Instant?>(nil)
    /// Ends with the work, and with its error if there is one.
    private let (endStream, endContinuation) = AsyncThrowingStream<Void, any Error>.makeStream()

    /// - Parameters:
    ///   - installation: The resources that the mirrors share; the caller closes it afterwards.
    ///   - selection: Which mirrors to work for.
    ///   - rehearsal: The differences from a normal process.
    ///   - manager: The service manager to notify of readiness and of each pass; nil for none.
    package convenience init(
        _ installation: Installation, _ selection: Selection, rehearsal: Rehearsal = .off,
        manager: ServiceManager? = nil
    ) {
        self.init(
            installation, selection, onlyWorker: nil, until: nil, rehearsal: rehearsal,
            manager: manager)
    }

    /// Creates a fleet of one mirror, whose worker has opened it.
    ///
    /// - Parameter end: The clock's time at which the work ends, once it holds the mirror; nil for
    ///   a graceful shutdown.
    package convenience init(of worker: Worker, until end: Date? = nil) {
        let mirror = worker.mirror
        self.init(
            mirror.installation, .named([mirror.name]), onlyWorker: worker, until: end,
            rehearsal: mirror.rehearsal,
            manager: worker.manager)
    }

    private init(
        _ installation: Installation, _ selection: Selection, onlyWorker: Worker?, until end: Date?,
        rehearsal: Rehearsal,
        manager: ServiceManager?
    ) {
        let clock = rehearsal.clock ?? installation.clock
        self.installation = installation
        self.selection = selection
        self.onlyWorker = onlyWorker
        self.manager = manager
        self.clock = clock
        self.rehearsal = rehearsal
        deadline = end.map { Deadline($0, on: clock) }
        timing = rehearsal.leaseTiming.sharing
        rounds = Rounds(limit: installation.process.passes, clock: clock)
        ability = WorkerAbility(of: installation, clock: clock)
        claims = Claims(
            storage: installation.storage, version: Version.current,
            scope: selection == .all ? .shared : .listed,
            timing: timing, lateness: { [rounds] in rounds.worstLateness },
            disability: { [ability] in ability.disability },
            now: { clock.now })
    }

    private var logger: Logger { installation.logger }

    /// Runs until a graceful shutdown, or until the given end.
    ///
    /// With several mirrors, a fault of one that needs a person is recorded for that mirror and
    /// does not affect others.
    ///
    /// - Throws: An error of the process that no retry fixes: its database refuses it, or its key
    ///   opens no login; `OutboxError` with code `.outdated` if a newer program has migrated the
    ///   database. In a fleet of one also an error of its mirror that needs a person:
    ///   `ConfigurationError` or refused credentials.
    package func run() async throws {
        if onlyWorker == nil { ProcessHeap.allowFourHeaps() }
        clock.join()
        defer { clock.leave() }
        installation.readTimes.beginCollecting()
        do {
            // A clock that jumps belongs to a rehearsal, which sends no notices.
            if !clock.jumps, let herald = Herald(installation, clock: clock) {
                try await herald.accompany({ [self] in watch }, endsFor: onlyWorker?.mirror.name) {
                    try await work()
                }
            } else {
                try await work()
            }
        } catch {
            await releaseLeases()
            throw onlyWorker == nil ? error : Worker.cause(of: error)
        }
        await releaseLeases()
        if let onlyWorker {
            onlyWorker.logger.info(
                "Worker stopped", metadata: [LogKeys.mirror: "\(onlyWorker.mirror.name)"])
        }
    }

    private func work() async throws {
        defer { deadline?.leave() }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await self.rounds.run()
                    self.endContinuation.finish()
                }
                // With priority over all passes: after a late heartbeat, others assume that this
                // worker has died.
                group.addTask(priority: .high) { try await self.keepMirrors() }
                group.addTask { try await self.checkAbility() }
                group.addTask { for try await _ in self.endStream {} }
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch is DeadlineReached {}
    }

    /// The state that the notifier checks.
    var watch: Notifier.Watch {
        var watch = Notifier.Watch(crew.pulses)
        watch.isOnTime = rounds.worstLateness < Self.latenessAllowed
        // Whether the process sends its heartbeats in time, so that it knows which mirrors are
        // free.
        let hasRecentSuccess = lastSuccess.withLock { lastSuccess in
            guard let lastSuccess else { return false }
            return lastSuccess.duration(to: .now) < timing.silenceLimit
        }
        watch.mayBeIdle = onlyWorker == nil && hasRecentSuccess && claims.unowned == 0
        return watch
    }

    /// Adds the process's own passes, with the first mirror that it holds.
    private func beginUpkeep() {
        let newGroup: PassGroup? = upkeep.withLock { upkeep in
            guard upkeep == nil else { return nil }
            upkeep = rounds.group { _ in }
            return upkeep
        }
        guard let group = newGroup else { return }
        let tidying = Rounds.Pass(name: "tidying", lane: .bot) { [installation, clock] in
            ProcessHeap.returnMemory(after: .seconds(10))
            await installation.storeRequests()
            return clock.now + Self.tidyingInterval
        }
        let readTimes = Rounds.Pass(name: "times", lane: .human) { [installation, clock] in
            await installation.storeReadTimes()
            return clock.now + Self.readTimesInterval
        }
        rounds.add([tidying], to: group, due: clock.now + Self.tidyingInterval)
        rounds.add([readTimes], to: group, due: clock.now + Self.readTimesInterval)
        if clock.jumps {
            let changes = Rounds.Pass(name: "news", lane: .bot) { [weak self, clock] in
                await self?.checkForChanges()
                return clock.now + Self.changesInterval
            }
            rounds.add([changes], to: group, due: clock.now + Self.changesInterval)
        }
        guard let deadline else { return }
        let endPass = Rounds.Pass(name: "end", lane: .human) { [endContinuation] in
            deadline.reach()
            endContinuation.finish(throwing: DeadlineReached())
            return nil
        }
        rounds.add([endPass], to: group, due: deadline.date)
    }

    /// Ends the process's own passes when it holds no mirror, because otherwise a clock that jumps
    /// would advance to their times.
    private func endUpkeep() async {
        let group = upkeep.withLock { upkeep in
            defer { upkeep = nil }
            return upkeep
        }
        if let group { await rounds.end(group) }
    }

    /// Checks at intervals of real time what the process is able to do, even without a mirror.
    private func checkAbility() async throws {
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            await ability.check(isIdle: claims.held.isEmpty)
            // Only cancellation and a shutdown end the sleep early.
            try? await cancelWhenGracefulShutdown { [clock] in
                try await ContinuousClock().sleep(
                    for: .seconds(WorkerAbility.interval / clock.rate))
            }
        }
    }

    // MARK: Keeping mirrors

    private func keepMirrors() async throws {
        var failures = ConsecutiveFailures()
        var hasFittingKey = false
        var isManagerTold = false
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                if !hasFittingKey { try await installation.requireFittingKey() }
                hasFittingKey = true
                try await keepOnce()
                failures = ConsecutiveFailures()
                lastSuccess.withLock { $0 = .now }
            } catch is CancellationError {
                return
            } catch {
                let failureCount = try failures.add(error, at: clock.now).count
                logger.warning(
                    "Mirrors could not be claimed, trying again",
                    metadata: [LogKeys.error: "\(error)", LogKeys.attempt: "\(failureCount)"])
            }
            if !isManagerTold, manager?.tell(.ready) == false {
                logger.warning("The service manager could not be told that the worker is ready")
            }
            isManagerTold = true
            // Only cancellation and a shutdown end the sleep early.
            try? await cancelWhenGracefulShutdown { [timing] in
                try await ContinuousClock().sleep(for: timing.interval)
            }
        }
    }

    /// Sends a heartbeat, ends lost mirrors, begins claimed ones, and hands back mirrors that
    /// belong to others.
    private func keepOnce() async throws {
        ability.logChange(isSharing: selection == .all)
        for mirror in try await claims.beat() { await end(mirror, with: OutboxError.leaseLost) }
        let eligible = try await eligibleMirrors()
        let turn = try await claims.claim(eligible.keys.sorted())
        try await forgetPasses(of: turn.taken.keys.sorted())
        for (mirror, lease) in turn.taken.sorted(by: { $0.key < $1.key }) {
            await begin(mirror, under: lease, version: eligible[mirror] ?? 0)
        }
        try await logMirrorsHeldElsewhere(eligible)
        let ineligible = crew.names.subtracting(eligible.keys)
        for mirror in ineligible.union(turn.surplus) { await end(mirror) }
        await checkForChanges(among: eligible)
        let ended = crew.takeEnded()
        guard !ended.isEmpty else { return }
        try await claims.release(ended)
        for mirror in ended { installation.logger(of: mirror).info("Mirror given back") }
    }

    /// Checks for changes between two heartbeats; an unreadable database is read again later.
    private func checkForChanges() async {
        do {
            await checkForChanges(among: try await eligibleMirrors())
        } catch {
            logger.debug("Changes could not be read", metadata: [LogKeys.error: "\(error)"])
        }
    }

    /// Notifies the mirrors whose version has changed.
    private func checkForChanges(among versions: [String: Int64]) async {
        for (mirror, life) in crew.changed(to: versions) {
            await life.note(version: versions[mirror] ?? 0)
        }
    }

    /// The mirrors that this process may work for, with their versions.
    private func eligibleMirrors() async throws -> [String: Int64] {
        if let onlyWorker {
            // A mirror that is paused or removed notices that itself.
            return [
                onlyWorker.mirror.name: try await onlyWorker.mirror.outbox(lease: nil).wishVersion()
            ]
        }
        let names: [String]? = if case .named(let names) = selection { names } else { nil }
        return try await MirrorTable.versionsOfLiving(
            in: installation.storage, among: names, now: clock.now)
    }

    /// Deletes the recorded passes of `run --once`, which do not matter while this process holds
    /// the mirrors.
    private func forgetPasses(of mirrors: [String]) async throws {
        for portion in mirrors.portions(of: 500) {
            try await LeaseTable.forgetPasses(of: Array(portion), in: installation.storage)
        }
    }

    /// Logs once for each named mirror that another process works for it.
    ///
    /// - Throws: In a fleet of one, an error that needs a person: waiting would be useless.
    private func logMirrorsHeldElsewhere(_ eligible: [String: Int64]) async throws {
        guard selection != .all else { return }
        let heldElsewhere = Set(eligible.keys).subtracting(claims.held.keys)
        let newlyHeldElsewhere = mirrorsHeldElsewhere.withLock { logged in
            defer { logged = heldElsewhere }
            return heldElsewhere.subtracting(logged)
        }
        for mirror in newlyHeldElsewhere.sorted() {
            hasFreshSettings.withLock { $0 = false }
            try await onlyWorker?.checkSettings()
            installation.logger(of: mirror).notice("Another worker holds this mirror, waiting")
        }
    }

    private func begin(_ mirror: String, under lease: Lease, version: Int64) async {
        rehearsal.faultPoints.pass(.leaseTaken)
        let logger = installation.logger(of: mirror)
        let pulse = onlyWorker?.pulse ?? WorkerPulse()
        pulse.holdsMirror = true
        let faults =
            onlyWorker?.faults ?? FaultLog(of: mirror, in: installation, clock: clock, pulse: pulse)
        let isCurrent = hasFreshSettings.withLock { isCurrent in
            defer { isCurrent = false }
            return isCurrent
        }
        let life = MirrorLife(
            lease: lease, rounds: rounds, faults: faults, waitsForPerson: onlyWorker == nil,
            version: version,
            flags: installation.flagWords(of: mirror), clock: clock, logger: logger
        ) { [installation, onlyWorker, manager] lastWorker in
            if let onlyWorker, lastWorker == nil, isCurrent { return onlyWorker }
            if let worker = lastWorker ?? onlyWorker {
                return try await worker.withCurrentSettings()
            }
            return Worker(
                mirror: try await installation.mirror(named: mirror), cadence: nil,
                manager: manager, pulse: pulse,
                faults: faults)
        } onEnd: { [weak self] error in
            await self?.ended(mirror, lease, error)
        }
        // A clock that jumps waits until everything has started.
        clock.join()
        defer { clock.leave() }
        beginUpkeep()
        crew.add(life, mirror, lease, pulse, version: version)
        await life.begin()
    }

    private func end(_ mirror: String, with error: (any Error)? = nil) async {
        await crew.life(of: mirror)?.end(with: error)
    }

    private func ended(_ mirror: String, _ lease: Lease, _ error: (any Error)?) async {
        let isLost = error?.isLostLease == true
        if isLost {
            installation.logger(of: mirror).warning("Lease lost to another worker")
            if claims.lease(of: mirror) == lease { claims.drop(mirror) }
        }
        crew.remove(mirror, lease, isToRelease: !isLost)
        if crew.names.isEmpty { await endUpkeep() }
        guard let onlyWorker else { return }
        onlyWorker.pulse.holdsMirror = false
        guard let error, !isLost else { return }
        await onlyWorker.noteEnd(error)
        endContinuation.finish(throwing: error)
    }

    /// Releases all leases; does not wait for a database that does not answer.
    private func releaseLeases() async {
        do {
            try await claims.endInTime()
            rehearsal.faultPoints.pass(.leaseReleased)
            await installation.endCollectingReadTimes()
        } catch {
            logger.warning("Leases could not be released", metadata: [LogKeys.error: "\(error)"])
        }
    }
}

/// The ``MirrorLife`` of each mirror of a process, and the ended mirrors that must be released.
private final class Crew: @unchecked Sendable {
    // Sendable because its properties are only touched under `lock`.
    private let lock = NSLock()
    private var lives:
        [String: (life: MirrorLife, lease: Lease, pulse: WorkerPulse, version: Int64)] = [:]
    private var ended: [String] = []

    var names: Set<String> { lock.withLock { Set(lives.keys) } }

    var pulses: [String: WorkerPulse] { lock.withLock { lives.mapValues(\.pulse) } }

    func life(of mirror: String) -> MirrorLife? { lock.withLock { lives[mirror]?.life } }

    func add(
        _ life: MirrorLife, _ mirror: String, _ lease: Lease, _ pulse: WorkerPulse, version: Int64
    ) {
        lock.withLock { lives[mirror] = (life, lease, pulse, version) }
    }

    /// Stores new versions, and returns the mirrors whose version has changed.
    func changed(to versions: [String: Int64]) -> [(mirror: String, life: MirrorLife)] {
        lock.withLock {
            lives.compactMap { mirror, entry in
                guard let version = versions[mirror], version != entry.version else { return nil }
                lives[mirror]?.version = version
                return (mirror, entry.life)
            }
        }
    }

    /// Removes the life of a mirror under a lease, unless it has begun under a later lease.
    func remove(_ mirror: String, _ lease: Lease, isToRelease: Bool) {
        lock.withLock {
            guard lives[mirror]?.lease == lease else { return }
            lives[mirror] = nil
            if isToRelease { ended.append(mirror) }
        }
    }

    /// Returns the mirrors whose work has ended since the last call.
    func takeEnded() -> [String] {
        lock.withLock {
            defer { ended = [] }
            return ended
        }
    }
}

/// The time at which the work of a process ends.
private final class Deadline: Sendable {
    let date: Date
    private let clock: any WallClock
    private let wasReached = Mutex(false)

    init(_ date: Date, on clock: any WallClock) {
        self.date = date
        self.clock = clock
    }

    /// Makes a clock that jumps wait, because it must not continue while the passes are cancelled.
    func reach() {
        clock.join()
        wasReached.withLock { $0 = true }
    }

    /// Lets the clock continue, if the deadline was reached.
    func leave() { if wasReached.withLock(\.self) { clock.leave() } }
}

private struct DeadlineReached: Error {}
