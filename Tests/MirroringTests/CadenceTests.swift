import NetworkNames
import Networks
import Posts
import Testing

@testable import Mirroring

@Suite struct CadenceTests {
    private func seconds(_ cadence: Cadence) -> [Int64] {
        [
            cadence.mentions, cadence.botHome, cadence.humanPosts, cadence.humanHome,
            cadence.humanFavorites,
        ].map {
            $0.components.seconds
        }
    }

    @Test(
        arguments: [
            (60, NetworkName.mastodon, [60, 120, 300, 120, 900]),
            (10, .mastodon, [10, 20, 50, 20, 150]),
            (60, .x, [60, 900, 300, 900, 1_800]), (10, .x, [60, 900, 300, 900, 1_800]),
            (120, .x, [120, 1_800, 600, 1_800, 3_600]), (60, .bluesky, [60, 120, 300, 120, 600]),
            (10, .bluesky, [30, 60, 300, 60, 600]), (90, .bluesky, [90, 180, 450, 180, 900]),
        ] as [(Int, NetworkName, [Int64])])
    func followsTheNetworksAdvice(poll: Int, network: NetworkName, expected: [Int64]) {
        #expect(seconds(Cadence(poll: .seconds(poll), human: network, bot: network)) == expected)
    }

    @Test func eachAccountFollowsItsOwnNetwork() {
        let cadence = Cadence(poll: .seconds(20), human: .x, bot: .mastodon)
        #expect(seconds(cadence) == [20, 40, 300, 900, 1_800])
        #expect(cadence.publisher == .seconds(20))
        #expect(Cadence(poll: .seconds(600), human: .x, bot: .x).publisher == .seconds(60))
    }

    @Test func favoritesOnXAreBoughtOnePageAtATime() {
        #expect(Cadence.pages(of: .favorites, on: .x) == 1)
        #expect(Cadence.pages(of: .ownPosts, on: .x) > 1)
        #expect(Cadence.pages(of: .favorites, on: .bluesky) > 1)
    }
}
