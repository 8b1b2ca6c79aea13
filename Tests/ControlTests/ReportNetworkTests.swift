import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// What `status` tells about accounts, money and silence on each network.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ReportNetworkTests {
    private static let xBot = [
        "BOT_NETWORK": "x", "BOT_CONSUMER_KEY": "planted-ck", "BOT_CONSUMER_SECRET": "planted-cs",
        "BOT_ACCESS_TOKEN": "planted-at", "BOT_ACCESS_TOKEN_SECRET": "planted-ats",
    ]
    private static let blueskyHuman = [
        "HUMAN_NETWORK": "bluesky", "HUMAN_HANDLE": "haruka.example",
    ]
    private static let november = Date(rfc3339: "2026-11-21T12:00:00Z") ?? .distantPast

    private func report(_ mirror: HumanMirror) async throws -> StatusReport {
        try await StatusReporter(mirror: mirror).report(now: Self.november)
    }

    private func idle(_ variables: [String: String]) async throws -> [String] {
        try await report(try await BareMirror(variables: variables).open()).idle
    }

    @Test func tellsOfBothAccounts() async throws {
        let bare = try await BareMirror(variables: Self.xBot)
        let mirror = try await bare.open()
        try await mirror.vault.store(
            StoredLogin(
                credentials: .bluesky(
                    identifier: "haruka.example", appPassword: Secret("planted-p"))),
            for: .human, at: Self.november)
        try await mirror.bind(
            human: Account(
                id: AccountID(network: .bluesky, value: "did:plc:haruka"), handle: "haruka.example"),
            bot: Account(id: AccountID(network: .x, value: "7"), handle: "haruka_mirror"),
            now: Self.november)
        let report = try await report(try await bare.open())
        #expect(report.accounts.map(\.role) == [.human, .bot])
        #expect(report.accounts.map(\.network) == [.bluesky, .x])
        #expect(report.accounts.map(\.handle) == ["haruka.example", "haruka_mirror"])
        #expect(report.accounts.map(\.credentials) == [.login, .environment])
        #expect(report.human == "haruka.example")
        #expect(report.bot == "haruka_mirror")
        let json = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
        #expect(!json.contains("planted"))
        let nobody = try await self.report(try await BareMirror(variables: ["NETWORK": "x"]).open())
        #expect(nobody.accounts.map(\.credentials) == [nil, nil])
        #expect(nobody.accounts.map(\.network) == [.x, .x])
    }

    @Test func tellsWhatXHasCost() async throws {
        let mirror = try await BareMirror(
            variables: Self.xBot.merging(["X_BUDGET_USD_PER_MONTH": "2.50"]) { $1 }
        )
        .open()
        let book = mirror.spending
        try await expect(
            book.reserve(Money(microdollars: 15_000), for: .publish, at: Self.november), equals: nil
        )
        try await expect(
            book.reserve(Money(microdollars: 110_000), for: .feed(.mentions), at: Self.november),
            equals: nil)
        let spending = try #require(try await report(mirror).spending)
        #expect(spending.month == "2026-11")
        #expect(spending.budget == 2.5)
        #expect(spending.spent == 0.125)
        #expect(spending.left == 2.375)
        #expect(spending.byPurpose == ["publish": 0.015, "mentions": 0.11])
        #expect(spending.renews == Date(rfc3339: "2026-12-01T00:00:00Z"))
        try await expect(report(mirror).idle) { !$0.contains { $0.hasPrefix("X is left alone") } }
        // A page of five mentions and who wrote them may cost 7.5 cents.
        try await expect(
            book.reserve(Money(microdollars: 2_300_000), for: .publish, at: Self.november),
            equals: nil)
        try await expect(report(mirror).idle) { !$0.contains { $0.contains("on X are not read") } }
        try await expect(
            book.reserve(Money(microdollars: 5_000), for: .publish, at: Self.november), equals: nil)
        try await expect(report(mirror).idle) {
            $0.contains(
                "the bot's mentions on X are not read until 2026-12-01: $0.07 is left of the month's $2.50; "
                    + "X_BUDGET_USD_PER_MONTH changes that")
        }
        // A cent is not enough for a post.
        try await expect(
            book.reserve(Money(microdollars: 60_000), for: .publish, at: Self.november), equals: nil
        )
        let poor = try await report(mirror).idle
        #expect(
            poor.contains(
                "X is left alone until 2026-12-01: $0.01 is left of the month's $2.50; X_BUDGET_USD_PER_MONTH changes "
                    + "that"))
    }

    @Test func tellsOfNoMoneyWithoutX() async throws {
        for variables in [[:], Self.blueskyHuman, ["NETWORK": "x"]] {
            let report = try await report(try await BareMirror(variables: variables).open())
            #expect(report.spending == nil)
        }
    }

    @Test func saysWhyNothingIsPublishedOnX() async throws {
        let sentence =
            "no posts and no replies: X_ACKNOWLEDGE_POLICY is no; the README says what X asks of a mirror"
        try await expect(idle(Self.xBot)) { $0.contains(sentence) }
        try await expect(idle(Self.xBot.merging(["X_ACKNOWLEDGE_POLICY": "yes"]) { $1 })) {
            !$0.contains(sentence)
        }
        try await expect(idle(Self.blueskyHuman)) { !$0.contains(sentence) }
    }

    @Test func saysWhyFavoritesWait() async throws {
        let home =
            "no favorites: the bot's home timeline is not read, for X_HOME_POSTS_PER_DAY is 0"
        let blind = try await idle(Self.xBot.merging(Self.blueskyHuman) { $1 })
        #expect(blind.contains(home))
        let waiting = "no favorites yet: 0 of 20 favorites, 0 of 20 normals learned"
        #expect(
            blind.contains(
                waiting
                    + ", and no home timeline is read to learn from, for HUMAN_APP_PASSWORD is not set, and "
                    + "X_HOME_POSTS_PER_DAY is 0"))
        let seeing = try await idle(Self.xBot.merging(["X_HOME_POSTS_PER_DAY": "10"]) { $1 })
        #expect(!seeing.contains(home))
        expect(seeing) {
            $0.contains { $0.hasPrefix(waiting + "; run mirror-bot train classifier") }
        }
        let off = try await idle(Self.xBot.merging(["FAVORITE_MODE": "off"]) { $1 })
        #expect(!off.contains(home))
        #expect(off.contains("no favorites: FAVORITE_MODE is off"))
    }

    @Test func countsWhatWaitsForAPerson() async throws {
        let variables = Self.xBot.merging(["X_HOME_POSTS_PER_DAY": "10"]) { $1 }
        let mirror = try await BareMirror(variables: variables).open()
        let sentence = "waits for a person; see mirror-bot suggestions"
        try await expect(report(mirror).suggestions, equals: 0)
        let leases = LeaseTable(storage: mirror.storage, mirror: "test")
        let lease = try #require(
            try await leases.take(
                owner: "worker", after: try await leases.record(), now: Self.november.milliseconds))
        let outbox = mirror.outbox(lease: lease)
        for number in 1...2 {
            _ = try await outbox.propose(
                Intent(
                    .favorite(
                        Action.Target(
                            post: "\(number)", author: AccountID(network: .x, value: "7"),
                            address: "\(number)")),
                    state: .suggested, due: Self.november, expires: Self.november + 3_600),
                now: Self.november)
            let report = try await report(mirror)
            #expect(report.suggestions == number)
            expect(report.idle) {
                $0.contains {
                    $0.hasPrefix("\(number) action")
                        && $0.hasSuffix("a person; see mirror-bot suggestions")
                }
            }
            #expect(report.idle.contains("1 action " + sentence) == (number == 1))
        }
    }

    @Test func saysThatALoginCannotBeOpened() async throws {
        let bare = try await BareMirror()
        let mirror = try await bare.open()
        let login = StoredLogin(
            credentials: .bluesky(identifier: "a.example", appPassword: Secret("planted")))
        for role in AccountRole.allCases {
            try await mirror.vault.store(login, for: role, at: Self.november)
        }
        let report = try await report(
            try await bare.open(["SECRET_KEY": String(repeating: "k", count: 32)]))
        expect(report.idle) {
            $0.contains {
                $0.hasPrefix("nothing is sent: SECRET_KEY does not open the stored login")
            }
        }
        expect(report.idle) {
            $0.contains {
                $0.hasPrefix("nothing new is learned: SECRET_KEY does not open the stored")
            }
        }
        #expect(report.accounts.map(\.credentials) == [nil, nil])
    }

    static let missing: [(String, String, String)] = [
        (
            "mastodon", "BOT_SERVER and BOT_ACCESS_TOKEN are not set",
            "HUMAN_SERVER and HUMAN_ACCESS_TOKEN are not set"
        ),
        (
            "x",
            "BOT_CONSUMER_KEY, BOT_CONSUMER_SECRET, BOT_ACCESS_TOKEN and BOT_ACCESS_TOKEN_SECRET are not set",
            "HUMAN_CONSUMER_KEY, HUMAN_CONSUMER_SECRET, HUMAN_ACCESS_TOKEN and HUMAN_ACCESS_TOKEN_SECRET are not set"
        ),
        ("bluesky", "BOT_HANDLE and BOT_APP_PASSWORD are not set", "HUMAN_HANDLE is not set"),
    ]

    @Test(arguments: missing)
    func namesTheSettingsOfTheNetwork(_ network: String, _ bot: String, _ human: String)
        async throws
    {
        let sentences = try await idle(["NETWORK": network])
        #expect(sentences.first == "nothing is sent: \(bot)")
        #expect(sentences.last == "nothing new is learned: \(human)")
    }

    @Test(arguments: NetworkName.allCases) func plansWithinTheLimitsOfTheBotsNetwork(
        _ network: NetworkName
    )
        async throws
    {
        let mirror = try await BareMirror(variables: ["BOT_NETWORK": network.rawValue]).open()
        #expect(PlanReporter(mirror: mirror, zone: .gmt).limits == .usual(of: network))
        let own = PublishingLimits(maximumCharacters: 7, charactersPerURL: nil)
        #expect(PlanReporter(mirror: mirror, zone: .gmt, limits: own).limits == own)
    }
}
