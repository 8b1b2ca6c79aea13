package import Foundation
package import Posts
import Storage

/// Forgetting a person.
extension OutboxStore {
    /// What came of it.
    package struct Forgetting: Equatable, Sendable {
        /// What was to be said or favorited, and is not any more.
        package var dropped = 0
        /// What was done or decided, of which only that is left.
        package var ended = 0
        /// What may be under way, or is to be taken back: it stays as it is until that has ended.
        package var underWay = 0

        package init() {}
    }

    /// What is left of the name of what an action is about, once that is forgotten: it is never done twice.
    static func forgotten(_ subject: String) -> String {
        "#" + StableHash.digest(of: "forgotten/1", "subject", subject).prefix(16).hexadecimal
    }

    /// Drops what waits for any of these accounts, and takes from what was done or decided for them whom it was for, what
    /// was said and why.
    ///
    /// Needs no lease: what a worker has not sent yet it finds skipped, and what may be under way, or is to be taken back,
    /// is left alone.
    ///
    /// - Parameters:
    ///   - accounts: All accounts of a person.
    ///   - now: Recorded with what is dropped.
    /// - Returns: How much there was.
    /// - Throws: The store's error.
    package func forget(_ accounts: [AccountID], now: Date) async throws -> Forgetting {
        try await storage.transaction { connection in
            var result = Forgetting()
            for account in accounts {
                for action in try self.actions(about: [account], on: connection) {
                    guard !action.isUnderWay else {
                        result.underWay += 1
                        continue
                    }
                    let isWaiting = Self.waitingStates.contains(action.state)
                    result.dropped += isWaiting ? 1 : 0
                    result.ended += isWaiting ? 0 : 1
                    try strip(action, of: account, isWaiting: isWaiting, now: now, on: connection)
                }
                try leaveOut(account, on: connection)
            }
            return result
        }
    }

    /// Leaves of an action how it ended, and of an answer what the bot's own post is called.
    private func strip(
        _ action: Action, of account: AccountID, isWaiting: Bool, now: Date, on connection: any StorageConnection
    ) throws {
        let name = Self.forgotten(action.subject)
        if isWaiting {
            try connection.execute(
                """
                UPDATE actions SET state = 'skipped', reason = \(Action.Reason.forgotten), updated_ms = \(now.milliseconds)
                WHERE mirror = \(mirror) AND id = \(action.id)
                """)
        }
        try connection.execute(
            """
            UPDATE actions SET subject = \(name), target_post_id = \(name), target_author = \(account.forgotten.value),
                target_address = '', thread = CASE WHEN kind = 'reply' THEN \(name) END, bystanders = NULL, text = NULL, warning = NULL,
                source_network = NULL, source_post_id = NULL, visibility = NULL, language = NULL, explanation = NULL,
                next_attempt_ms = NULL, remote_id = CASE WHEN kind = 'reply' THEN remote_id END,
                remote_address = CASE WHEN kind = 'reply' THEN remote_address END
            WHERE mirror = \(mirror) AND id = \(action.id)
            """)
    }

    /// Takes an account out of those whom answers to others were not to notify; what waits still needs them.
    private func leaveOut(_ account: AccountID, on connection: any StorageConnection) throws {
        try connection.execute(
            """
            UPDATE actions SET bystanders = NULL
            WHERE mirror = \(mirror) AND kind = 'reply' AND target_network = \(account.network.rawValue)
                AND state IN ('done', 'skipped', 'expired', 'failed', 'undone') AND bystanders IS NOT NULL
                AND REPLACE(' ' || bystanders || ' ', \(" \(account.value) "), '') <> ' ' || bystanders || ' '
            """)
    }

    /// What was done, decided or is planned about any of these accounts, the oldest first.
    package func actions(about accounts: [AccountID]) async throws -> [Action] {
        try await storage.read { try actions(about: accounts, on: $0) }
    }

    private func actions(about accounts: [AccountID], on connection: any StorageConnection) throws -> [Action] {
        var found: [Action] = []
        for kind in [ActionKind.reply, .favorite] {
            for target in Self.targets(accounts) {
                found += try actions(
                    where: "kind = \(kind.rawValue) AND \(target)", order: "due_ms ASC, id ASC", limit: 1_000_000,
                    on: connection)
            }
        }
        return found.sorted { ($0.due, $0.id) < ($1.due, $1.id) }
    }
}

extension Action {
    /// Whether what it says, or whom it is for, is needed yet: to look for it, or to take it back.
    fileprivate var isUnderWay: Bool { state == .sending || awaitsUndo && (state != .done || kind == .favorite) }
}
