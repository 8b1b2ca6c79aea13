import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct BlueskyHabitTests {
    private static let timeline = "app.bsky.feed.getTimeline"

    private static let refusals: [(form: BlueskyHabits.ErrorForm, type: String?, body: String)] = [
        (
            .xrpc, "application/json; charset=utf-8",
            #"{"error":"AuthMissing","message":"Authentication Required"}"#
        ),
        (.plainText, "text/plain; charset=utf-8", "AuthMissing: Authentication Required"),
        (.html, "text/html", "<html><body><h1>401</h1></body></html>"), (.empty, nil, ""),
    ]

    @Test func refusesInManyForms() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            #expect(Self.refusals.map(\.form) == BlueskyHabits.ErrorForm.allCases)
            for (form, type, body) in Self.refusals {
                fixture.sandbox.faults.bluesky.errorForm = form
                let reply = try await fixture.ask(Self.timeline)
                #expect(reply.status == 401)
                #expect(reply.headers["content-type"] == type)
                #expect(reply.text == body)
            }
        }
    }

    private static let lists: [(name: String, list: String, query: String)] = [
        (timeline, "feed", "limit=40"),
        ("app.bsky.notification.listNotifications", "notifications", "limit=2"),
        ("app.bsky.feed.getAuthorFeed", "feed", "actor=aoi.sandbox.example&limit=20"),
        (
            "com.atproto.repo.listRecords", "records",
            "repo=aoi.sandbox.example&collection=app.bsky.feed.post&limit=20"
        ),
    ]

    @Test func maySendEmptyPagesWithACursor() async throws {
        try await BlueskyClient.run { (bot) async throws in
            for (name, list, query) in Self.lists {
                bot.fixture.sandbox.faults.clear()
                let plain = try await bot.fixture.pages(name, query, token: bot.access)
                bot.fixture.sandbox.faults.bluesky.sendsEmptyPages = true
                let padded = try await bot.fixture.pages(name, query, token: bot.access)
                #expect(padded.count == 2 * plain.count)
                for (index, page) in padded.enumerated() where index.isMultiple(of: 2) {
                    #expect(page.items(list).isEmpty)
                    #expect(page.object["cursor"] != nil)
                }
                let uris = plain.map { $0.items(list).map { $0.uri + $0.post.uri } }
                #expect(uris.joined().count > 2)
                let served = padded.enumerated().filter { !$0.offset.isMultiple(of: 2) }
                #expect(served.map { $0.element.items(list).map { $0.uri + $0.post.uri } } == uris)
            }
        }
    }

    @Test func mayGiveShortPagesAndRepeatItems() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let good = try await bot.get(Self.timeline, "limit=30").items("feed").map(\.post.uri)
            #expect(good.count == 30)
            bot.fixture.sandbox.faults.bluesky.shortensTimeline = true
            let short = try await bot.get(Self.timeline, "limit=30")
            #expect(short.items("feed").map(\.post.uri) == Array(good.prefix(10)))
            let cursor = try #require(short.object["cursor"] as? String)
            let rest = try await bot.get(Self.timeline, "limit=60&cursor=\(cursor)")
            #expect(rest.items("feed").map(\.post.uri) == Array(good.dropFirst(10)))
            bot.fixture.sandbox.faults.bluesky.shortensTimeline = false
            bot.fixture.sandbox.faults.bluesky.repeatsTimelineItems = true
            try await expect(
                bot.get(Self.timeline, "limit=30").items("feed").map(\.post.uri),
                equals: good + good)
        }
    }

    @Test func mayBackdateRecords() async throws {
        try await BlueskyClient.run { (bot) async throws in
            bot.fixture.sandbox.faults.bluesky.backdatesRecords = true
            let items = try await bot.fixture.pages(Self.timeline, "limit=100", token: bot.access)
                .flatMap { $0.items("feed") }.filter { $0["reason"] == nil }.map(\.post)
            func dates(_ post: [String: Any]) -> (String, String) {
                (post.record["createdAt"] as? String ?? "", post["indexedAt"] as? String ?? "")
            }
            let old = items.filter { dates($0).0 < dates($0).1 }
            #expect(old.count > items.count / 10)
            #expect(old.count < items.count / 2)
            expect(old) { $0.allSatisfy { $0.author["did"] as? String != bot.fixture.humanDID } }
            let order = items.map { min(dates($0).0, dates($0).1) }
            #expect(order == order.sorted(by: >))
            // A record that was shown stays as it is.
            bot.fixture.sandbox.faults.clear()
            let post = try #require(old.first)
            let again = try await bot.get("app.bsky.feed.getPosts", "uris=\(post.uri)").items(
                "posts")
            #expect(again.map(\.cid) == [post.cid])
            #expect(again.map { dates($0).0 } == [dates(post).0])
        }
    }

    @Test func mayLeavePostsOut() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let uris = try await bot.get(Self.timeline, "limit=100").items("feed").map(\.post.uri)
            let query = Array(Set(uris)).sorted().prefix(25).map { "uris=\($0)" }.joined(
                separator: "&")
            let all = try await bot.get("app.bsky.feed.getPosts", query).items("posts").map(\.uri)
            #expect(all.count == 25)
            bot.fixture.sandbox.faults.bluesky.omitsPosts = true
            let some = try await bot.get("app.bsky.feed.getPosts", query).items("posts").map(\.uri)
            #expect((3...22).contains(some.count))
            #expect(Set(some).isSubset(of: all))
        }
    }

    @Test func takesInjectedErrorsOfTheProtocol() async throws {
        try await BlueskyClient.run { (bot) async throws in
            bot.fixture.sandbox.faults.failNext(
                .xrpc(status: 502, error: "UpstreamFailure", message: "no"), path: "/xrpc/app.bsky")
            let reply = try await bot.get(Self.timeline)
            #expect(reply.status == 502)
            #expect(reply.error == "UpstreamFailure")
            await expect(bot.fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }
}
