import Foundation
import Posts

/// Sessions, identities and profiles.
enum BlueskyAccounts {
    /// When everybody joined.
    static let epoch = Date(timeIntervalSince1970: 1_688_137_381)
    static let maximumActors = 25

    static let routes: [String: BlueskyRoute] = [
        "com.atproto.server.createSession": .procedure(
            .open, ["identifier", "password", "authFactorToken", "allowTakendown"], answer: createSession),
        "com.atproto.server.refreshSession": .procedure(.refresh, nil, answer: refreshSession),
        "com.atproto.server.deleteSession": .procedure(.refresh, nil, answer: deleteSession),
        "com.atproto.server.getSession": .query(.session, answer: getSession),
        "com.atproto.identity.resolveHandle": .query(.open, ["handle"], answer: resolveHandle),
        "app.bsky.actor.getProfile": .query(.anybody, ["actor"], answer: getProfile),
        "app.bsky.actor.getProfiles": .query(.anybody, ["actors"], answer: getProfiles),
    ]

    private static func createSession(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let identifier = try call.requiredText("identifier").lowercased()
        let password = try call.requiredText("password")
        let person = wire.repository.people.index(of: identifier)
        let account = person.map { wire.repository.people.dids[$0] } ?? identifier
        wire.standing = wire.rates.countLogin(to: account, at: call.now)
        if wire.standing?.isExceeded ?? false { throw .rateLimited }
        let role = SandboxRole.allCases.first { $0.person == person }
        guard let role, wire.access.bluesky(role).appPassword == password else {
            throw BlueskyRefusal(401, "AuthenticationRequired", "Invalid identifier or password")
        }
        let pair = wire.sessions.open(for: role.person, at: call.now)
        return session(of: role.person, pair, wire, call)
    }

    private static func refreshSession(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let (person, pair) = try wire.sessions.refresh(call.token ?? "", at: call.now, habits: call.habits)
        return session(of: person, pair, wire, call)
    }

    private static func deleteSession(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        try wire.sessions.close(call.token ?? "", at: call.now)
        return WireAnswer(status: 200)
    }

    private static func getSession(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        session(of: try call.account(), nil, wire, call)
    }

    /// The account, with a pair of tokens if there is a new one.
    private static func session(
        of person: Int, _ pair: BlueskySessions.Pair?, _ wire: BlueskyWire, _ call: BlueskyCall
    ) -> WireAnswer {
        let people = wire.repository.people
        let tokens: [(String, WireJSON)] =
            pair.map { [("accessJwt", .string($0.access)), ("refreshJwt", .string($0.refresh))] } ?? []
        return .json(
            .object(
                tokens + [
                    ("handle", .string(people.handles[person])), ("did", .string(people.dids[person])),
                    ("didDoc", people.document(of: person, at: call.url)), ("active", true),
                ]))
    }

    private static func resolveHandle(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let handle = try call.required("handle")
        guard RecordSyntax.isHandle(handle) else { throw .invalid("Error: handle must be a valid handle") }
        guard let person = wire.repository.people.index(of: handle) else { throw .invalid("Unable to resolve handle") }
        return .json(["did": .string(wire.repository.people.dids[person])])
    }

    private static func getProfile(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let actor = try call.required("actor")
        guard let person = try index(of: actor, wire) else { throw .invalid("Profile not found") }
        return .json(wire.repository.detailedProfile(of: person, for: call.caller, in: state))
    }

    private static func getProfiles(
        _ wire: inout BlueskyWire, _ state: inout SandboxState, _ call: BlueskyCall
    ) throws(BlueskyRefusal) -> WireAnswer {
        let actors = call.parameters("actors")
        guard (1...maximumActors).contains(actors.count) else {
            throw .invalid("Error: actors must have between 1 and \(maximumActors) elements")
        }
        var profiles: [WireJSON] = []
        for actor in actors {
            guard let person = try index(of: actor, wire) else { continue }
            profiles.append(wire.repository.detailedProfile(of: person, for: call.caller, in: state))
        }
        return .json(["profiles": .array(profiles)])
    }

    /// The index of the actor; nil when nobody is called so.
    static func index(of actor: String, _ wire: BlueskyWire) throws(BlueskyRefusal) -> Int? {
        guard RecordSyntax.isActor(actor) else { throw .invalid("Error: actor must be a valid did or a handle") }
        return wire.repository.people.index(of: actor)
    }
}
