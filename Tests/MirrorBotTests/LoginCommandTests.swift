import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Sandbox
import Settings
import TestSupport
import Testing

/// `mirror-bot login` and `mirror-bot logout`, by a person at a terminal.
@Suite(.timeLimit(.minutes(30))) struct LoginCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test(arguments: SandboxRole.allCases) func mastodonGivesACode(role: SandboxRole) async throws {
        let sandbox = try await Sandbox.live()
        let ending = try await logIn("mastodon", role, at: sandbox, ["--server", sandbox.url])
        #expect(ending.status == 0)
        let name = role == .human ? sandbox.world.humanHandle : sandbox.world.botHandle
        #expect(ending.output == "the \(role.rawValue) of mirror default is @\(name) on Mastodon\n")
        let account = try #require(
            try await stage.status().accounts.first { $0.role.rawValue == role.rawValue })
        #expect(account.credentials == .login)
        #expect(account.handle == name)
        await sandbox.stop()
    }

    /// Questions, warnings and the next step go elsewhere, so that one document is left.
    @Test(arguments: [true, false]) func aLoginIsToldToPrograms(isPrinted: Bool) async throws {
        struct Answer: Decodable {
            struct Variable: Decodable { let name, value: String }
            let schema, mirror, role, network, account, handle: String
            let isKept: Bool
            let variables: [Variable]
            let warnings: [String]
        }
        let sandbox = try await Sandbox.live()
        let flags = ["--server", sandbox.url, "--json"] + (isPrinted ? ["--print"] : [])
        let ending = try await logIn("mastodon", .bot, at: sandbox, flags)
        #expect(ending.status == 0, "\(ending.error)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let answer = try decoder.decode(Answer.self, from: Data(ending.output.utf8))
        #expect(answer.schema == "mirror-bot/login/1")
        #expect(answer.handle == sandbox.world.botHandle)
        #expect(answer.role == "bot" && answer.network == "mastodon" && answer.mirror == "default")
        #expect(answer.isKept == !isPrinted)
        #expect(answer.variables.map(\.name).contains("BOT_ACCESS_TOKEN") == isPrinted)
        if !isPrinted {
            let out = try await stage.run("logout", "--as", "bot", "--json")
            #expect(out.output.contains(#""was_kept" : true"#))
            try await expect(stage.run("logout", "--as", "bot", "--json").output) {
                $0.contains(#""was_kept" : false"#)
            }
        }
        await sandbox.stop()
    }

    /// A token that is not kept is given back.
    @Test func aLoginThatIsRefusedLeavesNoToken() async throws {
        let sandbox = try await Sandbox.live()
        let words = ["--server", sandbox.url]
        try await expect(logIn("mastodon", .bot, at: sandbox, words).status, equals: 0)
        let revoked = Promise<Void>()
        sandbox.faults.failNext(
            .drip(bytesPerSecond: 1_000_000), method: "POST", path: "/oauth/revoke"
        ) { _ in revoked.fulfill(()) }
        let again = try await logIn("mastodon", .bot, at: sandbox, words)
        #expect(again.status == 0)
        #expect(!revoked.isFulfilled)
        // An account that has worked does not give way to another one.
        try await stage.withMirror { _ = try await $0.table.activate(now: Date()) }
        let other = try await logIn("mastodon", .bot, at: sandbox, words, browsing: .human)
        #expect(other.status == 78, "\(other.error)")
        #expect(other.error.contains("this mirror belongs to"), "\(other.error)")
        #expect(!other.error.contains("could not be revoked"), "\(other.error)")
        #expect(revoked.isFulfilled)
        await sandbox.stop()
    }

    /// So is one that allows too little.
    @Test func aLoginThatAllowsTooLittleLeavesNoToken() async throws {
        let sandbox = try await Sandbox.live()
        sandbox.faults.mastodon.grantsWhatWasAllowed = true
        let revoked = Promise<Void>()
        sandbox.faults.failNext(
            .drip(bytesPerSecond: 1_000_000), method: "POST", path: "/oauth/revoke"
        ) { _ in revoked.fulfill(()) }
        let ending = try await logIn(
            "mastodon", .bot, at: sandbox, ["--server", sandbox.url], without: "write:statuses")
        #expect(ending.status == 77, "\(ending.error)")
        #expect(
            ending.error.contains(
                "error: the bot's token lacks write:statuses; nothing was changed; log in again"))
        #expect(!ending.error.contains("could not be revoked"), "\(ending.error)")
        #expect(revoked.isFulfilled)
        try await expect(stage.status().accounts) { $0.allSatisfy { $0.credentials == nil } }
        await sandbox.stop()
    }

    /// Nobody would see what the bot posts there, or more people than it is meant for.
    @Test func aServerThatLosesVisibilityIsRefusedForTheBot() async throws {
        let sandbox = try await Sandbox.live()
        sandbox.faults.mastodon = .wordpress
        let ending = try await logIn("mastodon", .bot, at: sandbox, ["--server", sandbox.url])
        #expect(ending.status == 78, "\(ending.error)")
        #expect(ending.error.contains("WordPress"), "\(ending.error)")
        #expect(
            ending.error.contains("use an account of another server for the bot"), "\(ending.error)"
        )
        await sandbox.stop()
    }

    @Test func xGivesAPIN() async throws {
        let sandbox = try await Sandbox.live()
        let keys = sandbox.xKeys(.bot)
        let ending = try await logIn(
            "x", .bot, at: sandbox, ["--api-base-url", sandbox.url],
            first: [keys.consumerKey + "\n", keys.consumerSecret + "\n"])
        #expect(ending.status == 0)
        #expect(ending.output == "the bot of mirror default is @mirror on X\n")
        #expect(ending.error.contains("X_ACKNOWLEDGE_POLICY=yes"))
        #expect(!ending.error.contains(keys.consumerSecret))
        await sandbox.stop()
    }

    @Test func blueskyTakesAnAppPasswordAndDoesNotShowIt() async throws {
        let sandbox = try await Sandbox.live()
        let login = sandbox.blueskyLogin(.bot)
        let terminal = try PseudoTerminal()
        let program = try stage.start(
            [
                "login", "bluesky", "--as", "bot", "--handle", login.handle, "--api-base-url",
                sandbox.url,
            ],
            replacing: [0: terminal.inner])
        try await program.waitForError("App password")
        try terminal.type(login.appPassword + "\n")
        let ending = await program.ending()
        #expect(ending.status == 0)
        #expect(ending.output.contains("is @\(login.handle) on Bluesky"))
        #expect(!terminal.shown().contains(login.appPassword))
        #expect(!ending.error.contains(login.appPassword))
        await sandbox.stop()
    }

    /// The person's shell would not show what they type next.
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
    func aSignalAtAHiddenQuestionShowsAgainWhatIsTyped(_ signal: Int32) async throws {
        let terminal = try PseudoTerminal()
        let program = try stage.start(
            ["login", "bluesky", "--as", "bot", "--handle", "a.example"],
            replacing: [0: terminal.inner])
        try await program.waitForError("App password")
        #expect(!terminal.hasEcho)
        try terminal.type("half a secret")
        program.send(signal)
        let ending = await program.ending()
        #expect(ending.status == 128 + signal)
        #expect(terminal.hasEcho)
        #expect(ending.error.hasSuffix("\n"))
        #expect(!terminal.shown().contains("secret"))
    }

    /// Ctrl-C and Ctrl-\\ are read as keys there.
    @Test(arguments: ["\u{3}", "\u{1C}"])
    func aKeyThatInterruptsAHiddenQuestionShowsAgainWhatIsTyped(_ key: String) async throws {
        let terminal = try PseudoTerminal()
        let program = try stage.start(
            ["login", "bluesky", "--as", "bot", "--handle", "a.example"],
            replacing: [0: terminal.inner])
        try await program.waitForError("App password")
        try terminal.type("half a secret" + key)
        let ending = await program.ending()
        #expect(ending.status == 64)
        #expect(ending.error.contains("error: interrupted; nothing was changed"))
        #expect(terminal.hasEcho)
    }

    @Test func theHumanOnBlueskyNeedsNoPassword() async throws {
        let sandbox = try await Sandbox.live()
        let ending = try await stage.run(
            "login", "bluesky", "--as", "human", "--handle", sandbox.blueskyLogin(.human).handle,
            "--api-base-url",
            sandbox.url, input: "\n")
        #expect(ending.status == 0)
        let trained = try await stage.run("train", "scheduler", environment: ["TIME_ZONE": "UTC"])
        #expect(trained.status == 0)
        try await expect(stage.status().archive.posts) { $0 > 0 }
        await sandbox.stop()
    }

    @Test func aKeptLoginIsEnoughToRun() async throws {
        let sandbox = try await Sandbox.live()
        let token = try await stage.run(
            "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token",
            input: sandbox.botToken + "\n")
        #expect(token.status == 0)
        try await expect(
            stage.run("run", "--once", environment: ["TIME_ZONE": "UTC"]).status, equals: 0)
        // Nothing of it lies open.
        for (path, data) in try stage.files() {
            #expect(data.range(of: Data(sandbox.botToken.utf8)) == nil, "\(path)")
        }
        try await expect(stage.run("logout", "--as", "bot").output) {
            $0.hasPrefix("forgot the bot's login; ")
        }
        let again = try await stage.run("logout", "--as", "bot")
        #expect(again.status == 0)
        #expect(again.output == "nothing to do: mirror default keeps no login of the bot\n")
        try await expect(
            stage.run("run", "--once", environment: ["TIME_ZONE": "UTC"]).status, equals: 78)
        await sandbox.stop()
    }

    @Test func aTokenThatCanWriteIsTooMuchForTheHuman() async throws {
        let sandbox = try await Sandbox.live()
        let ending = try await stage.run(
            "login", "mastodon", "--as", "human", "--server", sandbox.url, "--token",
            input: sandbox.botToken + "\n")
        #expect(ending.status == 0)
        #expect(ending.error.contains("warning: the human's token can write"))
        await sandbox.stop()
    }

    @Test func aTokenThatCannotWriteIsTooLittleForTheBot() async throws {
        let sandbox = try await Sandbox.live()
        let ending = try await stage.run(
            "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token",
            input: sandbox.humanToken + "\n")
        #expect(ending.status == 77)
        #expect(ending.output.isEmpty)
        #expect(
            ending.error.contains(
                "error: the bot's token lacks read:notifications, write:statuses; "))
        #expect(
            ending.error.contains(
                "; make a token with the scopes read and write in the server's settings"))
        try await expect(stage.status().accounts) { $0.allSatisfy { $0.credentials == nil } }
        await sandbox.stop()
    }

    @Test func printingKeepsNothing() async throws {
        let sandbox = try await Sandbox.live()
        let ending = try await stage.run(
            "login", "mastodon", "--as", "human", "--server", sandbox.url, "--token", "--print",
            input: sandbox.humanToken + "\n")
        #expect(ending.status == 0)
        let lines = Set(ending.output.split(separator: "\n").map(String.init))
        #expect(
            lines.isSuperset(of: [
                "HUMAN_SERVER=\(sandbox.url)", "HUMAN_ACCESS_TOKEN=\(sandbox.humanToken)",
            ]))
        try await expect(
            stage.run("run", "--once", environment: ["TIME_ZONE": "UTC"]).status, equals: 78)
        // Not even whose mirror this is.
        try await expect(stage.status().human, equals: nil)
        let environment = Dictionary(
            uniqueKeysWithValues: lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
                return (parts[0], parts[1])
            })
        let trained = try await stage.run(
            "train", "scheduler", environment: environment.merging(["TIME_ZONE": "UTC"]) { $1 })
        #expect(trained.status == 0)
        await sandbox.stop()
    }

    @Test func loggingInAgainMendsALoginThatDoesNotOpen() async throws {
        let sandbox = try await Sandbox.live()
        for key in ["a", "b"] {
            let ending = try await stage.run(
                "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token",
                environment: ["SECRET_KEY": String(repeating: key, count: 40)],
                input: sandbox.botToken + "\n")
            #expect(ending.status == 0)
        }
        await sandbox.stop()
    }

    @Test func settingsThatWinOverALoginAreNamed() async throws {
        let sandbox = try await Sandbox.live()
        let ending = try await stage.run(
            "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token",
            environment: ["BOT_ACCESS_TOKEN": "planted"], input: sandbox.botToken + "\n")
        #expect(ending.status == 0)
        #expect(
            ending.error.contains("warning: BOT_ACCESS_TOKEN is set, and settings win over a login")
        )
        #expect(!ending.error.contains("planted"))
        await sandbox.stop()
    }

    @Test func nothingIsKeptOnADiskThatIsForgotten() async throws {
        let ending = try await stage.run(
            "login", "bluesky", "--as", "human", "--handle", "a.example",
            environment: ["DYNO": "run.1"], input: "\n")
        #expect(ending.status == 78)
        #expect(
            ending.error.contains("DATABASE_URL is not set, and a dyno's disk is forgotten daily"))
    }

    @Test func theSettingsSayWhereToLogIn() async throws {
        let sandbox = try await Sandbox.live()
        let login = sandbox.blueskyLogin(.human)
        let ending = try await stage.run(
            "login", "bluesky", "--as", "human", "--handle", "@" + login.handle.uppercased(),
            environment: ["HUMAN_API_BASE_URL": sandbox.url], input: "\n")
        #expect(ending.status == 0)
        #expect(ending.output.contains("is @\(login.handle) on Bluesky"))
        await sandbox.stop()
    }

    @Test func humanAndBotAreTwoAccounts() async throws {
        let sandbox = try await Sandbox.live()
        let first = try await stage.run(
            "login", "mastodon", "--as", "bot", "--server", sandbox.url, "--token",
            input: sandbox.botToken + "\n")
        #expect(first.status == 0)
        let second = try await stage.run(
            "login", "mastodon", "--as", "human", "--server", sandbox.url, "--token",
            input: sandbox.botToken + "\n")
        #expect(second.status == 78)
        #expect(second.error.contains("belongs to the bot's own account"))
        await sandbox.stop()
    }

    @Test(arguments: ["mastodon", "x"]) func aWrongCodeIsRefused(network: String) async throws {
        let sandbox = try await Sandbox.live()
        let keys = sandbox.xKeys(.bot)
        let input =
            network == "x"
            ? "\(keys.consumerKey)\n\(keys.consumerSecret)\n1234567\n" : "wrong-code\n"
        let place = network == "x" ? "--api-base-url" : "--server"
        let ending = try await stage.run(
            "login", network, "--as", "bot", place, sandbox.url, input: input)
        #expect(ending.status == 77)
        #expect(ending.error.contains("error: could not log in"))
        #expect(!ending.error.contains("1234567"))
        #expect(!ending.error.contains("wrong-code"))
        await sandbox.stop()
    }

    @Test(arguments: [
        (["login", "myspace", "--as", "bot"], "expected mastodon, x, bluesky"),
        (["login", "mastodon", "--as", "boss"], "expected human or bot"),
        (["logout", "--as", "boss"], "expected human or bot"),
        (
            ["login", "mastodon", "--as", "bot", "--server", "https://a:b@c.example"],
            "the server is not of the form"
        ),
        (["login", "bluesky", "--as", "bot", "--handle", "nobody"], "the handle is not a handle"),
        (
            ["login", "x", "--as", "bot", "--api-base-url", "ftp://a"],
            "--api-base-url is not of the form"
        ),
    ]) func wrongWordsAreExplained(words: [String], hint: String) async throws {
        let ending = try await stage.run(words: words)
        #expect(ending.status == 64)
        #expect(ending.error.contains(hint))
    }

    @Test func silenceChangesNothing() async throws {
        let ending = try await stage.run(
            "login", "bluesky", "--as", "bot", "--handle", "a.example", input: "")
        #expect(ending.status == 64)
        #expect(ending.error.hasSuffix("error: nothing was entered; nothing was changed\n"))
    }

    @Test func postgresNeedsAKeyForLogins() async throws {
        let server = try await PostgresServer.shared()
        let settings = ["DATABASE_URL": try await server.makeDatabase()]
        try await expect(stage.run("migrate", environment: settings).status, equals: 0)
        let ending = try await stage.run(
            "login", "mastodon", "--as", "bot", "--server", "https://social.example",
            environment: settings)
        #expect(ending.status == 78)
        #expect(ending.error.contains("SECRET_KEY"))
    }

    /// Answers the questions of a login, and opens the address that it shows as a browser would.
    ///
    /// - Parameter person: Who is logged in there, if not whom the login is for.
    private func logIn(
        _ network: String, _ role: SandboxRole, at sandbox: Sandbox, _ words: [String],
        first: [String] = [],
        browsing person: SandboxRole? = nil, without scope: String? = nil
    ) async throws -> Ending {
        let terminal = try PseudoTerminal()
        let program = try stage.start(
            ["login", network, "--as", role.rawValue] + words, replacing: [0: terminal.inner])
        for (prompt, answer) in zip(["API key of your app", "API key secret"], first) {
            try await program.waitForError(prompt)
            try terminal.type(answer)
        }
        try await program.waitForError(network == "x" ? "PIN: " : "Code: ")
        var address = String(
            try #require(
                program.errorSoFar.split(whereSeparator: \.isWhitespace).first {
                    $0.hasPrefix(sandbox.url)
                }))
        if let scope {
            // The person does not allow it.
            var parts = try #require(URLComponents(string: address))
            let index = try #require(parts.queryItems?.firstIndex { $0.name == "scope" })
            let asked = try #require(parts.queryItems?[index].value).split(separator: " ")
            parts.queryItems?[index].value = asked.filter { $0 != scope }.joined(separator: " ")
            address = try #require(parts.string)
        }
        let hint = network == "x" ? "" : "&as=\((person ?? role).rawValue)"
        try terminal.type(try await BrowsedPage.code(at: address + hint) + "\n")
        return await program.ending()
    }
}
