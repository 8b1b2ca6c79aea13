import Foundation
import Posts
import Transport

/// A server's no: its name decides what it means, not the status.
struct BlueskyRefusal: Sendable {
    /// What the server calls the error; nil where it does not say, as proxies do not.
    let name: String?
    let error: NetworkError

    /// Whether the token has only run out.
    var saysExpired: Bool { name == "ExpiredToken" }

    /// Whether a record exists where none was to be, or is another than the expected one.
    var saysOccupied: Bool {
        name == "InvalidSwap"
            || error.status == 400 && error.serverCode?.lowercased().contains("already exists") == true
    }

    /// Whether ``saysOccupied`` may be what is meant.
    var maySayOccupied: Bool { saysOccupied || name == nil && [400, 409].contains(error.status) }
}

/// What an answer with an error means.
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
        "InternalServerError": .unavailable, "UpstreamFailure": .unavailable, "NotEnoughResources": .unavailable,
        "UpstreamTimeout": .unavailable,
    ]

    /// What a person can do about an error that only a person can mend.
    private static let advice: [String: String] = [
        "AuthFactorTokenRequired":
            "this is the account's own password, which wants a code from a mail; make an app password instead",
        "AccountTakedown": "the account was taken down", "AccountDeactivated": "the account is deactivated",
    ]

    /// An error about a call, with what is the same for all.
    func error(
        _ call: BlueskyCall, _ code: NetworkError.Code, host: String, outcome: NetworkError.Outcome,
        detail: String? = nil
    ) -> NetworkError {
        NetworkError(
            code: code, network: .bluesky, host: host, operation: call.operation, detail: detail, outcome: outcome,
            isAnonymous: isAnonymous)
    }

    /// What the transport's failure means for a call.
    func failure(
        _ call: BlueskyCall, _ server: ServerAddress, _ cause: TransportError, hiding secrets: [Secret]
    ) -> NetworkError {
        error(
            call, cause.networkCode, host: server.host, outcome: cause.outcome,
            detail: Self.redacted(PlainText.cleaned(cause.message), secrets))
    }

    /// What an answer that should have been JSON means for a call: a write may have happened.
    func malformed(_ call: BlueskyCall, host: String, _ response: HTTPResponse, _ detail: String) -> NetworkError {
        var failure = error(call, .malformedResponse, host: host, outcome: .unknown, detail: detail)
        failure.status = response.status
        return failure
    }

    /// When to ask again, by headers whose names lack the `X-` that others have.
    func pacing(of response: HTTPResponse) -> ServerPacing {
        ServerPacing(response.headers, receivedAt: now(), prefix: "RateLimit-")
    }

    /// What an answer's error means for a call.
    func refusal(
        _ call: BlueskyCall, _ server: ServerAddress, _ response: HTTPResponse, hiding secrets: [Secret]
    ) -> BlueskyRefusal {
        let body = Self.error(in: response)
        let code = Self.code(call, response.status, body)
        var failure = error(
            call, code, host: server.host, outcome: Self.outcome(of: code, status: response.status),
            detail: body.name.flatMap { Self.advice[$0] })
        failure.status = response.status
        failure.serverCode = Self.words(of: body, hiding: secrets)
        failure.requestID = Self.requestID(in: response, hiding: secrets)
        failure.retryAfter = pacing(of: response).retryAfter(of: code)
        return BlueskyRefusal(name: body.name, error: failure)
    }

    private static func code(_ call: BlueskyCall, _ status: Int, _ body: BlueskyErrorBody) -> NetworkError.Code {
        if status == 429 { return .rateLimited }
        if let name = body.name, let code = codes[name] { return code }
        switch status {
        case 300...399: return .redirected
        case 401: return .unauthorized
        case 403: return .forbidden
        case 404, 405: return codeOfMissing(call, body)
        case 408, 425: return .unavailable
        case 409: return .conflict
        case 400...499: return codeOfBadRequest(body.message ?? "")
        case 500...599: return .unavailable
        default: return .malformedResponse
        }
    }

    /// What is missing by the word of a proxy may be there by the word of the server behind it: nothing is concluded
    /// about a post.
    private static func codeOfMissing(_ call: BlueskyCall, _ body: BlueskyErrorBody) -> NetworkError.Code {
        if body.name != nil { return .notFound }
        let asksWhoIsThere: Set<NetworkError.Operation> = [.verifyAccount, .logIn]
        return asksWhoIsThere.contains(call.operation) ? .configuration : .malformedResponse
    }

    private static func codeOfBadRequest(_ message: String) -> NetworkError.Code {
        let text = message.lowercased()
        if text.contains("could not find repo") { return .notFound }
        let phrases = ["must not be longer", "too long", "grapheme"]
        return phrases.contains(where: text.contains) ? .tooLong : .rejected
    }

    private static func outcome(of code: NetworkError.Code, status: Int) -> NetworkError.Outcome {
        switch code {
        // A broken server may have stored the record before it broke.
        case .unavailable, .malformedResponse: .unknown
        case .redirected where status == 303: .unknown
        default: .refused
        }
    }

    /// The fields `error` and `message` of a JSON body, or the name that a plain text begins with.
    ///
    /// Nothing else of a body is ever looked at: it may be a page of somebody's proxy.
    private static func error(in response: HTTPResponse) -> BlueskyErrorBody {
        guard response.body.count <= ErrorText.maximumBody else { return BlueskyErrorBody() }
        if let body = JSONBody.decoded(BlueskyErrorBody.self, response.body) {
            return BlueskyErrorBody(name: body.name.flatMap { isName($0) ? $0 : nil }, message: body.message)
        }
        let beginning = String(decoding: response.body.prefix(maximumName), as: UTF8.self)
        let word = beginning.prefix { $0.isASCII && $0.isLetter }
        return BlueskyErrorBody(name: codes[String(word)] == nil ? nil : String(word), message: nil)
    }

    private static func isName(_ text: String) -> Bool {
        (1...maximumName).contains(text.utf8.count) && text.utf8.allSatisfy(BlueskyName.isLetterOrDigit)
    }

    /// The name and the message, made fit to print.
    private static func words(of body: BlueskyErrorBody, hiding secrets: [Secret]) -> String? {
        let message = body.message.flatMap { $0.contains("<") ? nil : $0 }
        let said = [body.name, message].compactMap(\.self).joined(separator: ": ")
        return ErrorText.words(said) { words in
            let withoutTokens = words.split(separator: " ")
                .map { $0.contains(tokenBeginning) ? "<redacted>" : String($0) }.joined(separator: " ")
            return redacted(withoutTokens, secrets)
        }
    }

    private static func requestID(in response: HTTPResponse, hiding secrets: [Secret]) -> String? {
        let id = ["X-Request-Id", "Atproto-Request-Id"].lazy.compactMap { response.headers[$0] }.first
        return ErrorText.requestID(id) { redacted($0, secrets) }
    }

    private static func redacted(_ text: String, _ secrets: [Secret]) -> String {
        Secret.redacted(secrets, from: text)
    }
}

private struct BlueskyErrorBody: Decodable {
    var name: String?
    var message: String?

    private enum CodingKeys: CodingKey {
        case error, message
    }

    init(name: String? = nil, message: String? = nil) {
        self.name = name
        self.message = message
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = container.text(.error)
        message = container.text(.message)
    }
}
