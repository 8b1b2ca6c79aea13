import Expectations
import Foundation
import Posts
import Schedule
import Testing

@Suite struct DayPlannerTests {
    @Test func emptyArchiveHasNoPlan() throws {
        let planner = DayPlanner(
            history: PostingHistory(times: []), configuration: ScheduleConfiguration())
        expect(
            planner.plan(for: try day("2026-01-30"), in: try zone("Asia/Tokyo"), mirror: "m"),
            equals: nil)
    }

    @Test func dayThatDoesNotExistHasNoPlan() throws {
        let planner = try Self.planner(asOf: "2011-12-29")
        expect(
            planner.plan(for: try day("2011-12-30"), in: try zone("Pacific/Apia"), mirror: "m"),
            equals: nil)
        #expect(
            planner.plan(for: try day("2011-12-31"), in: try zone("Pacific/Apia"), mirror: "m")
                != nil)
    }

    @Test func sameMirrorAndDayGiveTheSamePlan() throws {
        let planner = try Self.planner()
        let tokyo = try zone("Asia/Tokyo")
        var plans: Set<[Int]> = []
        for offset in 0..<30 {
            let day = try day("2026-01-30").advanced(by: offset)
            let plan = try #require(planner.plan(for: day, in: tokyo, mirror: "m"))
            #expect(plan == planner.plan(for: day, in: tokyo, mirror: "m"))
            plans.insert(plan.slots.map(\.minute.value))
        }
        #expect(plans.count > 10)
    }

    @Test func daysOfAWeekdayShareTheirModel() throws {
        let planner = try Self.planner()
        let start = try day("2026-01-30")
        for offset in 0..<14 {
            let day = start.advanced(by: offset)
            let plan = try #require(planner.plan(for: day, in: .gmt, mirror: "m"))
            var generator = SplitMix64(seed: plan.seed)
            let minutes = planner.model(for: start.advanced(by: offset % 7)).minutes(
                using: &generator)
            #expect(minutes == plan.slots.map(\.minute))
        }
    }

    @Test func settingsAreThoseOfTheSpecificationUnlessChanged() {
        let usual = ScheduleConfiguration()
        #expect(usual.model == .days)
        #expect(usual.bursts)
        #expect(usual.minimumGapMinutes == 1)
        #expect(usual.maximumPerDay == 50)
        #expect(usual.graceMinutes == 15)
        #expect(usual.weekend == [6, 7])
        #expect(usual.quiet.isEmpty)
    }

    @Test func otherSeedsGiveOtherPlans() throws {
        let planner = try Self.planner()
        let tokyo = try zone("Asia/Tokyo")
        let day = try day("2026-01-30")
        let seeds: [UInt64] = [
            try #require(planner.plan(for: day, in: tokyo, mirror: "m")).seed,
            try #require(planner.plan(for: day, in: tokyo, mirror: "n")).seed,
            try #require(planner.plan(for: day, in: tokyo, mirror: "m", seed: "again")).seed,
        ]
        #expect(Set(seeds).count == 3)
    }

    @Test(arguments: ["America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Tokyo"])
    func slotsAreNumberedInOrderAndOnTheirLocalDay(identifier: String) throws {
        let zone = try zone(identifier)
        let planner = try Self.planner()
        // The days on which clocks change, and some around them.
        let starts = ["2026-03-06", "2026-04-03", "2026-04-22", "2026-10-02", "2026-10-28"]
            .compactMap(LocalDay.init)
        for day in starts.flatMap({ start in (0..<6).map(start.advanced(by:)) }) {
            let plan = try #require(planner.plan(for: day, in: zone, mirror: "m"))
            #expect(plan.slots.map(\.name.number) == Array(1..<plan.slots.count + 1))
            for slot in plan.slots {
                let shown = LocalTime(slot.due, in: zone)
                #expect(shown.day == day)
                #expect(shown.minute == slot.minute)
            }
            expect(zip(plan.slots, plan.slots.dropFirst())) {
                $0.allSatisfy { $0.minute < $1.minute && $0.due < $1.due }
            }
        }
    }

    @Test func numbersGoOnWhenADayIsPlannedAnew() throws {
        let planner = try Self.planner(configuration: ScheduleConfiguration(bursts: false))
        let tokyo = try zone("Asia/Tokyo")
        let start = try day("2026-01-30")
        let plan = try #require(
            (0..<60).lazy.compactMap {
                planner.plan(
                    for: start.advanced(by: $0), in: tokyo, mirror: "m", seed: "again",
                    firstNumber: 8)
            }.first { $0.slots.count >= 2 })
        #expect(plan.slots.map(\.name.number).prefix(2) == [8, 9])
        #expect(plan.slots[1].name.description == "\(plan.day)#9")
    }

    @Test func quietMinutesAndTheDailyLimitHold() throws {
        let quiet = Set(try (0..<420).map(minute)).union(try (1_380..<1_440).map(minute))
        let planner = try Self.planner(
            configuration: ScheduleConfiguration(maximumPerDay: 3, quiet: quiet))
        let tokyo = try zone("Asia/Tokyo")
        var counts: Set<Int> = []
        for offset in 0..<120 {
            let plan = try #require(
                planner.plan(
                    for: try day("2026-01-30").advanced(by: offset), in: tokyo, mirror: "m"))
            counts.insert(plan.slots.count)
            expect(plan.slots) { $0.allSatisfy { !quiet.contains($0.minute) } }
        }
        #expect(counts == [0, 1, 2, 3])
    }

    @Test func dayOfZeroPostsIsAnEmptyPlan() throws {
        let history = PostingHistory(
            times: [try posting("2025-01-01", 5)], asOf: try day("2026-01-29"))
        let planner = DayPlanner(history: history, configuration: ScheduleConfiguration())
        let plan = try #require(
            planner.plan(for: try day("2026-01-30"), in: try zone("UTC"), mirror: "m"))
        #expect(plan.slots.isEmpty)
    }

    @Test func rawArchiveLosesMissingMinutesOnly() throws {
        let newYork = try zone("America/New_York")
        let history = PostingHistory(
            times: try [60, 150, 720, 720].map { try posting("2026-01-01", $0) })
        let raw = ScheduleConfiguration(model: .raw)
        let spring = LocalDayMinutes(try day("2026-03-08"), in: newYork)
        let short = history.distribution(
            for: spring.day, configuration: raw, missing: Set(spring.missing))
        #expect(agree(short.probabilities[60], 1 / 3) && agree(short.probabilities[720], 2 / 3))
        #expect(short.minute(atUniform: 0.33)?.value == 60)
        #expect(short.minute(atUniform: 0.34)?.value == 720)
        let autumn = LocalDayMinutes(try day("2026-11-01"), in: newYork)
        let long = history.distribution(
            for: autumn.day, configuration: raw, missing: Set(autumn.missing))
        #expect(long.minute(atUniform: 0.3)?.value == 150)
        #expect(long.minute(atUniform: 0.1)?.value == 60)
    }

    @Test func rawArchiveOfMissingMinutesMovesForward() throws {
        let spring = LocalDayMinutes(try day("2026-03-08"), in: try zone("America/New_York"))
        let moved = rawDistribution([120, 150, 150], missing: Set(spring.missing))
        #expect(moved.minute(atUniform: 0)?.value == 180)
        #expect(moved.minute(atUniform: 0.5)?.value == 210)
        #expect(agree(moved.probabilities[210], 2 / 3))
    }

    @Test func meanNumberOfPostsFollowsTheHuman() throws {
        let planner = try Self.planner()
        let tokyo = try zone("Asia/Tokyo")
        let start = try day("2026-01-30")
        var expected = 0.0
        var variance = 0.0
        var planned = 0
        for offset in 0..<300 {
            let day = start.advanced(by: offset)
            let counts = planner.model(for: day).counts.distribution(after: .unknown)
            let mean = counts.mean
            expected += mean
            variance += Set(counts.counts).reduce(0.0) { sum, count in
                sum + counts.probability(of: count) * (Double(count) - mean)
                    * (Double(count) - mean)
            }
            planned += try #require(planner.plan(for: day, in: tokyo, mirror: "m")).slots.count
        }
        #expect(abs(Double(planned) - expected) < 4 * variance.squareRoot())
        #expect(expected > 6 * variance.squareRoot())
    }

    private static func planner(
        configuration: ScheduleConfiguration = ScheduleConfiguration(), asOf: String = "2026-01-29"
    ) throws -> DayPlanner {
        let last = try day(asOf)
        let times = try madeUpTimes(postCount: 600, dayCount: 400, lastDay: last, seed: 5)
        return DayPlanner(
            history: PostingHistory(times: times, asOf: last), configuration: configuration)
    }
}
