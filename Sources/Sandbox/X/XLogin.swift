import Foundation

/// The way in which an app gets the keys of an account: request token, a number shown to the
/// person, access token.
struct XLogin: Sendable {
    private struct Pending: Sendable {
        var secret: String
        var canWrite: Bool
        /// The person who has agreed; nil if nobody has agreed yet.
        var person: Int?
        var pin: String
    }

    private var pending: [String: Pending] = [:]
    private var generator: SampleGenerator

    init(seed: UInt64) { generator = SampleGenerator(seed: seed) }

    /// Whether the request is for X's login; `/oauth/authorize` is Mastodon's unless the query has
    /// a token.
    static func owns(_ request: WireRequest) -> Bool {
        switch request.path {
        case "/oauth/request_token", "/oauth/access_token", "/1.1/oauth/invalidate_token": true
        case "/oauth/authorize": request.query.contains { $0.name == "oauth_token" }
        default: false
        }
    }

    mutating func answer(
        _ request: WireRequest, gate: inout XGate, directory: SandboxDirectory, clock: Date,
        skew: TimeInterval
    ) throws(XRefusal) -> WireAnswer {
        switch (request.method, request.path) {
        case ("POST", "/oauth/request_token"):
            try begin(request, gate: &gate, clock: clock, skew: skew)
        case ("GET", "/oauth/authorize"): try page(request, directory)
        case ("POST", "/oauth/access_token"):
            try finish(request, gate: &gate, directory: directory, clock: clock, skew: skew)
        case ("POST", "/1.1/oauth/invalidate_token"):
            try revoke(request, gate: &gate, clock: clock, skew: skew)
        default: throw .problem(405, "Method Not Allowed", "Method Not Allowed")
        }
    }

    private mutating func begin(
        _ request: WireRequest, gate: inout XGate, clock: Date, skew: TimeInterval
    ) throws(XRefusal) -> WireAnswer {
        let caller = try gate.verify(request, clock: clock, skew: skew) { _ in nil }
        let parameters = XSignature(request, authorization: caller.authorization).parameters
        func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        guard value("oauth_callback") == "oob" else {
            throw Self.versionOneError(
                status: 403, code: 415, "Callback URL not approved for this client application.")
        }
        let level = value("x_auth_access_type")
        guard level == nil || level == "read" || level == "write" else {
            throw Self.versionOneError(
                status: 400, code: 214, "x_auth_access_type is neither read nor write.")
        }
        let token = generator.word()
        let login = Pending(
            secret: generator.word(), canWrite: level != "read",
            pin: String(1_000_000 + generator.next() % 9_000_000))
        pending[token] = login
        return Self.form([
            ("oauth_token", token), ("oauth_token_secret", login.secret),
            ("oauth_callback_confirmed", "true"),
        ])
    }

    /// The page on which the person agrees; here everybody agrees at once.
    private mutating func page(_ request: WireRequest, _ directory: SandboxDirectory)
        throws(XRefusal) -> WireAnswer
    {
        func value(_ name: String) -> String? { request.query.first { $0.name == name }?.value }
        let token = value("oauth_token") ?? ""
        let name = value("screen_name") ?? directory.handles[SandboxPopulation.bot]
        guard var login = pending[token] else {
            throw Self.versionOneError(
                status: 403, code: 89, "This request token is not valid any more.")
        }
        guard
            let person = directory.person(
                handle: name.first == "@" ? String(name.dropFirst()) : name),
            person == SandboxPopulation.human || person == SandboxPopulation.bot
        else {
            throw Self.versionOneError(
                status: 403, code: 32, "Nobody here knows the password of this account.")
        }
        login.person = person
        pending[token] = login
        let page = """
            <!DOCTYPE html><html lang="en"><head><title>Authorize an application</title></head><body>
            <p>You let mirror-bot \(login.canWrite ? "read and write" : "read") as @\(directory.handles[person]).</p>
            <p>Go back and enter this PIN: <code>\(login.pin)</code></p></body></html>
            """
        return .text(page)
    }

    private mutating func finish(
        _ request: WireRequest, gate: inout XGate, directory: SandboxDirectory, clock: Date,
        skew: TimeInterval
    ) throws(XRefusal) -> WireAnswer {
        let pendingLogins = pending
        let caller = try gate.verify(request, clock: clock, skew: skew) {
            pendingLogins[$0]?.secret
        }
        let parameters = XSignature(request, authorization: caller.authorization).parameters
        guard let token = caller.token, let login = pending[token], let person = login.person,
            parameters.first(where: { $0.name == "oauth_verifier" })?.value == login.pin
        else {
            throw Self.versionOneError(
                status: 401, code: 32, "Could not authenticate you.")
        }
        pending[token] = nil
        let accessToken = "\(directory.ids[person])-\(generator.word())"
        let secret = generator.word()
        gate.add(
            XGate.Grant(person: person, secret: secret, canWrite: login.canWrite), as: accessToken)
        return Self.form([
            ("oauth_token", accessToken), ("oauth_token_secret", secret),
            ("user_id", directory.ids[person]),
            ("screen_name", directory.handles[person]),
        ])
    }

    private func revoke(
        _ request: WireRequest, gate: inout XGate, clock: Date, skew: TimeInterval
    ) throws(XRefusal) -> WireAnswer {
        let (_, token) = try gate.admit(request, clock: clock, skew: skew)
        gate.revoke(token)
        return .json(["access_token": .string(token)])
    }

    /// A form with the media type of a page, as X sends it.
    private static func form(_ pairs: [(String, String)]) -> WireAnswer {
        .text(pairs.map { "\($0.0)=\(XSignature.escaped($0.1))" }.joined(separator: "&"))
    }

    /// An error in the form of version 1.1, to which these endpoints belong.
    private static func versionOneError(status: Int, code: Int, _ message: String) -> XRefusal {
        XRefusal(
            status: status,
            body: ["errors": [["code": .integer(code), "message": .string(message)]]],
            reason: message, code: nil)
    }
}
