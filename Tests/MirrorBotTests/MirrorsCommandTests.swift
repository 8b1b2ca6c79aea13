import Control
import Expectations
import Foundation
import Mirroring
import Posts
import Settings
import Storage
import TestSupport
import Testing

/// `mirror-bot mirrors` and `mirror-bot status --all`.
@Suite(.timeLimit(.minutes(30))) struct MirrorsCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private static let bot =
        #"{"bot":{"network":"mastodon","server":"https://social.example","access_token":"planted-token"}}"#

    private static func line(_ name: String) -> String {
        #"{"name":"\#(name)","settings":{"MAX_PER_DAY":4},"credentials":"#
            + bot.replacing("planted-token", with: "planted-token-\(name)") + "}\n"
    }

    /// What a command prints and logs; a planted secret in it is a failure.
    private func run(
        _ words: String..., input: String? = nil, ends status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Ending {
        let ending = try await stage.run(
            words: words, environment: ["LOG_LEVEL": "trace"], input: input)
        #expect(
            ending.status == status, "\(words): \(ending.error)", sourceLocation: sourceLocation)
        #expect(!(ending.output + ending.error).contains("planted"), sourceLocation: sourceLocation)
        return ending
    }

    private func names() async throws -> [String] {
        try Stage.decode(MirrorList.self, from: try await run("mirrors", "--json")).mirrors.map(
            \.name)
    }

    // MARK: Adding

    @Test func aMirrorIsAddedWithItsLoginFromStandardInput() async throws {
        let added = try await run(
            "mirrors", "add", "ann", "MAX_PER_DAY=4", "TIME_ZONE=Europe/Berlin", "--credentials",
            "-", input: Self.bot)
        #expect(
            added.output == """
                added mirror ann with 2 settings and logins of bot
                to take it back: mirror-bot mirrors remove ann

                """)
        try await expect(names(), equals: ["ann"])
        try await expect(run("set", "--mirror", "ann").output) { $0.contains("MAX_PER_DAY=4") }
        let token = try await stage.withMirror(["MIRROR": "ann"]) {
            try await $0.vault.login(of: .bot)?.credentials[.accessToken]?.reveal()
        }
        #expect(token == "planted-token")
        let file = try stage.folder.write(Data(Self.bot.utf8), to: "bot.json")
        _ = try await run("mirrors", "add", "ben", "--credentials", file)
        try await expect(names(), equals: ["ann", "ben"])
    }

    @Test func whatCannotBeAddedIsRefused() async throws {
        _ = try await run("mirrors", "add", "ann")
        for (words, input, status) in [
            (["ann"], nil, 65), (["Ann"], nil, 64), (["a", "MAX_PER_DAY"], nil, 64),
            (["a", "MAX_PER_DAY=x"], nil, 65),
            (["a", "BOT_ACCESS_TOKEN=planted"], nil, 65), (["a", "DATABASE_URL=planted"], nil, 65),
            (["a", "--credentials", "/nowhere/file"], nil, 65),
            (["a", "--credentials", "-"], "planted", 65),
            (["a", "--mirror", "b"], nil, 64),
            (["a", "--credentials", "-"], #"{"bot":{"network":"planted"}}"#, 65),
            (["a", "--credentials", "-"], String(repeating: "planted", count: 20_000), 65),
        ] as [([String], String?, Int32)] {
            let ending = try await stage.run(words: ["mirrors", "add"] + words, input: input)
            #expect(ending.status == status, "\(words): \(ending.error)")
            #expect(!ending.error.contains("planted"), "\(ending.error)")
        }
        try await expect(names(), equals: ["ann"])
    }

    // MARK: Importing and exporting

    @Test func manyAreImportedOnce() async throws {
        let file = try stage.folder.write(
            Data(["ann", "ben"].map(Self.line).joined().utf8), to: "mirrors.jsonl")
        try await stage.makeDatabase()
        let checked = try await run("mirrors", "import", file, "--dry-run")
        #expect(
            checked.output.hasPrefix(
                "nothing was stored; of 2 mirrors: 2 new, 0 changed, 0 as they were\n"))
        try await expect(names(), equals: [])
        let imported = try await run("mirrors", "import", file)
        #expect(
            imported.output
                == "imported 2 mirrors: 2 new, 0 changed, 0 as they were\nnew: ann, ben\n")
        let again = try await run("mirrors", "import", "-", "--json", input: Self.line("ann"))
        let report = try Stage.decode(ImportReport.self, from: again)
        #expect(report.unchanged == 1 && report.schema == "mirror-bot/import/1")
    }

    @Test func problemsAreListedByLineAndNothingIsStored() async throws {
        try await stage.makeDatabase()
        let lines =
            Self.line("ann") + "planted\n" + #"{"name":"ben","settings":{"MAX_PER_DAY":"planted"}}"#
        let ending = try await run("mirrors", "import", "-", input: lines, ends: 65)
        #expect(ending.output.isEmpty)
        #expect(
            ending.error.hasPrefix(
                """
                error: nothing was imported, because of 2 problems:
                  line 2: is not valid JSON
                  line 3: settings.MAX_PER_DAY cannot be used; expected 0–
                """), "\(ending.error)")
        let json = try await run("mirrors", "import", "-", "--json", input: lines, ends: 65)
        #expect(json.output.contains(#""field" : "settings.MAX_PER_DAY""#), "\(json.output)")
        try await expect(names(), equals: [])
        _ = try await run("mirrors", "import", "/nowhere/file", ends: 65)
        _ = try await run("mirrors", "import", stage.workingFolder, ends: 65)
    }

    @Test func secretsAreExportedToAFileOfTheOwner() async throws {
        _ = try await run("mirrors", "import", "-", input: Self.line("ann") + Self.line("ben"))
        let open = try await run("mirrors", "export")
        #expect(open.output.split(separator: "\n").count == 2)
        #expect(open.output.contains(#""missing":["credentials.bot.access_token"]"#))
        #expect(open.error.contains("note: the secrets of 2 mirrors are left out"))
        _ = try await run("mirrors", "export", "--with-secrets", ends: 64)
        _ = try await run("mirrors", "export", "-", "--with-secrets", ends: 64)
        let path = stage.folder.path("all.jsonl")
        _ = try await run("mirrors", "export", path, "--with-secrets")
        #expect(
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                == 0o600)
        let text = String(
            decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        #expect(text.contains("planted-token-ann") && text.contains("planted-token-ben"))
        _ = try await run("mirrors", "export", path, "--with-secrets", ends: 64)
        let again = try await run("mirrors", "import", path)
        #expect(again.output == "imported 2 mirrors: 0 new, 0 changed, 2 as they were\n")
        let other = try Stage()
        try await expect(other.run("mirrors", "import", path).status, equals: 0)
    }

    // MARK: Pausing and removing

    @Test func severalArePausedAndResumed() async throws {
        _ = try await run("mirrors", "import", "-", input: Self.line("ann") + Self.line("ben"))
        let paused = try await run("mirrors", "pause", "ann", "ben", "--until", "3d")
        #expect(
            paused.output.hasPrefix("mirror ann pauses until ")
                && paused.output.contains("\nmirror ben pauses "))
        try await expect(run("mirrors").output) {
            $0.contains("ann  paused") && $0.contains("ben  paused")
        }
        let none = try await run("mirrors", "pause", "ann", "nobody", ends: 78)
        #expect(none.error.contains("no such mirror") && none.output.isEmpty)
        let resumed = try await run("mirrors", "resume", "ann", "--json")
        #expect(
            resumed.output.contains(#""is_paused":false"#)
                && resumed.output.contains("mirror-bot/pause/1"))
        let both = try await run("mirrors", "resume", "ann", "ben")
        #expect(both.output == "nothing to do: mirror ann is not paused\nmirror ben continues\n")
        _ = try await run("mirrors", "pause", ends: 64)
        _ = try await run("mirrors", "pause", "ann", "ann", ends: 64)
        _ = try await run("mirrors", "pause", "Ann", ends: 64)
    }

    @Test func aRemovalIsAskedFor() async throws {
        try await stage.train(Fixture.lines(days: 3), environment: ["MIRROR": "ann"])
        try await stage.train(Fixture.lines(days: 3), environment: ["MIRROR": "ben"])
        let asked = try await run("mirrors", "remove", "ann", ends: 64)
        #expect(asked.error.contains("nothing was removed; answer y, or pass --yes"))
        let typed = try await stage.type(
            ["mirrors", "remove", "ann"],
            [("Remove mirror ann, unknown → unknown, with everything", "n")])
        #expect(typed.status == 64)
        try await expect(names(), equals: ["ann", "ben"])
        let removed = try await run("mirrors", "remove", "ann", "--yes")
        #expect(removed.output.hasPrefix("removed mirror ann, "))
        try await expect(names(), equals: ["ben"])
        _ = try await run("mirrors", "remove", "ann", "--yes", ends: 78)
        let json = try await run("mirrors", "remove", "ben", "--yes", "--json")
        #expect(
            json.output.contains("mirror-bot/mirror-removal/1")
                && json.output.contains(#""posts" : 3"#))
        try await expect(names(), equals: [])
    }

    // MARK: Where a mirror is broken, or none is there

    /// A mirror with a setting that cannot be used, be it the one that MIRROR names, hides no other
    /// one.
    @Test func aBrokenMirrorHidesNoOther() async throws {
        _ = try await run("mirrors", "import", "-", input: Self.line("ann") + Self.line("default"))
        _ = try await stage.withMirror(["MIRROR": "ann"]) { mirror in
            try await mirror.storage.execute(
                "UPDATE settings SET value = 'many' WHERE mirror = 'default' AND name = 'MAX_PER_DAY'"
            )
        }
        try await expect(names(), equals: ["ann", "default"])
        _ = try await run("mirrors", "pause", "ann")
        _ = try await run("mirrors", "resume", "ann")
        let all = try await run("status", "--all")
        #expect(all.output.contains("ann") && all.output.contains("MAX_PER_DAY"))
        try await expect(run("status", "--metrics", "--all").output) {
            $0.contains(#"mirrorbot_well{mirror="ann"}"#)
        }
        try await expect(run("status", "--metrics").output) {
            $0.contains(#"mirrorbot_mirrors{state="failing",code="setting-unusable"} 1"#)
        }
        _ = try await run("mirrors", "export")
    }

    /// Lines are checked where there is no database yet, and nothing is made.
    @Test func anImportIsTriedWithoutADatabase() async throws {
        let tried = try await run("mirrors", "import", "-", "--dry-run", input: Self.line("ann"))
        #expect(tried.output.hasPrefix("nothing was stored; of 1 mirrors: 1 new"))
        let wrong = #"{"name":"ann","settings":{"MAX_PER_DAY":"many"}}"# + "\n"
        _ = try await run("mirrors", "import", "-", "--dry-run", input: wrong, ends: 65)
        #expect(!FileManager.default.fileExists(atPath: stage.home + "/mirror-bot.sqlite"))
    }

    // MARK: Status

    @Test func theStateOfAllIsShownAndChecked() async throws {
        _ = try await run("mirrors", "import", "-", input: Self.line("ann") + Self.line("ben"))
        _ = try await run("mirrors", "pause", "ben")
        let shown = try await run("status", "--all")
        let lines = shown.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 3)
        #expect(lines[0].contains("2 mirrors: ") && lines[0].contains("1 paused"))
        #expect(lines[1].contains("ann  ") && lines[2].contains("ben  the mirror pauses since "))
        let check = try await run("status", "--all", "--check", ends: 78)
        #expect(
            check.error.hasPrefix("error: 1 of 2 mirrors do not work: ann; ann: "), "\(check.error)"
        )
        let well = try await run("status", "--all", "--check", "--search", "BEN")
        #expect(well.output == "all 1 mirrors do their work, or pause as they were told\n")
        let json = try await run("status", "--all", "--json", "--page", "1")
        let status = try Stage.decode(MirrorsStatus.self, from: json)
        #expect(status.mirrors.map(\.name) == ["ann", "ben"] && status.pages == 1)
        #expect(status.schema == "mirror-bot/mirrors-status/1")
        try await expect(
            run("status", "--all", "--search", "nobody").output, equals: "no mirrors were found\n")
        for words in [
            ["--search", "a"], ["--page", "2"], ["--all", "--page", "0"],
            ["--all", "--mirror", "ann"], ["--all", "--check", "--page", "2"],
            ["--all", "--check", "--json"],
        ] { try await expect(stage.run(words: ["status"] + words).status, equals: 64, "\(words)") }
        try await expect(Stage().run("status", "--all").status, equals: 78)
    }

    /// What a worker lacks is told as the worker's, in the text and in the JSON.
    @Test func aWorkerThatCannotWorkIsNamed() async throws {
        _ = try await run("mirrors", "import", "-", input: Self.line("ann"))
        // A beat that is not too old, however long the machine takes.
        let beat = (Date() + 3_600).milliseconds
        _ = try await stage.withMirror(["MIRROR": "ann"]) { mirror in
            try await mirror.storage.execute(
                """
                INSERT INTO workers (worker, beat, version, shares, mirrors, late_ms, updated_ms, unable_ms,
                    unable_extent, unable_reason)
                VALUES ('w1', 1, '1', TRUE, 1, 0, \(beat), 1795000000000, 'all', 'no server answers'),
                    ('w2', 1, '1', TRUE, 0, 0, \(beat), NULL, NULL, NULL),
                    ('w3', 1, '1', TRUE, 0, 0, \(beat), 1795000000000, 'part', 'no dictionary')
                """)
        }
        let since = Date(timeIntervalSince1970: 1_795_000_000).rfc3339
        let lines = try await run("status", "--all").output.split(separator: "\n").map(String.init)
        #expect(
            lines.suffix(2) == [
                "worker w1 can do nothing since \(since), holds 1 mirror: no server answers",
                "worker w3 can do only a part of the work since \(since), holds 0 mirrors: no dictionary",
            ])
        #expect(!lines.dropLast(2).contains { $0.contains("no server answers") })
        let status = try Stage.decode(
            MirrorsStatus.self, from: try await run("status", "--all", "--json"))
        #expect(status.unableWorkers?.map(\.reason) == ["no server answers", "no dictionary"])
        #expect(!status.mirrors.contains { $0.text.contains("no server answers") })
    }

    @Test func ownersAreAmongTheMetricsOfAll() async throws {
        _ = try await run("mirrors", "import", "-", input: Self.line("ann") + Self.line("ben"))
        let read = try ExpositionReader(try await run("status", "--metrics").output)
        #expect(read.value("mirrorbot_mirrors_unowned") == 2)
        #expect(read.types["mirrorbot_mirrors_owned"] == nil)
        let alone = try ExpositionReader(
            try await run("status", "--metrics", "--mirror", "ann").output)
        #expect(alone.value("mirrorbot_mirrors_unowned") == nil)
    }
}
