package import Posts
import Storage

extension OutboxStore {
    /// Whether a reply to one of these accounts was or may have been sent, apart from one action.
    ///
    /// - Throws: The store's error.
    package func hasAnswered(_ accounts: [AccountID], besides action: Action) async throws -> Bool {
        let targets = Self.targets(accounts)
        guard let first = targets.first else { return false }
        let anyTarget = targets.dropFirst().reduce(first) { $0 + " OR " + $1 }
        return try await !storage.query(
            """
            SELECT 1 AS found FROM actions
            WHERE mirror = \(mirror) AND kind = 'reply' AND id <> \(action.id) AND (\(anyTarget))
                AND sending_ms IS NOT NULL
            LIMIT 1
            """
        ).isEmpty
    }
}
