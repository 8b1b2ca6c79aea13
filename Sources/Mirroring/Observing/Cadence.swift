package import Foundation
package import Networks
package import Posts
import Settings

/// How often each feed is looked at, in the proportions of the networks' own advice.
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
    /// How long the publisher waits at most before it looks for due actions and the next day.
    package var publisher: Duration
    /// The same while nothing is open that has to be polled; nil for ``publisher``.
    ///
    /// A change by another process wakes the publisher, if it raises the mirror's version.
    package var idlePublisher: Duration?
    /// Whether the publisher makes the plan of a day in the two hours before it, and not at its
    /// beginning.
    package var plansAhead = false

    /// - Parameters:
    ///   - poll: The wait between two looks at the mentions; the others follow from it.
    ///   - human: Where the human's account is.
    ///   - bot: Where the bot's account is.
    package init(poll: Duration, human: NetworkName = .usual, bot: NetworkName = .usual) {
        let humans = human.descriptor.rhythm
        let bots = bot.descriptor.rhythm
        mentions = bots.mentions.wait(poll)
        botHome = bots.home.wait(poll)
        humanHome = humans.home.wait(poll)
        humanPosts = humans.ownPosts.wait(poll)
        humanFavorites = humans.favorites.wait(poll)
        publisher = min(poll, .seconds(60))
    }

    /// How long a mirror waits at most while it has nothing to ask for, in seconds: about three
    /// hours.
    ///
    /// Mirrors that began together wait for different times, so that they do not ask together
    /// again.
    ///
    /// - Returns: At least 9,000 and less than 12,600, always the same of one mirror.
    package static func idleWait(of mirror: String) -> TimeInterval {
        wait(of: mirror, within: 9_000..<12_600)
    }

    /// How long a mirror waits between two turns of something that mirrors of one process are not
    /// to do together, also when all have started at once.
    ///
    /// - Parameter range: Seconds.
    /// - Returns: A whole number of seconds after the beginning of the range, always the same of
    ///   one mirror.
    package static func wait(of mirror: String, within range: Range<TimeInterval>) -> TimeInterval {
        range.lowerBound
            + TimeInterval(StableHash.fnv1a(mirror) % UInt64(range.upperBound - range.lowerBound))
    }

    /// The most pages that one look at a feed asks for.
    package static func pages(of feed: Feed, on network: NetworkName) -> Int {
        feed == .favorites ? network.descriptor.favoritePages : 50
    }
}
