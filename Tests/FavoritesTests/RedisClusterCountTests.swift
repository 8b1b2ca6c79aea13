import Expectations
import Favorites
import Foundation
import Redis
import TestSupport
import Testing

/// Counts in a cluster whose servers change while it counts.
@Suite(.timeLimit(.minutes(30))) struct RedisClusterCountTests {
    /// What is learned, in as many batches as a home timeline of a day brings.
    private static let batches = stride(from: 0, to: events.count, by: 6).map { start in
        Array(events[start..<min(start + 6, events.count)])
    }
    private static let events = Corpus.generated(240)

    /// The counts that one who is not disturbed has in the end.
    private func undisturbedCounts() async throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        try await Fixture.with(.sqlite) { fixture in
            _ = try await fixture.favorites().learn(Self.events, at: Fixture.now)
            counts = try await fixture.dump()
        }
        return counts
    }

    private func slot(of fixture: Fixture) -> Int {
        RedisArgument(fixture.key(of: "categories")).slot
    }

    @Test func areRightWhileTheirSlotMoves() async throws {
        let cluster = try await RedisCluster.shared()
        let one = cluster.servers[1]
        let other = cluster.servers[0]
        try await Fixture.with(.redisCluster, master: 1) { fixture in
            let favorites = try fixture.favorites()
            let slot = slot(of: fixture)
            try await cluster.exclusively {
                let learning = Task {
                    for batch in Self.batches {
                        try await expect(
                            favorites.learn(batch, at: Fixture.now).countsError, equals: nil)
                        _ = try await favorites.classify(Array(Corpus.posts))
                    }
                }
                for (source, target) in [(one, other), (other, one)] {
                    try await cluster.beginMoving(slot, from: source, to: target)
                    // Between two of its keys the counts are in two places.
                    for _ in 0..<3 {
                        try await cluster.moveKeys(slot, from: source, to: target, atMost: 1)
                    }
                    try await cluster.moveKeys(slot, from: source, to: target)
                    try await cluster.endMoving(slot, from: source, to: target)
                }
                try await learning.value
            }
            try await expect(favorites.status()) { $0.counts == .current }
            let expected = try await undisturbedCounts()
            try await expect(fixture.dump(), equals: expected)
            try await expect(fixture.redisKeys().count, equals: 3)
        }
    }

    @Test func areRightWhenTheirMasterDies() async throws {
        let cluster = try await RedisCluster.shared()
        try await Fixture.with(.redisCluster, master: 2) { fixture in
            let favorites = try fixture.favorites()
            let half = Self.batches.count / 2
            try await cluster.exclusively {
                for batch in Self.batches[..<half] {
                    try await expect(
                        favorites.learn(batch, at: Fixture.now).countsError, equals: nil)
                }
                let master = try await cluster.master(of: slot(of: fixture))
                let learning = Task {
                    // What is lost on the way is an error for once, which the next reader mends.
                    for batch in Self.batches[half...] {
                        _ = try await favorites.learn(batch, at: Fixture.now)
                    }
                }
                await master.kill()
                try await cluster.replace(master)
                try await learning.value
                try await master.restart()
                try await cluster.settle()
                _ = try await favorites.classify(Array(Corpus.posts))
            }
            try await expect(favorites.status()) { $0.counts == .current }
            let expected = try await undisturbedCounts()
            try await expect(fixture.dump(), equals: expected)
        }
    }
}
