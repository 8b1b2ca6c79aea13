package import Foundation
import Posts
import Storage

/// What time does to actions.
extension OutboxStore {
    /// Marks what was to be sent, or decided by a person, and no longer may.
    ///
    /// What is marked is not caught up with later: after an outage nothing comes in a burst.
    ///
    /// - Returns: The actions that expired now.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func expire(now: Date) async throws -> [Action] {
        let overdue: SQL = """
            state IN ('planned', 'claimed', 'suggested') AND expires_ms < \(now.milliseconds)
            """
        // Most of the time there is nothing, and reading takes no lock.
        guard try await !actions(where: overdue, order: "due_ms ASC, id ASC", limit: 1).isEmpty else { return [] }
        let (mirror, lease) = (mirror, lease)
        return try await storage.transaction { connection in
            try Self.requireLease(lease, mirror, connection)
            let ending = try Self.actions(mirror, overdue, "due_ms ASC, id ASC", 100_000, connection)
            try connection.execute(
                """
                UPDATE actions SET state = 'expired', updated_ms = \(now.milliseconds), next_attempt_ms = NULL,
                    reason = COALESCE(reason, CASE state WHEN 'suggested' THEN \(Action.Reason.undecided)
                        ELSE \(Action.Reason.tooLate) END)
                WHERE mirror = \(mirror) AND \(overdue)
                """)
            let posts = ending.filter { $0.kind == .post }.compactMap(\.sourcePost)
            try Self.noteUses(of: posts, mirror, connection)
            return ending.map { $0.expired(at: now) }
        }
    }

    /// The planned actions whose time has come and is not over, oldest first.
    ///
    /// What an earlier worker took and did not send is among them.
    package func due(_ kinds: [ActionKind], now: Date, limit: Int = 20) async throws -> [Action] {
        // What has to wait leaves its place to what can be sent.
        return try await actions(
            where: """
                state IN ('planned', 'claimed') AND kind IN \(list: kinds.map(\.rawValue))
                AND due_ms <= \(now.milliseconds) AND COALESCE(next_attempt_ms, 0) <= \(now.milliseconds)
                AND expires_ms >= \(now.milliseconds)
                """,
            order: "due_ms ASC, id ASC", limit: limit)
    }

    /// When the next action wants attention, in one look at the table.
    ///
    /// Of these kinds, what is to be sent or to be marked as expired; of all kinds, what nobody knows the outcome of.
    ///
    /// - Parameters:
    ///   - kinds: What is to be sent.
    ///   - wait: How long after its request an action is looked up that says nothing else, in seconds.
    ///   - now: A request that is said to have left later than this wants attention at once: a clock was set.
    /// - Returns: A time that may have passed; nil if nothing is left to do.
    /// - Throws: The store's error.
    package func nextAttention(
        _ kinds: [ActionKind], lookUpAfter wait: TimeInterval, now: Date
    ) async throws -> Date? {
        let names = kinds.map(\.rawValue)
        let milliseconds = Int64(wait * 1_000)
        let rows = try await storage.query(
            """
            SELECT
                (SELECT MIN(CASE WHEN state = 'suggested' OR next_attempt_ms > expires_ms THEN expires_ms + 1
                    WHEN next_attempt_ms > due_ms THEN next_attempt_ms ELSE due_ms END)
                FROM actions WHERE mirror = \(mirror) AND state IN ('planned', 'claimed', 'suggested')
                    AND kind IN \(list: names)) AS due_ms,
                (SELECT MIN(CASE WHEN updated_ms > \(now.milliseconds) THEN CAST(\(now.milliseconds) AS BIGINT)
                    ELSE COALESCE(next_attempt_ms, COALESCE(sending_ms, updated_ms) + \(milliseconds)) END)
                FROM actions WHERE mirror = \(mirror) AND state = 'sending') AS look_ms,
                (SELECT MIN(next_attempt_ms) FROM actions
                WHERE mirror = \(mirror) AND \(Self.unsettled) AND next_attempt_ms IS NOT NULL) AS sighting_ms
            """)
        return try rows.first.flatMap { row in
            try ["due_ms", "look_ms", "sighting_ms"].compactMap { try row.optionalDate($0) }.min()
        }
    }
}

extension Action {
    /// The same action, marked as the table marks it.
    fileprivate func expired(at now: Date) -> Action {
        var expired = self
        expired.state = .expired
        expired.updated = Date(milliseconds: now.milliseconds)
        expired.nextAttempt = nil
        expired.reason = reason ?? (state == .suggested ? Reason.undecided : Reason.tooLate)
        return expired
    }
}
