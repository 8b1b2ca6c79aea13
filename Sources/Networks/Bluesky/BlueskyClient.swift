import Foundation
import Posts
import Transport

/// Sends requests to the servers of Bluesky, and turns what goes wrong into ``NetworkError``.
struct BlueskyClient: Sendable {
    let http: HTTPClient
    /// The clock of the servers, as their answers tell it.
    var serverClock = ServerClock()
    let now: @Sendable () -> Date
    /// Nobody is logged in.
    var isAnonymous = false

    /// How long one request may take.
    static let timeout: Duration = .seconds(30)

    /// What a server said.
    enum Answer: Sendable {
        /// A status of 200 through 299.
        case success(HTTPResponse)
        case refusal(BlueskyRefusal)

        /// - Throws: ``NetworkError`` for a refusal.
        func response() throws(NetworkError) -> HTTPResponse {
            switch self {
            case .success(let response): return response
            case .refusal(let refusal): throw refusal.error
            }
        }
    }

    /// Asks a server.
    ///
    /// - Parameters:
    ///   - call: What to ask.
    ///   - server: Whom to ask.
    ///   - token: Shown to the server.
    ///   - secrets: Whatever else must not appear in an error.
    /// - Returns: The answer, be it a refusal.
    /// - Throws: ``NetworkError`` without an answer, or `CancellationError`.
    func answer(
        to call: BlueskyCall, from server: ServerAddress, with token: Secret? = nil, hiding secrets: [Secret] = []
    ) async throws -> Answer {
        let secrets = secrets + (token.map { [$0] } ?? [])
        var request = HTTPRequest(
            method: call.method, url: server.base + call.target, headers: try headers(for: call, server, token),
            body: call.body, timeout: Self.timeout, maximumBodyBytes: call.maximumBytes,
            followsRedirects: true)
        request.isPublicOnly = server.isPublicOnly
        let response: HTTPResponse
        do {
            response = try await http.send(request)
        } catch let error as TransportError {
            guard let beginning = call.takesBeginning ? error.beginning : error.refusal else {
                throw failure(call, server, error, hiding: secrets)
            }
            response = beginning
        }
        serverClock.note(response.headers)
        if (200...299).contains(response.status) { return .success(response) }
        return .refusal(refusal(call, server, response, hiding: secrets))
    }

    /// - Throws: ``NetworkError`` with code `.malformedResponse`.
    func decode<Value: Decodable>(
        _ type: Value.Type, from response: HTTPResponse, _ call: BlueskyCall, host: String
    ) throws(NetworkError) -> Value {
        if let value = JSONBody.decoded(type, response.body) { return value }
        throw malformed(call, host: host, response, "the answer is not the JSON that was expected")
    }

    private func headers(
        for call: BlueskyCall, _ server: ServerAddress, _ token: Secret?
    ) throws(NetworkError) -> HTTPHeaders {
        var headers = HTTPHeaders([("Accept", "application/json")])
        if let token = token?.reveal() {
            guard !token.isEmpty, token.isVisibleASCII else {
                throw error(
                    call, .malformedResponse, host: server.host, outcome: .notSent,
                    detail: "the session's token is empty or holds a space or line break")
            }
            headers.append("Authorization", "Bearer \(token)")
        }
        if call.body?.isEmpty == false { headers.append("Content-Type", "application/json") }
        return headers
    }
}
