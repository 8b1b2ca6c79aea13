/// An amount of US dollars, exact to the millionth.
package struct Money: Sendable, Hashable, Comparable, CustomStringConvertible {
    package var microdollars: Int

    package init(microdollars: Int) {
        self.microdollars = microdollars
    }

    package static let zero = Money(microdollars: 0)

    package static func < (first: Money, second: Money) -> Bool { first.microdollars < second.microdollars }

    /// The sum; the largest amount there is where it would be larger.
    package static func + (first: Money, second: Money) -> Money {
        let (sum, overflow) = first.microdollars.addingReportingOverflow(second.microdollars)
        return Money(microdollars: overflow ? (second.microdollars > 0 ? .max : .min) : sum)
    }

    /// The difference; the smallest or largest amount there is where it would be beyond.
    package static func - (first: Money, second: Money) -> Money {
        let (difference, overflow) = first.microdollars.subtractingReportingOverflow(second.microdollars)
        return Money(microdollars: overflow ? (second.microdollars > 0 ? .min : .max) : difference)
    }

    /// So many times the amount; the largest there is where it would be larger.
    package static func * (amount: Money, count: Int) -> Money {
        let (product, overflow) = amount.microdollars.multipliedReportingOverflow(by: count)
        return Money(microdollars: overflow ? ((amount.microdollars < 0) == (count < 0) ? .max : .min) : product)
    }

    /// `$3.20`, with as many digits after the point as the amount needs, but at least two.
    package var description: String {
        let magnitude = microdollars.magnitude
        var fraction = String(magnitude % 1_000_000 + 1_000_000).dropFirst()
        while fraction.count > 2, fraction.last == "0" { fraction.removeLast() }
        return "\(microdollars < 0 ? "-" : "")$\(magnitude / 1_000_000).\(fraction)"
    }
}

/// What money is spent on.
package enum SpendingPurpose: Sendable, Hashable {
    /// Reading a feed.
    case feed(Feed)
    /// Reading single posts and accounts.
    case lookUp
    case publish

    /// A stable label for storage and metrics.
    package var label: String {
        switch self {
        case .feed(let feed): feed.rawValue
        case .lookUp: "look-up"
        case .publish: "publish"
        }
    }
}
