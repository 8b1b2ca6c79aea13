import Foundation
import Posts

/// The lists of the API: an account's posts, the home, the favorites, the notifications.
extension MastodonCall {
    /// The number of posts in a home timeline.
    static let homeLength = 800

    static let timelineRoutes: [MastodonRoute] = [
        MastodonRoute(
            "GET", "/api/v1/accounts/:id/statuses", .anybody(.ownPosts),
            parameters: WirePage.Bounds.parameters.union([
                "exclude_replies", "exclude_reblogs", "only_media", "pinned", "tagged",
            ]), answer: MastodonCall.accountStatuses),
        MastodonRoute(
            "GET", "/api/v1/timelines/home", .scope(["read:statuses"]),
            parameters: WirePage.Bounds.parameters,
            answer: MastodonCall.home),
        MastodonRoute(
            "GET", "/api/v1/timelines/public", .scope(["read:statuses"]),
            parameters: WirePage.Bounds.parameters,
            answer: MastodonCall.publicTimeline),
        MastodonRoute(
            "GET", "/api/v1/favourites", .scope(["read:favourites"]),
            parameters: WirePage.Bounds.parameters,
            answer: MastodonCall.favourites),
        MastodonRoute(
            "GET", "/api/v1/notifications", .scope(["read:notifications"]),
            parameters: WirePage.Bounds.parameters.union([
                "types[]", "exclude_types[]", "account_id", "include_filtered",
            ]), answer: MastodonCall.notifications),
    ]

    private func accountStatuses(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        guard
            let index = MastodonEntities.index(
                ofAccount: segments[0], in: state.population, habits: habits)
        else {
            throw .notFound
        }
        let current = state
        let bounds = try WirePage.Bounds(self, of: .ownPosts)
        let isShown = { (id: Int64) in
            guard let post = current.posts[id], current.canSee(post, as: caller) else {
                return false
            }
            return habits.listedVisibilities.contains(post.visibility) && isWanted(post)
        }
        let listedIDs = newest(current.postsByAuthor[index], in: .ownPosts)
        guard containsBounds(bounds, in: listedIDs.filter(isShown), of: .ownPosts) else {
            return emptyList()
        }
        var page = WirePage(listedIDs, bounds: bounds, isVisible: isShown)
        if habits.ordersOwnPostsByDate {
            page.sortByDate(listedIDs.filter(isShown), bounds: bounds) { id in
                current.posts[id].map(habits.date)
            }
        }
        return statuses(on: page, of: .ownPosts, in: state)
    }

    private func isWanted(_ post: SandboxPost) -> Bool {
        if flag("pinned") { return false }
        if flag("exclude_reblogs"), post.repostOf != nil { return false }
        if flag("exclude_replies"), post.replyTo != nil, post.replyToAuthor != post.author {
            return false
        }
        if flag("only_media"), post.attachment != .image { return false }
        if let tag = parameter("tagged") { return post.html.tags.contains(tag.lowercased()) }
        return true
    }

    private func home(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let reader = try account()
        let home = (state.homes[reader] ?? []).suffix(Self.homeLength)
        let listedIDs = newest(Array(home), in: .home)
        let bounds = try WirePage.Bounds(self, of: .home)
        guard containsBounds(bounds, in: listedIDs, of: .home) else { return emptyList() }
        return statuses(on: WirePage(listedIDs, bounds: bounds), of: .home, in: state)
    }

    /// The public timeline: all public posts, without reposts.
    private func publicTimeline(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let ids = state.posts.values.filter { $0.visibility == .public && $0.repostOf == nil }.map(
            \.id
        ).sorted()
        return statuses(
            on: WirePage(ids, bounds: try WirePage.Bounds(self, of: .home)), of: .home, in: state)
    }

    /// The newest entries of a list, as many as the server keeps.
    private func newest<Item>(_ ascending: [Item], in list: MastodonHabits.List) -> [Item] {
        habits.listsAtMost[list].map { Array(ascending.suffix($0)) } ?? ascending
    }

    /// Whether a list contains the items of its bounds, if the server requires that.
    private func containsBounds(
        _ bounds: WirePage.Bounds, in ids: [Int64], of list: MastodonHabits.List
    ) -> Bool {
        guard habits.needsBoundInList.contains(list) else { return true }
        return [bounds.older, bounds.newer].compactMap(\.self).allSatisfy(ids.contains)
    }

    private func emptyList() -> WireAnswer { .json(.array([])) }

    private func statuses(
        on page: WirePage, of list: MastodonHabits.List, in state: SandboxState
    ) -> WireAnswer {
        let entities = entities(state)
        return answer(page.ids.compactMap(entities.status), on: page, of: list)
    }

    private func favourites(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let id = habits.ordersFavoritesByPost ? \SandboxFavorite.post : \SandboxFavorite.id
        let ascendingItems = (state.favorites[try self.account()] ?? []).sorted {
            $0[keyPath: id] < $1[keyPath: id]
        }
        let favorites = newest(ascendingItems, in: .favorites)
        let page = WirePage(
            favorites, by: { $0[keyPath: id] }, bounds: try WirePage.Bounds(self, of: .favorites))
        let entities = entities(state)
        let statuses = page.ids.compactMap { favorites.element(withID: $0) { $0[keyPath: id] } }
            .compactMap { entities.status($0.post) }
        return answer(statuses, on: page, of: .favorites)
    }

    private func notifications(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let isFiltered = !habits.ignoresNotificationTypes
        let wantedTypes = Set(isFiltered ? parameters("types[]") : [])
        let unwantedTypes = Set(isFiltered ? parameters("exclude_types[]") : [])
        let account = parameter("account_id")
        let ascendingItems = newest(
            state.notifications[try self.account()] ?? [], in: .notifications)
        let bounds = try WirePage.Bounds(self, of: .notifications)
        let page = WirePage(ascendingItems, by: \.id, bounds: bounds) { item in
            habits.notificationDate(item.visibleFrom) <= now
                && (wantedTypes.isEmpty || wantedTypes.contains(item.kind.rawValue))
                && !unwantedTypes.contains(item.kind.rawValue)
                && (account == nil
                    || account == habits.ids.personText(of: MastodonEntities.accountID(item.cause)))
        }
        let entities = entities(state)
        return answer(
            page.ids.compactMap { ascendingItems.element(withID: $0, by: \.id) }.map(
                entities.notification),
            on: page, of: .notifications)
    }

    /// Returns a page with the links to the next and the previous page.
    private func answer(
        _ items: [WireJSON], on page: WirePage, of list: MastodonHabits.List
    ) -> WireAnswer {
        let isRepeated =
            habits.repeatsItems || (habits.repeatsShortHome && list == .home && !page.isFull)
        var answer = WireAnswer.json(.array(isRepeated ? items + items : items))
        // As on the real server, the home has an older page as long as this one is not empty.
        let hasNext = page.isFull || list == .home || habits.links(of: list) != .usual
        answer.headers += links(
            older: hasNext ? page.ids.last : nil, newer: page.ids.first, of: list)
        return answer
    }
}

/// One page of a list that is sorted by id, with bounds as on Mastodon.
struct WirePage: Sendable {
    /// The requested part of a list.
    struct Bounds: Sendable {
        var older: Int64?
        var since: Int64?
        var newer: Int64?
        var limit: Int

        static let parameters: Set<String> = ["max_id", "since_id", "min_id", "limit"]

        /// - Throws: 400 for an invalid limit or id.
        init(_ call: MastodonCall, of list: MastodonHabits.List) throws(WireRefusal) {
            let habits = call.habits
            older = try Self.id("max_id", call, of: list)
            since = try Self.id("since_id", call, of: list)
            newer = try Self.id("min_id", call, of: list)
            if habits.ignoresSinceID.contains(list) { since = nil }
            if habits.ignoresMinID.contains(list) { newer = nil }
            if habits.takesMinIDForSinceID.contains(list), let bound = newer {
                since = max(since ?? bound, bound)
                newer = nil
            }
            let size = habits.pageSizes[list] ?? Self.standardSize(of: list)
            let requestedLimit = try Self.limit(call)
            limit = habits.fixedPageSize ?? min(requestedLimit ?? size.standard, size.maximum)
        }

        private static func standardSize(of list: MastodonHabits.List) -> MastodonHabits.PageSize {
            list == .notifications
                ? .init(standard: 40, maximum: 80) : .init(standard: 20, maximum: 40)
        }

        private static func id(
            _ name: String, _ call: MastodonCall, of list: MastodonHabits.List
        ) throws(WireRefusal) -> Int64? {
            guard let text = call.parameter(name) else { return nil }
            guard let number = call.habits.ids(of: list).bound(of: text) else {
                throw WireRefusal(status: 400, message: "Bad Request: \(name) must be an id")
            }
            return number
        }

        private static func limit(_ call: MastodonCall) throws(WireRefusal) -> Int? {
            guard let text = call.parameter("limit") else { return nil }
            guard let number = Int(text), number > 0 else {
                throw WireRefusal(
                    status: 400, message: "Bad Request: limit must be a positive number")
            }
            return number
        }
    }

    /// The ids on the page, newest first.
    var ids: [Int64]
    /// Whether as many items were found as were requested.
    var isFull: Bool

    /// - Parameters:
    ///   - ascending: All ids of the list.
    ///   - bounds: `max_id` and `since_id` return the newest ids between them; `min_id` returns the
    ///     next ones above it.
    ///   - isVisible: Excludes ids as if they were not in the list.
    init(_ ascending: [Int64], bounds: Bounds, isVisible: (Int64) -> Bool = { _ in true }) {
        self.init(ascending, by: \.self, bounds: bounds, isVisible: isVisible)
    }

    /// Creates the page of a list of items with ids.
    init<Item>(
        _ ascending: [Item], by id: (Item) -> Int64, bounds: Bounds,
        isVisible: (Item) -> Bool = { _ in true }
    ) {
        let first = ascending.firstIndex(above: max(bounds.since ?? 0, bounds.newer ?? 0), by: id)
        let last =
            bounds.older.map { ascending.firstIndex(above: $0 - 1, by: id) } ?? ascending.count
        let range = first < last ? ascending[first..<last] : []
        if bounds.newer != nil {
            ids = Self.items(of: range, atMost: bounds.limit, where: isVisible).reversed().map(id)
        } else {
            ids = Self.items(of: range.reversed(), atMost: bounds.limit, where: isVisible).map(id)
        }
        isFull = ids.count >= bounds.limit
    }

    /// Replaces the page by one that is sorted by date, of the items between the bounds: with
    /// `min_id` the oldest ones.
    mutating func sortByDate(_ ids: [Int64], bounds: Bounds, by date: (Int64) -> Date?) {
        let floor = max(bounds.since ?? 0, bounds.newer ?? 0)
        let between = ids.filter { $0 > floor && $0 < bounds.older ?? .max }
            .sorted { (date($0) ?? .distantPast) > (date($1) ?? .distantPast) }
        self.ids = Array(
            bounds.newer == nil ? between.prefix(bounds.limit) : between.suffix(bounds.limit))
    }

    private static func items<Item>(
        of items: some Sequence<Item>, atMost limit: Int, where isVisible: (Item) -> Bool
    ) -> [Item] {
        var pageItems: [Item] = []
        for item in items {
            guard pageItems.count < limit else { break }
            if isVisible(item) { pageItems.append(item) }
        }
        return pageItems
    }
}

extension Array {
    /// The index of the first element whose id is greater than `bound`; the ids are sorted.
    func firstIndex(above bound: Int64, by id: (Element) -> Int64) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if id(self[middle]) > bound { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The element with the id; the ids ascend.
    func element(withID wantedID: Int64, by id: (Element) -> Int64) -> Element? {
        let index = firstIndex(above: wantedID, by: id) - 1
        return index >= 0 && id(self[index]) == wantedID ? self[index] : nil
    }
}

extension WirePage.Bounds {
    /// Creates bounds that were parsed elsewhere.
    init(older: Int64?, since: Int64?, newer: Int64?, limit: Int) {
        self.older = older
        self.since = since
        self.newer = newer
        self.limit = limit
    }
}
