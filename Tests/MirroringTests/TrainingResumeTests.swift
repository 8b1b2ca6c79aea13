import Archive
import Expectations
import Favorites
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Trainings that are interrupted, and trainings that cost money.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct TrainingResumeTests {
    private static let count = 250

    /// A mirror whose human has said and favorited things.
    private func paper(_ network: NetworkName = .mastodon, pageSize: Int = 20) async throws
        -> PaperMirror
    {
        let paper = try await PaperMirror(bot: network, human: network)
        let human = try #require(paper.human)
        human.with { $0.pageSize = pageSize }
        human.add((0..<Self.count).map { said($0, on: network) }, to: .ownPosts)
        human.add(
            (0..<Self.count).map { paperPost("f\($0)", on: network, "green tea \($0)") },
            to: .favorites)
        human.add(
            (0..<Self.count).map { paperPost("h\($0)", on: network, "late train \($0)") }, to: .home
        )
        return paper
    }

    private func said(_ number: Int, on network: NetworkName) -> ObservedPost {
        paperPost(
            "p\(number)", by: "human", on: network, "thought number \(number)",
            at: PaperMirror.now - Double(1_000 - number) * 3_600)
    }

    private func scheduler(
        _ paper: PaperMirror, budget: TrainingBudget? = nil,
        progress: Recorder<TrainingProgress> = Recorder()
    ) -> SchedulerTrainer {
        SchedulerTrainer(mirror: paper.mirror, zone: PaperMirror.zone, budget: budget) {
            progress.add($0)
        }
    }

    private func classifier(_ paper: PaperMirror, budget: TrainingBudget? = nil) throws
        -> ClassifierTrainer
    {
        ClassifierTrainer(
            mirror: paper.mirror, favorites: try paper.mirror.favorites(), budget: budget
        ) { _ in }
    }

    /// A month's money that is spent as the network answers.
    private final class Purse: @unchecked Sendable {
        // Sendable because the sum is only touched under `lock`.
        private let lock = NSLock()
        private let budget: Money
        private var spent = Money.zero

        init(dollars: Double, to network: PaperNetwork, price: Money) {
            budget = Money(microdollars: Int(dollars * 1_000_000))
            network.with { state in
                state.price = price
                state.onPage = { [self] items in lock.withLock { spent = spent + price * items } }
            }
        }

        var total: Money { lock.withLock { spent } }

        func renew() { lock.withLock { spent = .zero } }

        /// The plan of a month in which nothing but one part of learning is paid for.
        func training(_ feed: Feed = .ownPosts) -> TrainingBudget {
            TrainingBudget { [self] now in
                var plan = MonthPlan(
                    budget: budget, at: now, wanted: [SpendingPurpose.past(feed).part])
                plan.pay(total, for: .past(feed))
                return plan
            }
        }
    }

    @Test func anInterruptedWalkGoesOnWhereItStopped() async throws {
        let paper = try await paper()
        let human = try #require(paper.human)
        // The network is gone from the fifth page on.
        let limit = human.looks.count + 4
        human.with {
            $0.failure = { operation, _ in
                operation == .readOwnPosts && human.looks.count >= limit
                    ? human.error(.unavailable, operation) : nil
            }
        }
        await #expect(throws: NetworkError.self) { try await scheduler(paper).train(from: human) }
        try await expect(paper.mirror.archive.count(), equals: 80)
        // Meanwhile the human went on.
        human.add((0..<3).map { said(Self.count + $0, on: .mastodon) }, to: .ownPosts)
        human.with { $0.failure = { _, _ in nil } }
        let before = human.looks.count
        let second = try await scheduler(paper).train(from: human)
        #expect(second.read == 3 + Self.count - 80)
        #expect(second.known == 0)
        #expect(second.missing.isEmpty)
        try await expect(paper.mirror.archive.count(), equals: Self.count + 3)
        // New posts first, then on from page five; nothing was asked for again.
        let looks = human.looks.dropFirst(before).map(\.position)
        #expect(looks.first == .newer(than: "\(Self.count)"))
        #expect(looks.contains(.older("\(Self.count - 80)")))
        #expect(!looks.contains(.newest))
        #expect(!looks.contains(.older("\(Self.count - 60)")))
        try await expect(scheduler(paper).train(from: human).read, equals: 0)
        try await expect(paper.mirror.feeds.progress(of: "human-posts").past, equals: nil)
    }

    /// A worker that was started first has read the newest page of each feed.
    @Test func aTrainingAfterTheFirstRunReadsThePastToo() async throws {
        let paper = try await paper()
        let human = try #require(paper.human)
        for pass in Passes(parts: try await paper.parts()).inOrder { _ = try await pass.run() }
        try await LeaseTable(storage: paper.mirror.storage, mirror: "test").free()
        try await expect(paper.mirror.archive.count(), equals: 20)
        let posts = try await scheduler(paper).train(from: human)
        #expect(posts.learned == Self.count - 20)
        #expect(posts.known == 0)
        try await expect(paper.mirror.archive.count(), equals: Self.count)
        try await expect(paper.mirror.feeds.progress(of: "human-posts").past, equals: nil)
        _ = try await classifier(paper).train(from: human, own: [], limit: 100)
        let status = try await paper.mirror.favorites().status()
        #expect(status.favorites == 120)
        #expect(status.normals == 120)
        // The bot's own feeds have no past that anybody would want.
        try await expect(paper.mirror.feeds.progress(of: "bot-home").past, equals: nil)
    }

    @Test func startingOverForgetsWhereAWalkStopped() async throws {
        let paper = try await paper()
        let human = try #require(paper.human)
        human.with {
            $0.failure = { operation, _ in
                operation == .readOwnPosts && human.looks.count >= 2
                    ? human.error(.unavailable, operation) : nil
            }
        }
        await #expect(throws: NetworkError.self) { try await scheduler(paper).train(from: human) }
        try await expect(paper.mirror.feeds.progress(of: "human-posts").past) { $0 != nil }
        human.with { $0.failure = { _, _ in nil } }
        try await expect(
            scheduler(paper).train(from: human, again: true).learned, equals: Self.count)
        try await expect(paper.mirror.feeds.progress(of: "human-posts").past, equals: nil)
    }

    @Test func startingOverKeepsWhatThereIsNoMoneyToReadAnew() async throws {
        let paper = try await paper(.x)
        let human = try #require(paper.human)
        try await expect(scheduler(paper).train(from: human).learned, equals: Self.count)
        human.with { $0.price = Money(microdollars: 1) }
        let ten = Money(microdollars: 10_000_000)
        let broke = TrainingBudget { now in
            var plan = MonthPlan(budget: ten, at: now)
            plan.pay(ten, for: .publish)
            return plan
        }
        let summary = try await scheduler(paper, budget: broke).train(from: human, again: true)
        #expect(summary.read == 0)
        // Its favorites are left, too.
        #expect(summary.missing.count == 2)
        try await expect(paper.mirror.archive.count(), equals: Self.count)
    }

    @Test func aPositionThatIsNoLongerKnownIsGivenUpWhereReadingIsFree() async throws {
        let paper = try await paper()
        let human = try #require(paper.human)
        human.with {
            $0.failure = { operation, _ in
                operation == .readOwnPosts && human.looks.count >= 2
                    ? human.error(.unavailable, operation) : nil
            }
        }
        await #expect(throws: NetworkError.self) { try await scheduler(paper).train(from: human) }
        human.with {
            $0.failure = { operation, position in
                position == .older("\(Self.count - 40)") && human.looks.count < 4
                    ? human.error(.rejected, operation) : nil
            }
        }
        let summary = try await scheduler(paper).train(from: human)
        #expect(summary.learned == Self.count - 40)
        try await expect(paper.mirror.archive.count(), equals: Self.count)
    }

    @Test func aPositionThatIsNoLongerKnownIsNotPaidForTwice() async throws {
        let paper = try await paper(.x)
        let human = try #require(paper.human)
        human.with { state in
            state.price = Money(microdollars: 1)
            state.failure = { operation, _ in
                operation == .readFavorites && human.looks.count >= 2
                    ? human.error(.unavailable, operation) : nil
            }
        }
        await #expect(throws: NetworkError.self) {
            try await classifier(paper).train(from: human, own: [], limit: 800)
        }
        human.with { state in
            state.failure = { operation, position in
                if case .older = position, operation == .readFavorites {
                    return human.error(.rejected, operation)
                }
                return nil
            }
        }
        let summary = try await classifier(paper).train(from: human, own: [], limit: 800)
        #expect(summary.read == Self.count)
        #expect(summary.missing.count == 1)
        #expect(summary.missing[0].contains("no longer knows where the last training stopped"))
        #expect(summary.missing[0].contains("--again"))
        #expect(!human.looks.dropFirst(2).contains(.init(feed: .favorites, position: .newest)))
        try await expect(classifier(paper).train(from: human, own: [], limit: 800).missing) {
            $0.isEmpty
        }
    }

    @Test func aSharePerDayIsNotTheMonthsMoney() async throws {
        let paper = try await paper(.x)
        let human = try #require(paper.human)
        let until = PaperMirror.now + 3_600
        human.with {
            $0.failure = { operation, _ in
                operation == .readHome && human.looks.count { $0.feed == .home } >= 1
                    ? human.error(.overBudget, operation, retryAfter: until) : nil
            }
        }
        let summary = try await classifier(paper).train(from: human, own: [], limit: 800)
        #expect(summary.read == Self.count + 20)
        #expect(
            summary.missing[0].contains(
                "at most 780 older posts are left: X's share of today is spent. mirror-bot run reads them by itself from "
                    + "2026-06-01 on"))
    }

    @Test func aMonthsShareIsSpentAndTheRestIsReadLater() async throws {
        let paper = try await paper(.x, pageSize: 50)
        let human = try #require(paper.human)
        // 250 posts would cost $2.50; half of $2 pays for 100 and a page of 50 that begins below
        // it.
        let purse = Purse(dollars: 2.4, to: human, price: Money(microdollars: 10_000))
        let progress = Recorder<TrainingProgress>()
        let first = try await scheduler(paper, budget: purse.training(), progress: progress).train(
            from: human)
        let announced = try #require(progress.values.first)
        #expect(announced.done == 0)
        #expect(announced.step == .posts)
        #expect(
            announced.announcement
                == "reading at most 3200 posts costs at most $32.00 at the prices of 2026-04-20; of this month's $2.40, "
                + "$1.20 is left for it")
        expect(progress.values.dropFirst()) { $0.allSatisfy { $0.announcement == nil } }
        #expect(first.read == 150)
        #expect(purse.total == Money(microdollars: 1_500_000))
        let sentence = try #require(first.missing.first)
        #expect(first.missing.count == 1)
        // No command is recommended: it would read nothing.
        #expect(
            sentence
                == "at most 3050 older posts are left and cost at most $30.50: this month's share for them, $1.20 of $2.40, "
                + "is spent. mirror-bot run reads them by itself from 2026-07-01 on, in about 26 months; a higher "
                + "X_BUDGET_USD_PER_MONTH is faster, and a downloaded archive costs nothing: "
                + "mirror-bot train scheduler --from ARCHIVE"
        )
        #expect(
            first.prices == [
                TrainingPrice(
                    what: "posts", items: 3_200, dollars: 32, itemsLeft: 3_050, dollarsLeft: 30.5,
                    monthsLeft: 26,
                    goesOn: Date(timeIntervalSince1970: 1_782_864_000))
            ])
        // The newest came first.
        try await expect(paper.mirror.archive.standalonePosts().last?.id.value, equals: "p249")
        // The same month again: nothing is asked for.
        let looks = human.looks.count
        let second = try await scheduler(paper, budget: purse.training()).train(from: human)
        #expect(second.read == 0)
        #expect(second.missing.count == 1)
        // But for a look at what is new, which costs nothing where nothing is.
        #expect(human.looks.dropFirst(looks).map(\.position) == [.newer(than: "\(Self.count)")])
        // The next month goes on.
        purse.renew()
        let third = try await scheduler(paper, budget: purse.training()).train(from: human)
        #expect(third.read == Self.count - 150)
        #expect(third.known == 0)
        #expect(third.missing.isEmpty)
        #expect(purse.total == Money(microdollars: 1_000_000))
    }

    /// What a downloaded archive holds already is not bought to its end.
    @Test func aPaidWalkEndsWhereAllIsKnown() async throws {
        let paper = try await paper(.x, pageSize: 50)
        let human = try #require(paper.human)
        try await expect(scheduler(paper).train(from: human).learned, equals: Self.count)
        try await paper.mirror.feeds.reset([FeedName.humanPosts])
        human.add([said(Self.count, on: .x)], to: .ownPosts)
        human.with { $0.price = Money(microdollars: 1) }
        let summary = try await scheduler(paper).train(from: human)
        #expect(summary.learned == 1)
        // A page with a new one, and four that are known.
        #expect(summary.read == 250)
        #expect(summary.missing.isEmpty)
        try await expect(paper.mirror.feeds.trainingLeft().posts, equals: .done)
    }

    @Test func withoutMoneyNothingIsRead() async throws {
        let paper = try await paper(.x)
        let human = try #require(paper.human)
        let purse = Purse(dollars: 0, to: human, price: Money(microdollars: 5_000))
        let posts = try await scheduler(paper, budget: purse.training()).train(from: human)
        #expect(posts.read == 0)
        expect(posts.missing.first) { $0?.contains("No month has money for them; raise") == true }
        let favorites = try await classifier(paper, budget: purse.training(.favorites)).train(
            from: human, own: [], limit: 800)
        #expect(favorites.read == 0)
        #expect(
            favorites.missing.map { $0.prefix(30) }
                == ["at most 800 older favorites are", "at most 800 older posts are le"].map {
                    $0.prefix(30)
                })
        #expect(human.looks.isEmpty)
    }

    @Test func aNetworkThatRefusesToSpendEndsATrainingAsAPersonExpects() async throws {
        let paper = try await paper(.x)
        let human = try #require(paper.human)
        let until = PaperMirror.now + 20 * 86_400
        human.with {
            $0.failure = { operation, _ in
                operation == .readOwnPosts && human.looks.count >= 3
                    ? human.error(.overBudget, operation, retryAfter: until) : nil
            }
        }
        let first = try await scheduler(paper).train(from: human)
        #expect(first.read == 60)
        expect(first.missing.first) { $0?.contains("at most 3140 older posts are left") == true }
        expect(first.missing.first) { $0?.contains(until.rfc3339.prefix(10)) == true }
        human.with { $0.failure = { _, _ in nil } }
        try await expect(scheduler(paper).train(from: human).read, equals: Self.count - 60)
    }

    @Test func favoritesComeBeforeWhatTheyAreComparedWith() async throws {
        let paper = try await paper(.x, pageSize: 50)
        let human = try #require(paper.human)
        let purse = Purse(dollars: 6, to: human, price: Money(microdollars: 10_000))
        let first = try await classifier(paper, budget: purse.training(.favorites)).train(
            from: human, own: [], limit: 800)
        // All 250 favorites, and a page of the timeline.
        #expect(first.read == Self.count + 50)
        #expect(first.missing.count == 1 && first.missing[0].contains("at most 750 older posts"))
        purse.renew()
        let second = try await classifier(paper, budget: purse.training(.favorites)).train(
            from: human, own: [], limit: 800)
        #expect(second.read == Self.count - 50)
        #expect(second.missing.isEmpty)
        #expect(first.learned + second.learned == 2 * Self.count)
    }

    @Test func aTimelineThatCannotBeReadIsSaidToBeMissing() async throws {
        let paper = try await paper(.bluesky)
        let human = try #require(paper.human)
        human.with { $0.capabilities.feeds = [.ownPosts, .favorites] }
        let summary = try await classifier(paper).train(from: human, own: [], limit: 800)
        #expect(summary.read == Self.count)
        #expect(summary.missing.count == 1)
        #expect(summary.missing[0].contains("home timeline cannot be read"))
        expect(human.looks) { !$0.contains { $0.feed == .home } }
    }

    @Test func freeReadingHasNoPriceToTell() async throws {
        let paper = try await paper()
        let human = try #require(paper.human)
        let progress = Recorder<TrainingProgress>()
        _ = try await scheduler(paper, progress: progress).train(from: human)
        expect(progress.values) { $0.allSatisfy { $0.announcement == nil } }
        #expect(progress.values.count == 13)
    }
}
