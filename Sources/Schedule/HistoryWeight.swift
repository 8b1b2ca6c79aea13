import Foundation
package import Posts

/// How much a past day tells about the day that is planned.
package struct HistoryWeight: Sendable {
    /// The last day known to be complete; age is counted from it, so that an archive that ended keeps its profile.
    package let asOf: LocalDay
    /// The day that is planned; nil to weigh by age alone.
    package let target: LocalDay?
    /// The days of the week that count as weekend.
    package let weekend: Set<Int>

    package init(asOf: LocalDay, target: LocalDay?, weekend: Set<Int> = [6, 7]) {
        self.asOf = asOf
        self.target = target
        self.weekend = weekend
    }

    /// The weight of everything posted on `day`.
    package func weight(of day: LocalDay) -> Double {
        Self.recency(ageInDays: asOf.days(since: day)) * weekdayFactor(of: day)
    }

    /// 1 for a day of age 0, half of that after 120 days and so on, but never less than 0.02.
    package static func recency(ageInDays age: Int) -> Double {
        0.02 + 0.98 * exp2(-Double(max(0, age)) / 120)
    }

    /// 2 for the same day of the week, 1 for one of the same kind, 0.3 for one of the other kind.
    private func weekdayFactor(of day: LocalDay) -> Double {
        guard let target else { return 1 }
        if day.weekday == target.weekday { return 2 }
        return weekend.contains(day.weekday) == weekend.contains(target.weekday) ? 1 : 0.3
    }
}
