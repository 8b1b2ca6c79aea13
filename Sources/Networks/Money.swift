package import Foundation

/// An amount of US dollars, exact to the millionth.
package struct Money: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var microdollars: Int

    package init(microdollars: Int) {
        self.microdollars = microdollars
    }

    /// No money.
    package static let zero = Money(microdollars: 0)

    package static func < (first: Money, second: Money) -> Bool {
        first.microdollars < second.microdollars
    }

    /// The sum, limited to the largest amount.
    package static func + (first: Money, second: Money) -> Money {
        let (sum, overflow) = first.microdollars.addingReportingOverflow(second.microdollars)
        guard !overflow else { return Money(microdollars: second.microdollars > 0 ? .max : .min) }
        return Money(microdollars: sum)
    }

    /// The difference, limited to the smallest and largest amount.
    package static func - (first: Money, second: Money) -> Money {
        let (difference, overflow) = first.microdollars.subtractingReportingOverflow(
            second.microdollars)
        guard !overflow else { return Money(microdollars: second.microdollars > 0 ? .min : .max) }
        return Money(microdollars: difference)
    }

    /// A multiple of the amount, limited to the largest amount.
    package static func * (amount: Money, count: Int) -> Money {
        let (product, overflow) = amount.microdollars.multipliedReportingOverflow(by: count)
        guard !overflow else {
            let isPositive = (amount.microdollars < 0) == (count < 0)
            return Money(microdollars: isPositive ? .max : .min)
        }
        return Money(microdollars: product)
    }

    /// The amount as a text such as `$3.20`, rounded to the cent.
    package var cents: String {
        let rounded = (microdollars.magnitude + 5_000) / 10_000
        let cents = rounded % 100
        let twoDigits = cents < 10 ? "0\(cents)" : "\(cents)"
        return "\(microdollars < 0 ? "-" : "")$\(rounded / 100).\(twoDigits)"
    }

    /// The amount as a text such as `$3.20`, with as many decimals as it needs, but at least two.
    package var description: String {
        let magnitude = microdollars.magnitude
        // The seventh digit is added and dropped, so that the fraction keeps its leading zeros.
        var fraction = String(magnitude % 1_000_000 + 1_000_000).dropFirst()
        while fraction.count > 2, fraction.last == "0" { fraction.removeLast() }
        return "\(microdollars < 0 ? "-" : "")$\(magnitude / 1_000_000).\(fraction)"
    }
}

/// The purpose of an expense.
package enum SpendingPurpose: Sendable, Hashable {
    /// Reading the new items of a feed.
    case feed(Feed)
    /// Reading the past of a feed, for the training of the models.
    case past(Feed)
    /// Reading single posts and accounts.
    case lookUp
    /// Checking whether the human's posts that the bot repeated still exist.
    case originals
    case publish

    /// A stable label for storage and metrics.
    package var label: String {
        switch self {
        case .feed(let feed): feed.rawValue
        case .past(let feed): "past-\(feed.rawValue)"
        case .lookUp: "look-up"
        case .originals: "originals"
        case .publish: "publish"
        }
    }
}

/// Records the cost of calls, and refuses calls beyond the operator's budget.
///
/// Amounts are reserved before a call and corrected after it, so that a process that is killed in
/// between counts too much and never too little.
package protocol SpendingBook: Sendable {
    /// Reserves an amount of the budget.
    ///
    /// - Parameters:
    ///   - amount: The maximum cost of the call.
    ///   - purpose: The purpose of the call; a purpose may have its own share of the budget.
    ///   - now: The time of the call, whose month and day in UTC determine the budget.
    /// - Returns: Nil if the amount is reserved; else the time at which enough money may be
    ///   available again.
    func reserve(_ amount: Money, for purpose: SpendingPurpose, at now: Date) async throws -> Date?

    /// Records a cost beyond the reservation, even if it exceeds the budget, because it is already
    /// owed.
    ///
    /// - Parameters:
    ///   - amount: The cost beyond the reservation.
    func charge(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws

    /// Releases the unused part of a reservation, after the call has ended.
    ///
    /// - Parameters:
    ///   - amount: At most the reserved amount; zero if all of it was used.
    func giveBack(_ amount: Money, for purpose: SpendingPurpose, reservedAt: Date) async throws
}
