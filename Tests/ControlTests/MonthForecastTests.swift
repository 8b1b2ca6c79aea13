import Expectations
import Fixtures
import Foundation
import Networks
import Posts
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// What the next month is expected to cost.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct MonthForecastTests {
    private static let both: [AccountRole: NetworkName] = [.human: .x, .bot: .x]
    private static let accounts = [
        "NETWORK": "x", "X_ACKNOWLEDGE_POLICY": "yes", "HUMAN_CONSUMER_KEY": "hk",
        "HUMAN_CONSUMER_SECRET": "hs",
        "HUMAN_ACCESS_TOKEN": "1-h", "HUMAN_ACCESS_TOKEN_SECRET": "ht", "BOT_CONSUMER_KEY": "bk",
        "BOT_CONSUMER_SECRET": "bs", "BOT_ACCESS_TOKEN": "2-b", "BOT_ACCESS_TOKEN_SECRET": "bt",
        "TIME_ZONE": "Asia/Tokyo",
    ]

    private func settings(_ variables: [String: String] = [:]) async throws -> MirrorSettings {
        try await BareMirror(variables: Self.accounts.merging(variables) { $1 }).open()
            .configuration
    }

    private func forecast(
        _ variables: [String: String] = [:], posts: Double = 2, left: TrainingLeft = TrainingLeft()
    ) async throws -> MonthForecast? {
        MonthForecast(
            .init(posts: posts, humanPosts: 3, mentions: 1, source: "as a test says"),
            on: Self.both,
            try await settings(variables), left: left)
    }

    @Test func everyThingThatIsPaidForIsALine() async throws {
        let forecast = try #require(
            try await forecast(left: TrainingLeft(posts: .begun(2_900), favorites: .begun(700))))
        let lines = forecast.lines.map { "\($0.what) \($0.amount)" }
        #expect(
            lines == [
                "30 mentions and answers $0.75", "60 posts $0.90",
                "90 new posts of the human read $0.45",
                "looks whether originals are still there $1.25", "older posts $0.824995",
                "older favorites $0.824995",
            ])
        #expect(forecast.total == Money(microdollars: 4_999_990))
        #expect(forecast.costOfDailyWork == Money(microdollars: 3_350_000))
        #expect(forecast.isEnough)
        #expect(
            forecast.assumptions == [
                "2 posts and 1 mention a day (as a test says)", "X_HOME_POSTS_PER_DAY=0",
                "X_APP_OWNER=none",
                "the prices of 2026-04-20",
            ])
    }

    @Test func settingsChangeIt() async throws {
        let home = try #require(try await forecast(["X_HOME_POSTS_PER_DAY": "20"]))
        #expect(
            home.lines.contains {
                $0.what == "30 days of home timelines" && $0.amount.cents == "$9.00"
            })
        #expect(!home.isEnough)
        let owned = try #require(try await forecast(["X_APP_OWNER": "human"]))
        #expect(
            owned.lines.contains {
                $0.what == "90 new posts of the human read" && $0.amount.cents == "$0.09"
            })
        let silent = try #require(try await forecast(["X_ACKNOWLEDGE_POLICY": "no"]))
        #expect(!silent.lines.contains { $0.what == "60 posts" })
        let off = try #require(
            try await forecast(["FAVORITE_MODE": "off"], left: TrainingLeft(posts: .begun(3_000))))
        #expect(!off.lines.contains { $0.what.contains("favorites") })
        #expect(off.lines.contains { $0.what == "older posts" && $0.amount.cents == "$1.65" })
    }

    /// A dear life leaves nothing to learning, and the forecast says so before the month does.
    @Test func aDearLifeIsSaidToBeOne() async throws {
        let dear = try #require(
            try await forecast(posts: 10, left: TrainingLeft(posts: .begun(3_000))))
        #expect(dear.costOfDailyWork == Money(microdollars: 6_950_000))
        #expect(!dear.isEnough)
        #expect(!dear.lines.contains { $0.what == "older posts" })
    }

    @Test func whereNothingCostsThereIsNone() async throws {
        let rates = MonthForecast.Rates(posts: 1, humanPosts: 1, mentions: 1, source: "")
        let settings = try await settings()
        #expect(MonthForecast(rates, on: [.bot: .mastodon], settings, left: TrainingLeft()) == nil)
        #expect(MonthForecast(rates, on: [:], settings, left: TrainingLeft()) == nil)
    }

    @Test func ratesComeFromThePastAndFromMentions() async throws {
        let mirror = try await BareMirror(
            variables: Self.accounts.merging(["MAX_PER_DAY": "2"]) { $1 }
        ).open()
        let now = mirror.clock.now
        try await expect(mirror.rates(now: now).source, equals: "assumed, for no posts are known")
        try await mirror.beginWorking()
        let rates = try await mirror.rates(now: now)
        #expect(rates.posts == 2)
        #expect((3.5...4.5).contains(rates.humanPosts))
        #expect(rates.mentions == 1)
        try await expect(mirror.monthForecast(now: now)) { $0 != nil }
    }
}
