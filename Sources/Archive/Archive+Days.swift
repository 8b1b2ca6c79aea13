import Foundation
package import Posts
import Storage

/// The times of the human's own posts, packed into one row per day, so that one read gets all times
/// from which the schedule is learned.
extension Archive {
    /// The counter that is 1 while the days are packed.
    private static let packedCounter = "archive.days"
    /// The most changed days that are packed again one by one; after more changes, the next read
    /// packs all days.
    private static let mostSingleDays = 400

    /// Returns the times of the human's own posts in order, without replies and without posts
    /// whose time of day a downloaded archive lost.
    package func scheduleRows() async throws -> [LocalTime] {
        let mirror = mirror
        let packed = try await storage.read { connection in
            try Self.isPacked(mirror, connection) ? try Self.packedDays(mirror, connection) : nil
        }
        if let packed { return packed }
        return try await storage.transaction { connection in
            try Self.packAll(mirror, connection)
            return try Self.packedDays(mirror, connection)
        }
    }

    /// Returns the local days of some posts; an empty set if no days are packed.
    static func days(
        of ids: [PostID], _ mirror: String, _ connection: any StorageConnection
    ) throws -> Set<String> {
        guard !ids.isEmpty, try isPacked(mirror, connection) else { return [] }
        var days: Set<String> = []
        try PostRow.forEachPortion(of: ids) { network, values in
            let rows = try connection.query(
                """
                SELECT local_day FROM posts
                WHERE mirror = \(mirror) AND network = \(network) AND post_id IN \(list: values)
                """)
            for row in rows { days.insert(try row.text("local_day")) }
        }
        return days
    }

    /// Packs these days again after their posts were changed.
    static func repack(_ days: Set<String>, _ mirror: String, _ connection: any StorageConnection)
        throws
    {
        guard !days.isEmpty, try isPacked(mirror, connection) else { return }
        guard days.count <= mostSingleDays else { return try unpack(mirror, connection) }
        try connection.execute(
            "DELETE FROM posting_days WHERE mirror = \(mirror) AND local_day IN \(list: days.sorted())"
        )
        try pack("local_day IN \(list: days.sorted())", mirror, connection)
    }

    /// Removes the packed days; the next read packs them again.
    static func unpack(_ mirror: String, _ connection: any StorageConnection) throws {
        guard try isPacked(mirror, connection) else { return }
        try connection.execute("DELETE FROM posting_days WHERE mirror = \(mirror)")
        try connection.execute(
            "DELETE FROM counters WHERE mirror = \(mirror) AND name = \(packedCounter)")
    }

    private static func isPacked(_ mirror: String, _ connection: any StorageConnection) throws
        -> Bool
    {
        let rows = try connection.query(
            "SELECT value FROM counters WHERE mirror = \(mirror) AND name = \(packedCounter)")
        return try rows.first?.integer("value") == 1
    }

    private static func packAll(_ mirror: String, _ connection: any StorageConnection) throws {
        guard try !isPacked(mirror, connection) else { return }
        try connection.execute("DELETE FROM posting_days WHERE mirror = \(mirror)")
        try pack("local_day IS NOT NULL", mirror, connection)
        try connection.execute(
            "INSERT INTO counters (mirror, name, value) VALUES (\(mirror), \(packedCounter), 1)")
    }

    /// Packs the days that a condition selects.
    private static func pack(
        _ condition: SQL, _ mirror: String, _ connection: any StorageConnection
    ) throws {
        var rows: [[SQLValue]] = []
        var day = ""
        var minutes = ""
        func appendDay() {
            if !minutes.isEmpty { rows.append([mirror.sqlValue, day.sqlValue, minutes.sqlValue]) }
        }
        try connection.forEach(
            """
            SELECT local_day, minute FROM posts
            WHERE mirror = \(mirror) AND is_reply = FALSE AND time_trusted = TRUE AND \(condition)
            ORDER BY local_day, minute
            """
        ) { row in
            let rowDay = try row.text("local_day")
            let minute = try row.int("minute")
            if rowDay != day {
                appendDay()
                day = rowDay
                minutes = "\(minute)"
            } else {
                minutes += " \(minute)"
            }
        }
        appendDay()
        try connection.insert(
            BulkInsert(
                into: "posting_days",
                columns: [("mirror", .text), ("local_day", .text), ("minutes", .text)],
                rows: rows))
    }

    private static func packedDays(_ mirror: String, _ connection: any StorageConnection) throws
        -> [LocalTime]
    {
        let rows = try connection.query(
            "SELECT local_day, minutes FROM posting_days WHERE mirror = \(mirror) ORDER BY local_day"
        )
        func unknownValue(in column: String) -> ArchiveError {
            ArchiveError(column: column, of: "posting_days")
        }
        var times: [LocalTime] = []
        for row in rows {
            guard let day = LocalDay(try row.text("local_day")) else {
                throw unknownValue(in: "local_day")
            }
            // Decimal numbers, separated by spaces; a space is added to end the last number.
            var minuteNumber = 0
            for byte in Array(try row.text("minutes").utf8) + [0x20] {
                guard byte == 0x20 else {
                    guard (0x30...0x39).contains(byte), minuteNumber < MinuteOfDay.count else {
                        throw unknownValue(in: "minutes")
                    }
                    minuteNumber = minuteNumber * 10 + Int(byte - 0x30)
                    continue
                }
                guard let minute = MinuteOfDay(minuteNumber) else {
                    throw unknownValue(in: "minutes")
                }
                times.append(LocalTime(day: day, minute: minute))
                minuteNumber = 0
            }
        }
        return times
    }
}
