import Foundation
import Posts

/// Dates as a person reads them, in the mirror's zone.
enum DateText {
    /// `2026-11-20 14:05`.
    static func minute(_ date: Date, in zone: TimeZone) -> String { LocalTime(date, in: zone).description }

    /// `2026-11-20`.
    static func day(_ date: Date, in zone: TimeZone) -> String { LocalTime(date, in: zone).day.description }
}
