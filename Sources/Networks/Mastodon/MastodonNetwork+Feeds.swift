package import Foundation
import Posts
import Transport

/// Reading feeds.
extension MastodonNetwork {
    /// What is asked for; servers send less, and sometimes more.
    private static let pageSize = 40
    /// The most pages that ``ownPosts(since:)`` reads.
    private static let maximumOwnPages = 100
    /// The most pages that are read below one that does not reach down to the cursor.
    private static let maximumFillPages = 20
    /// How far the clocks of this machine and the server may be apart: seconds.
    private static let clockMargin: TimeInterval = 600

    package func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        let list = try await list(feed, position, min(max(size ?? Self.pageSize, 1), Self.pageSize))
        return list.page(with: try await translator(), position)
    }

    private func list(_ feed: Feed, _ position: FeedPosition, _ size: Int) async throws -> MastodonList {
        switch position {
        case .newest:
            return try await list(feed, [], size)
        case .older(let cursor):
            var list = try await list(feed, [("max_id", cursor)], size)
            list.removeItems(notOlderThan: cursor, pageSize: size)
            return list
        case .newer(let cursor):
            return try await newer(feed, than: cursor, size)
        }
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        let start = since.addingTimeInterval(-Self.clockMargin)
        var walk = FeedWalk(of: self, .ownPosts, from: .newest, maximumPages: Self.maximumOwnPages)
        var found: [ObservedPost] = []
        while let page = try await walk.next() {
            guard page.unreadable.isEmpty else { throw incomplete("a post of the account cannot be read") }
            found += page.items.filter { !$0.post.isTimeTrusted || $0.post.createdAt >= start }
            if let last = page.items.last(where: { $0.post.isTimeTrusted }), last.post.createdAt < start {
                return found
            }
        }
        guard walk.isComplete else { throw incomplete("the server's pages do not reach back far enough") }
        return found
    }

    private func incomplete(_ cause: String) -> NetworkError {
        client.error(
            MastodonCall(operation: .readOwnPosts, path: []), .malformedResponse, outcome: .refused, detail: cause)
    }

    /// The items above a cursor.
    ///
    /// By Mastodon's rules `min_id` gives the page directly above it. Some servers give the newest page instead, and
    /// some ignore the parameter. So where a page shows that there is more below it, what lies between it and the
    /// cursor is asked for too: nothing on servers that keep the rules, what would be missed on the others. What is
    /// too much for one call is left to the next one, which the new cursor leads there.
    private func newer(_ feed: Feed, than text: String, _ size: Int) async throws -> MastodonList {
        let place = MastodonArrivals(text)
        let since = place.gap?.since ?? place.newest
        let bounds = [place.gap.map { ("max_id", $0.until) }, ("min_id", since)].compactMap(\.self)
        var result = try await list(feed, bounds, size)
        if place.gap != nil {
            result.newerCursor = place.newest
        } else if result.newerCursor == since, feed == .favorites {
            return MastodonList(rateLimit: result.rateLimit)
        } else if result.entries.isEmpty, feed != .favorites, !MastodonID.keepsItsPlace(since) {
            // Perhaps the post that the cursor names is gone, and the server finds nothing above it ever again.
            result = try await list(feed, [], size)
        }
        if let rest = try await fill(&result, feed, since: since, size) {
            let newest = result.newerCursor ?? place.newest
            result.newerCursor = MastodonArrivals(newest: newest, gap: (since, rest)).text
        }
        return result
    }

    /// Adds what lies between a list and a cursor.
    ///
    /// - Returns: Below what the rest lies, if some of it was not read.
    private func fill(
        _ result: inout MastodonList, _ feed: Feed, since: String, _ size: Int
    ) async throws -> String? {
        var reachesCursor = result.removeItems(notNewerThan: since)
        var below = result.olderCursor
        var pages = 0
        while let bound = below, !reachesCursor, !result.entries.isEmpty {
            guard pages < Self.maximumFillPages else { return bound }
            pages += 1
            var more: MastodonList
            do {
                more = try await list(feed, [("max_id", bound), ("min_id", since)], size)
            } catch is NetworkError {
                // What was read is not read again; if there still is a problem then, the next call tells it.
                return bound
            }
            reachesCursor = more.removeItems(notNewerThan: since)
            guard result.append(more) else { return nil }
            below = more.olderCursor == bound ? nil : more.olderCursor
        }
        return nil
    }

    private func list(
        _ feed: Feed, _ bounds: [(name: String, value: String)], _ size: Int
    ) async throws -> MastodonList {
        var call = try await call(for: feed)
        call.query += [("limit", String(size))] + bounds
        call.takesBeginning = size == 1
        call.maximumBytes = maximumPage
        let response = try await session.send(call)
        let rateLimit = ServerPacing(response.headers, receivedAt: client.now()).rateLimit
        // The home timeline is being built anew; it is told from an empty one by the status.
        if response.status == 206 { return MastodonList(rateLimit: rateLimit) }
        let entries =
            response.isCut
            ? [try tooLarge(call, feed, response)]
            : feed == .mentions
                ? [MastodonList.Entry](
                    try client.decode([LenientElement<MastodonNotification>].self, from: response, call),
                    MastodonList.Entry.init, in: response.body)
                : [MastodonList.Entry](
                    try client.decode([LenientElement<MastodonStatus>].self, from: response, call),
                    MastodonList.Entry.init, in: response.body)
        var list = MastodonList(
            entries: entries, link: LinkHeader(response.headers.all("Link")), feed: feed, memory: memory,
            rateLimit: rateLimit)
        // Where the header does not say that there is more below, the server may have sent more than was asked for.
        if response.isCut, feed != .favorites { list.olderCursor = list.olderCursor ?? entries.first?.id }
        return list
    }

    /// The one item of a page that is too large to be read.
    ///
    /// - Throws: ``NetworkError`` with code `.tooLarge` if nothing tells where the feed goes on, or that it is one item.
    private func tooLarge(
        _ call: MastodonCall, _ feed: Feed, _ response: HTTPResponse
    ) throws(NetworkError) -> MastodonList.Entry {
        let link = LinkHeader(response.headers.all("Link"))
        let beginning = JSONBeginning(response.body)
        let id = beginning.values[["0", "id"]].flatMap { MastodonID.isUsable($0) ? $0 : nil }
        // Cursors of favorites are no ids of posts.
        let cursor = link?.newer ?? link?.older ?? (feed == .favorites ? nil : id)
        // Both cursors of a page with one item are that item's.
        let isOne = beginning.wholeElements == 0 && (link?.older ?? cursor) == cursor
        guard let cursor, isOne else {
            throw client.error(
                call, .tooLarge, outcome: .refused,
                detail: "one item is larger than an answer may be, or the server sends more than one")
        }
        let address = feed == .mentions ? beginning.values[["0", "status", "id"]] : id
        return MastodonList.Entry(
            id: feed == .favorites ? id : cursor,
            unreadable: UnreadableItem(
                address: address.flatMap { MastodonID.isUsable($0) ? $0 : nil },
                digest: JSONBody.digest("\(feed.rawValue) \(cursor)".utf8),
                cause: "it is larger than an answer may be"))
    }

    private func call(for feed: Feed) async throws -> MastodonCall {
        switch feed {
        case .ownPosts:
            let path = try path(.readOwnPosts, "accounts", try await ownAccount().id, "statuses")
            return MastodonCall(operation: .readOwnPosts, path: path)
        case .home:
            return MastodonCall(operation: .readHome, path: ["api", "v1", "timelines", "home"])
        case .favorites:
            return MastodonCall(operation: .readFavorites, path: ["api", "v1", "favourites"])
        case .mentions:
            return MastodonCall(
                operation: .readMentions, path: ["api", "v1", "notifications"],
                // A server may hold back the mentions of strangers, whom the bot answers as well as others.
                query: [("types[]", "mention"), ("include_filtered", "true")])
        }
    }
}

/// Where a reader of what arrives stands.
private struct MastodonArrivals {
    /// The newest that was seen.
    let newest: String
    /// What was not read yet lies between these cursors.
    let gap: (since: String, until: String)?

    init(newest: String, gap: (since: String, until: String)) {
        (self.newest, self.gap) = (newest, gap)
    }

    /// - Parameter text: From ``text``, or what a server calls a place.
    init(_ text: String) {
        // No cursor of a server holds a space.
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let hasGap = parts.count == 3 && parts.allSatisfy(MastodonID.isUsable)
        newest = hasGap ? parts[0] : text
        gap = hasGap ? (parts[1], parts[2]) : nil
    }

    var text: String { [newest, gap?.since, gap?.until].compactMap(\.self).joined(separator: " ") }
}
