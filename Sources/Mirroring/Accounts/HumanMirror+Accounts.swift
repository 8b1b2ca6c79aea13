import Cryptography
package import Foundation
import Localization
package import Networks
package import Posts
package import Settings
import Storage

/// The accounts of a mirror: from the settings, or else from the logins that `mirror-bot login`
/// stored.
extension HumanMirror {
    /// Fails if the key of this process does not open the stored logins of a mirror, because it
    /// would not open them elsewhere either.
    ///
    /// - Parameter mirror: A mirror in the same database.
    /// - Throws: `ConfigurationError` for `SECRET_KEY`; the store's error.
    package func requireOpenLogins(of mirror: String) async throws {
        let vault = CredentialVault(of: mirror, process, storage: storage, logger: logger)
        for role in AccountRole.allCases { _ = try await vault.login(of: role) }
    }

    /// The account of a role; nil if it has none.
    ///
    /// - Throws: `ConfigurationError` for a stored login that cannot be opened or belongs to
    ///   another network than the one that a setting names; the store's error.
    package func account(_ role: AccountRole) async throws -> AccountConfiguration? {
        if let account = configuration.account(role) { return account }
        return try await vault.login(of: role).map { try account(role, openedBy: $0) }
    }

    /// The account that a stored login opens.
    ///
    /// - Throws: `ConfigurationError` for a login of another network than the one that a setting
    ///   names.
    func account(_ role: AccountRole, openedBy login: StoredLogin) throws -> AccountConfiguration {
        let network = configuration.network(of: role)
        if login.network != network, let setting = configuration.networkSetting(of: role) {
            let problem =
                switch role {
                case .human:
                    localized(
                        """
                        is \(network.rawValue), but the stored login of the human is for \(login.network.displayName); set \
                        \(role.prefix)_NETWORK to \(login.network.rawValue), or run mirror-bot login \(network.rawValue) --as human
                        """)
                case .bot:
                    localized(
                        """
                        is \(network.rawValue), but the stored login of the bot is for \(login.network.displayName); set \
                        \(role.prefix)_NETWORK to \(login.network.rawValue), or run mirror-bot login \(network.rawValue) --as bot
                        """)
                }
            throw ConfigurationError(setting, problem)
        }
        var account = login.account(role)
        account.apiBaseURL = configuration.apiBaseURL(of: role) ?? login.apiBaseURL
        return account
    }

    /// The account of a role, or an error that says how to log in.
    ///
    /// - Throws: `ConfigurationError`, also if the bot's account is certainly the human's; the
    ///   store's error.
    package func requiredAccount(_ role: AccountRole) async throws -> AccountConfiguration {
        let found = try await FoundAccounts(in: self)
        if let error = found.errors[role] { throw error }
        guard let account = found.accounts[role] else { throw configuration.missing(role) }
        // If the human's login is unusable, the error is another one.
        if role == .bot, let human = found.accounts[.human],
            account.credentials.openSameAccount(as: human.credentials)
        {
            throw MirrorTable.sameAccount(as: account.settingName)
        }
        return account
    }

    /// Stores the verified accounts; refuses accounts other than those the mirror is bound to.
    ///
    /// - Parameters:
    ///   - human: The human's account; nil if it was not verified.
    ///   - bot: The bot's account; nil if it was not verified.
    ///   - now: Recorded for a new mirror.
    /// - Throws: `ConfigurationError` if human and bot are one account, or if this mirror is bound
    ///   to other accounts; the error names the setting or the login.
    package func bind(human: Account?, bot: Account?, now: Date) async throws {
        var usedAccounts: [AccountRole: AccountConfiguration] = [:]
        for (role, account) in [(AccountRole.human, human), (.bot, bot)] where account != nil {
            usedAccounts[role] = try await self.account(role)
        }
        try await table.bind(
            human: human, bot: bot, settings: usedAccounts.mapValues(\.settingName),
            credentials: usedAccounts.mapValues(\.credentials.fingerprint),
            login: OwnerLogin(of: usedAccounts[.human]), now: now)
        for role in usedAccounts.keys { await refusals.clear(role) }
    }

    /// Stores the account that a new login opens; refuses another account as
    /// ``bind(human:bot:now:)`` does.
    ///
    /// Reads nothing stored of an earlier login, which the new one may replace because it is
    /// unusable.
    ///
    /// - Parameters:
    ///   - account: The account, as the network named it.
    ///   - login: The credentials that opened it.
    ///   - now: Recorded for a new mirror.
    /// - Throws: `ConfigurationError`; the store's error.
    package func bind(_ account: Account, openedBy login: AccountConfiguration, now: Date)
        async throws
    {
        let role = login.role
        try await table.bind(
            human: role == .human ? account : nil, bot: role == .bot ? account : nil,
            settings: [role: Self.thisLogin],
            // The noted refusal is kept: it is about other credentials, which may still be in use.
            credentials: [role: login.credentials.fingerprint], login: try await ownerLogin(login),
            now: now)
    }

    /// The name of the new login in errors.
    static var thisLogin: String { localized("this login") }

    /// How a new login opens the human's account.
    ///
    /// - Returns: Nil for the bot's login, and for one that needs no secret; `.standing` for the
    ///   same credentials as before.
    func ownerLogin(_ login: AccountConfiguration) async throws -> OwnerLogin? {
        guard login.role == .human, login.credentials.opensAccount else { return nil }
        do {
            guard let stored = try await account(.human) else { return .fresh }
            return StoredLogin(stored).hasSameSecrets(as: StoredLogin(login)) ? .standing : .fresh
        } catch is ConfigurationError {
            // A stored login that cannot be opened is replaced by the new one.
            return .fresh
        }
    }

    /// Reads the mirror's current stamp in one short query, so that a caller can notice a change.
    ///
    /// - Throws: The store's error.
    package func stamp() async throws -> MirrorStamp {
        let mirror = configuration.mirror
        let rows = try await storage.query(
            """
            SELECT role AS name, sealed AS value FROM credentials WHERE mirror = \(mirror) AND role IN ('human', 'bot')
            UNION ALL
            SELECT 'accounts' AS name, COALESCE(human_account, '') || ' ' || COALESCE(bot_account, '') AS value
            FROM mirrors WHERE mirror = \(mirror)
            UNION ALL
            SELECT 'zone' AS name, COALESCE(time_zone, '') AS value FROM mirrors WHERE mirror = \(mirror)
            UNION ALL
            SELECT 'paused' AS name, CAST(COALESCE(paused_until_ms, 0) AS TEXT) AS value
            FROM mirrors WHERE mirror = \(mirror) AND paused_ms IS NOT NULL
            UNION ALL
            SELECT 'set ' || name AS name, value FROM settings WHERE mirror = \(mirror)
            UNION ALL
            SELECT 'found ' || account || ' ' || promise AS name, CAST(kept AS TEXT) AS value FROM probes
            WHERE mirror = \(mirror) AND kept IS NOT NULL
                AND promise <> \(ServerPromise.showsUnlisted.rawValue)
            """)
        let values = Dictionary(try rows.map { (try $0.text("name"), try $0.text("value")) }) {
            first, _ in first
        }
        var credentials: [AccountRole: String] = [:]
        for role in AccountRole.allCases {
            if let account = configuration.account(role) {
                credentials[role] = "setting \(account.credentials.fingerprint)"
            } else if let sealed = values[role.rawValue] {
                // The seal contains a nonce, so each login has another text.
                let hash = HashFunction.sha256.digest(of: sealed.utf8)
                credentials[role] = "login \(Data(hash.prefix(16)).base64EncodedString())"
            }
        }
        // Nil without a pause; 0 for a pause that only a person ends.
        let pauseEnd = values["paused"].flatMap { Int64($0) }
        let isPaused =
            if let pauseEnd {
                pauseEnd == 0 || Date(milliseconds: pauseEnd) > clock.now
            } else { false }
        return MirrorStamp(
            credentials: credentials, accounts: values["accounts"] ?? "",
            zone: values["zone"] ?? "",
            isPaused: isPaused,
            settings: values.filter { $0.key.hasPrefix("set ") },
            findings: values.filter { $0.key.hasPrefix("found ") })
    }

    /// Whether the credentials of a role are those that opened the account that the mirror is bound
    /// to.
    ///
    /// - Returns: True also for a role without credentials.
    /// - Throws: As ``account(_:)``.
    package func isVerified(_ role: AccountRole) async throws -> Bool {
        guard let account = try await account(role) else { return true }
        return try await table.record().verified[role] == account.credentials.fingerprint
    }

    /// The bot's network, after its credentials were verified to belong to the mirror's bot.
    ///
    /// - Throws: `ConfigurationError`, also if they belong to another account; `NetworkError`; the
    ///   store's error.
    package func confirmedBotNetwork() async throws -> any SocialNetwork {
        let network = try await requiredNetwork(of: .bot)
        if try await !isVerified(.bot) {
            try await bind(human: nil, bot: try await network.verifyAccount(), now: clock.now)
        }
        return network
    }
}

extension HumanMirror {
    /// Reads the human's pictures from their network; private addresses are read only if the
    /// human's server, as configured, has one.
    ///
    /// - Throws: As ``account(_:)``.
    package func pictureReader() async throws -> PictureReader {
        PictureReader(
            client: installation.client, trusting: try await account(.human)?.address,
            contact: contact)
    }
}

/// A snapshot of the state that a worker depends on and that other processes may change.
///
/// Two equal stamps mean that between them nobody logged in or out, rebound or paused the mirror,
/// changed its settings or probed its server. A stamp reveals nothing of the credentials.
package struct MirrorStamp: Equatable, Sendable {
    /// Fingerprints of the credentials by role, other ones for each login, even to the same
    /// account; no entry for a role without credentials.
    package let credentials: [AccountRole: String]
    /// The identities that the mirror is bound to.
    package let accounts: String
    /// The name of the zone in which minutes are recorded; empty if none is recorded.
    package let zone: String
    package let isPaused: Bool
    /// The stored settings of the mirror, keyed by `set NAME`.
    package let settings: [String: String]
    /// The findings of `doctor --probe`, by their stored names; the check after the first post is
    /// left out, because it does not change how the worker behaves.
    package let findings: [String: String]
}

extension AccountConfiguration {
    /// The setting or stored login that a person changes to use another account.
    var settingName: String {
        switch origin {
        case .environment: network.descriptor.identity.name(of: role)
        case .login:
            switch role {
            case .human: localized("the stored login of the human")
            case .bot: localized("the stored login of the bot")
            }
        }
    }
}
