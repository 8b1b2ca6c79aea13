import Favorites
package import Foundation
package import Logging
package import Mirroring
import Networks
import Outbox
import Posts
import Redis
import ServiceLifecycle
import Storage

/// A pass that is repeated as long as the worker runs.
///
/// A failed pass is logged and retried with backoff. Only errors that a person must mend, such as a wrong configuration
/// or refused credentials, and a lost lease end the loop.
package struct PollingLoop: Service {
    package let name: String
    let clock: any WallClock
    let logger: Logger
    /// The turn of the loop on a virtual clock, where several loops begin at once.
    var turn: Int?
    /// Does the work once and returns the time of the next call.
    let pass: @Sendable () async throws -> Date

    /// - Parameters:
    ///   - name: The name of the loop in the log.
    ///   - pass: Does the work once and returns the time of the next call.
    package init(
        name: String, clock: any WallClock, logger: Logger, pass: @escaping @Sendable () async throws -> Date
    ) {
        self.name = name
        self.clock = clock
        self.logger = logger
        self.pass = pass
    }

    /// Runs until a graceful shutdown or cancellation.
    ///
    /// A running pass is finished; only waits are cut short.
    ///
    /// - Throws: `UnusableAccount`, `ConfigurationError`, `OutboxError` for a lost lease, or another error that no
    ///   retry can mend.
    package func run() async throws {
        var failures = 0
        var refusedSince: Date?
        // The first pass too begins when the clock says so: on a virtual clock one loop after the other.
        try? await cancelWhenGracefulShutdown {
            if let turn {
                try await clock.sleep(until: clock.now, turn: turn)
            } else {
                try await clock.sleep(until: clock.now)
            }
        }
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let next: Date
            do {
                next = try await pass()
                logger.debug("Pass ended", metadata: [LogKeys.feed: "\(name)", LogKeys.until: "\(next)"])
                (failures, refusedSince) = (0, nil)
            } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
                return
            } catch {
                let now = clock.now
                refusedSince = Self.isRefusalByDatabase(error) ? refusedSince ?? now : nil
                let rule = refusedSince == nil ? RetryRule.work : .databaseLogin
                let isPatient = refusedSince != nil && !rule.isOver(since: refusedSince, now: now)
                if Retry.isInVain(error), !isPatient { throw error }
                failures += 1
                next = rule.next(after: failures, of: name, error, now: now)
                logger.warning(
                    "Pass failed, trying again",
                    metadata: [
                        LogKeys.feed: "\(name)", LogKeys.error: "\(error)", LogKeys.attempt: "\(failures)",
                        LogKeys.until: "\(next)",
                    ])
            }
            // The sleep throws only when it is cut short by the end of the worker.
            try? await cancelWhenGracefulShutdown { try await clock.sleep(until: next) }
        }
    }

    private static func isRefusalByDatabase(_ error: any Error) -> Bool {
        (error as? StorageError)?.code == .authentication
    }
}
