package import Foundation
import Posts
import Transport

/// Reading feeds.
extension BlueskyNetwork {
    /// What is asked for; servers send less.
    private static let pageSize = 100
    /// The most pages that one call reads; what is left of a long absence comes with the next call.
    private static let maximumPages = 20
    /// The most pages without an item that are passed over, and without a new one where some must have come.
    private static let maximumEmptyPages = 5
    private static let maximumKnownPages = 2
    /// The most pages that ``ownPosts(since:)`` reads.
    private static let maximumOwnPages = 100
    /// How far clocks may be apart, in seconds.
    private static let clockMargin: TimeInterval = 600

    package func page(_ feed: Feed, _ position: FeedPosition) async throws -> FeedPage {
        guard capabilities.feeds.contains(feed) else {
            throw failure(
                Self.operation(feed), .capability, "this needs the account's app password", outcome: .notSent)
        }
        switch position {
        case .newest:
            let slice = try await fullSlice(feed, nil)
            var page = try await page(of: slice, feed)
            page.older = slice.place
            page.newer = try cursor(feed, slice.entries.map(\.mark), isWhole: slice.place == nil).text()
            return page
        case .older(let place):
            guard (1...BlueskyCursor.maximumPlace).contains(place.utf8.count) else {
                throw failure(Self.operation(feed), .rejected, "the place in the feed cannot be one", outcome: .notSent)
            }
            let slice = try await fullSlice(feed, place)
            var page = try await page(of: slice, feed)
            page.older = slice.place == place ? nil : slice.place
            return page
        case .newer(let text):
            // A cursor from before a change of its form: go on from now.
            guard let cursor = BlueskyCursor(text) else { return try await self.page(feed, .newest) }
            return try await newer(feed, than: cursor)
        }
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        let start = since.addingTimeInterval(-Self.clockMargin)
        var found: [ObservedPost] = []
        var seen: Set<BlueskyMark> = []
        var names: Set<PostID> = []
        var place: String?
        for _ in 0..<Self.maximumOwnPages {
            let slice = try await slice(.ownPosts, place)
            let page = try await page(of: slice, .ownPosts)
            guard page.skipped == 0 else { throw incomplete("a post of the account cannot be read") }
            let fresh = slice.entries.filter { seen.insert($0.mark).inserted }
            found += page.items.filter { names.insert($0.post.id).inserted && isPossiblySince(start, $0) }
            if fresh.isEmpty, !slice.entries.isEmpty { break }
            guard let next = slice.place, next != place else { return found }
            // What this program writes has a key of its own time: nothing of it lies deeper than this.
            if let last = fresh.last.flatMap({ TimestampID($0.mark.order) }), last.date < start { return found }
            place = next
        }
        throw incomplete("the server's pages do not reach back far enough")
    }

    /// Whether a post is from after `start` by its own word or by that of its key.
    private func isPossiblySince(_ start: Date, _ item: ObservedPost) -> Bool {
        let key = RecordReference(item.address).flatMap { TimestampID($0.address.key) }
        return !item.post.isTimeTrusted || item.post.createdAt >= start || key.map { $0.date >= start } ?? true
    }

    private func incomplete(_ cause: String) -> NetworkError { failure(.readOwnPosts, .malformedResponse, cause) }

    /// The items that have arrived since a cursor was made, from as many pages as that takes.
    private func newer(_ feed: Feed, than cursor: BlueskyCursor) async throws -> FeedPage {
        let window = cursor.rest?.window ?? cursor.window
        var place = cursor.rest?.place
        var marks: [BlueskyMark] = []
        var found = BlueskySlice(entries: [])
        var names: Set<String> = []
        var knownPages = 0
        var isDone = false
        var isWhole = false
        for _ in 0..<Self.maximumPages where !isDone {
            let slice = try await slice(feed, place)
            found.rateLimit = slice.rateLimit ?? found.rateLimit
            marks += slice.entries.map(\.mark)
            let fresh = slice.entries.filter { window.isNew($0.mark) && names.insert($0.mark.name).inserted }
            found.entries += fresh
            knownPages = fresh.isEmpty && !slice.entries.isEmpty ? knownPages + 1 : 0
            isWhole = slice.place == nil || slice.place == place
            isDone = isWhole || knownPages >= Self.maximumKnownPages || reaches(below: window.floor, slice)
            place = slice.place
        }
        // The newest items of all were seen by the call that began the look.
        var next = cursor.rest == nil ? self.cursor(feed, marks, isWhole: isWhole) : cursor
        next.rest = isDone ? nil : place.map { BlueskyCursor.Rest(place: $0, window: window) }
        var page = try await page(of: found, feed)
        // A look that goes on must not be taken for the end, even if it came upon nothing.
        if next.rest != nil { page.received = max(page.received, 1) }
        page.newer = next == cursor ? nil : try next.text()
        return page
    }

    /// Whether a page ends below an order; one item out of its place does not tell.
    private func reaches(below floor: String, _ slice: BlueskySlice) -> Bool {
        !slice.entries.isEmpty && slice.entries.suffix(3).allSatisfy { $0.mark.order < floor }
    }

    private func cursor(_ feed: Feed, _ marks: [BlueskyMark], isWhole: Bool) -> BlueskyCursor {
        let isOfRecords = feed == .ownPosts || feed == .favorites
        return BlueskyCursor(marks: marks, isWhole: isWhole, at: isOfRecords ? nil : client.now())
    }

    /// The next page that holds something.
    private func fullSlice(_ feed: Feed, _ start: String?) async throws -> BlueskySlice {
        var slice = try await slice(feed, start)
        var place = start
        for _ in 0..<Self.maximumEmptyPages {
            guard slice.entries.isEmpty, let next = slice.place, next != place else { break }
            place = next
            slice = try await self.slice(feed, next)
        }
        return slice
    }

    private func slice(_ feed: Feed, _ place: String?) async throws -> BlueskySlice {
        let home = try await home()
        let call = call(for: feed, home, place)
        let (answer, host) = try await answer(to: call)
        let response = try answer.response()
        let now = client.now()
        func list<Element: Decodable & Sendable>(
            of type: Element.Type, _ entry: (Element) -> BlueskySlice.Entry?
        ) throws(NetworkError) -> BlueskySlice {
            let list = try client.decode(BlueskyList<Element>.self, from: response, call, host: host)
            let entries = list.elements.map { $0.flatMap(entry) }
            return BlueskySlice(
                entries: entries.compactMap(\.self), nameless: entries.count { $0 == nil }, place: list.cursor,
                rateLimit: client.pacing(of: response).rateLimit)
        }
        switch feed {
        case .ownPosts:
            return try list(of: BlueskyListedRecord<BlueskyPostRecord>.self) { .init($0, of: home.did) }
        case .favorites:
            return try list(of: BlueskyListedRecord<BlueskyLikeRecord>.self) { .init($0, of: home.did) }
        case .home: return try list(of: BlueskyFeedItem.self) { .init($0, seenAt: now) }
        case .mentions: return try list(of: BlueskyNotification.self) { .init($0, to: home.did, seenAt: now) }
        }
    }

    private func call(for feed: Feed, _ home: BlueskyHome, _ place: String?) -> BlueskyCall {
        var query: [(name: String, value: String)] = []
        var name = "com.atproto.repo.listRecords"
        switch feed {
        case .ownPosts: query = [("repo", home.did), ("collection", RecordAddress.postCollection)]
        case .favorites: query = [("repo", home.did), ("collection", RecordAddress.likeCollection)]
        case .home: name = "app.bsky.feed.getTimeline"
        case .mentions:
            name = "app.bsky.notification.listNotifications"
            query = [("reasons", "mention"), ("reasons", "reply")]
        }
        query.append((name: "limit", value: String(Self.pageSize)))
        if let place { query.append((name: "cursor", value: place)) }
        return BlueskyCall(Self.operation(feed), name, query)
    }

    static func operation(_ feed: Feed) -> NetworkError.Operation {
        switch feed {
        case .ownPosts: .readOwnPosts
        case .home: .readHome
        case .favorites: .readFavorites
        case .mentions: .readMentions
        }
    }
}
