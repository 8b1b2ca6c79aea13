import Archive
package import Foundation
import Localization
package import Mirroring
package import Networks
import Outbox
package import Posts
import Schedule
package import Settings
import Storage

/// The expected cost of a month of 30 days, by item.
///
/// Computed only from rates, the settings, and the current prices.
package struct MonthForecast: Equatable, Sendable {
    /// Average numbers per day.
    package struct Rates: Equatable, Sendable {
        /// The bot's posts.
        package var posts = 0.0
        /// New posts of the human.
        package var humanPosts = 0.0
        /// Mentions that the bot reads and answers.
        package var mentions = 0.0
        /// The number of the human's posts of which copies exist already; this is not a rate.
        package var originals = 0
        /// The source of these numbers, as the rest of a sentence.
        package var source = ""

        package init(
            posts: Double, humanPosts: Double, mentions: Double, originals: Int = 0, source: String
        ) {
            self.posts = posts
            self.humanPosts = humanPosts
            self.mentions = mentions
            self.originals = originals
            self.source = source
        }
    }

    /// One item of expenses.
    package struct Line: Equatable, Sendable {
        package let what: String
        package let amount: Money
    }

    private static let days = 30

    /// The expenses in the order of priority, without free items.
    package let lines: [Line]
    package let budget: Money
    /// The cost of the bot's daily work, without training.
    package let costOfDailyWork: Money
    /// The settings and rates that the amounts assume.
    package let assumptions: [String]

    package var total: Money { lines.map(\.amount).reduce(.zero, +) }

    /// Whether the budget pays for the bot's daily work.
    package var isEnough: Bool { costOfDailyWork <= budget }

    /// - Parameters:
    ///   - rates: The average numbers per day.
    ///   - networks: The networks of the accounts that the mirror has.
    ///   - settings: The mirror's settings.
    ///   - left: The part of the trainings that is still to be done.
    /// - Returns: `nil` if everything is free.
    package init?(
        _ rates: Rates, on networks: [AccountRole: NetworkName], _ settings: MirrorSettings,
        left: TrainingLeft
    ) {
        let prices = networks.compactMapValues(\.descriptor.prices)
        guard let samplePrices = prices.values.first else { return nil }
        budget = settings.monthlyBudget
        var dailyWork: [Line] = []
        func add(_ count: Int, _ what: LocalizedText, cost: Money) {
            if count > 0, cost > .zero {
                dailyWork.append(Line(what: what.description, amount: cost))
            }
        }
        if let bot = prices[.bot] {
            let mentions = Self.count(rates.mentions)
            add(
                mentions, LocalizedText("\(mentions) mentions and answers"),
                cost: (bot.priceOfReading(1, .mentions, .bot, settings) + bot.reply) * mentions)
            if networks[.bot]?.descriptor.policy?.isAcknowledged(settings) ?? true {
                let posts = Self.count(rates.posts)
                add(posts, LocalizedText("\(posts) posts"), cost: bot.post * posts)
            }
        }
        if let human = prices[.human] {
            let posts = Self.count(rates.humanPosts)
            add(
                posts, LocalizedText("\(posts) new posts of the human read"),
                cost: human.priceOfReading(1, .ownPosts, .human, settings) * posts)
        }
        let home = samplePrices.homeShare(settings) * Self.days
        add(
            home > .zero ? Self.days : 0, LocalizedText("\(Self.days) days of home timelines"),
            cost: home)
        if let human = prices[.human] {
            let otherCostPerDay = Money(
                microdollars: dailyWork.map(\.amount).reduce(.zero, +).microdollars / Self.days)
            let plan = MonthPlan.ofThirtyDays(budget: budget, lifePerDay: otherCostPerDay)
            // The copies of the month are sent one after the other, so half of them exist on an
            // average day.
            let originals = rates.originals + Self.count(rates.posts) / 2
            let costOfLooks = min(
                human.priceOfOwnPost(settings) * originals * Self.days, plan.followingShare)
            if originals > 0, costOfLooks > .zero {
                dailyWork.append(
                    Line(
                        what: localized("looks whether originals are still there"),
                        amount: costOfLooks))
            }
        }
        let costOfDailyWork = dailyWork.map(\.amount).reduce(.zero, +)
        let learning = prices[.human].map { human in
            Self.learning(left, costOfDailyWork: costOfDailyWork, settings) {
                human.priceOfReading($0, $1, .human, settings)
            }
        }
        self.costOfDailyWork = costOfDailyWork
        lines = dailyWork + (learning ?? [])
        assumptions =
            [
                localized(
                    "\(Self.postRate(rates.posts)) and \(Self.mentionRate(rates.mentions)) a day (\(rates.source))"
                )
            ]
            + samplePrices.assumptions(settings) + [localized("the prices of \(samplePrices.day)")]
    }

    /// The cost of training, paid from the money that the daily work leaves.
    private static func learning(
        _ left: TrainingLeft, costOfDailyWork: Money, _ settings: MirrorSettings,
        _ price: (Int, Feed) -> Money
    ) -> [Line] {
        // The quotient is rounded up.
        let lifePerDay = Money(microdollars: (costOfDailyWork.microdollars + days - 1) / days)
        var plan = MonthPlan.ofThirtyDays(
            budget: settings.monthlyBudget, lifePerDay: lifePerDay,
            wanted: left.wanted(favorites: settings.favoriteMode != .off))
        var lines: [Line] = []
        func pay(_ what: String, _ purpose: SpendingPurpose, atMost cost: Money) {
            let paid = min(cost, plan.left(for: purpose))
            guard paid > .zero else { return }
            plan.pay(paid, for: purpose)
            lines.append(Line(what: what, amount: paid))
        }
        if let posts = left.itemsLeft(of: .ownPosts) {
            pay(localized("older posts"), .past(.ownPosts), atMost: price(posts, .ownPosts))
        }
        guard settings.favoriteMode != .off else { return lines }
        if let favorites = left.itemsLeft(of: .favorites) {
            pay(
                localized("older favorites"), .past(.favorites),
                atMost: price(favorites, .favorites))
        }
        if let home = left.itemsLeft(of: .home) {
            pay(
                localized("posts to compare them with"), .past(.home), atMost: price(home, .home))
        }
        // On each day with new favorites, the newest favorites are read.
        pay(
            localized("new favorites"), .past(.favorites),
            atMost: price(newFavoritesRead, .favorites) * days)
        return lines
    }

    /// The number of favorites that one reading of new favorites requests.
    private static let newFavoritesRead = 10

    private static func count(_ rate: Double) -> Int { Int((rate * Double(days)).rounded()) }

    /// Returns a rate in words, such as `3 posts`.
    private static func postRate(_ rate: Double) -> String {
        let (number, isOne) = number(rate)
        return localized(isOne ? "\(number) post" : "\(number) posts")
    }

    /// Returns a rate in words, such as `1.5 mentions`.
    private static func mentionRate(_ rate: Double) -> String {
        let (number, isOne) = number(rate)
        return localized(isOne ? "\(number) mention" : "\(number) mentions")
    }

    /// Returns a rate with one decimal at most, and whether it reads as 1.
    private static func number(_ rate: Double) -> (text: String, isOne: Bool) {
        let text = rate.formatted(.number.precision(.fractionLength(0...1)).grouping(.never))
        return (text, text == "1")
    }
}

extension HumanMirror {
    /// The days of the human's past that determine the rate of posts.
    private static let ratedDays = 60
    /// The assumed posts a day of a human without archived posts.
    private static let unknownRate = 3.0
    /// The days in which mentions are counted.
    private static let mentionDays = 28

    /// Returns the average numbers per day, as far as the mirror knows them.
    ///
    /// - Throws: The store's error.
    package func rates(now: Date) async throws -> MonthForecast.Rates {
        let times = try await archive.scheduleRows()
        var posts = Self.unknownRate
        var source = localized("assumed, for no posts are known")
        if let first = times.first?.day, let last = times.last?.day {
            let start = max(first, last.advanced(by: 1 - Self.ratedDays))
            posts =
                Double(times.count { $0.day >= start }) / Double(last.ordinal - start.ordinal + 1)
            source = localized("as the human posted last")
        }
        let startOfMentions = now - Double(Self.mentionDays) * 86_400
        let rows = try await storage.query(
            """
            SELECT COUNT(*) AS number FROM actions
            WHERE mirror = \(name) AND kind = 'reply' AND created_ms >= \(startOfMentions.milliseconds)
            """)
        let mentions = try rows.first?.int("number") ?? 0
        let mostPosts = Double(configuration.schedule.maximumPerDay)
        var originals = 0
        if let network = try await FoundAccounts(in: self).accounts[.human]?.network {
            originals = try await outbox(lease: nil).following(on: network, now: now).all
        }
        // For a bot that nobody has mentioned yet, one mention a day is assumed.
        return MonthForecast.Rates(
            posts: min(posts, mostPosts), humanPosts: posts,
            mentions: mentions > 0 ? Double(mentions) / Double(Self.mentionDays) : 1,
            originals: originals,
            source: source)
    }

    /// The expected cost of the next month; `nil` for free networks.
    ///
    /// - Throws: The store's error.
    package func monthForecast(now: Date) async throws -> MonthForecast? {
        let networks = try await FoundAccounts(in: self).accounts.mapValues(\.network)
        guard networks.values.contains(where: { $0.descriptor.prices != nil }) else { return nil }
        return MonthForecast(
            try await rates(now: now), on: networks, configuration,
            left: try await feeds.trainingLeft())
    }
}
