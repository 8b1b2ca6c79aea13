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
        guard let index = MastodonEntities.index(ofAccount: call.segments[0], in: state.population) else {
            throw .notFound
        }
        let current = state
        let bounds = try bounds(call, standard: 20, maximum: 40)
        let page = WirePage(current.postsByAuthor[index], bounds: bounds) { id in
            guard let post = current.posts[id], current.canSee(post, as: call.caller) else { return false }
            return isWanted(post, call)
        }
        return statuses(page.ids, of: state, call, older: page.isFull ? page.ids.last : nil)
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
        let page = WirePage(kept, bounds: try bounds(call, standard: 20, maximum: 40))
        // As on the real server, the home offers an older page as long as this one is not empty.
        return statuses(page.ids, of: state, call, older: page.ids.last)
    }

    private static func statuses(
        _ ids: [Int64], of state: SandboxState, _ call: MastodonCall, older: Int64?
    ) -> WireAnswer {
        let entities = MastodonEntities(state: state, viewer: call.caller)
        return list(ids.compactMap(entities.status), call, older: older, newer: ids.first)
    }

    private static func favourites(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        let favorites = state.favorites[try call.account()] ?? []
        let page = WirePage(favorites.map(\.id), bounds: try bounds(call, standard: 20, maximum: 40))
        let entities = MastodonEntities(state: state, viewer: call.caller)
        let statuses = page.ids.compactMap { favorites.element(withID: $0, by: \.id) }
            .compactMap { entities.status($0.post) }
        return list(statuses, call, older: page.isFull ? page.ids.last : nil, newer: page.ids.first)
    }

    private static func notifications(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        let wanted = Set(call.parameters("types[]"))
        let unwanted = Set(call.parameters("exclude_types[]"))
        let account = call.parameter("account_id")
        let all = state.notifications[try call.account()] ?? []
        let chosen = all.filter { item in
            (wanted.isEmpty || wanted.contains(item.kind.rawValue)) && !unwanted.contains(item.kind.rawValue)
                && (account == nil || account == String(MastodonEntities.accountID(item.cause)))
        }
        let page = WirePage(chosen.map(\.id), bounds: try bounds(call, standard: 40, maximum: 80))
        let entities = MastodonEntities(state: state, viewer: call.caller)
        return list(
            page.ids.compactMap { chosen.element(withID: $0, by: \.id) }.map(entities.notification), call,
            older: page.isFull ? page.ids.last : nil, newer: page.ids.first)
    }

    private static func bounds(
        _ call: MastodonCall, standard: Int, maximum: Int
    ) throws(WireRefusal) -> WirePage.Bounds {
        var bounds = try WirePage.Bounds(call, standard: standard, maximum: maximum)
        if call.quirks.ignoresSinceID {
            bounds.since = nil
            bounds.newer = nil
        }
        return bounds
    }

    private static func list(_ items: [WireJSON], _ call: MastodonCall, older: Int64?, newer: Int64?) -> WireAnswer {
        var answer = WireAnswer.json(.array(call.quirks.repeatsItems ? items + items : items))
        answer.headers += call.links(older: older, newer: newer)
        return answer
    }
}
