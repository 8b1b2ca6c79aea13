package import Foundation
package import Posts
import Schedule

/// A typed time, on the human's clock.
///
/// Full-width digits count as ASCII. `18:30` is the next time at which the clock shows it;
/// `2026-11-24` is the first moment of that day; `2026-11-24 18:30` and `2026-11-24T18:30:00+01:00`
/// are exact; `45m`, `6h`, `3d` and `2w` count from now.
package struct PersonTime: Sendable {
    package let zone: TimeZone

    /// - Parameter zone: The human's time zone.
    package init(zone: TimeZone) { self.zone = zone }

    /// Returns the instant of a typed text.
    ///
    /// - Parameters:
    ///   - text: The typed text.
    ///   - now: The present.
    /// - Returns: The instant; nil if the text has none of the forms, or the clock never shows it.
    package func instant(_ text: String, now: Date) -> Date? {
        let text = text.plainlyTyped
        if let span = Self.span(text) { return now + span }
        if let minute = MinuteOfDay(typed: text) {
            let today = LocalTime(now, in: zone).day
            let instants = [today, today.advanced(by: 1)].lazy.compactMap {
                instant(minute, of: $0)
            }
            return instants.first { $0 > now }
        }
        if let day = LocalDay(text) { return LocalDayMinutes(day, in: zone).start }
        let parts = text.split(whereSeparator: { $0 == " " || $0 == "T" })
        if parts.count == 2, let day = LocalDay(parts[0]), let minute = MinuteOfDay(clock: parts[1])
        {
            return instant(minute, of: day)
        }
        return Date(rfc3339: text)
    }

    /// Returns the past instant of a typed text: `18:30` is the last time at which the clock showed
    /// it, and `6h` counts back from now.
    ///
    /// - Parameters:
    ///   - text: The typed text.
    ///   - now: The present.
    /// - Returns: The instant, which may be in the future if the text contains a date; nil if the
    ///   text has none of the forms.
    package func pastInstant(_ text: String, now: Date) -> Date? {
        let text = text.plainlyTyped
        if let span = Self.span(text) { return now - span }
        guard let minute = MinuteOfDay(typed: text) else { return instant(text, now: now) }
        let today = LocalTime(now, in: zone).day
        let instants = [today, today.advanced(by: -1)].lazy.compactMap { instant(minute, of: $0) }
        return instants.first {
            $0 <= now
        }
    }

    /// The first instant of a day at which the clock shows a minute; nil if the minute is skipped.
    package func instant(_ minute: MinuteOfDay, of day: LocalDay) -> Date? {
        LocalDayMinutes(day, in: zone).date(of: minute)
    }

    /// Ten years, in seconds.
    private static let longestSpan = 3_653 * 86_400

    /// The duration of a text such as `6h`, in seconds; nil for any other text, or for more than
    /// ten years.
    private static func span(_ text: String) -> TimeInterval? {
        let units: [Character: Int] = ["m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
            number > 0
        else {
            return nil
        }
        let (seconds, isTooLong) = number.multipliedReportingOverflow(by: unit)
        return isTooLong || seconds > longestSpan ? nil : TimeInterval(seconds)
    }
}
