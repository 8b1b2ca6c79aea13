import Foundation
import NetworkNames
import Posts

/// The AT Protocol, as spoken by a personal data server and its AppView.
struct BlueskyWire: SandboxWire {
    private static let prefix = "/xrpc/"
    private static let routes = BlueskyCall.accountRoutes.merging(BlueskyCall.recordRoutes) { $1 }
        .merging(BlueskyCall.fileRoutes) { $1 }.merging(BlueskyCall.feedRoutes) { $1 }.merging(
            BlueskyCall.notificationRoutes
        ) { $1 }.merging(BlueskyCall.standingRoutes) { $1 }

    let access: SandboxAccess
    private let faults: SandboxFaults
    var rates: BlueskyRates
    var sessions: BlueskySessions
    /// The time up to which each person has seen their notifications.
    var seen: [Int: Date] = [:]
    /// The standing of the current request in its endpoint's own rate limit; nil if it has none.
    var standing: RateCounter.Standing?
    var repository: BlueskyRepository

    init(
        _ people: SandboxPopulation, access: SandboxAccess, limits: SandboxRateLimits,
        faults: SandboxFaults
    ) {
        self.repository = BlueskyRepository(people: SandboxDirectory(people, on: .bluesky))
        self.access = access
        self.faults = faults
        self.rates = BlueskyRates(limits)
        self.sessions = BlueskySessions(
            seed: SandboxIdentity.hash(access.bluesky(.bot).appPassword))
    }

    static func owns(_ request: WireRequest) -> Bool {
        let path = request.path
        return path.hasPrefix(prefix) || path.hasPrefix("/did:") || path == "/.well-known/did.json"
    }

    mutating func answer(_ request: WireRequest, in state: inout SandboxState, at now: Date)
        -> WireAnswer
    {
        let habits = faults.bluesky
        repository.habits = habits
        guard request.path.hasPrefix(Self.prefix) else {
            return document(request, in: &state, at: now)
        }
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
        answer.headers +=
            BlueskyRates.tightest([general, standing].compactMap(\.self))?.headers(at: now) ?? []
        return answer
    }

    /// Checks a request before any endpoint, in the order of the reference server.
    private mutating func admit(
        _ request: WireRequest, in state: inout SandboxState, at now: Date, habits: BlueskyHabits
    ) throws(BlueskyRefusal) -> WireAnswer {
        let route = try Self.route(of: request)
        let token = request.bearerToken
        let caller = try caller(token, for: route, at: request.arrival ?? now, habits: habits)
        let query = request.query
        try requireStanding(of: caller, query, in: state)
        if let unknown = query.first(where: { !route.parameters.contains($0.name) }) {
            throw .invalid("Error: unknown parameter \(unknown.name.prefix(40))")
        }
        let call = BlueskyCall(
            request: request, query: query, fields: try Self.fields(of: request, for: route),
            caller: caller,
            token: token, now: now, habits: habits)
        return try route.answer(call)(&self, &state)
    }

    /// Refuses requests by, and about, accounts that cannot be used.
    private func requireStanding(
        of caller: Int?, _ query: [(name: String, value: String)], in state: SandboxState
    ) throws(BlueskyRefusal) {
        if let refusal = BlueskyRefusal(state.standing(of: caller)) { throw refusal }
        for (name, value) in query where ["actor", "repo"].contains(name) {
            if let refusal = BlueskyRefusal(state.standing(of: repository.people.index(of: value)))
            {
                throw refusal
            }
        }
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
        if route.takesFile {
            guard !request.body.isEmpty, request.mediaType != nil else {
                throw .invalid("A request body is expected but none was provided")
            }
            return [:]
        }
        guard let allowed = route.fields else {
            guard request.body.isEmpty else {
                throw .invalid("A request body was provided when none was expected")
            }
            return [:]
        }
        guard !request.body.isEmpty else {
            throw .invalid("A request body is expected but none was provided")
        }
        guard request.mediaType == "application/json" else {
            throw .invalid(
                "Wrong request encoding (Content-Type): \(request.mediaType?.prefix(40) ?? "none")")
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
    /// Answers a request for a DID document: a person's, as the directory, or the server's own.
    private func document(_ request: WireRequest, in state: inout SandboxState, at now: Date)
        -> WireAnswer
    {
        let host = request.header("host") ?? "127.0.0.1"
        let url = "http://" + host
        let name = String(request.path.dropFirst())
        if request.method != "GET" {
            state.note(
                request, status: 405, reason: "method not allowed", isExpected: false, at: now)
            return .json(["message": "Method Not Allowed"], status: 405)
        }
        if request.path == "/.well-known/did.json" {
            return .json(SandboxDirectory.serverDocument(host: host, at: url))
        }
        guard let person = repository.people.index(of: name) else {
            state.note(
                request, status: 404, reason: "DID not registered", isExpected: false, at: now)
            return .json(
                ["message": .string("DID not registered: \(name.prefix(80))")], status: 404)
        }
        var answer = WireAnswer.json(repository.people.document(of: person, at: url))
        answer.headers = [("content-type", "application/did+ld+json; charset=utf-8")]
        return answer
    }
}

/// The requested writes, before they are checked.
extension BlueskyWire {
    private static let writes: Set = [
        "/xrpc/com.atproto.repo.createRecord", "/xrpc/com.atproto.repo.putRecord",
    ]

    func draft(of request: WireRequest, at now: Date) -> SandboxLedger.Write? {
        let members = request.members
        if request.path == "/xrpc/com.atproto.repo.applyWrites" {
            let write = members["writes"]?.list?.first {
                $0["collection"]?.text == RecordAddress.posts
            }
            return write.flatMap {
                draft(of: $0["value"], in: RecordAddress.posts, key: $0["rkey"]?.text, at: now)
            }
        }
        guard Self.writes.contains(request.path) else { return nil }
        return draft(
            of: members["record"], in: members["collection"]?.text, key: members["rkey"]?.text,
            at: now)
    }

    private func draft(
        of record: RecordValue?, in collection: String?, key: String?, at now: Date
    ) -> SandboxLedger.Write? {
        switch collection {
        case RecordAddress.posts:
            let parent = record?["reply"]?["parent"]
            return SandboxLedger.Write(
                at: now, kind: parent == nil ? .post : .reply, key: key,
                text: record?["text"]?.text,
                target: number(parent))
        case RecordAddress.likes:
            return SandboxLedger.Write(
                at: now, kind: .favorite, key: key, target: number(record?["subject"]))
        default:
            return nil
        }
    }

    private func number(_ reference: RecordValue?) -> String? {
        let address = reference?["uri"]?.text.flatMap { RecordAddress($0) }
        return address.flatMap { repository.number(of: $0) }.map { String($0) }
    }
}

/// The refusal of a request, in the words of the protocol.
struct BlueskyRefusal: Error, Equatable {
    var status: Int
    /// The name by which clients recognize the error.
    var error: String
    var message: String
    /// Whether the client is not to blame.
    var isExpected: Bool

    init(_ status: Int, _ error: String, _ message: String, isExpected: Bool = false) {
        self.status = status
        self.error = error
        self.message = message
        self.isExpected = isExpected
    }

    static func invalid(_ message: String, isExpected: Bool = false) -> BlueskyRefusal {
        BlueskyRefusal(400, "InvalidRequest", message, isExpected: isExpected)
    }

    /// Creates the refusal of an expired token; it is expected, because a client learns of a
    /// token's end by this error.
    static func expired(_ message: String) -> BlueskyRefusal {
        BlueskyRefusal(400, "ExpiredToken", message, isExpected: true)
    }

    static func invalidToken(_ message: String) -> BlueskyRefusal {
        BlueskyRefusal(400, "InvalidToken", message)
    }

    static let rateLimited = BlueskyRefusal(429, "RateLimitExceeded", "Rate Limit Exceeded")

    static let missingAuthentication = BlueskyRefusal(401, "AuthMissing", "Authentication Required")

    /// Creates the refusal for a missing record; it is expected, because a client learns whether a
    /// record exists by requesting it.
    static func recordNotFound(_ uri: String) -> BlueskyRefusal {
        BlueskyRefusal(400, "RecordNotFound", "Could not locate record: \(uri)", isExpected: true)
    }

    /// Creates the refusal of a failed swap condition; it is expected if the client required that
    /// there be no record, because a client that retries cannot know that the record exists.
    static func invalidSwap(was cid: String?, isExpected: Bool = false) -> BlueskyRefusal {
        BlueskyRefusal(400, "InvalidSwap", "Record was at \(cid ?? "null")", isExpected: isExpected)
    }

    var body: WireJSON { ["error": .string(error), "message": .string(message)] }

    func answer(as form: BlueskyHabits.ErrorForm) -> WireAnswer {
        switch form {
        case .xrpc: return .json(body, status: status)
        case .plainText:
            return .text("\(error): \(message)", type: "text/plain; charset=utf-8", status: status)
        case .html:
            return .text(
                "<html><body><h1>\(status)</h1></body></html>", type: "text/html", status: status)
        case .empty: return WireAnswer(status: status)
        }
    }
}

extension SandboxDirectory {
    /// The index of the person with the DID or the handle.
    func index(of actor: String) -> Int? { person(id: actor.lowercased()) ?? person(handle: actor) }

    /// The person's DID document, on a server at `url`.
    func document(of person: Int, at url: String) -> WireJSON {
        let did = ids[person]
        return [
            "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
            "id": .string(did), "alsoKnownAs": [.string("at://\(handles[person])")],
            // Nothing is signed here, so there is no key.
            "verificationMethod": [],
            "service": Self.service(at: url),
        ]
    }

    /// The DID document of the server itself.
    static func serverDocument(host: String, at url: String) -> WireJSON {
        [
            "@context": ["https://www.w3.org/ns/did/v1"],
            "id": .string("did:web:" + host.split(separator: ":").joined(separator: "%3A")),
            "service": service(at: url),
        ]
    }

    private static func service(at url: String) -> WireJSON {
        [
            [
                "id": "#atproto_pds", "type": "AtprotoPersonalDataServer",
                "serviceEndpoint": .string(url),
            ]
        ]
    }
}
