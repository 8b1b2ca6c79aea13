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
    ///   - standings: What is known of the accounts' credentials from earlier attempts; nil for nothing.
    /// - Returns: The parts, with everything checked that only a person could mend.
    /// - Throws: ``ConfigurationError``; ``UnusableAccount``; ``NetworkError``; the store's error.
    func parts(
        lease: Lease?, deliverer: (any Deliverer)?, standings: Standings? = nil
    ) async throws -> WorkerParts {
        do {
            let bot = try await registry.requiredNetwork(of: .bot, in: stores)
            let human = try await registry.network(of: .human, in: stores)
            return try await parts(
                bot: bot, human: human, lease: lease, deliverer: deliverer, standings: standings)
        } catch let error as NetworkError where error.operation == .configure {
            throw UnusableAccount(cause: error)
        }
    }

    /// The same with networks that are made already.
    func parts(
        bot: any SocialNetwork, human: (any SocialNetwork)?, lease: Lease?, deliverer: (any Deliverer)?,
        standings: Standings? = nil
    ) async throws -> WorkerParts {
        let configuration = stores.configuration
        let standings = standings ?? Standings(logger: logger)
        let bot = guarded(bot, .bot, standings.bot)
        let human = human.map { guarded($0, .human, standings.human) }
        let accounts = try await verifiedAccounts(bot: bot, human: human)
        guard let zone = try await stores.settleTimeZone(now: clock.now) else {
            throw try await stores.missingTimeZone()
        }
        let activated = try await stores.table.activate(now: clock.now)
        let limits = try await bot.limits()
        let store = stores.outbox(lease: lease)
        let planner = PlanMaker(
            archive: stores.archive, store: store, configuration: configuration, zone: zone, limits: limits)
        let delivery = Delivery(
            store: store, deliverer: deliverer ?? NetworkDeliverer(network: bot, logger: logger),
            onStep: { [faultPoints = stores.rehearsal.faultPoints] in faultPoints.pass(.delivery($0)) })
        let classifiers = ClassifierSource(logger: logger) { [stores] in try stores.favorites() }
        _ = try await classifiers.classifier()
        let feeds = feeds(bot: bot, human: human)
        // A run that only pretends to send changes nothing at the network.
        if deliverer == nil { try await label(bot, accounts.botAccount) }
        tellWhatIsLeftOut(bot: bot, feeds)
        return WorkerParts(
            configuration: configuration, clock: clock, cadence: cadence, faultPoints: stores.rehearsal.faultPoints,
            logger: logger, zone: zone, activated: activated, archive: stores.archive, people: stores.people,
            classifiers: classifiers, bot: bot, human: human, own: accounts.own, planner: planner,
            courier: Courier(
                delivery: delivery, store: store, planner: planner, archive: stores.archive, people: stores.people,
                bot: bot, human: human, clock: clock, logger: logger),
            mentionDecider: MentionDecider(
                archive: stores.archive, people: stores.people, store: store, network: bot,
                configuration: configuration, zone: zone, limits: limits, bot: accounts.bot),
            favoriteDecider: FavoriteDecider(
                people: stores.people, store: store, capabilities: bot.capabilities,
                configuration: configuration, zone: zone, own: accounts.own, activated: activated),
            feeds: feeds)
    }

    private func guarded(
        _ network: any SocialNetwork, _ role: AccountRole, _ standing: AccountStanding
    ) -> GuardedNetwork {
        GuardedNetwork(
            network: network, standing: standing, note: RefusalNote(role: role, cursors: stores.cursors), clock: clock)
    }

    // MARK: Accounts

    /// Whose accounts the worker acts for.
    private struct VerifiedAccounts {
        var bot: AccountID
        /// What the network says of the bot; nil if it could not be asked.
        var botAccount: Account?
        var own: Set<AccountID>
    }

    /// Asks both networks whose the credentials are, and stores it.
    ///
    /// An account whose calls cannot be paid for now is the one that was stored before, if its credentials are those of
    /// then: it waits, and the other goes on. So does the bot while the human's network does not answer, or refuses.
    private func verifiedAccounts(
        bot: GuardedNetwork, human: GuardedNetwork?
    ) async throws -> VerifiedAccounts {
        let known = try await stores.table.record()
        let botAccount = try await account(bot, .bot, isKnown: known.bot != nil)
        let humanAccount: Account? =
            if let human { try await account(human, .human, isKnown: known.human != nil) } else { nil }
        try await stores.bind(human: humanAccount, bot: botAccount, now: clock.now)
        let stored = try await stores.table.record()
        guard let id = botAccount?.id ?? stored.bot else {
            throw ConfigurationError("MIRROR", "has no account for its bot; its database was changed meanwhile")
        }
        let own = [id, stored.bot, humanAccount?.id, stored.human].compactMap(\.self)
        return VerifiedAccounts(bot: id, botAccount: botAccount, own: Set(own))
    }

    private func account(_ network: GuardedNetwork, _ role: AccountRole, isKnown: Bool) async throws -> Account? {
        do {
            return try await network.verifyAccount()
        } catch let error as NetworkError {
            // Other credentials may open another account, and nothing is sent for that one.
            guard isKnown, try await stores.isVerified(role) else {
                throw error.stopsActor ? UnusableAccount(cause: error) : error
            }
            try network.standing.check()
            let isUnpaid = [.overBudget, .capReached, .creditsDepleted].contains(error.code)
            guard role == .human || isUnpaid else { throw error }
            logger.warning("Account not verified, going on with the known one", metadata: [LogKeys.error: "\(error)"])
            return nil
        }
    }

    /// Has the bot's account say that it is automated, where that is possible without a person.
    private func label(_ bot: GuardedNetwork, _ account: Account?) async throws {
        guard let account, !account.isBot else { return }
        do {
            try await bot.labelAsBot()
            logger.info("The bot's account now says that it is automated")
        } catch let error as NetworkError where !error.stopsActor || error.code == .missingScope {
            logger.warning(
                "The bot's account does not say that it is automated: set that in its profile",
                metadata: [LogKeys.error: "\(error)"])
        }
    }

    // MARK: Feeds

    /// The feeds that the accounts can read.
    private func feeds(bot: GuardedNetwork, human: GuardedNetwork?) -> WatchedFeeds {
        func pacing(_ role: AccountRole, _ network: GuardedNetwork?) -> AccountPacing {
            AccountPacing(account: role.rawValue, countsEachFeed: network?.name == .x, logger: logger)
        }
        let (botPacing, humanPacing) = (pacing(.bot, bot), pacing(.human, human))
        func watched(
            _ network: GuardedNetwork?, _ feed: Feed, _ name: String, _ pacing: AccountPacing,
            every interval: Duration
        ) -> WatchedFeed? {
            guard let network, network.capabilities.feeds.contains(feed) else { return nil }
            let reader = FeedReader(
                network: network, feed: feed, name: name, cursors: stores.cursors, clock: clock,
                pages: Cadence.pages(of: feed, on: network.name), keepsPast: pacing === humanPacing,
                onPositionStored: { [faultPoints = stores.rehearsal.faultPoints] in faultPoints.pass(.cursorStored) })
            return WatchedFeed(reader: reader, pacing: pacing, standing: network.standing, interval: interval)
        }
        return WatchedFeeds(
            mentions: watched(bot, .mentions, FeedName.botMentions, botPacing, every: cadence.mentions),
            botHome: watched(bot, .home, FeedName.botHome, botPacing, every: cadence.botHome),
            humanHome: watched(human, .home, FeedName.seen, humanPacing, every: cadence.humanHome),
            humanFavorites: watched(
                human, .favorites, FeedName.humanFavorites, humanPacing, every: cadence.humanFavorites),
            humanPosts: watched(human, .ownPosts, FeedName.humanPosts, humanPacing, every: cadence.humanPosts))
    }

    /// Says once what this mirror does not do as it is configured.
    private func tellWhatIsLeftOut(bot: GuardedNetwork, _ feeds: WatchedFeeds) {
        let network = [LogKeys.network: Logger.MetadataValue(stringLiteral: bot.name.rawValue)]
        if !bot.capabilities.canPublish {
            logger.warning(
                "Nothing is published: set X_ACKNOWLEDGE_POLICY=yes once you know what X asks of a mirror",
                metadata: network)
        }
        if feeds.botHome == nil, stores.configuration.favoriteMode != .off {
            logger.info("No favorites: the bot's home timeline is not read", metadata: network)
        }
    }
}
