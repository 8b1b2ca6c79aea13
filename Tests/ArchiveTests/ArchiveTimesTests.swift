import Archive
import Expectations
import Foundation
import Posts
import Storage
import TestSupport
import Testing

@Suite struct ArchiveTimesTests {
    /// Zone, instant, and what the clock there shows.
    private static let clocks: [(String, String, String, Int)] = [
        ("UTC", "2026-11-20T01:00:00Z", "2026-11-20", 60),
        ("UTC", "2026-11-20T23:59:59Z", "2026-11-20", 1_439),
        ("UTC", "2026-11-20T00:00:00Z", "2026-11-20", 0),
        ("Asia/Tokyo", "2026-11-21T15:00:00Z", "2026-11-22", 0),
        ("Asia/Kathmandu", "2026-01-01T00:00:00Z", "2026-01-01", 345),
        // Berlin: before and after the spring change, and the doubled hour of autumn.
        ("Europe/Berlin", "2026-03-29T00:59:00Z", "2026-03-29", 119),
        ("Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29", 180),
        ("Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25", 150),
        ("Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25", 150),
        ("America/New_York", "2026-11-01T03:59:00Z", "2026-10-31", 1_439),
        // Half an hour of daylight saving, and a day that this island never had.
        ("Australia/Lord_Howe", "2026-04-04T15:00:00Z", "2026-04-05", 90),
        ("Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31", 0),
    ]

    @Test(arguments: clocks)
    func theClockOfTheZoneIsRecorded(
        name: String, instant: String, day: String, minute: Int
    ) async throws {
        let test = try await TestArchive()
        var timed = post("a")
        timed.createdAt = try date(instant)
        try await test.store([timed], zone: zone(name))
        let row = try #require(
            try await test.storage.lenient.query("SELECT minute, local_day FROM posts").first)
        try expect(row.int("minute"), equals: minute)
        try expect(row.text("local_day"), equals: day)
        let time = try #require(try await test.archive.scheduleRows().first)
        #expect(time.minute.value == minute)
        #expect(time.day.description == day)
    }

    @Test func theScheduleLeavesOutRepliesAndLostTimes() async throws {
        let test = try await TestArchive()
        var untimed = post("lost", at: 7)
        untimed.isTimeTrusted = false
        try await test.store([
            post("b", at: 1_441), post("a", at: 60),
            post("reply", at: 5, replyTo: TestArchive.friend), untimed,
        ])
        let rows = try await test.archive.scheduleRows()
        #expect(rows.map(\.minute.value) == [60, 1])
        #expect(rows.map(\.day.description) == ["1970-01-01", "1970-01-02"])
    }

    @Test func anotherZoneRewritesEveryClockTimeAtOnce() async throws {
        let test = try await TestArchive()
        var summer = post("summer")
        summer.createdAt = try date("2026-07-01T22:30:00Z")
        var winter = post("winter", replyTo: TestArchive.friend)
        winter.createdAt = try date("2026-12-01T22:30:00Z")
        try await test.store([summer, winter])
        let other = Archive(storage: test.storage, mirror: "other")
        _ = try await other.store(
            [summer], timeZone: .gmt, limit: 10)

        try await expect(test.archive.rewriteTimes(in: zone("Europe/Berlin")), equals: 2)
        try await expect(test.archive.rewriteTimes(in: zone("Europe/Berlin")), equals: 0)
        let rows = try await test.storage.lenient.query(
            "SELECT * FROM posts ORDER BY mirror, post_id")
        try expect(rows.map { try $0.int("minute") }, equals: [30, 1_410, 1_350])
        try expect(
            rows.map { try $0.text("local_day") },
            equals: ["2026-07-02", "2026-12-01", "2026-07-01"])
    }

    @Test func theQuietHoursAreCountedInUTC() async throws {
        let test = try await TestArchive()
        var untimed = post("lost", at: 7)
        untimed.isTimeTrusted = false
        try await test.store(
            [
                post("a", at: 60), post("b", at: 1_500),
                post("c", at: 1_439, replyTo: TestArchive.friend), untimed,
            ],
            zone: zone("Asia/Tokyo"))
        let counts = try await test.archive.quietHoursGuess()
        #expect(counts.count == 1_440)
        #expect(counts[60] == 2)
        #expect(counts[1_439] == 1)
        #expect(counts.reduce(0, +) == 3)
    }
}
