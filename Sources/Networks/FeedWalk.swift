import Posts

/// Goes through a feed page by page until its end.
///
/// From ``FeedPosition/newest`` or an older cursor it goes into the past; from a newer cursor it
/// goes toward the present, so that nothing is missed where more than one page arrived. Items that
/// a server repeats come once. A server that answers every page with the same items cannot keep it
/// going. Where a page is too large an answer, smaller ones are asked for, down to single items; a
/// careful walk does so for every page that breaks the server or its answer, and searches for the
/// items that do.
///
/// After an error the same page may be asked for again with ``next()``.
package struct FeedWalk: Sendable {
    /// The sizes of pages that are asked for where the usual one is too large an answer.
    private static let smallerSizes = [10, 3, 1]
    /// Servers may send an empty page before a full one, but hardly two.
    private static let maximumEmptyPages = 2

    private let network: any SocialNetwork
    private let feed: Feed
    private var position: FeedPosition?
    private var pagesLeft: Int
    private var isCareful: Bool
    /// How many items to ask for; nil: as usual.
    private var size: Int?
    private var emptyPages = 0
    private var seenPositions: Set<FeedPosition>
    private var seenItems: Set<String> = []

    /// The cursor for reading later arrivals; `nil`: keep the cursor that you have.
    package private(set) var newer: String?
    /// Whether the walk came to the end of the feed, and not to its page limit or to pages that
    /// repeat.
    package private(set) var isComplete = false

    /// Whether the walk ended because it made as many requests as it may.
    package var isOutOfPages: Bool { pagesLeft <= 0 && position != nil }

    /// - Parameters:
    ///   - maximumPages: The most requests that are made.
    ///   - isCareful: Whether to begin with single items, and to go back to them where a page
    ///     cannot be had: for a feed that cannot be read in pages of the usual size for long.
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

    /// The next page, without items that came before; nil after the last one.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    package mutating func next() async throws -> FeedPage? {
        guard let position, pagesLeft > 0 else { return nil }
        var page = try await page(at: position)
        pagesLeft -= 1
        // Behind a broken item there may be others.
        isCareful = isCareful || page.isFromBelow
        let isEmpty = page.received == 0
        let hasItems = !page.items.isEmpty
        page.items.removeAll { !seenItems.insert($0.repetitionKey).inserted }
        emptyPages = isEmpty ? emptyPages + 1 : 0
        if case .newer = position {
            // A part of what arrived may be hidden by now, and the rest is still to be read.
            let next = page.newer.map(FeedPosition.newer)
            advance(
                to: next, isEnd: isEmpty && (next == nil || emptyPages >= Self.maximumEmptyPages))
            newer = page.newer ?? newer
        } else {
            newer = newer ?? (position == .newest ? page.newer : nil)
            let next = page.older.map(FeedPosition.older)
            advance(to: next, isEnd: next == nil || emptyPages >= Self.maximumEmptyPages)
        }
        // Nothing but repetitions: the server goes round in circles. A search may have to read some
        // items again.
        if hasItems, page.items.isEmpty, !page.isFromBelow { self.position = nil }
        return page
    }

    /// A page that is small enough to be read.
    private mutating func page(at position: FeedPosition) async throws -> FeedPage {
        while true {
            do {
                let page = try await network.page(feed, position, size: size)
                // Perhaps it was one item alone that made the page too large.
                size = size.flatMap { size in Self.smallerSizes.last { $0 > size } }
                return page
            } catch let error as NetworkError
                where error.code == .tooLarge || isCareful && mayBePassed(error, at: position)
            {
                if let smaller = Self.smallerSizes.first(where: { $0 < size ?? .max }) {
                    size = smaller
                } else if isCareful, let page = try await network.page(feed, passing: position) {
                    return page
                } else {
                    throw error
                }
            }
        }
    }

    /// Whether the walk may go on around a page that fails with this error.
    ///
    /// Toward the present only a broken item is passed: a refused place there is replaced by the
    /// newest page, from which the feed is read downward.
    private func mayBePassed(_ error: NetworkError, at position: FeedPosition) -> Bool {
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

/// Where a reader of what arrives stands in a feed whose newest items come first.
///
/// Most networks have no way to ask for the oldest new items. So after a page that does not reach
/// down to what is known, the cursor names the gap between them, and the next page continues there:
/// nothing is lost when the reader stops in between, and nothing is bought twice.
struct Arrivals: Equatable {
    /// The places between which items are still unread.
    struct Gap: Equatable {
        var since: String
        var until: String
    }

    /// The newest that was seen.
    var newest: String
    var gap: Gap?

    init(newest: String, gap: Gap? = nil) {
        self.newest = newest
        self.gap = gap
    }

    /// Nil for a text that is not from ``text(separator:)``.
    init?(_ text: String, separator: Character, where isUsable: (String) -> Bool) {
        let places = text.split(separator: separator, omittingEmptySubsequences: false).map(
            String.init)
        guard places.allSatisfy(isUsable) else { return nil }
        switch places.count {
        case 1: self.init(newest: places[0])
        case 3: self.init(newest: places[0], gap: Gap(since: places[1], until: places[2]))
        default: return nil
        }
    }

    /// The cursor; the separator stands in no name of a place.
    func text(separator: String) -> String {
        [newest, gap?.since, gap?.until].compactMap(\.self).joined(separator: separator)
    }
}

extension [ObservedPost] {
    /// The posts without those that came before in the list.
    package var distinct: [ObservedPost] {
        var seen: Set<String> = []
        return filter { seen.insert($0.repetitionKey).inserted }
    }
}
