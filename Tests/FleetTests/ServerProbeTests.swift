import Expectations
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import Testing

@testable import Control
@testable import Fleet
@testable import Mirroring
@testable import Settings

/// What one post shows of a server.
@Suite(.mirrors, .timeLimit(.minutes(5))) struct ServerProbeTests {
    /// A bot on a server with habits.
    private func bot(
        _ habits: MastodonHabits, on network: NetworkName = .mastodon
    ) async throws -> (mirror: HumanMirror, bot: any SocialNetwork, sandbox: Sandbox) {
        let closing = try #require(OpenMirrors.current)
        let clock = VirtualClock(startingAt: Sample.hour(8))
        // A change is told by a later time, so some time passes with every request.
        let requests = Recorder<Date>()
        let sandbox = try await Sandbox.start(world: await Sample.world(bot: network), rateLimits: .unlimited) {
            requests.add(clock.steadyNow)
            return clock.steadyNow + 0.02 * Double(requests.values.count)
        }
        closing.add { await sandbox.stop() }
        sandbox.faults.mastodon = habits
        let mirror = try await BareMirror(variables: sandbox.settings(of: .bot, on: network)).open(clock: clock)
        return (mirror, try await mirror.requiredNetwork(of: .bot), sandbox)
    }

    /// The promises that a server was found to break, and those that it does not let be seen.
    private func probed(
        _ habits: MastodonHabits, on network: NetworkName = .mastodon
    ) async throws -> (broken: Set<ServerPromise>, unseen: Set<ServerPromise>) {
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
        return (
            Set(result.kept.filter { $0.value == .some(false) }.keys),
            Set(ServerPromise.allCases.filter { result.kept[$0] == nil || result.kept[$0] == .some(.none) })
        )
    }

    @Test func mastodonKeepsEverything() async throws {
        let (broken, unseen) = try await probed(.mastodon)
        #expect(broken == [])
        #expect(unseen == [])
    }

    @Test(
        arguments: [
            (.gotosocial, [], [.open]),
            (.pleroma, [.edits], [.tellsEdits]), (.takahe, [.edits], [.tellsEdits]), (.snac, [.edits], [.tellsEdits]),
            (.friendica, [.edits], [.tellsEdits]),
            (.wordpress, [.edits, .open, .visibility, .answers], [.tellsEdits]),
        ] as [(MastodonHabits.Software, Set<ServerPromise>, Set<ServerPromise>)])
    func otherProgramsAreFoundOut(
        software: MastodonHabits.Software, broken: Set<ServerPromise>, unseen: Set<ServerPromise>
    ) async throws {
        let found = try await probed(.habits(of: software))
        #expect(found.broken == broken)
        #expect(found.unseen == unseen)
    }

    @Test func blueskyKeepsWhatItCan() async throws {
        let (broken, unseen) = try await probed(.mastodon, on: .bluesky)
        #expect(broken == [.edits])
        #expect(unseen == [.open, .tellsEdits])
    }

    @Test func whatWasFoundIsKeptForTheAccount() async throws {
        let (mirror, bot, sandbox) = try await bot(.friendica)
        let before = await Doctor(mirror: mirror).findings(now: Sample.hour(8)).filter { $0.subject == "probe" }
        #expect(before.map(\.verdict) == [.warn])
        #expect(before.first?.fix?.contains("doctor --probe") == true)
        let now = await Doctor(mirror: mirror, probes: true).findings(now: Sample.hour(8))
            .filter { $0.subject == "probe" }
        let later = await Doctor(mirror: mirror).findings(now: Sample.hour(9)).filter { $0.subject == "probe" }
        #expect(later == now)
        #expect(now.contains { $0.verdict == .warn && $0.text.contains("a post can be changed") })
        let other = AccountID(network: .mastodon, value: "other@home.example")
        try await expect(mirror.probes.findings(of: other) == nil, equals: true)
        withExtendedLifetime((bot, sandbox)) {}
    }
}
