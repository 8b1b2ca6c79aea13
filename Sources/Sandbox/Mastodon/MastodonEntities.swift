import Foundation
import Posts

/// Accounts, statuses and notifications as Mastodon writes them.
struct MastodonEntities {
    let state: SandboxState
    /// The person who gets the answer, and whose favorites decide `favourited`.
    let viewer: Int?
    let habits: MastodonHabits
    /// The address at which the client reached the server.
    let base: String

    private static let epoch = Date(timeIntervalSince1970: 1_577_836_800)

    /// The server's id of a person.
    static func accountID(_ index: Int) -> Int64 { 109_300_000_000_000_000 + Int64(index) * 65_537 }

    /// Returns the index of the person with an account id; nil if there is none.
    static func index(
        ofAccount id: String, in population: SandboxPopulation, habits: MastodonHabits
    ) -> Int? {
        guard let number = habits.ids.number(of: id) else { return nil }
        return population.people.indices.first { accountID($0) == number }
    }

    private func text(_ id: Int64) -> WireJSON { .string(habits.ids.text(of: id)) }

    private func time(_ date: Date) -> WireJSON { time(date, precision: habits.times) }

    private func time(_ date: Date, precision: MastodonHabits.Times) -> WireJSON {
        switch precision {
        case .milliseconds: .string(date.rfc3339)
        case .zeros: .string(date.rfc3339.prefix(19) + ".000Z")
        case .seconds: .string(date.rfc3339.prefix(19) + "Z")
        }
    }

    private func accountText(_ index: Int) -> WireJSON {
        .string(habits.ids.personText(of: Self.accountID(index)))
    }

    private func name(_ person: SandboxPerson) -> WireJSON {
        .string(habits.namesPeopleInFull ? person.handle : person.localName)
    }

    func account(_ index: Int) -> WireJSON { account(index, name: name(state.people[index])) }

    private func account(_ index: Int, name: WireJSON) -> WireJSON {
        let person = state.people[index]
        let picture = "https://\(SamplePeople.host)/avatars/missing.png"
        let newest = state.postsByAuthor[index].last.flatMap { state.posts[$0] }
        return [
            "id": accountText(index), "username": .string(person.userName), "acct": name,
            "display_name": .string(person.displayName), "locked": false,
            "bot": .bool(state.botFlags[index] ?? person.isBot), "discoverable": true,
            "indexable": false,
            "group": false,
            "created_at": time(Self.epoch),
            "note": .string(StatusHTML(note(index), population: state.population).html),
            "url": .string(person.profileAddress), "uri": .string(person.uri),
            "avatar": .string(picture),
            "avatar_static": .string(picture), "header": .string(picture),
            "header_static": .string(picture),
            "followers_count": 12, "following_count": 34,
            "statuses_count": .integer(state.postsByAuthor[index].count),
            "last_status_at": .optional(newest.map { String($0.createdAt.rfc3339.prefix(10)) }),
            "noindex": false,
            "emojis": [], "roles": [], "fields": rows(of: index, asHTML: true),
        ]
    }

    private func note(_ index: Int) -> String {
        state.profiles[index]?.note ?? state.people[index].bio
    }

    /// The table of a profile; a page that links back counts as verified.
    private func rows(of index: Int, asHTML: Bool) -> WireJSON {
        .array(
            (state.profiles[index]?.fields ?? []).map { row in
                let owner = state.people.indices.first {
                    state.people[$0].profileAddress == row.value
                }
                let linksBack =
                    owner.map { note($0).contains(state.people[index].profileAddress) } ?? false
                return [
                    "name": .string(row.name),
                    "value": .string(
                        asHTML
                            ? StatusHTML(row.value, population: state.population).html : row.value),
                    "verified_at": .optional(linksBack ? Self.epoch.rfc3339 : nil),
                ]
            })
    }

    /// The account of the token, with the data that only its owner may see.
    func ownAccount(_ index: Int) -> WireJSON {
        let person = state.people[index]
        let shownAccount = account(index, name: .string(person.localName))
        if habits.hidesProfileSource { return shownAccount }
        return shownAccount.adding(
            (
                "source",
                [
                    "privacy": .string(habits.defaultVisibility.rawValue), "sensitive": false,
                    "language": nil,
                    "note": .string(note(index)),
                    "fields": rows(of: index, asHTML: false), "follow_requests_count": 0,
                ]
            ),
            (
                "role",
                [
                    "id": "-99", "name": "", "permissions": "65536", "color": "",
                    "highlighted": false,
                ]
            ))
    }

    func status(_ id: Int64) -> WireJSON? { state.posts[id].map(status) }

    func status(_ post: SandboxPost) -> WireJSON {
        let entity = flawlessStatus(post)
        return post.flaw?.broken(entity) ?? entity
    }

    /// Returns the generated answers to a post as elements of a list; nil if it has none.
    func crowd(below post: SandboxPost) -> WireJSON? {
        guard post.crowd > 0 else { return nil }
        var answer = post
        answer.id = post.id + 1
        answer.replyTo = post.id
        answer.replyToAuthor = post.author
        // So large that some thousands of them exceed the size that a client reads.
        answer.burden = .padding(bytes: 400)
        answer.mention = nil
        let names = (1...Int64(post.crowd)).lazy.map { habits.ids.text(of: post.id + $0) }
        return status(answer).repeated(habits.ids.text(of: answer.id), as: names)
    }

    private func flawlessStatus(_ post: SandboxPost) -> WireJSON {
        withAudienceFields(status: plainStatus(post), of: post)
    }

    /// The status with the fields that a program has for audiences other than Mastodon's.
    private func withAudienceFields(status: WireJSON, of post: SandboxPost) -> WireJSON {
        let fields = habits.restrictedAudiences.filter { $0.applies(to: post.text) }
            .map(\.field)
        var flags: [String: Bool] = [:]
        var texts: [String: String] = [:]
        var pleroma: [(String, WireJSON)] = []
        // GoToSocial has this field in every post, and Pleroma in posts that were made there.
        if habits.software == .gotosocial { flags["local_only"] = false }
        if habits.software == .pleroma {
            pleroma = [("local", true), ("expires_at", nil), ("thread_muted", false)]
        }
        for field in fields {
            switch field {
            case .flag(let name, let value): flags[name] = value
            case .text(let name, let value): texts[name] = value
            case .pleroma(let name, let value):
                pleroma.removeAll { $0.0 == name }
                pleroma.append((name, .string(value)))
            }
        }
        var status = status
        for (name, value) in flags.sorted(by: { $0.key < $1.key }) {
            status = status.adding((name, .bool(value)))
        }
        for (name, value) in texts.sorted(by: { $0.key < $1.key }) {
            let field = WireJSON.string(value)
            status =
                name == "visibility"
                ? status.replacing(name, with: field) : status.adding((name, field))
        }
        return pleroma.isEmpty ? status : status.adding(("pleroma", .object(pleroma)))
    }

    private func plainStatus(_ post: SandboxPost) -> WireJSON {
        let author = state.people[post.author]
        let original = post.repostOf.flatMap { state.posts[$0] }
        let content = original ?? post
        let entity: WireJSON = [
            "id": text(post.id), "created_at": time(habits.date(of: post)),
            "in_reply_to_id": parent(of: post).map(text) ?? .null,
            "in_reply_to_account_id": answeredAuthor(of: post).map(accountText) ?? .null,
            "sensitive": .bool(isSensitive(content)),
            "spoiler_text": .string(habits.dropsDetails ? "" : content.warning),
            "visibility": .string(visibility(of: post)),
            "language": language(of: content),
            "uri": .string(uri(of: post) + (original == nil ? "" : "/activity")),
            "url": .string(
                (original ?? post).pageAddress(
                    by: original.map { state.people[$0.author] } ?? author)),
            "replies_count": .integer(post.replies), "reblogs_count": 0,
            "favourites_count": .integer(post.favorites), "quotes_count": 0,
            "edited_at": content.editedAt.map(time) ?? .null,
            "favourited": .bool(viewer.map { state.isFavorited(content.id, by: $0) } ?? false),
            "reblogged": false,
            "muted": false, "bookmarked": false, "filtered": [],
            "content": .padded(html(of: content), bytes: content.padding),
            "reblog": original.map(status) ?? .null,
            "application": nil, "account": account(post.author),
            "media_attachments": .array(attachments(of: content)),
            "mentions": .array(mentions(in: content)),
            "tags": .array(habits.namesNobody ? [] : content.html.tags.map(tag)), "emojis": [],
            "card": nil,
            "poll": content.attachment == .poll ? poll(content) : .null,
        ]
        let withText = withSourceText(entity, of: content)
        let withRules = withPolicies(withText, of: content)
        return withAnsweredPost(withRules, of: post)
    }

    private func isSensitive(_ post: SandboxPost) -> Bool {
        if habits.dropsDetails { return false }
        // Where warnings are titles, so is the warning of a scripted post by a local person.
        let isTitle = habits.warningsAreTitles && post.number != nil && isLocal(post)
        return post.isSensitive && !isTitle
    }

    private func visibility(of post: SandboxPost) -> String {
        if habits.losesVisibility, post.visibility != .direct { return Visibility.public.rawValue }
        if habits.showsDirectAsPrivate, post.visibility == .direct {
            return Visibility.private.rawValue
        }
        return post.visibility.rawValue
    }

    private func language(of post: SandboxPost) -> WireJSON {
        switch habits.languages {
        case .told: .optional(post.language)
        case .missing: nil
        case .always(let language): .string(language)
        }
    }

    private func isLocal(_ post: SandboxPost) -> Bool {
        state.people[post.author].host == SamplePeople.host
    }

    /// The status with the field `text`, if the server has it.
    private func withSourceText(_ status: WireJSON, of post: SandboxPost) -> WireJSON {
        switch habits.sourceText {
        case .missing: status
        case .plain: status.adding(("text", isLocal(post) ? .string(post.text) : nil))
        case .html: status.adding(("text", .string(html(of: post))))
        }
    }

    /// The status with GoToSocial's rules for a post of its visibility.
    private func withPolicies(_ status: WireJSON, of post: SandboxPost) -> WireJSON {
        guard habits.tellsPolicies else { return status }
        func rule(_ names: [String]) -> WireJSON {
            let ownRule = viewer == nil ? [] : ["me"]
            let automatic = WireJSON.array((names + ownRule).map(WireJSON.string))
            return [
                "automatic_approval": automatic, "manual_approval": [], "always": automatic,
                "with_approval": [],
            ]
        }
        let names: [String]
        switch post.visibility {
        case .public, .unlisted, .local: names = ["public"]
        case .private: names = ["author", "followers", "mentioned"]
        case .direct: names = ["author", "mentioned"]
        }
        let reposters = post.visibility.isOpen ? names : ["author"]
        return status.adding(
            (
                "interaction_policy",
                [
                    "can_favourite": rule(names), "can_reply": rule(names),
                    "can_reblog": rule(reposters),
                ]
            ))
    }

    /// The status with the answered post, if the server includes it.
    private func withAnsweredPost(_ entity: WireJSON, of post: SandboxPost) -> WireJSON {
        guard habits.takesThreadAuthorForParents,
            let answered = post.replyTo.flatMap({ state.posts[$0] })
        else {
            return entity
        }
        return entity.adding(
            ("in_reply_to_status", ["id": text(answered.id), "account": account(answered.author)]))
    }

    /// Returns the person whom a post answers, according to the server.
    private func answeredAuthor(of post: SandboxPost) -> Int? {
        guard habits.takesThreadAuthorForParents, post.replyTo != nil else {
            return post.replyToAuthor
        }
        return state.ancestors(of: post).first?.author ?? post.replyToAuthor
    }

    private func mentions(in post: SandboxPost) -> [WireJSON] {
        if habits.namesNobody { return [] }
        var people = post.html.mentions
        // Programs with one of the next two habits add the answered author to a new reply, but not
        // to an edited one.
        let parent = isLocal(post) && post.editedAt == nil ? post.replyToAuthor : nil
        if habits.namesParentAuthor, let parent, !people.contains(parent) { people.append(parent) }
        if habits.numbersMentions, let parent { people.insert(parent, at: 0) }
        if habits.takesThreadAuthorForParents, let first = answeredAuthor(of: post),
            !people.contains(first)
        {
            people.insert(first, at: 0)
        }
        if habits.omitsViewerFromMentions { people.removeAll { $0 == viewer } }
        guard habits.numbersMentions else { return people.map(mention) }
        return people.enumerated().map { number, person in
            mention(person).replacing("id", with: .string(String(number)))
        }
    }

    func notification(_ notification: SandboxNotification) -> WireJSON {
        let entity: WireJSON = [
            "id": .string(habits.ids(of: .notifications).text(of: notification.id)),
            "type": .string(notification.kind.rawValue),
            "created_at": time(
                habits.notificationDate(notification.createdAt),
                precision: habits.notificationTimes ?? habits.times),
            "group_key": .string("ungrouped-\(notification.id)"),
            "account": account(notification.cause),
        ]
        guard let post = notification.post.flatMap({ state.posts[$0] }) else { return entity }
        let entityWithStatus = entity.adding(("status", status(post)))
        // A notification without a post still has an author.
        guard let flaw = post.flaw, flaw != .null else { return entityWithStatus }
        return flaw.broken(entityWithStatus)
    }

    /// The id of the answered post; Mastodon removes it when that post is deleted.
    private func parent(of post: SandboxPost) -> Int64? {
        post.replyTo.flatMap { habits.keepsLostParents || state.posts[$0] != nil ? $0 : nil }
    }

    private func html(of post: SandboxPost) -> String {
        guard habits.rewritesTexts, isLocal(post) else { return post.html.html }
        switch habits.dialect {
        case .snac, .markdown:
            return RewrittenHTML(post.text, as: habits.dialect, population: state.population).html
        case .blocks:
            // An answer is a comment, whose text stays unchanged.
            return post.replyTo == nil ? BlockHTML(post.text).html : StatusHTML.escaped(post.text)
        }
    }

    func uri(of post: SandboxPost) -> String {
        state.people[post.author].uri + "/statuses/\(post.id)"
    }

    private func mention(_ index: Int) -> WireJSON {
        let person = state.people[index]
        return [
            "id": accountText(index), "username": .string(person.userName),
            "url": .string(person.profileAddress), "acct": name(person),
        ]
    }

    private func tag(_ name: String) -> WireJSON {
        ["name": .string(name), "url": .string("https://\(SamplePeople.host)/tags/\(name)")]
    }

    private func image(_ post: SandboxPost) -> WireJSON {
        attachment(post.id, address: "\(base)/media/\(post.id).png", alt: "a photograph")
    }

    private func attachments(of post: SandboxPost) -> [WireJSON] {
        if post.attachment == .image { return [image(post)] }
        return post.media.compactMap { state.media[$0] }.map { media($0, isReady: true) }
    }

    /// An uploaded file, which has no address until the server has processed it.
    func media(_ media: SandboxMedia, isReady: Bool) -> WireJSON {
        let address = "\(base)/media/\(media.id)." + (media.type.split(separator: "/").last ?? "")
        return attachment(media.id, address: isReady ? address : nil, alt: media.alt)
    }

    private func attachment(_ id: Int64, address: String?, alt: String) -> WireJSON {
        [
            "id": text(id), "type": "image", "url": .optional(address),
            "preview_url": .optional(address),
            "remote_url": nil, "meta": ["original": ["width": 640, "height": 480]],
            "description": alt.isEmpty ? nil : .string(alt), "blurhash": nil,
        ]
    }

    private func poll(_ post: SandboxPost) -> WireJSON {
        let choices: [WireJSON] = [
            ["title": "yes", "votes_count": 3], ["title": "no", "votes_count": 2],
        ]
        return [
            "id": text(post.id), "expires_at": time(post.createdAt.addingTimeInterval(86_400)),
            "expired": false,
            "multiple": false, "votes_count": 5, "voters_count": 5, "options": .array(choices),
            "emojis": [],
        ]
    }
}

extension SandboxPost {
    fileprivate func pageAddress(by author: SandboxPerson) -> String {
        author.profileAddress + "/\(repostOf ?? id)"
    }
}

/// Refusals in the form of each server.
extension WireRefusal {
    /// Returns the answer that reports the refusal.
    func answer(_ habits: MastodonHabits) -> WireAnswer {
        var answer: WireAnswer
        if let details {
            // Errors of logins have the same form everywhere (RFC 6749, section 5.2).
            answer = .json(
                ["error": .string(message), "error_description": .string(details)], status: status)
        } else {
            let specificForm: MastodonHabits.ErrorForm?
            switch tokenFault {
            case .missing: specificForm = habits.missingTokenForm ?? habits.badTokenForm
            case .bad, .badLogin: specificForm = habits.badTokenForm
            case nil: specificForm = status == 404 ? habits.missingForm : nil
            }
            let form = specificForm ?? habits.errorForm
            answer = Self.written(text(habits.software), as: form, status: status(habits))
        }
        answer.headers += headers
        return answer
    }

    /// The status with which the server refuses.
    private func status(_ habits: MastodonHabits) -> Int {
        switch tokenFault {
        case .missing: return habits.missingTokenStatus ?? habits.badTokenStatus
        case .bad: return habits.badTokenStatus
        case .badLogin: return habits.badLoginStatus ?? habits.badTokenStatus
        case nil: return status == 422 ? habits.validationStatus : status
        }
    }

    private static func written(_ text: String, as form: MastodonHabits.ErrorForm, status: Int)
        -> WireAnswer
    {
        switch form {
        case .json: .json(["error": .string(text)], status: status)
        case .plainText:
            .text(text, type: "text/plain; charset=utf-8", status: status)
        case .html: .page(title: "Error \(status)", paragraph: text, status: status)
        case .empty: WireAnswer(status: status)
        }
    }

    /// The message in the words of the server's program.
    private func text(_ software: MastodonHabits.Software) -> String {
        switch (software, status) {
        case (.takahe, 401) where tokenFault == .missing: "identity_token_required"
        case (.friendica, 401...403) where message != "Record not found":
            "Token is not authorized with a valid user or is missing a required scope"
        case (.wordpress, 401) where tokenFault != nil: "token-required"
        case (.wordpress, 401) where message.contains("scope"): "insufficient-permissions"
        case (.wordpress, 404): "record-not-found"
        case (.gotosocial, 404) where message == "Not Found": "Not Found"
        case (.gotosocial, 401): "Unauthorized: token not supplied"
        case (.gotosocial, 403) where message.contains("scope"):
            "Forbidden: token has insufficient scope permission"
        case (.gotosocial, 404): "Not Found: target status not found"
        case (.gotosocial, 422):
            "Bad Request: " + message.replacing("Validation failed: ", with: "").lowercased()
        case (.gotosocial, 429) where headers.isEmpty: "rate limit reached"
        case (.pleroma, 401): "Invalid credentials."
        case (.pleroma, 403): "Insufficient permissions: \(message)."
        case (.pleroma, 429) where headers.isEmpty: "Throttled"
        case (.takahe, 401) where tokenFault != nil: "Invalid Bearer token"
        case (.takahe, 403): "out_of_scope_for_token"
        default: message
        }
    }
}

/// Pages for a person's browser.
extension WireAnswer {
    static func page(title: String, paragraph: String, status: Int = 200) -> WireAnswer {
        page(title: title, body: "<p>\(StatusHTML.escaped(paragraph))</p>", status: status)
    }

    /// A page whose `body` is already HTML.
    static func page(title: String, body: String, status: Int) -> WireAnswer {
        let page = """
            <!DOCTYPE html><html lang="en"><head><title>\(StatusHTML.escaped(title))</title></head>
            <body><h1>\(StatusHTML.escaped(title))</h1>\(body)</body></html>
            """
        return .text(page, status: status)
    }
}
