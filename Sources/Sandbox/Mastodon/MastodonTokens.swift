import Crypto
import Foundation

/// The applications, codes and tokens that a server has given out.
struct MastodonTokens: Sendable {
    struct Application: Sendable {
        var id: Int
        var name: String
        var website: String?
        var secret: String
        var redirects: [String]
        var scopes: [String]
    }

    /// What a person allowed, until the application fetches its token.
    struct Permission: Sendable {
        var application: String
        var person: Int
        var redirect: String
        var scopes: [String]
        /// The hash of what the application has to bring; nil where it did not ask for that.
        var challenge: String?
        var madeAt: Date
    }

    /// A token's account and what it may do.
    struct Grant: Sendable {
        var application: String
        var person: Int
        var scopes: [String]
        var refreshToken: String
        /// Nil until it is used for the first time, for those that were there from the start.
        var madeAt: Date?
    }

    /// What came of a token.
    enum Finding: Sendable {
        case unknown
        case expired
        case good(Grant)
    }

    /// Seconds in which a code must be used.
    private static let codeLifetime = 600.0

    private(set) var applications: [String: Application] = [:]
    private var permissions: [String: Permission] = [:]
    private var grants: [String: Grant] = [:]
    private var generator: SampleGenerator

    init(logins: [SandboxRole: SandboxMastodonLogin], seed: UInt64) {
        generator = SampleGenerator(seed: seed)
        for role in SandboxRole.allCases {
            guard let login = logins[role] else { continue }
            let scopes = (role == .human ? MastodonScopes.human : MastodonScopes.bot).sorted()
            applications[login.clientID] = Application(
                id: applications.count + 1, name: "mirror-bot", secret: login.clientSecret,
                redirects: [MastodonLogins.outOfBand], scopes: scopes)
            grants[login.accessToken] = Grant(
                application: login.clientID, person: role.person, scopes: scopes, refreshToken: login.refreshToken)
        }
    }

    /// Whose token it is, and whether it is still good.
    mutating func find(_ token: String, lifetime: TimeInterval?, at now: Date) -> Finding {
        guard var grant = grants[token] else { return .unknown }
        let madeAt = grant.madeAt ?? now
        grant.madeAt = madeAt
        grants[token] = grant
        if let lifetime, now.timeIntervalSince(madeAt) >= lifetime { return .expired }
        return .good(grant)
    }

    // MARK: Applications

    mutating func register(name: String, website: String?, redirects: [String], scopes: [String])
        -> (clientID: String, application: Application)
    {
        let application = Application(
            id: applications.count + 1, name: name, website: website, secret: word(), redirects: redirects,
            scopes: scopes)
        let clientID = word()
        applications[clientID] = application
        return (clientID, application)
    }

    // MARK: Tokens

    /// The code for what a person allowed; good once.
    mutating func allow(_ permission: Permission) -> String {
        let code = word()
        permissions[code] = permission
        return code
    }

    /// Gives a token for a code; nil if anything does not fit, and then the code is gone as well.
    mutating func exchange(
        code: String, application: String, redirect: String?, verifier: String?, at now: Date
    ) -> (token: String, grant: Grant)? {
        guard let permission = permissions.removeValue(forKey: code), permission.application == application,
            permission.redirect == redirect, now.timeIntervalSince(permission.madeAt) < Self.codeLifetime,
            permission.challenge == verifier.map(Self.challenge) || permission.challenge == nil
        else { return nil }
        return grant(to: permission.person, application, permission.scopes, at: now)
    }

    /// Gives a new pair for a refresh token; the old pair is worth nothing from then on.
    mutating func refresh(
        _ refreshToken: String, application: String, at now: Date
    ) -> (token: String, grant: Grant)? {
        guard let old = grants.first(where: { $0.value.refreshToken == refreshToken }),
            old.value.application == application
        else { return nil }
        grants[old.key] = nil
        return grant(to: old.value.person, application, old.value.scopes, at: now)
    }

    mutating func revoke(_ token: String, application: String) {
        if grants[token]?.application == application { grants[token] = nil }
    }

    private mutating func grant(
        to person: Int, _ application: String, _ scopes: [String], at now: Date
    ) -> (token: String, grant: Grant) {
        let token = word()
        let grant = Grant(
            application: application, person: person, scopes: scopes, refreshToken: word(), madeAt: now)
        grants[token] = grant
        return (token, grant)
    }

    private mutating func word() -> String {
        String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
    }

    /// RFC 7636, S256: the hash of the verifier in base64 for addresses, without padding.
    static func challenge(_ verifier: String) -> String {
        Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// What a token may be allowed to do.
enum MastodonScopes {
    static let human: Set = ["profile", "read:accounts", "read:statuses", "read:favourites"]
    static let bot: Set = [
        "profile", "read:accounts", "read:statuses", "read:favourites", "read:notifications", "write:accounts",
        "write:statuses", "write:favourites",
    ]
    static let known = [
        "profile", "read", "read:accounts", "read:favourites", "read:follows", "read:notifications", "read:statuses",
        "write", "write:accounts", "write:favourites", "write:statuses", "follow", "push",
    ]

    /// Whether what was granted includes `scope`; `read` and `write` stand for all that begin so.
    static func include(_ granted: some Sequence<String>, _ scope: String) -> Bool {
        granted.contains { $0 == scope || scope.hasPrefix($0 + ":") }
    }

    /// The words of a list of scopes.
    static func list(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
