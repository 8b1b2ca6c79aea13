import Foundation
import Networks
import Posts

/// The names of the amounts that pay for a call, and the days and months behind them, in UTC.
struct SpendingNames {
    static let prefix = "x-spent-"
    static let dayPrefix = "x-spent-on-"

    /// `x-spent-2026-11`.
    let month: String
    /// `x-spent-2026-11/publish`.
    let purposeOfMonth: String
    /// `x-spent-on-2026-11-21/publish`.
    let purposeOfDay: String

    init(_ purpose: SpendingPurpose, at now: Date) {
        month = Self.month(now)
        purposeOfMonth = month + "/" + purpose.label
        purposeOfDay = Self.day(now) + "/" + purpose.label
    }

    var all: [String] { [month, purposeOfMonth, purposeOfDay] }

    static func month(_ now: Date) -> String { prefix + utcDay(now).description.prefix(7) }

    static func day(_ now: Date, daysAgo: Int = 0) -> String {
        dayPrefix + utcDay(now).advanced(by: -daysAgo).description
    }

    /// When the next day begins.
    static func nextDay(_ now: Date) -> Date { start(of: utcDay(now).advanced(by: 1)) }

    /// When the next month begins.
    static func nextMonth(_ now: Date) -> Date {
        let today = utcDay(now)
        // The 32nd of any month is one of the first four days of the next.
        let later = today.advanced(by: 32 - today.components.day)
        return start(of: later.advanced(by: 1 - later.components.day))
    }

    private static func utcDay(_ now: Date) -> LocalDay { LocalTime(now, in: .gmt).day }

    private static func start(of day: LocalDay) -> Date { Date(timeIntervalSince1970: Double(day.ordinal) * 86_400) }
}
