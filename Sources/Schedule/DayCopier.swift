package import Posts

/// Transfers the posts of one of the human's days to another day.
///
/// People write a few posts in one or two sittings a day, while minutes that are drawn one by one
/// scatter over all hours. So the uniform numbers of the inverse transform are taken from a real
/// day: each post's rank in the cumulative distribution of minutes, moved a little, is the rank of
/// its copy. Posts of one sitting stay together, and hours in which the human seldom posts are
/// skipped.
///
/// A copy stays in the stretch of ``UsedMinutes`` that its original is in: unused hours have nearly
/// no probability, so a small shift of the rank could move the post by hours.
package struct DayCopier: Sendable {
    /// The scale of the random shift that all posts of a day have in common, as a share of the
    /// distribution; it is multiplied by the sum of three uniform numbers less 1.5.
    private static let dayStep = 0.04
    /// The scale of the additional random shift of each post, as a share of the distribution.
    private static let postStep = 0.004
    /// The maximum number of minutes by which a post is postponed if its own minute is taken or
    /// closed; if none of these minutes is free, the post is dropped.
    private static let longestPostponement = 60

    private let distribution: MinuteDistribution
    /// The distribution in which ranks are measured: without unused minutes, if others are open.
    let rankDistribution: MinuteDistribution
    private let stretches: [Stretch]
    private let minimumGapMinutes: Int

    /// - Parameters:
    ///   - distribution: The minutes of the day to plan.
    ///   - hours: The minutes to use as long as one of them is open; nil for all.
    ///   - minimumGapMinutes: The least distance of two posts.
    package init(
        distribution: MinuteDistribution, hours: UsedMinutes? = nil, minimumGapMinutes: Int = 1
    ) {
        let usedDistribution = hours.flatMap { distribution.limited(to: $0) }
        let rankDistribution = usedDistribution ?? distribution
        self.distribution = distribution
        self.rankDistribution = rankDistribution
        self.minimumGapMinutes = max(1, minimumGapMinutes)
        if let hours, usedDistribution != nil {
            stretches = hours.stretches.compactMap { Stretch($0, in: rankDistribution) }
        } else {
            stretches = []
        }
    }

    /// Returns the minutes of the copy, ascending.
    ///
    /// A post that is moved past an end of its stretch, or of the day, is reflected there. A post
    /// whose minute is taken gets the next free one; after 23:59 the search goes on at 00:00 of the
    /// same day. The post is dropped if the next free minute is too far. If the human posted twice
    /// in a minute, so does the copy, unless slots must be further apart; a third post moves on.
    ///
    /// - Parameters:
    ///   - past: The minutes of the human's day, ascending.
    ///   - uniform: Returns the next random number from 0, included, to 1, excluded. Three of them
    ///     first move the whole day. Then each post takes one for its place within its minute and
    ///     three for its own move. A move is a sum of three, so that short moves are the likeliest.
    /// - Returns: At most as many minutes as `past` has; none if no minute is open.
    package func minutes(like past: [MinuteOfDay], uniform: () -> Double) -> [MinuteOfDay] {
        func move(_ step: Double) -> Double { step * (uniform() + uniform() + uniform() - 1.5) }
        let moveOfDay = move(Self.dayStep)
        var isTaken = Array(repeating: false, count: MinuteOfDay.count)
        var placed: [MinuteOfDay] = []
        // The last copied post that is alone in its minute.
        var lastAlone: (past: MinuteOfDay, copy: MinuteOfDay)?
        for minute in past {
            guard let rank = rankDistribution.uniform(at: minute, part: uniform()) else {
                return []
            }
            let movedRank = rank + moveOfDay + move(Self.postStep)
            if let previousPost = lastAlone, previousPost.past == minute, minimumGapMinutes == 1 {
                placed.append(previousPost.copy)
                lastAlone = nil
                continue
            }
            let stretch = stretches.first { $0.minutes.contains(minute.value) } ?? .day
            guard let minuteAtRank = stretch.minute(atRank: movedRank, in: rankDistribution),
                let copy = freeMinute(from: minuteAtRank, isTaken)
            else {
                continue
            }
            placed.append(copy)
            lastAlone = (minute, copy)
            let firstTaken = max(0, copy.value - minimumGapMinutes + 1)
            let endOfTaken = min(isTaken.count, copy.value + minimumGapMinutes)
            for takenMinute in firstTaken..<endOfTaken { isTaken[takenMinute] = true }
        }
        return placed.sorted()
    }

    private func freeMinute(from minute: MinuteOfDay, _ isTaken: [Bool]) -> MinuteOfDay? {
        (0...Self.longestPostponement).lazy
            .compactMap { MinuteOfDay((minute.value + $0) % MinuteOfDay.count) }
            .first { !isTaken[$0.value] && distribution.isOpen($0) }
    }
}

/// A range of consecutive minutes, with the range of their ranks.
private struct Stretch: Sendable {
    let minutes: ClosedRange<Int>
    private let ranks: ClosedRange<Double>

    static let day = Stretch(minutes: 0...MinuteOfDay.count - 1, ranks: 0...1)

    private init(minutes: ClosedRange<Int>, ranks: ClosedRange<Double>) {
        self.minutes = minutes
        self.ranks = ranks
    }

    /// Nil if no minute of the stretch is open.
    init?(_ minutes: ClosedRange<Int>, in distribution: MinuteDistribution) {
        guard let first = MinuteOfDay(minutes.lowerBound),
            let last = MinuteOfDay(minutes.upperBound),
            let lower = distribution.uniform(at: first, part: 0),
            let upper = distribution.uniform(at: last, part: 1),
            lower < upper
        else { return nil }
        self.init(minutes: minutes, ranks: lower...upper)
    }

    /// The minute at a rank, which is reflected at the ends of the stretch.
    func minute(atRank rank: Double, in distribution: MinuteDistribution) -> MinuteOfDay? {
        let width = ranks.upperBound - ranks.lowerBound
        var offset = (rank - ranks.lowerBound).truncatingRemainder(dividingBy: 2 * width)
        if offset < 0 { offset += 2 * width }
        if offset >= width { offset = 2 * width - offset }
        guard let minute = distribution.minute(atUniform: ranks.lowerBound + offset) else {
            return nil
        }
        // A rank at the very end may be rounded into the next stretch.
        return MinuteOfDay(min(max(minute.value, minutes.lowerBound), minutes.upperBound))
    }
}
