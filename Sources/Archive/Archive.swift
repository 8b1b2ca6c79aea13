package import Foundation
package import Posts
package import Storage

/// The human's own open posts, as one mirror remembers them.
///
/// Only public and unlisted posts come in, never reposts. The newest stay, by
/// the time they were posted; a post is known by its network and id.
package struct Archive: Sendable {
    /// What became of a batch of posts.
    package struct StoreSummary: Equatable, Sendable {
        /// New in the archive.
        package var stored = 0
        /// In the archive before, or twice in the batch.
        package var alreadyKnown = 0
        /// Left out because somebody else wrote them.
        package var reposts = 0
        /// Left out because not everybody may read them.
        package var notOpen = 0
        /// Left out because they, or somebody they are about, were forgotten, or hold a muted word.
        package var unwanted = 0
        /// Older than the archive's limit; they left, or did not stay.
        package var pruned = 0

        package init() {}
    }

    let storage: any StorageEngine
    let mirror: String

    /// - Parameters:
    ///   - storage: The database, with its tables.
    ///   - mirror: Whose posts; other mirrors' posts are never touched.
    package init(storage: any StorageEngine, mirror: String) {
        self.storage = storage
        self.mirror = mirror
    }

    /// Removes posts, as the human removed them.
    package func forget(_ ids: [PostID]) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            let days = try Self.days(of: ids, mirror, connection)
            try PostRow.delete(ids, of: mirror, on: connection)
            try Self.repack(days, mirror, connection)
        }
    }

    /// When the human's network first denied a post; nil while it shows it.
    package func denial(of id: PostID) async throws -> Date? {
        let rows = try await storage.query(
            """
            SELECT denied_ms FROM posts
            WHERE mirror = \(mirror) AND network = \(id.network.rawValue) AND post_id = \(id.value)
            """)
        return try rows.first?.optionalDate("denied_ms")
    }

    /// Notes that the human's network denies a post, or with nil that it shows it.
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

    /// Removes all posts of this mirror.
    package func clear() async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            try connection.execute("DELETE FROM posts WHERE mirror = \(mirror)")
            try Self.deletePictures(where: "1 = 1", of: mirror, on: connection)
            try Self.unpack(mirror, connection)
        }
    }
}
