import Archive
import Favorites
import Foundation
import Logging
import Networks
import Outbox
import Posts

/// One look at each thing the worker watches, and what follows from it.
struct Passes: Sendable {
    let parts: WorkerParts

    /// Makes today's plan when it is missing, and sends what is due.
    func publish() async throws -> Date {
        try await makePlan()
        try await parts.courier.deliverDue(ActionKind.allCases)
        let now = parts.clock.now
        let latest = now + parts.cadence.publisher.timeInterval
        if let resume = parts.bot.standing.pause(at: now) { return min(resume, latest) }
        let attention = try await parts.courier.nextAttention(ActionKind.allCases) ?? latest
        return min(max(attention, now + 1), latest)
    }

    func makePlan() async throws {
        let now = parts.clock.now
        let today = LocalTime(now, in: parts.zone).day
        let planned = try await parts.planner.make(
            today, now: now, watching: parts.feeds.humanPosts != nil, onDrawn: { parts.faultPoints.pass(.planDrawn) })
        guard let planned else { return }
        parts.faultPoints.pass(.planStored)
        parts.logger.info(
            "Plan made",
            metadata: [LogKeys.day: "\(today)", LogKeys.count: "\(planned.slots.count)"])
    }

    /// Answers, or decides not to answer, who mentioned the bot.
    func mentions(_ feed: WatchedFeed) async throws -> Date {
        let next = try await readMentions(feed)
        try await parts.courier.deliverDue([.reply])
        return next
    }

    private func readMentions(_ feed: WatchedFeed) async throws -> Date {
        try await feed.look { items in
            for item in items.sorted(by: { $0.post.createdAt < $1.post.createdAt })
            where item.post.createdAt >= parts.activated {
                let decided = try await parts.mentionDecider.decide(item, now: parts.clock.now)
                if decided.isNew {
                    log(decided.action)
                    parts.faultPoints.pass(.mentionDecided)
                }
            }
        }
    }

    /// Favorites what the human would favorite on the bot's home timeline.
    func botHome(_ feed: WatchedFeed) async throws -> Date {
        // Who has just asked the bot to stop is known before anything of theirs is favorited.
        if let mentions = parts.feeds.mentions { _ = try await readMentions(mentions) }
        guard let classifier = try await parts.classifiers.classifier() else {
            try await feed.begin()
            return later(feed)
        }
        let session = classifier.session()
        let next = try await feed.look { items in
            let decided = try await parts.favoriteDecider.decide(items, with: session, now: parts.clock.now)
            decided.forEach(log)
            if !decided.isEmpty { parts.faultPoints.pass(.favoriteDecided) }
            if parts.feeds.seen == .bot { try await learnSeen(items, with: classifier) }
        }
        try await parts.courier.deliverDue([.favorite])
        return next
    }

    /// Learns what the human saw and did not favorite.
    func humanHome(_ feed: WatchedFeed) async throws -> Date {
        guard let classifier = try await parts.classifiers.classifier() else { return later(feed) }
        return try await feed.look { items in try await learnSeen(items, with: classifier) }
    }

    /// Learns what the human favorites.
    func humanFavorites(_ feed: WatchedFeed) async throws -> Date {
        guard let classifier = try await parts.classifiers.classifier() else { return later(feed) }
        return try await feed.look { items in
            let events = try await parts.learnable(items).map { FavoriteEvent.favorited($0.example) }
            try await learn(events, with: classifier)
        }
    }

    /// Archives what the human posts.
    func humanPosts(_ feed: WatchedFeed) async throws -> Date {
        try await feed.look { items in
            _ = try await parts.archive.store(
                items.map(\.post), source: .api, observedAt: parts.clock.now, timeZone: parts.zone,
                limit: parts.configuration.archiveLimit)
        }
    }

    /// What the worker does again and again, the publisher first.
    var all: [Pass] { [publisher] + bot + human }

    /// The same in the order in which one look at everything leaves nothing for the next.
    var inOrder: [Pass] { human + bot + [publisher] }

    private var publisher: Pass { Pass(name: "publisher", run: publish) }

    private var bot: [Pass] {
        [
            parts.feeds.mentions.map { feed in Pass(name: "bot-mentions") { try await mentions(feed) } },
            parts.feeds.botHome.map { feed in Pass(name: "bot-home") { try await botHome(feed) } },
        ].compactMap(\.self)
    }

    private var human: [Pass] {
        [
            parts.feeds.humanPosts.map { feed in Pass(name: "human-posts") { try await humanPosts(feed) } },
            parts.feeds.humanFavorites.map { feed in Pass(name: "human-favorites") { try await humanFavorites(feed) } },
            parts.feeds.humanHome.map { feed in Pass(name: "human-home") { try await humanHome(feed) } },
        ].compactMap(\.self)
    }

    /// When a feed is looked at again that nothing can be done with now; its position stays.
    private func later(_ feed: WatchedFeed) -> Date { parts.clock.now + feed.interval.timeInterval }

    private func learnSeen(_ items: [ObservedPost], with classifier: Favorites) async throws {
        try await learn(try await parts.learnable(items).map { FavoriteEvent.seen($0.example) }, with: classifier)
    }

    private func learn(_ events: [FavoriteEvent], with classifier: Favorites) async throws {
        guard !events.isEmpty else { return }
        _ = try await classifier.learn(events, at: parts.clock.now)
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

/// One of the things that a worker does again and again.
struct Pass: Sendable {
    let name: String
    /// Does it once and returns when to do it again.
    let run: @Sendable () async throws -> Date
}
