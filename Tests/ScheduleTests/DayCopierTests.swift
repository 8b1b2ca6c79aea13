import Expectations
import Foundation
import Posts
import Testing

@testable import Schedule

/// Days copied by rank.
@Suite struct DayCopierTests {
    private static let even = MinuteDistribution(
        shares: Array(repeating: 1.0 / 1_440, count: 1_440), closed: [], rounding: .atLeastOne)
    /// The copy of some minutes, and how many of the numbers were not used; where they are used up,
    /// 0.5 moves nothing.
    private func copy(
        _ past: [Int], _ uniforms: [Double], gap: Int = 1,
        of distribution: MinuteDistribution = even
    ) throws -> (minutes: [Int], rest: Int) {
        var rest = uniforms[...]
        let minutes = DayCopier(distribution: distribution, minimumGapMinutes: gap)
            .minutes(like: try past.map(minute)) { rest.popFirst() ?? 0.5 }
        return (minutes.map(\.value), rest.count)
    }

    @Test func theReferenceValuesAreFound() throws {
        // The day moves by .04 · (1.75 − 1.5) = .01, and no post besides.
        let uniforms = [0.25, 0.75, 0.75] + Array(repeating: 0.5, count: 12)
        let found = try copy([540, 545, 1_435], uniforms)
        #expect(found.minutes == [554, 559, 1_430])
        #expect(found.rest == 0)
    }

    @Test func eachNumberHasItsPlace() throws {
        // Three for the day, then for each post one within its minute and three for its own move.
        let found = try copy([600, 720], [0.5, 0.5, 0.5, 0, 1, 0.75, 0.75, 0.9, 0.5, 0.5, 0.5])
        // 600 + 1440 · .004 · 1 = 605.76.
        #expect(found.minutes == [605, 720])
        #expect(found.rest == 0)
        // A day without posts still has moved.
        try expect(copy([], [0.1, 0.2, 0.3, 0.4]).rest, equals: 1)
    }

    @Test func ranksAndNotHoursAreCopied() throws {
        // Half of the mass lies in the morning, half in the evening: what was at the end of the one
        // stays there.
        let halves = [480..<540, 1_200..<1_260]
        let shares: [Double] = (0..<1_440).map { minute in
            halves.contains { $0.contains(minute) } ? 1.0 / 120 : 0
        }
        let twice = MinuteDistribution(shares: shares, closed: [], rounding: .down)
        // .04 · .25 = .01 of the mass are 1.2 minutes.
        let uniforms = [0.25, 0.75, 0.75] + Array(repeating: 0.5, count: 12)
        try expect(
            copy([490, 539, 1_230], uniforms, of: twice).minutes, equals: [491, 1_200, 1_231])
        // Minutes that the human used and the day does not have are at the end of what comes before
        // them.
        try expect(copy([900], [], of: twice).minutes, equals: [1_200])
    }

    @Test func whatIsMovedPastAnEndComesBack() throws {
        // .04 · −1.5 = −.06: 5.5 − 86.4 is reflected to 80.9.
        try expect(copy([5], [0, 0, 0]).minutes, equals: [80])
        // 1439.5 + 86.4 · .9 = 1517.26 is reflected to 1362.74.
        try expect(copy([1_439], [1, 1, 0.85]).minutes, equals: [1_362])
    }

    @Test func aTakenMinuteGoesOnToTheNext() throws {
        // The second of a pair is moved back by .004 · .25 of the day, 1.44 minutes, to the minute
        // of the first.
        let back = [0.5, 0.5, 0.5] + [0.5, 0.5, 0.5, 0.5] + [0.5, 0.5, 0.5, 0.25]
        try expect(copy([600, 601], back).minutes, equals: [600, 601])
        // After midnight it goes on with the same day.
        try expect(copy([1_439, 1_439, 1_439], [], gap: 2).minutes, equals: [0, 2, 1_439])
        // Its own minute and sixty steps.
        let walked = try copy(Array(repeating: 600, count: 70), [], gap: 2).minutes
        #expect(walked == Array(stride(from: 600, through: 660, by: 2)))
        try expect(copy([600, 600, 603], [], gap: 5).minutes, equals: [600, 605, 610])
    }

    /// Each draws its numbers, so that the posts after them are where they would be otherwise.
    @Test func twoPostsOfOneMinuteStayTogether() throws {
        let uniforms = [0.25, 0.75, 0.75] + Array(repeating: 0.5, count: 16)
        let found = try copy([540, 540, 540, 1_000], uniforms)
        #expect(found.minutes == [554, 554, 555, 1_014])
        #expect(found.rest == 0)
        // Others that happen to meet do not share a minute.
        let back = [0.5, 0.5, 0.5] + Array(repeating: 0.5, count: 8) + [0.5, 0.5, 0.5, 0.25]
        try expect(copy([600, 600, 601], back).minutes, equals: [600, 600, 601])
    }

    @Test(
        arguments: [
            (9, 3, [1, 4, 7]), (4, 3, [0, 2, 3]), (10, 1, [5]), (3, 3, [0, 1, 2]), (2, 5, [0, 1]),
            (5, 0, []),
            (100, 4, [12, 37, 62, 87]),
        ] as [(Int, Int, [Int])])
    func ofTooManyPostsSomeOfEachPartOfTheDayAreKept(_ count: Int, _ limit: Int, _ kept: [Int])
        throws
    {
        let minutes = try (0..<count).map { try minute($0) }
        #expect(DayModel.thinned(minutes, to: limit).map(\.value) == kept)
    }

    @Test func closedMinutesAreNeverChosen() throws {
        func closed(_ minutes: some Sequence<Int>) throws -> MinuteDistribution {
            MinuteDistribution(
                shares: Array(repeating: 1.0 / 1_440, count: 1_440),
                closed: Set(try minutes.map(minute)),
                rounding: .atLeastOne)
        }
        let short = try closed(601..<640)
        // The share of 600 among the 1,401 open minutes.
        let found = try copy([600, 600, 620], [], of: short).minutes
        #expect(found == [600, 600, 640])
        // No post waits for longer than an hour: the third one is dropped.
        try expect(copy([600, 600, 600], [], of: closed(601..<661)).minutes, equals: [600, 600])
        try expect(copy([600, 700], [], of: closed(0..<1_440)).minutes, equals: [])
        var generator = SplitMix64(seed: 3)
        for _ in 0..<200 {
            let past = (0..<12).map { _ in Int(generator.nextUniform() * 1_440) }.sorted()
            let minutes = DayCopier(distribution: short).minutes(like: try past.map(minute)) {
                generator.nextUniform()
            }
            expect(minutes) { $0.allSatisfy { !(601..<640).contains($0.value) } }
            #expect(minutes.count == 12)
            // Only posts of one minute share a minute.
            #expect(Set(minutes).count >= Set(past).count)
            #expect(minutes == minutes.sorted())
        }
    }

    @Test func aRankIsTheInverseOfADraw() throws {
        let distribution = try Weighting().distribution
        for value in stride(from: 0, to: 1_440, by: 7) {
            for part in [0.001, 0.25, 0.999] {
                let rank = try #require(distribution.uniform(at: try minute(value), part: part))
                #expect(distribution.minute(atUniform: rank)?.value == value)
            }
        }
        #expect(rawDistribution([]).uniform(at: try minute(5), part: 0.5) == nil)
    }
}

/// Plans that take after one of the human's days.
@Suite struct CopiedPlanTests {
    private static func planner(
        days: Int = 200, _ configuration: ScheduleConfiguration = ScheduleConfiguration(),
        perDay: Int = 5
    ) throws -> DayPlanner {
        let last = try day("2026-01-29")
        // The first day is none of the history, for it may have begun in the middle.
        var times = [LocalTime(day: last.advanced(by: -days), minute: try minute(600))]
        var generator = SplitMix64(seed: 8)
        for offset in 0..<days {
            let start = 420 + Int(generator.nextUniform() * 800)
            for number in 0..<offset % perDay {
                times.append(
                    LocalTime(
                        day: last.advanced(by: -offset), minute: try minute(start + number * 4)))
            }
        }
        return DayPlanner(
            history: PostingHistory(times: times, asOf: last), configuration: configuration)
    }

    @Test func aPlanIsTheCopyOfTheDayThatItNames() throws {
        let planner = try Self.planner()
        let first = try day("2026-01-30")
        var posts: Set<Int> = []
        for offset in 0..<60 {
            let day = first.advanced(by: offset)
            let recent = RecentDays([offset % 4, 1, 2])
            let plan = try #require(planner.plan(for: day, in: .gmt, mirror: "m", after: recent))
            let pattern = try #require(plan.pattern)
            let past = planner.history.minutes(of: pattern.day)
            #expect(pattern.posts == past.count)
            posts.insert(past.count)
            var generator = SplitMix64(seed: plan.seed)
            let model = planner.model(for: day)
            let index = try #require(
                model.counts.distribution(after: recent).index(atUniform: generator.nextUniform()))
            #expect(planner.history.dailyCounts.first.advanced(by: index) == pattern.day)
            let copy = model.copier.minutes(like: past) { generator.nextUniform() }
            #expect(plan.slots.map(\.minute) == copy)
            #expect(plan.slots.count == past.count)
        }
        #expect(posts == [0, 1, 2, 3, 4])
    }

    @Test(arguments: [
        (60, ScheduleConfiguration(), true), (59, ScheduleConfiguration(), false),
        (200, ScheduleConfiguration(model: .kernel), false),
        (200, ScheduleConfiguration(model: .raw), false),
        (200, ScheduleConfiguration(bursts: false), false),
    ])
    func daysAreCopiedFromSixtyOnUnlessSetOtherwise(
        _ days: Int, _ configuration: ScheduleConfiguration, _ isCopied: Bool
    ) throws {
        let planner = try Self.planner(days: days, configuration)
        #expect(planner.history.dailyCounts.counts.count == days)
        var older = configuration
        if older.model == .days { older.model = .kernel }
        let before = try Self.planner(days: days, older)
        var differ = false
        for offset in 0..<20 {
            let day = try day("2026-01-30").advanced(by: offset)
            let plan = try #require(planner.plan(for: day, in: .gmt, mirror: "m"))
            let drawn = try #require(before.plan(for: day, in: .gmt, mirror: "m"))
            #expect((plan.pattern != nil) == isCopied)
            #expect(drawn.pattern == nil)
            if plan.slots != drawn.slots { differ = true }
        }
        #expect(differ == isCopied)
    }

    @Test func ofTooManyPostsAsManyAreCopiedAsMayBe() throws {
        let all = try Self.planner(perDay: 9)
        let few = try Self.planner(ScheduleConfiguration(maximumPerDay: 3), perDay: 9)
        var shortened = 0
        for offset in 0..<60 {
            let day = try day("2026-01-30").advanced(by: offset)
            let plan = try #require(few.plan(for: day, in: .gmt, mirror: "m"))
            let whole = try #require(all.plan(for: day, in: .gmt, mirror: "m"))
            #expect(plan.pattern == whole.pattern)
            #expect(plan.slots.count == min(3, whole.slots.count))
            if whole.slots.count > 3 { shortened += 1 }
        }
        #expect(shortened > 10)
    }

    @Test func aDayOfWhichAllTimesWereLostIsADayWithoutPosts() throws {
        // What an archive lost is in no history, so that neither a number nor a minute of it is
        // left.
        let planner = try Self.planner()
        let silent = try #require(
            (0..<200).map { planner.history.asOf.advanced(by: -$0) }.first {
                planner.history.minutes(of: $0).isEmpty
            })
        #expect(planner.history.dailyCounts[silent] == 0)
        #expect(planner.history.minutes(of: planner.history.asOf.advanced(by: 1)).isEmpty)
        #expect(planner.history.minutes(of: planner.history.asOf.advanced(by: -5_000)).isEmpty)
    }

    @Test func previewsCountTheSlotsOfTheDaysBefore() throws {
        // A frozen archive: the third day begins in the state that the copies of the first two
        // left.
        let planner = try Self.planner()
        let first = planner.history.asOf.advanced(by: 1)
        var planned: [LocalDay: Int] = [:]
        for offset in 0..<10 {
            let day = first.advanced(by: offset)
            let recent = planner.recentDays(
                before: day, planned: [:], from: first, in: .gmt, mirror: "m")
            #expect(recent == planner.history.recentDays(before: day, planned: planned))
            planned[day] = planner.plan(for: day, in: .gmt, mirror: "m", after: recent)?.slots.count
        }
        #expect(Set(planned.values).count > 1)
    }
}
