import Expectations
import Foundation
import Testing

@testable import Mastodon
@testable import Networks

/// What servers of the Mastodon family say to those who use them.
@Suite struct ServerStatementTests {
    private static let instance =
        #"{"description":"A &amp; B","rules":[{"id":"1","text":"Old rule."}]}"#
    private static let rules =
        #"[{"id":"1","text":"Be kind.","hint":"To all."},null,{"id":2},{"text":"No spam."}]"#

    @Test func rulesDescriptionAndAboutPageAreRead() async throws {
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v2/instance": .json(Self.instance)
            case "/api/v1/instance/rules": .json(Self.rules)
            case "/api/v1/instance/extended_description":
                .json(#"{"content":"<p>Ask <b>us</b>.</p><p>Bye.</p>"}"#)
            default: nil
            }
        }
        let statements = try await loopback.network.serverStatements()
        expect(statements, equals: ["Be kind.\nTo all.", "No spam.", "A & B", "Ask us.\n\nBye."])
    }

    /// Programs that have no such pages, or answer with something else.
    @Test(arguments: [
        Answer.notFound, Answer(status: 200, body: "<html>"), .json("{}", status: 403),
    ])
    func aServerWithoutThemSaysWhatItsDescriptionSays(answer: Answer) async throws {
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v2/instance": answer
            case "/api/v1/instance": .json(Self.instance)
            case "/api/v1/instance/rules", "/api/v1/instance/extended_description": answer
            default: nil
            }
        }
        try await expect(loopback.network.serverStatements(), equals: ["Old rule.", "A & B"])
    }

    @Test func aServerOutOfOrderIsAnError() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/instance/rules"
                ? .json("{}", status: 503) : .json(Self.instance)
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.serverStatements()
        }
        #expect(error.operation == .readRules)
        #expect("\(error)".contains("could not read the server's rules"))
    }
}
