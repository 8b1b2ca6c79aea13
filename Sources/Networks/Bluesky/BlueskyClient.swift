import Formats
import Foundation
import Posts
import Transport

/// Sends requests to one of Bluesky's servers after the other.
struct BlueskyClient: NetworkClient {
    /// The server that gets the requests; see ``at(_:hiding:)``.
    private(set) var server: ServerAddress
    let http: HTTPClient
    var origin = RequestOrigin()
    /// The clock of the servers, as their answers tell it.
    var serverClock = ServerClock()
    let now: @Sendable () -> Date
    /// Nobody is logged in.
    var isAnonymous = false
    private(set) var secrets: [Secret] = []

    var network: NetworkName { .bluesky }
    /// The server tells of a record that is there.
    var conflictIsCertain: Bool { true }
    var missingIsCertain: Bool { false }
    var requestIDHeaders: [String] { ["X-Request-Id", "Atproto-Request-Id"] }

    /// Each server takes 3,000 requests in five minutes from one address.
    ///
    /// Log-ins and changes count there too, but what their answers tell is about limits of the
    /// account.
    func addressCount(of call: NetworkCall, isAuthorized: Bool) -> AddressCount? {
        let isOfAccount =
            call.operation.isWrite || [.logIn, .refreshSession].contains(call.operation)
        return AddressCount(
            limit: AddressLimit(count: 3_000, period: 300), isAnnounced: !isOfAccount)
    }

    /// The same client for another server, and with other secrets.
    func at(_ server: ServerAddress, hiding secrets: [Secret] = []) -> BlueskyClient {
        var client = self
        client.server = server
        client.secrets = secrets
        return client
    }

    /// Asks the server.
    ///
    /// - Returns: The answer, be it a refusal.
    /// - Throws: ``NetworkError`` without an answer, or `CancellationError`.
    func answer(to call: NetworkCall, with token: Secret? = nil) async throws -> BlueskyAnswer {
        var client = self
        client.secrets += token.map { [$0] } ?? []
        let token = token?.reveal()
        if let token, token.isEmpty || !token.isVisibleASCII {
            throw error(
                call, .malformedResponse, outcome: .notSent,
                detail: "the session's token is empty or holds a space or line break")
        }
        let response = try await client.answer(
            to: call, authorization: token.map { "Bearer \($0)" })
        return BlueskyAnswer(
            call: call, client: client, all: response,
            refusal: response.isGood ? nil : client.refusal(call, response))
    }
}

/// A server's answer to a call.
struct BlueskyAnswer: Sendable {
    let call: NetworkCall
    let client: BlueskyClient
    fileprivate let all: HTTPResponse
    /// `nil` for an answer with a status of 200 through 299.
    let refusal: BlueskyRefusal?

    /// - Throws: ``NetworkError`` for a refusal.
    func response() throws(NetworkError) -> HTTPResponse {
        if let refusal { throw refusal.error }
        return all
    }

    /// The answer read as JSON.
    ///
    /// - Throws: ``NetworkError`` for a refusal, and with code `.malformedResponse`.
    func value<Value: Decodable>(_ type: Value.Type) throws(NetworkError) -> Value {
        try client.decode(type, from: try response(), call)
    }

    /// Reads the answer's fields.
    ///
    /// - Throws: As ``value(_:)``.
    func read<Value>(_ reader: @escaping (WireObject) -> Value?) throws(NetworkError) -> Value {
        if let value = JSONBody.read(try response().body, reader) { return value }
        throw malformed(BlueskyClient.notExpected)
    }

    /// An error that says what is wrong with an answer that could be read.
    func malformed(_ detail: String) -> NetworkError { client.malformed(call, all, detail: detail) }

    /// An error with a cause that does not stand in the answer.
    func error(_ code: NetworkError.Code, _ detail: String) -> NetworkError {
        client.error(call, code, outcome: .refused, detail: detail)
    }
}

/// A server's refusal: its name decides what it means, not the status.
struct BlueskyRefusal: Sendable {
    /// The server's name for the error; `nil` where it gives none, as proxies do not.
    let name: String?
    let error: NetworkError

    /// Whether the token has only run out.
    var saysExpired: Bool { name == "ExpiredToken" }

    /// Whether a record exists where none was to be, or is another than the expected one.
    var saysOccupied: Bool {
        name == "InvalidSwap"
            || error.status == 400
                && error.serverCode?.lowercased().contains("already exists") == true
    }

    /// The server fails without a reason, as it does where one of several new records exists
    /// already.
    var saysNothing: Bool { error.status == 500 }

    /// Whether ``saysOccupied`` may be what is meant.
    var maySayOccupied: Bool { saysOccupied || name == nil && [400, 409].contains(error.status) }
}

/// Interpreting answers with errors.
extension BlueskyClient {
    private static let maximumName = 64
    /// How tokens in the form of JWT begin, whosever they are.
    private static let tokenBeginning = "eyJ"

    private static let codes: [String: NetworkError.Code] = [
        "ExpiredToken": .unauthorized, "InvalidToken": .unauthorized, "AuthMissing": .unauthorized,
        "AuthenticationRequired": .unauthorized, "AuthFactorTokenRequired": .unauthorized,
        "AccountTakedown": .accountDisabled, "AccountSuspended": .accountDisabled,
        "AccountDeactivated": .accountDisabled, "RepoTakendown": .accountDisabled,
        "RepoSuspended": .accountDisabled, "RepoDeactivated": .accountDisabled,
        "NotFound": .notFound, "RecordNotFound": .notFound, "RepoNotFound": .notFound,
        "BlockedActor": .forbidden, "BlockedByActor": .forbidden, "Forbidden": .forbidden,
        "InvalidSwap": .conflict, "RateLimitExceeded": .rateLimited,
        "XRPCNotSupported": .capability, "MethodNotImplemented": .capability,
        "InternalServerError": .unavailable, "UpstreamFailure": .unavailable,
        "NotEnoughResources": .unavailable,
        "UpstreamTimeout": .unavailable,
    ]

    /// Details of errors that only a person can mend, by the names of the errors.
    private static let advice: [String: String] = [
        "AuthFactorTokenRequired":
            "this is the account's own password, which wants a code from a mail; make an app password instead",
        "AccountTakedown": "the account was taken down",
        "AccountDeactivated": "the account is deactivated",
    ]

    /// When to ask again, by headers whose names lack the `X-` that others have.
    func pacing(of response: HTTPResponse) -> ServerPacing {
        ServerPacing(response.headers, receivedAt: now(), prefix: "RateLimit-")
    }

    /// Interprets an answer with an error.
    func refusal(_ call: NetworkCall, _ response: HTTPResponse) -> BlueskyRefusal {
        if let refusal = refusalInFront(call, response) {
            return BlueskyRefusal(name: nil, error: refusal)
        }
        let (name, message) = Self.problem(in: response)
        let code = Self.code(call, response.status, name, message)
        let said = [name, message.flatMap { $0.contains("<") ? nil : $0 }].compactMap(\.self)
            .joined(separator: ": ")
        var failure = error(
            call, response, code, outcome: outcome(of: code, status: response.status),
            detail: name.flatMap { Self.advice[$0] },
            words: printable(said, hide: Self.withoutTokens))
        failure.retryAfter = pacing(of: response).retryAfter(of: code)
        return BlueskyRefusal(name: name, error: failure)
    }

    private static func code(
        _ call: NetworkCall, _ status: Int, _ name: String?, _ message: String?
    ) -> NetworkError.Code {
        let code = NetworkError.Code(status: status)
        if code == .rateLimited { return code }
        if let name, let code = codes[name] { return code }
        if status == 404 || status == 405 { return codeOfMissing(call, name) }
        return code == .rejected ? codeOfBadRequest(message ?? "") : code
    }

    /// The code for a thing that is missing.
    ///
    /// A proxy may report a thing as missing that the server behind it has: nothing is concluded
    /// about a post.
    private static func codeOfMissing(_ call: NetworkCall, _ name: String?) -> NetworkError.Code {
        if name != nil { return .notFound }
        let asksWhoIsThere: Set<NetworkError.Operation> = [.verifyAccount, .logIn]
        return asksWhoIsThere.contains(call.operation) ? .configuration : .malformedResponse
    }

    private static func codeOfBadRequest(_ message: String) -> NetworkError.Code {
        let text = message.lowercased()
        if text.contains("could not find repo") { return .notFound }
        let phrases = ["must not be longer", "too long", "grapheme"]
        return phrases.contains(where: text.contains) ? .tooLong : .rejected
    }

    /// The fields `error` and `message` of a JSON body, or the name that a plain text begins with.
    ///
    /// Nothing else of a body is ever looked at: it may be a page of somebody's proxy.
    private static func problem(in response: HTTPResponse) -> (name: String?, message: String?) {
        guard let body = response.errorBody else { return (nil, nil) }
        let problem = JSONBody.read(body) { wire in
            (wire.text("error").flatMap { isName($0) ? $0 : nil }, wire.text("message"))
        }
        if let problem { return problem }
        let beginning = String(decoding: body.prefix(maximumName), as: UTF8.self)
        let word = String(beginning.prefix { $0.isASCII && $0.isLetter })
        return (codes[word] == nil ? nil : word, nil)
    }

    private static func isName(_ text: String) -> Bool {
        (1...maximumName).contains(text.utf8.count) && text.utf8.allSatisfy(\.isLetterOrDigit)
    }

    /// Words without what looks like a token, whosever it is.
    private static func withoutTokens(_ words: String) -> String {
        words.split(separator: " ").map { $0.contains(tokenBeginning) ? "<redacted>" : String($0) }
            .joined(separator: " ")
    }
}

/// Requests of XRPC, and for documents that tell where an account lives.
extension NetworkCall {
    /// Whether the server that keeps the account's records must answer, and not one that gathers
    /// everybody's.
    var isAboutRecords: Bool { path.hasPrefix("/xrpc/com.atproto.repo.") }

    /// A method that reads.
    init(
        _ operation: NetworkError.Operation, _ name: String,
        _ query: [(name: String, value: String)] = []
    ) {
        self.init(operation: operation, path: ["xrpc", name], query: query)
    }

    /// A method that changes something; the body may be empty.
    init(_ operation: NetworkError.Operation, _ name: String, body: [UInt8]) {
        self.init(operation: operation, method: .post, path: ["xrpc", name], body: body)
    }

    /// Puts a record in its place.
    ///
    /// - Parameters:
    ///   - replaced: The digest of the record that is replaced; nil for one that must not exist.
    /// - Throws: Nothing that a record of ours can cause.
    init(
        _ operation: NetworkError.Operation, putting record: JSONValue, at address: RecordAddress,
        insteadOf replaced: String?
    ) throws {
        // Null says that there must be none yet; left out it would say that it does not matter.
        let body = JSONValue.object([
            "repo": .text(address.repository), "collection": .text(address.collection),
            "rkey": .text(address.key),
            "record": record, "swapRecord": replaced.map(JSONValue.text) ?? .null,
        ])
        self.init(operation, "com.atproto.repo.putRecord", body: try JSONBody.encoded(body))
    }

    /// Creates records in one commit, of which none exists yet.
    ///
    /// - Throws: Nothing that records of ours can cause.
    init(
        _ operation: NetworkError.Operation,
        creating records: [(address: RecordAddress, value: JSONValue)]
    ) throws {
        let writes = records.map { address, value in
            JSONValue.object([
                "$type": .text("com.atproto.repo.applyWrites#create"),
                "collection": .text(address.collection),
                "rkey": .text(address.key), "value": value,
            ])
        }
        let body = JSONValue.object([
            "repo": .text(records[0].address.repository), "writes": .list(writes),
        ])
        self.init(operation, "com.atproto.repo.applyWrites", body: try JSONBody.encoded(body))
    }

    /// A document of a DID, by its path.
    init(_ operation: NetworkError.Operation, document path: String) {
        self.init(operation: operation, path: [])
        self.path = path
    }
}
