import Foundation
import Networks
import Outbox
import ServiceLifecycle
import Storage

/// A feed that is looked at again and again.
struct WatchedFeed: Sendable {
    let reader: FeedReader
    /// Shared by all feeds of the account.
    let pacing: AccountPacing
    let standing: AccountStanding
    let interval: Duration

    /// Hands over what is new, unless the account has to wait.
    ///
    /// - Parameter handle: Given the posts of one page.
    /// - Returns: When to look again.
    /// - Throws: ``NetworkError``, ``UnusableAccount``, the store's error, or what `handle` throws.
    func look(_ handle: @Sendable ([ObservedPost]) async throws -> Void) async throws -> Date {
        let clock = reader.clock
        try standing.check()
        if let resume = pause(at: clock.now) { return resume }
        do {
            try await reader.readNew(handle) { page in
                pacing.note(page.rateLimit, from: reader.feed, at: clock.now)
                // What is left of the feed is left to the next worker.
                return pause(at: clock.now) == nil && !Task.isShuttingDownGracefully
            }
        } catch let error as NetworkError where pacing.absorbs(error, from: reader.feed, at: clock.now) {
            // The pause says when to go on.
        } catch let error as NetworkError where error.stopsActor {
            try standing.check()
            return error.retryAfter ?? clock.now + interval.timeInterval
        }
        let next = clock.now + interval.timeInterval
        return max(next, pause(at: clock.now) ?? next)
    }

    /// Moves the position to the newest item if there is none yet, so that what comes later is not missed.
    ///
    /// - Throws: ``NetworkError``, ``UnusableAccount`` or the store's error.
    func begin() async throws {
        guard try await reader.cursors.value(of: reader.name) == nil else { return }
        _ = try await look { _ in }
    }

    private func pause(at now: Date) -> Date? {
        [pacing.pause(of: reader.feed, at: now), standing.pause(at: now)].compactMap(\.self).max()
    }
}

/// The feeds that a worker watches: those that its accounts can read.
struct WatchedFeeds: Sendable {
    var mentions: WatchedFeed?
    var botHome: WatchedFeed?
    var humanHome: WatchedFeed?
    var humanFavorites: WatchedFeed?
    var humanPosts: WatchedFeed?

    /// Whose home timeline counts as what the human saw: the human's own if it can be read, else the bot's.
    ///
    /// Never both, for then the same post could be seen twice, by two people. Nil: there is nothing to compare
    /// favorites with, and so the classifier waits.
    var seen: AccountRole? {
        if humanHome != nil { return .human }
        return botHome == nil ? nil : .bot
    }
}
