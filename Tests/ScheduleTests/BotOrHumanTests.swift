import Evaluation
import Expectations
import Posts
import Schedule
import Testing

/// Whether days can be told apart.
@Suite struct BotOrHumanTests {
    /// Days of somebody who sits down once and writes up to six posts within an hour.
    private static func sittings(_ count: Int, seed: UInt64) throws -> [[MinuteOfDay]] {
        var generator = SplitMix64(seed: seed)
        return try (0..<count).map { _ in
            let start = 420 + Int(generator.nextUniform() * 900)
            return try (0..<Int(generator.nextUniform() * 7)).map { _ in
                try minute(start + Int(generator.nextUniform() * 60))
            }.sorted()
        }
    }

    /// As many posts each day, at any time.
    private static func scattered(_ days: [[MinuteOfDay]], seed: UInt64) throws -> [[MinuteOfDay]] {
        var generator = SplitMix64(seed: seed)
        return try days.map {
            try $0.map { _ in try minute(Int(generator.nextUniform() * 1_440)) }.sorted()
        }
    }

    private static func people(_ count: Int, days: Int, isScattered: Bool) throws -> [BotOrHuman
        .Days]
    {
        try (0..<count).map { number in
            let human = try sittings(days, seed: UInt64(number))
            return BotOrHuman.Days(
                human: human,
                bot: isScattered ? try scattered(human, seed: UInt64(number) + 100) : human)
        }
    }

    @Test(arguments: [1, 2, 7]) func copiedDaysCannotBeToldApart(_ people: Int) throws {
        let told = BotOrHuman(try Self.people(people, days: 120, isScattered: false))
        #expect(told.people == people)
        #expect(told.days == people * 240)
        for area in [told.auc, told.aucOfSeveral, told.aucOfShape] {
            try expect(#require(area)) { abs($0 - 0.5) < 0.001 }
        }
    }

    @Test(arguments: [1, 2, 7]) func scatteredDaysAreToldApart(_ people: Int) throws {
        let told = BotOrHuman(try Self.people(people, days: 120, isScattered: true))
        // Days of one post or none, two of seven, look alike.
        try expect(#require(told.auc)) { $0 > 0.8 }
        try expect(#require(told.aucOfSeveral)) { $0 > 0.9 }
        try expect(#require(told.aucOfShape)) { $0 > 0.9 }
        expect(BotOrHuman(try Self.people(people, days: 120, isScattered: true)), equals: told)
    }

    @Test func otherDaysOfTheSameKindAreChance() throws {
        let people = try (0..<6).map { number in
            BotOrHuman.Days(
                human: try Self.sittings(150, seed: UInt64(number)),
                bot: try Self.sittings(150, seed: UInt64(number) + 50))
        }
        try expect(#require(BotOrHuman(people).aucOfSeveral)) { (0.42...0.58).contains($0) }
    }

    @Test func twoPostsOfOneMinuteAreNoSign() throws {
        // A plan puts them one minute apart.
        let human = try (0..<60).map { [try minute(600 + $0), try minute(600 + $0)] }
        let bot = try (0..<60).map { [try minute(600 + $0), try minute(601 + $0)] }
        let told = BotOrHuman([BotOrHuman.Days(human: human, bot: bot)])
        try expect(#require(told.aucOfSeveral)) { abs($0 - 0.5) < 0.001 }
    }

    @Test func ofFewDaysNothingIsSaid() throws {
        let told = BotOrHuman(try Self.people(1, days: 29, isScattered: true))
        #expect(told.auc == nil && told.aucOfSeveral == nil && told.aucOfShape == nil)
        #expect(BotOrHuman([]).auc == nil)
        // Enough days, of which too few have two posts.
        let single = try (0..<40).map { [try minute(600 + $0)] }
        let quiet = BotOrHuman([BotOrHuman.Days(human: single, bot: single)])
        #expect(quiet.auc != nil && quiet.aucOfSeveral == nil)
    }

    @Test func theEvaluationTellsAnOlderModelApart() throws {
        let last = try day("2026-06-30")
        let times = try Self.sittings(900, seed: 5).enumerated().flatMap { index, minutes in
            minutes.map { LocalTime(day: last.advanced(by: index - 899), minute: $0) }
        }
        func scores(_ model: ScheduleModel) throws -> ScheduleScores {
            try ScheduleEvaluation(
                configuration: ScheduleConfiguration(model: model, bursts: true), repetitions: 1
            )
            .scores(of: times, name: "me")
        }
        let copied = try scores(.days)
        let drawn = try scores(.kernel)
        try expect(#require(copied[.shapeToldApart])) { $0 < 0.6 }
        try expect(#require(drawn[.shapeToldApart])) { $0 > 0.6 }
        #expect(try #require(copied[.gaps]) < #require(drawn[.gaps]))
        // What both share is equal to the last digit.
        for measure in [
            ScheduleMeasure.logLikelihood, .dayAhead, .dayAheadError, .humanGaps, .humanHours,
        ] {
            #expect(copied[measure] == drawn[measure])
        }
    }
}
