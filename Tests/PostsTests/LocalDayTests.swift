import Expectations
import Foundation
import Posts
import Testing

@Suite struct LocalDayTests {
    @Test func everyDayOfTheCalendarIsTheDayAfterTheOneBefore() {
        var year = 1_896
        var month = 1
        var day = 1
        guard let first = LocalDay(year: year, month: month, day: day) else {
            Issue.record("1896-01-01 is a day")
            return
        }
        for offset in 0..<100_000 {
            let found = first.advanced(by: offset)
            guard found.components == (year, month, day) else {
                Issue.record("\(found) is not \(year)-\(month)-\(day)")
                return
            }
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            day += 1
            if day > lengths[month - 1] {
                month = month + 1
                day = 1
            }
            if month > 12 {
                year = year + 1
                month = 1
            }
        }
    }

    @Test(arguments: [
        ("1970-01-01", 0, 4), ("2026-01-30", 20_483, 5), ("2000-02-29", 11_016, 2),
        ("1969-12-28", -4, 7),
        ("0001-01-01", -719_162, 1), ("9999-12-31", 2_932_896, 5),
    ])
    func textOrdinalAndWeekdayAgree(text: String, ordinal: Int, weekday: Int) throws {
        let day = try #require(LocalDay(text))
        #expect(day.ordinal == ordinal)
        #expect(day.weekday == weekday)
        #expect(day.description == text)
        #expect(LocalDay(ordinal: ordinal) == day)
    }

    @Test(arguments: [
        "2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "2026-1-01", "26-01-01",
        "2026-01-01 ", "",
        "2026/01/01", "-026-01-01", "2026-01-0a", "２０２６-01-01", "0000-01-01", "1900-02-29",
    ])
    func whatIsNotADateIsRefused(text: String) { #expect(LocalDay(text) == nil) }

    @Test func arithmeticStaysInTheCalendar() {
        #expect(LocalDay.latest.advanced(by: 1) == .latest)
        #expect(LocalDay.earliest.advanced(by: -1) == .earliest)
        #expect(LocalDay(ordinal: 5).advanced(by: .max) == .latest)
        #expect(LocalDay(ordinal: -5).advanced(by: .min) == .earliest)
        #expect(LocalDay(ordinal: .max).description == "9999-12-31")
        #expect(LocalDay(ordinal: .min).description == "0001-01-01")
        #expect(LocalDay(ordinal: 10).days(since: LocalDay(ordinal: 3)) == 7)
    }

    @Test func codesAsText() throws {
        let day = try #require(LocalDay("2026-11-20"))
        let data = try JSONEncoder().encode([day])
        #expect(String(decoding: data, as: UTF8.self) == "[\"2026-11-20\"]")
        try expect(JSONDecoder().decode([LocalDay].self, from: data), equals: [day])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([LocalDay].self, from: Data("[\"2026-02-30\"]".utf8))
        }
    }
}
