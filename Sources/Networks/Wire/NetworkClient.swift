package import Foundation
import Localization
package import Posts
package import Transport

/// One request to a network.
package struct NetworkCall: Sendable {
    /// The usual timeout of a call; slow servers were seen to need 22 s for a long post.
    package static let usualDeadline: Duration = .seconds(30)

    package var operation: NetworkError.Operation
    package var method: HTTPRequest.Method
    /// The path, percent-encoded.
    package var path: String
    package var query: [(name: String, value: String)]
    package var headers: [(String, String)] = []
    /// Further parameters of the header with the OAuth signature; only for X.
    package var oauth: [(name: String, value: String)]
    /// The body, which is JSON or a form; an empty one is sent as `Content-Length: 0`, nil as no
    /// body at all.
    package var body: [UInt8]?
    private let bodyType: String
    /// The largest accepted body of an answer, in bytes.
    package var maximumBytes = 8 << 20
    /// Whether an answer with a body larger than ``maximumBytes`` is cut off and used, instead of
    /// failing the call.
    package var acceptsTruncatedBody = false
    package var deadline = Self.usualDeadline
    /// Returns whether the request may still be sent; nil for always.
    package var mayLeave: (@Sendable () -> Bool)?

    /// - Parameters:
    ///   - path: The components of the path, not encoded. An identifier from a server must be a
    ///     component of its own.
    ///   - query: Names and values, not encoded.
    ///   - oauth: Further parameters of the header with the OAuth signature; only for X.
    ///   - body: JSON.
    ///   - form: Names and values to send as a web form instead.
    ///   - type: The media type of a body that is not JSON.
    package init(
        operation: NetworkError.Operation, method: HTTPRequest.Method = .get, path: [String],
        query: [(name: String, value: String)] = [], oauth: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, form: [(name: String, value: String)]? = nil,
        type: String = "application/json"
    ) {
        self.operation = operation
        self.method = method
        self.query = query
        self.oauth = oauth
        self.path = path.map { "/" + PercentEncoding.encoded($0) }.joined()
        self.body = form.map { Array(PercentEncoding.query($0).utf8) } ?? body
        bodyType = form == nil ? type : "application/x-www-form-urlencoded"
    }

    /// The path and the query, percent-encoded.
    package var target: String { query.isEmpty ? path : path + "?" + PercentEncoding.query(query) }

    /// The media type of the body; nil if there is no body, or an empty one.
    package var contentType: String? {
        guard body?.isEmpty == false else { return nil }
        return bodyType
    }
}

/// Sends requests to a server of one network, and turns failures into ``NetworkError``.
package protocol NetworkClient: Sendable {
    var network: NetworkName { get }
    /// The destination of requests.
    var server: ServerAddress { get }
    var http: HTTPClient { get }
    /// The mirror that makes the requests.
    var origin: RequestOrigin { get }
    /// The server's clock, according to its answers.
    var serverClock: ServerClock { get }
    var now: @Sendable () -> Date { get }
    /// Whether there are no credentials of an account.
    var isAnonymous: Bool { get }
    /// The secrets that must not appear in an error.
    var secrets: [Secret] { get }
    /// The server's message in a bad answer, cleaned for printing; `nil` if there is none.
    func words(in response: HTTPResponse) -> String?
    /// Whether a request may follow a redirect to another address.
    var followsRedirects: Bool { get }
    /// Whether the status 409 (conflict) means that an earlier equal request has succeeded.
    var conflictMeansDone: Bool { get }
    /// Whether the status 404 or 410 shows that a write has changed nothing, even if the answer is
    /// not the network's own.
    var missingMeansUnchanged: Bool { get }
    /// The headers that may contain the server's identifier of a request, the likeliest first.
    var requestIDHeaders: [String] { get }
    /// The limit by address that a call counts against; nil if the server counts by account.
    func addressCount(of call: NetworkCall, isAuthorized: Bool) -> AddressCount?
    /// The time at which to ask again, by the headers of an answer.
    func pacing(of response: HTTPResponse) -> ServerPacing
}

extension NetworkClient {
    package static var notExpected: String {
        localized("the answer is not the JSON that was expected")
    }

    package func words(in response: HTTPResponse) -> String? { nil }
    package var followsRedirects: Bool { true }
    package var conflictMeansDone: Bool { false }
    package var missingMeansUnchanged: Bool { true }
    package var requestIDHeaders: [String] { ["X-Request-Id"] }
    package func addressCount(of call: NetworkCall, isAuthorized: Bool) -> AddressCount? { nil }
    package func pacing(of response: HTTPResponse) -> ServerPacing {
        ServerPacing(response.headers, receivedAt: now())
    }

    /// The answer to a call, whatever its status; truncated only if the call allows that, or if the
    /// answer is a refusal.
    ///
    /// - Parameters:
    ///   - authorization: The header with the credentials; nil for an anonymous call.
    /// - Returns: The answer, after recording the server's clock and limit by address in it.
    /// - Throws: ``NetworkError`` if there is no answer; its code is `.rateLimited` and its outcome
    ///   `notSent` if the limit by address does not allow the call now. Or `CancellationError`.
    package func answer(to call: NetworkCall, authorization: String?) async throws -> HTTPResponse {
        let count = addressCount(of: call, isAuthorized: authorization != nil)
        let gate = count.map { origin.gates.gate(of: server, $0) }
        if let retry = gate?.admit(origin.mirror, isUrgent: call.operation.isUrgent, at: instant) {
            throw heldBackError(call, until: retry)
        }
        let response = try await response(to: call, authorization: authorization)
        if let gate, count?.isAnnounced == true { note(response, at: gate) }
        return response
    }

    private var instant: HostGate.Instant { HostGate.Instant(uptime: origin.uptime(), date: now()) }

    /// Passes an answer's announcement of the host's limit to the gate.
    private func note(_ response: HTTPResponse, at gate: HostGate) {
        let pacing = pacing(of: response)
        if let limit = pacing.rateLimit { gate.note(limit, at: instant) }
        if response.status == 429 { gate.pause(until: pacing.retryAfterRateLimit, at: instant) }
    }

    /// The error for a call that the host's gate holds back.
    private func heldBackError(_ call: NetworkCall, until retry: Date) -> NetworkError {
        var error = error(
            call, .rateLimited, outcome: .notSent,
            detail: localized(
                "the server counts requests by address, and there are too many from this one"))
        error.retryAfter = retry
        error.isAboutAddressLimit = true
        return error
    }

    private func response(to call: NetworkCall, authorization: String?) async throws -> HTTPResponse
    {
        var headers = HTTPHeaders([("Accept", "application/json")])
        if let authorization { headers.append("Authorization", authorization) }
        if let type = call.contentType { headers.append("Content-Type", type) }
        for (name, value) in call.headers { headers.append(name, value) }
        var request = HTTPRequest(
            method: call.method, url: server.base + call.target, headers: headers, body: call.body,
            timeout: call.deadline, maximumBodyBytes: call.maximumBytes,
            followsRedirects: followsRedirects)
        request.isPublicOnly = server.isPublicOnly
        request.contact = origin.contact.text
        request.mayLeave = call.mayLeave
        let response = try await sent(request, call)
        serverClock.note(response.headers)
        return response
    }

    /// Sends a request, and notes whether the server answered.
    private func sent(_ request: HTTPRequest, _ call: NetworkCall) async throws -> HTTPResponse {
        let reach = origin.gates.reach
        let number = reach.begins(at: reachInstant)
        do {
            let response = try await http.send(request)
            reach.answered(number, at: reachInstant)
            return response
        } catch let error as TransportError {
            let failure = failure(call, error)
            if error.beginning != nil {
                reach.answered(number, at: reachInstant)
            } else if error.isRefusedByClient || request.mayLeave?() == false {
                reach.withdrew(number)
            } else {
                reach.failed(number, "\(failure)", server: server)
            }
            // A truncated answer is returned only if the call allows that, or if it is a refusal.
            guard let answer = error.beginning, call.acceptsTruncatedBody || !answer.isGood else {
                throw failure
            }
            return answer
        } catch {
            reach.withdrew(number)
            throw error
        }
    }

    private var reachInstant: NetworkReach.Instant {
        NetworkReach.Instant(uptime: origin.uptime(), date: now())
    }

    /// - Throws: ``NetworkError`` with code `.malformedResponse`.
    package func decode<Value: Decodable>(
        _ type: Value.Type, from response: HTTPResponse, _ call: NetworkCall
    ) throws(NetworkError) -> Value {
        if let value = JSONBody.decoded(type, response.body) { return value }
        throw malformed(call, response, detail: Self.notExpected)
    }

    // MARK: Errors

    /// An error about a call, with the fields that all errors have.
    package func error(
        _ call: NetworkCall, _ code: NetworkError.Code, outcome: NetworkError.Outcome,
        detail: String? = nil
    ) -> NetworkError {
        error(call.operation, code, outcome: outcome, detail: detail)
    }

    /// An error about an operation, for use where there is no call.
    package func error(
        _ operation: NetworkError.Operation, _ code: NetworkError.Code,
        outcome: NetworkError.Outcome,
        detail: String? = nil
    ) -> NetworkError {
        NetworkError(
            code: code, network: network, host: server.host, operation: operation, detail: detail,
            outcome: outcome,
            isAnonymous: isAnonymous)
    }

    /// The error for a call that the server answered with an error.
    package func error(
        _ call: NetworkCall, _ response: HTTPResponse, _ code: NetworkError.Code,
        outcome: NetworkError.Outcome,
        detail: String? = nil, words: String?
    ) -> NetworkError {
        var error = error(call, code, outcome: outcome, detail: detail)
        error.status = response.status
        error.serverCode = words
        error.requestID = requestID(in: response)
        return error
    }

    /// The error for a call that failed in the transport.
    package func failure(_ call: NetworkCall, _ cause: TransportError) -> NetworkError {
        let code: NetworkError.Code =
            switch cause.code {
            case .invalidURL, .forbiddenScheme, .invalidHeader: .configuration
            case .tooLarge: .tooLarge
            default: .transport
            }
        return error(
            call, code, outcome: cause.requestDidNotLeave ? .notSent : .unknown,
            detail: Secret.redacted(secrets, from: PlainText.cleaned(cause.message)))
    }

    /// The error for an answer with a good status that cannot be understood; a write may have
    /// happened.
    package func malformed(_ call: NetworkCall, _ response: HTTPResponse, detail: String)
        -> NetworkError
    {
        error(
            call, response, .malformedResponse, outcome: .unknown, detail: detail,
            words: words(in: response))
    }

    /// The error for a refusal that is a web page: it comes not from the server, but from a program
    /// in front of it that blocks software (a challenge, a password for the whole site).
    ///
    /// It has no consequence for the account or a post, and the call may be made again.
    ///
    /// - Returns: `nil` for any other answer.
    package func refusalInFront(_ call: NetworkCall, _ response: HTTPResponse) -> NetworkError? {
        guard response.isPageInFront else { return nil }
        var error = error(
            call, response, .unavailable, outcome: .refused,
            detail: localized(
                """
                a web page came, not the server's own answer: something in front of it keeps programs out; \
                ask its operator to let this one through
                """),
            words: nil)
        error.retryAfter = pacing(of: response).retryAfter(of: .unavailable)
        return error
    }

    /// The outcome of a write whose answer is an error.
    package func outcome(of code: NetworkError.Code, status: Int) -> NetworkError.Outcome {
        switch code {
        // The first of two equal requests may still succeed.
        case .conflict: conflictMeansDone ? .refused : .unknown
        // A failing server may have stored the post before it failed. With 404 or 410 it does not
        // have the object, and has changed nothing.
        case .unavailable, .malformedResponse:
            [404, 410].contains(status) && missingMeansUnchanged ? .refused : .unknown
        case .redirected where status == 303: .unknown
        default: .refused
        }
    }

    /// The server's message in the answer: short, on one line, and without secrets.
    ///
    /// - Parameters:
    ///   - hide: Removes parts that may be secret although they are not in ``secrets``.
    /// - Returns: The printable words; nil if there are none.
    package func printable(_ text: String, hide: (String) -> String = { $0 }) -> String? {
        let line = PlainText.cleaned(text).split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        let redacted = Secret.redacted(secrets, from: hide(line))
        // The length is limited in code points, because a character may have any number of them.
        guard !redacted.isEmpty else { return nil }
        return String(String.UnicodeScalarView(redacted.unicodeScalars.prefix(160)))
    }

    /// The server's identifier of a request; nil unless it is a short plain word.
    private func requestID(in response: HTTPResponse) -> String? {
        requestIDHeaders.lazy.compactMap { response.headers[$0] }
            .first { (1...64).contains($0.utf8.count) && $0.isVisibleASCII }
            .map { Secret.redacted(secrets, from: $0) }
    }
}

extension NetworkError.Operation {
    /// Whether the call must not wait for the reads of other mirrors: true for changes, and for the
    /// requests that changes need.
    fileprivate var isUrgent: Bool { isWrite || self == .logIn || self == .refreshSession }
}

extension NetworkError.Code {
    /// The code for a status, if the answer has nothing more specific.
    package init(status: Int) {
        switch status {
        case 300...399: self = .redirected
        case 401: self = .unauthorized
        case 403: self = .forbidden
        case 409: self = .conflict
        case 429: self = .rateLimited
        case 408, 425, 500...599: self = .unavailable
        case 400...499: self = .rejected
        default: self = .malformedResponse
        }
    }
}

extension HTTPResponse {
    /// Whether the status is one of 200 through 299.
    package var isGood: Bool { (200...299).contains(status) }

    /// Whether the answer refuses with a page for browsers, as firewalls do with 403 or 406.
    ///
    /// The statuses 400, 401 and 422 are left out, because some servers refuse a token with these
    /// and a web page of their own.
    fileprivate var isPageInFront: Bool {
        guard [403, 406].contains(status) else { return false }
        let beginning = String(decoding: body.prefix(256), as: UTF8.self).lowercased()
            .drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        return ["<!doctype html", "<html"].contains { beginning.hasPrefix($0) }
    }

    /// The body, if it is small enough to search for an error message.
    package var errorBody: [UInt8]? { body.count <= 65_536 ? body : nil }
}

extension StringProtocol {
    /// Whether there are only visible ASCII characters, so that the text is allowed in a header.
    package var isVisibleASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}

/// The secrets that no printed text may contain: the newest of the used tokens, codes and keys.
package final class KnownSecrets: @unchecked Sendable {
    /// The maximum number of secrets that are kept: tokens older than the last 64 are no longer
    /// valid.
    private static let maximumCount = 64

    // Sendable: every access to the variable holds the lock.
    private let lock = NSLock()
    private var keptSecrets: [Secret] = []

    package init() {}

    package var all: [Secret] { lock.withLock { keptSecrets } }

    /// Adds the secrets that are neither nil nor empty.
    package func add(_ secrets: Secret?...) {
        let newSecrets = secrets.compactMap(\.self).filter { !$0.isEmpty }
        lock.withLock { keptSecrets = (keptSecrets + newSecrets).suffix(Self.maximumCount) }
    }
}

/// Percent-encoding by RFC 3986, as OAuth 1.0a requires.
package enum PercentEncoding {
    /// The UTF-8 bytes of `text`, with all but letters, digits, `-`, `.`, `_` and `~` as `%` and
    /// two upper-case digits.
    package static func encoded(_ text: String) -> String {
        var result: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            if byte.isLetterOrDigit || "-._~".utf8.contains(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// `name=value` pairs joined with `&`, in the given order; names may repeat.
    package static func query(_ pairs: [(name: String, value: String)]) -> String {
        pairs.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
    }

    /// The names and values of a query or form, decoded; the first value of a name counts.
    ///
    /// - Parameters:
    ///   - isUsable: Whether a value is used; a pair with another value is ignored.
    /// - Returns: The values of the pairs that can be decoded.
    package static func values(
        of text: some StringProtocol, where isUsable: (String) -> Bool = { _ in true }
    ) -> [String:
        String]
    {
        let pairs = text.split(separator: "&").compactMap { part -> (String, String)? in
            let pair = part.split(separator: "=", maxSplits: 1).map {
                String($0).removingPercentEncoding
            }
            guard pair.count == 2, let name = pair[0], let value = pair[1], isUsable(value) else {
                return nil
            }
            return (name, value)
        }
        return Dictionary(pairs) { first, _ in first }
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    package var isDigit: Bool { (0x30...0x39).contains(self) }

    /// Whether the byte is an ASCII letter or digit.
    package var isLetterOrDigit: Bool {
        isDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
