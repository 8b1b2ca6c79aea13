import Control
import Expectations
import Foundation
import Mirroring
import Settings
import TestSupport
import Testing

/// `mirror-bot config`.
@Suite(.timeLimit(.minutes(30))) struct ConfigCommandTests {
    private struct Report: Decodable {
        var schema: String
        var groups: [Group]
        var problems: [String]

        var settings: [Line] { groups.flatMap(\.settings) }
    }

    private struct Group: Decodable {
        var name: String
        var title: String
        var settings: [Line]
    }

    private struct Line: Decodable {
        var name: String
        var value: String?
        var origin: String
        var summary: String
        var effect: String?
        var uptake: String
        var problem: String?
    }

    private let stage: Stage

    init() throws { stage = try Stage() }

    /// Runs `config --json` and reads its answer, which must be all of the standard output.
    private func lines(
        _ words: [String] = [], environment: [String: String] = [:]
    ) async throws -> [String: Line] {
        let ending = try await stage.run(
            words: ["config", "--json"] + words, environment: environment)
        #expect(ending.status == 0, "\(ending.error)")
        // There may be no server where a test's DATABASE_URL points.
        #expect(
            ending.error.isEmpty
                || ending.error.hasPrefix("warning: what is set for the mirror is not shown: "))
        #expect(!ending.error.contains("planted"))
        let report = try JSONDecoder().decode(Report.self, from: Data(ending.output.utf8))
        #expect(report.schema == "mirror-bot/config/2")
        #expect(report.problems.isEmpty)
        #expect(report.settings.map(\.name) == AnySetting.all.map(\.name))
        return Dictionary(uniqueKeysWithValues: report.settings.map { ($0.name, $0) })
    }

    private func dotEnv(_ text: String) throws {
        try text.write(toFile: stage.workingFolder + "/.env", atomically: false, encoding: .utf8)
    }

    @Test func showsWhereEachValueComesFrom() async throws {
        let token = try stage.folder.write(Data("from-a-file\n".utf8), to: "token")
        try dotEnv("MAX_PER_DAY=7\nLINKS=off\nTIME_ZONE=Asia/Tokyo\n")
        let lines = try await lines(
            ["--time-zone", "Europe/Berlin"],
            environment: [
                "LINKS": "on", "TIME_ZONE": "Asia/Seoul", "BOT_SERVER": "https://a.example",
                "BOT_ACCESS_TOKEN_FILE": token,
            ])
        let origins = lines.mapValues(\.origin)
        #expect(origins["TIME_ZONE"] == "flag")
        #expect(origins["LINKS"] == "environment")
        #expect(origins["MAX_PER_DAY"] == ".env")
        #expect(origins["BOT_ACCESS_TOKEN"] == "file")
        #expect(origins["NO_REPEAT_DAYS"] == "default")
        #expect(origins["REDIS_URL"] == "unset")
        #expect(lines["TIME_ZONE"]?.value == "Europe/Berlin")
        #expect(lines["LINKS"]?.value == "on")
        #expect(lines["MAX_PER_DAY"]?.value == "7")
        #expect(lines["NO_REPEAT_DAYS"]?.value == "180")
        #expect(lines["REDIS_URL"]?.value == nil)
    }

    /// Between them, these set every secret there is.
    private static let secretive = [
        [
            "HUMAN_SERVER": "https://a.example", "HUMAN_ACCESS_TOKEN": "planted-1",
            "BOT_SERVER": "https://a.example",
            "BOT_ACCESS_TOKEN": "planted-2",
            "DATABASE_URL": "postgres://planted-3@a.example/planted-4",
            "REDIS_URL": "redis://:planted-5@a.example",
            "SECRET_KEY": "planted-6-and-quite-a-few-letters-more-than-that",
            "NOTIFY_URL": "https://planted-7@a.example/planted-8",
            "HEARTBEAT_URL": "https://a.example/planted-9",
            "WEB_PASSWORD": "planted-10",
        ],
        [
            "NETWORK": "x", "HUMAN_CONSUMER_KEY": "planted-1", "HUMAN_CONSUMER_SECRET": "planted-2",
            "HUMAN_ACCESS_TOKEN": "planted-3", "HUMAN_ACCESS_TOKEN_SECRET": "planted-4",
            "BOT_CONSUMER_KEY": "planted-1", "BOT_CONSUMER_SECRET": "planted-2",
            "BOT_ACCESS_TOKEN": "planted-5",
            "BOT_ACCESS_TOKEN_SECRET": "planted-6",
        ],
        [
            "NETWORK": "bluesky", "HUMAN_HANDLE": "a.example", "HUMAN_APP_PASSWORD": "planted-1",
            "BOT_HANDLE": "b.example", "BOT_APP_PASSWORD": "planted-2",
        ],
    ]

    @Test func redactsEverySecretInBothForms() async throws {
        var redacted: Set<String> = []
        for environment in Self.secretive {
            let lines = try await lines(environment: environment)
            redacted.formUnion(lines.filter { $0.value.value == "<redacted>" }.keys)
            for words in [["config"], ["config", "--json"]] {
                let ending = try await stage.run(words: words, environment: environment)
                #expect(ending.status == 0)
                #expect(!(ending.output + ending.error).contains("planted"))
            }
        }
        #expect(redacted == Set(AnySetting.all.filter(\.isSecret).map(\.name)))
    }

    @Test(arguments: [40, 60, 80, 120]) func everySettingHasALineForPeopleThatFits(columns: Int)
        async throws
    {
        let path = "/" + String(repeating: "a-long-name/", count: 9)
        let ending = try await stage.run(
            "config", environment: ["COLUMNS": "\(columns)", "MIRROR_BOT_HOME": path])
        #expect(ending.status == 0)
        let lines = ending.output.split(separator: "\n")
        expect(lines, "\(lines.filter { $0.count > columns })") {
            $0.allSatisfy { $0.count <= columns }
        }
        let heads = lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
        #expect(
            heads.map { $0.dropFirst(2).prefix { $0 != " " } }
                == AnySetting.all.map { Substring($0.name) })
        let titles = lines.filter { line in AnySetting.Group.allCases.contains { $0.title == line }
        }
        #expect(titles.map(String.init) == AnySetting.Group.allCases.map(\.title))
        let words = ending.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for setting in AnySetting.all {
            #expect(words.contains(setting.summary.dropFirst()), "\(setting.name)")
            let change = "Change: taken up \(setting.uptake.words)."
            #expect(
                words.contains(change + (setting.effect.map { " \($0)" } ?? "")), "\(setting.name)")
        }
        // A path is whole, on however many lines.
        #expect(ending.output.filter { !$0.isWhitespace }.contains(path.prefix(40)))
    }

    @Test func aWordShowsTheSettingsThatContainIt() async throws {
        func names(_ word: String) async throws -> [String] {
            let ending = try await stage.run("config", word, "--json")
            #expect(ending.status == 0)
            return try JSONDecoder().decode(Report.self, from: Data(ending.output.utf8)).settings
                .map(\.name)
        }
        try await expect(names("quiet_hours"), equals: ["QUIET_HOURS"])
        // The meaning counts, too, and so does what a change does.
        try await expect(names("Pictures")) { $0.contains("MEDIA") && !$0.contains("MIRROR") }
        try await expect(names("some seconds for")) { $0 == ["FEATURES"] }
        try await expect(names("no such words")) { $0.isEmpty }
        let text = try await stage.run("config", "quiet")
        #expect(
            text.output.hasPrefix(
                "Schedule\n  QUIET_HOURS  none  (default)\n    Never post then.\n    Values: spans, as 23:"
            ))
        try await expect(
            stage.run("config", "no such words").output,
            equals: "no setting contains \"no such words\"\n")
    }

    /// A word hides lines, and no problem.
    @Test func aWrongValueIsToldWhateverIsShown() async throws {
        let ending = try await stage.run("config", "LINKS", environment: ["MAX_PER_DAY": "many"])
        #expect(ending.status == 78)
        #expect(ending.error.contains("error: MAX_PER_DAY is \"many\""))
        #expect(!ending.output.contains("MAX_PER_DAY"))
    }

    @Test func everyLineSaysWhatAChangeDoesAndWhenItIsTakenUp() async throws {
        let lines = try await lines()
        #expect(lines["QUIET_HOURS"]?.uptake == "live")
        #expect(lines["OLD_BOT"]?.uptake == "next-decision")
        #expect(lines["DATABASE_URL"]?.uptake == "next-start")
        for setting in AnySetting.all {
            #expect(lines[setting.name]?.uptake == setting.uptake.rawValue, "\(setting.name)")
            #expect(lines[setting.name]?.effect == setting.effect, "\(setting.name)")
        }
    }

    /// All of it at once, so that nobody mends one value to learn of the next.
    @Test func everyWrongValueIsNamedBelowTheWholeTable() async throws {
        let wrong = [
            "TIME_ZONE": "Mars/Olympus", "QUIET_HOURS": "night", "MAX_PER_DAY": "many",
            "REDIS_URL": "redis://[planted",
            "REDIS_TLS_VERIFY": "maybe", "SECRET_KEY": "planted-short",
            "OPERATOR_CONTACT": "nobody",
            "BOT_SERVER": "https://planted@a.example", "HUMAN_ACCESS_TOKEN": "planted-alone",
            "DATABASE_URL": "postgres://me:planted@[::1/x",
            "MECAB_DICTIONARY": "/nowhere/dictionary",
        ]
        let blamed = Set(wrong.keys).subtracting(["HUMAN_ACCESS_TOKEN"]).union([
            "HUMAN_SERVER", "BOT_ACCESS_TOKEN",
        ])
        let ending = try await stage.run("config", "--json", environment: wrong)
        #expect(ending.status == 78)
        let report = try JSONDecoder().decode(Report.self, from: Data(ending.output.utf8))
        #expect(report.settings.map(\.name) == AnySetting.all.map(\.name))
        #expect(Set(report.settings.filter { $0.problem != nil }.map(\.name)) == blamed)
        #expect(report.problems.count == blamed.count)
        let table = try await stage.run("config", environment: wrong)
        #expect(table.status == 78)
        for name in blamed {
            #expect(table.error.contains("error: \(name) "), "\(name) in \(table.error)")
        }
        #expect(
            table.output.contains(
                "    ! QUIET_HOURS is \"night\"; expected spans such as 23:00-07:00"))
        #expect(table.error.contains("error: REDIS_TLS_VERIFY must be auto, full, none or pin:"))
        #expect(!(ending.output + ending.error + table.output + table.error).contains("planted"))
    }

    @Test func showsWhereTheEmbeddedDatabaseIs() async throws {
        let unset = try await lines(environment: ["MIRROR_BOT_HOME": ""])["MIRROR_BOT_HOME"]
        #expect(unset?.value == stage.folder.path + "/.local/share/mirror-bot")
        #expect(unset?.origin == "default")
        let data = try await lines(environment: ["MIRROR_BOT_HOME": "", "XDG_DATA_HOME": "/data"])[
            "MIRROR_BOT_HOME"]
        #expect(data?.value == "/data/mirror-bot")
        try await expect(lines()["MIRROR_BOT_HOME"]?.value, equals: stage.home)
    }

    @Test func aVariableSetToNothingIsNotSet() async throws {
        try dotEnv("QUIET_HOURS=01:00-02:00\n")
        let lines = try await lines(environment: [
            "QUIET_HOURS": "", "TIME_ZONE": "", "BOT_ACCESS_TOKEN": "",
        ])
        #expect(lines["QUIET_HOURS"]?.value == "01:00-02:00")
        #expect(lines["TIME_ZONE"]?.origin == "unset")
        #expect(lines["BOT_ACCESS_TOKEN"]?.origin == "unset")
    }

    @Test func dotEnvMayHoldCommentsAndQuotes() async throws {
        try dotEnv("# ours\n\nTIME_ZONE=\"Asia/Tokyo\"\nMIRROR=second\n")
        let lines = try await lines()
        #expect(lines["TIME_ZONE"]?.value == "Asia/Tokyo")
        #expect(lines["MIRROR"]?.value == "second")
    }

    @Test func aCommentMayFollowAQuotedValue() async throws {
        try dotEnv(
            """
            TIME_ZONE="Asia/Tokyo" # where she lives
            QUIET_HOURS='01:00-02:00'\t# asleep
            OPERATOR_CONTACT="@ops#1@a.example"
            MIRROR="second"   #
            """)
        let lines = try await lines()
        #expect(lines["TIME_ZONE"]?.value == "Asia/Tokyo")
        #expect(lines["QUIET_HOURS"]?.value == "01:00-02:00")
        #expect(lines["OPERATOR_CONTACT"]?.value == "@ops#1@a.example")
        #expect(lines["MIRROR"]?.value == "second")
    }

    @Test func aTildeIsTheHomeFolder() async throws {
        _ = try stage.folder.write(Data("from-a-file-that-is-long-enough-for-it\n".utf8), to: "key")
        try dotEnv("MIRROR_BOT_HOME=~/bots\nSECRET_KEY_FILE=\"~/key\"\nTIME_ZONE=UTC\n")
        let lines = try await lines(environment: ["MIRROR_BOT_HOME": ""])
        #expect(lines["MIRROR_BOT_HOME"]?.value == stage.folder.path + "/bots")
        #expect(lines["SECRET_KEY"]?.origin == "file")
        try await expect(
            self.lines(["--home=~"])["MIRROR_BOT_HOME"]?.value, equals: stage.folder.path)
    }

    /// As after an update: what it was for is said, and nothing breaks.
    @Test func namesThatAreNoLongerUsedAreWarnedOf() async throws {
        try dotEnv("WEIGHTS=plain\n")
        let ending = try await stage.run("config", environment: ["BURSTS": "off"])
        #expect(ending.status == 0)
        let lines = ending.error.split(separator: "\n")
        #expect(lines.count == 2, "\(lines)")
        expect(lines.first) {
            $0?.hasPrefix("warning: BURSTS is no longer used: OLD_BOT=yes ") == true
        }
        expect(lines.last) {
            $0?.hasPrefix("warning: line 1 of .env: WEIGHTS is no longer used: OLD_BOT=yes ")
                == true
        }
    }

    @Test func namesThatAreNoSettingsAreWarnedOf() async throws {
        try dotEnv(
            """
            # COMMENT=1
            TIMEZONE=Asia/Tokyo
            bot_server=https://a.example
            POSTGRES_PASSWORD=planted-1
            BOT_ACESS_TOKEN_FILE=/nowhere
            cGxhbnRlZC0yLXBsYW50ZWQ==

            MIRROR=second
            """)
        let ending = try await stage.run("config")
        #expect(ending.status == 0)
        #expect(
            ending.error == """
                warning: line 2 of .env: TIMEZONE is no setting; did you mean TIME_ZONE?
                warning: line 3 of .env: bot_server is no setting; did you mean BOT_SERVER?
                warning: line 4 of .env: POSTGRES_PASSWORD is no setting
                warning: line 5 of .env: BOT_ACESS_TOKEN_FILE is no setting; did you mean BOT_ACCESS_TOKEN_FILE?
                warning: line 6 of .env names no setting

                """)
    }

    @Test func dotEnvOfAnotherFolderIsNotRead() async throws {
        try "MIRROR=second\n".write(
            toFile: stage.folder.path(".env"), atomically: false, encoding: .utf8)
        try await expect(lines()["MIRROR"]?.value, equals: "default")
    }

    @Test func dotEnvOfWindowsIsReadAsAnyOther() async throws {
        try dotEnv("\u{FEFF}TIME_ZONE=Asia/Tokyo\r\nexport MIRROR=second\r\n")
        let lines = try await lines()
        #expect(lines["TIME_ZONE"]?.value == "Asia/Tokyo")
        #expect(lines["MIRROR"]?.value == "second")
    }

    @Test func aLineOfDotEnvThatIsNotUnderstoodIsAnErrorWithoutItsValue() async throws {
        try dotEnv("MIRROR=second\nBOT_ACCESS_TOKEN=\"planted-token\nTIME_ZONE planted-zone\n")
        let ending = try await stage.run("status")
        #expect(ending.status == 78)
        #expect(
            ending.error == "error: line 2 of .env has no closing \"; a value ends on its line\n")
        let report = try await stage.run("config")
        #expect(report.status == 78)
        expect(report.output + report.error) {
            $0.contains("line 3 of .env has no =; write NAME=value")
        }
        expect(report.output + report.error) { !$0.contains("planted") }
        try Data("MIRROR=second\n".utf16.flatMap { [UInt8($0 & 0xFF), 0] }).write(
            to: URL(fileURLWithPath: stage.workingFolder + "/.env"))
        try await expect(
            stage.run("status").error,
            equals: "error: .env is written as UTF-16; save it as UTF-8\n")
    }

    @Test(arguments: [
        (
            "TIME_ZONE=Mars/One",
            "TIME_ZONE is \"Mars/One\"; expected an IANA name such as Europe/Berlin; nothing was changed"
        ),
        (
            "MAX_PER_DAY=many",
            "MAX_PER_DAY is \"many\"; expected a whole number from 0 to 1000; nothing was changed"
        ),
        ("LINKES=on", "LINKES is no setting; did you mean LINKS?; nothing was changed"),
        (
            "SECRET_KEY=planted",
            "SECRET_KEY is a secret, which is not set for a mirror; nothing was changed"
        ),
        ("QUIET_HOURS=99", "nothing was changed"), ("REVIEW=everything", "nothing was changed"),
    ])
    func aWrongValueIsNotSet(_ word: String, _ problem: String) async throws {
        try await stage.makeDatabase()
        let ending = try await stage.run("set", "LINKS=off", word)
        #expect(ending.status == 78)
        expect(ending.error) { $0.contains(problem) }
        expect(ending.error) { !$0.contains("was set for the mirror") && !$0.contains("planted") }
        try await expect(stage.run("set").output, equals: "nothing is set for mirror default\n")
    }

    /// The environment wins over the working folder, and that over the home.
    @Test func dotEnvIsReadInTheHomeToo() async throws {
        func home(_ text: String) throws {
            try FileManager.default.createDirectory(
                atPath: stage.home, withIntermediateDirectories: true)
            try text.write(toFile: stage.home + "/.env", atomically: false, encoding: .utf8)
        }
        try home("TIME_ZONE=Asia/Tokyo\nMAX_PER_DAY=7\nLINKS=off\nMIRROR_BOT_HOME=\(stage.home)/\n")
        try dotEnv("MAX_PER_DAY=8\nLINKS=on\n")
        let lines = try await lines(environment: ["LINKS": "off"])
        #expect(lines["TIME_ZONE"]?.value == "Asia/Tokyo")
        #expect(lines["TIME_ZONE"]?.origin == "home .env")
        #expect(lines["MAX_PER_DAY"]?.value == "8")
        #expect(lines["MAX_PER_DAY"]?.origin == ".env")
        #expect(lines["LINKS"]?.value == "off")
        #expect(lines["LINKS"]?.origin == "environment")
        // The working folder may name the home.
        try dotEnv("MIRROR_BOT_HOME=\(stage.home)\n")
        try await expect(
            self.lines(environment: ["MIRROR_BOT_HOME": ""])["TIME_ZONE"]?.value,
            equals: "Asia/Tokyo")
        try home("MIRROR=second\nMIRROR_BOT_HOME=/elsewhere\n")
        let moved = try await stage.run("status")
        #expect(moved.status == 78)
        expect(moved.error) {
            $0.hasPrefix(
                "error: line 2 of \(stage.home)/.env sets MIRROR_BOT_HOME to another folder")
        }
        // One file in both places is read once.
        try home("LINKS=off\nLINKES=off\n")
        let here = try await stage.start(["config"], in: stage.home).ending()
        #expect(
            here.error == "warning: line 2 of .env: LINKES is no setting; did you mean LINKS?\n")
    }

    @Test func dotEnvThatCannotBeReadIsAnError() async throws {
        try FileManager.default.createDirectory(
            atPath: stage.workingFolder + "/.env", withIntermediateDirectories: false)
        let ending = try await stage.run("config")
        #expect(ending.status == 78)
        #expect(ending.error.hasPrefix("error: .env cannot be read"))
    }

    @Test func readsNothingAndWritesNothing() async throws {
        _ = try await lines()
        try expect(stage.files()) { $0.isEmpty }
    }
}
