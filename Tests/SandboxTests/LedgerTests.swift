import Expectations
import Foundation
import Testing

@testable import Sandbox

@Suite struct LedgerTests {
    /// Plays the perfect bot: answers every mention that deserves it, as soon as it happens.
    @Test func findsNothingWrongWithACourteousBot() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            _ = try await fixture.publish("good morning")
            for entry in fixture.sandbox.world.mentions where entry.mention.deservesReply {
                fixture.clock.now = entry.date.addingTimeInterval(30)
                let id = try await newestMention(by: entry.handle, in: fixture)
                _ = try await fixture.publish(
                    "@\(entry.handle) indeed", replyTo: id, visibility: "direct")
            }
            fixture.clock.now = fixture.sandbox.world.end
            let ledger = await fixture.sandbox.ledger
            expect(ledger.notifications) { $0.allSatisfy { $0.objection == nil } }
            let summary = ledger.summary
            #expect(summary.posted == 1)
            #expect(summary.replies == fixture.sandbox.world.expectedReplies)
            #expect(summary.expectedReplies == summary.replies)
            #expect(summary.unsolicited == 0)
            #expect(summary.errors == 0)
            #expect(summary.duplicateSends == 0)
        }
    }

    private func newestMention(by handle: String, in fixture: SandboxFixture) async throws -> String
    {
        let reply = try await fixture.send(
            "GET", "/api/v1/notifications?types%5B%5D=mention&limit=80")
        let name = handle.replacingOccurrences(of: "@sandbox.example", with: "")
        let match = reply.list.first {
            ($0["account"] as? [String: Any])?["acct"] as? String == name
        }
        let status = try #require(match?["status"] as? [String: Any])
        return try #require(status["id"] as? String)
    }

    @Test(
        arguments: [
            (.stranger, "the human never answered this person"), (.automated, "automated account"),
            (.optedOut, "account keeps bots away"), (.stop, "account asked the bot to stop"),
            (.afterStop, "account asked the bot to stop"),
        ] as [(SandboxMention.Kind, String)])
    func objectsToAnswers(kind: SandboxMention.Kind, objection: String) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let entry = try #require(
                fixture.sandbox.world.mentions.first { $0.mention.kind == kind })
            fixture.clock.now = entry.date
            let id = try await newestMention(by: entry.handle, in: fixture)
            _ = try await fixture.publish("@\(entry.handle) hello", replyTo: id)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.notifications.map(\.objection) == [objection])
            #expect(ledger.summary.unsolicited == 1)
        }
    }

    @Test func objectsToTheFourthAnswerOfADay() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let world = fixture.sandbox.world
            let friend = world.population.people[world.population.indices(of: .friend)[0]].handle
            for entry in world.mentions.filter({ $0.handle == friend && $0.mention.kind == .friend }
            ).prefix(4) {
                fixture.clock.now = entry.date
                let id = try await newestMention(by: friend, in: fixture)
                _ = try await fixture.publish(
                    "@\(friend) \(entry.date.timeIntervalSince1970)", replyTo: id)
            }
            let ledger = await fixture.sandbox.ledger
            #expect(
                ledger.notifications.map(\.objection) == [
                    nil, nil, nil, "too many answers in a day",
                ])
        }
    }

    @Test func objectsToTheSixthAnswerInAConversation() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let threads = Dictionary(grouping: fixture.sandbox.world.mentions, by: \.mention.thread)
            let long = try #require(threads.values.first { $0.count == 6 })
            var last: String?
            for entry in long {
                fixture.clock.now = entry.date
                let id = try await newestMention(by: entry.handle, in: fixture)
                let mention = try await fixture.send("GET", "/api/v1/statuses/\(id)")
                #expect(mention.object["in_reply_to_id"] as? String == last)
                last = try await fixture.publish("@\(entry.handle) yes", replyTo: id)
            }
            let objections = await fixture.sandbox.ledger.notifications.map(\.objection)
            #expect(objections == [nil, nil, nil, nil, nil, "too many answers in a conversation"])
        }
    }

    @Test func objectsToNamingOthers() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let entry = try #require(
                fixture.sandbox.world.mentions.first { $0.mention.deservesReply })
            fixture.clock.now = entry.date
            let id = try await newestMention(by: entry.handle, in: fixture)
            _ = try await fixture.publish("@\(entry.handle) and @haruka", replyTo: id)
            _ = try await fixture.publish("hello @aoi")
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.summary.unsolicited == 2)
            expect(ledger.notifications.compactMap(\.objection)) {
                $0.allSatisfy { $0 == "did not mention the bot" }
            }
            #expect(ledger.summary.replies == 1)
        }
    }

    @Test func doesNotCountAnAnswerThatNobodyHears() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let entry = try #require(
                fixture.sandbox.world.mentions.first { $0.mention.deservesReply })
            fixture.clock.now = entry.date
            let id = try await newestMention(by: entry.handle, in: fixture)
            _ = try await fixture.publish("a reply without a name", replyTo: id)
            let summary = await fixture.sandbox.ledger.summary
            #expect(summary.replies == 0)
            #expect(summary.posted == 0)
        }
    }

    @Test func noticesWhatIsSentTwice() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let first = try await fixture.publish("again")
            _ = try await fixture.publish("again", key: "other")
            _ = try await fixture.publish("different", replyTo: first)
            _ = try await fixture.publish("same target", replyTo: first)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.duplicates.map(\.kind) == [.text, .reply])
        }
    }

    @Test func noticesAnswersMorePublicThanTheMention() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let world = fixture.sandbox.world
            let friend = world.population.people[world.population.indices(of: .friend)[0]].handle
            let entry = world.mentions.filter { $0.handle == friend && $0.mention.kind == .friend }[
                2]
            fixture.clock.now = entry.date
            let id = try await newestMention(by: friend, in: fixture)
            let mention = try await fixture.send("GET", "/api/v1/statuses/\(id)")
            #expect(mention.object["visibility"] as? String == "private")
            _ = try await fixture.publish("@\(friend) hello", replyTo: id, visibility: "private")
            await expect(fixture.sandbox.ledger.widenedReplies) { $0.isEmpty }
            let loud = try await fixture.publish(
                "@\(friend) hello again", replyTo: id, visibility: "unlisted")
            await expect(fixture.sandbox.ledger.widenedReplies, equals: [loud])
        }
    }

    @Test func judgesFavoritesByWhoseTheyAre() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let own = try await fixture.publish("mine")
            fixture.clock.now = fixture.sandbox.world.end
            let posts = try await fixture.walk("/api/v1/timelines/home?limit=40", as: .bot).flatMap(
                \.list)
            func first(_ matches: ([String: Any], String) -> Bool) throws -> String {
                let post = posts.first {
                    matches($0, ($0["account"] as? [String: Any])?["acct"] as? String ?? "")
                }
                return try #require(post?["id"] as? String)
            }
            let wanted: [(String, String?)] = [
                (own, "own post"),
                (try first { $1 == "haruka" }, "post of the human"),
                (try first { post, _ in post["reblog"] is [String: Any] }, "repost"),
                (
                    try first { post, acct in
                        post["visibility"] as? String == "private" && post["reblog"] is NSNull
                            && acct != "haruka"
                    }, "not a public post"
                ),
                (
                    try first { $1 == "densha_bot" && $0["visibility"] as? String == "public" },
                    "automated account"
                ),
                (
                    try first { $1 == "shizuka" && $0["visibility"] as? String == "public" },
                    "account keeps bots away"
                ),
                (
                    try first { post, acct in
                        acct == "kent" && post["visibility"] as? String == "public"
                            && post["reblog"] is NSNull
                    },
                    "account asked the bot to stop"
                ),
                (
                    try first {
                        $1 == "aoi" && $0["visibility"] as? String == "public"
                            && $0["reblog"] is NSNull
                    }, nil
                ),
            ]
            for (id, _) in wanted {
                let reply = try await fixture.send("POST", "/api/v1/statuses/\(id)/favourite")
                #expect(reply.status == 200)
            }
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.favorites.map(\.objection) == wanted.map(\.1))
            #expect(ledger.summary.unsolicited == wanted.count - 1)
        }
    }

    @Test func computesPrecisionAndBaseRate() {
        var ledger = SandboxLedger()
        #expect(ledger.summary.favoritePrecision == nil)
        #expect(ledger.summary.baseRate == nil)
        for (number, isLoved) in [true, true, true, false].enumerated() {
            ledger.favorites.append(
                .init(
                    postID: String(number), identity: String(number), author: "a@b.example",
                    date: SandboxFixture.origin, isLoved: isLoved,
                    objection: nil))
        }
        ledger.favorites.append(
            .init(
                postID: "stop", identity: "stop", author: "a@b.example",
                date: SandboxFixture.origin, isLoved: false,
                objection: nil, confirmsStop: true))
        ledger.eligiblePosts = 10
        ledger.lovedPosts = 2
        #expect(ledger.summary.favorites == 4)
        #expect(ledger.summary.favoritePrecision == 0.75)
        #expect(ledger.summary.baseRate == 0.2)
    }
}
