import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Networks
@testable import X

@Suite struct XAccountTests {
    @Test func readsTheAccount() async throws {
        let entities =
            #"{"url":{"urls":[]},"description":{"urls":[{"url":"https://t.co/b","expanded_url":"https://e.org/bot"}]}}"#
        let user = XWire.user(
            "42", "Mirror_1",
            ["description": #""I &amp; a bot, see https://t.co/b #nobot""#, "entities": entities])
        let loopback = try XLoopback { _ in
            .json(XWire.answer(user), headers: [("x-access-level", "read-write")])
        }
        let account = try await loopback.network.verifyAccount()
        #expect(
            account
                == Account(
                    id: AccountID(network: .x, value: "42"), handle: "Mirror_1",
                    displayName: "Name of Mirror_1",
                    isBot: false, bio: "I & a bot, see https://e.org/bot #nobot", address: "42"))
        let request = try #require(loopback.server.requests.first)
        #expect(
            request.target
                == "/2/users/me?user.fields=description%2Centities%2Cname%2Cprotected%2Cusername")
        #expect(request.method == "GET")
        #expect(loopback.network.canWrite == true)
    }

    @Test(arguments: [
        ("read", false), ("read-write", true), ("read-write-directmessages", true), ("READ", false),
    ])
    func tellsWhetherTheTokenCanWrite(level: String, canWrite: Bool) async throws {
        let loopback = try XLoopback { _ in
            .json(XWire.answer(XWire.user("42", "m")), headers: [("x-access-level", level)])
        }
        #expect(loopback.network.canWrite == nil)
        _ = try await loopback.network.verifyAccount()
        #expect(loopback.network.canWrite == canWrite)
    }

    @Test(arguments: [
        "{}", #"{"data":{}}"#, #"{"data":{"id":"x","username":"a"}}"#,
        #"{"data":{"id":"1","username":"a b"}}"#,
        #"{"data":{"id":"1"}}"#, "<html>", "[]", #"{"data":[]}"#,
    ])
    func anAnswerWithoutAnAccountIsMalformed(body: String) async throws {
        let loopback = try XLoopback { _ in .json(body) }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.verifyAccount()
        }
        #expect(error.code == .malformedResponse)
        #expect(error.operation == .verifyAccount)
    }

    @Test func theAccountIsAskedForOnce() async throws {
        let loopback = try XLoopback {
            $0.path.hasPrefix("/2/users/42/") ? .json(XWire.list([])) : nil
        }
        _ = try await loopback.network.page(.mentions, .newest)
        _ = try await loopback.network.page(.ownPosts, .newest)
        #expect(
            loopback.server.requests.map(\.path) == [
                "/2/users/me", "/2/users/42/mentions", "/2/users/42/tweets",
            ])
    }

    @Test func saysWhatXAllows() async throws {
        let network = try XLoopback(options: XOptions()) { _ in nil }.network
        let capabilities = network.capabilities
        #expect(network.name == .x)
        #expect(!capabilities.canPublish)
        #expect(!capabilities.canFavorite)
        #expect(capabilities.automaticFavorites == .nobody)
        #expect(capabilities.replies == .summoned)
        #expect(!capabilities.replyNeedsMention)
        #expect(capabilities.resendWindow == nil)
        #expect(!capabilities.supportsIdempotencyKey)
        #expect(capabilities.visibilities == [.public, .unlisted])
        try await expect(network.limits(), equals: .x)
        try expect(XLoopback { _ in nil }.network.capabilities) { $0.canPublish }
    }

    @Test(arguments: ["ftp://x.example", "https://user@x.example", "https://x.example/path", ""])
    func otherHostsMustBeAddresses(address: String) throws {
        let client = HTTPClient(
            configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests"))
        let error = try #require(throws: NetworkError.self) {
            _ = try XNetwork(
                credentials: XLoopback.credentials, options: XOptions(apiBaseURL: address),
                book: MemoryBook(),
                client: client, now: { XLoopback.start })
        }
        #expect(error.code == .configuration)
        #expect(error.network == .x)
    }

    /// A key that was copied with its line break is named, before X says that some signature is
    /// wrong.
    @Test(arguments: ["", "a b", "key\n", "é"])
    func keysThatCannotBeRightAreNotSent(key: String) async throws {
        let good = XLoopback.credentials
        let bad = [
            (
                "consumer key",
                XCredentials(
                    consumerKey: key, consumerSecret: good.consumerSecret,
                    accessToken: good.accessToken,
                    accessTokenSecret: good.accessTokenSecret)
            ),
            (
                "consumer secret",
                XCredentials(
                    consumerKey: good.consumerKey, consumerSecret: Secret(key),
                    accessToken: good.accessToken,
                    accessTokenSecret: good.accessTokenSecret)
            ),
            (
                "access token",
                XCredentials(
                    consumerKey: good.consumerKey, consumerSecret: good.consumerSecret,
                    accessToken: Secret(key),
                    accessTokenSecret: good.accessTokenSecret)
            ),
            (
                "access token secret",
                XCredentials(
                    consumerKey: good.consumerKey, consumerSecret: good.consumerSecret,
                    accessToken: good.accessToken,
                    accessTokenSecret: Secret(key))
            ),
        ]
        for (name, credentials) in bad {
            let loopback = try XLoopback(credentials: credentials) { _ in nil }
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.verifyAccount()
            }
            #expect(error.code == .unauthorized)
            #expect(error.outcome == .notSent)
            expect(error.detail) { $0?.contains("the \(name) ") == true }
            #expect(loopback.server.requests.isEmpty)
            #expect(loopback.book.spent == .zero)
        }
    }
}
