package import Control
import Favorites
package import Foundation
import Logging
package import Mirroring
import Networks
package import Outbox
import Posts
import ServiceLifecycle
import Settings
import Storage

/// The worker of one mirror: observes two accounts, remembers, decides and delivers.
package struct Worker: Sendable {
    let mirror: HumanMirror
    /// The polling interval of each feed.
    let cadence: Cadence
    /// The cadence given to `init`; nil for the configured one.
    private let givenCadence: Cadence?
    let manager: ServiceManager?
    /// Live status of the worker, read by the notifier and the watchdog.
    let pulse: WorkerPulse?
    /// The parts of the work that fail now, stored for every process to read.
    private let faults: FaultLog

    /// - Parameters:
    ///   - mirror: The open mirror, whose clock and logger the worker uses.
    ///   - cadence: The polling intervals; nil for the configured ones.
    ///   - manager: The service manager that is notified of readiness and of each pass; nil for none.
    ///   - pulse: The live status to update; nil for none.
    package init(
        mirror: HumanMirror, cadence: Cadence? = nil, manager: ServiceManager? = nil, pulse: WorkerPulse? = nil
    ) {
        self.init(
            mirror: mirror, cadence: cadence, manager: manager, pulse: pulse,
            faults: FaultLog(of: mirror, pulse: pulse))
    }

    private init(
        mirror: HumanMirror, cadence: Cadence?, manager: ServiceManager?, pulse: WorkerPulse?, faults: FaultLog
    ) {
        self.mirror = mirror
        self.manager = manager
        self.pulse = pulse
        self.faults = faults
        givenCadence = cadence
        let configuration = mirror.configuration
        self.cadence =
            cadence
            ?? Cadence(
                poll: configuration.pollInterval, human: configuration.humanNetwork, bot: configuration.botNetwork)
    }

    var clock: any WallClock { mirror.clock }

    var logger: Logger { mirror.logger }

    /// Runs until a graceful shutdown, holding the mirror's lease.
    ///
    /// While another worker holds the lease, this one waits until the other ends or falls silent.
    ///
    /// - Throws: What only a person can mend: `ConfigurationError` or refused credentials.
    package func run() async throws { try await run(until: nil) }

    /// Runs until a graceful shutdown or until the clock shows `end`.
    ///
    /// - Throws: What only a person can mend: `ConfigurationError` or refused credentials.
    package func run(until end: Date?) async throws {
        let keeper = leaseKeeper()
        while let lease = try await lease(from: keeper) {
            // Whoever waits for the end counts until all is over: the clock must not go on while the loops are cancelled,
            // or while the worker begins anew.
            if end != nil { clock.join() }
            defer { if end != nil { clock.leave() } }
            pulse?.holdsMirror = true
            defer { pulse?.holdsMirror = false }
            do {
                try await workOn(under: lease, keeper: keeper, until: end)
                return await keeper.release(lease)
            } catch let error as OutboxError where error.code == .leaseLost {
                logger.warning("Lease lost to another worker, waiting for it")
            } catch {
                await noteEnd(error)
                await keeper.release(lease)
                throw Self.cause(of: error)
            }
        }
    }

    /// Stores why the worker ends if no retry can succeed, so that `status` can tell without a worker.
    private func noteEnd(_ error: any Error) async {
        let cause = Self.cause(of: error)
        if Retry.isInVain(cause), !(cause is CancellationError) { await faults.fails(WorkFault.end, cause) }
    }

    /// Works, and restarts after a change of settings, logins or accounts.
    private func workOn(under lease: Lease, keeper: LeaseKeeper, until end: Date?) async throws {
        var worker = self
        while true {
            do {
                return try await worker.work(under: lease, keeper: keeper, until: end)
            } catch let error as OutboxError where error.code == .paused {
                logger.debug("A pause began while something was about to be sent")
            } catch is MirrorChanged {
                logger.notice("Logins, accounts, settings or a pause changed, starting anew")
                guard let mirror = try await mirrorWhenReachable() else { return }
                worker = Worker(
                    mirror: mirror, cadence: givenCadence, manager: manager, pulse: pulse, faults: faults)
            }
        }
    }

    /// Returns the mirror with its present settings as soon as the database answers; nil if the worker ends before
    /// that.
    ///
    /// A lease that is lost meanwhile shows in the next operation.
    private func mirrorWhenReachable() async throws -> HumanMirror? {
        var failures = 0
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                return try await mirror.withCurrentSettings()
            } catch  where !Retry.isInVain(error) {
                failures += 1
                try await waitToStart(after: failures, error)
            }
        }
        return nil
    }

    /// Waits before the next attempt to start, and logs the failure.
    ///
    /// - Parameters:
    ///   - known: The settings and logins that the failed attempt used; nil if the next attempt reads them again.
    /// - Throws: ``MirrorChanged`` if they differ from `known`.
    private func waitToStart(
        after failures: Int, _ error: any Error, goingBy known: MirrorStamp? = nil
    ) async throws(MirrorChanged) {
        await faults.fails(WorkFault.start, error)
        let next = RetryRule.work.next(after: failures, of: "start", error, now: clock.now)
        logger.warning(
            "Start failed, trying again",
            metadata: [
                LogKeys.error: "\(error)", LogKeys.attempt: "\(failures)", LogKeys.until: "\(next)",
            ])
        repeat {
            let look = known == nil ? next : min(next, clock.now + Self.changesLast)
            try? await cancelWhenGracefulShutdown { try await clock.sleep(until: look) }
            if let known, let stamp = try? await mirror.stamp(), !stamp.isSame(as: known) { throw MirrorChanged() }
        } while clock.now < next && !Task.isCancelled && !Task.isShuttingDownGracefully
    }

    /// Makes one pass over everything, for cron.
    ///
    /// - Returns: False, without any work, if another worker holds the mirror.
    /// - Throws: The first error of a step, after the remaining steps.
    package func runOnce() async throws -> Bool {
        do {
            let done: Void? = try await leaseKeeper().holdingNow { lease in
                pulse?.holdsMirror = true
                await notePass()
                let parts = try await noting(WorkFault.start) {
                    try await self.parts(lease: lease, deliverer: nil, gates: hasty)
                }
                await faults.begins(Passes(parts: parts).all.map(\.name) + [Self.tidying, WorkFault.clock])
                do {
                    try await pass(parts)
                    // A worker that looks only once is the only one that there is.
                    try await noting(Self.tidying) { try await Passes(parts: parts).clean() }
                } catch {
                    await endPass(parts.bot)
                    throw error
                }
                await endPass(parts.bot)
            }
            return done != nil
        } catch {
            await noteEnd(error)
            throw Self.cause(of: error)
        }
    }

    /// Records a call of `run --once`, so that a mirror driven by cron counts as running between two calls.
    ///
    /// An error of this write is ignored.
    package func notePass() async {
        try? await LeaseTable(storage: mirror.storage, mirror: mirror.name).notePass(now: clock.now)
    }

    /// Records what a pass found out besides its work, also one that failed.
    private func endPass(_ bot: AccountGate) async {
        await compareClocks(bot)
        await mirror.storeRequests()
    }

    /// Records the difference between this machine's clock and the network's.
    private func compareClocks(_ bot: AccountGate) async {
        guard let lead = bot.clockLead else { return }
        pulse?.compares(clockLead: lead)
        if let difference = ClockDifference(lead: lead) {
            await faults.fails(WorkFault.clock, difference)
        } else {
            await faults.works(WorkFault.clock)
        }
    }

    /// Decides everything once and reports what would be sent, without sending or storing anything.
    ///
    /// - Returns: Today's plan; nil if there is nothing to plan from.
    /// - Throws: The first error of any step.
    package func dryRun(report: @escaping @Sendable (Action) -> Void) async throws -> PlanReport? {
        do {
            return try await mirror.scratch().closing { scratch in
                let worker = Worker(mirror: scratch, cadence: cadence)
                let parts = try await worker.parts(
                    lease: nil, deliverer: PretendDeliverer(report: report), gates: hasty)
                try await worker.pass(parts)
                let today = LocalTime(clock.now, in: parts.zone).day
                return try await PlanReporter(mirror: scratch, zone: parts.zone).report(on: today, now: clock.now)
            }
        } catch {
            throw Self.cause(of: error)
        }
    }

    /// Gates that do not wait for a refused account: a person waits for the result.
    private var hasty: Gates { Gates(patience: .none) }

    /// The error to report: for an unusable account the network's own error, for a missing training the missing setting.
    private static func cause(of error: any Error) -> any Error {
        (error as? UnusableAccount)?.cause ?? (error as? AwaitsTraining)?.cause ?? error
    }

    private func leaseKeeper() -> LeaseKeeper {
        LeaseKeeper(
            table: LeaseTable(storage: mirror.storage, mirror: mirror.name), clock: clock,
            timing: mirror.rehearsal.leaseTiming, faultPoints: mirror.rehearsal.faultPoints, logger: logger)
    }

    /// Acquires the mirror's lease.
    ///
    /// A standby with unusable settings ends instead of waiting.
    private func lease(from keeper: LeaseKeeper) async throws -> Lease? {
        do {
            let lease = try await keeper.acquire {
                try await checkSettings()
                tellReady()
            }
            if lease != nil { tellReady() }
            return lease
        } catch {
            throw Self.cause(of: error)
        }
    }

    private func tellReady() {
        guard manager?.tell(.ready) == false else { return }
        logger.warning("The service manager could not be told that the worker is ready")
    }

    private func work(under lease: Lease, keeper: LeaseKeeper, until end: Date?) async throws {
        try? await LeaseTable(storage: mirror.storage, mirror: mirror.name).forgetPasses()
        // A loop that ended counts until it was heard what it ended with.
        var loopsLeft = 0
        defer { for _ in 0..<loopsLeft { clock.leave() } }
        try await withThrowingTaskGroup(of: Ending.self) { group in
            group.addTask {
                try await keeper.beat(lease)
                return .heartbeat
            }
            guard let (parts, stamp) = try await partsWhenReachable(lease: lease, until: end) else {
                return group.cancelAll()
            }
            var loops = loops(Passes(parts: parts), since: stamp)
            // A virtual clock waits for everybody who joined, so all join before the first one sleeps.
            for index in loops.indices { loops[index].turn = clock.join() }
            loopsLeft = loops.count
            await faults.begins(loops.map(\.name) + [WorkFault.clock])
            logger.info("Worker started", metadata: [LogKeys.mirror: "\(mirror.name)"])
            for loop in loops {
                group.addTask {
                    try await loop.run()
                    return .loop
                }
            }
            if let end {
                group.addTask {
                    try? await clock.sleep(until: end)
                    return .deadline
                }
            }
            while loopsLeft > 0, let ending = try await group.next() {
                switch ending {
                case .loop:
                    loopsLeft -= 1
                    clock.leave()
                case .deadline: group.cancelAll()
                case .heartbeat: break
                }
            }
            group.cancelAll()
        }
        logger.info("Worker stopped", metadata: [LogKeys.mirror: "\(mirror.name)"])
    }

    /// Makes the parts of the worker as soon as the networks and the database answer; nil if the worker ends before
    /// that.
    ///
    /// The stamp identifies the settings and logins that the parts use.
    ///
    /// - Throws: ``MirrorChanged`` if settings or logins changed meanwhile; errors that no retry can mend.
    private func partsWhenReachable(
        lease: Lease, until end: Date?
    ) async throws -> (WorkerParts, MirrorStamp)? {
        let gates = Gates()
        var failures = 0
        var known: MirrorStamp?
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            do {
                let before = if let known { known } else { try await mirror.stamp() }
                known = before
                guard try await isToGoOn(until: end, lease: lease, gates: gates) else { return nil }
                let parts = try await parts(lease: lease, deliverer: nil, gates: gates)
                // A first start binds the accounts itself.
                let stamp = try await mirror.stamp()
                guard stamp.isSame(as: before) else { throw MirrorChanged() }
                return (parts, stamp)
            } catch is CancellationError {
                return nil
            } catch  where !Retry.isInVain(error) {
                try gates.check()
                failures += 1
                try await waitToStart(after: failures, error, goingBy: known)
            }
        }
        return nil
    }

    /// Waits until the end of a pause; false if the worker ends before that.
    ///
    /// Requests to undo are carried out meanwhile.
    private func isToGoOn(until end: Date?, lease: Lease, gates: Gates) async throws -> Bool {
        var isAnnounced = false
        while let pause = try await mirror.table.pause(at: clock.now) {
            if Task.isCancelled || Task.isShuttingDownGracefully || clock.now >= end ?? .distantFuture { return false }
            if !isAnnounced {
                logger.notice(
                    "Paused",
                    metadata: [
                        LogKeys.until: "\(pause.until?.rfc3339 ?? "resumed")", LogKeys.reason: "\(pause.reason ?? "-")",
                    ])
                isAnnounced = true
                await faults.begins([])
            }
            let undo = try await takeBack(lease: lease, gates: gates)
            notePause()
            let next = min(
                max(undo, clock.now + 1), clock.now + Self.changesLast, pause.until ?? .distantFuture,
                end ?? .distantFuture)
            try? await cancelWhenGracefulShutdown { try await clock.sleep(until: next) }
        }
        if isAnnounced { logger.notice("Resumed") }
        return true
    }

    /// Carries out due requests to undo during a pause.
    ///
    /// - Returns: The time of the next check.
    /// - Throws: What only a person can mend; the store's error.
    private func takeBack(lease: Lease, gates: Gates) async throws -> Date {
        let store = mirror.outbox(lease: lease)
        guard let due = try await store.nextRecall(now: clock.now) else { return .distantFuture }
        guard due <= clock.now else { return due }
        try await mirror.table.requireHere()
        do {
            let bot = gates.gate(before: try await mirror.confirmedBotNetwork(), .bot, of: self)
            guard try await bot.isOpen() else { return bot.pause(at: clock.now) ?? .distantFuture }
            _ = try await Recall(mirror, network: bot, lease: lease).carryOut()
        } catch let error as NetworkError where !error.stopsActor {
            logger.warning("Nothing taken back yet", metadata: [LogKeys.error: "\(error)"])
            return .distantFuture
        }
        return try await store.nextRecall(now: clock.now) ?? .distantFuture
    }

    /// Counts a pause that a person wants as working, for the watchdog and the heartbeat.
    package func notePause() { pulse?.works(uptime: clock.uptime) }

    /// Seconds between two checks for changed logins, settings or pauses.
    private static let changesLast: TimeInterval = 50
    /// Seconds between two writes of the request counts, which `status --metrics` shows.
    private static let metricsLast: TimeInterval = 600

    private static let tidying = "tidying"

    /// The kind of task that ended.
    private enum Ending {
        case loop
        case deadline
        case heartbeat
    }

    private func loops(_ passes: Passes, since stamp: MirrorStamp) -> [PollingLoop] {
        let loops = passes.all.map { pass in
            loop(pass.name) { [pulse, clock] in
                let next = try await pass.run()
                if pass.sends { pulse?.works(uptime: clock.uptime) }
                return next
            }
        }
        let tidying = loop(Self.tidying) { [clock] in
            ProcessHeap.giveBack()
            try await passes.clean()
            try await passes.judge()
            return clock.now + 3_600
        }
        let changes = loop("changes") { [clock, mirror] in
            guard try await mirror.stamp() == stamp else { throw MirrorChanged() }
            await compareClocks(passes.parts.bot)
            return clock.now + Self.changesLast
        }
        let metrics = loop("metrics") { [clock, mirror] in
            await mirror.storeRequests()
            return clock.now + Self.metricsLast
        }
        return loops + [tidying, changes, metrics]
    }

    private func loop(_ name: String, _ pass: @escaping @Sendable () async throws -> Date) -> PollingLoop {
        PollingLoop(name: name, clock: clock, logger: logger) {
            try await noting(name) {
                guard let manager else { return try await pass() }
                return try await manager.watching("\(mirror.name)/\(name)", pass)
            }
        }
    }

    /// Does a part of the work and records whether it failed, except for errors that end the worker.
    private func noting<Value>(_ part: String, _ work: () async throws -> Value) async throws -> Value {
        do {
            let value = try await work()
            await faults.works(part)
            return value
        } catch {
            let isEnding = Task.isCancelled || Task.isShuttingDownGracefully || Retry.isInVain(error)
            if !isEnding { await faults.fails(part, error) }
            throw error
        }
    }

    /// Runs every pass once; a failed pass does not stop the others.
    private func pass(_ parts: WorkerParts) async throws {
        var firstError: (any Error)?
        for pass in Passes(parts: parts).inOrder {
            do {
                _ = try await noting(pass.name, pass.run)
                if pass.sends { pulse?.works(uptime: clock.uptime) }
                logger.debug("Pass ended", metadata: [LogKeys.feed: "\(pass.name)"])
            } catch {
                if Retry.isInVain(error) { throw error }
                firstError = firstError ?? error
            }
        }
        if let error = firstError ?? parts.human?.refusal { throw error }
        // Where nothing new came, no pass has asked for the counts.
        guard mirror.process.redisURL != nil, let classifier = try await parts.classifiers.classifier() else { return }
        if case .unavailable(let error) = try await classifier.status().counts { throw error }
    }
}

extension MirrorStamp {
    /// Whether a start that used `other` may continue; the accounts, which a start itself binds, do not count.
    fileprivate func isSame(as other: MirrorStamp) -> Bool {
        credentials == other.credentials && settings == other.settings && !isPaused
    }
}

/// The worker as a service of a group.
extension Worker: Service {}

/// The difference of this machine's clock, if it is large enough to do harm.
private struct ClockDifference: Error, CustomStringConvertible {
    /// Seconds; a larger difference breaks OAuth and the ages of mentions.
    private static let tolerance: TimeInterval = 60

    let description: String

    /// Nil for a harmless difference.
    init?(lead: TimeInterval) {
        guard abs(lead) > Self.tolerance else { return nil }
        description = "\(Int(abs(lead))) s \(lead > 0 ? "ahead" : "behind")"
    }
}
