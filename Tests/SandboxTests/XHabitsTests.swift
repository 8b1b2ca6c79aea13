import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct XHabitsTests {
    private static let few = SandboxFixture.world(humanTexts: (0..<12).map { "post \($0)" })

    private func run(
        world: SandboxWorld = few, _ habits: (inout XHabits) -> Void,
        _ body: (SandboxFixture, String) async throws -> Void
    ) async throws {
        try await SandboxFixture.run(world: world) { (fixture) async throws in
            habits(&fixture.sandbox.faults.x)
            try await body(fixture, "/2/users/\(fixture.xID(.human))/tweets")
        }
    }

    @Test func knowsTheNewNames() async throws {
        let long = String(repeating: "故", count: 200)
        let world = SandboxFixture.world(humanTexts: ["short", long])
        try await run(
            world: world,
            {
                $0.parameterSpelling = .post
                $0.answerSpelling = .post
            }
        ) { (fixture, target) async throws in
            let old = try await fixture.x("GET", target + "?tweet.fields=text")
            let mixed = try await fixture.x("GET", target + "?post.fields=note_tweet")
            #expect([old, mixed].map(\.status) == [400, 400])
            let new = try await fixture.x(
                "GET", target + "?post.fields=note_post,referenced_posts,author_id,public_metrics")
            #expect(new.data[0]["note_post"] is [String: Any])
            #expect(new.data[0]["edit_history_post_ids"] is [String])
            #expect((new.data[0]["public_metrics"] as? [String: Any])?["repost_count"] as? Int == 0)
            #expect(new.data[0]["author_id"] is String)
        }
    }

    @Test func includesPostsUnderTheNewName() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.x.parameterSpelling = .post
            fixture.sandbox.faults.x.answerSpelling = .post
            fixture.sandbox.faults.x.referencesOnlyByExpansion = true
            fixture.clock.advance(hours: 24)
            let target = "/2/users/\(fixture.xID(.bot))/timelines/reverse_chronological"
            let refused = try await fixture.x("GET", target + "?post.fields=author_id")
            #expect(refused.status == 400)
            let reply = try await fixture.x(
                "GET", target + "?expansions=author_id,referenced_posts.id")
            expect(reply.data) { $0.allSatisfy { $0["author_id"] is String } }
            expect(reply.data) { $0.contains { $0["referenced_posts"] is [[String: Any]] } }
            #expect(reply.includes["posts"] is [[String: Any]])
            #expect(reply.includes["tweets"] == nil)
        }
    }

    @Test func saysMissingIn200() async throws {
        try await run({ $0.answersMissingWith200 = true }) { (fixture, _) async throws in
            for target in ["/2/tweets/12", "/2/users/by/username/nobody", "/2/users/12/tweets"] {
                let reply = try await fixture.x("GET", target)
                #expect(reply.status == 200)
                #expect(reply.object["data"] == nil)
                #expect(reply.errors.first?["title"] as? String == "Not Found Error")
            }
        }
    }

    @Test func sendsEmptyLists() async throws {
        try await run({ $0.sendsEmptyData = true }) { (fixture, _) async throws in
            let reply = try await fixture.x("GET", "/2/users/\(fixture.xID(.bot))/tweets")
            expect((reply.object["data"] as? [Any])) { $0?.isEmpty == true }
            #expect(reply.meta["result_count"] as? Int == 0)
        }
    }

    @Test func goesOnAfterShortAndEmptyPages() async throws {
        try await run({
            $0.shortPages = true
            $0.emptyPages = true
        }) { (fixture, target) async throws in
            let pages = try await fixture.xWalk(target + "?max_results=9", as: .human)
            #expect(pages.map(\.data.count) == [3, 0, 3, 0, 3, 0, 3])
            #expect(pages.flatMap(\.texts) == (0..<12).reversed().map { "post \($0)" })
            #expect(pages[1].object["data"] == nil)
            #expect(pages[1].meta["next_token"] != nil)
        }
    }

    @Test func hidesEveryOtherYoungPostForAWhile() async throws {
        try await run({ $0.hidesRecent = 30 }) { (fixture, _) async throws in
            let target = "/2/users/\(fixture.xID(.bot))/tweets"
            fixture.clock.now = SandboxFixture.origin
            let even = try await fixture.xPublish("even")
            fixture.clock.now = SandboxFixture.origin.addingTimeInterval(0.001)
            _ = try await fixture.xPublish("odd")
            let early = try await fixture.x("GET", target)
            #expect(early.texts == ["odd"])
            let direct = try await fixture.x(
                "GET", "/2/tweets/\(even.single["id"] as? String ?? "")")
            #expect(direct.status == 200)
            fixture.clock.now = SandboxFixture.origin.addingTimeInterval(31)
            let late = try await fixture.x("GET", target)
            #expect(late.texts == ["odd", "even"])
        }
    }

    @Test func limitsThePostsOfADay() async throws {
        try await run({ $0.postsPerDay = 2 }) { (fixture, _) async throws in
            let replies = [
                try await fixture.xPublish("one"), try await fixture.xPublish("two"),
                try await fixture.xPublish("three"), try await fixture.xPublish("four"),
            ]
            #expect(replies.map(\.status) == [201, 201, 429, 429])
            let headers = replies[2].headers
            #expect(headers["x-user-limit-24hour-limit"] == "2")
            #expect(headers["x-user-limit-24hour-remaining"] == "0")
            #expect(headers["x-user-limit-24hour-reset"] == "1795132800")
            #expect(headers["x-app-limit-24hour-remaining"] == "9998")
            #expect(headers["x-rate-limit-remaining"].flatMap { Int($0) } ?? 0 > 0)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.rejections.map(\.isExpected) == [true, false])
            #expect(ledger.summary.posted == 2)
        }
    }

    @Test func stopsAtTheCapOfTheMonth() async throws {
        try await run({ $0.postReadsPerMonth = 12 }) { (fixture, target) async throws in
            _ = try await fixture.x("GET", target + "?max_results=12")
            let capped = try await fixture.x("GET", target)
            #expect(capped.status == 429)
            #expect(capped.object["title"] as? String == "UsageCapExceeded")
            #expect(capped.object["period"] as? String == "Monthly")
            #expect(capped.problem == "usage-capped")
            let write = try await fixture.xPublish("still")
            #expect(write.status == 201)
            fixture.clock.now = Date(timeIntervalSince1970: 1_796_083_200)
            let december = try await fixture.x("GET", target)
            #expect(december.status == 200)
        }
    }

    @Test func wantsQuietAfterTheCreditsAreGone() async throws {
        try await run({ $0.credits = 15_000 }) { (fixture, _) async throws in
            let paid = try await fixture.xPublish("one")
            #expect(paid.status == 201)
            for _ in 0..<2 {
                let refused = try await fixture.xPublish("two")
                #expect(refused.status == 402)
                #expect(refused.object["title"] as? String == "CreditsDepleted")
                fixture.clock.now += 120
            }
            fixture.clock.advance(hours: 1)
            _ = try await fixture.x("GET", "/2/users/me")
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.rejections.map(\.isExpected) == [true, false, true])
        }
    }

    @Test func failsAtTheEdge() async throws {
        try await run({ $0.edgeFailsEvery = 2 }) { (fixture, _) async throws in
            let first = try await fixture.xPublish("one")
            let second = try await fixture.xPublish("two")
            #expect([first, second].map(\.status) == [201, 503])
            #expect(second.headers["content-type"] == "text/html; charset=utf-8")
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.deliveries.count == 1)
            #expect(ledger.summary.errors == 0)
        }
    }

    @Test func takesFavoritesAsItOnceDid() async throws {
        try await run({ $0.allowsFavorites = true }) { (fixture, _) async throws in
            let id = SandboxFixture.humanID(3, of: 12)
            let path = "/2/users/\(fixture.xID(.bot))/likes"
            let like = try await fixture.x("POST", path, json: #"{"tweet_id":"\#(id)"}"#)
            #expect(like.single["liked"] as? Bool == true)
            let liked = try await fixture.x("GET", "/2/users/\(fixture.xID(.bot))/liked_tweets")
            #expect(liked.xIDs == [id])
            let unlike = try await fixture.x("DELETE", "\(path)/\(id)")
            #expect(unlike.single["liked"] as? Bool == false)
            let none = try await fixture.x("GET", "/2/users/\(fixture.xID(.bot))/liked_tweets")
            #expect(none.meta["result_count"] as? Int == 0)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.favorites.map(\.postID) == [id])
            let other = try await fixture.x(
                "POST", "/2/users/\(fixture.xID(.human))/likes", json: #"{"tweet_id":"\#(id)"}"#)
            #expect(other.status == 403)
        }
    }

    @Test func namesTheAnsweredInTheirPlace() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.sandbox.faults.x.namesTheAnswered = true
            let entry = try #require(
                fixture.sandbox.world.mentions.first { $0.mention.kind == .friend })
            fixture.clock.now = entry.date
            let mentions = try await fixture.x("GET", "/2/users/\(fixture.xID(.bot))/mentions")
            let id: String = try #require(mentions.xIDs.first)
            let reply = try await fixture.xPublish("indeed", replyTo: id)
            let name = SandboxIdentity.handle(entry.handle, on: .x)
            #expect(reply.single["text"] as? String == "@\(name) indeed")
            let plain = try await fixture.xPublish("to nobody")
            #expect(plain.single["text"] as? String == "to nobody")
        }
    }

    @Test func errsInTheOldForm() async throws {
        try await run({ $0.oldErrors = true }) { (fixture, _) async throws in
            let refused = try await fixture.x("GET", "/2/users/me") {
                $0.keys.accessTokenSecret += "x"
            }
            #expect(refused.status == 401)
            #expect(refused.errors.first?["code"] as? Int == 32)
            #expect(refused.object["title"] == nil)
        }
    }
}
