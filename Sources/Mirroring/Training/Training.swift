import Archive
import Blocking
import Favorites
package import Foundation
package import Import
import Localization
import Networks
package import Posts

/// The progress of a training, for a progress bar or a line of text.
package struct TrainingProgress: Equatable, Sendable {
    /// The feed or archive that is being read.
    package enum Step: String, Sendable {
        case posts
        case favorites
        case home
        case archive

        /// The display name of the feed or archive.
        var name: String {
            switch self {
            case .posts: localized("posts")
            case .favorites: localized("favorites")
            case .home: localized("home timeline")
            case .archive: localized("archive")
            }
        }

        /// The step for people, such as localized("reading posts").
        package var words: String {
            switch self {
            case .posts: localized("reading posts")
            case .favorites: localized("reading favorites")
            case .home: localized("reading the home timeline")
            case .archive: localized("reading the archive")
            }
        }

        /// The command that takes the step.
        var command: String {
            switch self {
            case .posts, .archive: "mirror-bot train scheduler"
            case .favorites, .home: "mirror-bot train classifier"
            }
        }

        /// The plural noun for the counted items.
        var things: String {
            switch self {
            case .posts, .home, .archive: localized("posts")
            case .favorites: localized("favorites")
            }
        }
    }

    package var step: Step
    package var done: Int
    /// The most items that there will be; nil while this is unknown.
    package var total: Int?
    /// A sentence to print before the reading begins, such as its cost.
    package var announcement: String?
}

/// The result of a training.
package struct TrainingSummary: Equatable, Sendable {
    /// Posts or examples that were read.
    package var read = 0
    /// The new ones among them.
    package var learned = 0
    /// The number of items that were left out because they were known.
    package var known = 0
    /// The number of picture files that were kept.
    package var pictures = 0
    /// The numbers of items that were left out on purpose, by reason in English.
    package var leftOut: [String: Int] = [:]
    /// Items that could not be read, the first of them described.
    package var problems: [String] = []
    package var problemCount = 0
    /// The zone that the archive suggests.
    package var suggestedTimeZone: String?
    /// The data that could not be read, and how to get them: a sentence each.
    package var missing: [String] = []
    /// The cost of reading the past, for each requested feed; empty where reading is free.
    package var prices: [TrainingPrice] = []
    /// The owner of the archive that was read, and the files read from it: a sentence each; empty
    /// if posts came from a network.
    package var archive: [String] = []

    package init() {}

    /// Adds the findings of an archive's reader other than the items.
    ///
    /// - Parameters:
    ///   - imported: The findings.
    ///   - human: The account that should own the archive, if it is known.
    ///   - handle: The human's handle, without `@`, if it is known.
    package mutating func add(
        _ imported: ImportSummary?, of human: AccountID? = nil, called handle: String? = nil
    ) {
        guard var imported else { return }
        // A repository of Bluesky names its owner only by DID.
        if imported.ownerName == nil, let human, imported.owner == human, let handle {
            imported.ownerName = "@\(handle)"
        }
        archive = imported.account
        if let human, let owner = imported.owner, owner.network == human.network, owner != human {
            missing.append(
                localized(
                    "the archive is not the human's: it is of \(owner.reference), and the human is \(human.reference)"
                ))
        }
        problems += imported.problems.map(\.description)
        problemCount += imported.problemCount
        suggestedTimeZone = imported.timeZone
        let counts = [
            (LocalizedText("deleted"), imported.deleted),
            (LocalizedText("edited later"), imported.replaced),
            (LocalizedText("without a text"), imported.withoutText),
            (LocalizedText("without a label"), imported.unlabelled),
            (LocalizedText("not public"), imported.notOpen),
            (LocalizedText("reposts"), imported.reposts),
            (LocalizedText("neither posts nor favorites"), imported.unrelated),
            (LocalizedText("addresses only"), imported.likesWithoutPost),
            (ClassifierTrainer.notOfOthers, imported.own),
        ]
        for (reason, count) in counts where count > 0 { leftOut[reason.key, default: 0] += count }
        missing += imported.hints
    }
}

/// The source of the month's plan for a training.
package struct TrainingBudget: Sendable {
    private let source: @Sendable (Date) async throws -> MonthPlan

    /// - Parameter source: Returns the plan of the month of an instant, including the spending so
    ///   far.
    package init(_ source: @escaping @Sendable (Date) async throws -> MonthPlan) {
        self.source = source
    }

    init(_ table: SpendingTable) { self.init { try await table.plan(at: $0) } }

    func plan(at now: Date) async throws -> MonthPlan { try await source(now) }
}

extension HumanMirror {
    /// Removes everything that this mirror has learned: posts, examples, counts, and the positions
    /// in feeds.
    ///
    /// The bot's actions and the people whom it leaves alone stay stored, so that no action is
    /// repeated afterwards.
    ///
    /// - Throws: As ``favorites()``, before anything is removed; the store's error.
    @discardableResult
    package func forgetTraining() async throws -> TrainingCleared {
        let favorites = try favorites()
        let examples = try await favorites.status().examples
        let cleared = TrainingCleared(
            mirror: name, posts: try await archive.count(),
            examples: examples.favorites + examples.normals)
        try await table.add(now: clock.now)
        try await archive.clear()
        try await table.forgetPast()
        try await favorites.clear()
        try await feeds.reset([FeedName.humanPosts, FeedName.humanFavorites, FeedName.seen])
        return cleared
    }
}

/// Reads a downloaded archive on a thread of its own and passes it on in batches.
struct ArchiveBatches: Sendable {
    let path: String
    let purpose: ImportPurpose
    let network: NetworkName
    let localHost: String?
    /// The owner to assume for an archive that does not name its own.
    var owner: AccountID?
    /// Whether posts in communities of X are read.
    var includesCommunities = false
    let batchSize: Int
    /// The present, which no post can be later than.
    let now: Date
    /// Whether the picture files of a post are read too; nil to read none.
    var wantsPictures: (@Sendable (Post) -> Bool)?
    /// The most bytes of pictures in one batch: 16 MiB.
    private static let pictureBytes = 16 << 20

    /// Hands over the items in the order of the archive.
    ///
    /// While a batch is handled, the next one is read; the reader then waits, so memory use does
    /// not grow with the size of the archive.
    ///
    /// - Parameter handle: Handles at most `batchSize` items at a time, never two batches at once.
    /// - Returns: The reader's findings other than the items.
    /// - Throws: ``ImportError``, or the error of `handle`.
    func forEach(_ handle: @escaping @Sendable ([ArchiveItem]) async throws -> Void) async throws
        -> ImportSummary
    {
        let executor = ThreadExecutor(name: "import")
        defer { executor.shutdown() }
        // The thread does not know the task's language.
        let language = Language.current
        return try await executor.run {
            try Language.$current.withValue(language) { try read(handle) }
        }
    }

    /// Reads the archive on the current thread, for ``forEach(_:)``.
    private func read(_ handle: @escaping @Sendable ([ArchiveItem]) async throws -> Void) throws
        -> ImportSummary
    {
        var handling: Handling?
        // However the reading ends, the last batch has ended before this returns. Its error is
        // ignored here: it is thrown below, or another one was thrown first.
        defer { _ = try? handling?.wait() }
        var batch: [ArchiveItem] = []
        var pictureBytes = 0
        func handOver() throws {
            pictureBytes = 0
            try handling?.wait()
            handling = Handling(of: batch, handle)
            batch.removeAll(keepingCapacity: true)
        }
        let reader = ArchiveReader(
            path: path, purpose: purpose, network: network, localHost: localHost, owner: owner,
            includesCommunities: includesCommunities, now: now, wantsPictures: wantsPictures)
        let summary = try reader.read { item in
            batch.append(item)
            if case .picture(_, _, let bytes) = item { pictureBytes += bytes.count }
            if batch.count >= batchSize || pictureBytes > Self.pictureBytes { try handOver() }
        }
        if !batch.isEmpty { try handOver() }
        try handling?.wait()
        return summary
    }

    /// A batch in progress, for which the reader's thread can wait.
    private final class Handling: @unchecked Sendable {
        // Sendable because `error` is written before the semaphore is signalled and read after.
        private let done = DispatchSemaphore(value: 0)
        private var error: (any Error)?

        init(
            of batch: [ArchiveItem],
            _ handle: @escaping @Sendable ([ArchiveItem]) async throws -> Void
        ) {
            Task {
                do { try await handle(batch) } catch { self.error = error }
                done.signal()
            }
        }

        /// Blocks the thread until the batch is handled; may be called again.
        func wait() throws {
            done.wait()
            done.signal()
            if let error { throw error }
        }
    }
}
