import Archive
import Expectations
import Fixtures
import Foundation
import Outbox
import Posts
import Sandbox
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mastodon
@testable import Mirroring
@testable import Networks

/// Whether nothing leaves a mirror before somebody agreed to it, whatever way leads into it, and
/// nothing after its human has stopped it.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ConsentTests {
    // MARK: The sandbox

    /// The human logs in, and stops the mirror by a mention at noon.
    @Test(arguments: NetworkName.allCases) func theHumansLoginAgreesAndTheirMentionStops(
        _ network: NetworkName
    )
        async throws
    {
        let fixture = try await MirrorFixture.start(from: 6, human: network, bot: network)
        let sandbox = fixture.sandbox
        try await fixture.live(
            until: 22,
            events: [(12, { _ = await sandbox.say([Self.stop(SamplePeople.human.handle)]) })])
        let ledger = await sandbox.ledger
        #expect(ledger.summary.posted > 0)
        // The mention is read with the next look at the latest.
        expect(ledger.deliveries.map(\.date)) { $0.allSatisfy { $0 < Sample.hour(12.5) } }
        expect(ledger.favorites.map(\.date)) { $0.allSatisfy { $0 < Sample.hour(12.5) } }
        let record = try await fixture.mirror.table.record()
        #expect(record.consent == nil)
        #expect(record.stopped != nil)
        let planned = try await fixture.mirror.outbox(lease: nil).recent(1_000)
        expect(planned) {
            $0.contains { $0.kind == .post && $0.state == .expired && $0.due > Sample.hour(12.5) }
        }
        let health = try await fixture.mirror.health(now: fixture.clock.now)
        expect(health.obstacles) { $0.contains { $0.code == .stoppedByHuman && $0.isFatal } }
    }

    /// Of anybody else it is a request to be left alone.
    @Test func aStrangersMentionStopsNoMirror() async throws {
        let fixture = try await MirrorFixture.start(from: 6)
        let sandbox = fixture.sandbox
        try await fixture.live(
            until: 20, events: [(9, { _ = await sandbox.say([Self.stop("aoi")]) })])
        try await expect(fixture.mirror.table.record().consent?.ground, equals: .login)
        try await expect(fixture.mirror.people.stance(of: Sample.person("aoi")), equals: .deny)
        await expect(sandbox.ledger.deliveries) { $0.contains { $0.date > Sample.hour(10) } }
    }

    private static func stop(_ speaker: String) -> SandboxUtterance {
        SandboxUtterance(speaker, "stop mirroring me!")
    }

    // MARK: Without a login

    @Test(arguments: NetworkName.allCases, Engine.allCases)
    func anArchiveAlonePlansAndSendsNothing(_ network: NetworkName, _ engine: Engine) async throws {
        var life = try await Life(engine, on: network)
        try await life.restart()
        try await expect(life.talk(), equals: 0)
        let waiting = try await life.mirror.outbox(lease: nil).recent(100)
        expect(waiting) { $0.contains { $0.kind == .reply && $0.state == .planned } }
        _ = try await Desk(life.mirror, zone: PaperMirror.zone).perform(
            PublishPost(post: "thought-1"))
        try await life.look()
        #expect(life.sent == 0)
        let health = try await life.mirror.health(now: life.clock.now)
        let obstacle = try #require(health.obstacles.first { $0.code == .noConsent })
        #expect(obstacle.stops == [.sending, .favorites])
        #expect(obstacle.reason.contains("mirror-bot set HUMAN_CONSENT=WHO"))
        #expect(health.verdict.isWell == false)
        // What was asked for by hand says why it waits.
        let posts = try await life.mirror.outbox(lease: nil).recent(100).filter { $0.kind == .post }
        let post = try #require(posts.first)
        let told = try await life.mirror.health(now: life.clock.now).sendingObstacles(to: post.kind)
            .map(
                \.code)
        #expect(told.contains(.noConsent))
        try await life.set("agreed")
        try await expect(life.talk()) { $0 > 0 }
        let record = try await life.mirror.table.record()
        #expect(record.consent?.ground == .agreed)
        #expect(record.consent?.wording == "this person agreed in writing")
        expect(try await life.mirror.health(now: life.clock.now).obstacles) {
            $0.allSatisfy { $0.code != .noConsent }
        }
    }

    /// A handle on Bluesky opens nothing: whoever types it need not be its owner.
    @Test func readingWhatIsPublicAgreesToNothing() async throws {
        var life = try await Life(on: .bluesky)
        try await life.restart(["HUMAN_HANDLE": "human.example"])
        #expect(life.hasHuman)
        try await expect(life.talk(), equals: 0)
        try await life.restart([
            "HUMAN_HANDLE": "human.example", "HUMAN_APP_PASSWORD": "planted-password",
        ])
        try await expect(life.mirror.table.record().consent?.ground, equals: .login)
        try await expect(life.talk()) { $0 > 0 }
    }

    @Test(arguments: ["self", "agreed", "heirs"]) func aStatementIsStoredWithItsTimeAndWording(
        _ word: String
    )
        async throws
    {
        var life = try await Life()
        try await life.restart(["HUMAN_CONSENT": word])
        let consent = try #require(try await life.mirror.table.record().consent)
        #expect(consent.ground.rawValue == word)
        #expect(consent.wording == HumanConsent.Ground(rawValue: word)?.wording)
        let since = consent.since
        try await life.clock.sleep(until: life.clock.now + 3_600)
        try await life.restart(["HUMAN_CONSENT": word])
        try await expect(life.mirror.table.record().consent?.since, equals: since)
        try await expect(life.talk()) { $0 > 0 }
        // What `set` said is taken back by `unset`.
        try await life.set("heirs")
        let desk = Desk(life.mirror, zone: PaperMirror.zone)
        _ = try await desk.perform(UnsetValues(["HUMAN_CONSENT"]))
        try await expect(life.talk(), equals: 0)
    }

    // MARK: The human's own words

    @Test(arguments: NetworkName.allCases)
    func theWordsAgreeOnlyFromTheHumansAccountAndOnlyIfAskedFor(
        _ network: NetworkName
    ) async throws {
        var life = try await Life(on: network)
        try await life.restart()
        try await life.say(try await life.words(of: "stranger", agrees: true), by: "stranger")
        try await expect(life.talk(), equals: 0)
        try await life.say(try await life.words(of: "human", agrees: false), by: "human")
        try await expect(life.talk(), equals: 0)
        try await life.say(try await life.words(of: "human", agrees: true), by: "human")
        try await expect(life.mirror.table.record().consent?.ground, equals: .words)
        try await expect(life.talk()) { $0 > 0 }
        try await life.say("please stop mirroring me", by: "human")
        try await expect(life.talk(), equals: 0)
        let mentions = try await life.mirror.outbox(lease: nil).recent(100)
        expect(mentions) { $0.contains { $0.reason == "stops-mirror" && $0.state == .skipped } }
        // Words that were said before the stop do not count again, new ones do.
        try await life.say(try await life.words(of: "human", agrees: true), by: "human")
        try await expect(life.talk()) { $0 > 0 }
    }

    /// What was said in one page counts in the order in which it was said.
    @Test func theLastWordCounts() async throws {
        var life = try await Life()
        try await life.restart(["HUMAN_CONSENT": "agreed"])
        let words = try await life.words(of: "human", agrees: true)
        life.add("stop mirroring me", by: "human", after: 1)
        life.add(words, by: "human", after: 2)
        try await life.look()
        try await expect(life.mirror.table.record().consent?.ground, equals: .words)
        let again = try await life.words(of: "human", agrees: true)
        life.add(again, by: "human", after: 1)
        life.add("stop mirroring me", by: "human", after: 2)
        try await life.look()
        try await expect(life.mirror.table.record().consent, equals: nil)
        try await expect(life.talk(), equals: 0)
    }

    @Test func theHumanStopsAtThePageToo() async throws {
        var life = try await Life()
        try await life.restart(["HUMAN_CONSENT": "agreed"])
        let desk = Desk(life.mirror, zone: PaperMirror.zone)
        let stranger = AccountID(network: .mastodon, value: "pal@home.example")
        let refusal = try await #require(throws: ChangeRefusal.self) {
            try await desk.perform(StopMirroring(account: stranger.reference))
        }
        #expect(refusal.code == .unusable)
        try await expect(life.talk()) { $0 > 0 }
        let human = AccountID(network: .mastodon, value: "human@home.example")
        try await life.mirror.storage.execute(
            "UPDATE mirrors SET human_account = 'mastodon:human@home.example'")
        _ = try await desk.perform(StopMirroring(account: human.reference))
        try await expect(life.talk(), equals: 0)
    }

    // MARK: After a stop

    @Test func onlyWhatIsSaidAfterTheStopCounts() async throws {
        let login = ["HUMAN_SERVER": "https://home.example", "HUMAN_ACCESS_TOKEN": "planted-h"]
        var life = try await Life()
        try await life.restart(login.merging(["HUMAN_CONSENT": "agreed"]) { $1 })
        try await life.set("self")
        try await expect(life.talk()) { $0 > 0 }
        try await life.say("stop mirroring me", by: "human")
        // Login and statements are still there, and come again with each start.
        try await life.restart()
        try await expect(life.talk(), equals: 0)
        // A statement that nobody made at this moment is none.
        try await life.mirror.storage.execute(
            "UPDATE settings SET value = 'heirs', updated_ms = \(life.clock.now.milliseconds)")
        try await life.restart()
        try await expect(life.talk(), equals: 0)
        // Nor does the same token say anything new; another one does.
        try await life.logIn(token: "planted-h")
        try await expect(life.talk(), equals: 0)
        try await life.logIn(token: "planted-new")
        try await expect(life.mirror.table.record().consent?.ground, equals: .login)
        try await expect(life.talk()) { $0 > 0 }
        try await life.say("stop mirroring me", by: "human")
        try await expect(life.talk(), equals: 0)
        try await life.set("self")
        try await expect(life.talk()) { $0 > 0 }
    }

    /// An edit is said for the human too.
    @Test func noCopyIsChangedAfterTheStop() async throws {
        var life = try await Life()
        try await life.restart(["HUMAN_CONSENT": "agreed"])
        try await expect(life.talk()) { $0 > 0 }
        let store = try life.parts.store
        let copy = try #require(try await store.recent(100).first { $0.state == .done })
        let now = life.clock.now
        try await expect(store.beginEdit(of: copy, deadline: .seconds(30), now: now), equals: true)
        try await life.mirror.table.stop(now: now)
        let error = try await #require(throws: OutboxError.self) {
            try await store.beginEdit(of: copy, deadline: .seconds(30), now: now)
        }
        #expect(error.code == .unagreed)
    }

    // MARK: Another human, another database

    @Test func anotherHumanHasNotAgreed() async throws {
        var life = try await Life()
        try await life.restart(["HUMAN_CONSENT": ""])
        try await life.set("agreed")
        let other = Account(
            id: AccountID(network: .mastodon, value: "other@home.example"), handle: "other")
        try await life.mirror.table.rebind(
            [.human: other], settings: [:], credentials: [:], now: life.clock.now)
        try await expect(
            SettingTable(storage: life.mirror.storage, mirror: "test").all(), equals: [:])
        try await life.restart()
        try await expect(life.talk(), equals: 0)
        try await life.mirror.table.rebind(
            [.human: other], settings: [:], credentials: [:], login: .standing, now: life.clock.now)
        try await expect(life.mirror.table.record().consent?.ground, equals: .login)
    }

    /// A mirror that worked before anybody was asked goes on, and its status asks.
    @Test func anOlderMirrorGoesOn() async throws {
        var life = try await Life()
        try await life.restart()
        try await life.mirror.storage.execute(
            "UPDATE mirrors SET consent = 'earlier', consent_ms = 1")
        try await expect(life.talk()) { $0 > 0 }
        func notes() async throws -> [Obstacle.Code] {
            try await life.mirror.health(now: life.clock.now).obstacles.map(\.code)
        }
        expect(try await notes()) { $0.contains(.consentUnstated) && !$0.contains(.noConsent) }
        try await life.set("heirs")
        expect(try await notes()) { !$0.contains(.consentUnstated) }
    }

    // MARK: All ways in

    /// Every way into a mirror, in any order.
    enum Way: String, CaseIterable, Sendable {
        case restart, environment, noEnvironment, ownersLogin, freshLogin, sameLogin
        case imported, byHand, set, unset, words, otherWords, stop, stopByStranger
        case backUp, restore, move, pauseAndResume, publish
    }

    /// What ought to be known of a mirror after that.
    private struct Belief: Equatable {
        var ground: HumanConsent.Ground?
        var isStopped = false
        var stored: HumanConsent.Ground?

        mutating func start(_ environment: [String: String]) {
            guard !isStopped else { return }
            if environment["HUMAN_ACCESS_TOKEN"] != nil, ground?.isByAccount != true {
                ground = .login
            }
            let stated = stored ?? environment["HUMAN_CONSENT"].flatMap(HumanConsent.Ground.init)
            if let stated, ground?.isByAccount != true { ground = stated }
        }

        mutating func agree(by ground: HumanConsent.Ground) {
            self.ground = ground
            isStopped = false
        }

        mutating func stop() {
            ground = nil
            isStopped = true
        }
    }

    @Test(arguments: NetworkName.allCases, 0..<6)
    func nothingLeavesWithoutConsentWhateverTheWayIn(_ network: NetworkName, _ seed: Int)
        async throws
    {
        var generator = SeededGenerator(seed: UInt64(seed))
        var life = try await Life(on: network)
        var belief = Belief()
        var saved: Belief?
        var path: [String] = []
        try await life.restart()
        // Each of them once, in an order of its own, and some again.
        let ways =
            Way.allCases.shuffled(using: &generator)
            + Way.allCases.shuffled(using: &generator).prefix(6)
        for way in ways {
            try await go(way, life: &life, &belief, &saved, &generator)
            path.append("\(way) → \(belief.ground?.rawValue ?? "-")")
            let replies = try await life.talk()
            let words = path.joined(separator: ", ")
            let ground = try await life.mirror.table.record().consent?.ground
            #expect(ground == belief.ground, "\(words)")
            #expect((replies > 0) == (belief.ground != nil), "\(words)")
        }
    }

    /// Goes one way, and tells what follows from it.
    private func go(
        _ way: Way, life: inout Life, _ belief: inout Belief, _ saved: inout Belief?,
        _ generator: inout SeededGenerator
    ) async throws {
        let statement = HumanConsent.Ground.statements.randomElement(using: &generator) ?? .agreed
        switch way {
        case .restart:
            try await life.restart()
        case .environment:
            try await life.restart(["HUMAN_CONSENT": statement.rawValue])
        case .noEnvironment:
            try await life.restart([:])
        case .ownersLogin:
            // As on Heroku; the tokens of each network stand in the same variables of the paper
            // network.
            try await life.restart(Life.login)
        case .freshLogin:
            try await life.logIn(token: "planted-\(generator.next())")
            if belief.ground?.isByAccount != true { belief.agree(by: .login) }
            return
        case .sameLogin:
            guard let token = life.environment["HUMAN_ACCESS_TOKEN"] else { return }
            try await life.logIn(token: token)
            if !belief.isStopped, belief.ground?.isByAccount != true { belief.agree(by: .login) }
            return
        case .imported:
            let line =
                #"{"name":"test","settings":{"HUMAN_CONSENT":"\#(statement.rawValue)","MAX_PER_DAY":5}}"#
            _ = try await MirrorRegister(life.mirror.installation).importMirrors(Data(line.utf8))
            belief.stored = statement
            try await life.restart()
        case .byHand:
            try await life.mirror.storage.execute(
                """
                INSERT INTO settings (mirror, name, value, updated_ms)
                VALUES ('test', 'HUMAN_CONSENT', \(statement.rawValue), \(life.clock.now.milliseconds))
                ON CONFLICT (mirror, name) DO UPDATE SET value = excluded.value
                """)
            belief.stored = statement
            try await life.restart()
        case .set:
            try await life.set(statement.rawValue)
            belief.stored = statement
            if belief.ground?.isByAccount != true { belief.agree(by: statement) }
            return
        case .unset:
            _ = try await Desk(life.mirror, zone: PaperMirror.zone).perform(
                UnsetValues(["HUMAN_CONSENT"]))
            if belief.stored != nil, belief.ground?.wording != nil { belief.ground = nil }
            belief.stored = nil
            return
        case .words:
            try await life.say(try await life.words(of: "human", agrees: true), by: "human")
            if belief.ground != .login { belief.agree(by: .words) }
            return
        case .otherWords:
            try await life.say(try await life.words(of: "human", agrees: false), by: "human")
            return
        case .stop:
            try await life.say("stop mirroring me", by: "human")
            belief.stop()
            return
        case .stopByStranger:
            try await life.say("stop mirroring me", by: "stranger")
            return
        case .backUp:
            try await life.backUp()
            saved = belief
            return
        case .restore:
            guard let saved else { return }
            try await life.restore()
            // What is known here stays, and settings are those of the backup.
            if belief.ground == nil, !belief.isStopped { belief = saved }
            belief.stored = saved.stored
        case .move:
            try await life.move()
        case .pauseAndResume:
            let desk = Desk(life.mirror, zone: PaperMirror.zone)
            _ = try await desk.perform(PauseMirror())
            _ = try await desk.perform(ResumeMirror())
            return
        case .publish:
            // What was published today is refused.
            _ = try? await Desk(life.mirror, zone: PaperMirror.zone).perform(
                PublishPost(post: "thought-2"))
            return
        }
        belief.start(life.environment)
    }

    // MARK: A mirror on paper

    /// A mirror that has no consent of its own, its processes, and who speaks to it.
    private struct Life {
        /// What a person sets for the human's account, on any network.
        static let login = [
            "HUMAN_SERVER": "https://home.example", "HUMAN_ACCESS_TOKEN": "planted-h",
        ]

        let network: NetworkName
        let bare: BareMirror
        let clock = VirtualClock(startingAt: PaperMirror.now)
        let bot: PaperNetwork
        let human: PaperNetwork
        private(set) var environment: [String: String] = [:]
        private(set) var mirror: HumanMirror
        private(set) var running: WorkerParts?
        /// The folders of its databases; it lives in the last one.
        private var homes: [TemporaryDirectory]
        private let copies: TemporaryDirectory
        private var spoken = 0

        var parts: WorkerParts {
            get throws {
                guard let running else { throw TestSupportError("no worker was started") }
                return running
            }
        }

        init(_ engine: Engine = .sqlite, on network: NetworkName = .mastodon) async throws {
            self.network = network
            let usual = [
                "TIME_ZONE": PaperMirror.zone.identifier, "BOT_NETWORK": network.rawValue,
                "MIN_AGE_DAYS": "0",
                "TRUST_ARCHIVE": "yes", "REPLIES_PER_PERSON": "100", "X_ACKNOWLEDGE_POLICY": "yes",
                "FAVORITE_MODE": "off",
            ]
            bare = try await BareMirror(
                engine, variables: usual.merging(Self.botLogin(on: network)) { $1 })
            bot = PaperNetwork(network)
            human = PaperNetwork(network, account: "human")
            homes = [bare.folder]
            copies = try TemporaryDirectory()
            mirror = try await bare.open(clock: clock)
            _ = try await mirror.table.notePast(.whole, now: PaperMirror.now)
            let pal = Self.account("pal", network)
            let replies = (0..<80).map {
                pastReply("to-pal-\($0)", to: pal.id, "thank you number \($0)")
            }
            let thoughts = (1...3).map { number in
                Post(
                    id: PostID(network: network, value: "thought-\(number)"),
                    author: AccountID(network: network, value: "human"),
                    text: "the harbour is open on day \(number)",
                    createdAt: PaperMirror.now - Double(60 + number) * 86_400)
            }
            _ = try await mirror.archive.store(
                replies + thoughts, timeZone: PaperMirror.zone, limit: 10_000)
        }

        /// What a person sets for the bot's account, which answers on paper.
        private static func botLogin(on network: NetworkName) -> [String: String] {
            let names: [String] =
                switch network {
                case .mastodon: ["BOT_SERVER", "BOT_ACCESS_TOKEN"]
                case .x:
                    [
                        "BOT_CONSUMER_KEY", "BOT_CONSUMER_SECRET", "BOT_ACCESS_TOKEN",
                        "BOT_ACCESS_TOKEN_SECRET",
                    ]
                default: ["BOT_HANDLE", "BOT_APP_PASSWORD"]
                }
            let values = ["BOT_SERVER": "https://bots.example", "BOT_HANDLE": "bot.example"]
            return Dictionary(
                uniqueKeysWithValues: names.map { ($0, values[$0] ?? "planted-\($0)") })
        }

        private static func account(_ name: String, _ network: NetworkName) -> Account {
            Account(id: AccountID(network: network, value: name), handle: name)
        }

        private var home: String { homes[homes.count - 1].path }

        var hasHuman: Bool {
            environment.keys.contains { $0.hasPrefix("HUMAN_") && $0 != "HUMAN_CONSENT" }
        }

        /// How many posts and replies have left.
        var sent: Int { bot.with { $0.published.count } }

        // MARK: Processes

        /// Ends the process, and starts the next one with other settings in its environment; nil
        /// for the same.
        mutating func restart(_ changes: [String: String]? = nil) async throws {
            if let changes { environment = changes }
            var all = ["MIRROR_BOT_HOME": home].merging(environment) { $1 }
            // What a token is called differs; that the owner has one is what counts here.
            if environment["HUMAN_ACCESS_TOKEN"] != nil { all["HUMAN_NETWORK"] = "mastodon" }
            mirror = try await bare.open(all, clock: clock)
            let worker = Worker(mirror: mirror)
            let leases = LeaseTable(storage: mirror.storage, mirror: "test")
            let lease = try #require(
                try await leases.take(owner: "test", after: try await leases.record(), now: 0))
            running = try await worker.parts(
                bot: bot, human: hasHuman ? human : nil, lease: lease, deliverer: nil)
        }

        /// One look at everything, and what follows from it.
        func look() async throws {
            let passes = Passes(parts: try parts)
            for _ in 0..<2 {
                for pass in passes.inOrder { _ = try await pass.run() }
                try await clock.sleep(until: clock.now + 30)
            }
        }

        /// Lets the worker go, so that something else may hold the mirror.
        private func release() async throws {
            try await mirror.storage.execute("UPDATE leases SET released = TRUE")
        }

        // MARK: Speaking

        mutating func add(_ text: String, by name: String, after seconds: TimeInterval = 0) {
            spoken += 1
            let post = paperPost(
                "said-\(spoken)", by: name, on: network, "@bot \(text)", at: clock.now + seconds,
                mentions: ["bot"])
            bot.add([post], to: .mentions)
        }

        mutating func say(_ text: String, by name: String) async throws {
            add(text, by: name)
            try await look()
        }

        /// Has somebody say good morning whom the human has answered, and tells how much leaves
        /// after that.
        mutating func talk() async throws -> Int {
            let before = sent
            try await say("good morning", by: "pal")
            return sent - before
        }

        /// The words that the public page shows to who types an account.
        func words(of name: String, agrees: Bool) async throws -> String {
            let nonce = StableHash.digest(of: "nonce", name, "\(clock.now)", "\(agrees)")
            let visitor = "visitor of \(clock.now)"
            try await mirror.proofs.ask(
                for: ProvedAccount(network: network, name: name), by: visitor, agrees: agrees,
                nonce: Array(nonce.prefix(ProofTable.nonceSize)), now: clock.now)
            guard
                case .open(let words, _) = try await mirror.proofs.latest(
                    of: visitor, now: clock.now)?.progress
            else {
                throw TestSupportError("no words are shown")
            }
            return "\(words)"
        }

        // MARK: The operator

        func set(_ statement: String) async throws {
            _ = try await Desk(mirror, zone: PaperMirror.zone).perform(
                SetValues(["HUMAN_CONSENT": statement]))
        }

        /// Logs the human in as `mirror-bot login` does.
        func logIn(token: String) async throws {
            let login = AccountConfiguration(
                role: .human,
                credentials: .mastodon(
                    server: "https://home.example", MastodonCredentials(accessToken: Secret(token))),
                origin: .login)
            try await mirror.bind(Self.account("human", network), openedBy: login, now: clock.now)
        }

        func backUp() async throws {
            let path = copies.path("backup.sqlite")
            if FileManager.default.fileExists(atPath: path) {
                try FileManager.default.removeItem(atPath: path)
            }
            try await mirror.storage.backup(to: path)
        }

        mutating func restore() async throws {
            try await release()
            let configuration = try bare.configuration(["MIRROR_BOT_HOME": home])
            _ = try await Restoration(configuration, clock: clock).restore(
                copies.path("backup.sqlite"))
            _ = try await Desk(mirror, zone: PaperMirror.zone).perform(ResumeMirror())
            try await restart()
        }

        mutating func move() async throws {
            try await release()
            let folder = try TemporaryDirectory()
            try await MigratedDatabase.copy(to: folder.path("mirror-bot.sqlite"))
            let outcome = try await Storage.open(.sqlite(path: folder.path("mirror-bot.sqlite")))
                .closing { target in
                    try await MirrorMove(
                        of: "test", from: MirrorMove.Place(mirror.storage, name: "here"),
                        to: MirrorMove.Place(target, name: "there"), clock: clock
                    ).run()
                }
            guard case .moved = outcome else { throw TestSupportError("not moved: \(outcome)") }
            homes.append(folder)
            try await restart()
        }
    }
}
