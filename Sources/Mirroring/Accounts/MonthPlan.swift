package import Foundation
package import Networks
import Posts

/// The division of one calendar month's money between the bot's daily work (“life”) and its
/// learning.
///
/// | part | pays for | may use |
/// | --- | --- | --- |
/// | life | mentions, answers, new posts of the human, publishing, home timelines | the whole budget |
/// | of life: following | looks at the human's posts that the bot repeated | half of the budget less the cost of the rest of life, at least a quarter of the budget |
/// | posts | older posts of the human | half of learning's share, or all of it once no favorites are wanted |
/// | favorites | favorites, and posts to compare them with | the same, once no posts are wanted |
///
/// Learning's share is half of the budget, or less if life needs more. Life's need for the rest of
/// the month is kept back: its half of the budget in proportion to the days left, or its recent
/// cost a day, whichever is more. New favorites are paid for evenly over the month, because every
/// look at them buys the newest ones again; following is paid evenly too, because every original is
/// to be looked at each day.
///
/// A value without side effects: ``SpendingTable`` fills it from the database and asks it before
/// each call.
package struct MonthPlan: Sendable, Equatable {
    /// The part of the budget that pays for a call.
    package enum Part: Sendable {
        case life
        case posts
        case favorites

        /// The other half of learning; `nil` for life.
        fileprivate var other: Part? {
            switch self {
            case .life: nil
            case .posts: .favorites
            case .favorites: .posts
            }
        }
    }

    /// The budget for all calls of the month.
    package let budget: Money
    /// The number of days of the month.
    package let days: Int
    /// The number of days left, today included.
    package let daysLeft: Int
    /// The end of today, in UTC.
    package let tomorrow: Date
    /// The end of the month, in UTC.
    package let end: Date
    /// The recent cost of the daily work, per day.
    package var lifePerDay: Money
    /// The recent cost of following, per day: a part of ``lifePerDay``.
    package var followingPerDay = Money.zero
    /// The parts of learning that still have something to read.
    package var wanted: Set<Part>
    /// The cost of each part in this month so far.
    package private(set) var spent: [Part: Money] = [:]
    /// The part of that cost that went to new favorites.
    private var newFavorites = Money.zero
    /// The part of that cost that went to following.
    private var following = Money.zero

    /// - Parameter now: Any instant of the day to plan for.
    package init(
        budget: Money, at now: Date, lifePerDay: Money = .zero,
        wanted: Set<Part> = [.posts, .favorites]
    ) {
        let today = LocalTime(now, in: .gmt).day
        let month = SpendingPeriod.month(of: now)
        self.budget = max(budget, .zero)
        self.lifePerDay = lifePerDay
        self.wanted = wanted
        tomorrow = SpendingPeriod.day(of: now).end
        end = month.end
        daysLeft = LocalTime(month.end, in: .gmt).day.ordinal - today.ordinal
        // The days of the month before today, and those that are left.
        days = today.components.day - 1 + daysLeft
    }

    /// Adds the cost of calls for a purpose; a negative amount takes a cost back.
    package mutating func pay(_ amount: Money, for purpose: SpendingPurpose) {
        spent[purpose.part, default: .zero] = max(
            spent[purpose.part, default: .zero] + amount, .zero)
        if purpose == .feed(.favorites) { newFavorites = max(newFavorites + amount, .zero) }
        if purpose == .originals { following = max(following + amount, .zero) }
    }

    /// The cost of all parts so far.
    package var total: Money { spent.values.reduce(.zero, +) }

    private var halfOfBudget: Money { Money(microdollars: budget.microdollars / 2) }

    /// The most that learning may cost in a month: half of the budget, or less if life needs more.
    package var learningShare: Money { max(min(halfOfBudget, budget - lifePerDay * days), .zero) }

    /// The expected cost of the daily work from today to the end of the month.
    package var keptForLife: Money {
        let proportion = (budget - halfOfBudget).scaled(daysLeft, of: days)
        return min(max(proportion, lifePerDay * daysLeft), budget)
    }

    /// The most that a part may cost in the month.
    package func share(of part: Part) -> Money {
        guard let other = part.other else { return budget }
        return wanted.contains(other)
            ? Money(microdollars: learningShare.microdollars / 2) : learningShare
    }

    /// The most that following may cost in the month.
    package var followingShare: Money {
        let quarter = Money(microdollars: budget.microdollars / 4)
        return max(quarter, halfOfBudget - (lifePerDay - followingPerDay) * days)
    }

    /// Returns the money that calls with this purpose may still spend now.
    package func left(for purpose: SpendingPurpose) -> Money {
        let part = purpose.part
        if purpose == .originals {
            let allowance = followingShare.scaled(daysGone, of: days) - following
            return max(min(budget - total, allowance), .zero)
        }
        guard part != .life else { return max(budget - total, .zero) }
        var amount = min(leftOfShare(part), budget - total - keptForLife)
        if purpose == .feed(.favorites) {
            let allowance = share(of: part).scaled(daysGone, of: days) - newFavorites
            amount = min(amount, allowance)
        }
        return max(amount, .zero)
    }

    /// The next time at which more money may be left for a purpose.
    ///
    /// - Parameter amount: The amount that is wanted and not left now.
    package func nextChance(for purpose: SpendingPurpose, toPay amount: Money) -> Date {
        if purpose == .originals {
            return budget - total >= amount && followingShare >= amount ? tomorrow : end
        }
        guard purpose.part != .life, leftOfShare(purpose.part) >= amount else { return end }
        // The amount kept back for life shrinks with every day, and the allowance of new favorites
        // grows.
        return tomorrow
    }

    /// The number of further months until the rest of each part of learning is paid for.
    ///
    /// - Parameters:
    ///   - costs: The costs that remain after this month.
    ///   - smallest: The price of the smallest page of each part; a month that cannot pay it reads
    ///     nothing.
    /// - Returns: No number for a part that would take more than ten years.
    package func months(toPay costs: [Part: Money], smallest: [Part: Money] = [:]) -> [Part: Int] {
        var open = costs.filter { $0.key != .life && $0.value > .zero }
        var months = costs.mapValues { _ in 0 }.filter { open[$0.key] == nil }
        var month = MonthPlan.ofThirtyDays(budget: budget, lifePerDay: lifePerDay)
        for number in 1...Self.mostMonths where !open.isEmpty {
            month.spent = [:]
            month.newFavorites = .zero
            month.wanted = Set(open.keys)
            for part in [Part.posts, .favorites] {
                guard let cost = open[part] else { continue }
                let paid = min(cost, month.left(for: part.purpose))
                let priceOfPage = smallest[part] ?? Money(microdollars: 1)
                guard paid == cost || paid >= priceOfPage else { continue }
                month.pay(paid, for: part.purpose)
                open[part] = paid == cost ? nil : cost - paid
                if paid == cost { months[part] = number }
            }
        }
        return months
    }

    /// The plan of a month of 30 days that has just begun.
    package static func ofThirtyDays(
        budget: Money, lifePerDay: Money, wanted: Set<Part> = [.posts, .favorites]
    ) -> MonthPlan {
        MonthPlan(budget: budget, at: april, lifePerDay: lifePerDay, wanted: wanted)
    }

    /// The number of months that ``months(toPay:smallest:)`` looks ahead.
    private static let mostMonths = 120
    /// The first day of April 1970.
    private static let april = Date(timeIntervalSince1970: 90 * 86_400)

    /// The days of the month that have begun, today included.
    private var daysGone: Int { days - daysLeft + 1 }

    private func leftOfShare(_ part: Part) -> Money {
        let learned = spent[.posts, default: .zero] + spent[.favorites, default: .zero]
        return min(share(of: part) - spent[part, default: .zero], learningShare - learned)
    }
}

extension MonthPlan.Part {
    /// The purpose of calls that read the past for this part.
    fileprivate var purpose: SpendingPurpose {
        switch self {
        case .life: .lookUp
        case .posts: .past(.ownPosts)
        case .favorites: .past(.favorites)
        }
    }
}

extension SpendingPurpose {
    /// The part of the budget that pays for calls with this purpose.
    package var part: MonthPlan.Part {
        switch self {
        case .past(.ownPosts): .posts
        case .past(.favorites), .past(.home), .feed(.favorites): .favorites
        case .feed, .past(.mentions), .lookUp, .originals, .publish: .life
        }
    }

    /// The purpose with a label; `.lookUp`, a part of life, for a label that this version does not
    /// know.
    init(label: String) { self = Self.labelled[label] ?? .lookUp }

    private static let labelled: [String: Self] = {
        let feeds = Feed.allCases.map(Self.feed) + Feed.allCases.map(Self.past)
        let purposes = [Self.lookUp, .originals, .publish] + feeds
        return Dictionary(uniqueKeysWithValues: purposes.map { ($0.label, $0) })
    }()
}

extension Money {
    /// The share `part / whole` of the amount, rounded down.
    fileprivate func scaled(_ part: Int, of whole: Int) -> Money {
        // The product may need more than 64 bits.
        let product = microdollars.multipliedFullWidth(by: part)
        return Money(microdollars: whole.dividingFullWidth(product).quotient)
    }
}
