import Foundation
import NetworkNames
import Posts

/// Accounts, and the data of a token's account.
extension MastodonCall {
    static let accountRoutes: [MastodonRoute] = [
        MastodonRoute(
            "GET", "/api/v1/accounts/verify_credentials", .scope(["profile", "read:accounts"]),
            answer: MastodonCall.verifyCredentials),
        MastodonRoute(
            "GET", "/api/v1/accounts/lookup", .anybody(.name), parameters: ["acct"],
            answer: MastodonCall.lookUp),
        MastodonRoute(
            "GET", "/api/v1/accounts/:id", .anybody(.account), answer: MastodonCall.readAccount),
        MastodonRoute(
            "GET", "/api/v1/apps/verify_credentials", .scope([]), answer: MastodonCall.application),
        MastodonRoute(
            "PATCH", "/api/v1/accounts/update_credentials", .scope(["write:accounts"]),
            fields: MastodonCall.profileFields.union(["bot", "actor_type", "note"]),
            answer: MastodonCall.update),
    ]

    private func verifyCredentials(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        .json(entities(state).ownAccount(try account()))
    }

    private func lookUp(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        guard let name = parameter("acct"), !name.isEmpty else {
            throw WireRefusal(status: 400, message: "Bad Request: acct is missing")
        }
        guard let index = state.population.index(of: name.drop { $0 == "@" }) else {
            throw .notFound
        }
        return .json(try publicAccount(index, state))
    }

    private func readAccount(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        guard
            let index = MastodonEntities.index(
                ofAccount: segments[0], in: state.population, habits: habits)
        else {
            throw .notFound
        }
        return .json(try publicAccount(index, state))
    }

    /// Returns an account as everybody may see it.
    private func publicAccount(
        _ index: Int, _ state: SandboxState
    ) throws(WireRefusal) -> WireJSON {
        let account = entities(state).account(index)
        switch state.standing(of: index) {
        case .active, .deactivated: return account
        case .memorial: return account.adding(("memorial", true))
        case .suspended: return account.adding(("suspended", true))
        case .moved(let name):
            guard let successor = state.population.index(of: name) else { return account }
            return account.adding(("moved", entities(state).account(successor)))
        case .deleted:
            var refusal = WireRefusal.notFound
            refusal.isExpected = true
            throw refusal
        }
    }

    private func application(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        guard !habits.lacksApplicationOfToken else { throw .notThere }
        let redirects = application?.redirects ?? []
        let entity: WireJSON = [
            "id": "1", "name": .string(application?.name ?? ""), "website": nil,
            "redirect_uri": .string(redirects.joined(separator: "\n")),
            "redirect_uris": .array(redirects.map(WireJSON.string)),
        ]
        if habits.hidesApplicationScopes { return .json(entity) }
        return .json(entity.adding(("scopes", .array(scopes.sorted().map(WireJSON.string)))))
    }

    private static let profileRows = 4
    private static let bioLimit = 500
    private static let rowLimit = 255
    private static let profileFields = Set(
        (0...profileRows).flatMap {
            ["fields_attributes[\($0)][name]", "fields_attributes[\($0)][value]"]
        })

    /// Changes the account's note and profile fields.
    private func updateProfile(of person: Int, _ state: inout SandboxState) throws(WireRefusal) {
        var rows: [(name: String, value: String)] = []
        for index in 0...Self.profileRows {
            guard let name = try fields.text("fields_attributes[\(index)][name]") else { continue }
            rows.append((name, try fields.text("fields_attributes[\(index)][value]") ?? ""))
        }
        let note = try fields.text("note")
        guard note?.unicodeScalars.count ?? 0 <= Self.bioLimit else {
            throw .invalid("Note is too long")
        }
        guard rows.count <= Self.profileRows else { throw .invalid("Fields are too many") }
        guard rows.allSatisfy({ max($0.name.count, $0.value.count) <= Self.rowLimit }) else {
            throw .invalid("Fields are too long")
        }
        var profile = state.profiles[person] ?? (nil, [])
        if let note { profile.note = note }
        if !rows.isEmpty, !habits.dropsProfileFields { profile.fields = rows }
        state.profiles[person] = profile
    }

    /// Changes the automated flag and the profile of the account; Pleroma has its own parameter for
    /// the flag.
    private func update(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let person = try account()
        if let flag = try fields.flag("bot"), !habits.dropsBotMarks {
            state.botFlags[person] = flag
        }
        if habits.software == .pleroma, let type = try fields.text("actor_type") {
            guard ["Person", "Service"].contains(type) else {
                throw .invalid("actor_type is not known")
            }
            state.botFlags[person] = type == "Service"
        }
        if !habits.dropsProfiles { try updateProfile(of: person, &state) }
        return .json(entities(state).ownAccount(person))
    }
}

/// The endpoints with the server's description of itself.
extension MastodonCall {
    static let serverRoutes: [MastodonRoute] = [
        MastodonRoute("GET", "/api/v1/instance", .open, answer: MastodonCall.instanceV1),
        MastodonRoute("GET", "/api/v2/instance", .open, answer: MastodonCall.instanceV2),
        MastodonRoute("GET", "/api/v1/custom_emojis", .open, answer: MastodonCall.emoji),
        MastodonRoute("GET", "/api/v1/instance/rules", .open, answer: MastodonCall.rules),
        MastodonRoute(
            "GET", "/api/v1/instance/extended_description", .open, answer: MastodonCall.aboutPage),
    ]

    private var rules: WireJSON {
        .array(
            habits.rules.enumerated().map { index, text in
                ["id": .string("\(index + 1)"), "text": .string(text), "hint": ""]
            })
    }

    private func rules(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        guard !habits.lacksRules else { throw .notThere }
        return .json(rules)
    }

    private func aboutPage(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        guard let page = habits.aboutPage else { throw .notThere }
        return .json(["updated_at": "2026-01-01T00:00:00Z", "content": .string(page)])
    }

    /// The version in each program's form; some claim to be a Mastodon, so that apps work.
    static func version(_ software: MastodonHabits.Software) -> String {
        switch software {
        case .mastodon: "4.4.0"
        case .gotosocial: "0.20.0+git-57cb4fe"
        case .pleroma: "2.7.2 (compatible; Pleroma 2.9.1)"
        case .takahe: "takahe/0.11.0"
        case .snac: "4.0.0 (not true; really snac/2.94)"
        case .friendica: "2.8.0 (compatible; Friendica 2024.09-rc)"
        case .wordpress: "WordPress/6.1.9, EMA/1.6.1"
        }
    }

    private func source(_ software: MastodonHabits.Software) -> String {
        switch software {
        case .mastodon: "https://sandbox.example/source"
        case .gotosocial: "https://sandbox.example/superseriousbusiness/gotosocial"
        case .pleroma: "https://sandbox.example/pleroma/pleroma"
        case .takahe: "https://sandbox.example/jointakahe/takahe"
        case .snac: "https://sandbox.example/grunfink/snac2"
        case .friendica: "https://sandbox.example/friendica/friendica"
        case .wordpress: "https://sandbox.example/akirk/enable-mastodon-apps"
        }
    }

    private func limits(_ habits: MastodonHabits) -> WireJSON {
        var statuses: WireJSON = [
            "max_characters": .integer(habits.maximumCharacters), "max_media_attachments": 4,
        ]
        if let count = habits.advertisedCharactersPerLink {
            statuses = statuses.adding(("characters_reserved_per_url", .integer(count)))
        }
        return [
            "statuses": statuses, "accounts": ["max_featured_tags": 10, "max_pinned_statuses": 5],
            "polls": [
                "max_options": 4, "max_characters_per_option": 50, "min_expiration": 300,
                "max_expiration": 2_629_746,
            ],
        ]
    }

    private func emoji(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        .json(
            .array(
                habits.emoji.map { name in
                    let url = WireJSON.string("https://\(SamplePeople.host)/emoji/\(name).png")
                    return [
                        "shortcode": .string(name), "url": url, "static_url": url,
                        "visible_in_picker": true,
                        "category": "cats",
                    ]
                }))
    }

    private func instanceV1(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let entity: WireJSON = [
            "uri": .string(SamplePeople.host), "title": "Sandbox",
            "short_description": "A small network.",
            "description": "", "email": "admin@sandbox.example",
            "version": .string(Self.version(habits.software)),
            "urls": ["streaming_api": .string("wss://\(SamplePeople.host)")],
            "stats": [
                "user_count": .integer(state.people.count),
                "status_count": .integer(state.posts.count),
                "domain_count": 2,
            ],
            "thumbnail": nil, "languages": ["ja", "en"], "registrations": false,
            "approval_required": false,
            "invites_enabled": false, "contact_account": nil, "rules": rules,
        ]
        guard habits.software == .pleroma else {
            return .json(entity.adding(("configuration", limits(habits))))
        }
        return .json(
            entity.adding(
                ("max_toot_chars", .integer(habits.maximumCharacters)),
                ("pleroma", ["metadata": ["features": ["pleroma_api", "mastodon_api"]]])))
    }

    private func instanceV2(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        guard !habits.lacksInstanceV2 else { throw .notThere }
        let entity: WireJSON = [
            "domain": .string(SamplePeople.host), "title": "Sandbox",
            "version": .string(Self.version(habits.software)),
            "source_url": .string(source(habits.software)), "description": "A small network.",
            "usage": ["users": ["active_month": .integer(state.people.count)]],
            "thumbnail": ["url": "https://sandbox.example/thumbnail.png"],
            "languages": ["ja", "en"],
            "configuration": limits(habits).adding(
                ("urls", ["streaming": .string("wss://\(SamplePeople.host)")])),
            "registrations": ["enabled": false, "approval_required": false, "message": nil],
            "contact": ["email": "admin@sandbox.example", "account": nil], "rules": rules,
        ]
        switch habits.software {
        case .mastodon: return .json(entity.adding(("api_versions", ["mastodon": 6])))
        case .gotosocial:
            return .json(entity.adding(("account_domain", .string(SamplePeople.host))))
        case .pleroma, .takahe, .snac, .friendica, .wordpress: return .json(entity)
        }
    }
}

/// Single posts: reading, publishing, deleting, favoriting.
extension MastodonCall {
    static let statusRoutes: [MastodonRoute] = [
        MastodonRoute(
            "POST", "/api/v1/statuses", .scope(["write:statuses"]),
            fields: [
                "status", "in_reply_to_id", "visibility", "language", "spoiler_text", "sensitive",
                "media_ids",
                "quote_approval_policy", "content_type",
            ],
            alwaysAnswers404: true, answer: MastodonCall.publish),
        MastodonRoute(
            "GET", "/api/v1/statuses/:id", .anybody(.post), alwaysAnswers404: true,
            answer: MastodonCall.read),
        MastodonRoute(
            "GET", "/api/v2/search", .anybody(.search),
            parameters: ["q", "type", "resolve", "limit"],
            answer: MastodonCall.search),
        MastodonRoute(
            "GET", "/api/v1/statuses/:id/context", .anybody(.context), answer: MastodonCall.context),
        MastodonRoute(
            "DELETE", "/api/v1/statuses/:id", .scope(["write:statuses"]),
            answer: MastodonCall.delete),
        MastodonRoute(
            "PUT", "/api/v1/statuses/:id", .scope(["write:statuses"]),
            fields: [
                "status", "language", "spoiler_text", "sensitive", "content_type", "media_ids",
            ],
            alwaysAnswers404: true, answer: MastodonCall.edit),
        MastodonRoute(
            "POST", "/api/v1/statuses/:id/favourite", .scope(["write:favourites"]),
            answer: MastodonCall.favorite),
        MastodonRoute(
            "POST", "/api/v1/statuses/:id/unfavourite", .scope(["write:favourites"]),
            answer: MastodonCall.unfavorite),
    ]

    private func read(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        status(try post(state), of: state)
    }

    /// The post with the requested ActivityPub identity, if the caller may see it.
    private func search(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let searchText = request.query.first { $0.name == "q" }?.value ?? ""
        let currentState = state
        let entities = entities(currentState)
        let number =
            habits.searchesWordsOnly
            ? nil : searchText.split(separator: "/").last.flatMap { Int64($0) }
        let foundPosts = number.flatMap { currentState.posts[$0] }.map { [$0] } ?? []
        let statuses = foundPosts.filter {
            entities.uri(of: $0) == searchText && currentState.canSee($0, as: caller)
        }
        .map(entities.status)
        return .json(["accounts": .array([]), "statuses": .array(statuses), "hashtags": .array([])])
    }

    private func context(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let foundPost = try post(state)
        let currentState = state
        let entities = entities(currentState)
        func visible(_ posts: [SandboxPost]) -> [WireJSON] {
            posts.filter { currentState.canSee($0, as: caller) }.map(entities.status)
        }
        let size = habits.contextSize ?? .init(ancestors: .max, descendants: .max)
        let ancestors = visible(currentState.ancestors(of: foundPost)).suffix(size.ancestors)
        let answers =
            visible(currentState.descendants(of: foundPost))
            + [entities.crowd(below: foundPost)].compactMap(\.self)
        return .json([
            "ancestors": .array(Array(ancestors)),
            "descendants": .array(Array(answers.prefix(size.descendants))),
        ])
    }

    private func publish(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let author = try account()
        let draft = try draft(state)
        let published = state.publish(draft, by: author, at: now)
        guard habits.answersWithParentID, let parent = published.replyTo else {
            return status(published, of: state)
        }
        let id = WireJSON.string(habits.ids.text(of: parent))
        return .json(entities(state).status(published).replacing("id", with: id))
    }

    private func delete(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let foundPost = try post(state)
        guard foundPost.author == (try account()) else {
            let status = habits.foreignPostStatus
            throw WireRefusal(
                status: status,
                message: status == 401 ? "Not the author of this status" : "Record not found")
        }
        let isSecond = state.deleted.contains(foundPost.id)
        guard !isSecond || habits.secondDeletion == .repeated else {
            throw WireRefusal(status: 403, message: "Record not found")
        }
        let entity = entities(state).status(foundPost)
        if !isSecond, state.leaving[foundPost.id] == nil {
            state.recordRemoval(.post, of: foundPost.id, by: foundPost.author, at: now)
            if habits.deletionTakes > 0 {
                state.leaving[foundPost.id] = LeavingPost(
                    due: now + habits.deletionTakes, remainingReads: habits.looksBeforeDeletion)
            } else {
                Self.remove(foundPost, from: &state, habits, at: now)
            }
        }
        if habits.answersDeletionWithList { return .json([]) }
        return .json(entity.adding(("text", .string(foundPost.text))))
    }

    /// Deletes a post, and its answers if the server does that.
    private static func remove(
        _ post: SandboxPost, from state: inout SandboxState, _ habits: MastodonHabits, at now: Date
    ) {
        let removesAnswers: Bool
        switch habits.sweepsAnswers {
        case .none: removesAnswers = false
        case .ofThreads: removesAnswers = post.replyTo == nil
        case .all: removesAnswers = true
        }
        let answers = removesAnswers ? state.descendants(of: post) : []
        for removed in [post] + answers where !state.deleted.contains(removed.id) {
            state.delete(
                removed.id, staysVisible: habits.showsDeletedTo != .nobody,
                datedAt: habits.datesDeletions ? now : nil)
        }
    }

    /// Changes text, language and warning; the answered post and the visibility stay, except on
    /// some programs.
    private func edit(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let foundPost = try post(state)
        guard foundPost.author == (try account()) else { throw .notFound }
        let text = try wholeText()
        var changedPost = foundPost
        changedPost.language = try language() ?? foundPost.language
        if let warning = try fields.text("spoiler_text") { changedPost.warning = warning }
        if let isSensitive = try fields.flag("sensitive") { changedPost.isSensitive = isSensitive }
        if habits.editsNeedSensitive, !changedPost.isSensitive { changedPost.warning = "" }
        if !habits.warningsAreTitles, !changedPost.warning.isEmpty {
            changedPost.isSensitive = true
        }
        if habits.dropsDetails { dropDetails(of: &changedPost) }
        if habits.publishesEdits { changedPost.visibility = .public }
        if habits.editsDropMedia, try fields.texts("media_ids").isEmpty { changedPost.media = [] }
        state.replace(foundPost, by: changedPost, text: text, isDated: !habits.hidesEdits, at: now)
        state.recordEdit(of: foundPost.id, text: text, by: foundPost.author, at: now)
        return status(state.posts[foundPost.id] ?? foundPost, of: state)
    }

    /// Carries out the deletions that are due, and counts a request against the other pending ones.
    static func finishDeletions(
        in state: inout SandboxState, _ habits: MastodonHabits, at now: Date
    ) {
        for (id, leaving) in state.leaving {
            guard leaving.due <= now || leaving.remainingReads == 0 else {
                state.leaving[id]?.remainingReads -= 1
                continue
            }
            state.leaving[id] = nil
            if let post = state.posts[id] { remove(post, from: &state, habits, at: now) }
        }
    }

    private func dropDetails(of post: inout SandboxPost) {
        post.warning = ""
        post.isSensitive = false
        post.language = nil
    }

    private func favorite(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let person = try account()
        let requestedPost = try post(state)
        // A request about a repost means the original.
        let target = requestedPost.repostOf ?? requestedPost.id
        let isNew = state.addFavorite(by: person, of: target, at: now)
        state.recordFavorite(of: requestedPost, by: person, isNew: isNew, from: .mastodon, at: now)
        return status(state.posts[target] ?? requestedPost, of: state)
    }

    private func unfavorite(_ state: inout SandboxState) throws(WireRefusal) -> WireAnswer {
        let requestedPost = try post(state)
        let target = requestedPost.repostOf ?? requestedPost.id
        let person = try account()
        if state.removeFavorite(by: person, of: target) {
            state.recordRemoval(.favorite, of: target, by: person, at: now)
        }
        return status(state.posts[target] ?? requestedPost, of: state)
    }

    private func status(_ post: SandboxPost, of state: SandboxState) -> WireAnswer {
        .json(entities(state).status(post))
    }

    /// The post in the path, if the caller may see it.
    private func post(_ state: SandboxState) throws(WireRefusal) -> SandboxPost {
        try post(try id(), state)
    }

    private func post(
        _ id: Int64, _ state: SandboxState
    ) throws(WireRefusal) -> SandboxPost {
        guard let post = state.posts[id], isShown(post, state) else {
            var refusal = WireRefusal.notFound
            refusal.isExpected = state.deleted.contains(id)
            if habits.refusesHiddenPosts, caller == nil, state.posts[id] != nil {
                refusal = WireRefusal(status: 401, message: "token-required")
                refusal.isExpected = true
            }
            throw refusal
        }
        return post
    }

    private func isShown(_ post: SandboxPost, _ state: SandboxState) -> Bool {
        if state.deleted.contains(post.id), habits.showsDeletedTo == .author, caller != post.author
        {
            return false
        }
        return state.canSee(post, as: caller) || habits.showsHiddenPostsToAccounts && caller != nil
    }

    /// Returns the text to publish, neither empty nor too long.
    private func wholeText() throws(WireRefusal) -> String {
        let text = try fields.text("status") ?? ""
        let warning = try fields.text("spoiler_text") ?? ""
        guard text.contains(where: { !$0.isWhitespace }) else {
            throw .invalid("Text can't be blank")
        }
        let maximum = habits.maximumCharacters
        guard
            StatusText.length(of: text, perLink: habits.charactersPerLink) + warning.count
                <= maximum
        else {
            throw .invalid("Text character limit of \(maximum) exceeded")
        }
        return text
    }

    private func draft(_ state: SandboxState) throws(WireRefusal) -> SandboxState.Draft {
        var draft = SandboxState.Draft(
            text: try wholeText(), warning: try fields.text("spoiler_text") ?? "",
            isSensitive: try fields.flag("sensitive") ?? false,
            visibility: try visibility(), language: try language(), replyTo: try replyTarget(state),
            idempotencyKey: request.header("idempotency-key"))
        draft.notifiesParent = habits.namesParentAuthor || habits.numbersMentions
        draft.quoters = try quoters()
        if habits.dropsDetails {
            draft.warning = ""
            draft.isSensitive = false
            draft.language = nil
        }
        if habits.ignoresSensitive { draft.isSensitive = false }
        draft.warningsAreTitles = habits.warningsAreTitles
        if habits.showsDirectAsPrivate, draft.visibility == .private,
            let answered = draft.replyTo.flatMap({ state.posts[$0] }),
            answered.visibility == .direct
        {
            draft.visibility = .direct
        }
        let media = try attachments(state, of: try account())
        draft.media = media.map(\.id)
        draft.pictures = media.map { .init(id: String($0.id), alt: $0.alt) }
        return draft
    }

    private func quoters() throws(WireRefusal) -> String? {
        guard let text = try fields.text("quote_approval_policy") else { return nil }
        guard ["public", "followers", "nobody"].contains(text) else {
            throw .invalid("Quote approval policy is not included in the list")
        }
        return text
    }

    private func visibility() throws(WireRefusal) -> Visibility {
        guard let text = try fields.text("visibility") else { return habits.defaultVisibility }
        if habits.refusesDirectPosts, text == Visibility.direct.rawValue {
            guard try namesLocalPerson() else { throw Self.mentionNeeded }
            return .direct
        }
        if habits.losesVisibility, text != Visibility.public.rawValue { return .private }
        guard let visibility = Visibility(rawValue: text), visibility != .local else {
            throw .invalid("Visibility is not included in the list")
        }
        return visibility
    }

    private static let mentionNeeded = WireRefusal(
        status: 400, message: "No mentions found", isExpected: true)

    /// Whether the text names a person without a host.
    private func namesLocalPerson() throws(WireRefusal) -> Bool {
        StatusText.pieces(of: try fields.text("status") ?? "").contains { piece in
            if case .mention(_, nil) = piece { true } else { false }
        }
    }

    /// Returns the language: two or three letters, perhaps with subtags.
    private func language() throws(WireRefusal) -> String? {
        guard let text = try fields.text("language") else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let isCode =
            (2...3).contains(parts[0].utf8.count)
            && parts[0].utf8.allSatisfy { (0x61...0x7A).contains($0) }
        guard isCode,
            parts.dropFirst().allSatisfy({
                !$0.isEmpty && $0.utf8.count <= 8 && StatusText.isUserName($0)
            })
        else { throw .invalid("Language is not a language code") }
        return text
    }

    private func replyTarget(_ state: SandboxState) throws(WireRefusal) -> Int64? {
        guard let text = try fields.text("in_reply_to_id") else { return nil }
        do throws(WireRefusal) {
            guard let id = habits.ids.number(of: text) else { throw .notFound }
            return try post(id, state).id
        } catch {
            guard habits.publishesLostReplies else { throw error }
            return nil
        }
    }
}
