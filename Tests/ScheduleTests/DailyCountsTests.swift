import Expectations
import Foundation
import Posts
import Schedule
import Testing

/// Days like the last three.
@Suite struct DailyCountsTests {
    /// A day to plan, what is known of the days before it, and what follows from that.
    struct Vector: Sendable {
        var day: String
        var recent: [Int?]
        /// Of the days 1, 2 and 13.
        var likeness: [Double]
        var sum: Double
        /// The chance of 0 to 5 posts.
        var chances: [Double]
        /// The number drawn at .1, .25, .5, .75 and .9.
        var drawn: [Int]
    }

    /// From Monday 2026-03-02 on.
    private static let counts = [2, 0, 0, 3, 4, 0, 1, 0, 5, 2, 2, 0, 1, 3]

    private static let vectors = [
        Vector(
            day: "2026-03-16", recent: [3, 1, 0], likeness: [0.597065, 0.019749, 0.335901],
            sum: 3.410842459,
            chances: [0.452477, 0.002935, 0.266047, 0.032981, 0.244204, 0.001355],
            drawn: [0, 4, 0, 2, 2]),
        // The plan of the 16th had no slot.
        Vector(
            day: "2026-03-17", recent: [0, 3, 1], likeness: [0.063927, 0.876453, 0.335901],
            sum: 2.752042312,
            chances: [0.471736, 0.160128, 0.016868, 0.219848, 0.006820, 0.124601],
            drawn: [0, 0, 3, 5, 1]),
        // Only the plan of the 17th is known.
        Vector(
            day: "2026-03-20", recent: [nil, nil, 5], likeness: [0.070239, 0.002223, 0.002223],
            sum: 1.196107967,
            chances: [0.777955, 0.037574, 0.178688, 0.001434, 0.003533, 0.000816],
            drawn: [1, 2, 0, 0, 0]),
        Vector(
            day: "2026-04-20", recent: [nil, nil, nil], likeness: [1, 1, 1], sum: 12.655846507,
            chances: [0.401612, 0.046355, 0.301757, 0.098373, 0.075092, 0.076810],
            drawn: [2, 0, 0, 2, 0]),
    ]

    @Test(arguments: vectors) func theReferenceValuesAreFound(vector: Vector) throws {
        let first = try day("2026-03-02")
        let past = DailyCounts(Self.counts, from: first)
        let likeness = past.likeness(to: RecentDays(vector.recent))
        expect(zip([1, 2, 13], vector.likeness), "\(likeness)") {
            $0.allSatisfy { abs(likeness[$0] - $1) < 1e-6 }
        }
        #expect(likeness[0] == (vector.day == "2026-04-20" ? 1 : 0))
        let weight = HistoryWeight(asOf: try day("2026-03-15"), target: try day(vector.day))
        let weights = Self.counts.indices.map { weight.weight(of: first.advanced(by: $0)) }
        #expect(abs(zip(weights, likeness).reduce(0) { $0 + $1.0 * $1.1 } - vector.sum) < 1e-8)
        let counts = DayCountModel(past, weights: weights, knowsSpells: true)
            .distribution(after: RecentDays(vector.recent))
        for (count, chance) in vector.chances.enumerated() {
            #expect(abs(counts.probability(of: count) - chance) < 1e-6, "\(count) posts")
        }
        #expect([0.1, 0.25, 0.5, 0.75, 0.9].map { counts.count(atUniform: $0) } == vector.drawn)
        // The first day, before which nothing is known, is never drawn.
        if vector.day != "2026-04-20" { #expect(counts.count(atUniform: 0) == 0) }
    }

    /// So many days with 0, 1, 2, 3 … posts and again, after one that does not count.
    private static func history(days: Int) throws -> PostingHistory {
        let first = try day("2026-01-01")
        var times = [LocalTime(day: first, minute: try minute(600))]
        for offset in 1...days {
            for number in 0..<offset % 5 {
                times.append(
                    LocalTime(
                        day: first.advanced(by: offset), minute: try minute(600 + number * 20)))
            }
        }
        return PostingHistory(times: times, asOf: first.advanced(by: days))
    }

    @Test(arguments: [
        (59, ScheduleModel.kernel, false), (60, .kernel, true), (59, .days, false),
        (60, .days, true),
        (400, .raw, false),
    ])
    func shortPastsAndTheRawModelKnowNoSpells(days: Int, model: ScheduleModel, knows: Bool) throws {
        let history = try Self.history(days: days)
        let configuration = ScheduleConfiguration(model: model)
        #expect(history.dailyCounts.counts.count == days)
        #expect(history.knowsSpells(configuration) == knows)
        let counts = history.counts(for: history.asOf.advanced(by: 1), configuration: configuration)
        let quiet = RecentDays([0, 0, 0])
        let busy = RecentDays([4, 4, 4])
        #expect((counts.distribution(after: quiet) != counts.distribution(after: busy)) == knows)
        #expect(
            (counts.distribution(after: quiet) != counts.distribution(after: .unknown)) == knows)
    }

    @Test func theHumansDaysCountAsFarAsTheyAreKnown() throws {
        let history = try Self.history(days: 62)
        let last = history.asOf
        // 60, 61 and 62 days after the first: 0, 1 and 2 posts.
        #expect(
            history.recentDays(before: last.advanced(by: 1), planned: [last: 9])
                == RecentDays([2, 1, 0]))
        let planned = [last.advanced(by: 1): 7, last.advanced(by: 3): 5]
        #expect(
            history.recentDays(before: last.advanced(by: 2), planned: planned)
                == RecentDays([7, 2, 1]))
        #expect(
            history.recentDays(before: last.advanced(by: 4), planned: planned)
                == RecentDays([5, nil, 7]))
        #expect(history.recentDays(before: last.advanced(by: 9), planned: planned) == .unknown)
        #expect(RecentDays([5, nil, 7]).mean == 6)
        #expect(RecentDays.unknown.mean == nil)
        #expect(RecentDays([nil, 4, 1]).yesterday == nil)
        #expect(RecentDays([nil, 4, 1]).mean == 2.5)
    }

    @Test func daysThatAreNotPlannedYetArePreviewedFirst() throws {
        let planner = DayPlanner(
            history: try Self.history(days: 200), configuration: ScheduleConfiguration())
        let today = planner.history.asOf.advanced(by: 40)
        let yesterday = today.advanced(by: -1)
        var planned = [yesterday: 4, today.advanced(by: -3): 0]
        let stored = planned
        for offset in 0..<10 {
            let day = today.advanced(by: offset)
            let recent = planner.recentDays(
                before: day, planned: stored, from: today, in: .gmt, mirror: "m")
            #expect(recent == planner.history.recentDays(before: day, planned: planned))
            planned[day] = try #require(
                planner.plan(for: day, in: .gmt, mirror: "m", after: recent)
            ).slots.count
        }
        #expect(Set(planned.values).count > 2)
        // A day in between that is stored counts as it is stored.
        let third = today.advanced(by: 2)
        let other = planner.recentDays(
            before: third.advanced(by: 1), planned: [third: 40], from: today, in: .gmt, mirror: "m")
        #expect(other.yesterday == 40)
        // Days that passed without a plan stay unknown, and a day far away costs no more than a
        // year of them.
        #expect(
            planner.recentDays(before: today, planned: [:], from: today, in: .gmt, mirror: "m")
                == .unknown)
        let far = planner.recentDays(
            before: .latest, planned: [:], from: today, in: .gmt, mirror: "m")
        #expect(far.yesterday != nil)
    }
}
