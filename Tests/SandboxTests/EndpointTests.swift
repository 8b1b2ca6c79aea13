import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct EndpointTests {
    private func account(_ reply: Reply) -> [String: Any] {
        reply.object["account"] as? [String: Any] ?? [:]
    }

    @Test func saysWhoseTokenItIs() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let bot = try await fixture.send("GET", "/api/v1/accounts/verify_credentials")
            #expect(bot.status == 200)
            #expect(bot.headers["content-type"] == "application/json; charset=utf-8")
            #expect(bot.object["acct"] as? String == "mirror")
            #expect(bot.object["bot"] as? Bool == true)
            #expect(bot.object["source"] is [String: Any])
            let human = try await fixture.send(
                "GET", "/api/v1/accounts/verify_credentials", as: .human)
            #expect(human.object["acct"] as? String == "haruka")
            #expect(human.object["bot"] as? Bool == false)
            let application = try await fixture.send(
                "GET", "/api/v1/apps/verify_credentials", as: .human)
            let scopes = application.object["scopes"] as? [String] ?? []
            #expect(scopes.contains("read:favourites"))
            expect(scopes) { !$0.contains { $0.hasPrefix("write") } }
        }
    }

    @Test func showsEverybodyItsFirstPage() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let page = try await fixture.send("GET", "/", as: .nobody)
            #expect(page.status == 200)
            #expect(page.headers["content-type"] == "text/html; charset=utf-8")
            let rejections = await fixture.sandbox.ledger.rejections
            #expect(rejections.isEmpty)
        }
    }

    @Test func findsAccountsByName() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            for name in ["shizuka", "@shizuka", "Shizuka@Sandbox.Example"] {
                let reply = try await fixture.send(
                    "GET", "/api/v1/accounts/lookup?acct=\(name)", as: .nobody)
                #expect(reply.object["acct"] as? String == "shizuka")
                expect((reply.object["note"] as? String)) {
                    $0?.contains("#<span>nobot</span>") == true
                }
                let id = try #require(reply.object["id"] as? String)
                let same = try await fixture.send("GET", "/api/v1/accounts/\(id)", as: .nobody)
                #expect(same.object["username"] as? String == "shizuka")
            }
            let remote = try await fixture.send(
                "GET", "/api/v1/accounts/lookup?acct=ferry%40elsewhere.example")
            #expect(remote.object["acct"] as? String == "ferry@elsewhere.example")
            #expect(remote.object["url"] as? String == "https://elsewhere.example/@ferry")
            let status = try await fixture.send("GET", "/api/v1/accounts/lookup?acct=nobody").status
            #expect(status == 404)
            let missing = try await fixture.send("GET", "/api/v1/accounts/9").status
            #expect(missing == 404)
        }
    }

    @Test func tellsItsLimitsInBothForms() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            for target in ["/api/v1/instance", "/api/v2/instance"] {
                let reply = try await fixture.send("GET", target, as: .nobody)
                let configuration = try #require(reply.object["configuration"] as? [String: Any])
                let statuses = try #require(configuration["statuses"] as? [String: Any])
                #expect(statuses["max_characters"] as? Int == 500)
                #expect(statuses["characters_reserved_per_url"] as? Int == 23)
            }
            let second = try await fixture.send("GET", "/api/v2/instance", as: .nobody)
            #expect(second.object["domain"] as? String == "sandbox.example")
        }
    }

    @Test func publishesAndShowsAStatus() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.advance(hours: 1)
            let reply = try await fixture.send(
                "POST", "/api/v1/statuses",
                json:
                    #"{"status":"1 < 2\n\n@aoi #cats","visibility":"unlisted","language":"en","spoiler_text":"cw"}"#
            )
            #expect(reply.status == 200)
            let object = reply.object
            #expect(object["created_at"] as? String == "2026-11-19T16:00:00.000Z")
            #expect(object["visibility"] as? String == "unlisted")
            #expect(object["language"] as? String == "en")
            #expect(object["spoiler_text"] as? String == "cw")
            #expect(object["sensitive"] as? Bool == true)
            expect((object["content"] as? String)) {
                $0?.hasPrefix("<p>1 &lt; 2</p><p><span class=\"h-card\"") == true
            }
            #expect((object["mentions"] as? [[String: Any]])?.first?["acct"] as? String == "aoi")
            #expect(account(reply)["acct"] as? String == "mirror")
            let id = try #require(object["id"] as? String)
            #expect(
                object["uri"] as? String == "https://sandbox.example/users/mirror/statuses/\(id)")
            let read = try await fixture.send("GET", "/api/v1/statuses/\(id)", as: .nobody)
            #expect(read.object["id"] as? String == id)
            let home = try await fixture.send("GET", "/api/v1/timelines/home?limit=1")
            #expect(home.ids == [id])
        }
    }

    @Test func thePublicTimelineHasThePublicPostsOfEverybody() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let hidden = try await fixture.publish("for few", visibility: "unlisted")
            let id = try await fixture.publish("for all", visibility: "public")
            let page = try await fixture.send("GET", "/api/v1/timelines/public?limit=40")
            #expect(page.ids.first == id)
            #expect(!page.ids.contains(hidden))
            #expect(
                page.list.allSatisfy {
                    $0["visibility"] as? String == "public" && $0["reblog"] is NSNull
                })
            let authors = page.list.compactMap {
                ($0["account"] as? [String: Any])?["acct"] as? String
            }
            #expect(Set(authors).count > 1)
            try await expect(
                fixture.send("GET", "/api/v1/timelines/public", as: .nobody).status, equals: 401)
        }
    }

    @Test func takesFormsToo() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.send(
                "POST", "/api/v1/statuses",
                form: "status=a+b%26c%0Ad&visibility=private&sensitive=true")
            #expect(reply.object["content"] as? String == "<p>a b&amp;c<br />d</p>")
            #expect(reply.object["visibility"] as? String == "private")
            #expect(reply.object["sensitive"] as? Bool == true)
            let id = try #require(reply.object["id"] as? String)
            let status = try await fixture.send("GET", "/api/v1/statuses/\(id)", as: .nobody).status
            #expect(status == 404)
        }
    }

    @Test func publishesOnceForEachKeyWithinAnHour() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let first = try await fixture.publish("hello", key: "k1")
            try await expect(fixture.publish("hello", key: "k1"), equals: first)
            let other = try await fixture.publish("bye", key: "k2")
            #expect(other != first)
            fixture.clock.advance(hours: 0.99)
            try await expect(fixture.publish("hello", key: "k1"), equals: first)
            fixture.clock.advance(hours: 0.02)
            try await expect(fixture.publish("hello", key: "k1")) { $0 != first }
            await expect(fixture.sandbox.ledger.deliveries.count, equals: 3)
        }
    }

    @Test func deletesOwnPostsOnly() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let id = try await fixture.publish("to be regretted")
            let gone = try await fixture.send("DELETE", "/api/v1/statuses/\(id)")
            #expect(gone.status == 200)
            #expect(gone.object["text"] as? String == "to be regretted")
            let again = try await fixture.send("GET", "/api/v1/statuses/\(id)")
            #expect(again.status == 404)
            let home = try await fixture.send("GET", "/api/v1/timelines/home?limit=40")
            #expect(!home.ids.contains(id))
            let other = try #require(
                home.list.first {
                    ($0["account"] as? [String: Any])?["acct"] as? String != "mirror"
                })
            let foreign = try #require(other["id"] as? String)
            let refused = try await fixture.send("DELETE", "/api/v1/statuses/\(foreign)")
            #expect(refused.status == 404)
            await expect(
                fixture.sandbox.ledger.rejections.map(\.isExpected), equals: [true, false])
        }
    }

    @Test func favoritesAndTakesItBack() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let home = try await fixture.send("GET", "/api/v1/timelines/home?limit=40")
            let candidate = home.list.first { status in
                status["reblog"] is NSNull
                    && (status["account"] as? [String: Any])?["acct"] as? String != "haruka"
            }
            let id = try #require(candidate?["id"] as? String)
            let done = try await fixture.send("POST", "/api/v1/statuses/\(id)/favourite")
            #expect(done.object["favourited"] as? Bool == true)
            try await expect(fixture.send("GET", "/api/v1/favourites").ids, equals: [id])
            let again = try await fixture.send("POST", "/api/v1/statuses/\(id)/favourite")
            #expect(again.status == 200)
            await expect(fixture.sandbox.ledger.summary.duplicateSends, equals: 1)
            let back = try await fixture.send("POST", "/api/v1/statuses/\(id)/unfavourite")
            #expect(back.object["favourited"] as? Bool == false)
            try await expect(fixture.send("GET", "/api/v1/favourites").ids) { $0.isEmpty }
            let unknown = try await fixture.send("POST", "/api/v1/statuses/1/favourite")
            #expect(unknown.status == 404)
        }
    }

    @Test func showsTheConversationAroundAPost() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let first = try await fixture.publish("one")
            let second = try await fixture.publish("two", replyTo: first)
            let third = try await fixture.publish("three", replyTo: second)
            let secret = try await fixture.publish("four", replyTo: second, visibility: "direct")
            let context = try await fixture.send("GET", "/api/v1/statuses/\(second)/context").object
            func ids(_ name: String) -> [String] {
                (context[name] as? [[String: Any]])?.compactMap { $0["id"] as? String } ?? []
            }
            #expect(ids("ancestors") == [first])
            #expect(ids("descendants") == [third, secret])
            let open = try await fixture.send(
                "GET", "/api/v1/statuses/\(second)/context", as: .nobody
            ).text
            #expect(!open.contains(secret))
        }
    }

    @Test func letsMentionsArriveWithTheClock() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let target = "/api/v1/notifications?types%5B%5D=mention&limit=80"
            let before = try await fixture.send("GET", target)
            #expect(before.list.count == 2)
            fixture.clock.now = fixture.sandbox.world.end
            let after = try await fixture.send("GET", target)
            #expect(after.list.count == fixture.sandbox.world.mentions.count)
            expect(after.list) {
                $0.allSatisfy {
                    $0["type"] as? String == "mention" && $0["status"] is [String: Any]
                }
            }
            let all = try await fixture.send("GET", "/api/v1/notifications?limit=80")
            let kinds = Set(all.list.compactMap { $0["type"] as? String })
            #expect(kinds == ["mention", "follow"])
            let others = try await fixture.send(
                "GET", "/api/v1/notifications?exclude_types[]=mention")
            expect(others.list) {
                $0.allSatisfy { $0["type"] as? String == "follow" && $0["status"] == nil }
            }
        }
    }

    @Test func showsEveryShapeOfPostOnTheBotsHome() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.now = fixture.sandbox.world.end
            let posts = try await fixture.walk("/api/v1/timelines/home?limit=40", as: .bot).flatMap(
                \.list)
            expect(posts) { $0.contains { $0["reblog"] is [String: Any] } }
            expect(posts) {
                $0.contains { !(($0["media_attachments"] as? [Any])?.isEmpty ?? true) }
            }
            expect(posts) { $0.contains { $0["poll"] is [String: Any] } }
            expect(posts) { $0.contains { $0["sensitive"] as? Bool == true } }
            expect(posts) { $0.contains { $0["in_reply_to_id"] is String } }
            expect(posts) { $0.contains { $0["visibility"] as? String == "private" } }
            let authors = Set(
                posts.compactMap { ($0["account"] as? [String: Any])?["acct"] as? String })
            #expect(authors.isSuperset(of: ["haruka", "aoi", "shizuka", "densha_bot", "kent"]))
        }
    }
}
