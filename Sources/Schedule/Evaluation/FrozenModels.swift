import Foundation
import Posts

/// The models of days in a row that come after everything that was learned.
///
/// Most days share theirs with all other days of the same weekday, so a
/// thousand of them cost little more than seven.
struct FrozenModels {
    private struct Kind: Hashable {
        let weekday: Int
        let missing: [MinuteOfDay]
    }

    private let firstDay: LocalDay
    /// Nil for a day that the zone skips.
    private let models: [DayModel?]

    /// - Parameters:
    ///   - planner: With what was learned.
    ///   - zone: The zone whose clocks show the days; nil for days of 1,440 minutes.
    ///   - firstDay: The first of the days.
    ///   - count: The number of days.
    init(planner: DayPlanner, zone: TimeZone?, firstDay: LocalDay, count: Int) {
        var known: [Kind: DayModel] = [:]
        self.firstDay = firstDay
        models = (0..<count).map { offset in
            let day = firstDay.advanced(by: offset)
            let minutes = zone.map { LocalDayMinutes(day, in: $0) }
            if let minutes, minutes.count == 0 { return nil }
            let kind = Kind(weekday: day.weekday, missing: minutes?.missing ?? [])
            let model = known[kind] ?? planner.model(for: day, missing: Set(kind.missing))
            known[kind] = model
            return model
        }
    }

    /// The days that there are, ascending.
    var days: [LocalDay] { models.indices.filter { models[$0] != nil }.map(firstDay.advanced(by:)) }

    /// The mean over the posts of ln p(minute), where each post's day chooses the profile; -infinity if one has no mass.
    func logLikelihood(of posts: [PostingTime]) -> Double {
        let sum = posts.reduce(0) { sum, post in
            let index = post.day.days(since: firstDay)
            let model = models.indices.contains(index) ? models[index] : nil
            return sum + log(model?.sampler.distribution.probabilities[post.minute.value] ?? 0)
        }
        return sum / Double(posts.count)
    }

    /// The days as a bot lives them.
    func simulated(seed: UInt64) -> Rhythm {
        var generator = SplitMix64(seed: seed)
        return Rhythm(days: models.compactMap { $0?.minutes(using: &generator) })
    }
}
