import Cryptography
package import Foundation
import Localization
import Networks
package import Posts
import Transport

/// The credentials of an account on a server with Mastodon's interface.
package struct MastodonCredentials: Sendable {
    package var accessToken: Secret
    /// The token for requesting a new access token, on servers whose tokens expire.
    package var refreshToken: Secret?
    /// The application that the tokens were issued to.
    package var clientID: String?
    package var clientSecret: Secret?
    /// The time at which the access token expires; nil if it does not, or if this is unknown.
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

    /// Whether both have the same access token.
    func hasToken(of other: MastodonCredentials) -> Bool {
        accessToken.reveal() == other.accessToken.reveal()
    }
}

/// The tokens of one account, which are renewed when they expire, and the calls with them.
///
/// Only one renewal runs at a time, however many calls need it. New tokens are saved before they
/// are used, because a server may revoke the old ones at once. The saved tokens are read before the
/// server is asked for new ones, because another process of this program may have renewed them.
actor MastodonSession {
    /// A token with less remaining lifetime, in seconds, is renewed before it is used.
    private static let renewalMargin: TimeInterval = 60

    nonisolated let client: MastodonClient
    /// Whether the configured tokens can be renewed when they expire.
    nonisolated let canRenew: Bool
    private let store: (any CredentialStore)?
    private let configured: MastodonCredentials
    /// The credentials in use; nil before the saved session was read.
    private var current: MastodonCredentials?
    /// Renewed credentials that the server returned, but that the store has not saved yet.
    private var unsaved: MastodonCredentials?
    private let renewal = SingleFlight<MastodonCredentials>()

    /// - Parameters:
    ///   - store: Stores renewed tokens; nil to keep them in memory.
    init(_ credentials: MastodonCredentials, store: (any CredentialStore)?, client: MastodonClient)
    {
        self.configured = credentials
        self.canRenew = credentials.refreshToken != nil && credentials.clientID != nil
        self.store = store
        self.client = client
        client.knownSecrets.add(
            credentials.accessToken, credentials.refreshToken, credentials.clientSecret)
    }

    /// The answer to a call, which is repeated with a new token if the token was refused.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    nonisolated func send(_ call: NetworkCall) async throws -> HTTPResponse {
        try await send(call, with: try await token())
    }

    /// The answer to a call with `token`, which the caller obtained before.
    ///
    /// So the first request is the call itself.
    nonisolated func send(_ call: NetworkCall, with token: Secret) async throws -> HTTPResponse {
        do {
            return try await client.send(call, token: token)
        } catch let error as NetworkError {
            let error = try await classified(error, token)
            guard error.code == .unauthorized, let renewed = try await self.token(after: token)
            else { throw error }
            return try await client.send(call, token: renewed)
        }
    }

    /// The answer to a call, read as JSON.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    nonisolated func value<Value: Decodable>(_ type: Value.Type, _ call: NetworkCall) async throws
        -> Value
    {
        try client.decode(type, from: try await send(call), call)
    }

    /// Returns the error of a call, with code `.unauthorized` if the server refused without a
    /// message because of the token.
    ///
    /// A second request, for the token's account, decides this.
    nonisolated private func classified(_ error: NetworkError, _ token: Secret) async throws
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

    /// The token to use now, renewed if it expires soon.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func token() async throws -> Secret {
        let credentials = try await credentials()
        guard let expiry = credentials.expiresAt,
            expiry.timeIntervalSince(client.now()) < Self.renewalMargin
        else {
            return credentials.accessToken
        }
        do {
            return try await token(after: credentials.accessToken) ?? credentials.accessToken
        } catch let error as NetworkError where !error.isPermanent && client.now() < expiry {
            // The old token is valid for a few more moments.
            return credentials.accessToken
        }
    }

    /// The token that replaces `token`, which the server refused or which expires soon; nil if it
    /// cannot be renewed.
    private func token(after token: Secret) async throws -> Secret? {
        let credentials = try await credentials()
        // Another call may have renewed the token meanwhile.
        guard credentials.accessToken.reveal() == token.reveal() else {
            return credentials.accessToken
        }
        guard canRenew else { return nil }
        return try await renewal.value { try await self.renewed(credentials) }.accessToken
    }

    /// Renews the credentials for all waiting callers.
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
            try await mappingStoreErrors {
                try await store.save(
                    JSONBody.sealed(MastodonSavedSession(renewed, replacing: configured)))
            }
        }
        unsaved = nil
        return use(renewed)
    }

    /// The credentials in use: the saved ones if they replace the configured ones, or else the
    /// configured ones.
    private func credentials() async throws -> MastodonCredentials {
        if let current { return current }
        let saved = try await saved()
        // Another call may have read and set them in the meantime.
        return current ?? use(saved ?? configured)
    }

    /// Sets the credentials in use, and returns them.
    private func use(_ credentials: MastodonCredentials) -> MastodonCredentials {
        client.knownSecrets.add(credentials.accessToken, credentials.refreshToken)
        current = credentials
        return credentials
    }

    /// The saved credentials that replace the configured ones.
    private func saved() async throws -> MastodonCredentials? {
        guard let store, canRenew else { return nil }
        return try await mappingStoreErrors { try await store.load() }.flatMap(
            MastodonSavedSession.init)?
            .credentials(replacing: configured)
    }

    /// Runs `body`, which uses the store, and replaces its errors by a temporary `NetworkError`.
    private func mappingStoreErrors<Value: Sendable>(_ body: () async throws -> Value) async throws
        -> Value
    {
        do {
            return try await body()
        } catch let error as CancellationError {
            throw error
        } catch {
            throw client.error(
                .refreshSession, .unavailable, outcome: .notSent,
                detail: localized("the store of the session does not work"))
        }
    }
}

extension NetworkCall {
    /// The call that asks for the token's account.
    static var verification: NetworkCall {
        NetworkCall(
            operation: .verifyAccount, path: ["api", "v1", "accounts", "verify_credentials"])
    }
}

/// Renewed credentials as a ``CredentialStore`` stores them.
struct MastodonSavedSession: Codable {
    /// A hash of the configured credentials that these replace.
    ///
    /// After a new login it does not match, and the saved credentials are ignored.
    let origin: String
    let accessToken: String
    let refreshToken: String?
    /// The time at which the access token expires, in milliseconds since 1970.
    let expiresAt: Int64?

    init(_ credentials: MastodonCredentials, replacing configured: MastodonCredentials) {
        origin = Self.origin(of: configured)
        accessToken = credentials.accessToken.reveal()
        refreshToken = credentials.refreshToken?.reveal()
        expiresAt = credentials.expiresAt.flatMap {
            Int64(exactly: ($0.timeIntervalSince1970 * 1_000).rounded())
        }
    }

    /// Nil for a text that is not a saved session.
    init?(_ text: Secret) {
        guard let saved = JSONBody.opened(Self.self, text), !saved.accessToken.isEmpty else {
            return nil
        }
        self = saved
    }

    /// The saved credentials; nil unless they replace `configured`.
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

/// The requests for tokens.
extension MastodonClient {
    /// Requests tokens from the token endpoint with `form`.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func tokens(
        _ operation: NetworkError.Operation, _ form: [(name: String, value: String)]
    ) async throws -> MastodonTokens {
        let call = NetworkCall(
            operation: operation, method: .post, path: ["oauth", "token"], form: form)
        let tokens = try await value(MastodonTokens.self, call, token: nil)
        knownSecrets.add(tokens.accessToken, tokens.refreshToken)
        return tokens
    }

    /// Credentials with a new access token, obtained with the refresh token of `old`; nil if `old`
    /// has none.
    ///
    /// - Throws: `NetworkError`, with code `.unauthorized` if the server issues no new token any
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
            // The call that needed the token was not made.
            error.outcome = .notSent
            if error.isPermanent, !error.stopsActor || error.code == .missingScope {
                error.code = .unauthorized
                error.detail = localized("the session has ended and cannot be renewed")
            }
            throw error
        }
    }
}

/// The answer of a token endpoint.
struct MastodonTokens: Decodable {
    /// The longest token lifetime that is accepted from a server, in seconds.
    private static let longestLifetime = 10 * 366 * 86_400

    let accessToken: Secret
    let refreshToken: Secret?
    /// The lifetime of the token, in seconds; nil for tokens that do not expire.
    let expiresIn: Int?
    /// The scopes of the token; `nil` if the server does not return them.
    let scopes: [String]?

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let token = wire.text("access_token"), !token.isEmpty else { throw ShapeError() }
        accessToken = Secret(token)
        refreshToken = wire.text("refresh_token").flatMap { $0.isEmpty ? nil : Secret($0) }
        expiresIn = wire.integer("expires_in").flatMap {
            (1...Self.longestLifetime).contains($0) ? $0 : nil
        }
        scopes = wire.scopes("scope")
    }

    /// The credentials that replace `old`.
    func credentials(after old: MastodonCredentials, now: Date) -> MastodonCredentials {
        MastodonCredentials(
            // A server that returns no new refresh token expects the old one to be used again.
            accessToken: accessToken, refreshToken: refreshToken ?? old.refreshToken,
            clientID: old.clientID,
            clientSecret: old.clientSecret,
            expiresAt: expiresIn.map { now.addingTimeInterval(TimeInterval($0)) })
    }
}

extension WireObject {
    /// Scopes as a text separated by spaces or as a list; nil if there are none.
    func scopes(_ key: String) -> [String]? {
        let scopeTexts = value([String].self, key) ?? text(key).map { [$0] } ?? []
        // Words outside the standard's alphabet (RFC 6749, section 3.3) are not printed.
        let scopes = scopeTexts.flatMap { $0.split(separator: " ").map(String.init) }
            .filter { $0.utf8.count <= 64 && $0.isVisibleASCII }
        return scopes.isEmpty ? nil : scopes
    }
}
