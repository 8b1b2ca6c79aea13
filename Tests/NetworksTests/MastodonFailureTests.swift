import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Mastodon
@testable import Networks

@Suite struct MastodonFailureTests {
    private static let html = Answer(
        status: 0, headers: [("Content-Type", "text/html")],
        body: "<html><h1>planted page of a proxy</h1></html>")

    private func failure(_ answer: Answer, _ operation: NetworkError.Operation = .publish)
        async throws -> NetworkError
    {
        let loopback = try Loopback { request in
            request.path.hasSuffix("/instance") ? nil : answer
        }
        return try await #require(throws: NetworkError.self) {
            switch operation {
            case .verifyAccount: _ = try await loopback.network.verifyAccount()
            case .readHome: _ = try await loopback.network.page(.home, .newest)
            case .favorite: try await loopback.network.favorite(Loopback.favorite("9"))
            default:
                _ = try await loopback.network.publish(
                    Draft(text: "text", visibility: .unlisted, key: "k", createdAt: Loopback.start))
            }
        }
    }

    private func body(_ error: String) -> String { #"{"error":"\#(error)"}"# }

    @Test(arguments: [
        // What each server was seen to say.
        (400, "Bad Request: status contains no text, media or poll", "rejected"),
        (400, "Bad Request: text with spoiler exceed max chars (5000)", "too-long"),
        (401, "The access token is invalid", "unauthorized"),
        (401, "Unauthorized: token not supplied", "unauthorized"),
        (403, "This action is not allowed", "forbidden"),
        (403, "Forbidden: token has insufficient scope permission", "missing-scope"),
        (403, "This action is outside the authorized scopes", "missing-scope"),
        (403, "Insufficient permissions: write:statuses.", "missing-scope"),
        (403, "Invalid credentials.", "unauthorized"),
        (401, "Not the author of this status", "forbidden"),
        (403, "Your login is currently disabled", "account-disabled"),
        (403, "you do not have permission to fave this status", "forbidden"),
        (
            403, "Token is not authorized with a valid user or is missing a required scope",
            "unauthorized"
        ),
        (403, "Record not found", "not-found"),
        (404, "Record not found", "not-found"),
        (404, "Not Found: target status not found", "not-found"),
        (406, "Not Acceptable", "rejected"), (410, "Gone", "not-found"), (413, "", "rejected"),
        (418, "I'm a teapot", "rejected"), (415, "", "rejected"),
        (422, "Validation failed: Text can't be blank", "rejected"),
        (422, "Validation failed: Text character limit of 500 exceeded", "too-long"),
        (422, "This method requires an authenticated user", "unauthorized"),
        (422, "Unprocessable Entity: processVisibility: invalid visibility", "rejected"),
        (429, "Too many requests", "rate-limited"), (301, "", "redirected"),
        (307, "", "redirected"),
    ])
    func aRefusalIsARefusal(status: Int, message: String, code: String) async throws {
        for operation in [NetworkError.Operation.publish, .favorite, .readHome] {
            let error = try await failure(.json(body(message), status: status), operation)
            #expect(error.code.rawValue == code)
            #expect(error.outcome == .refused)
            #expect(error.status == status)
            #expect(error.operation == operation)
            #expect(error.serverCode == (message.isEmpty ? nil : message))
            #expect(error.isPermanent == !["rate-limited", "redirected"].contains(code))
            #expect(
                error.stopsActor
                    == ["unauthorized", "missing-scope", "account-disabled"].contains(code))
        }
    }

    /// A bare 404 is nobody's word but a proxy's, unless the server knows the account at the same
    /// time.
    @Test(
        arguments: [404, 410],
        ["", "<html>gone</html>", "{}", #"{"detail":"Not Found"}"#, "[]", #"{"error":""}"#])
    func whatIsMissingByNobodysWordIsNotGone(status: Int, body: String) async throws {
        let error = try await failure(Answer(status: status, body: body))
        #expect(error.code == .unavailable)
        #expect(error.outcome == .refused)
        #expect(!error.isPermanent)
        let loopback = try Loopback { request in
            request.path.hasPrefix("/api/v1/statuses/")
                || request.path.hasSuffix("/verify_credentials")
                ? Answer(status: status, body: body) : nil
        }
        await #expect(throws: NetworkError.self) { _ = try await loopback.network.lookUp("9") }
        await #expect(throws: NetworkError.self) { _ = try await loopback.network.isFavorited("9") }
        await #expect(throws: NetworkError.self) { try await loopback.network.delete("9") }
    }

    @Test(arguments: [
        (408, "unavailable"), (409, "conflict"), (425, "unavailable"), (500, "unavailable"),
        (501, "unavailable"),
        (502, "unavailable"), (503, "unavailable"), (504, "unavailable"), (520, "unavailable"),
        (599, "unavailable"), (600, "malformed-response"), (999, "malformed-response"),
    ])
    func whatMayHaveHappenedIsUnknown(status: Int, code: String) async throws {
        for answer in [
            Answer.json(body("x"), status: status), Answer(status: status, body: Self.html.body),
        ] {
            let error = try await failure(answer)
            #expect(error.code.rawValue == code)
            #expect(error.outcome == .unknown)
            #expect(!error.isPermanent)
            #expect(!error.stopsActor)
        }
    }

    @Test(arguments: [
        (401, ""), (401, "<html>"), (400, "<html>no</html>"), (400, ""), (422, ""), (422, "<p>"),
        (401, #"{"error":"x"}"#),
    ])
    func aTokenIsRefusedInManyWays(status: Int, body: String) async throws {
        let error = try await failure(Answer(status: status, body: body), .verifyAccount)
        #expect(error.code == .unauthorized)
        #expect(error.stopsActor)
        #expect(error.description.contains("make a new access token"))
    }

    /// A challenge of something in front of the server says nothing about the account or a post.
    @Test(
        arguments: [403, 406],
        ["<!DOCTYPE html><title>Just a moment...</title>", "\n<html><p>planted</p></html>"])
    func aProtectionPageIsNotTheServersWord(status: Int, body: String) async throws {
        let answer = Answer(status: status, headers: [("Content-Type", "text/html")], body: body)
        for operation in [NetworkError.Operation.verifyAccount, .publish, .favorite, .readHome] {
            let error = try await failure(answer, operation)
            #expect(error.code == .unavailable)
            #expect(error.outcome == .refused)
            #expect(!error.isPermanent)
            #expect(!error.stopsActor)
            #expect(error.description.contains("a web page came, not the server's own answer"))
            #expect(error.description.contains("may be tried again"))
            #expect(!error.description.contains("planted"))
        }
        let loopback = try Loopback { request in
            request.path.hasPrefix("/api/v1/statuses/") ? answer : nil
        }
        await #expect(throws: NetworkError.self) { try await loopback.network.delete("9") }
        await #expect(throws: NetworkError.self) { _ = try await loopback.network.lookUp("9") }
    }

    @Test(arguments: [404, 405, 410])
    func aServerWithoutTheInterfaceIsAMistakeOfConfiguration(status: Int) async throws {
        let error = try await failure(Answer(status: status, body: "<html>"), .verifyAccount)
        #expect(error.code == .configuration)
        #expect(error.stopsActor)
    }

    @Test(
        arguments: [
            // The two kinds of one server, a proxy's, and nothing at all.
            ([("X-RateLimit-Reset", "2026-11-20T21:05:14.000Z")], 314),
            ([("Retry-After", "30")], 30),
            ([("Retry-After", "Fri, 20 Nov 2026 21:02:00 GMT")], 120), ([], 60),
            ([("X-RateLimit-Reset", "1795208500")], 100),
        ] as [([(String, String)], TimeInterval)])
    func aRateLimitSaysWhenToComeBack(headers: [(String, String)], seconds: TimeInterval)
        async throws
    {
        let date = ("Date", "Fri, 20 Nov 2026 21:00:00 GMT")
        let error = try await failure(
            .json(body("rate limit reached"), status: 429, headers: headers + [date]), .readHome)
        #expect(error.code == .rateLimited)
        #expect(error.retryAfter == Loopback.start.addingTimeInterval(seconds))
    }

    @Test func anOverloadedServerSaysWhenToComeBack() async throws {
        let reset = ("X-RateLimit-Reset", "2026-11-20T21:05:00.000Z")
        let told = try await failure(
            .json("{}", status: 503, headers: [("Retry-After", "30"), reset]))
        #expect(told.retryAfter == Loopback.start.addingTimeInterval(30))
        try await expect(
            failure(.json("{}", status: 503, headers: [reset])).retryAfter, equals: nil)
        try await expect(
            failure(.json("{}", status: 409)).retryAfter,
            equals: Loopback.start.addingTimeInterval(5))
    }

    @Test(
        arguments: [
            (#"{"error":"a\u0000\u0007b\r\n\tc"}"#, "ab c"), (#"{"error":"<b>markup</b>"}"#, nil),
            (#"{"error":{"a":1}}"#, nil),
            (#"{"error":null}"#, nil), (#"{"error":""}"#, nil), (#"{"error":7}"#, "7"),
            (#"{"errors":["x"]}"#, nil),
            ("<html>planted</html>", nil), ("plain planted text", nil), ("", nil), ("[]", nil),
            (#"{"error":"#, nil),
            (
                #"{"error":"\#(String(repeating: "x", count: 500))"}"#,
                String(repeating: "x", count: 160)
            ),
            (#"{"error":"x","pad":"\#(String(repeating: "y", count: 70_000))"}"#, nil),
            (#"{"error":"bad token \#(Loopback.token)!"}"#, "bad token <redacted>!"),
            // One character, as a reader sees it, may be as long as the whole body.
            (
                #"{"error":"x\#(String(repeating: "\u{301}", count: 20_000))"}"#,
                "x" + String(repeating: "\u{301}", count: 159)
            ),
        ] as [(String, String?)])
    func onlyTheServersOwnFewWordsAreKept(body: String, expected: String?) async throws {
        let error = try await failure(Answer(status: 400, body: body))
        #expect(error.serverCode == expected)
        #expect(!error.description.contains("planted"))
        #expect(error.description.count < 400)
    }

    @Test(
        arguments: [
            ("0c5d1b7a-3f", "0c5d1b7a-3f"), (String(repeating: "r", count: 65), nil), ("", nil),
            ("a b", nil),
        ] as [(String, String?)])
    func keepsTheNameOfTheRequest(header: String, expected: String?) async throws {
        let error = try await failure(.json("{}", status: 500, headers: [("X-Request-Id", header)]))
        #expect(error.requestID == expected)
        #expect(error.description.contains("request id") == (expected != nil))
    }

    @Test func messagesSayWhatFailedWhereAndHowToFixIt() async throws {
        let scope = try await failure(
            .json(body("This action is outside the authorized scopes"), status: 403))
        #expect(
            scope.description
                == #"could not publish a post on Mastodon (127.0.0.1): the server answered 403 ("This action is outside the "#
                + #"authorized scopes"); make a new access token with the scopes that docs/settings.md names; "#
                + "no more calls are made with these credentials until that is done")
        let broken = try await failure(Answer(status: 502, body: Self.html.body), .readHome)
        #expect(
            broken.description
                == "could not read the home timeline on Mastodon (127.0.0.1): the server answered 502 (unavailable); "
                + "this may be tried again")
    }

    /// Whatever is asked for, its error names network, operation, status, server code and request
    /// id, and what next.
    @Test func everyErrorSaysWhatThereIsToSay() async throws {
        let body =
            #"{"error":"Validation failed: taken","content":"<p>planted words of a stranger</p>"}"#
        let loopback = try Loopback { request in
            request.path.hasSuffix("/instance")
                ? nil : .json(body, status: 422, headers: [("X-Request-Id", "0c5d-1b7a")])
        }
        let network = loopback.network
        let calls: [(String, @Sendable () async throws -> Void)] = [
            ("verify the account", { _ = try await network.verifyAccount() }),
            ("read the home timeline", { _ = try await network.page(.home, .newest) }),
            ("read the favorites", { _ = try await network.page(.favorites, .newer(than: "9")) }),
            ("read the mentions", { _ = try await network.page(.mentions, .older("9")) }),
            ("read a post", { _ = try await network.lookUp("9") }),
            ("read a post", { _ = try await network.isFavorited("9") }),
            (
                "publish a post",
                {
                    _ = try await network.publish(
                        Draft(
                            text: "text", visibility: .unlisted, key: "k", createdAt: Loopback.start
                        ))
                }
            ), ("favorite a post", { try await network.favorite(Loopback.favorite("9")) }),
            ("delete a post", { try await network.delete("9") }),
            ("label the account", { try await network.labelAsBot() }),
        ]
        for (phrase, call) in calls {
            let error = try await #require(throws: NetworkError.self) { try await call() }
            #expect(
                error.description
                    == "could not \(phrase) on Mastodon (127.0.0.1): the server answered 422 "
                    + "(\"Validation failed: taken\"); request id 0c5d-1b7a; this will not be tried again"
            )
        }
    }
}
