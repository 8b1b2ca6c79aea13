package import Foundation
package import Networks
package import Posts
import Settings

/// The intervals between looks at each feed, in the proportions of the networks' own advice.
package struct Cadence: Sendable {
    /// Mentions of the bot.
    package var mentions: Duration
    /// The bot's home timeline.
    package var botHome: Duration
    /// The human's home timeline.
    package var humanHome: Duration
    /// The human's posts.
    package var humanPosts: Duration
    /// The human's favorites.
    package var humanFavorites: Duration
    /// The longest wait of the publisher before it looks for due actions and the next day.
    package var publisher: Duration
    /// The longest wait while nothing is open that has to be polled; nil for ``publisher``.
    ///
    /// A change by another process wakes the publisher if it raises the mirror's version.
    package var idlePublisher: Duration?
    /// Whether the publisher makes the plan of a day in the two hours before it, instead of at its
    /// beginning.
    package var plansAhead = false

    /// - Parameters:
    ///   - poll: The wait between two looks at the mentions; the others follow from it.
    ///   - human: The human's network.
    ///   - bot: The bot's network.
    package init(poll: Duration, human: NetworkName = .usual, bot: NetworkName = .usual) {
        let humanIntervals = human.descriptor.pollIntervals
        let botIntervals = bot.descriptor.pollIntervals
        mentions = botIntervals.mentions.duration(mentions: poll)
        botHome = botIntervals.home.duration(mentions: poll)
        humanHome = humanIntervals.home.duration(mentions: poll)
        humanPosts = humanIntervals.ownPosts.duration(mentions: poll)
        humanFavorites = humanIntervals.favorites.duration(mentions: poll)
        publisher = min(poll, .seconds(60))
    }

    /// The longest wait of a mirror without a request to make, in seconds: about three hours.
    ///
    /// Mirrors that began together wait for different times, so that they do not all make requests
    /// together again.
    ///
    /// - Returns: At least 9,000 and less than 12,600, always the same for one mirror.
    package static func idleWait(of mirror: String) -> TimeInterval {
        wait(of: mirror, within: 9_000..<12_600)
    }

    /// The wait between two runs of something that the mirrors of one process should not do at the
    /// same time, even if all started together.
    ///
    /// - Parameter range: Seconds.
    /// - Returns: A whole number of seconds after the beginning of the range, always the same for
    ///   one mirror.
    package static func wait(of mirror: String, within range: Range<TimeInterval>) -> TimeInterval {
        range.lowerBound
            + TimeInterval(StableHash.fnv1a(mirror) % UInt64(range.upperBound - range.lowerBound))
    }

    /// The most pages that one look at a feed requests.
    package static func pages(of feed: Feed, on network: NetworkName) -> Int {
        feed == .favorites ? network.descriptor.favoritePages : 50
    }
}
