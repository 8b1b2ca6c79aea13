import Control
package import Foundation
import Logging
package import Mirroring
import Outbox
import ServiceLifecycle
import Settings
import Storage
import Synchronization

/// All mirrors that a process works for: one with `run`, many with `run --all` and `run --mirrors`.
///
/// Any number of processes run beside each other without a coordinator. Each has one beat
/// (`Claims`), claims the mirrors that nobody holds up to its fair share, and gives all of them
/// back when it is told to end. The passes of its mirrors run in one ``Rounds``.
///
/// The mirror of `run` is a fleet of one, with one difference: an error that only a person can mend
/// ends the process, while the mirrors of the others wait for that person.
package final class MirrorFleet: Service {
    /// Which mirrors a process may work for.
    package enum Selection: Equatable, Sendable {
        /// Those of the database, shared fairly with the other processes that do so.
        case all
        /// These.
        case named([String])

        /// Whether it takes up a mirror.
        package func has(_ mirror: String) -> Bool {
            switch self {
            case .all: true
            case .named(let names): names.contains(mirror)
            }
        }
    }

    /// Seconds between two tidyings of the process: its counts of requests are stored, and its
    /// memory given back.
    private static let tidyingLast: TimeInterval = 600
    /// Seconds for which the process keeps when feeds were read before it stores that.
    private static let readTimesLast: TimeInterval = 60
    /// The most seconds by which passes of a process that does its work are late.
    private static let latenessAllowed: TimeInterval = 60

    /// Seconds between two looks for changes by a clock that jumps, for which beats in real time
    /// are too rare.
    private static let newsLast: TimeInterval = 50

    private let installation: Installation
    private let selection: Selection
    /// The worker of the only mirror, with whose end the process ends; nil in a process of any
    /// number of mirrors.
    private let own: Worker?
    private let manager: ServiceManager?
    private let clock: any WallClock
    /// When the work ends by the clock, once it holds a mirror; nil for at no time.
    private let deadline: Deadline?
    private let rehearsal: Rehearsal
    private let timing: LeaseTiming
    private let rounds: Rounds
    private let claims: Claims
    private let ability: WorkerAbility
    private let crew = Crew()
    /// The passes of the process itself, which run while it holds mirrors.
    private let upkeep = Mutex<PassGroup?>(nil)
    /// The mirrors that others hold, as far as that was told.
    private let awaited = Mutex<Set<String>>([])
    /// Whether the settings of ``own`` are those of now: until it begins, or waits for another
    /// worker.
    private let isOwnCurrent = Mutex(true)
    /// When the mirrors were last looked after, in real time.
    private let lastKept = Mutex<ContinuousClock.Instant?>(nil)
    /// Ends with the work: with an error if that does.
    private let (endings, ending) = AsyncThrowingStream<Void, any Error>.makeStream()

    /// - Parameters:
    ///   - installation: What the mirrors share; the caller closes it afterwards.
    ///   - selection: Which mirrors to work for.
    ///   - rehearsal: How the process differs from one in earnest.
    ///   - manager: The service manager that is told of readiness and of each pass; nil for none.
    package convenience init(
        _ installation: Installation, _ selection: Selection, rehearsal: Rehearsal = .off,
        manager: ServiceManager? = nil
    ) {
        self.init(
            installation, selection, own: nil, until: nil, rehearsal: rehearsal, manager: manager)
    }

    /// The fleet of one mirror, which its worker has opened.
    ///
    /// - Parameter end: What the clock shows when the work ends, once it holds the mirror; nil for
    ///   a graceful shutdown.
    package convenience init(of worker: Worker, until end: Date? = nil) {
        let mirror = worker.mirror
        self.init(
            mirror.installation, .named([mirror.name]), own: worker, until: end,
            rehearsal: mirror.rehearsal,
            manager: worker.manager)
    }

    private init(
        _ installation: Installation, _ selection: Selection, own: Worker?, until end: Date?,
        rehearsal: Rehearsal,
        manager: ServiceManager?
    ) {
        let clock = rehearsal.clock ?? installation.clock
        self.installation = installation
        self.selection = selection
        self.own = own
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
            timing: timing, lateness: { [rounds] in rounds.latest },
            disability: { [ability] in ability.disability },
            now: { clock.now })
    }

    private var logger: Logger { installation.logger }

    /// Runs until a graceful shutdown, or the end that was given.
    ///
    /// With several mirrors, a fault of one that only a person can mend is noted for that mirror
    /// and ends nothing else.
    ///
    /// - Throws: An error of the process that no retry mends: its database refuses it, or its key
    ///   opens no login; `OutboxError` with code `.outdated` if a newer program has migrated the
    ///   database. In a fleet of one also an error of its mirror that only a person can mend:
    ///   `ConfigurationError` or refused credentials.
    package func run() async throws {
        if own == nil { ProcessHeap.divide() }
        clock.join()
        defer { clock.leave() }
        installation.readTimes.beginCollecting()
        do {
            // A clock that jumps is a rehearsal's, of which nobody is told.
            if !clock.jumps, let herald = Herald(installation, clock: clock) {
                try await herald.accompany({ [self] in watch }, endsFor: own?.mirror.name) {
                    try await work()
                }
            } else {
                try await work()
            }
        } catch {
            await giveBack()
            throw own == nil ? error : Worker.cause(of: error)
        }
        await giveBack()
        if let own {
            own.logger.info("Worker stopped", metadata: [LogKeys.mirror: "\(own.mirror.name)"])
        }
    }

    private func work() async throws {
        defer { deadline?.leave() }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await self.rounds.run()
                    self.ending.finish()
                }
                // Before all passes: a beat that waits for them lets others believe that this
                // worker has died.
                group.addTask(priority: .high) { try await self.keepMirrors() }
                group.addTask { try await self.checkAbility() }
                group.addTask { for try await _ in self.endings {} }
                defer { group.cancelAll() }
                while try await group.next() != nil {}
            }
        } catch is DeadlineReached {}
    }

    /// The signs of life that the notifier checks.
    var watch: Notifier.Watch {
        var watch = Notifier.Watch(crew.pulses)
        watch.isLively = rounds.latest < Self.latenessAllowed
        let isKept = lastKept.withLock {
            $0.map { $0.duration(to: .now) < timing.patience } ?? false
        }
        watch.mayBeIdle = own == nil && isKept && claims.unowned == 0
        return watch
    }

    /// Adds the passes of the process itself, with the first mirror that it holds.
    private func beginUpkeep() {
        let begun: PassGroup? = upkeep.withLock { upkeep in
            guard upkeep == nil else { return nil }
            upkeep = rounds.group { _ in }
            return upkeep
        }
        guard let group = begun else { return }
        let tidying = Rounds.Pass(name: "tidying", lane: .bot) { [installation, clock] in
            ProcessHeap.giveBack(after: .seconds(10))
            await installation.storeRequests()
            return clock.now + Self.tidyingLast
        }
        let times = Rounds.Pass(name: "times", lane: .human) { [installation, clock] in
            await installation.storeReadTimes()
            return clock.now + Self.readTimesLast
        }
        rounds.add([tidying], to: group, due: clock.now + Self.tidyingLast)
        rounds.add([times], to: group, due: clock.now + Self.readTimesLast)
        if clock.jumps {
            let news = Rounds.Pass(name: "news", lane: .bot) { [weak self, clock] in
                await self?.lookForNews()
                return clock.now + Self.newsLast
            }
            rounds.add([news], to: group, due: clock.now + Self.newsLast)
        }
        guard let deadline else { return }
        let last = Rounds.Pass(name: "end", lane: .human) { [ending] in
            deadline.isReached()
            ending.finish(throwing: DeadlineReached())
            return nil
        }
        rounds.add([last], to: group, due: deadline.date)
    }

    /// Ends the passes of the process itself when it holds no mirror: a clock that jumps would go
    /// on for them.
    private func endUpkeep() async {
        let group = upkeep.withLock { upkeep in
            defer { upkeep = nil }
            return upkeep
        }
        if let group { await rounds.end(group) }
    }

    /// Checks in real time what the process can do: no mirror is needed for that.
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
        var patience = WorkPatience()
        var hasFittingKey = false
        var isManagerTold = false
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                if !hasFittingKey { try await installation.requireFittingKey() }
                hasFittingKey = true
                try await keepOnce()
                patience = WorkPatience()
                lastKept.withLock { $0 = .now }
            } catch is CancellationError {
                return
            } catch {
                let failures = try patience.endures(error, at: clock.now).failures
                logger.warning(
                    "Mirrors could not be claimed, trying again",
                    metadata: [LogKeys.error: "\(error)", LogKeys.attempt: "\(failures)"])
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

    /// Beats, ends what was lost, begins what was claimed, and hands back what others are to have.
    private func keepOnce() async throws {
        ability.tell(isSharing: selection == .all)
        for mirror in try await claims.beat() { await end(mirror, with: OutboxError.leaseLost) }
        let wanted = try await wanted()
        let turn = try await claims.claim(wanted.keys.sorted())
        try await forgetPasses(of: turn.taken.keys.sorted())
        for (mirror, lease) in turn.taken.sorted(by: { $0.key < $1.key }) {
            await begin(mirror, under: lease, version: wanted[mirror] ?? 0)
        }
        try await tellOfWaiting(wanted)
        let gone = crew.names.subtracting(wanted.keys)
        for mirror in gone.union(turn.surplus) { await end(mirror) }
        await lookForNews(among: wanted)
        let ended = crew.takeEnded()
        guard !ended.isEmpty else { return }
        try await claims.release(ended)
        for mirror in ended { installation.logger(of: mirror).info("Mirror given back") }
    }

    /// Looks for changes between two beats; a database that cannot be read now is asked again.
    private func lookForNews() async {
        do {
            await lookForNews(among: try await wanted())
        } catch {
            logger.debug("Changes could not be read", metadata: [LogKeys.error: "\(error)"])
        }
    }

    /// Lets mirrors look that somebody has changed.
    private func lookForNews(among versions: [String: Int64]) async {
        for (mirror, life) in crew.changed(to: versions) {
            await life.look(at: versions[mirror] ?? 0)
        }
    }

    /// The mirrors that this process may work for, with their versions.
    private func wanted() async throws -> [String: Int64] {
        if let own {
            // One that pauses, or was removed, finds that out itself.
            return [own.mirror.name: try await own.mirror.outbox(lease: nil).wishVersion()]
        }
        let names: [String]? = if case .named(let names) = selection { names } else { nil }
        return try await MirrorTable.versionsOfLiving(
            in: installation.storage, among: names, now: clock.now)
    }

    /// A mirror that this process works for does not depend on `run --once` any more.
    private func forgetPasses(of mirrors: [String]) async throws {
        for portion in mirrors.portions(of: 500) {
            try await LeaseTable.forgetPasses(of: Array(portion), in: installation.storage)
        }
    }

    /// Tells once of each named mirror for which another process works.
    ///
    /// - Throws: In a fleet of one what only a person can mend, so that nobody waits in vain.
    private func tellOfWaiting(_ wanted: [String: Int64]) async throws {
        guard selection != .all else { return }
        let others = Set(wanted.keys).subtracting(claims.held.keys)
        let news = awaited.withLock { awaited in
            defer { awaited = others }
            return others.subtracting(awaited)
        }
        for mirror in news.sorted() {
            isOwnCurrent.withLock { $0 = false }
            try await own?.checkSettings()
            installation.logger(of: mirror).notice("Another worker holds this mirror, waiting")
        }
    }

    private func begin(_ mirror: String, under lease: Lease, version: Int64) async {
        rehearsal.faultPoints.pass(.leaseTaken)
        let logger = installation.logger(of: mirror)
        let pulse = own?.pulse ?? WorkerPulse()
        pulse.holdsMirror = true
        let faults =
            own?.faults ?? FaultLog(of: mirror, in: installation, clock: clock, pulse: pulse)
        let isCurrent = isOwnCurrent.withLock { isCurrent in
            defer { isCurrent = false }
            return isCurrent
        }
        let life = MirrorLife(
            lease: lease, rounds: rounds, faults: faults, waitsForPerson: own == nil,
            version: version,
            flags: installation.flagWords(of: mirror), clock: clock, logger: logger
        ) { [installation, own, manager] last in
            if let own, last == nil, isCurrent { return own }
            if let last = last ?? own { return try await last.withCurrentSettings() }
            return Worker(
                mirror: try await installation.mirror(named: mirror), cadence: nil,
                manager: manager, pulse: pulse,
                faults: faults)
        } onEnd: { [weak self] error in
            await self?.ended(mirror, lease, error)
        }
        // A clock that jumps stands still until all of it is there.
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
        guard let own else { return }
        own.pulse.holdsMirror = false
        guard let error, !isLost else { return }
        await own.noteEnd(error)
        ending.finish(throwing: error)
    }

    /// Gives all leases back; a database that does not answer is not waited for.
    private func giveBack() async {
        do {
            try await claims.endInTime()
            rehearsal.faultPoints.pass(.leaseReleased)
            await installation.endCollectingReadTimes()
        } catch {
            logger.warning("Leases could not be released", metadata: [LogKeys.error: "\(error)"])
        }
    }
}

/// The lives of the mirrors that a process works for, and those that have ended and are to be given
/// back.
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

    /// The mirrors whose version differs from the last one.
    func changed(to versions: [String: Int64]) -> [(mirror: String, life: MirrorLife)] {
        lock.withLock {
            lives.compactMap { mirror, known in
                guard let version = versions[mirror], version != known.version else { return nil }
                lives[mirror]?.version = version
                return (mirror, known.life)
            }
        }
    }

    /// Removes the life of a mirror under a lease; one that has begun under a later lease stays.
    func remove(_ mirror: String, _ lease: Lease, isToRelease: Bool) {
        lock.withLock {
            guard lives[mirror]?.lease == lease else { return }
            lives[mirror] = nil
            if isToRelease { ended.append(mirror) }
        }
    }

    /// The mirrors whose work has stopped since the last call.
    func takeEnded() -> [String] {
        lock.withLock {
            defer { ended = [] }
            return ended
        }
    }
}

/// The time until which a process was to run.
private final class Deadline: Sendable {
    let date: Date
    private let clock: any WallClock
    private let wasReached = Mutex(false)

    init(_ date: Date, on clock: any WallClock) {
        self.date = date
        self.clock = clock
    }

    /// From now on a clock that jumps stands still: it must not go on while the passes are
    /// cancelled.
    func isReached() {
        clock.join()
        wasReached.withLock { $0 = true }
    }

    func leave() { if wasReached.withLock(\.self) { clock.leave() } }
}

private struct DeadlineReached: Error {}
