import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Networks
import Posts
import Sandbox
import Settings
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Trainings on X, month by month, against the sandbox's bills.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct PaidTrainingTests {
    /// Of the human's posts the sandbox has 130, which cost 65 cents.
    private static let budget = Money(microdollars: 1_000_000)
    private static let favorites = 100

    private static func fixture(_ variables: [String: String] = [:]) async throws -> MirrorFixture {
        let settings = ["X_BUDGET_USD_PER_MONTH": "1", "X_HOME_POSTS_PER_DAY": "0"].merging(
            variables
        ) { $1 }
        let fixture = try await MirrorFixture.start(
            isTrained: false, human: .x, bot: .x, variables: settings)
        let human = try await fixture.mirror.requiredNetwork(of: .human).verifyAccount()
        try await fixture.mirror.bind(human: human, bot: nil, now: fixture.clock.now)
        return fixture
    }

    private static func trainPosts(_ mirror: HumanMirror) async throws -> TrainingSummary {
        try await SchedulerTrainer(mirror: mirror, zone: Sample.zone) { _ in }
            .train(from: try await mirror.requiredNetwork(of: .human))
    }

    private static func trainFavorites(_ mirror: HumanMirror) async throws -> TrainingSummary {
        let human = try await mirror.requiredNetwork(of: .human)
        return try await ClassifierTrainer(mirror: mirror, favorites: try mirror.favorites()) { _ in
        }
        .train(from: human, own: [], limit: favorites)
    }

    private static func goOn(_ mirror: HumanMirror) async throws -> Date {
        let human = try await mirror.requiredNetwork(of: .human)
        let training = try #require(PaidTraining(mirror, zone: Sample.zone, human: human, own: []))
        return try await training.goOn(try mirror.favorites())
    }

    private static func nextMonth(after now: Date) -> Date { SpendingPeriod.month(of: now).end }

    /// The classifier has its half though the scheduler was first.
    @Test func bothTrainingsReadInTheFirstMonth() async throws {
        let fixture = try await Self.fixture()
        let posts = try await Self.trainPosts(fixture.mirror)
        #expect(posts.read > 20)
        #expect(posts.read < 130)
        let favorites = try await Self.trainFavorites(fixture.mirror)
        #expect(favorites.read > 5)
        #expect(favorites.read < Self.favorites)
        for summary in [posts, favorites] {
            #expect(
                summary.missing.contains {
                    $0.contains("mirror-bot run reads them by itself from 2026-06-01 on")
                })
            // But a downloaded archive, which costs nothing.
            let others = summary.missing.map {
                $0.replacing(/mirror-bot train [a-z]+ --from ARCHIVE/, with: "")
            }
            #expect(
                !others.contains { $0.contains("mirror-bot train") || $0.contains("same command") })
            let price = try #require(summary.prices.first)
            #expect(price.itemsLeft > 0)
            #expect(price.monthsLeft.map { $0 > 0 } ?? false)
        }
        // Life's half is untouched, and each part kept to its quarter.
        let plan = try await fixture.mirror.spending.plan(at: fixture.clock.now)
        let quarter = Money(microdollars: Self.budget.microdollars / 4)
        #expect(plan.spent[.posts] ?? .zero <= quarter)
        #expect(plan.spent[.favorites] ?? .zero <= quarter)
        #expect(plan.left(for: .feed(.mentions)) >= quarter)
        // Nobody is told to say again what would read nothing.
        let steps = try await fixture.mirror.setupSteps()
        #expect(
            !steps.filter { !$0.isDone }.map(\.command).contains {
                $0.hasPrefix("mirror-bot train")
            })
        // Saying it again reads nothing, and pays nothing.
        let spent = await fixture.sandbox.ledger.spentMicrodollars
        try await expect(Self.trainPosts(fixture.mirror).read, equals: 0)
        await expect(fixture.sandbox.ledger.spentMicrodollars - spent) { $0 <= 20_000 }
    }

    /// Every month another process goes on; each page is paid for once, and no month costs more
    /// than learning's half.
    @Test func theRestIsReadMonthByMonthAndPaidForOnce() async throws {
        let fixture = try await Self.fixture()
        _ = try await Self.trainPosts(fixture.mirror)
        _ = try await Self.trainFavorites(fixture.mirror)
        var months = 0
        var purposes = [SpendingPurpose: Money]()
        while true {
            let mirror = try await fixture.reopened()
            let next = try await Self.goOn(mirror)
            // Nothing is left to buy in this month.
            let before = await fixture.sandbox.ledger.spentMicrodollars
            _ = try await Self.goOn(mirror)
            await expect(fixture.sandbox.ledger.spentMicrodollars, equals: before)
            #expect(next > fixture.clock.now)
            let plan = try await mirror.spending.plan(at: fixture.clock.now)
            let learned = (plan.spent[.posts] ?? .zero) + (plan.spent[.favorites] ?? .zero)
            #expect(learned <= plan.learningShare)
            for (label, amount) in try await mirror.spending.spending(at: fixture.clock.now)
                .byPurpose
            {
                purposes[SpendingPurpose(label: label), default: .zero] =
                    purposes[SpendingPurpose(label: label), default: .zero] + amount
            }
            guard try await mirror.feeds.trainingLeft().isBegun else { break }
            months += 1
            try #require(months < 12)
            try await fixture.wait(until: Self.nextMonth(after: fixture.clock.now) + 60)
        }
        #expect((2...6).contains(months))
        // All that the network shows, but for reposts and what is not public.
        let archived = try await fixture.mirror.archive.count()
        #expect(archived > 100)
        try await expect(fixture.mirror.favorites().status().favorites) { $0 > 10 }
        // Half a cent for each post: nothing was bought twice.
        let paid = purposes[.past(.ownPosts)] ?? .zero
        #expect(paid <= Money(microdollars: 5_000) * 130)
        try await expect(fixture.mirror.table.record().past, equals: .whole)
    }

    @Test func aWishThatCouldNotBeginIsKept() async throws {
        let fixture = try await Self.fixture()
        let mirror = fixture.mirror
        // The month's money is gone before anybody trains.
        try await expect(
            mirror.spending.reserve(
                Money(microdollars: 980_000), for: .publish, at: fixture.clock.now), equals: nil)
        let nothing = try await Self.trainPosts(mirror)
        #expect(nothing.read == 0)
        #expect(
            nothing.missing.last
                == "favorites are left, too: mirror-bot run reads them by itself from 2026-06-01 on"
        )
        try await expect(
            mirror.feeds.trainingLeft(),
            equals: TrainingLeft(posts: .begun(3_200), favorites: .begun(800)))
        // Neither training is recommended: it would read nothing.
        try await expect(mirror.nextStep()?.command) { $0?.contains("train") == false }
        _ = try await Self.goOn(mirror)
        try await expect(mirror.archive.count(), equals: 0)
        // A month later nobody takes that one dear day for the usual one.
        try await fixture.wait(until: Date(rfc3339: "2026-07-02T00:00:00Z") ?? .distantFuture)
        _ = try await Self.goOn(mirror)
        try await expect(mirror.archive.count()) { $0 > 20 }
    }

    /// Of a worker's first look nothing follows that nobody has asked for.
    @Test func nothingIsBoughtThatNobodyAskedFor() async throws {
        let fixture = try await Self.fixture()
        for pass in Passes(parts: try await fixture.worker().parts(lease: nil, deliverer: nil))
            .inOrder
        where pass.name == FeedName.humanPosts { _ = try await pass.run() }
        try await expect(fixture.mirror.feeds.trainingLeft().posts, equals: .notRequested)
        let spent = await fixture.sandbox.ledger.spentMicrodollars
        _ = try await Self.goOn(fixture.mirror)
        await expect(fixture.sandbox.ledger.spentMicrodollars, equals: spent)
    }

    /// The worker of the next month, and not only its part.
    @Test func aWorkerGoesOnByItself() async throws {
        let fixture = try await Self.fixture()
        let mirror = fixture.mirror
        _ = try await Self.trainPosts(mirror)
        let before = try await mirror.archive.count()
        try await fixture.wait(until: Self.nextMonth(after: fixture.clock.now) + 60)
        try await fixture.worker().run(until: fixture.clock.now + 7_200)
        try await expect(mirror.archive.count()) { $0 > before + 20 }
        #expect(fixture.log.values.contains { $0.contains("Training gone on with") })
    }

    @Test func newFavoritesWaitForTheirPace() async throws {
        let fixture = try await Self.fixture()
        let mirror = fixture.mirror
        let human = try await mirror.requiredNetwork(of: .human)
        let training = try #require(PaidTraining(mirror, zone: Sample.zone, human: human, own: []))
        // A quarter of a dollar in 30 days: five favorites on the ninth of them.
        try await fixture.wait(until: Date(rfc3339: "2026-06-01T12:00:00Z") ?? .distantFuture)
        try await expect(
            training.pauseOfNewFavorites(), equals: Date(rfc3339: "2026-06-02T00:00:00Z"))
        try await fixture.wait(until: Date(rfc3339: "2026-06-09T12:00:00Z") ?? .distantFuture)
        try await expect(training.pauseOfNewFavorites(), equals: nil)
    }

    @Test func statusTellsHowFarItIs() async throws {
        let fixture = try await Self.fixture()
        let mirror = fixture.mirror
        try await expect(
            StatusReporter(mirror: mirror).report(now: fixture.clock.now).training, equals: nil)
        _ = try await Self.trainPosts(mirror)
        let training = try #require(
            try await StatusReporter(mirror: mirror).report(now: fixture.clock.now).training)
        #expect(training.postsLeft > 3_000)
        #expect(training.favoritesLeft == 0)
        #expect(training.monthsLeft.map { $0 > 20 } ?? false)
        #expect(training.goesOn == Self.nextMonth(after: fixture.clock.now))
    }
}
