import Foundation

/// What a request must bring before any endpoint sees it.
extension MastodonWire {
    /// The token of the `Authorization` header; the scheme is case-sensitive, as it is on strict servers.
    static func token(of request: WireRequest) -> String? {
        guard let value = request.header("authorization"), value.hasPrefix("Bearer ") else { return nil }
        return String(value.dropFirst("Bearer ".count))
    }

    mutating func admit(
        _ token: String?, _ request: WireRequest, to route: MastodonRoute, _ habits: MastodonHabits, at now: Date
    ) throws(WireRefusal) -> MastodonTokens.Grant? {
        if case .open = route.access { return nil }
        var grant: MastodonTokens.Grant?
        if request.header("authorization") != nil {
            switch token.map({ logins.tokens.find($0, lifetime: habits.tokenLifetime, at: now) }) ?? .unknown {
            case .good(let found): grant = found
            // Nobody can know beforehand that a token has run out.
            case .expired: throw WireRefusal(status: 401, message: "The access token expired", isExpected: true)
            case .unknown: throw WireRefusal(status: 401, message: "The access token is invalid")
            }
        }
        guard case .scope(let scopes) = route.access else {
            guard grant != nil || !habits.needsTokenToRead else { throw .userNeeded }
            return grant
        }
        guard let grant else { throw .userNeeded }
        let isAllowed = scopes.contains { MastodonScopes.include(grant.scopes, $0) }
        guard scopes.isEmpty || isAllowed || habits.ignoresScopes else {
            throw WireRefusal(status: 403, message: "This action is outside the authorized scopes")
        }
        return grant
    }

    static func route(
        _ method: String, _ segments: [Substring]
    ) throws(WireRefusal) -> (MastodonRoute, [String]) {
        var isKnownPath = false
        for route in routes {
            guard let values = route.match(segments) else { continue }
            if route.method == method { return (route, values) }
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
        status: 401, message: "This method requires an authenticated user")
}
