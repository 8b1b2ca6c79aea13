import Evaluation
import Expectations
import Posts
import Schedule
import Testing

/// Whether weeks can be told apart.
@Suite struct WeekJudgeTests {
    /// Days of somebody who writes up to `most` posts, one after the other.
    private static func days(_ count: Int, most: Double, apart: Int = 40, seed: UInt64) throws
        -> [[MinuteOfDay]]
    {
        var generator = SplitMix64(seed: seed)
        return try (0..<count).map { _ in
            let start = 420 + Int(generator.nextUniform() * 600)
            return try (0..<Int(generator.nextUniform() * most)).map {
                try #require(MinuteOfDay(min(1_439, start + $0 * apart)))
            }
        }
    }

    @Test func theSameWeeksCannotBeToldApart() throws {
        let days = try Self.days(364, most: 6, seed: 1)
        let judge = try #require(WeekJudge(human: days, bot: days, firstWeekday: 1, seed: 1))
        #expect(judge.weeks == 52)
        #expect(judge.right == 0.5)
        #expect(judge.interval == 0.5...0.5)
        #expect(judge.area == 0.5)
    }

    @Test func weeksOfTheSameHabitsCanHardlyBeToldApart() throws {
        let human = try Self.days(365, most: 6, seed: 1)
        let judge = try #require(
            WeekJudge(
                human: human, bot: try Self.days(365, most: 6, seed: 2), firstWeekday: 3, seed: 1))
        expect(judge.interval) { $0.contains(0.5) && $0.contains(judge.right) }
        expect(judge.interval.upperBound - judge.interval.lowerBound) { 0.1 < $0 && $0 < 0.3 }
    }

    @Test func whatIsCertainIsTold() throws {
        let human = try Self.days(365, most: 6, seed: 1)
        let judge = try #require(
            WeekJudge(
                human: human, bot: try Self.days(365, most: 16, seed: 2), firstWeekday: 1, seed: 1))
        #expect(judge.right > 0.9)
        #expect(judge.interval.lowerBound > 0.8)
        #expect(judge.area > 0.95)
    }

    /// What only one of the two does is found out, though each week has as many posts.
    @Test func twoPostsInAMinuteAreASign() throws {
        let bot = try Self.days(365, most: 8, apart: 5, seed: 1)
        let human = bot.map { day in Array(day.flatMap { [$0, $0] }.prefix(day.count)) }
        let judge = try #require(WeekJudge(human: human, bot: bot, firstWeekday: 1, seed: 1))
        #expect(judge.right > 0.9)
    }

    @Test func ofFewWeeksNothingIsSaid() throws {
        let days = try Self.days(7 * WeekJudge.fewestWeeks, most: 6, seed: 1)
        #expect(WeekJudge(human: days, bot: days, firstWeekday: 1, seed: 1) != nil)
        let fewer = Array(days.dropLast())
        #expect(WeekJudge(human: fewer, bot: fewer, firstWeekday: 1, seed: 1) == nil)
        #expect(WeekJudge(human: days, bot: fewer, firstWeekday: 1, seed: 1) == nil)
        #expect(WeekJudge(human: [], bot: [], firstWeekday: 1, seed: 1) == nil)
    }

    @Test func theSeedOnlyDrawsTheInterval() throws {
        let human = try Self.days(365, most: 6, seed: 1)
        let bot = try Self.days(365, most: 7, seed: 2)
        func judge(_ seed: UInt64) throws -> WeekJudge {
            try #require(WeekJudge(human: human, bot: bot, firstWeekday: 1, seed: seed))
        }
        let judges = try (1...20).map { try judge(UInt64($0)) }
        #expect(try judge(1) == judges[0])
        #expect(Set(judges.map(\.right)).count == 1)
        #expect(Set(judges.map(\.interval)).count > 1)
    }
}
