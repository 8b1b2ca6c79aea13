import Control
import Expectations
import Foundation
import Posts
import Sandbox
import TestSupport
import Testing

/// `mirror-bot retire`, and what the other commands say of a mirror that retires.
@Suite(.timeLimit(.minutes(30))) struct RetireCommandTests {
    private static let last = "Thank you all, this mirror ends here."

    private func stage() async throws -> (stage: Stage, sandbox: Sandbox) {
        let stage = try Stage(["TIME_ZONE": "Asia/Tokyo"])
        try await stage.makeDatabase()
        try await stage.train(Fixture.lines(days: 60, perDay: 6))
        return (stage, try await Sandbox.live())
    }

    /// Nobody is asked where there is no terminal, and wrong words change nothing.
    @Test func nothingIsDoneUnlessAPersonSaysYes() async throws {
        let (stage, sandbox) = try await stage()
        let asked = try await stage.run("retire", "--last", Self.last)
        #expect(asked.status == 64)
        #expect(asked.error.contains("the last post: “\(Self.last)”"))
        #expect(asked.error.contains("pass --yes"))
        for words in [
            ["--keep", "--undo"], ["--cancel", "--undo"], ["--on", "yesterday", "--yes"],
            ["--on", "2020-01-01", "--yes"], ["--last", "https://home.example/@a/1", "--yes"],
        ] {
            try await expect(stage.run(words: ["retire"] + words).status, equals: 64, "\(words)")
        }
        let status = try await stage.status()
        expect(status.obstacles) { $0?.contains { $0.code == .retiring } == false }
        let typed = try await stage.type(["retire"], [("Retire it now? [y/N] ", "y")])
        #expect(typed.status == 0, "\(typed.error)")
        await sandbox.stop()
    }

    @Test func whatIsToComeIsToldAndTakenBack() async throws {
        let (stage, sandbox) = try await stage()
        let told = try await stage.run("retire", "--on", "30d", "--last", Self.last, "--yes")
        #expect(told.status == 0, "\(told.error)")
        #expect(told.output.contains("to take it back: mirror-bot retire --cancel\n"))
        let status = try await stage.status()
        let note = try #require(status.obstacles?.first { $0.code == .retiring })
        #expect(note.remedy?.command == "mirror-bot retire --cancel")
        let json = try await stage.run("retire", "--cancel", "--json")
        let change = try Stage.decode(RetirementChange.self, from: json)
        #expect(change.schema == "mirror-bot/retirement/1")
        #expect(change.isRetiring == false)
        try await expect(stage.run("retire", "--cancel").output) { $0.hasPrefix("nothing to do: ") }
        // What somebody saw does not hold any more.
        let stale = try await stage.run("retire", "--yes", "--seen", "0123456789abcdef")
        #expect(stale.status == 75)
        await sandbox.stop()
    }

    /// From the first command to the end, by `run --once` as cron calls it.
    @Test func aRetiredMirrorStaysReadable() async throws {
        let (stage, sandbox) = try await stage()
        let settings = sandbox.botSettings
        // No worker has seen the human's login yet.
        try await expect(
            stage.run("set", "HUMAN_CONSENT=self", environment: settings).status, equals: 0)
        try await expect(
            stage.run("retire", "--last", Self.last, "--yes", environment: settings).status,
            equals: 0)
        let pretended = try await stage.run("run", "--dry-run", environment: settings)
        #expect(pretended.output.contains("nothing would be sent: mirror default retires"))
        for _ in 0..<3 {
            let once = try await stage.run("run", "--once", environment: settings)
            #expect([0, 78].contains(once.status), "\(once.error)")
        }
        await expect(sandbox.ledger.deliveries.map(\.text), equals: [Self.last])
        for words in [["run"], ["run", "--once"], ["run", "--dry-run"]] {
            let ended = try await stage.run(words: words, environment: settings)
            #expect(ended.status == 78, "\(words)")
            #expect(ended.error.contains("has retired at"), "\(words): \(ended.error)")
        }
        let check = try await stage.run("status", "--check", environment: settings)
        #expect(check.status == 0)
        #expect(check.output == "mirror default has retired\n")
        let history = try await stage.run("history", environment: settings)
        #expect(history.output.contains("this mirror ends here"))
        for words in [["status"], ["plan"], ["texts"], ["stats"]] {
            try await expect(
                stage.run(words: words, environment: settings).status, equals: 0, "\(words)")
        }
        try await expect(stage.run("retire", "--cancel", environment: settings).status) { $0 != 0 }
        await sandbox.stop()
    }
}
