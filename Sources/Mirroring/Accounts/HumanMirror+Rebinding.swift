package import Foundation
import Logging
import Networks
import Outbox
package import Posts
package import Settings

/// An account that a mirror's credentials open although the mirror is bound to another one.
package struct Rebinding: Sendable {
    package let role: AccountRole
    /// The account that the mirror is bound to; nil if it is bound to none yet.
    package let bound: BoundAccount?
    /// The account that the credentials open.
    package let found: Account
}

extension Rebinding {
    /// Nil if the found account is the one that the mirror is bound to.
    fileprivate init?(of role: AccountRole, in record: MirrorRecord, to found: Account) {
        let bound =
            switch role {
            case .human: BoundAccount(record.human, called: record.humanHandle)
            case .bot: BoundAccount(record.bot, called: record.botHandle)
            }
        guard bound?.id != found.id.canonical else { return nil }
        self.init(role: role, bound: bound, found: found)
    }
}

/// The result of rebinding a mirror.
package struct Rebound: Codable, Equatable, Sendable {
    /// A role, its account before and its account now.
    package struct Line: Codable, Equatable, Sendable {
        package let role: AccountRole
        /// The former account as a person types it; nil if the mirror was not bound.
        package let before: String?
        package let now: String
    }

    package private(set) var schema = "mirror-bot/rebind/1"
    package let mirror: String
    /// The roles that were bound to another account; empty if none was.
    package let accounts: [Line]

    /// - Parameters:
    ///   - rebindings: The changes that were made.
    ///   - mirror: The mirror's name.
    package init(_ rebindings: [Rebinding], of mirror: String) {
        self.mirror = mirror
        accounts = rebindings.map {
            Line(role: $0.role, before: $0.bound?.id.reference, now: $0.found.id.reference)
        }
    }
}

extension HumanMirror {
    /// Asks the networks for the accounts of the credentials, and compares these with the accounts
    /// that the mirror is bound to.
    ///
    /// - Parameter role: The role whose credentials are checked; nil for both, if they have
    ///   credentials.
    /// - Returns: The roles whose account differs.
    /// - Throws: `ConfigurationError` without credentials; `NetworkError`; the store's error.
    package func rebindings(of role: AccountRole?) async throws -> [Rebinding] {
        var roles = role.map { [$0] } ?? []
        if role == nil {
            for role in AccountRole.allCases {
                if try await account(role) != nil { roles.append(role) }
            }
        }
        if roles.isEmpty { roles = [.bot] }
        let record = try await table.record()
        var rebindings: [Rebinding] = []
        for role in roles {
            let found = try await requiredNetwork(of: role).verifyAccount()
            if let rebinding = Rebinding(of: role, in: record, to: found) {
                rebindings.append(rebinding)
            }
        }
        return rebindings
    }

    /// Whether an account is the one that the mirror is bound to for a role.
    ///
    /// - Throws: The store's error.
    package func isAccount(_ account: Account, of role: AccountRole) async throws -> Bool {
        let record = try await table.record()
        let bound = role == .human ? record.human : record.bot
        return bound?.canonical == account.id.canonical
    }

    /// The rebinding that a new login would cause; nil if the mirror is not bound, or bound to the
    /// same account.
    ///
    /// - Throws: The store's error.
    package func rebinding(of role: AccountRole, to found: Account) async throws -> Rebinding? {
        let rebinding = Rebinding(of: role, in: try await table.record(), to: found)
        return rebinding?.bound == nil ? nil : rebinding
    }

    /// Binds the mirror to the accounts that its credentials open.
    ///
    /// The bot's actions, the people and the learned data stay. See
    /// `MirrorTable.rebind(_:settings:credentials:now:)` for the data that do not.
    ///
    /// - Parameters:
    ///   - rebindings: The result of ``rebindings(of:)``, or of ``rebinding(of:to:)``.
    ///   - login: The new login of a person; nil to use the settings and stored logins.
    ///   - now: The time of the rebinding; a new bot answers and favorites nothing older.
    /// - Returns: False if a worker holds the mirror; nothing was changed then.
    /// - Throws: `ConfigurationError` if human and bot are one account, or another mirror has this
    ///   bot; the store's error.
    package func rebind(
        _ rebindings: [Rebinding], openedBy login: AccountConfiguration? = nil, now: Date
    ) async throws -> Bool {
        let keeper = LeaseKeeper(
            table: LeaseTable(storage: storage, mirror: configuration.mirror), clock: clock,
            timing: rehearsal.leaseTiming, logger: logger)
        // Nil if a worker holds the mirror.
        let result: Void? = try await keeper.holdingNow { _ in
            let accounts = Dictionary(rebindings.map { ($0.role, $0.found) }) { first, _ in first }
            var usedAccounts: [AccountRole: AccountConfiguration] = [:]
            for role in accounts.keys {
                usedAccounts[role] = if let login { login } else { try await account(role) }
            }
            let owner =
                if let login { try await ownerLogin(login) } else {
                    OwnerLogin(of: usedAccounts[.human])
                }
            try await table.rebind(
                accounts,
                settings: usedAccounts.mapValues { login == nil ? $0.settingName : Self.thisLogin },
                credentials: usedAccounts.mapValues(\.credentials.fingerprint), login: owner,
                now: now)
        }
        return result != nil
    }
}
