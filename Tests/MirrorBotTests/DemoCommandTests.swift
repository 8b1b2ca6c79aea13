import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import TestSupport
import Testing

/// `mirror-bot demo`.
///
/// Each run takes seconds, so the tests share two of them.
@Suite(.timeLimit(.minutes(30))) struct DemoCommandTests {
    /// The summary as documented; decoding fails for a missing key, and the keys are compared
    /// besides.
    private struct Summary: Decodable, Equatable {
        static let keys = [
            "base_rate", "cost_usd", "days", "duplicate_sends", "errors", "expected_replies",
            "favorite_precision",
            "favorites",
            "planned", "posted", "replies", "schema", "skipped", "suggested", "unsolicited",
        ]

        var baseRate: Double?
        var costUsd: Double?
        var days: Int
        var duplicateSends: Int
        var errors: Int
        var expectedReplies: Int
        var favoritePrecision: Double?
        var favorites: Int
        var planned: Int
        var posted: Int
        var replies: Int
        var schema: String
        var skipped: Int
        var suggested: Int
        var unsolicited: Int
    }

    private static let sample = Task { try await demo("--days", "1", "--json") }
    private static let other = Task { try await demo("--days", "1", "--json", "--seed", "7") }

    /// A demo with everything set that belongs to a real mirror and must not matter to it.
    private static func demo(_ words: String...) async throws -> Ending {
        let stage = try Stage([
            "MIRROR": "Not A Name", "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
            "BOT_SERVER": "https://[",
            "BOT_ACCESS_TOKEN": "planted", "LOG_LEVEL": "trace", "FAVORITE_MODE": "off",
        ])
        let ending = try await stage.run(words: ["demo"] + words)
        #expect(
            !FileManager.default.fileExists(atPath: stage.home),
            "the demo touched the mirror's home")
        return ending
    }

    private func summary(_ ending: Ending) throws -> Summary {
        #expect(ending.status == 0, "\(ending.error)")
        let line = try #require(ending.output.split(separator: "\n").last)
        let keys = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        #expect(keys?.keys.sorted() == Summary.keys)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Summary.self, from: Data(line.utf8))
    }

    @Test(arguments: ["x", "bluesky"]) func everyNetworkEndsWithTheSameSummary(network: String)
        async throws
    {
        let summary = try summary(
            try await Self.demo("--network", network, "--days", "1", "--json"))
        #expect(summary.posted > 0)
        #expect(summary.replies > 0)
        // On neither may software favorite whom it likes.
        #expect(summary.suggested > 1)
        #expect((summary.costUsd.map { $0 > 0.1 } ?? false) == (network == "x"))
        expectGoodConduct(summary)
    }

    private func expectGoodConduct(_ summary: Summary) {
        #expect(summary.posted == summary.planned - summary.skipped)
        #expect(summary.replies == summary.expectedReplies)
        #expect(summary.unsolicited == 0)
        #expect(summary.errors == 0)
        #expect(summary.duplicateSends == 0)
    }

    @Test func endsWithOneSummaryOfWhatTheNetworkReceived() async throws {
        let ending = try await Self.sample.value
        let summary = try summary(ending)
        expectGoodConduct(summary)
        #expect(summary.schema == "mirror-bot/demo/1")
        #expect(summary.days == 1)
        #expect(summary.posted > 0)
        #expect(summary.replies > 0)
        #expect(summary.favorites > 0)
        #expect(summary.suggested == 0)
        let precision = try #require(summary.favoritePrecision)
        let base = try #require(summary.baseRate)
        #expect(precision >= 2 * base)
        #expect(
            ending.output.split(separator: "\n").count == 1,
            "more than the summary on the standard output")
        #expect(ending.error.contains("living through 1 day …"))
    }

    @Test func anotherSeedGivesOtherDays() async throws {
        let other = try await Self.other.value
        expectGoodConduct(try summary(other))
        try await expect(Self.sample.value.output) { $0 != other.output }
    }

    /// What is answered and what was asked are about the same thing.
    @Test(arguments: ["7"]) func repliesFitWhatWasAsked(seed: String) async throws {
        let stage = try Stage(["COLUMNS": "400"])
        let ending = try await stage.run("demo", "--days", "1", "--seed", seed)
        #expect(ending.status == 0, "\(ending.error)")
        let lines = ending.output.split(separator: "\n").map(String.init)
        var replies = 0
        var fitting = 0
        for (asked, answer) in zip(lines, lines.dropFirst()) where asked.contains("↩ reply") {
            let talks = [asked, answer].map { text in
                SampleLanguage.allCases.lazy.compactMap { SampleTalk(of: text, in: $0) }.first
            }
            #expect(talks[0] != nil)
            replies += 1
            fitting += talks[0] == talks[1] ? 1 : 0
        }
        // Rarely a person has had all answers on a theme, or none of them is plain.
        #expect(fitting * 3 >= replies * 2, "\(fitting) of \(replies)")
        #expect(replies >= 4)
    }

    @Test func learnsFromOnesOwnDownloadAndShowsItToAPerson() async throws {
        let stage = try Stage(["COLUMNS": "100"])
        let path = try Fixture.xArchive(in: stage.folder)
        let ending = try await stage.run(
            "demo", "--from", path, "--days", "1", "--time-zone", "Asia/Tokyo")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.error.contains("learning posting times and texts from \(path) …"))
        #expect(
            ending.output.contains("120 posts, 2026-01-05 to 2026-02-03, clock of Asia/Tokyo\n"))
        #expect(ending.output.contains("● post      Small thought "))
        #expect(ending.output.contains("↩ reply     friend_1000: "))
        #expect(ending.output.contains("30 favorites and "))
        #expect(!ending.output.contains("assumed"))
        #expect(!ending.output.contains("by chance"))
        for figure in ["unsolicited  0\n", "sent twice   0\n", "errors       0\n"] {
            #expect(ending.output.contains(figure))
        }
        let replies = try #require(ending.output.firstMatch(of: /replies +(\d+) of (\d+) expected/))
        #expect(replies.output.1 == replies.output.2)
        #expect(replies.output.1 != "0")
        for line in ending.output.split(separator: "\n") {
            #expect(line.count <= 100, "too wide: \(line)")
        }
    }

    @Test func goesOnWithoutLikesAndNamesTheZoneThatItAssumes() async throws {
        let stage = try Stage(["COLUMNS": "100"])
        let path = try Fixture.xArchive(in: stage.folder, withLikes: false)
        let ending = try await stage.run("demo", "--from", path, "--days", "1")
        #expect(ending.status == 0, "\(ending.error)")
        #expect(ending.output.contains("no favorites: the archive holds no likes with a text"))
        #expect(ending.output.contains("the time zone is assumed (from the hours without posts)"))
        #expect(ending.output.contains("  favorites    0\n"))
        #expect(ending.output.contains("● post      Small thought "))
        #expect(ending.output.hasSuffix("\n  mirror-bot train scheduler --from \(path)\n"))
    }

    /// The line is taken back before the answer, which the same seed makes the same, with a
    /// terminal or without.
    @Test func aTerminalSeesTheTimeAndTheCountsWhileItLives() async throws {
        let terminal = try PseudoTerminal()
        let stage = try Stage(["TERM": "xterm", "COLUMNS": "60"])
        let demo = try stage.start(
            ["demo", "--days", "1", "--json", "--seed", "2026"], replacing: [2: terminal.inner])
        var shown = ""
        while !demo.hasEnded {
            shown += terminal.shown()
            try await Task.sleep(for: .milliseconds(20))
        }
        shown += terminal.shown()
        #expect(
            shown.contains(/\r2026-06-01 \d\d:\d\d  ● \d+ posts  ↩ \d+ replies  ★ \d+ favorites/))
        // The sign turns from the first moment on, also while nothing else changes.
        let drawn = shown.split(separator: "\r").map { $0.trimmingCharacters(in: .whitespaces) }
        let early = drawn.prefix { !$0.hasPrefix("2026-") }.compactMap {
            $0.split(separator: " ").last
        }
        for sign in ["|", "/", "-", "\\"] {
            #expect(early.contains { $0 == sign }, "no \(sign) before it knows the time")
        }
        #expect(shown.hasSuffix("\r" + String(repeating: " ", count: 59) + "\r"))
        try await expect(Self.sample.value.output, equals: demo.ending().output)
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func nothingIsKeptWhenItIsInterrupted(_ signal: Int32) async throws {
        let stage = try Stage()
        let path = try Fixture.xArchive(in: stage.folder)
        let folder = try TemporaryDirectory()
        let demo = try stage.start(["demo", "--from", path], environment: ["TMPDIR": folder.path])
        try await demo.waitForError("learning favorites from")
        try expect(FileManager.default.contentsOfDirectory(atPath: folder.path).count, equals: 1)
        demo.send(signal)
        await expect(demo.ending().status, equals: 128 + signal)
        try expect(FileManager.default.contentsOfDirectory(atPath: folder.path)) { $0.isEmpty }
    }

    @Test func anArchiveThatCannotBeReadIsBadData() async throws {
        let ending = try await Self.demo("--from", "/nowhere.zip")
        #expect(ending.status == 65)
        #expect(ending.error.contains("error: "))
        #expect(ending.output.isEmpty)
    }

    @Test func anArchiveWithoutPublicPostsIsBadData() async throws {
        let stage = try Stage()
        let line =
            #"{"id":"1","author":"me@a.example","text":"for friends","visibility":"private","created_at":"2026-01-01T00:00:00Z"}"#
        let path = try stage.folder.write(Data(line.utf8), to: "private.jsonl")
        let ending = try await stage.run("demo", "--from", path)
        #expect(ending.status == 65)
        #expect(ending.error.contains("holds no public posts"))
    }

    /// A second try with another archive finds the way free.
    @Test func aDemoThatFailsKeepsNoFolder() async throws {
        let stage = try Stage()
        try stage.folder.write(Data("{}".utf8), to: "wrong.jsonl")
        let ending = try await stage.run("demo", "--keep", "tour", "--from", "wrong.jsonl")
        #expect(ending.status == 65)
        #expect(!FileManager.default.fileExists(atPath: stage.workingFolder + "/tour"))
    }

    /// What is kept is a mirror like any other, on a network that goes on by the clock.
    @Test func aKeptDemoIsAMirrorToTry() async throws {
        // Noon in Tokyo.
        let rehearsal = Rehearsal.Settings(
            origin: Date(timeIntervalSince1970: 1_780_455_600), started: Date(), factor: 1)
        let stage = try Stage(rehearsal.variables.merging(["MIRROR_BOT_HOME": ""]) { $1 })
        let demo = try stage.start(["demo", "--days", "2", "--keep", "tour"])
        try await demo.waitForError("cd tour")
        let again = try await stage.run("demo", "--keep", "tour")
        #expect(again.status == 64)
        #expect(
            again.error.contains(
                "could not make the folder tour: it is there already; name a new one"))
        let tour = stage.workingFolder + "/tour"
        try expect(FileManager.default.contentsOfDirectory(atPath: tour)) { $0.contains(".env") }

        func run(_ words: String) async throws -> Ending {
            try await stage.start(words.split(separator: " ").map(String.init), in: tour).ending()
        }
        #expect(demo.errorSoFar.contains(" there (Africa/Nairobi)."))
        let status = try await run("status")
        #expect(status.output.contains("2026-06-03"))
        #expect(status.output.contains("time zone   Africa/Nairobi"))
        #expect(status.output.contains("✖ not sending: no worker is running"))
        let once = try await run("run --once")
        #expect(once.status == 0, "\(once.error)")
        let doctor = try await run("doctor")
        #expect(doctor.output.contains("✔ bot         @mirror@sandbox.example on Mastodon"))
        #expect(!(try await run("plan").output).contains("no-text"))
        demo.send(SIGINT)
        _ = await demo.ending()
        // Its network is gone, and what it did can still be looked at.
        try await expect(run("status").output) { $0.contains("favorite done") }
    }
}
