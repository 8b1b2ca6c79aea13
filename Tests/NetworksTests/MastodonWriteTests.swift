import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
@testable import Networks

@Suite struct MastodonWriteTests {
    private func draft(
        _ text: String = "text", replyTo: String? = nil, language: String? = nil,
        key: String = "k-1"
    )
        -> Draft
    {
        Draft(
            text: text, replyTo: replyTo, visibility: .unlisted, language: language, key: key,
            createdAt: Loopback.start)
    }

    @Test func publishesExactlyOnceAndExactlyThis() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/statuses"
                ? .json(Wire.status("9", ["content": "\"<p>x</p>\"", "in_reply_to_id": "\"4\""]))
                : nil
        }
        _ = try await loopback.network.limits()
        let published = try await loopback.network.publish(
            Draft(
                text: "line 1\n\"quoted\" / 日本語 👩‍👩‍👧", replyTo: "4", visibility: .direct,
                language: "ja",
                key: "default-post-2026-11-20-3", createdAt: Loopback.start))
        #expect(
            published
                == PublishedPost(
                    id: PostID(
                        network: .mastodon, value: "https://home.example/users/ann/statuses/9"),
                    address: "9",
                    createdAt: Date(timeIntervalSince1970: 1_795_204_800)))

        let request = try #require(loopback.requests.first)
        #expect(loopback.requests.count == 1)
        #expect(request.method == "POST")
        #expect(request.target == "/api/v1/statuses")
        #expect(request.header("Authorization") == "Bearer \(Loopback.token)")
        #expect(request.header("Idempotency-Key") == "default-post-2026-11-20-3")
        #expect(request.header("Content-Type") == "application/json")
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("User-Agent") == "mirror-bot-tests")
        #expect(request.header("Content-Length") == String(request.body.count))
        let fields = [
            #""in_reply_to_id":"4""#, #""language":"ja""#, #""sensitive":false"#,
            #""status":"line 1\n\"quoted\" / 日本語 👩‍👩‍👧""#, #""visibility":"direct""#,
        ]
        #expect(
            String(decoding: request.body, as: UTF8.self) == "{\(fields.joined(separator: ","))}")
    }

    @Test(arguments: [nil, "und", "zxx", "qme", "qht", "english", "", "e", "en_US", "mul"])
    func whatIsNotKnownIsLeftOut(language: String?) async throws {
        let loopback = try Loopback {
            $0.path == "/api/v1/statuses" ? .json(Wire.status("9")) : nil
        }
        _ = try await loopback.network.publish(draft(language: language))
        let body = String(decoding: try #require(loopback.requests.first).body, as: UTF8.self)
        #expect(
            body
                == #"{"content_type":"text/plain","sensitive":false,"status":"text","visibility":"unlisted"}"#
        )
    }

    @Test(arguments: ["en", "pt-BR", "zh-Hant-TW", "quz", "que"])
    func languagesAreSent(language: String) async throws {
        let loopback = try Loopback {
            $0.path == "/api/v1/statuses" ? .json(Wire.status("9")) : nil
        }
        _ = try await loopback.network.publish(draft(language: language))
        let body = String(decoding: try #require(loopback.requests.first).body, as: UTF8.self)
        let rest = #""sensitive":false,"status":"text","visibility":"unlisted""#
        #expect(body == #"{"content_type":"text/plain","language":"\#(language)",\#(rest)}"#)
    }

    @Test func favoritesWithAnEmptyBody() async throws {
        let loopback = try Loopback { request in
            request.path.hasSuffix("/favourite")
                ? .json(Wire.status("9", ["favourited": "true"])) : nil
        }
        try await loopback.network.favorite(Loopback.favorite("9"))
        try await loopback.network.favorite(Loopback.favorite("9"))
        let requests = loopback.server.requests
        #expect(requests.map(\.method) == ["POST", "POST"])
        #expect(
            requests.map(\.target) == [
                "/api/v1/statuses/9/favourite", "/api/v1/statuses/9/favourite",
            ])
        for request in requests {
            #expect(request.body.isEmpty)
            #expect(request.header("Content-Length") == "0")
            #expect(request.header("Content-Type") == nil)
            #expect(request.header("Authorization") == "Bearer \(Loopback.token)")
        }
    }

    @Test func deletesByThePostsOwnID() async throws {
        let loopback = try Loopback {
            $0.method == "DELETE" ? .json(Wire.status("9", ["text": "\"source\""])) : nil
        }
        try await loopback.network.delete("a/b")
        let request = try #require(loopback.requests.first)
        #expect(loopback.requests.count == 1)
        #expect(request.target == "/api/v1/statuses/a%2Fb")
        #expect(request.body.isEmpty)
        for address in ["", "..", "a b"] {
            let error = try await #require(throws: NetworkError.self) {
                try await loopback.network.delete(address)
            }
            #expect(error.outcome == .notSent)
        }
        #expect(loopback.requests.count == 1)
    }

    /// Gone already, somebody else's, too many, out of order.
    @Test(
        arguments: [
            (404, nil), (410, nil), (403, "forbidden"), (401, "unauthorized"),
            (429, "rate-limited"),
            (500, "unavailable"),
        ] as [(Int, String?)])
    func aDeletionThatFailsSaysSo(status: Int, code: String?) async throws {
        let loopback = try Loopback { request in
            if request.method == "DELETE" { return .json(#"{"error":"x"}"#, status: status) }
            // Somebody else's is still there.
            return status == 403 && request.path == "/api/v1/statuses/9"
                ? .json(Wire.status("9")) : nil
        }
        do {
            try await loopback.network.delete("9")
            #expect(code == nil)
        } catch let error as NetworkError {
            #expect(error.code.rawValue == code)
            #expect(error.operation == .delete)
        }
    }

    @Test func takesAFavoriteBackWithAnEmptyBody() async throws {
        let loopback = try Loopback { request in
            request.path.hasSuffix("/unfavourite")
                ? .json(Wire.status("9", ["favourited": "false"])) : nil
        }
        try await expect(loopback.network.unfavorite(Loopback.favorite("9")), equals: .removed)
        let request = try #require(loopback.server.requests.first)
        #expect(request.method == "POST")
        #expect(request.target == "/api/v1/statuses/9/unfavourite")
        #expect(request.body.isEmpty)
        // The post is gone, and the favorite with it.
        let gone = try Loopback { _ in .json(#"{"error":"Record not found"}"#, status: 404) }
        try await expect(gone.network.unfavorite(Loopback.favorite("9")), equals: .gone)
    }

    /// Without its type a text is read as the account's preferences say, which may be Markdown.
    @Test(
        arguments: [
            (
                #"{"version":"0.20.0+git-1234567","source_url":"https://c.example/s/gotosocial"}"#,
                true
            ),
            (
                #"{"version":"4.5.0+glitch","configuration":{"statuses":{"supported_mime_types":["text/plain"]}}}"#,
                true
            ),
            (#"{"version":"2.7.2 (compatible; Akkoma 3.15.1)"}"#, true),
            (
                #"{"version":"4.5.0","api_versions":{"mastodon":7},"configuration":{"statuses":{}}}"#,
                false
            ),
            (#"{"version":"takahe/0.11.0"}"#, false),
        ])
    func aServerThatKnowsTheTypeOfATextIsToldIt(instance: String, isTold: Bool) async throws {
        let loopback = try Loopback { request in
            if request.path.hasSuffix("/instance") { return .json(instance) }
            return request.path.hasPrefix("/api/v1/statuses") ? .json(Wire.status("9")) : nil
        }
        _ = try await loopback.network.limits()
        _ = try await loopback.network.publish(draft())
        try await loopback.network.edit("9", draft())
        let bodies = loopback.requests.suffix(2).map { String(decoding: $0.body, as: UTF8.self) }
        for body in bodies {
            #expect(body.contains(#""content_type":"text/plain""#) == isTold, "\(body)")
            #expect(body.contains(#""sensitive":false"#), "\(body)")
        }
    }

    /// A server takes away the warning that an edit does not name.
    @Test(arguments: [nil, "food"]) func anEditNamesWhatItWarnsOf(warning: String?) async throws {
        let loopback = try Loopback { $0.method == "PUT" ? .json(Wire.status("9")) : nil }
        var draft = draft(language: "ja")
        draft.warning = warning
        try await loopback.network.edit("9", draft)
        let request = try #require(loopback.server.requests.first)
        #expect(request.target == "/api/v1/statuses/9")
        #expect(request.header("Idempotency-Key") == nil)
        let rest = """
            "language":"ja","sensitive":\(warning != nil),"spoiler_text":"\(warning ?? "")","status":"text"
            """
        let expected = #"{"content_type":"text/plain",\#(rest)}"#
        #expect(String(decoding: request.body, as: UTF8.self) == expected)
    }

    /// A server that knows the post, and no way to change it; and one on which it is gone.
    @Test(arguments: [
        (404, true, "capability"), (405, true, "capability"), (404, false, "not-found"),
    ])
    func anEditThatCannotBeSaysWhy(status: Int, isThere: Bool, code: String) async throws {
        let loopback = try Loopback { request in
            if request.method == "PUT" { return .json(#"{"error":"Not Found"}"#, status: status) }
            return isThere
                ? .json(Wire.status("9")) : .json(#"{"error":"Record not found"}"#, status: 404)
        }
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.edit("9", draft())
        }
        #expect(error.code.rawValue == code)
        #expect(error.operation == .edit)
        #expect(error.description.hasPrefix("could not change a post on Mastodon"))
    }

    @Test(
        arguments: [
            (Answer.json(Wire.account("1", acct: "bot", ["bot": "true"])), nil),
            (.json(Wire.account("1", acct: "bot", ["bot": "1"])), nil),
            (
                .json(#"{"error":"This action is outside the authorized scopes"}"#, status: 403),
                "missing-scope"
            ),
            (.json("{}"), "malformed-response"), (.json("{}", status: 503), "unavailable"),
            (.json(#"{"error":"Validation failed"}"#, status: 422), "rejected"),
        ] as [(Answer, String?)])
    func labelsTheAccount(answer: Answer, code: String?) async throws {
        let loopback = try Loopback { $0.path.hasSuffix("/update_credentials") ? answer : nil }
        do {
            try await loopback.network.labelAsBot()
            #expect(code == nil)
        } catch let error as NetworkError {
            #expect(error.code.rawValue == code)
            #expect(error.operation == .labelAccount)
            #expect(
                error.description.hasPrefix("could not label the account on Mastodon (127.0.0.1): ")
            )
        }
        #expect(loopback.requests.count == 1)
    }

    @Test(arguments: ["\"\"", "null", "", "\"soon\""])
    func aPublishedPostWithoutATimeIsOfNow(wire: String) async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/statuses" ? .json(Wire.status("9", ["created_at": wire])) : nil
        }
        try await expect(loopback.network.publish(draft()).createdAt, equals: Loopback.start)
    }

    @Test(arguments: ["", "a\r\nX-Evil: 1", "a b", "é", String(repeating: "k", count: 65)])
    func keysThatCannotBeSentAreNotSent(key: String) async throws {
        let loopback = try Loopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(draft(key: key))
        }
        #expect(error.outcome == .notSent)
        #expect(loopback.server.requests.isEmpty)
    }

    @Test func addressesThatCannotBeSentAreNotSent() async throws {
        let loopback = try Loopback { _ in nil }
        for address in ["", "..", "a b"] {
            let publishing = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.publish(draft(replyTo: address))
            }
            #expect(publishing.outcome == .notSent)
            let favoriting = try await #require(throws: NetworkError.self) {
                try await loopback.network.favorite(Loopback.favorite(address))
            }
            #expect(favoriting.outcome == .notSent)
        }
        #expect(loopback.server.requests.isEmpty)
    }

    /// The post exists, but the answer does not say so.
    @Test(arguments: [
        "", "{}", "[]", "null", "<html>", #"{"id":"9"}"#, #"{"id":"9","uri":""}"#, #"{"id":"9","#,
    ])
    func anAnswerThatCannotBeReadLeavesTheOutcomeOpen(body: String) async throws {
        let loopback = try Loopback { $0.path == "/api/v1/statuses" ? .json(body) : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(draft())
        }
        #expect(error.code == .malformedResponse)
        #expect(error.outcome == .unknown)
        #expect(!error.isPermanent)
        #expect(loopback.requests.count == 1)
    }

    /// The connection ends after the request arrived: nobody knows, and nothing is sent a second
    /// time.
    @Test(arguments: [
        [LoopbackServer.Step.awaitRequest, .reset], [.awaitRequest, .close],
        [
            .awaitRequest,
            .send(Array("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"id\":".utf8)), .close,
        ],
        [
            .awaitRequest,
            .send(Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Len".utf8)),
            .reset,
        ],
        [.awaitRequest, .send(Array("nonsense\r\n\r\n".utf8)), .close],
    ])
    func aLostAnswerLeavesTheOutcomeOpen(steps: [LoopbackServer.Step]) async throws {
        let server = try LoopbackServer(steps: steps)
        let network = try Loopback.network(of: server)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft())
        }
        #expect(error.outcome == .unknown)
        #expect(error.code == .transport || error.code == .malformedResponse)
        #expect(!error.isPermanent)
        #expect(server.requests.count == 1)
    }

    @Test func aServerThatIsNotThereWasNotAsked() async throws {
        let server = try LoopbackServer { _, connection in connection.close() }
        let network = try Loopback.network(of: server)
        server.stop()
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft())
        }
        #expect(error.code == .transport)
        #expect(error.outcome == .notSent)
        #expect(!error.isPermanent)
        #expect(!error.stopsActor)
    }

    @Test func plainHTTPToTheWorldIsRefused() throws {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        let error = try #require(throws: NetworkError.self) {
            try MastodonNetwork(
                server: "http://social.example", accessToken: Secret(Loopback.token),
                client: client,
                now: { Loopback.start })
        }
        #expect(error.code == .configuration)
        #expect(error.outcome == .notSent)
        #expect(error.stopsActor)
    }

    @Test(arguments: ["", "a b", "line\nbreak", "é"])
    func aTokenThatCannotBeSentIsNotSent(token: String) async throws {
        let loopback = try Loopback(token: token) { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.verifyAccount()
        }
        #expect(error.code == .unauthorized)
        #expect(error.outcome == .notSent)
        #expect(loopback.server.requests.isEmpty)
    }

    @Test func cancellationEndsACall() async throws {
        let server = try LoopbackServer { _, connection in connection.waitForClose() }
        let network = try Loopback.network(of: server)
        let draft = draft()
        let task = Task { try await network.publish(draft) }
        try await server.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
    }
}
