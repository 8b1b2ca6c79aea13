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
        /// Items newer than `min_id` come with the oldest first, and without a header.
        case ascending
        /// Ids are hashes, which sort like nothing; no header.
        case hashes
        /// Ids are letters of both cases and digits, which computers sort in different ways.
        case flakes
        /// Ids are ULIDs.
        case ulids
    }

    let habit: Habit
    /// How far apart the ids of posts are that follow each other, where they are numbers.
    let spacing: Int
    /// The numbers of posts that make every page fail which has them.
    let broken: Set<Int>
    /// The numbers of posts at which a page may not begin, and the status of the refusal.
    let refused: (places: Set<Int>, status: Int)
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var count: Int

    private let createdAt: @Sendable (Int) -> Date

    init(
        _ habit: Habit, count: Int, spacing: Int = 1, broken: Set<Int> = [],
        refusing refused: (places: Set<Int>, status: Int) = ([], 400),
        createdAt: @escaping @Sendable (Int) -> Date = { _ in
            Date(timeIntervalSince1970: 1_795_204_800)
        }
    ) {
        self.habit = habit
        self.spacing = spacing
        self.broken = broken
        self.refused = refused
        self.createdAt = createdAt
        self.count = count
    }

    /// Adds posts at the newest end.
    func grow(by more: Int) {
        lock.withLock { count += more }
    }

    /// What the server calls its post with this number.
    func address(_ number: Int) -> String {
        switch habit {
        case .hashes:
            Self.digits(of: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, radix: 16, length: 32)
        case .flakes: "AbZz" + Self.digits(of: UInt64(number * spacing), radix: 36, length: 14)
        // Their digits have the order of the common ones, and are some of Crockford's.
        case .ulids:
            "01KAE3V"
                + Self.digits(of: UInt64(number * spacing), radix: 16, length: 19).uppercased()
        default: String(number * spacing)
        }
    }

    func addresses(_ numbers: some Sequence<Int>) -> [String] { numbers.map(address) }

    private static func digits(of number: UInt64, radix: Int, length: Int) -> String {
        let text = String(number, radix: radix)
        return String(repeating: "0", count: max(0, length - text.count)) + text
    }

    /// The number of the newest post that is not newer than a cursor.
    private func number(_ cursor: String) -> Int? {
        switch habit {
        case .hashes: return (1...2_000).first { address($0) == cursor }
        case .flakes, .ulids:
            let above = numberAbove(cursor) ?? 0
            return address(above) == cursor ? above : above - 1
        default: return Int(cursor.prefix { $0 != "e" }).map { $0 / spacing }
        }
    }

    /// The number of the oldest post that is not older than a cursor.
    private func numberAbove(_ cursor: String) -> Int? {
        switch habit {
        case .hashes: return number(cursor)
        case .flakes, .ulids:
            // Their texts have the order of the numbers.
            var range = 1..<2_000
            while !range.isEmpty {
                let middle = (range.lowerBound + range.upperBound) / 2
                range =
                    address(middle) < cursor
                    ? middle + 1..<range.upperBound : range.lowerBound..<middle
            }
            return range.lowerBound
        default: return Int(cursor.prefix { $0 != "e" }).map { ($0 + spacing - 1) / spacing }
        }
    }

    func answer(_ request: LoopbackServer.Request) -> Answer {
        let query = request.query
        let ids = page(
            maximum: query["max_id"], minimum: query["min_id"],
            limit: Int(query["limit"] ?? "") ?? 20)
        if query["min_id"] == nil, let place = query["max_id"],
            refused.places.contains(where: { address($0) == place })
        {
            return Answer(status: refused.status, body: #"{"error":"This page is not for you"}"#)
        }
        guard broken.isDisjoint(with: ids) else {
            return Answer(status: 502, body: "<html>Bad Gateway</html>")
        }
        var posts = ids.map {
            Wire.status(address($0), ["created_at": "\"\(createdAt($0).rfc3339)\""])
        }
        if habit == .ascending, query["min_id"] != nil { posts.reverse() }
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
            bound = (numberAbove(maximum) ?? 1) - 1
        }
        let floor = habit == .ignoresMinID ? 0 : minimum.flatMap(number) ?? 0
        guard bound > floor else { return [] }
        let all = Array((floor + 1)...bound)
        let isAscending = minimum != nil && habit != .minIDAsSinceID && habit != .ignoresMinID
        return Array((isAscending ? all.prefix(size) : all.suffix(size)).reversed())
    }

    private func link(_ ids: [Int], _ query: [String: String]) -> [(String, String)] {
        guard ![.withoutLink, .ascending, .hashes].contains(habit) else { return [] }
        let base =
            habit == .foreignLinks ? "https://evil.example/steal" : "https://home.example/api/v1/x"
        if habit == .emptyPages, ids.isEmpty, let maximum = query["max_id"], !maximum.hasSuffix("e")
        {
            return [("Link", "<\(base)?max_id=\(maximum)e>; rel=\"next\"")]
        }
        guard let newest = ids.first, let oldest = ids.last else { return [] }
        let hasNext =
            oldest > 1 && (habit != .documented || query["min_id"] == nil || ids.count == 40)
        var links = ["<\(base)?min_id=\(address(newest))>; rel=\"prev\""]
        if hasNext || habit == .nextOnLastPage {
            links.append("<\(base)?max_id=\(address(oldest))>; rel=\"next\"")
        }
        return [("Link", links.joined(separator: ", "))]
    }
}

/// Numbers as texts, the greatest first, as pages of posts have them.
///
/// A function with types, since the compiler takes a second for the same within an expectation.
func descending(_ numbers: some BidirectionalCollection<Int>) -> [String] {
    numbers.reversed().map { String($0) }
}
