package import Foundation

/// Days on which the human lived by the clock of another zone than usual.
package struct ZoneSpan: Hashable, Sendable {
    /// The first and the last of the days, on that zone's own calendar; those of
    /// ``LocalDay/earliest`` and ``LocalDay/latest`` have no beginning or no end.
    package let days: ClosedRange<LocalDay>
    package let zone: TimeZone

    package init(_ days: ClosedRange<LocalDay>, in zone: TimeZone) {
        self.days = days
        self.zone = zone
    }
}

/// By which clock the human lived when, so that what was written in the morning counts as written
/// in the morning.
///
/// A person's word about a time counts most, then what a post itself tells of its author's clock,
/// then the usual zone.
package struct ZoneHistory: Equatable, Sendable {
    /// The zone of all times about which nothing is said.
    package let home: TimeZone
    /// The other zones, in order of time; they do not overlap.
    package let spans: [ZoneSpan]

    /// - Parameters:
    ///   - home: The zone of all other times.
    ///   - spans: Times in other zones, in any order.
    package init(home: TimeZone, spans: [ZoneSpan] = []) {
        self.home = home
        self.spans = spans.sorted { $0.days.lowerBound < $1.days.lowerBound }
    }

    /// The zone that a person named for an instant; nil if nobody named one.
    ///
    /// A time begins when its own zone's clock shows its first day. Of two that follow one another
    /// on the calendar the earlier one lasts until then, so that each instant has one zone, however
    /// far the journey was.
    package func named(at date: Date) -> TimeZone? {
        var next: ZoneSpan?
        for span in spans.reversed() {
            let day = LocalTime(date, in: span.zone).day
            if day >= span.days.lowerBound {
                let isFollowed =
                    next.map { span.days.upperBound.advanced(by: 1) == $0.days.lowerBound } ?? false
                return day <= span.days.upperBound || isFollowed ? span.zone : nil
            }
            next = span
        }
        return nil
    }

    /// Returns the time that the human's clock showed.
    ///
    /// - Parameters:
    ///   - date: The instant.
    ///   - utcOffset: By how many minutes it was ahead of UTC, as the post itself tells; nil if it
    ///     does not.
    /// - Returns: Its day and minute.
    package func time(of date: Date, utcOffset: Int?) -> LocalTime {
        if let zone = named(at: date) { return LocalTime(date, in: zone) }
        return utcOffset.map { LocalTime(date, utcOffset: $0) } ?? LocalTime(date, in: home)
    }

    /// Returns the time that the human's clock showed when they wrote a post.
    package func time(of post: Post) -> LocalTime {
        time(of: post.createdAt, utcOffset: post.utcOffset)
    }
}
