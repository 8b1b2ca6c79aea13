import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Bluesky
@testable import Mastodon
@testable import Networks
@testable import X

/// The state of an account, which only an answer that names it clearly tells.
@Suite struct AccountStandingTests {
    private static let ann = AccountID(network: .mastodon, value: "ann@home.example")

    // MARK: Mastodon

    private func standing(_ answer: Answer, own: Answer? = nil) async throws -> AccountStanding? {
        let loopback = try Loopback { request in
            switch request.path {
            case "/api/v1/accounts/lookup":
                request.header("Authorization") == nil ? answer : .json("{}", status: 500)
            case "/api/v1/accounts/verify_credentials": own
            default: nil
            }
        }
        return try await loopback.network.standing(of: Self.ann)
    }

    private static let refused = Answer.json(
        #"{"error":"The access token is invalid"}"#, status: 401)

    private static func account(_ more: String = "", name: String = "ann") -> Answer {
        .json(#"{"id":"7","acct":"\#(name)","username":"\#(name)"\#(more)}"#)
    }

    @Test(
        arguments: [
            (account(), .active),
            (account(#","memorial":false,"suspended":false,"moved":null"#), .active),
            (account(#","memorial":true"#), .memorial),
            (account(#","suspended":true,"memorial":true"#), .suspended),
            (
                account(#","moved":{"id":"9","acct":"ann@new.example"}"#),
                .moved(to: "ann@new.example")
            ),
            (account(#","moved":{"id":"9","acct":"anna"}"#), .moved(to: "anna@home.example")),
            (.notFound, .deleted), (.json(#"{"error":"Gone"}"#, status: 410), .deleted),
        ] as [(Answer, AccountStanding)])
    func mastodonNamesIt(_ answer: Answer, _ expected: AccountStanding) async throws {
        try await expect(standing(answer, own: Self.refused), equals: expected)
    }

    /// A program without such a question calls its address missing.
    @Test func whoeverIsLoggedInIsNotDeleted() async throws {
        try await expect(standing(.notFound, own: Self.account()), equals: .active)
        await #expect(throws: NetworkError.self) {
            try await standing(.notFound, own: .json("{}", status: 503))
        }
    }

    @Test(arguments: [
        account(#","memorial":true"#, name: "ben"), .json(#"{"error":"Not Found"}"#, status: 404),
        .json(#"{"error":"This account is not for you"}"#, status: 422),
    ])
    func inDoubtMastodonNamesNothing(_ answer: Answer) async throws {
        try await expect(standing(answer), equals: nil)
    }

    /// What stands before a server says nothing of accounts.
    @Test(arguments: [
        Answer(status: 404, body: "<html>"), Answer(status: 410), .json("{}", status: 503),
        .json(#"{"error":"Too many requests"}"#, status: 429),
    ])
    func aProxyIsNotBelieved(_ answer: Answer) async throws {
        await #expect(throws: NetworkError.self) { try await standing(answer) }
    }

    /// Some programs let nobody look an account up, but tell its owner.
    @Test func whoAnswersNobodyIsAskedAsTheOwner() async throws {
        let closed = Answer.json(
            #"{"error":"This method requires an authenticated user"}"#, status: 401)
        let moved = Self.account(#","moved":{"id":"9","acct":"ann@new.example"}"#)
        try await expect(standing(closed, own: moved), equals: .moved(to: "ann@new.example"))
        let disabled = Answer.json(#"{"error":"Your login is currently disabled"}"#, status: 403)
        try await expect(standing(closed, own: disabled), equals: nil)
    }

    // MARK: Bluesky

    private func blueskyStanding(_ answer: Answer) async throws -> AccountStanding? {
        let loopback = try BlueskyLoopback { request in
            request.method("com.atproto.sync.getRepoStatus") ? answer : nil
        }
        return try await loopback.network.standing(
            of: AccountID(network: .bluesky, value: BlueskyLoopback.did))
    }

    private static func status(_ more: String, of did: String = BlueskyLoopback.did) -> Answer {
        .json(#"{"did":"\#(did)",\#(more)}"#)
    }

    @Test(
        arguments: [
            (status(#""active":true"#), .active),
            (status(#""active":false,"status":"takendown""#), .suspended),
            (status(#""active":false,"status":"suspended""#), .suspended),
            (status(#""active":false,"status":"deactivated""#), .deactivated),
            (status(#""active":false,"status":"deleted""#), .deleted),
            (Answer.xrpc("RepoTakendown"), .suspended),
            (Answer.xrpc("AccountTakedown"), .suspended),
            (Answer.xrpc("AccountDeactivated"), .deactivated),
            (Answer.xrpc("RepoNotFound"), .deleted),
        ] as [(Answer, AccountStanding)])
    func blueskyNamesIt(_ answer: Answer, _ expected: AccountStanding) async throws {
        try await expect(blueskyStanding(answer), equals: expected)
    }

    @Test(arguments: [
        status(#""active":true"#, of: "did:plc:otherotherotherotherothe"),
        status(#""active":false,"status":"desynchronized""#), Answer.xrpc("InvalidRequest"),
        Answer.xrpc("MethodNotImplemented", status: 501),
    ])
    func inDoubtBlueskyNamesNothing(_ answer: Answer) async throws {
        try await expect(blueskyStanding(answer), equals: nil)
    }

    // MARK: X

    private static let missing =
        #""type":"https://api.x.com/2/problems/resource-not-found","resource_type":"user""#

    /// X is asked nothing for it: what other answers name is remembered.
    @Test(
        arguments: [
            (
                #"{"title":"Forbidden","code":64,"detail":"Your account is suspended","status":403}"#,
                403, .suspended
            ),
            (
                #"{\#(missing),"resource_id":"42","detail":"User has been suspended: [ann]."}"#,
                404, .suspended
            ),
            (
                #"{\#(missing),"resource_id":"42","detail":"Could not find user with id: [42]."}"#,
                404, .deleted
            ),
            (
                #"{\#(missing),"resource_id":"43","detail":"Could not find user with id: [43]."}"#,
                404, .active
            ),
            (#"{"title":"Forbidden","detail":"Not for you","status":403}"#, 403, .active),
        ] as [(String, Int, AccountStanding)])
    func xNamesItInOtherAnswers(_ body: String, _ status: Int, _ expected: AccountStanding)
        async throws
    {
        let loopback = try XLoopback { request in
            request.path.hasPrefix("/2/users/42/tweets") ? .json(body, status: status) : nil
        }
        let ann = AccountID(network: .x, value: "42")
        try await expect(loopback.network.standing(of: ann), equals: nil)
        await #expect(throws: NetworkError.self) {
            try await loopback.network.page(.ownPosts, .newest)
        }
        let asked = loopback.server.requests.count
        try await expect(loopback.network.standing(of: ann), equals: expected)
        #expect(loopback.server.requests.count == asked)
    }

    @Test func anotherNetworksAccountIsNotLookedFor() async throws {
        let loopback = try Loopback { _ in nil }
        let other = AccountID(network: .x, value: "42")
        try await expect(loopback.network.standing(of: other), equals: nil)
        #expect(loopback.server.requests.isEmpty)
    }
}
