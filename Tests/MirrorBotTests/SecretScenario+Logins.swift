import Expectations
import Foundation
import Posts
import Sandbox
import TestSupport
import Testing
import Transport

/// Logging in: right and wrong answers, servers that repeat them, people who change their mind.
extension SecretScenario {
    static let logins = [
        SecretScenario("Mastodon: a code, then a life on the stored login") { stage in
            try await onSandbox(stage) { sandbox, tap in
                // The tokens run out so soon that each run asks for new ones, but not before it has
                // used them.
                sandbox.faults.mastodon.tokenLifetime = 5
                for role in SandboxRole.allCases {
                    try await expect(
                        logIn("mastodon", role, ["--server", tap.url], stage).status, equals: 0)
                }
                try await liveOnNewTokens(stage)
            }
        },
        SecretScenario("X: a PIN, then a life on the stored login") { stage in
            try await onSandbox(stage) { sandbox, tap in
                for role in SandboxRole.allCases {
                    let keys = sandbox.xKeys(role)
                    stage.book.add("consumer key", keys.consumerKey)
                    stage.book.add("consumer secret", keys.consumerSecret)
                    let ending = try await logIn(
                        "x", role, ["--api-base-url", tap.url], stage,
                        answers: [
                            ("API key of your app", keys.consumerKey),
                            ("API key secret", keys.consumerSecret),
                        ])
                    #expect(ending.status == 0, "\(ending.error)")
                }
                try await live(stage, ["X_ACKNOWLEDGE_POLICY": "yes"])
            }
        },
        SecretScenario("Bluesky: app passwords, then a life on the stored login") { stage in
            try await onSandbox(stage) { sandbox, tap in
                for role in SandboxRole.allCases {
                    let login = sandbox.blueskyLogin(role)
                    stage.book.add("app password", login.appPassword)
                    let words = [
                        "login", "bluesky", "--as", role.rawValue, "--handle", login.handle,
                    ]
                    try await stage.run(
                        words + ["--api-base-url", tap.url], input: login.appPassword + "\n",
                        ends: 0)
                }
                expireSession(on: sandbox)
                try await liveOnNewTokens(stage)
            }
        },
        SecretScenario("a login in Postgres, whose key changes") { stage in
            let servers = try await PlantedServers(stage.book)
            try await stage.run(["migrate"], servers.settings, ends: 0)
            try await onSandbox(stage) { sandbox, tap in
                stage.book.add("token", sandbox.botToken)
                let ending = try await stage.run(
                    ["login", "mastodon", "--as", "bot", "--server", tap.url, "--token"],
                    servers.settings,
                    input: sandbox.botToken + "\n")
                #expect(ending.status == 0, "\(ending.error)")
                try await stage.run(["run", "--once"], servers.settings, ends: 0)
                let other = servers.settings.merging(["SECRET_KEY": stage.book.plant("another key")]
                ) { $1 }
                try await stage.run(["run", "--once"], other, ends: 78)
                try await stage.run(["status"], other)
            }
            try await servers.keepContents(in: stage)
        },
        SecretScenario("wrong tokens, codes, PINs and passwords") { stage in
            try await onSandbox(stage) { sandbox, tap in
                let keys = sandbox.xKeys(.bot)
                stage.book.add("consumer key", keys.consumerKey)
                stage.book.add("consumer secret", keys.consumerSecret)
                for (words, input) in [
                    (
                        ["mastodon", "--server", tap.url, "--token"],
                        [stage.book.plant("wrong token")]
                    ),
                    (["mastodon", "--server", tap.url], [stage.book.plant("wrong code")]),
                    (
                        ["x", "--api-base-url", tap.url],
                        [keys.consumerKey, stage.book.plant("wrong secret")]
                    ),
                    (
                        ["x", "--api-base-url", tap.url],
                        [keys.consumerKey, keys.consumerSecret, stage.book.plant("wrong PIN")]
                    ),
                    (
                        [
                            "bluesky", "--api-base-url", tap.url, "--handle",
                            sandbox.blueskyLogin(.bot).handle,
                        ],
                        [stage.book.plant("wrong password")]
                    ),
                ] {
                    let ending = try await stage.run(
                        ["login", words[0], "--as", "bot"] + words.dropFirst(),
                        input: input.joined(separator: "\n") + "\n")
                    #expect(ending.status != 0, "\(words)")
                    #expect(ending.error.contains("error: "), "\(words)")
                }
            }
        },
        SecretScenario("servers that repeat what was typed") { stage in
            for status in [200, 302, 400, 401, 403, 422, 500] {
                let echo = SecretEcho(status: status)
                let tap = try SecretTap(stage.book, port: nil) { _ in echo.answer }
                for words in [
                    ["mastodon", "--server", tap.url, "--token"], ["x", "--api-base-url", tap.url],
                    ["bluesky", "--api-base-url", tap.url, "--handle", "bot.example.com"],
                ] {
                    let input = (0..<3).map { _ in stage.book.plant("typed") + "\n" }.joined()
                    try await stage.fail(
                        ["login", words[0], "--as", "bot"] + words.dropFirst(), input: input)
                }
                #expect(tap.count >= 3)
            }
        },
        SecretScenario("a token with a control character, and a person who leaves") { stage in
            try await onSandbox(stage) { _, tap in
                let wrong = stage.book.plant("token") + "\u{1B}[2J\n"
                let words = ["login", "mastodon", "--as", "bot", "--server", tap.url, "--token"]
                try await stage.run(words, input: wrong, ends: 64)
                for signal in [SIGINT, SIGTERM] {
                    let terminal = try PseudoTerminal()
                    let program = try stage.start(words, terminal: terminal)
                    try await program.waitForError("Access token: ")
                    try terminal.type(stage.book.plant("half a token"))
                    program.send(signal)
                    stage.keep(await program.ending(), of: words)
                    stage.keep("the terminal", terminal.shown())
                }
            }
        },
    ]

    private static func onSandbox(
        _ stage: SecretStage, _ body: (Sandbox, SecretTap) async throws -> Void
    ) async throws {
        let sandbox = try await Sandbox.live()
        try await body(sandbox, try SecretTap(stage.book, port: sandbox.port))
        await sandbox.stop()
    }

    /// Lets Bluesky say once that the access token has run out, which a session answers by asking
    /// for a new one.
    static func expireSession(on sandbox: Sandbox) {
        sandbox.faults.failNext(
            .answer(
                status: 400, contentType: "application/json",
                body: #"{"error":"ExpiredToken","message":"Token has expired"}"#, headers: [:]),
            path: "/xrpc/app.bsky.")
    }

    /// The same with tokens that are renewed meanwhile.
    private static func liveOnNewTokens(_ stage: SecretStage) async throws {
        let known = stage.book.all.count
        try await live(stage)
        // One more was planted there.
        #expect(stage.book.all.count > known + 2, "no token was renewed")
    }

    /// What follows a login: everything that uses it, and its end.
    private static func live(_ stage: SecretStage, _ environment: [String: String] = [:])
        async throws
    {
        for words in [
            ["train", "scheduler"], ["train", "classifier"], ["run", "--once"], ["run", "--once"],
        ] {
            let ending = try await stage.run(words, environment)
            #expect(ending.status == 0, "\(words): \(ending.error)")
        }
        try await stage.run(["run"], environment, until: "Worker started", ends: 0)
        try await stage.run(["status", "--json"], environment)
        let other = ["SECRET_KEY": stage.book.plant("a key that does not open the login")]
        try await stage.run(["run", "--once"], environment.merging(other) { $1 }, ends: 78)
        try await stage.run(["logout", "--as", "bot"], environment, ends: 0)
    }

    /// Answers the questions of a login at a terminal, and opens the address that it shows as a
    /// browser would.
    private static func logIn(
        _ network: String, _ role: SandboxRole, _ words: [String], _ stage: SecretStage,
        answers: [(prompt: String, answer: String)] = []
    ) async throws -> Ending {
        let terminal = try PseudoTerminal()
        let all = ["login", network, "--as", role.rawValue] + words
        let program = try stage.start(all, terminal: terminal)
        for (prompt, answer) in answers {
            // The human's application is the bot's, once that is known.
            try await program.waitForError(prompt)
            try terminal.type(answer + "\n")
        }
        try await program.waitForError(network == "x" ? "PIN: " : "Code: ")
        let address = try #require(
            program.errorSoFar.split(whereSeparator: \.isWhitespace).first {
                $0.hasPrefix("http://127.0.0.1")
            })
        let hint =
            switch (network, role) {
            case ("x", .human): "&screen_name=haruka"
            case ("x", _): ""
            default: "&as=\(role.rawValue)"
            }
        let page = try await page(String(address) + hint)
        let code = try #require(page.firstMatch(of: /<code>([^<]+)<\/code>/)).1
        stage.book.add("code", String(code))
        try terminal.type(code + "\n")
        let ending = await program.ending()
        stage.keep(ending, of: all)
        return ending
    }

    private static func page(_ address: String) async throws -> String {
        let client = HTTPClient(configuration: HTTPClientConfiguration(userAgent: "a browser"))
        defer { client.shutdown() }
        let response = try await client.send(HTTPRequest(method: .get, url: address))
        return String(decoding: response.body, as: UTF8.self)
    }
}
