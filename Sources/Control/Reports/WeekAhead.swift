import Archive
package import Foundation
package import Mirroring
import Posts
import Schedule
import Settings

/// The coming week of a mirror: the plan of today, and the expected posts of the other days.
package struct WeekAhead: Sendable {
    /// The number of days, today included.
    package static let length = 7

    /// The days from today on; empty if there is no archive to plan from.
    package let days: [PlanReport]
    /// The share of the human's posts in each hour of each weekday, Monday first; all 0 without
    /// any.
    package let humanHours: [[Double]]
    /// The quiet hours of every day.
    package let quiet: [DayReport.Span]
}

extension WeekAhead {
    /// Reads the plans that are stored, and previews those of the other days.
    ///
    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's time zone.
    ///   - now: The present.
    /// - Throws: The store's error.
    package init(of mirror: HumanMirror, zone: TimeZone, now: Date) async throws {
        let times = try await mirror.archive.scheduleRows()
        let reporter = PlanReporter(mirror: mirror, zone: zone)
        let today = LocalTime(now, in: zone).day
        var days: [PlanReport] = []
        for offset in 0..<Self.length {
            let plan = try await reporter.report(
                on: today.advanced(by: offset), now: now, humanTimes: times)
            if let plan { days.append(plan) }
        }
        self.days = days
        humanHours = (1...7).map { weekday in
            MinuteShares(of: times.filter { $0.day.weekday == weekday }.map(\.minute)).shares
        }
        quiet = DayReporter.spans(of: mirror.configuration.schedule.quiet)
    }
}
