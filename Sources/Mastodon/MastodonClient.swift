import Foundation
import Localization
import NetworkNames
import Networks
import Posts
import Transport

/// Sends requests to a server with Mastodon's interface.
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

    /// The count by IP address that limits a call; nil if the server counts the call by account.
    ///
    /// Mastodon counts calls without a login by address, except requests for an account's token.
    /// Calls with a login are counted by address only by some other programs.
    func addressCount(of call: NetworkCall, isAuthorized: Bool) -> AddressCount? {
        if let limit = origin.gates.limit(of: server) { return AddressCount(limit: limit) }
        let isCountedByAccount = isAuthorized || [.logIn, .refreshSession].contains(call.operation)
        return isCountedByAccount
            ? nil : AddressCount(limit: Self.anonymousLimit, scope: "anonymous")
    }

    /// Mastodon's limit `throttle_unauthenticated_api`.
    private static let anonymousLimit = AddressLimit(count: 300, period: 300)

    /// The answer to a call, with a status of 200 through 299; truncated only if the call allows
    /// that.
    ///
    /// Without a token the call is anonymous.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
    func send(_ call: NetworkCall, token: Secret?) async throws -> HTTPResponse {
        let token = token?.reveal()
        if let token, token.isEmpty || !token.isVisibleASCII {
            throw error(
                call, .unauthorized, outcome: .notSent,
                detail: localized(
                    token.isEmpty
                        ? "the access token is empty"
                        : "the access token holds a space or line break"))
        }
        // `Bearer` has a capital letter, because some servers compare it exactly.
        let response = try await answer(to: call, authorization: token.map { "Bearer \($0)" })
        guard response.isGood else { throw failure(call, response) }
        return response
    }

    /// The answer to a call, read as JSON.
    ///
    /// - Throws: `NetworkError` or `CancellationError`.
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
        let serverMessage = words(in: response)
        let code = code(call, response.status, message: serverMessage ?? "")
        var failure = error(
            call, response, code, outcome: outcome(of: code, status: response.status),
            words: serverMessage)
        failure.retryAfter = pacing(of: response).retryAfter(of: code)
        return failure
    }

    private func code(_ call: NetworkCall, _ status: Int, message: String) -> NetworkError.Code {
        let isVerifying = call.operation == .verifyAccount
        switch status {
        case 400 where isVerifying && message.isEmpty, 422 where isVerifying && message.isEmpty:
            // Some servers refuse an unknown token like this.
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
            // A proxy may report something as missing that the server behind it has.
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
        // Pleroma and Akkoma refuse an unknown or revoked token like this.
        if text.hasPrefix("invalid credentials") { return .unauthorized }
        // Friendica answers 403 for a token that is unknown or lacks a scope, both of which a new
        // login resolves, and also for a missing post.
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

    /// Takahe refuses to change another account's post with the same status as an unknown token.
    private static func isAboutAuthor(_ message: String) -> Bool {
        message.lowercased().contains("not the author")
    }

    private static func isAboutLength(_ message: String) -> Bool {
        let text = message.lowercased()
        return text.contains("character limit") || text.contains("max chars")
            || text.contains("too long")
    }

    /// The server's message, which is the field `error` of a JSON body, safe to print.
    ///
    /// A message with markup is dropped, because the body may be the page of a proxy.
    func words(in response: HTTPResponse) -> String? {
        response.errorBody.flatMap { JSONBody.read($0) { $0.text("error") } }
            .flatMap { $0.contains("<") ? nil : printable($0) }
    }
}
