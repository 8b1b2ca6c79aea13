import Control
import Expectations
import Foundation
import Mirroring
import TestSupport
import Testing

/// Where answers and complaints go, and what they look like there.
@Suite(.timeLimit(.minutes(30))) struct OutputTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "Asia/Tokyo"]) }

    // MARK: Colors and width

    @Test func aFileGetsNoColors() async throws {
        try await stage.makeDatabase()
        #expect(!(try await stage.run("status").output.contains("\u{1B}")))
    }

    @Test(arguments: [
        (["FORCE_COLOR": "1"], true), (["FORCE_COLOR": "1", "NO_COLOR": "1"], false),
        (["FORCE_COLOR": ""], false),
        (["FORCE_COLOR": "1", "NO_COLOR": ""], true),
    ])
    func colorsFollowTheUsualVariables(_ environment: [String: String], _ hasColor: Bool)
        async throws
    {
        try await stage.makeDatabase()
        let ending = try await stage.run("status", environment: environment)
        #expect(ending.output.contains("\u{1B}[1mmirror default\u{1B}[0m") == hasColor)
        #expect(ending.output.contains("\u{1B}") == hasColor)
    }

    /// JSON is shown in terminals too, which obey some characters instead of showing them.
    @Test func spellsOutInJSONWhatATerminalObeys() async throws {
        let home = stage.folder.path("invoice\u{202E}fdp\u{9B}31m\u{7F}\u{E0001}\u{061C}\u{2028}é😀")
        let ending = try await stage.run(
            "config", "--json", environment: ["BOT_HANDLE": "", "MECAB_DICTIONARY": home])
        // A setting may hold no control character.
        #expect(ending.status == 78)
        let shown = try await stage.run(
            "config", "--json",
            environment: ["MECAB_DICTIONARY": "a\u{202E}b\u{E0001}c\u{061C}d\u{2028}é😀"])
        #expect(shown.output.contains(#""a\u202eb\udb40\udc01c\u061cd\u2028é😀""#))
        let report =
            try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any]
        let groups = report?["groups"] as? [[String: Any]]
        let lines = groups?.flatMap { $0["settings"] as? [[String: Any]] ?? [] }
        let line = lines?.first { $0["name"] as? String == "MECAB_DICTIONARY" }
        #expect(line?["value"] as? String == "a\u{202E}b\u{E0001}c\u{061C}d\u{2028}é😀")
    }

    /// Keys that a person or a network chose are no keys of ours, and there are none.
    @Test(arguments: [
        (["status"], "status/2"), (["plan"], "plan/2"), (["score"], "score/1"),
        (["suggestions"], "suggestions/1"),
        (["people", "list"], "people/1"), (["config"], "config/2"), (["migrate"], "migrate/1"),
        (["backup", "copy.sqlite"], "backup/1"), (["report"], "report/1"),
        (["logout", "--as", "bot"], "logout/1"),
        (["train", "scheduler", "--from", "posts.jsonl"], "train-scheduler/1"),
        (["train", "classifier", "--from", "posts.jsonl"], "train-classifier/1"),
        (["train", "scheduler", "--if-possible"], "train-waits/1"),
        (["train", "clear", "--yes"], "train-clear/1"),
        (["forget", "--word", "rain", "--yes"], "forget/1"), (["forget", "list"], "forget-list/1"),
        (["zones"], "zones/1"),
        (["zones", "add", "Asia/Seoul", "--to", "2019-02-28"], "zones-change/1"),
        (["people", "deny", "*@far.example"], "server-change/1"),
        (["people", "deny", "x:1"], "person-change/1"),
        (["evaluate", "scheduler", "--from", "posts.jsonl"], "evaluate-scheduler/1"),
        (
            ["evaluate", "classifier", "--prequential", "--test", "posts.jsonl"],
            "evaluate-classifier/1"
        ),
    ])
    func everyJSONNamesItsSchemaAndHasKeysInSnakeCase(_ words: [String], _ schema: String)
        async throws
    {
        try await stage.train(Fixture.lines(days: 30, perDay: 3))
        let lines = Fixture.lines(days: 30, perDay: 3) + Fixture.examples(6)
        try lines.write(
            toFile: stage.workingFolder + "/posts.jsonl", atomically: false, encoding: .utf8)
        try await expect(stage.run("people", "deny", "pal@home.example").status, equals: 0)
        let ending = try await stage.run(
            words: words + ["--json"], environment: ["TIME_ZONE": "Asia/Tokyo"])
        #expect(ending.status == 0, "\(ending.error)")
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(ending.output.utf8)) as? [String: Any])
        #expect(report["schema"] as? String == "mirror-bot/" + schema)
        let odd = Self.keys(in: report).filter {
            $0.wholeMatch(of: /[a-z0-9]+(_[a-z0-9]+)*/) == nil
        }
        #expect(odd.isEmpty, "\(odd)")
    }

    private static func keys(in value: Any) -> Set<String> {
        switch value {
        case let object as [String: Any]:
            object.reduce(into: Set(object.keys)) { $0.formUnion(keys(in: $1.value)) }
        case let list as [Any]: list.reduce(into: Set()) { $0.formUnion(keys(in: $1)) }
        default: []
        }
    }

    @Test func neverColorsJSON() async throws {
        try await stage.makeDatabase()
        let ending = try await stage.run("status", "--json", environment: ["FORCE_COLOR": "1"])
        #expect(!ending.output.contains("\u{1B}"))
    }

    @Test func aTerminalGetsColorsUnlessItIsDumb() async throws {
        try await stage.makeDatabase()
        for (term, hasColor) in [("xterm", true), ("dumb", false)] {
            let terminal = try PseudoTerminal()
            let ending = try await stage.spawn(
                ["status"], environment: ["TERM": term], replacing: [1: terminal.inner])
            #expect(ending.status == 0)
            let shown = terminal.shown()
            #expect(shown.contains("mirror default"))
            #expect(shown.contains("\u{1B}[1m") == hasColor)
        }
    }

    @Test(arguments: [60, 80, 120])
    func columnsLimitTheWidthOfTexts(_ columns: Int) async throws {
        let long = String(repeating: "very long bread ", count: 12)
        let lines = (0..<30).map { day in
            Fixture.line("\(day)", "\(day) \(long)", at: Date() - Double(day + 40) * Fixture.day)
        }
        try await stage.train(lines.joined())
        let ending = try await stage.run("plan", environment: ["COLUMNS": "\(columns)"])
        let slots = ending.output.split(separator: "\n").filter { $0.contains("preview  ") }
        #expect(!slots.isEmpty)
        for slot in slots {
            #expect(slot.count <= columns, "\(slot)")
            #expect(slot.hasSuffix("…"))
        }
    }

    // MARK: Streams that fail

    /// A pipe whose reader is gone, as with `| head`.
    private func closedPipe() throws -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { throw TestSupportError("could not make a pipe") }
        close(ends[0])
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        return ends[1]
    }

    @Test(arguments: [
        ["--help"], ["config"], ["config", "--json"], ["status"], ["status", "--json"], ["migrate"],
    ])
    func aReaderThatHasSeenEnoughIsNoFailure(_ words: [String]) async throws {
        try await stage.makeDatabase()
        let pipe = try closedPipe()
        defer { close(pipe) }
        let ending = try await stage.start(words, replacing: [1: pipe]).ending()
        #expect(ending.status == 0)
        #expect(ending.error.isEmpty)
    }

    /// Standard output waits in a buffer, standard error does not.
    @Test func bothOutputsStandInTheirOrder() async throws {
        try Data(Fixture.lines().utf8).write(
            to: URL(fileURLWithPath: stage.workingFolder + "/posts.jsonl"))
        try Data("LINKES=on\n".utf8).write(to: URL(fileURLWithPath: stage.workingFolder + "/.env"))
        let shell = try RunningProgram(
            Launch(
                path: "/bin/bash",
                arguments: [
                    "-c", "\"$0\" train scheduler --from posts.jsonl 2>&1", Stage.program(),
                ],
                environment: stage.environment.merging(["TIME_ZONE": "UTC"]) { $1 },
                folder: stage.workingFolder))
        let lines = await shell.ending().output.split(separator: "\n").map(String.init)
        let results = try #require(lines.firstIndex { $0.hasPrefix("the archive holds ") })
        let next = try #require(lines.firstIndex { $0.hasPrefix("next: ") })
        let warning = try #require(lines.firstIndex { $0.hasPrefix("warning: ") })
        #expect(warning < results)
        #expect(results < next)
    }

    @Test(.enabled(if: TinyDisk.isPossible)) func aFileOnAFullDiskIsNamed() async throws {
        try await stage.train(Fixture.lines())
        let disk = try TinyDisk(kilobytes: 16)
        defer { withExtendedLifetime(disk) {} }
        _ = try disk.fill()
        let ending = try await stage.run(
            "report", "--html", disk.path("report.html"), environment: ["TIME_ZONE": "UTC"])
        #expect(ending.status == 69)
        expect(ending.error) { $0.contains("the disk is full; make room on the disk of ") }
    }

    @Test func aHomeThatCannotBeWrittenIsNamedWithARemedy() async throws {
        try Data().write(to: URL(fileURLWithPath: stage.workingFolder + "/file"))
        // No folder can be made there, whoever asks.
        for home in ["/proc/self/fdinfo/none", stage.workingFolder + "/file/home"] {
            let ending = try await stage.run(
                "train", "scheduler", "--from", "-",
                environment: ["MIRROR_BOT_HOME": home, "TIME_ZONE": "UTC"],
                input: Fixture.lines())
            #expect(ending.status == 69)
            expect(ending.error) { $0.contains("its folder cannot be made: ") }
            expect(ending.error) { $0.contains("(MIRROR_BOT_HOME or --home names the folder)") }
        }
    }

    @Test func headEndsALongAnswer() async throws {
        let shell = try RunningProgram(
            Launch(
                path: "/bin/bash",
                arguments: ["-c", "set -o pipefail; \"$0\" config | head -n 1", Stage.program()],
                environment: stage.environment, folder: stage.workingFolder))
        let ending = await shell.ending()
        #expect(ending.status == 0)
        #expect(ending.output == "The mirror\n")
        #expect(ending.error.isEmpty)
    }

    private static let failures: [([String], Int32)] = [
        (["run"], 78), (["plan"], 78), (["plan", "--date", "x"], 64), (["train", "clear"], 64),
        (["demo", "--from", "/nowhere.zip"], 65),
    ]

    @Test(arguments: failures)
    func aLostErrorOutputChangesNothing(_ words: [String], _ status: Int32) async throws {
        try await stage.makeDatabase()
        let pipe = try closedPipe()
        defer { close(pipe) }
        try await expect(stage.start(words, replacing: [2: pipe]).ending().status, equals: status)
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        try await expect(stage.start(words, replacing: [2: full]).ending().status, equals: status)
    }

    @Test(arguments: [["config"], ["config", "--json"], ["status", "--json"], ["migrate"]])
    func anAnswerThatCannotBeWrittenIsAFailure(_ words: [String]) async throws {
        try await stage.makeDatabase()
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let ending = try await stage.start(words, replacing: [1: full]).ending()
        #expect(ending.status == 69)
        #expect(
            ending.error == "error: could not write the output: the disk is full; make room on it\n"
        )
    }

    @Test(arguments: [
        ["--help"], ["help", "run"], ["run", "--help"], ["--version"],
        ["--generate-completion-script", "bash"],
        ["--experimental-dump-help"],
    ])
    func helpThatCannotBeWrittenIsAFailure(_ words: [String]) async throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let ending = try await stage.start(words, replacing: [1: full]).ending()
        #expect(ending.status == 69)
        #expect(
            ending.error == "error: could not write the output: the disk is full; make room on it\n"
        )
    }
}
