import Foundation
import Posts
import TestSupport

@testable import Bluesky
@testable import Networks

/// One account's feeds on a server, each of which grows where a test wants, paged by one of the
/// ways that servers have.
final class BlueskyPagingServer: Sendable {
    enum Habit: String, CaseIterable, Sendable {
        /// As documented: no cursor behind the last item.
        case documented
        /// The last page has a cursor too, which leads to an empty page.
        case cursorOnLastPage
        /// Ten items a page, whatever is asked for.
        case shortPages
        /// Every item stands in the page twice.
        case repeatsItems
        /// An empty page with a cursor stands between the pages.
        case emptyPages
        /// The cursor of the last page is that of the page itself.
        case circles
    }

    /// What a feed holds: a time that orders it and a number that tells its items apart.
    struct Item: Sendable {
        let time: Date
        let number: Int
        /// The key of the record; what is newer has a greater one.
        let key: String

        init(time: Date, number: Int) {
            self.time = time
            self.number = number
            let id = TimestampID(
                microseconds: time.milliseconds * 1_000 + 500, clock: number % 1_024)
            key = id?.description ?? "none"
        }

        var uri: String { BlueskyJSON.uri(key) }
    }

    let feed: Feed
    let habit: Habit
    private let lock = NSLock()
    // Sendable: every access holds the lock. Newest first.
    nonisolated(unsafe) private var items: [Item] = []

    /// - Parameters:
    ///   - feed: What is paged.
    ///   - habit: How.
    ///   - count: So many items, numbered from 1, a minute apart, the last of them at noon.
    init(_ feed: Feed, _ habit: Habit, count: Int) {
        self.feed = feed
        self.habit = habit
        items = (0..<count).map { Item(time: Self.noon - Double(60 * $0), number: count - $0) }
    }

    /// The instant 2026-11-20T12:00:00Z.
    static let noon = BlueskyLoopback.start - 9 * 3_600

    func add(_ item: Item) {
        lock.withLock {
            items.insert(item, at: items.firstIndex { $0.key < item.key } ?? items.endIndex)
        }
    }

    func remove(number: Int) { lock.withLock { items.removeAll { $0.number == number } } }

    /// Adds items at the newest end, numbered on.
    func grow(by count: Int) {
        lock.withLock {
            let last = items.map(\.number).max() ?? 0
            let time = items.first?.time ?? Self.noon
            let new = (0..<count).map {
                Item(time: time + Double(count - $0), number: last + count - $0)
            }
            items.insert(contentsOf: new, at: 0)
        }
    }

    /// The identities of the items as posts, newest first.
    var identities: [String] { lock.withLock { items }.map(identity) }

    func identity(_ item: Item) -> String {
        feed == .ownPosts ? BlueskyJSON.uri(item.key, by: BlueskyLoopback.did) : item.uri
    }

    func answer(_ request: LoopbackServer.Request) -> Answer? {
        switch request.path {
        case "/xrpc/com.atproto.repo.listRecords", "/xrpc/app.bsky.feed.getTimeline",
            "/xrpc/app.bsky.notification.listNotifications":
            return list(request)
        case "/xrpc/app.bsky.feed.getPosts":
            let wanted = request.values("uris")
            let found = lock.withLock { items }.filter { wanted.contains($0.uri) }
            guard wanted.count <= 25 else { return .xrpc("InvalidRequest", "too many") }
            return .json(BlueskyJSON.page("posts", found.map(Self.view)))
        default: return nil
        }
    }

    private func list(_ request: LoopbackServer.Request) -> Answer {
        let cursor = request.query["cursor"]
        if habit == .emptyPages, let cursor, !cursor.hasSuffix("e") {
            return .json(BlueskyJSON.page(name, [], cursor: cursor + "e"))
        }
        let bound = cursor.map { $0.hasSuffix("e") ? String($0.dropLast()) : $0 } ?? "~"
        let size = habit == .shortPages ? 10 : Int(request.query["limit"] ?? "") ?? 50
        let below = lock.withLock { items }.drop { $0.key >= bound }
        let page = below.prefix(size)
        var next = page.last?.key
        let isLast = below.count <= size
        if isLast, habit == .circles { next = cursor }
        if isLast, habit != .circles, habit != .cursorOnLastPage { next = nil }
        var elements = page.map(element)
        if habit == .repeatsItems { elements += elements }
        return .json(
            BlueskyJSON.page(name, elements, cursor: next),
            headers: [("RateLimit-Limit", "3000"), ("RateLimit-Remaining", "2999")])
    }

    private var name: String {
        switch feed {
        case .ownPosts, .favorites: "records"
        case .home: "feed"
        case .mentions: "notifications"
        }
    }

    private func element(_ item: Item) -> String {
        switch feed {
        case .ownPosts:
            BlueskyJSON.listed(
                item.key, BlueskyJSON.record("post", ["createdAt": "\"\(item.time.rfc3339)\""]))
        case .favorites: BlueskyJSON.like(item.key, of: item.uri)
        case .home: BlueskyJSON.item(Self.view(item))
        case .mentions:
            BlueskyJSON.notification(item.key, "mention", ["indexedAt": "\"\(item.time.rfc3339)\""])
        }
    }

    /// Posts are dated by who wrote them, and were all seen by the server a minute before nine.
    private static func view(_ item: Item) -> String {
        BlueskyJSON.view(
            item.key, BlueskyJSON.record("post", ["createdAt": "\"\(item.time.rfc3339)\""]),
            ["indexedAt": "\"2026-11-20T20:59:00.000Z\""])
    }
}
