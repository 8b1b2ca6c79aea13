import Cryptography
import Foundation

/// The endpoints by which an application gets a token: registration, a code for the person, and the
/// token.
struct MastodonLogins: Sendable {
    /// The redirect that lets the server show the code.
    static let outOfBand = "urn:ietf:wg:oauth:2.0:oob"

    private static let appFields: Set = ["client_name", "redirect_uris", "scopes", "website"]
    private static let tokenFields: Set = [
        "grant_type", "code", "client_id", "client_secret", "redirect_uri", "scope",
        "code_verifier", "refresh_token",
    ]
    private static let revocationFields: Set = ["client_id", "client_secret", "token"]
    private static let pageParameters: Set = [
        "response_type", "client_id", "redirect_uri", "scope", "force_login", "lang", "state",
        "code_challenge",
        "code_challenge_method", "as", "allow",
    ]

    var tokens: MastodonTokens

    /// Whether the request is from a browser.
    static func isPage(_ request: WireRequest) -> Bool { request.path == "/oauth/authorize" }

    /// The answer; nil for a request that has nothing to do with logins.
    mutating func answer(
        _ request: WireRequest, _ habits: MastodonHabits, at now: Date
    ) throws(WireRefusal) -> WireAnswer? {
        switch (request.method, request.path) {
        case ("POST", "/api/v1/apps"): return try register(request, habits)
        case ("POST", "/oauth/token"): return try token(request, habits, at: now)
        case ("POST", "/oauth/revoke"): return try revoke(request)
        case ("GET", "/.well-known/oauth-authorization-server"):
            guard !habits.lacksLoginMetadata else { throw WireRefusal.notThere }
            return .json(Self.metadata(request, habits))
        case (_, "/api/v1/apps"), (_, "/oauth/token"), (_, "/oauth/revoke"):
            throw WireRefusal(status: 405, message: "Method Not Allowed")
        default: return nil
        }
    }

    // MARK: Registration

    private mutating func register(
        _ request: WireRequest, _ habits: MastodonHabits
    ) throws(WireRefusal) -> WireAnswer {
        let fields = try WireFields(request, allowed: Self.appFields)
        guard let name = try fields.text("client_name"), !name.isEmpty else {
            throw .invalid("Name can't be blank")
        }
        let redirects = (try fields.text("redirect_uris") ?? "").split(
            whereSeparator: \.isWhitespace
        ).map(String.init)
        guard !redirects.isEmpty, redirects.allSatisfy(Self.isRedirect) else {
            throw .invalid("Redirect URI must be an absolute URI.")
        }
        guard !habits.showsCodesOnly || redirects.allSatisfy({ $0 == Self.outOfBand }) else {
            var refusal = WireRefusal.invalid("Redirect URI is forbidden by the server.")
            // The refusal is expected, because a client cannot know it beforehand.
            refusal.isExpected = true
            throw refusal
        }
        var scopes = MastodonScopes.list(try fields.text("scopes") ?? "read")
        let knownScopes = MastodonScopes.known.filter {
            habits.knowsProfileScope || $0 != "profile"
        }
        if habits.unknownScopes == .leftOut { scopes.removeAll { !knownScopes.contains($0) } }
        guard scopes.allSatisfy(knownScopes.contains) else {
            var refusal = WireRefusal.invalid("Scopes doesn't match configured on the server.")
            // The refusal is expected, because a client cannot know beforehand whether a server is
            // new enough for this scope.
            refusal.isExpected = scopes.allSatisfy { knownScopes.contains($0) || $0 == "profile" }
            throw refusal
        }
        let (clientID, application) = tokens.register(
            name: name, website: try fields.text("website"), redirects: redirects, scopes: scopes)
        let entity: WireJSON = [
            "id": .string(String(application.id)), "name": .string(name),
            "website": .optional(application.website),
            "redirect_uri": .string(redirects.joined(separator: "\n")),
            "redirect_uris": .array(redirects.map(WireJSON.string)), "client_id": .string(clientID),
            "client_secret": .string(application.secret), "client_secret_expires_at": 0,
        ]
        if habits.hidesApplicationScopes { return .json(entity) }
        return .json(entity.adding(("scopes", .array(scopes.map(WireJSON.string)))))
    }

    private static func isRedirect(_ text: String) -> Bool {
        if text == outOfBand { return true }
        guard let address = URLComponents(string: text),
            ["http", "https"].contains(address.scheme?.lowercased())
        else { return false }
        return address.host?.isEmpty == false && address.fragment == nil
    }

    // MARK: The page

    /// Answers with the page on which the person agrees.
    ///
    /// In the sandbox the person agrees at once, and sees the code or is redirected with it. With
    /// the parameter `allow=no` the person refuses; with `allow=ask` the page has a link for both.
    mutating func page(_ request: WireRequest, at now: Date) throws(WireRefusal) -> WireAnswer {
        guard request.method == "GET" else {
            throw WireRefusal(status: 405, message: "Method Not Allowed")
        }
        let query = request.query
        func value(_ name: String) -> String? { query.last { $0.name == name }?.value }
        if let unknown = query.first(where: { !Self.pageParameters.contains($0.name) }) {
            throw Self.refused("unknown parameter \(unknown.name.prefix(40))")
        }
        guard value("response_type") == "code" else {
            throw Self.refused("response_type must be code")
        }
        guard let clientID = value("client_id"), let application = tokens.applications[clientID]
        else {
            throw Self.refused("client authentication failed due to unknown client")
        }
        guard let redirect = value("redirect_uri"), application.redirects.contains(redirect) else {
            throw Self.refused("the redirect uri included is not valid")
        }
        let scopes = MastodonScopes.list(value("scope") ?? "read")
        guard scopes.allSatisfy({ MastodonScopes.includes($0, in: application.scopes) }) else {
            throw Self.refused("the requested scope is invalid, unknown, or malformed")
        }
        let challenge = value("code_challenge")
        guard challenge == nil || value("code_challenge_method") == "S256" else {
            throw Self.refused("the code challenge method must be S256")
        }
        let role = try Self.role(named: value("as"), for: scopes)
        switch value("allow") ?? "yes" {
        case "yes": break
        case "no": return Self.denied(at: redirect, state: value("state"))
        case "ask": return Self.question(of: application.name, request)
        default: throw Self.refused("allow is yes, no or ask")
        }
        let code = tokens.allow(
            .init(
                application: clientID, person: role.person, redirect: redirect, scopes: scopes,
                challenge: challenge,
                madeAt: now))
        guard redirect == Self.outOfBand else {
            return Self.redirection(to: redirect, [("code", code), ("state", value("state"))])
        }
        return .page(
            title: "Authorization code",
            body: "<p>Copy this code and paste it to \(StatusHTML.escaped(application.name)).</p>"
                + "<input class=\"oauth-code\" readonly value=\"\(code)\"><p><code>\(code)</code></p>",
            status: 200)
    }

    /// The page that asks the person, with a link for each answer.
    private static func question(of name: String, _ request: WireRequest) -> WireAnswer {
        let otherParameters = request.query.filter { $0.name != "allow" }
        func link(answer: String, words: String) -> String {
            let pairs = (otherParameters + [(name: "allow", value: answer)]).map {
                "\($0.name)=\(MastodonCall.escaped($0.value))"
            }
            let address = "\(request.path)?\(pairs.joined(separator: "&"))"
            return "<p><a href=\"\(StatusHTML.escaped(address))\">\(words)</a></p>"
        }
        return .page(
            title: "Authorization required",
            body: "<p>\(StatusHTML.escaped(name)) asks for access to this account.</p>"
                + link(answer: "yes", words: "Authorize") + link(answer: "no", words: "Deny"),
            status: 200)
    }

    /// The answer for a person who refuses.
    private static func denied(at redirect: String, state: String?) -> WireAnswer {
        let reason = "The resource owner or authorization server denied the request."
        guard redirect != outOfBand else {
            return .page(title: "Access denied", paragraph: reason)
        }
        return redirection(
            to: redirect,
            [("error", "access_denied"), ("error_description", reason), ("state", state)])
    }

    /// Redirects the browser to a return address, with further parameters (RFC 6749, section
    /// 4.1.2).
    private static func redirection(
        to redirect: String, _ parameters: [(name: String, value: String?)]
    ) -> WireAnswer {
        let pairs = parameters.compactMap { name, value in
            value.map { "\(name)=\(MastodonCall.escaped($0))" }
        }
        let separator = redirect.contains("?") ? "&" : "?"
        return WireAnswer(
            status: 302,
            headers: [("location", redirect + separator + pairs.joined(separator: "&"))])
    }

    /// Returns the role of the person at the browser: the one that the request names, or else the
    /// one that needs such scopes.
    private static func role(named name: String?, for scopes: [String]) throws(WireRefusal)
        -> SandboxRole
    {
        guard let name else { return scopes.contains { $0.hasPrefix("write") } ? .bot : .human }
        guard let role = SandboxRole(rawValue: name) else {
            throw refused("nobody of that name is here")
        }
        return role
    }

    private static func refused(_ reason: String) -> WireRefusal {
        WireRefusal(status: 400, message: reason)
    }

    // MARK: Tokens

    private mutating func token(
        _ request: WireRequest, _ habits: MastodonHabits, at now: Date
    ) throws(WireRefusal) -> WireAnswer {
        let fields = try WireFields(request, allowed: Self.tokenFields)
        let clientID = try client(fields)
        let granted: (token: String, grant: MastodonTokens.Grant)?
        switch try fields.text("grant_type") {
        case "authorization_code":
            granted = tokens.exchange(
                code: try fields.text("code") ?? "", application: clientID,
                redirect: try fields.text("redirect_uri"),
                verifier: try fields.text("code_verifier"), at: now)
        case "refresh_token" where habits.tokenLifetime != nil:
            granted = tokens.refresh(
                try fields.text("refresh_token") ?? "", application: clientID, at: now)
        default:
            throw WireRefusal(
                status: 400, message: "unsupported_grant_type",
                details: "The grant type is not supported.")
        }
        guard let granted else {
            throw WireRefusal(
                status: 400, message: "invalid_grant",
                details:
                    "The provided authorization grant is invalid, expired, revoked, or does not match."
            )
        }
        if let scope = try fields.text("scope"), !habits.grantsWhatWasAllowed {
            let isGranted = MastodonScopes.list(scope).allSatisfy {
                MastodonScopes.includes($0, in: granted.grant.scopes)
            }
            guard isGranted else {
                tokens.revoke(granted.token, application: clientID)
                throw WireRefusal(
                    status: 400, message: "invalid_scope",
                    details: "The requested scope is invalid.")
            }
        }
        return .json(Self.token(granted.token, granted.grant, habits, at: now))
    }

    private static func token(
        _ token: String, _ grant: MastodonTokens.Grant, _ habits: MastodonHabits, at now: Date
    ) -> WireJSON {
        let entity: WireJSON = [
            "access_token": .string(token), "token_type": "Bearer",
            "scope": .string(grant.scopes.joined(separator: " ")),
            "created_at": .integer(Int(now.timeIntervalSince1970)),
        ]
        guard let lifetime = habits.tokenLifetime else { return entity }
        return entity.adding(
            ("expires_in", .integer(Int(lifetime))), ("refresh_token", .string(grant.refreshToken)))
    }

    private mutating func revoke(_ request: WireRequest) throws(WireRefusal) -> WireAnswer {
        let fields = try WireFields(request, allowed: Self.revocationFields)
        let clientID = try client(fields)
        tokens.revoke(try fields.text("token") ?? "", application: clientID)
        return .json([:])
    }

    /// The application that the request is from.
    private func client(_ fields: WireFields) throws(WireRefusal) -> String {
        guard let clientID = try fields.text("client_id"),
            let application = tokens.applications[clientID],
            application.secret == (try fields.text("client_secret"))
        else {
            throw WireRefusal(
                status: 401, message: "invalid_client",
                details: "Client authentication failed due to unknown client or wrong secret.")
        }
        return clientID
    }

    // MARK: Metadata

    private static func metadata(_ request: WireRequest, _ habits: MastodonHabits) -> WireJSON {
        let base = "http://\(request.header("host") ?? "127.0.0.1")"
        let scopes = MastodonScopes.known.filter { habits.knowsProfileScope || $0 != "profile" }
        return [
            "issuer": .string(base + "/"),
            "authorization_endpoint": .string(base + "/oauth/authorize"),
            "token_endpoint": .string(base + "/oauth/token"),
            "revocation_endpoint": .string(base + "/oauth/revoke"),
            "app_registration_endpoint": .string(base + "/api/v1/apps"),
            "scopes_supported": .array(scopes.map(WireJSON.string)),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "grant_types_supported": .array(
                ["authorization_code"] + (habits.tokenLifetime == nil ? [] : ["refresh_token"])),
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "code_challenge_methods_supported": ["S256"],
        ]
    }
}

/// The applications, codes and tokens that a server has issued.
struct MastodonTokens: Sendable {
    struct Application: Sendable {
        var id: Int
        var name: String
        var website: String?
        var secret: String
        var redirects: [String]
        var scopes: [String]
    }

    /// The permission that a person gave, until the application fetches its token.
    struct Permission: Sendable {
        var application: String
        var person: Int
        var redirect: String
        var scopes: [String]
        /// The hash of the application's code verifier; `nil` if it sent no challenge.
        var challenge: String?
        var madeAt: Date
    }

    /// The account and the scopes of a token.
    struct Grant: Sendable {
        var application: String
        var person: Int
        var scopes: [String]
        var refreshToken: String
        /// The time when the token was issued; for a token that exists from the start, the time of
        /// its first use, and nil before.
        var madeAt: Date?
        /// Whether the token exists from the start, as if a person had created it with all scopes.
        var isPreset = false
    }

    /// Seconds for which a code is valid.
    private static let codeLifetime = 600.0

    private(set) var applications: [String: Application] = [:]
    private var permissions: [String: Permission] = [:]
    private var grants: [String: Grant] = [:]
    private var generator: SampleGenerator

    init(access: SandboxAccess, seed: UInt64) {
        generator = SampleGenerator(seed: seed)
        for role in SandboxRole.allCases {
            let login = access.mastodon(role)
            let scopes = (role == .human ? MastodonScopes.human : MastodonScopes.bot).sorted()
            applications[login.clientID] = Application(
                id: applications.count + 1, name: "mirror-bot", secret: login.clientSecret,
                redirects: [MastodonLogins.outOfBand], scopes: scopes)
            grants[login.accessToken] = Grant(
                application: login.clientID, person: role.person, scopes: scopes,
                refreshToken: login.refreshToken,
                isPreset: true)
        }
    }

    /// Returns the grant of a token.
    ///
    /// - Throws: 401 if the token is unknown or has expired; a client cannot foresee the expiry.
    mutating func find(_ token: String?, lifetime: TimeInterval?, at now: Date) throws(WireRefusal)
        -> Grant
    {
        guard let token, var grant = grants[token] else {
            throw WireRefusal(status: 401, message: "The access token is invalid")
        }
        let madeAt = grant.madeAt ?? now
        grant.madeAt = madeAt
        grants[token] = grant
        if let lifetime, now.timeIntervalSince(madeAt) >= lifetime {
            throw WireRefusal(status: 401, message: "The access token expired", isExpected: true)
        }
        return grant
    }

    // MARK: Applications

    mutating func register(name: String, website: String?, redirects: [String], scopes: [String])
        -> (clientID: String, application: Application)
    {
        let application = Application(
            id: applications.count + 1, name: name, website: website, secret: generator.word(),
            redirects: redirects,
            scopes: scopes)
        let clientID = generator.word()
        applications[clientID] = application
        return (clientID, application)
    }

    // MARK: Tokens

    /// Returns the code for a permission; it can be used once.
    mutating func allow(_ permission: Permission) -> String {
        let code = generator.word()
        permissions[code] = permission
        return code
    }

    /// Exchanges a code for a token; nil if a parameter is wrong, and then the code is no longer
    /// valid either.
    mutating func exchange(
        code: String, application: String, redirect: String?, verifier: String?, at now: Date
    ) -> (token: String, grant: Grant)? {
        guard let permission = permissions.removeValue(forKey: code),
            permission.application == application,
            permission.redirect == redirect,
            now.timeIntervalSince(permission.madeAt) < Self.codeLifetime,
            permission.challenge == verifier.map(Self.challenge) || permission.challenge == nil
        else { return nil }
        return grant(
            to: permission.person, application: application, scopes: permission.scopes, at: now)
    }

    /// Exchanges a refresh token for a new pair; the old pair is invalid after that.
    mutating func refresh(
        _ refreshToken: String, application: String, at now: Date
    ) -> (token: String, grant: Grant)? {
        guard let replacedGrant = grants.first(where: { $0.value.refreshToken == refreshToken }),
            replacedGrant.value.application == application
        else { return nil }
        grants[replacedGrant.key] = nil
        return grant(
            to: replacedGrant.value.person, application: application,
            scopes: replacedGrant.value.scopes, at: now)
    }

    mutating func revoke(_ token: String, application: String) {
        if grants[token]?.application == application { grants[token] = nil }
    }

    private mutating func grant(
        to person: Int, application: String, scopes: [String], at now: Date
    ) -> (token: String, grant: Grant) {
        let token = generator.word()
        let grant = Grant(
            application: application, person: person, scopes: scopes,
            refreshToken: generator.word(), madeAt: now)
        grants[token] = grant
        return (token, grant)
    }

    /// Returns the code challenge of a verifier (RFC 7636, S256): its hash in base64 for addresses,
    /// without padding.
    static func challenge(_ verifier: String) -> String {
        Data(HashFunction.sha256.digest(of: verifier.utf8)).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// The scopes that a token may have.
enum MastodonScopes {
    static let human: Set = ["profile", "read:accounts", "read:statuses", "read:favourites"]
    static let bot: Set = [
        "profile", "read:accounts", "read:statuses", "read:favourites", "read:notifications",
        "write:accounts",
        "write:statuses", "write:favourites", "write:media",
    ]
    static let known = [
        "profile", "read", "read:accounts", "read:favourites", "read:follows", "read:notifications",
        "read:statuses",
        "write", "write:accounts", "write:favourites", "write:media", "write:statuses", "follow",
        "push",
    ]

    /// Whether the granted scopes include `scope`; `read` and `write` include all scopes that begin
    /// with them.
    static func includes(_ scope: String, in granted: some Sequence<String>) -> Bool {
        granted.contains { $0 == scope || scope.hasPrefix($0 + ":") }
    }

    /// Splits a list of scopes into words.
    static func list(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
