import Foundation
import Networks
import Storage

/// Reading a feed back into the past, in as many goes as it takes.
extension FeedReader {
    /// Where a walk into the past goes on.
    struct Past: Equatable {
        /// How many items are still wanted, at most; `.max` where no training has begun.
        var left: Int
        /// Where the next older page begins.
        var cursor: String

        init(left: Int, cursor: String) {
            self.left = left
            self.cursor = cursor
        }

        /// Everything before a cursor.
        init(whole cursor: String) { self.init(left: .max, cursor: cursor) }

        /// Reads the stored form: the number, a space and the cursor.
        init?(_ text: String) {
            guard let space = text.firstIndex(of: " "), let left = Int(text[..<space]), left > 0 else { return nil }
            self.init(left: left, cursor: String(text[text.index(after: space)...]))
        }

        var text: String { "\(left) \(cursor)" }
    }

    /// The name of the stored position of the walk; it begins with the feed's, so that both are forgotten together.
    private var pastName: String { name + "/past" }

    /// Whether nothing of the feed was ever read.
    func isUnread() async throws -> Bool { try await cursors.value(of: name) == nil }

    /// Where the walk stopped before its end; nil if it did not.
    func past() async throws -> Past? { try await cursors.value(of: pastName).flatMap(Past.init) }

    /// Gives up the rest of a walk.
    func forgetPast() async throws { try await cursors.clear(prefix: pastName) }

    /// Walks from the newest item backwards, or on from where an earlier walk stopped, until `limit` items were handed
    /// over or the feed ends.
    ///
    /// Each page is remembered once it was handled, and from the first one on ``readNew(_:mayGoOn:)`` finds what
    /// arrives later. So a walk that is interrupted, or has to stop, goes on the next time.
    ///
    /// - Parameters:
    ///   - limit: The most items to hand over; of a walk that is gone on with, counted from its beginning.
    ///   - handle: Given the posts of one page.
    ///   - mayGoOn: Asked before each page.
    /// - Returns: How many items at most are left because `mayGoOn` said no; 0 once the walk is over.
    /// - Throws: ``NetworkError``, the store's error, or what a parameter throws.
    func readBack(
        limit: Int, _ handle: @Sendable ([ObservedPost]) async throws -> Void,
        mayGoOn: @Sendable () async throws -> Bool = { true }
    ) async throws -> Int {
        let isUnread = try await isUnread()
        let stopped = try await past()
        guard isUnread || stopped != nil else { return 0 }
        var left = isUnread ? limit : min(stopped?.left ?? 0, limit)
        let start = isUnread ? FeedPosition.newest : stopped.map { .older($0.cursor) } ?? .newest
        var walk = FeedWalk(of: network, feed, from: start, maximumPages: max(left, 1))
        while left > 0 {
            guard try await mayGoOn() else { return left }
            guard let page = try await walk.next() else { break }
            let items = Array(page.items.prefix(left))
            if !items.isEmpty { try await handle(items) }
            left -= items.count
            try await remember(left > 0 ? page.older.map { Past(left: left, cursor: $0) } : nil)
            if isUnread, let newer = walk.newer { try await cursors.set(newer, of: name, now: clock.now) }
        }
        try await forgetPast()
        return 0
    }

    func remember(_ past: Past?) async throws {
        guard let past else { return try await forgetPast() }
        try await cursors.set(past.text, of: pastName, now: clock.now)
    }
}
