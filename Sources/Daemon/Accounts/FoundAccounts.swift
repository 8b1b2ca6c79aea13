import Networks
import Posts

/// The accounts that a mirror has, or why it has them not.
struct FoundAccounts: Sendable {
    let configuration: MirrorConfiguration
    private(set) var accounts: [AccountRole: AccountConfiguration] = [:]
    private(set) var problems: [AccountRole: String] = [:]

    init(in stores: MirrorStores) async throws {
        configuration = stores.configuration
        for role in AccountRole.allCases {
            do {
                accounts[role] = try await stores.account(role)
            } catch let error as ConfigurationError {
                problems[role] = error.description
            }
        }
    }

    /// The networks that the accounts live on.
    var networks: Set<NetworkName> { Set(accounts.values.map(\.network)) }

    /// Why a role does nothing; nil if it has an account.
    func problem(_ role: AccountRole) -> String? {
        guard accounts[role] == nil else { return nil }
        if let problem = problems[role] { return problem }
        let names = AccountSetting.requiredNames(on: configuration.network(of: role), by: role)
        let start = names.dropLast().joined(separator: ", ")
        return names.count == 1 ? "\(names[0]) is not set" : "\(start) and \(names[names.count - 1]) are not set"
    }

    /// Why the home timeline of a role is not read; nil if it is.
    func homeProblem(_ role: AccountRole) -> String? {
        switch accounts[role]?.credentials {
        case nil: "the \(role.rawValue) has no account"
        case .x where configuration.x.homePostsPerDay == 0: "X_HOME_POSTS_PER_DAY is 0"
        case .bluesky(_, nil): "\(AccountSetting.appPassword.name(of: role)) is not set"
        default: nil
        }
    }
}
