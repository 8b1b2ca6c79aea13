import Foundation

/// A page of a list as on X: excluded posts are removed after the page was filled, so it may be
/// short.
struct XPage: Sendable {
    /// The posts, newest first.
    var posts: [SandboxPost] = []
    var next: String?
    var previous: String?

    /// The first letters of tokens: for a page below the cursor, above it, and for a pause.
    private static let olderKind = "n"
    private static let newerKind = "p"
    private static let pauseKind = "e"

    /// The position of a page, as in its token.
    private enum Start {
        case top
        /// The page is below the cursor.
        case older(Int64)
        /// The page is directly above the cursor.
        case newer(Int64)
        /// The page is empty, with a token that continues below the cursor.
        case pause(Int64)
    }

    private struct Bounds {
        var since: Int64?
        var until: Int64?
        var start: Date?
        var end: Date?

        init(_ call: XCall) throws(XRefusal) {
            since = try call.id("since_id")
            until = try call.id("until_id")
            // A bound by id has precedence over one by time.
            start = since == nil ? try call.time("start_time") : nil
            end = until == nil ? try call.time("end_time") : nil
            if let start, let end, start >= end {
                throw .invalid("end_time", "", "The `end_time` is not after the `start_time`")
            }
        }

        func isBelow(_ cursor: Int64, _ post: SandboxPost) -> Bool {
            if let since { return cursor <= since }
            guard let start else { return false }
            return post.createdAt < start
        }

        func isAbove(_ cursor: Int64, _ post: SandboxPost) -> Bool {
            if let until { return cursor >= until }
            guard let end else { return false }
            return post.createdAt >= end
        }
    }

    /// - Parameters:
    ///   - cursors: The ids of the list in ascending order.
    ///   - depth: The number of posts in the list.
    ///   - oldest: Posts from before this time are not in the list; nil for no limit.
    ///   - call: The request for the page.
    ///   - isLeftOut: Whether a post is removed from the page after it was cut.
    ///   - post: Returns the post of an id; nil if X does not show it.
    /// - Throws: 400 for invalid parameters.
    init(
        of cursors: [Int64], depth: Int, oldest: Date? = nil, for call: XCall,
        isLeftOut: (SandboxPost) -> Bool = { _ in false }, post: (Int64) -> SandboxPost?
    ) throws(XRefusal) {
        let bounds = try Bounds(call)
        let size = try call.pageSize()
        let start = try Self.start(of: call)
        if case .pause(let cursor) = start {
            next = Self.token(kind: Self.olderKind, at: cursor, for: call)
            return
        }
        let capacity = call.habits.shortPages ? max(1, size / 3) : size
        let items = Self.items(
            of: cursors, depth: depth, oldest: oldest, from: start, bounds: bounds,
            capacity: capacity,
            call: call, post: post)
        let pageItems: ArraySlice<(cursor: Int64, post: SandboxPost)>
        let isFromBelow: Bool
        if case .newer = start {
            pageItems = items.suffix(capacity)
            isFromBelow = true
            if items.count > capacity {
                previous = pageItems.first.map {
                    Self.token(kind: Self.newerKind, at: $0.cursor, for: call)
                }
            }
        } else {
            pageItems = items.prefix(capacity)
            isFromBelow = false
        }
        // A page that was reached from below has more items below it.
        if let last = pageItems.last, isFromBelow || items.count > capacity {
            let kind = call.habits.emptyPages ? Self.pauseKind : Self.olderKind
            next = Self.token(kind: kind, at: last.cursor, for: call)
        }
        if case .older = start, let first = pageItems.first {
            previous = Self.token(kind: Self.newerKind, at: first.cursor, for: call)
        }
        posts = pageItems.map(\.post).filter { !isLeftOut($0) }
    }

    /// Returns the posts between the bounds and on the wanted side of the start, newest first.
    ///
    /// At most one more than `capacity`; all of them if posts newer than the start are wanted.
    private static func items(
        of cursors: [Int64], depth: Int, oldest: Date?, from start: Start, bounds: Bounds,
        capacity: Int, call: XCall,
        post: (Int64) -> SandboxPost?
    ) -> [(cursor: Int64, post: SandboxPost)] {
        var items: [(Int64, SandboxPost)] = []
        var seenCount = 0
        for cursor in cursors.reversed() {
            if case .newer(let lowest) = start, cursor <= lowest { break }
            guard let post = post(cursor) else { continue }
            seenCount += 1
            if seenCount > depth { break }
            if let oldest, post.createdAt < oldest { break }
            if bounds.isBelow(cursor, post) { break }
            if bounds.isAbove(cursor, post) || isHidden(post, call) { continue }
            if case .older(let highest) = start, cursor >= highest { continue }
            items.append((cursor, post))
            if case .newer = start { continue }
            if items.count > capacity { break }
        }
        return items
    }

    /// Whether a post is hidden: every other recent post is not in the lists yet.
    private static func isHidden(_ post: SandboxPost, _ call: XCall) -> Bool {
        guard call.habits.hidesRecent > 0 else { return false }
        let age = call.now.timeIntervalSince(post.createdAt)
        return age < call.habits.hidesRecent && (post.id >> 16) & 1 == 0
    }
}

extension XPage {
    private static func start(of call: XCall) throws(XRefusal) -> Start {
        guard let text = call.parameters["pagination_token"] else { return .top }
        let parts = text.split(separator: "z", omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = text.first,
            let cursor = Int64(parts[0].dropFirst(), radix: 35),
            token(kind: String(kind), at: cursor, for: call) == text
        else {
            throw .invalid(
                "pagination_token", text,
                "The `pagination_token` query parameter value is not valid")
        }
        switch String(kind) {
        case olderKind: return .older(cursor)
        case newerKind: return .newer(cursor)
        default: return .pause(cursor)
        }
    }

    /// A token is valid for one list only.
    private static func token(kind: String, at cursor: Int64, for call: XCall) -> String {
        let list = SandboxIdentity.hash("\(kind) \(cursor) \(call.request.path)") % 1_000_000
        return kind + String(cursor, radix: 35) + "z" + String(list, radix: 35)
    }
}
