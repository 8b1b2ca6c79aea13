import Cryptography
import Formats
package import Foundation
import Localization
package import Networks
import Posts
import Transport

/// Reading feeds.
extension BlueskyNetwork {
    /// The number of items to request; servers send fewer.
    private static let pageSize = 100
    /// The most pages of new items that one call reads; the next call reads the others.
    private static let maximumPages = 20
    /// The most pages in a row that are skipped because they are empty.
    private static let maximumEmptyPages = 5
    /// The number of pages in a row with only known items after which the reading of new items
    /// ends.
    private static let maximumKnownPages = 2
    /// The number of known items that these pages must have together, because pages may be short.
    private static let maximumKnownItems = 20
    /// The most pages that ``ownPosts(since:)`` reads.
    private static let maximumOwnPages = 100
    /// Seconds by which the clocks of this machine and the server may differ.
    private static let clockMargin: TimeInterval = 600

    package func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        guard capabilities.feeds.contains(feed) else {
            throw failure(
                feed.operation, .capability, localized("this needs the account's app password"),
                outcome: .notSent)
        }
        let size = min(max(size ?? Self.pageSize, 1), Self.pageSize)
        switch position {
        case .newest:
            let slice = try await fullSlice(feed, from: nil, size: size)
            var page = try await page(of: slice, feed)
            page.older = slice.serverCursor
            page.newer = try cursor(
                feed, slice.entries.map(\.itemKey), isWhole: slice.serverCursor == nil
            )
            .text()
            return page
        case .older(let serverCursor):
            guard (1...BlueskyCursor.maximumServerCursor).contains(serverCursor.utf8.count) else {
                throw failure(
                    feed.operation, .rejected, localized("the place in the feed cannot be one"),
                    outcome: .notSent)
            }
            let slice = try await fullSlice(feed, from: serverCursor, size: size)
            var page = try await page(of: slice, feed)
            page.older = slice.serverCursor == serverCursor ? nil : slice.serverCursor
            return page
        case .newer(let text):
            guard let cursor = BlueskyCursor(text) else {
                throw failure(
                    feed.operation, .rejected,
                    localized("the stored position is not one of Bluesky"),
                    outcome: .notSent)
            }
            return try await newer(feed, than: cursor, size: size)
        }
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        let earliestTime = since.addingTimeInterval(-Self.clockMargin)
        var foundPosts: [ObservedPost] = []
        var seenKeys: Set<BlueskyItemKey> = []
        var foundIDs: Set<PostID> = []
        var serverCursor: String?
        for _ in 0..<Self.maximumOwnPages {
            let slice = try await slice(.ownPosts, from: serverCursor, size: Self.pageSize)
            let page = try await page(of: slice, .ownPosts)
            guard page.unreadable.isEmpty else {
                throw incomplete(localized("a post of the account cannot be read"))
            }
            let newEntries = slice.entries.filter { seenKeys.insert($0.itemKey).inserted }
            foundPosts += page.items.filter {
                foundIDs.insert($0.post.id).inserted && isPossiblySince(earliestTime, $0)
            }
            if newEntries.isEmpty, !slice.entries.isEmpty { break }
            guard let next = slice.serverCursor, next != serverCursor else { return foundPosts }
            // The feed is sorted by key, and the keys of this program's records contain their
            // times. So no later page has a record of this program since `since`.
            if let last = newEntries.last.flatMap({ TimestampID($0.itemKey.order) }),
                last.date < earliestTime
            {
                return foundPosts
            }
            serverCursor = next
        }
        throw incomplete(localized("the server's pages do not reach back far enough"))
    }

    /// Whether a post may be from after `start`: its own time or that of its key is later, or one
    /// of them is unknown.
    private func isPossiblySince(_ start: Date, _ item: ObservedPost) -> Bool {
        let timeOfKey = RecordReference(item.address).flatMap { TimestampID($0.address.key) }
        guard item.post.isTimeTrusted, let timeOfKey else { return true }
        return item.post.createdAt >= start || timeOfKey.date >= start
    }

    private func incomplete(_ cause: String) -> NetworkError {
        failure(.readOwnPosts, .malformedResponse, cause)
    }

    /// Returns the items that arrived after a cursor, from as many pages as are necessary.
    private func newer(_ feed: Feed, than cursor: BlueskyCursor, size: Int) async throws
        -> FeedPage
    {
        var look = BlueskyLook(from: cursor)
        for _ in 0..<Self.maximumPages where !look.isDone {
            do {
                look.take(try await slice(feed, from: look.serverCursor, size: size))
            } catch let error as NetworkError {
                // The items of the pages before the error are returned; if the problem persists,
                // the next call reports it.
                guard !look.itemKeys.isEmpty else { throw error }
                break
            }
            let hasOnlyKnown =
                look.knownPages >= Self.maximumKnownPages
                && look.knownItems >= Self.maximumKnownItems
            look.isDone = look.isDone || hasOnlyKnown
        }
        var nextCursor = cursor
        if cursor.rest == nil {
            // This first call of a look has read the newest items, which the next cursor remembers.
            nextCursor = self.cursor(feed, look.itemKeys, isWhole: look.reachedEndOfFeed)
        }
        nextCursor.rest = nil
        if !look.isDone, let serverCursor = look.serverCursor {
            nextCursor.rest = BlueskyCursor.Rest(place: serverCursor, window: look.window)
        }
        var page = try await page(of: look.newItems, feed)
        // A page without received items would count as the end of the feed, which an unfinished
        // look has not reached.
        if nextCursor.rest != nil { page.received = max(page.received, 1) }
        page.newer = nextCursor == cursor ? nil : try nextCursor.text()
        return page
    }

    private func cursor(_ feed: Feed, _ itemKeys: [BlueskyItemKey], isWhole: Bool) -> BlueskyCursor
    {
        let isListOfRecords = feed == .ownPosts || feed == .favorites
        return BlueskyCursor(
            itemKeys: itemKeys, isWhole: isWhole, at: isListOfRecords ? nil : client.now())
    }

    /// Returns the first page from `start` on that is not empty.
    private func fullSlice(
        _ feed: Feed, from start: String?, size: Int
    ) async throws -> BlueskySlice {
        var slice = try await slice(feed, from: start, size: size)
        var serverCursor = start
        for _ in 0..<Self.maximumEmptyPages {
            guard slice.entries.isEmpty, let next = slice.serverCursor, next != serverCursor else {
                break
            }
            serverCursor = next
            slice = try await self.slice(feed, from: next, size: size)
        }
        return slice
    }

    /// - Parameter serverCursor: The cursor of the page; nil for the newest items.
    private func slice(_ feed: Feed, from serverCursor: String?, size: Int) async throws
        -> BlueskySlice
    {
        let ownDID = try await ownDID()
        let call = call(for: feed, of: ownDID, from: serverCursor, size: size)
        let answer = try await answer(to: call)
        let response = try answer.response()
        let rateLimit = client.pacing(of: response).rateLimit
        if response.isCut {
            if let slice = BlueskySlice(beginning: response.body, rateLimit: rateLimit) {
                return slice
            }
            throw answer.error(.tooLarge, localized("one item is larger than an answer may be"))
        }
        let now = client.now()
        func list<Element: Decodable & Sendable>(
            of type: Element.Type, _ makeEntry: (Element) -> BlueskySlice.Entry?
        ) throws(NetworkError) -> BlueskySlice {
            let list = try answer.value(BlueskyList<Element>.self)
            return BlueskySlice(list, in: response.body, rateLimit: rateLimit, makeEntry)
        }
        switch feed {
        case .ownPosts:
            return try list(of: BlueskyListedRecord<BlueskyPostRecord>.self) {
                .init($0, of: ownDID)
            }
        case .favorites:
            return try list(of: BlueskyListedRecord<BlueskyLikeRecord>.self) {
                .init($0, of: ownDID)
            }
        case .home: return try list(of: BlueskyFeedItem.self) { .init($0, seenAt: now) }
        case .mentions:
            return try list(of: BlueskyNotification.self) { .init($0, to: ownDID, seenAt: now) }
        }
    }

    private func call(
        for feed: Feed, of ownDID: String, from serverCursor: String?, size: Int
    ) -> NetworkCall {
        var query: [(name: String, value: String)] = []
        var name = "com.atproto.repo.listRecords"
        switch feed {
        case .ownPosts: query = [("repo", ownDID), ("collection", RecordAddress.postCollection)]
        case .favorites: query = [("repo", ownDID), ("collection", RecordAddress.likeCollection)]
        case .home: name = "app.bsky.feed.getTimeline"
        case .mentions:
            name = "app.bsky.notification.listNotifications"
            query = [("reasons", "mention"), ("reasons", "reply")]
        }
        query.append((name: "limit", value: String(size)))
        if let serverCursor { query.append((name: "cursor", value: serverCursor)) }
        var call = NetworkCall(feed.operation, name, query)
        call.acceptsTruncatedBody = size == 1
        return call
    }
}

/// A look at new items of a feed, page by page from the newest item down.
private struct BlueskyLook {
    /// The items that were known when the look began.
    let window: BlueskyCursor.Window
    /// The cursor of the page with which the look continues; nil for the newest items.
    private(set) var serverCursor: String?
    private(set) var itemKeys: [BlueskyItemKey] = []
    /// The items of this look that were not known when it began.
    private(set) var newItems = BlueskySlice(entries: [])
    /// The number of pages in a row, up to the last one read, that have only known items.
    private(set) var knownPages = 0
    /// The number of items on these pages.
    private(set) var knownItems = 0
    private(set) var reachedEndOfFeed = false
    var isDone = false
    private var namesOfNewItems: Set<String> = []

    init(from cursor: BlueskyCursor) {
        window = cursor.rest?.window ?? cursor.window
        serverCursor = cursor.rest?.place
    }

    mutating func take(_ slice: BlueskySlice) {
        newItems.rateLimit = slice.rateLimit ?? newItems.rateLimit
        itemKeys += slice.entries.map(\.itemKey)
        let newEntries = slice.entries.filter {
            window.isNew($0.itemKey)
                && namesOfNewItems.insert($0.itemKey.name).inserted
        }
        newItems.entries += newEntries
        let hasOnlyKnown = newEntries.isEmpty && !slice.entries.isEmpty
        knownPages = hasOnlyKnown ? knownPages + 1 : 0
        knownItems = hasOnlyKnown ? knownItems + slice.entries.count : 0
        reachedEndOfFeed = slice.serverCursor == nil || slice.serverCursor == serverCursor
        isDone = reachedEndOfFeed || reachesFloor
        serverCursor = slice.serverCursor
    }

    /// Whether the last three items are below all known ones; fewer than three may be out of order.
    private var reachesFloor: Bool {
        let lastKeys = itemKeys.filter { !$0.order.isEmpty }.suffix(3)
        return lastKeys.count == 3 && lastKeys.allSatisfy { $0.order < window.floor }
    }
}

/// The order of an item in its feed, and its identity.
struct BlueskyItemKey: Hashable, Sendable {
    /// A digest of the item's name.
    let name: String
    /// A text that sorts as the feed does: a record key, or a time; empty if unknown.
    let order: String

    init(_ name: String, order: String) {
        self.name = HashFunction.sha256.digest(of: name.utf8).prefix(8).hexadecimal
        self.order = order
    }

    init(_ name: String, at time: Date) {
        self.init(name, order: time.rfc3339)
    }
}

/// The newest items of a feed, remembered to recognize later arrivals.
///
/// Bluesky has no request for items newer than a given one. A new item may appear below older ones,
/// because its author chooses its time. So the newest items are remembered individually: an item is
/// new if it is not among them and not below the lowest of them.
struct BlueskyCursor: Codable, Equatable, Sendable {
    /// The number of remembered items: less than a page, so that one request returns all of them
    /// with the new ones.
    static let window = 64
    /// The longest cursor of a server, in bytes.
    static let maximumServerCursor = 4_096
    /// The age, in seconds, from which on an item of a feed of many authors never counts as new,
    /// because following somebody adds all of their old posts to the feed.
    private static let horizon: TimeInterval = 86_400

    /// The remembered newest items of a feed.
    struct Window: Codable, Equatable, Sendable {
        /// The digests of the items' names.
        var known: [String]
        /// The order of the lowest remembered item; empty if all items of the feed are remembered.
        var floor: String

        /// Whether an item has arrived since the items were remembered.
        func isNew(_ itemKey: BlueskyItemKey) -> Bool {
            (itemKey.order >= floor || itemKey.order.isEmpty) && !known.contains(itemKey.name)
        }
    }

    /// An unfinished look, which continues with the next page.
    struct Rest: Codable, Equatable, Sendable {
        /// The server's cursor of the next page.
        var place: String
        /// The items that were remembered when the look began.
        var window: Window
    }

    var window: Window
    /// The progress of an unfinished look.
    var rest: Rest?

    /// - Parameters:
    ///   - itemKeys: The items from the newest down, as far as they were read.
    ///   - isWhole: Whether the feed has no other items.
    ///   - time: The time at which the items were read, for feeds of many authors; nil for a list
    ///     of one account's records.
    init(itemKeys: [BlueskyItemKey], isWhole: Bool, at time: Date?) {
        // The newest item first.
        let sorted = itemKeys.sorted { $0.order > $1.order }
        var floor = sorted.prefix(Self.window).last?.order ?? ""
        // If all items of the feed are remembered, items with a lower order count as new too: all
        // of them in a list of records, and those after the horizon in a feed of many authors.
        if isWhole, sorted.count <= Self.window {
            let orderOfHorizon = time.map(Self.orderOfHorizon) ?? ""
            floor = sorted.isEmpty ? orderOfHorizon : min(floor, orderOfHorizon)
        }
        // All items with the lowest order are kept, because otherwise some of them would count as
        // new.
        window = Window(
            known: sorted.filter { $0.order >= floor || $0.order.isEmpty }.map(\.name), floor: floor
        )
    }

    /// Returns the order of the earliest item that counts as new, rounded to a whole hour so that
    /// the cursor of a quiet feed rarely changes.
    private static func orderOfHorizon(at time: Date) -> String {
        let hours = ((time.timeIntervalSince1970 - horizon) / 3_600).rounded(.down)
        return Date(timeIntervalSince1970: hours * 3_600).rfc3339
    }

    /// Nil for a text that ``text()`` did not make.
    init?(_ text: String) {
        guard text.utf8.count <= 1 << 20,
            let cursor = JSONBody.decoded(BlueskyCursor.self, Array(text.utf8))
        else { return nil }
        if let rest = cursor.rest {
            let length = rest.place.utf8.count
            guard (1...Self.maximumServerCursor).contains(length) else { return nil }
        }
        self = cursor
    }

    /// The stored form of the cursor.
    func text() throws -> String {
        String(decoding: try JSONBody.encoded(self), as: UTF8.self)
    }
}

/// A page of a feed as a server sent it.
struct BlueskySlice: Sendable {
    /// An item of the page.
    struct Entry: Sendable {
        var itemKey: BlueskyItemKey
        var content: Content
        /// The digest that identifies an item that cannot be read.
        var digest = ""

        init(itemKey: BlueskyItemKey, content: Content) {
            self.itemKey = itemKey
            self.content = content
        }
    }

    /// The kind of an item, and its value.
    enum Content: Sendable {
        /// A post of the account itself.
        case record(RecordReference, BlueskyPostRecord)
        /// A post with all data of the server about it.
        case view(BlueskyPostView, isRepost: Bool)
        case notification(BlueskyNotification, BlueskyProfile, BlueskyPostRecord)
        /// The post that was favorited.
        case favorite(RecordReference)
        /// An item that does not belong in the feed.
        case other
        /// An item that cannot be read: the post's address, if the item has it, and the cause.
        case unreadable(address: String?, cause: String)
    }

    var entries: [Entry]
    /// The server's cursor to the next page; nil at the end.
    var serverCursor: String?
    var rateLimit: RateLimit?
}

extension BlueskySlice.Entry {
    /// Nil for a record of another account.
    init?(_ listed: BlueskyListedRecord<BlueskyPostRecord>, of did: String) {
        let address = listed.reference.address
        guard address.repository == did, address.isPost else { return nil }
        itemKey = BlueskyItemKey(address.key, order: address.key)
        content =
            listed.value.map { .record(listed.reference, $0) }
            ?? .unreadable(address: listed.reference.text, cause: "its record is not as posts are")
    }

    /// Nil for a record of another account.
    init?(_ listed: BlueskyListedRecord<BlueskyLikeRecord>, of did: String) {
        let address = listed.reference.address
        guard address.repository == did, address.collection == RecordAddress.likeCollection else {
            return nil
        }
        itemKey = BlueskyItemKey(address.key, order: address.key)
        guard let subject = listed.value?.subject else {
            content = .unreadable(address: nil, cause: "the favorite does not tell of what")
            return
        }
        // A favorite may also be of a list or a feed.
        content = subject.address.isPost ? .favorite(subject) : .other
    }

    /// A server sorts an item by the time that its author gave, or by the time at which a server
    /// first saw the item if that is earlier.
    init(_ item: BlueskyFeedItem, seenAt now: Date) {
        let uri = item.post.reference.address.uri
        let indexed = item.post.indexedAt ?? now
        let time = min(item.post.record.createdAt ?? indexed, indexed)
        switch item.reason {
        case .repost(let person, let at):
            itemKey = BlueskyItemKey("\(uri) by \(person ?? "")", at: at ?? time)
            content = .view(item.post, isRepost: true)
        case .pin:
            itemKey = BlueskyItemKey("\(uri) on top", at: time)
            content = .other
        case .other, nil:
            itemKey = BlueskyItemKey(uri, at: time)
            content = .view(item.post, isRepost: false)
        }
    }

    /// A reply counts only if it answers one of the account's posts; replies further down the
    /// conversation are addressed to other people.
    init(_ notification: BlueskyNotification, to did: String, seenAt now: Date) {
        itemKey = BlueskyItemKey(
            notification.reference.address.uri, at: notification.indexedAt ?? now)
        let parent = notification.record?.reply?.parent.address.repository
        let isWanted =
            notification.reason == "mention" || notification.reason == "reply" && parent == did
        guard isWanted || notification.reason == "reply" && notification.record == nil else {
            content = .other
            return
        }
        guard let author = notification.author, let record = notification.record,
            notification.reference.address.isPost
        else {
            content = .unreadable(
                address: notification.reference.address.isPost ? notification.reference.text : nil,
                cause: notification.author == nil
                    ? "its author cannot be told" : "its record is not as posts are")
            return
        }
        content = .notification(notification, author, record)
    }
}

extension BlueskySlice {
    /// - Parameters:
    ///   - makeEntry: Makes an entry of an element; returns nil for an element that does not belong
    ///     in the list.
    init<Element>(
        _ list: BlueskyList<Element>, in body: [UInt8], rateLimit: RateLimit?,
        _ makeEntry: (Element) -> Entry?
    ) {
        let readEntries = list.elements.map { $0.value.flatMap(makeEntry) }
        self.init(entries: [], serverCursor: list.cursor, rateLimit: rateLimit)
        let areAllReadable = readEntries.allSatisfy { $0?.isReadable == true }
        let digests = areAllReadable ? [] : JSONBody.digests(of: body, under: list.name)
        // An item without an order gets the order of the item before it.
        var order = readEntries.lazy.compactMap { $0?.itemKey.order }.first ?? ""
        for (index, element) in list.elements.enumerated() {
            let digest = digests.indices.contains(index) ? digests[index] : ""
            let address = element.reference?.address
            var entryOrPlaceholder =
                readEntries[index]
                ?? Entry(
                    itemKey: BlueskyItemKey(address?.uri ?? digest, order: order),
                    content: .unreadable(
                        address: address?.isPost == true ? element.reference?.text : nil,
                        cause: "it is not as the feed's items are"))
            if !entryOrPlaceholder.isReadable { entryOrPlaceholder.digest = digest }
            order = entryOrPlaceholder.itemKey.order
            entries.append(entryOrPlaceholder)
        }
    }

    /// Creates a page of one unreadable item from the beginning of an answer that is too large; nil
    /// if that part has no cursor.
    init?(beginning body: [UInt8], rateLimit: RateLimit?) {
        let values = JSONBeginning(body).values
        let paths = [["records", "0"], ["notifications", "0"], ["feed", "0", "post"]]
        let reference = paths.lazy
            .compactMap { RecordReference(uri: values[$0 + ["uri"]], cid: values[$0 + ["cid"]]) }
            .first
        let record = values[["records", "0", "uri"]].flatMap { RecordAddress($0) }
        // In a list of records, the cursor to the page after a record is the record's key.
        guard let serverCursor = values[["cursor"]] ?? record?.key,
            (1...BlueskyCursor.maximumServerCursor).contains(serverCursor.utf8.count)
        else { return nil }
        var entry = Entry(
            itemKey: BlueskyItemKey(
                reference?.address.uri ?? serverCursor, order: record?.key ?? ""),
            content: .unreadable(
                address: reference?.address.isPost == true ? reference?.text : nil,
                cause: "it is larger than an answer may be"))
        entry.digest = JSONBody.digest((reference?.text ?? serverCursor).utf8)
        self.init(entries: [entry], serverCursor: serverCursor, rateLimit: rateLimit)
    }
}

extension BlueskySlice.Entry {
    fileprivate var isReadable: Bool {
        if case .unreadable = content { false } else { true }
    }
}

/// The list in an answer, whose key depends on the method.
struct BlueskyList<Element: Decodable & Sendable>: Decodable {
    /// An element of the list.
    struct Item: Decodable {
        /// `nil` if the item cannot be decoded as an element.
        let value: Element?
        /// The post or record that the element refers to, if the element itself cannot be decoded.
        let reference: RecordReference?

        init(from decoder: any Decoder) throws {
            // Nil if the element has another shape; it may still name its record.
            value = try? Element(from: decoder)
            guard value == nil else {
                reference = nil
                return
            }
            // Nil if the element is no object; then it has no reference.
            let wire = try? WireObject(from: decoder)
            reference =
                wire?.value(RecordReference.self, "post") ?? (try? RecordReference(from: decoder))
        }
    }

    let elements: [Item]
    /// The key of the list in the answer.
    let name: String
    let cursor: String?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let name = ["records", "feed", "notifications"].first(where: wire.isPresent) else {
            throw ShapeError()
        }
        elements = try wire.required([Item].self, name)
        self.name = name
        cursor = wire.text("cursor").flatMap {
            (1...BlueskyCursor.maximumServerCursor).contains($0.utf8.count) ? $0 : nil
        }
    }
}
