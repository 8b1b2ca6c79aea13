import Formats
package import Foundation
package import Posts
package import Transport

/// The credentials of one account on X: the application's keys and the account's token.
package struct XCredentials: Sendable {
    /// The API key in X's words; it names the application in every request.
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

/// A login that waits for a person to allow the application to act for an account.
package struct XLoginRequest: Sendable {
    /// To be opened in a browser that is logged in as the account; the page shows a PIN.
    package var authorizeURL: String
    let token: Secret
    let tokenSecret: Secret
}

/// Logging in with a PIN: for programs that have no address where a browser could come back to.
package struct XLogin: Sendable {
    private let client: XClient
    private let consumerKey: String
    private let consumerSecret: Secret

    /// - Parameters:
    ///   - consumerKey: The application's key, from the developer console.
    ///   - apiBaseURL: Another host to ask; nil: X.
    ///   - origin: The mirror that makes the requests.
    /// - Throws: ``NetworkError`` with code `.configuration` if `apiBaseURL` is not an address.
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

    /// Asks for the address that a person has to open.
    ///
    /// - Parameter forReadingOnly: Whether the token shall only read, as it should for the human.
    /// - Returns: The address, and what ``finish(_:pin:)`` needs.
    /// - Throws: ``NetworkError`` or `CancellationError`.
    package func begin(forReadingOnly: Bool) async throws -> XLoginRequest {
        var call = NetworkCall(
            operation: .logIn, method: .post, path: ["oauth", "request_token"],
            oauth: [("oauth_callback", "oob")], body: [])
        if forReadingOnly { call.query = [("x_auth_access_type", "read")] }
        let response = try await send(
            call, by: client, unless: "the consumer key or the consumer secret is wrong")
        let form = Self.form(response.body)
        guard form["oauth_callback_confirmed"] == "true", let token = form["oauth_token"],
            let secret = form["oauth_token_secret"], !token.isEmpty, !secret.isEmpty
        else {
            throw client.malformed(call, response, detail: "the answer has no token for logging in")
        }
        return XLoginRequest(
            authorizeURL: client.server.base + "/oauth/authorize?"
                + PercentEncoding.query([("oauth_token", token)]),
            token: Secret(token), tokenSecret: Secret(secret))
    }

    /// Turns the PIN that the page showed into credentials.
    ///
    /// - Parameters:
    ///   - request: From ``begin(forReadingOnly:)``; good for a few minutes and one attempt.
    ///   - pin: As the person typed it.
    /// - Throws: ``NetworkError`` with code `.rejected` for what is no PIN, `.unauthorized` for a
    ///   wrong or old one; or `CancellationError`.
    package func finish(_ request: XLoginRequest, pin: String) async throws -> XCredentials {
        let call = NetworkCall(
            operation: .logIn, method: .post, path: ["oauth", "access_token"],
            oauth: [("oauth_verifier", pin.filter { !$0.isWhitespace })], body: [])
        guard let verifier = call.oauth.first?.value, (1...32).contains(verifier.utf8.count),
            verifier.utf8.allSatisfy(\.isDigit)
        else {
            throw client.error(
                call, .rejected, outcome: .notSent,
                detail: "the PIN is not a number; copy the digits that X shows")
        }
        let response = try await send(
            call, by: try authorized(by: request),
            unless: "the PIN is wrong or too old; begin again")
        let form = Self.form(response.body)
        guard let token = form["oauth_token"], let secret = form["oauth_token_secret"],
            let id = form["user_id"],
            !token.isEmpty, !secret.isEmpty, XID.isUsable(id)
        else {
            throw client.malformed(call, response, detail: "the answer has no access token")
        }
        return XCredentials(
            consumerKey: consumerKey, consumerSecret: consumerSecret, accessToken: Secret(token),
            accessTokenSecret: Secret(secret))
    }

    /// The answer to a call, for whose refused signature there is one likely cause.
    private func send(_ call: NetworkCall, by client: XClient, unless cause: String) async throws
        -> HTTPResponse
    {
        do {
            return try await client.send(call)
        } catch var error as NetworkError where error.code == .unauthorized {
            error.detail = error.detail ?? cause
            throw error
        }
    }

    private func authorized(by request: XLoginRequest) throws(NetworkError) -> XClient {
        var signer = client.signer
        signer.token = request.token
        signer.tokenSecret = request.tokenSecret
        return try XClient(
            apiBaseURL: client.server.base, signer: signer, http: client.http,
            origin: client.origin,
            memory: client.memory, now: client.now)
    }

    /// The pairs of a form; nothing for what is no form.
    private static func form(_ body: [UInt8]) -> [String: String] {
        guard body.count <= 4_096, let text = String(validating: body, as: UTF8.self) else {
            return [:]
        }
        return PercentEncoding.values(of: text)
    }
}
