import Expectations
import Foundation
import Posts
import TestSupport
import Testing

@testable import Networks
@testable import X

@Suite struct XWriteTests {
    private func draft(
        _ text: String = "text", replyTo: String? = nil, visibility: Visibility = .unlisted
    ) -> Draft {
        Draft(
            text: text, replyTo: replyTo, visibility: visibility, language: "ja", key: "k-1",
            createdAt: XLoopback.start
        )
    }

    private static func created(_ fields: String = #""id":"9","text":"text""#) -> Answer {
        .json("{\"data\":{\(fields)}}", status: 201)
    }

    @Test func publishesExactlyOnceAndExactlyThis() async throws {
        let loopback = try XLoopback { $0.path == "/2/tweets" ? Self.created() : nil }
        let published = try await loopback.network.publish(
            draft("line 1\n\"quoted\" / 日本語 & <b>", visibility: .public))
        #expect(
            published
                == PublishedPost(
                    id: PostID(network: .x, value: "9"), address: "9", createdAt: XLoopback.start))
        _ = try await loopback.network.publish(draft("answer", replyTo: "4"))
        let requests = loopback.server.requests
        #expect(requests.map(\.method) == ["POST", "POST"])
        #expect(requests.map(\.target) == ["/2/tweets", "/2/tweets"])
        #expect(
            requests.map { $0.header("Content-Type") } == ["application/json", "application/json"])
        #expect(
            requests.map { String(decoding: $0.body, as: UTF8.self) } == [
                #"{"text":"line 1\n\"quoted\" / 日本語 & <b>"}"#,
                #"{"reply":{"in_reply_to_tweet_id":"4"},"text":"answer"}"#,
            ])
    }

    /// An answer is for who asked, and not for everybody whom the question names.
    ///
    /// The draft says who that is, and not what was read before: a process that has just begun
    /// knows it too.
    @Test func anAnswerTellsNobodyElse() async throws {
        let loopback = try XLoopback { $0.path == "/2/tweets" ? Self.created() : nil }
        let me = try await loopback.network.verifyAccount().id
        var draft = draft("answer", replyTo: "4")
        draft.bystanders =
            [me, AccountID(network: .bluesky, value: "did:plc:1")]
            + ["8", "ann", "", "9"].map { AccountID(network: .x, value: $0) }
        _ = try await loopback.network.publish(draft)
        #expect(
            loopback.requests.last.map { String(decoding: $0.body, as: UTF8.self) }
                == #"{"reply":{"exclude_reply_user_ids":["8","9"],"in_reply_to_tweet_id":"4"},"text":"answer"}"#
        )
        // What answers nobody has nobody to leave out.
        draft.replyTo = nil
        _ = try await loopback.network.publish(draft)
        #expect(
            loopback.requests.last.map { String(decoding: $0.body, as: UTF8.self) }
                == #"{"text":"answer"}"#)
    }

    @Test(arguments: ["edit_history_tweet_ids", "edit_history_post_ids"])
    func thePublishedPostHasItsFirstID(field: String) async throws {
        let loopback = try XLoopback { _ in
            Self.created(#""id":"9","text":"x","\#(field)":["8","9"]"#)
        }
        let published = try await loopback.network.publish(draft())
        #expect(published.id.value == "8")
        #expect(published.address == "9")
    }

    @Test func nothingIsPublishedBeforeTheRulesAreAccepted() async throws {
        let loopback = try XLoopback(options: XOptions()) { _ in Self.created() }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(draft())
        }
        #expect(error.code == .capability)
        #expect(error.outcome == .notSent)
        #expect(error.description.contains("X_ACKNOWLEDGE_POLICY=yes"))
        #expect(loopback.server.requests.isEmpty)
    }

    @Test(arguments: [Visibility.private, .direct])
    func whatIsNotForEverybodyIsNotPublished(visibility: Visibility) async throws {
        let loopback = try XLoopback { _ in Self.created() }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(draft(visibility: visibility))
        }
        #expect(error.code == .capability)
        #expect(loopback.server.requests.isEmpty)
    }

    @Test(arguments: ["", "..", "a b", "4/5"])
    func addressesThatAreNoIDsAreNotSent(address: String) async throws {
        let loopback = try XLoopback { _ in Self.created() }
        let publishing = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(draft(replyTo: address))
        }
        #expect(publishing.outcome == .notSent)
        let deleting = try await #require(throws: NetworkError.self) {
            try await loopback.network.delete(address)
        }
        #expect(deleting.outcome == .notSent)
        #expect(loopback.server.requests.isEmpty)
    }

    /// The post exists, but the answer does not say so.
    @Test(arguments: [
        "", "{}", "[]", "null", "<html>", #"{"data":{}}"#, #"{"data":{"id":"x"}}"#,
        #"{"data":{"id":"9","#,
    ])
    func anAnswerThatCannotBeReadLeavesTheOutcomeOpen(body: String) async throws {
        let loopback = try XLoopback { _ in .json(body, status: 201) }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.publish(draft())
        }
        #expect(error.code == .malformedResponse)
        #expect(error.outcome == .unknown)
        #expect(!error.isPermanent)
        #expect(loopback.server.requests.count == 1)
        // It may have happened, so it stays paid.
        #expect(loopback.book.spent == XPrices.current.postCreate)
    }

    @Test(arguments: [
        [LoopbackServer.Step.awaitRequest, .reset], [.awaitRequest, .close],
        [
            .awaitRequest,
            .send(Array("HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{\"data\":".utf8)),
            .close,
        ],
    ])
    func aLostAnswerLeavesTheOutcomeOpen(steps: [LoopbackServer.Step]) async throws {
        let server = try LoopbackServer(steps: steps)
        let book = MemoryBook()
        let network = try XLoopback.network(of: server, book: book)
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft())
        }
        #expect(error.code == .transport)
        #expect(error.outcome == .unknown)
        #expect(server.requests.count == 1)
        #expect(book.spent == XPrices.current.postCreate)
    }

    @Test func aServerThatIsNotThereWasNotAsked() async throws {
        let server = try LoopbackServer { _, connection in connection.close() }
        let book = MemoryBook()
        let network = try XLoopback.network(of: server, book: book)
        server.stop()
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.publish(draft())
        }
        #expect(error.code == .transport)
        #expect(error.outcome == .notSent)
        #expect(book.spent == .zero)
    }

    @Test func deletesAPost() async throws {
        let loopback = try XLoopback {
            $0.path == "/2/tweets/9" ? .json(#"{"data":{"deleted":true}}"#) : nil
        }
        try await loopback.network.delete("9")
        #expect(loopback.server.requests.map(\.method) == ["DELETE"])
        #expect(loopback.server.requests.map(\.target) == ["/2/tweets/9"])
        #expect(loopback.book.spent == XPrices.current.delete)
    }

    @Test func takesAFavoriteBackWhereXLetsIt() async throws {
        let loopback = try XLoopback {
            $0.method == "DELETE" ? .json(#"{"data":{"liked":false}}"#) : nil
        }
        let favorite = FavoriteDraft(address: "9", key: "k", createdAt: XLoopback.start)
        let me = try await loopback.network.verifyAccount().id.value
        let before = loopback.book.spent
        try await expect(loopback.network.unfavorite(favorite), equals: .removed)
        #expect(loopback.server.requests.last?.target == "/2/users/\(me)/likes/9")
        #expect(loopback.book.spent == before + XPrices.current.delete)
    }

    @Test func aPostThatIsGoneIsDeleted() async throws {
        for answer in [
            XWire.notFound, .json(#"{"errors":[\#(XWire.problem("resource-not-found"))]}"#),
        ] {
            let loopback = try XLoopback { _ in answer }
            try await loopback.network.delete("9")
            #expect(loopback.server.requests.count == 1)
            #expect(loopback.book.spent == .zero)
        }
    }

    @Test(arguments: [
        #"{"data":{"deleted":false}}"#, "{}",
        #"{"errors":[\#(XWire.problem("not-authorized-for-resource"))]}"#,
    ])
    func aPostThatIsStillThereIsNotDeleted(body: String) async throws {
        let loopback = try XLoopback { _ in .json(body) }
        await #expect(throws: NetworkError.self) { try await loopback.network.delete("9") }
    }

    @Test func favoritesAndLabelsAreForPeople() async throws {
        let loopback = try XLoopback { _ in nil }
        let favoriting = try await #require(throws: NetworkError.self) {
            try await loopback.network.favorite(
                FavoriteDraft(address: "9", key: "k", createdAt: XLoopback.start))
        }
        #expect(favoriting.code == .capability)
        #expect(favoriting.outcome == .notSent)
        let labelling = try await #require(throws: NetworkError.self) {
            try await loopback.network.labelAsBot()
        }
        #expect(labelling.code == .capability)
        #expect(
            labelling.description.contains(
                "Settings, Your account, Account information, Automation"))
        let asking = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.isFavorited("9")
        }
        #expect(asking.code == .capability)
        #expect(loopback.server.requests.isEmpty)
    }

    @Test func cancellationEndsACall() async throws {
        let server = try LoopbackServer { _, connection in connection.waitForClose() }
        let book = MemoryBook()
        let network = try XLoopback.network(of: server, book: book)
        let draft = draft()
        let task = Task { try await network.publish(draft) }
        try await server.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(book.spent == XPrices.current.postCreate)
    }

    // MARK: Reading back

    private static func own(_ id: String, _ createdAt: String, _ overrides: [String: String] = [:])
        -> String
    {
        XWire.post(
            id, ["author_id": #""42""#, "created_at": "\"\(createdAt)\""].merging(overrides) { $1 })
    }

    @Test func readsOwnPostsBackToATime() async throws {
        let loopback = try XLoopback { request in
            guard request.path == "/2/users/42/tweets" else { return nil }
            return switch request.query["pagination_token"] {
            case nil: .json(XWire.list([Self.own("9", "2026-11-20T20:59:00Z")], next: "a"))
            // A page without anything does not end the list.
            case "a": .json(XWire.list([], next: "b"))
            case "b":
                .json(
                    XWire.list([
                        Self.own("9", "2026-11-20T20:59:00Z"),
                        Self.own(
                            "8", "2026-11-20T20:01:00Z",
                            [
                                "text": #""@ann answer""#,
                                "referenced_tweets": #"[{"type":"replied_to","id":"3"}]"#,
                            ]),
                    ]))
            default: nil
            }
        }
        let since = Date(timeIntervalSince1970: 1_795_204_800)
        let posts = try await loopback.network.ownPosts(since: since)
        #expect(posts.map(\.address) == ["9", "8"])
        #expect(posts.map(\.post.text) == ["text 9", "answer"])
        #expect(posts.map(\.replyToAddress) == [nil, "3"])
        #expect(loopback.requests.map { $0.query["pagination_token"] } == [nil, "a", "b"])
        expect(loopback.requests) {
            $0.allSatisfy { $0.query["start_time"] == "2026-11-20T19:50:00Z" }
        }
        expect(loopback.requests) {
            $0.allSatisfy { $0.query["since_id"] == nil && $0.query["until_id"] == nil }
        }
    }

    /// What one of the bot's own replies answers may be gone; that one itself is there.
    @Test(arguments: [
        ("referenced_posts.id", true), ("referenced_tweets.id", true), ("ids", false),
    ])
    func aPostThatIsOnlyReferredToMayBeMissing(parameter: String, isWhole: Bool) async throws {
        let loopback = try XLoopback { request in
            guard request.path == "/2/users/42/tweets" else { return nil }
            let list = XWire.list([
                Self.own(
                    "8", "2026-11-20T20:01:00Z",
                    [
                        "text": #""@ann answer""#,
                        "referenced_tweets": #"[{"type":"replied_to","id":"3"}]"#,
                    ])
            ])
            let problem =
                #"{"type":"https://api.twitter.com/2/problems/resource-not-found","title":"Not Found Error","resource_type":"post","resource_id":"3","parameter":"\#(parameter)","value":"3"}"#
            return .json(list.dropLast() + #","errors":[\#(problem)]}"#)
        }
        let own = {
            try await loopback.network.ownPosts(since: Date(timeIntervalSince1970: 1_795_204_800))
        }
        if isWhole {
            try await expect(own().map(\.address), equals: ["8"])
        } else {
            await #expect(throws: NetworkError.self) { _ = try await own() }
        }
    }

    /// Pages without anything that never end are not the end: the post may stand behind them.
    @Test func emptyPagesWithoutEndAreNoList() async throws {
        let loopback = try XLoopback { request in
            guard request.path == "/2/users/42/tweets" else { return nil }
            let page = Int(request.query["pagination_token"] ?? "") ?? 0
            let posts = page == 0 ? [Self.own("9", "2026-11-20T20:59:00Z")] : []
            return .json(XWire.list(posts, next: String(page + 1)))
        }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.ownPosts(
                since: Date(timeIntervalSince1970: 1_795_204_800))
        }
        #expect(error.code == .malformedResponse)
        #expect(loopback.requests.count < 10)
    }

    /// A server that does not know `start_time` sends everything; the rest is not read.
    @Test func stopsAtTheTimeByItself() async throws {
        let paging = XPagingServer(.documented, count: 90, author: "42")
        let loopback = try XLoopback { $0.path == "/2/users/42/tweets" ? paging.answer($0) : nil }
        try await expect(loopback.network.ownPosts(since: XLoopback.start)) { $0.isEmpty }
        #expect(loopback.requests.count == 1)
        // All of them were made an hour before the present of the test.
        let all = try await loopback.network.ownPosts(since: XLoopback.start - 3_600)
        #expect(all.map(\.address) == (1...90).reversed().map(paging.id))
    }

    /// A post that was made before the time and edited after it stands among the newer ones.
    @Test func anEditedPostIsNotTheEnd() async throws {
        let first = UInt64(1_795_201_200_000 - 1_288_834_974_657) << 22
        let last = first + UInt64(3_600_000) << 22
        let body = [
            Self.own(
                String(last), "2026-11-20T20:00:00Z",
                ["edit_history_tweet_ids": #"["\#(first)","\#(last)"]"#]),
            Self.own("8", "2026-11-20T19:58:00Z"),
        ]
        let loopback = try XLoopback { request in
            guard request.path == "/2/users/42/tweets" else { return nil }
            let isFirst = request.query["pagination_token"] == nil
            return .json(XWire.list([isFirst ? body[0] : body[1]], next: isFirst ? "a" : nil))
        }
        let posts = try await loopback.network.ownPosts(
            since: Date(timeIntervalSince1970: 1_795_204_800))
        #expect(posts.map(\.address) == [String(last), "8"])
    }

    /// What is missing here would count as never sent.
    @Test(arguments: [
        XWire.list([own("9", "2026-11-20T20:59:00Z"), #"{"id":"8"}"#]),
        XWire.list(
            [own("9", "2026-11-20T20:59:00Z")],
            errors: "[\(XWire.problem("field-hydration-failure"))]"),
        XWire.list([own("9", "2026-11-20T20:59:00Z")], next: "again"), "{}", "<html>",
        #"{"errors":[\#(XWire.problem("not-authorized-for-resource"))]}"#,
        #"{"meta":{"result_count":0},"errors":[\#(XWire.problem("internal-error"))]}"#,
    ])
    func isCompleteOrFails(body: String) async throws {
        let loopback = try XLoopback { $0.path == "/2/users/42/tweets" ? .json(body) : nil }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await loopback.network.ownPosts(since: XLoopback.start - 3_600)
        }
        #expect(error.operation == .readOwnPosts)
    }

    @Test(arguments: [
        (Date(timeIntervalSince1970: 0), "2010-11-06T00:00:00Z"),
        (Date(timeIntervalSince1970: 4_000_000_000), "2026-11-20T20:50:00Z"),
    ])
    func asksForNoTimeThatXRefuses(since: Date, start: String) async throws {
        let loopback = try XLoopback {
            $0.path == "/2/users/42/tweets" ? .json(XWire.list([])) : nil
        }
        try await expect(loopback.network.ownPosts(since: since)) { $0.isEmpty }
        #expect(loopback.requests.map { $0.query["start_time"] } == [start])
    }
}
