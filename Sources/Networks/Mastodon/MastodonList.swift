import Foundation
import Posts

/// A page as a server sent it: items in its order, and where it goes on.
struct MastodonList {
    /// One item.
    struct Entry {
        /// What the feed is ordered by; nil if it cannot be read.
        let id: String?
        /// Nil for what cannot be read and for what is not asked for.
        var status: MastodonStatus?
        /// What the item is if it cannot be read.
        var unreadable: UnreadableItem?
        /// When the server told of the item.
        var noticedAt: Date?
    }

    /// Pages of fewer items are not known to be cut.
    private static let smallestPage = 20
    /// One server sends so many items at most where it sends all that it has.
    private static let largestList = 256

    private(set) var entries: [Entry] = []
    var newerCursor: String?
    var olderCursor: String?
    private(set) var rateLimit: RateLimit?
    /// The server names its cursors.
    private var hasLink = false
    /// The ids tell which item is newer.
    private var idsSort = false

    init(rateLimit: RateLimit?) {
        self.rateLimit = rateLimit
    }

    /// - Parameters:
    ///   - entries: The items as they were sent.
    ///   - link: The cursors that the server names; nil where it names none, so that ids take their place.
    ///   - feed: What this is a page of.
    ///   - memory: Knows whether the feed's ids tell its order, and learns it.
    ///   - rateLimit: What the server said with the page.
    init(entries: [Entry], link: LinkHeader?, feed: Feed, memory: MastodonMemory, rateLimit: RateLimit?) {
        self.entries = entries
        self.rateLimit = rateLimit
        hasLink = link != nil
        var known: Set<String> = []
        var ids = entries.compactMap(\.id).filter { known.insert($0).inserted }
        guard feed != .favorites else {
            olderCursor = link?.older
            // Cursors of favorites are no ids of posts. Where they are, new favorites may stand anywhere in the list,
            // and the newest page is looked at each time.
            newerCursor = link?.newer.flatMap { known.contains($0) ? nil : $0 }
            return
        }
        if memory.idsSort(in: feed), MastodonID.isAscending(ids) {
            self.entries.reverse()
            ids.reverse()
        }
        memory.learnOrder(of: feed, from: ids)
        idsSort = memory.idsSort(in: feed)
        olderCursor = link == nil ? ids.last : link?.older
        newerCursor = link?.newer ?? ids.first
    }

    /// Takes out what is not newer than a cursor, which a server sent although it was not asked for it.
    ///
    /// - Returns: Whether there was such an item, so that the page reaches down to the cursor.
    mutating func removeItems(notNewerThan cursor: String) -> Bool {
        let count = entries.count
        if let known = entries.firstIndex(where: { $0.id == cursor }) { entries.removeSubrange(known...) }
        guard idsSort else { return entries.count < count }
        entries.removeAll { entry in entry.id.flatMap { MastodonID.isNewer($0, than: cursor) } == false }
        if let newest = newerCursor, MastodonID.isNewer(newest, than: cursor) == false { newerCursor = nil }
        return entries.count < count
    }

    /// Takes out what is not older than a cursor from the list of a server that knows no pages and sends all it has.
    ///
    /// A list that may be cut is left as it is: going round in circles must not look like the end.
    ///
    /// - Parameters:
    ///   - cursor: What the server was asked to begin below.
    ///   - pageSize: How many items it was asked for.
    mutating func removeItems(notOlderThan cursor: String, pageSize: Int) {
        let isWhole =
            entries.count < min(Self.smallestPage, pageSize)
            || (entries.count > pageSize && entries.count < Self.largestList)
        guard !hasLink, isWhole, let index = entries.lastIndex(where: { $0.id == cursor }) else { return }
        entries.removeSubrange(...index)
        if entries.isEmpty { olderCursor = nil }
    }

    /// Adds an older page, without what is here already.
    ///
    /// - Returns: Whether there was anything to add that has an id.
    mutating func append(_ older: MastodonList) -> Bool {
        let known = Set(entries.compactMap(\.id))
        let fresh = older.entries.filter { entry in entry.id.map { !known.contains($0) } ?? true }
        entries += fresh
        olderCursor = older.olderCursor
        rateLimit = older.rateLimit ?? rateLimit
        return fresh.contains { $0.id != nil }
    }

    /// The page in our own terms.
    func page(with translator: MastodonTranslator, _ position: FeedPosition) -> FeedPage {
        var items: [ObservedPost] = []
        var keys: Set<String> = []
        for entry in entries {
            guard let post = entry.status.flatMap({ translator.post($0, noticedAt: entry.noticedAt) }) else { continue }
            if keys.insert(post.repetitionKey).inserted { items.append(post) }
        }
        var page = FeedPage(
            items: translator.connected(items), received: entries.count,
            unreadable: entries.compactMap(\.unreadable), rateLimit: rateLimit)
        switch position {
        case .newest:
            page.older = olderCursor
            page.newer = newerCursor
        case .older:
            page.older = olderCursor
        case .newer(let cursor):
            page.newer = newerCursor == cursor ? nil : newerCursor
        }
        return page
    }
}

extension MastodonList.Entry {
    init(_ element: LenientElement<MastodonStatus>) {
        self.init(id: element.id)
        take(element, called: "it")
    }

    /// Servers that do not know the filter send all kinds of notifications.
    init(_ element: LenientElement<MastodonNotification>) {
        self.init(id: element.id)
        noticedAt = element.value?.createdAt
        let type = element.value?.type
        guard type == nil || type == "mention" else { return }
        if let status = element.value?.status, type != nil {
            take(status, called: "its post")
        } else {
            unreadable = UnreadableItem(
                address: element.value?.status?.id, digest: "",
                cause: type == nil ? "it is no notification" : "the mention has no post")
        }
    }

    private mutating func take(_ element: LenientElement<MastodonStatus>, called name: String) {
        guard let status = element.value, MastodonTranslator.canRead(status) else {
            unreadable = UnreadableItem(
                address: element.id, digest: "",
                cause: name + (element.value == nil ? " is not as posts are" : " has no author or no address"))
            return
        }
        self.status = status
    }
}

extension [MastodonList.Entry] {
    /// The entries of a page's body, with digests for those that cannot be read.
    init<Item: Decodable>(
        _ elements: [LenientElement<Item>], _ entry: (LenientElement<Item>) -> Element, in body: [UInt8]
    ) {
        self = elements.map(entry)
        guard contains(where: { $0.unreadable != nil }) else { return }
        for (index, digest) in zip(indices, JSONBody.digests(of: body)) { self[index].unreadable?.digest = digest }
    }
}
