import Archive
package import Foundation
package import Mirroring
package import Outbox
package import Posts
import Schedule
import Settings

/// One day of a mirror: its posts and its actions for others, with the human's posts on the same
/// weekday for comparison.
package struct DayReport: Codable, Sendable {
    /// A stretch of the day.
    package struct Span: Codable, Equatable, Sendable {
        /// The start in minutes from midnight, 0 through 1440; the end `to` is excluded.
        package let from: Int
        package let to: Int
    }

    /// The number of actions of a kind that ended on the day.
    package struct Count: Codable, Equatable, Sendable {
        package let kind: ActionKind
        package let done: Int
        /// The number of actions that were skipped or have expired.
        package let leftAlone: Int
    }

    package private(set) var schema = "mirror-bot/day/1"
    package let day: LocalDay
    package let timeZone: String
    /// The posts of the day; nil if there is no archive to plan from.
    package private(set) var plan: PlanReport?
    /// The share of the human's posts of that weekday in each half hour; all 0 without any.
    package let humanHalfHours: [Double]
    /// The number of the human's posts of that weekday.
    package let humanPosts: Int
    /// The quiet hours of the day.
    package let quiet: [Span]
    /// The pause on that day; nil for none.
    package let pause: Span?
    /// The counts of ended actions, in the order of the kinds.
    package let counts: [Count]
    /// Replies and favorites that were sent, the latest first, at most `DayReporter.mostShown`.
    package let toOthers: [ReportedAction]
    /// The earliest expiry of all suggestions; nil without any.
    package let firstDeadline: Date?

    package func count(of kind: ActionKind) -> Count? { counts.first { $0.kind == kind } }
}

/// Reads a day of a mirror.
package struct DayReporter: Sendable {
    /// The most replies and favorites in the report of a day.
    package static let mostShown = 30

    private let mirror: HumanMirror
    private let zone: TimeZone

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's time zone.
    package init(mirror: HumanMirror, zone: TimeZone) {
        self.mirror = mirror
        self.zone = zone
    }

    /// Reads the day.
    ///
    /// - Parameters:
    ///   - day: The local day.
    ///   - now: The present, which divides past and future.
    /// - Throws: The store's error.
    package func report(on day: LocalDay, now: Date) async throws -> DayReport {
        let outbox = mirror.outbox(lease: nil)
        let start = begin(of: day)
        let span = start..<max(start, begin(of: day.advanced(by: 1)))
        let times = try await mirror.archive.scheduleRows()
        let plan = try await PlanReporter(mirror: mirror, zone: zone).report(
            on: day, now: now, looksUpDates: true, humanTimes: times)
        let human = times.filter { $0.day.weekday == day.weekday }
        let tallies = try await outbox.tallies(of: span)
        let toOthers = try await outbox.sentRepliesAndFavorites(span, limit: Self.mostShown)
        let persons = try await mirror.persons(of: toOthers)
        let pause = try await mirror.table.pause(at: now)
        return DayReport(
            day: day, timeZone: mirror.configuration.name(of: zone), plan: plan,
            humanHalfHours: MinuteShares(of: human.map(\.minute), binCount: 48).shares,
            humanPosts: human.count,
            quiet: Self.spans(of: mirror.configuration.schedule.quiet),
            pause: pause.flatMap { stretch(of: $0, on: span) },
            counts: ActionKind.allCases.map { kind in
                let ended = tallies.filter { $0.kind == kind }
                let done = ended.filter { $0.state == .done }.reduce(0) { $0 + $1.count }
                let leftAlone = ended.filter { [.skipped, .expired].contains($0.state) }.reduce(0) {
                    $0 + $1.count
                }
                return DayReport.Count(kind: kind, done: done, leftAlone: leftAlone)
            },
            toOthers: toOthers.map {
                ReportedAction($0, persons[$0.id], on: mirror.configuration.botNetwork)
            },
            firstDeadline: try await outbox.firstDeadline())
    }

    /// Returns the first instant of a day; in UTC for a day that the zone skipped.
    private func begin(of day: LocalDay) -> Date {
        LocalDayMinutes(day, in: zone).start
            ?? Date(timeIntervalSince1970: Double(day.ordinal) * 86_400)
    }

    /// Returns the stretches of consecutive minutes in a set.
    static func spans(of minutes: Set<MinuteOfDay>) -> [DayReport.Span] {
        var spans: [DayReport.Span] = []
        var start: Int?
        for value in 0...MinuteOfDay.count {
            // The count itself is no minute, and so ends a stretch that lasts until midnight.
            let isIncluded = MinuteOfDay(value).map { minutes.contains($0) } ?? false
            if isIncluded, start == nil { start = value }
            if !isIncluded, let from = start {
                spans.append(DayReport.Span(from: from, to: value))
                start = nil
            }
        }
        return spans
    }

    private func stretch(of pause: Pause, on day: Range<Date>) -> DayReport.Span? {
        let from = max(pause.since, day.lowerBound)
        let to = min(pause.until ?? day.upperBound, day.upperBound)
        guard from < to else { return nil }
        let last = to == day.upperBound ? MinuteOfDay.count : LocalTime(to, in: zone).minute.value
        return DayReport.Span(from: LocalTime(from, in: zone).minute.value, to: last)
    }
}
