package import Networks
package import Posts

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

    /// - Parameters:
    ///   - poll: The wait between two looks at the mentions; the others follow from it.
    ///   - human: Where the human's account is.
    ///   - bot: Where the bot's account is.
    package init(poll: Duration, human: NetworkName = .mastodon, bot: NetworkName = .mastodon) {
        let (humans, bots) = (Rhythm(of: human), Rhythm(of: bot))
        mentions = bots.mentions.wait(poll)
        botHome = bots.home.wait(poll)
        humanHome = humans.home.wait(poll)
        humanPosts = humans.ownPosts.wait(poll)
        humanFavorites = humans.favorites.wait(poll)
        publisher = min(poll, .seconds(60))
    }

    /// The most pages that one look at a feed asks for.
    ///
    /// X bills every favorite again that a further page shows.
    package static func pages(of feed: Feed, on network: NetworkName) -> Int {
        network == .x && feed == .favorites ? 1 : 50
    }
}

/// What a network advises, as multiples of the wait between two looks at the mentions.
///
/// Where a network charges or asks for it there is a shortest wait besides. On a Mastodon server the operator of the
/// bot decides, and the server's own limits slow down who asks too often.
private struct Rhythm {
    struct Beat {
        let multiple: Int
        var shortest: Duration = .zero

        func wait(_ poll: Duration) -> Duration { max(poll * multiple, shortest) }
    }

    let mentions: Beat
    let home: Beat
    let ownPosts: Beat
    let favorites: Beat

    init(of network: NetworkName) {
        switch network {
        case .mastodon:
            mentions = Beat(multiple: 1)
            home = Beat(multiple: 2)
            ownPosts = Beat(multiple: 5)
            favorites = Beat(multiple: 15)
        case .x:
            mentions = Beat(multiple: 1, shortest: .seconds(60))
            home = Beat(multiple: 15, shortest: .seconds(15 * 60))
            ownPosts = Beat(multiple: 5, shortest: .seconds(5 * 60))
            favorites = Beat(multiple: 30, shortest: .seconds(30 * 60))
        case .bluesky:
            mentions = Beat(multiple: 1, shortest: .seconds(30))
            home = Beat(multiple: 2, shortest: .seconds(60))
            ownPosts = Beat(multiple: 5, shortest: .seconds(5 * 60))
            favorites = Beat(multiple: 10, shortest: .seconds(10 * 60))
        }
    }
}
