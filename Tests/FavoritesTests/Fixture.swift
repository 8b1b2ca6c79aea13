import Favorites
import Foundation
import MeCab
import NetworkNames
import Posts
import Redis
import Storage
import TestSupport
import Testing

/// Every place where counts can be kept, with everything that the tests need around it.
enum CountStoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case sqlite = "counts in SQLite"
    case postgres = "counts in PostgreSQL"
    case redis = "counts in Redis, examples in SQLite"
    case redisAndPostgres = "counts in Redis, examples in PostgreSQL"
    case redisCluster = "counts in a Redis Cluster, examples in SQLite"

    var testDescription: String { rawValue }
    var usesRedis: Bool { self == .redis || self == .redisAndPostgres || self == .redisCluster }
    var usesPostgres: Bool { self == .postgres || self == .redisAndPostgres }

    /// Kinds whose counts are in Redis.
    static let inRedis = allCases.filter(\.usesRedis)
}

/// One mirror with a fresh database and count store of its own.
final class Fixture: Sendable {
    let storage: any StorageEngine
    let mirror: String
    let redis: RedisClient?
    let counts: any CountStore
    private let folder: TemporaryDirectory
    private let database: PostgresServer.Borrowed?

    static let now = Date(timeIntervalSince1970: 1_795_000_000)

    /// - Parameters:
    ///   - kind: Where the counts and the examples are.
    ///   - url: Another Redis than the one that all tests share.
    ///   - master: The number of the master of a cluster that has the counts.
    /// - Throws: What went wrong.
    init(_ kind: CountStoreKind, redis url: String? = nil, master: Int = 0) async throws {
        folder = try TemporaryDirectory()
        mirror =
            kind == .redisCluster
            ? Self.mirror(of: master) : "test-" + UUID().uuidString.lowercased()
        let opened: any StorageEngine
        if kind.usesPostgres {
            let url = try await MigratedDatabase.onPostgres()
            opened = try await Storage.open(.postgres(url: url))
            database = PostgresServer.Borrowed(url)
        } else {
            opened = try await MigratedDatabase.openCopy(at: folder.path("favorites.sqlite"))
            database = nil
        }
        storage = StrictEngine(opened) { Issue.record(Comment(rawValue: $0)) }
        if kind.usesRedis {
            let shared =
                kind == .redisCluster
                ? try await RedisCluster.shared().url : try await RedisServer.shared().url
            var configuration = try RedisConfiguration(url: url ?? shared)
            // A busy machine takes its time.
            configuration.clusterTimeout = .seconds(30)
            let client = RedisClient(configuration: configuration)
            redis = client
            counts = RedisCountStore(client: client, mirror: mirror)
        } else {
            redis = nil
            counts = SQLCountStore(storage: storage, mirror: mirror)
        }
    }

    /// A fresh name whose counts, and those of its neighbour, are in slots that one master of a
    /// cluster begins with.
    private static func mirror(of master: Int) -> String {
        while true {
            let name = "test-" + UUID().uuidString.lowercased()
            let slots = [name, name + "-neighbour"].map { RedisArgument("{\($0)}").slot }
            if slots.allSatisfy({ $0 / 5_461 == master }) { return name }
        }
    }

    /// Runs a test and closes what it used.
    static func with(
        _ kind: CountStoreKind, redis url: String? = nil, master: Int = 0,
        _ body: (Fixture) async throws -> Void
    ) async throws {
        let fixture = try await Fixture(kind, redis: url, master: master)
        do {
            try await body(fixture)
        } catch {
            await fixture.close()
            throw error
        }
        await fixture.close()
    }

    func close() async {
        await storage.close()
        await redis?.close()
    }

    /// The classifier of the fixture's mirror, or of another one in the same stores.
    func favorites(
        words: FeatureWords = .nouns, minimum: Int = 0, limit: Int = 50_000, mirror: String? = nil
    ) throws -> Favorites {
        let mirror = mirror ?? self.mirror
        let counts: (any CountStore)? = redis.map { RedisCountStore(client: $0, mirror: mirror) }
        return Favorites(
            storage: storage, mirror: mirror,
            counts: counts ?? SQLCountStore(storage: storage, mirror: mirror),
            extractor: FeatureExtractor(tokenizer: try Tokenizer(), words: words),
            configuration: try FavoriteConfiguration(
                exampleLimit: limit, minimumPerCategory: minimum))
    }

    /// Loses the counts, and has them made anew from the examples by whoever asks next.
    func rebuildCounts() async throws {
        try await counts.clear()
        _ = try await favorites().classify([Corpus.unseen])
    }

    /// The same mirror with another way to decide, or other counts.
    func favorites(_ configuration: FavoriteConfiguration) throws -> Favorites {
        try favorites(configuration, counts: counts)
    }

    /// The same mirror, told how far it gets.
    func favorites(onStep: @escaping @Sendable (LearningStep) -> Void) throws -> Favorites {
        Favorites(
            storage: storage, mirror: mirror, counts: counts,
            extractor: FeatureExtractor(tokenizer: try Tokenizer(), words: .nouns),
            configuration: try FavoriteConfiguration(minimumPerCategory: 0), onStep: onStep)
    }

    func favorites(counts: any CountStore) throws -> Favorites {
        try favorites(FavoriteConfiguration(minimumPerCategory: 0), counts: counts)
    }

    private func favorites(_ configuration: FavoriteConfiguration, counts: any CountStore) throws
        -> Favorites
    {
        Favorites(
            storage: storage, mirror: mirror, counts: counts,
            extractor: FeatureExtractor(tokenizer: try Tokenizer(), words: .nouns),
            configuration: configuration)
    }

    /// The same mirror and counts, with its examples read through another engine.
    func favorites(in storage: any StorageEngine) throws -> Favorites {
        Favorites(
            storage: storage, mirror: mirror, counts: counts,
            extractor: FeatureExtractor(tokenizer: try Tokenizer(), words: .nouns),
            configuration: try FavoriteConfiguration(minimumPerCategory: 0))
    }

    /// The same mirror over a copy of the database, with counts in that copy.
    func favorites(over scratch: any StorageEngine) throws -> Favorites {
        Favorites(
            storage: scratch, mirror: mirror,
            counts: SQLCountStore(storage: scratch, mirror: mirror),
            extractor: FeatureExtractor(tokenizer: try Tokenizer(), words: .nouns),
            configuration: try FavoriteConfiguration(minimumPerCategory: 0))
    }

    /// All counts as the store has them: `category feature` to number; stamps left out.
    func dump() async throws -> [String: Int64] {
        if let redis { return try await dump(redis) }
        let features = try await storage.query(
            "SELECT feature, category, count FROM feature_counts WHERE mirror = \(mirror)")
        let sums = try await storage.query(
            "SELECT name, value FROM counters WHERE mirror = \(mirror) AND name LIKE 'counts.%'")
        var dump: [String: Int64] = [:]
        for row in features {
            dump["\(try row.text("category")) \(try row.text("feature"))"] = try row.integer(
                "count")
        }
        for row in sums {
            let name = try row.text("name").dropFirst("counts.".count)
            guard name != "sequence", name != "extraction", try row.integer("value") != 0 else {
                continue
            }
            dump["= " + name.replacingOccurrences(of: "seen-", with: "seen:")] = try row.integer(
                "value")
        }
        return dump
    }

    /// The counts of the store but for one: how many posts have no word follows from no feature.
    func counted() async throws -> [String: Int64] {
        try await dump().filter { $0.key != "= wordless" }
    }

    /// What the examples say, as ``counted()`` has it.
    func tally(_ favorites: Favorites) async throws -> [String: Int64] {
        let (categories, features) = try await favorites.tally()
        var dump: [String: Int64] = [
            "= favorite": categories.favorites, "= normal": categories.normals,
            "= seen": categories.seen,
            "= seen:favorite": categories.seenFavorites,
        ]
        for (feature, count) in features {
            dump["favorite " + feature] = count.favorite
            dump["normal " + feature] = count.normal
        }
        return dump.filter { $0.value != 0 }
    }

    private func dump(_ redis: RedisClient) async throws -> [String: Int64] {
        var dump: [String: Int64] = [:]
        for (name, prefix) in [
            ("categories", "= "), ("features:favorite", "favorite "),
            ("features:normal", "normal "),
        ] {
            let reply = try await redis.command(RedisCommand("HGETALL", key(of: name)))
            let texts = (reply.array ?? []).map { $0.string ?? "" }
            for pair in stride(from: 0, to: texts.count - 1, by: 2)
            where texts[pair] != "applied batch" {
                dump[prefix + texts[pair]] = Int64(texts[pair + 1]) ?? .min
            }
        }
        return dump
    }

    /// The full Redis key of one of the mirror's hashes.
    func key(of name: String) -> String { "mirror-bot:{\(mirror)}:\(name)" }

    /// The mirror's keys in Redis, temporary ones included.
    func redisKeys() async throws -> [String] {
        guard let redis else { return [] }
        let reply = try await redis.command(RedisCommand("KEYS", "mirror-bot:{\(mirror)}:*"))
        return (reply.array ?? []).compactMap(\.string).sorted()
    }

    /// What is known of posts, by their rows.
    func states(of ids: [PostID]) async throws -> [PostID: ExampleState] {
        let rows = try await storage.query(
            """
            SELECT network, post_id, state FROM examples
            WHERE mirror = \(mirror) AND post_id IN \(list: ids.map(\.value))
            """)
        let states = try rows.map { row in
            let network = try #require(NetworkName(rawValue: try row.text("network")))
            let state = try #require(ExampleState(rawValue: try row.text("state")))
            return (PostID(network: network, value: try row.text("post_id")), state)
        }
        return Dictionary(uniqueKeysWithValues: states)
    }

    /// The number of rows that the mirror has in tables of the classifier, apart from the number of
    /// its last batch.
    func rows() async throws -> Int {
        let answer = try await storage.query(
            """
            SELECT (SELECT COUNT(*) FROM examples WHERE mirror = \(mirror))
                + (SELECT COUNT(*) FROM feature_counts WHERE mirror = \(mirror))
                + (SELECT COUNT(*) FROM counters WHERE mirror = \(mirror) AND name LIKE 'counts.%') AS number
            """)
        return try #require(answer.first).int("number")
    }
}

/// The seven posts of the reference and a few more.
enum Corpus {
    /// Any of what can happen to thirty posts of some of these words, again and again.
    static func history(_ number: Int, of words: [String], seed: UInt64) -> [FavoriteEvent] {
        var numbers = SeededNumbers(seed: seed)
        return (0..<number).map { _ in
            let post = Int.random(in: 0..<30, using: &numbers)
            let text = (0..<Int.random(in: 0..<9, using: &numbers)).compactMap { _ in
                words.randomElement(using: &numbers)
            }.joined(separator: " ")
            let example = Corpus.example(post, text, "author\(post % 4)")
            return switch Int.random(in: 0..<5, using: &numbers) {
            case 0: .favorited(example)
            case 1: .unfavorited(example.id)
            case 2: .forgotten(example.id)
            default: .seen(example)
            }
        }
    }

    static func id(_ number: Int) -> PostID {
        PostID(network: .mastodon, value: "https://a.example/\(number)")
    }

    static func example(_ number: Int, _ text: String, _ author: String?) -> Example {
        Example(id: id(number), author: author, text: text)
    }

    static let posts = [
        example(1, "猫 写真", "alice"), example(2, "猫", "alice"), example(3, "写真 旅行", "bob"),
        example(4, "会議", "carol"),
        example(5, "会議 資料", "bob"), example(6, "猫 会議", "carol"), example(7, "資料", "dave"),
    ]
    static let unseen = example(8, "旅行", "frank")

    /// All seen, then 1, 2 and 3 favorited.
    static let events: [FavoriteEvent] =
        posts.map { .seen($0) } + posts.prefix(3).map { .favorited($0) }

    static let counts: [String: Int64] = [
        "= favorite": 3, "= normal": 4, "= seen": 7, "= seen:favorite": 3,
        "favorite 猫": 2, "favorite 写真": 2, "favorite 旅行": 1, "favorite @alice": 2,
        "favorite @bob": 1,
        "normal 猫": 1, "normal 会議": 3, "normal 資料": 2, "normal @bob": 1, "normal @carol": 2,
        "normal @dave": 1,
    ]

    /// Posts by 20 authors about 40 subjects, half of them favorites; the same for the same seed.
    static func generated(_ count: Int, seed: UInt64 = 1) -> [FavoriteEvent] {
        let subjects = [
            "猫", "犬", "写真", "旅行", "会議", "資料", "電車", "珈琲", "天気", "音楽", "映画", "仕事", "料理", "自転車",
            "図書館", "学校",
            "海", "山", "花", "雪",
        ]
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        return (0..<count).flatMap { number -> [FavoriteEvent] in
            let words = (0..<(3 + next(8))).map { _ in
                subjects[next(subjects.count)] + "\(next(60))"
            }
            let post = example(1_000 + number, words.joined(separator: "、"), "author\(next(20))")
            return switch next(4) {
            case 0: [.seen(post)]
            case 1: [.favorited(post)]
            case 2: [.seen(post), .favorited(post)]
            default: [.seen(post)]
            }
        }
    }
}

extension Fixture {
    /// Brings the numbers of examples in line with the examples, as they are in an older copy of
    /// the database.
    func recount() async throws {
        try await storage.execute(
            """
            UPDATE counters SET value = (
                SELECT COUNT(*) FROM examples
                WHERE examples.mirror = counters.mirror AND 'examples.' || examples.state = counters.name)
            WHERE mirror = \(mirror) AND name LIKE 'examples.%' AND name <> 'examples.sequence'
            """)
    }
}
