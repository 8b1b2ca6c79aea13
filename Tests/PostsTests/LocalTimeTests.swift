import Foundation
import Posts
import Testing

@Suite struct LocalTimeTests {
    @Test(arguments: [
        ("Asia/Tokyo", 1_772_895_600.0, "2026-03-08", 0),
        ("America/New_York", 1_772_953_199.0, "2026-03-08", 119),
        ("America/New_York", 1_772_953_200.0, "2026-03-08", 180),
        ("Pacific/Apia", 1_325_239_199.0, "2011-12-29", 1_439),
        ("Pacific/Apia", 1_325_239_200.0, "2011-12-31", 0),
        ("UTC", -1.0, "1969-12-31", 1_439),
        ("UTC", -0.001, "1969-12-31", 1_439),
        ("Asia/Kathmandu", 0.0, "1970-01-01", 330),
    ])
    func showsWhatAClockOnTheWallShows(zone: String, seconds: Double, day: String, minute: Int)
        throws
    {
        let zone = try #require(TimeZone(identifier: zone))
        let time = LocalTime(Date(timeIntervalSince1970: seconds), in: zone)
        #expect(time.day.description == day)
        #expect(time.minute.value == minute)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300, 1e18])
    func survivesInstantsOutsideTheCalendar(seconds: Double) throws {
        let zone = try #require(TimeZone(identifier: "Pacific/Kiritimati"))
        let time = LocalTime(Date(timeIntervalSince1970: seconds), in: zone)
        #expect(time.day >= .earliest)
        #expect(time.day <= .latest)
        #expect(LocalDay(time.day.description) == time.day)
    }

    @Test func millisecondsAreRoundedAndReversible() {
        #expect(Date(timeIntervalSince1970: 1.0006).milliseconds == 1_001)
        #expect(Date(milliseconds: 1_764_000_000_123).milliseconds == 1_764_000_000_123)
        #expect(Date(timeIntervalSince1970: .nan).milliseconds == 0)
        #expect(Date(timeIntervalSince1970: .infinity).milliseconds == 253_402_300_799_999)
    }
}
