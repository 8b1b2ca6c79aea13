import Daemon
import Favorites
import Foundation
import Outbox
import Posts
import Sandbox
import TestSupport
import Testing

/// What the mirror does while the counts cannot be reached.
@Suite(.mirrors, .timeLimit(.minutes(5))) struct RedisOutageTests {
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
        #expect(ledger.favorites.contains { $0.date < outage.lowerBound })
        #expect(!ledger.favorites.contains { outage.contains($0.date) })
        #expect(ledger.favorites.contains { $0.date > outage.upperBound })
        #expect(ledger.deliveries.contains { outage.contains($0.date) && $0.replyTo == nil })
        #expect(ledger.deliveries.contains { outage.contains($0.date) && $0.replyTo != nil })
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        #expect(ledger.summary.unsolicited + ledger.summary.duplicateSends + ledger.summary.errors == 0)
        // What came meanwhile is still judged, as long as it is young enough.
        let ids = ledger.favorites.filter { $0.date > outage.upperBound }.compactMap { Int64($0.postID) }
        #expect(ids.contains { outage.contains(Date(milliseconds: $0 >> 16)) })
        let status = try await fixture.stores.favorites().status()
        #expect(status.countsMatch)
        #expect(status.seen > 0)
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
        let report = try await StatusReporter(stores: fixture.stores).report(now: fixture.clock.now)
        let reason = try #require(report.idle.first { $0.hasPrefix("no favorites") })
        #expect(reason.contains("check REDIS_URL"))
        #expect(report.classifier?.counts == nil)
    }
}
