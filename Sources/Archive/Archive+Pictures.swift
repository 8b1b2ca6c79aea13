import Foundation
package import Posts
import Storage

/// The files of pictures that came with a downloaded archive.
///
/// They are kept in the database, not in a folder: so a worker without a disk of its own has them,
/// they move with the mirror, and a deletion by the human removes them in the same transaction.
extension Archive {
    /// The most bytes of pictures that are kept for a mirror; further pictures are fetched from
    /// their network.
    package static let pictureStore = 256 << 20
    /// The length, in bytes, of the pieces in which a file is stored: so small that a few hundred
    /// fit in memory at once.
    private static let pieceBytes = 48 << 10

    /// Stores the file of a picture, unless its post is not in the archive or there is no more
    /// room.
    ///
    /// - Parameters:
    ///   - place: The position of the picture among those of the post, from 0.
    ///   - room: The most bytes that all pictures of the mirror may take.
    /// - Returns: Whether the picture is stored now.
    package func keepPicture(
        _ bytes: [UInt8], at place: Int, of id: PostID, room: Int = Archive.pictureStore
    ) async throws -> Bool {
        let mirror = mirror
        return try await storage.transaction { connection in
            let post = try connection.query(
                """
                SELECT 1 AS found FROM posts WHERE mirror = \(mirror) AND network = \(id.network.rawValue)
                    AND post_id = \(id.value) AND pictures IS NOT NULL
                """)
            guard !post.isEmpty else { return false }
            try Self.deletePictures(
                where:
                    "network = \(id.network.rawValue) AND post_id = \(id.value) AND place = \(place)",
                of: mirror,
                on: connection)
            let held = try connection.query(
                "SELECT CAST(COALESCE(SUM(LENGTH(data)), 0) AS BIGINT) AS held FROM pictures WHERE mirror = \(mirror)"
            )
            // The pieces are stored in base64, which writes three bytes as four characters.
            let heldBytes = try (held.first?.int("held") ?? 0) / 4 * 3
            guard heldBytes + bytes.count <= room else {
                return false
            }
            let pieces = stride(from: 0, to: bytes.count, by: Self.pieceBytes).map {
                Data(bytes[$0..<min($0 + Self.pieceBytes, bytes.count)]).base64EncodedString()
            }
            for (number, piece) in pieces.enumerated() {
                try connection.execute(
                    """
                    INSERT INTO pictures (mirror, network, post_id, place, piece, data)
                    VALUES (\(mirror), \(id.network.rawValue), \(id.value), \(place), \(number), \(piece))
                    """)
            }
            return true
        }
    }

    /// The file of a picture; nil if none is stored.
    ///
    /// - Throws: ``ArchiveError``, or the store's error.
    package func picture(at place: Int, of id: PostID) async throws -> [UInt8]? {
        let rows = try await storage.query(
            """
            SELECT data FROM pictures WHERE mirror = \(mirror) AND network = \(id.network.rawValue)
                AND post_id = \(id.value) AND place = \(place)
            ORDER BY piece
            """)
        guard !rows.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for row in rows {
            guard let piece = Data(base64Encoded: try row.text("data")) else {
                throw ArchiveError(column: "data", of: "pictures")
            }
            bytes += piece
        }
        return bytes
    }

    /// Notes that a post's pictures cannot be sent, so that the post counts as one with another
    /// kind of attachment.
    package func giveUpPictures(of id: PostID) async throws {
        let mirror = mirror
        try await storage.transaction { connection in
            let condition: SQL = "network = \(id.network.rawValue) AND post_id = \(id.value)"
            try connection.execute(
                """
                UPDATE posts SET pictures = NULL, text_key = NULL, unfit = NULL, rules = ''
                WHERE mirror = \(mirror) AND \(condition)
                """)
            try Self.deletePictures(where: condition, of: mirror, on: connection)
        }
    }

    /// The number of posts whose pictures may be sent with them, and the number of stored files.
    ///
    /// Only posts that the rules have judged are counted.
    package func pictureCounts() async throws -> (posts: Int, files: Int) {
        let rows = try await storage.query(
            """
            SELECT (SELECT COUNT(*) FROM posts WHERE mirror = \(mirror) AND pictures IS NOT NULL AND unfit IS NULL
                AND text_key IS NOT NULL) AS posts,
                (SELECT COUNT(*) FROM pictures WHERE mirror = \(mirror) AND piece = 0) AS files
            """)
        return (try rows.first?.int("posts") ?? 0, try rows.first?.int("files") ?? 0)
    }

    /// The condition for pictures whose post no longer exists.
    static let orphaned: SQL = """
        NOT EXISTS (SELECT 1 FROM posts WHERE posts.mirror = pictures.mirror AND posts.network = pictures.network
            AND posts.post_id = pictures.post_id)
        """

    static func deletePictures(
        where condition: SQL, of mirror: String, on connection: any StorageConnection
    ) throws {
        try connection.execute("DELETE FROM pictures WHERE mirror = \(mirror) AND \(condition)")
    }
}

extension Post {
    /// Fills in missing facts about pictures from another reading of the post.
    ///
    /// A downloaded archive has no addresses of pictures. A network that charges for pictures
    /// returns no pictures.
    mutating func complete(picturesFrom other: Post) {
        guard hasMedia, other.hasMedia, !other.pictures.isEmpty else { return }
        guard pictures.count == other.pictures.count else {
            if pictures.isEmpty { pictures = other.pictures }
            return
        }
        for (place, picture) in other.pictures.enumerated() {
            pictures[place].url = pictures[place].url ?? picture.url
            if pictures[place].alt.isEmpty { pictures[place].alt = picture.alt }
            if pictures[place].width == nil {
                pictures[place].width = picture.width
                pictures[place].height = picture.height
            }
        }
    }
}
