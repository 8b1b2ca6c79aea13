import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
@testable import Networks

/// Whom posts are for on programs that say so in more than one field, and posts that are known by
/// their identity alone.
@Suite struct MastodonAudienceTests {
    private static func list(_ statuses: [String]) -> @Sendable (LoopbackServer.Request) -> Answer?
    {
        { request in
            guard request.path == "/api/v1/accounts/1/statuses" else { return nil }
            return .json(request.query["max_id"] == nil ? Wire.list(statuses) : "[]")
        }
    }

    @Test(
        arguments: [
            ("local_only", "true", Visibility.local), ("local_only", "false", .public),
            ("local_only", #""1""#, .local), ("local_only", "null", .public),
            ("local_only", "{}", .local),
            ("federated", "false", .local), ("visibility_ex", #""login""#, .private),
            ("visibility_ex", #""public_unlisted""#, .unlisted),
            ("visibility_ex", #""mutual""#, .direct),
            ("limited_scope", #""circle""#, .direct), ("circle_id", "7", .direct),
            ("visibility", #""local""#, .local), ("visibility", #""list""#, .direct),
            ("visibility", "", .direct),
            ("pleroma", #"{"local":true}"#, .public), ("searchability", #""direct""#, .public),
        ])
    func aFurtherFieldNarrows(name: String, value: String, expected: Visibility) async throws {
        let statuses = [Wire.status("302"), Wire.status("301", [name: value])]
        let loopback = try Loopback(answer: Self.list(statuses))
        let items = try await loopback.network.page(.ownPosts, .newest).items
        #expect(items.map(\.post.visibility) == [.public, expected])
        #expect(items.map(\.post.isOpen) == [true, expected.isOpen])
    }

    @Test(
        arguments: [
            ("expires_at", #""2026-12-01T00:00:00.000Z""#, true), ("expires_at", "null", false),
            ("pleroma", #"{"expires_at":"2026-12-01T00:00:00Z","local":true}"#, true),
            ("pleroma", #"{"expires_at":null}"#, false),
            ("poll", #"{"expires_at":"2026-12-01T00:00:00Z"}"#, false),
        ])
    func aPostWithAnEndIsNotOpen(name: String, value: String, isTimeLimited: Bool) async throws {
        let loopback = try Loopback(answer: Self.list([Wire.status("301", [name: value])]))
        let post = try #require(
            try await loopback.network.page(.ownPosts, .newest).items.first?.post)
        #expect(post.isTimeLimited == isTimeLimited)
        #expect(post.isOpen == !isTimeLimited)
    }

    @Test func anEyeAtTheEndKeepsAPostAtItsServer() async throws {
        let status = Wire.status("301", ["content": #""<p>at nine 👁️</p>""#])
        let loopback = try Loopback(answer: Self.list([status]))
        let items = try await loopback.network.page(.ownPosts, .newest).items
        #expect(items.map(\.post.visibility) == [.local])
    }

    /// Own posts are not read where a program shows those for few as public, unless somebody says
    /// that there are none.
    @Test(
        arguments: [
            ("takahe/0.11.0", true), ("3.0.0 (compatible; Sharkey 2025.4.2)", true),
            ("4.2.1 (compatible; Firefish 1.0.5)", true),
            ("2.7.2 (compatible; Akkoma 3.13.2)", false),
        ])
    func ownPostsAreNotReadWhereTheAudienceIsNotTold(version: String, isRefused: Bool) async throws
    {
        let answers = try MastodonServers.loopback(
            #"{"uri":"home.example","domain":"home.example","version":"\#(version)"}"#,
            Self.list([Wire.status("7")]))
        let network = try MastodonNetwork(
            server: answers.server.url,
            credentials: MastodonCredentials(accessToken: Secret(Loopback.token)),
            sessions: nil, trustsVisibility: false,
            client: HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")),
            now: { Loopback.start })
        guard isRefused else {
            return try await expect(
                network.page(.ownPosts, .newest).items.map(\.address), equals: ["7"])
        }
        let error = try await #require(throws: NetworkError.self) {
            try await network.page(.ownPosts, .newest)
        }
        #expect(error.code == .configuration)
        expect(error.description) { $0.contains("TRUST_HUMAN_SERVER") }
    }

    // MARK: By identity

    private static func identity(_ number: String, at host: String = "home.example") -> PostID {
        PostID(network: .mastodon, value: "https://\(host)/users/ann/statuses/\(number)")
    }

    /// The number at the end of a note is what Mastodon calls the post.
    @Test func aPostIsFoundByTheNumberInItsIdentity() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/statuses/52" ? .json(Wire.status("52")) : nil
        }
        let found = try await loopback.network.lookUp(identity: Self.identity("52"))
        #expect(found?.address == "52")
        #expect(found?.post.id == Self.identity("52"))
        expect(loopback.requests.map(\.path)) { !$0.contains("/api/v2/search") }
        // A port is no part of a host's name.
        try await expect(
            loopback.network.lookUp(identity: Self.identity("53", at: "home.example:8443")),
            equals: nil)
    }

    @Test func aPostThatIsGoneIsDenied() async throws {
        let loopback = try Loopback { _ in nil }
        try await expect(loopback.network.lookUp(identity: Self.identity("53")), equals: nil)
    }

    private static let uuid = PostID(network: .mastodon, value: "https://far.example/objects/5f1c")

    /// What no number tells is searched for; what a search does not find may still be there.
    @Test(
        arguments: [
            (Answer.json(#"{"statuses":[STATUS]}"#), "9"), (.json(#"{"statuses":[]}"#), nil),
            (.notFound, nil),
            (.json(#"{"error":"This action is outside the authorized scopes"}"#, status: 403), nil),
        ] as [(Answer, String?)])
    func otherPostsAreSearchedFor(answer: Answer, address: String?) async throws {
        var answer = answer
        answer.body = answer.body.replacing(
            "STATUS", with: Wire.status("9", ["uri": "\"\(Self.uuid.value)\""]))
        let loopback = try Loopback { [answer] in $0.path == "/api/v2/search" ? answer : nil }
        if let address {
            try await expect(loopback.network.lookUp(identity: Self.uuid)?.address, equals: address)
            #expect(loopback.requests.last?.query["q"] == Self.uuid.value)
            #expect(loopback.requests.last?.query["resolve"] == "true")
        } else {
            let error = try await #require(throws: NetworkError.self) {
                try await loopback.network.lookUp(identity: Self.uuid)
            }
            #expect(error.code == .capability)
        }
    }

    /// A number that is another post's there tells nothing.
    @Test func anotherPostUnderTheSameNumberIsNotTakenForIt() async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/statuses/52"
                ? .json(
                    Wire.status("52", ["uri": #""https://home.example/users/bob/statuses/52""#]))
                : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.lookUp(identity: Self.identity("52"))
        }
        #expect(error.code == .capability)
    }

    /// A server that is out of order is asked again, and denies nothing.
    @Test(arguments: [500, 429, 503]) func aServerInTroubleTellsNothing(status: Int) async throws {
        let loopback = try Loopback { $0.path == "/api/v2/search" ? Answer(status: status) : nil }
        let error = try await #require(throws: NetworkError.self) {
            try await loopback.network.lookUp(identity: Self.uuid)
        }
        #expect(error.code != .capability)
    }
}
