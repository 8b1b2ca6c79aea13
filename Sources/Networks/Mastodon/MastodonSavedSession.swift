import Crypto
import Foundation
import Posts

/// Renewed credentials as a ``CredentialStore`` keeps them.
struct MastodonSavedSession: Codable {
    /// A hash of the configured credentials that these replace: after a new login they are worth nothing.
    let origin: String
    let accessToken: String
    let refreshToken: String?
    /// Milliseconds since 1970.
    let expiresAt: Int64?

    init(_ credentials: MastodonCredentials, replacing configured: MastodonCredentials) {
        origin = Self.origin(of: configured)
        accessToken = credentials.accessToken.reveal()
        refreshToken = credentials.refreshToken?.reveal()
        expiresAt = credentials.expiresAt.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1_000).rounded()) }
    }

    /// Nil for what is not a saved session.
    init?(_ text: Secret) {
        guard let saved = try? JSONDecoder().decode(Self.self, from: Data(text.reveal().utf8)),
            !saved.accessToken.isEmpty
        else { return nil }
        self = saved
    }

    /// The text to keep.
    func secret() throws -> Secret {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return Secret(String(decoding: try encoder.encode(self), as: UTF8.self))
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
        let parts = [credentials.clientID, credentials.refreshToken?.reveal(), credentials.accessToken.reveal()]
        let text = parts.map { $0 ?? "" }.joined(separator: "\n")
        return SHA256.hash(data: Data(text.utf8)).hexadecimal
    }
}
