import Foundation
import Sandbox
import TestSupport
import Testing

/// Whatever goes wrong, nothing secret is printed, logged or stored.
@Suite(.timeLimit(.minutes(3))) struct SecretTests {
    private static let mark = "pl4nted"

    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "Asia/Tokyo", "LOG_LEVEL": "trace"]) }

    private func expectNoSecret(in ending: Ending, _ words: [String]) {
        #expect(!ending.output.contains(Self.mark), "\(words): \(ending.output)")
        #expect(!ending.error.contains(Self.mark), "\(words): \(ending.error)")
    }

    private func expectNoSecretInFiles() throws {
        let files = try stage.files()
        for (name, contents) in files {
            #expect(contents.range(of: Data(Self.mark.utf8)) == nil, "a secret in \(name)")
        }
    }

    private static let commands = [
        ["config"], ["config", "--json"], ["status"], ["status", "--json"], ["plan"], ["migrate"],
        ["train", "scheduler"], ["train", "classifier"], ["train", "scheduler", "--if-possible"],
        ["train", "clear", "--yes"], ["run", "--once"], ["run", "--dry-run"],
    ]

    private func secrets(at address: String) -> [String: String] {
        [
            "HUMAN_SERVER": "http://\(address)", "HUMAN_ACCESS_TOKEN": "\(Self.mark)-human",
            "BOT_SERVER": "http://\(address)", "BOT_ACCESS_TOKEN": "\(Self.mark)-bot",
            "REDIS_URL": "redis://me:\(Self.mark)-redis@\(address)",
        ]
    }

    @Test func withoutServers() async throws {
        let sandbox = try await Sandbox.live()
        await sandbox.stop()
        for words in Self.commands {
            var environment = secrets(at: "127.0.0.1:\(sandbox.port)")
            expectNoSecret(in: try await stage.run(words: words, environment: environment), words)
            environment["DATABASE_URL"] = "postgres://me:\(Self.mark)-database@127.0.0.1:\(sandbox.port)/db"
            expectNoSecret(in: try await stage.run(words: words, environment: environment), words)
        }
        try expectNoSecretInFiles()
    }

    /// A server may repeat what it was sent.
    @Test(arguments: [401, 422, 503])
    func withAServerThatTellsThem(_ status: Int) async throws {
        let sandbox = try await Sandbox.live()
        let environment = secrets(at: "127.0.0.1:\(sandbox.port)")
        for (token, commands) in [
            ("human", [["train", "scheduler"], ["train", "classifier"]]),
            ("bot", [["run", "--once"], ["run", "--dry-run"]]),
        ] {
            let echo = "The access token \(Self.mark)-\(token) is invalid"
            sandbox.faults.failNext(.error(status: status, message: echo), count: 100)
            for words in commands {
                let ending = try await stage.run(words: words, environment: environment)
                #expect(ending.error.contains("The access token <redacted> is invalid"))
                expectNoSecret(in: ending, words)
            }
            sandbox.faults.clear()
        }
        await sandbox.stop()
        try expectNoSecretInFiles()
    }

    @Test func whileRunning() async throws {
        let sandbox = try await Sandbox.live()
        let tokens = [sandbox.humanToken, sandbox.botToken]
        let settings = sandbox.botSettings.merging(sandbox.humanSettings) { $1 }
        for words in [["train", "scheduler"], ["train", "classifier"], ["run", "--dry-run"], ["run", "--once"]] {
            let ending = try await stage.run(words: words, environment: settings)
            #expect(ending.status == 0, "\(ending.error)")
            for token in tokens { #expect(!(ending.output + ending.error).contains(token), "\(words)") }
        }
        await sandbox.stop()
        for (name, contents) in try stage.files() {
            for token in tokens { #expect(contents.range(of: Data(token.utf8)) == nil, "a token in \(name)") }
        }
    }

    @Test(arguments: [
        ("DATABASE_URL", "mysql://me:pl4nted@db.example/x"), ("DATABASE_URL", "postgres://me:pl4nted@[::1/x"),
        ("DATABASE_URL", "postgres://me:pl4nted@db.example:port/x"), ("DATABASE_URL", "pl4nted"),
        ("DATABASE_URL", "postgres://me:pl4nted%zz@127.0.0.1:1/x?sslmode=pl4nted"),
        ("REDIS_URL", "redis://me:pl4nted@[::1"), ("REDIS_URL", "pl4nted"), ("REDIS_URL", "http://:pl4nted@a.example"),
        ("HUMAN_SERVER", "https://me:pl4nted@a.example"), ("BOT_SERVER", "pl4nted:pl4nted@a.example"),
        ("HUMAN_ACCESS_TOKEN", "pl4nted\nsecond line"), ("BOT_ACCESS_TOKEN", "pl4nted\u{1B}[2J"),
    ])
    func asWrongSettings(_ name: String, _ value: String) async throws {
        for words in [["config"], ["status"], ["train", "classifier", "--from", "-"], ["run"]] {
            let others = ["HUMAN_SERVER": "https://a.invalid", "HUMAN_ACCESS_TOKEN": "t"]
            let environment = others.merging([name: value]) { $1 }
            expectNoSecret(in: try await stage.run(words: words, environment: environment), words)
        }
        try expectNoSecretInFiles()
    }

    @Test func inDotEnvAndInFiles() async throws {
        let token = try stage.folder.write(Data("\(Self.mark)\u{1B}\n".utf8), to: "token")
        for environment in [["BOT_ACCESS_TOKEN_FILE": token], ["HUMAN_ACCESS_TOKEN_FILE": stage.folder.path]] {
            for words in [["config"], ["run"]] {
                let ending = try await stage.run(words: words, environment: environment)
                #expect(ending.status == 78)
                expectNoSecret(in: ending, words)
            }
        }
        let dotEnv = "BOT_ACCESS_TOKEN=\(Self.mark)\nBOT_SERVER=https://\(Self.mark)@a.example\n"
        try dotEnv.write(toFile: stage.workingFolder + "/.env", atomically: false, encoding: .utf8)
        let ending = try await stage.run("config")
        #expect(ending.status == 78)
        expectNoSecret(in: ending, ["config"])
    }
}
