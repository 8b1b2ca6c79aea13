import Conduct
import Foundation
import Logging
import Networks
import Outbox
import Posts

/// Putting a worker together from its configuration and what the networks say.
extension Worker {
    /// Verifies both accounts and builds what the passes need.
    ///
    /// - Parameters:
    ///   - lease: The mirror's lease; nil on a scratch store.
    ///   - deliverer: Sends the actions; nil for the bot's network.
    /// - Returns: The parts, with everything checked that only a person could mend.
    /// - Throws: ``ConfigurationError``; ``NetworkError``; the store's error.
    func parts(lease: Lease?, deliverer: (any Deliverer)?) async throws -> WorkerParts {
        let configuration = stores.configuration
        let bot = try registry.network(for: try configuration.requiredBot())
        let human = try configuration.human.map { try registry.network(for: $0) }
        let botAccount = try await bot.verifyAccount()
        let humanAccount = try await human?.verifyAccount()
        try await stores.table.bind(human: humanAccount, bot: botAccount, now: clock.now)
        guard let zone = try await stores.settleTimeZone(now: clock.now) else {
            throw try await stores.missingTimeZone()
        }
        if !botAccount.isBot {
            logger.warning("The bot's account does not say that it is automated: set that in its profile")
        }
        let activated = try await stores.table.activate(now: clock.now)
        let limits = try await bot.limits()
        let store = stores.outbox(lease: lease)
        let planner = PlanMaker(
            archive: stores.archive, store: store, configuration: configuration, zone: zone, limits: limits)
        let refusal = RefusedCredentials()
        let delivery = Delivery(
            store: store,
            deliverer: deliverer ?? NetworkDeliverer(network: bot, onRefusedCredentials: { refusal.note($0) }))
        let known = try await stores.table.record()
        let own = Set([botAccount.id, humanAccount?.id ?? known.human].compactMap(\.self))
        let favorites = try stores.favorites()
        return WorkerParts(
            configuration: configuration, clock: clock, cadence: cadence, logger: logger, zone: zone,
            activated: activated, archive: stores.archive, people: stores.people, favorites: favorites,
            human: human, own: own, planner: planner,
            courier: Courier(
                delivery: delivery, store: store, planner: planner, archive: stores.archive, people: stores.people,
                human: human, refusal: refusal, clock: clock, logger: logger),
            mentionDecider: MentionDecider(
                archive: stores.archive, people: stores.people, store: store, network: bot,
                configuration: configuration, zone: zone, limits: limits, bot: botAccount.id),
            favoriteDecider: FavoriteDecider(
                favorites: favorites, people: stores.people, store: store, configuration: configuration, zone: zone,
                own: own, activated: activated),
            mentionFeed: reader(bot, .mentions, FeedName.botMentions),
            botHomeFeed: reader(bot, .home, FeedName.botHome),
            humanHomeFeed: human.map { reader($0, .home, FeedName.seen) },
            humanFavoritesFeed: human.map { reader($0, .favorites, FeedName.humanFavorites) },
            humanPostsFeed: human.map { reader($0, .ownPosts, FeedName.humanPosts) })
    }

    private func reader(_ network: any SocialNetwork, _ feed: Feed, _ name: String) -> FeedReader {
        FeedReader(network: network, feed: feed, name: name, cursors: stores.cursors, clock: clock)
    }
}
