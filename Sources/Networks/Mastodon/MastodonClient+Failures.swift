import Foundation
import Posts
import Transport

/// What an answer with an error means.
extension MastodonClient {
    /// An error about a call, with what is the same for all.
    func error(
        _ call: MastodonCall, _ code: NetworkError.Code, outcome: NetworkError.Outcome, detail: String? = nil
    ) -> NetworkError {
        NetworkError(
            code: code, network: .mastodon, host: server.host, operation: call.operation, detail: detail,
            outcome: outcome, isAnonymous: isAnonymous)
    }

    /// What the transport's failure means for a call.
    func failure(_ call: MastodonCall, _ cause: TransportError) -> NetworkError {
        error(
            call, cause.networkCode, outcome: cause.outcome,
            detail: secrets.redacted(from: PlainText.cleaned(cause.message)))
    }

    /// What an answer that should have been JSON means for a call: a write may have happened.
    func malformed(_ call: MastodonCall, _ response: HTTPResponse, detail: String) -> NetworkError {
        var failure = error(call, .malformedResponse, outcome: .unknown, detail: detail)
        failure.status = response.status
        failure.serverCode = message(in: response)
        failure.requestID = requestID(in: response)
        return failure
    }

    /// What an answer's status and message mean for a call.
    func failure(_ call: MastodonCall, _ response: HTTPResponse) -> NetworkError {
        let message = message(in: response)
        let code = code(call, response, message: message ?? "")
        var failure = error(call, code, outcome: outcome(of: code, status: response.status))
        failure.status = response.status
        failure.serverCode = message
        failure.requestID = requestID(in: response)
        failure.retryAfter = ServerPacing(response.headers, receivedAt: now()).retryAfter(of: code)
        return failure
    }

    private func code(_ call: MastodonCall, _ response: HTTPResponse, message: String) -> NetworkError.Code {
        let isVerifying = call.operation == .verifyAccount
        switch response.status {
        case 300...399:
            return .redirected
        case 400 where isVerifying && message.isEmpty, 422 where isVerifying && message.isEmpty:
            // How some servers refuse a token that they do not know.
            return .unauthorized
        case 401 where Self.isAboutAuthor(message):
            return .forbidden
        case 401,
            422 where Self.asksForUser(message):
            return .unauthorized
        case 403:
            return Self.codeOfForbidden(message)
        case 404, 405, 410:
            if isVerifying { return .configuration }
            // What is missing by the word of a proxy may be there by the word of the server behind it.
            return response.status == 405 ? .rejected : message.isEmpty ? .unavailable : .notFound
        case 408, 425:
            return .unavailable
        case 409:
            return .conflict
        case 429:
            return .rateLimited
        case 400...499:
            return Self.isAboutLength(message) ? .tooLong : .rejected
        case 500...599:
            return .unavailable
        default:
            return .malformedResponse
        }
    }

    private func outcome(of code: NetworkError.Code, status: Int) -> NetworkError.Outcome {
        switch code {
        // Who knows no such thing has done nothing to it.
        case .unavailable where status == 404 || status == 410: .refused
        // The first of two equal requests may still succeed; a broken server may have stored the post before it broke.
        case .conflict, .unavailable, .malformedResponse: .unknown
        case .redirected where status == 303: .unknown
        default: .refused
        }
    }

    private static func codeOfForbidden(_ message: String) -> NetworkError.Code {
        let text = message.lowercased()
        // How Pleroma and Akkoma refuse a token that they do not know, or no longer.
        if text.hasPrefix("invalid credentials") { return .unauthorized }
        if text.contains("scope") || text.contains("insufficient permissions") { return .missingScope }
        let accountTexts = [
            "your login is", "your account is", "account has been suspended", "account has been disabled",
        ]
        return accountTexts.contains(where: text.contains) ? .accountDisabled : .forbidden
    }

    private static func asksForUser(_ message: String) -> Bool {
        message.lowercased().contains("requires an authenticated user")
    }

    /// Takahe refuses to change what is somebody else's with the status of a token that it does not know.
    private static func isAboutAuthor(_ message: String) -> Bool {
        message.lowercased().contains("not the author")
    }

    private static func isAboutLength(_ message: String) -> Bool {
        let text = message.lowercased()
        return text.contains("character limit") || text.contains("max chars") || text.contains("too long")
    }

    /// The field `error` of a JSON body, made fit to print.
    ///
    /// Nothing else of a body is ever kept, and no markup: it may be a page of somebody's proxy.
    private func message(in response: HTTPResponse) -> String? {
        guard response.body.count <= ErrorText.maximumBody,
            let body = JSONBody.decoded(ErrorBody.self, response.body), let error = body.error, !error.contains("<")
        else { return nil }
        return ErrorText.words(error, redact: secrets.redacted)
    }

    private func requestID(in response: HTTPResponse) -> String? {
        ErrorText.requestID(response.headers["X-Request-Id"], redact: secrets.redacted)
    }
}

private struct ErrorBody: Decodable {
    let error: String?

    private enum CodingKeys: CodingKey {
        case error
    }

    init(from decoder: any Decoder) throws {
        error = try decoder.container(keyedBy: CodingKeys.self).text(.error)
    }
}
