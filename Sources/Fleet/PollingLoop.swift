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

/// A pass repeated for as long as the worker lives.
///
/// A failed pass is logged and repeated after a growing wait; only what a
/// person must mend ends the loop, such as a wrong configuration or credentials
/// that were given up, or a lost lease.
package struct PollingLoop: Service {
    package let name: String
    let clock: any WallClock
    let logger: Logger
    /// Whose turn it is where several loops begin at once.
    var turn: Int?
    /// Does the work once and returns when it wants to be called again.
    let pass: @Sendable () async throws -> Date

    /// - Parameters:
    ///   - name: What the log calls the loop.
    ///   - pass: Does the work once and returns when to do it again.
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
    /// A pass that has begun is finished; only the waiting is cut short.
    ///
    /// - Throws: `UnusableAccount`, `ConfigurationError`, `OutboxError` for a lost lease, or what else trying
    ///   again cannot help.
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
