import Foundation
import Posts
import TestSupport

/// A feed of posts with rising ids, paged as X does or as servers of its shape do.
final class XPagingServer: Sendable {
    enum Habit: String, CaseIterable, Sendable {
        /// As documented.
        case documented
        /// Seven items a page, whatever is asked for.
        case smallPages
        /// Every item stands in the page twice.
        case repeatsItems
        /// An empty page with `next_token` stands before every page but the first.
        case emptyPages
        /// `next_token` is there on the last page too, and leads to one empty page after the other.
        case tokenOnLastPage
        /// An empty page has `data: []` and no count.
        case emptyData
        /// `since_id` has no effect.
        case ignoresSinceID
        /// `until_id` has no effect.
        case ignoresUntilID
    }

    let habit: Habit
    /// What is added to the number of a post to make its id.
    let base: UInt64
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var count: Int
    private let author: String

    init(_ habit: Habit, count: Int, base: UInt64 = 1_000, author: String = "7") {
        self.habit = habit
        self.base = base
        self.count = count
        self.author = author
    }

    /// Adds posts at the newest end.
    func grow(by more: Int) {
        lock.withLock { count += more }
    }

    func id(_ number: Int) -> String { String(base + UInt64(number)) }

    func answer(_ request: LoopbackServer.Request) -> Answer {
        let query = request.query
        let size = habit == .smallPages ? 7 : Int(query["max_results"] ?? "") ?? 10
        let all = candidates(query)
        let token = query["pagination_token"] ?? "t0"
        let offset = Int(token.dropFirst()) ?? 0
        if token.hasPrefix("e") { return page([], next: "t\(offset)") }
        let ids = Array(all.dropFirst(offset).prefix(size))
        let end = offset + max(ids.count, 1)
        let hasMore = end < all.count || habit == .tokenOnLastPage
        let prefix = habit == .emptyPages ? "e" : "t"
        return page(ids, next: hasMore ? "\(prefix)\(end)" : nil)
    }

    /// The ids that are asked for, newest first.
    private func candidates(_ query: [String: String]) -> [UInt64] {
        let top = lock.withLock { count }
        let since = habit == .ignoresSinceID ? 0 : query["since_id"].flatMap { UInt64($0) } ?? 0
        let until =
            habit == .ignoresUntilID ? UInt64.max : query["until_id"].flatMap { UInt64($0) } ?? .max
        return (0..<top).reversed().map { base + UInt64($0) + 1 }.filter {
            $0 > since && $0 < until
        }
    }

    private func page(_ ids: [UInt64], next: String?) -> Answer {
        if ids.isEmpty, habit == .emptyData, next == nil { return .json(#"{"data":[]}"#) }
        var posts = ids.map { XWire.post(String($0), ["author_id": "\"\(author)\""]) }
        if habit == .repeatsItems { posts += posts }
        return .json(XWire.list(posts, users: [XWire.user(author, "ann")], next: next))
    }
}
