import Expectations
import Fixtures
import Foundation
import Networks
import Posts
import Storage
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// What a worker does once, at its start.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct WorkerStartTests {
    private func labels(_ mirror: PaperMirror) -> Int {
        mirror.bot.with { state in state.calls.count { $0 == .labelAccount } }
    }

    @Test func hasTheBotSayThatItIsOne() async throws {
        let mirror = try await PaperMirror(bot: .bluesky)
        mirror.bot.with { $0.account.isBot = false }
        _ = try await mirror.parts()
        #expect(labels(mirror) == 1)
        #expect(
            mirror.log.values.contains(
                "info The bot's account now says that it is automated mirror=test"))
        _ = try await mirror.parts()
        #expect(labels(mirror) == 1)
    }

    @Test(arguments: [
        NetworkError.Code.capability, .missingScope, .unavailable, .rateLimited, .forbidden,
    ])
    func startsThoughTheLabelCannotBeSet(code: NetworkError.Code) async throws {
        let mirror = try await PaperMirror(bot: .x)
        let bot = mirror.bot
        bot.with {
            $0.account.isBot = false
            $0.failure = { operation, _ in
                operation == .labelAccount ? bot.error(code, operation) : nil
            }
        }
        _ = try await mirror.parts()
        #expect(labels(mirror) == 1)
        #expect(
            mirror.log.values.count {
                $0.hasPrefix("warning The bot's account does not say that it is")
            } == 1)
    }

    /// A database that fails when a start reads what is set, as after a failover, is asked again.
    @Test func aDatabaseThatFailsAtTheStartEndsNothing() async throws {
        let fixture = try await MirrorFixture.start(from: 9)
        let storage = fixture.mirror.storage
        try await storage.execute("ALTER TABLE settings RENAME TO settings_away")
        fixture.clock.join()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { fixture.clock.leave() }
                try await fixture.log.wait { $0.contains("Start failed, trying again") }
                try await storage.execute("ALTER TABLE settings_away RENAME TO settings")
            }
            group.addTask { try await fixture.worker().run(until: Sample.hour(10)) }
            try await group.waitForAll()
        }
        expect(fixture.log.values) { $0.contains { $0.contains("Worker started") } }
    }

    /// Who cannot begin before the next month gives more money hears of what a person gives.
    @Test func aStartThatWaitsForMoneyHearsOfMore() async throws {
        let fixture = try await MirrorFixture.start(
            from: 9, human: .x, bot: .mastodon, variables: ["X_BUDGET_USD_PER_MONTH": "0.001"])
        let clock = fixture.clock
        let mirror = fixture.mirror
        let log = fixture.log
        clock.join()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { clock.leave() }
                try await log.wait { $0.contains("Start failed, trying again") }
                try await clock.sleep(until: Sample.hour(10))
                try await mirror.set(["X_BUDGET_USD_PER_MONTH": "5"], now: clock.now)
            }
            group.addTask { try await fixture.worker().run(until: Sample.hour(11)) }
            try await group.waitForAll()
        }
        #expect(clock.now < Sample.hour(11.1))
        #expect(log.values.count { $0.contains("Start failed") } == 1)
        expect(log.values) { $0.contains { $0.contains("Worker started") } }
    }

    /// What a clock that ran ahead noted as the first start keeps nobody from being heard.
    @Test func aFirstStartThatIsStillToComeIsNow() async throws {
        let mirror = try await PaperMirror(bot: .mastodon).mirror
        let now = PaperMirror.now
        try await mirror.table.add(now: now)
        try await expect(mirror.table.activate(now: now + 365 * 86_400), equals: now + 365 * 86_400)
        try await expect(mirror.table.activate(now: now), equals: now)
        try await expect(mirror.table.activate(now: now + 3_600), equals: now)
    }

    @Test func endsIfTheCredentialsAreRefusedMeanwhile() async throws {
        let mirror = try await PaperMirror(bot: .bluesky)
        let bot = mirror.bot
        bot.with {
            $0.account.isBot = false
            $0.failure = { operation, _ in
                operation == .labelAccount ? bot.error(.unauthorized, operation) : nil
            }
        }
        let error = await #expect(throws: NetworkError.self) { try await mirror.parts() }
        #expect(error?.code == .unauthorized)
    }

    @Test func aRunThatOnlyPretendsLabelsNothing() async throws {
        let mirror = try await PaperMirror(bot: .bluesky)
        mirror.bot.with { $0.account.isBot = false }
        _ = try await mirror.worker().parts(
            bot: mirror.bot, human: nil, lease: nil, deliverer: PretendDeliverer { _ in })
        #expect(labels(mirror) == 0)
    }

    /// The cap of the month that one process was told of holds back the calls of the next, which
    /// works all the same.
    @Test func aCapOfTheMonthHoldsForTheNextProcess() async throws {
        let mirror = try await PaperMirror(bot: .x)
        let bot = mirror.bot
        let first = try await mirror.parts()
        let until = mirror.clock.now + 40_000
        bot.with { state in
            state.failure = { operation, _ in
                guard operation == .readMentions else { return nil }
                var error = bot.error(.capReached, operation, retryAfter: until, outcome: .refused)
                error.concernsAccount = true
                return error
            }
        }
        _ = await #expect(throws: NetworkError.self) {
            _ = try await first.bot.page(.mentions, .newest)
        }
        bot.with { $0.failure = { _, _ in nil } }
        let next = try await mirror.parts()
        #expect(next.bot.pause(at: mirror.clock.now) == until)
        try await expect(next.bot.isOpen(), equals: false)
    }

    @Test(arguments: [NetworkError.Code.overBudget, .creditsDepleted, .capReached])
    func knowsAnAccountThatCannotBePaidFor(code: NetworkError.Code) async throws {
        let mirror = try await PaperMirror(bot: .mastodon, human: .x)
        let human = try #require(mirror.human)
        let failure: @Sendable (NetworkError.Operation, FeedPosition?) -> NetworkError? = {
            operation, _ in
            human.error(code, operation)
        }
        human.with { $0.failure = failure }
        // Whose it is was never known.
        let first = await #expect(throws: NetworkError.self) { try await mirror.parts() }
        #expect(first?.code == code)
        human.with { $0.failure = { _, _ in nil } }
        _ = try await mirror.parts()
        human.with { $0.failure = failure }
        let parts = try await mirror.parts()
        #expect(
            parts.learnable.own == [
                AccountID(network: .x, value: "human"), AccountID(network: .mastodon, value: "bot"),
            ])
        expect(mirror.log.values) {
            $0.contains {
                $0.hasPrefix("warning Account not verified, going on with the known one")
            }
        }
    }

    /// With other keys it may be anybody's account, whatever was stored before.
    @Test func changedCredentialsAreVerifiedBeforeAnythingIsSent() async throws {
        let keys = [
            "HUMAN_CONSUMER_KEY": "ck", "HUMAN_CONSUMER_SECRET": "cs",
            "HUMAN_ACCESS_TOKEN": "planted-old",
            "HUMAN_ACCESS_TOKEN_SECRET": "ats",
        ]
        let old = try await PaperMirror(bot: .mastodon, human: .x, variables: keys)
        let human = try #require(old.human)
        _ = try await old.parts()
        human.with { $0.failure = { operation, _ in human.error(.overBudget, operation) } }
        _ = try await old.parts()
        let record = try await old.mirror.table.record()
        let new = try await PaperMirror(
            bot: .mastodon, human: .x, variables: keys.merging(["HUMAN_ACCESS_TOKEN": "new"]) { $1 }
        )
        try await new.mirror.table.bind(
            human: record.human.map { Account(id: $0, handle: "human") }, bot: nil,
            now: PaperMirror.now)
        let note = try #require(try await old.mirror.table.record().verified[.human])
        #expect(!note.contains("planted"))
        try await new.mirror.table.bind(
            human: nil, bot: nil, credentials: [.human: note], now: PaperMirror.now)
        let other = try #require(new.human)
        other.with { $0.failure = { operation, _ in other.error(.overBudget, operation) } }
        let error = await #expect(throws: NetworkError.self) { try await new.parts() }
        #expect(error?.code == .overBudget)
        other.with { $0.failure = { _, _ in nil } }
        _ = try await new.parts()
        try await expect(new.mirror.table.record().verified[.human]) { $0 != note }
    }

    @Test(arguments: [NetworkError.Code.unauthorized, .transport, .unavailable, .redirected])
    func knowsAHumanWhoseNetworkDoesNotAnswer(code: NetworkError.Code) async throws {
        let mirror = try await PaperMirror(bot: .mastodon, human: .x)
        let human = try #require(mirror.human)
        human.with { $0.failure = { operation, _ in human.error(code, operation) } }
        let first = await #expect(throws: (any Error).self) { try await mirror.parts() }
        #expect(first is UnusableAccount == (code == .unauthorized))
        human.with { $0.failure = { _, _ in nil } }
        _ = try await mirror.parts()
        human.with { $0.failure = { operation, _ in human.error(code, operation) } }
        let parts = try await mirror.parts()
        #expect(parts.learnable.own.contains(AccountID(network: .x, value: "human")))
    }

    @Test(arguments: [NetworkError.Code.unauthorized, .transport])
    func waitsForTheBotsNetworkEvenIfItIsKnown(code: NetworkError.Code) async throws {
        let mirror = try await PaperMirror(bot: .mastodon)
        let bot = mirror.bot
        _ = try await mirror.parts()
        bot.with { $0.failure = { operation, _ in bot.error(code, operation) } }
        let error = await #expect(throws: NetworkError.self) { try await mirror.parts() }
        #expect(error?.code == code)
    }
}
