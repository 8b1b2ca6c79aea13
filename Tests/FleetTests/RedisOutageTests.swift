import Control
import Expectations
import Favorites
import Fixtures
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

/// What the mirror does while the counts cannot be reached.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct RedisOutageTests {
    @Test func pausesFavoritesAloneAndRebuildsTheCounts() async throws {
        let server = try await RedisServer.start()
        let variables = ["REDIS_URL": server.url, "FAVORITES_PER_DAY": "1000"]
        let fixture = try await MirrorFixture.start(from: 8, variables: variables)
        try await fixture.live(
            until: 16,
            events: [
                (11, { await server.stop() }),
                // It comes back empty.
                (15, { try await server.restart() }),
            ])
        let ledger = await fixture.sandbox.ledger
        let outage = Sample.hour(11)..<Sample.hour(15)
        expect(ledger.favorites) { $0.contains { $0.date < outage.lowerBound } }
        // Who asked the bot to stop is told so without the counts.
        expect(ledger.favorites) { !$0.contains { outage.contains($0.date) && !$0.confirmsStop } }
        expect(ledger.favorites) { $0.contains { $0.date > outage.upperBound } }
        expect(ledger.deliveries) { $0.contains { outage.contains($0.date) && $0.replyTo == nil } }
        expect(ledger.deliveries) { $0.contains { outage.contains($0.date) && $0.replyTo != nil } }
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        #expect(
            ledger.summary.unsolicited + ledger.summary.duplicateSends + ledger.summary.errors == 0)
        // What came meanwhile is still judged, as long as it is young enough.
        let ids = ledger.favorites.filter { $0.date > outage.upperBound }.compactMap {
            Int64($0.postID)
        }
        expect(ids) { $0.contains { outage.contains(Date(milliseconds: $0 >> 16)) } }
        let status = try await fixture.mirror.favorites().status()
        #expect(status.counts == .current)
        #expect(status.seen > 0)
    }

    /// What a moment does to the counts, the rest of the world not noticing.
    enum Damage: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case flushed, crashed, clientsKilled, evicted, notAHash

        var testDescription: String { rawValue }

        func happen(to server: RedisServer) async throws {
            let prefix = "mirror-bot:{\(MirrorFixture.mirror)}:"
            switch self {
            case .flushed: try await server.run("FLUSHALL")
            case .crashed:
                await server.kill()
                try await server.restart()
            case .clientsKilled: try await server.run("CLIENT", "KILL", "TYPE", "normal")
            case .evicted: try await server.run("DEL", prefix + "features:normal")
            case .notAHash: try await server.run("SET", prefix + "features:favorite", "5")
            }
        }
    }

    @Test(arguments: Damage.allCases) func judgesAsIfNothingHadHappened(_ damage: Damage)
        async throws
    {
        let untouched = try await Self.untouched.value
        let server = try await RedisServer.start()
        let variables = ["REDIS_URL": server.url, "FAVORITES_PER_DAY": "1000"]
        let fixture = try await MirrorFixture.start(from: 8, variables: variables)
        try await fixture.live(
            until: 13,
            events: [9.1, 10.3, 11.7].map { hour in (hour, { try await damage.happen(to: server) })
            })
        let favorites = await fixture.sandbox.ledger.favorites
        #expect(favorites.map(\.postID) == untouched.favorites)
        try await expect(fixture.explanations(), equals: untouched.explanations)
        try await expect(fixture.mirror.favorites().status()) { $0.counts == .current }
        expect(fixture.log.values) { !$0.contains { $0.contains("Pass failed") } }
        await server.stop()
    }

    /// What a mirror does whose counts nothing happens to; they are in the database.
    private static let untouched = Task {
        try await OpenMirrors.$current.withValue(OpenMirrors()) {
            let fixture = try await MirrorFixture.start(
                from: 8, variables: ["FAVORITES_PER_DAY": "1000"])
            try await fixture.live(until: 13)
            let favorites = await fixture.sandbox.ledger.favorites.map(\.postID)
            let explanations = try await fixture.explanations()
            await OpenMirrors.current?.close()
            try #require(favorites.count > 3)
            return (favorites: favorites, explanations: explanations)
        }
    }

    /// What a server does for hours that lives, but cannot keep counts.
    enum Trouble: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case memoryIsFull, isAReplica, refusesItsUser

        var testDescription: String { rawValue }

        func begin(at server: RedisServer) async throws {
            switch self {
            case .memoryIsFull: try await server.run("CONFIG", "SET", "maxmemory", "1")
            case .isAReplica: try await server.run("REPLICAOF", "127.0.0.1", "1")
            case .refusesItsUser: try await server.run("ACL", "SETUSER", "default", "-@hash")
            }
        }

        func end(at server: RedisServer) async throws {
            switch self {
            case .memoryIsFull: try await server.run("CONFIG", "SET", "maxmemory", "0")
            case .isAReplica: try await server.run("REPLICAOF", "NO", "ONE")
            case .refusesItsUser: try await server.run("ACL", "SETUSER", "default", "+@all")
            }
        }

        /// A word of the reason that a status gives.
        var reason: String {
            switch self {
            case .memoryIsFull: "maxmemory"
            case .isAReplica: "replica"
            case .refusesItsUser: "NOPERM"
            }
        }
    }

    @Test(arguments: Trouble.allCases) func pausesFavoritesAloneWhileTheServerCannotCount(
        _ trouble: Trouble
    ) async throws {
        let server = try await RedisServer.start(arguments: ["--maxmemory-policy", "noeviction"])
        let variables = ["REDIS_URL": server.url, "FAVORITES_PER_DAY": "1000"]
        let fixture = try await MirrorFixture.start(from: 8, variables: variables)
        try await fixture.live(
            until: 15,
            events: [
                (10, { try await trouble.begin(at: server) }),
                (13, { try await trouble.end(at: server) }),
            ])
        let ledger = await fixture.sandbox.ledger
        // A look a moment before may have found counts that were still current.
        let outage = Sample.hour(10.6)..<Sample.hour(13)
        expect(ledger.favorites) { !$0.contains { outage.contains($0.date) } }
        expect(ledger.favorites) { $0.contains { $0.date > outage.upperBound } }
        expect(ledger.deliveries) { $0.contains { outage.contains($0.date) } }
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        #expect(
            ledger.summary.unsolicited + ledger.summary.duplicateSends + ledger.summary.errors == 0)
        let ids = ledger.favorites.filter { $0.date > outage.upperBound }.compactMap {
            Int64($0.postID)
        }
        expect(ids) { $0.contains { outage.contains(Date(milliseconds: $0 >> 16)) } }
        expect(fixture.log.values) {
            $0.contains { $0.contains("Pass failed") && $0.contains(trouble.reason) }
        }
        try await expect(fixture.mirror.favorites().status()) { $0.counts == .current }
        await server.stop()
    }

    @Test func startsAndReportsWithoutRedis() async throws {
        let server = try await RedisServer.start()
        await server.stop()
        let fixture = try await MirrorFixture.start(from: 9, variables: ["REDIS_URL": server.url])
        try await fixture.live(until: 12.5)
        let summary = await fixture.sandbox.ledger.summary
        #expect(summary.posted > 0)
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.favorites == 0)
        let report = try await StatusReporter(mirror: fixture.mirror).report(now: fixture.clock.now)
        let reason = try #require(report.idle.first { $0.hasPrefix("no favorites") })
        #expect(reason.contains("check REDIS_URL"))
        #expect(report.classifier?.counts == nil)
    }
}

extension MirrorFixture {
    /// Why each favorite was one, counts included, by its post.
    fileprivate func explanations() async throws -> [String: Explanation?] {
        let favorites = try await actions(.favorite).map { ($0.subject, $0.explanation) }
        return Dictionary(uniqueKeysWithValues: favorites)
    }
}
