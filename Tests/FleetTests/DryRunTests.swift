import Expectations
import Favorites
import Fixtures
import Foundation
import Outbox
import Sandbox
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// Runs that decide and tell, and leave no trace.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct DryRunTests {
    @Test(arguments: Engine.allCases) func tellsWhatItWouldSendAndKeepsNothing(_ engine: Engine)
        async throws
    {
        let fixture = try await MirrorFixture.start(engine, from: 9)
        try await fixture.live(until: 10.5)
        // Time for mentions, posts to favorite and a slot to wait for the next worker.
        let next = try #require(try await fixture.slots().first { $0.due > Sample.hour(12) })
        try await fixture.wait(until: next.due + 30)
        let contents = try await state(fixture)
        let ledger = await fixture.sandbox.ledger
        let told = Recorder<Action>()
        let plan = try #require(try await fixture.worker().dryRun { told.add($0) })
        let after = try await state(fixture)
        #expect(after == contents)
        #expect(after.rowCount > 100)
        await expect(fixture.sandbox.ledger.deliveries, equals: ledger.deliveries)
        await expect(fixture.sandbox.ledger.favorites, equals: ledger.favorites)
        await expect(fixture.sandbox.ledger.summary.errors, equals: 0)
        #expect(Set(told.values.map(\.kind)) == Set(ActionKind.allCases))
        #expect(told.values.first { $0.kind == .post }?.text == next.text)
        #expect(plan.slots.first { $0.subject == next.subject }?.state == "done")
        // Afterwards the mirror does exactly what was told.
        #expect(try await fixture.worker().runOnce())
        let sent = await fixture.sandbox.ledger
        let texts = sent.deliveries.dropFirst(ledger.deliveries.count).map(\.text)
        #expect(texts.sorted() == told.values.compactMap(\.text).sorted())
        let favorites = sent.favorites.dropFirst(ledger.favorites.count).map(\.postID)
        let toldFavorites = told.values.filter { $0.kind == .favorite }.compactMap(
            \.target?.address)
        #expect(favorites.sorted() == toldFavorites.sorted())
    }

    private func state(_ fixture: MirrorFixture) async throws -> TableContents {
        try await TableContents(of: fixture.mirror.storage)
    }

    @Test func doesNotActivateANewMirror() async throws {
        let fixture = try await MirrorFixture.start(from: 13)
        let before = try await state(fixture)
        let told = Recorder<Action>()
        let plan = try #require(try await fixture.worker().dryRun { told.add($0) })
        try await expect(state(fixture), equals: before)
        var trained = MirrorRecord()
        trained.past = .whole
        trained.timeZone = "Asia/Tokyo"
        try await expect(fixture.mirror.table.record(), equals: trained)
        #expect(plan.day == Sample.day)
        expect(plan.slots) { $0.contains { $0.state == "skipped" && $0.reason == "before-start" } }
        expect(plan.slots) { $0.contains { $0.state == "planned" } }
        // Nothing happened since this moment, which would be the mirror's first.
        #expect(told.values.isEmpty)
    }

    @Test func leavesTheCountsInRedisAlone() async throws {
        let server = try await RedisServer.start()
        let fixture = try await MirrorFixture.start(from: 12, variables: ["REDIS_URL": server.url])
        // The counts of this mirror were never in Redis, and a dry run does not put them there.
        let told = Recorder<Action>()
        _ = try await fixture.worker().dryRun { told.add($0) }
        let status = try await fixture.mirror.favorites().status()
        #expect(status.counts != .current)
        #expect(status.features == 0)
    }

    @Test func hasNoPlanForAnEmptyArchive() async throws {
        let fixture = try await MirrorFixture.start(
            isTrained: false, variables: ["HUMAN_SERVER": "", "HUMAN_ACCESS_TOKEN": ""])
        let plan = try await fixture.worker().dryRun { _ in }
        #expect(plan == nil)
    }
}
