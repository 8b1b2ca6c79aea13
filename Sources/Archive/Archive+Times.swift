package import Foundation
import Posts
import Storage

extension Archive {
    /// The number of posts changed in one transaction; other transactions run in between.
    private static let batchSize = 500

    /// Computes the local minute and day of all posts again, in the zone in which each was written.
    ///
    /// Runs several transactions, each of which reads the noted zones again. Call it again after
    /// an interruption.
    ///
    /// - Parameter zone: The zone of all times for which no other zone is noted.
    /// - Returns: How many posts changed.
    /// - Throws: ``ArchiveError``, or the store's error.
    @discardableResult
    package func rewriteTimes(in zone: TimeZone) async throws -> Int {
        var changed = 0
        var last: PostID?
        let staleGeneration = try await storage.read { [mirror] in try Self.staleness(mirror, $0) }
        while true {
            let mirror = mirror
            let previousEnd = last
            let batch = try await storage.transaction { connection in
                let batch = try Self.rewriteTimes(after: previousEnd, in: zone, mirror, connection)
                if batch.last == nil {
                    try Self.noteRewritten(staleGeneration, mirror, connection)
                    try Self.noteRules(ZoneRules.current.versionNumber, mirror, connection)
                }
                return batch
            }
            changed += batch.changed
            guard let end = batch.last else { return changed }
            last = end
        }
    }

    /// Rewrites the times of the next batch of posts, in the order of network and id.
    ///
    /// - Parameter last: The last post of the previous batch; nil to begin with the first post.
    /// - Returns: How many posts changed, and the last post of the batch; nil if it was the last
    ///   batch.
    private static func rewriteTimes(
        after last: PostID?, in zone: TimeZone, _ mirror: String,
        _ connection: any StorageConnection
    ) throws -> (changed: Int, last: PostID?) {
        let rows = try connection.query(
            """
            SELECT network, post_id, created_ms, utc_offset, minute, local_day FROM posts
            WHERE mirror = \(mirror) AND (network, post_id) > (\(last?.network.rawValue ?? ""), \(last?.value ?? ""))
            ORDER BY network, post_id LIMIT \(batchSize)
            """)
        let zones = try zones(mirror, home: zone, connection)
        var changed = 0
        for row in rows {
            let time = zones.time(
                of: try row.date("created_ms"),
                utcOffset: try row.optionalInteger("utc_offset").map(Int.init))
            let minute = time.minute.value
            let day = time.day.description
            guard try row.int("minute") != minute || row.text("local_day") != day else { continue }
            changed += try connection.execute(
                """
                UPDATE posts SET minute = \(minute), local_day = \(day)
                WHERE mirror = \(mirror) AND network = \(try row.text("network"))
                    AND post_id = \(try row.text("post_id"))
                """)
        }
        // Another process may have packed days again between two batches.
        if changed > 0 { try unpack(mirror, connection) }
        guard rows.count == batchSize, let end = rows.last else { return (changed, nil) }
        guard let network = NetworkName(rawValue: try end.text("network")) else {
            throw ArchiveError(column: "network")
        }
        return (changed, PostID(network: network, value: try end.text("post_id")))
    }

    /// The number of posts, replies included, in each of the 1,440 minutes of the day in UTC.
    ///
    /// The hours without posts suggest a time zone. Posts whose time is not trusted are left out.
    package func quietHoursGuess() async throws -> [Int] {
        let mirror = mirror
        return try await storage.read { connection in
            var counts = [Int](repeating: 0, count: MinuteOfDay.count)
            try connection.forEach(
                "SELECT created_ms FROM posts WHERE mirror = \(mirror) AND time_trusted = \(true)"
            ) { row in
                counts[LocalTime(try row.date("created_ms"), in: .gmt).minute.value] += 1
            }
            return counts
        }
    }
}
