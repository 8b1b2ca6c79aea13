import Foundation
import Mirroring
import Networks
import Posts
import Testing
import X

/// Compares the documented table of what 5 dollars a month buy on X with the price table and the
/// month's plan.
@Suite struct PriceTableTests {
    private static let header = "| 5 dollars a month | buy |"
    private static let prices = XPrices.current

    private static func read(_ items: Int, _ feed: Feed, owned: Bool) -> Money {
        prices.price(ofReading: items, from: feed, ownsApp: owned)
    }

    /// The most items that an amount pays for.
    private static func most(_ amount: Money, _ price: (Int) -> Money) -> String {
        ((0...10_000).last { price($0) <= amount } ?? 0).formatted(
            .number.locale(Locale(identifier: "en_US")))
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
        let life = plan.keptForLife
        let posts = plan.share(of: .posts)
        let favorites = plan.share(of: .favorites)
        let answer = read(1, .mentions, owned: false) + prices.summonedReply
        let all = whole(plan, owned: false)
        let owned = whole(plan, owned: true)
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

    /// What each reading asks for, and its price.
    static var fields: [String] {
        let rows: [(String, XReader, Money, Money?)] = [
            (
                "the account's own posts", .own, read(1, .ownPosts, owned: false),
                read(1, .ownPosts, owned: true)
            ),
            (
                "single own posts, whether they are still there", .own,
                prices.priceOfLookUp(of: .own), nil
            ),
            (
                "favorites", .learned, read(1, .favorites, owned: false),
                read(1, .favorites, owned: true)
            ),
            (
                "mentions", .others, read(1, .mentions, owned: false),
                read(1, .mentions, owned: true)
            ),
            ("the home timeline", .others, read(1, .home, owned: false), nil),
            ("single posts of others", .others, prices.priceOfLookUp(of: .others), nil),
        ]
        let header = [
            "<!-- fields -->",
            "| what is read | price of a post; with `X_APP_OWNER` | what comes with it | fields of a post |",
            "| --- | --- | --- | --- |",
        ]
        return header
            + rows.map { what, reader, price, owned in
                let amounts = [price, owned].compactMap { $0?.description }.joined(separator: "; ")
                let comes =
                    reader.expansions(.tweet).isEmpty ? "nothing" : "its author, in the price"
                let fields = reader.postFields(.tweet).map { "`\($0)`" }.joined(separator: ", ")
                return "| \(what) | \(amounts) | \(comes) | \(fields) |"
            }
    }

    @Test func theFieldsStandBesideThePrices() throws {
        let lines = try Repository.text(of: "docs/settings.md").components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: "<!-- fields -->"))
        #expect(Array(lines[start...].prefix(Self.fields.count)) == Self.fields)
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
