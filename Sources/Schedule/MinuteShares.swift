package import Posts

/// The share of a day's posts in each of several equally long stretches of the day, for a plot.
package struct MinuteShares: Equatable, Sendable {
    /// The share of each stretch, from midnight on; they sum to 1 or are all 0.
    package let shares: [Double]

    /// The shares of observed or planned minutes.
    ///
    /// - Parameters:
    ///   - binCount: The number of stretches of the day: a divisor of 1,440, for example 24 for
    ///     hours.
    package init(of minutes: some Sequence<MinuteOfDay>, binCount: Int = 24) {
        var masses = Array(repeating: 0.0, count: MinuteOfDay.count)
        for minute in minutes { masses[minute.value] += 1 }
        self.init(masses: masses, binCount: binCount)
    }

    /// The expected shares under a distribution.
    package init(of distribution: MinuteDistribution, binCount: Int = 24) {
        self.init(masses: distribution.probabilities, binCount: binCount)
    }

    /// - Parameter masses: The number or probability of posts in each minute of the day.
    private init(masses: [Double], binCount: Int) {
        let bins = min(max(1, binCount), MinuteOfDay.count)
        var sums = Array(repeating: 0.0, count: bins)
        for (minute, mass) in masses.enumerated() {
            sums[minute * bins / MinuteOfDay.count] += mass
        }
        let total = sums.reduce(0, +)
        shares = total > 0 ? sums.map { $0 / total } : sums
    }

    /// The minute at which stretch `index` begins.
    package func start(of index: Int) -> MinuteOfDay {
        // Rounded up to the first whole minute that belongs to the stretch.
        let start = (index * MinuteOfDay.count + shares.count - 1) / shares.count
        return MinuteOfDay(hour: 0, minute: start)
    }
}
