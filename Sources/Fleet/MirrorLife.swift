import Control
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings

/// The work of a process for one mirror as long as it holds its lease: a start, and then its
/// passes, in the rounds of the process.
///
/// The start is a pass too. It is tried until the networks and the database answer and no pause
/// holds the mirror up; then the passes of the mirror take its place. After a change of settings,
/// logins or accounts they end and a start takes theirs.
package actor MirrorLife {
    /// Seconds between two checks for changed logins, settings or pauses.
    private static let changesLast: TimeInterval = 50
    /// Seconds between two comparisons of the clocks.
    private static let comparisonsLast: TimeInterval = 600
    private static let startName = WorkFault.start
    private static let waitName = "waiting"
    private static let changesName = "changes"
    /// Seconds between two tidyings; each mirror has its own wait within these.
    private static let tidyingLast: Range<TimeInterval> = 6 * 3_600..<9 * 3_600
    /// Seconds from the start to the first look for texts that are not judged: what was said to the
    /// bot, and what is due, comes first.
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
    /// Knows the mirror, and makes the parts that its passes work with; nil before the mirror was
    /// opened.
    private var worker: Worker?
    private var gates = Gates()
    /// The roles whose accounts the networks told before the last change, and the credentials that
    /// opened them.
    private var verified: (roles: Set<AccountRole>, credentials: [AccountRole: String])?
    private var group: PassGroup?
    private var isOver = false
    /// Whether the `MirrorVersion` has changed since the last look for changes.
    private var hasNews = false
    /// The `MirrorVersion` that was read last.
    private var version: Int64

    // The start that is under way.
    /// The settings and logins that it goes by; nil before they are read.
    private var known: MirrorStamp?
    private var failures = 0
    /// When a start that failed is tried again.
    private var nextTry: Date?
    private var isOutdated = true
    private var phase = Phase.starting
    private var isPauseAnnounced = false

    /// - Parameters:
    ///   - rounds: Where the passes run.
    ///   - faults: The mirror's, where is noted what only a person can mend.
    ///   - waitsForPerson: Whether the mirror then waits until something was changed for it; else
    ///     it ends.
    ///   - version: The `MirrorVersion` that was read before; see ``look(at:)``.
    ///   - flags: Those without which a command in the log would mean another mirror.
    ///   - clock: Tells the time of waits.
    ///   - logger: Where the events of the mirror go.
    ///   - opening: Opens the mirror, or the last one again with its present settings.
    ///   - onEnd: Called once, when none of the passes runs any more: with what ended it, which is
    ///     a lost lease or what only a person can mend; nil after ``end(with:)`` without an error.
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

    /// Ends it: with an error at once, else when the passes that run have ended.
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
        // Without a stamp the next look starts the mirror anew.
        known = try? await worker?.mirror.stamp()
        phase = .waiting
        begin(Self.waitName) { try await $0.waitForPerson() }
    }

    /// An error with the commands that it proposes, as they are for this mirror.
    private func words(_ error: any Error) -> String { CommandWords.adding(flags, to: "\(error)") }

    /// Looks whether something was changed for a mirror that only a person can help.
    private func waitForPerson() async throws -> Date? {
        // One that could not even be opened is tried again.
        if worker != nil {
            try await lookForChanges()
        } else if (try? await opening(nil)) != nil {
            throw MirrorChanged()
        }
        return clock.now + Self.changesLast
    }

    /// Lets the passes look that go by what a person may have changed, if the mirror's
    /// `MirrorVersion` differs from the last.
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

    /// - Throws: ``MirrorChanged`` if what the mirror goes by differs from what its start or its
    ///   last end went by.
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

    /// Tries to start, and adds the passes if that succeeds.
    ///
    /// - Returns: When to go on with it; nil if it is done.
    /// - Throws: ``MirrorChanged`` if settings or logins changed meanwhile; errors that no retry
    ///   can mend.
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

    /// The next look at a start that is tried again later; other settings or logins are tried at
    /// once.
    private func timeToWait(until next: Date) async throws -> Date {
        // A stamp that cannot be read is compared at the next look.
        if let known, let stamp = try? await worker?.mirror.stamp(), !stamp.isSame(as: known) {
            throw MirrorChanged()
        }
        return look(before: next)
    }

    private func look(before next: Date) -> Date {
        // Without a stamp, every try reads the settings itself.
        known == nil ? next : min(next, clock.now + Self.changesLast)
    }

    /// Returns when to look again at a pause; nil if there is none.
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

    /// Goes on with the mirror's retirement.
    ///
    /// - Returns: When to look again; nil if the mirror is not to retire yet.
    /// - Throws: `ConfigurationError` once it has, if the process is for this mirror alone.
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
        // A process of many mirrors gives it back with its next beat.
        guard waitsForPerson else { throw try await worker.retired() }
        return clock.now + Self.changesLast
    }

    /// Carries out due requests to undo during a pause, and takes back or finishes the effects of
    /// commands that were cut.
    ///
    /// - Returns: The time of the next check.
    /// - Throws: What only a person can mend; the store's error.
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

    /// Judges the texts that are not judged yet, a step at a time: whatever else is due has its
    /// turn between two.
    private func judging(_ worker: Worker, _ passes: Passes) -> Rounds.Pass {
        let wait = wait(betweenTidyingsOf: worker)
        return upkeep(worker, Passes.texts, .human) { try await passes.judge(wait: wait) }
    }

    /// Looks for changes when the process has found some, and compares the clocks.
    private func changes(_ worker: Worker, bot: AccountGate) -> Rounds.Pass {
        upkeep(worker, Self.changesName, .bot) { [weak self, clock] in
            if await self?.takeNews() == true { try await self?.lookForChanges() }
            await worker.compareClocks(bot)
            return clock.now + Self.comparisonsLast
        }
    }

    /// A pass whose failures are noted for other processes, and whose end the service manager waits
    /// for.
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
    /// Whether a start that used `other` may continue; the accounts, which a start itself binds, do
    /// not count.
    fileprivate func isSame(as other: MirrorStamp) -> Bool {
        credentials == other.credentials && settings == other.settings && findings == other.findings
            && !isPaused
    }
}

extension Error {
    /// Whether another worker has taken the mirror.
    var isLostLease: Bool { (self as? OutboxError)?.code == .leaseLost }
}
