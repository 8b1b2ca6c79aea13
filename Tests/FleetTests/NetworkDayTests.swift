import Archive
import Control
import Expectations
import Fixtures
import Fleet
import Foundation
import Mirroring
import Outbox
import Posts
import Sandbox
import Storage
import TestSupport
import Testing

/// Whole days on every network and between two of them, as the sandbox tells them.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct NetworkDayTests {
    private func live(_ fixture: MirrorFixture) async throws -> SandboxLedger {
        try await fixture.worker().run(until: fixture.sandbox.world.end)
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.summary.posted > 0)
        #expect(ledger.summary.unsolicited == 0)
        #expect(ledger.summary.duplicateSends == 0)
        #expect(ledger.summary.errors == 0)
        expect(fixture.log.values) {
            !$0.contains { $0.contains("Pass failed") || $0.contains("Start failed") }
        }
        for slot in try await fixture.slots() { #expect(slot.state == .done || slot.reason != nil) }
        return ledger
    }

    @Test(arguments: [NetworkName.x, .bluesky]) func livesADayOnTheNetwork(network: NetworkName)
        async throws
    {
        let fixture = try await MirrorFixture.start(human: network, bot: network)
        let ledger = try await live(fixture)
        #expect(ledger.summary.replies > 0)
        #expect(ledger.summary.replies == ledger.summary.expectedReplies)
        let favorites = try await fixture.actions(.favorite)
        #expect(!favorites.isEmpty)
        // On X a person gives them; on Bluesky nobody gets one who has not named the bot.
        if network == .x {
            expect(favorites) { $0.allSatisfy { $0.state == .suggested } }
        }
        #expect(favorites.count { $0.state == .done } == ledger.favorites.count)
        // What the human wrote on that day, be it an answer, was archived meanwhile.
        let archived = try await fixture.mirror.storage.query(
            """
            SELECT post_id FROM posts WHERE mirror = \(fixture.mirror.name) AND network = \(network.rawValue)
                AND created_ms > \(Sample.origin.milliseconds)
            """)
        #expect(!archived.isEmpty)
    }

    @Test(arguments: [
        (NetworkName.x, NetworkName.mastodon), (.bluesky, .mastodon), (.mastodon, .bluesky),
        (.bluesky, .x),
    ])
    func carriesAHumanToAnotherNetwork(human: NetworkName, bot: NetworkName) async throws {
        let fixture = try await MirrorFixture.start(human: human, bot: bot)
        // Only one of the friends is known to be the same person there.
        let aoi = "aoi@\(SamplePeople.host)"
        try await fixture.mirror.people.link(
            SandboxIdentity.account(aoi, on: bot), SandboxIdentity.account(aoi, on: human))
        let ledger = try await live(fixture)
        let replies = try await fixture.actions(.reply)
        expect(replies) { $0.contains { $0.state == .done } }
        for reply in replies where reply.state == .done {
            #expect(reply.target?.author == SandboxIdentity.account(aoi, on: bot))
            #expect(reply.wording?.source.network == human)
        }
        expect(replies) { $0.contains { $0.reason == "not-linked" } }
        #expect(ledger.summary.replies == replies.count { $0.state == .done })
    }
}
