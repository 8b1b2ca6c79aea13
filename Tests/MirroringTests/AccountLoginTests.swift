import Expectations
import Fixtures
import Foundation
import Mastodon
import Networks
import Posts
import Testing
import X

@testable import Mirroring
@testable import Settings

/// Which account a role has: the settings' or the stored one, and whose it may be.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct AccountLoginTests {
    private static let bluesky = StoredLogin(
        credentials: .bluesky(identifier: "mirror.example", appPassword: Secret("planted-password"))
    )
    private static let x = StoredLogin(
        credentials: .x(
            XCredentials(
                consumerKey: "planted-ck", consumerSecret: Secret("planted-cs"),
                accessToken: Secret("planted-at"),
                accessTokenSecret: Secret("planted-ats"))), apiBaseURL: "http://127.0.0.1:1")
    private static let mastodon = StoredLogin(
        credentials: .mastodon(
            server: "https://social.example",
            MastodonCredentials(accessToken: Secret("planted-token"))))

    private func bare(_ logins: [AccountRole: StoredLogin], _ engine: Engine = .sqlite) async throws
        -> BareMirror
    {
        let bare = try await BareMirror(
            engine, variables: ["SECRET_KEY": String(repeating: "k", count: 40)])
        let mirror = try await bare.open()
        for (role, login) in logins {
            try await mirror.vault.store(login, for: role, at: BareMirror.now)
        }
        return bare
    }

    private func error(_ body: () async throws -> Void) async -> ConfigurationError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ConfigurationError
        }
    }

    @Test(arguments: Engine.allCases) func takesTheSettingsFirstAndTheLoginSecond(_ engine: Engine)
        async throws
    {
        let bare = try await bare([.bot: Self.x], engine)
        let stored = try await bare.open()
        let bot = try await stored.requiredAccount(.bot)
        #expect(bot.network == .x)
        #expect(bot.origin == .login)
        #expect(bot.role == .bot)
        #expect(bot.apiBaseURL == "http://127.0.0.1:1")
        try await expect(stored.account(.human)) { $0 == nil }
        let configured = try await bare.open([
            "BOT_SERVER": "social.example", "BOT_ACCESS_TOKEN": "t",
        ])
        let other = try await configured.requiredAccount(.bot)
        #expect(other.network == .mastodon)
        #expect(other.origin == .environment)
        #expect(other.host == "social.example")
        #expect(other.apiBaseURL == nil)
        #expect(configured.configuration.botNetwork == .mastodon)
        #expect(configured.configuration.links)
        // The address of a proxy is no credential.
        let proxied = try await bare.open(["BOT_API_BASE_URL": "http://127.0.0.1:2"])
        try await expect(proxied.requiredAccount(.bot).apiBaseURL, equals: "http://127.0.0.1:2")
    }

    @Test func letsTheLoginDecideAboutTheNetwork() async throws {
        let bare = try await bare([.bot: Self.x, .human: Self.bluesky])
        let configuration = try await bare.open().configuration
        #expect(configuration.botNetwork == .x)
        #expect(configuration.humanNetwork == .bluesky)
        #expect(!configuration.links)
        #expect(configuration.favoriteMode == .suggest)
        #expect(configuration.origin(of: .network(of: .bot)) == .login)
        let named = try await bare.open(["NETWORK": "x"])
        #expect(named.configuration.humanNetwork == .x)
        try await expect(named.requiredAccount(.bot).network, equals: .x)
    }

    @Test func refusesALoginOfAnotherNetworkThanTheOneNamed() async throws {
        let bare = try await bare([.bot: Self.bluesky])
        for setting in ["NETWORK", "BOT_NETWORK"] {
            let mirror = try await bare.open([setting: "mastodon"])
            let found = await error { _ = try await mirror.account(.bot) }
            #expect(
                found?.description
                    == "\(setting) is mastodon, but the stored login of the bot is for Bluesky; set BOT_NETWORK to "
                    + "bluesky, or run mirror-bot login mastodon --as bot")
            #expect(found?.setting == setting)
            try await expect(mirror.account(.human)) { $0 == nil }
        }
    }

    @Test func saysThatThereIsNoAccount() async throws {
        let mirror = try await BareMirror(variables: ["BOT_NETWORK": "bluesky"]).open()
        let bot = await error { _ = try await mirror.requiredAccount(.bot) }
        let human = await error { _ = try await mirror.requiredAccount(.human) }
        #expect(bot?.setting == "BOT_HANDLE")
        expect(bot) { $0?.isMissing == true }
        #expect(human?.setting == "HUMAN_SERVER")
        expect(human) { $0?.isMissing == true }
    }

    // MARK: One account twice

    @Test func seesThatBothRolesHaveOneAccount() async throws {
        let token = ["HUMAN_ACCESS_TOKEN": "same", "BOT_ACCESS_TOKEN": "same"]
        let cases: [([String: String], String)] = [
            (
                token.merging([
                    "HUMAN_SERVER": "social.example", "BOT_SERVER": "www.social.example",
                ]) { $1 },
                "ACCESS_TOKEN"
            ),
            (
                [
                    "NETWORK": "bluesky", "HUMAN_HANDLE": "@Haruka.Example",
                    "BOT_HANDLE": "haruka.example",
                    "BOT_APP_PASSWORD": "p",
                ], "HANDLE"
            ),
        ]
        for (variables, part) in cases {
            let mirror = try await BareMirror(variables: variables).open()
            let found = await error { _ = try await mirror.requiredAccount(.bot) }
            #expect(
                found?.description
                    == "BOT_\(part) belongs to the human's own account; the bot needs another")
            try await expect(mirror.requiredAccount(.human).role, equals: .human)
        }
        let bare = try await bare([.bot: Self.mastodon])
        let mirror = try await bare.open([
            "HUMAN_SERVER": "a.example", "HUMAN_ACCESS_TOKEN": "planted-token",
        ])
        let found = await error { _ = try await mirror.requiredAccount(.bot) }
        #expect(found?.setting == "the stored login of the bot")
    }

    private func account(_ network: NetworkName, _ value: String) -> Account {
        Account(id: AccountID(network: network, value: value), handle: value)
    }

    static let sameAccounts: [(NetworkName, String, String)] = [
        (.mastodon, "haruka@social.example", "haruka@social.example"),
        (.mastodon, "haruka@social.example", "Haruka@Social.Example:443"),
        (.mastodon, "haruka@social.example:80", "haruka@social.example."), (.x, "12", "12"),
        (.bluesky, "did:plc:haruka", "did:plc:haruka"),
    ]

    @Test(arguments: sameAccounts)
    func refusesOneAccountInBothRoles(_ network: NetworkName, _ human: String, _ bot: String)
        async throws
    {
        let mirror = try await BareMirror(variables: ["NETWORK": network.rawValue]).open()
        let first = account(network, human)
        let second = account(network, bot)
        let setting = network == .bluesky ? "BOT_HANDLE" : "BOT_ACCESS_TOKEN"
        let together = await error {
            try await mirror.bind(human: first, bot: second, now: BareMirror.now)
        }
        #expect(together?.setting == setting)
        try await expect(mirror.table.record(), equals: MirrorRecord())
        // One after the other, too.
        try await mirror.bind(human: first, bot: nil, now: BareMirror.now)
        let later = await error {
            try await mirror.bind(human: nil, bot: second, now: BareMirror.now)
        }
        #expect(later?.setting == setting)
    }

    static let otherAccounts: [(NetworkName, String, String)] = [
        (.mastodon, "haruka@social.example", "haruka@other.example"),
        (.mastodon, "haruka@social.example", "haruka@social.example:8443"), (.x, "12", "120"),
        (.bluesky, "did:plc:haruka", "did:plc:Haruka"),
    ]

    @Test(arguments: otherAccounts)
    func acceptsTwoAccounts(_ network: NetworkName, _ human: String, _ bot: String) async throws {
        let mirror = try await BareMirror().open()
        try await mirror.bind(
            human: account(network, human), bot: account(network, bot), now: BareMirror.now)
        let record = try await mirror.table.record()
        #expect(record.human?.value == human)
        #expect(record.bot?.value == bot)
        #expect(record.humanHandle == human)
        #expect(record.botHandle == bot)
    }

    @Test func acceptsTheSameNameOnTwoNetworks() async throws {
        let mirror = try await BareMirror(variables: ["HUMAN_NETWORK": "x"]).open()
        try await mirror.bind(
            human: account(.x, "42"), bot: account(.bluesky, "42"), now: BareMirror.now)
        let record = try await mirror.table.record()
        #expect(record.human == AccountID(network: .x, value: "42"))
        #expect(record.bot == AccountID(network: .bluesky, value: "42"))
        // The same accounts are welcome again, and a new handle replaces the old one.
        var renamed = account(.x, "42")
        renamed.handle = "new-name"
        try await mirror.bind(human: renamed, bot: account(.bluesky, "42"), now: BareMirror.now)
        try await expect(mirror.table.record().humanHandle, equals: "new-name")
    }

    @Test func namesWhatLedToAnotherAccount() async throws {
        let bare = try await bare([.bot: Self.bluesky])
        let mirror = try await bare.open([
            "HUMAN_NETWORK": "bluesky", "HUMAN_HANDLE": "haruka.example",
        ])
        try await mirror.bind(
            human: account(.bluesky, "did:plc:haruka"), bot: account(.bluesky, "did:plc:mirror"),
            now: BareMirror.now)
        let human = await error {
            try await mirror.bind(
                human: account(.bluesky, "did:plc:other"), bot: nil, now: BareMirror.now)
        }
        #expect(
            human?.description
                == "HUMAN_HANDLE belongs to did:plc:other, but this mirror belongs to did:plc:haruka; set MIRROR to "
                + "another name for it, or let this mirror change accounts with mirror-bot rebind")
        let bot = await error {
            try await mirror.bind(human: nil, bot: account(.x, "7"), now: BareMirror.now)
        }
        #expect(
            bot?.description
                == "the stored login of the bot belongs to 7 on X, but this mirror belongs to did:plc:mirror on "
                + "Bluesky; set MIRROR to another name for it, or let this mirror change accounts with mirror-bot rebind"
        )
        #expect(bot?.setting == "the stored login of the bot")
    }

    // MARK: New logins

    /// "Log in again" is what the errors about such logins propose.
    @Test func aNewLoginIsNotHeldUpByTheOldOne() async throws {
        let bare = try await bare([.bot: Self.bluesky])
        for changes in [
            ["SECRET_KEY": String(repeating: "o", count: 40)], ["BOT_NETWORK": "mastodon"],
        ] {
            let mirror = try await bare.open(changes)
            #expect(await error { _ = try await mirror.account(.bot) } != nil)
            let bot = Account(
                id: AccountID(network: .mastodon, value: "m@social.example"), handle: "m")
            try await mirror.bind(bot, openedBy: Self.mastodon.account(.bot), now: BareMirror.now)
            try await expect(mirror.table.record().bot, equals: bot.id)
        }
    }

    @Test func aLoginIsForAnAccountOfItsOwn() async throws {
        let mirror = try await BareMirror().open()
        let account = Account(
            id: AccountID(network: .mastodon, value: "m@social.example"), handle: "m")
        try await mirror.bind(account, openedBy: Self.mastodon.account(.human), now: BareMirror.now)
        let same = await error {
            try await mirror.bind(
                account, openedBy: Self.mastodon.account(.bot), now: BareMirror.now)
        }
        #expect(
            same?.description
                == "this login belongs to the human's own account; the bot needs another")
        let other = Account(
            id: AccountID(network: .mastodon, value: "n@social.example"), handle: "n")
        let second = await error {
            try await mirror.bind(
                other, openedBy: Self.mastodon.account(.human), now: BareMirror.now)
        }
        expect(second?.description) {
            $0?.hasPrefix("this login belongs to n@social.example, but this mirror") == true
        }
    }

    @Test func saysWhichSettingsKeepALoginFromBeingUsed() async throws {
        let bare = try await BareMirror()
        let free = try bare.configuration()
        #expect(free.mirror.obstacles(toLoginOf: .bot, on: .x).isEmpty)
        let named = try bare.configuration([
            "NETWORK": "bluesky", "BOT_HANDLE": "m.example", "BOT_APP_PASSWORD": "p",
        ])
        #expect(
            named.mirror.obstacles(toLoginOf: .bot, on: .x) == [
                "BOT_HANDLE is set, and settings win over a login; remove it to use the login",
                "NETWORK is bluesky; set BOT_NETWORK to x to use the login",
            ])
        #expect(named.mirror.obstacles(toLoginOf: .human, on: .bluesky).isEmpty)
    }

    @Test func onlyAccountsOnMastodonHaveAHost() async throws {
        let bare = try await bare([.bot: Self.x])
        try await expect(bare.open().botHost(), equals: nil)
        let mirror = try await bare.open([
            "BOT_SERVER": "www.social.example", "BOT_ACCESS_TOKEN": "t",
        ])
        try await expect(mirror.botHost(), equals: "www.social.example")
        let bot = Account(id: AccountID(network: .mastodon, value: "m@social.example"), handle: "m")
        try await mirror.bind(human: nil, bot: bot, now: BareMirror.now)
        try await expect(mirror.botHost(), equals: "social.example")
    }

    // MARK: Clients

    @Test func makesTheClientOfAnAccount() async throws {
        let logins = [Self.mastodon, Self.x, Self.bluesky]
        for login in logins {
            let mirror = try await bare([.bot: login]).open()
            try await expect(mirror.network(of: .human)) { $0 == nil }
            let network = try await mirror.requiredNetwork(of: .bot)
            #expect(network.name == login.network)
        }
    }

    @Test func tellsXWhatIsAllowed() async throws {
        let bare = try await bare([.bot: Self.x, .human: Self.x])
        let careful = try await bare.open().requiredNetwork(of: .human)
        #expect(!careful.capabilities.canPublish)
        #expect(!careful.capabilities.feeds.contains(.home))
        let mirror = try await bare.open([
            "X_ACKNOWLEDGE_POLICY": "yes", "X_HOME_POSTS_PER_DAY": "5", "X_APP_OWNER": "human",
        ])
        let human = try #require(try await mirror.network(of: .human))
        let bot = try mirror.network(for: Self.x.account(.bot))
        #expect(bot.capabilities.canPublish)
        #expect(bot.capabilities.feeds.contains(.home))
        // The owner of the application reads what is its own for less.
        let owned = human.price(ofReading: 100, from: .ownPosts)
        let other = bot.price(ofReading: 100, from: .ownPosts)
        #expect(try #require(owned) < #require(other))
    }

    /// An error must tell where the call went, and nothing of what was sent.
    @Test func asksTheAddressThatIsSetAndShowsNoSecret() async throws {
        for login in [Self.mastodon, Self.x, Self.bluesky] {
            let log = Recorder<String>()
            // Nobody listens on the first port.
            let mirror = try await bare([.bot: login]).open(
                ["BOT_API_BASE_URL": "http://127.0.0.1:1"], log: log)
            let network = try await mirror.requiredNetwork(of: .bot)
            let error = await #expect(throws: NetworkError.self) {
                try await network.verifyAccount()
            }
            #expect(error?.code == .transport)
            expect(error?.host) { $0?.hasPrefix("127.0.0.1") == true }
            expect(error?.description) { $0?.contains("planted") == false }
            expect(log.values) { !$0.contains { $0.contains("planted") } }
            // What was not read is not paid for.
            try await expect(mirror.spending.spending(at: BareMirror.now).total, equals: .zero)
        }
    }
}
