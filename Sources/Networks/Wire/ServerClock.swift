package import Foundation
import Posts
package import Transport

/// The difference between the local clock and the clocks of the servers that answered.
///
/// A single answer may have a wrong time, and the local clock may be set at any time. So the
/// servers' times are compared with a monotonic clock, and the median of the last answers is used.
package final class ServerClock: @unchecked Sendable {
    /// The number of answers that are used, and their maximum age in seconds.
    ///
    /// Old answers are removed only when a new one comes.
    private static let maximumCount = 9
    private static let maximumAge: TimeInterval = 3_600
    private static let origin = ContinuousClock.now

    /// The system's monotonic clock, in seconds.
    static var systemUptime: TimeInterval { origin.duration(to: .now) / .seconds(1) }

    /// Returns the monotonic clock, in seconds.
    private let uptime: @Sendable () -> TimeInterval
    // Sendable: every access to a variable holds the lock.
    private let lock = NSLock()
    /// For each answer, the server's time minus the uptime, and the uptime at which the answer
    /// came; the newest last.
    private var offsets: [(value: TimeInterval, at: TimeInterval)] = []

    /// - Parameter uptime: Returns a monotonic clock, in seconds; nil for the system's.
    package init(uptime: (@Sendable () -> TimeInterval)? = nil) {
        self.uptime = uptime ?? { Self.systemUptime }
    }

    /// The seconds by which the local clock is ahead of the servers' when it shows `now`; nil
    /// before the first answer.
    package func lead(at now: Date) -> TimeInterval? {
        let localOffset = now.timeIntervalSince1970 - uptime()
        let leads = lock.withLock { offsets.map { localOffset - $0.value } }.sorted()
        guard !leads.isEmpty else { return nil }
        // An even number of answers has two medians: the one closer to the local clock is used.
        let lower = leads[(leads.count - 1) / 2]
        let upper = leads[leads.count / 2]
        return abs(lower) < abs(upper) ? lower : upper
    }

    /// Forgets all answers except the last ones, because their times were wrong.
    package func forget(exceptLast count: Int) {
        lock.withLock { offsets.removeFirst(max(0, offsets.count - count)) }
    }

    /// Records the server's time in an answer that has just come, if there is one.
    package func note(_ headers: HTTPHeaders) {
        guard headers.isFresh, let date = headers.date else { return }
        let uptime = uptime()
        lock.withLock {
            offsets.removeAll { uptime - $0.at > Self.maximumAge }
            offsets.append((date.timeIntervalSince1970 - uptime, uptime))
            offsets.removeFirst(max(0, offsets.count - Self.maximumCount))
        }
    }
}

extension HTTPHeaders {
    /// The seconds by which the local clock is ahead of the server's (`Date`; RFC 9110, section
    /// 6.6.1).
    ///
    /// - Parameter receivedAt: The time at which the answer came, on the local clock.
    /// - Returns: Nil if the answer has no date, or comes from a cache and states its age (`Age`;
    ///   RFC 9111, section 5.1).
    package func clockLead(receivedAt: Date) -> TimeInterval? {
        isFresh ? date.map { receivedAt.timeIntervalSince($0) } : nil
    }

    /// Whether the answer was made just now, and does not come from a cache.
    var isFresh: Bool {
        let age = self["Age"]
        return age == nil || age == "0"
    }

    /// The time at which the answer was made, by the server's clock; nil if the header is missing.
    package var date: Date? { self["Date"].flatMap { Date(httpDate: $0) } }
}

extension Date {
    /// The instant in a header such as `Date`: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section
    /// 5.6.7).
    ///
    /// Nil for any other text, including the two obsolete forms.
    package init?(httpDate text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 6, Self.httpWeekdays.contains(words[0]), words[5] == "GMT",
            let month = Self.httpMonths.firstIndex(of: words[2]),
            let year = Self.number(words[3], digits: 4...4), year >= 1970,
            let dayOfMonth = Self.number(words[1], digits: 1...2),
            let day = LocalDay(year: year, month: month + 1, day: dayOfMonth)
        else { return nil }
        let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
            .map { Self.number($0, digits: 2...2) }
        guard time.count == 3, let hour = time[0], hour < 24, let minute = time[1], minute < 60,
            let second = time[2], second <= 60
        else { return nil }
        self.init(
            // A leap second, 60, is taken for second 59.
            timeIntervalSince1970: Double(
                day.ordinal * 86_400 + hour * 3_600 + minute * 60 + min(second, 59)))
    }

    /// A number without a sign.
    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        digits.contains(text.utf8.count) && text.utf8.allSatisfy(\.isDigit) ? Int(text) : nil
    }

    private static let httpWeekdays: Set<Substring> = [
        "Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,",
    ]
    private static let httpMonths: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
