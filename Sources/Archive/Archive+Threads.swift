import Foundation
package import Posts
import Storage

/// Threads of the human: a post that is not a reply, followed by the human's replies to themself,
/// each soon after the one before.
extension Archive {
    /// The longest pause in seconds between two parts of a thread; a later reply is not part of
    /// it.
    static let threadPause: TimeInterval = 1_800
    /// The most parts of a thread that is posted again, its first post included; readers would not
    /// want a longer one twice.
    static let longestThread = 25

    /// The posts that follow a post in its thread.
    package struct Sequel: Equatable, Sendable {
        /// The posts that follow, in order; empty for a post without a thread.
        package var parts: [Post] = []
        /// False if the thread branches or is too long, so that it cannot be posted in order.
        package var isChain = true

        package init() {}
    }

    /// Returns the posts that follow a post in its thread.
    ///
    /// - Throws: ``ArchiveError``, or the store's error.
    package func sequel(of head: Post) async throws -> Sequel {
        guard !head.isReply else { return Sequel() }
        let mirror = mirror
        return try await storage.read { connection in
            try Self.sequels(of: [head], mirror, connection)[head.id] ?? Sequel()
        }
    }

    /// Returns the sequels of many posts; posts without a thread are missing.
    static func sequels(
        of heads: [Post], _ mirror: String, _ connection: any StorageConnection
    ) throws -> [PostID: Sequel] {
        var sequels: [PostID: Sequel] = [:]
        // The last post found of each thread, by its id, with the id of the thread's first post.
        var ends = Dictionary(heads.map { ($0.id, (head: $0.id, last: $0)) }) { first, _ in first }
        for _ in 0..<longestThread where !ends.isEmpty {
            var next: [PostID: (head: PostID, last: Post)] = [:]
            for (answered, answers) in try continuations(
                of: ends.values.map(\.last), mirror, connection)
            {
                guard let end = ends[answered], let answer = answers.first else { continue }
                sequels[end.head, default: Sequel()].parts.append(answer)
                sequels[end.head]?.isChain = answers.count == 1
                if answers.count == 1 { next[answer.id] = (end.head, answer) }
            }
            ends = next
        }
        // These threads have more parts than the limit.
        for end in ends.values { sequels[end.head]?.isChain = false }
        return sequels
    }

    /// The human's replies to some of their own posts, if they followed within `threadPause`.
    ///
    /// The oldest reply to a post comes first. The plus before a column keeps SQLite from choosing
    /// an index on that column.
    private static func continuations(
        of posts: [Post], _ mirror: String, _ connection: any StorageConnection
    ) throws -> [PostID: [Post]] {
        let postsByID = Dictionary(posts.map { ($0.id, $0) }) { first, _ in first }
        var replies: [PostID: [Post]] = [:]
        try PostRow.forEachPortion(of: posts.map(\.id)) { network, values in
            let rows = try connection.query(
                PostRow.selection + """
                     WHERE mirror = \(mirror) AND network = \(network) AND reply_to_post IN \(list: values)
                        AND is_reply = TRUE AND reply_to_author = author
                    ORDER BY +created_ms, post_id
                    """)
            for post in try rows.map(PostRow.post) {
                guard let answered = post.replyTo?.post, let previous = postsByID[answered],
                    (0...threadPause).contains(post.createdAt.timeIntervalSince(previous.createdAt))
                else { continue }
                replies[answered, default: []].append(post)
            }
        }
        return replies
    }

    /// Marks the first posts of the threads that some posts belong to as not judged, because a
    /// first post is judged together with its thread.
    static func unjudgeHeads(
        of posts: [Post], _ mirror: String, _ connection: any StorageConnection
    ) throws {
        var answered = Set(
            posts.filter { $0.replyTo?.author == $0.author }.compactMap { $0.replyTo?.post })
        for _ in 0..<longestThread where !answered.isEmpty {
            var nextAnswered: Set<PostID> = []
            try PostRow.forEachPortion(of: Array(answered)) { network, values in
                let condition: SQL =
                    "mirror = \(mirror) AND network = \(network) AND post_id IN \(list: values)"
                try connection.execute(
                    """
                    UPDATE posts SET text_key = NULL, unfit = NULL, rules = ''
                    WHERE \(condition) AND is_reply = FALSE AND rules <> ''
                    """)
                let rows = try connection.query(
                    """
                    SELECT network, reply_to_post FROM posts
                    WHERE \(condition) AND is_reply = TRUE AND reply_to_author = author AND reply_to_post IS NOT NULL
                    """)
                for row in rows {
                    guard let network = NetworkName(rawValue: try row.text("network")) else {
                        continue
                    }
                    nextAnswered.insert(
                        PostID(network: network, value: try row.text("reply_to_post")))
                }
            }
            answered = nextAnswered
        }
    }
}
