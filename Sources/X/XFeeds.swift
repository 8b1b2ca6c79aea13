import Formats
package import Foundation
import Localization
package import Networks
import Posts
import Transport

/// Reading feeds.
extension XNetwork {
    /// The most items that X sends in one page.
    static let fullPage = 100
    /// The usual number of items of a first page.
    ///
    /// New items are few, and old ones are seldom needed when a feed is first read, so a small
    /// request reserves less of the budget.
    static let firstPage = 20
    /// The most pages that ``ownPosts(since:)`` reads.
    private static let maximumOwnPages = 200
    /// Seconds by which the clocks of this machine and the server may differ.
    private static let clockMargin: TimeInterval = 600
    /// The earliest time that X accepts: 2010-11-06T00:00:00Z.
    private static let earliest = Date(timeIntervalSince1970: 1_289_001_600)
    /// The length, in seconds, of the period before the newest known post that is read again,
    /// because posts do not always appear in the order of their ids.
    private static let overlap = 120
    /// The age of the newest known post, in seconds, from which on the period before it is not read
    /// again.
    private static let overlapAge: TimeInterval = 600

    package func page(_ feed: Feed, _ position: FeedPosition, size: Int?) async throws -> FeedPage {
        guard capabilities.feeds.contains(feed) else {
            throw notAllowed(
                feed.operation,
                localized("reading the home timeline is off; set X_HOME_POSTS_PER_DAY to allow it"))
        }
        switch (feed, position) {
        case (.favorites, .newest): return try await newestFavorites(size)
        case (.favorites, .older(let token)): return try await favorites(before: token, size)
        case (.favorites, .newer(let cursor)): return try await favorites(since: cursor, size)
        case (_, .newest): return try await newest(of: feed, size)
        case (_, .older(let cursor)): return try await page(of: feed, before: cursor, size)
        case (_, .newer(let cursor)): return try await arrivals(in: feed, since: cursor, size)
        }
    }

    // MARK: Feeds that are ordered by ids

    private func newest(of feed: Feed, _ size: Int?) async throws -> FeedPage {
        let list = try await list(feed, XBounds(), size: size ?? Self.firstPage).list
        var page = try await page(of: list, in: feed)
        page.older = list.nextToken == nil ? nil : XID.oldest(of: list.ids)
        page.newer = XID.newest(of: list.ids).map { Arrivals(newest: $0).text(separator: ";") }
        return page
    }

    private func page(of feed: Feed, before cursor: String, _ size: Int?) async throws -> FeedPage {
        guard XID.isUsable(cursor) else { throw unknownCursor(feed) }
        // Old mentions too are paid from the budget for new items, because they are answered
        // however late they are read.
        let purpose = feed == .mentions ? SpendingPurpose.feed(feed) : .past(feed)
        let list = try await list(
            feed, XBounds(until: cursor), size: size ?? Self.fullPage, for: purpose
        ).list
        var page = try await page(of: list, in: feed)
        page.older = list.nextToken == nil ? nil : XID.oldest(of: list.ids)
        return page
    }

    private func arrivals(in feed: Feed, since cursor: String, _ size: Int?) async throws
        -> FeedPage
    {
        guard let arrivals = Arrivals(cursor, separator: ";", where: XID.isUsable) else {
            throw unknownCursor(feed)
        }
        let lowerBound = arrivals.gap?.since ?? self.lowerBound(below: arrivals.newest)
        let (list, reachesLowerBound) = try await list(
            feed, XBounds(since: lowerBound, until: arrivals.gap?.until),
            size: size ?? (arrivals.gap == nil ? Self.firstPage : Self.fullPage))
        var nextCursor = Arrivals(
            newest: XID.newest(of: list.ids + [arrivals.newest]) ?? arrivals.newest)
        if !reachesLowerBound, list.nextToken != nil, let oldest = XID.oldest(of: list.ids) {
            nextCursor.gap = Arrivals.Gap(since: lowerBound, until: oldest)
        }
        var page = try await page(of: list, in: feed)
        let text = nextCursor.text(separator: ";")
        page.newer = text == cursor ? nil : text
        return page
    }

    /// Returns the id to read from: the newest known one, or one somewhat below it while posts with
    /// lower ids may still appear.
    private func lowerBound(below newest: String) -> String {
        guard let time = XID.time(of: newest),
            abs(client.now().timeIntervalSince(time)) < Self.overlapAge
        else {
            return newest
        }
        return XID.id(Self.overlap, secondsBefore: newest) ?? newest
    }

    // MARK: Own posts

    package func surveyStart(at address: String) -> FeedPosition {
        guard let number = XID.number(address), number < .max else { return .newest }
        return .older(String(number + 1))
    }

    package func surveyOwnPosts(_ position: FeedPosition) async throws -> FeedPage {
        var bounds = XBounds()
        switch position {
        case .newest: break
        case .older(let cursor), .newer(let cursor):
            guard XID.isUsable(cursor) else { throw unknownCursor(.ownPosts) }
            if case .older = position { bounds.until = cursor } else { bounds.since = cursor }
        }
        let list = try await list(.ownPosts, bounds, size: Self.fullPage, for: .originals).list
        var page = try await page(of: list, in: .ownPosts)
        page.older = list.nextToken == nil ? nil : XID.oldest(of: list.ids)
        return page
    }

    package func ownPosts(since: Date) async throws -> [ObservedPost] {
        let earliestTime = max(
            min(since, client.now()).addingTimeInterval(-Self.clockMargin), Self.earliest)
        var bounds = XBounds(start: earliestTime)
        var foundPosts: [ObservedPost] = []
        var tokens: Set<String> = []
        for _ in 0..<Self.maximumOwnPages {
            let list = try await list(.ownPosts, bounds, size: Self.firstPage).list
            let page = try await page(of: list, in: .ownPosts)
            guard page.unreadable.isEmpty, !list.hasProblems else {
                throw incomplete(localized("a post of the account cannot be read"))
            }
            let isTooOld = { (item: ObservedPost) in
                // An edited post is listed at the place of its last version, so its time does not
                // show how far the list reaches back.
                item.post.isTimeTrusted && item.post.createdAt < earliestTime
                    && item.address == item.post.id.value
            }
            foundPosts += page.items.filter { !isTooOld($0) }
            guard let token = list.nextToken, !page.items.contains(where: isTooOld) else {
                if list.isCutShort { break }
                return foundPosts.distinct
            }
            guard tokens.insert(token).inserted else { break }
            bounds.token = token
        }
        throw incomplete(localized("the pages do not reach back far enough"))
    }

    private func incomplete(_ cause: String) -> NetworkError {
        client.error(
            .readOwnPosts, .malformedResponse, outcome: .refused,
            detail: cause)
    }
}

/// Reading favorites, which are sorted by the time of the favorite and can only be read from the
/// newest one down.
extension XNetwork {
    /// The number of items of a request for new favorites.
    ///
    /// Each such request buys the newest favorites again, so it asks for few.
    private static let favoritesPage = 10

    func newestFavorites(_ size: Int?) async throws -> FeedPage {
        let list = try await list(
            .favorites, XBounds(), size: size ?? Self.firstPage, for: .past(.favorites)
        ).list
        var page = try await page(of: list, in: .favorites)
        page.older = list.nextToken
        page.newer =
            list.ids.isEmpty
            ? nil : XFavoriteCursor(known: []).updated(with: list.ids).joined(separator: ",")
        return page
    }

    func favorites(before token: String, _ size: Int?) async throws -> FeedPage {
        let list = try await list(
            .favorites, XBounds(token: token), size: size ?? Self.fullPage, for: .past(.favorites)
        ).list
        var page = try await page(of: list, in: .favorites)
        page.older = list.nextToken == token ? nil : list.nextToken
        return page
    }

    func favorites(since cursor: String, _ size: Int?) async throws -> FeedPage {
        guard var position = XFavoriteCursor(cursor) else { throw unknownCursor(.favorites) }
        var list: XList
        do {
            list = try await self.list(
                .favorites, XBounds(token: position.scan?.nextPage),
                size: size ?? (position.scan == nil ? Self.favoritesPage : Self.firstPage)
            ).list
        } catch let error as NetworkError where error.code == .rejected && position.scan != nil {
            // X no longer accepts the cursor of the next page, so the scan starts again from the
            // newest favorite.
            position.scan = nil
            list = try await self.list(.favorites, XBounds(), size: size ?? Self.firstPage).list
        }
        let newKnown = position.scan?.newKnown ?? position.updated(with: list.ids)
        var nextCursor = XFavoriteCursor(known: newKnown)
        if let reach = position.reach(in: list.entries.map(\.id)) {
            list.keep(first: reach)
        } else if let token = list.nextToken, token != position.scan?.nextPage {
            nextCursor = XFavoriteCursor(
                known: position.known,
                scan: XFavoriteCursor.Scan(newKnown: newKnown, nextPage: token))
        }
        list.remove(Set(position.known))
        var page = try await page(of: list, in: .favorites)
        page.newer = nextCursor.text == cursor ? nil : nextCursor.text
        return page
    }
}

/// The part of a feed to request.
struct XBounds {
    /// The id above which items are requested.
    var since: String?
    /// The id below which items are requested.
    var until: String?
    /// X's cursor of the page to request.
    var token: String?
    /// The earliest time of the requested items.
    var start: Date?

    var query: [(name: String, value: String)] {
        let start = start.map { String($0.rfc3339.prefix(19)) + "Z" }
        let parameters: [(name: String, value: String?)] = [
            ("pagination_token", token), ("since_id", since), ("start_time", start),
            ("until_id", until),
        ]
        return parameters.compactMap { pair in pair.value.map { (pair.name, $0) } }
    }
}

/// Requests for pages, each of which is paid for.
extension XNetwork {
    /// The most empty pages to skip: X may send a few before a full page, but hardly more.
    private static let maximumEmptyPages = 3
    /// The most pages of newer items that are skipped.
    ///
    /// A server that ignores `until_id` sends all newer items first. X keeps at most so many full
    /// pages.
    private static let maximumStrayPages = 32

    /// Returns the items within some bounds, from the first answer that has any.
    ///
    /// Only an answer without a further cursor is the end: X sends short and empty pages before it
    /// too.
    ///
    /// - Parameter purpose: The purpose whose budget pays for the request; `nil` for reading new
    ///   items.
    func list(
        _ feed: Feed, _ bounds: XBounds, size: Int, for purpose: SpendingPurpose? = nil
    ) async throws -> (list: XList, reachesLowerBound: Bool) {
        let purpose = purpose ?? .feed(feed)
        var bounds = bounds
        var list = try await answer(feed, bounds, size: size, for: purpose)
        var reachesLowerBound = list.keep(since: bounds.since, until: bounds.until)
        var emptyPages = list.received == 0 ? 1 : 0
        var strayPages = 0
        while list.entries.isEmpty, !reachesLowerBound, let token = list.nextToken {
            guard emptyPages < Self.maximumEmptyPages, strayPages < Self.maximumStrayPages,
                token != bounds.token
            else {
                list.cutShort()
                break
            }
            bounds.token = token
            var nextPage = try await answer(feed, bounds, size: size, for: purpose)
            if nextPage.received == 0 { emptyPages += 1 } else { strayPages += 1 }
            reachesLowerBound = nextPage.keep(since: bounds.since, until: bounds.until)
            list.append(nextPage)
        }
        return (list, reachesLowerBound)
    }

    /// Pays for one request, and returns its answer.
    private func answer(
        _ feed: Feed, _ bounds: XBounds, size: Int, for purpose: SpendingPurpose
    ) async throws -> XList {
        var call = try await call(for: feed)
        // The requested part of the feed identifies the read if its answer is lost.
        call.query = bounds.query
        let sizes = Self.sizes(
            from: feed == .home ? min(size, options.homePostsPerDay) : size, feed)
        let amounts = sizes.compactMap { price(ofReading: $0, from: feed) }
        return try await purse.pay(amounts, for: purpose, call) { index, time in
            var call = call
            let fields = XReader(feed).parameters(options.fieldNames)
            call.query = fields + [("max_results", String(sizes[index]))] + call.query
            let (answer, response) = try await client.answer(of: XPost.self, call)
            // An empty page is valid if X withholds its posts; with any other problem it is an
            // error.
            if answer.items.isEmpty, !answer.problems.allSatisfy(\.isAboutPost) {
                throw client.refuse(call, response, problems: answer.problems)
            }
            let isList = answer.hasData || answer.resultCount != nil || answer.nextToken != nil
            guard isList || !answer.problems.isEmpty else {
                throw client.malformed(
                    call, response, detail: localized("the answer is not a list"))
            }
            let bill = bill(of: answer, each: prices.post(in: feed, ownsApp: options.ownsApp))
            let rateLimit = XPacing(response.headers, receivedAt: client.now())
                .shortWindow.rateLimit
            return (
                XList(answer, body: response.body, rateLimit: rateLimit), memory.buy(bill, at: time)
            )
        }
    }

    /// Returns the numbers of items to try to pay for, the largest first; the first that the budget
    /// allows is requested.
    private static func sizes(from size: Int, _ feed: Feed) -> [Int] {
        halves(of: min(size, fullPage), downTo: smallestPage(of: feed))
    }

    /// The smallest page that X allows for a feed.
    package static func smallestPage(of feed: Feed) -> Int { feed == .home ? 1 : 5 }

    func page(of list: XList, in feed: Feed) async throws -> FeedPage {
        list.page(of: feed, with: translator(own: try await account(), users: list.users))
    }

    private func call(for feed: Feed) async throws -> NetworkCall {
        let user = ["2", "users", try await account().address]
        switch feed {
        case .ownPosts: return NetworkCall(operation: .readOwnPosts, path: user + ["tweets"])
        case .mentions: return NetworkCall(operation: .readMentions, path: user + ["mentions"])
        case .favorites:
            return NetworkCall(operation: .readFavorites, path: user + ["liked_tweets"])
        case .home:
            return NetworkCall(
                operation: .readHome, path: user + ["timelines", "reverse_chronological"])
        }
    }

    func unknownCursor(_ feed: Feed) -> NetworkError {
        client.error(
            feed.operation, .rejected, outcome: .notSent,
            detail: localized("the stored position is not one of X"))
    }
}

/// The position of a reader of new favorites.
///
/// X sorts favorites by the time at which they were given, but returns no such time, and cannot be
/// asked for the favorites since a point. So the feed is read from the newest favorite down until
/// it shows known ones. Several of these are remembered, because some may have been taken back.
struct XFavoriteCursor: Equatable {
    /// The most known favorites that are remembered.
    static let maximumKnown = 10

    /// A scan of the pages from the newest favorite down, which has not reached the known favorites
    /// yet.
    struct Scan: Equatable {
        /// The favorites that become the known ones once the scan has reached the present known
        /// ones.
        var newKnown: [String]
        /// X's token for the next page.
        var nextPage: String
    }

    /// The newest known favorites, newest first.
    var known: [String]
    var scan: Scan?

    init(known: [String], scan: Scan? = nil) {
        self.known = known
        self.scan = scan
    }

    /// Nil for a text that is not from ``text``.
    init?(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let lists = parts.prefix(2).map { $0.split(separator: ",").map(String.init) }
        guard let known = lists.first, !known.isEmpty, lists.joined().allSatisfy(XID.isUsable)
        else { return nil }
        switch parts.count {
        case 1: self.init(known: known)
        case 3:
            guard !lists[1].isEmpty, let token = parts[2].removingPercentEncoding, !token.isEmpty
            else { return nil }
            self.init(known: known, scan: Scan(newKnown: lists[1], nextPage: token))
        default: return nil
        }
    }

    var text: String {
        let lists = [known, scan?.newKnown].compactMap { $0?.joined(separator: ",") }
        let page = scan.map { PercentEncoding.encoded($0.nextPage) }
        return (lists + [page].compactMap(\.self)).joined(separator: ";")
    }

    /// Returns the known favorites after reading the newest ones, whose ids are `ids`.
    func updated(with ids: [String]) -> [String] {
        var included: Set<String> = []
        return Array(
            (ids + known).filter { included.insert($0).inserted }.prefix(Self.maximumKnown))
    }

    /// The number of items of a page, newest first, up to the last known one; nil if the page does
    /// not reach the known ones.
    ///
    /// One known favorite alone is not enough: it may have been given again, and then stands above
    /// unknown ones.
    func reach(in ids: [String?]) -> Int? {
        let knownIndices = ids.indices.filter { index in
            if let id = ids[index] { known.contains(id) } else { false }
        }
        let neededCount = min(2, known.count)
        guard knownIndices.count >= neededCount, let lastIndex = knownIndices.last else {
            return nil
        }
        return lastIndex + 1
    }
}

/// The items of a feed as X sent them, possibly in several answers.
struct XList {
    /// An item of a feed.
    struct Entry {
        let id: String?
        /// The post; nil for an unreadable item.
        let post: XPost?
        /// The index of the answer that has the item, and the item's index in that answer.
        fileprivate let source: (body: Int, index: Int)
    }

    private(set) var entries: [Entry] = []
    private(set) var users: [XUser] = []
    private(set) var rateLimit: RateLimit?
    /// The cursor to the next older page; nil at the end of the requested stretch.
    private(set) var nextToken: String?
    /// Whether the list ends although the server named a next page, because too many pages had no
    /// items.
    private(set) var isCutShort = false
    /// The posts that X reports as left out.
    private var withheldItems: [UnreadableItem] = []
    /// The answers as they came, for unreadable items.
    private var bodies: [[UInt8]] = []
    /// Whether X reports a problem with a requested post, or any problem other than a missing post.
    private(set) var hasProblems = false
    /// The number of items that X sent, including those that ``keep(since:until:)`` removed.
    private(set) var received = 0

    init(_ answer: XAnswer<XPost>, body: [UInt8], rateLimit: RateLimit?) {
        entries = answer.items.enumerated().map { index, item in
            Entry(id: item.id, post: item.value, source: (body: 0, index: index))
        }
        bodies = [body]
        users = answer.users.compactMap(\.value)
        nextToken = answer.nextToken
        withheldItems = answer.problems.filter(\.isAboutItem).map { problem in
            let identifyingText = [problem.kind, problem.resourceID, problem.detail]
                .map { $0 ?? "" }.joined(separator: " ")
            return UnreadableItem(
                address: problem.resourceID, digest: JSONBody.digest(identifyingText.utf8),
                cause: "X withholds it")
        }
        hasProblems = answer.problems.contains { !$0.isAboutPost || $0.isAboutItem }
        received = answer.items.count
        self.rateLimit = rateLimit
    }

    var ids: [String] { entries.compactMap(\.id).filter(XID.isUsable) }

    /// Removes items outside of the requested bounds, which a server sent nevertheless.
    ///
    /// - Parameters:
    ///   - since: The id above which items are wanted; nil for no lower bound.
    ///   - until: The id below which items are wanted; nil for no upper bound.
    /// - Returns: Whether there was an item at or below `since`, so that the list reaches it.
    mutating func keep(since: String?, until: String?) -> Bool {
        func isTooOld(_ id: String) -> Bool {
            if let since { !XID.isNewer(id, than: since) } else { false }
        }
        func isTooNew(_ id: String) -> Bool {
            if let until { !XID.isNewer(until, than: id) } else { false }
        }
        let reachesLowerBound = ids.contains(where: isTooOld)
        entries.removeAll { entry in
            guard let id = entry.id else { return false }
            return isTooOld(id) || isTooNew(id)
        }
        return reachesLowerBound
    }

    /// Keeps the first `count` items.
    mutating func keep(first count: Int) {
        entries.removeLast(max(0, entries.count - count))
    }

    /// Removes items by their ids.
    mutating func remove(_ ids: Set<String>) {
        entries.removeAll { entry in
            if let id = entry.id { ids.contains(id) } else { false }
        }
    }

    /// Ends the list although the server named a next page.
    mutating func cutShort() {
        nextToken = nil
        isCutShort = true
    }

    /// Adds the next page.
    mutating func append(_ next: XList) {
        let bodyCount = bodies.count
        entries += next.entries.map { entry in
            let source = (body: bodyCount + entry.source.body, index: entry.source.index)
            return Entry(id: entry.id, post: entry.post, source: source)
        }
        bodies += next.bodies
        users += next.users
        nextToken = next.nextToken
        withheldItems += next.withheldItems
        hasProblems = hasProblems || next.hasProblems
        received += next.received
        rateLimit = next.rateLimit ?? rateLimit
    }

    /// The page in the common model, without cursors.
    func page(of feed: Feed, with translator: XTranslator) -> FeedPage {
        var items: [ObservedPost] = []
        var unreadable = withheldItems
        var digests: [Int: [String]] = [:]
        for entry in entries {
            guard
                let post = entry.post.flatMap({ translator.post($0, in: feed, for: XReader(feed)) })
            else {
                let (body, index) = entry.source
                let bodyDigests = digests[body] ?? JSONBody.digests(of: bodies[body], under: "data")
                digests[body] = bodyDigests
                unreadable.append(
                    UnreadableItem(
                        address: entry.id.flatMap { XID.isUsable($0) ? $0 : nil },
                        digest: bodyDigests.indices.contains(index) ? bodyDigests[index] : "",
                        cause: entry.post == nil
                            ? "it is not as posts are" : "it has no text or no author"))
                continue
            }
            items.append(post)
        }
        return FeedPage(
            items: items.distinct, received: received, unreadable: unreadable, rateLimit: rateLimit)
    }
}
