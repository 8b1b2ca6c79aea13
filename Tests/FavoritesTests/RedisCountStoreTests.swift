import Expectations
import Favorites
import Foundation
import MeCab
import Posts
import Redis
import Storage
import TestSupport
import Testing

/// What can happen to counts that live outside the database.
@Suite struct RedisCountStoreTests {
    /// Ways in which someone else may treat the keys; `K` stands for the mirror's prefix.
    static let damages: [[String]] = [
        ["UNLINK", "Kcategories", "Kfeatures:favorite", "Kfeatures:normal"],
        ["UNLINK", "Kcategories"],
        ["UNLINK", "Kfeatures:favorite"],
        ["UNLINK", "Kfeatures:normal"],
        ["SET", "Kcategories", "5"],
        ["SET", "Kfeatures:normal", ""],
        ["HSET", "Kcategories", "normal", "many"],
        ["HSET", "Kcategories", "favorite", "-3"],
        ["HSET", "Kcategories", "seen", "99999999999999999999"],
        ["HSET", "Kfeatures:favorite", "猫", "2.5"],
        ["HSET", "Kfeatures:normal", "猫", ""],
        ["HSET", "Kfeatures:normal", "猫", "-1"],
        ["HSET", "Kfeatures:normal", "@alice", "\u{FFFD}"],
        ["HSET", "Kcategories", "applied batch", "0:0"],
        ["HSET", "Kfeatures:normal", "applied batch", "x"],
        ["HDEL", "Kfeatures:favorite", "applied batch"],
    ]

    private static let post = Corpus.example(9, "猫", "alice")

    private func damage(_ fixture: Fixture, _ command: [String]) async throws {
        let parts = command.map { $0.hasPrefix("K") ? fixture.key(of: String($0.dropFirst())) : $0 }
        let reply = try await #require(fixture.redis).command(
            RedisCommand(parts.map { RedisArgument($0) }))
        #expect(reply != .null)
    }

    @Test(arguments: damages) func readersRepairDamage(_ command: [String]) async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            try await damage(fixture, command)
            let answer = try #require(try await favorites.classify([Self.post]).first)
            #expect(abs(answer.logRate - 0.590985271875) < 1e-11)
            try await expect(fixture.dump(), equals: Corpus.counts)
            try await expect(fixture.redisKeys().count, equals: 3)
        }
    }

    @Test(arguments: damages) func learningRepairsDamage(_ command: [String]) async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            try await damage(fixture, command)
            // One after the other they touch every sum and the damaged features; together they
            // change nothing.
            let changes: [FavoriteEvent] = [
                .favorited(Corpus.posts[5]), .seen(Corpus.example(20, "猫", "alice")),
                .forgotten(Corpus.id(20)),
                .unfavorited(Corpus.id(6)),
            ]
            for change in changes {
                try await expect(
                    favorites.learn([change], at: Fixture.now).countsError, equals: nil)
            }
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
    }

    /// The same counts for a process whose connection is gone.
    private func unreachable(_ fixture: Fixture) async throws -> RedisCountStore {
        let client = RedisClient(configuration: try RedisConfiguration(url: "redis://127.0.0.1"))
        await client.close()
        return RedisCountStore(client: client, mirror: fixture.mirror)
    }

    /// Commits a batch as a process does that dies before it tells Redis.
    private func commitWithoutCounts(_ fixture: Fixture, _ events: [FavoriteEvent]) async throws {
        let dying = try fixture.favorites(counts: try await unreachable(fixture))
        let summary = try await dying.learn(events, at: Fixture.now)
        #expect(summary.countsError?.code == .countsUnavailable)
    }

    @Test(arguments: CountStoreKind.inRedis) func readersHealACrash(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            try await commitWithoutCounts(
                fixture, [.forgotten(Corpus.id(4)), .favorited(Corpus.unseen)])
            try await expect(favorites.status()) { $0.counts != .current }
            _ = try await favorites.classify([Self.post])
            try await expect(favorites.status()) { $0.counts == .current }
            try await expect(fixture.dump()["favorite 旅行"], equals: 2)
        }
    }

    @Test(arguments: CountStoreKind.inRedis) func learningHealsACrash(_ kind: CountStoreKind)
        async throws
    {
        try await Fixture.with(kind) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Array(Corpus.events.prefix(5)), at: Fixture.now)
            try await commitWithoutCounts(fixture, Array(Corpus.events.dropFirst(5)))
            _ = try await favorites.learn([.favorited(Corpus.unseen)], at: Fixture.now)
            _ = try await favorites.learn([.unfavorited(Corpus.unseen.id)], at: Fixture.now)
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
    }

    @Test func aFlushedServerIsFilledAgain() async throws {
        let server = try await RedisServer.start()
        try await Fixture.with(.redis, redis: server.url) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            _ = try await #require(fixture.redis).command(RedisCommand("FLUSHALL"))
            _ = try await favorites.classify([Self.post])
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
        await server.stop()
    }

    @Test func anOutagePausesFavoritesButNotLearning() async throws {
        let server = try await RedisServer.start()
        try await Fixture.with(.redis, redis: server.url) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Array(Corpus.events.prefix(5)), at: Fixture.now)
            await server.stop()
            let error = await #expect(throws: FavoritesError.self) {
                try await favorites.classify([Self.post])
            }
            #expect(error?.code == .countsUnavailable)
            expect(error?.description) { $0?.contains("REDIS_URL") == true }
            let summary = try await favorites.learn(
                Array(Corpus.events.dropFirst(5)), at: Fixture.now)
            #expect(summary.countsError?.code == .countsUnavailable)
            #expect(summary.learned == 2)
            let status = try await favorites.status()
            #expect(status.seen == 7)
            #expect(status.features == nil)
            #expect(status.counts != .current)
            try await server.restart()
            let answer = try #require(try await favorites.classify([Self.post]).first)
            #expect(abs(answer.logRate - 0.590985271875) < 1e-11)
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
        await server.stop()
    }

    @Test func countsNewerThanTheExamplesAreNotBelieved() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            // As after the database was restored from an older copy.
            try await fixture.storage.execute(
                "DELETE FROM examples WHERE mirror = \(fixture.mirror) AND post_id = \(Corpus.id(7).value)"
            )
            try await fixture.storage.execute(
                "UPDATE counters SET value = 0 WHERE mirror = \(fixture.mirror) AND name = 'examples.sequence'"
            )
            try await fixture.recount()
            _ = try await favorites.classify([Self.post])
            try await expect(fixture.dump()["normal @dave"], equals: nil)
            try await expect(favorites.status()) { $0.counts == .current }
        }
    }

    @Test func countsOfALostHistoryAreNotBelieved() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let stamp = try #require(
                try await fixture.storage.query(
                    "SELECT value FROM counters WHERE mirror = \(fixture.mirror) AND name = 'examples.sequence'"
                ).first?.integer("value"))
            _ = try await favorites.learn(
                [.seen(Corpus.example(20, "猫", "mallory"))], at: Fixture.now)
            // A standby took over that had not got the last batch; the next one is another.
            try await fixture.storage.execute(
                "DELETE FROM examples WHERE mirror = \(fixture.mirror) AND post_id = \(Corpus.id(20).value)"
            )
            try await fixture.storage.execute(
                "UPDATE counters SET value = \(stamp) WHERE mirror = \(fixture.mirror) AND name = 'examples.sequence'"
            )
            try await fixture.recount()
            _ = try await favorites.learn(
                [.seen(Corpus.example(21, "猫", "trent"))], at: Fixture.now)
            _ = try await favorites.classify([Self.post])
            let counts = try await fixture.dump()
            #expect(counts["normal @mallory"] == nil)
            #expect(counts["normal @trent"] == 1)
            try await expect(favorites.status()) { $0.counts == .current }
        }
    }

    @Test func aFullMemoryPausesFavoritesUntilThereIsRoom() async throws {
        let server = try await RedisServer.start(arguments: ["--maxmemory-policy", "noeviction"])
        try await Fixture.with(.redis, redis: server.url) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Array(Corpus.events.prefix(5)), at: Fixture.now)
            try await server.run("CONFIG", "SET", "maxmemory", "1")
            let summary = try await favorites.learn(
                Array(Corpus.events.dropFirst(5)), at: Fixture.now)
            #expect(summary.learned == 2)
            expect(summary.countsError?.description) { $0?.contains("raise maxmemory") == true }
            let error = await #expect(throws: FavoritesError.self) {
                try await favorites.classify([Self.post])
            }
            #expect(error?.code == .countsUnavailable)
            try await server.run("CONFIG", "SET", "maxmemory", "0")
            let answer = try #require(try await favorites.classify([Self.post]).first)
            #expect(abs(answer.logRate - 0.590985271875) < 1e-11)
            try await expect(fixture.dump(), equals: Corpus.counts)
            try await expect(fixture.redisKeys().count, equals: 3)
        }
        await server.stop()
    }

    @Test func aReplicaPausesFavoritesUntilItTakesChangesAgain() async throws {
        let server = try await RedisServer.start()
        try await Fixture.with(.redis, redis: server.url) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Array(Corpus.events.prefix(5)), at: Fixture.now)
            try await server.run("REPLICAOF", "127.0.0.1", "1")
            let summary = try await favorites.learn(
                Array(Corpus.events.dropFirst(5)), at: Fixture.now)
            expect(summary.countsError?.description) { $0?.contains("replica") == true }
            let error = await #expect(throws: FavoritesError.self) {
                try await favorites.classify([Self.post])
            }
            #expect(error?.code == .countsUnavailable)
            try await server.run("REPLICAOF", "NO", "ONE")
            _ = try await favorites.classify([Self.post])
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
        await server.stop()
    }

    @Test func aServerThatCannotCountSaysSo() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            let silent = try LoopbackServer(
                steps: LoopbackServer.redisGreeting + [
                    .awaitText("HLEN"), .awaitText("HLEN"),
                    .send(Array("-LOADING Redis is loading\r\n-LOADING Redis is loading\r\n".utf8)),
                    .hang,
                ])
            let client = RedisClient(
                configuration: try RedisConfiguration(url: "redis://127.0.0.1:\(silent.port)"))
            let counts = RedisCountStore(client: client, mirror: fixture.mirror)
            let error = await #expect(throws: FavoritesError.self) { try await counts.size() }
            #expect(error?.code == .countsUnavailable)
            await client.close()
        }
    }

    @Test func countsThatCouldNotBeClearedAreNotBelieved() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            await #expect(throws: FavoritesError.self) {
                try await fixture.favorites(counts: unreachable(fixture)).clear()
            }
            try await expect(fixture.dump(), equals: Corpus.counts)
            let answer = try #require(try await favorites.classify([Self.post]).first)
            #expect(abs(answer.logRate + 2.197224577336) < 1e-11)
            try await expect(fixture.redisKeys()) { $0.isEmpty }
        }
    }

    @Test func twoProcessesMayRebuildLearnAndReadAtOnce() async throws {
        let events = Corpus.generated(150, seed: 3)
        try await Fixture.with(.redisAndPostgres) { fixture in
            // Two values share nothing in memory, as two processes do.
            let workers = [try fixture.favorites(), try fixture.favorites()]
            try await withThrowingTaskGroup { group in
                for (index, worker) in workers.enumerated() {
                    group.addTask {
                        for start in stride(from: index * 15, to: events.count, by: 30) {
                            let some = Array(events[start..<min(start + 15, events.count)])
                            _ = try await worker.learn(some, at: Fixture.now)
                        }
                    }
                    group.addTask {
                        for round in 0..<20 {
                            if round.isMultiple(of: 5) {
                                let loss = RedisCommand("UNLINK", fixture.key(of: "categories"))
                                _ = try await fixture.redis?.command(loss)
                            }
                            do {
                                let answers = try await worker.classify([Self.post])
                                expect(answers) { $0.allSatisfy { $0.logRate.isFinite } }
                            } catch let error as FavoritesError where error.code == .countsUnstable
                            {
                                continue
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            _ = try await workers[0].classify([Self.post])
            let found = try await fixture.dump()
            try await expect(fixture.redisKeys().count, equals: 3)
            try await fixture.rebuildCounts()
            try await expect(found, equals: fixture.dump())
            let expected = Set(events.map(\.id)).count
            let status = try await workers[0].status()
            #expect(Int(status.favorites + status.normals) == expected)
        }
    }

    @Test(arguments: ["categories", "features:favorite", "features:normal"])
    func noticesThatOneHashIsFromAnotherTime(_ name: String) async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            let redis = try #require(fixture.redis)
            _ = try await favorites.learn(Array(Corpus.events.prefix(8)), at: Fixture.now)
            let copy = RedisCommand("COPY", fixture.key(of: name), fixture.key(of: "copy"))
            try await expect(redis.command(copy).integer, equals: 1)
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            _ = try await redis.command(
                RedisCommand("RENAME", fixture.key(of: "copy"), fixture.key(of: name)))
            _ = try await favorites.learn([.favorited(Corpus.unseen)], at: Fixture.now)
            _ = try await favorites.learn([.forgotten(Corpus.unseen.id)], at: Fixture.now)
            try await expect(fixture.dump(), equals: Corpus.counts)
        }
    }

    @Test func aRebuildNeverTakesBackWhatWasLearnedMeanwhile() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Array(Corpus.events.prefix(7)), at: Fixture.now)
            let interrupted = InterruptedEngine(fixture.storage) {
                _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            }
            let extractor = FeatureExtractor(tokenizer: try Tokenizer(), words: .nouns)
            let examples = ExampleTable(
                storage: interrupted, mirror: fixture.mirror, extractor: extractor)
            try await fixture.counts.rebuild(from: examples)
            try await expect(fixture.dump(), equals: Corpus.counts)
            try await expect(favorites.status()) { $0.counts == .current }
            try await expect(fixture.redisKeys().count, equals: 3)
        }
    }

    @Test func rebuiltKeysDoNotExpire() async throws {
        try await Fixture.with(.redis) { fixture in
            let favorites = try fixture.favorites()
            _ = try await favorites.learn(Corpus.events, at: Fixture.now)
            try await fixture.rebuildCounts()
            for key in try await fixture.redisKeys() {
                try await expect(
                    #require(fixture.redis).command(RedisCommand("TTL", key)).integer, equals: -1)
            }
        }
    }

    @Test func bracesInAMirrorsNameKeepOneSlot() async throws {
        try await Fixture.with(.redis) { fixture in
            let odd = try fixture.favorites(mirror: fixture.mirror + "}:{x")
            _ = try await odd.learn(Corpus.events, at: Fixture.now)
            let search = RedisCommand("KEYS", "mirror-bot:{\(fixture.mirror)*")
            let reply = try await #require(fixture.redis).command(search)
            let keys = (reply.array ?? []).compactMap(\.string)
            #expect(keys.count == 3)
            for key in keys {
                #expect(key.filter { $0 == "{" || $0 == "}" } == "{}")
            }
            try await odd.clear()
        }
    }
}
