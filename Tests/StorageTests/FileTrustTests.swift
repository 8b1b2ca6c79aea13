import Expectations
import Foundation
import TestSupport
import Testing

@testable import Storage

/// Whose files are used.
///
/// What another user owns can only be made by the superuser.
@Suite(.timeLimit(.minutes(30))) struct FileTrustTests {
    private static let isSuperuser = geteuid() == 0
    private static let stranger: uid_t = 65_533

    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func makeFolder(_ name: String, mode: mode_t = 0o700) throws -> String {
        let path = folder.path(name)
        try #require(mkdir(path, 0o700) == 0)
        try #require(chmod(path, mode) == 0)
        return path
    }

    private func problem(_ path: String) -> FileTrust.Problem? {
        do throws(FileTrust.Problem) {
            try FileTrust.check(path)
            return nil
        } catch {
            return error
        }
    }

    private func refusal(toOpen path: String) async -> StorageError? {
        do {
            let engine = try await Storage.open(.sqlite(path: path))
            await engine.close()
            return nil
        } catch {
            return error as? StorageError
        }
    }

    @Test(arguments: [0o700, 0o755, 0o750] as [mode_t]) func takesOwnFolders(mode: mode_t)
        async throws
    {
        let home = try makeFolder("home", mode: mode)
        await expect(refusal(toOpen: home + "/a.sqlite")) { $0 == nil }
        await expect(refusal(toOpen: home + "/a.sqlite")) { $0 == nil }
        // What does not exist yet is made.
        await expect(refusal(toOpen: folder.path("new/one/a.sqlite"))) { $0 == nil }
    }

    @Test(arguments: [0o777, 0o775, 0o1777] as [mode_t])
    func refusesAFolderThatOthersCanWrite(mode: mode_t) async throws {
        let home = try makeFolder("home", mode: mode)
        let error = try #require(await refusal(toOpen: home + "/a.sqlite"))
        #expect(error.code == .configuration)
        #expect(
            error.description.contains(
                "\(home) can be written by others; change that with chmod go-w \(home)"))
        try expect(FileManager.default.contentsOfDirectory(atPath: home)) { $0.isEmpty }
    }

    @Test(arguments: ["", "-wal", "-shm", "-journal"]) func refusesFilesThatOthersCanWrite(
        suffix: String
    ) async throws {
        let path = try makeFolder("home") + "/a.sqlite"
        let file = path + suffix
        try Data().write(to: URL(fileURLWithPath: file))
        try #require(chmod(file, 0o620) == 0)
        let error = try #require(await refusal(toOpen: path))
        #expect(error.code == .configuration)
        #expect(error.description.contains("\(file) can be written by others"))
    }

    @Test(.enabled(if: isSuperuser), arguments: ["home", "home/a.sqlite", "home/a.sqlite-wal"])
    func refusesWhatBelongsToAnother(name: String) async throws {
        let home = try makeFolder("home")
        for file in ["/a.sqlite", "/a.sqlite-wal"] {
            try Data().write(to: URL(fileURLWithPath: home + file))
        }
        let path = folder.path(name)
        try #require(lchown(path, Self.stranger, Self.stranger) == 0)
        let error = try #require(await refusal(toOpen: home + "/a.sqlite"))
        #expect(error.code == .configuration)
        #expect(error.description.contains("\(path) belongs to another user (number 65533)"))
        #expect(error.description.contains("chown 0 \(path)"))
    }

    @Test(.enabled(if: isSuperuser)) func refusesALinkThatAnotherPlanted() async throws {
        let real = try makeFolder("real")
        let open = try makeFolder("open", mode: 0o1777)
        try #require(symlink(real, open + "/home") == 0)
        // One's own link is as good as the place itself.
        await expect(refusal(toOpen: open + "/home/a.sqlite")) { $0 == nil }
        try #require(lchown(open + "/home", Self.stranger, Self.stranger) == 0)
        let error = try #require(await refusal(toOpen: open + "/home/a.sqlite"))
        #expect(error.code == .configuration)
        #expect(error.description.contains("\(open)/home is a link that another user made"))
    }

    @Test func refusesAWayOnWhichEverybodyMayPutAnotherFile() throws {
        let open = try makeFolder("open", mode: 0o777)
        let home = try makeFolder("open/home")
        #expect(problem(home)?.path == open)
        expect(problem(home)?.text) { $0?.contains("chmod go-w \(open)") == true }
        // Through a link, the way is the same.
        try #require(symlink(home, folder.path("link")) == 0)
        #expect(problem(folder.path("link"))?.path == open)
        // With the sticky bit everybody can write there, but not replace what is there.
        try #require(chmod(open, 0o1777) == 0)
        #expect(problem(home) == nil)
    }

    @Test func followsPathsAsTheSystemDoes() throws {
        let home = try makeFolder("home")
        try #require(symlink("home", folder.path("one")) == 0)
        try #require(symlink("./one/../one/", folder.path("two")) == 0)
        try expect(FileTrust.resolved(folder.path("two//missing/x")), equals: home + "/missing/x")
        try expect(FileTrust.resolved("/../.."), equals: "/")
        try #require(symlink("loop", folder.path("loop")) == 0)
        #expect(problem(folder.path("loop"))?.text == "is a link that leads nowhere")
    }

    // MARK: Short files

    private func text(
        _ path: String, _ limit: FileTrust.Limit = .none
    ) -> Result<String?, FileTrust.Problem> {
        do throws(FileTrust.Problem) {
            return .success(
                try FileTrust.contents(of: path, atMost: 8, refusing: limit).map {
                    String(decoding: $0, as: UTF8.self)
                })
        } catch {
            return .failure(error)
        }
    }

    private func problem(in result: Result<String?, FileTrust.Problem>) -> String? {
        if case .failure(let problem) = result { problem.text } else { nil }
    }

    @Test func readsOrdinaryFilesOnly() throws {
        let pipe = folder.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        try #require(symlink(pipe, folder.path("link")) == 0)
        for path in [pipe, folder.path("link"), folder.path, "/dev/zero", "/dev/null"] {
            #expect(problem(in: text(path)) == "cannot be read: it is no ordinary file")
        }
        try expect(text(folder.path("missing")).get(), equals: nil)
        let file = try folder.write(Data("12345678".utf8), to: "file")
        try expect(text(file).get(), equals: "12345678")
        try folder.write(Data("123456789".utf8), to: "file")
        #expect(problem(in: text(file)) == "is longer than 8 bytes")
    }

    @Test func limitsWhatOthersMayDo() throws {
        let file = try folder.write(Data("text".utf8), to: "file")
        let table: [(mode_t, FileTrust.Limit, String?)] = [
            (0o666, .none, nil), (0o644, .writtenByOthers, nil), (0o600, .readByOthers, nil),
            (0o620, .writtenByOthers, "written"), (0o602, .writtenByOthers, "written"),
            (0o640, .readByOthers, "read"),
            (0o604, .readByOthers, "read"), (0o620, .readByOthers, "written"),
        ]
        for (mode, limit, what) in table {
            try #require(chmod(file, mode) == 0)
            #expect(
                problem(in: text(file, limit))?.contains("can be \(what ?? "") by others")
                    == (what == nil ? nil : true)
            )
        }
    }
}
