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

/// One look at each thing the worker watches, and what follows from it.
///
/// A class, so that what repeats a pass holds a reference and not the parts.
final class Passes: Sendable {
    /// How old the mentions are at most that the home pass relies on, in seconds.
    private static let freshness: TimeInterval = 15
    /// How old the last look at the human's posts is at most when a post is due that waits for
    /// their silence, in seconds.
    private static let attention: TimeInterval = 60
    /// How often everything that may have been missed is looked at again, and how far back:
    /// seconds.
    private static let sweep: TimeInterval = 86_400
    /// How many rows that this version does not understand are named in the log, each hour.
    private static let setAsideTold = 20
    /// The pass that looks at the human's posts of which the bot has said something.
    static let originals = "originals"
    /// The pass that judges texts.
    static let texts = "texts"
    /// How long `run --once` judges texts after all else, in seconds.
    private static let judgingOnce: TimeInterval = 20
    /// Below how many of the bot's posts one look asks for replies.
    private static let postsAtOnce = 50

    let parts: WorkerParts
    private let onNews: @Sendable () -> Void
    private let onCopy: @Sendable () -> Void
    private let onTexts: @Sendable () -> Void
    /// Whether replies wait until mentions are read, as the publisher last saw it.
    private let waitsForMentions = Mutex(false)

    /// - Parameters:
    ///   - onNews: Called when something may be due earlier than the publisher knows.
    ///   - onCopy: Called when the bot may say something of the human's, which is to be followed
    ///     from then on.
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

    /// Makes today's plan when it is missing, and sends what is due.
    func publish() async throws -> Date {
        let isAhead = try await makePlan()
        // Where mentions are not read, nothing can be waited for.
        var heard: Date? = .distantFuture
        if let mentions = parts.feeds.mentions { heard = await mentions.lastRead }
        let known = try await parts.courier.attention(ActionKind.allCases, heard: heard)
        // The start that follows carries it out.
        if let end = known.retirement, end <= parts.clock.now { throw MirrorChanged() }
        waitsForMentions.withLock { $0 = known.waitsForMentions }
        if let post = known.post, post <= parts.clock.now { try await lookAtHuman() }
        // A look-up may find that a copy was sent, so it counts as well.
        if let next = known.next, next <= parts.clock.now { tellOfCopy() }
        let delivered = try await parts.courier.deliverDue(
            ActionKind.allCases, heard: heard, knowing: known)
        let effect = try await recoverEffects(due: known.effect)
        let attention = [delivered, effect].compactMap(\.self).min()
        let now = parts.clock.now
        let hasQuestions: Bool =
            if known.waitsForMentions { true } else { await parts.originals.hasDoubts }
        let cadence = parts.cadence
        let wait =
            now
            + (hasQuestions ? cadence.publisher : cadence.idlePublisher ?? cadence.publisher)
            .timeInterval
        let latest = min(
            isAhead ? wait : min(wait, nextPlan(after: now)), known.retirement ?? .distantFuture)
        if let resume = parts.bot.pause(at: now) { return min(resume, latest) }
        // They may have been read since.
        if known.waitsForMentions, await parts.feeds.mentions?.lastRead != heard { return now }
        return min(max(attention ?? latest, now + 1), latest)
    }

    /// Takes back or finishes what a command was cut in.
    ///
    /// - Parameter next: When the next of it is due; nil for none.
    /// - Returns: The same afterwards.
    private func recoverEffects(due next: Date?) async throws -> Date? {
        guard let effects = parts.effects, let next else { return nil }
        guard next <= parts.clock.now else { return next }
        guard try await parts.bot.isOpen() else { return parts.bot.pause(at: parts.clock.now) }
        _ = try await effects.carryOut()
        return try await effects.next()
    }

    /// When the next plan is to be made: at midnight, or before it where plans are made ahead; an
    /// hour earlier or later on days when the clocks change.
    private func nextPlan(after now: Date) -> Date {
        let local = LocalTime(now, in: parts.zone)
        let ahead =
            parts.cadence.plansAhead
            ? parts.planner.minuteToPlanAhead(of: local.day) : MinuteOfDay.count
        // One that was to be made before, and could not be, is tried again with the day.
        let minute = ahead > local.minute.value ? ahead : MinuteOfDay.count
        return now + Double(minute - local.minute.value) * 60
            - now.timeIntervalSince1970.truncatingRemainder(dividingBy: 60)
    }

    private func tellOfCopy() {
        // Where a look at an original costs money, that pass keeps its own pace.
        if parts.human?.price(ofReading: 1, from: .ownPosts) == nil { onCopy() }
    }

    /// Before a post leaves that waits for the human's silence, sees whether they have just posted,
    /// where that costs nothing.
    private func lookAtHuman() async throws {
        guard parts.hold.isOn, let feed = parts.feeds.humanPosts,
            parts.human?.price(ofReading: 1, from: .ownPosts) == nil
        else { return }
        let now = parts.clock.now
        let age = await feed.lastRead.map { now.timeIntervalSince($0) }
        if let age, (0..<Self.attention).contains(age) { return }
        do {
            _ = try await feed.look(keep)
        } catch let error as NetworkError {
            // What was seen until now has to do; the pass of this feed tells of the trouble.
            parts.logger.debug(
                "The human's posts not read before a post", metadata: [LogKeys.error: "\(error)"])
        }
    }

    /// Makes today's plan when it is missing, and where plans are made ahead tomorrow's when its
    /// time has come.
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
        // Asked again and again.
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

    /// Throws away what is too old to matter, by the network's clock where the worker's is ahead of
    /// it.
    func clean() async throws {
        let now = parts.clock.now - max(0, parts.bot.clockLead ?? 0)
        let start = parts.configuration.historyStart(at: now)
        try await parts.store.clean(before: start)
        try await parts.feedTable.clean(before: start)
        try await parts.proofs.tidy(now: parts.clock.now)
        try await parts.goOnForgetting()
        for sentence in try await parts.store.setAside(limit: Self.setAsideTold) {
            parts.logger.warning("Action set aside", metadata: [LogKeys.error: "\(sentence)"])
        }
        try await parts.serverRules?.lookIfDue()
        try await parts.standing?.lookIfDue()
        guard let classifier = try await parts.classifiers.classifier() else { return }
        // Also while nothing new is learned; counts that cannot be changed now are told of where
        // they are needed.
        do { _ = try await classifier.prune(now: now) } catch is FavoritesError {}
    }

    // MARK: The bot's feeds

    /// Answers, or decides not to answer, who mentioned the bot.
    func mentions(_ feed: FeedReader) async throws -> Date {
        let lastRead = await feed.lastRead
        let next = try await feed.look(hear)
        // Replies of earlier processes wait for that, and only the publisher knows of them.
        if await feed.lastRead != lastRead, waitsForMentions.withLock(\.self) { onNews() }
        try await sweepIfDue(feed)
        try await lookBelowOwnPosts(feed)
        try await parts.courier.deliverDecided(.reply, heard: await feed.lastRead)
        try await parts.courier.deliverDecided(.favorite)
        return next
    }

    private func hear(_ items: [ObservedPost], tries: Int) async throws -> [Postponed] {
        try await deciding(.reply) {
            let (decided, postponed) = try await parts.mentionDecider.decide(
                items, now: parts.clock.now, tries: tries)
            for decision in decided {
                await tell(decision)
                parts.faultPoints.pass(.mentionDecided)
            }
            return postponed
        }
    }

    /// Decides something in a span, to which the sending of what is decided will belong.
    private func deciding<Value>(_ kind: ActionKind, _ work: () async throws -> Value) async throws
        -> Value
    {
        try await WorkStage.decide.traced(
            mirror: parts.configuration.mirror, kind: kind.rawValue, host: parts.bot.host, work)
    }

    /// Once a day, looks again at what is up to a day older than the last time, where that costs
    /// nothing: networks lose notifications too.
    private func sweepIfDue(_ feed: FeedReader) async throws {
        guard parts.bot.price(ofReading: 1, from: .mentions) == nil else { return }
        let now = parts.clock.now
        guard let last = try await feed.lastSweep() else { return try await feed.noteSweep() }
        let isSweeping = try await feed.isSweeping()
        guard isSweeping || !(0..<Self.sweep).contains(now.timeIntervalSince(last)),
            parts.bot.pause(of: .mentions, at: now) == nil
        else { return }
        // What came up since the last time may be a day older than that.
        _ = try await feed.sweep(downTo: last - Self.sweep, hear)
    }

    /// After a sweep, looks at the replies below what the bot published, which nobody may have told
    /// it of.
    private func lookBelowOwnPosts(_ feed: FeedReader) async throws {
        try await feed.lookBelowOwnPosts { place, end in
            try await parts.store.published(after: place, until: end, limit: Self.postsAtOnce)
        } _: { address in
            try await hear(try await parts.bot.replies(to: address), tries: 0).isEmpty
        }
    }

    /// Favorites what the human would favorite on the bot's home timeline.
    func botHome(_ feed: FeedReader) async throws -> Date {
        try await hearFirst()
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
                for action in decided { await tell(Decision(of: action)) }
                if !decided.isEmpty { parts.faultPoints.pass(.favoriteDecided) }
                return stances
            }
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
    /// A feed of mentions that cannot be read tells so itself, and holds up nothing here.
    private func hearFirst() async throws {
        guard let mentions = parts.feeds.mentions else { return }
        let age = await mentions.lastRead.map { parts.clock.now.timeIntervalSince($0) }
        if let age, (0..<Self.freshness).contains(age) { return }
        do {
            _ = try await mentions.look(hear)
        } catch let error as NetworkError {
            parts.logger.debug(
                "Mentions not read before favorites", metadata: [LogKeys.error: "\(error)"])
        }
    }

    // MARK: The human's feeds

    /// Learns what the human saw and did not favorite.
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

    /// Learns what the human favorites.
    func humanFavorites(_ feed: FeedReader) async throws -> Date {
        guard let classifier = try await parts.classifiers.classifier() else { return feed.later }
        if let pause = try await parts.training?.pauseOfNewFavorites() { return pause }
        return try await feed.look { items, _ in
            let events = try await parts.learnable.among(items).map {
                FavoriteEvent.favorited($0.example)
            }
            try await learn(events, with: classifier)
            try await tellingOfWishes { try await parts.originals.noteFavorites(items) }
            return []
        }
    }

    /// Archives what the human posts.
    func humanPosts(_ feed: FeedReader) async throws -> Date {
        try await parts.standing?.lookIfDue()
        return try await feed.look(keep) { try await noteShown($0) }
    }

    private func keep(_ items: [ObservedPost], tries: Int) async throws -> [Postponed] {
        // Before the archive has them: a change is told by what it has.
        try await noteShown(items)
        let posts = items.map(\.post)
        let kept = try await parts.archive.keep(
            posts, timeZone: parts.zone, limit: parts.configuration.archiveLimit)
        try await parts.hold.note(posts, now: parts.clock.now)
        if kept.stored > 0 { onTexts() }
        onNews()
        return []
    }

    /// Looks at the originals among what a list shows.
    private func noteShown(_ items: [ObservedPost]) async throws {
        try await tellingOfWishes { try await parts.originals.noteShown(items) }
    }

    /// Does something after which copies may have to be taken back, and hurries the publisher then.
    private func tellingOfWishes(_ work: () async throws -> Void) async throws {
        let wishes = await parts.originals.wishes
        try await work()
        if await parts.originals.wishes != wishes { onNews() }
    }

    /// Judges some of the human's texts that are new, or all in turn after a change of the rules,
    /// so that no plan has to wait for that.
    ///
    /// - Parameter wait: Seconds until the next look once all are judged.
    /// - Returns: When to go on.
    func judge(wait: TimeInterval) async throws -> Date {
        try await parts.judging.step() ? parts.clock.now : parts.clock.now + wait
    }

    /// Judges texts for a while, where no later pass of this process will.
    func judgeForAWhile() async throws {
        let begin = parts.clock.uptime
        while parts.clock.uptime - begin < Self.judgingOnce, !Task.isShuttingDownGracefully {
            try Task.checkCancellation()
            guard try await parts.judging.step() else { return }
        }
    }

    /// Goes on with a training that the month's money cut short.
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
            // The next post that is learned is the next try; until then the older weights are good
            // enough.
            parts.logger.debug("Weights not fitted", metadata: [LogKeys.error: "\(error)"])
        }
    }

    // MARK: All of them

    /// The passes that the worker repeats, the publisher first.
    var all: [Pass] { [publisher] + bot + human }

    /// The same in the order in which one look at everything leaves nothing for the next.
    var inOrder: [Pass] { human + bot + [publisher] }

    private var publisher: Pass {
        Pass(name: WorkFault.publisher, lane: .bot, sends: true, run: publish)
    }

    private var bot: [Pass] {
        [
            parts.feeds.mentions.map { feed in
                Pass(name: FeedName.botMentions, lane: .bot) { [self] in try await mentions(feed) }
            },
            parts.feeds.botHome.map { feed in
                Pass(name: FeedName.botHome, lane: .bot) { [self] in try await botHome(feed) }
            },
        ].compactMap(\.self)
    }

    private var human: [Pass] {
        [
            parts.feeds.humanPosts.map { feed in
                Pass(name: FeedName.humanPosts, lane: .human) { [self] in try await humanPosts(feed)
                }
            },
            parts.feeds.humanFavorites.map { feed in
                Pass(name: FeedName.humanFavorites, lane: .human) { [self] in
                    try await humanFavorites(feed)
                }
            },
            parts.feeds.humanHome.map { feed in
                Pass(name: FeedName.seen, lane: .human) { [self] in try await humanHome(feed) }
            },
            parts.human.map { _ in
                Pass(name: Self.originals, lane: .human) { [self] in
                    // It may ask for something to be taken back.
                    var mayHaveAsked = true
                    defer { if mayHaveAsked { onNews() } }
                    try await parts.standing?.lookIfDue()
                    let look = try await parts.originals.look()
                    mayHaveAsked = look.count > 0
                    return look.next
                }
            },
            parts.training.map { training in
                Pass(name: "training", lane: .human) { [self] in try await train(training) }
            },
        ].compactMap(\.self)
    }

    private func tell(_ decision: Decision) async {
        await parts.courier.expect(decision)
        onNews()
        if decision.action.kind == .reply { tellOfCopy() }
        let metadata = await parts.people.metadata(of: decision.action)
        parts.logger.info("Decision made", metadata: metadata)
    }
}

/// One of the things that a worker does again and again.
struct Pass: Sendable {
    let name: String
    /// The lane of the network that it asks.
    let lane: Rounds.Lane
    /// Sends all that is due: a worker in which it ends well does its work.
    var sends = false
    /// Does it once and returns when to do it again.
    let run: @Sendable () async throws -> Date
}
