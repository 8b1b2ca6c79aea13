import Foundation
import Posts

/// A page as a server sent it: items in its order, and where it goes on.
struct MastodonList {
    /// One item.
    struct Entry {
        /// What the feed is ordered by; nil if it cannot be read.
        var id: String?
        /// Nil for what cannot be read and for what is not asked for.
        var status: MastodonStatus?
        /// The server sent something that is not an item.
        var isUnreadable: Bool
        /// When the server told of the item.
        var noticedAt: Date?
    }

    private(set) var entries: [Entry] = []
    private(set) var newerCursor: String?
    private(set) var olderCursor: String?
    private(set) var rateLimit: RateLimit?

    init(rateLimit: RateLimit?) {
        self.rateLimit = rateLimit
    }

    /// - Parameters:
    ///   - entries: The items, newest first.
    ///   - link: The cursors that the server names; nil where it names none, so that ids take their place.
    ///   - idsAreCursors: Whether the ids of the items may take that place.
    ///   - rateLimit: What the server said with the page.
    init(entries: [Entry], link: LinkHeader?, idsAreCursors: Bool, rateLimit: RateLimit?) {
        self.entries = entries
        self.rateLimit = rateLimit
        let ids = idsAreCursors ? entries.compactMap(\.id) : []
        olderCursor = link == nil ? MastodonID.oldest(of: ids) : link?.older
        newerCursor = link?.newer ?? MastodonID.newest(of: ids)
    }

    /// Takes out what is not newer than a cursor, which a server sent although it was not asked for it.
    ///
    /// - Returns: Whether there was such an item, so that the page reaches down to the cursor.
    mutating func removeItems(notNewerThan cursor: String) -> Bool {
        let count = entries.count
        if let known = entries.firstIndex(where: { $0.id == cursor }) { entries.removeSubrange(known...) }
        entries.removeAll { entry in entry.id.flatMap { MastodonID.isNewer($0, than: cursor) } == false }
        if let newest = newerCursor, MastodonID.isNewer(newest, than: cursor) == false { newerCursor = nil }
        return entries.count < count
    }

    /// Adds an older page, without what is here already.
    ///
    /// - Returns: Whether there was anything to add.
    mutating func append(_ older: MastodonList) -> Bool {
        let known = Set(entries.compactMap(\.id))
        let fresh = older.entries.filter { entry in entry.id.map { !known.contains($0) } ?? false }
        entries += fresh
        olderCursor = older.olderCursor
        rateLimit = older.rateLimit ?? rateLimit
        return !fresh.isEmpty
    }

    /// The page in our own terms.
    func page(with translator: MastodonTranslator, _ position: FeedPosition) -> FeedPage {
        var items: [ObservedPost] = []
        var keys: Set<String> = []
        var skipped = 0
        for entry in entries {
            guard let status = entry.status else {
                if entry.isUnreadable { skipped += 1 }
                continue
            }
            guard let post = translator.post(status, noticedAt: entry.noticedAt) else {
                skipped += 1
                continue
            }
            if keys.insert(post.repetitionKey).inserted { items.append(post) }
        }
        var page = FeedPage(
            items: translator.connected(items), received: entries.count, skipped: skipped, rateLimit: rateLimit)
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
        self.init(id: element.id, status: element.value, isUnreadable: element.value == nil)
    }

    /// Servers that do not know the filter send all kinds of notifications.
    init(_ element: LenientElement<MastodonNotification>) {
        let notification = element.value.flatMap { $0.type == "mention" ? $0 : nil }
        self.init(
            id: element.id, status: notification?.status,
            isUnreadable: element.value == nil || (notification?.hasStatus == true && notification?.status == nil),
            noticedAt: notification?.createdAt)
    }
}
