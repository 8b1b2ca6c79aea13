import Favorites
package import Foundation
package import Logging
import Networks
import Outbox
import Redis
import ServiceLifecycle
import Storage

/// A pass repeated for as long as the worker lives.
///
/// A failed pass is logged and repeated after a growing wait; only what a
/// person must mend ends the loop, such as a wrong configuration or credentials
/// that were given up, or a lost lease.
package struct PollingLoop: Service {
    /// How long the database may refuse a worker that it let in before, in seconds: some do while they fail over or get
    /// new passwords.
    private static let patienceWithDatabase: TimeInterval = 900

    package let name: String
    let clock: any WallClock
    let logger: Logger
    /// Does the work once and returns when it wants to be called again.
    let pass: @Sendable () async throws -> Date

    /// - Parameters:
    ///   - name: What the log calls the loop.
    ///   - clock: Tells the time and waits.
    ///   - logger: Where failures go.
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
    /// - Throws: ``UnusableAccount``, ``ConfigurationError``, ``OutboxError`` for a lost lease, or what else trying
    ///   again cannot help.
    package func run() async throws {
        var failures = 0
        var refusedSince: Date?
        // The first pass too begins when the clock says so: on a virtual clock one loop after the other.
        try? await cancelWhenGracefulShutdown { try await clock.sleep(until: clock.now) }
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let next: Date
            do {
                next = try await pass()
                (failures, refusedSince) = (0, nil)
            } catch is CancellationError {
                return
            } catch {
                let now = clock.now
                refusedSince = Self.isRefusalByDatabase(error) ? refusedSince ?? now : nil
                let isPatient = refusedSince.map { now.timeIntervalSince($0) < Self.patienceWithDatabase } ?? false
                if Self.endsTheWorker(error), !isPatient { throw error }
                failures += 1
                next = Backoff.next(after: failures, error: error, name: name, now: now)
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

    /// What no retry mends; a replaced file is another database, which the next start opens.
    private static let finalStorageCodes: [StorageError.Code] = [
        .outOfDate, .authentication, .configuration, .corrupt, .replaced,
    ]

    private static func isRefusalByDatabase(_ error: any Error) -> Bool {
        (error as? StorageError)?.code == .authentication
    }

    /// Whether trying again cannot help.
    static func endsTheWorker(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError: true
        case is ConfigurationError, is UnusableAccount: true
        case let error as OutboxError: error.code == .leaseLost
        case let error as StorageError: Self.finalStorageCodes.contains(error.code)
        case let error as FavoritesError: error.code == .invalidConfiguration
        case let error as RedisError: error.code == .invalidConfiguration
        default: false
        }
    }
}

/// How long a loop waits after failed passes.
enum Backoff {
    private static let first: TimeInterval = 5
    private static let longest: TimeInterval = 300

    /// Doubles from five seconds to five minutes, spread by up to a quarter by the loop's name, and never earlier than
    /// the network asked for.
    static func next(after failures: Int, error: any Error, name: String, now: Date) -> Date {
        let wait = min(first * Double(1 << min(failures - 1, 10)), longest)
        let hash = name.utf8.reduce(UInt32(truncatingIfNeeded: failures)) { $0 &* 31 &+ UInt32($1) }
        let spread = Double(hash % 1_000) / 4_000
        let ours = now + wait * (1 + spread)
        return max(ours, (error as? NetworkError)?.retryAfter ?? .distantPast)
    }
}
