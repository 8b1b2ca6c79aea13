package import Control
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
    /// How often each feed is looked at.
    let cadence: Cadence
    /// The one that was asked for; nil for the configured one.
    private let givenCadence: Cadence?
    let manager: ServiceManager?
    /// What whoever accompanies the worker knows of it.
    let pulse: WorkerPulse?
    /// What fails in its work, for every process to read.
    private let faults: FaultLog

    /// - Parameters:
    ///   - mirror: The mirror, open; its clock tells the time, and its log is where events go.
    ///   - cadence: How often each feed is looked at; nil for the configured one.
    ///   - manager: Told when the worker works or waits for another one, and that its passes end; nil for nobody.
    ///   - pulse: Kept for who accompanies the worker; nil for nobody.
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
    /// Another worker of the same mirror makes this one wait until that one
    /// ends or falls silent.
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

    /// Notes why the worker ends, if no retry mends it, for who looks when no worker runs any more.
    private func noteEnd(_ error: any Error) async {
        let cause = Self.cause(of: error)
        if Retry.isInVain(cause), !(cause is CancellationError) { await faults.fails(WorkFault.end, cause) }
    }

    /// Works, and begins anew when a person has changed what the worker goes by.
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

    /// The mirror with what is set for it now, once the database tells; nil if the worker is to end before that.
    ///
    /// A lease that runs out meanwhile is noticed by what is done next.
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

    /// Waits before a start is tried again, and says so.
    ///
    /// - Parameters:
    ///   - known: What it went by; nil where that is read anew anyway.
    /// - Throws: ``MirrorChanged`` once that is another thing.
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

    /// One pass over everything, for cron.
    ///
    /// - Returns: False if another worker holds the mirror, so that nothing was done.
    /// - Throws: The first error of any step, after the other steps.
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
                    await compareClocks(parts.bot)
                    await mirror.storeRequests()
                    throw error
                }
                await compareClocks(parts.bot)
                await mirror.storeRequests()
            }
            return done != nil
        } catch {
            await noteEnd(error)
            throw Self.cause(of: error)
        }
    }

    /// Notes that `run --once` was called, so that a mirror which a schedule drives does not look as if nobody did its
    /// work between two calls; an error of this write is ignored.
    package func notePass() async {
        try? await LeaseTable(storage: mirror.storage, mirror: mirror.name).notePass(now: clock.now)
    }

    /// Notes how far this machine's clock is ahead of the network's.
    private func compareClocks(_ bot: AccountGate) async {
        guard let lead = bot.clockLead else { return }
        pulse?.compares(clockLead: lead)
        if let difference = ClockDifference(lead: lead) {
            await faults.fails(WorkFault.clock, difference)
        } else {
            await faults.works(WorkFault.clock)
        }
    }

    /// Decides everything once and tells what would be sent, without sending or keeping anything.
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

    /// Somebody waits for the answer, and nobody for a bot that may be let in later.
    private var hasty: Gates { Gates(patience: .none) }

    /// What the caller is told: the network's own words of an account that is given up.
    private static func cause(of error: any Error) -> any Error { (error as? UnusableAccount)?.cause ?? error }

    private func leaseKeeper() -> LeaseKeeper {
        LeaseKeeper(
            table: LeaseTable(storage: mirror.storage, mirror: mirror.name), clock: clock,
            timing: mirror.rehearsal.leaseTiming, faultPoints: mirror.rehearsal.faultPoints, logger: logger)
    }

    /// The mirror's lease; a standby that could not work when it is needed ends instead of waiting.
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

    /// The parts of the worker and what they go by, once the networks and the database answer; nil if the worker is to
    /// end before that.
    ///
    /// - Throws: ``MirrorChanged`` if that is another thing now than when this was called; what no retry mends.
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

    /// Waits as long as a person wants the mirror to pause; false if the worker is to end before that.
    ///
    /// What somebody wants taken back is taken back meanwhile.
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

    /// Takes back what is due while nothing else is done.
    ///
    /// - Returns: When to look again.
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

    /// Says that nothing is done because a person wants it so, which is all that is wanted.
    package func notePause() { pulse?.works(uptime: clock.uptime) }

    /// How long a login, a setting or a pause that was stored meanwhile may go unnoticed, in seconds.
    private static let changesLast: TimeInterval = 50

    private static let tidying = "tidying"

    /// What a task of the worker was.
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
            await mirror.storeRequests()
            return clock.now + Self.changesLast
        }
        return loops + [tidying, changes]
    }

    private func loop(_ name: String, _ pass: @escaping @Sendable () async throws -> Date) -> PollingLoop {
        PollingLoop(name: name, clock: clock, logger: logger) {
            try await noting(name) {
                guard let manager else { return try await pass() }
                return try await manager.watching("\(mirror.name)/\(name)", pass)
            }
        }
    }

    /// Does a part of the work, and notes whether it failed; what ends the worker is told of in another way.
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

    /// Every pass once; one that fails does not keep the others from happening.
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
    }
}

extension MirrorStamp {
    /// Whether a start that went by `other` may go on; it binds the accounts itself.
    fileprivate func isSame(as other: MirrorStamp) -> Bool {
        credentials == other.credentials && settings == other.settings && !isPaused
    }
}

/// The worker as a service of a group.
extension Worker: Service {}

/// How far this machine's clock is off, where that does harm.
private struct ClockDifference: Error, CustomStringConvertible {
    /// Seconds: OAuth and the age of mentions suffer from more.
    private static let tolerance: TimeInterval = 60

    let description: String

    /// Nil for a difference that does no harm.
    init?(lead: TimeInterval) {
        guard abs(lead) > Self.tolerance else { return nil }
        description = "\(Int(abs(lead))) s \(lead > 0 ? "ahead" : "behind")"
    }
}
