package import Foundation
import Posts
import Storage

/// Throwing away what is too old to matter.
extension OutboxStore {
    /// How many rows leave in one transaction: beats and deliveries get their turn between two.
    private static let batch = 500
    /// How many transactions one call makes at most: after years without cleaning the next call goes on.
    private static let batches = 20

    /// Deletes plans and ended actions that were last changed before `time`, a few thousand at most.
    ///
    /// What is still to be looked for stays, and so does what was sent to a person: nobody gets the same answer twice
    /// because the first one was forgotten. Caps and texts that must not be repeated are the caller's matter: `time` lies
    /// before all that they ask for.
    ///
    /// - Parameter time: What was changed later stays.
    /// - Returns: How many rows were deleted.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    @discardableResult
    package func clean(before time: Date) async throws -> Int {
        var total = 0
        for _ in 0..<Self.batches {
            let deleted = try await clean(before: time, limit: Self.batch)
            total += deleted
            if deleted < Self.batch { break }
        }
        return total
    }

    /// Deletes so many rows at most, in one transaction.
    func clean(before time: Date, limit: Int) async throws -> Int {
        let (mirror, lease) = (mirror, lease)
        let day = LocalTime(time, in: .gmt).day.advanced(by: -1).description
        // Most of the time there is nothing, and reading takes no lock.
        let first = try await storage.read { try Self.outdated(time, day, mirror, limit: 1, $0) }
        guard !first.actions.isEmpty || !first.plans.isEmpty else { return 0 }
        return try await storage.transaction { connection in
            try Self.requireLease(lease, mirror, connection)
            let (actions, plans) = try Self.outdated(time, day, mirror, limit: limit, connection)
            for part in actions.portions {
                try connection.execute("DELETE FROM actions WHERE mirror = \(mirror) AND id IN \(list: part)")
            }
            for part in plans.portions {
                try connection.execute("DELETE FROM plans WHERE mirror = \(mirror) AND local_day IN \(list: part)")
            }
            return actions.count + plans.count
        }
    }

    private static func outdated(
        _ time: Date, _ day: String, _ mirror: String, limit: Int, _ connection: any StorageConnection
    ) throws -> (actions: [String], plans: [String]) {
        let actions = try connection.query(
            """
            SELECT id FROM actions
            WHERE mirror = \(mirror) AND updated_ms < \(time.milliseconds) AND due_ms < \(time.milliseconds)
                AND state IN ('done', 'skipped', 'expired', 'failed', 'undone')
                AND NOT (state = 'failed' AND next_attempt_ms IS NOT NULL)
                AND NOT (kind = 'reply' AND source_post_id IS NOT NULL AND \(using))
            ORDER BY updated_ms LIMIT \(limit)
            """)
        let plans = try connection.query(
            """
            SELECT local_day FROM plans WHERE mirror = \(mirror) AND local_day < \(day)
            ORDER BY local_day LIMIT \(limit - actions.count)
            """)
        return (try actions.map { try $0.text("id") }, try plans.map { try $0.text("local_day") })
    }
}
