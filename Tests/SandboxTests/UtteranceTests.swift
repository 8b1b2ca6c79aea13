import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// What people say to the bot besides the script, and what makes it hard to hear.
@Suite struct UtteranceTests {
    /// More than a client reads of one answer.
    private static let limit = 8 << 20

    private static func handle(_ role: SandboxPerson.Role, _ fixture: SandboxFixture) throws
        -> String
    {
        let population = fixture.sandbox.world.population
        return population.people[try #require(population.indices(of: role).last)].handle
    }

    /// Says something in the name of somebody in a role.
    @discardableResult
    private static func say(
        _ role: SandboxPerson.Role, _ fixture: SandboxFixture,
        change: (inout SandboxUtterance) -> Void = { _ in }
    ) async throws -> SandboxLedger.Mention {
        var utterance = SandboxUtterance(try handle(role, fixture), "how are you?")
        change(&utterance)
        return try #require(await fixture.sandbox.say([utterance]).first)
    }

    @Test func whoeverSpeaksIsHeardAndNoted() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.advance(hours: 1)
            let roles: [SandboxPerson.Role] = [.friend, .stranger, .automated, .optedOut]
            for role in roles { try await Self.say(role, fixture) }
            await expect(fixture.sandbox.say([SandboxUtterance("nobody@nowhere.example", "hello")]))
            { $0.isEmpty }
            let spoken = await fixture.sandbox.ledger.mentions.suffix(4)
            #expect(spoken.map(\.kind) == [.friend, .stranger, .automated, .optedOut])
            #expect(spoken.map(\.deservesReply) == [true, false, false, false])
            let page = try await fixture.send(
                "GET", "/api/v1/notifications?types[]=mention&limit=4")
            let statuses = page.list.compactMap { $0["status"] as? [String: Any] }
            #expect(statuses.compactMap { $0["id"] as? String } == spoken.reversed().map(\.id))
            #expect(page.ids == spoken.reversed().compactMap(\.notification))
        }
    }

    @Test func whoHasAskedToStopStaysSo() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let first = try await Self.say(.friend, fixture) { $0.asksToStop = true }
            let second = try await Self.say(.friend, fixture)
            #expect([first.kind, second.kind] == [.stop, .afterStop])
        }
    }

    @Test func aConversationOfThousandsIsMoreThanAClientReads() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let mention = try await Self.say(.friend, fixture) { $0.burden = .crowd(posts: 4_300) }
            let context = try await fixture.send("GET", "/api/v1/statuses/\(mention.id)/context")
            #expect(context.body.count > Self.limit)
            let answers = try #require(context.object["descendants"] as? [[String: Any]])
            #expect(answers.count == 4_300)
            #expect(Set(answers.compactMap { $0["id"] as? String }).count == 4_300)
            expect(answers) { $0.allSatisfy { $0["in_reply_to_id"] as? String == mention.id } }
            let post = try await fixture.send("GET", "/api/v1/statuses/\(mention.id)")
            #expect(post.body.count < 10_000)
        }
    }

    @Test func whoeverSpeaksMayAnswerAnother() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            fixture.clock.advance(hours: 12)
            let mention = try await Self.say(.friend, fixture) { $0.answered = .another }
            let post = try await fixture.send("GET", "/api/v1/statuses/\(mention.id)").object
            let parent = try #require(post["in_reply_to_id"] as? String)
            let answered = try await fixture.send("GET", "/api/v1/statuses/\(parent)").object
            let author = try #require((answered["account"] as? [String: Any])?["acct"] as? String)
            #expect(author != SandboxPopulation.botName)
            let context = try await fixture.send("GET", "/api/v1/statuses/\(mention.id)/context")
                .object
            #expect((context["ancestors"] as? [[String: Any]])?.last?["id"] as? String == parent)
        }
    }

    @Test func onBlueskyAConversationIsAsLong() async throws {
        try await BlueskyClient.run(world: SandboxFixture.world(bot: .bluesky)) {
            (bot) async throws in
            let mention = try await Self.say(.friend, bot.fixture) {
                $0.burden = .crowd(posts: 4_300)
            }
            let whole = try await bot.get(
                "app.bsky.feed.getPostThread", "uri=\(mention.identity)&depth=1")
            let thread = try #require(whole.object["thread"] as? [String: Any])
            #expect((thread["replies"] as? [Any])?.count == 4_300)
            let alone = try await bot.get(
                "app.bsky.feed.getPostThread", "uri=\(mention.identity)&depth=0")
            #expect(alone.status == 200)
            #expect(alone.body.count < 10_000)
        }
    }

    @Test(arguments: [1 << 20, 9 << 20]) func aPostIsAsLongAsItIsMade(_ bytes: Int) async throws {
        try await SandboxFixture.run(world: SandboxFixture.world(bot: .bluesky)) {
            (fixture) async throws in
            let mention = try await Self.say(.friend, fixture) {
                $0.burden = .padding(bytes: bytes)
            }
            let post = try await fixture.send("GET", "/api/v1/statuses/\(mention.id)")
            #expect((bytes..<bytes + 10_000).contains(post.body.count))
            #expect(post.object["id"] as? String == mention.id)
            let bot = try await BlueskyClient.logIn(.bot, to: fixture)
            let list = try await bot.get("app.bsky.notification.listNotifications", "limit=1")
            #expect((bytes..<bytes + 10_000).contains(list.body.count))
            #expect(list.items("notifications").first?.uri == mention.identity)
        }
    }

    @Test(arguments: SandboxFlaw.allCases) func aFlawSpoilsItsOwnItemAlone(_ flaw: SandboxFlaw)
        async throws
    {
        try await SandboxFixture.run(world: SandboxFixture.world(bot: .bluesky)) {
            (fixture) async throws in
            let sound = try await Self.say(.friend, fixture)
            let broken = try await Self.say(.stranger, fixture) { $0.burden = .flaw(flaw) }
            let page = try await fixture.send(
                "GET", "/api/v1/notifications?types[]=mention&limit=2")
            try #require(page.list.count == 2)
            #expect((page.list[1]["status"] as? [String: Any])?["id"] as? String == sound.id)
            Self.check(page.list[0], flaw, number: broken.notification)
            let bot = try await BlueskyClient.logIn(.bot, to: fixture)
            let answer = try await bot.get("app.bsky.notification.listNotifications", "limit=2")
            let list = try #require(answer.object["notifications"] as? [Any])
            try #require(list.count == 2)
            #expect((list[1] as? [String: Any])?.uri == sound.identity)
            let isSound = (list[0] as? [String: Any]).map { item in
                item["uri"] is String && (item["author"] as? [String: Any])?["did"] is String
                    && item["record"] != nil
                    && item["indexedAt"] is String
            }
            #expect(isSound != true)
        }
    }

    private static func check(_ item: [String: Any], _ flaw: SandboxFlaw, number: String?) {
        switch flaw {
        case .noAuthor:
            #expect(item["account"] == nil)
            #expect((item["status"] as? [String: Any])?["account"] == nil)
        case .wrongTypes: #expect(item["id"] is [Any])
        case .half:
            #expect(item["id"] as? String == number)
            #expect(item["status"] == nil)
        case .null:
            #expect(item["id"] as? String == number)
            #expect(item["status"] is NSNull)
        case .noName:
            #expect(item["id"] == nil)
            #expect((item["status"] as? [String: Any])?["uri"] == nil)
        }
    }

    @Test func onXAFlawSpoilsAPostToo() async throws {
        try await SandboxFixture.run(world: SandboxFixture.world(bot: .x)) {
            (fixture) async throws in
            try await Self.say(.friend, fixture)
            try await Self.say(.friend, fixture) { $0.burden = .flaw(.null) }
            let id = fixture.sandbox.world.population.people[SandboxPopulation.bot].id(on: .x).value
            let page = try await fixture.x("GET", "/2/users/\(id)/mentions?max_results=5")
            let data = try #require(page.object["data"] as? [Any])
            #expect(data.first is NSNull)
            expect(data.dropFirst()) { $0.allSatisfy { $0 is [String: Any] } }
        }
    }

    @Test func theNetworkMayTellLateOrNever() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let own = try await fixture.publish("here I am")
            let late = try await Self.say(.friend, fixture) { $0.notice = .late(3_600) }
            let never = try await Self.say(.friend, fixture) {
                $0.notice = .never
                $0.answered = .bot
            }
            let atOnce = try await Self.say(.friend, fixture)
            #expect(never.notification == nil)
            func told() async throws -> [String] {
                try await fixture.send("GET", "/api/v1/notifications?types[]=mention&limit=3").list
                    .compactMap { ($0["status"] as? [String: Any])?["id"] as? String }
            }
            try await expect(told().prefix(1), equals: [atOnce.id])
            fixture.clock.advance(hours: 1)
            let after = try await told().filter { $0 >= own }
            // Others speak in an hour, too; those two are in the order of their coming.
            #expect(
                after.filter { [late.id, never.id, atOnce.id].contains($0) } == [
                    atOnce.id, late.id,
                ])
            let context = try await fixture.send("GET", "/api/v1/statuses/\(own)/context")
            let answers = context.object["descendants"] as? [[String: Any]] ?? []
            #expect(answers.compactMap { $0["id"] as? String } == [never.id])
        }
    }
}
