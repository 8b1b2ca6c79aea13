package import Foundation
package import Posts
import Storage

extension Archive {
    /// An archived post with the state of its use.
    package struct Kept: Equatable, Sendable {
        package let post: Post
        /// The permitted use of its text.
        package let use: TextUse
        /// The stable code of the rule that decides ``use``; nil if no rule does.
        package let reason: String?
        /// The days or hours at which it is posted, as the rules write them; empty for always.
        package let window: String
        /// Whether a person excluded its text for good.
        package let isNever: Bool
        /// How often it was posted or is planned to be posted.
        package let uses: Int
        /// When it was, or will be, posted last.
        package let lastUse: Date?

        /// The digest of the facts that a person is shown.
        package var seen: Seen { Seen(of: post.id.value, post.text, post.warning, "\(isNever)") }

        /// An expression over a row of `posts`: whether its text is excluded for good.
        fileprivate static let never: SQL = """
            EXISTS (
                SELECT 1 FROM never_texts AS never WHERE never.mirror = posts.mirror
                    AND (never.text_key = posts.text_key
                        OR (never.network = posts.network AND never.post_id = posts.post_id))
            )
            """

        static func fields(_ filter: TextFilter) -> SQL {
            """
            \(PostRow.fields), \(filter.use) AS text_use, \(filter.reason) AS use_reason, fit_when, uses, last_used_ms,
            CASE WHEN \(never) THEN 1 ELSE 0 END AS never
            """
        }

        static func selection(of id: PostID, _ mirror: String, _ filter: TextFilter = .all) -> SQL {
            """
            SELECT \(fields(filter)) FROM posts
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND post_id = \(id.value)
            """
        }

        init(_ row: SQLRow) throws {
            post = try PostRow.post(row)
            use = try TextUse(row)
            reason = try row.optionalText("use_reason")
            window = use == .sometimes ? try row.text("fit_when") : ""
            isNever = try row.int("never") == 1
            uses = try row.int("uses")
            lastUse = try row.optionalDate("last_used_ms")
        }
    }

    /// The position of a post in a list that is sorted by time, the newest first.
    package struct Place: Equatable, Sendable {
        fileprivate let created: Int64
        fileprivate let network: String
        fileprivate let id: String

        package init(_ post: Post) {
            created = post.createdAt.milliseconds
            network = post.id.network.rawValue
            id = post.id.value
        }

        /// Parses a place from ``text``; nil for any other text.
        package init?(_ text: String) {
            let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
                .map(String.init)
            guard parts.count == 3, let created = Int64(parts[0]), !text.utf8.contains(0) else {
                return nil
            }
            self.created = created
            network = parts[1]
            id = parts[2]
        }

        /// The place as a text, which `init(_:)` parses.
        package var text: String { "\(created) \(network) \(id)" }
    }

    /// The digest of a post as a person is shown it; nil if it is not archived.
    ///
    /// - Throws: ``ArchiveError``, or the store's error.
    package func seen(of id: PostID) async throws -> Seen? {
        try await storage.query(Kept.selection(of: id, mirror)).first.map(Kept.init)?.seen
    }

    /// The filter of a search for posts; all parts that are given must match.
    package struct KeptFilter: Sendable {
        /// The uses of the posts to find; empty for all uses.
        package var uses: [TextUse] = []
        /// The stable code of the rule that decides the posts' use; nil for any rule.
        package var reason: String?
        /// Whether to find only posts whose text is excluded for good.
        package var isNever = false

        package init(uses: [TextUse] = [], reason: String? = nil, isNever: Bool = false) {
            self.uses = uses
            self.reason = reason
            self.isNever = isNever
        }

        fileprivate func condition(_ filter: TextFilter) -> SQL {
            let used: SQL =
                uses.isEmpty ? "" : " AND \(filter.use) IN \(list: uses.map(\.rawValue))"
            let decided: SQL = reason.map { " AND \(filter.reason) = \($0)" } ?? ""
            return used + decided + (isNever ? " AND \(Kept.never)" : "")
        }
    }

    /// One archived post with the state of its use; nil if it is not archived.
    ///
    /// - Parameter filter: The texts that the bot may post.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func kept(_ id: PostID, by filter: TextFilter) async throws -> Kept? {
        try await storage.query(Kept.selection(of: id, mirror, filter)).first.map(Kept.init)
    }

    /// The posts after a place, the newest first.
    ///
    /// - Parameters:
    ///   - place: The position after which to begin; nil to begin with the newest post.
    ///   - limit: The largest number of posts to return.
    ///   - filter: The texts that the bot may post.
    ///   - kept: The filter of the search.
    ///   - isWanted: Whether to return a post.
    /// - Throws: ``ArchiveError``, or the store's error.
    package func kept(
        after place: Place? = nil, limit: Int, by filter: TextFilter,
        _ kept: KeptFilter = KeptFilter(),
        where isWanted: (Kept) -> Bool = { _ in true }
    ) async throws -> [Kept] {
        try await storage.search(limit: limit, behind: place) { place, number in
            """
            SELECT \(Kept.fields(filter)) FROM posts
            WHERE mirror = \(mirror) AND \(Self.behind(place))\(kept.condition(filter))
            ORDER BY created_ms DESC, post_id DESC, network DESC LIMIT \(number)
            """
        } placeOf: {
            Place(try PostRow.post($0))
        } element: { row in
            let keptPost = try Kept(row)
            return isWanted(keptPost) ? keptPost : nil
        }
    }

    /// The condition for posts that follow a place in a list with the newest first.
    private static func behind(_ place: Place?) -> SQL {
        guard let place else { return "TRUE" }
        return """
            (created_ms < \(place.created) OR (created_ms = \(place.created) AND (post_id < \(place.id)
                OR (post_id = \(place.id) AND network < \(place.network)))))
            """
    }
}
