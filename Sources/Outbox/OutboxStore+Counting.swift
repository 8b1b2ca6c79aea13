package import Foundation
package import Posts
import Storage

/// What an old reply was used for, as far as one person is concerned.
package struct ReplyUse: Equatable, Sendable {
    /// When it was last sent to the person, or is to be.
    package let last: Date
    /// Whether one of its uses has not ended, or nobody knows how it ended.
    package let isInFlight: Bool
}

/// Answers to "how many", counted where the rows are.
extension OutboxStore {
    /// How many actions of one kind, due since `since`, were sent, may have been, or may yet be.
    ///
    /// For caps: rows that ended without sending do not count.
    package func count(_ kind: ActionKind, since: Date) async throws -> Int {
        try await count(Self.capped(kind, since))
    }

    static func capped(_ kind: ActionKind, _ since: Date) -> SQL {
        "kind = \(kind.rawValue) AND \(Self.counting) AND due_ms >= \(since.milliseconds)"
    }

    static func counting(_ condition: SQL, _ mirror: String) -> SQL {
        "SELECT COUNT(*) AS number FROM actions WHERE mirror = \(mirror) AND \(condition)"
    }

    /// How many replies to any of these accounts, due since `since`, count for the caps.
    package func repliesSince(_ since: Date, to accounts: [AccountID]) async throws -> Int {
        var number = 0
        for target in Self.targets(accounts) {
            number += try await count(
                "kind = 'reply' AND \(target) AND \(Self.counting) AND due_ms >= \(since.milliseconds)")
        }
        return number
    }

    /// How many replies of a conversation, due since `since`, count for the caps.
    package func repliesInThread(_ thread: String, since: Date) async throws -> Int {
        // The index has what a thread's name begins with.
        let start = String(String.UnicodeScalarView(thread.unicodeScalars.prefix(200)))
        return try await count(
            """
            kind = 'reply' AND SUBSTR(thread, 1, 200) = \(start) AND COALESCE(thread, '') = \(thread)
            AND \(Self.counting) AND +due_ms >= \(since.milliseconds)
            """)
    }

    /// Where something that was published stands among all that was: for reading on behind it.
    package struct PublishedPlace: Equatable, Sendable {
        package var due: Date
        package var id: String

        package init(due: Date, id: String) { (self.due, self.id) = (due, id) }

        /// Reads ``text``; before everything, if it is something else.
        package init(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            due = Int64(parts[0]).map(Date.init(milliseconds:)) ?? .distantPast
            id = parts.count > 1 ? parts[1] : ""
        }

        /// The place as it is stored: milliseconds, a space, the id.
        package var text: String { "\(due.milliseconds) \(id)" }
    }

    /// The addresses of posts and replies that were published, in the order of their times.
    ///
    /// - Parameters:
    ///   - place: The last one that is known.
    ///   - end: The latest time.
    ///   - limit: How many at most.
    /// - Returns: Each with its place.
    /// - Throws: The store's error.
    package func published(
        after place: PublishedPlace, until end: Date, limit: Int
    ) async throws -> [(place: PublishedPlace, address: String)] {
        let rows = try await storage.query(
            """
            SELECT id, due_ms, remote_address FROM actions
            WHERE mirror = \(mirror) AND kind IN ('post', 'reply') AND due_ms >= \(place.due.milliseconds)
                AND due_ms <= \(end.milliseconds) AND (due_ms > \(place.due.milliseconds) OR id > \(place.id))
                AND state = 'done' AND remote_address IS NOT NULL
            ORDER BY due_ms, id LIMIT \(limit)
            """)
        return try rows.map { row in
            (PublishedPlace(due: try row.date("due_ms"), id: try row.text("id")), try row.text("remote_address"))
        }
    }

    /// What was sent to any of these accounts, or may have been, or may yet be, by the old reply it was made of.
    package func usesOfReplies(to accounts: [AccountID]) async throws -> [PostID: ReplyUse] {
        var uses: [PostID: ReplyUse] = [:]
        for target in Self.targets(accounts) {
            let rows = try await storage.query(
                """
                SELECT COALESCE(source_network, '') AS network, COALESCE(source_post_id, '') AS post_id,
                    MAX(due_ms) AS last_ms,
                    MAX(CASE WHEN state = 'done' THEN 0 ELSE 1 END) AS open
                FROM actions
                WHERE mirror = \(mirror) AND kind = 'reply' AND \(target) AND source_post_id IS NOT NULL
                    AND \(Self.using)
                GROUP BY 1, 2
                """)
            for row in rows {
                guard let network = NetworkName(rawValue: try row.text("network")) else { continue }
                let use = ReplyUse(last: try row.date("last_ms"), isInFlight: try row.int("open") > 0)
                uses.merge([PostID(network: network, value: try row.text("post_id")): use]) {
                    ReplyUse(last: max($0.last, $1.last), isInFlight: $0.isInFlight || $1.isInFlight)
                }
            }
        }
        return uses
    }

    /// What counts for a cap.
    static let counting: SQL = """
        (state IN ('planned', 'claimed', 'sending', 'done', 'suggested')
            OR (state = 'failed' AND reason = \(Action.Reason.unconfirmed)))
        """

    /// What makes an action a use of its text: it was sent, or may have been, or may yet be.
    static let using: SQL = "(state IN ('planned', 'claimed', 'sending', 'done') OR sending_ms IS NOT NULL)"

    /// For each network a condition on whom an action is for.
    private static func targets(_ accounts: [AccountID]) -> [SQL] {
        Dictionary(grouping: Set(accounts), by: \.network).map { network, group in
            "target_network = \(network.rawValue) AND target_author IN \(list: group.map(\.value))"
        }
    }

    private func count(_ condition: SQL) async throws -> Int {
        let rows = try await storage.query(Self.counting(condition, mirror))
        return try rows.first?.int("number") ?? 0
    }
}
