import Control
import Foundation
import Mirroring
import NetworkNames
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

/// Databases and counts that refuse, repeat, vanish or are broken.
extension SecretScenario {
    static let stores = [
        SecretScenario("Postgres refuses the password") { stage in
            let servers = try await PlantedServers(stage.book)
            let wrong = stage.book.plant("wrong password")
            let place = "@127.0.0.1:\(servers.postgres.port)/"
            for url in [
                "postgres://postgres:\(wrong.escaped)\(place)postgres",
                "postgres://nobody:\(wrong.escaped)\(place)x",
                "postgres://postgres\(place)postgres?password=\(wrong.escaped)",
                "postgres://postgres:\(wrong.escaped)\(place)postgres?sslmode=require",
                "postgres://postgres:\(wrong.escaped)\(place)postgres?sslmode=verify-full&sslrootcert=/nowhere",
            ] {
                try await everyCommand(stage, ["DATABASE_URL": url])
            }
            try await servers.keepContents(in: stage)
        },
        SecretScenario("Postgres has no such database, and goes away") { stage in
            let servers = try await PlantedServers(stage.book)
            let missing = servers.database + "_missing"
            try await everyCommand(
                stage, servers.settings.merging(["DATABASE_URL": missing]) { $1 })
            try await stage.run(["migrate"], servers.settings, ends: 0)
            try await onSandbox(stage) { accounts in
                let all = accounts.merging(servers.settings) { $1 }
                let program = try stage.start(["run"], all.merging(["LOG_FORMAT": "logfmt"]) { $1 })
                try await program.waitForError("Worker started")
                try await servers.postgres.run(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                )
                await servers.postgres.stop()
                await servers.redis.stop()
                try await program.waitForError("level=warning")
                program.send(SIGTERM)
                stage.keep(await program.ending(), of: ["run"])
                try await everyCommand(stage, all)
            }
        },
        SecretScenario("a Postgres that repeats the password") { stage in
            let password = stage.book.plant("password").filter { $0.isLetter || $0.isNumber }
            stage.book.add("the password as it is", password)
            for server in [try FakePostgres.refusing(password), try FakePostgres.failing(password)]
            {
                let url = "postgres://me:\(password)@127.0.0.1:\(server.port)/db?sslmode=disable"
                try await everyCommand(stage, ["DATABASE_URL": url])
                #expect(server.connectionCount > 0)
            }
        },
        SecretScenario("Redis refuses the password") { stage in
            let servers = try await PlantedServers(stage.book)
            let wrong = stage.book.plant("wrong password").escaped
            let port = servers.redis.port
            for url in [
                "redis://:\(wrong)@127.0.0.1:\(port)", "redis://me:\(wrong)@127.0.0.1:\(port)",
                "rediss://:\(wrong)@127.0.0.1:\(port)", "redis://127.0.0.1:\(port)",
                "redis://:\(wrong)@127.0.0.1:1", "redis://:\(wrong)@planted.invalid",
            ] {
                try await everyClassifierCommand(stage, ["REDIS_URL": url])
            }
            stage.keep("Redis' log", await servers.redis.log())
        },
        SecretScenario("a Redis that repeats the password, and one that is none") { stage in
            let password = stage.book.plant("password").filter { $0.isLetter || $0.isNumber }
            stage.book.add("the password as it is", password)
            for answer in [
                "-ERR AUTH me \(password)", "-\(password.uppercased()) is wrong", "+\(password)",
            ] {
                let server = try LoopbackServer(
                    steps: [.awaitText(password), .send(Array((answer + "\r\n").utf8)), .hang])
                let url = "redis://me:\(password)@127.0.0.1:\(server.port)"
                try await everyClassifierCommand(stage, ["REDIS_URL": url])
                #expect(server.connectionCount > 0)
            }
            let page = try await TLSPageServer(try await SelfSignedCertificate())
            for verify in ["auto", "full", "none"] {
                let url = "rediss://me:\(password)@127.0.0.1:\(page.port)"
                try await everyClassifierCommand(
                    stage, ["REDIS_URL": url, "REDIS_TLS_VERIFY": verify])
            }
        },
        SecretScenario("an embedded database that is none, and a home that is a file") { stage in
            let accounts = PlantedAccounts.variables(
                of: .mastodon, in: stage.book, at: "http://127.0.0.1:1")
            try FileManager.default.createDirectory(
                atPath: stage.stage.home, withIntermediateDirectories: true)
            let garbage = Data("this is no database".utf8) + Data(count: 10_000)
            try garbage.write(to: URL(fileURLWithPath: stage.stage.home + "/mirror-bot.sqlite"))
            try await everyCommand(stage, accounts)
            let file = try stage.stage.folder.write(Data(), to: "file")
            try await everyCommand(stage, accounts.merging(["MIRROR_BOT_HOME": file]) { $1 })
            try await everyCommand(
                stage, accounts.merging(["MIRROR_BOT_HOME": file + "/below"]) { $1 })
        },
        SecretScenario("an embedded database that is locked") { stage in
            try await onSandbox(stage) { accounts in
                try await stage.run(["run", "--once"], accounts, ends: 0)
                let isLocked = Promise<Bool>()
                let isOver = Promise<Bool>()
                async let holder: Void = stage.stage.withMirror(accounts) { stores in
                    try await stores.storage.transaction { _ in
                        isLocked.fulfill(true)
                        while !isOver.isFulfilled { _ = poll(nil, 0, 50) }
                    }
                }
                _ = await isLocked.value
                // It waits ten seconds for the lock and gives up.
                let ending = try await stage.run(["run", "--once"], accounts)
                isOver.fulfill(true)
                #expect(ending.status == 75)
                try await holder
            }
        },
    ]

    private static let commands = [
        ["run", "--once"], ["status"], ["train", "scheduler"], ["migrate"],
    ]

    private static func everyCommand(_ stage: SecretStage, _ environment: [String: String])
        async throws
    {
        for words in commands {
            try await stage.fail(words, environment)
        }
    }

    /// What counts features: with accounts, since without them nothing is counted.
    private static func everyClassifierCommand(
        _ stage: SecretStage, _ environment: [String: String]
    ) async throws {
        let lines = try stage.writeOwn("examples.jsonl", Fixture.examples(30))
        for words in [["train", "classifier", "--from", lines], ["status"]] {
            try await stage.run(words, environment)
        }
    }

    private static func onSandbox(
        _ stage: SecretStage, _ body: ([String: String]) async throws -> Void
    ) async throws {
        let sandbox = try await Sandbox.live()
        let tap = try SecretTap(stage.book, port: sandbox.port)
        try await body(
            PlantedAccounts.variables(of: sandbox, on: .mastodon, in: stage.book, at: tap.url))
        await sandbox.stop()
    }
}

/// As much of a Postgres as it takes to be told a password, in version 3 of the protocol.
enum FakePostgres {
    /// Repeats the password in its refusal.
    static func refusing(_ password: String) throws -> LoopbackServer {
        let refusal = error("28P01", "password authentication failed for user me with \(password)")
        return try LoopbackServer(steps: asked(password) + [.send(refusal), .close])
    }

    /// Takes the password, and repeats it in an error about the first query.
    static func failing(_ password: String) throws -> LoopbackServer {
        let accepted = message("R", [0, 0, 0, 0]) + ready
        let failure = error("XX000", "internal error near \(password)") + ready
        // The first question is one that a server need not understand.
        return try LoopbackServer(
            steps: asked(password) + [
                .send(accepted), .awaitText("pg_is_in_recovery"), .send(failure),
                .awaitText("SELECT"), .send(failure),
                .close,
            ])
    }

    /// The question for a password in the clear, and its answer.
    private static func asked(_ password: String) -> [LoopbackServer.Step] {
        [.awaitText("user"), .send(message("R", [0, 0, 0, 3])), .awaitText(password + "\0")]
    }

    private static let ready = message("Z", [0x49])

    private static func error(_ code: String, _ text: String) -> [UInt8] {
        message("E", Array("SFATAL\0C\(code)\0M\(text)\0\0".utf8))
    }

    private static func message(_ kind: Character, _ body: [UInt8]) -> [UInt8] {
        let length = UInt32(body.count + 4)
        return [kind.asciiValue ?? 0]
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) } + body
    }
}
