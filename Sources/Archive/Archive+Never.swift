package import Foundation
package import Posts
package import Storage

/// Texts that a person never wants to be sent again, by what texts that read the same have in
/// common.
///
/// They are kept apart from the posts: one that is read again, or archived under another id, stays
/// unsent too.
extension Archive {
    /// Why such a text is unfit.
    package static let never = "never"

    /// Keeps a text from ever being chosen again, in a transaction of the caller.
    ///
    /// - Parameters:
    ///   - key: What texts that read the same have in common.
    ///   - seen: The post's digest (``Kept/seen``) that the person was shown; nil to change without
    ///     comparing.
    /// - Returns: False if that was so already.
    /// - Throws: `SeenChanged`.
    package func neverUse(
        _ key: String, of id: PostID, seen: Seen? = nil, now: Date,
        on connection: any StorageConnection
    ) throws -> Bool {
        try Self.require(seen, of: id, mirror, connection)
        let inserted = try connection.execute(
            """
            INSERT INTO never_texts (mirror, text_key, network, post_id, noted_ms)
            VALUES (\(mirror), \(key), \(id.network.rawValue), \(id.value), \(now))
            ON CONFLICT (mirror, text_key) DO NOTHING
            """)
        try connection.execute(
            "UPDATE posts SET unfit = \(Self.never) WHERE mirror = \(mirror) AND text_key = \(key)")
        return inserted == 1
    }

    /// Keeps texts from ever being chosen, by what those that read the same have in common.
    ///
    /// For an archive that goes by the word of another one; which posts were meant is not noted.
    ///
    /// - Throws: The store's error.
    package func neverUse(keys: Set<String>, now: Date) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            for key in keys.sorted() {
                try connection.execute(
                    """
                    INSERT INTO never_texts (mirror, text_key, network, post_id, noted_ms)
                    VALUES (\(mirror), \(key), '', '', \(now))
                    ON CONFLICT (mirror, text_key) DO NOTHING
                    """)
            }
        }
    }

    /// Lets a text be chosen again, in a transaction of the caller; what the rules make of it is
    /// found out anew.
    ///
    /// - Returns: False if nobody said that it is never to be sent.
    /// - Throws: `SeenChanged`.
    package func useAgain(
        _ key: String, of id: PostID, seen: Seen? = nil, on connection: any StorageConnection
    ) throws -> Bool {
        try Self.require(seen, of: id, mirror, connection)
        let deleted = try connection.execute(
            "DELETE FROM never_texts WHERE mirror = \(mirror) AND text_key = \(key)")
        try connection.execute(
            """
            UPDATE posts SET unfit = NULL, text_key = NULL, rules = ''
            WHERE mirror = \(mirror) AND text_key = \(key) AND unfit = \(Self.never)
            """)
        return deleted == 1
    }

    /// Fails if a post is not any more as a person saw it, see ``Kept/seen``; without a digest
    /// nothing is asked.
    ///
    /// - Throws: `SeenChanged`; the store's error.
    package func require(_ seen: Seen?, of id: PostID, on connection: any StorageConnection) throws
    {
        try Self.require(seen, of: id, mirror, connection)
    }

    static func require(
        _ seen: Seen?, of id: PostID, _ mirror: String, _ connection: any StorageConnection
    ) throws {
        guard seen != nil else { return }
        guard let kept = try connection.query(Kept.selection(of: id, mirror)).first.map(Kept.init)
        else {
            throw SeenChanged()
        }
        try seen.require(kept.seen)
    }

    /// The posts that a person may mean with a word: an identity, an address, or the end of one.
    ///
    /// - Parameter word: What was typed or copied from a browser.
    /// - Returns: At most two; one if the word names one post.
    package func posts(named word: String) async throws -> [Post] {
        let exact = try await posts(where: "post_id = \(word)", "ORDER BY network LIMIT 2")
        guard exact.isEmpty else { return exact }
        // What follows the question mark of an address is no part of the name.
        guard let path = word.split(separator: "?", maxSplits: 1).first,
            let last = path.split(separator: "/").last
        else { return [] }
        let end = String(last)
        return try await posts(
            where: """
                (post_id = \(end) OR address = \(end)
                    OR SUBSTR(post_id, LENGTH(post_id) - LENGTH(CAST(\(end) AS TEXT))) = \("/" + end))
                """,
            "ORDER BY created_ms, post_id, network LIMIT 2")
    }
}

extension Archive {
    /// The post whose text reads like one that the bot published; nil for none.
    ///
    /// - Parameter key: What texts that read the same have in common.
    package func source(of key: String) async throws -> PostID? {
        try await storage.query(
            """
            SELECT network, post_id FROM posts WHERE mirror = \(mirror) AND text_key = \(key)
            ORDER BY created_ms DESC, post_id LIMIT 1
            """
        ).first.flatMap { row in
            guard let network = NetworkName(rawValue: try row.text("network")) else { return nil }
            return PostID(network: network, value: try row.text("post_id"))
        }
    }
}
