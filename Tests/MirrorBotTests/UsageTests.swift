import ArgumentParser
import Expectations
import Testing

@testable import MirrorBot

/// What the program says of itself, and to whom misuses it.
@Suite(.timeLimit(.minutes(30))) struct UsageTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    @Test func theBareCommandShowsTheHelp() async throws {
        let bare = try await stage.run()
        #expect(bare.status == 0)
        #expect(bare.error.isEmpty)
        for command in ["demo", "train", "plan", "run", "status", "config", "migrate"] {
            #expect(bare.output.contains("\n  \(command) "), "\(command) is not listed")
        }
        try await expect(stage.run("--help").output, equals: bare.output)
    }

    @Test func tellsItsVersion() async throws {
        let ending = try await stage.run("--version")
        #expect(ending.status == 0)
        let shape = /mirror-bot \d+\.\d+\.\d+ \((unknown commit|[\w.-]+(, changed)?)\)\n/
        #expect(ending.output.wholeMatch(of: shape) != nil, "\(ending.output)")
    }

    @Test func theHelpListsEveryExitCode() async throws {
        let help = try await stage.run("--help").output
        for code in ["0 done", "64", "65", "69", "70", "75", "77", "78"] {
            #expect(help.contains(code))
        }
    }

    @Test func theHelpGroupsTheCommands() async throws {
        let lines = try await stage.run("--help").output.split(separator: "\n").map(String.init)
        let titles = ["SET UP:", "WATCH:", "STEER:", "PEOPLE:", "DATA:", "MEASURE:"]
        #expect(lines.filter { titles.contains($0) } == titles)
        let listed = lines.drop { $0 != titles[0] }.compactMap {
            $0.wholeMatch(of: /\ \ ([a-z]+)\ +\S.*/)?.1
        }
        #expect(
            listed.map(String.init)
                == MirrorBot.configuration.subcommands.compactMap { $0.configuration.commandName })
    }

    /// Every command, by the words that call it.
    private static func commands(below parent: any ParsableCommand.Type = MirrorBot.self)
        -> [[String]]
    {
        let path = CommandPath.words(to: parent, under: MirrorBot.self).split(separator: " ")
            .dropFirst()
        return [path.map(String.init)]
            + parent.configuration.subcommands.flatMap { commands(below: $0) }
    }

    /// Options that nearly every command has are in its help, and would hide in a usage those that
    /// it has alone.
    @Test(arguments: commands()) func aUsageLeavesOutTheOptionsThatCommandsShare(
        _ command: [String]
    ) async throws {
        let help = try await stage.run(words: command + ["--help"]).output
        let usage = help.split(separator: "\n").drop { !$0.hasPrefix("USAGE: ") }.prefix {
            $0.last != ":"
        }
        .joined(separator: "\n")
        #expect(usage.hasPrefix("USAGE: \((["mirror-bot"] + command).joined(separator: " "))"))
        for option in ["--mirror", "--home", "--log-level", "--log-format", "--json", "--seen"] {
            #expect(!["\(option) ", "\(option)]"].contains { usage.contains($0) })
        }
        #expect(!help.contains("--mirror <") || usage.contains("<options>"), "\(usage)")
    }

    @Test func aUsageNamesTheOptionsOfItsCommand() async throws {
        try await expect(stage.run("plan", "move", "--help").output) {
            $0.contains("USAGE: mirror-bot plan move [<options>] <slot> <time>\n")
        }
        let help = try await stage.run("pause", "--help").output
        #expect(
            help.contains(
                "USAGE: mirror-bot pause [<options>] [--until <time>] [--reason <words>]\n"))
        let misused = try await stage.run("plan", "move", "next")
        #expect(
            misused.error.contains("\nUsage: mirror-bot plan move [<options>] <slot> <time>\n"),
            "\(misused.error)")
    }

    @Test(arguments: [40, 80, 120], commands())
    func aHelpFitsTheTerminal(_ columns: Int, _ command: [String]) async throws {
        let stage = try Stage(["COLUMNS": "\(columns)"])
        let help = try await stage.run(words: command + ["--help"]).output
        let wide = help.split(separator: "\n").filter { $0.count > columns }
        #expect(wide.isEmpty)
    }

    /// What is beside a label at 80 columns stands below it at 40.
    @Test func aNarrowTerminalHasDescriptionsBelowTheirLabels() async throws {
        let narrow = try await Stage(["COLUMNS": "40"]).run("plan", "--help").output
        #expect(
            narrow.contains(
                "\n  reroll\n      Draw a day again; pinned and moved\n      slots stay.\n"),
            "\(narrow)")
        let usual = try await Stage(["COLUMNS": "80"]).run("plan", "--help").output
        #expect(
            usual.contains(
                "\n  reroll                  Draw a day again; pinned and moved slots stay.\n"))
    }

    /// As `plan skip #4` arrives when no quotes are around the number.
    @Test(arguments: [
        ["plan", "skip"], ["plan", "restore"], ["plan", "move"], ["plan", "pin"], ["never"],
        ["explain"], ["undo"],
        ["plan", "skip", "--json"],
    ])
    func aSlotThatTheShellTookForACommentIsExplained(_ words: [String]) async throws {
        let ending = try await stage.run(words: words)
        #expect(ending.status == 64)
        #expect(ending.error.contains("a shell takes #4 for a comment: write 4 or '#4'"))
        #expect(
            ending.error.contains(
                "Usage: mirror-bot \(words.prefix { !$0.hasPrefix("-") }.joined(separator: " "))"))
        for other in [["plan", "move", "4"], ["post"], ["people", "deny"]] {
            try await expect(stage.run(words: other).error) { !$0.contains("comment") }
        }
    }

    @Test(arguments: Self.flags)
    func theHelpOfACommandNamesItsFlags(_ command: String, _ flags: String) async throws {
        let help = try await stage.run(
            words: command.split(separator: " ").map(String.init) + ["--help"])
        #expect(help.status == 0)
        for flag in flags.split(separator: " ") {
            #expect(help.output.contains(flag), "\(flag) is missing")
        }
    }

    private static let shared = "--mirror --time-zone --home --log-level --log-format"
    private static let flags: [(String, String)] = [
        ("demo", "--from --days --seed --time-zone --keep --web --listen --json"),
        ("train scheduler", "\(shared) --from --again --if-possible --json"),
        ("train classifier", "\(shared) --from --limit --again --if-possible --json"),
        ("train clear", "\(shared) --yes -y --json"),
        ("login", "\(shared) --as --print --json"),
        ("logout", "\(shared) --as --json"),
        (
            "setup",
            "\(shared) --network --human --bot --server --human-handle --bot-token-file --archive --no-favorites --profile "
                + "--start --consent --acknowledge-policy --trust-archive --yes -y"
        ),
        ("backup", "\(shared) --keep --json"), ("restore", "\(shared) --json"),
        ("rebind", "\(shared) --role --yes -y --json"),
        ("plan show", "\(shared) --date --json"),
        ("run", "\(shared) --dry-run -d --once"),
        ("status", "\(shared) --check --max-age --metrics --output --json --all --search --page"),
        ("mirrors add", "\(shared) --credentials --json"),
        ("mirrors import", "\(shared) --dry-run --json"),
        ("mirrors export", "\(shared) --with-secrets --force"),
        ("mirrors pause", "\(shared) --until --reason --json"),
        ("mirrors resume", "\(shared) --json"),
        ("mirrors remove", "\(shared) --yes -y --json"),
        ("explain", "\(shared) --text --author --json"),
        ("stats", "\(shared) --json --svg --force"),
        ("report", "\(shared) --html --json --force"),
        ("score", "\(shared) --json"),
        ("rehearse", "\(shared) --year --seed --favorites --html --json --force"),
        ("evaluate scheduler", "--events --from --time-zone --json"),
        ("config", "\(shared) --json"),
        ("migrate", "\(shared) --json"),
        ("mcp", "\(shared) --allow-changes"),
    ]

    @Test(arguments: [
        ["dmeo"], ["plan", "extra"], ["train", "all"], ["run", "--onec"],
        ["status", "--json", "-q"],
    ])
    func whatItDoesNotKnowIsMisuse(_ arguments: [String]) async throws {
        let ending = try await stage.run(words: arguments)
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
        #expect(ending.error.hasPrefix("error: "))
        #expect(ending.error.contains("--help"), "no hint in \(ending.error)")
    }

    @Test(arguments: [
        ("dmeo", "mirror-bot demo", "mirror-bot <subcommand>"),
        ("sttus", "mirror-bot status", "mirror-bot <subcommand>"),
        ("Plan", "mirror-bot plan", "mirror-bot <subcommand>"),
        ("train schedular", "mirror-bot train scheduler", "mirror-bot train <subcommand>"),
        ("people ist --limit 3", "mirror-bot people list", "mirror-bot people <subcommand>"),
    ])
    func aCommandThatIsNearlyOneIsProposed(_ words: String, _ meant: String, _ usage: String)
        async throws
    {
        let ending = try await stage.run(words: words.split(separator: " ").map(String.init))
        #expect(ending.status == 64)
        let lines = ending.error.split(separator: "\n")
        expect(lines.first, "\(ending.error)") {
            $0?.hasSuffix("is no command; did you mean \(meant)?") == true
        }
        #expect(lines.dropFirst().first == "Usage: \(usage)")
        #expect(lines.last == "  See '\(usage.dropLast(13)) --help' for more information.")
    }

    /// What shows only when a command runs is said as what its parser finds.
    @Test(arguments: [
        (["people", "deny", "nobody at all"], "mirror-bot people deny"),
        (["plan", "--time-zone", "Mars/Olympus"], "mirror-bot plan show"),
        (["plan", "--date", "tomorrow"], "mirror-bot plan show"),
        (["train", "scheduler", "-q"], "mirror-bot train scheduler"),
    ])
    func theUsageIsThatOfTheCommandThatFailed(_ words: [String], _ name: String) async throws {
        let ending = try await stage.run(words: words)
        #expect(ending.status == 64)
        #expect(ending.error.contains("\nUsage: \(name) "), "\(ending.error)")
        #expect(
            ending.error.hasSuffix("  See '\(name) --help' for more information.\n"),
            "\(ending.error)")
    }

    @Test(arguments: [
        ["demo", "--days", "0"], ["demo", "--days", "61"], ["demo", "--days", "many"],
        ["demo", "--seed", "x"],
        ["demo", "--seed", "18446744073709551616"], ["demo", "--time-zone", "Mars/Olympus"],
        ["demo", "--from"],
        ["demo", "--from", "-"], ["demo", "--from", "/dev/null"],
        ["evaluate", "classifier", "--predictions", "-", "--train", "a", "--test", "b"],
        ["plan", "--date", "2026-02-30"], ["plan", "--date", "tomorrow"],
        ["plan", "--time-zone", "Mars/Olympus"],
        ["plan", "--mirror", "Two Words"], ["plan", "--mirror", String(repeating: "a", count: 41)],
        ["status", "--log-level", "loud"], ["status", "--log-format", "xml"],
        ["status", "--home", ""],
        ["status", "--home", "a\nb"], ["train", "classifier", "--limit", "0"],
        ["train", "classifier", "--limit", "x"],
    ])
    func aWrongValueIsMisuseAndNamesTheFlag(_ arguments: [String]) async throws {
        let ending = try await stage.run(words: arguments)
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
        let flag = try #require(arguments.first { $0.hasPrefix("--") })
        #expect(ending.error.hasPrefix("error: "))
        #expect(ending.error.contains(flag), "the flag is not named in \(ending.error)")
        try expect(stage.files(), "something was written") { $0.isEmpty }
    }
}
