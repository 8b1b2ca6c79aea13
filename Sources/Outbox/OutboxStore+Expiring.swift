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
            return ending.map { $0.expired(at: now) }
        }
    }

    /// The planned actions whose time has come, oldest first; expired ones are marked and left out.
    ///
    /// What an earlier worker took and did not send is among them.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func due(_ kinds: [ActionKind], now: Date, limit: Int = 20) async throws -> [Action] {
        _ = try await expire(now: now)
        // What has to wait leaves its place to what can be sent.
        return try await actions(
            where: """
                state IN ('planned', 'claimed') AND kind IN \(list: kinds.map(\.rawValue))
                AND due_ms <= \(now.milliseconds) AND COALESCE(next_attempt_ms, 0) <= \(now.milliseconds)
                AND expires_ms >= \(now.milliseconds)
                """,
            order: "due_ms ASC, id ASC", limit: limit)
    }

    /// When the next action of these kinds wants to be sent, or to be marked as expired.
    package func nextDue(_ kinds: [ActionKind]) async throws -> Date? {
        let mirror = mirror
        let names = kinds.map(\.rawValue)
        return try await storage.read { connection in
            let rows = try connection.query(
                """
                SELECT MIN(CASE WHEN state = 'suggested' OR next_attempt_ms > expires_ms THEN expires_ms + 1
                    WHEN next_attempt_ms > due_ms THEN next_attempt_ms ELSE due_ms END) AS next_ms
                FROM actions
                WHERE mirror = \(mirror) AND state IN ('planned', 'claimed', 'suggested') AND kind IN \(list: names)
                """)
            return try rows.first?.optionalDate("next_ms")
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
