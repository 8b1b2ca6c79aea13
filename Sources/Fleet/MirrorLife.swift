import Control
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings

/// The work of a process for one mirror while it holds its lease: a start, and then its passes, in
/// the rounds of the process.
///
/// The start is a pass too. It is retried until the networks and the database answer and no pause
/// delays the mirror; then the mirror's passes replace it. After a change of settings, logins or
/// accounts the passes end and a new start replaces them.
package actor MirrorLife {
    /// Seconds between two checks for changed logins, settings or pauses.
    private static let changesLast: TimeInterval = 50
    /// Seconds between two comparisons of the clocks.
    private static let comparisonsLast: TimeInterval = 600
    private static let startName = WorkFault.start
    private static let waitName = "waiting"
    private static let changesName = "changes"
    /// Range of seconds between two cleanups; each mirror has its own interval within it.
    private static let tidyingLast: Range<TimeInterval> = 6 * 3_600..<9 * 3_600
    /// Seconds from the start to the first judging of texts, because mentions and due actions come
    /// first.
    private static let judgingWaits: TimeInterval = 10
    private enum Phase {
        case starting
        case working
        case waiting
    }

    private let lease: Lease
    private let rounds: Rounds
    private let faults: FaultLog
    private let waitsForPerson: Bool
    private let clock: any WallClock
    private let logger: Logger
    private let flags: [String]
    private let opening: @Sendable (_ last: Worker?) async throws -> Worker
    private let onEnd: @Sendable ((any Error)?) async -> Void
    /// Creates the objects for the passes; nil before the mirror was opened.
    private var worker: Worker?
    private var gates = Gates()
    /// The roles whose accounts the networks had verified before the last change, with their
    /// credentials.
    private var verified: (roles: Set<AccountRole>, credentials: [AccountRole: String])?
    private var group: PassGroup?
    private var isOver = false
    /// Whether the `MirrorVersion` has changed since the last check for changes.
    private var hasNews = false
    /// The `MirrorVersion` that was read last.
    private var version: Int64

    // The current start.
    /// The settings and logins that it uses; nil before they are read.
    private var known: MirrorStamp?
    private var failures = 0
    /// When a failed start is retried.
    private var nextTry: Date?
    private var isOutdated = true
    private var phase = Phase.starting
    private var isPauseAnnounced = false

    /// - Parameters:
    ///   - rounds: The rounds in which the passes run.
    ///   - faults: The mirror's faults, which include errors that need a person.
    ///   - waitsForPerson: Whether the mirror then waits for a change by a person; else it ends.
    ///   - version: The last known `MirrorVersion`; see ``look(at:)``.
    ///   - flags: The flags that commands in the log need to name this mirror.
    ///   - clock: The clock of waits.
    ///   - logger: The logger of the mirror.
    ///   - opening: Opens the mirror, or reopens the last one with its present settings.
    ///   - onEnd: Called once, when no pass runs any more: with the error that ended it, a lost
    ///     lease or one that needs a person; nil after ``end(with:)`` without an error.
    init(
        lease: Lease, rounds: Rounds, faults: FaultLog, waitsForPerson: Bool, version: Int64,
        flags: [String],
        clock: any WallClock, logger: Logger,
        opening: @escaping @Sendable (_ last: Worker?) async throws -> Worker,
        onEnd: @escaping @Sendable ((any Error)?) async -> Void
    ) {
        self.lease = lease
        self.rounds = rounds
        self.faults = faults
        self.waitsForPerson = waitsForPerson
        self.version = version
        self.flags = flags
        self.clock = clock
        self.logger = logger
        self.opening = opening
        self.onEnd = onEnd
    }

    /// Begins with a start.
    func begin() { begin(Self.startName) { try await $0.start() } }

    /// Ends it: with an error at once, else after the running passes have ended.
    package func end(with error: (any Error)? = nil) async {
        isOver = true
        if let group { await rounds.end(group, with: error) }
    }

    private func begin(
        _ name: String, _ pass: @escaping @Sendable (MirrorLife) async throws -> Date?
    ) {
        let group = rounds.group { [weak self] in await self?.passesEnded(with: $0) }
        self.group = group
        let repeated = repeated(name) { [weak self] in
            guard let self else { return nil }
            return try await pass(self)
        }
        rounds.add([Rounds.Pass(name: name, lane: .bot) { try await repeated.run() }], to: group)
    }

    private func passesEnded(with error: (any Error)?) async {
        verified =
            if error is MirrorChanged, let known { (gates.verified, known.credentials) } else {
                nil
            }
        gates = Gates()
        failures = 0
        nextTry = nil
        isPauseAnnounced = false
        phase = .starting
        switch error {
        case let error as OutboxError where error.code == .paused && !isOver:
            logger.debug("A pause began while something was about to be sent")
        case is MirrorChanged where !isOver:
            logger.notice("Logins, accounts, settings or a pause changed, starting anew")
            isOutdated = true
        default:
            return await ended(with: error)
        }
        known = nil
        begin()
    }

    private func ended(with error: (any Error)?) async {
        guard waitsForPerson, let error, !isOver, !error.isLostLease else {
            group = nil
            return await onEnd(error)
        }
        let cause = Worker.cause(of: error)
        logger.error("This mirror waits for a person", metadata: [LogKeys.error: "\(words(cause))"])
        await faults.fails(WorkFault.end, cause)
        // Without a stamp the next check starts the mirror again.
        known = try? await worker?.mirror.stamp()
        phase = .waiting
        begin(Self.waitName) { try await $0.waitForPerson() }
    }

    /// An error's text, with the flags of this mirror added to its commands.
    private func words(_ error: any Error) -> String { CommandWords.adding(flags, to: "\(error)") }

    /// Checks for changes to a mirror that waits for a person.
    private func waitForPerson() async throws -> Date? {
        // A mirror that could not even be opened is tried again.
        if worker != nil {
            try await lookForChanges()
        } else if (try? await opening(nil)) != nil {
            throw MirrorChanged()
        }
        return clock.now + Self.changesLast
    }

    /// Runs the passes that depend on a person's changes, if the mirror's `MirrorVersion` differs
    /// from the last one.
    func look(at version: Int64) {
        guard self.version != version, let group, !isOver else { return }
        self.version = version
        hasNews = true
        for name in [Self.startName, Self.waitName, Self.changesName, WorkFault.publisher] {
            rounds.hurry(name, of: group)
        }
    }

    private func takeNews() -> Bool {
        defer { hasNews = false }
        return hasNews
    }

    /// - Throws: ``MirrorChanged`` if the settings or accounts differ from those of its start or
    ///   its last end.
    private func lookForChanges() async throws {
        guard let worker, let known else {
            if phase == .waiting { throw MirrorChanged() }
            // The start compares by itself.
            return
        }
        let stamp = try await worker.mirror.stamp()
        guard phase == .starting ? stamp.isSame(as: known) : stamp == known else {
            throw MirrorChanged()
        }
    }

    // MARK: The start

    /// Tries to start, and adds the passes on success.
    ///
    /// - Returns: When to try again; nil if it has started.
    /// - Throws: ``MirrorChanged`` if settings or logins changed meanwhile; errors that no retry
    ///   can fix.
    private func start() async throws -> Date? {
        if let nextTry, clock.now < nextTry { return try await timeToWait(until: nextTry) }
        nextTry = nil
        do {
            let worker = try await currentWorker()
            await worker.faults.works(WorkFault.end)
            let stamp = if let known { known } else { try await worker.mirror.stamp() }
            known = stamp
            if let verified, verified.credentials == stamp.credentials {
                gates.note(verified.roles)
            }
            verified = nil
            let record = try await worker.mirror.table.record()
            if let end = try await endOfPause(worker, record) { return end }
            if let next = try await retire(worker, record) { return next }
            let parts = try await worker.parts(lease: lease, deliverer: nil, gates: gates)
            // A first start binds the accounts itself.
            let now = try await worker.mirror.stamp()
            guard now.isSame(as: stamp) else { throw MirrorChanged() }
            known = now
            phase = .working
            await addPasses(worker, with: parts)
            return nil
        } catch  where !Retry.isInVain(error) && !(error is CancellationError && Self.isEnding) {
            try gates.check()
            return try await tryAgain(after: error)
        }
    }

    private func currentWorker() async throws -> Worker {
        if let worker, !isOutdated { return worker }
        let current = try await opening(worker)
        worker = current
        isOutdated = false
        return current
    }

    private static var isEnding: Bool { Task.isCancelled || Task.isShuttingDownGracefully }

    private func tryAgain(after error: any Error) async throws -> Date {
        failures += 1
        await faults.fails(WorkFault.start, error)
        let next = RetryRule.work.next(after: failures, of: "start", error, now: clock.now)
        logger.warning(
            "Start failed, trying again",
            metadata: [
                LogKeys.error: "\(words(error))", LogKeys.attempt: "\(failures)",
                LogKeys.until: "\(next)",
            ])
        nextTry = next
        return look(before: next)
    }

    /// The time of the next check while a start waits for its retry; changed settings or logins are
    /// tried at once.
    private func timeToWait(until next: Date) async throws -> Date {
        // A stamp that cannot be read is compared at the next check.
        if let known, let stamp = try? await worker?.mirror.stamp(), !stamp.isSame(as: known) {
            throw MirrorChanged()
        }
        return look(before: next)
    }

    private func look(before next: Date) -> Date {
        // Without a stamp, every try reads the settings itself.
        known == nil ? next : min(next, clock.now + Self.changesLast)
    }

    /// Returns when to check a pause again; nil if there is none.
    ///
    /// Requests to undo are carried out meanwhile.
    private func endOfPause(_ worker: Worker, _ record: MirrorRecord) async throws -> Date? {
        guard let pause = record.pause(at: clock.now) else {
            if isPauseAnnounced { logger.notice("Resumed") }
            isPauseAnnounced = false
            return nil
        }
        if !isPauseAnnounced {
            logger.notice(
                "Paused",
                metadata: [
                    LogKeys.until: "\(pause.until?.rfc3339 ?? "resumed")",
                    LogKeys.reason: "\(pause.reason ?? "-")",
                ])
            isPauseAnnounced = true
            await worker.faults.begins([])
        }
        let undo = try await takeBack(worker)
        worker.notePause()
        return min(
            max(undo, clock.now + 1), clock.now + Self.changesLast, pause.until ?? .distantFuture)
    }

    /// Continues the mirror's retirement.
    ///
    /// - Returns: When to continue; nil if no retirement is due yet.
    /// - Throws: `ConfigurationError` after it is completed, if the process is for this mirror
    ///   alone.
    private func retire(_ worker: Worker, _ record: MirrorRecord) async throws -> Date? {
        guard let retirement = record.retirement, retirement.isDue(at: clock.now) else {
            return nil
        }
        if !retirement.isOver {
            await worker.faults.begins([])
            if let next = try await Retiring(worker, lease: lease, gates: gates).carryOut(record) {
                worker.notePause()
                return min(max(next, clock.now + 1), clock.now + Self.changesLast)
            }
        }
        // A process of several mirrors releases it with its next heartbeat.
        guard waitsForPerson else { throw try await worker.retired() }
        return clock.now + Self.changesLast
    }

    /// Carries out due requests to undo during a pause, and cleans up after interrupted commands.
    ///
    /// - Returns: The time of the next check.
    /// - Throws: An error that needs a person; the store's error.
    private func takeBack(_ worker: Worker) async throws -> Date {
        let mirror = worker.mirror
        let store = mirror.outbox(lease: lease)
        func next() async throws -> Date? {
            let undo = try await store.nextRecall(now: clock.now)
            let effect = try await mirror.effects.next(now: clock.now)
            return [undo, effect].compactMap(\.self).min()
        }
        guard let due = try await next() else { return .distantFuture }
        guard due <= clock.now else { return due }
        try await mirror.table.requireHere()
        do {
            let bot = await gates.gate(
                before: try await mirror.confirmedBotNetwork(), .bot, of: worker)
            guard try await bot.isOpen() else { return bot.pause(at: clock.now) ?? .distantFuture }
            let account = try await mirror.table.record().bot
            _ = try await Recall(mirror, network: bot, lease: lease, bot: account).carryOut()
        } catch let error as NetworkError where !error.stopsActor {
            logger.warning("Nothing taken back yet", metadata: [LogKeys.error: "\(error)"])
            return .distantFuture
        }
        return try await next() ?? .distantFuture
    }

    // MARK: The passes

    private func addPasses(_ worker: Worker, with parts: WorkerParts) async {
        guard let group else { return }
        let work = Passes(
            parts: parts, onNews: { [rounds] in rounds.hurry(WorkFault.publisher, of: group) },
            onCopy: { [rounds, clock] in
                rounds.hurry(Passes.originals, of: group, to: clock.now + Originals.interval)
            },
            onTexts: { [rounds, clock] in
                rounds.hurry(Passes.texts, of: group, to: clock.now + Self.judgingWaits)
            })
        let passes = passes(worker, work)
        let judging = judging(worker, work)
        let changes = changes(worker, bot: parts.bot)
        await worker.faults.begins((passes + [judging, changes]).map(\.name) + [WorkFault.clock])
        logger.info("Worker started", metadata: [LogKeys.mirror: "\(worker.mirror.name)"])
        rounds.add(passes, to: group)
        rounds.add([judging], to: group, due: clock.now + Self.judgingWaits)
        rounds.add([changes], to: group, due: clock.now + Self.changesLast)
    }

    private func passes(_ worker: Worker, _ passes: Passes) -> [Rounds.Pass] {
        let clock = clock
        let own = passes.all.map { pass in
            upkeep(worker, pass.name, pass.lane) {
                let next = try await pass.run()
                if pass.sends { worker.pulse.works(uptime: clock.uptime) }
                return next
            }
        }
        let wait = wait(betweenTidyingsOf: worker)
        let tidying = upkeep(worker, Worker.tidying, .human) {
            try await passes.clean()
            return clock.now + wait
        }
        return own + [tidying]
    }

    private func wait(betweenTidyingsOf worker: Worker) -> TimeInterval {
        Cadence.wait(of: worker.mirror.name, within: Self.tidyingLast)
    }

    /// Judges texts without a verdict, in steps, so that other due passes can run in between.
    private func judging(_ worker: Worker, _ passes: Passes) -> Rounds.Pass {
        let wait = wait(betweenTidyingsOf: worker)
        return upkeep(worker, Passes.texts, .human) { try await passes.judge(wait: wait) }
    }

    /// Checks for changes if the process has noticed some, and compares the clocks.
    private func changes(_ worker: Worker, bot: AccountGate) -> Rounds.Pass {
        upkeep(worker, Self.changesName, .bot) { [weak self, clock] in
            if await self?.takeNews() == true { try await self?.lookForChanges() }
            await worker.compareClocks(bot)
            return clock.now + Self.comparisonsLast
        }
    }

    /// A pass whose failures are stored for other processes, and which the service manager watches.
    private func upkeep(
        _ worker: Worker, _ name: String, _ lane: Rounds.Lane,
        _ pass: @escaping @Sendable () async throws -> Date
    ) -> Rounds.Pass {
        let repeated = repeated(name) {
            try await worker.noting(name) {
                guard let manager = worker.manager else { return try await pass() }
                return try await manager.watching("\(worker.mirror.name)/\(name)", pass)
            }
        }
        return Rounds.Pass(name: name, lane: lane) { try await repeated.run() }
    }

    private func repeated(_ name: String, _ pass: @escaping @Sendable () async throws -> Date?)
        -> RepeatedPass
    {
        RepeatedPass(name: name, clock: clock, logger: logger, pass: pass)
    }
}

extension MirrorStamp {
    /// Whether a start that used `other` may continue; the accounts are ignored, because a start
    /// binds them itself.
    fileprivate func isSame(as other: MirrorStamp) -> Bool {
        credentials == other.credentials && settings == other.settings && findings == other.findings
            && !isPaused
    }
}

extension Error {
    /// Whether another worker has taken the mirror.
    var isLostLease: Bool { (self as? OutboxError)?.code == .leaseLost }
}
