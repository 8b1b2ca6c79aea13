package import Posts
package import Settings

/// The result of connecting an account.
package struct LoggedIn: Codable, Equatable, Sendable {
    /// A variable to set where nothing is kept.
    package struct Variable: Codable, Equatable, Sendable {
        package let name: String
        /// A secret in clear text, for it was asked for.
        package let value: String
    }

    package private(set) var schema = "mirror-bot/login/1"
    package let mirror: String
    package let role: AccountRole
    package let network: NetworkName
    /// As a person types it.
    package let account: String
    /// The account's handle on its network, without `@`.
    package let handle: String
    /// Whether the login is kept in the database.
    package let isKept: Bool
    /// The variables to set; empty where the login is kept.
    package let variables: [Variable]
    /// Warnings for the person, a sentence each.
    package let warnings: [String]
    /// The rules of the bot's server about bots, and settings that would comply with them, a line
    /// each.
    package let rules: [String]

    /// - Parameters:
    ///   - account: The account as the network shows it.
    ///   - configuration: What opens it.
    ///   - mirror: The mirror's name.
    ///   - isKept: Whether the login is kept; the variables are for a login that is not.
    ///   - warnings: What the person should know, a sentence each.
    ///   - rules: What the bot's server says of bots, a line each.
    package init(
        _ account: Account, openedBy configuration: AccountConfiguration, mirror: String,
        isKept: Bool,
        warnings: [String], rules: [String] = []
    ) {
        self.mirror = mirror
        role = configuration.role
        network = configuration.network
        self.account = account.id.reference
        handle = account.handle
        self.isKept = isKept
        self.warnings = warnings
        self.rules = rules
        variables =
            isKept
            ? [] : configuration.variables.map { Variable(name: $0.name, value: $0.value.reveal()) }
    }
}

/// The result of forgetting a login.
package struct LoggedOut: Codable, Equatable, Sendable {
    package private(set) var schema = "mirror-bot/logout/1"
    package let mirror: String
    package let role: AccountRole
    /// False if no login was kept.
    package let wasKept: Bool
}

extension HumanMirror {
    /// Forgets the login of a role that is kept in the database.
    ///
    /// - Throws: The store's error.
    package func logOut(_ role: AccountRole) async throws -> LoggedOut {
        LoggedOut(mirror: name, role: role, wasKept: try await vault.remove(role))
    }
}
