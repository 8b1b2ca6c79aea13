import Expectations
import Foundation
import TestSupport
import Testing

/// Files that others could have put there or changed, and files that never end.
@Suite(.timeLimit(.minutes(30))) struct WhoseFilesTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    private func makeHome(mode: mode_t = 0o700) throws {
        try FileManager.default.createDirectory(
            atPath: stage.home, withIntermediateDirectories: false)
        try #require(chmod(stage.home, mode) == 0)
    }

    @Test(arguments: [0o777, 0o770] as [mode_t]) func aFolderThatOthersCanWriteIsRefused(
        mode: mode_t
    ) async throws {
        try makeHome(mode: mode)
        let ending = try await stage.run("migrate")
        #expect(ending.status == 78)
        #expect(
            ending.error.contains(
                "\(stage.home) can be written by others; change that with chmod go-w"))
        try expect(FileManager.default.contentsOfDirectory(atPath: stage.home)) { $0.isEmpty }
    }

    @Test func aDatabaseThatOthersCanWriteIsRefused() async throws {
        try await expect(stage.run("migrate").status, equals: 0)
        let path = stage.home + "/mirror-bot.sqlite"
        try #require(chmod(path, 0o666) == 0)
        let ending = try await stage.run("status")
        #expect(ending.status == 78)
        #expect(ending.error.contains("\(path) can be written by others"))
    }

    @Test(.enabled(if: geteuid() == 0), arguments: [".env", "link"])
    func whatAnotherUserPlantedIsRefused(name: String) async throws {
        let path = name == ".env" ? stage.workingFolder + "/.env" : stage.home
        if name == ".env" {
            try "MIRROR=second\n".write(toFile: path, atomically: false, encoding: .utf8)
        } else {
            try #require(symlink(stage.workingFolder, path) == 0)
        }
        try #require(lchown(path, 65_533, 65_533) == 0)
        let ending = try await stage.run("migrate")
        #expect(ending.status == 78)
        #expect(
            ending.error.contains(
                name == ".env" ? "belongs to another user" : "is a link that another user made"))
    }

    @Test func aDotEnvThatOthersCanWriteIsRefused() async throws {
        let path = stage.workingFolder + "/.env"
        try "MIRROR=second\n".write(toFile: path, atomically: false, encoding: .utf8)
        try #require(chmod(path, 0o664) == 0)
        let ending = try await stage.spawn(["config"])
        #expect(ending.status == 78)
        #expect(ending.error.contains(".env"))
        #expect(ending.error.contains("chmod go-w"))
    }

    /// Such a file would keep a program waiting for ever.
    @Test(arguments: [".env", "BOT_ACCESS_TOKEN_FILE", "key"]) func aPipeIsNoFile(name: String)
        async throws
    {
        try makeHome()
        let path =
            switch name {
            case ".env": stage.workingFolder + "/.env"
            case "key": stage.home + "/mirror-bot.sqlite.key"
            default: stage.folder.path("token")
            }
        try #require(mkfifo(path, 0o600) == 0)
        let ending = try await stage.run(
            "login", "bluesky", "--as", "human", "--handle", "a.example",
            environment: name.hasSuffix("_FILE") ? [name: path] : [:], input: "\n")
        #expect(ending.status == 78)
        #expect(ending.error.contains("it is no ordinary file"))
    }
}
