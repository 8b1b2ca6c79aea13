package import Posts

/// Carries the posts of one of the human's days over to another day.
///
/// People sit down once or twice a day and write a few posts; minutes that are drawn one by one scatter over all hours.
/// So the uniform numbers of the inverse transform come from a real day: a post of the human's has a rank in the running
/// share of the minutes, and its copy has the same one, moved a little. What was written together stays together, and
/// hours in which the human seldom posts are passed over.
package struct DayCopier: Sendable {
    /// How far all posts of a day move together: this times the sum of three uniform numbers less 1.5, as a share.
    private static let dayStep = 0.04
    /// How far each post moves besides.
    private static let postStep = 0.004
    /// How many minutes a post goes on, where its own is taken or closed, before it is dropped.
    private static let longestWalk = 60

    private let distribution: MinuteDistribution
    private let minimumGapMinutes: Int

    /// - Parameters:
    ///   - distribution: The minutes of the day to plan.
    ///   - minimumGapMinutes: The least distance of two posts.
    package init(distribution: MinuteDistribution, minimumGapMinutes: Int = 1) {
        (self.distribution, self.minimumGapMinutes) = (distribution, max(1, minimumGapMinutes))
    }

    /// The minutes of the copy, ascending.
    ///
    /// What is moved past an end of the day comes back from there, as from a mirror. A post whose minute is taken gets
    /// the next one that is free, after midnight the first of the same day; it is dropped if that is too far. Two posts of
    /// one minute stay together, unless slots must be further apart; a third one does not.
    ///
    /// - Parameters:
    ///   - past: The minutes of the human's day, ascending.
    ///   - uniform: Gives the next random number from 0, included, to 1, excluded: three for the day, then for each post
    ///     one for its place within its minute and three for its own move.
    /// - Returns: At most as many minutes as were given; none if no minute is open.
    package func minutes(like past: [MinuteOfDay], uniform: () -> Double) -> [MinuteOfDay] {
        func move(_ step: Double) -> Double { step * (uniform() + uniform() + uniform() - 1.5) }
        let together = move(Self.dayStep)
        var isTaken = Array(repeating: false, count: MinuteOfDay.count)
        var placed: [MinuteOfDay] = []
        // The last post that is alone in its minute yet.
        var single: (past: MinuteOfDay, copy: MinuteOfDay)?
        for minute in past {
            guard let rank = distribution.uniform(at: minute, part: uniform()) else { return [] }
            let moved = rank + together + move(Self.postStep)
            let reflected = moved < 0 ? -moved : moved >= 1 ? 2 - moved : moved
            if let pair = single, pair.past == minute, minimumGapMinutes == 1 {
                placed.append(pair.copy)
                single = nil
                continue
            }
            guard let drawn = distribution.minute(atUniform: reflected), let free = free(from: drawn, isTaken) else {
                continue
            }
            placed.append(free)
            single = (minute, free)
            for near in max(0, free.value - minimumGapMinutes + 1)..<min(isTaken.count, free.value + minimumGapMinutes)
            {
                isTaken[near] = true
            }
        }
        return placed.sorted()
    }

    private func free(from minute: MinuteOfDay, _ isTaken: [Bool]) -> MinuteOfDay? {
        (0...Self.longestWalk).lazy
            .compactMap { MinuteOfDay((minute.value + $0) % MinuteOfDay.count) }
            .first { !isTaken[$0.value] && distribution.isOpen($0) }
    }
}
