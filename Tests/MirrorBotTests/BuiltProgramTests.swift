import ArgumentParser
import Control
import Expectations
import Foundation
import Mirroring
import Settings
import Testing
import Web

@testable import MirrorBot

/// Every command through the built program; other tests run commands in the process of the tests,
/// see ``Stage``.
@Suite(.timeLimit(.minutes(30))) struct BuiltProgramTests {
    /// The morning of a day whose plan has slots.
    private static let morning = Date(timeIntervalSince1970: 1_780_466_400)

    /// What the human posted before that morning: eight posts a day.
    private static let posts = (10..<40).flatMap { day in
        (0..<8).map { number in
            let time = morning - Double(day) * Fixture.day + Double(2 * number) * 3_600
            return Fixture.line("\(day)-\(number)", "Loaf \(number) of morning \(day)", at: time)
        }
    }.joined()

    /// A machine on which it is that morning, with a mirror that knows the posts.
    private static func stage(_ environment: [String: String] = [:]) async throws -> Stage {
        let rehearsal = Rehearsal.Settings(origin: morning, started: Date(), factor: 1)
        let stage = try Stage(
            rehearsal.variables.merging(["TIME_ZONE": "UTC"]) { $1 }.merging(environment) { $1 })
        try await stage.train(posts)
        return stage
    }

    /// The words after the program's name and the exit code, on a mirror with some posts and no
    /// account.
    ///
    /// A new command needs a line here.
    private static let calls: [(command: String, words: String, status: Int32)] = [
        ("backup", "backup copy.sqlite", 0),
        ("config", "config", 0),
        ("demo", "demo --from /nowhere.zip", 65),
        ("doctor", "doctor", 78),
        ("evaluate", "evaluate", 0),
        ("evaluate classifier", "evaluate classifier --prequential --test posts.jsonl", 65),
        ("evaluate scheduler", "evaluate scheduler --from posts.jsonl", 0),
        ("evaluate texts", "evaluate texts --from posts.jsonl", 0),
        ("explain", "explain next", 0),
        ("forget", "forget --word rain --yes", 0),
        ("forget list", "forget list", 0),
        ("forget text", "forget text --day 12-24 --yes", 0),
        ("history", "history", 0),
        ("login", "login bluesky --as human --handle not_one", 64),
        ("logout", "logout --as bot", 0),
        ("mcp", "mcp --mirror no-such-mirror", 78),
        ("migrate", "migrate", 0),
        ("mirrors", "mirrors", 0),
        ("mirrors add", "mirrors add another", 0),
        ("mirrors export", "mirrors export", 0),
        ("mirrors import", "mirrors import no-such-file", 65),
        ("mirrors list", "mirrors list", 0),
        ("mirrors pause", "mirrors pause no-such-mirror", 78),
        ("mirrors remove", "mirrors remove no-such-mirror --yes", 78),
        ("mirrors resume", "mirrors resume no-such-mirror", 78),
        ("move", "move --to other", 0),
        ("never", "never 20-0", 0),
        ("notify", "notify", 0),
        ("pause", "pause", 0),
        ("people", "people", 0),
        ("people allow", "people allow ann@pal.example", 0),
        ("people deny", "people deny ann@pal.example", 0),
        ("people forget", "people forget ann@pal.example --yes", 0),
        ("people link", "people link ann@pal.example mastodon:bea@pal.example", 0),
        ("people list", "people list", 0),
        ("people report", "people report ann@pal.example", 0),
        ("people unlink", "people unlink ann@pal.example", 0),
        ("plan", "plan", 0),
        ("plan move", "plan move next 23:59", 0),
        ("plan pin", "plan pin next", 0),
        ("plan reroll", "plan reroll", 0),
        ("plan restore", "plan restore next", 65),
        ("plan show", "plan show", 0),
        ("plan skip", "plan skip next", 0),
        ("post", "post --now 20-0", 0),
        ("profile", "profile", 78),
        ("rebind", "rebind --yes", 78),
        ("rehearse", "rehearse --year 2026", 65),
        ("report", "report --html page.html", 0),
        ("restore", "restore posts.jsonl", 65),
        ("resume", "resume", 0),
        ("retire", "retire --cancel --yes", 0),
        ("run", "run", 78),
        ("score", "score", 0),
        ("set", "set MAX_PER_DAY=3", 0),
        ("setup", "setup", 78),
        ("stats", "stats", 0),
        ("status", "status", 0),
        ("suggestions", "suggestions", 0),
        ("suggestions approve", "suggestions approve aaaa", 64),
        ("suggestions dismiss", "suggestions dismiss aaaa", 64),
        ("suggestions done", "suggestions done aaaa", 64),
        ("suggestions list", "suggestions list", 0),
        ("suggestions reopen", "suggestions reopen aaaa", 64),
        ("texts", "texts", 0),
        ("texts keep", "texts keep nothing", 64),
        ("texts list", "texts list --only never", 0),
        ("texts review", "texts review", 0),
        ("train", "train", 0),
        ("train classifier", "train classifier --from posts.jsonl", 0),
        ("train clear", "train clear --yes", 0),
        ("train scheduler", "train scheduler --from posts.jsonl", 0),
        ("undo", "undo last --yes", 0),
        ("unset", "unset MAX_PER_DAY", 0),
        ("web", "web --listen nowhere", 64),
        ("zones", "zones", 0),
        ("zones add", "zones add Asia/Tokyo --to 2019-02-28", 0),
        ("zones list", "zones list", 0),
        ("zones remove", "zones remove 2019-02-28", 64),
    ]

    /// Every command by the words that name it, also those of which it is a part.
    private static func commands(of parent: any ParsableCommand.Type = MirrorBot.self) -> [String] {
        parent.configuration.subcommands.flatMap { command in
            [
                CommandPath.words(to: command, under: MirrorBot.self).dropFirst("mirror-bot ".count)
                    .description
            ]
                + commands(of: command)
        }
    }

    private static func words(_ text: String) -> [String] {
        text.split(separator: " ").map(String.init)
    }

    @Test func everyCommandIsCalled() {
        #expect(Self.calls.map(\.command) == Self.commands().sorted())
        for call in Self.calls { #expect(call.words.hasPrefix(call.command)) }
    }

    /// Pages show the commands in their sentences as code.
    @Test func thePagesKnowEveryCommand() {
        #expect(CommandMarks.commands == Self.commands().sorted())
    }

    @Test(arguments: calls) func aCallEndsAsItShould(
        _ command: String, _ words: String, _ status: Int32
    ) async throws {
        let stage = try await Self.stage()
        try Self.posts.write(
            toFile: stage.workingFolder + "/posts.jsonl", atomically: false, encoding: .utf8)
        let ending = try await stage.spawn(Self.words(words))
        #expect(ending.status == status, "\(ending.output)\(ending.error)")
        #expect(!ending.output.isEmpty || !ending.error.isEmpty || words.contains("--html"))
    }

    /// The calls that succeed and may be asked for JSON.
    private static let answering = calls.filter {
        $0.status == 0 && !withoutJSON.contains($0.command)
    }
    /// Commands that show their help, or what a person reads.
    private static let withoutJSON = ["evaluate", "mirrors export", "people", "run", "train"]

    /// A program that reads standard output finds one document there, and nothing else.
    @Test(arguments: answering)
    func aCallForJSONPrintsOneDocument(_ command: String, _ words: String, _: Int32) async throws {
        let stage = try await Self.stage()
        try Self.posts.write(
            toFile: stage.workingFolder + "/posts.jsonl", atomically: false, encoding: .utf8)
        let ending = try await stage.spawn(
            Self.words(words.replacing("--html page.html", with: "")) + ["--json"])
        #expect(ending.status == 0, "\(ending.output)\(ending.error)")
        let document =
            try JSONSerialization.jsonObject(with: Data(ending.output.utf8)) as? [String: Any]
        let schema = try #require(document?["schema"] as? String, "\(ending.output)")
        expect(schema) { $0.wholeMatch(of: /mirror-bot\/[a-z-]+\/[0-9]+/) != nil }
    }

    @Test(arguments: withoutJSON) func onlyHelpIsNoJSON(_ command: String) async throws {
        let call = try #require(Self.calls.first { $0.command == command })
        let ending = try await Self.stage().spawn(Self.words(call.words) + ["--json"])
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
    }

    /// Their lines may break at other places, where the tests have a terminal.
    ///
    /// One command in eight: ``UsageTests`` looks at the help of each.
    @Test(
        arguments: [""]
            + commands().sorted().enumerated().filter { $0.offset % 8 == 0 }.map(\.element))
    func theHelpIsThatOfTheProcessOfTheTests(_ command: String) async throws {
        let stage = try Stage()
        let words = Self.words(command) + ["--help"]
        let ending = try await stage.spawn(words)
        #expect(ending.status == 0)
        #expect(ending.error == "")
        #expect(ending.output.contains("USAGE: mirror-bot \(command)"))
        let inProcess = try await stage.run(words: words)
        let spawned = ending.output
        let heard = inProcess.output
        #expect(
            heard.split(whereSeparator: \.isWhitespace)
                == spawned.split(whereSeparator: \.isWhitespace))
    }

    /// What the other tests see is what a person sees.
    @Test(arguments: [
        "--version", "config", "config --json", "status --json", "plan", "plan --json", "stats",
        "people list", "set",
        "explain next", "dmeo", "plan --date tomorrow", "status --json -q", "run",
        "train scheduler --from /nowhere.zip",
        "people deny nobody-at-all", "train clear", "score", "doctor",
    ])
    func aCommandSaysTheSameInTheProcessOfTheTests(_ words: String) async throws {
        let stage = try await Self.stage(["COLUMNS": "90", "FORCE_COLOR": "1"])
        let words = Self.words(words)
        let spawned = try await stage.spawn(words)
        let heard = try await stage.run(words: words)
        #expect(heard.status == spawned.status)
        #expect(heard.output == spawned.output)
        #expect(heard.error == spawned.error)
    }
}
