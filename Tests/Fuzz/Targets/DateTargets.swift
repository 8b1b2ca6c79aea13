import Foundation
import Posts

@testable import Networks
@testable import Transport
@testable import X

/// Dates, and headers that say when to ask again.
extension FuzzTarget {
    static let dates = [timestamps, httpDates, pacing]

    private static let timestamps = FuzzTarget(
        "timestamps",
        texts: [
            "2026-11-20T08:15:30.250+09:00", "1970-01-01T00:00:00Z",
            "9999-12-31 23:59:60,999999-23:59",
            "9999-12-31T23:59:60.999Z",
            "Sat Feb 18 12:33:11 +0000 2023", "2010-11-03 12:33:11 +0000", "2024-02-29t00:00:00z",
        ],
        words: ["Mon ", "Feb ", "+0000", "T", "Z", "-02-29", "23:59:60", "9999", "1970", "0000"]
    ) { text in
        let earliest = Date(timeIntervalSince1970: -86_400)
        for date in [Date(rfc3339: text), Date(xTimestamp: text)].compactMap(\.self) {
            try hold(
                date >= earliest && date.timeIntervalSince1970 < 253_402_387_200,
                "the years are 1970 to 9999")
            guard date.timeIntervalSince1970 >= 0, date.timeIntervalSince1970 < 253_402_300_800
            else { continue }
            try hold(Date(rfc3339: date.rfc3339) == date, "a date survives being written")
        }
        if let day = LocalDay(text) {
            try hold(day.description == text, "a day is written as it was read")
            try hold(LocalDay(ordinal: day.ordinal) == day, "a day is its number")
        }
    }

    private static let httpDates = FuzzTarget(
        "http-dates",
        texts: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Mon, 29 Feb 2024 23:59:60 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994", "Sun, +6 Nov 1994 +8:49:37 GMT",
        ],
        words: ["Sun, ", " GMT", " Nov ", "+6", "-1", ":60", " 1970 ", " 9999 "]
    ) { text in
        guard let date = Date(httpDate: text) else { return }
        try hold(date.timeIntervalSince1970 >= 0, "no date is before 1970")
        let digits = text.utf8.filter { (0x30...0x39).contains($0) }.count
        try hold(digits >= 11 && digits <= 12, "a date has the digits of its form, and no others")
        try hold(!text.contains("+") && !text.contains("-"), "the numbers of a date have no sign")
    }

    private static let pacing = FuzzTarget(
        "pacing",
        seeds: [
            "HTTP/1.1 429\r\nRetry-After: 120\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
            "HTTP/1.1 200\nX-RateLimit-Limit: 300\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 2026-11-20T08:15:30.250Z\n\n",
            "HTTP/1.1 429\nx-rate-limit-reset: 1763660000\nx-rate-limit-remaining: 0\nx-user-limit-24hour-remaining: 0\n"
                + "x-user-limit-24hour-reset: 99999999999\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\n\n",
            "HTTP/1.1 429\nRateLimit-Limit: 3000\nRateLimit-Remaining: 2\nRateLimit-Reset: 1763660000.5\n a fold\n\n",
        ].map { Array($0.utf8) },
        words: [
            "Retry-After: ", "Date: ", "X-RateLimit-Reset: ", "RateLimit-Remaining: ",
            "x-rate-limit-reset: ",
            "x-app-limit-24hour-remaining: 0", "x-user-limit-24hour-reset: ", " GMT",
            "99999999999999",
        ]
    ) { input in
        let now = Date(timeIntervalSince1970: 1_763_650_000)
        let headers = Answer(input).response.headers
        for prefix in ["X-RateLimit-", "RateLimit-"] {
            let pacing = ServerPacing(headers, receivedAt: now, prefix: prefix)
            for code in [NetworkError.Code.rateLimited, .conflict, .unavailable, .forbidden] {
                guard let date = pacing.retryAfter(of: code) else { continue }
                let longest = code == .rateLimited ? 86_400 : pacing.range.upperBound
                let wait = date.timeIntervalSince(now)
                try hold((pacing.range.lowerBound...longest).contains(wait), "the wait is sensible")
            }
            if let reset = pacing.rateLimit?.resetsAt {
                try hold(
                    (0...86_400).contains(reset.timeIntervalSince(now)),
                    "a limit begins anew within a day")
            }
        }
        let pacing = XPacing(headers, receivedAt: now)
        for date in [pacing.retryAfterRateLimit, pacing.retryAfter].compactMap(\.self) {
            try hold(
                pacing.shortWindow.range.contains(date.timeIntervalSince(now)),
                "the wait is sensible")
        }
        try hold(
            (0...90_000).contains(pacing.nextDay.timeIntervalSince(now)),
            "the next day begins within a day")
        if let reset = pacing.shortWindow.rateLimit?.resetsAt {
            try hold(
                (0...86_400).contains(reset.timeIntervalSince(now)), "a window ends within a day")
        }
    }
}
