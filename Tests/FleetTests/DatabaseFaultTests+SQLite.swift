import Control
import Expectations
import Fixtures
import Foundation
import Mirroring
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

/// Half a day of a mirror whose database file is locked, full or elsewhere for a while.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct SQLiteDatabaseFaultTests {
    private func start(from hour: Double = 8) async throws -> MirrorFixture {
        try await MirrorFixture.start(from: hour, variables: ["FAVORITES_PER_DAY": "1000"])
    }

    private static func hours(_ from: Double, _ to: Double) -> Range<Date> {
        Sample.hour(from)..<Sample.hour(to)
    }

    @Test func survivesADiskThatIsFullForAnHour() async throws {
        let fixture = try await start()
        try await fixture.live(until: 13, events: [(9, fixture.fillDisk), (10, fixture.makeRoom)])
        expect(fixture.log.values) {
            $0.contains { $0.contains("Pass failed") && $0.contains("make room") }
        }
        try await fixture.expectNothingTwiceOrLost(outages: [Self.hours(9, 10)])
    }

    @Test func survivesAFileThatIsElsewhereForAnHour() async throws {
        let fixture = try await start()
        let path = try #require(fixture.databasePath)
        try await fixture.live(
            until: 13,
            events: [
                (9, { try FileManager.default.moveItem(atPath: path, toPath: path + ".away") }),
                (10, { try FileManager.default.moveItem(atPath: path + ".away", toPath: path) }),
            ])
        expect(fixture.log.values) {
            $0.contains { $0.contains("Pass failed") && $0.contains("put it back") }
        }
        await expect(fixture.sandbox.ledger.deliveries) {
            $0.allSatisfy { !Self.hours(9, 10).contains($0.date) }
        }
        try await fixture.expectNothingTwiceOrLost(outages: [Self.hours(9, 10)])
    }

    @Test func survivesAProcessThatHoldsTheFileForLongerThanItWaits() async throws {
        let fixture = try await start()
        let other = try await fixture.reopened()
        let gate = DispatchSemaphore(value: 0)
        // Each call that waits for the lock does so for ten real seconds: the first that gives up
        // is enough. Cancelling lets go too, should the worker end without a word: the mirror could
        // not be closed.
        let watching = Task { [log = fixture.log] in
            // Before the next call begins to wait.
            try? await log.wait(meanwhile: { gate.signal() }) { Self.tellsOfTheHolder($0) }
            gate.signal()
        }
        defer { watching.cancel() }
        let holding = Recorder<Task<Void, any Error>>()
        try await fixture.live(
            until: 11,
            events: [
                (
                    8.999,
                    {
                        let (held, hold) = AsyncStream.makeStream(of: Void.self)
                        holding.add(
                            Task {
                                try await other.storage.transaction { _ in
                                    hold.yield()
                                    gate.wait()
                                }
                            })
                        for await _ in held { break }
                    }
                )
            ])
        try await #require(holding.values.first).value
        expect(fixture.log.values) { $0.contains { Self.tellsOfTheHolder($0) } }
        try await fixture.expectNothingTwiceOrLost(outages: [Self.hours(8.999, 9.0035)])
    }

    private static func tellsOfTheHolder(_ line: String) -> Bool {
        line.contains("Pass failed") && line.contains("another process holds it")
    }

    @Test func endsWhenAnotherFileTakesThePlaceOfItsDatabase() async throws {
        let fixture = try await start()
        let path = try #require(fixture.databasePath)
        let error = await #expect(throws: StorageError.self) {
            try await fixture.live(
                until: 13,
                events: [
                    (
                        9,
                        {
                            // A copy that is put back over it, as a backup is.
                            try FileManager.default.copyItem(atPath: path, toPath: path + ".backup")
                            try FileManager.default.removeItem(atPath: path)
                            try FileManager.default.moveItem(atPath: path + ".backup", toPath: path)
                        }
                    )
                ])
        }
        #expect(error?.code == .replaced)
        await expect(fixture.sandbox.ledger.deliveries) {
            $0.allSatisfy { $0.date <= Sample.hour(9) }
        }
    }
}

extension MirrorFixture {
    /// The file of an embedded database.
    var databasePath: String? {
        if case .sqlite(let path) = mirror.process.storage { path } else { nil }
    }

    /// Lets the embedded database have no room for one row more.
    func fillDisk() async throws {
        let storage = mirror.storage.lenient
        // What is written lately would find room on pages that are not full.
        try await storage.executeRepeatable("VACUUM")
        // The limit holds for the connection that set it, which is the one that writes.
        try await storage.transaction { connection in
            try connection.execute("CREATE TABLE ballast (x BLOB)")
            let count = try connection.query("PRAGMA page_count").first?.integer("page_count") ?? 0
            _ = try connection.query("PRAGMA max_page_count = \(unsafe: "\(count)")")
        }
        // What is free within the file is room too.
        for size in [3_000, 300] {
            let row: SQL = "INSERT INTO ballast (x) VALUES (zeroblob(\(unsafe: "\(size)")))"
            while (try? await storage.execute(row)) != nil {}
        }
    }

    /// Ends what ``fillDisk()`` began.
    func makeRoom() async throws {
        try await mirror.storage.lenient.transaction { connection in
            _ = try connection.query("PRAGMA max_page_count = 1000000")
            try connection.execute("DROP TABLE ballast")
        }
    }
}
