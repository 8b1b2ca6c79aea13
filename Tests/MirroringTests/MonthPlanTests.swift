import Foundation
import Networks
import Posts
import Schedule
import Testing

@testable import Mirroring

/// How a month's money is divided.
@Suite struct MonthPlanTests {
    private static let cent = Money(microdollars: 10_000)

    static func date(_ text: String) -> Date { Date(rfc3339: text) ?? .distantPast }

    private static func plan(_ day: String = "2026-11-01", cents: Int = 400, life: Int = 0)
        -> MonthPlan
    {
        MonthPlan(budget: cent * cents, at: date("\(day)T12:00:00Z"), lifePerDay: cent * life)
    }

    @Test func postsAndFavoritesHaveAQuarterEach() {
        var plan = Self.plan()
        #expect(plan.left(for: .past(.ownPosts)) == Self.cent * 100)
        #expect(plan.left(for: .past(.favorites)) == Self.cent * 100)
        #expect(plan.left(for: .publish) == Self.cent * 400)
        plan.pay(Self.cent * 100, for: .past(.ownPosts))
        #expect(plan.left(for: .past(.ownPosts)) == .zero)
        #expect(plan.left(for: .past(.favorites)) == Self.cent * 100)
        #expect(
            plan.nextChance(for: .past(.ownPosts), toPay: Self.cent)
                == Self.date("2026-12-01T00:00:00Z"))
    }

    @Test func whatOneDoesNotNeedTheOtherGets() {
        var plan = Self.plan()
        plan.pay(Self.cent * 30, for: .past(.favorites))
        plan.wanted = [.posts]
        #expect(plan.left(for: .past(.ownPosts)) == Self.cent * 170)
        plan.wanted = [.favorites]
        plan.pay(Self.cent * 60, for: .past(.home))
        #expect(plan.left(for: .past(.favorites)) == Self.cent * 110)
    }

    /// On the tenth day two thirds of the month are left, and so is as much of life's half.
    @Test func lifeKeepsWhatTheRestOfTheMonthNeeds() {
        var plan = Self.plan("2026-11-11")
        #expect(plan.daysLeft == 20)
        #expect(plan.keptForLife == Money(microdollars: 1_333_333))
        plan.pay(Self.cent * 250, for: .publish)
        #expect(plan.left(for: .past(.ownPosts)) == Money(microdollars: 166_667))
        // Life itself may use everything.
        #expect(plan.left(for: .feed(.mentions)) == Self.cent * 150)
        #expect(
            plan.nextChance(for: .past(.ownPosts), toPay: Self.cent * 50)
                == Self.date("2026-11-12T00:00:00Z"))
    }

    @Test func aLifeThatCostsMoreThanHalfLeavesLessToLearning() {
        // 30 days of 10 cents are 300 of 400, and posts and favorites share the rest.
        #expect(Self.plan(life: 10).left(for: .past(.ownPosts)) == Self.cent * 50)
        #expect(Self.plan(life: 10).left(for: .past(.favorites)) == Self.cent * 50)
        #expect(Self.plan(cents: 300, life: 8).left(for: .past(.ownPosts)) == Self.cent * 30)
        #expect(Self.plan(cents: 300, life: 20).left(for: .past(.ownPosts)) == .zero)
        #expect(Self.plan(cents: 300, life: 20).months(toPay: [.posts: Self.cent])[.posts] == nil)
    }

    /// Every look at them buys the newest ones again.
    @Test func newFavoritesArePaidForEvenlyOverTheMonth() {
        var plan = Self.plan()
        plan.wanted = []
        // A thirtieth of the half.
        #expect(plan.left(for: .feed(.favorites)) == Money(microdollars: 66_666))
        plan.pay(Money(microdollars: 66_666), for: .feed(.favorites))
        #expect(plan.left(for: .feed(.favorites)) == .zero)
        #expect(
            plan.nextChance(for: .feed(.favorites), toPay: Self.cent)
                == Self.date("2026-11-02T00:00:00Z"))
        #expect(Self.plan("2026-11-30").left(for: .feed(.favorites)) == Self.cent * 100)
    }

    /// The months until 3,200 posts and 800 favorites are paid for, as docs/settings.md has them:
    /// with the authors of favorites, which were bought before, and without.
    @Test(arguments: [
        (5, false, 12, 9), (10, false, 6, 5), (25, false, 3, 2), (50, false, 2, 2),
        (5, true, 6, 2), (10, true, 3, 2), (25, true, 2, 1), (50, true, 1, 1),
    ])
    func fourBudgetsPayForAPast(dollars: Int, isOwner: Bool, before: Int, after: Int) {
        let plan = MonthPlan.ofThirtyDays(budget: Self.cent * 100 * dollars, lifePerDay: .zero)
        let author = Money(microdollars: 10_000)
        let item = Money(microdollars: isOwner ? 1_000 : 5_000)
        func months(_ favorite: Money) -> Int? {
            plan.months(toPay: [.posts: item * 3_200, .favorites: favorite * 800]).values.max()
        }
        #expect(months(item + author) == before)
        #expect(months(item) == after)
    }

    @Test(arguments: [
        ("2026-02-01", 28, 28), ("2028-02-29", 29, 1), ("2026-12-31", 31, 1), ("2026-06-30", 30, 1),
        ("2026-01-02", 31, 30),
    ])
    func monthsHaveTheirDays(day: String, days: Int, left: Int) {
        let plan = Self.plan(day)
        #expect(plan.days == days)
        #expect(plan.daysLeft == left)
    }

    @Test func aBudgetOfNothingPaysForNothing() {
        for cents in [0, -5] {
            let plan = Self.plan(cents: cents)
            #expect(plan.left(for: .publish) == .zero)
            #expect(plan.left(for: .past(.ownPosts)) == .zero)
            #expect(plan.months(toPay: [.posts: Self.cent, .favorites: .zero]) == [.favorites: 0])
        }
        let most = MonthPlan(
            budget: Money(microdollars: .max), at: Self.date("2026-11-10T00:00:00Z"))
        #expect(most.left(for: .past(.home)) > .zero)
        #expect(most.keptForLife > .zero)
    }

    @Test func everyPurposeHasALabelOfItsOwn() {
        let purposes =
            [SpendingPurpose.lookUp, .publish] + Feed.allCases.map(SpendingPurpose.feed)
            + Feed.allCases.map(SpendingPurpose.past)
        #expect(Set(purposes.map(\.label)).count == purposes.count)
        for purpose in purposes { #expect(SpendingPurpose(label: purpose.label) == purpose) }
        #expect(SpendingPurpose(label: "of another version").part == .life)
    }

    @Test func monthsAreCountedWithBothParts() {
        // A dollar a month for each; once favorites are read, posts have two.
        let months = Self.plan().months(toPay: [
            .posts: Self.cent * 500, .favorites: Self.cent * 150,
        ])
        #expect(months == [.posts: 4, .favorites: 2])
        #expect(Self.plan().months(toPay: [:]).isEmpty)
        #expect(
            Self.plan().months(toPay: [.posts: Self.cent * 5], smallest: [.posts: Self.cent * 500])[
                .posts] == 1)
        #expect(
            Self.plan().months(
                toPay: [.posts: Self.cent * 501], smallest: [.posts: Self.cent * 500])[.posts]
                == nil)
    }

    // MARK: Whole months, drawn at random

    /// A mirror that lives and learns by its plan, day after day.
    private struct Life {
        var generator: SplitMix64
        let budget: Money
        let itemPrice: [MonthPlan.Part: Money]
        var left: [MonthPlan.Part: Int]
        var paid: [MonthPlan.Part: Money] = [:]
        var month = ""
        var plan: MonthPlan
        var starved = 0

        init(seed: UInt64) {
            generator = SplitMix64(seed: seed)
            budget = cent * Int.random(in: 50...2_000, using: &generator)
            itemPrice = [
                .posts: Money(microdollars: Int.random(in: 500...10_000, using: &generator)),
                .favorites: Money(microdollars: Int.random(in: 500...20_000, using: &generator)),
            ]
            left = [
                .posts: Int.random(in: 0...900, using: &generator),
                .favorites: Int.random(in: 0...300, using: &generator),
            ]
            plan = MonthPlan(budget: budget, at: date("2026-01-01T00:00:00Z"))
        }

        /// - Parameter life: What life wants to spend on the day.
        mutating func live(_ now: Date, life: Money) {
            let spent = plan
            plan = MonthPlan(
                budget: budget, at: now, wanted: Set(left.filter { $0.value > 0 }.keys))
            let name = String(now.rfc3339.prefix(7))
            if name == month {
                for (part, amount) in spent.spent { plan.pay(amount, for: purpose(part)) }
            }
            month = name
            var wishes = [MonthPlan.Part.life, .posts, .favorites]
            wishes.shuffle(using: &generator)
            for wish in wishes {
                guard let price = itemPrice[wish] else {
                    let amount = min(life, plan.left(for: .feed(.mentions)))
                    if amount < life { starved += 1 }
                    plan.pay(amount, for: .feed(.mentions))
                    continue
                }
                while left[wish, default: 0] > 0, plan.left(for: purpose(wish)) >= price {
                    plan.pay(price, for: purpose(wish))
                    paid[wish, default: .zero] = paid[wish, default: .zero] + price
                    left[wish, default: 0] -= 1
                    #expect(
                        budget - plan.total >= plan.keptForLife, "learning took what life needs")
                }
            }
        }

        private func purpose(_ part: MonthPlan.Part) -> SpendingPurpose {
            switch part {
            case .life: .feed(.mentions)
            case .posts: .past(.ownPosts)
            case .favorites: .past(.favorites)
            }
        }
    }

    /// A life within its half never waits, the budget always holds, learning keeps to its half, and
    /// everything is bought exactly once.
    @Test(arguments: UInt64(1)...60) func noMonthIsOverspentAndNoAnswerWaits(seed: UInt64) {
        var life = Life(seed: seed)
        let items = life.left
        let start = Self.date("2026-01-01T00:00:00Z")
        let daily = Money(microdollars: life.budget.microdollars / 2 / 31)
        var months = 0
        for day in 0..<36_500 where life.left.values.contains(where: { $0 > 0 }) {
            let now = start + Double(day) * 86_400
            let isFirst = String(now.rfc3339.prefix(7)) != life.month
            if isFirst { months += 1 }
            life.live(
                now,
                life: Money(
                    microdollars: Int.random(in: 0...daily.microdollars, using: &life.generator)))
            #expect(life.plan.total <= life.budget)
            let learned = life.plan.spent.filter { $0.key != .life }.values.reduce(.zero, +)
            #expect(learned <= life.plan.learningShare)
        }
        #expect(life.starved == 0)
        #expect(life.left.values.allSatisfy { $0 == 0 })
        for (part, number) in items {
            #expect(life.paid[part] ?? .zero == (life.itemPrice[part] ?? .zero) * number)
        }
        // What was foretold is about what it took: a month's last item leaves something over, and
        // what one part did not need went to the other at once.
        let costs = Dictionary(
            uniqueKeysWithValues: items.map { ($0, (life.itemPrice[$0] ?? .zero) * $1) })
        let foretold = MonthPlan.ofThirtyDays(budget: life.budget, lifePerDay: .zero).months(
            toPay: costs)
        #expect(foretold.values.max() ?? 0 <= months + 1)
        #expect(months <= (foretold.values.max() ?? 0) * 6 / 5 + 2)
    }

    /// A life that wants more than there is gets everything that learning has not had.
    @Test(arguments: UInt64(1)...20) func aGreedyLifeGetsTheRest(seed: UInt64) {
        var life = Life(seed: seed)
        for day in 0..<31 {
            life.live(Self.date("2026-01-01T00:00:00Z") + Double(day) * 86_400, life: life.budget)
            #expect(life.plan.total <= life.budget)
        }
        #expect(life.plan.left(for: .publish) == .zero)
        #expect(
            life.plan.spent[.life] ?? .zero >= Money(microdollars: life.budget.microdollars / 2))
    }
}
