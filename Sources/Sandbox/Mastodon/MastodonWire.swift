import Foundation
import Posts

/// Mastodon's client API, as a strict server would speak it.
struct MastodonWire: SandboxWire {
    /// A token's account and what it may do.
    struct Grant: Sendable {
        var person: Int
        var scopes: Set<String>
    }

    static let humanScopes: Set = ["profile", "read:accounts", "read:statuses", "read:favourites"]
    static let botScopes: Set = [
        "profile", "read:accounts", "read:statuses", "read:favourites", "read:notifications", "write:statuses",
        "write:favourites",
    ]
    private static let keyLifetime = 3_600.0
    static let routes = MastodonAccounts.routes + MastodonTimelines.routes + MastodonStatuses.routes

    private var rates: SandboxRateCounter
    /// When a key was used and for which post.
    private var keys: [String: (post: Int64, date: Date)] = [:]
    let grants: [String: Grant]
    private let faults: SandboxFaults

    init(grants: [String: Grant], limits: SandboxRateLimits, faults: SandboxFaults) {
        self.rates = SandboxRateCounter(limits: limits)
        self.grants = grants
        self.faults = faults
    }

    /// Mastodon's interface takes what no other one claims.
    static func owns(_ path: String) -> Bool { true }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer {
        let token = Self.token(of: request)
        let segments = Substring(request.path).split(separator: "/")
        let isPost = request.method == "POST" && segments == ["api", "v1", "statuses"]
        let rate = rates.count(token ?? "", isPost: isPost, at: now)
        var answer: WireAnswer
        do throws(WireRefusal) {
            if rate.isExceeded { throw WireRefusal(status: 429, message: "Too many requests") }
            answer = try admit(request, segments: segments, token: token, in: &state, at: now)
        } catch {
            state.note(
                request, status: error.status, reason: error.message, isExpected: error.isExpected, at: now)
            answer = .json(["error": .string(error.message)], status: error.status)
        }
        answer.headers += [
            ("x-ratelimit-limit", String(rate.limit)), ("x-ratelimit-remaining", String(rate.remaining)),
            ("x-ratelimit-reset", rate.reset.rfc3339),
        ]
        return answer
    }

    /// The checks before any endpoint, in the order of a real server.
    private mutating func admit(
        _ request: WireRequest, segments: [Substring], token: String?, in state: inout SandboxState, at now: Date
    ) throws(WireRefusal) -> WireAnswer {
        guard let agent = request.header("user-agent"), !agent.isEmpty else {
            throw WireRefusal(status: 418, message: "I'm a teapot: no user-agent sent with request")
        }
        guard Self.acceptsJSON(request) else {
            throw WireRefusal(status: 406, message: "Not Acceptable: this API answers in JSON")
        }
        let (route, values) = try Self.route(request.method, segments)
        let grant = try admit(token, request, to: route)
        let query = request.query
        if let unknown = query.first(where: { !route.parameters.contains($0.name) }) {
            throw .invalid("unknown parameter \(unknown.name.prefix(40))")
        }
        let call = MastodonCall(
            request: request, segments: values, query: query,
            fields: try WireFields(request, allowed: route.fields), caller: grant?.person,
            scopes: grant?.scopes ?? [], now: now, quirks: faults.quirks)
        return try perform(call, on: route, in: &state)
    }

    /// Publishes once for each key, and does everything else as often as asked.
    private mutating func perform(
        _ call: MastodonCall, on route: MastodonRoute, in state: inout SandboxState
    ) throws(WireRefusal) -> WireAnswer {
        guard !route.fields.isEmpty, let key = call.request.header("idempotency-key"),
            !call.quirks.ignoresIdempotencyKey
        else { return try route.answer(&state, call) }
        let name = "\(call.caller ?? -1) \(key)"
        if let known = keys[name], call.now.timeIntervalSince(known.date) < Self.keyLifetime,
            let status = MastodonEntities(state: state, viewer: call.caller).status(known.post)
        {
            return .json(status)
        }
        let answer = try route.answer(&state, call)
        if let author = call.caller, let post = state.postsByAuthor[author].last {
            keys[name] = (post, call.now)
        }
        return answer
    }
}
