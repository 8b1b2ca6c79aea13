import Expectations
import Foundation
import Posts
import TestSupport
import Testing
import Transport

@testable import Mastodon
@testable import Networks

/// Friendica, WordPress, Takahe and snac as they were seen in November 2026: whom a post answers
/// and names, what is gone, and what the answer to a change is worth.
@Suite struct MastodonFamilyTests {
    private static let friendica =
        #"{"uri":"https://f.example","version":"2.8.0 (compatible; Friendica 2024.09-rc)"}"#
    private static let wordpress =
        #"{"uri":"https://w.example","version":"WordPress/6.1.9, EMA/1.6.1"}"#
    private static let page = Answer(
        status: 404, headers: [("Content-Type", "text/html")],
        body: "<!DOCTYPE html><title>Not found</title>")

    private func loopback(
        _ instance: String = friendica,
        _ answer: @escaping @Sendable (LoopbackServer.Request) -> Answer?
    ) throws -> Loopback {
        try MastodonServers.loopback(instance, version: "v1", answer)
    }

    private func wire(_ id: String, by account: String, _ fields: [String: String] = [:]) -> String
    {
        Wire.status(id, ["account": account].merging(fields) { $1 })
    }

    private static let own = Wire.account("1", acct: "bot")
    private static let root = Wire.account("7", acct: "ann@far.example")
    private static let other = Wire.account("8", acct: "ben@far.example")

    // MARK: What is still shown

    /// Friendica and WordPress show a deleted post to who asks for it without a login; others are
    /// not asked.
    @Test(arguments: [(friendica, true), (wordpress, true), (MastodonServers.snac, false)])
    func aDeletedPostMayStillBeShown(instance: String, isAsked: Bool) async throws {
        let loopback = try loopback(instance) { request in
            guard request.path == "/api/v1/statuses/5" else { return nil }
            return request.header("Authorization") == nil
                ? .json(wire("5", by: Self.own)) : Self.page
        }
        try await expect(loopback.network.showsDeleted("5"), equals: isAsked)
        let other = try self.loopback(instance) {
            $0.path == "/api/v1/statuses/5" ? Self.page : nil
        }
        try await expect(other.network.showsDeleted("5"), equals: false)
    }

    // MARK: Whom a post answers

    /// The number is that of the author of the thread's first post, who is named as well.
    @Test(
        arguments: [
            (#"{"id":"5","account":\#(other)}"#, "ben@far.example"),
            // The embedded post is another one than the post says.
            (#"{"id":"6","account":\#(other)}"#, nil), ("null", nil),
        ] as [(String, String?)])
    func theAnsweredPostTellsWhoWroteIt(answered: String, author: String?) async throws {
        let status = wire(
            "9", by: Self.own,
            [
                "in_reply_to_id": #""5""#, "in_reply_to_account_id": #""7""#,
                "in_reply_to_status": answered,
                "mentions":
                    #"[{"id":"7","acct":"ann@far.example","url":"https://far.example/ann"}]"#,
            ])
        let loopback = try loopback { request in
            switch request.path {
            case "/api/v1/accounts/1/statuses": .json(Wire.list([status]))
            case "/api/v1/statuses/5": Self.page
            default: nil
            }
        }
        let post = try #require(
            try await loopback.network.page(.ownPosts, .newest).items.first?.post)
        #expect(post.isReply)
        #expect(post.replyTo?.author?.value == author)
        // Who is not in the text is not named.
        #expect(post.mentions.isEmpty)
    }

    /// What is on the page is not asked for; the rest is, once and by its id.
    @Test func aParentThatNothingTellsIsReadOnPageOrAskedFor() async throws {
        let statuses = [
            wire(
                "9", by: Self.own, ["in_reply_to_id": #""8""#, "in_reply_to_account_id": #""7""#]),
            wire(
                "8", by: Self.own, ["in_reply_to_id": #""5""#, "in_reply_to_account_id": #""7""#]),
        ]
        let answered = wire("5", by: Self.other)
        let loopback = try loopback { request in
            switch request.path {
            case "/api/v1/accounts/1/statuses": .json(Wire.list(statuses))
            case "/api/v1/statuses/5": .json(answered)
            default: nil
            }
        }
        for _ in 0..<2 {
            let items = try await loopback.network.page(.ownPosts, .newest).items
            #expect(
                items.map { $0.post.replyTo?.author?.value } == [
                    "bot@f.example", "ben@far.example",
                ])
        }
        #expect(loopback.requests.count { $0.path == "/api/v1/statuses/5" } == 1)
        #expect(loopback.network.capabilities.replies == .summoned)
    }

    @Test func onMastodonTheNumberIsEnough() async throws {
        let status = wire(
            "9", by: Self.own,
            [
                "in_reply_to_id": #""5""#, "in_reply_to_account_id": #""8""#,
                "mentions": #"[{"id":"8","acct":"ben@far.example"}]"#,
            ])
        let loopback = try Loopback {
            $0.path.hasSuffix("/accounts/1/statuses") ? .json(Wire.list([status])) : nil
        }
        let post = try #require(
            try await loopback.network.page(.ownPosts, .newest).items.first?.post)
        #expect(post.replyTo?.author?.value == "ben@far.example")
        #expect(loopback.requests.map(\.path) == ["/api/v1/accounts/1/statuses"])
        #expect(loopback.network.capabilities.replies == .anyone)
    }

    /// snac counts the people of a post, and gives each twice.
    @Test func numbersThatAreNoIDsNameNobodyElse() async throws {
        let status = wire(
            "9", by: Self.root,
            [
                "content": #""<p>hello <a href=\"https://home.example/@bot\">@bot</a></p>""#,
                "mentions": #"""
                [{"id":"0","acct":"bot@home.example","url":"https://home.example/@bot"},
                {"id":"0","acct":"bot@home.example","url":"https://home.example/@bot"},
                {"id":"1","acct":"ben@far.example","url":"https://far.example/ben"}]
                """#,
            ])
        let loopback = try loopback(MastodonServers.snac) { request in
            request.path == "/api/v1/notifications"
                ? .json(Wire.list([Wire.notification("3", status: status)])) : nil
        }
        let post = try #require(
            try await loopback.network.page(.mentions, .newest).items.first?.post)
        #expect(post.mentions.map(\.value) == ["bot@home.example"])
    }

    /// snac leaves the account that asks out of the list; the text tells.
    @Test(
        arguments: [
            (#"<a href=\"https://home.example/@bot\">@bot</a> hello"#, true),
            ("hello @Bot@snac.example.", true),
            (#"<a href=\"https://home.example/@bot2\">@bot</a> hello"#, false),
            ("hello @bot@snac.example.org", false), ("hello @bot@snac.example2", false),
            ("hello @bot", false),
            (#"<a href=\"https://home.example/@bot/7\">a post</a>"#, false),
        ])
    func whoIsNotListedIsNamedByTheText(content: String, isNamed: Bool) async throws {
        let status = wire("9", by: Self.root, ["content": "\"\(content)\"", "mentions": "[]"])
        let loopback = try loopback(MastodonServers.snac) { request in
            request.path == "/api/v1/notifications"
                ? .json(Wire.list([Wire.notification("3", status: status)])) : nil
        }
        let own = try await loopback.network.verifyAccount()
        let post = try #require(
            try await loopback.network.page(.mentions, .newest).items.first?.post)
        #expect(post.mentions == (isNamed ? [own.id] : []))
    }

    // MARK: What is gone

    /// Nobody's private posts are read from a program that calls them public, unless somebody says
    /// that there are none.
    @Test(arguments: [false, true]) func ownPostsAreNotReadWhereVisibilityIsLost(isTrusted: Bool)
        async throws
    {
        let answers = try loopback(Self.wordpress) { request in
            request.path.hasSuffix("/statuses") ? .json(Wire.list([Wire.status("7")])) : nil
        }
        let network = try MastodonNetwork(
            server: answers.server.url,
            credentials: MastodonCredentials(accessToken: Secret(Loopback.token)),
            sessions: nil, trustsVisibility: isTrusted,
            client: HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")),
            now: { Loopback.start })
        if isTrusted {
            try await expect(network.page(.ownPosts, .newest).items.map(\.address), equals: ["7"])
        } else {
            let error = try await #require(throws: NetworkError.self) {
                try await network.page(.ownPosts, .newest)
            }
            #expect(error.code == .configuration)
            expect(error.description) { $0.contains("TRUST_HUMAN_SERVER") }
        }
    }

    /// The control is a public post of somebody else, which the server shows without a login or
    /// not.
    @Test(
        arguments: [
            (200, nil, true), (404, 200, false), (401, 200, false), (403, 404, nil),
            (404, 404, nil), (404, nil, nil),
        ] as [(Int, Int?, Bool?)])
    func aPostIsAskedForWithoutALogin(status: Int, control: Int?, expected: Bool?) async throws {
        let answers = try loopback(#"{"uri":"https://f.example","version": "4.3.0"}"#) { request in
            if request.path == "/api/v1/timelines/home", control != nil {
                return .json(Wire.list([self.wire("8", by: Self.other)]))
            }
            guard request.header("Authorization") == nil else { return nil }
            func answer(_ id: String, _ status: Int) -> Answer {
                status == 200 ? .json(Wire.status(id)) : .json(#"{"error":"no"}"#, status: status)
            }
            return switch request.path {
            case "/api/v1/statuses/7": answer("7", status)
            case "/api/v1/statuses/8": control.map { answer("8", $0) }
            default: nil
            }
        }
        try await expect(answers.network.isShownToAnybody("7"), equals: expected)
    }

    /// What stands before a server answers with such a page as well: the account tells the two
    /// apart.
    @Test(arguments: [true, false]) func aPageSaysThatAPostIsGoneIfTheAccountAnswers(isThere: Bool)
        async throws
    {
        let loopback = try loopback(MastodonServers.takahe) { request in
            switch request.path {
            case "/api/v1/statuses/5": Self.page
            case "/api/v1/accounts/verify_credentials": isThere ? nil : Answer(status: 503)
            default: nil
            }
        }
        if isThere {
            try await expect(loopback.network.lookUp("5")?.address, equals: nil)
            try await expect(loopback.network.isFavorited("5"), equals: nil)
            try await expect(loopback.network.delete("5"), equals: .gone)
        } else {
            let error = try await #require(throws: NetworkError.self) {
                _ = try await loopback.network.lookUp("5")
            }
            #expect(!error.isPermanent)
        }
    }

    /// Friendica and WordPress go on showing a post that was deleted, and leave it out of the list.
    @Test(arguments: [friendica, wordpress], [["9", "5", "3"], ["9", "3"], []])
    func theListTellsWhatWasDeleted(instance: String, listed: [String]) async throws {
        let shown = wire("5", by: Self.own)
        let loopback = try loopback(instance) { request in
            switch request.path {
            case "/api/v1/statuses/5" where request.method == "DELETE":
                .json(#"{"error":"Record not found"}"#, status: 403)
            case "/api/v1/statuses/5": .json(shown)
            case "/api/v1/accounts/1/statuses":
                .json(
                    Wire.list(
                        listed.filter { Int($0) ?? 0 <= 5 }.map { self.wire($0, by: Self.own) }))
            default: nil
            }
        }
        _ = try await loopback.network.verifyAccount()
        let isThere = listed.contains("5")
        try await expect(loopback.network.lookUp("5")?.address, equals: isThere ? "5" : nil)
        guard !isThere else { return }
        try await expect(loopback.network.delete("5"), equals: .gone)
        // A list that is wrong must not keep anything online.
        #expect(loopback.requests.contains { $0.method == "DELETE" })
    }

    // MARK: What the answer to a change is worth

    /// WordPress calls a comment by the id of what it comments on: nothing may go by that name.
    @Test func anAnswerWithTheParentsIDIsNotBelieved() async throws {
        let answered = wire("4", by: Self.root)
        let loopback = try loopback(Self.wordpress) { request in
            if request.method == "POST" {
                return .json(self.wire("4", by: Self.own, ["in_reply_to_id": #""4""#]))
            }
            return request.path == "/api/v1/statuses/4" ? .json(answered) : nil
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(MastodonServers.draft(replyTo: "4"))
        }
        #expect(error.outcome == .unknown)
        #expect(error.code == .malformedResponse)
    }

    @Test func anAnswerWithSomebodyElsesPostIsNotBelieved() async throws {
        let loopback = try loopback(Self.friendica) { request in
            request.method == "POST" ? .json(self.wire("4", by: Self.other)) : nil
        }
        _ = try await loopback.network.verifyAccount()
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(MastodonServers.draft())
        }
        #expect(error.outcome == .unknown)
    }

    @Test(arguments: [
        ("1", true, Removal?.some(.removed)), ("1", false, nil), ("8", true, nil),
    ]) func onlyWhatShowsOurTextIsDeleted(author: String, isOurs: Bool, expected: Removal?)
        async throws
    {
        let shown = wire("5", by: author == "1" ? Self.own : Self.other)
        let loopback = try loopback { request in
            guard request.path == "/api/v1/statuses/5" else { return nil }
            return .json(request.method == "DELETE" ? "{}" : shown)
        }
        let removal = try? await loopback.network.delete("5") { _ in isOurs }
        #expect(removal == expected)
        #expect(loopback.requests.contains { $0.method == "DELETE" } == (expected != nil))
    }

    // MARK: Profiles and words

    @Test func aProfileWithoutItsOwnersWordsIsNotChanged() async throws {
        let loopback = try loopback { _ in nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.profile()
        }
        #expect(error.code == .capability)
        #expect(error.description.contains("by hand"))
    }

    /// Half an emoji must not hide what it stands in.
    @Test(
        arguments: [
            (#""a \ud83d b""#, "a \u{FFFD} b"), (#""a \ude00 b""#, "a \u{FFFD} b"),
            (#""a \ud83d\ude00 b""#, "a 😀 b"),
            (#""a \\ud83d b""#, #"a \ud83d b"#), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
            (#""\ud8""#, nil),
        ] as [(String, String?)])
    func halfASurrogatePairIsReplaced(content: String, text: String?) async throws {
        let loopback = try Loopback { request in
            request.path == "/api/v1/timelines/home"
                ? .json(Wire.list([Wire.status("5", ["content": content])])) : nil
        }
        let page = try? await loopback.network.page(.home, .newest)
        #expect(page?.items.first?.post.text == text)
    }

    // MARK: Logging in

    @Test(
        arguments: [
            (MastodonServers.takahe, nil, true), (MastodonServers.pleroma, nil, false),
            (friendica, nil, true),
            (MastodonServers.takahe, #"{"scopes_supported":["read","write","follow"]}"#, true),
            (
                MastodonServers.takahe,
                #"{"scopes_supported":["read","read:accounts","write:statuses"]}"#, false
            ),
        ] as [(String, String?, Bool)])
    func coarseScopesAreAskedForWhereOthersAreGoodForNothing(
        instance: String, metadata: String?, isCoarse: Bool
    ) async throws {
        let server = try LoopbackServer { request, connection in
            let answer: Answer =
                switch request.path {
                case "/.well-known/oauth-authorization-server":
                    metadata.map { .json($0) } ?? Self.page
                case "/api/v2/instance", "/api/v1/instance": .json(instance)
                case "/api/v1/apps": .json(#"{"client_id":"id","client_secret":"planted-secret"}"#)
                default: .notFound
                }
            try connection.respond(
                status: answer.status, headers: answer.headers, body: Array(answer.body.utf8))
        }
        let login = try MastodonLogin(
            server: "https://home.example", apiBaseURL: server.url,
            client: HTTPClient(
                configuration: HTTPClientConfiguration(userAgent: "mirror-bot-tests")),
            now: { Loopback.start })
        for role in MastodonLogin.Role.allCases {
            let request = try await login.register(for: role)
            #expect(request.scopes.contains { $0.contains(":") } == !isCoarse)
        }
        // What is not there says nothing, whatever it looks like.
        try await expect(login.scopes(of: Secret("planted-token")), equals: nil)
    }
}
