import Posts

/// Accounts, and what the server says about itself.
enum MastodonAccounts {
    static let routes: [MastodonRoute] = [
        MastodonRoute(
            "GET", "/api/v1/accounts/verify_credentials", .scope(["profile", "read:accounts"]),
            answer: verifyCredentials),
        MastodonRoute("GET", "/api/v1/accounts/lookup", .anybody, parameters: ["acct"], answer: lookUp),
        MastodonRoute("GET", "/api/v1/accounts/:id", .anybody, answer: account),
        MastodonRoute("GET", "/api/v1/apps/verify_credentials", .scope([]), answer: application),
        MastodonRoute("GET", "/api/v1/instance", .open, answer: instance),
        MastodonRoute("GET", "/api/v2/instance", .open, answer: instanceV2),
    ]

    private static func verifyCredentials(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        .json(MastodonEntities(state: state, viewer: call.caller).ownAccount(try call.account()))
    }

    private static func lookUp(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        guard let name = call.parameter("acct"), !name.isEmpty else {
            throw WireRefusal(status: 400, message: "Bad Request: acct is missing")
        }
        guard let index = state.population.index(of: name.drop { $0 == "@" }) else { throw .notFound }
        return .json(MastodonEntities(state: state, viewer: call.caller).account(index))
    }

    private static func account(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        guard let index = MastodonEntities.index(ofAccount: call.segments[0], in: state.population) else {
            throw .notFound
        }
        return .json(MastodonEntities(state: state, viewer: call.caller).account(index))
    }

    private static func application(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        .json([
            "id": "1", "name": "mirror-bot", "website": nil,
            "scopes": .array(call.scopes.sorted().map(WireJSON.string)), "redirect_uri": "urn:ietf:wg:oauth:2.0:oob",
            "redirect_uris": ["urn:ietf:wg:oauth:2.0:oob"],
        ])
    }

    private static let version = "4.4.0"

    private static let limits: WireJSON = [
        "statuses": [
            "max_characters": .integer(StatusText.maximumCharacters), "max_media_attachments": 4,
            "characters_reserved_per_url": .integer(StatusText.charactersPerLink),
        ],
        "accounts": ["max_featured_tags": 10, "max_pinned_statuses": 5],
        "polls": [
            "max_options": 4, "max_characters_per_option": 50, "min_expiration": 300, "max_expiration": 2_629_746,
        ],
    ]

    private static let rules: WireJSON = [["id": "1", "text": "Automated accounts carry the bot flag."]]

    private static func instance(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        .json([
            "uri": .string(SamplePeople.host), "title": "Sandbox", "short_description": "A small network.",
            "description": "", "email": "admin@sandbox.example", "version": .string(version),
            "urls": ["streaming_api": .string("wss://\(SamplePeople.host)")],
            "stats": [
                "user_count": .integer(state.people.count), "status_count": .integer(state.posts.count),
                "domain_count": 2,
            ],
            "thumbnail": nil, "languages": ["ja", "en"], "registrations": false, "approval_required": false,
            "invites_enabled": false, "configuration": limits, "contact_account": nil, "rules": rules,
        ])
    }

    private static func instanceV2(
        _ state: inout SandboxState, _ call: MastodonCall
    ) throws(WireRefusal) -> WireAnswer {
        .json([
            "domain": .string(SamplePeople.host), "title": "Sandbox", "version": .string(version),
            "source_url": "https://sandbox.example/source", "description": "A small network.",
            "usage": ["users": ["active_month": .integer(state.people.count)]],
            "thumbnail": ["url": "https://sandbox.example/thumbnail.png"], "languages": ["ja", "en"],
            "configuration": limits.adding(("urls", ["streaming": .string("wss://\(SamplePeople.host)")])),
            "registrations": ["enabled": false, "approval_required": false, "message": nil],
            "api_versions": ["mastodon": 6], "contact": ["email": "admin@sandbox.example", "account": nil],
            "rules": rules,
        ])
    }
}
