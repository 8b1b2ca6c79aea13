import Expectations
import Favorites
import Fixtures
import Foundation
import Networks
import Posts
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What reports keep, and that nothing kept is older than the last change.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct KeptReportsTests {
    /// Counts how often a value is made.
    private actor Maker {
        private(set) var made = 0

        func make() -> Int {
            made += 1
            return made
        }
    }

    @Test func aValueIsMadeOnceForEachStamp() async throws {
        let kept = KeptReports()
        let maker = Maker()
        func value(_ part: String, _ mirror: String, _ stamp: String) async throws -> Int {
            try await kept.value(part, of: mirror, stamp: stamp) { await maker.make() }
        }
        for _ in 0..<3 { try await expect(value("p", "m", "1"), equals: 1) }
        try await expect(value("p", "n", "1"), equals: 2)
        try await expect(value("q", "m", "1"), equals: 3)
        try await expect(value("p", "m", "2"), equals: 4)
        // A stamp that comes again is not believed: one value is kept of each.
        try await expect(value("p", "m", "1"), equals: 5)
        await expect(kept.count, equals: 3)
    }

    @Test func whatWasAskedForLongestAgoMakesRoom() async throws {
        let kept = KeptReports(most: 3)
        let maker = Maker()
        func value(_ mirror: String) async throws -> Int {
            try await kept.value("p", of: mirror, stamp: "1") { await maker.make() }
        }
        for name in ["a", "b", "c"] { _ = try await value(name) }
        try await expect(value("a"), equals: 1)
        try await expect(value("d"), equals: 4)
        await expect(kept.count, equals: 3)
        try await expect(value("a"), equals: 1)
        try await expect(value("b"), equals: 5)
    }

    @Test func anErrorIsNotKept() async throws {
        struct Trouble: Error {}
        let kept = KeptReports()
        await #expect(throws: Trouble.self) {
            try await kept.value("p", of: "m", stamp: "1") { () -> Int in throw Trouble() }
        }
        try await expect(kept.value("p", of: "m", stamp: "1") { 7 }, equals: 7)
    }

    /// A change while the value is made is seen by the next who asks.
    @Test func aChangeMeanwhileIsNotMissed() async throws {
        let kept = KeptReports()
        let begun = AsyncStream.makeStream(of: Void.self)
        let mayEnd = AsyncStream.makeStream(of: Void.self)
        let slow = Task {
            try await kept.value("p", of: "m", stamp: "1") { () -> String in
                begun.continuation.finish()
                for await _ in mayEnd.stream {}
                return "old"
            }
        }
        for await _ in begun.stream {}
        try await expect(kept.value("p", of: "m", stamp: "2") { "new" }, equals: "new")
        mayEnd.continuation.finish()
        try await expect(slow.value, equals: "old")
        try await expect(kept.value("p", of: "m", stamp: "2") { "newer" }) { $0 != "old" }
    }

    // MARK: What reports keep

    private func expectSame(
        _ paper: PaperMirror, _ kept: KeptReports, location: SourceLocation = #_sourceLocation
    ) async throws {
        let now = paper.clock.now
        let fresh = StatsReporter(mirror: paper.mirror, zone: PaperMirror.zone)
        let reporter = StatsReporter(mirror: paper.mirror, zone: PaperMirror.zone, kept: kept)
        for _ in 0..<2 {
            let taste = try await reporter.taste()
            let times = try await reporter.times(now: now)
            #expect(try await taste == fresh.taste(), sourceLocation: location)
            #expect(try await times == fresh.times(now: now), sourceLocation: location)
        }
    }

    @Test(arguments: Engine.allCases) func whatIsKeptIsWhatAFreshReportSays(_ engine: Engine)
        async throws
    {
        let paper = try await PaperMirror(
            engine, bot: .mastodon, variables: ["REPLIES_PER_PERSON": "100"])
        let kept = KeptReports()
        let friend = AccountID(network: .mastodon, value: "friend")
        try await expectSame(paper, kept)
        try await paper.teachTea(on: .mastodon)
        try await expectSame(paper, kept)
        await expect(kept.count) { $0 > 0 }
        // One more post is learned, then all of them are forgotten.
        let favorites = try paper.mirror.favorites()
        let example = Example(
            id: PostID(network: .mastodon, value: "late"), author: "c",
            text: "gooseberry gooseberry tea")
        _ = try await favorites.learn([.seen(example), .favorited(example)], at: paper.clock.now)
        try await expectSame(paper, kept)
        try await favorites.clear()
        try await expectSame(paper, kept)
        // The human posts, and the bot answers somebody.
        try await paper.archive(
            (0..<9).map { pastReply("r\($0)", to: friend, "thank you number \($0)") })
        try await expectSame(paper, kept)
        let parts = try await paper.parts()
        let mentions = try #require(parts.feeds.mentions)
        _ = try await Passes(parts: parts).mentions(mentions)
        paper.bot.add([paperPost("m", on: .mastodon, at: PaperMirror.now + 1)], to: .mentions)
        try await paper.wait(5)
        let before = try await StatsReporter(
            mirror: paper.mirror, zone: PaperMirror.zone, kept: kept
        )
        .times(now: paper.clock.now)
        _ = try await Passes(parts: parts).mentions(mentions)
        let after = try await StatsReporter(
            mirror: paper.mirror, zone: PaperMirror.zone, kept: kept
        )
        .times(now: paper.clock.now)
        #expect(before.days.last?.replies == 0)
        #expect(after.days.last?.replies == 1)
        try await expectSame(paper, kept)
    }
}
