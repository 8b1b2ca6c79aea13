import Foundation
import Mirroring
import Outbox
import Posts
import Schedule
import Settings
import Storage

/// Finds the post that comes next, so that `status`, `explain next` and every page name the same
/// one.
///
/// It is the first stored post with a text that is still to be sent, unless an earlier day has no
/// plan yet and would get one with a post.
struct NextPost {
    /// Days, from today on, whose plan is foreseen where none is stored.
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

    /// Returns the first post of a day without a plan that comes before the stored one.
    ///
    /// A plan has to be drawn for each such day; there is none while a stored post is left of
    /// today.
    ///
    /// - Parameters:
    ///   - stored: When the first stored post is due; nil if there is none.
    ///   - days: Days, from today on.
    ///   - today: The posts of today as they are foreseen; nil if they are not known or today has a
    ///     plan.
    /// - Throws: The store's error.
    func foreseen(
        before stored: Date?, within days: Int = usualDays, today known: [Action]? = nil
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
                    if day == today, let known {
                        known.first { $0.comes(after: now) }
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
    /// Returns when the next post is due; nil if none is planned or foreseen.
    ///
    /// - Parameters:
    ///   - reading: Tells which posts are stored.
    ///   - today: As for ``NextPost/foreseen(before:within:today:)``.
    /// - Throws: The store's error.
    func nextPost(_ reading: HealthReading, today: [Action]? = nil, now: Date) async throws -> Date?
    {
        let stored = reading.next
        let facts = reading.facts
        guard let zone = facts.zone, facts.knowsPast, facts.hasPosts else { return stored }
        return try await NextPost(of: self, in: zone, now: now).foreseen(
            before: stored, today: today)?.due ?? stored
    }
}
