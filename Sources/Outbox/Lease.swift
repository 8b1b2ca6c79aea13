package import Foundation
import Posts
package import Storage

/// The right to act for a mirror, held by one worker at a time.
package struct Lease: Equatable, Sendable {
    /// The worker that holds it.
    package let owner: String
    /// The fence, which grows with every change of owner; a change with an older fence fails.
    package let fence: Int64
}

/// The stored lease of a mirror, with the beat of the worker that holds it.
package struct LeaseRecord: Equatable, Sendable {
    package let owner: String
    /// The holder's beat; 0 if the lease was released or the holder has no row.
    package let beat: Int64
    package let fence: Int64
    package let isReleased: Bool
    /// The time of the holder's last heartbeat on its wall clock, or of the last change of the
    /// lease; only for display.
    package let updatedMilliseconds: Int64
    /// The last end of `run --once`; nil if a continuous worker has held the mirror since.
    package var lastPass: Date?
    /// Seconds between the last two ends of `run --once`; nil before the second one.
    package var passInterval: TimeInterval?

    /// Returns the seconds since the holder's last heartbeat, by two wall clocks; nil if the lease
    /// was released.
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

/// Reads one mirror's lease, and notes the passes of `run --once`; ``Claims`` takes and releases
/// leases.
///
/// Every call may throw the store's error.
package struct LeaseTable: Sendable {
    package let storage: any StorageEngine
    package let mirror: String

    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// Returns the stored lease; nil if there was never one.
    package func record() async throws -> LeaseRecord? {
        try await storage.query("\(Self.selection) WHERE leases.mirror = \(mirror)").first.map(
            Self.record)
    }

    /// Returns the stored leases of some mirrors, by name.
    package static func records(of mirrors: [String], in storage: any StorageEngine) async throws
        -> [String: LeaseRecord]
    {
        var records: [String: LeaseRecord] = [:]
        for portion in mirrors.portions {
            let rows = try await storage.query(
                "\(selection) WHERE leases.mirror IN \(list: portion)")
            for row in rows { records[try row.text("mirror")] = try record(row) }
        }
        return records
    }

    private static let selection: SQL = """
        SELECT leases.mirror, leases.worker, leases.fence, leases.released, leases.pass_ms, leases.pass_interval_ms,
            COALESCE(workers.beat, 0) AS beat,
            CASE WHEN workers.updated_ms > leases.updated_ms THEN workers.updated_ms ELSE leases.updated_ms END
                AS updated_ms
        FROM leases LEFT JOIN workers ON workers.worker = leases.worker AND NOT leases.released
        """

    private static func record(_ row: SQLRow) throws -> LeaseRecord {
        LeaseRecord(
            owner: try row.optionalText("worker") ?? "", beat: try row.integer("beat"),
            fence: try row.integer("fence"), isReleased: try row.boolean("released"),
            updatedMilliseconds: try row.integer("updated_ms"),
            lastPass: try row.optionalDate("pass_ms"),
            passInterval: try row.optionalInteger("pass_interval_ms").map { Double($0) / 1_000 })
    }

    /// Records the end of a pass of `run --once`, and its interval to the one before.
    package func notePass(now: Date) async throws {
        let now = now.milliseconds
        try await storage.executeRepeatable(
            """
            INSERT INTO leases (mirror, fence, released, updated_ms, pass_ms)
            VALUES (\(mirror), 0, TRUE, \(now), \(now))
            ON CONFLICT (mirror) DO UPDATE SET pass_ms = \(now),
                pass_interval_ms = CASE WHEN leases.pass_ms < \(now) THEN \(now) - leases.pass_ms
                    ELSE leases.pass_interval_ms END
            """)
    }

    /// Removes the records of `run --once` of some mirrors, because a continuous worker holds them
    /// now.
    ///
    /// - Parameter mirrors: At most some hundred.
    /// - Throws: The store's error.
    package static func forgetPasses(of mirrors: [String], in storage: any StorageEngine)
        async throws
    {
        try await storage.executeRepeatable(
            """
            UPDATE leases SET pass_ms = NULL, pass_interval_ms = NULL
            WHERE mirror IN \(list: mirrors) AND pass_ms IS NOT NULL
            """)
    }
}

// MARK: Taking and releasing

/// A mirror that may be taken, and the fence that its lease had when that was decided.
package struct FreeMirror: Sendable {
    let mirror: String
    let fence: Int64
    /// The silent worker that holds it; nil if it is free.
    let holder: String?

    /// - Parameters:
    ///   - mirror: The mirror's name.
    ///   - fence: 0 if there was never a lease.
    ///   - holder: The silent worker that holds it; nil if it is free.
    package init(mirror: String, fence: Int64, holder: String? = nil) {
        self.mirror = mirror
        self.fence = fence
        self.holder = holder
    }
}

extension LeaseTable {
    /// Takes the leases of some mirrors for a worker, each only if its fence has not changed.
    ///
    /// - Parameter free: At most some hundred mirrors, in the order of their names, so that
    ///   concurrent workers lock the rows in the same order.
    /// - Returns: The leases of the mirrors that the worker holds now.
    package static func take(
        _ free: [FreeMirror], for worker: String, version: String, now: Int64,
        on connection: any StorageConnection
    ) throws -> [String: Lease] {
        guard let first = free.first else { return [:] }
        func row(_ mirror: FreeMirror) -> SQL {
            "(\(mirror.mirror), \(worker), \(version), \(mirror.fence + 1), FALSE, \(now))"
        }
        let rows = free.dropFirst().reduce(into: row(first)) { $0 += ", " + row($1) }
        try connection.execute(
            """
            INSERT INTO leases (mirror, worker, version, fence, released, updated_ms) VALUES \(rows)
            ON CONFLICT (mirror) DO UPDATE SET worker = excluded.worker, version = excluded.version,
                fence = excluded.fence, released = FALSE, updated_ms = excluded.updated_ms
            WHERE leases.fence = excluded.fence - 1
            """)
        let leases = try connection.query(
            """
            SELECT mirror, fence FROM leases
            WHERE mirror IN \(list: free.map(\.mirror)) AND worker = \(worker) AND NOT released
            """)
        return Dictionary(
            try leases.map {
                (try $0.text("mirror"), Lease(owner: worker, fence: try $0.integer("fence")))
            }
        ) { first, _ in first }
    }

    /// The statement that releases some of a worker's mirrors, so that the next worker need not
    /// wait; idempotent.
    ///
    /// - Parameter mirrors: At most some hundred; nil for all.
    static func releasing(
        _ mirrors: [String]? = nil, heldBy worker: String, now: Int64
    ) -> SQL {
        let mirrorCondition: SQL = mirrors.map { " AND mirror IN \(list: $0)" } ?? ""
        return """
            UPDATE leases SET released = TRUE, updated_ms = \(now)
            WHERE worker = \(worker) AND NOT released\(mirrorCondition)
            """
    }

    /// Revokes all leases and removes all workers, within the transaction of a migration.
    ///
    /// From its commit on no worker of an older program version can change an action or take a
    /// mirror: its fences are outdated, and its row is gone, so that it checks the tables before it
    /// continues; see ``Claims``. The mirrors are free, so that a worker of the new version can
    /// take them at once.
    ///
    /// - Parameter connection: A connection in the transaction of the migration, after the tables
    ///   were changed.
    package static func revokeAll(on connection: any StorageConnection) throws {
        // Workers are removed first: a worker that is just taking mirrors changes its row before
        // the leases, so either it finds no row, or the second statement includes its leases.
        try connection.execute("DELETE FROM workers")
        try connection.execute("UPDATE leases SET fence = fence + 1, released = TRUE")
    }
}
