import Foundation
import Posts
import TestSupport

/// A server's feed of posts with the ids `1...count`, paged by one of the ways that servers have.
final class PagingServer: Sendable {
    enum Habit: String, CaseIterable, Sendable {
        /// As documented: `min_id` gives the page directly above, `next` is missing at the end.
        case documented
        /// `next` stays on the last page; only an empty page has no header.
        case nextOnLastPage
        /// No header at all.
        case withoutLink
        /// `min_id` gives the newest page, as `since_id` does.
        case minIDAsSinceID
        /// `min_id` has no effect.
        case ignoresMinID
        /// Every item stands in the page twice.
        case repeatsItems
        /// Four items a page, whatever is asked for.
        case smallPages
        /// The header names another host.
        case foreignLinks
        /// An empty page with `next` stands between the pages.
        case emptyPages
    }

    let habit: Habit
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var count: Int

    private let createdAt: @Sendable (Int) -> Date

    init(
        _ habit: Habit, count: Int,
        createdAt: @escaping @Sendable (Int) -> Date = { _ in Date(timeIntervalSince1970: 1_795_204_800) }
    ) {
        self.habit = habit
        self.createdAt = createdAt
        self.count = count
    }

    /// Adds posts at the newest end.
    func grow(by more: Int) {
        lock.withLock { count += more }
    }

    func answer(_ request: LoopbackServer.Request) -> Answer {
        let query = request.query
        let ids = page(maximum: query["max_id"], minimum: query["min_id"], limit: Int(query["limit"] ?? "") ?? 20)
        var posts = ids.map { Wire.status(String($0), ["created_at": "\"\(createdAt($0).rfc3339)\""]) }
        if habit == .repeatsItems { posts += posts }
        return .json(Wire.list(posts), headers: link(ids, query))
    }

    private func page(maximum: String?, minimum: String?, limit: Int) -> [Int] {
        let size = habit == .smallPages ? 4 : limit
        let top = lock.withLock { count }
        var bound = top
        if let maximum {
            // In this habit the cursors of empty pages end in "e".
            if habit == .emptyPages, !maximum.hasSuffix("e"), minimum == nil { return [] }
            bound = (Int(maximum.prefix { $0 != "e" }) ?? 1) - 1
        }
        let floor = habit == .ignoresMinID ? 0 : minimum.flatMap { Int($0) } ?? 0
        guard bound > floor else { return [] }
        let all = Array((floor + 1)...bound)
        let isAscending = minimum != nil && habit != .minIDAsSinceID && habit != .ignoresMinID
        return Array((isAscending ? all.prefix(size) : all.suffix(size)).reversed())
    }

    private func link(_ ids: [Int], _ query: [String: String]) -> [(String, String)] {
        guard habit != .withoutLink else { return [] }
        let base = habit == .foreignLinks ? "https://evil.example/steal" : "https://home.example/api/v1/x"
        if habit == .emptyPages, ids.isEmpty, let maximum = query["max_id"], !maximum.hasSuffix("e") {
            return [("Link", "<\(base)?max_id=\(maximum)e>; rel=\"next\"")]
        }
        guard let newest = ids.first, let oldest = ids.last else { return [] }
        let hasNext = oldest > 1 && (habit != .documented || query["min_id"] == nil || ids.count == 40)
        var links = ["<\(base)?min_id=\(newest)>; rel=\"prev\""]
        if hasNext || habit == .nextOnLastPage { links.append("<\(base)?max_id=\(oldest)>; rel=\"next\"") }
        return [("Link", links.joined(separator: ", "))]
    }
}
