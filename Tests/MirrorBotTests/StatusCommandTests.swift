import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import TestSupport
import Testing

/// `mirror-bot status`.
@Suite(.timeLimit(.minutes(30))) struct StatusCommandTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    /// Looking at what is not there must not make it.
    @Test(arguments: [
        ["status"], ["status", "--json"], ["status", "--check"], ["plan"], ["explain", "a"],
        ["stats"], ["report", "--html", "a"], ["score"], ["rehearse", "--year", "2020"],
        ["suggestions"], ["people", "list"],
        ["people", "unlink", "x:1"],
        ["logout", "--as", "bot"], ["train", "clear", "--yes"], ["backup", "copy.sqlite"],
    ])
    func whereThereIsNoDatabaseNoneIsMade(_ words: [String]) async throws {
        let ending = try await stage.run(words: words, environment: ["TIME_ZONE": "UTC"])
        #expect(ending.status == 78)
        // Only status shows more: the whole checklist.
        #expect(ending.output.isEmpty != (words == ["status"] || words == ["status", "--json"]))
        #expect(
            ending.error == """
                error: mirror default is not set up yet: mirror-bot setup leads through all steps; next is the human's account, or \
                an archive of theirs: mirror-bot login mastodon --as human; the database \(stage.home)/mirror-bot.sqlite does not exist yet \
                (MIRROR_BOT_HOME and --home say where it is); HUMAN_SERVER and HUMAN_ACCESS_TOKEN are not set; mirror-bot \
                train scheduler --from FILE reads an archive

                """)
        try expect(stage.files()) { $0.isEmpty }
        #expect(!FileManager.default.fileExists(atPath: stage.home))
    }

    @Test func aNewMirrorSaysWhyItIsIdle() async throws {
        try await stage.makeDatabase()
        let report = try await stage.status()
        #expect(report.schema == "mirror-bot/status/2")
        #expect(report.mirror == "default")
        #expect(report.storage == "SQLite at \(stage.home)/mirror-bot.sqlite")
        #expect(report.archive.posts == 0)
        #expect(!report.isRunning)
        let reasons = [
            "nothing is sent", "no plan is made", "no posts and no replies", "no favorites yet",
            "nothing new is learned",
        ]
        for reason in reasons {
            expect(report.idle, "\(reason)") { $0.contains { $0.hasPrefix(reason) } }
        }
        let text = try await stage.run("status")
        #expect(text.status == 0)
        for sentence in report.idle { #expect(text.output.contains("! \(sentence)\n")) }
    }

    @Test func saysWhereSettingsLieAndWhoSharesTheMirror() async throws {
        func write(_ text: String, in folder: String) throws {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try text.write(toFile: folder + "/.env", atomically: false, encoding: .utf8)
        }
        let here = stage.workingFolder
        let other = stage.folder.path("other")
        try await stage.train(Fixture.lines(), environment: ["TIME_ZONE": "UTC"])
        try await expect(stage.run("status").output) {
            $0.contains("settings    no .env in this folder or in ")
        }
        try write("TIME_ZONE=UTC\n", in: here)
        try write("LINKS=off\n", in: stage.home)
        try write("TIME_ZONE=UTC\n", in: other)
        func inOther(_ words: String...) async throws -> Ending {
            try await RecordedConsole(environment: stage.environment, folder: other, input: "")
                .ending(of: words)
        }
        try await expect(stage.run("set", "MAX_PER_DAY=5").status, equals: 0)
        let alone = try #require(try await stage.status().place)
        #expect(alone.home == stage.home)
        #expect(alone.settings == [here + "/.env", stage.home + "/.env"])
        #expect(alone.sharedWith.isEmpty)
        // Looking leaves no trace of the other folder, a change does.
        try await expect(inOther("status").output) { $0.contains("shared") && $0.contains(here) }
        try await expect(stage.status().place?.sharedWith, equals: [])
        try await expect(inOther("set", "MAX_PER_DAY=4").status, equals: 0)
        try await expect(stage.status().place?.sharedWith, equals: [other])
        try await expect(stage.run("status").output) {
            $0.contains("shared      used from ") && $0.contains(other)
        }
        try write("TIME_ZONE=UTC\nMIRROR=second\n", in: other)
        try await expect(inOther("set", "MAX_PER_DAY=4").status, equals: 0)
        try await expect(stage.status().place?.sharedWith, equals: [])
    }

    /// Foundation calls some zones by other names than people do.
    @Test(arguments: ["UTC", "GMT", "Asia/Calcutta"]) func zonesAreNamedAsTheyWereWritten(
        name: String
    ) async throws {
        let settings = ["TIME_ZONE": name]
        try await stage.train(Fixture.lines(), environment: settings)
        try await expect(stage.status(settings).timeZone, equals: name)
        // Once it is known, it need not be said again.
        try await expect(stage.status().timeZone, equals: name)
    }

    @Test func aTrainedMirrorTellsWhatItKnows() async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.humanSettings.merging(["TIME_ZONE": "Asia/Tokyo"]) { $1 }
        try await expect(stage.run("train", "scheduler", environment: settings).status, equals: 0)
        let report = try await stage.status(settings)
        #expect(report.human == "haruka@sandbox.example")
        #expect(report.bot == nil)
        #expect(report.timeZone == "Asia/Tokyo")
        #expect(report.archive.posts > 0)
        #expect(report.archive.newest != nil)
        expect(report.idle) { !$0.contains { $0.hasPrefix("nothing new is learned") } }
        let text = try await stage.run("status", environment: settings)
        #expect(text.output.contains("accounts    @haruka@sandbox.example (Mastodon) → unknown\n"))
        await sandbox.stop()
    }

    @Test func mirrorsOfOneDatabaseAreApart() async throws {
        try await stage.train(Fixture.lines(days: 4), environment: ["MIRROR": "first"])
        try await expect(stage.status(["MIRROR": "first"]).archive.posts, equals: 4)
        try await stage.train(Fixture.lines(days: 5), environment: ["MIRROR": "second"])
        try await expect(stage.status(["MIRROR": "second"]).archive.posts, equals: 5)
        try await expect(stage.status(["MIRROR": "first"]).archive.posts, equals: 4)
    }

    @Test(arguments: [
        ["status"], ["plan"], ["run", "--once"], ["run"], ["people", "allow", "x:1"],
        ["train", "clear", "-y"],
        ["logout", "--as", "bot"], ["rebind"],
    ])
    func aMirrorThatIsNotThereIsAnErrorThatNamesThoseThatAre(_ words: [String]) async throws {
        for mirror in ["first", "second"] {
            try await stage.train(Fixture.lines(), environment: ["MIRROR": mirror])
        }
        // One that was cleared is still there.
        try await expect(
            stage.run("train", "clear", "-y", environment: ["MIRROR": "second"]).status, equals: 0)
        let ways = [(["--mirror", "frist"], "--mirror is frist"), ([], "MIRROR is default")]
        for (flag, start) in ways {
            let ending = try await stage.run(words: words + flag, environment: ["TIME_ZONE": "UTC"])
            #expect(ending.status == 78)
            #expect(ending.output.contains("\nbefore it works\n") == (words == ["status"]))
            #expect(
                ending.error == """
                    error: \(start), but there is no such mirror: the database has first, second; mirror-bot setup, \
                    login, train and set make one

                    """)
        }
    }

    @Test func inAnEmptyDatabaseOnlyTheUsualMirrorCanBegin() async throws {
        try await stage.makeDatabase()
        try await expect(stage.run("status").status, equals: 0)
        let other = try await stage.run("status", "--mirror", "other")
        #expect(other.status == 78)
        #expect(other.error.contains("there is no such mirror: the database has none yet"))
    }

    @Test func theDatabaseIsForItsOwnerOnly() async throws {
        try await stage.makeDatabase()
        let folder = try FileManager.default.attributesOfItem(atPath: stage.home)
        #expect(folder[.posixPermissions] as? Int == 0o700)
    }

    @Test func withoutASettingTheDatabaseIsWhereDataBelongs() async throws {
        let data = stage.folder.path("data")
        for dataHome in [data, "relative"] {
            try await stage.train(
                Fixture.lines(), environment: ["MIRROR_BOT_HOME": "", "XDG_DATA_HOME": dataHome])
        }
        let inDataHome = try await stage.status(["MIRROR_BOT_HOME": "", "XDG_DATA_HOME": data])
        #expect(inDataHome.storage == "SQLite at \(data)/mirror-bot/mirror-bot.sqlite")
        let inHome = try await stage.status(["MIRROR_BOT_HOME": "", "XDG_DATA_HOME": "relative"])
        #expect(
            inHome.storage
                == "SQLite at \(stage.folder.path)/.local/share/mirror-bot/mirror-bot.sqlite")
    }
}
