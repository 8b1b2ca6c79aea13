import Crypto
import Foundation
import Posts

/// A login that waits for its code.
package struct MastodonLoginRequest: Sendable {
    /// What the person opens in a browser; holds nothing secret.
    package let authorizeURL: String
    let clientID: String
    let clientSecret: Secret
    /// What was asked for.
    let scopes: [String]
    /// Nil where the server does not know the proof key.
    let verifier: Secret?
}

/// A login that is done.
package struct MastodonLoginGrant: Sendable {
    package let credentials: MastodonCredentials
    /// What the server says the token may do; empty where it does not say.
    package let scopes: [String]
    /// The token may be able to publish, favorite or change the account.
    package let canWrite: Bool

    /// Whether a scope allows to change something.
    static func isWriting(_ scope: String) -> Bool {
        let name = scope.prefix { $0 != ":" }
        return name == "write" || name == "follow" || scope == "admin" || scope.hasPrefix("admin:write")
    }
}

/// An application as a server has just registered it.
struct MastodonApplication: Decodable {
    let clientID: String
    let clientSecret: Secret
    /// What it may ask for; nil where the server does not tell.
    let scopes: [String]?

    private enum CodingKeys: String, CodingKey {
        case scopes
        case clientID = "client_id"
        case clientSecret = "client_secret"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let id = container.identifier(.clientID), let secret = container.text(.clientSecret), !secret.isEmpty
        else { throw MastodonShapeError() }
        clientID = id
        clientSecret = Secret(secret)
        scopes = container.scopes(.scopes)
    }
}

/// What an application that a token was given to may ask for.
struct MastodonApplicationScopes: Decodable {
    let scopes: [String]?

    private enum CodingKeys: CodingKey {
        case scopes
    }

    init(from decoder: any Decoder) throws {
        scopes = try decoder.container(keyedBy: CodingKeys.self).scopes(.scopes)
    }
}

/// What a server says about its logins (RFC 8414).
struct MastodonServerMetadata: Decodable {
    let scopes: [String]?
    /// The server knows the proof key by SHA-256.
    let provesKey: Bool

    private enum CodingKeys: String, CodingKey {
        case scopes = "scopes_supported"
        case methods = "code_challenge_methods_supported"
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        scopes = container.scopes(.scopes)
        provesKey = container.value([String].self, .methods)?.contains("S256") ?? false
    }
}

/// Proof that who brings a code is who asked for it (RFC 7636).
enum MastodonProofKey {
    /// 256 random bits.
    static func random() -> Secret {
        var generator = SystemRandomNumberGenerator()
        return Secret(text(of: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }))
    }

    /// What the server is told beforehand.
    static func challenge(of verifier: Secret) -> String {
        text(of: Array(SHA256.hash(data: Data(verifier.reveal().utf8))))
    }

    /// Base64 for addresses, without padding (RFC 4648, section 5).
    private static func text(of bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}
