import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import Settings
import TestSupport
import Testing

/// A login as somebody else, or with a wrong answer, is no dead end.
@Suite(.timeLimit(.minutes(30))) struct WrongLoginTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "UTC"]) }

    private func logIn(
        _ role: String, _ sandbox: Sandbox, as token: String, _ more: [String] = [],
        answering answers: [RecordedConsole.Answer] = []
    ) async throws -> Ending {
        try await stage.type(
            ["login", "mastodon", "--as", role, "--server", sandbox.url, "--token"] + more,
            [("Access token: ", token)] + answers)
    }

    private func handle(of role: String) async throws -> String? {
        try await stage.status().accounts.first { $0.role.rawValue == role }?.handle
    }

    // MARK: Another account

    /// Nothing was learned and nothing sent: one question is enough.
    @Test(arguments: ["human", "bot"]) func aNewLoginReplacesAnUnusedOne(_ role: String)
        async throws
    {
        let sandbox = try await Sandbox.live()
        // The bot's token opens either; the other account's login is wrong for the human here.
        let wrong = sandbox.botToken
        let right = sandbox.humanToken
        let wrongName = sandbox.world.botHandle
        let rightName = sandbox.world.humanHandle
        guard role == "human" else {
            try await stage.withMirror { mirror in
                let other = Account(
                    id: .mastodon("old@gone.example", localHost: ""), handle: "old@gone.example")
                try await mirror.bind(human: nil, bot: other, now: Date())
            }
            let replaced = try await logIn(
                "bot", sandbox, as: sandbox.botToken,
                answering: [("as the bot in the place of @old@gone.example? [Y/n] ", "")])
            #expect(replaced.status == 0, "\(replaced.error)")
            try await expect(handle(of: "bot"), equals: sandbox.world.botHandle)
            await sandbox.stop()
            return
        }
        try await expect(logIn("human", sandbox, as: wrong).status, equals: 0)
        let question = "Take @\(rightName) as the human in the place of @\(wrongName)? [Y/n] "
        let refused = try await logIn("human", sandbox, as: right, answering: [(question, "n")])
        #expect(refused.status == 64, "\(refused.error)")
        try await expect(handle(of: "human"), equals: wrongName)
        let replaced = try await logIn("human", sandbox, as: right, answering: [(question, "")])
        #expect(replaced.status == 0, "\(replaced.error)")
        #expect(
            replaced.error.contains(
                "Nothing was learned of @\(wrongName) yet, and nothing was sent."))
        try await expect(handle(of: "human"), equals: rightName)
        // Now the other one is free for the bot.
        try await expect(logIn("bot", sandbox, as: wrong).status, equals: 0)
        await sandbox.stop()
    }

    /// What was learned is not handed to somebody else by a slip; on purpose it can be.
    @Test func aLoginOfAnotherIsRefusedOnceSomethingWasLearned() async throws {
        let sandbox = try await Sandbox.live()
        try await expect(logIn("human", sandbox, as: sandbox.botToken).status, equals: 0)
        try await stage.train(Fixture.lines())
        let refused = try await logIn("human", sandbox, as: sandbox.humanToken)
        #expect(refused.status == 78, "\(refused.error)")
        #expect(
            refused.error.contains(
                "this login belongs to @\(sandbox.world.humanHandle), but this mirror belongs to"))
        #expect(refused.error.contains("mirror-bot login mastodon --as human --rebind"))
        let unsure = try await logIn(
            "human", sandbox, as: sandbox.humanToken, ["--rebind"], answering: [("[y/N] ", "")])
        #expect(unsure.status == 64, "\(unsure.error)")
        let sure = try await logIn(
            "human", sandbox, as: sandbox.humanToken, ["--rebind"], answering: [("[y/N] ", "y")])
        #expect(sure.status == 0, "\(sure.error)")
        try await expect(handle(of: "human"), equals: sandbox.world.humanHandle)
        await sandbox.stop()
    }

    @Test func oneAccountForBothNamesTheWayBack() async throws {
        let sandbox = try await Sandbox.live()
        try await expect(logIn("human", sandbox, as: sandbox.botToken).status, equals: 0)
        let same = try await logIn("bot", sandbox, as: sandbox.botToken)
        #expect(same.status == 78)
        #expect(
            same.error.contains("belongs to the human's own account, @\(sandbox.world.botHandle)"),
            "\(same.error)")
        #expect(same.error.contains("wrong: mirror-bot login mastodon --as human"), "\(same.error)")
        await sandbox.stop()
    }

    /// In a setup the way back is a word at the next question.
    @Test func aSetupGoesBackToTheHuman() async throws {
        let sandbox = try await SetupPast.sandbox()
        let ending = try await Stage().type(
            ["setup", "--token", "--no-start"],
            [
                ("Network or path [mastodon]: ", ""),
                ("Server of the human's account", sandbox.url),
                ("Access token: ", sandbox.botToken), ("Network [mastodon]: ", "human"),
                ("Network of the human [mastodon]: ", ""),
                ("Server of the human's account", sandbox.url),
                ("Access token: ", sandbox.humanToken), ("as the human in the place of", ""),
                ("Network [mastodon]: ", ""), ("Server of the bot's account", sandbox.url),
                ("Access token: ", sandbox.botToken), ("Time zone", "UTC"), ("Write this", "n"),
                ("Look at", "n"),
            ])
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.error.contains("wrong, type human to log in again"), "\(ending.error)")
        #expect(
            ending.output.contains(
                "the human of mirror default is @haruka@sandbox.example on Mastodon\n"))
        #expect(
            ending.output.contains(
                "the bot of mirror default is @mirror@sandbox.example on Mastodon\n"))
        await sandbox.stop()
    }

    // MARK: A wrong answer

    /// Only the answer that was refused is asked for again.
    @Test func aServerThatIsNotThereIsAskedForAgain() async throws {
        let sandbox = try await Sandbox.live()
        let gone = try await Sandbox.live()
        await gone.stop()
        let ending = try await stage.type(
            ["login", "mastodon", "--as", "human", "--token"],
            [
                ("Server of the human's account (https://HOST): ", gone.url),
                ("Access token: ", sandbox.humanToken),
                ("Server of the human's account [\(gone.url)]: ", sandbox.url),
            ])
        #expect(ending.status == 0, "\(ending.error)")
        try await expect(handle(of: "human"), equals: sandbox.world.humanHandle)
        await sandbox.stop()
    }

    @Test func aWrongTokenIsAskedForAgain() async throws {
        let sandbox = try await Sandbox.live()
        let ending = try await logIn(
            "human", sandbox, as: "wrong-token", answering: [("Access token: ", sandbox.humanToken)]
        )
        #expect(ending.status == 0, "\(ending.error)")
        #expect(!ending.error.contains("wrong-token"))
        await sandbox.stop()
    }

    @Test func aWrongAppPasswordIsAskedForAgain() async throws {
        let sandbox = try await Sandbox.live()
        let login = sandbox.blueskyLogin(.bot)
        let ending = try await stage.type(
            [
                "login", "bluesky", "--as", "bot", "--handle", login.handle, "--api-base-url",
                sandbox.url,
            ],
            [
                ("App password: ", "wrong-password"),
                ("Handle of the bot's account [\(login.handle)]: ", ""),
                ("App password: ", login.appPassword),
            ])
        #expect(ending.status == 0, "\(ending.error)")
        #expect(!ending.error.contains("wrong-password"))
        await sandbox.stop()
    }

    /// The page stays open: another application would need the consent of the account once more.
    @Test func aWrongCodeRegistersNoSecondApplication() async throws {
        let sandbox = try await Sandbox.live()
        let terminal = try PseudoTerminal()
        let program = try stage.start(
            ["login", "mastodon", "--as", "bot", "--server", sandbox.url],
            replacing: [0: terminal.inner])
        try await program.waitForError("Code: ")
        func addresses() -> [String] {
            program.errorSoFar.split(whereSeparator: \.isWhitespace).map(String.init)
                .filter { $0.hasPrefix(sandbox.url) && $0.contains("client_id=") }
        }
        let address = try #require(addresses().first)
        try terminal.type("wrong-code\n")
        try await program.waitForError("The same page shows another code.\nCode: ")
        #expect(addresses() == [address])
        try terminal.type(try await BrowsedPage.code(at: address + "&as=bot") + "\n")
        let ending = await program.ending()
        #expect(ending.status == 0, "\(ending.error)")
        #expect(
            ending.output
                == "the bot of mirror default is @\(sandbox.world.botHandle) on Mastodon\n")
        await sandbox.stop()
    }
}

/// What leads a person who knows nothing to the setup.
@Suite(.timeLimit(.minutes(30))) struct FirstMinuteTests {
    @Test(arguments: [[], ["--help"]]) func theHelpBeginsWithTheSetup(_ words: [String])
        async throws
    {
        let ending = try await Stage().run(words: words)
        #expect(ending.status == 0)
        let commands = ending.output.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("mirror-bot ") }
        #expect(commands.first == "mirror-bot setup")
        #expect(commands.dropFirst().first == "mirror-bot demo --web")
    }

    @Test(arguments: [["plan"], ["run"], ["stats"], ["texts"], ["web", "--read-only"]])
    func whatIsNotSetUpLeadsToTheSetup(_ words: [String]) async throws {
        let ending = try await Stage().run(words: words)
        #expect(ending.status == 78)
        let text = ending.output + ending.error
        let setup = try #require(text.range(of: "mirror-bot setup"), "\(words): \(text)")
        let login = text.range(of: "mirror-bot login")
        #expect(login.map { setup.lowerBound < $0.lowerBound } ?? true, "\(words): \(text)")
    }

    @Test func theChecklistBeginsWithTheSetup() async throws {
        let ending = try await Stage().run("status")
        #expect(
            ending.output.contains(
                "before it works\n  → mirror-bot setup leads through these steps:\n"),
            "\(ending.output)")
        #expect(
            ending.error.contains(
                "is not set up yet: mirror-bot setup leads through all steps; next is"))
    }
}
