package import Foundation
import Posts
import Storage

/// Actions of which nobody knows whether they happened.
extension OutboxStore {
    /// What ended without anybody knowing whether it happened.
    static let unsettled: SQL = """
        (state = 'failed' AND reason IN \(list: [Action.Reason.unconfirmed, Action.Reason.duplicate]))
        """

    /// The actions whose request left without a known outcome.
    package func unresolved() async throws -> [Action] {
        try await actions(where: "state = 'sending'", order: "sending_ms ASC, id ASC", limit: 1_000)
    }

    /// What was published besides an action, or may have been, since `start`; the newest first.
    package func published(besides action: Action, since start: Date) async throws -> [Action] {
        try await actions(
            where: """
                updated_ms >= \(start.milliseconds) AND sending_ms IS NOT NULL AND kind IN ('post', 'reply')
                AND id <> \(action.id)
                """,
            order: "updated_ms DESC, id ASC", limit: 2_000)
    }

    /// The actions that ended without anybody knowing whether they happened and whose time for another look has come.
    package func unsighted(now: Date, limit: Int = 20) async throws -> [Action] {
        try await actions(
            where: "\(Self.unsettled) AND next_attempt_ms <= \(now.milliseconds)",
            order: "next_attempt_ms ASC, id ASC", limit: limit)
    }

    /// Records when to look for an unconfirmed action again; nil for never.
    ///
    /// The action counts as unchanged: only what is known about it matters to people.
    package func lookAgain(_ action: Action, at time: Date?) async throws {
        let (mirror, lease) = (mirror, lease)
        try await storage.transaction { connection in
            try Self.requireLease(lease, mirror, connection)
            try connection.execute(
                """
                UPDATE actions SET next_attempt_ms = \(time?.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id) AND \(Self.unsettled)
                """)
        }
    }

    /// When any action was last changed, on the clock of whoever changed it; nil while there is none.
    package func newestChange() async throws -> Date? {
        let rows = try await storage.query("SELECT MAX(updated_ms) AS newest_ms FROM actions WHERE mirror = \(mirror)")
        return try rows.first?.optionalDate("newest_ms")
    }
}
