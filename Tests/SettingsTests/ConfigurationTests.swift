import Conduct
import Configuration
import Expectations
import Favorites
import Foundation
import Networks
import Posts
import Schedule
import Storage
import TestSupport
import Testing
import X

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// What the settings are, where they come from, and what is refused.
@Suite struct ConfigurationTests {
    private static let token = "s3cr3t-of-the-human"
    private static let botToken = "s3cr3t-of-the-bot"
    private static let databaseURL =
        "postgres://mirror:s3cr3t-database@db.example:5433/mirrors?sslmode=require"
    private static let redisURL = "rediss://:s3cr3t-redis@redis.example:6380/2"

    private static let key = "s3cr3t-key-s3cr3t-key-s3cr3t-key-s3cr3t-key"

    /// Every setting with a value that is not its default.
    static let everything = [
        "MIRROR": "haruka-2", "NETWORK": "bluesky", "HUMAN_NETWORK": "x",
        "HUMAN_SERVER": "Social.Example",
        "HUMAN_ACCESS_TOKEN": token, "HUMAN_ACCESS_TOKEN_SECRET": "s3cr3t-ats",
        "HUMAN_CONSUMER_KEY": "s3cr3t-ck",
        "HUMAN_CONSUMER_SECRET": "s3cr3t-cs", "HUMAN_HANDLE": "haruka.example",
        "HUMAN_APP_PASSWORD": "s3cr3t-hap",
        "HUMAN_API_BASE_URL": "https://proxy.example", "BOT_NETWORK": "x",
        "BOT_SERVER": "https://bots.example:8443/", "BOT_ACCESS_TOKEN": botToken,
        "BOT_ACCESS_TOKEN_SECRET": "s3cr3t-bats", "BOT_CONSUMER_KEY": "s3cr3t-bck",
        "BOT_CONSUMER_SECRET": "s3cr3t-bcs", "BOT_HANDLE": "mirror.example",
        "BOT_APP_PASSWORD": "s3cr3t-bap",
        "BOT_API_BASE_URL": "http://127.0.0.1:9000", "SECRET_KEY": key,
        "DATABASE_URL": databaseURL, "DATABASE_CONNECTIONS": "12", "REDIS_URL": redisURL,
        "REDIS_TLS_VERIFY": "full",
        "MIRROR_BOT_HOME": "/srv/mirror", "TIME_ZONE": "Europe/Berlin", "OLD_BOT": "yes",
        "QUIET_HOURS": "23:00-01:00, 12:00-12:02", "HOLD_WHILE_ACTIVE": "90m",
        "NO_REPEAT_DAYS": "90", "MAX_USES": "3",
        "MIN_AGE_DAYS": "7", "MAX_AGE_DAYS": "3650", "LINKS": "off", "FITNESS": "loose",
        "CONTENT_WARNINGS": "carry",
        "MEDIA": "own", "MEDIA_WITHOUT_ALT": "yes", "THREADS": "whole", "QUOTES": "nobody",
        "WHO_MAY_REPLY": "mentioned",
        "MAX_PER_DAY": "12", "FAVORITE_RATE_THRESHOLD": "3.5", "FEATURES": "nouns",
        "FAVORITE_MODE": "off",
        "FAVORITES_PER_DAY": "4", "REPLIES": "review",
        "REVIEW": "replies", "FOLLOW_EDITS": "delete", "DELETE_ON_FAVORITE": "yes",
        "CONFIRM_STOP": "no", "FIRST_REPLY_NOTE": "on", "TRUST_ARCHIVE": "yes",
        "HUMAN_CONSENT": "heirs",
        "MEMORIAL": "yes",
        "TRUST_HUMAN_SERVER": "yes", "REPLIES_PER_PERSON": "2", "REPLIES_PER_THREAD": "6",
        "ARCHIVE_LIMIT": "2000",
        "EXAMPLE_LIMIT": "3000", "HISTORY_DAYS": "200",
        "MECAB_DICTIONARY": "/var/lib/mecab/dic/other",
        "X_ACKNOWLEDGE_POLICY": "yes", "X_BUDGET_USD_PER_MONTH": "7.5",
        "X_HOME_POSTS_PER_DAY": "30",
        "X_APP_OWNER": "bot", "POLL_SECONDS": "45", "PASSES": "40",
        "OPERATOR_CONTACT": "ops@example.org",
        "NOTIFY_URL": "https://s3cr3t-token@hooks.example/s3cr3t-path", "NOTIFY_FORMAT": "ntfy",
        "NOTIFY_COMMAND": "tell 'the operator'",
        "HEARTBEAT_URL": "https://beat.example/s3cr3t-beat",
        "LOG_LEVEL": "debug", "LOG_FORMAT": "json",
        "WEB_LISTEN": "127.0.0.1:9090", "WEB_ADDRESS": "https://mirror.example.net/",
        "WEB_PASSWORD": "s3cr3t-web-password",
        "WEB_HOSTS": "mirror.example.org",
        "WEB_USER_HEADER": "Remote-User", "WEB_PROXIES": "172.18.0.0/16", "PUBLIC_PAGE": "yes",
    ]

    /// The same for a human and a bot on Mastodon.
    private static let ofMastodon = everything.filter { name, _ in
        let parts = [
            "CONSUMER_KEY", "CONSUMER_SECRET", "ACCESS_TOKEN_SECRET", "HANDLE", "APP_PASSWORD",
            "NETWORK",
            "WHO_MAY_REPLY",
        ]
        return !parts.contains { name.hasSuffix($0) }
    }

    private static func values(
        _ environment: [String: String], dotEnv: [String: String]? = nil,
        flags: [String: String] = [:]
    ) throws -> SettingValues {
        try SettingValues(
            flags: flags,
            environment: EnvironmentVariablesProvider(environmentVariables: environment),
            dotEnv: dotEnv.map { EnvironmentVariablesProvider(environmentVariables: $0) })
    }

    private static func configuration(
        _ variables: [String: String], environment: [String: String] = ["HOME": "/home/haruka"]
    ) throws -> MirrorConfiguration {
        try MirrorConfiguration(try values(variables), environment: environment)
    }

    /// People who read no variables look for them by their titles.
    @Test func everySettingHasATitleOfItsOwn() {
        let titles = AnySetting.all.map(\.title)
        #expect(Set(titles).count == titles.count)
        for title in titles {
            expect(title) { $0.first?.isUppercase == true && $0.last?.isPunctuation == false }
            expect(title) { !$0.contains { "_`\"".contains($0) } }
        }
    }

    /// Each setting changes what its owner is parsed to, and nothing of the other one.
    @Test func everySettingIsParsedByItsOwner() throws {
        func dumped(_ value: Any) -> String {
            var text = ""
            dump(value, to: &text)
            // A set is dumped in any order.
            return text.split(separator: "\n").sorted().joined(separator: "\n")
        }
        func parsed(_ variables: [String: String]) throws -> (process: String, mirror: String) {
            let values = try Self.values(variables)
            let process = try ProcessSettings(values, environment: ["HOME": "/home/haruka"])
            // What the settings are parsed from holds all of them.
            let parts = Mirror(reflecting: try MirrorSettings(values, readsAccounts: false))
                .children
                .filter { $0.label != "values" }
            return (dumped(process), parts.map { dumped($0.value) }.joined())
        }
        let fields = AccountRole.allCases.flatMap { role in
            AccountField.settable.map { $0.name(of: role) }
        }
        for setting in AnySetting.all where !fields.contains(setting.name) {
            // What means something only beside another one.
            let base =
                switch setting.name {
                case Setting.mediaWithoutAlt.name: ["MEDIA": "own"]
                case "DATABASE_CONNECTIONS": ["DATABASE_URL": Self.databaseURL]
                default: [String: String]()
                }
            let before = try parsed(base)
            let after = try parsed(
                base.merging([setting.name: try #require(Self.everything[setting.name])]) { $1 })
            #expect(
                (before.process != after.process) == (setting.scope == .process), "\(setting.name)")
            let lines = Set(after.mirror.split(separator: "\n")).symmetricDifference(
                before.mirror.split(separator: "\n"))
            #expect(
                (before.mirror != after.mirror) == (setting.scope != .process),
                "\(setting.name): \(lines)")
        }
    }

    /// A memorial answers nobody and favorites nothing, unless that is set itself.
    @Test func aMemorialOnlyPosts() throws {
        func settings(_ variables: [String: String]) throws -> MirrorSettings {
            try MirrorSettings(try Self.values(variables), readsAccounts: false)
        }
        let usual = try settings([:])
        #expect(!usual.isMemorial)
        #expect(usual.favoriteMode != .off)
        #expect(usual.repliesPerPerson > 0)
        let memorial = try settings(["MEMORIAL": "yes"])
        #expect(memorial.isMemorial)
        #expect(memorial.favoriteMode == .off)
        #expect(memorial.repliesPerPerson == 0)
        #expect(memorial.schedule.maximumPerDay == usual.schedule.maximumPerDay)
        let asked = try settings([
            "MEMORIAL": "yes", "FAVORITE_MODE": "suggest", "REPLIES_PER_PERSON": "1",
        ])
        #expect(asked.favoriteMode == .suggest)
        #expect(asked.repliesPerPerson == 1)
        // The same of what is set for one mirror.
        let stored = try usual.with(stored: ["MEMORIAL": "yes"])
        #expect(stored.favoriteMode == .off)
        #expect(stored.repliesPerPerson == 0)
        let both = try usual.with(stored: ["MEMORIAL": "yes", "FAVORITE_MODE": "auto"])
        #expect(both.favoriteMode == .auto)
    }

    @Test func resolvesEveryVariable() throws {
        #expect(Set(Self.everything.keys) == Set(AnySetting.all.map(\.name)))
        let values = try Self.values(Self.everything)
        for setting in AnySetting.all {
            #expect(values.text(setting) == Self.everything[setting.name])
            #expect(values.origin(setting) == .environment)
            #expect(setting.fallback != Self.everything[setting.name])
        }
        let all = try Self.configuration(Self.ofMastodon, environment: ["DYNO": "worker.1"])
        #expect(all.mirror.mirror == "haruka-2")
        #expect(all.mirror.humanNetwork == .mastodon)
        #expect(all.mirror.botNetwork == .mastodon)
        let human = try #require(all.mirror.account(.human))
        let bot = try #require(all.mirror.account(.bot))
        #expect(human.host == "social.example")
        #expect(bot.host == "bots.example:8443")
        #expect(human.apiBaseURL == "https://proxy.example")
        #expect(bot.apiBaseURL == "http://127.0.0.1:9000")
        #expect(human.credentials.text(.server) == "https://social.example")
        #expect(human.credentials.text(.accessToken) == Self.token)
        #expect(bot.credentials.text(.server) == "https://bots.example:8443")
        #expect(bot.credentials.text(.accessToken) == Self.botToken)
        #expect(all.process.secretKey?.reveal() == Self.key)
        #expect(all.mirror.quotes == .nobody)
        #expect(all.mirror.x.mayPublish)
        #expect(all.mirror.x.homePostsPerDay == 30)
        #expect(all.mirror.x.appOwner == .bot)
        #expect(all.mirror.x.monthlyBudget.description == "$7.50")
        guard case .postgres(Self.databaseURL, connections: 12) = all.process.storage else {
            return #expect(Bool(false), "\(all.process.storage)")
        }
        #expect(all.process.passes == 40)
        #expect(all.process.redisURL?.reveal() == Self.redisURL)
        #expect(all.process.redisTLSVerify == "full")
        #expect(all.mirror.timeZone?.identifier == "Europe/Berlin")
        #expect(all.mirror.timeZoneName == "Europe/Berlin")
        #expect(all.mirror.operatorContact == "ops@example.org")
        #expect(all.process.notices.address?.host == "hooks.example")
        #expect(all.process.notices.format == .ntfy)
        #expect(all.process.notices.command == ["tell", "the operator"])
        #expect(all.process.notices.heartbeat?.host == "beat.example")
        #expect(all.process.web.address == "https://mirror.example.net")
        #expect(all.process.web.hosts == ["mirror.example.org", "mirror.example.net"])
        #expect(all.mirror.schedule.model == .raw)
        #expect(!all.mirror.schedule.bursts)
        #expect(all.mirror.schedule.maximumPerDay == 12)
        #expect(all.mirror.schedule.quiet.count == 122)
        #expect(all.mirror.noRepeatDays == 90)
        #expect(all.mirror.minimumAgeDays == 7)
        #expect(!all.mirror.links)
        #expect(all.mirror.fitness == .loose)
        #expect(all.mirror.carriesWarnings)
        #expect(all.mirror.holdWhileActive == 5_400)
        #expect(all.mirror.maximumUses == 3)
        #expect(all.mirror.maximumAgeDays == 3_650)
        #expect(all.mirror.pictures == .all)
        #expect(all.mirror.threads == .whole)
        #expect(all.mirror.favorites.threshold == 3.5)
        #expect(all.mirror.favorites.exampleLimit == 3_000)
        #expect(all.mirror.featureWords == .nouns)
        #expect(all.mirror.favorites.weighting == .plain)
        #expect(all.mirror.favoriteMode == .off)
        #expect(all.mirror.favoritesPerDay == 4)
        #expect(all.mirror.repliesPerPerson == 2)
        #expect(all.mirror.repliesPerThread == 6)
        #expect(all.mirror.archiveLimit == 2_000)
        #expect(all.process.dictionary == "/var/lib/mecab/dic/other")
        #expect(all.mirror.pollInterval == .seconds(45))
        #expect(all.process.isDyno)
    }

    @Test func hasTheDocumentedDefaults() throws {
        let values = try Self.values([:])
        for setting in AnySetting.all {
            #expect(values.text(setting) == setting.fallback)
            #expect(values.origin(setting) == (setting.fallback == nil ? .unset : .fallback))
        }
        let plain = try Self.configuration([:])
        #expect(plain.mirror.mirror == "default")
        #expect(plain.mirror.account(.human) == nil)
        #expect(plain.mirror.account(.bot) == nil)
        #expect(plain.process.redisURL == nil)
        #expect(plain.mirror.timeZone == nil)
        #expect(plain.process.secretKey == nil)
        #expect(
            "\(plain.process.storage)"
                == "SQLite at /home/haruka/.local/share/mirror-bot/mirror-bot.sqlite")
        #expect(plain.mirror.schedule == ScheduleConfiguration())
        expect(plain.mirror.favorites, equals: (try FavoriteConfiguration()))
        #expect(plain.mirror.noRepeatDays == 180)
        #expect(plain.mirror.minimumAgeDays == 30)
        #expect(plain.mirror.links)
        #expect(plain.mirror.fitness == .plain)
        #expect(!plain.mirror.carriesWarnings)
        #expect(plain.mirror.holdWhileActive == nil)
        #expect(plain.mirror.maximumUses == nil)
        #expect(plain.mirror.maximumAgeDays == nil)
        #expect(plain.mirror.pictures == .leftOut)
        #expect(plain.mirror.threads == .leftOut)
        try expect(Self.configuration(["MEDIA": "own"]).mirror.pictures, equals: .described)
        try expect(
            Self.configuration(["MEDIA_WITHOUT_ALT": "yes"]).mirror.pictures, equals: .leftOut)
        #expect(plain.mirror.favoriteMode == .auto)
        #expect(plain.mirror.favoritesPerDay == 10)
        #expect(plain.mirror.featureWords == .pairs)
        #expect(plain.mirror.favorites.weighting == .learned)
        #expect(plain.mirror.repliesPerPerson == 3)
        #expect(plain.mirror.repliesPerThread == 5)
        #expect(plain.mirror.archiveLimit == 10_000)
        #expect(plain.process.dictionary == "ipadic-utf8")
        #expect(plain.mirror.pollInterval == .seconds(60))
        #expect(!plain.process.isDyno)
    }

    @Test(arguments: [
        "ops@example.org", "mailto:ops@example.org", "https://example.org/bot", "@ops",
        "@ops@example.org",
        "ops.bsky.social", "@ops.bsky.social",
    ])
    func takesAContact(text: String) throws {
        try expect(
            Self.configuration(["OPERATOR_CONTACT": text]).mirror.operatorContact, equals: text)
    }

    /// It stands in a header of every request.
    @Test(arguments: [
        "ops", "@", "@@", "ops@", "a@b@c", "a b@example.org", "ops@example.org)",
        "(ops@example.org",
        "ops@example.org\\",
        "https://", "ftp://example.org", "\u{E9}@example.org", "a.example/x", "a@b.example:80",
        String(repeating: "a", count: 200) + "@example.org",
    ])
    func refusesWhatIsNoContact(text: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try Self.configuration(["OPERATOR_CONTACT": text])
        }
        #expect(error?.setting == "OPERATOR_CONTACT")
    }

    @Test(arguments: ["UTC", "GMT", "Etc/UTC", "Asia/Calcutta"]) func namesAZoneAsItWasWritten(
        name: String
    ) throws {
        try expect(Self.configuration(["TIME_ZONE": name]).mirror.timeZoneName, equals: name)
    }

    @Test func prefersFlagsToTheEnvironmentToDotEnvToDefaults() throws {
        let flags = ["MIRROR": "flag"]
        let environment = ["MIRROR": "environment", "MEDIA": "own"]
        let dotEnv = ["MIRROR": "dot-env", "MEDIA": "off", "LINKS": "off"]
        let all = try Self.values(environment, dotEnv: dotEnv, flags: flags)
        #expect(all.text(.mirror) == "flag")
        #expect(all.origin(.mirror) == .flag)
        #expect(all[.media])
        #expect(all.origin(.media) == .environment)
        #expect(!all[.links])
        #expect(all.origin(.links) == .dotEnv)
        #expect(all[.features] == .pairs)
        #expect(all.origin(.features) == .fallback)
        #expect(all[AccountField.server.setting(of: .human)] == nil)
        #expect(all.origin(AccountField.server.setting(of: .human)) == .unset)
    }

    @Test func takesAVariableSetToNothingForUnset() throws {
        let all = try Self.values(
            ["MIRROR": "", "TIME_ZONE": "", "BOT_ACCESS_TOKEN": ""], dotEnv: ["MIRROR": "file"])
        #expect(all.text(.mirror) == "file")
        #expect(all.origin(.mirror) == .dotEnv)
        #expect(all.origin(.timeZone) == .unset)
        #expect(all.origin(AccountField.accessToken.setting(of: .bot)) == .unset)
    }

    @Test func readsSecretsFromTheFilesTheyAreNamedIn() throws {
        let folder = try TemporaryDirectory()
        for setting in AnySetting.all where setting.isSecret {
            let value = try #require(Self.everything[setting.name])
            let path = try folder.write(Data(" \(value)\r\n".utf8), to: setting.name)
            let named = try Self.values([setting.name + "_FILE": path])
            #expect(named.text(setting) == value)
            #expect(named.origin(setting) == .file)
            // The variable itself goes first.
            let other = value + "0"
            let both = try Self.values([setting.name + "_FILE": path, setting.name: other])
            #expect(both.text(setting) == other)
            // The environment's file goes before `.env`'s value.
            let layered = try Self.values(
                [setting.name + "_FILE": path], dotEnv: [setting.name: "plain"])
            #expect(layered.origin(setting) == .file)
        }
        let path = try folder.write(Data("elsewhere".utf8), to: "mirror")
        try expect(Self.values(["MIRROR_FILE": path]).text(.mirror), equals: "default")
    }

    @Test func refusesSecretFilesThatHoldNone() throws {
        let folder = try TemporaryDirectory()
        let contents: [(String, Data)] = [
            ("empty", Data()), ("blank", Data(" \n".utf8)),
            ("huge", Data(repeating: 0x61, count: 65_537)),
            ("binary", Data([0xFF, 0xFE, 0x00])),
        ]
        let paths =
            try contents.map { try folder.write($0.1, to: $0.0) } + [
                folder.path, folder.path("missing"),
            ]
        for path in paths {
            let error = #expect(throws: ConfigurationError.self) {
                try Self.values(["BOT_ACCESS_TOKEN_FILE": path])
            }
            #expect(error?.setting == "BOT_ACCESS_TOKEN_FILE")
            expect(error?.description) { $0?.contains(path) == true }
        }
    }

    @Test func showsNoSecretAnywhere() throws {
        let values = try Self.values(Self.everything)
        let all = try Self.configuration(Self.ofMastodon)
        var texts: [String] = []
        for value in [
            values, all, all.process.storage, all.mirror.account(.bot) as Any,
            all.process.redisURL as Any,
        ]
            as [Any]
        {
            var dumped = ""
            dump(value, to: &dumped)
            texts += ["\(value)", String(reflecting: value), dumped]
        }
        let secrets = ["s3cr3t", Self.databaseURL, Self.redisURL]
        for text in texts {
            for secret in secrets { #expect(!text.contains(secret)) }
        }
        #expect(texts[0].contains("BOT_ACCESS_TOKEN=<redacted>"))
        #expect(texts[0].contains("MIRROR=haruka-2"))
    }

    static let wrong: [(String, String)] = [
        ("NETWORK", "friendica"), ("NETWORK", "Mastodon"), ("OLD_BOT", "on"),
        ("LINKS", "ON"), ("FEATURES", "verbs"), ("FAVORITE_MODE", "always"), ("LOG_LEVEL", "loud"),
        ("LOG_FORMAT", "xml"), ("NO_REPEAT_DAYS", "-1"), ("NO_REPEAT_DAYS", "3651"),
        ("NO_REPEAT_DAYS", "1.5"),
        ("NO_REPEAT_DAYS", "ten"), ("NO_REPEAT_DAYS", "99999999999999999999"),
        ("MIN_AGE_DAYS", " 7"),
        ("FITNESS", "lenient"), ("CONTENT_WARNINGS", "yes"), ("MEDIA", "all"),
        ("MEDIA_WITHOUT_ALT", "maybe"),
        ("THREADS", "on"), ("QUOTES", "mentioned"), ("WHO_MAY_REPLY", "me"),
        ("MAX_PER_DAY", "-1"), ("MAX_PER_DAY", "1001"), ("MAX_USES", "0"),
        ("MAX_USES", "None"), ("MAX_USES", "1001"),
        ("MAX_AGE_DAYS", "0"), ("MAX_AGE_DAYS", "ever"), ("HOLD_WHILE_ACTIVE", "2"),
        ("HOLD_WHILE_ACTIVE", "0h"),
        ("HOLD_WHILE_ACTIVE", "25h"), ("HOLD_WHILE_ACTIVE", "1441m"), ("HOLD_WHILE_ACTIVE", "-2h"),
        ("HOLD_WHILE_ACTIVE", "h"), ("HOLD_WHILE_ACTIVE", "99999999999999999999h"),
        ("HOLD_WHILE_ACTIVE", "2 h"),
        ("FAVORITE_RATE_THRESHOLD", "0"),
        ("FAVORITE_RATE_THRESHOLD", "-2"), ("FAVORITE_RATE_THRESHOLD", "nan"),
        ("FAVORITE_RATE_THRESHOLD", "inf"),
        ("FAVORITE_RATE_THRESHOLD", "1e999"), ("FAVORITE_RATE_THRESHOLD", "two"),
        ("FAVORITES_PER_DAY", "1001"),
        ("REPLIES_PER_PERSON", "101"), ("REPLIES_PER_THREAD", "many"), ("ARCHIVE_LIMIT", "99"),
        ("ARCHIVE_LIMIT", "10000001"), ("EXAMPLE_LIMIT", "0"), ("POLL_SECONDS", "9"),
        ("POLL_SECONDS", "3601"),
        ("MIRROR", "Haruka"), ("MIRROR", "a b"), ("MIRROR", "名前"),
        ("MIRROR", String(repeating: "a", count: 41)),
        ("MIRROR", "a}b"), ("TIME_ZONE", "Tokyo Time"), ("TIME_ZONE", "Mars/Olympus"),
        ("QUIET_HOURS", "night"),
        ("QUIET_HOURS", "23:00"), ("QUIET_HOURS", "25:00-07:00"), ("QUIET_HOURS", "07:00-07:00"),
        ("QUIET_HOURS", ","), ("DATABASE_URL", "mysql://localhost/mirror"),
        ("DATABASE_URL", "mirror.sqlite"),
        ("HUMAN_NETWORK", "Mastodon"), ("BOT_NETWORK", "twitter"), ("X_ACKNOWLEDGE_POLICY", "true"),
        ("X_BUDGET_USD_PER_MONTH", "-1"), ("X_BUDGET_USD_PER_MONTH", "five"),
        ("X_HOME_POSTS_PER_DAY", "-1"),
        ("X_HOME_POSTS_PER_DAY", "100001"), ("X_APP_OWNER", "me"),
        ("SECRET_KEY", "short"), ("HUMAN_API_BASE_URL", "nowhere at all"),
        ("BOT_ACCESS_TOKEN", "a\u{0}b"),
        ("MIRROR_BOT_HOME", "/srv\u{0}/x"), ("TIME_ZONE", "Asia/Tokyo\n"),
        ("MECAB_DICTIONARY", "\u{1B}[31m"),
        ("NOTIFY_URL", "ntfy.sh/topic"), ("NOTIFY_URL", "ntfy://"),
        ("NOTIFY_URL", "http://hooks.example/x"),
        ("NOTIFY_URL", "file:///etc/passwd"), ("NOTIFY_FORMAT", "xml"),
        ("HEARTBEAT_URL", "ntfy://ntfy.sh/x"), ("HEARTBEAT_URL", "beat"),
        ("NOTIFY_COMMAND", "tell 'me"),
        ("NOTIFY_COMMAND", "  "), ("NOTIFY_COMMAND", "''"),
        ("WEB_ADDRESS", "mirror.example.org"), ("WEB_ADDRESS", "http://mirror.example.org"),
        ("WEB_ADDRESS", "https://"), ("WEB_ADDRESS", "ftp://mirror.example.org"),
        ("WEB_ADDRESS", "https://mirror.example.org/bot"),
        ("WEB_ADDRESS", "https://mirror.example.org?a"),
        ("WEB_ADDRESS", "https://mirror.example.org#a"),
        ("WEB_ADDRESS", "https://me@mirror.example.org"),
        ("WEB_ADDRESS", "https://mirror.example.org,evil.example"),
        ("WEB_ADDRESS", "https://mirror.example.org\"x"), ("WEB_ADDRESS", "https://a b.example"),
    ]

    /// What is near may be plain, and the name of this machine is no name for others.
    @Test(arguments: [
        ("http://192.168.1.20:8080", "192.168.1.20"), ("http://nas.lan/", "nas.lan"),
        ("https://Mirror.Example.ORG:8443", "mirror.example.org"), ("http://localhost:8080", nil),
        ("http://127.0.0.1:8080", nil), ("http://[::1]:8080", nil),
        ("https://[2001:db8::1]", "2001:db8::1"),
    ])
    func theAddressOfThePageIsOneOfItsNames(_ address: String, _ host: String?) throws {
        let web = try Self.configuration(["WEB_ADDRESS": address]).process.web
        let text = address.hasSuffix("/") ? String(address.dropLast()) : address
        #expect(web.address == text.lowercased())
        #expect(web.hosts == Set([host].compactMap(\.self)))
    }

    @Test(arguments: wrong) func refusesAndNames(_ name: String, _ value: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try Self.configuration([name: value])
        }
        #expect(error?.setting == name)
        expect(error?.description) { $0?.hasPrefix("\(name) ") == true }
        expect(error) { $0?.isMissing == false }
        expect(error?.description.unicodeScalars) {
            $0?.contains { $0.properties.generalCategory == .control } == false
        }
        #expect((error?.description.count ?? 0) < 200)
    }

    static let servers = [
        "ftp://bots.example", "https://", "https://bots.example/path", "https://user@bots.example",
        "https://bots.example?x=1", "https://bots.example#top", "https://user:pw@bots.example",
        "a b", "://",
    ]

    @Test(arguments: servers) func refusesAServerThatIsNoServer(_ server: String) throws {
        for role in ["HUMAN", "BOT"] {
            let error = #expect(throws: ConfigurationError.self) {
                try Self.configuration([
                    "\(role)_SERVER": server, "\(role)_ACCESS_TOKEN": Self.token,
                ])
            }
            #expect(error?.setting == "\(role)_SERVER")
        }
    }

    @Test(arguments: ["HUMAN", "BOT"]) func wantsAccountsWhole(_ role: String) throws {
        let parts = [
            "\(role)_SERVER": "https://social.example", "\(role)_ACCESS_TOKEN": Self.token,
        ]
        for name in parts.keys {
            let error = #expect(throws: ConfigurationError.self) {
                try Self.configuration(parts.filter { $0.key != name })
            }
            #expect(error?.setting == name)
            expect(error?.description) { $0?.contains(Self.token) == false }
        }
    }

    @Test func saysWhatIsMissing() throws {
        let plain = try Self.configuration([:])
        let bot = plain.mirror.missing(.bot)
        let human = plain.mirror.missing(.human)
        #expect(bot.setting == "BOT_SERVER")
        #expect(bot.isMissing)
        #expect(human.setting == "HUMAN_SERVER")
        #expect(human.isMissing)
        let homeless = #expect(throws: ConfigurationError.self) {
            try Self.configuration([:], environment: [:])
        }
        #expect(homeless?.setting == "MIRROR_BOT_HOME")
    }

    @Test func refusesAnEmbeddedDatabaseOnADyno() throws {
        let dyno = ["DYNO": "worker.1", "HOME": "/app"]
        let error = #expect(throws: ConfigurationError.self) {
            try Self.configuration([:], environment: dyno).process.requireLastingStorage()
        }
        #expect(error?.setting == "DATABASE_URL")
        try Self.configuration(["DATABASE_URL": Self.databaseURL], environment: dyno).process
            .requireLastingStorage()
        try Self.configuration([:]).process.requireLastingStorage()
        try Self.configuration([:], environment: ["DYNO": "", "HOME": "/app"]).process
            .requireLastingStorage()
    }

    @Test func findsTheFolderOfTheEmbeddedDatabase() throws {
        let environment = ["HOME": "/home/haruka", "XDG_DATA_HOME": "/data"]
        let cases: [([String: String], [String: String], String)] = [
            (["MIRROR_BOT_HOME": "/srv/m"], environment, "/srv/m"),
            ([:], environment, "/data/mirror-bot"),
            (
                [:], ["HOME": "/home/haruka", "XDG_DATA_HOME": "data"],
                "/home/haruka/.local/share/mirror-bot"
            ),
        ]
        for (variables, environment, folder) in cases {
            let storage = try Self.configuration(variables, environment: environment).process
                .storage
            #expect("\(storage)" == "SQLite at \(folder)/mirror-bot.sqlite")
        }
    }

    /// What is only noticed by those who use it, but still before anything happens.
    @Test(arguments: [
        ("REDIS_URL", "http://x"), ("REDIS_TLS_VERIFY", "maybe"), ("MECAB_DICTIONARY", "/nowhere"),
    ])
    func refusesToStartTheClassifierWith(_ name: String, _ value: String) async throws {
        let folder = try TemporaryDirectory()
        let variables = ["MIRROR_BOT_HOME": folder.path, "REDIS_URL": "redis://localhost"]
        let mirror = try await HumanMirror.open(
            try Self.configuration(variables.merging([name: value]) { $1 }))
        let error = #expect(throws: (any Error).self) { try mirror.favorites() }
        #expect(error.map { "\($0)".contains(name) } == true)
        await mirror.close()
    }
}
