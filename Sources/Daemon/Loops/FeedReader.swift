import Foundation
package import Networks
import Posts
import Storage

/// Reads what is new in a feed and remembers how far it got.
///
/// The position moves only after the items were handled, so a crash repeats
/// items rather than losing them; what decides whether an item is new is the
/// record of handled ids, never the position alone.
package struct FeedReader: Sendable {
    private static let pagesAtMost = 50

    let network: any SocialNetwork
    let feed: Feed
    /// The name of the position in the `cursors` table.
    let name: String
    let cursors: CursorTable
    let clock: any WallClock

    /// - Parameters:
    ///   - network: Where the feed is.
    ///   - feed: Which feed.
    ///   - name: The name of the stored position.
    ///   - cursors: Where positions are stored.
    ///   - clock: Tells the time.
    package init(
        network: any SocialNetwork, feed: Feed, name: String, cursors: CursorTable, clock: any WallClock
    ) {
        self.network = network
        self.feed = feed
        self.name = name
        self.cursors = cursors
        self.clock = clock
    }

    /// Hands over what came since the last time, page by page, or the newest page the first time.
    ///
    /// - Parameter handle: Given the posts of one page; the position moves past them when it returns.
    /// - Throws: ``NetworkError``, the store's error, or what `handle` throws.
    package func readNew(_ handle: @Sendable ([ObservedPost]) async throws -> Void) async throws {
        let position = try await cursors.value(of: name)
        var walk = FeedWalk(
            of: network, feed, from: position.map(FeedPosition.newer(than:)) ?? .newest,
            maximumPages: position == nil ? 1 : Self.pagesAtMost)
        while let page = try await walk.next() {
            if !page.items.isEmpty { try await handle(page.items) }
            if let newer = walk.newer, newer != position { try await cursors.set(newer, of: name, now: clock.now) }
        }
    }

    /// Walks from the newest item backwards until `limit` items were handed over or the feed ends.
    ///
    /// Afterwards ``readNew(_:)`` goes on where this began. A walk that is
    /// interrupted begins again from the newest item.
    ///
    /// - Parameters:
    ///   - limit: The most items to hand over.
    ///   - handle: Given the posts of one page.
    /// - Throws: ``NetworkError``, the store's error, or what `handle` throws.
    package func readBack(limit: Int, _ handle: @Sendable ([ObservedPost]) async throws -> Void) async throws {
        var walk = FeedWalk(of: network, feed, from: .newest, maximumPages: limit)
        var left = limit
        while left > 0, let page = try await walk.next() {
            let items = Array(page.items.prefix(left))
            if !items.isEmpty { try await handle(items) }
            left -= items.count
        }
        if let newer = walk.newer { try await cursors.set(newer, of: name, now: clock.now) }
    }
}

/// The names of the stored positions.
enum FeedName {
    static let humanPosts = "human-posts"
    static let humanFavorites = "human-favorites"
    static let seen = "seen-home"
    static let botHome = "bot-home"
    static let botMentions = "bot-mentions"
}
