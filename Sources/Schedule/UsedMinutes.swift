package import Posts

/// The minutes of the day near any post of the human, of any age.
///
/// The smoothed distribution gives every minute a share, because the human's next post may fall
/// into an unused hour. The bot should not post in hours that the human never used, so its slots
/// are limited to these minutes.
package struct UsedMinutes: Equatable, Sendable {
    /// The number of minutes on both sides of a post that count as used: the narrowest bandwidth of
    /// the kernel.
    package static let reachMinutes = 15
    /// The least number of posts in a history for which single drawn minutes are limited to used
    /// ones.
    ///
    /// If none of 50 posts fell into the other minutes, less than 6 % of the next posts will, with
    /// 95 % confidence (rule of three).
    package static let fewestPosts = 50

    /// Ranges of consecutive used minutes, ascending; none crosses midnight.
    package let stretches: [ClosedRange<Int>]
    private let isUsed: [Bool]

    /// - Parameter posts: The number of posts in each minute of the day.
    package init(posts: [Double]) {
        let count = MinuteOfDay.count
        var isUsed = Array(repeating: false, count: count)
        for minute in posts.indices.prefix(count) where posts[minute] > 0 {
            for distance in -Self.reachMinutes...Self.reachMinutes {
                isUsed[(minute + distance + count) % count] = true
            }
        }
        var stretches: [ClosedRange<Int>] = []
        var start: Int?
        for minute in 0...count {
            if minute < count, isUsed[minute] {
                start = start ?? minute
            } else if let first = start {
                stretches.append(first...minute - 1)
                start = nil
            }
        }
        self.isUsed = isUsed
        self.stretches = stretches
    }

    /// Whether the human has posted near `minute`.
    package func contains(_ minute: MinuteOfDay) -> Bool { isUsed[minute.value] }
}
