import Control
import Expectations
import Foundation
import Mirroring
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

/// Every documented exit code, reached by a mishap that a person can have.
@Suite(.timeLimit(.minutes(30))) struct ExitCodeTests {
    private let stage: Stage

    init() throws { stage = try Stage(["TIME_ZONE": "Europe/Berlin"]) }

    /// The one line on the error output that says what went wrong.
    private func complaint(_ ending: Ending, besideAnAnswer: Bool = false) throws -> String {
        #expect(ending.output.isEmpty != besideAnAnswer, "\(ending.output)")
        let lines = ending.error.split(separator: "\n").filter { $0.hasPrefix("error: ") }
        #expect(lines.count == 1, "\(ending.error)")
        return try #require(lines.first.map(String.init))
    }

    private func closedAddress() async throws -> String {
        let sandbox = try await Sandbox.live()
        await sandbox.stop()
        return sandbox.url
    }

    // MARK: 65, bad data

    @Test func aTruncatedZipIsBadData() async throws {
        _ = try Fixture.xArchive(in: stage.folder)
        let zip = try RunningProgram(
            Launch(
                path: try ServerProcess.locate("zip"), arguments: ["-qr", "whole.zip", "data"],
                environment: stage.environment, folder: stage.folder.path("archive")))
        await expect(zip.ending().status, equals: 0)
        let whole = stage.folder.path("archive/whole.zip")
        let bytes = try #require(FileManager.default.contents(atPath: whole))
        let half = try stage.folder.write(bytes.prefix(bytes.count / 2), to: "half.zip")

        let damaged = try await stage.run("train", "scheduler", "--from", half)
        #expect(damaged.status == 65)
        try expect(complaint(damaged)) { $0.contains("half.zip") }
        try await expect(stage.run("train", "scheduler", "--from", whole).status, equals: 0)
    }

    @Test func whatIsNotThereOrNoArchiveIsBadData() async throws {
        let noise = try stage.folder.write(Data("just words\n".utf8), to: "noise.txt")
        for path in ["/nowhere/archive.zip", stage.workingFolder, noise] {
            let ending = try await stage.run("train", "classifier", "--from", path)
            #expect(ending.status == 65, "\(path)")
            try expect(complaint(ending)) { $0.contains(path) }
        }
    }

    @Test func aDatabaseThatIsNoneIsBadData() async throws {
        try FileManager.default.createDirectory(
            atPath: stage.home, withIntermediateDirectories: true)
        try Data(repeating: 0x41, count: 8_192).write(
            to: URL(fileURLWithPath: stage.home + "/mirror-bot.sqlite"))
        let ending = try await stage.run("status")
        #expect(ending.status == 65)
        try expect(complaint(ending)) { $0.contains("mirror-bot.sqlite") }
    }

    // MARK: 69, unavailable

    @Test func aServerThatIsDownIsUnavailable() async throws {
        let address = try await closedAddress()
        let settings = [
            "HUMAN_SERVER": address, "HUMAN_ACCESS_TOKEN": "h", "BOT_SERVER": address,
            "BOT_ACCESS_TOKEN": "b",
        ]
        for words in [
            ["train", "scheduler"], ["train", "classifier"], ["run", "--once"],
            ["run", "--dry-run"],
        ] {
            let ending = try await stage.run(words: words, environment: settings)
            #expect(ending.status == 69, "\(words)")
            try expect(complaint(ending)) { $0.contains("127.0.0.1") }
        }
    }

    @Test func aBrokenServerIsUnavailable() async throws {
        let sandbox = try await Sandbox.live()
        sandbox.faults.failNext(.html(status: 502), count: 100)
        let ending = try await stage.run("train", "scheduler", environment: sandbox.humanSettings)
        #expect(ending.status == 69)
        try expect(complaint(ending)) { $0.contains("502") }
        await sandbox.stop()
    }

    @Test func aDatabaseServerThatIsDownIsUnavailable() async throws {
        let address = try await closedAddress().dropFirst("http://".count)
        let url = ["DATABASE_URL": "postgres://me:word@\(address)/db"]
        for words in [
            ["migrate"], ["status", "--json"], ["plan"], ["train", "clear", "--yes"],
            ["run", "--once"],
        ] {
            let ending = try await stage.run(words: words, environment: url)
            #expect(ending.status == 69, "\(words)")
            _ = try complaint(ending)
        }
    }

    /// The examples are kept in the database, from which the counts are made again.
    @Test func countsThatAreDownAreAWarningOnly() async throws {
        let address = try await closedAddress().dropFirst("http://".count)
        let redis = ["REDIS_URL": "redis://\(address)"]
        let path = try stage.folder.write(Data(Fixture.examples(4).utf8), to: "examples.jsonl")
        let ending = try await stage.run("train", "classifier", "--from", path, environment: redis)
        #expect(ending.status == 0)
        #expect(ending.output.contains("4 new"))
        #expect(ending.error.contains("warning: could not read the counts: could not use Redis"))
    }

    // MARK: 70, a bug

    @Test func aDatabaseThatSomebodyChangedIsReportedAsABug() async throws {
        try await stage.withMirror { _ = try await $0.storage.execute("DROP TABLE posts") }
        let ending = try await stage.run("status")
        #expect(ending.status == 70)
        try expect(complaint(ending)) { $0.contains("posts") }
        #expect(ending.error.contains("this is a bug; please report it"))
    }

    // MARK: 75, later

    @Test func aServerThatAsksToWaitIsForLater() async throws {
        let sandbox = try await Sandbox.live()
        let busy = SandboxFault.error(
            status: 429, message: "Too many requests", headers: ["Retry-After": "600"])
        sandbox.faults.failNext(busy, count: 2)
        let ending = try await stage.run("train", "scheduler", environment: sandbox.humanSettings)
        #expect(ending.status == 75)
        _ = try complaint(ending)
        let patient = try await stage.run(
            "train", "scheduler", "--if-possible", environment: sandbox.humanSettings)
        #expect(patient.status == 0)
        #expect(patient.error.contains("not trained yet: "))
        await sandbox.stop()
    }

    // MARK: 77, refused

    @Test func aWrongTokenIsRefused() async throws {
        let sandbox = try await Sandbox.live()
        let settings = [
            "HUMAN_SERVER": sandbox.url, "HUMAN_ACCESS_TOKEN": "wrong", "BOT_SERVER": sandbox.url,
            "BOT_ACCESS_TOKEN": "wrong-too",
        ]
        let commands = [
            ["train", "scheduler"], ["train", "classifier", "--if-possible"], ["run"],
            ["run", "--once"],
            ["run", "--dry-run"],
        ]
        for words in commands {
            let ending = try await stage.run(words: words, environment: settings)
            #expect(ending.status == 77, "\(words)")
            try expect(complaint(ending)) { $0.contains("access token") }
        }
        await sandbox.stop()
    }

    @Test func aTokenWithoutTheRightToPublishIsRefusedWhenItMatters() async throws {
        let sandbox = try await Sandbox.live()
        let noon = Noon()
        let settings = [
            "BOT_SERVER": sandbox.url, "BOT_ACCESS_TOKEN": sandbox.humanToken,
            "TIME_ZONE": noon.zone,
            "QUIET_HOURS": noon.quietHours, "MIN_AGE_DAYS": "0",
        ]
        _ = try await stage.run(
            "train", "scheduler", "--from", "-", input: Fixture.lines(perDay: 6))
        let ending = try await stage.run("run", "--once", environment: settings)
        #expect(ending.status == 77)
        await expect(sandbox.ledger.deliveries) { $0.isEmpty }
        await sandbox.stop()
    }

    // MARK: 78, configuration

    @Test(arguments: [
        ("NETWORK", "friendster", "mastodon"), ("FAVORITE_MODE", "maybe", "off, suggest, auto"),
        ("OLD_BOT", "maybe", "no, yes"),
        ("FEATURES", "all", "pairs, content, nouns"),
        ("MEDIA", "yes", "off, own"),
        ("LINKS", "1", "on, off"), ("LOG_LEVEL", "loud", "trace"), ("LOG_FORMAT", "xml", "logfmt"),
        ("POLL_SECONDS", "9", "10 to 3600"), ("MAX_PER_DAY", "-1", "0 to 1000"),
        ("MAX_PER_DAY", "1e3", "0 to 1000"),
        ("ARCHIVE_LIMIT", "99999999999999999999", "100 to"),
        ("FAVORITE_RATE_THRESHOLD", "nan", "above 0"),
        ("FAVORITE_RATE_THRESHOLD", "-1", "above 0"), ("QUIET_HOURS", "all night", "23:00-07:00"),
        ("TIME_ZONE", "Mars/Olympus", "Europe/Berlin"), ("MIRROR", "Two Words", "a-z"),
        ("HUMAN_SERVER", "https://a.example", "HUMAN_ACCESS_TOKEN"),
        ("BOT_ACCESS_TOKEN", "t", "BOT_SERVER"),
        ("DATABASE_URL", "mysql://a.example/db", "postgres://"),
        ("BOT_ACCESS_TOKEN_FILE", "/nowhere", "/nowhere"),
    ])
    func anUnusableValueIsNamedWithWhatIsAllowed(_ name: String, _ value: String, _ allowed: String)
        async throws
    {
        let ending = try await stage.run("config", environment: [name: value])
        #expect(ending.status == 78)
        let complaint = try complaint(ending, besideAnAnswer: true)
        #expect(complaint.contains(name))
        #expect(complaint.contains(allowed))
    }

    /// As `docker run --env-file` hands them over.
    @Test(arguments: AnySetting.all.map(\.name))
    func aValueBetweenQuotesIsNamed(_ name: String) async throws {
        for value in ["\"planted\"", "'planted'", "\"planted\" # why", "“planted”"] {
            let ending = try await stage.run("config", environment: [name: value])
            #expect(ending.status == 78)
            let lines = ending.error.split(separator: "\n")
            #expect(
                lines.contains { $0.contains("\(name) stands between quotes; leave them out") },
                "\(lines)")
            #expect(!ending.error.contains("planted"))
        }
    }

    @Test func aFileBetweenQuotesIsNamed() async throws {
        let path = try stage.folder.write(Data("'token'\n".utf8), to: "token")
        for value in ["\"\(path)\"", path] {
            let ending = try await stage.run(
                "config", environment: ["BOT_ACCESS_TOKEN_FILE": value])
            #expect(ending.status == 78)
            try expect(complaint(ending, besideAnAnswer: true)) {
                $0.contains("stands between quotes; leave them out")
            }
        }
    }

    /// A word of a command may need its quotes.
    @Test func aValueWithQuotesInItIsKept() async throws {
        for value in ["\"/opt/a b\" \"c\"", "tell 'me'"] {
            let ending = try await stage.run(
                "config", "--json", environment: ["NOTIFY_COMMAND": value])
            #expect(ending.status == 0, "\(ending.error)")
        }
    }

    @Test(arguments: ["LATIN1", "SQL_ASCII", "EUC_JP"])
    func aDatabaseThatCannotHoldEveryTextIsRefused(_ encoding: String) async throws {
        let server = try await PostgresServer.shared()
        let name = "t" + UUID().uuidString.lowercased().replacing("-", with: "")
        try await server.run(
            "CREATE DATABASE \(name) ENCODING '\(encoding)' LOCALE 'C' TEMPLATE template0")
        let url = ["DATABASE_URL": server.url(database: name)]
        let commands = [
            ["migrate"], ["status"], ["train", "scheduler", "--from", "-"], ["doctor"],
            ["run", "--once"],
        ]
        for words in commands {
            let ending = try await stage.run(words: words, environment: url, input: Fixture.lines())
            #expect(ending.status == 78, "\(words)")
            let all = ending.output + ending.error
            #expect(
                all.contains("encoding \(encoding)") && all.contains("ENCODING 'UTF8'"), "\(all)")
        }
    }

    @Test(arguments: [
        "CREATE TABLE schema_migrations (version TEXT)", "CREATE TABLE posts (id BIGINT)",
        "ALTER ROLE CURRENT_USER IN DATABASE {name} SET search_path = nowhere",
    ])
    func aDatabaseOfAnotherProgramIsNoBug(_ preparation: String) async throws {
        let server = try await PostgresServer.shared()
        let url = try await server.makeDatabase()
        let name = try #require(url.split(separator: "/").last)
        try await server.run(preparation.replacing("{name}", with: name), database: url)
        let ending = try await stage.run("migrate", environment: ["DATABASE_URL": url])
        #expect(ending.status == 78, "\(ending.error)")
        try expect(complaint(ending)) { $0.contains("of its own") || $0.contains("search_path") }
    }

    @Test(arguments: ["https://a.example/path", "ftp://a.example", "https://me@a.example"])
    func anUnusableServerIsNamed(_ server: String) async throws {
        let ending = try await stage.run(
            "config", environment: ["BOT_SERVER": server, "BOT_ACCESS_TOKEN": "planted"])
        #expect(ending.status == 78)
        let complaint = try complaint(ending, besideAnAnswer: true)
        #expect(complaint.contains("BOT_SERVER"))
        #expect(complaint.contains("https://host"))
        #expect(!complaint.contains("planted"))
    }

    @Test func humanAndBotMustDiffer() async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings.merging([
            "HUMAN_SERVER": sandbox.url, "HUMAN_ACCESS_TOKEN": sandbox.botToken,
        ]) { $1 }
        for words in [["run"], ["run", "--once"], ["run", "--dry-run"]] {
            let ending = try await stage.run(words: words, environment: settings)
            #expect(ending.status == 78, "\(words)")
            try expect(complaint(ending)) { $0.contains("BOT_ACCESS_TOKEN") }
        }
        await expect(sandbox.ledger.deliveries) { $0.isEmpty }
        await sandbox.stop()
    }

    @Test func aMirrorKeepsItsAccounts() async throws {
        let sandbox = try await Sandbox.live()
        try await expect(
            stage.run("train", "scheduler", environment: sandbox.humanSettings).status, equals: 0)
        let other = ["HUMAN_SERVER": sandbox.url, "HUMAN_ACCESS_TOKEN": sandbox.botToken]
        let ending = try await stage.run("train", "scheduler", environment: other)
        #expect(ending.status == 78)
        try expect(complaint(ending)) { $0.contains("MIRROR") }
        let apart = try await stage.run(
            "train", "scheduler", "--mirror", "other", environment: other)
        #expect(apart.status == 0)
        await sandbox.stop()
    }

    @Test func whoDoesNotWaitNeedsATimeZone() async throws {
        let sandbox = try await Sandbox.live()
        let settings = sandbox.botSettings.merging(["TIME_ZONE": ""]) { $1 }
        for words in [["run", "--dry-run"], ["run", "--once"], ["plan"]] {
            let ending = try await stage.run(words: words, environment: settings)
            #expect(ending.status == 78, "\(words)")
            // The zone is of no use before there are posts.
            try expect(complaint(ending)) {
                $0.contains("; next is the human's account, or an archive of theirs: ")
            }
        }
        // A training guesses it.
        _ = try await stage.run(
            "train", "scheduler", "--from", "-", environment: settings,
            input: Fixture.lines(perDay: 12))
        try await expect(stage.run("run", "--once", environment: settings).status, equals: 0)
        await sandbox.stop()
    }

    @Test func runNeedsABot() async throws {
        for words in [["run"], ["run", "--once"], ["run", "--dry-run"]] {
            let ending = try await stage.run(words: words)
            #expect(ending.status == 78, "\(words)")
            try expect(complaint(ending)) {
                $0.contains("HUMAN_SERVER and HUMAN_ACCESS_TOKEN are not set")
            }
        }
        try await stage.train(Fixture.lines())
        for words in [["run"], ["run", "--once"], ["run", "--dry-run"]] {
            let ending = try await stage.run(words: words)
            #expect(ending.status == 78, "\(words)")
            try expect(complaint(ending)) {
                $0.contains("BOT_SERVER and BOT_ACCESS_TOKEN are not set")
            }
        }
    }

    @Test func aPlanWithoutAnArchiveSaysWhatToDo() async throws {
        try await stage.makeDatabase()
        for words in [["plan", "--json"], ["plan", "reroll"]] {
            let ending = try await stage.run(words: words, environment: ["TIME_ZONE": "UTC"])
            #expect(ending.status == 78, "\(words)")
            try expect(complaint(ending)) {
                $0.contains("mirror-bot train scheduler --from FILE reads an archive")
            }
        }
    }

    @Test func aDictionaryThatIsMissingIsNamed() async throws {
        let path = try stage.folder.write(Data(Fixture.examples(4).utf8), to: "examples.jsonl")
        let ending = try await stage.run(
            "train", "classifier", "--from", path,
            environment: ["MECAB_DICTIONARY": "/nowhere/dictionary"])
        #expect(ending.status == 78)
        try expect(complaint(ending)) { $0.contains("/nowhere/dictionary") }
    }

    @Test(arguments: [
        ["run"], ["run", "--once"], ["train", "scheduler"], ["train", "classifier", "--from", "-"],
        ["train", "clear"],
        ["migrate"], ["login", "bluesky", "--as", "human"], ["status"], ["people", "deny", "x:1"],
    ])
    func aDynoNeedsALastingDatabase(_ words: [String]) async throws {
        let ending = try await stage.run(words: words, environment: ["DYNO": "worker.1"])
        #expect(ending.status == 78)
        try expect(complaint(ending)) {
            $0.contains("DATABASE_URL is not set, and a dyno's disk is forgotten daily")
        }
        #expect(!FileManager.default.fileExists(atPath: stage.home), "a database was made")
    }

    @Test func trainingWithoutATokenSaysWhatToDo() async throws {
        let ending = try await stage.run("train", "scheduler")
        #expect(ending.status == 78)
        try expect(complaint(ending)) { $0.contains("--from") }
        try await expect(stage.run("train", "scheduler", "--if-possible").status, equals: 0)
        let half = ["HUMAN_SERVER": "https://mastodon.example"]
        try await expect(stage.run("train", "scheduler", environment: half).status, equals: 78)
        try await expect(
            stage.run("train", "scheduler", "--if-possible", environment: half).status, equals: 0)
    }
}
