import Expectations
import Fixtures
import Foundation
import Mastodon
import Networks
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

@testable import Fleet
@testable import Mirroring
@testable import Settings

/// Whose a mirror is, and what follows when it becomes another account's.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct BindingTests {
    private static let human = account("human")
    private static let bot = account("bot")

    private static func account(_ name: String) -> Account {
        Account(id: AccountID(network: .mastodon, value: "\(name)@social.example"), handle: name)
    }

    private static func rebinding(_ role: AccountRole, to account: Account) -> Rebinding {
        Rebinding(role: role, bound: nil, found: account)
    }

    // MARK: One bot, one mirror

    @Test(arguments: Engine.allCases) func refusesABotThatAnotherMirrorHas(_ engine: Engine)
        async throws
    {
        let bare = try await BareMirror(engine)
        let first = try await bare.open()
        let second = try await bare.open(["MIRROR": "second"])
        try await first.bind(human: Self.human, bot: Self.bot, now: BareMirror.now)
        // The same account in another spelling.
        let same = Account(
            id: AccountID(network: .mastodon, value: "BOT@Social.Example."), handle: "bot")
        let error = await #expect(throws: ConfigurationError.self) {
            try await second.bind(human: Self.account("other"), bot: same, now: BareMirror.now)
        }
        expect(error?.description) { $0?.contains("mirror test in the same database") == true }
        try await expect(second.table.record(), equals: MirrorRecord())
        // One human may have several bots, and the first mirror goes on.
        try await second.bind(human: Self.human, bot: Self.account("other"), now: BareMirror.now)
        try await first.bind(human: Self.human, bot: Self.bot, now: BareMirror.now)
        let rebound = await #expect(throws: ConfigurationError.self) {
            _ = try await second.rebind([Self.rebinding(.bot, to: Self.bot)], now: BareMirror.now)
        }
        expect(rebound?.description) { $0?.contains("mirror test") == true }
        try await expect(second.table.record().bot, equals: Self.account("other").id)
    }

    /// Of two that begin at the same moment, one wins.
    @Test(arguments: Engine.allCases) func letsOneOfTwoHaveTheBot(_ engine: Engine) async throws {
        let bare = try await BareMirror(engine)
        let names = (0..<4).map { "m\($0)" }
        var all: [HumanMirror] = []
        for name in names { all.append(try await bare.open(["MIRROR": name])) }
        let bound = try await withThrowingTaskGroup(of: Bool.self) { group in
            for mirror in all {
                group.addTask {
                    do {
                        try await mirror.bind(human: nil, bot: Self.bot, now: BareMirror.now)
                        return true
                    } catch is ConfigurationError {
                        return false
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(bound == 1)
    }

    @Test func aWorkerOfTheSecondMirrorDoesNothing() async throws {
        let fixture = try await MirrorFixture.start()
        #expect(try await fixture.worker().runOnce())
        let second = try await fixture.reopened(changing: ["MIRROR": "second"])
        let error = await #expect(throws: ConfigurationError.self) {
            _ = try await fixture.worker(on: second).runOnce()
        }
        #expect(error?.setting == "BOT_ACCESS_TOKEN")
        expect(error?.description) { $0?.contains("mirror \(MirrorFixture.mirror)") == true }
    }

    // MARK: Binding anew

    /// As after a part of a feed was read.
    private func read(_ feed: String, _ mirror: HumanMirror) async throws {
        try await mirror.storage.execute(
            "INSERT INTO feeds (mirror, feed, position) VALUES ('test', \(feed), '5')")
        try await mirror.storage.execute(
            "INSERT INTO feed_stretches (mirror, feed, part, cursor) VALUES ('test', \(feed), 'gap', '5')"
        )
    }

    private func feeds(in table: String, _ mirror: HumanMirror) async throws -> [String] {
        try await mirror.storage.lenient.query("SELECT feed FROM \(unsafe: table) ORDER BY feed")
            .map { try $0.text("feed") }
    }

    @Test(arguments: Engine.allCases) func bindsToAnotherBot(_ engine: Engine) async throws {
        let bare = try await BareMirror(engine)
        let mirror = try await bare.open()
        try await mirror.bind(human: Self.human, bot: Self.bot, now: BareMirror.now)
        _ = try await mirror.table.activate(now: BareMirror.now)
        for name in ["bot-mentions", "bot-home", "human-posts", "seen-home", "botany"] {
            try await read(name, mirror)
        }
        try await mirror.table.bind(
            human: nil, bot: nil, credentials: [.bot: "opened before"], now: BareMirror.now)
        try await write(
            [
                ("post", "planned"), ("reply", "planned"), ("reply", "claimed"),
                ("favorite", "suggested"),
                ("reply", "sending"), ("post", "sending"), ("reply", "done"), ("post", "failed"),
            ], into: mirror)
        let later = BareMirror.now + 60
        #expect(
            try await mirror.rebind([Self.rebinding(.bot, to: Self.account("moved"))], now: later))
        let record = try await mirror.table.record()
        #expect(record.bot == Self.account("moved").id)
        #expect(record.botHandle == "moved")
        #expect(record.human == Self.human.id)
        #expect(record.verified[.bot] != "opened before")
        #expect(record.activated == later)
        for table in ["feeds", "feed_stretches"] {
            try await expect(
                feeds(in: table, mirror), equals: ["botany", "human-posts", "seen-home"])
        }
        let actions = try await mirror.storage.lenient.query(
            "SELECT kind, state, reason, next_attempt_ms FROM actions ORDER BY id")
        try expect(
            actions.map {
                "\(try $0.text("kind")) \(try $0.text("state")) \(try $0.optionalText("reason") ?? "")"
            },
            equals: [
                "post planned ", "reply skipped rebound", "reply skipped rebound",
                "favorite skipped rebound",
                "reply failed unconfirmed", "post failed unconfirmed", "reply done ",
                "post failed ",
            ])
        #expect(
            try actions.suffix(4).allSatisfy { try $0.optionalInteger("next_attempt_ms") == nil })
        // Now this is the account, and the other one no more.
        try await mirror.bind(human: nil, bot: Self.account("moved"), now: later)
        await #expect(throws: ConfigurationError.self) {
            try await mirror.bind(human: nil, bot: Self.bot, now: later)
        }
    }

    @Test func bindsToAnotherHuman() async throws {
        let mirror = try await BareMirror().open()
        try await mirror.bind(human: Self.human, bot: Self.bot, now: BareMirror.now)
        _ = try await mirror.table.activate(now: BareMirror.now)
        for name in ["bot-mentions", "human-posts", "human-favorites", "seen-home"] {
            try await read(name, mirror)
        }
        #expect(
            try await mirror.rebind(
                [Self.rebinding(.human, to: Self.account("new"))], now: BareMirror.now + 60))
        let record = try await mirror.table.record()
        #expect(record.human == Self.account("new").id)
        #expect(record.bot == Self.bot.id)
        #expect(record.activated == BareMirror.now)
        for table in ["feeds", "feed_stretches"] {
            try await expect(feeds(in: table, mirror), equals: ["bot-mentions"])
        }
        let error = await #expect(throws: ConfigurationError.self) {
            _ = try await mirror.rebind([Self.rebinding(.human, to: Self.bot)], now: BareMirror.now)
        }
        expect(error?.description) { $0?.contains("belongs to the bot's own account") == true }
    }

    @Test func leavesAMirrorAloneThatIsAtWork() async throws {
        let mirror = try await BareMirror().open(rehearsal: .meeting)
        try await mirror.bind(human: nil, bot: Self.bot, now: BareMirror.now)
        let table = LeaseTable(storage: mirror.storage, mirror: mirror.configuration.mirror)
        let lease = try #require(
            try await table.take(owner: "somebody", after: try await table.record(), now: 0))
        let beating = Task {
            while !Task.isCancelled { try await table.beat(lease, now: 1) }
        }
        #expect(
            try await !mirror.rebind(
                [Self.rebinding(.bot, to: Self.account("moved"))], now: BareMirror.now))
        beating.cancel()
        try await expect(mirror.table.record().bot, equals: Self.bot.id)
    }

    private func write(_ actions: [(kind: String, state: String)], into mirror: HumanMirror)
        async throws
    {
        for (number, action) in actions.enumerated() {
            let next: Int64? = action.state == "failed" ? 5 : nil
            try await mirror.storage.execute(
                """
                INSERT INTO actions (mirror, id, kind, subject, state, due_ms, expires_ms, pinned, attempts,
                    next_attempt_ms, created_ms, updated_ms)
                VALUES ('test', \("a\(number)"), \(action.kind), \("s\(number)"), \(action.state), 0, 0, \(false), 0,
                    \(next), 0, 0)
                """)
        }
    }

    // MARK: Noticing a change

    @Test(arguments: Engine.allCases) func aStampTellsEveryNewLogin(_ engine: Engine) async throws {
        let bare = try await BareMirror(
            engine, variables: ["SECRET_KEY": String(repeating: "k", count: 40)])
        let mirror = try await bare.open()
        let other = try await bare.open()
        var stamps = [try await mirror.stamp()]
        #expect(stamps[0].credentials.isEmpty)
        func expectChange(_ change: () async throws -> Void) async throws {
            try await change()
            let stamp = try await mirror.stamp()
            #expect(stamps.last != stamp)
            try await expect(mirror.stamp(), equals: stamp)
            stamps.append(stamp)
        }
        let login = StoredLogin(
            credentials: .bluesky(identifier: "did:plc:haruka", appPassword: Secret("planted")))
        // The same account, the same password, the same millisecond: still another login.
        for _ in 0..<3 {
            try await expectChange {
                try await other.vault.store(login, for: .bot, at: BareMirror.now)
            }
        }
        // A session is renewed every hour, and nothing changes with it.
        let before = try await mirror.stamp()
        let sessions = other.vault.sessions(of: .bot, now: { BareMirror.now })
        try await sessions.save(Secret("planted-session"))
        try await expect(mirror.stamp(), equals: before)
        try await expectChange {
            try await other.vault.store(login, for: .human, at: BareMirror.now)
        }
        try await expectChange { try await other.vault.remove(.human) }
        try await expectChange {
            try await other.bind(human: nil, bot: Self.bot, now: BareMirror.now)
        }
        #expect(!"\(stamps)".contains("planted"))
        // Settings win over logins.
        let set = try await bare.open([
            "BOT_SERVER": "https://social.example", "BOT_ACCESS_TOKEN": "planted",
        ])
        let ofSettings = try await set.stamp()
        try await other.vault.store(login, for: .bot, at: BareMirror.now)
        try await expect(set.stamp(), equals: ofSettings)
        #expect(!"\(ofSettings)".contains("planted"))
    }

    @Test func takesUpALoginOnAnotherNetwork() async throws {
        let bare = try await BareMirror()
        let mirror = try await bare.open()
        #expect(mirror.configuration.botNetwork == .mastodon)
        #expect(mirror.configuration.favoriteMode == .auto)
        let login = StoredLogin(
            credentials: .bluesky(identifier: "did:plc:haruka", appPassword: Secret("p")))
        try await bare.open().vault.store(login, for: .bot, at: BareMirror.now)
        let current = try await mirror.withCurrentSettings()
        #expect(current.configuration.botNetwork == .bluesky)
        #expect(current.configuration.favoriteMode == .suggest)
        try await expect(current.account(.bot)?.network, equals: .bluesky)
    }

    @Test func aLoginLeavesTheNoteOfAnother() async throws {
        let mirror = try await BareMirror().open()
        let error = NetworkError(
            code: .unauthorized, network: .mastodon, host: "social.example", operation: .publish,
            detail: nil,
            outcome: .refused)
        await mirror.refusals.note(error, of: .bot, at: BareMirror.now)
        let login = StoredLogin(
            credentials: .mastodon(
                server: "https://social.example",
                MastodonCredentials(accessToken: Secret("planted"))))
        try await mirror.bind(Self.bot, openedBy: login.account(.bot), now: BareMirror.now)
        try await expect(mirror.refusals.rows().refusals[.bot]) { $0 != nil }
    }
}
