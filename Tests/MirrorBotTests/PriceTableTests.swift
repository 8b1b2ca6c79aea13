import Foundation
import Mirroring
import Networks
import Posts
import Testing

/// Compares the documented table of what 5 dollars a month buy on X with the price table and the month's plan.
@Suite struct PriceTableTests {
    private static let header = "| 5 dollars a month | buy |"
    private static let prices = XPrices.current

    private static func read(_ items: Int, _ feed: Feed, owned: Bool) -> Money {
        prices.price(ofReading: items, from: feed, ownsApp: owned)
    }

    /// The most items that an amount pays for.
    private static func most(_ amount: Money, _ price: (Int) -> Money) -> String {
        ((0...10_000).last { price($0) <= amount } ?? 0).formatted(.number.locale(Locale(identifier: "en_US")))
    }

    /// What the whole past costs, and how many months it takes.
    private static func whole(_ plan: MonthPlan, owned: Bool) -> (cost: Money, months: Int) {
        let costs: [MonthPlan.Part: Money] = [
            .posts: read(SchedulerTrainer.backfillLimit, .ownPosts, owned: owned),
            .favorites: read(ClassifierTrainer.seedSize, .favorites, owned: owned),
        ]
        return (costs.values.reduce(.zero, +), plan.months(toPay: costs).values.max() ?? 0)
    }

    static var table: [String] {
        let plan = MonthPlan.ofThirtyDays(budget: Money(microdollars: 5_000_000), lifePerDay: .zero)
        let (life, posts, favorites) = (plan.keptForLife, plan.share(of: .posts), plan.share(of: .favorites))
        let answer = read(1, .mentions, owned: false) + prices.summonedReply
        let (all, owned) = (whole(plan, owned: false), whole(plan, owned: true))
        let owner = "`X_APP_OWNER=human`"
        return [
            header, "| --- | --- |",
            "| at least \(life.cents) for what the bot does | \(most(life) { answer * $0 }) mentions read and answered, or "
                + "\(most(life) { prices.postCreate * $0 }) posts, or \(most(life) { prices.postCreateWithURL * $0 }) posts "
                + "with a link |",
            "| at most \(posts.cents) for the human's older posts | \(most(posts) { read($0, .ownPosts, owned: false) }) "
                + "posts; \(most(posts) { read($0, .ownPosts, owned: true) }) with \(owner) |",
            "| at most \(favorites.cents) for their favorites | \(most(favorites) { read($0, .favorites, owned: false) }) "
                + "favorites; \(most(favorites) { read($0, .favorites, owned: true) }) with \(owner) |",
            "| all 3,200 posts and 800 favorites | \(all.cost.cents) in \(all.months) months; \(owned.cost.cents) in "
                + "\(owned.months) months with \(owner); nothing with a downloaded archive |",
        ]
    }

    @Test func theTextsHaveTheTableOfTheProgram() throws {
        var found = 0
        for page in ["README.md", "docs/settings.md"] {
            let lines = try Repository.text(of: page).components(separatedBy: "\n")
            guard let start = lines.firstIndex(of: Self.header) else { continue }
            found += 1
            #expect(Array(lines[start...].prefix(Self.table.count)) == Self.table, "\(page)")
        }
        #expect(found > 0)
    }
}
