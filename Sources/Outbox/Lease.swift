package import Foundation
import Posts
package import Storage

/// The right to act for a mirror, held by one worker at a time.
package struct Lease: Equatable, Sendable {
    package let owner: String
    /// The fence, which grows with every change of owner; a change with an older fence fails.
    package let fence: Int64
}

/// The stored lease of a mirror.
package struct LeaseRecord: Equatable, Sendable {
    package let owner: String
    package let beat: Int64
    package let fence: Int64
    package let isReleased: Bool
    /// The time of the holder's last heartbeat on its wall clock; only for display.
    package let updatedMilliseconds: Int64
    /// The last end of `run --once`; nil if a continuous worker has held the mirror since.
    package var lastPass: Date?
    /// Seconds between the last two ends of `run --once`; nil before the second.
    package var passInterval: TimeInterval?

    /// Returns the seconds since the holder's last heartbeat, by two wall clocks; nil if the lease was released.
    ///
    /// Only for display.
    package func silence(at now: Date) -> TimeInterval? {
        isReleased ? nil : now.timeIntervalSince(Date(milliseconds: updatedMilliseconds))
    }

    /// Returns the lease if `owner` holds it.
    package func lease(of owner: String) -> Lease? {
        self.owner == owner && !isReleased ? Lease(owner: owner, fence: fence) : nil
    }
}

/// Reads and changes one mirror's lease; every call may throw the store's error.
package struct LeaseTable: Sendable {
    private let storage: any StorageEngine
    private let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// Returns the stored lease; nil if there was never one.
    package func record() async throws -> LeaseRecord? {
        try await storage.query("SELECT \(Self.columns) FROM leases WHERE mirror = \(mirror)").first.map(Self.record)
    }

    /// Returns the stored leases of some mirrors, by name.
    package static func records(of mirrors: [String], in storage: any StorageEngine) async throws -> [String:
        LeaseRecord]
    {
        var records: [String: LeaseRecord] = [:]
        for part in mirrors.portions {
            let rows = try await storage.query("SELECT mirror, \(columns) FROM leases WHERE mirror IN \(list: part)")
            for row in rows { records[try row.text("mirror")] = try record(row) }
        }
        return records
    }

    private static let columns: SQL = "owner, beat, fence, released, updated_ms, pass_ms, pass_interval_ms"

    private static func record(_ row: SQLRow) throws -> LeaseRecord {
        LeaseRecord(
            owner: try row.optionalText("owner") ?? "", beat: try row.integer("beat"),
            fence: try row.integer("fence"), isReleased: try row.boolean("released"),
            updatedMilliseconds: try row.integer("updated_ms"), lastPass: try row.optionalDate("pass_ms"),
            passInterval: try row.optionalInteger("pass_interval_ms").map { Double($0) / 1_000 })
    }

    /// Records the end of a pass of `run --once`, and its interval to the one before.
    package func notePass(now: Date) async throws {
        let now = now.milliseconds
        try await storage.note(
            """
            INSERT INTO leases (mirror, beat, fence, released, updated_ms, pass_ms)
            VALUES (\(mirror), 0, 0, TRUE, \(now), \(now))
            ON CONFLICT (mirror) DO UPDATE SET pass_ms = \(now),
                pass_interval_ms = CASE WHEN leases.pass_ms < \(now) THEN \(now) - leases.pass_ms
                    ELSE leases.pass_interval_ms END
            """)
    }

    /// Removes the record of `run --once`, because a continuous worker holds the mirror now.
    package func forgetPasses() async throws {
        try await storage.note(
            """
            UPDATE leases SET pass_ms = NULL, pass_interval_ms = NULL WHERE mirror = \(mirror) AND pass_ms IS NOT NULL
            """)
    }

    /// Takes the lease for `owner` if nothing changed since `seen` was read.
    ///
    /// The caller decides whether it may be taken: there is none, it was released, or its holder is silent.
    ///
    /// - Returns: The new lease; nil if another worker was faster.
    package func take(owner: String, after seen: LeaseRecord?, now: Int64) async throws -> Lease? {
        let mirror = mirror
        return try await storage.transaction { connection in
            guard let seen else {
                let inserted = try connection.execute(
                    """
                    INSERT INTO leases (mirror, owner, beat, fence, released, updated_ms)
                    VALUES (\(mirror), \(owner), 1, 1, FALSE, \(now)) ON CONFLICT (mirror) DO NOTHING
                    """)
                return inserted == 1 ? Lease(owner: owner, fence: 1) : nil
            }
            let updated = try connection.execute(
                """
                UPDATE leases SET owner = \(owner), beat = \(seen.beat + 1), fence = \(seen.fence + 1),
                    released = FALSE, updated_ms = \(now)
                WHERE mirror = \(mirror) AND fence = \(seen.fence) AND beat = \(seen.beat)
                """)
            return updated == 1 ? Lease(owner: owner, fence: seen.fence + 1) : nil
        }
    }

    /// Stores a heartbeat of the holder.
    ///
    /// - Throws: ``OutboxError`` with code `.leaseLost` if another worker holds the lease.
    package func beat(_ lease: Lease, now: Int64) async throws {
        let updated = try await storage.note(
            """
            UPDATE leases SET beat = beat + 1, updated_ms = \(now)
            WHERE mirror = \(mirror) AND owner = \(lease.owner) AND fence = \(lease.fence) AND NOT released
            """)
        guard updated == 1 else { throw OutboxError.leaseLost }
    }

    /// Releases the lease, so that the next worker need not wait.
    package func release(_ lease: Lease, now: Int64) async throws {
        let mirror = mirror
        _ = try await storage.transaction { connection in
            try connection.execute(
                """
                UPDATE leases SET released = TRUE, beat = beat + 1, updated_ms = \(now)
                WHERE mirror = \(mirror) AND owner = \(lease.owner) AND fence = \(lease.fence)
                """)
        }
    }
}

/// Decides when a lease may be taken from a silent holder.
///
/// A holder is silent if its heartbeat has not changed for ``patience`` on the observer's monotonic clock, so a wrong
/// wall clock cannot steal a lease.
package struct LeaseWatch: Sendable {
    /// The time without a new heartbeat after which a holder is silent, unless a rehearsal shortens it.
    package static let patience: Duration = .seconds(30)

    private let patience: Duration
    private var seen: LeaseRecord?
    private var since: ContinuousClock.Instant?

    package init(patience: Duration = Self.patience) { self.patience = patience }

    /// Returns whether the lease of `record`, read at `instant`, may be taken.
    package mutating func mayTake(_ record: LeaseRecord?, at instant: ContinuousClock.Instant) -> Bool {
        guard let record, !record.isReleased else { return true }
        if record != seen {
            seen = record
            since = instant
        }
        guard let since else { return false }
        return since.duration(to: instant) >= patience
    }
}
