import Expectations
import Fixtures
import Foundation
import Logging
import Networks
import Outbox
import Posts
import Sandbox
import ServiceLifecycle
import Settings
import Storage
import TestSupport
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring

/// What commands change at a network besides actions, and what becomes of it when they are cut.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct EffectTests {
    /// A mirror whose bot has an account in a sandbox, with posts of its own that say nearly what a
    /// probe says.
    private struct Place {
        let bare: BareMirror
        let clock: VirtualClock
        let sandbox: Sandbox
        let mirror: HumanMirror
        let bot: any SocialNetwork
        let account: Account

        init(_ engine: Engine = .sqlite, on network: NetworkName = .mastodon) async throws {
            let closing = try #require(OpenMirrors.current)
            let clock = VirtualClock(startingAt: Sample.hour(8))
            let sandbox = try await Sandbox.start(
                world: await Sample.world(bot: network), rateLimits: .unlimited
            ) {
                clock.steadyNow
            }
            closing.add { await sandbox.stop() }
            let variables = sandbox.settings(of: .bot, on: network)
                .merging(sandbox.settings(of: .human, on: .mastodon)) { $1 }
            bare = try await BareMirror(engine, variables: variables)
            mirror = try await bare.open(clock: clock)
            bot = try await mirror.requiredNetwork(of: .bot)
            account = try await bot.verifyAccount()
            self.clock = clock
            self.sandbox = sandbox
            try await mirror.bind(
                human: try await mirror.network(of: .human)?.verifyAccount(), bot: account,
                now: clock.now)
            let words = [
                "mirror-bot tries out what this server does with a post", "probe 0123456789a",
                "probe ",
            ]
            for (number, text) in words.enumerated() {
                _ = try await bot.publish(
                    Draft(text: text, key: "person-\(number)", createdAt: clock.now))
            }
        }

        /// What the bot's account shows.
        func texts() async throws -> [String] {
            try await bot.ownPosts(since: Sample.hour(0)).map(\.post.text).sorted()
        }

        /// A mirror as a new process has it.
        func process() async throws -> HumanMirror { try await bare.open(clock: clock) }

        /// As a worker does at its next look, or with `takingOver` the next command.
        @discardableResult
        func recover(takingOver: Bool = false) async throws -> EffectRecovery.Round {
            try await EffectRecovery(try await process(), network: bot, account: account.id)
                .carryOut(takingOver: takingOver)
        }

        func wait(_ seconds: TimeInterval) async throws {
            clock.join()
            defer { clock.leave() }
            try await clock.sleep(until: clock.now + seconds)
        }

        /// Until whatever request is under way is over.
        func waitForTheEnd() async throws {
            try await wait(
                EffectRecovery(mirror, network: bot, account: account.id).requestLifetime + 1)
        }

        /// What `status` says is open.
        func told() async throws -> [String] {
            try await StatusReporter(mirror: try await process()).report(now: clock.now).obstacles?
                .filter { $0.code == .effectOpen }.map(\.sentence) ?? []
        }
    }

    /// How many requests a whole probe makes.
    private func requests(_ place: Place) async throws -> Int {
        let network = CutNetwork(place.bot, at: 0, .before)
        let result = await ServerProbe(place.mirror, network: network, account: place.account).run()
        #expect(result.error == nil)
        return network.requests
    }

    // MARK: Probes

    /// The process stands still at each of its requests, before it or with the answer in hand.
    ///
    /// The worker takes back what it made; and the process, when it wakes, leaves nothing either.
    @Test(arguments: Engine.allCases, CutNetwork.Moment.allCases)
    func aProbeThatNeverReturnsIsTakenBackByAWorker(_ engine: Engine, _ moment: CutNetwork.Moment)
        async throws
    {
        let place = try await Place(engine)
        let before = try await place.texts()
        for number in 1...(try await requests(place)) {
            let comment = Comment(rawValue: "request \(number)")
            let reached = Recorder<Int>()
            let gate = AsyncStream<Void>.makeStream()
            let process = try await place.process()
            let network = CutNetwork(place.bot, at: number, moment) {
                reached.add(number)
                for await _ in gate.stream {}
            }
            let probe = Task {
                await ServerProbe(process, network: network, account: place.account).run()
            }
            try await reached.wait { _ in true }

            // Whoever works on it is left alone as long as its request may be under way.
            let isOpen = try await !place.mirror.effects.all().isEmpty
            try await expect(place.told().count, equals: isOpen ? 1 : 0, comment)
            try await expect(place.recover().finished, equals: 0, comment)
            try await place.waitForTheEnd()
            try await expect(place.recover().finished, equals: isOpen ? 1 : 0, comment)
            try await expect(place.texts(), equals: before, comment)
            try await expect(place.mirror.effects.all(), equals: [], comment)
            try await expect(place.told(), equals: [], comment)

            gate.continuation.finish()
            _ = await probe.value
            try await expect(place.texts(), equals: before, comment)
            try await expect(place.mirror.effects.all(), equals: [], comment)
        }
    }

    /// The next command does not wait: what is there goes at once.
    @Test(arguments: [NetworkName.mastodon, .bluesky])
    func aProbeThatNeverReturnsIsTakenOverByTheNextCommand(_ name: NetworkName) async throws {
        let place = try await Place(on: name)
        let before = try await place.texts()
        for number in 1...(try await requests(place)) {
            let comment = Comment(rawValue: "request \(number)")
            let reached = Recorder<Int>()
            let gate = AsyncStream<Void>.makeStream()
            let network = CutNetwork(place.bot, at: number, .after) {
                reached.add(number)
                for await _ in gate.stream {}
            }
            let process = try await place.process()
            let probe = Task {
                await ServerProbe(process, network: network, account: place.account).run()
            }
            try await reached.wait { _ in true }
            try await place.recover(takingOver: true)
            try await expect(place.texts(), equals: before, comment)
            try await expect(place.mirror.effects.all(), equals: [], comment)
            gate.continuation.finish()
            _ = await probe.value
            try await expect(place.texts(), equals: before, comment)
        }
    }

    /// Ctrl-C: the command takes back what it has made before it returns.
    @Test(arguments: CutNetwork.Moment.allCases)
    func aCancelledProbeTakesBackWhatItMade(_ moment: CutNetwork.Moment) async throws {
        let place = try await Place()
        let before = try await place.texts()
        for number in 1...(try await requests(place)) {
            let comment = Comment(rawValue: "request \(number)")
            let probes = AsyncStream<Task<ServerProbe.Result, Never>>.makeStream()
            let network = CutNetwork(place.bot, at: number, moment) {
                for await probe in probes.stream {
                    probe.cancel()
                    break
                }
                try Task.checkCancellation()
            }
            let probe = Task {
                await ServerProbe(place.mirror, network: network, account: place.account).run()
            }
            probes.continuation.yield(probe)
            _ = await probe.value
            try await expect(place.texts(), equals: before, comment)
            // A request that was cut before it left may have acted, as far as the probe knows.
            try await place.waitForTheEnd()
            try await place.recover()
            try await expect(place.mirror.effects.all(), equals: [], comment)
            try await expect(place.texts(), equals: before, comment)
        }
    }

    /// What a killed process knew is in the row before each request: what it is called so far, and
    /// that a request leaves whose outcome is unknown.
    @Test func theRowIsAheadOfEveryRequest() async throws {
        let place = try await Place()
        let rows = Recorder<Effect>()
        for number in 1...(try await requests(place)) {
            let network = CutNetwork(place.bot, at: number, .before) {
                for effect in try await place.mirror.effects.all() { rows.add(effect) }
            }
            _ = await ServerProbe(place.mirror, network: network, account: place.account).run()
        }
        // Those that publish the post and the answer.
        let sent = rows.values.filter { $0.sent != nil }
        #expect(sent.count == 2)
        #expect(sent.first?.post == nil && sent.last?.post != nil)
        #expect(rows.values.contains { $0.answer != nil })
    }

    /// The server acts on a request whose answer was lost only when the command is long gone.
    @Test(arguments: Engine.allCases) func aPostThatComesLateIsFound(_ engine: Engine) async throws
    {
        let place = try await Place(engine)
        let before = try await place.texts()
        place.sandbox.faults.failNext(.actLate(after: 40), method: "POST", path: "/api/v1/statuses")
        let result = await ServerProbe(place.mirror, network: place.bot, account: place.account)
            .run()
        #expect(result.error != nil)
        try await expect(place.texts(), equals: before)
        try await expect(place.told().count, equals: 1)
        // The next command finds nothing yet, and does not take that for the end.
        try await place.recover(takingOver: true)
        try await expect(place.mirror.effects.all().count, equals: 1)
        try await place.wait(60)
        try await expect(place.texts().count, equals: before.count + 1)
        try await place.waitForTheEnd()
        try await expect(place.recover().finished, equals: 1)
        try await expect(place.texts(), equals: before)
        try await expect(place.mirror.effects.all(), equals: [])
    }

    /// What a row names is deleted only if it is the probe's, whoever wrote the row.
    @Test(arguments: ["probe 0123456789ab", "probe ", "", "post"])
    func nothingElseIsDeleted(_ mark: String) async throws {
        let place = try await Place()
        let before = try await place.texts()
        let own = try await place.bot.ownPosts(since: Sample.hour(0)).map(\.address)
        let table = place.mirror.effects
        let now = place.clock.now
        var effect = try await table.begin(
            .probe, mark: mark, account: place.account.id, begun: now, next: now)
        effect.post = own[0]
        effect.answer = own[1]
        try await table.note(effect)
        try await place.recover()
        try await place.recover(takingOver: true)
        try await expect(place.texts(), equals: before)
        try await expect(table.all().map(\.next), equals: ServerProbe.isMark(mark) ? [] : [nil])
    }

    @Test func whatAnotherAccountDidIsOutOfReach() async throws {
        let place = try await Place()
        let table = place.mirror.effects
        let other = AccountID(network: .mastodon, value: "other@far.example")
        _ = try await table.begin(
            .probe, mark: "probe 0123456789ab", account: other, begun: place.clock.now,
            next: place.clock.now)
        try await place.recover()
        try await expect(table.all().map(\.next), equals: [nil])
        try await expect(place.told()) { $0.count == 1 && $0[0].contains("out of reach") }
        // It is not told for ever.
        let end = try #require(try await table.next(now: place.clock.now))
        try await place.wait(end.timeIntervalSince(place.clock.now) - 60)
        try await place.recover()
        try await expect(table.all().count, equals: 1)
        try await place.wait(60)
        try await place.recover()
        try await expect(table.all(), equals: [])
    }

    @Test func aServerThatDeletesNothingIsTold() async throws {
        let place = try await Place()
        place.sandbox.faults.failNext(
            .error(status: 503, message: "later"), count: 4, method: "DELETE",
            path: "/api/v1/statuses")
        let result = await ServerProbe(place.mirror, network: place.bot, account: place.account)
            .run()
        #expect(result.left.count == 2)
        try await expect(place.told()) { $0.count == 1 && $0[0].contains("503") }
        let findings = await Doctor(mirror: place.mirror).findings(now: place.clock.now)
        expect(findings) { $0.contains { $0.subject == "unfinished" && $0.verdict == .warn } }
        let next = try #require(try await place.mirror.effects.next(now: place.clock.now))
        try await place.wait(next.timeIntervalSince(place.clock.now))
        try await expect(place.recover().obstacle != nil, equals: true)
        let later = try #require(try await place.mirror.effects.next(now: place.clock.now))
        try await place.wait(later.timeIntervalSince(place.clock.now))
        try await expect(place.recover().finished, equals: 1)
        try await expect(place.mirror.effects.all(), equals: [])
    }

    /// An effect whose time cannot be meant, as after the clock was set back, is taken up at once.
    @Test func aTimeTooFarAheadIsNotWaitedFor() async throws {
        let place = try await Place()
        let table = place.mirror.effects
        let end = place.clock.now + OutboxStore.longestEffectWait
        _ = try await table.begin(
            .probe, mark: "probe 0123456789ab", account: place.account.id, begun: place.clock.now,
            next: end)
        try await expect(place.recover().finished, equals: 0)
        try await expect(table.next(now: place.clock.now), equals: end)
        _ = try await table.begin(
            .probe, mark: "probe 0123456789cd", account: place.account.id, begun: place.clock.now,
            next: end + 1)
        try await expect(table.next(now: place.clock.now), equals: place.clock.now)
        try await expect(place.recover().finished, equals: 1)
        try await expect(table.all().map(\.mark), equals: ["probe 0123456789ab"])
    }

    /// Who is told to end finishes the effect that is begun, and begins no other.
    @Test func nothingIsBegunAfterTheSignal() async throws {
        let place = try await Place()
        let table = place.mirror.effects
        let before = try await place.texts()
        for (key, mark) in [("one", "probe 0123456789ab"), ("two", "probe 0123456789cd")] {
            _ = try await table.begin(
                .probe, mark: mark, account: place.account.id, begun: place.clock.now,
                next: place.clock.now)
            _ = try await place.bot.publish(
                Draft(text: "left behind (\(mark))", key: key, createdAt: place.clock.now))
        }
        let groups = Recorder<ServiceGroup>()
        let network = CutNetwork(place.bot, at: 1, .before) {
            for group in groups.values { await group.triggerGracefulShutdown() }
            while !Task.isShuttingDownGracefully { await Task.yield() }
        }
        let rounds = Recorder<EffectRecovery.Round>()
        let recovery = EffectRecovery(
            try await place.process(), network: network, account: place.account.id)
        let round = OneRound(recovery, rounds)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: round, successTerminationBehavior: .gracefullyShutdownGroup)
                ],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
        groups.add(group)
        try await group.run()
        #expect(rounds.values.map(\.finished) == [1])
        try await expect(table.all().count, equals: 1)
        try await expect(place.texts().count, equals: before.count + 1)
        try await expect(place.recover().finished, equals: 1)
        try await expect(place.texts(), equals: before)
    }

    private struct OneRound: Service {
        let recovery: EffectRecovery
        let rounds: Recorder<EffectRecovery.Round>

        init(_ recovery: EffectRecovery, _ rounds: Recorder<EffectRecovery.Round>) {
            self.recovery = recovery
            self.rounds = rounds
        }

        func run() async throws { rounds.add(try await recovery.carryOut()) }
    }

    // MARK: Workers

    private func abandon(_ fixture: MirrorFixture) async throws {
        let bot = try await fixture.mirror.requiredNetwork(of: .bot)
        let account = try await bot.verifyAccount()
        let network = CutNetwork(bot, at: 2, .after) { throw StandStill() }
        let now = fixture.clock.now
        let effect = try await fixture.mirror.effects.begin(
            .probe, mark: "probe 0123456789ab", account: account.id, begun: now, sent: now,
            next: now + 90)
        let draft = Draft(text: "left behind (\(effect.mark))", key: "left", createdAt: now)
        await #expect(throws: StandStill.self) { try await network.publish(draft) }
    }

    private struct StandStill: Error {}

    private func isLeft(_ fixture: MirrorFixture) async throws -> Bool {
        let bot = try await fixture.mirror.requiredNetwork(of: .bot)
        return try await bot.ownPosts(since: Sample.hour(0)).contains {
            $0.post.text.contains("left behind")
        }
    }

    /// During a pause too.
    @Test(arguments: Engine.allCases, [false, true])
    func theWorkerTakesBackWhatACommandLeft(_ engine: Engine, _ isPaused: Bool) async throws {
        let fixture = try await MirrorFixture.start(engine, from: 8)
        try await abandon(fixture)
        try await expect(isLeft(fixture), equals: true)
        if isPaused {
            try await fixture.mirror.table.pause(until: nil, reason: nil, now: fixture.clock.now)
        }
        try await expect(
            MirrorTable.versionsOfLiving(in: fixture.mirror.storage, now: fixture.clock.now).count,
            equals: 1)
        try await fixture.live(until: 8.6)
        try await expect(isLeft(fixture), equals: false)
        try await expect(fixture.mirror.effects.all(), equals: [])
    }

    @Test func aDryRunTakesNothingBack() async throws {
        let fixture = try await MirrorFixture.start(from: 8)
        try await abandon(fixture)
        try await fixture.wait(until: Sample.hour(8.5))
        _ = try await fixture.worker().dryRun { _ in }
        try await expect(isLeft(fixture), equals: true)
        #expect(try await fixture.worker().runOnce())
        try await expect(isLeft(fixture), equals: false)
    }

    // MARK: The profile

    private static let profilePath = "/api/v1/accounts/update_credentials"

    /// The server writes it, or not; the answer is lost in both cases.
    @Test(arguments: Engine.allCases, [SandboxFault.dropAnswer, .dropRequest])
    func aChangeOfTheProfileThatWasCutIsFinished(_ engine: Engine, _ fault: SandboxFault)
        async throws
    {
        let place = try await Place(engine)
        let proposal = try await place.mirror.profileProposal()
        let wanted = try #require(proposal.proposed)
        place.sandbox.faults.failNext(fault, method: "PATCH", path: Self.profilePath)
        await #expect(throws: NetworkError.self) { try await place.mirror.writeProfile(proposal) }
        try await expect(place.mirror.table.record().profileSettled, equals: nil)
        try await expect(place.told()) { $0.count == 1 && $0[0].contains("profile") }
        try await expect(place.recover().finished, equals: 0)
        try await place.waitForTheEnd()
        try await expect(place.recover().finished, equals: 1)
        try await expect(place.mirror.effects.all(), equals: [])
        try await expect(place.mirror.table.record().profileSettled != nil, equals: true)
        let after = try await place.mirror.profileProposal()
        #expect(after.proposed == nil)
        #expect(after.present?.bio == wanted.bio)
    }

    /// Whoever changed the profile meanwhile has the last word.
    @Test func whatSomebodyElseWroteIntoTheProfileStays() async throws {
        let place = try await Place()
        let proposal = try await place.mirror.profileProposal()
        place.sandbox.faults.failNext(.dropRequest, method: "PATCH", path: Self.profilePath)
        await #expect(throws: NetworkError.self) { try await place.mirror.writeProfile(proposal) }
        let network = try #require(place.bot as? any ProfiledNetwork)
        let present = try await network.profile()
        var other = present
        other.bio = "I was here"
        try await network.setProfile(other, insteadOf: present)
        try await place.waitForTheEnd()
        try await place.recover()
        try await expect(place.mirror.effects.all(), equals: [])
        try await expect(network.profile().bio, equals: "I was here")
        try await expect(place.mirror.table.record().profileSettled, equals: nil)
    }

    /// Who chooses to leave the profile as it is does not find it written later.
    @Test func aProfileThatIsToStayAsItIsIsNotWritten() async throws {
        let place = try await Place()
        let proposal = try await place.mirror.profileProposal()
        place.sandbox.faults.failNext(.dropRequest, method: "PATCH", path: Self.profilePath)
        await #expect(throws: NetworkError.self) { try await place.mirror.writeProfile(proposal) }
        try await place.mirror.settleProfile()
        try await place.waitForTheEnd()
        try await expect(place.recover().finished, equals: 0)
        try await expect(place.mirror.profileProposal().present, equals: proposal.present)
    }

    @Test func aRefusedProfileLeavesNothingOpen() async throws {
        let place = try await Place()
        let proposal = try await place.mirror.profileProposal()
        place.sandbox.faults.failNext(
            .error(status: 422, message: "no"), method: "PATCH", path: Self.profilePath)
        await #expect(throws: NetworkError.self) { try await place.mirror.writeProfile(proposal) }
        try await expect(place.mirror.effects.all(), equals: [])
    }

    // MARK: The table

    /// What was open in the backup may be at the network still, and so may what was begun since.
    @Test func aRestoreKeepsWhatIsOpenHereAndThere() async throws {
        let fixture = try await MirrorFixture.start(from: 8)
        let folder = try TemporaryDirectory()
        let backup = folder.path("backup.sqlite")
        let table = fixture.mirror.effects
        let now = fixture.clock.now
        let bot = AccountID(network: .mastodon, value: "bot@home.example")
        let old = try await table.begin(.probe, mark: "old", account: bot, begun: now, next: now)
        try await fixture.mirror.storage.backup(to: backup)
        try await table.end(old)
        let new = try await table.begin(.probe, mark: "new", account: bot, begun: now, next: now)
        let configuration = MirrorConfiguration(
            process: fixture.mirror.process, mirror: fixture.mirror.given)
        _ = try await Restoration(configuration, clock: fixture.clock).restore(backup)
        let restored = try await fixture.reopened()
        try await expect(
            restored.effects.all().map(\.id).sorted(), equals: [old.id, new.id].sorted())
    }

    @Test(arguments: Engine.allCases) func onlyTheHolderChangesAnEffect(_ engine: Engine)
        async throws
    {
        let mirror = try await BareMirror(engine).open()
        let table = mirror.effects
        let now = BareMirror.now
        let bot = AccountID(network: .mastodon, value: "bot@home.example")
        var first = try await table.begin(
            .probe, mark: "m", account: bot, begun: now, next: now + 90)
        let read = try #require(try await table.all().first)
        #expect(read == first)
        let second = try #require(try await table.take(read, next: now + 200))
        try await expect(table.take(read, next: now + 300), equals: nil)
        first.post = "1"
        await #expect(throws: EffectTaken.self) { try await table.note(first) }
        try await table.end(first)
        try await expect(table.all(), equals: [second])
        try await expect(table.next(now: now), equals: now + 200)
        try await table.end(second)
        try await expect(table.all(), equals: [])
        await #expect(throws: EffectTaken.self) { try await table.note(second) }
    }

    /// A worker of many mirrors looks at those whose version has changed.
    @Test(arguments: Engine.allCases) func anEffectChangesTheVersionOfItsMirror(_ engine: Engine)
        async throws
    {
        let mirror = try await BareMirror(engine).open()
        try await mirror.table.add(now: BareMirror.now)
        let before = try await MirrorTable.versionsOfLiving(in: mirror.storage, now: BareMirror.now)
        let bot = AccountID(network: .mastodon, value: "bot@home.example")
        _ = try await mirror.effects.begin(
            .probe, mark: "m", account: bot, begun: BareMirror.now, next: BareMirror.now)
        let after = try await MirrorTable.versionsOfLiving(in: mirror.storage, now: BareMirror.now)
        #expect(before.count == 1 && after.count == 1)
        #expect(before != after)
    }

    @Test(arguments: Engine.allCases) func aMirrorThatLivesElsewhereBeginsNothing(_ engine: Engine)
        async throws
    {
        let mirror = try await BareMirror(engine).open()
        try await mirror.table.add(now: BareMirror.now)
        try await mirror.storage.execute(
            """
            UPDATE mirrors SET move_id = 'x', move_state = 'left', move_place = 'there', move_ms = 0
            """
        )
        let bot = AccountID(network: .mastodon, value: "bot@home.example")
        await #expect(throws: ConfigurationError.self) {
            try await mirror.effects.begin(
                .probe, mark: "m", account: bot, begun: BareMirror.now, next: BareMirror.now)
        }
        try await expect(mirror.effects.all(), equals: [])
    }
}
