import Expectations
import Foundation
import Posts
import Schedule
import Testing

@Suite struct LocalDayMinutesTests {
    struct Case: CustomTestStringConvertible {
        var zone: String
        var date: String
        var count: Int
        var missing: Range<Int> = 0..<0
        var start: String
        var testDescription: String { "\(zone) \(date)" }
    }

    @Test(arguments: [
        Case(
            zone: "America/New_York", date: "2026-03-08", count: 1_380, missing: 120..<180,
            start: "03-08T05:00"),
        Case(zone: "America/New_York", date: "2026-11-01", count: 1_500, start: "11-01T04:00"),
        Case(zone: "America/New_York", date: "2026-03-07", count: 1_440, start: "03-07T05:00"),
        Case(zone: "America/New_York", date: "2026-03-09", count: 1_440, start: "03-09T04:00"),
        Case(zone: "Asia/Tokyo", date: "2026-03-08", count: 1_440, start: "03-07T15:00"),
        Case(
            zone: "Europe/London", date: "2026-03-29", count: 1_380, missing: 60..<120,
            start: "03-29T00:00"),
        Case(
            zone: "Australia/Lord_Howe", date: "2026-10-04", count: 1_410, missing: 120..<150,
            start: "10-03T13:30"),
        Case(zone: "Australia/Lord_Howe", date: "2026-04-05", count: 1_470, start: "04-04T13:00"),
        Case(
            zone: "Africa/Cairo", date: "2026-04-24", count: 1_380, missing: 0..<60,
            start: "04-23T22:00"),
        Case(
            zone: "Asia/Beirut", date: "2026-03-29", count: 1_380, missing: 0..<60,
            start: "03-28T22:00"),
        Case(zone: "Asia/Kathmandu", date: "2026-01-01", count: 1_440, start: "12-31T18:15"),
        Case(zone: "Pacific/Kiritimati", date: "2026-01-01", count: 1_440, start: "12-31T10:00"),
        Case(zone: "Pacific/Pago_Pago", date: "2026-01-01", count: 1_440, start: "01-01T11:00"),
        // Clocks went back from 00:01 to 23:01, so that the next day began twice.
        Case(zone: "America/St_Johns", date: "2010-11-06", count: 1_499, start: "11-06T02:30"),
        Case(zone: "America/St_Johns", date: "2010-11-07", count: 1_441, start: "11-07T02:30"),
    ])
    func dayHasItsRealMinutes(_ row: Case) throws {
        let minutes = LocalDayMinutes(try day(row.date), in: try zone(row.zone))
        #expect(minutes.count == row.count)
        #expect(minutes.missing.map(\.value) == Array(row.missing))
        #expect(Self.utc(minutes.start)?.dropFirst(5) == row.start[...])
        for value in 0..<1_440 {
            expect(
                (minutes.date(of: try minute(value)) == nil), equals: row.missing.contains(value))
        }
    }

    @Test(arguments: [
        ("America/New_York", "2026-03-08", 119, "2026-03-08T06:59"),
        ("America/New_York", "2026-03-08", 180, "2026-03-08T07:00"),
        ("America/New_York", "2026-03-08", 720, "2026-03-08T16:00"),
        ("America/New_York", "2026-11-01", 59, "2026-11-01T04:59"),
        ("America/New_York", "2026-11-01", 60, "2026-11-01T05:00"),
        ("America/New_York", "2026-11-01", 90, "2026-11-01T05:30"),
        ("America/New_York", "2026-11-01", 119, "2026-11-01T05:59"),
        ("America/New_York", "2026-11-01", 120, "2026-11-01T07:00"),
        ("America/New_York", "2026-03-07", 150, "2026-03-07T07:30"),
        ("America/New_York", "2026-03-09", 150, "2026-03-09T06:30"),
        ("Asia/Tokyo", "2026-03-08", 0, "2026-03-07T15:00"),
        ("Asia/Tokyo", "2026-03-08", 1_439, "2026-03-08T14:59"),
        ("America/St_Johns", "2010-11-07", 0, "2010-11-07T02:30"),
        ("America/St_Johns", "2010-11-07", 1, "2010-11-07T03:31"),
    ])
    func minuteBeginsAtItsFirstInstant(
        zone identifier: String, date: String, value: Int, expected: String
    ) throws {
        let minutes = LocalDayMinutes(try day(date), in: try zone(identifier))
        expect(Self.utc(minutes.date(of: try minute(value))), equals: expected)
    }

    @Test func skippedDayHasNoMinutes() throws {
        let skipped = LocalDayMinutes(try day("2011-12-30"), in: try zone("Pacific/Apia"))
        #expect(skipped.count == 0)
        #expect(skipped.start == nil)
        #expect(skipped.end == nil)
        #expect(skipped.missing.count == 1_440)
        let before = LocalDayMinutes(try day("2011-12-29"), in: try zone("Pacific/Apia"))
        let after = LocalDayMinutes(try day("2011-12-31"), in: try zone("Pacific/Apia"))
        #expect(before.end == after.start)
    }

    @Test(arguments: [
        "America/New_York", "Europe/London", "Asia/Tokyo", "Australia/Lord_Howe", "Africa/Cairo",
    ])
    func daysFollowEachOtherWithoutGap(identifier: String) throws {
        let zone = try zone(identifier)
        let first = try day("2026-01-01")
        for offset in 0..<366 {
            let today = LocalDayMinutes(first.advanced(by: offset), in: zone)
            let start = try #require(today.start)
            let end = try #require(today.end)
            #expect(end.timeIntervalSince(start) == Double(today.count * 60))
            #expect(end == LocalDayMinutes(first.advanced(by: offset + 1), in: zone).start)
            let noon = try minute(720)
            let date = try #require(today.date(of: noon))
            let shown = LocalTime(date, in: zone)
            #expect(shown.day == today.day)
            #expect(shown.minute == noon)
        }
    }

    @Test func calendarsEndsAreNoTrouble() throws {
        for day in [LocalDay.earliest, .latest] {
            #expect(LocalDayMinutes(day, in: try zone("America/New_York")).count > 1_000)
        }
    }

    /// The instant in UTC to the minute, or to the second if it is not a whole minute.
    private static func utc(_ date: Date?) -> String? {
        guard let date else { return nil }
        let time = LocalTime(date, in: .gmt)
        let seconds = Int(date.timeIntervalSince1970) % 60
        return "\(time.day)T\(time.minute)" + (seconds == 0 ? "" : ":\(seconds)")
    }
}
