import Posts

/// When the human of the sandbox posts: early, at noon and in the evening, later on weekends, in bursts, or not at all.
struct SampleRhythm {
    /// A time of day around which posts gather, in minutes.
    private struct Habit {
        var center: Double
        var spread: Double
        var weight: Double
    }

    private static let weekday: [Habit] = [
        Habit(center: 465, spread: 28, weight: 0.34),
        Habit(center: 745, spread: 22, weight: 0.22),
        Habit(center: 930, spread: 50, weight: 0.08),
        Habit(center: 1_120, spread: 35, weight: 0.12),
        Habit(center: 1_300, spread: 50, weight: 0.24),
    ]

    private static let weekend: [Habit] = [
        Habit(center: 575, spread: 55, weight: 0.3),
        Habit(center: 840, spread: 110, weight: 0.36),
        Habit(center: 1_335, spread: 45, weight: 0.34),
    ]

    /// Seconds since local midnight of the posts of one day, in order.
    static func seconds(on day: LocalDay, generator: inout SampleGenerator) -> [Int] {
        let isWeekend = day.weekday >= 6
        guard !generator.chance(isWeekend ? 0.18 : 0.1) else { return [] }
        let count = 1 + generator.number(below: 6) + generator.number(below: isWeekend ? 5 : 7)
        var seconds = (0..<count).map { _ in second(from: isWeekend ? weekend : weekday, generator: &generator) }
        if generator.chance(0.25), let start = generator.element(of: seconds) {
            seconds += burst(after: start, generator: &generator)
        }
        return Set(seconds.filter { (0..<86_400).contains($0) }).sorted()
    }

    private static func second(from habits: [Habit], generator: inout SampleGenerator) -> Int {
        var draw = generator.uniform()
        var chosen = habits[0]
        for habit in habits {
            chosen = habit
            draw -= habit.weight
            if draw < 0 { break }
        }
        let minute = chosen.center + chosen.spread * generator.normal()
        return Int(minute * 60) + generator.number(below: 60)
    }

    private static func burst(after start: Int, generator: inout SampleGenerator) -> [Int] {
        var second = start
        return (0..<1 + generator.number(below: 4)).map { _ in
            second += 90 + generator.number(below: 700)
            return second
        }
    }
}
