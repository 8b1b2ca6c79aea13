import Foundation
import Logging
import Mirroring
import Networks
import Posts
import ServiceLifecycle
import Storage

/// A pass that is retried after a failure, with increasing waits.
///
/// It throws only errors that need a person, such as a wrong configuration or refused credentials,
/// and a lost lease.
actor RepeatedPass {
    private let name: String
    private let clock: any WallClock
    private let logger: Logger
    private let pass: @Sendable () async throws -> Date?
    private var patience = WorkPatience()

    /// - Parameters:
    ///   - name: The name of the pass in the log.
    ///   - pass: Runs once and returns the time of the next call; nil for none.
    init(
        name: String, clock: any WallClock, logger: Logger,
        pass: @escaping @Sendable () async throws -> Date?
    ) {
        self.name = name
        self.clock = clock
        self.logger = logger
        self.pass = pass
    }

    /// Runs once and returns the time of the next call, also after a failure; nil if there is none.
    ///
    /// - Throws: `UnusableAccount`, `ConfigurationError`, `OutboxError` for a lost lease, or
    ///   another error that no retry can fix.
    func run() async throws -> Date? {
        do {
            let next = try await pass()
            if let next {
                logger.debug(
                    "Pass ended", metadata: [LogKeys.feed: "\(name)", LogKeys.until: "\(next)"])
            }
            patience = WorkPatience()
            return next
        } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
            return nil
        } catch {
            return try next(after: error)
        }
    }

    private func next(after error: any Error) throws -> Date {
        let now = clock.now
        let (failures, rule) = try patience.endures(error, at: now)
        let next = rule.next(after: failures, of: name, error, now: now)
        logger.warning(
            "Pass failed, trying again",
            metadata: [
                LogKeys.feed: "\(name)", LogKeys.error: "\(error)", LogKeys.attempt: "\(failures)",
                LogKeys.until: "\(next)",
            ])
        return next
    }
}

/// The consecutive failures of one task.
struct WorkPatience {
    private var failures = 0
    private var refusedSince: Date?

    /// Counts a failure.
    ///
    /// - Returns: The number of consecutive failures, and the rule for the next attempt.
    /// - Throws: The error if no retry can fix it. During a failover a database may refuse a valid
    ///   login, so a refused login is thrown only after it has lasted.
    mutating func endures(_ error: any Error, at now: Date) throws -> (
        failures: Int, rule: RetryRule
    ) {
        let isRefusalByDatabase = (error as? StorageError)?.code == .authentication
        refusedSince = isRefusalByDatabase ? refusedSince ?? now : nil
        let rule = refusedSince == nil ? RetryRule.work : .databaseLogin
        let waitsForDatabase = refusedSince != nil && !rule.isOver(since: refusedSince, now: now)
        if Retry.isInVain(error), !waitsForDatabase { throw error }
        failures += 1
        return (failures, rule)
    }
}
