import Foundation
import Mirroring
import Outbox
import Posts
import Schedule
import Settings
import Storage

/// Finds the next post, so that `status`, `explain next` and every page name the same one.
///
/// The next post is the first stored post with a text that is still to be sent, unless an earlier
/// day without a plan would get one with a post.
struct NextPost {
    /// The number of days, from today on, for which missing plans are previewed.
    static let usualDays = 7

    private let mirror: HumanMirror
    private let zone: TimeZone
    private let now: Date

    /// - Parameter zone: The human's time zone.
    init(of mirror: HumanMirror, in zone: TimeZone, now: Date) {
        self.mirror = mirror
        self.zone = zone
        self.now = now
    }

    /// Returns the first previewed post that comes before the stored one.
    ///
    /// A plan must be drawn for each day without a plan before the stored post. If the stored post
    /// is one of today, there is no such day.
    ///
    /// - Parameters:
    ///   - stored: The time at which the first stored post is due; nil if there is none.
    ///   - days: The number of days to look at, from today on.
    ///   - today: The previewed posts of today; nil if they are unknown or today has a plan.
    /// - Throws: The store's error.
    func foreseen(
        before stored: Date?, within days: Int = usualDays, today previewed: [Action]? = nil
    ) async throws -> Action? {
        let today = LocalTime(now, in: zone).day
        let end = min(
            stored.map { LocalTime($0, in: zone).day } ?? .latest, today.advanced(by: days))
        guard end > today, mirror.configuration.schedule.maximumPerDay > 0 else { return nil }
        let planned = Set(try await mirror.outbox(lease: nil).plannedDays(from: today))
        let reporter = PlanReporter(mirror: mirror, zone: zone)
        var day = today
        while day < end {
            if !planned.contains(day) {
                let next =
                    if day == today, let previewed {
                        previewed.first { $0.comes(after: now) }
                    } else {
                        try await reporter.firstPost(of: day, now: now)
                    }
                if let next { return next }
            }
            day = day.advanced(by: 1)
        }
        return nil
    }
}

extension HumanMirror {
    /// Returns when the next post is due; nil if none is planned or previewed.
    ///
    /// - Parameters:
    ///   - reading: The mirror's state, with the stored posts.
    ///   - today: The previewed posts of today, as for ``NextPost/foreseen(before:within:today:)``.
    /// - Throws: The store's error.
    func nextPost(_ reading: HealthReading, today: [Action]? = nil, now: Date) async throws -> Date?
    {
        let stored = reading.nextStoredPost
        let facts = reading.facts
        guard let zone = facts.zone, facts.knowsPast, facts.hasPosts else { return stored }
        return try await NextPost(of: self, in: zone, now: now).foreseen(
            before: stored, today: today)?.due ?? stored
    }
}
