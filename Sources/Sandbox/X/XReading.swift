import Foundation
import Posts

/// People, lists of posts, and single posts.
extension XWire {
    /// The number of posts in each list.
    private enum Depth {
        static let posts = 3_200
        static let postsWithoutReplies = 800
        static let mentions = 800
        static let home = 3_200
        static let homeAge = 7 * 86_400.0
    }

    mutating func user(
        _ person: Int, _ state: inout SandboxState, _ call: XCall
    ) -> WireAnswer {
        state.ledger.spentMicrodollars += billing.read(posts: [], users: [person], price: 0)
        let objects = XObjects(state, call)
        return .json(["data": objects.user(person)])
    }

    mutating func userByName(_ state: inout SandboxState, _ call: XCall) throws(XRefusal)
        -> WireAnswer
    {
        let name = call.segments[0]
        guard name.utf8.count <= 15, StatusText.isUserName(name) else {
            throw .invalid(
                "username", name, "The `username` query parameter value is not a user name")
        }
        guard let person = call.directory.person(handle: name) else {
            return try missing("user", name, parameter: "username", call, isExpected: false)
        }
        return user(person, &state, call)
    }

    mutating func userPosts(_ state: inout SandboxState, _ call: XCall) throws(XRefusal)
        -> WireAnswer
    {
        let excluded = try call.exclusions()
        guard let person = call.directory.person(id: String(try call.id())) else {
            return try missing("user", call.segments[0], parameter: "id", call, isExpected: false)
        }
        let depth = excluded.contains("replies") ? Depth.postsWithoutReplies : Depth.posts
        let page = try page(of: state.postsByAuthor[person], depth: depth, state, call) {
            Self.isLeftOut($0, excluding: excluded)
        }
        return list(page, &state, call, owner: person)
    }

    mutating func mentions(_ state: inout SandboxState, _ call: XCall) throws(XRefusal)
        -> WireAnswer
    {
        guard let person = call.directory.person(id: String(try call.id())) else {
            return try missing("user", call.segments[0], parameter: "id", call, isExpected: false)
        }
        let page = try page(of: state.mentions(of: person), depth: Depth.mentions, state, call)
        return list(page, &state, call, owner: person)
    }

    mutating func home(_ state: inout SandboxState, _ call: XCall) throws(XRefusal) -> WireAnswer {
        let excluded = try call.exclusions()
        guard call.directory.person(id: String(try call.id())) == call.caller else {
            throw .problem(
                403, "Forbidden", "The id must be that of the authenticating user.",
                type: "not-authorized-for-resource"
            )
        }
        let page = try page(
            of: state.homes[call.caller] ?? [], depth: Depth.home, oldest: call.now - Depth.homeAge,
            state, call
        ) { Self.isLeftOut($0, excluding: excluded) }
        return list(page, &state, call, owner: nil)
    }

    mutating func favorites(_ state: inout SandboxState, _ call: XCall) throws(XRefusal)
        -> WireAnswer
    {
        guard let person = call.directory.person(id: String(try call.id())) else {
            return try missing("user", call.segments[0], parameter: "id", call, isExpected: false)
        }
        let favorites = state.favorites[person] ?? []
        let objects = XObjects(state, call)
        let page = try XPage(
            of: favorites.map(\.id), depth: .max, for: call
        ) { cursor in
            favorites.element(withID: cursor, by: \.id).flatMap { objects.visible($0.post) }
        }
        return list(page, &state, call, owner: person)
    }

    mutating func posts(_ state: inout SandboxState, _ call: XCall) throws(XRefusal) -> WireAnswer {
        let text = call.parameters["ids"] ?? ""
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard (1...100).contains(names.count) else {
            throw .invalid(
                "ids", text,
                "The number of values in the `ids` query parameter is not between 1 and 100")
        }
        let objects = XObjects(state, call)
        var foundPosts: [SandboxPost] = []
        var errors: [WireJSON] = []
        for name in names {
            let id = try XCall.id(name, as: "ids")
            if let post = objects.visible(id) {
                if !foundPosts.contains(where: { $0.id == id }) { foundPosts.append(post) }
            } else {
                errors.append(XIncludes.missing("tweet", name, parameter: "ids"))
            }
        }
        return answer(
            objects, foundPosts, errors: errors, meta: nil, price: XBilling.Price.postRead, &state)
    }

    mutating func post(_ state: inout SandboxState, _ call: XCall) throws(XRefusal) -> WireAnswer {
        let id = try call.id()
        let objects = XObjects(state, call)
        guard let post = objects.visible(id) else {
            return try missing(
                "tweet", call.segments[0], parameter: "id", call,
                isExpected: state.deleted.contains(id))
        }
        let includes = XIncludes([post], objects)
        bill([post], includes, price: XBilling.Price.postRead, &state, call.habits)
        return .json(
            .object(
                Self.members(
                    data: objects.post(post), includes, objects, errors: includes.errors, meta: nil)
            ))
    }
}

/// Assembling and billing answers.
extension XWire {
    private func page(
        of ids: [Int64], depth: Int, oldest: Date? = nil, _ state: SandboxState, _ call: XCall,
        isLeftOut: (SandboxPost) -> Bool = { _ in false }
    ) throws(XRefusal) -> XPage {
        return try XPage(
            of: ids, depth: depth, oldest: oldest, for: call, isLeftOut: isLeftOut,
            post: XObjects(state, call).visible)
    }

    private static func isLeftOut(_ post: SandboxPost, excluding excluded: Set<String>) -> Bool {
        (excluded.contains("retweets") && post.repostOf != nil)
            || (excluded.contains("replies") && post.replyTo != nil)
    }

    /// The answer with a page of the list of `owner`, which is nil if the price of owned reads
    /// never applies.
    private mutating func list(
        _ page: XPage, _ state: inout SandboxState, _ call: XCall, owner: Int?
    ) -> WireAnswer {
        let objects = XObjects(state, call)
        var meta: [(String, WireJSON)] = [("result_count", .integer(page.posts.count))]
        if call.endpoint != .favorites, let newest = page.posts.first, let oldest = page.posts.last
        {
            meta += [
                ("newest_id", .string(String(newest.id))),
                ("oldest_id", .string(String(oldest.id))),
            ]
        }
        if let next = page.next { meta.append(("next_token", .string(next))) }
        if let previous = page.previous { meta.append(("previous_token", .string(previous))) }
        let price = Self.price(call, owner: owner)
        return answer(objects, page.posts, errors: [], meta: .object(meta), price: price, &state)
    }

    private static func price(_ call: XCall, owner: Int?) -> Int {
        if let owner, owner == call.caller, owner == call.habits.appOwner?.person,
            call.endpoint.mayBeOwned
        {
            return XBilling.Price.ownedRead
        }
        return call.endpoint == .favorites ? XBilling.Price.favoriteRead : XBilling.Price.postRead
    }

    private mutating func answer(
        _ objects: XObjects, _ posts: [SandboxPost], errors: [WireJSON], meta: WireJSON?,
        price: Int,
        _ state: inout SandboxState
    ) -> WireAnswer {
        let includes = XIncludes(posts, objects)
        bill(posts, includes, price: price, &state, objects.habits)
        var data: WireJSON?
        if !posts.isEmpty || objects.habits.sendsEmptyData {
            data = .array(posts.map(objects.post))
        }
        return .json(
            .object(
                Self.members(
                    data: data, includes, objects, errors: errors + includes.errors, meta: meta)))
    }

    private static func members(
        data: WireJSON?, _ includes: XIncludes, _ objects: XObjects, errors: [WireJSON],
        meta: WireJSON?
    ) -> [(String, WireJSON)] {
        let members = [
            ("data", data), ("includes", includes.object(objects)),
            ("errors", errors.isEmpty ? nil : .array(errors)),
            ("meta", meta),
        ]
        return members.compactMap { name, value in value.map { (name, $0) } }
    }

    private mutating func bill(
        _ posts: [SandboxPost], _ includes: XIncludes, price: Int, _ state: inout SandboxState,
        _ habits: XHabits
    ) {
        var cost = billing.read(posts: posts, users: [], price: price)
        if habits.billsIncludes {
            cost += billing.read(
                posts: includes.posts, users: includes.users, price: XBilling.Price.postRead)
        }
        state.ledger.spentMicrodollars += cost
    }

    /// A missing single object: 404, or by habit a 200 with `errors` and without `data`.
    private func missing(
        _ kind: String, _ name: String, parameter: String, _ call: XCall, isExpected: Bool
    ) throws(XRefusal) -> WireAnswer {
        let error = XIncludes.missing(kind, String(name.prefix(40)), parameter: parameter)
        if call.habits.answersMissingWith200 { return .json(["errors": [error]]) }
        throw XRefusal(
            status: 404, body: error.adding(("status", 404)), reason: "no such \(kind)",
            isExpected: isExpected,
            code: 144)
    }
}

extension SandboxState {
    /// Sorted ids of the posts that notify the person.
    fileprivate func mentions(of person: Int) -> [Int64] {
        if person == SandboxPopulation.human || person == SandboxPopulation.bot {
            return mentions[person] ?? []
        }
        return posts.values.filter { $0.author != person && $0.recipients.contains(person) }.map(
            \.id
        ).sorted()
    }
}
