import Conduct
import Expectations
import Posts
import Testing

@Suite struct QuietHoursTests {
    @Test(arguments: [
        ("none", 0), (" None ", 0), ("23:00-07:00", 480), ("00:00-06:30,12:00-13:00", 450),
        ("12:00-13:00, 12:30-14:00", 120),
        ("00:00-24:00", 1_440), ("22:15-24:00", 105), ("9:00-9:01", 1), ("12:00-11:59", 1_439),
    ])
    func rangesAreUnderstood(text: String, count: Int) throws {
        let hours = try #require(QuietHours(parsing: text))
        #expect(hours.minutes.count == count)
        #expect(QuietHours(parsing: hours.description) == hours)
    }

    @Test(arguments: [
        "", "23:00", "23:00-", "-07:00", "23:00-07:00,", "24:00-07:00", "25:00-07:00",
        "23:60-07:00", "23-7",
        "07:00-07:00",
        "23:00–07:00", "a:00-b:00", "23:00-07:00-08:00", "123:00-07:00", "23:0-07:00",
        "２３:00-07:00", "nones",
    ])
    func otherTextsAreNot(text: String) { #expect(QuietHours(parsing: text) == nil) }

    @Test func rangeRunsOverMidnightAndLeavesOutItsEnd() throws {
        let hours = try #require(QuietHours(parsing: "23:00-07:00"))
        for (minute, isQuiet) in [
            (1_379, false), (1_380, true), (1_439, true), (0, true), (419, true), (420, false),
        ] {
            expect(hours.contains(try #require(MinuteOfDay(minute))), equals: isQuiet)
        }
        #expect(QuietHours.none.minutes.isEmpty)
    }
}
