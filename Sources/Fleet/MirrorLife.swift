import Control
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings

/// The work of a process for one mirror while the process holds the mirror's lease: a start, and
/// then the mirror's passes, in the rounds of the process.
///
/// The start is a pass too. It is retried until the networks and the database answer and no pause
/// delays the mirror; then the mirror's passes replace it. After a change of settings, logins or
/// accounts the passes end and a new start replaces them. `LifeState` makes these decisions, and
/// `MirrorLife` carries them out.
package actor MirrorLife {
    /// Seconds between two comparisons of the clocks.
    private static let comparisonInterval: TimeInterval = 600
    private static let startName = WorkFault.start
    private static let waitName = "waiting"
    private static let changesName = "changes"
    /// Range of seconds between two cleanups; each mirror has its own interval within it.
    private static let tidyingIntervals: Range<TimeInterval> = 6 * 3_600..<9 * 3_600
    /// Seconds from the start to the first judging of texts, because mentions and due actions come
    /// first.
    private static let judgingDelay: TimeInterval = 10

    private let lease: Lease
    private let rounds: Rounds
    private let faults: FaultLog
    private let clock: any WallClock
    private let logger: Logger
    private let flags: [String]
    private let openWorker: @Sendable (_ last: Worker?) async throws -> Worker
    private let onEnd: @Sendable ((any Error)?) async -> Void
    /// Creates the objects for the passes; nil before the mirror was opened.
    private var worker: Worker?
    private var gates = Gates()
    private var group: PassGroup?
    private var state: LifeState

    /// - Parameters:
    ///   - rounds: The rounds in which the passes run.
    ///   - faults: The mirror's faults, which include errors that need a person.
    ///   - waitsForPerson: Whether the mirror waits for a person's changes after an error that
    ///     needs a person; otherwise its work ends.
    ///   - version: The last known `MirrorVersion`; see ``note(version:)``.
    ///   - flags: The flags that commands in the log need to name this mirror.
    ///   - clock: The clock by which the work waits.
    ///   - logger: The logger of the mirror.
    ///   - openWorker: Opens the mirror, or reopens that of the last worker with its present
    ///     settings.
    ///   - onEnd: Called once, when no pass runs any more. Its argument is the error that ended the
    ///     work: a lost lease, or an error that needs a person. It is nil after ``end(with:)``
    ///     without an error.
    init(
        lease: Lease, rounds: Rounds, faults: FaultLog, waitsForPerson: Bool, version: Int64,
        flags: [String],
        clock: any WallClock, logger: Logger,
        openWorker: @escaping @Sendable (_ last: Worker?) async throws -> Worker,
        onEnd: @escaping @Sendable ((any Error)?) async -> Void
    ) {
        self.lease = lease
        self.rounds = rounds
        self.faults = faults
        state = LifeState(waitsForPerson: waitsForPerson, version: version)
        self.flags = flags
        self.clock = clock
        self.logger = logger
        self.openWorker = openWorker
        self.onEnd = onEnd
    }

    /// Begins the work with a start.
    func begin() { begin(Self.startName) { try await $0.start() } }

    /// Ends the work: with an error immediately, else after the running passes have ended.
    package func end(with error: (any Error)? = nil) async {
        state.end()
        if let group { await rounds.end(group, with: error) }
    }

    private func begin(
        _ name: String, _ work: @escaping @Sendable (MirrorLife) async throws -> Date?
    ) {
        let group = rounds.group { [weak self] in await self?.passesEnded(with: $0) }
        self.group = group
        let pass = Rounds.Pass(name: name, lane: .bot) { [weak self] in
            guard let self else { return nil }
            return try await work(self)
        }
        rounds.add([repeated(pass)], to: group)
    }

    private func passesEnded(with error: (any Error)?) async {
        let sequel = state.passesEnded(with: error, verified: gates.verified)
        gates = Gates()
        switch sequel {
        case .startAfterPause:
            logger.debug("A pause began while something was about to be sent")
            begin()
        case .startAnew:
            logger.notice("Logins, accounts, settings or a pause changed, starting anew")
            begin()
        case .waitForPerson(let error): await waitForPerson(because: error)
        case .end(let error):
            group = nil
            await onEnd(error)
        }
    }

    private func waitForPerson(because error: any Error) async {
        let cause = Worker.cause(of: error)
        logger.error(
            "This mirror waits for a person", metadata: [LogKeys.error: "\(text(of: cause))"])
        await faults.fails(WorkFault.end, cause)
        // Without a stamp the next check starts the mirror again.
        let stamp = try? await worker?.mirror.stamp()
        state.waits(with: stamp)
        begin(Self.waitName) { try await $0.waitForPerson() }
    }

    /// An error's text, with the flags of this mirror added to its commands.
    private func text(of error: any Error) -> String { CommandWords.adding(flags, to: "\(error)") }

    /// Checks for changes to a mirror that waits for a person.
    private func waitForPerson() async throws -> Date? {
        // A mirror that could not even be opened is tried again.
        if worker != nil {
            try await lookForChanges()
        } else if (try? await openWorker(nil)) != nil {
            throw MirrorChanged()
        }
        return clock.now + LifeState.changeCheckInterval
    }

    /// Runs the passes that depend on a person's changes, if the mirror's `MirrorVersion` differs
    /// from the last one.
    func note(version: Int64) {
        guard let group, state.notes(version: version) else { return }
        for name in [Self.startName, Self.waitName, Self.changesName, WorkFault.publisher] {
            rounds.hurry(name, of: group)
        }
    }

    private func takeNews() -> Bool { state.takeNews() }

    /// - Throws: ``MirrorChanged`` if the settings or logins have changed since the mirror started,
    ///   or since its last run ended.
    private func lookForChanges() async throws {
        guard let worker, state.knownStamp != nil else {
            if state.phase == .waiting { throw MirrorChanged() }
            // The start compares the settings itself.
            return
        }
        let stamp = try await worker.mirror.stamp()
        if state.isChanged(by: stamp) { throw MirrorChanged() }
    }

    // MARK: The start

    /// Tries to start, and adds the passes on success.
    ///
    /// - Returns: When to try again; nil if it has started.
    /// - Throws: ``MirrorChanged`` if settings or logins changed meanwhile; errors that no retry
    ///   can fix.
    private func start() async throws -> Date? {
        if let retry = state.retry(at: clock.now) { return try await nextCheck(before: retry) }
        do {
            let worker = try await currentWorker()
            await worker.faults.works(WorkFault.end)
            let stamp =
                if let knownStamp = state.knownStamp { knownStamp } else {
                    try await worker.mirror.stamp()
                }
            gates.note(state.began(with: stamp))
            let record = try await worker.mirror.table.record()
            if let nextCheck = try await endOfPause(worker, record) { return nextCheck }
            if let next = try await retire(worker, record) { return next }
            let parts = try await worker.parts(lease: lease, deliverer: nil, gates: gates)
            let currentStamp = try await worker.mirror.stamp()
            guard state.works(with: currentStamp) else { throw MirrorChanged() }
            await addPasses(worker, with: parts)
            return nil
        } catch  where !Retry.isInVain(error) && !(error is CancellationError && Self.isEnding) {
            try gates.check()
            return try await tryAgain(after: error)
        }
    }

    private func currentWorker() async throws -> Worker {
        if let worker, !state.isOutdated { return worker }
        let current = try await openWorker(worker)
        worker = current
        state.opened()
        return current
    }

    private static var isEnding: Bool { Task.isCancelled || Task.isShuttingDownGracefully }

    private func tryAgain(after error: any Error) async throws -> Date {
        let next = state.failed(error, at: clock.now)
        await faults.fails(WorkFault.start, error)
        logger.warning(
            "Start failed, trying again",
            metadata: [
                LogKeys.error: "\(text(of: error))", LogKeys.attempt: "\(state.failures)",
                LogKeys.until: "\(next)",
            ])
        return state.nextCheck(before: next, at: clock.now)
    }

    /// Returns the time of the next check while a start waits for its retry.
    ///
    /// - Throws: ``MirrorChanged`` if settings or logins have changed, so that the mirror starts
    ///   immediately.
    private func nextCheck(before retry: Date) async throws -> Date {
        // A stamp that cannot be read is compared at the next check.
        if state.knownStamp != nil, let stamp = try? await worker?.mirror.stamp(),
            state.isChanged(by: stamp)
        {
            throw MirrorChanged()
        }
        return state.nextCheck(before: retry, at: clock.now)
    }

    /// Returns when to check a pause again; nil if there is none.
    ///
    /// Requests to undo are carried out meanwhile.
    private func endOfPause(_ worker: Worker, _ record: MirrorRecord) async throws -> Date? {
        switch state.step(in: record.pause(at: clock.now)) {
        case .none(let isOver):
            if isOver { logger.notice("Resumed") }
            return nil
        case .holds(let pause, let isNew):
            if isNew {
                logger.notice(
                    "Paused",
                    metadata: [
                        LogKeys.until: "\(pause.until?.rfc3339 ?? "resumed")",
                        LogKeys.reason: "\(pause.reason ?? "-")",
                    ])
                await worker.faults.forgetAll(except: [])
            }
            let undo = try await takeBack(worker)
            worker.notePause()
            return state.nextCheck(in: pause, undo: undo, at: clock.now)
        }
    }

    /// Continues the mirror's retirement.
    ///
    /// - Returns: When to continue; nil if no retirement is due yet.
    /// - Throws: `ConfigurationError` after it is completed, if the process is for this mirror
    ///   alone.
    private func retire(_ worker: Worker, _ record: MirrorRecord) async throws -> Date? {
        var step = state.step(in: record.retirement, at: clock.now)
        if case .carryOut = step {
            await worker.faults.forgetAll(except: [])
            if let next = try await Retiring(worker, lease: lease, gates: gates).carryOut(record) {
                worker.notePause()
                return state.nextCheck(inRetirement: next, at: clock.now)
            }
            step = state.afterRetirement(at: clock.now)
        }
        switch step {
        case .none, .carryOut: return nil
        case .rest(let end): return end
        case .end: throw try await worker.retired()
        }
    }

    /// Carries out due requests to undo during a pause, and cleans up after interrupted commands.
    ///
    /// - Returns: The time of the next check.
    /// - Throws: An error that needs a person; the store's error.
    private func takeBack(_ worker: Worker) async throws -> Date {
        let mirror = worker.mirror
        let store = mirror.outbox(lease: lease)
        func nextDue() async throws -> Date? {
            let undo = try await store.nextRecall(now: clock.now)
            let effect = try await mirror.effects.next(now: clock.now)
            return [undo, effect].compactMap(\.self).min()
        }
        guard let due = try await nextDue() else { return .distantFuture }
        guard due <= clock.now else { return due }
        try await mirror.table.requireHere()
        do {
            let gate = await gates.gate(
                before: try await mirror.confirmedBotNetwork(), .bot, of: worker)
            guard try await gate.isOpen() else {
                return gate.pause(at: clock.now) ?? .distantFuture
            }
            let botAccount = try await mirror.table.record().bot
            let recall = Recall(mirror, network: gate, lease: lease, bot: botAccount)
            _ = try await recall.carryOut()
        } catch let error as NetworkError where !error.stopsActor {
            logger.warning("Nothing taken back yet", metadata: [LogKeys.error: "\(error)"])
            return .distantFuture
        }
        return try await nextDue() ?? .distantFuture
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
                rounds.hurry(Passes.texts, of: group, to: clock.now + Self.judgingDelay)
            })
        let passes = work.all + [tidying(work, for: worker)]
        let judging = judging(work, for: worker)
        let changes = changes(worker, bot: parts.bot)
        await worker.faults.forgetAll(
            except: (passes + [judging, changes]).map(\.name) + [WorkFault.clock])
        logger.info("Worker started", metadata: [LogKeys.mirror: "\(worker.mirror.name)"])
        for warning in worker.mirror.configuration.values.storedWarnings {
            logger.warning("Stored setting ignored", metadata: [LogKeys.reason: "\(warning)"])
        }
        rounds.add(passes.map { repeated($0, of: worker) }, to: group)
        rounds.add(
            [repeated(judging, of: worker)], to: group, due: clock.now + Self.judgingDelay)
        rounds.add(
            [repeated(changes, of: worker)], to: group,
            due: clock.now + LifeState.changeCheckInterval)
    }

    private func tidying(_ passes: Passes, for worker: Worker) -> Rounds.Pass {
        let wait = tidyingInterval(of: worker)
        return Rounds.Pass(name: Worker.tidying, lane: .human) { [clock] in
            try await passes.clean()
            return clock.now + wait
        }
    }

    private func tidyingInterval(of worker: Worker) -> TimeInterval {
        Cadence.wait(of: worker.mirror.name, within: Self.tidyingIntervals)
    }

    /// Judges texts without a verdict, in steps, so that other due passes can run in between.
    private func judging(_ passes: Passes, for worker: Worker) -> Rounds.Pass {
        let wait = tidyingInterval(of: worker)
        return Rounds.Pass(name: Passes.texts, lane: .human) {
            try await passes.judge(wait: wait)
        }
    }

    /// Checks for changes if the process has noticed some, and compares the clocks.
    private func changes(_ worker: Worker, bot: AccountGate) -> Rounds.Pass {
        Rounds.Pass(name: Self.changesName, lane: .bot) { [weak self, clock] in
            if await self?.takeNews() == true { try await self?.lookForChanges() }
            await worker.compareClocks(bot)
            return clock.now + Self.comparisonInterval
        }
    }

    /// Returns a pass for the rounds that retries this pass after a failure.
    ///
    /// - Parameter worker: Stores the failures; nil for a pass of the mirror without a worker.
    private func repeated(_ pass: Rounds.Pass, of worker: Worker? = nil) -> Rounds.Pass {
        let repeated = RepeatedPass(pass, of: worker, clock: clock, logger: logger)
        return Rounds.Pass(name: pass.name, lane: pass.lane) { try await repeated.run() }
    }
}

extension Error {
    /// Whether another worker has taken the mirror.
    var isLostLease: Bool { (self as? OutboxError)?.code == .leaseLost }
}
