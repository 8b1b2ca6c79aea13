import Cryptography
package import Foundation
package import Posts
import Transport

/// The credentials of an account on a server that speaks Mastodon's interface.
package struct MastodonCredentials: Sendable {
    package var accessToken: Secret
    /// The token for requesting a new access token, on servers whose tokens expire.
    package var refreshToken: Secret?
    /// The application that the tokens were given to.
    package var clientID: String?
    package var clientSecret: Secret?
    /// When the access token ends; nil where it does not, or nobody said so.
    package var expiresAt: Date?

    package init(
        accessToken: Secret, refreshToken: Secret? = nil, clientID: String? = nil,
        clientSecret: Secret? = nil,
        expiresAt: Date? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.expiresAt = expiresAt
    }

    /// Whether both open the account with the same token.
    func hasToken(of other: MastodonCredentials) -> Bool {
        accessToken.reveal() == other.accessToken.reveal()
    }
}

/// The tokens of one account, renewed where they end, and the calls made with them.
///
/// At most one renewal is under way, however many calls need it. A new pair is
/// saved before it is used, for a server may take back the old one at once; and
/// the saved one is read before the server is asked, for another process of
/// this program may have been faster.
actor MastodonSession {
    /// A token that ends this soon is renewed at once: seconds.
    private static let margin: TimeInterval = 60

    nonisolated let client: MastodonClient
    /// Whether the configured tokens can be replaced when they end.
    nonisolated let canRenew: Bool
    private let store: (any CredentialStore)?
    private let configured: MastodonCredentials
    /// Nil before the saved session was looked for.
    private var current: MastodonCredentials?
    /// Got from the server, but not saved yet.
    private var unsaved: MastodonCredentials?
    private let flight = SingleFlight<MastodonCredentials>()

    /// - Parameters:
    ///   - store: Keeps what replaces them; nil: the memory of this process.
    init(_ credentials: MastodonCredentials, store: (any CredentialStore)?, client: MastodonClient)
    {
        self.configured = credentials
        self.canRenew = credentials.refreshToken != nil && credentials.clientID != nil
        self.store = store
        self.client = client
        client.knownSecrets.add(
            credentials.accessToken, credentials.refreshToken, credentials.clientSecret)
    }

    /// The answer to a call, which is made a second time with a new token if the token was refused.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    nonisolated func send(_ call: NetworkCall) async throws -> HTTPResponse {
        try await send(call, with: try await token())
    }

    /// The same with a token that was got before, so that nothing comes before the call.
    nonisolated func send(_ call: NetworkCall, with token: Secret) async throws -> HTTPResponse {
        do {
            return try await client.send(call, token: token)
        } catch let error as NetworkError {
            let error = try await explained(error, token)
            guard error.code == .unauthorized, let renewed = try await self.token(after: token)
            else { throw error }
            return try await client.send(call, token: renewed)
        }
    }

    /// The answer to a call, read as JSON.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    nonisolated func value<Value: Decodable>(_ type: Value.Type, _ call: NetworkCall) async throws
        -> Value
    {
        try client.decode(type, from: try await send(call), call)
    }

    /// Asks whether a refusal without a word was about the token, as it is on some servers.
    nonisolated private func explained(_ error: NetworkError, _ token: Secret) async throws
        -> NetworkError
    {
        guard error.code == .rejected, error.serverCode == nil,
            error.status == 400 || error.status == 422
        else {
            return error
        }
        do {
            _ = try await client.send(.verification, token: token)
            return error
        } catch let refusal as NetworkError where refusal.code == .unauthorized {
            var error = error
            error.code = .unauthorized
            return error
        } catch is NetworkError {
            return error
        }
    }

    /// The token to use now, renewed if it ends soon.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func token() async throws -> Secret {
        let credentials = try await credentials()
        guard let end = credentials.expiresAt, end.timeIntervalSince(client.now()) < Self.margin
        else {
            return credentials.accessToken
        }
        do {
            return try await token(after: credentials.accessToken) ?? credentials.accessToken
        } catch let error as NetworkError where !error.isPermanent && client.now() < end {
            // It can be used for a few moments more.
            return credentials.accessToken
        }
    }

    /// The token that takes the place of `token`; nil if there cannot be one.
    private func token(after token: Secret) async throws -> Secret? {
        let credentials = try await credentials()
        // Another call had it renewed meanwhile.
        guard credentials.accessToken.reveal() == token.reveal() else {
            return credentials.accessToken
        }
        guard canRenew else { return nil }
        return try await flight.value { try await self.renewed(credentials) }.accessToken
    }

    /// The work that one does for all.
    private func renewed(_ old: MastodonCredentials) async throws -> MastodonCredentials {
        if let current, !current.hasToken(of: old) { return current }
        if unsaved == nil {
            if let saved = try await saved(), !saved.hasToken(of: old) { return use(saved) }
            do {
                unsaved = try await client.renewed(old)
            } catch let error as NetworkError where error.code == .unauthorized {
                guard let saved = try await saved(), !saved.hasToken(of: old) else { throw error }
                return use(saved)
            }
        }
        guard let renewed = unsaved else { return old }
        if let store {
            try await storing {
                try await store.save(
                    JSONBody.sealed(MastodonSavedSession(renewed, replacing: configured)))
            }
        }
        unsaved = nil
        return use(renewed)
    }

    /// The credentials in use: the saved ones if they replace the configured ones, else the
    /// configured ones.
    private func credentials() async throws -> MastodonCredentials {
        if let current { return current }
        let saved = try await saved()
        // Another call may have looked too, and gone on from there.
        return current ?? use(saved ?? configured)
    }

    private func use(_ credentials: MastodonCredentials) -> MastodonCredentials {
        client.knownSecrets.add(credentials.accessToken, credentials.refreshToken)
        current = credentials
        return credentials
    }

    /// The saved credentials that replace the configured ones.
    private func saved() async throws -> MastodonCredentials? {
        guard let store, canRenew else { return nil }
        return try await storing { try await store.load() }.flatMap(MastodonSavedSession.init)?
            .credentials(replacing: configured)
    }

    private func storing<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw client.error(
                .refreshSession, .unavailable, outcome: .notSent,
                detail: "the store of the session does not work")
        }
    }
}

extension NetworkCall {
    /// Asks whose token it is.
    static var verification: NetworkCall {
        NetworkCall(
            operation: .verifyAccount, path: ["api", "v1", "accounts", "verify_credentials"])
    }
}

/// Renewed credentials as a ``CredentialStore`` keeps them.
struct MastodonSavedSession: Codable {
    /// A hash of the configured credentials that these replace: after a new login they are worth
    /// nothing.
    let origin: String
    let accessToken: String
    let refreshToken: String?
    /// Milliseconds since 1970.
    let expiresAt: Int64?

    init(_ credentials: MastodonCredentials, replacing configured: MastodonCredentials) {
        origin = Self.origin(of: configured)
        accessToken = credentials.accessToken.reveal()
        refreshToken = credentials.refreshToken?.reveal()
        expiresAt = credentials.expiresAt.flatMap {
            Int64(exactly: ($0.timeIntervalSince1970 * 1_000).rounded())
        }
    }

    /// Nil for what is not a saved session.
    init?(_ text: Secret) {
        guard let saved = JSONBody.opened(Self.self, text), !saved.accessToken.isEmpty else {
            return nil
        }
        self = saved
    }

    /// Nil unless these replace `configured`.
    func credentials(replacing configured: MastodonCredentials) -> MastodonCredentials? {
        guard origin == Self.origin(of: configured) else { return nil }
        return MastodonCredentials(
            accessToken: Secret(accessToken), refreshToken: refreshToken.map { Secret($0) },
            clientID: configured.clientID, clientSecret: configured.clientSecret,
            expiresAt: expiresAt.map { Date(timeIntervalSince1970: Double($0) / 1_000) })
    }

    private static func origin(of credentials: MastodonCredentials) -> String {
        let parts = [
            credentials.clientID, credentials.refreshToken?.reveal(),
            credentials.accessToken.reveal(),
        ]
        let text = parts.map { $0 ?? "" }.joined(separator: "\n")
        return HashFunction.sha256.digest(of: text.utf8).hexadecimal
    }
}

/// Asking for tokens.
extension MastodonClient {
    /// Requests tokens from the token endpoint with `form`.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func tokens(
        _ operation: NetworkError.Operation, _ form: [(name: String, value: String)]
    ) async throws -> MastodonTokens {
        let call = NetworkCall(
            operation: operation, method: .post, path: ["oauth", "token"], form: form)
        let tokens = try await value(MastodonTokens.self, call, token: nil)
        knownSecrets.add(tokens.accessToken, tokens.refreshToken)
        return tokens
    }

    /// Credentials with a new access token, got with the refresh token of `old`; nil where `old`
    /// has none.
    ///
    /// - Throws: ``NetworkError``, with code `.unauthorized` where the server will not give one any
    ///   more; or `CancellationError`.
    func renewed(_ old: MastodonCredentials) async throws -> MastodonCredentials? {
        guard let refreshToken = old.refreshToken, let clientID = old.clientID else { return nil }
        var form = [
            ("grant_type", "refresh_token"), ("refresh_token", refreshToken.reveal()),
            ("client_id", clientID),
        ]
        if let secret = old.clientSecret { form.append(("client_secret", secret.reveal())) }
        do {
            return try await tokens(.refreshSession, form).credentials(after: old, now: now())
        } catch var error as NetworkError {
            // Whatever else was wanted was not asked for.
            error.outcome = .notSent
            if error.isPermanent, !error.stopsActor || error.code == .missingScope {
                error.code = .unauthorized
                error.detail = "the session has ended and cannot be renewed"
            }
            throw error
        }
    }
}

/// The answer of a token endpoint.
struct MastodonTokens: Decodable {
    /// A token is not taken to last longer: seconds.
    private static let longestLife = 10 * 366 * 86_400

    let accessToken: Secret
    let refreshToken: Secret?
    /// Seconds; nil for tokens that do not end.
    let expiresIn: Int?
    /// The scopes of the token; `nil` where the server does not tell.
    let scopes: [String]?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let token = wire.text("access_token"), !token.isEmpty else { throw ShapeError() }
        accessToken = Secret(token)
        refreshToken = wire.text("refresh_token").flatMap { $0.isEmpty ? nil : Secret($0) }
        expiresIn = wire.integer("expires_in").flatMap {
            (1...Self.longestLife).contains($0) ? $0 : nil
        }
        scopes = wire.scopes("scope")
    }

    /// The credentials that take the place of `old`.
    func credentials(after old: MastodonCredentials, now: Date) -> MastodonCredentials {
        MastodonCredentials(
            // A server that gives no new refresh token means the old one to be used again.
            accessToken: accessToken, refreshToken: refreshToken ?? old.refreshToken,
            clientID: old.clientID,
            clientSecret: old.clientSecret,
            expiresAt: expiresIn.map { now.addingTimeInterval(TimeInterval($0)) })
    }
}

extension WireObject {
    /// Scopes as a text with spaces between them or as a list; nil where there are none.
    func scopes(_ key: String) -> [String]? {
        let words = value([String].self, key) ?? text(key).map { [$0] } ?? []
        // What is no word of the standard's alphabet (RFC 6749, section 3.3) is not printed.
        let scopes = words.flatMap { $0.split(separator: " ").map(String.init) }
            .filter { $0.utf8.count <= 64 && $0.isVisibleASCII }
        return scopes.isEmpty ? nil : scopes
    }
}
