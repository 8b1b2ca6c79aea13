import Expectations
import Foundation
import Posts
import Testing

@testable import Sandbox

/// The record of every request to write, and what posts are called.
@Suite struct WriteLedgerTests {
    @Test(arguments: NetworkName.allCases)
    func tellsPostsRepliesAndFavoritesApart(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.sandbox.faults.x.allowsFavorites = true
            bot.fixture.clock.advance(hours: 24)
            let mention = try await bot.newestMention()
            let post = try await bot.send(bot.publishing("good morning", key: 1))
            let reply = try await bot.send(bot.publishing("thank you", key: 2, answering: mention))
            for _ in 0..<2 { _ = try await bot.send(bot.favoriting(mention, key: 3)) }
            await bot.sandbox.close()
            let ledger = await bot.sandbox.ledger
            let writes = ledger.writes
            #expect(writes.map(\.kind) == [.post, .reply, .favorite, .favorite])
            #expect(writes.map(\.text) == ["good morning", "thank you", nil, nil])
            #expect(writes.map(\.target) == [nil, mention.id, mention.id, mention.id])
            #expect(writes.map(\.effect) == [.created, .created, .created, .repeated])
            #expect(writes.map(\.postID) == ledger.deliveries.map(\.id) + [mention.id, mention.id])
            expect(writes) {
                $0.allSatisfy { $0.isAnswered && $0.fault == nil && $0.arrived == $0.date }
            }
            let hasKeyOfFavorite = network == .bluesky
            let favoriteKey = hasKeyOfFavorite ? bot.key(3) : nil
            #expect(writes.map(\.key) == [bot.key(1), bot.key(2), favoriteKey, favoriteKey])
            expect(
                ledger.deliveries.map(\.identity),
                equals: [try Self.identity(post, bot), try Self.identity(reply, bot)])
            #expect(ledger.favorites.map(\.identity) == [mention.identity])
            #expect(ledger.cutAnswers == 0)
        }
    }

    /// What an answer calls the new post.
    private static func identity(_ reply: Reply?, _ bot: BotRequests) throws -> String {
        let reply = try #require(reply)
        let identity = bot.network == .x ? reply.single["id"] : reply.object["uri"]
        return try #require(identity as? String)
    }

    @Test(arguments: NetworkName.allCases)
    func namesMentionsAsTheirNetworkDoes(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.fixture.clock.now = bot.sandbox.world.end
            let known = Set(await bot.sandbox.ledger.mentions.map(\.identity))
            let served: [String]
            switch network {
            case .mastodon:
                let reply = try await bot.fixture.send(
                    "GET", "/api/v1/notifications?types%5B%5D=mention&limit=80")
                served = reply.list.compactMap {
                    ($0["status"] as? [String: Any])?["uri"] as? String
                }
            case .x:
                let id = bot.fixture.xID(.bot)
                served = try await bot.fixture.x("GET", "/2/users/\(id)/mentions?max_results=100")
                    .xIDs
            default:
                let client = try await BlueskyClient.logIn(.bot, to: bot.fixture)
                let reply = try await client.get(
                    "app.bsky.notification.listNotifications",
                    "reasons=mention&reasons=reply&limit=100")
                served = reply.items("notifications").map(\.uri)
            }
            #expect(served.count > 20)
            #expect(Set(served).isSubset(of: known))
        }
    }

    @Test(arguments: NetworkName.allCases)
    func notesRefusalsAndInjectedAnswers(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            bot.fail(.html(status: 503))
            let broken = try await bot.send(bot.publishing("heard by nobody"))
            #expect(broken?.status == 503)
            let refused = try await bot.send(bot.publishing(String(repeating: "long ", count: 200)))
            let status = try #require(refused?.status)
            #expect((400..<500).contains(status))
            bot.fail(.dropAnswer)
            _ = try await bot.drain(bot.publishing(String(repeating: "long ", count: 200)))
            await bot.sandbox.close()
            let ledger = await bot.sandbox.ledger
            #expect(ledger.writes.map(\.effect) == [.notActed, .refused, .refused])
            #expect(ledger.writes.map(\.status) == [503, status, status])
            #expect(ledger.writes.map(\.isAnswered) == [true, true, false])
            expect(ledger.writes) { $0.allSatisfy { $0.postID == nil } }
            // Who does not hear of the refusal does not know that nothing was made.
            #expect(ledger.cutAnswers == 1)
        }
    }

    @Test func countsASecondLikeRecordAsOneMore() async throws {
        try await BotRequests.run(.bluesky) { bot in
            bot.fixture.clock.advance(hours: 24)
            let mention = try await bot.newestMention()
            for key in [1, 2, 2] { _ = try await bot.send(bot.favoriting(mention, key: key)) }
            let ledger = await bot.sandbox.ledger
            #expect(ledger.writes.map(\.effect) == [.created, .created, .repeated])
            #expect(ledger.favorites.count == 1)
            #expect(ledger.duplicates.map(\.kind) == [.favorite])
        }
    }

    @Test func expectsThatWhoHeardNothingPutsTheRecordAgain() async throws {
        try await BotRequests.run(.bluesky) { bot in
            _ = try await bot.send(bot.publishing("one text"))
            let other = try await bot.send(bot.publishing("another text"))
            #expect(other?.status == 400)
            #expect(other?.error == "InvalidSwap")
            let ledger = await bot.sandbox.ledger
            #expect(ledger.writes.map(\.effect) == [.created, .refused])
            #expect(ledger.summary.errors == 0)
        }
    }

    @Test func readsAFormAsItReadsJSON() async throws {
        try await BotRequests.run(.mastodon) { bot in
            _ = try await bot.fixture.send(
                "POST", "/api/v1/statuses", form: "status=a%20form", key: "k")
            let writes = await bot.sandbox.ledger.writes
            #expect(writes.map(\.text) == ["a form"])
            #expect(writes.map(\.key) == ["k"])
        }
    }

    @Test(arguments: NetworkName.allCases)
    func givesTheSettingsOfBothAccounts(network: NetworkName) async throws {
        try await BotRequests.run(network) { bot in
            for role in SandboxRole.allCases {
                let settings = bot.sandbox.settings(of: role, on: network)
                let prefix = role.rawValue.uppercased()
                #expect(settings["\(prefix)_NETWORK"] == network.rawValue)
                let address = settings["\(prefix)_SERVER"] ?? settings["\(prefix)_API_BASE_URL"]
                #expect(address == bot.sandbox.url)
                let other = settings.keys.filter { !$0.hasPrefix(prefix) }
                #expect(other.isEmpty == (network != .x || role == .human))
                expect(settings.values) { $0.allSatisfy { !$0.isEmpty } }
            }
        }
    }
}
