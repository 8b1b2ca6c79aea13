/// One method and path of X's API, and the figures that its documentation gives.
enum XEndpoint: CaseIterable, Sendable {
    case me, userByName, userPosts, mentions, home, favorites, posts, post
    case publish, delete, favorite, unfavorite

    var method: String {
        switch self {
        case .publish, .favorite: "POST"
        case .delete, .unfavorite: "DELETE"
        default: "GET"
        }
    }

    /// Segments that are `:` stand for any value.
    var path: String {
        switch self {
        case .me: "/2/users/me"
        case .userByName: "/2/users/by/username/:"
        case .userPosts: "/2/users/:/tweets"
        case .mentions: "/2/users/:/mentions"
        case .home: "/2/users/:/timelines/reverse_chronological"
        case .favorites: "/2/users/:/liked_tweets"
        case .posts, .publish: "/2/tweets"
        case .post, .delete: "/2/tweets/:"
        case .favorite: "/2/users/:/likes"
        case .unfavorite: "/2/users/:/likes/:"
        }
    }

    var isWrite: Bool { method != "GET" }

    /// How many requests an account may make in a quarter of an hour.
    var limit: Int {
        switch self {
        case .me, .favorites: 75
        case .userByName, .userPosts, .post: 900
        case .mentions: 300
        case .home: 180
        case .posts: 5_000
        case .publish: 100
        case .delete, .favorite, .unfavorite: 50
        }
    }

    /// What `max_results` may be; nil where there are no pages.
    var pageSizes: ClosedRange<Int>? {
        switch self {
        case .userPosts, .mentions, .favorites: 5...100
        case .home: 1...100
        default: nil
        }
    }

    /// How many posts `max_results` stands for when it is not sent.
    var usualPageSize: Int { self == .home || self == .favorites ? 100 : 10 }

    /// The parameters besides those that choose fields.
    var parameters: Set<String> {
        let paging: Set = ["max_results", "pagination_token"]
        let bounds: Set = ["since_id", "until_id", "start_time", "end_time"]
        return switch self {
        case .userPosts, .home: paging.union(bounds).union(["exclude"])
        case .mentions: paging.union(bounds)
        case .favorites: paging
        case .posts: ["ids"]
        default: []
        }
    }

    /// Whether the price of owned reads may apply.
    var mayBeOwned: Bool { self == .userPosts || self == .mentions || self == .favorites }

    /// The values of the variable segments; nil if the path is another one.
    func match(_ segments: [Substring]) -> [String]? {
        let pattern = path.split(separator: "/")
        guard pattern.count == segments.count else { return nil }
        var values: [String] = []
        for (expected, actual) in zip(pattern, segments) {
            if expected == ":" {
                values.append(String(actual))
            } else if expected != actual {
                return nil
            }
        }
        return values
    }

    /// The endpoint of a request and the values in its path.
    ///
    /// - Throws: 404 for a path that is not known, 405 for a method that it does not have.
    static func of(_ request: WireRequest) throws(XRefusal) -> (XEndpoint, [String]) {
        let segments = Substring(request.path).split(separator: "/")
        var isKnownPath = false
        for endpoint in allCases {
            guard let values = endpoint.match(segments) else { continue }
            if endpoint.method == request.method { return (endpoint, values) }
            isKnownPath = true
        }
        throw isKnownPath ? .problem(405, "Method Not Allowed", "Method Not Allowed") : .noSuchEndpoint
    }
}
