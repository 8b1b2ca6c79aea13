import Control
import Expectations
import Favorites
import Fixtures
import Fleet
import Foundation
import MeCab
import Mirroring
import Posts
import Sandbox
import TestSupport
import Testing

/// What the mirror does without a dictionary.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct DictionaryTests {
    private let folder: TemporaryDirectory
    /// Where the dictionary is, or will be.
    private var path: String { folder.path("dictionary") }

    init() throws { folder = try TemporaryDirectory() }

    private func install() throws {
        let real = try DictionaryProfile.locate(DictionaryProfile.ipadic.name).folders[0]
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: real)
    }

    private func remove() throws { try FileManager.default.removeItem(atPath: path) }

    private func start() async throws -> MirrorFixture {
        try await MirrorFixture.start(
            from: 8, variables: ["MECAB_DICTIONARY": path + "/", "FAVORITES_PER_DAY": "1000"])
    }

    private func times(_ fixture: MirrorFixture, _ message: String) -> Int {
        fixture.log.values.count { $0.contains(message) }
    }

    @Test func pausesFavoritesUntilThereIsOne() async throws {
        let fixture = try await start()
        try await fixture.live(until: 16, events: [(14, { try install() })])
        let ledger = await fixture.sandbox.ledger
        let missing = Sample.hour(8)..<Sample.hour(14)
        expect(ledger.deliveries) { $0.contains { missing.contains($0.date) && $0.replyTo == nil } }
        expect(ledger.deliveries) { $0.contains { missing.contains($0.date) && $0.replyTo != nil } }
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        expect(ledger.favorites) { !$0.contains { missing.contains($0.date) } }
        // It is told once, and once that it is over.
        #expect(times(fixture, "Favorites and learning pause") == 1)
        #expect(times(fixture, "Favorites and learning go on") == 1)
        // What came meanwhile is judged then, as long as it is young enough, and is learned.
        let ids = ledger.favorites.compactMap { Int64($0.postID) }
        expect(ids) { $0.contains { missing.contains(Date(milliseconds: $0 >> 16)) } }
        #expect(
            ledger.summary.unsolicited + ledger.summary.duplicateSends + ledger.summary.errors == 0)
        let status = try await fixture.mirror.favorites().status()
        #expect(status.seen > Sample.exampleCount)
        #expect(status.counts == .current)
    }

    @Test func keepsTheOneItHasOpened() async throws {
        try install()
        let fixture = try await start()
        try await fixture.live(until: 12, events: [(10, { try remove() })])
        let favorites = await fixture.sandbox.ledger.favorites
        expect(favorites) { $0.contains { $0.date > Sample.hour(10) } }
        #expect(times(fixture, "Favorites and learning pause") == 0)
        // The next process has none, and says so.
        let next = try await fixture.reopened()
        try await fixture.worker(on: next).run(until: Sample.hour(14))
        #expect(times(fixture, "Favorites and learning pause") == 1)
        let later = await fixture.sandbox.ledger
        expect(later.favorites) { !$0.contains { $0.date > Sample.hour(12.2) } }
        expect(later.deliveries) { $0.contains { $0.date > Sample.hour(12) } }
        let report = try await StatusReporter(mirror: next).report(now: fixture.clock.now)
        expect(report.idle) {
            $0.contains { $0.hasPrefix("no favorites: could not open the MeCab dictionary") }
        }
    }

    @Test func aSinglePassDoesTheRest() async throws {
        let fixture = try await start()
        try await fixture.wait(until: Sample.hour(9))
        #expect(try await fixture.worker().runOnce())
        try await fixture.wait(until: Sample.hour(12))
        #expect(try await fixture.worker().runOnce())
        await expect(fixture.sandbox.ledger.summary.replies) { $0 > 0 }
        await expect(fixture.sandbox.ledger.summary.favorites, equals: 0)
    }
}
