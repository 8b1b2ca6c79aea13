import Foundation
import Posts

/// Timelines, single posts and conversations.
extension BlueskyCall {
    /// The number of posts in a timeline.
    static let timelineLength = 800
    private static let maximumPosts = 25
    /// The depth of answers in a conversation, whatever is requested.
    private static let maximumDepth = 20
    private static let filters = [
        "posts_with_replies", "posts_no_replies", "posts_with_media", "posts_and_author_threads",
        "posts_with_video",
    ]

    static let feedRoutes: [String: BlueskyRoute] = [
        "app.bsky.feed.getTimeline": .query(
            .session, parameters: ["algorithm", "limit", "cursor"], answer: BlueskyCall.getTimeline),
        "app.bsky.feed.getAuthorFeed": .query(
            .anybody, parameters: ["actor", "limit", "cursor", "filter", "includePins"],
            answer: BlueskyCall.getAuthorFeed),
        "app.bsky.feed.getPosts": .query(
            .anybody, parameters: ["uris"], answer: BlueskyCall.getPosts),
        "app.bsky.feed.getPostThread": .query(
            .anybody, parameters: ["uri", "depth", "parentHeight"],
            answer: BlueskyCall.getPostThread),
    ]

    private func getTimeline(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let ids = (state.homes[try account()] ?? []).suffix(Self.timelineLength)
        return try page("feed") { cursor, limit throws(BlueskyRefusal) in
            let pageSize = habits.shortensTimeline ? max(1, limit / 3) : limit
            var page = try feed(
                of: ids, from: cursor, limit: pageSize, in: &wire.repository, state)
            if habits.repeatsTimelineItems { page.items += page.items }
            return page
        }
    }

    private func getAuthorFeed(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        guard let person = try index(of: try required("actor"), in: wire) else {
            throw .invalid("Profile not found")
        }
        let filter = parameter("filter") ?? Self.filters[0]
        guard Self.filters.contains(filter) else {
            throw .invalid("Error: filter must be one of \(Self.filters)")
        }
        let ids = state.postsByAuthor[person].filter {
            state.posts[$0].map { isWanted($0, by: filter) } == true
        }
        let pinned = try flag("includePins") ? pin(of: person, in: &wire.repository, state) : nil
        return try page("feed") { cursor, limit throws(BlueskyRefusal) in
            var page = try feed(
                of: ids[...], from: cursor, limit: limit, in: &wire.repository, state)
            if let pinned, cursor == nil { page.items.insert(pinned, at: 0) }
            return page
        }
    }

    private func isWanted(_ post: SandboxPost, by filter: String) -> Bool {
        switch filter {
        case "posts_no_replies": post.replyTo == nil
        case "posts_with_media": post.attachment == .image && post.repostOf == nil
        case "posts_with_video": false
        case "posts_and_author_threads": post.replyTo == nil || post.replyToAuthor == post.author
        default: true
        }
    }

    /// The pinned post on top of the person's feed, which also appears at its own time.
    private func pin(
        of person: Int, in repository: inout BlueskyRepository, _ state: SandboxState
    ) -> WireJSON? {
        guard let pinned = repository.profile(of: person, in: state).record.pinnedPost,
            let post = RecordAddress(pinned.uri).flatMap({ repository.post(at: $0, in: state) }),
            post.author == person, let item = repository.feedItem(of: post, for: caller, in: state)
        else { return nil }
        return item.adding(("reason", ["$type": "app.bsky.feed.defs#reasonPin"]))
    }

    /// One page of a feed, newest first by ``BlueskyRepository/feedTime(of:)``.
    private func feed(
        of ids: ArraySlice<Int64>, from cursor: String?, limit: Int,
        in repository: inout BlueskyRepository,
        _ state: SandboxState
    ) throws(BlueskyRefusal) -> (items: [WireJSON], next: String?) {
        let bound = try cursor.map { text throws(BlueskyRefusal) in try Place(text) }
        var places: [Place] = []
        for id in ids {
            guard let post = state.posts[id], post.visibility.isOpen else { continue }
            let place = Place(time: repository.feedTime(of: post), id: id)
            if let bound, place >= bound { continue }
            places.append(place)
        }
        places.sort(by: >)
        var items: [WireJSON] = []
        var last: Place?
        for place in places {
            guard items.count < limit else { break }
            last = place
            if let post = state.posts[place.id],
                let item = repository.feedItem(of: post, for: caller, in: state)
            {
                items.append(item)
            }
        }
        return (items, last?.cursor)
    }

    /// The position of an item in a feed.
    private struct Place: Comparable {
        var time: Int64
        var id: Int64

        init(time: Int64, id: Int64) {
            self.time = time
            self.id = id
        }

        init(_ cursor: String) throws(BlueskyRefusal) {
            let parts = cursor.split(separator: ":").map { Int64($0) }
            guard parts.count == 2, let time = parts[0], let id = parts[1] else {
                throw .invalid("Malformed cursor")
            }
            self.init(time: time, id: id)
        }

        var cursor: String { "\(time)::\(id)" }

        static func < (first: Place, second: Place) -> Bool {
            (first.time, first.id) < (second.time, second.id)
        }
    }

    private func getPosts(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal) -> WireAnswer
    {
        let uris = parameters("uris")
        guard !uris.isEmpty else { throw .invalid("Error: Params must have the property \"uris\"") }
        guard uris.count <= Self.maximumPosts else {
            throw .invalid("Error: uris must not have more than \(Self.maximumPosts) elements")
        }
        var posts: [WireJSON] = []
        for uri in uris {
            let address = try address(uri)
            guard let post = wire.repository.post(at: address, in: state) else { continue }
            if habits.omitsPosts, SandboxIdentity.hash(address.key) % 2 == 0 { continue }
            posts.append(wire.repository.view(of: post, for: caller, in: state))
        }
        return .json(["posts": .array(posts)])
    }

    private func address(_ uri: String) throws(BlueskyRefusal) -> RecordAddress {
        guard let address = RecordAddress(uri) else {
            throw .invalid("Error: uri must be a valid at-uri")
        }
        return address
    }
}

/// Conversations.
extension BlueskyCall {
    private func getPostThread(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let uri = try required("uri")
        let depth = min(try number("depth", standard: 6, in: 0...1_000), Self.maximumDepth)
        let height = min(try number("parentHeight", standard: 80, in: 0...1_000), Self.maximumDepth)
        guard let post = wire.repository.post(at: try address(uri), in: state) else {
            throw BlueskyRefusal(
                400, "NotFound", "Post not found: \(uri.prefix(160))", isExpected: true)
        }
        var thread = branch(of: post, depth: depth, &wire.repository, state)
        if let parent = parent(of: post, height: height, &wire.repository, state) {
            thread = thread.adding(("parent", parent))
        }
        return .json(["thread": thread])
    }

    /// The post and the answers to it.
    private func branch(
        of post: SandboxPost, depth: Int, _ repository: inout BlueskyRepository,
        _ state: SandboxState
    ) -> WireJSON {
        let view = threadView(of: post, &repository, state)
        guard depth > 0 else { return view }
        var answers: [WireJSON] = []
        for id in state.answers[post.id] ?? [] {
            guard let answer = state.posts[id], repository.isOnBluesky(answer) else { continue }
            answers.append(branch(of: answer, depth: depth - 1, &repository, state))
        }
        if post.crowd > 0 {
            let key = repository.key(of: post.id)
            let names = (1...Int64(post.crowd)).lazy.map { SandboxIdentity.recordKey(post.id + $0) }
            answers.append(view.repeated(key, as: names))
        }
        return view.adding(("replies", .array(answers)))
    }

    private func parent(
        of post: SandboxPost, height: Int, _ repository: inout BlueskyRepository,
        _ state: SandboxState
    ) -> WireJSON? {
        guard height > 0, let reference = repository.entry(of: post, in: state).reply?.parent else {
            return nil
        }
        guard
            let parent = RecordAddress(reference.uri).flatMap({ repository.post(at: $0, in: state) }
            )
        else {
            return BlueskyRepository.notFound(reference.uri)
        }
        let view = threadView(of: parent, &repository, state)
        guard let grandparent = self.parent(of: parent, height: height - 1, &repository, state)
        else {
            return view
        }
        return view.adding(("parent", grandparent))
    }

    private func threadView(
        of post: SandboxPost, _ repository: inout BlueskyRepository, _ state: SandboxState
    ) -> WireJSON {
        [
            "$type": "app.bsky.feed.defs#threadViewPost",
            "post": repository.view(of: post, for: caller, in: state),
        ]
    }
}
