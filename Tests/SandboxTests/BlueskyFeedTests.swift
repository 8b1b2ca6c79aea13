import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct BlueskyFeedTests {
    private static let list = "com.atproto.repo.listRecords"

    /// What the script makes of the world before it begins, where it is open to everybody.
    private static let past: [ScriptedPost] = {
        let world = SandboxFixture.standard
        return world.events.filter { $0.date <= SandboxFixture.origin }.compactMap { event in
            guard case .post(let post) = event.action, post.visibility.isOpen else { return nil }
            return post
        }
    }()

    @Test func listsAllOpenPostsOfThePastByTheirKeys() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let query = "repo=\(fixture.humanDID)&collection=app.bsky.feed.post&limit=100"
            let newest = try await fixture.pages(Self.list, query).flatMap { $0.items("records") }
            let wanted = Self.past.count {
                $0.author == SandboxPopulation.human && $0.repostOf == nil
            }
            #expect(newest.count == wanted)
            let uris = newest.map(\.uri)
            #expect(uris == uris.sorted(by: >))
            #expect(Set(uris).count == uris.count)
            expect(uris) {
                $0.allSatisfy { $0.hasPrefix("at://\(fixture.humanDID)/app.bsky.feed.post/") }
            }
            let oldest = try await fixture.pages(Self.list, query + "&reverse=true").flatMap {
                $0.items("records")
            }
            #expect(oldest.map(\.uri) == uris.reversed())
            #expect(oldest.map(\.cid) == newest.map(\.cid).reversed())
            let values = newest.compactMap { $0["value"] as? [String: Any] }
            expect(values) { $0.allSatisfy { $0["$type"] as? String == "app.bsky.feed.post" } }
            expect(values) { $0.allSatisfy { ($0["text"] as? String)?.count ?? 301 <= 300 } }
            expect(values) { $0.contains { $0["reply"] != nil } }
        }
    }

    @Test func namesPostsAsACarriedArchiveDoes() async throws {
        let archive = SandboxScript.samplePosts(before: SandboxFixture.origin)
        let carried = Set(archive.map { SandboxIdentity.carried($0, to: .bluesky).id.value })
        try await SandboxFixture.run { (fixture) async throws in
            let page = try await fixture.ask(
                Self.list, "repo=\(fixture.humanDID)&collection=app.bsky.feed.post")
            #expect(page.items("records").count == 50)
            expect(page.items("records")) { $0.allSatisfy { carried.contains($0.uri) } }
        }
    }

    @Test func listsTheHumansFavoritesAsLikes() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let query = "repo=\(fixture.humanDID)&collection=app.bsky.feed.like&limit=30"
            let likes = try await fixture.pages(Self.list, query).flatMap { $0.items("records") }
            #expect(likes.count > 30)
            #expect(likes.map(\.uri) == likes.map(\.uri).sorted(by: >))
            let subjects = likes.compactMap {
                ($0["value"] as? [String: Any])?["subject"] as? [String: Any]
            }
            let uris = subjects.prefix(25).map { "uris=\($0.uri)" }
            let posts = try await fixture.ask("app.bsky.feed.getPosts", uris.joined(separator: "&"))
                .items("posts")
            #expect(posts.map(\.cid) == subjects.prefix(25).map(\.cid))
            expect(posts) { $0.allSatisfy { $0["viewer"] == nil } }
            let human = try await BlueskyClient.logIn(.human, to: fixture)
            let own = try await human.get("app.bsky.feed.getPosts", uris.joined(separator: "&"))
                .items("posts")
            #expect(own.map { $0.viewer["like"] as? String } == likes.prefix(25).map(\.uri))
        }
    }

    @Test func showsTheTimelineNewestFirstToItsEnd() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let pages = try await bot.fixture.pages(
                "app.bsky.feed.getTimeline", "limit=100", token: bot.access)
            let items = pages.flatMap { $0.items("feed") }
            let dates = items.map { item in
                (item["reason"] as? [String: Any])?["indexedAt"] as? String ?? item.post[
                    "indexedAt"] as? String ?? ""
            }
            #expect(dates == dates.sorted(by: >))
            #expect(items.count > 200)
            let reposts = items.compactMap { $0["reason"] as? [String: Any] }
            #expect(!reposts.isEmpty)
            expect(reposts) {
                $0.allSatisfy { $0["$type"] as? String == "app.bsky.feed.defs#reasonRepost" }
            }
            expect(items) { $0.contains { $0["reply"] != nil } }
            let parts = items.map(\.post.record).flatMap(Self.markedParts)
            #expect(parts.count > 10)
            expect(parts, "\(parts)") { $0.allSatisfy { $0.part.hasPrefix($0.sign) } }
        }
    }

    /// The parts of a text that have facets, and how parts of that kind begin.
    private static func markedParts(of record: [String: Any]) -> [(part: String, sign: String)] {
        let bytes = Array((record["text"] as? String ?? "").utf8)
        return (record["facets"] as? [[String: Any]] ?? []).compactMap { facet in
            guard let index = facet["index"] as? [String: Int], let start = index["byteStart"],
                let end = index["byteEnd"], start < end, end <= bytes.count,
                let feature = (facet["features"] as? [[String: Any]])?.first
            else { return ("", "out of bounds") }
            let sign =
                if feature["did"] != nil {
                    "@"
                } else if feature["tag"] != nil {
                    "#"
                } else {
                    "elsewhere.example/"
                }
            return (String(decoding: bytes[start..<end], as: UTF8.self), sign)
        }
    }

    @Test func hidesWhatIsNotOpen() async throws {
        try await BlueskyClient.run { (bot) async throws in
            bot.fixture.clock.now = bot.fixture.sandbox.world.end
            let bot = try await BlueskyClient.logIn(.bot, to: bot.fixture)
            let world = bot.fixture.sandbox.world
            let closed = world.events.compactMap { event -> (Date, Int)? in
                guard case .post(let post) = event.action, !post.visibility.isOpen,
                    post.repostOf == nil,
                    post.author > SandboxPopulation.bot
                else { return nil }
                return (event.date, post.author)
            }
            let (date, author) = try #require(closed.first)
            let did = world.population.people[author].id(on: .bluesky).value
            let records = try await bot.fixture.pages(
                Self.list, "repo=\(did)&collection=app.bsky.feed.post&limit=100"
            ).flatMap { $0.items("records") }
            #expect(!records.isEmpty)
            let dates = records.compactMap {
                ($0["value"] as? [String: Any])?["createdAt"] as? String
            }
            #expect(!dates.contains(date.rfc3339))
            try await expect(bot.newestMention(by: "densha-bot.sandbox.example").uri) {
                $0.hasPrefix("at://")
            }
        }
    }

    @Test func showsAnAuthorsPostsWithThePinnedOneOnTop() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let feed = "app.bsky.feed.getAuthorFeed"
            let actor = "actor=haruka.sandbox.example&limit=10"
            let plain = try await fixture.ask(feed, actor).items("feed")
            let pinned = try await fixture.ask(feed, actor + "&includePins=true").items("feed")
            #expect(plain.count == 10)
            #expect(pinned.dropFirst().map(\.post.uri) == plain.map(\.post.uri))
            let reason = pinned.first?["reason"] as? [String: Any]
            #expect(reason?["$type"] as? String == "app.bsky.feed.defs#reasonPin")
            let profile = try await fixture.ask(
                "app.bsky.actor.getProfile", "actor=haruka.sandbox.example")
            #expect((profile.object["pinnedPost"] as? [String: Any])?.uri == pinned.first?.post.uri)
            let roots = try await fixture.ask(feed, actor + "&filter=posts_no_replies").items(
                "feed")
            expect(roots) { $0.allSatisfy { $0.post.record["reply"] == nil } }
        }
    }

    @Test func tellsAConversationUpAndDown() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let first = try await bot.publish("root", key: "3ke6kg3wk2222")
            let answer: [String: Any] = ["root": first, "parent": first]
            _ = try await bot.put(bot.record("answer", ["reply": answer]), key: "3ke6kg3wk2223")
            let uri = "at://\(bot.did)/app.bsky.feed.post/"
            let thread = "app.bsky.feed.getPostThread"
            let down =
                try await bot.get(thread, "uri=\(uri)3ke6kg3wk2222").object["thread"]
                as? [String: Any]
            let replies = down?["replies"] as? [[String: Any]] ?? []
            #expect(replies.map(\.post.record).map { $0["text"] as? String } == ["answer"])
            let up =
                try await bot.get(thread, "uri=\(uri)3ke6kg3wk2223").object["thread"]
                as? [String: Any]
            #expect((up?["parent"] as? [String: Any])?.post.uri == first["uri"])
            _ = try await bot.post(
                "com.atproto.repo.deleteRecord",
                ["repo": bot.did, "collection": BlueskyClient.posts, "rkey": "3ke6kg3wk2222"])
            let orphan =
                try await bot.get(thread, "uri=\(uri)3ke6kg3wk2223").object["thread"]
                as? [String: Any]
            #expect((orphan?["parent"] as? [String: Any])?["notFound"] as? Bool == true)
            #expect((orphan?["post"] as? [String: Any])?.record["reply"] is [String: Any])
            let gone = try await bot.get(thread, "uri=\(uri)3ke6kg3wk2222")
            #expect(gone.status == 400)
            #expect(gone.error == "NotFound")
        }
    }

    @Test func saysWhatPeopleSayOfThemselves() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let actors = ["densha-bot", "shizuka", "aoi"].map { "actors=\($0).sandbox.example" }
            let reply = try await bot.fixture.ask(
                "app.bsky.actor.getProfiles",
                actors.joined(separator: "&") + "&actors=nobody.example")
            let profiles = reply.items("profiles")
            #expect(profiles.map(\.labels) == [["bot"], ["!no-unauthenticated"], []])
            expect((profiles[1]["description"] as? String)) { $0?.contains("#nobot") == true }
            expect(profiles) { $0.allSatisfy { $0["viewer"] == nil } }
            let stranger = try await bot.get(
                "app.bsky.actor.getProfile", "actor=umi.elsewhere.example")
            #expect(stranger.object.labels == ["!no-unauthenticated"])
            #expect(stranger.object.viewer["blockedBy"] as? Bool == false)
        }
    }

    @Test func saysWhereAnswersAreNotWelcome() async throws {
        try await BlueskyClient.run { (bot) async throws in
            let feed = try await bot.get(
                "app.bsky.feed.getAuthorFeed", "actor=shizuka.sandbox.example")
            let posts = feed.items("feed").map(\.post)
                .filter {
                    $0.author["handle"] as? String == "shizuka.sandbox.example"
                        && $0.record["reply"] == nil
                }
            let disabled = posts.map { $0.viewer["replyDisabled"] as? Bool }
            #expect(Set(disabled) == [true])
            let open = try await bot.get("app.bsky.feed.getAuthorFeed", "actor=aoi.sandbox.example")
            #expect(open.items("feed").first?.post.viewer["replyDisabled"] == nil)
        }
    }
}
