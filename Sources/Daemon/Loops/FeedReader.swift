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
    /// How many pages one look asks for unless told otherwise.
    package static let usualPages = 50

    let network: any SocialNetwork
    let feed: Feed
    /// The name of the position in the `cursors` table.
    let name: String
    let cursors: CursorTable
    let clock: any WallClock
    let pages: Int
    /// A training may want what is older than the first page.
    let keepsPast: Bool
    /// Told that the position has moved.
    let onPositionStored: @Sendable () -> Void

    /// - Parameters:
    ///   - network: Where the feed is.
    ///   - feed: Which feed.
    ///   - name: The name of the stored position.
    ///   - cursors: Where positions are stored.
    ///   - clock: Tells the time.
    ///   - pages: The most pages that one look asks for.
    ///   - keepsPast: Whether the first look notes where a training can go on into the past.
    ///   - onPositionStored: Told that the position has moved.
    package init(
        network: any SocialNetwork, feed: Feed, name: String, cursors: CursorTable, clock: any WallClock,
        pages: Int = Self.usualPages, keepsPast: Bool = false, onPositionStored: @escaping @Sendable () -> Void = {}
    ) {
        self.network = network
        self.feed = feed
        self.name = name
        self.cursors = cursors
        self.clock = clock
        self.pages = pages
        self.keepsPast = keepsPast
        self.onPositionStored = onPositionStored
    }

    /// Hands over what came since the last time, page by page, or the newest page the first time.
    ///
    /// - Parameters:
    ///   - handle: Given the posts of one page; the position moves past them when it returns.
    ///   - mayGoOn: Asked after each page whether another one may be asked for; the rest comes the next time.
    /// - Returns: False if `mayGoOn` said no.
    /// - Throws: ``NetworkError``, the store's error, or what `handle` throws.
    @discardableResult
    package func readNew(
        _ handle: @Sendable ([ObservedPost]) async throws -> Void,
        mayGoOn: @Sendable (FeedPage) async throws -> Bool = { _ in true }
    ) async throws -> Bool {
        let position = try await cursors.value(of: name)
        var walk = walk(from: position)
        var next: FeedPage?
        do {
            next = try await walk.next()
        } catch let error as NetworkError where error.code == .rejected && position != nil {
            // A position that the server does not take never gets better; what was handled is known without it.
            walk = self.walk(from: nil)
            next = try await walk.next()
        }
        while let page = next {
            if !page.items.isEmpty { try await handle(page.items) }
            if keepsPast, position == nil { try await remember(page.older.map(Past.init(whole:))) }
            if let newer = walk.newer, newer != position {
                try await cursors.set(newer, of: name, now: clock.now)
                onPositionStored()
            }
            guard try await mayGoOn(page) else { return false }
            next = try await walk.next()
        }
        return true
    }

    private func walk(from position: String?) -> FeedWalk {
        FeedWalk(
            of: network, feed, from: position.map(FeedPosition.newer(than:)) ?? .newest,
            maximumPages: position == nil ? 1 : pages)
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
