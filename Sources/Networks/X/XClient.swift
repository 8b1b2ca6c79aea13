import Foundation
import Posts
import Transport

/// Sends signed requests to X, and turns what goes wrong into ``NetworkError``.
struct XClient: Sendable {
    static let defaultBase = "https://api.x.com"
    /// How long one request may take.
    static let deadline: Duration = .seconds(30)
    /// A smaller difference between the two clocks may be the way of the answer, and is left alone: seconds.
    private static let toleratedLead: TimeInterval = 60

    let server: ServerAddress
    let signer: OAuthSigner
    let http: HTTPClient
    let memory: XMemory
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - apiBaseURL: Where the interface is; nil: at X.
    ///   - signer: With the keys of the application, and the token of the account if there is one.
    ///   - http: Carries the requests.
    ///   - memory: What refusals are remembered in.
    ///   - now: Reads the wall clock.
    /// - Throws: ``NetworkError`` with code `.configuration` if `apiBaseURL` is not an address.
    init(
        apiBaseURL: String?, signer: OAuthSigner, http: HTTPClient, memory: XMemory, now: @escaping @Sendable () -> Date
    ) throws(NetworkError) {
        server = try ServerAddress(apiBaseURL ?? Self.defaultBase, network: .x)
        self.signer = signer
        self.http = http
        self.memory = memory
        self.now = now
    }

    /// The answer to a call, with a status of 200 through 299.
    ///
    /// A call that X is known to refuse for now fails without a request.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func send(_ call: XCall) async throws -> HTTPResponse {
        if var known = memory.pause(of: call.endpoint, at: now()) {
            known.operation = call.operation
            known.outcome = .notSent
            throw known
        }
        let lead = clockLead
        var response = try await exchange(call, lead: lead)
        // X refuses the time of a clock that is wrong, and has now told its own. A read whose connection died before the
        // answer is repeated by the transport, byte by byte, and X may refuse a number that it has seen before. A new
        // signature tells both from refused keys; what was refused has not been done.
        let told = response.headers.clockLead(receivedAt: now()) ?? lead
        let wasMistimed = abs(told - lead) > Self.toleratedLead
        // Who asks about the credentials asks again anyway before they are given up.
        let mayBeRepeated = call.method == .get && call.endpoint != .me
        if response.status == 401, wasMistimed || mayBeRepeated {
            response = try await exchange(call, lead: wasMistimed ? told : clockLead)
            // What it said before of its clock was wrong, or that clock was set.
            if wasMistimed, response.status != 401 { memory.serverClock.forget(exceptLast: 1) }
        }
        if let level = response.headers["x-access-level"] { memory.accessLevel = level }
        guard (200...299).contains(response.status) else { throw refuse(call, response) }
        return response
    }

    /// Sends a call once, freshly signed with the time of a clock that is `lead` seconds behind this machine's.
    private func exchange(_ call: XCall, lead: TimeInterval) async throws -> HTTPResponse {
        let response: HTTPResponse
        do {
            response = try await http.send(try request(for: call, lead: lead))
        } catch let error as TransportError {
            guard let refusal = error.refusal else { throw failure(call, error) }
            response = refusal
        }
        memory.serverClock.note(response.headers)
        return response
    }

    /// The answer to a call for things, which may be missing.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`; an answer that is not JSON, or that says what is wrong instead
    ///   of what was asked for, is an error too.
    func answer<Item: Decodable>(
        of type: Item.Type, _ call: XCall
    ) async throws -> (answer: XAnswer<Item>, response: HTTPResponse) {
        let response = try await send(call)
        guard let answer = JSONBody.decoded(XAnswer<Item>.self, response.body) else {
            throw malformed(call, response, detail: "the answer is not the JSON that was expected")
        }
        return (answer, response)
    }

    /// By how many seconds the local clock is ahead of X's, as far as is known.
    private var clockLead: TimeInterval { memory.serverClock.lead(at: now()) ?? 0 }

    /// When a request is signed, by X's clock as far as it is known: X refuses what is minutes old or ahead.
    private func signingTime(lead: TimeInterval) -> Int64 {
        let time = now() - (abs(lead) > Self.toleratedLead ? lead : 0)
        return Int64(time.timeIntervalSince1970.rounded(.down))
    }

    /// The request as it is sent, signed for exactly the address that is called.
    private func request(for call: XCall, lead: TimeInterval) throws(NetworkError) -> HTTPRequest {
        try checkKeys(call)
        let url = server.base + call.encodedPath
        let signature = signer.authorization(
            for: OAuthSigner.Request(
                method: call.method.rawValue, url: url, parameters: call.query, extra: call.oauth,
                nonce: OAuthSigner.nonce(), timestamp: signingTime(lead: lead)))
        var headers = HTTPHeaders([("Authorization", signature), ("Accept", "application/json")])
        if call.body?.isEmpty == false { headers.append("Content-Type", "application/json") }
        let query = call.query.isEmpty ? "" : "?" + PercentEncoding.query(call.query)
        return HTTPRequest(
            method: call.method, url: url + query, headers: headers, body: call.body, timeout: Self.deadline)
    }

    /// Keys with a line break or space were copied wrongly; X would only say that the signature is wrong.
    private func checkKeys(_ call: XCall) throws(NetworkError) {
        let keys: [(name: String, value: String?)] = [
            ("consumer key", signer.consumerKey), ("consumer secret", signer.consumerSecret.reveal()),
            ("access token", signer.token?.reveal()), ("access token secret", signer.tokenSecret?.reveal()),
        ]
        for (name, value) in keys {
            guard let value else { continue }
            guard !value.isEmpty, value.isVisibleASCII else {
                throw error(
                    call, .unauthorized, outcome: .notSent,
                    detail: "the \(name) " + (value.isEmpty ? "is empty" : "holds a space or line break"))
            }
        }
    }
}
