import Foundation
import Localization
package import Mirroring
import Networks
package import Posts
package import Settings

/// A login with a known account that is not stored yet.
package struct OpenedLogin: Sendable {
    /// The account that the login's account replaces.
    package struct Replacement: Sendable {
        package let rebinding: Rebinding
        /// The account's name, with `@`.
        package let before: String
        /// The name of the new account, with `@`.
        package let after: String
        /// Why the replacement needs a person who wants to rebind the mirror; nil if the old
        /// account was never used for learning or sending.
        package let refusal: LoginRefusal?
    }

    package let granted: GrantedLogin
    /// Nil if no account is replaced.
    package let replacement: Replacement?
    fileprivate let verified: VerifiedLogin

    package var network: NetworkName { granted.account.network }
}

/// Why a login is not stored.
package enum LoginRefusal: Error, Equatable, Sendable {
    /// The bot's token lacks scopes without which it is useless.
    case lacks([String], advice: String)
    /// The login belongs to the account of the other role.
    case isOther(AccountRole, name: String, login: String)
    /// The account to be replaced was used for learning or sending.
    case isBound(before: String, after: String, again: String)
    /// A worker holds the mirror, so that its account cannot be changed.
    case isHeld(mirror: String)
}

extension LoginRefusal: CustomStringConvertible {
    /// The sentence for a terminal.
    package var description: String { text.terminal }

    /// The sentence for the person.
    package var text: SurfaceText {
        switch self {
        case .lacks(let scopes, let advice):
            localized(
                "the bot's token lacks \(scopes.joined(by: .comma)); nothing was changed; \(control: .scopes(advice))"
            )
        case .isOther(.human, let name, let login):
            localized(
                "this login belongs to the human's own account, \(name); the bot needs another\(control: .otherwise(Self.mistake(of: .human, login)))"
            )
        case .isOther(.bot, let name, let login):
            localized(
                "this login belongs to the bot's own account, \(name); the human needs another\(control: .otherwise(Self.mistake(of: .bot, login)))"
            )
        case .isBound(let before, let after, let again):
            localized(
                "this login belongs to \(after), but this mirror belongs to \(before), of whom it has learned or as whom it has sent\(control: .otherwise(Self.ways(of: after, again: again)))"
            )
        case .isHeld(let mirror):
            localized(
                "could not change the account of mirror \(mirror): a worker holds it; stop it first"
            )
        }
    }

    private static func mistake(of owner: AccountRole, _ login: String) -> String {
        owner == .human
            ? localized("If it is the human's login that is wrong: \(login)")
            : localized("If it is the bot's login that is wrong: \(login)")
    }

    private static func ways(of account: String, again: String) -> String {
        localized(
            "A mirror of its own for \(account): --mirror NAME. To go on with \(account) here: \(again)"
        )
    }
}

extension AccountRole {
    /// The opposite role: bot for human, human for bot.
    package var opposite: AccountRole { self == .human ? .bot : .human }
}

extension HumanMirror {
    /// Determines the account of a login, and the account that it would replace.
    ///
    /// - Returns: The login, which ``keep(_:isKept:)`` keeps.
    /// - Throws: ``LoginRefusal`` for the account of the other role; `NetworkError`; the store's
    ///   error.
    package func opened(_ login: GrantedLogin) async throws -> OpenedLogin {
        let verified =
            if let earlier = login.verified { earlier } else {
                try await VerifiedLogin(login.account, for: self)
            }
        if login.account.role == .bot { try verified.network.requireAudiences() }
        return OpenedLogin(
            granted: login, replacement: try await replacement(login.account, verified.account),
            verified: verified)
    }

    private func replacement(_ login: AccountConfiguration, _ newAccount: Account) async throws
        -> OpenedLogin.Replacement?
    {
        let role = login.role
        if try await isAccount(newAccount, of: role.opposite) {
            throw LoginRefusal.isOther(
                role.opposite, name: "@" + BoundAccount(newAccount).name(),
                login: loginCommand(newAccount.id.network, as: role.opposite))
        }
        guard let rebinding = try await rebinding(of: role, to: newAccount),
            let bound = rebinding.bound
        else { return nil }
        let isElsewhere = bound.id.network != newAccount.id.network
        let before = "@" + bound.name(withNetwork: isElsewhere)
        let after = "@" + BoundAccount(newAccount).name(withNetwork: isElsewhere)
        let refusal = LoginRefusal.isBound(
            before: before, after: after,
            again: loginCommand(newAccount.id.network, as: role, "--rebind"))
        return OpenedLogin.Replacement(
            rebinding: rebinding, before: before, after: after,
            refusal: try await table.isBound(role) ? refusal : nil)
    }

    /// Binds the mirror to the account of a login, and stores the login.
    ///
    /// The replacement of an account must have been confirmed before.
    ///
    /// - Parameters:
    ///   - opened: The login.
    ///   - isKept: Whether to store the login; otherwise the outcome contains its variables.
    /// - Returns: The account, with warnings and the rules of the bot's server.
    /// - Throws: ``LoginRefusal`` if a worker holds the mirror; the store's error.
    package func keep(_ opened: OpenedLogin, isKept: Bool = true) async throws -> LoggedIn {
        let account = opened.granted.account
        let verified = opened.verified
        let now = clock.now
        if let replacement = opened.replacement {
            guard try await rebind([replacement.rebinding], openedBy: account, now: now) else {
                throw LoginRefusal.isHeld(mirror: name)
            }
        } else {
            try await bind(verified.account, openedBy: account, now: now)
        }
        let rules = await rules(of: verified, as: account.role, now: now)
        let outcome = LoggedIn(
            verified.account, openedBy: account, mirror: name, isKept: isKept,
            warnings: opened.granted.warnings + warnings(verified, account, isKept: isKept)
                + rules.warnings,
            rules: rules.lines)
        if isKept {
            try await vault.store(
                StoredLogin(account), session: try await verified.session.load(),
                for: account.role, at: clock.now)
        }
        return outcome
    }

    /// The command to log in to an account again, in the form that a person types for this mirror.
    private func loginCommand(_ network: NetworkName, as role: AccountRole, _ flags: String...)
        -> String
    {
        (["mirror-bot login \(network.rawValue) --as \(role.rawValue)"] + flags
            + configuration.flagWords).joined(separator: " ")
    }

    /// Returns the rules of the bot's server about bots; a failure to read them does not prevent
    /// the login.
    private func rules(of verified: VerifiedLogin, as role: AccountRole, now: Date) async -> (
        lines: [String], warnings: [String]
    ) {
        guard role == .bot else { return ([], []) }
        do {
            let report = try await showServerRules(
                of: verified.network, account: verified.account.id, now: now)
            return (report.lines, [])
        } catch {
            let reason = "\(error)"
            return (
                [],
                [
                    localized(
                        "the rules of \(verified.network.host) for bots are not known here: \(reason); read them there"
                    )
                ]
            )
        }
    }

    private func warnings(
        _ verified: VerifiedLogin, _ account: AccountConfiguration, isKept: Bool
    ) -> [String] {
        let role = account.role
        var warnings =
            isKept ? configuration.obstacles(toLoginOf: role, on: account.network) : []
        if !isKept, account.credentials.expiresAt != nil {
            warnings.append(
                localized(
                    "this token expires, and only a login that is kept can be renewed: log in without --print, where \(Setting.secretKey.name) and \(Setting.databaseURL.name) are those of the worker"
                )
            )
        }
        if role == .human, verified.network.canWrite == true {
            warnings.append(
                localized(
                    "the human's keys can write, which mirror-bot never needs; log in again with an app that reads"
                )
            )
        }
        // If the API has no such mark, another warning says so.
        if role == .bot, !verified.account.isBot, verified.network.name.traits.returnsBotMark {
            warnings.append(
                localized(
                    "the account does not say that it is automated; the first run marks it, where the network lets it"
                )
            )
        }
        return warnings
    }
}
