import Expectations
import Foundation
import MeCab
import Posts
import Storage
import Testing

@testable import Favorites

@Suite struct FavoritesTests {
    @Test func waitsForBothCategories() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites(minimum: 20)
            let liked = (0..<20).map { Corpus.example(100 + $0, "猫の写真", nil) }
            _ = try await favorites.learn(liked.prefix(3).map { .favorited($0) }, at: Fixture.now)
            let post = Corpus.example(1, "猫の写真", nil)
            var answer = try #require(try await favorites.classify([post]).first)
            #expect(answer.waiting?.description == "3 of 20 favorites, 0 of 20 normals")
            _ = try await favorites.learn(liked.map { .favorited($0) }, at: Fixture.now)
            answer = try #require(try await favorites.classify([post]).first)
            #expect(answer.waiting?.description == "0 of 20 normals")
            #expect(!answer.isFavorite)
            try await expect(favorites.status().waiting, equals: answer.waiting)
            let others = (0..<20).map { Corpus.example(200 + $0, "会議の資料", nil) }
            _ = try await favorites.learn(others.map { .seen($0) }, at: Fixture.now)
            _ = try await favorites.learn(liked.map { .seen($0) }, at: Fixture.now)
            let both = try await favorites.classify([post, Corpus.example(2, "会議の資料", "somebody")])
            #expect(both.map(\.waiting) == [nil, nil])
            #expect(both.map(\.isFavorite) == [true, false])
            #expect(both[0].contributions.first?.favoriteCount == 20)
            #expect(both.map(\.id) == [post.id, Corpus.id(2)])
        }
    }

    @Test func theThresholdMustBeExceeded() async throws {
        try await Fixture.with(.sqlite) { fixture in
            _ = try await fixture.favorites().learn(Corpus.events, at: Fixture.now)
            let post = Corpus.example(9, "猫", "alice")
            for (threshold, isFavorite) in [
                (1.80, true), (1.81, false), (1e-300, true), (1e300, false),
            ] {
                let configuration = try FavoriteConfiguration(
                    threshold: threshold, minimumPerCategory: 0)
                let favorites = try fixture.favorites(configuration)
                try await expect(favorites.classify([post]).map(\.isFavorite), equals: [isFavorite])
            }
        }
    }

    @Test(arguments: [0, -1, .nan, .infinity]) func refusesAThresholdThatIsNone(_ threshold: Double)
    {
        let error = #expect(throws: FavoritesError.self) {
            try FavoriteConfiguration(threshold: threshold)
        }
        #expect(error?.code == .invalidConfiguration)
        expect(error?.description) { $0?.contains("FAVORITE_RATE_THRESHOLD") == true }
    }

    @Test func classifyingLearnsNothing() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites()
            try await expect(favorites.classify([])) { $0.isEmpty }
            _ = try await favorites.classify(Corpus.posts)
            try await expect(fixture.rows(), equals: 0)
            try await expect(fixture.states(of: Corpus.posts.map(\.id))) { $0.isEmpty }
        }
    }

    @Test func tellsWhatIsKnownOfPosts() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(
                Corpus.events + [.favorited(Corpus.unseen)], at: Fixture.now)
            let states = try await fixture.states(of: [1, 4, 8, 99].map(Corpus.id))
            #expect(
                states == [
                    Corpus.id(1): .seenFavorite, Corpus.id(4): .seen, Corpus.id(8): .favorite,
                ])
        }
    }

    @Test func samePostOnAnotherNetworkIsAnotherPost() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites()
            let events = NetworkName.allCases.map {
                FavoriteEvent.seen(
                    Example(id: PostID(network: $0, value: "1"), author: nil, text: "猫"))
            }
            try await expect(favorites.learn(events, at: Fixture.now).learned, equals: 3)
            try await expect(fixture.dump()["normal 猫"], equals: 3)
        }
    }

    @Test func forgetsAnAuthorEverywhere() async throws {
        func bob(_ network: NetworkName) -> AccountID { AccountID(network: network, value: "4711") }
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let elsewhere = Example(id: PostID(network: .x, value: "1"), author: "BOB", text: "猫")
            _ = try await favorites.learn([.seen(elsewhere)], at: Fixture.now)
            try await expect(
                favorites.forget(bob(.mastodon), called: ["@Bob"], at: Fixture.now).unlearned,
                equals: 2)
            let counts = try await fixture.dump()
            #expect(counts["favorite @bob"] == nil)
            #expect(counts["normal @bob"] == 1)
            try await expect(
                favorites.forget(bob(.x), called: ["bob"], at: Fixture.now).unlearned, equals: 1)
            try await expect(fixture.dump()["normal @bob"], equals: nil)
            try await expect(
                favorites.forget(bob(.x), called: [""], at: Fixture.now).unlearned, equals: 0)
            try await expect(favorites.status()) { $0.counts == .current }
        }
    }

    @Test func moreEventsThanABatchAreLearned() async throws {
        try await Fixture.with(.sqlite) { fixture in
            let favorites = try fixture.favorites(limit: 1_500)
            let events = (0..<2_600).map {
                FavoriteEvent.seen(Corpus.example($0, "猫\($0 % 7)", "a\($0 % 11)"))
            }
            let summary = try await favorites.learn(events, at: Fixture.now)
            #expect(summary.learned == 2_600)
            #expect(summary.pruned == 1_100)
            let status = try await favorites.status()
            #expect(status.normals == 1_500)
            #expect(status.counts == .current)
        }
    }

    @Test func countsThatWereNotKeptUpAreRebuilt() async throws {
        try await Fixture.with(.redis) { fixture in
            let store = SQLCountStore(storage: fixture.storage, mirror: fixture.mirror)
            let embedded = try fixture.favorites(counts: store)
            _ = try await embedded.learn(Array(Corpus.events.prefix(5)), at: Fixture.now)
            // For a while the counts are in Redis, then in the database again.
            _ = try await fixture.favorites().learn(Corpus.events, at: Fixture.now)
            _ = try await embedded.learn([.favorited(Corpus.unseen)], at: Fixture.now)
            let snapshot = try #require(try await store.counts(of: ["猫", "旅行"]))
            #expect(
                snapshot.categories
                    == CategoryCounts(favorites: 4, normals: 4, seen: 7, seenFavorites: 3))
            #expect(
                snapshot.features == ["猫": .init(favorite: 2, normal: 1), "旅行": .init(favorite: 2)])
            try await expect(embedded.status()) { $0.counts == .current }
        }
    }

    @Test func aScratchCopyLearnsOnItsOwn() async throws {
        try await Fixture.with(.redis) { fixture in
            _ = try await fixture.favorites().learn(Corpus.events, at: Fixture.now)
            let scratch = try await fixture.storage.scratch(of: fixture.mirror)
            let trial = try fixture.favorites(over: scratch)
            let answer = try await trial.classify([Corpus.example(9, "猫", "alice")])
            #expect(abs(try #require(answer.first).logRate - 0.590985271875) < 1e-11)
            _ = try await trial.learn([.forgotten(Corpus.id(1))], at: Fixture.now)
            try await expect(trial.status()) { $0.counts == .current }
            await scratch.close()
            try await expect(fixture.dump(), equals: Corpus.counts)
            try await expect(fixture.favorites().status().favorites, equals: 3)
        }
    }

    @Test func examplesAreAskedByTheirKeyRightAfterAFirstTraining() async throws {
        try await Fixture.with(.redisAndPostgres) { fixture in
            let posts = (0..<(4 * fewestRowsForStatistics)).map {
                Corpus.example($0, "猫", "author\($0 % 20)")
            }
            _ = try await fixture.favorites().learn(posts.map { .seen($0) }, at: Fixture.now)
            let table = ExampleTable(
                storage: fixture.storage, mirror: fixture.mirror,
                extractor: FeatureExtractor(tokenizer: try Tokenizer(), words: .nouns))
            let ids = (0..<400).map { Corpus.id($0).value }
            let plan = try await fixture.storage.query(
                "EXPLAIN " + table.lookup(["author", "text", "state"], of: ids, on: .mastodon)
            ).map { try $0.text("QUERY PLAN") }
            #expect(plan.count { $0.contains("Index Scan using examples_pkey") } == 3)
            #expect(
                plan.count { $0.contains("Index Cond") && $0.contains("post_id = ") } == 3,
                "\(plan)")
            expect(plan) { !$0.contains { $0.contains("Filter") || $0.contains("Seq Scan") } }
        }
    }

    @Test(arguments: CountStoreKind.allCases) func knowsTheOnesThatAreThereAmongMany(
        _ kind: CountStoreKind
    )
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let strangers = (1_000..<2_200).map { Corpus.example($0, "会議", nil) }
            let summary = try await favorites.learn(
                (strangers + Corpus.posts).map { .seen($0) }, at: Fixture.now)
            #expect(summary.learned == strangers.count)
            #expect(summary.unchanged == Corpus.posts.count)
            let taken = try await favorites.learn(
                [
                    .unfavorited(Corpus.id(3)), .forgotten(Corpus.id(4)),
                    .forgotten(Corpus.id(5_000)),
                ], at: Fixture.now)
            #expect((taken.relabelled, taken.unlearned, taken.unchanged) == (1, 1, 1))
            try await expect(favorites.status()) { $0.counts == .current }
        }
    }
}
