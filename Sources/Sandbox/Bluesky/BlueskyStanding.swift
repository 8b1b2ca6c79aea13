extension BlueskyRefusal {
    /// The refusal of a session, and of all requests about its account; nil if the account can be
    /// used.
    init?(_ standing: SandboxStanding) {
        switch standing {
        case .active, .memorial, .moved: return nil
        case .suspended:
            self.init(400, "AccountTakedown", "Account has been suspended", isExpected: true)
        case .deactivated:
            self.init(400, "AccountDeactivated", "Account is deactivated", isExpected: true)
        case .deleted:
            self.init(400, "RepoNotFound", "Could not find repo", isExpected: true)
        }
    }
}

extension BlueskyCall {
    static let standingRoutes: [String: BlueskyRoute] = [
        "com.atproto.sync.getRepoStatus": .query(
            .open, parameters: ["did"], answer: BlueskyCall.repoStatus)
    ]

    private func repoStatus(
        _ wire: inout BlueskyWire, _ state: inout SandboxState
    ) throws(BlueskyRefusal) -> WireAnswer {
        let did = try required("did")
        guard let person = wire.repository.people.index(of: did) else {
            throw BlueskyRefusal(
                400, "RepoNotFound", "Could not find repo for DID: \(did.prefix(80))")
        }
        let standing = state.standing(of: person)
        let status: String? =
            switch standing {
            case .active, .memorial, .moved: nil
            case .suspended: "takendown"
            case .deactivated: "deactivated"
            case .deleted:
                throw BlueskyRefusal(
                    400, "RepoNotFound", "Could not find repo for DID: \(did)", isExpected: true)
            }
        return .json([
            "did": .string(did), "active": .bool(status == nil), "status": .optional(status),
        ])
    }
}
