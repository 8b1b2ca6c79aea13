package import Foundation
package import Posts

/// The minutes that a local day has, and the instants at which they begin.
///
/// A day on which clocks are put forward lacks some minutes. A day on which clocks are put back has
/// some minutes twice. A day that a country skipped has no minutes.
package struct LocalDayMinutes: Sendable {
    package let day: LocalDay
    /// The length of the day in minutes: usually 1,440.
    package let count: Int
    /// The minutes that the day lacks, ascending.
    package let missing: [MinuteOfDay]
    /// The day's first instant, which need not be 00:00; nil if the day does not exist.
    package let start: Date?
    /// The first instant after the day; nil if the day does not exist.
    package let end: Date?
    /// The second since 1970 at which each minute of the clock first begins; nil if it is missing.
    private let minuteStarts: [Int?]

    package init(_ day: LocalDay, in zone: TimeZone) {
        let midnight = day.ordinal * 86_400
        var minuteStarts: [Int?] = Array(repeating: nil, count: MinuteOfDay.count)
        var count: Int = 0
        var start: Int? = nil
        var end: Int? = nil
        for span in OffsetSpan.spans(aroundUTCMidnight: midnight, in: zone) {
            // Seconds on the local clock since 00:00 of the day.
            let firstOnClock = max(span.start + span.offset - midnight, 0)
            let lastOnClock = min(span.end + span.offset - midnight, 86_400) - 1
            guard firstOnClock <= lastOnClock else { continue }
            for minute in firstOnClock / 60...lastOnClock / 60 {
                count += 1
                // The first minute on the clock may have begun before this span.
                let second = midnight + max(minute * 60, firstOnClock) - span.offset
                minuteStarts[minute] = minuteStarts[minute] ?? second
            }
            let firstSecond = midnight + firstOnClock - span.offset
            start = start ?? firstSecond
            end = midnight + lastOnClock + 1 - span.offset
        }
        self.day = day
        self.count = count
        self.missing = minuteStarts.indices.filter { minuteStarts[$0] == nil }
            .compactMap { MinuteOfDay($0) }
        self.start = start.map { Date(timeIntervalSince1970: Double($0)) }
        self.end = end.map { Date(timeIntervalSince1970: Double($0)) }
        self.minuteStarts = minuteStarts
    }

    /// The instant at which `minute` begins, for the first time if it occurs twice; nil if it is
    /// missing.
    package func date(of minute: MinuteOfDay) -> Date? {
        minuteStarts[minute.value].map { Date(timeIntervalSince1970: Double($0)) }
    }
}

/// A stretch of time, in seconds since 1970, with a constant UTC offset.
private struct OffsetSpan {
    var start: Int
    var end: Int
    var offset: Int

    /// The spans from 16 hours before to 40 hours after the UTC midnight of a date, which contain
    /// its local day in any zone.
    static func spans(aroundUTCMidnight midnight: Int, in zone: TimeZone) -> [OffsetSpan] {
        func offset(at second: Int) -> Int {
            zone.offset(at: Date(timeIntervalSince1970: Double(second)))
        }
        // No zone was ever 16 hours from UTC, and none changes twice within an hour.
        let first = midnight - 16 * 3_600
        let last = midnight + 40 * 3_600
        var spans = [OffsetSpan(start: first, end: last, offset: offset(at: first))]
        for hour in stride(from: first + 3_600, through: last, by: 3_600) {
            let offsetAtHour = offset(at: hour)
            guard let current = spans.last, offsetAtHour != current.offset else { continue }
            // Bisection finds the first second with the new offset.
            var lastKnownOld = hour - 3_600
            var firstKnownNew = hour
            while firstKnownNew - lastKnownOld > 1 {
                let middle = (lastKnownOld + firstKnownNew) / 2
                if offset(at: middle) == current.offset {
                    lastKnownOld = middle
                } else {
                    firstKnownNew = middle
                }
            }
            spans[spans.count - 1].end = firstKnownNew
            spans.append(OffsetSpan(start: firstKnownNew, end: last, offset: offsetAtHour))
        }
        return spans
    }
}
