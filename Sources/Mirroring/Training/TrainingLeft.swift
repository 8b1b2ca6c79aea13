import Foundation
package import Networks
import Posts
package import Storage

/// The items of the human's past that trainings from the network have not read yet.
package struct TrainingLeft: Equatable, Sendable {
    /// The state of reading the past of one feed.
    package enum State: Equatable, Sendable {
        /// The feed was never read.
        case unread
        /// A training began and stopped before its end: at most this many items are left.
        case begun(Int)
        /// The feed is followed, and no training was requested.
        case notRequested
        /// Nothing is left.
        case done
    }

    package var posts = State.unread
    package var favorites = State.unread
    package var home = State.unread

    package init(posts: State = .unread, favorites: State = .unread, home: State = .unread) {
        self.posts = posts
        self.favorites = favorites
        self.home = home
    }

    /// The number of items that a worker still reads without a request; `nil` if none are left.
    package func itemsLeft(of feed: Feed) -> Int? {
        guard case .begun(let number) = self[feed], number > 0 else { return nil }
        return number
    }

    /// Whether a worker still reads items without a request.
    package var isBegun: Bool { !begunFeeds.isEmpty }

    /// The feeds of which a worker reads the rest by itself.
    package var begunFeeds: [Feed] { Self.feeds.filter { itemsLeft(of: $0) != nil } }

    /// The parts of learning that share a month's money.
    ///
    /// A part that was never read counts too, so that the first training leaves half of the money
    /// to the second.
    package func wanted(favorites wantsFavorites: Bool) -> Set<MonthPlan.Part> {
        var parts: Set<MonthPlan.Part> = []
        if posts == .unread || itemsLeft(of: .ownPosts) != nil { parts.insert(.posts) }
        let areFavoritesLeft =
            favorites == .unread || itemsLeft(of: .favorites) != nil
            || itemsLeft(of: .home) != nil
        if wantsFavorites, areFavoritesLeft { parts.insert(.favorites) }
        return parts
    }

    /// The number of further months in which a worker reads the rest of a part; `nil` for never.
    ///
    /// - Parameter price: The price of a number of items of a feed; `nil` if reading is free.
    package func months(
        by plan: MonthPlan, of part: MonthPlan.Part, _ price: (Int, Feed) -> Money?
    ) -> Int? {
        var costs: [MonthPlan.Part: Money] = [part: .zero]
        var smallest: [MonthPlan.Part: Money] = [:]
        for feed in Self.feeds {
            guard let items = itemsLeft(of: feed) ?? plannedItems(of: feed, by: plan),
                let priceOfAll = price(items, feed),
                let priceOfPage = price(Self.smallestPage, feed)
            else { continue }
            let part = SpendingPurpose.past(feed).part
            costs[part] = (costs[part] ?? .zero) + priceOfAll
            smallest[part] = max(smallest[part] ?? .zero, priceOfPage)
        }
        return plan.months(toPay: costs, smallest: smallest)[part]
    }

    /// The number of items of a training that was not requested yet, but for which the plan keeps
    /// money.
    private func plannedItems(of feed: Feed, by plan: MonthPlan) -> Int? {
        switch feed {
        case .ownPosts where posts == .unread && plan.wanted.contains(.posts):
            SchedulerTrainer.backfillLimit
        case .favorites where favorites == .unread && plan.wanted.contains(.favorites):
            ClassifierTrainer.seedSize
        default: nil
        }
    }

    /// The smallest page that a network with prices sells.
    package static let smallestPage = 5
    private static let feeds = [Feed.ownPosts, .favorites, .home]

    private subscript(feed: Feed) -> State {
        switch feed {
        case .ownPosts: posts
        case .favorites: favorites
        case .home: home
        case .mentions: .done
        }
    }
}

extension FeedTable {
    /// Whether a feed was read completely, from its beginning to its newest item.
    ///
    /// - Throws: The store's error.
    package func isReadWhole(_ feed: String) async throws -> Bool {
        let rows = try await storage.query(
            """
            SELECT 1 AS found FROM feeds f WHERE f.mirror = \(mirror) AND f.feed = \(feed) AND f.position IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM feed_stretches s
                    WHERE s.mirror = \(mirror) AND s.feed = \(feed) AND s.part IN ('past', 'gap'))
            """)
        return !rows.isEmpty
    }

    /// Reads the items that trainings have left.
    ///
    /// - Throws: The store's error.
    package func trainingLeft() async throws -> TrainingLeft {
        try await storage.read { [mirror] in try Self.trainingLeft(of: mirror, on: $0) }
    }

    /// Reads the items that trainings of some mirrors have left, by name, in one statement.
    ///
    /// - Parameter mirrors: The names, some hundred at most.
    /// - Throws: The store's error.
    package static func trainingLeft(
        of mirrors: [String], in storage: any StorageEngine
    ) async throws -> [String: TrainingLeft] {
        try await storage.read { try trainingLeft(of: mirrors, on: $0) }
    }

    static func trainingLeft(of mirror: String, on connection: any StorageConnection) throws
        -> TrainingLeft
    {
        try trainingLeft(of: [mirror], on: connection)[mirror] ?? TrainingLeft()
    }

    private static func trainingLeft(
        of mirrors: [String], on connection: any StorageConnection
    ) throws -> [String: TrainingLeft] {
        let names = [FeedName.humanPosts, FeedName.humanFavorites, FeedName.seen]
        let rows = try connection.query(
            """
            SELECT f.mirror, f.feed, f.position, s.cursor, s.remaining FROM feeds f LEFT JOIN feed_stretches s
                ON s.mirror = f.mirror AND s.feed = f.feed AND s.part = 'past'
            WHERE f.mirror IN \(list: mirrors) AND f.feed IN \(list: names)
            """)
        var states: [String: [String: TrainingLeft.State]] = [:]
        for row in rows {
            let isRead = try row.optionalText("position") != nil
            let isOpen = try row.optionalText("cursor") != nil
            let remaining = try row.optionalInteger("remaining").map(Int.init(clamping:))
            states[try row.text("mirror"), default: [:]][try row.text("feed")] =
                switch (isOpen, remaining) {
                case (true, let number?): .begun(number)
                case (true, nil): isRead ? .notRequested : .unread
                case (false, _): isRead ? .done : .unread
                }
        }
        return states.mapValues { states in
            TrainingLeft(
                posts: states[FeedName.humanPosts] ?? .unread,
                favorites: states[FeedName.humanFavorites] ?? .unread,
                home: states[FeedName.seen] ?? .unread)
        }
    }
}
