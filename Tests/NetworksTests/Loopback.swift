import Foundation
import Posts
import TestSupport
import Transport

@testable import Mastodon
@testable import Networks

/// What a test's server answers.
struct Answer: Sendable {
    var status = 200
    var headers: [(String, String)] = []
    var body = ""

    static func json(_ body: String, status: Int = 200, headers: [(String, String)] = []) -> Answer
    {
        Answer(
            status: status,
            headers: [("Content-Type", "application/json; charset=utf-8")] + headers, body: body)
    }

    static let notFound = json(#"{"error":"Record not found"}"#, status: 404)
}

/// A server on loopback that speaks as a test wants, and a network that reads from it.
struct Loopback {
    static let token = "planted-token-5f1c"
    /// The instant 2026-11-20T21:00:00Z.
    static let start = Date(timeIntervalSince1970: 1_795_208_400)

    let server: LoopbackServer
    let network: MastodonNetwork

    /// Where `answer` gives nil, the usual answers are given: an instance `home.example` and an
    /// account `1`.
    init(
        token: String = Self.token, now: @escaping @Sendable () -> Date = { Self.start },
        answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?
    ) throws {
        server = try LoopbackServer { request, connection in
            let answer = answer(request) ?? Self.usual(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        network = try Self.network(of: server, token: token, now: now)
    }

    /// A favorite for the post with this address.
    static func favorite(_ address: String) -> FavoriteDraft {
        FavoriteDraft(address: address, key: "favorite-key", createdAt: start)
    }

    /// A network that reads from any server.
    static func network(
        of server: LoopbackServer, token: String = Self.token,
        now: @escaping @Sendable () -> Date = { Self.start }
    ) throws -> MastodonNetwork {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        return try MastodonNetwork(
            server: server.url, accessToken: Secret(token), client: client, now: now)
    }

    /// The requests after those about the instance and the account.
    var requests: [LoopbackServer.Request] {
        let others = ["/instance", "/verify_credentials", "/webfinger"]
        return server.requests.filter { request in !others.contains { request.path.hasSuffix($0) } }
    }

    static func usual(_ request: LoopbackServer.Request) -> Answer {
        switch request.target {
        case "/api/v2/instance":
            .json(
                #"{"domain":"home.example","configuration":{"statuses":{}},"api_versions":{"mastodon":6}}"#
            )
        case "/api/v1/accounts/verify_credentials": .json(Wire.account("1", acct: "bot"))
        default: .notFound
        }
    }
}

/// JSON in the shapes that servers were seen to send.
enum Wire {
    /// A value of JSON text by field; a field of `overrides` replaces the usual one, an empty value
    /// removes it.
    static func object(_ fields: [String: String], _ overrides: [String: String] = [:]) -> String {
        let merged = fields.merging(overrides) { _, new in new }.filter { !$0.value.isEmpty }
        return "{"
            + merged.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(
                separator: ",") + "}"
    }

    static func account(_ id: String, acct: String, _ overrides: [String: String] = [:]) -> String {
        object(
            [
                "id": "\"\(id)\"", "username": "\"\(acct.prefix { $0 != "@" })\"",
                "acct": "\"\(acct)\"",
                "display_name": "\"Name of \(acct)\"", "locked": "false", "bot": "false",
                "group": "false",
                "created_at": "\"2020-01-01T00:00:00.000Z\"", "note": "\"<p>note</p>\"",
                "fields": "[]",
                "url": "\"https://home.example/@\(acct)\"", "emojis": "[]",
            ], overrides)
    }

    static func status(_ id: String, _ overrides: [String: String] = [:]) -> String {
        object(
            [
                "id": "\"\(id)\"", "uri": "\"https://home.example/users/ann/statuses/\(id)\"",
                "url": "\"https://home.example/@ann/\(id)\"",
                "created_at": "\"2026-11-20T20:00:00.000Z\"",
                "account": account("7", acct: "ann"), "content": "\"<p>text \(id)</p>\"",
                "visibility": "\"public\"",
                "in_reply_to_id": "null", "in_reply_to_account_id": "null", "sensitive": "false",
                "spoiler_text": "\"\"", "language": "\"en\"", "mentions": "[]", "tags": "[]",
                "emojis": "[]",
                "media_attachments": "[]", "poll": "null", "card": "null", "reblog": "null",
                "favourited": "false",
            ], overrides)
    }

    static func notification(_ id: String, status: String, _ overrides: [String: String] = [:])
        -> String
    {
        object(
            [
                "id": "\"\(id)\"", "type": "\"mention\"",
                "created_at": "\"2026-11-20T20:30:00.000Z\"",
                "account": account("7", acct: "ann"), "status": status,
            ], overrides)
    }

    static func list(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }
}

extension LoopbackServer.Request {
    /// The path without the query.
    var path: String { String(target.prefix { $0 != "?" }) }

    /// The decoded parameters of the query.
    var query: [String: String] {
        let items = URLComponents(string: target)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $1 })
    }
}
