package import Foundation
import Posts
import Transport

/// Reading feeds.
extension XNetwork {
    /// What one page may hold.
    static let fullPage = 100
    /// Arrivals are few, and what is old when reading begins is seldom wanted: asking for few takes less of the budget.
    static let firstPage = 20
    /// The most pages that ``ownPosts(since:)`` reads.
    private static let maximumOwnPages = 200
    /// How far the clocks of this machine and the server may be apart: seconds.
    private static let clockMargin: TimeInterval = 600
    /// Times before this are refused by X: 2010-11-06T00:00:00Z.
    private static let earliest = Date(timeIntervalSince1970: 1_289_001_600)
    /// Posts do not always appear in the order of their ids: seconds that are looked at again, and for how long.
    private static let overlap = 120
    private static let overlapAge: TimeInterval = 600

    package func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        guard capabilities.feeds.contains(feed) else {
            throw cannot(Self.operation(feed), "reading the home timeline is off; set X_HOME_POSTS_PER_DAY to allow it")
        }
        switch (feed, position) {
        case (.favorites, .newest): return try await newestFavorites(size)
        case (.favorites, .older(let token)): return try await favorites(before: token, size)
        case (.favorites, .newer(let cursor)): return try await favorites(since: cursor, size)
        case (_, .newest): return try await newest(of: feed, size)
        case (_, .older(let cursor)): return try await page(of: feed, before: cursor, size)
        case (_, .newer(let cursor)): return try await arrivals(in: feed, since: cursor, size)
        }
    }

    // MARK: Feeds that are ordered by ids

    private func newest(of feed: Feed, _ size: Int?) async throws -> FeedPage {
        let list = try await list(feed, XBounds(), size: size ?? Self.firstPage).list
        var page = try await page(of: list, in: feed)
        page.older = list.nextToken == nil ? nil : XID.oldest(of: list.ids)
        page.newer = XID.newest(of: list.ids).map { XArrivals(newest: $0).text }
        return page
    }

    private func page(of feed: Feed, before cursor: String, _ size: Int?) async throws -> FeedPage {
        guard XID.isUsable(cursor) else { throw unknownCursor(feed) }
        let list = try await list(feed, XBounds(until: cursor), size: size ?? Self.fullPage).list
        var page = try await page(of: list, in: feed)
        page.older = list.nextToken == nil ? nil : XID.oldest(of: list.ids)
        return page
    }

    private func arrivals(in feed: Feed, since cursor: String, _ size: Int?) async throws -> FeedPage {
        guard let arrivals = XArrivals(cursor) else { throw unknownCursor(feed) }
        let since = arrivals.gap?.since ?? overlapping(arrivals.newest)
        let (list, reachesSince) = try await list(
            feed, XBounds(since: since, until: arrivals.gap?.until),
            size: size ?? (arrivals.gap == nil ? Self.firstPage : Self.fullPage))
        var next = XArrivals(newest: XID.newest(of: list.ids + [arrivals.newest]) ?? arrivals.newest)
        if !reachesSince, list.nextToken != nil, let oldest = XID.oldest(of: list.ids) {
            next.gap = XArrivals.Gap(since: since, until: oldest)
        }
        var page = try await page(of: list, in: feed)
        page.newer = next.text == cursor ? nil : next.text
        return page
    }

    /// The id to read from, somewhat below the newest while others may still appear there.
    private func overlapping(_ newest: String) -> String {
        guard let time = XID.time(of: newest), abs(client.now().timeIntervalSince(time)) < Self.overlapAge else {
            return newest
        }
        return XID.id(Self.overlap, secondsBefore: newest) ?? newest
    }

    // MARK: Own posts

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        let start = max(min(since, client.now()).addingTimeInterval(-Self.clockMargin), Self.earliest)
        var bounds = XBounds(start: start)
        var found: [ObservedPost] = []
        var tokens: Set<String> = []
        for _ in 0..<Self.maximumOwnPages {
            let list = try await list(.ownPosts, bounds, size: Self.firstPage).list
            let page = try await page(of: list, in: .ownPosts)
            guard page.unreadable.isEmpty, !list.hasProblems else {
                throw incomplete("a post of the account cannot be read")
            }
            let isPast = { (item: ObservedPost) in
                // What was edited stands where its last form belongs.
                item.post.isTimeTrusted && item.post.createdAt < start && item.address == item.post.id.value
            }
            found += page.items.filter { !isPast($0) }
            guard let token = list.nextToken, !page.items.contains(where: isPast) else {
                if list.isCutShort { break }
                return Self.withoutRepetitions(found)
            }
            guard tokens.insert(token).inserted else { break }
            bounds.token = token
        }
        throw incomplete("the pages do not reach back far enough")
    }

    private static func withoutRepetitions(_ posts: [ObservedPost]) -> [ObservedPost] {
        var seen: Set<String> = []
        return posts.filter { seen.insert($0.repetitionKey).inserted }
    }

    private func incomplete(_ cause: String) -> NetworkError {
        client.error(
            XCall(operation: .readOwnPosts, endpoint: .userPosts, path: []), .malformedResponse, outcome: .refused,
            detail: cause)
    }
}
