import Foundation
import Testing
import Transport

@testable import Networks

@Suite struct ServerPacingTests {
    /// The local clock is an hour behind the server's.
    private static let receivedAt = Date(timeIntervalSince1970: 1_795_208_400)
    private static let serverDate = "Fri, 20 Nov 2026 22:00:00 GMT"

    @Test(
        arguments: [
            // Nothing said.
            ([:], nil),
            // Seconds, within bounds.
            (["Retry-After": "30"], 30), (["Retry-After": "0"], 5), (["Retry-After": "86400"], 900),
            (["Retry-After": "99999999999999999999999"], 900), (["Retry-After": "1.5"], 5),
            // A date is a distance from the answer's date.
            (["Retry-After": "Fri, 20 Nov 2026 22:01:00 GMT"], 60),
            (["Retry-After": "Fri, 20 Nov 2026 21:00:00 GMT"], 5),
            // The reset as Mastodon and GoToSocial write it, and as seconds since 1970, and as
            // seconds to wait.
            (["X-RateLimit-Reset": "2026-11-20T22:05:14.000Z"], 314),
            (["X-Ratelimit-Reset": "2026-11-20T22:00:40Z"], 40),
            (["X-RateLimit-Reset": "1795212100"], 100), (["X-RateLimit-Reset": "120"], 120),
            (["X-RateLimit-Reset": "2026-11-20T21:00:00.000Z"], 5),
            (["X-RateLimit-Reset": "soon"], nil),
            (["X-RateLimit-Reset": ""], nil), (["X-RateLimit-Reset": "-5"], nil),
            // Retry-After goes first, unless it cannot be read.
            (["Retry-After": "30", "X-RateLimit-Reset": "2026-11-20T22:05:00.000Z"], 30),
            (["Retry-After": "later", "X-RateLimit-Reset": "2026-11-20T22:05:00.000Z"], 300),
        ] as [([String: String], TimeInterval?)])
    func waitsAsTheServerAsks(headers: [String: String], seconds: TimeInterval?) {
        let pairs = headers.map { ($0.key, $0.value) } + [("Date", Self.serverDate)]
        let pacing = ServerPacing(HTTPHeaders(pairs), receivedAt: Self.receivedAt)
        #expect(pacing.retryAfter == seconds.map { Self.receivedAt.addingTimeInterval($0) })
        // A limit may last longer than a server is out of order.
        if seconds != 900 {
            #expect(pacing.retryAfterRateLimit == Self.receivedAt.addingTimeInterval(seconds ?? 60))
        }
    }

    @Test(
        arguments: [
            (["Retry-After": "21600"], 21_600), (["Retry-After": "86400"], 86_400),
            (["Retry-After": "99999999999999999999999"], 900),
            (["X-RateLimit-Reset": "2026-11-21T04:00:00.000Z"], 21_600),
        ] as [([String: String], TimeInterval)])
    func aLimitMayLastForHours(headers: [String: String], seconds: TimeInterval) {
        let pairs = headers.map { ($0.key, $0.value) } + [("Date", Self.serverDate)]
        let pacing = ServerPacing(HTTPHeaders(pairs), receivedAt: Self.receivedAt)
        #expect(pacing.retryAfterRateLimit == Self.receivedAt.addingTimeInterval(seconds))
        #expect(pacing.retryAfter(of: .rateLimited) == Self.receivedAt.addingTimeInterval(seconds))
        #expect(pacing.retryAfter == Self.receivedAt.addingTimeInterval(900))
    }

    @Test func trustsTheLocalClockWithoutADate() {
        let headers = HTTPHeaders([
            ("X-RateLimit-Reset", "2026-11-20T21:02:00.000Z"), ("Date", "yesterday"),
        ])
        let pacing = ServerPacing(headers, receivedAt: Self.receivedAt)
        #expect(pacing.retryAfter == Self.receivedAt.addingTimeInterval(120))
    }

    @Test(
        arguments: [
            ([("Date", serverDate)], -3_600), ([("date", serverDate), ("Age", "0")], -3_600),
            // Out of a cache, which keeps the time at which the answer went in there.
            ([("Date", serverDate), ("Age", "300")], nil),
            ([("Date", serverDate), ("Age", "old")], nil),
            ([("Date", "yesterday")], nil), ([], nil),
        ] as [([(String, String)], TimeInterval?)])
    func tellsHowFarTheLocalClockIsAhead(headers: [(String, String)], lead: TimeInterval?) {
        let headers = HTTPHeaders(headers)
        #expect(headers.clockLead(receivedAt: Self.receivedAt) == lead)
        let clock = ServerClock(uptime: { 7 })
        clock.note(headers)
        #expect(clock.lead(at: Self.receivedAt) == lead)
        // What tells nothing does not unsay what was told.
        clock.note(HTTPHeaders([("Date", Self.serverDate)]))
        clock.note(HTTPHeaders())
        #expect(clock.lead(at: Self.receivedAt + 3_660) == 60)
    }

    @Test func tellsWhatIsLeft() {
        let headers = HTTPHeaders([
            ("Date", Self.serverDate), ("X-RateLimit-Limit", "300"), ("X-RateLimit-Remaining", "7"),
            ("X-RateLimit-Reset", "2026-11-20T22:05:00.000Z"),
        ])
        let expected = RateLimit(
            limit: 300, remaining: 7, resetsAt: Self.receivedAt.addingTimeInterval(300))
        #expect(ServerPacing(headers, receivedAt: Self.receivedAt).rateLimit == expected)
        #expect(ServerPacing(HTTPHeaders(), receivedAt: Self.receivedAt).rateLimit == nil)
    }

    @Test func readsOtherNames() {
        let headers = HTTPHeaders([
            ("Date", Self.serverDate), ("ratelimit-limit", "3000"), ("RateLimit-Remaining", "0"),
            ("RateLimit-Reset", "1795212100"), ("X-RateLimit-Limit", "300"),
        ])
        let pacing = ServerPacing(headers, receivedAt: Self.receivedAt, prefix: "RateLimit-")
        let reset = Self.receivedAt.addingTimeInterval(100)
        #expect(pacing.rateLimit == RateLimit(limit: 3_000, remaining: 0, resetsAt: reset))
        #expect(pacing.retryAfter == reset)
    }

    @Test func noResetIsFartherThanADay() throws {
        let headers = HTTPHeaders([("X-RateLimit-Reset", "99999999999999999999999999999999")])
        let limit = try #require(ServerPacing(headers, receivedAt: Self.receivedAt).rateLimit)
        #expect(limit.resetsAt == Self.receivedAt.addingTimeInterval(86_400))
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Fri, 20 Nov 2026 22:00:00 GMT", 1_795_212_000),
            ("Tue, 29 Feb 2028 23:59:60 GMT", 1_835_481_599),
            ("Sunday, 06-Nov-94 08:49:37 GMT", nil), ("Sun Nov  6 08:49:37 1994", nil),
            ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 31 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 24:00:00 GMT", nil), ("Sun, 06 Nov 1994 08:49 GMT", nil),
            ("Sun, 06 Nov 99999999999999999999 08:49:37 GMT", nil), ("", nil),
            ("Sun, +6 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 +8:49:37 GMT", nil),
            ("1, 06 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 0006 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 01994 08:49:37 GMT", nil),
            ("Sun, 6 Nov 1994 08:49:37 GMT", 784_111_777),
            (String(repeating: " ", count: 100), nil),
        ] as [(String, TimeInterval?)])
    func readsDatesOfHeaders(text: String, expected: TimeInterval?) {
        #expect(Date(httpDate: text)?.timeIntervalSince1970 == expected)
    }
}
