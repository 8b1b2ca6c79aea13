import Posts

/// The accounts that a mirror has, or why it has them not.
struct FoundAccounts: Sendable {
    let configuration: MirrorConfiguration
    private(set) var accounts: [AccountRole: AccountConfiguration] = [:]
    private(set) var problems: [AccountRole: String] = [:]

    init(in mirror: HumanMirror) async throws {
        configuration = mirror.configuration
        for role in AccountRole.allCases {
            do {
                accounts[role] = try await mirror.account(role)
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
        let names = configuration.network(of: role).descriptor.requiredNames(of: role)
        let start = names.dropLast().joined(separator: ", ")
        return names.count == 1 ? "\(names[0]) is not set" : "\(start) and \(names[names.count - 1]) are not set"
    }

    /// Why the home timeline of a role is not read; nil if it is.
    func homeGap(_ role: AccountRole) -> NetworkDescriptor.HomeGap? {
        guard let account = accounts[role] else {
            return .init(words: "the \(role.rawValue) has no account", isChosen: false)
        }
        return account.network.descriptor.homeGap(account, configuration)
    }
}
