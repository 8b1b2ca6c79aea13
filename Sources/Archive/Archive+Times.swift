package import Foundation
package import Posts
import Storage

extension Archive {
    /// When the human posted on their own, oldest first: no replies, and no
    /// times that an archive lost.
    package func scheduleRows() async throws -> [PostingTime] {
        let rows = try await storage.query(
            """
            SELECT minute, local_day FROM posts
            WHERE mirror = \(mirror) AND is_reply = \(false) AND time_trusted = \(true)
            ORDER BY created_ms, post_id, network
            """)
        return try rows.map { row in
            guard let minute = MinuteOfDay(try row.int("minute")) else { throw ArchiveError(column: "minute") }
            guard let day = LocalDay(try row.text("local_day")) else { throw ArchiveError(column: "local_day") }
            return PostingTime(day: day, minute: minute)
        }
    }

    /// Sets minute, day and weekday of all posts as clocks of another zone
    /// show them, in one transaction.
    ///
    /// - Returns: How many posts changed.
    @discardableResult
    package func rewriteTimes(in zone: TimeZone) async throws -> Int {
        let mirror = mirror
        return try await storage.transaction { connection in
            var changed = 0
            try connection.forEach(
                "SELECT network, post_id, created_ms, minute, local_day FROM posts WHERE mirror = \(mirror)"
            ) { row in
                let time = LocalTime(try row.date("created_ms"), in: zone)
                let (minute, day) = (time.minute.value, time.day.description)
                guard try row.int("minute") != minute || row.text("local_day") != day else { return }
                changed += try connection.execute(
                    """
                    UPDATE posts SET minute = \(minute), local_day = \(day), weekday = \(time.day.weekday)
                    WHERE mirror = \(mirror) AND network = \(try row.text("network"))
                        AND post_id = \(try row.text("post_id"))
                    """)
            }
            return changed
        }
    }

    /// How many posts, replies included, fall on each of the 1,440 minutes of
    /// the day in UTC; their quiet hours suggest a time zone.
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
