import Expectations
import Foundation
import Posts
import Testing

/// By which clock somebody lived when.
@Suite struct ZoneHistoryTests {
    private static func zone(_ name: String) throws -> TimeZone {
        try #require(TimeZone(identifier: name))
    }

    private static func span(_ from: String, _ to: String, _ name: String) throws -> ZoneSpan {
        ZoneSpan(
            try #require(LocalDay(from))...(try #require(LocalDay(to))), in: try zone(name))
    }

    private static func shown(_ instant: String, _ history: ZoneHistory, offset: Int? = nil) throws
        -> String
    {
        history.time(of: try #require(Date(rfc3339: instant)), utcOffset: offset).description
    }

    @Test func aMorningStaysAMorning() throws {
        let history = ZoneHistory(
            home: try Self.zone("Europe/Berlin"),
            spans: [try Self.span("2019-03-01", "2020-06-30", "Asia/Tokyo")])
        try expect(Self.shown("2019-05-05T23:00:00Z", history), equals: "2019-05-06 08:00")
        try expect(Self.shown("2018-05-06T06:00:00Z", history), equals: "2018-05-06 08:00")
        try expect(Self.shown("2021-01-06T07:00:00Z", history), equals: "2021-01-06 08:00")
        // The first and the last moment of these days are those of Tokyo.
        try expect(Self.shown("2019-02-28T15:00:00Z", history), equals: "2019-03-01 00:00")
        try expect(Self.shown("2019-02-28T14:59:59Z", history), equals: "2019-02-28 15:59")
        try expect(Self.shown("2020-06-30T14:59:59Z", history), equals: "2020-06-30 23:59")
        try expect(Self.shown("2020-06-30T15:00:00Z", history), equals: "2020-06-30 17:00")
    }

    @Test func aPersonsWordCountsMoreThanAPostsAndThatMoreThanTheUsualZone() throws {
        let history = ZoneHistory(
            home: .gmt, spans: [try Self.span("2019-03-01", "9999-12-31", "Asia/Tokyo")])
        try expect(
            Self.shown("2026-05-05T23:00:00Z", history, offset: -300), equals: "2026-05-06 08:00")
        try expect(
            Self.shown("2016-05-05T23:00:00Z", history, offset: -300), equals: "2016-05-05 18:00")
        try expect(Self.shown("2016-05-05T23:00:00Z", history), equals: "2016-05-05 23:00")
        // No clock is further ahead than a day, whatever somebody writes.
        try expect(
            Self.shown("2016-05-05T23:00:00Z", history, offset: .max), equals: "2016-05-06 23:00")
        try expect(
            Self.shown("2016-05-05T23:00:00Z", history, offset: .min), equals: "2016-05-04 23:00")
    }

    @Test func aJourneyEastCutsTheDayOfDepartureShort() throws {
        let history = ZoneHistory(
            home: .gmt,
            spans: [
                try Self.span("2019-03-01", "2020-06-30", "Asia/Tokyo"),
                try Self.span("0001-01-01", "2019-02-28", "Europe/Berlin"),
            ])
        try expect(Self.shown("2019-02-28T14:59:00Z", history), equals: "2019-02-28 15:59")
        try expect(Self.shown("2019-02-28T15:00:00Z", history), equals: "2019-03-01 00:00")
        #expect(history.spans.map(\.zone.identifier) == ["Europe/Berlin", "Asia/Tokyo"])
    }

    @Test func aJourneyWestLeavesNoHoursWithoutAClock() throws {
        let history = ZoneHistory(
            home: .gmt,
            spans: [
                try Self.span("0001-01-01", "2019-02-28", "Asia/Tokyo"),
                try Self.span("2019-03-01", "9999-12-31", "America/New_York"),
            ])
        try expect(Self.shown("2019-02-28T14:59:00Z", history), equals: "2019-02-28 23:59")
        // Until New York's first day begins, Tokyo's clock goes on.
        try expect(Self.shown("2019-02-28T15:00:00Z", history), equals: "2019-03-01 00:00")
        try expect(Self.shown("2019-03-01T04:59:00Z", history), equals: "2019-03-01 13:59")
        try expect(Self.shown("2019-03-01T05:00:00Z", history), equals: "2019-03-01 00:00")
    }

    /// Zones that skip a day, change by half an hour, at midnight or on the day of the journey.
    @Test(arguments: [
        ("Pacific/Apia", "2011-12-30"), ("Africa/Cairo", "2026-04-24"),
        ("Australia/Lord_Howe", "2026-04-05"),
        ("America/New_York", "2026-03-08"), ("America/New_York", "2026-11-01"),
        ("Asia/Kathmandu", "2026-01-01"),
    ])
    func everyMinuteHasATimeWhateverClocksDo(name: String, change: String) throws {
        let day = try #require(LocalDay(change))
        let zone = try Self.zone(name)
        for home in ["Asia/Tokyo", "Pacific/Honolulu", name] {
            for days in [day...day, LocalDay.earliest...day, day...LocalDay.latest] {
                let history = ZoneHistory(
                    home: try Self.zone(home), spans: [ZoneSpan(days, in: zone)])
                let noon = Double(day.ordinal) * 86_400 + 43_200
                for minute in stride(from: -3 * 1_440, through: 3 * 1_440, by: 7) {
                    let date = Date(timeIntervalSince1970: noon + Double(minute) * 60)
                    let time = history.time(of: date, utcOffset: nil)
                    let isThere = days.contains(LocalTime(date, in: zone).day)
                    #expect(time == LocalTime(date, in: isThere ? zone : history.home))
                }
            }
        }
    }

    @Test(arguments: [
        ("2026-11-20T08:15:30+09:00", 540), ("2026-11-20T08:15:30.25-03:30", -210),
        ("2026-11-20t08:15:30Z", nil),
        ("2026-11-20T08:15:30+00:00", nil), ("2026-11-20T08:15:30-00:00", nil),
        ("2026-11-20T08:15:30", nil),
        ("+09:00", nil), ("", nil), ("2026-11-20T08:15:30+9:00", nil),
    ])
    func onlyAnOffsetThatSaysSomethingIsTold(text: String, minutes: Int?) {
        #expect(Date.utcOffset(rfc3339: text) == minutes)
    }
}
