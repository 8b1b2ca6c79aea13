import Conduct
import Control
import Foundation
import Logging
import MeCab
import Mirroring
package import Networks
package import Outbox
import Posts
import Settings

/// The worker has no time zone, and none of the human's posts to guess one from: it waits for a
/// training.
struct AwaitsTraining: Error, CustomStringConvertible {
    /// The error for callers that do not wait: the missing setting.
    let cause: ConfigurationError

    var description: String {
        "\(Setting.timeZone.name) is not set; mirror-bot train scheduler can guess it, and the worker waits for that"
    }
}

/// The accounts of a mirror, as just verified or as stored earlier.
private struct VerifiedAccounts {
    let bot: AccountID
    /// The account as just returned by the network; nil if it was not asked.
    let botAccount: Account?
    /// The accounts of human and bot.
    let ownAccounts: Set<AccountID>
    /// The human's handle; nil if unknown.
    let humanHandle: String?
    /// The mirror's row, read after the accounts were stored in it.
    let record: MirrorRecord
}

/// Assembles a worker from its configuration and the networks' answers.
extension Worker {
    /// Verifies both accounts and builds what the passes need.
    ///
    /// - Parameters:
    ///   - lease: The mirror's lease; nil on a scratch store.
    ///   - deliverer: Sends the actions; nil for the bot's network.
    ///   - gates: The gates of earlier attempts, with their knowledge of the accounts.
    /// - Returns: The parts, after all checks whose failure needs a person.
    /// - Throws: `ConfigurationError`; ``UnusableAccount``; ``NetworkError``; the store's error.
    func parts(
        lease: Lease?, deliverer: (any Deliverer)?, gates: Gates = Gates()
    ) async throws -> WorkerParts {
        // The bot counts as active from its first attempt to start, even if the network is
        // unreachable then. The monotonic clock measures the time until the network's first answer,
        // which gives the network's time.
        gates.begin(at: clock.uptime)
        do {
            let bot = try await mirror.requiredNetwork(of: .bot)
            let human = try await mirror.network(of: .human)
            return try await parts(
                bot: bot, human: human, lease: lease, deliverer: deliverer, gates: gates)
        } catch let error as NetworkError where error.operation == .configure {
            throw UnusableAccount(cause: error)
        }
    }

    /// Builds the parts with existing networks.
    package func parts(
        bot: any SocialNetwork, human: (any SocialNetwork)?, lease: Lease?,
        deliverer: (any Deliverer)?,
        gates: Gates = Gates()
    ) async throws -> WorkerParts {
        try await mirror.table.requireHere()
        let configuration = mirror.configuration
        let humanNetwork = human
        let bot = await gates.gate(before: bot, .bot, of: self)
        var humanGate: AccountGate?
        if let human { humanGate = await gates.gate(before: human, .human, of: self) }
        let human = humanGate
        // The time zone comes first, because it needs no network.
        let zone = try await zone()
        let accounts = try await verifiedAccounts(bot: bot, human: human, gates)
        try await mirror.table.noteStatement(configuration.statedConsent, now: clock.now)
        let secondsSinceFirstStart = clock.uptime - (gates.firstStart ?? clock.uptime)
        let activated = try await mirror.table.activate(
            now: bot.present(at: clock.now) - secondsSinceFirstStart)
        let limits = try await bot.limits()
        let store = mirror.outbox(lease: lease)
        if deliverer == nil {
            try await Recollection(
                mirror: mirror, bot: bot, store: store, zone: zone, logger: logger
            ).run()
        }
        let planner = mirror.planMaker(zone: zone, store: store, limits: limits)
        let hold = SlotHold(
            archive: mirror.archive, store: store, configuration: configuration, zone: zone)
        let sender = NetworkDeliverer(
            network: bot, people: mirror.people, archive: mirror.archive,
            pictures: try await PictureSource(mirror),
            logger: logger)
        let delivery = Delivery(
            store: store, deliverer: deliverer ?? sender,
            onStep: { [faultPoints = mirror.rehearsal.faultPoints] in
                faultPoints.pass(.delivery($0))
            },
            onUpload: { [faultPoints = mirror.rehearsal.faultPoints] in
                faultPoints.pass(.upload($0))
            },
            uptime: clock.instants)
        let classifiers = ClassifierSource(logger: logger) { [mirror] in try mirror.favorites() }
        _ = try await classifiers.classifier()
        let unlearning = Unlearning(mirror: mirror, clock: clock, logger: logger)
        let feeds = feeds(bot: bot, human: human, activated: activated)
        let originals = Originals(
            of: mirror, human: human, bot: deliverer == nil ? bot : nil, botAccount: accounts.bot,
            store: store,
            planner: planner)
        // A dry run changes nothing at the network.
        let networkParts = Courier.NetworkParts(
            delivery: delivery,
            takingBack: deliverer == nil ? TakingBack(mirror, network: bot, lease: lease) : nil,
            firstPostLook: deliverer == nil
                ? FirstPostLook(
                    mirror: mirror, account: accounts.bot, bot: bot, clock: clock, logger: logger)
                : nil)
        var standing: StandingLook?
        if deliverer == nil, let human, let account = accounts.record.human {
            standing = StandingLook(
                of: mirror, account: account, human: human, store: store,
                lastCheck: accounts.record.standingLook ?? activated,
                holdsMirror: accounts.record.standing?.isHold == true)
        }
        if deliverer == nil { try await labelAsAutomated(accounts.botAccount, at: bot) }
        logDisabledParts(bot: bot, feeds)
        return WorkerParts(
            configuration: configuration, clock: clock, cadence: cadence, pulse: pulse,
            faultPoints: mirror.rehearsal.faultPoints,
            logger: logger, zone: zone, activated: activated, archive: mirror.archive,
            people: mirror.people,
            classifiers: classifiers, bot: bot, human: human,
            learnable: Learnable(
                people: mirror.people, own: accounts.ownAccounts, onOptOut: unlearning.forget),
            store: store,
            planner: planner,
            // A clock that jumps waits until a pass has ended, so judging must not have a low
            // priority then.
            judging: TextJudging(mirror.archive, planner.judge, hasLowPriority: !clock.jumps) {
                [clock] in
                clock.uptime
            },
            hold: hold,
            courier: Courier(
                of: mirror, networkParts: networkParts, store: store, planner: planner, hold: hold,
                bot: bot,
                originals: originals,
                continueForgetting: unlearning.continueForgetting),
            originals: originals,
            mentionDecider: MentionDecider(
                of: mirror, finder: mirror.replyFinder(on: bot), store: store, network: bot,
                zone: zone, bot: accounts.bot, own: accounts.ownAccounts, activated: activated,
                human: accounts.humanHandle,
                onOptOut: unlearning.forget),
            favoriteDecider: FavoriteDecider(
                store: store, network: bot,
                configuration: configuration, zone: zone, own: accounts.ownAccounts,
                activated: activated),
            feeds: feeds, feedTable: mirror.feeds, proofs: mirror.proofs,
            serverRules: deliverer == nil
                ? ServerRuleLook(of: mirror, account: accounts.bot, bot: bot) : nil,
            standing: standing,
            effects: deliverer == nil
                ? EffectRecovery(mirror, network: bot, account: accounts.bot) : nil,
            // A dry run makes no paid requests that the day's plan does not need.
            training: deliverer == nil
                ? humanNetwork.flatMap {
                    PaidTraining(mirror, zone: zone, human: $0, own: accounts.ownAccounts)
                }
                : nil,
            continueForgetting: unlearning.continueForgetting)
    }

    /// Fails like a start for settings that need a person; contacts no network and changes nothing.
    ///
    /// - Throws: `ConfigurationError`; ``UnusableAccount``; the store's error.
    func checkSettings() async throws {
        do {
            _ = try await mirror.requiredNetwork(of: .bot)
            _ = try await mirror.network(of: .human)
        } catch let error as NetworkError {
            throw UnusableAccount(cause: error)
        }
        // If posts are archived, or the human's account can be read, a time zone may be adopted
        // once this worker holds the mirror.
        let record = try await mirror.table.record()
        guard mirror.knownTimeZone(record) == nil, record.past == nil,
            try await mirror.account(.human) == nil
        else {
            return
        }
        throw try await mirror.missingTimeZone()
    }

    /// The human's zone: configured, stored, or adopted now.
    ///
    /// - Throws: ``AwaitsTraining`` if there are no posts to guess from; `ConfigurationError` if
    ///   they are not enough; the store's error.
    private func zone() async throws -> TimeZone {
        if let zone = try await mirror.adoptTimeZone(now: clock.now) {
            if mirror.configuration.timeZone == nil,
                let source = try await mirror.table.record().timeZoneSource
            {
                logger.warning(
                    "Nobody named the time zone; set \(Setting.timeZone.name) if the human lives in another",
                    metadata: [LogKeys.zone: "\(zone.name)", LogKeys.reason: "\(source.words)"])
            }
            return zone
        }
        let zoneError = try await mirror.missingTimeZone()
        // Without the human's account, a person must train from an archive and restart the worker.
        guard try await mirror.table.record().past == nil, try await mirror.account(.human) != nil
        else {
            throw zoneError
        }
        throw AwaitsTraining(cause: zoneError)
    }

    // MARK: Accounts

    /// Verifies both accounts at their networks, and stores them; the bot's answer is nil if its
    /// network could not be asked.
    ///
    /// If calls for an account cannot be paid now, its stored identity is used as long as the
    /// credentials are the same: that account waits, and the other one continues. The bot also
    /// continues while the human's network does not answer, or refuses. An account that was
    /// verified since the process has the mirror is not verified again for the same credentials.
    private func verifiedAccounts(
        bot: AccountGate, human: AccountGate?, _ gates: Gates
    ) async throws -> VerifiedAccounts {
        let storedBefore = try await mirror.table.record()
        let botAccount = try await verifiedAccount(
            of: .bot, at: bot, isKnown: storedBefore.bot != nil, gates)
        let humanAccount: Account? =
            if let human {
                try await verifiedAccount(
                    of: .human, at: human, isKnown: storedBefore.human != nil, gates)
            } else { nil }
        try await mirror.bind(human: humanAccount, bot: botAccount, now: clock.now)
        try await mirror.updateContact()
        let stored = try await mirror.table.record()
        guard let botID = botAccount?.id ?? stored.bot else {
            throw ConfigurationError(
                Setting.mirror.name,
                "has no account for its bot; its database was changed meanwhile")
        }
        let ids = [botID, stored.bot, humanAccount?.id, stored.human].compactMap(\.self)
        return VerifiedAccounts(
            bot: botID, botAccount: botAccount, ownAccounts: Set(ids),
            humanHandle: humanAccount?.handle ?? stored.humanHandle,
            record: stored)
    }

    /// Verifies an account at its network.
    ///
    /// - Parameter isKnown: Whether the mirror has stored an account of this role.
    /// - Returns: The network's answer; nil if the stored account is used without one.
    private func verifiedAccount(
        of role: AccountRole, at network: AccountGate, isKnown: Bool, _ gates: Gates
    ) async throws -> Account? {
        if isKnown, gates.verified.contains(role), try await mirror.isVerified(role) { return nil }
        do {
            let account = try await network.verifyAccount()
            if role == .bot { try network.requireAudiences() }
            gates.note([role])
            return account
        } catch let error as NetworkError {
            // Other credentials may belong to another account, for which nothing may be sent.
            guard isKnown, try await mirror.isVerified(role) else {
                throw error.stopsActor ? UnusableAccount(cause: error) : error
            }
            try network.check()
            let isUnpaid = [.overBudget, .capReached, .creditsDepleted].contains(error.code)
            guard role == .human || isUnpaid else { throw error }
            logger.warning(
                "Account not verified, going on with the known one",
                metadata: [LogKeys.error: "\(error)"])
            return nil
        }
    }

    /// Marks the bot's account as automated, if that is possible without a person.
    private func labelAsAutomated(_ account: Account?, at bot: AccountGate) async throws {
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
    private func feeds(bot: AccountGate, human: AccountGate?, activated: Date) -> WatchedFeeds {
        func reader(
            _ gate: AccountGate?, _ feed: Feed, _ name: String, every interval: Duration,
            since: Date? = nil,
            horizon: TimeInterval? = nil
        ) -> FeedReader? {
            guard let gate, gate.capabilities.feeds.contains(feed) else { return nil }
            return FeedReader(
                gate: gate, feed: feed, name: name, table: mirror.feeds, clock: clock,
                terms: FeedTerms(
                    pages: Cadence.pages(of: feed, on: gate.name), keepsPast: gate === human,
                    since: since,
                    horizon: horizon, interval: interval, version: Version.current),
                onPositionStored: { [faultPoints = mirror.rehearsal.faultPoints] in
                    faultPoints.pass(.cursorStored)
                })
        }
        return WatchedFeeds(
            mentions: reader(
                bot, .mentions, FeedName.botMentions, every: cadence.mentions, since: activated),
            botHome: reader(
                bot, .home, FeedName.botHome, every: cadence.botHome, since: activated,
                horizon: FavoriteRules().maximumAge.timeInterval),
            humanHome: reader(human, .home, FeedName.seen, every: cadence.humanHome),
            humanFavorites: reader(
                human, .favorites, FeedName.humanFavorites, every: cadence.humanFavorites),
            humanPosts: reader(human, .ownPosts, FeedName.humanPosts, every: cadence.humanPosts))
    }

    /// Logs once which parts of the configuration this mirror does not carry out.
    private func logDisabledParts(bot: AccountGate, _ feeds: WatchedFeeds) {
        let network = [LogKeys.network: Logger.MetadataValue(stringLiteral: bot.name.rawValue)]
        if !bot.capabilities.canPublish {
            logger.warning(
                "Nothing is published: set \(Setting.acknowledgeXPolicy.name)=yes once you know what X asks of a mirror",
                metadata: network)
        }
        if feeds.botHome == nil, mirror.configuration.favoriteMode != .off {
            logger.info("No favorites: the bot's home timeline is not read", metadata: network)
        }
    }
}

/// The gates of both accounts, which outlive a failed start.
package final class Gates: @unchecked Sendable {
    // Sendable because every access to `gates` holds the lock.
    private let patience: AccountGate.Patience
    private let lock = NSLock()
    private var gates: [AccountRole: AccountGate] = [:]
    private var roles: Set<AccountRole> = []
    private var uptimeOfFirstStart: TimeInterval?

    /// When the first start was attempted, on the monotonic clock, in seconds; nil before that.
    var firstStart: TimeInterval? { lock.withLock { uptimeOfFirstStart } }

    /// Records an attempt to start.
    func begin(at uptime: TimeInterval) {
        lock.withLock { uptimeOfFirstStart = uptimeOfFirstStart ?? uptime }
    }

    /// The roles whose accounts the networks have verified.
    var verified: Set<AccountRole> { lock.withLock { roles } }

    /// Records that the networks have verified these accounts.
    func note(_ verified: Set<AccountRole>) { lock.withLock { roles.formUnion(verified) } }

    /// - Parameter patience: When the bot's credentials are given up. The human's never are,
    ///   because the bot can work without them.
    package init(patience: AccountGate.Patience = .minutes) { self.patience = patience }

    /// The gate of a role's account, with the state of the previous gate, or the state that an
    /// earlier process has stored.
    func gate(before network: any SocialNetwork, _ role: AccountRole, of worker: Worker) async
        -> AccountGate
    {
        let refusals = worker.mirror.refusals
        let isFirst = lock.withLock { gates[role] == nil }
        let storedWaits = isFirst ? await refusals.waits(of: role, at: worker.clock.now) : []
        return lock.withLock {
            let gate = AccountGate(
                network, account: role.rawValue, patience: role == .bot ? patience : .endless,
                after: gates[role],
                now: { [clock = worker.clock] in clock.now }, logger: worker.logger,
                tally: worker.mirror.requests,
                kept: storedWaits,
                onWait: { scope, wait in await refusals.note(wait, scope, of: role) }
            ) { [clock = worker.clock] error in
                if let error {
                    await refusals.note(error, of: role, at: clock.now)
                } else {
                    await refusals.clear(role)
                }
            }
            gates[role] = gate
            return gate
        }
    }

    /// Fails after the bot's credentials are given up.
    func check() throws { try lock.withLock { gates[.bot] }?.check() }
}

/// Unlearns people who must not be learned from, each once an hour at most.
private final class Unlearning: Sendable {
    // Sendable because `searchTimes` is only touched under `lock`.
    private let mirror: HumanMirror
    private let clock: any WallClock
    private let logger: Logger
    private let lock = NSLock()
    private nonisolated(unsafe) var searchTimes: [AccountID: Date] = [:]
    /// Seconds before a person's learned posts are searched again, because a denied person may be
    /// allowed meanwhile.
    private static let searchInterval: TimeInterval = 3_600

    init(mirror: HumanMirror, clock: any WallClock, logger: Logger) {
        self.mirror = mirror
        self.clock = clock
        self.logger = logger
    }

    /// Completes the forgetting of people that was begun; without a dictionary it may have to wait.
    @Sendable func continueForgetting() async throws {
        do { try await mirror.continueForgetting(now: clock.now) } catch let error as MeCabError {
            logger.warning("People not wholly forgotten yet", metadata: [LogKeys.error: "\(error)"])
        }
    }

    /// Unlearns the posts of a person; without a dictionary that is done later.
    @Sendable func forget(_ person: AccountID, _ handle: String) async throws {
        let now = clock.now
        let lastSearch = lock.withLock { searchTimes[person] }
        if let lastSearch,
            (0..<Self.searchInterval).contains(now.timeIntervalSince(lastSearch))
        {
            return
        }
        do {
            let number = try await mirror.forgetLearning(of: person, handle: handle, now: now)
            if number > 0 { logger.info("Posts unlearned", metadata: [LogKeys.count: "\(number)"]) }
            lock.withLock { searchTimes[person] = now }
        } catch let error as MeCabError {
            logger.warning("Posts not unlearned yet", metadata: [LogKeys.error: "\(error)"])
        }
    }
}
