import Foundation
import Posts
import Transport

/// Asking for tokens.
extension MastodonClient {
    /// What the token endpoint gives for `form`.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func tokens(
        _ operation: NetworkError.Operation, _ form: [(name: String, value: String)]
    ) async throws -> MastodonTokens {
        let call = MastodonCall(
            operation: operation, method: .post, path: ["oauth", "token"], body: .form(form))
        let tokens = try await value(MastodonTokens.self, call, token: nil)
        secrets.add(tokens.accessToken, tokens.refreshToken)
        return tokens
    }

    /// Credentials with a new access token, got with the refresh token of `old`; nil where `old` has none.
    ///
    /// - Throws: ``NetworkError``, with code `.unauthorized` where the server will not give one any more; or
    ///   `CancellationError`.
    func renewed(_ old: MastodonCredentials) async throws -> MastodonCredentials? {
        guard let refreshToken = old.refreshToken, let clientID = old.clientID else { return nil }
        var form = [("grant_type", "refresh_token"), ("refresh_token", refreshToken.reveal()), ("client_id", clientID)]
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

/// What a token endpoint answers.
struct MastodonTokens: Decodable {
    /// A token is not taken to last longer: seconds.
    private static let longestLife = 10 * 366 * 86_400

    let accessToken: Secret
    let refreshToken: Secret?
    /// Seconds; nil for tokens that do not end.
    let expiresIn: Int?
    /// What the token may do; nil where the server does not tell.
    let scopes: [String]?

    private enum CodingKeys: String, CodingKey {
        case scope
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let token = container.text(.accessToken), !token.isEmpty else { throw MastodonShapeError() }
        accessToken = Secret(token)
        refreshToken = container.text(.refreshToken).flatMap { $0.isEmpty ? nil : Secret($0) }
        expiresIn = container.integer(.expiresIn).flatMap { (1...Self.longestLife).contains($0) ? $0 : nil }
        scopes = container.scopes(.scope)
    }

    /// The credentials that take the place of `old`.
    func credentials(after old: MastodonCredentials, now: Date) -> MastodonCredentials {
        MastodonCredentials(
            // A server that gives no new refresh token means the old one to be used again.
            accessToken: accessToken, refreshToken: refreshToken ?? old.refreshToken, clientID: old.clientID,
            clientSecret: old.clientSecret, expiresAt: expiresIn.map { now.addingTimeInterval(TimeInterval($0)) })
    }
}

extension KeyedDecodingContainer {
    /// Scopes as a text with spaces between them or as a list; nil where there are none.
    func scopes(_ key: Key) -> [String]? {
        let words = value([String].self, key) ?? text(key).map { [$0] } ?? []
        // What is no word of the standard's alphabet (RFC 6749, section 3.3) is not printed.
        let scopes = words.flatMap { $0.split(separator: " ").map(String.init) }
            .filter { $0.utf8.count <= 64 && $0.isVisibleASCII }
        return scopes.isEmpty ? nil : scopes
    }
}
