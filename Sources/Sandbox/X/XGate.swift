import Foundation

/// Who may come in: keeps the tokens and checks the signature of every request.
struct XGate: Sendable {
    /// An access token's account and what it may do.
    struct Grant: Sendable {
        var person: Int
        var secret: String
        var canWrite: Bool
    }

    /// A request that has shown to be genuine.
    struct Caller: Sendable {
        var authorization: XAuthorization
        /// Nil where the app signed for itself alone.
        var token: String?
    }

    /// How far the timestamp may be from the server's clock, in seconds.
    var window: TimeInterval = 300

    let consumerKey: String
    let consumerSecret: String
    private(set) var grants: [String: Grant]
    private var revoked: Set<String> = []
    /// Hashes of the nonces that could come again; a collision is one in 2⁶⁴.
    private var nonces = Nonces()
    /// Those of requests whose answers were cut: HTTP clients send a read again by themselves, as it is.
    private var interrupted: Set<UInt64> = []
    /// Whether the answer to the request at hand will not arrive whole.
    var cutsAnswer = false

    init(access: SandboxAccess) {
        let (human, bot) = (access.x(.human), access.x(.bot))
        consumerKey = bot.consumerKey
        consumerSecret = bot.consumerSecret
        grants = [
            human.accessToken: Grant(
                person: SandboxPopulation.human, secret: human.accessTokenSecret, canWrite: false),
            bot.accessToken: Grant(person: SandboxPopulation.bot, secret: bot.accessTokenSecret, canWrite: true),
        ]
    }

    mutating func add(_ grant: Grant, as token: String) { grants[token] = grant }

    mutating func revoke(_ token: String) {
        grants[token] = nil
        revoked.insert(token)
    }

    /// Checks a request that an access token must have signed.
    ///
    /// - Parameters:
    ///   - request: As it came.
    ///   - clock: The server's own clock.
    ///   - skew: How far that clock is ahead of everybody else's, in seconds.
    /// - Returns: The token and what it grants.
    /// - Throws: 401.
    mutating func admit(
        _ request: WireRequest, clock: Date, skew: TimeInterval
    ) throws(XRefusal) -> (grant: Grant, token: String) {
        let known = grants
        let caller = try verify(request, clock: clock, skew: skew) { known[$0]?.secret }
        guard let token = caller.token, let grant = grants[token] else {
            throw .unauthorized("no access token", code: 215)
        }
        return (grant, token)
    }

    /// Checks a request whose token, if it has one, has the secret that `secret` knows.
    ///
    /// - Throws: 401.
    mutating func verify(
        _ request: WireRequest, clock: Date, skew: TimeInterval, secret: (String) -> String?
    ) throws(XRefusal) -> Caller {
        guard request.headers.count(where: { $0.name == "authorization" }) == 1,
            let authorization = XAuthorization(request.header("authorization"))
        else { throw .unauthorized("no OAuth header that can be read", code: 215) }
        guard authorization["oauth_signature_method"] == "HMAC-SHA1",
            authorization["oauth_version"] ?? "1.0" == "1.0", authorization["oauth_consumer_key"] == consumerKey,
            let nonce = authorization["oauth_nonce"], Self.isNonce(nonce),
            let signature = authorization["oauth_signature"]
        else { throw .unauthorized("a protocol parameter is missing or wrong", code: 215) }
        try checkTime(authorization["oauth_timestamp"], clock: clock, skew: skew)
        let token = authorization["oauth_token"]
        let tokenSecret = token.flatMap(secret)
        guard token == nil || tokenSecret != nil else {
            throw token.map(revoked.contains) == true ? Self.revokedToken : .unauthorized("unknown token", code: 89)
        }
        let signed = XSignature(request, authorization: authorization)
        guard Set(signed.parameters.map(\.name)).count == signed.parameters.count else {
            throw .unauthorized("a parameter is there twice")
        }
        guard signed.text(consumerSecret: consumerSecret, tokenSecret: tokenSecret ?? "") == signature else {
            throw .unauthorized("the signature does not match")
        }
        let hash = SandboxIdentity.hash("\(token ?? "") \(nonce)")
        guard nonces.insert(hash, at: clock, window: window) else {
            var refusal = XRefusal.unauthorized(SandboxLedger.Rejection.repeatedNonce)
            refusal.isExpected = cutsAnswer || interrupted.contains(hash)
            throw refusal
        }
        if cutsAnswer { interrupted.insert(hash) }
        return Caller(authorization: authorization, token: token)
    }

    private func checkTime(_ text: String?, clock: Date, skew: TimeInterval) throws(XRefusal) {
        guard let text, let stamp = Int64(text), stamp > 0, String(stamp) == text else {
            throw .unauthorized("no timestamp in seconds", code: 215)
        }
        let distance = Double(stamp) - clock.timeIntervalSince1970
        guard abs(distance) > window else { return }
        var refusal = XRefusal.unauthorized(SandboxLedger.Rejection.otherTime, code: 135)
        refusal.isExpected = abs(distance + skew) <= window
        throw refusal
    }

    /// Letters and digits only.
    private static func isNonce(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
            }
    }

    private static let revokedToken = XRefusal(
        status: 401, body: ["errors": [["code": 89, "message": "Invalid or expired token."]]],
        reason: "the token was revoked", code: 89)
}

/// The nonces of the last few minutes: older ones would come with a timestamp that is refused.
private struct Nonces: Sendable {
    private var older: Set<UInt64> = []
    private var newer: Set<UInt64> = []
    /// When `newer` was begun.
    private var begun = Date.distantPast

    /// Whether the nonce is new; from then on it is not.
    mutating func insert(_ nonce: UInt64, at clock: Date, window: TimeInterval) -> Bool {
        // A timestamp may be as far ahead as behind, so a nonce can come again for twice the window.
        if clock.timeIntervalSince(begun) > 2 * window {
            older = newer
            newer = []
            begun = clock
        }
        return !older.contains(nonce) && newer.insert(nonce).inserted
    }
}
