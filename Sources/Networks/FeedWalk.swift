import Posts

/// Goes through a feed page by page until its end.
///
/// From ``FeedPosition/newest`` or an older cursor it reads into the past; from a newer cursor it
/// reads toward the present, so that nothing is missed if more than one page arrived. Repeated
/// items are returned once. The walk also ends if a server answers every page with the same items.
/// If an answer is too large, smaller pages are requested, down to single items. A careful walk
/// does so for every page that the server cannot produce, and searches for the items that cause the
/// failure.
///
/// After an error the same page can be requested again with ``next()``.
package struct FeedWalk: Sendable {
    /// The page sizes to try if the answer with the usual size is too large.
    private static let smallerSizes = [10, 3, 1]
    /// The maximum number of empty pages in a row: some servers send one before a full page, but
    /// hardly two.
    private static let maximumEmptyPages = 2

    private let network: any SocialNetwork
    private let feed: Feed
    private var position: FeedPosition?
    private var pagesLeft: Int
    private var isCareful: Bool
    /// The number of items to request; nil for the usual one.
    private var size: Int?
    private var emptyPages = 0
    private var seenPositions: Set<FeedPosition>
    private var seenItems: Set<String> = []

    /// The cursor for reading later arrivals; `nil` to keep the former cursor.
    package private(set) var newer: String?
    /// Whether the walk ended at the end of the feed, and not at the page limit or at repeated
    /// pages.
    package private(set) var isComplete = false

    /// Whether the walk ended because of its limit of requests.
    package var isOutOfPages: Bool { pagesLeft <= 0 && position != nil }

    /// - Parameters:
    ///   - maximumPages: The maximum number of requests.
    ///   - isCareful: Whether to begin with single items, and to return to them after a failed
    ///     page: for a feed whose usual pages have failed for long.
    package init(
        of network: any SocialNetwork, _ feed: Feed, from start: FeedPosition,
        maximumPages: Int = 200,
        isCareful: Bool = false
    ) {
        self.network = network
        self.isCareful = isCareful
        size = isCareful ? Self.smallerSizes.last : nil
        self.feed = feed
        self.position = start
        self.pagesLeft = maximumPages
        self.seenPositions = [start]
    }

    /// The next page, without repeated items; nil after the last one.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    package mutating func next() async throws -> FeedPage? {
        guard let position, pagesLeft > 0 else { return nil }
        var page = try await page(at: position)
        pagesLeft -= 1
        // This page is a step of a search for unreadable items: more of them may follow, so that
        // small pages are requested from here on.
        isCareful = isCareful || page.isFromBelow
        let isEmpty = page.received == 0
        let hasItems = !page.items.isEmpty
        page.items.removeAll { !seenItems.insert($0.repetitionKey).inserted }
        emptyPages = isEmpty ? emptyPages + 1 : 0
        if case .newer = position {
            // A page may be empty because its items were hidden in the meantime, so an empty page
            // with a cursor is not the end.
            let next = page.newer.map(FeedPosition.newer)
            advance(
                to: next, isEnd: isEmpty && (next == nil || emptyPages >= Self.maximumEmptyPages))
            newer = page.newer ?? newer
        } else {
            newer = newer ?? (position == .newest ? page.newer : nil)
            let next = page.older.map(FeedPosition.older)
            advance(to: next, isEnd: next == nil || emptyPages >= Self.maximumEmptyPages)
        }
        // All items of the page are repeated, so the server repeats its pages. A search may have to
        // read some items again.
        if hasItems, page.items.isEmpty, !page.isFromBelow { self.position = nil }
        return page
    }

    /// Requests a page, with smaller sizes if it is too large.
    private mutating func page(at position: FeedPosition) async throws -> FeedPage {
        while true {
            do {
                let page = try await network.page(feed, position, size: size)
                // A single item may have made the page too large, so the next page may be larger
                // again: by one step, up to the usual size (nil).
                if let currentSize = size { size = Self.smallerSizes.last { $0 > currentSize } }
                return page
            } catch let error as NetworkError
                where error.code == .tooLarge || isCareful && mayBeSkipped(error, at: position)
            {
                let currentSize = size ?? .max
                if let smaller = Self.smallerSizes.first(where: { $0 < currentSize }) {
                    size = smaller
                } else if isCareful, let page = try await network.page(feed, passing: position) {
                    return page
                } else {
                    throw error
                }
            }
        }
    }

    /// Whether the walk may skip a page that fails with this error.
    ///
    /// Toward the present only a broken item is skipped: a refused position there is replaced by
    /// the newest page, from which the feed is read downward.
    private func mayBeSkipped(_ error: NetworkError, at position: FeedPosition) -> Bool {
        if case .older = position { error.mayBeOfOnePage } else { error.mayBeOfOneItem }
    }

    private mutating func advance(to next: FeedPosition?, isEnd: Bool) {
        position = nil
        guard !isEnd, let next else {
            isComplete = true
            return
        }
        if seenPositions.insert(next).inserted { position = next }
    }
}

/// The position of a reader of new items in a feed whose newest items come first.
///
/// Most networks have no request for the oldest new items. So after a page that does not reach down
/// to the known items, the cursor names the gap between the page and the known items, and the next
/// page is read from this gap. So nothing is lost when the reader stops in between, and nothing is
/// paid for twice.
package struct Arrivals: Equatable, Sendable {
    /// A stretch of items that are still unread, given by the positions of its two ends.
    package struct Gap: Equatable, Sendable {
        package var since: String
        package var until: String

        package init(since: String, until: String) {
            self.since = since
            self.until = until
        }
    }

    /// The position of the newest item that was read.
    package var newest: String
    package var gap: Gap?

    package init(newest: String, gap: Gap? = nil) {
        self.newest = newest
        self.gap = gap
    }

    /// Parses a text from ``text(separator:)``; nil for any other text.
    package init?(_ text: String, separator: Character, where isUsable: (String) -> Bool) {
        let positions = text.split(separator: separator, omittingEmptySubsequences: false).map(
            String.init)
        guard positions.allSatisfy(isUsable) else { return nil }
        switch positions.count {
        case 1: self.init(newest: positions[0])
        case 3: self.init(newest: positions[0], gap: Gap(since: positions[1], until: positions[2]))
        default: return nil
        }
    }

    /// The cursor as a text; the separator must not occur in the positions.
    package func text(separator: String) -> String {
        [newest, gap?.since, gap?.until].compactMap(\.self).joined(separator: separator)
    }
}

extension [ObservedPost] {
    /// The posts without repetitions in the list.
    package var distinct: [ObservedPost] {
        var includedKeys: Set<String> = []
        return filter { includedKeys.insert($0.repetitionKey).inserted }
    }
}
