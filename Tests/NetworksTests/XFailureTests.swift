import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

@Suite struct XFailureTests {
    private static let date = ("Date", "Fri, 20 Nov 2026 21:00:00 GMT")
    private static let refusedReply =
        "Reply to this conversation is not allowed because you have not been mentioned or otherwise engaged by the "
        + "author of the post you are replying to."

    private static func blank(_ status: Int, _ detail: String, title: String = "Forbidden")
        -> Answer
    {
        .json(
            #"{"detail":"\#(detail)","type":"about:blank","title":"\#(title)","status":\#(status)}"#,
            status: status)
    }

    private static func legacy(_ status: Int, _ code: Int, _ message: String = "message") -> Answer
    {
        .json(#"{"errors":[{"code":\#(code),"message":"\#(message)"}]}"#, status: status)
    }

    /// An answer, what it means, and what of it is shown.
    struct Refusal: Sendable, CustomTestStringConvertible {
        var answer: Answer
        var code: NetworkError.Code
        var said: String?

        init(_ answer: Answer, _ code: NetworkError.Code, _ said: String? = nil) {
            self.answer = answer
            self.code = code
            self.said = said
        }

        var testDescription: String { "\(answer.status) \(answer.body)" }
    }

    @Test(arguments: [
        Refusal(
            XWire.refusal(400, "invalid-request"), .rejected,
            "invalid-request: Detail of invalid-request."),
        Refusal(
            .json(
                #"{"errors":[{"parameters":{"x":["y"]},"message":"The text is too long"}],"title":"Invalid Request","detail":"One or more parameters","type":"https://api.x.com/2/problems/invalid-request"}"#,
                status: 400), .tooLong, "invalid-request: One or more parameters"),
        Refusal(
            legacy(400, 215, "Bad Authentication data."), .unauthorized,
            "215: Bad Authentication data."),
        Refusal(blank(401, "Unauthorized", title: "Unauthorized"), .unauthorized, "Unauthorized"),
        Refusal(
            legacy(401, 89, "Invalid or expired token."), .unauthorized,
            "89: Invalid or expired token."),
        Refusal(
            legacy(401, 32, "Could not authenticate you"), .unauthorized,
            "32: Could not authenticate you"),
        Refusal(legacy(401, 135), .unauthorized, "135: message"),
        Refusal(Answer(status: 401), .unauthorized),
        Refusal(legacy(401, 64), .accountDisabled, "64: message"),
        Refusal(
            blank(403, "You are not allowed to create a Tweet with duplicate content."), .duplicate,
            "You are not allowed to create a Tweet with duplicate content."),
        Refusal(
            legacy(403, 187, "Status is a duplicate."), .duplicate, "187: Status is a duplicate."),
        Refusal(blank(403, refusedReply), .forbidden, refusedReply),
        Refusal(legacy(403, 433), .forbidden, "433: message"),
        Refusal(
            XWire.refusal(403, "oauth1-permissions"), .missingScope,
            "oauth1-permissions: Detail of oauth1-permissions."
        ),
        Refusal(legacy(403, 261), .missingScope, "261: message"),
        Refusal(
            XWire.refusal(403, "client-forbidden", ["reason": #""client-not-enrolled""#]),
            .configuration,
            "client-forbidden: Detail of client-forbidden."),
        Refusal(
            XWire.refusal(403, "client-forbidden", ["reason": #""official-client-forbidden""#]),
            .capability,
            "client-forbidden: Detail of client-forbidden."),
        Refusal(legacy(403, 453), .capability, "453: message"),
        Refusal(
            XWire.refusal(403, "unsupported-authentication"), .capability,
            "unsupported-authentication: Detail of unsupported-authentication."),
        Refusal(legacy(403, 64), .accountDisabled, "64: message"),
        Refusal(legacy(403, 326), .accountDisabled, "326: message"),
        Refusal(legacy(403, 179), .forbidden, "179: message"),
        Refusal(legacy(403, 185), .capReached, "185: message"),
        Refusal(legacy(403, 186), .tooLong, "186: message"),
        Refusal(legacy(403, 88), .rateLimited, "88: message"),
        Refusal(legacy(403, 89), .unauthorized, "89: message"),
        Refusal(Answer(status: 403), .forbidden),
        Refusal(blank(404, "gone", title: "Not Found"), .notFound, "gone"),
        // A proxy's word about what is missing tells nothing about X.
        Refusal(Answer(status: 404, body: "<html>gone</html>"), .malformedResponse),
        Refusal(Answer(status: 410), .malformedResponse),
        Refusal(.json("{}", status: 404), .malformedResponse),
        Refusal(.json(#"{"detail":"Not Found"}"#, status: 404), .malformedResponse, "Not Found"),
        Refusal(legacy(404, 34), .notFound, "34: message"), Refusal(Answer(status: 405), .rejected),
        Refusal(Answer(status: 413), .rejected), Refusal(Answer(status: 418), .rejected),
        Refusal(Answer(status: 302), .redirected), Refusal(Answer(status: 402), .creditsDepleted),
        Refusal(
            .json(#"{"title":"CreditsDepleted","detail":"no credits"}"#, status: 403),
            .creditsDepleted, "no credits"),
        Refusal(
            blank(429, "Too Many Requests", title: "Too Many Requests"), .rateLimited,
            "Too Many Requests"),
        Refusal(legacy(429, 88, "Rate limit exceeded"), .rateLimited, "88: Rate limit exceeded"),
        Refusal(legacy(429, 185), .capReached, "185: message"),
    ])
    func aRefusalIsARefusal(refusal: Refusal) async throws {
        for operation in [NetworkError.Operation.publish, .readMentions] {
            let error = try await XLoopback.failure(refusal.answer, operation)
            #expect(error.code == refusal.code)
            #expect(error.outcome == .refused)
            #expect(error.status == refusal.answer.status)
            #expect(error.operation == operation)
            #expect(error.network == .x)
            #expect(error.serverCode == refusal.said.map { String($0.prefix(160)) })
        }
    }

    @Test(arguments: [408, 425, 500, 502, 503, 504, 520, 599, 600])
    func aBrokenServerLeavesTheOutcomeOpen(status: Int) async throws {
        for answer in [
            Self.blank(status, "x"), Answer(status: status, body: "<html>planted page</html>"),
            Answer(status: status),
        ] {
            let error = try await XLoopback.failure(answer)
            #expect(error.code == (status == 600 ? .malformedResponse : .unavailable))
            #expect(error.outcome == .unknown)
            #expect(!error.isPermanent)
            #expect(!error.stopsActor)
            #expect(!error.description.contains("planted"))
        }
    }

    @Test func aConflictLeavesTheOutcomeOpen() async throws {
        let error = try await XLoopback.failure(XWire.refusal(409, "conflict"))
        #expect(error.code == .conflict)
        #expect(error.outcome == .unknown)
    }

    /// A challenge of something in front of the server says nothing about the account or a post.
    @Test func aProtectionPageIsNotTheServersWord() async throws {
        let page = Answer(status: 403, body: "<!DOCTYPE html><title>Just a moment...</title>")
        for operation in [NetworkError.Operation.verifyAccount, .publish] {
            let error = try await XLoopback.failure(page, operation)
            #expect(error.code == .unavailable)
            #expect(error.outcome == .refused)
            #expect(error.description.contains("a web page came, not the server's own answer"))
        }
    }

    @Test(arguments: [404, 405, 410])
    func aServerWithoutTheInterfaceIsAMistakeOfConfiguration(status: Int) async throws {
        let error = try await XLoopback.failure(
            Answer(status: status, body: "<html>"), .verifyAccount)
        #expect(error.code == .configuration)
        #expect(error.stopsActor)
    }

    @Test func anAppWithoutAPlanIsAMistakeOfConfiguration() async throws {
        for reason in ["client-not-enrolled", "official-client-forbidden"] {
            let answer = XWire.refusal(403, "client-forbidden", ["reason": "\"\(reason)\""])
            let error = try await XLoopback.failure(answer, .verifyAccount)
            #expect(error.code == .configuration)
            expect(error.detail) { $0?.contains("enrol it in the developer console") == true }
        }
    }

    // MARK: Words

    @Test(
        arguments: [
            (
                3_600,
                "this machine's clock is 3600 seconds ahead of the server's; set it right before anything else"
            ),
            (
                -300,
                "this machine's clock is 300 seconds behind the server's; set it right before anything else"
            ),
            (59, nil), (0, nil),
        ] as [(TimeInterval, String?)])
    func aWrongClockIsNamed(lead: TimeInterval, detail: String?) async throws {
        let answer = Answer.json(
            #"{"errors":[{"code":32,"message":"x"}]}"#, status: 401, headers: [Self.date])
        let error = try await XLoopback.failure(answer, now: { XLoopback.start + lead })
        #expect(error.code == .unauthorized)
        #expect(error.detail == detail)
        #expect(error.stopsActor)
    }

    @Test(
        arguments: [
            (#"{"detail":"a\u0000\u0007b\r\n\tc"}"#, "ab c"),
            (#"{"detail":"<b>markup</b>","title":"Plain"}"#, nil),
            (#"{"detail":"<b>","errors":[{"message":"plain"}]}"#, "plain"),
            (#"{"title":"Only a title"}"#, "Only a title"), (#"{"detail":{"a":1}}"#, nil),
            (#"{"detail":""}"#, nil),
            ("<html>planted</html>", nil), ("plain planted text", nil), ("", nil), ("[]", nil),
            (#"{"detail":"#, nil),
            (#"{"error":"planted"}"#, nil), (#"{"errors":"planted"}"#, nil),
            (#"{"errors":["planted"]}"#, nil),
            (
                #"{"detail":"\#(String(repeating: "x", count: 500))"}"#,
                String(repeating: "x", count: 160)
            ),
            (#"{"detail":"x","pad":"\#(String(repeating: "y", count: 70_000))"}"#, nil),
            (#"{"detail":"bad token 42-planted-token-3c!"}"#, "bad token <redacted>!"),
            (#"{"type":"https://x.com/2/problems/<script>","detail":"x"}"#, "x"),
        ] as [(String, String?)])
    func onlyTheServersOwnFewWordsAreKept(body: String, expected: String?) async throws {
        let error = try await XLoopback.failure(Answer(status: 400, body: body))
        #expect(error.serverCode == expected)
        #expect(!error.description.contains("planted"))
        #expect(error.description.count < 400)
    }

    @Test(
        arguments: [
            ([("x-transaction-id", "5f1c2d")], "5f1c2d"), ([("X-Request-Id", "r-1")], "r-1"),
            ([("x-transaction-id", "a b"), ("X-Request-Id", "r-1")], "r-1"), ([], nil),
            ([("x-transaction-id", String(repeating: "r", count: 65))], nil),
        ] as [([(String, String)], String?)])
    func keepsTheNameOfTheRequest(headers: [(String, String)], expected: String?) async throws {
        let error = try await XLoopback.failure(.json("{}", status: 500, headers: headers))
        #expect(error.requestID == expected)
    }

    @Test func messagesSayWhatFailedWhereAndHowToFixIt() async throws {
        let permissions = try await XLoopback.failure(
            .json(
                #"{"type":"https://api.twitter.com/2/problems/oauth1-permissions","title":"Forbidden","status":403,"detail":"Your client app is not configured with the appropriate oauth1 app permissions for this endpoint."}"#,
                status: 403, headers: [("x-transaction-id", "5f1c2d")]))
        #expect(
            permissions.description
                == "could not publish a post on X (127.0.0.1): the server answered 403 (the access token may only read; "
                + "allow the app to read and write, then make a new access token: \"oauth1-permissions: Your client app "
                + "is not configured with the appropriate oauth1 app permissions for this endpoint.\"); make a new access "
                + "token with the scopes that docs/settings.md names; request id 5f1c2d; no more calls are made with these "
                + "credentials until that is done")
    }

    // MARK: Secrets

    private func shown(_ value: Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value) \(String(reflecting: value)) \(dumped)"
    }

    @Test func anAccountDoesNotShowItsSecrets() throws {
        let network = try XLoopback { _ in nil }.network
        for secret in XLoopback.secrets {
            #expect(!shown(network).contains(secret))
            #expect(!shown(network.client).contains(secret))
            #expect(!shown(XLoopback.credentials).contains(secret))
        }
    }

    @Test(arguments: [200, 302, 400, 401, 402, 403, 409, 429, 500])
    func noFailureShowsThem(status: Int) async throws {
        for secret in XLoopback.secrets {
            let headers = [
                ("x-transaction-id", secret), ("Retry-After", secret),
                ("x-rate-limit-reset", secret),
            ]
            for body in [
                #"{"detail":"Bearer \#(secret)"}"#, #"{"errors":[{"message":"\#(secret)"}]}"#,
                secret,
            ] {
                for operation in [
                    NetworkError.Operation.publish, .readMentions, .readPost, .verifyAccount,
                    .delete,
                ] {
                    let answer = Answer.json(body, status: status, headers: headers)
                    let error = try await XLoopback.failure(answer, operation)
                    #expect(!shown(error).contains(secret))
                }
            }
        }
    }
}
