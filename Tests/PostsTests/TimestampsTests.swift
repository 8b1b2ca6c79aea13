import Foundation
import Posts
import Testing

@Suite struct TimestampsTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-11-20T08:15:30.250+09:00", 1_795_130_130_250),
            ("2026-11-19T23:15:30.25Z", 1_795_130_130_250),
            ("2026-11-19t18:15:30,250999-05:00", 1_795_130_130_250),
            ("2026-11-19 23:15:30z", 1_795_130_130_000),
            ("2016-12-31T23:59:60Z", 1_483_228_799_000),
            ("2024-02-29T12:00:00-00:00", 1_709_208_000_000),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ] as [(String, Int64)])
    func readsRFC3339(text: String, milliseconds: Int64) {
        #expect(Date(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "2026-11-20", "2026-11-20T08:15:30", "2026-11-20T24:00:00Z", "2026-11-20T08:60:00Z",
        "2026-11-20T08:15:61Z", "2026-02-29T08:15:30Z", "2026-13-01T08:15:30Z",
        "2026-11-20T08:15:30.Z",
        "2026-11-20T08:15:30+0900", "2026-11-20T08:15:30+24:00", "2026-11-20T08:15:30+09:60",
        "1969-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z", " 2026-11-20T08:15:30Z", "2026-11-20T08:15:30Z ",
        "２０２６-11-20T08:15:30Z",
        "2026-11-20T08:15:30.\(String(repeating: "0", count: 100))Z", "-026-11-20T08:15:30Z",
    ])
    func refusesWhatIsNotRFC3339(text: String) {
        #expect(Date(rfc3339: text) == nil)
    }

    @Test(arguments: [
        ("Sat Feb 18 12:33:11 +0000 2023", "2023-02-18T12:33:11.000Z"),
        ("Fri May 03 00:00:00 +0000 2013", "2013-05-03T00:00:00.000Z"),
        ("Fri May 03 02:00:00 +0200 2013", "2013-05-03T00:00:00.000Z"),
        ("2010-11-03 12:33:11 +0000", "2010-11-03T12:33:11.000Z"),
    ])
    func readsTheDatesOfX(text: String, written: String) {
        #expect(Date(xTimestamp: text)?.rfc3339 == written)
    }

    @Test(arguments: [
        "", "Sat Feb 18 12:33:11 2023", "Sat Feb 30 12:33:11 +0000 2023",
        "sat Feb 18 12:33:11 +0000 2023",
        "Sat Fab 18 12:33:11 +0000 2023", "Sat Feb 18 12:33:11 +0000 2023 ", "2023-02-18T12:33:11Z",
        "Sat Feb 18 12:33:11 +0000 1969",
    ])
    func refusesWhatIsNoDateOfX(text: String) {
        #expect(Date(xTimestamp: text) == nil)
    }

    @Test(
        arguments: [
            0, 1, 999, 1_000, 86_399_999, 951_782_400_000, 1_795_130_130_250, 253_402_300_799_999,
            -1,
        ]
            as [Int64])
    func writesWhatItReads(milliseconds: Int64) {
        let written = Date(milliseconds: milliseconds).rfc3339
        #expect(
            milliseconds < 0
                ? written == "1969-12-31T23:59:59.999Z"
                : Date(rfc3339: written)?.milliseconds == milliseconds)
    }
}
