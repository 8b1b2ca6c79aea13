import Archive
import Conduct
package import Favorites
import Foundation
import Import
import Localization
package import Networks
import Outbox
package import Posts
import Settings

/// Teaches the classifier the human's past favorites.
package struct ClassifierTrainer: Sendable {
    /// The number of favorites, and of other posts, that are read from the network by default.
    package static let seedSize = 800
    private static let batchSize = 500
    /// The reason for leaving out posts whose authors nothing is learned from.
    static let notOfOthers = LocalizedText("own posts, reposts and people who opted out")

    let mirror: HumanMirror
    let favorites: Favorites
    let budget: TrainingBudget
    let report: @Sendable (TrainingProgress) -> Void

    /// - Parameters:
    ///   - mirror: The mirror's data.
    ///   - favorites: The classifier.
    ///   - budget: The money that may be spent if reading costs any; nil for the mirror's spending
    ///     table.
    ///   - report: Called with the progress, and with the cost before the first request.
    package init(
        mirror: HumanMirror, favorites: Favorites, budget: TrainingBudget? = nil,
        report: @escaping @Sendable (TrainingProgress) -> Void
    ) {
        self.mirror = mirror
        self.favorites = favorites
        self.budget = budget ?? TrainingBudget(mirror.spending)
        self.report = report
    }

    /// Removes everything learned and the positions in feeds.
    private func startOver() async throws {
        try await favorites.clear()
        try await mirror.feeds.reset([FeedName.humanFavorites, FeedName.seen])
    }

    /// Reads the human's favorites, and the posts they were chosen from, as far as the network
    /// shows them.
    ///
    /// If reading costs money, at most the share of ``MonthPlan`` for favorites is spent; the
    /// summary then names what is missing, and a worker continues.
    ///
    /// - Parameters:
    ///   - human: The human's network, with the human's credentials.
    ///   - own: The accounts of human and bot, whose posts are not learned.
    ///   - limit: The number of favorites, and of posts of the home timeline.
    ///   - again: Whether everything learned is removed first; it is kept if nothing can be read in
    ///     its place.
    /// - Returns: The counts of items that were read and learned.
    /// - Throws: `NetworkError`; the store's or the counts' error.
    package func train(
        from human: any SocialNetwork, own: Set<AccountID>, limit: Int, again: Bool = false
    ) async throws -> TrainingSummary {
        try await train(
            from: human, own: own, limits: [.favorites: limit, .home: limit], again: again)
    }

    /// Trains on those feeds that have a limit.
    func train(
        from human: any SocialNetwork, own: Set<AccountID>, limits: [Feed: Int], again: Bool = false
    ) async throws -> TrainingSummary {
        let learnable = Learnable(people: mirror.people, own: own) { [mirror] person, handle in
            _ = try await mirror.forgetLearning(of: person, handle: handle, now: mirror.clock.now)
        }
        let tally = Tally()
        var missing: [String] = []
        var prices: [TrainingPrice] = []
        var isToStartOver = again
        for (feed, name, step) in [
            (Feed.favorites, FeedName.humanFavorites, TrainingProgress.Step.favorites),
            (Feed.home, FeedName.seen, TrainingProgress.Step.home),
        ] {
            guard let limit = limits[feed] else { continue }
            guard human.capabilities.feeds.contains(feed) else {
                missing.append(try await unreadable(step))
                continue
            }
            let reader = FeedReader(
                gate: .hasty(human, clock: mirror.clock), feed: feed, name: name,
                table: mirror.feeds,
                clock: mirror.clock,
                terms: FeedTerms(pages: Cadence.pages(of: feed, on: human.name)))
            if isToStartOver, try await reader.mayRead(within: budget) {
                try await startOver()
                isToStartOver = false
            }
            let readBefore = tally.summary.read
            let (sentence, price) = try await reader.train(
                step, limit: limit, budget: budget, report: report
            ) {
                items, total in
                let usable = try await learnable.among(items)
                let events = usable.map { item -> FavoriteEvent in
                    step == .favorites ? .favorited(item.example) : .seen(item.example)
                }
                let learned = try await favorites.learn(events, at: mirror.clock.now)
                let done = tally.add(
                    read: items.count, leftOut: items.count - usable.count, learned)
                report(TrainingProgress(step: step, done: done - readBefore, total: total))
            }
            missing += [sentence].compactMap(\.self)
            prices += [price].compactMap(\.self)
        }
        try await fitWeights()
        var summary = tally.summary
        summary.missing += missing
        summary.prices = prices
        return summary
    }

    /// Fits the weights of the evidence, unless a worker holds the mirror, which fits them itself.
    ///
    /// If the counts cannot be read, the next training or the worker fits the weights.
    private func fitWeights() async throws {
        guard favorites.configuration.weighting == .learned else { return }
        let keeper = LeaseKeeper(
            table: LeaseTable(storage: mirror.storage, mirror: mirror.name), clock: mirror.clock,
            timing: mirror.rehearsal.leaseTiming, logger: mirror.logger)
        do {
            _ = try await keeper.holdingNow { [favorites, mirror] lease in
                try await WeightKeeper(favorites, store: mirror.outbox(lease: lease)).fit(
                    at: mirror.clock.now)
            }
        } catch is FavoritesError {}
    }

    /// The sentence that a feed of the human cannot be read; for the home timeline, also the
    /// consequence.
    private func unreadable(_ step: TrainingProgress.Step) async throws -> String {
        let name = step.name
        guard step == .home else {
            return localized("the human's \(name) cannot be read with these settings")
        }
        let unreadHome = try await FoundAccounts(in: mirror).reasonHomeIsUnread(of: .bot)
        guard let problem = unreadHome?.words else {
            return localized(
                """
                the human's \(name) cannot be read with these settings; \
                the posts to compare favorites with come from the bot's home timeline while the bot runs
                """)
        }
        return localized(
            """
            the human's \(name) cannot be read with these settings, nor can the bot's, for \(problem); \
            favorites have nothing to be compared with until one can
            """)
    }

    /// Learns the favorites of a downloaded archive, and the other posts if it has any.
    ///
    /// - Parameters:
    ///   - path: Any file or folder that `ArchiveReader` reads, or `-` for standard input.
    ///   - localHost: Completes local names.
    ///   - limit: The most favorites, and the most other posts; nil for all.
    ///   - again: Whether everything learned is removed once the first posts were read.
    /// - Returns: The counts of items that were read and learned.
    /// - Throws: `ImportError` for an unusable archive; the store's or the counts' error.
    package func train(
        fromArchive path: String, localHost: String?, limit: Int?, again: Bool = false
    ) async throws -> TrainingSummary {
        let host = try await mirror.humanHost() ?? localHost
        let record = try await mirror.table.record()
        let own = Set([record.human, record.bot].compactMap(\.self))
        let batches = ArchiveBatches(
            path: path, purpose: .classifier, network: mirror.configuration.humanNetwork,
            localHost: host,
            owner: record.human, batchSize: Self.batchSize, now: mirror.clock.now)
        let tally = Tally()
        let quota = Quota(limit: limit)
        let denied = try await deniedNames()
        let imported = try await batches.forEach { batch in
            if again, tally.summary.read == 0 { try await startOver() }
            let usable = try await learnable(of: batch, localHost: host, own: own, besides: denied)
            let learned = try await favorites.learn(quota.events(for: usable), at: mirror.clock.now)
            let done = tally.add(read: batch.count, leftOut: batch.count - usable.count, learned)
            report(TrainingProgress(step: .archive, done: done, total: nil))
        }
        try await fitWeights()
        var summary = tally.summary
        summary.add(imported, of: record.human, called: record.humanHandle)
        return summary
    }

    /// The known names of denied people: labelled posts may name an author only by these.
    private func deniedNames() async throws -> Set<String> {
        let acquaintances = try await mirror.people.all().filter {
            $0.id.network == mirror.configuration.humanNetwork
        }
        let stances = try await mirror.people.stances(of: acquaintances.map(\.id))
        return Set(
            acquaintances.filter { stances[$0.id] == .deny }.compactMap { $0.handle?.lowercased() })
    }

    /// The items by others who were not denied or forgotten and did not opt out, as far as the post
    /// or the author's name identifies them.
    private func learnable(
        of batch: [ArchiveItem], localHost: String?, own: Set<AccountID>,
        besides denied: Set<String>
    ) async throws -> [ArchiveItem] {
        let network = mirror.configuration.humanNetwork
        let authors = batch.map { item -> [AccountID] in
            let named = item.example?.author.map {
                AccountID(name: $0, localHost: localHost ?? "", on: network)
            }
            return [named, item.example?.authorID, item.example?.id.author].compactMap(\.self)
        }
        let stances = try await mirror.people.stances(of: authors.flatMap(\.self))
        return zip(batch, authors).filter { item, authors in
            !authors.contains {
                stances[$0] == .deny || denied.contains($0.value) || own.contains($0)
            }
                && !OptOut.isOptedOut(bio: item.example?.authorBio ?? "")
        }.map(\.0)
    }

    /// Turns items into events until there are enough of each kind.
    private final class Quota: @unchecked Sendable {
        // Sendable because the batches of one archive come one after the other.
        private var favoritesLeft: Int
        private var normalsLeft: Int

        init(limit: Int?) {
            favoritesLeft = limit ?? .max
            normalsLeft = limit ?? .max
        }

        func events(for batch: [ArchiveItem]) -> [FavoriteEvent] {
            batch.flatMap { item -> [FavoriteEvent] in
                switch item {
                case .favorite(let example) where favoritesLeft > 0:
                    favoritesLeft -= 1
                    let favorited = FavoriteEvent.favorited(Example(example))
                    return example.isSeen ? [.seen(Example(example)), favorited] : [favorited]
                case .normal(let example) where normalsLeft > 0:
                    normalsLeft -= 1
                    return [.seen(Example(example))]
                case .post, .picture, .favorite, .normal:
                    return []
                }
            }
        }
    }

    /// The running sums of one training.
    private final class Tally: @unchecked Sendable {
        // Sendable because the sums are only touched under `lock`.
        private let lock = NSLock()
        private var sums = TrainingSummary()

        var summary: TrainingSummary { lock.withLock { sums } }

        func add(read: Int, leftOut: Int, _ learned: LearnSummary) -> Int {
            lock.withLock {
                sums.read += read
                sums.learned += learned.learned + learned.relabelled
                sums.known += learned.unchanged
                sums.leftOut[ClassifierTrainer.notOfOthers.key, default: 0] += leftOut
                return sums.read
            }
        }
    }
}

extension ArchiveItem {
    /// The post of another person; nil for the human's own.
    fileprivate var example: ImportedExample? {
        switch self {
        case .favorite(let example), .normal(let example): example
        case .post, .picture: nil
        }
    }
}

extension Example {
    fileprivate init(_ imported: ImportedExample) {
        self.init(
            id: imported.id, author: imported.author, authorID: imported.authorID,
            text: imported.text)
    }
}
