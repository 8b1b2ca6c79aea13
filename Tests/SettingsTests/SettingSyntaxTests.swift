import Conduct
import Expectations
import Favorites
import Foundation
import Networks
import Posts
import Schedule
import TestSupport
import Testing

@testable import Settings

/// How the values of settings are parsed and printed.
@Suite struct SettingSyntaxTests {
    // MARK: What is printed is parsed again

    @Test(arguments: AnySetting.all.map(\.name)) func aDefaultIsItsOwnSpelling(_ name: String)
        throws
    {
        let setting = try #require(AnySetting.named(name))
        guard let fallback = setting.fallback else { return }
        try expect(setting.rewritten(fallback), equals: fallback)
    }

    /// Of every setting, a value that is not the default.
    @Test(arguments: ConfigurationTests.everything.keys.sorted())
    func whatIsPrintedIsParsedAsTheSame(_ name: String) throws {
        let setting = try #require(AnySetting.named(name))
        let text = try #require(ConfigurationTests.everything[name])
        let printed = try #require(try setting.rewritten(text))
        try expect(setting.rewritten(printed), equals: printed)
    }

    /// Every value is printed and parsed again; one that is not printed means that none is set.
    private func survives<Value: Equatable>(
        _ setting: Setting<Value>, _ values: [Value],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for value in values + [setting.fallback] {
            guard let text = setting.print(value) else {
                #expect(value == setting.fallback, sourceLocation: sourceLocation)
                continue
            }
            try expect(
                setting.parse(text), equals: value, "\(setting.name)=\(text)",
                sourceLocation: sourceLocation)
        }
    }

    @Test func eachTypeOfAValueSurvives() throws {
        try survives(.memorial, [false, true])
        try survives(.links, [false, true])
        try survives(.media, [false, true])
        try survives(.trustArchive, [false, true])
        try survives(.firstReplyNote, [false, true, nil])
        try survives(.maxPerDay, [0, 1, 1_000])
        try survives(.maxUses, [1, 1_000, nil])
        try survives(.pollSeconds, [.seconds(10), .seconds(3_600)])
        try survives(
            .holdWhileActive,
            [1, 59, 60, 61, 90, 120, 1_439, 1_440].map { Duration.seconds($0 * 60) })
        try survives(
            .favoriteRateThreshold, [0.1, 2, 2.5, 1e-300, 1e15, 1e300, .leastNonzeroMagnitude])
        try survives(
            .xBudget, [0, 1, 250_000, 5_000_000, 1_000_000_000_000].map { Money(microdollars: $0) })
        try survives(.fitness, FitnessMode.allCases)
        try survives(.features, FeatureWords.allCases)
        try survives(.threads, ThreadRule.allCases)
        try survives(.quotes, [.anyone, .followers, .nobody, nil])
        try survives(.whoMayReply, Audience.allCases)
        let reviewed = try ["none", "posts", "replies", "all"].map { try Setting.review.parse($0) }
        #expect(reviewed.map(\.count) == [0, 1, 1, 3])
        try survives(.review, reviewed)
        try survives(.favoriteMode, FavoriteMode.allCases)
        try survives(.xAppOwner, [.human, .bot, nil])
        try survives(.humanConsent, HumanConsent.Ground.statements)
        try survives(.network, NetworkName.known)
        try survives(.timeZone, ["Asia/Tokyo", "Europe/Berlin"].map(TimeZone.init(identifier:)))
        try survives(
            .quietHours,
            ["none", "23:00-07:00", "00:00-06:30,12:00-13:00"].compactMap(QuietHours.init(parsing:))
        )
        try survives(
            .webListen, ["127.0.0.1:8080", "[::1]:0"].map { WebSettings.Listening($0) })
        try survives(.webHosts, [["a.example"], ["a.example", "b.example"]])
        try survives(
            .webProxies,
            [
                ["10.0.0.0/8", "192.0.2.1", "::1", "2001:db8::/32", "::/0"]
                    .compactMap { NetworkRange($0) }
            ])
        try survives(
            .notifyCommand,
            [
                ["tell"], ["tell", "the operator"], ["a'b", "\"", "'\"'", "", " "],
                ["x", ""],
            ])
    }

    /// What is secret is printed whole, for another process.
    @Test func aSecretSurvives() throws {
        for (setting, text) in [
            (Setting.secretKey, String(repeating: "k", count: 32)),
            (.databaseURL, "postgres://me:password@h/d"), (.webPassword, "long enough words"),
        ] {
            let secret = try setting.parse(text)
            #expect(setting.print(secret) == text)
        }
        for text in ["ntfy://token@ntfy.example/topic", "https://me:password@hooks.example/x?y=1"] {
            let address = try Setting.notifyURL.parse(text)
            #expect(Setting.notifyURL.print(address) == text)
        }
    }

    // MARK: What no setting takes

    /// Refused by the parser alone, without the other settings.
    @Test(arguments: ConfigurationTests.wrong)
    func aWrongValueIsRefusedByItsParser(_ name: String, _ value: String) throws {
        let setting = try #require(AnySetting.named(name))
        let error = #expect(throws: ConfigurationError.self) { try setting.rewritten(value) }
        #expect(error?.setting == name)
    }

    @Test(arguments: AnySetting.all.map(\.name))
    func aControlCharacterIsRefusedByName(_ name: String) throws {
        let setting = try #require(AnySetting.named(name))
        for text in ["planted\u{0}", "\u{1B}[31mplanted", "planted\n", "\u{7}"] {
            let error = #expect(throws: ConfigurationError.self) { try setting.rewritten(text) }
            #expect(error?.description == "\(name) holds a control character")
        }
    }

    /// A type is more than a text; whatever a person wrote instead, the answer is short.
    @Test(arguments: AnySetting.all.map(\.name))
    func aHostileTextIsRefusedByName(_ name: String) throws {
        let setting = try #require(AnySetting.named(name))
        if case .text = setting.form { return }
        let long = String(repeating: "planted ", count: 10_000)
        for text in ["\u{202E}on", "1e999", "nan", "ten", "1,5", "-1", "None", " ", "٣", long] {
            let error = #expect(throws: ConfigurationError.self) { try setting.rewritten(text) }
            #expect(error?.setting == name)
            expect(error?.description) { $0?.hasPrefix("\(name) is \"") == true }
            expect(error?.description) { $0?.contains("\"; expected ") == true }
            #expect((error?.description.count ?? 0) < 200)
        }
    }

    @Test(arguments: [
        ("WEB_LISTEN", "nowhere"), ("WEB_LISTEN", "a.example:65536"), ("WEB_LISTEN", "::1:80"),
        ("WEB_PASSWORD", "planted"), ("WEB_PASSWORD", String(repeating: "\u{3000}", count: 9)),
        ("WEB_HOSTS", "a.example, b/c"), ("WEB_USER_HEADER", "Cookie"),
        ("WEB_USER_HEADER", "Remote User"), ("WEB_PROXIES", "10.0.0.0/33"),
        ("WEB_PROXIES", "a.example"), ("SECRET_KEY", "planted"),
        ("DATABASE_URL", "mysql://planted"), ("NOTIFY_URL", "https://planted@/"),
    ]) func aTextOfAnotherFormIsRefusedByName(_ name: String, _ text: String) throws {
        let setting = try #require(AnySetting.named(name))
        let error = #expect(throws: ConfigurationError.self) { try setting.rewritten(text) }
        #expect(error?.setting == name)
        #expect((error?.description.count ?? 0) < 200)
        if setting.isSecret { expect(error?.description) { $0?.contains("planted") == false } }
    }

    // MARK: Typed values

    @Test func aValueThatIsNoneLeavesTheDefault() throws {
        let folder = try TemporaryDirectory()
        let (values, problems) = SettingValues.loadAll(
            flags: [:], environment: ["MAX_PER_DAY": "many", "FITNESS": "off"],
            folder: folder.path)
        #expect(problems.map(\.setting) == ["MAX_PER_DAY"])
        #expect(values[.maxPerDay] == Setting.maxPerDay.fallback)
        #expect(values.text(.maxPerDay) == "many")
        #expect(values[.fitness] == .off)
        #expect(values.origin(.fitness) == .environment)
    }

    // MARK: Names that are no longer used

    static let retired = [
        "SCHEDULE_MODEL": "kernel", "BURSTS": "off", "WEIGHTS": "plain", "X_FIELD_NAMES": "post",
    ]

    @Test func aRetiredNameIsNoSetting() {
        #expect(Set(RetiredSetting.names) == Set(Self.retired.keys))
        #expect(RetiredSetting.names.allSatisfy { AnySetting.named($0) == nil })
    }

    @Test func aRetiredNameInTheEnvironmentIsWarnedOf() throws {
        let folder = try TemporaryDirectory()
        for (name, value) in Self.retired {
            let values = try SettingValues.load(
                environment: ["HOME": folder.path, name: value], folder: folder.path)
            #expect(values.warnings.count == 1)
            expect(values.warnings.first) {
                $0?.hasPrefix("\(name) is no longer used: ") == true
                    && $0?.hasSuffix("; remove it from the environment") == true
            }
            let settings = try MirrorSettings(values)
            #expect(settings.schedule == .init())
            #expect(settings.favorites.weighting == .learned)
        }
        let empty = try SettingValues.load(
            environment: ["HOME": folder.path, "BURSTS": ""], folder: folder.path)
        #expect(empty.warnings.isEmpty)
    }

    @Test func aRetiredNameInAFileIsWarnedOfByItsLine() throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write(Data("LINKS=off\nBURSTS=planted\n".utf8), to: ".env")
        let values = try SettingValues.load(
            environment: ["HOME": folder.path], folder: folder.path)
        #expect(values.warnings.count == 1)
        expect(values.warnings.first) {
            $0?.hasPrefix("line 2 of .env: BURSTS is no longer used: ") == true
                && $0?.contains("OLD_BOT=yes") == true && $0?.contains("planted") == false
        }
        #expect(!values[.links])
    }

    /// As after an update: the mirror works on, and what is stored beside it counts.
    @Test func aRetiredNameThatIsStoredIsWarnedOf() throws {
        let folder = try TemporaryDirectory()
        let given = try MirrorSettings(
            try SettingValues.load(environment: ["HOME": folder.path], folder: folder.path))
        let stored = try given.with(stored: Self.retired.merging(["MAX_PER_DAY": "7"]) { $1 })
        #expect(stored.schedule == .init(maximumPerDay: 7))
        #expect(stored.values.storedWarnings.count == Self.retired.count)
        for (name, warning) in zip(Self.retired.keys.sorted(), stored.values.storedWarnings) {
            #expect(warning.hasPrefix("\(name) is no longer used: "))
            #expect(warning.hasSuffix("; mirror-bot unset \(name) forgets it"))
        }
        // Forgotten, they are warned of no more.
        try expect(
            given.with(stored: ["MAX_PER_DAY": "7"]).values.storedWarnings, equals: [])
    }

    @Test func aRetiredNameCannotBeSetAnew() throws {
        let folder = try TemporaryDirectory()
        let given = try MirrorSettings(
            try SettingValues.load(environment: ["HOME": folder.path], folder: folder.path))
        for (name, value) in Self.retired {
            let error = #expect(throws: ConfigurationError.self) {
                try given.check([name: value], besides: [:])
            }
            #expect(error?.setting == name)
            expect(error?.description) { $0?.hasPrefix("\(name) is no longer used: ") == true }
            // What is stored does not keep another value from being set.
            try given.check(["LINKS": "off"], besides: [name: value])
        }
    }

    // MARK: The bot of 2014

    @Test func theOldBotDrawsEachMinuteByItself() throws {
        let folder = try TemporaryDirectory()
        func settings(_ variables: [String: String]) throws -> MirrorSettings {
            try MirrorSettings(
                try SettingValues.load(
                    environment: variables.merging(["HOME": folder.path]) { $1 },
                    folder: folder.path))
        }
        let usual = try settings([:])
        #expect(usual.schedule == .init())
        #expect(usual.favorites.weighting == .learned)
        let old = try settings(["OLD_BOT": "yes"])
        #expect(old.schedule == .init(model: .raw, bursts: false))
        #expect(old.favorites.weighting == .plain)
        // It can be set for one mirror, and taken back.
        try expect(usual.with(stored: ["OLD_BOT": "yes"]).schedule, equals: old.schedule)
        try expect(old.with(stored: ["OLD_BOT": "no"]).schedule, equals: usual.schedule)
        // A model that was chosen otherwise gives way to it, and comes back.
        var spread = usual
        spread.copiesDays = false
        #expect(spread.schedule == .init(model: .kernel))
        try expect(spread.with(stored: ["OLD_BOT": "yes"]).schedule, equals: old.schedule)
        try expect(spread.with(stored: ["LINKS": "off"]).schedule, equals: spread.schedule)
    }
}
