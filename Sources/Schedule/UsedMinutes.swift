package import Posts

/// The minutes of the day that are near a post of the human's, whatever its age.
///
/// The smoothed distribution gives every minute a share, for the human's next post may fall into an
/// hour without one. The bot need not be the first to post there: its slots are put into these
/// minutes.
package struct UsedMinutes: Equatable, Sendable {
    /// How far a post reaches to either side: as far as the narrowest bandwidth of the kernel.
    package static let reachMinutes = 15
    /// From so many posts on, minutes that are drawn one by one are these minutes only: if none of
    /// 50 posts fell into the other ones, less than 6 % of the next posts will (95 %).
    package static let fewestPosts = 50

    /// The minutes in rows without a break, ascending; a row ends with the day.
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
