import Expectations
import Fixtures
import Foundation
import Networks
import Posts
import Sandbox
import Testing

@testable import Control
@testable import Mirroring
@testable import Settings

/// What one post shows of a server.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct ServerProbeTests {
    /// A bot on a server with habits.
    private func bot(
        _ habits: MastodonHabits, on network: NetworkName = .mastodon
    ) async throws -> (mirror: HumanMirror, bot: any SocialNetwork, sandbox: Sandbox) {
        let closing = try #require(OpenMirrors.current)
        let clock = VirtualClock(startingAt: Sample.hour(8))
        // A change is told by a later time, so some time passes with every request.
        let requests = Recorder<Date>()
        let sandbox = try await Sandbox.start(
            world: await Sample.world(bot: network), rateLimits: .unlimited
        ) {
            requests.add(clock.steadyNow)
            return clock.steadyNow + 0.02 * Double(requests.values.count)
        }
        closing.add { await sandbox.stop() }
        sandbox.faults.mastodon = habits
        let mirror = try await BareMirror(variables: sandbox.settings(of: .bot, on: network)).open(
            clock: clock)
        return (mirror, try await mirror.requiredNetwork(of: .bot), sandbox)
    }

    /// The findings about a server.
    private func probed(
        _ habits: MastodonHabits, on network: NetworkName = .mastodon
    ) async throws -> [ServerPromise: Bool?] {
        let (mirror, bot, sandbox) = try await bot(habits, on: network)
        let account = try await bot.verifyAccount()
        let before = try await bot.ownPosts(since: Sample.hour(0)).count
        let result = await ServerProbe(mirror, network: bot, account: account).run()
        #expect(result.error == nil)
        #expect(result.left.isEmpty)
        // Nothing of it is left, whatever the server does.
        try await expect(bot.ownPosts(since: Sample.hour(0)).count, equals: before)
        try await expect(mirror.effects.all()) { $0.isEmpty }
        withExtendedLifetime(sandbox) {}
        return result.kept
    }

    /// What is true of a server with such habits.
    private func truth(of habits: MastodonHabits) -> [ServerPromise: Bool?] {
        var truth: [ServerPromise: Bool?] = [
            .publishes: true, .keepsVisibility: !habits.losesVisibility, .listsNewPosts: true,
            .showsUnlisted: !habits.losesVisibility,
            .namesAnsweredPost: !habits.answersWithParentID, .edits: true,
            .editsKeepVisibility: !habits.publishesEdits,
            .tellsEdits: !habits.hidesEdits, .deletes: habits.showsDeletedTo == .nobody,
            .unlistsDeleted: true,
        ]
        // No post is shown without a login, so nothing tells whether this one would be.
        if habits.needsTokenToRead.contains(.post) { truth[.showsUnlisted] = .some(nil) }
        // The answer cannot be looked at, for the server does not name it.
        if !habits.answersWithParentID {
            truth[.hidesDirect] = !habits.losesVisibility
            truth[.listsDirect] = habits.listedVisibilities.contains(.direct)
        }
        return truth
    }

    @Test(arguments: MastodonHabits.Software.allCases)
    func everyStatementIsTrueOfTheProgram(software: MastodonHabits.Software) async throws {
        let habits = MastodonHabits.habits(of: software)
        let found = try await probed(habits)
        let truth = truth(of: habits)
        for promise in ServerPromise.allCases {
            #expect(found[promise] == truth[promise], "\(software) \(promise)")
        }
    }

    /// One habit of a program that keeps every other promise.
    enum Habit: CaseIterable {
        case hidesEdits, publishesEdits, showsDeleted, losesVisibility, needsToken, listsFew

        func change(_ habits: inout MastodonHabits) {
            switch self {
            case .hidesEdits: habits.hidesEdits = true
            case .publishesEdits: habits.publishesEdits = true
            case .showsDeleted:
                habits.showsDeletedTo = .everybody
                habits.secondDeletion = .refused
            case .losesVisibility: habits.losesVisibility = true
            case .needsToken: habits.needsTokenToRead = [.post]
            case .listsFew: habits.listedVisibilities = [.public, .unlisted]
            }
        }
    }

    @Test(arguments: Habit.allCases) func everyHabitIsFoundOnItsOwn(habit: Habit) async throws {
        var habits = MastodonHabits.mastodon
        habit.change(&habits)
        try await expect(probed(habits), equals: truth(of: habits))
    }

    @Test func whatWasNotTriedIsNotTold() async throws {
        let found = try await probed(.mastodon, on: .bluesky)
        #expect(
            found[.edits] == nil && found[.editsKeepVisibility] == nil && found[.hidesDirect] == nil
        )
        #expect(
            found[.deletes] == .some(true) && found[.unlistsDeleted] == .some(true)
                && found[.listsNewPosts] == .some(true))
    }

    /// Half a measurement is none.
    @Test func anUnfinishedProbeFindsNothing() async throws {
        let (mirror, bot, sandbox) = try await bot(.mastodon)
        let account = try await bot.verifyAccount()
        sandbox.faults.failNext(
            .error(status: 503, message: "Not now"), method: "PUT", path: "/api/v1/statuses")
        let result = await ServerProbe(mirror, network: bot, account: account).run()
        #expect(result.error != nil)
        #expect(result.kept.isEmpty)
        #expect(result.left.isEmpty)
    }

    // MARK: The findings overrule the program

    /// A program that nobody knows, which does all that Mastodon does.
    private static var unknown: MastodonHabits {
        var habits = MastodonHabits.mastodon
        habits.software = .friendica
        return habits
    }

    @Test func theFindingsOverruleTheProgram() async throws {
        let (mirror, bot, sandbox) = try await bot(Self.unknown)
        let account = try await bot.verifyAccount()
        try await mirror.bind(human: nil, bot: account, now: mirror.clock.now)
        let before = try await mirror.stamp()
        let friendica = bot.serverHabits
        #expect(friendica.contains { $0.name == "a deleted post" && $0.value == "stays readable" })
        _ = await Doctor(mirror: mirror, probes: true).findings(now: mirror.clock.now)

        // A worker opens its networks anew.
        try await expect(mirror.stamp()) { $0 != before }
        let later = try await mirror.requiredNetwork(of: .bot)
        _ = try await later.verifyAccount()
        let habit = try #require(later.serverHabits.first { $0.name == "a deleted post" })
        #expect(
            habit
                == ServerHabit(
                    "a deleted post", "is denied", source: "mirror-bot doctor --probe",
                    measuredAs: .deletes
                ))
        withExtendedLifetime(sandbox) {}
    }

    /// Where a post does not keep its visibility, nothing is published: neither by a worker nor by
    /// a login.
    @Test func aServerThatLosesVisibilityIsRefused() async throws {
        let (mirror, bot, sandbox) = try await bot(.wordpress)
        _ = try await bot.verifyAccount()
        let error = try #require(throws: NetworkError.self) { try bot.requireAudiences() }
        #expect(error.code == .configuration && error.description.contains("WordPress"))
        let draft = Draft(
            text: "hello", visibility: .unlisted, language: "en", key: "k1",
            createdAt: mirror.clock.now)
        let refusal = try await #require(throws: NetworkError.self) {
            _ = try await bot.prepare(draft)
        }
        #expect(refusal.code == .configuration && refusal.outcome != .unknown)

        // A later version may keep it; only a measurement tells.
        sandbox.faults.mastodon.losesVisibility = false
        try await mirror.bind(human: nil, bot: try await bot.verifyAccount(), now: mirror.clock.now)
        _ = await Doctor(mirror: mirror, probes: true).findings(now: mirror.clock.now)
        let later = try await mirror.requiredNetwork(of: .bot)
        _ = try await later.verifyAccount()
        try later.requireAudiences()
    }

    @Test func whatWasFoundIsKeptForTheAccount() async throws {
        let (mirror, bot, sandbox) = try await bot(.friendica)
        let before = await Doctor(mirror: mirror).findings(now: Sample.hour(8)).filter {
            $0.subject == "probe"
        }
        #expect(before.map(\.verdict) == [.warn])
        #expect(before.first?.fix?.contains("doctor --probe") == true)
        let now = await Doctor(mirror: mirror, probes: true).findings(now: Sample.hour(8))
            .filter { $0.subject == "probe" }
        let later = await Doctor(mirror: mirror).findings(now: Sample.hour(9)).filter {
            $0.subject == "probe"
        }
        #expect(later == now)
        #expect(
            now.contains {
                $0.verdict == .warn && $0.text.contains("a deleted post can no longer be read")
            })
        let other = AccountID(network: .mastodon, value: "other@home.example")
        try await expect(mirror.probes.findings(of: other) == nil, equals: true)
        withExtendedLifetime((bot, sandbox)) {}
    }
}
