import Foundation
import NetworkNames
import Posts
import Sandbox

/// A network with a human who posted for ten days, for the set-up of a mirror.
enum SetupSandbox {
    static func start() async throws -> Sandbox {
        let human = AccountID(network: .mastodon, value: SamplePeople.human.handle)
        let posts = (0..<240).map { number in
            Post(
                id: PostID(network: .mastodon, value: "https://\(SamplePeople.host)/\(number)"),
                author: human, text: "Thought number \(number) of a calm person.",
                createdAt: WebStand.now - 86_400 - Double(number) * 3_600)
        }
        let world = SandboxWorld(
            configuration: .init(
                seed: 7, origin: WebStand.now - 3_600, days: 2, timeZone: .gmt, humanPosts: posts))
        return try await Sandbox.start(world: world, now: { WebStand.now })
    }

    /// Settings of a page at which nothing is set but where the networks are.
    static func variables(at sandbox: Sandbox) -> [String: String] {
        let nothing = [
            "HUMAN_SERVER", "HUMAN_ACCESS_TOKEN", "BOT_SERVER", "BOT_ACCESS_TOKEN", "TIME_ZONE",
        ]
        var variables = Dictionary(uniqueKeysWithValues: nothing.map { ($0, "") })
        variables["HUMAN_API_BASE_URL"] = sandbox.url
        variables["BOT_API_BASE_URL"] = sandbox.url
        return variables
    }
}
