import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import TestSupport
import Testing

/// `mirror-bot move`, between files and a server with a password.
@Suite(.timeLimit(.minutes(30))) struct MoveCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    @Test func aMirrorGoesToAServerRunsThereAndComesBack() async throws {
        let sandbox = try await Sandbox.live()
        let worker = try await stage.startMirror(on: sandbox)
        let server = try await PostgresServer.start(password: "planted4711")

        let early = try await stage.run("move", "--to", server.url())
        #expect(early.status == 75)
        #expect(early.error.contains("a worker holds it; stop it first. Nothing was changed"))
        worker.send(SIGTERM)
        await expect(worker.ending().status, equals: 0)

        let moved = try await stage.run("move", "--to", server.url())
        #expect(moved.status == 0, "\(moved.error)")
        #expect(
            moved.output.hasPrefix(
                "mirror default lives at PostgreSQL at 127.0.0.1:\(server.port), database postgres now"
            ))
        #expect(moved.output.contains(": 20 posts"))
        #expect(moved.output.contains("rows were compared; "))
        let key = stage.home + "/mirror-bot.sqlite.key"
        #expect(moved.output.contains("set SECRET_KEY_FILE=\(key) there"))
        #expect(!(moved.output + moved.error).contains("planted4711"))

        // The old place takes no orders any more, and says where to go.
        for words in [
            ["run"], ["run", "--once"], ["plan"], ["train", "scheduler", "--from", "-"],
            ["status", "--check"],
        ] {
            let ending = try await stage.run(words: words)
            #expect(ending.status == 78, "\(words)")
            #expect(ending.error.contains("lives at PostgreSQL at 127.0.0.1"), "\(words)")
        }
        try await expect(stage.status().idle.first) {
            $0?.hasPrefix("nothing is sent: the mirror lives at ") == true
        }
        try await expect(stage.run("backup", "left.sqlite").status, equals: 0)

        let there = ["DATABASE_URL": server.url(), "SECRET_KEY_FILE": key]
        try await expect(stage.status(there).archive.posts, equals: 20)
        try await expect(stage.run("run", "--once", environment: there).status, equals: 0)

        // And back, into a folder of its own.
        let folder = stage.folder.path("again")
        let back = try await stage.run("move", "--json", "--to", folder, environment: there)
        #expect(back.status == 0, "\(back.error)")
        #expect(back.output.contains(#""schema" : "mirror-bot/move/1""#))
        #expect(back.output.contains(#""posts" : 20"#))
        let home = ["MIRROR_BOT_HOME": folder, "SECRET_KEY_FILE": key]
        try await expect(stage.run("run", "--once", environment: home).status, equals: 0)
        try await expect(stage.run("run", "--once", environment: there).status, equals: 78)
        await sandbox.stop()
    }

    @Test func anOlderCopyIsWrittenOverOnlyIfThatIsMeant() async throws {
        try await stage.train(Fixture.lines())
        let folder = stage.folder.path("there")
        try await expect(stage.run("move", "--to", folder).status, equals: 0)
        let asked = try await stage.run(
            "move", "--to", stage.home, environment: ["MIRROR_BOT_HOME": folder])
        #expect(asked.status == 64)
        #expect(asked.error.contains(", as it was when it was moved away"))
        #expect(asked.error.hasSuffix("error: nothing was changed; answer y, or pass --yes\n"))
        let back = try await stage.run(
            "move", "--yes", "--to", stage.home, environment: ["MIRROR_BOT_HOME": folder])
        #expect(back.status == 0)
        try await expect(stage.status().archive.posts, equals: 20)
    }

    @Test func allMirrorsGoTogether() async throws {
        try await stage.train(Fixture.lines())
        try await stage.train(Fixture.lines(days: 10), environment: ["MIRROR": "second"])
        let folder = stage.folder.path("there")
        let moved = try await stage.run("move", "--all", "--to", folder + "/mirror-bot.sqlite")
        #expect(moved.status == 0)
        #expect(moved.output.contains("mirror default lives at "))
        #expect(moved.output.contains("mirror second lives at "))
        let there = ["MIRROR_BOT_HOME": folder]
        try await expect(stage.status(there).archive.posts, equals: 20)
        try await expect(
            stage.status(there.merging(["MIRROR": "second"]) { $1 }).archive.posts, equals: 10)
    }

    @Test func whatLivesThereStays() async throws {
        try await stage.train(Fixture.lines())
        let folder = stage.folder.path("there")
        try await stage.train(Fixture.lines(days: 5), environment: ["MIRROR_BOT_HOME": folder])
        let refused = try await stage.run("move", "--yes", "--to", folder)
        #expect(refused.status == 78)
        #expect(refused.error.contains("has a mirror default of its own"))
        let same = try await stage.run("move", "--yes", "--to", stage.home)
        #expect(same.status == 78)
        #expect(same.error.contains("is the database where mirror default lives already"))
        try await expect(stage.run("plan").status, equals: 0)
    }

    @Test func aLostPlaceIsGivenUpByAPersonOnly() async throws {
        try await stage.train(Fixture.lines())
        try await expect(
            stage.run("move", "--stay").output,
            equals: "nothing to do: mirror default was not moved away from here\n")
        let folder = stage.folder.path("there")
        try await expect(stage.run("move", "--to", folder).status, equals: 0)
        let asked = try await stage.run("move", "--stay")
        #expect(asked.status == 64)
        #expect(asked.error.contains("both answer"))
        try await expect(stage.run("plan").status, equals: 78)
        try await expect(
            stage.run("move", "--stay", "--yes").output, equals: "mirror default lives here again\n"
        )
        try await expect(stage.run("plan").status, equals: 0)
    }

    @Test func aPlaceThatCannotBeUsedIsNamed() async throws {
        try await stage.train(Fixture.lines())
        let cases: [(words: [String], status: Int32, text: String)] = [
            (
                ["--to", "postgres://u:planted4711@127.0.0.1:1/none"], 69,
                "could not open the database of --to"
            ),
            (
                ["--to", "mysql://u:planted4711@127.0.0.1/none"], 64,
                "--to begins with mysql://, which is for MySQL"
            ),
            (
                ["--to", "/proc/nowhere"], 69,
                "could not open the database at /proc/nowhere/mirror-bot.sqlite"
            ),
            (["--to", ""], 64, "--to is empty"),
            ([], 64, "give either --to or --stay"),
            (["--to", "x", "--stay"], 64, "give either --to or --stay"),
            (["--to", "x", "--all", "--mirror", "y"], 64, "--all and --mirror do not go together"),
            (["--to", "x", "--mirror", "nobody"], 78, "there is no such mirror"),
        ]
        for (words, status, text) in cases {
            let ending = try await stage.run(words: ["move"] + words)
            #expect(ending.status == status, "\(words): \(ending.error)")
            #expect(ending.error.contains(text), "\(words): \(ending.error)")
            #expect(!ending.error.contains("planted4711"))
        }
        let dyno = [
            "DYNO": "run.1", "DATABASE_URL": try await PostgresServer.shared().makeDatabase(),
        ]
        try await expect(stage.run("migrate", environment: dyno).status, equals: 0)
        try await stage.train(Fixture.lines(), environment: dyno)
        let forgotten = try await stage.run("move", "--to", "x", environment: dyno)
        #expect(forgotten.status == 78)
        #expect(forgotten.error.contains("a dyno's disk is forgotten daily"))
        try await expect(stage.run("plan").status, equals: 0)
    }
}
