import Formats
import Foundation
import Localization
import NetworkNames
import Networks
import Posts
import Transport

/// Sends requests to one of Bluesky's servers.
struct BlueskyClient: NetworkClient {
    /// The server that gets the requests; see ``at(_:hiding:)``.
    private(set) var server: ServerAddress
    let http: HTTPClient
    var origin = RequestOrigin()
    /// The servers' clock, according to their answers.
    var serverClock = ServerClock()
    let now: @Sendable () -> Date
    /// Whether requests are sent without credentials.
    var isAnonymous = false
    private(set) var secrets: [Secret] = []

    var network: NetworkName { .bluesky }
    /// True, because a conflict means that the record exists already.
    var conflictMeansDone: Bool { true }
    var missingMeansUnchanged: Bool { false }
    var requestIDHeaders: [String] { ["X-Request-Id", "Atproto-Request-Id"] }

    /// The count of requests from one IP address, of which each server accepts 3,000 in five
    /// minutes.
    ///
    /// Logins and changes count too, but the limits in the headers of their answers are those of
    /// the account.
    func addressCount(of call: NetworkCall, isAuthorized: Bool) -> AddressCount? {
        let isLimitedByAccount =
            call.operation.isWrite || [.logIn, .refreshSession].contains(call.operation)
        return AddressCount(
            limit: AddressLimit(count: 3_000, period: 300), isAnnounced: !isLimitedByAccount)
    }

    /// Returns a client with the same settings for another server, which hides further secrets in
    /// errors.
    func at(_ server: ServerAddress, hiding secrets: [Secret] = []) -> BlueskyClient {
        var client = self
        client.server = server
        client.secrets = secrets
        return client
    }

    /// Sends a call.
    ///
    /// - Returns: The answer, which may be a refusal.
    /// - Throws: `NetworkError` if there was no answer, or `CancellationError`.
    func answer(to call: NetworkCall, with token: Secret? = nil) async throws -> BlueskyAnswer {
        var client = self
        if let token { client.secrets.append(token) }
        let token = token?.reveal()
        if let token, token.isEmpty || !token.isVisibleASCII {
            throw error(
                call, .malformedResponse, outcome: .notSent,
                detail: localized("the session's token is empty or holds a space or line break"))
        }
        let response = try await client.answer(
            to: call, authorization: token.map { "Bearer \($0)" })
        return BlueskyAnswer(
            call: call, client: client, httpResponse: response,
            refusal: response.isGood ? nil : client.refusal(call, response))
    }
}

/// A server's answer to a call.
struct BlueskyAnswer: Sendable {
    let call: NetworkCall
    let client: BlueskyClient
    fileprivate let httpResponse: HTTPResponse
    /// `nil` for an answer with a status of 200 through 299.
    let refusal: BlueskyRefusal?

    /// - Throws: `NetworkError` for a refusal.
    func response() throws(NetworkError) -> HTTPResponse {
        if let refusal { throw refusal.error }
        return httpResponse
    }

    /// The answer read as JSON.
    ///
    /// - Throws: `NetworkError` for a refusal, and with code `.malformedResponse`.
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

    /// The error for an answer that is readable but not the expected one.
    func malformed(_ detail: String) -> NetworkError {
        client.malformed(call, httpResponse, detail: detail)
    }

    /// The error for a problem that the server's answer does not state itself.
    func error(_ code: NetworkError.Code, _ detail: String) -> NetworkError {
        client.error(call, code, outcome: .refused, detail: detail)
    }
}

/// A server's refusal, whose meaning follows from the error's name rather than from the status.
struct BlueskyRefusal: Sendable {
    /// The server's name for the error; `nil` if there is none, as in answers of proxies.
    let name: String?
    let error: NetworkError

    /// Whether the refusal only says that the token has expired.
    var saysExpired: Bool { name == "ExpiredToken" }

    /// Whether the refusal says that a record exists which must not, or that it differs from the
    /// expected one.
    var saysOccupied: Bool {
        name == "InvalidSwap"
            || error.status == 400
                && error.serverCode?.lowercased().contains("already exists") == true
    }

    /// Whether the server failed without naming a reason, as it does if one of several new records
    /// exists already.
    var isUnexplained: Bool { error.status == 500 }

    /// Whether the refusal may mean ``saysOccupied``.
    var maySayOccupied: Bool { saysOccupied || name == nil && [400, 409].contains(error.status) }
}

/// Interpreting answers with errors.
extension BlueskyClient {
    private static let maximumName = 64
    /// The first characters of every token in the form of a JWT.
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

    /// Details of errors that only a person can resolve, by the names of the errors.
    private static let advice: [String: LocalizedText] = [
        "AuthFactorTokenRequired": LocalizedText(
            "this is the account's own password, which wants a code from a mail; make an app password instead"
        ),
        "AccountTakedown": LocalizedText("the account was taken down"),
        "AccountDeactivated": LocalizedText("the account is deactivated"),
    ]

    /// The retry time, from headers whose names lack the usual `X-`.
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
        let serverWords = [name, message.flatMap { $0.contains("<") ? nil : $0 }].compactMap(\.self)
            .joined(separator: ": ")
        var failure = error(
            call, response, code, outcome: outcome(of: code, status: response.status),
            detail: name.flatMap { Self.advice[$0]?.description },
            words: printable(serverWords, hide: Self.withoutTokens))
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

    /// The code for a missing object.
    ///
    /// A proxy may report an object as missing that its server has, so a post counts as missing
    /// only if the answer names an error.
    private static func codeOfMissing(_ call: NetworkCall, _ name: String?) -> NetworkError.Code {
        if name != nil { return .notFound }
        let accountOperations: Set<NetworkError.Operation> = [.verifyAccount, .logIn]
        return accountOperations.contains(call.operation) ? .configuration : .malformedResponse
    }

    private static func codeOfBadRequest(_ message: String) -> NetworkError.Code {
        let text = message.lowercased()
        if text.contains("could not find repo") { return .notFound }
        let phrases = ["must not be longer", "too long", "grapheme"]
        return phrases.contains(where: text.contains) ? .tooLong : .rejected
    }

    /// The fields `error` and `message` of a JSON body, or the name at the beginning of a plain
    /// text.
    ///
    /// The rest of a body is ignored, because it may be the page of a proxy.
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

    /// The text without parts that look like tokens.
    private static func withoutTokens(_ words: String) -> String {
        words.split(separator: " ").map { $0.contains(tokenBeginning) ? "<redacted>" : String($0) }
            .joined(separator: " ")
    }
}

/// Calls of XRPC methods, and requests for the documents of DIDs.
extension NetworkCall {
    /// Whether the server with the account's records must answer, not an app view.
    var isAboutRecords: Bool { path.hasPrefix("/xrpc/com.atproto.repo.") }

    /// Creates a call of a method that reads.
    init(
        _ operation: NetworkError.Operation, _ name: String,
        _ query: [(name: String, value: String)] = []
    ) {
        self.init(operation: operation, path: ["xrpc", name], query: query)
    }

    /// Creates a call of a method that changes something; the body may be empty.
    init(_ operation: NetworkError.Operation, _ name: String, body: [UInt8]) {
        self.init(operation: operation, method: .post, path: ["xrpc", name], body: body)
    }

    /// Creates a call that writes a record.
    ///
    /// - Parameters:
    ///   - replaced: The digest (CID) of the record that is replaced; nil if there must be none
    ///     yet.
    /// - Throws: An encoding error, which does not occur for the records of this program.
    init(
        _ operation: NetworkError.Operation, putting record: JSONValue, at address: RecordAddress,
        insteadOf replaced: String?
    ) throws {
        // Null in `swapRecord` means that the record must not exist; without the field the server
        // would not check.
        let body = JSONValue.object([
            "repo": .text(address.repository), "collection": .text(address.collection),
            "rkey": .text(address.key),
            "record": record, "swapRecord": replaced.map(JSONValue.text) ?? .null,
        ])
        self.init(operation, "com.atproto.repo.putRecord", body: try JSONBody.encoded(body))
    }

    /// Creates a call that creates several records in one commit; none of them may exist.
    ///
    /// - Throws: An encoding error, which does not occur for the records of this program.
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

    /// Creates a call for the document of a DID, by its path.
    init(_ operation: NetworkError.Operation, document path: String) {
        self.init(operation: operation, path: [])
        self.path = path
    }
}
