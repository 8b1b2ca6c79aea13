import Dispatch
import Expectations
import Foundation
import TestSupport
import Testing

@testable import Storage

/// Disks that fill up, files that go, and other processes, under an open engine.
@Suite(.timeLimit(.minutes(30))) struct SQLiteFaultTests {
    private let folder: TemporaryDirectory
    private let path: String

    init() throws {
        folder = try TemporaryDirectory()
        path = folder.path("data.sqlite")
    }

    /// An engine over a table `t` of texts with one row.
    private func open(_ path: String? = nil) async throws -> any StorageEngine {
        let engine = try await Storage.open(.sqlite(path: path ?? self.path))
        try await engine.execute("CREATE TABLE IF NOT EXISTS t (x TEXT)")
        try await engine.execute("INSERT INTO t (x) VALUES ('first')")
        return engine
    }

    private func failure(_ engine: any StorageEngine, _ sql: SQL) async throws -> StorageError {
        try await #require(throws: StorageError.self) { try await engine.execute(sql) }
    }

    private func rows(_ engine: any StorageEngine) async throws -> [String] {
        try await engine.query("SELECT x FROM t ORDER BY x").map { try $0.text("x") }
    }

    /// Holds the write lock until the semaphore is signalled.
    private func hold(
        _ engine: any StorageEngine, until release: DispatchSemaphore
    ) async throws -> Task<Void, any Error> {
        let (held, hold) = AsyncStream.makeStream(of: Void.self)
        let holding = Task {
            try await engine.transaction { _ in
                hold.yield()
                release.wait()
            }
        }
        for await _ in held { break }
        return holding
    }

    @Test func aShortLockOfAnotherProcessIsWaitedFor() async throws {
        // It waits longer than the test may take.
        let engine = try await SQLiteEngine.open(path: path, busyTimeout: 600)
        try await engine.execute("CREATE TABLE t (x TEXT)")
        try await engine.execute("INSERT INTO t (x) VALUES ('first')")
        let other = try await SQLiteEngine.open(path: path)
        let release = DispatchSemaphore(value: 0)
        let holding = try await hold(other, until: release)
        async let writing = engine.execute("INSERT INTO t (x) VALUES ('second')")
        try await expect(rows(engine), equals: ["first"])
        release.signal()
        try await expect(writing, equals: 1)
        try await holding.value
        try await expect(rows(other), equals: ["first", "second"])
        await other.close()
        await engine.close()
    }

    @Test func aLongLockIsBusyAndOverWhenItIsOver() async throws {
        let engine = try await SQLiteEngine.open(path: path, busyTimeout: 0.1)
        try await engine.execute("CREATE TABLE t (x TEXT)")
        let other = try await SQLiteEngine.open(path: path)
        let release = DispatchSemaphore(value: 0)
        let holding = try await hold(other, until: release)
        for _ in 0..<2 {
            let error = try await failure(engine, "INSERT INTO t (x) VALUES ('late')")
            #expect(error.code == .busy)
            #expect(error.isTransient)
            #expect("\(error)".contains("another process holds it"))
        }
        release.signal()
        try await holding.value
        try await expect(engine.execute("INSERT INTO t (x) VALUES ('now')"), equals: 1)
        try await expect(rows(engine), equals: ["now"])
        await other.close()
        await engine.close()
    }

    @Test func cancellingEndsTheWaitForALock() async throws {
        // Longer than the test may take.
        let engine = try await SQLiteEngine.open(path: path, busyTimeout: 600)
        try await engine.execute("CREATE TABLE t (x TEXT)")
        let other = try await SQLiteEngine.open(path: path)
        let release = DispatchSemaphore(value: 0)
        let holding = try await hold(other, until: release)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let writing = Task {
            start.yield()
            return try await engine.execute("INSERT INTO t (x) VALUES ('late')")
        }
        for await _ in started { break }
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        release.signal()
        try await holding.value
        try await expect(engine.execute("INSERT INTO t (x) VALUES ('now')"), equals: 1)
        try await expect(rows(engine), equals: ["now"])
        await other.close()
        await engine.close()
    }

    @Test func aWriterFindsTheGapsOfOneThatWritesAllTheTime() async throws {
        let engine = try await open()
        let other = try await SQLiteEngine.open(path: path)
        let isOver = RunCounter()
        let hammering = Task {
            while isOver.value == 0 {
                // Long transactions with nothing between them, as of an import.
                try await other.transaction { connection in
                    try connection.execute("INSERT INTO t (x) VALUES ('theirs')")
                    _ = poll(nil, 0, 40)
                }
            }
        }
        for _ in 0..<10 { try await engine.execute("INSERT INTO t (x) VALUES ('ours')") }
        _ = isOver.next()
        try await hammering.value
        try await expect(rows(engine).count { $0 == "ours" }, equals: 10)
        await other.close()
        await engine.close()
    }

    @Test(.enabled(if: TinyDisk.isPossible))
    func aDiskThatIsFullIsReportedAndUsedAgainWhenThereIsRoom() async throws {
        let disk = try TinyDisk(kilobytes: 1_024)
        defer { withExtendedLifetime(disk) {} }
        let engine = try await open(disk.path("data.sqlite"))
        let ballast = try disk.fill()
        let error = try await failure(
            engine, "INSERT INTO t (x) VALUES (\(String(repeating: "x", count: 100_000)))")
        #expect(error.code == .full)
        #expect("\(error)".contains("make room"))
        try await expect(rows(engine), equals: ["first"])
        try FileManager.default.removeItem(atPath: ballast)
        try await expect(engine.execute("INSERT INTO t (x) VALUES ('second')"), equals: 1)
        try await expect(rows(engine), equals: ["first", "second"])
        try await expect(
            engine.query("PRAGMA integrity_check").first?.text("integrity_check"), equals: "ok")
        await engine.close()
    }

    @Test func aDatabaseThatTakesNoChangesSaysWhoMayMend() async throws {
        let engine = try await open()
        try await engine.transaction { _ = try $0.query("PRAGMA query_only = 1") }
        let error = try await failure(engine, "INSERT INTO t (x) VALUES ('second')")
        #expect(error.code == .readOnly)
        #expect("\(error)".contains("let the user of this program write"))
        try await expect(rows(engine), equals: ["first"])
        await engine.close()
    }

    @Test func aFileThatWasMovedAwayIsMissedAndUsedAgainWhenItIsBack() async throws {
        let engine = try await open()
        try FileManager.default.moveItem(atPath: path, toPath: folder.path("elsewhere"))
        for _ in 0..<2 {
            let error = try await failure(engine, "INSERT INTO t (x) VALUES ('lost')")
            #expect(error.code == .unavailable)
            #expect(error.isTransient)
            #expect("\(error)".contains("put it back"))
        }
        let reading = try await #require(throws: StorageError.self) {
            try await engine.query("SELECT x FROM t")
        }
        #expect(reading.code == .unavailable)
        // Nobody has made an empty one in its place.
        #expect(!FileManager.default.fileExists(atPath: path))
        try FileManager.default.moveItem(atPath: folder.path("elsewhere"), toPath: path)
        try await expect(engine.execute("INSERT INTO t (x) VALUES ('second')"), equals: 1)
        try await expect(rows(engine), equals: ["first", "second"])
        await engine.close()
    }

    @Test func aFileInAnothersPlaceIsNotMistakenForIt() async throws {
        let engine = try await open()
        let backup = try await open(folder.path("backup.sqlite"))
        try await backup.execute("INSERT INTO t (x) VALUES ('restored')")
        await backup.close()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: folder.path("backup.sqlite"), toPath: path)
        let error = try await failure(engine, "INSERT INTO t (x) VALUES ('lost')")
        #expect(error.code == .replaced)
        #expect(!error.isTransient)
        #expect("\(error)".contains("restart"))
        await engine.close()
    }

    @Test(arguments: ["-wal", "-shm"])
    func aCompanionThatWasRemovedIsMissedAndNothingIsLost(_ suffix: String) async throws {
        let engine = try await open()
        try FileManager.default.removeItem(atPath: path + suffix)
        let error = try await failure(engine, "INSERT INTO t (x) VALUES ('lost')")
        #expect(error.code == .replaced)
        #expect("\(error)".contains("data.sqlite\(suffix) was removed"))
        await engine.close()
        // What was committed before is in the file once the process has ended in order.
        let again = try await Storage.open(.sqlite(path: path))
        try await expect(rows(again), equals: ["first"])
        try await expect(again.execute("INSERT INTO t (x) VALUES ('second')"), equals: 1)
        try await expect(
            again.query("PRAGMA integrity_check").first?.text("integrity_check"), equals: "ok")
        await again.close()
    }

    @Test func whatAnotherConnectionLeavesBehindIsNoReplacement() async throws {
        let engine = try await open()
        // Others that come and go make checkpoints and close the files.
        for _ in 0..<3 {
            let other = try await SQLiteEngine.open(path: path)
            try await other.execute("INSERT INTO t (x) VALUES ('other')")
            await other.close()
        }
        try await expect(engine.execute("INSERT INTO t (x) VALUES ('second')"), equals: 1)
        try await expect(rows(engine).count, equals: 5)
        await engine.close()
    }
}
