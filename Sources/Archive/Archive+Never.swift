package import Foundation
package import Posts
package import Storage

/// Texts that a person never wants to be sent again, identified by the key that is shared by all
/// texts that read the same.
///
/// They are stored apart from the posts, so that a post that is read again, or archived under
/// another id, stays unsent.
extension Archive {
    /// The code of an excluded text in `posts.unfit`; `Action.Reason` in the outbox has the same
    /// code.
    package static let never = "never"

    /// Keeps a text from ever being chosen again, in a transaction of the caller.
    ///
    /// - Parameters:
    ///   - key: The key shared by all texts that read the same.
    ///   - seen: The post's digest (``Kept/seen``) that the user was shown; the call fails if the
    ///     post differs now. Nil skips this check.
    /// - Returns: False if the text was excluded already.
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

    /// Keeps the texts with these keys from ever being chosen.
    ///
    /// Used when an archive takes over the exclusions of another archive; the keys are stored
    /// without the ids of posts.
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

    /// Lets a text be chosen again, in a transaction of the caller; the rules judge it anew.
    ///
    /// - Returns: False if the text was not excluded.
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

    /// Fails if a post differs from what a person saw, see ``Kept/seen``; does nothing if `seen` is
    /// nil.
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

    /// The posts that a person's input may name.
    ///
    /// The input is a post's id, its address, or the last part of either after a slash.
    ///
    /// - Parameter word: The input, typed or copied from a browser.
    /// - Returns: At most two posts; two mean that the input is ambiguous.
    package func posts(named word: String) async throws -> [Post] {
        let exact = try await posts(where: "post_id = \(word)", "ORDER BY network LIMIT 2")
        guard exact.isEmpty else { return exact }
        // The query of a web address, after `?`, does not name a post.
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
    /// The newest post whose text reads like one that the bot published; nil for none.
    ///
    /// - Parameter key: The key shared by all texts that read the same.
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
