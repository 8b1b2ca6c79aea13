package import Mirroring
import Networks
package import Posts
package import Settings

/// Logs an account in at a server of the Mastodon family.
package struct MastodonGrants: Sendable {
    /// A server on which an application is registered, and waits for the code.
    package struct Pending: Sendable {
        package let server: String
        fileprivate let login: MastodonLogin
        fileprivate let request: MastodonLoginRequest

        /// The address that the person opens; holds nothing secret.
        package var page: String { request.authorizeURL }
    }

    private let role: AccountRole
    private let apiBaseURL: String?
    private let mirror: HumanMirror

    /// - Parameters:
    ///   - role: Whose account it is.
    ///   - apiBaseURL: Where requests go instead of the server.
    ///   - mirror: The mirror that makes the requests.
    package init(for role: AccountRole, at apiBaseURL: String?, of mirror: HumanMirror) {
        self.role = role
        self.apiBaseURL = apiBaseURL
        self.mirror = mirror
    }

    /// Registers an application at a server.
    ///
    /// - Parameter server: The normalized address of the server.
    /// - Throws: `NetworkError`.
    package func begun(at server: String) async throws -> Pending {
        let login = try mirror.mastodonLogin(server: server, apiBaseURL: apiBaseURL)
        let request = try await login.register(for: role == .human ? .human : .bot)
        return Pending(server: server, login: login, request: request)
    }

    /// Gives the code that the server showed for a login.
    ///
    /// - Throws: `NetworkError`, `.rejected` for a code that the server does not take, so that
    ///   another one of the same page may help; ``LoginRefusal`` for a bot's token that could do
    ///   nothing, which is revoked.
    package func granted(_ pending: Pending, code: String) async throws -> GrantedLogin {
        let grant = try await pending.login.finish(pending.request, code: code)
        let server = pending.login
        let token = grant.credentials
        func login(lacking lacks: [String]) -> GrantedLogin {
            GrantedLogin(
                account(pending.server, token), warnings: warnings(grant.canWrite) + lacks,
                revoke: { try await server.revoke(token) })
        }
        do {
            return login(
                lacking: try await lacks(
                    token.accessToken, granted: grant.scopes, server,
                    advice: "log in again and allow everything that is listed"))
        } catch {
            _ = await login(lacking: []).withdraw()
            throw error
        }
    }

    /// The login of a token that a person made in the server's settings.
    ///
    /// - Throws: `NetworkError`; ``LoginRefusal`` for a bot's token that could do nothing.
    package func granted(_ server: String, token: Secret) async throws -> GrantedLogin {
        let login = try mirror.mastodonLogin(server: server, apiBaseURL: apiBaseURL)
        let canWrite = try await login.canWrite(with: token)
        let lacks = try await lacks(
            token, granted: nil, login,
            advice: "make a token with the scopes read and write in the server's settings under "
                + "Development, or log in without --token")
        return GrantedLogin(
            account(server, MastodonCredentials(accessToken: token)),
            warnings: warnings(canWrite) + lacks)
    }

    /// The restrictions that the token's missing scopes put on the bot, a sentence each.
    private func lacks(
        _ token: Secret, granted: [String]?, _ login: MastodonLogin, advice: String
    ) async throws -> [String] {
        guard role == .bot else { return [] }
        let missing = try await login.missingBotScopes(of: token, granted: granted)
        let vital = missing.filter { $0.consequence == nil }.map(\.rawValue)
        guard vital.isEmpty else { throw LoginRefusal.lacks(vital, advice: advice) }
        return missing.compactMap { scope in
            scope.consequence.map {
                "the bot's token lacks \(scope.rawValue), so that \($0); \(advice)"
            }
        }
    }

    private func warnings(_ canWrite: Bool) -> [String] {
        role == .human && canWrite
            ? [
                "the human's token can write, or the server does not say that it cannot; mirror-bot never needs "
                    + "that, so make one that only reads where the server has such"
            ] : []
    }

    private func account(_ server: String, _ credentials: MastodonCredentials)
        -> AccountConfiguration
    {
        AccountConfiguration(
            role: role, credentials: .mastodon(server: server, credentials),
            apiBaseURL: apiBaseURL, origin: .login)
    }
}

/// Logs an account in at X with a PIN.
package struct XGrants: Sendable {
    /// A login that waits for its PIN, which is good for one attempt.
    package struct Pending: Sendable {
        fileprivate let login: XLogin
        fileprivate let request: XLoginRequest

        /// The address that the person opens; holds nothing secret.
        package var page: String { request.authorizeURL }
    }

    private let role: AccountRole
    private let apiBaseURL: String?
    private let mirror: HumanMirror

    /// - Parameters:
    ///   - role: Whose account it is.
    ///   - apiBaseURL: Where requests go instead of X.
    ///   - mirror: The mirror that makes the requests.
    package init(for role: AccountRole, at apiBaseURL: String?, of mirror: HumanMirror) {
        self.role = role
        self.apiBaseURL = apiBaseURL
        self.mirror = mirror
    }

    /// The developer app of the other account; nil without one.
    ///
    /// A stored login that cannot be opened counts as none.
    ///
    /// - Throws: The store's error.
    package func otherApp() async throws -> (key: String, secret: Secret)? {
        let other: StoredLogin?
        do {
            other = try await mirror.vault.login(of: role == .human ? .bot : .human)
        } catch is ConfigurationError {
            other = nil
        }
        guard let known = other?.credentials, let key = known[.consumerKey] else { return nil }
        return (key.reveal(), known.secret(.consumerSecret))
    }

    /// Begins a login with the keys of a developer app.
    ///
    /// - Throws: `NetworkError`.
    package func begun(key: String, secret: Secret) async throws -> Pending {
        let login = try mirror.xLogin(
            consumerKey: key, consumerSecret: secret, apiBaseURL: apiBaseURL)
        return Pending(login: login, request: try await login.begin(forReadingOnly: role == .human))
    }

    /// Begins the same login anew, after a PIN that was not taken.
    ///
    /// - Throws: `NetworkError`.
    package func begun(again pending: Pending) async throws -> Pending {
        Pending(
            login: pending.login,
            request: try await pending.login.begin(forReadingOnly: role == .human))
    }

    /// Gives the PIN that X showed for a login.
    ///
    /// - Throws: `NetworkError`.
    package func granted(_ pending: Pending, pin: String) async throws -> GrantedLogin {
        let credentials = try await pending.login.finish(pending.request, pin: pin)
        return GrantedLogin(
            AccountConfiguration(
                role: role, credentials: .x(credentials), apiBaseURL: apiBaseURL, origin: .login),
            warnings: role == .bot
                ? [
                    "X wants automated accounts labelled: Settings → Your account → Automation",
                    "publishing on X stays off until X_ACKNOWLEDGE_POLICY=yes; the README says what that means",
                ] : [])
    }
}

/// Logs an account in at Bluesky with an app password.
package struct BlueskyGrants: Sendable {
    /// The page on which an account's owner makes app passwords.
    package static let passwordPage = "https://bsky.app/settings/app-passwords"

    private let role: AccountRole
    private let apiBaseURL: String?
    private let mirror: HumanMirror

    /// - Parameters:
    ///   - role: Whose account it is.
    ///   - apiBaseURL: Where requests go instead of the account's server.
    ///   - mirror: The mirror that makes the requests.
    package init(for role: AccountRole, at apiBaseURL: String?, of mirror: HumanMirror) {
        self.role = role
        self.apiBaseURL = apiBaseURL
        self.mirror = mirror
    }

    /// The login of a handle and an app password, which may be empty for the human.
    ///
    /// - Parameters:
    ///   - handle: The normalized handle.
    ///   - password: The app password.
    /// - Throws: `NetworkError`, which does not say which of the two is refused.
    package func granted(_ handle: String, password: Secret) async throws -> GrantedLogin {
        let login = AccountConfiguration(
            role: role,
            credentials: .bluesky(
                identifier: handle, appPassword: password.isEmpty ? nil : password),
            apiBaseURL: apiBaseURL, origin: .login)
        return GrantedLogin(
            login, verified: try await VerifiedLogin(login, for: mirror),
            warnings: role == .human && !password.isEmpty
                ? [
                    "an app password can write, for Bluesky has none that only reads; without one the human's posts "
                        + "and likes are read all the same, only the home timeline is not"
                ] : [])
    }
}
