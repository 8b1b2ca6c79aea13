import Posts

/// What the server says about itself.
enum MastodonServer {
    static let routes: [MastodonRoute] = [
        MastodonRoute("GET", "/api/v1/instance", .open, answer: first),
        MastodonRoute("GET", "/api/v2/instance", .open, answer: second),
    ]

    private static let rules: WireJSON = [["id": "1", "text": "Automated accounts carry the bot flag."]]

    /// The version as each program writes it; some claim to be a Mastodon, so that apps work.
    static func version(_ software: MastodonHabits.Software) -> String {
        switch software {
        case .mastodon: "4.4.0"
        case .gotosocial: "0.20.0+git-57cb4fe"
        case .pleroma: "2.7.2 (compatible; Pleroma 2.9.1)"
        case .takahe: "takahe/0.11.0"
        case .snac: "4.0.0 (not true; really snac/2.84)"
        }
    }

    private static func source(_ software: MastodonHabits.Software) -> String {
        switch software {
        case .mastodon: "https://sandbox.example/source"
        case .gotosocial: "https://sandbox.example/superseriousbusiness/gotosocial"
        case .pleroma: "https://sandbox.example/pleroma/pleroma"
        case .takahe: "https://sandbox.example/jointakahe/takahe"
        case .snac: "https://sandbox.example/grunfink/snac2"
        }
    }

    private static func limits(_ habits: MastodonHabits) -> WireJSON {
        var statuses: WireJSON = [
            "max_characters": .integer(habits.maximumCharacters), "max_media_attachments": 4,
        ]
        if let count = habits.advertisedCharactersPerLink {
            statuses = statuses.adding(("characters_reserved_per_url", .integer(count)))
        }
        return [
            "statuses": statuses, "accounts": ["max_featured_tags": 10, "max_pinned_statuses": 5],
            "polls": [
                "max_options": 4, "max_characters_per_option": 50, "min_expiration": 300,
                "max_expiration": 2_629_746,
            ],
        ]
    }

    private static func first(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        let habits = call.habits
        let entity: WireJSON = [
            "uri": .string(SamplePeople.host), "title": "Sandbox", "short_description": "A small network.",
            "description": "", "email": "admin@sandbox.example", "version": .string(version(habits.software)),
            "urls": ["streaming_api": .string("wss://\(SamplePeople.host)")],
            "stats": [
                "user_count": .integer(state.people.count), "status_count": .integer(state.posts.count),
                "domain_count": 2,
            ],
            "thumbnail": nil, "languages": ["ja", "en"], "registrations": false, "approval_required": false,
            "invites_enabled": false, "contact_account": nil, "rules": rules,
        ]
        guard habits.software == .pleroma else { return .json(entity.adding(("configuration", limits(habits)))) }
        return .json(
            entity.adding(
                ("max_toot_chars", .integer(habits.maximumCharacters)),
                ("pleroma", ["metadata": ["features": ["pleroma_api", "mastodon_api"]]])))
    }

    private static func second(_ state: inout SandboxState, _ call: MastodonCall) throws(WireRefusal) -> WireAnswer {
        let habits = call.habits
        guard !habits.lacksInstanceV2 else { throw .notThere }
        let entity: WireJSON = [
            "domain": .string(SamplePeople.host), "title": "Sandbox", "version": .string(version(habits.software)),
            "source_url": .string(source(habits.software)), "description": "A small network.",
            "usage": ["users": ["active_month": .integer(state.people.count)]],
            "thumbnail": ["url": "https://sandbox.example/thumbnail.png"], "languages": ["ja", "en"],
            "configuration": limits(habits).adding(("urls", ["streaming": .string("wss://\(SamplePeople.host)")])),
            "registrations": ["enabled": false, "approval_required": false, "message": nil],
            "contact": ["email": "admin@sandbox.example", "account": nil], "rules": rules,
        ]
        switch habits.software {
        case .mastodon: return .json(entity.adding(("api_versions", ["mastodon": 6])))
        case .gotosocial: return .json(entity.adding(("account_domain", .string(SamplePeople.host))))
        case .pleroma, .takahe, .snac: return .json(entity)
        }
    }
}
