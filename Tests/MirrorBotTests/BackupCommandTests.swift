import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import Settings
import TestSupport
import Testing

/// `mirror-bot backup`.
@Suite(.timeLimit(.minutes(3))) struct BackupCommandTests {
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
            atPath: home, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
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
            $0.contains("the disk is full; make room on the disk of \(folder), or name a file on another")
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
                arguments: ["-c", "ulimit -f 100; exec \"$0\" backup copy.sqlite", Stage.program()],
                environment: stage.environment, folder: stage.workingFolder))
        let ending = await shell.ending()
        #expect(ending.status == 69)
        expect(ending.error) { $0.contains("could not back up the database at") && $0.contains("ulimit -f") }
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
            "backup", "other.sqlite", environment: ["SECRET_KEY": String(repeating: "k", count: 40)])
        #expect(keyed.output.contains("keep SECRET_KEY too"))
    }

    @Test func aServerHasItsOwnWay() async throws {
        let ending = try await stage.run(
            "backup", "copy.sqlite", environment: ["DATABASE_URL": "postgres://user:planted@127.0.0.1:1/none"])
        #expect(ending.status == 78)
        #expect(ending.error.contains("pg_dump"))
        #expect(!ending.error.contains("planted"))
    }
}
