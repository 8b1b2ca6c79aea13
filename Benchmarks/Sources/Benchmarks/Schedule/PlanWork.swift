import Foundation
import Posts
import Sandbox
import Schedule

extension Work {
    /// Everything between the archive's rows and a day's slots: sorting the history, its profile, its bursts, the draw.
    static let plan = Work(name: "plan") { bench in
        let times = PastTimes.make(count: 10_000)
        var figures: [Double] = []
        var slots = 0
        for round in 0..<(bench.pairs * 10) {
            let time = await bench.elapsed {
                let planner = DayPlanner(
                    history: PostingHistory(times: times), configuration: ScheduleConfiguration())
                let day = planner.history.asOf.advanced(by: 1)
                slots += planner.plan(for: day, in: .gmt, mirror: "bench", seed: "\(round)")?.slots.count ?? 0
            }
            figures.append(time.seconds * 1_000)
        }
        guard slots > 0 else { throw BaselineError(description: "no day had a slot") }
        return [
            .limited(
                "plan", "build a profile and plan a day from 10,000 posts", figures, limit: 5, unit: "ms")
        ]
    }
}

/// When somebody posted in eight years: some five posts a day, more in the evening, some close to one another, and days
/// without any.
enum PastTimes {
    static func make(count: Int, seed: UInt64 = 11) -> [PostingTime] {
        var generator = SampleGenerator(seed: seed)
        var times: [PostingTime] = []
        var day = LocalDay(ordinal: 17_000)
        while times.count < count {
            day = day.advanced(by: generator.chance(0.2) ? 3 : 1)
            for _ in 0..<(1 + generator.number(below: 9)) {
                // The sum of two even draws is most often in the middle.
                let minute = 360 + generator.number(below: 540) + generator.number(below: 540)
                times += [PostingTime(day: day, minute: MinuteOfDay(hour: 0, minute: minute))]
                if generator.chance(0.3) {
                    let next = min(minute + generator.number(below: 25), MinuteOfDay.count - 1)
                    times.append(PostingTime(day: day, minute: MinuteOfDay(hour: 0, minute: next)))
                }
            }
        }
        return Array(times.prefix(count))
    }
}
