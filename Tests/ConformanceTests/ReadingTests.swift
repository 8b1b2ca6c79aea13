import Foundation
import Networks
import Posts
import Sandbox
import Testing

/// What is read is the same, whatever the network and whatever its servers are used to.
@Suite struct ReadingTests {
    @Test(arguments: Terrain.all) func accountsAreWhoTheyAre(terrain: Terrain) async throws {
        let ground = try await Ground(terrain)
        let human = try await ground.human.verifyAccount()
        let bot = try await ground.bot.verifyAccount()
        #expect(human.id == ground.identity(.human))
        #expect(bot.id == ground.identity(.bot))
        #expect(bot.handle == SandboxIdentity.handle(ground.sandbox.world.botHandle, on: terrain.network))
    }

    @Test(arguments: Terrain.all) func answersTellTheNetworksClock(terrain: Terrain) async throws {
        let ground = try await Ground(terrain)
        #expect(ground.bot.clockLead == nil)
        _ = try await ground.bot.verifyAccount()
        let lead = try #require(ground.bot.clockLead)
        #expect(abs(lead + ground.sandbox.faults.clockSkew) <= 1)
    }

    @Test(arguments: Terrain.all) func everyPostIsReadOnceAndInOrder(terrain: Terrain) async throws {
        let ground = try await Ground(terrain)
        let (items, isWhole) = try await ground.everything(.ownPosts, of: ground.human)
        #expect(isWhole)
        #expect(items.filter(\.post.visibility.isOpen).compactMap(Ground.number) == Ground.openNumbers)
        #expect(Set(items.map(\.post.id)).count == items.count)
        let own = ground.identity(.human)
        #expect(items.filter { $0.author.id != own || $0.post.author != own }.isEmpty)
    }

    @Test(arguments: Terrain.all) func textsArriveAsTheyWereWritten(terrain: Terrain) async throws {
        let ground = try await Ground(terrain)
        let items = try await ground.everything(.ownPosts, of: ground.human).items
        var texts: [Int: String] = [:]
        for item in items { if let number = Ground.number(of: item) { texts[number] = item.post.text } }
        #expect(texts[201] == "Post no. 201 & 1 < 2 #walking")
        #expect(texts[212] == "Post no. 212 https://elsewhere.example/notes/212?a=1&b=2")
        #expect(texts[204] == "日本語の投稿 no. 204 です")
        let long = "Post no. 203 " + String(repeating: "and on and on ", count: 14)
        #expect(texts[203] == long.trimmingCharacters(in: .whitespaces))
    }

    /// What the worker reads of each account.
    private static let feeds: [(SandboxRole, Feed)] = [
        (.human, .ownPosts), (.human, .favorites), (.human, .home), (.bot, .mentions), (.bot, .home),
    ]

    @Test(arguments: Terrain.all) func nothingThatArrivesIsMissed(terrain: Terrain) async throws {
        for (role, feed) in Self.feeds {
            let ground = try await Ground(terrain)
            let account = ground.account(role)
            guard account.capabilities.feeds.contains(feed) else { continue }
            let (arrived, all) = try await arrivals(in: feed, of: account, on: ground)
            #expect(!arrived.isEmpty && arrived.isSubset(of: all), "\(role.rawValue) \(feed.rawValue)")
            if !terrain.hidesPosts { #expect(arrived == all, "\(role.rawValue) \(feed.rawValue)") }
        }
    }

    /// What reading bit by bit gives, and what one look at the end gives.
    private func arrivals(
        in feed: Feed, of account: any SocialNetwork, on ground: Ground
    ) async throws -> (arrived: Set<String>, all: Set<String>) {
        var cursor: String?
        var arrived: Set<String> = []
        // Long steps, in which more arrives than a page holds, and short ones, in which nothing does.
        for minutes in [0.0, 1, 700, 2, 1_300, 30, 5, 60] {
            ground.clock.advance(minutes: minutes)
            var walk = FeedWalk(
                of: account, feed, from: cursor.map(FeedPosition.newer(than:)) ?? .newest,
                maximumPages: cursor == nil ? 1 : 50)
            while let page = try await walk.next() {
                arrived.formUnion(names(of: page.items))
                cursor = walk.newer ?? cursor
            }
        }
        let all = try await ground.everything(feed, of: account).items
        return (arrived, Set(names(of: all)))
    }

    /// The items since the run began.
    private func names(of items: [ObservedPost]) -> [String] {
        items.filter { $0.post.createdAt > Ground.origin }.map {
            ($0.post.isRepost ? "repost " : "") + $0.post.id.value
        }
    }
}
