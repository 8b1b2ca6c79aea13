import Foundation
import Posts

/// The AT Protocol, as a personal data server and its AppView speak it.
struct BlueskyWire: SandboxWire {
    private static let prefix = "/xrpc/"
    private static let routes = BlueskyAccounts.routes.merging(BlueskyRecords.routes) { $1 }
        .merging(BlueskyFeeds.routes) { $1 }.merging(BlueskyNotifications.routes) { $1 }

    let access: SandboxAccess
    private let faults: SandboxFaults
    var rates: BlueskyRates
    var sessions: BlueskySessions
    /// Up to when each has seen the notifications.
    var seen: [Int: Date] = [:]
    /// What an endpoint has to say about limits besides the one of all requests.
    var standing: BlueskyRates.Standing?
    var repository = BlueskyRepository()

    init(access: SandboxAccess, limits: SandboxRateLimits, faults: SandboxFaults) {
        self.access = access
        self.faults = faults
        self.rates = BlueskyRates(limits)
        self.sessions = BlueskySessions(seed: SandboxIdentity.hash(access.bluesky(.bot).appPassword))
    }

    static func owns(_ request: WireRequest) -> Bool {
        let path = request.path
        return path.hasPrefix(prefix) || path.hasPrefix("/did:") || path == "/.well-known/did.json"
    }

    /// Learns once what everybody is called.
    mutating func meet(_ population: SandboxPopulation) {
        if repository.people.isEmpty { repository.people = BlueskyPeople(population) }
    }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer {
        meet(state.population)
        let habits = faults.bluesky
        repository.habits = habits
        guard request.path.hasPrefix(Self.prefix) else { return document(request, in: &state, at: now) }
        standing = nil
        let general = rates.countRequest(at: now)
        var answer: WireAnswer
        do throws(BlueskyRefusal) {
            if general.isExceeded { throw .rateLimited }
            answer = try admit(request, in: &state, at: now, habits: habits)
        } catch {
            state.note(
                request, status: error.status, reason: "\(error.error): \(error.message)",
                isExpected: error.isExpected, at: now)
            answer = error.answer(as: habits.errorForm)
        }
        answer.headers += BlueskyRates.tightest([general, standing].compactMap(\.self))?.headers(at: now) ?? []
        return answer
    }

    /// The checks before any endpoint, in the order of the reference server.
    private mutating func admit(
        _ request: WireRequest, in state: inout SandboxState, at now: Date, habits: BlueskyHabits
    ) throws(BlueskyRefusal) -> WireAnswer {
        let route = try Self.route(of: request)
        let token = Self.token(of: request)
        let caller = try caller(token, for: route, at: request.arrival ?? now, habits: habits)
        let query = request.query
        if let unknown = query.first(where: { !route.parameters.contains($0.name) }) {
            throw .invalid("Error: unknown parameter \(unknown.name.prefix(40))")
        }
        let call = BlueskyCall(
            request: request, query: query, fields: try Self.fields(of: request, for: route), caller: caller,
            token: token, now: now, habits: habits)
        return try route.answer(&self, &state, call)
    }

    private static func route(of request: WireRequest) throws(BlueskyRefusal) -> BlueskyRoute {
        let name = String(request.path.dropFirst(prefix.count))
        guard RecordSyntax.isName(name) else { throw .invalid("invalid xrpc path") }
        guard let route = routes[name] else {
            throw BlueskyRefusal(501, "MethodNotImplemented", "Method Not Implemented")
        }
        let method = route.isQuery ? "GET" : "POST"
        guard request.method == method else {
            throw .invalid("Incorrect HTTP method (\(request.method)) expected \(method)")
        }
        return route
    }

    private static func token(of request: WireRequest) -> String? {
        guard let value = request.header("authorization"), value.hasPrefix("Bearer ") else { return nil }
        return String(value.dropFirst("Bearer ".count))
    }

    private func caller(
        _ token: String?, for route: BlueskyRoute, at now: Date, habits: BlueskyHabits
    ) throws(BlueskyRefusal) -> Int? {
        switch (route.access, token) {
        case (.open, _): return nil
        case (.anybody, nil): return nil
        case (_, nil): throw .missingAuthentication
        case (.refresh, _): return nil
        case (_, let token?): return try sessions.person(access: token, at: now, habits: habits)
        }
    }

    private static func fields(
        of request: WireRequest, for route: BlueskyRoute
    ) throws(BlueskyRefusal) -> [String: RecordValue] {
        guard let allowed = route.fields else {
            guard request.body.isEmpty else {
                throw .invalid("A request body was provided when none was expected")
            }
            return [:]
        }
        guard !request.body.isEmpty else { throw .invalid("A request body is expected but none was provided") }
        guard request.mediaType == "application/json" else {
            throw .invalid("Wrong request encoding (Content-Type): \(request.mediaType?.prefix(40) ?? "none")")
        }
        guard let fields = RecordValue.members(ofJSON: request.body) else {
            throw .invalid("could not read the JSON body")
        }
        if let unknown = fields.keys.sorted().first(where: { !allowed.contains($0) }) {
            throw .invalid("Error: Input has an unknown field \(unknown.prefix(40))")
        }
        return fields
    }
}

extension BlueskyWire {
    /// Answers as the directory of identities does, and as the host of one.
    private func document(_ request: WireRequest, in state: inout SandboxState, at now: Date) -> WireAnswer {
        let host = request.header("host") ?? "127.0.0.1"
        let url = "http://" + host
        let name = String(request.path.dropFirst())
        if request.method != "GET" {
            state.note(request, status: 405, reason: "method not allowed", isExpected: false, at: now)
            return .json(["message": "Method Not Allowed"], status: 405)
        }
        if request.path == "/.well-known/did.json" {
            return .json(BlueskyPeople.serverDocument(host: host, at: url))
        }
        guard let person = repository.people.index(of: name) else {
            state.note(request, status: 404, reason: "DID not registered", isExpected: false, at: now)
            return .json(["message": .string("DID not registered: \(name.prefix(80))")], status: 404)
        }
        var answer = WireAnswer.json(repository.people.document(of: person, at: url))
        answer.headers = [("content-type", "application/did+ld+json; charset=utf-8")]
        return answer
    }
}
