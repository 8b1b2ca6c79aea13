import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import Settings
import TestSupport
import Testing

/// `mirror-bot setup`: questions at a terminal, options in a script.
@Suite(.timeLimit(.minutes(30))) struct SetupCommandTests {
    private typealias Answer = RecordedConsole.Answer

    private let stage: Stage

    init() throws { stage = try Stage() }

    /// What a person types to log both accounts in on a Mastodon server with tokens.
    private static func accounts(_ sandbox: Sandbox) -> [Answer] {
        [
            ("Network or path [mastodon]: ", ""), ("Server of the human's account", sandbox.url),
            ("Access token: ", sandbox.humanToken), ("Network [mastodon]: ", ""),
            ("Server of the bot's account", sandbox.url), ("Access token: ", sandbox.botToken),
        ]
    }

    private static let rest: [Answer] = [
        ("Time zone", "Asia/Tokyo"), ("Write this into the profile of @mirror", "y"),
        ("Look at", "n"),
        ("Start now?", "n"),
    ]

    private func open(_ steps: [SetupStep]?) -> [SetupStep.Kind] {
        (steps ?? []).filter { !$0.isDone }.map(\.kind)
    }

    // MARK: At a terminal

    @Test func anEmptyHomeIsLedToTheStart() async throws {
        let sandbox = try await SetupPast.sandbox()
        let ending = try await stage.type(["setup", "--token"], Self.accounts(sandbox) + Self.rest)
        #expect(ending.status == 0, "\(ending.error)")
        #expect(
            ending.output.contains(
                "the human of mirror default is @haruka@sandbox.example on Mastodon\n"))
        #expect(
            ending.output.contains(
                "the bot of mirror default is @mirror@sandbox.example on Mastodon\n"))
        #expect(ending.output.contains("\nwritten\n"))
        #expect(ending.output.contains("share of posts by hour"), "there was no preview")
        #expect(
            ending.output.hasSuffix(
                "set up; mirror-bot run starts the work, mirror-bot status shows how it is\n"))
        #expect(!ending.error.contains("next: "))
        try await expect(open(stage.status().setup), equals: [.start])
        try await expect(stage.status().timeZone, equals: "Asia/Tokyo")
        try await expect(stage.run("run", "--once").status, equals: 0)
        let after = try await stage.type(["setup"], [])
        #expect(after.output.hasPrefix("this mirror is set up; mirror-bot status shows how it is"))
        await sandbox.stop()
    }

    /// The input ends before each question in turn; what was answered before is never asked again.
    @Test func aWalkThatEndsGoesOnAtTheFirstOpenStep() async throws {
        let sandbox = try await SetupPast.sandbox()
        let answers = Self.accounts(sandbox) + Self.rest
        // A login that was not finished begins anew.
        let parts = [answers[..<3], answers[3..<6], answers[6..<7], answers[7..<8]].map {
            Array($0)
        }
        let expected: [SetupStep.Kind] = [.bot, .timeZone, .profile, .start]
        for (part, kind) in zip(parts, expected) {
            let ending = try await stage.type(["setup", "--token"], part)
            #expect(ending.status == 78, "\(ending.error)")
            try await expect(open(stage.status().setup).first, equals: kind)
            let next = try #require(try await stage.status().setup?.first { !$0.isDone })
            #expect(
                ending.error.hasSuffix(
                    "error: nothing was entered; the setup is not finished; \(next.next); mirror-bot setup goes on there\n"
                ), "\(ending.error)")
        }
        let last = try await stage.type(
            ["setup", "--token"], [("Look at", "n"), ("Start now?", "n")])
        #expect(last.status == 0, "\(last.error)")
        await sandbox.stop()
    }

    @Test func whatCannotBeUsedIsSaidAndAskedAgain() async throws {
        let sandbox = try await SetupPast.sandbox()
        let gone = try await SetupPast.sandbox()
        await gone.stop()
        let answers: [Answer] = [
            ("Network or path", "myspace"), ("Network or path", "\u{1B}[A"),
            ("Network or path", "mastodon"),
            ("Server of the human's account", ""),
            ("Server of the human's account", "no server at all"),
            ("Server of the human's account", gone.url), ("Access token: ", ""),
            ("Access token: ", "a-token"),
            ("Server of the human's account [\(gone.url)]: ", sandbox.url),
            ("Access token: ", "wrong-token"),
            ("Access token: ", sandbox.humanToken), ("Network [mastodon]: ", "/etc/hostname"),
            ("Network [mastodon]: ", ""),
            ("Server of the bot's account", sandbox.url), ("Access token: ", sandbox.humanToken),
            ("Network [mastodon]: ", ""), ("Server of the bot's account", sandbox.url),
            ("Access token: ", sandbox.botToken), ("Time zone", "Mars/One"), ("Time zone", "UTC"),
            ("Write this", "perhaps"), ("Write this", "n"), ("Look at", "n"), ("Start now?", "n"),
        ]
        let ending = try await stage.type(["setup", "--token"], answers)
        #expect(ending.status == 0, "\(ending.error)")
        for message in [
            "\"myspace\" is neither a network nor a file; expected mastodon, x, bluesky or a path",
            "the answer holds a control character", "an answer is needed; Ctrl-C ends",
            "the server is not of the form",
            "error: could not", "\"/etc/hostname\" is no network; expected mastodon, x, bluesky",
            "error: TIME_ZONE is \"Mars/One\"", "\"perhaps\" is neither y nor n",
            "The profile stays as it is",
        ] { #expect(ending.error.contains(message), "\(message) is missing in \(ending.error)") }
        #expect(!ending.error.contains("wrong-token"))
        await sandbox.stop()
    }

    /// Where the locale says so, the set-up speaks Japanese: its steps, its questions, and what is
    /// wrong with an answer.
    @Test func aJapaneseTerminalIsSpokenToInJapanese() async throws {
        let sandbox = try await SetupPast.sandbox()
        let locale = ["LANG": "ja_JP.UTF-8", "COLUMNS": "300"]
        let ending = try await stage.type(
            ["setup", "--token"],
            [
                ("ネットワークまたはパス [mastodon]：", "myspace"), ("ネットワークまたはパス [mastodon]：", ""),
                ("本人のアカウントのサーバー", sandbox.url), ("アクセストークン：", ""),
                ("アクセストークン：", sandbox.humanToken),
            ], environment: locale)
        #expect(ending.status == 78, "\(ending.error)")
        for sentence in [
            "  ○ 本人のアカウント、またはアーカイブ\n", "\n1/", "：本人のアカウント、またはアーカイブ\n",
            "「myspace」はネットワークでもファイルでもありません。mastodon、x、blueskyのいずれか、またはパスを入力してください\n",
            "答えが必要です。Ctrl-Cで終わります\n", "ネットワーク [mastodon]：\nエラー：何も入力されませんでした。準備はまだ終わっていません。",
            "続きは mirror-bot setup で再開できます\n",
        ] { #expect(ending.error.contains(sentence), "\(sentence) is missing in \(ending.error)") }
        #expect(
            ending.output == "ミラーdefaultの本人はMastodonの@haruka@sandbox.exampleです\n",
            "\(ending.output)")
        #expect(JapaneseScreen.foreignWords(in: ending.output + ending.error).isEmpty)
        let english = try await stage.type(
            ["setup", "--token"], [], environment: ["LANG": "ja_JP.UTF-8", "LC_CTYPE": "C"])
        #expect(
            english.error.contains("These steps lead to the first post."),
            "a terminal without Unicode shows no Japanese: \(english.error)")
        await sandbox.stop()
    }

    /// Friendica does not give out what its people wrote; WordPress takes a profile and keeps
    /// nothing of it.
    @Test func aProfileThatNoProgramCanWriteIsWrittenByHand() async throws {
        let friendica = try await SetupPast.sandbox()
        friendica.faults.mastodon = .friendica
        let printed = try await stage.type(
            ["setup", "--token"],
            Self.accounts(friendica) + [
                ("Time zone", "UTC"), ("Look at", "n"), ("Start now?", "n"),
            ])
        #expect(printed.status == 0, "\(printed.error)")
        #expect(printed.output.contains("paste this line into its profile"))
        try await expect(open(stage.status().setup), equals: [.start])
        await friendica.stop()
    }

    /// Another try is offered only where it may end otherwise.
    @Test(arguments: [true, false]) func aStepThatCannotBeDoneIsLeft(isByHand: Bool) async throws {
        let sandbox = try await SetupPast.sandbox()
        // A server that takes a profile and keeps nothing of it.
        sandbox.faults.mastodon.dropsProfiles = true
        let ending = try await stage.type(
            ["setup", "--token"],
            Self.accounts(sandbox) + [
                ("Time zone", "UTC"), ("Write this", "y"),
                ("Is it done by hand?", isByHand ? "y" : "n"),
                ("Look at", "n"), ("Start now?", "n"),
            ])
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.error.contains("write it into the profile by hand"))
        #expect(!ending.error.contains("Try again?"))
        try await expect(
            open(stage.status().setup), equals: isByHand ? [.start] : [.profile, .start])
        await sandbox.stop()
    }

    @Test func humanAndBotMayLiveOnDifferentNetworks() async throws {
        let sandbox = try await SetupPast.sandbox()
        let human = sandbox.blueskyLogin(.human)
        let bot = sandbox.blueskyLogin(.bot)
        let other = try await stage.type(
            ["setup", "--api-base-url", sandbox.url, "--token"],
            [
                ("Network or path", "bluesky"), ("Handle of the human's account", human.handle),
                ("App password (Enter", ""),
                ("Network [bluesky]: ", "mastodon"), ("Server of the bot's account", sandbox.url),
                ("Access token: ", sandbox.botToken), ("Time zone", "UTC"), ("Write this", "y"),
                ("Look at", "n"),
                ("Start now?", "n"),
            ])
        #expect(other.status == 0, "\(other.error)")
        try await expect(stage.status().accounts.map(\.network), equals: [.bluesky, .mastodon])
        let second = try await stage.type(
            ["setup", "--mirror", "second", "--api-base-url", sandbox.url, "--token"],
            [
                ("Network or path", "mastodon"), ("Server of the human's account", sandbox.url),
                ("Access token: ", sandbox.humanToken), ("Network [mastodon]: ", "bluesky"),
                ("Handle of the bot's account", bot.handle), ("App password: ", bot.appPassword),
                ("Time zone", "UTC"),
                ("Write this", "y"), ("Look at", "n"), ("Start now?", "n"),
            ])
        #expect(second.status == 0, "\(second.error)")
        #expect(second.output.contains("mirror-bot run --mirror second starts the work"))
        #expect(second.error.contains("https://bsky.app/settings/app-passwords"))
        await sandbox.stop()
    }

    /// Nobody can be asked whether the posts of an archive alone are still there: a person decides.
    @Test(arguments: [("", "no"), ("y", "yes")])
    func anArchiveIsEnoughOfAHuman(answer: String, setting: String) async throws {
        let sandbox = try await SetupPast.sandbox()
        let stage = try Stage(["TRUST_ARCHIVE": ""])
        let archive = try Fixture.xArchive(in: stage.folder, withLikes: false)
        let ending = try await stage.type(
            ["setup", "--token"],
            [
                ("Network or path", archive), ("Network [mastodon]: ", ""),
                ("Server of the bot's account", sandbox.url),
                ("Access token: ", sandbox.botToken),
                ("whether they are still there? [y/N] ", answer),
                ("Time zone", "UTC"), ("Path of one (Enter", ""), ("Look at", "n"),
                ("Start now?", "n"),
            ])
        #expect(ending.status == 0, "\(ending.error)")
        try await expect(stage.run("set").output) { $0.contains("TRUST_ARCHIVE=\(setting)\n") }
        // Whoever decided is not asked again, and status goes on telling.
        try await expect(stage.run("status").output) {
            $0.contains("nobody can be asked whether the posts of the archive are still there")
                == (setting == "no")
        }
        #expect(ending.error.contains("The archive does not hold what the human favorited."))
        try await expect(stage.run("set").output) { $0.contains("FAVORITE_MODE=off\n") }
        await sandbox.stop()
    }

    /// Who has no login of the human is asked who agreed; who does not say it sends nothing.
    @Test(arguments: [("heirs", "this person has died and I act for the heirs"), ("", nil)])
    func whoAgreedIsAskedForInOneLine(_ answer: String, _ wording: String?) async throws {
        let sandbox = try await SetupPast.sandbox()
        let stage = try Stage(["HUMAN_CONSENT": ""])
        let archive = try Fixture.xArchive(in: stage.folder, withLikes: false)
        let isMemorial = answer == "heirs"
        let memorial = isMemorial ? [("Is the mirror a memorial?", "")] : []
        // A memorial favorites nothing.
        let favorites = isMemorial ? [] : [("Path of one (Enter", "")]
        let ending = try await stage.type(
            ["setup", "--token"],
            [
                ("Network or path", archive),
                (
                    "Who agreed? self (I am this person), agreed (this person agreed in writing), heirs",
                    answer
                ),
            ] + memorial + [
                ("Network [mastodon]: ", ""), ("Server of the bot's account", sandbox.url),
                ("Access token: ", sandbox.botToken), ("Time zone", "UTC"),
            ] + favorites + [("Look at", "n"), ("Start now?", "n")])
        #expect(ending.status == 0, "\(ending.error)")
        let status = try await stage.status()
        #expect(status.consent?.wording == wording)
        try await expect(stage.run("set").output) { $0.contains("MEMORIAL=yes\n") == isMemorial }
        let steps = try #require(status.setup)
        #expect(steps.first { $0.kind == .consent }?.isDone == (wording != nil))
        #expect(status.obstacles?.contains { $0.code == .noConsent } == (wording == nil))
        await sandbox.stop()
    }

    /// The same of a script, and of a headless host.
    @Test(arguments: [["--consent", "self"], []]) func aScriptSaysWhoAgreed(_ words: [String])
        async throws
    {
        let stage = try Stage(["HUMAN_CONSENT": words.isEmpty ? "self" : ""])
        let archive = try Fixture.xArchive(in: stage.folder, withLikes: false)
        let all = ["setup", "--archive", archive, "--no-favorites", "--time-zone", "UTC"]
        _ = try await stage.run(words: all + words)
        let steps = try #require(try await stage.status().setup)
        #expect(steps.first { $0.kind == .consent }?.isDone == true)
        let wrong = try await stage.run("setup", "--consent", "yes")
        #expect(wrong.status == 64)
        #expect(
            wrong.error.contains("\"yes\" is no statement; expected one of self, agreed, heirs"))
    }

    // MARK: In a script

    /// The checklist names a command for each open step, and nothing is made.
    @Test(arguments: [[], ["--yes"], ["--network", "bluesky"], ["--start"]])
    func withoutATerminalWhatIsMissingIsListed(_ words: [String]) async throws {
        let ending = try await stage.run(words: ["setup"] + words, input: "mastodon\n")
        #expect(ending.status == 78)
        let network = words.last == "bluesky" ? "bluesky" : "mastodon"
        for command in [
            "login \(network) --as human", "login \(network) --as bot", "train scheduler",
            "set TIME_ZONE=ZONE",
            "train classifier", "run",
        ] {
            #expect(
                ending.output.contains("\n    → mirror-bot \(command)\n"),
                "\(command): \(ending.output)")
        }
        #expect(
            ending.error == """
                error: the setup is not finished; next is the human's account, or an archive of theirs: mirror-bot login \
                \(network) --as human; mirror-bot setup leads through all steps

                """)
        #expect(!FileManager.default.fileExists(atPath: stage.home))
        if words.isEmpty {
            let status = try await stage.run("status")
            expect(status.output) {
                $0.hasSuffix(
                    "before it works\n  → mirror-bot setup leads through these steps:\n"
                        + ending.output + "\n")
            }
        }
    }

    @Test(arguments: [NetworkName.mastodon, .bluesky]) func optionsAreAnswers(
        _ network: NetworkName
    ) async throws {
        let sandbox = try await SetupPast.sandbox()
        var words = ["setup", "--network", network.rawValue, "--time-zone", "Asia/Tokyo", "--yes"]
        if network == .bluesky {
            let bot = try stage.folder.write(
                Data(sandbox.blueskyLogin(.bot).appPassword.utf8), to: "bot")
            words += [
                "--human-handle", sandbox.blueskyLogin(.human).handle, "--api-base-url",
                sandbox.url,
            ]
            words += ["--bot-handle", sandbox.blueskyLogin(.bot).handle, "--bot-token-file", bot]
        } else {
            let human = try stage.folder.write(Data((sandbox.humanToken + "\n").utf8), to: "human")
            let bot = try stage.folder.write(Data(sandbox.botToken.utf8), to: "bot")
            words += [
                "--server", sandbox.url, "--human-token-file", human, "--bot-token-file", bot,
            ]
        }
        let ending = try await stage.run(words: words)
        #expect(ending.status == 0, "\(ending.error)")
        #expect(
            ending.output.hasSuffix(
                "set up; mirror-bot run starts the work, mirror-bot status shows how it is\n"))
        #expect(
            !ending.error.contains(": \n") && !ending.error.contains("["),
            "it asked: \(ending.error)")
        try await expect(open(stage.status().setup), equals: [.start])
        await sandbox.stop()
    }

    @Test func xIsSetUpFromVariables() async throws {
        let sandbox = try await SetupPast.sandbox()
        var settings = sandbox.settings(of: .human, on: .x).merging(
            sandbox.settings(of: .bot, on: .x)
        ) { $1 }
        settings["NETWORK"] = "x"
        settings["X_ACKNOWLEDGE_POLICY"] = ""
        let missing = try await stage.run("setup", "--time-zone", "UTC", environment: settings)
        #expect(missing.status == 78)
        #expect(
            missing.output.contains("\n    → mirror-bot set X_ACKNOWLEDGE_POLICY=yes\n"),
            "\(missing.output)")
        #expect(
            missing.output.contains("\n    → mirror-bot train scheduler\n"),
            "reading was paid for unasked")
        let ending = try await stage.run(
            "setup", "--acknowledge-policy", "--yes", environment: settings)
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.contains("paste this line into its profile"))
        try await expect(open(stage.status(settings).setup), equals: [.start])
        await sandbox.stop()
    }

    @Test func anOptionThatDoesNotWorkIsSaid() async throws {
        let sandbox = try await SetupPast.sandbox()
        let wrong = try stage.folder.write(Data("wrong-token".utf8), to: "wrong")
        let ending = try await stage.run(
            "setup", "--network", "mastodon", "--server", sandbox.url, "--human-token-file", wrong,
            "--bot-token-file",
            "/nowhere")
        #expect(ending.status == 78)
        #expect(ending.error.contains("error: could not log in"), "\(ending.error)")
        #expect(ending.error.contains("error: --token-file /nowhere does not exist\n"))
        #expect(!ending.error.contains("wrong-token"))
        await sandbox.stop()
    }

    // MARK: To the first post

    /// The built program at a terminal: pages in a browser, keys that nobody sees, and a start from
    /// within.
    @Test(arguments: [NetworkName.mastodon, .x, .bluesky])
    func anEmptyHomeLeadsToTheFirstPost(_ network: NetworkName) async throws {
        // 2026-05-28, 09:00.
        let begin = Date(timeIntervalSince1970: 1_779_958_800)
        let rehearsal = Rehearsal.Settings(origin: begin, started: Date(), factor: 300)
        let clock = AcceleratedClock(
            origin: rehearsal.origin, started: rehearsal.started, factor: rehearsal.factor)
        let sandbox = try await SetupPast.sandbox(at: begin) { clock.now }
        let stage = try Stage(rehearsal.variables.merging(["MIN_AGE_DAYS": "0"]) { $1 })
        let terminal = try PseudoTerminal()
        let program = try stage.start(
            ["setup", "--network", network.rawValue, "--api-base-url", sandbox.url],
            replacing: [0: terminal.inner])
        let person = Typist(program: program, terminal: terminal, sandbox: sandbox)
        for role in SandboxRole.allCases { try await person.logIn(role, on: network) }
        if network == .x {
            try await person.answer("and agree? [y/N] ", "y")
            try await person.answer("Read it now? [Y/n] ", "")
        }
        try await person.answer("Time zone", "UTC")
        if network == .x { try await person.answer("Read it now? [Y/n] ", "") }
        if network != .x { try await person.answer("Write this", "y") }
        try await person.answer("Look at", "n")
        try await person.answer("Start now?", "")
        try await person.answer("Enter none: ", "s")
        try await program.waitForError("Worker started")
        try await program.waitForFirstPost()
        program.send(SIGINT)
        let ending = await program.ending()
        #expect(ending.status == 0, "\(ending.error)")
        await expect(sandbox.ledger.deliveries) { !$0.isEmpty }
        await sandbox.stop()
    }
}

/// What a set-up in Japanese prints.
enum JapaneseScreen {
    /// What is the same in each language: names, what a person types, and keys.
    private static let names: Set<String> = [
        "mastodon", "Mastodon", "x", "X", "bluesky", "Bluesky", "mirror-bot", "default",
        "myspace", "human", "HOST", "https", "Ctrl-C", "IANA",
    ]

    /// The words of another script that are no name, command, setting or address.
    static func foreignWords(in text: String) -> [String] {
        let sentences =
            text
            .replacing(/https?:\/\/[!-~]+/, with: "")
            .replacing(/mirror-bot(?: [a-z]+| --[a-z-]+)+/, with: "")
            .replacing(/@[!-~]+/, with: "")
            .replacing(/[A-Z]+(?:_[A-Z]+)+/, with: "")
        return sentences.matches(of: /[A-Za-z][A-Za-z-]*/).map { String($0.output) }
            .filter { !names.contains($0) }
    }
}

/// A human who posted each half hour of some weeks.
enum SetupPast {
    /// The hour that has begun.
    static let now = Date(
        timeIntervalSince1970: (Date().timeIntervalSince1970 / 3_600).rounded(.down) * 3_600)

    /// - Parameters:
    ///   - begin: When the last of the posts is a day old.
    ///   - now: Reads the sandbox's clock.
    static func sandbox(
        at begin: Date = Self.now, now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> Sandbox {
        let posts = (0..<480).map { number in
            Post(
                id: PostID(network: .mastodon, value: "https://\(SamplePeople.host)/\(number)"),
                author: AccountID(network: .mastodon, value: SamplePeople.human.handle),
                text: "Thought number \(number) of a calm person.",
                createdAt: begin - 86_400 - Double(480 - number) * 1_800)
        }
        let world = SandboxWorld(
            configuration: .init(
                seed: 7, origin: begin - 3_600, days: 2, timeZone: .gmt, humanPosts: posts))
        return try await Sandbox.start(world: world, now: now)
    }
}

/// A person at the terminal of the built program, with a browser.
private struct Typist {
    let program: RunningProgram
    let terminal: PseudoTerminal
    let sandbox: Sandbox

    /// Answers the next question that ends so.
    func answer(_ prompt: String, _ answer: String) async throws {
        try await program.waitForQuestion(prompt)
        try terminal.type(answer + "\n")
    }

    func logIn(_ role: SandboxRole, on network: NetworkName) async throws {
        switch network {
        case .mastodon:
            try await answer(
                "Server of the \(role.rawValue)'s account (https://HOST): ", sandbox.url)
            try await answerFromPage("Code: ", "&as=\(role.rawValue)")
        case .x:
            let keys = sandbox.xKeys(role)
            let name = role == .human ? sandbox.world.humanHandle : sandbox.world.botHandle
            try await answer(
                role == .human
                    ? "API key of your app: "
                    : "API key of your app (Enter for the other account's app): ",
                keys.consumerKey)
            try await answer("API key secret: ", keys.consumerSecret)
            try await answerFromPage(
                "PIN: ", "&screen_name=\(name.split(separator: "@").first ?? "")")
        default:
            let login = sandbox.blueskyLogin(role)
            try await answer(
                "Handle of the \(role.rawValue)'s account (name.bsky.social): ", login.handle)
            try await answer(
                role == .human
                    ? "App password (Enter for none, which is enough): " : "App password: ",
                login.appPassword)
        }
    }

    private func answerFromPage(_ prompt: String, _ query: String) async throws {
        try await program.waitForQuestion(prompt)
        let address = try #require(
            program.errorSoFar.split(whereSeparator: \.isWhitespace).last {
                $0.hasPrefix(sandbox.url)
            })
        try terminal.type(try await BrowsedPage.code(at: String(address) + query) + "\n")
    }
}
