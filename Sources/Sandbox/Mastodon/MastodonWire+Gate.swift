import Foundation

/// What a request must bring before any endpoint sees it.
extension MastodonWire {
    /// The token of the `Authorization` header; the scheme is case-sensitive, as it is on strict servers.
    static func token(of request: WireRequest) -> String? {
        guard let value = request.header("authorization"), value.hasPrefix("Bearer ") else { return nil }
        return String(value.dropFirst("Bearer ".count))
    }

    func admit(
        _ token: String?, _ request: WireRequest, to route: MastodonRoute
    ) throws(WireRefusal) -> Grant? {
        if case .open = route.access { return nil }
        let grant = token.flatMap { grants[$0] }
        if request.header("authorization") != nil, grant == nil {
            throw WireRefusal(status: 401, message: "The access token is invalid")
        }
        guard case .scope(let scopes) = route.access else { return grant }
        guard let grant else {
            throw WireRefusal(status: 401, message: "This method requires an authenticated user")
        }
        guard scopes.isEmpty || !grant.scopes.isDisjoint(with: scopes) else {
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
