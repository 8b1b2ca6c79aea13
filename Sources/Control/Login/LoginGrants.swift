package import Mirroring
import Networks
package import Posts
package import Settings

/// The account to log in to: its role, and the address of its server.
package struct LoginTarget: Sendable {
    package let role: AccountRole
    let apiBaseURL: String?
    let mirror: HumanMirror

    /// - Parameters:
    ///   - role: The role of the account.
    ///   - apiBaseURL: The address for requests instead of the network's own.
    ///   - mirror: The mirror that makes the requests.
    package init(for role: AccountRole, at apiBaseURL: String?, of mirror: HumanMirror) {
        self.role = role
        self.apiBaseURL = apiBaseURL
        self.mirror = mirror
    }

    /// The account with these credentials.
    package func account(_ credentials: AccountCredentials) -> AccountConfiguration {
        AccountConfiguration(
            role: role, credentials: credentials, apiBaseURL: apiBaseURL, origin: .login)
    }
}

/// Logs an account in at a server of the Mastodon family.
package struct MastodonGrants: Sendable {
    /// A server on which an application is registered, and waits for the code.
    package struct Pending: Sendable {
        fileprivate let server: String
        fileprivate let login: MastodonLogin
        fileprivate let request: MastodonLoginRequest

        /// The address that the person opens; it must be kept private if the server leads back.
        package var page: String { request.authorizeURL }
        /// Whether the server leads the browser back with the code, instead of showing the code.
        package var leadsBack: Bool { request.leadsBack }

        /// Whether a browser that was led back has the `state` of this login.
        package func hasState(_ text: String) -> Bool { request.hasState(text) }
    }

    private let target: LoginTarget

    package init(_ target: LoginTarget) { self.target = target }

    /// Registers an application at a server.
    ///
    /// - Parameters:
    ///   - server: The normalized address of the server.
    ///   - page: The address to which the server leads back if it can; `nil` to show a code.
    /// - Throws: `NetworkError`.
    package func begun(at server: String, returningTo page: String? = nil) async throws -> Pending {
        let login = try target.mirror.mastodonLogin(
            server: server, apiBaseURL: target.apiBaseURL)
        let request = try await login.register(
            for: target.role == .human ? .human : .bot, returningTo: page)
        return Pending(server: server, login: login, request: request)
    }

    /// Submits the code that the server showed or returned.
    ///
    /// - Throws: `NetworkError`, `.rejected` for a code that the server does not accept (another
    ///   code of the same page may be accepted); ``LoginRefusal`` for a useless token of the bot,
    ///   which is revoked.
    package func granted(_ pending: Pending, code: String) async throws -> GrantedLogin {
        let grant = try await pending.login.finish(pending.request, code: code)
        let server = pending.login
        let token = grant.credentials
        func login(lacking lacks: [String]) -> GrantedLogin {
            GrantedLogin(
                target.account(.mastodon(server: pending.server, token)),
                warnings: warnings(grant.canWrite) + lacks,
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

    /// The login with a token that a person created in the server's settings.
    ///
    /// - Throws: `NetworkError`; ``LoginRefusal`` for a useless token of the bot.
    package func granted(_ server: String, token: Secret) async throws -> GrantedLogin {
        let login = try target.mirror.mastodonLogin(
            server: server, apiBaseURL: target.apiBaseURL)
        let canWrite = try await login.canWrite(with: token)
        let lacks = try await lacks(
            token, granted: nil, login,
            advice: "make a token with the scopes read and write in the server's settings under "
                + "Development, or log in without --token")
        return GrantedLogin(
            target.account(
                .mastodon(server: server, MastodonCredentials(accessToken: token))),
            warnings: warnings(canWrite) + lacks)
    }

    /// The restrictions of the bot because of missing scopes, a sentence each.
    private func lacks(
        _ token: Secret, granted: [String]?, _ login: MastodonLogin, advice: String
    ) async throws -> [String] {
        guard target.role == .bot else { return [] }
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
        target.role == .human && canWrite
            ? [
                "the human's token can write, or the server does not say that it cannot; mirror-bot never needs "
                    + "that, so make one that only reads where the server has such"
            ] : []
    }
}

/// Logs an account in at X with a PIN.
package struct XGrants: Sendable {
    /// A login that waits for its PIN, which allows only one attempt.
    package struct Pending: Sendable {
        fileprivate let login: XLogin
        fileprivate let request: XLoginRequest

        /// The address for the person to open; contains no secret.
        package var page: String { request.authorizeURL }
    }

    private let target: LoginTarget

    package init(_ target: LoginTarget) { self.target = target }

    /// The developer app of the other account; nil without one.
    ///
    /// A stored login that cannot be opened is ignored.
    ///
    /// - Throws: The store's error.
    package func otherApp() async throws -> (key: String, secret: Secret)? {
        let other: StoredLogin?
        do {
            other = try await target.mirror.vault.login(of: target.role.other)
        } catch is ConfigurationError {
            other = nil
        }
        guard let credentials = other?.credentials, let key = credentials[.consumerKey] else {
            return nil
        }
        return (key.reveal(), credentials.secret(.consumerSecret))
    }

    /// Begins a login with the keys of a developer app.
    ///
    /// - Throws: `NetworkError`.
    package func begun(key: String, secret: Secret) async throws -> Pending {
        let login = try target.mirror.xLogin(
            consumerKey: key, consumerSecret: secret, apiBaseURL: target.apiBaseURL)
        return Pending(
            login: login, request: try await login.begin(forReadingOnly: target.role == .human))
    }

    /// Begins the same login again, after a refused PIN.
    ///
    /// - Throws: `NetworkError`.
    package func begun(again pending: Pending) async throws -> Pending {
        Pending(
            login: pending.login,
            request: try await pending.login.begin(forReadingOnly: target.role == .human))
    }

    /// Exchanges the PIN that X showed for a login.
    ///
    /// - Throws: `NetworkError`.
    package func granted(_ pending: Pending, pin: String) async throws -> GrantedLogin {
        let credentials = try await pending.login.finish(pending.request, pin: pin)
        return GrantedLogin(
            target.account(.x(credentials)),
            warnings: target.role == .bot
                ? [
                    "X wants automated accounts labelled: Settings → Your account → Automation",
                    "publishing on X stays off until X_ACKNOWLEDGE_POLICY=yes; the README says what that means",
                ] : [])
    }
}

/// Logs an account in at Bluesky with an app password.
package struct BlueskyGrants: Sendable {
    /// The page on which an account's owner creates app passwords.
    package static let passwordPage = "https://bsky.app/settings/app-passwords"

    private let target: LoginTarget

    package init(_ target: LoginTarget) { self.target = target }

    /// The login of a handle and an app password, which may be empty for the human.
    ///
    /// - Parameters:
    ///   - handle: The normalized handle.
    ///   - password: The app password.
    /// - Throws: `NetworkError`, which does not say which of the two is refused.
    package func granted(_ handle: String, password: Secret) async throws -> GrantedLogin {
        let login = target.account(
            .bluesky(identifier: handle, appPassword: password.isEmpty ? nil : password))
        return GrantedLogin(
            login, verified: try await VerifiedLogin(login, for: target.mirror),
            warnings: target.role == .human && !password.isEmpty
                ? [
                    "an app password can write, for Bluesky has none that only reads; without one the human's posts "
                        + "and likes are read all the same, only the home timeline is not"
                ] : [])
    }
}
