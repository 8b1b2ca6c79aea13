import Expectations
import Foundation
import Networks
import Posts
import Sandbox
import Testing

/// Every object may be refused alone, and takes nothing else with it.
@Suite struct LoneRefusalTests {
    private static func refusing(
        _ object: SandboxRefusals.Object, _ answer: SandboxRefusals.Answer, on ground: Ground
    ) {
        let rule = SandboxRefusals.Rule(share: 1, forGood: [answer], passing: [])
        ground.sandbox.faults.refusals = SandboxRefusals(rules: [object: rule])
    }

    /// Mentions of half a day, and the bot logged in.
    private static func mentions(on ground: Ground) async throws -> [ObservedPost] {
        ground.clock.advance(minutes: 14 * 60)
        return try await ground.everything(.mentions, of: ground.bot).items
    }

    @Test(arguments: Terrain.documented, SandboxRefusals.Answer.allCases)
    func aRefusedConversationIsToldAndForgotten(terrain: Terrain, answer: SandboxRefusals.Answer)
        async throws
    {
        let ground = try await Ground(terrain)
        let mentions = try await Self.mentions(on: ground)
        Self.refusing(.thread, answer, on: ground)
        let mention = try #require(mentions.first)
        do {
            // Whoever knows it from the post itself need not ask.
            _ = try await ground.bot.conversation(of: mention)
        } catch let error as NetworkError {
            #expect(error.operation == .readConversation)
        }
        try await check(ground, hasStill: mentions)
    }

    @Test(arguments: Terrain.documented, SandboxRefusals.Answer.allCases)
    func aRefusedPostIsGoneOnlyWhereTheNetworkSaysSo(
        terrain: Terrain, answer: SandboxRefusals.Answer
    ) async throws {
        let ground = try await Ground(terrain)
        let mentions = try await Self.mentions(on: ground)
        let mention = try #require(mentions.first)
        Self.refusing(.post, answer, on: ground)
        do {
            let found = try await ground.bot.lookUp(mention.address)
            #expect(found == nil)
            #expect([.notFound, .gone].contains(answer))
        } catch let error as NetworkError {
            // A token that seems to be refused is renewed where that is possible.
            #expect([.readPost, .refreshSession].contains(error.operation))
        }
        try await check(ground, hasStill: mentions)
    }

    @Test(arguments: Terrain.documented) func aRefusedPlaceIsToldAndTheNewestPageIsThere(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        let mentions = try await Self.mentions(on: ground)
        let newest = try await ground.bot.page(.mentions, .newest)
        let place = try #require(newest.newer)
        Self.refusing(.mentions, .badRequest, on: ground)
        do {
            // A network that asks for the newest page anyway never meets it.
            _ = try await ground.bot.page(.mentions, .newer(than: place))
        } catch let error as NetworkError {
            #expect(error.operation == .readMentions)
            #expect(error.code == .rejected)
            #expect(!error.stopsActor)
        }
        try await expect(
            ground.bot.page(.mentions, .newest).items.map(\.post.id),
            equals: newest.items.map(\.post.id))
        ground.sandbox.faults.refusals = SandboxRefusals()
        try await check(ground, hasStill: mentions)
    }

    /// Whoever the account is, it still is, and reads what it read before.
    private func check(_ ground: Ground, hasStill mentions: [ObservedPost]) async throws {
        try await expect(ground.bot.verifyAccount().id, equals: ground.identity(.bot))
        let after = try await ground.everything(.mentions, of: ground.bot).items
        #expect(after.map(\.post.id) == mentions.map(\.post.id))
    }
}
