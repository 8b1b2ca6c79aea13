import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Networks
@testable import X

@Suite struct XLoginTests {
    private static let token = "planted-request-token"
    private static let tokenSecret = "planted-request-secret"
    private static let consumerSecret = "planted-consumer-secret"

    private func login(_ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer) throws -> (
        LoopbackServer, XLogin
    ) {
        let server = try LoopbackServer { request, connection in
            let answer = answer(request)
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        return (
            server,
            try XLogin(
                consumerKey: "key", consumerSecret: Secret(Self.consumerSecret),
                apiBaseURL: server.url,
                client: client, now: { XLoopback.start })
        )
    }

    private static func usual(_ request: LoopbackServer.Request) -> Answer {
        request.path == "/oauth/request_token"
            ? Answer(
                body:
                    "oauth_token=\(token)%2B&oauth_token_secret=\(tokenSecret)&oauth_callback_confirmed=true"
            )
            : Answer(
                body: "oauth_token=42-t%3D&oauth_token_secret=ts&user_id=42&screen_name=mirror")
    }

    @Test(arguments: [true, false])
    func walksAPersonThrough(isForReadingOnly: Bool) async throws {
        let (server, login) = try login { Self.usual($0) }
        let request = try await login.begin(forReadingOnly: isForReadingOnly)
        #expect(
            request.authorizeURL == "\(server.url)/oauth/authorize?oauth_token=\(Self.token)%2B")
        let credentials = try await login.finish(request, pin: " 012 3456\n")
        #expect(credentials.consumerKey == "key")
        #expect(credentials.consumerSecret.reveal() == Self.consumerSecret)
        #expect(credentials.accessToken.reveal() == "42-t=")
        #expect(credentials.accessTokenSecret.reveal() == "ts")

        let requests = server.requests
        #expect(requests.map(\.method) == ["POST", "POST"])
        #expect(
            requests.map(\.target) == [
                "/oauth/request_token" + (isForReadingOnly ? "?x_auth_access_type=read" : ""),
                "/oauth/access_token",
            ])
        #expect(requests.map(\.body) == [[], []])
        let headers = requests.compactMap { $0.header("Authorization") }
        expect(headers.first) { $0?.contains(#"oauth_callback="oob""#) == true }
        expect(headers.first) { $0?.contains("oauth_token=") == false }
        expect(headers.last) { $0?.contains(#"oauth_verifier="0123456""#) == true }
        expect(headers.last) { $0?.contains(#"oauth_token="\#(Self.token)%2B""#) == true }
        #expect(XSignature.isRight(requests[0], at: server.url, secrets: (Self.consumerSecret, "")))
        #expect(
            XSignature.isRight(
                requests[1], at: server.url, secrets: (Self.consumerSecret, Self.tokenSecret)))
    }

    @Test(arguments: [
        "", "{}", "<html>", "oauth_token=a&oauth_token_secret=b",
        "oauth_token=a&oauth_callback_confirmed=true",
        "oauth_token=a&oauth_token_secret=b&oauth_callback_confirmed=false",
        "oauth_token=&oauth_token_secret=b&oauth_callback_confirmed=true",
        "oauth_token=%zz&oauth_token_secret=b",
    ])
    func anAnswerWithoutATokenIsMalformed(body: String) async throws {
        let (server, login) = try login { _ in Answer(body: body) }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await login.begin(forReadingOnly: true)
        }
        #expect(error.code == .malformedResponse)
        #expect(error.operation == .logIn)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: ["", "abc", "12-34", "１２３", String(repeating: "1", count: 33)])
    func whatIsNoPINIsNotSent(pin: String) async throws {
        let (server, login) = try login { Self.usual($0) }
        let request = try await login.begin(forReadingOnly: false)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await login.finish(request, pin: pin)
        }
        #expect(error.code == .rejected)
        #expect(error.outcome == .notSent)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        (Answer(status: 401, body: "Invalid consumer key."), NetworkError.Code.unauthorized),
        (
            Answer.json(
                #"{"errors":[{"code":415,"message":"Callback URL not approved"}]}"#, status: 403),
            .configuration
        ),
        (
            .json(#"{"errors":[{"code":32,"message":"Could not authenticate you"}]}"#, status: 401),
            .unauthorized
        ),
        (Answer(status: 503), .unavailable),
    ])
    func failuresAreTold(answer: Answer, code: NetworkError.Code) async throws {
        let (server, login) = try login { _ in answer }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await login.begin(forReadingOnly: false)
        }
        #expect(error.code == code)
        #expect(server.requests.count == 1)
        if code == .unauthorized {
            #expect(error.detail == "the consumer key or the consumer secret is wrong")
        }
        if code == .configuration {
            #expect(error.description.contains("set a callback address for the app"))
        }
    }

    /// A person may mend what was wrong and go on.
    @Test func aFailureDoesNotLock() async throws {
        let counter = Counter()
        let (server, login) = try login { request in
            switch counter.next() {
            case 1:
                .json(
                    #"{"errors":[{"code":415,"message":"Callback URL not approved"}]}"#, status: 403
                )
            case 3:
                Answer(
                    status: 401,
                    body: "Error processing your OAuth request: Invalid oauth_verifier parameter")
            default: Self.usual(request)
            }
        }
        await #expect(throws: NetworkError.self) {
            _ = try await login.begin(forReadingOnly: false)
        }
        let request = try await login.begin(forReadingOnly: false)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await login.finish(request, pin: "1")
        }
        #expect(error.code == .unauthorized)
        #expect(error.detail == "the PIN is wrong or too old; begin again")
        try await expect(login.finish(request, pin: "2").accessToken.reveal(), equals: "42-t=")
        #expect(server.requests.count == 4)
    }

    @Test func nothingShowsASecret() async throws {
        let (server, login) = try login { Self.usual($0) }
        let request = try await login.begin(forReadingOnly: true)
        let credentials = try await login.finish(request, pin: "1")
        var shown = "\(login) \(request) \(credentials)"
        dump(login, to: &shown)
        dump(request.tokenSecret, to: &shown)
        dump(credentials, to: &shown)
        #expect(!shown.contains(Self.tokenSecret))
        #expect(!shown.contains(Self.consumerSecret))
        #expect(!shown.contains("42-t="))
        #expect(server.requests.count == 2)
    }
}
