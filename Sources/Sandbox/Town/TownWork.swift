import Foundation
import Posts

/// A request to one of the town's servers, with the person of its token.
struct TownCall: Sendable {
    let request: WireRequest
    /// The number of the requested server.
    let host: Int
    /// The parts of the path.
    let path: [Substring]
    let caller: TownPerson?

    init(_ request: WireRequest, host: Int, caller: TownPerson?) {
        self.request = request
        self.host = host
        self.caller = caller
        path = request.target.prefix { $0 != "?" }.split(separator: "/")
    }

    /// The method and the path of the request, without its first two segments and without numbers.
    var kind: String {
        let words = path.dropFirst(2).filter { $0.first?.isNumber == false }
        return request.method + " " + words.joined(separator: "/")
    }
}

/// The work on one request, with its household and its ledger entries.
struct TownWork {
    let call: TownCall
    let plan: TownPlan
    let now: Date
    var household: TownHousehold
    /// The ledger entries that this request adds.
    var ledger: TownLedger
    /// The time at which the bot's mentions were last read before this request.
    private(set) var polledBefore: Date?
    private(set) var isPoll = false

    init(call: TownCall, plan: TownPlan, now: Date, household: TownHousehold, ledger: TownLedger) {
        self.call = call
        self.plan = plan
        self.now = now
        self.household = household
        self.ledger = ledger
    }

    private var entities: TownEntities {
        TownEntities(plan: plan, household: household, viewer: call.caller?.part)
    }

    mutating func answer() -> WireAnswer {
        var answer: WireAnswer
        var used: Int?
        do throws(WireRefusal) {
            guard let agent = call.request.header("user-agent"), !agent.isEmpty else {
                throw WireRefusal(
                    status: 418, message: "I'm a teapot: no user-agent sent with request")
            }
            if let caller = call.caller {
                let count = household.countRequest(
                    by: caller.part, window: Int(now.timeIntervalSince1970 / 300))
                used = count
                guard count <= plan.requestsPerFiveMinutes else {
                    throw WireRefusal(status: 429, message: "Too many requests")
                }
                guard plan.host(of: caller.household) == call.host else {
                    throw WireRefusal(status: 401, message: "The access token is invalid")
                }
            }
            answer = try act()
        } catch {
            answer = .json(["error": .string(error.message)], status: error.status)
            if !error.isExpected {
                recordIncident(.refusal, "\(call.kind): \(error.status) \(error.message)")
            }
        }
        if let used {
            let reset = Date(
                timeIntervalSince1970: (now.timeIntervalSince1970 / 300).rounded(.down) * 300 + 300)
            answer.headers += [
                ("x-ratelimit-limit", String(plan.requestsPerFiveMinutes)),
                ("x-ratelimit-remaining", String(max(0, plan.requestsPerFiveMinutes - used))),
                ("x-ratelimit-reset", reset.rfc3339),
            ]
        }
        return answer
    }

    private mutating func recordIncident(_ kind: TownLedger.Incident.Kind, _ words: String) {
        ledger.incidents.append(
            .init(kind: kind, household: household.number, date: now, words: words))
    }

    private mutating func act() throws(WireRefusal) -> WireAnswer {
        let path = call.path.map(String.init)
        guard path.count >= 3, path[0] == "api" else { throw .notFound }
        if path[1] == "v2" {
            guard path.count == 3, path[2] == "instance" else { throw .notFound }
            return .json(instance)
        }
        guard path[1] == "v1" else { throw .notFound }
        switch (call.request.method, path[2], path.count) {
        case ("GET", "custom_emojis", 3): return .json([])
        case ("GET", "instance", 4) where path[3] == "rules": return .json([])
        case ("GET", "instance", 4) where path[3] == "extended_description":
            return .json(["updated_at": nil, "content": ""])
        case ("GET", "accounts", 4...5): return try readAccount(path)
        case ("PATCH", "accounts", 4) where path[3] == "update_credentials":
            return .json(entities.ownAccount(try caller().part))
        case ("GET", "apps", 4):
            return .json(["name": "town", "scopes": ["read", "write"]])
        case ("GET", "timelines", 4) where path[3] == "home": return try home()
        case ("GET", "favourites", 3): return try favorites()
        case ("GET", "notifications", 3): return try notifications()
        case ("POST", "statuses", 3): return try publish()
        case (_, "statuses", 4...5): return try status(path)
        default: throw .notFound
        }
    }

    private func caller() throws(WireRefusal) -> TownPerson {
        guard let caller = call.caller else {
            throw WireRefusal(status: 401, message: "This method requires an authenticated user")
        }
        return caller
    }

    private var instance: WireJSON {
        let domain = plan.domain(ofHost: call.host)
        return [
            "domain": .string(domain), "title": "Town", "version": "4.4.0",
            "source_url": "https://github.com/mastodon/mastodon",
            "description": "A server of the town.",
            "languages": ["en"],
            "configuration": [
                "statuses": [
                    "max_characters": 500, "max_media_attachments": 4,
                    "characters_reserved_per_url": 23,
                ], "accounts": ["max_profile_fields": 4],
            ],
            "api_versions": ["mastodon": 6],
        ]
    }

    // MARK: Reading

    private func readAccount(_ path: [String]) throws(WireRefusal) -> WireAnswer {
        if path.count == 4, path[3] == "verify_credentials" {
            return .json(entities.ownAccount(try caller().part))
        }
        guard let id = Int64(path[3]), let person = TownPerson(accountID: id, in: plan),
            person.household == household.number
        else {
            var refusal = WireRefusal.notFound
            refusal.isExpected = true
            throw refusal
        }
        if path.count == 4 { return .json(entities.account(person.part)) }
        guard path[4] == "statuses" else { throw .notFound }
        let entities = entities
        let leavesRepliesOut = parameter("exclude_replies") == "true"
        return try page(
            standard: 20, maximum: 40,
            where: { post in
                post.author == person.part && !(leavesRepliesOut && post.replyTo != 0)
            }, as: entities.status)
    }

    private func home() throws(WireRefusal) -> WireAnswer {
        let reader = try caller().part
        let entities = entities
        return try page(
            standard: 20, maximum: 40,
            where: { post in
                guard post.author != .stranger, post.replyTo == 0 else { return false }
                // Nobody follows bots, and bots follow the human besides the friends.
                return reader == .bot || post.author != .bot
            }, as: entities.status)
    }

    private mutating func notifications() throws(WireRefusal) -> WireAnswer {
        let reader = try caller().part
        if reader == .bot {
            polledBefore = household.lastPoll
            isPoll = true
            household.firstPoll = household.firstPoll ?? now
            household.lastPoll = now
        }
        let entities = entities
        return try page(
            standard: 40, maximum: 80, where: { $0.kind == .mention && $0.mentioned == reader },
            as: entities.notification)
    }

    private func favorites() throws(WireRefusal) -> WireAnswer {
        let reader = try caller().part
        let allFavorites = reader == .bot ? household.botFavorites : household.humanFavorites
        let page = WirePage(allFavorites, by: \.id, bounds: try bounds(standard: 20, maximum: 40))
        let posts = page.ids.compactMap { allFavorites.element(withID: $0, by: \.id) }.compactMap {
            household.post($0.post)
        }
        return list(posts.map(entities.status), on: page)
    }

    private func page(
        standard: Int, maximum: Int, where isWanted: (TownPost) -> Bool,
        as entity: (TownPost) -> WireJSON
    ) throws(WireRefusal) -> WireAnswer {
        let page = WirePage(
            household.posts, by: \.id, bounds: try bounds(standard: standard, maximum: maximum),
            isVisible: isWanted)
        return list(page.ids.compactMap { household.post($0) }.map(entity), on: page)
    }

    /// Returns a page with the links to the next and the previous page.
    private func list(_ items: [WireJSON], on page: WirePage) -> WireAnswer {
        var answer = WireAnswer.json(.array(items))
        let base =
            "http://\(call.request.header("host") ?? "127.0.0.1")\(call.request.target.prefix { $0 != "?" })"
        var links: [String] = []
        if page.isFull, let last = page.ids.last {
            links.append("<\(base)?max_id=\(last)>; rel=\"next\"")
        }
        if let first = page.ids.first { links.append("<\(base)?min_id=\(first)>; rel=\"prev\"") }
        if !links.isEmpty { answer.headers.append(("link", links.joined(separator: ", "))) }
        return answer
    }

    private func bounds(standard: Int, maximum: Int) throws(WireRefusal) -> WirePage.Bounds {
        func number(_ name: String) throws(WireRefusal) -> Int64? {
            guard let text = parameter(name) else { return nil }
            guard let number = Int64(text), number >= 0 else {
                throw WireRefusal(status: 400, message: "Bad Request: \(name) must be a number")
            }
            return number
        }
        let limit = try number("limit").map { Int(min($0, 1_000)) }
        return WirePage.Bounds(
            older: try number("max_id"), since: try number("since_id"), newer: try number("min_id"),
            limit: min(max(1, limit ?? standard), maximum))
    }

    private func parameter(_ name: String) -> String? {
        call.request.query.last { $0.name == name }?.value
    }

    /// Answers a request about one post: read, thread, favorite, deletion.
    private mutating func status(_ path: [String]) throws(WireRefusal) -> WireAnswer {
        guard let id = Int64(path[3]), let index = household.index(of: id) else {
            var refusal = WireRefusal.notFound
            refusal.isExpected = true
            throw refusal
        }
        let post = household.posts[index]
        switch (call.request.method, path.count == 5 ? path[4] : "") {
        case ("GET", ""): return .json(entities.status(post))
        case ("GET", "context"): return .json(context(of: post))
        case ("POST", "favourite"):
            try favorite(index)
            return .json(entities.status(household.posts[index]))
        case ("POST", "unfavourite"):
            household.posts[index].isFavoritedByBot = false
            household.botFavorites.removeAll { $0.post == id }
            return .json(entities.status(household.posts[index]))
        case ("DELETE", ""):
            guard post.author == (try caller().part) else { throw .notFound }
            let entity = entities.status(post)
            household.posts.remove(at: index)
            household.texts[id] = nil
            return .json(entity)
        case ("PUT", ""):
            guard post.author == (try caller().part) else { throw .notFound }
            household.texts[id] = call.request.members["status"]?.text ?? ""
            return .json(entities.status(household.posts[index]))
        default: throw .notFound
        }
    }

    private func context(of post: TownPost) -> WireJSON {
        var ancestors: [TownPost] = []
        var postAbove = household.post(post.replyTo)
        while let ancestor = postAbove {
            ancestors.insert(ancestor, at: 0)
            postAbove = ancestor.replyTo == 0 ? nil : household.post(ancestor.replyTo)
        }
        let answers = household.posts[household.posts.firstIndex(above: post.id, by: \.id)...]
            .filter {
                $0.replyTo == post.id
            }
        return [
            "ancestors": .array(ancestors.map(entities.status)),
            "descendants": .array(answers.map(entities.status)),
        ]
    }

    // MARK: Writing

    /// Fails unless the caller is a bot, because the human's login is read-only.
    private mutating func writer() throws(WireRefusal) {
        guard try caller().part == .bot else {
            throw WireRefusal(status: 403, message: "This action is outside the authorized scopes")
        }
    }

    private mutating func favorite(_ index: Int) throws(WireRefusal) {
        try writer()
        let post = household.posts[index]
        guard household.favorite(index, at: now) else {
            return recordIncident(.duplicate, "favorite of \(post.id) again")
        }
        ledger.favorites += 1
        if post.author == .human || post.author == .bot {
            recordIncident(.stranger, "favorite of a post of its own human")
        }
        if now.timeIntervalSince(post.date) > 6 * 3_600 + 300 {
            recordIncident(.stranger, "favorite of the old post \(post.id)")
        }
    }

    private mutating func publish() throws(WireRefusal) -> WireAnswer {
        try writer()
        let members = call.request.members
        guard let text = members["status"]?.text, text.contains(where: { !$0.isWhitespace }) else {
            throw .invalid("Text can't be blank")
        }
        guard text.count <= 500 else { throw .invalid("Text character limit of 500 exceeded") }
        let key = call.request.header("idempotency-key")
        if let earlierPost = key.flatMap({ household.post(ofKey: $0, at: now) }) {
            return .json(entities.status(earlierPost))
        }
        var parent: TownPost?
        if let parentID = members["in_reply_to_id"]?.text {
            guard let answered = Int64(parentID).flatMap({ household.post($0) }) else {
                throw .notFound
            }
            parent = answered
        }
        let post = TownPost(
            id: household.nextID(at: now), author: .bot, kind: .written, mentioned: parent?.author,
            seed: 0,
            replyTo: parent?.id ?? 0)
        judge(text, answering: parent)
        household.texts[post.id] = text
        household.insert(post)
        if let key { household.remember(key: key, of: post.id) }
        ledger.deliveries.append(
            .init(
                household: household.number, id: post.id,
                uri: plan.uri(of: post, in: household.number),
                date: now, replyTo: parent?.id))
        return .json(entities.status(post))
    }

    /// Records what is wrong with a new post of the bot.
    private mutating func judge(_ text: String, answering parent: TownPost?) {
        var hasher = Hasher()
        hasher.combine(text.trimmingCharacters(in: .whitespacesAndNewlines))
        hasher.combine(parent?.id)
        if !household.sentTexts.insert(hasher.finalize()).inserted {
            recordIncident(.duplicate, "the same text again: \(text)")
        }
        if let parent,
            household.posts.contains(where: { $0.author == .bot && $0.replyTo == parent.id })
        {
            recordIncident(.duplicate, "a second answer to \(parent.id)")
        }
        let namedPeople = entities.people(in: text)
        guard let parent else {
            if !namedPeople.isEmpty {
                recordIncident(
                    .stranger, "a post that answers nobody names \(plan.handle(of: namedPeople[0]))"
                )
            }
            return
        }
        let author = TownPerson(household.number, parent.author)
        for person in namedPeople where person != author {
            recordIncident(.stranger, "an answer names \(plan.handle(of: person))")
        }
        if parent.kind != .mention {
            return recordIncident(.stranger, "an answer to a post that does not mention the bot")
        }
        if parent.author == .stranger {
            recordIncident(.stranger, "an answer to somebody whom the human never answered")
        }
        let day = TownPlan.day(of: now) * 8 + Int(parent.author.rawValue)
        household.answers[day, default: 0] += 1
        if household.answers[day, default: 0] > 3 {
            recordIncident(.stranger, "a fourth answer to one person in a day")
        }
    }
}
