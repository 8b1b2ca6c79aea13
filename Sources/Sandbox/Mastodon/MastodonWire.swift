import Foundation
import Posts

/// Mastodon's client API, as a strict server would speak it.
struct MastodonWire: SandboxWire {
    private static let keyLifetime = 3_600.0
    static let routes =
        MastodonAccounts.routes + MastodonServer.routes + MastodonTimelines.routes + MastodonStatuses.routes

    private var rates: SandboxRateCounter
    /// When a key was used and for which post.
    private var keys: [String: (post: Int64, date: Date)] = [:]
    private var requests = 0
    var logins: MastodonLogins
    /// Until when requests with a key are under way, by token and key.
    var heldKeys: [String: Date] = [:]
    let faults: SandboxFaults

    init(access: SandboxAccess, seed: UInt64, limits: SandboxRateLimits, faults: SandboxFaults) {
        self.rates = SandboxRateCounter(limits: limits)
        self.logins = MastodonLogins(
            tokens: MastodonTokens(logins: access.mastodonLogins, seed: seed ^ 0x6F_61_75_74_68))
        self.faults = faults
    }

    /// Mastodon's interface takes what no other one claims.
    static func owns(_ request: WireRequest) -> Bool { true }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer {
        let habits = faults.mastodon
        if MastodonLogins.isPage(request) { return page(request, in: &state, at: now) }
        let token = Self.token(of: request)
        let isPost = request.method == "POST" && request.path == "/api/v1/statuses"
        requests += 1
        let isOverloaded = habits.overloadEvery.map { $0 > 0 && requests % $0 == 0 } ?? false
        let rate = rates.count(habits.limitsByAddress ? "" : token ?? "", isPost: isPost, at: now)
        var answer: WireAnswer
        do throws(WireRefusal) {
            if isOverloaded { throw .overload }
            if rate.isExceeded { throw WireRefusal(status: 429, message: "Too many requests") }
            answer = try admit(request, token: token, habits, in: &state, at: now)
        } catch {
            answer = MastodonErrors.answer(error, habits)
            state.note(
                request, status: answer.status, reason: error.message, isExpected: error.isExpected, at: now)
        }
        if habits.tellsLimits, !isOverloaded { answer.headers += headers(rate, habits) }
        if habits.closesConnections { answer.headers.append(("connection", "close")) }
        return answer
    }

    private func headers(_ rate: SandboxRateCounter.State, _ habits: MastodonHabits) -> [(name: String, value: String)]
    {
        // By the server's own clock, as all its times.
        let reset = rate.reset + faults.clockSkew
        return [
            ("x-ratelimit-limit", String(rate.limit)), ("x-ratelimit-remaining", String(rate.remaining)),
            (
                "x-ratelimit-reset",
                habits.tellsResetAsNumber ? String(Int(reset.timeIntervalSince1970)) : reset.rfc3339
            ),
        ]
    }

    /// What a person's browser shows.
    private mutating func page(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer {
        do throws(WireRefusal) {
            return try logins.page(request, at: now)
        } catch {
            state.note(
                request, status: error.status, reason: error.message, isExpected: error.isExpected, at: now)
            return MastodonPages.page(title: "An error has occurred", paragraph: error.message, status: error.status)
        }
    }

    /// The checks before any endpoint, in the order of a real server.
    private mutating func admit(
        _ request: WireRequest, token: String?, _ habits: MastodonHabits, in state: inout SandboxState, at now: Date
    ) throws(WireRefusal) -> WireAnswer {
        guard let agent = request.header("user-agent"), !agent.isEmpty else {
            throw WireRefusal(status: 418, message: "I'm a teapot: no user-agent sent with request")
        }
        guard Self.acceptsJSON(request) else {
            throw WireRefusal(status: 406, message: "Not Acceptable: this API answers in JSON")
        }
        if let answer = try logins.answer(request, habits, at: now) { return answer }
        let (route, values) = try Self.route(request.method, Substring(request.path).split(separator: "/"))
        let grant = try admit(token, request, to: route, habits, at: request.arrival ?? now)
        let query = request.query
        if let unknown = query.first(where: { !route.parameters.contains($0.name) }) {
            throw .invalid("unknown parameter \(unknown.name.prefix(40))")
        }
        let call = MastodonCall(
            request: request, segments: values, query: query,
            fields: try WireFields(request, allowed: route.fields), caller: grant?.person,
            scopes: Set(grant?.scopes ?? []), now: now, habits: habits,
            application: grant.flatMap { logins.tokens.applications[$0.application]?.name })
        return try perform(call, on: route, in: &state)
    }

    /// Publishes once for each key, and does everything else as often as asked.
    private mutating func perform(
        _ call: MastodonCall, on route: MastodonRoute, in state: inout SandboxState
    ) throws(WireRefusal) -> WireAnswer {
        guard route.isPublishing, let key = call.request.header("idempotency-key"), call.habits.keys != .ignored
        else { return try route.answer(&state, call) }
        let name = "\(call.caller ?? -1) \(key)"
        if let known = keys[name], call.now.timeIntervalSince(known.date) < Self.keyLifetime,
            let status = MastodonEntities(state: state, call).status(known.post)
        {
            let isBusy = call.now.timeIntervalSince(known.date) < call.habits.keyIsBusyFor
            switch call.habits.keys {
            case .failing: throw .keyFailure
            case .busy where isBusy: throw .keyConflict
            default:
                state.made = (.repeated, known.post)
                return .json(status)
            }
        }
        if call.habits.keys == .busy, isHeld(call.request, at: call.now) { throw .keyConflict }
        let answer = try route.answer(&state, call)
        if let author = call.caller, let post = state.postsByAuthor[author].last {
            keys[name] = (post, call.now)
        }
        return answer
    }
}

extension WireRefusal {
    /// Too many requests at once, whoever they are from.
    fileprivate static let overload = WireRefusal(
        status: 429, message: "server capacity exceeded", isExpected: true, headers: [("retry-after", "30")])
    fileprivate static let keyFailure = WireRefusal(status: 500, message: "Internal Server Error", isExpected: true)
    fileprivate static let keyConflict = WireRefusal(
        status: 409, message: "The first request with this key has not ended", isExpected: true)
}
