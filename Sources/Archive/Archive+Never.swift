package import Foundation
package import Posts
import Storage

/// Texts that a person never wants to be sent again, by what texts that read the same have in common.
///
/// They are kept apart from the posts: one that is read again, or archived under another id, stays unsent too.
extension Archive {
    /// Why such a text is unfit.
    package static let never = "never"

    /// Keeps a text from ever being chosen again.
    ///
    /// - Parameters:
    ///   - key: What texts that read the same have in common.
    /// - Returns: False if that was so already.
    package func neverUse(_ key: String, of id: PostID, now: Date) async throws -> Bool {
        let mirror = mirror
        return try await storage.transaction { connection in
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
    }

    /// The posts that a person may mean with a word: an identity, an address, or the end of one.
    ///
    /// - Parameter word: What was typed or copied from a browser.
    /// - Returns: At most two; one if the word names one post.
    package func posts(named word: String) async throws -> [Post] {
        let exact = try await posts(where: "post_id = \(word)", "ORDER BY network LIMIT 2")
        guard exact.isEmpty else { return exact }
        // What follows the question mark of an address is no part of the name.
        guard let path = word.split(separator: "?", maxSplits: 1).first, let last = path.split(separator: "/").last
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
