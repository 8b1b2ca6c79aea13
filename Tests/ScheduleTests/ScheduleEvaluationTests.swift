import Evaluation
import Expectations
import Foundation
import Posts
import Schedule
import Testing

@Suite struct ScheduleEvaluationTests {
    private static let usual = ScheduleEvaluation(repetitions: 3)

    /// Two thousand posts over three years, with bursts, quiet days and two peaks, in the order of
    /// time.
    private static func person(seed: UInt64 = 4) throws -> [LocalTime] {
        try madeUpTimes(
            postCount: 2_000, dayCount: 1_000, lastDay: try day("2026-06-30"), seed: seed
        ).sorted()
    }

    private static func value(_ measure: ScheduleMeasure, _ scores: ScheduleScores) throws -> Double
    {
        try #require(scores[measure], "\(measure) is missing")
    }

    /// The shares of the minutes for each weekday, from Monday on, of days after `asOf`.
    private static func week(of times: [LocalTime], asOf: LocalDay) -> [[Double]] {
        let history = PostingHistory(times: times, asOf: asOf)
        let days = (1...7).map { asOf.advanced(by: $0) }.sorted { $0.weekday < $1.weekday }
        return days.map {
            history.distribution(for: $0, configuration: ScheduleConfiguration()).probabilities
        }
    }

    @Test func likelihoodsAreThoseOfTheProfilesBeforeTheCut() throws {
        let times = try Self.person()
        let scores = try Self.usual.scores(of: times, name: "me")
        let split = try HeldOutSplit(times)
        let profiles = Self.week(of: split.training, asOf: split.asOf)
        let histogram = PlainProfile.histogram(of: split.training)
        let kernel = PlainProfile.kernel(of: split.training)
        var model = 0.0
        var plain = 0.0
        var raw = 0.0
        for post in split.testing {
            model += log(profiles[post.day.weekday - 1][post.minute.value])
            plain += log(kernel[post.minute.value])
            raw += log(histogram[post.minute.value])
        }
        let count = Double(split.testing.count)
        try expect(Self.value(.trainingPosts, scores), equals: Double(split.training.count))
        try expect(Self.value(.testedPosts, scores), equals: count)
        #expect(agree(try Self.value(.logLikelihood, scores), model / count, within: 1e-12))
        #expect(agree(try Self.value(.kernelLogLikelihood, scores), plain / count, within: 1e-12))
        #expect(agree(try Self.value(.histogramLogLikelihood, scores), raw / count, within: 1e-12))
        #expect(agree(try Self.value(.kernelGain, scores), (model - plain) / count, within: 1e-9))
        #expect(agree(try Self.value(.histogramGain, scores), (model - raw) / count, within: 1e-9))
        #expect(model / count > -log(1_440))
    }

    @Test func theHumansOwnPeriodIsComparedAsItWas() throws {
        let times = try Self.person()
        let scores = try Self.usual.scores(of: times, name: "me")
        let split = try HeldOutSplit(times)
        let before = (0..<split.dayCount).map { split.firstDay.advanced(by: $0 - split.dayCount) }
        let after = (0..<split.dayCount).map { split.firstDay.advanced(by: $0) }
        let distance = Rhythm(of: times, on: before).distance(to: Rhythm(of: times, on: after))
        #expect(scores[.humanDailyCounts] == distance.dailyCounts)
        #expect(scores[.humanGaps] == distance.gaps)
        #expect(scores[.humanFirstPost] == distance.firstMinutes)
        let recent = split.training.filter { $0.day >= before[0] }
        let profiles = Self.week(of: recent, asOf: split.asOf)
        let sum = split.testing.reduce(0) {
            $0 + log(profiles[$1.day.weekday - 1][$1.minute.value])
        }
        #expect(
            agree(
                try Self.value(.humanLogLikelihood, scores), sum / Double(split.testing.count),
                within: 1e-12))
    }

    @Test func simulatedDaysAreThePlannersOwn() throws {
        let times = try Self.person()
        let split = try HeldOutSplit(times)
        let days = (0..<split.dayCount).map { split.firstDay.advanced(by: $0) }
        let heldOut = Rhythm(of: split.testing, on: days)
        let planner = DayPlanner(
            history: PostingHistory(times: split.training, asOf: split.asOf),
            configuration: ScheduleConfiguration())
        let week = (0..<7).map { planner.model(for: split.firstDay.advanced(by: $0)) }
        let lives = (0..<3).map { repetition in
            let seed = PlanSeed.plan(
                mirror: "me", day: split.firstDay, seed: "evaluation \(repetition)")
            var generator = SplitMix64(seed: seed)
            var lived: [[MinuteOfDay]] = []
            // Each day knows those before it: the last of the human's, then the bot's own.
            let before = (1...3).map { offset in
                split.training.count { $0.day == split.firstDay.advanced(by: -offset) }
            }
            for index in days.indices {
                let recent = RecentDays(Array((lived.reversed().map(\.count) + before).prefix(3)))
                lived.append(week[index % 7].minutes(after: recent, using: &generator))
            }
            return Rhythm(days: lived)
        }
        let distances = lives.map { $0.distance(to: heldOut) }
        let expected = Rhythm.Distance.mean(of: distances)
        let scores = try Self.usual.scores(of: times, name: "me")
        #expect(scores[.dailyCounts] == expected.dailyCounts)
        #expect(scores[.gaps] == expected.gaps)
        #expect(scores[.firstPost] == expected.firstMinutes)
        #expect(scores[.weekTotals] == expected.weekTotals)
        #expect(scores[.autocorrelation] == Rhythm.meanAutocorrelation(of: lives))
        #expect(scores[.humanAutocorrelation] == heldOut.autocorrelation)
        #expect(Set(distances.map(\.gaps)).count == 3)
    }

    @Test func samePostsAndNameGiveTheSameFigures() throws {
        let times = try Self.person()
        let first = try Self.usual.scores(of: times, name: "me")
        try expect(Self.usual.scores(of: times, name: "me"), equals: first)
        let other = try Self.usual.scores(of: times, name: "you")
        #expect(other[.logLikelihood] == first[.logLikelihood])
        #expect(other[.gaps] != first[.gaps])
    }

    @Test func heldOutPostsTeachNothing() throws {
        var times = try Self.person()
        let split = try HeldOutSplit(times)
        let before = try Self.usual.scores(of: times, name: "me")
        let last = times[times.count - 1]
        let moved = try #require(MinuteOfDay((last.minute.value + 700) % 1_440))
        times[times.count - 1].minute = moved
        let after = try Self.usual.scores(of: times, name: "me")
        let profile = PostingHistory(times: split.training, asOf: split.asOf)
            .distribution(for: last.day, configuration: ScheduleConfiguration()).probabilities
        // Only the moved post's own chance changes.
        let difference = log(profile[moved.value]) - log(profile[last.minute.value])
        let found = try Self.value(.logLikelihood, after) - Self.value(.logLikelihood, before)
        #expect(agree(found * Double(split.testing.count), difference, within: 1e-9))
    }

    @Test func clockworkIsFoundAgain() throws {
        // One post a day at 09:00, always: the raw model knows all there is to know.
        let times = try (0..<200).map {
            LocalTime(day: try day("2026-01-01").advanced(by: $0), minute: try minute(540))
        }
        let raw = ScheduleEvaluation(
            configuration: ScheduleConfiguration(model: .raw), repetitions: 2)
        let scores = try raw.scores(of: times, name: "clock")
        #expect(scores[.logLikelihood] == 0)
        #expect(scores[.dailyCounts] == 0)
        #expect(scores[.firstPost] == 0)
        #expect(scores[.humanFirstPost] == 0)
        #expect(scores[.gaps] == nil)
        #expect(scores[.humanGaps] == nil)
        let smooth = try Self.usual.scores(of: times, name: "clock")
        try expect(Self.value(.firstPost, smooth)) { $0 > 0.3 }
        #expect(smooth[.dailyCounts] == 0)
    }

    @Test func theRawHistogramRulesOutWhatItNeverSaw() throws {
        var times = try (0..<200).map {
            LocalTime(day: try day("2026-01-01").advanced(by: $0), minute: try minute(540))
        }
        times[199].minute = try minute(541)
        let raw = ScheduleEvaluation(
            configuration: ScheduleConfiguration(model: .raw), repetitions: 1)
        let scores = try raw.scores(of: times, name: "clock")
        #expect(scores[.logLikelihood] == -.infinity)
        #expect(scores[.kernelGain] == -.infinity)
        let histogram = try Self.value(.histogramLogLikelihood, scores)
        #expect(agree(histogram, (39 * log(161.0 / 1_600) + log(1.0 / 1_600)) / 40, within: 1e-12))
    }

    @Test func theNextDaysNumberIsToldFromTheDaysBefore() throws {
        // One post a day: all but the twentieth that is left to other numbers falls on 1, half of
        // it on 0.
        let times = try (0..<400).map {
            LocalTime(day: try day("2025-01-01").advanced(by: $0), minute: try minute(540))
        }
        let scores = try ScheduleEvaluation(repetitions: 1).scores(of: times, name: "clock")
        for measure in [ScheduleMeasure.dayAhead, .plainDayAhead] {
            #expect(agree(try Self.value(measure, scores), log(0.95 + 0.05 * 0.25), within: 1e-12))
        }
        let error = 0.025 * 0.025 + 0.0125 * 0.0125 + 0.00625 * 0.00625
        #expect(agree(try Self.value(.dayAheadError, scores), error, within: 1e-12))
        #expect(agree(try Self.value(.plainDayAheadError, scores), error, within: 1e-12))
        // Too few days to tell anything.
        let short = try ScheduleEvaluation(repetitions: 1).scores(
            of: Array(times.prefix(88)), name: "clock")
        #expect(short[.dayAhead] == nil)
        #expect(short[.dayAheadError] == nil)
    }

    @Test func spellsAreToldWhereThereAreAny() throws {
        // Ten busy days, ten silent ones, and so on.
        let start = try day("2024-01-01")
        let times = try (0..<600).filter { $0 / 10 % 2 == 0 }.flatMap { offset in
            try (0..<4).map {
                LocalTime(day: start.advanced(by: offset), minute: try minute(500 + $0 * 60))
            }
        }
        let scores = try Self.usual.scores(of: times, name: "me")
        try expect(Self.value(.humanAutocorrelation, scores)) { $0 > 0.7 }
        try expect(Self.value(.autocorrelation, scores)) { $0 > 0.5 }
        #expect(try Self.value(.dayAhead, scores) > Self.value(.plainDayAhead, scores) + 0.2)
        let raw = ScheduleEvaluation(
            configuration: ScheduleConfiguration(model: .raw), repetitions: 3)
        let plain = try raw.scores(of: times, name: "me")
        #expect(abs(try Self.value(.autocorrelation, plain)) < 0.2)
        #expect(plain[.dayAhead] == plain[.plainDayAhead])
    }

    @Test func neighbouringDaysAndWeeksAreCompared() throws {
        func rhythm(_ counts: [Int]) throws -> Rhythm {
            Rhythm(days: try counts.map { count in try (0..<count).map { try minute($0) } })
        }
        try expect(rhythm([2]).autocorrelation, equals: nil)
        try expect(rhythm([2, 2, 2]).autocorrelation, equals: 0)
        #expect(agree(try #require(try rhythm([0, 1, 0, 1, 0, 1]).autocorrelation), -1))
        // Pearson of (1, 2, 4) with (2, 4, 3).
        #expect(
            agree(
                try #require(try rhythm([1, 2, 4, 3]).autocorrelation),
                1 / (14.0 / 3 * 2).squareRoot()))
        try expect(rhythm([1, 1, 1, 1, 1, 1]).weekTotals.total, equals: 0)
        let weeks = try rhythm([1, 0, 0, 0, 0, 0, 2, 5, 0]).weekTotals
        #expect(weeks.total == 3)
        #expect(weeks.share(of: 3) == 1.0 / 3)
        #expect(weeks.share(of: 7) == 2.0 / 3)
    }

    @Test func quietHoursAreTheOperatorsNotTheHumans() throws {
        let times = try Self.person()
        let quiet = ScheduleConfiguration(quiet: Set(try (1_200..<1_440).map(minute)))
        let scores = try ScheduleEvaluation(configuration: quiet, repetitions: 3).scores(
            of: times, name: "me")
        expect(scores, equals: (try Self.usual.scores(of: times, name: "me")))
    }

    @Test func otherSettingsAreKept() throws {
        let times = try Self.person()
        let few = ScheduleEvaluation(
            configuration: ScheduleConfiguration(maximumPerDay: 0), repetitions: 1)
        let scores = try few.scores(of: times, name: "me")
        let split = try HeldOutSplit(times)
        let active = Set(split.testing.map(\.day)).count
        #expect(
            agree(
                try Self.value(.dailyCounts, scores), Double(active) / Double(split.dayCount),
                within: 1e-12))
        #expect(scores[.gaps] == nil)
    }

    @Test func minutesThatADayLacksHaveNoChance() throws {
        // A post a night at 03:05; the first held-out day is the one on which clocks go forward
        // from 02:00.
        let first = try day("2026-03-08").advanced(by: -16)
        let times = try (0..<20).map {
            LocalTime(day: first.advanced(by: $0), minute: try minute(185))
        }
        let newYork = try zone("America/New_York")
        let local = try ScheduleEvaluation(zone: newYork, repetitions: 1).scores(
            of: times, name: "me")
        let everywhere = try ScheduleEvaluation(repetitions: 1).scores(of: times, name: "me")
        let split = try HeldOutSplit(times)
        expect(split.firstDay, equals: (try day("2026-03-08")))
        let profile = PostingHistory(times: split.training, asOf: split.asOf)
            .distribution(for: split.firstDay, configuration: ScheduleConfiguration()).probabilities
        let missing = profile[120..<180].reduce(0, +)
        let difference =
            try Self.value(.logLikelihood, local) - Self.value(.logLikelihood, everywhere)
        // Its mass falls to the other minutes of this day; the other three held-out days are as
        // usual.
        #expect(missing > 0.05)
        #expect(agree(difference, -log(1 - missing) / 4, within: 1e-6))
    }

    @Test func aDayThatTheZoneSkipsIsNoSilentDay() throws {
        // One post a day in Samoa, which had no 2011-12-30; the cut is on 12-29.
        let start = try day("2011-12-29").advanced(by: -80)
        let days = (0...100).map { start.advanced(by: $0) }.filter {
            $0.description != "2011-12-30"
        }
        let times = try days.map { LocalTime(day: $0, minute: try minute(600)) }
        let evaluation = ScheduleEvaluation(zone: try zone("Pacific/Apia"), repetitions: 1)
        try expect(HeldOutSplit(times).firstDay, equals: day("2011-12-29"))
        let scores = try evaluation.scores(of: times, name: "me")
        #expect(scores[.dailyCounts] == 0)
        #expect(scores[.humanDailyCounts] == 0)
        try expect(Self.value(.logLikelihood, scores)) { $0 > -7 }
    }
}
