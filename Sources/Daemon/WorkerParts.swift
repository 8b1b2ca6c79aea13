import Archive
import Conduct
import Favorites
import Foundation
import Logging
import Networks
import Outbox
import Posts

/// What the passes of one worker work with, put together once at its start.
struct WorkerParts: Sendable {
    let configuration: MirrorConfiguration
    let clock: any WallClock
    let cadence: Cadence
    let faultPoints: FaultPoints
    let logger: Logger
    let zone: TimeZone
    let activated: Date
    let archive: Archive
    let people: People
    let classifiers: ClassifierSource
    let bot: AccountGate
    let human: AccountGate?
    let learnable: Learnable
    let store: OutboxStore
    let planner: PlanMaker
    let courier: Courier
    let mentionDecider: MentionDecider
    let favoriteDecider: FavoriteDecider
    let feeds: WatchedFeeds
}

/// The feeds that a worker watches: those that its accounts can read.
struct WatchedFeeds: Sendable {
    var mentions: FeedReader?
    var botHome: FeedReader?
    var humanHome: FeedReader?
    var humanFavorites: FeedReader?
    var humanPosts: FeedReader?

    /// Whose home timeline counts as what the human saw: the human's own if it can be read, else the bot's.
    ///
    /// Never both, for then the same post could be seen twice, by two people. Nil: there is nothing to compare
    /// favorites with, and so the classifier waits.
    var seen: AccountRole? {
        if humanHome != nil { return .human }
        return botHome == nil ? nil : .bot
    }
}

/// Picks the posts of others that the classifier may learn from: open to all, and of people who did not opt out.
struct Learnable: Sendable {
    let people: People
    /// The accounts of human and bot.
    let own: Set<AccountID>
    /// Told of a person from whom nothing may be learned any more.
    var onOptOut: @Sendable (AccountID, String) async throws -> Void = { _, _ in }

    /// - Parameters:
    ///   - items: Posts as a network gave them.
    ///   - known: What their authors said, where that was asked already.
    /// - Returns: Those that may be learned.
    /// - Throws: The store's error.
    func among(
        _ items: [ObservedPost], _ known: [AccountID: People.Stance]? = nil
    ) async throws -> [ObservedPost] {
        for author in items.map(\.author) where OptOut.isOptedOut(bio: author.bio) {
            try await onOptOut(author.id, author.handle)
        }
        let candidates = items.filter { item in
            !item.post.isRepost && item.post.visibility.isOpen && !own.contains(item.author.id)
                && !OptOut.isOptedOut(bio: item.author.bio)
        }
        let stances =
            if let known { known } else { try await people.stances(of: candidates.map(\.author.id)) }
        return candidates.filter { stances[$0.author.id] != .deny }
    }
}
