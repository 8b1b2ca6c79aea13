import Foundation
import Posts

/// A request that was admitted, with known parameters.
struct XCall: Sendable {
    var request: WireRequest
    var endpoint: XEndpoint
    /// The values in the path, in order.
    var segments: [String]
    var parameters: [String: String]
    var fields: XFields
    /// The index of the person whose token signed the request.
    var caller: Int
    var directory: SandboxDirectory
    var habits: XHabits
    /// The present time in the sandbox.
    var now: Date
    /// The server's own clock.
    var clock: Date

    /// - Throws: 400 for a parameter that the endpoint does not have, or an unknown value.
    init(
        _ request: WireRequest, endpoint: XEndpoint, segments: [String], caller: Int,
        directory: SandboxDirectory,
        habits: XHabits, now: Date, clock: Date
    ) throws(XRefusal) {
        let query = request.query
        var parameters: [String: String] = [:]
        let fieldParameters = endpoint.isWrite ? [] : XFields.parameters(habits)
        for (name, value) in query {
            guard endpoint.parameters.contains(name) || fieldParameters.contains(name) else {
                throw .invalid(
                    name, value,
                    "The query parameter [\(name.prefix(40))] is not known to this endpoint")
            }
            guard !value.isEmpty else {
                throw .invalid(name, value, "The query parameter [\(name)] is empty")
            }
            parameters[name] = value
        }
        self.request = request
        self.endpoint = endpoint
        self.segments = segments
        self.parameters = parameters
        self.fields = try XFields(parameters, habits: habits)
        self.caller = caller
        self.directory = directory
        self.habits = habits
        self.now = now
        self.clock = clock
    }

    /// A decimal number of at most 19 digits, as all ids are.
    static func id(_ text: String, as name: String) throws(XRefusal) -> Int64 {
        guard let id = Int64(text), id > 0, String(id) == text else {
            throw .invalid(name, text, "The `\(name)` query parameter value is not valid")
        }
        return id
    }

    /// The number in a segment of the path.
    func id(at index: Int = 0) throws(XRefusal) -> Int64 { try Self.id(segments[index], as: "id") }

    /// The number in a parameter; nil without the parameter.
    func id(_ name: String) throws(XRefusal) -> Int64? {
        guard let text = parameters[name] else { return nil }
        return try Self.id(text, as: name)
    }

    /// The number of posts on a page.
    func pageSize() throws(XRefusal) -> Int {
        guard let sizes = endpoint.pageSizes, let text = parameters["max_results"] else {
            return endpoint.standardPageSize
        }
        guard let size = Int(text), String(size) == text, sizes.contains(size) else {
            throw .invalid(
                "max_results", text,
                "The `max_results` query parameter value is not between \(sizes.lowerBound) and \(sizes.upperBound)"
            )
        }
        return size
    }

    /// A time such as `2026-11-20T08:15:30Z`, not before X's first possible id.
    func time(_ name: String) throws(XRefusal) -> Date? {
        guard let text = parameters[name] else { return nil }
        guard text.utf8.count == 20, text.hasSuffix("Z"), text.contains("T"),
            let date = Date(rfc3339: text),
            date >= Self.earliest
        else {
            throw .invalid(
                name, text,
                "The `\(name)` query parameter value is not a time after 2010-11-06T00:00:00Z")
        }
        return date
    }

    /// Returns the kinds of posts that a list leaves out.
    func exclusions() throws(XRefusal) -> Set<String> {
        guard let text = parameters["exclude"] else { return [] }
        let values = Set(
            text.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
        guard values.isSubset(of: ["replies", "retweets"]) else {
            throw .invalid(
                "exclude", text,
                "The `exclude` query parameter value is not one of [replies,retweets]")
        }
        return values
    }

    private static let earliest = Date(timeIntervalSince1970: 1_289_001_600)
}

/// One method and path of X's API, with the figures in its documentation.
enum XEndpoint: CaseIterable, Sendable {
    case me, userByName, userPosts, mentions, home, favorites, posts, post
    case publish, delete, favorite, unfavorite, upload, describe

    var method: String {
        switch self {
        case .publish, .favorite, .upload, .describe: "POST"
        case .delete, .unfavorite: "DELETE"
        default: "GET"
        }
    }

    /// The path, in which `:` stands for any segment.
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
        case .upload: "/2/media/upload"
        case .describe: "/2/media/metadata"
        }
    }

    var isWrite: Bool { method != "GET" }

    /// The number of requests that an account may make in a quarter of an hour.
    var limit: Int {
        switch self {
        case .me, .favorites: 75
        case .userByName, .userPosts, .post: 900
        case .mentions: 300
        case .home: 180
        case .posts: 5_000
        case .publish: 100
        case .delete, .favorite, .unfavorite: 50
        case .upload, .describe: 500
        }
    }

    /// The range of `max_results`; `nil` if there are no pages.
    var pageSizes: ClosedRange<Int>? {
        switch self {
        case .userPosts, .mentions, .favorites: 5...100
        case .home: 1...100
        default: nil
        }
    }

    /// The number of posts without `max_results`.
    var standardPageSize: Int { self == .home || self == .favorites ? 100 : 10 }

    /// The parameters other than those that choose fields.
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

    /// The endpoint of a request and the values in its path.
    ///
    /// - Throws: 404 for an unknown path, 405 for a method that it does not have.
    static func of(_ request: WireRequest) throws(XRefusal) -> (XEndpoint, [String]) {
        var isKnownPath = false
        for endpoint in allCases {
            guard let values = request.values(in: endpoint.path.split(separator: "/")) else {
                continue
            }
            if endpoint.method == request.method { return (endpoint, values) }
            isKnownPath = true
        }
        throw isKnownPath
            ? .problem(405, "Method Not Allowed", "Method Not Allowed") : .noSuchEndpoint
    }
}
