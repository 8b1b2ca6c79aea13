import Blocking
import Foundation
package import Logging
package import Outbox
import ServiceLifecycle
import Storage

/// Holds one mirror for the duration of a command, and beats meanwhile: `Claims` of a single
/// mirror.
///
/// Beats and waits use real time even if the mirror's own clock is virtual, because they guard
/// against other processes.
package struct LeaseKeeper: Sendable {
    private let table: LeaseTable
    private let claims: Claims
    private let faultPoints: FaultPoints
    private let logger: Logger

    package init(
        table: LeaseTable, clock: any WallClock, timing: LeaseTiming = LeaseTiming(),
        faultPoints: FaultPoints = .none,
        logger: Logger
    ) {
        self.table = table
        self.faultPoints = faultPoints
        self.logger = logger
        claims = Claims(
            storage: table.storage, version: Version.current, scope: .listed, timing: timing,
            now: { clock.now })
    }

    private var interval: Duration { claims.timing.interval }

    /// Takes the lease if nobody holds it, or if its holder has been silent for longer than the
    /// timing's silence limit; nil otherwise.
    private func claim() async throws -> Lease? {
        _ = try await claims.claim([table.mirror])
        return claims.lease(of: table.mirror)
    }

    /// Takes the lease if nobody holds it, or waits until its holder has been silent for the
    /// timing's silence limit.
    ///
    /// - Returns: Nil if the holder renews the lease meanwhile, or if it cannot be taken after
    ///   twice that time.
    package func acquireNow() async throws -> Lease? {
        claims.drop(table.mirror)
        // Longer than a silent holder keeps its lease; after this, something else must prevent the
        // claim.
        let end = ContinuousClock.now + claims.timing.silenceLimit * 2
        var seen: LeaseRecord?
        while true {
            if let lease = try await claim() { return lease }
            let record = try await table.record()
            guard seen == nil || record == seen, ContinuousClock.now < end else { return nil }
            seen = record
            try await ContinuousClock().sleep(for: interval)
        }
    }

    /// Beats until cancelled.
    ///
    /// An unreachable database does not end the lease, because no other process can take it there
    /// either.
    ///
    /// - Throws: `OutboxError` with code `.leaseLost` if another worker has taken the lease, and
    ///   with `.outdated` if a newer program has migrated the database.
    package func beat(_ lease: Lease) async throws {
        while !Task.isCancelled {
            do {
                _ = try await claims.beat()
                guard claims.lease(of: table.mirror) == lease else { throw OutboxError.leaseLost }
            } catch let error as OutboxError {
                throw error
            } catch is CancellationError {
                return
            } catch {
                logger.warning("Lease could not be renewed", metadata: [LogKeys.error: "\(error)"])
            }
            do { try await ContinuousClock().sleep(for: interval) } catch { return }
        }
    }

    /// Runs work that needs the lease, and beats meanwhile.
    ///
    /// - Returns: The result of the work.
    /// - Throws: The error of the work; `OutboxError` as soon as another worker has taken the
    ///   lease, and then the work is cancelled.
    package func holding<Value: Sendable>(
        _ lease: Lease, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                try await beat(lease)
                return nil
            }
            group.addTask { try await work() }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let value = ended { return value }
            }
            throw CancellationError()
        }
    }

    /// Runs work with the lease, beats meanwhile, and releases the lease in any case.
    ///
    /// - Returns: The result of the work; nil if a live holder has the lease, so that nothing was
    ///   done.
    /// - Throws: As ``holding(_:_:)``; the store's error.
    package func holdingNow<Value: Sendable>(
        _ work: @escaping @Sendable (Lease) async throws -> Value
    ) async throws -> Value? {
        guard let lease = try await acquireNow() else { return nil }
        return try await afterwards({ await release(lease) }) {
            try await holding(lease) { try await work(lease) }
        }
    }

    /// Releases the lease, so that the next worker need not wait.
    ///
    /// A database that does not answer is not waited for, because the process is about to end.
    package func release(_ lease: Lease) async {
        do {
            try await claims.endInTime()
            faultPoints.pass(.leaseReleased)
        } catch {
            logger.warning("Lease could not be released", metadata: [LogKeys.error: "\(error)"])
        }
    }
}
