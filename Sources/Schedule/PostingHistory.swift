import Foundation
package import Posts

/// The human's posting times, prepared for planning days.
///
/// Contains the human's own posts that are neither replies nor reposts and whose time of day is
/// trusted.
///
/// If the human left, the history ends with the last day before the absence. The days of absence,
/// and a few posts after it (a farewell or a visit), do not represent the human's usual days. The
/// least length of an absence depends on how often the human posted. Once the human is back for
/// good, all days count.
package struct PostingHistory: Sendable {
    /// The last complete day, or the last usual day of a human who left.
    package let asOf: LocalDay
    /// All posting times up to `asOf`, ascending.
    package let times: [LocalTime]
    /// The number of posts of each completely known day.
    package let dailyCounts: DailyCounts
    /// The posting times of each day that has any, ascending.
    private let days: [ArraySlice<LocalTime>]

    /// - Parameters:
    ///   - times: The posting times in any order; those after `asOf` are left out.
    ///   - asOf: The last complete day; by default the day of the last post.
    package init(times: [LocalTime], asOf: LocalDay? = nil) {
        let lastDay = asOf ?? times.map(\.day).max() ?? LocalDay(ordinal: 0)
        // The times are sorted as numbers, which is several times faster than sorting pairs.
        let sortedTimes = times.lazy.filter { $0.day <= lastDay }
            .map { $0.day.ordinal * MinuteOfDay.count + $0.minute.value }
            .sorted()
            .compactMap(Self.time(at:))
        let days = Self.split(sortedTimes)
        let usualDayCount = Self.usualDayCount(days.compactMap(\.first?.day), asOf: lastDay)
        if usualDayCount == days.count {
            self.asOf = lastDay
            self.times = sortedTimes
        } else {
            let lastUsualDay = days[usualDayCount - 1]
            self.asOf = lastUsualDay.first?.day ?? lastDay
            self.times = Array(sortedTimes.prefix(lastUsualDay.endIndex))
        }
        self.days = Array(days.prefix(usualDayCount))
        self.dailyCounts = Self.postCounts(of: self.days, asOf: self.asOf)
    }

    /// The least number of days with posts from which a usual rate can be estimated.
    private static let fewestUsualDays = 20
    /// The shortest silence that counts as an absence, in days.
    private static let shortestAbsence = 45
    /// A silence counts as an absence if it is this many times as long as the human's mean time
    /// between days with posts.
    private static let absenceFactor = 12
    /// The human is back for good once the number of days with posts after the absence exceeds the
    /// days of absence divided by this number.
    private static let absencePerPostingDay = 14

    /// The number of days with posts before the human left; of all days with posts if the human did
    /// not leave.
    ///
    /// - Parameter days: The days with posts, ascending.
    private static func usualDayCount(_ days: [LocalDay], asOf: LocalDay) -> Int {
        guard let first = days.first else { return 0 }
        for index in days.indices.dropFirst(fewestUsualDays - 1) {
            let next = index + 1 < days.count ? days[index + 1] : asOf.advanced(by: 1)
            let daysOfAbsence = next.days(since: days[index]) - 1
            let postingDaysAfterAbsence = days.count - 1 - index
            // The mean number of days between days with posts, rounded down.
            let usualInterval = days[index].days(since: first) / (index + 1)
            guard daysOfAbsence >= max(shortestAbsence, absenceFactor * usualInterval) else {
                continue
            }
            if postingDaysAfterAbsence * absencePerPostingDay <= daysOfAbsence { return index + 1 }
        }
        return days.count
    }

    /// Whether there are no posts, so that no day can be planned.
    package var isEmpty: Bool { times.isEmpty }

    /// Computes the probability of each minute of `day`.
    ///
    /// - Parameters:
    ///   - configuration: The model, the weekend and the quiet minutes.
    ///   - missing: Minutes that the day lacks because clocks are put forward.
    package func distribution(
        for day: LocalDay, configuration: ScheduleConfiguration, missing: Set<MinuteOfDay> = []
    ) -> MinuteDistribution {
        switch configuration.model {
        case .raw:
            return .raw(counts: minuteCounts(), missing: missing, quiet: configuration.quiet)
        case .days, .kernel:
            let weight = HistoryWeight(asOf: asOf, target: day, weekend: configuration.weekend)
            return smoothed(weight, closed: missing.union(configuration.quiet))
        }
    }

    /// Returns the model from which the number of posts of `day` is drawn.
    ///
    /// Every day after the first archived one counts, including days without posts. The first is
    /// left out because the archive may begin in the middle of it, unless it is the only one. At
    /// most a hundred years are read.
    ///
    /// - Parameters:
    ///   - configuration: The model and the weekend.
    /// - Returns: The model, the same for every day of the same weekday.
    package func counts(for day: LocalDay, configuration: ScheduleConfiguration) -> DayCountModel {
        let historyWeight = HistoryWeight(
            asOf: asOf, target: day, weekend: configuration.weekend)
        return DayCountModel(
            dailyCounts,
            weights: dailyCounts.counts.indices.map {
                historyWeight.weight(of: dailyCounts.first.advanced(by: $0))
            },
            knowsSpells: knowsSpells(configuration))
    }

    /// Whether the days just before a day affect its number of posts.
    ///
    /// False in the raw model and for a short history.
    package func knowsSpells(_ configuration: ScheduleConfiguration) -> Bool {
        configuration.model != .raw && dailyCounts.counts.count >= DailyCounts.fewestForSpells
    }

    /// Whether a day copies the minutes of one of the human's days, and not only their number.
    package func copiesDays(_ configuration: ScheduleConfiguration) -> Bool {
        configuration.model == .days && configuration.bursts && knowsSpells(configuration)
    }

    /// The human's minutes of one day, ascending; none for an unknown day.
    package func minutes(of day: LocalDay) -> [MinuteOfDay] {
        var low = 0
        var high = days.count
        while low < high {
            let middle = (low + high) / 2
            if let middleDay = days[middle].first?.day, middleDay < day {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard days.indices.contains(low), days[low].first?.day == day else { return [] }
        return days[low].map(\.minute)
    }

    /// The numbers of posts of the days just before `day`: the human's posts up to `asOf`, and the
    /// bot's slots after it.
    ///
    /// - Parameters:
    ///   - planned: The numbers of slots that were planned for days after ``asOf``; a missing day
    ///     is unknown.
    package func recentDays(before day: LocalDay, planned: [LocalDay: Int]) -> RecentDays {
        let daysBefore = (1...RecentDays.length).map { day.advanced(by: -$0) }
        return RecentDays(daysBefore.map { $0 <= asOf ? dailyCounts[$0] : planned[$0] })
    }

    /// The model of how closely the human's posts follow one another.
    package func bursts() -> BurstModel {
        let profile = smoothed(HistoryWeight(asOf: asOf, target: nil), closed: [])
        return BurstModel(days: days, profile: profile.probabilities)
    }

    /// The number of posts in each minute of the day.
    package func minuteCounts() -> [Double] {
        var counts = Array(repeating: 0.0, count: MinuteOfDay.count)
        for time in times { counts[time.minute.value] += 1 }
        return counts
    }

    /// The minutes of the day near which the human has posted.
    package func usedMinutes() -> UsedMinutes { UsedMinutes(posts: minuteCounts()) }

    private func smoothed(_ historyWeight: HistoryWeight, closed: Set<MinuteOfDay>)
        -> MinuteDistribution
    {
        var weights = Array(repeating: 0.0, count: MinuteOfDay.count)
        var squares = 0.0
        for posts in days {
            guard let day = posts.first?.day else { continue }
            let weightOfDay = historyWeight.weight(of: day)
            for post in posts { weights[post.minute.value] += weightOfDay }
            squares += weightOfDay * weightOfDay * Double(posts.count)
        }
        return .kernel(weights: weights, squares: squares, closed: closed)
    }

    private static func postCounts(of days: [ArraySlice<LocalTime>], asOf: LocalDay)
        -> DailyCounts
    {
        guard let first = days.first?.first?.day else { return DailyCounts([], from: asOf) }
        guard first < asOf else { return DailyCounts([days[0].count], from: first) }
        // At most a hundred years, in days.
        let earliest = max(first.advanced(by: 1), asOf.advanced(by: -36_524))
        var counts = Array(repeating: 0, count: asOf.days(since: earliest) + 1)
        for posts in days {
            guard let day = posts.first?.day, day >= earliest else { continue }
            counts[day.days(since: earliest)] = posts.count
        }
        return DailyCounts(counts, from: earliest)
    }

    /// The local time that is `minutes` minutes after 00:00 of the day with ordinal 0.
    private static func time(at minutes: Int) -> LocalTime? {
        let remainder = minutes % MinuteOfDay.count
        let minute = remainder < 0 ? remainder + MinuteOfDay.count : remainder
        return MinuteOfDay(minute).map {
            LocalTime(day: LocalDay(ordinal: (minutes - minute) / MinuteOfDay.count), minute: $0)
        }
    }

    /// Splits ascending times into one slice for each day.
    private static func split(_ times: [LocalTime]) -> [ArraySlice<LocalTime>] {
        var days: [ArraySlice<LocalTime>] = []
        var start = 0
        for index in times.indices
        where index + 1 == times.count || times[index + 1].day != times[index].day {
            days.append(times[start...index])
            start = index + 1
        }
        return days
    }
}

/// The weight of a past day for the planned day.
package struct HistoryWeight: Sendable {
    /// The last day of the history; ages are counted back from it, so that an archive that no
    /// longer grows keeps its profile.
    package let asOf: LocalDay
    /// The planned day; nil to weigh by age alone.
    package let target: LocalDay?
    /// The days of the week that count as weekend.
    package let weekend: Set<Int>

    package init(asOf: LocalDay, target: LocalDay?, weekend: Set<Int> = [6, 7]) {
        self.asOf = asOf
        self.target = target
        self.weekend = weekend
    }

    /// The weight of all posts of `day`.
    package func weight(of day: LocalDay) -> Double {
        Self.recency(ageInDays: asOf.days(since: day)) * weekdayFactor(of: day)
    }

    /// Returns the weight by age: 1 for a day of age 0, half of that after 120 days and so on, but
    /// never less than 0.02.
    package static func recency(ageInDays age: Int) -> Double {
        0.02 + 0.98 * exp2(-Double(max(0, age)) / 120)
    }

    /// Returns the weight by weekday.
    ///
    /// It is 2 for the weekday of the planned day. For other weekdays it is 1 if both are working
    /// days or both are on the weekend, else 0.3.
    private func weekdayFactor(of day: LocalDay) -> Double {
        guard let target else { return 1 }
        if day.weekday == target.weekday { return 2 }
        return weekend.contains(day.weekday) == weekend.contains(target.weekday) ? 1 : 0.3
    }
}
