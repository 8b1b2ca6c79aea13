import Archive
import Conduct
package import Foundation
import Import
import Localization
package import Networks
import Outbox
package import Posts
import Settings

/// Fills the archive with the human's past.
package struct SchedulerTrainer: Sendable {
    /// As far back as the networks let an account read.
    package static let backfillLimit = 3_200
    /// Posts of a downloaded archive that are stored in one transaction.
    package static let batchSize = 10_000

    let mirror: HumanMirror
    let zone: TimeZone
    let budget: TrainingBudget
    let report: @Sendable (TrainingProgress) -> Void
    let judgesTexts: Bool

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - zone: The human's zone, in which minutes are recorded.
    ///   - budget: The money that may be spent if reading costs any; nil for the mirror's spending
    ///     table.
    ///   - judgesTexts: Whether the texts are judged at the end, which may take minutes; false
    ///     leaves that to a worker.
    ///   - report: Called with the progress, and with the cost before the first request.
    package init(
        mirror: HumanMirror, zone: TimeZone, budget: TrainingBudget? = nil,
        judgesTexts: Bool = true,
        report: @escaping @Sendable (TrainingProgress) -> Void
    ) {
        self.mirror = mirror
        self.zone = zone
        self.budget = budget ?? TrainingBudget(mirror.spending)
        self.judgesTexts = judgesTexts
        self.report = report
    }

    /// Removes the archived posts and the position in the human's feed.
    private func startOver() async throws {
        try await mirror.archive.clear()
        try await mirror.feeds.reset([FeedName.humanPosts])
        try await mirror.feeds.forgetUnreachedPast(of: FeedName.humanPosts)
    }

    /// Reads the human's posts from the network: the newest 3,200 the first time, later the new
    /// ones and those that an earlier training had to leave.
    ///
    /// If reading costs money, at most the share of ``MonthPlan`` for posts is spent; the summary
    /// then names what is missing, and a worker continues.
    ///
    /// - Parameters:
    ///   - human: The human's network, with the human's credentials, which have been verified.
    ///   - limit: The number of wanted older posts.
    ///   - again: Whether the archived posts are removed first; they are kept if there is no money
    ///     to read them again.
    /// - Returns: The counts of posts that were read and kept.
    /// - Throws: `NetworkError`; the store's error.
    package func train(
        from human: any SocialNetwork, limit: Int = backfillLimit, again: Bool = false
    ) async throws -> TrainingSummary {
        let reader = FeedReader(
            gate: .hasty(human, clock: mirror.clock), feed: .ownPosts, name: FeedName.humanPosts,
            table: mirror.feeds,
            clock: mirror.clock)
        if again, try await reader.mayRead(within: budget) { try await startOver() }
        let tally = Tally()
        let (missing, price) = try await reader.train(
            .posts, limit: limit, budget: budget, isEnough: { tally.isKnown }, report: report
        ) { items, _ in
            let stored = try await store(items.map(\.post))
            let done = tally.add(read: items.count, stored)
            report(TrainingProgress(step: .posts, done: done, total: limit))
        }
        try await prepare()
        var summary = tally.summary
        summary.prices += [price].compactMap(\.self)
        summary.missing += [missing, try await hiddenPast()].compactMap(\.self)
        if reader.isPaid {
            summary.missing += [try await leaveFavorites(of: human)].compactMap(\.self)
        }
        // If nothing could be paid for, no past is known.
        let isEmpty = try await mirror.archive.count() == 0
        if missing == nil || !isEmpty {
            try await noteLearned(summary, knownPast: missing == nil ? .whole : .part)
        }
        return summary
    }

    /// The sentence that the network does not show all of the human's posts; nil if it does, as far
    /// as is known.
    private func hiddenPast() async throws -> String? {
        let feeds = try await mirror.feeds.health(now: mirror.clock.now)
        let gaps = feeds.first { $0.feed == FeedName.humanPosts }?.unreached ?? []
        guard let hidden = gaps.first(where: \.isBeginning) else { return nil }
        return """
            posts before \(LocalTime(hidden.to, in: zone).day) were not read, for the network lists \
            only the newest ones; a downloaded archive has the rest: \
            \(TrainingProgress.Step.posts.command) --from ARCHIVE
            """
    }

    /// Leaves the human's favorites to a worker if a training of them would read nothing this
    /// month.
    ///
    /// - Returns: A sentence about this; `nil` if a training would read some, or none are wanted.
    private func leaveFavorites(of human: any SocialNetwork) async throws -> String? {
        guard mirror.configuration.favoriteMode != .off,
            let page = human.price(ofReading: TrainingLeft.smallestPage, from: .favorites),
            try await mirror.feeds.trainingLeft().favorites == .unread
        else { return nil }
        let plan = try await budget.plan(at: mirror.clock.now)
        guard plan.wanted.contains(.favorites), plan.left(for: .past(.favorites)) < page else {
            return nil
        }
        let reader = FeedReader(
            gate: .hasty(human, clock: mirror.clock), feed: .favorites,
            name: FeedName.humanFavorites,
            table: mirror.feeds, clock: mirror.clock)
        try await reader.wantPast(ClassifierTrainer.seedSize)
        let date = plan.nextChance(for: .past(.favorites), toPay: page).rfc3339.prefix(10)
        return localized(
            "favorites are left, too: mirror-bot run reads them by itself from \(date) on")
    }

    /// Reads the human's posts from a downloaded archive.
    ///
    /// - Parameters:
    ///   - path: Any file or folder that `ArchiveReader` reads, or `-` for standard input.
    ///   - localHost: Completes local names.
    ///   - includesCommunities: Whether the human's posts in communities of X are read too.
    ///   - again: Whether the archived posts are removed once the first posts were read.
    ///   - adopt: Changes each post before it is archived; the demo moves a downloaded archive to
    ///     its own network.
    /// - Returns: The counts of posts that were read and kept.
    /// - Throws: `ImportError` for an unusable archive; the store's error.
    package func train(
        fromArchive path: String, localHost: String?, includesCommunities: Bool = false,
        again: Bool = false,
        adopt: @escaping @Sendable (Post) -> Post = { $0 }
    ) async throws -> TrainingSummary {
        let human = try await mirror.table.record().human
        let batches = ArchiveBatches(
            path: path, purpose: .scheduler, network: mirror.configuration.humanNetwork,
            localHost: try await mirror.humanHost() ?? localHost, owner: human,
            includesCommunities: includesCommunities,
            batchSize: Self.batchSize, now: mirror.clock.now, wantsPictures: picturesWanted)
        let tally = Tally()
        let pruning = Pruning(
            limit: mirror.configuration.archiveLimit,
            held: again ? 0 : try await mirror.archive.count())
        let imported = try await batches.forEach { batch in
            let posts = batch.compactMap { item -> Post? in
                guard case .post(let post) = item else { return nil }
                return adopt(post)
            }
            if !posts.isEmpty {
                if again, tally.summary.read == 0 { try await startOver() }
                let isFull = pruning.isFull(with: posts.count)
                let stored = try await store(posts, prunes: isFull)
                pruning.add(stored)
                let done = tally.add(read: posts.count, stored)
                report(TrainingProgress(step: .archive, done: done, total: nil))
            }
            // Pictures come after the posts that they belong to.
            for case .picture(let id, let place, let bytes) in batch {
                tally.addPicture(
                    isKept: try await mirror.archive.keepPicture(bytes, at: place, of: id))
            }
        }
        // Storing no further post prunes the archive to its limit.
        if pruning.isOverLimit { _ = tally.add(read: 0, try await store([])) }
        if let zone = imported.timeZone {
            try await mirror.table.proposeTimeZone(zone, now: mirror.clock.now)
        }
        try await prepare()
        var summary = tally.summary
        summary.add(imported, of: human, called: try await mirror.table.record().humanHandle)
        if summary.read > 0 {
            try await mirror.feeds.forgetUnreachedPast(of: FeedName.humanPosts)
            try await noteLearned(summary, knownPast: .whole)
        }
        return summary
    }

    /// The share of new posts in the archive from which stored plans are drawn anew.
    private static let redrawnFrom = 0.1

    /// Stores that the past is known, and draws plans anew that were made from much less.
    private func noteLearned(_ summary: TrainingSummary, knownPast past: KnownPast) async throws {
        let now = mirror.clock.now
        let knowsMore = try await mirror.table.notePast(past, now: now)
        let learnedMuch =
            Double(summary.learned) >= Self.redrawnFrom * Double(try await mirror.archive.count())
        guard summary.learned > 0, knowsMore || learnedMuch else { return }
        let redraw = PlanRedraw(mirror: mirror, zone: zone)
        for day in try await mirror.outbox(lease: nil).plannedDays(
            from: LocalTime(now, in: zone).day)
        {
            _ = try await redraw.redraw(day, seed: "training \(now.rfc3339)", now: now)
        }
    }

    /// Whether the picture files of a post are kept; nil if no pictures are sent.
    private var picturesWanted: (@Sendable (Post) -> Bool)? {
        let configuration = mirror.configuration
        guard configuration.pictures != .leftOut else { return nil }
        let rules = TextRules(configuration, limits: .usual(of: configuration.botNetwork))
        return { post in
            !post.isReply && !post.isRepost && post.isOpen && rules.refusalOfMedia(post) == nil
        }
    }

    /// Prepares the data for the first plan.
    private func prepare() async throws {
        // First, because a change of zone changes the prepared data.
        let zone = try await mirror.adoptTimeZone(now: mirror.clock.now) ?? zone
        if judgesTexts { try await mirror.archive.prepare(by: mirror.textJudge(zone: zone)) }
        _ = try await mirror.archive.scheduleRows()
    }

    private func store(_ posts: [Post], prunes: Bool = true) async throws -> Archive.StoreSummary {
        try await mirror.archive.keep(
            posts, timeZone: zone, limit: prunes ? mirror.configuration.archiveLimit : nil)
    }

    /// Decides when to prune the archive, at a cost that grows with its limit: only when it may
    /// exceed the limit by a quarter, so that the cost of each post does not depend on the limit.
    private final class Pruning: @unchecked Sendable {
        // Sendable because `postCount` is only touched under `lock`.
        private let lock = NSLock()
        private let limit: Int
        private var postCount: Int

        init(limit: Int, held postCount: Int) {
            self.limit = limit
            self.postCount = postCount
        }

        /// Whether the archive has more posts than its limit.
        var isOverLimit: Bool { lock.withLock { postCount > limit } }

        /// Whether the archive must be pruned when so many posts are added.
        func isFull(with newCount: Int) -> Bool {
            lock.withLock { postCount + newCount > limit + limit / 4 }
        }

        func add(_ stored: Archive.StoreSummary) {
            lock.withLock { postCount += stored.stored - stored.pruned }
        }
    }

    /// The running sums of one training.
    private final class Tally: @unchecked Sendable {
        // Sendable because the sums are only touched under `lock`.
        private let lock = NSLock()
        private var sums = TrainingSummary()
        /// The number of known posts since the last new one.
        private var knownInARow = 0
        /// More known posts in a row than one page has, which may be read again after a crash.
        private static let enoughKnown = 200

        var summary: TrainingSummary { lock.withLock { sums } }

        /// Whether the posts that are read now are known, such as from a downloaded archive, so
        /// that older ones are not worth their price.
        var isKnown: Bool { lock.withLock { knownInARow >= Self.enoughKnown } }

        func addPicture(isKept: Bool) {
            lock.withLock {
                if isKept {
                    sums.pictures += 1
                } else {
                    sums.leftOut[LocalizedText("pictures beyond what is kept").key, default: 0] += 1
                }
            }
        }

        func add(read: Int, _ stored: Archive.StoreSummary) -> Int {
            lock.withLock {
                sums.read += read
                sums.learned += stored.stored
                sums.known += stored.alreadyKnown
                knownInARow = stored.stored > 0 ? 0 : knownInARow + stored.alreadyKnown
                sums.leftOut[LocalizedText("reposts").key, default: 0] += stored.reposts
                sums.leftOut[LocalizedText("not public").key, default: 0] += stored.notOpen
                sums.leftOut[LocalizedText("forgotten or muted").key, default: 0] += stored.unwanted
                sums.leftOut[LocalizedText("older than the archive's limit").key, default: 0] +=
                    stored.pruned
                return sums.read
            }
        }
    }
}
