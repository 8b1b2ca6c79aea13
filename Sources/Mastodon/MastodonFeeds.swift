import Formats
package import Foundation
import Localization
package import Networks
import Posts
import Transport

/// Reading feeds.
extension MastodonNetwork {
    /// The number of items to request; servers send fewer, and sometimes more.
    static let pageSize = 40
    /// The maximum number of answered posts that are requested for one page.
    private static let maximumParents = 40
    /// The maximum number of answered posts that are requested for one page if their authors are
    /// known.
    private static let maximumNewParents = 10
    /// The most pages that ``ownPosts(since:)`` reads.
    private static let maximumOwnPages = 100
    /// The most pages that are read below a page that does not reach the cursor.
    private static let maximumFillPages = 20
    /// Seconds after which to request a timeline again that the server is rebuilding.
    private static let rebuildDelay: TimeInterval = 60
    /// Seconds by which the clocks of this machine and the server may differ.
    private static let clockMargin: TimeInterval = 600

    package func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        if feed == .ownPosts {
            // Once the account is known, the server's program is known too.
            _ = try await ownAccount()
            try requireVisibility()
        }
        if let search = BrokenItemSearch(position) {
            return try await page(feed, of: search, position)
        }
        let pageSize = min(max(size ?? Self.pageSize, 1), Self.pageSize)
        let list = try await list(feed, at: position, size: pageSize)
        return try await page(feed, of: list, position)
    }

    /// Translates a page into the common model.
    func page(_ feed: Feed, of list: MastodonList, _ position: FeedPosition) async throws
        -> FeedPage
    {
        let translator = try await translator()
        var page = list.page(with: translator, position)
        page.depth = memory.program.depths.value[feed]
        // The answered people are needed only for the human's own posts: old replies are selected
        // by the people whom they answer.
        guard feed == .ownPosts else { return page }
        if !translator.idsIdentifyPeople {
            page.items = translator.connected(page.items, with: try await parents(of: page.items))
        } else if case .newer = position {
            page.items = translator.connected(
                page.items, with: try await newParents(of: page.items))
        }
        return page
    }

    /// The posts of others that the replies of a page of new posts answer.
    ///
    /// They are requested one by one, because their ids do not contain their identities. A post
    /// that cannot be read now remains unknown, because nothing depends on it.
    private func newParents(of posts: [ObservedPost]) async throws -> [ObservedPost] {
        var parents: [ObservedPost] = []
        for post in posts.filter(\.answersUnknownPost).prefix(Self.maximumNewParents) {
            guard let address = post.replyToAddress, MastodonID.isUsable(address) else { continue }
            if let rememberedParent = memory.parent(address) {
                if let rememberedParent { parents.append(rememberedParent) }
                continue
            }
            do {
                let parent = try await lookUp(address)
                memory.keep(parent: parent, at: address)
                if let parent { parents.append(parent) }
            } catch let error as NetworkError {
                // A server that refuses this request would refuse the others too.
                guard error.dropsItem else { break }
                memory.keep(parent: nil, at: address)
            }
        }
        return parents
    }

    /// The posts that the replies of a page answer and whose authors are unknown.
    ///
    /// They are requested one by one, a limited number for each page. The author of a post that
    /// cannot be read remains unknown.
    private func parents(of posts: [ObservedPost]) async throws -> [ObservedPost] {
        var foundParents: [ObservedPost] = []
        var requestCount = 0
        for post in posts where post.post.replyTo != nil && post.post.replyTo?.author == nil {
            guard let address = post.replyToAddress, MastodonID.isUsable(address) else { continue }
            if let rememberedParent = memory.parent(address) {
                if let rememberedParent { foundParents.append(rememberedParent) }
                continue
            }
            guard requestCount < Self.maximumParents else { break }
            requestCount += 1
            do {
                let parent = try await lookUp(address)
                memory.keep(parent: parent, at: address)
                if let parent { foundParents.append(parent) }
            } catch let error as NetworkError where error.dropsItem {
                memory.keep(parent: nil, at: address)
            }
        }
        return foundParents
    }

    private func list(_ feed: Feed, at position: FeedPosition, size: Int) async throws
        -> MastodonList
    {
        switch position {
        case .newest:
            return try await list(feed, bounds: [], size: size)
        case .older(let cursor):
            var list = try await list(feed, bounds: [("max_id", cursor)], size: size)
            try requireComplete(list, of: feed)
            list.removeItems(notOlderThan: cursor, pageSize: size)
            if list.entries.isEmpty, feed != .favorites, !MastodonID.isOrdered(cursor) {
                try await requireItem(at: cursor, in: feed, size: size)
            }
            return list
        case .newer(let cursor):
            return try await newer(feed, than: cursor, size: size)
        }
    }

    /// Fails if an empty timeline means that the server is building it, not that the feed has
    /// ended.
    ///
    /// - Throws: `NetworkError` with a retry time, so that no item is considered broken.
    func requireComplete(_ list: MastodonList, of feed: Feed) throws(NetworkError) {
        guard list.isIncomplete else { return }
        var error = client.error(
            feed.operation, .unavailable, outcome: .refused,
            detail: localized("the server builds the timeline anew"))
        error.retryAfter = client.now() + Self.rebuildDelay
        throw error
    }

    /// Fails if an empty page means that the item at its cursor is gone, not that the feed has
    /// ended.
    ///
    /// - Throws: `NetworkError` with code `.rejected` if the feed does not have the item any
    ///   more.
    private func requireItem(at cursor: String, in feed: Feed, size: Int) async throws {
        var page = try await list(feed, bounds: [], size: size)
        if page.entries.isEmpty { return }
        for _ in 0..<Self.maximumOwnPages {
            if page.entries.contains(where: { $0.id == cursor }) { return }
            guard !page.entries.isEmpty, let older = page.olderCursor else { break }
            page = try await list(feed, bounds: [("max_id", older)], size: size)
        }
        throw client.error(
            feed.operation, .rejected, outcome: .refused,
            detail: localized("the item that the page begins below is gone"))
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        let earliestTime = since.addingTimeInterval(-Self.clockMargin)
        var walk = FeedWalk(of: self, .ownPosts, from: .newest, maximumPages: Self.maximumOwnPages)
        var foundPosts: [ObservedPost] = []
        while let page = try await walk.next() {
            guard page.unreadable.isEmpty else {
                throw incomplete(localized("a post of the account cannot be read"))
            }
            foundPosts += page.items.filter {
                !$0.post.isTimeTrusted || $0.post.createdAt >= earliestTime
            }
            if let oldestPost = page.items.last(where: { $0.post.isTimeTrusted }),
                oldestPost.post.createdAt < earliestTime
            {
                return foundPosts
            }
        }
        guard walk.isComplete else {
            throw incomplete(localized("the server's pages do not reach back far enough"))
        }
        return foundPosts
    }

    private func incomplete(_ cause: String) -> NetworkError {
        client.error(.readOwnPosts, .malformedResponse, outcome: .refused, detail: cause)
    }

    /// The items above a cursor.
    ///
    /// By Mastodon's rules `min_id` returns the page directly above that id. Some servers return
    /// the newest page instead, and some ignore the parameter. So the stretch between the returned
    /// page and the cursor is requested too, unless the page reaches the cursor. On servers that
    /// follow the rules the stretch is empty; on others it contains items that would be missed. If
    /// the stretch is too long for one call, the new cursor records where the next call has to
    /// continue.
    private func newer(_ feed: Feed, than text: String, size: Int) async throws -> MastodonList {
        // A server's cursor never contains a space.
        let position =
            Arrivals(text, separator: " ", where: MastodonID.isUsable) ?? Arrivals(newest: text)
        let lowerBound = position.gap?.since ?? position.newest
        let bounds = [position.gap.map { ("max_id", $0.until) }, ("min_id", lowerBound)].compactMap(
            \.self)
        var result = try await list(feed, bounds: bounds, size: size)
        if position.gap != nil {
            result.newerCursor = position.newest
        } else if result.newerCursor == lowerBound, feed == .favorites {
            // An unchanged cursor means that there are no new favorites.
            return MastodonList(rateLimit: result.rateLimit)
        } else if result.entries.isEmpty, feed != .favorites, !MastodonID.isOrdered(lowerBound) {
            // If the post with the cursor's id is gone, the server never finds anything above it,
            // so the newest page is read.
            result = try await list(feed, bounds: [], size: size)
        }
        if let unreadEnd = try await fill(&result, feed, since: lowerBound, size: size) {
            let newest = result.newerCursor ?? position.newest
            result.newerCursor = Arrivals(
                newest: newest, gap: .init(since: lowerBound, until: unreadEnd)
            )
            .text(separator: " ")
        }
        return result
    }

    /// Adds the items between a list and a cursor.
    ///
    /// - Returns: The upper end of the stretch that was not read; nil if all of it was read.
    func fill(
        _ result: inout MastodonList, _ feed: Feed, since: String, size: Int
    ) async throws -> String? {
        var reachesCursor = result.removeItems(notNewerThan: since)
        var upperBound = result.olderCursor
        var pages = 0
        while let bound = upperBound, !reachesCursor, !result.entries.isEmpty {
            guard pages < Self.maximumFillPages else { return bound }
            pages += 1
            var olderPage: MastodonList
            do {
                olderPage = try await list(
                    feed, bounds: [("max_id", bound), ("min_id", since)], size: size)
            } catch is NetworkError {
                // The pages that were read are kept; if the problem persists, the next call reports
                // it.
                return bound
            }
            reachesCursor = olderPage.removeItems(notNewerThan: since)
            guard result.append(olderPage) else { return nil }
            upperBound = olderPage.olderCursor == bound ? nil : olderPage.olderCursor
        }
        return nil
    }

    func list(
        _ feed: Feed, bounds: [(name: String, value: String)], size: Int
    ) async throws -> MastodonList {
        var call = try await call(for: feed)
        call.query += [("limit", String(size))] + bounds
        call.acceptsTruncatedBody = size == 1
        call.maximumBytes = maximumPage
        let response = try await session.send(call)
        let rateLimit = ServerPacing(response.headers, receivedAt: client.now()).rateLimit
        // The server is rebuilding the home timeline; only the status distinguishes this from an
        // empty timeline.
        if response.status == 206 { return MastodonList(rateLimit: rateLimit, isIncomplete: true) }
        let entries =
            if response.isCut {
                [try tooLarge(call, feed, response)]
            } else if feed == .mentions {
                [MastodonList.Entry](
                    try client.decode(
                        [LenientElement<MastodonNotification>].self, from: response, call),
                    MastodonList.Entry.init, in: response.body)
            } else {
                [MastodonList.Entry](
                    try client.decode([LenientElement<MastodonStatus>].self, from: response, call),
                    MastodonList.Entry.init, in: response.body)
            }
        var list = MastodonList(
            entries: entries, link: LinkHeader(response.headers.all("Link")), feed: feed,
            memory: memory,
            rateLimit: rateLimit)
        // Without a cursor to older items in the header, the id of the single item serves as one.
        if response.isCut, feed != .favorites {
            list.olderCursor = list.olderCursor ?? entries.first?.id
        }
        return list
    }

    /// An entry for the single item of a page that is too large to be read.
    ///
    /// - Throws: `NetworkError` with code `.tooLarge` if the part that was read has no cursor, or
    ///   does not show that the page has one item.
    private func tooLarge(
        _ call: NetworkCall, _ feed: Feed, _ response: HTTPResponse
    ) throws(NetworkError) -> MastodonList.Entry {
        let link = LinkHeader(response.headers.all("Link"))
        let beginning = JSONBeginning(response.body)
        let id = beginning.values[["0", "id"]].flatMap { MastodonID.isUsable($0) ? $0 : nil }
        // Cursors of favorites are not ids of posts.
        let cursor = link?.newer ?? link?.older ?? (feed == .favorites ? nil : id)
        // In a page with one item both cursors belong to that item.
        let hasOneItem = beginning.wholeElements == 0 && (link?.older ?? cursor) == cursor
        guard let cursor, hasOneItem else {
            throw client.error(
                call, .tooLarge, outcome: .refused,
                detail:
                    localized(
                        "one item is larger than an answer may be, or the server sends more than one"
                    ))
        }
        let address = feed == .mentions ? beginning.values[["0", "status", "id"]] : id
        return MastodonList.Entry(
            id: feed == .favorites ? id : cursor,
            unreadable: UnreadableItem(
                address: address.flatMap { MastodonID.isUsable($0) ? $0 : nil },
                digest: JSONBody.digest("\(feed.rawValue) \(cursor)".utf8),
                cause: "it is larger than an answer may be"))
    }

    private func call(for feed: Feed) async throws -> NetworkCall {
        switch feed {
        case .ownPosts:
            let path = try path(.readOwnPosts, "accounts", try await ownAccount().id, "statuses")
            return NetworkCall(operation: .readOwnPosts, path: path)
        case .home:
            return NetworkCall(operation: .readHome, path: ["api", "v1", "timelines", "home"])
        case .favorites:
            return NetworkCall(operation: .readFavorites, path: ["api", "v1", "favourites"])
        case .mentions:
            let program = memory.program
            // Other servers may refuse the type `update`.
            var types = program.supportsUpdateType.value ? ["mention", "update"] : ["mention"]
            // The limit of a short list counts notifications of every type, so the filter would
            // hide how many of them are notifications of other types.
            if program.depths.value[.mentions] != nil { types = [] }
            return NetworkCall(
                operation: .readMentions, path: ["api", "v1", "notifications"],
                // A server may hold back mentions by strangers, which the bot answers too.
                query: types.map { ("types[]", $0) } + [("include_filtered", "true")])
        }
    }
}

/// A page as a server sent it: items in its order, and the cursors.
struct MastodonList {
    /// One item.
    struct Entry {
        /// The id that orders the feed; `nil` if it cannot be read.
        let id: String?
        /// `nil` if the post cannot be read or is not asked for.
        var status: MastodonStatus?
        /// The description of the item if it cannot be read.
        var unreadable: UnreadableItem?
        /// The time at which the server reported the item.
        var noticedAt: Date?
        /// Whether the server reports a change of the post; such a post need not name the account.
        var isChange = false
    }

    /// A page with fewer items than this may be the whole list.
    private static let smallestPage = 20
    /// A list with at least this many items may be incomplete, because one server cuts its lists at
    /// this number.
    fileprivate static let largestList = 256

    private(set) var entries: [Entry] = []
    /// Posts that the server sent although they are not newer than the cursor.
    private(set) var repeated: [MastodonStatus] = []
    var newerCursor: String?
    var olderCursor: String?
    private(set) var rateLimit: RateLimit?
    /// Whether the answer has a `Link` header with cursors.
    private var hasLink = false
    /// Whether a newer item has a higher id.
    private var idsAreOrdered = false
    /// Whether the server says that items may be missing for now.
    let isIncomplete: Bool

    init(rateLimit: RateLimit?, isIncomplete: Bool = false) {
        self.rateLimit = rateLimit
        self.isIncomplete = isIncomplete
    }

    /// - Parameters:
    ///   - entries: The items in the order of the answer.
    ///   - link: The cursors in the `Link` header; nil if there are none, so that ids are used
    ///     instead.
    ///   - feed: The feed that the page belongs to.
    ///   - memory: Remembers whether the feed's items are ordered by their ids, and learns it from
    ///     this page.
    ///   - rateLimit: The quota in the answer.
    init(
        entries: [Entry], link: LinkHeader?, feed: Feed, memory: MastodonMemory,
        rateLimit: RateLimit?
    ) {
        self.entries = entries
        self.rateLimit = rateLimit
        isIncomplete = false
        hasLink = link != nil
        var distinctIDs: Set<String> = []
        var ids = entries.compactMap(\.id).filter { distinctIDs.insert($0).inserted }
        guard feed != .favorites else {
            olderCursor = link?.older
            // Cursors of favorites are not ids of posts. On a server whose cursors are ids, new
            // favorites may be anywhere in the list, so the newest page is read each time.
            newerCursor = link?.newer.flatMap { distinctIDs.contains($0) ? nil : $0 }
            return
        }
        if memory.idsAreOrdered(in: feed), MastodonID.isAscending(ids) {
            self.entries.reverse()
            ids.reverse()
        }
        memory.learnOrder(of: feed, from: ids)
        idsAreOrdered = memory.idsAreOrdered(in: feed)
        olderCursor = link == nil ? ids.last : link?.older
        newerCursor = link?.newer ?? ids.first
    }

    /// Removes items that a server sent although they are not newer than a cursor.
    ///
    /// - Returns: Whether an item was removed, which means that the page reaches the cursor.
    mutating func removeItems(notNewerThan cursor: String) -> Bool {
        let originalEntries = entries
        defer {
            let remainingIDs = Set(entries.compactMap(\.id))
            let removedEntries = originalEntries.filter { entry in
                guard let id = entry.id else { return false }
                return !remainingIDs.contains(id)
            }
            repeated += removedEntries.compactMap(\.status)
        }
        if let cursorIndex = entries.firstIndex(where: { $0.id == cursor }) {
            entries.removeSubrange(cursorIndex...)
        }
        guard idsAreOrdered else { return entries.count < originalEntries.count }
        entries.removeAll { entry in
            entry.id.flatMap { MastodonID.isNewer($0, than: cursor) } == false
        }
        if let newest = newerCursor, MastodonID.isNewer(newest, than: cursor) == false {
            newerCursor = nil
        }
        return entries.count < originalEntries.count
    }

    /// Removes items that are not older than a cursor from the list of a server that ignores pages
    /// and sends all items.
    ///
    /// A list that may be incomplete is left unchanged, because a repeated page must not look like
    /// the end.
    ///
    /// - Parameters:
    ///   - cursor: The cursor in the request.
    ///   - pageSize: The number of requested items.
    mutating func removeItems(notOlderThan cursor: String, pageSize: Int) {
        let mayBeWholeList =
            entries.count < min(Self.smallestPage, pageSize)
            || (entries.count > pageSize && entries.count < Self.largestList)
        guard !hasLink, mayBeWholeList, let index = entries.lastIndex(where: { $0.id == cursor })
        else {
            return
        }
        entries.removeSubrange(...index)
        if entries.isEmpty { olderCursor = nil }
    }

    /// Adds an unreadable item above all others.
    mutating func putFirst(_ item: UnreadableItem) {
        entries.insert(Entry(id: nil, unreadable: item), at: 0)
    }

    /// Adds an older page, without the items that are already in the list.
    ///
    /// - Returns: Whether an item with an id was added.
    mutating func append(_ older: MastodonList) -> Bool {
        let knownIDs = Set(entries.compactMap(\.id))
        let newEntries = older.entries.filter { entry in
            guard let id = entry.id else { return true }
            return !knownIDs.contains(id)
        }
        entries += newEntries
        repeated += older.repeated
        olderCursor = older.olderCursor
        rateLimit = older.rateLimit ?? rateLimit
        return newEntries.contains { $0.id != nil }
    }

    /// Returns the page in the common model.
    func page(with translator: MastodonTranslator, _ position: FeedPosition) -> FeedPage {
        let items = entries.compactMap { entry in
            entry.status.flatMap { status in
                entry.isChange && !translator.mentionsOwnAccount(status)
                    ? nil : translator.post(status, noticedAt: entry.noticedAt)
            }
        }
        var page = FeedPage(
            items: translator.connected(items.distinct), received: entries.count,
            unreadable: entries.compactMap(\.unreadable), rateLimit: rateLimit)
        page.repeated = repeated.compactMap { translator.post($0) }.distinct
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
        store(element, subject: "it")
    }

    /// Reads a notification; an entry of a type that was not requested is possible, because some
    /// servers ignore the filter.
    init(_ element: LenientElement<MastodonNotification>) {
        self.init(id: element.id)
        noticedAt = element.value?.createdAt
        let type = element.value?.type
        isChange = type == "update"
        guard type == nil || type == "mention" || isChange else { return }
        if let status = element.value?.status, type != nil {
            store(status, subject: "its post")
        } else {
            unreadable = UnreadableItem(
                address: element.value?.status?.id, digest: "",
                cause: type == nil ? "it is no notification" : "the mention has no post")
        }
    }

    /// Sets ``status``, or ``unreadable`` with a cause that begins with `subject`.
    private mutating func store(_ element: LenientElement<MastodonStatus>, subject: String) {
        guard let status = element.value, MastodonTranslator.canRead(status) else {
            unreadable = UnreadableItem(
                address: element.id, digest: "",
                cause: subject
                    + (element.value == nil
                        ? " is not as posts are" : " has no author or no address"))
            return
        }
        self.status = status
    }
}

extension [MastodonList.Entry] {
    /// The entries of a page's body, with digests for unreadable ones.
    init<Item: Decodable>(
        _ elements: [LenientElement<Item>], _ makeEntry: (LenientElement<Item>) -> Element,
        in body: [UInt8]
    ) {
        self = elements.map(makeEntry)
        guard contains(where: { $0.unreadable != nil }) else { return }
        for (index, digest) in zip(indices, JSONBody.digests(of: body)) {
            self[index].unreadable?.digest = digest
        }
    }
}

/// The cursors in a `Link` header (RFC 8288).
///
/// Only the values of the known query parameters are taken. Host and path of a
/// link are never used: a hostile or badly configured server must not send the
/// token elsewhere.
struct LinkHeader: Equatable {
    /// `max_id` of the link to older items; nil if there is none.
    private(set) var older: String?
    /// `min_id` of the link to newer items, or `since_id` on servers without it.
    private(set) var newer: String?

    /// The longest header that is parsed, in bytes.
    private static let maximumLength = 16_384

    /// Nil unless a value has a link with a known relation.
    init?(_ values: [String]) {
        var hasKnownRelation = false
        for value in values where value.utf8.count <= Self.maximumLength {
            for link in Self.links(in: value) {
                let parameters = Self.query(of: link.target)
                if link.relations.contains("next") {
                    hasKnownRelation = true
                    older = older ?? parameters["max_id"]
                }
                if link.relations.contains("prev") || link.relations.contains("previous") {
                    hasKnownRelation = true
                    newer = newer ?? parameters["min_id"] ?? parameters["since_id"]
                }
            }
        }
        guard hasKnownRelation else { return nil }
    }

    private static func links(in value: String) -> [(target: Substring, relations: Set<String>)] {
        var links: [(target: Substring, relations: Set<String>)] = []
        var unreadText = value[...]
        while let start = unreadText.firstIndex(of: "<"),
            let end = unreadText[start...].firstIndex(of: ">")
        {
            let target = unreadText[unreadText.index(after: start)..<end]
            unreadText = unreadText[unreadText.index(after: end)...]
            let parameters = unreadText.prefix { $0 != "<" }
            unreadText = unreadText[parameters.endIndex...]
            links.append((target, relations(in: parameters)))
        }
        return links
    }

    /// The words of the parameter `rel`, in lower case.
    private static func relations(in parameters: Substring) -> Set<String> {
        for parameter in parameters.split(whereSeparator: { $0 == ";" || $0 == "," }) {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2,
                pair[0].trimmingCharacters(in: .whitespaces).lowercased() == "rel"
            else { continue }
            let value = pair[1].trimmingCharacters(
                in: .whitespaces.union(CharacterSet(charactersIn: "\"")))
            return Set(value.split(separator: " ").map { $0.lowercased() })
        }
        return []
    }

    private static func query(of target: Substring) -> [String: String] {
        guard let questionMark = target.firstIndex(of: "?") else { return [:] }
        let query = target[target.index(after: questionMark)...].prefix { $0 != "#" }
        return PercentEncoding.values(of: query, where: MastodonID.isUsable)
    }
}

extension MastodonID {
    static let lengthOfULID = 26
    /// The length of ids of Pleroma and its descendants: 128 bits in letters of both cases and
    /// digits.
    static let lengthOfFlake = 18

    /// Whether `id` was assigned later than `other`; nil for ids without an order.
    static func isNewer(_ id: String, than other: String) -> Bool? {
        if isDecimal(id), isDecimal(other) {
            let digits = id.drop { $0 == "0" }
            let otherDigits = other.drop { $0 == "0" }
            return digits.utf8.count == otherDigits.utf8.count
                ? digits > otherDigits : digits.utf8.count > otherDigits.utf8.count
        }
        if isULID(id), isULID(other) { return id > other }
        return nil
    }

    /// Whether ids of this form have an order, so that a server finds the place of an id in a feed
    /// even if the item itself is gone.
    ///
    /// Hashes have no order: a server that does not find the item sends nothing.
    static func isOrdered(_ id: String) -> Bool {
        isDecimal(id) || isULID(id) || isFlake(id)
    }

    /// Whether an item of a page that is sorted newest first has a newer id than the one before.
    static func contradictsOrder(_ ids: [String]) -> Bool {
        zip(ids, ids.dropFirst()).contains { id, nextID in isNewer(nextID, than: id) == true }
    }

    /// Whether each item of a page has a newer id than the one before, so that the page begins with
    /// the oldest item.
    static func isAscending(_ ids: [String]) -> Bool {
        guard ids.count > 1 else { return false }
        return zip(ids, ids.dropFirst()).allSatisfy { id, nextID in
            isNewer(nextID, than: id) == true
        }
    }

    static func isDecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy(\.isDigit)
    }

    static func isULID(_ text: String) -> Bool {
        text.utf8.count == lengthOfULID
            && text.utf8.allSatisfy { $0.isDigit || (0x41...0x5A).contains($0) }
    }

    static func isFlake(_ text: String) -> Bool {
        text.utf8.count == lengthOfFlake && text.utf8.allSatisfy(\.isLetterOrDigit)
    }
}

extension ObservedPost {
    /// Whether this is an open reply to another account's post whose identity is unknown.
    fileprivate var answersUnknownPost: Bool {
        guard let answered = post.replyTo, post.visibility.isOpen else { return false }
        return answered.post == nil && answered.author != post.author
    }
}
