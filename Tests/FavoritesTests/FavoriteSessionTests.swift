import Expectations
import Favorites
import Foundation
import Posts
import Redis
import Storage
import TestSupport
import Testing

/// What a session promises of the counts that it judges by.
@Suite struct FavoriteSessionTests {
    private static let post = Corpus.example(9, "猫", "alice")
    /// The rate of ``post`` after ``Corpus/events``.
    private static let rate = 0.590985271875

    private func logRate(_ session: FavoriteSession) async throws -> Double {
        try #require(try await session.classify([Self.post]).first).logRate
    }

    /// What counts say that contain all there is.
    private func currentRate(_ fixture: Fixture) async throws -> Double {
        try await logRate(try fixture.favorites().session())
    }

    private func command(_ fixture: Fixture, _ parts: [String]) async throws {
        let command = RedisCommand(parts.map { RedisArgument($0) })
        _ = try await #require(fixture.redis).command(command)
    }

    /// Commits a batch as a process does that dies before it tells Redis.
    private func commitWithoutCounts(_ fixture: Fixture, _ events: [FavoriteEvent]) async throws {
        let client = RedisClient(configuration: try RedisConfiguration(url: "redis://127.0.0.1"))
        await client.close()
        let dying = try fixture.favorites(
            counts: RedisCountStore(client: client, mirror: fixture.mirror))
        let summary = try await dying.learn(events, at: Fixture.now)
        #expect(summary.countsError?.code == .countsUnavailable)
    }

    @Test(arguments: CountStoreKind.allCases) func judgesLikeCallsOfTheirOwn(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            let session = favorites.session()
            // Nothing was learned yet, and nothing needs to be there for that.
            #expect(abs(try await logRate(session) + 2.197224577336) < 1e-11)
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let posts = [Self.post] + Corpus.posts
            let together = try await favorites.classify(posts)
            for (post, expected) in zip(posts, together) {
                let alone = try await session.classify([post])
                #expect(alone == [expected])
                #expect(alone.map(\.contributions) == [expected.contributions])
            }
            try await expect(session.classify([])) { $0.isEmpty }
        }
    }

    @Test func asksTheDatabaseOnce() async throws {
        try await Fixture.with(.redis) { fixture in
            _ = try await fixture.favorites().learn(Corpus.events, at: Fixture.now)
            let engine = InterruptedEngine(fixture.storage)
            let favorites = try fixture.favorites(in: engine)
            let session = favorites.session()
            for _ in 0..<3 { #expect(abs(try await logRate(session) - Self.rate) < 1e-11) }
            // For the batch together with the weights.
            #expect(engine.reads == 1)
            for _ in 0..<3 { _ = try await favorites.classify([Self.post]) }
            #expect(engine.reads == 4)
        }
    }

    @Test(arguments: CountStoreKind.allCases) func seesWhatAnotherProcessLearned(
        _ kind: CountStoreKind
    ) async throws {
        try await Fixture.with(kind) { fixture in
            _ = try await fixture.favorites().learn(Corpus.events, at: Fixture.now)
            let session = try fixture.favorites().session()
            let before = try await logRate(session)
            // A value of its own shares nothing in memory, as another process does.
            let other = try fixture.favorites()
            _ = try await other.learn(
                [.favorited(Corpus.example(20, "猫", "alice"))], at: Fixture.now)
            let after = try await logRate(session)
            #expect(after > before)
            try await expect(currentRate(fixture), equals: after)
            try await other.clear()
            #expect(abs(try await logRate(session) + 2.197224577336) < 1e-11)
        }
    }

    @Test func fillsAFlushedServerAgain() async throws {
        let server = try await RedisServer.start()
        try await Fixture.with(.redis, redis: server.url) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let session = favorites.session()
            _ = try await logRate(session)
            try await command(fixture, ["FLUSHALL"])
            #expect(abs(try await logRate(session) - Self.rate) < 1e-11)
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
        await server.stop()
    }

    @Test func countsThatWentBackAreRebuilt() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Array(Corpus.events.prefix(8)), at: Fixture.now)
            let names = ["categories", "features:favorite", "features:normal"].map {
                fixture.key(of: $0)
            }
            for name in names { try await command(fixture, ["COPY", name, name + ":old"]) }
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let session = favorites.session()
            _ = try await logRate(session)
            // As after the server was started with an old copy of its memory.
            for name in names { try await command(fixture, ["RENAME", name + ":old", name]) }
            #expect(abs(try await logRate(session) - Self.rate) < 1e-11)
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
    }

    @Test(arguments: CountStoreKind.inRedis)
    func theNextSessionHealsACrash(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let session = favorites.session()
            let before = try await logRate(session)
            try await commitWithoutCounts(fixture, [.favorited(Corpus.example(20, "猫", "alice"))])
            // The counts are still those of the moment when the session began, which is all it
            // promises.
            try await expect(logRate(session), equals: before)
            let healed = try await logRate(favorites.session())
            #expect(healed > before)
            // Now the counts are others, and the session asks again.
            try await expect(logRate(session), equals: healed)
        }
    }

    @Test func aSessionThatBeginsAfterACrashHealsItAtOnce() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            let session = favorites.session()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            try await commitWithoutCounts(fixture, [.favorited(Corpus.unseen)])
            _ = try await logRate(session)
            try await expect(favorites.status()) { $0.counts == .current }
            try await expect(fixture.dump()["favorite 旅行"], equals: 2)
        }
    }

    @Test func theNextSessionNoticesThatTheDatabaseWentBack() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let session = favorites.session()
            let before = try await logRate(session)
            // As after the database was restored from an older copy.
            try await fixture.storage.execute(
                "DELETE FROM examples WHERE mirror = \(fixture.mirror) AND post_id = \(Corpus.id(1).value)"
            )
            try await fixture.storage.execute(
                "UPDATE counters SET value = 0 WHERE mirror = \(fixture.mirror) AND name = 'examples.sequence'"
            )
            try await fixture.recount()
            try await expect(logRate(session), equals: before)
            let after = try await logRate(favorites.session())
            #expect(after < before)
            try await expect(favorites.status()) { $0.counts == .current }
            try await expect(logRate(session), equals: after)
        }
    }

    /// Posts whose features are not all looked up at once.
    private static let many = Corpus.generated(90, seed: 5).compactMap { event -> Example? in
        if case .seen(let example) = event { example } else { nil }
    }

    @Test(arguments: CountStoreKind.allCases)
    func judgesManyPostsAsItJudgesOne(_ kind: CountStoreKind) async throws {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.generated(200), at: Fixture.now)
            let session = favorites.session()
            let together = try await favorites.classify(Self.many)
            #expect(together.map(\.id) == Self.many.map(\.id))
            #expect(together.count > 40)
            for (post, expected) in zip(Self.many, together) {
                try await expect(session.classify([post]), equals: [expected])
            }
        }
    }

    @Test func judgesManyPostsByCountsOfOneMoment() async throws {
        let events = Corpus.generated(200)
        try await Fixture.with(.redis) { fixture in
            let other = try fixture.favorites()
            _ = try await other.learn(Array(events.prefix(100)), at: Fixture.now)
            let counts = InterruptedCounts(fixture.counts) {
                _ = try await other.learn(events, at: Fixture.now)
            }
            let answers = try await fixture.favorites(counts: counts).classify(Self.many)
            try await expect(answers, equals: other.classify(Self.many))
        }
    }

    @Test func readsAgainWhatWasTorn() async throws {
        let torn = Self.answer("7:1", "7:1", "8:1", normal: "5")
        let whole = Self.answer("8:1", "8:1", "8:1", normal: "5")
        let snapshot = try await read([torn, whole])
        #expect(snapshot?.stamp == CountStamp(sequence: 8, extraction: 1))
        #expect(
            snapshot?.categories
                == CategoryCounts(favorites: 3, normals: 4, seen: 7, seenFavorites: 3))
        #expect(snapshot?.counts == [FeatureCount(favorite: 2, normal: 5)])
    }

    @Test func whatIsTornAgainAndAgainIsDamaged() async throws {
        let torn = Self.answer("7:1", "8:1", "7:1", normal: "5")
        try await expect(read(Array(repeating: torn, count: 5)), equals: nil)
    }

    /// The counts of one feature, read from a server that gives these answers one after the other.
    private func read(_ answers: [String]) async throws -> CountSnapshot? {
        let steps = answers.flatMap { answer in
            [LoopbackServer.Step.awaitText("features:normal"), .send(Array(answer.utf8))]
        }
        let server = try LoopbackServer(steps: LoopbackServer.redisGreeting + steps + [.hang])
        let client = RedisClient(
            configuration: try RedisConfiguration(url: "redis://127.0.0.1:\(server.port)"))
        let snapshot = try await RedisCountStore(client: client, mirror: "default").counts(of: ["猫"]
        )
        await client.close()
        return snapshot
    }

    /// The three hashes with their stamps.
    private static func answer(
        _ categories: String, _ favorites: String, _ normals: String, normal: String
    ) -> String {
        func text(_ values: [String]) -> String {
            "*\(values.count)\r\n" + values.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
        }
        return text([categories, "3", "4", "7", "3"]) + text([favorites, "2"])
            + text([normals, normal])
    }
}

/// Counts that are changed right after they were read for the first time.
private final class InterruptedCounts: CountStore {
    private let base: any CountStore
    private let interruption: @Sendable () async throws -> Void
    private let lock = NSLock()
    private nonisolated(unsafe) var wasRead = false  // Only touched under `lock`.

    init(
        _ base: any CountStore,
        afterFirstReading interruption: @escaping @Sendable () async throws -> Void
    ) {
        self.base = base
        self.interruption = interruption
    }

    func counts(of features: [String]) async throws -> CountSnapshot? {
        let snapshot = try await base.counts(of: features)
        let isFirst = lock.withLock {
            defer { wasRead = true }
            return !wasRead
        }
        if isFirst { try await interruption() }
        return snapshot
    }

    func record(_ batch: CountBatch, on connection: any StorageConnection) throws -> Bool {
        try base.record(batch, on: connection)
    }

    func apply(_ batch: CountBatch) async throws -> Bool { try await base.apply(batch) }

    func size() async throws -> Int { try await base.size() }

    func rebuild(from examples: any CountSource) async throws {
        try await base.rebuild(from: examples)
    }

    func clear() async throws { try await base.clear() }
}
