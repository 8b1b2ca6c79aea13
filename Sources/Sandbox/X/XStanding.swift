extension XRefusal {
    /// The refusal of the human's own credentials; nil if the account can be used.
    init?(_ standing: SandboxStanding, id: String) {
        switch standing {
        case .active, .memorial, .moved, .deactivated: return nil
        case .suspended:
            self = .problem(
                403, "Forbidden",
                "Your account is suspended and is not permitted to access this feature.", code: 64,
                isExpected: true, more: [("code", 64)])
        case .deleted:
            self.init(
                status: 404,
                body: XIncludes.missing("user", id, parameter: "id").adding(("status", 404)),
                reason: "no such user", isExpected: true, code: 50)
        }
    }
}
