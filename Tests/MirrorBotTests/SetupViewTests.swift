import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import TestSupport
import Testing

@testable import MirrorBot

/// The screens of a setup: their width, and their signs.
@Suite(.timeLimit(.minutes(30))) struct SetupViewTests {
    /// Lines that stay whole so that they can be copied: commands, addresses, and what a command
    /// reports.
    private func isCopied(_ line: String) -> Bool {
        let text = line.drop { $0 == " " || $0 == "→" || $0 == ">" }
        return text.hasPrefix("mirror-bot ") || text.hasPrefix("http") || text.hasPrefix("error: ")
    }

    /// The lines of a view that are wider than the screen.
    private func wideLines(_ text: String, _ columns: Int) -> [String] {
        text.split(separator: "\n").map(String.init).filter {
            !isCopied($0) && Printable.width($0) > columns
        }
    }

    @Test(arguments: [40, 80, 120], ["C.UTF-8", "C", "POSIX", "en_US.ISO-8859-1"])
    func theChecklistFits(_ columns: Int, _ locale: String) async throws {
        let stage = try Stage(["COLUMNS": "\(columns)", "LANG": "C.UTF-8", "LC_ALL": locale])
        for words in [["setup"], ["status"]] {
            let ending = try await stage.run(words: words)
            #expect(ending.status == 78)
            #expect(wideLines(ending.output, columns).isEmpty)
            #expect(ending.output.contains("mirror-bot login mastodon --as human\n"))
            if locale != "C.UTF-8" {
                #expect((ending.output + ending.error).utf8.allSatisfy { $0 < 0x80 })
            }
        }
    }

    /// A line of Japanese, which has no spaces, ends between two characters.
    @Test(arguments: [40, 80, 120]) func theJapaneseChecklistFits(_ columns: Int) async throws {
        let stage = try Stage(["COLUMNS": "\(columns)", "LANG": "ja_JP.UTF-8"])
        let ending = try await stage.run("setup")
        #expect(ending.status == 78)
        #expect(ending.output.contains("  ○ 本人のアカウント、またはアーカイブ\n"), "\(ending.output)")
        #expect(ending.output.contains("\n    → mirror-bot login mastodon --as human\n"))
        #expect(wideLines(ending.output, columns).isEmpty, "\(ending.output)")
    }

    @Test(arguments: [
        ("はい", true), ("いいえ", false), ("y", true), ("NO", false), ("", true),
    ])
    func yesAndNoAreSaidInEitherLanguage(_ answer: String, _ isYes: Bool) throws {
        let console = RecordedConsole(environment: [:], folder: "/", answers: [("Well?", answer)])
            .console
        let agrees = try Console.$current.withValue(console) {
            try Question.confirm("Well? [Y/n] ", default: true)
        }
        #expect(agrees == isYes)
    }

    @Test(arguments: [40, 80, 120], ["C.UTF-8", "C"])
    func theQuestionsAndThePreviewFit(_ columns: Int, _ locale: String) async throws {
        let sandbox = try await SetupPast.sandbox()
        let stage = try Stage(["COLUMNS": "\(columns)", "LC_ALL": locale, "MIN_AGE_DAYS": "0"])
        let ending = try await stage.type(
            ["setup", "--token", "--network", "mastodon", "--server", sandbox.url],
            [
                ("Access token: ", sandbox.humanToken), ("Access token: ", sandbox.botToken),
                ("Time zone", "UTC"),
                ("Write this", "n"), ("Look at", "n"), ("Start now?", "n"),
            ])
        #expect(ending.status == 0, "\(ending.error)")
        let prompts = ["Write this into", "Time zone [", "Look at", "Start now?"]
        let wide = wideLines(ending.error, columns).filter { line in
            // A question is in one piece, and so is what a bar overwrites.
            !prompts.contains { line.hasPrefix($0) } && !line.contains("\r")
        }
        #expect(wide.isEmpty, "\(wide)")
        let plan = ending.output.components(separatedBy: "share of posts by hour").first ?? ""
        let preview = plan.split(separator: "\n").drop {
            $0.wholeMatch(of: /20[0-9-]{8}  UTC.*/) == nil
        }
        #expect(preview.count > 2)
        expect(preview) { $0.allSatisfy { Printable.width(String($0)) <= columns } }
        if locale == "C" {
            // What people wrote has letters of its own.
            let signs = (ending.output + ending.error).unicodeScalars.filter {
                !$0.isASCII && !$0.properties.isAlphabetic
            }
            #expect(signs.isEmpty, "\(ending.output)")
        }
        await sandbox.stop()
    }

    @Test func aLocaleSaysWhichSignsThereAre() {
        func terminal(_ environment: [String: String]) -> Terminal {
            Terminal(descriptor: -1, environment: environment)
        }
        #expect(terminal(["LANG": "C.UTF-8"]).shown("✔ a → b …") == "✔ a → b …")
        #expect(terminal([:]).shown("✔") == "✔")
        #expect(terminal(["LC_ALL": "C", "LANG": "de_DE.utf8"]).shown("✔ a → b …") == "v a > b ~")
        #expect(terminal(["LC_ALL": "", "LC_CTYPE": "POSIX"]).shown("▁█") == "_#")
        #expect(terminal(["LANG": "C"]).shown("ä") == "ä")
    }
}

/// What is missing is told in the same words, whoever needs it.
@Suite(.timeLimit(.minutes(30))) struct FirstMissingTests {
    /// What the first lines of an ending say comes next.
    private func next(_ ending: Ending) -> Substring? {
        (ending.output + ending.error).firstMatch(of: /next is [^;\n]*/)?.output
    }

    private func expectNext(
        _ stage: Stage, _ expected: String, _ calls: [[String]], _ flags: [String] = []
    )
        async throws
    {
        for words in calls {
            let ending = try await stage.run(words: words + flags)
            #expect(
                next(ending) == "next is \(expected)", "\(words): \(ending.output)\(ending.error)")
            #expect(ending.status == 78 || words == ["status"], "\(words)")
            if words != ["status"] { #expect(ending.error.contains("mirror-bot setup")) }
        }
    }

    @Test func everyCommandNamesTheSameFirstStep() async throws {
        let sandbox = try await Sandbox.live()
        let stage = try Stage()
        let all = [
            // The first of those that may make a database comes after those that look.
            ["status"], ["plan"], ["history"], ["stats"], ["setup"], ["run"], ["run", "--once"],
            ["run", "--dry-run"],
            ["train", "scheduler"], ["train", "classifier"], ["status"], ["plan"],
            ["plan", "reroll"], ["setup"],
        ]
        let human =
            "the human's account, or an archive of theirs: mirror-bot login mastodon --as human"
        try await expectNext(stage, human, all)
        try await expectNext(
            stage, human + " --mirror umi", [["train", "scheduler"], ["setup"]],
            ["--mirror", "umi"])
        let login = try await stage.run(
            "login", "mastodon", "--as", "human", "--server", sandbox.url, "--token",
            input: sandbox.humanToken + "\n")
        #expect(login.status == 0)
        try await expectNext(
            stage, "the bot's account: mirror-bot login mastodon --as bot",
            [["status"], ["run"], ["run", "--once"], ["profile"]])
        try await expectNext(
            stage, "when and what the human posts: mirror-bot train scheduler",
            [["plan"], ["plan", "reroll"]])
        try await stage.train(Fixture.lines())
        try await expectNext(
            stage, "the human's time zone: mirror-bot set TIME_ZONE=ZONE",
            [["plan"], ["plan", "reroll"]])
        await sandbox.stop()
    }

    /// A home that was named is named in every command.
    @Test func aHomeThatWasNamedIsNamedAgain() async throws {
        let stage = try Stage()
        let home = stage.folder.path("another home")
        let ending = try await stage.run("status", "--home", home)
        #expect(
            ending.output.contains(
                "\n    → mirror-bot login mastodon --as human --home '\(home)'\n"))
        #expect(ending.error.contains("mirror-bot setup --home '\(home)' leads through all steps"))
        #expect(!FileManager.default.fileExists(atPath: home))
    }

    /// A worker that was started too early is no other news.
    @Test func theHeadlineIsTheFirstOpenStepUntilTrainingIsDone() async throws {
        let sandbox = try await Sandbox.live()
        let stage = try Stage(sandbox.botSettings.merging(["TRUST_ARCHIVE": ""]) { $1 })
        try await expect(stage.run("run").status, equals: 78)
        let status = try await stage.run("status")
        expect(status.output) {
            $0.hasPrefix(
                "○ not set up yet: 1 of 6 steps are done; next is the human's account, or an archive of theirs: mirror-bot "
            )
        }
        try await expect(stage.run("status", "--check").status, equals: 78)
        await sandbox.stop()
    }

    @Test func statusOfAMirrorThatIsNotThereShowsItsChecklist() async throws {
        let stage = try Stage()
        try await stage.train(Fixture.lines())
        let ending = try await stage.run("status", "--mirror", "umi")
        #expect(ending.status == 78)
        #expect(
            ending.output.contains("\n    → mirror-bot login mastodon --as human --mirror umi\n"))
        #expect(
            ending.error.contains(
                "--mirror is umi, but there is no such mirror: the database has default"))
        let json = try await stage.run("status", "--json", "--home", stage.folder.path("nowhere"))
        #expect(json.status == 78)
        #expect(json.output.contains(#""kind" : "human""#))
    }
}
