import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// Single objects that a server does not give out.
@Suite struct RefusalTests {
    private static let always = SandboxRefusals.Rule(share: 1, forGood: [.forbidden], passing: [])

    private static func friend(_ fixture: SandboxFixture) throws -> String {
        let population = fixture.sandbox.world.population
        return population.people[try #require(population.indices(of: .friend).first)].handle
    }

    /// The ids of some mentions that were just made.
    private static func mentions(_ count: Int, _ fixture: SandboxFixture) async throws -> [String] {
        let friend = try friend(fixture)
        return await fixture.sandbox.say(
            (0..<count).map { SandboxUtterance(friend, "number \($0)") }
        ).map(\.id)
    }

    @Test func theSeedDecidesWhichObjectsAreRefused() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let ids = try await Self.mentions(40, fixture)
            func refused(_ seed: UInt64) async throws -> [Int] {
                fixture.sandbox.faults.refusals = SandboxRefusals(
                    seed: seed, rules: [.thread: .init(share: 0.4, passing: [])])
                var statuses: [Int] = []
                for id in ids {
                    statuses.append(
                        try await fixture.send("GET", "/api/v1/statuses/\(id)/context").status)
                    // Nothing but the conversation is refused.
                    try await expect(
                        fixture.send("GET", "/api/v1/statuses/\(id)").status, equals: 200)
                }
                return statuses
            }
            let first = try await refused(1)
            try await expect(refused(1), equals: first)
            try await expect(refused(2)) { $0 != first }
            #expect((5...30).contains(first.count { $0 != 200 }))
            #expect(Set(first).count > 3)
            let named = await fixture.sandbox.ledger.refusedObjects.filter { $0.object == .thread }
                .map(\.name)
            #expect(Set(named).isSubset(of: ids))
            #expect(!named.isEmpty)
            await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        }
    }

    @Test(arguments: SandboxRefusals.Answer.allCases)
    func aRefusalLooksAsTheNetworkWritesIt(_ answer: SandboxRefusals.Answer) async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let id = try #require(try await Self.mentions(1, fixture).first)
            let rule = SandboxRefusals.Rule(share: 1, forGood: [answer], passing: [])
            fixture.sandbox.faults.refusals = SandboxRefusals(rules: [.post: rule, .person: rule])
            let reply = try await fixture.send("GET", "/api/v1/statuses/\(id)")
            #expect(reply.status == Int(answer.rawValue) ?? 200)
            #expect(
                (reply.headers["content-type"] ?? "").hasPrefix(
                    answer == .webPage ? "text/html" : "application/json"))
            let x = try await fixture.x("GET", "/2/tweets/\(id)")
            #expect(x.status == reply.status)
            #expect(answer == .webPage || x.object["title"] is String)
            let bot = try await BlueskyClient.logIn(.bot, to: fixture)
            let friend = SandboxIdentity.account(try Self.friend(fixture), on: .bluesky).value
            let profile = try await bot.get("app.bsky.actor.getProfile", "actor=\(friend)")
            #expect(profile.status == reply.status)
            #expect(answer == .webPage || !(profile.error ?? "").isEmpty)
        }
    }

    @Test func aPassingRefusalPassesAndOneForGoodDoesNot() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            let id = try #require(try await Self.mentions(1, fixture).first)
            let passing = SandboxRefusals.Rule(
                share: 1, forGood: [], passing: [.failure], lasting: 600)
            fixture.sandbox.faults.refusals = SandboxRefusals(rules: [
                .post: passing, .thread: Self.always,
            ])
            func statuses() async throws -> [Int] {
                let post = try await fixture.send("GET", "/api/v1/statuses/\(id)").status
                return [
                    post, try await fixture.send("GET", "/api/v1/statuses/\(id)/context").status,
                ]
            }
            try await expect(statuses(), equals: [500, 403])
            fixture.clock.advance(hours: 0.1)
            try await expect(statuses(), equals: [500, 403])
            fixture.clock.advance(hours: 0.1)
            try await expect(statuses(), equals: [200, 403])
            fixture.clock.advance(hours: 40)
            try await expect(statuses(), equals: [200, 403])
            let ledger = await fixture.sandbox.ledger
            #expect(ledger.refusedObjects.map(\.object) == [.post, .thread])
            #expect(ledger.refusedObjects.map { $0.until == nil } == [false, true])
        }
    }

    @Test func aPageMayBeRefusedForGoodAndTheNewestOneOnlyForAWhile() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            _ = try await Self.mentions(3, fixture)
            let list = "/api/v1/notifications?limit=1"
            let first = try await fixture.send("GET", list)
            let older = try #require(first.link("next"))
            fixture.sandbox.faults.refusals = SandboxRefusals(
                rules: [.mentions: .init(share: 1, forGood: [.badRequest], passing: [])])
            try await expect(fixture.send("GET", list).status, equals: 200)
            try await expect(fixture.send("GET", older).status, equals: 400)
            fixture.sandbox.faults.refusals = SandboxRefusals(
                seed: 3,
                rules: [
                    .mentions: .init(share: 0.5, forGood: [], passing: [.notFound], lasting: 60)
                ])
            var statuses: [Int] = []
            for _ in 0..<40 {
                statuses.append(try await fixture.send("GET", list).status)
                fixture.clock.advance(hours: 1.0 / 60)
            }
            #expect((8...32).contains(statuses.count { $0 == 404 }))
            #expect(Set(statuses) == [200, 404])
        }
    }

    @Test func theMirroredAccountsAreNeverRefused() async throws {
        try await BlueskyClient.run(world: SandboxFixture.world(bot: .bluesky)) {
            (bot) async throws in
            bot.fixture.sandbox.faults.refusals = SandboxRefusals(rules: [.person: Self.always])
            try await expect(
                bot.get("app.bsky.actor.getProfile", "actor=\(bot.did)").status, equals: 200)
            try await expect(
                bot.get("app.bsky.actor.getProfile", "actor=\(bot.fixture.humanDID)").status,
                equals: 200)
            let friend = SandboxIdentity.account(try Self.friend(bot.fixture), on: .bluesky).value
            try await expect(
                bot.get("app.bsky.actor.getProfile", "actor=\(friend)").status, equals: 403)
        }
    }

    @Test func aFaultMayWaitForARequestThatNamesAPlace() async throws {
        try await SandboxFixture.run { (fixture) async throws in
            _ = try await Self.mentions(3, fixture)
            fixture.sandbox.faults.failNext(
                .error(status: 400, message: "no such place"), path: "/api/v1/notifications",
                having: ["max_id"])
            let first = try await fixture.send("GET", "/api/v1/notifications?limit=1")
            let older = try #require(first.link("next"))
            try await expect(fixture.send("GET", older).status, equals: 400)
            try await expect(fixture.send("GET", older).status, equals: 200)
            #expect(fixture.sandbox.faults.applied == 1)
        }
    }
}
