package import Foundation
import Posts
package import Storage

/// What becomes of actions when another account is to act.
extension OutboxStore {
    /// Ends what was still to be done for the account that acted until now.
    ///
    /// Answers and favorites were decided for that account, and what it may have sent can no longer be looked up. Posts
    /// that are only planned stay. To be called in the transaction that binds the other account, under the mirror's
    /// lease.
    ///
    /// - Parameters:
    ///   - mirror: Whose actions.
    ///   - connection: The transaction.
    ///   - now: When it is done.
    /// - Throws: The store's error.
    package static func leaveUnsent(
        of mirror: String, on connection: any StorageConnection, now: Date
    ) throws {
        try connection.execute(
            """
            UPDATE actions SET state = 'skipped', reason = 'rebound', next_attempt_ms = NULL,
                updated_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND kind IN ('reply', 'favorite') AND state IN ('planned', 'claimed', 'suggested')
            """)
        try connection.execute(
            """
            UPDATE actions SET state = 'failed', reason = \(Action.Reason.unconfirmed), next_attempt_ms = NULL,
                updated_ms = \(now.milliseconds)
            WHERE mirror = \(mirror) AND state = 'sending'
            """)
        // Nobody looks for the lost ones of the account before.
        try connection.execute(
            """
            UPDATE actions SET next_attempt_ms = NULL
            WHERE mirror = \(mirror) AND state = 'failed' AND next_attempt_ms IS NOT NULL
            """)
    }
}
