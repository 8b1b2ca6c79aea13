import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct XReadingTests {
    private static let everything =
        "tweet.fields=created_at,author_id,in_reply_to_user_id,referenced_tweets,conversation_id,entities,lang,"
        + "note_tweet,reply_settings,possibly_sensitive,edit_controls,display_text_range,attachments,public_metrics"

    @Test func findsPeopleByName() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let plain = try await fixture.x("GET", "/2/users/by/username/Shizuka")
            #expect(Set(plain.single.keys) == ["id", "name", "username"])
            let full = try await fixture.x(
                "GET", "/2/users/by/username/shizuka?user.fields=description,protected")
            expect((full.single["description"] as? String)) { $0?.contains("#nobot") == true }
            #expect(full.single["protected"] as? Bool == false)
            let missing = try await fixture.x("GET", "/2/users/by/username/nobody")
            #expect(missing.status == 404)
            #expect(missing.problem == "resource-not-found")
            let bad = try await fixture.x("GET", "/2/users/by/username/much_too_long_name")
            #expect(bad.status == 400)
        }
    }

    @Test func sendsNoMoreFieldsThanAskedFor() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/2/users/\(fixture.xID(.human))/tweets"
            let plain = try await fixture.x("GET", target)
            #expect(plain.data.count == 10)
            expect(plain.data) {
                $0.allSatisfy { Set($0.keys) == ["id", "text", "edit_history_tweet_ids"] }
            }
            #expect(plain.includes.isEmpty)
            #expect(plain.meta["result_count"] as? Int == 10)
            #expect(plain.meta["newest_id"] as? String == plain.xIDs.first)
            #expect(plain.meta["oldest_id"] as? String == plain.xIDs.last)
            let some = try await fixture.x(
                "GET", target + "?tweet.fields=created_at,lang&expansions=author_id")
            let keys: Set = [
                "id", "text", "edit_history_tweet_ids", "created_at", "lang", "author_id",
            ]
            expect(some.data) { $0.allSatisfy { Set($0.keys) == keys } }
            let users = some.includes["users"] as? [[String: Any]] ?? []
            #expect(users.map { $0["username"] as? String } == ["haruka"])
        }
    }

    @Test func walksBackThroughEveryPostOnce() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let pages = try await fixture.xWalk(
                "/2/users/\(fixture.xID(.human))/tweets?max_results=100", as: .human)
            let ids = pages.flatMap(\.xIDs).compactMap { Int64($0) }
            #expect(ids.count > 100)
            #expect(ids == ids.sorted(by: >))
            #expect(Set(ids).count == ids.count)
            expect(pages.dropLast()) { $0.allSatisfy { $0.data.count == 100 } }
            #expect(pages.first?.meta["previous_token"] == nil)
            let token = try #require(pages[1].meta["previous_token"] as? String)
            let first = try await fixture.x(
                "GET",
                "/2/users/\(fixture.xID(.human))/tweets?max_results=100&pagination_token=\(token)")
            #expect(first.xIDs == pages[0].xIDs)
            #expect(first.meta["next_token"] as? String == pages[0].meta["next_token"] as? String)
        }
    }

    @Test func cutsBySinceUntilAndTime() async throws {
        let world = SandboxFixture.world(humanTexts: (0..<20).map { "post \($0)" })
        try await SandboxFixture.run(world: world) { (fixture) async throws in
            let target = "/2/users/\(fixture.xID(.human))/tweets?max_results=5"
            func id(_ index: Int) -> String { SandboxFixture.humanID(index, of: 20) }
            let since = try await fixture.x("GET", target + "&since_id=\(id(17))")
            #expect(since.texts == ["post 19", "post 18"])
            #expect(since.meta["next_token"] == nil)
            let until = try await fixture.x("GET", target + "&until_id=\(id(2))")
            #expect(until.texts == ["post 1", "post 0"])
            let gap = try await fixture.x("GET", target + "&since_id=\(id(3))&until_id=\(id(6))")
            #expect(gap.texts == ["post 5", "post 4"])
            let start = try await fixture.x("GET", target + "&start_time=2026-11-19T14:58:00Z")
            #expect(start.texts == ["post 19", "post 18"])
            let end = try await fixture.x("GET", target + "&end_time=2026-11-19T14:41:00Z")
            #expect(end.texts == ["post 0"])
            let won = try await fixture.x(
                "GET", target + "&since_id=\(id(18))&start_time=2026-11-19T14:40:00Z")
            #expect(won.texts == ["post 19"])
            let none = try await fixture.x("GET", target + "&since_id=\(id(19))")
            #expect(none.object["data"] == nil)
            #expect(none.meta.keys.sorted() == ["result_count"])
        }
    }

    @Test func reachesBack3200PostsAnd800WithoutReplies() async throws {
        let world = SandboxFixture.world(humanTexts: (0..<3_210).map { "post \($0)" })
        try await SandboxFixture.run(world: world) { (fixture) async throws in
            let target = "/2/users/\(fixture.xID(.human))/tweets?max_results=100"
            let all = try await fixture.xWalk(target, as: .human).flatMap(\.texts)
            #expect(all.count == 3_200)
            #expect(all.last == "post 10")
            let fewer = try await fixture.xWalk(target + "&exclude=replies", as: .human).flatMap(
                \.texts)
            #expect(fewer.count == 800)
            let past = try await fixture.x(
                "GET", target + "&until_id=\(SandboxFixture.humanID(10, of: 3_210))")
            #expect(past.object["data"] == nil)
        }
    }

    @Test func dropsRepliesAfterThePageIsTaken() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/2/users/\(fixture.xID(.human))/tweets?max_results=100"
            let all = try await fixture.x("GET", target + "&" + Self.everything)
            let few = try await fixture.x("GET", target + "&exclude=replies,retweets")
            let posts = all.data.filter { $0["referenced_tweets"] == nil }
            #expect(posts.count < 100)
            #expect(few.xIDs == posts.compactMap { $0["id"] as? String })
            #expect(few.meta["next_token"] != nil)
        }
    }

    @Test func showsOnlyOpenPosts() async throws {
        let visibilities: [Visibility] = [.public, .unlisted, .private, .direct]
        let world = SandboxFixture.world(humanTexts: visibilities.map(\.rawValue)) {
            $1.visibility = visibilities[$0]
        }
        try await SandboxFixture.run(world: world) { (fixture) async throws in
            let list = try await fixture.x(
                "GET", "/2/users/\(fixture.xID(.human))/tweets", as: .human)
            #expect(list.texts == ["unlisted", "public"])
            let single = try await fixture.x(
                "GET", "/2/tweets/\(SandboxFixture.humanID(2, of: 4))", as: .human)
            #expect(single.status == 404)
        }
    }

    @Test func describesPictureWarningAndLongText() async throws {
        let long = String(repeating: "長い話。", count: 50) + " https://elsewhere.example/a?b=1&c=2"
        let world = SandboxFixture.world(humanTexts: ["picture", "warned", long]) { index, post in
            post.hasMedia = index == 0
            post.isSensitive = index == 1
        }
        try await SandboxFixture.run(world: world) { (fixture) async throws in
            let reply = try await fixture.x(
                "GET",
                "/2/users/\(fixture.xID(.human))/tweets?expansions=attachments.media_keys&"
                    + Self.everything)
            let note = reply.data[0]
            let warned = reply.data[1]
            let picture = reply.data[2]
            #expect(warned["possibly_sensitive"] as? Bool == true)
            #expect(picture["possibly_sensitive"] as? Bool == false)
            let key = "3_\(SandboxFixture.humanID(0, of: 3))"
            #expect((picture["attachments"] as? [String: Any])?["media_keys"] as? [String] == [key])
            let link = ((picture["entities"] as? [String: Any])?["urls"] as? [[String: Any]])?.first
            #expect(link?["media_key"] as? String == key)
            #expect(picture["text"] as? String == "picture \(link?["url"] as? String ?? "")")
            #expect(
                (reply.includes["media"] as? [[String: Any]])?.first?["media_key"] as? String == key
            )
            let full = try #require(note["note_tweet"] as? [String: Any])
            expect((full["text"] as? String)) { $0?.contains("https://t.co/") == true }
            expect((full["text"] as? String)) { $0?.hasPrefix(String(long.prefix(200))) == true }
            expect((note["text"] as? String)) { $0?.hasSuffix("…") == true }
            #expect(warned["note_tweet"] == nil)
        }
    }

    @Test func showsTheHomeToItsReaderOnly() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.advance(hours: 24)
            let path = "/2/users/\(fixture.xID(.bot))/timelines/reverse_chronological"
            let other = try await fixture.x("GET", path, as: .human)
            #expect(other.status == 403)
            let pages = try await fixture.xWalk(
                path + "?max_results=100&" + Self.everything, as: .bot)
            let posts = pages.flatMap(\.data)
            let dates = posts.compactMap {
                ($0["created_at"] as? String).flatMap { Date(rfc3339: $0) }
            }
            let oldest = try #require(dates.last)
            let age = fixture.clock.now.timeIntervalSince(oldest)
            #expect(age <= 7 * 86_400)
            #expect(age > 6 * 86_400)
            #expect(posts.count > 100)
            let reposts = posts.filter { ($0["text"] as? String)?.hasPrefix("RT @") == true }
            #expect(!reposts.isEmpty)
            expect(reposts) {
                $0.allSatisfy {
                    ($0["referenced_tweets"] as? [[String: Any]])?.first?["type"] as? String
                        == "retweeted"
                }
            }
            let replies = posts.filter { $0["in_reply_to_user_id"] != nil }
            #expect(!replies.isEmpty)
            expect(replies) {
                $0.allSatisfy {
                    ($0["referenced_tweets"] as? [[String: Any]])?.first?["type"] as? String
                        == "replied_to"
                }
            }
        }
    }

    @Test func showsMentionsAndFavorites() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.now = fixture.sandbox.world.end
            let mentions = try await fixture.xWalk(
                "/2/users/\(fixture.xID(.bot))/mentions?max_results=100", as: .bot
            )
            .flatMap(\.texts)
            #expect(!mentions.isEmpty)
            expect(mentions) { $0.allSatisfy { $0.contains("@mirror") } }
            #expect(mentions.count < fixture.sandbox.world.mentions.count)
            let path = "/2/users/\(fixture.xID(.human))/liked_tweets"
            let pages = try await fixture.xWalk(path + "?max_results=50", as: .human)
            let liked = pages.flatMap(\.xIDs)
            #expect(liked.count > 50)
            #expect(Set(liked).count == liked.count)
            #expect(pages[0].meta["newest_id"] == nil)
            for parameter in [
                "since_id=1", "until_id=1", "start_time=2026-11-19T00:00:00Z", "exclude=replies",
            ] {
                let reply = try await fixture.x("GET", path + "?" + parameter, as: .human)
                #expect(reply.status == 400)
            }
        }
    }

    @Test func looksPostsUpAndNamesTheMissing() async throws {
        let world = SandboxFixture.world(humanTexts: ["one", "two"])
        try await SandboxFixture.run(world: world) { (fixture) async throws in
            let one = SandboxFixture.humanID(0, of: 2)
            let two = SandboxFixture.humanID(1, of: 2)
            let both = try await fixture.x("GET", "/2/tweets?ids=\(two),\(one),\(two)")
            #expect(both.texts == ["two", "one"])
            let partly = try await fixture.x("GET", "/2/tweets?ids=\(one),12")
            #expect(partly.status == 200)
            #expect(partly.texts == ["one"])
            #expect(partly.errors.first?["resource_id"] as? String == "12")
            expect((partly.errors.first?["type"] as? String)) {
                $0?.hasSuffix("/resource-not-found") == true
            }
            let none = try await fixture.x("GET", "/2/tweets?ids=12")
            #expect(none.status == 200)
            #expect(none.object["data"] == nil)
            let single = try await fixture.x("GET", "/2/tweets/\(one)")
            #expect(single.single["text"] as? String == "one")
            let many = (0..<101).map(String.init).joined(separator: ",")
            for target in [
                "/2/tweets", "/2/tweets?ids=", "/2/tweets?ids=a", "/2/tweets?ids=1,",
                "/2/tweets?ids=\(many)",
            ] {
                let reply = try await fixture.x("GET", target)
                #expect(reply.status == 400)
            }
        }
    }

    @Test func expandsWhatIsReferencedAndSaysWhatIsGone() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.now = try #require(
                fixture.sandbox.world.mentions.first { $0.mention.kind == .friend }
            ).date
            let first = try #require(
                try await fixture.x("GET", "/2/users/\(fixture.xID(.bot))/mentions").xIDs.first)
            let answer = try await fixture.xPublish("indeed", replyTo: first)
            let id = try #require(answer.single["id"] as? String)
            let target =
                "/2/tweets/\(id)?expansions=referenced_tweets.id.author_id,referenced_tweets.id&"
            let shown = try await fixture.x("GET", target + Self.everything)
            #expect(shown.single["conversation_id"] as? String == first)
            #expect(
                (shown.includes["tweets"] as? [[String: Any]])?.first?["id"] as? String == first)
            let author = (shown.includes["users"] as? [[String: Any]])?.first?["id"] as? String
            #expect(author != nil)
            #expect(author == shown.single["in_reply_to_user_id"] as? String)
            let missing = try await fixture.x("DELETE", "/2/tweets/\(first)")
            #expect(missing.status == 403)
        }
    }

    @Test func expandsPeopleInTextsAndPolls() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.now = fixture.sandbox.world.end
            let pages = try await fixture.xWalk(
                "/2/users/\(fixture.xID(.bot))/timelines/reverse_chronological?max_results=100&exclude=retweets"
                    + "&tweet.fields=attachments,entities&expansions=attachments.poll_ids,entities.mentions.username",
                as: .bot)
            let polls = pages.flatMap { $0.includes["polls"] as? [[String: Any]] ?? [] }.compactMap
            {
                $0["id"] as? String
            }
            let named = pages.flatMap(\.data).compactMap {
                ($0["attachments"] as? [String: Any])?["poll_ids"] as? [String]
            }
            #expect(!polls.isEmpty)
            #expect(Set(polls) == Set(named.joined()))
            let users = Set(
                pages.flatMap { $0.includes["users"] as? [[String: Any]] ?? [] }.compactMap {
                    $0["id"] as? String
                })
            let mentions = pages.flatMap(\.data)
                .flatMap {
                    ($0["entities"] as? [String: Any])?["mentions"] as? [[String: Any]] ?? []
                }
            #expect(!mentions.isEmpty)
            #expect(Set(mentions.compactMap { $0["id"] as? String }) == users)
        }
    }

    private static let badQueries = [
        "max_results=4", "max_results=101", "max_results=abc", "max_results=010", "max_results=",
        "pagination_token=abc", "pagination_token=n12z34", "since_id=-1", "since_id=abc",
        "until_id=1.5",
        "start_time=2026-11-19", "start_time=2026-11-19T00:00:00.000Z",
        "start_time=2010-11-05T00:00:00Z",
        "start_time=2026-11-19T00:00:00Z&end_time=2026-11-18T00:00:00Z", "exclude=quotes",
        "exclude=replies,",
        "limit=5", "tweet.fields=nothing", "tweet.fields=note_post", "post.fields=text",
        "user.fields=nothing",
        "expansions=nothing", "expansions=referenced_posts.id", "media.fields=nothing",
    ]

    @Test func refusesParameters() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            for query in Self.badQueries {
                let reply = try await fixture.x(
                    "GET", "/2/users/\(fixture.xID(.human))/tweets?" + query)
                #expect(reply.status == 400, "\(query)")
                #expect(reply.problem == "invalid-request")
                #expect(reply.errors.first?["parameters"] is [String: Any])
            }
        }
    }

    @Test func keepsATokenToItsList() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let posts = try await fixture.x(
                "GET", "/2/users/\(fixture.xID(.human))/tweets?max_results=5")
            let token = try #require(posts.meta["next_token"] as? String)
            let home = try await fixture.x(
                "GET",
                "/2/users/\(fixture.xID(.bot))/timelines/reverse_chronological?max_results=1&pagination_token=\(token)"
            )
            #expect(home.status == 400)
        }
    }
}
