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
    /// And so many items, however few there are in a page.
    private static let maximumKnownItems = 20
    /// The most pages that ``ownPosts(since:)`` reads.
    private static let maximumOwnPages = 100
    /// How far clocks may be apart, in seconds.
    private static let clockMargin: TimeInterval = 600

    package func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        guard capabilities.feeds.contains(feed) else {
            throw failure(
                Self.operation(feed), .capability, "this needs the account's app password", outcome: .notSent)
        }
        let size = min(max(size ?? Self.pageSize, 1), Self.pageSize)
        switch position {
        case .newest:
            let slice = try await fullSlice(feed, nil, size)
            var page = try await page(of: slice, feed)
            page.older = slice.place
            page.newer = try cursor(feed, slice.entries.map(\.mark), isWhole: slice.place == nil).text()
            return page
        case .older(let place):
            guard (1...BlueskyCursor.maximumPlace).contains(place.utf8.count) else {
                throw failure(Self.operation(feed), .rejected, "the place in the feed cannot be one", outcome: .notSent)
            }
            let slice = try await fullSlice(feed, place, size)
            var page = try await page(of: slice, feed)
            page.older = slice.place == place ? nil : slice.place
            return page
        case .newer(let text):
            guard let cursor = BlueskyCursor(text) else {
                throw failure(
                    Self.operation(feed), .rejected, "the stored position is not one of Bluesky", outcome: .notSent)
            }
            return try await newer(feed, than: cursor, size)
        }
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        let start = since.addingTimeInterval(-Self.clockMargin)
        var found: [ObservedPost] = []
        var seen: Set<BlueskyMark> = []
        var names: Set<PostID> = []
        var place: String?
        for _ in 0..<Self.maximumOwnPages {
            let slice = try await slice(.ownPosts, place, Self.pageSize)
            let page = try await page(of: slice, .ownPosts)
            guard page.unreadable.isEmpty else { throw incomplete("a post of the account cannot be read") }
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
    private func newer(_ feed: Feed, than cursor: BlueskyCursor, _ size: Int) async throws -> FeedPage {
        var look = BlueskyLook(from: cursor)
        for _ in 0..<Self.maximumPages where !look.isDone {
            do {
                look.take(try await slice(feed, look.place, size))
            } catch let error as NetworkError {
                // What was read is not read again; if there still is a problem then, the next call tells it.
                guard !look.marks.isEmpty else { throw error }
                break
            }
            let hasOnlyKnown =
                look.knownPages >= Self.maximumKnownPages && look.knownItems >= Self.maximumKnownItems
            look.isDone = look.isDone || hasOnlyKnown
        }
        // The newest items of all were seen by the call that began the look.
        var next = cursor.rest == nil ? self.cursor(feed, look.marks, isWhole: look.isWhole) : cursor
        next.rest = look.isDone ? nil : look.place.map { BlueskyCursor.Rest(place: $0, window: look.window) }
        var page = try await page(of: look.found, feed)
        // A look that goes on must not be taken for the end, even if it came upon nothing.
        if next.rest != nil { page.received = max(page.received, 1) }
        page.newer = next == cursor ? nil : try next.text()
        return page
    }

    private func cursor(_ feed: Feed, _ marks: [BlueskyMark], isWhole: Bool) -> BlueskyCursor {
        let isOfRecords = feed == .ownPosts || feed == .favorites
        return BlueskyCursor(marks: marks, isWhole: isWhole, at: isOfRecords ? nil : client.now())
    }

    /// The next page that holds something.
    private func fullSlice(_ feed: Feed, _ start: String?, _ size: Int) async throws -> BlueskySlice {
        var slice = try await slice(feed, start, size)
        var place = start
        for _ in 0..<Self.maximumEmptyPages {
            guard slice.entries.isEmpty, let next = slice.place, next != place else { break }
            place = next
            slice = try await self.slice(feed, next, size)
        }
        return slice
    }

    private func slice(_ feed: Feed, _ place: String?, _ size: Int) async throws -> BlueskySlice {
        let home = try await home()
        let call = call(for: feed, home, place, size)
        let (answer, host) = try await answer(to: call)
        let response = try answer.response()
        let rateLimit = client.pacing(of: response).rateLimit
        if response.isCut {
            let slice = BlueskySlice(beginning: response.body, rateLimit: rateLimit)
            guard let slice else {
                throw client.error(
                    call, .tooLarge, host: host, outcome: .refused,
                    detail: "one item is larger than an answer may be")
            }
            return slice
        }
        let now = client.now()
        func list<Element: Decodable & Sendable>(
            of type: Element.Type, _ entry: (Element) -> BlueskySlice.Entry?
        ) throws(NetworkError) -> BlueskySlice {
            let list = try client.decode(BlueskyList<Element>.self, from: response, call, host: host)
            return BlueskySlice(list, in: response.body, rateLimit: rateLimit, entry)
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

    private func call(for feed: Feed, _ home: BlueskyHome, _ place: String?, _ size: Int) -> BlueskyCall {
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
        query.append((name: "limit", value: String(size)))
        if let place { query.append((name: "cursor", value: place)) }
        var call = BlueskyCall(Self.operation(feed), name, query)
        call.takesBeginning = size == 1
        return call
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

/// A look at what has arrived in a feed, page by page from the newest item down.
private struct BlueskyLook {
    /// What was known when the look began.
    let window: BlueskyCursor.Window
    /// Where it goes on; nil for the newest items.
    private(set) var place: String?
    private(set) var marks: [BlueskyMark] = []
    private(set) var found = BlueskySlice(entries: [])
    /// Pages and items since something new was seen.
    private(set) var knownPages = 0
    private(set) var knownItems = 0
    /// The feed came to its end.
    private(set) var isWhole = false
    var isDone = false
    private var names: Set<String> = []

    init(from cursor: BlueskyCursor) {
        window = cursor.rest?.window ?? cursor.window
        place = cursor.rest?.place
    }

    mutating func take(_ slice: BlueskySlice) {
        found.rateLimit = slice.rateLimit ?? found.rateLimit
        marks += slice.entries.map(\.mark)
        let fresh = slice.entries.filter { window.isNew($0.mark) && names.insert($0.mark.name).inserted }
        found.entries += fresh
        let isKnown = fresh.isEmpty && !slice.entries.isEmpty
        knownPages = isKnown ? knownPages + 1 : 0
        knownItems = isKnown ? knownItems + slice.entries.count : 0
        isWhole = slice.place == nil || slice.place == place
        isDone = isWhole || reachesFloor
        place = slice.place
    }

    /// Whether the last items lie below what was known; one item out of its place does not tell.
    private var reachesFloor: Bool {
        let last = marks.filter { !$0.order.isEmpty }.suffix(3)
        return last.count == 3 && last.allSatisfy { $0.order < window.floor }
    }
}
