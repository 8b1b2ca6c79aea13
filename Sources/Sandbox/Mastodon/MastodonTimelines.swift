import Posts

/// The lists of the API: an account's posts, the home, the favorites, the notifications.
enum MastodonTimelines {
    /// How far back a home reaches.
    static let homeLength = 800

    static let routes: [MastodonRoute] = [
        MastodonRoute(
            "GET", "/api/v1/accounts/:id/statuses", .anybody,
            parameters: WirePage.Bounds.parameters.union([
                "exclude_replies", "exclude_reblogs", "only_media", "pinned", "tagged",
            ]), answer: accountStatuses),
        MastodonRoute(
            "GET", "/api/v1/timelines/home", .scope(["read:statuses"]), parameters: WirePage.Bounds.parameters,
            answer: home),
        MastodonRoute(
            "GET", "/api/v1/favourites", .scope(["read:favourites"]), parameters: WirePage.Bounds.parameters,
            answer: favourites),
        MastodonRoute(
            "GET", "/api/v1/notifications", .scope(["read:notifications"]),
            parameters: WirePage.Bounds.parameters.union([
                "types[]", "exclude_types[]", "account_id", "include_filtered",
            ]), answer: notifications),
    ]

    private static func accountStatuses(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        guard let index = MastodonEntities.index(ofAccount: call.segments[0], in: state.population, call.habits) else {
            throw .notFound
        }
        let current = state
        let bounds = try WirePage.Bounds(call, of: .ownPosts)
        let page = WirePage(current.postsByAuthor[index], bounds: bounds) { id in
            guard let post = current.posts[id], current.canSee(post, as: call.caller) else { return false }
            return isWanted(post, call)
        }
        return statuses(page, .ownPosts, of: state, call)
    }

    private static func isWanted(_ post: SandboxPost, _ call: MastodonCall) -> Bool {
        if call.flag("pinned") { return false }
        if call.flag("exclude_reblogs"), post.repostOf != nil { return false }
        if call.flag("exclude_replies"), post.replyTo != nil, post.replyToAuthor != post.author { return false }
        if call.flag("only_media"), post.attachment != .image { return false }
        if let tag = call.parameter("tagged") { return post.html.tags.contains(tag.lowercased()) }
        return true
    }

    private static func home(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        let reader = try call.account()
        let kept = Array((state.homes[reader] ?? []).suffix(homeLength))
        return statuses(WirePage(kept, bounds: try WirePage.Bounds(call, of: .home)), .home, of: state, call)
    }

    private static func statuses(
        _ page: WirePage, _ list: MastodonHabits.List, of state: SandboxState, _ call: MastodonCall
    ) -> WireAnswer {
        let entities = MastodonEntities(state: state, call)
        return answer(page.ids.compactMap(entities.status), page, list, call)
    }

    private static func favourites(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        let favorites = state.favorites[try call.account()] ?? []
        let page = WirePage(favorites, by: \.id, bounds: try WirePage.Bounds(call, of: .favorites))
        let entities = MastodonEntities(state: state, call)
        let statuses = page.ids.compactMap { favorites.element(withID: $0, by: \.id) }
            .compactMap { entities.status($0.post) }
        return answer(statuses, page, .favorites, call)
    }

    private static func notifications(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        let isFiltered = !call.habits.ignoresNotificationTypes
        let wanted = Set(isFiltered ? call.parameters("types[]") : [])
        let unwanted = Set(isFiltered ? call.parameters("exclude_types[]") : [])
        let account = call.parameter("account_id")
        let all = state.notifications[try call.account()] ?? []
        let bounds = try WirePage.Bounds(call, of: .notifications)
        let page = WirePage(all, by: \.id, bounds: bounds) { item in
            item.visibleFrom <= call.now
                && (wanted.isEmpty || wanted.contains(item.kind.rawValue)) && !unwanted.contains(item.kind.rawValue)
                && (account == nil || account == call.habits.ids.text(of: MastodonEntities.accountID(item.cause)))
        }
        let entities = MastodonEntities(state: state, call)
        return answer(
            page.ids.compactMap { all.element(withID: $0, by: \.id) }.map(entities.notification), page,
            .notifications, call)
    }

    /// A page with what leads to its neighbours.
    private static func answer(
        _ items: [WireJSON], _ page: WirePage, _ list: MastodonHabits.List, _ call: MastodonCall
    ) -> WireAnswer {
        let habits = call.habits
        let isRepeated = habits.repeatsItems || (habits.repeatsShortHome && list == .home && !page.isFull)
        var answer = WireAnswer.json(.array(isRepeated ? items + items : items))
        // As on the real server, the home offers an older page as long as this one is not empty.
        let hasNext = page.isFull || list == .home || habits.links == .untilEmpty
        answer.headers += call.links(older: hasNext ? page.ids.last : nil, newer: page.ids.first)
        return answer
    }
}
