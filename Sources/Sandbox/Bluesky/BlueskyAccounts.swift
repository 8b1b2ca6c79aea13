import Foundation
import Posts

/// Sessions, identities and profiles.
extension BlueskyCall {
    /// The time at which all accounts were created.
    static let epoch = Date(timeIntervalSince1970: 1_688_137_381)
    static let maximumActors = 25

    static let accountRoutes: [String: BlueskyRoute] = [
        "com.atproto.server.createSession": .procedure(
            .open, fields: ["identifier", "password", "authFactorToken", "allowTakendown"],
            answer: BlueskyCall.createSession),
        "com.atproto.server.refreshSession": .procedure(
            .refresh, fields: nil, answer: BlueskyCall.refreshSession),
        "com.atproto.server.deleteSession": .procedure(
            .refresh, fields: nil, answer: BlueskyCall.deleteSession),
        "com.atproto.server.getSession": .query(.session, answer: BlueskyCall.getSession),
        "com.atproto.server.describeServer": .query(.open, answer: BlueskyCall.describeServer),
        "com.atproto.identity.resolveHandle": .query(
            .open, parameters: ["handle"], answer: BlueskyCall.resolveHandle),
        "app.bsky.actor.getProfile": .query(
            .anybody, parameters: ["actor"], answer: BlueskyCall.getProfile),
        "app.bsky.actor.getProfiles": .query(
            .anybody, parameters: ["actors"], answer: BlueskyCall.getProfiles),
    ]

    private func createSession(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let identifier = try requiredText("identifier").lowercased()
        let password = try requiredText("password")
        let person = wire.repository.people.index(of: identifier)
        let account = person.map { wire.repository.people.ids[$0] } ?? identifier
        wire.standing = wire.rates.countLogin(to: account, at: now)
        if wire.standing?.isExceeded == true { throw .rateLimited }
        let role = SandboxRole.allCases.first { $0.person == person }
        guard let role, wire.access.bluesky(role).appPassword == password else {
            throw BlueskyRefusal(401, "AuthenticationRequired", "Invalid identifier or password")
        }
        if let refusal = BlueskyRefusal(state.standing(of: role.person)) { throw refusal }
        let tokenPair = wire.sessions.open(for: role.person, at: now)
        return session(of: role.person, newTokens: tokenPair, in: wire)
    }

    private func refreshSession(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let (person, tokenPair) = try wire.sessions.refresh(token ?? "", at: now, habits: habits)
        if let refusal = BlueskyRefusal(state.standing(of: person)) { throw refusal }
        return session(of: person, newTokens: tokenPair, in: wire)
    }

    private func deleteSession(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        try wire.sessions.close(token ?? "", at: now)
        return WireAnswer(status: 200)
    }

    private func describeServer(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        .json([
            "did": "did:web:sandbox.example", "availableUserDomains": [".sandbox.example"],
            "inviteCodeRequired": true,
            "links": [
                "termsOfService": "https://sandbox.example/terms",
                "privacyPolicy": "https://sandbox.example/privacy",
            ],
        ])
    }

    private func getSession(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal) -> WireAnswer
    {
        session(of: try account(), newTokens: nil, in: wire)
    }

    /// Returns the account, with a pair of tokens if a new one was issued.
    private func session(
        of person: Int, newTokens tokenPair: BlueskySessions.Pair?, in wire: BlueskyWire
    ) -> WireAnswer {
        let people = wire.repository.people
        let tokens: [(String, WireJSON)] =
            tokenPair.map {
                [("accessJwt", .string($0.access)), ("refreshJwt", .string($0.refresh))]
            }
            ?? []
        return .json(
            .object(
                tokens + [
                    ("handle", .string(people.handles[person])),
                    ("did", .string(people.ids[person])),
                    ("didDoc", people.document(of: person, at: url)), ("active", true),
                ]))
    }

    private func resolveHandle(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let handle = try required("handle")
        guard RecordSyntax.isHandle(handle) else {
            throw .invalid("Error: handle must be a valid handle")
        }
        guard let person = wire.repository.people.index(of: handle) else {
            throw .invalid("Unable to resolve handle")
        }
        return .json(["did": .string(wire.repository.people.ids[person])])
    }

    private func getProfile(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal) -> WireAnswer
    {
        let actor = try required("actor")
        guard let person = try index(of: actor, in: wire) else {
            throw .invalid("Profile not found")
        }
        return .json(wire.repository.detailedProfile(of: person, for: caller, in: state))
    }

    private func getProfiles(_ wire: inout BlueskyWire, _ state: inout SandboxState)
        throws(BlueskyRefusal)
        -> WireAnswer
    {
        let actors = parameters("actors")
        guard (1...Self.maximumActors).contains(actors.count) else {
            throw .invalid("Error: actors must have between 1 and \(Self.maximumActors) elements")
        }
        var profiles: [WireJSON] = []
        for actor in actors {
            guard let person = try index(of: actor, in: wire) else { continue }
            profiles.append(wire.repository.detailedProfile(of: person, for: caller, in: state))
        }
        return .json(["profiles": .array(profiles)])
    }

    /// The index of the actor; nil if there is no such actor.
    func index(of actor: String, in wire: BlueskyWire) throws(BlueskyRefusal) -> Int? {
        guard RecordSyntax.isActor(actor) else {
            throw .invalid("Error: actor must be a valid did or a handle")
        }
        return wire.repository.people.index(of: actor)
    }
}

/// The login sessions: access tokens that expire soon, refresh tokens exchanged for new pairs.
struct BlueskySessions: Sendable {
    /// The token pair that a client receives.
    typealias Pair = (access: String, refresh: String)

    private struct Access: Sendable {
        var person: Int
        var issued: Date
        var isRevoked = false
    }

    private struct Refresh: Sendable {
        var person: Int
        var ends: Date
        /// The access token of the same pair.
        var access: String
        /// The refresh token that replaced it.
        var successor: String?
        var isRevoked = false
    }

    static let refreshLifetime = 90 * 86_400.0
    /// Seconds for which a refresh token stays valid after it was exchanged.
    static let grace = 2 * 3_600.0

    private var generator: SampleGenerator
    private var accesses: [String: Access] = [:]
    private var refreshes: [String: Refresh] = [:]

    init(seed: UInt64) { generator = SampleGenerator(seed: seed) }

    /// Begins a session.
    mutating func open(for person: Int, at now: Date) -> Pair {
        let access = accessToken(for: person, at: now)
        let refresh = word()
        refreshes[refresh] = Refresh(
            person: person, ends: now + Self.refreshLifetime, access: access)
        return (access, refresh)
    }

    /// Returns the index of the person whom an access token belongs to.
    ///
    /// - Throws: `ExpiredToken` if the token has expired or was revoked, `InvalidToken` if it is no
    ///   access token.
    func person(access token: String, at now: Date, habits: BlueskyHabits) throws(BlueskyRefusal)
        -> Int
    {
        guard let access = accesses[token] else {
            if refreshes[token] != nil { throw .invalidToken("Bad token scope") }
            throw .invalidToken("Token could not be verified")
        }
        if access.isRevoked { throw .expired("Token has been revoked") }
        guard now.timeIntervalSince(access.issued) < habits.accessTokenLifetime else {
            throw .expired("Token has expired")
        }
        return access.person
    }

    /// Exchanges a refresh token for a new pair; a token that was already exchanged returns its
    /// successor again.
    mutating func refresh(
        _ token: String, at now: Date, habits: BlueskyHabits
    ) throws(BlueskyRefusal) -> (person: Int, pair: Pair) {
        let storedRefresh = try refresh(named: token, at: now)
        if let successor = storedRefresh.successor {
            guard var next = refreshes[successor], !next.isRevoked else {
                throw .expired("Token has been revoked")
            }
            next.access = accessToken(for: storedRefresh.person, at: now)
            refreshes[successor] = next
            return (storedRefresh.person, (next.access, successor))
        }
        let tokenPair = open(for: storedRefresh.person, at: now)
        if habits.revokesOldTokens {
            refreshes[token]?.isRevoked = true
            accesses[storedRefresh.access]?.isRevoked = true
        } else {
            refreshes[token]?.successor = tokenPair.refresh
            refreshes[token]?.ends = min(storedRefresh.ends, now + Self.grace)
        }
        return (storedRefresh.person, tokenPair)
    }

    /// Ends a session; its access token stays valid until it expires, because it is checked without
    /// a look-up.
    mutating func close(_ token: String, at now: Date) throws(BlueskyRefusal) {
        let storedRefresh = try refresh(named: token, at: now)
        refreshes[token]?.isRevoked = true
        if let successor = storedRefresh.successor { refreshes[successor]?.isRevoked = true }
    }

    private func refresh(named token: String, at now: Date) throws(BlueskyRefusal) -> Refresh {
        guard let storedRefresh = refreshes[token] else {
            if accesses[token] != nil { throw .invalidToken("Bad token scope") }
            throw .invalidToken("Token could not be verified")
        }
        if storedRefresh.isRevoked { throw .expired("Token has been revoked") }
        guard now < storedRefresh.ends else { throw .expired("Token has expired") }
        return storedRefresh
    }

    private mutating func accessToken(for person: Int, at now: Date) -> String {
        let token = word()
        accesses[token] = Access(person: person, issued: now)
        return token
    }

    /// Returns a random word for a token.
    private mutating func word() -> String {
        (0..<4).map { _ in String(generator.next(), radix: 36) }.joined(separator: ".")
    }
}
