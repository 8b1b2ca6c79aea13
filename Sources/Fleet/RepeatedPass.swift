import Foundation
import Logging
import Mirroring
import Networks
import Posts
import ServiceLifecycle
import Storage

/// A pass that is retried after a failure, with increasing waits.
///
/// A worker's pass is also watched by the service manager, and its failures are stored for other
/// processes. A repeated pass throws only errors that need a person, such as a wrong configuration
/// or refused credentials, and a lost lease.
actor RepeatedPass {
    private let pass: Rounds.Pass
    private let worker: Worker?
    private let clock: any WallClock
    private let logger: Logger
    private var failures = ConsecutiveFailures()

    /// - Parameters:
    ///   - pass: The pass to repeat; the log contains its name.
    ///   - worker: The worker that the pass belongs to; nil for the passes of a mirror without a
    ///     running worker: they store their failures themselves, and are not watched.
    init(
        _ pass: Rounds.Pass, of worker: Worker? = nil, clock: any WallClock, logger: Logger
    ) {
        self.pass = pass
        self.worker = worker
        self.clock = clock
        self.logger = logger
    }

    /// Runs once and returns the time of the next call, also after a failure; nil if there is none.
    ///
    /// - Throws: `UnusableAccount`, `ConfigurationError`, `OutboxError` for a lost lease, or
    ///   another error that no retry can fix.
    func run() async throws -> Date? {
        do {
            let next: Date?
            do {
                beginWatching()
                defer { endWatching() }
                next = try await pass.run()
            }
            await worker?.faults.works(pass.name)
            if let next {
                logger.debug(
                    "Pass ended",
                    metadata: [LogKeys.feed: "\(pass.name)", LogKeys.until: "\(next)"])
            }
            failures = ConsecutiveFailures()
            return next
        } catch {
            await worker?.noteFailure(error, of: pass.name)
            let isEnding = Task.isCancelled || Task.isShuttingDownGracefully
            if isEnding, error is CancellationError { return nil }
            return try next(after: error)
        }
    }

    private func beginWatching() {
        guard let worker else { return }
        worker.manager?.passBegins(watchedName(of: worker))
    }

    private func endWatching() {
        guard let worker else { return }
        worker.manager?.passEnds(watchedName(of: worker))
    }

    /// The name of the pass among those of all mirrors of the process.
    private func watchedName(of worker: Worker) -> String { "\(worker.mirror.name)/\(pass.name)" }

    private func next(after error: any Error) throws -> Date {
        let now = clock.now
        let (failureCount, rule) = try failures.add(error, at: now)
        let next = rule.next(after: failureCount, of: pass.name, error, now: now)
        logger.warning(
            "Pass failed, trying again",
            metadata: [
                LogKeys.feed: "\(pass.name)", LogKeys.error: "\(error)",
                LogKeys.attempt: "\(failureCount)", LogKeys.until: "\(next)",
            ])
        return next
    }
}

/// The consecutive failures of one task.
struct ConsecutiveFailures {
    private var count = 0
    private var refusedSince: Date?

    /// Adds a failure.
    ///
    /// - Returns: The number of consecutive failures, and the rule for the next attempt.
    /// - Throws: The error if no retry can fix it. During a failover a database may refuse a valid
    ///   login, so this error is thrown only after the database has refused the login for some
    ///   time.
    mutating func add(_ error: any Error, at now: Date) throws -> (count: Int, rule: RetryRule) {
        let isRefusalByDatabase = (error as? StorageError)?.code == .authentication
        refusedSince = isRefusalByDatabase ? refusedSince ?? now : nil
        let rule = refusedSince == nil ? RetryRule.work : .databaseLogin
        let waitsForDatabase = refusedSince != nil && !rule.isOver(since: refusedSince, now: now)
        if Retry.isInVain(error), !waitsForDatabase { throw error }
        count += 1
        return (count, rule)
    }
}
