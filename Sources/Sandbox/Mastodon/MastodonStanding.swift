extension WireRefusal {
    /// The refusal of a token whose account cannot be used; nil if it can.
    init?(_ standing: SandboxStanding) {
        switch standing {
        case .active, .deactivated: return nil
        case .memorial, .suspended, .moved:
            self.init(status: 403, message: "Your login is currently disabled", isExpected: true)
        case .deleted:
            self.init(status: 401, message: "The access token is invalid", isExpected: true)
        }
    }
}
