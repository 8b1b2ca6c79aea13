import Foundation
import Posts
import Transport

/// Sends requests to one server that speaks Mastodon's interface.
struct MastodonClient: NetworkClient {
    let server: ServerAddress
    let http: HTTPClient
    var origin = RequestOrigin()
    let knownSecrets: KnownSecrets
    var serverClock = ServerClock()
    let now: @Sendable () -> Date
    var isAnonymous = false

    var network: NetworkName { .mastodon }
    var secrets: [Secret] { knownSecrets.all }

    /// Without a login Mastodon counts by address, but for the token of an account; with one only
    /// some other software does.
    func addressCount(of call: NetworkCall, isAuthorized: Bool) -> AddressCount? {
        if let limit = origin.gates.limit(of: server) { return AddressCount(limit: limit) }
        let isOfAccount = isAuthorized || [.logIn, .refreshSession].contains(call.operation)
        return isOfAccount ? nil : AddressCount(limit: Self.anonymousLimit, scope: "anonymous")
    }

    /// Mastodon's `throttle_unauthenticated_api`.
    private static let anonymousLimit = AddressLimit(count: 300, period: 300)

    /// The answer to a call, with a status of 200 through 299; cut only if the call takes that.
    ///
    /// Without a token the call belongs to nobody.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func send(_ call: NetworkCall, token: Secret?) async throws -> HTTPResponse {
        let token = token?.reveal()
        if let token, token.isEmpty || !token.isVisibleASCII {
            let problem = token.isEmpty ? "is empty" : "holds a space or line break"
            throw error(
                call, .unauthorized, outcome: .notSent, detail: "the access token \(problem)")
        }
        // The word is written so: some servers take it by the letter.
        let response = try await answer(to: call, authorization: token.map { "Bearer \($0)" })
        guard response.isGood else { throw failure(call, response) }
        return response
    }

    /// The answer to a call, read as JSON.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func value<Value: Decodable>(_ type: Value.Type, _ call: NetworkCall, token: Secret?)
        async throws -> Value
    {
        try decode(type, from: try await send(call, token: token), call)
    }
}

/// Interpreting answers with errors.
extension MastodonClient {
    /// Interprets an answer's status and message.
    func failure(_ call: NetworkCall, _ response: HTTPResponse) -> NetworkError {
        if let refusal = refusalInFront(call, response) { return refusal }
        let words = words(in: response)
        let code = code(call, response.status, message: words ?? "")
        var failure = error(
            call, response, code, outcome: outcome(of: code, status: response.status), words: words)
        failure.retryAfter = pacing(of: response).retryAfter(of: code)
        return failure
    }

    private func code(_ call: NetworkCall, _ status: Int, message: String) -> NetworkError.Code {
        let isVerifying = call.operation == .verifyAccount
        switch status {
        case 400 where isVerifying && message.isEmpty, 422 where isVerifying && message.isEmpty:
            // How some servers refuse a token that they do not know.
            return .unauthorized
        case 401 where Self.isAboutAuthor(message):
            return .forbidden
        case 422 where Self.asksForUser(message):
            return .unauthorized
        case 403:
            return Self.codeOfForbidden(message, call.operation)
        case 404, 405, 410:
            if isVerifying { return .configuration }
            if status == 405 { return .rejected }
            // What is missing by the word of a proxy may be there by the word of the server behind
            // it.
            return message.isEmpty ? .unavailable : .notFound
        default:
            let code = NetworkError.Code(status: status)
            return code == .rejected && Self.isAboutLength(message) ? .tooLong : code
        }
    }

    private static func codeOfForbidden(
        _ message: String, _ operation: NetworkError.Operation
    ) -> NetworkError.Code {
        let text = message.lowercased()
        // How Pleroma and Akkoma refuse a token that they do not know, or no longer.
        if text.hasPrefix("invalid credentials") { return .unauthorized }
        // Friendica refuses with 403 whatever it refuses: a token that it does not know or whose
        // scopes do not suffice, which a new login mends both, and a post that is not there.
        if text.hasPrefix("token is not authorized with a valid user") { return .unauthorized }
        if text == "record not found", operation != .delete { return .notFound }
        if text.contains("scope") || text.contains("insufficient permissions") {
            return .missingScope
        }
        let accountTexts = [
            "your login is", "your account is", "account has been suspended",
            "account has been disabled",
        ]
        return accountTexts.contains(where: text.contains) ? .accountDisabled : .forbidden
    }

    private static func asksForUser(_ message: String) -> Bool {
        message.lowercased().contains("requires an authenticated user")
    }

    /// Takahe refuses to change what is somebody else's with the status of a token that it does not
    /// know.
    private static func isAboutAuthor(_ message: String) -> Bool {
        message.lowercased().contains("not the author")
    }

    private static func isAboutLength(_ message: String) -> Bool {
        let text = message.lowercased()
        return text.contains("character limit") || text.contains("max chars")
            || text.contains("too long")
    }

    /// The field `error` of a JSON body, made fit to print.
    ///
    /// Nothing else of a body is ever kept, and no markup: it may be a page of somebody's proxy.
    func words(in response: HTTPResponse) -> String? {
        response.errorBody.flatMap { JSONBody.read($0) { $0.text("error") } }
            .flatMap { $0.contains("<") ? nil : printable($0) }
    }
}
