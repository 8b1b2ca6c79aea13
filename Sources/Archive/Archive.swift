package import Foundation
package import Posts
package import Storage

/// A mirror's archive of the human's own open posts.
///
/// It holds public and unlisted posts, never reposts. When it is full, the oldest posts are
/// removed. A post is identified by its network and id. Every call may throw the store's error.
package struct Archive: Sendable {
    /// The numbers of posts in a batch, by outcome.
    package struct StoreSummary: Equatable, Sendable {
        /// New in the archive.
        package var stored = 0
        /// Archived before, or twice in the batch.
        package var alreadyKnown = 0
        /// Left out because they are reposts of other people's posts.
        package var reposts = 0
        /// Left out because not everybody may read them.
        package var notOpen = 0
        /// Left out because the post, its author or a mentioned person was forgotten, or because it
        /// contains a muted word.
        package var unwanted = 0
        /// Removed or not stored, because the archive was full and these posts were the oldest.
        package var pruned = 0

        package init() {}
    }

    let storage: any StorageEngine
    let mirror: String

    /// - Parameters:
    ///   - mirror: The name of the mirror; posts of other mirrors are never changed.
    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// Removes posts that the human has removed.
    ///
    /// - Parameter note: Runs afterwards in the same transaction.
    package func forget(
        _ ids: [PostID],
        _ note: @escaping @Sendable (any StorageConnection) throws -> Void = { _ in }
    ) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            try Self.remove(ids, of: mirror, on: connection)
            try note(connection)
        }
    }

    /// Removes posts, and packs the times of the posts of their days again.
    static func remove(_ ids: [PostID], of mirror: String, on connection: any StorageConnection)
        throws
    {
        let days = try days(of: ids, mirror, connection)
        try PostRow.delete(ids, of: mirror, on: connection)
        try repack(days, mirror, connection)
    }

    /// When the human's network first denied that a post exists; nil while it shows the post.
    package func denial(of id: PostID) async throws -> Date? {
        let rows = try await storage.query(
            """
            SELECT denied_ms FROM posts
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND post_id = \(id.value)
            """)
        return try rows.first?.optionalDate("denied_ms")
    }

    /// The posts whose existence the human's network denies, with the time of its first denial.
    ///
    /// If there are more than `limit` such posts, those with the latest denials are returned.
    package func denials(on network: NetworkName, limit: Int) async throws -> [PostID: Date] {
        let rows = try await storage.query(
            """
            SELECT post_id, denied_ms FROM posts
            WHERE mirror = \(mirror) AND network = \(network.rawValue) AND denied_ms IS NOT NULL
            ORDER BY denied_ms DESC LIMIT \(limit)
            """)
        return try rows.reduce(into: [:]) { denials, row in
            denials[PostID(network: network, value: try row.text("post_id"))] = try row.date(
                "denied_ms")
        }
    }

    /// Other posts of the same network that the server can be asked for as a comparison: some of
    /// the newest and some of the oldest.
    package func witnesses(besides id: PostID, limit: Int) async throws -> [Post] {
        var otherIDs: [PostID] = []
        for order in ["created_ms DESC, post_id DESC", "created_ms ASC, post_id ASC"] as [SQL] {
            let rows = try await storage.query(
                """
                SELECT network, post_id FROM posts WHERE mirror = \(mirror)
                ORDER BY \(order) LIMIT \(limit)
                """)
            let others = try rows.filter {
                try $0.text("network") == id.network.rawValue && $0.text("post_id") != id.value
            }
            otherIDs += try others.prefix(limit / 2).map {
                PostID(network: id.network, value: try $0.text("post_id"))
            }
        }
        var posts: [Post] = []
        for id in otherIDs where !posts.contains(where: { $0.id == id }) {
            if let post = try await post(id) { posts.append(post) }
        }
        return posts
    }

    /// Stores the identifier that a post has in calls to the human's server, if none is stored.
    package func locate(_ id: PostID, at address: String) async throws {
        _ = try await storage.executeRepeatable(
            """
            UPDATE posts SET address = \(address)
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND post_id = \(id.value)
                AND address IS NULL
            """)
    }

    /// Whether two posts of the same author were seen at their server: one at least as old as this
    /// post, and one at least as new.
    ///
    /// If the server's list was read completely and lacks a post between these two, the post was
    /// removed.
    package func isBetweenSeen(_ post: Post) async throws -> Bool {
        let author = post.author.value
        let network = post.id.network.rawValue
        let rows = try await storage.query(
            """
            SELECT 1 AS found WHERE EXISTS (
                SELECT 1 FROM posts WHERE mirror = \(mirror) AND network = \(network) AND author = \(author)
                    AND address IS NOT NULL AND created_ms <= \(post.createdAt))
            AND EXISTS (
                SELECT 1 FROM posts WHERE mirror = \(mirror) AND network = \(network) AND author = \(author)
                    AND address IS NOT NULL AND created_ms >= \(post.createdAt))
            """)
        return !rows.isEmpty
    }

    /// Notes since when the human's network denies that a post exists; nil notes that the network
    /// shows the post.
    package func noteDenial(of id: PostID, at date: Date?) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            _ = try connection.execute(
                """
                UPDATE posts SET denied_ms = \(date?.milliseconds)
                WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND post_id = \(id.value)
                """)
        }
    }

    /// Records that a server finds a text longer than its limit, until the text is judged anew.
    ///
    /// - Parameters:
    ///   - id: The post with the text.
    ///   - limit: The number of characters that the server allows.
    /// - Throws: The store's error.
    package func noteLength(of id: PostID, above limit: Int) async throws {
        try await storage.execute(
            """
            UPDATE posts SET length = \(limit + 1)
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue)
                AND post_id = \(id.value) AND length <= \(limit)
            """)
    }

    /// Removes all posts of this mirror.
    package func clear() async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            try connection.execute("DELETE FROM posts WHERE mirror = \(mirror)")
            try Self.deletePictures(where: "TRUE", of: mirror, on: connection)
            try Self.unpack(mirror, connection)
        }
    }
}
