import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import Settings
import TestSupport
import Testing

/// `mirror-bot backup`.
@Suite(.timeLimit(.minutes(30))) struct BackupCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    @Test func copiesBesideAWorker() async throws {
        let sandbox = try await Sandbox.live()
        let worker = try await stage.startMirror(on: sandbox)
        let ending = try await stage.run("backup", "copy.sqlite")
        #expect(ending.status == 0)
        let key = stage.home + "/mirror-bot.sqlite.key"
        #expect(
            ending.output == """
                copied the database to copy.sqlite
                keep \(key) too, at another place: nothing else opens the logins in the copy

                """)
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)

        // It is whole in the one file, and opens with the key.
        let copy = stage.workingFolder + "/copy.sqlite"
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let home = stage.folder.path("restored")
        try FileManager.default.createDirectory(
            atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.moveItem(atPath: copy, toPath: home + "/mirror-bot.sqlite")
        try FileManager.default.copyItem(atPath: key, toPath: home + "/mirror-bot.sqlite.key")
        let status = try await stage.status(["MIRROR_BOT_HOME": home])
        #expect(status.archive.posts == 20)
        #expect(status.accounts.first { $0.role == .bot }?.credentials == .login)
        await sandbox.stop()
    }

    @Test(.enabled(if: TinyDisk.isPossible)) func aFullDiskIsNamed() async throws {
        try await stage.makeDatabase()
        let disk = try TinyDisk(kilobytes: 64)
        defer { withExtendedLifetime(disk) {} }
        let path = disk.path("copy.sqlite")
        let ending = try await stage.run("backup", path)
        #expect(ending.status == 69)
        let folder = (path as NSString).deletingLastPathComponent
        expect(ending.error) {
            $0.contains(
                "the disk is full; make room on the disk of \(folder), or name a file on another")
        }
        expect(ending.error) { !$0.contains("not an error") }
        try expect(FileManager.default.contentsOfDirectory(atPath: folder)) { $0.isEmpty }
    }

    /// The limit is that of a process.
    @Test func aLimitOnFileSizesIsNamed() async throws {
        try await stage.makeDatabase()
        let shell = try RunningProgram(
            Launch(
                path: "/bin/bash",
                arguments: [
                    "-c", "ulimit -f 100; exec \"$0\" backup copy.sqlite", Stage.program(),
                ],
                environment: stage.environment, folder: stage.workingFolder))
        let ending = await shell.ending()
        #expect(ending.status == 69)
        expect(ending.error) {
            $0.contains("could not back up the database at") && $0.contains("ulimit -f")
        }
        try expect(stage.files()) { !$0.keys.contains { $0.contains("copy.sqlite") } }
    }

    @Test(arguments: [
        ("nowhere/copy.sqlite", "nowhere does not exist; make it with mkdir -p"),
        ("file/copy.sqlite", "is a file and no folder"),
    ])
    func aPlaceThatCannotBeWrittenIsNamed(_ name: String, _ words: String) async throws {
        try await stage.makeDatabase()
        try Data().write(to: URL(fileURLWithPath: stage.workingFolder + "/file"))
        let ending = try await stage.run("backup", name)
        #expect(ending.status == 69)
        expect(ending.error) { $0.contains(words) }
    }

    @Test func overwritesNothing() async throws {
        let path = try stage.folder.write(Data("mine".utf8), to: "copy")
        let ending = try await stage.run("backup", path)
        #expect(ending.status == 64)
        #expect(ending.error.contains("exists already, and is not overwritten"))
        #expect(FileManager.default.contents(atPath: path) == Data("mine".utf8))
    }

    @Test func saysNothingOfAKeyThatIsNot() async throws {
        try await stage.makeDatabase()
        let ending = try await stage.run("backup", "copy.sqlite")
        #expect(ending.status == 0)
        #expect(ending.output == "copied the database to copy.sqlite\n")
        let keyed = try await stage.run(
            "backup", "other.sqlite", environment: ["SECRET_KEY": String(repeating: "k", count: 40)]
        )
        #expect(keyed.output.contains("keep SECRET_KEY too"))
    }

    @Test func aServerHasItsOwnWay() async throws {
        let ending = try await stage.run(
            "backup", "copy.sqlite",
            environment: ["DATABASE_URL": "postgres://user:planted@127.0.0.1:1/none"])
        #expect(ending.status == 78)
        #expect(ending.error.contains("pg_dump"))
        #expect(!ending.error.contains("planted"))
    }

    // MARK: Scheduled backups

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// A backup of this database under the name that one of an earlier day has.
    private func makeOld(_ name: String, in folder: String) async throws {
        try await expect(stage.run("backup", "\(folder)/made").status, equals: 0)
        try FileManager.default.moveItem(atPath: "\(folder)/made", toPath: "\(folder)/\(name)")
    }

    @Test func aScheduledBackupKeepsSoManyOfItsOwn() async throws {
        try await stage.makeDatabase()
        let folder = stage.folder.path("backups")
        try await expect(stage.run("backup", "--keep", "3", folder).status, equals: 0)
        try #expect(names(in: folder).count == 1)
        #expect(
            try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
                == 0o700)
        for day in 1...4 {
            try await makeOld("mirror-bot-2020010\(day)T000000Z.sqlite", in: folder)
        }
        // What it did not make, whatever it is called: a text, a link, a folder, a copy by hand,
        // one of another database.
        try stage.folder.write(Data("mine".utf8), to: "backups/mirror-bot-20190101T000000Z.sqlite")
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/mirror-bot-20190102T000000Z.sqlite",
            withDestinationPath: folder + "/mirror-bot-20200101T000000Z.sqlite")
        try FileManager.default.createDirectory(
            atPath: folder + "/mirror-bot-20190103T000000Z.sqlite",
            withIntermediateDirectories: false)
        try await makeOld("before the update.sqlite", in: folder)
        let other = ["MIRROR_BOT_HOME": stage.folder.path("other")]
        try await expect(stage.run("migrate", environment: other).status, equals: 0)
        try await expect(
            stage.run("backup", "\(folder)/made", environment: other).status, equals: 0)
        try FileManager.default.moveItem(
            atPath: "\(folder)/made", toPath: "\(folder)/mirror-bot-20190104T000000Z.sqlite")

        let ending = try await stage.run("backup", "--keep", "3", folder, "--json")
        let backup = try Stage.decode(Backup.self, from: ending)
        #expect(
            backup.removed?.map { ($0 as NSString).lastPathComponent } == [
                "mirror-bot-20200101T000000Z.sqlite", "mirror-bot-20200102T000000Z.sqlite",
                "mirror-bot-20200103T000000Z.sqlite",
            ])
        let left = try names(in: folder)
        #expect(left.count == 8)
        for day in 1...4 { #expect(left.contains("mirror-bot-2019010\(day)T000000Z.sqlite")) }
        #expect(left.contains("before the update.sqlite"))
        #expect(left.contains("mirror-bot-20200104T000000Z.sqlite"))
        #expect(left.contains((backup.file as NSString).lastPathComponent))
    }

    /// What a killed backup left in the folder is removed after a day, and nothing outside it.
    @Test func oldLeftoversAreRemovedFromTheFolderAlone() async throws {
        try await stage.makeDatabase()
        let folder = stage.folder.path("backups")
        try await expect(stage.run("backup", "--keep", "2", folder).status, equals: 0)
        func leave(_ path: String, age: TimeInterval) throws {
            try stage.folder.write(Data("part".utf8), to: path)
            try FileManager.default.setAttributes(
                [.modificationDate: Date() - age], ofItemAtPath: stage.folder.path(path))
        }
        let day = 86_400.0
        let old = "mirror-bot-20261101T000000Z.sqlite.\(UUID().uuidString.lowercased()).partial"
        let fresh = "mirror-bot-20261102T000000Z.sqlite.\(UUID().uuidString.lowercased()).partial"
        try leave("backups/\(old)", age: 2 * day)
        try leave(old, age: 2 * day)
        try leave("backups/\(fresh)", age: 0)
        try await expect(stage.run("backup", "--keep", "2", folder).status, equals: 0)
        try expect(names(in: folder)) { !$0.contains(old) && $0.contains(fresh) }
        try expect(names(in: stage.folder.path)) { $0.contains(old) }
    }

    @Test func nothingIsRemovedBeforeTheNewOneIsThere() async throws {
        try await stage.makeDatabase()
        let folder = stage.folder.path("backups")
        try await expect(stage.run("backup", "--keep", "1", folder).status, equals: 0)
        try await makeOld("mirror-bot-20200101T000000Z.sqlite", in: folder)
        let before = try names(in: folder)
        // A page of the database is no page any more.
        let database = try #require(
            FileHandle(forUpdatingAtPath: stage.home + "/mirror-bot.sqlite"))
        try database.seek(toOffset: try database.seekToEnd() / 2)
        try database.write(contentsOf: Data(repeating: 0xA5, count: 20_000))
        try database.close()
        let ending = try await stage.run("backup", "--keep", "1", folder)
        #expect(ending.status == 65)
        try #expect(names(in: folder) == before)
    }

    @Test(.enabled(if: TinyDisk.isPossible)) func aFullDiskLeavesTheOldOnesAlone() async throws {
        try await stage.makeDatabase()
        let disk = try TinyDisk(kilobytes: 4_096)
        let folder = disk.path("backups")
        try await expect(stage.run("backup", "--keep", "1", folder).status, equals: 0)
        let before = try names(in: folder)
        _ = try disk.fill()
        let ending = try await stage.run("backup", "--keep", "1", folder)
        #expect(ending.status == 69)
        #expect(ending.error.contains("make room"))
        try #expect(names(in: folder) == before)
    }

    @Test func wrongPlacesAndNumbersAreRefused() async throws {
        try await stage.makeDatabase()
        let file = try stage.folder.write(Data("mine".utf8), to: "file")
        try await expect(stage.run("backup", "--keep", "3", file).error) {
            $0.contains("is a file; with --keep")
        }
        try await expect(stage.run("backup", stage.home).error) {
            $0.contains("is a folder; name a file in it")
        }
        for number in ["0", "-1", "10001", "x"] {
            try await expect(stage.run("backup", "--keep=\(number)", "folder").status, equals: 64)
        }
        let lost = try await stage.run("backup", "--keep", "3", stage.folder.path("no/folder"))
        #expect(lost.status == 69)
        #expect(lost.error.contains("could not make the folder"))
    }
}
