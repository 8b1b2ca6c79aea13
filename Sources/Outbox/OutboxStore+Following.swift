package import Foundation
package import Posts
import Storage

/// Following the human: what became of the posts that the bot's texts are from.
///
/// A copy is what the bot published of one, as a post or as a reply.
extension OutboxStore {
    /// How often the original of a copy is looked at, in seconds, while the copy is young and later.
    private static let (youngPace, oldPace): (TimeInterval, TimeInterval) = (3_600, 86_400)
    /// Until when a copy is young, in seconds.
    private static let youth: TimeInterval = 30 * 86_400

    /// The originals whose turn it is, those first that have waited longest.
    ///
    /// - Parameters:
    ///   - now: What is due then; what a clock put off that was ahead is due as well.
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

    /// Notes that an original was looked at.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func noteFollowed(_ original: PostID, now: Date) async throws {
        try await write { connection in
            _ = try connection.execute(
                """
                UPDATE actions SET follow_ms = CASE WHEN sending_ms > \((now - Self.youth).milliseconds)
                    THEN \((now + Self.youngPace).milliseconds) ELSE \((now + Self.oldPace).milliseconds) END
                WHERE mirror = \(mirror) AND \(Self.copies(of: original)) AND \(Self.standing)
                """)
        }
    }

    /// The copies of an original that stand, or may, and that nobody has asked to take back, the newest first; those too
    /// that may still be seen.
    package func copies(of original: PostID) async throws -> [Action] {
        try await actions(
            where: """
                \(Self.copies(of: original))
                AND (state IN ('sending', 'done') OR \(Self.unsettled) AND next_attempt_ms IS NOT NULL)
                AND undo_asked_ms IS NULL AND undo_proposed IS NULL
                """,
            order: "sending_ms DESC, id ASC", limit: 1_000)
    }

    /// The copies of an original that have not followed a change of it.
    ///
    /// One that was sent later may still say what was known before.
    package func copies(of original: PostID, before edited: Date) async throws -> [Action] {
        try await actions(
            where: """
                \(Self.copies(of: original)) AND \(Self.standing)
                AND (original_edited_ms IS NULL OR original_edited_ms < \(edited.milliseconds))
                """,
            order: "sending_ms DESC, id ASC", limit: 1_000)
    }

    /// Records that a copy has followed a change of its original.
    ///
    /// - Parameters:
    ///   - text: The copy's text now; nil if it stays, with what it warns of.
    ///   - edited: When the original was changed.
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func noteEdited(
        _ id: String, text: String? = nil, warning: String? = nil, at edited: Date
    ) async throws {
        let wording: SQL = text.map { ", text = \($0), warning = \(warning)" } ?? ""
        try await write { connection in
            _ = try connection.execute(
                """
                UPDATE actions SET original_edited_ms = \(edited.milliseconds)\(wording)
                WHERE mirror = \(mirror) AND id = \(id) AND state = 'done'
                """)
        }
    }

    /// The posts and replies that the bot published under these identities.
    package func published(as identities: [String]) async throws -> [Action] {
        try await identities.isEmpty
            ? []
            : actions(
                where: "kind IN ('post', 'reply') AND state = 'done' AND remote_id IN \(list: identities)",
                order: "id ASC", limit: identities.count)
    }

    /// Stands on the network, as far as anybody knows, and is to stay there.
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

    /// How many actions the mirror has taken back by itself since then.
    package func automaticUndos(since time: Date) async throws -> Int {
        let rows = try await storage.query(
            """
            SELECT COUNT(*) AS number FROM actions
            WHERE mirror = \(mirror) AND undo_asked_ms > \(time.milliseconds)
                AND undo_reason IN \(list: Action.Reason.automaticUndos)
            """)
        return try rows.first?.int("number") ?? 0
    }

    /// Remembers what the mirror would take back, for a person to agree.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func proposeUndos(_ ids: [String], reason: String) async throws {
        try await setProposal(reason, where: "id IN \(list: ids) AND undo_proposed IS NULL")
    }

    /// What a person is asked to agree to, the newest first; of many the first ten thousand.
    package func proposedUndos() async throws -> [Action] {
        try await actions(where: Self.isProposed, order: "sending_ms DESC, id ASC", limit: 10_000)
    }

    /// Lets what a person was asked about stay for good; nobody is asked about it again.
    ///
    /// - Returns: How many there are.
    package func keepProposed() async throws -> Int {
        try await setProposal(Self.kept, where: Self.isProposed)
    }

    private static let kept = "kept"
    static let isProposed: SQL = """
        undo_proposed IS NOT NULL AND undo_proposed <> \(kept) AND undo_asked_ms IS NULL
        AND state IN ('sending', 'done')
        """

    @discardableResult
    private func setProposal(_ proposal: String, where condition: SQL) async throws -> Int {
        try await write { connection in
            try connection.execute(
                "UPDATE actions SET undo_proposed = \(proposal) WHERE mirror = \(mirror) AND \(condition)")
        }
    }
}
