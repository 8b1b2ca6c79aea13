import Posts

/// Single posts: reading, publishing, deleting, favoriting.
enum MastodonStatuses {
    static let routes: [MastodonRoute] = [
        MastodonRoute(
            "POST", "/api/v1/statuses", .scope(["write:statuses"]),
            fields: ["status", "in_reply_to_id", "visibility", "language", "spoiler_text", "sensitive"],
            answer: publish),
        MastodonRoute("GET", "/api/v1/statuses/:id", .anybody, answer: read),
        MastodonRoute("GET", "/api/v1/statuses/:id/context", .anybody, answer: context),
        MastodonRoute("DELETE", "/api/v1/statuses/:id", .scope(["write:statuses"]), answer: delete),
        MastodonRoute(
            "POST", "/api/v1/statuses/:id/favourite", .scope(["write:favourites"]), answer: favorite),
        MastodonRoute(
            "POST", "/api/v1/statuses/:id/unfavourite", .scope(["write:favourites"]), answer: unfavorite),
    ]

    private static func read(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        status(try post(state, call), of: state, call)
    }

    private static func context(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        let found = try post(state, call)
        let current = state
        let entities = MastodonEntities(state: current, call)
        func visible(_ posts: [SandboxPost]) -> [WireJSON] {
            posts.filter { current.canSee($0, as: call.caller) }.map(entities.status)
        }
        let answers = visible(current.descendants(of: found)) + [entities.crowd(below: found)].compactMap(\.self)
        return .json(["ancestors": .array(visible(current.ancestors(of: found))), "descendants": .array(answers)])
    }

    private static func publish(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        let author = try call.account()
        let draft = try draft(state, call)
        return status(state.publish(draft, by: author, at: call.now), of: state, call)
    }

    private static func delete(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        let found = try post(state, call)
        guard found.author == (try call.account()) else { throw .notFound }
        let entity = MastodonEntities(state: state, call).status(found)
        state.delete(found.id)
        return .json(entity.adding(("text", .string(found.text))))
    }

    private static func favorite(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        let person = try call.account()
        let asked = try post(state, call)
        // A repost stands for what it repeats.
        let target = asked.repostOf ?? asked.id
        let isNew = state.addFavorite(by: person, of: target, at: call.now)
        state.recordFavorite(of: asked, by: person, isNew: isNew, from: .mastodon, at: call.now)
        return status(state.posts[target] ?? asked, of: state, call)
    }

    private static func unfavorite(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        let asked = try post(state, call)
        let target = asked.repostOf ?? asked.id
        state.removeFavorite(by: try call.account(), of: target)
        return status(state.posts[target] ?? asked, of: state, call)
    }

    private static func status(_ post: SandboxPost, of state: SandboxState, _ call: MastodonCall) -> WireAnswer {
        .json(MastodonEntities(state: state, call).status(post))
    }

    /// The post that the path names, if the caller may see it.
    private static func post(_ state: SandboxState, _ call: MastodonCall) throws(WireRefusal) -> SandboxPost {
        try post(try call.id(), state, call)
    }

    private static func post(
        _ id: Int64, _ state: SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> SandboxPost {
        guard let post = state.posts[id], state.canSee(post, as: call.caller) else {
            var refusal = WireRefusal.notFound
            refusal.isExpected = state.deleted.contains(id)
            throw refusal
        }
        return post
    }

    private static func draft(_ state: SandboxState, _ call: MastodonCall) throws(WireRefusal) -> SandboxState.Draft {
        let text = try call.fields.text("status") ?? ""
        let warning = try call.fields.text("spoiler_text") ?? ""
        guard text.contains(where: { !$0.isWhitespace }) else { throw .invalid("Text can't be blank") }
        let maximum = call.habits.maximumCharacters
        guard StatusText.length(of: text, perLink: call.habits.charactersPerLink) + warning.count <= maximum else {
            throw .invalid("Text character limit of \(maximum) exceeded")
        }
        return SandboxState.Draft(
            text: text, warning: warning, isSensitive: try call.fields.flag("sensitive") ?? false,
            visibility: try visibility(call), language: try language(call), replyTo: try replyTarget(state, call),
            idempotencyKey: call.request.header("idempotency-key"))
    }

    private static func visibility(_ call: MastodonCall) throws(WireRefusal) -> Visibility {
        guard let text = try call.fields.text("visibility") else { return call.habits.defaultVisibility }
        guard let visibility = Visibility(rawValue: text) else {
            throw .invalid("Visibility is not included in the list")
        }
        return visibility
    }

    /// Two or three letters, with subtags perhaps.
    private static func language(_ call: MastodonCall) throws(WireRefusal) -> String? {
        guard let text = try call.fields.text("language") else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isCode = (2...3).contains(parts[0].utf8.count) && parts[0].utf8.allSatisfy { (0x61...0x7A).contains($0) }
        guard isCode, parts.dropFirst().allSatisfy({ !$0.isEmpty && $0.utf8.count <= 8 && StatusText.isUserName($0) })
        else { throw .invalid("Language is not a language code") }
        return text
    }

    private static func replyTarget(_ state: SandboxState, _ call: MastodonCall) throws(WireRefusal) -> Int64? {
        guard let text = try call.fields.text("in_reply_to_id") else { return nil }
        do throws(WireRefusal) {
            guard let id = call.habits.ids.number(of: text) else { throw .notFound }
            return try post(id, state, call).id
        } catch {
            guard call.habits.publishesLostReplies else { throw error }
            return nil
        }
    }
}
