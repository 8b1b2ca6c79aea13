import Localization
package import Mirroring
package import Posts
package import Settings

/// A login that waits for the code of a page of the network.
package typealias PendingLogin = NetworkLogin.Pending

/// The state of a login after its answers were submitted.
package enum LoginProgress: Sendable {
    /// The person opens a page of the network, which leads back with a code, or shows a code to
    /// copy: `NetworkLogin.Pending.leadsBack`.
    case asksForCode(PendingLogin)
    case granted(GrantedLogin)
}

/// The steps of a login: answers, then perhaps a code, then the grant.
package struct LoginSteps: Sendable {
    package let role: AccountRole
    private let login: NetworkLogin
    private let apiBaseURL: String?
    private let hasToken: Bool
    private let mirror: HumanMirror

    /// - Parameters:
    ///   - role: The role of the account.
    ///   - network: The network of the account.
    ///   - mirror: The mirror that makes the requests.
    ///   - apiBaseURL: The address for requests instead of the network's own; nil for the address
    ///     in the settings.
    ///   - hasToken: Whether the person has a token that was made in the settings of the account.
    package init(
        for role: AccountRole, on network: NetworkName, of mirror: HumanMirror,
        at apiBaseURL: String? = nil, hasToken: Bool = false
    ) {
        self.role = role
        self.mirror = mirror
        self.hasToken = hasToken
        self.apiBaseURL = apiBaseURL ?? mirror.configuration.apiBaseURL(of: role)
        login = network.descriptor.login
    }

    /// Returns the questions of the login.
    ///
    /// - Throws: The store's error.
    package func questions() async throws -> [NetworkLogin.Question] {
        login.questions(try await request())
    }

    /// Submits the answers to the network.
    ///
    /// - Parameters:
    ///   - answers: The answers in their canonical forms; a missing one counts as empty.
    ///   - page: The address to which the network leads back if it can; `nil` to show a code.
    /// - Throws: `ConfigurationError` for a missing answer; `NetworkError`; ``LoginRefusal`` for a
    ///   useless token; the store's error.
    package func begin(
        _ answers: NetworkLogin.Answers, returningTo page: String? = nil
    ) async throws -> LoginProgress {
        switch try await login.begin(answers, try await request(), page) {
        case .asksForCode(let pending): .asksForCode(pending)
        case .granted(let grant): .granted(try await granted(grant))
        }
    }

    /// Submits the answers that were typed into a page to the network.
    ///
    /// - Parameters:
    ///   - typed: The answers by the names of their questions; a missing one counts as empty.
    ///   - page: The address to which the network leads back if it can; `nil` to show a code.
    /// - Throws: `ConfigurationError` for an answer in a wrong form, or a missing key; and as
    ///   ``begin(_:returningTo:)``.
    package func begin(
        typed: [String: String], returningTo page: String? = nil
    ) async throws -> LoginProgress {
        // Without a key the login could not be stored.
        try mirror.vault.requireKey()
        var answers: NetworkLogin.Answers = [:]
        for question in try await questions() {
            answers[question.field] = Secret(try question.parse(typed[question.name] ?? ""))
        }
        return try await begin(answers, returningTo: page)
    }

    /// Submits the code that the network's page showed or returned.
    ///
    /// - Throws: `NetworkError`, after which ``renewed(_:)`` has the login to try again;
    ///   ``LoginRefusal`` for a useless token, which is revoked; the store's error.
    package func finish(_ pending: PendingLogin, code: String) async throws -> GrantedLogin {
        try await granted(try await pending.finish(code))
    }

    /// Returns a login to try again after a refused code: the same login if its page can show
    /// another code, else a new login.
    ///
    /// - Throws: `NetworkError`.
    package func renewed(_ pending: PendingLogin) async throws -> PendingLogin {
        try await pending.beginAgain?() ?? pending
    }

    private func request() async throws -> NetworkLogin.Request {
        mirror.loginRequest(
            as: role, apiBaseURL: apiBaseURL, hasToken: hasToken,
            other: login.sharesApp ? try await otherCredentials() : nil)
    }

    /// The credentials of the mirror's other account; nil without a login, or if it cannot be
    /// opened.
    ///
    /// - Throws: The store's error.
    private func otherCredentials() async throws -> AccountCredentials? {
        do {
            return try await mirror.vault.login(of: role.opposite)?.credentials
        } catch is ConfigurationError {
            return nil
        }
    }

    /// Returns the login with granted credentials, which are revoked if they are of no use.
    private func granted(_ grant: NetworkLogin.Grant) async throws -> GrantedLogin {
        let account = AccountConfiguration(
            role: role, credentials: grant.credentials, apiBaseURL: apiBaseURL, origin: .login)
        let scopeWarnings = grant.missing.compactMap { scope in
            scope.consequence.map {
                localized("the bot's token lacks \(scope.name), so that \($0); \(grant.advice)")
            }
        }
        let login = GrantedLogin(
            account,
            verified: grant.isUntried ? try await VerifiedLogin(account, for: mirror) : nil,
            warnings: grant.warnings + scopeWarnings, revoke: grant.revoke)
        let vitalScopes = grant.missing.filter { $0.consequence == nil }.map(\.name)
        guard vitalScopes.isEmpty else {
            _ = await login.withdraw()
            throw LoginRefusal.lacks(vitalScopes, advice: grant.advice)
        }
        return login
    }
}
