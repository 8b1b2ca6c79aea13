import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Storage

@Suite struct SQLiteEngineTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func permissions(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func failure(opening path: String) async throws -> StorageError {
        try await #require(throws: StorageError.self) { try await Storage.open(.sqlite(path: path)) }
    }

    @Test func theFolderAndFileAreThereForTheUserOnly() async throws {
        let path = folder.path("a/b/data.sqlite")
        let engine = try await Storage.open(.sqlite(path: path))
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        #expect(try permissions(folder.path("a")) == 0o700)
        #expect(try permissions(folder.path("a/b")) == 0o700)
        #expect(try permissions(path) == 0o600)
        #expect(try permissions(path + "-wal") == 0o600)
        await engine.close()
    }

    @Test func commitsAreDurable() async throws {
        let engine = try await Storage.open(.sqlite(path: folder.path("data.sqlite")))
        let rows = try await engine.transaction { connection in
            try ["journal_mode", "synchronous", "foreign_keys"].map { name in
                try connection.query("PRAGMA \(unsafe: name)").first?.value(name)
            }
        }
        // 2 is FULL.
        #expect(rows == [.text("wal"), .integer(2), .integer(0)])
        await engine.close()
    }

    @Test func dataIsThereAfterReopening() async throws {
        let location = StorageLocation.sqlite(path: folder.path("data.sqlite"))
        let first = try await Storage.open(location)
        try await Migrations.apply(to: first)
        try await first.execute("INSERT INTO counters (mirror, name, value) VALUES (\("m"), \("n"), \(7))")
        await first.close()
        let second = try await Storage.open(location)
        #expect(try await Migrations.apply(to: second).isEmpty)
        #expect(try await second.query("SELECT value FROM counters").first?.integer("value") == 7)
        await second.close()
    }

    @Test func aPathThatCannotHoldADatabaseIsExplained() async throws {
        #expect(try await failure(opening: "").code == .configuration)
        let isFolder = try await failure(opening: folder.path)
        #expect(isFolder.code == .configuration)
        #expect("\(isFolder)".contains("\(folder.path): it is a folder"))
        let file = try folder.write(Data("x".utf8), to: "file")
        let belowFile = try await failure(opening: file + "/data.sqlite")
        #expect(belowFile.code == .unavailable)
        #expect("\(belowFile)".contains(file + "/data.sqlite"))
        #expect(try await failure(opening: "/proc/data.sqlite").code != .other)
    }

    @Test func aFileThatIsNoDatabaseIsLeftAlone() async throws {
        let text = Data(String(repeating: "these are not the pages of a database\n", count: 100).utf8)
        let path = try folder.write(text, to: "notes.txt")
        let error = try await failure(opening: path)
        #expect(error.code == .corrupt)
        #expect("\(error)".contains(path) && "\(error)".contains("backup"))
        #expect(FileManager.default.contents(atPath: path) == text)
    }

    @Test func aDamagedFileIsReported() async throws {
        let location = StorageLocation.sqlite(path: folder.path("data.sqlite"))
        let engine = try await Storage.open(location)
        try await engine.execute("CREATE TABLE t (x TEXT NOT NULL)")
        try await engine.transaction { connection in
            for _ in 0..<200 {
                try connection.execute("INSERT INTO t (x) VALUES (\(String(repeating: "x", count: 999)))")
            }
        }
        await engine.close()
        var bytes = try #require(FileManager.default.contents(atPath: folder.path("data.sqlite")))
        bytes.replaceSubrange(8_192..<bytes.count - 4_096, with: Data(repeating: 0xA5, count: bytes.count - 12_288))
        try folder.write(bytes, to: "data.sqlite")
        let damaged = try await Storage.open(location)
        let error = try await #require(throws: StorageError.self) { try await damaged.query("SELECT x FROM t") }
        #expect(error.code == .corrupt)
        await damaged.close()
    }

    @Test func aDatabaseHeldByAnotherProcessIsBusy() async throws {
        let path = folder.path("data.sqlite")
        let holder = try await Storage.open(.sqlite(path: path))
        let waiting = try await SQLiteEngine.open(path: path, patience: 0.05)
        let (held, hold) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        async let holding: Void = holder.transaction { _ in
            hold.yield()
            release.wait()
        }
        for await _ in held { break }
        let error = try await #require(throws: StorageError.self) { try await waiting.execute("CREATE TABLE t (x)") }
        #expect(error.code == .busy)
        #expect(error.isTransient)
        // Reading does not wait for a writer.
        #expect(try await waiting.query("SELECT 1 AS one").count == 1)
        release.signal()
        try await holding
        try await waiting.execute("CREATE TABLE t (x)")
        await holder.close()
        await waiting.close()
    }

    @Test func aFullDiskRollsBackAndIsReported() async throws {
        let engine = try await Storage.open(.sqlite(path: folder.path("data.sqlite")))
        try await engine.execute("CREATE TABLE t (x TEXT)")
        let error = try await #require(throws: StorageError.self) {
            try await engine.transaction { connection in
                _ = try connection.query("PRAGMA max_page_count = 5")
                try connection.execute("INSERT INTO t (x) VALUES (\(String(repeating: "x", count: 100_000)))")
            }
        }
        #expect(error.code == .full)
        #expect(try await engine.query("SELECT x FROM t").isEmpty)
        #expect(try await engine.execute("INSERT INTO t (x) VALUES (\("small"))") == 1)
        await engine.close()
    }
}
