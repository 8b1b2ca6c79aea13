package import Posts
package import Settings

/// The result of connecting an account.
package struct LoggedIn: Codable, Equatable, Sendable {
    /// An environment variable to set when the login is not stored.
    package struct Variable: Codable, Equatable, Sendable {
        package let name: String
        /// The value in clear text, also of a secret, because the user asked to see it.
        package let value: String
    }

    package private(set) var schema = "mirror-bot/login/1"
    package let mirror: String
    package let role: AccountRole
    package let network: NetworkName
    /// The account as a person types it.
    package let account: String
    /// The account's handle on its network, without `@`.
    package let handle: String
    /// Whether the login is stored in the database.
    package let isKept: Bool
    /// The variables to set; empty if the login is stored.
    package let variables: [Variable]
    /// Warnings for the person, a sentence each.
    package let warnings: [String]
    /// The rules of the bot's server about bots, and settings that would comply with them; each is
    /// a line.
    package let rules: [String]

    /// - Parameters:
    ///   - account: The account as the network shows it.
    ///   - configuration: The server and credentials of the login.
    ///   - mirror: The mirror's name.
    ///   - isKept: Whether the login is stored; the variables are listed only if it is not.
    ///   - warnings: Sentences to tell the person.
    ///   - rules: The server's rules about bots, a line each.
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
    /// False if no login was stored.
    package let wasKept: Bool
}

extension HumanMirror {
    /// Removes the stored login of a role.
    ///
    /// - Throws: The store's error.
    package func logOut(_ role: AccountRole) async throws -> LoggedOut {
        LoggedOut(mirror: name, role: role, wasKept: try await vault.remove(role))
    }
}
