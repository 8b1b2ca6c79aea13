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

    package func page(_ feed: Feed, _ position: FeedPosition) async throws -> FeedPage {
        let translator = try await translator()
        switch position {
        case .newest:
            return try await list(feed, []).page(with: translator, position)
        case .older(let cursor):
            var list = try await list(feed, [("max_id", cursor)])
            list.removeItems(notOlderThan: cursor, pageSize: Self.pageSize)
            return list.page(with: translator, position)
        case .newer(let cursor):
            return try await newer(feed, than: cursor).page(with: translator, position)
        }
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        let start = since.addingTimeInterval(-Self.clockMargin)
        var walk = FeedWalk(of: self, .ownPosts, from: .newest, maximumPages: Self.maximumOwnPages)
        var found: [ObservedPost] = []
        while let page = try await walk.next() {
            guard page.skipped == 0 else { throw incomplete("a post of the account cannot be read") }
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
    /// cursor is asked for too: nothing on servers that keep the rules, what would be missed on the others.
    private func newer(_ feed: Feed, than cursor: String) async throws -> MastodonList {
        var result = try await list(feed, [("min_id", cursor)])
        if result.newerCursor == cursor, feed == .favorites { return MastodonList(rateLimit: result.rateLimit) }
        if result.entries.isEmpty, feed != .favorites, !MastodonID.keepsItsPlace(cursor) {
            // Perhaps the post that the cursor names is gone, and the server finds nothing above it ever again.
            result = try await list(feed, [])
        }
        var reachesCursor = result.removeItems(notNewerThan: cursor)
        var below = result.olderCursor
        for _ in 0..<Self.maximumFillPages {
            guard let bound = below, !reachesCursor, !result.entries.isEmpty else { break }
            var more = try await list(feed, [("max_id", bound), ("min_id", cursor)])
            reachesCursor = more.removeItems(notNewerThan: cursor)
            guard result.append(more) else { break }
            below = more.olderCursor == bound ? nil : more.olderCursor
        }
        return result
    }

    private func list(_ feed: Feed, _ bounds: [(name: String, value: String)]) async throws -> MastodonList {
        var call = try await call(for: feed)
        call.query += [("limit", String(Self.pageSize))] + bounds
        let response = try await session.send(call)
        let rateLimit = ServerPacing(response.headers, receivedAt: client.now()).rateLimit
        // The home timeline is being built anew; it is told from an empty one by the status.
        if response.status == 206 { return MastodonList(rateLimit: rateLimit) }
        let entries =
            feed == .mentions
            ? try client.decode([LenientElement<MastodonNotification>].self, from: response, call)
                .map(MastodonList.Entry.init)
            : try client.decode([LenientElement<MastodonStatus>].self, from: response, call)
                .map(MastodonList.Entry.init)
        return MastodonList(
            entries: entries, link: LinkHeader(response.headers.all("Link")), feed: feed, memory: memory,
            rateLimit: rateLimit)
    }

    private func call(for feed: Feed) async throws -> MastodonCall {
        switch feed {
        case .ownPosts:
            let path = try path(.readOwnPosts, "accounts", try await accountID(), "statuses")
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
