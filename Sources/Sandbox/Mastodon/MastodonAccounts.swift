import Posts

/// Accounts, and what belongs to the account of a token.
enum MastodonAccounts {
    static let routes: [MastodonRoute] = [
        MastodonRoute(
            "GET", "/api/v1/accounts/verify_credentials", .scope(["profile", "read:accounts"]),
            answer: verifyCredentials),
        MastodonRoute("GET", "/api/v1/accounts/lookup", .anybody, parameters: ["acct"], answer: lookUp),
        MastodonRoute("GET", "/api/v1/accounts/:id", .anybody, answer: account),
        MastodonRoute("GET", "/api/v1/apps/verify_credentials", .scope([]), answer: application),
        MastodonRoute(
            "PATCH", "/api/v1/accounts/update_credentials", .scope(["write:accounts"]), fields: ["bot", "actor_type"],
            answer: update),
    ]

    private static func verifyCredentials(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        .json(MastodonEntities(state: state, call).ownAccount(try call.account()))
    }

    private static func lookUp(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        guard let name = call.parameter("acct"), !name.isEmpty else {
            throw WireRefusal(status: 400, message: "Bad Request: acct is missing")
        }
        guard let index = state.population.index(of: name.drop { $0 == "@" }) else { throw .notFound }
        return .json(MastodonEntities(state: state, call).account(index))
    }

    private static func account(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        guard let index = MastodonEntities.index(ofAccount: call.segments[0], in: state.population, call.habits) else {
            throw .notFound
        }
        return .json(MastodonEntities(state: state, call).account(index))
    }

    private static func application(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        guard !call.habits.lacksApplications else { throw .notThere }
        return .json([
            "id": "1", "name": .string(call.application ?? ""), "website": nil,
            "scopes": .array(call.scopes.sorted().map(WireJSON.string)), "redirect_uri": "urn:ietf:wg:oauth:2.0:oob",
            "redirect_uris": ["urn:ietf:wg:oauth:2.0:oob"],
        ])
    }

    /// Whether the account is automated: Pleroma asks for it in its own way.
    private static func update(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        let person = try call.account()
        if let flag = try call.fields.flag("bot") { state.botFlags[person] = flag }
        if call.habits.software == .pleroma, let type = try call.fields.text("actor_type") {
            guard ["Person", "Service"].contains(type) else { throw .invalid("actor_type is not known") }
            state.botFlags[person] = type == "Service"
        }
        return .json(MastodonEntities(state: state, call).ownAccount(person))
    }
}
