import Foundation
import Posts
import TestSupport
import Transport

@testable import Mastodon
@testable import Networks

/// A server whose access tokens end, with one refresh token that is taken back when it is used.
final class MastodonTokenServer: Sendable {
    /// What happened, in order, at the server and at the store.
    final class Log: Sendable {
        private let lock = NSLock()
        // Sendable: every access holds the lock.
        nonisolated(unsafe) private var lines: [String] = []

        func add(_ line: String) { lock.withLock { lines.append(line) } }

        var all: [String] { lock.withLock { lines } }
    }

    /// A credential store that can break.
    struct Store: CredentialStore {
        struct Broken: Error {}

        let log: Log
        let text = TextBox()
        let loadsFail = Flag()
        let savesFail = Flag()

        func load() async throws -> Secret? {
            guard !loadsFail.isSet else { throw Broken() }
            return text.value.map { Secret($0) }
        }

        func save(_ credentials: Secret) async throws {
            guard !savesFail.isSet else { throw Broken() }
            log.add("save")
            text.value = credentials.reveal()
        }
    }

    /// A text that changes.
    final class TextBox: Sendable {
        private let lock = NSLock()
        // Sendable: every access holds the lock.
        nonisolated(unsafe) private var text: String?

        var value: String? {
            get { lock.withLock { text } }
            set { lock.withLock { text = newValue } }
        }
    }

    static let clientSecret = "planted-client-secret"

    let log = Log()
    /// How a token that is not valid is refused.
    let refusal: Answer
    /// What is answered for a refresh instead of new tokens, if anything.
    let problem: @Sendable (_ count: Int) -> Answer?
    /// Further fields of a token answer.
    let fields: [String: String]
    private let isExpired = Flag()
    private let lock = NSLock()
    // Sendable: every access holds the lock.
    nonisolated(unsafe) private var generation = 0
    nonisolated(unsafe) private var refreshes = 0

    init(
        refusal: Answer = .json(#"{"error":"The access token is invalid"}"#, status: 401),
        fields: [String: String] = [:],
        problem: @escaping @Sendable (_ count: Int) -> Answer? = { _ in nil }
    ) {
        self.refusal = refusal
        self.fields = fields
        self.problem = problem
    }

    /// Credentials of before: their access token is not valid any more, their refresh token is.
    static func credentials(_ generation: Int = 0, expiresAt: Date? = nil) -> MastodonCredentials {
        MastodonCredentials(
            accessToken: Secret("planted-access-\(generation - 1)"),
            refreshToken: Secret("planted-refresh-\(generation)"), clientID: "client id",
            clientSecret: Secret(clientSecret), expiresAt: expiresAt)
    }

    /// How often tokens were asked for.
    var refreshCount: Int { lock.withLock { refreshes } }

    /// The access token that is valid now; nil before the first refresh.
    var access: String? {
        lock.withLock { generation == 0 ? nil : "planted-access-\(generation - 1)" }
    }

    /// Makes the access token invalid and leaves the refresh token valid.
    func expire() { isExpired.isSet = true }

    func answer(_ request: LoopbackServer.Request) -> Answer {
        if request.path == "/oauth/token" {
            return tokens(String(decoding: request.body, as: UTF8.self))
        }
        let token = request.header("Authorization").map { String($0.dropFirst("Bearer ".count)) }
        guard !isExpired.isSet, token == access, token != nil else {
            log.add("refused \(request.method)")
            return refusal
        }
        log.add("\(request.method)")
        if request.method == "POST" { return .json(Wire.status("9")) }
        return request.path == "/api/v1/timelines/home" ? .json("[]") : Loopback.usual(request)
    }

    private func tokens(_ form: String) -> Answer {
        let (count, current) = lock.withLock {
            refreshes += 1
            return (refreshes, generation)
        }
        log.add("refresh")
        if let problem = problem(count) { return problem }
        let expected =
            "grant_type=refresh_token&refresh_token=planted-refresh-\(current)&client_id=client%20id"
            + "&client_secret=\(Self.clientSecret)"
        guard form == expected else {
            return .json(#"{"error":"invalid_grant","error_description":"\#(form)"}"#, status: 400)
        }
        lock.withLock { generation += 1 }
        isExpired.isSet = false
        return .json(
            Wire.object(
                [
                    "access_token": "\"planted-access-\(current)\"", "token_type": "\"Bearer\"",
                    "expires_in": "600",
                    "refresh_token": "\"planted-refresh-\(current + 1)\"",
                    "scope": "\"read write\"",
                    "created_at": "1795208400", "me": "\"https://home.example/users/bot\"",
                ], fields))
    }
}
