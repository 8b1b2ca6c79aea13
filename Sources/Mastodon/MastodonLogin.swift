import Cryptography
import Formats
package import Foundation
import Localization
import NetworkNames
package import Networks
package import Posts
package import Transport

/// Logs a person in to a server with Mastodon's interface, without seeing the password.
///
/// The person opens an address in a browser, and allows the access that the server describes there.
/// The server then leads the browser to our page with a code, or shows the code, which the person
/// types here. If a server supports the proof key (PKCE, RFC 7636, S256), the code is useless to
/// anybody else.
///
/// - Throws: Every call throws `NetworkError` or `CancellationError`.
package struct MastodonLogin: Sendable {
    /// The purpose of the account.
    package enum Role: String, Sendable, CaseIterable {
        case human, bot
    }

    /// The name of the application, which the server shows to the person.
    private static let applicationName = "mirror-bot"
    /// The return address with which the server shows the code instead of sending it to a page.
    private static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"
    /// The longest accepted code, in bytes: longer than every code in use.
    private static let longestCode = 2_048
    /// The longest return address, in bytes; Mastodon accepts 2,000 bytes for all addresses
    /// together.
    private static let longestAddress = 1_900
    /// The scope for reading the account's name; servers before Mastodon 4.3 do not know it.
    private static let profileScope = "profile"

    private let server: ServerAddress
    private let client: MastodonClient

    /// - Parameters:
    ///   - server: `https://social.example`, or the host alone.
    ///   - apiBaseURL: Another address for calls; nil for the server's. The person opens the
    ///     server's address in any case.
    ///   - origin: The mirror that makes the requests.
    /// - Throws: `NetworkError` with code `.configuration` if `server` or `apiBaseURL` is not an
    ///   address.
    package init(
        server: String, apiBaseURL: String?, client: HTTPClient,
        origin: RequestOrigin = RequestOrigin(),
        now: @escaping @Sendable () -> Date
    ) throws(NetworkError) {
        self.server = try ServerAddress(server, network: .mastodon)
        self.client = MastodonClient(
            server: try ServerAddress(apiBaseURL ?? server, network: .mastodon), http: client,
            origin: origin,
            knownSecrets: KnownSecrets(), now: now, isAnonymous: true)
    }

    /// Registers the application at the server, and prepares what the person has to open.
    ///
    /// If the server's program is known to support return addresses, and the server accepts `page`,
    /// it leads the browser there; otherwise it shows a code. A second application is registered
    /// only if the server registered the first one without a usable address. Old servers forget
    /// applications without a token, so the person has to finish the login soon.
    ///
    /// - Parameter page: The absolute http or https address, without a fragment, to which the
    ///   server leads back; `nil`, or an address of another form, for a code.
    package func register(
        for role: Role, returningTo page: String? = nil
    ) async throws -> MastodonLoginRequest {
        let page = page.flatMap { Self.isReturnAddress($0) ? $0 : nil }
        let metadata = try await metadata()
        let program = metadata == nil || page != nil ? try await program() : nil
        let offer = Self.offer(for: role, metadata, program)
        let supportsProofKey = metadata?.supportsProofKey == true
        if let page, program?.supportsReturnAddress.value == true,
            let request = try await request(
                for: offer, returningTo: page, supportsProofKey: supportsProofKey)
        {
            return request
        }
        let registration = try await register(offer, redirects: [Self.outOfBand])
        return request(
            for: registration, redirect: Self.outOfBand, supportsProofKey: supportsProofKey)
    }

    /// The request for an application with a return address; `nil` if the server refuses it or
    /// registers neither that address nor the one for codes.
    private func request(
        for offer: ScopeOffer, returningTo page: String, supportsProofKey: Bool
    ) async throws -> MastodonLoginRequest? {
        let addresses = [page, Self.outOfBand]
        let registration: Registration
        do {
            registration = try await register(offer, redirects: addresses)
        } catch let error as NetworkError where Self.isRefusal(error) {
            return nil
        }
        return addresses.first(where: registration.application.allowsReturn(to:)).map {
            request(for: registration, redirect: $0, supportsProofKey: supportsProofKey)
        }
    }

    /// Exchanges the code that the server showed or sent for a token; white space around the code
    /// does not matter.
    package func finish(_ request: MastodonLoginRequest, code: String) async throws
        -> MastodonLoginGrant
    {
        let code = code.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...Self.longestCode).contains(code.utf8.count), code.isVisibleASCII
        else {
            throw client.error(
                .logIn, .rejected, outcome: .notSent,
                detail: localized(
                    "that is not a code; copy what the server shows, and nothing else"))
        }
        client.knownSecrets.add(Secret(code), request.clientSecret, request.verifier)
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("client_id", request.clientID),
            ("client_secret", request.clientSecret.reveal()), ("redirect_uri", request.redirect),
            ("scope", request.scopes.joined(separator: " ")),
        ]
        if let verifier = request.verifier { form.append(("code_verifier", verifier.reveal())) }
        let tokens = try await tokens(form)
        let scopes = try await grantedScopes(of: tokens)
        let applicationCredentials = MastodonCredentials(
            accessToken: tokens.accessToken, clientID: request.clientID,
            clientSecret: request.clientSecret)
        return MastodonLoginGrant(
            credentials: tokens.credentials(after: applicationCredentials, now: client.now()),
            scopes: scopes ?? [],
            canWrite: try await canWrite(scopes, tokens.accessToken))
    }

    /// Revokes a token that will not be used.
    ///
    /// - Parameter credentials: The credentials of a grant by ``finish(_:code:)``.
    package func revoke(_ credentials: MastodonCredentials) async throws {
        client.knownSecrets.add(credentials.accessToken, credentials.clientSecret)
        let form = [
            ("client_id", credentials.clientID ?? ""),
            ("client_secret", credentials.clientSecret?.reveal() ?? ""),
            ("token", credentials.accessToken.reveal()),
        ]
        let call = NetworkCall(
            operation: .logIn, method: .post, path: ["oauth", "revoke"], form: form)
        _ = try await client.send(call, token: nil)
    }

    /// Returns the scopes that the application of a token may request at most; `nil` if the server
    /// does not say.
    ///
    /// - Throws: `NetworkError` if the token is refused or the server cannot be asked; or
    ///   `CancellationError`.
    package func scopes(of token: Secret) async throws -> [String]? {
        client.knownSecrets.add(token)
        let call = NetworkCall(
            operation: .logIn, path: ["api", "v1", "apps", "verify_credentials"])
        do {
            let response = try await client.send(call, token: token)
            return JSONBody.read(response.body) { $0.scopes("scopes") }
        } catch let error as NetworkError where Self.meansUnknownScopes(error) {
            return nil
        }
    }

    /// Whether a token that a person created may permit changes; true also if the server does not
    /// say.
    ///
    /// - Throws: `NetworkError` if the token is refused or the server cannot be asked; or
    ///   `CancellationError`.
    package func canWrite(with token: Secret) async throws -> Bool {
        try await canWrite(try await scopes(of: token), token)
    }

    /// The scopes that the bot needs and a token lacks, in the order of ``MastodonBotScope``.
    ///
    /// - Parameters:
    ///   - token: The access token of the bot's account.
    ///   - granted: The scopes that the server named with the token; `nil` to ask.
    /// - Returns: The missing scopes; empty if the server does not say, or lets every token do
    ///   everything.
    /// - Throws: `NetworkError` if the token is refused or the server cannot be asked; or
    ///   `CancellationError`.
    package func missingBotScopes(of token: Secret, granted: [String]? = nil) async throws
        -> [MastodonBotScope]
    {
        let knownScopes = if let granted { granted } else { try await scopes(of: token) }
        guard let scopes = knownScopes, !scopes.isEmpty else { return [] }
        let missing = MastodonBotScope.allCases.filter { !$0.isGranted(by: scopes) }
        if missing.isEmpty { return [] }
        return try await ignoresScopes(token) ? [] : missing
    }

    /// Whether an error means that the server does not report the scopes, and not that the token is
    /// bad or the server out of order.
    private static func meansUnknownScopes(_ error: NetworkError) -> Bool {
        if error.code == .malformedResponse || error.code == .missingScope { return true }
        // A missing page means the same, even if a program other than the server reports it.
        return error.dropsItem || error.status == 404 || error.status == 410
    }

    /// Whether the server refuses the content of the request, rather than being unable to answer.
    private static func isRefusal(_ error: NetworkError) -> Bool {
        [.rejected, .unauthorized, .forbidden, .tooLong].contains(error.code)
    }

    private func tokens(_ form: [(name: String, value: String)]) async throws -> MastodonTokens {
        do {
            return try await client.tokens(.logIn, form)
        } catch var error as NetworkError where Self.isRefusal(error) {
            error.code = .rejected
            error.detail =
                localized(
                    "the code was not accepted: it is wrong, was used before or is too old; begin again"
                )
            throw error
        }
    }

    private func grantedScopes(of tokens: MastodonTokens) async throws -> [String]? {
        if let scopes = tokens.scopes { return scopes }
        do {
            return try await scopes(of: tokens.accessToken)
        } catch is NetworkError {
            return nil
        }
    }

    /// Whether the token may permit changes; true also if the server does not say, or ignores
    /// scopes.
    private func canWrite(_ scopes: [String]?, _ token: Secret) async throws -> Bool {
        guard let scopes, !scopes.contains(where: MastodonLoginGrant.isWriting) else { return true }
        return try await ignoresScopes(token)
    }

    /// Whether a token permits everything at this server, whatever its scopes; false if that is
    /// unknown.
    private func ignoresScopes(_ token: Secret) async throws -> Bool {
        do {
            let instance = try await MastodonInstance.read {
                try await client.value(MastodonInstance.self, $0, token: token)
            }
            return instance.program.ignoresScopes.value
        } catch is NetworkError {
            return false
        }
    }
}

extension MastodonLogin {
    /// The scopes to request, in the order in which they are tried.
    private struct ScopeOffer {
        /// Scopes that some servers do not know; `nil` to request only the others.
        var preferred: [String]?
        /// The scopes to request if there are no preferred ones, or if the server does not know
        /// them.
        let fallback: [String]
    }

    /// An application, and the scopes that it was registered for.
    private struct Registration {
        let application: MastodonApplication
        let scopes: [String]
    }

    /// The scopes to request.
    ///
    /// The scope `profile` permits no more than reading the account's name, but only servers since
    /// Mastodon 4.3 know it; these also publish metadata about their logins. Other servers may
    /// accept the scope and then permit nothing.
    private static func offer(
        for role: Role, _ metadata: MastodonServerMetadata?, _ program: MastodonProgram?
    ) -> ScopeOffer {
        if knowsCoarseScopesOnly(metadata, program) {
            return ScopeOffer(fallback: role == .bot ? ["read", "write"] : ["read"])
        }
        switch role {
        case .bot:
            let writing = ["write:statuses", "write:favourites", "write:accounts", "write:media"]
            return ScopeOffer(
                fallback: ["read:accounts", "read:statuses", "read:notifications"] + writing)
        case .human:
            let reading = ["read:statuses", "read:favourites"]
            let mayKnowProfileScope =
                if let metadata { metadata.scopes?.contains(profileScope) ?? true } else { false }
            return ScopeOffer(
                preferred: mayKnowProfileScope ? [profileScope] + reading : nil,
                fallback: ["read:accounts"] + reading)
        }
    }

    /// Whether the server supports only the coarse scopes.
    ///
    /// If a server lists its scopes, the list decides. Among the servers without such a list,
    /// Takahe grants finer scopes and then refuses every request, so finer scopes are requested
    /// only from programs that are known to support them.
    private static func knowsCoarseScopesOnly(
        _ metadata: MastodonServerMetadata?, _ program: MastodonProgram?
    ) -> Bool {
        if let scopes = metadata?.scopes, scopes.contains("read") {
            return !scopes.contains { $0.hasPrefix("read:") || $0.hasPrefix("write:") }
        }
        guard metadata == nil, let program else { return false }
        return !program.knowsFineScopes.value
    }

    /// Whether an address can be one to which a server leads back (RFC 6749, section 3.1.2).
    private static func isReturnAddress(_ text: String) -> Bool {
        guard (1...longestAddress).contains(text.utf8.count), text.isVisibleASCII,
            let address = URLComponents(string: text), let scheme = address.scheme
        else { return false }
        return ["http", "https"].contains(scheme.lowercased()) && address.host?.isEmpty == false
            && address.user == nil && address.fragment == nil
    }

    /// The server's program; `nil` where the server does not tell.
    private func program() async throws -> MastodonProgram? {
        do {
            let instance = try await MastodonInstance.read {
                try await client.value(MastodonInstance.self, $0, token: nil)
            }
            return instance == .unknown ? nil : instance.program
        } catch let error as NetworkError where error.code != .configuration {
            return nil
        }
    }

    /// The server's metadata about its logins; `nil` where it gives none.
    private func metadata() async throws -> MastodonServerMetadata? {
        do {
            let call = NetworkCall(
                operation: .logIn, path: [".well-known", "oauth-authorization-server"])
            return try await client.value(MastodonServerMetadata.self, call, token: nil)
        } catch let error as NetworkError where error.code != .configuration {
            return nil
        }
    }

    private func register(
        _ offer: ScopeOffer, redirects: [String]
    ) async throws -> Registration {
        if let scopes = offer.preferred,
            let application = try await registerPreferring(scopes, redirects: redirects)
        {
            return Registration(application: application, scopes: scopes)
        }
        let application = try await register(scopes: offer.fallback, redirects: redirects)
        return Registration(application: application, scopes: offer.fallback)
    }

    /// Registers with the preferred scopes; nil if the server does not know all of them.
    ///
    /// Most such servers refuse the request, and one leaves out the unknown scopes.
    private func registerPreferring(
        _ scopes: [String], redirects: [String]
    ) async throws -> MastodonApplication? {
        do {
            let application = try await register(scopes: scopes, redirects: redirects)
            let granted = application.scopes ?? scopes
            return granted.contains(Self.profileScope) || granted.contains("read")
                ? application : nil
        } catch let error as NetworkError where error.code == .rejected {
            return nil
        }
    }

    private func register(
        scopes: [String], redirects: [String]
    ) async throws -> MastodonApplication {
        let call = NetworkCall(
            operation: .logIn, method: .post, path: ["api", "v1", "apps"],
            form: [
                ("client_name", Self.applicationName),
                ("redirect_uris", redirects.joined(separator: "\n")),
                ("scopes", scopes.joined(separator: " ")),
            ])
        return try await client.value(MastodonApplication.self, call, token: nil)
    }

    private func request(
        for registration: Registration, redirect: String, supportsProofKey: Bool
    ) -> MastodonLoginRequest {
        let application = registration.application
        let verifier = supportsProofKey ? MastodonProofKey.random() : nil
        var query = [
            ("response_type", "code"), ("client_id", application.clientID),
            ("redirect_uri", redirect),
            ("scope", registration.scopes.joined(separator: " ")), ("force_login", "true"),
        ]
        if let verifier {
            query += [
                ("code_challenge", MastodonProofKey.challenge(of: verifier)),
                ("code_challenge_method", "S256"),
            ]
        }
        // A code that is shown needs no `state`, because no browser is led back; and one server
        // appends the `state` to the code.
        let state = redirect == Self.outOfBand ? nil : MastodonProofKey.random()
        return MastodonLoginRequest(
            authorizePage: "\(server.base)/oauth/authorize?\(PercentEncoding.query(query))",
            clientID: application.clientID,
            clientSecret: application.clientSecret, scopes: registration.scopes,
            redirect: redirect, verifier: verifier, state: state)
    }
}

/// A login that waits for its code.
package struct MastodonLoginRequest: Sendable {
    /// ``authorizeURL`` without the `state`.
    let authorizePage: String
    let clientID: String
    let clientSecret: Secret
    /// The requested scopes.
    let scopes: [String]
    /// The address to which the code is sent, or the one for codes that are shown.
    let redirect: String
    /// The secret of the proof key; `nil` where the server does not know the proof key.
    let verifier: Secret?
    /// The random value by which the request of a browser that is led back is recognized (RFC 6749,
    /// section 10.12); `nil` where the server shows the code.
    let state: Secret?

    /// The address that the person opens in a browser.
    ///
    /// If the server leads back, only that person may see the address, because it contains the
    /// `state`.
    package var authorizeURL: String {
        guard let state else { return authorizePage }
        return authorizePage + "&" + PercentEncoding.query([("state", state.reveal())])
    }

    /// Whether the server leads the browser back to a page with the code, instead of showing the
    /// code.
    package var leadsBack: Bool { state != nil }

    /// Whether a browser that was led back has the `state` of this login.
    package func hasState(_ text: String) -> Bool {
        guard let state else { return false }
        return ConstantTime.areEqual(state.reveal().utf8, text.utf8)
    }
}

/// The result of a completed login.
package struct MastodonLoginGrant: Sendable {
    package let credentials: MastodonCredentials
    /// The scopes of the token, as the server tells them; empty where it does not.
    package let scopes: [String]
    /// Whether the token may permit publishing, favoriting or changing the account.
    package let canWrite: Bool

    /// Whether a scope allows to change something.
    static func isWriting(_ scope: String) -> Bool {
        let name = scope.prefix { $0 != ":" }
        return name == "write" || name == "follow" || scope == "admin"
            || scope.hasPrefix("admin:write")
    }
}

/// A scope that the bot needs at its server.
package enum MastodonBotScope: String, CaseIterable, Sendable {
    case readAccounts = "read:accounts"
    case readStatuses = "read:statuses"
    case readNotifications = "read:notifications"
    case writeStatuses = "write:statuses"
    case writeFavourites = "write:favourites"
    case writeAccounts = "write:accounts"

    /// The effect of a missing scope; `nil` if the bot is useless without the scope.
    package var consequence: String? {
        switch self {
        case .readAccounts, .readStatuses, .readNotifications, .writeStatuses: nil
        case .writeFavourites: localized("the bot cannot favorite")
        case .writeAccounts:
            localized("the bot cannot mark its account as automated; do that in its profile")
        }
    }

    /// Whether some scopes include this one: a scope includes all whose names begin with its own
    /// and a colon.
    func isGranted(by scopes: [String]) -> Bool {
        scopes.contains {
            $0 == rawValue || rawValue.hasPrefix($0 + ":")
                || self == .readAccounts && $0 == "profile"
        }
    }
}

/// An application as a server has just registered it.
struct MastodonApplication: Decodable {
    let clientID: String
    let clientSecret: Secret
    /// The scopes that it may request; `nil` where the server does not tell.
    let scopes: [String]?
    /// The return addresses that were registered; empty where the server does not tell.
    private let redirects: [String]

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        guard let id = wire.identifier("client_id"), let secret = wire.text("client_secret"),
            !secret.isEmpty
        else { throw ShapeError() }
        clientID = id
        clientSecret = Secret(secret)
        scopes = wire.scopes("scopes")
        // Mastodon sends a list since 4.3, and before that one text with an address in each line.
        let addresses =
            wire.value([String].self, "redirect_uris") ?? [wire.text("redirect_uri") ?? ""]
        redirects = addresses.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
    }

    /// Whether the application may use a return address; true where the server does not tell.
    func allowsReturn(to address: String) -> Bool {
        redirects.isEmpty || redirects.contains(address)
    }
}

/// A server's metadata about its logins (RFC 8414).
struct MastodonServerMetadata: Decodable {
    let scopes: [String]?
    /// Whether the server supports the proof key with SHA-256.
    let supportsProofKey: Bool

    init(from decoder: any Decoder) throws {
        let wire = try WireObject(from: decoder)
        scopes = wire.scopes("scopes_supported")
        supportsProofKey =
            wire.value([String].self, "code_challenge_methods_supported")?.contains("S256") ?? false
    }
}

/// The key that proves that the program that sends a code also requested it (PKCE, RFC 7636).
enum MastodonProofKey {
    /// 256 random bits, as 43 letters, digits, `-` and `_`.
    static func random() -> Secret {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return Secret(Base64URL.text(of: bytes))
    }

    /// Returns the code challenge of a verifier, which is sent with the request for a code.
    static func challenge(of verifier: Secret) -> String {
        Base64URL.text(of: HashFunction.sha256.digest(of: verifier.reveal().utf8))
    }
}
