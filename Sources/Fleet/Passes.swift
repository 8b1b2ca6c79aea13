import Archive
import Control
import Favorites
import Foundation
import Logging
import Mirroring
import Networks
import Outbox
import Posts
import ServiceLifecycle
import Settings
import Synchronization

/// The passes of a worker: each reads or checks one thing, and takes the actions that follow.
///
/// A class, so that repeated passes hold a reference and not the parts.
final class Passes: Sendable {
    /// The maximum age, in seconds, of the last reading of mentions on which the home pass relies.
    private static let mentionsFreshness: TimeInterval = 15
    /// The maximum age, in seconds, of the last reading of the human's posts when a post is due
    /// that waits for their silence.
    private static let humanFreshness: TimeInterval = 60
    /// The interval of sweeps for missed items, and the age of the items that they read, in
    /// seconds.
    private static let sweepInterval: TimeInterval = 86_400
    /// The maximum number of rows that this version cannot parse and that one cleanup names in the
    /// log.
    private static let loggedRowsAtMost = 20
    /// The pass that checks the originals of the bot's posts.
    static let originals = "originals"
    /// The pass that judges texts.
    static let texts = "texts"
    /// Seconds for which `run --once` judges texts after all other work.
    private static let judgingOnce: TimeInterval = 20
    /// The most posts of the bot whose replies one pass requests.
    private static let postsAtOnce = 50

    let parts: WorkerParts
    private let onNews: @Sendable () -> Void
    private let onCopy: @Sendable () -> Void
    private let onTexts: @Sendable () -> Void
    /// Whether replies wait until mentions are read, as of the publisher's last pass.
    private let waitsForMentions = Mutex(false)

    /// - Parameters:
    ///   - onNews: Called when an action may be due earlier than the publisher knows.
    ///   - onCopy: Called when the bot may send a copy of a human's post, whose original must be
    ///     checked from then on.
    ///   - onTexts: Called when there are texts to judge.
    init(
        parts: WorkerParts, onNews: @escaping @Sendable () -> Void = {},
        onCopy: @escaping @Sendable () -> Void = {},
        onTexts: @escaping @Sendable () -> Void = {}
    ) {
        self.parts = parts
        self.onNews = onNews
        self.onCopy = onCopy
        self.onTexts = onTexts
    }

    /// Makes today's plan if it is missing, and sends due actions.
    ///
    /// On success the worker counts as working.
    func publish() async throws -> Date {
        let hasTomorrowsPlan = try await makePlan()
        // If mentions are not read, replies do not wait for them.
        var mentionsRead: Date? = .distantFuture
        if let mentions = parts.feeds.mentions { mentionsRead = await mentions.lastRead }
        let nextWorkTimes = try await parts.courier.nextWorkTimes(
            ActionKind.allCases, mentionsRead: mentionsRead)
        // This error leads to a new start, which carries out the retirement.
        if let end = nextWorkTimes.retirement, end <= parts.clock.now { throw MirrorChanged() }
        waitsForMentions.withLock { $0 = nextWorkTimes.waitsForMentions }
        if let post = nextWorkTimes.post, post <= parts.clock.now {
            try await readHumanPostsIfNeeded()
        }
        // Any due work counts as a new copy, because a look-up may find that a copy was sent.
        if let next = nextWorkTimes.next, next <= parts.clock.now { announceCopy() }
        let nextDelivery = try await parts.courier.deliverDue(
            ActionKind.allCases, mentionsRead: mentionsRead, knowing: nextWorkTimes)
        let nextEffect = try await recoverEffects(due: nextWorkTimes.effect)
        parts.pulse.works(uptime: parts.clock.uptime)
        let nextWork = [nextDelivery, nextEffect].compactMap(\.self).min()
        let now = parts.clock.now
        let pollsOften: Bool =
            if nextWorkTimes.waitsForMentions { true } else { await parts.originals.hasDoubts }
        let cadence = parts.cadence
        let wait = pollsOften ? cadence.publisher : cadence.idlePublisher ?? cadence.publisher
        let nextPass = now + wait.timeInterval
        let nextPlanning = hasTomorrowsPlan ? nextPass : min(nextPass, nextPlan(after: now))
        let latest = min(nextPlanning, nextWorkTimes.retirement ?? .distantFuture)
        if let resume = parts.bot.pause(at: now) { return min(resume, latest) }
        // If the mentions were read during this pass, replies need not wait any longer.
        if nextWorkTimes.waitsForMentions, await parts.feeds.mentions?.lastRead != mentionsRead {
            return now
        }
        return min(max(nextWork ?? latest, now + 1), latest)
    }

    /// Undoes or completes the effects of interrupted commands.
    ///
    /// - Parameter next: When the next one is due; nil for none.
    /// - Returns: When the next one is due afterwards; nil for none.
    private func recoverEffects(due next: Date?) async throws -> Date? {
        guard let effects = parts.effects, let next else { return nil }
        guard next <= parts.clock.now else { return next }
        guard try await parts.bot.isOpen() else { return parts.bot.pause(at: parts.clock.now) }
        _ = try await effects.carryOut()
        return try await effects.next()
    }

    /// When the next plan is made: at midnight, or earlier if plans are made ahead.
    ///
    /// The time is an hour off on days when the clocks change.
    private func nextPlan(after now: Date) -> Date {
        let local = LocalTime(now, in: parts.zone)
        let minuteAhead =
            parts.cadence.plansAhead
            ? parts.planner.minuteToPlanAhead(of: local.day) : MinuteOfDay.count
        // A plan that could not be made in advance is made at midnight.
        let minute = minuteAhead > local.minute.value ? minuteAhead : MinuteOfDay.count
        let secondOfMinute = now.timeIntervalSince1970.truncatingRemainder(dividingBy: 60)
        return now + Double(minute - local.minute.value) * 60 - secondOfMinute
    }

    private func announceCopy() {
        // If checking an original costs money, the pass that checks originals keeps its own
        // interval.
        if parts.human?.price(ofReading: 1, from: .ownPosts) == nil { onCopy() }
    }

    /// Before a post that waits for the human's silence, reads whether they have just posted, if
    /// that is free.
    private func readHumanPostsIfNeeded() async throws {
        guard parts.hold.isOn, let feed = parts.feeds.humanPosts,
            parts.human?.price(ofReading: 1, from: .ownPosts) == nil
        else { return }
        let now = parts.clock.now
        let age = await feed.lastRead.map { now.timeIntervalSince($0) }
        if let age, (0..<Self.humanFreshness).contains(age) { return }
        do {
            _ = try await feed.look(archivePosts)
        } catch let error as NetworkError {
            // The posts known so far must suffice; the pass of this feed reports the problem.
            parts.logger.debug(
                "The human's posts not read before a post", metadata: [LogKeys.error: "\(error)"])
        }
    }

    /// Makes today's plan if it is missing.
    ///
    /// If plans are made ahead, it also makes tomorrow's once the time for that has come.
    ///
    /// - Returns: Whether tomorrow has a plan.
    @discardableResult
    func makePlan() async throws -> Bool {
        let local = LocalTime(parts.clock.now, in: parts.zone)
        try await makePlan(of: local.day)
        guard parts.cadence.plansAhead,
            local.minute.value >= parts.planner.minuteToPlanAhead(of: local.day)
        else {
            return false
        }
        let tomorrow = local.day.advanced(by: 1)
        try await makePlan(of: tomorrow)
        return parts.planner.isPlanned(tomorrow)
    }

    private func makePlan(of day: LocalDay) async throws {
        // Checked first, because this is called often.
        guard !parts.planner.isPlanned(day) else { return }
        let now = parts.clock.now
        let planned = try await deciding(.post) {
            var planner = parts.planner
            planner.limits = try await parts.bot.limits()
            return try await planner.make(
                day, now: now, activated: parts.activated, watching: parts.feeds.humanPosts != nil,
                onDrawn: { parts.faultPoints.pass(.planDrawn) })
        }
        guard let planned else { return }
        parts.faultPoints.pass(.planStored)
        parts.logger.info(
            "Plan made",
            metadata: [LogKeys.day: "\(day)", LogKeys.count: "\(planned.slots.count)"])
    }

    /// Deletes old rows, and makes the checks that are rarely due.
    ///
    /// If the worker's clock is ahead of the network's, the network's clock decides which rows are
    /// old.
    func clean() async throws {
        let now = parts.clock.now - max(0, parts.bot.clockLead ?? 0)
        let start = parts.configuration.historyStart(at: now)
        try await parts.store.clean(before: start)
        try await parts.feedTable.clean(before: start)
        try await parts.proofs.tidy(now: parts.clock.now)
        try await parts.continueForgetting()
        for sentence in try await parts.store.setAside(limit: Self.loggedRowsAtMost) {
            parts.logger.warning("Action set aside", metadata: [LogKeys.error: "\(sentence)"])
        }
        try await parts.serverRules?.lookIfDue()
        try await parts.standing?.lookIfDue()
        guard let classifier = try await parts.classifiers.classifier() else { return }
        // Old examples are removed even if nothing new is learned. If the classifier's counts are
        // unreachable, the passes that need them report that.
        do { _ = try await classifier.prune(now: now) } catch is FavoritesError {}
    }

    // MARK: The bot's feeds

    /// Decides about new mentions and answers them.
    func mentions(_ feed: FeedReader) async throws -> Date {
        let lastRead = await feed.lastRead
        let next = try await feed.look(decideOnMentions)
        // Replies of earlier processes wait until mentions are read, and only the publisher knows
        // these replies.
        if await feed.lastRead != lastRead, waitsForMentions.withLock(\.self) { onNews() }
        try await sweepIfDue(feed)
        try await lookBelowOwnPosts(feed)
        try await parts.courier.deliverDecided(.reply, mentionsRead: await feed.lastRead)
        try await parts.courier.deliverDecided(.favorite)
        return next
    }

    /// Decides about mentions, and returns those that must be decided later.
    private func decideOnMentions(_ items: [ObservedPost], tries: Int) async throws -> [Postponed] {
        try await deciding(.reply) {
            let (decided, postponed) = try await parts.mentionDecider.decide(
                items, now: parts.clock.now, tries: tries)
            for decision in decided {
                await announce(decision)
                parts.faultPoints.pass(.mentionDecided)
            }
            return postponed
        }
    }

    /// Makes a decision in a tracing span, to which the sending of the action will belong.
    private func deciding<Value>(_ kind: ActionKind, _ work: () async throws -> Value) async throws
        -> Value
    {
        try await WorkStage.decide.traced(
            mirror: parts.configuration.mirror, kind: kind.rawValue, host: parts.bot.host, work)
    }

    /// Once a day, reads the mentions again, down to a day before the previous sweep, if that is
    /// free.
    ///
    /// So mentions are found whose notifications the network has lost.
    private func sweepIfDue(_ feed: FeedReader) async throws {
        guard parts.bot.price(ofReading: 1, from: .mentions) == nil else { return }
        let now = parts.clock.now
        guard let lastSweep = try await feed.lastSweep() else { return try await feed.noteSweep() }
        let isSweeping = try await feed.isSweeping()
        guard isSweeping || !(0..<Self.sweepInterval).contains(now.timeIntervalSince(lastSweep)),
            parts.bot.pause(of: .mentions, at: now) == nil
        else { return }
        // Items that appeared since the last sweep may be up to a day older.
        _ = try await feed.sweep(downTo: lastSweep - Self.sweepInterval, decideOnMentions)
    }

    /// After a sweep, reads the replies to the bot's posts, for which notifications may be missing.
    private func lookBelowOwnPosts(_ feed: FeedReader) async throws {
        try await feed.lookBelowOwnPosts { place, end in
            try await parts.store.published(after: place, until: end, limit: Self.postsAtOnce)
        } _: { address in
            try await decideOnMentions(try await parts.bot.replies(to: address), tries: 0)
                .isEmpty
        }
    }

    /// Favorites posts on the bot's home timeline that the human would favorite.
    func botHome(_ feed: FeedReader) async throws -> Date {
        try await readMentionsFirst()
        guard let classifier = try await parts.classifiers.classifier() else {
            try await feed.begin()
            return feed.later
        }
        let session = classifier.session()
        let next = try await feed.look { items, _ in
            try await noteShown(items)
            let stances = try await deciding(.favorite) {
                let (decided, stances) = try await parts.favoriteDecider.decide(
                    items, with: session, now: parts.clock.now)
                for action in decided { await announce(Decision(of: action)) }
                if !decided.isEmpty { parts.faultPoints.pass(.favoriteDecided) }
                return stances
            }
            // If the human's timeline is not read, the bot's posts count as seen by the human.
            if parts.feeds.humanHome == nil {
                let events = try await parts.learnable.among(items, stances).map {
                    FavoriteEvent.seen($0.example)
                }
                try await learn(events, with: classifier, knowing: session)
            }
            return []
        }
        try await parts.courier.deliverDecided(.favorite)
        return next
    }

    /// Reads the mentions before favorites are given, so that a recent request to stop is known.
    ///
    /// A failure to read the mentions is reported elsewhere, and delays nothing here.
    private func readMentionsFirst() async throws {
        guard let mentions = parts.feeds.mentions else { return }
        let age = await mentions.lastRead.map { parts.clock.now.timeIntervalSince($0) }
        if let age, (0..<Self.mentionsFreshness).contains(age) { return }
        do {
            _ = try await mentions.look(decideOnMentions)
        } catch let error as NetworkError {
            parts.logger.debug(
                "Mentions not read before favorites", metadata: [LogKeys.error: "\(error)"])
        }
    }

    // MARK: The human's feeds

    /// Learns the posts that the human saw and did not favorite.
    func humanHome(_ feed: FeedReader) async throws -> Date {
        guard let classifier = try await parts.classifiers.classifier() else { return feed.later }
        return try await feed.look { items, _ in
            try await noteShown(items)
            let events = try await parts.learnable.among(items).map {
                FavoriteEvent.seen($0.example)
            }
            try await learn(events, with: classifier)
            return []
        }
    }

    /// Learns the posts that the human favorited.
    func humanFavorites(_ feed: FeedReader) async throws -> Date {
        guard let classifier = try await parts.classifiers.classifier() else { return feed.later }
        if let pause = try await parts.training?.pauseOfNewFavorites() { return pause }
        return try await feed.look { items, _ in
            let events = try await parts.learnable.among(items).map {
                FavoriteEvent.favorited($0.example)
            }
            try await learn(events, with: classifier)
            try await wakingPublisherOnUndoRequests {
                try await parts.originals.noteFavorites(items)
            }
            return []
        }
    }

    /// Archives the human's posts.
    func humanPosts(_ feed: FeedReader) async throws -> Date {
        try await parts.standing?.lookIfDue()
        return try await feed.look(archivePosts) { try await noteShown($0) }
    }

    /// Archives new posts of the human, and checks copies of edited ones.
    private func archivePosts(_ items: [ObservedPost], tries: Int) async throws -> [Postponed] {
        // The items are checked before the archive stores them, because an edit is noticed by
        // comparison with the archived text.
        try await noteShown(items)
        let posts = items.map(\.post)
        let archived = try await parts.archive.keep(
            posts, timeZone: parts.zone, limit: parts.configuration.archiveLimit)
        try await parts.hold.note(posts, now: parts.clock.now)
        if archived.stored > 0 { onTexts() }
        onNews()
        return []
    }

    /// Checks the archived posts that a list shows in a changed form.
    private func noteShown(_ items: [ObservedPost]) async throws {
        try await wakingPublisherOnUndoRequests { try await parts.originals.noteShown(items) }
    }

    /// Runs work, and wakes the publisher if the work requested undos of copies.
    private func wakingPublisherOnUndoRequests(_ work: () async throws -> Void) async throws {
        let countBefore = await parts.originals.undoRequestCount
        try await work()
        if await parts.originals.undoRequestCount != countBefore { onNews() }
    }

    /// Judges some of the human's texts, so that no plan has to wait for the judging.
    ///
    /// These are new texts, or after a change of the rules any of the texts.
    ///
    /// - Parameter wait: Seconds until the next pass once all texts are judged.
    /// - Returns: The time of the next pass.
    func judge(wait: TimeInterval) async throws -> Date {
        try await parts.judging.step() ? parts.clock.now : parts.clock.now + wait
    }

    /// Judges texts for a while, because this process will have no later pass.
    func judgeForAWhile() async throws {
        let start = parts.clock.uptime
        while parts.clock.uptime - start < Self.judgingOnce, !Task.isShuttingDownGracefully {
            try Task.checkCancellation()
            guard try await parts.judging.step() else { return }
        }
    }

    /// Continues a training that the month's budget interrupted.
    func train(_ training: PaidTraining) async throws -> Date {
        let classifier = try await parts.classifiers.classifier()
        let next = try await training.goOn(classifier)
        onTexts()
        if let classifier { try await keepUpWeights(of: classifier) }
        return next
    }

    private func learn(
        _ events: [FavoriteEvent], with classifier: Favorites,
        knowing session: FavoriteSession? = nil
    ) async throws {
        guard !events.isEmpty else { return }
        let learned = try await classifier.learn(events, at: parts.clock.now, knowing: session)
        guard learned.changed > 0 else { return }
        try await keepUpWeights(of: classifier)
    }

    private func keepUpWeights(of classifier: Favorites) async throws {
        do {
            try await WeightKeeper(classifier, store: parts.store).keepUp(at: parts.clock.now)
        } catch let error as FavoritesError {
            // The next learned post triggers the next attempt; until then the older weights are
            // good enough.
            parts.logger.debug("Weights not fitted", metadata: [LogKeys.error: "\(error)"])
        }
    }

    // MARK: All passes

    /// The passes that the worker repeats, the publisher first.
    var all: [Rounds.Pass] { [publisher] + bot + human }

    /// All passes, in an order in which no pass makes work for an earlier one.
    var inOrder: [Rounds.Pass] { human + bot + [publisher] }

    private var publisher: Rounds.Pass {
        Rounds.Pass(name: WorkFault.publisher, lane: .bot) { [self] in try await publish() }
    }

    private var bot: [Rounds.Pass] {
        [
            parts.feeds.mentions.map { feed in
                Rounds.Pass(name: FeedName.botMentions, lane: .bot) { [self] in
                    try await mentions(feed)
                }
            },
            parts.feeds.botHome.map { feed in
                Rounds.Pass(name: FeedName.botHome, lane: .bot) { [self] in
                    try await botHome(feed)
                }
            },
        ].compactMap(\.self)
    }

    private var human: [Rounds.Pass] {
        [
            parts.feeds.humanPosts.map { feed in
                Rounds.Pass(name: FeedName.humanPosts, lane: .human) { [self] in
                    try await humanPosts(feed)
                }
            },
            parts.feeds.humanFavorites.map { feed in
                Rounds.Pass(name: FeedName.humanFavorites, lane: .human) { [self] in
                    try await humanFavorites(feed)
                }
            },
            parts.feeds.humanHome.map { feed in
                Rounds.Pass(name: FeedName.seen, lane: .human) { [self] in
                    try await humanHome(feed)
                }
            },
            parts.human.map { _ in
                Rounds.Pass(name: Self.originals, lane: .human) { [self] in
                    // A check that throws may have requested undos before the error.
                    var mayHaveRequestedUndos = true
                    defer { if mayHaveRequestedUndos { onNews() } }
                    try await parts.standing?.lookIfDue()
                    let check = try await parts.originals.look()
                    mayHaveRequestedUndos = check.count > 0
                    return check.next
                }
            },
            parts.training.map { training in
                Rounds.Pass(name: "training", lane: .human) { [self] in
                    try await train(training)
                }
            },
        ].compactMap(\.self)
    }

    /// Passes a decision to the courier, and wakes the publisher.
    private func announce(_ decision: Decision) async {
        await parts.courier.expect(decision)
        onNews()
        if decision.action.kind == .reply { announceCopy() }
        let metadata = await parts.people.metadata(of: decision.action)
        parts.logger.info("Decision made", metadata: metadata)
    }
}
