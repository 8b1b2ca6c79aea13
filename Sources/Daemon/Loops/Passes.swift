import Archive
import Favorites
import Foundation
import Logging
import Networks
import Outbox
import Posts

/// How often each feed is looked at, in the proportions of the networks' own advice.
package struct Cadence: Sendable {
    /// Mentions of the bot.
    package var mentions: Duration
    /// The bot's home timeline, and the human's.
    package var home: Duration
    /// The human's posts.
    package var humanPosts: Duration
    /// The human's favorites.
    package var humanFavorites: Duration
    /// How long the publisher waits at most before it looks for due actions and the next day.
    package var publisher: Duration

    /// - Parameter poll: The wait between two looks at the mentions.
    package init(poll: Duration) {
        mentions = poll
        home = poll * 2
        humanPosts = poll * 5
        humanFavorites = poll * 15
        publisher = min(poll, .seconds(30))
    }
}

/// One look at each thing the worker watches, and what follows from it.
struct Passes: Sendable {
    let parts: WorkerParts

    /// Makes today's plan when it is missing, and sends what is due.
    func publish() async throws -> Date {
        try await makePlan()
        try await parts.courier.deliverDue(ActionKind.allCases)
        let now = parts.clock.now
        let latest = now + parts.cadence.publisher.timeInterval
        let attention = try await parts.courier.nextAttention(ActionKind.allCases) ?? latest
        return min(max(attention, now + 1), latest)
    }

    func makePlan() async throws {
        let now = parts.clock.now
        let today = LocalTime(now, in: parts.zone).day
        guard let planned = try await parts.planner.make(today, now: now, watching: parts.human != nil) else { return }
        parts.logger.info(
            "Plan made",
            metadata: [LogKeys.day: "\(today)", LogKeys.count: "\(planned.slots.count)"])
    }

    /// Answers, or decides not to answer, who mentioned the bot.
    func mentions() async throws -> Date {
        try await readMentions()
        try await parts.courier.deliverDue([.reply])
        return parts.clock.now + parts.cadence.mentions.timeInterval
    }

    private func readMentions() async throws {
        try await parts.mentionFeed.readNew { items in
            for item in items.sorted(by: { $0.post.createdAt < $1.post.createdAt })
            where item.post.createdAt >= parts.activated {
                let decided = try await parts.mentionDecider.decide(item, now: parts.clock.now)
                if decided.isNew { log(decided.action) }
            }
        }
    }

    /// Favorites what the human would favorite on the bot's home timeline.
    func botHome() async throws -> Date {
        // Who has just asked the bot to stop is known before anything of theirs is favorited.
        try await readMentions()
        try await parts.botHomeFeed.readNew { items in
            for action in try await parts.favoriteDecider.decide(items, now: parts.clock.now) { log(action) }
            if parts.humanHomeFeed == nil { try await learnSeen(items) }
        }
        try await parts.courier.deliverDue([.favorite])
        return parts.clock.now + parts.cadence.home.timeInterval
    }

    /// Learns what the human saw and did not favorite.
    func humanHome() async throws -> Date {
        try await parts.humanHomeFeed?.readNew { items in try await learnSeen(items) }
        return parts.clock.now + parts.cadence.home.timeInterval
    }

    /// Learns what the human favorites.
    func humanFavorites() async throws -> Date {
        try await parts.humanFavoritesFeed?.readNew { items in
            let events = try await parts.learnable(items).map { FavoriteEvent.favorited($0.example) }
            try await learn(events)
        }
        return parts.clock.now + parts.cadence.humanFavorites.timeInterval
    }

    /// Archives what the human posts.
    func humanPosts() async throws -> Date {
        try await parts.humanPostsFeed?.readNew { items in
            _ = try await parts.archive.store(
                items.map(\.post), source: .api, observedAt: parts.clock.now, timeZone: parts.zone,
                limit: parts.configuration.archiveLimit)
        }
        return parts.clock.now + parts.cadence.humanPosts.timeInterval
    }

    private func learnSeen(_ items: [ObservedPost]) async throws {
        try await learn(try await parts.learnable(items).map { FavoriteEvent.seen($0.example) })
    }

    private func learn(_ events: [FavoriteEvent]) async throws {
        guard !events.isEmpty else { return }
        _ = try await parts.favorites.learn(events, at: parts.clock.now)
    }

    private func log(_ action: Action) {
        parts.logger.info(
            "Decision made",
            metadata: [
                LogKeys.action: "\(action.id)", LogKeys.kind: "\(action.kind.rawValue)",
                LogKeys.state: "\(action.state.rawValue)", LogKeys.reason: "\(action.reason ?? "-")",
            ])
    }
}
