import Foundation
import Logging
import Outbox
import Posts
import ServiceLifecycle
import Storage

/// Takes a mirror's lease, keeps it beating and gives it back.
///
/// Beats and waits are counted in real time even where the mirror's own clock
/// is a virtual one: they guard against other processes.
struct LeaseKeeper: Sendable {
    private static let interval: Duration = .seconds(5)

    let table: LeaseTable
    let clock: any WallClock
    let logger: Logger
    /// A name that no other process has.
    private let owner = UUID().uuidString.lowercased()

    init(table: LeaseTable, clock: any WallClock, logger: Logger) {
        self.table = table
        self.clock = clock
        self.logger = logger
    }

    /// Waits until the lease may be taken; nil if the worker is to end before that.
    func acquire() async throws -> Lease? {
        var watch = LeaseWatch()
        var isAnnounced = false
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            let record = try await table.record()
            if watch.mayTake(record, at: .now),
                let lease = try await table.take(owner: owner, after: record, now: clock.now.milliseconds)
            {
                return lease
            }
            if !isAnnounced {
                logger.notice("Another worker holds this mirror, waiting")
                isAnnounced = true
            }
            try? await cancelWhenGracefulShutdown { try await ContinuousClock().sleep(for: Self.interval) }
        }
        return nil
    }

    /// Takes the lease if nobody holds it, or if its holder is silent.
    ///
    /// A holder that lives shows it within seconds; one that died is replaced after ``LeaseWatch/patience``.
    func acquireNow() async throws -> Lease? {
        var watch = LeaseWatch()
        let first = try await table.record()
        var record = first
        while !watch.mayTake(record, at: .now) {
            guard record == first else { return nil }
            try await ContinuousClock().sleep(for: .seconds(1))
            record = try await table.record()
        }
        return try await table.take(owner: owner, after: record, now: clock.now.milliseconds)
    }

    /// Beats until cancelled.
    ///
    /// A database that cannot be reached does not end the lease: nobody else can take it there either.
    func beat(_ lease: Lease) async throws {
        while !Task.isCancelled {
            do {
                try await table.beat(lease, now: clock.now.milliseconds)
            } catch let error as OutboxError {
                throw error
            } catch is CancellationError {
                return
            } catch {
                logger.warning("Lease could not be renewed", metadata: [LogKeys.error: "\(error)"])
            }
            do { try await ContinuousClock().sleep(for: Self.interval) } catch { return }
        }
    }

    /// Gives the lease back, so that the next worker need not wait.
    func release(_ lease: Lease) async {
        do {
            // Not cancelled with the worker: the next one would have to wait for the silence.
            try await Task { try await table.release(lease, now: clock.now.milliseconds) }.value
        } catch {
            logger.warning("Lease could not be released", metadata: [LogKeys.error: "\(error)"])
        }
    }
}
