import Cryptography
import Foundation

/// The access control, which keeps the tokens and checks the signature of every request.
struct XGate: Sendable {
    /// The account of an access token and its permissions.
    struct Grant: Sendable {
        var person: Int
        var secret: String
        var canWrite: Bool
    }

    /// Seconds by which the timestamp may differ from the server's clock.
    var window: TimeInterval = 300

    let consumerKey: String
    let consumerSecret: String
    private(set) var grants: [String: Grant]
    private var revoked: Set<String> = []
    /// Hashes of the nonces that could be repeated; the probability of a collision is 1 in 2⁶⁴.
    private var nonces = Nonces()
    /// The nonces of requests whose answers were cut: an HTTP client may repeat such a read by
    /// itself, with the same nonce.
    private var interruptedNonces: Set<UInt64> = []
    /// Whether a fault cuts the answer to the current request.
    var cutsAnswer = false

    init(access: SandboxAccess) {
        let human = access.x(.human)
        let bot = access.x(.bot)
        consumerKey = bot.consumerKey
        consumerSecret = bot.consumerSecret
        grants = [
            human.accessToken: Grant(
                person: SandboxPopulation.human, secret: human.accessTokenSecret, canWrite: false),
            bot.accessToken: Grant(
                person: SandboxPopulation.bot, secret: bot.accessTokenSecret, canWrite: true),
        ]
    }

    mutating func add(_ grant: Grant, as token: String) { grants[token] = grant }

    mutating func revoke(_ token: String) {
        grants[token] = nil
        revoked.insert(token)
    }

    /// Checks a request that must be signed with an access token.
    ///
    /// - Parameters:
    ///   - request: The request as it arrived.
    ///   - clock: The server's own clock.
    ///   - skew: Seconds by which that clock is ahead of all others.
    /// - Returns: The token and its grant.
    /// - Throws: 401.
    mutating func admit(
        _ request: WireRequest, clock: Date, skew: TimeInterval
    ) throws(XRefusal) -> (grant: Grant, token: String) {
        let knownGrants = grants
        let caller = try verify(request, clock: clock, skew: skew) { knownGrants[$0]?.secret }
        guard let token = caller.token, let grant = grants[token] else {
            throw .unauthorized("no access token", code: 215)
        }
        return (grant, token)
    }

    /// Checks the signature of a request; `secret` returns the secret of a token.
    ///
    /// A request without a token is signed with the secret of the app only.
    ///
    /// - Throws: 401.
    mutating func verify(
        _ request: WireRequest, clock: Date, skew: TimeInterval, secret: (String) -> String?
    ) throws(XRefusal) -> (authorization: XAuthorization, token: String?) {
        guard request.headers.count(where: { $0.name == "authorization" }) == 1,
            let authorization = XAuthorization(request.header("authorization"))
        else { throw .unauthorized("no OAuth header that can be read", code: 215) }
        guard authorization["oauth_signature_method"] == "HMAC-SHA1",
            authorization["oauth_version"] ?? "1.0" == "1.0",
            authorization["oauth_consumer_key"] == consumerKey,
            let nonce = authorization["oauth_nonce"], Self.isNonce(nonce),
            let signature = authorization["oauth_signature"]
        else { throw .unauthorized("a protocol parameter is missing or wrong", code: 215) }
        try checkTime(authorization["oauth_timestamp"], clock: clock, skew: skew)
        let token = authorization["oauth_token"]
        let tokenSecret = token.flatMap(secret)
        guard token == nil || tokenSecret != nil else {
            throw token.map(revoked.contains) == true
                ? Self.revokedToken : .unauthorized("unknown token", code: 89)
        }
        let expected = XSignature(request, authorization: authorization)
        guard Set(expected.parameters.map(\.name)).count == expected.parameters.count else {
            throw .unauthorized("a parameter is there twice")
        }
        guard
            expected.text(consumerSecret: consumerSecret, tokenSecret: tokenSecret ?? "")
                == signature
        else {
            throw .unauthorized("the signature does not match")
        }
        let hash = SandboxIdentity.hash("\(token ?? "") \(nonce)")
        guard nonces.insert(hash, at: clock, window: window) else {
            var refusal = XRefusal.unauthorized(SandboxLedger.Rejection.repeatedNonce)
            refusal.isExpected = cutsAnswer || interruptedNonces.contains(hash)
            throw refusal
        }
        if cutsAnswer { interruptedNonces.insert(hash) }
        return (authorization, token)
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

    /// Whether a text consists of letters and digits only.
    private static func isNonce(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                    || (0x61...0x7A).contains($0)
            }
    }

    private static let revokedToken = XRefusal(
        status: 401, body: ["errors": [["code": 89, "message": "Invalid or expired token."]]],
        reason: "the token was revoked", code: 89)
}

/// The nonces of the last few minutes; an older request is refused because of its timestamp.
private struct Nonces: Sendable {
    private var older: Set<UInt64> = []
    private var newer: Set<UInt64> = []
    /// The time from which nonces are in `newer`.
    private var newerSince = Date.distantPast

    /// Whether the nonce is new; records it.
    mutating func insert(_ nonce: UInt64, at clock: Date, window: TimeInterval) -> Bool {
        // A timestamp may be ahead or behind, so a nonce can be repeated for twice the window.
        if clock.timeIntervalSince(newerSince) > 2 * window {
            older = newer
            newer = []
            newerSince = clock
        }
        return !older.contains(nonce) && newer.insert(nonce).inserted
    }
}

/// The signature of OAuth 1.0a with HMAC-SHA1, from RFC 5849 §3.4.
struct XSignature: Sendable {
    var method: String
    /// The address: scheme, host and path, without the query.
    var address: String
    /// All signed values: query, form and protocol parameters, decoded.
    var parameters: [(name: String, value: String)]

    /// Names and values, percent-encoded and sorted by their bytes.
    var parameterText: String {
        parameters.map { (name: Self.escaped($0.name), value: Self.escaped($0.value)) }
            .sorted { first, second in
                first.name == second.name
                    ? Self.precedes(first.value, second.value)
                    : Self.precedes(first.name, second.name)
            }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// The signature base string.
    var base: String {
        [method.uppercased(), Self.escaped(address), Self.escaped(parameterText)].joined(
            separator: "&")
    }

    /// The signature in Base64; the secret of a missing token is empty.
    func text(consumerSecret: String, tokenSecret: String) -> String {
        let key = Self.escaped(consumerSecret) + "&" + Self.escaped(tokenSecret)
        return Data(HashFunction.sha1.code(of: base.utf8, key: key.utf8)).base64EncodedString()
    }

    /// Percent-encodes a text: letters, digits and `-._~` stay; every other byte becomes `%` and
    /// two digits.
    static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func precedes(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension XSignature {
    /// Collects the values that must be signed for a request over plain HTTP.
    ///
    /// A JSON body is not signed, a form is.
    init(_ request: WireRequest, authorization: XAuthorization) {
        let form =
            request.mediaType == "application/x-www-form-urlencoded"
            ? WireRequest.form(String(decoding: request.body, as: UTF8.self)) : []
        self.init(
            method: request.method, address: Self.address(of: request),
            parameters: request.query + form + authorization.signed)
    }

    /// The address that the client called, from the `Host` header and the path as sent.
    private static func address(of request: WireRequest) -> String {
        var host = (request.header("host") ?? "").lowercased()
        if host.hasSuffix(":80") { host.removeLast(3) }
        return "http://" + host + request.target.prefix { $0 != "?" }
    }
}

/// The parameters of an `Authorization: OAuth …` header.
struct XAuthorization: Sendable {
    /// The decoded parameters, in the order in which they were sent.
    private(set) var parameters: [(name: String, value: String)] = []

    /// - Parameter header: The value; the result is nil for nil, for another scheme than OAuth, and
    ///   for an unreadable header.
    init?(_ header: String?) {
        guard let header, header.prefix(6).lowercased() == "oauth " else { return nil }
        for part in header.dropFirst(6).split(separator: ",") {
            let pair = part.trimmingCharacters(in: .whitespaces).split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[1].count >= 2, pair[1].first == "\"", pair[1].last == "\"",
                let name = pair[0].removingPercentEncoding,
                let value = String(pair[1].dropFirst().dropLast()).removingPercentEncoding
            else { return nil }
            parameters.append((name, value))
        }
    }

    subscript(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The parameters that the signature covers.
    var signed: [(name: String, value: String)] {
        parameters.filter { $0.name != "oauth_signature" && $0.name != "realm" }
    }
}
