import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct BlueskyLedgerTests {
    /// What `user@host` is called on Bluesky.
    private static func handle(_ handle: String) -> String {
        SandboxIdentity.handle(handle, on: .bluesky)
    }

    /// The bot, logged in anew: the clock may have gone on for days.
    private static func bot(at date: Date, in fixture: SandboxFixture) async throws -> BlueskyClient
    {
        fixture.clock.now = date
        return try await BlueskyClient.logIn(.bot, to: fixture)
    }

    /// Plays the perfect bot: answers every mention that deserves it, as soon as it happens.
    @Test func findsNothingWrongWithACourteousBot() async throws {
        var configuration = SandboxFixture.standard.configuration
        configuration.botNetwork = .bluesky
        try await SandboxFixture.run(world: SandboxWorld(configuration: configuration)) {
            (fixture) async throws in
            let world = fixture.sandbox.world
            _ = try await Self.bot(at: SandboxFixture.origin, in: fixture).publish("good morning")
            for (number, entry) in world.mentions.enumerated() where entry.mention.deservesReply {
                let bot = try await Self.bot(at: entry.date.addingTimeInterval(30), in: fixture)
                let mention = try await bot.newestMention(by: Self.handle(entry.handle))
                let key = SandboxIdentity.recordKey(
                    microseconds: UInt64(entry.date.milliseconds) * 1_000, clock: UInt64(number))
                _ = try await bot.publish("indeed", key: key, answering: mention)
            }
            fixture.clock.now = world.end
            let ledger = await fixture.sandbox.ledger
            expect(ledger.notifications) { $0.allSatisfy { $0.objection == nil } }
            #expect(ledger.widenedReplies.isEmpty)
            let summary = ledger.summary
            #expect(summary.posted == 1)
            #expect(summary.replies == world.expectedReplies)
            #expect(summary.expectedReplies == summary.replies)
            #expect(summary.replies > 5)
            #expect(summary.unsolicited == 0)
            #expect(summary.errors == 0)
            #expect(summary.duplicateSends == 0)
        }
    }

    @Test(
        arguments: [
            (.stranger, "the human never answered this person"), (.automated, "automated account"),
            (.optedOut, "account keeps bots away"), (.stop, "account asked the bot to stop"),
        ] as [(SandboxMention.Kind, String)])
    func objectsToAnswers(kind: SandboxMention.Kind, objection: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let entry = try #require(
                fixture.sandbox.world.mentions.first { $0.mention.kind == kind })
            let bot = try await Self.bot(at: entry.date, in: fixture)
            let mention = try await bot.newestMention(by: Self.handle(entry.handle))
            _ = try await bot.publish("hello", answering: mention)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.notifications.map(\.recipient) == [entry.handle])
            #expect(ledger.notifications.map(\.objection) == [objection])
        }
    }

    @Test func tellsThoseWhomFacetsNameAndNobodyElse() async throws {
        try await BlueskyClient.run { (bot) async throws in
            _ = try await bot.publish("hello @aoi and @mio.sandbox.example", key: "3ke6kg3wk2222")
            await expect(bot.fixture.sandbox.ledger.notifications) { $0.isEmpty }
            let aoi = SandboxIdentity.account("aoi@sandbox.example", on: .bluesky).value
            let facet: [String: Any] = [
                "index": ["byteStart": 6, "byteEnd": 10],
                "features": [["$type": "app.bsky.richtext.facet#mention", "did": aoi]],
            ]
            let reply = try await bot.put(
                bot.record("hello @aoi", ["facets": [facet]]), key: "3ke6kg3wk2223")
            #expect(reply.status == 200)
            let ledger = await bot.fixture.sandbox.ledger
            #expect(ledger.notifications.map(\.recipient) == ["aoi@sandbox.example"])
            #expect(ledger.summary.unsolicited == 1)
        }
    }

    @Test func tellsAnswersFromMentions() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let threads = Dictionary(grouping: fixture.sandbox.world.mentions, by: \.mention.thread)
            let long = try #require(threads.values.first { $0.count == 6 })
            var bot = try await Self.bot(at: long[0].date, in: fixture)
            let first = try await bot.newestMention(by: Self.handle(long[0].handle))
            #expect(first["reason"] as? String == "mention")
            #expect(first["reasonSubject"] == nil)
            let features = (first.record["facets"] as? [[String: Any]] ?? [])
                .flatMap { $0["features"] as? [[String: Any]] ?? [] }
            expect(features) { $0.contains { $0["did"] as? String == bot.did } }
            let answer = try await bot.publish("yes", answering: first)
            bot = try await Self.bot(at: long[1].date, in: fixture)
            let second = try await bot.newestMention(by: Self.handle(long[1].handle))
            #expect(second["reason"] as? String == "reply")
            #expect(second["reasonSubject"] as? String == answer["uri"])
            let reply = try #require(second.record["reply"] as? [String: Any])
            #expect((reply["parent"] as? [String: Any])?.uri == answer["uri"])
            #expect((reply["parent"] as? [String: Any])?.cid == answer["cid"])
            #expect((reply["root"] as? [String: Any])?.uri == first.uri)
            let name = "app.bsky.notification.listNotifications"
            let mentions = try await bot.get(name, "reasons=mention&limit=100").items(
                "notifications")
            #expect(!mentions.isEmpty)
            expect(mentions) { $0.allSatisfy { $0["reason"] as? String == "mention" } }
            let all = try await bot.get(name, "limit=100").items("notifications")
            #expect(
                Set(all.compactMap { $0["reason"] as? String }).isSuperset(of: [
                    "mention", "reply", "follow",
                ]))
        }
    }

    @Test func pagesNotificationsAndKnowsWhichAreRead() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let bot = try await Self.bot(at: fixture.sandbox.world.end, in: fixture)
            let name = "app.bsky.notification.listNotifications"
            let pages = try await fixture.pages(name, "limit=5", token: bot.access)
            let items = pages.flatMap { $0.items("notifications") }
            let dates = items.compactMap { $0["indexedAt"] as? String }
            #expect(items.count > 10)
            #expect(dates == dates.sorted(by: >))
            #expect(Set(items.map(\.uri)).count == items.count)
            expect(items) { $0.allSatisfy { $0["isRead"] as? Bool == false } }
            let seen = dates[2]
            let updated = try await bot.post("app.bsky.notification.updateSeen", ["seenAt": seen])
            #expect(updated.status == 200)
            let after = try await bot.get(name, "limit=5")
            #expect(after.object["seenAt"] as? String == seen)
            #expect(
                after.items("notifications").map { $0["isRead"] as? Bool } == [
                    false, false, true, true, true,
                ])
        }
    }

    @Test func judgesFavoritesAndNoticesASecondOne() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let bot = try await Self.bot(at: fixture.sandbox.world.end, in: fixture)
            let items = try await fixture.pages(
                "app.bsky.feed.getTimeline", "limit=100", token: bot.access
            )
            .flatMap { $0.items("feed") }.filter { $0["reason"] == nil }.map(\.post)
            let loved = try #require(
                items.first { $0.author["handle"] as? String == "aoi.sandbox.example" })
            let machine = try #require(items.first { $0.author.labels == ["bot"] })
            try await expect(
                bot.like(BlueskyClient.reference(loved), key: "3ke6kg3wk2222").status, equals: 200)
            try await expect(
                bot.like(BlueskyClient.reference(machine), key: "3ke6kg3wk2223").status, equals: 200
            )
            let same = try await bot.like(BlueskyClient.reference(loved), key: "3ke6kg3wk2222")
            #expect(same.object["commit"] == nil)
            var ledger = await fixture.sandbox.ledger
            #expect(ledger.favorites.map(\.objection) == [nil, "automated account"])
            #expect(ledger.duplicates.isEmpty)
            // Another record of the same like is another like.
            try await expect(
                bot.like(BlueskyClient.reference(loved), key: "3ke6kg3wk2224").status, equals: 200)
            ledger = await fixture.sandbox.ledger
            #expect(ledger.duplicates.map(\.kind) == [.favorite])
            let likes = try await fixture.ask(
                "com.atproto.repo.listRecords", "repo=\(bot.did)&collection=app.bsky.feed.like")
            #expect(likes.items("records").count == 3)
        }
    }

    @Test func takesALikeBack() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let bot = try await Self.bot(at: SandboxFixture.origin, in: fixture)
            let feed = try await bot.get("app.bsky.feed.getAuthorFeed", "actor=aoi.sandbox.example")
            let post = try #require(feed.items("feed").first?.post)
            func current() async throws -> [String: Any] {
                let reply = try await bot.get("app.bsky.feed.getPosts", "uris=\(post.uri)")
                return try #require(reply.items("posts").first)
            }
            let body: [String: Any] = [
                "repo": bot.did, "collection": BlueskyClient.likes,
                "record": [
                    "$type": BlueskyClient.likes, "subject": BlueskyClient.reference(post),
                    "createdAt": "2026-11-20T00:00:00Z",
                ],
            ]
            // The server keeps one of the likes that it was asked to create.
            let first = try await bot.post("com.atproto.repo.createRecord", body)
            let second = try await bot.post("com.atproto.repo.createRecord", body)
            #expect(first.object.uri != second.object.uri)
            let liked = try await current()
            #expect(liked.viewer["like"] as? String == second.object.uri)
            let key = try #require(second.object.uri.split(separator: "/").last)
            let deleted = try await bot.post(
                "com.atproto.repo.deleteRecord",
                ["repo": bot.did, "collection": BlueskyClient.likes, "rkey": String(key)])
            #expect(deleted.status == 200)
            let unliked = try await current()
            #expect(unliked.viewer["like"] == nil)
        }
    }

    @Test func refusesALikeOfWhatIsNotThere() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let post = try await bot.publish("mine")
            let wrong: [[String: String]] = [
                ["uri": post["uri"] ?? "", "cid": ContentID(of: "x").text],
                [
                    "uri": "at://\(bot.did)/app.bsky.feed.post/3ke6kg3wk2227",
                    "cid": post["cid"] ?? "",
                ],
                [
                    "uri": "at://mirror.sandbox.example/app.bsky.feed.post/3ke6kg3wk2222",
                    "cid": post["cid"] ?? "",
                ],
                ["uri": post["uri"] ?? ""], ["uri": post["uri"] ?? "", "cid": "bafy"],
            ]
            for subject in wrong {
                let reply = try await bot.like(subject, key: "3ke6kg3wk2228")
                #expect(reply.status == 400)
                #expect(reply.error == "InvalidRequest")
            }
            await expect(bot.fixture.sandbox.ledger.favorites) { $0.isEmpty }
        }
    }

    @Test func tellsTheOthersInterfacesOfItsPosts() async throws {
        try await BlueskyClient.run { (bot) async throws in
            _ = try await bot.publish("seen everywhere")
            let home = try await bot.fixture.send("GET", "/api/v1/timelines/home?limit=1")
            #expect((home.list.first?["content"] as? String) == "<p>seen everywhere</p>")
            let id = try await bot.fixture.publish("from elsewhere", visibility: "public")
            let records = try await bot.fixture.ask(
                "com.atproto.repo.listRecords", "repo=\(bot.did)&collection=app.bsky.feed.post"
            ).items("records")
            let number = try #require(Int64(id))
            // Keys decide the order, and the client's key was of 2023.
            #expect(
                records.map { $0.uri.split(separator: "/").last.map(String.init) }
                    == [SandboxIdentity.recordKey(number), "3ke6kg3wk2222"])
        }
    }
}
