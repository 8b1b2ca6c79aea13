import Posts
import Testing

@testable import Control

@Suite struct TextForecastTests {
    /// The texts free now, the days of rest, the most uses, posts a day, and the day on which fewer
    /// than 30 are free.
    @Test(arguments: [
        (90, 180, nil, 2.0, 31), (90, 180, nil, 0.5, 122), (90, 180, nil, 0.25, nil),
        (90, 30, nil, 2.0, nil),
        (90, 30, nil, 2.5, 25), (29, 30, nil, 1.0, 0), (90, 30, 1, 0.5, 122), (90, 30, 3, 0.5, 482),
        (90, 0, nil, 50.0, nil),
    ])
    func tellsTheFirstDayWithTooFew(free: Int, rest: Int, most: Int?, perDay: Double, day: Int?) {
        var stock = TextStock(restDays: rest, mostUses: most)
        stock.free = [most ?? .max: free]
        #expect(stock.days(perDay: perDay, fewest: 30) == day)
    }

    @Test func countsWhatComesBackAndWhatGrowsOldEnough() {
        var stock = TextStock(restDays: 180, mostUses: nil)
        stock.free = [.max: 40]
        #expect(stock.days(perDay: 1, fewest: 30) == 11)
        stock.resting = [5: [.max: 20], 200: [.max: 500]]
        #expect(stock.days(perDay: 1, fewest: 30) == 31)
        stock.gained = 0.5
        #expect(stock.days(perDay: 1, fewest: 30) == 62)
        stock.gained = 1
        #expect(stock.days(perDay: 1, fewest: 30) == nil)
    }

    @Test func saysSoInOneLine() throws {
        let day = try #require(LocalDay("2027-03-04"))
        #expect(
            TextForecast(free: 200, perDay: 1).sentence(today: day)
                == "plain ones last at 1 post a day")
        let ending = TextForecast(free: 200, perDay: 2.54, until: day, then: "then nothing is")
        #expect(
            ending.sentence(today: day.advanced(by: -1))
                == "plain ones last until about 2027-03-04 at 2.5 posts a day; then nothing is")
        #expect(
            ending.sentence(today: day)
                == "plain ones are used up at 2.5 posts a day; then nothing is")
    }
}
