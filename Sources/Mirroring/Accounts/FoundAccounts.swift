import Localization
package import Posts
package import Settings

/// The accounts of a mirror, and for each missing one the reason.
package struct FoundAccounts: Sendable {
    package let configuration: MirrorSettings
    package private(set) var accounts: [AccountRole: AccountConfiguration] = [:]
    /// Why a login cannot be used.
    package private(set) var errors: [AccountRole: ConfigurationError] = [:]

    /// - Throws: The store's error.
    package init(in mirror: HumanMirror) async throws {
        let isWhole = AccountRole.allCases.allSatisfy { mirror.configuration.account($0) != nil }
        let sealed = isWhole ? [:] : try await mirror.vault.sealedLogins()
        self.init(
            in: mirror,
            logins: sealed.reduce(into: [:]) { logins, login in
                logins[login.key] = Result { try mirror.vault.opened(login.value, of: login.key) }
            })
    }

    /// - Parameter logins: The stored logins, or the errors of those that cannot be opened.
    package init(in mirror: HumanMirror, logins: [AccountRole: Result<StoredLogin, any Error>]) {
        configuration = mirror.configuration
        for role in AccountRole.allCases { accounts[role] = configuration.account(role) }
        for (role, login) in logins where accounts[role] == nil {
            do {
                accounts[role] = try mirror.account(role, openedBy: try login.get())
            } catch {
                errors[role] =
                    error as? ConfigurationError ?? ConfigurationError("\(role)", "\(error)")
            }
        }
    }

    /// The networks that the accounts live on.
    package var networks: Set<NetworkName> { Set(accounts.values.map(\.network)) }

    /// The reason why a role cannot work; nil if it has an account.
    package func problem(_ role: AccountRole) -> String? {
        guard accounts[role] == nil else { return nil }
        if let error = errors[role] { return error.description }
        let names = configuration.network(of: role).descriptor.requiredNames(of: role)
        return names.count == 1
            ? localized("\(names[0]) is not set")
            : localized("\(names.joined(by: .and)) are not set")
    }

    /// The reason why the home timeline of a role is not read; nil if it is read.
    package func reasonHomeIsUnread(of role: AccountRole) -> NetworkDescriptor.UnreadHome? {
        guard let account = accounts[role] else {
            let words =
                switch role {
                case .human: localized("the human has no account")
                case .bot: localized("the bot has no account")
                }
            return .init(words: words, isSwitchedOff: false)
        }
        return account.network.descriptor.reasonHomeIsUnread(account, configuration)
    }
}

extension HumanMirror {
    /// Whether the human's posts are followed, so that a day without a post counts as silence.
    ///
    /// - Throws: The store's error.
    package func watchesHuman() async throws -> Bool {
        try await FoundAccounts(in: self).accounts[.human] != nil
    }
}
