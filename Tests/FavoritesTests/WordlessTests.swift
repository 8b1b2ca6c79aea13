import Expectations
import Foundation
import MeCab
import Posts
import Redis
import Storage
import Testing

@testable import Favorites

/// Posts of which nothing but the author is learned, and counts that were made of other features.
@Suite struct WordlessTests {
    private static let posts = [
        Corpus.example(1, "猫", "alice"), Corpus.example(2, "。。", "alice"),
        Corpus.example(3, "https://a.example/b", "bob"),
        Corpus.example(4, "비가 온다", "carol"), Corpus.example(5, "😀", nil),
    ]

    @Test(arguments: CountStoreKind.allCases)
    func theyAreCountedAndUnlearned(kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            try await expect(favorites.status().wordless, equals: 0)
            _ = try await favorites.learn(Self.posts.map { .seen($0) }, at: Fixture.now)
            try await expect(favorites.status().wordless, equals: 3)
            _ = try await favorites.learn([.favorited(Self.posts[1])], at: Fixture.now)
            try await expect(favorites.status().wordless, equals: 3)
            _ = try await favorites.learn(
                [.forgotten(Self.posts[1].id), .forgotten(Self.posts[0].id)], at: Fixture.now)
            try await expect(favorites.status().wordless, equals: 2)
            let kept = try await fixture.dump()
            try await fixture.rebuildCounts()
            try await expect(fixture.dump(), equals: kept)
            _ = try await favorites.learn(Self.posts.map { .forgotten($0.id) }, at: Fixture.now)
            try await expect(favorites.status().wordless, equals: 0)
            try await expect(fixture.dump(), equals: [:])
        }
    }

    /// An update counts other features of posts that are learned already: nothing of the old ones
    /// may be left behind.
    @Test(arguments: CountStoreKind.allCases)
    func countsOfAnOlderExtractorAreRebuiltBeforeAnythingIsUnlearned(kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Self.posts.map { .seen($0) }, at: Fixture.now)
            try await fixture.makeCountsOld(["normal 비": 7, "normal :": 2])
            try await expect(favorites.status().counts, equals: .outdated)
            try await expect(favorites.status().wordless, equals: nil)
            _ = try await favorites.learn([.forgotten(Self.posts[3].id)], at: Fixture.now)
            try await expect(
                fixture.dump(),
                equals: [
                    "= normal": 4, "= seen": 4, "= wordless": 3, "normal 猫": 1, "normal @alice": 2,
                    "normal @bob": 1,
                ])
            try await expect(favorites.status().counts, equals: .current)
        }
    }
}

extension Fixture {
    /// Makes the counts those of another extractor, with counts of features that this one does not
    /// have.
    fileprivate func makeCountsOld(_ features: [String: Int64]) async throws {
        for (name, count) in features {
            let feature = String(name.drop { $0 != " " }.dropFirst())
            if let redis {
                _ = try await redis.command(
                    RedisCommand("HSET", key(of: "features:normal"), feature, "\(count)"))
            } else {
                try await storage.execute(
                    """
                    INSERT INTO feature_counts (mirror, feature, category, count)
                    VALUES (\(mirror), \(feature), 'normal', \(count))
                    """)
            }
        }
        guard let redis else {
            try await storage.execute(
                "UPDATE counters SET value = value + 1 WHERE mirror = \(mirror) AND name = 'counts.extraction'"
            )
            return
        }
        for name in ["categories", "features:favorite", "features:normal"] {
            let stamp =
                try await redis.command(RedisCommand("HGET", key(of: name), "applied batch")).string
                ?? ""
            let sequence = stamp.prefix { $0 != ":" }
            _ = try await redis.command(
                RedisCommand("HSET", key(of: name), "applied batch", "\(sequence):1"))
        }
    }
}
