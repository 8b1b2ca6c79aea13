import Conduct
import Foundation
import Posts
import Testing

@Suite struct FavoriteRulesTests {
    private static let facts = FavoriteFacts(
        post: post("a cat", author: friend), author: Account(id: friend, handle: "aoi@example.org"),
        ownAccounts: [human, botID])

    @Test func ordinaryPostMayBecomeAFavorite() {
        #expect(FavoriteRules().refusal(of: Self.facts, at: noon) == nil)
    }

    @Test(
        arguments: [
            Change("is-repost") { $0.post.isRepost = true },
            Change("own-post") { $0.author.id = human },
            Change("own-post") { $0.post.author = botID },
            Change("not-open") { $0.post.visibility = .private },
            Change("sensitive") { $0.post.isSensitive = true },
            Change("denied") { $0.isDenied = true },
            Change("asked-to-stop") { $0.post.text = "@bot@example.org please stop" },
            Change("bot-author") { $0.author.isBot = true },
            Change("opted-out") { $0.author.bio = "#nobots" },
            Change("already-favorited") { $0.isFavorited = true },
            Change("daily-cap") { $0.favoritesToday = 10 },
            Change("too-old") { $0.post.createdAt = noon.addingTimeInterval(-6 * 3_600 - 1) },
            Change("bad-time") { $0.post.createdAt = noon.addingTimeInterval(86_400) },
        ] as [Change<FavoriteFacts>])
    func otherPostMayNot(change: Change<FavoriteFacts>) {
        var facts = Self.facts
        change.apply(&facts)
        #expect(FavoriteRules().refusal(of: facts, at: noon)?.code == change.code)
    }

    @Test func limitIsReachedNotPassed() {
        var facts = Self.facts
        facts.favoritesToday = 9
        facts.post.createdAt = noon.addingTimeInterval(-6 * 3_600)
        #expect(FavoriteRules().refusal(of: facts, at: noon) == nil)
        #expect(FavoriteRules(perDay: 0).refusal(of: Self.facts, at: noon)?.code == "daily-cap")
    }
}
