import Archive
import Conduct
import Favorites
import Foundation
import Logging
import Networks
import Outbox
import Posts
import Storage

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
    let bot: GuardedNetwork
    let human: GuardedNetwork?
    /// The accounts of human and bot.
    let own: Set<AccountID>
    let planner: PlanMaker
    let courier: Courier
    let mentionDecider: MentionDecider
    let favoriteDecider: FavoriteDecider
    let feeds: WatchedFeeds

    /// The posts that may be learned from: by others, open to all, and of people who did not opt out.
    func learnable(_ items: [ObservedPost]) async throws -> [ObservedPost] {
        try await Learnable(people: people, own: own).among(items)
    }
}

/// Picks the posts of others that the classifier may learn from.
struct Learnable: Sendable {
    let people: People
    let own: Set<AccountID>

    func among(_ items: [ObservedPost]) async throws -> [ObservedPost] {
        let candidates = items.filter { item in
            !item.post.isRepost && item.post.visibility.isOpen && !own.contains(item.author.id)
                && !OptOut.isOptedOut(bio: item.author.bio)
        }
        let stances = try await people.stances(of: candidates.map(\.author.id))
        return candidates.filter { stances[$0.author.id] != .deny }
    }
}
