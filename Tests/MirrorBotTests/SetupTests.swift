import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import TestSupport
import Testing

/// What a person who sets a mirror up is told, step by step, and what a shell completes.
@Suite(.timeLimit(.minutes(30))) struct SetupTests {
    /// The step that `status` points to.
    private func next(_ stage: Stage) async throws -> String? {
        try await stage.status().setup?.first { !$0.isDone }?.command
    }

    @Test(arguments: StoreUnderTest.allCases) func eachStepLeadsToTheNext(_ store: StoreUnderTest)
        async throws
    {
        let sandbox = try await Sandbox.live()
        let stage = try await store.stage(["SECRET_KEY": String(repeating: "k", count: 40)])
        try await expect(next(stage), equals: "mirror-bot login mastodon --as human")
        let text = try await stage.run("status")
        #expect(
            text.output.contains(
                "before it works\n  → mirror-bot setup leads through these steps:\n  ○ the human's account"
            ))
        #expect(text.output.contains("\n    → mirror-bot login mastodon --as human\n"))

        func logIn(_ role: String, _ token: String) async throws -> Ending {
            try await stage.run(
                "login", "mastodon", "--as", role, "--server", sandbox.url, "--token",
                input: token + "\n")
        }
        let human = try await logIn("human", sandbox.humanToken)
        #expect(
            human.error.hasSuffix("next: mirror-bot login mastodon --as bot\n"), "\(human.error)")
        try await expect(logIn("bot", sandbox.botToken).error) {
            $0.hasSuffix("next: mirror-bot train scheduler\n")
        }
        let posts = try await stage.run("train", "scheduler", "--from", "-", input: Fixture.lines())
        #expect(posts.error.hasSuffix("next: mirror-bot set TIME_ZONE=ZONE\n"))
        try await expect(stage.run("set", "TIME_ZONE=UTC").status, equals: 0)
        try await expect(next(stage), equals: "mirror-bot train classifier")
        try await expect(stage.run("set", "FAVORITE_MODE=off").status, equals: 0)
        try await expect(next(stage), equals: "mirror-bot profile")
        try await expect(stage.run("profile", "--yes").status, equals: 0)
        try await expect(next(stage), equals: "mirror-bot run")
        try await expect(stage.run("status").output) { $0.contains("  ✔ the human's time zone\n") }

        try await expect(stage.run("run", "--once").status, equals: 0)
        try await expect(stage.status().setup, equals: nil)
        try await expect(stage.run("status").output) { $0.contains("before it works") == false }
        try await expect(logIn("bot", sandbox.botToken).error) { $0.contains("next: ") == false }
        await sandbox.stop()
    }

    @Test(arguments: StoreUnderTest.allCases) func aShellCompletesTheNamesOfMirrors(
        _ store: StoreUnderTest
    )
        async throws
    {
        let stage = try await store.stage()
        for name in ["haruka", "harumi", "umi"] {
            let ending = try await stage.run(
                "train", "scheduler", "--from", "-", "--mirror", name, input: Fixture.lines(days: 2)
            )
            #expect(ending.error == "next: mirror-bot login mastodon --as bot --mirror \(name)\n")
        }
        func completions(_ beginning: String, _ more: [String] = []) async throws -> Ending {
            let words = ["mirror-bot", "status"] + more + ["--mirror", beginning]
            return try await stage.run(
                words: [
                    "---completion", "status", "--", "--mirror", "\(words.count - 1)",
                    "\(beginning.count)",
                ] + words
            )
        }
        let all = try await completions("")
        #expect(all.status == 0, "\(all.error)")
        #expect(all.error.isEmpty, "\(all.error)")
        #expect(all.output.split(separator: "\n") == ["haruka", "harumi", "umi"])
        try await expect(
            completions("haru").output.split(separator: "\n"), equals: ["haruka", "harumi"])
        if store == .sqlite {
            // A place without a database has no mirrors, and gets none.
            let nowhere = stage.folder.path("nowhere")
            try await expect(completions("", ["--home", nowhere]).output.split(separator: "\n")) {
                $0.isEmpty
            }
            #expect(!FileManager.default.fileExists(atPath: nowhere))
        }
        let script = try await stage.run("--generate-completion-script", "bash")
        #expect(script.status == 0)
        #expect(script.output.contains("---completion"))
    }
}
