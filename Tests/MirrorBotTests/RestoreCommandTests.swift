import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

/// `mirror-bot restore`.
@Suite(.timeLimit(.minutes(30))) struct RestoreCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    private var database: String { stage.home + "/mirror-bot.sqlite" }

    private func backUp(_ name: String = "backup.sqlite") async throws -> String {
        let path = stage.folder.path(name)
        try await expect(stage.run("backup", path).status, equals: 0)
        return path
    }

    private func logIn(on sandbox: Sandbox, environment: [String: String] = [:]) async throws {
        let login = try await stage.run(
            "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token",
            environment: environment,
            input: sandbox.botToken + "\n")
        #expect(login.status == 0, "\(login.error)")
    }

    @Test func aNewMachineGetsWhatTheOldOneKnew() async throws {
        let sandbox = try await Sandbox.live()
        try await logIn(on: sandbox)
        try await stage.train(Fixture.lines())
        let backup = try await backUp()
        let home = stage.folder.path("new")
        let there = ["MIRROR_BOT_HOME": home]

        // Without the key the logins stay closed, and it says which file is missing.
        let ending = try await stage.run("restore", backup, environment: there)
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.contains("restored mirror default: 20 posts"))
        #expect(ending.output.contains("it pauses until mirror-bot resume"))
        #expect(
            ending.output.contains(
                "\(home)/mirror-bot.sqlite.key is missing, and nothing else opens the login of the bot of mirror default"
            ))
        #expect(ending.output.contains("log in again"))
        let status = try await stage.status(there)
        #expect(status.archive.posts == 20)
        #expect(status.verdict?.state == .paused)
        expect(status.verdict?.text) { $0?.contains("it was restored from a backup") ?? false }

        try FileManager.default.copyItem(
            atPath: database + ".key", toPath: home + "/mirror-bot.sqlite.key")
        let again = try await stage.run("restore", backup, environment: there)
        #expect(
            again.output.contains("\(home)/mirror-bot.sqlite.key opens the stored logins"),
            "\(again.output)")
        try await expect(
            stage.status(there).accounts.first { $0.role == .bot }?.credentials, equals: .login)
        let other = try await stage.run(
            "restore", backup, "--json",
            environment: there.merging(["SECRET_KEY": String(repeating: "k", count: 40)]) { $1 })
        let report = try Stage.decode(RestoreReport.self, from: other)
        #expect(report.mirrors.first?.sealedLogins == [.bot])
        #expect(report.key == "SECRET_KEY")
        #expect(report.hasKey)
        try await expect(stage.run("resume", environment: there).status, equals: 0)
        await sandbox.stop()
    }

    @Test func aRunningMirrorIsNotRestored() async throws {
        let sandbox = try await Sandbox.live()
        let worker = try await stage.startMirror(on: sandbox)
        let backup = try await backUp()
        let ending = try await stage.run("restore", backup)
        #expect(ending.status == 75)
        #expect(ending.error.contains("a worker holds mirror default; stop it first"))
        #expect(ending.output.isEmpty)
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)
        try await expect(stage.run("restore", backup).status, equals: 0)
        await sandbox.stop()
    }

    @Test func whatIsNoBackupIsRefusedByName() async throws {
        try await stage.train(Fixture.lines())
        let backup = try await backUp()
        let whole = try #require(FileManager.default.contents(atPath: backup))
        func file(_ name: String, _ contents: Data) throws -> String {
            try stage.folder.write(contents, to: name)
        }
        let foreign = stage.folder.path("foreign.sqlite")
        try await Storage.open(.sqlite(path: foreign)).closing { engine in
            _ = try await engine.execute("CREATE TABLE notes (a TEXT)")
        }
        let newer = stage.folder.path("newer.sqlite")
        try FileManager.default.copyItem(atPath: backup, toPath: newer)
        try await Storage.open(.sqlite(path: newer)).closing { engine in
            _ = try await engine.execute(
                "INSERT INTO schema_migrations (id, checksum) VALUES ('9999_later', 'x')")
        }
        let empty = stage.folder.path("empty.sqlite")
        let bare = ["MIRROR_BOT_HOME": stage.folder.path("bare")]
        try await expect(stage.run("migrate", environment: bare).status, equals: 0)
        try await expect(stage.run("backup", empty, environment: bare).status, equals: 0)
        var damaged = whole
        damaged.replaceSubrange(
            whole.count / 2..<(whole.count / 2 + 20_000), with: Data(repeating: 0xA5, count: 20_000)
        )
        let cases: [(file: String, status: Int32, says: String)] = [
            (stage.folder.path("none.sqlite"), 64, "there is no file"),
            (try file("text", Data("hello".utf8)), 65, "it is no SQLite database"),
            (try file("nothing", Data()), 65, "it is no SQLite database"),
            (try file("dump", Data("PGDMP.....".utf8)), 65, "a dump of a Postgres database"),
            (try file("half", whole.prefix(whole.count / 2)), 65, "it is damaged"),
            (try file("damaged", damaged), 65, "it is damaged"),
            (foreign, 65, "it is a database of another program"),
            (newer, 78, "it has step 9999_later of a newer mirror-bot; update mirror-bot"),
            (empty, 65, "it holds no mirror"), (stage.home, 65, "it is no ordinary file"),
        ]
        let before = try stage.files().filter { $0.key.hasPrefix("home/") }
        for (file, status, says) in cases {
            let ending = try await stage.run("restore", file)
            #expect(ending.status == status, "\(file): \(ending.error)")
            #expect(ending.error.contains(says), "\(ending.error)")
            #expect(ending.error.contains(file), "\(ending.error)")
            #expect(ending.output.isEmpty)
        }
        try #expect(stage.files().filter { $0.key.hasPrefix("home/") }.keys == before.keys)
        try await expect(stage.status().verdict?.state) { $0 != .paused }
        let server = try await stage.run(
            "restore", backup,
            environment: ["DATABASE_URL": "postgres://user:planted@127.0.0.1:1/none"])
        #expect(server.status == 78)
        #expect(server.error.contains("pg_restore"))
    }

    /// A database that only an earlier program can bring up to date is neither merged nor replaced.
    @Test func aDatabaseOfAnEarlierProgramIsNotReplaced() async throws {
        try await stage.train(Fixture.lines())
        let backup = try await backUp()
        try await stage.withMirror { mirror in
            try await mirror.storage.execute("DELETE FROM schema_migrations")
            try await mirror.storage.execute(
                "INSERT INTO schema_migrations (id, checksum) VALUES ('0001_tables', '20b630ea9816f5fe')"
            )
        }
        let before = try stage.files().filter { $0.key.hasPrefix("home/") }
        let ending = try await stage.run("restore", backup)
        #expect(ending.status == 78)
        #expect(ending.error.contains("has the tables of an earlier mirror-bot"))
        try #expect(stage.files().filter { $0.key.hasPrefix("home/") }.keys == before.keys)
        try await Storage.open(.sqlite(path: stage.home + "/mirror-bot.sqlite")).closing { engine in
            let steps = try await engine.query("SELECT id FROM schema_migrations")
            try expect(steps.map { try $0.text("id") }, equals: ["0001_tables"])
        }
    }

    /// A mirror of other accounts, or one that lives elsewhere, is not written over.
    @Test func anotherMirrorOfTheSameNameIsNotWrittenOver() async throws {
        try await stage.train(Fixture.lines())
        try await stage.withMirror { mirror in
            _ = try await mirror.storage.execute(
                "UPDATE mirrors SET bot_account = 'mastodon:a@first.example'")
        }
        let backup = try await backUp()
        try await stage.withMirror { mirror in
            _ = try await mirror.storage.execute(
                "UPDATE mirrors SET bot_account = 'mastodon:a@second.example'")
        }
        let ending = try await stage.run("restore", backup)
        #expect(ending.status == 78)
        #expect(
            ending.error.contains("has the account mastodon:a@second.example, and in the backup"))
        try await stage.withMirror { mirror in
            _ = try await mirror.storage.execute(
                """
                UPDATE mirrors SET bot_account = 'mastodon:a@first.example', move_id = 'x', move_state = 'left',
                    move_place = 'PostgreSQL at elsewhere'
                """)
        }
        let moved = try await stage.run("restore", backup)
        #expect(moved.status == 78)
        #expect(moved.error.contains("lives at PostgreSQL at elsewhere"))
    }

    /// A database of a newer program is one that this program cannot use: what people said in it
    /// counts all the same.
    @Test func anUpdateIsTakenBack() async throws {
        try await stage.train(Fixture.lines())
        let backup = try await backUp()
        try await expect(stage.run("people", "deny", "@pal@social.example").status, equals: 0)
        try await stage.withMirror { mirror in
            try await mirror.storage.execute("ALTER TABLE people ADD COLUMN shoe_size BIGINT")
            _ = try await mirror.storage.execute(
                "INSERT INTO schema_migrations (id, checksum) VALUES ('9999_later', 'x')")
        }
        try await expect(stage.run("status").status, equals: 78)
        let report = try Stage.decode(
            RestoreReport.self, from: try await stage.run("restore", backup, "--json"))
        #expect(report.takenOver == .partly)
        try await expect(stage.status().archive.posts, equals: 20)
        try await expect(stage.run("people", "list").output) { $0.contains("pal@social.example") }
        let kept = try #require(report.before)
        #expect(FileManager.default.fileExists(atPath: kept))
        #expect(!FileManager.default.fileExists(atPath: kept + "-wal"))
    }

    /// A step of a restore that shows in the folder of the database.
    private enum Step {
        /// The draft is there.
        case drafted
        /// The backup is copied into it, in part at least.
        case filled
        /// A draft is open, with its log beside it.
        case opened
        /// The database that was there is copied aside, whole, and is about to change.
        case kept
    }

    /// Waits until a restore has taken a step, or has ended.
    ///
    /// - Parameter others: What lay in the folder before, such as the drafts of those that were
    ///   killed.
    private func wait(for restore: RunningProgram, toReach step: Step, besides others: Set<String>)
        async
    {
        let home = stage.home
        await restore.wait(every: 1) {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: home)) ?? []
            let drafts = names.filter {
                $0.hasPrefix("mirror-bot.sqlite.restored-") && !others.contains($0)
            }
            return switch step {
            case .drafted: !drafts.isEmpty
            case .filled:
                drafts.contains { name in
                    let attributes = try? FileManager.default.attributesOfItem(
                        atPath: "\(home)/\(name)")
                    return (attributes?[.size] as? Int ?? 0) > 0
                }
            case .opened: drafts.contains { $0.hasSuffix("-wal") }
            case .kept:
                names.contains {
                    $0.hasPrefix("mirror-bot.sqlite.before-") && !$0.contains(".partial")
                        && !others.contains($0)
                }
            }
        }
    }

    /// Whenever it is killed, what can be opened then is the state before or the one after, and
    /// whole.
    @Test func aKilledRestoreLeavesOneOfTheTwoStates() async throws {
        try await stage.train(Fixture.lines(days: 40))
        let backup = try await backUp()
        try await stage.train(Fixture.lines(days: 60))
        let rounds: [(isThere: Bool, step: Step)] = [
            (true, .drafted), (true, .filled), (true, .opened), (true, .kept), (false, .filled),
            (false, .opened),
        ]
        for (isThere, step) in rounds {
            if !isThere { for suffix in ["", "-wal", "-shm"] { unlink(database + suffix) } }
            let before = isThere ? try await stage.status().archive.posts : 0
            let others = try Set(FileManager.default.contentsOfDirectory(atPath: stage.home))
            let restore = try stage.start(["restore", backup])
            await wait(for: restore, toReach: step, besides: others)
            restore.send(SIGKILL)
            _ = await restore.ending()
            guard FileManager.default.fileExists(atPath: database) else {
                #expect(!isThere)
                continue
            }
            try await Storage.open(.sqlite(path: database)).closing {
                try await $0.requireUndamaged("look")
            }
            let status = try await stage.status()
            if status.verdict?.state == .paused {
                #expect(status.archive.posts == 40)
            } else {
                #expect(status.archive.posts == before)
            }
        }
        try await expect(stage.run("restore", backup).status, equals: 0)
        try await expect(stage.status().archive.posts, equals: 40)
    }
}
