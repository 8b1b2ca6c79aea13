package import Foundation
package import Posts

/// The minutes that a local day has, and the instants at which they begin.
///
/// A day on which clocks are put forward lacks some minutes, one on which they
/// are put back has some twice, and a day that a country skipped has none.
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
    private let firstSeconds: [Int?]

    package init(_ day: LocalDay, in zone: TimeZone) {
        let midnight = day.ordinal * 86_400
        var firsts: [Int?] = Array(repeating: nil, count: MinuteOfDay.count)
        var count: Int = 0
        var start: Int? = nil
        var end: Int? = nil
        for span in OffsetSpan.spans(aroundUTCMidnight: midnight, in: zone) {
            let first = max(span.start + span.offset - midnight, 0)
            let last = min(span.end + span.offset - midnight, 86_400) - 1
            guard first <= last else { continue }
            for minute in first / 60...last / 60 {
                count += 1
                let second = midnight + max(minute * 60, first) - span.offset
                firsts[minute] = firsts[minute] ?? second
            }
            let firstSecond = midnight + first - span.offset
            start = start ?? firstSecond
            end = midnight + last + 1 - span.offset
        }
        self.day = day
        self.count = count
        self.missing = firsts.indices.filter { firsts[$0] == nil }.compactMap { MinuteOfDay($0) }
        self.start = start.map { Date(timeIntervalSince1970: Double($0)) }
        self.end = end.map { Date(timeIntervalSince1970: Double($0)) }
        self.firstSeconds = firsts
    }

    /// The instant at which `minute` begins, for the first time if it occurs twice; nil if it is
    /// missing.
    package func date(of minute: MinuteOfDay) -> Date? {
        firstSeconds[minute.value].map { Date(timeIntervalSince1970: Double($0)) }
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
