import Expectations
import Foundation
import Networks
import Outbox
import Posts
import TestSupport
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// That everything which tells how a mirror is tells the same, whatever obstacles come together.
@Suite struct HealthTests {
    private static let now = Date(timeIntervalSince1970: 1_795_000_000)
    private static let hourAgo = now - 3_600

    /// A change of the facts, and what it leads to by itself.
    struct Fault: Sendable, CustomTestStringConvertible {
        let code: Obstacle.Code
        /// Whether nothing is sent or nothing is heard.
        var isFatal = false
        /// Facts that hide this one.
        var hiddenBy: Set<Obstacle.Code> = []
        let change: @Sendable (inout HealthFacts) -> Void

        var testDescription: String { code.rawValue }

        func isHidden(among codes: Set<Obstacle.Code>) -> Bool { !hiddenBy.isDisjoint(with: codes) }
    }

    private static func fatal(
        _ code: Obstacle.Code, hiddenBy: Set<Obstacle.Code> = [],
        _ change: @escaping @Sendable (inout HealthFacts) -> Void
    ) -> Fault { Fault(code: code, isFatal: true, hiddenBy: hiddenBy, change: change) }

    private static func mild(
        _ code: Obstacle.Code, hiddenBy: Set<Obstacle.Code> = [],
        _ change: @escaping @Sendable (inout HealthFacts) -> Void
    ) -> Fault { Fault(code: code, hiddenBy: hiddenBy, change: change) }

    private static func work(_ part: String, lasting: Bool = true, code: String? = nil) -> WorkFault
    {
        WorkFault(
            part: part, since: hourAgo, noted: lasting ? now : hourAgo, error: "it broke",
            code: code)
    }

    private static func feed(_ name: String, _ code: String?, since: Date = hourAgo) -> FeedHealth {
        var feed = FeedHealth(feed: name)
        feed.error = "could not read it"
        feed.errorCode = code
        feed.errorSince = since
        return feed
    }

    private static func wait(
        _ scope: AccountWait.Scope, _ code: NetworkError.Code, since: Date, noted: Date = now,
        until: Date
    ) -> AccountWait {
        AccountWait(
            scope: scope, code: code, error: "come back later", since: since, noted: noted,
            until: until)
    }

    private static let elsewhere: Set<Obstacle.Code> = [.moved]
    private static let noBot: Set<Obstacle.Code> = [.moved, .noBotAccount]
    private static let idle: Set<Obstacle.Code> = [.moved, .noBotAccount, .noWorker]

    static let faults: [Fault] = [
        fatal(.moved) {
            $0.move = MoveMark(id: "1", state: .left, place: "elsewhere", since: hourAgo)
        },
        fatal(.firstPostHidden) {
            $0.pause = Pause(since: hourAgo, reason: "look", code: .firstPostHidden)
        },
        mild(.paused, hiddenBy: [.firstPostHidden]) { facts in
            if facts.pause == nil { facts.pause = Pause(since: hourAgo, until: now + 60) }
        },
        fatal(.noBotAccount, hiddenBy: elsewhere) {
            $0.accounts[.bot]?.problem = "BOT_SERVER is not set"
        },
        fatal(.sameAccount, hiddenBy: noBot) { $0.areAccountsSame = true },
        fatal(.noTimeZone, hiddenBy: elsewhere) { $0.zone = nil },
        fatal(.botDisabled, hiddenBy: noBot) {
            $0.refusals[.bot] = work("bot", code: "account-disabled")
        },
        fatal(.sendingWaits, hiddenBy: noBot) { facts in
            facts.waits[.bot] = [
                wait(.operation(.publish), .rateLimited, since: now - 60, until: now + 7_200)
            ]
        },
        fatal(.storeFull) { $0.store = StoreFault(.full, "make room") },
        fatal(.noWorker, hiddenBy: noBot) { $0.worker = .absent },
        fatal(.startFails, hiddenBy: idle) { $0.faults.append(work(WorkFault.start)) },
        fatal(.publisherFails, hiddenBy: idle) { $0.faults.append(work(WorkFault.publisher)) },
        fatal(.mentionsFail, hiddenBy: idle.union([.mentionsUnread])) {
            $0.faults.append(work(FeedName.botMentions))
        },
        fatal(.stoppedByHuman, hiddenBy: noBot) { $0.consent = .stopped(hourAgo) },
        fatal(.noConsent, hiddenBy: noBot.union([.stoppedByHuman])) { facts in
            if facts.consent == .given { facts.consent = .missing }
        },
        mild(.consentUnstated, hiddenBy: noBot.union([.stoppedByHuman, .noConsent])) { facts in
            if facts.consent == .given { facts.consent = .unstated }
        },
        fatal(.humanAway, hiddenBy: noBot) {
            $0.standing = HumanStanding(.memorial, since: hourAgo)
        },
        mild(.humanMoved, hiddenBy: noBot.union([.humanAway])) { facts in
            if facts.standing == nil {
                facts.standing = HumanStanding(.moved(to: "ann@new.example"), since: hourAgo)
            }
        },
        mild(.rulesChanged, hiddenBy: noBot) { $0.changedRules = 2 },
        fatal(.policyUnacknowledged, hiddenBy: noBot) { $0.mayPublish = false },
        fatal(.pastUnknown, hiddenBy: elsewhere) { $0.knowsPast = false },
        fatal(.archiveEmpty, hiddenBy: [.moved, .pastUnknown]) { $0.hasPosts = false },
        fatal(.budgetSpent) {
            $0.accounts[.bot]?.network = .x
            $0.money = MoneyFact(
                left: "$0.01", budget: "$5.00", renews: now + 86_400, isSpent: true)
        },
        fatal(.mentionsUnread, hiddenBy: [.noBotAccount]) {
            $0.feeds.append(feed(FeedName.botMentions, "unavailable"))
        },
        mild(.feedUnread, hiddenBy: [.noBotAccount, .homeUnread]) {
            $0.feeds.append(feed(FeedName.botHome, "transport"))
        },
        mild(.feedWaits, hiddenBy: [.noHumanAccount]) {
            $0.feeds.append(feed(FeedName.seen, "rate-limited"))
        },
        mild(.humanGone, hiddenBy: [.noHumanAccount]) {
            $0.feeds.append(feed(FeedName.humanPosts, "not-found"))
        },
        mild(.partFails, hiddenBy: [.noWorker]) { $0.faults.append(work("originals")) },
        mild(.itemsUnreadable) { facts in
            var feed = FeedHealth(feed: FeedName.humanFavorites)
            feed.unreadable = 3
            facts.feeds.append(feed)
        },
        mild(.unconfirmed) { $0.unconfirmed = ["post a1"] },
        mild(.rowsSetAside) { $0.setAside = ["row 1 of actions is set aside"] },
        mild(.effectOpen) { $0.effects = [effect] },
        mild(.clockWrong) { $0.clockLead = -300 },
        mild(.noFitText, hiddenBy: [.moved, .pastUnknown, .archiveEmpty, .postsUnverified]) {
            $0.isWithoutText = true
        },
        fatal(.postsUnverified, hiddenBy: [.moved, .pastUnknown, .archiveEmpty]) {
            $0.unverified = UnverifiedPosts(isAll: true, isDecided: false)
        },
        mild(.holdUseless, hiddenBy: elsewhere) {
            $0.deliberateLimits.uselessHold = "HOLD_WHILE_ACTIVE has no effect"
        },
        mild(.noAnswers, hiddenBy: elsewhere) {
            $0.deliberateLimits.noAnswers = "REPLIES_PER_PERSON"
        },
        mild(.silentDay, hiddenBy: [.moved, .pastUnknown, .archiveEmpty]) { $0.isSilentDay = true },
        mild(.favoritesOff) { $0.deliberateLimits.wantsFavorites = false },
        mild(.homeUnread, hiddenBy: [.favoritesOff, .noBotAccount]) {
            $0.accounts[.bot]?.homeProblem = "X_HOME_POSTS_PER_DAY is 0"
        },
        mild(.countsUnavailable, hiddenBy: [.favoritesOff]) {
            $0.classifierLack = .counts("could not use Redis")
        },
        mild(.tooLittleLearned, hiddenBy: [.favoritesOff]) {
            $0.learned = LearnedFact(favorites: 1, normals: 2, needed: 20)
        },
        mild(.review) { $0.suggestions = 2 },
        mild(.undoProposed) { $0.proposedUndos = 1 },
        mild(.noHumanAccount) { $0.accounts[.human]?.problem = "HUMAN_SERVER is not set" },
        mild(.humanRefused, hiddenBy: [.noHumanAccount]) {
            $0.refusals[.human] = work("human", code: "unauthorized")
        },
    ]

    private static let effect = Effect(
        id: "e", kind: .probe, account: "mirror@home.example", mark: "probe 0123456789ab",
        begun: now,
        next: now + 90, holder: "somebody")

    static func wellFacts() -> HealthFacts {
        var facts = HealthFacts(now: now)
        facts.zone = TimeZone(identifier: "Asia/Tokyo")
        facts.worker = .running
        for role in AccountRole.allCases { facts.accounts[role] = AccountFact(network: .mastodon) }
        return facts
    }

    private static func facts(with faults: [Fault]) -> HealthFacts {
        faults.reduce(into: wellFacts()) { $1.change(&$0) }
    }

    // MARK: What must be so

    private func expectAgreement(_ faults: [Fault], _ location: SourceLocation = #_sourceLocation)
        throws
    {
        let codes = Set(faults.map(\.code))
        let names = codes.map(\.rawValue).sorted().joined(separator: ", ")
        let facts = Self.facts(with: faults)
        let health = Health(facts, next: "20:13")
        let found = Set(health.obstacles.map(\.code))

        // Each fact is told of, and nothing else.
        let expected = Set(faults.filter { !$0.isHidden(among: codes) }.map(\.code))
        #expect(found == expected, "\(names)", sourceLocation: location)

        // The verdict.
        let fatal = faults.filter { $0.isFatal && !$0.isHidden(among: codes) }.map(\.code)
        let isOutranked = codes.contains(.moved) || codes.contains(.firstPostHidden)
        let state: Health.Verdict.State? =
            if codes.contains(.paused), !isOutranked { .paused } else if !fatal.isEmpty {
                .failing
            } else { nil }
        if let state {
            #expect(health.verdict.state == state, "\(names)", sourceLocation: location)
        } else {
            let isWell = [.healthy, .hindered].contains(health.verdict.state)
            #expect(isWell, "\(names): \(health.verdict)", sourceLocation: location)
        }
        #expect(
            (health.verdict.code == nil) == (health.verdict.state == .healthy), "\(names)",
            sourceLocation: location)

        // `status --check`, and the heartbeat.
        let isFailing = health.verdict.state == .failing
        #expect((health.failure != nil) == isFailing, "\(names)", sourceLocation: location)
        #expect(health.verdict.isWell == !isFailing, "\(names)", sourceLocation: location)
        if let leading = health.leading, isFailing {
            #expect(health.failure == leading.mender, "\(names)", sourceLocation: location)
            let line = health.checkLine(of: "m")
            #expect(line.contains(leading.cause), sourceLocation: location)
            #expect(line.contains(leading.code.subject), sourceLocation: location)
        }

        // Notices: exactly the causes of what was found.
        let notices = health.notices(knowsFaults: true, knowsClock: true, now: Self.now)
        for cause in NoticeCause.allCases where cause != .stopped {
            let holds = health.obstacles.contains { $0.code.notice == cause }
            let isTold = if case .holds = notices[cause] { true } else { false }
            #expect(isTold == holds, "\(cause): \(names)", sourceLocation: location)
        }

        // The examination.
        let findings = health.findings
        #expect(findings.count == health.obstacles.count, sourceLocation: location)
        for (finding, obstacle) in zip(findings, health.obstacles) {
            #expect(finding.subject == obstacle.code.subject, sourceLocation: location)
            let isFailed = obstacle.isFatal && obstacle.mender != .later
            #expect(
                (finding.verdict == .fail) == isFailed, "\(obstacle.code): \(names)",
                sourceLocation: location)
            #expect(
                (finding.verdict == .ok) == (obstacle.weight == .wanted), sourceLocation: location)
        }

        // The metrics.
        var exposition = Exposition()
        var tally = HealthTally()
        tally.add(health)
        exposition.add(tally.families(of: "m"))
        let metrics = exposition.text.split(separator: "\n").map(String.init)
        #expect(
            metrics.contains("mirrorbot_well{mirror=\"m\"} \(isFailing ? 0 : 1)"),
            sourceLocation: location)
        let states = metrics.filter { $0.hasPrefix("mirrorbot_state{") && $0.hasSuffix(" 1") }
        #expect(
            states == [
                "mirrorbot_state{mirror=\"m\",state=\"\(health.verdict.state.rawValue)\"} 1"
            ],
            sourceLocation: location)
        let measured = Set(
            metrics.compactMap { line in
                Obstacle.Code.allCases.first { line.contains("code=\"\($0.rawValue)\"") }
            })
        #expect(measured == found, "\(names)", sourceLocation: location)

        // JSON, and the words.
        let json = try JSONEncoder().encode(health)
        #expect(
            try JSONDecoder().decode(Health.self, from: json) == health, "\(names)",
            sourceLocation: location)
        for obstacle in health.obstacles {
            #expect(obstacle.sentence.contains(obstacle.cause), sourceLocation: location)
            #expect(
                !obstacle.brief.contains("it broke")
                    && !obstacle.brief.contains("could not read it"),
                sourceLocation: location)
        }
    }

    @Test(arguments: faults) func eachFaultIsTold(_ fault: Fault) throws {
        try expectAgreement([fault])
    }

    @Test func everyPairIsTold() throws {
        try expectAgreement([])
        for (index, first) in Self.faults.enumerated() {
            for second in Self.faults.dropFirst(index + 1) { try expectAgreement([first, second]) }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func manyAtOnceAreTold(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let share = Double.random(in: 0...0.6, using: &generator)
            try expectAgreement(
                Self.faults.filter { _ in Double.random(in: 0..<1, using: &generator) < share })
        }
    }

    /// Every code has a fault above, or is reached by a test of its own.
    @Test func noCodeIsForgotten() {
        let elsewhere: Set<Obstacle.Code> = [
            .arriving, .botLoginUnusable, .botRefused, .botLacksScope, .storeReadOnly, .storeAway,
            .workerEnded,
            .workerLate, .passLate, .mentionsUnpaid, .creditsDepleted, .itemsUnreached,
            .ownPostsUnpaid, .zoneToCome,
            .zoneAdopted, .onlyAnswers, .alwaysQuiet, .quietHours, .noFavoritesADay,
            .dictionaryMissing,
            .nothingToLearnFrom, .settingUnusable, .retiring, .retired,
            .thresholdUnreached, .favoritesSpent, .humanLoginUnusable, .humanLacksScope,
            .humanDisabled,
        ]
        #expect(elsewhere.union(Self.faults.map(\.code)) == Set(Obstacle.Code.allCases))
    }

    // MARK: Single rules

    private func codes(_ change: (inout HealthFacts) -> Void) -> [Obstacle.Code] {
        var facts = Self.wellFacts()
        change(&facts)
        return Health(facts).obstacles.map(\.code)
    }

    @Test func aWellMirrorIsHealthy() {
        let health = Health(Self.wellFacts(), next: "20:13 (in 2 h)")
        #expect(health.obstacles.isEmpty)
        #expect(health.verdict.text == "healthy, next post 20:13 (in 2 h)")
        #expect(health.failure == nil)
        #expect(Health(Self.wellFacts()).verdict.text == "healthy, no post planned")
    }

    @Test func theRestOfTheCodesFollowFromTheirFacts() {
        expect(
            codes { $0.move = MoveMark(id: "1", state: .arriving, place: "p", since: nil) }.first,
            equals: .arriving)
        expect(
            codes { facts in
                facts.accounts[.bot]?.problem = "SECRET_KEY does not open it"
                facts.accounts[.bot]?.isUnusable = true
            }, equals: [.botLoginUnusable])
        for (code, expected) in [
            ("unauthorized", [.botRefused, .humanRefused]),
            ("missing-scope", [.botLacksScope, .humanLacksScope]),
            ("account-disabled", [.botDisabled, .humanDisabled]),
            (nil, [.botRefused, .humanRefused]),
        ] as [(String?, [Obstacle.Code])] {
            expect(
                codes { facts in
                    for role in AccountRole.allCases {
                        facts.refusals[role] = Self.work(role.rawValue, code: code)
                    }
                }, equals: expected)
        }
        expect(codes { $0.store = StoreFault(.readOnly, "x") }, equals: [.storeReadOnly])
        expect(codes { $0.store = StoreFault(.unreachable, "x") }, equals: [.storeAway])
        expect(codes { $0.worker = .late(silence: 100, limit: 60) }, equals: [.workerLate])
        expect(codes { $0.worker = .passLate(last: Self.hourAgo, every: 300) }, equals: [.passLate])
        expect(codes { $0.worker = .passes(last: Self.hourAgo) }, equals: [])
        expect(codes { $0.zoneToCome = "minutes are those of UTC" }, equals: [.zoneToCome])
        expect(
            codes { $0.adoptedZone = "the time zone is UTC, as the archive says" },
            equals: [.zoneAdopted])
        expect(codes { $0.deliberateLimits.onlyAnswers = true }, equals: [.onlyAnswers])
        expect(codes { $0.deliberateLimits.isAlwaysQuiet = true }, equals: [.alwaysQuiet])
        expect(codes { $0.deliberateLimits.quietUntil = "07:00" }, equals: [.quietHours])
        expect(codes { $0.deliberateLimits.favoritesPerDay = 0 }, equals: [.noFavoritesADay])
        expect(codes { $0.favoritesToday = 10 }, equals: [.favoritesSpent])
        expect(
            codes { $0.classifierLack = .dictionary("no dictionary") }, equals: [.dictionaryMissing]
        )
        expect(
            codes {
                $0.learned = LearnedFact(favorites: 30, normals: 900, seen: 5_000, needed: 20)
            }, equals: [.thresholdUnreached])
        expect(
            codes { facts in
                for role in AccountRole.allCases {
                    facts.accounts[role]?.homeProblem = "it is not read"
                }
                facts.learned = LearnedFact(needed: 20)
            }, equals: [.homeUnread, .nothingToLearnFrom])
        expect(
            codes { facts in
                facts.accounts[.human]?.problem = "SECRET_KEY does not open it"
                facts.accounts[.human]?.isUnusable = true
            }, equals: [.humanLoginUnusable])
        expect(
            codes { facts in
                var feed = FeedHealth(feed: FeedName.botMentions)
                feed.unreached = [FeedHealth.Unreached(from: Self.hourAgo, to: Self.now)]
                facts.feeds = [feed]
            }, equals: [.itemsUnreached])
        expect(
            codes { $0.feeds = [Self.feed(FeedName.botHome, "credits-depleted")] },
            equals: [.creditsDepleted])
        expect(
            codes { facts in
                for role in AccountRole.allCases { facts.accounts[role] = AccountFact(network: .x) }
                facts.money = MoneyFact(
                    left: "$0.05", budget: "$5.00", renews: Self.now, lacksMentions: true,
                    lacksOwnPosts: true)
                facts.feeds = [Self.feed(FeedName.botMentions, "over-budget")]
            }, equals: [.mentionsUnpaid, .ownPostsUnpaid])
    }

    @Test func aWorkerThatEndedSaysWhyAndWhoMendsIt() {
        for (code, mender) in [
            ("configuration", .configuration), ("unauthorized", .refused),
            ("store-full", .unavailable),
        ] as [(String, Finding.Cause)] {
            var facts = Self.wellFacts()
            facts.worker = .absent
            facts.faults = [Self.work(WorkFault.end, lasting: false, code: code)]
            let health = Health(facts)
            #expect(health.obstacles.map(\.code) == [.workerEnded])
            #expect(health.failure == mender)
            // A process with other mirrors keeps it; one that works again has forgotten the end.
            facts.worker = .running
            #expect(Health(facts).obstacles.map(\.code) == [.workerEnded])
        }
    }

    @Test func whatPassesByItselfIsNoFailure() {
        for feed in [FeedName.botMentions, FeedName.botHome, FeedName.humanPosts] {
            var facts = Self.wellFacts()
            facts.feeds = [Self.feed(feed, "unavailable", since: Self.now - 300)]
            let health = Health(facts)
            #expect(health.verdict.state == .healthy)
            #expect(health.obstacles.map(\.weight) == [.note])
            facts.feeds = [Self.feed(feed, "unavailable", since: Self.now - 700)]
            #expect(
                Health(facts).verdict.state == (feed == FeedName.botMentions ? .failing : .hindered)
            )
        }
        var facts = Self.wellFacts()
        facts.faults = [Self.work(WorkFault.publisher, lasting: false)]
        #expect(Health(facts).obstacles.isEmpty)
    }

    /// A wait of hours is grave from its first minute, whatever its code, and one of minutes is
    /// not.
    @Test(arguments: [NetworkError.Code.rateLimited, .capReached])
    func aWaitOfHoursIsNoWaitOfMinutes(code: NetworkError.Code) {
        func health(until: Date) -> Health {
            var facts = Self.wellFacts()
            facts.feeds = [Self.feed(FeedName.botMentions, code.rawValue, since: Self.now - 60)]
            facts.waits[.bot] = [
                Self.wait(.operation(.readMentions), code, since: Self.now - 60, until: until)
            ]
            return Health(facts)
        }
        #expect(health(until: Self.now + 900).verdict.state == .healthy)
        #expect(health(until: Self.now + 900).failure == nil)
        let long = health(until: Self.now + 6 * 3_600)
        #expect(long.verdict.state == .failing)
        #expect(long.verdict.code == .mentionsUnread)
        #expect(long.failure == .later)
    }

    /// The network names no end, and says the same for hours.
    @Test(
        arguments: ["rate-limited", "cap-reached", "over-budget", "unavailable", "transport", nil]
            as [String?])
    func whatIsNotHeardForHoursIsAFailureWhateverTheCode(code: String?) {
        var facts = Self.wellFacts()
        facts.feeds = [Self.feed(FeedName.botMentions, code, since: Self.now - 3_601)]
        #expect(Health(facts).verdict.state == .failing)
    }

    /// A cap of the month that X has told once: nothing is sent and nothing heard, and the next
    /// tries tell nothing new.
    @Test func aCapOfTheMonthIsAFailureFromTheFirstAnswer() {
        var facts = Self.wellFacts()
        facts.waits[.bot] = [
            Self.wait(.everything, .capReached, since: Self.now - 5, until: Self.now + 40_000)
        ]
        let health = Health(facts)
        #expect(health.verdict.state == .failing)
        #expect(health.verdict.code == .sendingWaits)
        #expect(health.stopped.isSuperset(of: [.sending, .hearing]))
        #expect(health.verdict.text.contains("come back later"))
    }

    /// GoToSocial takes no request for five minutes once its limit is used up.
    @Test(arguments: [AccountWait.Scope.everything, .operation(.publish)])
    func aWaitOfMinutesIsNotHealthy(_ scope: AccountWait.Scope) {
        func health(_ length: TimeInterval, since: TimeInterval = 5) -> Health {
            var facts = Self.wellFacts()
            let begin = Self.now - since
            facts.waits[.bot] = [
                Self.wait(scope, .rateLimited, since: begin, until: begin + length)
            ]
            return Health(facts)
        }
        let short = health(300)
        #expect(short.verdict.state == .hindered)
        #expect(short.verdict.code == .sendingWaits)
        #expect(short.verdict.text.contains("and not before"))
        // Nothing is lost, so that no program that watches is alarmed.
        #expect(short.failure == nil)
        #expect(short.stopped.isDisjoint(with: [.sending, .hearing]))
        // Seconds are no news, and neither is a wait that is over.
        #expect(health(30).verdict.state == .healthy)
        #expect(health(300, since: 301).verdict.state == .healthy)
        #expect(health(3_600).verdict.state == .failing)
    }

    @Test func publishingThatFailsForHoursIsAFailure() {
        func state(_ noted: Date) -> Health.Verdict.State {
            var facts = Self.wellFacts()
            facts.waits[.bot] = [
                Self.wait(
                    .operation(.publish), .unavailable, since: Self.now - 7_200, noted: noted,
                    until: noted)
            ]
            return Health(facts).verdict.state
        }
        #expect(state(Self.now - 600) == .failing)
        #expect(state(Self.now - 6_600) == .hindered)
        // One failure, and no further try since.
        #expect(state(Self.now - 7_200) == .healthy)
    }

    @Test func aMoveOutranksAPause() {
        var facts = Self.wellFacts()
        facts.pause = Pause(since: Self.hourAgo)
        #expect(Health(facts).verdict.state == .paused)
        #expect(Health(facts).failure == nil)
        facts.move = MoveMark(id: "1", state: .left, place: "elsewhere", since: nil)
        #expect(Health(facts).verdict.state == .failing)
        #expect(Health(facts).failure == .configuration)
    }

    @Test func aPauseSaysWhatWouldKeepItFromGoingOn() {
        var facts = Self.wellFacts()
        facts.pause = Pause(since: Self.hourAgo)
        facts.worker = .absent
        let verdict = Health(facts).verdict
        #expect(verdict.state == .paused)
        #expect(
            verdict.text.hasSuffix(
                "; and then not sending: no worker is running; start one with mirror-bot run"))
    }

    @Test func theNextStepOfTheSetupIsTheOneOfTheChecklist() {
        var facts = Self.wellFacts()
        facts.worker = .absent
        facts.knowsPast = false
        facts.hasPosts = false
        facts.setup = [
            SetupStep(
                .bot, isDone: true, text: "the bot's account",
                command: "mirror-bot login mastodon --as bot"),
            SetupStep(
                .posts, isDone: false, text: "when the human posts",
                command: "mirror-bot train scheduler"),
            SetupStep(.start, isDone: false, text: "the work", command: "mirror-bot run"),
        ]
        let health = Health(facts)
        #expect(health.verdict.state == .unset)
        #expect(
            health.verdict.text
                == "not set up yet: 1 of 3 steps are done; next is when the human posts: mirror-bot train scheduler"
        )
        #expect(health.failure != nil)
        expect(health.obstacles.map(\.sentence)) { !$0.contains { $0.contains("mirror-bot run") } }
    }

    @Test func timesAreThoseOfTheMirror() {
        var facts = Self.wellFacts()
        let instant = Self.now.rfc3339
        facts.feeds = [Self.feed(FeedName.botHome, "rate-limited")]
        facts.feeds[0].error =
            "it waits until \(instant), for the network takes no more requests before"
        let sentence = Health(facts).obstacles.first?.sentence ?? ""
        #expect(!sentence.contains("Z"), "\(sentence)")
        #expect(
            sentence.contains("it waits until \(LocalTime(Self.now, in: facts.zone ?? .gmt))"),
            "\(sentence)")
    }

    // MARK: Schedules

    private func worker(
        silence: TimeInterval? = nil, last: TimeInterval?, every: TimeInterval?,
        limit: TimeInterval? = nil
    ) -> WorkerFact {
        WorkerFact(
            silence: silence, limit: limit ?? 60, lastPass: last.map { Self.now - $0 },
            interval: every, now: Self.now,
            isLimitGiven: limit != nil)
    }

    @Test func aMirrorThatAScheduleDrivesIsAtWorkBetweenTwoCalls() {
        #expect(worker(last: 290, every: 300) == .passes(last: Self.now - 290))
        #expect(worker(last: 700, every: 300).isAtWork, "a call may be late")
        #expect(worker(last: 1_000, every: 300) == .passLate(last: Self.now - 1_000, every: 300))
        #expect(worker(last: 5_400, every: 3_600).isAtWork, "once an hour")
        #expect(
            worker(last: 5_400, every: 3_600, limit: 600)
                == .passLate(last: Self.now - 5_400, every: 3_600))
        #expect(worker(last: 10, every: nil) == .absent, "one call is no schedule")
        #expect(worker(last: 10, every: 10 * 86_400) == .absent, "nor are two that are far apart")
        #expect(worker(silence: 5, last: 290, every: 300) == .running)
        #expect(worker(silence: 100, last: nil, every: nil) == .late(silence: 100, limit: 60))
        #expect(worker(last: nil, every: nil) == .absent)
    }
}
