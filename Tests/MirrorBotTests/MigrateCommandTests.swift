import Control
import Expectations
import Foundation
import Mirroring
import Storage
import TestSupport
import Testing

/// `mirror-bot migrate`, on the embedded database and on a server with a password.
@Suite(.timeLimit(.minutes(30))) struct MigrateCommandTests {
    @Test func theEmbeddedDatabaseIsMadeOnce() async throws {
        let stage = try Stage()
        let first = try await stage.run("migrate")
        #expect(first.status == 0)
        #expect(first.output.hasPrefix("applied 0056_tables"))
        let second = try await stage.run("migrate")
        #expect(second.status == 0)
        #expect(
            second.output
                == "nothing to do: SQLite at \(stage.home)/mirror-bot.sqlite is up to date\n")
    }

    /// Migrating would be the wrong advice: the tables are ahead of the program.
    @Test(arguments: [
        ["status"], ["status", "--check"], ["migrate"], ["run"], ["run", "--once"],
        ["run", "--dry-run"], ["plan"],
        ["train", "scheduler", "--from", "-"], ["train", "clear", "--yes"], ["people", "list"],
        ["suggestions"],
        ["score"], ["rehearse", "--year", "2020"], ["logout", "--as", "bot"], ["backup", "copy"],
    ])
    func aDatabaseOfANewerProgramOnlyWantsAnUpdate(_ words: [String]) async throws {
        let stage = try Stage()
        try await stage.withMirror { mirror in
            _ = try await mirror.storage.execute(
                "INSERT INTO schema_migrations (id, checksum) VALUES ('9999_future', 'x')")
        }
        let ending = try await stage.run(words: words)
        #expect(ending.status == 78)
        #expect(
            ending.error == """
                error: could not use the database: it has step 9999_future of a newer mirror-bot; update mirror-bot

                """)
    }

    @Test func aServerIsMigratedOnceAndServesEveryCommand() async throws {
        let server = try await PostgresServer.start(password: "planted4711")
        let stage = try Stage([
            "DATABASE_URL": server.url(), "TIME_ZONE": "Asia/Tokyo", "DYNO": "worker.1",
        ])
        let early = try await stage.run("status")
        #expect(early.status == 78)
        #expect(early.error.contains("; run `mirror-bot migrate`\n"))

        // Two at once, as when two processes of one release start.
        async let one = stage.run("migrate")
        async let other = stage.run("migrate")
        let endings = try await [one, other]
        #expect(endings.map(\.status) == [0, 0], "\(endings.map(\.error))")
        #expect(endings.count { $0.output.hasPrefix("applied 0056_tables") } == 1)
        #expect(endings.count { $0.output.hasPrefix("nothing to do: ") } == 1)

        try await stage.train(Fixture.lines(days: 20, perDay: 2))
        try await expect(stage.status().archive.posts, equals: 40)
        try await expect(stage.plan().humanHours.count, equals: 24)
        // With a lasting database, a dyno only lacks its bot.
        try await expect(stage.run("run").error) { $0.contains("BOT_SERVER") }
        #expect(!FileManager.default.fileExists(atPath: stage.home))

        _ = try await server.run(
            "INSERT INTO schema_migrations (id, checksum) VALUES ('9999_future', 'x')")
        for words in [["migrate"], ["status"], ["run", "--once"]] {
            let ending = try await stage.run(words: words)
            #expect(ending.status == 78)
            #expect(
                ending.error.hasSuffix(
                    "step 9999_future of a newer mirror-bot; update mirror-bot\n"))
        }
        _ = try await server.run("DELETE FROM schema_migrations WHERE id = '9999_future'")

        let wrong = ["DATABASE_URL": server.url().replacing("planted4711", with: "planted0815")]
        for words in [["migrate"], ["status"]] {
            let ending = try await stage.run(words: words, environment: wrong)
            #expect(ending.status == 77)
            #expect(!ending.error.contains("planted"))
        }
        try await expect(stage.run("status").output) { $0.contains("planted") == false }
        await server.stop()
        try await expect(stage.run("status").status, equals: 69)
    }
}
