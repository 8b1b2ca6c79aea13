import Foundation
import Posts
import Transport

/// Sends requests to one server, and turns what goes wrong into ``NetworkError``.
struct MastodonClient: Sendable {
    /// Where requests go.
    let server: ServerAddress
    let http: HTTPClient
    let secrets: MastodonSecrets
    /// The server's clock, as its answers tell it.
    var serverClock = ServerClock()
    let now: @Sendable () -> Date
    /// There are no credentials of an account yet.
    var isAnonymous = false

    /// The answer to a call, with a status of 200 through 299; cut only if the call takes that.
    ///
    /// Without a token the call belongs to nobody.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func send(_ call: MastodonCall, token: Secret?) async throws -> HTTPResponse {
        let request = HTTPRequest(
            method: call.method, url: server.base + call.target, headers: try headers(for: call, token),
            body: call.body?.bytes, timeout: call.deadline, maximumBodyBytes: call.maximumBytes,
            followsRedirects: true)
        let response: HTTPResponse
        do {
            response = try await http.send(request)
        } catch let error as TransportError {
            guard let beginning = call.takesBeginning ? error.beginning : error.refusal else {
                throw failure(call, error)
            }
            response = beginning
        }
        serverClock.note(response.headers)
        guard (200...299).contains(response.status) else { throw failure(call, response) }
        return response
    }

    /// The answer to a call, read as JSON.
    ///
    /// - Throws: ``NetworkError`` or `CancellationError`.
    func value<Value: Decodable>(_ type: Value.Type, _ call: MastodonCall, token: Secret?) async throws -> Value {
        try decode(type, from: try await send(call, token: token), call)
    }

    /// - Throws: ``NetworkError`` with code `.malformedResponse`.
    func decode<Value: Decodable>(
        _ type: Value.Type, from response: HTTPResponse, _ call: MastodonCall
    ) throws(NetworkError) -> Value {
        if let value = JSONBody.decoded(type, response.body) { return value }
        throw malformed(call, response, detail: "the answer is not the JSON that was expected")
    }

    private func headers(for call: MastodonCall, _ token: Secret?) throws(NetworkError) -> HTTPHeaders {
        var headers = HTTPHeaders()
        if let token = token?.reveal() {
            guard !token.isEmpty, token.isVisibleASCII else {
                throw error(
                    call, .unauthorized, outcome: .notSent,
                    detail: token.isEmpty
                        ? "the access token is empty" : "the access token holds a space or line break")
            }
            // The word is written so: some servers take it by the letter.
            headers.append("Authorization", "Bearer \(token)")
        }
        headers.append("Accept", "application/json")
        if let type = call.body?.contentType { headers.append("Content-Type", type) }
        for (name, value) in call.headers { headers.append(name, value) }
        return headers
    }
}
