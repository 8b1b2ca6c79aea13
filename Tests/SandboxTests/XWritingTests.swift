import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

@Suite struct XWritingTests {
    /// Moves the clock to the first mention of a kind and gives its id on X.
    private func mention(_ kind: SandboxMention.Kind, _ fixture: SandboxFixture) async throws
        -> String
    {
        let entry = try #require(fixture.sandbox.world.mentions.first { $0.mention.kind == kind })
        fixture.clock.now = entry.date
        let mentions = try await fixture.x("GET", "/2/users/\(fixture.xID(.bot))/mentions")
        return try #require(mentions.xIDs.first)
    }

    @Test func publishesAndGivesBackWhatItMadeOfTheText() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let reply = try await fixture.xPublish("1 < 2 & https://elsewhere.example/x")
            #expect(reply.status == 201)
            let id = try #require(reply.single["id"] as? String)
            let text = try #require(reply.single["text"] as? String)
            #expect(text.hasPrefix("1 &lt; 2 &amp; https://t.co/"))
            let own = try await fixture.x("GET", "/2/users/\(fixture.xID(.bot))/tweets")
            #expect(own.xIDs == [id])
            #expect(own.texts == [text])
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.deliveries.map(\.text) == ["1 < 2 & https://elsewhere.example/x"])
            #expect(ledger.summary.posted == 1)
        }
    }

    private static let badBodies = [
        #"{"text":"a","status":"b"}"#, #"{"reply":{"in_reply_to_tweet_id":"1"}}"#, #"{"text":5}"#,
        #"["a"]"#, "",
        #"{"text":"a","reply":{"in_reply_to_status_id":"1"}}"#, #"{"text":"a","reply":"1"}"#,
        #"{"text":"a","reply":{"in_reply_to_tweet_id":1}}"#,
        #"{"text":"a","reply":{"exclude_reply_user_ids":["1"]}}"#,
        #"{"text":"a","reply_settings":"nobody"}"#, #"{"text":"a","made_with_ai":"yes"}"#,
        #"{"text":""}"#,
        #"{"text":" \n "}"#,
    ]

    @Test func refusesBodies() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            for body in Self.badBodies {
                let reply = try await fixture.x("POST", "/2/tweets", json: body)
                #expect(reply.status == 400, "\(body)")
                #expect(reply.problem == "invalid-request")
            }
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.deliveries.isEmpty)
        }
    }

    @Test func weighsTheText() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let long = try await fixture.xPublish(String(repeating: "故", count: 141))
            let fits = try await fixture.xPublish(String(repeating: "故", count: 140))
            let links = try await fixture.xPublish(
                String(repeating: "a", count: 256) + " https://elsewhere.example/"
                    + String(repeating: "b", count: 90))
            #expect([long, fits, links].map(\.status) == [400, 201, 201])
        }
    }

    @Test func refusesWhatAppsMayNotDo() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            for member in [#""quote_tweet_id":"1""#, #""geo":{}"#, #""poll":{}"#] {
                let reply = try await fixture.x(
                    "POST", "/2/tweets", json: #"{"text":"a",\#(member)}"#)
                #expect(reply.status == 403, "\(member)")
                #expect(reply.problem == "client-forbidden")
            }
        }
    }

    @Test func refusesTheSameTextAgain() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let first = try await fixture.xPublish("good morning")
            let second = try await fixture.xPublish("good morning ")
            #expect(second.status == 403)
            #expect(
                second.object["detail"] as? String
                    == "You are not allowed to create a Tweet with duplicate content.")
            let mention = try await mention(.friend, fixture)
            let third = try await fixture.xPublish("good morning", replyTo: mention)
            #expect(third.status == 403)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.rejections.map(\.isExpected) == [false, true])
            _ = try await fixture.x("DELETE", "/2/tweets/\(first.single["id"] as? String ?? "")")
            let again = try await fixture.xPublish("good morning")
            #expect(again.status == 201)
        }
    }

    @Test func tellsTheAnsweredWithoutNamingThem() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let id = try await mention(.friend, fixture)
            let reply = try await fixture.xPublish("indeed", replyTo: id)
            #expect(reply.status == 201)
            #expect(reply.single["text"] as? String == "indeed")
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.deliveries.first?.replyTo == id)
            #expect(ledger.summary.replies == 1)
            #expect(ledger.summary.unsolicited == 0)
            #expect(ledger.widenedReplies.isEmpty)
            #expect(ledger.notifications.count == 1)
        }
    }

    /// Plays the perfect bot: answers every mention that deserves it, as soon as it happens.
    @Test func findsNothingWrongWithACourteousBot() async throws {
        var configuration = SandboxFixture.standard.configuration
        configuration.botNetwork = .x
        try await SandboxFixture.run(world: SandboxWorld(configuration: configuration)) {
            (fixture) async throws in
            _ = try await fixture.xPublish("good morning")
            let deserving = fixture.sandbox.world.mentions.filter(\.mention.deservesReply)
            for (number, entry) in deserving.enumerated() {
                fixture.clock.now = entry.date.addingTimeInterval(30)
                let name = SandboxIdentity.account(entry.handle, on: .x).value
                let mentions = try await fixture.x(
                    "GET", "/2/users/\(fixture.xID(.bot))/mentions?tweet.fields=author_id")
                let mention = mentions.data.first { $0["author_id"] as? String == name }
                let reply = try await fixture.xPublish(
                    "indeed \(number)", replyTo: mention?["id"] as? String)
                #expect(reply.status == 201)
            }
            fixture.clock.now = fixture.sandbox.world.end
            let ledger = await fixture.sandbox.ledger
            expect(ledger.notifications) { $0.allSatisfy { $0.objection == nil } }
            #expect(ledger.widenedReplies.isEmpty)
            let summary = ledger.summary
            #expect(summary.posted == 1)
            #expect(summary.replies == deserving.count)
            #expect(summary.expectedReplies == summary.replies)
            #expect(summary.unsolicited == 0)
            #expect(summary.errors == 0)
            #expect(summary.duplicateSends == 0)
        }
    }

    @Test func survivesDeepAndBrokenBodies() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let bodies = [
                String(repeating: "[", count: 100_000), #"{"text":"#,
                #"{"text":"a","reply":"# + String(repeating: "[", count: 400)
                    + String(repeating: "]", count: 400)
                    + "}",
                #"{"text":"a","reply":"# + String(repeating: #"{"a":"#, count: 5_000),
            ]
            for body in bodies {
                let reply = try await fixture.x("POST", "/2/tweets", json: body)
                #expect(reply.status == 400)
            }
            let alive = try await fixture.xPublish("still alive")
            #expect(alive.status == 201)
        }
    }

    @Test func doesNotTellTheExcluded() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let id = try await mention(.friend, fixture)
            let author =
                try await fixture.x("GET", "/2/tweets/\(id)?tweet.fields=author_id")
                .single["author_id"] as? String
            let person = try #require(author)
            let reply = try await fixture.x(
                "POST", "/2/tweets",
                json: """
                    {"text":"indeed","reply":{"in_reply_to_tweet_id":"\(id)","exclude_reply_user_ids":["\(person)"]}}
                    """)
            #expect(reply.status == 201)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.notifications.isEmpty)
            #expect(ledger.summary.replies == 0)
        }
    }

    @Test func notesWhomATextNamesWithoutBeingAsked() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let ferry = SandboxIdentity.handle("ferry@elsewhere.example", on: .x)
            _ = try await fixture.xPublish("hello @aoi and @\(ferry), @\(ferry)")
            let ledger = await fixture.sandbox.ledger
            let told = ledger.notifications.map(\.recipient)
            #expect(told == ["aoi@sandbox.example", "ferry@elsewhere.example"])
            #expect(ledger.summary.unsolicited == 2)
        }
    }

    @Test func answersOnlyWhoCalledOnTheBot() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.advance(hours: 24)
            let home = try await fixture.x(
                "GET",
                "/2/users/\(fixture.xID(.bot))/timelines/reverse_chronological?exclude=retweets")
            let other = try #require(
                home.data.first { ($0["text"] as? String)?.contains("@mirror") == false })
            let reply = try await fixture.xPublish("indeed", replyTo: other["id"] as? String)
            #expect(reply.status == 403)
            expect((reply.object["detail"] as? String)) {
                $0?.hasPrefix("Reply to this conversation is not allowed") == true
            }
            let gone = try await fixture.xPublish("indeed", replyTo: "12")
            #expect(gone.status == 403)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.summary.errors == 2)
        }
    }

    @Test func allowsOneCashtag() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let one = try await fixture.xPublish("$TRN for $5 or $5k")
            let two = try await fixture.xPublish("$TRN and $CAT!")
            #expect([one, two].map(\.status) == [201, 403])
        }
    }

    @Test func deletesOwnPostsOnly() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let id = try #require(
                try await fixture.xPublish("to be regretted").single["id"] as? String)
            let deleted = try await fixture.x("DELETE", "/2/tweets/\(id)")
            #expect(deleted.single["deleted"] as? Bool == true)
            let again = try await fixture.x("DELETE", "/2/tweets/\(id)")
            let read = try await fixture.x("GET", "/2/tweets/\(id)")
            #expect([again, read].map(\.status) == [404, 404])
            let human = try await fixture.x("GET", "/2/users/\(fixture.xID(.human))/tweets")
            let other = try await fixture.x("DELETE", "/2/tweets/\(try #require(human.xIDs.first))")
            #expect(other.status == 403)
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.rejections.map(\.isExpected) == [true, true, false])
        }
    }

    @Test func refusesFavorites() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let like = try await fixture.x(
                "POST", "/2/users/\(fixture.xID(.bot))/likes", json: #"{"tweet_id":"1"}"#)
            let unlike = try await fixture.x("DELETE", "/2/users/\(fixture.xID(.bot))/likes/1")
            #expect([like, unlike].map(\.status) == [403, 403])
            #expect(like.problem == "client-forbidden")
            #expect(like.object["reason"] as? String == "client-not-enrolled")
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.summary.errors == 2)
        }
    }
}
