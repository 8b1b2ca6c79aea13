import Favorites
package import Foundation
package import Logging
import MeCab
import Networks
import Outbox
import Redis
import ServiceLifecycle
import Storage

/// A pass repeated for as long as the worker lives.
///
/// A failed pass is logged and repeated after a growing wait; only what a
/// person must mend ends the loop: refused credentials, a wrong configuration
/// or a lost lease.
package struct PollingLoop: Service {
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
    /// - Throws: ``NetworkError`` for refused credentials, ``ConfigurationError``, or ``OutboxError`` for a lost lease.
    package func run() async throws {
        var failures = 0
        // The first pass too begins when the clock says so: on a virtual clock one loop after the other.
        try? await clock.sleep(until: clock.now)
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let next: Date
            do {
                next = try await pass()
                failures = 0
            } catch is CancellationError {
                return
            } catch {
                if Self.endsTheWorker(error) { throw error }
                failures += 1
                next = Backoff.next(after: failures, error: error, name: name, now: clock.now)
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

    /// Whether trying again cannot help.
    static func endsTheWorker(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError: true
        case let error as NetworkError: error.stopsActor
        case is ConfigurationError: true
        case let error as OutboxError: error.code == .leaseLost
        case let error as StorageError: [.outOfDate, .authentication, .configuration, .corrupt].contains(error.code)
        case is MeCabError: true
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
