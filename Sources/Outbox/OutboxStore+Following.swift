package import Foundation
package import Posts
package import Storage

/// Following changes of the human's posts.
///
/// A copy is the bot's post or reply with the text of an original.
extension OutboxStore {
    /// The intervals of checks of an original.
    package enum FollowingPace: Sendable {
        /// Hourly while its copy is young, then often enough to follow a deletion within a day.
        case usual
        /// Daily, less an hour for the requests that follow a check; for networks where each check
        /// costs money.
        case daily

        /// Seconds until the next check, while the copy is young and later.
        fileprivate var seconds: (young: TimeInterval, old: TimeInterval) {
            switch self {
            case .usual: (3_600, 21 * 3_600)
            case .daily: (23 * 3_600, 23 * 3_600)
            }
        }
    }

    /// The originals whose copies exist, as ``OutboxStore/following(on:now:)`` counts them.
    package struct FollowingCount: Equatable, Sendable {
        /// All these originals.
        package var all = 0
        /// Originals that were never checked.
        package var unchecked = 0
        /// Originals whose check is due.
        package var due = 0

        package init(all: Int = 0, unchecked: Int = 0, due: Int = 0) {
            self.all = all
            self.unchecked = unchecked
            self.due = due
        }
    }

    /// The age in seconds until which a copy is young.
    private static let youngAge: TimeInterval = 30 * 86_400
    /// The longest wait for a check, in seconds; a longer one comes from a clock that was ahead.
    private static let longestWait: TimeInterval = 2 * 86_400

    /// Returns the originals due for a check: first those that were never checked, by their newest
    /// copy, then those that have waited longest.
    ///
    /// - Parameters:
    ///   - now: The present; originals postponed by a clock that was ahead are due too.
    package func originalsToFollow(on network: NetworkName, now: Date, limit: Int) async throws
        -> [PostID]
    {
        let rows = try await storage.query(
            """
            SELECT source_post_id, MIN(COALESCE(follow_ms, 0)) AS turn, MAX(sending_ms) AS newest FROM actions
            WHERE mirror = \(mirror) AND source_network = \(network.rawValue) AND \(Self.copyExists)
                AND \(Self.isDue(at: now))
            GROUP BY source_post_id ORDER BY turn, newest DESC, source_post_id LIMIT \(limit)
            """)
        return try rows.map { PostID(network: network, value: try $0.text("source_post_id")) }
    }

    /// Whether the check of any original is due.
    package func hasOriginalsToFollow(on network: NetworkName, now: Date) async throws -> Bool {
        let rows = try await storage.query(
            """
            SELECT 1 AS found FROM actions
            WHERE mirror = \(mirror) AND source_network = \(network.rawValue) AND \(Self.copyExists)
                AND \(Self.isDue(at: now)) ORDER BY follow_ms LIMIT 1
            """)
        return !rows.isEmpty
    }

    private static func isDue(at now: Date) -> SQL {
        """
        (follow_ms IS NULL OR follow_ms <= \(now.milliseconds) OR follow_ms > \((now + longestWait).milliseconds))
        """
    }

    /// Counts the originals whose copies exist.
    package func following(on network: NetworkName, now: Date) async throws -> FollowingCount {
        let rows = try await storage.query(
            """
            SELECT COUNT(*) AS number, COALESCE(SUM(is_unchecked), 0) AS unchecked, COALESCE(SUM(is_due), 0) AS due
            FROM (SELECT MAX(CASE WHEN follow_ms IS NULL THEN 1 ELSE 0 END) AS is_unchecked,
                    MAX(CASE WHEN \(Self.isDue(at: now)) THEN 1 ELSE 0 END) AS is_due
                FROM actions
                WHERE mirror = \(mirror) AND source_network = \(network.rawValue) AND \(Self.copyExists)
                GROUP BY source_post_id) AS originals
            """)
        guard let row = rows.first else { return FollowingCount() }
        return FollowingCount(
            all: try row.int("number"), unchecked: try row.int("unchecked"), due: try row.int("due")
        )
    }

    /// Returns the time of the next check of an original on a network that was checked before; nil
    /// if there is none.
    package func nextFollowing(on network: NetworkName) async throws -> Date? {
        let rows = try await storage.query(
            """
            SELECT MIN(follow_ms) AS follow_ms FROM actions
            WHERE mirror = \(mirror) AND source_network = \(network.rawValue) AND \(Self.copyExists)
            """)
        return try rows.first?.optionalDate("follow_ms")
    }

    /// Records checks of originals on one network.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func noteFollowed(_ originals: [PostID], _ pace: FollowingPace, now: Date) async throws
    {
        guard let network = originals.first?.network else { return }
        let (youngWait, oldWait) = pace.seconds
        try await write { connection in
            for portion in originals.map(\.value).portions {
                _ = try connection.execute(
                    """
                    \(Self.noting) follow_ms = CASE WHEN sending_ms > \((now - Self.youngAge).milliseconds)
                        THEN \((now + youngWait).milliseconds) ELSE \((now + oldWait).milliseconds) END
                    WHERE mirror = \(mirror) AND kind IN ('post', 'reply')
                        AND source_network = \(network.rawValue) AND source_post_id IN \(list: portion)
                        AND \(Self.copyExists)
                    """)
            }
        }
    }

    /// Returns the edited posts that have a copy without the edit.
    ///
    /// - Parameter posts: Posts on one network, with the times of their edits.
    package func originals(
        among posts: [(id: PostID, edited: Date)]
    ) async throws -> Set<PostID> {
        guard let network = posts.first?.id.network else { return [] }
        let edited = Dictionary(posts.map { ($0.id.value, $0.edited) }, uniquingKeysWith: max)
        var originals: Set<PostID> = []
        for portion in edited.keys.sorted().portions {
            let rows = try await storage.query(
                """
                SELECT source_post_id, original_edited_ms FROM actions
                WHERE mirror = \(mirror) AND kind IN ('post', 'reply')
                    AND source_network = \(network.rawValue) AND source_post_id IN \(list: portion) AND \(Self.copyExists)
                """)
            for row in rows {
                let id = try row.text("source_post_id")
                let followed = try row.optionalDate("original_edited_ms") ?? .distantPast
                if let time = edited[id], followed < time {
                    originals.insert(PostID(network: network, value: id))
                }
            }
        }
        return originals
    }

    /// Returns the copies of an original that exist or may exist, without a request to undo, newest
    /// first.
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
    /// A copy that was sent after the edit may still have the old text.
    package func copies(of original: PostID, before edited: Date) async throws -> [Action] {
        try await actions(
            where: """
                \(Self.copies(of: original)) AND \(Self.copyExists)
                AND (original_edited_ms IS NULL OR original_edited_ms < \(edited.milliseconds))
                """,
            order: "sending_ms DESC, id ASC", limit: 1_000)
    }

    /// Records that a copy was edited like its original.
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
                where:
                    "kind IN ('post', 'reply') AND state = 'done' AND remote_id IN \(list: identities)",
                order: "id ASC", limit: identities.count)
    }

    /// Condition: the copy exists at the network, as far as known, without a request to undo.
    private static let copyExists: SQL = """
        state = 'done' AND source_post_id IS NOT NULL AND undo_asked_ms IS NULL AND undo_proposed IS NULL
        """

    private static func copies(of original: PostID) -> SQL {
        """
        kind IN ('post', 'reply') AND source_network = \(original.network.rawValue)
        AND source_post_id = \(original.value)
        """
    }

    // MARK: Asking a person

    /// Returns the number of actions that the mirror has undone by itself since a time.
    package func automaticUndos(since time: Date) async throws -> Int {
        let rows = try await storage.query(
            """
            SELECT COUNT(*) AS number FROM actions
            WHERE mirror = \(mirror) AND undo_asked_ms > \(time.milliseconds)
                AND undo_reason IN \(list: Action.Reason.automaticUndos)
            """)
        return try rows.first?.int("number") ?? 0
    }

    /// Stores proposals to undo actions, for a person's approval.
    ///
    /// - Throws: ``OutboxError`` if the lease is lost; the store's error.
    package func proposeUndos(_ ids: [String], reason: Action.Reason) async throws {
        try await write { connection in
            for portion in ids.portions {
                try setProposal(
                    reason.rawValue, where: "id IN \(list: portion) AND undo_proposed IS NULL",
                    on: connection)
            }
        }
    }

    /// Returns the actions whose undo is proposed, newest first, at most ten thousand.
    package func proposedUndos() async throws -> [Action] {
        try await actions(where: Self.isProposed, order: "sending_ms DESC, id ASC", limit: 10_000)
    }

    /// Rejects proposals for good.
    ///
    /// - Parameters:
    ///   - ids: The actions; nil for all proposed ones.
    ///   - seen: The digest of all these actions that the person saw; nil to change without
    ///     comparing.
    /// - Returns: The number of proposals.
    /// - Throws: ``OutboxError`` if the lease is lost; `SeenChanged`, without any change; the
    ///   store's error.
    package func rejectProposedUndos(_ ids: [String]? = nil, seen: Seen? = nil) async throws -> Int
    {
        try await write { connection in
            guard let ids else {
                return try setProposal(Self.rejectedMark, where: Self.isProposed, on: connection)
            }
            try require(seen, of: ids, on: connection)
            return try ids.portions.reduce(0) { number, portion in
                let condition: SQL = "id IN \(list: portion) AND \(Self.isProposed)"
                return try number + setProposal(Self.rejectedMark, where: condition, on: connection)
            }
        }
    }

    /// Stands in place of a proposal that a person rejected.
    private static let rejectedMark = "kept"
    /// Condition: an undo is proposed, and a person has not decided about it.
    package static let isProposed: SQL = """
        undo_proposed IS NOT NULL AND undo_proposed <> \(rejectedMark) AND undo_asked_ms IS NULL
        AND state IN ('sending', 'done')
        """

    @discardableResult
    private func setProposal(
        _ proposal: String, where condition: SQL, on connection: any StorageConnection
    ) throws -> Int {
        try connection.execute(
            "\(Self.noting) undo_proposed = \(proposal) WHERE mirror = \(mirror) AND \(condition)")
    }
}
