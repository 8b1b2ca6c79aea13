import CBaseline
import Favorites
import Foundation
import MeCab
import NetworkNames
import Posts
import Redis
import Storage
import TestSupport

/// Our classifier and the baseline's, each with a database and counts of its own on the same
/// servers.
final class ClassifierStage: Sendable {
    let examples: [Example]
    /// What is learned of the examples: favorites, and posts seen on the timeline.
    let events: [FavoriteEvent]
    let favorites: Favorites
    let redis: RedisClient
    let baseline: CClassifier
    private let storage: any StorageEngine

    private static let ours = "ours"
    private static let theirs = "baseline"

    /// The choices of features that are measured, and what their lines are called behind the name
    /// of the work.
    static let choices: [(words: FeatureWords, suffix: String, title: String)] = [
        (.content, "", ""), (.pairs, "_pairs", ", with pairs of words"),
    ]

    /// Nothing is learned yet, whatever a work before this one has left on the servers.
    init(_ bench: Bench, words: FeatureWords, postCount: Int) async throws {
        let timeline = Timeline(count: postCount).posts
        let examples = timeline.enumerated().map { index, post in
            Example(
                id: PostID(network: .mastodon, value: "https://sandbox.example/posts/\(index)"),
                author: post.author,
                text: post.text)
        }
        self.examples = examples
        events = zip(timeline, examples).map { $0.isFavorite ? .favorited($1) : .seen($1) }
        let postgres = try await bench.servers.postgres()
        let server = try await bench.servers.redis()
        storage = try await Self.database(try await postgres.makeDatabase())
        redis = RedisClient(configuration: try RedisConfiguration(url: server.url))
        favorites = Favorites(
            storage: storage, mirror: Self.ours,
            counts: RedisCountStore(client: redis, mirror: Self.ours),
            extractor: FeatureExtractor(tokenizer: try Tokenizer(), words: words),
            configuration: try FavoriteConfiguration(exampleLimit: max(50_000, postCount)))
        let url = try await postgres.makeDatabase()
        await (try Self.database(url)).close()
        let posts = PostBlock(examples, isFavorite: timeline.map(\.isFavorite))
        baseline = try await bench.blocking {
            try CClassifier(
                posts: posts, words: words, postgres: url, redisPort: server.port,
                mirror: Self.theirs)
        }
        try await clear(bench)
    }

    private static func database(_ url: String) async throws -> any StorageEngine {
        let storage = try await Storage.open(.postgres(url: url))
        _ = try await Migrations.apply(to: storage)
        return storage
    }

    func learn() async throws {
        let summary = try await favorites.learn(
            events, at: Date(timeIntervalSince1970: 1_763_700_000))
        guard summary.learned == events.count, summary.countsError == nil else {
            throw BaselineError(
                description: "we learned \(summary.learned) of \(events.count) posts")
        }
    }

    /// Makes sure that both have learned the same.
    func checkCounts() async throws {
        for key in ["categories", "features:favorite", "features:normal"] {
            let ours = try await counts(Self.ours, key)
            let theirs = try await counts(Self.theirs, key)
            guard ours.count > 2, ours == theirs else {
                throw BaselineError(
                    description: "the baseline has learned other \(key) than we have")
            }
        }
    }

    private func counts(_ mirror: String, _ key: String) async throws -> [String: Int64] {
        let reply = try await redis.command(
            RedisCommand("HGETALL", "mirror-bot:{\(mirror)}:\(key)"))
        let parts = reply.array ?? []
        var counts: [String: Int64] = [:]
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            if let name = parts[index].string, name != "applied batch" {
                counts[name] = parts[index + 1].integer
            }
        }
        return counts
    }

    /// Makes both forget everything; the tables are new ones, as after an installation.
    func clear(_ bench: Bench) async throws {
        try await favorites.clear()
        // What was deleted would stand in the way of every look for the same posts until it is
        // swept up.
        try await storage.execute("TRUNCATE examples, counters")
        try await bench.blocking { [baseline] in try baseline.clear() }
    }

    func close() async {
        await redis.close()
        await storage.close()
    }
}
