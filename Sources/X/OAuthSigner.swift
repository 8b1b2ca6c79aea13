import Cryptography
import Foundation
import Networks
import Posts

/// Signs requests by OAuth 1.0a, with HMAC-SHA1 (RFC 5849, section 3.4).
///
/// The signed parameters must equal those in the request: the caller builds the query and the form
/// with ``PercentEncoding`` from the same pairs.
struct OAuthSigner: Sendable {
    /// A parameter before it is percent-encoded.
    typealias Parameter = (name: String, value: String)

    var consumerKey: String
    var consumerSecret: Secret
    /// The account's token, or the temporary token of a login; nil before a login has one.
    var token: Secret?
    var tokenSecret: Secret?
    /// Whether `oauth_version` is sent, which the protocol makes optional.
    var sendsVersion = true

    /// The signed parts of a request.
    struct Request {
        var method: String
        /// Scheme, host, port and path, without query or fragment.
        var url: String
        /// The parameters of the query, and those of a body that is a form; a JSON body is not
        /// signed.
        var parameters: [Parameter] = []
        /// The parameters of the header that the signer does not add itself, such as
        /// `oauth_verifier`.
        var extra: [Parameter] = []
        /// A text of letters and digits that is different for every request.
        var nonce: String
        /// The time of the request, in seconds since 1970.
        var timestamp: Int64
    }

    /// The value of the `Authorization` header.
    func authorization(for request: Request) -> String {
        let signedParameters =
            headerParameters(of: request) + [("oauth_signature", signature(of: request))]
        let encodedParameters = signedParameters.map { parameter in
            (
                name: PercentEncoding.encoded(parameter.name),
                value: PercentEncoding.encoded(parameter.value)
            )
        }
        let sorted = encodedParameters.sorted { first, second in first.name < second.name }
        return "OAuth "
            + sorted.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ", ")
    }

    /// The signature in base64.
    func signature(of request: Request) -> String {
        Data(HashFunction.sha1.code(of: baseString(of: request).utf8, key: signingKey.utf8))
            .base64EncodedString()
    }

    /// The text that is signed.
    func baseString(of request: Request) -> String {
        [request.method.uppercased(), Self.baseURL(request.url), parameterString(of: request)]
            .map(PercentEncoding.encoded).joined(separator: "&")
    }

    /// All parameters, encoded and then sorted by their bytes.
    func parameterString(of request: Request) -> String {
        let pairs = (request.parameters + headerParameters(of: request)).map {
            (
                name: Array(PercentEncoding.encoded($0.name).utf8),
                value: Array(PercentEncoding.encoded($0.value).utf8)
            )
        }
        let sorted = pairs.sorted { first, second in
            if first.name == second.name {
                return first.value.lexicographicallyPrecedes(second.value)
            }
            return first.name.lexicographicallyPrecedes(second.name)
        }
        return sorted.map {
            String(decoding: $0.name + [UInt8(ascii: "=")] + $0.value, as: UTF8.self)
        }
        .joined(separator: "&")
    }

    /// The secrets that must not appear in any text.
    var secrets: [Secret] {
        [Secret(consumerKey), consumerSecret, token, tokenSecret].compactMap(\.self)
    }

    /// The key of the signature: both secrets, joined with `&` even without a token.
    private var signingKey: String {
        [consumerSecret.reveal(), tokenSecret?.reveal() ?? ""].map(PercentEncoding.encoded).joined(
            separator: "&")
    }

    private func headerParameters(of request: Request) -> [Parameter] {
        var parameters: [Parameter] = [
            ("oauth_consumer_key", consumerKey), ("oauth_nonce", request.nonce),
            ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", String(request.timestamp)),
        ]
        if let token { parameters.append(("oauth_token", token.reveal())) }
        if sendsVersion { parameters.append(("oauth_version", "1.0")) }
        return parameters + request.extra
    }

    /// Scheme and host in lower case, without the scheme's default port, and the path of the
    /// request.
    static func baseURL(_ url: String) -> String {
        guard let separator = url.range(of: "://") else { return url }
        let scheme = url[..<separator.lowerBound].lowercased()
        let authority = url[separator.upperBound...].prefix { !"/?#".contains($0) }
        let path = url[authority.endIndex...].prefix { !"?#".contains($0) }
        var host = authority.lowercased()
        let port = scheme == "https" ? ":443" : ":80"
        if host.hasSuffix(port) { host.removeLast(port.utf8.count) }
        return "\(scheme)://\(host)\(path.isEmpty ? "/" : path)"
    }

    /// A word that is different in each request: 32 random bytes in hexadecimal.
    static func nonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}
