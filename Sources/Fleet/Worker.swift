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

/// The worker of one mirror: reads two accounts, archives, decides and delivers.
package final class Worker: Sendable {
    let mirror: HumanMirror
    /// The polling interval of each feed.
    let cadence: Cadence
    /// The cadence given to `init`; nil for the configured one.
    private let givenCadence: Cadence?
    /// The interval at which the publisher checks for changes that do not wake it.
    private static let longWait = Duration.seconds(900)

    let manager: ServiceManager?
    /// Live status of the worker, read by the notifier and the watchdog.
    package let pulse: WorkerPulse
    /// The parts of the work that fail now, stored for all processes to read.
    let faults: FaultLog

    /// - Parameters:
    ///   - mirror: The open mirror, whose clock and logger the worker uses.
    ///   - cadence: The polling intervals; nil for the configured ones.
    ///   - manager: The service manager that is notified of readiness and of each pass; nil for
    ///     none.
    ///   - pulse: The live status to update.
    package convenience init(
        mirror: HumanMirror, cadence: Cadence? = nil, manager: ServiceManager? = nil,
        pulse: WorkerPulse = WorkerPulse()
    ) {
        self.init(
            mirror: mirror, cadence: cadence, manager: manager, pulse: pulse,
            faults: FaultLog(of: mirror, pulse: pulse))
    }

    /// - Parameter faults: The mirror's faults, which outlive a restarted worker.
    init(
        mirror: HumanMirror, cadence: Cadence?, manager: ServiceManager?, pulse: WorkerPulse,
        faults: FaultLog
    ) {
        self.mirror = mirror
        self.manager = manager
        self.pulse = pulse
        self.faults = faults
        givenCadence = cadence
        let configuration = mirror.configuration
        var defaultCadence = Cadence(
            poll: configuration.pollInterval, human: configuration.humanNetwork,
            bot: configuration.botNetwork)
        defaultCadence.publisher = Self.longWait
        defaultCadence.plansAhead = true
        defaultCadence.idlePublisher = .seconds(Cadence.idleWait(of: configuration.mirror))
        self.cadence = cadence ?? defaultCadence
    }

    var clock: any WallClock { mirror.clock }

    var logger: Logger { mirror.logger }

    /// Runs until a graceful shutdown or until the clock shows `end`, as a ``MirrorFleet`` of one.
    ///
    /// While another worker holds the lease, this one waits until the other ends or becomes silent.
    ///
    /// - Throws: An error that needs a person: `ConfigurationError` or refused credentials.
    package func run(until end: Date? = nil) async throws {
        try await MirrorFleet(of: self, until: end).run()
    }

    /// Stores why the worker ends if no retry can succeed, so that `status` can report it without a
    /// worker.
    func noteEnd(_ error: any Error) async {
        let cause = Self.cause(of: error)
        // Nothing is written to a database that a newer program has migrated.
        guard (cause as? OutboxError)?.code != .outdated else { return }
        if Retry.isInVain(cause), !(cause is CancellationError) {
            await faults.fails(WorkFault.end, cause)
        }
    }

    /// Returns the worker with the mirror's present settings.
    func withCurrentSettings() async throws -> Worker {
        Worker(
            mirror: try await mirror.withCurrentSettings(), cadence: givenCadence, manager: manager,
            pulse: pulse,
            faults: faults)
    }

    /// Makes one pass over everything, for cron.
    ///
    /// - Returns: False, without any work, if another worker holds the mirror.
    /// - Throws: The first error of a step, after the remaining steps.
    package func runOnce() async throws -> Bool {
        do {
            // Nil if another worker holds the mirror.
            let result: Void? = try await leaseKeeper().holdingNow { [self] lease in
                pulse.holdsMirror = true
                await notePass()
                let record = try await mirror.table.record()
                if let retirement = record.retirement, retirement.isDue(at: clock.now) {
                    _ = try await Retiring(self, lease: lease, gates: impatientGates).carryOut(
                        record)
                    return
                }
                let parts = try await recordingFaults(of: WorkFault.start) {
                    try await self.parts(lease: lease, deliverer: nil, gates: impatientGates)
                }
                await faults.forgetAll(
                    except: Passes(parts: parts).all.map(\.name) + [
                        Self.tidying, Passes.texts, WorkFault.clock,
                    ])
                do {
                    try await runEveryPass(parts)
                    // With `run --once` no later pass does this.
                    try await recordingFaults(of: Self.tidying) {
                        try await Passes(parts: parts).clean()
                    }
                    try await recordingFaults(of: Passes.texts) {
                        try await Passes(parts: parts).judgeForAWhile()
                    }
                } catch {
                    await endPass(parts.bot)
                    throw error
                }
                await endPass(parts.bot)
            }
            return result != nil
        } catch is MirrorChanged {
            // The retirement has become due meanwhile: the next call carries it out.
            return true
        } catch {
            await noteEnd(error)
            throw Self.cause(of: error)
        }
    }

    /// The error of a worker whose mirror has retired.
    func retired() async throws -> ConfigurationError {
        let record = try await mirror.table.record()
        let retirement = record.retirement ?? Retirement(date: clock.now, asked: clock.now)
        return retirement.retiredError(of: mirror.name)
    }

    /// Records a call of `run --once`, so that a mirror driven by cron counts as running between
    /// two calls.
    ///
    /// An error of this write is ignored.
    package func notePass() async {
        try? await LeaseTable(storage: mirror.storage, mirror: mirror.name).notePass(now: clock.now)
    }

    /// Records the facts that a pass found besides its work, even if it failed.
    private func endPass(_ bot: AccountGate) async {
        await compareClocks(bot)
        await mirror.storeRequests()
    }

    /// Records the difference between this machine's clock and the network's.
    func compareClocks(_ bot: AccountGate) async {
        guard let lead = bot.clockLead else { return }
        pulse.compares(clockLead: lead)
        if let difference = ClockDifference(lead: lead) {
            await faults.fails(WorkFault.clock, difference)
        } else {
            await faults.works(WorkFault.clock)
        }
    }

    /// Decides everything once and reports what would be sent, without sending or storing anything.
    ///
    /// - Returns: Today's plan; nil if there is no basis for one.
    /// - Throws: The first error of any step.
    package func dryRun(report: @escaping @Sendable (Action) -> Void) async throws -> PlanReport? {
        do {
            return try await mirror.scratch().closing { scratch in
                let worker = Worker(mirror: scratch, cadence: cadence)
                let parts = try await worker.parts(
                    lease: nil, deliverer: PretendDeliverer(report: report), gates: impatientGates)
                try await worker.runEveryPass(parts)
                let today = LocalTime(clock.now, in: parts.zone).day
                return try await PlanReporter(mirror: scratch, zone: parts.zone).report(
                    on: today, now: clock.now)
            }
        } catch {
            throw Self.cause(of: error)
        }
    }

    /// Gates that do not wait for a refused account: a person waits for the result.
    private var impatientGates: Gates { Gates(patience: .none) }

    /// The error to report: for an unusable account the network's own error, for a missing training
    /// the missing setting.
    static func cause(of error: any Error) -> any Error {
        (error as? UnusableAccount)?.cause ?? (error as? AwaitsTraining)?.cause ?? error
    }

    private func leaseKeeper() -> LeaseKeeper {
        LeaseKeeper(
            table: LeaseTable(storage: mirror.storage, mirror: mirror.name), clock: clock,
            timing: mirror.rehearsal.leaseTiming, faultPoints: mirror.rehearsal.faultPoints,
            logger: logger)
    }

    /// Counts a wanted pause as working, for the watchdog and the heartbeat.
    package func notePause() { pulse.works(uptime: clock.uptime) }

    static let tidying = "tidying"

    /// Runs a part of the work and records whether it failed, except for errors that end the
    /// worker.
    private func recordingFaults<Value>(of part: String, _ work: () async throws -> Value)
        async throws
        -> Value
    {
        do {
            let value = try await work()
            await faults.works(part)
            return value
        } catch {
            await noteFailure(error, of: part)
            throw error
        }
    }

    /// Records the error of a part of the work, except one that ends the worker.
    func noteFailure(_ error: any Error, of part: String) async {
        let isEnding = Task.isCancelled || Task.isShuttingDownGracefully || Retry.isInVain(error)
        if !isEnding { await faults.fails(part, error) }
    }

    /// Runs every pass once; a failed pass does not stop the others.
    private func runEveryPass(_ parts: WorkerParts) async throws {
        var firstError: (any Error)?
        for pass in Passes(parts: parts).inOrder {
            do {
                _ = try await recordingFaults(of: pass.name, pass.run)
                logger.debug("Pass ended", metadata: [LogKeys.feed: "\(pass.name)"])
            } catch {
                if Retry.isInVain(error) { throw error }
                firstError = firstError ?? error
            }
        }
        if let error = firstError ?? parts.human?.refusal { throw error }
        // If nothing new arrived, no pass has noticed whether the classifier's counts in Redis are
        // readable.
        guard mirror.process.redisURL != nil,
            let classifier = try await parts.classifiers.classifier()
        else { return }
        if case .unavailable(let error) = try await classifier.status().counts { throw error }
    }
}

/// The difference of this machine's clock, if it is large enough to do harm.
private struct ClockDifference: Error, CustomStringConvertible {
    /// The largest harmless difference, in seconds; a larger one makes OAuth signatures invalid and
    /// the ages of mentions wrong.
    private static let tolerance: TimeInterval = 60

    let description: String

    /// Nil for a harmless difference.
    init?(lead: TimeInterval) {
        guard abs(lead) > Self.tolerance else { return nil }
        description = "\(Int(abs(lead))) s \(lead > 0 ? "ahead" : "behind")"
    }
}
