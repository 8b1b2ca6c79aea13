import Expectations
import Fixtures
import Foundation
import Networks
import Outbox
import Posts
import Sandbox
import Testing

@testable import Settings

/// Who may quote and answer what the bot publishes, from the setting to the post.
@Suite(.mirrors, .timeLimit(.minutes(30))) struct AudienceTests {
    private func deliveries(
        on network: NetworkName, _ variables: [String: String]
    ) async throws -> [SandboxLedger.Delivery] {
        let fixture = try await MirrorFixture.start(from: 12, bot: network, variables: variables)
        try await fixture.live(until: 16)
        let ledger = await fixture.sandbox.ledger
        #expect(ledger.summary.errors == 0)
        #expect(ledger.summary.duplicateSends == 0)
        return ledger.deliveries
    }

    @Test(arguments: [
        ("default", nil), ("anyone", "public"), ("followers", "followers"), ("nobody", "nobody"),
    ])
    func whoMayQuoteOnMastodon(setting: String, said: String?) async throws {
        let deliveries = try await deliveries(on: .mastodon, ["QUOTES": setting])
        #expect(!deliveries.isEmpty)
        expect(deliveries) { $0.allSatisfy { $0.quoters == said } }
    }

    @Test func whoMayQuoteAndAnswerOnBluesky() async throws {
        let deliveries = try await deliveries(
            on: .bluesky, ["QUOTES": "nobody", "WHO_MAY_REPLY": "followers"])
        #expect(deliveries.contains { $0.replyTo == nil })
        expect(deliveries) { $0.allSatisfy { $0.quoters == "nobody" } }
        // In somebody else's conversation they decide.
        expect(deliveries) {
            $0.allSatisfy { $0.repliers == ($0.replyTo == nil ? ["follower"] : nil) }
        }
    }

    @Test func nothingIsSaidUnlessItIsSet() async throws {
        let deliveries = try await deliveries(on: .bluesky, [:])
        #expect(!deliveries.isEmpty)
        expect(deliveries) { $0.allSatisfy { $0.quoters == nil && $0.repliers == nil } }
    }

    @Test(arguments: [
        ("x", "QUOTES", "anyone"), ("x", "QUOTES", "nobody"), ("bluesky", "QUOTES", "followers"),
        ("mastodon", "WHO_MAY_REPLY", "nobody"), ("x", "WHO_MAY_REPLY", "followers"),
    ])
    func whatTheNetworkDoesNotKnowIsRefused(network: String, setting: String, value: String) throws
    {
        let error = #expect(throws: ConfigurationError.self) {
            try MirrorFixture.configuration([
                "MIRROR_BOT_HOME": "/srv/mirror", "NETWORK": network, setting: value,
            ])
        }
        #expect(error?.setting == setting)
    }

    /// A login decides about the network where no setting does, and then about what that network
    /// knows.
    @Test func aLoginDecidesWhatItsNetworkKnows() throws {
        var configuration = try MirrorFixture.configuration(
            ["MIRROR_BOT_HOME": "/srv/mirror", "WHO_MAY_REPLY": "mentioned"])
        try configuration.mirror.adopt([.bot: .bluesky])
        #expect(configuration.mirror.replies == .mentioned)
        let error = #expect(throws: ConfigurationError.self) {
            try configuration.mirror.adopt([.bot: .mastodon])
        }
        #expect(error?.setting == "WHO_MAY_REPLY")
    }
}
