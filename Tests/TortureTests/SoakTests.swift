import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Storage
import TestSupport
import Testing

@testable import Torture

/// `Torture soak`, shortly: whether it measures, not whether a month is flat.
@Suite(.timeLimit(.minutes(30))) struct SoakTests {
    /// What a soak prints at its end, as far as it is looked at.
    private struct Figures: Decodable {
        let complaints: [String]
        let days: [SoakDay]
        let ledger: SoakLedger
    }

    @Test func twoDaysAreMeasuredAndFlat() async throws {
        let folder = try TemporaryDirectory()
        let program = Bundle.main.bundleURL.appendingPathComponent("Torture").path
        let soak = try WorkerProcess(
            name: "soak", words: [program, "soak", "--days", "2", "--json"],
            environment: ProcessInfo.processInfo.environment, logPath: folder.path("log"))
        let ending = await soak.wait(seconds: 500) { $0.hasEnded }
        let text = soak.output
        #expect(ending == .exited(0), "\(text)")
        let line = try #require(text.split(separator: "\n").last { $0.hasPrefix("{") })
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let figures = try decoder.decode(Figures.self, from: Data(line.utf8))
        #expect(figures.complaints.isEmpty)
        #expect(figures.days.map(\.day) == [1, 2])
        #expect(figures.ledger.posted > 0)
        #expect(figures.ledger.replies > 0)
        for day in figures.days {
            // Coarse: a worker with the whole sandbox inside it, or one that was never measured, is
            // outside.
            #expect((1_000...60_000).contains(day.process.memory))
            #expect((500...Flatness.cacheBound).contains(day.process.cache))
            #expect((4...60).contains(day.process.descriptors))
            #expect((3...60).contains(day.process.threads))
            #expect(day.tables.rows["actions"] ?? 0 > 0)
            #expect(day.tables.fileSize > 0)
        }
    }

    @Test func everyTableIsCounted() async throws {
        let folder = try TemporaryDirectory()
        let engine = try await Storage.open(.sqlite(path: folder.path("a.sqlite")))
        try await Migrations.apply(to: engine)
        let rows = try await engine.query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        // These are of no mirror.
        let tables = try rows.map { try $0.text("name") }.filter {
            !["schema_migrations", "workers", "ended_sessions"].contains($0)
        }
        await engine.close()
        #expect(Set(tables) == Set(TableFigures.tables))
        #expect(Set(TableRule.all.map(\.table)) == Set(TableFigures.tables))
    }

    @Test func anInstantIsTheSameInAnotherProcess() throws {
        let folder = try TemporaryDirectory()
        let mine = try SharedInstant(path: folder.path("now"))
        let theirs = try SharedInstant(path: folder.path("now"))
        #expect(theirs.now == Date(timeIntervalSince1970: 0))
        for date in [SoakPast.origin, SoakPast.origin + 0.25, SoakPast.origin - 1] {
            mine.set(date)
            #expect(theirs.now == date)
        }
    }

    /// Measured of processes in which nobody else opens anything, and which stand still.
    @Test func theFiguresOfAProcessAreItsOwn() async throws {
        let some = try await stopped(with: 3)
        let more = try await stopped(with: 8)
        #expect(some.threads == 1)
        #expect(some.memory > 0)
        #expect(some.descriptors >= 6)
        #expect(more.descriptors == some.descriptors + 5)
    }

    /// The figures of a shell that has so many files open besides its streams.
    private func stopped(with files: Int) async throws -> ProcessFigures {
        let folder = try TemporaryDirectory()
        let script = """
            for i in {3..250}; do eval "exec $i>&-"; done
            for i in {1..\(files)}; do exec {file}</dev/null; done; kill -STOP $$
            """
        let process = try WorkerProcess(
            name: "shell", words: ["bash", "-c", script],
            environment: ProcessInfo.processInfo.environment,
            logPath: folder.path("log"))
        await expect(
            process.wait(seconds: 300) { $0 != .running }, equals: .stopped, "\(process.output)")
        return try ProcessFigures(of: "\(process.process)")
    }

    @Test func theFiguresOfThisProcessAreRead() throws {
        let figures = try ProcessFigures.current()
        #expect(figures.memory > 500)
        #expect(figures.threads > 0)
        #expect(figures.descriptors > 0)
        #expect(throws: TestSupportError.self) { try ProcessFigures(of: "0") }
    }
}
