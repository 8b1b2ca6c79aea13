import Foundation
import Posts

/// Timelines, single posts and conversations.
enum BlueskyFeeds {
    /// How far back a timeline reaches.
    static let timelineLength = 800
    private static let maximumPosts = 25
    /// How many answers deep a conversation is told, whatever is asked for.
    private static let maximumDepth = 20
    private static let filters = [
        "posts_with_replies", "posts_no_replies", "posts_with_media", "posts_and_author_threads", "posts_with_video",
    ]

    static let routes: [String: BlueskyRoute] = [
        "app.bsky.feed.getTimeline": .query(.session, ["algorithm", "limit", "cursor"], answer: getTimeline),
        "app.bsky.feed.getAuthorFeed": .query(
            .anybody, ["actor", "limit", "cursor", "filter", "includePins"], answer: getAuthorFeed),
        "app.bsky.feed.getPosts": .query(.anybody, ["uris"], answer: getPosts),
        "app.bsky.feed.getPostThread": .query(.anybody, ["uri", "depth", "parentHeight"], answer: getPostThread),
    ]

    private static func getTimeline(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let ids = (state.homes[try call.account()] ?? []).suffix(timelineLength)
        return try call.page("feed") { cursor, limit throws(BlueskyRefusal) in
            let wanted = call.habits.shortensTimeline ? max(1, limit / 3) : limit
            var page = try feed(ids, cursor, wanted, &wire.repository, state, call)
            if call.habits.repeatsTimelineItems { page.items += page.items }
            return page
        }
    }

    private static func getAuthorFeed(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        guard let person = try BlueskyAccounts.index(of: try call.required("actor"), wire) else {
            throw .invalid("Profile not found")
        }
        let filter = call.parameter("filter") ?? filters[0]
        guard filters.contains(filter) else { throw .invalid("Error: filter must be one of \(filters)") }
        let ids = state.postsByAuthor[person].filter { state.posts[$0].map { isWanted($0, filter) } ?? false }
        let pinned = try call.flag("includePins") ? pin(of: person, &wire.repository, state, call) : nil
        return try call.page("feed") { cursor, limit throws(BlueskyRefusal) in
            var page = try feed(ids[...], cursor, limit, &wire.repository, state, call)
            if let pinned, cursor == nil { page.items.insert(pinned, at: 0) }
            return page
        }
    }

    private static func isWanted(_ post: SandboxPost, _ filter: String) -> Bool {
        switch filter {
        case "posts_no_replies": post.replyTo == nil
        case "posts_with_media": post.attachment == .image && post.repostOf == nil
        case "posts_with_video": false
        case "posts_and_author_threads": post.replyTo == nil || post.replyToAuthor == post.author
        default: true
        }
    }

    /// The post on top of the person's feed, which is there again at its own time.
    private static func pin(
        of person: Int, _ repository: inout BlueskyRepository, _ state: SandboxState, _ call: BlueskyCall
    ) -> WireJSON? {
        guard let pinned = repository.profile(of: person, in: state).record.pinnedPost,
            let post = RecordAddress(pinned.uri).flatMap({ repository.post(at: $0, in: state) }),
            post.author == person, let item = repository.feedItem(of: post, for: call.caller, in: state)
        else { return nil }
        return item.adding(("reason", ["$type": "app.bsky.feed.defs#reasonPin"]))
    }

    /// One page of a feed, newest first by ``BlueskyRepository/feedTime(of:)``.
    private static func feed(
        _ ids: ArraySlice<Int64>, _ cursor: String?, _ limit: Int, _ repository: inout BlueskyRepository,
        _ state: SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> (items: [WireJSON], next: String?) {
        let bound = try cursor.map { text throws(BlueskyRefusal) in try Place(text) }
        var places: [Place] = []
        for id in ids {
            guard let post = state.posts[id], post.visibility.isOpen else { continue }
            let place = Place(time: repository.feedTime(of: post), id: id)
            if bound.map({ place < $0 }) ?? true { places.append(place) }
        }
        places.sort(by: >)
        var items: [WireJSON] = []
        var last: Place?
        for place in places {
            guard items.count < limit else { break }
            last = place
            if let post = state.posts[place.id],
                let item = repository.feedItem(of: post, for: call.caller, in: state)
            {
                items.append(item)
            }
        }
        return (items, last?.cursor)
    }

    /// Where in a feed an item is.
    private struct Place: Comparable {
        var time: Int64
        var id: Int64

        init(time: Int64, id: Int64) {
            self.time = time
            self.id = id
        }

        init(_ cursor: String) throws(BlueskyRefusal) {
            let parts = cursor.split(separator: ":").map { Int64($0) }
            guard parts.count == 2, let time = parts[0], let id = parts[1] else { throw .invalid("Malformed cursor") }
            self.init(time: time, id: id)
        }

        var cursor: String { "\(time)::\(id)" }

        static func < (first: Place, second: Place) -> Bool { (first.time, first.id) < (second.time, second.id) }
    }

    private static func getPosts(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let uris = call.parameters("uris")
        guard !uris.isEmpty else { throw .invalid("Error: Params must have the property \"uris\"") }
        guard uris.count <= maximumPosts else {
            throw .invalid("Error: uris must not have more than \(maximumPosts) elements")
        }
        var posts: [WireJSON] = []
        for uri in uris {
            let address = try address(uri)
            guard let post = wire.repository.post(at: address, in: state) else { continue }
            if call.habits.omitsPosts, SandboxIdentity.hash(address.key) % 2 == 0 { continue }
            posts.append(wire.repository.view(of: post, for: call.caller, in: state))
        }
        return .json(["posts": .array(posts)])
    }

    private static func address(_ uri: String) throws(BlueskyRefusal) -> RecordAddress {
        guard let address = RecordAddress(uri) else { throw .invalid("Error: uri must be a valid at-uri") }
        return address
    }
}

/// Conversations.
extension BlueskyFeeds {
    private static func getPostThread(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let uri = try call.required("uri")
        let depth = min(try call.number("depth", standard: 6, in: 0...1_000), maximumDepth)
        let height = min(try call.number("parentHeight", standard: 80, in: 0...1_000), maximumDepth)
        guard let post = wire.repository.post(at: try address(uri), in: state) else {
            throw BlueskyRefusal(400, "NotFound", "Post not found: \(uri.prefix(160))", isExpected: true)
        }
        var thread = branch(of: post, depth: depth, &wire.repository, state, call)
        if let parent = parent(of: post, height: height, &wire.repository, state, call) {
            thread = thread.adding(("parent", parent))
        }
        return .json(["thread": thread])
    }

    /// The post and the answers to it.
    private static func branch(
        of post: SandboxPost, depth: Int, _ repository: inout BlueskyRepository, _ state: SandboxState,
        _ call: BlueskyCall
    ) -> WireJSON {
        let view = threadView(of: post, &repository, state, call)
        guard depth > 0 else { return view }
        var answers: [WireJSON] = []
        for id in state.answers[post.id] ?? [] {
            guard let answer = state.posts[id], repository.shows(answer) else { continue }
            answers.append(branch(of: answer, depth: depth - 1, &repository, state, call))
        }
        if post.crowd > 0 {
            let key = repository.key(of: post.id)
            let names = (1...Int64(post.crowd)).lazy.map { SandboxIdentity.recordKey(post.id + $0) }
            answers.append(view.repeated(key, as: names))
        }
        return view.adding(("replies", .array(answers)))
    }

    private static func parent(
        of post: SandboxPost, height: Int, _ repository: inout BlueskyRepository, _ state: SandboxState,
        _ call: BlueskyCall
    ) -> WireJSON? {
        guard height > 0, let reference = repository.entry(of: post, in: state).reply?.parent else { return nil }
        guard let parent = RecordAddress(reference.uri).flatMap({ repository.post(at: $0, in: state) }) else {
            return BlueskyRepository.notFound(reference.uri)
        }
        let view = threadView(of: parent, &repository, state, call)
        guard let above = self.parent(of: parent, height: height - 1, &repository, state, call) else { return view }
        return view.adding(("parent", above))
    }

    private static func threadView(
        of post: SandboxPost, _ repository: inout BlueskyRepository, _ state: SandboxState, _ call: BlueskyCall
    ) -> WireJSON {
        [
            "$type": "app.bsky.feed.defs#threadViewPost",
            "post": repository.view(of: post, for: call.caller, in: state),
        ]
    }
}
