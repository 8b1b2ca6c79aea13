import Formats
package import Foundation
import Localization
package import Networks
package import Posts
package import Transport

/// The credentials of one account on X: the application's keys and the account's token.
package struct XCredentials: Sendable {
    /// The API key, as X calls it; it identifies the application in every request.
    package var consumerKey: String
    package var consumerSecret: Secret
    package var accessToken: Secret
    package var accessTokenSecret: Secret

    package init(
        consumerKey: String, consumerSecret: Secret, accessToken: Secret, accessTokenSecret: Secret
    ) {
        self.consumerKey = consumerKey
        self.consumerSecret = consumerSecret
        self.accessToken = accessToken
        self.accessTokenSecret = accessTokenSecret
    }
}

/// A login that waits for a person to authorize the application.
package struct XLoginRequest: Sendable {
    /// The address to open in a browser that is logged in as the account; the page shows a PIN.
    package var authorizeURL: String
    let token: Secret
    let tokenSecret: Secret
}

/// Login with a PIN, for programs without an address to which a browser could return.
package struct XLogin: Sendable {
    private let client: XClient
    private let consumerKey: String
    private let consumerSecret: Secret

    /// - Parameters:
    ///   - consumerKey: The application's key, from the developer console.
    ///   - apiBaseURL: Another host for calls; nil for X's.
    ///   - origin: The mirror that makes the requests.
    /// - Throws: `NetworkError` with code `.configuration` if `apiBaseURL` is not an address.
    package init(
        consumerKey: String, consumerSecret: Secret, apiBaseURL: String?, client: HTTPClient,
        origin: RequestOrigin = RequestOrigin(), now: @escaping @Sendable () -> Date
    ) throws(NetworkError) {
        self.consumerKey = consumerKey
        self.consumerSecret = consumerSecret
        self.client = try XClient(
            apiBaseURL: apiBaseURL,
            signer: OAuthSigner(consumerKey: consumerKey, consumerSecret: consumerSecret),
            http: client, origin: origin, memory: XMemory(), now: now)
    }

    /// Requests the address that a person has to open.
    ///
    /// - Parameter forReadingOnly: Whether the token permits only reading, which is enough for the
    ///   human's account.
    /// - Returns: The address, and the data for ``finish(_:pin:)``.
    /// - Throws: `NetworkError` or `CancellationError`.
    package func begin(forReadingOnly: Bool) async throws -> XLoginRequest {
        var call = NetworkCall(
            operation: .logIn, method: .post, path: ["oauth", "request_token"],
            oauth: [("oauth_callback", "oob")], body: [])
        if forReadingOnly { call.query = [("x_auth_access_type", "read")] }
        let response = try await send(
            call, by: client,
            likelyCause: localized("the consumer key or the consumer secret is wrong"))
        let form = Self.form(response.body)
        guard form["oauth_callback_confirmed"] == "true", let token = form["oauth_token"],
            let secret = form["oauth_token_secret"], !token.isEmpty, !secret.isEmpty
        else {
            throw client.malformed(
                call, response, detail: localized("the answer has no token for logging in"))
        }
        return XLoginRequest(
            authorizeURL: client.server.base + "/oauth/authorize?"
                + PercentEncoding.query([("oauth_token", token)]),
            token: Secret(token), tokenSecret: Secret(secret))
    }

    /// Exchanges the PIN for credentials.
    ///
    /// - Parameters:
    ///   - request: The result of ``begin(forReadingOnly:)``; valid for a few minutes and one
    ///     attempt.
    ///   - pin: The PIN as the person typed it.
    /// - Throws: `NetworkError` with code `.rejected` for a text that is no PIN, `.unauthorized`
    ///   for a wrong or expired one; or `CancellationError`.
    package func finish(_ request: XLoginRequest, pin: String) async throws -> XCredentials {
        let call = NetworkCall(
            operation: .logIn, method: .post, path: ["oauth", "access_token"],
            oauth: [("oauth_verifier", pin.filter { !$0.isWhitespace })], body: [])
        guard let verifier = call.oauth.first?.value, (1...32).contains(verifier.utf8.count),
            verifier.utf8.allSatisfy(\.isDigit)
        else {
            throw client.error(
                call, .rejected, outcome: .notSent,
                detail: localized("the PIN is not a number; copy the digits that X shows"))
        }
        let response = try await send(
            call, by: try authorizedClient(by: request),
            likelyCause: localized("the PIN is wrong or too old; begin again"))
        let form = Self.form(response.body)
        guard let token = form["oauth_token"], let secret = form["oauth_token_secret"],
            let id = form["user_id"],
            !token.isEmpty, !secret.isEmpty, XID.isUsable(id)
        else {
            throw client.malformed(
                call, response, detail: localized("the answer has no access token"))
        }
        return XCredentials(
            consumerKey: consumerKey, consumerSecret: consumerSecret, accessToken: Secret(token),
            accessTokenSecret: Secret(secret))
    }

    /// Sends a call, and returns its answer.
    ///
    /// - Parameter cause: The likely cause of a refused signature, for the error.
    private func send(_ call: NetworkCall, by client: XClient, likelyCause cause: String)
        async throws
        -> HTTPResponse
    {
        do {
            return try await client.send(call)
        } catch var error as NetworkError where error.code == .unauthorized {
            error.detail = error.detail ?? cause
            throw error
        }
    }

    private func authorizedClient(by request: XLoginRequest) throws(NetworkError) -> XClient {
        var signer = client.signer
        signer.token = request.token
        signer.tokenSecret = request.tokenSecret
        return try XClient(
            apiBaseURL: client.server.base, signer: signer, http: client.http,
            origin: client.origin,
            memory: client.memory, now: client.now)
    }

    /// The names and values of an encoded form; empty for a body that is no form.
    private static func form(_ body: [UInt8]) -> [String: String] {
        guard body.count <= 4_096, let text = String(validating: body, as: UTF8.self) else {
            return [:]
        }
        return PercentEncoding.values(of: text)
    }
}
