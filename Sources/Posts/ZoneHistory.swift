package import Foundation

/// Days during which the human lived in another zone than ``ZoneHistory/home``.
package struct ZoneSpan: Hashable, Sendable {
    /// The first and the last day, by that zone's own calendar; ``LocalDay/earliest`` and
    /// ``LocalDay/latest`` stand for no beginning and no end.
    package let days: ClosedRange<LocalDay>
    package let zone: TimeZone

    package init(_ days: ClosedRange<LocalDay>, in zone: TimeZone) {
        self.days = days
        self.zone = zone
    }
}

/// The zones in which the human lived, by which the local time of each post is determined.
///
/// A zone that a person noted has precedence, then the UTC offset in the post itself, then the
/// usual zone.
package struct ZoneHistory: Equatable, Sendable {
    /// The zone of all times for which no other zone is noted.
    package let home: TimeZone
    /// The other zones, in order of time, without overlaps.
    package let spans: [ZoneSpan]

    /// - Parameters:
    ///   - home: The zone of all other times.
    ///   - spans: Times in other zones, in any order.
    package init(home: TimeZone, spans: [ZoneSpan] = []) {
        self.home = home
        self.spans = spans.sorted { $0.days.lowerBound < $1.days.lowerBound }
    }

    /// The zone that a person noted for an instant; nil for none.
    ///
    /// A span begins when its own zone's clock shows its first day. If two spans are adjacent on
    /// the calendar, the earlier one lasts until the later one begins. So each instant has one
    /// zone, whatever the difference between the two clocks.
    package func notedZone(at date: Date) -> TimeZone? {
        var next: ZoneSpan?
        for span in spans.reversed() {
            let day = LocalTime(date, in: span.zone).day
            if day >= span.days.lowerBound {
                let dayAfter = span.days.upperBound.advanced(by: 1)
                let isFollowed = next?.days.lowerBound == dayAfter
                return day <= span.days.upperBound || isFollowed ? span.zone : nil
            }
            next = span
        }
        return nil
    }

    /// Returns the local time of the human at an instant.
    ///
    /// - Parameters:
    ///   - date: The instant.
    ///   - utcOffset: The minutes by which their clock was ahead of UTC, if the post contains that;
    ///     else nil.
    /// - Returns: The local day and minute.
    package func time(of date: Date, utcOffset: Int?) -> LocalTime {
        if let zone = notedZone(at: date) { return LocalTime(date, in: zone) }
        return utcOffset.map { LocalTime(date, utcOffset: $0) } ?? LocalTime(date, in: home)
    }

    /// Returns the local time of the human when they wrote a post.
    package func time(of post: Post) -> LocalTime {
        time(of: post.createdAt, utcOffset: post.utcOffset)
    }
}
