package import Foundation
package import Posts
package import Storage

/// Following changes of the human's posts.
///
/// A copy is the bot's post or reply with the text of an original.
extension OutboxStore {
    /// The intervals of checks of an original in seconds, while its copy is young and later.
    private static let (youngPace, oldPace): (TimeInterval, TimeInterval) = (3_600, 86_400)
    /// The age in seconds until which a copy is young.
    private static let youth: TimeInterval = 30 * 86_400

    /// Returns the originals due for a check, longest wait first.
    ///
    /// - Parameters:
    ///   - now: The present; originals postponed by a clock that was ahead are due too.
    package func originalsToFollow(on network: NetworkName, now: Date, limit: Int) async throws -> [PostID] {
        let rows = try await storage.query(
            """
            SELECT source_post_id, MIN(COALESCE(follow_ms, 0)) AS turn FROM actions
            WHERE mirror = \(mirror) AND source_network = \(network.rawValue) AND \(Self.standing)
                AND (follow_ms IS NULL OR follow_ms <= \(now.milliseconds)
                    OR follow_ms > \((now + 2 * Self.oldPace).milliseconds))
            GROUP BY source_post_id ORDER BY turn, source_post_id LIMIT \(limit)
            """)
        return try rows.map { PostID(network: network, value: try $0.text("source_post_id")) }
    }

    /// Returns the time of the next check of an original on a network that was checked before; nil if there is none.
    package func nextFollowing(on network: NetworkName) async throws -> Date? {
        let rows = try await storage.query(
            """
            SELECT MIN(follow_ms) AS follow_ms FROM actions
            WHERE mirror = \(mirror) AND source_network = \(network.rawValue) AND \(Self.standing)
            """)
        return try rows.first?.optionalDate("follow_ms")
    }

    /// Records the check of an original.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func noteFollowed(_ original: PostID, now: Date) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                \(Self.noting) follow_ms = CASE WHEN sending_ms > \((now - Self.youth).milliseconds)
                    THEN \((now + Self.youngPace).milliseconds) ELSE \((now + Self.oldPace).milliseconds) END
                WHERE mirror = \(mirror) AND \(Self.copies(of: original)) AND \(Self.standing)
                """)
        }
    }

    /// Returns the copies of an original that exist or may exist, without a request to undo, newest first.
    package func copies(of original: PostID) async throws -> [Action] {
        try await actions(
            where: """
                \(Self.copies(of: original))
                AND (state IN ('sending', 'done') OR \(Self.unsettled) AND next_attempt_ms IS NOT NULL)
                AND undo_asked_ms IS NULL AND undo_proposed IS NULL
                """,
            order: "sending_ms DESC, id ASC", limit: 1_000)
    }

    /// Returns the copies of an original that differ from its present text.
    ///
    /// A copy sent after the change may still have the old text.
    package func copies(of original: PostID, before edited: Date) async throws -> [Action] {
        try await actions(
            where: """
                \(Self.copies(of: original)) AND \(Self.standing)
                AND (original_edited_ms IS NULL OR original_edited_ms < \(edited.milliseconds))
                """,
            order: "sending_ms DESC, id ASC", limit: 1_000)
    }

    /// Records that a copy was changed like its original.
    ///
    /// - Parameters:
    ///   - text: The copy's new text; nil if text and content warning stay.
    ///   - edited: The time of the original's change.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func noteEdited(
        _ id: String, text: String? = nil, warning: String? = nil, at edited: Date
    ) async throws {
        let wording: SQL = text.map { ", text = \($0), warning = \(warning)" } ?? ""
        try await write { connection in
            _ = try connection.execute(
                """
                \(Self.noting) original_edited_ms = \(edited.milliseconds)\(wording)
                WHERE mirror = \(mirror) AND id = \(id) AND state = 'done'
                    AND (original_edited_ms IS NULL OR original_edited_ms <= \(edited.milliseconds))
                """)
        }
    }

    /// Returns the bot's published posts and replies with these identities.
    package func published(as identities: [String]) async throws -> [Action] {
        try await identities.isEmpty
            ? []
            : actions(
                where: "kind IN ('post', 'reply') AND state = 'done' AND remote_id IN \(list: identities)",
                order: "id ASC", limit: identities.count)
    }

    /// Condition: exists at the network, as far as known, without a request to undo.
    private static let standing: SQL = """
        state = 'done' AND source_post_id IS NOT NULL AND undo_asked_ms IS NULL AND undo_proposed IS NULL
        """

    private static func copies(of original: PostID) -> SQL {
        """
        kind IN ('post', 'reply') AND source_network = \(original.network.rawValue)
        AND source_post_id = \(original.value)
        """
    }

    // MARK: Asking a person

    /// Returns the number of actions that the mirror took back by itself since then.
    package func automaticUndos(since time: Date) async throws -> Int {
        let rows = try await storage.query(
            """
            SELECT COUNT(*) AS number FROM actions
            WHERE mirror = \(mirror) AND undo_asked_ms > \(time.milliseconds)
                AND undo_reason IN \(list: Action.Reason.automaticUndos)
            """)
        return try rows.first?.int("number") ?? 0
    }

    /// Stores proposals to take actions back, for a person's approval.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func proposeUndos(_ ids: [String], reason: String) async throws {
        try await setProposal(reason, where: "id IN \(list: ids) AND undo_proposed IS NULL")
    }

    /// Returns the proposals, newest first, at most ten thousand.
    package func proposedUndos() async throws -> [Action] {
        try await actions(where: Self.isProposed, order: "sending_ms DESC, id ASC", limit: 10_000)
    }

    /// Rejects proposals for good.
    ///
    /// - Parameters:
    ///   - ids: The actions; nil for all that are proposed.
    ///   - seen: The digest of all these actions that the person saw; nil to change without comparing.
    /// - Returns: The number of proposals.
    /// - Throws: ``OutboxError`` if the lease is lost; `SeenChanged`, without any change; the store's error.
    package func keepProposed(_ ids: [String]? = nil, seen: Seen? = nil) async throws -> Int {
        guard let ids else { return try await setProposal(Self.kept, where: Self.isProposed) }
        return try await write { connection in
            try require(seen, of: ids, on: connection)
            var number = 0
            for part in ids.portions {
                number += try connection.execute(
                    """
                    \(Self.noting) undo_proposed = \(Self.kept)
                    WHERE mirror = \(mirror) AND id IN \(list: part) AND \(Self.isProposed)
                    """)
            }
            return number
        }
    }

    private static let kept = "kept"
    package static let isProposed: SQL = """
        undo_proposed IS NOT NULL AND undo_proposed <> \(kept) AND undo_asked_ms IS NULL
        AND state IN ('sending', 'done')
        """

    @discardableResult
    private func setProposal(_ proposal: String, where condition: SQL) async throws -> Int {
        try await write { connection in
            try connection.execute(
                "\(Self.noting) undo_proposed = \(proposal) WHERE mirror = \(mirror) AND \(condition)")
        }
    }
}
