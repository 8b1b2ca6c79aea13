import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

/// `mirror-bot rebind`, and what keeps a mirror to its accounts.
@Suite(.timeLimit(.minutes(30))) struct RebindCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    private static let other = Account(
        id: .mastodon("old@gone.example", localHost: ""), handle: "old@gone.example")

    @Test func aBindingIsToldToPrograms() async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        try await stage.withMirror(settings) {
            try await $0.bind(human: nil, bot: Self.other, now: Date())
        }
        let told = try await stage.run("rebind", "--yes", "--json", environment: settings)
        #expect(told.status == 0, "\(told.error)")
        let document =
            try JSONSerialization.jsonObject(with: Data(told.output.utf8)) as? [String: Any]
        #expect(document?["schema"] as? String == "mirror-bot/rebind/1")
        let accounts = try #require(document?["accounts"] as? [[String: String]])
        let now = try await stage.withMirror(settings) {
            try await $0.table.record().bot?.reference
        }
        #expect(accounts == [["role": "bot", "before": "old@gone.example", "now": now ?? ""]])
        let again = try await stage.run("rebind", "--yes", "--json", environment: settings)
        #expect(again.status == 0)
        #expect(again.output.contains(#""schema" : "mirror-bot/rebind/1""#))
        await sandbox.stop()
    }

    @Test func asksAndBindsAnew() async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        try await stage.withMirror(settings) {
            try await $0.bind(human: nil, bot: Self.other, now: Date())
        }
        let refused = try await stage.run("run", "--once", environment: settings)
        #expect(refused.status == 78)
        #expect(refused.error.contains("old@gone.example"))
        // Nobody can be asked, and nobody said yes.
        let asked = try await stage.run("rebind", environment: settings)
        #expect(asked.status == 64)
        #expect(asked.error.contains("bot: now old@gone.example; logged in is "))
        #expect(asked.error.hasSuffix("error: nothing was changed; answer y, or pass --yes\n"))
        try await expect(
            stage.withMirror(settings) { try await $0.table.record().bot }, equals: Self.other.id)

        // A program is asked as well, and nothing stands where it looks for an answer.
        let unanswered = try await stage.run("rebind", "--json", environment: settings)
        #expect(unanswered.status == 64)
        #expect(unanswered.output.isEmpty)

        let terminal = try PseudoTerminal()
        let program = try stage.start(
            ["rebind", "--role", "bot"], environment: settings, replacing: [0: terminal.inner])
        try await program.waitForError("for mirror default? [y/N] ")
        try terminal.type("y\n")
        let ending = await program.ending()
        #expect(ending.status == 0)
        #expect(ending.output.hasPrefix("the bot of mirror default is "))
        let again = try await stage.run("rebind", "--yes", environment: settings)
        #expect(again.status == 0)
        #expect(
            again.output
                == "nothing to do: mirror default belongs to the accounts that are logged in\n")
        try await expect(stage.run("run", "--once", environment: settings).status, equals: 0)
        await sandbox.stop()
    }

    @Test func scriptsSayYes() async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        try await stage.withMirror(settings) {
            try await $0.bind(human: nil, bot: Self.other, now: Date())
        }
        try await expect(stage.run("rebind", "--yes", environment: settings).status, equals: 0)
        await sandbox.stop()
    }

    @Test func aMirrorAtWorkIsLeftAlone() async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        let worker = try stage.start(["run"], environment: settings)
        try await worker.waitForError("Worker started")
        _ = try await stage.withMirror(settings) { mirror in
            try await mirror.storage.execute(
                "UPDATE mirrors SET bot_account = 'mastodon:old@gone.example'")
        }
        let ending = try await stage.run("rebind", "--yes", environment: settings)
        #expect(ending.status == 75)
        #expect(ending.error.contains("a worker holds it; stop it first"))
        worker.send(SIGTERM)
        _ = await worker.ending()
        await sandbox.stop()
    }

    @Test func needsCredentials() async throws {
        let ending = try await stage.run("rebind")
        #expect(ending.status == 78)
        #expect(
            ending.error.contains(
                "is not set up yet: mirror-bot setup leads through all steps; next is "))
        try await expect(stage.run("rebind", "--role", "boss").status, equals: 64)
    }

    @Test(arguments: [true, false]) func twoMirrorsCannotHaveOneBot(isLogin: Bool) async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings
        try await expect(stage.run("run", "--once", environment: settings).status, equals: 0)
        try await stage.train(Fixture.lines(), environment: ["MIRROR": "second"])
        let ending =
            if isLogin {
                try await stage.run(
                    "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token",
                    environment: ["MIRROR": "second"], input: sandbox.botToken + "\n")
            } else {
                try await stage.run(
                    "run", "--once", environment: settings.merging(["MIRROR": "second"]) { $1 })
            }
        #expect(ending.status == 78)
        #expect(ending.error.contains("belongs to the bot of mirror default in the same database"))
        await sandbox.stop()
    }
}
