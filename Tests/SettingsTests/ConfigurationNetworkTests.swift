import Configuration
import Expectations
import Favorites
import Foundation
import Networks
import Posts
import Testing
import X

@testable import Settings

/// Accounts on three networks, and what follows from where the bot is.
@Suite struct ConfigurationNetworkTests {
    private static let x = [
        "CONSUMER_KEY": "s3cr3t-ck", "CONSUMER_SECRET": "s3cr3t-cs", "ACCESS_TOKEN": "s3cr3t-at",
        "ACCESS_TOKEN_SECRET": "s3cr3t-ats",
    ]
    private static let mastodon = [
        "SERVER": "https://social.example", "ACCESS_TOKEN": "s3cr3t-token",
    ]
    private static let bluesky = ["HANDLE": "haruka.example", "APP_PASSWORD": "s3cr3t-password"]

    private static func of(_ role: AccountRole, _ settings: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: settings.map { ("\(role.prefix)_\($0.key)", $0.value) })
    }

    private static func values(_ variables: [String: String]...) throws -> SettingValues {
        let all = variables.reduce(into: [String: String]()) { $0.merge($1) { $1 } }
        return try SettingValues(
            environment: EnvironmentVariablesProvider(environmentVariables: all))
    }

    private static func configuration(_ variables: [String: String]...) throws
        -> MirrorConfiguration
    {
        let all = variables.reduce(into: [String: String]()) { $0.merge($1) { $1 } }
        return try MirrorConfiguration(try values(all), environment: ["HOME": "/home/haruka"])
    }

    private static func error(_ variables: [String: String]...) -> ConfigurationError? {
        let all = variables.reduce(into: [String: String]()) { $0.merge($1) { $1 } }
        do {
            _ = try configuration(all)
            return nil
        } catch {
            return error as? ConfigurationError
        }
    }

    // MARK: Networks

    static let networks: [([String: String], NetworkName, NetworkName)] = [
        ([:], .mastodon, .mastodon), (["NETWORK": "x"], .x, .x),
        (["NETWORK": "bluesky"], .bluesky, .bluesky),
        (["HUMAN_NETWORK": "x"], .x, .mastodon), (["BOT_NETWORK": "bluesky"], .mastodon, .bluesky),
        (["NETWORK": "x", "BOT_NETWORK": "mastodon"], .x, .mastodon),
        (
            ["NETWORK": "x", "HUMAN_NETWORK": "bluesky", "BOT_NETWORK": "mastodon"], .bluesky,
            .mastodon
        ),
        // What accounts are described by tells where they are.
        (of(.human, x).merging(of(.bot, x)) { $1 }, .x, .x), (of(.bot, x), .x, .x),
        (of(.human, bluesky).merging(of(.bot, bluesky)) { $1 }, .bluesky, .bluesky),
        (of(.human, mastodon).merging(of(.bot, mastodon)) { $1 }, .mastodon, .mastodon),
        (of(.human, x).merging(of(.bot, mastodon)) { $1 }, .x, .mastodon),
        (of(.human, bluesky).merging(of(.bot, x)) { $1 }, .bluesky, .x),
        (of(.bot, bluesky).merging(["HUMAN_NETWORK": "x"]) { $1 }, .x, .bluesky),
    ]

    @Test(arguments: networks)
    func findsTheNetworksOfBothRoles(
        _ variables: [String: String], _ human: NetworkName, _ bot: NetworkName
    ) throws {
        let all = try Self.configuration(variables)
        #expect(all.mirror.humanNetwork == human)
        #expect(all.mirror.network(of: .human) == human)
        #expect(all.mirror.botNetwork == bot)
        #expect(all.mirror.network(of: .bot) == bot)
        let values = try Self.values(variables)
        #expect(values.text(.humanNetwork) == human.rawValue)
        #expect(values.text(.botNetwork) == bot.rawValue)
        for name in ["NETWORK", "HUMAN_NETWORK", "BOT_NETWORK"] {
            let origin = values.origin(try #require(AnySetting.named(name)))
            #expect(
                variables[name] == nil
                    ? [.fallback, .implied].contains(origin) : origin == .environment, "\(name)")
        }
    }

    @Test func readsAnAccountOnEachNetwork() throws {
        let pairs = try Self.configuration(
            ["HUMAN_NETWORK": "x", "BOT_NETWORK": "bluesky"], Self.of(.human, Self.x),
            Self.of(.bot, Self.bluesky))
        let human = try #require(pairs.mirror.account(.human))
        let bot = try #require(pairs.mirror.account(.bot))
        let credentials = XCredentials(human.credentials)
        #expect(credentials.consumerKey == "s3cr3t-ck")
        #expect(credentials.consumerSecret.reveal() == "s3cr3t-cs")
        #expect(credentials.accessToken.reveal() == "s3cr3t-at")
        #expect(credentials.accessTokenSecret.reveal() == "s3cr3t-ats")
        #expect(human.network == .x)
        #expect(human.role == .human)
        #expect(human.origin == .environment)
        #expect(human.apiBaseURL == nil)
        #expect(bot.credentials.text(.handle) == "haruka.example")
        #expect(bot.credentials[.appPassword]?.reveal() == "s3cr3t-password")
        #expect(bot.network == .bluesky)
        #expect(bot.role == .bot)
        let mixed = try Self.configuration(["HUMAN_NETWORK": "x"], Self.of(.bot, Self.mastodon))
        #expect(mixed.mirror.account(.human) == nil)
        #expect(mixed.mirror.account(.bot)?.host == "social.example")
    }

    @Test func takesABlueskyHumanWithoutAPassword() throws {
        let all = try Self.configuration(["NETWORK": "bluesky", "HUMAN_HANDLE": "@Haruka.Example"])
        let human = try #require(all.mirror.account(.human))
        #expect(human.credentials.text(.handle) == "haruka.example")
        #expect(human.credentials[.appPassword] == nil)
        let bot = Self.error(["NETWORK": "bluesky", "BOT_HANDLE": "mirror.example"])
        #expect(bot?.description == "BOT_APP_PASSWORD is not set, but BOT_HANDLE is")
        #expect(bot?.setting == "BOT_APP_PASSWORD")
        expect(bot) { $0?.isMissing == true }
    }

    // MARK: Half an account, and another network's

    @Test(arguments: AccountRole.allCases) func namesWhatAnXAccountLacks(_ role: AccountRole) throws
    {
        for name in Self.x.keys {
            let error = Self.error(
                ["NETWORK": "x"], Self.of(role, Self.x.filter { $0.key != name }))
            #expect(error?.setting == "\(role.prefix)_\(name)")
            expect(error) { $0?.isMissing == true }
        }
        let keys = Self.x.filter { $0.key.hasPrefix("CONSUMER") }
        let error = Self.error(["NETWORK": "x"], Self.of(role, keys))
        #expect(
            error?.description
                == "\(role.prefix)_ACCESS_TOKEN and \(role.prefix)_ACCESS_TOKEN_SECRET are not set, but "
                + "\(role.prefix)_CONSUMER_KEY is")
    }

    static let foreign: [(String, [String: String], String, String)] = [
        ("HANDLE", ["NETWORK": "x"], "Bluesky", "bluesky"),
        ("APP_PASSWORD", ["NETWORK": "mastodon"], "Bluesky", "bluesky"),
        ("CONSUMER_KEY", ["NETWORK": "mastodon"], "X", "x"),
        ("ACCESS_TOKEN_SECRET", ["NETWORK": "bluesky"], "X", "x"),
        ("SERVER", ["NETWORK": "x"], "Mastodon", "mastodon"),
        ("ACCESS_TOKEN", ["NETWORK": "bluesky"], "Mastodon and X", "mastodon or x"),
    ]

    @Test(arguments: foreign, AccountRole.allCases)
    func refusesASettingOfAnotherNetwork(
        _ row: (name: String, variables: [String: String], theirs: String, wanted: String),
        _ role: AccountRole
    ) throws {
        let whole = Self.of(role, row.variables["NETWORK"] == "x" ? Self.x : [:])
        let name = "\(role.prefix)_\(row.name)"
        let error = try #require(Self.error(row.variables, whole, [name: "s3cr3t"]))
        let network = try #require(row.variables["NETWORK"])
        #expect(
            error.description
                == "\(name) belongs to \(row.theirs), but NETWORK is \(network); remove it, or set NETWORK to \(row.wanted)"
        )
        #expect(error.setting == name)
        #expect(!error.isMissing)
    }

    @Test(arguments: AccountRole.allCases) func refusesTheSettingsOfTwoNetworks(_ role: AccountRole)
        throws
    {
        let error = try #require(Self.error(Self.of(role, Self.x), Self.of(role, Self.bluesky)))
        let name = role.prefix
        #expect(
            error.description
                == "\(name)_ACCESS_TOKEN_SECRET belongs to X, but \(name)_HANDLE to Bluesky; remove one of the two"
        )
    }

    @Test func saysThatANetworkFollowsFromTheAccounts() throws {
        let values = try Self.values(Self.of(.human, Self.x), Self.of(.bot, Self.x))
        for setting in [Setting.network, .humanNetwork, .botNetwork] {
            #expect(values.text(setting) == "x")
            #expect(values.origin(setting) == .implied)
        }
        // What follows from the network follows from that, too.
        #expect(values.text(.favoriteMode) == "suggest")
        let named = try Self.values(Self.of(.human, Self.x), ["NETWORK": "x"])
        #expect(named.origin(.network) == .environment)
        #expect(named.origin(.humanNetwork) == .fallback)
    }

    /// A login is of its own network, and says so where nobody did.
    @Test func aLoginDecidesForARoleWithoutVariables() throws {
        let values = try Self.values(Self.of(.human, Self.x)).adopting([.bot: .mastodon])
        #expect(values.text(.humanNetwork) == "x")
        #expect(values.text(.botNetwork) == "mastodon")
    }

    @Test func readsNoAccountsWhereNoneAreWanted() throws {
        let values = try Self.values([
            "BOT_SERVER": "social.example", "HUMAN_HANDLE": "haruka.example",
        ])
        let all = try MirrorConfiguration(values, environment: ["HOME": "/h"], readsAccounts: false)
        #expect(all.mirror.account(.human) == nil)
        #expect(all.mirror.account(.bot) == nil)
        #expect(throws: ConfigurationError.self) {
            try MirrorConfiguration(values, environment: ["HOME": "/h"])
        }
    }

    @Test func saysHowToGetAnAccountOnEachNetwork() throws {
        let expected: [(String, AccountRole, String)] = [
            (
                "mastodon", .bot,
                "BOT_SERVER and BOT_ACCESS_TOKEN are not set; run mirror-bot login mastodon --as bot"
            ),
            (
                "x", .bot,
                "BOT_CONSUMER_KEY and BOT_CONSUMER_SECRET and BOT_ACCESS_TOKEN and BOT_ACCESS_TOKEN_SECRET are not set; "
                    + "run mirror-bot login x --as bot"
            ),
            (
                "bluesky", .bot,
                "BOT_HANDLE and BOT_APP_PASSWORD are not set; run mirror-bot login bluesky --as bot"
            ),
            ("bluesky", .human, "HUMAN_HANDLE is not set; run mirror-bot login bluesky --as human"),
        ]
        for (network, role, text) in expected {
            let error = try Self.configuration(["NETWORK": network]).mirror.missing(role)
            #expect(error.description.hasPrefix(text))
            #expect(error.isMissing)
            #expect(error.description.contains("--from") == (role == .human))
        }
    }

    // MARK: The same thing written differently

    static let servers: [(String, String)] = [
        ("Social.Example", "https://social.example"),
        ("https://social.example:443/", "https://social.example"),
        ("social.example.", "https://social.example"),
        ("HTTPS://SOCIAL.EXAMPLE:8443", "https://social.example:8443"),
        ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("http://localhost:3000", "http://localhost:3000"),
    ]

    @Test(arguments: servers) func writesAServerInOneWay(_ text: String, _ normal: String) throws {
        let all = try Self.configuration([
            "BOT_SERVER": text, "BOT_ACCESS_TOKEN": "t", "BOT_API_BASE_URL": text,
        ])
        let bot = try #require(all.mirror.account(.bot))
        #expect(bot.credentials.text(.server) == normal)
        #expect(bot.apiBaseURL == normal)
    }

    @Test(arguments: ["ftp://x", "https://a/b", "https://u:p@a", "a b", "https://", "https://."])
    func refusesABaseURLThatIsNone(_ text: String) {
        for role in AccountRole.allCases {
            // Also where the account itself is stored, not configured.
            let error = Self.error(["\(role.prefix)_API_BASE_URL": text])
            #expect(error?.setting == "\(role.prefix)_API_BASE_URL")
        }
    }

    static let handles: [(String, String?)] = [
        ("haruka.bsky.social", "haruka.bsky.social"), ("@Haruka.Example", "haruka.example"),
        ("did:plc:ewvi7nxzyoun6zhxrhs64oiz", "did:plc:ewvi7nxzyoun6zhxrhs64oiz"),
        ("did:web:haruka.example", "did:web:haruka.example"), ("haruka", nil), ("haruka.", nil),
        (".example", nil),
        ("haruka example.com", nil), ("did:plc", nil), ("did:web:a b", nil),
        ("https://bsky.app/profile/a.b", nil),
        ("はるか.example", nil), (String(repeating: "a", count: 64) + ".example", nil), ("@", nil),
    ]

    @Test(arguments: handles) func readsHandles(_ text: String, _ normal: String?) throws {
        let variables = ["HUMAN_NETWORK": "bluesky", "HUMAN_HANDLE": text]
        guard let normal else { return #expect(Self.error(variables)?.setting == "HUMAN_HANDLE") }
        let all = try Self.configuration(variables)
        #expect(all.mirror.account(.human)?.credentials.text(.handle) == normal)
    }

    // MARK: What follows from the bot's network

    static let defaults: [([String: String], String, String)] = [
        ([:], "auto", "on"), (["NETWORK": "bluesky"], "suggest", "on"),
        (["NETWORK": "x"], "suggest", "off"),
        (["HUMAN_NETWORK": "x"], "auto", "on"),
        (["NETWORK": "x", "BOT_NETWORK": "mastodon"], "auto", "on"),
        (["BOT_NETWORK": "x"], "suggest", "off"),
    ]

    @Test(arguments: [
        (["NETWORK": "mastodon"], 180), (["NETWORK": "bluesky"], 180), (["NETWORK": "x"], 30),
        (["HUMAN_NETWORK": "x"], 30), (["BOT_NETWORK": "x"], 30),
    ]) func whatWasLearnedOnXIsKeptForAMonth(variables: [String: String], days: Int) throws {
        let configuration = try MirrorConfiguration(
            try Self.values(variables), environment: ["HOME": "/nowhere"], readsAccounts: false)
        #expect(configuration.mirror.favorites.maximumAgeDays == days)
    }

    @Test(arguments: [AccountRole.human, .bot]) func aLoginOnXCountsForThatToo(role: AccountRole)
        throws
    {
        var configuration = try MirrorConfiguration(
            try Self.values([:]), environment: ["HOME": "/nowhere"], readsAccounts: false)
        try configuration.mirror.adopt([role: .x])
        #expect(configuration.mirror.favorites.maximumAgeDays == 30)
    }

    @Test(arguments: defaults)
    func choosesDefaultsByTheBotsNetwork(
        _ variables: [String: String], _ mode: String, _ links: String
    ) throws {
        let values = try Self.values(variables)
        #expect(values.text(.favoriteMode) == mode)
        #expect(values.origin(.favoriteMode) == .fallback)
        #expect(values.text(.links) == links)
        #expect(values.origin(.links) == .fallback)
        let all = try Self.configuration(variables)
        #expect(all.mirror.favoriteMode.rawValue == mode)
        #expect(all.mirror.links == (links == "on"))
        // What a person sets stays.
        let chosen = try Self.values(variables, ["FAVORITE_MODE": "off", "LINKS": "on"])
        #expect(chosen.text(.favoriteMode) == "off")
        #expect(chosen.origin(.favoriteMode) == .environment)
        #expect(chosen.text(.links) == "on")
        #expect(chosen.origin(.links) == .environment)
    }

    @Test func letsAStoredLoginDecideOnlyWhereNobodyDid() throws {
        let open = try Self.values([:]).adopting([.bot: .x])
        #expect(open.text(.botNetwork) == "x")
        #expect(open.origin(.botNetwork) == .login)
        #expect(open.text(.humanNetwork) == "mastodon")
        #expect(open.origin(.humanNetwork) == .fallback)
        #expect(open.text(.favoriteMode) == "suggest")
        #expect(open.text(.links) == "off")
        for name in ["NETWORK", "BOT_NETWORK"] {
            let named = try Self.values([name: "mastodon"]).adopting([.bot: .x])
            #expect(named.text(.botNetwork) == "mastodon")
            #expect(named.text(.links) == "on")
        }
        let chosen = try Self.values(["LINKS": "on"]).adopting([.bot: .x])
        #expect(chosen.text(.links) == "on")
        #expect(chosen.text(.favoriteMode) == "suggest")
    }

    @Test func reflectsAnAdoptedNetworkInTheConfiguration() throws {
        var all = try Self.configuration([:])
        try all.mirror.adopt([.bot: .x, .human: .bluesky])
        #expect(all.mirror.botNetwork == .x)
        #expect(all.mirror.humanNetwork == .bluesky)
        #expect(!all.mirror.links)
        #expect(all.mirror.favoriteMode == .suggest)
        // An account in the settings is used, so nothing stored decides.
        var whole = try Self.configuration(Self.of(.bot, Self.mastodon))
        try whole.mirror.adopt([.bot: .x, .human: .bluesky])
        #expect(whole.mirror.botNetwork == .mastodon)
        #expect(whole.mirror.humanNetwork == .bluesky)
        #expect(whole.mirror.links)
    }

    // MARK: X

    @Test func readsWhatIsAllowedOnX() throws {
        let usual = try Self.configuration([:]).mirror.x
        #expect(!usual.mayPublish)
        #expect(usual.monthlyBudget == Money(microdollars: 5_000_000))
        #expect(usual.homePostsPerDay == 0)
        #expect(usual.appOwner == nil)
        #expect(usual.homeShare == .zero)
        let chosen = try Self.configuration([
            "X_ACKNOWLEDGE_POLICY": "yes", "X_BUDGET_USD_PER_MONTH": "12.345678",
            "X_HOME_POSTS_PER_DAY": "40",
            "X_APP_OWNER": "human",
        ]).mirror.x
        #expect(chosen.mayPublish)
        #expect(chosen.monthlyBudget == Money(microdollars: 12_345_678))
        #expect(chosen.homePostsPerDay == 40)
        #expect(chosen.appOwner == .human)
        #expect(chosen.homeShare == XPrices.current.price(ofReading: 40, from: .home))
        try expect(Self.configuration(["X_APP_OWNER": "bot"]).mirror.x.appOwner, equals: .bot)
    }

    static let amounts: [(String, Int?)] = [
        ("5", 5_000_000), ("0", 0), ("0.25", 250_000), ("0.000001", 1),
        ("1000000", 1_000_000_000_000),
        ("007.50", 7_500_000), ("", nil), (".", nil), (".5", nil), ("5.", nil), ("-1", nil),
        ("+1", nil), ("1e3", nil),
        ("1,5", nil), ("$5", nil), ("0.0000001", nil), ("1000001", nil), ("1.2.3", nil), ("٣", nil),
        (" 5", nil),
        (String(repeating: "9", count: 40), nil), ("0x10", nil),
    ]

    @Test(arguments: amounts) func readsDollarsExactly(_ text: String, _ microdollars: Int?) {
        let money = Money(dollars: text)
        #expect(money?.microdollars == microdollars)
        // What is written is read again.
        #expect(money.flatMap { Money(dollars: $0.decimals) } == money)
    }

    // MARK: Secrets

    static let keys: [(String, Bool)] = [
        (String(repeating: "ab", count: 32), true), (String(repeating: "k", count: 32), true),
        (String(repeating: "k", count: 31), false), ("かぎ", false),
        (String(repeating: "鍵", count: 32), true),
    ]

    @Test(arguments: keys) func wantsALongKey(_ key: String, _ isLongEnough: Bool) throws {
        let error = Self.error(["SECRET_KEY": key])
        #expect((error == nil) == isLongEnough)
        #expect(isLongEnough || error?.setting == "SECRET_KEY")
        expect(error?.description) { $0?.contains(key) != true }
    }

    @Test func knowsEverySecret() {
        let plain: Set<String> = ["SERVER", "HANDLE", "API_BASE_URL", "NETWORK", "CONSENT"]
        for setting in AnySetting.all {
            for role in AccountRole.allCases where setting.name.hasPrefix("\(role.prefix)_") {
                let part = String(setting.name.dropFirst(role.prefix.count + 1))
                #expect(setting.isSecret == !plain.contains(part), "\(setting.name)")
            }
        }
        expect(AnySetting.all.first { $0.name == "SECRET_KEY" }) { $0?.isSecret == true }
        for setting in AccountField.settable {
            for role in AccountRole.allCases {
                expect(AnySetting.all) { $0.contains { $0.name == setting.name(of: role) } }
            }
        }
    }

    @Test func showsNoCredentials() throws {
        let texts = try [
            Self.configuration(["NETWORK": "x"], Self.of(.human, Self.x), Self.of(.bot, Self.x)),
            Self.configuration(
                ["NETWORK": "bluesky"], Self.of(.human, Self.bluesky), Self.of(.bot, Self.bluesky)),
            Self.configuration(
                Self.of(.human, Self.mastodon), Self.of(.bot, Self.mastodon),
                ["SECRET_KEY": "s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t"]),
        ].flatMap { all in
            var dumped = ""
            dump(all, to: &dumped)
            return [
                "\(all)", String(reflecting: all), dumped,
                "\(all.mirror.account(.bot)?.variables as Any)",
            ]
        }
        for text in texts { #expect(!text.contains("s3cr3t")) }
    }

    @Test func writesAccountsAsTheVariablesThatDescribeThem() throws {
        let base = ["BOT_API_BASE_URL": "http://127.0.0.1:8080"]
        let cases = [
            [["BOT_NETWORK": "x"], Self.of(.bot, Self.x)],
            [["BOT_NETWORK": "mastodon"], Self.of(.bot, Self.mastodon)],
            [["BOT_NETWORK": "bluesky"], Self.of(.bot, Self.bluesky)],
        ]
        for parts in cases {
            let given = (parts + [base]).reduce(into: [String: String]()) { $0.merge($1) { $1 } }
            let bot = try #require(try Self.configuration(given).mirror.account(.bot))
            let told = Dictionary(
                uniqueKeysWithValues: bot.variables.map { ($0.name, $0.value.reveal()) })
            #expect(told == given)
        }
    }
}
