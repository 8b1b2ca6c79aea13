import Dispatch
import Expectations
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
        try await #require(throws: StorageError.self) {
            try await Storage.open(.sqlite(path: path))
        }
    }

    @Test func theFolderAndFileAreThereForTheUserOnly() async throws {
        let path = folder.path("a/b/data.sqlite")
        let engine = try await Storage.open(.sqlite(path: path))
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        try expect(permissions(folder.path("a")), equals: 0o700)
        try expect(permissions(folder.path("a/b")), equals: 0o700)
        try expect(permissions(path), equals: 0o600)
        try expect(permissions(path + "-wal"), equals: 0o600)
        await engine.close()
    }

    /// A second read runs while a first one, such as that of a page with much data, is still under
    /// way.
    @Test func aShortLookDoesNotWaitForALongOne() async throws {
        let engine = try await Storage.open(.sqlite(path: folder.path("data.sqlite")))
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        let state = try await engine.state()
        let (entered, entering) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        let long = Task {
            try await engine.read { connection in
                entering.yield()
                release.wait()
                return try connection.query("SELECT COUNT(*) AS number FROM t").first?.int("number")
            }
        }
        for await _ in entered { break }
        // The second connection, which is opened for this.
        try await expect(engine.query("SELECT x FROM t").count, equals: 0)
        try await engine.execute("INSERT INTO t (x) VALUES (\(1))")
        try await expect(engine.query("SELECT x FROM t").count, equals: 1)
        release.signal()
        _ = try await long.value
        // Whichever connections were used meanwhile, the states of one engine compare.
        let changed = try await engine.state()
        #expect(changed != state)
        try await expect(engine.state(), equals: changed)
        await engine.close()
        await #expect(throws: StorageError.self) { try await engine.query("SELECT x FROM t") }
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
        try await first.execute(
            "INSERT INTO counters (mirror, name, value) VALUES (\("m"), \("n"), \(7))")
        await first.close()
        let second = try await Storage.open(location)
        try await expect(Migrations.apply(to: second)) { $0.isEmpty }
        try await expect(
            second.query("SELECT value FROM counters").first?.integer("value"), equals: 7)
        await second.close()
    }

    /// The rows of `t` in a copy of nothing but the file.
    private func rowsOfACopy(of path: String, named name: String) async throws -> Int? {
        let copy = folder.path(name)
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let engine = try await Storage.open(.sqlite(path: copy))
        let rows = try await engine.query("SELECT COUNT(*) AS count FROM t").first?.int("count")
        await engine.close()
        return rows
    }

    @Test func aFileIsWholeOnceItIsClosedAlsoBesideAnotherProcess() async throws {
        let path = folder.path("data.sqlite")
        let beside = try await Storage.open(.sqlite(path: path))
        let engine = try await Storage.open(.sqlite(path: path))
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        for number in 0..<50 { try await engine.execute("INSERT INTO t (x) VALUES (\(number))") }
        try await expect(beside.query("SELECT x FROM t").count, equals: 50)
        await engine.close()
        try await expect(rowsOfACopy(of: path, named: "first.sqlite"), equals: 50)
        try await beside.execute("INSERT INTO t (x) VALUES (50)")
        await beside.close()
        try await expect(rowsOfACopy(of: path, named: "second.sqlite"), equals: 51)
        let size = try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        #expect(size ?? 0 == 0)
    }

    @Test func aBackupIsOneWholePrivateFile() async throws {
        let engine = try await Storage.open(.sqlite(path: folder.path("data.sqlite")))
        try await Migrations.apply(to: engine)
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        for number in 0..<20 { try await engine.execute("INSERT INTO t (x) VALUES (\(number))") }
        let file = folder.path("backup.sqlite")
        // Somebody writes meanwhile; a pair of rows is in the copy, or none of it.
        async let writing: Void = {
            for _ in 0..<200 {
                try await engine.transaction { connection in
                    for _ in 0..<2 { try connection.execute("INSERT INTO t (x) VALUES (1000)") }
                }
            }
        }()
        try await engine.backup(to: file)
        try await writing
        try expect(permissions(file), equals: 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0.hasPrefix("backup") } == ["backup.sqlite"])
        let copy = try await Storage.open(.sqlite(path: file))
        try await expect(Migrations.pending(in: copy)) { $0.isEmpty }
        let old = try await copy.query("SELECT x FROM t WHERE x < 1000").count
        let new = try await copy.query("SELECT x FROM t WHERE x = 1000").count
        #expect(old == 20)
        #expect(new % 2 == 0)
        let check = try await copy.query("PRAGMA integrity_check").first?.text("integrity_check")
        #expect(check == "ok")
        await copy.close()
        await engine.close()
    }

    @Test func aBackupNeverTakesTheNameOfSomethingElse() async throws {
        let engine = try await Storage.open(.sqlite(path: folder.path("data.sqlite")))
        try await engine.execute("CREATE TABLE t (x BIGINT)")
        let file = try folder.write(Data("precious".utf8), to: "taken")
        let link = folder.path("link")
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: folder.path("nowhere"))
        for path in [file, link, folder.path("data.sqlite")] {
            let error = try await #require(throws: StorageError.self) {
                try await engine.backup(to: path)
            }
            #expect(error.code == .configuration)
            #expect("\(error)".contains("choose another"))
        }
        #expect(FileManager.default.contents(atPath: file) == Data("precious".utf8))
        #expect(!FileManager.default.fileExists(atPath: folder.path("nowhere")))
        let lost = try await #require(throws: StorageError.self) {
            try await engine.backup(to: folder.path("missing/backup"))
        }
        #expect(lost.code == .unavailable)
        await engine.close()
    }

    @Test func aPathThatCannotHoldADatabaseIsExplained() async throws {
        try await expect(failure(opening: "").code, equals: .configuration)
        let isFolder = try await failure(opening: folder.path)
        #expect(isFolder.code == .configuration)
        #expect("\(isFolder)".contains("\(folder.path): it is a folder"))
        let file = try folder.write(Data("x".utf8), to: "file")
        let belowFile = try await failure(opening: file + "/data.sqlite")
        #expect(belowFile.code == .unavailable)
        #expect("\(belowFile)".contains(file + "/data.sqlite"))
        try await expect(failure(opening: "/proc/data.sqlite").code) { $0 != .other }
    }

    @Test func aFileThatIsNoDatabaseIsLeftAlone() async throws {
        let text = Data(
            String(repeating: "these are not the pages of a database\n", count: 100).utf8)
        let path = try folder.write(text, to: "notes.txt")
        let error = try await failure(opening: path)
        #expect(error.code == .corrupt)
        #expect("\(error)".contains(path))
        #expect("\(error)".contains("backup"))
        #expect(FileManager.default.contents(atPath: path) == text)
    }

    @Test func aDamagedFileIsReported() async throws {
        let location = StorageLocation.sqlite(path: folder.path("data.sqlite"))
        let engine = try await Storage.open(location)
        try await engine.execute("CREATE TABLE t (x TEXT NOT NULL)")
        try await engine.transaction { connection in
            for _ in 0..<200 {
                try connection.execute(
                    "INSERT INTO t (x) VALUES (\(String(repeating: "x", count: 999)))")
            }
        }
        await engine.close()
        var bytes = try #require(FileManager.default.contents(atPath: folder.path("data.sqlite")))
        bytes.replaceSubrange(
            8_192..<bytes.count - 4_096, with: Data(repeating: 0xA5, count: bytes.count - 12_288))
        try folder.write(bytes, to: "data.sqlite")
        let damaged = try await Storage.open(location)
        let error = try await #require(throws: StorageError.self) {
            try await damaged.query("SELECT x FROM t")
        }
        #expect(error.code == .corrupt)
        await damaged.close()
    }

    @Test func aDatabaseHeldByAnotherProcessIsBusy() async throws {
        let path = folder.path("data.sqlite")
        let holder = try await Storage.open(.sqlite(path: path))
        let waiting = try await SQLiteEngine.open(path: path, busyTimeout: 0.05)
        let (held, hold) = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        async let holding: Void = holder.transaction { _ in
            hold.yield()
            release.wait()
        }
        for await _ in held { break }
        let error = try await #require(throws: StorageError.self) {
            try await waiting.execute("CREATE TABLE t (x)")
        }
        #expect(error.code == .busy)
        #expect(error.isTransient)
        // Reading does not wait for a writer.
        try await expect(waiting.query("SELECT 1 AS one").count, equals: 1)
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
                try connection.execute(
                    "INSERT INTO t (x) VALUES (\(String(repeating: "x", count: 100_000)))")
            }
        }
        #expect(error.code == .full)
        try await expect(engine.query("SELECT x FROM t")) { $0.isEmpty }
        try await expect(engine.execute("INSERT INTO t (x) VALUES (\("small"))"), equals: 1)
        await engine.close()
    }
}
