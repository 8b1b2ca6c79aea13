import Foundation
import Posts
import Transport

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
    ///   - credentials: As configured.
    ///   - store: Keeps what replaces them; nil: the memory of this process.
    ///   - client: Makes the calls.
    init(_ credentials: MastodonCredentials, store: (any CredentialStore)?, client: MastodonClient) {
        self.configured = credentials
        self.canRenew = credentials.refreshToken != nil && credentials.clientID != nil
        self.store = store
        self.client = client
        client.secrets.add(credentials.accessToken, credentials.refreshToken, credentials.clientSecret)
    }

    /// The answer to a call, which is made a second time with a new token if the token was refused.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    nonisolated func send(_ call: MastodonCall) async throws -> HTTPResponse {
        let token = try await self.token()
        do {
            return try await client.send(call, token: token)
        } catch let error as NetworkError {
            let error = try await explained(error, token)
            guard error.code == .unauthorized, let renewed = try await self.token(after: token) else { throw error }
            return try await client.send(call, token: renewed)
        }
    }

    /// The answer to a call, read as JSON.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    nonisolated func value<Value: Decodable>(_ type: Value.Type, _ call: MastodonCall) async throws -> Value {
        try client.decode(type, from: try await send(call), call)
    }

    /// Asks whether a refusal without a word was about the token, as it is on some servers.
    nonisolated private func explained(_ error: NetworkError, _ token: Secret) async throws -> NetworkError {
        guard error.code == .rejected, error.serverCode == nil, error.status == 400 || error.status == 422 else {
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

    /// The token to use now.
    private func token() async throws -> Secret {
        let credentials = try await credentials()
        guard let end = credentials.expiresAt, end.timeIntervalSince(client.now()) < Self.margin else {
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
        guard credentials.accessToken.reveal() == token.reveal() else { return credentials.accessToken }
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
            try await storing { try await store.save(MastodonSavedSession(renewed, replacing: configured).secret()) }
        }
        unsaved = nil
        return use(renewed)
    }

    /// What is in use: what was saved if it replaces what is configured, else what is configured.
    private func credentials() async throws -> MastodonCredentials {
        if let current { return current }
        let saved = try await saved()
        // Another call may have looked too, and gone on from there.
        return current ?? use(saved ?? configured)
    }

    private func use(_ credentials: MastodonCredentials) -> MastodonCredentials {
        client.secrets.add(credentials.accessToken, credentials.refreshToken)
        current = credentials
        return credentials
    }

    /// What was saved in place of what is configured.
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
                MastodonCall(operation: .refreshSession, path: []), .unavailable, outcome: .notSent,
                detail: "the store of the session does not work")
        }
    }
}

extension MastodonCall {
    /// Asks whose token it is.
    static var verification: MastodonCall {
        MastodonCall(operation: .verifyAccount, path: ["api", "v1", "accounts", "verify_credentials"])
    }
}
