import Foundation
import Posts

/// Mastodon's client API, as a strict server.
struct MastodonWire: SandboxWire {
    private static let keyLifetime = 3_600.0
    static let routes =
        MastodonCall.accountRoutes + MastodonCall.serverRoutes + MastodonCall.timelineRoutes
        + MastodonCall.statusRoutes + MastodonCall.mediaRoutes

    private let limits: SandboxRateLimits
    private var rates = RateCounter()
    /// The post and the time of each used idempotency key, by token and key.
    private var keys: [String: (post: Int64, date: Date)] = [:]
    private var requests = 0
    var logins: MastodonLogins
    /// The times until which requests with a key are in flight, by token and key.
    var heldKeys: [String: Date] = [:]
    let faults: SandboxFaults

    init(access: SandboxAccess, seed: UInt64, limits: SandboxRateLimits, faults: SandboxFaults) {
        self.limits = limits
        self.logins = MastodonLogins(
            tokens: MastodonTokens(access: access, seed: seed ^ 0x6F_61_75_74_68))
        self.faults = faults
    }

    /// Mastodon's interface handles all requests that no other one claims.
    static func owns(_ request: WireRequest) -> Bool { true }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date)
        -> WireAnswer
    {
        let habits = faults.mastodon
        if MastodonLogins.isPage(request) { return page(request, in: &state, at: now) }
        MastodonCall.finishDeletions(in: &state, habits, at: now)
        let token = request.bearerToken
        requests += 1
        let isOverloaded = habits.overloadEvery.map { $0 > 0 && requests % $0 == 0 } ?? false
        // All requests without a token, and all of a server that counts by address, are one client.
        let client = habits.limitsByAddress ? "" : token ?? ""
        let rate = countRequest(request, by: client, at: now)
        var answer: WireAnswer
        do throws(WireRefusal) {
            if isOverloaded { throw .overload }
            if rate.isExceeded { throw WireRefusal(status: 429, message: "Too many requests") }
            answer = try admit(request, token: token, habits, in: &state, at: now)
        } catch {
            answer = error.answer(habits)
            state.note(
                request, status: answer.status, reason: error.message, isExpected: error.isExpected,
                at: now)
        }
        if habits.tellsLimits, !isOverloaded { answer.headers += headers(of: rate, habits: habits) }
        if habits.omitsEmptyLength, answer.body.isEmpty {
            answer.headers.append(("content-type", "text/html"))
            answer.omitsLength = true
        } else if habits.closesConnections {
            answer.headers.append(("connection", "close"))
        }
        return answer
    }

    /// Counts a request; a new post or a deletion counts against its own limit too, which is then
    /// the one in the headers.
    private mutating func countRequest(_ request: WireRequest, by client: String, at now: Date)
        -> RateCounter.Standing
    {
        let general = rates.add(
            by: "requests " + client, of: .init(amount: limits.requests, period: limits.period),
            at: now)
        guard !general.isExceeded else { return general }
        if request.method == "POST", request.path == "/api/v1/statuses" {
            return rates.add(
                by: "posts " + client, of: .init(amount: limits.posts, period: limits.postPeriod),
                at: now)
        }
        guard request.method == "DELETE", request.path.hasPrefix("/api/v1/statuses/") else {
            return general
        }
        return rates.add(
            by: "deletions " + client,
            of: .init(amount: limits.deletions, period: limits.deletionPeriod), at: now)
    }

    private func headers(of rate: RateCounter.Standing, habits: MastodonHabits) -> [(
        name: String, value: String
    )] {
        // The reset is by the server's own clock, like all its times.
        let reset = rate.reset + faults.clockSkew
        return [
            ("x-ratelimit-limit", String(rate.allowance.amount)),
            ("x-ratelimit-remaining", String(rate.remaining)),
            (
                "x-ratelimit-reset",
                habits.tellsResetAsNumber ? String(Int(reset.timeIntervalSince1970)) : reset.rfc3339
            ),
        ]
    }

    /// Returns the page for a person's browser.
    private mutating func page(_ request: WireRequest, in state: inout SandboxState, at now: Date)
        -> WireAnswer
    {
        do throws(WireRefusal) {
            return try logins.page(request, at: now)
        } catch {
            state.note(
                request, status: error.status, reason: error.message, isExpected: error.isExpected,
                at: now)
            return .page(
                title: "An error has occurred", paragraph: error.message, status: error.status)
        }
    }

    /// Checks a request before any endpoint, in the order of a real server.
    private mutating func admit(
        _ request: WireRequest, token: String?, _ habits: MastodonHabits,
        in state: inout SandboxState, at now: Date
    ) throws(WireRefusal) -> WireAnswer {
        guard let agent = request.header("user-agent"), !agent.isEmpty else {
            throw WireRefusal(status: 418, message: "I'm a teapot: no user-agent sent with request")
        }
        guard Self.acceptsJSON(request) else {
            throw WireRefusal(status: 406, message: "Not Acceptable: this API answers in JSON")
        }
        if let answer = try logins.answer(request, habits, at: now) { return answer }
        let (route, values) = try Self.route(of: request)
        let grant = try authorize(token, request, to: route, habits, at: request.arrival ?? now)
        if case .scope = route.access, let refusal = WireRefusal(state.standing(of: grant?.person))
        {
            throw refusal
        }
        let query = request.query
        if let unknown = query.first(where: { !route.parameters.contains($0.name) }) {
            throw .invalid("unknown parameter \(unknown.name.prefix(40))")
        }
        let call = MastodonCall(
            request: request, segments: values, query: query,
            fields: try WireFields(request, allowed: route.fields), caller: grant?.person,
            scopes: Set(grant?.scopes ?? []), now: now, habits: habits,
            application: grant.flatMap { logins.tokens.applications[$0.application] })
        do throws(WireRefusal) {
            return try perform(call, on: route, in: &state)
        } catch {
            guard habits.forbidsMissing, error.status == 404, !route.alwaysAnswers404 else {
                throw error
            }
            var refusal = error
            refusal.status = 403
            throw refusal
        }
    }

    /// Executes a request; publishing is done once for each key, everything else as often as it is
    /// requested.
    private mutating func perform(
        _ call: MastodonCall, on route: MastodonRoute, in state: inout SandboxState
    ) throws(WireRefusal) -> WireAnswer {
        guard route.isPublishing, let key = call.request.header("idempotency-key"),
            call.habits.keys != .ignored
        else { return try route.answer(call)(&state) }
        let name = "\(call.caller ?? -1) \(key)"
        if let storedAnswer = keys[name],
            call.now.timeIntervalSince(storedAnswer.date) < Self.keyLifetime,
            let status = call.entities(state).status(storedAnswer.post)
        {
            let isBusy = call.now.timeIntervalSince(storedAnswer.date) < call.habits.keyIsBusyFor
            switch call.habits.keys {
            case .failing: throw .keyFailure
            case .busy where isBusy: throw .keyConflict
            default:
                state.requestOutcome = (.repeated, storedAnswer.post)
                return .json(status)
            }
        }
        if call.habits.keys == .busy, isHeld(call.request, at: call.now) { throw .keyConflict }
        let answer = try route.answer(call)(&state)
        if let author = call.caller, let post = state.postsByAuthor[author].last {
            keys[name] = (post, call.now)
        }
        return answer
    }
}

extension WireRefusal {
    /// The refusal if there are too many requests at once, by any client.
    fileprivate static let overload = WireRefusal(
        status: 429, message: "server capacity exceeded", isExpected: true,
        headers: [("retry-after", "30")])
    fileprivate static let keyFailure = WireRefusal(
        status: 500, message: "Internal Server Error", isExpected: true)
    fileprivate static let keyConflict = WireRefusal(
        status: 409, message: "The first request with this key has not ended", isExpected: true)
}

/// Admission checks of a request, before any endpoint sees it.
extension MastodonWire {
    mutating func authorize(
        _ token: String?, _ request: WireRequest, to route: MastodonRoute, _ habits: MastodonHabits,
        at now: Date
    ) throws(WireRefusal) -> MastodonTokens.Grant? {
        if case .open = route.access { return nil }
        var grant: MastodonTokens.Grant?
        if request.header("authorization") != nil {
            do throws(WireRefusal) {
                grant = try logins.tokens.find(token, lifetime: habits.tokenLifetime, at: now)
            } catch {
                var refusal = error
                refusal.tokenFault =
                    request.path == "/api/v1/accounts/verify_credentials" ? .badLogin : .bad
                throw refusal
            }
        }
        if case .anybody(let reading) = route.access {
            if grant != nil || !habits.needsTokenToRead.contains(reading) { return grant }
            var refusal = WireRefusal.userNeeded
            // The refusal is expected, because only a request shows a client that the server
            // requires a token.
            refusal.isExpected = true
            throw refusal
        }
        guard case .scope(let scopes) = route.access else { return grant }
        guard let grant else { throw .userNeeded }
        let isCoarse = habits.knowsCoarseScopesOnly && !grant.isPreset
        let grantedScopes = isCoarse ? grant.scopes.filter { !$0.contains(":") } : grant.scopes
        let isAllowed = scopes.contains { MastodonScopes.includes($0, in: grantedScopes) }
        guard scopes.isEmpty || isAllowed || habits.ignoresScopes else {
            throw WireRefusal(
                status: habits.missingScopeStatus,
                message: habits.knowsCoarseScopesOnly
                    ? "out_of_scope_for_token" : "This action is outside the authorized scopes")
        }
        return grant
    }

    static func route(of request: WireRequest) throws(WireRefusal) -> (MastodonRoute, [String]) {
        var isKnownPath = false
        for route in routes {
            guard let values = request.values(in: route.pattern) else { continue }
            if route.method == request.method { return (route, values) }
            isKnownPath = true
        }
        throw isKnownPath ? WireRefusal(status: 405, message: "Method Not Allowed") : .notFound
    }

    static func acceptsJSON(_ request: WireRequest) -> Bool {
        guard let accept = request.header("accept") else { return true }
        return accept.split(separator: ",").contains { part in
            let type = part.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
            return ["*/*", "application/*", "application/json"].contains(type)
        }
    }
}

extension WireRefusal {
    fileprivate static let userNeeded = WireRefusal(
        status: 401, message: "This method requires an authenticated user", tokenFault: .missing)
}

/// The requested writes, before they are checked, and the keys in use.
extension MastodonWire {
    func draft(of request: WireRequest, at now: Date) -> SandboxLedger.Write? {
        let ids = faults.mastodon.ids
        let segments = request.path.split(separator: "/").map(String.init)
        guard segments.starts(with: ["api", "v1", "statuses"]) else { return nil }
        if segments.count == 5, segments[4] == "favourite" {
            return SandboxLedger.Write(
                at: now, kind: .favorite, target: ids.number(of: segments[3]).map { String($0) })
        }
        guard segments.count == 3 else { return nil }
        let members = request.members
        let parent = members["in_reply_to_id"]?.text
        return SandboxLedger.Write(
            at: now, kind: parent == nil ? .post : .reply, key: request.header("idempotency-key"),
            text: members["status"]?.text, target: parent.flatMap(ids.number).map { String($0) })
    }

    /// Records that a request with a key is in flight until it is executed.
    ///
    /// Meanwhile Pleroma and its relatives refuse the same key with a conflict. Mastodon records a
    /// key only once its post exists, so whichever of two requests is executed first makes the
    /// post.
    mutating func hold(_ request: WireRequest, until date: Date) {
        guard let name = Self.heldName(request) else { return }
        heldKeys[name] = max(date, heldKeys[name] ?? date)
    }

    /// Whether another request with the key is in flight.
    func isHeld(_ request: WireRequest, at now: Date) -> Bool {
        guard let name = Self.heldName(request), let end = heldKeys[name] else { return false }
        return end > now
    }

    private static func heldName(_ request: WireRequest) -> String? {
        request.header("idempotency-key").map { "\(request.bearerToken ?? "") \($0)" }
    }
}
