import NetworkNames
package import Networks
package import Posts

/// The state of the credentials' own account, as X has reported it in answers to other calls; it is
/// not requested, because that would cost money.
extension XNetwork {
    package func standing(of account: AccountID) async throws -> AccountStanding? {
        guard account.network == .x else { return nil }
        return memory.standing
    }
}

extension AccountStanding {
    /// The error code of version 1.1 for credentials whose account is suspended.
    private static let ownAccountSuspended = 64

    /// The state of the account whose credentials made a call; nil unless one of the problems names
    /// it.
    init?(_ problems: [XProblem], answering call: NetworkCall) {
        let ownProblem = problems.first { problem in
            if problem.code == Self.ownAccountSuspended { return true }
            guard problem.resourceType == "user", let id = problem.resourceID else { return false }
            return call.operation == .verifyAccount
                || call.operation == .readOwnPosts && call.path.contains("/users/\(id)/")
        }
        guard let ownProblem else { return nil }
        if ownProblem.code == Self.ownAccountSuspended { self = .suspended; return }
        guard ownProblem.kind == "resource-not-found" else { return nil }
        let isSuspended = ownProblem.detail?.lowercased().contains("has been suspended") == true
        self = isSuspended ? .suspended : .deleted
    }
}
