import Expectations
import Foundation
import Networks
import Posts
import Sandbox
import Testing

/// What is read is the same, whatever the network and whatever its servers are used to.
@Suite struct ReadingTests {
    @Test(arguments: Terrain.all(changing: .accounts)) func accountsAreWhoTheyAre(terrain: Terrain)
        async throws
    {
        let ground = try await Ground(terrain)
        let human = try await ground.human.verifyAccount()
        let bot = try await ground.bot.verifyAccount()
        #expect(human.id == ground.identity(.human))
        #expect(bot.id == ground.identity(.bot))
        #expect(
            bot.handle
                == SandboxIdentity.handle(ground.sandbox.world.botHandle, on: terrain.network))
    }

    @Test(arguments: Terrain.all(changing: .accounts)) func answersTellTheNetworksClock(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        #expect(ground.bot.clockLead == nil)
        _ = try await ground.bot.verifyAccount()
        let lead = try #require(ground.bot.clockLead)
        #expect(abs(lead + ground.sandbox.faults.clockSkew) <= 1)
    }

    @Test(arguments: Terrain.all(changing: .pages)) func everyPostIsReadOnceAndInOrder(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        let (items, isWhole) = try await ground.everything(.ownPosts, of: ground.human)
        #expect(isWhole)
        #expect(
            items.filter(\.post.visibility.isOpen).compactMap(Ground.number) == Ground.openNumbers)
        #expect(Set(items.map(\.post.id)).count == items.count)
        let own = ground.identity(.human)
        #expect(items.filter { $0.author.id != own || $0.post.author != own }.isEmpty)
    }

    @Test(arguments: Terrain.all(changing: .pages)) func textsArriveAsTheyWereWritten(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        let items = try await ground.everything(.ownPosts, of: ground.human).items
        var texts: [Int: String] = [:]
        for item in items {
            if let number = Ground.number(of: item) { texts[number] = item.post.text }
        }
        #expect(texts[201] == "Post no. 201 & 1 < 2 #walking")
        #expect(texts[212] == "Post no. 212 https://elsewhere.example/notes/212?a=1&b=2")
        #expect(texts[204] == "日本語の投稿 no. 204 です")
        let long = "Post no. 203 " + String(repeating: "and on and on ", count: 14)
        #expect(texts[203] == long.trimmingCharacters(in: .whitespaces))
    }

    /// What the worker reads of each account.
    private static let feeds: [(SandboxRole, Feed)] = [
        (.human, .ownPosts), (.human, .favorites), (.human, .home), (.bot, .mentions),
        (.bot, .home),
    ]

    @Test(arguments: Terrain.all(changing: .arrivals)) func nothingThatArrivesIsMissed(
        terrain: Terrain
    ) async throws {
        let ground = try await Ground(terrain)
        var readers = Self.feeds.map { Reader(account: ground.account($0), feed: $1) }
        readers.removeAll { !$0.account.capabilities.feeds.contains($0.feed) }
        readers.removeAll { $0.feed == .favorites && terrain.listsNoFavorites }
        // A long step, in which more arrives than a page holds, and short ones, in which nothing
        // does.
        for minutes in [0.0, 1, 900, 2, 60] {
            ground.clock.advance(minutes: minutes)
            for index in readers.indices { try await readers[index].look() }
        }
        for reader in readers {
            let all = Set(
                try await ground.everything(reader.feed, of: reader.account).items.compactMap(
                    Reader.name))
            #expect(!reader.arrived.isEmpty, "\(reader.feed.rawValue)")
            #expect(reader.arrived.isSubset(of: all), "\(reader.feed.rawValue)")
            if !terrain.hidesPosts { #expect(reader.arrived == all, "\(reader.feed.rawValue)") }
        }
    }
}

/// Looks whether the account's own posts are still there.
@Suite(.serialized) struct StillThereTests {
    /// A list of posts, the account's own list, and a question for each agree.
    @Test(arguments: Terrain.all(changing: .arrivals).filter(\.isDocumented))
    func listsAndQuestionsAgree(terrain: Terrain) async throws {
        let ground = try await Ground(terrain)
        ground.clock.advance(minutes: 2_000)
        let human = ground.account(.human)
        let own = try await ground.everything(.ownPosts, of: human).items.filter {
            !$0.post.isRepost
        }
        let posts = Array(own.prefix(20))
        try #require(posts.count > 3)
        for post in posts.prefix(3) {
            try await expect(human.lookUpOwn(post.address)?.post.id, equals: post.post.id)
        }
        var position: FeedPosition? = human.surveyStart(at: posts[0].address)
        var surveyed: Set<PostID> = []
        while let next = position, surveyed.isDisjoint(with: posts.suffix(1).map(\.post.id)) {
            let page = try await human.surveyOwnPosts(next)
            surveyed.formUnion(page.items.map(\.post.id))
            position = page.older.map(FeedPosition.older)
        }
        #expect(surveyed.isSuperset(of: posts.map(\.post.id)))
        guard human.capabilities.lookUpsAtOnce > 1 else {
            await #expect(throws: NetworkError.self) {
                try await human.ownPosts(at: posts.map(\.address))
            }
            return
        }
        let answer = try await human.ownPosts(at: posts.map(\.address) + ["1"])
        #expect(answer.asked.count == posts.count + 1)
        #expect(Set(answer.shown.map(\.post.id)) == Set(posts.map(\.post.id)))
        // The same words, whoever is asked.
        let texts = Dictionary(answer.shown.map { ($0.post.id, $0.post.text) }) { first, _ in first
        }
        expect(posts) { $0.allSatisfy { texts[$0.post.id] == $0.post.text } }
    }
}

/// Reads a feed bit by bit.
private struct Reader {
    let account: any SocialNetwork
    let feed: Feed
    private var cursor: String?
    private(set) var arrived: Set<String> = []

    init(account: any SocialNetwork, feed: Feed) {
        self.account = account
        self.feed = feed
    }

    mutating func look() async throws {
        var walk = FeedWalk(
            of: account, feed, from: cursor.map(FeedPosition.newer(than:)) ?? .newest,
            maximumPages: cursor == nil ? 1 : 50)
        while let page = try await walk.next() {
            arrived.formUnion(page.items.compactMap(Self.name))
            cursor = walk.newer ?? cursor
        }
    }

    /// What an item is known by; nil before the run began.
    static func name(_ item: ObservedPost) -> String? {
        guard item.post.createdAt > Ground.origin else { return nil }
        return (item.post.isRepost ? "repost " : "") + item.post.id.value
    }
}
