import Control
import Foundation
import Logging
package import Mirroring
import Outbox
import ServiceLifecycle
import Settings
import Storage
import Synchronization

/// All mirrors that a process works for: `run --all` and `run --mirrors`.
///
/// Any number of processes run beside each other without a coordinator. Each has one beat (`Claims`), claims the mirrors
/// that nobody holds up to its fair share, and gives all of them back when it is told to end. The passes of its mirrors
/// run in one ``Rounds``.
package final class MirrorFleet: Service {
    /// Which mirrors a process may work for.
    package enum Selection: Equatable, Sendable {
        /// Those of the database, shared fairly with the other processes that do so.
        case all
        /// These.
        case named([String])
    }

    /// Seconds between two tidyings of the process: its counts of requests are stored, and its memory given back.
    private static let tidyingLast: TimeInterval = 600
    /// Seconds for which the process keeps when feeds were read before it stores that.
    private static let readTimesLast: TimeInterval = 60
    /// The most seconds by which passes of a process that does its work are late.
    private static let latenessAllowed: TimeInterval = 60

    private let installation: Installation
    private let selection: Selection
    private let manager: ServiceManager?
    private let clock: any WallClock
    private let timing: LeaseTiming
    private let rounds: Rounds
    private let claims: Claims
    private let ability: WorkerAbility
    private let crew = Crew()
    /// When the mirrors were last looked after, in real time.
    private let lastKept = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameters:
    ///   - installation: What the mirrors share; the caller closes it afterwards.
    ///   - selection: Which mirrors to work for.
    ///   - rehearsal: How the process differs from one in earnest.
    ///   - manager: The service manager that is told of readiness and of each pass; nil for none.
    package init(
        _ installation: Installation, _ selection: Selection, rehearsal: Rehearsal = .off,
        manager: ServiceManager? = nil
    ) {
        let clock = rehearsal.clock ?? installation.clock
        (self.installation, self.selection, self.manager, self.clock) = (installation, selection, manager, clock)
        timing = rehearsal.leaseTiming.sharing
        rounds = Rounds(limit: installation.process.passes, clock: clock)
        ability = WorkerAbility(of: installation, clock: clock)
        claims = Claims(
            storage: installation.storage, version: Version.current, scope: selection == .all ? .shared : .listed,
            timing: timing, lateness: { [rounds] in rounds.latest }, disability: { [ability] in ability.disability },
            now: { clock.now })
    }

    private var logger: Logger { installation.logger }

    /// Runs until a graceful shutdown.
    ///
    /// What only a person can mend about one mirror is noted for it and ends nothing else.
    ///
    /// - Throws: What no retry mends about the process: its database refuses it, or was migrated by a newer version, or its
    ///   key opens no login.
    package func run() async throws {
        ProcessHeap.divide()
        clock.join()
        defer { clock.leave() }
        installation.readTimes.collect()
        do {
            if let herald = Herald(installation, clock: clock) {
                try await herald.accompany { [self] in
                    watch
                } _: {
                    try await work()
                }
            } else {
                try await work()
            }
        } catch {
            await giveBack()
            throw error
        }
        await giveBack()
    }

    private func work() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await self.rounds.run() }
            // Before all passes: a beat that waits for them lets others believe that this worker has died.
            group.addTask(priority: .high) { try await self.keepMirrors() }
            self.beginTidying()
            self.beginChecks()
            defer { group.cancelAll() }
            // The rounds end with the process; only the other can fail.
            while try await group.next() != nil {}
        }
    }

    /// What the notifier goes by.
    var watch: Notifier.Watch {
        var watch = Notifier.Watch(crew.pulses)
        watch.isLively = rounds.latest < Self.latenessAllowed
        let isKept = lastKept.withLock { $0.map { $0.duration(to: .now) < timing.patience } ?? false }
        watch.mayBeIdle = isKept && claims.unowned == 0
        return watch
    }

    private func beginTidying() {
        let group = rounds.group { _ in }
        let tidying = Rounds.Pass(name: "tidying", lane: .bot) { [installation, clock] in
            ProcessHeap.giveBack()
            await installation.storeRequests()
            return clock.now + Self.tidyingLast
        }
        let times = Rounds.Pass(name: "times", lane: .human) { [installation, clock] in
            await installation.storeReadTimes()
            return clock.now + Self.readTimesLast
        }
        rounds.add([tidying, times], to: group)
    }

    private func beginChecks() {
        let check = Rounds.Pass(name: "ability", lane: .bot) { [ability, claims, clock] in
            await ability.check(isIdle: claims.held.isEmpty)
            return clock.now + WorkerAbility.interval
        }
        rounds.add([check], to: rounds.group { _ in })
    }

    // MARK: Keeping mirrors

    private func keepMirrors() async throws {
        if manager?.tell(.ready) == false {
            logger.warning("The service manager could not be told that the worker is ready")
        }
        var patience = WorkPatience()
        var hasFittingKey = false
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
            try? await cancelWhenGracefulShutdown { [timing] in
                try await ContinuousClock().sleep(for: timing.interval)
            }
        }
    }

    /// Beats, ends what was lost, begins what was claimed, and hands back what others are to have.
    private func keepOnce() async throws {
        ability.tell()
        for mirror in try await claims.beat() { await end(mirror, with: OutboxError.leaseLost) }
        let wanted = try await wanted()
        let turn = try await claims.claim(wanted.keys.sorted())
        for (mirror, lease) in turn.taken.sorted(by: { $0.key < $1.key }) {
            await begin(mirror, under: lease, version: wanted[mirror] ?? 0)
        }
        let gone = crew.names.subtracting(wanted.keys)
        for mirror in gone.union(turn.surplus) { await end(mirror) }
        for (mirror, life) in crew.changed(to: wanted) { await life.look(at: wanted[mirror] ?? 0) }
        let ended = crew.takeEnded()
        guard !ended.isEmpty else { return }
        try await claims.release(ended)
        for mirror in ended { installation.logger(of: mirror).info("Mirror given back") }
    }

    /// The mirrors that this process may work for, with their versions.
    private func wanted() async throws -> [String: Int64] {
        let living = try await MirrorTable.versionsOfLiving(in: installation.storage, now: clock.now)
        guard case .named(let names) = selection else { return living }
        let wanted = Set(names)
        return living.filter { wanted.contains($0.key) }
    }

    private func begin(_ mirror: String, under lease: Lease, version: Int64) async {
        let logger = installation.logger(of: mirror)
        let pulse = WorkerPulse()
        pulse.holdsMirror = true
        let faults = FaultLog(of: mirror, in: installation, clock: clock, pulse: pulse)
        let life = MirrorLife(
            lease: lease, rounds: rounds, company: .many(faults), version: version,
            flags: installation.flagWords(of: mirror), clock: clock, logger: logger
        ) { [installation, manager] last in
            if let last { return try await last.withCurrentSettings() }
            return Worker(
                mirror: try await installation.mirror(named: mirror), cadence: nil, manager: manager, pulse: pulse,
                faults: faults, isOneOfMany: true)
        } onEnd: { [weak self] error in
            self?.ended(mirror, lease, error)
        }
        crew.add(life, mirror, lease, pulse, version: version)
        await life.begin()
    }

    private func end(_ mirror: String, with error: (any Error)? = nil) async {
        await crew.life(of: mirror)?.end(with: error)
    }

    private func ended(_ mirror: String, _ lease: Lease, _ error: (any Error)?) {
        let isLost = error?.isLostLease == true
        if isLost {
            installation.logger(of: mirror).warning("Lease lost to another worker")
            if claims.lease(of: mirror) == lease { claims.drop(mirror) }
        }
        crew.remove(mirror, lease, isToRelease: !isLost)
    }

    /// Gives all leases back; a database that does not answer is not waited for.
    private func giveBack() async {
        do {
            try await claims.endInTime()
            await installation.storeReadTimes()
        } catch {
            logger.warning("Leases could not be released", metadata: [LogKeys.error: "\(error)"])
        }
    }
}

/// The lives of the mirrors that a process works for, and those that have ended and are to be given back.
private final class Crew: @unchecked Sendable {
    // Sendable because its properties are only touched under `lock`.
    private let lock = NSLock()
    private var lives: [String: (life: MirrorLife, lease: Lease, pulse: WorkerPulse, version: Int64)] = [:]
    private var ended: [String] = []

    var names: Set<String> { lock.withLock { Set(lives.keys) } }

    var pulses: [String: WorkerPulse] { lock.withLock { lives.mapValues(\.pulse) } }

    func life(of mirror: String) -> MirrorLife? { lock.withLock { lives[mirror]?.life } }

    func add(_ life: MirrorLife, _ mirror: String, _ lease: Lease, _ pulse: WorkerPulse, version: Int64) {
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
