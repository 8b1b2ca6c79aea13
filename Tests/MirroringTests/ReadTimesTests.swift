import Expectations
import Fixtures
import Foundation
import Posts
import Storage
import TestSupport
import Testing

@testable import Fleet
@testable import Mirroring

/// When feeds were read, stored for the mirrors of a process together.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ReadTimesTests {
    private static let now = BareMirror.now
    private static let feed = FeedName.botMentions

    private static func progress(_ read: Date, newest: Date? = nil, error: String? = nil)
        -> FeedProgress
    {
        var progress = FeedProgress()
        progress.read = read
        progress.newest = newest
        progress.error = error
        return progress
    }

    private func times(_ mirror: HumanMirror) async throws -> [String] {
        try await mirror.storage.query(
            "SELECT mirror, feed, read_ms, newest_ms, error FROM feeds ORDER BY mirror"
        ).map {
            let read = try $0.date("read_ms").timeIntervalSince(Self.now)
            let newest = try $0.optionalDate("newest_ms")?.timeIntervalSince(Self.now)
            return "\(try $0.text("mirror")) \(Int(read)) \(newest.map { "\(Int($0))" } ?? "-") "
                + (try $0.optionalText("error") ?? "-")
        }
    }

    @Test(arguments: Engine.allCases) func timesOfManyMirrorsAreStoredTogether(engine: Engine)
        async throws
    {
        let bare = try await BareMirror(engine)
        let mirror = try await bare.open()
        let times = mirror.installation.readTimes
        let tables = ["a", "b", "c"].map {
            FeedTable(storage: mirror.storage, mirror: $0, times: times)
        }
        // Without a worker each time is stored at once.
        for table in tables {
            try await table.storeTime(Self.progress(Self.now, newest: Self.now - 9), of: Self.feed)
        }
        try await expect(self.times(mirror), equals: ["a 0 -9 -", "b 0 -9 -", "c 0 -9 -"])

        times.beginCollecting()
        try await tables[0].storeTime(Self.progress(Self.now + 300), of: Self.feed)
        try await tables[0].storeTime(
            Self.progress(Self.now + 360, newest: Self.now + 350), of: Self.feed)
        try await tables[1].storeTime(Self.progress(Self.now + 300), of: Self.feed)
        try await expect(self.times(mirror), equals: ["a 0 -9 -", "b 0 -9 -", "c 0 -9 -"])
        await mirror.installation.storeReadTimes()
        try await expect(self.times(mirror), equals: ["a 360 350 -", "b 300 -9 -", "c 0 -9 -"])

        // The end of the worker loses nothing, and afterwards each time is stored at once again.
        try await tables[1].storeTime(Self.progress(Self.now + 400), of: Self.feed)
        await mirror.installation.endCollectingReadTimes()
        try await tables[2].storeTime(
            Self.progress(Self.now + 500, newest: Self.now - 9), of: Self.feed)
        try await expect(self.times(mirror), equals: ["a 360 350 -", "b 400 -9 -", "c 500 -9 -"])
    }

    @Test(arguments: Engine.allCases) func nothingNewerIsLostAndNothingReturns(engine: Engine)
        async throws
    {
        let bare = try await BareMirror(engine)
        let mirror = try await bare.open()
        let times = mirror.installation.readTimes
        times.beginCollecting()
        let lost = "lost"
        let removed = "removed"
        for name in [lost, removed] {
            try await FeedTable(storage: mirror.storage, mirror: name, times: times)
                .storeTime(Self.progress(Self.now + 300), of: Self.feed)
        }
        // Another worker has the mirror now, and its server answers no longer.
        try await FeedTable(storage: mirror.storage, mirror: lost)
            .store(Self.progress(Self.now + 330, error: "down"), of: Self.feed)
        await mirror.installation.storeReadTimes()
        try await expect(self.times(mirror), equals: ["lost 330 - down"])
    }

    @Test func oneStatementStoresAThousandFeeds() async throws {
        let bare = try await BareMirror()
        let mirror = try await bare.open()
        let times = mirror.installation.readTimes
        let names = (0..<1_001).map { "mirror-\($0)" }
        let tables = names.map { FeedTable(storage: mirror.storage, mirror: $0, times: times) }
        for table in tables { try await table.storeTime(Self.progress(Self.now), of: Self.feed) }
        times.beginCollecting()
        for table in tables {
            try await table.storeTime(Self.progress(Self.now + 300), of: Self.feed)
        }
        let counting = CountingEngine(mirror.storage.lenient)
        let counted = await counting.counting { try? await times.store(in: counting) }
        #expect(counted == .init(statements: 2, changes: 2, transactions: 0))
        let stored = try await mirror.storage.query(
            "SELECT COUNT(*) AS number FROM feeds WHERE read_ms = \((Self.now + 300).milliseconds)")
        try expect(stored.first?.int("number"), equals: 1_001)
    }
}
